//! mcp-memory-service: its SQLite database, or its JSON export.

use serde_json::Value;

use super::record::Record;
use super::{Target, needs_file};
use crate::error::{ImportError, Result};
use crate::intake::Intake;
use crate::json::{self, Object, list, tags, text};
use crate::origin::Origin;
use crate::sqlite::Database;
use crate::time;

pub(super) fn read(origin: &Origin, target: &Target, intake: &mut Intake<'_>) -> Result<()> {
    needs_file(origin, "a database or export of mcp-memory-service")?;
    let name = origin.names()?.into_iter().next().unwrap_or_default();
    if let Some(path) = origin.path()
        && origin.is_sqlite()?
    {
        let database = Database::open(path)?;
        intake.total(database.count("memories")?);
        return database.rows("memories", &mut |n, row| {
            intake.done(n);
            memory(&row, &format!("{name} row {n}"), target, intake)
        });
    }
    let whole: Value = serde_json::from_str(&origin.whole(intake)?)
        .map_err(|e| ImportError::NotThat(format!("{name} is not JSON: {e}")))?;
    let memories = match &whole {
        Value::Array(memories) => memories.as_slice(),
        Value::Object(object) => list(object, "memories"),
        _ => &[],
    };
    intake.total(memories.len() as u64);
    for (n, value) in memories.iter().enumerate() {
        intake.done(n as u64);
        let at = format!("{name} [{n}]");
        match value.as_object() {
            Some(object) => memory(object, &at, target, intake)?,
            None => intake.problem(at, "not a memory"),
        }
    }
    Ok(())
}

fn memory(object: &Object, at: &str, target: &Target, intake: &mut Intake<'_>) -> Result<()> {
    if object.get("deleted_at").is_some_and(|time| !time.is_null()) {
        intake.skip("deleted memories");
        return Ok(());
    }
    let (id, said) = (text(object, "content_hash"), text(object, "content"));
    if id.is_empty() || said.trim().is_empty() {
        intake.problem(at, "it has no content_hash, or says nothing");
        return Ok(());
    }
    if !text(object, "superseded_by").is_empty() {
        intake.skip("superseded memories");
        return Ok(());
    }
    let kind = text(object, "memory_type");
    let read_time =
        |keys: [&str; 2]| keys.iter().find_map(|key| object.get(*key).and_then(time::read));
    let mut metadata = json::object(object.get("metadata"));
    metadata.retain(|key, value| key != "content_hash" && !value.is_null());
    // A type that records do not have is kept as what it was called.
    if !kind.is_empty() && memoranda_tools::RecordKind::parse(&kind.to_lowercase()).is_none() {
        metadata.insert("memory_type".to_owned(), kind.into());
    }
    let record = Record {
        id: id.to_owned(),
        kind: kind.to_lowercase(),
        text: said.to_owned(),
        tags: tags(object.get("tags")),
        created: read_time(["created_at_iso", "created_at"]),
        modified: read_time(["updated_at_iso", "updated_at"]),
        metadata,
        ..Record::default()
    };
    intake.piece(record.piece(target)?)
}
