//! Files that cannot be read while an index is made: what the log knows of them stands in for them,
//! so that a new index answers like the old one.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::StoreInner;
use crate::error::Result;
use crate::files::FileStat;
use crate::index::extract::extract;
use crate::index::{self, IndexBatch, IndexedFile, history};

/// Number of files that are taken from the log at a time.
const BATCH_FILES: usize = 200;

impl StoreInner {
    /// Adds the logged content of every file of a project that no scan has reached to the index.
    /// The next scan that reaches the file reads it, because the row has no stamp.
    pub(crate) fn remember_unreached(&self, name: &ProjectName) -> Result<()> {
        let unreached: Vec<NotePath> = self.ask(|db| index::unreached(db, name))?;
        for paths in unreached.chunks(BATCH_FILES) {
            self.stop_if_closing()?;
            self.with_session(|session| -> Result<()> {
                let transaction = session.db.unchecked_transaction()?;
                let mut batch = IndexBatch::new(session.db);
                let project = batch.project(name)?;
                for path in paths {
                    let Some(head) = batch.head(project, path)? else { continue };
                    let Some(hash) = head.after else { continue };
                    let at = history::content_at(session.db, hash)?;
                    // Purged content is indexed by its name only.
                    let Some(bytes) = at.and_then(|at| self.log.content(&at, hash).ok()) else {
                        continue;
                    };
                    let mtime_ns = head.last_ms.saturating_mul(1_000_000);
                    let size = bytes.len() as u64;
                    let put = IndexedFile {
                        project,
                        path,
                        hash,
                        stat: FileStat { size, mtime_ns, ctime_ns: 0, inode: 0 },
                        checked_ns: 0,
                        permalink: head.permalink.as_deref(),
                        first_seen_ms: Some(head.first_ms),
                    };
                    batch.put(&put, &extract(path, &bytes))?;
                }
                batch.finish()?;
                transaction.commit()?;
                self.index.note_written(session.db)
            })?;
        }
        Ok(())
    }
}
