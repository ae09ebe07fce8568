//! Servers and databases that are killed: what was acknowledged is there, once.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use super::support::{Team, TeamServer};
use crate::cluster::{DiskForce, skipped};
use crate::support::Home;

/// Writes notes until it is over; keeps the titles that were acknowledged.
fn write_on(
    server: &TeamServer,
    token: &str,
    prefix: &str,
    acknowledged: &Mutex<BTreeSet<String>>,
    is_over: &AtomicBool,
) {
    for n in 0.. {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        let title = format!("{prefix}-{n}");
        let note = json!({ "title": title, "folder": prefix, "content": format!("text {n}") });
        match server.try_call(token, "write_note", &note) {
            Some(answer) if answer.json["is_error"] == json!(false) => {
                acknowledged.lock().unwrap().insert(title);
            }
            Some(_) => std::thread::sleep(Duration::from_millis(50)),
            // The server is gone.
            None => return,
        }
    }
}

/// Returns the titles of all notes in the space of a token.
pub(super) fn titles(server: &TeamServer, token: &str) -> Vec<String> {
    let mut titles = Vec::new();
    for page in 1.. {
        let args = json!({ "query": "*", "page": page, "page_size": 100 });
        let found = server.call(token, "search_notes", &args);
        let results = found["structured"]["results"].as_array().unwrap().clone();
        titles.extend(results.iter().map(|item| item["title"].as_str().unwrap().to_owned()));
        if results.len() < 100 {
            return titles;
        }
    }
    titles
}

#[test]
fn killed_servers_lose_nothing_that_was_acknowledged() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("killed_servers") };
    let token = team.token("ben", "laptop", &["--space", "acme"]);
    let (acknowledged, is_over) = (Mutex::default(), AtomicBool::new(false));
    let rest = team.serve();
    for round in 0..3 {
        let server = team.serve();
        std::thread::scope(|scope| {
            let (acknowledged, is_over, token) = (&acknowledged, &is_over, &token);
            let other = &rest;
            scope.spawn(move || {
                write_on(other, token, &format!("rest{round}"), acknowledged, is_over);
            });
            let pid = server.pid();
            let writing = &server;
            scope.spawn(move || {
                write_on(writing, token, &format!("killed{round}"), acknowledged, is_over);
            });
            std::thread::sleep(Duration::from_millis(1_500));
            std::process::Command::new("kill").args(["-9", &pid]).status().unwrap();
            std::thread::sleep(Duration::from_millis(300));
            is_over.store(true, Ordering::SeqCst);
        });
        is_over.store(false, Ordering::SeqCst);
        server.kill();
    }
    let cold = team.serve();
    let found = titles(&cold, &token);
    let once: BTreeSet<&String> = found.iter().collect();
    assert_eq!(once.len(), found.len(), "a note is there twice");
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() > 10, "{}", acknowledged.len());
    for title in &acknowledged {
        assert!(once.contains(title), "{title} is lost");
    }
    assert_eq!(titles(&rest, &token).len(), found.len());
}

/// The steps of a commit in a space, in their order.
const COMMIT_STEPS: [&str; 10] = [
    "temp-write",
    "space-append",
    "space-appended",
    "log-torn",
    "log-synced",
    "swap",
    "displaced",
    "lock-write",
    "index",
    "indexed",
];

#[test]
fn a_server_that_dies_at_any_step_of_a_commit_loses_and_doubles_nothing() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_server_that_dies") };
    let token = team.token("ben", "laptop", &["--space", "acme"]);
    let rest = team.serve();
    let mut acknowledged = BTreeSet::new();
    let (mut made, mut absent) = (0, 0);
    for step in COMMIT_STEPS {
        // The first time may be while the server opens the space.
        let dying = team.serve_in(Arc::new(Home::bare()), &[], &format!("abort:{step}:2"));
        let mut unanswered = None;
        for n in 0..8 {
            let title = format!("{step} {n}");
            let note = json!({ "title": title, "folder": "x", "content": format!("# {title}") });
            match dying.try_call(&token, "write_note", &note) {
                Some(answer) if answer.json["is_error"] == json!(false) => {
                    acknowledged.insert(title);
                }
                Some(answer) => panic!("{step}: {answer:?}"),
                None => {
                    unanswered = Some((title, note));
                    break;
                }
            }
        }
        let home = Arc::clone(&dying.home);
        dying.kill();
        let again = team.serve_in(home, &[], "");
        if let Some((title, note)) = unanswered {
            let found = titles(&rest, &token);
            let is_made = found.contains(&title);
            made += usize::from(is_made);
            absent += usize::from(!is_made);
            assert_eq!(titles(&again, &token).contains(&title), is_made, "{step}");
            // The call is made again: it finds the note, or makes it.
            let repeated = again.try_call(&token, "write_note", &note).unwrap();
            assert_eq!(repeated.json["is_error"], json!(is_made), "{step}: {repeated:?}");
            let read = rest.call(&token, "read_note", &json!({ "identifier": title }));
            assert!(read["text"].as_str().unwrap().contains(&title), "{step}: {read}");
            acknowledged.insert(title);
        }
        let mut found = titles(&again, &token);
        found.sort_unstable();
        assert_eq!(found, acknowledged.iter().cloned().collect::<Vec<_>>(), "{step}");
    }
    assert!(made >= 5, "{made} of the steps follow the commit");
    assert!(absent >= 2, "{absent} of the steps precede it");
}

#[test]
fn reads_go_on_without_the_database_and_writes_are_refused() {
    let Some(mut team) = Team::start(DiskForce::On) else { return skipped("reads_go_on") };
    let server = team.serve();
    let anna = team.token("anna", "laptop", &[]);
    let note = json!({ "title": "Kept", "folder": "k", "content": "narwhal", "space": "acme" });
    server.call(&anna, "write_note", &note);
    let query = json!({ "query": "narwhal" });
    let found = server.call(&anna, "search_notes", &query);
    assert!(found["structured"]["as_of"].is_null(), "{found}");
    assert_eq!(server.get("/readyz").status, 200);
    team.cluster.kill();
    let found = server.call(&anna, "search_notes", &query);
    assert_eq!(found["structured"]["results"][0]["title"], "Kept", "{found}");
    assert!(found["structured"]["as_of"].is_string(), "{found}");
    assert!(found["text"].as_str().unwrap().contains("As of "), "{found}");
    let write = json!({ "title": "Lost", "folder": "k", "content": "x", "space": "acme" });
    server.refuses(&anna, "write_note", &write, "cannot be reached");
    let unknown = "mem_pat_0000000000000000000000000000000000000000000";
    assert_eq!(server.try_call(unknown, "recall", &query).unwrap().status, 503);
    assert_eq!(server.get("/readyz").status, 503);
    assert_eq!(server.get("/healthz").status, 200);
    team.cluster.run();
    let begun = Instant::now();
    while server.try_call(&anna, "write_note", &write).unwrap().json["is_error"] != json!(false) {
        assert!(begun.elapsed() < Duration::from_secs(20), "writing does not go on");
        std::thread::sleep(Duration::from_millis(100));
    }
    let found = server.call(&anna, "search_notes", &query);
    assert!(found["structured"]["as_of"].is_null(), "{found}");
}

#[test]
fn an_operator_sees_health_and_figures_and_ends_a_server_gently() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("an_operator_sees") };
    let server = team.serve();
    let anna = team.token("anna", "laptop", &[]);
    server.call(&anna, "recall", &json!({ "query": "x" }));
    assert_eq!(server.get("/healthz").json["status"], "ok");
    assert_eq!(server.get("/readyz").json["status"], "ready");
    let metrics = server.get("/metrics").text;
    assert!(metrics.contains("memoranda_tool_calls_total 1\n"), "{metrics}");
    assert!(metrics.contains("memoranda_open_spaces "), "{metrics}");
    assert!(!metrics.contains("anna") && !metrics.contains("acme"), "{metrics}");
    let stats = team.admin(&["stats"]);
    assert_eq!((&stats["accounts"], &stats["spaces"]), (&json!(2), &json!(3)), "{stats}");
    assert_eq!(server.stop(), Some(0));
    // A database of a later version is refused with a sentence.
    let later = "insert into memoranda.migrations (number, name) values (999, 'later')";
    team.cluster.sql("postgres", later);
    let flags = ["serve", "--bind", "127.0.0.1:0", "--database", team.address()];
    team.home.fails(&flags, 3, &["schema 999", "newer memoranda"]);
    let said = team.home.run(&["admin", "--database", team.address(), "migrate"]);
    assert_ne!(said.code, 0, "{said:?}");
}
