//! Output schemas of the graph tools.

use serde_json::{Map, Value, json};

/// Returns an output schema: an object with these keys, each of a JSON type.
pub(super) fn output(keys: &[(&str, &str)]) -> Value {
    let mut properties = Map::new();
    let always = [("error", "string"), ("is_error", "boolean")];
    for (key, kind) in keys.iter().chain(&always) {
        properties.insert((*key).to_owned(), json!({ "type": kind }));
    }
    json!({ "type": "object", "properties": properties })
}

/// Returns the output schema of reading tools.
pub(super) fn graph() -> Value {
    output(&[
        ("entities", "array"),
        ("relations", "array"),
        ("thread", "string"),
        ("project", "string"),
        ("total", "integer"),
        ("nextOffset", "integer"),
        ("truncated", "string"),
        ("relationsOmitted", "string"),
        ("partial", "string"),
        ("hidden", "string"),
    ])
}

/// Returns the output schema of deleting tools.
pub(super) fn deletion() -> Value {
    output(&[
        ("success", "boolean"),
        ("message", "string"),
        ("notFound", "array"),
        ("commit", "string"),
    ])
}
