//! The feed of changes, made by any process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memoranda_core::id::ProjectName;
use memoranda_store::HardLinkPolicy;

use crate::support::{TestVault, eventually, found, put};

#[test]
fn every_change_is_heard_until_nobody_listens() {
    let vault = TestVault::new();
    let (ours, other) = (vault.open(), vault.open());
    put(&ours, "first.md", "before anyone listens");
    let heard = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&heard);
    let following = ours
        .follow(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
    let hears = |who: &str, change: &dyn Fn()| {
        let before = heard.load(Ordering::SeqCst);
        change();
        eventually(who, || heard.load(Ordering::SeqCst) > before);
    };
    hears("this process", &|| drop(put(&ours, "a.md", "one")));
    hears("another one", &|| drop(put(&other, "a.md", "two")));
    other.start_background().unwrap();
    eventually("someone watches", || other.is_watched());
    hears("an editor", &|| vault.write_by_hand("main/a.md", "siskin"));
    eventually("and the change is there", || !found(&ours, "siskin").is_empty());
    let elsewhere = vault.folder().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let name = ProjectName::parse("work").unwrap();
    hears("a new project", &|| {
        other.add_project(&name, &elsewhere, HardLinkPolicy::Refuse).map(drop).unwrap();
    });

    drop(following);
    let before = heard.load(Ordering::SeqCst);
    put(&other, "a.md", "three");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(heard.load(Ordering::SeqCst), before);
}

#[test]
fn reading_is_no_change() {
    let vault = TestVault::new();
    let store = vault.open();
    put(&store, "a.md", "siskin");
    let heard = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&heard);
    let _following = store
        .follow(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
    assert_eq!(found(&vault.open(), "siskin"), ["main/a.md"]);
    assert_eq!(found(&store, "siskin"), ["main/a.md"]);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(heard.load(Ordering::SeqCst), 0);
}
