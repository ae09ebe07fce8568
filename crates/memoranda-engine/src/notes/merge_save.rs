//! Saving a text that was edited for a while: a change by somebody else in between is merged or
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
    /// Where.
    pub place: NoteLocation,
    /// The whole text.
    pub text: String,
    /// The version that the text began as; `None` if there was no file.
    pub expected: Option<ContentHash>,
    /// Behaviour if the file has another version by now.
    pub merging: SaveMerging,
    /// One line for the history.
    pub message: Option<String>,
}

/// Behaviour of a save if the file has another version by now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SaveMerging {
    /// It writes nothing.
    Report,
    /// It writes the merged text if the two changes concern different lines.
    WriteIfClean,
}

/// Result of a save.
#[derive(Clone, Debug)]
pub enum SaveOutcome {
    /// The text is saved.
    Saved(WrittenNote),
    /// The text was merged with another change, and this is saved.
    Merged(WrittenNote, String),
    /// The file has exactly this text already.
    Unchanged(ContentHash),
    /// The file is another version. Nothing was written.
    Conflict(Box<MergeConflict>),
}

/// A text that was changed by two at once.
#[derive(Clone, Debug)]
pub struct MergeConflict {
    /// The text that both began with; `None` if the history does not have it.
    pub base: Option<String>,
    /// The current text; `None` if the file is gone.
    pub theirs: Option<String>,
    /// The current version.
    pub theirs_hash: Option<ContentHash>,
    /// The newest commit of the file.
    pub theirs_commit: Option<Commit>,
    /// Both changes combined.
    pub merge: TextMerge,
}

/// Number of times that a clean merge is tried if others keep writing.
const MAX_TRIES: usize = 5;

impl Memory {
    /// Saves a text, if the file is still the version that it began as.
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
