//! Breadth-first search over the graph of notes. Each level needs one lookup in the store. Links
//! are followed in both directions.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// A link from one note to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GraphEdge<Id, Label> {
    /// Note that contains the link.
    pub from: Id,
    /// Note that the link points to.
    pub to: Id,
    /// Data of the caller, such as the relation type.
    pub label: Label,
}

impl<Id: Copy + Eq, Label> GraphEdge<Id, Label> {
    /// Returns the other end if `end` is one of the two ends.
    fn other_end(&self, end: Id) -> Option<Id> {
        if self.from == end { Some(self.to) } else { (self.to == end).then_some(self.from) }
    }
}

/// A note reached by a traversal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphNeighbour<Id, Label> {
    /// Identity of the note.
    pub id: Id,
    /// Number of links from the nearest start note, at least 1.
    pub depth: usize,
    /// Link by which the note was reached.
    pub via: GraphEdge<Id, Label>,
}

/// Result of [`find_neighbours`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphNeighbourhood<Id, Label> {
    /// Notes without the start notes, nearest first.
    pub found: Vec<GraphNeighbour<Id, Label>>,
    /// True if the limit left out further notes.
    pub truncated: bool,
}

/// Finds notes at most `depth` links away from any of `start`, at most `max` of them. `edges`
/// returns the links from and to the notes in its argument.
pub fn find_neighbours<Id, Label, Failure>(
    start: &[Id],
    depth: usize,
    max: usize,
    mut edges: impl FnMut(&[Id]) -> Result<Vec<GraphEdge<Id, Label>>, Failure>,
) -> Result<GraphNeighbourhood<Id, Label>, Failure>
where
    Id: Copy + Eq + Hash,
{
    let mut seen: HashSet<Id> = HashSet::new();
    let mut level: Vec<Id> = start.iter().copied().filter(|&id| seen.insert(id)).collect();
    let mut found: Vec<GraphNeighbour<Id, Label>> = Vec::new();
    for depth in 1..=depth {
        if level.is_empty() {
            break;
        }
        let on_level: HashSet<Id> = level.iter().copied().collect();
        let mut next = Vec::new();
        for edge in edges(&level)? {
            for end in [edge.from, edge.to] {
                let Some(id) = edge.other_end(end).filter(|_| on_level.contains(&end)) else {
                    continue;
                };
                if seen.contains(&id) {
                    continue;
                }
                if found.len() == max {
                    return Ok(GraphNeighbourhood { found, truncated: true });
                }
                seen.insert(id);
                next.push(id);
                found.push(GraphNeighbour { id, depth, via: edge });
                // The other end is on the level and therefore already seen.
                break;
            }
        }
        level = next;
    }
    Ok(GraphNeighbourhood { found, truncated: false })
}

/// A path from one note to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphRoute<Id, Label> {
    /// Notes on the path, both ends included.
    pub notes: Vec<Id>,
    /// Links between consecutive notes, each in its written direction.
    pub edges: Vec<GraphEdge<Id, Label>>,
}

/// Finds a shortest path of at most `max_depth` links; `None` if the notes are not connected within
/// it.
pub fn shortest_path<Id, Label, Failure>(
    from: Id,
    to: Id,
    max_depth: usize,
    mut edges: impl FnMut(&[Id]) -> Result<Vec<GraphEdge<Id, Label>>, Failure>,
) -> Result<Option<GraphRoute<Id, Label>>, Failure>
where
    Id: Copy + Eq + Hash,
    Label: Clone,
{
    let mut near = SearchFrontier::new(from);
    let mut far = SearchFrontier::new(to);
    if from == to {
        return Ok(Some(GraphRoute { notes: vec![from], edges: Vec::new() }));
    }
    // Bidirectional search: two small frontiers contain far fewer notes than one large one.
    for _ in 0..max_depth {
        let (growing, other) =
            if near.level.len() <= far.level.len() { (&mut near, &far) } else { (&mut far, &near) };
        if growing.level.is_empty() {
            return Ok(None);
        }
        let found = edges(&growing.level)?;
        if let Some(meeting) = growing.grow(found, other) {
            return Ok(Some(route(&near, &far, meeting)));
        }
    }
    Ok(None)
}

/// One side of the bidirectional search.
struct SearchFrontier<Id, Label> {
    /// Link by which each note was reached; `None` for the start.
    reached: HashMap<Id, Option<BacktrackStep<Id, Label>>>,
    /// Notes of the outermost level.
    level: Vec<Id>,
}

/// One link on the way back to the start.
#[derive(Clone)]
struct BacktrackStep<Id, Label> {
    edge: GraphEdge<Id, Label>,
    towards: Id,
}

impl<Id: Copy + Eq + Hash, Label: Clone> SearchFrontier<Id, Label> {
    fn new(centre: Id) -> Self {
        Self { reached: HashMap::from([(centre, None)]), level: vec![centre] }
    }

    /// Adds the next level and stops at the first note that the other side has reached. That note
    /// is on a shortest path, because the two sides had no note in common before.
    fn grow(&mut self, edges: Vec<GraphEdge<Id, Label>>, other: &Self) -> Option<Id> {
        let on_level: HashSet<Id> = self.level.drain(..).collect();
        for edge in edges {
            for end in [edge.from, edge.to] {
                let Some(id) = edge.other_end(end).filter(|_| on_level.contains(&end)) else {
                    continue;
                };
                if self.reached.contains_key(&id) {
                    continue;
                }
                self.reached.insert(id, Some(BacktrackStep { edge: edge.clone(), towards: end }));
                if other.reached.contains_key(&id) {
                    return Some(id);
                }
                self.level.push(id);
            }
        }
        None
    }

    /// Returns the links from a note back to the start.
    fn path_to_start(&self, mut at: Id) -> Vec<BacktrackStep<Id, Label>> {
        let mut steps = Vec::new();
        while let Some(Some(step)) = self.reached.get(&at) {
            steps.push(step.clone());
            at = step.towards;
        }
        steps
    }
}

fn route<Id: Copy + Eq + Hash, Label: Clone>(
    near: &SearchFrontier<Id, Label>,
    far: &SearchFrontier<Id, Label>,
    meeting: Id,
) -> GraphRoute<Id, Label> {
    let mut notes = Vec::new();
    let mut edges = Vec::new();
    for step in near.path_to_start(meeting).into_iter().rev() {
        notes.push(step.towards);
        edges.push(step.edge);
    }
    notes.push(meeting);
    for step in far.path_to_start(meeting) {
        edges.push(step.edge);
        notes.push(step.towards);
    }
    GraphRoute { notes, edges }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    type LinkPairs = [(u64, u64)];

    /// The links from and to any of the notes, as a store would give them.
    fn store(
        links: &LinkPairs,
    ) -> impl FnMut(&[u64]) -> Result<Vec<GraphEdge<u64, ()>>, Infallible> {
        move |ids| {
            let found = links.iter().filter(|(from, to)| ids.contains(from) || ids.contains(to));
            Ok(found.map(|&(from, to)| GraphEdge { from, to, label: () }).collect())
        }
    }

    const LINKS: &LinkPairs = &[(1, 2), (3, 1), (2, 4), (4, 5), (5, 6), (6, 6), (8, 9)];

    #[test]
    fn neighbours_come_level_by_level() {
        let check = |start: &[u64], depth, max, expected: &[(u64, usize)], truncated| {
            let near = find_neighbours(start, depth, max, store(LINKS)).unwrap();
            let found: Vec<_> = near.found.iter().map(|n| (n.id, n.depth)).collect();
            assert_eq!((found.as_slice(), near.truncated), (expected, truncated));
        };
        check(&[1], 0, 9, &[], false);
        check(&[1], 1, 9, &[(2, 1), (3, 1)], false);
        check(&[1], 2, 9, &[(2, 1), (3, 1), (4, 2)], false);
        check(&[1], 9, 2, &[(2, 1), (3, 1)], true);
        check(&[1], 1, 2, &[(2, 1), (3, 1)], false);
        check(&[6], 1, 9, &[(5, 1)], false);
        check(&[1, 2], 1, 9, &[(3, 1), (4, 1)], false);
        check(&[7], 5, 9, &[], false);
        check(&[], 5, 9, &[], false);
    }

    #[test]
    fn paths_are_shortest_and_may_run_against_links() {
        let check = |from, to, max_depth, expected: Option<&[u64]>| {
            let route = shortest_path(from, to, max_depth, store(LINKS)).unwrap();
            assert_eq!(route.map(|route| route.notes).as_deref(), expected);
        };
        check(1, 1, 0, Some(&[1]));
        check(3, 6, 5, Some(&[3, 1, 2, 4, 5, 6]));
        check(6, 3, 5, Some(&[6, 5, 4, 2, 1, 3]));
        check(3, 6, 4, None);
        check(1, 8, 99, None);
        check(7, 1, 99, None);
    }

    #[test]
    fn a_failing_lookup_stops_the_traversal() {
        let failing = |_: &[u64]| Err::<Vec<GraphEdge<u64, ()>>, _>("broken");
        assert_eq!(find_neighbours(&[1], 1, 1, failing), Err("broken"));
        assert_eq!(shortest_path(1, 2, 1, failing), Err("broken"));
    }

    proptest! {
        #[test]
        fn path_length_equals_neighbour_depth(
            links in prop::collection::vec((0u64..12, 0u64..12), 0..24),
            from in 0u64..12,
            to in 0u64..12,
        ) {
            let near = find_neighbours(&[from], 99, 99, store(&links)).unwrap();
            let depth = near.found.iter().find(|n| n.id == to).map(|n| n.depth);
            let depth = if from == to { Some(0) } else { depth };
            let route = shortest_path(from, to, 99, store(&links)).unwrap();
            prop_assert_eq!(route.as_ref().map(|route| route.edges.len()), depth);
            if let Some(route) = route {
                prop_assert_eq!(route.notes.first(), Some(&from));
                prop_assert_eq!(route.notes.last(), Some(&to));
                for (pair, edge) in route.notes.windows(2).zip(&route.edges) {
                    prop_assert_eq!(edge.other_end(pair[0]), Some(pair[1]));
                }
                let shorter = shortest_path(from, to, route.edges.len(), store(&links)).unwrap();
                prop_assert!(shorter.is_some());
            }
        }
    }
}
