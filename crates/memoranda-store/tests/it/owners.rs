//! A vault has one owner. The superuser may write to it without locking its owner out, and another
//! user leaves nothing there, unless the vault is open to a group of both.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_store::{OpenOptions, Store, StoreError};

use crate::child::Task;
use crate::support::{
    TestVault, change, found, main_project, operation, options, path, put, sync, who,
};

const OWNER: u32 = 65534;
const STRANGER: u32 = 65533;
/// A group that has both as members.
const GROUP: u32 = 65532;

/// Options of another account: an index and a device of its own.
fn options_of(folder: &Path, account: &str) -> OpenOptions {
    let own = folder.join(account);
    OpenOptions { home: folder.join("home"), ..OpenOptions::in_folder(&own) }
}

/// Makes the vault, or looks at it again.
pub(crate) fn own_a_vault(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    match task.arguments[0].as_str() {
        "begin" => {
            put(&store, "own.md", "written by the owner: kestrel");
        }
        "share" => {
            sync(&store);
            assert_eq!(found(&store, "osprey"), ["main/x.md"]);
            put(&store, "x.md", "the owner goes on: buzzard");
            let scratch = tempfile::TempDir::new_in(&task.folder).unwrap();
            let check = store.check(scratch.path()).unwrap();
            assert!(check.agrees(), "{check:?}");
        }
        _ => {
            sync(&store);
            assert_eq!(found(&store, "osprey"), ["main/new/by-root.md"]);
            put(&store, "own.md", "the owner goes on: buzzard");
            put(&store, "new/by-root.md", "and changes what the superuser made: harrier");
            let scratch = tempfile::TempDir::new_in(&task.folder).unwrap();
            let check = store.check(scratch.path()).unwrap();
            assert!(check.agrees(), "{check:?}");
        }
    }
}

/// Opens and writes to the vault of another user.
pub(crate) fn write_as_a_stranger(task: &Task) {
    let store = Store::open(options_of(&task.folder, "stranger")).unwrap();
    let wanted =
        change(vec![operation("x.md", ExpectedContent::Anything, FileAction::Put(b"no".to_vec()))]);
    let write = || store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone()));
    let error = write().unwrap_err();
    assert!(matches!(&error, StoreError::VaultOfOther { .. }), "{error:?}");
    assert!(store.read(&main_project(), &path("own.md")).is_err());
    // A failure with another reason keeps it.
    let device = std::fs::read_to_string(task.folder.join("stranger/state/device")).unwrap();
    let log = task.folder.join("home/.memoranda/log").join(device.trim());
    std::os::unix::fs::symlink("nowhere", &log).unwrap();
    let error = write().unwrap_err();
    assert!(matches!(&error, StoreError::Io { .. }), "{error:?}");
    std::fs::remove_file(log).unwrap();
}

/// Writes to the vault of another user that is open to a group.
pub(crate) fn write_as_a_member(task: &Task) {
    let store = Store::open(options_of(&task.folder, "member")).unwrap();
    sync(&store);
    assert_eq!(found(&store, "kestrel"), ["main/own.md"]);
    put(&store, "x.md", "written by another member of the group: osprey");
}

fn everything_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(everything_in(&entry.path()));
        }
        found.push(entry.path());
    }
    found
}

/// Makes a vault as another user; `None` if that is not possible here.
fn vault_of_another_user() -> Option<TestVault> {
    let vault = TestVault::new();
    std::fs::set_permissions(vault.folder(), std::fs::Permissions::from_mode(0o777)).unwrap();
    if !Task::new("own-vault", vault.folder(), &[&"begin"]).run_as(OWNER) {
        println!("skipped: no process can be started as another user here");
        return None;
    }
    Some(vault)
}

#[test]
fn what_the_superuser_writes_belongs_to_the_owner_of_the_vault() {
    let Some(vault) = vault_of_another_user() else { return };
    let store = Store::open(options_of(vault.folder(), "root")).unwrap();
    put(&store, "own.md", "changed by the superuser: falcon");
    put(&store, "new/by-root.md", "made by the superuser: osprey");
    sync(&store);
    drop(store);
    for place in everything_in(&vault.home()) {
        let owner = std::fs::symlink_metadata(&place).unwrap().uid();
        assert_eq!(owner, OWNER, "{}", place.display());
    }
    assert!(Task::new("own-vault", vault.folder(), &[&"go on"]).run_as(OWNER));
}

#[test]
fn another_user_is_refused_and_leaves_nothing() {
    let Some(vault) = vault_of_another_user() else { return };
    for place in everything_in(&vault.home()).into_iter().chain([vault.home()]) {
        let mode = if place.is_dir() { 0o777 } else { 0o666 };
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let before = everything_in(&vault.home());
    assert!(Task::new("stranger", vault.folder(), &[]).run_as(STRANGER));
    assert_eq!(everything_in(&vault.home()), before);
}

#[test]
fn the_superuser_gives_away_only_what_it_made() {
    let Some(vault) = vault_of_another_user() else { return };
    let owner_of = |place: &Path| std::fs::symlink_metadata(place).unwrap().uid();
    // The owner of a vault could name a file of the superuser there.
    let outside = vault.folder().join("outside");
    std::fs::write(&outside, "of the superuser").unwrap();
    let named = vault.home().join(".memoranda/watcher");
    std::fs::remove_file(&named).ok();
    std::fs::hard_link(&outside, &named).unwrap();
    let store = Store::open(options_of(vault.folder(), "root")).unwrap();
    assert!(!store.is_watched());
    put(&store, "own.md", "changed by the superuser: falcon");
    assert_eq!(owner_of(&outside), 0);
    assert_eq!(owner_of(&vault.home().join("main/own.md")), OWNER);
}

#[test]
fn members_of_a_group_to_which_a_vault_was_opened_read_each_others_logs() {
    let Some(vault) = vault_of_another_user() else { return };
    // As a platform opens a volume to a group when it is mounted.
    for place in everything_in(&vault.home()).into_iter().chain([vault.home()]) {
        std::os::unix::fs::lchown(&place, None, Some(GROUP)).unwrap();
        let mode = if place.is_dir() { 0o2770 } else { 0o660 };
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    assert!(Task::new("member", vault.folder(), &[]).run_as_member(STRANGER, GROUP));
    assert!(Task::new("own-vault", vault.folder(), &[&"share"]).run_as_member(OWNER, GROUP));
    assert!(Task::new("member", vault.folder(), &[]).run_as_member(STRANGER, GROUP));
}
