//! Merging records that say the same: the newest stays, the others are marked as superseded. Records
//! that may contradict each other are reported and left alone, because only a person can decide.

use jiff::Zoned;
use memoranda_core::change::Commit;
use memoranda_core::note::MetaValue;

use super::error::{RecordError, RecordResult};
use super::kind::RecordKind;
use super::query::records_of_kind;
use super::record::{MemoryRecord, set_key};
use super::scope::RecordScope;
use super::similarity::{DuplicateGroup, SimilarRecords};
use crate::{Author, FileOperation, Memory, TransactOutcome};

/// Duplicates and conflicts among active records.
#[derive(Default)]
pub struct Consolidation {
    /// Number of compared records.
    pub compared: usize,
    /// Groups of records that say the same.
    pub groups: Vec<DuplicateGroup>,
    /// Pairs of records that may contradict each other, the newer first.
    pub conflicts: Vec<(MemoryRecord, MemoryRecord)>,
}

impl Consolidation {
    /// Returns the superseded records, each with the id of its successor.
    pub fn superseded(&self) -> Vec<(&MemoryRecord, &str)> {
        let groups = self.groups.iter();
        groups
            .flat_map(|group| group.older.iter().map(|old| (old, group.winner.id.as_str())))
            .collect()
    }
}

/// Finds duplicates and conflicts among the active records of each scope and kind.
pub fn find_duplicates(
    memory: &Memory,
    scopes: &[RecordScope],
    kinds: &[RecordKind],
    now: &Zoned,
) -> RecordResult<Consolidation> {
    let mut found = Consolidation::default();
    for scope in scopes {
        for kind in kinds {
            let mut records = records_of_kind(memory, scope, *kind)?;
            records.retain(|record| record.is_active(now));
            found.compared += records.len();
            let similar = SimilarRecords::new(records);
            found.groups.extend(similar.groups);
            found.conflicts.extend(similar.conflicts);
        }
    }
    Ok(found)
}

/// Marks a record as superseded by another one; `None` if nothing changed.
pub fn supersede_record(
    memory: &Memory,
    who: &Author,
    old: &MemoryRecord,
    by: &str,
) -> RecordResult<Option<Commit>> {
    let outcome = memory.transact(who, None, |desk| -> RecordResult<Vec<FileOperation>> {
        let Some((text, _)) = desk.text(&old.place)? else { return Ok(Vec::new()) };
        let text = set_key(&text, "superseded_by", MetaValue::Text(by.to_owned()))?;
        Ok(vec![FileOperation::put(old.place.clone(), text)])
    })?;
    match outcome {
        TransactOutcome::Committed(commit) => Ok(Some(commit)),
        TransactOutcome::Unchanged => Ok(None),
        TransactOutcome::Conflict(_) => Err(RecordError::RecordsChanged),
    }
}

/// Marks duplicates as superseded in one commit; `None` if nothing changed.
pub fn supersede_duplicates(
    memory: &Memory,
    who: &Author,
    found: &Consolidation,
) -> RecordResult<Option<Commit>> {
    let message = Some("consolidate memories");
    let outcome = memory.transact(who, message, |desk| -> RecordResult<Vec<FileOperation>> {
        let mut steps = Vec::new();
        for (old, by) in found.superseded() {
            if let Some((text, _)) = desk.text(&old.place)? {
                let text = set_key(&text, "superseded_by", MetaValue::Text(by.to_owned()))?;
                steps.push(FileOperation::put(old.place.clone(), text));
            }
        }
        Ok(steps)
    })?;
    match outcome {
        TransactOutcome::Committed(commit) => Ok(Some(commit)),
        TransactOutcome::Unchanged => Ok(None),
        TransactOutcome::Conflict(_) => Err(RecordError::RecordsChanged),
    }
}
