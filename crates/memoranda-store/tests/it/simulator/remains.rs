//! Remains of a change that was interrupted on a drive, between two logs or between two names.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use memoranda_core::change::{ChangeSet, FileAction};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::faults::{Step, run_on};
use memoranda_store::{OpenOptions, Store};

use super::moments::assert_sound;
use super::power::{MAX_CALLS, QuietMachine, change_of, copy_all, machine_with_stick, purge};
use super::rules::Rules;
use super::world::{PlannedCall, PlannedFault, Process, ProcessState};
use crate::support::{make, put, remove};

/// A change that puts a text into files of a project.
pub(super) fn put_into(project: &ProjectName, names: &[&str], text: &str) -> ChangeSet {
    let puts = names.iter().flat_map(|name| {
        change_of(name, FileAction::Put(text.into())).operations.into_iter().map(|mut put| {
            put.project = project.clone();
            put
        })
    });
    ChangeSet { operations: puts.collect(), ..ChangeSet::default() }
}

#[test]
fn a_scan_whose_drive_is_pulled_records_no_text_from_before_a_write() {
    for n in 0..MAX_CALLS {
        let (machine, ext, notes) = machine_with_stick(Rules::quiet());
        let write = |text: &str| put_into(&ext, &["note.md"], text);
        machine.run(|| machine.with_store("a", |store| drop(make(store, write("first")))));
        fs::write(notes.join("note.md"), "by hand").unwrap();
        {
            let mut world = machine.machine.world();
            let now = world.file_time();
            world.disk.written(&notes.join("note.md"), now);
        }
        // In the middle of a scan another process writes, and then the stick is pulled.
        let (shared, options): (_, OpenOptions) = (machine.machine.clone(), machine.options("a"));
        let change = write("by a tool");
        machine.machine.world().other = Some(Box::new(move || {
            {
                // The scan waits meanwhile.
                let mut world = shared.world();
                world.begin_process(1);
                world.processes[0] = ProcessState::Ended;
                world.current = 1;
            }
            let process = Rc::new(Process { machine: shared.clone(), id: 1 });
            run_on(process, || {
                let quick = OpenOptions { lock_patience: std::time::Duration::ZERO, ..options };
                if let Ok(store) = Store::open(quick) {
                    make_if_free(&store, &change);
                    store.abandon();
                }
            });
            let mut world = shared.world();
            let world = &mut *world;
            world.processes[1] = ProcessState::Ended;
            world.processes[0] = ProcessState::Alive;
            world.current = 0;
            world.disk.force_drive(1);
            world.disk.pull(1, &mut world.chance);
        }));
        machine.run_until(n, PlannedFault::Other, || {
            machine.with_store("a", |store| store.sync(&mut |_| {}).ok());
        });
        let is_over = machine.is_spared();
        if is_over {
            return;
        }
        machine.machine.world().disk.put_back(1);
        let written = fs::read_to_string(notes.join("note.md")).unwrap();
        machine.cut();
        machine.text_after_scan("a", "none.md");
        let text = fs::read_to_string(notes.join("note.md")).unwrap();
        assert_eq!(text, written, "written at call {n} of the scan");
    }
    panic!("the scan has no end");
}

/// Makes a change, unless another process holds the vault at that moment.
fn make_if_free(store: &Store, change: &ChangeSet) {
    let author = crate::support::who("test");
    store.transact(&author, |_| Ok::<_, memoranda_store::StoreError>(change.clone())).ok();
}

/// Lets a process die at each call of a change of two files in two folders of a stick. The names in
/// one of the folders reach the stick, and everything else that was not forced is lost. Asserts that
/// both files are new, or none.
fn lose_stick_in_change(has_exchange: bool, has_power_cut: bool, hours: i64) {
    for kept in ["", "new"] {
        for n in 0..MAX_CALLS {
            let rules = Rules { has_exchange, ..Rules::quiet() };
            let (machine, ext, notes) = machine_with_stick(rules);
            let names = ["new/note.md", "old.md"];
            machine.run(|| {
                machine.with_store("a", |store| {
                    make(store, put_into(&ext, &["old.md"], "first"));
                    store.flush().unwrap();
                });
            });
            machine.run_until(n, PlannedFault::Death, || {
                machine.with_store("a", |store| drop(make(store, put_into(&ext, &names, "new"))));
            });
            let is_over = machine.is_spared();
            {
                let mut world = machine.machine.world();
                world.set_clock(hours);
                world.disk.names_forced(&notes.join(kept));
            }
            if has_power_cut {
                machine.cut();
            } else {
                {
                    let mut world = machine.machine.world();
                    let world = &mut *world;
                    world.disk.forget_unforced(1);
                    world.disk.pull(1, &mut world.chance);
                }
                // Another process applies the log while the stick is away.
                machine.run(|| machine.with_store("a", |store| put(store, "other.md", "other")));
                machine.machine.world().disk.put_back(1);
            }
            machine.text_after_scan("a", "other.md");
            let found = names.map(|name| fs::read_to_string(notes.join(name)).ok());
            let is_undone = found == [None, Some("first".to_owned())];
            let is_done = found == [Some("new".to_owned()), Some("new".to_owned())];
            let context = format!("death at call {n}, names in {kept:?} kept");
            assert!(is_done || (is_undone && !is_over), "{context}: {found:?}");
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn a_change_in_two_folders_of_a_stick_is_whole_after_a_power_cut() {
    lose_stick_in_change(false, true, 0);
}

#[test]
fn a_change_in_two_folders_of_a_stick_is_whole_although_the_clock_is_set_back() {
    lose_stick_in_change(true, true, -6);
}

#[test]
fn a_change_in_two_folders_of_a_stick_is_whole_when_the_stick_is_back() {
    lose_stick_in_change(true, false, 0);
}

#[test]
fn a_save_that_a_move_linked_along_has_one_name() {
    for n in 0..MAX_CALLS {
        let machine = QuietMachine::of(Rules { has_exchange: false, ..Rules::quiet() });
        let (old, new) = (machine.place("home/main/note.md"), machine.place("home/main/moved.md"));
        machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
        // A person saves right before the link is made, and the process dies some calls later.
        machine.machine.world().planned = [
            (PlannedCall::At(Step::Swap), PlannedFault::Save(old.clone(), "by hand")),
            (PlannedCall::After(n), PlannedFault::Death),
        ]
        .into();
        machine.run(|| {
            let from = NotePath::parse("note.md").unwrap();
            let action = FileAction::MoveFrom { from, content: b"first".to_vec() };
            machine.with_store("a", |store| drop(make(store, change_of("moved.md", action))));
        });
        let is_over = machine.is_spared();
        machine.text_after_scan("a", "note.md");
        let texts = [old, new].map(|place| fs::read_to_string(place).ok());
        let saved = texts.iter().flatten().filter(|text| *text == "by hand").count();
        let context = format!("death {n} calls after the save: {texts:?}");
        assert!(saved == 1 || (saved == 0 && machine.has_version("a", "by hand")), "{context}");
        if is_over {
            return;
        }
    }
    panic!("the move has no end");
}

#[test]
fn a_note_stays_deleted_if_a_vacuum_ends_between_two_logs() {
    // The logs are rewritten in the order of their random names.
    for (writer, remover) in [("a", "b"), ("b", "a")] {
        let machine = QuietMachine::new();
        machine.run(|| machine.with_store(writer, |store| put(store, "note.md", "secret")));
        machine.run(|| machine.with_store(remover, |store| remove(store, "note.md")));
        machine.machine.world().planned =
            [(PlannedCall::At(Step::Rewritten), PlannedFault::Death)].into();
        assert!(machine.run(|| machine.with_store(remover, purge)).is_none());
        machine.cut();
        assert_eq!(machine.text_after_scan(writer, "note.md"), None, "{remover} deleted the note");
    }
}

#[test]
fn a_file_of_zeros_is_what_a_power_cut_left() {
    let machine = QuietMachine::new();
    let note = machine.place("home/main/note.md");
    machine.run(|| {
        machine.with_store("a", |store| {
            put(store, "note.md", "first");
            store.flush().unwrap();
            remove(store, "note.md");
        });
    });
    machine.cut();
    // A longer version that no log has; only its length is on disk. The clock was set back after it, so
    // that its time is later than that of the removal.
    machine.machine.world().set_clock(15);
    fs::write(&note, [0; 106]).unwrap();
    machine.is_changed();
    {
        let mut world = machine.machine.world();
        let now = world.file_time();
        world.disk.written(&note, now);
        world.disk.force_drive(0);
    }
    machine.machine.world().set_clock(-15);
    assert_eq!(machine.text_after_scan("a", "note.md"), None);
}

#[test]
fn an_unfinished_index_follows_the_log() {
    let machine = QuietMachine::new();
    // Only a scan finishes the index.
    machine.run(|| machine.with_store("a", |store| put(store, "note.md", "text")));
    machine.run(|| {
        let from = NotePath::parse("note.md").unwrap();
        let action = FileAction::MoveFrom { from, content: b"text".to_vec() };
        machine.with_store("b", |store| drop(make(store, change_of("moved.md", action))));
    });
    fs::rename(machine.place("home/main/moved.md"), machine.place("home/main/note.md")).unwrap();
    machine.is_changed();
    assert_eq!(machine.text_after_scan("a", "note.md").as_deref(), Some("text"));
    machine.run(|| machine.with_store("a", purge));
    assert!(machine.has_version("a", "text"));
}

#[test]
fn a_drive_that_is_pulled_in_an_exchange_by_steps_has_the_note_when_it_is_back() {
    for n in 0..MAX_CALLS {
        let rules = Rules { has_exchange: false, ..Rules::quiet() };
        let (machine, ext, notes) = machine_with_stick(rules);
        let write = |text: &str| put_into(&ext, &["note.md"], text);
        machine.run(|| machine.with_store("a", |store| drop(make(store, write("first")))));
        let shared = machine.machine.clone();
        machine.machine.world().other = Some(Box::new(move || {
            let mut world = shared.world();
            let world = &mut *world;
            // Everything that was done so far has reached the stick.
            world.disk.force_drive(1);
            world.disk.pull(1, &mut world.chance);
        }));
        machine.run_until(n, PlannedFault::Other, || {
            machine.with_store("a", |store| make_if_free(store, &write("second")));
        });
        let is_over = machine.is_spared();
        if !is_over {
            machine.machine.world().disk.put_back(1);
        }
        machine.text_after_scan("a", "none.md");
        let text = fs::read_to_string(notes.join("note.md")).ok();
        let is_whole = matches!(text.as_deref(), Some("first" | "second"));
        assert!(is_whole, "pulled at call {n}: {text:?}");
        if is_over {
            return;
        }
    }
    panic!("the write has no end");
}

#[test]
fn a_save_that_an_interrupted_recovery_set_aside_is_found() {
    for n in 0..MAX_CALLS {
        let machine = QuietMachine::of(Rules { has_exchange: false, ..Rules::quiet() });
        let note = machine.place("home/main/note.md");
        machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
        machine.machine.world().planned =
            [(PlannedCall::At(Step::LogSynced), PlannedFault::Death)].into();
        let done = machine.run(|| machine.with_store("a", |store| put(store, "note.md", "second")));
        assert!(done.is_none());
        // A person saves right before recovery completes the write, and its process dies, too.
        machine.machine.world().planned = [
            (PlannedCall::At(Step::Swap), PlannedFault::Save(note.clone(), "by hand")),
            (PlannedCall::After(n), PlannedFault::Death),
        ]
        .into();
        machine.run(|| machine.with_store("a", |store| store.sync(&mut |_| {}).unwrap()));
        let is_over = machine.is_spared();
        let text = machine.text_after_scan("a", "note.md");
        let is_kept = text.as_deref() == Some("by hand") || machine.has_version("a", "by hand");
        assert!(is_kept, "death {n} calls after the save: {text:?}");
        if is_over {
            return;
        }
    }
    panic!("the recovery has no end");
}

#[test]
fn an_index_notices_that_a_restored_vault_lacks_the_log_of_a_device() {
    let machine = QuietMachine::new();
    let scan = || {
        machine.run(|| machine.with_store("a", |store| store.sync(&mut |_| {}).map(drop).unwrap()));
    };
    machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
    scan();
    let (home, backup) = (machine.place("home"), machine.folder.path().join("backup"));
    copy_all(&home, &backup);
    machine.run(|| machine.with_store("b", |store| put(store, "other.md", "of another device")));
    scan();
    for entry in fs::read_dir(&home).unwrap() {
        fs::remove_dir_all(entry.unwrap().path()).unwrap();
    }
    machine.is_changed();
    copy_all(&backup, &home);
    machine.is_changed();
    machine.machine.world().disk.force_drive(0);
    scan();
    assert_sound(&machine, "after the backup was restored");
}

#[test]
fn a_checkpoint_passes_over_no_file_that_could_not_be_forced() {
    for n in 0..MAX_CALLS {
        let machine = QuietMachine::new();
        machine.run(|| machine.with_store("a", |store| put(store, "folder/note.md", "text")));
        machine.run_until(n, PlannedFault::Error, || {
            machine.try_store("a", Store::flush).ok();
        });
        let is_over = machine.is_spared();
        machine.cut();
        let text = machine.text_after_scan("a", "folder/note.md");
        assert_eq!(text.as_deref(), Some("text"), "call {n} failed");
        if is_over {
            return;
        }
    }
    panic!("the flush has no end");
}

#[test]
fn a_save_in_place_while_recovery_takes_an_exchange_back_stays() {
    for has_exchange in [true, false] {
        for n in 0..MAX_CALLS {
            let machine = QuietMachine::of(Rules { has_exchange, ..Rules::quiet() });
            let note = machine.place("home/main/note.md");
            machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
            let write = |text: &str| machine.with_store("a", |store| put(store, "note.md", text));
            machine.machine.world().planned =
                [(PlannedCall::At(Step::LogSynced), PlannedFault::Death)].into();
            assert!(machine.run(|| write("second")).is_none());
            // A person saves right before recovery completes the write, and some calls later again.
            machine.machine.world().planned = [
                (PlannedCall::At(Step::Swap), PlannedFault::Save(note.clone(), "saved")),
                (PlannedCall::After(n), PlannedFault::Other),
            ]
            .into();
            let (shared, place) = (machine.machine.clone(), note.clone());
            machine.machine.world().other = Some(Box::new(move || {
                fs::write(&place, "in place").unwrap();
                let mut world = shared.world();
                let now = world.file_time();
                world.disk.names_changed(&[place.parent().unwrap().to_owned()], now);
                world.disk.written(&place, now);
            }));
            machine.run(|| machine.with_store("a", |store| store.sync(&mut |_| {}).unwrap()));
            if machine.is_spared() {
                break;
            }
            let text = machine.text_after_scan("a", "note.md");
            let context = format!("{n} calls after the save, exchange: {has_exchange}");
            assert_eq!(text.as_deref(), Some("in place"), "{context}");
        }
    }
}

/// Leaves a file with a second name, as a power cut does that takes the removal of that name back, and
/// with half of its bytes.
fn tear(machine: &QuietMachine, file: &Path, second_name: &Path) {
    fs::hard_link(file, second_name).unwrap();
    let bytes = fs::read(file).unwrap();
    fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
    machine.is_changed();
    let mut world = machine.machine.world();
    let now = world.file_time();
    world.disk.written(file, now);
    world.disk.force_drive(0);
    world.boot += 1;
}

/// A change that moves a note of the project `main`.
pub(super) fn move_of(from: &str, to: &str, text: &str) -> ChangeSet {
    let from = NotePath::parse(from).unwrap();
    change_of(to, FileAction::MoveFrom { from, content: text.into() })
}

pub(super) fn move_note(machine: &QuietMachine, from: &str, to: &str, text: &str) {
    let change = move_of(from, to, text);
    machine.run(|| machine.with_store("a", |store| drop(make(store, change))));
}

#[test]
fn a_torn_file_with_two_names_is_restored_after_a_later_write() {
    let machine = QuietMachine::of(Rules { has_exchange: false, ..Rules::quiet() });
    machine.run(|| machine.with_store("a", |store| put(store, "old.md", "a text for two pages")));
    move_note(&machine, "old.md", "new.md", "a text for two pages");
    machine.machine.world().planned =
        [(PlannedCall::At(Step::LogSynced), PlannedFault::Death)].into();
    let done = machine.run(|| machine.with_store("a", |store| put(store, "new.md", "later")));
    assert!(done.is_none());
    tear(&machine, &machine.place("home/main/new.md"), &machine.place("home/main/old.md"));
    assert_eq!(machine.text_after_scan("a", "new.md").as_deref(), Some("later"));
    assert_eq!(machine.text_after_scan("a", "old.md"), None);
}

#[test]
fn a_torn_file_with_a_temporary_name_in_its_old_folder_is_restored() {
    let machine = QuietMachine::of(Rules { has_exchange: false, ..Rules::quiet() });
    let temporary: Arc<Mutex<Option<PathBuf>>> = Arc::default();
    let (found, folder) = (temporary.clone(), machine.place("home/main"));
    {
        let mut world = machine.machine.world();
        world.planned = [(PlannedCall::At(Step::Swap), PlannedFault::Other)].into();
        world.other = Some(Box::new(move || {
            let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            *found.lock().unwrap() = names.last();
        }));
    }
    machine.run(|| machine.with_store("a", |store| put(store, "old.md", "a text for two pages")));
    let temporary = temporary.lock().unwrap().take().unwrap();
    move_note(&machine, "old.md", "folder/new.md", "a text for two pages");
    tear(&machine, &machine.place("home/main/folder/new.md"), &temporary);
    let text = machine.text_after_scan("a", "folder/new.md");
    assert_eq!(text.as_deref(), Some("a text for two pages"));
}

#[test]
fn a_scan_records_nothing_of_a_folder_that_a_project_has_left() {
    for n in 0..MAX_CALLS {
        let machine = QuietMachine::new();
        let work = ProjectName::parse("work").unwrap();
        let write = |text: &str| put_into(&work, &["note.md"], text);
        machine.run(|| machine.with_store("a", |store| drop(make(store, write("first")))));
        let (old, new) = (machine.place("home/work"), machine.place("moved"));
        fs::create_dir(&new).unwrap();
        machine.is_changed();
        // In the middle of a scan the project moves, and a process dies that has not removed the old files.
        let (shared, options) = (machine.machine.clone(), machine.options("a"));
        let (name, target, change) = (work.clone(), new.clone(), write("second"));
        machine.machine.world().other = Some(Box::new(move || {
            {
                let mut world = shared.world();
                world.begin_process(1);
                world.processes[0] = ProcessState::Ended;
                world.current = 1;
            }
            let process = Rc::new(Process { machine: shared.clone(), id: 1 });
            run_on(process, || {
                let quick = OpenOptions { lock_patience: std::time::Duration::ZERO, ..options };
                if let Ok(store) = Store::open(quick) {
                    let policy = memoranda_store::HardLinkPolicy::Refuse;
                    if store.move_project(&name, &target, policy).is_ok() {
                        make_if_free(&store, &change);
                        fs::create_dir_all(&old).unwrap();
                        fs::write(old.join("note.md"), "first").unwrap();
                    }
                    store.abandon();
                }
            });
            let mut world = shared.world();
            world.processes[1] = ProcessState::Ended;
            world.processes[0] = ProcessState::Alive;
            world.current = 0;
        }));
        machine.run_until(n, PlannedFault::Other, || {
            machine.with_store("a", |store| store.sync(&mut |_| {}).ok());
        });
        if machine.is_spared() {
            return;
        }
        let Ok(written) = fs::read_to_string(new.join("note.md")) else { continue };
        machine.cut();
        machine.text_after_scan("a", "none.md");
        let text = fs::read_to_string(new.join("note.md")).ok();
        assert_eq!(text.as_deref(), Some(&*written), "moved at call {n} of the scan");
    }
    panic!("the scan has no end");
}
