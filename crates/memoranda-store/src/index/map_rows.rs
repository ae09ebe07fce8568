//! Rows of the map: every note with its times, number of links, first writer and mean vector.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use memoranda_core::change::ChangeChannel;
use memoranda_core::embed::{STATIC_VECTOR_BYTES, STATIC_VECTOR_DIMS, StaticVector};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::error::Result;
use crate::snapshot::Snapshot;

/// Maximum number of passages whose vectors count for a note.
const MAX_PASSAGES: usize = 8;

/// A note of the map.
#[derive(Clone, Debug)]
pub struct MapRow {
    /// Number in the index.
    pub file: i64,
    /// Project, shared by all rows of it.
    pub project: Arc<ProjectName>,
    /// Path.
    pub path: NotePath,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
    /// Number of links from and to the note.
    pub degree: u32,
    /// Client and channel of the first write; `None` if the log does not contain it.
    pub writer: Option<(Arc<str>, ChangeChannel)>,
}

impl Snapshot<'_> {
    /// Returns every note, by its number.
    pub fn map_rows(&self) -> Result<Vec<MapRow>> {
        self.query(|db| {
            let mut degrees: HashMap<i64, u32> = HashMap::new();
            let mut links = db.prepare_cached(
                "SELECT file, target_file FROM relations WHERE target_file IS NOT NULL",
            )?;
            let mut rows = links.query([])?;
            while let Some(row) = rows.next()? {
                for file in [row.get::<_, i64>(0)?, row.get::<_, i64>(1)?] {
                    *degrees.entry(file).or_default() += 1;
                }
            }
            // Numbers instead of names: there are as many entries as notes, and few clients.
            let mut writers: HashMap<i64, (usize, ChangeChannel)> = HashMap::new();
            let mut clients: Vec<Arc<str>> = Vec::new();
            // The changes in their order, so that the last first write of a path counts.
            let mut first = db.prepare_cached(
                "SELECT f.id, k.client, k.channel FROM changes c \
                 CROSS JOIN commits k ON k.row = c.commit_row \
                 CROSS JOIN files f ON f.project = c.project AND f.path = c.path \
                 WHERE c.before IS NULL OR c.moved_from IS NOT NULL",
            )?;
            let mut rows = first.query([])?;
            while let Some(row) = rows.next()? {
                let channel = row.get_ref(2)?.as_str().unwrap_or_default();
                let channel = ChangeChannel::parse(channel).unwrap_or(ChangeChannel::Disk);
                let client = row.get_ref(1)?.as_str().unwrap_or_default();
                let known = clients.iter().position(|known| **known == *client);
                let number = known.unwrap_or(clients.len());
                if known.is_none() {
                    clients.push(client.into());
                }
                writers.insert(row.get(0)?, (number, channel));
            }
            let mut files = db.prepare_cached(
                "SELECT f.id, p.id, p.name, f.path, f.created_ms, f.updated_ms FROM files f \
                 JOIN projects p ON p.id = f.project WHERE f.kind IN (1, 2) ORDER BY f.id",
            )?;
            let mut rows = files.query([])?;
            let mut found = Vec::new();
            let mut projects: Vec<(i64, Arc<ProjectName>)> = Vec::new();
            while let Some(row) = rows.next()? {
                let (file, number): (i64, i64) = (row.get(0)?, row.get(1)?);
                let known = projects.iter().find(|(known, _)| *known == number);
                let project = match known {
                    Some((_, project)) => Arc::clone(project),
                    None => {
                        let name = row.get_ref(2)?.as_str().unwrap_or_default();
                        let Ok(name) = ProjectName::parse(name) else { continue };
                        let name = Arc::new(name);
                        projects.push((number, Arc::clone(&name)));
                        name
                    }
                };
                let path = row.get_ref(3)?.as_str().unwrap_or_default();
                let Ok(path) = NotePath::parse(path) else { continue };
                let time = |ms: i64| Timestamp::from_millisecond(ms).unwrap_or_default();
                found.push(MapRow {
                    file,
                    project,
                    path,
                    created: time(row.get(4)?),
                    updated: time(row.get(5)?),
                    degree: degrees.get(&file).copied().unwrap_or(0),
                    writer: writers.get(&file).and_then(|(client, channel)| {
                        Some((Arc::clone(clients.get(*client)?), *channel))
                    }),
                });
            }
            Ok(found)
        })
    }

    /// Returns the mean vector of some notes, by their numbers; none for a note without passages.
    pub fn mean_vectors(&self, files: &[i64]) -> Result<HashMap<i64, [i8; STATIC_VECTOR_DIMS]>> {
        self.query(|db| {
            let mut select = db.prepare_cached("SELECT data FROM vectors WHERE file = ?")?;
            let mut found = HashMap::with_capacity(files.len());
            for &file in files {
                let mut rows = select.query([file])?;
                let Some(row) = rows.next()? else { continue };
                let data = row.get_ref(0)?.as_blob().unwrap_or_default();
                let mut sum = [0.0f32; STATIC_VECTOR_DIMS];
                let vectors = data.chunks_exact(STATIC_VECTOR_BYTES).filter_map(StaticVector::read);
                for vector in vectors.take(MAX_PASSAGES) {
                    for (sum, number) in sum.iter_mut().zip(vector.numbers) {
                        *sum += f32::from(number) * vector.scale;
                    }
                }
                let largest = sum.iter().fold(0.0f32, |most, value| most.max(value.abs()));
                if largest > 0.0 {
                    // Rounding to whole numbers keeps the direction.
                    found.insert(file, sum.map(|value| (value / largest * 127.0).round() as i8));
                }
            }
            Ok(found)
        })
    }
}
