//! A database that is killed under load: what it acknowledged is there, and nothing twice.

use std::time::Duration;

use memoranda_store::SpaceFreshness;

use crate::cluster::{Cluster, DiskForce, skipped};
use crate::support::{LoadedServers, TestSpace, found, put, rounds, text_of, try_put};

#[test]
fn a_killed_database_loses_nothing_and_servers_go_on_by_themselves() {
    let Some(mut cluster) = Cluster::start(DiskForce::On) else {
        return skipped("a_killed_database");
    };
    let space = TestSpace::new(&cluster);
    let address = cluster.address(&space.database_name);
    let servers = LoadedServers::open(&space, &address);
    let mut longest = Duration::ZERO;
    servers.write_while(|| {
        for n in 0..rounds(4) {
            std::thread::sleep(Duration::from_millis(700));
            if n % 2 == 0 {
                cluster.kill();
                std::thread::sleep(Duration::from_millis(200));
                cluster.run();
            } else {
                // The first process ends all others then, and recovers by itself.
                cluster.kill_backend(&space.database_name);
            }
            longest = longest.max(servers.await_writes(LoadedServers::COUNT));
        }
    });
    println!("writes went on {longest:?} after the database was back, or less");
    let cold = space.open("cold", &address);
    assert_eq!(space.row("acme").commits as usize, servers.check(&cold));
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
