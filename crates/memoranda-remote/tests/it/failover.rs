//! A standby that is promoted after its primary was killed under load: nothing that was acknowledged
//! is lost, nothing is made twice, and servers go on by themselves.

use std::time::{Duration, Instant};

use memoranda_store::SpaceFreshness;

use crate::cluster::{Cluster, DiskForce, skipped};
use crate::support::{LoadedServers, TestSpace, put, rounds, text_of};

#[test]
fn a_promoted_standby_has_everything_that_was_acknowledged() {
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
        let servers = LoadedServers::open(&space, &address);
        let reader = space.open("reader", &address);
        put(&reader, "before.md", "# Before\n");
        servers.write_while(|| {
            std::thread::sleep(Duration::from_millis(1500));
            primary.kill();
            let killed = Instant::now();
            // Reading goes on, marked with its time.
            let freshness = reader.catch_up_with_space(None).unwrap();
            assert!(matches!(freshness, SpaceFreshness::AsOf(_)), "{freshness:?}");
            assert_eq!(text_of(&reader, "before.md").as_deref(), Some("# Before\n"));
            standby.sql("postgres", "select pg_promote()");
            servers.await_writes(2 * LoadedServers::COUNT);
            println!("writes went on {:?} after the primary was killed", killed.elapsed());
        });
        let cold = space.open_at("cold", &standby.address(&space.database_name), &standby);
        servers.check(&cold);
        assert_eq!(reader.catch_up_with_space(None).unwrap(), SpaceFreshness::Current);
        assert_eq!(reader.fingerprint().unwrap(), cold.fingerprint().unwrap());
    }
}
