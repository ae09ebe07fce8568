//! What a change made of the files, for an index that has not been told yet.
//!
//! A change is answered when the log and the files have it. The index is told right behind it, by
//! the background of a process that goes on, or by whoever takes the vault next; nobody is given
//! an answer from an index that lags behind the log. What is kept here only saves the reading of
//! log and files once more: when it is lost with its process, or another process was faster, the
//! log says the same.

use memoranda_core::id::ContentHash;
use memoranda_core::path::NotePath;
use rusqlite::Connection;

use crate::error::{Result, StoreError};
use crate::faults::{self, Step};
use crate::files::FileStat;
use crate::index::extract::extract;
use crate::index::{IndexBatch, IndexedFile, history};
use crate::log::{LogPosition, LoggedRecord};

/// One change.
pub(crate) struct PendingIndexUpdate {
    /// The end of the log before it.
    pub(crate) from: LogPosition,
    /// Its records, with their places in the log.
    pub(crate) placed: Vec<LoggedRecord>,
    /// The files of the last record, in its order.
    pub(crate) files: Vec<FileUpdate>,
}

/// What became of one file.
pub(crate) struct FileUpdate {
    pub(crate) project_row: i64,
    pub(crate) path: NotePath,
    pub(crate) from: Option<NotePath>,
    /// `None` if it is gone, or of no concern to the index.
    pub(crate) now: Option<FileState>,
}

/// A file that is there.
pub(crate) struct FileState {
    pub(crate) hash: ContentHash,
    pub(crate) stat: FileStat,
    /// Before the file got its name, by the clock that stamps files: who saves after that is seen.
    pub(crate) checked_ns: i64,
    /// Its bytes, which are read when the index is told: nobody should wait for that.
    pub(crate) content: Vec<u8>,
}

impl PendingIndexUpdate {
    /// Whether it is all that an index lacks that knows the log up to `read`.
    pub(crate) fn leads(&self, read: LogPosition, end: LogPosition) -> bool {
        self.from == read && self.placed.last().is_some_and(|placed| placed.end == end)
    }

    /// Tells the index.
    pub(crate) fn tell(&self, db: &Connection, device: &str) -> Result<()> {
        let doing = |source| StoreError::Io { doing: "index".into(), source };
        faults::at(Step::Index).map_err(doing)?;
        let transaction = db.unchecked_transaction()?;
        for placed in &self.placed {
            history::add(db, device, placed)?;
        }
        let mut batch = IndexBatch::new(db);
        let notes = self.placed.last().map(|placed| placed.record.notes.as_slice());
        for (n, file) in self.files.iter().enumerate() {
            let extracted = file.now.as_ref().map(|now| extract(&file.path, &now.content));
            if let Some(from) = &file.from {
                if let Some(extracted) = &extracted {
                    batch.recall(file.project_row, from, extracted)?;
                }
                batch.remove(file.project_row, from)?;
            }
            let (Some(now), Some(extracted)) = (&file.now, extracted) else {
                batch.remove(file.project_row, &file.path)?;
                continue;
            };
            let head = history::head(db, file.project_row, &file.path)?;
            let put = IndexedFile {
                project: file.project_row,
                path: &file.path,
                hash: now.hash,
                stat: now.stat,
                checked_ns: now.checked_ns,
                permalink: notes.and_then(|notes| notes.get(n)?.permalink.as_deref()),
                first_seen_ms: head.map(|head| head.first_ms),
            };
            batch.put(&put, &extracted)?;
        }
        batch.finish()?;
        transaction.commit()?;
        faults::at(Step::Indexed).map_err(doing)
    }
}
