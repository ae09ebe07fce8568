//! Promise 7: nothing vanishes until `vacuum`, and what `vacuum` purges is really gone.

use std::path::Path;

use jiff::SignedDuration;
use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_store::{
    HistoryFilter, PointInTime, Store, VacuumExtent, VacuumRequest, clock, faults, hash,
};

use crate::child::{Task, acknowledged};
use crate::model::Files;
use crate::support::{
    TestVault, change, eventually, found, made, main_project, make, operation, options, path, put,
    remove, sync,
};

fn text_as_of(store: &Store, place: &str, moment: PointInTime) -> Option<String> {
    let version =
        store.snapshot().unwrap().version_as_of(&main_project(), &path(place), moment).unwrap();
    version.flatten().map(|hash| String::from_utf8(store.content(hash).unwrap()).unwrap())
}

fn move_note(store: &Store, from: &str, to: &str, text: &str) -> memoranda_core::change::Commit {
    let action = FileAction::MoveFrom { from: path(from), content: text.into() };
    made(make(store, change(vec![operation(to, ExpectedContent::Anything, action)])))
}

#[test]
fn every_moment_can_be_looked_at_again() {
    let vault = TestVault::new();
    let store = vault.open();
    let one = put(&store, "a.md", "one");
    let two = put(&store, "a.md", "two");
    vault.write_by_hand("main/a.md", "by hand");
    sync(&store);
    let three = move_note(&store, "a.md", "b.md", "by hand");
    let four = remove(&store, "b.md");
    let at = |id| PointInTime::Commit(id);
    for (moment, a, b) in [
        (at(one.id), Some("one"), None),
        (at(two.id), Some("two"), None),
        (at(three.id), None, Some("by hand")),
        (at(four.id), None, None),
    ] {
        assert_eq!(text_as_of(&store, "a.md", moment).as_deref(), a, "{moment:?}");
        assert_eq!(text_as_of(&store, "b.md", moment).as_deref(), b, "{moment:?}");
    }
    let before = PointInTime::Time(one.time - SignedDuration::from_secs(1));
    assert_eq!(
        store.snapshot().unwrap().version_as_of(&main_project(), &path("a.md"), before).unwrap(),
        None
    );
    assert_eq!(text_as_of(&store, "a.md", PointInTime::Time(clock::now())), None);
    let short = &two.id.as_str()[..8];
    assert_eq!(store.snapshot().unwrap().find_commit(short).unwrap().id, two.id);
}

#[test]
fn the_time_that_a_file_gives_leads_to_the_version_that_it_holds() {
    let vault = TestVault::new();
    let store = vault.open();
    for n in 0..10 {
        let text = format!("text {n}");
        let commit = put(&store, "a.md", &text);
        let updated = store
            .snapshot()
            .unwrap()
            .file(&main_project(), &path("a.md"))
            .unwrap()
            .unwrap()
            .updated;
        assert_eq!(updated, commit.time, "{text}");
        assert_eq!(text_as_of(&store, "a.md", PointInTime::Time(updated)), Some(text));
    }
    // Also with the text that a move changes.
    let moved = move_note(&store, "a.md", "b.md", "moved");
    let updated =
        store.snapshot().unwrap().file(&main_project(), &path("b.md")).unwrap().unwrap().updated;
    assert_eq!(updated, moved.time);
    sync(&store);
    vault.assert_agrees(&store, "the times of files");
}

/// Commits with a clock that goes back an hour after each: a process of its own.
pub(crate) fn write_with_a_bad_clock(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    for n in 0..5i64 {
        clock::set_offset(-n * 3_600_000);
        put(&store, "a.md", &format!("text {n}"));
        task.acknowledge(
            store.snapshot().unwrap().history(&HistoryFilter::default(), 1, 0).unwrap()[0].id,
        );
    }
    sync(&store);
}

#[test]
fn a_clock_that_goes_back_does_not_confuse_the_order() {
    let vault = TestVault::new();
    Task::new("clock", vault.folder(), &[]).run();
    let store = vault.open();
    let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap();
    let mut ids: Vec<String> = log.iter().map(|commit| commit.id.to_string()).collect();
    ids.reverse();
    assert_eq!(ids, acknowledged(vault.folder()));
    for (n, commit) in log.iter().rev().enumerate() {
        let then = text_as_of(&store, "a.md", PointInTime::Commit(commit.id));
        assert_eq!(then, Some(format!("text {n}")));
    }
    assert_eq!(text_as_of(&store, "a.md", PointInTime::Time(clock::now())).unwrap(), "text 4");
    vault.assert_agrees(&store, "a bad clock");
}

fn everything(what: VacuumExtent) -> VacuumRequest {
    VacuumRequest { project: None, before: clock::now() + SignedDuration::from_secs(60), what }
}

/// Every file below a folder that holds these bytes.
fn files_with(folder: &Path, needle: &str) -> Vec<String> {
    let all = Files::on_disk(folder).0.into_iter();
    let holds = |bytes: &[u8]| bytes.windows(needle.len()).any(|w| w == needle.as_bytes());
    all.filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect()
}

#[test]
fn what_is_purged_is_in_no_file_any_more() {
    let vault = TestVault::new();
    let store = vault.open();
    let secret = "Pneumonoultramicroscopic";
    put(&store, "secret.md", &format!("# {secret}\n- [fact] {secret} stays a secret #x\n"));
    // The first line of a note is often its name.
    let named = format!("first {secret}.md");
    put(&store, &named, "the name says it");
    move_note(&store, &named, &format!("then {secret}.md"), "the name says it");
    remove(&store, &format!("then {secret}.md"));
    put(&store, "kept.md", &format!("an old version that holds {secret} too"));
    let kept = put(&store, "kept.md", "a new version: bittern");
    let restorable = put(&store, "restorable.md", "deleted later: godwit");
    vault.write_by_hand("main/hand.md", format!("by hand: {secret}"));
    sync(&store);
    store.flush().unwrap();
    remove(&store, "secret.md");
    std::fs::remove_file(vault.home().join("main/hand.md")).unwrap();
    sync(&store);
    assert!(!files_with(vault.folder(), secret).is_empty());

    let report = store.vacuum(&everything(VacuumExtent::DeletedAndVersions)).unwrap();
    assert_eq!(report.contents, 4, "{report:?}");
    let words = [secret.to_owned(), secret.to_lowercase(), secret[..12].to_lowercase()];
    for word in words {
        assert_eq!(files_with(vault.folder(), &word), [""; 0], "{word}");
    }
    for commit in [kept, restorable] {
        assert!(store.content(commit.files[0].after.unwrap()).is_ok());
    }
    assert_eq!(found(&store, "bittern"), ["main/kept.md"]);
    sync(&store);
    vault.assert_agrees(&store, "after a vacuum");
    assert_eq!(
        store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap().len(),
        10
    );
}

#[test]
fn a_vacuum_takes_only_what_it_was_asked_for() {
    let vault = TestVault::new();
    let store = vault.open();
    let old = put(&store, "a.md", "version one");
    put(&store, "a.md", "version two");
    let shared = put(&store, "twin-1.md", "the same text");
    put(&store, "twin-2.md", "the same text");
    remove(&store, "twin-1.md");
    let gone = put(&store, "gone.md", "gone for good");
    remove(&store, "gone.md");
    put(&store, "moved-from.md", "moved about");
    let moved = move_note(&store, "moved-from.md", "moved-to.md", "moved about");

    let early = VacuumRequest { before: old.time, ..everything(VacuumExtent::Deleted) };
    assert_eq!(store.vacuum(&early).unwrap().contents, 0);
    let planned = store.plan_vacuum(&everything(VacuumExtent::Deleted)).unwrap();
    let done = store.vacuum(&everything(VacuumExtent::Deleted)).unwrap();
    assert_eq!((planned.contents, &planned.notes), (done.contents, &done.notes));
    let content = |commit: &memoranda_core::change::Commit| {
        store.content(commit.files[0].after.unwrap()).map_err(|e| e.to_string())
    };
    assert!(content(&gone).unwrap_err().contains("no longer in the log"));
    for kept in [&old, &shared, &moved] {
        assert!(content(kept).is_ok());
    }
    vault.assert_agrees(&store, "a small vacuum");
}

#[test]
fn a_vacuum_follows_a_file_under_all_its_names() {
    let vault = TestVault::new();
    let store = vault.open();
    let content = |commit: &memoranda_core::change::Commit| {
        store.content(commit.files[0].after.unwrap()).is_ok()
    };
    // Written, moved twice, deleted under its last name.
    let first = put(&store, "a.md", "first of the deleted one");
    move_note(&store, "a.md", "b.md", "first of the deleted one");
    let second = put(&store, "b.md", "second of the deleted one");
    move_note(&store, "b.md", "c.md", "second of the deleted one");
    remove(&store, "c.md");
    // Another file that had the same name in between lives on elsewhere; a third was deleted there.
    let living = put(&store, "b.md", "first of the living one");
    move_note(&store, "b.md", "d.md", "first of the living one");
    put(&store, "d.md", "second of the living one");
    let third = put(&store, "b.md", "deleted under a used name");
    remove(&store, "b.md");
    store.vacuum(&everything(VacuumExtent::Deleted)).unwrap();
    assert!(!content(&first) && !content(&second) && !content(&third));
    vault.assert_agrees(&store, "after a vacuum of moved files");
    assert!(content(&living), "an earlier version of a file that exists");
}

/// Writes again and again while a vacuum runs.
pub(crate) fn write_beside_a_vacuum(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    for n in 0..task.number(0) {
        let text = format!("beside the vacuum {n}");
        put(&store, &format!("w/{n}.md"), &text);
        let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 1, 0).unwrap();
        assert!(!log.is_empty());
        assert_eq!(store.content(hash(text.as_bytes())).unwrap(), text.as_bytes());
        remove(&store, &format!("w/{}.md", n / 2));
        task.acknowledge(n);
        put(&store, &format!("w/{}.md", n / 2), "put back");
    }
}

#[test]
fn other_processes_write_on_during_a_vacuum() {
    let vault = TestVault::new();
    let (store, idle) = (vault.open(), vault.open());
    put(&idle, "idle.md", "this handle of the log grows old");
    let count = 40;
    let child = Task::new("beside", vault.folder(), &[&count]).start();
    for n in 0..6 {
        eventually("some writes", || acknowledged(vault.folder()).len() > n * 5);
        put(&store, "x.md", &format!("doomed {n}"));
        remove(&store, "x.md");
        let one = VacuumRequest { project: None, ..everything(VacuumExtent::Deleted) };
        store.vacuum(&one).unwrap();
        put(&idle, "idle.md", &format!("written through the old handle {n}"));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let main = Files::on_disk(&vault.home().join("main"));
    assert_eq!(main.0["idle.md"], b"written through the old handle 5");
    assert_eq!(main.0.len(), count + 1);
    assert_eq!(files_with(&vault.home(), "doomed"), [""; 0]);
    let fresh = vault.open();
    sync(&fresh);
    vault.assert_agrees(&fresh, "beside a vacuum");
}

/// Dies in the middle of a vacuum.
pub(crate) fn die_in_a_vacuum(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    faults::arm(&task.arguments[0]).unwrap();
    store.vacuum(&everything(VacuumExtent::DeletedAndVersions)).unwrap();
}

#[test]
fn a_vacuum_that_dies_harms_nothing() {
    for fault in ["abort:rewritten:1", "abort:checkpoint:1", "abort:checkpoint:2", "io:rewritten:1"]
    {
        let vault = TestVault::new();
        let store = vault.open();
        put(&store, "purged.md", &"purged text ".repeat(100));
        let version = put(&store, "a.md", "current: dunlin");
        for n in 0..20 {
            put(&store, &format!("n{n}.md"), "many more");
        }
        remove(&store, "purged.md");
        put(&store, "last.md", "the last record");
        let open_during = vault.open();
        put(&open_during, "b.md", "another handle");
        // The files since the last checkpoint are fewer than the log that is cut.
        Task::new("vacuum", vault.folder(), &[&fault]).run_to_whatever();
        for store in [&open_during, &vault.open()] {
            put(store, "next.md", &format!("{:?} the next write", std::ptr::from_ref(store)));
            let text = store.content(version.files[0].after.unwrap()).unwrap();
            assert_eq!(text, b"current: dunlin", "{fault}");
            assert_eq!(found(store, "dunlin"), ["main/a.md"], "{fault}");
        }
        assert_eq!(vault.text("main/last.md").as_deref(), Some("the last record"), "{fault}");
        sync(&store);
        assert!(
            store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap().len()
                >= 27,
            "{fault}"
        );
        vault.assert_agrees(&store, fault);
    }
}

#[test]
fn an_archive_holds_everything() {
    let vault = TestVault::new();
    let store = vault.open();
    let old = put(&store, "a.md", "first version");
    put(&store, "a.md", "second version: plover");
    vault.write_by_hand("main/.hidden.md", "hidden");
    vault.write_by_hand("main/sub/b.md", "by hand\r\n");
    vault.write_by_hand("other/c.md", "another project");
    std::os::unix::fs::symlink("/etc/passwd", vault.home().join("main/sub/link")).unwrap();
    sync(&store);
    let mut archive = Vec::new();
    let report = store.export(&mut archive).unwrap();
    assert_eq!((report.files, report.left_out), (4, 1));

    let target = TestVault::new();
    let copy = target.open();
    copy.import(&mut archive.as_slice()).unwrap();
    for project in ["main", "other"] {
        let files = |vault: &TestVault| Files::on_disk(&vault.home().join(project));
        assert_eq!(files(&target), files(&vault), "{project}");
    }
    assert_eq!(found(&copy, "plover"), ["main/a.md"]);
    let ids = |store: &Store| -> Vec<_> {
        let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap();
        log.into_iter().map(|commit| commit.id).collect()
    };
    assert_eq!(ids(&copy), ids(&store));
    assert_eq!(copy.content(old.files[0].after.unwrap()).unwrap(), b"first version");
    target.assert_agrees(&copy, "imported");
    // A note whose text only the imported history holds can be moved, and restored after a crash.
    move_note(&copy, "a.md", "moved.md", "second version: plover");
    std::mem::forget(copy);
    std::fs::remove_file(target.home().join("main/moved.md")).unwrap();
    target.restart_machine();
    let copy = target.open();
    put(&copy, "next.md", "and written to");
    assert_eq!(target.text("main/moved.md").as_deref(), Some("second version: plover"));
    let error = copy.import(&mut archive.as_slice()).unwrap_err();
    assert!(error.to_string().contains("empty vault"), "{error}");
}

#[test]
fn what_is_overwritten_is_in_the_history_first_whatever_it_is() {
    let vault = TestVault::new();
    let store = vault.open();
    let picture = [0u8, 159, 146, 150, 0, 1];
    vault.write_by_hand("main/picture.png", picture);
    vault.write_by_hand("main/.hidden", "a hidden file");
    sync(&store);
    put(&store, "picture.png", "not a picture any more");
    remove(&store, ".hidden");
    assert_eq!(store.content(hash(&picture)).unwrap(), picture);
    assert_eq!(store.content(hash(b"a hidden file")).unwrap(), b"a hidden file");
    sync(&store);
    vault.assert_agrees(&store, "pictures");
}
