//! Promise 1 on a bad disk: an error says so, nothing has changed, and the next write works.
//! Promise 5: what cannot be read is not taken for deleted.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_store::faults::{self, Step};
use memoranda_store::{CommitOutcome, HistoryFilter, Store, StoreError};

use crate::child::{Task, acknowledged};
use crate::model::Files;
use crate::support::{
    TestVault, change, found, main_project, operation, options, path, put, sync, who, write_steps,
};

/// The steps up to which a failure means that nothing was done.
const FAILING: [Step; 9] = [
    Step::LockWrite,
    Step::TempWrite,
    Step::LogAppend,
    Step::LogTorn,
    Step::LogSync,
    Step::LogSynced,
    Step::Swap,
    Step::OpenFolder,
    Step::Exchange,
];

fn three_files(text: &str) -> memoranda_core::change::ChangeSet {
    let put =
        |place: &str| operation(place, ExpectedContent::Anything, FileAction::Put(text.into()));
    let moved = FileAction::MoveFrom { from: path("m.md"), content: text.into() };
    change(vec![
        put("a.md"),
        put("made/for/new.md"),
        operation("b.md", ExpectedContent::Anything, FileAction::Remove),
        operation("moved.md", ExpectedContent::Anything, moved),
    ])
}

/// A file system that cannot exchange two files, and then fails.
pub(crate) fn fail_plainly(task: &Task) {
    for occurrence in 1..=5 {
        let fault = format!("plain:swap:1,io:swap:{occurrence}");
        check_fault(&task.folder, &fault, Step::Swap, false);
    }
}

#[test]
fn all_or_nothing_also_where_files_can_only_be_replaced() {
    let vault = TestVault::new();
    Task::new("fail-plainly", vault.folder(), &[]).run();
}

/// Every failure at every step, in one process: faults are the process's own.
pub(crate) fn fail_everywhere(task: &Task) {
    let kind = &task.arguments[0];
    for first_ever in [true, false] {
        for step in write_steps() {
            // A change of four files writes three temporary files and exchanges five names.
            let times = match step {
                Step::TempWrite => 3,
                Step::Swap => 5,
                _ => 1,
            };
            for occurrence in 1..=times {
                let fault = format!("{kind}:{}:{occurrence}", step.name());
                check_fault(&task.folder, &fault, step, first_ever);
            }
        }
    }
}

fn check_fault(folder: &Path, fault: &str, step: Step, first_ever: bool) {
    let context = format!("{fault}, first ever: {first_ever}");
    std::fs::remove_dir_all(folder.join("home")).ok();
    let main = folder.join("home/main");
    std::fs::create_dir_all(&main).unwrap();
    for (name, text) in [("a.md", "old a"), ("b.md", "old b"), ("m.md", "old m")] {
        std::fs::write(main.join(name), text).unwrap();
    }
    let store = Store::open(options(folder)).unwrap();
    if !first_ever {
        sync(&store);
    }
    let reader = Store::open(options(folder)).unwrap();
    assert_eq!(found(&reader, "flamingo"), [""; 0], "{context}");
    let before = Files::on_disk(&main);
    let commits = store.snapshot().unwrap().counts().unwrap().commits;
    let log = store.log_size().unwrap();

    faults::arm(fault).unwrap();
    let wanted = three_files("the new text: flamingo\n");
    let outcome = store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone()));
    faults::arm("").unwrap();
    match outcome {
        Ok(CommitOutcome::Committed(_)) => {
            assert_eq!(Files::on_disk(&main), before.after(&wanted), "{context}");
            // An acknowledged write is found by every process, even if the index update failed.
            assert!(first_ever || found(&reader, "flamingo").len() == 3, "{context}");
        }
        Ok(other) => panic!("{context}: {other:?}"),
        Err(e) => {
            assert!(FAILING.contains(&step), "{context}: {e}");
            let sentence = e.to_string();
            if fault.starts_with("full") {
                assert!(e.is_disk_full(), "{context}: {sentence}");
                assert!(sentence.ends_with("the disk is full; nothing was changed"));
            } else {
                assert!(sentence.starts_with("cannot "), "{context}: {sentence}")
            }
            assert_eq!(Files::on_disk(&main), before, "{context}");
            assert!(!main.join("made").exists(), "{context}: a folder was left");
            assert_eq!(store.snapshot().unwrap().counts().unwrap().commits, commits, "{context}");
            let header = if log == 0 { 16 } else { 0 };
            assert!(store.log_size().unwrap() <= log + header, "{context}");
        }
    }
    // Another process agrees that nothing, or everything, was done.
    let other = Store::open(options(folder)).unwrap();
    let now = Files::on_disk(&main);
    assert!(now == before || now == before.after(&wanted), "{context}: {now:?}");
    put(&other, "next.md", "the next write: xylophone");
    assert_eq!(found(&store, "xylophone"), ["main/next.md"], "{context}");
    assert_eq!(Files::on_disk(&main).0.len(), now.0.len() + 1, "{context}");
    let commit = store.transact(&who("test"), |_| Ok::<_, StoreError>(three_files("another text")));
    if now == before {
        assert!(matches!(commit, Ok(CommitOutcome::Committed(_))), "{context}: {commit:?}")
    } else {
        assert!(matches!(commit, Ok(CommitOutcome::Conflict(_))), "{context}: {commit:?}")
    }
    sync(&store);
    drop(other);
    let scratch = folder.join("scratch");
    std::fs::remove_dir_all(&scratch).ok();
    let report = store.check(&scratch).unwrap();
    assert!(report.agrees(), "{context}: {report:?}");
    drop(store);
    std::fs::remove_dir_all(folder.join("cache")).unwrap();
}

/// Moves, changes and removes more files, in more folders, than may be open at once.
pub(crate) fn move_a_crowd(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    sync(&store);
    let names = |top: &str| (0..200).map(|n| format!("{top}/{}/{n}.md", n / 2)).collect::<Vec<_>>();
    let moves = names("new").into_iter().zip(names("old")).map(|(to, from)| {
        let content = if from.ends_with("7.md") { b"changed".to_vec() } else { b"kept".to_vec() };
        let action = FileAction::MoveFrom { from: path(&from), content };
        operation(&to, ExpectedContent::Anything, action)
    });
    let moved = change(moves.collect());
    let removed = names("new");
    let removed =
        removed.iter().map(|at| operation(at, ExpectedContent::Anything, FileAction::Remove));
    for wanted in [moved, change(removed.collect())] {
        let outcome =
            store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone())).unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
    }
}

#[test]
fn a_change_is_not_bounded_by_how_many_files_may_be_open() {
    let vault = TestVault::new();
    for n in 0..200 {
        vault.write_by_hand(&format!("main/old/{}/{n}.md", n / 2), "kept");
    }
    Task::new("crowd", vault.folder(), &[]).run_after("ulimit -n 64");
    assert_eq!(Files::on_disk(&vault.home().join("main")).0.len(), 0);
}

#[test]
fn a_full_disk_changes_nothing() {
    let vault = TestVault::new();
    Task::new("fail", vault.folder(), &[&"full"]).run();
}

#[test]
fn a_failing_disk_changes_nothing() {
    let vault = TestVault::new();
    Task::new("fail", vault.folder(), &[&"io"]).run();
}

/// A file system of its own, if this user may mount one.
pub(crate) struct Mount(std::path::PathBuf);

impl Mount {
    pub(crate) fn tmpfs(at: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let size = format!("size={size}");
        let mounted = run("mount", &["-t", "tmpfs", "-o", &size, "memoranda-test"], at);
        if !mounted {
            println!("skipped: this user may not mount a file system");
        }
        mounted.then(|| Self(at.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        run("umount", &["-l"], &self.0);
    }
}

fn run(program: &str, arguments: &[&str], place: &Path) -> bool {
    let output = Command::new(program).args(arguments).arg(place).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn a_really_full_disk_loses_nothing() {
    let vault = TestVault::new();
    let Some(_mount) = Mount::tmpfs(&vault.home(), "1m") else { return };
    let store = vault.open();
    put(&store, "kept.md", "kept: ocelot");
    let mut written = 1;
    let error = loop {
        // Bytes that do not compress, so that log and files both grow.
        let text: String = blake_like(written);
        let content = FileAction::Put(text.into_bytes());
        let place = format!("n{written}.md");
        let wanted = change(vec![
            operation(&place, ExpectedContent::Absent, content),
            operation(
                "kept.md",
                ExpectedContent::Anything,
                FileAction::Put(format!("kept: ocelot {written}").into()),
            ),
        ]);
        match store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone())) {
            Ok(_) => written += 1,
            Err(e) => break e,
        }
        assert!(written < 1000, "the disk never filled");
    };
    assert!(error.is_disk_full(), "{error}");
    let files = Files::on_disk(&vault.home().join("main"));
    assert_eq!(files.0.len(), written, "{files:?}");
    assert_eq!(files.0["kept.md"], format!("kept: ocelot {}", written - 1).into_bytes());
    assert_eq!(store.snapshot().unwrap().counts().unwrap().commits, written as u64);
    assert_eq!(found(&store, "ocelot"), ["main/kept.md"]);
    // Room again: a person deletes something.
    for n in 1..4 {
        std::fs::remove_file(vault.home().join(format!("main/n{n}.md"))).unwrap();
    }
    put(&store, "next.md", "there is room again: quokka");
    assert_eq!(found(&store, "quokka"), ["main/next.md"]);
    sync(&store);
    vault.assert_agrees(&store, "after a full disk");
}

fn blake_like(seed: usize) -> String {
    let mut random = crate::support::Random::new(seed as u64 + 1);
    (0..20_000).map(|_| char::from(b' ' + random.below(90) as u8)).collect()
}

#[test]
fn a_read_only_disk_is_still_read() {
    let vault = TestVault::new();
    let Some(_mount) = Mount::tmpfs(&vault.home(), "4m") else { return };
    let store = vault.open();
    put(&store, "note.md", "written before: narwhal");
    if !run("mount", &["-o", "remount,ro"], &vault.home()) {
        println!("skipped: this file system cannot be made read-only");
        return;
    }
    assert_eq!(found(&store, "narwhal"), ["main/note.md"]);
    assert!(store.read(&main_project(), &path("note.md")).unwrap().is_some());
    let wanted =
        change(vec![operation("x.md", ExpectedContent::Anything, FileAction::Put(b"no".to_vec()))]);
    let error = store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone())).unwrap_err();
    assert!(error.to_string().ends_with("the file system is read-only"), "{error}");
    assert!(run("mount", &["-o", "remount,rw"], &vault.home()));
    put(&store, "x.md", "now it can be written: tapir");
    assert_eq!(found(&store, "tapir"), ["main/x.md"]);
    assert_eq!(
        store.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap().len(),
        2
    );
}

#[test]
fn what_cannot_be_read_stays_known() {
    let vault = TestVault::new();
    std::fs::set_permissions(vault.folder(), std::fs::Permissions::from_mode(0o777)).unwrap();
    // The superuser reads everything, so somebody else does this.
    let task = Task::new("locked", vault.folder(), &[]);
    if !task.run_as_nobody() {
        println!("skipped: no process can be started as another user here");
    }
}

/// Permission errors, as an unprivileged user.
pub(crate) fn meet_locked_folders(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    put(&store, "folder/deep/note.md", "in a folder: kestrel");
    put(&store, "file.md", "by itself: osprey");
    sync(&store);
    let mode = |place: &str, mode: u32| {
        let place = task.folder.join("home/main").join(place);
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for place in ["folder", "folder/deep", "file.md"] {
        mode(place, 0o000);
        // A file is read again only if it seems changed, which its new mode does.
        let report = sync(&store);
        assert_eq!(report.removed, 0, "{place}: {report:?}");
        assert_eq!(report.unreadable.len(), 1, "{place}: {report:?}");
        assert_eq!(found(&store, "kestrel"), ["main/folder/deep/note.md"], "{place}");
        assert_eq!(found(&store, "osprey"), ["main/file.md"], "{place}");
        // A check compares what can be read.
        let scratch = tempfile::TempDir::new_in(&task.folder).unwrap();
        let check = store.check(scratch.path()).unwrap();
        assert!(check.agrees(), "{place}: {check:?}");
        // An index that is made meanwhile knows as much.
        store.reindex(&mut |_| {}).unwrap();
        assert_eq!(found(&store, "kestrel"), ["main/folder/deep/note.md"], "{place}");
        assert_eq!(found(&store, "osprey"), ["main/file.md"], "{place}");
        mode(place, 0o755);
        assert_eq!(sync(&store).unreadable, [], "{place}");
    }
    mode("folder", 0o555);
    let wanted =
        change(vec![operation("folder/x.md", ExpectedContent::Anything, FileAction::Put(vec![1]))]);
    let error = store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone())).unwrap_err();
    assert!(error.to_string().ends_with("permission denied"), "{error}");
    mode("folder", 0o755);
    put(&store, "folder/x.md", "now it works");
    assert_eq!(
        store.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap().len(),
        3
    );
}

/// Reads with a disk on which nothing can be written, in a process of its own.
pub(crate) fn read_without_writing(task: &Task) {
    faults::arm(&task.arguments[0]).unwrap();
    let store = Store::open(options(&task.folder)).unwrap();
    let found = found(&store, "walrus");
    let error = store.transact(&who("test"), |_| Ok::<_, StoreError>(three_files("text")));
    task.acknowledge(format!("{found:?} {}", error.is_err()));
    std::process::exit(0);
}

#[test]
fn reading_needs_no_room() {
    for kind in ["readonly", "full"] {
        let vault = TestVault::new();
        let store = vault.open();
        put(&store, "note.md", "the walrus");
        sync(&store);
        drop(store);
        // The table is lost, so that the next holder of the lock wants to write it.
        std::fs::write(vault.home().join(".memoranda/lock"), "").unwrap();
        let mut log = std::fs::read(vault.segment()).unwrap();
        log.extend_from_slice(&[0; 64]);
        std::fs::write(vault.segment(), log).unwrap();
        let steps = ["lock-write", "log-append", "temp-write", "checkpoint", "open-lock"];
        let steps = if kind == "full" { &steps[..4] } else { &steps };
        let all: Vec<String> = steps.iter().map(|step| format!("{kind}:{step}:0")).collect();
        Task::new("read-only", vault.folder(), &[&all.join(",")]).run();
        assert_eq!(acknowledged(vault.folder()), ["[\"main/note.md\"] true"], "{kind}");
    }
}

/// Writes to a project on another drive while that drive fails to force anything.
pub(crate) fn write_to_a_stick(task: &Task) {
    let stick = std::path::PathBuf::from(&task.arguments[0]);
    let store = Store::open(options(&task.folder)).unwrap();
    let name = memoranda_core::id::ProjectName::parse("stick").unwrap();
    store.add_project(&name, &stick, memoranda_store::HardLinkPolicy::Refuse).unwrap();
    sync(&store);
    for (project, succeeds) in [(&main_project(), true), (&name, false)] {
        faults::arm("io:file-sync:1").unwrap();
        let mut wanted = change(vec![operation(
            "old.md",
            ExpectedContent::Anything,
            FileAction::Put(b"new text".to_vec()),
        )]);
        wanted.operations[0].project = project.clone();
        let outcome = store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone()));
        faults::arm("").unwrap();
        assert_eq!(outcome.is_ok(), succeeds, "{project}: {outcome:?}");
    }
    task.acknowledge("done".to_owned());
    std::process::exit(0);
}

/// The files of a project on a drive of its own are on that drive before a write is acknowledged.
#[test]
fn files_on_another_drive_are_forced_before_the_answer() {
    use std::os::unix::fs::MetadataExt as _;
    let vault = TestVault::new();
    let stick = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::write(stick.path().join("old.md"), "what the person had before").unwrap();
    let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
    if device(stick.path()) == device(vault.folder()) {
        return;
    }
    Task::new("stick", vault.folder(), &[&stick.path().display().to_string()]).run();
    assert_eq!(acknowledged(vault.folder()), ["done"]);
    let kept = std::fs::read_to_string(stick.path().join("old.md")).unwrap();
    assert_eq!(kept, "what the person had before");
    assert_eq!(std::fs::read_dir(stick.path()).unwrap().count(), 1);
}
