//! Embeddings of texts, from an endpoint that speaks OpenAI's embeddings API.

use memoranda_engine::ModelError;
use serde_json::{Value, json};

use crate::http::{HttpClient, RequestDeadline};
use crate::options::{EndpointOptions, ModelProtocol};

/// Returns one embedding for each text, in the order of the texts.
pub(crate) fn embed(
    options: &EndpointOptions,
    http: &HttpClient,
    texts: &[&str],
    deadline: RequestDeadline,
) -> Result<Vec<Vec<f32>>, ModelError> {
    let malformed = |reason: &str| ModelError::Malformed { reason: reason.to_owned() };
    if options.protocol == ModelProtocol::Anthropic {
        return Err(malformed("endpoints of this protocol have no embeddings"));
    }
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let url = format!("{}/embeddings", options.url.trim_end_matches('/'));
    let bearer = options.key.as_ref().map(|key| format!("Bearer {}", key.secret()));
    let headers: Vec<(&str, &str)> =
        bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
    let body = json!({ "model": options.model, "input": texts, "encoding_format": "float" });
    let response = http.post(&url, &headers, &body, deadline)?;
    let data = response.get("data").and_then(Value::as_array);
    let data = data.ok_or_else(|| malformed("it has no `data`"))?;
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); texts.len()];
    for (n, item) in data.iter().enumerate() {
        let index = item.get("index").and_then(Value::as_u64);
        let at = index.and_then(|index| usize::try_from(index).ok()).unwrap_or(n);
        let place =
            vectors.get_mut(at).ok_or_else(|| malformed("it has more vectors than texts"))?;
        *place = parse_vector(item)
            .ok_or_else(|| malformed("a vector contains something other than numbers"))?;
    }
    let length = vectors.first().map_or(0, Vec::len);
    if length == 0 || vectors.iter().any(|vector| vector.len() != length) {
        return Err(malformed("a vector is missing or has another length than the others"));
    }
    Ok(vectors)
}

fn parse_vector(item: &Value) -> Option<Vec<f32>> {
    let numbers = item.get("embedding")?.as_array()?.iter();
    numbers.map(|number| number.as_f64().map(|n| n as f32).filter(|n| n.is_finite())).collect()
}
