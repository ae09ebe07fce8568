//! Notes that point to each other: which note a link means, and how notes hang together.

mod link;
mod walk;

pub use link::{
    LinkCandidate, LinkKeys, Resolution, Strictness, alias_key, choose, gives_way, likeliest,
    link_keys, meant, meant_exactly, seen_from,
};
pub use walk::{Edge, Neighbour, Neighbourhood, Route, neighbours, shortest_path};
