//! Notes that may answer a question, with all that is needed to compare them: found by their
//! words, by what they mean, and by their names.

use std::collections::HashMap;

use jiff::Timestamp;
use memoranda_core::embed::{Meant, Sense};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_core::rank::TitleMatch;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::caches::Caches;
use super::compare::{MAX_COMPARED, compare};
use super::condition::Condition;
use super::terms::{Correction, look_up};
use super::{Past, SearchFilter, named, tag_hits};
use crate::error::Result;
use crate::index::write::{PASSAGES_PER_FILE, first_passage};

/// So many passages that match are looked at for notes.
const PASSAGES_BY_WORDS: usize = 400;
/// So many passages are compared for each note that is wanted.
const PASSAGES_A_NOTE: i64 = 50;
/// The passages of a longer note are read only around those that were found.
const MAX_WHOLE: i64 = 400;

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
    /// About how many notes are wanted.
    pub notes: usize,
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
    /// The file's number in the index.
    pub file: i64,
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// Its title.
    pub title: String,
    /// Its permalink.
    pub permalink: String,
    /// Its type.
    pub note_type: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
    /// How much its weightiest current fact matters.
    pub importance: Option<f64>,
    /// How well its name matches.
    pub title_match: TitleMatch,
    /// Its passages, in order.
    pub passages: Vec<CandidatePassage>,
}

/// A passage of such a note.
#[derive(Clone, Debug)]
pub struct CandidatePassage {
    /// The passage's number in the index.
    pub passage: i64,
    /// The headings above it.
    pub heading: String,
    /// Its first and last line.
    pub lines: (usize, usize),
    /// Its text.
    pub text: String,
    /// What it means.
    pub vector: Option<Sense>,
}

/// The notes that may answer.
pub(crate) fn candidates(
    db: &Connection,
    caches: &Caches<'_>,
    question: &Question<'_>,
) -> Result<Candidates> {
    let condition = Condition::new(question.query, question.filter);
    let most_compared = MAX_COMPARED.min(PASSAGES_A_NOTE * question.notes as i64);
    let by_words = || {
        let known = look_up(db, question.query)?;
        let compared = compare(db, &known.query, &known.holders, &condition, most_compared)?;
        Ok((known, compared))
    };
    let (near, by_words): (_, Result<_>) = match question.vector {
        Some(vector) if question.query.is_free() => {
            caches.nearest_beside(db, vector, &condition, by_words)?
        }
        _ => (Vec::new(), by_words()),
    };
    let (known, compared) = by_words?;
    let mut chosen = Chosen::default();
    let mut partial = false;
    for file in named(db, question.text, &condition)? {
        chosen.add(first_passage(file));
    }
    if question.query.is_empty() {
        for (passage, ..) in
            tag_hits(db, &condition, question.query, question.filter, question.notes)?
        {
            chosen.add(passage);
        }
    }
    if let Some(compared) = compared {
        partial = compared.partial;
        let most = chosen.files.len() + question.notes;
        for &(passage, _) in compared.best.iter().take(PASSAGES_BY_WORDS) {
            if chosen.files.len() < most || chosen.holds(passage) {
                chosen.add(passage);
            }
        }
    }
    let most = chosen.files.len() + question.notes.div_ceil(2);
    choose_by_meaning(db, &condition, &near, most, &mut chosen)?;
    if let Some(vector) = question.vector
        && chosen.files.len() < most
    {
        let near = caches.nearest_there(db, vector, &condition, &near)?;
        choose_by_meaning(db, &condition, &near, most, &mut chosen)?;
    }
    let mut notes = Vec::with_capacity(chosen.files.len());
    for &file in &chosen.files {
        let hits = chosen.passages.get(&file).map_or(&[][..], Vec::as_slice);
        notes.extend(note(db, caches, question, file, hits)?);
    }
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

/// The files chosen so far, in the order in which they were found, with what was found in them.
#[derive(Default)]
struct Chosen {
    files: Vec<i64>,
    passages: HashMap<i64, Vec<i64>>,
}

impl Chosen {
    fn add(&mut self, passage: i64) {
        let file = passage / PASSAGES_PER_FILE;
        let files = &mut self.files;
        let found = self.passages.entry(file).or_insert_with(|| {
            files.push(file);
            Vec::new()
        });
        found.push(passage);
    }

    fn holds(&self, passage: i64) -> bool {
        self.passages.contains_key(&(passage / PASSAGES_PER_FILE))
    }
}

/// Adds the notes of the nearest passages that fit.
fn choose_by_meaning(
    db: &Connection,
    condition: &Condition,
    near: &[(i64, f32)],
    most: usize,
    chosen: &mut Chosen,
) -> Result<()> {
    let mut check = condition.check(db)?;
    for &(passage, _) in near {
        if chosen.files.len() >= most {
            break;
        }
        if check.fits(passage / PASSAGES_PER_FILE)? {
            chosen.add(passage);
        }
    }
    Ok(())
}

fn note(
    db: &Connection,
    caches: &Caches<'_>,
    question: &Question<'_>,
    file: i64,
    hits: &[i64],
) -> Result<Option<CandidateNote>> {
    let mut select = db.prepare_cached(
        "SELECT f.path, r.name, f.title, f.permalink, f.note_type, f.created_ms, f.updated_ms, \
         (SELECT max(o.importance) FROM observations o WHERE o.file = f.id AND o.struck = 0) \
         FROM files f JOIN projects r ON r.id = f.project WHERE f.id = ?",
    )?;
    let found = select
        .query_row([file], |row| {
            let path = NotePath::parse(&row.get::<_, String>(0)?);
            let project = ProjectName::parse(&row.get::<_, String>(1)?);
            let (Ok(path), Ok(project)) = (path, project) else { return Ok(None) };
            let time = |ms: i64| Timestamp::from_millisecond(ms).unwrap_or_default();
            let (title, permalink): (String, String) = (row.get(2)?, row.get(3)?);
            let matches = |name: &str| TitleMatch::of(question.text, question.query, name);
            let title_match = matches(&title).max(matches(&permalink)).max(matches(path.stem()));
            Ok(Some(CandidateNote {
                file,
                project,
                path,
                title,
                permalink,
                note_type: row.get(4)?,
                tags: Vec::new(),
                created: time(row.get(5)?),
                updated: time(row.get(6)?),
                importance: row.get(7)?,
                title_match,
                passages: Vec::new(),
            }))
        })
        .optional()?
        .flatten();
    let Some(mut note) = found else { return Ok(None) };
    let mut tags = db.prepare_cached("SELECT tag FROM tags WHERE file = ?")?;
    note.tags =
        tags.query_map([file], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    note.passages = passages(db, caches, question, file, hits)?;
    Ok(Some(note).filter(|note| !note.passages.is_empty()))
}

/// The passages of a note, or of a long one those around what was found.
fn passages(
    db: &Connection,
    caches: &Caches<'_>,
    question: &Question<'_>,
    file: i64,
    hits: &[i64],
) -> Result<Vec<CandidatePassage>> {
    let first = first_passage(file);
    let last: i64 = db
        .prepare_cached("SELECT coalesce(max(id), 0) FROM passages WHERE id BETWEEN ? AND ?")?
        .query_row(params![first, first + PASSAGES_PER_FILE - 1], |row| row.get(0))?;
    let mut ranges = vec![(first, last)];
    if last - first >= MAX_WHOLE {
        let mut near: Vec<_> = hits.iter().map(|&hit| (hit.max(first + 1) - 1, hit + 1)).collect();
        near.push((first, first));
        near.sort_unstable();
        ranges = near.into_iter().fold(Vec::new(), |mut ranges: Vec<(i64, i64)>, (from, to)| {
            match ranges.last_mut() {
                Some(open) if from <= open.1 + 1 => open.1 = open.1.max(to),
                _ => ranges.push((from, to)),
            }
            ranges
        });
    }
    let vectors = match question.vector {
        Some(_) => caches.senses(db, file)?,
        None => Vec::new(),
    };
    let mut select = db.prepare_cached(
        "SELECT id, heading, first_line, last_line, text FROM passages \
         WHERE id BETWEEN ?1 AND ?2 AND is_past <= ?3 ORDER BY id",
    )?;
    let most_past = i64::from(question.filter.past == Past::Include);
    let mut passages = Vec::new();
    for (from, to) in ranges {
        let rows = select.query_map(params![from, to, most_past], |row| {
            let passage: i64 = row.get(0)?;
            Ok(CandidatePassage {
                passage,
                heading: row.get(1)?,
                lines: (row.get::<_, i64>(2)? as usize, row.get::<_, i64>(3)? as usize),
                text: row.get(4)?,
                vector: vectors.get((passage - first) as usize).cloned().flatten(),
            })
        })?;
        for passage in rows {
            passages.push(passage?);
        }
    }
    Ok(passages)
}
