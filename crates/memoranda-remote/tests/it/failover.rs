//! A standby that is promoted after its primary was killed under load: nothing that was acknowledged
//! is lost, nothing is made twice, and servers go on by themselves.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memoranda_store::{SpaceFreshness, Store};

use crate::cluster::{Cluster, DiskForce, skipped};
use crate::support::{TestSpace, append_lines, put, rounds, text_of};

#[test]
fn a_promoted_standby_has_everything_that_was_acknowledged() {
    const WRITERS: usize = 3;
    for _ in 0..rounds(1) {
        let Some(mut primary) = Cluster::start(DiskForce::On) else {
            return skipped("a_promoted_standby");
        };
        let space = TestSpace::new(&primary);
        let standby = primary.start_standby();
        // Both addresses; the one that can be written to is used.
        let address = format!(
            "postgres://memoranda@127.0.0.1:{},127.0.0.1:{}/{}?target_session_attrs=read-write",
            primary.port, standby.port, space.database_name
        );
        let stores: Vec<Store> =
            (0..WRITERS).map(|n| space.open(&format!("server-{n}"), &address)).collect();
        let reader = space.open("reader", &address);
        put(&reader, "before.md", "# Before\n");
        let acknowledged = Mutex::new(BTreeSet::new());
        let is_over = AtomicBool::new(false);
        let mut refused = Duration::ZERO;
        std::thread::scope(|scope| {
            append_lines(scope, &stores, &acknowledged, &is_over);
            std::thread::sleep(Duration::from_millis(1500));
            primary.kill();
            let killed = Instant::now();
            // Reading goes on, marked with its time.
            let freshness = reader.catch_up_with_space(None).unwrap();
            assert!(matches!(freshness, SpaceFreshness::AsOf(_)), "{freshness:?}");
            assert_eq!(text_of(&reader, "before.md").as_deref(), Some("# Before\n"));
            let before = acknowledged.lock().unwrap().len();
            standby.sql("postgres", "select pg_promote()");
            while acknowledged.lock().unwrap().len() < before + 2 * WRITERS {
                assert!(killed.elapsed() < Duration::from_secs(60), "no write went on");
                std::thread::sleep(Duration::from_millis(20));
            }
            refused = killed.elapsed();
            is_over.store(true, Ordering::SeqCst);
        });
        println!("writes went on {refused:?} after the primary was killed");
        let cold = space.open_at("cold", &standby.address(&space.database_name), &standby);
        let text = text_of(&cold, "log.md").unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let once: BTreeSet<&str> = lines.iter().copied().collect();
        assert_eq!(once.len(), lines.len(), "a write was made twice");
        for line in acknowledged.into_inner().unwrap() {
            assert!(once.contains(line.as_str()), "{line} is lost");
        }
        for store in stores.iter().chain([&reader]) {
            assert_eq!(store.catch_up_with_space(None).unwrap(), SpaceFreshness::Current);
            assert_eq!(store.fingerprint().unwrap(), cold.fingerprint().unwrap());
        }
    }
}
