//! Removing a project is all or nothing, whenever the process dies.

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_store::{HardLinkPolicy, Store, VacuumExtent, VacuumRequest, faults};

use crate::child::Task;
use crate::support::{TestVault, found, options, path, put, sync};

/// A vault with a project elsewhere, of this many notes.
fn vault_with_project(notes: usize) -> TestVault {
    let vault = TestVault::new();
    let folder = vault.folder().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    for n in 0..notes {
        std::fs::write(folder.join(format!("{n}.md")), format!("hawfinch {n}")).unwrap();
    }
    let store = vault.open();
    put(&store, "a.md", "hawfinch of the vault");
    let work = ProjectName::parse("work").unwrap();
    store.add_project(&work, &folder, HardLinkPolicy::Refuse).unwrap();
    sync(&store);
    vault
}

/// The process that removes the project, and dies at the step that it is given.
pub(crate) fn die_while_removing(task: &Task) {
    let store = Store::open(options(&task.folder)).unwrap();
    faults::arm(&task.arguments[0]).unwrap();
    store.remove_project("work").unwrap();
}

fn names(store: &Store) -> Vec<String> {
    store.projects().unwrap().into_iter().map(|project| project.name.to_string()).collect()
}

#[test]
fn a_removal_that_dies_is_made_whole_or_was_never_begun() {
    for (fault, is_removed) in
        [("abort:leaving:1", false), ("io:leaving:1", false), ("abort:unregistered:1", true)]
    {
        let vault = vault_with_project(20);
        // This process has the index open, and does not die.
        let beside = vault.open();
        assert_eq!(found(&beside, "hawfinch").len(), 21);
        Task::new("remove-project", vault.folder(), &[&fault]).run_to_whatever();
        let (count, projects) =
            if is_removed { (1, vec!["main"]) } else { (21, vec!["main", "work"]) };
        // The first read tells so, before any scan.
        for store in [&beside, &vault.open()] {
            assert_eq!(found(store, "hawfinch").len(), count, "{fault}");
            assert_eq!(names(store), projects, "{fault}");
        }
        let report = sync(&beside);
        assert!(report.unavailable.is_empty(), "{fault}: {report:?}");
        vault.assert_agrees(&beside, fault);
        assert_eq!(beside.remove_project("work").is_ok(), !is_removed, "{fault}");
        assert_eq!(found(&beside, "hawfinch"), ["main/a.md"], "{fault}");
    }
}

#[test]
fn files_of_a_removed_project_that_stayed_in_the_index_are_forgotten_by_a_scan() {
    let vault = vault_with_project(3);
    let registry = vault.home().join(".memoranda/projects.toml");
    let store = vault.open();
    let before = std::fs::read_to_string(&registry).unwrap();
    store.remove_project("work").unwrap();
    let after = std::fs::read_to_string(&registry).unwrap();
    // As a version left it that died between the registry and the index.
    std::fs::write(&registry, before).unwrap();
    sync(&store);
    assert_eq!(found(&store, "hawfinch").len(), 4);
    std::fs::write(&registry, after).unwrap();
    let report = sync(&store);
    assert!(report.unavailable.is_empty(), "{report:?}");
    assert_eq!(found(&store, "hawfinch"), ["main/a.md"]);
    vault.assert_agrees(&store, "left in the index");
}

#[test]
fn a_removal_reports_its_progress() {
    let vault = vault_with_project(5);
    let mut steps = Vec::new();
    vault
        .open()
        .remove_project_with("work", &mut |step| steps.push((step.done, step.total)))
        .unwrap();
    assert_eq!(steps, [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]);
}

/// Everything that the log says, contents decompressed or not.
fn log_bytes(vault: &TestVault) -> String {
    String::from_utf8_lossy(&std::fs::read(vault.segment()).unwrap()).into_owned()
}

#[test]
fn a_removed_project_can_be_purged_and_its_files_stay() {
    let vault = vault_with_project(3);
    let store = vault.open();
    let work = ProjectName::parse("work").unwrap();
    // Equal content in another project must stay readable there.
    std::fs::write(vault.home().join("main/same.md"), "hawfinch 0").unwrap();
    sync(&store);
    let same = store.read(&ProjectName::parse("main").unwrap(), &path("same.md")).unwrap().unwrap();
    let purge = VacuumRequest {
        project: Some(work),
        before: Timestamp::MAX,
        what: VacuumExtent::RemovedProject,
    };
    assert!(store.vacuum(&purge).is_err(), "it is still a project");
    store.remove_project("work").unwrap();
    assert!(log_bytes(&vault).contains("hawfinch 2"));
    let planned = store.plan_vacuum(&purge).unwrap();
    let report = store.vacuum(&purge).unwrap();
    assert_eq!((planned.contents, report.contents), (2, 2), "{report:?}");
    assert_eq!(report.notes.len(), 3);
    // The text that stays is not passed over in silence.
    let kept_by = [(ProjectName::parse("main").unwrap(), 1)];
    assert_eq!(
        (planned.kept_by.as_slice(), report.kept_by.as_slice()),
        (&kept_by[..], &kept_by[..])
    );
    let log = log_bytes(&vault);
    for gone in ["hawfinch 1", "hawfinch 2", "1.md", "2.md"] {
        assert!(!log.contains(gone), "{gone}");
    }
    assert_eq!(store.content(same.hash).unwrap(), b"hawfinch 0");
    assert_eq!(std::fs::read_dir(vault.folder().join("elsewhere")).unwrap().count(), 3);
    vault.assert_agrees(&store, "purged");
    vault.restart_machine();
    let store = vault.open();
    let mut found = found(&store, "hawfinch");
    found.sort();
    assert_eq!(found, ["main/a.md", "main/same.md"]);
    // Once more is no error: there is nothing left.
    assert_eq!(store.vacuum(&purge).unwrap().contents, 0);
    vault.assert_agrees(&store, "purged twice");
}
