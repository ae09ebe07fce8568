//! Reads mem0: the result of `get_all`, its export, or a list of memories.

use serde_json::Value;

use super::record::ImportedRecord;
use super::{ImportTarget, require_file};
use crate::error::{ImportError, Result};
use crate::input::ImportInput;
use crate::json::{self, JsonObject, first_text_field, tag_list, text_field};
use crate::sink::ImportSink;
use crate::time;

/// Keys that may contain the list of memories.
const LIST_KEYS: [&str; 5] = ["results", "memories", "records", "data", "export"];

pub(super) fn read(
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    require_file(input, "a JSON export of mem0")?;
    let name = input.file_names()?.into_iter().next().unwrap_or_default();
    let whole: Value = serde_json::from_str(&input.read_all(sink)?)
        .map_err(|e| ImportError::NotThat(format!("{name} is not JSON: {e}")))?;
    let Some(memories) = find_list(&whole) else {
        return Err(ImportError::NotThat(format!("{name} holds no list of memories")));
    };
    sink.set_total(memories.len() as u64);
    for (n, memory) in memories.iter().enumerate() {
        sink.set_done(n as u64);
        let at = format!("{name} [{n}]");
        let Some(object) = memory.as_object() else {
            sink.add_problem(at, "not a memory");
            continue;
        };
        let said = first_text_field(object, &["memory", "text", "content", "data"]);
        let id = text_field(object, "id");
        if said.trim().is_empty() || id.is_empty() {
            sink.add_problem(at, "it has no id or no text");
            continue;
        }
        sink.add_item(record_from(object, id, said).into_item(target)?)?;
    }
    Ok(())
}

fn find_list(value: &Value) -> Option<&Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(object) => LIST_KEYS.iter().find_map(|key| find_list(object.get(*key)?)),
        _ => None,
    }
}

fn record_from(object: &JsonObject, id: &str, said: &str) -> ImportedRecord {
    let mut metadata = json::object_value(object.get("metadata"));
    let read_time = |key: &str| object.get(key).and_then(time::parse);
    let mut all = tag_list(object.get("categories"));
    all.extend(tag_list(metadata.get("tags")));
    // The owner of the memory is kept as metadata.
    for key in ["user_id", "agent_id", "app_id", "run_id", "actor_id"] {
        if let Some(value) = object.get(key).filter(|value| !value.is_null()) {
            metadata.insert(key.to_owned(), value.clone());
        }
    }
    ImportedRecord {
        id: id.to_owned(),
        kind: "fact".to_owned(),
        text: said.to_owned(),
        tags: all,
        created: read_time("created_at"),
        modified: read_time("updated_at"),
        expires: read_time("expiration_date"),
        metadata,
        ..ImportedRecord::default()
    }
}
