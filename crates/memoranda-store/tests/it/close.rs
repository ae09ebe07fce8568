//! Promise 10, as far as the store keeps it: who closes does not wait.

use memoranda_store::HistoryFilter;

use crate::support::{TestVault, eventually, sync};

/// Closing stops the look at the files, at any place in it, and the next one ends it: nothing is
/// lost, and nothing is in the history twice.
#[test]
fn whoever_closes_does_not_wait_for_the_index() {
    let vault = TestVault::new();
    let files = 2_500;
    for n in 0..files {
        vault.write_by_hand(&format!("main/{n}.md"), format!("# Note {n}\nabout pipits"));
    }
    for round in 0..3 {
        let store = vault.open();
        store.start_background().unwrap();
        // Begun, and not far: the log has grown since, or something is in the index.
        let begun = store.log_size().unwrap();
        eventually("a beginning", || store.log_size().unwrap() > begun || round > 0);
        drop(store);
        assert!(!vault.open().is_indexed().unwrap(), "round {round}");
    }
    let store = vault.open();
    sync(&store);
    let counts = store.snapshot().unwrap().counts().unwrap();
    assert_eq!(counts.notes, files);
    let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 10_000, 0).unwrap();
    let mut recorded: Vec<_> =
        log.iter().flat_map(|commit| &commit.files).map(|file| file.path.clone()).collect();
    recorded.sort();
    recorded.dedup();
    let all: usize = log.iter().map(|commit| commit.files.len()).sum();
    assert_eq!((recorded.len(), all), (files as usize, files as usize));
    vault.assert_agrees(&store, "after closing early");
}

/// Opening an index first reads the pages that wait to be written back. That is not left to each
/// later process.
#[test]
fn a_process_that_indexed_leaves_its_pages_where_they_belong() {
    let vault = TestVault::new();
    for n in 0..400 {
        vault.write_by_hand(&format!("main/{n}.md"), format!("# Note {n}\nabout pipits"));
    }
    let store = vault.open();
    sync(&store);
    let log = format!("{}-wal", store.index_path().display());
    let waiting = || std::fs::metadata(&log).map_or(0, |waiting| waiting.len());
    assert!(waiting() > 300_000, "{} bytes", waiting());
    drop(store);
    assert_eq!(waiting(), 0);
    vault.assert_agrees(&vault.open(), "after closing");
}
