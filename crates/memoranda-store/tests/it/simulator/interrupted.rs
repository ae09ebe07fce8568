//! Changes that were interrupted, and what people and other processes did before anybody looked at what
//! was left of them.

use std::fs;

use memoranda_store::faults::Step;

use super::power::{QuietMachine, machine_with_stick};
use super::remains::put_into;
use super::rules::Rules;
use super::world::{PlannedCall, PlannedFault};
use crate::support::{make, put};

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
