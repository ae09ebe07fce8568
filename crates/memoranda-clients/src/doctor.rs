//! Checks of a vault, each with its sentence.

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{DoctorReport, Memory, ScanReport};

use crate::error::{ClientsError, Result};
use crate::files;

/// One check of a vault with its result.
#[derive(Clone, Debug)]
pub struct DoctorCheck {
    /// Name in answers to programs.
    pub name: &'static str,
    /// Sentence if nothing was found.
    pub passed: String,
    /// Beginning of the sentence if something was found.
    pub failed: &'static str,
    /// Things that disagree; empty if the check passed.
    pub found: Vec<String>,
    /// Next step if something was found.
    pub remedy: Option<&'static str>,
}

const REPAIR: Option<&str> = Some("`memoranda doctor --repair` rebuilds the index");
const RESTORE: Option<&str> = Some("`memoranda doctor --restore` brings them back");
const BACKUP: Option<&str> =
    Some("damage in the history cannot be repaired; restore .memoranda/log from a backup");

/// Reads every file and the whole history, and compares the index with a rebuilt one.
pub fn run_doctor(memory: &Memory) -> Result<DoctorReport> {
    let scratch = files::private_folder("memoranda-doctor-").map_err(|source| {
        ClientsError::Io { doing: "make a folder to compare in".to_owned(), source }
    })?;
    Ok(memory.doctor(scratch.path())?)
}

/// Returns the checks of a report in the order of reading.
pub fn doctor_checks(report: &DoctorReport) -> Vec<DoctorCheck> {
    let check = &report.check;
    let damaged = check.damage.iter().map(|damage| {
        format!("{} bytes at {} of log segment {}", damage.bytes, damage.offset, damage.segment)
    });
    let broken_links = check.broken_links.iter().map(|link| {
        format!("record {} of device {} does not follow the one before it", link.seq, link.device)
    });
    let lost = check.lost.iter().map(|lost| {
        let (state, commit) = (lost.state.as_str(), lost.commit.short());
        format!("{}/{} is {state} since commit {commit}", lost.project, lost.path)
    });
    vec![
        DoctorCheck {
            name: "scan",
            passed: scan_sentence(&report.sync),
            failed: "",
            found: Vec::new(),
            remedy: None,
        },
        DoctorCheck {
            name: "history",
            passed: format!("the history is whole: {}", counted(check.commits, "commit")),
            failed: "the history is damaged",
            found: damaged.collect(),
            remedy: BACKUP,
        },
        DoctorCheck {
            name: "chain",
            passed: "the records of each device follow each other".to_owned(),
            failed: "records are missing or were changed",
            found: broken_links.collect(),
            remedy: BACKUP,
        },
        DoctorCheck {
            name: "acknowledged",
            passed: "the files have what was written to them".to_owned(),
            failed: "after a restart files were found without what was written to them",
            found: lost.collect(),
            remedy: RESTORE,
        },
        DoctorCheck {
            name: "texts",
            passed: "the history has the text of every file".to_owned(),
            failed: "the history lacks the text of",
            found: names(&check.unkept),
            remedy: BACKUP,
        },
        DoctorCheck {
            name: "index",
            passed: format!("the index has every file as it is: {}", counted(check.files, "file")),
            failed: "the index is behind for",
            found: names(&check.stale),
            remedy: REPAIR,
        },
        DoctorCheck {
            name: "rebuild",
            passed: "a rebuilt index is identical".to_owned(),
            failed: "a rebuilt index differs in",
            found: check.differing.clone(),
            remedy: REPAIR,
        },
    ]
}

/// Returns the result of a scan as a sentence.
pub fn scan_sentence(report: &ScanReport) -> String {
    let counts = [
        (report.added, "new"),
        (report.changed, "changed"),
        (report.moved, "moved"),
        (report.removed, "removed"),
    ];
    let found: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match found.as_slice() {
        [] => format!("Scanned {}: no changes", counted(report.seen, "file")),
        found => format!("Scanned {}: {}", counted(report.seen, "file"), found.join(", ")),
    }
}

/// Formats a count with the singular or plural of a noun.
pub fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

fn names(places: &[(ProjectName, NotePath)]) -> Vec<String> {
    places.iter().map(|(project, path)| format!("{project}/{path}")).collect()
}
