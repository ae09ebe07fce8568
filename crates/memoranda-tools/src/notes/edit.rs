//! `edit_note`: changes a part of a note and keeps the rest byte for byte.

use memoranda_core::abbreviate::join_words;
use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_core::diff::{DiffLabels, unified_diff};
use memoranda_core::id::ProjectName;
use memoranda_core::note;
use memoranda_core::note::edit::{NoteEdit, SubsectionHandling, apply_edit, similar_headings};
use memoranda_engine::{
    EngineError, FileOperation, NoteLocation, RelationRow, ResolveIntent, TransactOutcome, hash,
};
use serde_json::{Map, Value, json};

use super::checksum::ExpectedChecksum;
use super::compose::{
    NoteContent, follow_heading, ignored_keys, ignored_keys_warning, metadata_edits, screen_secrets,
};
use super::page::cut;
use super::params::{COMMON, EXPECTED_CHECKSUM, IDENTIFIER, PROJECT};
use super::write::{join_warnings, note_path, save};
use super::write_summary::{NoteOrigin, WriteSummary, add_similar_notes, similar_notes};
use super::{links, scope};
use crate::registry::{
    CallContext, INVALID_ARGUMENTS, NOTE_NOT_FOUND, Param, ParamTable, ToolArgs, ToolError,
    ToolResult,
};
use crate::settings::CreateMode;

/// Maximum length of the shown difference in characters.
const DIFF_CHARS: usize = 1500;
/// Advice for keys that `metadata` does not change.
const METADATA_ADVICE: &str = "edit_note(operation=\"find_replace\", find_text=\"type: …\", content=\"type: …\") \
                       changes such a line of the frontmatter, and move_note the name of the file.";
/// Maximum number of named similar notes.
const MAX_SIMILAR: usize = 10;

const OPERATIONS: &[&str] = &[
    "append",
    "prepend",
    "find_replace",
    "replace_section",
    "insert_before_section",
    "insert_after_section",
];

pub(super) const PARAMS: ParamTable = ParamTable::new(&[
    &[
        IDENTIFIER,
        Param::choice("operation", OPERATIONS, "What to do").required(),
        Param::text("content", "Text to put in").required().aliases(&[
            "new_content",
            "replacement",
            "replace_with",
        ]),
        PROJECT,
        Param::text("section", "Heading, for section operations")
            .aliases(&["section_heading", "heading"]),
        Param::text("find_text", "Text to replace, for find_replace").keep_empty().aliases(&[
            "find",
            "old_text",
            "old_content",
            "search",
        ]),
        Param::integer("expected_replacements", 1, 1_000_000, "How often it occurs; default 1")
            .default_integer(1)
            .hide_max(),
        Param::flag("replace_subsections", "Default true").default_flag(true),
        Param::object("metadata", "Frontmatter to set; mappings are merged, `a.b` leads into one"),
        EXPECTED_CHECKSUM,
    ],
    COMMON,
]);

pub(super) fn edit_note(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    edit(call, args).map_err(|failure| {
        let operation = args.optional_text("operation").ok().flatten();
        let keys = json!({ "operation": operation, "fileCreated": false });
        failure.with_missing_details(keys).with_missing_details(scope::affected_note(call, args))
    })
}

fn edit(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let identifier = args.text("identifier")?;
    let operation = args
        .optional_word("operation")?
        .ok_or_else(|| args.missing("operation", "what to do, such as append"))?;
    let metadata = args.object("metadata")?;
    let content = match args.optional_text("content")? {
        Some(content) => content,
        // Metadata can be changed without content.
        None if metadata.is_some() => String::new(),
        None => return Err(args.missing("content", "the text to put in").into()),
    };
    let mut edits = Vec::new();
    edits.extend(operation_edit(args, &operation, &content)?);
    edits.extend(metadata.as_ref().map(metadata_edits).transpose()?.unwrap_or_default());
    let expected = ExpectedChecksum::read(args)?;
    let adds = matches!(operation.as_str(), "append" | "prepend");
    let place = match scope::find_note(call, args, &identifier, ResolveIntent::Change) {
        Ok(place) => place,
        Err(failure) if adds && expected.is_none() && failure.code == NOTE_NOT_FOUND => {
            let (content, warning) = screen_secrets(call.settings.secrets, "", content)?;
            let created = create(call, args, &identifier, &content, metadata.as_ref(), warning)?;
            return created.ok_or(failure);
        }
        Err(failure) => return Err(failure),
    };
    if metadata.is_some() && !place.path.is_markdown() {
        let text = format!(
            "{place} is no Markdown and has no frontmatter for `metadata`. Nothing was changed; \
             leave `metadata` out."
        );
        return Err(ToolError::new("NOT_MARKDOWN", text));
    }
    let changed = change(call, &place, &edits, expected.as_ref())?;
    let over = ignored_keys(metadata.as_ref());
    let heading = format!("Edited note ({operation})");
    let summary = WriteSummary {
        origin: NoteOrigin::Existing,
        hash: hash(changed.after.as_bytes()),
        commit: changed.commit,
        text: changed.after,
        place,
        warning: join_warnings(
            join_warnings(
                added_section_warning(&edits, changed.added_section.as_deref()),
                changed.warning,
            ),
            ignored_keys_warning(&over, METADATA_ADVICE),
        ),
    };
    let mut more = json!({ "operation": operation, "fileCreated": false });
    if !over.is_empty() {
        more["ignored_keys"] = json!(over);
    }
    if let Some(near) = &changed.added_section {
        more["section_added"] = json!(true);
        more["near_sections"] = json!(near);
    }
    let mut answer = summary.render(call, &heading, more)?;
    add_lost_links(&mut answer, call, &summary, &changed.before, &changed.links)?;
    let labels = DiffLabels { before: "before", after: "after" };
    let diff = unified_diff(&changed.before, &summary.text, 1, labels);
    let hunks = diff.split_once("@@").map_or("", |(head, _)| diff.get(head.len()..).unwrap_or(""));
    if !hunks.is_empty() {
        let (shown, rest) = cut(hunks, DIFF_CHARS);
        answer.text.push_str(&format!("\n## Change\n{}\n", shown.trim_end()));
        if rest > 0 {
            answer.text.push_str(&format!("[{rest} more characters of the difference]\n"));
        }
    }
    Ok(answer)
}

/// Returns the edit of an operation. `None` if there is nothing to do.
fn operation_edit(
    args: &ToolArgs,
    operation: &str,
    content: &str,
) -> Result<Option<NoteEdit>, ToolError> {
    let section = || -> Result<String, ToolError> {
        let section = args.optional_text("section")?.filter(|section| !section.trim().is_empty());
        section.ok_or_else(|| args.missing("section", "the heading, such as \"## Plan\"").into())
    };
    let content = content.to_owned();
    Ok(Some(match operation {
        "append" | "prepend" if content.is_empty() => return Ok(None),
        "append" => NoteEdit::Append { text: content },
        "prepend" => NoteEdit::Prepend { text: content },
        "find_replace" => {
            let find = args.optional_text("find_text")?;
            let find = find.ok_or_else(|| args.missing("find_text", "the text to replace"))?;
            if find.is_empty() {
                let what = "the text to replace, to the letter; to add text, append it";
                return Err(args.wrong("find_text", what, &Value::String(find)).into());
            }
            let expected = args.integer("expected_replacements")?;
            NoteEdit::FindReplace { find, replace: content, expected }
        }
        "replace_section" => {
            let subsections = if args.is_set("replace_subsections")? {
                SubsectionHandling::Replace
            } else {
                SubsectionHandling::Keep
            };
            NoteEdit::ReplaceSection { section: section()?, content, subsections }
        }
        "insert_before_section" => NoteEdit::InsertBeforeSection { section: section()?, content },
        _ => NoteEdit::InsertAfterSection { section: section()?, content },
    }))
}

/// Warns that a section to replace did not exist and was added.
fn added_section_warning(edits: &[NoteEdit], near: Option<&[String]>) -> Option<String> {
    let section = edits.iter().find_map(|edit| match edit {
        NoteEdit::ReplaceSection { section, .. } => Some(section),
        _ => None,
    })?;
    let near: Vec<String> = near?.iter().map(|heading| format!("{heading:?}")).collect();
    let there_is = if near.is_empty() {
        String::new()
    } else {
        format!(
            " There is {}: if that was meant, replace it by its very heading, and take the new one \
             out.",
            near.join(", ")
        )
    };
    Some(format!("There was no section {section:?}; it was added at the end.{there_is}"))
}

/// Adds the links by an old name that no longer resolve to the note, and how to fix them.
fn add_lost_links(
    answer: &mut ToolResult,
    call: &CallContext<'_>,
    summary: &WriteSummary,
    before: &str,
    links: &[RelationRow],
) -> Result<(), ToolError> {
    let outdated = links::visible_links(call, call.memory.lost_links(links)?);
    if outdated.is_empty() {
        return Ok(());
    }
    let project = &summary.place.project;
    links::add_links(&mut answer.structured, project, &outdated);
    let (drawn, lost): (Vec<_>, Vec<_>) = outdated.iter().partition(|link| link.means.is_some());
    if !lost.is_empty() {
        let all = links::count_links(lost.iter().copied());
        answer.text.push_str(&format!(
            "\n{all} to it by its old name without a target now:\n{}",
            links::list_links(project, &lost)
        ));
        answer.text.push_str(&suggest_alias(summary, before));
    }
    if !drawn.is_empty() {
        let all = links::count_links(drawn.iter().copied());
        answer.text.push_str(&format!(
            "\n{all} to it by its old name with another meaning now, as other notes go by it:\n{}If \
             that is wrong, edit them.\n",
            links::list_links(project, &drawn)
        ));
    }
    Ok(())
}

/// Suggests the call that keeps the old title as an alias.
fn suggest_alias(summary: &WriteSummary, before: &str) -> String {
    let (was, new) = (note::parse(before).title(), note::parse(&summary.text));
    let is = new.title();
    let Some(was) = was.filter(|was| is.as_ref() != Some(was)) else {
        return "Edit them to say what it is called now.\n".to_owned();
    };
    // Setting aliases replaces the existing ones.
    let mut aliases = new.aliases();
    aliases.push(was);
    format!(
        "Edit them to say {:?}, or let it keep the old name beside the new one: edit_note(\
         identifier={:?}, project={:?}, operation=\"append\", content=\"\", metadata={}).\n",
        is.as_deref().unwrap_or(summary.place.path.stem()),
        summary.place.path.as_str(),
        summary.place.project.as_str(),
        json!({ "aliases": aliases })
    )
}

struct EditedNote {
    /// Links to the note, if its names changed.
    links: Vec<RelationRow>,
    /// Headings similar to that of a missing section. `None` if the section existed.
    added_section: Option<Vec<String>>,
    before: String,
    after: String,
    warning: Option<String>,
    commit: Option<memoranda_core::change::Commit>,
}

fn change(
    call: &CallContext<'_>,
    place: &NoteLocation,
    edits: &[NoteEdit],
    expected: Option<&ExpectedChecksum>,
) -> Result<EditedNote, ToolError> {
    let (mut before, mut after, mut stale, mut warning) =
        (String::new(), String::new(), None, None);
    let (mut added_section, mut links) = (None, Vec::new());
    let outcome =
        call.memory.transact(&call.who, None, |desk| -> Result<Vec<FileOperation>, ToolError> {
            let Some((text, found)) = desk.text(place)? else {
                let text = format!("{place} is gone. Nothing was changed.");
                return Err(ToolError::new(NOTE_NOT_FOUND, text));
            };
            if let Some(expected) = expected.filter(|expected| !expected.matches(found)) {
                stale = Some(found);
                return Err(ToolError::new("CHECKSUM_MISMATCH", expected.as_str()));
            }
            let mut new = text.clone();
            added_section = None;
            let refused = |error| EngineError::Edit { place: place.clone(), error };
            for edit in edits {
                if let NoteEdit::ReplaceSection { section, .. } = edit {
                    let note = note::parse(&new);
                    let is_missing = note.sections_named(section).is_empty();
                    added_section = is_missing.then(|| similar_headings(&note, section));
                }
                new = apply_edit(&new, edit).map_err(refused)?;
            }
            if place.path.is_markdown() {
                new = follow_heading(&text, new).map_err(refused)?;
            }
            check_json(place, &text, &new)?;
            // The note may already contain a part of the secret, so the whole text is checked.
            (new, warning) = screen_secrets(call.settings.secrets, &text, new)?;
            links = if has_same_names(&text, &new) {
                Vec::new()
            } else {
                let known = desk.summary(place)?;
                known.map(|note| desk.relations_to(note.id)).transpose()?.unwrap_or_default()
            };
            (before, after) = (text, new.clone());
            let action = FileAction::Put(new.into_bytes());
            Ok(vec![FileOperation {
                place: place.clone(),
                expect: ExpectedContent::Hash(found),
                action,
            }])
        });
    if let (Some(found), Some(expected)) = (stale, expected) {
        return Err(scope::checksum_mismatch(call, place, expected, found));
    }
    let commit = match outcome? {
        TransactOutcome::Committed(commit) => Some(commit),
        TransactOutcome::Unchanged => None,
        TransactOutcome::Conflict(_) => {
            let text = format!("{place} was changed at the same moment. Nothing was done; retry.");
            return Err(ToolError::new("CONFLICT", text));
        }
    };
    Ok(EditedNote { links, added_section, before, after, warning, commit })
}

/// Returns true if title, permalink and aliases are the same after an edit.
fn has_same_names(before: &str, after: &str) -> bool {
    let (old, new) = (note::parse(before), note::parse(after));
    old.title() == new.title()
        && old.permalink() == new.permalink()
        && old.aliases() == new.aliases()
}

/// Rejects an edit that makes a valid JSON file invalid.
fn check_json(place: &NoteLocation, before: &str, after: &str) -> Result<(), ToolError> {
    let is_json = ["canvas", "json"].iter().any(|e| place.path.extension().eq_ignore_ascii_case(e));
    let read = |text: &str| serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}'));
    match read(after) {
        Err(error) if is_json && read(before).is_ok() => {
            let text = format!(
                "{place} is JSON, and would be none after this edit ({error}). Nothing was changed. \
                 find_replace changes a part of it."
            );
            Err(ToolError::new("INVALID_JSON", text))
        }
        _ => Ok(()),
    }
}

/// Creates the missing note of an append or prepend. The last part of the name is the title.
fn create(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
    content: &str,
    metadata: Option<&Map<String, Value>>,
    warning: Option<String>,
) -> Result<Option<ToolResult>, ToolError> {
    let name = scope::strip_address(identifier);
    if name.is_empty() || name.contains("://") {
        return Ok(None);
    }
    check_new_name(call, args, identifier, name)?;
    let name = without_extension(name);
    if name.contains('*') {
        let text = format!(
            "{identifier:?} is a pattern, and a note to be made needs a name without `*`. Nothing \
             was written."
        );
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    }
    // A note that exists in another project is not created in this one.
    if scope::requested_project(call, args)?.is_none()
        && call.memory.resolve(None, identifier, ResolveIntent::Change).is_ok()
    {
        return Ok(None);
    }
    check_not_similar(call, args, identifier)?;
    let own = scope::call_project(call, args)?;
    let name = name.strip_prefix(&format!("{own}::")).unwrap_or(name);
    let (project, name) = match scope::other_project(call, &own, name) {
        Some((other, rest)) if scope::requested_project(call, args)?.is_none() => (other, rest),
        Some((other, _)) => return Err(other_project_error(call, identifier, &own, &other)),
        // The named project does not exist.
        None if name.contains("::") => return Ok(None),
        None => (own, name),
    };
    let (directory, title) = name.rsplit_once('/').unwrap_or(("", name));
    let directory = directory
        .strip_prefix(project.as_str())
        .filter(|d| d.is_empty() || d.starts_with('/'))
        .unwrap_or(directory);
    let (path, renamed) = note_path(call, &project, directory, title)?;
    let place = NoteLocation { project, path };
    let wanted = NoteContent { title, content, note_type: None, tags: None, metadata };
    let saved = save(call, &place, &wanted, CreateMode::Refuse, None)?;
    let alike = similar_notes(call.memory, &place, title);
    let operation = args.text("operation")?;
    let heading = format!("Created note ({operation} to a note that did not exist)");
    let mut more = json!({ "operation": operation, "fileCreated": true });
    let over = ignored_keys(metadata);
    if !over.is_empty() {
        more["ignored_keys"] = json!(over);
    }
    let warning = join_warnings(
        join_warnings(warning, renamed),
        ignored_keys_warning(&over, METADATA_ADVICE),
    );
    let (summary, more) = saved.summary(more, warning);
    let mut answer = summary.render(call, &heading, more)?;
    add_similar_notes(&mut answer, &summary.place, &alike);
    Ok(Some(answer))
}

/// Rejects a name of a folder, and another spelling of an existing note's name: the addition would
/// go to a new note instead of that one.
fn check_new_name(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
    name: &str,
) -> Result<(), ToolError> {
    let parts: Vec<String> = name.split(['/', '\\']).map(join_words).collect();
    let plain = parts.join("/");
    let plain = without_extension(plain.trim_end_matches('/'));
    // `Plan#Next steps` is a part of a note; `C#` is a note.
    let whole = plain.split_once('#').filter(|(_, part)| !part.is_empty()).map(|(note, _)| note);
    let asked = scope::requested_project(call, args)?;
    for said in [Some(plain), whole].into_iter().flatten() {
        if said.trim().is_empty() || said == name {
            continue;
        }
        let place = match call.memory.resolve(asked.as_deref(), said, ResolveIntent::Change) {
            Ok(found) => found.place,
            Err(EngineError::NotFound { .. }) => continue,
            Err(e) => return Err(e.into()),
        };
        return Err(similar_note_error(identifier, &[place]));
    }
    if name.ends_with(['/', '\\']) {
        let text = format!(
            "{identifier:?} is the name of a folder, and a note to be made needs one of its own. \
             Nothing was written."
        );
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    }
    Ok(())
}

/// Rejects a name that a read would resolve to a similar note: a change requires the exact name.
fn check_not_similar(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
) -> Result<(), ToolError> {
    let place = match scope::find_note(call, args, identifier, ResolveIntent::Read) {
        Ok(place) => place,
        Err(failure) if failure.code == NOTE_NOT_FOUND => return Ok(()),
        Err(failure) => return Err(failure),
    };
    let alike = call
        .memory
        .snapshot()?
        .link_candidates(&place.project, scope::strip_address(identifier))?;
    let alike = alike.into_iter().map(|c| NoteLocation::new(&place.project, c.path));
    let others: Vec<NoteLocation> =
        alike.filter(|other| *other != place).take(MAX_SIMILAR).collect();
    Err(similar_note_error(identifier, &[vec![place], others].concat()))
}

/// Error of a missing note that lists similar notes.
fn similar_note_error(identifier: &str, near: &[NoteLocation]) -> ToolError {
    let near: Vec<String> = near.iter().map(NoteLocation::to_string).collect();
    let text = format!(
        "There is no note {identifier:?}, but there is {}. Nothing was written. Name that one by \
         its path or permalink to add to it (with `section` to change a part of it), or make \
         another with write_note.",
        near.join(", ")
    );
    ToolError::new(NOTE_NOT_FOUND, text).with_detail("candidates", near)
}

/// Removes the extension of a note.
fn without_extension(name: &str) -> &str {
    name.strip_suffix(".md").or_else(|| name.strip_suffix(".markdown")).unwrap_or(name)
}

/// Error of a name that contains another project than the call.
fn other_project_error(
    call: &CallContext<'_>,
    identifier: &str,
    own: &ProjectName,
    other: &ProjectName,
) -> ToolError {
    if let Some(only) = &call.settings.notes.only_project {
        return scope::project_constrained(only);
    }
    let there = call.memory.resolve(None, identifier, ResolveIntent::Change).ok();
    let there = there.map(|found| format!(" There is {}.", found.place)).unwrap_or_default();
    let text = format!(
        "{identifier:?} names project {other}, and the call project {own}. Nothing was written.\
         {there} Say project={:?}, or leave `project` out.",
        other.as_str()
    );
    ToolError::new("CROSS_PROJECT_ENTITY", text)
}
