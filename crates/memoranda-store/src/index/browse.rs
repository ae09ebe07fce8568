//! Finding files by what they are called and what they are, without a word to rank them by.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::listing::{COLUMNS, FileSummary, ListOrder, summary};
use super::search::{Condition, SearchFilter};
use crate::error::Result;

/// Which files, in which order.
#[derive(Clone, Debug)]
pub struct Browse {
    /// What they are.
    pub filter: SearchFilter,
    /// Each of these texts is part of the title, whatever its case.
    pub title: Vec<String>,
    /// The permalink, or the path, in which `*` stands for anything; with or without the project
    /// before it.
    pub address: Option<String>,
    /// In which order; those whose title is shortest come first if titles are asked for.
    pub order: ListOrder,
    /// How many at the most.
    pub limit: usize,
    /// How many to pass over first.
    pub offset: usize,
}

/// The notes that fit.
pub(crate) fn browse(db: &Connection, browse: &Browse) -> Result<Vec<FileSummary>> {
    let condition = Condition::new(&Query::default(), &browse.filter);
    let mut sql = format!(
        "SELECT {COLUMNS} FROM files f JOIN projects p ON p.id = f.project WHERE {}",
        condition.sql
    );
    let mut values = condition.values;
    for part in &browse.title {
        sql.push_str(" AND instr(lower(f.title), lower(?)) > 0");
        values.push(Value::Text(part.clone()));
    }
    if let Some(address) = &browse.address {
        let pattern = pattern(address);
        sql.push_str(
            " AND (f.permalink GLOB ? OR p.name || '/' || f.permalink GLOB ? \
             OR f.permalink GLOB lower(p.name) || '/' || ? OR f.path GLOB ?)",
        );
        values.extend((0..4).map(|_| Value::Text(pattern.clone())));
    }
    sql.push_str(match (browse.title.is_empty(), browse.order) {
        (false, _) => " ORDER BY length(f.title), f.updated_ms DESC, f.path",
        (true, ListOrder::Path) => " ORDER BY p.name, f.path",
        (true, ListOrder::Newest) => " ORDER BY f.updated_ms DESC, f.path",
    });
    sql.push_str(" LIMIT ? OFFSET ?");
    values.push(Value::Integer(i64::try_from(browse.limit).unwrap_or(i64::MAX)));
    values.push(Value::Integer(i64::try_from(browse.offset).unwrap_or(i64::MAX)));
    files(db, &sql, values)
}

/// Everything at or below a folder, what is no text included, by path.
pub(crate) fn everything(
    db: &Connection,
    project: &ProjectName,
    folder: Option<&NotePath>,
) -> Result<Vec<FileSummary>> {
    let mut sql = format!(
        "SELECT {COLUMNS} FROM files f JOIN projects p ON p.id = f.project \
         WHERE p.name = ? AND f.kind <> 0"
    );
    let mut values = vec![Value::Text(project.to_string())];
    if let Some(folder) = folder {
        sql.push_str(" AND f.path > ? AND f.path < ?");
        values.push(Value::Text(format!("{folder}/")));
        values.push(Value::Text(format!("{folder}0")));
    }
    sql.push_str(" ORDER BY f.path");
    files(db, &sql, values)
}

/// The files of a project that have this permalink.
pub(crate) fn with_permalink(
    db: &Connection,
    project: &ProjectName,
    permalink: &str,
) -> Result<Vec<FileSummary>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM files f JOIN projects p ON p.id = f.project \
         WHERE p.name = ? AND f.permalink = ? AND f.kind <> 0 ORDER BY f.path"
    );
    files(db, &sql, vec![Value::Text(project.to_string()), Value::Text(permalink.to_owned())])
}

fn files(db: &Connection, sql: &str, values: Vec<Value>) -> Result<Vec<FileSummary>> {
    let mut query = db.prepare_cached(sql)?;
    let rows = query.query_map(params_from_iter(values), summary)?;
    Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// An address as SQLite's GLOB takes it: only `*` means more than itself.
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
