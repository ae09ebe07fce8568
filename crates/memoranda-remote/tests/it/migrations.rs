//! The tables: made once, by one at a time, and never by an older program.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use memoranda_remote::directory::SpaceDirectory as _;
use memoranda_remote::postgres::{Database, DatabaseError, SCHEMA_VERSION};

use crate::cluster::{Cluster, DiskForce, shared, skipped};
use crate::support::{TestSpace, found, put, try_append};

#[test]
fn migrations_run_once_also_side_by_side() {
    let Some(cluster) = shared() else { return skipped("migrations_run_once") };
    let name = "migrated_side_by_side";
    cluster.sql("postgres", &format!("create database {name}"));
    let database = Database::new(&cluster.address(name), None).unwrap();
    let missing = database.check_schema().unwrap_err();
    assert!(matches!(missing, DatabaseError::OlderSchema { found: 0, .. }), "{missing:?}");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let database = Database::new(&cluster.address(name), None).unwrap();
            scope.spawn(move || database.migrate().unwrap());
        }
    });
    database.check_schema().unwrap();
    let again = database.migrate().unwrap();
    assert_eq!((again.from, again.to), (SCHEMA_VERSION, SCHEMA_VERSION));
    let numbers = cluster.sql(name, "select number from memoranda.migrations order by number");
    let expected: Vec<String> = (1..=SCHEMA_VERSION).map(|number| number.to_string()).collect();
    assert_eq!(numbers, expected.join(" "));
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let Some(cluster) = shared() else { return skipped("a_newer_schema") };
    let (database, name) = cluster.new_database();
    // A server that found its own tables goes on, and is ready, while a later version takes over.
    let (starting, running) = (database, Database::new(&cluster.address(&name), None).unwrap());
    running.check_ready().unwrap();
    cluster.sql(&name, "insert into memoranda.migrations (number, name) values (999, 'later')");
    running.check_ready().unwrap();
    assert!(starting.check_ready().is_err());
    let database = starting;
    for outcome in [database.check_schema(), database.migrate().map(drop)] {
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("schema 999") && error.contains("newer memoranda"), "{error}");
    }
}

/// Migrations of the version before the present one.
const EARLIER: [(&str, &str); 7] = [
    ("spaces", include_str!("../../src/postgres/migrations/0001_spaces.sql")),
    ("proposals", include_str!("../../src/postgres/migrations/0002_proposals.sql")),
    ("oauth", include_str!("../../src/postgres/migrations/0003_oauth.sql")),
    ("row security", include_str!("../../src/postgres/migrations/0004_row_security.sql")),
    ("token spaces", include_str!("../../src/postgres/migrations/0005_token_spaces.sql")),
    ("page", include_str!("../../src/postgres/migrations/0006_page.sql")),
    ("index images", include_str!("../../src/postgres/migrations/0007_index_images.sql")),
];

#[test]
fn servers_write_and_read_on_while_the_tables_are_migrated() {
    const SERVERS: usize = 3;
    let Some(cluster) = Cluster::start(DiskForce::Off) else { return skipped("servers_write") };
    let name = "upgraded";
    cluster.sql("postgres", &format!("create database {name}"));
    cluster.sql(
        name,
        "create schema memoranda; create table memoranda.migrations (\
         number int primary key, name text not null, at timestamptz not null default now())",
    );
    for (number, (migration, sql)) in (1..).zip(EARLIER) {
        cluster.sql(name, sql);
        let insert = format!("insert into memoranda.migrations values ({number}, '{migration}')");
        cluster.sql(name, &insert);
    }
    let space = TestSpace::in_database(&cluster, name);
    let address = cluster.address(name);
    let servers: Vec<_> =
        (0..SERVERS).map(|n| space.open(&format!("server-{n}"), &address)).collect();
    put(&servers[0], "known.md", "# Known\n\npangolin\n");
    let (is_over, writes) = (AtomicBool::new(false), AtomicUsize::new(0));
    let longest = Mutex::new(Duration::ZERO);
    std::thread::scope(|scope| {
        for (n, server) in servers.iter().enumerate() {
            let (is_over, writes, longest) = (&is_over, &writes, &longest);
            scope.spawn(move || {
                for i in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        return;
                    }
                    // No write and no read fails.
                    let started = Instant::now();
                    try_append(server, "log.md", &format!("line {n} {i}")).unwrap();
                    server.catch_up_with_space(None).unwrap();
                    assert_eq!(found(server, "pangolin"), ["known.md"]);
                    let mut longest = longest.lock().unwrap();
                    *longest = longest.max(started.elapsed());
                    drop(longest);
                    writes.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let wait_for = |more: usize| {
            let (started, before) = (Instant::now(), writes.load(Ordering::SeqCst));
            while writes.load(Ordering::SeqCst) < before + more {
                assert!(started.elapsed() < Duration::from_secs(60), "no write went on");
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        wait_for(10);
        let database = Database::new(&address, None).unwrap();
        let migrated = database.migrate().unwrap();
        assert_eq!((migrated.from, migrated.to), (EARLIER.len() as i32, SCHEMA_VERSION));
        wait_for(10);
        is_over.store(true, Ordering::SeqCst);
    });
    let longest = longest.into_inner().unwrap();
    println!("the longest write and read during the migration took {longest:?}");
    assert!(longest < Duration::from_secs(6), "{longest:?}: longer than a lock may be waited for");
    let cold = space.open("cold", &address);
    let lines = crate::support::text_of(&cold, "log.md").unwrap().lines().count();
    assert_eq!(lines, writes.load(Ordering::SeqCst));
}
