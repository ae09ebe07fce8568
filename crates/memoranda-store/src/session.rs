//! Holding the vault: the lock, the end of the log and the index, all three in step.
//!
//! Whoever takes the lock first completes what a dead process left half done, and reads into
//! the index what others wrote. After that the three agree, and stay so until the lock is let go.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::Connection;

use crate::Inner;
use crate::error::{Result, StoreError};
use crate::index::{self, Batch, IndexFile, IndexState, history};
use crate::lock::{Held, LockFile, SameBoot};
use crate::log::{Checking, LogWriter, Placed, Position};
use crate::news::News;
use crate::observe::Observation;
use crate::recover::{self, Death};

/// What this process needs to write, kept between writes.
pub(crate) struct Writer {
    pub(crate) lock: LockFile,
    log: Option<LogWriter>,
    db: Option<(Connection, Option<(u64, u64)>)>,
    /// What the index has not been told yet.
    news: Option<News>,
    /// Why nothing may be written any more, if a write could neither be finished nor undone.
    halted: Option<String>,
}

impl Writer {
    pub(crate) fn new(lock: LockFile) -> Self {
        Self { lock, log: None, db: None, news: None, halted: None }
    }
}

/// The vault, held.
pub(crate) struct Session<'a> {
    pub(crate) inner: &'a Inner,
    pub(crate) held: Held<'a>,
    pub(crate) log: &'a mut LogWriter,
    pub(crate) db: &'a Connection,
    /// What the index is told when the vault is taken next.
    pub(crate) news: &'a mut Option<News>,
    /// Set when a write could neither be finished nor undone: only a new start can complete it.
    pub(crate) halted: &'a mut Option<String>,
}

impl Session<'_> {
    /// Appends what was seen on disk to the log, and tells the history in the index.
    pub(crate) fn record(&mut self, seen: Observation) -> Result<()> {
        let Some(record) = seen.into_record() else { return Ok(()) };
        let placed = self.log.append(&[record])?;
        self.held.set_applied(self.log.end()).ok();
        for placed in &placed {
            history::add(self.db, &self.inner.vault.device, placed)?;
        }
        Ok(())
    }
}

/// What a process finds at the end of the log.
enum LogIs {
    /// What it wrote last.
    AsLeft,
    /// Perhaps something else.
    Unknown,
}

impl Inner {
    /// Takes the vault's lock, brings log, files and index in step, and does some work.
    pub(crate) fn with_session<R, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Session<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let mut guard = self.writer();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        let writer = &mut *guard;
        if let Some(reason) = &writer.halted {
            return Err(StoreError::Halted(reason.clone()).into());
        }
        let held = writer.lock.acquire()?;
        if let LogIs::Unknown = self.follow_log(&held, &mut writer.log)? {
            writer.news = None;
        }
        let Some(log) = &mut writer.log else {
            return Err(StoreError::Halted("the log cannot be opened".into()).into());
        };
        if let Err(e) = self.follow_index(&mut writer.db, log.end(), writer.news.take()) {
            if !e.is_index_damage() {
                return Err(e.into());
            }
            writer.db = None;
            self.index.create()?;
            self.follow_index(&mut writer.db, log.end(), None)?;
        }
        let Some((db, _)) = &writer.db else {
            return Err(StoreError::Halted("the index cannot be opened".into()).into());
        };
        let Writer { news, halted, .. } = writer;
        let result = work(&mut Session { inner: self, held, log, db, news, halted });
        if writer.halted.is_some() {
            writer.log = None;
        }
        result
    }

    /// Waits while others of this process wait for the vault, but not for long: for work that takes
    /// the vault again and again, and would get it each time before them.
    pub(crate) fn let_others(&self) {
        const PAUSE: Duration = Duration::from_micros(200);
        for _ in 0..100 {
            if self.waiting.load(Ordering::Relaxed) == 0 {
                break;
            }
            std::thread::sleep(PAUSE);
        }
    }

    pub(crate) fn writer(&self) -> MutexGuard<'_, Writer> {
        // A panic elsewhere leaves the writer as it was: every step can be repeated.
        self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Goes to the end of the log, completing what was left half done.
    fn follow_log(&self, held: &Held<'_>, log: &mut Option<LogWriter>) -> Result<LogIs> {
        let device = &self.vault.device;
        let applied = held.applied();
        if let (Some(writer), Some(applied)) = (log.as_mut(), applied)
            && applied.same_boot == SameBoot::Yes
            && writer.end() == applied.position
            && writer.is_at_end()
        {
            return Ok(LogIs::AsLeft);
        }
        let end = self.log.end(device)?;
        let clean = applied
            .is_some_and(|applied| applied.same_boot == SameBoot::Yes && applied.position == end);
        if clean {
            match log {
                Some(writer) => writer.move_to(end)?,
                None => *log = Some(self.log.writer(device, end)?),
            }
            return Ok(LogIs::Unknown);
        }
        let (from, death) = match applied {
            Some(applied) if applied.same_boot == SameBoot::Yes && applied.position <= end => {
                (applied.position, Death::Process)
            }
            _ => (self.checkpoint()?, Death::Machine),
        };
        let mut records = Vec::new();
        let mut read = self.log.read_from(device, from, Checking::Whole, |placed| {
            records.push(placed);
            Ok(())
        })?;
        if from > end || read.damage.first().is_some_and(|damage| damage.offset == from.offset) {
            // Either the last record is torn, or the place means nothing any more because a
            // `vacuum` died after it rewrote the log; that has nothing left to complete.
            let whole =
                self.log.read_from(device, Default::default(), Checking::Whole, |_| Ok(()))?;
            if whole.end != read.end {
                records.clear();
                read = whole;
            }
        }
        let mut writer = self.log.writer(device, read.end)?;
        writer.cut_tail(read.end)?;
        recover::replay(self, &records, death)?;
        held.set_applied(writer.end())?;
        *log = Some(writer);
        Ok(LogIs::Unknown)
    }

    /// Opens the index if need be and tells it what the log has beyond it.
    fn follow_index(
        &self,
        db: &mut Option<(Connection, Option<(u64, u64)>)>,
        end: Position,
        news: Option<News>,
    ) -> Result<()> {
        let identity = self.index.identity();
        if db.as_ref().is_some_and(|(_, opened)| *opened != identity) {
            *db = None;
        }
        if db.is_none() {
            *db = Some(self.open_index()?);
        }
        let Some((db, _)) = db else { return Ok(()) };
        let read = history::read_to(db, &self.vault.device)?;
        if read.position == end {
            return Ok(());
        }
        if read.position > end {
            // The vault was set back, perhaps from a backup: what the index knows is not so.
            return Err(StoreError::index_damage());
        }
        match news.filter(|news| news.leads(read.position, end)) {
            Some(news) => self.tell(db, &news),
            None => self.read_log_into_index(db, &self.vault.device, read.position),
        }
    }

    /// Tells the index what a change made of the files.
    pub(crate) fn tell(&self, db: &Connection, news: &News) -> Result<()> {
        news.tell(db, &self.vault.device)?;
        self.index.note_written(db)
    }

    fn open_index(&self) -> Result<(Connection, Option<(u64, u64)>)> {
        let mut opened = match self.index.state()? {
            IndexState::Sound => Some(self.index.open_writer()?),
            IndexState::Unusable => None,
        };
        opened = opened.filter(IndexFile::is_current);
        let db = match opened {
            Some(db) => db,
            None => self.index.create()?,
        };
        let identity = self.index.identity();
        self.index.trust(identity);
        Ok((db, identity))
    }

    /// Takes new records into the history, and looks at the files that they name.
    pub(crate) fn read_log_into_index(
        &self,
        db: &Connection,
        device: &str,
        from: Position,
    ) -> Result<()> {
        let transaction = db.unchecked_transaction()?;
        let mut files = std::collections::BTreeSet::new();
        self.log.read_from(device, from, Checking::Meta, |placed: Placed| {
            history::add(db, device, &placed)?;
            for file in &placed.record.commit.files {
                files.insert((file.project.clone(), file.path.clone()));
                files.extend(file.moved_from.clone().map(|from| (file.project.clone(), from)));
            }
            Ok(())
        })?;
        // A new index is filled by a whole walk; then single files need no look.
        if index::is_complete(db)? {
            let mut batch = Batch::new(db);
            for (project, path) in &files {
                self.refresh(&mut batch, project, path)?;
            }
            batch.finish()?;
        }
        transaction.commit()?;
        self.index.note_written(db)
    }
}
