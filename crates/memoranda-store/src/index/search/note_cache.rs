//! In-memory cache of per-note ranking data, invalidated by index version; cleared when it exceeds
//! 10 MB.
//!
//! The stamps of the vectors change with every change of a note. A search in an older state of the
//! index never gets newer data.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rusqlite::Connection;

use crate::error::Result;
use crate::index::connection::IndexVersion;
use crate::index::write::PASSAGES_PER_FILE;

/// Maximum size in bytes, about ten thousand notes. A larger cache is cleared.
const MAX_CACHE_BYTES: usize = 10 << 20;
/// Estimated size in bytes of a note without its texts and tokens.
const NOTE_OVERHEAD_BYTES: usize = 250;

/// Ranking data and display data of a note.
pub(super) struct CachedNote {
    pub(super) project: Box<str>,
    pub(super) path: Arc<str>,
    pub(super) title: Box<str>,
    pub(super) permalink: Box<str>,
    pub(super) note_type: Box<str>,
    /// Frontmatter as JSON.
    pub(super) metadata: Box<str>,
    /// Title and tags.
    pub(super) name: Arc<str>,
    pub(super) created: Timestamp,
    pub(super) updated: Timestamp,
    pub(super) importance: Option<f64>,
    /// The row with the tokens of its first passages.
    pub(super) words: Arc<[u8]>,
}

impl CachedNote {
    fn bytes(&self) -> usize {
        let Self { project, path, title, permalink, note_type, metadata, name, .. } = self;
        let texts: [&str; 7] = [project, path, title, permalink, note_type, metadata, name];
        texts.map(str::len).iter().sum::<usize>() + self.words.len() + NOTE_OVERHEAD_BYTES
    }
}

/// Cache of ranking data.
#[derive(Default)]
pub(crate) struct NoteCache(Mutex<CachedNotes>);

#[derive(Default)]
struct CachedNotes {
    /// The index version for which all entries are valid.
    then: IndexVersion,
    /// The notes, each with the stamp at which it was read.
    notes: HashMap<i64, (i64, Arc<CachedNote>)>,
    bytes: usize,
}

/// The cache as seen by one version of the index.
pub(crate) struct NoteCacheView<'c> {
    cache: &'c NoteCache,
    now: IndexVersion,
}

impl NoteCache {
    /// Removes notes that changed since, and returns the rest.
    pub(crate) fn as_of(&self, db: &Connection, now: IndexVersion) -> Result<NoteCacheView<'_>> {
        let mut cached_notes = self.lock();
        if cached_notes.then.index != now.index {
            *cached_notes = CachedNotes { then: now, ..CachedNotes::default() };
        }
        if now.stamp > cached_notes.then.stamp {
            let mut changed = db.prepare_cached("SELECT file FROM vectors WHERE stamp > ?")?;
            let mut rows = changed.query([cached_notes.then.stamp])?;
            while let Some(row) = rows.next()? {
                cached_notes.forget(row.get(0)?);
            }
            cached_notes.then = now;
        }
        drop(cached_notes);
        Ok(NoteCacheView { cache: self, now })
    }

    fn lock(&self) -> MutexGuard<'_, CachedNotes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NoteCacheView<'_> {
    /// Returns a note; `None` if it does not exist.
    pub(super) fn note(&self, db: &Connection, file: i64) -> Result<Option<Arc<CachedNote>>> {
        if let Some(kept) = self.get(file) {
            return Ok(Some(kept));
        }
        let kept = read(db, file)?.map(Arc::new);
        if let Some(kept) = &kept {
            self.put(file, kept);
        }
        Ok(kept)
    }

    /// Returns a cached note that is valid for this version.
    fn get(&self, file: i64) -> Option<Arc<CachedNote>> {
        let cached_notes = self.cache.lock();
        let (read, kept) = cached_notes.notes.get(&file)?;
        let is_true = cached_notes.then.index == self.now.index && *read <= self.now.stamp;
        is_true.then(|| Arc::clone(kept))
    }

    /// Adds a note.
    fn put(&self, file: i64, kept: &Arc<CachedNote>) {
        let mut cached_notes = self.cache.lock();
        // Another thread may have moved the cache to a newer version or another index.
        if cached_notes.then != self.now {
            return;
        }
        cached_notes.forget(file);
        if cached_notes.bytes > MAX_CACHE_BYTES {
            cached_notes.notes.clear();
            cached_notes.bytes = 0;
        }
        cached_notes.bytes += kept.bytes();
        cached_notes.notes.insert(file, (self.now.stamp, Arc::clone(kept)));
    }
}

impl CachedNotes {
    fn forget(&mut self, file: i64) {
        if let Some((_, kept)) = self.notes.remove(&file) {
            self.bytes -= kept.bytes();
        }
    }
}

/// Reads the ranking data of a note.
fn read(db: &Connection, file: i64) -> Result<Option<CachedNote>> {
    let mut select = db.prepare_cached(&format!(
        "SELECT r.name, f.path, f.title, f.permalink, f.note_type, f.metadata, c.tags, \
         f.created_ms, f.updated_ms, c.importance, c.data FROM files f \
         CROSS JOIN projects r ON r.id = f.project \
         CROSS JOIN cuts c ON c.id = f.id * {PASSAGES_PER_FILE} WHERE f.id = ?"
    ))?;
    let mut rows = select.query([file])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let text = |column| -> Result<&str> { Ok(row.get_ref(column)?.as_str().unwrap_or_default()) };
    let time = |ms: i64| Timestamp::from_millisecond(ms).unwrap_or_default();
    Ok(Some(CachedNote {
        project: text(0)?.into(),
        path: text(1)?.into(),
        title: text(2)?.into(),
        permalink: text(3)?.into(),
        note_type: text(4)?.into(),
        metadata: text(5)?.into(),
        name: [text(2)?, text(6)?].join(" ").into(),
        created: time(row.get(7)?),
        updated: time(row.get(8)?),
        importance: row.get(9)?,
        words: row.get_ref(10)?.as_blob().unwrap_or_default().into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::connection::IndexId;
    use crate::index::extract::ExtractedPassage;
    use crate::index::vectors;

    fn kept(title: &str) -> Arc<CachedNote> {
        Arc::new(CachedNote {
            project: "main".into(),
            path: "n.md".into(),
            note_type: "note".into(),
            metadata: "{}".into(),
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
            vectors::put(&db, (1, file), &[ExtractedPassage::empty("a cat")]).unwrap();
        }
        db
    }

    fn title(as_of: &NoteCacheView<'_>, file: i64) -> Option<String> {
        as_of.get(file).map(|kept| kept.title.to_string())
    }

    #[test]
    fn only_changed_notes_are_evicted() {
        let (db, cache) = (index(), NoteCache::default());
        let as_of = |index| {
            let now =
                IndexVersion { index: Some(IndexId(index)), ..IndexVersion::of(&db).unwrap() };
            cache.as_of(&db, now).unwrap()
        };
        let before = as_of(1);
        assert_eq!(title(&before, 1), None);
        (1..=3).for_each(|file| before.put(file, &kept("old")));
        assert_eq!(title(&before, 1).as_deref(), Some("old"));
        vectors::put(&db, (1, 2), &[ExtractedPassage::empty("a dog")]).unwrap();
        vectors::remove(&db, 3).unwrap();
        let after = as_of(1);
        let titles = |as_of: &NoteCacheView<'_>| [1, 2, 3].map(|file| title(as_of, file).is_some());
        assert_eq!(titles(&after), [true, false, false]);
        after.put(2, &kept("new"));
        assert_eq!(title(&after, 2).as_deref(), Some("new"));
        // An older version gets nothing newer, and adds nothing older.
        assert_eq!(titles(&before), [true, false, false]);
        before.put(2, &kept("old"));
        before.put(3, &kept("old"));
        assert_eq!(title(&after, 2).as_deref(), Some("new"));
        assert_eq!(title(&after, 3), None);
        let other = as_of(2);
        assert_eq!(titles(&other), [false; 3], "another index has other numbers");
        after.put(1, &kept("of the index before"));
        assert_eq!(titles(&other), [false; 3]);
        other.put(1, &kept("of the new index"));
        assert_eq!(titles(&after), [false; 3]);
    }

    #[test]
    fn the_cache_is_bounded() {
        let (db, cache) = (index(), NoteCache::default());
        let as_of = cache.as_of(&db, IndexVersion::of(&db).unwrap()).unwrap();
        let large = kept(&"x".repeat(MAX_CACHE_BYTES / 8));
        for file in 0..100 {
            as_of.put(file, &large);
            let cached_notes = cache.lock();
            let bytes: usize = cached_notes.notes.values().map(|(_, kept)| kept.bytes()).sum();
            assert_eq!(bytes, cached_notes.bytes);
            assert!(bytes <= MAX_CACHE_BYTES + large.bytes(), "{bytes}");
        }
        assert!(title(&as_of, 99).is_some());
    }
}
