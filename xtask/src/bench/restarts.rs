//! The first answer of a new server process, with an edit that was made while no process ran.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::mcp::BenchServer;
use super::options::BenchEffort;
use super::report::{number, time};
use super::samples::TimeSamples;
use super::tool_cases::{CASES, CaseInput};
use crate::Result;

/// The measured tools: one note by its name, and a search.
const TOOLS: [&str; 2] = ["read_note", "search_notes"];

/// Maximum time in milliseconds of the first answer of each tool, at 10,000 and at 100,000 notes.
const MAX_MS: [(f64, f64); 2] = [(25.0, 25.0), (60.0, 300.0)];

/// Number of notes above which a server is started less often.
const LARGE: usize = 10_000;

/// First answers of each tool in one vault.
pub(super) type RestartSamples = [TimeSamples; TOOLS.len()];

/// Starts a server for each call, and times its first one. `folder` holds the notes.
pub(super) fn measure(
    effort: BenchEffort,
    folder: &Path,
    notes: usize,
    command: impl Fn() -> Command,
    only: Option<&str>,
) -> Result<RestartSamples> {
    let mut samples = RestartSamples::default();
    for (tool, samples) in TOOLS.iter().zip(&mut samples) {
        if only.is_some_and(|only| only != *tool) {
            continue;
        }
        let Some(case) = CASES.iter().find(|case| case.tool == *tool) else { continue };
        // A start in a large vault takes long enough to give a stable time.
        let starts = effort.repetitions() / if notes > LARGE { 40 } else { 10 };
        for serial in 0..starts {
            let edited = folder.join(xtask::vault::note(serial % notes).path);
            let text = std::fs::read_to_string(&edited)?;
            std::fs::write(&edited, format!("{text}\nEdited by hand, {tool} {serial}.\n"))?;
            let input = CaseInput { serial, notes, prepared: &Value::Null };
            let arguments = (case.arguments)(&input);
            let mut server = BenchServer::start_initialized(command())?;
            samples.time(|| server.call(tool, &arguments))?;
            server.end()?;
        }
    }
    Ok(samples)
}

/// Renders the table of all sizes.
pub(super) fn render(sizes: &[(usize, &RestartSamples)]) -> String {
    let mut page = String::from(
        "\n### First answer after a restart\n\n\
         Time of the first call of a new process, p50 / p95, after one note was edited by hand while no process ran.\n\n\
         | Tool | Budget at 10,000 / 100,000 |",
    );
    for (notes, _) in sizes {
        let _ = write!(page, " {} notes |", number(*notes));
    }
    let _ = writeln!(page, "\n|---|---|{}", "---|".repeat(sizes.len()));
    for (n, (tool, most)) in TOOLS.iter().zip(MAX_MS).enumerate() {
        let _ = write!(page, "| `{tool}` | {} / {} ms |", most.0, most.1);
        for (_, samples) in sizes {
            let times = samples.get(n).map(|times| (time(times.p50()), time(times.p95())));
            let (p50, p95) = times.unwrap_or_default();
            let _ = write!(page, " {p50} / {p95} |");
        }
        page.push('\n');
    }
    page
}
