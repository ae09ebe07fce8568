//! A database that is killed under load: what it acknowledged is there, and nothing twice.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memoranda_store::{SpaceFreshness, Store};

use crate::cluster::{Cluster, DiskForce, skipped};
use crate::support::{TestSpace, append_lines, found, put, rounds, text_of, try_put};

#[test]
fn a_killed_database_loses_nothing_and_servers_go_on_by_themselves() {
    const WRITERS: usize = 3;
    let Some(mut cluster) = Cluster::start(DiskForce::On) else {
        return skipped("a_killed_database");
    };
    let space = TestSpace::new(&cluster);
    let address = cluster.address(&space.database_name);
    let stores: Vec<Store> =
        (0..WRITERS).map(|n| space.open(&format!("server-{n}"), &address)).collect();
    let acknowledged = Mutex::new(BTreeSet::new());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        append_lines(scope, &stores, &acknowledged, &is_over);
        for _ in 0..rounds(3) {
            std::thread::sleep(Duration::from_millis(700));
            cluster.kill();
            std::thread::sleep(Duration::from_millis(200));
            cluster.run();
            let before = acknowledged.lock().unwrap().len();
            let restarted = Instant::now();
            while acknowledged.lock().unwrap().len() < before + WRITERS {
                assert!(restarted.elapsed() < Duration::from_secs(30), "no write went on");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        is_over.store(true, Ordering::SeqCst);
    });
    let cold = space.open("cold", &address);
    let text = text_of(&cold, "log.md").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let once: BTreeSet<&str> = lines.iter().copied().collect();
    assert_eq!(once.len(), lines.len(), "a write was made twice");
    for line in acknowledged.into_inner().unwrap() {
        assert!(once.contains(line.as_str()), "{line} is lost");
    }
    assert_eq!(space.row("acme").commits as usize, lines.len());
    for store in &stores {
        store.catch_up_with_space(None).unwrap();
        assert_eq!(store.fingerprint().unwrap(), cold.fingerprint().unwrap());
    }
}

#[test]
fn reads_go_on_while_the_database_is_away_and_writes_are_refused() {
    let Some(mut cluster) = Cluster::start(DiskForce::Off) else { return skipped("reads_go_on") };
    let space = TestSpace::new(&cluster);
    let store = space.open("a", &cluster.address(&space.database_name));
    put(&store, "kept.md", "# Kept\n\nstill here\n");
    store.catch_up_with_space(None).unwrap();
    cluster.kill();
    let freshness = store.catch_up_with_space(None).unwrap();
    assert!(matches!(freshness, SpaceFreshness::AsOf(_)), "{freshness:?}");
    assert_eq!(found(&store, "still"), ["kept.md"]);
    let refused = try_put(&store, "lost.md", "# Lost\n").unwrap_err().to_string();
    assert!(refused.contains("cannot be reached"), "{refused}");
    assert_eq!(text_of(&store, "lost.md"), None);
    cluster.run();
    put(&store, "after.md", "# After\n");
    assert_eq!(store.catch_up_with_space(None).unwrap(), SpaceFreshness::Current);
}
