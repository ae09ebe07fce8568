//! Errors of the record verbs. A verb that fails has changed nothing.

use memoranda_core::cron::CronError;
use memoranda_core::note::edit::EditError;
use memoranda_core::path::NotePath;
use memoranda_store::StoreError;

use super::scope::RecordScope;
use super::stream::OpenStream;
use crate::{EngineError, NoteLocation};

/// A record verb that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The vault failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The frontmatter of a file cannot be changed.
    #[error("{0}")]
    Edit(#[from] EditError),
    /// No record has this id.
    #[error("memory {id} not found or already deleted")]
    NotFound {
        /// The requested id.
        id: String,
        /// True if a deleted record has this id.
        is_deleted: bool,
    },
    /// The record was deleted while the change was prepared.
    #[error("memory {id} not found or already deleted")]
    Vanished {
        /// The requested id.
        id: String,
    },
    /// Several records have this id.
    #[error("{id:?} is the id of {} memories; name one by its path: {}", .paths.len(), joined(.paths))]
    Ambiguous {
        /// The requested id.
        id: String,
        /// The records.
        paths: Vec<NotePath>,
    },
    /// A new record has no text.
    #[error("the content is empty: there is nothing to remember")]
    EmptyContent,
    /// A new record would supersede a record that more callers see.
    #[error("{id} is a memory of another scope ({})", .scope.name())]
    OtherScope {
        /// The record that would be superseded.
        id: String,
        /// Scope of the record.
        scope: Box<RecordScope>,
        /// Scope of the new record.
        new_scope: Box<RecordScope>,
    },
    /// A generated id was taken by another process.
    #[error("a new id was taken already; nothing was stored, try again")]
    IdTaken,
    /// Another record is at the path that a record would move to.
    #[error("memory {id} cannot become {location}: another memory is there")]
    LocationTaken {
        /// The record.
        id: String,
        /// The path.
        location: Box<NoteLocation>,
    },
    /// The record was changed by another process.
    #[error("memory {id} was changed meanwhile; try again")]
    RecordChanged {
        /// The record.
        id: String,
    },
    /// Some of several records were changed by another process.
    #[error("something was changed meanwhile; nothing was done, try again")]
    RecordsChanged,
    /// No deleted record has this id.
    #[error("no deleted memory has the id {id}")]
    NothingDeleted {
        /// The requested id.
        id: String,
    },
    /// The record to restore is not deleted.
    #[error("memory {id} is not deleted: there is nothing to restore")]
    NotDeleted {
        /// The record.
        id: String,
    },
    /// The commit changed something else than deleting records.
    #[error("commit {commit} did not only delete memories")]
    NotADeletion {
        /// The commit.
        commit: String,
    },
    /// Every record that the commit deleted exists again.
    #[error("everything that commit {commit} deleted is there already")]
    AlreadyRestored {
        /// The commit.
        commit: String,
    },
    /// No reminder has this id.
    #[error("reminder {id} not found")]
    ReminderNotFound {
        /// The requested id.
        id: String,
    },
    /// The reminder was deleted while the change was prepared.
    #[error("reminder {id} not found")]
    ReminderVanished {
        /// The requested id.
        id: String,
    },
    /// The cron expression of a reminder is invalid.
    #[error("reminder {id}: {error}")]
    InvalidCron {
        /// The reminder.
        id: String,
        /// The error.
        error: CronError,
    },
    /// The reminder was changed by another process.
    #[error("reminder {id} was changed meanwhile; try again")]
    ReminderChanged {
        /// The reminder.
        id: String,
    },
    /// No session has this id.
    #[error("session {id} not found")]
    SessionNotFound {
        /// The requested id.
        id: String,
    },
    /// The session has ended.
    #[error("session {id} has ended ({status})")]
    SessionEnded {
        /// The session.
        id: String,
        /// Status of the reminder.
        status: String,
    },
    /// The file of the session would exceed [`super::MAX_SESSION_BYTES`].
    #[error("session {id} has {bytes} bytes, and {} are the most", super::MAX_SESSION_BYTES)]
    SessionTooLong {
        /// The session.
        id: String,
        /// Size of its file.
        bytes: usize,
    },
    /// The session was changed by another process.
    #[error("the session was changed meanwhile; nothing was done, try again")]
    SessionChanged,
    /// The session has no event to snapshot.
    #[error("session {id} has no events to snapshot")]
    NoEvents {
        /// The session.
        id: String,
    },
    /// [`super::MAX_OPEN_STREAMS`] streams are open.
    #[error("{} streams are unfinished, and more are not kept", super::MAX_OPEN_STREAMS)]
    TooManyStreams {
        /// Scope of the rejected stream.
        scope: Box<RecordScope>,
        /// The open streams.
        open: Vec<OpenStream>,
    },
    /// No stream has this id.
    #[error("stream {id:?} not found: it was finished, cancelled, or never started")]
    StreamNotFound {
        /// The requested id.
        id: String,
        /// The streams that are open, of every scope.
        open: Vec<OpenStream>,
    },
    /// The stream was finished or cancelled while the change was prepared.
    #[error("stream {id} is finished or cancelled already")]
    StreamFinished {
        /// The stream.
        id: String,
    },
    /// The last chunk of the stream is too old.
    #[error("stream {id} expired")]
    StreamExpired {
        /// The stream.
        id: String,
    },
    /// The chunk would exceed the limits of a stream.
    #[error("a chunk of {added} characters does not fit into {id}")]
    StreamTooLong {
        /// The stream.
        id: String,
        /// Length of the chunk in characters.
        added: usize,
        /// Number of chunks with this one.
        chunks: usize,
        /// Number of characters with this chunk.
        chars: usize,
    },
    /// The stream was changed by another process.
    #[error("the stream was changed meanwhile; nothing was done, try again")]
    StreamChanged,
}

impl From<StoreError> for RecordError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

/// The result of a record verb.
pub type RecordResult<T, E = RecordError> = Result<T, E>;

fn joined(paths: &[NotePath]) -> String {
    paths.iter().map(NotePath::as_str).collect::<Vec<_>>().join(", ")
}
