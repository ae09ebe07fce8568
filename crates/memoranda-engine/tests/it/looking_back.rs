//! Restoring: names that fit several notes, names that look alike, notes that moved.

use memoranda_core::change::{Author, ChangeChannel};
use memoranda_core::id::{CommitId, ProjectName};
use memoranda_core::path::NotePath;
use memoranda_engine::{
    DeleteOutcome, DeleteRequest, EngineError, HardLinkPolicy, MoveOutcome, MoveRequest,
    NoteLocation, NoteRevision, PointInTime, RestoreOutcome, StoreError, UndoOutcome, WriteMode,
    WriteRequest,
};

use crate::memory::{Vault, main_project, place, who};

impl Vault {
    fn by_hand(&self, path: &str, text: &str) {
        let file = self.folder.path().join("home/main").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub(crate) fn sync(&self) {
        self.memory.sync(&mut |_| {}).unwrap();
    }

    fn delete(&self, path: &str) {
        let request = DeleteRequest { place: place(path), expected: None };
        let outcome = self.memory.delete(&who(), &request).unwrap();
        assert!(matches!(outcome, DeleteOutcome::Deleted(_)), "{outcome:?}");
    }

    fn relocate(&self, from: &str, to: &str) {
        let request = MoveRequest::new(place(from), NotePath::parse(to).unwrap());
        let outcome = self.memory.move_notes(&who(), &request).unwrap();
        assert!(matches!(outcome, MoveOutcome::Moved(_)), "{outcome:?}");
    }

    fn last_commit(&self) -> CommitId {
        self.memory.log(&Default::default(), 1, 0).unwrap().remove(0).id
    }

    /// Returns each version of a note and its path, newest first.
    fn versions(&self, path: &str) -> Vec<(String, String)> {
        let revisions = self.memory.revisions(&place(path), 1000).unwrap();
        let version = |revision: NoteRevision| {
            let hash = revision.change.after;
            let bytes = hash.map(|hash| self.memory.version_content(hash).unwrap());
            let text = bytes.map(|bytes| String::from_utf8(bytes).unwrap()).unwrap_or_default();
            (revision.change.path.to_string(), text.trim().to_owned())
        };
        revisions.into_iter().map(version).collect()
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
    let add = || memory.add_project("other", &folder, HardLinkPolicy::Refuse).unwrap();
    let other = ProjectName::parse("other").unwrap();
    let note = NoteLocation { project: other.clone(), path: NotePath::parse("a.md").unwrap() };
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
    let of_another = memory.restore(&who(), Some("other"), "a.md", None);
    assert!(
        matches!(of_another, Err(EngineError::Store(StoreError::ProjectRemoved { .. }))),
        "{of_another:?}"
    );
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

fn told(versions: &[(&str, &str)]) -> Vec<(String, String)> {
    versions.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn a_moved_note_gets_back_any_version_under_any_name_it_had() {
    let vault = Vault::new();
    vault.put("H/Hist.md", "---\ntitle: Hist\n---\nv1\n");
    let first = vault.last_commit();
    vault.put("H/Hist.md", "---\ntitle: Hist\n---\nv2\n");
    let second = vault.last_commit();
    vault.relocate("H/Hist.md", "H1/Hist1.md");
    vault.relocate("H1/Hist1.md", "H2/Hist2.md");
    // Somebody else has the name in between.
    vault.put("H1/Hist1.md", "another\n");
    vault.put("H2/Hist2.md", "---\ntitle: Hist\n---\nv3\n");
    let text = |path: &str| vault.text(&format!("main/{path}")).unwrap_or_default();
    for name in ["H2/Hist2.md", "H/Hist.md", "Hist", "h/hist"] {
        for (commit, version) in [(first, "v1\n"), (second, "v2\n")] {
            let moment = Some(PointInTime::Commit(commit));
            vault.memory.restore(&who(), Some("main"), name, moment).unwrap();
            assert!(text("H2/Hist2.md").ends_with(version), "{name} {version}");
        }
    }
    assert_eq!(vault.text("main/H/Hist.md"), None);
    assert_eq!(text("H1/Hist1.md"), "another\n");
    // Deleted, it comes back where it was last.
    vault.delete("H2/Hist2.md");
    assert_eq!(vault.restored("H/Hist.md").unwrap(), "H2/Hist2.md");
    let before = Some(PointInTime::Time(jiff::Timestamp::UNIX_EPOCH));
    let error = vault.memory.restore(&who(), Some("main"), "H/Hist.md", before).unwrap_err();
    assert!(matches!(error, EngineError::NotThen { .. }), "{error}");
}

#[test]
fn a_note_has_no_part_in_what_others_did_under_its_names() {
    let vault = Vault::new();
    vault.put("Grace.md", "old one");
    let old = vault.last_commit();
    vault.put("GH.md", "was there before");
    vault.delete("GH.md");
    vault.relocate("Grace.md", "GH.md");
    vault.put("Grace.md", "new one");
    vault.put("Grace.md", "new two");
    let moved = told(&[("GH.md", "old one"), ("Grace.md", "old one")]);
    assert_eq!(vault.versions("GH.md"), moved);
    assert_eq!(
        vault.versions("Grace.md"),
        told(&[("Grace.md", "new two"), ("Grace.md", "new one")])
    );
    let read = |name: &str, at| {
        let note = vault.memory.read_as_of(Some("main"), name, PointInTime::Commit(at));
        note.map(|note| (note.place.path.to_string(), note.text().unwrap().to_owned())).ok()
    };
    let was_old = told(&[("Grace.md", "old one")]).pop();
    assert_eq!(read("GH.md", old), was_old);
    assert_eq!(read("Grace.md", old), was_old);
    // Once it is deleted, the note that has its old name is not taken for it.
    vault.delete("GH.md");
    assert_eq!(read("GH.md", vault.last_commit()), None);
    vault.undo_last();
    // There and back again.
    vault.delete("Grace.md");
    vault.relocate("GH.md", "Grace.md");
    assert_eq!(vault.versions("Grace.md")[1..4], vault.versions("GH.md")[1..4]);
    assert_eq!(vault.versions("GH.md").last(), was_old.as_ref());
}

#[test]
fn what_was_moved_and_removed_does_not_come_back_over_another() {
    let vault = Vault::new();
    vault.put("a.md", "first\n");
    vault.relocate("a.md", "b.md");
    vault.delete("b.md");
    vault.put("b.md", "another\n");
    assert_eq!(vault.restored("a.md").unwrap(), "a.md");
    assert_eq!(vault.text("main/a.md").as_deref(), Some("first\n"));
    assert_eq!(vault.text("main/b.md").as_deref(), Some("another\n"));
}

#[test]
fn very_many_versions_are_gone_through() {
    let vault = Vault::new();
    for n in 0..120 {
        vault.put("a.md", &format!("{n}"));
    }
    vault.relocate("a.md", "b.md");
    let versions = vault.versions("a.md");
    assert_eq!(versions.len(), 121);
    assert_eq!(versions.last(), told(&[("a.md", "0")]).last());
}

#[test]
fn an_undo_takes_back_the_folders_too() {
    let vault = Vault::new();
    let main = vault.folder.path().join("home/main");
    let folders = || {
        let mut found = Vec::new();
        let mut open = vec![main.clone()];
        while let Some(folder) = open.pop() {
            let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            for path in entries.filter(|path| path.is_dir()) {
                found.push(path.strip_prefix(&main).unwrap().to_str().unwrap().to_owned());
                open.push(path);
            }
        }
        found.sort();
        found
    };
    let undo = || assert!(matches!(vault.undo_last(), UndoOutcome::Undone(_)));
    // A person's folders are theirs, empty or not.
    std::fs::create_dir_all(main.join("theirs/in")).unwrap();
    vault.put("x/y/z.md", "deep");
    undo();
    assert_eq!(folders(), ["theirs", "theirs/in"]);
    vault.put("theirs/note.md", "a note");
    undo();
    assert_eq!(folders(), ["theirs", "theirs/in"]);
    vault.put("theirs/note.md", "another note");
    for _ in 0..2 {
        vault.relocate("theirs", "a/ours");
        assert_eq!(folders(), ["a", "a/ours", "a/ours/in"]);
        undo();
        assert_eq!(folders(), ["theirs", "theirs/in"]);
    }
    // An undo can be undone, and what somebody put there stays.
    vault.relocate("theirs", "a/ours");
    undo();
    undo();
    assert_eq!(folders(), ["a", "a/ours", "a/ours/in"]);
    std::fs::write(main.join("a/their.md"), "by hand").unwrap();
    undo();
    assert_eq!(folders(), ["a", "theirs", "theirs/in"]);
    vault.delete("theirs");
    assert_eq!(folders(), ["a"]);
    undo();
    assert_eq!(folders(), ["a", "theirs", "theirs/in"]);
}

#[test]
fn a_point_of_the_map_belongs_to_who_made_the_note_that_is_there() {
    let vault = Vault::new();
    let write = |client: &str, path: &str, text: &str| {
        let request = WriteRequest {
            project: main_project(),
            path: NotePath::parse(path).unwrap(),
            content: text.into(),
            mode: WriteMode::CreateOrOverwrite,
            message: None,
        };
        vault
            .memory
            .write(&Author::new(client, "write_note", ChangeChannel::Mcp), &request)
            .unwrap();
    };
    write("claude-code 2.1", "a.md", "made by Claude Code\n");
    write("cursor 1.0", "a.md", "changed by Cursor\n");
    write("claude-code 2.1", "b.md", "to be deleted\n");
    vault.delete("b.md");
    write("codex 0.4", "b.md", "made again by Codex\n");
    vault.by_hand("c.md", "by hand\n");
    vault.sync();
    let map = vault.memory.map(None).unwrap();
    let mut names: Vec<&str> =
        map.notes.iter().map(|note| map.agents[note.agent].name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Claude Code", "Codex", "You"]);
    assert!(map.notes.iter().all(|note| note.project.as_str() == "main"));
    let elsewhere = ProjectName::parse("elsewhere").unwrap();
    assert!(vault.memory.map(Some(&elsewhere)).unwrap().notes.is_empty());
}
