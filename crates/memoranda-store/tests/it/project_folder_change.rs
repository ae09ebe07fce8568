//! Another folder for a project: what it holds comes along, and nobody is said to have removed it.

use memoranda_core::id::ProjectName;
use memoranda_store::{HardLinkPolicy, HistoryFilter, StoreError};

use crate::support::{TestVault, found, sync};

#[test]
fn a_folder_hides_nothing_that_the_project_holds() {
    let vault = TestVault::new();
    let store = vault.open();
    let name = ProjectName::parse("memories").unwrap();
    let elsewhere = vault.folder().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    for (place, text) in [("a.md", "goshawk"), ("sub/deep/b.md", "goshawk"), (".c", "hidden")] {
        vault.write_by_hand(&format!("memories/{place}"), text);
    }
    sync(&store);
    let commits = store.snapshot().unwrap().counts().unwrap().commits;
    let add = || store.add_project(&name, &elsewhere, HardLinkPolicy::Refuse);
    let move_there = || store.move_project(&name, &elsewhere, HardLinkPolicy::Refuse);
    let hidden = |result: memoranda_store::Result<_>| match result.map(drop).unwrap_err() {
        StoreError::ProjectHidden { hidden, .. } => hidden,
        other => panic!("{other}"),
    };
    assert_eq!(hidden(add()), 3);
    // A file of the same name and other text is nobody's to overwrite.
    std::fs::write(elsewhere.join("a.md"), "mine").unwrap();
    assert!(move_there().unwrap_err().to_string().contains("has another a.md"));
    assert_eq!(vault.text("memories/a.md").as_deref(), Some("goshawk"));
    std::fs::write(elsewhere.join("a.md"), "goshawk").unwrap();
    assert_eq!(hidden(add()), 2);
    std::fs::write(elsewhere.join("new.md"), "new there: harrier").unwrap();

    assert_eq!(move_there().unwrap().path, elsewhere.canonicalize().unwrap());
    assert!(!vault.home().join("memories").exists());
    for (place, text) in [("a.md", "goshawk"), ("sub/deep/b.md", "goshawk"), (".c", "hidden")] {
        assert_eq!(std::fs::read_to_string(elsewhere.join(place)).unwrap(), text);
    }
    let report = sync(&store);
    assert_eq!((report.removed, report.changed, report.added), (0, 0, 1), "{report:?}");
    let mut seen = found(&store, "goshawk");
    seen.sort();
    assert_eq!(seen, ["memories/a.md", "memories/sub/deep/b.md"]);
    assert_eq!(found(&store, "harrier"), ["memories/new.md"]);
    assert_eq!(store.snapshot().unwrap().counts().unwrap().commits, commits + 1);
    let log = store.snapshot().unwrap().history(&HistoryFilter::default(), 100, 0).unwrap();
    assert!(log.iter().flat_map(|commit| &commit.files).all(|file| file.after.is_some()));
    vault.assert_agrees(&store, "moved");

    // Once there is nothing to hide, adding is enough; and moving what is not in the vault is it.
    let other = ProjectName::parse("other").unwrap();
    let third = vault.folder().join("third");
    std::fs::create_dir_all(&third).unwrap();
    store.ensure_project(&other).unwrap();
    store.add_project(&other, &third, HardLinkPolicy::Refuse).unwrap();
    store.move_project(&other, &third, HardLinkPolicy::Refuse).unwrap();
}

#[test]
fn a_new_folder_of_an_old_name_has_lost_nothing() {
    let vault = TestVault::new();
    let store = vault.open();
    let name = ProjectName::parse("work").unwrap();
    let elsewhere = vault.folder().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("a.md"), "goshawk").unwrap();
    std::fs::write(elsewhere.join("b.md"), "goshawk").unwrap();
    let add = || store.add_project(&name, &elsewhere, HardLinkPolicy::Refuse).unwrap();
    add();
    sync(&store);
    store.remove_project("work").unwrap();
    store.ensure_project(&name).unwrap();
    vault.write_by_hand("work/new.md", "harrier");
    sync(&store);
    let report = store.reindex(&mut |_| {}).unwrap();
    assert_eq!((report.removed, report.changed, report.moved), (0, 0, 0), "{report:?}");
    assert_eq!(found(&store, "goshawk"), [""; 0]);
    vault.assert_agrees(&store, "anew");

    // A file that was removed meanwhile is missing when the folder is back.
    std::fs::remove_dir_all(vault.home().join("work")).unwrap();
    std::fs::remove_file(elsewhere.join("b.md")).unwrap();
    add();
    let report = store.reindex(&mut |_| {}).unwrap();
    assert_eq!(report.removed, 2, "{report:?}");
    assert_eq!(found(&store, "goshawk"), ["work/a.md"]);
}
