//! A snapshot is one state of the index, whatever others write meanwhile.

use memoranda_store::Store;

use crate::support::{TestVault, put};

fn notes(store: &Store) -> u64 {
    store.snapshot().unwrap().counts().unwrap().notes
}

#[test]
fn a_snapshot_keeps_its_state_while_others_write() {
    let vault = TestVault::new();
    let (reader, writer) = (vault.open(), vault.open());
    put(&writer, "one.md", "first");
    let held = reader.snapshot().unwrap();
    assert_eq!(held.counts().unwrap().notes, 1);
    put(&writer, "two.md", "second");
    assert_eq!(held.counts().unwrap().notes, 1, "the held snapshot has changed");
    assert_eq!(notes(&reader), 1, "a further snapshot of the thread has another state");
    let other = std::thread::scope(|scope| scope.spawn(|| notes(&reader)).join().unwrap());
    assert_eq!(other, 2, "another thread shares the state");
    drop(held);
    assert_eq!(notes(&reader), 2, "a new snapshot is behind the log");
}

#[test]
fn a_snapshot_after_a_write_of_the_thread_contains_the_write() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "one.md", "first");
    let held = store.snapshot().unwrap();
    assert_eq!(held.counts().unwrap().notes, 1);
    put(&store, "two.md", "second");
    assert_eq!(notes(&store), 2, "the thread does not see its own write");
    assert_eq!(held.counts().unwrap().notes, 1, "the held snapshot has changed");
}

#[test]
fn a_transaction_has_the_queries_of_a_snapshot() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "one.md", "first");
    let author = crate::support::who("test");
    let mut counted = 0;
    store
        .transact(&author, |tx| {
            counted = tx.counts()?.notes;
            Ok::<_, memoranda_store::StoreError>(Default::default())
        })
        .unwrap();
    assert_eq!(counted, 1);
}
