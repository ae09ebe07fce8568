//! Doing what a command asks, on the files as they are on disk.

use memoranda_core::id::{CommitId, ProjectName};
use memoranda_core::path::NotePath;
use memoranda_core::secrets;
use memoranda_engine::{
    DeleteOutcome, DeleteRequest, EditOutcome, EngineError, FileOrder, FilesBelow, IgnoreRules,
    MAX_FILE_BYTES, MoveOutcome, MoveRequest, Place, StoreError, WriteMode, WriteOutcome,
    WriteRequest,
};

use super::answer::{Answer, AskedBy, Change, Failure, Intent};
use super::command::Command;
use super::path::{self, Target};
use super::{BESIDE, CAP, text, view};
use crate::registry::CallContext;
use crate::settings::{CreateMode, SecretPolicy, Wording};

/// How many secrets are named in one answer.
const MOST_KINDS: usize = 10;
/// How many files that stayed are named.
const MOST_LEFT: usize = 10;

/// Does a command.
pub(super) fn act(call: &CallContext<'_>, command: Command) -> Result<Answer, Failure> {
    let memories = &call.settings.memories;
    call.memory
        .create_project(memories.as_str())
        .map_err(|e| Failure::from_engine(&e, "/memories", Intent::Read))?;
    match command {
        Command::View { path, range } => view::view(call, path, range),
        Command::Create { path, text } => create(call, path, text),
        Command::StrReplace { path, old, new } => str_replace(call, path, &old, &new),
        Command::Insert { path, line, text } => insert(call, path, line, &text),
        Command::Delete { path } => delete(call, path),
        Command::Rename { from, to } => rename(call, from, to),
    }
}

/// The place that a path means: a file that is there under the same name in another Unicode form
/// or another case is that file, for every command.
pub(super) fn target(
    call: &CallContext<'_>,
    path: &str,
    intent: Intent,
) -> Result<Target, Failure> {
    match parse(path, intent)? {
        Target::Root => Ok(Target::Root),
        Target::At(at) => spelled_on_disk(call, path, &at, intent).map(Target::At),
    }
}

fn parse(path: &str, intent: Intent) -> Result<Target, Failure> {
    path::parse(path).map_err(|stray| Failure::Stray { path: path.to_owned(), stray, intent })
}

fn spelled(
    call: &CallContext<'_>,
    path: &str,
    at: &NotePath,
    intent: Intent,
) -> Result<NotePath, Failure> {
    let spelled = call.memory.store().spelled(&call.settings.memories, at);
    spelled.map_err(|e| Failure::from_engine(&e.into(), path, intent))
}

/// The same for a file that should be there, or one that no index knows: its folder is gone through.
fn spelled_on_disk(
    call: &CallContext<'_>,
    path: &str,
    at: &NotePath,
    intent: Intent,
) -> Result<NotePath, Failure> {
    let spelled = call.memory.store().spelled_on_disk(&call.settings.memories, at);
    spelled.map_err(|e| Failure::from_engine(&e.into(), path, intent))
}

fn create(call: &CallContext<'_>, path: String, text: String) -> Result<Answer, Failure> {
    let asked = match parse(&path, Intent::Write)? {
        Target::Root => return Err(Failure::Exists { path }),
        Target::At(asked) => asked,
    };
    // Where the folder is there to the letter, the write itself notices a name that is like another.
    let mut at = match call.memory.store().has_folder_of(&call.settings.memories, &asked) {
        Ok(true) => asked.clone(),
        _ => spelled(call, &path, &asked, Intent::Write)?,
    };
    let unsearched = unsearched(call, &at);
    if unsearched.is_some() {
        at = spelled_on_disk(call, &path, &asked, Intent::Write)?;
    }
    if at.composed() != asked.composed() && is_there(call, &at) {
        // Whoever sees two different names means two files; here they cannot both be.
        return Err(Failure::Exists { path: path::shown_like(&path, at.as_str()) });
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
            return Failure::Exists { path: path::shown_like(&path, existing) };
        }
        match Failure::from_making(&e, &path) {
            // To make a file where a directory is, is to make what exists.
            Failure::NotAFile { path } => Failure::Exists { path },
            Failure::Oversized { path, .. } if mode == WriteMode::Create => {
                Failure::Exists { path }
            }
            other => other,
        }
    })?;
    warnings.extend(lost_to_rules(call, &rules, &searched));
    match outcome {
        WriteOutcome::Written(written) => {
            let commit = Some(written.commit.id);
            Ok(Answer::Created(Change { path, commit, warnings }))
        }
        WriteOutcome::Unchanged(..) => Ok(Answer::Created(Change { path, commit: None, warnings })),
        WriteOutcome::Exists(..) | WriteOutcome::Conflict(..) => Err(Failure::Exists { path }),
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
) -> Result<Answer, Failure> {
    let (mut snippet, mut warnings) = (String::new(), Vec::new());
    let (commit, lost) = edit(call, &path, |current| {
        let (old, count) = (old.to_owned(), current.matches(old).count());
        match count {
            0 => return Err(Failure::NoMatch { path: path.clone(), old }),
            1 => {}
            _ => {
                let lines = text::overlapping(current, &old);
                return Err(Failure::ManyMatches { old, count, lines });
            }
        }
        let began = text::began(current, &old);
        let replaced;
        (replaced, warnings) = screened(call, &path, current, current.replacen(&old, new, 1))?;
        check_size(call, &path, &replaced)?;
        snippet = text::snippet(&replaced, began, CAP - BESIDE);
        Ok(replaced)
    })?;
    warnings.extend(lost);
    Ok(Answer::Replaced(Change { path, commit, warnings }, snippet))
}

fn insert(
    call: &CallContext<'_>,
    path: String,
    line: i64,
    addition: &str,
) -> Result<Answer, Failure> {
    let mut warnings = Vec::new();
    let (commit, lost) = edit(call, &path, |current| {
        let changed = text::inserted(current, line, addition)
            .map_err(|lines| Failure::BadLine { line, lines })?;
        let screened_text;
        (screened_text, warnings) = screened(call, &path, current, changed)?;
        check_size(call, &path, &screened_text)?;
        Ok(screened_text)
    })?;
    warnings.extend(lost);
    Ok(Answer::Inserted(Change { path, commit, warnings }, line))
}

/// Changes a file's text under the lock; a failure of the change itself comes back as it is. Says,
/// beside the commit, what is lost to the search if the file holds rules.
fn edit(
    call: &CallContext<'_>,
    path: &str,
    mut change: impl FnMut(&str) -> Result<String, Failure>,
) -> Result<(Option<CommitId>, Option<String>), Failure> {
    let at = match target(call, path, Intent::Write)? {
        Target::Root => return Err(Failure::NotAFile { path: path.to_owned() }),
        Target::At(at) => at,
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
        (Err(e), None) => Err(Failure::from_engine(&e, path, Intent::Write)),
        (Ok(EditOutcome::Edited(edited)), None) => {
            Ok((Some(edited.commit.id), lost_to_rules(call, &at, &searched)))
        }
        (Ok(EditOutcome::Unchanged(..) | EditOutcome::Conflict(..)), None) => Ok((None, None)),
    }
}

fn delete(call: &CallContext<'_>, path: String) -> Result<Answer, Failure> {
    let at = match target(call, &path, Intent::Write)? {
        Target::Root => return Err(Failure::RootDelete),
        Target::At(at) => at,
    };
    check_holds(call, &path, &at)?;
    let request = DeleteRequest { place: place(&call.settings.memories, &at), expected: None };
    let outcome = call
        .memory
        .delete(&call.who, &request)
        .map_err(|e| Failure::from_taking(&e, &path, &at))?;
    let (commit, left) = match outcome {
        DeleteOutcome::Deleted(deleted) => (deleted.commit.map(|commit| commit.id), deleted.left),
        DeleteOutcome::Conflict(..) => (None, Vec::new()),
    };
    let warnings = stayed(&left).into_iter().collect();
    Ok(Answer::Deleted(Change { path, commit, warnings }))
}

fn rename(call: &CallContext<'_>, from: String, to: String) -> Result<Answer, Failure> {
    let source = target(call, &from, Intent::Write)?;
    let asked = parse(&to, Intent::Write)?;
    let Target::At(source) = source else { return Err(Failure::RootRename) };
    let Target::At(asked) = asked else {
        return Err(Failure::DestinationExists { path: to });
    };
    let memories = &call.settings.memories;
    let mut destination = spelled(call, &to, &asked, Intent::Write)?;
    if unsearched(call, &destination).is_some() {
        destination = spelled_on_disk(call, &to, &asked, Intent::Write)?;
    }
    let is_same = destination == source;
    if is_same {
        // The same name, spelled anew: what is there is what is to be renamed. A folder of the very
        // name is meant before the one that the file lies in.
        destination = match asked.parent().map(NotePath::parse) {
            Some(Ok(folder)) => {
                let folder = spelled(call, &to, &folder, Intent::Write)?;
                NotePath::parse(&format!("{folder}/{}", asked.file_name())).unwrap_or(asked)
            }
            _ => asked,
        };
    }
    if (!is_same || destination == source) && is_there(call, &destination) {
        return Err(Failure::DestinationExists { path: to });
    }
    if destination == source {
        return Err(Failure::Missing { path: from, asked_by: AskedBy::DeleteOrRename });
    }
    if destination.is_within(source.as_str()) {
        return Err(Failure::IntoItself { from, to });
    }
    check_holds(call, &from, &source)?;
    let request = MoveRequest { from: place(memories, &source), to: destination };
    let outcome = call.memory.relocate(&call.who, &request).map_err(|e| match e {
        EngineError::Store(StoreError::Twin { .. }) => {
            Failure::DestinationExists { path: to.clone() }
        }
        EngineError::Store(StoreError::NotAFile { path: ref entry, .. })
            if request.to.as_str() == entry || request.to.is_within(entry) =>
        {
            match Failure::from_making(&e, &to) {
                // Whatever is there, it is there.
                Failure::Unsupported { path } | Failure::HardLink { path, .. }
                    if request.to.as_str() == entry =>
                {
                    Failure::DestinationExists { path }
                }
                other => other,
            }
        }
        e => Failure::from_taking(&e, &from, &source),
    });
    match outcome? {
        MoveOutcome::Moved(moved) => {
            let commit = moved.commit.map(|commit| commit.id);
            let mut warnings: Vec<_> = unsearched(call, &request.to).into_iter().collect();
            warnings.extend(stayed(&moved.left));
            Ok(Answer::Renamed(Change { path: from, commit, warnings }, to))
        }
        MoveOutcome::Exists(_) => Err(Failure::DestinationExists { path: to }),
    }
}

/// Refuses to say that a directory went where nothing of it would.
fn check_holds(call: &CallContext<'_>, path: &str, at: &NotePath) -> Result<(), Failure> {
    let below = call.memory.store().below(&call.settings.memories, at);
    match below.map_err(|e| Failure::from_taking(&e.into(), path, at))? {
        below if !below.files.is_empty() || below.passed_over.is_empty() => Ok(()),
        below => {
            let left = below.passed_over.iter().take(MOST_LEFT);
            let left = left.map(|at| format!("/memories/{at}")).collect();
            Err(Failure::OnlyHidden { path: path.to_owned(), left })
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

fn check_size(call: &CallContext<'_>, path: &str, text: &str) -> Result<(), Failure> {
    let (size, limit) = (text.len() as u64, call.settings.max_file_bytes.min(MAX_FILE_BYTES));
    if size > limit {
        return Err(Failure::TooLarge { path: path.to_owned(), size, limit });
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
) -> Result<(String, Vec<String>), Failure> {
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
        SecretPolicy::Refuse => Err(Failure::Secrets { path: path.to_owned(), kinds }),
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
