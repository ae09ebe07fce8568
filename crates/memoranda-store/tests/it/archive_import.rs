//! A history that another device began.

use memoranda_core::change::{ExpectedContent, FileAction};

use super::support::{TestVault, change, made, make, operation, path, put, remove, sync};

#[test]
fn an_import_brings_back_times_and_empty_projects() {
    let (old, new) = (TestVault::new(), TestVault::new());
    let store = old.open();
    put(&store, "note.md", "one");
    remove(&store, "note.md");
    old.write_by_hand("other/old.md", "old");
    let file = std::fs::File::options().write(true).open(old.home().join("other/old.md")).unwrap();
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    file.set_modified(then).unwrap();
    sync(&store);
    let mut archive = Vec::new();
    store.export(&mut archive).unwrap();

    let store = new.open();
    store.import(&mut archive.as_slice()).unwrap();
    let projects: Vec<String> =
        store.projects().unwrap().into_iter().map(|project| project.name.to_string()).collect();
    assert_eq!(projects, ["main", "other"]);
    let metadata = std::fs::metadata(new.home().join("other/old.md")).unwrap();
    assert_eq!(metadata.modified().unwrap(), then);
}

#[test]
fn an_imported_history_goes_on_and_an_index_made_anew_agrees() {
    let (old, new) = (TestVault::new(), TestVault::new());
    let store = old.open();
    put(&store, "edited.md", "one");
    put(&store, "moved.md", "two");
    put(&store, "deleted.md", "three");
    remove(&store, "deleted.md");
    let mut archive = Vec::new();
    store.export(&mut archive).unwrap();

    let store = new.open();
    store.import(&mut archive.as_slice()).unwrap();
    put(&store, "edited.md", "more");
    put(&store, "deleted.md", "three");
    let content = b"two".to_vec();
    let action = FileAction::MoveFrom { from: path("moved.md"), content };
    made(make(&store, change(vec![operation("there.md", ExpectedContent::Anything, action)])));
    let scratch = tempfile::TempDir::new().unwrap();
    let report = store.check(scratch.path()).unwrap();
    assert!(report.agrees(), "{report:?}");
}

/// A file that is too large for the history stops neither an export nor the change of its folder.
#[test]
fn a_large_file_is_exported_and_stays_where_it_is() {
    let (old, new) = (TestVault::new(), TestVault::new());
    let store = old.open();
    put(&store, "folder/note.md", "one");
    let size = memoranda_store::MAX_FILE_BYTES + 5;
    let video = std::fs::File::create(old.home().join("main/folder/video.mp4")).unwrap();
    video.set_len(size).unwrap();
    sync(&store);
    let mut archive = Vec::new();
    let report = store.export(&mut archive).unwrap();
    assert_eq!((report.files, report.bytes), (2, size + 3));

    let restored = new.open();
    assert_eq!(restored.import(&mut archive.as_slice()).unwrap().files, 2);
    let metadata = std::fs::metadata(new.home().join("main/folder/video.mp4")).unwrap();
    assert_eq!(metadata.len(), size);

    let below =
        store.snapshot().unwrap().below(&super::support::main_project(), &path("folder")).unwrap();
    assert_eq!(below.files, [path("folder/note.md")]);
    assert_eq!(below.passed_over, ["folder/video.mp4"]);
}
