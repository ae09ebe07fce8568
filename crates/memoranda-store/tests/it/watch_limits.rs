//! Folders that the system does not report: beyond the number of watches, and folders that were
//! closed when the watch began.

use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use memoranda_store::Store;

use crate::child::{Task, acknowledged};
use crate::support::{TestVault, eventually, found, options, sync};

const FOLDERS: usize = 12;

/// Returns the number of times that the watching thread of this process was woken.
fn wakings() -> u64 {
    let mut wakings = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim_start_matches(':').trim().to_owned())
        };
        if field("Name").as_deref() == Some("memoranda-watch") {
            wakings += field("voluntary_ctxt_switches").unwrap().parse::<u64>().unwrap();
        }
    }
    wakings
}

/// Fails if the thread that watches is woken although nothing happens.
#[track_caller]
fn assert_idle() {
    // On a busy machine, the last edit may still be in progress for a while.
    let is_idle = |_| {
        let before = wakings();
        assert_ne!(before, 0);
        std::thread::sleep(Duration::from_millis(2500));
        wakings() == before
    };
    assert!((0..8).any(is_idle));
}

/// Watches where the system lets a user have few watches, and later as many as are needed.
pub(crate) fn watch_with_few(task: &Task) {
    let setting = Path::new("/proc/sys/user").join(&task.arguments[0]);
    std::fs::write(&setting, &task.arguments[1]).unwrap();
    let store = Store::open(options(&task.folder)).unwrap();
    store.start_background().unwrap();
    eventually("a look", || store.has_looked());
    task.acknowledge("looked");
    eventually("a higher limit", || task.folder.join("raise").exists());
    std::fs::write(&setting, "1000").unwrap();
    eventually("all is watched", || store.is_watched());
    assert_idle();
    task.acknowledge("idle");
    loop {
        std::thread::park();
    }
}

struct Watcher(Child);

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn write_all(vault: &TestVault, folders: std::ops::Range<usize>, text: &str) {
    for n in folders {
        vault.write_by_hand(&format!("main/d{n}/n.md"), format!("{text} {n}\n"));
    }
}

/// Edits are found with few watches and many folders, and no process announces itself as the
/// watcher.
#[track_caller]
fn check(setting: &str, limit: usize, folders_at_first: usize) {
    let vault = TestVault::new();
    let store = vault.open();
    write_all(&vault, 0..folders_at_first, "walrus");
    sync(&store);
    let task = Task::new("few-watches", vault.folder(), &[&setting, &limit]);
    let Some(child) = task.start_with_own_limits() else {
        println!("passed over: no process can be given limits of its own here");
        return;
    };
    let _watcher = Watcher(child);
    eventually("a look", || acknowledged(vault.folder()) == ["looked"]);
    write_all(&vault, folders_at_first..FOLDERS, "walrus");
    eventually("new folders", || found(&store, "walrus").len() == FOLDERS);
    eventually("no claim to watch all", || !store.is_watched());
    for text in ["porridge", "treacle"] {
        write_all(&vault, 0..FOLDERS, text);
        eventually(text, || found(&store, text).len() == FOLDERS);
    }
    assert_eq!(found(&store, "walrus"), [""; 0]);
    assert!(!store.is_watched());
    std::fs::write(vault.folder().join("raise"), "").unwrap();
    eventually("all is watched", || acknowledged(vault.folder()) == ["looked", "idle"]);
    write_all(&vault, 0..FOLDERS, "custard");
    eventually("watched again", || found(&store, "custard").len() == FOLDERS);
    vault.assert_agrees(&store, "all is watched");
}

#[test]
fn edits_are_found_where_too_few_folders_can_be_watched() {
    check("max_inotify_watches", 6, FOLDERS);
}

#[test]
fn edits_are_found_in_folders_that_came_when_no_more_could_be_watched() {
    check("max_inotify_watches", 8, 3);
}

#[test]
fn edits_are_found_where_nothing_can_be_watched() {
    check("max_inotify_instances", 0, FOLDERS);
}

#[test]
fn a_closed_folder_is_watched_once_it_is_open() {
    let vault = TestVault::new();
    std::fs::set_permissions(vault.folder(), std::fs::Permissions::from_mode(0o777)).unwrap();
    // The superuser reads everything, so somebody else does this.
    let task = Task::new("closed", vault.folder(), &[]);
    if !task.run_as_nobody() {
        println!("passed over: no process can be started as another user here");
    }
}

/// Watches as an unprivileged user.
pub(crate) fn watch_closed_folders(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    let main = task.folder.join("home/main");
    let write = |place: &str, text: &str| {
        std::fs::create_dir_all(main.join(place).parent().unwrap()).unwrap();
        std::fs::write(main.join(place), text).unwrap();
    };
    let mode = |place: &str, mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(main.join(place), mode).unwrap();
    };
    let noticed = |text: &str, count: usize| {
        eventually(&format!("{text} in {count}"), || found(&store, text).len() == count);
    };
    for folder in ["a", "closed", "closed/deep", "z/closed", "z/y"] {
        write(&format!("{folder}/n.md"), "walrus");
    }
    mode("closed", 0o000);
    mode("z/closed", 0o000);
    store.start_background().unwrap();
    eventually("a watcher", || store.is_watched());
    noticed("walrus", 2);
    // One closed folder takes no other out of sight, and nobody is kept awake by it.
    for folder in ["a", "z/y"] {
        write(&format!("{folder}/n.md"), "porridge");
    }
    noticed("porridge", 2);
    assert_idle();
    mode("closed", 0o755);
    mode("z/closed", 0o755);
    noticed("walrus", 3);
    for folder in ["closed", "closed/deep", "z/closed"] {
        write(&format!("{folder}/n.md"), "treacle");
    }
    noticed("treacle", 3);
    // Nor does one that is closed when it comes.
    std::fs::DirBuilder::new().mode(0o000).create(main.join("late")).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    mode("late", 0o755);
    std::thread::sleep(Duration::from_millis(600));
    write("late/n.md", "custard");
    noticed("custard", 1);
    write("late/n.md", "trifle");
    noticed("trifle", 1);
    assert!(store.is_watched());
    assert_idle();
}
