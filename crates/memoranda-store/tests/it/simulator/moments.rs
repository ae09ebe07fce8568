//! Acts of a person, and remains of a power cut, at chosen moments of a write or of a recovery.

use std::fs;

use memoranda_core::change::FileAction;
use memoranda_store::Store;
use memoranda_store::faults::Step;

use super::power::{MAX_CALLS, QuietMachine, change_of, log_length, machine_with_stick};
use super::rules::Rules;
use super::world::{PlannedCall, PlannedFault};
use crate::support::{put, who};

fn scan(store: &Store) {
    store.sync(&mut |_| {}).unwrap();
}

/// Asserts that index, log and files agree, and that the log has no damage.
pub(super) fn assert_sound(machine: &QuietMachine, context: &str) {
    let scratch = machine.folder.path().join("scratch");
    let report =
        machine.run(|| machine.with_store("a", |store| store.check(&scratch).unwrap())).unwrap();
    fs::remove_dir_all(&scratch).ok();
    assert!(report.agrees(), "{context}: {report:?}");
}

#[test]
fn a_save_while_recovery_gives_another_its_name_back_stays() {
    for n in 0..MAX_CALLS {
        let machine = QuietMachine::new();
        let note = machine.place("home/main/note.md");
        machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
        // An editor saves at the moment of the exchange, and the process dies before it puts that back.
        machine.machine.world().planned = [
            (PlannedCall::At(Step::Swap), PlannedFault::Save(note.clone(), "saved before")),
            (PlannedCall::At(Step::Swap), PlannedFault::Death),
        ]
        .into();
        let done = machine.run(|| machine.with_store("a", |store| put(store, "note.md", "second")));
        assert!(done.is_none());
        assert_eq!(fs::read_to_string(&note).unwrap(), "second");
        machine.run_until(n, PlannedFault::Save(note.clone(), "saved last"), || {
            machine.with_store("a", scan);
        });
        let is_over = machine.is_spared();
        let text = machine.text_after_scan("a", "note.md");
        let expected = if is_over { "saved before" } else { "saved last" };
        assert_eq!(text.as_deref(), Some(expected), "saved at call {n}");
        if is_over {
            return;
        }
    }
    panic!("the work has no end");
}

#[test]
fn a_save_while_a_write_fails_stays() {
    for has_exchange in [true, false] {
        for n in 0..MAX_CALLS {
            let machine = QuietMachine::of(Rules { has_exchange, ..Rules::quiet() });
            let note = machine.place("home/main/note.md");
            machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
            // A person saves at the very call that fails.
            machine.machine.world().planned = [
                (PlannedCall::After(n), PlannedFault::Save(note.clone(), "by hand")),
                (PlannedCall::Same, PlannedFault::Error),
            ]
            .into();
            let written = machine.run(|| {
                machine.try_store("a", |store| {
                    let change = change_of("note.md", FileAction::Put(b"second".to_vec()));
                    store.transact(&who("test"), |_| Ok(change.clone()))
                })
            });
            let is_over = machine.is_spared();
            let text = machine.text_after_scan("a", "note.md");
            if is_over {
                break;
            }
            if written.unwrap().is_err() {
                let context = format!("call {n} failed, exchange: {has_exchange}");
                assert_eq!(text.as_deref(), Some("by hand"), "{context}");
            }
        }
    }
}

#[test]
fn a_deletion_while_a_write_fails_stays() {
    for has_exchange in [true, false] {
        for n in 0..MAX_CALLS {
            let machine = QuietMachine::of(Rules { has_exchange, ..Rules::quiet() });
            let note = machine.place("home/main/note.md");
            machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
            machine.machine.world().planned = [
                (PlannedCall::After(n), PlannedFault::Error),
                (PlannedCall::After(0), PlannedFault::Delete(note)),
            ]
            .into();
            let written = machine.run(|| {
                machine.try_store("a", |store| {
                    let change = change_of("note.md", FileAction::Put(b"second".to_vec()));
                    store.transact(&who("test"), |_| Ok(change.clone()))
                })
            });
            let left = std::mem::take(&mut machine.machine.world().planned).len();
            let is_deleted = machine.machine.world().counts.contains_key("planned deletions");
            let text = machine.text_after_scan("a", "note.md");
            if left == 2 {
                break;
            }
            // The deletion comes too late for a write that makes no further call, and finds no file
            // while its old and its new version have other names.
            if left == 0 && is_deleted && written.is_some_and(|written| written.is_err()) {
                assert_eq!(text, None, "call {n} failed, exchange: {has_exchange}");
            }
        }
    }
}

#[test]
fn a_note_that_was_placed_and_then_deleted_does_not_come_back() {
    for fault in [PlannedFault::Death, PlannedFault::Error] {
        for n in 0..MAX_CALLS {
            let machine = QuietMachine::new();
            let note = machine.place("home/main/note.md");
            machine.run(|| machine.with_store("a", |store| put(store, "other.md", "other")));
            machine.run_until(n, fault.clone(), || {
                let change = change_of("note.md", FileAction::Put(b"by a tool".to_vec()));
                let write = |store: &Store| store.transact(&who("test"), |_| Ok(change.clone()));
                machine.try_store("a", write).ok();
            });
            let is_over = machine.is_spared();
            let was_there = note.exists();
            machine.machine.world().delete(&note);
            let text = machine.text_after_scan("a", "note.md");
            if was_there {
                assert_eq!(text, None, "{fault:?} at call {n}");
            }
            assert_sound(&machine, &format!("{fault:?} at call {n}"));
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn a_batch_whose_beginning_is_torn_was_not_acknowledged() {
    let machine = QuietMachine::new();
    machine.run(|| {
        machine.with_store("a", |store| {
            put(store, "note.md", "first");
            store.flush().unwrap();
        });
    });
    machine.save("note.md", "by hand");
    machine.machine.world().disk.force_drive(0);
    let whole = log_length(&machine);
    machine.machine.world().planned =
        [(PlannedCall::At(Step::LogSync), PlannedFault::Death)].into();
    // The edit by hand and the write are recorded together.
    let done = machine.run(|| machine.with_store("a", |store| put(store, "note.md", "by a tool")));
    assert!(done.is_none());
    let folders = fs::read_dir(machine.place("home/.memoranda/log")).unwrap();
    let mut segments = folders.map(|folder| folder.unwrap().path().join("00000001.log"));
    let segment = segments.find(|segment| segment.is_file()).unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    bytes[whole..whole + 64].fill(0);
    fs::write(&segment, bytes).unwrap();
    {
        let mut world = machine.machine.world();
        let now = world.file_time();
        world.disk.written(&segment, now);
        world.disk.forced(&segment);
    }
    machine.cut();
    let text = machine.text_after_scan("a", "note.md");
    assert_eq!(text.as_deref(), Some("by hand"));
    assert!(machine.has_version("a", "by hand"));
    assert_sound(&machine, "after the cut");
    machine.run(|| machine.with_store("a", |store| put(store, "note.md", "later")));
    assert_sound(&machine, "after the next write");
}

#[test]
fn a_file_that_lost_its_bytes_but_not_its_times_is_read_again() {
    for is_on_stick in [false, true] {
        let (machine, _, notes) = machine_with_stick(Rules::quiet());
        let drive = usize::from(is_on_stick);
        let folder = if is_on_stick { notes } else { machine.place("home/main") };
        let write = |text: &str| {
            let file = folder.join("note.md");
            fs::write(&file, text).unwrap();
            let mut world = machine.machine.world();
            let now = world.file_time();
            world.disk.names_changed(std::slice::from_ref(&folder), now);
            world.disk.written(&file, now);
        };
        write("these bytes reach the disk");
        machine.machine.world().disk.force_drive(drive);
        write("those that come later not.");
        machine.run(|| machine.with_store("a", scan));
        {
            let mut world = machine.machine.world();
            let world = &mut *world;
            world.disk.forget_unforced(drive);
            if is_on_stick {
                world.disk.pull(1, &mut world.chance);
                world.disk.put_back(1);
            } else {
                world.boot += 1;
            }
        }
        machine.run(|| machine.with_store("a", scan));
        let text = fs::read_to_string(folder.join("note.md")).unwrap();
        assert_eq!(text, "these bytes reach the disk");
        assert_sound(&machine, &format!("on the stick: {is_on_stick}"));
    }
}
