//! Deleting records, restoring them, and purging them from the history.

use jiff::{SignedDuration, Timestamp};
use memoranda_core::change::Commit;
use memoranda_core::path::NotePath;
use memoranda_store::{VacuumExtent, VacuumRequest, clock};
use serde_json::json;

use super::error::{RecordError, RecordResult};
use super::kind::RecordKind;
use super::query::{
    file_name_from_id, find_record, not_found, path_from_id, record_at, records_of_kind,
    records_with_id,
};
use super::record::{MemoryRecord, RecordLocation, records_project};
use super::scope::VisibleScopes;
use crate::vacuum::{counted, is_agent};
use crate::wildcard::matches_wildcard;
use crate::{Author, FileOperation, Memory, NoteLocation, RestoreOutcome, TransactOutcome};

/// Deletes one record. Returns the record and the commit.
pub fn delete_record(
    memory: &Memory,
    who: &Author,
    id: &str,
) -> RecordResult<(MemoryRecord, Commit)> {
    let record = find_record(memory, id)?;
    match delete_records(memory, who, std::slice::from_ref(&record))? {
        Some(commit) => Ok((record, commit)),
        None => Err(not_found(memory, id)),
    }
}

/// Deletes records in one commit; `None` if none of them exists any more.
pub fn delete_records(
    memory: &Memory,
    who: &Author,
    records: &[MemoryRecord],
) -> RecordResult<Option<Commit>> {
    let outcome = memory.transact(who, None, |desk| -> RecordResult<Vec<FileOperation>> {
        let mut steps = Vec::with_capacity(records.len());
        for record in records {
            if desk.text(&record.place)?.is_some() {
                steps.push(FileOperation::remove(record.place.clone()));
            }
        }
        Ok(steps)
    })?;
    Ok(match outcome {
        TransactOutcome::Committed(commit) => Some(commit),
        TransactOutcome::Unchanged | TransactOutcome::Conflict(_) => None,
    })
}

/// Selects the records of a bulk deletion. A record must match every given attribute.
#[derive(Clone, Debug, Default)]
pub struct DeleteFilter {
    /// The kinds; all if empty.
    pub kinds: Vec<RecordKind>,
    /// Substrings of tags; one must match. No restriction if empty.
    pub tags: Vec<String>,
    /// Latest creation time, exclusive.
    pub older_than: Option<Timestamp>,
    /// Pattern with `*` and `?` that matches anywhere in the text.
    pub pattern: Option<String>,
}

impl DeleteFilter {
    fn matches(&self, record: &MemoryRecord) -> bool {
        let has_tag = |wanted: &String| {
            let wanted = wanted.to_lowercase();
            record.tags.iter().any(|tag| tag.to_lowercase().contains(&wanted))
        };
        self.older_than.is_none_or(|time| record.created < time)
            && (self.tags.is_empty() || self.tags.iter().any(has_tag))
            && self.pattern.as_ref().is_none_or(|pattern| matches_pattern(pattern, &record.content))
    }
}

/// Returns the visible records that a filter selects.
pub fn matching_records(
    memory: &Memory,
    visible: &VisibleScopes,
    filter: &DeleteFilter,
) -> RecordResult<Vec<MemoryRecord>> {
    let kinds = if filter.kinds.is_empty() { &RecordKind::ALL[..] } else { &filter.kinds };
    let mut found = Vec::new();
    for scope in &visible.scopes {
        for kind in kinds {
            found.extend(records_of_kind(memory, scope, *kind)?);
        }
    }
    found.retain(|record| filter.matches(record));
    Ok(found)
}

/// Returns true if a pattern with `*` and `?` matches anywhere in a text. Case is ignored.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    matches_wildcard(&format!("*{pattern}*").to_lowercase(), &text.to_lowercase())
}

/// A record that was restored.
#[derive(Clone, Debug)]
pub struct RestoredRecord {
    /// The file.
    pub place: NoteLocation,
    /// The record; `None` if the index has not read its file yet.
    pub record: Option<MemoryRecord>,
    /// The commit.
    pub commit: Commit,
}

/// Restores a deleted record. If several had the id, a path selects one, else the last deleted.
pub fn restore_record(memory: &Memory, who: &Author, id: &str) -> RecordResult<RestoredRecord> {
    let deleted = deleted_paths(memory, Some(id))?;
    let Some((last, _)) = deleted.first() else {
        let id = id.to_owned();
        return Err(if records_with_id(memory, &id)?.is_empty() {
            RecordError::NothingDeleted { id }
        } else {
            RecordError::NotDeleted { id }
        });
    };
    let wanted = path_from_id(id);
    let named = deleted.iter().find(|(path, _)| Some(path) == wanted.as_ref());
    let path = named.map_or(last, |(path, _)| path).clone();
    match memory.restore(who, Some(records_project().as_str()), path.as_str(), None)? {
        RestoreOutcome::Unchanged(..) => Err(RecordError::NotDeleted { id: id.to_owned() }),
        RestoreOutcome::Restored(restored) => {
            let place = NoteLocation { project: records_project(), path };
            let record = record_at(memory, &place)?;
            Ok(RestoredRecord { place, record, commit: restored.commit })
        }
    }
}

/// The records of a deletion that were restored.
#[derive(Clone, Debug)]
pub struct RestoredCommit {
    /// The restored files.
    pub places: Vec<NoteLocation>,
    /// Number of records that existed already.
    pub kept: usize,
    /// The commit.
    pub commit: Commit,
}

/// Restores everything that a commit deleted. Records that exist again are kept as they are.
pub fn restore_commit(memory: &Memory, who: &Author, id: &str) -> RecordResult<RestoredCommit> {
    let deletion = memory.commit(id)?;
    let project = records_project();
    if memory.snapshot()?.last_agent_purge()?.is_some_and(|purge| deletion.time <= purge) {
        return Err(RecordError::NothingDeleted { id: id.to_owned() });
    }
    let is_deletion =
        deletion.files.iter().all(|file| file.project == project && file.after.is_none());
    if !is_deletion {
        return Err(RecordError::NotADeletion { commit: id.to_owned() });
    }
    let mut contents = Vec::with_capacity(deletion.files.len());
    for file in &deletion.files {
        if let Some(hash) = file.before {
            let place = NoteLocation { project: project.clone(), path: file.path.clone() };
            contents.push((place, memory.store().content(hash)?));
        }
    }
    let mut places: Vec<NoteLocation> = Vec::new();
    let message = format!("undo {}", deletion.id);
    let outcome =
        memory.transact(who, Some(&message), |desk| -> RecordResult<Vec<FileOperation>> {
            places.clear();
            let mut steps = Vec::new();
            for (place, content) in &contents {
                if desk.bytes(place)?.is_none() {
                    steps.push(FileOperation::create(place.clone(), content.clone()));
                    places.push(place.clone());
                }
            }
            Ok(steps)
        })?;
    let TransactOutcome::Committed(commit) = outcome else {
        return Err(RecordError::AlreadyRestored { commit: id.to_owned() });
    };
    let kept = contents.len() - places.len();
    Ok(RestoredCommit { places, kept, commit })
}

/// A deleted record that can be restored.
#[derive(Clone, Debug)]
pub struct DeletedRecord {
    /// The file.
    pub place: NoteLocation,
    /// The kind.
    pub kind: RecordKind,
    /// Time of the deletion.
    pub time: Timestamp,
    /// The text without frontmatter.
    pub content: String,
}

/// Returns at most `limit` deleted records of visible scopes, the last deleted first, and about how
/// many more there are.
pub fn deleted_records(
    memory: &Memory,
    visible: &VisibleScopes,
    limit: usize,
) -> RecordResult<(Vec<DeletedRecord>, usize)> {
    let (mut found, mut more) = (Vec::new(), 0);
    for (path, time) in deleted_paths(memory, None)? {
        let Some(at) = RecordLocation::parse(&path) else { continue };
        let Some(scope) = visible.scopes.iter().find(|scope| scope.folder() == at.folder) else {
            continue;
        };
        if found.len() == limit {
            more += 1;
            continue;
        }
        let place = NoteLocation { project: records_project(), path };
        let revisions = memory.revisions(&place, 1)?;
        let before = revisions.first().and_then(|revision| revision.change.before);
        let Some(Ok(bytes)) = before.map(|hash| memory.store().content(hash)) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let note = memoranda_core::note::parse(&text);
        if !scope.owns(&json!({ "project": note.frontmatter.text("project") })) {
            continue;
        }
        let content = text.get(note.body).unwrap_or_default().to_owned();
        found.push(DeletedRecord { place, kind: at.kind, time, content });
    }
    Ok((found, more))
}

/// Returns the deleted records with the times of their deletion, the last deleted first. Those that an
/// agent purged are left out.
fn deleted_paths(memory: &Memory, id: Option<&str>) -> RecordResult<Vec<(NotePath, Timestamp)>> {
    let name = id.map(file_name_from_id);
    let mut deleted = memory.snapshot()?.deleted(&records_project(), name.as_deref())?;
    let purge = memory.snapshot()?.last_agent_purge()?;
    deleted.retain(|(path, time)| {
        RecordLocation::parse(path).is_some() && purge.is_none_or(|purge| *time > purge)
    });
    Ok(deleted)
}

/// The records that a purge concerned.
#[derive(Clone, Debug)]
pub struct PurgedRecords {
    /// Number of records.
    pub count: usize,
    /// Number of bytes by which the history shrank; `None` if the person can still restore them.
    pub bytes: Option<u64>,
}

/// Purges deleted records. After a purge by an agent no tool finds the record, and the person can
/// restore it for `keep_days` days. With 0 days, and for a person, the record leaves the history at
/// once.
pub fn purge_deleted(memory: &Memory, who: &Author, keep_days: u32) -> RecordResult<PurgedRecords> {
    let vacuum = |before: Timestamp| VacuumRequest {
        project: Some(records_project()),
        before,
        what: VacuumExtent::Deleted,
    };
    // Records that were purged before are not counted again.
    let count = deleted_paths(memory, None)?.len();
    if keep_days == 0 || !is_agent(who) {
        let report = memory.vacuum(who, &vacuum(Timestamp::MAX))?;
        return Ok(PurgedRecords { count, bytes: Some(report.bytes) });
    }
    if let Some(before) = expired_before(memory, keep_days)? {
        memory.vacuum(who, &vacuum(before))?;
    }
    if count > 0 {
        let days = counted(u64::from(keep_days), "day");
        let records = counted(count as u64, "deleted record");
        let message = format!("purged {records} for all tools; you can restore them for {days}");
        memory.record_purge(who, &message)?;
    }
    Ok(PurgedRecords { count, bytes: None })
}

/// Returns the time before which every deleted record was also purged by an agent, more than
/// `keep_days` days ago.
fn expired_before(memory: &Memory, keep_days: u32) -> RecordResult<Option<Timestamp>> {
    let age = SignedDuration::from_hours(24 * i64::from(keep_days));
    let limit = clock::now().saturating_sub(age).unwrap_or(Timestamp::MIN);
    let purge = memory.snapshot()?.last_agent_purge()?.filter(|purge| *purge < limit);
    let Some(purge) = purge else { return Ok(None) };
    let deleted = memory.snapshot()?.deleted(&records_project(), None)?;
    Ok(deleted.iter().any(|(_, time)| *time <= purge).then_some(purge))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_anywhere() {
        for (pattern, text, expected) in [
            ("npm", "Use pnpm, not npm", true),
            ("use*npm", "Use pnpm, not npm", true),
            ("p?pm", "Use pnpm", true),
            ("p?pm", "Use ppm", false),
            ("*", "", true),
            ("a*b*c", "xxaxxbxxcxx", true),
            ("a*b*c", "xxcxxbxxaxx", false),
            ("é?", "CAFÉS", true),
            ("100%_", "100%_ sure", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }
}
