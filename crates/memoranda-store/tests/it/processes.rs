//! Promise 3: any number of processes on one vault, while people use their editors.
//!
//! The promise with an editor: no acknowledged write is lost from the history, and every text that
//! an editor saved by renaming is on disk, in the history, or was replaced by the editor itself. A
//! change that was decided by reading is decided again if such a save came in between. That also
//! holds if the file system cannot exchange two files. An editor that writes in place through a
//! handle opened before an exchange writes into the displaced file; such a save can be lost, and no
//! lock can prevent it.

use std::collections::BTreeSet;

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_store::{CommitOutcome, HistoryFilter, Store, StoreError};

use crate::child::{Task, acknowledged};
use crate::support::{
    Random, TestVault, change, eventually, main_project, make, operation, options, path, put,
    rounds, sync, who,
};

const WRITERS: usize = 8;

/// A fault that never happens.
const USUAL: &str = "plain:rewritten:1";
/// A file system such as NFS or sshfs, which cannot exchange two files in one call.
const NO_EXCHANGE: &str = "plain:exchange:0";

/// Adds a line to a note, decided with the bytes as they are under the lock.
fn append(store: &Store, place: &str, line: &str) -> CommitOutcome {
    let decided = store.transact(&who("test"), |view| {
        let found = view.read(&main_project(), &path(place))?;
        let mut bytes = found.map(|found| found.bytes).unwrap_or_default();
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        Ok::<_, StoreError>(change(vec![operation(
            place,
            ExpectedContent::Anything,
            FileAction::Put(bytes),
        )]))
    });
    decided.unwrap()
}

/// One of several writers.
pub(crate) fn write(task: &Task) {
    let (me, count) = (task.number(0), task.number(1));
    let store = Store::open(options(&task.folder)).unwrap();
    let mut random = Random::new(me as u64 + 1);
    for n in 0..count {
        let line = format!("line {me}-{n}");
        assert!(matches!(append(&store, "shared.md", &line), CommitOutcome::Committed(_)));
        task.acknowledge(&line);

        let claim = operation(
            &format!("claims/{n}.md"),
            ExpectedContent::Absent,
            FileAction::Put(format!("claimed by {me}").into_bytes()),
        );
        match make(&store, change(vec![claim])) {
            CommitOutcome::Committed(_) => task.acknowledge(format!("won {n} by {me}")),
            CommitOutcome::Conflict(conflicts) => assert!(conflicts[0].found.is_some()),
            CommitOutcome::Unchanged => panic!("a file that was not there is unchanged"),
        }

        let own = format!("own/{me}-{}.md", random.below(3));
        match random.below(3) {
            0 => drop(make(
                &store,
                change(vec![operation(&own, ExpectedContent::Anything, FileAction::Remove)]),
            )),
            _ => drop(put_or_same(&store, &own, &format!("own {me} {n}"))),
        }
        assert!(!crate::support::found(&store, &line).is_empty(), "{line} is not found");
    }
}

fn put_or_same(store: &Store, place: &str, text: &str) -> CommitOutcome {
    let action = FileAction::Put(text.as_bytes().to_vec());
    make(store, change(vec![operation(place, ExpectedContent::Anything, action)]))
}

#[test]
fn eight_writers_lose_nothing() {
    let vault = TestVault::new();
    let count = rounds(12);
    let children: Vec<_> =
        (0..WRITERS).map(|me| Task::new("write", vault.folder(), &[&me, &count]).start()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let shared = vault.text("main/shared.md").unwrap();
    let lines: BTreeSet<&str> = shared.lines().collect();
    assert_eq!(shared.lines().count(), WRITERS * count, "lost or doubled lines:\n{shared}");
    let said = acknowledged(vault.folder());
    for line in said.iter().filter(|line| line.starts_with("line")) {
        assert!(lines.contains(line.as_str()), "{line} was acknowledged and is not there");
    }
    for n in 0..count {
        let prefix = format!("won {n} by ");
        let winners: Vec<_> = said.iter().filter_map(|line| line.strip_prefix(&prefix)).collect();
        assert_eq!(winners.len(), 1, "winners of {n}");
        let text = vault.text(&format!("main/claims/{n}.md")).unwrap();
        assert_eq!(text, format!("claimed by {}", winners[0]));
    }
    let store = vault.open();
    let appended = HistoryFilter { path: Some(path("shared.md")), ..Default::default() };
    let log = store.snapshot().unwrap().history(&appended, 10_000, 0).unwrap();
    assert_eq!(log.len(), WRITERS * count);
    // Each version follows the one before it: no write was made on an outdated text.
    for pair in log.windows(2) {
        assert_eq!(pair[0].files[0].before, pair[1].files[0].after);
    }
    sync(&store);
    vault.assert_agrees(&store, "eight writers");
}

/// An editor of the person: saves its own texts over one note, by renaming or in place.
pub(crate) fn edit(task: &Task) {
    let (way, count) = (task.arguments[0].as_str(), task.number(1));
    let note = task.folder.join("home/main/shared.md");
    let beside = task.folder.join("home/main/.shared.md.swp");
    for n in 0..count {
        let text = format!("saved {way} {n}\n");
        match way {
            "by-rename" => {
                std::fs::write(&beside, &text).unwrap();
                std::fs::rename(&beside, &note).unwrap();
            }
            _ => std::fs::write(&note, &text).unwrap(),
        }
        task.acknowledge(text.trim());
        // The next save follows only when this one was built upon, so that none replaces another.
        eventually("an answer to the edit", || {
            let now = std::fs::read_to_string(&note).unwrap_or_default();
            now != text && (now.starts_with(&text) || way != "by-rename")
        });
    }
    task.acknowledge("editor done");
}

/// A writer that appends to the note that the editor saves, until the editor is done.
pub(crate) fn append_beside_editor(task: &Task) {
    memoranda_store::faults::arm(&task.arguments[1]).unwrap();
    let store = Store::open(options(&task.folder)).unwrap();
    for n in 0.. {
        if acknowledged(&task.folder).iter().any(|line| line == "editor done") {
            return;
        }
        let line = format!("appended {} {n}", task.arguments[0]);
        if matches!(append(&store, "shared.md", &line), CommitOutcome::Committed(_)) {
            task.acknowledge(line);
        }
    }
}

/// All texts that the note has ever had, by the history and on disk.
fn all_versions(vault: &TestVault, store: &Store) -> String {
    let filter = HistoryFilter { path: Some(path("shared.md")), ..Default::default() };
    let mut all = vault.text("main/shared.md").unwrap_or_default();
    for commit in store.snapshot().unwrap().history(&filter, 100_000, 0).unwrap() {
        for after in commit.files.iter().filter_map(|file| file.after) {
            all.push_str(&String::from_utf8(store.content(after).unwrap()).unwrap());
        }
    }
    all
}

fn check_editor(way: &str, fault: &str) {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "shared.md", "begin\n");
    let count = rounds(60);
    let writers: Vec<_> =
        (0..2).map(|me| Task::new("append", vault.folder(), &[&me, &fault]).start()).collect();
    Task::new("edit", vault.folder(), &[&way, &count]).run();
    for child in writers {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    sync(&store);
    let all = all_versions(&vault, &store);
    for line in acknowledged(vault.folder()) {
        let promised = line.starts_with("appended") || line.starts_with("saved by-rename");
        assert!(!promised || all.contains(&format!("{line}\n")), "{way}: {line} is lost");
    }
    vault.assert_agrees(&store, way);
}

#[test]
fn an_editor_that_renames_loses_nothing_and_breaks_nothing() {
    check_editor("by-rename", USUAL);
}

#[test]
fn an_editor_that_renames_loses_nothing_where_files_cannot_be_exchanged() {
    check_editor("by-rename", NO_EXCHANGE);
}

#[test]
fn an_editor_that_writes_in_place_breaks_no_acknowledged_write() {
    check_editor("in-place", USUAL);
    check_editor("in-place", NO_EXCHANGE);
}

/// An editor that never rests: it saves and saves, by renaming, and then says what it saved last.
pub(crate) fn hammer(task: &Task) {
    let note = task.folder.join("home/main/shared.md");
    let beside = task.folder.join("home/main/.shared.md.swp");
    for n in 0..task.number(0) {
        std::fs::write(&beside, format!("hammered {n}\n")).unwrap();
        std::fs::rename(&beside, &note).unwrap();
    }
    task.acknowledge("editor done");
}

#[test]
fn an_editor_that_never_rests_has_the_last_word() {
    for round in 0..rounds(2) {
        let vault = TestVault::new();
        let store = vault.open();
        put(&store, "shared.md", "begin\n");
        let count = 2000;
        let mut child = Task::new("hammer", vault.folder(), &[&count]).start();
        let mut n = 0;
        while acknowledged(vault.folder()).is_empty() {
            let (other, note) = (format!("other-{n}.md"), "shared.md");
            let action = match n % 3 {
                0 => FileAction::Remove,
                _ => FileAction::Put(format!("appended {n}\n").into_bytes()),
            };
            let both = change(vec![
                operation(&other, ExpectedContent::Anything, FileAction::Put(b"other".to_vec())),
                operation(note, ExpectedContent::Anything, action),
            ]);
            match store.transact(&who("test"), |_| Ok::<_, StoreError>(both.clone())) {
                Ok(_) => assert!(vault.text(&format!("main/{other}")).is_some()),
                Err(e) => {
                    assert!(e.to_string().contains("kept saving"), "round {round}: {e}");
                    assert_eq!(vault.text(&format!("main/{other}")), None, "round {round}");
                }
            }
            n += 1;
        }
        assert!(child.wait().unwrap().success());
        sync(&store);
        let last = format!("hammered {}\n", count - 1);
        let all = all_versions(&vault, &store);
        assert!(all.contains(&last), "round {round}: the last save is lost after {n} commits");
        vault.assert_agrees(&store, "hammered");
    }
}

#[test]
fn a_note_deleted_here_can_be_restored_there() {
    let vault = TestVault::new();
    let (here, there) = (vault.open(), vault.open());
    let commit = put(&here, "note.md", "to be restored: heron");
    crate::support::remove(&here, "note.md");
    let text = there.content(commit.files[0].after.unwrap()).unwrap();
    put(&there, "note.md", std::str::from_utf8(&text).unwrap());
    assert_eq!(crate::support::found(&here, "heron"), ["main/note.md"]);
}
