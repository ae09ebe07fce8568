//! Reads a note, now or at an earlier time.

use jiff::Timestamp;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note::{self, Note};
use memoranda_core::path::NotePath;
use memoranda_store::{FileSummary, PointInTime};

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::history::project_at::ProjectAt;
use crate::links::resolve::{NoteLocation, ResolveIntent, name_in_project, split};

/// A note that was read.
#[derive(Clone, Debug)]
pub struct ReadNote {
    /// Location of the note.
    pub place: NoteLocation,
    /// Content.
    pub bytes: Vec<u8>,
    /// Hash of the content.
    pub hash: ContentHash,
    /// Modification time of the file; the requested time for an earlier version.
    pub modified: Timestamp,
    /// Index entry; `None` for an earlier version.
    pub summary: Option<FileSummary>,
}

/// A note whose bytes are text, with its parsed text.
#[derive(Clone, Debug)]
pub struct TextNote<'t> {
    /// The text.
    pub text: &'t str,
    /// The parsed note.
    pub note: Note,
}

impl ReadNote {
    /// Returns the text if the bytes are valid text.
    pub fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.bytes).map_err(|_| EngineError::NotText(self.place.clone()))
    }

    /// Returns true if the content can be shown as text. Markdown always can be.
    pub fn is_text(&self) -> bool {
        is_text(&self.place.path, &self.bytes)
    }

    /// Returns the text, with replacement characters for invalid bytes.
    pub fn lossy_text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Returns the text and the parsed note.
    pub fn parse(&self) -> Result<TextNote<'_>> {
        let text = self.text()?;
        Ok(TextNote { text, note: note::parse(text) })
    }
}

/// Returns true if the bytes of a file can be shown as text. Markdown always can be.
pub(crate) fn is_text(path: &NotePath, bytes: &[u8]) -> bool {
    path.is_markdown() || std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0)
}

impl Memory {
    /// Reads the note of a name.
    pub fn read(&self, project: Option<&str>, identifier: &str) -> Result<ReadNote> {
        let resolved = self.resolve(project, identifier, ResolveIntent::Read)?;
        self.read_at(&resolved.place)
    }

    /// Reads the note at a place.
    pub fn read_at(&self, place: &NoteLocation) -> Result<ReadNote> {
        let found = self.store().read(&place.project, &place.path)?;
        let found = found.ok_or_else(|| EngineError::NotFound {
            identifier: place.path.to_string(),
            scope: format!("project {}", place.project),
            suggestions: Vec::new(),
        })?;
        let modified = Timestamp::from_nanosecond(i128::from(found.stat.mtime_ns));
        Ok(ReadNote {
            place: place.clone(),
            hash: found.hash,
            bytes: found.bytes,
            modified: modified.unwrap_or_default(),
            summary: self.snapshot()?.file(&place.project, &place.path)?,
        })
    }

    /// Reads a note as it was at a moment. The note need not exist now.
    pub fn read_as_of(
        &self,
        project: Option<&str>,
        identifier: &str,
        moment: PointInTime,
    ) -> Result<ReadNote> {
        let modified = match moment {
            PointInTime::Time(time) => time,
            PointInTime::Commit(id) => self.snapshot()?.find_commit(id.as_str())?.time,
        };
        let (place, hash) = self.version_as_of(project, identifier, moment)?;
        let bytes = self.store().content(hash)?;
        Ok(ReadNote { place, bytes, hash, modified, summary: None })
    }

    /// Returns the location of a note, found by its present name or its name at a moment.
    pub fn place_as_of(
        &self,
        project: Option<&str>,
        identifier: &str,
        moment: PointInTime,
    ) -> Result<NoteLocation> {
        Ok(self.version_as_of(project, identifier, moment)?.0)
    }

    fn version_as_of(
        &self,
        project: Option<&str>,
        identifier: &str,
        moment: PointInTime,
    ) -> Result<(NoteLocation, ContentHash)> {
        let (named, name) = split(identifier);
        let place = self.place_in_history(project, identifier, ResolveIntent::Read);
        let found = match &place {
            Ok(place) => self.version_then(place, moment)?,
            Err(_) => None,
        };
        let found = match (found, &place) {
            (None, Ok(place)) => {
                self.named_then(std::slice::from_ref(&place.project), name, moment)?
            }
            (None, Err(EngineError::NotFound { .. })) => {
                self.named_then(&self.projects_of(named.or(project))?, name, moment)?
            }
            (found, _) => found,
        };
        let Some(found) = found else {
            let place = place?;
            let when = self.when(&place.project, moment)?;
            return Err(EngineError::NotThen { place, when });
        };
        Ok(found)
    }

    /// Describes a moment in words. A moment before the first commit of a project is described with
    /// the time of that commit.
    pub(crate) fn when(&self, project: &ProjectName, moment: PointInTime) -> Result<String> {
        let time = match moment {
            PointInTime::Time(time) => time,
            PointInTime::Commit(id) => return Ok(format!("at commit {id}")),
        };
        let begin = self.snapshot()?.history_begin(project)?.filter(|begin| time < *begin);
        Ok(match begin {
            Some(begin) => format!(
                "at {time} as far as is known: the history of project {project} begins at {begin}"
            ),
            None => format!("at {time}"),
        })
    }

    /// Returns the version of a note at a moment, and its location then: it may have been moved to
    /// or from the given place since.
    pub(crate) fn version_then(
        &self,
        place: &NoteLocation,
        moment: PointInTime,
    ) -> Result<Option<(NoteLocation, ContentHash)>> {
        let project = &place.project;
        let mut found = self.snapshot()?.note_version_as_of(project, &place.path, moment)?;
        if found.is_none() {
            let now = self.current_location(place)?;
            found = self.snapshot()?.note_version_as_of(project, &now.path, moment)?;
        }
        Ok(found.map(|(path, hash)| (NoteLocation::new(project, path), hash)))
    }

    /// Returns the note that had a name at a moment.
    fn named_then(
        &self,
        projects: &[ProjectName],
        name: &str,
        moment: PointInTime,
    ) -> Result<Option<(NoteLocation, ContentHash)>> {
        for project in projects {
            let own = name_in_project(project.as_str(), name);
            let past = ProjectAt::load(self, project, moment)?;
            for name in [Some(name), own].into_iter().flatten() {
                if let Some(found) = past.version_of(name)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// Returns the named project, or all projects with the default first.
    pub(crate) fn projects_of(&self, project: Option<&str>) -> Result<Vec<ProjectName>> {
        Ok(match project {
            Some(project) => vec![self.store().project(project)?.name],
            None => {
                let all = self.store().projects()?.into_iter().map(|project| project.name);
                let (mut first, rest): (Vec<_>, Vec<_>) = all.partition(|p| self.is_default(p));
                first.extend(rest);
                first
            }
        })
    }
}
