//! The history of one client.

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_store::{HistoryFilter, StoreError};

use super::support::{TestVault, change, main_project, operation, path, put, who};

#[test]
fn a_client_is_found_in_all_its_versions() {
    let vault = TestVault::new();
    let store = vault.open();
    for (client, place) in [("agent 1.0", "a.md"), ("agent 2.0", "b.md"), ("agents 1.0", "c.md")] {
        let action = FileAction::Put(place.as_bytes().to_vec());
        let change = change(vec![operation(place, ExpectedContent::Anything, action)]);
        store.transact(&who(client), |_| Ok::<_, StoreError>(change.clone())).unwrap();
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
        let found = store.snapshot().unwrap().history(&filter, 10, 0).unwrap().len();
        assert_eq!(found, expected, "{client} {place:?}");
    }
}

#[test]
fn commits_of_a_conversation_are_found_with_all_they_know_of_their_author() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "other.md", "outside of the conversation");
    let author = who("claude-code 2.1")
        .with_conversation(Some("c-17".into()))
        .with_account(Some("ada".into()))
        .with_token(Some("laptop".into()))
        .with_source(Some("https://example.org".into()));
    for name in ["a.md", "b.md"] {
        let action = FileAction::Put(b"in the conversation".to_vec());
        let change = change(vec![operation(name, ExpectedContent::Anything, action)]);
        store.transact(&author, |_| Ok::<_, StoreError>(change.clone())).unwrap();
    }
    // The answer is the same from an index that is built from the log.
    for _ in 0..2 {
        let filter = HistoryFilter { conversation: Some("c-17".into()), ..Default::default() };
        let commits = store.snapshot().unwrap().history(&filter, 10, 0).unwrap();
        assert_eq!(commits.len(), 2);
        assert!(commits.iter().all(|commit| commit.author == author), "{commits:?}");
        store.reindex(&mut |_| {}).unwrap();
    }
}
