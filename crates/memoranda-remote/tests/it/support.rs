//! A shared space in a database of its own, and caches of it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memoranda_core::change::{
    Author, ChangeChannel, ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction,
};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_remote::postgres::{Database, PostgresLog, SpaceRow};
use memoranda_store::{
    CommitOutcome, SearchFilter, SpaceFreshness, SpaceOptions, Store, StoreError,
};
use tempfile::TempDir;

use crate::cluster::Cluster;

pub(crate) struct TestSpace {
    pub(crate) database: Database,
    pub(crate) database_name: String,
    folder: TempDir,
}

impl TestSpace {
    /// Makes the space `acme` with its owner `anna`.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        let (_, database_name) = cluster.new_database();
        Self::in_database(cluster, &database_name)
    }

    /// Makes the same in a database that has tables already.
    pub(crate) fn in_database(cluster: &Cluster, name: &str) -> Self {
        let database_name = name.to_owned();
        let database = Database::new(&cluster.address(name), None).unwrap();
        database.create_account("test", "anna", None).unwrap();
        database.create_space("test", "acme", "anna", None).unwrap();
        Self { database, database_name, folder: TempDir::new().unwrap() }
    }

    pub(crate) fn row(&self, name: &str) -> SpaceRow {
        let spaces = self.database.spaces().unwrap();
        spaces.into_iter().find(|space| space.name == name).unwrap()
    }

    /// Opens a cache of the space as another server would: with connections of its own.
    pub(crate) fn open(&self, cache: &str, address: &str) -> Store {
        self.open_row(cache, address, self.row("acme"))
    }

    /// Opens a cache of the space in another database that has it too, such as a promoted standby.
    pub(crate) fn open_at(&self, cache: &str, address: &str, cluster: &Cluster) -> Store {
        let database = Database::new(&cluster.address(&self.database_name), None).unwrap();
        let mut spaces = database.spaces().unwrap().into_iter();
        self.open_row(cache, address, spaces.find(|space| space.name == "acme").unwrap())
    }

    /// Returns the place of a cache.
    pub(crate) fn options(&self, cache: &str) -> SpaceOptions {
        let root = self.folder.path().join(cache);
        SpaceOptions { root, lock_patience: Duration::from_secs(30) }
    }

    /// Returns the log of the space `acme`.
    pub(crate) fn log(&self) -> PostgresLog {
        let space = self.row("acme");
        PostgresLog::new(self.database.clone(), space.id, space.device)
    }

    fn open_row(&self, cache: &str, address: &str, space: SpaceRow) -> Store {
        self.open_with(cache, &Database::new(address, None).unwrap(), space)
    }

    /// Opens a cache of a space with the connections of a server that has others open.
    pub(crate) fn open_with(&self, cache: &str, database: &Database, space: SpaceRow) -> Store {
        let log = PostgresLog::new(database.clone(), space.id, space.device);
        let store = Store::open_space(&self.options(cache), Arc::new(log)).unwrap();
        store.catch_up_with_space(None).unwrap();
        store.sync(&mut |_| {}).unwrap();
        store
    }
}

fn main_project() -> ProjectName {
    ProjectName::parse("main").unwrap()
}

fn author() -> Author {
    Author::new("test", "test", ChangeChannel::Http)
}

pub(crate) fn change(place: &str, expect: ExpectedContent, action: FileAction) -> ChangeSet {
    let path = NotePath::parse(place).unwrap();
    let operation = ChangeOperation { project: main_project(), path, expect, action };
    ChangeSet { operations: vec![operation], ..ChangeSet::default() }
}

pub(crate) fn try_put(store: &Store, place: &str, text: &str) -> Result<Commit, StoreError> {
    let action = FileAction::Put(text.as_bytes().to_vec());
    commit(store, &change(place, ExpectedContent::Anything, action))
}

pub(crate) fn put(store: &Store, place: &str, text: &str) -> Commit {
    try_put(store, place, text).unwrap()
}

pub(crate) fn commit(store: &Store, change: &ChangeSet) -> Result<Commit, StoreError> {
    match store.transact(&author(), |_| Ok::<_, StoreError>(change.clone()))? {
        CommitOutcome::Committed(commit) => Ok(commit),
        other => panic!("not committed: {other:?}"),
    }
}

/// Adds a line to a file, with a decision that reads the file under the lock.
pub(crate) fn try_append(store: &Store, place: &str, line: &str) -> Result<Commit, StoreError> {
    let path = NotePath::parse(place).unwrap();
    let outcome = store.transact(&author(), |view| {
        let found = view.read(&main_project(), &path)?;
        let mut bytes = found.map(|found| found.bytes.to_vec()).unwrap_or_default();
        bytes.extend_from_slice(format!("{line}\n").as_bytes());
        Ok::<_, StoreError>(change(place, ExpectedContent::Anything, FileAction::Put(bytes)))
    })?;
    match outcome {
        CommitOutcome::Committed(commit) => Ok(commit),
        other => panic!("not committed: {other:?}"),
    }
}

/// Says that it is over when it is dropped.
pub(crate) struct EndGuard<'a>(pub(crate) &'a AtomicBool);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Servers that append lines to one file, and the lines that were acknowledged.
pub(crate) struct LoadedServers {
    pub(crate) stores: Vec<Store>,
    acknowledged: Mutex<BTreeSet<String>>,
    is_over: AtomicBool,
}

impl LoadedServers {
    pub(crate) const COUNT: usize = 3;

    pub(crate) fn open(space: &TestSpace, address: &str) -> Self {
        let open = |n: usize| space.open(&format!("server-{n}"), address);
        let stores = (0..Self::COUNT).map(open).collect();
        Self { stores, acknowledged: Mutex::default(), is_over: AtomicBool::new(false) }
    }

    /// Lets every server write while something happens to the database.
    pub(crate) fn write_while(&self, happening: impl FnOnce()) {
        std::thread::scope(|scope| {
            for (n, store) in self.stores.iter().enumerate() {
                scope.spawn(move || self.append_lines(n, store));
            }
            // The writers end also if it fails.
            let _end = EndGuard(&self.is_over);
            happening();
        });
    }

    fn append_lines(&self, n: usize, store: &Store) {
        for i in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let line = format!("line {n} {i}");
            match try_append(store, "log.md", &line) {
                Ok(_) => drop(self.acknowledged.lock().unwrap().insert(line)),
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// Waits until further writes of all servers together were acknowledged.
    pub(crate) fn await_writes(&self, further: usize) -> Duration {
        let written = || self.acknowledged.lock().unwrap().len();
        let (started, before) = (Instant::now(), written());
        while written() < before + further {
            assert!(started.elapsed() < Duration::from_secs(60), "no write went on");
            std::thread::sleep(Duration::from_millis(20));
        }
        started.elapsed()
    }

    /// Compares everything with a cache that reads the log from its beginning: each acknowledged
    /// line is there, once. Returns the number of lines.
    pub(crate) fn check(&self, cold: &Store) -> usize {
        let text = text_of(cold, "log.md").unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let once: BTreeSet<&str> = lines.iter().copied().collect();
        assert_eq!(once.len(), lines.len(), "a write was made twice");
        for line in self.acknowledged.lock().unwrap().iter() {
            assert!(once.contains(line.as_str()), "{line} is lost");
        }
        for store in &self.stores {
            assert_eq!(store.catch_up_with_space(None).unwrap(), SpaceFreshness::Current);
            assert_eq!(store.fingerprint().unwrap(), cold.fingerprint().unwrap());
        }
        lines.len()
    }
}

pub(crate) fn text_of(store: &Store, place: &str) -> Option<String> {
    let content = store.read(&main_project(), &NotePath::parse(place).unwrap()).unwrap();
    content.map(|content| String::from_utf8(content.bytes.to_vec()).unwrap())
}

pub(crate) fn found(store: &Store, text: &str) -> Vec<String> {
    let hits = store
        .snapshot()
        .unwrap()
        .search(text, &Query::parse(text), &SearchFilter::default(), 100)
        .unwrap();
    let mut paths: Vec<String> = hits.hits.iter().map(|hit| hit.path.to_string()).collect();
    paths.dedup();
    paths
}

/// Number of repetitions of a randomized test: more with `MEMORANDA_TEST_ROUNDS`.
pub(crate) fn rounds(usual: usize) -> usize {
    let asked = std::env::var("MEMORANDA_TEST_ROUNDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(usual)
}
