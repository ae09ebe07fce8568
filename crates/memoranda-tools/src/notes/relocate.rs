//! `move_note` and `delete_note`: notes and folders, in one commit that can be undone.

use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note::permalink::is_reserved_name;
use memoranda_core::path::NotePath;
use memoranda_engine::{
    DeleteOutcome, DeleteRequest, EngineError, LinkDirection, LinkPolicy, LinkScope, MoveOutcome,
    MoveRequest, MovedNotes, NoteLocation, ResolveIntent, name_in_project,
};
use serde_json::{Value, json};

use super::checksum::ExpectedChecksum;
use super::links::{MAX_LISTED, MAX_NAMED, more_line};
use super::params::{COMMON, EXPECTED_CHECKSUM, NOTE_OR_FOLDER, PROJECT};
use super::{links, scope, write};
use crate::memory::path::leads_up;
use crate::registry::{
    CallContext, INVALID_ARGUMENTS, NOTE_NOT_FOUND, Param, ParamTable, ToolArgs, ToolError,
    ToolResult, count,
};

pub(super) const MOVE_PARAMS: ParamTable = ParamTable::new(&[
    &[
        NOTE_OR_FOLDER,
        // An empty path or folder is the top of the project.
        Param::text("destination_path", "New path, with extension").keep_empty().aliases(&[
            "dest_path",
            "new_path",
            "to",
            "destination",
        ]),
        Param::text("destination_folder", "Or: new folder, same name")
            .keep_empty()
            .aliases(&["dest_folder", "to_folder"]),
        PROJECT,
        Param::flag("is_directory", "Move a folder").aliases(&["is_dir"]),
        Param::flag("update_links", "Rename links that would break"),
        EXPECTED_CHECKSUM,
    ],
    COMMON,
]);

pub(super) const DELETE_PARAMS: ParamTable = ParamTable::new(&[
    &[
        NOTE_OR_FOLDER,
        PROJECT,
        Param::flag("is_directory", "Delete a folder").aliases(&["is_dir"]),
        EXPECTED_CHECKSUM,
    ],
    COMMON,
]);

pub(super) fn move_note(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    relocate(call, args)
        .map_err(|failure| failure.with_missing_details(fields_of_failed_move(call, args)))
}

pub(super) fn delete_note(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> Result<ToolResult, ToolError> {
    delete(call, args)
        .map_err(|failure| failure.with_missing_details(fields_of_failed_delete(call, args)))
}

/// Returns the fields of the result of a move for a failed one.
fn fields_of_failed_move(call: &CallContext<'_>, args: &ToolArgs) -> Value {
    let is_directory = matches!(args.flag("is_directory"), Ok(Some(true)));
    // A folder may have the name of a note.
    let mut keys = if is_directory {
        json!({ "title": null, "permalink": null, "file_path": null })
    } else {
        scope::affected_note(call, args)
    };
    let given = |name| args.optional_text(name).ok().flatten();
    let said = |name| given(name).filter(|text| !text.trim().is_empty());
    keys["moved"] = json!(false);
    keys["source"] = match keys["file_path"].clone() {
        Value::Null => json!(given("identifier")),
        path => path,
    };
    keys["destination"] = json!(said("destination_path").or_else(|| said("destination_folder")));
    if is_directory {
        keys["total_files"] = json!(0);
        keys["successful_moves"] = json!(0);
        keys["failed_moves"] = json!(0);
    }
    keys
}

/// Returns the fields of the result of a deletion for a failed one.
fn fields_of_failed_delete(call: &CallContext<'_>, args: &ToolArgs) -> Value {
    if !matches!(args.flag("is_directory"), Ok(Some(true))) {
        let mut keys = scope::affected_note(call, args);
        keys["deleted"] = json!(false);
        return keys;
    }
    json!({
        "deleted": false,
        "is_directory": true,
        "identifier": args.optional_text("identifier").ok().flatten(),
        "total_files": 0,
        "successful_deletes": 0,
        "failed_deletes": 0,
        "deleted_files": [],
        "errors": [],
    })
}

/// Finds the note or folder to move or delete.
fn source(
    call: &CallContext<'_>,
    args: &ToolArgs,
    is_directory: bool,
) -> Result<NoteLocation, ToolError> {
    let identifier = args.text("identifier")?;
    if !is_directory {
        let found = scope::find_note(call, args, &identifier, ResolveIntent::Change);
        return found.map_err(|failure| match folder(call, args, &identifier) {
            Ok(folder) if failure.code == NOTE_NOT_FOUND => ToolError::new(
                "IS_A_DIRECTORY",
                format!(
                    "{folder} is a folder; say is_directory=true to mean it with all it holds."
                ),
            ),
            _ => failure,
        });
    }
    folder(call, args, &identifier)
}

fn folder(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
) -> Result<NoteLocation, ToolError> {
    let project = scope::call_project(call, args)?;
    let name = scope::strip_address(identifier).trim_end_matches('/');
    let missing = || {
        let text = format!("There is no folder {name:?} in project {project}.");
        ToolError::new("DIRECTORY_NOT_FOUND", text)
    };
    let own = name_in_project(project.as_str(), name);
    for name in [Some(name), own].into_iter().flatten() {
        let path = NotePath::parse(name).map_err(EngineError::from)?;
        if let Some(path) = call.memory.folder_at(&project, &path)? {
            // An ignore rule for folders only matches the files within.
            let within = NotePath::parse(&format!("{path}/_")).map_err(EngineError::from)?;
            call.memory.check_noted(&NoteLocation::new(&project, within))?;
            return Ok(NoteLocation { project, path });
        }
    }
    Err(missing())
}

/// Checks that the version known to the caller is current, and returns its whole checksum.
fn check_version(
    call: &CallContext<'_>,
    place: &NoteLocation,
    expected: Option<&ExpectedChecksum>,
    is_directory: bool,
) -> Result<Option<ContentHash>, ToolError> {
    let Some(expected) = expected else { return Ok(None) };
    if is_directory {
        let text = format!(
            "{place} is a folder, and a folder has no checksum. Nothing was changed; leave \
             expected_checksum out."
        );
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    }
    let found = call.memory.read_at(place)?.hash;
    if expected.matches(found) {
        return Ok(Some(found));
    }
    Err(scope::checksum_mismatch(call, place, expected, found))
}

fn relocate(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let is_directory = args.is_set("is_directory")?;
    let path = args.optional_text("destination_path")?;
    let folder = args.optional_text("destination_folder")?;
    // Some clients send every parameter: an empty folder next to a path is ignored, even if the
    // path is empty, too. Alone, it is the top of the project.
    let folder = folder.filter(|folder| path.is_none() || !folder.trim().is_empty());
    let path = path.filter(|path| !path.trim().is_empty());
    let wrong = |code, text: &str| ToolError::new(code, text);
    match (&path, &folder) {
        (Some(_), Some(_)) => {
            return Err(wrong(
                "MUTUALLY_EXCLUSIVE_PARAMS",
                "Give destination_path or destination_folder, not both.",
            ));
        }
        (None, None) => {
            return Err(wrong(
                "MISSING_DESTINATION",
                "move_note needs destination_path (such as \"done/Plan.md\") or destination_folder \
                 (such as \"done\"; \"/\" is the top of the project).",
            ));
        }
        (None, Some(_)) if is_directory => {
            return Err(wrong(
                "DESTINATION_FOLDER_NOT_FOR_DIRECTORIES",
                "A folder is moved by destination_path: its new path.",
            ));
        }
        _ => {}
    }
    let from = source(call, args, is_directory)?;
    let (to, warning) = destination(call, &from, path.as_deref(), folder.as_deref(), is_directory)?;
    let updates_links = args.is_set("update_links")?;
    let same = || {
        let text = format!("{from} is already there.");
        ToolError::new("DESTINATION_SAME_AS_SOURCE", text)
    };
    if to == from.path && !updates_links {
        return Err(same());
    }
    let expected =
        check_version(call, &from, ExpectedChecksum::read(args)?.as_ref(), is_directory)?;
    scope::check_not_ignored(call, &NoteLocation::new(&from.project, to.clone()))?;
    let scope = match call.settings.notes.only_project {
        Some(_) => LinkScope::OwnProject,
        None => LinkScope::Everywhere,
    };
    let links = if updates_links { LinkPolicy::Update(scope) } else { LinkPolicy::Report(scope) };
    let request = MoveRequest { from: from.clone(), to: to.clone(), links, expected };
    let outcome = call.memory.move_notes(&call.who, &request).map_err(|error| match error {
        // The note was never moved, so no link contains an old name.
        EngineError::Invalid(_) if to == from.path => same(),
        other => other.into(),
    })?;
    match outcome {
        MoveOutcome::Moved(renamed) => {
            let mut answer = render_move(call, &from, &to, &renamed, is_directory)?;
            if let Some(warning) = warning {
                answer.text.push_str(&format!("\n{warning}\n"));
                answer.structured["warning"] = json!(warning);
            }
            Ok(answer)
        }
        MoveOutcome::Exists(places) => {
            let named: Vec<String> =
                places.iter().take(MAX_NAMED).map(NoteLocation::to_string).collect();
            let text = format!(
                "{} exists already; nothing was moved. Choose another destination, or move that \
                 one away first.",
                named.join(", ")
            );
            Err(ToolError::new("DESTINATION_EXISTS", text).with_detail("existing", named))
        }
        MoveOutcome::Conflict(place, _) => {
            let text = format!("{place} was changed at the same moment. Nothing was moved; retry.");
            Err(ToolError::new("CHECKSUM_MISMATCH", text))
        }
    }
}

fn destination(
    call: &CallContext<'_>,
    from: &NoteLocation,
    path: Option<&str>,
    folder: Option<&str>,
    is_directory: bool,
) -> Result<(NotePath, Option<String>), ToolError> {
    let given = path.or(folder).unwrap_or_default().trim();
    let mut renamed = None;
    if leads_up(given) {
        let text = format!("{given:?} leads out of the project; give a path within it.");
        return Err(ToolError::new("SECURITY_VALIDATION_ERROR", text));
    }
    let text = match path {
        None => {
            let given = scope::path_in_project(call, &from.project, given);
            let folder = call.memory.folder_named(&from.project, given)?;
            renamed = write::renamed_folder_warning(&folder, given);
            if folder.path.is_empty() {
                from.path.file_name().to_owned()
            } else {
                format!("{}/{}", folder.path, from.path.file_name())
            }
        }
        Some(path) => path.trim().trim_start_matches('/').trim_end_matches('/').to_owned(),
    };
    // `other::x` and `memory://other/x` would leave the project.
    let elsewhere = text.split_once("::").map(|(project, _)| project).or_else(|| {
        let first = text.strip_prefix("memory://")?.split('/').next()?;
        (first != from.project.as_str()).then_some(first)
    });
    if elsewhere.is_some() || scope::other_project(call, &from.project, &text).is_some() {
        let text = format!(
            "A note stays in its project ({}); write it again in the other one and delete it here.",
            from.project
        );
        return Err(ToolError::new("CROSS_PROJECT_MOVE_NOT_SUPPORTED", text));
    }
    // The project was already removed from a folder above.
    let text = match path {
        Some(_) => scope::path_in_project(call, &from.project, &text),
        None => &text,
    };
    let text = text.strip_prefix("memory://").unwrap_or(text);
    let mut to = NotePath::parse(text).map_err(EngineError::from)?;
    check_portable(call, from, &to)?;
    if let Some(Ok(above)) = to.parent().map(NotePath::parse) {
        // An existing folder matches in any case.
        let above = call.memory.canonical_path(&from.project, &above)?;
        to = NotePath::parse(&format!("{above}/{}", to.file_name())).map_err(EngineError::from)?;
    }
    if is_directory {
        return Ok((to, renamed));
    }
    let (old, new) = (from.path.extension(), to.extension());
    if new.is_empty() && !old.is_empty() {
        let text = format!("The destination needs the file's extension: \"{to}.{old}\".");
        return Err(ToolError::new("FILE_EXTENSION_REQUIRED", text));
    }
    if !new.eq_ignore_ascii_case(old) {
        let text = format!("A .{old} file stays one; the destination ends in .{new}.");
        return Err(ToolError::new("FILE_EXTENSION_MISMATCH", text));
    }
    Ok((to, renamed))
}

/// Rejects new names that some systems do not allow: the notes could not be copied or synced there.
/// Existing names of the note and of the destination folder are accepted.
fn check_portable(
    call: &CallContext<'_>,
    from: &NoteLocation,
    to: &NotePath,
) -> Result<(), ToolError> {
    let has = |name: &str| from.path.as_str().split('/').any(|own| own == name);
    let mut end = 0;
    for name in to.as_str().split('/') {
        end += name.len() + usize::from(end > 0);
        let is_bad = is_reserved_name(name) || name.contains(['<', '>', ':', '"', '|', '?', '*']);
        if !is_bad || has(name) {
            continue;
        }
        let above = to.as_str().get(..end).filter(|above| *above != to.as_str());
        if let Some(Ok(above)) = above.map(NotePath::parse)
            && call.memory.folder_at(&from.project, &above)?.is_some()
        {
            continue;
        }
        let text = format!(
            "{name:?} is not a valid file name on every system: leave out < > : \" | ? *, and do not \
             call it con, prn, aux, nul, com1 or the like. Nothing was moved."
        );
        return Err(ToolError::new("INVALID_PATH", text));
    }
    Ok(())
}

fn render_move(
    call: &CallContext<'_>,
    from: &NoteLocation,
    to: &NotePath,
    renamed: &MovedNotes,
    is_directory: bool,
) -> Result<ToolResult, ToolError> {
    let commit = renamed.commit.as_ref().map(|commit| commit.id.to_string());
    let place = NoteLocation::new(&from.project, to.clone());
    let names = call.memory.title_and_permalink(&place)?;
    let heading = match (is_directory, renamed.files.is_empty()) {
        (_, true) => "Links updated",
        (true, _) => "Folder moved",
        (false, _) => "Note moved",
    };
    let mut text = format!(
        "# {heading}\nproject: {}\nsource: {}\ndestination: {to}\n",
        from.project, from.path
    );
    let mut structured = json!({
        "moved": !renamed.files.is_empty(),
        "project": from.project.as_str(),
        "source": from.path.as_str(),
        "destination": to.as_str(),
        "file_path": to.as_str(),
        "commit": commit,
    });
    if let Some((title, permalink)) = &names {
        // Only a note keeps its permalink. Other files are addressed by path.
        if to.is_markdown() {
            text.push_str(&format!("permalink: {permalink} (kept)\n"));
        }
        let file = call.memory.read_file(&place)?;
        structured["title"] = json!(title);
        structured["permalink"] = json!(permalink);
        structured["checksum"] = json!(file.map(|file| file.hash.to_string()));
    }
    if is_directory {
        text.push_str(&format!("files: {}\n", renamed.files.len()));
        structured["total_files"] = json!(renamed.files.len());
        structured["successful_moves"] = json!(renamed.files.len());
        structured["failed_moves"] = json!(0);
        structured["left"] = renamed.left.iter().take(MAX_LISTED).cloned().collect();
        text.push_str(&render_remaining_files(&renamed.left));
    }
    if let Some(commit) = &commit {
        text.push_str(&format!("commit: {commit}\n"));
    }
    let updated: usize = renamed.relinked.iter().map(|(_, count)| count).sum();
    if updated > 0 {
        text.push_str(&format!("\n{} updated in the same commit:\n", count(updated, "link")));
        for (place, links) in renamed.relinked.iter().take(MAX_NAMED) {
            text.push_str(&format!("- {} ({links})\n", place.path));
        }
        text.push_str(&more_line(renamed.relinked.len()));
    }
    structured["updated_links_left_out"] = json!(renamed.relinked.len().saturating_sub(MAX_LISTED));
    structured["updated_links"] = renamed
        .relinked
        .iter()
        .take(MAX_LISTED)
        .map(|(place, count)| json!({ "file_path": place.path.as_str(), "count": count }))
        .collect();
    text.push_str(&render_outdated_links(renamed, &from.project, to, is_directory));
    if !renamed.unwritable.is_empty() {
        let left: Vec<_> = renamed.unwritable.iter().collect();
        text.push_str(&format!(
            "\n{} not updated, as the new name cannot stand in them:\n{}",
            links::count_links(left.iter().copied()),
            links::list_links(&from.project, &left)
        ));
    }
    let left = if renamed.unwritable.is_empty() { &renamed.outdated } else { &renamed.unwritable };
    links::add_links(&mut structured, &from.project, left);
    Ok(ToolResult::ok(text, structured))
}

/// Renders the links that a move left unchanged although their target changed.
fn render_outdated_links(
    renamed: &MovedNotes,
    project: &ProjectName,
    to: &NotePath,
    is_directory: bool,
) -> String {
    let (drawn, left): (Vec<_>, Vec<_>) =
        renamed.outdated.iter().partition(|link| link.means.is_some());
    let mut text = String::new();
    if !left.is_empty() {
        let (to_it, its): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|link| link.direction == LinkDirection::Incoming);
        for (links, how) in [
            (to_it, "to it by its old name or path"),
            (its, "of its own that no longer lead where they did"),
        ] {
            if !links.is_empty() {
                let all = links::count_links(links.iter().copied());
                text.push_str(&format!("\n{all} {how}:\n{}", links::list_links(project, &links)));
            }
        }
        text.push_str(&format!(
            "move_note(identifier={:?}, destination_path={:?}, project={:?}, \
             is_directory={is_directory}, update_links=true) updates them.\n",
            to.as_str(),
            to.as_str(),
            project.as_str()
        ));
    }
    if !drawn.is_empty() {
        let all = links::count_links(drawn.iter().copied());
        text.push_str(&format!(
            "\n{all} with another meaning now, as several notes go by the name:\n"
        ));
        text.push_str(&links::list_links(project, &drawn));
        let commit = renamed.commit.as_ref().map(|commit| commit.id.to_string());
        text.push_str(&format!(
            "Edit them, or take the move back (`memoranda undo {}`) and repeat it with \
             update_links=true, which lets them mean what they did.\n",
            commit.unwrap_or_default()
        ));
    }
    text
}

/// Renders the files that remain in a folder.
fn render_remaining_files(left: &[String]) -> String {
    if left.is_empty() {
        return String::new();
    }
    let all = count(left.len(), "hidden or ignored file");
    let named: String = left.iter().take(MAX_NAMED).map(|place| format!("- {place}\n")).collect();
    format!("{all} left where it was, and so the folder is:\n{named}{}", more_line(left.len()))
}

fn delete(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let is_directory = args.is_set("is_directory")?;
    let place = source(call, args, is_directory)?;
    let summary = call.memory.snapshot()?.file(&place.project, &place.path)?;
    let expected =
        check_version(call, &place, ExpectedChecksum::read(args)?.as_ref(), is_directory)?;
    let request = DeleteRequest { place: place.clone(), expected };
    let deleted = match call.memory.delete_counting_links(&call.who, &request)? {
        DeleteOutcome::Deleted(deleted) => deleted,
        DeleteOutcome::Conflict(place, _) => {
            let text =
                format!("{place} was changed at the same moment. Nothing was deleted; retry.");
            return Err(ToolError::new("CHECKSUM_MISMATCH", text));
        }
    };
    let commit = deleted.commit.as_ref().map(|commit| commit.id.to_string());
    let heading = match (is_directory, deleted.left.is_empty()) {
        (true, true) => "Folder deleted",
        (true, false) => "Notes of the folder deleted",
        (false, _) => "Note deleted",
    };
    let mut text = format!("# {heading}\nproject: {}\nfile_path: {}\n", place.project, place.path);
    let files: Vec<&str> = deleted.files.iter().map(|file| file.path.as_str()).collect();
    if is_directory {
        text.push_str(&format!("files: {}\n", files.len()));
        for file in files.iter().take(MAX_NAMED) {
            text.push_str(&format!("- {file}\n"));
        }
        text.push_str(&more_line(files.len()));
        text.push_str(&render_remaining_files(&deleted.left));
    }
    let (drawn, lost): (Vec<_>, Vec<_>) = links::visible_links(call, deleted.drawn)
        .into_iter()
        .partition(|link| link.means.is_some());
    let lost = deleted.links + lost.iter().map(|link| link.count).sum::<usize>();
    if lost > 0 {
        text.push_str(&format!("{} to it without a target now.\n", count(lost, "link")));
    }
    if let Some(commit) = &commit {
        text.push_str(&format!(
            "commit: {commit}\nIt stays in the history: `memoranda undo {commit}` brings it back.\n"
        ));
    }
    if !drawn.is_empty() {
        let (all, drawn) = (links::count_links(&drawn), drawn.iter().collect::<Vec<_>>());
        text.push_str(&format!(
            "\n{all} to it with another meaning now, as other notes go by the name:\n{}If that is \
             wrong, edit them.\n",
            links::list_links(&place.project, &drawn)
        ));
    }
    let mut structured = json!({
        "deleted": !files.is_empty() || deleted.left.is_empty(),
        "project": place.project.as_str(),
        "file_path": place.path.as_str(),
        "commit": commit,
        "unresolved_links": lost,
    });
    links::add_links(&mut structured, &place.project, &drawn);
    match summary {
        Some(file) => {
            structured["title"] = json!(file.title);
            structured["permalink"] = json!(file.permalink);
        }
        None if is_directory => {
            structured["is_directory"] = json!(true);
            structured["identifier"] = json!(place.path.as_str());
            structured["total_files"] = json!(files.len());
            structured["successful_deletes"] = json!(files.len());
            structured["failed_deletes"] = json!(0);
            structured["deleted_files_left_out"] = json!(files.len().saturating_sub(MAX_LISTED));
            structured["deleted_files"] = files.iter().take(MAX_LISTED).copied().collect();
            structured["left"] = deleted.left.iter().take(MAX_LISTED).cloned().collect();
            structured["errors"] = json!([]);
        }
        None => {}
    }
    Ok(ToolResult::ok(text, structured))
}
