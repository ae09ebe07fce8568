//! A history that another device began.

use memoranda_core::change::{Action, Expect};

use super::support::{TestVault, change, made, make, operation, path, put, remove};

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
    let action = Action::MoveFrom { from: path("moved.md"), content };
    made(make(&store, change(vec![operation("there.md", Expect::Anything, action)])));
    let scratch = tempfile::TempDir::new().unwrap();
    let report = store.check(scratch.path()).unwrap();
    assert!(report.agrees(), "{report:?}");
}
