//! The server as a client meets it: started, greeted, asked for its tools, and written through.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::options::Effort;
use super::samples::Samples;
use super::size::{Raw, RawWrite};
use crate::Result;

/// From starting the process until its tools are listed.
pub(super) fn starts(effort: Effort, command: impl Fn() -> Command) -> Result<Samples> {
    let mut samples = Samples::default();
    Server::greeted(command())?.end()?;
    for _ in 0..effort.repetitions() / 4 {
        samples.time(|| Server::greeted(command()))?.end()?;
    }
    Ok(samples)
}

/// Durable writes of new notes, each acknowledged over the pipe, in turns with the raw steps: how
/// long a disk takes changes from minute to minute.
pub(super) fn writes(effort: Effort, command: Command, scratch: &Path) -> Result<(Raw, Samples)> {
    let (mut raw, mut samples) = (Raw::default(), Samples::default());
    let mut steps = RawWrite::create(scratch)?;
    let mut server = Server::greeted(command)?;
    for number in 0..effort.repetitions() {
        let note = xtask::vault::note(500_000 + number);
        let arguments = json!({
            "command": "create",
            "path": format!("/memories/bench/{number}.md"),
            "file_text": note.text,
        });
        let call = json!({ "name": "memory", "arguments": arguments });
        steps.write(&note, &mut raw)?;
        let answer = samples.time(|| server.ask("tools/call", &call))?;
        if answer["result"]["isError"] == json!(true) {
            return Err(format!("the write failed: {answer}").into());
        }
    }
    server.end()?;
    Ok((raw, samples))
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    /// Starts the server, shakes hands and asks for its tools.
    fn greeted(mut command: Command) -> Result<Self> {
        let mut child = command
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().ok_or("the server has no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("the server has no output")?);
        let mut server = Self { child, input, output, asked: 0 };
        let client = json!({ "name": "bench", "version": "1" });
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": client,
        });
        server.ask("initialize", &hello)?;
        server.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        server.ask("tools/list", &json!({}))?;
        Ok(server)
    }

    fn tell(&mut self, message: &Value) -> Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        Ok(())
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.asked += 1;
        let id = self.asked;
        self.tell(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err(format!("the server ended before it answered {method}").into());
            }
            let answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == json!(id) {
                return Ok(answer);
            }
        }
    }

    fn end(mut self) -> Result<()> {
        drop(self.input);
        self.child.wait()?;
        Ok(())
    }
}
