//! One consistent read of the index.
//!
//! Every query is a method of [`Snapshot`], written in the module of its table. Readers get a
//! snapshot from [`Store::snapshot`]; a decision under the vault lock gets the same queries from
//! its [`Transaction`](crate::Transaction).

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use rusqlite::Connection;

use crate::commit::unindexed::UnindexedFile;
use crate::error::Result;
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
        match &self.source {
            SnapshotSource::Writer(db) => {
                self.inner.settle_pending(db, concerns)?;
                run(db)
            }
            SnapshotSource::Reader(reader) => {
                let lacking = reader.borrow().lacking();
                if lacking.is_some_and(|span| self.inner.pending().may_concern(span, concerns)) {
                    match reader.try_borrow_mut() {
                        Ok(mut reader) => *reader = self.inner.begin_read()?,
                        // A query inside a query leaves the state to the outer one.
                        Err(_) => return self.inner.begin_read()?.run(&run),
                    }
                }
                let result = reader.borrow().run(&run);
                match result {
                    Err(e) if e.is_index_damage() => {
                        // A query inside a query leaves the recovery to the outer one.
                        let Ok(mut damaged) = reader.try_borrow_mut() else { return Err(e) };
                        self.inner.index.forget();
                        *damaged = self.inner.begin_read()?;
                        damaged.run(&run)
                    }
                    result => result,
                }
            }
        }
    }

    /// Opens the folder of a project.
    pub(crate) fn root(&self, project: &Project) -> Result<ProjectRoot> {
        match &self.source {
            SnapshotSource::Reader(_) => self.inner.root(project),
            SnapshotSource::Writer(db) => self.inner.root_held(db, project),
        }
    }
}
