//! Questions and embeddings, with correct, late, wrong and missing responses.

use std::time::{Duration, Instant};

use memoranda_engine::{LanguageModel as _, ModelError, ModelQuestion, TextEmbedder as _};
use memoranda_model::{ApiKey, EndpointOptions, ModelEndpoint, ModelProtocol};
use serde_json::json;

use super::stand_in_server::{ClosedPort, StandInReply, StandInServer};
use super::vault::LIMIT;

const QUESTION: ModelQuestion<'_> =
    ModelQuestion { instructions: "Answer briefly.", text: "Why?", max_tokens: 50 };

fn endpoint(protocol: ModelProtocol, url: String, limit: Duration) -> ModelEndpoint {
    ModelEndpoint::new(EndpointOptions {
        protocol,
        url,
        model: "small".to_owned(),
        key: ApiKey::new("sk-test"),
        limit,
        max_answer_bytes: 2000,
    })
    .unwrap()
}

fn openai(stand_in: &StandInServer) -> ModelEndpoint {
    endpoint(ModelProtocol::OpenAi, stand_in.url(), LIMIT)
}

#[test]
fn openai_gets_requests_in_its_format() {
    let stand_in = StandInServer::start(vec![StandInReply::openai("Because.")]);
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
fn models_that_reject_limits_are_asked_without_them() {
    let refusal = json!({ "error": { "message": "Unsupported parameter: 'max_tokens'" } });
    let stand_in = StandInServer::start(vec![
        StandInReply::new(400, refusal.to_string()),
        StandInReply::openai("Because."),
    ]);
    assert_eq!(openai(&stand_in).answer(&QUESTION).as_deref(), Ok("Because."));
    assert_eq!(stand_in.asked()[1].body.get("max_tokens"), None);
}

#[test]
fn anthropic_gets_requests_in_its_format() {
    let body = json!({ "content": [
        { "type": "thinking", "thinking": "hm" },
        { "type": "text", "text": "Be" }, { "type": "text", "text": "cause." },
    ] });
    let stand_in = StandInServer::start(vec![StandInReply::new(200, body.to_string())]);
    for url in [stand_in.url(), format!("http://{}/", stand_in.address)] {
        let model = endpoint(ModelProtocol::Anthropic, url, LIMIT);
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
fn a_busy_model_is_retried_and_a_rejected_request_is_not() {
    let busy = |status| StandInReply::new(status, r#"{"error":{"message":"busy"}}"#);
    let stand_in =
        StandInServer::start(vec![busy(429), busy(503), StandInReply::openai("Because.")]);
    assert_eq!(openai(&stand_in).answer(&QUESTION).as_deref(), Ok("Because."));
    assert_eq!(stand_in.asked().len(), 3);

    let stand_in = StandInServer::start(vec![busy(500)]);
    let refused = ModelError::Refused { status: 500, message: "busy".to_owned() };
    assert_eq!(openai(&stand_in).answer(&QUESTION), Err(refused));
    assert_eq!(stand_in.asked().len(), 3);

    let stand_in = StandInServer::start(vec![busy(401)]);
    assert!(openai(&stand_in).answer(&QUESTION).is_err());
    assert_eq!(stand_in.asked().len(), 1);

    // A `Retry-After` beyond the time limit ends the attempts.
    let later = StandInReply { headers: "retry-after: 3600\r\n".to_owned(), ..busy(429) };
    let stand_in = StandInServer::start(vec![later]);
    assert!(openai(&stand_in).answer(&QUESTION).is_err());
    assert_eq!(stand_in.asked().len(), 1);
}

#[test]
fn a_request_ends_at_its_time_limit() {
    let stand_in =
        StandInServer::start(vec![StandInReply::openai("x").after(Duration::from_secs(3600))]);
    let limit = Duration::from_millis(300);
    let model = endpoint(ModelProtocol::OpenAi, stand_in.url(), limit);
    let begun = Instant::now();
    assert_eq!(model.answer(&QUESTION), Err(ModelError::TimedOut { limit }));
    assert!(begun.elapsed() < Duration::from_secs(600));
}

#[test]
fn an_unusable_response_is_an_error_with_its_reason() {
    let check = |reply: StandInReply, word: &str| {
        let stand_in = StandInServer::start(vec![reply]);
        let error = openai(&stand_in).answer(&QUESTION).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    check(StandInReply::new(200, "<html>"), "not JSON");
    check(StandInReply::new(200, "{}"), "no text");
    check(StandInReply::openai("  "), "no text");
    check(StandInReply::openai(&"x".repeat(5000)), "larger than 2000 bytes");
    let elsewhere = StandInReply {
        headers: "location: http://127.0.0.1:1/\r\n".to_owned(),
        ..StandInReply::new(302, "")
    };
    check(elsewhere, "302");
    let nobody = ClosedPort::new();
    let model = endpoint(ModelProtocol::OpenAi, nobody.url(), LIMIT);
    assert!(matches!(model.answer(&QUESTION), Err(ModelError::Unreachable { .. })));
}

#[test]
fn embeddings_come_in_the_order_of_the_texts() {
    let body = json!({ "data": [
        { "index": 1, "embedding": [0.0, 1.0] }, { "index": 0, "embedding": [1.0, 0.0] },
    ] });
    let stand_in = StandInServer::start(vec![StandInReply::new(200, body.to_string())]);
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
        let stand_in = StandInServer::start(vec![StandInReply::new(200, wrong.to_string())]);
        assert!(openai(&stand_in).embed(&["a", "b"], LIMIT).is_err(), "{wrong}");
    }
}
