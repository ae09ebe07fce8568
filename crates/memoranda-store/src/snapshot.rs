//! One consistent read of the index.
//!
//! Every query is a method of [`Snapshot`], written in the module of its table. Readers get a
//! snapshot from [`Store::snapshot`]; a decision under the vault lock gets the same queries from
//! its [`Transaction`](crate::Transaction).

use std::cell::{Ref, RefCell};
use std::rc::{Rc, Weak};

use rusqlite::Connection;

use crate::commit::unindexed::UnindexedFile;
use crate::error::{Result, StoreError};
use crate::files::ProjectRoot;
use crate::index::ReadTransaction;
use crate::{Project, Store, StoreInner};

/// The index in one state, which contains every commit acknowledged before the snapshot.
#[derive(Clone)]
pub struct Snapshot<'s> {
    pub(crate) inner: &'s StoreInner,
    source: SnapshotSource<'s>,
}

#[derive(Clone)]
enum SnapshotSource<'s> {
    /// A read transaction, which the snapshots of a thread share.
    Reader(SharedRead),
    /// The connection of the writer, under the vault lock.
    Writer(&'s Connection),
}

type SharedRead = Rc<RefCell<ReadTransaction>>;

thread_local! {
    /// The read transactions that this thread holds, one for each index.
    static HELD: RefCell<Vec<Weak<RefCell<ReadTransaction>>>> = const { RefCell::new(Vec::new()) };
}

impl Store {
    /// Begins a consistent read of the index after it has caught up with the log.
    ///
    /// While a thread holds a snapshot, its further snapshots have the same state. So one call
    /// sees one state if its first function holds one. A write of the thread ends this: the next
    /// snapshot contains the write.
    ///
    /// The index need not have caught up with the commits of this process until a query that they
    /// may concern; only this query waits for it. The snapshot then moves to the state at that time:
    /// [`Snapshot::settle`] fixes it before.
    pub fn snapshot(&self) -> Result<Snapshot<'_>> {
        let inner = &*self.inner;
        let is_own = |read: &SharedRead| read.borrow().is_of(&inner.index);
        let held = HELD.with_borrow(|held| held.iter().filter_map(Weak::upgrade).find(is_own));
        if let Some(read) = held {
            return Ok(Snapshot { inner, source: SnapshotSource::Reader(read) });
        }
        let snapshot = inner.lookup_snapshot()?;
        if let SnapshotSource::Reader(read) = &snapshot.source {
            HELD.with_borrow_mut(|held| {
                held.retain(|read| read.strong_count() > 0);
                held.push(Rc::downgrade(read));
            });
        }
        Ok(snapshot)
    }

    /// Begins a read of the index without the pending commits of this process. Until it is dropped,
    /// every snapshot of this thread lacks them, whichever query they concern. `None` if no commit is
    /// pending, or if the thread holds a snapshot already.
    pub fn snapshot_without_pending(&self) -> Result<Option<Snapshot<'_>>> {
        let inner = &*self.inner;
        let is_own = |read: &SharedRead| read.borrow().is_of(&inner.index);
        if HELD.with_borrow(|held| held.iter().filter_map(Weak::upgrade).any(|read| is_own(&read)))
        {
            return Ok(None);
        }
        let mut read = inner.begin_lookup()?;
        if read.lacking().is_none() {
            return Ok(None);
        }
        read.fix();
        let read = Rc::new(RefCell::new(read));
        HELD.with_borrow_mut(|held| held.push(Rc::downgrade(&read)));
        Ok(Some(Snapshot { inner, source: SnapshotSource::Reader(read) }))
    }
}

impl StoreInner {
    /// Begins a read that may lack pending commits of this process, whatever the thread holds.
    pub(crate) fn lookup_snapshot(&self) -> Result<Snapshot<'_>> {
        let read = Rc::new(RefCell::new(self.begin_lookup()?));
        Ok(Snapshot { inner: self, source: SnapshotSource::Reader(read) })
    }

    /// Begins a consistent read of the current state, whatever the thread holds.
    pub(crate) fn fresh_snapshot(&self) -> Result<Snapshot<'_>> {
        let read = Rc::new(RefCell::new(self.begin_read()?));
        Ok(Snapshot { inner: self, source: SnapshotSource::Reader(read) })
    }

    /// Lets the next snapshot of this thread have a new state. Snapshots that exist keep theirs.
    pub(crate) fn end_shared_read(&self) {
        let is_other = |read: &SharedRead| !read.borrow().is_of(&self.index);
        HELD.with_borrow_mut(|held| {
            held.retain(|read| read.upgrade().as_ref().is_some_and(is_other));
        });
    }
}

impl<'s> Snapshot<'s> {
    /// Reads through the writer's connection. Only under the vault lock.
    pub(crate) fn of_writer(inner: &'s StoreInner, db: &'s Connection) -> Self {
        Self { inner, source: SnapshotSource::Writer(db) }
    }

    /// Makes all queries of the snapshot see one state, whichever they are.
    pub fn settle(&self) -> Result<()> {
        self.query(|_| Ok(()))
    }

    /// Runs a query that any pending commit may concern.
    pub(crate) fn query<R>(&self, run: impl Fn(&Connection) -> Result<R>) -> Result<R> {
        self.query_about(|_| true, run)
    }

    /// Runs a query that only some pending commits concern. If one does, the commits are indexed first,
    /// unless the state of a reader has them already.
    pub(crate) fn query_about<R>(
        &self,
        concerns: impl Fn(&UnindexedFile) -> bool,
        run: impl Fn(&Connection) -> Result<R>,
    ) -> Result<R> {
        let result = self.read_about(concerns)?.run(&run);
        match result {
            Err(error) if self.renew_after(&error)? => self.read_about(|_| false)?.run(&run),
            result => result,
        }
    }

    /// Returns true if the state lacks a pending commit that may concern a query.
    pub(crate) fn lacks(&self, concerns: impl Fn(&UnindexedFile) -> bool) -> bool {
        let pending = self.inner.pending();
        match &self.source {
            SnapshotSource::Writer(_) => pending.concern(concerns),
            SnapshotSource::Reader(reader) => {
                let lacking = reader.borrow().lacking();
                lacking.is_some_and(|span| pending.may_concern(span, concerns))
            }
        }
    }

    /// Returns the connection of the snapshot for several queries that any pending commit may concern.
    pub(crate) fn read(&self) -> Result<SnapshotRead<'_>> {
        self.read_about(|_| true)
    }

    fn read_about(&self, concerns: impl Fn(&UnindexedFile) -> bool) -> Result<SnapshotRead<'_>> {
        let reader = match &self.source {
            SnapshotSource::Writer(db) => {
                self.inner.settle_pending(db, concerns)?;
                return Ok(SnapshotRead::Writer(db));
            }
            SnapshotSource::Reader(reader) => reader,
        };
        let lacking = reader.borrow().lacking();
        if lacking.is_some_and(|span| self.inner.pending().may_concern(span, concerns)) {
            match reader.try_borrow_mut() {
                Ok(mut reader) => *reader = self.inner.begin_read()?,
                // A query inside a query leaves the state to the outer one.
                Err(_) => return Ok(SnapshotRead::Own(self.inner.begin_read()?)),
            }
        }
        Ok(SnapshotRead::Shared(reader.borrow()))
    }

    /// Moves the snapshot to a sound index after an error that damage of the index explains. Returns
    /// true if it has moved, so that what failed can be read again.
    pub fn renew_after(&self, error: &StoreError) -> Result<bool> {
        let SnapshotSource::Reader(reader) = &self.source else { return Ok(false) };
        reader.borrow().note_failure();
        if !error.is_index_damage() {
            return Ok(false);
        }
        // A query inside a query leaves the recovery to the outer one.
        let Ok(mut damaged) = reader.try_borrow_mut() else { return Ok(false) };
        self.inner.index.forget();
        *damaged = self.inner.begin_read()?;
        Ok(true)
    }

    /// Opens the folder of a project.
    pub(crate) fn root(&self, project: &Project) -> Result<ProjectRoot> {
        match &self.source {
            SnapshotSource::Reader(_) => self.inner.root(project),
            SnapshotSource::Writer(db) => self.inner.root_held(db, project),
        }
    }
}

/// The connection of a snapshot. While it exists, the snapshot keeps its state.
pub(crate) enum SnapshotRead<'r> {
    /// The read transaction that the snapshots of the thread share.
    Shared(Ref<'r, ReadTransaction>),
    /// A read transaction inside another query of the thread, which lacks pending commits.
    Own(ReadTransaction),
    /// The connection of the writer, under the vault lock.
    Writer(&'r Connection),
}

impl SnapshotRead<'_> {
    /// Returns the connection.
    pub(crate) fn connection(&self) -> Result<&Connection> {
        match self {
            Self::Shared(read) => read.connection(),
            Self::Own(read) => read.connection(),
            Self::Writer(db) => Ok(db),
        }
    }

    fn run<R>(&self, query: impl FnOnce(&Connection) -> Result<R>) -> Result<R> {
        match self {
            Self::Shared(read) => read.run(query),
            Self::Own(read) => read.run(query),
            Self::Writer(db) => query(db),
        }
    }
}
