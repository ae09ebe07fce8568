//! Reads memories.sh: its database, or its export as JSON or YAML.

use memoranda_engine::core::note::{MetaValue, parse};
use memoranda_engine::records::RecordScope;
use serde_json::Value;

use super::record::{ImportedRecord, record_path, record_scope};
use super::{ImportTarget, require_file};
use crate::error::{ImportError, Result};
use crate::input::ImportInput;
use crate::item::{ImportItem, ItemBody, ItemNaming, NoteDraft, title_from_text};
use crate::json::{self, JsonObject, list_field, tag_list, text_field};
use crate::sink::ImportSink;
use crate::sqlite::ForeignDatabase;
use crate::time;

/// Name of the database in the data folder of memories.sh.
pub(crate) const MEMORIES_SH_DATABASE: &str = "local.db";

pub(super) fn read(
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let database;
    let input = match input {
        ImportInput::Folder(folder) if folder.join(MEMORIES_SH_DATABASE).is_file() => {
            database = ImportInput::File(folder.join(MEMORIES_SH_DATABASE));
            &database
        }
        input => input,
    };
    require_file(input, "a database or export of memories.sh")?;
    let name = input.file_names()?.into_iter().next().unwrap_or_default();
    if let Some(path) = input.path()
        && input.is_sqlite()?
    {
        let database = ForeignDatabase::open(path)?;
        sink.set_total(database.count("memories")?);
        database.rows("memories", &mut |n, row| {
            sink.set_done(n);
            add_memory(&row, "", &format!("{name} row {n}"), target, sink)
        })?;
        if !database.columns("reminders")?.is_empty() {
            database.rows("reminders", &mut |n, row| {
                add_reminder(&row, &format!("{name} reminder {n}"), target, sink)
            })?;
        }
        return Ok(());
    }
    let text = input.read_all(sink)?;
    let whole = match serde_json::from_str(&text) {
        Ok(Value::Object(whole)) => whole,
        _ => parse_yaml(&text).ok_or_else(|| {
            let message = format!("{name} is neither JSON nor YAML that can be read");
            ImportError::NotThat(format!("{message}; a large export is better taken as JSON"))
        })?,
    };
    // The repository is a field of the whole export.
    let repository = json::text_field(&whole, "project_id").to_owned();
    let memories = list_field(&whole, "memories");
    if memories.is_empty() && !whole.contains_key("memories") {
        return Err(ImportError::NotThat(format!("{name} holds no list of memories")));
    }
    sink.set_total(memories.len() as u64);
    for (n, value) in memories.iter().enumerate() {
        sink.set_done(n as u64);
        let at = format!("{name} [{n}]");
        match value.as_object() {
            Some(object) => add_memory(object, &repository, &at, target, sink)?,
            None => sink.add_problem(at, "not a memory"),
        }
    }
    Ok(())
}

fn add_memory(
    object: &JsonObject,
    repository: &str,
    at: &str,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    if !text_field(object, "deleted_at").is_empty() {
        sink.skip("deleted memories");
        return Ok(());
    }
    if !text_field(object, "superseded_by").is_empty() {
        sink.skip("superseded memories");
        return Ok(());
    }
    let (id, said) = (text_field(object, "id"), text_field(object, "content"));
    if id.is_empty() || said.trim().is_empty() {
        sink.add_problem(at, "it has no id or no text");
        return Ok(());
    }
    let own = text_field(object, "project_id");
    let repository = match text_field(object, "scope") {
        "project" => {
            if own.is_empty() {
                repository
            } else {
                own
            }
        }
        _ => "",
    };
    let read_time = |key: &str| object.get(key).and_then(time::parse);
    let record = ImportedRecord {
        id: id.to_owned(),
        kind: text_field(object, "type").to_owned(),
        repository: repository.to_owned(),
        text: said.to_owned(),
        tags: tag_list(object.get("tags")),
        paths: json::glob_list(object.get("paths")),
        category: text_field(object, "category").to_owned(),
        created: read_time("created_at"),
        modified: read_time("updated_at"),
        expires: read_time("expires_at"),
        metadata: memory_metadata(object.get("metadata")),
    };
    let item = record.into_item(target)?;
    // The export omits paths, category and metadata, which the database has.
    let is_abridged = !object.contains_key("updated_at");
    sink.add_item(match item.body {
        ItemBody::Note(text) if is_abridged => {
            ImportItem { body: ItemBody::Abridged(text), ..item }
        }
        _ => item,
    })
}

/// Parses the metadata of a memory. Text that is not JSON is kept under the key `text`.
fn memory_metadata(value: Option<&Value>) -> JsonObject {
    match (value, json::object_value(value)) {
        (Some(Value::String(text)), known) if known.is_empty() => {
            let said = text.trim();
            let is_nothing = said.is_empty() || matches!(said, "{}" | "null");
            let kept = (!is_nothing).then(|| ("text".to_owned(), Value::String(text.clone())));
            kept.into_iter().collect()
        }
        (_, known) => known,
    }
}

/// Adds a reminder in the format of the records tools.
fn add_reminder(
    object: &JsonObject,
    at: &str,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let (id, message) = (text_field(object, "id"), text_field(object, "message"));
    let cron = text_field(object, "cron_expression");
    if id.is_empty() || message.is_empty() || cron.is_empty() {
        sink.add_problem(at, "a reminder without id, message or cron expression");
        return Ok(());
    }
    let read_time = |key: &str| object.get(key).and_then(time::parse);
    let is_off = object.get("enabled").and_then(Value::as_i64) == Some(0);
    let scope = record_scope(text_field(object, "project_id"));
    let named = if scope == RecordScope::Global { "" } else { scope.name() };
    let draft = NoteDraft::new(message.trim())
        .key("title", title_from_text(message, "Reminder"))
        .key("type", "reminder")
        .key("project", named)
        .key("cron", cron)
        .key("enabled", if is_off { "false" } else { "true" })
        .key("since", time::frontmatter(read_time("last_triggered_at").or(read_time("created_at"))))
        .key("not_before", time::frontmatter(read_time("next_trigger_at")))
        .key("created", time::frontmatter(read_time("created_at")));
    sink.add_item(ImportItem {
        id: format!("reminder {id}"),
        project: target.project("records")?,
        path: record_path(&scope, "reminder", id, target)?,
        naming: ItemNaming::Fixed,
        body: ItemBody::Note(draft.text()),
    })
}

/// Parses YAML with the frontmatter parser, whose limits a large export may exceed.
fn parse_yaml(text: &str) -> Option<JsonObject> {
    let text = text.trim_start_matches("---\n").trim_end();
    let fenced = format!("---\n{text}\n---\n");
    let note = parse(&fenced);
    note.frontmatter.span.as_ref()?;
    let entries = note.frontmatter.entries.into_iter();
    Some(entries.map(|(key, value)| (key, meta_to_json(value))).collect())
}

fn meta_to_json(value: MetaValue) -> Value {
    match value {
        MetaValue::Text(text) | MetaValue::Plain(text) => Value::String(text),
        MetaValue::List(items) => items.into_iter().map(meta_to_json).collect(),
        MetaValue::Map(entries) => {
            entries.into_iter().map(|(key, value)| (key, meta_to_json(value))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_never_dropped() {
        for (text, expected) in [
            ("{\"n\":1}", "{\"n\":1}"),
            ("by hand", "{\"text\":\"by hand\"}"),
            ("{}", "{}"),
            ("", "{}"),
        ] {
            let found = memory_metadata(Some(&Value::String(text.to_owned())));
            assert_eq!(Value::Object(found).to_string(), expected, "{text}");
        }
        assert!(memory_metadata(None).is_empty());
    }

    #[test]
    fn yaml_is_read() {
        let text = "version: \"1.0\"\nproject_id: null\nmemories:\n  - id: a1\n    content: |-\n      \
                    Two\n      lines\n    type: rule\n    tags: []\n";
        let whole = parse_yaml(text).unwrap();
        let first = list_field(&whole, "memories")[0].as_object().unwrap();
        assert_eq!(json::text_field(first, "content"), "Two\nlines");
        assert_eq!(json::text_field(first, "type"), "rule");
    }
}
