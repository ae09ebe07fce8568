//! `write_note`: creates or replaces a whole note.

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_core::graph::alias_key;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note;
use memoranda_core::note::permalink::{
    file_name_from_title, permalink_of, slug, title_without_extension,
};
use memoranda_core::path::NotePath;
use memoranda_core::problem::ParseProblem;
use memoranda_engine::{
    EngineError, FileOperation, FileSummary, NamedFolder, NoteLocation, NoteTransaction,
    TransactOutcome, hash,
};
use serde_json::{Value, json};

use super::checksum::ExpectedChecksum;
use super::compose::{
    NoteContent, clean_content, compose, compose_over, ignored_keys, ignored_keys_warning,
    invalid_frontmatter, screen_secrets,
};
use super::params::{COMMON, EXPECTED_CHECKSUM, PROJECT};
use super::read::without_source;
use super::scope;
use super::write_summary::{NoteOrigin, WriteSummary, add_similar_notes, similar_notes};
use crate::memory::path::leads_up;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolError, ToolResult};
use crate::settings::CreateMode;

/// Names of `directory` that models use.
pub(super) const DIRECTORY_ALIASES: &[&str] = &["folder", "dir", "path"];

pub(super) const PARAMS: ParamTable = ParamTable::new(&[
    &[
        Param::text("title", "Title, and file name").required(),
        Param::text("content", "Markdown: `- [category] fact #tag`, `- relates_to [[Note]]`")
            .required(),
        Param::text("directory", "Folder; \"\" for the top").required().aliases(DIRECTORY_ALIASES),
        PROJECT,
        Param::texts("tags", "Tags"),
        Param::text("note_type", "Type; default `note`").aliases(&["type"]),
        Param::object("metadata", "More frontmatter"),
        Param::flag("overwrite", "Replace an existing note"),
        EXPECTED_CHECKSUM,
    ],
    COMMON,
]);

/// Reason why a title needs no extension.
const EXTENSION_REASON: &str = "a note's file ends in .md by itself";

pub(super) fn write(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let title = note::one_line(args.text("title")?.trim()).into_owned();
    if title.is_empty() {
        return Err(args.missing("title", "what the note is called").into());
    }
    let directory = args.optional_text("directory")?.unwrap_or_default();
    let project = scope::call_project(call, args)?;
    let content = clean_content(without_source(&args.text("content")?));
    let (content, warning) = screen_secrets(call.settings.secrets, "", content)?;
    let (mut path, renamed) = note_path(call, &project, &directory, &title)?;
    let (title, shortened) = match title_without_extension(&title) {
        // An existing note with exactly this name takes precedence.
        Some(bare)
            if call.memory.read_file(&NoteLocation::new(&project, path.clone()))?.is_none() =>
        {
            path = note_path(call, &project, &directory, bare)?.0;
            (
                bare.to_owned(),
                Some(format!("{title:?} was taken for the title {bare:?}: {EXTENSION_REASON}.")),
            )
        }
        _ => (title, None),
    };
    let tags = args.texts("tags")?;
    let metadata = args.object("metadata")?;
    let note_type = args.optional_text("note_type")?;
    let expected = ExpectedChecksum::read(args)?;
    let overwrite = create_mode(call, args, expected.as_ref())?;
    let wanted = NoteContent {
        title: &title,
        content: &content,
        note_type: note_type.as_deref(),
        tags: tags.as_deref(),
        metadata: metadata.as_ref(),
    };
    let place = NoteLocation { project, path };
    let saved = save(call, &place, &wanted, overwrite, expected.as_ref())?;
    let alike = match saved.replaced {
        None => similar_notes(call.memory, &place, &title),
        Some(_) => Vec::new(),
    };
    let (heading, action) = match saved.replaced {
        Some(_) => ("Updated note", "updated"),
        None => ("Created note", "created"),
    };
    let is_new = saved.replaced.is_none();
    let over = ignored_keys(metadata.as_ref());
    let warning = join_warnings(
        join_warnings(warning, renamed),
        join_warnings(shortened, own_keys_warning(&over)),
    );
    let mut more = json!({ "action": action });
    if !over.is_empty() {
        more["ignored_keys"] = json!(over);
    }
    let (summary, more) = saved.summary(more, warning);
    let mut answer = summary.render(call, heading, more)?;
    if is_new {
        add_similar_notes(&mut answer, &summary.place, &alike);
    }
    Ok(answer)
}

/// Warns of keys that `metadata` does not set.
fn own_keys_warning(keys: &[&str]) -> Option<String> {
    ignored_keys_warning(
        keys,
        "`title` and `note_type` are parameters of write_note, and a `permalink` is stated in \
         frontmatter at the top of `content`.",
    )
}

/// Returns the behaviour if the file exists.
pub(super) fn create_mode(
    call: &CallContext<'_>,
    args: &ToolArgs,
    expected: Option<&ExpectedChecksum>,
) -> Result<CreateMode, ToolError> {
    Ok(match args.flag("overwrite")? {
        Some(true) => CreateMode::Overwrite,
        Some(false) => CreateMode::Refuse,
        // A call with a known version replaces the note.
        None if expected.is_some() => CreateMode::Overwrite,
        None => call.settings.notes.overwrite,
    })
}

/// Joins two warnings.
pub(super) fn join_warnings(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}\n{other}")),
        (one, other) => one.or(other),
    }
}

/// Returns the path of a note by folder and title, and a warning if a new folder has another name
/// than requested. A path that leaves the project is rejected.
pub(super) fn note_path(
    call: &CallContext<'_>,
    project: &ProjectName,
    directory: &str,
    title: &str,
) -> Result<(NotePath, Option<String>), ToolError> {
    if leads_up(directory) {
        let text = format!(
            "{directory:?} leads out of the project; give a folder within it, such as \"specs\"."
        );
        return Err(ToolError::new("SECURITY_VALIDATION_ERROR", text));
    }
    let directory = scope::path_in_project(call, project, directory);
    let folder = call.memory.folder_named(project, directory)?;
    let name = file_name_from_title(title);
    let renamed = renamed_folder_warning(&folder, directory);
    let folder = folder.path;
    let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
    Ok((NotePath::parse(&path).map_err(EngineError::from)?, renamed))
}

/// Warns of a folder with another name than requested.
pub(super) fn renamed_folder_warning(folder: &NamedFolder, directory: &str) -> Option<String> {
    folder.is_changed.then(|| {
        format!(
            "There is no folder {directory:?}, and a new one holds letters, digits, blanks, '.', \
             '-' and '_' only: it is {:?}.",
            folder.path
        )
    })
}

/// A saved note.
pub(super) struct SavedNote {
    pub(super) place: NoteLocation,
    pub(super) text: String,
    pub(super) replaced: Option<ContentHash>,
    pub(super) commit: Option<memoranda_core::change::Commit>,
    /// Problem of the frontmatter in the content, which became text.
    problem: Option<ParseProblem>,
    /// Permalink in the content that another note has, and that note.
    taken: Option<(String, NoteLocation)>,
}

impl SavedNote {
    /// Returns the summary, and `more` with further fields of the structured result.
    pub(super) fn summary(self, mut more: Value, warning: Option<String>) -> (WriteSummary, Value) {
        let kept_as_text = self.problem.map(|ParseProblem { line, message }| {
            more["problems"] = json!([format!("line {line}: {message}")]);
            format!(
                "Problem in line {line} of `content`: {message}. The block was kept as text below \
                 the note's own frontmatter, and none of its keys is understood. If it was meant \
                 as frontmatter, mend it (a value with `: ` in it, or with [ or {{ at its beginning, \
                 needs quotes; a line `---` closes it), and write the note again with \
                 write_note(…, overwrite=true)."
            )
        });
        let given = note::parse(&self.text).permalink().unwrap_or_default();
        let taken = self.taken.map(|(stated, holder)| {
            format!("The permalink {stated:?} is that of {holder}; this note has {given:?}.")
        });
        let warning = join_warnings(taken, warning);
        let origin = if self.replaced.is_none() { NoteOrigin::New } else { NoteOrigin::Existing };
        let summary = WriteSummary {
            origin,
            hash: hash(self.text.as_bytes()),
            place: self.place,
            commit: self.commit,
            text: self.text,
            warning: join_warnings(kept_as_text, warning),
        };
        (summary, more)
    }
}

/// Saves a note. The existing files are checked under the lock.
pub(super) fn save(
    call: &CallContext<'_>,
    place: &NoteLocation,
    wanted: &NoteContent<'_>,
    overwrite: CreateMode,
    expected: Option<&ExpectedChecksum>,
) -> Result<SavedNote, ToolError> {
    scope::check_not_ignored(call, place)?;
    let mut text = String::new();
    let mut replaced = None;
    let mut stale = None;
    let mut taken = None;
    let mut at = place.clone();
    let stated = note::parse(wanted.content).permalink();
    let outcome =
        call.memory.transact(&call.who, None, |desk| -> Result<Vec<FileOperation>, ToolError> {
            (at, replaced, stale) = (place.clone(), None, None);
            let mut old = desk.text(place)?;
            if old.is_none()
                && let Some(twin) = same_note(desk, place, wanted.title)?
            {
                old = desk.text(&twin)?;
                at = twin;
            }
            let Some((old, found)) = old else {
                if let Some(expected) = expected {
                    let text =
                        format!("There is no {place}, and so no version {}.", expected.as_str());
                    return Err(ToolError::new("CHECKSUM_MISMATCH", text));
                }
                taken = taken_permalink(desk, place, stated.as_deref())?;
                let permalink = stated.clone().unwrap_or_else(|| permalink_of(&place.path).0);
                let permalink = free_permalink(desk, &place.project, &permalink)?;
                text = compose(wanted, &permalink).map_err(|e| edit_error(place, e))?;
                return Ok(vec![FileOperation::create(place.clone(), text.clone())]);
            };
            replaced = Some(found);
            if let Some(expected) = expected.filter(|expected| !expected.matches(found)) {
                stale = Some(found);
                return Err(ToolError::new("CHECKSUM_MISMATCH", expected.as_str()));
            }
            if overwrite == CreateMode::Refuse {
                return Err(exists(&at, desk.summary(&at)?));
            }
            taken = taken_permalink(desk, &at, stated.as_deref())?;
            let permalink = match (&stated, desk.summary(&at)?) {
                (Some(stated), _) if taken.is_none() => stated.clone(),
                // Keep the permalink: links to the note stay valid.
                (_, Some(note)) => note.permalink,
                (_, None) => free_permalink(desk, &place.project, &permalink_of(&place.path).0)?,
            };
            text = compose_over(&old, wanted, &permalink).map_err(|e| edit_error(&at, e))?;
            let action = FileAction::Put(text.clone().into_bytes());
            Ok(vec![FileOperation {
                place: at.clone(),
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
        TransactOutcome::Conflict(_) => return Err(exists(&at, None)),
    };
    let problem = invalid_frontmatter(wanted.content);
    Ok(SavedNote { place: at, text, replaced, commit, problem, taken })
}

fn edit_error(place: &NoteLocation, error: memoranda_core::note::edit::EditError) -> ToolError {
    EngineError::Edit { place: place.clone(), error }.into()
}

/// Finds the same note in another spelling in the same folder: `my-note.md` for `My Note`, or a file
/// of the same title. `C++` and `C#` are different notes.
fn same_note(
    desk: &NoteTransaction<'_>,
    place: &NoteLocation,
    title: &str,
) -> Result<Option<NoteLocation>, ToolError> {
    let spelling = alias_key(place.path.stem());
    for other in desk.named(&place.project, place.path.stem())? {
        let is_beside = other.path.parent() == place.path.parent()
            && other.path.extension() == place.path.extension();
        let is_same = || -> Result<bool, ToolError> {
            let titled = desk.summary(&other)?.is_some_and(|note| note.title == title);
            Ok(titled && slug(other.path.stem()) == slug(place.path.stem()))
        };
        if is_beside && (alias_key(other.path.stem()) == spelling || is_same()?) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// Returns a free permalink, with a number appended if necessary.
pub(super) fn free_permalink(
    desk: &NoteTransaction<'_>,
    project: &ProjectName,
    wanted: &str,
) -> Result<String, ToolError> {
    let mut permalink = wanted.to_owned();
    let mut number = 0;
    while desk.with_permalink(project, &permalink)?.iter().any(|file| file.path.is_markdown()) {
        number += 1;
        permalink = format!("{wanted}-{number}");
    }
    Ok(permalink)
}

/// Returns a stated permalink that another note has, and that note.
fn taken_permalink(
    desk: &NoteTransaction<'_>,
    place: &NoteLocation,
    stated: Option<&str>,
) -> Result<Option<(String, NoteLocation)>, ToolError> {
    let Some(stated) = stated else { return Ok(None) };
    let mut holders = desk.with_permalink(&place.project, stated)?.into_iter();
    let other = holders.find(|file| file.path.is_markdown() && file.path != place.path);
    let at = |path| NoteLocation::new(&place.project, path);
    Ok(other.map(|file| (stated.to_owned(), at(file.path))))
}

fn exists(place: &NoteLocation, known: Option<FileSummary>) -> ToolError {
    let (title, permalink) = match known {
        Some(note) => (note.title, note.permalink),
        None => (place.path.stem().to_owned(), permalink_of(&place.path).0),
    };
    let named = format!("identifier={permalink:?}, project={:?}", place.project.as_str());
    let text = format!(
        "# Note already exists\nproject: {}\nfile_path: {}\npermalink: {permalink}\n\nNothing was \
         written. You can:\n- edit_note({named}, operation=\"append\", …) to add to it, or another \
         operation to change a part;\n- read_note({named}) to see it first;\n- write_note(…, \
         overwrite=true) to replace it; the old text stays in the history;\n- choose another title \
         or directory.",
        place.project, place.path
    );
    ToolError::new("NOTE_ALREADY_EXISTS", text)
        .with_detail("action", "conflict")
        .with_detail("title", title)
        .with_detail("permalink", permalink)
        .with_detail("file_path", Value::Null)
        .with_detail("checksum", Value::Null)
}
