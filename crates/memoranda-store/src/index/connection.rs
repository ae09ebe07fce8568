//! The door for SQLite: opening the index, telling a sound one from a damaged one, and writing
//! its pages back under the vault's lock.
//!
//! Pages reach the main file only by a checkpoint under the lock, and each checkpoint notes the
//! file's size and time. A main file that differs from its note was changed by somebody else;
//! since it is only a cache, it is then made anew.

#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use memoranda_core::embed::MODEL_ID;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use super::vectors;
use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::{FilePrivacy, state_files};

/// Raised whenever the tables or what is put in them changes.
const SCHEMA_VERSION: i32 = 23;
const SCHEMA: &str = include_str!("schema.sql");
/// How long a connection waits for another.
const PATIENCE: Duration = Duration::from_secs(10);

/// Which index it is: each has a number of its own from when it was made. Who keeps in memory what an
/// index says asks for it in the same look; the number of the file may go to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IndexId(pub(crate) i64);

impl IndexId {
    /// The number of this one; `None` if it has none.
    pub(crate) fn of(db: &Connection) -> Result<Option<Self>> {
        let made = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'made'";
        let made = db.prepare_cached(made)?.query_row([], |row| row.get(0)).optional()?;
        Ok(made.map(Self))
    }
}

/// One state of an index, for whoever keeps in memory what it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct IndexVersion {
    /// Which index it is; another has other numbers.
    pub(crate) index: Option<IndexId>,
    /// The stamp of the last change of what is searched.
    pub(crate) stamp: i64,
}

impl IndexVersion {
    /// The state that is being looked at.
    pub(crate) fn of(db: &Connection) -> Result<Self> {
        Ok(Self { index: IndexId::of(db)?, stamp: vectors::newest_stamp(db)? })
    }
}

/// Where the index of one vault lies.
#[derive(Clone)]
pub(crate) struct IndexFile {
    path: PathBuf,
}

/// What to do about readers of an older state, whose pages cannot be written over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OldReaders {
    /// Wait until they are done.
    Wait,
    /// Write as much as can be.
    PassBy,
}

/// What is found where an index should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IndexState {
    /// As it was left.
    Sound,
    /// Missing, of another version, or changed by somebody else.
    Unusable,
}

impl IndexFile {
    /// The index of the vault at `home` in the cache folder.
    pub(crate) fn new(cache: &Path, home: &Path) -> Result<Self> {
        let hash = blake3::hash(home.as_os_str().as_encoded_bytes()).to_hex();
        let folder = cache.join(&hash[..16]);
        state_files::create_dir(&folder, FilePrivacy::Private)
            .doing(|| "make the index's folder".into())?;
        Ok(Self { path: folder.join("index.db") })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Looks at the file without reading it.
    pub(crate) fn state(&self) -> Result<IndexState> {
        let found = state_files::size_and_mtime(&self.path).doing(|| "look at the index".into())?;
        let Some(found) = found else { return Ok(IndexState::Unusable) };
        let stamp = state_files::read(&self.stamp_path()).doing(|| "look at the index".into())?;
        let sound = stamp.is_some_and(|stamp| stamp == stamp_text(found).as_bytes());
        Ok(if sound { IndexState::Sound } else { IndexState::Unusable })
    }

    /// What tells this file from another of the same name.
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        state_files::identity(&self.path)
    }

    /// Opens a sound index for reading.
    pub(crate) fn open_reader(&self) -> Result<Connection> {
        let db = self.open(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        db.pragma_update(None, "query_only", true)?;
        Ok(db)
    }

    /// Opens a sound index for writing. Only under the vault's lock.
    pub(crate) fn open_writer(&self) -> Result<Connection> {
        self.open(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
    }

    /// Makes an empty index. Only under the vault's lock.
    pub(crate) fn create(&self) -> Result<Connection> {
        if let Some(folder) = self.path.parent() {
            state_files::create_dir(folder, FilePrivacy::Private)
                .doing(|| "make the index's folder".into())?;
        }
        for suffix in ["", "-wal", "-shm", ".stamp"] {
            state_files::remove(&self.with_suffix(suffix))
                .doing(|| "remove the old index".into())?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = self.open(flags)?;
        db.execute_batch(&format!(
            "BEGIN; {SCHEMA}; INSERT INTO meta (key, value) VALUES ('model', '{MODEL_ID}'), \
             ('made', CAST(random() AS TEXT)); \
             PRAGMA user_version = {SCHEMA_VERSION}; COMMIT"
        ))?;
        self.write_pages(&db, OldReaders::Wait)?;
        Ok(db)
    }

    /// Writes all pages to the main file and notes how it looks then. Only under the lock. A file
    /// that somebody else has changed is not made to look sound.
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
        db.busy_timeout(PATIENCE)?;
        written?;
        let found = state_files::size_and_mtime(&self.path).doing(|| "look at the index".into())?;
        if let Some(found) = found {
            state_files::write_plain(&self.stamp_path(), stamp_text(found).as_bytes())
                .doing(|| "note the index's state".into())?;
        }
        Ok(())
    }

    /// How large the log of the index is, in which pages wait to be written back.
    pub(crate) fn waiting_bytes(&self) -> u64 {
        let found = state_files::size_and_mtime(&self.with_suffix("-wal"));
        found.ok().flatten().map_or(0, |(size, _)| size)
    }

    fn open(&self, flags: OpenFlags) -> Result<Connection> {
        let db = Connection::open_with_flags(&self.path, flags)?;
        db.busy_timeout(PATIENCE)?;
        db.pragma_update(None, "journal_mode", "wal")?;
        db.pragma_update(None, "synchronous", "normal")?;
        db.pragma_update(None, "wal_autocheckpoint", 0)?;
        db.pragma_update(None, "cache_size", -16_000)?;
        db.pragma_update(None, "temp_store", "memory")?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // One plan for a statement whatever is bound to it; else each new value plans it anew.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        db.set_prepared_statement_cache_capacity(160);
        Ok(db)
    }

    /// Whether the tables are those that this program knows, with vectors of its own model.
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

fn stamp_text((size, mtime_ns): (u64, i128)) -> String {
    format!("{size} {mtime_ns}\n")
}
