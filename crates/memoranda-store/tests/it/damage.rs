//! Promise 6: the index is a cache. And what the log can lose when its bytes go bad: the records
//! that were hit, and nothing else.

use std::path::Path;

use memoranda_store::{HistoryFilter, Store};

use crate::child::Task;
use crate::model::Files;
use crate::support::{Random, TestVault, found, options, put, remove, rounds, sync};

/// A vault with something of everything.
fn furnished() -> TestVault {
    let vault = TestVault::new();
    let store = vault.open();
    vault.write_by_hand("main/hand.md", "# By hand\n- [fact] pelican one #bird\n- eats [[Fish]]\n");
    vault.write_by_hand("main/data.json", "{\"pelican\": 2}");
    vault.write_by_hand("main/picture.png", [0u8, 1, 2, 255]);
    sync(&store);
    for n in 0..30 {
        put(
            &store,
            &format!("n/{n}.md"),
            &format!("# Note {n}\n\npelican {n} and [[Note {}]]\n", n + 1),
        );
    }
    remove(&store, "n/3.md");
    put(&store, "n/4.md", "another text, without the bird");
    sync(&store);
    drop(store);
    vault
}

type Answers = (Vec<(&'static str, [u8; 32])>, Vec<String>, Vec<String>);

fn answers(store: &Store) -> Answers {
    let sorted = |text: &str| {
        let mut paths = found(store, text);
        paths.sort();
        paths
    };
    (store.fingerprint().unwrap(), sorted("pelican"), sorted("note 7"))
}

fn flip(path: &Path, at: usize, bit: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let len = bytes.len();
    if len > 0 {
        bytes[at % len] ^= 1 << (bit % 8);
        std::fs::write(path, bytes).unwrap();
    }
}

/// Opens the vault after damage, and expects the same answers.
fn assert_same(vault: &TestVault, before: &Answers, context: &str) {
    let store = vault.open();
    sync(&store);
    assert!(answers(&store) == *before, "{context}: other answers");
}

#[test]
fn an_index_that_was_deleted_or_cut_is_made_anew() {
    let vault = furnished();
    let before = answers(&vault.open());
    for file in ["index.db", "index.db-wal", "index.db.stamp", "index.db-shm"] {
        for part in [None, Some(0), Some(1), Some(100), Some(4096), Some(5000), Some(20_000)] {
            let index = vault.index_files()[0].with_file_name(file);
            let Ok(bytes) = std::fs::read(&index) else { continue };
            match part {
                None => std::fs::remove_file(&index).unwrap(),
                Some(part) => std::fs::write(&index, &bytes[..part.min(bytes.len())]).unwrap(),
            }
            assert_same(&vault, &before, &format!("{file} cut to {part:?}"));
        }
    }
    std::fs::remove_dir_all(vault.folder().join("cache")).unwrap();
    assert_same(&vault, &before, "the whole cache deleted");
}

#[test]
fn an_index_with_flipped_bits_is_made_anew() {
    let vault = furnished();
    let before = answers(&vault.open());
    for seed in 0..rounds(25) as u64 {
        let mut random = Random::new(seed);
        // Closing after a write brings everything to the main file.
        let store = vault.open();
        put(&store, "main-file.md", &format!("in the main file {seed}"));
        remove(&store, "main-file.md");
        drop(store);
        if seed % 2 == 0 {
            // Something that only the WAL holds, left by a process that died.
            Task::new("leave-wal", vault.folder(), &[&seed]).run_to_its_death();
        }
        let files = vault.index_files();
        let file = &files[random.below(files.len())];
        for _ in 0..=random.below(20) {
            flip(file, random.below(1 << 30), random.below(8));
        }
        let store = vault.open();
        sync(&store);
        let (fingerprint, birds, notes) = answers(&store);
        assert_eq!((&birds, &notes), (&before.1, &before.2), "seed {seed}, {file:?}");
        let same = |(ours, theirs): (&(&str, _), &(&str, _))| {
            ours == theirs || ours.0 == "commits" || ours.0 == "changes"
        };
        assert!(fingerprint.iter().zip(&before.0).all(same), "seed {seed}, {file:?}");
        drop(store);
        let store = vault.open();
        if seed % 8 == 0 {
            vault.assert_agrees(&store, &format!("seed {seed}, {file:?}"));
        }
    }
}

/// Leaves an index that was not written back.
pub(crate) fn leave_wal(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    put(&store, "wal.md", &format!("in the wal {}", task.arguments[0]));
    remove(&store, "wal.md");
    std::process::abort();
}

#[test]
fn an_index_that_vanishes_while_it_is_open_is_made_anew() {
    let vault = furnished();
    let (one, two) = (vault.open(), vault.open());
    let before = answers(&one);
    assert!(answers(&two) == before);
    for round in 0..3 {
        match round {
            0 => vault.index_files().iter().for_each(|file| std::fs::remove_file(file).unwrap()),
            1 => std::fs::remove_dir_all(vault.index_files()[0].parent().unwrap()).unwrap(),
            _ => std::fs::remove_file(&vault.index_files()[0]).unwrap(),
        }
        // Both keep working at once, and answer as before as soon as the files were looked at.
        put(&one, "more.md", &format!("more {round}"));
        put(&two, "more.md", "more again");
        remove(&one, "more.md");
        sync(&two);
        assert!(answers(&one).1 == before.1 && answers(&two).2 == before.2, "round {round}");
        vault.assert_agrees(&two, &format!("round {round}"));
    }
}

#[test]
fn an_index_that_goes_bad_while_it_is_open_is_made_anew() {
    for seed in 0..rounds(12) as u64 {
        let vault = furnished();
        let store = vault.open();
        let before = answers(&store);
        let mut random = Random::new(seed);
        let index = vault.index_files()[0].clone();
        match seed {
            0 => std::fs::write(&index, "").unwrap(),
            1 => std::fs::write(&index, &std::fs::read(&index).unwrap()[..30_000]).unwrap(),
            2 => std::fs::write(&index, "no database at all".repeat(1000)).unwrap(),
            _ => (0..200).for_each(|_| flip(&index, random.below(1 << 30), random.below(8))),
        }
        // A process that has it open may answer from what it has read; it must not fail for good.
        for n in 0..4 {
            store
                .transact(&crate::support::who("test"), |_| {
                    let action =
                        memoranda_core::change::FileAction::Put(format!("bad {n}").into_bytes());
                    let expect = memoranda_core::change::ExpectedContent::Anything;
                    let put = crate::support::operation("bad.md", expect, action);
                    Ok::<_, memoranda_store::StoreError>(crate::support::change(vec![put]))
                })
                .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        }
        remove(&store, "bad.md");
        found(&store, "pelican");
        sync(&store);
        drop(store);
        let store = vault.open();
        sync(&store);
        assert_eq!(answers(&store).1, before.1, "seed {seed}");
        vault.assert_agrees(&store, &format!("seed {seed}"));
    }
}

#[test]
fn a_torn_end_of_the_log_is_cut_off_at_every_byte() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "kept.md", "kept");
    store.flush().unwrap();
    let start = std::fs::metadata(vault.segment()).unwrap().len() as usize;
    put(&store, "torn.md", "torn");
    std::mem::forget(store);
    let whole = std::fs::read(vault.segment()).unwrap();
    let table = vault.lock_table();
    for end in start..whole.len() {
        std::fs::write(vault.segment(), &whole[..end]).unwrap();
        std::fs::remove_file(vault.home().join("main/torn.md")).ok();
        std::fs::remove_file(vault.home().join("main/next.md")).ok();
        vault.set_applied_offset(&table, start);
        let store = Store::open(options(vault.folder())).unwrap();
        assert_eq!(store.snapshot().unwrap().counts().unwrap().commits, 1, "cut at {end}");
        assert_eq!(store.log_size().unwrap(), start as u64, "cut at {end}");
        put(&store, "next.md", "next");
        let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap();
        assert_eq!(log.len(), 2, "cut at {end}");
        let names = Files::on_disk(&vault.home().join("main")).0.into_keys().collect::<Vec<_>>();
        assert_eq!(names, ["kept.md", "next.md"], "cut at {end}");
        let bytes = std::fs::read(vault.segment()).unwrap();
        assert!(bytes.starts_with(&whole[..start]), "cut at {end}");
        std::mem::forget(store);
    }
}

#[test]
fn bad_bytes_in_the_log_cost_only_the_records_they_hit() {
    let vault = furnished();
    // A last record that is not whole is taken for one that was never finished.
    let last = std::fs::metadata(vault.segment()).unwrap().len() as usize;
    put(&vault.open(), "last.md", "the last record");
    let whole = std::fs::read(vault.segment()).unwrap();
    let files = Files::on_disk(&vault.home().join("main"));
    let store = vault.open();
    let all: Vec<_> =
        store.snapshot().unwrap().history(&HistoryFilter::default(), 1000, 0).unwrap();
    drop(store);
    for seed in 0..rounds(25) as u64 {
        let mut random = Random::new(seed);
        std::fs::remove_dir_all(vault.folder().join("cache")).unwrap();
        let mut damaged = whole.clone();
        let at = 16 + random.below(last - 16);
        damaged[at] ^= 1 << random.below(8);
        std::fs::write(vault.segment(), &damaged).unwrap();
        let context = format!("seed {seed}, byte {at}");

        let store = vault.open();
        sync(&store);
        let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 1000, 0).unwrap();
        let lost = all.iter().filter(|commit| !log.iter().any(|c| c.id == commit.id)).count();
        assert!(lost <= 1, "{context}: {lost} lost");
        let report = store.check(&vault.scratch()).unwrap();
        assert_eq!(report.damage.len(), 1, "{context}: {report:?}");
        let range = report.damage[0].offset..report.damage[0].offset + report.damage[0].bytes;
        assert!(range.contains(&(at as u64)), "{context}: {report:?}");
        assert_eq!(Files::on_disk(&vault.home().join("main")), files, "{context}");
        put(&store, "after.md", "written after the damage");
        assert_eq!(found(&store, "damage"), ["main/after.md"], "{context}");
        drop(store);
        std::fs::remove_dir_all(vault.folder().join("cache")).unwrap();
        let store = vault.open();
        sync(&store);
        let again = store.snapshot().unwrap().history(&HistoryFilter::default(), 1000, 0).unwrap();
        assert!(again.len() > log.len(), "{context}: the write after the damage is not read");
        drop(store);
        std::fs::remove_file(vault.home().join("main/after.md")).unwrap();
        let lock = vault.home().join(".memoranda/lock");
        std::fs::remove_file(lock).unwrap();
        let device = vault.segment().parent().unwrap().to_owned();
        std::fs::remove_file(device.join("checkpoint")).ok();
    }
}

#[test]
fn garbage_in_our_own_small_files_does_no_harm() {
    let vault = furnished();
    let files = Files::on_disk(&vault.home().join("main"));
    let device = vault.segment().parent().unwrap().to_owned();
    let (checkpoint, lock) = (device.join("checkpoint"), vault.home().join(".memoranda/lock"));
    let garbage = ["", "garbage", "9999999 9999999\n", "1 40\n", "-1 x", &"memlock1".repeat(9)];
    for place in [&checkpoint, &lock] {
        for text in garbage {
            let context = format!("{place:?} {text:?}");
            std::fs::write(place, text).unwrap();
            if place == &checkpoint {
                vault.restart_machine();
            }
            let store = vault.open();
            let commits = store.snapshot().unwrap().counts().unwrap().commits;
            let before = answers(&store);
            sync(&store);
            assert!(answers(&store) == before, "{context}");
            assert_eq!(Files::on_disk(&vault.home().join("main")), files, "{context}");
            put(&store, "w.md", "a write");
            remove(&store, "w.md");
            assert_eq!(
                store.snapshot().unwrap().counts().unwrap().commits,
                commits + 2,
                "{context}"
            );
            vault.assert_agrees(&store, &context);
        }
    }
}

#[test]
fn a_vault_of_the_future_is_refused() {
    let vault = furnished();
    for format in ["3", "1000", "next"] {
        std::fs::write(vault.home().join(".memoranda/format"), format).unwrap();
        let error = Store::open(options(vault.folder())).err().unwrap().to_string();
        let sentence = format!(
            "this vault has format {format}, and this program knows formats up to 2; use a newer \
             memoranda; nothing was changed"
        );
        assert_eq!(error, sentence);
    }
}

#[test]
fn a_broken_list_of_projects_is_named() {
    let vault = furnished();
    let list = vault.home().join(".memoranda/projects.toml");
    for garbage in [&b"[[project"[..], b"\xff\xfe", b"[[project]]\nname = 3\n"] {
        std::fs::write(&list, garbage).unwrap();
        let store = vault.open();
        let error = store.projects().unwrap_err().to_string();
        assert!(error.contains("projects.toml is not readable"), "{error}");
    }
    std::fs::remove_file(&list).unwrap();
    assert_eq!(vault.open().projects().unwrap().len(), 1);
}
