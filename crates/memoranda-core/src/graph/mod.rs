//! The graph of notes: link resolution and traversal.

mod link;
mod walk;

pub use link::{
    LinkCandidate, LinkKeys, LinkResolution, LinkStrictness, alias_key, choose_candidate,
    fallback_match, is_shadowed, link_keys, resolve_exact_title, resolve_link,
    resolve_relative_link,
};
pub use walk::{
    GraphEdge, GraphNeighbour, GraphNeighbourhood, GraphRoute, find_neighbours, shortest_path,
};
