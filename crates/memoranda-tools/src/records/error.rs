//! Texts of failed calls, for the caller.

use memoranda_core::note::edit::EditError;
use memoranda_engine::records::{
    MAX_CONTENT_CHARS, MAX_OPEN_STREAMS, MAX_SESSION_BYTES, MAX_STREAM_CHUNKS, OpenStream,
    RecordError, RecordScope, VisibleScopes,
};
use memoranda_engine::{EngineError, StoreError};

use super::render::{scope_text, stream_text, stream_totals};
use crate::registry::{ArgsError, ToolError};

/// A call that failed. Nothing was changed, and the text contains the next step.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordToolError {
    /// The request is invalid.
    #[error("{0}")]
    Refused(String),
    /// A verb of the engine failed.
    #[error("{}", record_error_text(.0))]
    Record(#[from] RecordError),
}

impl RecordToolError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

impl From<ArgsError> for RecordToolError {
    fn from(error: ArgsError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<EngineError> for RecordToolError {
    fn from(error: EngineError) -> Self {
        Self::Record(error.into())
    }
}

impl From<EditError> for RecordToolError {
    fn from(error: EditError) -> Self {
        Self::Record(error.into())
    }
}

impl From<RecordToolError> for ToolError {
    fn from(error: RecordToolError) -> Self {
        Self::new("RECORD_FAILED", error.to_string())
    }
}

pub(crate) type RecordToolResult<T> = Result<T, RecordToolError>;

/// Returns the hint for an id that no record has.
pub(super) fn missing_record_hint(is_deleted: bool) -> &'static str {
    if is_deleted {
        "restore_memory brings it back."
    } else {
        "search_memories and list_memories show ids."
    }
}

fn record_error_text(error: &RecordError) -> String {
    match error {
        RecordError::Engine(error) => engine_error_text(error),
        RecordError::Edit(error) => format!("{error}."),
        RecordError::NotFound { id, is_deleted } => {
            let hint = missing_record_hint(*is_deleted);
            format!("Memory {id} not found or already deleted. {hint}")
        }
        RecordError::Vanished { id } => format!("Memory {id} not found or already deleted."),
        RecordError::Ambiguous { .. } => format!("{error}."),
        RecordError::EmptyContent => "`content` is empty: there is nothing to remember.".to_owned(),
        RecordError::OtherScope { id, scope, new_scope } => format!(
            "{id} is a memory of another scope ({}): it would vanish where the new one \
             ({}) is not seen. Store the new one in that scope, or leave out `supersedes`; \
             then both are shown in the project, its own first. Nothing was stored.",
            scope_text(scope),
            scope_text(new_scope),
        ),
        RecordError::IdTaken => {
            "A new id was taken already; nothing was stored. Try again.".to_owned()
        }
        RecordError::LocationTaken { id, location } => format!(
            "Memory {id} cannot become {location}: another memory is there. Forget one of them, or \
             add this one anew."
        ),
        RecordError::RecordChanged { id } => {
            format!("Memory {id} was changed meanwhile. Try again.")
        }
        RecordError::RecordsChanged => {
            "Something was changed meanwhile; nothing was done. Try again.".to_owned()
        }
        RecordError::NothingDeleted { id } => format!(
            "No deleted memory has the id {id}. restore_memory without arguments lists \
             what can be restored; what was vacuumed cannot."
        ),
        RecordError::NotDeleted { id } => {
            format!("Memory {id} is not deleted: there is nothing to restore.")
        }
        RecordError::NotADeletion { commit } => format!(
            "Commit {commit} did not only forget memories; `memoranda undo {commit}` takes any \
             commit back."
        ),
        RecordError::AlreadyRestored { commit } => {
            format!("Everything that commit {commit} forgot is there already.")
        }
        RecordError::ReminderNotFound { id } => {
            format!("Reminder {id} not found. list_reminders with include_disabled shows all ids.")
        }
        RecordError::ReminderVanished { id } => format!("Reminder {id} not found."),
        RecordError::InvalidCron { id, error } => format!("Reminder {id}: {error}."),
        RecordError::ReminderChanged { id } => {
            format!("Reminder {id} was changed meanwhile. Try again.")
        }
        RecordError::SessionNotFound { id } => {
            format!("Session {id} not found. start_session starts one and gives its id.")
        }
        RecordError::SessionEnded { id, status } => {
            format!("Session {id} has ended ({status}). start_session starts another.")
        }
        RecordError::SessionTooLong { id, bytes } => format!(
            "Session {id} has {bytes} bytes, and {MAX_SESSION_BYTES} are the most. end_session it and \
             start another."
        ),
        RecordError::SessionChanged => {
            "The session was changed meanwhile; nothing was done. Try again.".to_owned()
        }
        RecordError::NoEvents { id } => format!(
            "Session {id} has no events to snapshot: checkpoint_session adds one, or give \
             transcript_md."
        ),
        RecordError::TooManyStreams { scope, open } => too_many_streams(scope, open),
        RecordError::StreamNotFound { id, open } => unknown_stream(id, open),
        RecordError::StreamFinished { id } => {
            format!("Stream {id} is finished or cancelled already.")
        }
        RecordError::StreamExpired { id } => format!(
            "Stream {id} expired: its last chunk came more than a day ago. Start another one."
        ),
        RecordError::StreamTooLong { id, added, chunks, chars } => format!(
            "This chunk has {added} characters and would bring {id} to {}; a memory has at most \
             {MAX_CONTENT_CHARS} in {MAX_STREAM_CHUNKS} chunks. Finalize it and start another \
             stream.",
            stream_totals(*chunks, *chars),
        ),
        RecordError::StreamChanged => {
            "The stream was changed meanwhile; nothing was done. Try again.".to_owned()
        }
    }
}

fn too_many_streams(scope: &RecordScope, open: &[OpenStream]) -> String {
    let (own, others) = visible_streams(scope, open);
    let own = match own.as_slice() {
        [] => String::new(),
        own => format!(": {}", own.join("; ")),
    };
    let others = match others {
        0 => String::new(),
        count => {
            format!(" {count} are of other projects; each expires a day after its last chunk.")
        }
    };
    format!(
        "{MAX_OPEN_STREAMS} streams are unfinished, and more are not kept. Finish or cancel \
         one{own}.{others}"
    )
}

/// Describes the streams that are visible in a scope, and counts the others.
pub(super) fn visible_streams(scope: &RecordScope, streams: &[OpenStream]) -> (Vec<String>, usize) {
    let visible = VisibleScopes::new(Some(scope.clone()));
    let seen = streams.iter().filter(|other| visible.scopes.contains(&other.scope));
    let seen: Vec<String> = seen.map(stream_text).collect();
    let others = streams.len() - seen.len();
    (seen, others)
}

fn unknown_stream(id: &str, open: &[OpenStream]) -> String {
    // Streams of projects are not named to callers of other projects.
    let global = open.iter().filter(|stream| stream.scope == RecordScope::Global);
    let known: Vec<String> = global.map(stream_text).collect();
    let known = match known.len() {
        0 => "start_memory_stream starts one".to_owned(),
        _ => format!("unfinished are {}", known.join("; ")),
    };
    format!("Stream {id:?} not found: it was finished, cancelled, or never started; {known}.")
}

/// Describes a failure of the vault without naming its location on the machine.
fn engine_error_text(error: &EngineError) -> String {
    let EngineError::Store(store) = error else { return error.to_string() };
    let reason = match store {
        StoreError::NoCommit(id) => {
            return format!(
                "There is no commit {id:?}. The answer of a bulk forget names its commit; \
                 restore_memory without arguments lists what can be restored."
            );
        }
        StoreError::AmbiguousCommit { given, .. } => {
            return format!("Several commits begin with {given:?}. Give more of it.");
        }
        StoreError::Busy { .. } => "another process is writing; try again",
        error if error.is_disk_full() => "the disk is full",
        StoreError::Io { source, .. } => match source.kind() {
            std::io::ErrorKind::PermissionDenied => "permission denied",
            std::io::ErrorKind::ReadOnlyFilesystem => "the folder is read-only",
            _ => "the system refused",
        },
        StoreError::ProjectUnavailable { .. } | StoreError::VaultUnreachable { .. } => {
            "the folder of the records cannot be reached now"
        }
        StoreError::ContentGone(_) => {
            "its content was purged by a vacuum and can no longer be restored"
        }
        _ => "the store failed; run `memoranda doctor`",
    };
    format!("Nothing was done: {reason}.")
}
