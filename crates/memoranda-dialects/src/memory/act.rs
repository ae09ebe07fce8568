//! Doing what a command asks, on the files as they are on disk.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::screen;
use memoranda_engine::{
    DeleteOutcome, DeleteRequest, EditOutcome, EngineError, EntryKind, MoveOutcome, MoveRequest,
    Place, WriteMode, WriteOutcome, WriteRequest,
};

use super::answer::{Answer, AskedBy, Change, Failure, Intent, Listed};
use super::command::Command;
use super::path::{self, Target};
use super::text;
use crate::settings::{CreateMode, SecretPolicy, Wording};
use crate::tool::Call;

/// Does a command.
pub(super) fn act(call: &Call<'_>, command: Command) -> Result<Answer, Failure> {
    let memories = &call.settings.memories;
    call.memory
        .create_project(memories.as_str())
        .map_err(|e| Failure::from_engine(&e, "/memories", Intent::Read))?;
    match command {
        Command::View { path, range } => view(call, path, range),
        Command::Create { path, text } => create(call, path, text),
        Command::StrReplace { path, old, new } => str_replace(call, path, &old, &new),
        Command::Insert { path, line, text } => insert(call, path, line, &text),
        Command::Delete { path } => delete(call, path),
        Command::Rename { from, to } => rename(call, from, to),
    }
}

fn target(path: &str, intent: Intent) -> Result<Target, Failure> {
    path::parse(path).map_err(|stray| Failure::Stray { path: path.to_owned(), stray, intent })
}

fn view(call: &Call<'_>, path: String, range: Option<(i64, i64)>) -> Result<Answer, Failure> {
    let memories = &call.settings.memories;
    let failed = |e: &EngineError| Failure::from_engine(e, &path, Intent::Read);
    let at = match target(&path, Intent::Read)? {
        Target::Root => return list(call, path, None),
        Target::At(at) => at,
    };
    let note = match call.memory.read_at(&place(memories, &at)) {
        Ok(note) => note,
        Err(e) => match failed(&e) {
            Failure::NotAFile { .. } => return list(call, path, Some(&at)),
            other => return Err(other),
        },
    };
    call.memory.store().note_use(memories, &at);
    let shown = note.lossy_text();
    let lines = text::lines(&shown);
    if lines.len() > text::MAX_LINES {
        return Err(Failure::TooManyLines { path });
    }
    let (first, lines) = match range {
        Some(range) => text::in_range(&lines, range),
        None => (1, lines.as_slice()),
    };
    let numbered = cut(text::numbered(lines, first), first, call.settings.view_chars);
    Ok(Answer::Content { path, numbered })
}

/// Holds a view to its cap and says how to go on.
fn cut(shown: String, first: usize, cap: usize) -> String {
    let Some((at, _)) = shown.char_indices().nth(cap) else { return shown };
    let kept = &shown[..at];
    let next = first + kept.matches('\n').count();
    let rest = shown[at..].chars().count();
    // A line that no view can hold whole would be where one goes on for ever.
    let how = match (next == first, shown[at..].contains('\n')) {
        (false, _) => format!("continue with view_range [{next}, -1]"),
        (true, true) => format!(
            "line {next} is longer than a view, and this is its beginning; continue with \
             view_range [{}, -1]",
            next + 1
        ),
        (true, false) => format!("line {next} is longer than a view, and this is its beginning"),
    };
    format!("{kept}\n\n[...truncated {rest} chars; {how}]")
}

fn list(call: &Call<'_>, path: String, at: Option<&NotePath>) -> Result<Answer, Failure> {
    let shown = path.trim_end_matches('/').to_owned();
    let mut entries = Vec::new();
    gather(call, at, Listed { size: 0, path: shown.clone() }, &shown, 2, &mut entries)
        .map_err(|e| Failure::from_engine(&e, &path, Intent::Read))?;
    Ok(Answer::Listing { path, entries })
}

/// Lists a folder by its own line, and then what is in it, so many levels deep.
fn gather(
    call: &Call<'_>,
    at: Option<&NotePath>,
    own: Listed,
    shown: &str,
    levels: usize,
    entries: &mut Vec<Listed>,
) -> Result<(), EngineError> {
    let Some(found) = call.memory.store().entries(&call.settings.memories, at)? else {
        return Ok(());
    };
    entries.push(Listed { size: found.size, ..own });
    if levels == 0 {
        return Ok(());
    }
    for entry in found.entries {
        if entry.name.starts_with('.') || entry.name == "node_modules" {
            continue;
        }
        let path = format!("{shown}/{}", entry.name);
        match entry.kind {
            EntryKind::File => entries.push(Listed { size: entry.size, path }),
            EntryKind::Folder => {
                let inner = match at {
                    Some(at) => format!("{at}/{}", entry.name),
                    None => entry.name,
                };
                let Ok(inner) = NotePath::parse(&inner) else { continue };
                let own = Listed { size: 0, path: format!("{path}/") };
                gather(call, Some(&inner), own, &path, levels - 1, entries)?;
            }
        }
    }
    Ok(())
}

fn create(call: &Call<'_>, path: String, text: String) -> Result<Answer, Failure> {
    let at = match target(&path, Intent::Write)? {
        Target::Root => return Err(Failure::Exists { path }),
        Target::At(at) => at,
    };
    let (text, warnings) = screened(call, &path, text)?;
    check_size(call, &path, &text)?;
    let mode = match (call.settings.create, call.settings.wording) {
        (Some(CreateMode::Overwrite), _) | (None, Wording::Seed) => WriteMode::CreateOrOverwrite,
        (Some(CreateMode::Refuse), _) | (None, Wording::Claude) => WriteMode::Create,
    };
    let request = WriteRequest {
        project: call.settings.memories.clone(),
        path: at,
        content: text.into_bytes(),
        mode,
        message: None,
    };
    let outcome = call.memory.write(&call.who, &request).map_err(|e| {
        match Failure::from_engine(&e, &path, Intent::Write) {
            // To make a file where a directory is, is to make what exists.
            Failure::NotAFile { path } => Failure::Exists { path },
            other => other,
        }
    })?;
    match outcome {
        WriteOutcome::Written(written) => {
            let commit = Some(written.commit.id);
            Ok(Answer::Created(Change { path, commit, warnings }))
        }
        WriteOutcome::Unchanged(..) => Ok(Answer::Created(Change { path, commit: None, warnings })),
        WriteOutcome::Exists(..) | WriteOutcome::Conflict(..) => Err(Failure::Exists { path }),
    }
}

fn str_replace(call: &Call<'_>, path: String, old: &str, new: &str) -> Result<Answer, Failure> {
    let (new, warnings) = screened(call, &path, new.to_owned())?;
    let mut snippet = String::new();
    let commit = edit(call, &path, |current| {
        let lines = text::occurrences(current, old);
        let [line] = lines.as_slice() else {
            return Err(match lines.len() {
                0 => Failure::NoMatch { path: path.clone(), old: old.to_owned() },
                _ => Failure::ManyMatches { old: old.to_owned(), lines },
            });
        };
        let replaced = current.replacen(old, &new, 1);
        check_size(call, &path, &replaced)?;
        snippet = text::snippet(&replaced, *line);
        Ok(replaced)
    })?;
    Ok(Answer::Replaced(Change { path, commit, warnings }, snippet))
}

fn insert(call: &Call<'_>, path: String, line: i64, addition: &str) -> Result<Answer, Failure> {
    let (addition, warnings) = screened(call, &path, addition.to_owned())?;
    let commit = edit(call, &path, |current| {
        let changed = text::inserted(current, line, &addition)
            .map_err(|lines| Failure::BadLine { line, lines })?;
        check_size(call, &path, &changed)?;
        Ok(changed)
    })?;
    Ok(Answer::Inserted(Change { path, commit, warnings }, line))
}

/// Changes a file's text under the lock; a failure of the change itself comes back as it is.
fn edit(
    call: &Call<'_>,
    path: &str,
    mut change: impl FnMut(&str) -> Result<String, Failure>,
) -> Result<Option<memoranda_core::id::CommitId>, Failure> {
    let at = match target(path, Intent::Write)? {
        Target::Root => return Err(Failure::NotAFile { path: path.to_owned() }),
        Target::At(at) => at,
    };
    let place = place(&call.settings.memories, &at);
    let mut failure = None;
    let outcome = call.memory.rewrite(&call.who, &place, None, None, |current| {
        change(current).map_err(|e| {
            failure = Some(e);
            EngineError::Invalid("the change did not fit".into())
        })
    });
    match (outcome, failure) {
        (_, Some(failure)) => Err(failure),
        (Err(e), None) => Err(Failure::from_engine(&e, path, Intent::Write)),
        (Ok(EditOutcome::Edited(edited)), None) => Ok(Some(edited.commit.id)),
        (Ok(EditOutcome::Unchanged(..) | EditOutcome::Conflict(..)), None) => Ok(None),
    }
}

fn delete(call: &Call<'_>, path: String) -> Result<Answer, Failure> {
    let at = match target(&path, Intent::Write)? {
        Target::Root => return Err(Failure::RootDelete),
        Target::At(at) => at,
    };
    let request = DeleteRequest { place: place(&call.settings.memories, &at), expected: None };
    let outcome = call.memory.delete(&call.who, &request).map_err(|e| missing(&e, &path))?;
    let commit = match outcome {
        DeleteOutcome::Deleted(deleted) => deleted.commit.map(|commit| commit.id),
        DeleteOutcome::Conflict(..) => None,
    };
    Ok(Answer::Deleted(Change { path, commit, warnings: Vec::new() }))
}

fn rename(call: &Call<'_>, from: String, to: String) -> Result<Answer, Failure> {
    let source = target(&from, Intent::Write)?;
    let destination = target(&to, Intent::Write)?;
    let Target::At(source) = source else { return Err(Failure::RootRename) };
    let Target::At(destination) = destination else {
        return Err(Failure::DestinationExists { path: to });
    };
    let memories = &call.settings.memories;
    let taken = call.memory.plan_delete(&place(memories, &destination));
    let is_folder = call.memory.store().entries(memories, Some(&destination));
    if taken.is_ok_and(|files| !files.is_empty()) || is_folder.is_ok_and(|found| found.is_some()) {
        return Err(Failure::DestinationExists { path: to });
    }
    if destination.is_within(source.as_str()) {
        return Err(Failure::IntoItself { from, to });
    }
    let request = MoveRequest { from: place(memories, &source), to: destination };
    match call.memory.relocate(&call.who, &request).map_err(|e| missing(&e, &from))? {
        MoveOutcome::Moved(moved) => {
            let commit = moved.commit.map(|commit| commit.id);
            Ok(Answer::Renamed(Change { path: from, commit, warnings: Vec::new() }, to))
        }
        MoveOutcome::Exists(_) => Err(Failure::DestinationExists { path: to }),
    }
}

fn missing(error: &EngineError, path: &str) -> Failure {
    match Failure::from_engine(error, path, Intent::Write) {
        Failure::Missing { path, .. } => {
            Failure::Missing { path, asked_by: AskedBy::DeleteOrRename }
        }
        other => other,
    }
}

fn place(memories: &ProjectName, at: &NotePath) -> Place {
    Place { project: memories.clone(), path: at.clone() }
}

fn check_size(call: &Call<'_>, path: &str, text: &str) -> Result<(), Failure> {
    let (size, limit) = (text.len() as u64, call.settings.max_file_bytes);
    if size > limit {
        return Err(Failure::TooLarge { path: path.to_owned(), size, limit });
    }
    Ok(())
}

/// Looks for secrets in what is to be written, and does with them what the person wants.
fn screened(call: &Call<'_>, path: &str, text: String) -> Result<(String, Vec<String>), Failure> {
    let secrets = screen::secrets(&text);
    if secrets.is_empty() {
        return Ok((text, Vec::new()));
    }
    let mut kinds: Vec<String> =
        secrets.iter().map(|secret| format!("{} (line {})", secret.kind, secret.line)).collect();
    kinds.dedup();
    match call.settings.secrets {
        SecretPolicy::Refuse => Err(Failure::Secrets { path: path.to_owned(), kinds }),
        SecretPolicy::Redact => {
            let warning = format!("Replaced what looked like a secret: {}.", kinds.join(", "));
            Ok((screen::redact(&text), vec![warning]))
        }
        SecretPolicy::Warn => {
            let warning = format!(
                "This looks like a secret: {}. It was saved; remove it if it should not be kept.",
                kinds.join(", ")
            );
            Ok((text, vec![warning]))
        }
    }
}
