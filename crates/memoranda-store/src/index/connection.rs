//! The only module that opens SQLite. It opens the index, detects damage and runs checkpoints under
//! the vault lock.
//!
//! Pages reach the main file only by a checkpoint under the lock. Each checkpoint records the
//! file's size and modification time. A main file that differs from this record was changed by
//! another program. The index is a cache, so it is then rebuilt.

#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use memoranda_core::embed::MODEL_ID;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use super::vectors;
use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::{FilePrivacy, state_files};
use crate::machine;

/// Version of the schema. Increase it whenever the tables or their content change.
const SCHEMA_VERSION: i32 = 34;
const SCHEMA: &str = include_str!("schema.sql");
/// Bytes of a page. A write changes a few bytes in each of some forty pages, and every changed page
/// is written whole.
const PAGE_BYTES: u32 = 2048;
/// Maximum size of the page cache of a connection in kilobytes. The system caches the file, too.
const READER_CACHE_KB: i64 = 4_000;
const WRITER_CACHE_KB: i64 = 12_000;
/// Time that a connection waits for a lock of another connection.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of attempts of a simulated process to get such a lock.
const MAX_SIMULATED_TRIES: i32 = 1_000;

/// Identifier of an index, assigned at its creation. In-memory caches compare it in the same
/// transaction, because a new file can reuse the inode number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IndexId(pub(crate) i64);

impl IndexId {
    /// Returns the identifier of this index; `None` if it has none.
    pub(crate) fn of(db: &Connection) -> Result<Option<Self>> {
        let made = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'made'";
        let made = db.prepare_cached(made)?.query_row([], |row| row.get(0)).optional()?;
        Ok(made.map(Self))
    }
}

/// One state of an index, for the invalidation of in-memory caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct IndexVersion {
    /// The index. Row numbers of another index have no meaning here.
    pub(crate) index: Option<IndexId>,
    /// The stamp of the last change to searchable content.
    pub(crate) stamp: i64,
}

impl IndexVersion {
    /// Returns the state that the current transaction reads.
    pub(crate) fn of(db: &Connection) -> Result<Self> {
        Ok(Self { index: IndexId::of(db)?, stamp: vectors::newest_stamp(db)? })
    }
}

/// The location of a vault's index.
#[derive(Clone)]
pub(crate) struct IndexFile {
    path: PathBuf,
    /// False for an index that nobody opens after a restart of the machine.
    is_forced: bool,
}

/// Handling of readers of an older state, which block the checkpoint of newer pages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OldReaders {
    /// Wait until they finish.
    Wait,
    /// Write only the pages that are not blocked.
    PassBy,
}

/// The state of the index file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IndexState {
    /// Unchanged since the last checkpoint.
    Sound,
    /// Missing, of another version, or changed by another program.
    Unusable,
}

impl IndexFile {
    /// Returns the index of the vault at `home` in the cache folder.
    pub(crate) fn new(cache: &Path, home: &Path) -> Result<Self> {
        let hash = blake3::hash(home.as_os_str().as_encoded_bytes()).to_hex();
        let folder = cache.join(&hash[..16]);
        state_files::create_dir(&folder, FilePrivacy::Private)
            .doing(|| format!("make {}", folder.display()))?;
        Ok(Self { path: folder.join("index.db"), is_forced: true })
    }

    /// Returns the index in a file of any name.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path, is_forced: true }
    }

    /// Returns the same file for a vault that does not outlive the run of its machine: nothing is
    /// forced to disk.
    pub(crate) fn unforced(self) -> Self {
        Self { is_forced: false, ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes over a file that was written as a whole, and records that it is sound. Only before any
    /// process uses it.
    pub(crate) fn adopt(&self) -> Result<Connection> {
        let db = self.open_writer()?;
        self.write_pages(&db, OldReaders::Wait)?;
        Ok(db)
    }

    /// Records that the file is sound after further changes. Only before any process uses it.
    pub(crate) fn finish_adoption(&self, db: &Connection) -> Result<()> {
        self.write_pages(db, OldReaders::Wait)
    }

    /// Writes one state of the index into a new file, without the pages that are free.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<()> {
        let to = path.to_str().ok_or_else(StoreError::index_damage)?;
        self.open_writer()?.execute("VACUUM INTO ?", [to])?;
        Ok(())
    }

    /// Returns the name of the form that an index has in this program.
    pub(crate) fn format_name() -> String {
        format!("index {SCHEMA_VERSION} {MODEL_ID}")
    }

    /// Compares the metadata of the file with the recorded one, without opening it.
    pub(crate) fn state(&self) -> Result<IndexState> {
        let found = state_files::size_and_mtime(&self.path).doing(|| "look at the index".into())?;
        let Some(found) = found else { return Ok(IndexState::Unusable) };
        let stamp = state_files::read(&self.stamp_path()).doing(|| "look at the index".into())?;
        let sound = stamp.is_some_and(|stamp| stamp == stamp_text(found).as_bytes());
        Ok(if sound { IndexState::Sound } else { IndexState::Unusable })
    }

    /// Returns the file's identity, which differs for a new file with this name.
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        state_files::identity(&self.path)
    }

    /// Opens a sound index for reading.
    pub(crate) fn open_reader(&self) -> Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = self.open(flags).and_then(|db| {
            // The first query needs room for shared memory.
            db.query_row("SELECT count(*) FROM meta", [], |_| Ok(()))?;
            db.pragma_update(None, "query_only", true)?;
            db.pragma_update(None, "cache_size", -READER_CACHE_KB)?;
            Ok(db)
        });
        match opened {
            Err(e) if e.is_unwritable() => self.open_immutable(),
            opened => opened,
        }
    }

    /// Opens the main file alone, where nothing can be written: on a disk that is full or read-only.
    pub(crate) fn open_immutable(&self) -> Result<Connection> {
        let mut name = String::from("file:");
        for byte in self.path.as_os_str().as_encoded_bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                    name.push(char::from(*byte));
                }
                other => name.push_str(&format!("%{other:02x}")),
            }
        }
        name.push_str("?immutable=1");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(name, flags)?;
        db.pragma_update(None, "temp_store", "memory")?;
        db.set_prepared_statement_cache_capacity(160);
        Ok(db)
    }

    /// Opens a sound index for writing. Only under the vault's lock.
    pub(crate) fn open_writer(&self) -> Result<Connection> {
        self.open(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
    }

    /// Creates an empty index. Only under the vault lock.
    pub(crate) fn create(&self) -> Result<Connection> {
        if let Some(folder) = self.path.parent() {
            state_files::create_dir(folder, FilePrivacy::Private)
                .doing(|| format!("make {}", folder.display()))?;
        }
        self.discard()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // SQLite gives the files of the index that it makes later the owner of this one.
        state_files::write_plain(&self.path, b"").doing(|| "make the index".into())?;
        let db = self.open(flags)?;
        db.execute_batch(&format!(
            "BEGIN; {SCHEMA}; INSERT INTO meta (key, value) VALUES ('model', '{MODEL_ID}'), \
             ('made', CAST(random() AS TEXT)); \
             PRAGMA user_version = {SCHEMA_VERSION}; COMMIT"
        ))?;
        self.write_pages(&db, OldReaders::Wait)?;
        Ok(db)
    }

    /// Removes the file with everything that belongs to it. Only before any process uses it, or under
    /// the vault lock.
    pub(crate) fn discard(&self) -> Result<()> {
        for suffix in ["", "-wal", "-shm", ".stamp"] {
            state_files::remove(&self.with_suffix(suffix))
                .doing(|| "remove the old index".into())?;
        }
        Ok(())
    }

    /// Writes all pages to the main file and records its size and time. Only under the lock. A file
    /// changed by another program keeps its old record, so it stays unusable.
    pub(crate) fn write_back(&self, db: &Connection, readers: OldReaders) -> Result<()> {
        match self.state()? {
            IndexState::Sound => self.write_pages(db, readers),
            IndexState::Unusable => Err(StoreError::index_damage()),
        }
    }

    fn write_pages(&self, db: &Connection, readers: OldReaders) -> Result<()> {
        if readers == OldReaders::PassBy {
            db.busy_timeout(Duration::ZERO)?;
        }
        let written = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if !machine::is_simulated() {
            db.busy_timeout(BUSY_TIMEOUT)?;
        }
        written?;
        let found = state_files::size_and_mtime(&self.path).doing(|| "look at the index".into())?;
        if let Some(found) = found {
            state_files::write_plain(&self.stamp_path(), stamp_text(found).as_bytes())
                .doing(|| "note the index's state".into())?;
        }
        Ok(())
    }

    /// Returns the size of the write-ahead log in bytes.
    pub(crate) fn waiting_bytes(&self) -> u64 {
        let found = state_files::size_and_mtime(&self.with_suffix("-wal"));
        found.ok().flatten().map_or(0, |(size, _)| size)
    }

    fn open(&self, flags: OpenFlags) -> Result<Connection> {
        let mut db = Connection::open_with_flags(&self.path, flags)?;
        wait_for_others(&mut db)?;
        // Without effect on an existing file.
        db.pragma_update(None, "page_size", PAGE_BYTES)?;
        // Before the journal mode: its change would force a copy with another one to disk.
        db.pragma_update(None, "synchronous", if self.is_forced { "normal" } else { "off" })?;
        db.pragma_update(None, "journal_mode", "wal")?;
        db.pragma_update(None, "wal_autocheckpoint", 0)?;
        db.pragma_update(None, "cache_size", -WRITER_CACHE_KB)?;
        db.pragma_update(None, "temp_store", "memory")?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // Use one query plan for all bound values; otherwise SQLite plans again for each new value.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        db.set_prepared_statement_cache_capacity(160);
        Ok(db)
    }

    /// Returns true if schema and static embedding model are those of this program.
    pub(crate) fn is_current(db: &Connection) -> bool {
        let version = db.query_row("PRAGMA user_version", [], |row| row.get::<_, i32>(0));
        let model = "SELECT value FROM meta WHERE key = 'model'";
        version.is_ok_and(|version| version == SCHEMA_VERSION)
            && db
                .query_row(model, [], |row| row.get::<_, String>(0))
                .is_ok_and(|model| model == MODEL_ID)
    }

    fn stamp_path(&self) -> PathBuf {
        self.with_suffix(".stamp")
    }

    fn with_suffix(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.as_os_str().to_owned();
        path.push(suffix);
        path.into()
    }
}

/// Opens an empty index in memory, for the words of a small part of another one.
pub(super) fn open_in_memory() -> Result<Connection> {
    let db = Connection::open_in_memory()?;
    db.execute_batch(SCHEMA)?;
    Ok(db)
}

/// Lets a connection wait for the locks of others.
fn wait_for_others(db: &mut Connection) -> Result<()> {
    if machine::is_simulated() {
        db.busy_handler(Some(|tries| {
            machine::pause(Duration::from_millis(1));
            tries < MAX_SIMULATED_TRIES
        }))?;
    } else {
        db.busy_timeout(BUSY_TIMEOUT)?;
    }
    Ok(())
}

fn stamp_text((size, mtime_ns): (u64, i128)) -> String {
    format!("{size} {mtime_ns}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_does_not_outlive_its_machine_is_not_forced_to_disk() {
        let folder = tempfile::tempdir().unwrap();
        let synchronous = |file: &IndexFile| -> i64 {
            let db = file.create().unwrap();
            db.query_row("PRAGMA synchronous", [], |row| row.get(0)).unwrap()
        };
        let kept = IndexFile::new(folder.path(), Path::new("/kept")).unwrap();
        let cache = IndexFile::new(folder.path(), Path::new("/cache")).unwrap().unforced();
        assert_eq!((synchronous(&kept), synchronous(&cache)), (1, 0));
        cache.discard().unwrap();
        assert_eq!(cache.state().unwrap(), IndexState::Unusable);
        assert_eq!(kept.state().unwrap(), IndexState::Sound);
    }
}
