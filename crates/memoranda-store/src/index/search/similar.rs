//! Notes that are similar to a new one, by the words of its title. A fixed number of rows is read
//! for each word, so the time does not grow with the vault.

use std::collections::HashMap;

use memoranda_core::id::ProjectName;
use memoranda_core::note::permalink::slug;
use memoranda_core::path::NotePath;
use memoranda_core::query::{Query, TermKind, TermRequirement, edit_distance};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::Result;
use crate::index::extract::link_key;
use crate::index::fts5_query::term_expression;
use crate::index::project_id_of;
use crate::index::write::PASSAGES_PER_FILE;

/// Maximum number of words of a title that are looked up.
const MAX_WORDS: usize = 6;
/// Number of the newest passages with a word that are read.
const PASSAGES_PER_WORD: usize = 32;
/// Number of names before and behind the title in alphabetical order that are read.
const NAMES_PER_SIDE: i64 = 16;
/// Number of files whose titles are compared.
const COMPARED_FILES: usize = 12;
/// Weight of a word that more passages contain than are read.
const COMMON_WEIGHT: f64 = 1.0;
/// Weight of a title with the same words.
const TITLE_WEIGHT: f64 = 12.0;
/// Minimum score of a note: a rare word in its text, or words of the title in its own.
const MIN_SCORE: f64 = 4.0;

/// A note with words of a title.
#[derive(Clone, PartialEq, Debug)]
pub struct SimilarNote {
    /// The note.
    pub path: NotePath,
    /// Title.
    pub title: String,
    /// Permalink.
    pub permalink: String,
}

/// Finds notes of a project with words of a title, best first.
pub(crate) fn similar_notes(
    db: &Connection,
    project: &ProjectName,
    title: &str,
    limit: usize,
) -> Result<Vec<SimilarNote>> {
    let row = project_id_of(db, project)?;
    let mut scores: HashMap<i64, f64> = HashMap::new();
    for (file, weight) in by_words(db, title)?.into_iter().chain(by_name(db, row, title)?) {
        *scores.entry(file).or_default() += weight;
    }
    let mut best: Vec<(i64, f64)> = scores.into_iter().collect();
    best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    best.truncate(COMPARED_FILES);
    let mut select = db.prepare_cached(
        "SELECT path, title, permalink FROM files WHERE id = ? AND project = ? AND kind = 1",
    )?;
    let mut notes = Vec::new();
    for (file, score) in best {
        let found = select
            .query_row([file, row], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get(2)?))
            })
            .optional()?;
        let Some((path, other, permalink)) = found else { continue };
        let Ok(path) = NotePath::parse(&path) else { continue };
        let shared = title_overlap(title, &other);
        let score = score + TITLE_WEIGHT * shared;
        // A note that links to this name is not necessarily similar.
        if score >= MIN_SCORE && (shared > 0.0 || !links_to(db, file, title)?) {
            notes.push((score, SimilarNote { path, title: other, permalink }));
        }
    }
    notes.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(notes.into_iter().map(|(_, note)| note).take(limit).collect())
}

/// Returns the files of the newest passages with each word, with the weight of the word.
fn by_words(db: &Connection, title: &str) -> Result<Vec<(i64, f64)>> {
    let mut select = db.prepare_cached(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?",
    )?;
    let query = Query::parse(title);
    let terms = query
        .terms
        .iter()
        .filter(|term| term.kind == TermKind::Word && term.need != TermRequirement::Excluded);
    let mut found = Vec::new();
    for term in terms.take(MAX_WORDS) {
        let values = params![term_expression(term), PASSAGES_PER_WORD as i64];
        let passages = select.query_map(values, |row| row.get::<_, i64>(0))?;
        let mut files = passages.collect::<rusqlite::Result<Vec<_>>>()?;
        let weight = if files.len() < PASSAGES_PER_WORD {
            (1.0 + 200.0 / files.len().max(1) as f64).ln()
        } else {
            COMMON_WEIGHT
        };
        files.iter_mut().for_each(|passage| *passage /= PASSAGES_PER_FILE);
        files.dedup();
        found.extend(files.into_iter().map(|file| (file, weight)));
    }
    Ok(found)
}

/// Returns the files whose names are next to the title in alphabetical order: names that start with
/// the same words, and most misspelled ones.
fn by_name(db: &Connection, project: i64, title: &str) -> Result<Vec<(i64, f64)>> {
    let key = link_key(title);
    let mut found = Vec::new();
    for (compare, order) in [(">=", "ASC"), ("<", "DESC")] {
        let mut select = db.prepare_cached(&format!(
            "SELECT file, project FROM link_keys WHERE key {compare} ? ORDER BY key {order} LIMIT ?"
        ))?;
        let rows = select.query_map(params![key, NAMES_PER_SIDE], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })?;
        for row in rows {
            let (file, of) = row?;
            // A file has several names.
            if of == project && found.iter().all(|(known, _)| *known != file) {
                found.push((file, COMMON_WEIGHT));
            }
        }
    }
    Ok(found)
}

/// Returns the share of words that two titles have in common, misspelled ones included.
pub(crate) fn title_overlap(one: &str, other: &str) -> f64 {
    let (one, other) = (slug(one), slug(other));
    let words = |slug: &str| slug.split('-').filter(|word| !word.is_empty()).count();
    let is_like = |word: &str, own: &str| {
        word == own || max_slips(word) > 0 && edit_distance(word, own, max_slips(word)).is_some()
    };
    let is_shared = |word: &&str| {
        word.bytes().any(|byte| !byte.is_ascii_digit())
            && other.split('-').any(|own| is_like(word, own))
    };
    let shared = one.split('-').filter(is_shared).count();
    shared as f64 / words(&one).max(words(&other)).max(1) as f64
}

/// Returns the number of wrong letters with which a word still counts as the same.
fn max_slips(word: &str) -> usize {
    match word.len() {
        0..5 => 0,
        5..9 => 1,
        _ => 2,
    }
}

/// Returns true if a file links to a name.
fn links_to(db: &Connection, file: i64, name: &str) -> Result<bool> {
    let mut select = db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM relations WHERE file = ? AND target_key = ?)",
    )?;
    Ok(select.query_row(params![file, link_key(name)], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_share_words() {
        for (one, other, expected) in [
            ("Garden plan", "garden plan", 1.0),
            ("Garden plan", "Plan of the garden", 0.5),
            ("Garden plan", "Kitchen", 0.0),
            ("Day 12", "Month 12", 0.0),
            ("Kuberntes", "Kubernetes", 1.0),
            ("", "", 0.0),
        ] {
            assert!((title_overlap(one, other) - expected).abs() < 1e-9, "{one:?} {other:?}");
        }
    }
}
