//! Promises 1 and 2: acknowledged means kept, and all or nothing, whenever a process or the
//! machine dies.

use std::time::Duration;

use memoranda_core::change::{ChangeSet, ExpectedContent, FileAction};
use memoranda_store::Store;
use memoranda_store::faults::{self, Step};

use crate::child::{Task, acknowledged};
use crate::model::Files;
use crate::support::{
    Random, TestVault, change, eventually, made, main_project, make, operation, options, path, put,
    rounds, sync, write_steps,
};

/// Number of commits that a process tries to make before it dies.
const COMMITS: usize = 3;

/// A process that would continue after its commits: the index is updated after each answer.
const GOES_ON: &str = "goes-on";
/// A process that does one thing and ends.
const ENDS: &str = "ends";

/// Files before the process that dies begins.
fn before() -> Files {
    let mut files = Files::default();
    for name in ["a.md", "b.md", "c.md", "gone-0/x.md", "gone-0/y.md", "gone-1/x.md", "gone-2/x.md"]
    {
        files.0.insert(name.into(), format!("# {name}\n\nthe first text\n").into_bytes());
    }
    files
}

fn put_text(place: &str, text: &str) -> memoranda_core::change::ChangeOperation {
    operation(place, ExpectedContent::Anything, FileAction::Put(text.as_bytes().to_vec()))
}

fn taken_away(place: &str) -> memoranda_core::change::ChangeOperation {
    operation(place, ExpectedContent::Anything, FileAction::Remove)
}

/// The n-th change of a scenario, given the files before it.
fn nth_change(scenario: &str, n: usize, files: &Files) -> ChangeSet {
    let text = format!("text number {n} of {scenario}\n").repeat(20);
    match scenario {
        "new" => change(vec![put_text(&format!("new/n{n}.md"), &text)]),
        "overwrite" => change(vec![put_text("a.md", &text)]),
        "several" => change(vec![
            put_text(&format!("several-{n}.md"), &text),
            put_text("b.md", &text),
            match n {
                1 => put_text("c.md", &text),
                _ => taken_away("c.md"),
            },
        ]),
        "move" | "move-changed" => {
            let from = if n == 0 { "a.md".to_owned() } else { format!("moved/{}.md", n - 1) };
            let content = match scenario {
                "move" => files.0[&from].clone(),
                _ => text.into_bytes(),
            };
            let action = FileAction::MoveFrom { from: path(&from), content };
            change(vec![operation(&format!("moved/{n}.md"), ExpectedContent::Anything, action)])
        }
        "folder" => {
            let folder = format!("gone-{n}");
            let within = files.0.keys().filter(|name| name.starts_with(&format!("{folder}/")));
            let mut all = change(within.map(|name| taken_away(name)).collect());
            all.removed_folders.push((main_project(), path(&folder)));
            all
        }
        other => panic!("no scenario {other}"),
    }
}

/// The process that dies: makes its commits, and dies at the requested step.
pub(crate) fn be_crashed(task: &Task) {
    let (scenario, fault) = (&task.arguments[0], &task.arguments[1]);
    let store = Store::open(options(&task.folder)).unwrap();
    if task.arguments[2] == GOES_ON {
        store.start_background().unwrap();
    }
    faults::arm(fault).unwrap();
    let mut files = before();
    for n in 0..COMMITS {
        let next = nth_change(scenario, n, &files);
        made(make(&store, next.clone()));
        files.make(&next);
        task.acknowledge(n);
    }
    store.flush().unwrap();
    task.acknowledge("flushed");
}

fn check_crashes(scenario: &str) {
    let template = TestVault::new();
    let store = template.open();
    for (name, content) in before().0 {
        put(&store, &name, std::str::from_utf8(&content).unwrap());
    }
    sync(&store);
    drop(store);
    let deaths = write_steps().flat_map(|step| [(step, ENDS), (step, GOES_ON)]);
    // Before the files have their names, both do the same.
    let behind = [Step::Applied, Step::Index, Step::Indexed, Step::FileSync, Step::Checkpoint];
    for (step, life) in deaths.filter(|(step, life)| *life == ENDS || behind.contains(step)) {
        for occurrence in 1..=3 {
            let fault = format!("abort:{}:{occurrence}", step.name());
            let context = format!("{scenario} {fault} {life}");
            let vault = template.copy();
            let task = Task::new("crash", vault.folder(), &[&scenario, &fault, &life]);
            let ended = task.run_to_its_death();
            let said = acknowledged(vault.folder());
            assert!(!ended || said.last().is_some_and(|last| last == "flushed"), "{context}");
            let count = said.iter().filter(|line| *line != "flushed").count();

            let store = vault.open();
            sync(&store);
            assert_acknowledged_or_next(scenario, count, &vault, &context);
            vault.assert_agrees(&store, &context);
            put(&store, "afterwards.md", "the next write works");
            assert_eq!(crate::support::found(&store, "works"), ["main/afterwards.md"], "{context}");
        }
    }
}

/// The files are those after every acknowledged commit, or after one more, and nothing between.
fn assert_acknowledged_or_next(scenario: &str, count: usize, vault: &TestVault, context: &str) {
    let mut kept = before();
    for n in 0..count {
        kept.make(&nth_change(scenario, n, &kept));
    }
    let found = Files::on_disk(&vault.home().join("main"));
    let next = (count < COMMITS).then(|| kept.after(&nth_change(scenario, count, &kept)));
    assert!(
        found == kept || Some(&found) == next.as_ref(),
        "{context}: after {count} acknowledged commits there is\n{found:?}\nnot\n{kept:?}"
    );
}

#[test]
fn a_new_file_survives_death_at_every_step() {
    check_crashes("new");
}

#[test]
fn an_overwritten_file_survives_death_at_every_step() {
    check_crashes("overwrite");
}

#[test]
fn several_files_change_together_or_not_at_all() {
    check_crashes("several");
}

#[test]
fn a_move_survives_death_at_every_step() {
    check_crashes("move");
    check_crashes("move-changed");
}

#[test]
fn a_deleted_folder_is_gone_or_whole() {
    check_crashes("folder");
}

/// The n-th change of the endless stream: every file that is there holds the same number.
fn stream_change(n: usize) -> ChangeSet {
    let text = format!("count {n}\n").repeat(1 + n % 50);
    let mut operations = vec![put_text("s/a.md", &text)];
    if !n.is_multiple_of(4) {
        operations.push(put_text("s/b.md", &text));
        operations.push(put_text("t/c.md", &text));
        operations.push(match n % 3 {
            0 => taken_away("s/d.md"),
            _ => put_text("s/d.md", &text),
        });
    }
    if n.is_multiple_of(5) {
        let from = path(&format!("m/{}.md", n / 5));
        let content = text.into_bytes();
        let action = FileAction::MoveFrom { from, content };
        operations.push(operation(
            &format!("m/{}.md", n / 5 + 1),
            ExpectedContent::Anything,
            action,
        ));
    }
    change(operations)
}

/// Commits without end, from a number on.
pub(crate) fn stream(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    for n in task.number(0).. {
        made(make(&store, stream_change(n)));
        task.acknowledge(n);
    }
}

#[test]
fn a_process_killed_at_any_instant_loses_nothing() {
    let seed = 20_260_731;
    let mut random = Random::new(seed);
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "m/1.md", "begin");
    drop(store);
    let mut files = Files::on_disk(&vault.home().join("main"));
    let mut next = 1;
    for round in 0..rounds(12) {
        let context = format!("seed {seed} round {round} from {next}");
        let mut child = Task::new("stream", vault.folder(), &[&next]).start();
        let first = next.to_string();
        eventually("a first commit", || acknowledged(vault.folder()).contains(&first));
        std::thread::sleep(Duration::from_micros(random.below(60_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();

        let last = acknowledged(vault.folder()).last().unwrap().parse::<usize>().unwrap();
        while next <= last {
            files.make(&stream_change(next));
            next += 1;
        }
        let store = vault.open();
        sync(&store);
        let found = Files::on_disk(&vault.home().join("main"));
        if found != files {
            files.make(&stream_change(next));
            next += 1;
        }
        assert_eq!(found, files, "{context}: {last} was the last acknowledged");
        if round % 4 == 3 {
            vault.assert_agrees(&store, &context);
        }
    }
}
