//! Promise 1 when the machine itself dies: what was acknowledged is restored from the log,
//! whatever the file system made of files that had not been forced to disk. What a person wrote
//! is never taken for such a wreck, unless it could be one.

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_store::{HistoryFilter, OpenOptions, Store};

use crate::support::{
    TestVault, change, found, made, make, operation, options, path, put, remove, sync,
};

const OLD: &str = "# Note\n\nthe old text, forced to disk\n";
const NEW: &str = "# Note\n\nthe new text, acknowledged but not forced to disk: walrus\n";

/// A vault with a note that was forced to disk and then changed; the process died.
fn changed_and_died() -> TestVault {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", OLD);
    store.flush().unwrap();
    put(&store, "note.md", NEW);
    put(&store, "folder/new.md", NEW);
    // Closing would force it to disk.
    std::mem::forget(store);
    vault
}

#[test]
fn whatever_is_left_of_a_file_the_acknowledged_text_comes_back() {
    let zeros = "\0".repeat(NEW.len());
    let half_zeros = format!("{}{}", &NEW[..20], "\0".repeat(NEW.len() - 20));
    let wrecks =
        [Some(OLD), None, Some(""), Some(zeros.as_str()), Some(&NEW[..15]), Some(&half_zeros)];
    for wreck in wrecks {
        let vault = changed_and_died();
        match wreck {
            Some(text) => vault.write_by_hand("main/note.md", text),
            None => std::fs::remove_file(vault.home().join("main/note.md")).unwrap(),
        }
        std::fs::remove_dir_all(vault.home().join("main/folder")).unwrap();
        vault.restart_machine();
        let store = vault.open();
        sync(&store);
        assert_eq!(vault.text("main/note.md").as_deref(), Some(NEW), "{wreck:?}");
        assert_eq!(vault.text("main/folder/new.md").as_deref(), Some(NEW), "{wreck:?}");
        assert_eq!(found(&store, "walrus").len(), 2, "{wreck:?}");
        vault.assert_agrees(&store, &format!("{wreck:?}"));
    }
}

#[test]
fn what_a_person_wrote_since_is_kept() {
    let vault = changed_and_died();
    vault.write_by_hand("main/note.md", "a text of my own\n");
    vault.restart_machine();
    let store = vault.open();
    sync(&store);
    assert_eq!(vault.text("main/note.md").as_deref(), Some("a text of my own\n"));
    let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 1, 0).unwrap();
    assert_eq!(log[0].author.client, "person");
}

#[test]
fn a_person_may_cut_a_note_short_when_only_a_process_died() {
    for cut in [&NEW[..15], ""] {
        let vault = changed_and_died();
        // The log says more than the lock file: as if death came before that was written.
        vault.set_applied_offset(&vault.lock_table(), 16);
        vault.write_by_hand("main/note.md", cut);
        let store = vault.open();
        sync(&store);
        assert_eq!(vault.text("main/note.md").as_deref(), Some(cut));
    }
}

#[test]
fn a_deletion_and_a_move_are_completed() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "deleted.md", OLD);
    put(&store, "from.md", NEW);
    store.flush().unwrap();
    remove(&store, "deleted.md");
    let action = FileAction::MoveFrom { from: path("from.md"), content: NEW.into() };
    made(make(&store, change(vec![operation("to.md", ExpectedContent::Anything, action)])));
    std::mem::forget(store);
    vault.write_by_hand("main/deleted.md", OLD);
    std::fs::rename(vault.home().join("main/to.md"), vault.home().join("main/from.md")).unwrap();
    vault.restart_machine();
    let store = vault.open();
    sync(&store);
    assert_eq!(vault.text("main/deleted.md"), None);
    assert_eq!(vault.text("main/from.md"), None);
    assert_eq!(vault.text("main/to.md").as_deref(), Some(NEW));
    vault.assert_agrees(&store, "completed");
}

#[test]
fn what_was_acknowledged_before_a_persons_edit_is_not_set_back() {
    let vault = changed_and_died();
    vault.write_by_hand("main/note.md", "edited by hand, and seen\n");
    let store = vault.open();
    sync(&store);
    std::mem::forget(store);
    vault.write_by_hand("main/note.md", OLD);
    vault.restart_machine();
    let store = vault.open();
    sync(&store);
    assert_eq!(vault.text("main/note.md").as_deref(), Some("edited by hand, and seen\n"));
}

#[test]
fn what_was_forced_to_disk_is_not_replayed() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", NEW);
    drop(store);
    // Everything is on disk; that the file is gone is the person's doing.
    std::fs::remove_file(vault.home().join("main/note.md")).unwrap();
    vault.restart_machine();
    let store = vault.open();
    assert_eq!(sync(&store).removed, 1);
    assert_eq!(vault.text("main/note.md"), None);
}

#[cfg(unix)]
#[test]
fn a_restored_file_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let vault = changed_and_died();
    let place = vault.home().join("main/note.md");
    vault.write_by_hand("main/note.md", OLD);
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o600)).unwrap();
    vault.restart_machine();
    let store = vault.open();
    sync(&store);
    assert_eq!(vault.text("main/note.md").as_deref(), Some(NEW));
    assert_eq!(std::fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_copy_that_was_made_during_a_write_has_the_note_of_the_log() {
    let vault = TestVault::new();
    let home = vault.folder().join("home");
    let store = vault.open();
    put(&store, "first.md", "first");
    let table = std::fs::read(home.join(".memoranda/lock")).unwrap();
    put(&store, "second.md", "second");
    drop(store);
    // A program copied the notes and the lock file before the write, and the log after it.
    let copy = vault.folder().join("copy");
    copy_folder(&home, &copy);
    std::fs::remove_file(copy.join("main/second.md")).unwrap();
    std::fs::write(copy.join(".memoranda/lock"), table).unwrap();
    let cache = vault.folder().join("cache-of-copy");
    let store =
        Store::open(OpenOptions { home: copy.clone(), cache, ..options(vault.folder()) }).unwrap();
    sync(&store);
    assert_eq!(std::fs::read_to_string(copy.join("main/second.md")).unwrap(), "second");
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), place).unwrap();
        }
    }
}
