//! The graph in the index: files and their relations, read one level at a time.

use memoranda_core::graph::{
    GraphEdge, GraphNeighbourhood, GraphRoute, find_neighbours, shortest_path,
};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use rusqlite::Connection;

use super::file_queries;
use crate::error::{Result, StoreError};
use crate::snapshot::Snapshot;

/// A note in the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// The file's number in the index.
    pub id: i64,
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// Title.
    pub title: String,
    /// Permalink.
    pub permalink: String,
}

impl Snapshot<'_> {
    /// Returns the notes at most `depth` relations away from these.
    pub fn neighbours(
        &self,
        start: &[i64],
        depth: usize,
        max: usize,
    ) -> Result<GraphNeighbourhood<i64, String>> {
        self.query(|db| find_neighbours(start, depth, max, |level| edges(db, level)))
    }

    /// Returns a shortest path from one note to another.
    pub fn path(
        &self,
        from: i64,
        to: i64,
        max_depth: usize,
    ) -> Result<Option<GraphRoute<i64, String>>> {
        self.query(|db| shortest_path(from, to, max_depth, |level| edges(db, level)))
    }
}

/// Returns the relations from and to any of these notes. Each note has its own query: one cached
/// statement is cheaper than a statement for each number of notes.
fn edges(db: &Connection, level: &[i64]) -> Result<Vec<GraphEdge<i64, String>>, StoreError> {
    let mut edges = Vec::new();
    for column in ["file", "target_file"] {
        let sql = format!(
            "SELECT file, n, target_file, relation_type FROM relations \
             WHERE {column} = ? AND target_file IS NOT NULL"
        );
        let mut query = db.prepare_cached(&sql)?;
        let mut found = Vec::new();
        for note in level {
            let rows = query.query_map([note], |row| {
                let edge = GraphEdge { from: row.get(0)?, to: row.get(2)?, label: row.get(3)? };
                Ok((row.get::<_, i64>(1)?, edge))
            })?;
            for row in rows {
                found.push(row?);
            }
        }
        found.sort_by_key(|(n, edge)| (edge.from, *n));
        edges.extend(found.into_iter().map(|(_, edge)| edge));
    }
    Ok(edges)
}

impl Snapshot<'_> {
    /// Returns a note of the graph.
    pub fn node(&self, id: i64) -> Result<Option<GraphNode>> {
        self.query(|db| {
            Ok(file_queries::by_id(db, id)?.map(|file| GraphNode {
                id: file.id,
                project: file.project,
                path: file.path,
                title: file.title,
                permalink: file.permalink,
            }))
        })
    }
}
