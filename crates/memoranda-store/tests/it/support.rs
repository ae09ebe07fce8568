//! A vault in a temporary folder, and the few calls that every test makes.

#![allow(dead_code, reason = "some is for the feature `faults`")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use memoranda_core::change::{
    Author, ChangeChannel, ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction,
};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_store::faults::Step;
use memoranda_store::remote::RemoteLog;
use memoranda_store::{CloneOrigin, CommitOutcome, OpenOptions, SearchFilter, Store, StoreError};
use tempfile::TempDir;

use crate::space::MemoryLog;

/// A vault that vanishes with its test. With the variable `MEMORANDA_TEST_SPACE` it is the copy of a space
/// whose log is elsewhere, and tests behave the same.
pub(crate) struct TestVault {
    folder: TempDir,
    remote: Option<Arc<MemoryLog>>,
}

impl TestVault {
    /// In memory where the system has such a place, because thousands of forced writes wait for
    /// a disk that others use; `TMPDIR` puts it elsewhere.
    pub(crate) fn new() -> Self {
        let in_memory = match std::env::var_os("TMPDIR") {
            None => TempDir::new_in("/dev/shm").ok(),
            Some(_) => None,
        };
        let folder = in_memory.unwrap_or_else(|| TempDir::new().unwrap());
        let remote = std::env::var_os("MEMORANDA_TEST_SPACE").map(|_| Arc::default());
        Self { folder, remote }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn open(&self) -> Store {
        let options = options(self.folder.path());
        let Some(remote) = &self.remote else { return Store::open(options).unwrap() };
        let log: Arc<dyn RemoteLog> = Arc::<MemoryLog>::clone(remote);
        let (url, space) = ("http://test".to_owned(), "test".to_owned());
        let origin = CloneOrigin { url, space, device: log.device().to_owned(), epoch: 1 };
        let store = Store::open_clone(options, &origin, log).unwrap();
        store.catch_up_with_space(None).unwrap();
        store
    }

    /// Writes a file as a person would.
    pub(crate) fn write_by_hand(&self, place: &str, text: impl AsRef<[u8]>) {
        let path = self.home().join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads a file as a person would.
    pub(crate) fn text(&self, place: &str) -> Option<String> {
        std::fs::read_to_string(self.home().join(place)).ok()
    }
}

/// The steps of a write at which a process can die.
pub(crate) fn write_steps() -> impl Iterator<Item = Step> {
    let is_other = |step: &Step| {
        matches!(
            step,
            Step::Rewritten
                | Step::Leaving
                | Step::Unregistered
                | Step::OpenLock
                | Step::AnyCall
                | Step::StartThread
                | Step::SpaceAppend
                | Step::SpaceAppended
        )
    };
    Step::ALL.into_iter().filter(move |step| !is_other(step))
}

/// Returns the options of a vault in this folder.
pub(crate) fn options(folder: &Path) -> OpenOptions {
    OpenOptions::in_folder(folder)
}

pub(crate) fn who(client: &str) -> Author {
    Author::new(client, "test", ChangeChannel::Cli)
}

pub(crate) fn main_project() -> ProjectName {
    ProjectName::parse("main").unwrap()
}

pub(crate) fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

/// One operation in the project `main`.
pub(crate) fn operation(
    place: &str,
    expect: ExpectedContent,
    action: FileAction,
) -> ChangeOperation {
    ChangeOperation { project: main_project(), path: path(place), expect, action }
}

pub(crate) fn change(operations: Vec<ChangeOperation>) -> ChangeSet {
    ChangeSet { operations, ..ChangeSet::default() }
}

pub(crate) fn put(store: &Store, place: &str, text: &str) -> Commit {
    let action = FileAction::Put(text.as_bytes().to_vec());
    made(make(store, change(vec![operation(place, ExpectedContent::Anything, action)])))
}

pub(crate) fn remove(store: &Store, place: &str) -> Commit {
    made(make(store, change(vec![operation(place, ExpectedContent::Anything, FileAction::Remove)])))
}

pub(crate) fn make(store: &Store, change: ChangeSet) -> CommitOutcome {
    store.transact(&who("test"), |_| Ok::<_, StoreError>(change.clone())).unwrap()
}

pub(crate) fn made(outcome: CommitOutcome) -> Commit {
    match outcome {
        CommitOutcome::Committed(commit) => commit,
        other => panic!("not committed: {other:?}"),
    }
}

/// The paths that a search finds, best first.
pub(crate) fn found(store: &Store, text: &str) -> Vec<String> {
    let hits = store
        .snapshot()
        .unwrap()
        .search(text, &Query::parse(text), &SearchFilter::default(), 100)
        .unwrap();
    let mut paths: Vec<String> = Vec::new();
    for hit in hits.hits {
        let place = format!("{}/{}", hit.project, hit.path);
        if !paths.contains(&place) {
            paths.push(place);
        }
    }
    paths
}

pub(crate) fn sync(store: &Store) -> memoranda_store::ScanReport {
    store.sync(&mut |_| {}).unwrap()
}

impl TestVault {
    /// An empty place in the vault's folder, another one at every call.
    pub(crate) fn scratch(&self) -> PathBuf {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        self.folder().join(format!("scratch-{number}"))
    }

    /// Proves that files, log and index agree.
    pub(crate) fn assert_agrees(&self, store: &Store, context: &str) {
        let report = store.check(&self.scratch()).unwrap();
        assert!(report.agrees(), "{context}: {report:?}");
    }

    /// Pretends that the machine was restarted: what was not forced to disk proves nothing.
    pub(crate) fn restart_machine(&self) {
        let before = self.lock_table();
        let boot = format!(" 01{} ", "ee".repeat(16));
        let after: Vec<String> = before
            .lines()
            .map(|line| {
                let words: Vec<&str> = line.splitn(3, ' ').collect();
                match words.as_slice() {
                    [device, _, position] if *device != "memoranda" => {
                        format!("{device}{boot}{position}")
                    }
                    _ => line.to_owned(),
                }
            })
            .collect();
        std::fs::write(self.home().join(".memoranda/lock"), after.join("\n") + "\n").unwrap();
        for device in std::fs::read_dir(self.home().join(".memoranda/log")).unwrap() {
            let file = device.unwrap().path().join("boot");
            if let Ok(line) = std::fs::read_to_string(&file) {
                let rest = line.split_once(' ').map_or("", |(_, rest)| rest);
                std::fs::write(file, format!("{} {rest}", boot.trim())).unwrap();
            }
        }
    }

    /// Returns the content of the lock file: the applied position of each device.
    pub(crate) fn lock_table(&self) -> String {
        std::fs::read_to_string(self.home().join(".memoranda/lock")).unwrap()
    }

    /// Writes a lock table with another applied position for the first device.
    pub(crate) fn set_applied_offset(&self, table: &str, offset: usize) {
        let old = table.lines().nth(1).unwrap().rsplit(' ').next().unwrap();
        let table = table.replace(old, &format!("{offset:020}"));
        std::fs::write(self.home().join(".memoranda/lock"), table).unwrap();
    }

    /// Opens the vault as this device with another cache.
    pub(crate) fn open_as_same_device(&self, cache: &str) -> Store {
        let folder = self.folder.path();
        Store::open(OpenOptions { cache: folder.join(cache), ..options(folder) }).unwrap()
    }

    /// Opens the vault as another device of this machine, such as a container.
    pub(crate) fn open_as(&self, device: &str) -> Store {
        let folder = self.folder.path();
        let (state, cache) =
            (folder.join(format!("state-{device}")), folder.join(format!("cache-{device}")));
        Store::open(OpenOptions { state, cache, ..options(folder) }).unwrap()
    }

    /// The only segment of the only device's log.
    pub(crate) fn segment(&self) -> PathBuf {
        let device = std::fs::read_to_string(self.folder().join("state/device")).unwrap();
        self.home().join(".memoranda/log").join(device.trim()).join("00000001.log")
    }

    /// Returns the files of the index, with those of SQLite.
    pub(crate) fn index_files(&self) -> Vec<PathBuf> {
        let cache = std::fs::read_dir(self.folder().join("cache")).unwrap();
        let folder = cache.map(|entry| entry.unwrap().path()).next().unwrap();
        let names = ["index.db", "index.db-wal", "index.db.stamp"];
        names.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect()
    }
}

/// Random numbers that a printed seed brings back.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

/// Returns the number of rounds of a randomized test: more with `MEMORANDA_TEST_ROUNDS`.
pub(crate) fn rounds(usual: usize) -> usize {
    let asked = std::env::var("MEMORANDA_TEST_ROUNDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Waits until something is so; fails after half a minute.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never happened: {what}");
}

impl TestVault {
    /// A vault of the same files, log and device, at another place.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::new();
        copy_folder(self.folder(), copy.folder());
        std::fs::remove_dir_all(copy.folder().join("cache")).unwrap();
        copy
    }
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target)
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
