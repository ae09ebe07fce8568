//! Records: rules, decisions, facts, notes and skills; reminders, streams and sessions.
//!
//! Every record is a file in the project `records`: `global/<kind>/<id>.md` or
//! `projects/<host-owner-repo>/<kind>/<id>.md`. The folder determines kind and scope, so a file that
//! a person adds there is a record like any other.

mod active_memories;
mod consolidate;
mod delete;
mod error;
mod expiry;
mod kind;
mod layer;
mod path_patterns;
mod query;
mod record;
mod reminder;
mod rules;
mod schedule;
mod scope;
mod session;
mod similarity;
mod stream;
mod sync_scope;
mod write;

pub use active_memories::{
    ActiveMemory, ActiveMemoryMatches, ActiveMemorySearch, search_active_memories,
};
pub use consolidate::{Consolidation, find_duplicates, supersede_duplicates, supersede_record};
pub use delete::{
    DeleteFilter, DeletedRecord, PurgedRecords, RestoredCommit, RestoredRecord, delete_record,
    delete_records, deleted_records, matching_records, purge_deleted, restore_commit,
    restore_record,
};
pub use error::{RecordError, RecordResult};
pub use expiry::{ExpiryError, RecordExpiry};
pub use kind::RecordKind;
pub use layer::MemoryLayer;
pub use path_patterns::{PathPatternError, check_path_pattern, normalize_globs};
pub(crate) use query::filter_of_kinds;
pub use query::{
    RecordMatches, RecordQuery, active_rules, find_exact, find_record, is_inactive_record,
    known_scopes, newest_records, record_at, records_of_kind, search_records,
};
pub(crate) use record::title_of;
pub use record::{
    MemoryRecord, NewRecord, is_record_place, record_of_version, records_project, single_line,
};
pub use reminder::{
    ChangedReminder, NewReminder, Reminder, ReminderChange, acknowledge_due_reminders,
    acknowledge_reminder, add_reminder, change_reminder, due_reminders, list_reminders,
};
pub use rules::{FileSelection, RuleList};
pub use schedule::{DueRuns, MAX_COUNTED_RUNS};
pub use scope::{NoProjectReason, ProjectId, RecordScope, VisibleScopes};
pub use session::{
    AddedEvent, MAX_SESSION_BYTES, NewEvent, NewSession, SavedSession, SessionSnapshot,
    SnapshotRequest, add_event, end_session, snapshot_transcript, start_session, write_snapshot,
};
pub use similarity::{DuplicateGroup, SimilarRecords};
pub use stream::{
    AppendedChunk, CancelledStream, FinalizedStream, MAX_OPEN_STREAMS, MAX_STREAM_CHUNKS,
    OpenStream, StartedStream, append_chunk, cancel_stream, finalize_stream, start_stream,
    visible_open_streams,
};
pub use sync_scope::{
    all_records_scope, reminders_scope, rules_and_reminders_scope, rules_scope, visible_scope,
};
pub use write::{
    AddedRecord, EditedRecord, MAX_CONTENT_CHARS, RecordChanges, add_records, edit_record,
};
pub(crate) use write::{create_step, moved_location};
