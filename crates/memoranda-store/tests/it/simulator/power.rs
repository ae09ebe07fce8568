//! Power cuts at chosen moments: a process fails or dies at each of its calls, goes on, and then the
//! machine forgets everything that was not forced.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::SignedDuration;
use memoranda_core::change::{ChangeSet, ExpectedContent, FileAction};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::faults::run_on;
use memoranda_store::{
    CommitOutcome, HardLinkPolicy, OpenOptions, Store, StoreError, VacuumExtent, VacuumRequest,
    clock, hash,
};
use tempfile::TempDir;

use super::chance::Chance;
use super::rules::Rules;
use super::world::{Killed, Machine, PlannedCall, PlannedFault, Process, World};
use crate::support::{change, make, operation, put, who};

/// No operation of these tests makes more calls on files.
pub(super) const MAX_CALLS: usize = 2_000;

/// A machine on which nothing happens by chance.
pub(super) struct QuietMachine {
    /// Stores of processes that ended without closing them. Dead processes must not release their files
    /// before the machine is gone, but no test may keep them for longer: a run has thousands.
    ended: Mutex<Vec<Store>>,
    pub(super) folder: TempDir,
    pub(super) machine: Arc<Machine>,
    vault: &'static str,
}

impl Drop for QuietMachine {
    fn drop(&mut self) {
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        ended.drain(..).for_each(Store::abandon);
    }
}

impl QuietMachine {
    pub(super) fn new() -> Self {
        Self::of(Rules::quiet())
    }

    pub(super) fn of(rules: Rules) -> Self {
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let machine = Machine::new(World::new(rules, Chance::new(1), folder.path()));
        let quiet = Self { ended: Mutex::default(), folder, machine, vault: "home" };
        fs::create_dir_all(quiet.place("home/main")).unwrap();
        quiet.is_changed();
        quiet.machine.world().disk.force_drive(0);
        quiet
    }

    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join("disk").join(name)
    }

    /// Lets the disk know of names that a test has changed.
    pub(super) fn is_changed(&self) {
        let mut world = self.machine.world();
        let now = world.file_time();
        let disk = self.folder.path().join("disk");
        let folders = ["", "home", "home/main"].map(|name| disk.join(name));
        world.disk.names_changed(&folders, now);
    }

    pub(super) fn options(&self, device: &str) -> OpenOptions {
        let vault = self.vault;
        OpenOptions {
            home: self.place(vault),
            cache: self.folder.path().join(format!("cache-{vault}-{device}")),
            state: self.place(&format!("state-{vault}-{device}")),
            file_sync: Duration::from_secs(3600),
            lock_patience: Duration::from_secs(1),
        }
    }

    /// Runs the work of a process; `None` if it died. Whatever it had open is as it was then.
    pub(super) fn run<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        {
            let mut world = self.machine.world();
            world.begin_process(0);
            world.current = 0;
        }
        let process = Process { machine: self.machine.clone(), id: 0 };
        let done = catch_unwind(AssertUnwindSafe(|| run_on(Rc::new(process), work)));
        self.machine.end_process(0);
        match done {
            Ok(result) => Some(result),
            Err(panic) if panic.is::<Killed>() => None,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Runs work in which the n-th call fails, or the process dies at it.
    pub(super) fn run_until<R>(
        &self,
        n: usize,
        fault: PlannedFault,
        work: impl FnOnce() -> R,
    ) -> Option<R> {
        self.machine.world().planned = [(PlannedCall::After(n), fault)].into();
        self.run(work)
    }

    /// Returns true if the work ended before its fault was due.
    pub(super) fn is_spared(&self) -> bool {
        !std::mem::take(&mut self.machine.world().planned).is_empty()
    }

    /// Ends a process without closing its store.
    pub(super) fn end(&self, store: Store) {
        self.ended.lock().unwrap().push(store);
    }

    /// Opens the vault for some work. The process ends without closing it.
    pub(super) fn try_store<R>(
        &self,
        device: &str,
        work: impl FnOnce(&Store) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        let store = Store::open(self.options(device))?;
        let result = work(&store);
        self.end(store);
        result
    }

    pub(super) fn with_store<R>(&self, device: &str, work: impl FnOnce(&Store) -> R) -> R {
        self.try_store(device, |store| Ok(work(store))).unwrap()
    }

    /// Cuts the power: nothing is left but what was forced.
    pub(super) fn cut(&self) {
        let mut world = self.machine.world();
        world.disk.forget_unforced(0);
        if world.stick.is_some() {
            world.disk.forget_unforced(1);
        }
        world.boot += 1;
    }

    /// Scans as a new process, and returns a file of the project `main`.
    pub(super) fn text_after_scan(&self, device: &str, name: &str) -> Option<String> {
        self.run(|| self.with_store(device, |store| store.sync(&mut |_| {}).map(drop).unwrap()));
        fs::read_to_string(self.place(self.vault).join("main").join(name)).ok()
    }

    pub(super) fn has_version(&self, device: &str, text: &str) -> bool {
        let version = hash(text.as_bytes());
        self.run(|| self.with_store(device, |store| store.content(version).is_ok())).unwrap()
    }

    /// Saves a file by hand, as an editor does that forces nothing.
    pub(super) fn save(&self, name: &str, text: &str) {
        let file = self.place(self.vault).join("main").join(name);
        fs::write(&file, text).unwrap();
        self.is_changed();
        let mut world = self.machine.world();
        let now = world.file_time();
        world.disk.written(&file, now);
    }
}

pub(super) fn change_of(place: &str, action: FileAction) -> ChangeSet {
    change(vec![operation(place, ExpectedContent::Anything, action)])
}

pub(super) fn purge(store: &Store) {
    let before = clock::now() + SignedDuration::from_hours(1);
    let what = VacuumExtent::DeletedAndVersions;
    store.vacuum(&VacuumRequest { project: None, before, what }).unwrap();
}

#[test]
fn a_write_after_a_failed_one_survives_a_power_cut() {
    for n in 0..MAX_CALLS {
        let machine = QuietMachine::new();
        let done = machine.run_until(n, PlannedFault::Error, || {
            let change = change_of("first.md", FileAction::Put(b"first".to_vec()));
            let write = |store: &Store| store.transact(&who("test"), |_| Ok(change.clone()));
            machine.try_store("a", write).ok();
        });
        assert!(done.is_some());
        let is_over = machine.is_spared();
        machine.run(|| machine.with_store("a", |store| put(store, "kept.md", "kept")));
        machine.cut();
        let text = machine.text_after_scan("a", "kept.md");
        assert_eq!(text.as_deref(), Some("kept"), "call {n} failed");
        if is_over {
            return;
        }
    }
    panic!("the work has no end");
}

#[test]
fn what_another_device_completes_is_in_a_log_on_disk() {
    for n in 0..MAX_CALLS {
        let machine = QuietMachine::new();
        machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
        machine.run(|| machine.with_store("b", |store| put(store, "other.md", "other")));
        machine.save("note.md", "by hand");
        machine.run_until(n, PlannedFault::Death, || {
            machine.with_store("a", |store| put(store, "note.md", "by a tool"));
        });
        let is_over = machine.is_spared();
        // The other device completes the write if the log has it, and forces nothing of its own.
        machine.run(|| machine.with_store("b", |store| drop(store.sync(&mut |_| {}))));
        let completed = fs::read_to_string(machine.place("home/main/note.md")).unwrap();
        machine.run(|| machine.with_store("b", |store| put(store, "other.md", "again")));
        // The kernel writes the names back on its own, but not the log.
        machine.machine.world().disk.names_forced(&machine.place("home/main"));
        machine.cut();
        machine.text_after_scan("b", "note.md");
        if completed == "by a tool" {
            assert!(machine.has_version("b", "by hand"), "death at call {n}");
        }
        if is_over {
            return;
        }
    }
    panic!("the work has no end");
}

#[test]
fn a_vacuum_purges_no_version_that_a_power_cut_can_bring_back() {
    for device in ["a", "b"] {
        let machine = QuietMachine::new();
        machine.run(|| {
            machine.with_store("a", |store| {
                put(store, "note.md", "first");
                store.flush().unwrap();
            });
        });
        machine.run(|| machine.with_store(device, |store| put(store, "note.md", "second")));
        machine.run(|| machine.with_store("a", purge));
        machine.cut();
        let text = machine.text_after_scan("a", "note.md");
        assert_eq!(text.as_deref(), Some("second"), "written by {device}");
    }
}

/// Length of the log of the only device.
pub(super) fn log_length(machine: &QuietMachine) -> usize {
    let folders = fs::read_dir(machine.place("home/.memoranda/log")).unwrap();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    let segments = files.map(|file| file.unwrap().path());
    let segments = segments.filter(|path| path.extension().is_some_and(|end| end == "log"));
    segments.map(|path| fs::metadata(path).unwrap().len() as usize).sum()
}

#[test]
fn an_index_is_not_deceived_by_a_rewritten_log_of_the_same_length() {
    let machine = QuietMachine::new();
    let with_cache = |cache: &str, work: &dyn Fn(&Store)| {
        let cache = machine.folder.path().join(cache);
        let options = OpenOptions { cache, ..machine.options("a") };
        machine.run(|| {
            let store = Store::open(options).unwrap();
            work(&store);
            machine.end(store);
        });
    };
    let long: String = (0..100_u8).map(|n| format!("{:02x?}", hash(&[n]).0)).collect();
    with_cache("first", &|store| {
        put(store, "note.md", &long);
        put(store, "note.md", "short");
        put(store, "kept.md", "kept");
    });
    let length = log_length(&machine);
    let fill = |text: &str, message: usize| {
        with_cache("second", &|store| {
            let mut change = change_of("fill.md", FileAction::Put(text.into()));
            change.message = Some("m".repeat(message));
            make(store, change);
        });
        log_length(&machine)
    };
    with_cache("second", &purge);
    fill("1", 200);
    let before = fill("2", 200);
    let after = fill("3", 200);
    assert_eq!(fill("4", 200 + length - after - (after - before)), length);
    with_cache("first", &|store| {
        put(store, "kept.md", "replaced");
        assert_eq!(store.content(hash(b"kept")).unwrap(), b"kept");
    });
}

#[test]
fn a_removal_that_was_done_by_hand_is_acknowledged_for_good() {
    let machine = QuietMachine::new();
    machine.run(|| {
        machine.with_store("a", |store| {
            put(store, "note.md", "first");
            store.flush().unwrap();
        });
    });
    machine.save("note.md", "by hand");
    machine.run(|| {
        machine.with_store("a", |store| {
            put(store, "note.md", "second");
            store.flush().unwrap();
        });
    });
    fs::remove_file(machine.place("home/main/note.md")).unwrap();
    machine.is_changed();
    let outcome = machine.run(|| {
        machine.with_store("a", |store| make(store, change_of("note.md", FileAction::Remove)))
    });
    assert_eq!(outcome, Some(CommitOutcome::Unchanged));
    machine.cut();
    assert_eq!(machine.text_after_scan("a", "note.md"), None);
}

#[test]
fn a_text_that_was_written_by_hand_is_acknowledged_for_good() {
    let machine = QuietMachine::new();
    machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
    machine.save("note.md", "by hand");
    let outcome = machine.run(|| {
        let same = FileAction::Put(b"by hand".to_vec());
        machine.with_store("a", |store| make(store, change_of("note.md", same)))
    });
    assert_eq!(outcome, Some(CommitOutcome::Unchanged));
    machine.cut();
    assert_eq!(machine.text_after_scan("a", "note.md").as_deref(), Some("by hand"));
}

#[test]
fn an_edit_that_was_replaced_at_once_does_not_come_back_torn() {
    let machine = QuietMachine::new();
    machine.run(|| {
        machine.with_store("a", |store| {
            put(store, "note.md", "first");
            store.flush().unwrap();
            // Half of the edit reaches the disk.
            machine.save("note.md", "half an edit");
            machine.machine.world().disk.forced(&machine.place("home/main/note.md"));
            machine.save("note.md", "a whole edit by hand");
            put(store, "note.md", "by a tool");
        });
    });
    machine.cut();
    assert_eq!(machine.text_after_scan("a", "note.md").as_deref(), Some("by a tool"));
    assert!(machine.has_version("a", "a whole edit by hand"));
    assert!(machine.has_version("a", "half an edit"));
}

#[test]
fn a_project_that_moves_into_a_new_folder_survives_a_power_cut() {
    for n in 0..MAX_CALLS {
        let machine = QuietMachine::new();
        machine.run(|| machine.with_store("a", |store| put(store, "note.md", "kept")));
        fs::create_dir_all(machine.place("new/folder")).unwrap();
        machine.is_changed();
        machine.run_until(n, PlannedFault::Error, || {
            let (name, to) = (ProjectName::parse("main").unwrap(), machine.place("new/folder"));
            let move_it = |store: &Store| store.move_project(&name, &to, HardLinkPolicy::Refuse);
            machine.try_store("a", move_it).ok();
        });
        let is_over = machine.is_spared();
        let texts = || {
            let places =
                ["home/main/note.md", "new/folder/note.md"].map(|name| machine.place(name));
            places.iter().filter_map(|place| fs::read_to_string(place).ok()).collect::<Vec<_>>()
        };
        assert!(texts().contains(&"kept".to_owned()), "call {n} failed: {:?}", texts());
        machine.cut();
        machine.run(|| machine.with_store("a", |store| drop(store.sync(&mut |_| {}))));
        assert!(texts().contains(&"kept".to_owned()), "call {n} failed, then a cut: {:?}", texts());
        if is_over {
            return;
        }
    }
    panic!("the work has no end");
}

/// Copies a folder with everything in it.
pub(super) fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_all(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).unwrap();
        }
    }
}

#[test]
fn a_write_to_a_restored_vault_is_replayed_by_a_new_device() {
    let machine = QuietMachine::new();
    machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
    let (home, backup) = (machine.place("home"), machine.folder.path().join("backup"));
    copy_all(&home, &backup);
    for entry in fs::read_dir(&home).unwrap() {
        fs::remove_dir_all(entry.unwrap().path()).unwrap();
    }
    machine.is_changed();
    copy_all(&backup, &home);
    machine.is_changed();
    machine.machine.world().disk.force_drive(0);
    machine.run(|| machine.with_store("a", |store| put(store, "note.md", "second")));
    machine.cut();
    assert_eq!(machine.text_after_scan("b", "note.md").as_deref(), Some("second"));
}

#[test]
fn a_project_that_was_added_to_a_new_vault_survives_a_power_cut() {
    let machine = QuietMachine::new();
    let (name, folder) = (ProjectName::parse("work").unwrap(), machine.place("elsewhere"));
    fs::create_dir(&folder).unwrap();
    machine.is_changed();
    let add = |store: &Store| store.add_project(&name, &folder, HardLinkPolicy::Refuse).map(drop);
    machine.run(|| machine.try_store("a", add).unwrap());
    machine.cut();
    let projects = machine.run(|| machine.with_store("a", |store| store.projects().unwrap()));
    assert!(projects.unwrap().iter().any(|project| project.name == name));
}

#[test]
fn an_import_survives_a_power_cut_after_its_answer() {
    let mut machine = QuietMachine::new();
    let archive = machine.run(|| {
        machine.with_store("a", |store| {
            put(store, "note.md", "kept");
            let mut archive = Vec::new();
            store.export(&mut archive).unwrap();
            archive
        })
    });
    machine.vault = "new";
    let archive = archive.unwrap();
    machine.run(|| machine.with_store("b", |store| store.import(&mut &*archive).unwrap()));
    machine.cut();
    assert_eq!(machine.text_after_scan("b", "note.md").as_deref(), Some("kept"));
}

#[test]
fn a_write_after_an_import_stays_although_the_clock_is_behind() {
    let mut machine = QuietMachine::new();
    let archive = machine.run(|| {
        machine.with_store("a", |store| {
            put(store, "note.md", "first");
            let mut archive = Vec::new();
            store.export(&mut archive).unwrap();
            archive
        })
    });
    machine.vault = "new";
    machine.machine.world().set_clock(-5);
    let archive = archive.unwrap();
    machine.run(|| machine.with_store("b", |store| store.import(&mut &*archive).unwrap()));
    // Another device has an index that has not read the imported history yet.
    machine.run(|| machine.with_store("c", |store| put(store, "note.md", "second")));
    machine.cut();
    assert_eq!(machine.text_after_scan("c", "note.md").as_deref(), Some("second"));
}

#[test]
fn a_note_that_another_device_wrote_later_does_not_go_back() {
    let machine = QuietMachine::new();
    machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
    // Times are no order: the second device's clock is behind.
    machine.machine.world().set_clock(-5);
    machine.run(|| {
        machine.with_store("b", |store| {
            put(store, "note.md", "second");
            store.flush().unwrap();
        });
    });
    machine.cut();
    assert_eq!(machine.text_after_scan("b", "note.md").as_deref(), Some("second"));
}

/// A machine with the project `ext` on a stick, and the folder of the project.
pub(super) fn machine_with_stick(rules: Rules) -> (QuietMachine, ProjectName, PathBuf) {
    let machine = QuietMachine::of(Rules { has_stick: true, ..rules });
    let stick = machine.folder.path().join("stick");
    let notes = stick.join("notes");
    fs::create_dir_all(&notes).unwrap();
    {
        let mut world = machine.machine.world();
        let now = world.file_time();
        world.disk.names_changed(&[stick], now);
        world.disk.force_drive(1);
    }
    let ext = ProjectName::parse("ext").unwrap();
    machine.run(|| {
        machine.with_store("a", |store| {
            store.add_project(&ext, &notes, HardLinkPolicy::Refuse).map(drop).unwrap();
        });
    });
    (machine, ext, notes)
}

#[test]
fn a_commit_is_completed_when_its_stick_is_back() {
    for n in 0..MAX_CALLS {
        let rules = Rules { has_exchange: false, ..Rules::quiet() };
        let (machine, ext, notes) = machine_with_stick(rules);
        let write = |text: &str| {
            let puts = ["new.md", "note.md"].map(|name| {
                let action = FileAction::Put(text.into());
                let mut put = operation(name, ExpectedContent::Anything, action);
                put.project = ext.clone();
                put
            });
            let puts =
                puts.into_iter().filter(|put| text != "first" || put.path.as_str() == "note.md");
            machine.with_store("a", |store| drop(make(store, change(puts.collect()))));
        };
        machine.run(|| write("first"));
        machine.run_until(n, PlannedFault::Death, || write("second"));
        let is_over = machine.is_spared();
        {
            let mut world = machine.machine.world();
            let world = &mut *world;
            // Whatever the process did has reached the stick.
            world.disk.force_drive(1);
            world.disk.pull(1, &mut world.chance);
        }
        // Another process applies the log while the stick is away.
        machine.run(|| machine.with_store("a", |store| put(store, "other.md", "other")));
        machine.machine.world().disk.put_back(1);
        machine.text_after_scan("a", "other.md");
        let text = |name: &str| fs::read_to_string(notes.join(name)).ok();
        let found = (text("new.md"), text("note.md"));
        let is_undone = found == (None, Some("first".to_owned()));
        let is_done = found == (Some("second".to_owned()), Some("second".to_owned()));
        assert!(is_undone || is_done, "death at call {n}: {found:?}");
        if is_over {
            return;
        }
    }
    panic!("the work has no end");
}

#[test]
fn a_file_that_is_moved_on_a_stick_has_its_bytes_there() {
    let (machine, ext, notes) = machine_with_stick(Rules::quiet());
    fs::write(notes.join("old.md"), "by hand").unwrap();
    {
        let mut world = machine.machine.world();
        let now = world.file_time();
        world.disk.names_changed(std::slice::from_ref(&notes), now);
    }
    let from = NotePath::parse("old.md").unwrap();
    let action = FileAction::MoveFrom { from, content: b"by hand".to_vec() };
    let mut change = change_of("new.md", action);
    change.operations[0].project = ext;
    machine.run(|| machine.with_store("a", |store| drop(make(store, change))));
    // The stick is pulled and comes back, while the machine runs on.
    machine.machine.world().disk.forget_unforced(1);
    machine.text_after_scan("a", "none.md");
    let text = fs::read_to_string(notes.join("new.md")).ok();
    assert_eq!(text.as_deref(), Some("by hand"));
}

/// Deletes a note by hand on a machine without an identity of its runs, while the clock is behind by
/// so many hours; then it is set forth, and another process writes. Returns the note.
fn delete_while_behind(set_forth_by_hours: i64) -> Option<String> {
    let machine = QuietMachine::of(Rules { knows_boot: false, ..Rules::quiet() });
    machine.run(|| machine.with_store("a", |store| put(store, "note.md", "by a tool")));
    machine.machine.world().set_clock(-5);
    fs::remove_file(machine.place("home/main/note.md")).unwrap();
    machine.is_changed();
    machine.machine.world().set_clock(set_forth_by_hours);
    machine.run(|| machine.with_store("a", |store| put(store, "other.md", "anything")));
    fs::read_to_string(machine.place("home/main/note.md")).ok()
}

#[test]
fn a_deletion_stays_while_the_clock_is_behind_without_a_boot_id() {
    assert_eq!(delete_while_behind(0), None);
}

/// The limit that `docs/durability.md` names: only times could tell this from a write that was lost.
#[test]
fn a_deletion_is_taken_back_if_the_clock_was_behind_without_a_boot_id() {
    assert_eq!(delete_while_behind(6).as_deref(), Some("by a tool"));
}
