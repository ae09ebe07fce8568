//! The tables: made once, by one at a time, and never by an older program.

use memoranda_remote::postgres::{Database, DatabaseError, SCHEMA_VERSION};

use crate::cluster::{shared, skipped};

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
    cluster.sql(&name, "insert into memoranda.migrations (number, name) values (999, 'later')");
    for outcome in [database.check_schema(), database.migrate().map(drop)] {
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("schema 999") && error.contains("newer memoranda"), "{error}");
    }
}
