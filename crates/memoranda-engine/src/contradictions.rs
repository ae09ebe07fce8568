//! Contradictions: pairs of statements in force that cannot both hold. A person decides which holds.

use std::collections::{BTreeMap, HashSet};

use jiff::{Timestamp, Zoned};
use memoranda_core::change::Commit;
use memoranda_core::fact::{FactContradiction, find_contradictions, find_opposed_statements};
use memoranda_core::id::{ObservationId, ProjectName};
use memoranda_core::note::edit::{NoteEdit, ObservationRef, apply_edit};
use memoranda_core::note::{self, Observation};
use memoranda_store::{FactFilter, WorkItem, hash};

use crate::records::{
    MemoryRecord, RecordKind, RecordResult, SimilarRecords, known_scopes, records_of_kind,
    records_project, single_line, supersede_record,
};
use crate::{Author, FileOperation, Memory, NoteLocation, TransactOutcome};

/// Maximum number of facts of one note that are compared. More are a list.
const MAX_FACTS: usize = 300;
/// Maximum length of a title that is the beginning of a record, in characters.
const TITLE_CHARS: usize = 60;
/// Kinds of records that state something.
const KINDS: [RecordKind; 3] = [RecordKind::Rule, RecordKind::Decision, RecordKind::Fact];

/// One side of a contradiction.
#[derive(Clone, Debug)]
pub struct OpposedStatement {
    /// The file.
    pub place: NoteLocation,
    /// Title of the note, or the beginning of the record.
    pub title: String,
    /// Line of the fact, from 1; `None` for a record.
    pub line: Option<usize>,
    /// Category of the fact, or kind of the record.
    pub category: Option<String>,
    /// The statement.
    pub text: String,
    /// Time at which it was written, if it is stated.
    pub time: Option<Timestamp>,
    source: StatementSource,
}

#[derive(Clone, Debug)]
enum StatementSource {
    Fact(Option<ObservationId>),
    Record(Box<MemoryRecord>),
}

/// Two statements in force that cannot both hold.
#[derive(Clone, Debug)]
pub struct StatementContradiction {
    /// Identifies the pair by its places and texts: other words are another pair.
    pub id: String,
    /// The newer statement.
    pub newer: OpposedStatement,
    /// The older statement.
    pub older: OpposedStatement,
    /// Explanation for the user.
    pub reason: String,
}

/// The statement of a contradiction that holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HoldingStatement {
    /// The newer one.
    Newer,
    /// The older one.
    Older,
}

/// Result of a decision.
#[derive(Clone, Debug)]
pub enum SettleOutcome {
    /// The other statement is marked as superseded.
    Settled(Option<Commit>),
    /// The contradiction no longer exists.
    Gone,
}

/// Finds contradictions between facts of the same note, and between records of the same scope.
pub fn find_statement_contradictions(
    memory: &Memory,
    project: Option<&ProjectName>,
    now: &Zoned,
) -> RecordResult<Vec<StatementContradiction>> {
    let mut found = fact_contradictions(memory, project)?;
    if project.is_none_or(|project| *project == records_project()) {
        found.extend(record_contradictions(memory, now)?);
    }
    Ok(found)
}

/// Marks the other statement of a contradiction as superseded.
pub fn settle_contradiction(
    memory: &Memory,
    who: &Author,
    id: &str,
    holds: HoldingStatement,
    now: &Zoned,
) -> RecordResult<SettleOutcome> {
    let all = find_statement_contradictions(memory, None, now)?;
    let Some(pair) = all.into_iter().find(|pair| pair.id == id) else {
        return Ok(SettleOutcome::Gone);
    };
    let (winner, loser) = match holds {
        HoldingStatement::Newer => (pair.newer, pair.older),
        HoldingStatement::Older => (pair.older, pair.newer),
    };
    match (&winner.source, &loser.source) {
        (StatementSource::Record(winner), StatementSource::Record(loser)) => {
            Ok(SettleOutcome::Settled(supersede_record(memory, who, loser, &winner.id)?))
        }
        (StatementSource::Fact(by), _) => strike_fact(memory, who, &loser, by.as_ref()),
        (StatementSource::Record(_), StatementSource::Fact(_)) => Ok(SettleOutcome::Gone),
    }
}

fn strike_fact(
    memory: &Memory,
    who: &Author,
    loser: &OpposedStatement,
    by: Option<&ObservationId>,
) -> RecordResult<SettleOutcome> {
    let Some(line) = loser.line else { return Ok(SettleOutcome::Gone) };
    let outcome = memory.transact(who, None, |desk| -> RecordResult<Vec<FileOperation>> {
        let Some((text, _)) = desk.text(&loser.place)? else { return Ok(Vec::new()) };
        // Another write may have moved the lines since the pair was found.
        let is_there = |fact: &Observation| fact.line == line && fact.text == loser.text;
        if !note::parse(&text).observations.iter().any(is_there) {
            return Ok(Vec::new());
        }
        let edit = NoteEdit::StrikeObservation {
            observation: ObservationRef::Line(line),
            by: by.cloned(),
        };
        let text = apply_edit(&text, &edit)?;
        Ok(vec![FileOperation::put(loser.place.clone(), text)])
    })?;
    Ok(match outcome {
        TransactOutcome::Committed(commit) => SettleOutcome::Settled(Some(commit)),
        TransactOutcome::Unchanged | TransactOutcome::Conflict(_) => SettleOutcome::Gone,
    })
}

fn fact_contradictions(
    memory: &Memory,
    project: Option<&ProjectName>,
) -> RecordResult<Vec<StatementContradiction>> {
    let filter = FactFilter { project: project.cloned(), ..FactFilter::default() };
    let facts = memory.snapshot()?.fact_list(&filter, (i64::MAX as usize, 0))?;
    let mut by_note: BTreeMap<i64, Vec<&WorkItem>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.project != records_project()) {
        by_note.entry(fact.file).or_default().push(fact);
    }
    let mut found = Vec::new();
    for facts in by_note.values().filter(|facts| (2..=MAX_FACTS).contains(&facts.len())) {
        let texts: Vec<&str> = facts.iter().map(|fact| fact.detail.as_str()).collect();
        let pairs = find_contradictions(&texts);
        let Some(first) = facts.first().filter(|_| !pairs.is_empty()) else { continue };
        let place = NoteLocation::new(&first.project, first.path.clone());
        let Ok(read) = memory.read_at(&place) else { continue };
        let observations = note::parse(&read.lossy_text()).observations;
        // Facts without a stated time are as old as the commit that wrote their line.
        let blame = memory.blame(&place, None).map(|blame| blame.runs).unwrap_or_default();
        let written = |line: usize| {
            let run = blame
                .iter()
                .find(|run| (run.first_line..run.first_line + run.lines).contains(&line));
            run.map(|run| run.commit.time)
        };
        let statement = |at: usize| {
            let item = facts.get(at)?;
            let fact = observations
                .iter()
                .find(|fact| Some(fact.line) == item.line && fact.text == item.detail)?;
            let meta = fact.meta.as_ref();
            Some(OpposedStatement {
                place: place.clone(),
                title: item.title.clone(),
                line: item.line,
                category: fact.category.clone(),
                text: fact.text.clone(),
                time: meta.and_then(|meta| meta.time).or_else(|| written(fact.line)),
                source: StatementSource::Fact(meta.map(|meta| meta.id.clone())),
            })
        };
        found.extend(pairs.iter().filter_map(|pair| contradiction(pair, &statement)));
    }
    Ok(found)
}

fn record_contradictions(
    memory: &Memory,
    now: &Zoned,
) -> RecordResult<Vec<StatementContradiction>> {
    let mut found = Vec::new();
    for scope in known_scopes(memory)? {
        let mut records = Vec::new();
        for kind in KINDS {
            records.extend(records_of_kind(memory, &scope, kind)?);
        }
        records.retain(|record| record.is_active(now));
        records.sort_by(MemoryRecord::newest_first);
        let texts: Vec<&str> = records.iter().map(|record| record.content.as_str()).collect();
        let mut pairs = find_opposed_statements(&texts);
        let mut known: HashSet<(usize, usize)> =
            pairs.iter().map(|pair| (pair.first, pair.second)).collect();
        let at = |record: &MemoryRecord| records.iter().position(|known| known.id == record.id);
        let similar = SimilarRecords::new(records.clone());
        let conflicts = similar.conflicts.iter().map(|pair| (pair, "the words deny each other"));
        let values = similar.other_values.iter().map(|pair| (pair, "another value of the same"));
        for ((newer, older), reason) in conflicts.chain(values) {
            if let (Some(first), Some(second)) = (at(newer), at(older))
                && known.insert((first, second))
            {
                pairs.push(FactContradiction { first, second, reason: reason.to_owned() });
            }
        }
        let statement = |at: usize| {
            let record = records.get(at)?;
            Some(OpposedStatement {
                place: record.place.clone(),
                title: single_line(&record.content, TITLE_CHARS),
                line: None,
                category: Some(record.kind.as_str().to_owned()),
                text: record.content.trim().to_owned(),
                time: Some(record.updated),
                source: StatementSource::Record(Box::new(record.clone())),
            })
        };
        found.extend(pairs.iter().filter_map(|pair| contradiction(pair, &statement)));
    }
    Ok(found)
}

fn contradiction(
    pair: &FactContradiction,
    statement: &dyn Fn(usize) -> Option<OpposedStatement>,
) -> Option<StatementContradiction> {
    let (first, second) = (statement(pair.first)?, statement(pair.second)?);
    let (newer, older) = if first.time < second.time { (second, first) } else { (first, second) };
    let key = [&newer, &older].map(|side| format!("{}\n{}\n", side.place, side.text)).concat();
    let id = hash(key.as_bytes()).to_string().chars().take(16).collect();
    Some(StatementContradiction { id, newer, older, reason: pair.reason.clone() })
}
