//! Notes that may answer a question, with all that is needed to compare them: found by their
//! words, by what they mean, and by their names.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use memoranda_core::embed::{Meant, Sense};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::query::{Query, When};
use memoranda_core::rank::{AskedName, Candidate, CandidatePassage, TitleMatch};
use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, params_from_iter};

use super::caches::Caches;
use super::compare::{MAX_COMPARED, compare};
use super::condition::{Check, Condition};
use super::terms::{Correction, look_up};
use super::{Past, SearchFilter, named, tag_hits};
use crate::error::Result;
use crate::index::digest::Age;
use crate::index::passages::{IN_A_ROW, Kept, each, in_row};
use crate::index::vectors;
use crate::index::write::{PASSAGES_PER_FILE, first_passage};

/// So many passages that match are looked at for notes.
const PASSAGES_BY_WORDS: usize = 400;
/// So many passages are compared for each note that is wanted.
const PASSAGES_A_NOTE: i64 = 25;
/// The passages of a longer note are read only around those that were found.
const MAX_WHOLE: i64 = 400;

/// No zone is further from UTC; dates without a time of day lie at midnight there.
const MAX_ZONE: Duration = Duration::from_secs(14 * 3600);

/// What is asked of the index.
pub struct Question<'q> {
    /// The words as typed: a note may be called so.
    pub text: &'q str,
    /// The query.
    pub query: &'q Query,
    /// Where to look.
    pub filter: &'q SearchFilter,
    /// What the question means, if meaning counts.
    pub vector: Option<&'q Meant>,
    /// The model by which it means something beside the table, if that is not the table alone.
    pub model: Option<&'q str>,
    /// The time that it names, if any: notes of that time may answer whatever they say.
    pub when: Option<When>,
    /// How many notes a round looks for by their words, and half as many by their meaning.
    pub round: usize,
    /// How many notes are wanted: there are as many rounds as that takes, and what one finds does
    /// not depend on how many follow.
    pub wanted: usize,
}

/// What the index yields.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// The query as it was answered: words that no text holds may be read as others.
    pub query: Query,
    /// Which words those are.
    pub corrections: Vec<Correction>,
    /// How many passages hold each term of the query.
    pub holders: Vec<u64>,
    /// How many passages there are.
    pub passages: u64,
    /// The notes.
    pub notes: Vec<CandidateNote>,
    /// Whether only a part of what matches was compared.
    pub partial: bool,
}

/// A note that may answer.
#[derive(Clone, Debug)]
pub struct CandidateNote {
    /// The project.
    pub project: ProjectName,
    /// Its title.
    pub title: String,
    /// Its permalink.
    pub permalink: String,
    /// Its type.
    pub note_type: String,
    /// Its frontmatter, as JSON.
    pub metadata: String,
    /// What it is compared by; its number is that of the file in the index.
    pub compared: Candidate<i64>,
}

/// The notes that may answer.
pub(crate) fn candidates(
    db: &Connection,
    caches: &Caches<'_>,
    question: &Question<'_>,
) -> Result<Candidates> {
    let condition = Condition::new(question.query, question.filter);
    let most_compared = MAX_COMPARED.min(PASSAGES_A_NOTE * question.round as i64);
    let by_words = || {
        let known = look_up(db, question.query)?;
        let condition = condition.demanding(&known.query);
        let compared = compare(db, &known.query, &known.holders, &condition, most_compared)?;
        Ok((known, condition, compared))
    };
    let (mut near, by_words): (_, Result<_>) = match question.vector {
        Some(vector) if question.query.is_free() => {
            caches.nearest_beside(db, vector, &condition, by_words)?
        }
        _ => (Vec::new(), by_words()),
    };
    let (known, condition, compared) = by_words?;
    let mut chosen = Chosen::default();
    for file in named(db, question.text, &condition)? {
        chosen.add(first_passage(file), 0);
    }
    if question.query.is_empty() {
        let most = question.wanted.max(question.round);
        for (passage, ..) in tag_hits(db, &condition, question.query, question.filter, most)? {
            chosen.add(passage, 0);
        }
    }
    if let Some(when) = question.when {
        for file in of_time(db, when, &condition, question.round)? {
            chosen.add(first_passage(file), 0);
        }
    }
    let (best, partial) = compared.map_or_else(Default::default, |c| (c.best, c.partial));
    let best = best.get(..PASSAGES_BY_WORDS).unwrap_or(&best);
    let mut check = None;
    for round in 0.. {
        let before = chosen.files.len();
        let most = before + question.round;
        for &(passage, _) in best {
            if chosen.files.len() < most || chosen.is_of(passage, round) {
                chosen.add(passage, round);
            }
        }
        let most = chosen.files.len() + question.round.div_ceil(2);
        choose_by_meaning(db, (&condition, &mut check), &near, (most, round), &mut chosen)?;
        if let Some(vector) = question.vector
            && round == 0
            && chosen.files.len() < most
        {
            let there = caches.nearest_there(db, vector, &condition, &near)?;
            choose_by_meaning(db, (&condition, &mut check), &there, (most, round), &mut chosen)?;
            near.extend(there);
        }
        if chosen.files.len() == before || chosen.files.len() >= question.wanted {
            break;
        }
    }
    drop(check);
    let mut reader = Reader::new(db, caches, question)?;
    let mut notes = Vec::with_capacity(chosen.files.len());
    for &file in &chosen.files {
        if let Some(found) = chosen.found.get(&file) {
            notes.extend(reader.note(file, found)?);
        }
    }
    drop(reader);
    let passages = caches.table.passages(db, caches.index)?;
    Ok(Candidates {
        query: known.query,
        corrections: known.corrections,
        // A guess may be too high.
        holders: known.holders.into_iter().map(|held| held.min(passages)).collect(),
        passages,
        notes,
        partial,
    })
}

/// The newest notes that were made or changed in a span of time, at most so many of each.
fn of_time(db: &Connection, when: When, condition: &Condition, most: usize) -> Result<Vec<i64>> {
    let margin = MAX_ZONE.as_millis() as i64;
    let range = [when.from.as_millisecond() - margin, when.to.as_millisecond() + margin];
    let mut files = Vec::new();
    for column in ["f.updated_ms", "f.created_ms"] {
        let mut select = db.prepare_cached(&format!(
            "SELECT f.id, {column} FROM files f WHERE {} AND {column} >= ? AND {column} < ? \
             ORDER BY {column} DESC",
            condition.sql
        ))?;
        let values = condition.values.iter().cloned().chain(range.map(Value::Integer));
        let rows = select
            .query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
        let mut found = 0;
        for row in rows {
            let (file, ms) = row?;
            if when.holds(Timestamp::from_millisecond(ms).unwrap_or_default()) {
                files.push(file);
                found += 1;
            }
            if found == most {
                break;
            }
        }
    }
    Ok(files)
}

/// The files chosen so far, in the order in which they were found.
#[derive(Default)]
struct Chosen {
    files: Vec<i64>,
    found: HashMap<i64, FoundIn>,
}

/// What was found in a file.
struct FoundIn {
    round: usize,
    passages: Vec<i64>,
}

impl Chosen {
    /// Adds a passage; one of a file that an earlier round has chosen tells nothing new.
    fn add(&mut self, passage: i64, round: usize) {
        let file = passage / PASSAGES_PER_FILE;
        let files = &mut self.files;
        let found = self.found.entry(file).or_insert_with(|| {
            files.push(file);
            FoundIn { round, passages: Vec::new() }
        });
        if found.round == round {
            found.passages.push(passage);
        }
    }

    fn is_of(&self, passage: i64, round: usize) -> bool {
        let found = self.found.get(&(passage / PASSAGES_PER_FILE));
        found.is_some_and(|found| found.round == round)
    }
}

/// Adds the notes of the nearest passages that fit, until so many are chosen. The check is made
/// when there is something to be checked: for some conditions it is dear.
fn choose_by_meaning<'c>(
    db: &'c Connection,
    (condition, check): (&Condition, &mut Option<Check<'c>>),
    near: &[(i64, f32)],
    (most, round): (usize, usize),
    chosen: &mut Chosen,
) -> Result<()> {
    if near.is_empty() {
        return Ok(());
    }
    let check = match check {
        Some(check) => check,
        None => check.insert(condition.check(db)?),
    };
    for &(passage, _) in near {
        if chosen.files.len() >= most {
            break;
        }
        if check.fits(passage / PASSAGES_PER_FILE)? {
            chosen.add(passage, round);
        }
    }
    Ok(())
}

/// Reads notes that were chosen, one after the other.
struct Reader<'r> {
    db: &'r Connection,
    caches: &'r Caches<'r>,
    question: &'r Question<'r>,
    asked: AskedName,
    /// Where the vectors of notes are; nowhere if meaning does not count.
    vectors: Option<vectors::Kept>,
    select: CachedStatement<'r>,
}

impl<'r> Reader<'r> {
    fn new(db: &'r Connection, caches: &'r Caches<'r>, question: &'r Question<'r>) -> Result<Self> {
        let select = db.prepare_cached(&format!(
            "SELECT f.path, r.name, f.title, f.permalink, f.note_type, f.created_ms, \
             f.updated_ms, f.metadata, p.importance, p.tags, p.data \
             FROM files f CROSS JOIN projects r ON r.id = f.project \
             CROSS JOIN passages p ON p.id = f.id * {PASSAGES_PER_FILE} WHERE f.id = ?"
        ))?;
        let asked = AskedName::new(question.text, question.query);
        let place = question.vector.map(|_| caches.table.place(db, caches.index));
        Ok(Self { db, caches, question, asked, vectors: place.transpose()?, select })
    }

    fn note(&mut self, file: i64, found: &FoundIn) -> Result<Option<CandidateNote>> {
        let Self { db, caches, question, asked, vectors, select } = self;
        let senses = vectors.map(|kept| caches.senses(db, kept, file)).transpose()?;
        let mut rows = select.query([file])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let text =
            |column| -> Result<&str> { Ok(row.get_ref(column)?.as_str().unwrap_or_default()) };
        let (Ok(path), Ok(project)) = (NotePath::parse(text(0)?), ProjectName::parse(text(1)?))
        else {
            return Ok(None);
        };
        let time = |ms: i64| Timestamp::from_millisecond(ms).unwrap_or_default();
        let (title, permalink) = (text(2)?.to_owned(), text(3)?.to_owned());
        let names = [title.as_str(), &permalink, path.stem()].map(|name| asked.matches(name));
        let first = row.get_ref(10)?.as_blob().unwrap_or_default();
        let senses = senses.unwrap_or_default();
        let passages = passages(db, question, (file, first), senses, &found.passages)?;
        let note = CandidateNote {
            note_type: text(4)?.to_owned(),
            metadata: text(7)?.to_owned(),
            compared: Candidate {
                note: file,
                round: found.round,
                name: format!("{title} {}", text(9)?),
                path,
                title_match: names.into_iter().max().unwrap_or(TitleMatch::None),
                created: time(row.get(5)?),
                updated: time(row.get(6)?),
                importance: row.get(8)?,
                passages,
            },
            project,
            title,
            permalink,
        };
        Ok(Some(note).filter(|note| !note.compared.passages.is_empty()))
    }
}

/// The passages of a note, or of a long one those around what was found. The row with the first of
/// them has been read already.
fn passages(
    db: &Connection,
    question: &Question<'_>,
    (file, row): (i64, &[u8]),
    mut senses: Vec<Option<Sense>>,
    found: &[i64],
) -> Result<Vec<CandidatePassage>> {
    let first = first_passage(file);
    let in_first_row = in_row(first, row).count();
    let mut passages = Vec::with_capacity(in_first_row);
    let mut take = |kept: Kept<'_>| {
        if kept.age == Age::Current || question.filter.past == Past::Include {
            passages.push(CandidatePassage {
                id: kept.id as u64,
                heading: kept.heading.to_owned(),
                lines: kept.lines,
                text: kept.text.to_owned(),
                cut: kept.cut(),
                vector: senses.get_mut((kept.id - first) as usize).and_then(Option::take),
            });
        }
    };
    if in_first_row < IN_A_ROW as usize {
        in_row(first, row).for_each(&mut take);
        return Ok(passages);
    }
    // What is demanded of a note may stand anywhere in it.
    let is_cut = !question.query.is_demanding() && vectors::count_of(db, file)? > MAX_WHOLE;
    let near = match is_cut {
        false => vec![(first, first + PASSAGES_PER_FILE - 1)],
        true => {
            let near = found.iter().map(|&hit| (hit.max(first + 1) - 1, hit + 1));
            let mut near: Vec<_> = near.chain([(first, first)]).collect();
            near.sort_unstable();
            near
        }
    };
    let ranges = near.into_iter().fold(Vec::new(), |mut ranges: Vec<(i64, i64)>, (from, to)| {
        match ranges.last_mut() {
            Some(open) if from <= open.1 + 1 => open.1 = open.1.max(to),
            _ => ranges.push((from, to)),
        }
        ranges
    });
    for (from, to) in ranges {
        each(db, from..=to, &mut take)?;
    }
    Ok(passages)
}
