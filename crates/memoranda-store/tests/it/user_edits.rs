//! Promises 4, 5 and 8, as people meet them: what they ignore, move, unmount and edit.

use std::fs::File;
use std::time::{Duration, SystemTime};

use memoranda_core::id::ProjectName;
use memoranda_store::{HardLinkPolicy, HistoryFilter, Store};

use crate::child::{Task, acknowledged};
use crate::support::{
    TestVault, eventually, found, main_project, options, path, put, remove, sync,
};

#[test]
fn what_people_ignore_is_not_searched() {
    let vault = TestVault::new();
    let store = vault.open();
    for place in [
        "a.md",
        "build/out.md",
        "keep/drafts/x.md",
        "keep/drafts/y.md",
        "keep/z.log",
        "z.log",
        ".obsidian/app.md",
        "keep/.hidden.md",
        "deep/er/private/p.md",
        "deep/private/q.md",
    ] {
        vault.write_by_hand(&format!("main/{place}"), "linnet");
    }
    vault.write_by_hand("main/.gitignore", "build/\n*.log\n[bad\n");
    vault.write_by_hand("main/.memorandaignore", "deep/**/private/\n");
    vault.write_by_hand("main/keep/.gitignore", "drafts/*\n!drafts/y.md\n!z.log\n");
    sync(&store);
    let mut seen = found(&store, "linnet");
    seen.sort();
    assert_eq!(seen, ["main/a.md", "main/keep/drafts/y.md", "main/keep/z.log"]);
    vault.assert_agrees(&store, "ignored");

    // A note that becomes ignored leaves the search and nothing else.
    let commits = store.snapshot().unwrap().counts().unwrap().commits;
    vault.write_by_hand("main/.memorandaignore", "deep/\na.md\n");
    assert_eq!(sync(&store).removed, 0);
    assert!(!found(&store, "linnet").contains(&"main/a.md".to_owned()));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("linnet"));
    assert_eq!(store.snapshot().unwrap().counts().unwrap().commits, commits);
    vault.assert_agrees(&store, "newly ignored");
    std::fs::remove_file(vault.home().join("main/.memorandaignore")).unwrap();
    sync(&store);
    assert!(found(&store, "linnet").contains(&"main/a.md".to_owned()));
    vault.assert_agrees(&store, "no longer ignored");
}

#[test]
fn a_write_to_an_ignored_place_is_kept_and_not_searched() {
    let vault = TestVault::new();
    let store = vault.open();
    vault.write_by_hand("main/.gitignore", "drafts/\n");
    put(&store, "drafts/x.md", "siskin");
    put(&store, ".hidden/y.md", "siskin");
    assert_eq!(vault.text("main/drafts/x.md").as_deref(), Some("siskin"));
    assert_eq!(found(&store, "siskin"), [""; 0]);
    vault.assert_agrees(&store, "a write to an ignored place");
    sync(&store);
    vault.assert_agrees(&store, "and looked at");
    std::fs::remove_file(vault.home().join("main/.gitignore")).unwrap();
    sync(&store);
    assert_eq!(found(&store, "siskin"), ["main/drafts/x.md"]);
}

#[test]
fn what_new_rules_let_in_or_leave_out_is_known_at_once() {
    let vault = TestVault::new();
    let store = vault.open();
    let other = vault.open();
    put(&store, "birds.log", "ignored for a while: dunnock");
    put(&store, "sub/birds.log", "ignored for a while: dunnock");
    let all = ["main/birds.log", "main/sub/birds.log"];
    let check = |expected: &[&str], context: &str| {
        for store in [&other, &store] {
            let mut found = found(store, "dunnock");
            found.sort();
            assert_eq!(found, expected, "{context}");
        }
    };
    put(&store, ".gitignore", "*.log\n");
    check(&[], "rules");
    remove(&store, ".gitignore");
    check(&all, "no rules");
    put(&store, "sub/.memorandaignore", "*.log\n");
    check(&all[..1], "rules below");
    put(&store, "sub/.memorandaignore", "*.txt\n");
    check(&all, "other rules below");
    vault.assert_agrees(&store, "rules");
}

#[test]
fn moves_by_hand_are_recognised() {
    let vault = TestVault::new();
    let store = vault.open();
    let created = put(&store, "one/a.md", "a note that moves: crossbill");
    put(&store, "one/b.md", "another that moves");
    sync(&store);
    let home = vault.home();
    std::fs::rename(home.join("main/one"), home.join("main/two")).unwrap();
    let report = sync(&store);
    assert_eq!((report.moved, report.added, report.removed), (2, 0, 0), "{report:?}");
    let moved =
        store.snapshot().unwrap().file(&main_project(), &path("two/a.md")).unwrap().unwrap();
    assert_eq!(moved.permalink, "one/a");
    assert!(moved.created <= created.time);
    vault.assert_agrees(&store, "moved by hand");
    remove(&store, "two/a.md");
    vault.assert_agrees(&store, "moved and removed");
}

#[test]
fn an_old_file_keeps_its_age_when_it_is_edited_and_moved() {
    let vault = TestVault::new();
    let store = vault.open();
    let home = vault.home();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_557_014_400);
    for name in ["hand.md", "tool.md"] {
        vault.write_by_hand(&format!("main/{name}"), "written in 2019: whinchat\n");
        let file = File::options().write(true).open(home.join("main").join(name)).unwrap();
        file.set_modified(then).unwrap();
    }
    sync(&store);
    let created = |store: &Store, name: &str| {
        let file = store.snapshot().unwrap().file(&main_project(), &path(name)).unwrap().unwrap();
        file.created.as_second()
    };
    vault.write_by_hand("main/hand.md", "edited by hand: stonechat\n");
    sync(&store);
    put(&store, "tool.md", "edited by a tool: wheatear\n");
    assert_eq!(created(&store, "hand.md"), 1_557_014_400, "edited by hand");
    assert_eq!(created(&store, "tool.md"), 1_557_014_400, "edited by a tool");
    std::fs::rename(home.join("main/hand.md"), home.join("main/moved.md")).unwrap();
    sync(&store);
    assert_eq!(created(&store, "moved.md"), 1_557_014_400, "moved by hand");
    // An index that is made from files and log says the same.
    vault.assert_agrees(&store, "old files");
}

#[test]
fn a_folder_that_is_away_is_not_empty() {
    let vault = TestVault::new();
    let store = vault.open();
    let drive = vault.folder().join("drive");
    std::fs::create_dir(&drive).unwrap();
    std::fs::write(drive.join("note.md"), "on the drive: siskin").unwrap();
    let work = ProjectName::parse("work").unwrap();
    store.add_project(&work, &drive, HardLinkPolicy::Refuse).unwrap();
    put(&store, "main.md", "in the vault");
    sync(&store);
    let commits = store.snapshot().unwrap().counts().unwrap().commits;
    let away = vault.folder().join("away");
    std::fs::rename(&drive, &away).unwrap();
    for _ in 0..2 {
        let report = sync(&store);
        assert_eq!((report.removed, report.unavailable.len()), (0, 1), "{report:?}");
        assert!(!report.unavailable[0].1.contains("os error"), "{report:?}");
        assert_eq!(found(&store, "siskin"), ["work/note.md"]);
        // The mount point without its drive is an empty folder.
        std::fs::create_dir_all(&drive).unwrap();
    }
    // A rebuilt index contains everything that a later scan needs.
    store.reindex(&mut |_| {}).unwrap();
    assert_eq!(store.snapshot().unwrap().counts().unwrap().commits, commits);
    std::fs::remove_dir(&drive).unwrap();
    std::fs::rename(&away, &drive).unwrap();
    let report = sync(&store);
    assert_eq!((report.removed, report.unavailable.len()), (0, 0), "{report:?}");
    assert_eq!(found(&store, "siskin"), ["work/note.md"]);
    assert_eq!(store.snapshot().unwrap().counts().unwrap().commits, commits);
    vault.assert_agrees(&store, "mounted again");
}

#[test]
fn a_folder_of_the_vault_that_was_replaced_is_not_empty() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", "in the vault: twite");
    sync(&store);
    let (main, away) = (vault.home().join("main"), vault.folder().join("away"));
    std::fs::rename(&main, &away).unwrap();
    std::fs::create_dir(&main).unwrap();
    let report = sync(&store);
    assert_eq!((report.removed, report.unavailable.len()), (0, 1), "{report:?}");
    std::fs::remove_dir(&main).unwrap();
    std::fs::rename(&away, &main).unwrap();
    assert_eq!(sync(&store).unavailable, []);
    assert_eq!(found(&store, "twite"), ["main/note.md"]);
}

#[test]
fn the_last_note_can_be_deleted_by_hand() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "only.md", "the only one: redpoll");
    std::fs::remove_file(vault.home().join("main/only.md")).unwrap();
    assert_eq!(sync(&store).removed, 1);
    assert_eq!(found(&store, "redpoll"), [""; 0]);
    vault.assert_agrees(&store, "empty");
}

#[test]
fn a_file_that_became_something_else_is_no_longer_found() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "linked.md", "became a link: brambling");
    put(&store, "folder.md", "became a folder: brambling");
    sync(&store);
    for name in ["linked.md", "folder.md"] {
        std::fs::remove_file(vault.home().join("main").join(name)).unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", vault.home().join("main/linked.md")).unwrap();
    vault.write_by_hand("main/folder.md/inner.md", "in the folder");
    sync(&store);
    assert_eq!(found(&store, "brambling"), [""; 0]);
    vault.assert_agrees(&store, "something else");
}

#[test]
fn a_project_can_be_removed_and_added_again() {
    let vault = TestVault::new();
    let store = vault.open();
    let folder = vault.folder().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.md"), "elsewhere: hawfinch").unwrap();
    let work = ProjectName::parse("work").unwrap();
    store.add_project(&work, &folder, HardLinkPolicy::Refuse).unwrap();
    sync(&store);
    store.remove_project("work").unwrap();
    assert_eq!(found(&store, "hawfinch"), [""; 0]);
    assert!(folder.join("a.md").exists());
    vault.assert_agrees(&store, "removed");
    vault.restart_machine();
    put(&vault.open(), "x.md", "another start");
    assert!(!vault.home().join("work").exists(), "a removed project came back into the vault");
    store.add_project(&work, &folder, HardLinkPolicy::Refuse).unwrap();
    let report = sync(&store);
    assert_eq!((report.added, report.indexed), (0, 1), "{report:?}");
    assert_eq!(found(&store, "hawfinch"), ["work/a.md"]);
    vault.assert_agrees(&store, "added again");
}

#[test]
fn facts_that_people_reword_get_new_versions() {
    let vault = TestVault::new();
    let store = vault.open();
    let fact = |text: &str| {
        format!("# Tap\n\n- [part] {text} <!-- obs_01J9Z v1 2026-01-20T15:30:00Z -->\n")
    };
    put(&store, "tap.md", &fact("cartridge 1"));
    let version = |store: &Store, place: &str| {
        let file = store.snapshot().unwrap().file(&main_project(), &path(place)).unwrap().unwrap();
        let facts = store.snapshot().unwrap().observations(file.id).unwrap();
        (facts[0].version, facts[0].text.clone())
    };
    assert_eq!(version(&store, "tap.md"), (1, "cartridge 1".into()));
    for n in 2..5 {
        let text = format!("cartridge {n}");
        vault.write_by_hand("main/tap.md", fact(&text));
        sync(&store);
        assert_eq!(version(&store, "tap.md"), (n, text.clone()));
        assert_eq!(vault.text("main/tap.md"), Some(fact(&text)), "the file is the person's");
    }
    store.reindex(&mut |_| {}).unwrap();
    assert_eq!(version(&store, "tap.md"), (4, "cartridge 4".into()));
    std::fs::rename(vault.home().join("main/tap.md"), vault.home().join("main/sink.md")).unwrap();
    sync(&store);
    assert_eq!(version(&store, "sink.md"), (4, "cartridge 4".into()));
    vault.assert_agrees(&store, "reworded");
}

#[test]
fn the_times_of_files_are_told_the_same_by_every_index() {
    let vault = TestVault::new();
    let store = vault.open();
    vault.write_by_hand("main/future.md", "from the future");
    put(&store, "touched.md", "touched");
    let open = |name: &str| std::fs::File::options().write(true).open(vault.home().join(name));
    let now = std::fs::metadata(vault.home().join("main/future.md")).unwrap().modified().unwrap();
    let year = std::time::Duration::from_secs(365 * 24 * 3600);
    open("main/future.md").unwrap().set_modified(now + year).unwrap();
    sync(&store);
    vault.assert_agrees(&store, "a time in the future");
    open("main/touched.md").unwrap().set_modified(now - year).unwrap();
    sync(&store);
    vault.assert_agrees(&store, "a time in the past");
    open("main/touched.md").unwrap().set_modified(now + year).unwrap();
    sync(&store);
    vault.assert_agrees(&store, "touched again");
}

/// Watches until it is killed.
pub(crate) fn watch(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    store.start_background().unwrap();
    eventually("watching", || store.is_indexed().unwrap() && store.is_watched());
    task.acknowledge("watching");
    loop {
        std::thread::park();
    }
}

#[test]
fn a_folder_that_is_removed_while_someone_watches_is_told_of_once() {
    let vault = TestVault::new();
    let store = vault.open();
    for file in ["x", "y", "deep/z"] {
        vault.write_by_hand(&format!("main/a/{file}.md"), "siskin");
    }
    sync(&store);
    store.start_background().unwrap();
    eventually("someone watches", || store.is_watched());
    std::fs::remove_dir_all(vault.home().join("main/a")).unwrap();
    eventually("they are gone", || found(&store, "siskin").is_empty());
    let commits = store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap();
    let mut gone: Vec<_> = commits
        .iter()
        .flat_map(|commit| &commit.files)
        .filter(|file| file.after.is_none())
        .map(|file| file.path.to_string())
        .collect();
    gone.sort_unstable();
    assert_eq!(gone, ["a/deep/z.md", "a/x.md", "a/y.md"]);
    vault.assert_agrees(&store, "a folder that was removed");
}

#[test]
fn nobody_counts_as_watching_before_the_first_look_is_over() {
    let vault = TestVault::new();
    put(&vault.open(), "begin.md", "begin");
    let lock = std::fs::File::open(vault.home().join(".memoranda/lock")).unwrap();
    lock.lock().unwrap();
    let store = vault.open();
    store.start_background().unwrap();
    // The watcher has its own lock long before it gets that of the vault.
    let watcher = vault.home().join(".memoranda/watcher");
    eventually("a watcher", || {
        let lock = std::fs::File::open(&watcher);
        lock.is_ok_and(|lock| lock.try_lock().is_err())
    });
    assert!(!store.is_watched());
    lock.unlock().unwrap();
    eventually("the first look", || store.is_watched());
}

#[test]
fn edits_are_noticed_and_another_takes_over_when_the_watcher_dies() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "begin.md", "begin");
    let mut first = Task::new("watch", vault.folder(), &[]).start();
    eventually("a watcher", || acknowledged(vault.folder()).len() == 1);
    vault.write_by_hand("main/one.md", "noticed by the first: firecrest");
    eventually("the first edit", || !found(&store, "firecrest").is_empty());

    let second = vault.open();
    second.start_background().unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    vault.write_by_hand("main/sub/two.md", "noticed by the second: goldcrest");
    eventually("the second edit", || !found(&store, "goldcrest").is_empty());
    vault.write_by_hand("new project/three.md", "in a new project: treecreeper");
    eventually("a new project", || !found(&store, "treecreeper").is_empty());
    vault.write_by_hand("new project/four.md", "later in it: nuthatch");
    eventually("a later note", || !found(&store, "nuthatch").is_empty());
    std::fs::remove_file(vault.home().join("main/one.md")).unwrap();
    eventually("a deletion", || found(&store, "firecrest").is_empty());
    std::fs::rename(vault.home().join("main/sub"), vault.home().join("main/bus")).unwrap();
    eventually("a moved folder", || found(&store, "goldcrest") == ["main/bus/two.md"]);
    vault.write_by_hand("main/.gitignore", "bus/\n");
    eventually("a rule", || found(&store, "goldcrest").is_empty());
    let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap();
    assert!(log.iter().filter(|commit| commit.author.client == "person").count() >= 4);
}
