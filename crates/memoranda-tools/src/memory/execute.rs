//! Doing what a command asks, on the files as they are on disk.

use memoranda_core::id::{CommitId, ProjectName};
use memoranda_core::path::NotePath;
use memoranda_core::secrets;
use memoranda_engine::{
    DeleteOutcome, DeleteRequest, EditOutcome, EngineError, FileOrder, FilesBelow, IgnoreRules,
    MAX_FILE_BYTES, MoveOutcome, MoveRequest, Place, StoreError, WriteMode, WriteOutcome,
    WriteRequest,
};

use super::command::MemoryCommand;
use super::outcome::{CommandGroup, MemoryChange, MemoryError, MemoryOutcome, PathAccess};
use super::path::{self, MemoryPath};
use super::{FRAME_CHARS, MAX_CHARS, lines, view};
use crate::registry::CallContext;
use crate::settings::{CreateMode, SecretPolicy, Wording};

/// How many secrets are named in one answer.
const MOST_KINDS: usize = 10;
/// How many files that stayed are named.
const MOST_LEFT: usize = 10;

/// Does a command.
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

/// The place that a path means: a file that is there under the same name in another Unicode form
/// or another case is that file, for every command.
pub(super) fn target(
    call: &CallContext<'_>,
    path: &str,
    access: PathAccess,
) -> Result<MemoryPath, MemoryError> {
    match parse(path, access)? {
        MemoryPath::Root => Ok(MemoryPath::Root),
        MemoryPath::At(at) => spelled_on_disk(call, path, &at, access).map(MemoryPath::At),
    }
}

fn parse(path: &str, access: PathAccess) -> Result<MemoryPath, MemoryError> {
    path::parse(path).map_err(|reason| MemoryError::InvalidPath {
        path: path.to_owned(),
        reason,
        access,
    })
}

fn spelled(
    call: &CallContext<'_>,
    path: &str,
    at: &NotePath,
    access: PathAccess,
) -> Result<NotePath, MemoryError> {
    let spelled = call.memory.store().spelled(&call.settings.memories, at);
    spelled.map_err(|e| MemoryError::from_engine(&e.into(), path, access))
}

/// The same for a file that should be there, or one that no index knows: its folder is gone through.
fn spelled_on_disk(
    call: &CallContext<'_>,
    path: &str,
    at: &NotePath,
    access: PathAccess,
) -> Result<NotePath, MemoryError> {
    let spelled = call.memory.store().spelled_on_disk(&call.settings.memories, at);
    spelled.map_err(|e| MemoryError::from_engine(&e.into(), path, access))
}

fn create(
    call: &CallContext<'_>,
    path: String,
    text: String,
) -> Result<MemoryOutcome, MemoryError> {
    let asked = match parse(&path, PathAccess::Write)? {
        MemoryPath::Root => return Err(MemoryError::Exists { path }),
        MemoryPath::At(asked) => asked,
    };
    // Where the folder is there to the letter, the write itself notices a name that is like another.
    let mut at = match call.memory.store().has_folder_of(&call.settings.memories, &asked) {
        Ok(true) => asked.clone(),
        _ => spelled(call, &path, &asked, PathAccess::Write)?,
    };
    let unsearched = unsearched(call, &at);
    if unsearched.is_some() {
        at = spelled_on_disk(call, &path, &asked, PathAccess::Write)?;
    }
    if at.composed() != asked.composed() && is_there(call, &at) {
        // Whoever sees two different names means two files; here they cannot both be.
        return Err(MemoryError::Exists { path: path::shown_like(&path, at.as_str()) });
    }
    let (text, mut warnings) = screened(call, &path, "", text)?;
    check_size(call, &path, &text)?;
    warnings.extend(unsearched);
    let searched = searched_beside_rules(call, &at);
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
        match MemoryError::from_making(&e, &path) {
            // To make a file where a directory is, is to make what exists.
            MemoryError::NotAFile { path } => MemoryError::Exists { path },
            MemoryError::Oversized { path, .. } if mode == WriteMode::Create => {
                MemoryError::Exists { path }
            }
            other => other,
        }
    })?;
    warnings.extend(lost_to_rules(call, &rules, &searched));
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

/// The memories that search finds, if a file holds rules that could keep them from it.
fn searched_beside_rules(call: &CallContext<'_>, at: &NotePath) -> Vec<NotePath> {
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
    let store = call.memory.store();
    let found = store.files_below(&below).unwrap_or_default();
    let paths = found.iter().filter_map(|(_, path)| NotePath::parse(path).ok());
    // The index may not have heard yet of rules that were there before.
    paths.filter(|path| matches!(store.ignored_by(&below.project, path), Ok(None))).collect()
}

/// What to say of memories that search no longer finds since rules were written.
fn lost_to_rules(call: &CallContext<'_>, at: &NotePath, searched: &[NotePath]) -> Option<String> {
    let (store, memories) = (call.memory.store(), &call.settings.memories);
    let is_lost = |path: &&NotePath| matches!(store.ignored_by(memories, path), Ok(Some(_)));
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
        (replaced, warnings) = screened(call, &path, current, current.replacen(&old, new, 1))?;
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
        (screened_text, warnings) = screened(call, &path, current, changed)?;
        check_size(call, &path, &screened_text)?;
        Ok(screened_text)
    })?;
    warnings.extend(lost);
    Ok(MemoryOutcome::Inserted(MemoryChange { path, commit, warnings }, line))
}

/// Changes a file's text under the lock; a failure of the change itself comes back as it is. Says,
/// beside the commit, what is lost to the search if the file holds rules.
fn edit(
    call: &CallContext<'_>,
    path: &str,
    mut change: impl FnMut(&str) -> Result<String, MemoryError>,
) -> Result<(Option<CommitId>, Option<String>), MemoryError> {
    let at = match target(call, path, PathAccess::Write)? {
        MemoryPath::Root => return Err(MemoryError::NotAFile { path: path.to_owned() }),
        MemoryPath::At(at) => at,
    };
    let searched = searched_beside_rules(call, &at);
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
            Ok((Some(edited.commit.id), lost_to_rules(call, &at, &searched)))
        }
        (Ok(EditOutcome::Unchanged(..) | EditOutcome::Conflict(..)), None) => Ok((None, None)),
    }
}

fn delete(call: &CallContext<'_>, path: String) -> Result<MemoryOutcome, MemoryError> {
    let at = match target(call, &path, PathAccess::Write)? {
        MemoryPath::Root => return Err(MemoryError::RootDelete),
        MemoryPath::At(at) => at,
    };
    check_holds(call, &path, &at)?;
    let request = DeleteRequest { place: place(&call.settings.memories, &at), expected: None };
    let outcome = call
        .memory
        .delete(&call.who, &request)
        .map_err(|e| MemoryError::from_taking(&e, &path, &at))?;
    let (commit, left) = match outcome {
        DeleteOutcome::Deleted(deleted) => (deleted.commit.map(|commit| commit.id), deleted.left),
        DeleteOutcome::Conflict(..) => (None, Vec::new()),
    };
    let warnings = stayed(&left).into_iter().collect();
    Ok(MemoryOutcome::Deleted(MemoryChange { path, commit, warnings }))
}

fn rename(call: &CallContext<'_>, from: String, to: String) -> Result<MemoryOutcome, MemoryError> {
    let source = target(call, &from, PathAccess::Write)?;
    let asked = parse(&to, PathAccess::Write)?;
    let MemoryPath::At(source) = source else { return Err(MemoryError::RootRename) };
    let MemoryPath::At(asked) = asked else {
        return Err(MemoryError::DestinationExists { path: to });
    };
    let memories = &call.settings.memories;
    let mut destination = spelled(call, &to, &asked, PathAccess::Write)?;
    if unsearched(call, &destination).is_some() {
        destination = spelled_on_disk(call, &to, &asked, PathAccess::Write)?;
    }
    let is_same = destination == source;
    if is_same {
        // The same name, spelled anew: what is there is what is to be renamed. A folder of the very
        // name is meant before the one that the file lies in.
        destination = match asked.parent().map(NotePath::parse) {
            Some(Ok(folder)) => {
                let folder = spelled(call, &to, &folder, PathAccess::Write)?;
                NotePath::parse(&format!("{folder}/{}", asked.file_name())).unwrap_or(asked)
            }
            _ => asked,
        };
    }
    if (!is_same || destination == source) && is_there(call, &destination) {
        return Err(MemoryError::DestinationExists { path: to });
    }
    if destination == source {
        return Err(MemoryError::Missing { path: from, command: CommandGroup::DeleteOrRename });
    }
    if destination.is_within(source.as_str()) {
        return Err(MemoryError::IntoItself { from, to });
    }
    check_holds(call, &from, &source)?;
    let request = MoveRequest { from: place(memories, &source), to: destination };
    let outcome = call.memory.relocate(&call.who, &request).map_err(|e| match e {
        EngineError::Store(StoreError::Twin { .. }) => {
            MemoryError::DestinationExists { path: to.clone() }
        }
        EngineError::Store(StoreError::NotAFile { path: ref entry, .. })
            if request.to.as_str() == entry || request.to.is_within(entry) =>
        {
            match MemoryError::from_making(&e, &to) {
                // Whatever is there, it is there.
                MemoryError::Unsupported { path } | MemoryError::HardLink { path, .. }
                    if request.to.as_str() == entry =>
                {
                    MemoryError::DestinationExists { path }
                }
                other => other,
            }
        }
        e => MemoryError::from_taking(&e, &from, &source),
    });
    match outcome? {
        MoveOutcome::Moved(moved) => {
            let commit = moved.commit.map(|commit| commit.id);
            let mut warnings: Vec<_> = unsearched(call, &request.to).into_iter().collect();
            warnings.extend(stayed(&moved.left));
            Ok(MemoryOutcome::Renamed(MemoryChange { path: from, commit, warnings }, to))
        }
        MoveOutcome::Exists(_) => Err(MemoryError::DestinationExists { path: to }),
    }
}

/// Refuses to say that a directory went where nothing of it would.
fn check_holds(call: &CallContext<'_>, path: &str, at: &NotePath) -> Result<(), MemoryError> {
    let below = call.memory.store().below(&call.settings.memories, at);
    match below.map_err(|e| MemoryError::from_taking(&e.into(), path, at))? {
        below if !below.files.is_empty() || below.passed_over.is_empty() => Ok(()),
        below => {
            let left = below.passed_over.iter().take(MOST_LEFT);
            let left = left.map(|at| format!("/memories/{at}")).collect();
            Err(MemoryError::OnlyHidden { path: path.to_owned(), left })
        }
    }
}

/// What to say of files that a directory kept.
fn stayed(left: &[String]) -> Option<String> {
    let named: Vec<_> = left.iter().take(MOST_LEFT).map(|at| format!("/memories/{at}")).collect();
    let more = match left.len().saturating_sub(MOST_LEFT) {
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

/// Whether a file or a folder is at a place.
fn is_there(call: &CallContext<'_>, at: &NotePath) -> bool {
    let memories = &call.settings.memories;
    let files = call.memory.plan_delete(&place(memories, at));
    let folder = call.memory.store().entries(memories, Some(at));
    files.is_ok_and(|files| !files.is_empty()) || folder.is_ok_and(|found| found.is_some())
}

pub(super) fn place(memories: &ProjectName, at: &NotePath) -> Place {
    Place { project: memories.clone(), path: at.clone() }
}

fn check_size(call: &CallContext<'_>, path: &str, text: &str) -> Result<(), MemoryError> {
    let (size, limit) = (text.len() as u64, call.settings.max_file_bytes.min(MAX_FILE_BYTES));
    if size > limit {
        return Err(MemoryError::TooLarge { path: path.to_owned(), size, limit });
    }
    Ok(())
}

/// What to say of a place that search passes over.
fn unsearched(call: &CallContext<'_>, at: &NotePath) -> Option<String> {
    let rule = call.memory.store().ignored_by(&call.settings.memories, at).ok()??;
    Some(format!("This is kept, but search does not find it: {rule}."))
}

/// Looks for secrets that a change brings, and does with them what the person wants.
fn screened(
    call: &CallContext<'_>,
    path: &str,
    before: &str,
    text: String,
) -> Result<(String, Vec<String>), MemoryError> {
    // Half a secret can be in the file already: only the whole text tells.
    let secrets = secrets::newly_added(before, &text);
    if secrets.is_empty() {
        return Ok((text, Vec::new()));
    }
    let mut kinds: Vec<String> =
        secrets.iter().map(|secret| format!("{} (line {})", secret.kind, secret.line)).collect();
    kinds.dedup();
    if kinds.len() > MOST_KINDS {
        let more = kinds.len() - MOST_KINDS;
        kinds.truncate(MOST_KINDS);
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
