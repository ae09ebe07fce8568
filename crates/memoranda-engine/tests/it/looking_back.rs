//! What comes back, and where: names that fit several notes, names that look alike, notes that moved.

use memoranda_core::path::NotePath;
use memoranda_engine::{
    DeleteOutcome, DeleteRequest, EngineError, MoveOutcome, MoveRequest, RestoreOutcome,
    UndoOutcome,
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
