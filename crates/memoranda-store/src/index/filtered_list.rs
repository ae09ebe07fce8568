//! Lists files by name and properties, without ranking.
//!
//! A selective condition is looked up first. Otherwise files are scanned from the newest on, so
//! that the cost of a page does not depend on the number of files.

use memoranda_core::id::ProjectName;
use memoranda_core::path::name_key;
use memoranda_core::query::Query;
use memoranda_core::tokenize::{index_text, tokenize, unicode_forms};
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::file_queries::{COLUMNS, FileSummary, ListOrder, summary};
use super::search::{FilterSql, NO_CATEGORY, SearchFilter};
use super::write::PASSAGES_PER_FILE;
use crate::error::Result;
use crate::snapshot::Snapshot;

/// Maximum number of matching passages for which a condition is looked up first. A scan finds more
/// common ones soon.
const MAX_LOOKED_UP_PASSAGES: i64 = 2000;

/// Files to list, with order and page.
#[derive(Clone, Debug)]
pub struct FilteredList {
    /// Restricts the files.
    pub filter: SearchFilter,
    /// Words of the title, or prefixes of them. If no title matches, substrings are tried.
    pub title: Vec<String>,
    /// The permalink or path, with `*` as a wildcard, with or without the project in front.
    pub address: Option<String>,
    /// The order. With title words, the shortest titles come first.
    pub order: ListOrder,
    /// Maximum number of files.
    pub limit: usize,
    /// Number of files to skip first.
    pub offset: usize,
}

impl Snapshot<'_> {
    /// Returns the notes that match.
    pub fn filtered_list(&self, browse: &FilteredList) -> Result<Vec<FileSummary>> {
        self.query(|db| {
            let condition = FilterSql::new(&Query::default(), &browse.filter);
            let title = title_expression(&browse.title);
            let mut narrow = None;
            let mut by_words = false;
            if let Some(address) = &browse.address {
                narrow = Some(addressed(db, address)?);
            } else if let Some(expression) = title.filter(|_| !browse.title.is_empty()) {
                let held = holders(db, &expression)?;
                by_words = (1..=MAX_LOOKED_UP_PASSAGES).contains(&held);
                narrow = by_words.then(|| by_words_sql(expression));
            } else if let Some(expression) = filter_expression(&browse.filter) {
                let held = holders(db, &expression)?;
                narrow = (held <= MAX_LOOKED_UP_PASSAGES).then(|| by_words_sql(expression));
            }
            let (from, mut values) = match narrow {
                // Left alone, SQLite's planner often scans from the newest file and tests each.
                Some((sql, values)) => (format!("({sql}) c CROSS JOIN files f ON f.id = c.id"), values),
                None => ("files f".to_owned(), Vec::new()),
            };
            let mut sql = format!(
                "SELECT {COLUMNS} FROM {from} JOIN projects p ON p.id = f.project WHERE {}",
                condition.sql
            );
            values.extend(condition.values);
            for part in browse.title.iter().filter(|_| !by_words) {
                let forms = unicode_forms(part);
                let any = vec!["instr(lower(f.title), lower(?)) > 0"; forms.len()].join(" OR ");
                sql.push_str(&format!(" AND ({any})"));
                values.extend(forms.into_iter().map(Value::Text));
            }
            match (browse.title.is_empty(), browse.order) {
                (false, _) => {
                    let forms = unicode_forms(&browse.title.join(" "));
                    let marks = vec!["lower(?)"; forms.len()].join(", ");
                    sql.push_str(&format!(
                        " ORDER BY lower(f.title) NOT IN ({marks}), length(f.title), f.updated_ms DESC, f.path"
                    ));
                    values.extend(forms.into_iter().map(Value::Text));
                }
                (true, ListOrder::Path) => sql.push_str(" ORDER BY p.name, f.path"),
                (true, ListOrder::Newest) => sql.push_str(" ORDER BY f.updated_ms DESC, f.path"),
            }
            sql.push_str(" LIMIT ? OFFSET ?");
            values.push(Value::Integer(i64::try_from(browse.limit).unwrap_or(i64::MAX)));
            values.push(Value::Integer(i64::try_from(browse.offset).unwrap_or(i64::MAX)));
            files(db, &sql, values)
        })
    }
}

/// Returns the FTS5 expression of title words, each as a prefix.
pub(super) fn title_expression(title: &[String]) -> Option<String> {
    let mut parts = Vec::new();
    for part in title {
        let folded = index_text(part);
        parts.extend(tokenize(&folded).map(|word| {
            let quoted = word.text.replace('"', "\"\"");
            format!("(title : \"{quoted}\" OR title : \"{quoted}\" *)")
        }));
    }
    (!parts.is_empty()).then(|| parts.join(" AND "))
}

/// Returns an FTS5 expression that a filter implies: the words of its tags or categories. It
/// matches all files of the filter, and possibly others.
fn filter_expression(filter: &SearchFilter) -> Option<String> {
    let phrase = |column: &str, text: &str| {
        let text = index_text(text.trim_start_matches('#')).into_owned();
        let has_words = tokenize(&text).next().is_some();
        has_words
            .then(|| format!("{column} : \"{}\"", text.replace('\0', " ").replace('"', "\"\"")))
    };
    let tags: Vec<_> = filter.tags.iter().filter_map(|tag| phrase("tags", tag)).collect();
    if !tags.is_empty() {
        return Some(tags.join(" AND "));
    }
    // A fact without a category contains no word for it.
    let is_project_named = |category: &String| !category.eq_ignore_ascii_case(NO_CATEGORY);
    let categories = filter.categories.iter();
    let categories =
        categories.map(|category| phrase("body", category).filter(|_| is_project_named(category)));
    let categories = categories.collect::<Option<Vec<_>>>()?;
    (!categories.is_empty()).then(|| categories.join(" OR "))
}

/// Counts matching passages, up to the limit that matters.
fn holders(db: &Connection, expression: &str) -> Result<i64> {
    let mut count = db
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)")?;
    Ok(count.query_row(params![expression, MAX_LOOKED_UP_PASSAGES + 1], |row| row.get(0))?)
}

fn by_words_sql(expression: String) -> (String, Vec<Value>) {
    let sql =
        format!("SELECT DISTINCT rowid / {PASSAGES_PER_FILE} AS id FROM words WHERE words MATCH ?");
    (sql, vec![Value::Text(expression)])
}

/// Returns the SQL for files whose permalink or path matches an address, with or without the
/// project in front.
fn addressed(db: &Connection, address: &str) -> Result<(String, Vec<Value>)> {
    let mut projects = db.prepare_cached("SELECT id, name FROM projects")?;
    let rows = projects.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
    let (mut parts, mut values) = (Vec::new(), Vec::new());
    let forms = unicode_forms(address);
    for row in rows {
        let (project, name): (i64, String) = row?;
        let mut add = |column: &str, address: &str| {
            let glob = pattern(address);
            let begin = address.split('*').next().unwrap_or_default();
            parts.push(format!(
                "SELECT id FROM files WHERE project = ? AND {column} >= ? AND {column} < ? \
                 AND {column} GLOB ?"
            ));
            values.extend([
                Value::Integer(project),
                Value::Text(begin.to_owned()),
                Value::Text(format!("{begin}\u{10ffff}")),
                Value::Text(glob),
            ]);
        };
        // A path may be written with other accents or capitals.
        add("path_key", &name_key(address));
        // The caller may put the project's name before the address, or the note before its
        // permalink.
        let own = format!("{}/", name.to_lowercase());
        for address in &forms {
            add("permalink", address);
            add("permalink", &format!("{own}{address}"));
            let said = [format!("{name}/"), own.clone()];
            if let Some(rest) = said.iter().find_map(|said| address.strip_prefix(said.as_str())) {
                add("permalink", rest);
            }
        }
    }
    // Without a project no file matches.
    parts.push("SELECT id FROM files WHERE 0".into());
    Ok((parts.join(" UNION "), values))
}

impl Snapshot<'_> {
    /// Returns the files of a project with this permalink.
    pub fn with_permalink(
        &self,
        project: &ProjectName,
        permalink: &str,
    ) -> Result<Vec<FileSummary>> {
        self.query_about(|pending| pending.has_permalink(permalink), |db| {
            let sql = format!(
                // To avoid sorting, SQLite would read the whole project in the order of paths.
                "SELECT {COLUMNS} FROM projects p CROSS JOIN files f INDEXED BY files_by_permalink \
                 ON f.project = p.id WHERE p.name = ? AND f.permalink = ? AND f.kind <> 0 ORDER BY +f.path"
            );
            files(db, &sql, vec![Value::Text(project.to_string()), Value::Text(permalink.to_owned())])
        })
    }
}

fn files(db: &Connection, sql: &str, values: Vec<Value>) -> Result<Vec<FileSummary>> {
    let mut query = db.prepare_cached(sql)?;
    let rows = query.query_map(params_from_iter(values), summary)?;
    Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Translates an address to a GLOB pattern in which only `*` is special.
fn pattern(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    for c in address.chars() {
        match c {
            '[' => out.push_str("[[]"),
            '?' => out.push_str("[?]"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn only_stars_stand_for_more() {
        for (address, expected) in [("a/*", "a/*"), ("a?[b]*", "a[?][[]b]*"), ("", "")] {
            assert_eq!(pattern(address), expected);
        }
    }
}
