//! Files without history, and lines that processes leave for each other.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::{HistoryFilter, ListFilter, ListOrder, Store};

use super::support::TestVault;

fn put(store: &Store, path: &str, text: &str) -> bool {
    let project = ProjectName::parse("banks").unwrap();
    store.put_aside(&project, &NotePath::parse(path).unwrap(), text.as_bytes()).is_ok()
}

#[test]
fn only_what_is_ignored_is_written_without_history() {
    let vault = TestVault::new();
    let store = vault.open();
    store.ensure_project(&ProjectName::parse("banks").unwrap()).unwrap();
    vault.write_by_hand("banks/a/note.md", "a note\n");
    assert!(!put(&store, "a/dump.json", "{}"));
    assert_eq!(vault.text("banks/a/dump.json"), None);
    assert!(put(&store, ".gitignore", "dump.json\n"));
    assert!(put(&store, "a/dump.json", "{}") && put(&store, "a/dump.json", "{\"n\":2}"));
    assert_eq!(vault.text("banks/a/dump.json").as_deref(), Some("{\"n\":2}"));
    assert!(!put(&store, "a/note.md", "x") && !put(&store, "b/dump.json", "{}"));
    store.sync(&mut |_| {}).unwrap();
    let listed =
        store.snapshot().unwrap().list(&ListFilter::default(), ListOrder::Path, 10, 0).unwrap();
    assert_eq!(listed.len(), 1);
    let history = store.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap();
    assert!(
        history
            .iter()
            .flat_map(|commit| &commit.files)
            .all(|file| file.path.as_str() == "a/note.md")
    );
}

#[test]
fn the_newest_lines_are_kept_for_every_process() {
    const KEEP: usize = 5;
    let vault = TestVault::new();
    let (one, two) = (vault.open(), vault.open());
    for n in 0..23 {
        let store = if n % 2 == 0 { &one } else { &two };
        store.leave_notice("x", &format!("line {n}\nof two"), KEEP).unwrap();
        let lines = two.notices("x").unwrap();
        let last: Vec<String> =
            (0..=n).rev().take(KEEP).map(|n| format!("line {n} of two")).collect();
        let newest: Vec<String> = lines.iter().rev().take(KEEP).cloned().collect();
        assert_eq!(newest, last);
        assert!(lines.len() <= 2 * KEEP);
    }
    assert_eq!(one.notices("y").unwrap(), Vec::<String>::new());
}
