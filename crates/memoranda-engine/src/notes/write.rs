//! Writes a whole note: a new one, or over an old one.

use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note::MetaValue;
use memoranda_core::note::edit::{NoteEdit, apply_edit};
use memoranda_core::note::permalink::{file_name_from_title, title_from_line};
use memoranda_core::path::NotePath;
use memoranda_store::{CommitOutcome, StoreError, hash};

use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;
use crate::{Author, Memory};

/// A note to be written.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    /// The project; created if it does not exist.
    pub project: ProjectName,
    /// Path within the project.
    pub path: NotePath,
    /// Content of the file.
    pub content: Vec<u8>,
    /// Behaviour if the file exists.
    pub mode: WriteMode,
    /// Message for the history.
    pub message: Option<String>,
}

/// Behaviour of a write if the file exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteMode {
    /// Reports the existing file and writes nothing.
    Create,
    /// Replaces the file; the old text stays in the history.
    CreateOrOverwrite,
    /// Replaces the file if it still has this content.
    OverwriteVersion(ContentHash),
}

/// A note to be created from a title and a text.
#[derive(Clone, Debug)]
pub struct AddRequest {
    /// The project; created if it does not exist.
    pub project: ProjectName,
    /// Title; `None` takes the first line of the text.
    pub title: Option<String>,
    /// Folder within the project; empty for the top.
    pub folder: String,
    /// The text.
    pub text: String,
    /// Tags for the frontmatter.
    pub tags: Vec<String>,
    /// Type for the frontmatter.
    pub note_type: Option<String>,
}

impl AddRequest {
    /// Returns the request for a note at the top of a project, with its first line as title.
    pub fn new(project: ProjectName, text: &str) -> Self {
        Self {
            project,
            title: None,
            folder: String::new(),
            text: text.to_owned(),
            tags: Vec::new(),
            note_type: None,
        }
    }
}

/// Outcome of a write.
#[expect(clippy::large_enum_variant, reason = "made once a call and never stored")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WriteOutcome {
    /// The note is written and durable.
    Written(WrittenNote),
    /// The file already had this content.
    Unchanged(NoteLocation, ContentHash),
    /// A file exists, and the request does not replace files.
    Exists(NoteLocation, ContentHash),
    /// The file does not have the expected content; `None` if it no longer exists.
    Conflict(NoteLocation, Option<ContentHash>),
}

/// A note that was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenNote {
    /// Location of the note.
    pub place: NoteLocation,
    /// Hash of the content.
    pub hash: ContentHash,
    /// Hash of the replaced content.
    pub replaced: Option<ContentHash>,
    /// The commit.
    pub commit: Commit,
}

impl Memory {
    /// Writes a whole note. An existing file whose name looks the same to a person is overwritten,
    /// even if the name has another Unicode form.
    pub fn write(&self, who: &Author, request: &WriteRequest) -> Result<WriteOutcome> {
        let place = NoteLocation::new(&request.project, request.path.clone());
        match self.write_at(who, request, place) {
            Err(EngineError::Store(e @ StoreError::Twin { .. })) => {
                match self.same_visible_name(&request.project, &request.path)? {
                    Some(twin) => self.write_at(who, request, twin),
                    None => Err(e.into()),
                }
            }
            Ok(WriteOutcome::Conflict(place, None)) => {
                match self.same_visible_name(&request.project, &request.path)? {
                    Some(twin) => self.write_at(who, request, twin),
                    None => Ok(WriteOutcome::Conflict(place, None)),
                }
            }
            other => other,
        }
    }

    fn write_at(
        &self,
        who: &Author,
        request: &WriteRequest,
        place: NoteLocation,
    ) -> Result<WriteOutcome> {
        let expect = match request.mode {
            WriteMode::Create => ExpectedContent::Absent,
            WriteMode::CreateOrOverwrite => ExpectedContent::Anything,
            WriteMode::OverwriteVersion(hash) => ExpectedContent::Hash(hash),
        };
        let content_hash = hash(&request.content);
        let outcome = self.store().transact(who, |_| {
            Ok::<_, EngineError>(ChangeSet {
                operations: vec![ChangeOperation {
                    project: place.project.clone(),
                    path: place.path.clone(),
                    expect,
                    action: FileAction::Put(request.content.clone()),
                }],
                message: request.message.clone(),
                ..ChangeSet::default()
            })
        })?;
        Ok(match outcome {
            CommitOutcome::Committed(commit) => {
                let change = commit.files.iter().find(|file| file.path == place.path);
                let replaced = change.and_then(|file| file.before);
                WriteOutcome::Written(WrittenNote { place, hash: content_hash, replaced, commit })
            }
            CommitOutcome::Unchanged => {
                // An unchanged write counts as an access and keeps the modification time.
                self.store().note_use(&place.project, &place.path);
                WriteOutcome::Unchanged(place, content_hash)
            }
            CommitOutcome::Conflict(conflicts) => {
                let found = conflicts.first().and_then(|conflict| conflict.found);
                match (request.mode, found) {
                    (WriteMode::Create, Some(found)) => WriteOutcome::Exists(place, found),
                    (_, found) => WriteOutcome::Conflict(place, found),
                }
            }
        })
    }

    /// Creates a note from a text, under a file name that is free.
    ///
    /// ```
    /// use memoranda_engine::{AddRequest, Memory, OpenOptions};
    /// # use memoranda_engine::core::change::{Author, ChangeChannel};
    /// # use memoranda_engine::core::id::ProjectName;
    /// # let folder = tempfile::tempdir()?;
    /// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
    /// # let who = Author::new("example", "example", ChangeChannel::Cli);
    /// let written = memory.add(&who, &AddRequest::new(ProjectName::parse("main")?, "The kitchen tap is new."))?;
    /// assert_eq!(written.place.to_string(), "main/The kitchen tap is new.md");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add(&self, who: &Author, request: &AddRequest) -> Result<WrittenNote> {
        let title = request.title.clone().unwrap_or_else(|| title_of(&request.text));
        let mut text = request.text.clone();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let file_name = file_name_from_title(&title);
        let mut keys: Vec<(&str, MetaValue)> = Vec::new();
        // The file name is the title, unless a file name cannot contain all of it.
        if file_name.strip_suffix(".md") != Some(title.as_str()) {
            keys.push(("title", MetaValue::Text(title.clone())));
        }
        if let Some(note_type) = &request.note_type {
            keys.push(("type", MetaValue::Text(note_type.clone())));
        }
        if !request.tags.is_empty() {
            let tags = request.tags.iter().map(|tag| tag.trim_start_matches('#').to_owned());
            keys.push(("tags", MetaValue::List(tags.map(MetaValue::Text).collect())));
        }
        for (key, value) in keys {
            let edit = NoteEdit::SetKey { key: key.to_owned(), value };
            text = apply_edit(&text, &edit).map_err(|e| EngineError::Invalid(e.to_string()))?;
        }
        let folder = self.folder_named(&request.project, &request.folder)?.path;
        for number in 1..10_000 {
            let name = match number {
                1 => file_name.clone(),
                _ => format!("{} {number}.md", file_name.strip_suffix(".md").unwrap_or(&file_name)),
            };
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let place =
                NoteLocation { project: request.project.clone(), path: NotePath::parse(&path)? };
            self.check_findable(&place)?;
            let request = WriteRequest {
                project: place.project,
                path: place.path,
                content: text.clone().into_bytes(),
                mode: WriteMode::Create,
                message: None,
            };
            match self.write(who, &request) {
                Ok(WriteOutcome::Written(written)) => return Ok(written),
                Ok(_) | Err(EngineError::Store(StoreError::Twin { .. })) => {}
                Err(e) => return Err(e),
            }
        }
        Err(EngineError::Invalid(format!("there are too many notes called {title:?}")))
    }

    /// Rejects a place that search and lists skip.
    pub fn check_findable(&self, place: &NoteLocation) -> Result<()> {
        match self.store().ignored_by(&place.project, &place.path)? {
            None => Ok(()),
            Some(rule) => Err(EngineError::Invalid(format!(
                "{place} would be in no search and no list: {rule}; nothing was done: choose \
                 another name or folder, or change that rule"
            ))),
        }
    }

    /// Returns the file whose name looks the same to a person.
    fn same_visible_name(
        &self,
        project: &ProjectName,
        path: &NotePath,
    ) -> Result<Option<NoteLocation>> {
        let twins = self.snapshot()?.twins(project, path)?;
        let twin = twins.into_iter().find(|twin| twin.composed() == path.composed());
        Ok(twin.map(|path| NoteLocation::new(project, path)))
    }
}

/// Returns the first line of a text as a title, cut at a word.
fn title_of(text: &str) -> String {
    let body = text.lines().map(str::trim).find(|line| !line.is_empty() && *line != "---");
    let line = body.unwrap_or("Note").trim_start_matches('#').trim_start_matches("- ").trim();
    // Links cannot contain a name with double brackets.
    let line = line.replace("[[", "").replace("]]", "");
    let line = if line.trim().is_empty() { "Note" } else { line.trim() };
    title_from_line(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::title_of;

    #[test]
    fn a_text_is_called_by_its_first_line() {
        let long = "Twelve words, which are far more than any title of a note should ever have";
        for (text, expected) in [
            ("# Heading\n\nText\n", "Heading"),
            ("\n\n- an item\nmore", "an item"),
            ("See [[Other note]] for more", "See Other note for more"),
            ("[[]]", "Note"),
            ("", "Note"),
            (long, "Twelve words, which are far more than any title of a note"),
        ] {
            assert_eq!(title_of(text), expected);
        }
    }
}
