//! A drive that is pulled out, comes back, or goes to another machine; a home that is copied to one.
//! Acknowledged writes are there again, and a person's edits in between stay.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use memoranda_core::change::{Commit, ExpectedContent, FileAction};
use memoranda_store::faults::{self, PretendedBoot};
use memoranda_store::{OpenOptions, Store, StoreError};

use crate::child::{Task, acknowledged};
use crate::disk::Mount;
use crate::support::{
    TestVault, change, copy_folder, found, operation, options, put, remove, sync, who,
};

const FIRST: &str = "# Plan\n\nthe first text, forced to disk\n";
const TEXT: &str = "# Plan\n\nwhat the agent wrote, and nobody forced to disk: walrus\n";

/// Gives the machine and the drive back to the real ones when a test ends.
struct Pretended;

impl Pretended {
    fn attach(attachment: u64, is_removable: bool) -> Self {
        faults::pretend_drive(Some(attachment), is_removable);
        Self
    }
}

impl Drop for Pretended {
    fn drop(&mut self) {
        faults::pretend_drive(None, false);
        faults::pretend_machine(None);
        faults::pretend_boot(PretendedBoot::Real);
    }
}

/// A vault with a note that was forced and then changed, and a new one; the process died. Returns the
/// commit that was forced.
fn written_and_died(vault: &TestVault, device: &str) -> Commit {
    let store = vault.open_as(device);
    let forced = put(&store, "old.md", FIRST);
    store.flush().unwrap();
    put(&store, "old.md", TEXT);
    put(&store, "new.md", TEXT);
    // Closing would force the files to disk.
    std::mem::forget(store);
    forced
}

/// Leaves the files as a drive that was pulled out does: the names are there, or not yet, and the
/// times are those of the writes.
fn lose_unforced(vault: &TestVault, forced: &Commit, left: Option<&str>) {
    let forced = UNIX_EPOCH + Duration::from_millis(forced.time.as_millisecond() as u64);
    let main = vault.home().join("main");
    for name in ["old.md", "new.md"] {
        let place = main.join(name);
        let written = fs::metadata(&place).unwrap().modified().unwrap();
        let time = match left {
            None if name == "new.md" => {
                fs::remove_file(&place).unwrap();
                continue;
            }
            None => {
                fs::write(&place, FIRST).unwrap();
                forced
            }
            Some(text) => {
                fs::write(&place, text).unwrap();
                written
            }
        };
        File::options().write(true).open(&place).unwrap().set_modified(time).unwrap();
    }
    File::open(&main).unwrap().set_modified(forced - Duration::from_secs(3)).unwrap();
}

/// Returns true if the file system can be recognized on another machine; those in memory could not
/// before Linux 6.6.
fn has_identity(vault: &TestVault) -> bool {
    rustix::fs::statvfs(vault.folder()).unwrap().f_fsid != 0
}

fn assert_all_there(vault: &TestVault, context: &str) {
    for name in ["main/old.md", "main/new.md"] {
        assert_eq!(vault.text(name).as_deref(), Some(TEXT), "{context}: {name}");
    }
}

/// Wrecks of a pulled drive: nothing but empty files, the first bytes, or what was forced before.
const WRECKS: &[Option<&str>] = &[None, Some(""), Some("# Plan\n\nwhat the ag")];

#[test]
fn a_drive_that_was_pulled_out_and_came_back_has_lost_nothing() {
    for wreck in WRECKS {
        for comes_back in ["host", "container"] {
            let context = format!("{wreck:?}, {comes_back}");
            let vault = TestVault::new();
            let _attached = Pretended::attach(31, false);
            let container = vault.open_as("container");
            put(&container, "other.md", "of another device");
            std::mem::forget(container);
            let forced = written_and_died(&vault, "host");
            lose_unforced(&vault, &forced, *wreck);
            let _again = Pretended::attach(32, false);
            let store = vault.open_as(comes_back);
            sync(&store);
            assert_all_there(&vault, &context);
            assert_eq!(found(&store, "walrus").len(), 2, "{context}");
            vault.assert_agrees(&store, &context);
        }
    }
}

/// In one attachment of the drive, a file that is gone was taken away by a person.
#[test]
fn a_persons_edit_stays_while_the_drive_is_attached() {
    let vault = TestVault::new();
    let _attached = Pretended::attach(31, false);
    written_and_died(&vault, "host");
    fs::remove_file(vault.home().join("main/new.md")).unwrap();
    vault.write_by_hand("main/old.md", FIRST);
    let store = vault.open_as("host");
    sync(&store);
    assert_eq!(vault.text("main/new.md"), None);
    assert_eq!(vault.text("main/old.md").as_deref(), Some(FIRST));
}

/// A person edits on another machine, while the drive is there.
#[test]
fn a_persons_edit_on_another_machine_stays() {
    let vault = TestVault::new();
    let _attached = Pretended::attach(31, true);
    written_and_died(&vault, "host");
    std::thread::sleep(Duration::from_millis(12));
    fs::remove_file(vault.home().join("main/new.md")).unwrap();
    vault.write_by_hand("main/old.md", FIRST);
    for (attachment, boot) in [(32, PretendedBoot::Real), (3, PretendedBoot::Number(9))] {
        let _again = Pretended::attach(attachment, true);
        faults::pretend_boot(boot);
        let store = vault.open_as("host");
        put(&store, "anything.md", &format!("the agent writes on: {attachment}"));
        assert_eq!(vault.text("main/new.md"), None, "{attachment}");
        assert_eq!(vault.text("main/old.md").as_deref(), Some(FIRST), "{attachment}");
    }
}

#[test]
fn a_drive_that_goes_to_another_machine_has_lost_nothing() {
    for wreck in WRECKS {
        let context = format!("{wreck:?}");
        let vault = TestVault::new();
        if !has_identity(&vault) {
            return;
        }
        let _first = Pretended::attach(31, false);
        faults::pretend_machine(Some("first"));
        faults::pretend_boot(PretendedBoot::Number(1));
        let forced = written_and_died(&vault, "first");
        lose_unforced(&vault, &forced, *wreck);
        let copy = TestVault::new();
        copy_folder(vault.folder(), copy.folder());
        let _second = Pretended::attach(4, false);
        faults::pretend_machine(Some("second"));
        faults::pretend_boot(PretendedBoot::Number(2));
        let store = vault.open_as("second");
        sync(&store);
        assert_all_there(&vault, &context);
        vault.assert_agrees(&store, &context);
        drop(store);
        // A copy that a program brought is another machine's: its log is not applied here.
        let left = copy.text("main/old.md");
        sync(&copy.open_as("second"));
        assert_eq!(copy.text("main/old.md"), left, "{context}");
        // The first machine comes back to a drive on which the second has worked.
        let store = vault.open_as("second");
        remove(&store, "new.md");
        put(&store, "old.md", "written on the second machine");
        drop(store);
        let _first = Pretended::attach(33, false);
        faults::pretend_machine(Some("first"));
        faults::pretend_boot(PretendedBoot::Number(1));
        let store = vault.open_as("first");
        sync(&store);
        assert_eq!(vault.text("main/new.md"), None, "{context}");
        assert_eq!(vault.text("main/old.md").as_deref(), Some("written on the second machine"));
        vault.assert_agrees(&store, &context);
    }
}

/// A checkpoint claims more than was forced, so that no recovery brings the version back: the scan takes
/// the loss for an edit, and only the check can say so. The drive was away, or the device that wrote is
/// gone with its name.
#[test]
fn a_check_lists_what_a_drive_or_a_device_took_along() {
    for (returns, attachment, boot) in
        [("host", 32, PretendedBoot::Number(1)), ("another", 31, PretendedBoot::Number(2))]
    {
        let vault = TestVault::new();
        if returns == "another" && !has_identity(&vault) {
            continue;
        }
        let _attached = Pretended::attach(31, false);
        faults::pretend_boot(PretendedBoot::Number(1));
        let store = vault.open_as("host");
        put(&store, "note.md", TEXT);
        store.flush().unwrap();
        std::mem::forget(store);
        fs::remove_file(vault.home().join("main/note.md")).unwrap();
        let _again = Pretended::attach(attachment, false);
        faults::pretend_boot(boot);
        let store = vault.open_as(returns);
        sync(&store);
        let report = store.check(&vault.scratch()).unwrap();
        assert!(!report.is_ok(), "{returns}: {report:?}");
        assert_eq!(report.lost.len(), 1, "{returns}");
    }
}

/// Writes to a vault on a removable drive that fails to force anything.
pub(crate) fn write_to_a_removable_vault(task: &Task) {
    for (is_removable, succeeds) in [(false, true), (true, false)] {
        let _attached = Pretended::attach(31, is_removable);
        let store = Store::open(options(&task.folder)).unwrap();
        put(&store, "before.md", &format!("removable: {is_removable}"));
        faults::arm("io:file-sync:1").unwrap();
        let action = FileAction::Put(b"new text".to_vec());
        let wanted = change(vec![operation("old.md", ExpectedContent::Anything, action)]);
        let outcome = store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone()));
        faults::arm("").unwrap();
        assert_eq!(outcome.is_ok(), succeeds, "removable: {is_removable}: {outcome:?}");
        remove_if_there(&store);
        std::mem::forget(store);
    }
    task.acknowledge("done".to_owned());
    std::process::exit(0);
}

fn remove_if_there(store: &Store) {
    let wanted = change(vec![operation("old.md", ExpectedContent::Anything, FileAction::Remove)]);
    store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone())).unwrap();
}

#[test]
fn files_of_a_removable_vault_are_forced_before_the_answer() {
    let vault = TestVault::new();
    Task::new("removable", vault.folder(), &[]).run();
    assert_eq!(acknowledged(vault.folder()), ["done"]);
}

/// A server that runs on while its vault goes and comes back: its open files are of the old mount.
#[test]
fn a_server_goes_on_when_its_drive_is_back() {
    let vault = TestVault::new();
    let server = vault.open();
    put(&server, "before.md", "before the drive was pulled out");
    let gone = vault.folder().join("gone");
    fs::rename(vault.home(), &gone).unwrap();
    copy_folder(&gone, &vault.home());
    put(&server, "after.md", "after it came back: heron");
    let other = vault.open_as_same_device("other-cache");
    sync(&other);
    assert_eq!(found(&other, "heron"), ["main/after.md"]);
    vault.assert_agrees(&other, "on the drive that came back");
    assert!(!gone.join("main/after.md").exists());
    put(&other, "third.md", "the lock is the same for both");
    sync(&server);
    assert_eq!(found(&server, "lock"), ["main/third.md"]);
}

#[test]
fn a_home_that_was_copied_to_another_machine_is_another_device() {
    let vault = TestVault::new();
    let _pretended = Pretended;
    faults::pretend_machine(Some("first"));
    let store = vault.open();
    let first = store.device().to_owned();
    put(&store, "note.md", TEXT);
    drop(store);
    assert_eq!(vault.open().device(), first);
    let copy = vault.copy();
    faults::pretend_machine(Some("second"));
    let store = copy.open();
    let second = store.device().to_owned();
    assert_ne!(second, first);
    put(&store, "mine.md", "written on the second machine");
    sync(&store);
    copy.assert_agrees(&store, "a copied home");
    drop(store);
    assert_eq!(copy.open().device(), second);
    // A synchroniser that brings both logs together has nothing to decide between.
    faults::pretend_machine(Some("first"));
    let store = vault.open();
    put(&store, "ours.md", "written on the first machine");
    drop(store);
    let log = |vault: &TestVault, device: &str| vault.home().join(".memoranda/log").join(device);
    copy_folder(&log(&copy, &second), &log(&vault, &second));
    fs::copy(copy.home().join("main/mine.md"), vault.home().join("main/mine.md")).unwrap();
    let store = vault.open();
    sync(&store);
    let history = store.snapshot().unwrap();
    let history = history.history(&memoranda_store::HistoryFilter::default(), 100, 0).unwrap();
    let written = history.iter().filter(|commit| commit.author.client == "test").count();
    assert_eq!(written, 3);
    vault.assert_agrees(&store, "both logs");
}

/// A state folder from before machines were noted is of this machine.
#[test]
fn a_home_without_a_note_of_its_machine_keeps_its_name() {
    let vault = TestVault::new();
    let first = vault.open().device().to_owned();
    fs::remove_file(vault.folder().join("state/machine")).ok();
    let _pretended = Pretended;
    faults::pretend_machine(Some("whichever"));
    assert_eq!(vault.open().device(), first);
    assert_eq!(vault.open().device(), first);
}

/// Without its drive, the place of the vault is an empty folder: no second vault is made there.
#[test]
fn no_vault_is_made_in_the_place_of_a_drive_that_is_away() {
    let vault = TestVault::new();
    let place = vault.folder().join("drive");
    fs::create_dir_all(&place).unwrap();
    let open = |place: &Path| {
        Store::open(OpenOptions { home: place.join("home"), ..options(vault.folder()) })
    };
    let Some(drive) = Mount::tmpfs(&place, "8m") else { return };
    put(&open(&place).unwrap(), "note.md", TEXT);
    drop(drive);
    let refused = open(&place).map(drop).unwrap_err();
    assert!(matches!(refused, StoreError::VaultAway { .. }), "{refused}");
    assert!(refused.to_string().contains("not mounted"), "{refused}");
    assert!(!place.join("home").exists());
    // A vault that was deleted, or never had a drive of its own, is made as ever.
    put(&vault.open(), "note.md", TEXT);
    fs::remove_dir_all(vault.home()).unwrap();
    put(&vault.open(), "note.md", TEXT);
}

/// Writes two versions, the second after the machine's clock was set back by two hours.
pub(crate) fn write_with_a_clock_set_back(task: &Task) {
    let folder = task.folder.clone();
    let open = |device: &str| {
        let (state, cache) =
            (folder.join(format!("state-{device}")), folder.join(format!("cache-{device}")));
        Store::open(OpenOptions { state, cache, ..options(&folder) }).unwrap()
    };
    let first = open("first");
    put(&first, "note.md", FIRST);
    std::mem::forget(first);
    memoranda_store::clock::set_offset(-2 * 3_600_000);
    let second = open(&task.arguments[0]);
    put(&second, "note.md", TEXT);
    std::mem::forget(second);
    task.acknowledge("written");
    std::process::exit(0);
}

/// The clock of the machine is set back between two writes, and then the power is cut: the later write
/// stays, whatever the times say.
#[test]
fn a_clock_that_is_set_back_takes_no_write_back() {
    for (second, returns) in [("first", "first"), ("second", "first"), ("second", "second")] {
        let context = format!("{second} wrote last, {returns} comes back");
        let vault = TestVault::new();
        Task::new("set-back", vault.folder(), &[&second]).run();
        assert_eq!(acknowledged(vault.folder()), ["written"]);
        vault.restart_machine();
        let store = vault.open_as(returns);
        sync(&store);
        assert_eq!(vault.text("main/note.md").as_deref(), Some(TEXT), "{context}");
        vault.assert_agrees(&store, &context);
    }
}

/// A program that copies files puts another lock file in the place of the one that processes have open.
#[test]
fn a_lock_file_that_was_replaced_excludes_all_the_same() {
    let vault = TestVault::new();
    let lock_patience = Duration::from_millis(50);
    let server = Store::open(OpenOptions { lock_patience, ..options(vault.folder()) }).unwrap();
    put(&server, "note.md", FIRST);
    let (lock, other) = (vault.home().join(".memoranda/lock"), vault.folder().join("other"));
    fs::copy(&lock, &other).unwrap();
    fs::rename(&other, &lock).unwrap();
    let held = File::open(&lock).unwrap();
    held.lock().unwrap();
    let action = FileAction::Put(TEXT.into());
    let wanted = change(vec![operation("note.md", ExpectedContent::Anything, action)]);
    let busy = server.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone()));
    assert!(matches!(busy, Err(StoreError::Busy { .. })), "{busy:?}");
    drop(held);
    put(&server, "note.md", TEXT);
    assert_eq!(vault.text("main/note.md").as_deref(), Some(TEXT));
}

/// A vault that could not be written to when a server began, and can be since: the server records how
/// far its log is applied, so that nobody takes back what a person does afterwards.
#[test]
fn a_vault_that_becomes_writable_takes_back_no_edit() {
    let vault = TestVault::new();
    put(&vault.open(), "note.md", FIRST);
    Task::new("read-only-first", vault.folder(), &[]).run();
    assert_eq!(acknowledged(vault.folder()), ["written"]);
    vault.write_by_hand("main/note.md", FIRST);
    let store = vault.open();
    put(&store, "other.md", "the agent writes on");
    assert_eq!(vault.text("main/note.md").as_deref(), Some(FIRST));
}

/// Opens a vault whose lock cannot be written to, and writes once that is over.
pub(crate) fn write_after_read_only(task: &Task) {
    faults::arm("readonly:open-lock:1").unwrap();
    let store = Store::open(options(&task.folder)).unwrap();
    faults::arm("").unwrap();
    put(&store, "note.md", TEXT);
    std::mem::forget(store);
    task.acknowledge("written");
    std::process::exit(0);
}

/// After a power cut any device may be the first to come back, also one that did not write in the run
/// that was cut, or that never wrote at all. What the others lost is no edit.
#[test]
fn whichever_device_comes_back_first_replays_every_log() {
    for wreck in WRECKS {
        for is_new in [false, true] {
            let context = format!("{wreck:?}, new device: {is_new}");
            let vault = TestVault::new();
            if !has_identity(&vault) {
                return;
            }
            let _pretended = Pretended;
            faults::pretend_boot(PretendedBoot::Number(1));
            if !is_new {
                put(&vault.open_as("returning"), "other.md", "of an earlier run");
            }
            faults::pretend_boot(PretendedBoot::Number(2));
            let forced = written_and_died(&vault, "writing");
            lose_unforced(&vault, &forced, *wreck);
            // The folder was changed last when the file got its name, after the time of its commit.
            let main = File::open(vault.home().join("main")).unwrap();
            main.set_modified(std::time::SystemTime::now()).unwrap();
            faults::pretend_boot(PretendedBoot::Number(3));
            let store = vault.open_as("returning");
            sync(&store);
            assert_all_there(&vault, &context);
            let history = store.snapshot().unwrap();
            let history =
                history.history(&memoranda_store::HistoryFilter::default(), 100, 0).unwrap();
            assert!(history.iter().all(|commit| commit.author.client != "person"), "{context}");
            vault.assert_agrees(&store, &context);
        }
    }
}
