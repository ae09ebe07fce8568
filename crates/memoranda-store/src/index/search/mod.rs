//! Search: passages with the words of a query, passages of similar meaning, and notes with its
//! name.

mod bm25;
mod caches;
mod candidate_batches;
mod candidate_loader;
mod candidates;
mod filter_sql;
mod hydrate;
mod note_cache;
mod postings;
mod scope;
mod scope_words;
mod similar;
mod term_stats;
mod text_match;
mod word_forms;

use std::collections::HashMap;

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::query::{MetaFilter, Query};
use memoranda_core::rank::{TitleMatch, TitleQuery};
use memoranda_core::tokenize::{index_text, tokenize};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::extract::link_key;
use super::passages;
use super::write::{PASSAGES_PER_FILE, first_passage};
use crate::commit::unindexed::UnindexedFile;
use crate::error::Result;
use crate::snapshot::Snapshot;
use filter_sql::PassageScore;
use text_match::{MAX_COMPARED, TextSearch};

pub(super) use filter_sql::{FilterSql, NO_CATEGORY, has_tag};
pub(super) use scope::SearchScope;

pub(crate) use caches::SearchCaches;
pub use candidate_batches::CandidateBatches;
pub use candidates::{CandidateQuery, CandidateSet};
pub use hydrate::{NoteDisplay, PassageDisplay, SearchReader};
pub(crate) use note_cache::NoteCache;
pub(crate) use scope::ScopeCache;
pub use similar::SimilarNote;
pub(crate) use similar::{similar_notes, title_overlap};
pub use term_stats::TermCorrection;

/// Restricts the notes that a search finds.
#[derive(Clone, Debug, Default)]
pub struct SearchFilter {
    /// Only these projects; all if empty.
    pub projects: Vec<ProjectName>,
    /// Only notes at or below this folder.
    pub folder: Option<NotePath>,
    /// Only notes at or below one of these folders, or in one of `nested_folders`; anywhere if both are
    /// empty.
    pub folders: Vec<NotePath>,
    /// Further folders, in every folder directly below another one.
    pub nested_folders: Vec<NestedFolder>,
    /// Only notes of these types.
    pub note_types: Vec<String>,
    /// Only notes with all these tags, in addition to those in the query.
    pub tags: Vec<String>,
    /// Only notes with a current fact in one of these categories. A fact without category has the
    /// category `note`.
    pub categories: Vec<String>,
    /// Only notes with a current fact of at least this importance.
    pub min_importance: Option<f64>,
    /// Only notes changed since then.
    pub after: Option<Timestamp>,
    /// Only notes changed until then.
    pub before: Option<Timestamp>,
    /// Only notes whose frontmatter matches.
    pub metadata: Vec<MetaFilter>,
    /// Treatment of facts that no longer hold.
    pub superseded: Superseded,
}

/// The folders of one name in all folders directly below another one, such as `projects/*/rule`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedFolder {
    /// The folder above, such as `projects`.
    pub above: NotePath,
    /// The name, such as `rule`.
    pub name: String,
}

/// A passage that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// The file's number in the index, to group passages by.
    pub file: i64,
    /// The passage's number in the index.
    pub passage: i64,
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// Title.
    pub title: String,
    /// Permalink.
    pub permalink: String,
    /// Note type.
    pub note_type: String,
    /// Time of the last change.
    pub updated: Timestamp,
    /// The headings above the passage.
    pub heading: String,
    /// First and last line.
    pub lines: (usize, usize),
    /// BM25 score, higher is better.
    pub bm25: f64,
    /// Match of the query with the note's name.
    pub title_match: TitleMatch,
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchHits {
    /// The best passages, best first.
    pub hits: Vec<SearchHit>,
    /// True if more passages match than were compared.
    pub partial: bool,
}

/// Treatment of facts that no longer hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Superseded {
    /// Exclude facts that were struck out or superseded.
    #[default]
    Exclude,
    /// Include them.
    Include,
}

impl Snapshot<'_> {
    /// Returns the best matching passages, at most `limit`.
    pub fn search(
        &self,
        text: &str,
        query: &Query,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<SearchHits> {
        self.query(|db| {
            let condition = FilterSql::new(query, filter);
            let mut found = Vec::new();
            let mut partial = false;
            if query.is_empty() {
                let found = tag_hits(db, &condition, query, filter, limit)?;
                return hits(db, query, text, found, partial);
            }
            let scope = SearchScope::read(db, &FilterSql::new(&Query::default(), filter))?;
            let known = term_stats::look_up_terms(db, query, &scope)?;
            let condition = condition.with_required_terms(&known.query);
            let words = TextSearch {
                db,
                caches: None,
                known: &known,
                scope: &scope,
                condition: &condition,
            };
            if let Some(compared) = words.best_passages(MAX_COMPARED)? {
                partial = compared.partial;
                let best = compared.best.into_iter().take(limit);
                found = best
                    .map(|(passage, score)| (passage, score, passage / PASSAGES_PER_FILE))
                    .collect();
            }
            for file in named(db, text, &condition)? {
                if !found.iter().any(|(_, _, of)| *of == file) {
                    found.extend(condition.first_passage(db, file)?);
                }
            }
            hits(db, query, text, found, partial)
        })
    }
}

/// Returns the newest notes with the given tags, for a query without words.
fn tag_hits(
    db: &Connection,
    condition: &FilterSql,
    query: &Query,
    filter: &SearchFilter,
    limit: usize,
) -> Result<Vec<PassageScore>> {
    let one = |tag: &String| {
        let text = index_text(tag.trim_start_matches('#'));
        // An emoji can be a tag without being a word.
        let has_words = tokenize(&text).next().is_some();
        has_words.then(|| format!("tags : \"{}\"", text.replace('\0', " ").replace('"', "\"\"")))
    };
    let any = |tags: &[String]| {
        let tags = tags.iter().map(one).collect::<Option<Vec<_>>>();
        tags.map(|tags| format!("({})", tags.join(" OR ")))
    };
    let asked = query.tags.iter().map(Vec::as_slice).chain(filter.tags.chunks(1));
    let words: Vec<String> = asked.clone().filter_map(any).collect();
    match asked.count() {
        0 => Ok(Vec::new()),
        _ => condition.newest(db, words.join(" AND "), limit),
    }
}

/// Returns the notes whose title, permalink or file name is the whole query.
fn named(db: &Connection, text: &str, condition: &FilterSql) -> Result<Vec<i64>> {
    let key = link_key(text.trim());
    if key.is_empty() || key.len() > 200 {
        return Ok(Vec::new());
    }
    let values = std::iter::once(Value::Text(key)).chain(condition.values.iter().cloned());
    let mut query = db.prepare_cached(&named_sql(condition))?;
    let rows = query.query_map(params_from_iter(values), |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// `CROSS JOIN` makes SQLite start with the name, which few notes share, not with all files of a
/// folder.
fn named_sql(condition: &FilterSql) -> String {
    format!(
        "SELECT DISTINCT f.id FROM link_keys k CROSS JOIN files f ON f.id = k.file \
         WHERE k.key = ? AND {} ORDER BY length(f.path), f.path LIMIT 20",
        condition.sql
    )
}

fn hits(
    db: &Connection,
    query: &Query,
    text: &str,
    found: Vec<PassageScore>,
    partial: bool,
) -> Result<SearchHits> {
    let mut select = db.prepare_cached(
        "SELECT f.path, r.name, f.title, f.permalink, f.note_type, f.updated_ms FROM files f \
         JOIN projects r ON r.id = f.project WHERE f.id = ?",
    )?;
    let asked = TitleQuery::new(text, query);
    let mut hits = Vec::with_capacity(found.len());
    let mut matches: HashMap<i64, TitleMatch> = HashMap::new();
    for (passage, bm25, file) in found {
        let place = passages::one(db, passage, |kept| (kept.heading.to_owned(), kept.lines))?;
        let Some((heading, lines)) = place else { continue };
        let hit = select.query_row([file], |row| {
            let path = NotePath::parse(&row.get::<_, String>(0)?);
            let project = ProjectName::parse(&row.get::<_, String>(1)?);
            let (Ok(path), Ok(project)) = (path, project) else { return Ok(None) };
            let title: String = row.get(2)?;
            let permalink: String = row.get(3)?;
            let title_match = *matches.entry(file).or_insert_with(|| {
                let names = [title.as_str(), &permalink, path.stem()];
                names.map(|name| asked.matches(name)).into_iter().max().unwrap_or(TitleMatch::None)
            });
            Ok(Some(SearchHit {
                file,
                passage,
                project,
                path,
                title,
                permalink,
                note_type: row.get(4)?,
                updated: Timestamp::from_millisecond(row.get(5)?).unwrap_or_default(),
                heading,
                lines,
                bm25,
                title_match,
            }))
        })?;
        hits.extend(hit);
    }
    Ok(SearchHits { hits, partial })
}

impl Snapshot<'_> {
    /// Returns the texts of short files without their frontmatter; `None` for a longer file, which
    /// has to be read.
    pub fn bodies(&self, files: &[i64]) -> Result<Vec<Option<String>>> {
        let concerns = |pending: &UnindexedFile| files.iter().any(|file| pending.is_row(*file));
        self.query_about(concerns, |db| files.iter().map(|file| body(db, *file)).collect())
    }
}

/// Returns the text of a short file without its frontmatter: its only passage. `None` if it has
/// several, because the index does not contain the text between them.
fn body(db: &Connection, file: i64) -> Result<Option<String>> {
    let first = first_passage(file);
    let mut texts = Vec::new();
    passages::each(db, first..=first + 1, |kept| texts.push(kept.text.to_owned()))?;
    Ok(match texts.len() {
        0 => Some(String::new()),
        1 => texts.pop(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn a_name_is_looked_up_before_the_folder_it_may_lie_in() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("../schema.sql")).unwrap();
        let filter = SearchFilter {
            projects: vec![ProjectName::parse("graph").unwrap()],
            folder: NotePath::parse("thread").ok(),
            ..SearchFilter::default()
        };
        let condition = FilterSql::new(&Query::default(), &filter);
        let sql = format!("EXPLAIN QUERY PLAN {}", named_sql(&condition));
        let values = std::iter::once(Value::Text("key".into())).chain(condition.values);
        let mut plan = db.prepare(&sql).unwrap();
        let steps =
            plan.query_map(params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert!(steps[0].starts_with("SEARCH k "), "{steps:?}");
        assert!(steps[1].starts_with("SEARCH f USING INTEGER PRIMARY KEY"), "{steps:?}");
    }
}
