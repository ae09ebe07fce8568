//! Questions and vectors, answered well, late, wrongly and not at all.

use std::time::{Duration, Instant};

use memoranda_engine::{Embedder as _, LanguageModel as _, ModelError, Question};
use memoranda_model::{Endpoint, Key, Options, Protocol};
use serde_json::json;

use super::stand_in::{Nobody, Reply, StandIn};
use super::vault::LIMIT;

const QUESTION: Question<'_> =
    Question { instructions: "Answer briefly.", text: "Why?", max_tokens: 50 };

fn endpoint(protocol: Protocol, url: String, limit: Duration) -> Endpoint {
    Endpoint::new(Options {
        protocol,
        url,
        model: "small".to_owned(),
        key: Key::new("sk-test"),
        limit,
        max_answer_bytes: 2000,
    })
    .unwrap()
}

fn openai(stand_in: &StandIn) -> Endpoint {
    endpoint(Protocol::OpenAi, stand_in.url(), LIMIT)
}

#[test]
fn openai_is_asked_in_its_form() {
    let stand_in = StandIn::start(vec![Reply::openai("Because.")]);
    assert_eq!(openai(&stand_in).answer(&QUESTION).as_deref(), Ok("Because."));
    let [asked] = stand_in.asked().try_into().unwrap();
    assert!(asked.head.starts_with("post /v1/chat/completions http/1.1"), "{}", asked.head);
    assert!(asked.head.contains("authorization: bearer sk-test"), "{}", asked.head);
    assert_eq!(asked.body["model"], "small");
    assert_eq!(asked.body["messages"][0]["content"], "Answer briefly.");
    assert_eq!(asked.body["messages"][1]["content"], "Why?");
    assert_eq!(asked.body["max_tokens"], 50);
}

#[test]
fn models_that_refuse_limits_are_asked_without() {
    let refusal = json!({ "error": { "message": "Unsupported parameter: 'max_tokens'" } });
    let stand_in =
        StandIn::start(vec![Reply::new(400, refusal.to_string()), Reply::openai("Because.")]);
    assert_eq!(openai(&stand_in).answer(&QUESTION).as_deref(), Ok("Because."));
    assert_eq!(stand_in.asked()[1].body.get("max_tokens"), None);
}

#[test]
fn anthropic_is_asked_in_its_form() {
    let body = json!({ "content": [
        { "type": "thinking", "thinking": "hm" },
        { "type": "text", "text": "Be" }, { "type": "text", "text": "cause." },
    ] });
    let stand_in = StandIn::start(vec![Reply::new(200, body.to_string())]);
    for url in [stand_in.url(), format!("http://{}/", stand_in.address)] {
        let model = endpoint(Protocol::Anthropic, url, LIMIT);
        assert_eq!(model.answer(&QUESTION).as_deref(), Ok("Because."));
        assert!(model.embed(&["x"], LIMIT).is_err());
    }
    for asked in stand_in.asked() {
        assert!(asked.head.starts_with("post /v1/messages http/1.1"), "{}", asked.head);
        assert!(asked.head.contains("x-api-key: sk-test"), "{}", asked.head);
        assert!(asked.head.contains("anthropic-version: "), "{}", asked.head);
        assert_eq!(asked.body["system"], "Answer briefly.");
    }
}

#[test]
fn a_busy_model_is_asked_again_and_a_wrong_question_is_not() {
    let busy = |status| Reply::new(status, r#"{"error":{"message":"busy"}}"#);
    let stand_in = StandIn::start(vec![busy(429), busy(503), Reply::openai("Because.")]);
    assert_eq!(openai(&stand_in).answer(&QUESTION).as_deref(), Ok("Because."));
    assert_eq!(stand_in.asked().len(), 3);

    let stand_in = StandIn::start(vec![busy(500)]);
    let refused = ModelError::Refused { status: 500, message: "busy".to_owned() };
    assert_eq!(openai(&stand_in).answer(&QUESTION), Err(refused));
    assert_eq!(stand_in.asked().len(), 3);

    let stand_in = StandIn::start(vec![busy(401)]);
    assert!(openai(&stand_in).answer(&QUESTION).is_err());
    assert_eq!(stand_in.asked().len(), 1);

    // One that wants to be left alone for longer than there is time is left alone.
    let later = Reply { headers: "retry-after: 3600\r\n".to_owned(), ..busy(429) };
    let stand_in = StandIn::start(vec![later]);
    assert!(openai(&stand_in).answer(&QUESTION).is_err());
    assert_eq!(stand_in.asked().len(), 1);
}

#[test]
fn nobody_waits_longer_than_the_limit() {
    let stand_in = StandIn::start(vec![Reply::openai("x").after(Duration::from_secs(3600))]);
    let limit = Duration::from_millis(300);
    let model = endpoint(Protocol::OpenAi, stand_in.url(), limit);
    let begun = Instant::now();
    assert_eq!(model.answer(&QUESTION), Err(ModelError::TimedOut { limit }));
    assert!(begun.elapsed() < Duration::from_secs(600));
}

#[test]
fn what_is_no_answer_is_said_to_be_none() {
    let check = |reply: Reply, word: &str| {
        let stand_in = StandIn::start(vec![reply]);
        let error = openai(&stand_in).answer(&QUESTION).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    check(Reply::new(200, "<html>"), "no JSON");
    check(Reply::new(200, "{}"), "no text");
    check(Reply::openai("  "), "no text");
    check(Reply::openai(&"x".repeat(5000)), "larger than 2000 bytes");
    let elsewhere =
        Reply { headers: "location: http://127.0.0.1:1/\r\n".to_owned(), ..Reply::new(302, "") };
    check(elsewhere, "302");
    let nobody = Nobody::new();
    let model = endpoint(Protocol::OpenAi, nobody.url(), LIMIT);
    assert!(matches!(model.answer(&QUESTION), Err(ModelError::Unreachable { .. })));
}

#[test]
fn texts_become_vectors_in_order() {
    let body = json!({ "data": [
        { "index": 1, "embedding": [0.0, 1.0] }, { "index": 0, "embedding": [1.0, 0.0] },
    ] });
    let stand_in = StandIn::start(vec![Reply::new(200, body.to_string())]);
    let model = openai(&stand_in);
    assert_eq!(model.embed(&["a", "b"], LIMIT), Ok(vec![vec![1.0, 0.0], vec![0.0, 1.0]]));
    assert_eq!(model.embed(&[], LIMIT), Ok(vec![]));
    let [asked] = stand_in.asked().try_into().unwrap();
    assert!(asked.head.starts_with("post /v1/embeddings http/1.1"));
    assert_eq!(asked.body["input"], json!(["a", "b"]));
    for wrong in [
        json!({}),
        json!({ "data": [] }),
        json!({ "data": [{ "embedding": [1.0] }] }),
        json!({ "data": [{ "embedding": [1.0] }, { "embedding": ["x"] }] }),
        json!({ "data": [{ "embedding": [1.0] }, { "embedding": [1.0, 2.0] }] }),
        json!({ "data": [{ "embedding": [1.0] }, { "index": 7, "embedding": [1.0] }] }),
    ] {
        let stand_in = StandIn::start(vec![Reply::new(200, wrong.to_string())]);
        assert!(openai(&stand_in).embed(&["a", "b"], LIMIT).is_err(), "{wrong}");
    }
}
