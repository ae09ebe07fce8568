//! Resolves the project, the note and the point in time of a call. A change requires exact names.

use jiff::Timestamp;
use memoranda_core::diff::{DiffLabels, unified_diff};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use memoranda_core::timeframe::parse_timeframe;
use memoranda_engine::{
    EngineError, FileSummary, NoteLocation, PointInTime, ReadNote, RelationRow, ResolveIntent,
    ResolvedNote, StoreError, clock, explicit_project, link_key, name_in_project,
};
use serde_json::{Value, json};

use super::checksum::ExpectedChecksum;
use super::page::cut;
pub(super) use crate::registry::project_constrained;
use crate::registry::{CallContext, NOTE_NOT_FOUND, ToolArgs, ToolError};

/// Maximum length of a shown difference in characters.
const DIFF_CHARS: usize = 4000;

/// Returns the project that a call names, or that the server is restricted to. `None` otherwise.
pub(super) fn requested_project(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> Result<Option<String>, ToolError> {
    let id = args.optional_text("project_id")?;
    let named = match id {
        Some(id) => Some(id),
        None => args.optional_text("project")?,
    };
    let named = named.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    match (&call.settings.notes.only_project, named) {
        (Some(only), Some(named)) if link_key(&named) != link_key(only) => {
            Err(project_constrained(only))
        }
        (Some(only), _) => Ok(Some(only.clone())),
        (None, named) => Ok(named),
    }
}

/// Rejects a name that contains another project than the one the server is restricted to, even if
/// that project does not exist.
fn check_named_project(call: &CallContext<'_>, identifier: &str) -> Result<(), ToolError> {
    match (&call.settings.notes.only_project, explicit_project(identifier)) {
        (Some(only), Some(said)) if link_key(said) != link_key(only) => {
            Err(project_constrained(only))
        }
        _ => Ok(()),
    }
}

/// Rejects a note of another project than the one the server is restricted to.
fn check_note_project(call: &CallContext<'_>, place: &NoteLocation) -> Result<(), ToolError> {
    match &call.settings.notes.only_project {
        Some(only) if link_key(place.project.as_str()) != link_key(only) => {
            Err(project_constrained(only))
        }
        _ => Ok(()),
    }
}

/// Returns the project of a call: the named one, or the default.
pub(super) fn call_project(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> Result<ProjectName, ToolError> {
    let name = requested_project(call, args)?;
    named_project(call, name.as_deref().unwrap_or(&call.settings.notes.default_project))
}

/// Finds a project. A default project is created.
pub(super) fn named_project(call: &CallContext<'_>, name: &str) -> Result<ProjectName, ToolError> {
    if call.settings.makes_project(name) {
        return Ok(call.memory.create_project(name)?.name);
    }
    match call.memory.project(name) {
        // A restricted server does not list other projects.
        Err(EngineError::Store(StoreError::NoProject { .. }))
            if call.settings.notes.only_project.is_some() =>
        {
            let text = format!(
                "The project {name}, the only one that this server works in, is not there any \
                 more; tell the person."
            );
            Err(ToolError::new("PROJECT_NOT_FOUND", text))
        }
        found => Ok(found?.name),
    }
}

/// Finds a project that the caller may see.
pub(super) fn known_project(call: &CallContext<'_>, name: &str) -> Option<ProjectName> {
    let only = call.settings.notes.only_project.as_deref().map(link_key);
    let found = call.memory.project(name).ok()?.name;
    only.is_none_or(|only| link_key(found.as_str()) == only).then_some(found)
}

/// Finds the place of a note by name.
pub(super) fn find_note(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
    intent: ResolveIntent,
) -> Result<NoteLocation, ToolError> {
    Ok(resolve_note(call, args, identifier, intent)?.place)
}

/// Resolves a name to a note. A note to read may be in any project, if its name is unique. A note to
/// change must be in the project of the call.
pub(super) fn resolve_note(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
    intent: ResolveIntent,
) -> Result<ResolvedNote, ToolError> {
    let memory = call.memory;
    check_named_project(call, identifier)?;
    if let Some(asked) = requested_project(call, args)? {
        let project = named_project(call, &asked)?;
        let bare = strip_address(identifier);
        let own = name_in_project(project.as_str(), bare);
        let found = match memory.resolve(Some(project.as_str()), identifier, intent) {
            Err(missing @ EngineError::NotFound { .. }) => match own {
                Some(own) => memory.resolve_in(&project, own, intent)?.ok_or(missing)?,
                None => return Err(missing.into()),
            },
            found => found?,
        };
        check_note_project(call, &found.place)?;
        return Ok(found);
    }
    let default = named_project(call, &call.settings.notes.default_project)?;
    let bare = strip_address(identifier);
    if bare.is_empty() || bare.contains("::") || identifier.trim().starts_with("memoranda://") {
        return Ok(memory.resolve(None, identifier, intent)?);
    }
    let mut found: Vec<ResolvedNote> = Vec::new();
    found.extend(memory.resolve_in(&default, bare, intent)?);
    if let Some((first, rest)) = bare.split_once('/')
        && let Ok(project) = memory.project(first)
        && !rest.is_empty()
    {
        found.extend(memory.resolve_in(&project.name, rest, intent)?);
    }
    found.dedup_by(|a, b| a.place == b.place);
    match (found.len(), intent) {
        (1, _) => Ok(found.remove(0)),
        (0, ResolveIntent::Read) => Ok(memory.resolve(None, identifier, intent)?),
        (0, ResolveIntent::Change) => Err(match memory.resolve(None, identifier, intent) {
            Ok(elsewhere) => ToolError::new(
                NOTE_NOT_FOUND,
                format!(
                    "There is no note {identifier:?} in project {default}, but there is {}. Say \
                     project={:?} to change that one.",
                    elsewhere.place,
                    elsewhere.place.project.as_str()
                ),
            )
            .with_detail("candidates", vec![elsewhere.place.to_string()]),
            Err(_) => {
                let missing = memory.resolve(Some(default.as_str()), identifier, intent).err();
                missing.map_or_else(|| ToolError::new(NOTE_NOT_FOUND, "No such note."), Into::into)
            }
        }),
        _ => {
            // A path may be in this project, or start with the name of another.
            let places = found.iter().map(|ResolvedNote { place, .. }| place);
            let places = places.map(|place| format!("{}::{}", place.project, place.path));
            let places: Vec<String> = places.collect();
            let text = format!(
                "{identifier:?} could be any of {}; give one of these as it stands here, or say \
                 which project is meant.",
                places.join(", ")
            );
            Err(ToolError::new("AMBIGUOUS_IDENTIFIER", text).with_detail("candidates", places))
        }
    }
}

/// Reads a note by its current or past name, at a point in time.
pub(super) fn read_at(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
    moment: PointInTime,
) -> Result<ReadNote, ToolError> {
    let (project, name) = project_and_name(call, args, identifier)?;
    let project = project.as_ref().map(ProjectName::as_str);
    let found = call.memory.read_as_of(project, name, moment)?;
    check_note_project(call, &found.place)?;
    if call.memory.is_purged_by_agent(&found.place)? {
        return Err(ToolError::new(NOTE_NOT_FOUND, format!("{} was purged.", found.place)));
    }
    Ok(found)
}

/// Finds the place of a note by its current or past name, at a point in time.
pub(super) fn place_at(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
    moment: PointInTime,
) -> Result<Option<NoteLocation>, ToolError> {
    let (project, name) = project_and_name(call, args, identifier)?;
    let project = project.as_ref().map(ProjectName::as_str);
    let place = match call.memory.place_as_of(project, name, moment) {
        Err(EngineError::NotFound { .. } | EngineError::NotThen { .. }) => return Ok(None),
        place => place?,
    };
    check_note_project(call, &place)?;
    if call.memory.is_purged_by_agent(&place)? {
        return Ok(None);
    }
    // A file that is ignored now is not shown as it was, either.
    call.memory.check_noted(&place)?;
    Ok(Some(place))
}

/// Returns the project and the name to look up at a point in time.
fn project_and_name<'n>(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &'n str,
) -> Result<(Option<ProjectName>, &'n str), ToolError> {
    let name = strip_address(identifier);
    check_named_project(call, name)?;
    let project =
        requested_project(call, args)?.map(|project| named_project(call, &project)).transpose()?;
    Ok((project, name))
}

/// Splits an address or pattern into project and rest: `work/plans/*` starts with the project,
/// unless the call names one.
pub(super) fn split_address(
    call: &CallContext<'_>,
    args: &ToolArgs,
    address: &str,
) -> Result<(ProjectName, String), ToolError> {
    let project = call_project(call, args)?;
    let named = requested_project(call, args)?.is_some();
    if let Some((first, rest)) = address.trim_start_matches('/').split_once('/')
        && !named
        && !first.contains('*')
        && first != project.as_str()
        && let Ok(other) = call.memory.project(first)
        // A folder of the project may have a name that is similar to the other project's.
        && (other.name.as_str() == first || !is_folder(call, &project, first))
    {
        return Ok((other.name, rest.to_owned()));
    }
    Ok((project, address.to_owned()))
}

/// Splits another project off a name that starts with `other::` or `other/`. `None` if `other` is a
/// folder of the own project.
pub(super) fn other_project<'n>(
    call: &CallContext<'_>,
    own: &ProjectName,
    name: &'n str,
) -> Option<(ProjectName, &'n str)> {
    let (first, rest, is_said) = match name.split_once("::") {
        Some((project, rest)) => (project.trim(), rest.trim(), true),
        None => name.split_once('/').map(|(first, rest)| (first, rest, false))?,
    };
    let other = known_project(call, first)?;
    let is_meant = is_said || !is_folder(call, own, first);
    (!rest.is_empty() && other != *own && is_meant).then_some((other, rest))
}

/// Removes the project from the start of a path. A folder of that name takes precedence.
pub(super) fn path_in_project<'p>(
    call: &CallContext<'_>,
    project: &ProjectName,
    path: &'p str,
) -> &'p str {
    let bare = path.strip_prefix("memory://").unwrap_or(path).trim_start_matches('/');
    let is_address = |_: &&str| {
        let first = bare.split('/').next().unwrap_or_default();
        !is_folder(call, project, first)
    };
    name_in_project(project.as_str(), bare).filter(is_address).unwrap_or(path)
}

/// Returns true if a project has a folder of this name.
fn is_folder(call: &CallContext<'_>, project: &ProjectName, name: &str) -> bool {
    let folder = NotePath::parse(name).ok();
    let found = folder.map(|folder| call.memory.folder_at(project, &folder));
    matches!(found, Some(Ok(Some(_)) | Err(EngineError::Ambiguous { .. })))
}

/// Returns the target of a link. `None` if the server is restricted to another project.
pub(super) fn link_target(
    call: &CallContext<'_>,
    link: &RelationRow,
) -> Result<Option<FileSummary>, ToolError> {
    let Some(target) = link.target_file else { return Ok(None) };
    let found = call.memory.snapshot()?.files_by_id(&[target])?.into_iter().next();
    let only = call.settings.notes.only_project.as_deref().map(link_key);
    let is_known = |file: &FileSummary| {
        only.as_ref().is_none_or(|only| link_key(file.project.as_str()) == *only)
    };
    Ok(found.filter(is_known))
}

/// Returns true if a link has no target that the caller may see.
pub(super) fn is_unresolved(call: &CallContext<'_>, link: &RelationRow) -> Result<bool, ToolError> {
    match call.settings.notes.only_project {
        None => Ok(link.target_file.is_none()),
        Some(_) => Ok(link_target(call, link)?.is_none()),
    }
}

/// Returns the fields of the note that a failed call would have changed. They are null if there is
/// no such note.
pub(super) fn affected_note(call: &CallContext<'_>, args: &ToolArgs) -> Value {
    let place = args.text("identifier").ok().and_then(|identifier| {
        let found = find_note(call, args, &identifier, ResolveIntent::Change);
        found.ok()
    });
    let summary = place
        .as_ref()
        .and_then(|place| call.memory.snapshot().ok()?.file(&place.project, &place.path).ok()?);
    json!({
        "title": summary.as_ref().map(|note| &note.title),
        "permalink": summary.as_ref().map(|note| &note.permalink),
        "file_path": place.as_ref().map(|place| place.path.as_str()),
        "checksum": summary.and_then(|note| note.hash).map(|hash| hash.to_string()),
    })
}

/// Rejects a place that is ignored: a search would not find the note.
pub(super) fn check_not_ignored(
    call: &CallContext<'_>,
    place: &NoteLocation,
) -> Result<(), ToolError> {
    match call.memory.ignored_by(&place.project, &place.path)? {
        None => Ok(()),
        Some(rule) => {
            let text = format!(
                "{place} would be in no search and no list: {rule}. Nothing was written; choose \
                 another name or folder, or change that rule."
            );
            Err(ToolError::new("PATH_IGNORED", text))
        }
    }
}

/// Removes `memory://` and brackets from a name.
pub(super) fn strip_address(identifier: &str) -> &str {
    let text = identifier.trim();
    let text = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]")).unwrap_or(text);
    text.strip_prefix("memory://").unwrap_or(text).trim_start_matches('/')
}

/// Parses the start of a timeframe.
pub(super) fn parse_since(call: &CallContext<'_>, text: &str) -> Result<Timestamp, ToolError> {
    let now = clock::now().to_zoned(call.settings.notes.zone.clone());
    parse_timeframe(text, &now).map_err(|e| ToolError::new("INVALID_TIMEFRAME", e.to_string()))
}

/// Reads `as_of`: a commit or a time.
pub(super) fn as_of(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> Result<Option<PointInTime>, ToolError> {
    let Some(text) = args.optional_text("as_of")? else { return Ok(None) };
    let text = text.trim();
    let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_year && let Ok(commit) = call.memory.commit(text) {
        return Ok(Some(PointInTime::Commit(commit.id)));
    }
    match parse_since(call, text) {
        Ok(time) => Ok(Some(PointInTime::Time(time))),
        Err(failure) => {
            let text = format!("`as_of` is a time or a commit: {}.", failure.message);
            Err(ToolError::new("INVALID_AS_OF", text))
        }
    }
}

/// Error of a note that is not the version known to the caller, with the difference.
pub(super) fn checksum_mismatch(
    call: &CallContext<'_>,
    place: &NoteLocation,
    expected: &ExpectedChecksum,
    found: ContentHash,
) -> ToolError {
    let known = known_text(call, place, expected);
    // A manual edit is on disk before it is in the history.
    let on_disk = call.memory.read_at(place).ok().filter(|note| note.hash == found);
    let now = on_disk.map(|note| note.bytes);
    let now = now.or_else(|| call.memory.version_content(found).ok());
    let now = now.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let mut text = format!(
        "{place} is not the version {} that you know; it is {} now. Nothing was changed. Read it \
         again, and repeat the call with expected_checksum={:?}.",
        expected.as_str(),
        found.short(),
        found.to_string()
    );
    let mut diff = String::new();
    if let (Some(known), Some(now)) = (known, now) {
        let labels = DiffLabels { before: "the version you know", after: "the version now" };
        diff = unified_diff(&known, &now, 2, labels);
        let (shown, rest) = cut(&diff, DIFF_CHARS);
        text.push_str(&format!(" What changed:\n\n{shown}"));
        if rest > 0 {
            text.push_str(&format!("\n[{rest} more characters]"));
        }
    }
    ToolError::new("CHECKSUM_MISMATCH", text)
        .with_detail("current_checksum", found.to_string())
        .with_detail("file_path", place.path.as_str())
        .with_detail("diff", cut(&diff, DIFF_CHARS).0)
}

fn known_text(
    call: &CallContext<'_>,
    place: &NoteLocation,
    expected: &ExpectedChecksum,
) -> Option<String> {
    let revisions = call.memory.revisions(place, 200).ok()?;
    let versions = revisions.iter().flat_map(|r| [r.change.after, r.change.before]).flatten();
    let hash = versions.into_iter().find(|hash| expected.matches(*hash))?;
    let bytes = call.memory.version_content(hash).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
