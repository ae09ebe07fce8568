//! Renders outcomes in two wordings: of the MCP specification, and of the official SDK for the
//! Claude API. Outcomes that the specification does not mention have the official form in both.

use memoranda_core::path::PathErrorKind;

use super::lines::format_size;
use super::outcome::{CommandGroup, ListedEntry, MemoryError, MemoryOutcome, PathAccess};
use super::path::MemoryPathError;
use super::view::RemainingEntries;
use crate::settings::Wording;

/// Renders an outcome.
pub(super) fn render_outcome(answer: &MemoryOutcome, wording: Wording) -> String {
    let (text, warnings) = match answer {
        MemoryOutcome::Listing { path, entries, left } => (listing(path, entries, *left), None),
        MemoryOutcome::FileContent { path, numbered } => {
            (format!("Here's the content of {path} with line numbers:\n{numbered}"), None)
        }
        MemoryOutcome::Created(change) => (created(&change.path, wording), Some(&change.warnings)),
        MemoryOutcome::Replaced(change, snippet) => {
            (replaced(&change.path, snippet, wording), Some(&change.warnings))
        }
        MemoryOutcome::Inserted(change, line) => {
            (inserted(&change.path, *line, wording), Some(&change.warnings))
        }
        MemoryOutcome::Deleted(change) => (deleted(&change.path, wording), Some(&change.warnings)),
        MemoryOutcome::Renamed(change, to) => {
            (renamed(&change.path, to, wording), Some(&change.warnings))
        }
    };
    match warnings {
        Some(warnings) if !warnings.is_empty() => {
            format!("{text}\n\nWarning: {}", warnings.join("\nWarning: "))
        }
        _ => text,
    }
}

fn listing(path: &str, entries: &[ListedEntry], left: Option<RemainingEntries>) -> String {
    let mut text = format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:"
    );
    for entry in entries {
        text.push_str(&format!("\n{}\t{}", format_size(entry.size), entry.path));
    }
    if let Some(RemainingEntries { count, next, last }) = left {
        text.push_str(&format!(
            "\n\n[...truncated {count} entries; continue with view_range [{next}, {last}]]"
        ));
    }
    text
}

fn created(path: &str, wording: Wording) -> String {
    match wording {
        Wording::Mcp => format!("Created {path}"),
        Wording::Claude => format!("File created successfully at: {path}"),
    }
}

fn replaced(path: &str, snippet: &str, wording: Wording) -> String {
    match wording {
        Wording::Mcp => format!("Replaced text in {path}"),
        Wording::Claude => format!(
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        ),
    }
}

fn inserted(path: &str, line: i64, wording: Wording) -> String {
    match wording {
        Wording::Mcp => format!("Inserted text at line {line}"),
        Wording::Claude => format!("The file {path} has been edited."),
    }
}

fn deleted(path: &str, wording: Wording) -> String {
    match wording {
        Wording::Mcp => format!("Deleted {path}"),
        Wording::Claude => format!("Successfully deleted {path}"),
    }
}

fn renamed(from: &str, to: &str, wording: Wording) -> String {
    match wording {
        Wording::Mcp => format!("Renamed {from} to {to}"),
        Wording::Claude => format!("Successfully renamed {from} to {to}"),
    }
}

/// Renders an error.
pub(super) fn render_error(failure: &MemoryError, wording: Wording) -> String {
    match wording {
        Wording::Mcp => explain_mcp(failure),
        Wording::Claude => explain_claude(failure),
    }
}

const OUTSIDE: &str = "Permission denied: Cannot write outside /memories directory";
const INVALID: &str = "Invalid path: Path must be within /memories directory";

fn explain_mcp(failure: &MemoryError) -> String {
    match failure {
        MemoryError::InvalidPath {
            reason: MemoryPathError::NoPrefix,
            access: PathAccess::Write,
            ..
        }
        | MemoryError::Symlink { access: PathAccess::Write, .. } => OUTSIDE.into(),
        MemoryError::InvalidPath {
            reason: MemoryPathError::NoPrefix | MemoryPathError::LeadsUp | MemoryPathError::Escapes,
            ..
        }
        | MemoryError::Symlink { .. } => INVALID.into(),
        MemoryError::Missing { path, .. } => format!("File not found: {path}"),
        MemoryError::ManyMatches { count, .. } => format!(
            "Found {count} matches for replacement text. Please provide more context to make a unique match."
        ),
        MemoryError::NoMatch { .. } => {
            "No match found for replacement. Please check your text and try again.".into()
        }
        MemoryError::InvalidLine { line, lines } => {
            format!("Invalid line number: File has {lines} lines, cannot insert at line {line}")
        }
        MemoryError::RootDelete => {
            "Permission denied: Cannot delete the /memories directory itself".into()
        }
        MemoryError::RootRename => {
            "Permission denied: Cannot rename the /memories directory itself".into()
        }
        MemoryError::Exists { path } => format!("File already exists: {path}"),
        MemoryError::DestinationExists { path } => format!("Destination already exists: {path}"),
        MemoryError::NotAFile { path } => format!("Not a file: {path} is a directory"),
        other => explain_either(other),
    }
}

fn explain_claude(failure: &MemoryError) -> String {
    match failure {
        MemoryError::InvalidPath {
            path,
            reason: MemoryPathError::NoPrefix | MemoryPathError::LeadsUp,
            ..
        } => {
            format!("Path must start with /memories, got: {path}")
        }
        MemoryError::InvalidPath { path, reason: MemoryPathError::Escapes, .. }
        | MemoryError::Symlink { path, .. } => {
            format!("Path {path} would escape /memories directory")
        }
        MemoryError::Missing { path, command: CommandGroup::ViewOrEdit } => {
            format!("The path {path} does not exist. Please provide a valid path.")
        }
        MemoryError::Missing { path, command: CommandGroup::DeleteOrRename } => {
            format!("The path {path} does not exist")
        }
        MemoryError::NotAFile { path } => format!("The path {path} is not a file."),
        MemoryError::Exists { path } => format!("File {path} already exists"),
        MemoryError::DestinationExists { path } => format!("The destination {path} already exists"),
        MemoryError::RootDelete => "Cannot delete the /memories directory itself".into(),
        MemoryError::RootRename => "Cannot rename the /memories directory itself".into(),
        MemoryError::NoMatch { path, old } => format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        ),
        MemoryError::ManyMatches { old, lines, .. } => {
            let listed: Vec<_> = lines.lines.iter().map(ToString::to_string).collect();
            let more = if lines.has_more { " and more" } else { "" };
            format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}{more}. Please ensure it is unique",
                listed.join(", ")
            )
        }
        MemoryError::InvalidLine { line, lines } => format!(
            "Invalid `insert_line` parameter: {line}. It should be within the range [0, {lines}]."
        ),
        MemoryError::TooManyLines { path } => {
            format!("File {path} exceeds maximum line limit of 999,999 lines.")
        }
        other => explain_either(other),
    }
}

/// Renders an error that neither source mentions.
fn explain_either(failure: &MemoryError) -> String {
    match failure {
        MemoryError::Command(bad) => bad.to_string(),
        MemoryError::TooLarge { path, size, limit } => format!(
            "{path} would have {size} bytes; the limit is {limit}. Split it into several files."
        ),
        MemoryError::Oversized { path, size, limit, access: PathAccess::Read } => {
            format!("{path} is too large to be shown: it has {size} bytes; the limit is {limit}.")
        }
        MemoryError::Oversized { path, size, limit, access: PathAccess::Write } => format!(
            "{path} cannot be changed: the file that is there has {size} bytes, and the history \
             keeps files of up to {limit}, so the change could not be undone. Nothing was changed. \
             Use another name, or the person can remove the file by hand."
        ),
        MemoryError::Unsupported { path } => format!("Unsupported file type for {path}"),
        MemoryError::BelowFile { path, file } => {
            format!("{path} cannot be made: {file} is a file, not a directory.")
        }
        MemoryError::NotText { path } => format!("{path} is not UTF-8 text and cannot be edited."),
        MemoryError::Secrets { path, kinds } => format!(
            "{path} was not saved: the text holds {}. Leave the secret out and try again.",
            kinds.join(", ")
        ),
        MemoryError::IntoItself { from, to } => {
            format!("{from} cannot be moved into itself ({to}).")
        }
        MemoryError::TooManyLines { path } => format!("{path} has more than 999,999 lines."),
        MemoryError::System { doing, reason } => {
            format!("The memory could not be {doing}: {reason}.")
        }
        MemoryError::InvalidPath {
            path, reason: MemoryPathError::Unusable(Some(reason)), ..
        } => {
            // On Windows, `a:b.md` is a file on the drive `a:`.
            let reason = match reason {
                PathErrorKind::Absolute => "a letter and `:` at the start name a drive".to_owned(),
                other => other.to_string(),
            };
            format!("{path:?} cannot be used as a path: {reason}.")
        }
        MemoryError::InvalidPath { path, .. } => format!("{path:?} cannot be used as a path."),
        MemoryError::Unrecordable { path, entry, what } => {
            let (which, others) = if entry == path {
                ("it", "")
            } else {
                (entry.as_str(), "; the other files can be deleted or renamed one by one")
            };
            format!(
                "{path} cannot be deleted or renamed: {which} is {what}, which the history does \
                 not keep. Nothing was changed. The person can remove it by hand{others}."
            )
        }
        MemoryError::OnlyHidden { path, left } => format!(
            "{path} was not deleted or renamed: all that it holds is hidden or ignored and was not \
             written with this tool ({}). Name one of these to mean it.",
            left.join(", ")
        ),
        MemoryError::ReservedPath { path } => format!(
            "{path} cannot be used: it is where another program keeps its own, and no memory is \
             read or written there. Choose another name."
        ),
        MemoryError::HardLink { path, access } => {
            let done = match access {
                PathAccess::Read => "read",
                PathAccess::Write => "changed",
            };
            format!(
                "{path} cannot be {done}: the file has a second name somewhere (it is a hard \
                 link), which may lie outside /memories. The path is right. The person can put a \
                 copy in its place, or allow such files with `memoranda project add memories DIR \
                 --allow-hard-links`."
            )
        }
        MemoryError::Symlink { .. }
        | MemoryError::Missing { .. }
        | MemoryError::NotAFile { .. }
        | MemoryError::Exists { .. }
        | MemoryError::DestinationExists { .. }
        | MemoryError::RootDelete
        | MemoryError::RootRename
        | MemoryError::NoMatch { .. }
        | MemoryError::ManyMatches { .. }
        | MemoryError::InvalidLine { .. } => "The command could not be done.".into(),
    }
}
