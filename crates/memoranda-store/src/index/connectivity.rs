//! Connectivity of the notes in a folder, restricted to relations within it.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::folder_graph::{FolderGraph, NodeRow};
use crate::error::Result;

/// Maximum number of notes that are queried one by one. For more notes, one scan of all relations
/// is faster.
const MAX_QUERIED_NODES: usize = 20_000;

/// Connectivity of the notes in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connectivity {
    /// Number of relations from the folder to each note, in the order of the notes.
    pub incoming: Vec<u64>,
    /// Notes with a relation to a target outside the folder.
    pub loose: HashSet<i64>,
}

/// Computes the connectivity of all notes of a folder, given in the order of their numbers. A
/// relation with metadata resolves only within its own folder. A handwritten relation can resolve
/// to a note outside, and then counts as loose.
fn connectivity(db: &Connection, nodes: &[NodeRow]) -> Result<Connectivity> {
    let (mut ties, typed) = match nodes.len() {
        ..=MAX_QUERIED_NODES => connectivity_by_node(db, nodes)?,
        _ => connectivity_by_scan(db, nodes)?,
    };
    let place = |file: i64| nodes.binary_search_by_key(&file, |node| node.file).ok();
    for (file, target) in typed {
        if place(file).is_none() {
            continue;
        }
        match target.and_then(place).and_then(|place| ties.incoming.get_mut(place)) {
            Some(count) => *count += 1,
            None => {
                ties.loose.insert(file);
            }
        }
    }
    Ok(ties)
}

/// A handwritten relation: its source and its resolved target.
type TypedRelation = (i64, Option<i64>);

/// Computes the connectivity of a few notes, and returns handwritten relations unresolved.
fn connectivity_by_node(
    db: &Connection,
    nodes: &[NodeRow],
) -> Result<(Connectivity, Vec<TypedRelation>)> {
    let mut incoming = db.prepare_cached(
        "SELECT count(*) FROM relations INDEXED BY relations_by_target \
         WHERE target_file = ? AND form = 2",
    )?;
    let mut unbound = db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM relations INDEXED BY relations_unbound \
         WHERE target_file IS NULL AND file = ? AND form > 0)",
    )?;
    let mut by_hand = db.prepare_cached(
        "SELECT target_file FROM relations INDEXED BY relations_typed WHERE form = 1 AND file = ?",
    )?;
    let (mut ties, mut typed) = (Connectivity::default(), Vec::new());
    for node in nodes {
        let count: i64 = incoming.query_row([node.file], |row| row.get(0))?;
        ties.incoming.push(count as u64);
        if unbound.query_row([node.file], |row| row.get(0))? {
            ties.loose.insert(node.file);
        }
        let mut rows = by_hand.query([node.file])?;
        while let Some(row) = rows.next()? {
            typed.push((node.file, row.get(0)?));
        }
    }
    Ok((ties, typed))
}

/// Computes the connectivity of many notes by one scan of all relations, in the order of the notes.
fn connectivity_by_scan(
    db: &Connection,
    nodes: &[NodeRow],
) -> Result<(Connectivity, Vec<TypedRelation>)> {
    let mut ties = Connectivity { incoming: vec![0; nodes.len()], ..Connectivity::default() };
    let mut query = db.prepare_cached(
        "SELECT target_file, count(*) FROM relations INDEXED BY relations_by_target \
         WHERE target_file IS NOT NULL AND form = 2 GROUP BY target_file ORDER BY target_file",
    )?;
    let mut rows = query.query([])?;
    let mut places = nodes.iter().zip(&mut ties.incoming).peekable();
    while let Some(row) = rows.next()? {
        let target: i64 = row.get(0)?;
        while places.next_if(|(node, _)| node.file < target).is_some() {}
        if let Some((_, count)) = places.next_if(|(node, _)| node.file == target) {
            *count = row.get::<_, i64>(1)? as u64;
        }
    }
    let mut query = db.prepare_cached(
        "SELECT DISTINCT file FROM relations INDEXED BY relations_unbound \
         WHERE target_file IS NULL AND form > 0",
    )?;
    ties.loose = query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut query = db.prepare_cached(
        "SELECT file, target_file FROM relations INDEXED BY relations_typed WHERE form = 1",
    )?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let typed = rows.collect::<rusqlite::Result<_>>()?;
    Ok((ties, typed))
}

impl FolderGraph<'_> {
    /// Returns the connectivity of these notes, which must be all notes of the folder.
    pub fn connectivity(&self, of: &[NodeRow]) -> Result<Connectivity> {
        self.query(|db, _, _| connectivity(db, of))
    }

    /// Returns the names related to a note within the folder, in either direction, each once and at
    /// most `limit`. A missing target is listed by its name.
    pub fn neighbour_names(&self, file: i64, limit: usize) -> Result<Vec<String>> {
        self.query(|db, project, folder| {
            let mut query = db.prepare_cached(
                "SELECT DISTINCT ifnull(f.title, o.name) FROM ( \
                   SELECT target_file AS other, ifnull(exact_name, target) AS name FROM relations \
                   WHERE file = ?1 AND form > 0 \
                   UNION ALL SELECT file, NULL FROM relations WHERE target_file = ?1 AND form > 0) o \
                 LEFT JOIN files f ON f.id = o.other AND f.project = ?2 AND f.folder = ?3 || '/' \
                 WHERE ifnull(f.title, o.name) IS NOT NULL LIMIT ?4",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = query.query_map(params![file, project, folder, limit], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn ties_are_the_same_however_they_are_counted() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        // The folder holds 2, 4 and 6; 1 and 9 lie elsewhere. Of each: from, to, form.
        let relations: [(i64, Option<i64>, i64); 10] = [
            (2, Some(4), 2),
            (2, Some(4), 2),
            (2, Some(6), 1),
            (4, Some(9), 1),
            (4, Some(6), 0),
            (6, None, 0),
            (6, Some(2), 2),
            (1, Some(4), 1),
            (9, Some(1), 2),
            (9, None, 2),
        ];
        for (n, (file, target, form)) in relations.into_iter().enumerate() {
            db.execute(
                "INSERT INTO relations (file, n, project, relation_type, target, target_key, \
                 target_file, line, form) VALUES (?, ?, 1, 'r', 't', 't', ?, 1, ?)",
                params![file, n as i64, target, form],
            )
            .unwrap();
        }
        let (importance, confidence, facts, relations, is_placeholder) = (None, None, 0, 0, false);
        let nodes = [2, 4, 6].map(|file| NodeRow {
            file,
            importance,
            confidence,
            facts,
            relations,
            is_placeholder,
        });
        let told = connectivity(&db, &nodes).unwrap();
        assert_eq!(told, Connectivity { incoming: vec![1, 2, 1], loose: HashSet::from([4]) });
        let (each, of_each) = connectivity_by_node(&db, &nodes).unwrap();
        let (mut all, mut of_all) = connectivity_by_scan(&db, &nodes).unwrap();
        all.loose.retain(|file| nodes.iter().any(|node| node.file == *file));
        of_all.retain(|(file, _)| nodes.iter().any(|node| node.file == *file));
        assert_eq!((each, of_each), (all, of_all));
    }
}
