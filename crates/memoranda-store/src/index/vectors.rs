//! What passages mean, kept beside them, and in memory for as long as the process lives.
//!
//! The index is the truth. What is in memory follows it by stamps, so that a search sees what
//! another process has just written, and reads nothing that it has read before. The first search of
//! a process keeps nothing: a command that asks once would pay for memory that nobody uses again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use memoranda_core::embed::{BYTES, DIMS, Probe, Vector};
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::connection::IndexId;
use super::digest::DigestedPassage;
use super::search::Condition;
use super::write::{PASSAGES_PER_FILE, first_passage};
use crate::error::Result;

/// Fewer passages are not worth a thread of their own.
const PASSAGES_A_THREAD: usize = 4_000;
const MAX_THREADS: usize = 4;
/// So many passages a thread takes at a time.
const BLOCK: usize = 1024;

const NEXT_STAMP: &str = "(SELECT coalesce(max(stamp), 0) + 1 FROM vectors)";

/// Keeps the vectors of a file's passages.
pub(super) fn put(db: &Connection, file: i64, passages: &[DigestedPassage]) -> Result<()> {
    let most = passages.len().min(PASSAGES_PER_FILE as usize);
    let mut data = Vec::with_capacity(most * BYTES);
    passages.iter().take(most).for_each(|p| data.extend_from_slice(&p.vector().bytes()));
    let values = params![file, most as i64, data];
    // To replace a row at once may take two steps, for which SQLite makes a savepoint; at each of
    // them the full-text index writes out what it had gathered.
    let update = format!(
        "UPDATE vectors SET stamp = {NEXT_STAMP}, passages = ?2, data = ?3 WHERE file = ?1"
    );
    if db.prepare_cached(&update)?.execute(values)? == 0 {
        let insert = format!(
            "INSERT INTO vectors (file, stamp, passages, data) VALUES (?1, {NEXT_STAMP}, ?2, ?3)"
        );
        db.prepare_cached(&insert)?.execute(values)?;
    }
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
fn of_file(db: &Connection, file: i64) -> Result<(Vec<f32>, Vec<[i8; DIMS]>)> {
    let mut select = db.prepare_cached("SELECT data FROM vectors WHERE file = ?")?;
    let data: Option<Vec<u8>> = select.query_row([file], |row| row.get(0)).optional()?;
    let data = data.unwrap_or_default();
    let vectors = data.chunks_exact(BYTES).filter_map(Vector::read);
    Ok(vectors.map(|vector| (vector.scale, vector.numbers)).unzip())
}

/// How many passages a file has.
pub(super) fn count_of(db: &Connection, file: i64) -> Result<i64> {
    let mut select = db.prepare_cached("SELECT passages FROM vectors WHERE file = ?")?;
    Ok(select.query_row([file], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// The stamp of the last change.
pub(super) fn newest_stamp(db: &Connection) -> Result<i64> {
    let mut select = db.prepare_cached("SELECT coalesce(max(stamp), 0) FROM vectors")?;
    Ok(select.query_row([], |row| row.get(0))?)
}

/// How many passages there are.
pub(super) fn count(db: &Connection) -> Result<u64> {
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
    index: Option<IndexId>,
    stamp: i64,
    passages: u64,
}

/// Where vectors are to be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    InMemory,
    InIndex,
}

#[derive(Default)]
struct Held {
    /// The index that they are of; another file has other numbers.
    index: Option<IndexId>,
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
    pub(super) fn passages(&self, db: &Connection, index: Option<IndexId>) -> Result<u64> {
        let newest = newest_stamp(db)?;
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let few = counted.passages / 100;
        if counted.index != index || newest.abs_diff(counted.stamp) > few {
            *counted = Counted { index, stamp: newest, passages: count(db)? };
        }
        Ok(counted.passages)
    }

    /// Whether this process has searched before.
    pub(super) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// The passages nearest to a vector, nearest first, with how near they are. While other
    /// threads look for them, this one does the work that it is given first.
    pub(super) fn nearest_beside<T>(
        &self,
        db: &Connection,
        index: Option<IndexId>,
        asked: (&Vector, usize),
        condition: &Condition,
        work: impl FnOnce() -> T,
    ) -> Result<(Vec<(i64, f32)>, T)> {
        if !self.used.swap(true, Ordering::Relaxed) {
            return Ok((nearest_that_fit(db, asked, condition)?, work()));
        }
        let (vector, count) = asked;
        let probe = Probe::new(vector);
        self.refresh(db, index)?;
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let helpers = (held.passages.len() / PASSAGES_A_THREAD).min(threads().saturating_sub(1));
        let (nearest, done) = held.nearest_beside(helpers, &probe, count, work);
        Ok((nearest.in_order(), done))
    }

    /// Where the vectors of single files are to be had: in memory, if all are there as of the
    /// index's last change.
    pub(super) fn place(&self, db: &Connection, index: Option<IndexId>) -> Result<Kept> {
        let newest = newest_stamp(db)?;
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let is_current = held.index == index && held.stamp >= newest && held.stamp > 0;
        Ok(if is_current { Kept::InMemory } else { Kept::InIndex })
    }

    /// How alike the passages of one file are to a vector, in order.
    pub(super) fn similarities(
        &self,
        db: &Connection,
        kept: Kept,
        file: i64,
        probe: &Probe,
        near: &mut Vec<f32>,
    ) -> Result<()> {
        let mut compare = |(scales, numbers): (&[f32], &[[i8; DIMS]])| {
            near.clear();
            near.resize(scales.len(), 0.0);
            probe.similarities(scales, numbers, near);
        };
        match kept {
            Kept::InMemory => {
                let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
                compare(held.of_file(file));
            }
            Kept::InIndex => {
                let (scales, numbers) = of_file(db, file)?;
                compare((&scales, &numbers));
            }
        }
        Ok(())
    }

    /// Takes in what was written since the last look.
    fn refresh(&self, db: &Connection, index: Option<IndexId>) -> Result<()> {
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

/// The passages nearest to a vector, nearest first, among those of files that fit: read from the
/// index, and kept by nobody.
pub(super) fn nearest_that_fit(
    db: &Connection,
    (vector, count): (&Vector, usize),
    condition: &Condition,
) -> Result<Vec<(i64, f32)>> {
    let mut nearest = Nearest::new(count);
    let among = match condition.is_open() {
        true => String::new(),
        // Only files that can be searched have vectors.
        false => {
            format!("WHERE file IN (SELECT f.id FROM files f WHERE {})", condition.among_searched())
        }
    };
    let mut select = db.prepare_cached(&format!("SELECT file, data FROM vectors {among}"))?;
    let mut rows = select.query(params_from_iter(&condition.values))?;
    while let Some(row) = rows.next()? {
        let first = first_passage(row.get(0)?);
        let data = row.get_ref(1)?.as_blob().unwrap_or_default();
        let vectors = data.chunks_exact(BYTES).filter_map(Vector::read);
        for (kept, passage) in vectors.zip(first..) {
            nearest.offer(passage, vector.similarity(&kept));
        }
    }
    Ok(nearest.in_order())
}

/// How many threads look for what is near. To ask the system takes as long as a small search.
fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    *THREADS.get_or_init(|| cores().min(MAX_THREADS))
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
    /// The nearest of all, sought by so many threads and by this one as soon as its work is done.
    fn nearest_beside<T>(
        &self,
        helpers: usize,
        probe: &Probe,
        count: usize,
        work: impl FnOnce() -> T,
    ) -> (Nearest, T) {
        let next = AtomicUsize::new(0);
        let seek = || {
            let mut nearest = Nearest::new(count);
            loop {
                let start = next.fetch_add(BLOCK, Ordering::Relaxed);
                if start >= self.passages.len() {
                    return nearest;
                }
                self.offer(start, probe, &mut nearest);
            }
        };
        std::thread::scope(|scope| {
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, seek).ok();
            let threads: Vec<_> = (0..helpers).filter_map(start).collect();
            let done = work();
            let mut nearest = seek();
            for thread in threads {
                match thread.join() {
                    Ok(found) => {
                        found.found.into_iter().for_each(|(p, near)| nearest.offer(p, near))
                    }
                    // What it had taken nobody has looked at.
                    Err(_) => {
                        nearest = Nearest::new(count);
                        let blocks = (0..self.passages.len()).step_by(BLOCK);
                        blocks.for_each(|start| self.offer(start, probe, &mut nearest));
                        break;
                    }
                }
            }
            (nearest, done)
        })
    }

    fn of_file(&self, file: i64) -> (&[f32], &[[i8; DIMS]]) {
        let (start, count) = self.files.get(&file).copied().unwrap_or_default();
        let places = start..start + count;
        let scales = self.scales.get(places.clone()).unwrap_or_default();
        (scales, self.numbers.get(places).unwrap_or_default())
    }

    /// Offers a block of the passages.
    fn offer(&self, start: usize, probe: &Probe, nearest: &mut Nearest) {
        let part = start..start.saturating_add(BLOCK).min(self.passages.len());
        let numbers = self.numbers.get(part.clone()).unwrap_or_default();
        let scales = self.scales.get(part.clone()).unwrap_or_default();
        let passages = self.passages.get(part).unwrap_or_default();
        let mut near = [0.0; BLOCK];
        probe.similarities(scales, numbers, &mut near);
        for (&passage, near) in passages.iter().zip(near) {
            nearest.offer(passage, near);
        }
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
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn vectors_in_memory_are_used_only_while_they_are_all_there() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        let index = Some(IndexId(1));
        let cache = VectorCache::default();
        assert_eq!(cache.place(&db, index).unwrap(), Kept::InIndex);
        put(&db, 1, &[DigestedPassage::empty("a cat")]).unwrap();
        cache.refresh(&db, index).unwrap();
        assert_eq!(cache.place(&db, index).unwrap(), Kept::InMemory);
        assert_eq!(cache.place(&db, Some(IndexId(2))).unwrap(), Kept::InIndex);
        put(&db, 2, &[DigestedPassage::empty("a dog"), DigestedPassage::empty("a bird")]).unwrap();
        let kept = cache.place(&db, index).unwrap();
        assert_eq!(kept, Kept::InIndex, "a note is written that memory has not heard of");
        let probe = Probe::new(DigestedPassage::empty("a puppy").vector());
        let near = |kept| {
            let mut near = vec![7.0];
            cache.similarities(&db, kept, 2, &probe, &mut near).unwrap();
            near
        };
        let written = near(kept);
        assert!(written.len() == 2 && written[0] > written[1], "{written:?}");
        assert!(near(Kept::InMemory).is_empty());
        cache.refresh(&db, index).unwrap();
        assert_eq!(near(Kept::InMemory), written);
    }

    #[test]
    fn many_threads_find_what_one_finds() {
        let mut held = Held::default();
        let mut state = 7u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        for file in 1..=1200 {
            let vector = |_| [&0.01f32.to_le_bytes()[..], &[0; DIMS].map(|_| number())].concat();
            // Twice the same, so that equals are among them.
            let data: Vec<u8> = (0..file % 5).flat_map(vector).collect();
            held.put(file, &[data.clone(), data].concat());
        }
        let asked = Vector::read(&[&0.01f32.to_le_bytes()[..], &[3; DIMS]].concat()).unwrap();
        let probe = Probe::new(&asked);
        let nearest = |held: &Held, helpers| {
            let (nearest, done) = held.nearest_beside(helpers, &probe, 11, || helpers);
            assert_eq!(done, helpers);
            nearest.in_order()
        };
        let alone = nearest(&held, 0);
        assert_eq!(alone.len(), 11);
        for helpers in [1, 2, 3, 50] {
            assert_eq!(nearest(&held, helpers), alone, "{helpers}");
        }
        assert_eq!(nearest(&Held::default(), 3), []);
    }
}
