//! Translates a search filter to SQL.

use std::collections::HashMap;
use std::iter;

use memoranda_core::note::tag_key;
use memoranda_core::query::{MetaFilter, MetaTest, Query, QueryTerm, TermRequirement};
use memoranda_core::tokenize::unicode_forms;
use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, params_from_iter};

use super::caches::SearchCaches;
use super::{NestedFolder, SearchFilter};
use crate::error::Result;
use crate::index::fts5_query::term_expression;
use crate::index::metadata;
use crate::index::write::{PASSAGES_PER_FILE, first_passage};

/// A passage, its score, and its file.
pub(super) type PassageScore = (i64, f64, i64);

/// SQL test for searchable files.
const SEARCHED: &str = "f.kind IN (1, 2)";
/// Maximum length of a list of values that SQLite evaluates quickly for a single file.
const MAX_SHORT_LIST: usize = 100;
/// Category of a fact without one, as in Basic Memory.
pub(in crate::index) const NO_CATEGORY: &str = "note";

/// SQL test for files in a folder directly below another one: where the path below the outer folder
/// has its first slash, the name of the inner folder begins. The values are the bounds of the outer
/// folder, and twice the start of the path below it, the first time followed by `/NAME/`.
const IN_NESTED_FOLDER: &str = "(f.path >= ? AND f.path < ? AND \
     instr(substr(f.path, ?), ?) = nullif(instr(substr(f.path, ?), '/'), 0))";

/// A filter as SQL over `files f`, with its bound values.
#[derive(Clone)]
pub(in crate::index) struct FilterSql {
    pub(in crate::index) sql: String,
    pub(in crate::index) values: Vec<Value>,
    is_unrestricted: bool,
    /// True if the filter restricts only projects.
    has_only_projects: bool,
    /// Row numbers of these projects, after their lookup.
    projects: Option<Vec<i64>>,
    /// True if testing single files is expensive: the filter requires or excludes words, or has
    /// long lists.
    is_expensive: bool,
}

impl FilterSql {
    pub(in crate::index) fn new(query: &Query, filter: &SearchFilter) -> Self {
        let mut sql = String::from(SEARCHED);
        let mut values = Vec::new();
        let mut any_of = |sql: &mut String, column: &str, names: Vec<String>| {
            if !names.is_empty() {
                let marks = vec!["?"; names.len()].join(", ");
                sql.push_str(&format!(" AND {column} IN ({marks})"));
                values.extend(names.into_iter().map(Value::Text));
            }
        };
        any_of(&mut sql, "f.note_type", filter.note_types.clone());
        if let [only] = filter.projects.as_slice() {
            // With a single project SQLite can use an index for the order.
            sql.push_str(" AND f.project = (SELECT id FROM projects WHERE name = ?)");
            values.push(Value::Text(only.to_string()));
        } else if !filter.projects.is_empty() {
            let marks = vec!["?"; filter.projects.len()].join(", ");
            sql.push_str(&format!(
                " AND f.project IN (SELECT id FROM projects WHERE name IN ({marks}))"
            ));
            values.extend(filter.projects.iter().map(|name| Value::Text(name.to_string())));
        }
        for tag in &filter.tags {
            has_tag(tag, &mut sql, &mut values);
        }
        for any in &query.tags {
            tagged("EXISTS", any, &mut sql, &mut values);
        }
        for tag in &query.forbidden_tags {
            tagged("NOT EXISTS", std::slice::from_ref(tag), &mut sql, &mut values);
        }
        let current = "SELECT 1 FROM observations o WHERE o.file = f.id AND o.struck = 0 \
                       AND o.superseded_by IS NULL";
        if !filter.categories.is_empty() {
            let marks = vec!["?"; filter.categories.len()].join(", ");
            sql.push_str(&format!(
                " AND EXISTS ({current} \
                 AND ifnull(o.category, '{NO_CATEGORY}') COLLATE NOCASE IN ({marks}))"
            ));
            values.extend(filter.categories.iter().cloned().map(Value::Text));
        }
        if let Some(least) = filter.min_importance {
            sql.push_str(&format!(" AND EXISTS ({current} AND o.importance >= ?)"));
            values.push(Value::Real(least));
        }
        if let Some(folder) = &filter.folder {
            let folders = unicode_forms(folder.as_str());
            let any = vec!["f.path = ? OR (f.path > ? AND f.path < ?)"; folders.len()].join(" OR ");
            sql.push_str(&format!(" AND ({any})"));
            for folder in folders {
                let (below, after) = (format!("{folder}/"), format!("{folder}0"));
                values.extend([folder, below, after].map(Value::Text));
            }
        }
        let folders: Vec<_> =
            filter.folders.iter().flat_map(|f| unicode_forms(f.as_str())).collect();
        let nested: Vec<_> = filter
            .nested_folders
            .iter()
            .flat_map(|nested| {
                unicode_forms(nested.above.as_str()).into_iter().zip(iter::repeat(nested))
            })
            .collect();
        if !folders.is_empty() || !nested.is_empty() {
            let mut any = vec!["(f.path >= ? AND f.path < ?)"; folders.len()];
            any.extend(vec![IN_NESTED_FOLDER; nested.len()]);
            sql.push_str(&format!(" AND ({})", any.join(" OR ")));
            for folder in folders {
                values.push(Value::Text(format!("{folder}/")));
                values.push(Value::Text(format!("{folder}0")));
            }
            for (above, NestedFolder { name, .. }) in nested {
                // The first character has number 1, and a slash follows the folder.
                let start = Value::Integer(above.chars().count() as i64 + 2);
                values.push(Value::Text(format!("{above}/")));
                values.push(Value::Text(format!("{above}0")));
                values.extend([start.clone(), Value::Text(format!("/{name}/")), start]);
            }
        }
        for (operator, time) in [(">=", filter.after), ("<=", filter.before)] {
            if let Some(time) = time {
                sql.push_str(&format!(" AND f.updated_ms {operator} ?"));
                values.push(Value::Integer(time.as_millisecond()));
            }
        }
        metadata::conditions(filter, &mut sql, &mut values);
        let is_unrestricted = values.is_empty();
        let has_only_projects = !is_unrestricted && values.len() == filter.projects.len();
        let is_list = |meta: &MetaFilter| matches!(&meta.test, MetaTest::HasAny(values) if values.len() > MAX_SHORT_LIST);
        let is_expensive = filter.metadata.iter().any(is_list);
        Self { sql, values, is_unrestricted, has_only_projects, projects: None, is_expensive }
    }

    /// Removes a restriction to projects that contain all files.
    pub(super) fn without_redundant_projects(mut self, db: &Connection) -> Result<Self> {
        if !self.has_only_projects {
            return Ok(self);
        }
        let marks = vec!["?"; self.values.len()].join(", ");
        let elsewhere = format!(
            "SELECT 1 FROM projects r WHERE r.name NOT IN ({marks}) \
             AND EXISTS (SELECT 1 FROM files f WHERE f.project = r.id)"
        );
        let is_elsewhere = db.prepare_cached(&elsewhere)?.exists(params_from_iter(&self.values))?;
        if !is_elsewhere {
            return Ok(Self::new(&Query::default(), &SearchFilter::default()));
        }
        let ids = format!("SELECT id FROM projects WHERE name IN ({marks})");
        let mut ids = db.prepare_cached(&ids)?;
        let ids = ids.query_map(params_from_iter(&self.values), |row| row.get(0))?;
        self.projects = Some(ids.collect::<rusqlite::Result<_>>()?);
        Ok(self)
    }

    /// Adds the required and excluded terms of a query, which apply to the note as a whole.
    pub(super) fn with_required_terms(&self, query: &Query) -> Self {
        let mut with_required_terms = self.clone();
        let alone = query.terms.iter().filter(|term| term.need != TermRequirement::Optional);
        let alone = alone.map(|term| (term.need, term_expression(term)));
        // If a query has only alternatives, each match contains one of them.
        let is_choice =
            |term: &QueryTerm| term.need == TermRequirement::Excluded || term.groups == 1;
        let is_one_choice = query.terms.iter().all(is_choice);
        let groups = query.required_groups().filter(|_| !is_one_choice).map(|group| {
            let any: Vec<_> = group.iter().map(|term| term_expression(term)).collect();
            (TermRequirement::Required, any.join(" OR "))
        });
        for (need, expression) in alone.chain(groups) {
            let not = if need == TermRequirement::Excluded { "NOT" } else { "" };
            with_required_terms.sql.push_str(&format!(
                " AND f.id {not} IN \
                 (SELECT rowid / {PASSAGES_PER_FILE} FROM words WHERE words MATCH ?)"
            ));
            with_required_terms.values.push(Value::Text(expression));
            (with_required_terms.is_unrestricted, with_required_terms.projects) = (false, None);
            with_required_terms.is_expensive = true;
        }
        with_required_terms
    }

    /// Returns the SQL for files known to be searchable. For a folder alone, the path index then
    /// suffices.
    pub(in crate::index) fn among_searched(&self) -> &str {
        let rest = self.sql.strip_prefix(SEARCHED).and_then(|rest| rest.strip_prefix(" AND "));
        rest.unwrap_or(&self.sql)
    }

    /// Returns true if every searchable file matches.
    pub(in crate::index) fn is_unrestricted(&self) -> bool {
        self.is_unrestricted
    }

    /// Returns the newest matching notes, for a search by tags alone. FTS5 narrows by the words of
    /// the tags; the filter then compares the tags themselves.
    pub(super) fn newest(
        &self,
        db: &Connection,
        words: String,
        limit: usize,
    ) -> Result<Vec<PassageScore>> {
        let words = Some(words).filter(|words| !words.is_empty());
        let holding = words.as_ref().map_or_else(String::new, |_| {
            format!(
                "f.id IN (SELECT rowid / {PASSAGES_PER_FILE} FROM words WHERE words MATCH ?) AND "
            )
        });
        let sql = format!(
            "SELECT f.id * {PASSAGES_PER_FILE}, 0.0, f.id FROM files f WHERE {holding}{} \
             ORDER BY f.updated_ms DESC, f.path LIMIT ?",
            self.sql
        );
        let values = words.into_iter().map(Value::Text).chain(self.values.iter().cloned());
        let values = values.chain([Value::Integer(limit as i64)]);
        let mut query = db.prepare_cached(&sql)?;
        let rows = query.query_map(params_from_iter(values), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the first passage of a note that was found by its name, if the note matches.
    pub(super) fn first_passage(&self, db: &Connection, file: i64) -> Result<Option<PassageScore>> {
        let sql = format!("SELECT 1 FROM files f WHERE {} AND f.id = ?", self.sql);
        let values = self.values.iter().cloned().chain([Value::Integer(file)]);
        let fits = db.prepare_cached(&sql)?.exists(params_from_iter(values))?;
        Ok(fits.then(|| (first_passage(file), 0.0, file)))
    }

    /// Prepares a test for single files.
    pub(super) fn check<'c>(
        &self,
        db: &'c Connection,
        caches: Option<&'c SearchCaches<'c>>,
    ) -> Result<FileMatcher<'c>> {
        let sql = format!("SELECT 1 FROM files f WHERE {} AND f.id = ?", self.sql);
        let mut query = db.prepare_cached(&sql)?;
        for (n, value) in self.values.iter().enumerate() {
            query.raw_bind_parameter(n + 1, value)?;
        }
        let file = self.values.len() + 1;
        let known = if self.is_expensive { self.all(db)? } else { HashMap::new() };
        let in_memory = caches.zip(self.projects.clone());
        Ok(FileMatcher {
            query,
            file,
            in_memory,
            is_unrestricted: self.is_unrestricted,
            knows_all: self.is_expensive,
            known,
        })
    }

    /// Returns all matching files.
    fn all(&self, db: &Connection) -> Result<HashMap<i64, bool>> {
        let mut query =
            db.prepare_cached(&format!("SELECT f.id FROM files f WHERE {}", self.sql))?;
        let rows =
            query.query_map(params_from_iter(&self.values), |row| Ok((row.get(0)?, true)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

/// Adds the condition that a file of `files f` has a tag or a child of it: `area/health` matches
/// `area`.
pub(in crate::index) fn has_tag(tag: &str, sql: &mut String, values: &mut Vec<Value>) {
    tagged("EXISTS", &[tag], sql, values);
}

fn tagged(is_there: &str, any: &[impl AsRef<str>], sql: &mut String, values: &mut Vec<Value>) {
    let one = vec!["t.tag = ? OR (t.tag > ? AND t.tag < ?)"; any.len()].join(" OR ");
    sql.push_str(&format!(
        " AND {is_there} (SELECT 1 FROM tags t WHERE t.file = f.id AND ({one}))"
    ));
    for tag in any {
        let key = tag_key(tag.as_ref());
        let (below, after) = (format!("{key}/"), format!("{key}0"));
        values.extend([key, below, after].map(Value::Text));
    }
}

/// A filter prepared for testing many files.
pub(super) struct FileMatcher<'c> {
    query: CachedStatement<'c>,
    file: usize,
    /// The projects whose files all match, with the caches that map files to projects.
    in_memory: Option<(&'c SearchCaches<'c>, Vec<i64>)>,
    is_unrestricted: bool,
    /// True if a file that is not in `known` does not match.
    knows_all: bool,
    known: HashMap<i64, bool>,
}

impl FileMatcher<'_> {
    /// Returns true if a file matches.
    pub(super) fn fits(&mut self, file: i64) -> Result<bool> {
        if self.is_unrestricted {
            // Only searchable files have passages.
            return Ok(true);
        }
        if let Some((caches, projects)) = &self.in_memory
            && let Some(project) = caches.table.project(caches.now, file)
        {
            return Ok(projects.contains(&project));
        }
        if let Some(&known) = self.known.get(&file) {
            return Ok(known);
        }
        if self.knows_all {
            return Ok(false);
        }
        self.query.raw_bind_parameter(self.file, file)?;
        let fits = self.query.raw_query().next()?.is_some();
        self.known.insert(file, fits);
        Ok(fits)
    }
}
