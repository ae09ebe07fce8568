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
    // A thread would index as many at a time as its machine is busy.
    let store = vault.open();
    sync(&store);
    store.start_background_without_thread();
    store.flush().unwrap();
    let log = store.index_path().with_extension("db-wal");
    let before = std::fs::metadata(&log).map_or(0, |data| data.len());
    for n in 0..BURST {
        let text = format!("The new text {n} about [[{n}]] #new\n\n- [fact] it is {n}\n");
        put(&store, &format!("new/New {n}.md"), &text);
    }
    assert!(summary(&store, "new/New 3.md").is_some());
    let bytes = (std::fs::metadata(&log).unwrap().len() - before) / BURST as u64;
    println!("{bytes} bytes a note among {notes}");
    bytes
}

#[test]
fn the_bytes_that_a_note_takes_in_the_index_do_not_grow_with_the_vault() {
    let (few, many) = (index_bytes_per_note(100), index_bytes_per_note(2_000));
    assert!(many < 2 * few, "{few} bytes a note among 100, {many} among 2,000");
    // A single note takes about forty pages of the index; in a burst they are shared.
    assert!(many < 60_000, "{many} bytes a note in a burst");
}

fn move_to(from: &str, to: &str, text: &str) -> memoranda_core::change::ChangeOperation {
    let action = FileAction::MoveFrom { from: path(from), content: text.into() };
    operation(to, ExpectedContent::Anything, action)
}

fn make(store: &Store, operations: Vec<memoranda_core::change::ChangeOperation>) {
    let made =
        store.transact(&who("test"), |_| Ok::<_, StoreError>(change(operations.clone()))).unwrap();
    assert!(matches!(made, CommitOutcome::Committed(_)), "{made:?}");
}

#[test]
fn every_query_sees_edits_moves_and_removals_that_are_not_indexed_yet() {
    let vault = TestVault::new();
    let (store, other) = (served(&vault), vault.open());
    for n in 0..12 {
        put(&store, &format!("a/{n}.md"), &format!("first{n} about [[{}]]\n", n + 1));
    }
    for round in 0..6 {
        for n in 0..12 {
            let (here, there) = (format!("a/{n}.md"), format!("b/{n}.md"));
            let text = format!("round{round}n{n} about [[{}]]\n", n + 1);
            match (n + round) % 4 {
                0 | 1 => drop(put(&store, &here, &text)),
                2 => {
                    make(&store, vec![move_to(&here, &there, &text)]);
                    make(&store, vec![move_to(&there, &here, &text)]);
                }
                _ => {
                    let gone = operation(&here, ExpectedContent::Anything, FileAction::Remove);
                    make(&store, vec![gone]);
                    assert_eq!(summary(&store, &here), None);
                    put(&store, &here, &text);
                }
            }
            let seen = if n % 3 == 0 { &other } else { &store };
            match n % 4 {
                0 => assert_eq!(
                    found(seen, &format!("round{round}n{n}")),
                    [format!("main/{here}")],
                    "round {round}"
                ),
                1 => assert_eq!(summary(seen, &here).unwrap().size, text.len() as u64),
                _ => {}
            }
        }
    }
    drop(store);
    vault.assert_agrees(&other, "after edits, moves and removals");
}

#[test]
fn an_edit_has_the_pending_version_before_it_as_its_parent() {
    let vault = TestVault::new();
    let store = served(&vault);
    put(&store, "a.md", "one\n");
    put(&store, "a.md", "two\n");
    make(&store, vec![move_to("a.md", "b.md", "two\n")]);
    put(&store, "b.md", "three\n");
    let filter = memoranda_store::HistoryFilter::default();
    let commits = store.snapshot().unwrap().history(&filter, 10, 0).unwrap();
    let kinds: Vec<_> = commits.iter().map(|commit| commit.kind).collect();
    assert_eq!(commits.len(), 4, "an edit by hand was recorded: {kinds:?}");
    for pair in commits.windows(2) {
        assert_eq!(pair[0].files[0].before, pair[1].files[0].after);
    }
    vault.assert_agrees(&store, "after edits of one note");
}

#[test]
fn permalinks_of_pending_moves_and_removals_are_kept_apart() {
    let vault = TestVault::new();
    let store = served(&vault);
    put(&store, "a.md", "---\npermalink: same\n---\none\n");
    make(&store, vec![move_to("a.md", "b.md", "---\npermalink: same\n---\none\n")]);
    put(&store, "a.md", "---\npermalink: same\n---\ntwo\n");
    make(&store, vec![operation("b.md", ExpectedContent::Anything, FileAction::Remove)]);
    put(&store, "c.md", "---\npermalink: same\n---\nthree\n");
    assert_eq!(summary(&store, "a.md").unwrap().permalink, "same-1");
    assert_eq!(summary(&store, "c.md").unwrap().permalink, "same");
    vault.assert_agrees(&store, "after moves and removals");
}

#[test]
fn a_query_that_no_pending_commit_concerns_leaves_them_pending() {
    let vault = TestVault::new();
    let store = served(&vault);
    put(&store, "a.md", "one\n");
    put(&store, "b.md", "see [[a]]\n");
    store.flush().unwrap();
    let log = store.index_path().with_extension("db-wal");
    let size = || std::fs::metadata(&log).map_or(0, |data| data.len());
    // On a loaded machine the background may be faster than the queries.
    let stays = (0..20).any(|n| {
        assert!(summary(&store, "b.md").is_some());
        let before = size();
        put(&store, "a.md", &format!("edit {n}\n"));
        assert_eq!(summary(&store, "b.md").unwrap().title, "b");
        assert_eq!(
            store.snapshot().unwrap().link_candidates(&main_project(), "a").unwrap().len(),
            1
        );
        let is_pending = size() == before;
        assert_eq!(summary(&store, "a.md").unwrap().size, format!("edit {n}\n").len() as u64);
        is_pending && size() > before
    });
    assert!(stays, "every query indexed the pending commit");
}

#[test]
fn the_edits_of_a_burst_are_indexed_together() {
    let vault = TestVault::new();
    for n in 0..96 {
        vault.write_by_hand(&format!("main/{n}.md"), format!("The text {n} #tag\n"));
    }
    let store = served(&vault);
    store.flush().unwrap();
    let log = store.index_path().with_extension("db-wal");
    let before = std::fs::metadata(&log).map_or(0, |data| data.len());
    for n in 0..96 {
        put(&store, &format!("{n}.md"), &format!("The text {n} #tag\n\n- [fact] it is {n}\n"));
    }
    assert!(summary(&store, "3.md").is_some());
    let bytes = (std::fs::metadata(&log).unwrap().len() - before) / 96;
    assert!(bytes < 60_000, "{bytes} bytes an edit in a burst");
}

#[test]
fn the_number_of_a_file_that_is_gone_is_not_given_to_another() {
    let vault = TestVault::new();
    let store = served(&vault);
    put(&store, "kept.md", "kept\n");
    put(&store, "gone.md", "gone\n");
    let gone = summary(&store, "gone.md").unwrap().id;
    make(&store, vec![operation("gone.md", ExpectedContent::Anything, FileAction::Remove)]);
    assert_eq!(summary(&store, "gone.md"), None);
    put(&store, "new.md", "new\n");
    assert!(summary(&store, "new.md").unwrap().id > gone);
    assert_eq!(store.snapshot().unwrap().file_by_id(gone).unwrap(), None);
}

#[test]
fn a_note_keeps_its_age_when_an_older_one_gets_its_former_name() {
    let vault = TestVault::new();
    let store = served(&vault);
    put(&store, "older.md", "older\n");
    std::thread::sleep(std::time::Duration::from_millis(5));
    put(&store, "name.md", "younger\n");
    make(&store, vec![move_to("name.md", "other.md", "younger\n")]);
    let created = summary(&store, "other.md").unwrap().created;
    assert!(created > summary(&store, "older.md").unwrap().created);
    make(&store, vec![move_to("older.md", "name.md", "older\n")]);
    assert!(summary(&store, "name.md").unwrap().created < created);
    assert_eq!(summary(&store, "other.md").unwrap().created, created);
    vault.assert_agrees(&store, "after the moves");
}
