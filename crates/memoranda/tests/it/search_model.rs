//! Searching by a model that the person chose: a server of vectors, a folder, and what is said
//! when either is no use.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, Era, PATIENCE};
use super::stand_in_server::{ClosedPort, StandInReply, StandInServer};
use super::support::Home;

/// A vector of each text: one direction for animals and "zorblat", another for all else.
fn knowing() -> StandInServer {
    StandInServer::answering(|_, body| {
        let texts = body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
        let vector = |text: &str| {
            if text.contains("cat") || text.contains("zorblat") {
                json!({ "embedding": [1.0, 0.0, 0.1] })
            } else {
                json!({ "embedding": [0.0, 1.0, 0.1] })
            }
        };
        let data: Vec<Value> = texts.map(vector).collect();
        StandInReply::new(200, json!({ "data": data }).to_string())
    })
}

fn configured(settings: &[(&str, &str)]) -> Home {
    let home = Home::new();
    for (key, value) in settings {
        home.ok(&["config", "set", key, value]);
    }
    home.ok(&["add", "--title", "Pets", "Our cat sleeps in the kitchen."]);
    home.ok(&["add", "--title", "Money", "The electricity bill is due in March."]);
    home
}

#[test]
fn a_server_of_vectors_is_used_as_far_as_it_has_come() {
    let stand_in = knowing();
    let url = stand_in.url();
    let home = configured(&[("search.model", &url), ("search.model_name", "small")]);
    let before = home.json(&["search", "electricity bill"]);
    assert_eq!(
        before["meaning"],
        json!({ "by": "built-in", "model": "small",
        "reason": "0 of 2 passages have their vectors so far" })
    );
    let made = home.json(&["embed"]);
    assert_eq!(
        made,
        json!({ "model": "small", "made": 2, "refused": 0, "covered": 2,
        "passages": 2, "elsewhere": false })
    );
    let found = home.json(&["search", "zorblat"]);
    assert_eq!(found["results"][0]["title"], "Pets", "{found}");
    assert_eq!(found["meaning"], json!({ "by": "chosen", "model": "small", "left": 0 }));
    let said = home.run(&["search", "zorblat", "--explain"]);
    assert!(said.err.contains("Meanings are compared by small."), "{said:?}");
    let model = json!({ "name": "small", "covered": 2, "passages": 2, "error": null });
    assert_eq!(home.json(&["status"])["model"], model);
    assert_eq!(home.json(&["doctor"])["model"], model);
    assert!(home.ok(&["status"]).contains("small, with vectors for 2 of 2 passages"));
    assert!(home.ok(&["embed"]).contains("0 new texts"));
    assert_eq!(home.json(&["embed", "--rebuild"])["made"], 2);
    // One setting leads back; an empty value is refused with that hint.
    home.fails(&["config", "set", "search.model", ""], 2, &["config unset search.model"]);
    home.ok(&["config", "unset", "search.model"]);
    assert_eq!(home.json(&["search", "electricity bill"])["meaning"], json!({ "by": "built-in" }));
    assert_eq!(home.json(&["status"])["model"], Value::Null);
    let none = home.run(&["embed"]);
    assert!(none.code != 0 && none.err.contains("config set search.model"), "{none:?}");
}

#[test]
fn what_is_no_use_is_said_and_stops_nothing() {
    let nobody = ClosedPort::new();
    let dead = nobody.url();
    let check = |settings: &[(&str, &str)], word: &str| {
        let home = configured(settings);
        let found = home.json(&["search", "electricity bill"]);
        assert_eq!(found["results"][0]["title"], "Money");
        assert_eq!(found["meaning"]["by"], "built-in");
        let doctor = home.json(&["doctor"]);
        let error = doctor["model"]["error"].as_str().unwrap();
        assert!(error.contains(word) && doctor["agrees"] == true, "{doctor}");
        assert!(home.ok(&["doctor"]).contains("search uses the built-in model"));
        // The status reports it, too.
        let status = home.json(&["status"]);
        assert!(status["model"]["error"].as_str().unwrap().contains(word), "{status}");
        assert!(home.ok(&["status"]).contains(word));
        let explained = home.run(&["search", "electricity bill", "--explain"]);
        assert!(explained.err.contains(word), "{explained:?}");
        let failed = home.run(&["embed"]);
        assert!(failed.code != 0 && failed.err.contains(word), "{failed:?}");
    };
    check(&[("search.model", &dead), ("search.model_name", "small")], "cannot be reached");
    check(&[("search.model", &dead)], "search.model_name");
    check(&[("search.model", "ftp://x"), ("search.model_name", "small")], "not the address");
    check(
        &[("search.model", &dead), ("search.model_name", "small"), ("search.key_file", "~/none")],
        "no key file",
    );
    let word = if cfg!(feature = "local-models") { "not a folder" } else { "`local-models`" };
    check(&[("search.model", "~/models/none")], word);
}

#[test]
fn a_connected_server_makes_the_vectors_by_itself() {
    let stand_in = knowing();
    let url = stand_in.url();
    let home = configured(&[("search.model", &url), ("search.model_name", "small")]);
    let client = Client::open(&home, Era::Handshake("2025-11-25"), &[]);
    let wait = |covered: u64| {
        let begun = Instant::now();
        while home.json(&["status"])["model"]["covered"] != covered {
            assert!(begun.elapsed() < PATIENCE, "{}", home.json(&["status"]));
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait(2);
    // Writes of another process, and edits of a person.
    home.ok(&["add", "--title", "More", "Another cat came by."]);
    wait(3);
    home.write("main/by-hand.md", "A third cat.\n");
    wait(4);
    drop(client);
}

#[cfg(feature = "local-models")]
#[test]
fn a_folder_is_run_in_the_program_itself() {
    use super::tiny_model::{self, WeightFormat};
    let home = configured(&[("search.model", "~/models/tiny")]);
    tiny_model::write(&home.path().join("models/tiny"), None, WeightFormat::F32);
    assert_eq!(home.json(&["embed"])["made"], 2);
    let found = home.json(&["search", "electricity bill"]);
    assert_eq!(found["meaning"], json!({ "by": "chosen", "model": "tiny", "left": 0 }));
    assert_eq!(found["results"][0]["title"], "Money");
    assert_eq!(home.json(&["doctor"])["model"]["error"], Value::Null);
}
