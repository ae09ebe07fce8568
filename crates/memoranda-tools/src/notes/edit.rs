//! `edit_note`: a part of a note, and nothing else of it.

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_core::diff::{DiffLabels, unified_diff};
use memoranda_core::id::ProjectName;
use memoranda_core::note;
use memoranda_core::note::edit::{NoteEdit, SubsectionHandling, apply_edit, similar_headings};
use memoranda_engine::{EngineError, Intent, Place, RelationRow, ReviseOutcome, Step, hash};
use serde_json::{Map, Value, json};

use super::checksum::ExpectedChecksum;
use super::compose::{Wanted, metadata_edits, passed_over, screened, title_follows, told_over};
use super::page::cut;
use super::params::{COMMON, EXPECTED_CHECKSUM, IDENTIFIER, PROJECT};
use super::write::{note_path, save, together};
use super::write_summary::{Receipt, add_similar, similar};
use super::{links, scope};
use crate::registry::{
    CallContext, INVALID_ARGUMENTS, NOTE_NOT_FOUND, Param, ParamTable, ToolArgs, ToolError,
    ToolResult,
};
use crate::settings::CreateMode;

/// How much of the change is shown.
const DIFF_CHARS: usize = 1500;
/// How to change what `metadata` does not.
const INSTEAD: &str = "edit_note(operation=\"find_replace\", find_text=\"type: …\", content=\"type: …\") \
                       changes such a line of the frontmatter, and move_note the name of the file.";
/// How many notes are named that a name may mean.
const NEAR: usize = 10;

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
        failure.with_missing_details(keys).with_missing_details(scope::meant(call, args))
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
        // Frontmatter alone can be changed without any text.
        None if metadata.is_some() => String::new(),
        None => return Err(args.missing("content", "the text to put in").into()),
    };
    let mut edits = Vec::new();
    edits.extend(edit_of(args, &operation, &content)?);
    edits.extend(metadata.as_ref().map(metadata_edits).transpose()?.unwrap_or_default());
    let expected = ExpectedChecksum::read(args)?;
    let adds = matches!(operation.as_str(), "append" | "prepend");
    let place = match scope::find(call, args, &identifier, Intent::Change) {
        Ok(place) => place,
        Err(failure) if adds && expected.is_none() && failure.code == NOTE_NOT_FOUND => {
            let (content, warning) = screened(call.settings.secrets, "", content)?;
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
    let over = passed_over(metadata.as_ref());
    let heading = format!("Edited note ({operation})");
    let receipt = Receipt {
        hash: hash(changed.after.as_bytes()),
        commit: changed.commit,
        text: changed.after,
        place,
        warning: together(
            together(added(&edits, changed.added_section.as_deref()), changed.warning),
            told_over(&over, INSTEAD),
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
    let mut answer = receipt.answer(call, &heading, more)?;
    add_lost(&mut answer, call, &receipt, &changed.before, &changed.links)?;
    let labels = DiffLabels { before: "before", after: "after" };
    let diff = unified_diff(&changed.before, &receipt.text, 1, labels);
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

/// What an operation does to the text; `None` if there is nothing to do.
fn edit_of(args: &ToolArgs, operation: &str, content: &str) -> Result<Option<NoteEdit>, ToolError> {
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
            let subsections = match args.is_set("replace_subsections")? {
                true => SubsectionHandling::Replace,
                false => SubsectionHandling::Keep,
            };
            NoteEdit::ReplaceSection { section: section()?, content, subsections }
        }
        "insert_before_section" => NoteEdit::InsertBeforeSection { section: section()?, content },
        _ => NoteEdit::InsertAfterSection { section: section()?, content },
    }))
}

/// What to say of a section that was to be replaced and was not there.
fn added(edits: &[NoteEdit], near: Option<&[String]>) -> Option<String> {
    let section = edits.iter().find_map(|edit| match edit {
        NoteEdit::ReplaceSection { section, .. } => Some(section),
        _ => None,
    })?;
    let near: Vec<String> = near?.iter().map(|heading| format!("{heading:?}")).collect();
    let there_is = match near.is_empty() {
        true => String::new(),
        false => format!(
            " There is {}: if that was meant, replace it by its very heading, and take the new one \
             out.",
            near.join(", ")
        ),
    };
    Some(format!("There was no section {section:?}; it was added at the end.{there_is}"))
}

/// Says which links by a name that the note had do not mean it any more, and how they could.
fn add_lost(
    answer: &mut ToolResult,
    call: &CallContext<'_>,
    receipt: &Receipt,
    before: &str,
    links: &[RelationRow],
) -> Result<(), ToolError> {
    let outdated = links::known(call, call.memory.lost_links(links)?);
    if outdated.is_empty() {
        return Ok(());
    }
    let project = &receipt.place.project;
    links::list(&mut answer.structured, project, &outdated);
    let (drawn, lost): (Vec<_>, Vec<_>) = outdated.iter().partition(|link| link.means.is_some());
    if !lost.is_empty() {
        let all = links::counted(lost.iter().copied());
        answer.text.push_str(&format!(
            "\n{all} to it by its old name without a target now:\n{}",
            links::named(project, &lost)
        ));
        answer.text.push_str(&keeping_name(receipt, before));
    }
    if !drawn.is_empty() {
        let all = links::counted(drawn.iter().copied());
        answer.text.push_str(&format!(
            "\n{all} to it by its old name with another meaning now, as other notes go by it:\n{}If \
             that is wrong, edit them.\n",
            links::named(project, &drawn)
        ));
    }
    Ok(())
}

/// The call by which a note is found by its old title too.
fn keeping_name(receipt: &Receipt, before: &str) -> String {
    let (was, new) = (note::parse(before).title(), note::parse(&receipt.text));
    let is = new.title();
    let Some(was) = was.filter(|was| is.as_ref() != Some(was)) else {
        return "Edit them to say what it is called now.\n".to_owned();
    };
    // What is set takes the place of the aliases that there are.
    let mut aliases = new.aliases();
    aliases.push(was);
    format!(
        "Edit them to say {:?}, or let it keep the old name beside the new one: edit_note(\
         identifier={:?}, project={:?}, operation=\"append\", content=\"\", metadata={}).\n",
        is.as_deref().unwrap_or(receipt.place.path.stem()),
        receipt.place.path.as_str(),
        receipt.place.project.as_str(),
        json!({ "aliases": aliases })
    )
}

struct Changed {
    /// The links to the note, if it is not called any more what it was.
    links: Vec<RelationRow>,
    /// Headings like that of a section that was to be replaced, if there was none.
    added_section: Option<Vec<String>>,
    before: String,
    after: String,
    warning: Option<String>,
    commit: Option<memoranda_core::change::Commit>,
}

fn change(
    call: &CallContext<'_>,
    place: &Place,
    edits: &[NoteEdit],
    expected: Option<&ExpectedChecksum>,
) -> Result<Changed, ToolError> {
    let (mut before, mut after, mut stale, mut warning) =
        (String::new(), String::new(), None, None);
    let (mut added_section, mut links) = (None, Vec::new());
    let outcome = call.memory.revise(&call.who, None, |desk| -> Result<Vec<Step>, ToolError> {
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
            new = title_follows(&text, new).map_err(refused)?;
        }
        check_readable(place, &text, &new)?;
        // Half a secret can be in the note already: only the whole text tells.
        (new, warning) = screened(call.settings.secrets, &text, new)?;
        links = match is_called_the_same(&text, &new) {
            true => Vec::new(),
            false => {
                let known = desk.summary(place)?;
                known.map(|note| desk.relations_to(note.id)).transpose()?.unwrap_or_default()
            }
        };
        (before, after) = (text, new.clone());
        let action = FileAction::Put(new.into_bytes());
        Ok(vec![Step { place: place.clone(), expect: ExpectedContent::Hash(found), action }])
    });
    if let (Some(found), Some(expected)) = (stale, expected) {
        return Err(scope::conflict(call, place, expected, found));
    }
    let commit = match outcome? {
        ReviseOutcome::Committed(commit) => Some(commit),
        ReviseOutcome::Unchanged => None,
        ReviseOutcome::Conflict(_) => {
            let text = format!("{place} was changed at the same moment. Nothing was done; retry.");
            return Err(ToolError::new("CONFLICT", text));
        }
    };
    Ok(Changed { links, added_section, before, after, warning, commit })
}

/// Whether a note goes by the same names after an edit.
fn is_called_the_same(before: &str, after: &str) -> bool {
    let (old, new) = (note::parse(before), note::parse(after));
    old.title() == new.title()
        && old.permalink() == new.permalink()
        && old.aliases() == new.aliases()
}

/// Refuses an edit after which no program could read a drawing, or other JSON, that it could before.
fn check_readable(place: &Place, before: &str, after: &str) -> Result<(), ToolError> {
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

/// Makes the note that was to be added to: its title is the last part of the name.
fn create(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
    content: &str,
    metadata: Option<&Map<String, Value>>,
    warning: Option<String>,
) -> Result<Option<ToolResult>, ToolError> {
    let name = scope::bare(identifier);
    if name.is_empty() || name.contains("://") {
        return Ok(None);
    }
    check_unknown(call, args, identifier, name)?;
    let name = without_extension(name);
    if name.contains('*') {
        let text = format!(
            "{identifier:?} is a pattern, and a note to be made needs a name without `*`. Nothing \
             was written."
        );
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    }
    // What lies in another project is not made anew in this one.
    if scope::asked(call, args)?.is_none()
        && call.memory.resolve(None, identifier, Intent::Change).is_ok()
    {
        return Ok(None);
    }
    check_not_near(call, args, identifier)?;
    let own = scope::project(call, args)?;
    let name = name.strip_prefix(&format!("{own}::")).unwrap_or(name);
    let (project, name) = match scope::other_project(call, &own, name) {
        Some((other, rest)) if scope::asked(call, args)?.is_none() => (other, rest),
        Some((other, _)) => return Err(elsewhere(call, identifier, &own, &other)),
        // Of no project that there is.
        None if name.contains("::") => return Ok(None),
        None => (own, name),
    };
    let (directory, title) = name.rsplit_once('/').unwrap_or(("", name));
    let directory = directory
        .strip_prefix(project.as_str())
        .filter(|d| d.is_empty() || d.starts_with('/'))
        .unwrap_or(directory);
    let (path, renamed) = note_path(call, &project, directory, title)?;
    let place = Place { project, path };
    let wanted = Wanted { title, content, note_type: None, tags: None, metadata };
    let alike = similar(call.memory, &place, title);
    let saved = save(call, &place, &wanted, CreateMode::Refuse, None)?;
    let operation = args.text("operation")?;
    let heading = format!("Created note ({operation} to a note that did not exist)");
    let mut more = json!({ "operation": operation, "fileCreated": true });
    let over = passed_over(metadata);
    if !over.is_empty() {
        more["ignored_keys"] = json!(over);
    }
    let warning = together(together(warning, renamed), told_over(&over, INSTEAD));
    let (receipt, more) = saved.receipt(more, warning);
    let mut answer = receipt.answer(call, &heading, more)?;
    add_similar(&mut answer, call, &receipt.place, &alike)?;
    Ok(Some(answer))
}

/// Refuses a name for a new note that is a folder's, or an existing note's said in another way: what
/// was to be added to that note would be lost in one of its own.
fn check_unknown(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
    name: &str,
) -> Result<(), ToolError> {
    let words = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts: Vec<String> = name.split(['/', '\\']).map(words).collect();
    let plain = parts.join("/");
    let plain = without_extension(plain.trim_end_matches('/'));
    // `Plan#Next steps` is a part of a note; `C#` is a note.
    let whole = plain.split_once('#').filter(|(_, part)| !part.is_empty()).map(|(note, _)| note);
    let asked = scope::asked(call, args)?;
    for said in [Some(plain), whole].into_iter().flatten() {
        if said.trim().is_empty() || said == name {
            continue;
        }
        let place = match call.memory.resolve(asked.as_deref(), said, Intent::Change) {
            Ok(found) => found.place,
            Err(EngineError::NotFound { .. }) => continue,
            Err(e) => return Err(e.into()),
        };
        return Err(only_near(identifier, &[place]));
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

/// Refuses a name for a new note by which a read finds another. It may well be meant, but a change
/// means the very note.
fn check_not_near(
    call: &CallContext<'_>,
    args: &ToolArgs,
    identifier: &str,
) -> Result<(), ToolError> {
    let place = match scope::find(call, args, identifier, Intent::Read) {
        Ok(place) => place,
        Err(failure) if failure.code == NOTE_NOT_FOUND => return Ok(()),
        Err(failure) => return Err(failure),
    };
    let alike = call.memory.store().link_candidates(&place.project, scope::bare(identifier))?;
    let alike = alike.into_iter().map(|c| Place { project: place.project.clone(), path: c.path });
    let others: Vec<Place> = alike.filter(|other| *other != place).take(NEAR).collect();
    Err(only_near(identifier, &[vec![place], others].concat()))
}

/// Says that a note is not there, but others that may be meant.
fn only_near(identifier: &str, near: &[Place]) -> ToolError {
    let near: Vec<String> = near.iter().map(Place::to_string).collect();
    let text = format!(
        "There is no note {identifier:?}, but there is {}. Nothing was written. Name that one by \
         its path or permalink to add to it (with `section` to change a part of it), or make \
         another with write_note.",
        near.join(", ")
    );
    ToolError::new(NOTE_NOT_FOUND, text).with_detail("candidates", near)
}

/// The name of a note without what its file ends in.
fn without_extension(name: &str) -> &str {
    name.strip_suffix(".md").or_else(|| name.strip_suffix(".markdown")).unwrap_or(name)
}

/// Says that a name means another project than the call.
fn elsewhere(
    call: &CallContext<'_>,
    identifier: &str,
    own: &ProjectName,
    other: &ProjectName,
) -> ToolError {
    if let Some(only) = &call.settings.notes.only_project {
        return scope::constrained(only);
    }
    let there = call.memory.resolve(None, identifier, Intent::Change).ok();
    let there = there.map(|found| format!(" There is {}.", found.place)).unwrap_or_default();
    let text = format!(
        "{identifier:?} names project {other}, and the call project {own}. Nothing was written.\
         {there} Say project={:?}, or leave `project` out.",
        other.as_str()
    );
    ToolError::new("CROSS_PROJECT_ENTITY", text)
}
