//! Costs of starting a process and exchanging messages: bare, and with our binary.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use super::mcp::{self, WriteSamples};
use super::options::BenchEffort;
use super::samples::TimeSamples;
use super::this_program;
use super::volume::{self, VolumeResults};
use crate::{Result, workspace};

/// Number of records, and of rules among them, in the vault of `get_context`.
pub(super) const RECORDS: usize = 10_000;
const RULES: usize = 30;

/// Measurements of whole processes.
pub(super) struct ProcessSamples {
    /// Start of a program that opens SQLite and prints a line.
    pub(super) bare_start: TimeSamples,
    /// Round trip of a line to a child process.
    pub(super) round_trip: TimeSamples,
    /// Start of `memoranda --version`; `None` if it fails.
    pub(super) version: Option<TimeSamples>,
    /// Start of `memoranda status` on a small vault; `None` if it fails.
    pub(super) status: Option<TimeSamples>,
    /// Start of `memoranda mcp` until its tools are listed.
    pub(super) mcp_start: Option<TimeSamples>,
    /// Durable writes through `memoranda mcp` in a small vault, alternating with the raw steps.
    pub(super) mcp_write: Option<WriteSamples>,
    /// Start of `memoranda tool get_context` with many records, until it has answered.
    pub(super) context_start: Option<TimeSamples>,
    /// Call of `get_context` through `memoranda mcp` with the same records.
    pub(super) mcp_context: Option<TimeSamples>,
    /// Sizes after many writes; `None` if they were not measured.
    pub(super) volume: Option<VolumeResults>,
    /// The size of the release binary.
    pub(super) binary: u64,
}

pub(super) fn measure(
    binary: &Path,
    scratch: &Path,
    effort: BenchEffort,
) -> Result<ProcessSamples> {
    let database = scratch.join("bare.db");
    let home = scratch.join("status");
    xtask::vault::write(&home.join("main"), 100)?;
    let program_at = |home: &Path| {
        let mut command = Command::new(binary);
        command.env("MEMORANDA_HOME", home).env("CLAUDE_PROJECT_DIR", scratch);
        // The benchmark must not read or write the person's own files.
        for (variable, folder) in [
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
        ] {
            command.env(variable, scratch.join(folder));
        }
        command
    };
    let program = || program_at(&home);
    let ours = |argument: &str| {
        let mut command = program();
        command.arg(argument);
        command
    };
    workspace::output(&mut ours("init"))?;
    let recorded = scratch.join("records");
    write_records(&recorded.join("records/global/fact"), RECORDS)?;
    write_records(&recorded.join("records/global/rule"), RULES)?;
    let written = scratch.join("written");
    let mut many = program_at(&written);
    many.env("XDG_CACHE_HOME", scratch.join("written-cache"));
    let context = || {
        let mut command = program_at(&recorded);
        command.args(["tool", "get_context"]);
        command
    };
    Ok(ProcessSamples {
        bare_start: measure_starts(effort, || {
            let mut command = this_program("open")?;
            command.arg(&database);
            Ok(command)
        })?,
        round_trip: measure_round_trips(effort)?,
        version: measure_if_known(effort, || ours("--version"))?,
        status: measure_if_known(effort, || ours("status"))?,
        mcp_start: Some(mcp::measure_starts(effort, program)?),
        mcp_write: Some(mcp::measure_writes(effort, program(), scratch)?),
        context_start: measure_if_known(effort, context)?,
        mcp_context: Some(mcp::measure_contexts(effort, program_at(&recorded))?),
        volume: Some(volume::measure(effort, many, (&written, &scratch.join("written-cache")))?),
        binary: std::fs::metadata(binary)?.len(),
    })
}

/// Writes records of one sentence each, as a person would.
fn write_records(folder: &Path, records: usize) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for number in 0..records {
        let note = xtask::vault::note(number);
        let text = format!("{} is about {}\n", note.title, note.rare_word);
        std::fs::write(folder.join(format!("{number}.md")), text)?;
    }
    Ok(())
}

fn measure_starts(
    effort: BenchEffort,
    command: impl Fn() -> Result<Command>,
) -> Result<TimeSamples> {
    let mut samples = TimeSamples::default();
    // The first start reads the program from disk and creates missing files.
    workspace::output(&mut command()?)?;
    for _ in 0..effort.repetitions() / 4 {
        let mut command = command()?;
        samples.time(|| workspace::output(&mut command))?;
    }
    Ok(samples)
}

/// Measures like [`measure_starts`]; `None` if our binary does not know the command.
fn measure_if_known(
    effort: BenchEffort,
    command: impl Fn() -> Command,
) -> Result<Option<TimeSamples>> {
    match workspace::output(&mut command()) {
        Ok(text) if !text.trim().is_empty() => measure_starts(effort, || Ok(command())).map(Some),
        Ok(_) | Err(_) => {
            println!("bench: not measured, because it does not answer: {:?}", command().get_args());
            Ok(None)
        }
    }
}

fn measure_round_trips(effort: BenchEffort) -> Result<TimeSamples> {
    let mut child = this_program("echo")?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("the child has no input")?;
    let mut output = BufReader::new(child.stdout.take().ok_or("the child has no output")?);
    let request = format!("{}\n", "m".repeat(1023));
    let mut answer = String::new();
    let mut samples = TimeSamples::default();
    for _ in 0..effort.repetitions() {
        answer.clear();
        samples.time(|| {
            input.write_all(request.as_bytes())?;
            Ok(output.read_line(&mut answer)?)
        })?;
    }
    drop(input);
    child.wait()?;
    if answer == request { Ok(samples) } else { Err("the child answers something else".into()) }
}
