//! The history of one client.

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_store::{HistoryFilter, StoreError};

use super::support::{TestVault, change, main_project, operation, path, who};

#[test]
fn a_client_is_found_in_all_its_versions() {
    let vault = TestVault::new();
    let store = vault.open();
    for (client, place) in [("agent 1.0", "a.md"), ("agent 2.0", "b.md"), ("agents 1.0", "c.md")] {
        let action = FileAction::Put(place.as_bytes().to_vec());
        let change = change(vec![operation(place, ExpectedContent::Anything, action)]);
        store.commit(&who(client), |_| Ok::<_, StoreError>(change.clone())).unwrap();
    }
    for (client, place, expected) in [
        ("agent", None, 2),
        ("agent 2.0", None, 1),
        ("agents", None, 1),
        ("age", None, 0),
        ("agent", Some("a.md"), 1),
        ("agent", Some("c.md"), 0),
    ] {
        let filter = HistoryFilter {
            project: Some(main_project()),
            path: place.map(path),
            client: Some(client.to_owned()),
            ..HistoryFilter::default()
        };
        let found = store.history(&filter, 10, 0).unwrap().len();
        assert_eq!(found, expected, "{client} {place:?}");
    }
}
