//! Changes that were interrupted, and what people and other processes did before anybody looked at what
//! was left of them.

use std::fs;
use std::path::PathBuf;

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::faults::Step;
use memoranda_store::{HardLinkPolicy, OpenOptions, Store};

use super::moments::assert_sound;
use super::power::{MAX_CALLS, QuietMachine, machine_with_stick, purge};
use super::remains::{move_note, move_of, put_into};
use super::rules::Rules;
use super::world::{PlannedCall, PlannedFault};
use crate::support::{make, put, who};

fn scan(machine: &QuietMachine) {
    machine.run(|| machine.with_store("a", |store| store.sync(&mut |_| {}).map(drop).unwrap()));
}

#[test]
fn a_deleted_note_stays_deleted_next_to_the_remains_of_an_earlier_write() {
    let (machine, ext, notes) = machine_with_stick(Rules::quiet());
    let write = |text: &str| {
        let change = put_into(&ext, &["note.md"], text);
        machine.run(|| machine.with_store("a", |store| drop(make(store, change))))
    };
    let write_elsewhere = |text: &str| {
        machine.run(|| machine.with_store("a", |store| put(store, "other.md", text)));
    };
    write("first");
    machine.machine.world().planned =
        [(PlannedCall::At(Step::LogSynced), PlannedFault::Death)].into();
    assert!(write("second").is_none());
    {
        let mut world = machine.machine.world();
        let world = &mut *world;
        world.disk.forget_unforced(1);
        world.disk.pull(1, &mut world.chance);
    }
    // Another process applies the log while the stick is away.
    write_elsewhere("0");
    machine.machine.world().disk.put_back(1);
    write("third");
    for n in 1..10 {
        write_elsewhere(&n.to_string());
    }
    let note = notes.join("note.md");
    assert_eq!(fs::read_to_string(&note).unwrap(), "third");
    machine.machine.world().delete(&note);
    scan(&machine);
    assert!(!note.exists());
    assert!(machine.has_version("a", "third"));
}

#[test]
fn a_deleted_note_stays_deleted_although_its_write_had_displaced_a_save() {
    for has_exchange in [true, false] {
        let mut deletions = 0;
        for n in 0..MAX_CALLS {
            let machine = QuietMachine::of(Rules { has_exchange, ..Rules::quiet() });
            let note = machine.place("home/main/note.md");
            machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
            // An editor saves at the moment of the exchange, and the process dies some calls later.
            machine.machine.world().planned = [
                (PlannedCall::At(Step::Swap), PlannedFault::Save(note.clone(), "by hand")),
                (PlannedCall::After(n), PlannedFault::Death),
            ]
            .into();
            machine.run(|| machine.with_store("a", |store| put(store, "note.md", "second")));
            let is_over = machine.is_spared();
            let names = fs::read_dir(note.parent().unwrap()).unwrap();
            let names: Vec<PathBuf> = names.map(|name| name.unwrap().path()).collect();
            let texts = names.iter().map(|name| fs::read_to_string(name).unwrap());
            let texts: Vec<String> = texts.collect();
            let is_placed = fs::read_to_string(&note).is_ok_and(|text| text == "second");
            let has_one_name = texts.iter().filter(|text| *text == "second").count() == 1;
            // While it is displaced by steps, nobody can tell a deletion from a step.
            let is_whole = names.iter().all(|name| !name.to_string_lossy().ends_with("-old"));
            let has_save = texts.iter().any(|text| text == "by hand");
            if is_placed && has_one_name && is_whole && has_save {
                deletions += 1;
                machine.machine.world().delete(&note);
                let context = format!("death {n} calls after the save, exchange: {has_exchange}");
                assert_eq!(machine.text_after_scan("a", "note.md"), None, "{context}");
                assert!(machine.has_version("a", "by hand"), "{context}");
                assert_sound(&machine, &context);
            }
            if is_over {
                break;
            }
        }
        assert!(deletions > 0, "exchange: {has_exchange}");
    }
}

#[test]
fn a_folder_with_a_name_that_only_the_log_knows_is_the_projects() {
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
    let work = ProjectName::parse("work").unwrap();
    let folder = machine.place("work");
    fs::create_dir(&folder).unwrap();
    machine.is_changed();
    with_cache("first", &|store| {
        put(store, "note.md", "first");
        store.sync(&mut |_| {}).unwrap();
    });
    with_cache("second", &|store| {
        store.add_project(&work, &folder, HardLinkPolicy::Refuse).unwrap();
        make(store, put_into(&work, &["old.md"], "by a tool"));
    });
    // The first index learns of the project, but not that its only note is moved.
    with_cache("first", &|store| drop(put(store, "note.md", "second")));
    with_cache("second", &|store| {
        let mut change = move_of("old.md", "new.md", "by a tool");
        change.operations.iter_mut().for_each(|operation| operation.project = work.clone());
        make(store, change);
    });
    {
        // Half of the bytes reach the disk.
        let mut world = machine.machine.world();
        let (note, now) = (folder.join("new.md"), world.file_time());
        fs::write(&note, "by a").unwrap();
        world.disk.written(&note, now);
        world.disk.force_drive(0);
    }
    machine.cut();
    with_cache("first", &|store| drop(store.sync(&mut |_| {}).unwrap()));
    assert_eq!(fs::read_to_string(folder.join("new.md")).unwrap(), "by a tool");
}

#[test]
fn a_move_that_was_interrupted_on_a_stick_leaves_one_name() {
    for hours in [0, -6] {
        for n in 0..MAX_CALLS {
            let rules = Rules { has_exchange: false, ..Rules::quiet() };
            let (machine, ext, notes) = machine_with_stick(rules);
            let change = put_into(&ext, &["folder/old.md"], "by a tool");
            machine.run(|| machine.with_store("a", |store| drop(make(store, change))));
            let mut change = move_of("folder/old.md", "new.md", "by a tool");
            change.operations.iter_mut().for_each(|operation| operation.project = ext.clone());
            machine.run_until(n, PlannedFault::Death, || {
                machine.with_store("a", |store| drop(make(store, change)));
            });
            let is_over = machine.is_spared();
            {
                let mut world = machine.machine.world();
                let world = &mut *world;
                world.set_clock(hours);
                world.disk.force_drive(1);
                world.disk.pull(1, &mut world.chance);
            }
            // Another process applies the log while the stick is away.
            machine.run(|| machine.with_store("a", |store| put(store, "other.md", "other")));
            machine.machine.world().disk.put_back(1);
            scan(&machine);
            let names = ["folder/old.md", "new.md"];
            let read = |name: &str| {
                let path = NotePath::parse(name).unwrap();
                let read = |store: &Store| store.read(&ext, &path).unwrap().is_some();
                machine.run(|| machine.with_store("a", read)).unwrap()
            };
            let context = format!("death at call {n}, {hours} hours");
            assert_eq!(names.iter().filter(|name| read(name)).count(), 1, "{context}");
            let is_there = |name: &&&str| notes.join(name).exists();
            assert_eq!(names.iter().filter(is_there).count(), 1, "{context}");
            assert_sound(&machine, &context);
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn a_second_name_that_a_person_makes_stays() {
    let machine = QuietMachine::new();
    machine.run(|| machine.with_store("a", |store| put(store, "old.md", "by a tool")));
    move_note(&machine, "old.md", "new.md", "by a tool");
    machine.machine.world().set_clock(1);
    let (old, new) = (machine.place("home/main/old.md"), machine.place("home/main/new.md"));
    fs::hard_link(&new, &old).unwrap();
    machine.is_changed();
    scan(&machine);
    assert!(old.exists() && new.exists());
}

#[test]
fn a_note_that_is_moved_after_an_edit_by_hand_has_its_bytes_after_a_power_cut() {
    for is_scanned in [false, true] {
        let machine = QuietMachine::new();
        machine.run(|| {
            machine.with_store("a", |store| {
                put(store, "note.md", "first");
                store.flush().unwrap();
            });
        });
        machine.save("note.md", "by hand");
        if is_scanned {
            scan(&machine);
        }
        move_note(&machine, "note.md", "moved.md", "by hand");
        machine.machine.world().disk.names_forced(&machine.place("home/main"));
        machine.cut();
        let text = machine.text_after_scan("a", "moved.md");
        assert_eq!(text.as_deref(), Some("by hand"), "scanned: {is_scanned}");
        assert_eq!(machine.text_after_scan("a", "note.md"), None, "scanned: {is_scanned}");
    }
}

#[test]
fn a_change_that_is_taken_back_on_a_stick_does_not_come_back_in_part() {
    for has_exchange in [true, false] {
        for n in 0..MAX_CALLS {
            let rules = Rules { has_exchange, ..Rules::quiet() };
            let (machine, ext, notes) = machine_with_stick(rules);
            let names = ["one.md", "folder/two.md"];
            let change = put_into(&ext, &names, "first");
            machine.run(|| machine.with_store("a", |store| drop(make(store, change))));
            // Everything that was done so far reaches the stick, and then a call fails.
            let shared = machine.machine.clone();
            machine.machine.world().other =
                Some(Box::new(move || shared.world().disk.force_drive(1)));
            machine.machine.world().planned = [
                (PlannedCall::After(n), PlannedFault::Other),
                (PlannedCall::Same, PlannedFault::Error),
            ]
            .into();
            let change = put_into(&ext, &names, "second");
            machine.run(|| {
                machine.try_store("a", |store| store.transact(&who("test"), |_| Ok(change.clone())))
            });
            let is_over = machine.is_spared();
            {
                let mut world = machine.machine.world();
                let world = &mut *world;
                world.disk.forget_unforced(1);
                world.disk.pull(1, &mut world.chance);
                world.disk.put_back(1);
            }
            scan(&machine);
            let texts = names.map(|name| fs::read_to_string(notes.join(name)).ok());
            let context = format!("call {n} failed, exchange: {has_exchange}: {texts:?}");
            assert!(texts.iter().all(|text| text.is_some() && *text == texts[0]), "{context}");
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn of_two_saves_in_a_change_that_is_taken_back_the_later_one_stays() {
    for has_exchange in [true, false] {
        for n in 0..MAX_CALLS {
            let machine = QuietMachine::of(Rules { has_exchange, ..Rules::quiet() });
            let note = machine.place("home/main/note.md");
            machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
            // A person saves right before the exchange, and again right before it is taken back.
            machine.machine.world().planned = [
                (PlannedCall::At(Step::Swap), PlannedFault::Save(note.clone(), "earlier")),
                (PlannedCall::At(Step::Swap), PlannedFault::Other),
                (PlannedCall::After(n), PlannedFault::Death),
            ]
            .into();
            let shared = machine.machine.clone();
            machine.machine.world().other = Some(Box::new(move || {
                let mut world = shared.world();
                world.set_clock(1);
                world.save(&note, "later");
            }));
            machine.run(|| machine.with_store("a", |store| put(store, "note.md", "second")));
            let is_over = machine.is_spared();
            let text = machine.text_after_scan("a", "note.md");
            let context = format!("death {n} calls after the save, exchange: {has_exchange}");
            // The write is decided again, and replaces what it saw then.
            let is_replaced =
                text.as_deref() == Some("second") && machine.has_version("a", "later");
            assert!(is_replaced || text.as_deref() == Some("later"), "{context}: {text:?}");
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn the_length_of_a_save_that_a_power_cut_took_is_forgotten() {
    let machine = QuietMachine::new();
    let note = machine.place("home/main/note.md");
    // What a tool has written reaches the disk, and a person writes to the file at once.
    let (shared, place) = (machine.machine.clone(), note.clone());
    machine.machine.world().planned =
        [(PlannedCall::At(Step::Applied), PlannedFault::Other)].into();
    machine.machine.world().other = Some(Box::new(move || {
        let mut world = shared.world();
        world.disk.force_drive(0);
        fs::write(&place, "by hand").unwrap();
        let now = world.file_time();
        world.disk.written(&place, now);
    }));
    machine.run(|| machine.with_store("a", |store| put(store, "note.md", "a text of a tool")));
    assert_eq!(fs::read_to_string(&note).unwrap(), "by hand");
    machine.cut();
    let text = machine.text_after_scan("a", "note.md");
    assert_eq!(text.as_deref(), Some("a text of a tool"));
    assert_sound(&machine, "after the cut");
}

#[test]
fn a_deleted_note_stays_deleted_although_what_it_replaced_came_back_with_its_stick() {
    let rules = Rules { knows_boot: false, ..Rules::quiet() };
    let (machine, ext, notes) = machine_with_stick(rules);
    machine.run(|| {
        machine.with_store("a", |store| {
            for text in ["first", "second"] {
                make(store, put_into(&ext, &["note.md"], text));
            }
            for n in 0..10 {
                put(store, "other.md", &n.to_string());
            }
        });
    });
    {
        // The removal of the temporary name was not forced.
        let mut world = machine.machine.world();
        let world = &mut *world;
        world.disk.forget_unforced(1);
        world.disk.pull(1, &mut world.chance);
        world.disk.put_back(1);
    }
    assert_eq!(fs::read_dir(&notes).unwrap().count(), 2);
    let note = notes.join("note.md");
    machine.machine.world().delete(&note);
    scan(&machine);
    assert!(!note.exists());
    assert!(machine.has_version("a", "second"));
}

#[test]
fn a_write_after_a_vacuum_that_died_survives_a_power_cut() {
    for n in 0..MAX_CALLS {
        let machine = QuietMachine::new();
        machine.run(|| {
            machine.with_store("a", |store| {
                put(store, "note.md", "first");
                put(store, "note.md", "second");
            });
        });
        machine.run_until(n, PlannedFault::Death, || machine.with_store("a", purge));
        let is_over = machine.is_spared();
        machine.run(|| machine.with_store("a", |store| put(store, "kept.md", "kept")));
        machine.cut();
        let text = machine.text_after_scan("a", "kept.md");
        assert_eq!(text.as_deref(), Some("kept"), "death at call {n}");
        if is_over {
            return;
        }
    }
    panic!("the vacuum has no end");
}

#[test]
fn a_vacuum_purges_nothing_that_a_drive_may_still_have() {
    // The stick is back before the vacuum, or after it.
    for is_back in [true, false] {
        for n in 0..MAX_CALLS {
            let (machine, ext, notes) = machine_with_stick(Rules::quiet());
            let names = ["one.md", "two.md"];
            let write = |text: &str| {
                let change = put_into(&ext, &names, text);
                machine.with_store("a", |store| drop(make(store, change)));
            };
            machine.run(|| write("first"));
            machine.run_until(n, PlannedFault::Death, || write("second"));
            let is_over = machine.is_spared();
            {
                let mut world = machine.machine.world();
                let world = &mut *world;
                world.disk.force_drive(1);
                world.disk.pull(1, &mut world.chance);
            }
            // Another process applies the log while the stick is away.
            machine.run(|| machine.with_store("a", |store| put(store, "other.md", "other")));
            if is_back {
                machine.machine.world().disk.put_back(1);
            }
            machine.run(|| machine.with_store("a", purge));
            if !is_back {
                machine.machine.world().disk.put_back(1);
            }
            let context = format!("death at call {n}, back before: {is_back}");
            scan(&machine);
            assert_sound(&machine, &context);
            let texts = names.map(|name| fs::read_to_string(notes.join(name)).unwrap());
            assert_eq!(texts[0], texts[1], "{context}");
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn a_save_that_a_write_had_displaced_is_kept_although_another_device_wrote_since() {
    let machine = QuietMachine::of(Rules { knows_boot: false, ..Rules::quiet() });
    let note = machine.place("home/main/note.md");
    machine.run(|| machine.with_store("b", |store| put(store, "other.md", "other")));
    machine.run(|| machine.with_store("a", |store| put(store, "note.md", "first")));
    // An editor saves at the moment of the exchange, and the process dies before it puts that back.
    machine.machine.world().planned = [
        (PlannedCall::At(Step::Swap), PlannedFault::Save(note, "by hand")),
        (PlannedCall::At(Step::Swap), PlannedFault::Death),
    ]
    .into();
    let done = machine.run(|| machine.with_store("a", |store| put(store, "note.md", "second")));
    assert!(done.is_none());
    // Without a boot id, the other device cannot tell if the write was applied.
    machine.run(|| machine.with_store("b", |store| put(store, "note.md", "third")));
    assert_eq!(machine.text_after_scan("a", "note.md").as_deref(), Some("third"));
    assert!(machine.has_version("a", "by hand"));
    assert_sound(&machine, "after the scan");
}
