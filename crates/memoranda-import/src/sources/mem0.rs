//! mem0: what `get_all` gives, its export, or a bare list of memories.

use serde_json::Value;

use super::record::Record;
use super::{Target, needs_file};
use crate::error::{ImportError, Result};
use crate::intake::Intake;
use crate::json::{self, Object, first_text, tags, text};
use crate::origin::Origin;
use crate::time;

/// Where the list may be, in an object.
const LISTS: [&str; 5] = ["results", "memories", "records", "data", "export"];

pub(super) fn read(origin: &Origin, target: &Target, intake: &mut Intake<'_>) -> Result<()> {
    needs_file(origin, "a JSON export of mem0")?;
    let name = origin.names()?.into_iter().next().unwrap_or_default();
    let whole: Value = serde_json::from_str(&origin.whole(intake)?)
        .map_err(|e| ImportError::NotThat(format!("{name} is not JSON: {e}")))?;
    let Some(memories) = listed(&whole) else {
        return Err(ImportError::NotThat(format!("{name} holds no list of memories")));
    };
    intake.total(memories.len() as u64);
    for (n, memory) in memories.iter().enumerate() {
        intake.done(n as u64);
        let at = format!("{name} [{n}]");
        let Some(object) = memory.as_object() else {
            intake.problem(at, "not a memory");
            continue;
        };
        let said = first_text(object, &["memory", "text", "content", "data"]);
        let id = text(object, "id");
        if said.trim().is_empty() || id.is_empty() {
            intake.problem(at, "it has no id, or says nothing");
            continue;
        }
        intake.piece(record(object, id, said).piece(target)?)?;
    }
    Ok(())
}

fn listed(value: &Value) -> Option<&Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(object) => LISTS.iter().find_map(|key| listed(object.get(*key)?)),
        _ => None,
    }
}

fn record(object: &Object, id: &str, said: &str) -> Record {
    let mut metadata = json::object(object.get("metadata"));
    let read_time = |key: &str| object.get(key).and_then(time::read);
    let mut all = tags(object.get("categories"));
    all.extend(tags(metadata.get("tags")));
    // Whose memory it is stays visible.
    for key in ["user_id", "agent_id", "app_id", "run_id", "actor_id"] {
        if let Some(value) = object.get(key).filter(|value| !value.is_null()) {
            metadata.insert(key.to_owned(), value.clone());
        }
    }
    Record {
        id: id.to_owned(),
        kind: "fact".to_owned(),
        text: said.to_owned(),
        tags: all,
        created: read_time("created_at"),
        modified: read_time("updated_at"),
        expires: read_time("expiration_date"),
        metadata,
        ..Record::default()
    }
}
