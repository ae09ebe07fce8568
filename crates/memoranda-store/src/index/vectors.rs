//! Static embeddings of passages, stored in the index and cached in memory.
//!
//! The index is authoritative. The cache follows it by stamps, so a search sees the writes of other
//! processes and reads no vector twice. The first search of a process fills no cache, since a
//! one-shot command would not use it.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use memoranda_core::embed::{
    STATIC_VECTOR_BYTES, STATIC_VECTOR_DIMS, StaticQueryVector, StaticVector,
};
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::connection::{IndexId, IndexVersion};
use super::doc_lengths;
use super::extract::ExtractedPassage;
use super::search::{FilterSql, SearchScope};
use super::write::{PASSAGES_PER_FILE, first_passage};
use crate::error::Result;
use crate::threads;

/// Minimum number of passages for each additional thread.
const MIN_PASSAGES_PER_THREAD: usize = 4_000;
const MAX_THREADS: usize = 4;
/// Number of passages that a thread takes at a time.
const BLOCK_PASSAGES: usize = 1024;
/// A scope of less than one passage in so many is compared file by file.
const SMALL_SCOPE_SHARE: u64 = 4;

/// Marks a passage of unknown length.
const UNKNOWN_LENGTH: u32 = u32::MAX;

const NEXT_STAMP: &str = "(SELECT coalesce(max(stamp), 0) + 1 FROM vectors)";

/// Stores the vectors of a file's passages, which FTS5 must contain already.
pub(super) fn put(
    db: &Connection,
    (project, file): (i64, i64),
    passages: &[ExtractedPassage],
) -> Result<()> {
    let most = passages.len().min(PASSAGES_PER_FILE as usize);
    let mut data = Vec::with_capacity(most * STATIC_VECTOR_BYTES);
    passages.iter().take(most).for_each(|p| data.extend_from_slice(&p.vector().bytes()));
    let values = params![file, project, most as i64, doc_lengths::of_file(db, file)?, data];
    // `INSERT OR REPLACE` may need two steps and so a savepoint, at which FTS5 flushes its pending
    // data.
    let update = format!(
        "UPDATE vectors SET stamp = {NEXT_STAMP}, project = ?2, passages = ?3, lengths = ?4, \
         data = ?5 WHERE file = ?1"
    );
    if db.prepare_cached(&update)?.execute(values)? == 0 {
        let insert = format!(
            "INSERT INTO vectors (file, stamp, project, passages, lengths, data) \
             VALUES (?1, {NEXT_STAMP}, ?2, ?3, ?4, ?5)"
        );
        db.prepare_cached(&insert)?.execute(values)?;
    }
    Ok(())
}

/// Removes the vectors of a deleted file.
pub(super) fn remove(db: &Connection, file: i64) -> Result<()> {
    let sql = format!(
        "UPDATE vectors SET stamp = {NEXT_STAMP}, passages = 0, lengths = x'', data = x'' \
         WHERE file = ?"
    );
    db.prepare_cached(&sql)?.execute([file])?;
    Ok(())
}

/// Reads the vectors of one file.
pub(super) fn of_file(
    db: &Connection,
    file: i64,
) -> Result<(Vec<f32>, Vec<[i8; STATIC_VECTOR_DIMS]>)> {
    let mut select = db.prepare_cached("SELECT data FROM vectors WHERE file = ?")?;
    let data: Option<Vec<u8>> = select.query_row([file], |row| row.get(0)).optional()?;
    let data = data.unwrap_or_default();
    let vectors = data.chunks_exact(STATIC_VECTOR_BYTES).filter_map(StaticVector::read);
    Ok(vectors.map(|vector| (vector.scale, vector.numbers)).unzip())
}

/// Returns the number of passages of a file.
pub(super) fn count_of(db: &Connection, file: i64) -> Result<i64> {
    let mut select = db.prepare_cached("SELECT passages FROM vectors WHERE file = ?")?;
    Ok(select.query_row([file], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// Returns the stamp of the last change.
pub(super) fn newest_stamp(db: &Connection) -> Result<i64> {
    let mut select = db.prepare_cached("SELECT coalesce(max(stamp), 0) FROM vectors")?;
    Ok(select.query_row([], |row| row.get(0))?)
}

/// Returns the number of passages.
pub(super) fn count(db: &Connection) -> Result<u64> {
    let mut select = db.prepare_cached("SELECT coalesce(sum(passages), 0) FROM vectors")?;
    Ok(select.query_row([], |row| row.get::<_, i64>(0))? as u64)
}

/// Cache of all vectors.
#[derive(Default)]
pub(crate) struct VectorCache {
    /// True if this process has searched before.
    used: AtomicBool,
    /// Number of passages above which a search does without the vectors until they are loaded; 0 if
    /// each search reads the vectors that it needs.
    direct: AtomicU64,
    /// The index whose vectors were loaded.
    loaded: Mutex<Option<IndexId>>,
    /// Held by the thread that loads all vectors. Searches go on meanwhile.
    loading: Mutex<()>,
    held: RwLock<VectorTable>,
}

/// Passages of similar meaning.
#[derive(Default)]
pub(super) struct NearestByMeaning {
    /// Nearest first, with their similarities.
    pub(super) passages: Vec<(i64, f32)>,
    /// True if some passages of the scope were not compared, because the vectors are not loaded yet.
    pub(super) is_deferred: bool,
}

impl NearestByMeaning {
    /// Passages of a scope that were all compared.
    fn found(passages: Vec<(i64, f32)>) -> Self {
        Self { passages, is_deferred: false }
    }
}

/// The cached vectors of one index version.
pub(super) struct VectorTableGuard<'c>(RwLockReadGuard<'c, VectorTable>);

#[derive(Default)]
struct VectorTable {
    /// The index version of the vectors.
    then: IndexVersion,
    files: HashMap<i64, FileVectors>,
    passages: Vec<i64>,
    /// Number of words of each passage.
    lengths: Vec<u32>,
    scales: Vec<f32>,
    numbers: Vec<[i8; STATIC_VECTOR_DIMS]>,
    /// Number of unused positions.
    free: usize,
}

#[derive(Clone, Copy)]
struct FileVectors {
    project: i64,
    /// Position of its first passage in the lists, and number of passages.
    start: usize,
    count: usize,
}

impl VectorCache {
    /// Returns true if this process has searched before.
    pub(super) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Lets searches of scopes with more passages than this do without the vectors until they are
    /// loaded. `None` if each search reads the vectors that it needs.
    pub(super) fn defer_above(&self, passages: Option<NonZeroU64>) {
        self.direct.store(passages.map_or(0, NonZeroU64::get), Ordering::Relaxed);
    }

    /// Returns true if a search in a scope has to do without the vectors that are not loaded yet.
    pub(super) fn is_deferred(&self, now: IndexVersion, scope: &SearchScope) -> bool {
        let direct = NonZeroU64::new(self.direct.load(Ordering::Relaxed));
        direct.is_some_and(|direct| scope.passages() > direct.get()) && !self.is_filled(now)
    }

    /// Returns true if the vectors of this index were loaded, so that a refresh reads only changes.
    fn is_filled(&self, now: IndexVersion) -> bool {
        *self.loaded() == now.index
    }

    /// Returns true if another thread loads all vectors.
    fn is_loading(&self, now: IndexVersion) -> bool {
        !self.is_filled(now) && matches!(self.loading.try_lock(), Err(TryLockError::WouldBlock))
    }

    fn loaded(&self) -> MutexGuard<'_, Option<IndexId>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the passages of a scope nearest to a vector. Runs `work` on this thread while others
    /// search.
    pub(super) fn nearest_while<T>(
        &self,
        db: &Connection,
        now: IndexVersion,
        asked: (&StaticVector, usize),
        (scope, condition): (&SearchScope, &FilterSql),
        work: impl FnOnce() -> T,
    ) -> Result<(NearestByMeaning, T)> {
        let is_first = !self.used.swap(true, Ordering::Relaxed);
        if self.is_deferred(now, scope) {
            return Ok((NearestByMeaning { passages: Vec::new(), is_deferred: true }, work()));
        }
        if is_first || self.is_loading(now) {
            let nearest = nearest_that_fit(db, asked, condition)?;
            return Ok((NearestByMeaning::found(nearest), work()));
        }
        let (vector, count) = asked;
        let probe = StaticQueryVector::new(vector);
        self.refresh(db, now)?;
        // Another thread may have begun to read all vectors again since, or those of another index.
        let Some(held) = self.current(now) else {
            let nearest = nearest_that_fit(db, asked, condition)?;
            return Ok((NearestByMeaning::found(nearest), work()));
        };
        let parts = held.parts(scope);
        let compared: usize = parts.iter().map(Range::len).sum();
        let helpers = (compared / MIN_PASSAGES_PER_THREAD).min(threads().saturating_sub(1));
        let search = VectorSearch { held: &held, scope, parts, probe: &probe, count };
        let (nearest, done) = search.run_while(helpers, work);
        Ok((NearestByMeaning::found(nearest.in_order()), done))
    }

    /// Returns the passages of a scope nearest to a vector.
    pub(super) fn nearest(
        &self,
        db: &Connection,
        now: IndexVersion,
        asked: (&StaticVector, usize),
        there: (&SearchScope, &FilterSql),
    ) -> Result<NearestByMeaning> {
        Ok(self.nearest_while(db, now, asked, there, || ())?.0)
    }

    /// Reads all vectors if this process has searched before.
    pub(super) fn load(&self, db: &Connection, now: IndexVersion) -> Result<()> {
        if self.is_used() { self.refresh(db, now) } else { Ok(()) }
    }

    /// Returns the cached vectors if they are those of a state of the index, or of a later one. The
    /// table stays as it is while the guard is held.
    fn current(&self, now: IndexVersion) -> Option<RwLockReadGuard<'_, VectorTable>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        // An empty index has nothing to read either.
        (held.is_current(now) && held.then.stamp > 0).then_some(held)
    }

    /// Returns the cache if it is current, without blocking. The caller may hold the read lock already,
    /// and a second read would wait for a waiting writer.
    pub(super) fn in_memory(&self, now: IndexVersion) -> Option<VectorTableGuard<'_>> {
        let held = self.held.try_read().ok();
        held.filter(|held| held.then == now).map(VectorTableGuard)
    }

    /// Returns the project of a file if it is cached, without blocking.
    pub(super) fn project(&self, now: IndexVersion, file: i64) -> Option<i64> {
        let VectorTableGuard(held) = self.in_memory(now)?;
        held.files.get(&file).map(|file| file.project)
    }

    /// Computes the similarities of a file's passages to a vector, in order. Reads the vectors from
    /// memory if the cache is current at this moment, else from the index.
    pub(super) fn similarities(
        &self,
        db: &Connection,
        now: IndexVersion,
        file: i64,
        probe: &StaticQueryVector,
        near: &mut Vec<f32>,
    ) -> Result<()> {
        let mut compare = |(scales, numbers): (&[f32], &[[i8; STATIC_VECTOR_DIMS]])| {
            near.clear();
            near.resize(scales.len(), 0.0);
            probe.similarities(scales, numbers, near);
        };
        if let Some(held) = self.current(now) {
            compare(held.of_file(file));
            return Ok(());
        }
        let (scales, numbers) = of_file(db, file)?;
        compare((&scales, &numbers));
        Ok(())
    }

    /// Reads the vectors written since the last refresh.
    pub(super) fn refresh(&self, db: &Connection, now: IndexVersion) -> Result<()> {
        if self.held.read().unwrap_or_else(PoisonError::into_inner).is_current(now) {
            return Ok(());
        }
        let _one = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let is_useless = |held: &VectorTable| {
            held.then.index != now.index || held.free > held.passages.len() / 2
        };
        if is_useless(&self.held.read().unwrap_or_else(PoisonError::into_inner)) {
            // The old vectors first make room for the new ones.
            *self.held.write().unwrap_or_else(PoisonError::into_inner) = VectorTable::default();
            let mut table =
                VectorTable { then: IndexVersion { stamp: 0, ..now }, ..VectorTable::default() };
            table.read_changes(db)?;
            *self.held.write().unwrap_or_else(PoisonError::into_inner) = table;
            *self.loaded() = now.index;
            return Ok(());
        }
        self.held.write().unwrap_or_else(PoisonError::into_inner).read_changes(db)
    }
}

/// Returns the passages nearest to a vector among matching files, nearest first. Reads from the
/// index and caches nothing.
pub(super) fn nearest_that_fit(
    db: &Connection,
    (vector, count): (&StaticVector, usize),
    condition: &FilterSql,
) -> Result<Vec<(i64, f32)>> {
    let mut nearest = NearestPassages::new(count);
    let probe = StaticQueryVector::new(vector);
    let (mut scales, mut numbers, mut similarities) = (Vec::new(), Vec::new(), Vec::new());
    // Only searchable files have vectors.
    let among = if condition.is_unrestricted() {
        String::new()
    } else {
        format!("WHERE file IN (SELECT f.id FROM files f WHERE {})", condition.among_searched())
    };
    let mut select = db.prepare_cached(&format!("SELECT file, data FROM vectors {among}"))?;
    let mut rows = select.query(params_from_iter(&condition.values))?;
    while let Some(row) = rows.next()? {
        let first = first_passage(row.get(0)?);
        let data = row.get_ref(1)?.as_blob().unwrap_or_default();
        scales.clear();
        numbers.clear();
        for kept in data.chunks_exact(STATIC_VECTOR_BYTES).filter_map(StaticVector::read) {
            scales.push(kept.scale);
            numbers.push(kept.numbers);
        }
        similarities.resize(scales.len(), 0.0);
        probe.similarities(&scales, &numbers, &mut similarities);
        for (passage, &similarity) in (first..).zip(&similarities) {
            nearest.offer(passage, similarity);
        }
    }
    Ok(nearest.in_order())
}

/// Returns the number of search threads.
fn threads() -> usize {
    threads::available().min(MAX_THREADS)
}

/// Collects the nearest passages, using a buffer of limited size.
struct NearestPassages {
    count: usize,
    /// Similarity below which a passage is not among the nearest.
    floor: f32,
    found: Vec<(i64, f32)>,
}

impl NearestPassages {
    fn new(count: usize) -> Self {
        Self { count, floor: 0.0, found: Vec::with_capacity(count * 4) }
    }

    fn offer(&mut self, passage: i64, similarity: f32) {
        if similarity > self.floor {
            self.found.push((passage, similarity));
            if self.found.len() >= self.count * 4 {
                self.keep_nearest();
            }
        }
    }

    fn keep_nearest(&mut self) {
        if self.found.len() > self.count && self.count > 0 {
            let (_, &mut (_, last), _) = self.found.select_nth_unstable_by(self.count - 1, nearer);
            self.found.truncate(self.count);
            // A passage of equal similarity and lower number still precedes the last.
            self.floor = last.next_down();
        }
    }

    fn in_order(mut self) -> Vec<(i64, f32)> {
        self.keep_nearest();
        self.found.sort_unstable_by(nearer);
        self.found
    }
}

fn nearer(a: &(i64, f32), b: &(i64, f32)) -> std::cmp::Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

impl VectorTableGuard<'_> {
    /// Returns the number of words of a passage.
    pub(super) fn length(&self, passage: i64) -> Option<u32> {
        let Self(held) = self;
        let file = passage / PASSAGES_PER_FILE;
        let FileVectors { start, count, .. } = *held.files.get(&file)?;
        let place = (passage - first_passage(file)) as usize;
        let length = held.lengths.get(start + place).filter(|_| place < count)?;
        Some(*length).filter(|length| *length != UNKNOWN_LENGTH)
    }
}

impl FileVectors {
    fn places(&self) -> Range<usize> {
        self.start..self.start + self.count
    }
}

impl VectorTable {
    fn is_current(&self, now: IndexVersion) -> bool {
        self.then.index == now.index && self.then.stamp >= now.stamp
    }

    /// Returns the places of the passages that a search in a scope compares, in blocks. Those of a
    /// large scope may contain passages outside of it.
    fn parts(&self, scope: &SearchScope) -> Vec<Range<usize>> {
        let is_small = scope.passages().saturating_mul(SMALL_SCOPE_SHARE);
        let is_small = is_small < (self.passages.len() - self.free) as u64;
        let covered = scope.files().filter(|_| is_small).map(|files| {
            let places = files.filter_map(|file| self.files.get(&file).map(FileVectors::places));
            let mut joined: Vec<Range<usize>> = Vec::new();
            for places in places {
                match joined.last_mut() {
                    Some(last) if last.end == places.start => last.end = places.end,
                    _ => joined.push(places),
                }
            }
            joined
        });
        let whole = || std::iter::once(0..self.passages.len()).collect();
        let blocks = |part: Range<usize>| {
            let end = part.end;
            let block = move |start: usize| start..end.min(start.saturating_add(BLOCK_PASSAGES));
            part.step_by(BLOCK_PASSAGES).map(block)
        };
        covered.unwrap_or_else(whole).into_iter().flat_map(blocks).collect()
    }

    /// Reads the vectors written since the table was read.
    fn read_changes(&mut self, db: &Connection) -> Result<()> {
        let since = self.then.stamp;
        // A full load scans the table; an update uses the index on stamps.
        let (index, most) = if since == 0 { ("NOT INDEXED", count(db)? as usize) } else { ("", 0) };
        self.reserve(most);
        let sql = format!(
            "SELECT file, stamp, project, lengths, data FROM vectors {index} WHERE stamp > ?"
        );
        let mut select = db.prepare_cached(&sql)?;
        let mut rows = select.query([since])?;
        while let Some(row) = rows.next()? {
            let (file, stamp, project): (_, i64, _) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let bytes = |column| -> Result<&[u8]> {
                Ok(row.get_ref(column)?.as_blob().unwrap_or_default())
            };
            self.put((project, file), bytes(3)?, bytes(4)?);
            self.then.stamp = self.then.stamp.max(stamp);
        }
        Ok(())
    }

    fn of_file(&self, file: i64) -> (&[f32], &[[i8; STATIC_VECTOR_DIMS]]) {
        let places = self.files.get(&file).map_or(0..0, FileVectors::places);
        let scales = self.scales.get(places.clone()).unwrap_or_default();
        (scales, self.numbers.get(places).unwrap_or_default())
    }

    fn reserve(&mut self, passages: usize) {
        self.passages.reserve(passages);
        self.lengths.reserve(passages);
        self.scales.reserve(passages);
        self.numbers.reserve(passages);
    }

    fn put(&mut self, (project, file): (i64, i64), lengths: &[u8], data: &[u8]) {
        if let Some(gone) = self.files.remove(&file) {
            let scales = self.scales.get_mut(gone.places());
            scales.into_iter().flatten().for_each(|scale| *scale = 0.0);
            self.free += gone.count;
        }
        let start = self.passages.len();
        let vectors = data.chunks_exact(STATIC_VECTOR_BYTES).filter_map(StaticVector::read);
        let lengths = doc_lengths::read(lengths).map(Some).chain(std::iter::repeat(None));
        for ((vector, length), passage) in vectors.zip(lengths).zip(first_passage(file)..) {
            self.passages.push(passage);
            self.lengths.push(length.unwrap_or(UNKNOWN_LENGTH));
            self.scales.push(vector.scale);
            self.numbers.push(vector.numbers);
        }
        let count = self.passages.len() - start;
        if count > 0 {
            self.files.insert(file, FileVectors { project, start, count });
        }
    }
}

/// A search for the passages of a scope that are nearest to a vector.
struct VectorSearch<'s> {
    held: &'s VectorTable,
    scope: &'s SearchScope,
    /// Places of the passages to compare, in blocks.
    parts: Vec<Range<usize>>,
    probe: &'s StaticQueryVector,
    /// Number of nearest passages to find.
    count: usize,
}

impl VectorSearch<'_> {
    /// Searches with some helper threads, and with this one after its work.
    fn run_while<T>(&self, helpers: usize, work: impl FnOnce() -> T) -> (NearestPassages, T) {
        let next = AtomicUsize::new(0);
        let seek = || {
            let mut nearest = NearestPassages::new(self.count);
            while let Some(part) = self.parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.offer(part.clone(), &mut nearest);
            }
            nearest
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
                    // The blocks of a panicked thread were not searched, so search all again.
                    Err(_) => {
                        nearest = NearestPassages::new(self.count);
                        let parts = self.parts.iter().cloned();
                        parts.for_each(|part| self.offer(part, &mut nearest));
                        break;
                    }
                }
            }
            (nearest, done)
        })
    }

    /// Offers the passages of a block that the scope covers.
    fn offer(&self, part: Range<usize>, nearest: &mut NearestPassages) {
        let VectorTable { numbers, scales, passages, .. } = self.held;
        let numbers = numbers.get(part.clone()).unwrap_or_default();
        let scales = scales.get(part.clone()).unwrap_or_default();
        let passages = passages.get(part).unwrap_or_default();
        let mut near = [0.0; BLOCK_PASSAGES];
        self.probe.similarities(scales, numbers, &mut near);
        for (&passage, near) in passages.iter().zip(near) {
            if near > nearest.floor && self.scope.covers(passage) {
                nearest.offer(passage, near);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use memoranda_core::query::Query;

    use super::*;
    use crate::index::connection::IndexId;
    use crate::index::search::SearchFilter;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn vectors_in_memory_are_used_only_while_they_are_all_there() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        let now = || IndexVersion { index: Some(IndexId(1)), ..IndexVersion::of(&db).unwrap() };
        let cache = VectorCache::default();
        let is_in_memory = |now| cache.current(now).is_some();
        assert!(!is_in_memory(now()));
        put(&db, (1, 1), &[ExtractedPassage::empty("a cat")]).unwrap();
        cache.refresh(&db, now()).unwrap();
        assert!(is_in_memory(now()));
        assert!(!is_in_memory(IndexVersion { index: Some(IndexId(2)), ..now() }));
        let two = ["a dog", "a bird"].map(ExtractedPassage::empty);
        put(&db, (7, 2), &two).unwrap();
        assert!(!is_in_memory(now()), "a note is written that memory has not heard of");
        let probe = StaticQueryVector::new(ExtractedPassage::empty("a puppy").vector());
        let near = || {
            let mut near = vec![7.0];
            cache.similarities(&db, now(), 2, &probe, &mut near).unwrap();
            near
        };
        let written = near();
        assert!(written.len() == 2 && written[0] > written[1], "{written:?}");
        assert!(cache.held.read().unwrap().of_file(2).0.is_empty());
        assert_eq!(cache.project(now(), 2), None);
        cache.refresh(&db, now()).unwrap();
        assert_eq!(cache.project(now(), 2), Some(7));
        assert!(is_in_memory(now()));
        assert_eq!(near(), written);
        // A thread that reads all vectors again makes room first.
        *cache.held.write().unwrap() = VectorTable::default();
        assert_eq!(near(), written);
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn a_search_finds_its_passages_while_the_vectors_of_another_index_are_read() {
        let cache = VectorCache::default();
        let asked = ExtractedPassage::empty("a puppy").vector().clone();
        let search = |index: i64| {
            let db = Connection::open_in_memory().unwrap();
            db.execute_batch(include_str!("schema.sql")).unwrap();
            let notes = ["a dog", "a cat"].map(ExtractedPassage::empty);
            let (db_file, count) = (index, 1 + index as usize % 2);
            db.execute("INSERT INTO projects (id, name) VALUES (1, 'main')", []).unwrap();
            put(&db, (1, db_file), &notes[..count]).unwrap();
            let now =
                IndexVersion { index: Some(IndexId(index)), ..IndexVersion::of(&db).unwrap() };
            let condition = FilterSql::new(&Query::default(), &SearchFilter::default());
            let mut counts = vec![0; db_file as usize + 1];
            counts[db_file as usize] = count as u32;
            let scope = SearchScope::of_files(&counts, None);
            for round in 0..3_000 {
                let near = cache.nearest(&db, now, (&asked, 10), (&scope, &condition)).unwrap();
                let found: Vec<i64> = near.passages.iter().map(|(passage, _)| *passage).collect();
                assert_eq!(found.first(), Some(&first_passage(db_file)), "round {round}");
            }
        };
        let search = &search;
        std::thread::scope(|scope| {
            (1..=8).for_each(|index| drop(scope.spawn(move || search(index))));
        });
    }

    #[test]
    fn many_threads_find_what_one_finds() {
        let mut held = VectorTable::default();
        let mut state = 7u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        for file in 1..=1200 {
            let vector = |_| {
                [&0.01f32.to_le_bytes()[..], &[0; STATIC_VECTOR_DIMS].map(|_| number())].concat()
            };
            // Twice the same, so that equals are among them.
            let data: Vec<u8> = (0..file % 5).flat_map(vector).collect();
            held.put((1, file), &[], &[data.clone(), data].concat());
        }
        let asked =
            StaticVector::read(&[&0.01f32.to_le_bytes()[..], &[3; STATIC_VECTOR_DIMS]].concat())
                .unwrap();
        let probe = StaticQueryVector::new(&asked);
        let nearest = |held: &VectorTable, scope: &SearchScope, count, helpers| {
            let parts = held.parts(scope);
            let search = VectorSearch { held, scope, parts, probe: &probe, count };
            let (nearest, done) = search.run_while(helpers, || helpers);
            assert_eq!(done, helpers);
            nearest.in_order()
        };
        let counts: Vec<u32> = (0..=1200).map(|file| 2 * (file % 5)).collect();
        let whole = SearchScope::of_files(&counts, None);
        let alone = nearest(&held, &whole, 11, 0);
        assert_eq!(alone.len(), 11);
        for helpers in [1, 2, 3, 50] {
            assert_eq!(nearest(&held, &whole, 11, helpers), alone, "{helpers}");
        }
        assert_eq!(nearest(&VectorTable::default(), &whole, 11, 3), []);
        // A scope has its nearest passages, however many nearer ones lie outside of it. A file that
        // was written again stands behind the others.
        let again: Vec<u8> = held.of_file(3).1.iter().flatten().map(|&n| n as u8).collect();
        let again = again.chunks(STATIC_VECTOR_DIMS);
        let again: Vec<u8> =
            again.flat_map(|numbers| [&0.01f32.to_le_bytes()[..], numbers].concat()).collect();
        held.put((1, 3), &[], &again);
        let all = nearest(&held, &whole, 10_000, 0);
        for files in [vec![], vec![3, 4, 700], (1..600).collect::<Vec<i64>>()] {
            let scope = SearchScope::of_files(&counts, Some(&files));
            let covered = |(passage, _): &&(i64, f32)| scope.covers(*passage);
            let expected: Vec<_> = all.iter().filter(covered).take(11).copied().collect();
            for helpers in [0, 2] {
                assert_eq!(nearest(&held, &scope, 11, helpers), expected, "{} files", files.len());
            }
        }
    }
}
