//! A process that is suspended, as by Ctrl-Z or in a paused container: it stops no reader, a writer
//! learns which process it waits for, and edits by hand are found all the same.

use std::fs::{self, File};
use std::process::{Child, Command};
use std::time::Duration;

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_store::{OpenOptions, Store, StoreError};

use crate::child::{Task, acknowledged};
use crate::support::{TestVault, change, eventually, found, operation, options, put, sync, who};

/// Takes the vault's lock and keeps it until it is killed.
pub(crate) fn hold_lock(task: &Task) {
    let lock = File::open(task.folder.join("home/.memoranda/lock")).unwrap();
    lock.lock().unwrap();
    task.acknowledge("held");
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn is_suspended(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    status.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

fn suspend(child: &Child) {
    signal(child, "-STOP");
    eventually("the process is suspended", || is_suspended(child));
}

#[test]
fn a_writer_learns_who_holds_the_lock_and_a_reader_does_not_wait() {
    let vault = TestVault::new();
    put(&vault.open(), "note.md", "what was written before: walrus");
    let mut holder = Task::new("hold-lock", vault.folder(), &[]).start();
    eventually("the lock is held", || acknowledged(vault.folder()) == ["held"]);
    suspend(&holder);
    let lock_patience = Duration::from_millis(50);
    let store = Store::open(OpenOptions { lock_patience, ..options(vault.folder()) }).unwrap();
    let action = FileAction::Put(b"new".to_vec());
    let wanted = change(vec![operation("new.md", ExpectedContent::Anything, action)]);
    let busy = store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone())).unwrap_err();
    let StoreError::Busy { holder: named, is_suspended, .. } = busy else { panic!("{busy}") };
    assert_eq!((named, is_suspended), (holder.id(), true));
    assert!(busy.to_string().contains("kill -CONT"), "{busy}");
    // The log has grown since the index was read: it cannot be brought in step now.
    let mut log = fs::read(vault.segment()).unwrap();
    log.extend_from_slice(&[0; 64]);
    fs::write(vault.segment(), log).unwrap();
    let patient = vault.open();
    let busy = patient.catch_up_for_read().unwrap_err();
    assert!(matches!(busy, StoreError::Busy { seconds: 0, .. }), "{busy}");
    assert_eq!(found(&patient, "walrus"), ["main/note.md"]);
    signal(&holder, "-CONT");
    holder.kill().unwrap();
    holder.wait().unwrap();
    put(&store, "new.md", "the lock is free again");
}

#[test]
fn a_suspended_watcher_blinds_nobody() {
    let vault = TestVault::new();
    put(&vault.open(), "note.md", "first");
    let mut watcher = Task::new("watch", vault.folder(), &[]).start();
    let store = vault.open();
    eventually("someone watches", || store.is_watched());
    assert!(!store.has_silent_watcher());
    suspend(&watcher);
    assert!(!store.is_watched());
    assert!(store.has_silent_watcher());
    signal(&watcher, "-CONT");
    eventually("it watches again", || store.is_watched());
    watcher.kill().unwrap();
    watcher.wait().unwrap();
    eventually("nobody watches", || !store.is_watched());
    assert!(!store.has_silent_watcher());
}

/// A watcher in a paused container, or on a system that does not show the state of processes: its
/// lock is held, it has said that it watches, and it does not answer.
#[test]
fn a_watcher_that_does_not_answer_is_not_relied_on() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", "first");
    sync(&store);
    let state = vault.home().join(".memoranda");
    let lock = File::options().create(true).append(true).open(state.join("watcher")).unwrap();
    lock.lock().unwrap();
    fs::write(state.join("watching"), "").unwrap();
    assert!(!store.is_watched());
    assert!(store.has_silent_watcher());
}
