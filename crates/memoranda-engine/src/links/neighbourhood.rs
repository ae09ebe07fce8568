//! The graph around a note: what it links to, what links to it, and how two notes connect.

use memoranda_core::graph::GraphEdge;
use memoranda_store::GraphNode;

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;

/// Start and limits of a walk through the links.
#[derive(Clone, Debug)]
pub struct GraphRequest {
    /// The note.
    pub place: NoteLocation,
    /// Maximum number of links between the start and a note.
    pub depth: usize,
    /// Maximum number of notes.
    pub max: usize,
}

/// The notes around one.
#[derive(Clone, Debug)]
pub struct NoteNeighbourhood {
    /// The note in the middle.
    pub centre: GraphNode,
    /// The notes around it, nearest first.
    pub notes: Vec<NeighbourNode>,
    /// Links of the note whose targets do not exist yet: relation type and name.
    pub unresolved: Vec<(String, String)>,
    /// True if the limit left some notes out.
    pub truncated: bool,
}

/// A note near another.
#[derive(Clone, Debug)]
pub struct NeighbourNode {
    /// The note.
    pub node: GraphNode,
    /// Number of links between the start and the note.
    pub depth: usize,
    /// The link by which it was reached.
    pub via: NeighbourLink,
}

/// A link, with the direction in which it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourLink {
    /// The number of the note that holds it.
    pub from: i64,
    /// The number of the note that it means.
    pub to: i64,
    /// Relation type.
    pub relation_type: String,
}

/// A way from one note to another.
#[derive(Clone, Debug)]
pub struct GraphPath {
    /// The notes on the way, both ends included.
    pub notes: Vec<GraphNode>,
    /// The links between them, one less.
    pub links: Vec<NeighbourLink>,
}

impl Memory {
    /// The notes around one.
    pub fn neighbours(&self, request: &GraphRequest) -> Result<NoteNeighbourhood> {
        let centre = self.indexed(&request.place)?;
        let found = self.snapshot()?.neighbours(&[centre.id], request.depth, request.max)?;
        let mut notes = Vec::with_capacity(found.found.len());
        for neighbour in found.found {
            if let Some(node) = self.snapshot()?.node(neighbour.id)? {
                notes.push(NeighbourNode {
                    node,
                    depth: neighbour.depth,
                    via: link(neighbour.via),
                });
            }
        }
        let relations = self.snapshot()?.relations_from(centre.id)?;
        let unresolved = relations.into_iter().filter(|relation| relation.target_file.is_none());
        let unresolved = unresolved.map(|relation| (relation.relation_type, relation.target));
        Ok(NoteNeighbourhood {
            centre,
            notes,
            unresolved: unresolved.collect(),
            truncated: found.truncated,
        })
    }

    /// Finds a shortest path between two notes; `None` if the notes are not connected.
    pub fn connect(
        &self,
        from: &NoteLocation,
        to: &NoteLocation,
        max_depth: usize,
    ) -> Result<Option<GraphPath>> {
        let (from, to) = (self.indexed(from)?, self.indexed(to)?);
        let Some(route) = self.snapshot()?.path(from.id, to.id, max_depth)? else {
            return Ok(None);
        };
        let mut notes = Vec::with_capacity(route.notes.len());
        for id in route.notes {
            notes.extend(self.snapshot()?.node(id)?);
        }
        Ok(Some(GraphPath { notes, links: route.edges.into_iter().map(link).collect() }))
    }

    fn indexed(&self, place: &NoteLocation) -> Result<GraphNode> {
        let snapshot = self.snapshot()?;
        let file = snapshot.file(&place.project, &place.path)?;
        let node = file.map(|file| snapshot.node(file.id)).transpose()?.flatten();
        node.ok_or_else(|| self.not_indexed(place))
    }

    /// Says that the index knows no such note.
    pub(crate) fn not_indexed(&self, place: &NoteLocation) -> EngineError {
        EngineError::NotFound {
            identifier: place.path.to_string(),
            scope: format!("project {}", place.project),
            suggestions: Vec::new(),
        }
    }
}

fn link(edge: GraphEdge<i64, String>) -> NeighbourLink {
    NeighbourLink { from: edge.from, to: edge.to, relation_type: edge.label }
}
