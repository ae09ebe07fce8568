//! A folder that is not the project's stands where the drive should be: nothing is shown of it,
//! nothing is written to it, and nothing is believed deleted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use memoranda_core::change::{ChangeOperation, ExpectedContent, FileAction};
use memoranda_core::id::ProjectName;
use memoranda_store::{CommitOutcome, HardLinkPolicy, Store, StoreError};
use tempfile::TempDir;

use crate::support::{
    TestVault, change, copy_folder, eventually, found, main_project, path, put, sync, who,
};

/// A vault with a project that lies on a drive, with two notes.
struct Mounted {
    vault: TestVault,
    drive: PathBuf,
    away: PathBuf,
}

fn work() -> ProjectName {
    ProjectName::parse("work").unwrap()
}

fn write(
    store: &Store,
    project: &ProjectName,
    place: &str,
    text: &str,
) -> Result<CommitOutcome, StoreError> {
    let action = FileAction::Put(text.as_bytes().to_vec());
    let operation = ChangeOperation {
        project: project.clone(),
        path: path(place),
        expect: ExpectedContent::Anything,
        action,
    };
    store.transact(&who("test"), |_| Ok::<_, StoreError>(change(vec![operation.clone()])))
}

impl Mounted {
    fn new() -> Self {
        let vault = TestVault::new();
        let (drive, away) = (vault.folder().join("drive"), vault.folder().join("away"));
        std::fs::create_dir_all(drive.join("birds")).unwrap();
        std::fs::write(drive.join("note.md"), "on the drive: siskin").unwrap();
        std::fs::write(drive.join("birds/other.md"), "on the drive: serin").unwrap();
        let store = vault.open();
        store.add_project(&work(), &drive, HardLinkPolicy::Refuse).unwrap();
        sync(&store);
        Self { vault, drive, away }
    }

    /// Takes the drive away; what `put_there` puts is found in its place.
    fn unmount(&self, put_there: impl FnOnce(&Path)) {
        std::fs::rename(&self.drive, &self.away).unwrap();
        put_there(&self.drive);
    }

    fn mount(&self) {
        if std::fs::symlink_metadata(&self.drive).unwrap().is_symlink() {
            std::fs::remove_file(&self.drive).unwrap()
        } else {
            std::fs::remove_dir(&self.drive).unwrap()
        }
        std::fs::rename(&self.away, &self.drive).unwrap();
    }

    /// Nothing of the folder is shown, nothing is written to it, and all indexed notes stay.
    #[track_caller]
    fn assert_out_of_reach(&self, store: &Store) {
        let names = || {
            let mut names: Vec<_> = std::fs::read_dir(&self.drive).unwrap().collect();
            names.sort_by_key(|entry| entry.as_ref().unwrap().file_name());
            names.into_iter().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
        };
        let before = names();
        let commits = store.snapshot().unwrap().counts().unwrap().commits;
        let note = path("note.md");
        let out_of_reach = [
            store.entries(&work(), None).map(drop),
            store.read(&work(), &note).map(drop),
            store.stat(&work(), &note).map(drop),
            store.snapshot().unwrap().below(&work(), &path("birds")).map(drop),
            store.spelled(&work(), &note).map(drop),
            write(store, &work(), "new.md", "lost").map(drop),
            write(store, &work(), "note.md", "lost").map(drop),
            store
                .transact(&who("test"), |view| {
                    view.read(&work(), &note)?;
                    Ok::<_, StoreError>(change(Vec::new()))
                })
                .map(drop),
        ];
        for (n, result) in out_of_reach.into_iter().enumerate() {
            let is_refused = matches!(result, Err(StoreError::ProjectUnavailable { .. }));
            assert!(is_refused, "call {n}: {result:?}");
        }
        let report = sync(store);
        assert_eq!((report.removed, report.unavailable.len()), (0, 1), "{report:?}");
        assert!(!store.is_as_known(&work(), &[path("birds")]).unwrap());
        assert_eq!(found(store, "siskin"), ["work/note.md"]);
        assert_eq!(names(), before);
        self.vault.assert_agrees(store, "out of reach");
        // The rest of the vault goes on.
        put(store, "main.md", &format!("still here {commits}"));
        assert_eq!(store.snapshot().unwrap().counts().unwrap().commits, commits + 1);
    }

    #[track_caller]
    fn assert_in_reach(&self, store: &Store) {
        let removed = sync(store).removed;
        assert_eq!(removed, 0);
        assert_eq!(store.entries(&work(), None).unwrap().unwrap().entries.len(), 2);
        assert_eq!(found(store, "siskin"), ["work/note.md"]);
        write(store, &work(), "note.md", "written again: siskin").unwrap();
        let text = std::fs::read_to_string(self.drive.join("note.md")).unwrap();
        assert_eq!(text, "written again: siskin");
        self.vault.assert_agrees(store, "in reach");
    }
}

#[test]
fn an_empty_folder_in_the_place_of_a_drive_is_neither_shown_nor_written_to() {
    let mounted = Mounted::new();
    let running = mounted.vault.open();
    mounted.assert_in_reach(&running);
    mounted.unmount(|place| std::fs::create_dir(place).unwrap());
    mounted.assert_out_of_reach(&running);
    mounted.assert_out_of_reach(&mounted.vault.open());
    // Nor by a rebuilt index, before or after its first scan.
    for file in mounted.vault.index_files() {
        std::fs::remove_file(file).unwrap();
    }
    mounted.assert_out_of_reach(&mounted.vault.open());
    // Nor is anything forgotten by one that is made while there is no folder at all.
    std::fs::remove_dir(&mounted.drive).unwrap();
    running.reindex(&mut |_| {}).unwrap();
    assert_eq!(found(&running, "siskin"), ["work/note.md"]);
    std::fs::create_dir(&mounted.drive).unwrap();
    mounted.mount();
    mounted.assert_in_reach(&running);
    mounted.assert_in_reach(&mounted.vault.open());
}

/// A folder on another file system than the vault, if this machine has one.
fn on_another_device(vault: &TestVault) -> Option<TempDir> {
    use std::os::unix::fs::MetadataExt as _;
    let device = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.dev()).ok();
    let here = device(vault.folder());
    let places = [std::env::temp_dir(), "/dev/shm".into(), env!("CARGO_TARGET_TMPDIR").into()];
    let place = places.iter().find(|place| device(place).is_some_and(|it| Some(it) != here));
    if place.is_none() {
        println!("passed over: this machine has one file system only");
    }
    TempDir::new_in(place?).ok()
}

#[test]
fn another_device_without_a_known_note_is_not_the_project_whatever_it_holds() {
    let mounted = Mounted::new();
    let Some(other) = on_another_device(&mounted.vault) else { return };
    let running = mounted.vault.open();
    mounted.assert_in_reach(&running);
    std::fs::write(other.path().join("stray.md"), "not of the project: wryneck").unwrap();
    mounted.unmount(|place| std::os::unix::fs::symlink(other.path(), place).unwrap());
    mounted.assert_out_of_reach(&running);
    mounted.assert_out_of_reach(&mounted.vault.open());
    assert_eq!(found(&running, "wryneck"), [""; 0]);
    // With the notes in it, it is where the project went.
    std::fs::remove_file(other.path().join("stray.md")).unwrap();
    std::fs::create_dir(other.path().join("birds")).unwrap();
    for place in ["note.md", "birds/other.md"] {
        std::fs::copy(mounted.away.join(place), other.path().join(place)).unwrap();
    }
    mounted.assert_in_reach(&running);
    mounted.assert_in_reach(&mounted.vault.open());
}

#[test]
fn a_copy_that_was_brought_back_is_the_project() {
    let mounted = Mounted::new();
    let running = mounted.vault.open();
    mounted.assert_in_reach(&running);
    mounted.unmount(|place| {
        std::fs::create_dir_all(place.join("birds")).unwrap();
        std::fs::copy(mounted.away.join("note.md"), place.join("note.md")).unwrap();
        std::fs::write(place.join("birds/young.md"), "newer: fieldfare").unwrap();
    });
    mounted.assert_reads_copy(&running);
}

impl Mounted {
    fn assert_reads_copy(&self, store: &Store) {
        assert!(store.read(&work(), &path("note.md")).unwrap().is_some());
        let report = sync(store);
        assert_eq!((report.added, report.removed), (1, 1), "{report:?}");
        assert_eq!(found(store, "fieldfare"), ["work/birds/young.md"]);
        self.vault.assert_agrees(store, "a copy");
    }
}

#[test]
fn whoever_means_another_folder_can_say_so() {
    let mounted = Mounted::new();
    let store = mounted.vault.open();
    // Notes that somebody put in its place on the same drive.
    mounted.unmount(|place| {
        std::fs::create_dir(place).unwrap();
        std::fs::write(place.join("fresh.md"), "a new beginning: redwing").unwrap();
    });
    assert_eq!(sync(&store).removed, 2);
    assert_eq!(found(&store, "redwing"), ["work/fresh.md"]);
    // An empty folder, by adding it again.
    std::fs::rename(&mounted.drive, mounted.vault.folder().join("gone")).unwrap();
    std::fs::create_dir(&mounted.drive).unwrap();
    mounted.vault.open().remove_project("work").unwrap();
    store.add_project(&work(), &mounted.drive, HardLinkPolicy::Refuse).unwrap();
    write(&store, &work(), "first.md", "written").unwrap();
    assert_eq!(sync(&store).unavailable, []);
}

#[test]
fn what_is_written_to_a_drive_is_not_missed_in_the_folder_that_it_was_mounted_on() {
    let vault = TestVault::new();
    let (place, point) = (vault.folder().join("drive"), vault.folder().join("point"));
    let drive = vault.folder().join("the drive itself");
    std::fs::create_dir(&place).unwrap();
    std::fs::create_dir(&drive).unwrap();
    // Added while the drive was away.
    vault.open().add_project(&work(), &place, HardLinkPolicy::Refuse).unwrap();
    sync(&vault.open());
    std::fs::rename(&place, &point).unwrap();
    std::fs::rename(&drive, &place).unwrap();
    write(&vault.open(), &work(), "note.md", "on the drive: linnet").unwrap();
    std::fs::rename(&place, &drive).unwrap();
    std::fs::rename(&point, &place).unwrap();
    let store = vault.open();
    let report = sync(&store);
    assert_eq!((report.removed, report.unavailable.len()), (0, 1), "{report:?}");
    assert_eq!(found(&store, "linnet"), ["work/note.md"]);
}

#[test]
fn a_folder_of_the_vault_that_is_made_anew_is_the_project() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", "in the vault: twite");
    sync(&store);
    // Something is made in between, so that the new folder is not given the number of the old one.
    std::fs::rename(vault.home().join("main"), vault.folder().join("away")).unwrap();
    store.ensure_project(&main_project()).unwrap();
    let other = vault.open();
    assert_eq!(other.entries(&main_project(), None).unwrap().unwrap().entries, []);
    put(&other, "new.md", "after that: brambling");
    sync(&other);
    assert_eq!(found(&other, "brambling"), ["main/new.md"]);
    assert_eq!(found(&other, "twite"), [""; 0]);
}

#[test]
fn nothing_is_completed_in_a_folder_that_is_not_the_project() {
    let mounted = Mounted::new();
    let store = mounted.vault.open();
    write(&store, &work(), "last.md", "written last").unwrap();
    drop(store);
    mounted.unmount(|place| std::fs::create_dir(place).unwrap());
    std::fs::remove_file(checkpoint(&mounted.vault)).ok();
    mounted.vault.restart_machine();
    mounted.assert_out_of_reach(&mounted.vault.open());
}

fn checkpoint(vault: &TestVault) -> PathBuf {
    vault.segment().with_file_name("checkpoint")
}

/// An edit by hand is noticed in a folder, whatever became of it before.
#[track_caller]
fn assert_noticed(store: &Store, folder: &Path, word: &str) {
    std::fs::write(folder.join(format!("{word}.md")), format!("by hand: {word}")).unwrap();
    eventually(&format!("{word} is noticed"), || !found(store, word).is_empty());
}

#[test]
fn a_folder_that_was_replaced_or_was_away_is_watched_anew() {
    let mounted = Mounted::new();
    let store = mounted.vault.open();
    put(&store, "note.md", "in the vault: twite");
    store.start_background().unwrap();
    eventually("a watcher", || store.is_watched());
    let aside = mounted.vault.folder().join("aside");
    for (n, folder) in [mounted.vault.home().join("main"), mounted.drive.clone()].iter().enumerate()
    {
        assert_noticed(&store, folder, &format!("begin{n}"));
        // A copy takes its place.
        let copy = mounted.vault.folder().join(format!("copy{n}"));
        copy_folder(folder, &copy);
        std::fs::write(copy.join("mark.md"), format!("in the copy: mark{n}")).unwrap();
        std::fs::rename(folder, mounted.vault.folder().join(format!("old{n}"))).unwrap();
        std::fs::rename(&copy, folder).unwrap();
        eventually("the copy is noticed", || !found(&store, &format!("mark{n}")).is_empty());
        assert_noticed(&store, folder, &format!("copied{n}"));
        // It is away for so short a time that nobody sees it.
        std::fs::rename(folder, &aside).unwrap();
        std::fs::rename(&aside, folder).unwrap();
        std::thread::sleep(Duration::from_millis(600));
        assert_noticed(&store, folder, &format!("shortly{n}"));
        // Nothing is there, and then an empty folder, as on a drive that is not mounted. Without its
        // folder in the vault, a note is gone.
        let is_in_vault = folder.starts_with(mounted.vault.home());
        let left = if is_in_vault { 0 } else { 1 };
        std::fs::rename(folder, &aside).unwrap();
        std::thread::sleep(Duration::from_millis(600));
        eventually("what is left", || found(&store, &format!("copied{n}")).len() == left);
        std::fs::create_dir(folder).unwrap();
        std::thread::sleep(Duration::from_millis(600));
        assert_eq!(found(&store, &format!("copied{n}")).len(), left);
        std::fs::remove_dir(folder).unwrap();
        std::fs::rename(&aside, folder).unwrap();
        std::thread::sleep(Duration::from_millis(1200));
        assert_noticed(&store, folder, &format!("back{n}"));
        eventually("what was away", || found(&store, &format!("copied{n}")).len() == 1);
    }
    assert_eq!(sync(&store).unavailable, []);
    mounted.vault.assert_agrees(&store, "all there");
}

#[test]
fn notes_that_went_with_a_folder_are_gone_once_another_is_filled() {
    let mounted = Mounted::new();
    let store = mounted.vault.open();
    put(&store, "note.md", "in the vault: twite");
    store.start_background().unwrap();
    eventually("a watcher", || store.is_watched());
    let main = mounted.vault.home().join("main");
    for (folder, old, new) in [(main, "twite", "dunnock"), (mounted.drive, "siskin", "crake")] {
        std::fs::rename(&folder, mounted.vault.folder().join(old)).unwrap();
        std::fs::create_dir(&folder).unwrap();
        // The empty folder is seen to be none of the project's before something lies in it.
        std::thread::sleep(Duration::from_millis(700));
        assert_noticed(&store, &folder, new);
        eventually(&format!("{old} is gone"), || found(&store, old).is_empty());
        mounted.vault.assert_agrees(&store, old);
    }
}

#[test]
fn whoever_finds_another_folder_tells_the_process_that_watches() {
    let mounted = Mounted::new();
    // The parent folder is moved; the system reports that to no watcher of its subfolders.
    let (above, old) = (mounted.vault.folder().join("above"), mounted.vault.folder().join("old"));
    let folder = above.join("notes");
    std::fs::create_dir_all(&folder).unwrap();
    let name = ProjectName::parse("deep").unwrap();
    let store = mounted.vault.open();
    store.add_project(&name, &folder, HardLinkPolicy::Refuse).unwrap();
    store.start_background().unwrap();
    eventually("a watcher", || store.is_watched());
    assert_noticed(&store, &folder, "capercaillie");
    let copy = mounted.vault.folder().join("copy");
    copy_folder(&above, &copy);
    std::fs::rename(&above, &old).unwrap();
    std::fs::rename(&copy, &above).unwrap();
    mounted.vault.open().entries(&name, None).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    assert_noticed(&store, &folder, "ptarmigan");
}

/// A vault with a note in `main`, and in a project `work` that a person made.
fn with_work() -> (TestVault, Store, PathBuf) {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "main.md", "in the vault: twite");
    vault.write_by_hand("work/note.md", "by hand: siskin");
    vault.write_by_hand("work/birds/other.md", "by hand: serin");
    write(&store, &work(), "tool.md", "by a tool: siskin").unwrap();
    sync(&store);
    assert_eq!(found(&store, "siskin").len(), 2);
    let folder = vault.home().join("work");
    (vault, store, folder)
}

#[test]
fn a_folder_that_is_removed_from_the_vault_takes_its_notes_along() {
    let (vault, store, folder) = with_work();
    let aside = vault.folder().join("aside");
    std::fs::rename(&folder, &aside).unwrap();
    let report = sync(&store);
    assert_eq!((report.removed, report.unavailable.len()), (3, 0), "{report:?}");
    assert_eq!(found(&store, "siskin"), [""; 0]);
    assert_eq!(found(&store, "twite"), ["main/main.md"]);
    assert_eq!(store.snapshot().unwrap().deleted(&work(), None).unwrap().len(), 3);
    vault.assert_agrees(&store, "removed");
    assert_eq!(sync(&store).removed, 0);
    // Nothing creates the missing folder again.
    drop(store);
    vault.restart_machine();
    let store = vault.open();
    put(&store, "x.md", "another start");
    assert!(!folder.exists());
    std::fs::rename(&aside, &folder).unwrap();
    assert_eq!(sync(&store).added, 3);
    assert_eq!(found(&store, "siskin").len(), 2);
    vault.assert_agrees(&store, "back");
    // A request for another index gets this answer, too.
    std::fs::remove_dir_all(&folder).unwrap();
    vault.assert_agrees(&store, "before the look");
    sync(&store);
    assert_eq!(found(&store, "siskin"), [""; 0]);
}

#[test]
fn an_index_that_never_saw_a_folder_forgets_none_of_its_notes() {
    let (vault, store, folder) = with_work();
    let aside = vault.folder().join("aside");
    std::fs::rename(&folder, &aside).unwrap();
    store.reindex(&mut |_| {}).unwrap();
    let report = sync(&store);
    assert_eq!((report.removed, report.unavailable.len()), (0, 1), "{report:?}");
    assert_eq!(found(&store, "siskin").len(), 2);
    // As the report says: an empty folder of that name confirms the deletion.
    std::fs::create_dir(&folder).unwrap();
    sync(&store);
    assert_eq!(found(&store, "siskin"), [""; 0]);
    assert_eq!(store.snapshot().unwrap().deleted(&work(), None).unwrap().len(), 3);
}

#[test]
fn a_folder_whose_name_changes_its_case_is_there_once() {
    let (vault, store, folder) = with_work();
    std::fs::rename(&folder, vault.home().join("Work")).unwrap();
    sync(&store);
    let places = found(&store, "siskin");
    assert!(
        places.len() == 2 && places.iter().all(|place| place.starts_with("Work/")),
        "{places:?}"
    );
}

#[test]
fn a_folder_that_is_removed_under_a_watcher_takes_its_notes_along() {
    let (vault, store, folder) = with_work();
    store.start_background().unwrap();
    eventually("a watcher", || store.is_watched());
    std::fs::rename(&folder, vault.home().join("work-old")).unwrap();
    eventually("the other name", || {
        found(&store, "siskin").iter().all(|place| place.starts_with("work-old/"))
    });
    std::fs::remove_dir_all(vault.home().join("work-old")).unwrap();
    eventually("nothing", || found(&store, "siskin").is_empty());
}

#[test]
fn a_link_in_the_place_of_a_folder_removes_nothing() {
    let (vault, store, folder) = with_work();
    let aside = vault.folder().join("aside");
    std::fs::rename(&folder, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &folder).unwrap();
    for context in ["linked", "linked, with an index made anew"] {
        let report = sync(&store);
        assert_eq!((report.removed, report.unavailable.len()), (0, 1), "{context}: {report:?}");
        assert_eq!(found(&store, "siskin").len(), 2, "{context}");
        vault.assert_agrees(&store, context);
        store.reindex(&mut |_| {}).unwrap();
    }
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&aside, &folder).unwrap();
    assert_eq!(sync(&store).removed, 0);
    vault.assert_agrees(&store, "back");
}

#[test]
fn a_folder_elsewhere_that_the_vault_no_longer_lists_is_not_removed() {
    let mounted = Mounted::new();
    let store = mounted.vault.open();
    let list = mounted.vault.home().join(".memoranda/projects.toml");
    let listed = std::fs::read(&list).unwrap();
    std::fs::remove_file(&list).unwrap();
    let report = sync(&store);
    assert_eq!((report.removed, report.unavailable.len()), (0, 1), "{report:?}");
    assert_eq!(found(&store, "siskin"), ["work/note.md"]);
    mounted.vault.assert_agrees(&store, "not listed");
    std::fs::write(&list, listed).unwrap();
    mounted.assert_in_reach(&store);
}

#[test]
fn a_vault_that_is_away_has_lost_nothing() {
    let (vault, store, _) = with_work();
    let commits = store.snapshot().unwrap().counts().unwrap().commits;
    let aside = vault.folder().join("aside");
    std::fs::rename(vault.home(), &aside).unwrap();
    for put_there in [|_: &Path| {}, |home: &Path| std::fs::create_dir(home).unwrap()] {
        put_there(&vault.home());
        // It may fail; it may not believe that all is gone.
        store.sync(&mut |_| {}).ok();
        assert_eq!(store.snapshot().unwrap().counts().unwrap().commits, commits);
        assert_eq!(found(&store, "siskin").len(), 2);
        let refused = write(&store, &main_project(), "new.md", "new").unwrap_err();
        assert!(matches!(refused, StoreError::VaultUnreachable { .. }), "{refused}");
    }
    // A person edits on another machine. No earlier commit is applied again over the edit.
    let edited = aside.join("work/note.md");
    assert!(edited.exists());
    std::fs::write(&edited, "edited elsewhere: siskin\n").unwrap();
    std::fs::remove_dir_all(vault.home()).unwrap();
    std::fs::rename(&aside, vault.home()).unwrap();
    assert_eq!(sync(&store).removed, 0);
    let note = std::fs::read_to_string(vault.home().join("work/note.md")).unwrap();
    assert_eq!(note, "edited elsewhere: siskin\n");
    assert_eq!(store.snapshot().unwrap().counts().unwrap().commits, commits + 1);
    assert_eq!(found(&store, "siskin").len(), 2);
}
