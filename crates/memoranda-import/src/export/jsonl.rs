//! Writes notes as JSON lines: the file content and the facts parsed from it.
//!
//! The first line is `{"memoranda": 1, "kind": "notes"}`. Every other line is one file: `project`
//! and `path`, then `content` for text or `base64` for other bytes, and `updated`. An import needs
//! only these fields; the others are for programs without a parser for notes.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::note::{Observation, Relation, parse};
use memoranda_engine::{Memory, NoteLocation, meta_json};
use serde_json::{Map, Value, json};

use super::{ExportSummary, project_files, selected_projects};
use crate::error::{ImportError, Result};

/// Version of the format.
pub const JSONL_VERSION: u64 = 1;

/// Writes every file of one project or of all projects.
pub fn write_jsonl(
    memory: &Memory,
    only: Option<&ProjectName>,
    to: &mut dyn Write,
    progress: &mut dyn FnMut(crate::ImportProgress),
) -> Result<ExportSummary> {
    let mut exported = ExportSummary::default();
    let mut put = |value: &Value| -> Result<u64> {
        let mut line = value.to_string();
        line.push('\n');
        to.write_all(line.as_bytes()).map_err(ImportError::io("write the export"))?;
        Ok(line.len() as u64)
    };
    exported.bytes += put(&json!({"memoranda": JSONL_VERSION, "kind": "notes"}))?;
    for project in selected_projects(memory, only)? {
        exported.projects += 1;
        let places = project_files(memory, &project, &mut exported.left_out)?;
        for (n, place) in places.iter().enumerate() {
            progress(crate::ImportProgress { done: n as u64, total: places.len() as u64 });
            if let Some(line) = file_line(memory, place)? {
                exported.bytes += put(&line)?;
                exported.files += 1;
            }
        }
    }
    Ok(exported)
}

fn file_line(memory: &Memory, place: &NoteLocation) -> Result<Option<Value>> {
    let Some(found) = memory.read_file(place)? else { return Ok(None) };
    let mut line = Map::new();
    let mut put = |key: &str, value: Value| line.insert(key.to_owned(), value);
    put("project", place.project.as_str().into());
    put("path", place.path.as_str().into());
    if let Some(summary) = memory.snapshot()?.file(&place.project, &place.path)? {
        put("title", summary.title.into());
        put("type", summary.note_type.into());
        put("permalink", summary.permalink.into());
        put("created", summary.created.to_string().into());
        put("updated", summary.updated.to_string().into());
    } else if let Ok(time) = Timestamp::from_nanosecond(i128::from(found.stat.mtime_ns)) {
        put("updated", time.to_string().into());
    }
    put("hash", found.hash.to_string().into());
    match String::from_utf8(found.bytes) {
        Ok(text) => {
            if place.path.is_markdown() {
                let note = parse(&text);
                let keys = note.frontmatter.entries.iter();
                put(
                    "frontmatter",
                    keys.map(|(key, value)| (key.clone(), meta_json(value))).collect(),
                );
                put("observations", note.observations.iter().map(observation_json).collect());
                put("relations", note.relations.iter().map(relation_json).collect());
            }
            put("content", text.into());
        }
        Err(e) => {
            put("base64", STANDARD.encode(e.as_bytes()).into());
        }
    }
    Ok(Some(Value::Object(line)))
}

fn observation_json(observation: &Observation) -> Value {
    let mut value = json!({
        "category": observation.category,
        "text": observation.text,
        "tags": observation.tags,
        "context": observation.context,
        "is_current": !observation.struck,
    });
    if let (Some(fact), Some(object)) = (&observation.meta, value.as_object_mut()) {
        object.insert("id".into(), fact.id.as_str().into());
        object.insert("version".into(), fact.version.into());
        object.insert("time".into(), fact.time.map(|time| time.to_string()).into());
    }
    value
}

fn relation_json(relation: &Relation) -> Value {
    json!({
        "type": relation.relation_type,
        "target": relation.target,
        "context": relation.context,
    })
}
