//! Candidates for a search: the passages that hold its words, best first, and the notes whose
//! name it is.
//!
//! A common word must not cost a look at everything that holds it. When more passages match than
//! are worth comparing, the words that nearly everything holds are left out; and when even the
//! rarest is that common, the newest passages that hold it are compared.

use std::collections::HashMap;

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::query::{MetaFilter, Mode, Need, Query, match_expression};
use memoranda_core::rank::TitleMatch;
use memoranda_core::words::{index_text, words};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::digest::link_key;
use super::metadata;
use super::write::{PASSAGES_PER_FILE, first_passage};
use crate::error::Result;

/// No more passages than this are compared with each other.
const MAX_COMPARED: i64 = 2000;
/// What a word is worth by where it stands: title, heading, tags, body.
const WEIGHTS: &str = "4.0, 2.0, 3.0, 1.0";

/// Which notes a search may find.
#[derive(Clone, Debug, Default)]
pub struct SearchFilter {
    /// Only these projects; all if empty.
    pub projects: Vec<ProjectName>,
    /// Only notes at or below this folder.
    pub folder: Option<NotePath>,
    /// Only notes at or below one of these folders; anywhere if empty.
    pub folders: Vec<NotePath>,
    /// Only notes of these types.
    pub note_types: Vec<String>,
    /// Only notes that carry all these tags, beside those in the query.
    pub tags: Vec<String>,
    /// Only notes that hold a current fact of one of these categories.
    pub categories: Vec<String>,
    /// Only notes that hold a current fact of at least this importance.
    pub min_importance: Option<f64>,
    /// Only notes changed since then.
    pub after: Option<Timestamp>,
    /// Only notes changed until then.
    pub before: Option<Timestamp>,
    /// Only notes whose frontmatter is like this.
    pub metadata: Vec<MetaFilter>,
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
    /// Its title.
    pub title: String,
    /// Its permalink.
    pub permalink: String,
    /// Its type.
    pub note_type: String,
    /// When it was last changed.
    pub updated: Timestamp,
    /// The headings above the passage.
    pub heading: String,
    /// Its first and last line.
    pub lines: (usize, usize),
    /// How well its words match, higher is better.
    pub bm25: f64,
    /// How well the note's name matches.
    pub title_match: TitleMatch,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchHits {
    /// The best passages, best first.
    pub hits: Vec<SearchHit>,
    /// Whether only a part of what matches was compared.
    pub partial: bool,
}

/// The passages that match best, at most `limit`.
pub(crate) fn search(
    db: &Connection,
    query: &Query,
    text: &str,
    filter: &SearchFilter,
    limit: usize,
) -> Result<SearchHits> {
    let condition = Condition::new(query, filter);
    let mut found = Vec::new();
    let mut partial = false;
    if query.is_empty() {
        let tags: Vec<String> = query
            .tags
            .iter()
            .chain(&filter.tags)
            .map(|tag| index_text(tag.trim_start_matches('#')).into_owned())
            .filter(|tag| words(tag).next().is_some())
            .collect();
        if !tags.is_empty() {
            found = condition.newest(db, &tags, limit)?;
        }
        return hits(db, query, text, found, partial);
    }
    for mode in [Mode::Exact, Mode::Prefix] {
        let Some(compared) = compare(db, query, mode)? else { continue };
        partial |= compared.partial;
        found = condition.matching(db, &compared, limit)?;
        if !found.is_empty() {
            break;
        }
    }
    for file in named(db, text, &condition)? {
        if !found.iter().any(|(_, _, of)| *of == file) {
            found.extend(condition.first_passage(db, file)?);
        }
    }
    hits(db, query, text, found, partial)
}

/// Passages that were compared with each other.
struct Compared {
    expression: String,
    /// The passages and how well they match, best first.
    best: Vec<(i64, f64)>,
    /// Whether more match than were compared.
    partial: bool,
}

/// Compares the passages that match a query, but never too many of them.
fn compare(db: &Connection, query: &Query, mode: Mode) -> Result<Option<Compared>> {
    let Some(expression) = match_expression(query, mode) else { return Ok(None) };
    let compared = newest_matching(db, expression)?;
    let alternatives = || query.terms.iter().filter(|term| term.need == Need::Optional);
    if !compared.partial || alternatives().count() < 2 {
        return Ok(Some(compared));
    }
    // Leave out the alternatives that are too common to tell passages apart.
    let mut rare = query.clone();
    for term in alternatives() {
        if is_common(db, &term.expression(mode))? {
            rare.terms.retain(|other| other != term);
        }
    }
    match match_expression(&rare, mode) {
        Some(expression) if rare.terms.len() < query.terms.len() => {
            newest_matching(db, expression).map(Some)
        }
        _ => Ok(Some(compared)),
    }
}

/// Compares the newest passages that match, as many as are worth it.
fn newest_matching(db: &Connection, expression: String) -> Result<Compared> {
    let mut query = db.prepare_cached(&format!(
        "SELECT rowid, bm25(words, {WEIGHTS}) FROM words WHERE words MATCH ? \
         ORDER BY rowid DESC LIMIT ?"
    ))?;
    let rows = query.query_map(params![expression, MAX_COMPARED + 1], |row| {
        Ok((row.get(0)?, -row.get::<_, f64>(1)?))
    })?;
    let mut best = rows.collect::<rusqlite::Result<Vec<(i64, f64)>>>()?;
    let partial = best.len() as i64 > MAX_COMPARED;
    best.truncate(MAX_COMPARED as usize);
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(Compared { expression, best, partial })
}

/// Whether more passages match than are worth comparing.
fn is_common(db: &Connection, expression: &str) -> Result<bool> {
    let mut query =
        db.prepare_cached("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1 OFFSET ?")?;
    Ok(query.exists(params![expression, MAX_COMPARED])?)
}

/// A passage, how well it matches, and its file.
type FoundPassage = (i64, f64, i64);

/// The filter as SQL over `files f`, with its values.
pub(super) struct Condition {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
    is_open: bool,
}

impl Condition {
    pub(super) fn new(query: &Query, filter: &SearchFilter) -> Self {
        let mut sql = String::from("f.kind IN (1, 2)");
        let mut values = Vec::new();
        let mut any_of = |sql: &mut String, column: &str, names: Vec<String>| {
            if !names.is_empty() {
                let marks = vec!["?"; names.len()].join(", ");
                sql.push_str(&format!(" AND {column} IN ({marks})"));
                values.extend(names.into_iter().map(Value::Text));
            }
        };
        any_of(&mut sql, "f.note_type", filter.note_types.clone());
        if !filter.projects.is_empty() {
            let marks = vec!["?"; filter.projects.len()].join(", ");
            sql.push_str(&format!(
                " AND f.project IN (SELECT id FROM projects WHERE name IN ({marks}))"
            ));
            values.extend(filter.projects.iter().map(|name| Value::Text(name.to_string())));
        }
        for tag in query.tags.iter().chain(&filter.tags) {
            sql.push_str(" AND EXISTS (SELECT 1 FROM tags t WHERE t.tag = ? AND t.file = f.id)");
            values.push(Value::Text(tag.trim_start_matches('#').to_owned()));
        }
        let current = "SELECT 1 FROM observations o WHERE o.file = f.id AND o.struck = 0 \
                       AND o.superseded_by IS NULL";
        if !filter.categories.is_empty() {
            let marks = vec!["?"; filter.categories.len()].join(", ");
            sql.push_str(&format!(
                " AND EXISTS ({current} AND o.category COLLATE NOCASE IN ({marks}))"
            ));
            values.extend(filter.categories.iter().cloned().map(Value::Text));
        }
        if let Some(least) = filter.min_importance {
            sql.push_str(&format!(" AND EXISTS ({current} AND o.importance >= ?)"));
            values.push(Value::Real(least));
        }
        if let Some(folder) = &filter.folder {
            sql.push_str(" AND (f.path = ? OR (f.path > ? AND f.path < ?))");
            values.push(Value::Text(folder.to_string()));
            values.push(Value::Text(format!("{folder}/")));
            values.push(Value::Text(format!("{folder}0")));
        }
        if !filter.folders.is_empty() {
            let any = vec!["(f.path >= ? AND f.path < ?)"; filter.folders.len()].join(" OR ");
            sql.push_str(&format!(" AND ({any})"));
            for folder in &filter.folders {
                values.push(Value::Text(format!("{folder}/")));
                values.push(Value::Text(format!("{folder}0")));
            }
        }
        for (operator, time) in [(">=", filter.after), ("<=", filter.before)] {
            if let Some(time) = time {
                sql.push_str(&format!(" AND f.updated_ms {operator} ?"));
                values.push(Value::Integer(time.as_millisecond()));
            }
        }
        metadata::conditions(filter, &mut sql, &mut values);
        let is_open = values.is_empty();
        Self { sql, values, is_open }
    }

    /// The best passages that fit. Those that were compared are held against the filter; only a
    /// filter that lets few of many through is joined with the question.
    fn matching(
        &self,
        db: &Connection,
        compared: &Compared,
        limit: usize,
    ) -> Result<Vec<FoundPassage>> {
        let fitting = self.fitting(db, &compared.best, limit)?;
        if fitting.len() < limit && compared.partial && !self.is_open {
            return self.matching_joined(db, compared, limit);
        }
        Ok(fitting)
    }

    /// Those of the passages that fit, in their order, with their files.
    fn fitting(
        &self,
        db: &Connection,
        best: &[(i64, f64)],
        limit: usize,
    ) -> Result<Vec<FoundPassage>> {
        let sql = format!("SELECT 1 FROM files f WHERE f.id = ? AND {}", self.sql);
        let mut query = db.prepare_cached(&sql)?;
        let mut fitting = Vec::with_capacity(limit.min(best.len()));
        for &(passage, score) in best {
            let file = passage / PASSAGES_PER_FILE;
            let values = std::iter::once(Value::Integer(file)).chain(self.values.iter().cloned());
            if self.is_open || query.exists(params_from_iter(values))? {
                fitting.push((passage, score, file));
            }
            if fitting.len() == limit {
                break;
            }
        }
        Ok(fitting)
    }

    fn matching_joined(
        &self,
        db: &Connection,
        compared: &Compared,
        limit: usize,
    ) -> Result<Vec<FoundPassage>> {
        let sql = format!(
            "SELECT w.rowid, bm25(words, {WEIGHTS}) AS score, f.id FROM words w \
             JOIN files f ON f.id = w.rowid / {PASSAGES_PER_FILE} WHERE words MATCH ? AND {} ORDER BY score LIMIT ?",
            self.sql
        );
        let mut values = vec![Value::Text(compared.expression.clone())];
        values.extend(self.values.iter().cloned());
        values.push(Value::Integer(limit as i64));
        let mut query = db.prepare_cached(&sql)?;
        let rows = query.query_map(params_from_iter(values), |row| {
            Ok((row.get(0)?, -row.get::<_, f64>(1)?, row.get(2)?))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The newest notes that fit, for a search by tags alone. The word index knows which notes
    /// hold the words of the tags; the filter then holds them to the tags themselves.
    fn newest(&self, db: &Connection, tags: &[String], limit: usize) -> Result<Vec<FoundPassage>> {
        let words = tags.iter().map(|tag| format!("tags : \"{}\"", tag.replace('"', "\"\"")));
        let words = words.collect::<Vec<_>>().join(" AND ");
        let sql = format!(
            "SELECT f.id * {PASSAGES_PER_FILE}, 0.0, f.id FROM files f WHERE f.id IN \
             (SELECT rowid / {PASSAGES_PER_FILE} FROM words WHERE words MATCH ?) AND {} \
             ORDER BY f.updated_ms DESC, f.path LIMIT ?",
            self.sql
        );
        let values = std::iter::once(Value::Text(words)).chain(self.values.iter().cloned());
        let values = values.chain([Value::Integer(limit as i64)]);
        let mut query = db.prepare_cached(&sql)?;
        let rows = query.query_map(params_from_iter(values), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The beginning of a note that was found by its name, if it fits.
    fn first_passage(&self, db: &Connection, file: i64) -> Result<Option<FoundPassage>> {
        let sql = format!("SELECT 1 FROM files f WHERE {} AND f.id = ?", self.sql);
        let values = self.values.iter().cloned().chain([Value::Integer(file)]);
        let fits = db.prepare_cached(&sql)?.exists(params_from_iter(values))?;
        Ok(fits.then(|| (first_passage(file), 0.0, file)))
    }
}

/// Notes whose title, permalink or file name is the whole query.
fn named(db: &Connection, text: &str, condition: &Condition) -> Result<Vec<i64>> {
    let key = link_key(text.trim());
    if key.is_empty() || key.len() > 200 {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT DISTINCT f.id FROM link_keys k JOIN files f ON f.id = k.file \
         WHERE k.key = ? AND {} ORDER BY length(f.path), f.path LIMIT 20",
        condition.sql
    );
    let values = std::iter::once(Value::Text(key)).chain(condition.values.iter().cloned());
    let mut query = db.prepare_cached(&sql)?;
    let rows = query.query_map(params_from_iter(values), |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn hits(
    db: &Connection,
    query: &Query,
    text: &str,
    found: Vec<FoundPassage>,
    partial: bool,
) -> Result<SearchHits> {
    let mut select = db.prepare_cached(
        "SELECT f.path, r.name, f.title, f.permalink, f.note_type, f.updated_ms, p.heading, \
         p.first_line, p.last_line FROM passages p \
         JOIN files f ON f.id = p.id / 65536 JOIN projects r ON r.id = f.project WHERE p.id = ?",
    )?;
    let mut hits = Vec::with_capacity(found.len());
    let mut matches: HashMap<i64, TitleMatch> = HashMap::new();
    for (passage, bm25, file) in found {
        let hit = select.query_row([passage], |row| {
            let path = NotePath::parse(&row.get::<_, String>(0)?);
            let project = ProjectName::parse(&row.get::<_, String>(1)?);
            let (Ok(path), Ok(project)) = (path, project) else { return Ok(None) };
            let title: String = row.get(2)?;
            let permalink: String = row.get(3)?;
            let title_match = *matches.entry(file).or_insert_with(|| {
                TitleMatch::of(text, query, &title)
                    .max(TitleMatch::of(text, query, &permalink))
                    .max(TitleMatch::of(text, query, path.stem()))
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
                heading: row.get(6)?,
                lines: (row.get::<_, i64>(7)? as usize, row.get::<_, i64>(8)? as usize),
                bm25,
                title_match,
            }))
        })?;
        hits.extend(hit);
    }
    Ok(SearchHits { hits, partial })
}

/// The text of a file without its frontmatter, put together from its passages. Blank lines
/// between them may be fewer than in the file.
pub(crate) fn body(db: &Connection, file: i64) -> Result<String> {
    let mut query = db.prepare_cached(
        "SELECT first_line, last_line, text FROM passages WHERE id >= ? AND id < ? ORDER BY id",
    )?;
    let mut rows = query.query([first_passage(file), first_passage(file + 1)])?;
    let mut body = String::new();
    let mut last = 0;
    while let Some(row) = rows.next()? {
        let first: i64 = row.get(0)?;
        let text: String = row.get(2)?;
        body.push_str(match first - last {
            _ if body.is_empty() => "",
            0 => "",
            1 => "\n",
            _ => "\n\n",
        });
        body.push_str(text.trim_end_matches(['\n', '\r']));
        last = row.get(1)?;
    }
    Ok(body)
}

/// The text of a passage.
pub(crate) fn passage_text(db: &Connection, passage: i64) -> Result<Option<String>> {
    let mut query = db.prepare_cached("SELECT text FROM passages WHERE id = ?")?;
    Ok(query.query_row([passage], |row| row.get(0)).optional()?)
}
