//! The map: a place for every note, computed once and kept as a cache next to the index.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use memoranda_core::change::ChangeChannel;
use memoranda_core::id::ProjectName;
use memoranda_core::map_layout::{MapDisc, MapLayout, MapNote};
use memoranda_core::path::NotePath;
use memoranda_store::{MapRow, hash};

use crate::error::Result;
use crate::history::agent::AgentIdentity;
use crate::{Author, Memory};

/// First bytes of the cache; another format is computed again.
const CACHE_MAGIC: &[u8; 8] = b"memomap1";
/// Minimum number of keys without a note, for which the cache is cleaned.
const MAX_STALE: usize = 10_000;

/// Client and channel of the first write of a note, if the log has them.
type MapWriter = Option<(Arc<str>, ChangeChannel)>;

/// The map of all notes.
#[derive(Clone, Debug)]
pub struct VaultMap {
    /// Projects, each with its disc.
    pub discs: Vec<(ProjectName, MapDisc)>,
    /// Authors of the first versions of the notes.
    pub agents: Vec<AgentIdentity>,
    /// Notes.
    pub notes: Vec<MapPoint>,
}

/// A note on the map.
#[derive(Clone, Debug)]
pub struct MapPoint {
    /// Number in the index.
    pub file: i64,
    /// Project, shared by all notes of it.
    pub project: Arc<ProjectName>,
    /// Place.
    pub x: f32,
    /// Place.
    pub y: f32,
    /// Number of the agent who wrote it first.
    pub agent: usize,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
    /// Time of the last use by an agent.
    pub last_read: Option<Timestamp>,
    /// Number of links from and to it.
    pub degree: u32,
}

impl Memory {
    /// Returns the map. A note that has no place yet gets one; no other note moves.
    pub fn map(&self, project: Option<&ProjectName>) -> Result<VaultMap> {
        let rows = self.snapshot()?.map_rows()?;
        let mut layout = self.read_layout();
        let keys: Vec<u64> = rows.iter().map(|row| note_key(&row.project, &row.path)).collect();
        let is_new = |key: &u64| !layout.points.contains_key(key);
        if keys.iter().any(is_new) || self.has_new_project(&layout, &rows) {
            self.place_new(&mut layout, &rows, &keys)?;
        }
        let uses = self.store().last_uses().unwrap_or_default();
        let mut notes = Vec::with_capacity(rows.len());
        let mut agents: Vec<AgentIdentity> = Vec::new();
        // There are few writers.
        let mut writers: Vec<(MapWriter, usize)> = Vec::new();
        for (row, key) in rows.into_iter().zip(keys) {
            if project.is_some_and(|project| *row.project != *project) {
                continue;
            }
            let Some(&(x, y)) = layout.points.get(&key) else { continue };
            let agent = match writers.iter().find(|(writer, _)| *writer == row.writer) {
                Some((_, number)) => *number,
                None => {
                    let agent = match &row.writer {
                        Some((client, channel)) => {
                            self.agent_of(&Author::new(client.to_string(), "", *channel))
                        }
                        None => AgentIdentity::of_client(""),
                    };
                    // Two writers can be one agent.
                    let known = agents.iter().position(|known| *known == agent);
                    let number = known.unwrap_or(agents.len());
                    if known.is_none() {
                        agents.push(agent);
                    }
                    writers.push((row.writer.clone(), number));
                    number
                }
            };
            let last_read = if uses.is_empty() {
                None
            } else {
                uses.get(&(ProjectName::clone(&row.project), row.path)).copied()
            };
            notes.push(MapPoint {
                file: row.file,
                project: row.project,
                x,
                y,
                agent,
                created: row.created,
                updated: row.updated,
                last_read,
                degree: row.degree,
            });
        }
        let discs = layout.discs.iter().filter_map(|(name, disc)| {
            let name = ProjectName::parse(name).ok()?;
            (project.is_none_or(|project| *project == name)).then_some((name, *disc))
        });
        Ok(VaultMap { discs: discs.collect(), agents, notes })
    }

    fn has_new_project(&self, layout: &MapLayout, rows: &[MapRow]) -> bool {
        rows.iter().any(|row| !layout.discs.contains_key(row.project.as_str()))
    }

    fn place_new(&self, layout: &mut MapLayout, rows: &[MapRow], keys: &[u64]) -> Result<()> {
        if layout.points.len() > keys.len() + MAX_STALE {
            let known: std::collections::HashSet<u64> = keys.iter().copied().collect();
            layout.points.retain(|key, _| known.contains(key));
        }
        let files: Vec<i64> = rows.iter().map(|row| row.file).collect();
        let vectors = self.snapshot()?.mean_vectors(&files)?;
        let mut projects: BTreeMap<String, Vec<MapNote>> = BTreeMap::new();
        for (row, key) in rows.iter().zip(keys) {
            let vector = vectors.get(&row.file).copied();
            let vector = vector.unwrap_or([0; memoranda_core::embed::STATIC_VECTOR_DIMS]);
            let notes = projects.entry(row.project.to_string()).or_default();
            notes.push(MapNote { key: *key, vector });
        }
        if layout.place(&projects) {
            // A cache that cannot be kept is computed again, with the same result for the same notes.
            self.store().write_map_cache(&encode(layout)).ok();
        }
        Ok(())
    }

    fn read_layout(&self) -> MapLayout {
        let bytes = self.store().read_map_cache().ok().flatten();
        bytes.and_then(|bytes| decode(&bytes)).unwrap_or_default()
    }
}

/// Returns the stable key of a note.
fn note_key(project: &ProjectName, path: &NotePath) -> u64 {
    let hash = hash(format!("{project}/{path}").as_bytes());
    hash.0.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
}

fn encode(layout: &MapLayout) -> Vec<u8> {
    let mut bytes = CACHE_MAGIC.to_vec();
    bytes.extend((layout.discs.len() as u32).to_le_bytes());
    for (name, disc) in &layout.discs {
        bytes.extend((name.len() as u32).to_le_bytes());
        bytes.extend(name.as_bytes());
        for value in [disc.x, disc.y, disc.radius] {
            bytes.extend(value.to_le_bytes());
        }
    }
    let points: BTreeMap<&u64, &(f32, f32)> = layout.points.iter().collect();
    for (key, (x, y)) in points {
        bytes.extend(key.to_le_bytes());
        bytes.extend(x.to_le_bytes());
        bytes.extend(y.to_le_bytes());
    }
    let sum = hash(&bytes);
    bytes.extend(&sum.0[..8]);
    bytes
}

fn decode(bytes: &[u8]) -> Option<MapLayout> {
    let (bytes, sum) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
    if hash(bytes).0.get(..8)? != sum {
        return None;
    }
    let mut rest = bytes.strip_prefix(CACHE_MAGIC)?;
    let mut discs = BTreeMap::new();
    for _ in 0..take_u32(&mut rest)? {
        let length = take_u32(&mut rest)? as usize;
        let (name, tail) = rest.split_at_checked(length)?;
        rest = tail;
        let (x, y, radius) = (take_f32(&mut rest)?, take_f32(&mut rest)?, take_f32(&mut rest)?);
        let name = String::from_utf8(name.to_vec()).ok()?;
        discs.insert(name, MapDisc { x, y, radius });
    }
    let mut points = HashMap::with_capacity(rest.len() / 16);
    while !rest.is_empty() {
        let (key, tail) = rest.split_first_chunk::<8>()?;
        rest = tail;
        points.insert(u64::from_le_bytes(*key), (take_f32(&mut rest)?, take_f32(&mut rest)?));
    }
    Some(MapLayout { discs, points })
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (first, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*first))
}

fn take_f32(bytes: &mut &[u8]) -> Option<f32> {
    let (first, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(f32::from_le_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_read_as_it_was_written_and_damage_is_noticed() {
        let mut layout = MapLayout::default();
        layout.discs.insert("main".to_owned(), MapDisc { x: 0.5, y: 0.25, radius: 0.1 });
        layout.points.extend((0..100).map(|key| (key, (0.5, 0.001 * key as f32))));
        let bytes = encode(&layout);
        assert_eq!(decode(&bytes), Some(layout));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(decode(&damaged), None, "byte {at}");
        }
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&bytes[..bytes.len() - 16]), None);
    }
}
