//! Promise 9: nothing leads out of a project, whatever a name or a link says. Promise 4: files
//! keep their bytes, modes and times.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use memoranda_core::change::{ChangeOperation, ChangeSet, ExpectedContent, FileAction};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::{CommitOutcome, HardLinkPolicy, Store, StoreError};

use crate::child::{Task, acknowledged};
use crate::model::Files;
use crate::support::{
    TestVault, change, eventually, found, main_project, operation, path, put, remove, rounds, sync,
    who,
};

fn try_commit(store: &Store, wanted: ChangeSet) -> Result<CommitOutcome, StoreError> {
    store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone()))
}

fn try_put(store: &Store, place: &str, text: &str) -> Result<CommitOutcome, StoreError> {
    try_commit(
        store,
        change(vec![operation(place, ExpectedContent::Anything, FileAction::Put(text.into()))]),
    )
}

#[test]
fn no_path_leads_out() {
    for bad in [
        "../x",
        "a/../../x",
        "/etc/passwd",
        "a/./b",
        "..",
        ".",
        "a\\..\\x",
        "C:/x",
        "C:x",
        "a\0b",
        "a\nb",
        "a//b",
        "a/",
        "",
        "\u{7f}",
    ] {
        assert!(NotePath::parse(bad).is_err(), "{bad:?}");
    }
    let vault = TestVault::new();
    let store = vault.open();
    let outside = Files::on_disk(vault.folder()).0.len();
    // Names that only look like a way out are plain names.
    let names = [
        "%2e%2e/x.md",
        "..%2fx.md",
        "a/..x.md",
        "\u{ff0e}\u{ff0e}/x.md",
        "\u{2025}/x.md",
        "~/x.md",
    ];
    for name in names {
        put(&store, name, "plain");
        assert_eq!(vault.text(&format!("main/{name}")).as_deref(), Some("plain"), "{name}");
    }
    let all = Files::on_disk(vault.folder()).0;
    let inside = all.keys().filter(|name| name.starts_with("home/main/")).count();
    assert_eq!(inside, names.len());
    assert!(all.len() > outside);
}

#[test]
fn what_programs_obey_is_neither_read_nor_written() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "folder/a.md", "a note");
    vault.write_by_hand("main/folder/.git/config", "[core]");
    vault.write_by_hand("main/.git/config", "[core]");
    let main = main_project();
    for place in [".git/config", "folder/.GIT/hooks/post-commit", ".memoranda/lock", ".git"] {
        let there = path(place);
        assert!(store.read(&main, &there).is_err(), "{place}");
        assert!(store.stat(&main, &there).is_err(), "{place}");
        assert!(store.snapshot().unwrap().below(&main, &there).is_err(), "{place}");
        assert!(store.entries(&main, Some(&there)).is_err(), "{place}");
        assert!(store.put_aside(&main, &there, b"x").is_err(), "{place}");
        assert!(try_put(&store, place, "fsmonitor = evil").is_err(), "{place}");
        let removed = change(vec![operation(place, ExpectedContent::Anything, FileAction::Remove)]);
        assert!(try_commit(&store, removed).is_err(), "{place}");
        for (from, to) in [(place, "b.md"), ("folder/a.md", place)] {
            let content = b"a note".to_vec();
            let moved = FileAction::MoveFrom { from: path(from), content };
            let moved = change(vec![operation(to, ExpectedContent::Anything, moved)]);
            assert!(try_commit(&store, moved).is_err(), "{from} to {to}");
        }
    }
    assert!(
        store.snapshot().unwrap().below(&main, &path("folder")).is_err(),
        "a folder that holds one does not go"
    );
    assert_eq!(vault.text("main/folder/.git/config").as_deref(), Some("[core]"));
    assert_eq!(vault.text("main/.git/config").as_deref(), Some("[core]"));
    assert_eq!(vault.text("main/folder/a.md").as_deref(), Some("a note"));
    put(&store, ".gitignore", "build/");
    vault.assert_agrees(&store, "beside what is not ours");
}

#[test]
fn links_are_neither_followed_nor_replaced() {
    let vault = TestVault::new();
    let store = vault.open();
    let outside = vault.folder().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret.md"), "secret: cormorant").unwrap();
    put(&store, "real.md", "real");
    let main = vault.home().join("main");
    symlink(outside.join("secret.md"), main.join("file.md")).unwrap();
    symlink(&outside, main.join("folder")).unwrap();
    symlink("real.md", main.join("inner.md")).unwrap();
    symlink("nowhere", main.join("dangling.md")).unwrap();
    put(&store, "inner/x.md", "in a folder");
    symlink("inner", main.join("inner-link")).unwrap();
    let report = sync(&store);
    assert_eq!(report.skipped.len(), 5, "{report:?}");
    for place in [
        "file.md",
        "folder/secret.md",
        "inner.md",
        "dangling.md",
        "folder/new.md",
        "inner-link/x.md",
    ] {
        let read = store.read(&main_project(), &path(place));
        assert!(matches!(read, Err(StoreError::NotAFile { .. })), "{place}: {read:?}");
        let error = try_put(&store, place, "overwritten").unwrap_err();
        assert!(matches!(error, StoreError::NotAFile { .. }), "{place}: {error}");
        let removal = change(vec![operation(place, ExpectedContent::Anything, FileAction::Remove)]);
        assert!(try_commit(&store, removal).is_err(), "{place}");
        let moved = FileAction::MoveFrom { from: path(place), content: b"x".to_vec() };
        let moved = change(vec![operation("stolen.md", ExpectedContent::Anything, moved)]);
        assert!(try_commit(&store, moved).is_err(), "{place}");
    }
    assert_eq!(found(&store, "cormorant"), [""; 0]);
    let all = Files::on_disk(&outside);
    assert_eq!(all.0.len(), 1);
    assert_eq!(all.0["secret.md"], b"secret: cormorant");
    // A project folder that is a link is not a project.
    symlink(&outside, vault.home().join("memories")).unwrap();
    let operation = ChangeOperation {
        project: ProjectName::parse("memories").unwrap(),
        path: path("x.md"),
        expect: ExpectedContent::Anything,
        action: FileAction::Put(b"out".to_vec()),
    };
    assert!(try_commit(&store, change(vec![operation])).is_err());
    assert_eq!(Files::on_disk(&outside).0.len(), 1);
}

/// Turns a folder into a link to the outside and back, as fast as it can.
pub(crate) fn flip_folder(task: &Task) {
    let main = task.folder.join("home/main");
    let (folder, aside) = (main.join("flip"), task.folder.join("aside"));
    let link = main.join(".link");
    for n in 0.. {
        std::fs::rename(&folder, &aside).unwrap();
        symlink(task.folder.join("outside"), &link).unwrap();
        std::fs::rename(&link, &folder).unwrap();
        std::fs::remove_file(&folder).unwrap();
        std::fs::rename(&aside, &folder).unwrap_or_else(|_| {
            // The store created the folder again in between: its files are merged.
            for entry in std::fs::read_dir(&folder).unwrap() {
                let entry = entry.unwrap();
                std::fs::rename(entry.path(), aside.join(entry.file_name())).ok();
            }
            std::fs::remove_dir_all(&folder).ok();
            std::fs::rename(&aside, &folder).unwrap();
        });
        if n == 0 {
            task.acknowledge("flipping");
        }
    }
}

#[test]
fn a_link_that_appears_between_check_and_use_leads_nowhere() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "flip/note.md", "inside");
    let outside = vault.folder().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("note.md"), "outside").unwrap();
    let mut child = Task::new("flip", vault.folder(), &[]).start();
    eventually("the first flip", || !acknowledged(vault.folder()).is_empty());
    for n in 0..rounds(150) {
        // The write may succeed or fail; it never leaves the project.
        try_put(&store, "flip/note.md", &format!("inside {n}")).ok();
        try_put(&store, &format!("flip/new-{n}.md"), "inside").ok();
        if let Ok(Some(read)) = store.read(&main_project(), &path("flip/note.md")) {
            assert!(!read.bytes.starts_with(b"outside"), "{n}: the outside was read");
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let all = Files::on_disk(&outside);
    assert_eq!(all.0.len(), 1, "{all:?}");
    assert_eq!(all.0["note.md"], b"outside");
    assert_eq!(found(&store, "outside"), [""; 0]);
}

#[test]
fn a_hard_link_is_read_only_where_it_is_allowed_and_never_written_through() {
    let vault = TestVault::new();
    let store = vault.open();
    let outside = vault.folder().join("outside.md");
    std::fs::write(&outside, "outside: gannet").unwrap();
    put(&store, "x.md", "something");
    std::fs::hard_link(&outside, vault.home().join("main/linked.md")).unwrap();
    let report = sync(&store);
    assert_eq!(report.unreadable.len(), 1, "{report:?}");
    assert_eq!(found(&store, "gannet"), [""; 0]);
    assert!(store.read(&main_project(), &path("linked.md")).is_err());
    assert!(try_put(&store, "linked.md", "through").is_err());

    let elsewhere = vault.folder().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::hard_link(&outside, elsewhere.join("linked.md")).unwrap();
    let name = ProjectName::parse("linked").unwrap();
    store.add_project(&name, &elsewhere, HardLinkPolicy::Allow).unwrap();
    sync(&store);
    assert_eq!(found(&store, "gannet"), ["linked/linked.md"]);
    let action = FileAction::Put(b"its own text".to_vec());
    let (project, path) = (name, path("linked.md"));
    let own = ChangeOperation { project, path, expect: ExpectedContent::Anything, action };
    try_commit(&store, change(vec![own])).unwrap();
    assert_eq!(std::fs::read(elsewhere.join("linked.md")).unwrap(), b"its own text");
    assert_eq!(std::fs::read(&outside).unwrap(), b"outside: gannet");
}

#[test]
fn pipes_and_sockets_are_passed_over() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", "a note");
    let main = vault.home().join("main");
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(main.join(name)).status();
        assert!(made.unwrap().success());
    };
    for name in ["pipe.md", ".gitignore", ".memorandaignore"] {
        pipe(name);
    }
    let _socket = std::os::unix::net::UnixListener::bind(main.join("socket.md")).unwrap();
    let report = sync(&store);
    assert_eq!((report.seen, report.removed), (1, 0), "{report:?}");
    for place in ["pipe.md", "socket.md"] {
        assert!(store.read(&main_project(), &path(place)).is_err(), "{place}");
        assert!(try_put(&store, place, "x").is_err(), "{place}");
    }
    put(&store, "other.md", "written since");
    std::fs::remove_file(main.join("other.md")).unwrap();
    pipe("other.md");
    store.flush().unwrap();
}

#[test]
fn strange_names_do_no_harm() {
    let vault = TestVault::new();
    let store = vault.open();
    let main = vault.home().join("main");
    put(&store, "plain.md", "plain");
    for name in [&b"new\nline.md"[..], b"bad-\xff\xfe.md", b"back\\slash.md", b"bell\x07.md"] {
        std::fs::write(main.join(OsStr::from_bytes(name)), "strange: fulmar").unwrap();
    }
    let longest = format!("{}.md", "n".repeat(252));
    put(&store, &longest, "a long name");
    let report = sync(&store);
    assert_eq!(report.skipped.len(), 4, "{report:?}");
    assert_eq!(found(&store, "fulmar"), [""; 0]);
    assert_eq!(found(&store, "long").len(), 1);

    let mut deep = main.clone();
    let depth = 2000;
    for _ in 0..depth {
        if std::fs::create_dir(deep.join("d")).is_err() {
            break;
        }
        deep.push("d");
    }
    std::fs::write(main.join("d/d/d/note.md"), "not too deep: dotterel").unwrap();
    let report = sync(&store);
    assert_eq!(report.removed, 0, "{report:?}");
    assert_eq!(found(&store, "dotterel"), ["main/d/d/d/note.md"]);
    let below = store
        .snapshot()
        .unwrap()
        .below(&main_project(), &path("d/d"))
        .map(|below| below.files.len());
    assert!(below.is_err(), "a path that is too long cannot be told: {below:?}");
    vault.assert_agrees(&store, "strange names");
}

#[test]
fn names_that_some_systems_cannot_tell_apart_are_refused() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "Note.md", "one");
    put(&store, "caf\u{e9}.md", "two");
    for twin in ["note.md", "NOTE.md", "cafe\u{301}.md", "CAF\u{c9}.md"] {
        let error = try_put(&store, twin, "twin").unwrap_err();
        assert!(matches!(error, StoreError::Twin { .. }), "{twin}: {error}");
    }
    // A file made by hand is taken as it is.
    vault.write_by_hand("main/note.md", "a twin by hand: shrike");
    sync(&store);
    assert_eq!(found(&store, "shrike"), ["main/note.md"]);
    put(&store, "note.md", "and changed: waxwing");
    assert_eq!(vault.text("main/Note.md").as_deref(), Some("one"));
    vault.assert_agrees(&store, "twins");
}

/// Windows cannot have these names, so a vault with them could not be copied there. A name that is there
/// already, or was there, is accepted.
#[test]
fn names_that_windows_reserves_are_refused() {
    let vault = TestVault::new();
    vault.write_by_hand("main/nul/old.md", "made by hand");
    vault.write_by_hand("main/con.md", "made by hand");
    let store = vault.open();
    sync(&store);
    for place in ["aux.md", "folder/COM1.txt", "prn/note.md", "nul/lpt9.md"] {
        let refused = try_put(&store, place, "text").unwrap_err();
        assert!(refused.to_string().contains("Windows reserves"), "{place}: {refused}");
    }
    for place in ["auxiliary.md", "com.md", "nul/new.md", "con.md"] {
        try_put(&store, place, "text").unwrap();
    }
    remove(&store, "con.md");
    try_put(&store, "con.md", "it comes back").unwrap();
}

fn mode(place: &Path) -> u32 {
    std::fs::metadata(place).unwrap().permissions().mode() & 0o7777
}

#[test]
fn modes_are_kept() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", "one");
    let note = vault.home().join("main/note.md");
    for bits in [0o600, 0o640, 0o444, 0o755] {
        std::fs::set_permissions(&note, std::fs::Permissions::from_mode(bits)).unwrap();
        put(&store, "note.md", &format!("text with {bits:o}"));
        assert_eq!(mode(&note), bits, "{bits:o}");
    }
}

/// Writes private notes with nothing masked: a process of its own, for its umask.
pub(crate) fn write_private(task: &Task) {
    let store = Store::open(crate::support::options(&task.folder)).unwrap();
    let put = |place: &str| ChangeOperation {
        project: ProjectName::parse("memories").unwrap(),
        path: path(place),
        expect: ExpectedContent::Anything,
        action: FileAction::Put(b"private".to_vec()),
    };
    try_commit(&store, change(vec![put("a.md"), put("deep/er/b.md")])).unwrap();
}

#[test]
fn memories_are_the_owners_alone() {
    let vault = TestVault::new();
    Task::new("private", vault.folder(), &[]).run_after("umask 0");
    let memories = vault.home().join("memories");
    for folder in ["", "deep", "deep/er"] {
        assert_eq!(mode(&memories.join(folder)), 0o700, "{folder}");
    }
    for file in ["a.md", "deep/er/b.md"] {
        assert_eq!(mode(&memories.join(file)), 0o600, "{file}");
    }
    // A file made by hand becomes private as soon as it is written to.
    std::fs::set_permissions(memories.join("a.md"), std::fs::Permissions::from_mode(0o644))
        .unwrap();
    let rewrite = change(vec![ChangeOperation {
        project: ProjectName::parse("memories").unwrap(),
        path: path("a.md"),
        expect: ExpectedContent::Anything,
        action: FileAction::Put(b"private too".to_vec()),
    }]);
    try_commit(&vault.open(), rewrite).unwrap();
    assert_eq!(mode(&memories.join("a.md")), 0o600);
    assert_eq!(mode(&vault.home().join(".memoranda")), 0o700);
    assert_eq!(mode(&vault.segment()), 0o600);
    assert_eq!(mode(vault.index_files()[0].parent().unwrap()), 0o700);
}

#[test]
fn sync_changes_no_file() {
    let vault = TestVault::new();
    let store = vault.open();
    let texts: [&[u8]; 6] = [
        b"\xef\xbb\xbf# BOM\r\n- [a] b\r\n",
        b"---\r\ntitle:   X\r\nodd: [1,\r\n",
        b"no newline at end",
        b"",
        b"\xff\xfe not UTF-8",
        b"- [fact] text <!-- obs_01 v1 -->\n\n\n",
    ];
    for (n, text) in texts.iter().enumerate() {
        vault.write_by_hand(&format!("main/{n}.md"), text);
    }
    let look = || -> Vec<_> {
        (0..texts.len())
            .map(|n| {
                let place = vault.home().join(format!("main/{n}.md"));
                let metadata = std::fs::metadata(&place).unwrap();
                let times = (metadata.mtime(), metadata.mtime_nsec(), metadata.ctime_nsec());
                (std::fs::read(&place).unwrap(), times, metadata.ino())
            })
            .collect()
    };
    let before = look();
    sync(&store);
    store.reindex(&mut |_| {}).unwrap();
    store.flush().unwrap();
    drop(store);
    let store = vault.open();
    sync(&store);
    assert!(look() == before);
    for (n, text) in texts.iter().enumerate() {
        let read = store.read(&main_project(), &path(&format!("{n}.md"))).unwrap().unwrap();
        assert_eq!(read.bytes, *text);
    }
    vault.assert_agrees(&store, "odd bytes");
}
