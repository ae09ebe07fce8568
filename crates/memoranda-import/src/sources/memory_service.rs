//! Reads mcp-memory-service: its SQLite database or its JSON export.

use serde_json::Value;

use super::record::ImportedRecord;
use super::{ImportTarget, require_file};
use crate::error::{ImportError, Result};
use crate::input::ImportInput;
use crate::json::{self, JsonObject, list_field, tag_list, text_field};
use crate::sink::ImportSink;
use crate::sqlite::ForeignDatabase;
use crate::time;

pub(super) fn read(
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    require_file(input, "a database or export of mcp-memory-service")?;
    let name = input.file_names()?.into_iter().next().unwrap_or_default();
    if let Some(path) = input.path()
        && input.is_sqlite()?
    {
        let database = ForeignDatabase::open(path)?;
        sink.set_total(database.count("memories")?);
        return database.rows("memories", &mut |n, row| {
            sink.set_done(n);
            add_memory(&row, &format!("{name} row {n}"), target, sink)
        });
    }
    let whole: Value = serde_json::from_str(&input.read_all(sink)?)
        .map_err(|e| ImportError::NotThat(format!("{name} is not JSON: {e}")))?;
    let memories = match &whole {
        Value::Array(memories) => memories.as_slice(),
        Value::Object(object) => list_field(object, "memories"),
        _ => &[],
    };
    sink.set_total(memories.len() as u64);
    for (n, value) in memories.iter().enumerate() {
        sink.set_done(n as u64);
        let at = format!("{name} [{n}]");
        match value.as_object() {
            Some(object) => add_memory(object, &at, target, sink)?,
            None => sink.add_problem(at, "not a memory"),
        }
    }
    Ok(())
}

fn add_memory(
    object: &JsonObject,
    at: &str,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    if object.get("deleted_at").is_some_and(|time| !time.is_null()) {
        sink.skip("deleted memories");
        return Ok(());
    }
    let (id, said) = (text_field(object, "content_hash"), text_field(object, "content"));
    if id.is_empty() || said.trim().is_empty() {
        sink.add_problem(at, "it has no content_hash or no text");
        return Ok(());
    }
    if !text_field(object, "superseded_by").is_empty() {
        sink.skip("superseded memories");
        return Ok(());
    }
    let kind = text_field(object, "memory_type");
    let read_time =
        |keys: [&str; 2]| keys.iter().find_map(|key| object.get(*key).and_then(time::parse));
    let mut metadata = json::object_value(object.get("metadata"));
    metadata.retain(|key, value| key != "content_hash" && !value.is_null());
    // An unknown type is kept as metadata.
    if !kind.is_empty()
        && memoranda_engine::records::RecordKind::parse(&kind.to_lowercase()).is_none()
    {
        metadata.insert("memory_type".to_owned(), kind.into());
    }
    let record = ImportedRecord {
        id: id.to_owned(),
        kind: kind.to_lowercase(),
        text: said.to_owned(),
        tags: tag_list(object.get("tags")),
        created: read_time(["created_at_iso", "created_at"]),
        modified: read_time(["updated_at_iso", "updated_at"]),
        metadata,
        ..ImportedRecord::default()
    };
    sink.add_item(record.into_item(target)?)
}
