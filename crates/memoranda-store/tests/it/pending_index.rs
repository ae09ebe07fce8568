//! Commits that are not indexed yet: every query sees them, in this process and in others, and the
//! index grows by as many bytes for each in a large vault as in a small one.

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_core::note;
use memoranda_store::{CommitOutcome, FileSummary, Store, StoreError};

use crate::support::{TestVault, change, found, main_project, operation, path, put, sync, who};

fn summary(store: &Store, place: &str) -> Option<FileSummary> {
    store.snapshot().unwrap().file(&main_project(), &path(place)).unwrap()
}

fn served(vault: &TestVault) -> Store {
    let store = vault.open();
    sync(&store);
    store.start_background().unwrap();
    store
}

#[test]
fn every_query_sees_a_commit_that_is_not_indexed_yet() {
    let vault = TestVault::new();
    let (store, other) = (served(&vault), vault.open());
    for n in 0..100 {
        let place = format!("a/note-{n}.md");
        put(&store, &place, &format!("word{n} is here\n"));
        match n % 5 {
            0 => assert_eq!(found(&store, &format!("word{n}")), [format!("main/{place}")]),
            1 => assert_eq!(found(&other, &format!("word{n}")), [format!("main/{place}")]),
            2 => assert!(summary(&store, &place).is_some()),
            3 => assert!(summary(&other, &place).is_some()),
            _ => {}
        }
    }
    drop(store);
    vault.assert_agrees(&other, "after a burst");
}

#[test]
fn decisions_see_commits_that_are_not_indexed_yet() {
    let vault = TestVault::new();
    let store = served(&vault);
    put(&store, "first.md", "---\npermalink: same\n---\nfirst\n");
    put(&store, "second.md", "---\npermalink: same\n---\nsecond\n");
    put(&store, "Name.md", "one\n");
    let twin = operation("name.md", ExpectedContent::Anything, FileAction::Put("two".into()));
    let refused = store.transact(&who("test"), |_| Ok::<_, StoreError>(change(vec![twin.clone()])));
    assert!(matches!(refused, Err(StoreError::Twin { .. })), "{refused:?}");
    let create = operation("Name.md", ExpectedContent::Absent, FileAction::Put("two".into()));
    let refused =
        store.transact(&who("test"), |_| Ok::<_, StoreError>(change(vec![create.clone()])));
    assert!(matches!(refused, Ok(CommitOutcome::Conflict(_))), "{refused:?}");
    put(&store, "third.md", "---\ntitle: The Third\n---\nthird\n");
    let seen = store.transact(&who("test"), |view| {
        assert_eq!(view.link_candidates(&main_project(), "The Third").unwrap().len(), 1);
        assert_eq!(view.with_permalink(&main_project(), "same-1").unwrap().len(), 1);
        assert!(view.file(&main_project(), &path("third.md")).unwrap().is_some());
        Ok::<_, StoreError>(change(vec![]))
    });
    assert_eq!(seen.unwrap(), CommitOutcome::Unchanged);
    assert_eq!(summary(&store, "first.md").unwrap().permalink, "same");
    assert_eq!(summary(&store, "second.md").unwrap().permalink, "same-1");
    vault.assert_agrees(&store, "after decisions");
}

#[test]
fn links_and_similar_notes_include_commits_that_are_not_indexed_yet() {
    let vault = TestVault::new();
    let store = served(&vault);
    put(&store, "Garden plan.md", "beans\n");
    let text = "- relates_to [[Garden plan]]\n- relates_to [[Nowhere]]\n- relates_to [[Self]]\n";
    put(&store, "Self.md", text);
    let relations = note::parse(text).relations;
    let check = || {
        let unresolved =
            store.unresolved_links(&main_project(), &path("Self.md"), &relations).unwrap();
        assert_eq!(unresolved, ["Nowhere"]);
        let similar = store.similar_notes(&main_project(), "Plan of the garden", 3).unwrap();
        let paths: Vec<_> = similar.iter().map(|note| note.path.as_str()).collect();
        assert_eq!(paths.first(), Some(&"Garden plan.md"), "{paths:?}");
    };
    check();
    assert!(summary(&store, "Self.md").is_some());
    check();
}

/// Writes a burst and returns the bytes that the index takes in its write-ahead log for each note.
fn index_bytes_per_note(notes: usize) -> u64 {
    const BURST: usize = 96;
    let vault = TestVault::new();
    for n in 0..notes {
        let text = format!("The old text {n} about [[New {n}]] #tag{n}\n\n- [fact] it is {n}\n");
        vault.write_by_hand(&format!("main/old/{n}.md"), text);
    }
    let store = served(&vault);
    store.flush().unwrap();
    let log = store.index_path().with_extension("db-wal");
    let before = std::fs::metadata(&log).map_or(0, |data| data.len());
    for n in 0..BURST {
        let text = format!("The new text {n} about [[{n}]] #new\n\n- [fact] it is {n}\n");
        put(&store, &format!("new/New {n}.md"), &text);
    }
    assert!(summary(&store, "new/New 3.md").is_some());
    (std::fs::metadata(&log).unwrap().len() - before) / BURST as u64
}

#[test]
fn the_bytes_that_a_note_takes_in_the_index_do_not_grow_with_the_vault() {
    let (few, many) = (index_bytes_per_note(100), index_bytes_per_note(2_000));
    assert!(many < 2 * few, "{few} bytes a note among 100, {many} among 2,000");
    // A single note takes about forty pages of the index; in a burst they are shared.
    assert!(many < 60_000, "{many} bytes a note in a burst");
}
