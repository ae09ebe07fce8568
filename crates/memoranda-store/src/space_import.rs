//! Brings the history of a vault into a space: every commit with its time, author and contents.

use memoranda_core::change::Commit;

use crate::error::{Result, StoreError};
use crate::log::chain::clock_of;
use crate::log::{FileRecord, LogPosition, LogRecord, LoggedRecord, ReadCheck, RecordBody};
use crate::{Store, StoreInner};

/// Bytes of contents that are sent at once.
const BATCH_BYTES: usize = 4 << 20;
/// Number of commits that are sent at once.
const BATCH_COMMITS: usize = 500;

/// Result of an import into a space.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct SpaceImportReport {
    /// Number of commits.
    pub commits: u64,
    /// Size of their contents, in bytes.
    pub bytes: u64,
    /// Number of versions whose content was purged.
    pub purged: u64,
}

impl Store {
    /// Copies the history of a vault into this space, which must be empty. A call that is stopped
    /// leaves a space with a part of the history, and a second call refuses.
    pub fn import_vault(
        &self,
        source: &Self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<SpaceImportReport> {
        let Some(space) = &self.inner.space else {
            return Err(StoreError::NotInSpace { doing: "be a vault of this machine" });
        };
        if space.log().head()?.seq != 0 {
            return Err(StoreError::NotInSpace {
                doing: "take in a vault once something was written to it; make another space",
            });
        }
        let mut records = source.inner.all_records()?;
        // Devices in the order of their clocks; records of one device keep their order.
        records.sort_by_key(|(_, logged)| match logged.record.link.clock {
            // Records of format 1 have no clock.
            0 => clock_of(logged.record.commit.time.as_millisecond()),
            clock => clock,
        });
        let total = records.len() as u64;
        let mut report = SpaceImportReport::default();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (device, logged) in records {
            let (record, body) = source.inner.copied_record(&device, &logged, &mut report)?;
            bytes += body.as_bytes().len();
            report.bytes += body.as_bytes().len() as u64;
            batch.push((record, body));
            report.commits += 1;
            if bytes > BATCH_BYTES || batch.len() >= BATCH_COMMITS {
                self.inner.append_imported(std::mem::take(&mut batch))?;
                bytes = 0;
                progress(report.commits, total);
            }
        }
        self.inner.append_imported(batch)?;
        progress(report.commits, total);
        Ok(report)
    }
}

impl StoreInner {
    fn all_records(&self) -> Result<Vec<(String, LoggedRecord)>> {
        let mut records = Vec::new();
        for device in self.log.devices()? {
            self.log.read_from(&device, LogPosition::default(), ReadCheck::Whole, |logged| {
                if logged.record.is_commit() {
                    records.push((device.clone(), logged));
                }
                Ok(())
            })?;
        }
        Ok(records)
    }

    /// Returns a record with its contents, for another log.
    fn copied_record(
        &self,
        device: &str,
        logged: &LoggedRecord,
        report: &mut SpaceImportReport,
    ) -> Result<(LogRecord, RecordBody)> {
        let mut body = RecordBody::default();
        let Commit { files, .. } = &logged.record.commit;
        let mut notes = Vec::with_capacity(files.len());
        for (n, (file, note)) in files.iter().zip(&logged.record.notes).enumerate() {
            let content = match (file.after, logged.content_at(device, n)) {
                (Some(hash), Some(at)) => match self.log.content(&at, hash) {
                    Ok(content) => Some(content),
                    Err(StoreError::ContentGone(_)) => {
                        report.purged += 1;
                        None
                    }
                    Err(error) => return Err(error),
                },
                _ => None,
            };
            notes.push(FileRecord {
                blob: content.map(|content| body.add(&content)),
                permalink: note.permalink.clone(),
                found_time_ms: note.found_time_ms,
                ..FileRecord::default()
            });
        }
        Ok((LogRecord::new(logged.record.commit.clone(), notes), body))
    }

    fn append_imported(&self, records: Vec<(LogRecord, RecordBody)>) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        self.with_session(|session| session.append(records).map(drop))?;
        // The next holder of the lock applies what the log has beyond the files.
        self.with_session(|_| Ok::<_, StoreError>(()))
    }
}
