//! Questions and answers in the two forms that servers speak.

use memoranda_engine::{ModelError, Question};
use serde_json::{Value, json};

use crate::exchange::{Deadline, Exchange};
use crate::options::{Options, Protocol};

const ANTHROPIC_VERSION: &str = "2023-06-01";

pub(crate) fn answer(
    options: &Options,
    exchange: &Exchange,
    question: &Question<'_>,
) -> Result<String, ModelError> {
    match options.protocol {
        Protocol::OpenAi => openai(options, exchange, question),
        Protocol::Anthropic => anthropic(options, exchange, question),
    }
}

fn openai(
    options: &Options,
    exchange: &Exchange,
    question: &Question<'_>,
) -> Result<String, ModelError> {
    let url = format!("{}/chat/completions", options.url.trim_end_matches('/'));
    let bearer = options.key.as_ref().map(|key| format!("Bearer {}", key.secret()));
    let headers: Vec<(&str, &str)> =
        bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
    let bare = json!({
        "model": options.model,
        "messages": [
            { "role": "system", "content": question.instructions },
            { "role": "user", "content": question.text },
        ],
    });
    let mut body = bare.clone();
    body["temperature"] = json!(0);
    body["max_tokens"] = json!(question.max_tokens);
    let deadline = Deadline::after(options.limit);
    let answer = match exchange.post(&url, &headers, &body, deadline) {
        // Models that think first refuse both, and do without.
        Err(ModelError::Refused { status: 400, message })
            if message.contains("max_tokens") || message.contains("temperature") =>
        {
            exchange.post(&url, &headers, &bare, deadline)?
        }
        other => other?,
    };
    let text = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
    said(text.unwrap_or_default().to_owned())
}

fn anthropic(
    options: &Options,
    exchange: &Exchange,
    question: &Question<'_>,
) -> Result<String, ModelError> {
    let base = options.url.trim_end_matches('/');
    let url = match base.ends_with("/v1") {
        true => format!("{base}/messages"),
        false => format!("{base}/v1/messages"),
    };
    let mut headers = vec![("anthropic-version", ANTHROPIC_VERSION)];
    headers.extend(options.key.as_ref().map(|key| ("x-api-key", key.secret())));
    let body = json!({
        "model": options.model,
        "max_tokens": question.max_tokens,
        "system": question.instructions,
        "messages": [{ "role": "user", "content": question.text }],
    });
    let answer = exchange.post(&url, &headers, &body, Deadline::after(options.limit))?;
    let blocks = answer.get("content").and_then(Value::as_array);
    let texts = blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
    said(texts.collect())
}

fn said(text: String) -> Result<String, ModelError> {
    if text.trim().is_empty() {
        return Err(ModelError::Malformed { reason: "it holds no text".to_owned() });
    }
    Ok(text)
}
