//! A vault, a client over lines, an HTTP server with its client, and slow tools.

use std::collections::BTreeSet;
use std::io::{BufRead as _, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use memoranda_engine::{Memory, OpenOptions};
use memoranda_server::{
    ClientAuthentication, ExtraDefinitions, HttpServer, ServerConfig, ServerError,
};
use memoranda_tools::{
    CallContext, ParamTable, ScanPolicy, ToolArgs, ToolDef, ToolError, ToolHints, ToolResult,
    ToolRun, ToolSelection, ToolTier, Toolset,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::time::timeout;

/// Long enough for any machine, short enough for a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct ServerVault {
    pub(crate) memory: Arc<Memory>,
    _dir: tempfile::TempDir,
}

impl ServerVault {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(OpenOptions::in_folder(dir.path()));
        Self { memory: Arc::new(memory.unwrap()), _dir: dir }
    }

    /// Returns the number of commits in this vault.
    pub(crate) fn commits(&self) -> u64 {
        self.memory.snapshot().unwrap().counts().unwrap().commits
    }
}

/// A server with only the memory tool, so that new tools do not change the tests.
pub(crate) fn config() -> ServerConfig {
    let selection = ToolSelection { toolsets: vec!["memory".into()], ..ToolSelection::default() };
    let authentication = ClientAuthentication::Disabled;
    ServerConfig { selection, authentication, ..ServerConfig::standard("9.9.9") }
}

/// Handshake of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProtocolEra {
    Handshake(&'static str),
    Stateless,
}

pub(crate) const ERAS: [ProtocolEra; 3] = [
    ProtocolEra::Handshake("2025-06-18"),
    ProtocolEra::Handshake("2025-11-25"),
    ProtocolEra::Stateless,
];

impl ProtocolEra {
    /// Returns parameters in the format of this era.
    pub(crate) fn params(self, mut params: Value) -> Value {
        if self == Self::Stateless {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "tester", "version": "1.0" });
            let able = &mut meta["io.modelcontextprotocol/clientCapabilities"];
            if able.is_null() {
                *able = json!({});
            }
        }
        params
    }
}

/// A JSON-RPC client over lines.
pub(crate) struct LineClient {
    read: BufReader<DuplexStream>,
    write: Option<DuplexStream>,
    server: tokio::task::JoinHandle<Result<(), ServerError>>,
    era: ProtocolEra,
    next: u64,
    /// Notifications of the server.
    pub(crate) notifications: Vec<Value>,
}

impl LineClient {
    /// Connects without sending a message.
    pub(crate) fn connect(vault: &ServerVault, config: ServerConfig, era: ProtocolEra) -> Self {
        let (write, server_read) = tokio::io::duplex(1 << 20);
        let (server_write, read) = tokio::io::duplex(1 << 20);
        let memory = Arc::clone(&vault.memory);
        let server = tokio::spawn(async move {
            memoranda_server::serve_stream(memory, &config, server_read, server_write).await
        });
        let read = BufReader::new(read);
        Self { read, write: Some(write), server, era, next: 1, notifications: Vec::new() }
    }

    /// Connects and opens the session of the era. Returns what the server says about itself.
    pub(crate) async fn open(
        vault: &ServerVault,
        config: ServerConfig,
        era: ProtocolEra,
    ) -> (Self, Value) {
        Self::open_able(vault, config, era, json!({})).await
    }

    /// Opens a session for a client with capabilities.
    pub(crate) async fn open_able(
        vault: &ServerVault,
        config: ServerConfig,
        era: ProtocolEra,
        able: Value,
    ) -> (Self, Value) {
        let mut client = Self::connect(vault, config, era);
        let about = match era {
            ProtocolEra::Handshake(version) => {
                let hello = json!({
                    "protocolVersion": version,
                    "capabilities": able,
                    "clientInfo": { "name": "tester", "version": "1.0" },
                });
                let about = client.ask("initialize", hello).await;
                client.tell("notifications/initialized", json!({})).await;
                about
            }
            ProtocolEra::Stateless => client.ask("server/discover", json!({})).await,
        };
        (client, about["result"].clone())
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.line(&message.to_string()).await;
    }

    /// Sends a raw line.
    pub(crate) async fn line(&mut self, line: &str) {
        self.text(&format!("{line}\n")).await;
    }

    /// Sends raw text.
    pub(crate) async fn text(&mut self, text: &str) {
        self.write.as_mut().unwrap().write_all(text.as_bytes()).await.unwrap();
    }

    /// Sends a request without waiting. Returns its id.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let params = self.era.params(params);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request).await;
        id
    }

    pub(crate) async fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Returns the next message; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        timeout(PATIENCE, self.read.read_line(&mut line)).await.unwrap().unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Returns the response to a request, also if responses to others precede it.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        if let Some(at) = self.notifications.iter().position(|held| held["id"] == json!(id)) {
            return self.notifications.remove(at);
        }
        loop {
            let message = self.next().await.unwrap();
            if message["id"] == json!(id) {
                return message;
            }
            self.notifications.push(message);
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// Returns the result of a request that must succeed.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Closes the input. Returns the remaining messages and the result of the server.
    pub(crate) async fn close(mut self) -> (Vec<Value>, Result<(), ServerError>) {
        drop(self.write.take());
        let mut rest = Vec::new();
        while let Some(message) = self.next().await {
            rest.push(message);
        }
        let ended = timeout(PATIENCE, self.server).await.unwrap().unwrap();
        (rest, ended)
    }
}

/// Definitions in addition to the built-in ones.
pub(crate) const EXTRA_DEFINITIONS: ExtraDefinitions =
    ExtraDefinitions { tools: &FIXTURE_TOOLS, prompts: &[], prompt_handlers: &[], resources: &[] };

/// Extra tools: a slow one, one that only reads, and one that panics.
static FIXTURE_TOOLS: [ToolDef; 3] = [
    fixture("slow", false, slow),
    fixture("peek", true, |_, _| Ok(ToolResult::ok("Seen".into(), json!({ "result": "Seen" })))),
    fixture("broken", false, |_, _| panic!("broken on purpose")),
];

pub(crate) const fn fixture(name: &'static str, read_only: bool, run: ToolRun) -> ToolDef {
    let hints = ToolHints { read_only, destructive: false, idempotent: true, open_world: false };
    ToolDef {
        name,
        title: "A fixture",
        description: "For tests.",
        toolset: Toolset::Memory,
        tier: ToolTier::Extra,
        hints,
        params: ParamTable::EMPTY.accept_unknown(),
        run,
        max_chars: 1000,
        scan: ScanPolicy::Nothing,
        ..ToolDef::BASE
    }
}

static CANCELLED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Returns true if the call of that name has noticed its cancellation.
pub(crate) fn was_cancelled(name: &str) -> bool {
    let until = std::time::Instant::now() + PATIENCE;
    while std::time::Instant::now() < until {
        if CANCELLED.lock().unwrap().contains(name) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Counts `steps` steps of 10 ms and reports each.
fn slow(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let steps = args.value("steps").and_then(Value::as_u64).unwrap_or(10);
    for step in 0..steps {
        (call.progress)(step, steps, "counting");
        if call.is_cancelled() {
            let name = args.value("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            CANCELLED.lock().unwrap().insert(name);
            return Ok(ToolResult::error("cancelled"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(ToolResult::ok("Done".into(), json!({ "result": "Done" })))
}

/// An HTTP server on its own port, and requests to it.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServerError>>>,
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl HttpReply {
    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

impl TestServer {
    pub(crate) fn start(vault: &ServerVault, config: ServerConfig) -> Self {
        Self::start_at(vault, "127.0.0.1:0", config)
    }

    /// Starts a server that listens on `bind` and is called over loopback.
    pub(crate) fn start_at(vault: &ServerVault, bind: &str, mut config: ServerConfig) -> Self {
        config.bind = bind.parse().unwrap();
        let server = HttpServer::bind(config).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], server.address().port()));
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let memory = Arc::clone(&vault.memory);
        let thread = std::thread::spawn(move || {
            server.run_until(memory, async { stopped.await.unwrap_or(()) })
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    /// Sends raw bytes and reads until the server closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> HttpReply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A server that refuses early may close before everything is written.
        stream.write_all(bytes).ok();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).ok();
        let reply = String::from_utf8(reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap_or((reply.as_str(), ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no reply: {reply:?}"));
        HttpReply { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// Sends a request. `Host` and `Content-Type` are right unless they are among the headers; a
    /// header without a value is left out.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpReply {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let is_given = |header: &str| headers.iter().any(|(name, _)| *name == header);
        if !is_given("Host") {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        if !is_given("Content-Type") {
            request.push_str("Content-Type: application/json\r\n");
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        self.raw(request.as_bytes())
    }

    /// Sends an MCP request as a client of the era does.
    pub(crate) fn mcp(
        &self,
        era: ProtocolEra,
        path: &str,
        more: &[(&str, &str)],
        method: &str,
        params: Value,
    ) -> HttpReply {
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or("").to_owned();
        let params = era.params(params);
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        match era {
            ProtocolEra::Handshake(version) => headers.push(("MCP-Protocol-Version", version)),
            ProtocolEra::Stateless => {
                headers.push(("MCP-Protocol-Version", "2026-07-28"));
                headers.push(("Mcp-Method", method));
                if !name.is_empty() {
                    headers.push(("Mcp-Name", &name));
                }
            }
        }
        headers.extend(more);
        self.send("POST", path, &headers, &body.to_string())
    }
}

impl TestServer {
    /// Opens a listen request. Returns its first event and a receiver of the others.
    pub(crate) fn listen(&self, uri: &str) -> (String, Receiver<String>) {
        let params = json!({ "notifications": { "resourceSubscriptions": [uri] } });
        let params = ProtocolEra::Stateless.params(params);
        let method = "subscriptions/listen";
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let (tell, hears) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let lines = std::io::BufReader::new(stream).lines().map_while(Result::ok);
            // Only data lines count.
            for line in lines.filter(|line| line.starts_with("data: {")) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        (hears.recv_timeout(PATIENCE).unwrap(), hears)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.take().unwrap().send(()).ok();
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}
