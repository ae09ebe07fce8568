//! JSON schemas of the graph tools.

use memoranda_core::fact::FactLimits;
use serde_json::{Map, Value, json};

pub(super) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

pub(super) fn share(description: &str) -> Value {
    json!({ "type": "number", "minimum": 0, "maximum": 1, "description": description })
}

pub(super) fn number(description: &str, most: u64) -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": most, "description": description })
}

/// A number of items, at least one.
pub(super) fn count(description: &str, most: u64) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": most, "description": description })
}

pub(super) fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

pub(super) fn thread() -> Value {
    json!({ "type": "string", "minLength": 1, "description": "Thread: the conversation or project" })
}

pub(super) fn optional_thread() -> Value {
    text("Thread; without it 'default', in the reference server's shapes")
}

/// Returns the root of an input schema.
pub(super) fn input(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({
        "type": "object",
        "required": required,
        "additionalProperties": false
    });
    schema["properties"] = properties;
    schema
}

/// Returns the schema of a list of objects.
pub(super) fn objects(description: &str, properties: Value, required: &[&str]) -> Value {
    json!({ "type": "array", "description": description, "items": input(properties, required) })
}

/// Returns the common parameters of reading tools with those of one tool.
pub(super) fn reading(own: Value, required: &[&str]) -> Value {
    let mut properties = match own {
        Value::Object(own) => own,
        _ => Map::new(),
    };
    let common = [
        ("threadId", optional_thread()),
        ("as_of", text("Time (ISO 8601): the graph as it was then")),
        (
            "includeSuperseded",
            json!({ "type": "boolean", "description": "Also facts that no longer hold" }),
        ),
        ("offset", number("Entities to pass over", 10_000_000)),
        (
            "limit",
            json!({ "type": "integer", "minimum": 1, "maximum": 10_000, "description": "Entities at the most" }),
        ),
        ("maxTokens", number("Token budget of the answer (10000)", 24_000)),
    ];
    properties.extend(common.map(|(name, schema)| (name.to_owned(), schema)));
    input(Value::Object(properties), required)
}

/// Returns the parameters of tools that read only the present.
pub(super) fn reading_now(own: Value, required: &[&str]) -> Value {
    let mut schema = reading(own, required);
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.remove("as_of");
    }
    schema
}

/// Returns the schema of the entities of `save_memory`, with the configured limits of observations.
pub(super) fn entities(limits: FactLimits) -> Value {
    json!({
        "type": "array",
        "minItems": 1,
        "description": "Entities to save",
        "items": {
            "type": "object",
            "properties": {
                "name": {
                    "type": "string", "minLength": 1, "maxLength": 100,
                    "description": "Unique name within the thread"
                },
                "entityType": {
                    "type": "string", "minLength": 1, "maxLength": 50,
                    "description": "Type, capitalised. Common: Person, Document, File, Code, Task, \
                                    Knowledge; any other fits, e.g. Patient, API, Recipe"
                },
                "observations": {
                    "type": "array",
                    "minItems": 1,
                    "items": { "type": "string", "minLength": 5, "maxLength": limits.chars },
                    "description": format!(
                        "Atomic facts. Each ONE fact, max {} chars, {} sentences",
                        limits.chars, limits.sentences
                    )
                },
                "relations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "targetEntity": {
                                "type": "string",
                                "description": "Entity of this request or of the thread"
                            },
                            "relationType": {
                                "type": "string", "maxLength": 50,
                                "description": "e.g. 'created by', 'contains', 'uses'"
                            },
                            "importance": {
                                "type": "number", "minimum": 0, "maximum": 1, "default": 0.7
                            }
                        },
                        "required": ["targetEntity", "relationType"],
                        "additionalProperties": false
                    },
                    "description": "REQUIRED: every entity must have at least 1 relation to \
                                    another (unless root)"
                },
                "confidence": {
                    "type": "number", "minimum": 0, "maximum": 1, "default": 1.0
                },
                "importance": {
                    "type": "number", "minimum": 0, "maximum": 1, "default": 0.5
                },
                "root": {
                    "type": "boolean",
                    "description": "The root of a graph may do without relations: []"
                }
            },
            "required": ["name", "entityType", "observations", "relations"],
            "additionalProperties": false
        }
    })
}

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
