//! A vault that a synchroniser copies between devices, while one of them watches it.

use memoranda_core::change::{ChangeOperation, Commit, ExpectedContent, FileAction};
use memoranda_core::id::ProjectName;
use memoranda_store::{HistoryFilter, Store};

use crate::support::{
    TestVault, change, copy_folder, eventually, found, made, make, path, put, sync,
};

fn put_in(store: &Store, project: &str, place: &str, text: &str) -> Commit {
    let operation = ChangeOperation {
        project: ProjectName::parse(project).unwrap(),
        path: path(place),
        expect: ExpectedContent::Anything,
        action: FileAction::Put(text.as_bytes().to_vec()),
    };
    made(make(store, change(vec![operation])))
}

/// Brings the log of the other device here, and some of its files afterwards.
fn bring(from: &TestVault, to: &TestVault, files: &[&str]) {
    let device = std::fs::read_to_string(from.folder().join("state-other/device")).unwrap();
    let log = format!(".memoranda/log/{}", device.trim());
    copy_folder(&from.home().join(&log), &to.home().join(&log));
    for file in files {
        // A synchroniser writes elsewhere, and renames.
        let place = to.home().join(file);
        let aside = to.folder().join("arriving");
        std::fs::copy(from.home().join(file), &aside).unwrap();
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::rename(aside, place).unwrap();
    }
}

/// Returns the names of the clients that wrote a note, the newest first.
fn writers(store: &Store, project: &str, place: &str) -> Vec<String> {
    let commits = store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap();
    let project = ProjectName::parse(project).unwrap();
    let is_of_note = |commit: &&Commit| {
        commit.files.iter().any(|f| f.project == project && f.path == path(place))
    };
    commits.iter().filter(is_of_note).map(|commit| commit.author.client.clone()).collect()
}

#[test]
fn what_an_agent_wrote_on_another_device_is_no_edit_of_this_one() {
    let here = TestVault::new();
    let watching = here.open();
    put(&watching, "a.md", "written here: siskin");
    sync(&watching);
    let there = here.copy();
    let other = there.open_as("other");
    sync(&other);
    put_in(&other, "birds", "b.md", "written there: dunnock");
    put_in(&other, "main", "a.md", "changed there: wryneck");
    put_in(&other, "main", "c.md", "written there, too: fieldfare");
    drop(other);
    watching.start_background().unwrap();
    eventually("someone watches", || watching.is_watched());
    bring(&there, &here, &["birds/b.md", "main/a.md", "main/c.md"]);
    for (word, place) in
        [("dunnock", "birds/b.md"), ("wryneck", "main/a.md"), ("fieldfare", "main/c.md")]
    {
        eventually(place, || found(&watching, word) == [place]);
    }
    assert_eq!(writers(&watching, "birds", "b.md"), ["test"]);
    assert_eq!(writers(&watching, "main", "a.md"), ["test", "test"]);
    assert_eq!(writers(&watching, "main", "c.md"), ["test"]);
    here.assert_agrees(&watching, "after the files came");
}
