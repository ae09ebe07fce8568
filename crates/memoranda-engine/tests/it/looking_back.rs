//! What comes back, and where: names that fit several notes, names that look alike, notes that moved.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_engine::{
    DeleteOutcome, DeleteRequest, EngineError, HardLinks, MoveOutcome, MoveRequest, Place,
    RestoreOutcome, StoreError, UndoOutcome, WriteMode, WriteRequest,
};

use crate::memory::{Vault, place, who};

impl Vault {
    fn by_hand(&self, path: &str, text: &str) {
        let file = self.folder.path().join("home/main").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn sync(&self) {
        self.memory.sync(&mut |_| {}).unwrap();
    }

    fn delete(&self, path: &str) {
        let request = DeleteRequest { place: place(path), expected: None };
        let outcome = self.memory.delete(&who(), &request).unwrap();
        assert!(matches!(outcome, DeleteOutcome::Deleted(_)), "{outcome:?}");
    }

    fn relocate(&self, from: &str, to: &str) {
        let request = MoveRequest { from: place(from), to: NotePath::parse(to).unwrap() };
        let outcome = self.memory.relocate(&who(), &request).unwrap();
        assert!(matches!(outcome, MoveOutcome::Moved(_)), "{outcome:?}");
    }

    /// The path of the note that a restore without a moment brought back.
    fn restored(&self, name: &str) -> Result<String, EngineError> {
        match self.memory.restore(&who(), Some("main"), name, None)? {
            RestoreOutcome::Restored(restored) => Ok(restored.place.path.to_string()),
            RestoreOutcome::Unchanged(place, _) => panic!("{place} is unchanged"),
        }
    }
}

fn candidates(error: EngineError) -> Vec<String> {
    match error {
        EngineError::Ambiguous { candidates, .. } => {
            candidates.into_iter().map(|place| place.path.to_string()).collect()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn names_that_look_alike_come_back_beside_each_other() {
    for (gone, stays) in [
        ("c/note.md", "c/Note.md"),
        ("k/Ka\u{308}se.md", "k/K\u{e4}se.md"),
        ("k/K\u{e4}se.md", "k/Ka\u{308}se.md"),
    ] {
        let vault = Vault::new();
        vault.by_hand(gone, "the one\n");
        vault.by_hand(stays, "v1\n");
        vault.sync();
        vault.put(stays, "v2\n");
        let both = || {
            let text = |path: &str| vault.text(&format!("main/{path}"));
            assert_eq!(text(gone).as_deref(), Some("the one\n"), "{gone:?}");
            assert_eq!(text(stays).as_deref(), Some("v2\n"), "{stays:?}");
        };
        vault.delete(gone);
        assert!(matches!(vault.undo_last(), UndoOutcome::Undone(_)));
        both();
        vault.delete(gone);
        assert_eq!(vault.restored(gone).unwrap(), gone);
        both();
        vault.relocate(gone, "elsewhere.md");
        assert!(matches!(vault.undo_last(), UndoOutcome::Undone(_)));
        both();
    }
}

#[test]
fn a_name_that_was_taken_since_does_not_come_back() {
    let vault = Vault::new();
    vault.put("note.md", "old\n");
    vault.delete("note.md");
    let last = vault.memory.log(&Default::default(), 1, 0).unwrap().remove(0);
    vault.put("Note.md", "new\n");
    let refused = vault.memory.undo(&who(), last.id.as_str()).unwrap_err().to_string();
    assert!(refused.contains("\"Note.md\" exists"), "{refused}");
    assert_eq!(vault.text("main/note.md"), None);
}

#[test]
fn a_restore_means_one_note_alone() {
    let vault = Vault::new();
    vault.put("Archive/Index.md", "v1\n");
    vault.put("Archive/Index.md", "v2\n");
    vault.put("Project X/Index.md", "the index\n");
    vault.put("Tools/C++.md", "---\ntitle: C++\n---\nplus\n");
    vault.delete("Project X/Index.md");
    vault.delete("Tools/C++.md");
    for name in ["Index", "index"] {
        let fits = candidates(vault.restored(name).unwrap_err());
        assert_eq!(fits, ["Archive/Index.md", "Project X/Index.md"], "{name}");
    }
    assert!(matches!(vault.restored("C#"), Err(EngineError::NotFound { .. })));
    assert_eq!(vault.text("main/Archive/Index.md").as_deref(), Some("v2\n"));
    for name in ["project-x/index", "Project X/Index", "Project X/index.md", "Project X/Index.md"] {
        assert_eq!(vault.restored(name).unwrap(), "Project X/Index.md", "{name}");
        vault.delete("Project X/Index.md");
    }
    assert_eq!(vault.restored("c++").unwrap(), "Tools/C++.md");
    assert_eq!(vault.restored("Archive/Index").unwrap(), "Archive/Index.md");
    assert_eq!(vault.text("main/Archive/Index.md").as_deref(), Some("v1\n"));
}

#[test]
fn what_a_removed_project_held_comes_back_to_its_folder_or_not_at_all() {
    let vault = Vault::new();
    let memory = &vault.memory;
    let folder = vault.folder.path().join("elsewhere");
    std::fs::create_dir_all(&folder).unwrap();
    let add = || memory.add_project("other", &folder, HardLinks::Refuse).unwrap();
    let other = ProjectName::parse("other").unwrap();
    let note = Place { project: other.clone(), path: NotePath::parse("a.md").unwrap() };
    let write = |text: &str| {
        let request = WriteRequest {
            project: other.clone(),
            path: note.path.clone(),
            content: text.into(),
            mode: WriteMode::CreateOrOverwrite,
            message: None,
        };
        memory.write(&who(), &request).unwrap();
        memory.log(&Default::default(), 1, 0).unwrap().remove(0).id
    };
    let undo = |commit: &str| memory.undo(&who(), commit);
    let in_vault = vault.folder.path().join("home/other");
    add();
    write("one\n");
    let edited = write("two\n");
    let request = DeleteRequest { place: note.clone(), expected: None };
    let DeleteOutcome::Deleted(deleted) = memory.delete(&who(), &request).unwrap() else {
        panic!("not deleted");
    };
    let deleted = deleted.commit.unwrap().id;
    memory.remove_project("other").unwrap();
    for commit in [edited.as_str(), deleted.as_str()] {
        match undo(commit) {
            Err(EngineError::Store(StoreError::ProjectRemoved { name, was_at })) => {
                assert_eq!((name, was_at), (other.clone(), folder.canonicalize().unwrap()));
            }
            outcome => panic!("{outcome:?}"),
        }
        assert!(!in_vault.exists());
    }
    let gone = memory.restore(&who(), Some("other"), "a.md", None).unwrap_err().to_string();
    assert!(gone.contains(folder.to_str().unwrap()), "{gone}");

    // Another folder of that name is not where the files were.
    memory.create_project("other").unwrap();
    assert!(matches!(undo(deleted.as_str()), Err(EngineError::Store(_))));
    let own = write("of the new one\n");
    assert!(matches!(undo(own.as_str()), Ok(UndoOutcome::Undone(_))));
    memory.remove_project("other").unwrap();

    add();
    assert!(matches!(undo(deleted.as_str()), Ok(UndoOutcome::Undone(_))));
    assert_eq!(std::fs::read_to_string(folder.join("a.md")).unwrap(), "two\n");
    assert!(matches!(undo(edited.as_str()), Ok(UndoOutcome::Undone(_))));
    assert_eq!(std::fs::read_to_string(folder.join("a.md")).unwrap(), "one\n");
    assert!(!in_vault.exists());
}

#[test]
fn an_undo_that_is_refused_makes_no_project() {
    let vault = Vault::new();
    vault.put("a.md", "one\n");
    vault.put("a.md", "two\n");
    let home = vault.folder.path().join("home/main");
    std::fs::remove_dir_all(&home).unwrap();
    assert!(matches!(vault.undo_last(), UndoOutcome::ChangedSince(_)));
    assert!(!home.exists());
}
