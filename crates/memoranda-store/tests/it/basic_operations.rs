//! Everyday operations: write, find, edit by hand, delete, restore, look back.

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_store::{CommitOutcome, HistoryFilter, PointInTime};

use crate::support::{
    TestVault, change, found, made, main_project, make, operation, path, put, remove, sync,
};

#[test]
fn what_is_written_is_found_read_and_remembered() {
    let vault = TestVault::new();
    let store = vault.open();
    let first = put(&store, "tap.md", "# Tap\n\nThe kitchen tap takes cartridge 46374.\n");
    assert_eq!(found(&store, "cartridge"), ["main/tap.md"]);
    assert_eq!(
        vault.text("main/tap.md").unwrap(),
        "# Tap\n\nThe kitchen tap takes cartridge 46374.\n"
    );

    put(&store, "tap.md", "# Tap\n\nThe kitchen tap takes cartridge 99999.\n");
    assert_eq!(found(&store, "46374"), [""; 0]);
    assert_eq!(found(&store, "99999"), ["main/tap.md"]);

    let then = store
        .snapshot()
        .unwrap()
        .version_as_of(&main_project(), &path("tap.md"), PointInTime::Commit(first.id))
        .unwrap();
    let text = store.content(then.flatten().unwrap()).unwrap();
    assert!(String::from_utf8(text).unwrap().contains("46374"));

    remove(&store, "tap.md");
    assert_eq!(vault.text("main/tap.md"), None);
    assert_eq!(found(&store, "99999"), [""; 0]);
    assert_eq!(
        store.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap().len(),
        3
    );
}

#[test]
fn several_processes_see_each_others_writes_at_once() {
    let vault = TestVault::new();
    let (one, two) = (vault.open(), vault.open());
    put(&one, "a.md", "alpha from one");
    assert_eq!(found(&two, "alpha"), ["main/a.md"]);
    put(&two, "b.md", "alpha from two");
    assert_eq!(found(&one, "alpha").len(), 2);
    put(&one, "b.md", "beta now");
    assert_eq!(found(&two, "alpha"), ["main/a.md"]);
}

/// A long-lived process updates the index after its answer; queries do not notice.
#[test]
fn what_was_answered_is_found_before_the_index_was_told() {
    let vault = TestVault::new();
    let (one, two) = (vault.open(), vault.open());
    one.start_background().unwrap();
    two.start_background().unwrap();
    for n in 0..60 {
        let (writer, reader) = if n % 2 == 0 { (&one, &two) } else { (&two, &one) };
        put(writer, &format!("n{n}.md"), &format!("word{n} again"));
        let (asked, named) = (if n % 3 == 0 { writer } else { reader }, format!("main/n{n}.md"));
        if n % 7 == 0 {
            std::fs::remove_file(writer.index_path()).unwrap();
            sync(asked);
        }
        assert_eq!(found(asked, &format!("word{n}")), [named]);
        if n % 5 == 0 {
            put(writer, "same.md", &format!("version{n} of one"));
            put(reader, "same.md", &format!("version{n} of two"));
            assert_eq!(found(asked, &format!("version{n}")), ["main/same.md"]);
        }
    }
    for store in [&one, &two] {
        assert_eq!(
            store.snapshot().unwrap().history(&HistoryFilter::default(), 1000, 0).unwrap().len(),
            84
        );
        vault.assert_agrees(store, "after both have written");
    }
}

#[test]
fn edits_by_hand_become_commits() {
    let vault = TestVault::new();
    let store = vault.open();
    vault.write_by_hand("main/notes/hand.md", "written by hand: zebra\n");
    let report = sync(&store);
    assert_eq!((report.added, report.changed, report.removed), (1, 0, 0));
    assert_eq!(found(&store, "zebra"), ["main/notes/hand.md"]);
    vault.write_by_hand("main/notes/hand.md", "changed by hand: giraffe\n");
    assert_eq!(sync(&store).changed, 1);
    assert_eq!(found(&store, "zebra"), [""; 0]);
    std::fs::rename(vault.home().join("main/notes/hand.md"), vault.home().join("main/moved.md"))
        .unwrap();
    let report = sync(&store);
    assert_eq!((report.added, report.moved, report.removed), (0, 1, 0));
    assert_eq!(found(&store, "giraffe"), ["main/moved.md"]);
    std::fs::remove_file(vault.home().join("main/moved.md")).unwrap();
    assert_eq!(sync(&store).removed, 1);
    let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap();
    assert_eq!(log.len(), 4);
    assert!(log.iter().all(|commit| commit.author.client == "person"));
    assert_eq!(sync(&store), memoranda_store::ScanReport { seen: 0, ..Default::default() });
}

#[test]
fn a_conflict_changes_nothing() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "a.md", "one");
    let wrong = ExpectedContent::Hash(memoranda_store::hash(b"other"));
    let both = change(vec![
        operation("b.md", ExpectedContent::Absent, FileAction::Put(b"new".to_vec())),
        operation("a.md", wrong, FileAction::Put(b"two".to_vec())),
    ]);
    let CommitOutcome::Conflict(conflicts) = make(&store, both) else { panic!("no conflict") };
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].found, Some(memoranda_store::hash(b"one")));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("one"));
    assert_eq!(vault.text("main/b.md"), None);
}

#[test]
fn an_edit_by_hand_that_nobody_noticed_is_kept_when_it_is_replaced() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "a.md", "ours");
    vault.write_by_hand("main/a.md", "theirs");
    put(&store, "a.md", "ours again");
    let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap();
    let clients: Vec<_> = log.iter().map(|commit| commit.author.client.as_str()).collect();
    assert_eq!(clients, ["test", "person", "test"]);
    let theirs = store.content(log[1].files[0].after.unwrap()).unwrap();
    assert_eq!(theirs, b"theirs");
}

#[test]
fn a_move_keeps_history_and_address() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "old/name.md", "content of the note");
    let before =
        store.snapshot().unwrap().file(&main_project(), &path("old/name.md")).unwrap().unwrap();
    let action = FileAction::MoveFrom {
        from: path("old/name.md"),
        content: b"content of the note".to_vec(),
    };
    made(make(&store, change(vec![operation("new/place.md", ExpectedContent::Anything, action)])));
    assert_eq!(vault.text("main/old/name.md"), None);
    assert_eq!(vault.text("main/new/place.md").as_deref(), Some("content of the note"));
    let after =
        store.snapshot().unwrap().file(&main_project(), &path("new/place.md")).unwrap().unwrap();
    assert_eq!(after.permalink, before.permalink);
    assert_eq!(found(&store, "content"), ["main/new/place.md"]);
}

#[test]
fn a_fresh_index_says_the_same() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "a b.md", "---\ntags: [x, y]\n---\n# A\n- [fact] one #tag\n- links [[C]]\n");
    put(&store, "a-b.md", "twin of the permalink, see [[a b]] and [[missing]]");
    vault.write_by_hand("main/c.md", "# C\nby hand\n");
    sync(&store);
    put(&store, "c.md", "# C\nby tool\n");
    remove(&store, "a b.md");
    put(&store, "a b.md", "back again [[c]]");
    sync(&store);
    let live = store.fingerprint().unwrap();
    drop(store);
    std::fs::remove_dir_all(vault.folder().join("cache")).unwrap();
    let store = vault.open();
    sync(&store);
    assert_eq!(store.fingerprint().unwrap(), live);
    let report = store.check(&vault.folder().join("scratch")).unwrap();
    assert!(report.agrees(), "{report:?}");
}

#[test]
fn a_project_has_one_name_however_it_is_spelt() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "a.md", "written as main");
    let mut other =
        operation("b.md", ExpectedContent::Anything, FileAction::Put(b"written as MAIN".to_vec()));
    other.project = memoranda_core::id::ProjectName::parse("MAIN").unwrap();
    made(make(&store, change(vec![other])));
    let mut paths = found(&store, "written");
    paths.sort();
    assert_eq!(paths, ["main/a.md", "main/b.md"]);
    sync(&store);
    assert_eq!(
        store.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap().len(),
        2
    );
    let report = store.check(&vault.folder().join("scratch")).unwrap();
    assert!(report.agrees(), "{report:?}");
}

#[test]
fn notes_of_one_address_get_different_ones() {
    let vault = TestVault::new();
    let store = vault.open();
    let both = |a: &str, b: &str| {
        let put =
            |name| operation(name, ExpectedContent::Anything, FileAction::Put(b"text".to_vec()));
        change(vec![put(a), put(b)])
    };
    made(make(&store, both("by tool.md", "by-tool.md")));
    vault.write_by_hand("main/by hand.md", "text");
    vault.write_by_hand("main/by-hand.md", "text");
    sync(&store);
    let address = |name: &str| {
        store.snapshot().unwrap().file(&main_project(), &path(name)).unwrap().unwrap().permalink
    };
    assert_ne!(address("by tool.md"), address("by-tool.md"));
    assert_ne!(address("by hand.md"), address("by-hand.md"));
    let report = store.check(&vault.folder().join("scratch")).unwrap();
    assert!(report.agrees(), "{report:?}");
}

/// A rated relation names a title: if the note gets another title, the relation no longer resolves,
/// as in a rebuilt index, even if the file name still fits.
#[test]
fn a_new_title_unbinds_what_meant_the_old_one() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "t/A.md", "---\ntitle: A\n---\n\nThe first\n");
    put(&store, "t/B.md", "- uses [[A]] <!-- rel 2026-01-20T15:30:00Z -->\n");
    vault.assert_agrees(&store, "before");
    put(&store, "t/A.md", "---\ntitle: Alpha\n---\n\nThe first\n");
    vault.assert_agrees(&store, "with another title");
    put(&store, "t/A.md", "---\ntitle: A\n---\n\nThe first\n");
    vault.assert_agrees(&store, "with its own title again");
}

/// A permalink can decide to which of two notes with one name a link leads.
#[test]
fn a_new_permalink_decides_what_a_name_means() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "a/roadmap.md", "---\ntitle: First\n---\n\nThe first\n");
    put(&store, "b/roadmap.md", "---\ntitle: Second\n---\n\nThe second\n");
    put(&store, "z.md", "See [[roadmap]]\n");
    for (permalink, context) in [("permalink: roadmap\n", "with it"), ("", "without it again")] {
        let text = format!("---\ntitle: Second\n{permalink}---\n\nThe second\n");
        put(&store, "b/roadmap.md", &text);
        vault.assert_agrees(&store, context);
    }
}

/// A link can name a project that does not exist yet, and in it another one.
/// A note that moved has its permalink still; whether its text states it decides what a name means
/// for which there is another note by now.
#[test]
fn a_permalink_that_is_stated_from_now_on_decides_what_a_name_means() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "plan.md", "the old plan");
    let moved = FileAction::MoveFrom { from: path("plan.md"), content: b"the old plan".to_vec() };
    made(make(
        &store,
        change(vec![operation("archive/plan-2025.md", ExpectedContent::Anything, moved)]),
    ));
    put(&store, "plan.md", "the new plan");
    put(&store, "archive/link.md", "- to [[plan]]");
    let meant = || {
        let link = store
            .snapshot()
            .unwrap()
            .file(&main_project(), &path("archive/link.md"))
            .unwrap()
            .unwrap();
        let bound =
            store.snapshot().unwrap().relations_from(link.id).unwrap()[0].target_file.unwrap();
        store.snapshot().unwrap().file_by_id(bound).unwrap().unwrap().path.to_string()
    };
    assert_eq!(meant(), "plan.md");
    for (frontmatter, expected) in
        [("---\npermalink: plan\n---\n", "archive/plan-2025.md"), ("", "plan.md")]
    {
        put(&store, "archive/plan-2025.md", &format!("{frontmatter}the old plan, again"));
        assert_eq!(meant(), expected, "{frontmatter}");
        vault.assert_agrees(&store, frontmatter);
    }
}

#[test]
fn a_project_that_appears_is_bound_through_to_another() {
    let vault = TestVault::new();
    vault.write_by_hand("main/z.md", "See [[ideas::work/x]]\n");
    vault.write_by_hand("work/x.md", "Here\n");
    let store = vault.open();
    sync(&store);
    vault.write_by_hand("ideas/y.md", "There\n");
    sync(&store);
    vault.assert_agrees(&store, "after the project appeared");
}

/// A file that somebody takes away before the index heard of it is deleted, not forgotten.
#[test]
fn what_vanishes_at_once_was_there() {
    let vault = TestVault::new();
    let (one, two) = (vault.open(), vault.open());
    one.start_background().unwrap();
    for n in 0..20 {
        let name = format!("n{n}.md");
        put(&one, &name, "soon gone");
        std::fs::remove_file(vault.home().join("main").join(&name)).unwrap();
        two.snapshot().unwrap().counts().unwrap();
        sync(&two);
    }
    let log = two.snapshot().unwrap().history(&HistoryFilter::default(), 1000, 0).unwrap();
    let gone = log.iter().flat_map(|commit| &commit.files).filter(|file| file.after.is_none());
    assert_eq!(gone.count(), 20);
    vault.assert_agrees(&two, "after all are gone");
}

/// A save over a file of a change in progress wins.
#[test]
fn a_save_during_a_large_change_is_noticed() {
    let vault = TestVault::new();
    let store = vault.open();
    // Few of them are texts, so that most of the time goes into giving them their names.
    let name = |n: usize| format!("many/{n:04}.{}", if n == 0 { "md" } else { "bin" });
    let text = |n: usize| format!("text number {n}\n").into_bytes();
    let put_all =
        (0..4000).map(|n| operation(&name(n), ExpectedContent::Absent, FileAction::Put(text(n))));
    let first = vault.home().join("main").join(name(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // As soon as it is there; the others take long enough.
            while !first.exists() {
                std::thread::yield_now();
            }
            std::fs::write(&first, "a walrus wrote\n").unwrap();
        });
        make(&store, change(put_all.collect()));
    });
    sync(&store);
    assert_eq!(found(&store, "walrus"), [format!("main/{}", name(0))]);
    vault.assert_agrees(&store, "after the save");
}
