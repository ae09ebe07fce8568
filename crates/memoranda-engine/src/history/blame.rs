//! Blame: who wrote each line of a note, when, and with which tool, by a replay of its versions.

use memoranda_core::blame::LineOrigins;
use memoranda_core::change::Commit;
use memoranda_core::id::ContentHash;
use memoranda_store::PointInTime;

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::history::log::NoteRevision;
use crate::links::resolve::NoteLocation;

/// Maximum number of versions that are replayed; older ones count as one.
const MAX_VERSIONS: usize = 5_000;

/// Origin of every line of a note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteBlame {
    /// Location of the note.
    pub place: NoteLocation,
    /// The version.
    pub hash: ContentHash,
    /// Text of the version.
    pub text: String,
    /// Runs of lines of one commit, in order. Every line is in one of them.
    pub runs: Vec<BlameRun>,
}

/// Neighbouring lines of one commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlameRun {
    /// Number of the first line, from 1.
    pub first_line: usize,
    /// Number of lines.
    pub lines: usize,
    /// The commit that wrote them.
    pub commit: Commit,
}

impl Memory {
    /// Returns who wrote each line of a note, now or at a moment.
    ///
    /// ```
    /// use memoranda_engine::{AddRequest, Memory, OpenOptions};
    /// # use memoranda_engine::core::change::{Author, ChangeChannel};
    /// # use memoranda_engine::core::id::ProjectName;
    /// # let folder = tempfile::tempdir()?;
    /// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
    /// # let who = Author::new("example", "example", ChangeChannel::Cli);
    /// let place = memory.add(&who, &AddRequest::new(ProjectName::parse("main")?, "One line."))?.place;
    /// let blame = memory.blame(&place, None)?;
    /// assert_eq!(blame.runs[0].commit.author.client, "example");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blame(&self, place: &NoteLocation, at: Option<PointInTime>) -> Result<NoteBlame> {
        let mut revisions = self.revisions(place, MAX_VERSIONS)?;
        if let Some(moment) = at {
            let start = match moment {
                PointInTime::Time(time) => {
                    revisions.iter().position(|revision| revision.commit.time <= time)
                }
                PointInTime::Commit(id) => {
                    let time = self.commit(id.as_str())?.time;
                    let exact = revisions.iter().position(|revision| revision.commit.id == id);
                    exact.or(revisions.iter().position(|revision| revision.commit.time <= time))
                }
            };
            revisions.drain(..start.unwrap_or(revisions.len()));
        }
        let newest = revisions.first().and_then(|revision| revision.change.after);
        let Some(hash) = newest else { return Err(self.not_indexed(place)) };
        let mut lines: LineOrigins<usize> = LineOrigins::default();
        for (number, revision) in revisions.iter().enumerate().rev() {
            lines.advance(self.revision_text(place, revision)?, &number);
        }
        let mut runs: Vec<BlameRun> = Vec::new();
        let mut last = None;
        for (line, origin) in lines.origins().iter().enumerate() {
            match runs.last_mut() {
                Some(run) if last == Some(origin) => run.lines += 1,
                _ => {
                    let Some(revision) = revisions.get(*origin) else { continue };
                    let commit = revision.commit.clone();
                    runs.push(BlameRun { first_line: line + 1, lines: 1, commit });
                }
            }
            last = Some(origin);
        }
        Ok(NoteBlame { place: place.clone(), hash, text: lines.text().to_owned(), runs })
    }

    /// Returns the text of a version; empty if the version removed the note or was purged.
    fn revision_text(&self, place: &NoteLocation, revision: &NoteRevision) -> Result<String> {
        let Some(hash) = revision.change.after else { return Ok(String::new()) };
        let Ok(bytes) = self.store().content(hash) else { return Ok(String::new()) };
        String::from_utf8(bytes).map_err(|_| EngineError::NotText(place.clone()))
    }
}
