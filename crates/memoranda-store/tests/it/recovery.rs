//! Recovery with several devices, without an identity of the machine's run, and after `vacuum`: no
//! position is believed to say more than it knows.

use jiff::SignedDuration;
use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_store::faults::{self, PretendedBoot};
use memoranda_store::{
    HardLinkPolicy, HistoryFilter, LostState, Store, VacuumExtent, VacuumRequest, clock,
};

use crate::child::{Task, acknowledged};
use crate::support::{
    TestVault, change, found, made, main_project, make, operation, options, path, put, remove, sync,
};

const TEXT: &str = "# Plan\n\nwhat the agent wrote, line by line: walrus\n";

/// Gives the pretended machine back to the real one when a test ends.
struct PretendedMachine;

impl PretendedMachine {
    fn boot(boot: PretendedBoot) -> Self {
        faults::pretend_boot(boot);
        Self
    }
}

impl Drop for PretendedMachine {
    fn drop(&mut self) {
        faults::pretend_boot(PretendedBoot::Real);
    }
}

fn move_note(store: &Store, from: &str, to: &str) {
    let action = FileAction::MoveFrom { from: path(from), content: TEXT.into() };
    made(make(store, change(vec![operation(to, ExpectedContent::Anything, action)])));
}

fn purge_everything(store: &Store) {
    let before = clock::now() + SignedDuration::from_secs(60);
    let what = VacuumExtent::DeletedAndVersions;
    store.vacuum(&VacuumRequest { project: None, before, what }).unwrap();
}

/// A change of a note by another device of the machine, and the expected files.
type Deed = (&'static str, fn(&Store), &'static [(&'static str, &'static str)]);

const DEEDS: &[Deed] = &[
    ("deletes", |store| drop(remove(store, "Plan.md")), &[]),
    ("moves", |store| move_note(store, "Plan.md", "Archive.md"), &[("Archive.md", TEXT)]),
    ("shortens", |store| drop(put(store, "Plan.md", &TEXT[..10])), &[("Plan.md", "# Plan\n\nwh")]),
    ("sets back", |store| drop(put(store, "Plan.md", "first\n")), &[("Plan.md", "first\n")]),
    (
        "deletes and makes again",
        |store| {
            remove(store, "Plan.md");
            put(store, "Plan.md", "first\n");
        },
        &[("Plan.md", "first\n")],
    ),
    (
        "moves there and back",
        |store| {
            move_note(store, "Plan.md", "Archive.md");
            move_note(store, "Archive.md", "Plan.md");
        },
        &[("Plan.md", TEXT)],
    ),
];

fn assert_holds(vault: &TestVault, expected: &[(&str, &str)], context: &str) {
    for name in ["Plan.md", "Archive.md"] {
        let text = expected.iter().find(|(file, _)| *file == name).map(|(_, text)| *text);
        assert_eq!(vault.text(&format!("main/{name}")).as_deref(), text, "{context}: {name}");
    }
}

#[test]
fn two_devices_of_one_machine_take_back_nothing_of_each_other() {
    for (deed, act, expected) in DEEDS {
        for first_is_alive in [true, false] {
            let vault = TestVault::new();
            let server = vault.open();
            for n in 0..12 {
                put(&server, &format!("small-{n}.md"), "a small note");
            }
            put(&server, "Plan.md", "first\n");
            put(&server, "Plan.md", TEXT);
            let context = format!("{deed}, first alive: {first_is_alive}");
            let server = if first_is_alive {
                server
            } else {
                std::mem::forget(server);
                vault.open()
            };
            let host = vault.open_as("host");
            sync(&host);
            act(&host);
            assert_holds(&vault, expected, &context);
            put(&server, "anything.md", "anything at all");
            assert_holds(&vault, expected, &context);
            sync(&server);
            vault.assert_agrees(&server, &context);
        }
    }
}

#[test]
fn a_restart_takes_back_nothing_of_another_device() {
    for (deed, act, expected) in DEEDS {
        for recovers_first in ["server", "host"] {
            let context = format!("{deed}, {recovers_first} first");
            let vault = TestVault::new();
            let server = vault.open();
            put(&server, "Plan.md", "first\n");
            put(&server, "Plan.md", TEXT);
            std::mem::forget(server);
            let host = vault.open_as("host");
            act(&host);
            std::mem::forget(host);
            vault.restart_machine();
            let first = if recovers_first == "host" { vault.open_as("host") } else { vault.open() };
            put(&first, "a.md", "after the restart");
            assert_holds(&vault, expected, &context);
            let second =
                if recovers_first == "host" { vault.open() } else { vault.open_as("host") };
            put(&second, "b.md", "after the restart");
            assert_holds(&vault, expected, &context);
        }
    }
}

/// A device that is new after a restart knows nothing of the others, whose logs it leaves alone. They
/// then find its changes.
#[test]
fn a_late_recovery_takes_back_nothing_of_a_device_that_came_since() {
    for (deed, act, expected) in DEEDS {
        let vault = TestVault::new();
        let machine = PretendedMachine::boot(PretendedBoot::Number(1));
        let server = vault.open();
        put(&server, "Plan.md", "first\n");
        put(&server, "Plan.md", TEXT);
        std::mem::forget(server);
        faults::pretend_boot(PretendedBoot::Number(2));
        let host = vault.open_as("host");
        sync(&host);
        // Commits are ordered by their milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(2));
        act(&host);
        put(&vault.open(), "anything.md", "anything at all");
        assert_holds(&vault, expected, deed);
        drop(machine);
    }
}

#[test]
fn a_restart_brings_back_what_every_device_of_the_machine_had_written() {
    let vault = TestVault::new();
    let server = vault.open();
    put(&server, "Plan.md", TEXT);
    std::mem::forget(server);
    let host = vault.open_as("host");
    put(&host, "Archive.md", TEXT);
    std::mem::forget(host);
    vault.restart_machine();
    for is_lock_lost in [false, true] {
        for name in ["Plan.md", "Archive.md"] {
            vault.write_by_hand(&format!("main/{name}"), "");
        }
        if is_lock_lost {
            // Unforced state, such as the table of positions, may be lost, too.
            vault.restart_machine();
            std::fs::write(vault.home().join(".memoranda/lock"), "").unwrap();
        }
        // Only one of the two comes back.
        let server = vault.open();
        sync(&server);
        let both = [("Plan.md", TEXT), ("Archive.md", TEXT)];
        assert_holds(&vault, &both, &format!("lock lost: {is_lock_lost}"));
        std::mem::forget(server);
    }
}

#[test]
fn one_device_completes_what_another_left_half_done() {
    let vault = TestVault::new();
    let server = vault.open();
    put(&server, "Plan.md", "first\n");
    let before = vault.lock_table();
    put(&server, "Plan.md", TEXT);
    std::mem::forget(server);
    // As if the process had died after its record was forced, before the file had its name.
    std::fs::write(vault.home().join(".memoranda/lock"), before).unwrap();
    vault.write_by_hand("main/Plan.md", "first\n");
    let host = vault.open_as("host");
    put(&host, "other.md", "another note");
    assert_eq!(vault.text("main/Plan.md").as_deref(), Some(TEXT));
    sync(&host);
    assert_eq!(found(&host, "walrus"), ["main/Plan.md"]);
}

/// An edit by hand, and the expected content of the note.
type Hand = (&'static str, fn(&TestVault), Option<&'static str>);

const HANDS: &[Hand] = &[
    ("deletes", |v| std::fs::remove_file(v.home().join("main/f.md")).unwrap(), None),
    (
        "moves",
        |v| std::fs::rename(v.home().join("main/f.md"), v.home().join("main/g.md")).unwrap(),
        None,
    ),
    ("empties", |v| v.write_by_hand("main/f.md", ""), Some("")),
    ("cuts", |v| v.write_by_hand("main/f.md", &TEXT[..10]), Some("# Plan\n\nwh")),
    ("sets back", |v| v.write_by_hand("main/f.md", "first\n"), Some("first\n")),
    ("edits", |v| v.write_by_hand("main/f.md", "my own\n"), Some("my own\n")),
];

#[test]
fn without_an_identity_of_the_run_a_persons_edit_stays() {
    let _machine = PretendedMachine::boot(PretendedBoot::Unknown);
    for (hand, act, expected) in HANDS {
        for one_process in [true, false] {
            let context = format!("{hand}, one process: {one_process}");
            let vault = TestVault::new();
            let store = vault.open();
            put(&store, "f.md", "first\n");
            put(&store, "f.md", TEXT);
            // Times of files are coarser than two calls in a row.
            std::thread::sleep(std::time::Duration::from_millis(12));
            act(&vault);
            let store = if one_process {
                store
            } else {
                std::mem::forget(store);
                vault.open()
            };
            put(&store, "other.md", "the agent writes on");
            assert_eq!(vault.text("main/f.md").as_deref(), *expected, "{context}");
            // And it stays so, whatever comes later.
            std::mem::forget(store);
            let store = vault.open();
            put(&store, "third.md", "and on");
            assert_eq!(vault.text("main/f.md").as_deref(), *expected, "{context}, later");
            sync(&store);
            vault.assert_agrees(&store, &context);
        }
    }
}

#[test]
fn without_an_identity_of_the_run_lost_writes_come_back() {
    let _machine = PretendedMachine::boot(PretendedBoot::Unknown);
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "torn.md", TEXT);
    put(&store, "folder/lost.md", TEXT);
    let place = vault.home().join("main/torn.md");
    let modified = std::fs::metadata(&place).unwrap().modified().unwrap();
    std::mem::forget(store);
    // A power cut leaves the time that the program had set.
    let file = std::fs::File::options().write(true).open(&place).unwrap();
    file.set_len(7).unwrap();
    file.set_modified(modified).unwrap();
    std::fs::remove_dir_all(vault.home().join("main/folder")).unwrap();
    let store = vault.open();
    put(&store, "next.md", "the next write");
    assert_eq!(vault.text("main/torn.md").as_deref(), Some(TEXT));
    assert_eq!(vault.text("main/folder/lost.md").as_deref(), Some(TEXT));
    // The content on disk is in the history.
    let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap();
    let torn = log.iter().find(|commit| commit.author.tool == "recover").unwrap();
    assert_eq!(torn.author.client, "memoranda");
    assert!(store.content(memoranda_store::hash(&TEXT.as_bytes()[..7])).is_ok());
    sync(&store);
    vault.assert_agrees(&store, "recovered");
}

#[test]
fn the_wreck_of_an_older_version_is_no_edit() {
    let (v2, v3) = ("second version ".repeat(40), "third version ".repeat(60));
    let wrecks = [&v2[..100], "", &"\0".repeat(64), &format!("{}{}", &v2[..50], "\0".repeat(9))];
    for wreck in wrecks {
        for last in [Some(v3.as_str()), None] {
            let context = format!("{wreck:?} {}", last.is_some());
            let vault = TestVault::new();
            let store = vault.open();
            put(&store, "note.md", "first\n");
            store.flush().unwrap();
            put(&store, "note.md", &v2);
            match last {
                Some(text) => drop(put(&store, "note.md", text)),
                None => drop(remove(&store, "note.md")),
            }
            let time =
                store.snapshot().unwrap().history(&HistoryFilter::default(), 1, 0).unwrap()[0].time;
            std::mem::forget(store);
            vault.write_by_hand("main/note.md", wreck);
            vault.restart_machine();
            let store = vault.open();
            sync(&store);
            assert_eq!(vault.text("main/note.md").as_deref(), last, "{context}");
            if last.is_some() {
                let updated = store
                    .snapshot()
                    .unwrap()
                    .file(&crate::support::main_project(), &path("note.md"));
                assert_eq!(updated.unwrap().unwrap().updated, time, "{context}");
            }
            vault.assert_agrees(&store, &context);
        }
    }
}

#[test]
fn a_checkpoint_beyond_the_log_is_none() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", "first\n");
    store.flush().unwrap();
    let checkpoint = vault.segment().with_file_name("checkpoint");
    std::fs::write(&checkpoint, "1 116016\n").unwrap();
    put(&store, "note.md", TEXT);
    // Forcing files to disk heals it.
    let copy = vault.copy();
    store.flush().unwrap();
    let text = std::fs::read_to_string(&checkpoint).unwrap();
    assert_eq!(text.trim(), format!("1 {}", std::fs::metadata(vault.segment()).unwrap().len()));
    // And a restart before that replays.
    copy.write_by_hand("main/note.md", "");
    copy.restart_machine();
    put(&copy.open(), "next.md", "the next write");
    assert_eq!(copy.text("main/note.md").as_deref(), Some(TEXT));
}

/// Does one thing under a fault, in a process of its own; acknowledges that it succeeded.
pub(crate) fn act_under_a_fault(task: &Task) {
    let (deed, fault) = (task.arguments[0].as_str(), &task.arguments[1]);
    let store = Store::open(options(&task.folder)).unwrap();
    store.snapshot().unwrap().counts().unwrap();
    faults::arm(fault).unwrap();
    let elsewhere = task.folder.join("elsewhere");
    let done = match deed {
        "vacuum" => {
            let before = clock::now() + SignedDuration::from_secs(60);
            let what = VacuumExtent::DeletedAndVersions;
            store.vacuum(&VacuumRequest { project: None, before, what }).map(drop)
        }
        "import" => {
            let archive = std::fs::read(task.folder.join("archive.tar")).unwrap();
            store.import(&mut archive.as_slice()).map(drop)
        }
        "move" => store.move_project(&main_project(), &elsewhere, HardLinkPolicy::Refuse).map(drop),
        "add" => store.add_project(&main_project(), &elsewhere, HardLinkPolicy::Refuse).map(drop),
        other => panic!("no deed {other}"),
    };
    task.acknowledge(format!("{deed} {}", done.is_ok()));
    std::process::exit(0);
}

/// A vacuum whose files could not be forced leaves the checkpoint where it was.
#[test]
fn a_checkpoint_after_vacuum_names_only_what_was_forced() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "doomed.md", &"doomed ".repeat(1_000));
    remove(&store, "doomed.md");
    put(&store, "kept.md", "forced before the vacuum");
    store.flush().unwrap();
    put(&store, "note.md", TEXT);
    std::mem::forget(store);
    Task::new("fault", vault.folder(), &[&"vacuum", &"io:file-sync:1"]).run();
    assert_eq!(acknowledged(vault.folder()), ["vacuum false"]);
    vault.write_by_hand("main/note.md", "");
    vault.restart_machine();
    put(&vault.open(), "next.md", "the next write");
    assert_eq!(vault.text("main/note.md").as_deref(), Some(TEXT));
}

#[test]
fn an_import_is_acknowledged_only_when_its_files_are_on_disk() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", TEXT);
    let mut archive = Vec::new();
    store.export(&mut archive).unwrap();
    for (fault, expected) in [("io:file-sync:1", "import false"), ("abort:swap:99", "import true")]
    {
        let target = TestVault::new();
        std::fs::write(target.folder().join("archive.tar"), &archive).unwrap();
        Task::new("fault", target.folder(), &[&"import", &fault]).run();
        assert_eq!(acknowledged(target.folder()), [expected]);
    }
}

#[test]
fn a_folder_that_cannot_be_opened_hides_and_removes_nothing() {
    for deed in ["move", "add"] {
        for n in 1..6 {
            let vault = TestVault::new();
            let store = vault.open();
            for name in ["a.md", "b.md"] {
                put(&store, name, TEXT);
            }
            drop(store);
            std::fs::create_dir_all(vault.folder().join("elsewhere")).unwrap();
            let fault = format!("io:open-folder:{n}");
            Task::new("fault", vault.folder(), &[&deed, &fault]).run();
            let done = acknowledged(vault.folder());
            for name in ["a.md", "b.md"] {
                let moved = std::fs::read_to_string(vault.folder().join("elsewhere").join(name));
                let kept = vault.text(&format!("main/{name}"));
                let context = format!("{done:?} {fault}: {kept:?} {moved:?}");
                // Hidden files are as good as lost.
                let is_moved = deed == "move" && done == ["move true"];
                let found = if is_moved { moved.ok() } else { kept };
                assert_eq!(found.as_deref(), Some(TEXT), "{context}");
                assert_ne!(done, ["add true"], "{context}");
            }
        }
    }
}

#[test]
fn vacuum_moves_the_checkpoints_of_every_device() {
    let vault = TestVault::new();
    let host = vault.open_as("host");
    put(&host, "doomed.md", &"doomed ".repeat(10_000));
    remove(&host, "doomed.md");
    put(&host, "note.md", "first\n");
    host.flush().unwrap();
    put(&host, "early.md", "forced by the vacuum");
    let server = vault.open();
    sync(&server);
    purge_everything(&server);
    put(&host, "late.md", "written after the checkpoint");
    put(&host, "note.md", TEXT);
    let log = vault.home().join(".memoranda/log");
    let device = std::fs::read_to_string(vault.folder().join("state-host/device")).unwrap();
    let of_host = log.join(device.trim());
    let checkpoint = || {
        let text = std::fs::read_to_string(of_host.join("checkpoint")).unwrap();
        text.trim().rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let end = || std::fs::metadata(of_host.join("00000001.log")).unwrap().len();
    assert!(checkpoint() < end(), "{} {}", checkpoint(), end());
    std::mem::forget(host);
    vault.write_by_hand("main/note.md", "");
    vault.write_by_hand("main/late.md", "");
    vault.restart_machine();
    let host = vault.open_as("host");
    put(&host, "next.md", "the next write");
    assert_eq!(vault.text("main/note.md").as_deref(), Some(TEXT));
    assert_eq!(vault.text("main/late.md").as_deref(), Some("written after the checkpoint"));
    host.flush().unwrap();
    assert_eq!(checkpoint(), end());
}

#[test]
fn a_persons_file_with_a_name_like_ours_stays() {
    let vault = TestVault::new();
    let store = vault.open();
    let names = ["main/.memoranda-token", "main/sub/.memoranda-notes", "main/.memoranda-x-1"];
    for name in names {
        vault.write_by_hand(name, "mine");
    }
    let leftover = "main/.memoranda-0123456789ab-0";
    vault.write_by_hand(leftover, "of a dead process");
    sync(&store);
    for name in names {
        assert_eq!(vault.text(name).as_deref(), Some("mine"), "{name}");
    }
    assert_eq!(vault.text(leftover), None);
}

#[test]
fn an_archive_gives_other_programs_nothing_to_obey() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", TEXT);
    vault.write_by_hand("main/.git/config", "[core]\n\tfsmonitor = touch x\n");
    vault.write_by_hand("main/.envrc", "export X=1\n");
    let mut exported = Vec::new();
    assert_eq!(store.export(&mut exported).unwrap().left_out, 1);
    assert!(!exported.windows(9).any(|bytes| bytes == b"fsmonitor"));

    let mut builder = tar::Builder::new(Vec::new());
    for (name, text) in [("main/.git/config", "evil"), ("main/a.md", TEXT), ("main/.envrc", "x")] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        builder.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    let archive = builder.into_inner().unwrap();
    let target = TestVault::new();
    let report = target.open().import(&mut archive.as_slice()).unwrap();
    assert_eq!(
        (report.files, report.left_out, report.hidden),
        (2, vec!["main/.git/config".to_owned()], vec!["main/.envrc".to_owned()])
    );
    assert!(!target.home().join("main/.git").exists());
}

/// Holds the lock until the test ends, as a stopped process does.
#[test]
fn a_reader_does_not_wait_for_a_process_that_was_stopped() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", TEXT);
    sync(&store);
    let lock = std::fs::File::open(vault.home().join(".memoranda/lock")).unwrap();
    lock.lock().unwrap();
    // The log has grown since the index was read: it cannot be brought in step now.
    let segment = vault.segment();
    let mut log = std::fs::read(&segment).unwrap();
    log.extend_from_slice(&[0; 64]);
    std::fs::write(&segment, log).unwrap();
    assert_eq!(found(&store, "walrus"), ["main/note.md"]);
    drop(lock);
}

/// A vault that is set back to a backup and grows past its old length, seen by the old index.
#[test]
fn an_index_of_a_history_that_is_gone_is_rebuilt() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", "in the backup");
    drop(store);
    let backup = vault.copy();
    let store = vault.open();
    for n in 0..3 {
        put(&store, &format!("gone-{n}.md"), "written after the backup: walrus");
    }
    drop(store);
    let old_index = vault.folder().join("cache");
    let kept = vault.folder().join("kept-cache");
    std::fs::rename(&old_index, &kept).unwrap();
    std::fs::remove_dir_all(vault.home()).unwrap();
    crate::support::copy_folder(&backup.home(), &vault.home());
    let other = vault.open_as_same_device("other-cache");
    for n in 0..9 {
        put(&other, &format!("new-{n}.md"), "written after the restore: heron");
    }
    drop(other);
    std::fs::rename(&kept, &old_index).unwrap();
    let store = vault.open();
    put(&store, "last.md", "with the old index again");
    sync(&store);
    assert_eq!(
        store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap().len(),
        11
    );
    assert_eq!((found(&store, "walrus").len(), found(&store, "heron").len()), (0, 9));
    vault.assert_agrees(&store, "set back");
}

#[test]
fn a_lost_lock_table_takes_back_no_edit_by_hand() {
    for (hand, act, expected) in HANDS {
        let vault = TestVault::new();
        let store = vault.open();
        put(&store, "f.md", "first\n");
        put(&store, "f.md", TEXT);
        std::mem::forget(store);
        std::thread::sleep(std::time::Duration::from_millis(12));
        act(&vault);
        std::fs::write(vault.home().join(".memoranda/lock"), "").unwrap();
        put(&vault.open(), "other.md", "the agent writes on");
        assert_eq!(vault.text("main/f.md").as_deref(), *expected, "{hand}");
    }
}

/// Remains of a file after a power cut that the checkpoint declares forced.
type Loss = (&'static str, Option<&'static str>, LostState);

const LOSSES: &[Loss] = &[
    ("gone", None, LostState::Gone),
    ("empty", Some(""), LostState::Empty),
    ("cut", Some("# Plan\n\nwhat the agen"), LostState::Cut),
    ("older", Some("first\n"), LostState::Older),
];

/// The checkpoint claims more than was forced, so that no recovery brings the version back. The scan
/// then takes the loss for an edit, and only the check can say so.
#[test]
fn a_check_lists_what_was_acknowledged_and_is_lost() {
    for (name, left, state) in LOSSES {
        for is_restarted in [true, false] {
            let context = format!("{name}, restarted: {is_restarted}");
            let vault = TestVault::new();
            let store = vault.open();
            put(&store, "note.md", "first\n");
            put(&store, "note.md", TEXT);
            put(&store, "edited.md", TEXT);
            store.flush().unwrap();
            drop(store);
            let place = vault.home().join("main/note.md");
            match left {
                None => std::fs::remove_file(&place).unwrap(),
                Some(text) => std::fs::write(&place, text).unwrap(),
            }
            vault.write_by_hand("main/edited.md", "an edit by hand");
            if is_restarted {
                vault.restart_machine();
            }
            let store = vault.open();
            sync(&store);
            let report = store.check(&vault.scratch()).unwrap();
            if !is_restarted {
                // Nothing was lost between: a person did it.
                assert_eq!(report.lost, [], "{context}");
                continue;
            }
            assert_eq!(report.lost.len(), 1, "{context}: {report:?}");
            let lost = &report.lost[0];
            assert_eq!((lost.path.as_str(), lost.state), ("note.md", *state), "{context}");
            assert_eq!(lost.version, memoranda_store::hash(TEXT.as_bytes()), "{context}");
            assert!(report.agrees() && !report.is_ok(), "{context}");
            // A later write settles it.
            put(&store, "note.md", "another text");
            assert!(store.check(&vault.scratch()).unwrap().is_ok(), "{context}");
            // And later edits by hand are edits again.
            std::fs::remove_file(&place).unwrap();
            sync(&store);
            assert!(store.check(&vault.scratch()).unwrap().is_ok(), "{context}");
        }
    }
}

/// If files can only be linked and unlinked, a process that dies in between leaves two names:
/// the old one of a moved file, or a temporary one.
#[cfg(unix)]
#[test]
fn a_rename_that_ended_half_way_leaves_one_name() {
    use std::os::unix::fs::MetadataExt as _;
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "Plan.md", TEXT);
    let table = vault.lock_table();
    move_note(&store, "Plan.md", "Archive.md");
    put(&store, "new.md", TEXT);
    std::mem::forget(store);
    let file = |name: &str| vault.home().join("main").join(name);
    std::fs::hard_link(file("Archive.md"), file("Plan.md")).unwrap();
    std::fs::hard_link(file("new.md"), file(".memoranda-replay-77")).unwrap();
    std::fs::write(vault.home().join(".memoranda/lock"), table).unwrap();
    let store = vault.open();
    sync(&store);
    assert_holds(&vault, &[("Archive.md", TEXT)], "after the move");
    for name in ["Archive.md", "new.md"] {
        assert_eq!(std::fs::metadata(file(name)).unwrap().nlink(), 1, "{name}");
        let read = store.read(&main_project(), &path(name)).unwrap().unwrap();
        assert_eq!(read.bytes, TEXT.as_bytes(), "{name}");
    }
    vault.assert_agrees(&store, "after both");
    // No record names a copy that has a temporary name as well: the scan finds it.
    std::fs::hard_link(file("new.md"), file(".memoranda-0123456789abcdef")).unwrap();
    sync(&store);
    assert_eq!(std::fs::metadata(file("new.md")).unwrap().nlink(), 1);
    assert_eq!(found(&store, "walrus").len(), 2);
}

/// A second index of the device has read a log that a `vacuum` rewrites from its first record on, so that
/// the last commit that it knows still begins where it did.
#[test]
fn an_index_forgets_the_names_that_a_vacuum_elsewhere_purged() {
    for later in 0..3 {
        let vault = TestVault::new();
        let store = vault.open();
        put(&store, "My bank PIN is 4711.md", "");
        let other = vault.open_as_same_device("other-cache");
        sync(&other);
        assert_eq!(paths_in_history(&other), ["My bank PIN is 4711.md"]);
        drop(other);
        remove(&store, "My bank PIN is 4711.md");
        purge_everything(&store);
        for n in 0..later {
            put(&store, &format!("later-{n}.md"), "something else");
        }
        let other = vault.open_as_same_device("other-cache");
        sync(&other);
        let names = paths_in_history(&other);
        assert!(names.iter().all(|name| !name.contains("4711")), "{later}: {names:?}");
        vault.assert_agrees(&other, "the other index");
    }
}

fn paths_in_history(store: &Store) -> Vec<String> {
    let commits = store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap();
    commits.iter().flat_map(|commit| &commit.files).map(|file| file.path.to_string()).collect()
}

/// A process died right after an exchange that displaced a save. Whatever has the name by now is later,
/// and after a power cut the change may have been acknowledged: neither is replaced, and the displaced
/// text is in the history.
#[test]
fn a_displaced_save_replaces_nothing_later() {
    for (later, is_power_cut) in [(Some("a later save"), false), (None, true)] {
        let vault = TestVault::new();
        let store = vault.open();
        put(&store, "Plan.md", "first\n");
        let table = vault.lock_table();
        let commit = put(&store, "Plan.md", TEXT);
        std::mem::forget(store);
        let displaced = "saved at the last moment";
        vault.write_by_hand(&format!("main/.memoranda-{}-0", commit.id), displaced);
        if let Some(text) = later {
            vault.write_by_hand("main/Plan.md", text);
        }
        std::fs::write(vault.home().join(".memoranda/lock"), table).unwrap();
        if is_power_cut {
            vault.restart_machine();
        }
        let store = vault.open();
        sync(&store);
        assert_eq!(vault.text("main/Plan.md").as_deref(), Some(later.unwrap_or(TEXT)));
        let kept = store.content(memoranda_store::hash(displaced.as_bytes())).unwrap();
        assert_eq!(kept, displaced.as_bytes(), "power cut: {is_power_cut}");
        vault.assert_agrees(&store, "after recovery");
    }
}

/// A tool deletes a note, a person makes another one there and deletes it by hand, and a power cut brings
/// the first one back: it is older than what was acknowledged.
#[test]
fn a_note_that_was_deleted_twice_does_not_come_back() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "Plan.md", TEXT);
    store.flush().unwrap();
    remove(&store, "Plan.md");
    vault.write_by_hand("main/Plan.md", "by hand");
    sync(&store);
    std::fs::remove_file(vault.home().join("main/Plan.md")).unwrap();
    sync(&store);
    std::mem::forget(store);
    vault.write_by_hand("main/Plan.md", TEXT);
    vault.restart_machine();
    let store = vault.open();
    sync(&store);
    assert_eq!(vault.text("main/Plan.md"), None);
    vault.assert_agrees(&store, "after the power cut");
}
