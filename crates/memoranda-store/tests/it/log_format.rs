//! The formats of the log: a vault of version 0.1.0 is upgraded in place, the chain of records
//! survives a purge and shows missing records, and newer formats are refused.

use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use memoranda_store::{HistoryFilter, Store, StoreError, VacuumExtent, VacuumRequest, clock, hash};

use crate::support::{TestVault, copy_folder, found, put, remove, sync};

/// A vault that version 0.1.0 wrote, with two devices.
fn vault_of_0_1_0() -> TestVault {
    let vault = TestVault::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/vault-0.1.0");
    copy_folder(&fixture.join("home"), &vault.home());
    copy_folder(&fixture.join("dot-memoranda"), &vault.home().join(".memoranda"));
    copy_folder(&fixture.join("state"), &vault.folder().join("state"));
    vault
}

fn log_folder(vault: &TestVault) -> PathBuf {
    vault.home().join(".memoranda/log")
}

/// The messages of all commits, the oldest first.
fn messages(store: &Store) -> Vec<String> {
    let commits = store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap();
    commits.into_iter().rev().filter_map(|commit| commit.message).collect()
}

const MESSAGES: [&str; 7] = [
    "put for the fixture",
    "put for the fixture",
    "put for the fixture",
    "mv for the fixture",
    "put for the fixture",
    "rm for the fixture",
    "put for the fixture",
];

fn bytes_of(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn a_vault_of_0_1_0_is_read_and_upgraded_in_place() {
    let vault = vault_of_0_1_0();
    let segment = vault.segment();
    let before = bytes_of(&segment);
    assert_eq!(before[15], 1);
    let store = vault.open();
    sync(&store);
    assert_eq!(messages(&store), MESSAGES);
    assert_eq!(vault.text("main/Plan.md").as_deref(), Some("# Plan\n\nsecond version: walrus\n"));
    assert!(store.content(hash(b"# Plan\n\nfirst version\n")).is_ok());
    assert_eq!(found(&store, "walrus"), ["main/Plan.md"]);
    put(&store, "Plan.md", "# Plan\n\nthird version: walrus\n");
    put(&store, "new.md", "after the upgrade: heron");
    // The old segment is as it was; the new one has format 2.
    assert_eq!(bytes_of(&segment), before);
    assert_eq!(bytes_of(&segment.with_file_name("00000002.log"))[15], 2);
    assert_eq!(vault.text(".memoranda/format").as_deref(), Some("2\n"));
    for _ in 0..2 {
        let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap();
        assert_eq!(log.iter().filter(|commit| commit.message.is_some()).count(), MESSAGES.len());
        assert_eq!(found(&store, "heron"), ["main/new.md"]);
        store.reindex(&mut |_| {}).unwrap();
    }
    vault.assert_agrees(&store, "upgraded");
}

/// Stops a process of 0.1.0 that has the vault open: it lists a device's segments by number and
/// reads each of them before it writes, and the last one is a folder. Its lock file is gone, so it
/// has to look.
#[test]
fn a_process_of_0_1_0_finds_nothing_to_append_to() {
    let vault = vault_of_0_1_0();
    assert!(bytes_of(&vault.home().join(".memoranda/lock")).starts_with(b"memlock1"));
    let store = vault.open();
    put(&store, "new.md", "after the upgrade");
    let lock = bytes_of(&vault.home().join(".memoranda/lock"));
    assert!(!lock.starts_with(b"memlock1") && !lock.starts_with(b"memoranda lock 2"));
    let log = log_folder(&vault);
    let mut devices: Vec<PathBuf> =
        std::fs::read_dir(&log).unwrap().map(|entry| entry.unwrap().path()).collect();
    devices.sort();
    assert_eq!(devices.len(), 3, "{devices:?}");
    // The first folder in order stops those that go through all devices.
    assert!(devices[0].join("00000001.log").is_dir(), "{devices:?}");
    for device in &devices[1..] {
        let mut segments: Vec<PathBuf> =
            std::fs::read_dir(device).unwrap().map(|entry| entry.unwrap().path()).collect();
        segments.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
        segments.sort();
        assert!(segments.last().unwrap().is_dir(), "{segments:?}");
    }
    // None of that is part of the log, or of an archive.
    let mut archive = Vec::new();
    store.export(&mut archive).unwrap();
    let target = TestVault::new();
    target.open().import(&mut archive.as_slice()).unwrap();
    let restored = target.open();
    assert_eq!(messages(&restored), MESSAGES);
    target.assert_agrees(&restored, "imported");
}

#[test]
fn an_archive_of_0_1_0_is_read() {
    let vault = vault_of_0_1_0();
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_dir_all("main", vault.home().join("main")).unwrap();
    builder
        .append_path_with_name(vault.home().join(".memoranda/format"), ".memoranda/format")
        .unwrap();
    for device in std::fs::read_dir(log_folder(&vault)).unwrap() {
        let device = device.unwrap();
        let name = format!(".memoranda/log/{}/00000001.log", device.file_name().to_string_lossy());
        builder.append_path_with_name(device.path().join("00000001.log"), name).unwrap();
    }
    let archive = builder.into_inner().unwrap();
    let target = TestVault::new();
    let store = target.open();
    store.import(&mut archive.as_slice()).unwrap();
    assert_eq!(messages(&store), MESSAGES);
    put(&store, "new.md", "after the import");
    target.assert_agrees(&store, "imported");
}

#[test]
fn a_segment_of_a_newer_format_is_refused_and_nothing_is_changed() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "note.md", "text");
    drop(store);
    let newer = vault.segment().with_file_name("00000002.log");
    let mut bytes = b"memoranda log\n\0\x03".to_vec();
    bytes.extend_from_slice(&[0x55; 300]);
    std::fs::write(&newer, &bytes).unwrap();
    let before = bytes_of(&vault.segment());
    for _ in 0..2 {
        let store = vault.open();
        let change = || Ok::<_, StoreError>(memoranda_core::change::ChangeSet::default());
        let error =
            store.transact(&crate::support::who("x"), |_| change()).unwrap_err().to_string();
        assert!(error.contains("a segment of format 3"), "{error}");
        assert!(error.contains("use a newer memoranda; nothing was changed"), "{error}");
        assert!(store.sync(&mut |_| {}).is_err());
    }
    assert_eq!((bytes_of(&vault.segment()), bytes_of(&newer)), (before, bytes));
    assert!(!vault.segment().with_file_name("00000003.log").exists());
}

fn purge(store: &Store, what: VacuumExtent) {
    let before = clock::now() + SignedDuration::from_secs(60);
    store.vacuum(&VacuumRequest { project: None, before, what }).unwrap();
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn the_chain_survives_a_purge_and_nothing_is_left_of_the_text() {
    let vault = TestVault::new();
    let store = vault.open();
    let secret = "My bank PIN is 4711";
    put(&store, "kept.md", "first");
    put(&store, "My bank PIN is 4711.md", secret);
    put(&store, "kept.md", "second");
    remove(&store, "My bank PIN is 4711.md");
    put(&store, "kept.md", "third");
    for what in [VacuumExtent::Deleted, VacuumExtent::DeletedAndVersions] {
        purge(&store, what);
        let log = bytes_of(&vault.segment());
        assert!(!holds(&log, secret.as_bytes()), "{what:?}");
        // A hash of a short text can be guessed, so it goes, too.
        assert!(!holds(&log, &hash(secret.as_bytes()).0), "{what:?}");
        vault.assert_agrees(&store, &format!("{what:?}"));
        put(&store, "kept.md", &format!("after {what:?}"));
        vault.assert_agrees(&store, &format!("after {what:?}"));
    }
    assert_eq!(
        store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap().len(),
        7
    );
}

#[test]
fn a_record_that_is_missing_is_noticed() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "a.md", "first");
    let from = std::fs::metadata(vault.segment()).unwrap().len() as usize;
    put(&store, "b.md", "second");
    let to = std::fs::metadata(vault.segment()).unwrap().len() as usize;
    put(&store, "c.md", "third");
    drop(store);
    let mut log = bytes_of(&vault.segment());
    log.drain(from..to);
    std::fs::write(vault.segment(), log).unwrap();
    let store = vault.open();
    sync(&store);
    let report = store.check(&vault.scratch()).unwrap();
    assert_eq!(report.damage, []);
    let broken: Vec<u64> = report.broken_links.iter().map(|link| link.seq).collect();
    assert_eq!(broken, [3]);
    assert!(!report.agrees());
}

/// The log of another machine is rewritten there alone; this machine asks for it.
#[test]
fn a_purge_leaves_the_logs_of_other_machines_to_them() {
    let vault = TestVault::new();
    let host = vault.open_as("host");
    put(&host, "doomed.md", "the walrus");
    let device = host.device().to_owned();
    drop(host);
    let store = vault.open();
    sync(&store);
    remove(&store, "doomed.md");
    let log = log_folder(&vault).join(&device);
    let before = bytes_of(&log.join("00000001.log"));
    let boot = format!("01{} 0123456789abcdef\n", "ee".repeat(16));
    std::fs::write(log.join("boot"), boot).unwrap();
    let request = |store: &Store| {
        let before = clock::now() + SignedDuration::from_secs(60);
        let what = VacuumExtent::Deleted;
        store.vacuum(&VacuumRequest { project: None, before, what }).unwrap()
    };
    if !Path::new("/etc/machine-id").exists() {
        return;
    }
    assert_eq!(request(&store).still_on, std::slice::from_ref(&device));
    assert_eq!(bytes_of(&log.join("00000001.log")), before);
    assert!(holds(&bytes_of(&vault.segment()), &hash(b"the walrus").0));
    vault.assert_agrees(&store, "still on another machine");
    // A log that nobody else writes is rewritten here.
    std::fs::remove_file(log.join("boot")).unwrap();
    assert_eq!(request(&store).still_on, [""; 0]);
    assert!(!holds(&bytes_of(&log.join("00000001.log")), b"the walrus"));
}
