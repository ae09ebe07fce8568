//! Saves a text that was edited for a while: a change by another author in between is merged or
//! reported, never overwritten.

use memoranda_core::change::Commit;
use memoranda_core::id::ContentHash;
use memoranda_core::merge::{TextMerge, merge_texts};
use memoranda_store::HistoryFilter;

use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;
use crate::notes::write::{WriteMode, WriteOutcome, WriteRequest, WrittenNote};
use crate::{Author, Memory};

/// A text to be saved.
#[derive(Clone, Debug)]
pub struct MergeSaveRequest {
    /// Location of the note.
    pub place: NoteLocation,
    /// The whole text.
    pub text: String,
    /// Version from which the edit started; `None` if there was no file.
    pub expected: Option<ContentHash>,
    /// Behaviour if the file has changed since.
    pub merging: SaveMerging,
    /// Message for the history.
    pub message: Option<String>,
}

/// Behaviour of a save if the file has changed since the edit started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SaveMerging {
    /// Writes nothing.
    Report,
    /// Writes the merged text if the two changes concern different lines.
    WriteIfClean,
}

/// Result of a save.
#[derive(Clone, Debug)]
pub enum SaveOutcome {
    /// The text is saved.
    Saved(WrittenNote),
    /// The text was merged with another change, and the result is saved.
    Merged(WrittenNote, String),
    /// The file already has exactly this text.
    Unchanged(ContentHash),
    /// The file has another version. Nothing was written.
    Conflict(Box<MergeConflict>),
}

/// Two changes of one text.
#[derive(Clone, Debug)]
pub struct MergeConflict {
    /// The text from which both started; `None` if the history does not contain it.
    pub base: Option<String>,
    /// The current text; `None` if the file no longer exists.
    pub theirs: Option<String>,
    /// The current version.
    pub theirs_hash: Option<ContentHash>,
    /// The newest commit of the file.
    pub theirs_commit: Option<Commit>,
    /// Both changes combined.
    pub merge: TextMerge,
}

/// Maximum number of attempts of a clean merge if others keep writing.
const MAX_TRIES: usize = 5;

impl Memory {
    /// Saves a text if the file still has the version from which the edit started.
    pub fn save(&self, who: &Author, request: &MergeSaveRequest) -> Result<SaveOutcome> {
        self.check_findable(&request.place)?;
        let (mut text, mut expected) = (request.text.clone(), request.expected);
        let mut is_merged = false;
        for _ in 0..MAX_TRIES {
            let write = WriteRequest {
                project: request.place.project.clone(),
                path: request.place.path.clone(),
                content: text.clone().into_bytes(),
                mode: expected.map_or(WriteMode::Create, WriteMode::OverwriteVersion),
                message: request.message.clone(),
            };
            match self.write(who, &write)? {
                WriteOutcome::Written(written) if is_merged => {
                    return Ok(SaveOutcome::Merged(written, text));
                }
                WriteOutcome::Written(written) => return Ok(SaveOutcome::Saved(written)),
                WriteOutcome::Unchanged(_, hash) => return Ok(SaveOutcome::Unchanged(hash)),
                WriteOutcome::Exists(..) | WriteOutcome::Conflict(..) => {}
            }
            let conflict = self.save_conflict(request)?;
            let merged = conflict.merge.proposal().filter(|_| conflict.merge.is_clean());
            match (request.merging, merged, conflict.theirs_hash) {
                (SaveMerging::WriteIfClean, Some(merged), Some(hash)) => {
                    (text, expected, is_merged) = (merged, Some(hash), true);
                }
                _ => return Ok(SaveOutcome::Conflict(Box::new(conflict))),
            }
        }
        Ok(SaveOutcome::Conflict(Box::new(self.save_conflict(request)?)))
    }

    fn save_conflict(&self, request: &MergeSaveRequest) -> Result<MergeConflict> {
        let place = &request.place;
        let as_text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).map_err(|_| EngineError::NotText(place.clone()))
        };
        let found = self.store().read(&place.project, &place.path)?;
        let theirs_hash = found.as_ref().map(|found| found.hash);
        let theirs = found.map(|found| as_text(found.bytes)).transpose()?;
        let base = match request.expected {
            Some(hash) => self.store().content(hash).ok().map(as_text).transpose()?,
            None => Some(String::new()),
        };
        let filter = HistoryFilter {
            project: Some(place.project.clone()),
            path: Some(place.path.clone()),
            ..HistoryFilter::default()
        };
        let theirs_commit = self.log(&filter, 1, 0)?.into_iter().next();
        let merge = merge_texts(
            base.as_deref().unwrap_or_default(),
            &request.text,
            theirs.as_deref().unwrap_or_default(),
        );
        Ok(MergeConflict { base, theirs, theirs_hash, theirs_commit, merge })
    }
}
