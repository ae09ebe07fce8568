//! A vault in a temporary folder, and the few calls that every test makes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use memoranda_core::change::{Action, Author, Change, Channel, Commit, Expect, Operation};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_store::{OpenOptions, Outcome, SearchFilter, Store, StoreError};
use tempfile::TempDir;

/// A vault that vanishes with its test.
pub(crate) struct TestVault {
    folder: TempDir,
}

impl TestVault {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(options(self.folder.path())).unwrap()
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

/// How a vault in this folder is opened.
pub(crate) fn options(folder: &Path) -> OpenOptions {
    OpenOptions {
        home: folder.join("home"),
        cache: folder.join("cache"),
        state: folder.join("state"),
        file_sync: Duration::from_secs(60),
        lock_patience: Duration::from_secs(30),
    }
}

pub(crate) fn who(client: &str) -> Author {
    Author { client: client.into(), tool: "test".into(), channel: Channel::Cli }
}

pub(crate) fn main_project() -> ProjectName {
    ProjectName::parse("main").unwrap()
}

pub(crate) fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

/// One operation in the project `main`.
pub(crate) fn operation(place: &str, expect: Expect, action: Action) -> Operation {
    Operation { project: main_project(), path: path(place), expect, action }
}

pub(crate) fn change(operations: Vec<Operation>) -> Change {
    Change { operations, made: Vec::new(), emptied: Vec::new(), message: None }
}

pub(crate) fn put(store: &Store, place: &str, text: &str) -> Commit {
    let action = Action::Put(text.as_bytes().to_vec());
    made(make(store, change(vec![operation(place, Expect::Anything, action)])))
}

pub(crate) fn remove(store: &Store, place: &str) -> Commit {
    made(make(store, change(vec![operation(place, Expect::Anything, Action::Remove)])))
}

pub(crate) fn make(store: &Store, change: Change) -> Outcome {
    store.commit(&who("test"), |_| Ok::<_, StoreError>(change.clone())).unwrap()
}

pub(crate) fn made(outcome: Outcome) -> Commit {
    match outcome {
        Outcome::Committed(commit) => commit,
        other => panic!("not committed: {other:?}"),
    }
}

/// The paths that a search finds, best first.
pub(crate) fn found(store: &Store, text: &str) -> Vec<String> {
    let hits = store.search(text, &Query::parse(text), &SearchFilter::default(), 100).unwrap();
    let mut paths: Vec<String> = Vec::new();
    for hit in hits.hits {
        let place = format!("{}/{}", hit.project, hit.path);
        if !paths.contains(&place) {
            paths.push(place);
        }
    }
    paths
}

pub(crate) fn sync(store: &Store) -> memoranda_store::SyncReport {
    store.sync(&mut |_| {}).unwrap()
}
