//! The files that a search covers. Words are counted among them only, so that a note outside of a
//! search changes neither its results nor their order.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::filter_sql::FilterSql;
use super::scope_words::{MAX_SCOPE_PASSAGES, ScopeWords};
use crate::error::Result;
use crate::index::connection::IndexVersion;
use crate::index::write::{PASSAGES_PER_FILE, first_passage};

/// Maximum number of filters whose files are cached.
const MAX_SCOPES: usize = 8;

/// The files that a search covers, in one version of the index.
#[derive(Debug)]
pub(in crate::index) struct SearchScope {
    /// Number of passages of each file, by file number.
    counts: Arc<Vec<u32>>,
    /// The covered files; `None` if all files are covered.
    files: Option<Arc<FileBits>>,
    passages: u64,
    /// The words of a small scope; `None` if they are looked up in the index.
    words: Option<Arc<ScopeWords>>,
    /// Number of covered passages before each file.
    positions: OnceLock<Vec<u64>>,
}

impl SearchScope {
    /// Reads a scope that is not cached.
    pub(super) fn read(db: &Connection, condition: &FilterSql) -> Result<Self> {
        let mut cached = CachedScopes::default();
        cached.refresh(db, i64::MAX)?;
        let scope = cached.scope(db, condition)?;
        Ok(Self::new(Arc::clone(&scope.counts), scope.files.clone(), scope.passages))
    }

    /// Returns the number of covered passages.
    pub(in crate::index) fn passages(&self) -> u64 {
        self.passages
    }

    /// Returns true if a passage belongs to a covered file.
    pub(in crate::index) fn covers(&self, passage: i64) -> bool {
        self.files.as_ref().is_none_or(|files| files.contains(passage / PASSAGES_PER_FILE))
    }

    /// Returns the words of a small scope; `None` if they are looked up in the index.
    pub(super) fn words(&self) -> Option<&ScopeWords> {
        self.words.as_deref()
    }

    /// Returns the covered files in ascending order; `None` if all files are covered.
    pub(in crate::index) fn files(&self) -> Option<impl Iterator<Item = i64> + '_> {
        self.files.as_ref().map(|files| files.iter())
    }

    /// Returns the position of a passage among the covered passages. It depends on no other file,
    /// unlike the number of the passage.
    pub(super) fn position(&self, passage: i64) -> u64 {
        let positions = self.positions.get_or_init(|| {
            let covered = |(file, &count): (usize, &u32)| {
                let is_covered =
                    self.files.as_ref().is_none_or(|files| files.contains(file as i64));
                if is_covered { u64::from(count) } else { 0 }
            };
            let mut before = 0;
            let position = |count: u64| {
                before += count;
                before - count
            };
            self.counts.iter().enumerate().map(covered).map(position).collect()
        });
        let file = passage / PASSAGES_PER_FILE;
        let before = usize::try_from(file).ok().and_then(|file| positions.get(file));
        before.copied().unwrap_or(self.passages) + (passage - first_passage(file)) as u64
    }
}

/// A set of file numbers.
#[derive(Clone, Default, Debug)]
struct FileBits(Vec<u64>);

impl FileBits {
    fn contains(&self, file: i64) -> bool {
        let word = usize::try_from(file / 64).ok().and_then(|word| self.0.get(word));
        word.is_some_and(|word| word >> (file % 64) & 1 == 1)
    }

    fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        let words = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        words.flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as i64 * 64 + bit)
        })
    }

    fn insert(&mut self, file: i64) {
        let Ok(word) = usize::try_from(file / 64) else { return };
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << (file % 64);
        }
    }

    fn remove(&mut self, file: i64) {
        let word = usize::try_from(file / 64).ok().and_then(|word| self.0.get_mut(word));
        if let Some(word) = word {
            *word &= !(1 << (file % 64));
        }
    }
}

/// Cache of scopes, kept up to date by the stamps of changed files.
#[derive(Default)]
pub(crate) struct ScopeCache(Mutex<CachedScopes>);

#[derive(Default)]
struct CachedScopes {
    then: IndexVersion,
    counts: Arc<Vec<u32>>,
    /// Number of all passages.
    passages: u64,
    /// The latest filters, the latest last.
    filters: Vec<CachedFilter>,
    /// The scope of all files.
    whole: Option<Arc<SearchScope>>,
}

struct CachedFilter {
    sql: String,
    values: Vec<Value>,
    files: Arc<FileBits>,
    passages: u64,
    words: Option<Arc<ScopeWords>>,
    scope: Option<Arc<SearchScope>>,
    /// True if a scope was returned before.
    is_used: bool,
}

impl ScopeCache {
    /// Returns the scope of a filter in one version of the index.
    pub(super) fn scope(
        &self,
        db: &Connection,
        now: IndexVersion,
        condition: &FilterSql,
    ) -> Result<Arc<SearchScope>> {
        let mut cached = self.lock();
        if cached.then.index != now.index {
            *cached =
                CachedScopes { then: IndexVersion { stamp: 0, ..now }, ..CachedScopes::default() };
        }
        if now.stamp < cached.then.stamp {
            // Another thread searches a newer version.
            drop(cached);
            return Ok(Arc::new(SearchScope::read(db, condition)?));
        }
        if now.stamp > cached.then.stamp {
            cached.refresh(db, now.stamp)?;
        }
        cached.scope(db, condition)
    }

    fn lock(&self) -> MutexGuard<'_, CachedScopes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedScopes {
    /// Reads the files that changed since the last refresh.
    fn refresh(&mut self, db: &Connection, stamp: i64) -> Result<()> {
        let since = self.then.stamp;
        self.whole = None;
        self.filters.iter_mut().for_each(|filter| filter.scope = None);
        let counts = Arc::make_mut(&mut self.counts);
        let mut select = db.prepare_cached("SELECT file, passages FROM vectors WHERE stamp > ?")?;
        let mut rows = select.query([since])?;
        while let Some(row) = rows.next()? {
            let (file, count): (i64, u32) = (row.get(0)?, row.get(1)?);
            let Ok(place) = usize::try_from(file) else { continue };
            if counts.len() <= place {
                counts.resize(place + 1, 0);
            }
            let Some(known) = counts.get_mut(place) else { continue };
            let before = std::mem::replace(known, count);
            self.passages = self.passages - u64::from(before) + u64::from(count);
            for filter in &mut self.filters {
                if filter.files.contains(file) {
                    Arc::make_mut(&mut filter.files).remove(file);
                    filter.passages -= u64::from(before);
                    filter.own_words().map(|words| words.remove(file)).transpose()?;
                }
            }
        }
        for filter in &mut self.filters {
            let sql = format!(
                "SELECT f.id FROM files f WHERE {} \
                 AND f.id IN (SELECT file FROM vectors WHERE stamp > ?)",
                filter.sql
            );
            let values = filter.values.iter().cloned().chain([Value::Integer(since)]);
            filter.add(db, &sql, values.collect(), &self.counts)?;
        }
        self.then.stamp = stamp;
        Ok(())
    }

    fn scope(&mut self, db: &Connection, condition: &FilterSql) -> Result<Arc<SearchScope>> {
        if condition.is_unrestricted() {
            let whole = self.whole.get_or_insert_with(|| {
                let counts = Arc::clone(&self.counts);
                Arc::new(SearchScope::new(counts, None, self.passages))
            });
            return Ok(Arc::clone(whole));
        }
        let is_same = |filter: &CachedFilter| {
            filter.sql == condition.sql && filter.values == condition.values
        };
        let mut filter = match self.filters.iter().position(is_same) {
            Some(known) => self.filters.remove(known),
            None => {
                let mut filter = CachedFilter {
                    sql: condition.sql.clone(),
                    values: condition.values.clone(),
                    files: Arc::default(),
                    passages: 0,
                    words: None,
                    scope: None,
                    is_used: false,
                };
                let sql = format!("SELECT f.id FROM files f WHERE {}", condition.sql);
                filter.add(db, &sql, condition.values.clone(), &self.counts)?;
                filter
            }
        };
        filter.read_words(db)?;
        let (words, files) = (&filter.words, &filter.files);
        let scope = filter.scope.get_or_insert_with(|| {
            let (counts, files) = (Arc::clone(&self.counts), Arc::clone(files));
            let words = words.clone();
            Arc::new(SearchScope {
                words,
                ..SearchScope::new(counts, Some(files), filter.passages)
            })
        });
        let scope = Arc::clone(scope);
        if self.filters.len() >= MAX_SCOPES {
            self.filters.remove(0);
        }
        self.filters.push(filter);
        Ok(scope)
    }
}

impl SearchScope {
    fn new(counts: Arc<Vec<u32>>, files: Option<Arc<FileBits>>, passages: u64) -> Self {
        Self { counts, files, passages, words: None, positions: OnceLock::new() }
    }

    /// Builds a scope from the number of passages of each file, and the covered files.
    #[cfg(test)]
    pub(in crate::index) fn of_files(counts: &[u32], files: Option<&[i64]>) -> Self {
        let bits = files.map(|files| {
            let mut bits = FileBits::default();
            files.iter().for_each(|&file| bits.insert(file));
            Arc::new(bits)
        });
        let is_covered = |file: usize| files.is_none_or(|files| files.contains(&(file as i64)));
        let covered = counts.iter().enumerate().filter(|(file, _)| is_covered(*file));
        let passages = covered.map(|(_, &count)| u64::from(count)).sum();
        Self::new(Arc::new(counts.to_vec()), bits, passages)
    }
}

impl CachedFilter {
    /// Reads the words of a small scope. The first search of a process does without, since a one-shot
    /// command would not use them again.
    fn read_words(&mut self, db: &Connection) -> Result<()> {
        let is_small = self.passages <= MAX_SCOPE_PASSAGES;
        if !is_small {
            self.words = None;
        } else if self.words.is_none() && std::mem::replace(&mut self.is_used, true) {
            self.words = Some(Arc::new(ScopeWords::read(db, self.files.iter())?));
            self.scope = None;
        }
        Ok(())
    }

    /// Returns the words to change them. Words that a search of an older version still uses are given
    /// up.
    fn own_words(&mut self) -> Option<&ScopeWords> {
        self.words.take_if(|words| Arc::strong_count(words) > 1);
        self.words.as_deref()
    }

    /// Adds the files that a statement selects.
    fn add(
        &mut self,
        db: &Connection,
        sql: &str,
        values: Vec<Value>,
        counts: &[u32],
    ) -> Result<()> {
        let mut select = db.prepare_cached(sql)?;
        let mut rows = select.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            let file: i64 = row.get(0)?;
            Arc::make_mut(&mut self.files).insert(file);
            self.own_words().map(|words| words.add(db, file)).transpose()?;
            let count = usize::try_from(file).ok().and_then(|file| counts.get(file));
            self.passages += u64::from(count.copied().unwrap_or_default());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use memoranda_core::id::ProjectName;
    use memoranda_core::query::Query;

    use super::*;
    use crate::index::extract::ExtractedPassage;
    use crate::index::search::SearchFilter;
    use crate::index::vectors;

    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn index() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("../schema.sql")).unwrap();
        for (project, name) in [(1, "main"), (2, "other")] {
            db.execute("INSERT INTO projects (id, name) VALUES (?, ?)", (project, name)).unwrap();
        }
        db
    }

    /// Writes a file with so many passages.
    fn put(db: &Connection, project: i64, file: i64, passages: usize) {
        let insert = "INSERT OR REPLACE INTO files (id, project, path, path_key, kind, size, \
                      mtime_ns, ctime_ns, inode, checked_ns) VALUES (?, ?, ?, '', 1, 0, 0, 0, 0, 0)";
        db.execute(insert, (file, project, format!("{file}.md"))).unwrap();
        let told: Vec<_> = (0..passages).map(|_| ExtractedPassage::empty("a cat")).collect();
        vectors::put(db, (project, file), &told).unwrap();
    }

    fn of_project(name: &str) -> FilterSql {
        let projects = vec![ProjectName::parse(name).unwrap()];
        let filter = SearchFilter { projects, ..SearchFilter::default() };
        FilterSql::new(&Query::default(), &filter)
    }

    fn positions(scope: &SearchScope, files: &[i64]) -> Vec<u64> {
        files.iter().map(|&file| scope.position(first_passage(file))).collect()
    }

    #[test]
    fn a_scope_depends_on_its_own_files_only() {
        let (db, cache) = (index(), ScopeCache::default());
        let scope = |condition: &FilterSql| {
            cache.scope(&db, IndexVersion::of(&db).unwrap(), condition).unwrap()
        };
        let (main, whole) =
            (of_project("main"), FilterSql::new(&Query::default(), &SearchFilter::default()));
        put(&db, 1, 1, 2);
        put(&db, 1, 3, 4);
        let before = scope(&main);
        assert_eq!((before.passages(), positions(&before, &[1, 3])), (6, vec![0, 2]));
        put(&db, 2, 2, 5);
        put(&db, 2, 4, 7);
        let after = scope(&main);
        assert_eq!((after.passages(), positions(&after, &[1, 3])), (6, vec![0, 2]));
        assert!(after.covers(first_passage(3) + 1) && !after.covers(first_passage(2)));
        let all = scope(&whole);
        assert_eq!((all.passages(), positions(&all, &[1, 2, 3, 4])), (18, vec![0, 2, 7, 11]));
        // A file grows, another one is deleted.
        put(&db, 1, 1, 3);
        vectors::remove(&db, 3).unwrap();
        db.execute("DELETE FROM files WHERE id = 3", []).unwrap();
        for cached in [scope(&main), Arc::new(SearchScope::read(&db, &main).unwrap())] {
            assert_eq!(cached.passages(), 3);
            assert!(cached.covers(first_passage(1)) && !cached.covers(first_passage(3)));
        }
        assert_eq!(scope(&whole).passages(), 15);
    }

    #[test]
    fn the_number_of_cached_filters_is_limited() {
        let (db, cache) = (index(), ScopeCache::default());
        put(&db, 1, 1, 2);
        for n in 0..20 {
            let scope =
                cache.scope(&db, IndexVersion::of(&db).unwrap(), &of_project(&format!("p{n}")));
            assert_eq!(scope.unwrap().passages(), 0);
        }
        assert_eq!(cache.lock().filters.len(), MAX_SCOPES);
    }
}
