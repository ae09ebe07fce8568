//! Files that are no text: not searched, and kept all the same when they are replaced.

use memoranda_core::change::{ExpectedContent, FileAction};

use super::support::{TestVault, change, made, make, operation, put, remove, sync};

const PICTURE: [u8; 5] = [0, 159, 146, 150, 255];

#[test]
fn a_deleted_picture_can_be_brought_back() {
    for replace in [false, true] {
        let vault = TestVault::new();
        let store = vault.open();
        vault.write_by_hand("main/picture.png", PICTURE);
        sync(&store);
        let commit = if replace {
            put(&store, "picture.png", "a text")
        } else {
            remove(&store, "picture.png")
        };
        let before = commit.files[0].before.unwrap();
        let bytes = store.content(before).unwrap();
        assert_eq!(bytes, PICTURE);
        let action = FileAction::Put(bytes);
        made(make(
            &store,
            change(vec![operation("picture.png", ExpectedContent::Anything, action)]),
        ));
        assert_eq!(std::fs::read(vault.home().join("main/picture.png")).unwrap(), PICTURE);
        let scratch = tempfile::TempDir::new().unwrap();
        let report = store.check(scratch.path()).unwrap();
        assert!(report.agrees(), "{report:?}");
    }
}
