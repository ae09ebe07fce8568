//! What passages mean, kept beside them, and in memory for as long as the process lives.
//!
//! The index is the truth. What is in memory follows it by stamps, so that a search sees what
//! another process has just written, and reads nothing that it has read before. The first search of
//! a process keeps nothing: a command that asks once would pay for memory that nobody uses again.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use memoranda_core::embed::{BYTES, DIMS, Probe, Vector};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::digest::DigestedPassage;
use super::write::{PASSAGES_PER_FILE, first_passage};
use crate::error::Result;

/// Fewer passages are not worth a thread of their own.
const PASSAGES_A_THREAD: usize = 10_000;
const MAX_THREADS: usize = 4;

const NEXT_STAMP: &str = "(SELECT coalesce(max(stamp), 0) + 1 FROM vectors)";

/// Keeps the vectors of a file's passages.
pub(super) fn put(db: &Connection, file: i64, passages: &[DigestedPassage]) -> Result<()> {
    let most = passages.len().min(PASSAGES_PER_FILE as usize);
    let mut data = Vec::with_capacity(most * BYTES);
    passages.iter().take(most).for_each(|p| data.extend_from_slice(&p.vector.bytes()));
    db.prepare_cached(&format!(
        "INSERT OR REPLACE INTO vectors (file, stamp, passages, data) \
         VALUES (?, {NEXT_STAMP}, ?, ?)"
    ))?
    .execute(params![file, most as i64, data])?;
    Ok(())
}

/// Forgets the vectors of a file that is gone.
pub(super) fn remove(db: &Connection, file: i64) -> Result<()> {
    let sql =
        format!("UPDATE vectors SET stamp = {NEXT_STAMP}, passages = 0, data = x'' WHERE file = ?");
    db.prepare_cached(&sql)?.execute([file])?;
    Ok(())
}

/// The vectors of one file, for whoever does not need them all.
pub(super) fn of_file(db: &Connection, file: i64) -> Result<Vec<Option<Vector>>> {
    let mut select = db.prepare_cached("SELECT data FROM vectors WHERE file = ?")?;
    let data: Option<Vec<u8>> = select.query_row([file], |row| row.get(0)).optional()?;
    Ok(data.unwrap_or_default().chunks_exact(BYTES).map(Vector::read).collect())
}

/// The stamp of the last change.
pub(super) fn newest_stamp(db: &Connection) -> Result<i64> {
    let mut select = db.prepare_cached("SELECT coalesce(max(stamp), 0) FROM vectors")?;
    Ok(select.query_row([], |row| row.get(0))?)
}

fn count(db: &Connection) -> Result<u64> {
    let mut select = db.prepare_cached("SELECT coalesce(sum(passages), 0) FROM vectors")?;
    Ok(select.query_row([], |row| row.get::<_, i64>(0))? as u64)
}

/// All vectors, in memory.
#[derive(Default)]
pub(crate) struct VectorCache {
    /// Whether this process has searched before.
    used: AtomicBool,
    held: RwLock<Held>,
    counted: Mutex<Counted>,
}

/// How many passages there were when they were last counted.
#[derive(Clone, Copy, Default)]
struct Counted {
    index: Option<(u64, u64)>,
    stamp: i64,
    passages: u64,
}

#[derive(Default)]
struct Held {
    /// The index that they are of; another file has other numbers.
    index: Option<(u64, u64)>,
    stamp: i64,
    /// Where the passages of a file begin in the lists below, and how many they are.
    files: HashMap<i64, (usize, usize)>,
    passages: Vec<i64>,
    scales: Vec<f32>,
    numbers: Vec<[i8; DIMS]>,
    /// Places that no passage has any more.
    free: usize,
}

impl VectorCache {
    /// About how many passages there are: counted anew when many have changed.
    pub(super) fn passages(&self, db: &Connection, index: Option<(u64, u64)>) -> Result<u64> {
        let newest = newest_stamp(db)?;
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let few = (counted.passages / 100).max(20);
        if counted.index != index || newest.abs_diff(counted.stamp) > few {
            *counted = Counted { index, stamp: newest, passages: count(db)? };
        }
        Ok(counted.passages)
    }

    /// The passages nearest to a vector, nearest first, with how near they are.
    pub(super) fn nearest(
        &self,
        db: &Connection,
        index: Option<(u64, u64)>,
        vector: &Vector,
        count: usize,
    ) -> Result<Vec<(i64, f32)>> {
        let probe = Probe::new(vector);
        let mut nearest = Nearest::new(count);
        if !self.used.swap(true, Ordering::Relaxed) {
            let mut select = db.prepare_cached("SELECT file, data FROM vectors")?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                let first = first_passage(row.get(0)?);
                let data = row.get_ref(1)?.as_blob().unwrap_or_default();
                let vectors = data.chunks_exact(BYTES).filter_map(Vector::read);
                for (vector, passage) in vectors.zip(first..) {
                    nearest.offer(passage, probe.similarity(vector.scale, &vector.numbers));
                }
            }
            return Ok(nearest.in_order());
        }
        self.refresh(db, index)?;
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let parts = (held.passages.len() / PASSAGES_A_THREAD).clamp(1, cores.min(MAX_THREADS));
        Ok(held.nearest_in_parts(parts, &probe, count).in_order())
    }

    /// Takes in what was written since the last look.
    fn refresh(&self, db: &Connection, index: Option<(u64, u64)>) -> Result<()> {
        let newest = newest_stamp(db)?;
        {
            let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
            if held.index == index && held.stamp >= newest {
                return Ok(());
            }
        }
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if held.index != index || held.free > held.passages.len() / 2 {
            *held = Held { index, ..Held::default() };
        }
        let since = held.stamp;
        // All of them are read as they lie; the few that are new, by their stamps.
        let (index, most) = if since == 0 { ("NOT INDEXED", count(db)? as usize) } else { ("", 0) };
        held.reserve(most);
        let sql = format!("SELECT file, stamp, data FROM vectors {index} WHERE stamp > ?");
        let mut select = db.prepare_cached(&sql)?;
        let mut rows = select.query([since])?;
        while let Some(row) = rows.next()? {
            let (file, stamp): (i64, i64) = (row.get(0)?, row.get(1)?);
            let data = row.get_ref(2)?.as_blob().unwrap_or_default();
            held.put(file, data);
            held.stamp = held.stamp.max(stamp);
        }
        Ok(())
    }
}

/// The best of very many, without keeping them all.
struct Nearest {
    count: usize,
    /// What is less near than this is not among the best.
    floor: f32,
    found: Vec<(i64, f32)>,
}

impl Nearest {
    fn new(count: usize) -> Self {
        Self { count, floor: 0.0, found: Vec::with_capacity(count * 4) }
    }

    fn offer(&mut self, passage: i64, similarity: f32) {
        if similarity > self.floor {
            self.found.push((passage, similarity));
            if self.found.len() >= self.count * 4 {
                self.drop_the_rest();
            }
        }
    }

    fn drop_the_rest(&mut self) {
        if self.found.len() > self.count && self.count > 0 {
            let (_, &mut (_, last), _) = self.found.select_nth_unstable_by(self.count - 1, nearer);
            self.found.truncate(self.count);
            // One as near as the last may yet come before it by its number.
            self.floor = last.next_down();
        }
    }

    fn in_order(mut self) -> Vec<(i64, f32)> {
        self.drop_the_rest();
        self.found.sort_unstable_by(nearer);
        self.found
    }
}

fn nearer(a: &(i64, f32), b: &(i64, f32)) -> std::cmp::Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

impl Held {
    /// The nearest of all, each part sought by a thread of its own.
    fn nearest_in_parts(&self, parts: usize, probe: &Probe, count: usize) -> Nearest {
        let size = self.passages.len().div_ceil(parts);
        let scan = |part: usize| self.nearest(part * size..(part + 1) * size, probe, count);
        std::thread::scope(|scope| {
            let start = |part| std::thread::Builder::new().spawn_scoped(scope, move || scan(part));
            let others: Vec<_> = (1..parts).map(|part| (part, start(part))).collect();
            let mut nearest = scan(0);
            for (part, thread) in others {
                // What no thread could do is done here.
                let found = thread.ok().and_then(|thread| thread.join().ok());
                let found = found.unwrap_or_else(|| scan(part)).found;
                found.into_iter().for_each(|(passage, near)| nearest.offer(passage, near));
            }
            nearest
        })
    }

    /// The nearest of some of the passages.
    fn nearest(&self, part: Range<usize>, probe: &Probe, count: usize) -> Nearest {
        let mut nearest = Nearest::new(count);
        let part = part.start..part.end.min(self.passages.len());
        let lists = (
            self.numbers.get(part.clone()).unwrap_or_default(),
            self.scales.get(part.clone()).unwrap_or_default(),
            self.passages.get(part).unwrap_or_default(),
        );
        for ((numbers, &scale), &passage) in lists.0.iter().zip(lists.1).zip(lists.2) {
            nearest.offer(passage, probe.similarity(scale, numbers));
        }
        nearest
    }

    fn reserve(&mut self, passages: usize) {
        self.passages.reserve(passages);
        self.scales.reserve(passages);
        self.numbers.reserve(passages);
    }

    fn put(&mut self, file: i64, data: &[u8]) {
        if let Some((start, count)) = self.files.remove(&file) {
            let places = start..start + count;
            self.scales.get_mut(places).into_iter().flatten().for_each(|scale| *scale = 0.0);
            self.free += count;
        }
        let start = self.passages.len();
        let vectors = data.chunks_exact(BYTES).filter_map(Vector::read);
        for (vector, passage) in vectors.zip(first_passage(file)..) {
            self.passages.push(passage);
            self.scales.push(vector.scale);
            self.numbers.push(vector.numbers);
        }
        let count = self.passages.len() - start;
        if count > 0 {
            self.files.insert(file, (start, count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_threads_find_what_one_finds() {
        let mut held = Held::default();
        let mut state = 7u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        for file in 1..=80 {
            let vector = |_| [&0.01f32.to_le_bytes()[..], &[0; DIMS].map(|_| number())].concat();
            // Twice the same, so that equals are among them.
            let data: Vec<u8> = (0..file % 5).flat_map(vector).collect();
            held.put(file, &[data.clone(), data].concat());
        }
        let asked = Vector::read(&[&0.01f32.to_le_bytes()[..], &[3; DIMS]].concat()).unwrap();
        let probe = Probe::new(&asked);
        let alone = held.nearest_in_parts(1, &probe, 11).in_order();
        assert_eq!(alone.len(), 11);
        for parts in [2, 3, 4, 50, 400] {
            assert_eq!(held.nearest_in_parts(parts, &probe, 11).in_order(), alone, "{parts}");
        }
        assert_eq!(Held::default().nearest_in_parts(3, &probe, 11).in_order(), []);
    }
}
