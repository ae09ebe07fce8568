//! A team: a database of its own, real servers on it, accounts with tokens.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::client::PATIENCE;
use crate::cluster::{Cluster, DiskForce};
use crate::support::Home;

/// Role of the servers in the database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DatabaseRole {
    /// Row-level security does not hold for it.
    Superuser,
    /// Owner of its own database, and nothing else.
    Plain,
}

/// A database and the command line of its operator.
pub(crate) struct Team {
    pub(crate) cluster: Cluster,
    pub(crate) home: Home,
    address: String,
}

impl Team {
    /// Starts a database with the accounts anna and ben, and the space acme that both write to.
    /// `None` if there is no PostgreSQL here.
    pub(crate) fn start(force: DiskForce) -> Option<Self> {
        Self::start_as(force, DatabaseRole::Superuser)
    }

    /// Starts the same database for another role of the server.
    pub(crate) fn start_as(force: DiskForce, role: DatabaseRole) -> Option<Self> {
        let cluster = Cluster::start(force)?;
        let address = match role {
            DatabaseRole::Superuser => cluster.address("postgres"),
            DatabaseRole::Plain => cluster.plain_database().1,
        };
        let team = Self { cluster, home: Home::bare(), address };
        team.admin(&["migrate"]);
        team.admin(&["account", "add", "anna"]);
        team.admin(&["account", "add", "ben"]);
        team.admin(&["space", "add", "acme", "--owner", "anna"]);
        team.admin(&["member", "add", "acme", "ben"]);
        Some(team)
    }

    /// Runs `memoranda admin`, which must succeed.
    #[track_caller]
    pub(crate) fn admin(&self, args: &[&str]) -> Value {
        self.home.json(&[&["admin", "--database", &self.address], args].concat())
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Runs SQL as the superuser.
    pub(crate) fn sql(&self, sql: &str) -> String {
        self.cluster.sql(self.address.rsplit('/').next().unwrap(), sql)
    }

    /// Makes a token.
    #[track_caller]
    pub(crate) fn token(&self, account: &str, name: &str, flags: &[&str]) -> String {
        let made = self.admin(&[&["token", "add", account, name], flags].concat());
        made["token"].as_str().unwrap().to_owned()
    }

    /// Starts a server with a cache of its own.
    pub(crate) fn serve(&self) -> TeamServer {
        self.serve_with(&[])
    }

    pub(crate) fn serve_with(&self, flags: &[&str]) -> TeamServer {
        self.serve_in(Arc::new(Home::bare()), flags, "")
    }

    /// Starts a server with the cache of another one, and a fault that it is to meet.
    pub(crate) fn serve_in(&self, home: Arc<Home>, flags: &[&str], fault: &str) -> TeamServer {
        let usual = ["serve", "--bind", "127.0.0.1:0", "--json", "--database", &self.address];
        let mut command = home.command(&[&usual, flags].concat());
        let log = std::fs::File::create(home.path().join("stderr")).unwrap();
        command.stdout(Stdio::piped()).stderr(log).env("MEMORANDA_FAULT", fault);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let listening: Value = serde_json::from_str(&line).unwrap();
        let address = listening["address"].as_str().unwrap().to_owned();
        TeamServer { child, address, home }
    }
}

/// A running server.
pub(crate) struct TeamServer {
    child: Child,
    pub(crate) address: String,
    pub(crate) home: Arc<Home>,
}

impl Answer {
    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
    pub(crate) json: Value,
}

impl TeamServer {
    /// Returns the files of this server's caches that contain some bytes.
    pub(crate) fn files_with(&self, bytes: &[u8]) -> Vec<std::path::PathBuf> {
        let mut folders = vec![self.home.path().to_path_buf()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            // Caches come and go while this looks.
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(content) = std::fs::read(&path)
                    && content.windows(bytes.len()).any(|window| window == bytes)
                {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Returns the folders of stores that answer until a space is here.
    pub(crate) fn provisional_folders(&self) -> Vec<std::path::PathBuf> {
        let mut folders = vec![self.home.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            let entries: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            if folder.ends_with("provisional") {
                return entries;
            }
            folders.extend(entries.into_iter().filter(|path| path.is_dir()));
        }
        Vec::new()
    }

    /// Calls a tool over the API; the connection may break.
    pub(crate) fn try_call(&self, token: &str, tool: &str, args: &Value) -> Option<Answer> {
        let authorization = format!("Bearer {token}");
        let headers = [("Authorization", authorization.as_str())];
        self.request("POST", &format!("/api/tools/{tool}"), &headers, Some(args))
    }

    /// Calls a tool, which must succeed; its text.
    #[track_caller]
    pub(crate) fn call(&self, token: &str, tool: &str, args: &Value) -> Value {
        let answer = self.try_call(token, tool, args).unwrap();
        assert_eq!(answer.status, 200, "{tool} {args}: {answer:?}");
        assert_eq!(answer.json["is_error"], json!(false), "{tool} {args}: {answer:?}");
        answer.json
    }

    /// Calls a tool, which must fail and say these words.
    #[track_caller]
    pub(crate) fn refuses(&self, token: &str, tool: &str, args: &Value, words: &str) {
        let answer = self.try_call(token, tool, args).unwrap();
        let is_error = answer.status != 200 || answer.json["is_error"] == json!(true);
        assert!(is_error && answer.text.contains(words), "{tool} {args}: {answer:?}");
    }

    /// Sends an MCP request of the stateless revision; its result.
    #[track_caller]
    pub(crate) fn mcp(&self, token: &str, method: &str, params: Value) -> Value {
        self.mcp_at("/t/mcp", token, method, params)
    }

    /// Sends an MCP request to a path; its result.
    #[track_caller]
    pub(crate) fn mcp_at(&self, path: &str, token: &str, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1.0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let authorization = format!("Bearer {token}");
        let mut headers = vec![
            ("Authorization", authorization.as_str()),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        let name = params["name"].as_str().map(str::to_owned);
        if let Some(name) = &name {
            headers.push(("Mcp-Name", name));
        }
        let answer = self.request("POST", path, &headers, Some(&body)).unwrap();
        assert_eq!(answer.status, 200, "{method}: {answer:?}");
        answer.json["result"].clone()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[], None).unwrap()
    }

    /// Sends a request by hand. `None` if the server is gone or broke the connection.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Option<Answer> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut headers = headers.to_vec();
        if !body.is_empty() {
            headers.push(("Content-Type", "application/json"));
            headers.push(("Accept", "application/json, text/event-stream"));
        }
        self.send(method, path, &headers, &body)
    }

    /// Sends a request with any body.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Option<Answer> {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        request.push_str(&format!("Host: {}\r\n", self.address));
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.write_all(request.as_bytes()).ok()?;
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).ok()?;
        let reply = String::from_utf8_lossy(&reply).into_owned();
        let (head, text) = reply.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let json = serde_json::from_str(text).unwrap_or(Value::Null);
        Some(Answer { status, head: head.to_owned(), text: text.to_owned(), json })
    }

    /// Kills the server as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the server to end as a service manager does; its exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap();
        self.child.wait().unwrap().code()
    }

    pub(crate) fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Returns what the server wrote to its log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("stderr")).unwrap()
    }
}

impl Drop for TeamServer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
