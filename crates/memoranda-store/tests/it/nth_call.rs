//! Promise 1 where any call fails: the n-th call of the system on files returns an error, for every n.
//! Nothing that was acknowledged is lost, nothing panics, and the error is a sentence.

use jiff::SignedDuration;
use memoranda_core::change::{ChangeSet, ExpectedContent, FileAction};
use memoranda_core::id::ProjectName;
use memoranda_core::query::Query;
use memoranda_store::{
    CommitOutcome, HardLinkPolicy, Result, SearchFilter, Store, StoreError, VacuumExtent,
    VacuumRequest, clock, faults,
};

use crate::child::{Task, acknowledged};
use crate::model::Files;
use crate::support::{TestVault, change, operation, options, path, put, remove, sync, who};

/// An operation during which a call fails.
type Deed = (&'static str, fn(&Store) -> Result<()>);

fn commit(store: &Store, wanted: &ChangeSet) -> Result<()> {
    match store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone()))? {
        CommitOutcome::Committed(_) => Ok(()),
        other => panic!("{other:?}"),
    }
}

fn put_text(place: &str) -> ChangeSet {
    let action = FileAction::Put(b"the new text: flamingo".to_vec());
    change(vec![operation(place, ExpectedContent::Anything, action)])
}

const DEEDS: &[Deed] = &[
    ("create", |store| commit(store, &put_text("made/for/new.md"))),
    ("overwrite", |store| commit(store, &put_text("a.md"))),
    ("remove", |store| {
        let action = FileAction::Remove;
        commit(store, &change(vec![operation("b.md", ExpectedContent::Anything, action)]))
    }),
    ("move", |store| {
        let action = FileAction::MoveFrom { from: path("b.md"), content: b"old b".to_vec() };
        commit(store, &change(vec![operation("moved.md", ExpectedContent::Anything, action)]))
    }),
    ("several", |store| {
        let mut wanted = put_text("a.md");
        let action = FileAction::Remove;
        wanted.operations.push(operation("b.md", ExpectedContent::Anything, action));
        wanted.operations.extend(put_text("made/new.md").operations);
        commit(store, &wanted)
    }),
    ("scan", |store| store.sync(&mut |_| {}).map(drop)),
    ("reindex", |store| store.reindex(&mut |_| {}).map(drop)),
    ("search", |store| {
        let filter = SearchFilter::default();
        store.snapshot()?.search("old", &Query::parse("old"), &filter, 10).map(drop)
    }),
    ("add project", |store| {
        let folder = store.home().with_file_name("elsewhere");
        let name = ProjectName::parse("work").unwrap();
        store.add_project(&name, &folder, HardLinkPolicy::Refuse)?;
        store.sync(&mut |_| {}).map(drop)
    }),
    ("flush", |store| store.flush()),
    ("export", |store| store.export(&mut Vec::new()).map(drop)),
    ("vacuum", |store| {
        let before = clock::now() + SignedDuration::from_secs(60);
        let what = VacuumExtent::DeletedAndVersions;
        store.vacuum(&VacuumRequest { project: None, before, what }).map(drop)
    }),
];

/// Makes the vault that each deed begins with, and returns its files.
fn furnish(folder: &std::path::Path) -> Files {
    for part in ["home", "cache", "state", "elsewhere"] {
        std::fs::remove_dir_all(folder.join(part)).ok();
    }
    std::fs::create_dir(folder.join("elsewhere")).unwrap();
    std::fs::write(folder.join("elsewhere/own.md"), "a note of the person").unwrap();
    let store = Store::open(options(folder)).unwrap();
    put(&store, "a.md", "older a");
    put(&store, "a.md", "old a");
    put(&store, "b.md", "old b");
    put(&store, "doomed.md", "deleted");
    remove(&store, "doomed.md");
    sync(&store);
    drop(store);
    std::fs::write(folder.join("home/main/hand.md"), "by hand").unwrap();
    Files::on_disk(&folder.join("home/main"))
}

/// Lets each call fail in turn, until a deed makes fewer calls.
pub(crate) fn fail_each_call(task: &Task) {
    let (name, kind) = (task.arguments[0].as_str(), task.arguments[1].as_str());
    let (_, deed) = DEEDS.iter().find(|(known, _)| *known == name).unwrap();
    let main = task.folder.join("home/main");
    let after = {
        furnish(&task.folder);
        let store = Store::open(options(&task.folder)).unwrap();
        deed(&store).unwrap();
        Files::on_disk(&main)
    };
    // Every call in a long run, a sample otherwise.
    let stride = if std::env::var_os("MEMORANDA_TEST_ROUNDS").is_some() { 1 } else { 6 };
    for n in (1..).step_by(stride) {
        let context = format!("{kind} at call {n} of {name}");
        let before = furnish(&task.folder);
        faults::arm(&format!("{kind}:any:{n}")).unwrap();
        let done = Store::open(options(&task.folder)).and_then(|store| deed(&store));
        let has_failed = !faults::is_armed();
        faults::arm("").unwrap();
        let now = Files::on_disk(&main);
        match &done {
            Ok(()) => assert_eq!(now, after, "{context}"),
            Err(e) => {
                assert!(now == before || now == after, "{context}: {now:?}");
                assert!(!e.to_string().is_empty(), "{context}");
            }
        }
        // The next process finds all in order, and goes on.
        let store = Store::open(options(&task.folder)).unwrap();
        sync(&store);
        assert_eq!(Files::on_disk(&main), now, "{context}");
        let report = store.check(&task.folder.join(format!("scratch-{n}"))).unwrap();
        assert!(report.agrees(), "{context}: {report:?}");
        put(&store, "next.md", "the next write");
        drop(store);
        std::fs::remove_dir_all(task.folder.join(format!("scratch-{n}"))).ok();
        if !has_failed {
            task.acknowledge(format!("{name}: {} calls", n - 1));
            break;
        }
    }
    std::process::exit(0);
}

#[test]
fn nothing_is_lost_when_any_call_fails() {
    for (name, _) in DEEDS {
        let kind = if *name == "several" { "full" } else { "io" };
        let vault = TestVault::new();
        Task::new("nth-call", vault.folder(), &[name, &kind]).run();
        let said = acknowledged(vault.folder());
        assert_eq!(said.len(), 1, "{name} {kind}");
        println!("{kind}: {}", said[0]);
    }
}
