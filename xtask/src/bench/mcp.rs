//! The server as a client uses it: start, handshake, list of tools, writes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::options::BenchEffort;
use super::samples::TimeSamples;
use super::size::BETWEEN_WRITES;
use super::this_program;
use crate::Result;

/// Measures the time from starting the process until its tools are listed.
pub(super) fn measure_starts(
    effort: BenchEffort,
    command: impl Fn() -> Command,
) -> Result<TimeSamples> {
    let mut samples = TimeSamples::default();
    BenchServer::start_initialized(command())?.end()?;
    for _ in 0..effort.repetitions() / 4 {
        samples.time(|| BenchServer::start_initialized(command()))?.end()?;
    }
    Ok(samples)
}

/// Durable writes of new notes, each acknowledged over the pipe.
#[derive(Default)]
pub(super) struct WriteSamples {
    /// The raw steps, done by a bare child process over a pipe. They alternate with the writes, after
    /// the same pause, because the speed of a disk changes from minute to minute.
    pub(super) raw: TimeSamples,
    pub(super) ours: TimeSamples,
    /// Back-to-back writes: each starts as soon as the one before is acknowledged.
    pub(super) burst: TimeSamples,
}

pub(super) fn measure_writes(
    effort: BenchEffort,
    command: Command,
    scratch: &Path,
) -> Result<WriteSamples> {
    let mut writes = WriteSamples::default();
    let mut child =
        this_program("write")?.arg(scratch).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut to_child = child.stdin.take().ok_or("the child has no input")?;
    let mut from_child = BufReader::new(child.stdout.take().ok_or("the child has no output")?);
    let mut bare = |text: &str| -> Result<()> {
        to_child.write_all(format!("{}\n", json!(text)).as_bytes())?;
        let mut line = String::new();
        match from_child.read_line(&mut line)? {
            0 => Err("the child ended".into()),
            _ => Ok(()),
        }
    };
    let mut server = BenchServer::start_initialized(command)?;
    let count = effort.repetitions();
    for number in 0..2 * count {
        let note = xtask::vault::note(500_000 + number);
        let call = json!({
            "command": "create",
            "path": format!("/memories/bench/{number}.md"),
            "file_text": note.text,
        });
        if number < count {
            std::thread::sleep(BETWEEN_WRITES);
            writes.raw.time(|| bare(&note.text))?;
            std::thread::sleep(BETWEEN_WRITES);
            writes.ours.time(|| server.call("memory", &call))?;
        } else {
            writes.burst.time(|| server.call("memory", &call))?;
        }
    }
    server.end()?;
    drop(to_child);
    child.wait()?;
    Ok(writes)
}

/// Measures the call that an agent makes at the start of a task.
pub(super) fn measure_contexts(effort: BenchEffort, command: Command) -> Result<TimeSamples> {
    let mut samples = TimeSamples::default();
    let mut server = BenchServer::start_initialized(command)?;
    for number in 0..effort.repetitions() {
        let query = xtask::vault::note(number).title;
        samples.time(|| server.call("get_context", &json!({ "query": query })))?;
    }
    server.end()?;
    Ok(samples)
}

pub(super) struct BenchServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl BenchServer {
    /// Starts the server, initializes it and lists its tools.
    pub(super) fn start_initialized(mut command: Command) -> Result<Self> {
        let mut child = command
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().ok_or("the server has no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("the server has no output")?);
        let mut server = Self { child, input, output, last_id: 0 };
        let client = json!({ "name": "bench", "version": "1" });
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": client,
        });
        server.request("initialize", &hello)?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        server.request("tools/list", &json!({}))?;
        Ok(server)
    }

    /// Calls a tool and returns the structured part of its result.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let mut answer =
            self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let is_error = answer["result"]["isError"] == json!(true) || answer["error"].is_object();
        if is_error {
            return Err(format!("{tool} failed: {answer}").into());
        }
        Ok(answer["result"]["structuredContent"].take())
    }

    /// Lists all tools by name, with true for those that only read.
    pub(super) fn list_tools(&mut self) -> Result<Vec<(String, bool)>> {
        let mut tools = Vec::new();
        let mut parameters = json!({});
        loop {
            let answer = self.request("tools/list", &parameters)?;
            let page = answer["result"]["tools"].as_array().cloned().unwrap_or_default();
            tools.extend(page.iter().map(|tool| {
                let name = tool["name"].as_str().unwrap_or_default().to_owned();
                (name, tool["annotations"]["readOnlyHint"] == json!(true))
            }));
            match &answer["result"]["nextCursor"] {
                Value::String(cursor) => parameters = json!({ "cursor": cursor }),
                _ => return Ok(tools),
            }
        }
    }

    /// Returns the process id of the server.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        Ok(())
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
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

    pub(super) fn end(mut self) -> Result<()> {
        drop(self.input);
        self.child.wait()?;
        Ok(())
    }
}
