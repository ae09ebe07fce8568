//! Writes many notes over stdio, and measures what they leave: bytes, memory, log and index.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::mcp::BenchServer;
use super::options::BenchEffort;
use super::product;
use super::tools::ProcessUse;
use crate::Result;

/// Number of notes that are written by calls.
const NOTES: usize = 10_000;
/// Number of small notes whose written bytes are counted.
const SMALL_NOTES: usize = 1_000;
/// Time after which an idle server has done all work of the calls before.
const SETTLE: Duration = Duration::from_secs(1);

/// Sizes in bytes after many writes.
pub(super) struct VolumeResults {
    /// Number of notes.
    pub(super) notes: usize,
    /// `write_bytes` per small note, over many writes back to back.
    pub(super) written_per_note: u64,
    /// Resident bytes of the server; `None` if the system does not report them.
    pub(super) resident: Option<u64>,
    /// Texts of all notes.
    pub(super) text: u64,
    /// Passages of all notes.
    pub(super) passages: u64,
    pub(super) log: u64,
    pub(super) index: u64,
}

/// Measures in a new vault. `home` and `cache` are those of the command.
pub(super) fn measure(
    effort: BenchEffort,
    command: Command,
    (home, cache): (&Path, &Path),
) -> Result<VolumeResults> {
    let notes = match effort {
        BenchEffort::Full => NOTES,
        BenchEffort::Quick => NOTES / 20,
    };
    let mut server = BenchServer::start_initialized(command)?;
    let (mut text, mut passages) = (0, 0);
    for number in 0..notes {
        let note = xtask::vault::note(number);
        passages += product::passages(&note.text).len() as u64;
        text += note.text.len() as u64;
        let path = format!("/memories/{}", note.path);
        let call = json!({ "command": "create", "path": path, "file_text": note.text });
        server.call("memory", &call)?;
    }
    std::thread::sleep(SETTLE);
    let resident = resident_bytes(server.id());
    let (log, index) = (bytes_below(&home.join(".memoranda/log"))?, bytes_below(cache)?);
    let small = SMALL_NOTES.min(notes);
    let before = ProcessUse::of(server.id());
    for number in 0..small {
        let text =
            format!("Step {number} comes before lunch.\n\n- [decision] Lunch is at {number}\n");
        let path = format!("/memories/small/{number}.md");
        let call = json!({ "command": "create", "path": path, "file_text": text });
        server.call("memory", &call)?;
    }
    std::thread::sleep(SETTLE);
    let written = ProcessUse::of(server.id()).since(before).written_bytes;
    server.end()?;
    let written_per_note = written / small.max(1) as u64;
    Ok(VolumeResults { notes, written_per_note, resident, text, passages, log, index })
}

/// Reads the resident bytes of a process.
fn resident_bytes(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes << 10)
}

fn bytes_below(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() {
            bytes_below(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(bytes)
}
