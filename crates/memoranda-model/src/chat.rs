//! Chat requests in the two formats of language model servers.

use memoranda_engine::{ModelError, ModelQuestion};
use serde_json::{Value, json};

use crate::http::{HttpClient, RequestDeadline};
use crate::options::{EndpointOptions, ModelProtocol};

const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Sends a question and returns the text of the answer.
pub(crate) fn answer(
    options: &EndpointOptions,
    http: &HttpClient,
    question: &ModelQuestion<'_>,
) -> Result<String, ModelError> {
    match options.protocol {
        ModelProtocol::OpenAi => openai(options, http, question),
        ModelProtocol::Anthropic => anthropic(options, http, question),
    }
}

fn openai(
    options: &EndpointOptions,
    http: &HttpClient,
    question: &ModelQuestion<'_>,
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
    let deadline = RequestDeadline::after(options.limit);
    let response = match http.post(&url, &headers, &body, deadline) {
        // Reasoning models reject both parameters and work without them.
        Err(ModelError::Refused { status: 400, message })
            if message.contains("max_tokens") || message.contains("temperature") =>
        {
            http.post(&url, &headers, &bare, deadline)?
        }
        other => other?,
    };
    let text = response.pointer("/choices/0/message/content").and_then(Value::as_str);
    non_empty(text.unwrap_or_default().to_owned())
}

fn anthropic(
    options: &EndpointOptions,
    http: &HttpClient,
    question: &ModelQuestion<'_>,
) -> Result<String, ModelError> {
    let base = options.url.trim_end_matches('/');
    let url = if base.ends_with("/v1") {
        format!("{base}/messages")
    } else {
        format!("{base}/v1/messages")
    };
    let mut headers = vec![("anthropic-version", ANTHROPIC_VERSION)];
    headers.extend(options.key.as_ref().map(|key| ("x-api-key", key.secret())));
    let body = json!({
        "model": options.model,
        "max_tokens": question.max_tokens,
        "system": question.instructions,
        "messages": [{ "role": "user", "content": question.text }],
    });
    let response = http.post(&url, &headers, &body, RequestDeadline::after(options.limit))?;
    let blocks = response.get("content").and_then(Value::as_array);
    let texts = blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
    non_empty(texts.collect())
}

/// Rejects an answer without text.
fn non_empty(text: String) -> Result<String, ModelError> {
    if text.trim().is_empty() {
        return Err(ModelError::Malformed { reason: "it contains no text".to_owned() });
    }
    Ok(text)
}
