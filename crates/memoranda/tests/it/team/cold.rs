//! Servers with an empty cache: what they answer before they have a space.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Team, TeamServer};
use crate::client::PATIENCE;
use crate::cluster::{DiskForce, skipped};
use crate::support::Home;

const WORDS: [&str; 12] = [
    "deploy", "kitchen", "garden", "invoice", "postgres", "latency", "holiday", "printer",
    "wombat", "backup", "mirror", "harbour",
];

/// Makes the space `large` of 40 notes, in a log that is long enough for an index image. Returns a token.
fn make_large_space(team: &Team) -> String {
    let vault = Home::new();
    for n in 0..40_usize {
        let word = |step: usize| WORDS[(n * step + step) % WORDS.len()];
        let text = format!(
            "# {} of the {} {n}\n\n- [fact] The {} is near the {} #{}\n",
            word(1),
            word(5),
            word(7),
            word(11),
            word(3)
        );
        vault.write(&format!("main/n{n}.md"), text);
    }
    // A text that does not shrink.
    let mut state = 1_u64;
    let mut noise = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:08x}", state >> 32)
    };
    let noise: String = (0..36_000).map(|_| noise()).collect();
    vault.write("main/noise.txt", noise);
    vault.ok(&["scan"]);
    team.admin(&["space", "add", "large", "--owner", "anna"]);
    let address = team.address().to_owned();
    vault.ok(&["admin", "--database", &address, "space", "import", "large"]);
    team.token("anna", "large", &["--space", "large"])
}

/// Waits until the database has an index image.
fn await_image(team: &Team) {
    let started = Instant::now();
    while team.sql("select count(*) from memoranda.images where parts > 0") == "0" {
        assert!(started.elapsed() < PATIENCE, "no server leaves an index image");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Removes what depends on the moment of the answer.
fn without_scores(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("score");
            fields.values_mut().for_each(without_scores);
        }
        Value::Array(items) => items.iter_mut().for_each(without_scores),
        _ => {}
    }
}

fn early_answers(server: &TeamServer) -> u64 {
    let text = server.get("/metrics").text;
    let line = text.lines().find_map(|line| line.strip_prefix("memoranda_early_answers_total "));
    line.unwrap().parse().unwrap()
}

#[test]
fn a_server_answers_like_a_warm_one_before_it_has_the_space() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_server_answers_like") };
    let token = make_large_space(&team);
    let warm = team.serve();
    warm.call(&token, "search_notes", &json!({ "query": "wombat" }));
    await_image(&team);
    // The image lacks the last writes; the records behind it have them.
    warm.call(
        &token,
        "edit_note",
        &json!({
            "identifier": "n3", "operation": "append", "content": "- [fact] The wombat moved #late",
        }),
    );
    warm.call(
        &token,
        "write_note",
        &json!({
            "title": "Late", "folder": "f", "content": "a wombat that came late",
        }),
    );
    for (tool, arguments) in [
        ("search_notes", json!({ "query": "wombat near the garden", "page_size": 60 })),
        ("recall", json!({ "query": "where is the wombat" })),
        ("search_memories", json!({ "query": "printer" })),
        ("read_note", json!({ "identifier": "n3" })),
        ("read_note", json!({ "identifier": "main/f/Late.md" })),
        ("read_note", json!({ "identifier": "Late", "as_of": "2020-01-01" })),
        ("read_note", json!({ "identifier": "no such note" })),
    ] {
        let cold = team.serve();
        let answers = [&warm, &cold].map(|server| {
            let answer = server.try_call(&token, tool, &arguments).unwrap();
            let mut json = answer.json;
            without_scores(&mut json["structured"]);
            (answer.status, json["is_error"].clone(), json["structured"].clone())
        });
        assert_eq!(answers[0], answers[1], "{tool} {arguments}");
        assert_eq!(early_answers(&cold), 1, "{tool} {arguments}");
    }
    // It found no image when it started, and was whole afterwards.
    assert_eq!(early_answers(&warm), 0);
}

#[test]
fn a_cold_server_writes_only_when_it_is_whole_and_keeps_its_cache() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_cold_server_writes") };
    let token = make_large_space(&team);
    let warm = team.serve();
    warm.call(&token, "search_notes", &json!({ "query": "wombat" }));
    await_image(&team);
    let cold = team.serve();
    cold.call(&token, "search_notes", &json!({ "query": "wombat" }));
    cold.call(
        &token,
        "edit_note",
        &json!({
            "identifier": "n3", "operation": "append", "content": "- [fact] The ferry sank #late",
        }),
    );
    let found = warm.call(&token, "search_notes", &json!({ "query": "ferry sank" }));
    assert_eq!(found["structured"]["results"][0]["permalink"], "n3", "{found}");
    let commits = warm.call(&token, "recent_activity", &json!({ "timeframe": "1d" }));
    assert!(!commits["text"].as_str().unwrap().contains("deleted"), "{commits}");
    // The provisional store goes once the whole space is here.
    let started = Instant::now();
    while !cold.provisional_folders().is_empty() {
        assert!(started.elapsed() < PATIENCE, "{:?}", cold.provisional_folders());
        std::thread::sleep(Duration::from_millis(20));
    }
    let found = cold.call(&token, "search_notes", &json!({ "query": "ferry sank" }));
    assert_eq!(found["structured"]["results"][0]["permalink"], "n3", "{found}");
}
