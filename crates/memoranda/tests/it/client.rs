//! Clients of the real servers: one that speaks by the line over a pipe, one over raw TCP.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::Home;

/// Long enough for any machine, short enough for a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The ways in which a client can begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Era {
    Handshake(&'static str),
    Stateless,
}

pub(crate) const ERAS: [Era; 3] =
    [Era::Handshake("2025-06-18"), Era::Handshake("2025-11-25"), Era::Stateless];

impl Era {
    fn params(self, mut params: Value) -> Value {
        if self == Self::Stateless {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "tester", "version": "1.0" });
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        params
    }
}

/// A `memoranda mcp` of one's own.
pub(crate) struct Client {
    child: Child,
    write: Option<ChildStdin>,
    lines: Receiver<String>,
    era: Era,
    next: u64,
    /// Messages of the server that were not answers and were not read yet.
    said: VecDeque<Value>,
}

impl Client {
    /// A server to which nothing was said yet.
    pub(crate) fn start(home: &Home, era: Era, flags: &[&str]) -> Self {
        Self::spawn(home.command(&[&["mcp"], flags].concat()), era)
    }

    /// A server whose client works in a folder, greeted.
    pub(crate) fn open_in(home: &Home, era: Era, flags: &[&str], folder: &str) -> Self {
        let mut command = home.command(&[&["mcp"], flags].concat());
        command.env("CLAUDE_PROJECT_DIR", folder);
        let mut client = Self::spawn(command, era);
        client.greet();
        client
    }

    fn spawn(mut command: Command, era: Era) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let lines = lines(child.stdout.take().unwrap());
        let write = child.stdin.take();
        Self { child, write, lines, era, next: 1, said: VecDeque::new() }
    }

    /// A server that was greeted in its era's way.
    pub(crate) fn open(home: &Home, era: Era, flags: &[&str]) -> Self {
        let mut client = Self::start(home, era, flags);
        client.greet();
        client
    }

    /// Greets, and gives what the server says of itself.
    pub(crate) fn greet(&mut self) -> Value {
        match self.era {
            Era::Stateless => self.result("server/discover", json!({})),
            Era::Handshake(version) => {
                let hello = json!({
                    "protocolVersion": version,
                    "capabilities": {},
                    "clientInfo": { "name": "tester", "version": "1.0" },
                });
                let about = self.result("initialize", hello);
                let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
                self.send(&ready);
                about
            }
        }
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.write.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    /// Sends a request without waiting for its answer; its id.
    pub(crate) fn post(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let params = self.era.params(params);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        loop {
            let message = self.message(PATIENCE).unwrap();
            if message["id"] == json!(id) {
                return message;
            }
            self.said.push_back(message);
        }
    }

    /// The next thing that the server says unasked; `None` if it says nothing for so long.
    pub(crate) fn hear(&mut self, patience: Duration) -> Option<Value> {
        self.said.pop_front().or_else(|| self.message(patience))
    }

    fn message(&mut self, patience: Duration) -> Option<Value> {
        let line = self.lines.recv_timeout(patience).ok()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}")))
    }

    #[track_caller]
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Calls the memory tool: its text, and whether that is an error.
    #[track_caller]
    pub(crate) fn memory(&mut self, arguments: Value) -> (String, bool) {
        let mut call = json!({ "name": "memory" });
        call["arguments"] = arguments;
        let result = self.result("tools/call", call);
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["isError"].as_bool().unwrap())
    }

    /// Calls the memory tool, which must succeed.
    #[track_caller]
    pub(crate) fn done(&mut self, arguments: Value) -> String {
        let asked = arguments.to_string();
        let (text, is_error) = self.memory(arguments);
        assert!(!is_error, "{asked}: {text}");
        text
    }

    /// Kills the server as the system does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the pipe; how the server ended, and how long that took.
    pub(crate) fn close(mut self) -> (ExitStatus, Duration) {
        drop(self.write.take());
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, begun.elapsed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server did not end");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // One that has ended already cannot be killed.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn lines(out: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// A `memoranda serve` on a port of its own.
pub(crate) struct Http {
    child: Child,
    pub(crate) address: String,
    /// The line that the server printed when it listened.
    pub(crate) listening: Value,
    token: Option<String>,
}

impl Http {
    pub(crate) fn start(home: &Home, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command =
            home.command(&[&["serve", "--bind", "127.0.0.1:0", "--json"], flags].concat());
        command.envs(variables.iter().copied());
        Self::spawn(command)
    }

    /// Runs a command that becomes `memoranda serve --json`.
    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let line = lines(child.stdout.take().unwrap()).recv_timeout(PATIENCE).unwrap();
        let listening: Value = serde_json::from_str(&line).unwrap();
        let address = listening["address"].as_str().unwrap().to_owned();
        assert_eq!(listening["mcp"], format!("http://{address}/mcp"));
        let file = listening["token_file"].as_str();
        let token = file.map(|file| std::fs::read_to_string(file).unwrap().trim().to_owned());
        Self { child, address: address.replace("0.0.0.0", "127.0.0.1"), listening, token }
    }

    /// Sends a request by hand: the status, and the body. The token of the server's file is sent
    /// unless a header `Authorization` is given; one without a value is left out.
    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let mut request = format!("POST {path} HTTP/1.1\r\nConnection: close\r\n");
        let is_given = |header: &str| headers.iter().any(|(name, _)| *name == header);
        if !is_given("Host") {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        if let Some(token) = self.token.as_ref().filter(|_| !is_given("Authorization")) {
            request.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        if !is_given("Content-Type") {
            request.push_str("Content-Type: application/json\r\n");
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("Accept: application/json, text/event-stream\r\n");
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    /// Asks it to end as a service manager does; its exit code.
    #[cfg(unix)]
    pub(crate) fn stop(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap();
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server did not end");
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
