//! Undo goes further back, redo goes forward, and what nobody wrote is never deleted.

use memoranda_core::change::{CommitKind, FileChange};
use memoranda_core::id::ProjectName;
use memoranda_engine::{EngineError, HardLinkPolicy, HistoryFilter, UndoOutcome, WriteMode};

use super::memory::{Vault, who};

impl Vault {
    fn undo_next(&self) -> bool {
        let Some(commit) = self.memory.next_undo(None).unwrap() else { return false };
        let outcome = self.memory.undo(&who(), commit.id.as_str()).unwrap();
        assert!(matches!(outcome, UndoOutcome::Undone(_)), "{outcome:?}");
        true
    }

    fn redo_next(&self) -> bool {
        let Some(step) = self.memory.next_redo(None).unwrap() else { return false };
        let outcome = self.memory.redo(&who(), step).unwrap();
        assert!(matches!(outcome, UndoOutcome::Undone(_)), "{outcome:?}");
        true
    }

    fn kinds(&self) -> Vec<Option<CommitKind>> {
        let commits = self.memory.log(&HistoryFilter::default(), 100, 0).unwrap();
        commits.into_iter().map(|commit| commit.kind).collect()
    }
}

#[test]
fn undo_goes_further_back_and_redo_forward() {
    let vault = Vault::new();
    for text in ["one", "two", "three"] {
        vault.put("a.md", text);
    }
    let text = || vault.text("main/a.md");
    for expected in [Some("two"), Some("one"), None] {
        assert!(vault.undo_next());
        assert_eq!(text().as_deref(), expected);
    }
    assert!(!vault.undo_next(), "there is nothing left to undo");
    for expected in ["one", "two", "three"] {
        assert!(vault.redo_next());
        assert_eq!(text().as_deref(), Some(expected));
    }
    assert!(!vault.redo_next(), "there is nothing left to redo");
    // Back and forth again, from the middle.
    assert!(vault.undo_next() && vault.undo_next() && vault.redo_next() && vault.undo_next());
    assert_eq!(text().as_deref(), Some("one"));
    assert!(vault.redo_next() && vault.redo_next());
    assert_eq!(text().as_deref(), Some("three"));
}

#[test]
fn a_write_ends_the_redo() {
    let vault = Vault::new();
    vault.put("a.md", "one");
    vault.put("b.md", "two");
    assert!(vault.undo_next());
    vault.put("c.md", "three");
    assert!(!vault.redo_next(), "a write ends the redo");
    assert!(vault.undo_next());
    assert_eq!(vault.text("main/c.md"), None);
    // Undone commits are skipped.
    assert!(vault.undo_next());
    assert_eq!(vault.text("main/a.md"), None);
    assert!(vault.redo_next() && vault.redo_next());
    assert_eq!(vault.text("main/c.md").as_deref(), Some("three"));
    assert!(!vault.redo_next(), "b.md was taken back before the write");
}

#[test]
fn an_undo_can_be_taken_back_by_its_id() {
    let vault = Vault::new();
    vault.put("a.md", "one");
    vault.put("a.md", "two");
    let written = vault.memory.next_undo(None).unwrap().unwrap().id;
    assert!(matches!(vault.undo_last(), UndoOutcome::Undone(_)));
    assert!(matches!(vault.undo_last(), UndoOutcome::Undone(_)));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("two"));
    let expected = [Some(CommitKind::Redo(written)), Some(CommitKind::Undo(written)), None, None];
    assert_eq!(vault.kinds(), expected);
    assert_eq!(vault.memory.next_redo(None).unwrap(), None);
    assert!(vault.undo_next() && vault.undo_next());
    assert_eq!(vault.text("main/a.md"), None);
}

#[test]
fn undo_stays_within_a_project() {
    let vault = Vault::new();
    vault.put("a.md", "one");
    vault.memory.create_project("other").unwrap();
    let other = ProjectName::parse("other").unwrap();
    let main = ProjectName::parse("main").unwrap();
    let request = memoranda_engine::WriteRequest {
        project: other.clone(),
        path: memoranda_core::path::NotePath::parse("b.md").unwrap(),
        content: "two".into(),
        mode: WriteMode::CreateOrOverwrite,
        message: None,
    };
    vault.memory.write(&who(), &request).unwrap();
    let commit = vault.memory.next_undo(Some(&main)).unwrap().unwrap();
    assert_eq!(commit.files[0].project, main);
    vault.memory.undo(&who(), commit.id.as_str()).unwrap();
    assert_eq!(vault.memory.next_undo(Some(&main)).unwrap(), None);
    assert_eq!(vault.memory.next_redo(Some(&other)).unwrap(), None);
    assert!(vault.memory.next_redo(Some(&main)).unwrap().is_some());
}

#[test]
fn an_edit_by_hand_is_passed_over_and_does_not_end_the_redo() {
    let vault = Vault::new();
    vault.put("a.md", "one");
    assert!(vault.undo_next());
    std::fs::write(vault.folder.path().join("home/main/hand.md"), "by hand").unwrap();
    vault.sync();
    assert!(vault.redo_next());
    assert_eq!(vault.text("main/a.md").as_deref(), Some("one"));
    assert!(vault.undo_next());
    assert_eq!(vault.text("main/hand.md").as_deref(), Some("by hand"));
    assert!(!vault.undo_next());
}

#[test]
fn the_first_scan_of_a_folder_cannot_be_undone() {
    let vault = Vault::new();
    let folder = vault.folder.path().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    for n in 0..1100 {
        std::fs::write(folder.join(format!("{n}.md")), format!("note {n}")).unwrap();
    }
    vault.memory.add_project("work", &folder, HardLinkPolicy::Refuse).unwrap();
    vault.sync();
    let commits = vault.memory.log(&HistoryFilter::default(), 100, 0).unwrap();
    assert!(commits.len() > 1, "more than one batch");
    for commit in &commits {
        assert_eq!(commit.kind, Some(CommitKind::FirstScan));
        let refused = vault.memory.undo(&who(), commit.id.as_str()).unwrap_err();
        assert!(matches!(refused, EngineError::FirstScan { .. }), "{refused}");
    }
    assert_eq!(vault.memory.next_undo(None).unwrap(), None);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1100);
    // A later file is an edit, also after the index was rebuilt.
    for name in ["later.md", "rebuilt.md"] {
        std::fs::write(folder.join(name), name).unwrap();
        if name == "rebuilt.md" {
            vault.memory.reindex(&mut |_| {}).unwrap();
        }
        vault.sync();
        assert_eq!(vault.kinds()[0], Some(CommitKind::Scan), "{name}");
    }
    assert!(matches!(vault.undo_last(), UndoOutcome::Undone(_)));
    assert!(!folder.join("rebuilt.md").exists());
}

#[test]
fn a_folder_that_is_added_again_is_scanned_for_the_first_time() {
    let vault = Vault::new();
    let folder = vault.folder.path().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.md"), "one").unwrap();
    let add = || vault.memory.add_project("work", &folder, HardLinkPolicy::Refuse).unwrap();
    add();
    vault.sync();
    std::fs::write(folder.join("b.md"), "two").unwrap();
    vault.sync();
    vault.memory.remove_project("work").unwrap();
    std::fs::write(folder.join("a.md"), "one, changed").unwrap();
    std::fs::write(folder.join("c.md"), "three").unwrap();
    add();
    vault.sync();
    let commits = vault.memory.log(&HistoryFilter::default(), 100, 0).unwrap();
    let (changed, added) = (&commits[0], &commits[1]);
    let paths = |files: &[FileChange]| -> Vec<String> {
        files.iter().map(|file| file.path.to_string()).collect()
    };
    assert_eq!(
        (added.kind, paths(&added.files)),
        (Some(CommitKind::FirstScan), vec!["c.md".into()])
    );
    assert_eq!(
        (changed.kind, paths(&changed.files)),
        (Some(CommitKind::Scan), vec!["a.md".into()])
    );
}

#[test]
fn files_in_the_vault_before_it_was_one_are_not_edits() {
    let vault = Vault::new();
    let folder = vault.folder.path().join("home/main");
    std::fs::create_dir(&folder).unwrap();
    for name in ["a.md", "b.md"] {
        std::fs::write(folder.join(name), name).unwrap();
    }
    // A write before the first scan records what it replaces.
    vault.put("a.md", "written");
    vault.sync();
    let first = Some(CommitKind::FirstScan);
    assert_eq!(vault.kinds(), [first, None, first]);
    assert!(vault.undo_next());
    assert_eq!(vault.text("main/a.md").as_deref(), Some("a.md"));
    assert!(!vault.undo_next());
    std::fs::write(folder.join("c.md"), "later").unwrap();
    vault.sync();
    assert_eq!(vault.kinds()[0], Some(CommitKind::Scan));
}
