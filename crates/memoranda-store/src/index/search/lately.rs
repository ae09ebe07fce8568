//! What notes were compared by lately, in memory: to look a note up takes longer than to compare it.
//!
//! The index is the truth. What is in memory follows it by the stamps of the vectors, which are
//! written whenever anything about a note is; whoever looks at an older state of the index is given
//! nothing that is newer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rusqlite::Connection;

use crate::error::Result;
use crate::index::connection::IndexId;
use crate::index::vectors::newest_stamp;

/// When more bytes than this are kept, all are forgotten: about ten thousand notes.
const MOST_BYTES: usize = 10 << 20;
/// What a note takes beside its texts and words.
const BYTES_A_NOTE: usize = 250;

/// What a note is compared by, whatever is asked.
pub(super) struct Kept {
    pub(super) path: Arc<str>,
    pub(super) title: Box<str>,
    pub(super) permalink: Box<str>,
    /// Title and tags.
    pub(super) name: Arc<str>,
    pub(super) created: Timestamp,
    pub(super) updated: Timestamp,
    pub(super) importance: Option<f64>,
    /// The row with the words of its first passages.
    pub(super) words: Arc<[u8]>,
}

impl Kept {
    fn bytes(&self) -> usize {
        let texts = self.path.len() + self.title.len() + self.permalink.len() + self.name.len();
        texts + self.words.len() + BYTES_A_NOTE
    }
}

/// Notes that were compared lately.
#[derive(Default)]
pub(crate) struct NoteCache(Mutex<Lately>);

#[derive(Default)]
struct Lately {
    /// The index that they are of; another file has other numbers.
    index: Option<IndexId>,
    /// Of which state of it all that is kept is true.
    stamp: i64,
    /// The notes, each with the state of the index in which it was read.
    notes: HashMap<i64, (i64, Arc<Kept>)>,
    bytes: usize,
}

/// The notes that were compared lately, as of one state of the index.
pub(super) struct AsOf<'c> {
    cache: &'c NoteCache,
    index: Option<IndexId>,
    stamp: i64,
}

impl NoteCache {
    /// Forgets what was changed since, and yields the rest.
    pub(super) fn as_of(&self, db: &Connection, index: Option<IndexId>) -> Result<AsOf<'_>> {
        let stamp = newest_stamp(db)?;
        let mut lately = self.lock();
        if lately.index != index {
            *lately = Lately { index, stamp, ..Lately::default() };
        }
        if stamp > lately.stamp {
            let mut changed = db.prepare_cached("SELECT file FROM vectors WHERE stamp > ?")?;
            let mut rows = changed.query([lately.stamp])?;
            while let Some(row) = rows.next()? {
                lately.forget(row.get(0)?);
            }
            lately.stamp = stamp;
        }
        drop(lately);
        Ok(AsOf { cache: self, index, stamp })
    }

    fn lock(&self) -> MutexGuard<'_, Lately> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsOf<'_> {
    /// A note, if it was compared lately and has not changed.
    pub(super) fn get(&self, file: i64) -> Option<Arc<Kept>> {
        let lately = self.cache.lock();
        let (read, kept) = lately.notes.get(&file)?;
        let is_true = lately.index == self.index && *read <= self.stamp;
        is_true.then(|| Arc::clone(kept))
    }

    /// Keeps a note that was read.
    pub(super) fn put(&self, file: i64, kept: &Arc<Kept>) {
        let mut lately = self.cache.lock();
        // Somebody may have seen a newer state meanwhile, or another index.
        if lately.index != self.index || lately.stamp != self.stamp {
            return;
        }
        lately.forget(file);
        if lately.bytes > MOST_BYTES {
            lately.notes.clear();
            lately.bytes = 0;
        }
        lately.bytes += kept.bytes();
        lately.notes.insert(file, (self.stamp, Arc::clone(kept)));
    }
}

impl Lately {
    fn forget(&mut self, file: i64) {
        if let Some((_, kept)) = self.notes.remove(&file) {
            self.bytes -= kept.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::digest::DigestedPassage;
    use crate::index::vectors;

    fn kept(title: &str) -> Arc<Kept> {
        Arc::new(Kept {
            path: "n.md".into(),
            title: title.into(),
            permalink: "n".into(),
            name: title.into(),
            created: Timestamp::default(),
            updated: Timestamp::default(),
            importance: None,
            words: Arc::default(),
        })
    }

    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn index() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("../schema.sql")).unwrap();
        for file in 1..=3 {
            vectors::put(&db, file, &[DigestedPassage::empty("a cat")]).unwrap();
        }
        db
    }

    fn title(as_of: &AsOf<'_>, file: i64) -> Option<String> {
        as_of.get(file).map(|kept| kept.title.to_string())
    }

    #[test]
    fn what_changed_is_forgotten_and_nothing_else() {
        let (db, cache) = (index(), NoteCache::default());
        let before = cache.as_of(&db, Some(IndexId(1))).unwrap();
        assert_eq!(title(&before, 1), None);
        (1..=3).for_each(|file| before.put(file, &kept("old")));
        assert_eq!(title(&before, 1).as_deref(), Some("old"));
        vectors::put(&db, 2, &[DigestedPassage::empty("a dog")]).unwrap();
        vectors::remove(&db, 3).unwrap();
        let after = cache.as_of(&db, Some(IndexId(1))).unwrap();
        let titles = |as_of: &AsOf<'_>| [1, 2, 3].map(|file| title(as_of, file).is_some());
        assert_eq!(titles(&after), [true, false, false]);
        after.put(2, &kept("new"));
        assert_eq!(title(&after, 2).as_deref(), Some("new"));
        // Who still looks at the state before sees nothing newer, and brings back nothing older.
        assert_eq!(titles(&before), [true, false, false]);
        before.put(2, &kept("old"));
        before.put(3, &kept("old"));
        assert_eq!(title(&after, 2).as_deref(), Some("new"));
        assert_eq!(title(&after, 3), None);
        let other = cache.as_of(&db, Some(IndexId(2))).unwrap();
        assert_eq!(titles(&other), [false; 3], "another index has other numbers");
        after.put(1, &kept("of the index before"));
        assert_eq!(titles(&other), [false; 3]);
        other.put(1, &kept("of the new index"));
        assert_eq!(titles(&after), [false; 3]);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let (db, cache) = (index(), NoteCache::default());
        let as_of = cache.as_of(&db, None).unwrap();
        let large = kept(&"x".repeat(MOST_BYTES / 8));
        for file in 0..100 {
            as_of.put(file, &large);
            let lately = cache.lock();
            let bytes: usize = lately.notes.values().map(|(_, kept)| kept.bytes()).sum();
            assert_eq!(bytes, lately.bytes);
            assert!(bytes <= MOST_BYTES + large.bytes(), "{bytes}");
        }
        assert!(title(&as_of, 99).is_some());
    }
}
