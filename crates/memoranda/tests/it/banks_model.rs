//! The language model behind `update`: a stand-in that answers well, slowly, wrongly, and not at all.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::banks::{call, ok};
use super::client::{Client, Era};
use super::stand_in_server::{ClosedPort, StandInReply, StandInServer};
use super::support::Home;

/// More seconds than any answer takes, however busy the machine is.
const PATIENT: &str = "60";

const TEXT: &str = "We decided to use PostgreSQL for orders.";

/// A vault with a model that may take so many seconds.
fn configured(url: &str, seconds: &str) -> Home {
    let home = Home::new();
    for (key, value) in [
        ("model.provider", "openai"),
        ("model.name", "small"),
        ("model.url", url),
        ("model.timeout_seconds", seconds),
    ] {
        home.ok(&["config", "set", key, value]);
    }
    home
}

/// Keeps a text with a model that answers so: what came back.
fn kept(home: &Home) -> Value {
    let mut client = Client::open(home, Era::Stateless, &["--toolsets", "banks"]);
    let bank = json!({ "bank_type": "project", "bank_id": "shop", "project_name": "Shop" });
    ok(&mut client, "activate", bank);
    let keep = json!({ "bank_type": "project", "bank_id": "shop", "content": TEXT });
    let done = ok(&mut client, "update", keep.clone());
    // The next update tells of what went wrong with this one.
    let mut next = keep;
    next["content"] = json!("Something else.");
    next["target_file"] = json!("readme.md");
    next["operation"] = json!("append");
    let (next, _) = call(&mut client, "update", next);
    let errors = next["previous_errors"].as_array().unwrap();
    assert_eq!(errors.is_empty(), done["processing"].get("fallback").is_none(), "{next}");
    if let Some(error) = errors.first() {
        assert_eq!(error["severity"], "warning");
        let text = error["description"].as_str().unwrap();
        assert!(text.starts_with("LLM processing failed, using fallback rule-based processing"));
    }
    done
}

#[test]
fn a_good_answer_decides_the_place_and_nothing_else() {
    let answer =
        r#"{"file":"notes/ideas.md","section":"Innovations","category":"idea","confidence":0.75}"#;
    let stand_in = StandInServer::start(vec![StandInReply::openai(answer)]);
    let home = configured(&stand_in.url(), PATIENT);
    let done = kept(&home);
    assert_eq!(done["updated_file"], "notes/ideas.md");
    assert_eq!(
        done["processing"],
        json!({ "path": "model", "confidence": 0.75, "category": "idea", "section": "Innovations" })
    );
    let text = String::from_utf8(home.read("banks/projects/shop/notes/ideas.md")).unwrap();
    assert!(text.ends_with(&format!("## Innovations\n{TEXT}\n")), "{text}");
    // It was shown the files and the text, once.
    let [asked] = stand_in.asked().try_into().unwrap();
    let shown = asked.body["messages"][1]["content"].as_str().unwrap();
    assert!(shown.contains("doc/decisions.md") && shown.contains(TEXT), "{shown}");
    let stats = home.json(&["bank", "stats"]);
    assert_eq!(stats["banks"][0]["placed_by"], json!({ "caller": 1, "model": 1, "rules": 0 }));
}

/// Stores a text with a model whose answers are unusable: the rules place the text, and give the
/// reason.
fn rules_take_over(url: &str, seconds: &str, word: &str) {
    let home = configured(url, seconds);
    let done = kept(&home);
    assert_eq!(done["updated_file"], "doc/decisions.md", "{word}");
    assert_eq!(done["processing"]["path"], "rules");
    let fallback = done["processing"]["fallback"].as_str().unwrap();
    assert!(fallback.starts_with("small: ") && fallback.contains(word), "{fallback}");
    assert!(!home.file("main/x.md").exists());
}

#[test]
fn whatever_else_it_says_the_rules_take_over() {
    for (reply, word) in [
        (StandInReply::openai("I would file this under decisions."), "no JSON object"),
        (StandInReply::openai(r#"{"file": "doc/decisions.md", "#), "no JSON"),
        (
            StandInReply::openai(r#"{"file":"../../../main/x.md","confidence":1}"#),
            "not a file of the bank",
        ),
        (
            StandInReply::openai(r#"{"file":"doc/invented.md","confidence":1}"#),
            "not a file of the bank",
        ),
        (StandInReply::openai(r#"{"file":"readme.md","confidence":"very"}"#), "confidence"),
        (StandInReply::new(200, "not even JSON"), "not JSON"),
        (StandInReply::new(401, r#"{"error":{"message":"bad key"}}"#), "bad key"),
    ] {
        rules_take_over(&StandInServer::start(vec![reply]).url(), PATIENT, word);
    }
    rules_take_over(&ClosedPort::new().url(), PATIENT, "cannot be reached");
}

#[test]
fn a_model_that_is_slow_is_not_waited_for() {
    let hour = Duration::from_secs(3600);
    let stand_in = StandInServer::start(vec![StandInReply::openai("x").after(hour)]);
    let begun = Instant::now();
    rules_take_over(&stand_in.url(), "1", "no answer within 1 s");
    assert!(begun.elapsed() < hour);
}

#[test]
fn a_model_that_cannot_be_is_told_at_the_start() {
    let home = Home::new();
    home.ok(&["config", "set", "model.provider", "openai"]);
    home.fails(&["mcp"], 3, &["no model is named", "model.name"]);
    home.ok(&["config", "set", "model.name", "small"]);
    home.ok(&["config", "set", "model.url", "http://models.example/v1"]);
    let said = home.run_with(&[("MEMORANDA_MODEL_KEY", "sk-secret")], &["tool", "list"]);
    assert_eq!(said.code, 3);
    assert!(said.err.contains("plain http") && !said.err.contains("sk-secret"), "{}", said.err);
    home.ok(&["config", "set", "model.url", "https://models.example/v1"]);
    home.ok(&["config", "set", "model.key_file", "~/key"]);
    home.fails(&["tool", "list"], 3, &["no key file"]);
    std::fs::write(home.path().join("key"), "sk-secret\n").unwrap();
    home.ok(&["tool", "list"]);
}
