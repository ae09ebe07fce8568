//! Executes the commands of the memory tool on the files on disk.

use memoranda_core::id::{CommitId, ProjectName};
use memoranda_core::path::NotePath;
use memoranda_core::secrets;
use memoranda_engine::{
    DeleteOutcome, DeleteRequest, EditOutcome, EngineError, FileOrder, FilesBelow, IgnoreRules,
    MAX_FILE_BYTES, MoveOutcome, MoveRequest, NoteLocation, StoreError, WriteMode, WriteOutcome,
    WriteRequest,
};

use super::command::MemoryCommand;
use super::outcome::{CommandGroup, MemoryChange, MemoryError, MemoryOutcome, PathAccess};
use super::path::{self, MemoryPath};
use super::{FRAME_CHARS, MAX_CHARS, lines, view};
use crate::registry::CallContext;
use crate::settings::{CreateMode, SecretPolicy, Wording};

/// Maximum number of secrets named in one answer.
const MAX_NAMED_SECRETS: usize = 10;
/// Maximum number of remaining files named in one answer.
const MAX_NAMED_FILES: usize = 10;

/// Executes a command.
pub(super) fn execute(
    call: &CallContext<'_>,
    command: MemoryCommand,
) -> Result<MemoryOutcome, MemoryError> {
    let memories = &call.settings.memories;
    call.memory
        .create_project(memories.as_str())
        .map_err(|e| MemoryError::from_engine(&e, "/memories", PathAccess::Read))?;
    match command {
        MemoryCommand::View { path, range } => view::view(call, path, range),
        MemoryCommand::Create { path, text } => create(call, path, text),
        MemoryCommand::StrReplace { path, old, new } => str_replace(call, path, &old, &new),
        MemoryCommand::Insert { path, line, text } => insert(call, path, line, &text),
        MemoryCommand::Delete { path } => delete(call, path),
        MemoryCommand::Rename { from, to } => rename(call, from, to),
    }
}

/// Resolves a path. An existing file with the same name in another Unicode form or case is that
/// file, for every command.
pub(super) fn resolve_path(
    call: &CallContext<'_>,
    path: &str,
    access: PathAccess,
) -> Result<MemoryPath, MemoryError> {
    match parse(call, path, access)? {
        MemoryPath::Root => Ok(MemoryPath::Root),
        MemoryPath::At(at) => canonical_path_on_disk(call, path, &at, access).map(MemoryPath::At),
    }
}

/// Parses a path. The folders of the MCP wording are relative to the directory, and so may be a path.
fn parse(
    call: &CallContext<'_>,
    path: &str,
    access: PathAccess,
) -> Result<MemoryPath, MemoryError> {
    let parsed = match call.settings.wording {
        Wording::Mcp => path::parse_relative(path),
        Wording::Claude => path::parse(path),
    };
    parsed.map_err(|reason| MemoryError::InvalidPath { path: path.to_owned(), reason, access })
}

fn canonical_path(
    call: &CallContext<'_>,
    path: &str,
    at: &NotePath,
    access: PathAccess,
) -> Result<NotePath, MemoryError> {
    let canonical = call.memory.canonical_path(&call.settings.memories, at);
    canonical.map_err(|e| MemoryError::from_engine(&e, path, access))
}

/// Resolves the spelling of a path by reading its folder, for files that may not be indexed.
fn canonical_path_on_disk(
    call: &CallContext<'_>,
    path: &str,
    at: &NotePath,
    access: PathAccess,
) -> Result<NotePath, MemoryError> {
    let canonical = call.memory.canonical_path_on_disk(&call.settings.memories, at);
    canonical.map_err(|e| MemoryError::from_engine(&e, path, access))
}

fn create(
    call: &CallContext<'_>,
    path: String,
    text: String,
) -> Result<MemoryOutcome, MemoryError> {
    let requested = match parse(call, &path, PathAccess::Write)? {
        MemoryPath::Root => return Err(MemoryError::Exists { path }),
        MemoryPath::At(requested) => requested,
    };
    let path_warnings = screen_path(call, &path)?;
    // If the folder exists with this spelling, the write itself detects a similar name.
    let mut at = match call.memory.has_folder_of(&call.settings.memories, &requested) {
        Ok(true) => requested.clone(),
        _ => canonical_path(call, &path, &requested, PathAccess::Write)?,
    };
    let ignored = ignored_by_search(call, &at);
    if ignored.is_some() {
        at = canonical_path_on_disk(call, &path, &requested, PathAccess::Write)?;
    }
    if at.composed() != requested.composed() && exists_at(call, &at) {
        // The caller sees two names and expects two files, but the file system allows only one.
        return Err(MemoryError::Exists { path: path::shown_like(&path, at.as_str()) });
    }
    let (text, mut warnings) = screen_secrets(call, &path, "", text)?;
    check_size(call, &path, &text)?;
    warnings.extend(path_warnings);
    warnings.extend(ignored);
    let searched = searchable_before_rules(call, &at);
    let rules = at.clone();
    let mode = match (call.settings.create, call.settings.wording) {
        (Some(CreateMode::Overwrite), _) | (None, Wording::Mcp) => WriteMode::CreateOrOverwrite,
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
        if let EngineError::Store(StoreError::Twin { existing, .. }) = &e {
            return MemoryError::Exists { path: path::shown_like(&path, existing) };
        }
        match MemoryError::from_creating(&e, &path) {
            // A directory with this name exists.
            MemoryError::NotAFile { path } => MemoryError::Exists { path },
            MemoryError::Oversized { path, .. } if mode == WriteMode::Create => {
                MemoryError::Exists { path }
            }
            other => other,
        }
    })?;
    warnings.extend(hidden_by_rules(call, &rules, &searched));
    match outcome {
        WriteOutcome::Written(written) => {
            let commit = Some(written.commit.id);
            Ok(MemoryOutcome::Created(MemoryChange { path, commit, warnings }))
        }
        WriteOutcome::Unchanged(..) => {
            Ok(MemoryOutcome::Created(MemoryChange { path, commit: None, warnings }))
        }
        WriteOutcome::Exists(..) | WriteOutcome::Conflict(..) => Err(MemoryError::Exists { path }),
    }
}

/// Returns the searchable memories before an ignore file changes. Empty for any other file.
fn searchable_before_rules(call: &CallContext<'_>, at: &NotePath) -> Vec<NotePath> {
    if !IgnoreRules::FILES.contains(&at.file_name()) {
        return Vec::new();
    }
    let below = FilesBelow {
        project: call.settings.memories.clone(),
        folder: at.parent().and_then(|folder| NotePath::parse(folder).ok()),
        depth: usize::MAX,
        order: FileOrder::Path,
        limit: usize::MAX,
        offset: 0,
    };
    let snapshot = call.memory.snapshot().ok();
    let found = snapshot.and_then(|snapshot| snapshot.files_below(&below).ok()).unwrap_or_default();
    let paths = found.iter().filter_map(|(_, path)| NotePath::parse(path).ok());
    // The index may not have applied the existing rules yet.
    paths.filter(|path| matches!(call.memory.ignored_by(&below.project, path), Ok(None))).collect()
}

/// Warns of memories that are no longer searchable after an ignore file changed.
fn hidden_by_rules(call: &CallContext<'_>, at: &NotePath, searched: &[NotePath]) -> Option<String> {
    let memories = &call.settings.memories;
    let is_lost = |path: &&NotePath| matches!(call.memory.ignored_by(memories, path), Ok(Some(_)));
    let lost = searched.iter().filter(is_lost).count();
    (lost > 0).then(|| {
        let memories =
            if lost == 1 { "1 memory is".to_owned() } else { format!("{lost} memories are") };
        format!(
            "{memories} no longer found by search because of the rules in /memories/{at}. Delete \
             or change it if that was not meant."
        )
    })
}

fn str_replace(
    call: &CallContext<'_>,
    path: String,
    old: &str,
    new: &str,
) -> Result<MemoryOutcome, MemoryError> {
    let (mut snippet, mut warnings) = (String::new(), Vec::new());
    let (commit, lost) = edit(call, &path, |current| {
        let (old, count) = (old.to_owned(), current.matches(old).count());
        match count {
            0 => return Err(MemoryError::NoMatch { path: path.clone(), old }),
            1 => {}
            _ => {
                let lines = lines::occurrence_lines(current, &old);
                return Err(MemoryError::ManyMatches { old, count, lines });
            }
        }
        let change_start = lines::change_start(current, &old);
        let replaced;
        (replaced, warnings) =
            screen_secrets(call, &path, current, current.replacen(&old, new, 1))?;
        check_size(call, &path, &replaced)?;
        snippet = lines::snippet(&replaced, change_start, MAX_CHARS - FRAME_CHARS);
        Ok(replaced)
    })?;
    warnings.extend(lost);
    Ok(MemoryOutcome::Replaced(MemoryChange { path, commit, warnings }, snippet))
}

fn insert(
    call: &CallContext<'_>,
    path: String,
    line: i64,
    addition: &str,
) -> Result<MemoryOutcome, MemoryError> {
    let mut warnings = Vec::new();
    let (commit, lost) = edit(call, &path, |current| {
        let changed = lines::inserted(current, line, addition)
            .map_err(|lines| MemoryError::InvalidLine { line, lines })?;
        let screened_text;
        (screened_text, warnings) = screen_secrets(call, &path, current, changed)?;
        check_size(call, &path, &screened_text)?;
        Ok(screened_text)
    })?;
    warnings.extend(lost);
    Ok(MemoryOutcome::Inserted(MemoryChange { path, commit, warnings }, line))
}

/// Changes a file's text under the lock. Returns the commit, and a warning if the file is an ignore
/// file that hides memories from the search.
fn edit(
    call: &CallContext<'_>,
    path: &str,
    mut change: impl FnMut(&str) -> Result<String, MemoryError>,
) -> Result<(Option<CommitId>, Option<String>), MemoryError> {
    let at = match resolve_path(call, path, PathAccess::Write)? {
        MemoryPath::Root => return Err(MemoryError::NotAFile { path: path.to_owned() }),
        MemoryPath::At(at) => at,
    };
    let searched = searchable_before_rules(call, &at);
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
        (Err(e), None) => Err(MemoryError::from_engine(&e, path, PathAccess::Write)),
        (Ok(EditOutcome::Edited(edited)), None) => {
            Ok((Some(edited.commit.id), hidden_by_rules(call, &at, &searched)))
        }
        (Ok(EditOutcome::Unchanged(..) | EditOutcome::Conflict(..)), None) => Ok((None, None)),
    }
}

fn delete(call: &CallContext<'_>, path: String) -> Result<MemoryOutcome, MemoryError> {
    let at = match resolve_path(call, &path, PathAccess::Write)? {
        MemoryPath::Root => return Err(MemoryError::RootDelete),
        MemoryPath::At(at) => at,
    };
    check_has_files(call, &path, &at)?;
    let request = DeleteRequest { place: place(&call.settings.memories, &at), expected: None };
    let outcome = call
        .memory
        .delete(&call.who, &request)
        .map_err(|e| MemoryError::from_removing(&e, &path, &at))?;
    let (commit, left) = match outcome {
        DeleteOutcome::Deleted(deleted) => (deleted.commit.map(|commit| commit.id), deleted.left),
        DeleteOutcome::Conflict(..) => (None, Vec::new()),
    };
    let warnings = remaining_files(&left).into_iter().collect();
    Ok(MemoryOutcome::Deleted(MemoryChange { path, commit, warnings }))
}

fn rename(call: &CallContext<'_>, from: String, to: String) -> Result<MemoryOutcome, MemoryError> {
    let source = resolve_path(call, &from, PathAccess::Write)?;
    let requested = parse(call, &to, PathAccess::Write)?;
    let MemoryPath::At(source) = source else { return Err(MemoryError::RootRename) };
    let MemoryPath::At(requested) = requested else {
        return Err(MemoryError::DestinationExists { path: to });
    };
    screen_path(call, &to)?;
    let memories = &call.settings.memories;
    let mut destination = canonical_path(call, &to, &requested, PathAccess::Write)?;
    if ignored_by_search(call, &destination).is_some() {
        destination = canonical_path_on_disk(call, &to, &requested, PathAccess::Write)?;
    }
    let is_same = destination == source;
    if is_same {
        // Only the spelling changes. A folder with exactly the new spelling takes precedence over
        // the folder of the file.
        destination = match requested.parent().map(NotePath::parse) {
            Some(Ok(folder)) => {
                let folder = canonical_path(call, &to, &folder, PathAccess::Write)?;
                NotePath::parse(&format!("{folder}/{}", requested.file_name())).unwrap_or(requested)
            }
            _ => requested,
        };
    }
    if (!is_same || destination == source) && exists_at(call, &destination) {
        return Err(MemoryError::DestinationExists { path: to });
    }
    if destination == source {
        return Err(MemoryError::Missing { path: from, command: CommandGroup::DeleteOrRename });
    }
    if destination.is_within(source.as_str()) {
        return Err(MemoryError::IntoItself { from, to });
    }
    check_has_files(call, &from, &source)?;
    let request = MoveRequest::new(place(memories, &source), destination);
    let outcome = call.memory.move_notes(&call.who, &request).map_err(|e| match e {
        EngineError::Store(StoreError::Twin { .. }) => {
            MemoryError::DestinationExists { path: to.clone() }
        }
        EngineError::Store(StoreError::NotAFile { path: ref entry, .. })
            if request.to.as_str() == entry || request.to.is_within(entry) =>
        {
            match MemoryError::from_creating(&e, &to) {
                // Something other than a readable file is at the destination.
                MemoryError::Unsupported { path } | MemoryError::HardLink { path, .. }
                    if request.to.as_str() == entry =>
                {
                    MemoryError::DestinationExists { path }
                }
                other => other,
            }
        }
        e => MemoryError::from_removing(&e, &from, &source),
    });
    match outcome? {
        MoveOutcome::Moved(moved) => {
            let commit = moved.commit.map(|commit| commit.id);
            let mut warnings: Vec<_> = ignored_by_search(call, &request.to).into_iter().collect();
            warnings.extend(remaining_files(&moved.left));
            Ok(MemoryOutcome::Renamed(MemoryChange { path: from, commit, warnings }, to))
        }
        MoveOutcome::Exists(_) | MoveOutcome::Conflict(..) => {
            Err(MemoryError::DestinationExists { path: to })
        }
    }
}

/// Rejects a directory with only hidden or ignored files: no file would be deleted or renamed.
fn check_has_files(call: &CallContext<'_>, path: &str, at: &NotePath) -> Result<(), MemoryError> {
    let snapshot = call.memory.snapshot().map_err(|e| MemoryError::from_removing(&e, path, at))?;
    let below = snapshot.below(&call.settings.memories, at);
    match below.map_err(|e| MemoryError::from_removing(&e.into(), path, at))? {
        below if !below.files.is_empty() || below.passed_over.is_empty() => Ok(()),
        below => {
            let left = below.passed_over.iter().take(MAX_NAMED_FILES);
            let left = left.map(|at| format!("/memories/{at}")).collect();
            Err(MemoryError::OnlyHidden { path: path.to_owned(), left })
        }
    }
}

/// Warns of files that remain in a directory.
fn remaining_files(left: &[String]) -> Option<String> {
    let named: Vec<_> =
        left.iter().take(MAX_NAMED_FILES).map(|at| format!("/memories/{at}")).collect();
    let more = match left.len().saturating_sub(MAX_NAMED_FILES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!left.is_empty()).then(|| {
        format!(
            "Hidden and ignored files were left where they are: {}{more}. Name one to mean it.",
            named.join(", ")
        )
    })
}

/// Returns true if a file or folder exists at a path.
fn exists_at(call: &CallContext<'_>, at: &NotePath) -> bool {
    let memories = &call.settings.memories;
    let files = call.memory.plan_delete(&place(memories, at));
    let folder = call.memory.list_folder(memories, Some(at));
    files.is_ok_and(|files| !files.is_empty()) || folder.is_ok_and(|found| found.is_some())
}

pub(super) fn place(memories: &ProjectName, at: &NotePath) -> NoteLocation {
    NoteLocation::new(memories, at.clone())
}

fn check_size(call: &CallContext<'_>, path: &str, text: &str) -> Result<(), MemoryError> {
    let (size, limit) = (text.len() as u64, call.settings.max_file_bytes.min(MAX_FILE_BYTES));
    if size > limit {
        return Err(MemoryError::TooLarge { path: path.to_owned(), size, limit });
    }
    Ok(())
}

/// Warns of a path that the search ignores.
fn ignored_by_search(call: &CallContext<'_>, at: &NotePath) -> Option<String> {
    let rule = call.memory.ignored_by(&call.settings.memories, at).ok()??;
    Some(format!("This is kept, but search does not find it: {rule}."))
}

/// Detects secrets in a new path, and applies the configured policy. A path cannot be redacted, so it
/// is refused then. Returns warnings.
fn screen_path(call: &CallContext<'_>, path: &str) -> Result<Vec<String>, MemoryError> {
    let secrets = secrets::find_secrets(path);
    if secrets.is_empty() {
        return Ok(Vec::new());
    }
    let kinds: Vec<String> =
        secrets.iter().map(|secret| format!("{} (in the path)", secret.kind)).collect();
    match call.settings.secrets {
        SecretPolicy::Refuse | SecretPolicy::Redact => {
            Err(MemoryError::Secrets { path: secrets::redact(path, &secrets), kinds })
        }
        SecretPolicy::Warn => {
            Ok(vec![format!("The path looks like a secret: {}. Rename it.", kinds.join(", "))])
        }
    }
}

/// Detects secrets that a change adds, and applies the configured policy.
fn screen_secrets(
    call: &CallContext<'_>,
    path: &str,
    before: &str,
    text: String,
) -> Result<(String, Vec<String>), MemoryError> {
    // The file may already contain a part of the secret, so the whole text is checked.
    let secrets = secrets::newly_added(before, &text);
    if secrets.is_empty() {
        return Ok((text, Vec::new()));
    }
    let mut kinds: Vec<String> =
        secrets.iter().map(|secret| format!("{} (line {})", secret.kind, secret.line)).collect();
    kinds.dedup();
    if kinds.len() > MAX_NAMED_SECRETS {
        let more = kinds.len() - MAX_NAMED_SECRETS;
        kinds.truncate(MAX_NAMED_SECRETS);
        kinds.push(format!("{more} more"));
    }
    match call.settings.secrets {
        SecretPolicy::Refuse => Err(MemoryError::Secrets { path: path.to_owned(), kinds }),
        SecretPolicy::Redact => {
            let warning = format!("Replaced what looked like a secret: {}.", kinds.join(", "));
            Ok((secrets::redact(&text, &secrets), vec![warning]))
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
