//! memories.sh: its database, or what its `export` writes as JSON or YAML.

use memoranda_engine::core::note::{MetaValue, parse};
use memoranda_tools::RecordScope;
use serde_json::Value;

use super::record::{Record, path, scope};
use super::{Target, needs_file};
use crate::error::{ImportError, Result};
use crate::intake::Intake;
use crate::json::{self, Object, list, tags, text};
use crate::origin::Origin;
use crate::piece::{Body, Draft, Naming, Piece, title_of};
use crate::sqlite::Database;
use crate::time;

pub(super) fn read(origin: &Origin, target: &Target, intake: &mut Intake<'_>) -> Result<()> {
    needs_file(origin, "a database or export of memories.sh")?;
    let name = origin.names()?.into_iter().next().unwrap_or_default();
    if let Some(path) = origin.path()
        && origin.is_sqlite()?
    {
        let database = Database::open(path)?;
        intake.total(database.count("memories")?);
        database.rows("memories", &mut |n, row| {
            intake.done(n);
            memory(&row, "", &format!("{name} row {n}"), target, intake)
        })?;
        if !database.columns("reminders")?.is_empty() {
            database.rows("reminders", &mut |n, row| {
                reminder(&row, &format!("{name} reminder {n}"), target, intake)
            })?;
        }
        return Ok(());
    }
    let text = origin.whole(intake)?;
    let whole = match serde_json::from_str(&text) {
        Ok(Value::Object(whole)) => whole,
        _ => yaml(&text).ok_or_else(|| {
            let message = format!("{name} is neither JSON nor YAML that can be read");
            ImportError::NotThat(format!("{message}; a large export is better taken as JSON"))
        })?,
    };
    // The export says once for all which repository it was made in.
    let repository = json::text(&whole, "project_id").to_owned();
    let memories = list(&whole, "memories");
    if memories.is_empty() && !whole.contains_key("memories") {
        return Err(ImportError::NotThat(format!("{name} holds no list of memories")));
    }
    intake.total(memories.len() as u64);
    for (n, value) in memories.iter().enumerate() {
        intake.done(n as u64);
        let at = format!("{name} [{n}]");
        match value.as_object() {
            Some(object) => memory(object, &repository, &at, target, intake)?,
            None => intake.problem(at, "not a memory"),
        }
    }
    Ok(())
}

fn memory(
    object: &Object,
    repository: &str,
    at: &str,
    target: &Target,
    intake: &mut Intake<'_>,
) -> Result<()> {
    if !text(object, "deleted_at").is_empty() {
        intake.skip("deleted memories");
        return Ok(());
    }
    if !text(object, "superseded_by").is_empty() {
        intake.skip("superseded memories");
        return Ok(());
    }
    let (id, said) = (text(object, "id"), text(object, "content"));
    if id.is_empty() || said.trim().is_empty() {
        intake.problem(at, "it has no id, or says nothing");
        return Ok(());
    }
    let own = text(object, "project_id");
    let repository = match text(object, "scope") {
        "project" => {
            if own.is_empty() {
                repository
            } else {
                own
            }
        }
        _ => "",
    };
    let read_time = |key: &str| object.get(key).and_then(time::read);
    let record = Record {
        id: id.to_owned(),
        kind: text(object, "type").to_owned(),
        repository: repository.to_owned(),
        text: said.to_owned(),
        tags: tags(object.get("tags")),
        paths: json::globs(object.get("paths")),
        category: text(object, "category").to_owned(),
        created: read_time("created_at"),
        modified: read_time("updated_at"),
        expires: read_time("expires_at"),
        metadata: metadata(object.get("metadata")),
    };
    let piece = record.piece(target)?;
    // The export leaves out paths, category and metadata, which the database has.
    let is_abridged = !object.contains_key("updated_at");
    intake.piece(match piece.body {
        Body::Note(text) if is_abridged => Piece { body: Body::Abridged(text), ..piece },
        _ => piece,
    })
}

/// What else is known of a memory. A text that is no JSON is kept as it is.
fn metadata(value: Option<&Value>) -> Object {
    match (value, json::object(value)) {
        (Some(Value::String(text)), known) if known.is_empty() => {
            let said = text.trim();
            let is_nothing = said.is_empty() || matches!(said, "{}" | "null");
            let kept = (!is_nothing).then(|| ("text".to_owned(), Value::String(text.clone())));
            kept.into_iter().collect()
        }
        (_, known) => known,
    }
}

/// A reminder, as the records dialect keeps it.
fn reminder(object: &Object, at: &str, target: &Target, intake: &mut Intake<'_>) -> Result<()> {
    let (id, message) = (text(object, "id"), text(object, "message"));
    let cron = text(object, "cron_expression");
    if id.is_empty() || message.is_empty() || cron.is_empty() {
        intake.problem(at, "a reminder without id, message or cron expression");
        return Ok(());
    }
    let read_time = |key: &str| object.get(key).and_then(time::read);
    let is_off = object.get("enabled").and_then(Value::as_i64) == Some(0);
    let scope = scope(text(object, "project_id"));
    let named = if scope == RecordScope::Global { "" } else { scope.name() };
    let draft = Draft::new(message.trim())
        .key("title", title_of(message, "Reminder"))
        .key("type", "reminder")
        .key("project", named)
        .key("cron", cron)
        .key("enabled", if is_off { "false" } else { "true" })
        .key("since", time::stated(read_time("last_triggered_at").or(read_time("created_at"))))
        .key("not_before", time::stated(read_time("next_trigger_at")))
        .key("created", time::stated(read_time("created_at")));
    intake.piece(Piece {
        id: format!("reminder {id}"),
        project: target.project("records")?,
        path: path(&scope, "reminder", id, target)?,
        naming: Naming::Fixed,
        body: Body::Note(draft.text()),
    })
}

/// YAML is read by the reader of frontmatter, which has limits that a large export exceeds.
fn yaml(text: &str) -> Option<Object> {
    let text = text.trim_start_matches("---\n").trim_end();
    let fenced = format!("---\n{text}\n---\n");
    let note = parse(&fenced);
    note.frontmatter.span.as_ref()?;
    let entries = note.frontmatter.entries.into_iter();
    Some(entries.map(|(key, value)| (key, value_of(value))).collect())
}

fn value_of(value: MetaValue) -> Value {
    match value {
        MetaValue::Text(text) | MetaValue::Plain(text) => Value::String(text),
        MetaValue::List(items) => items.into_iter().map(value_of).collect(),
        MetaValue::Map(entries) => {
            entries.into_iter().map(|(key, value)| (key, value_of(value))).collect()
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
            let found = metadata(Some(&Value::String(text.to_owned())));
            assert_eq!(Value::Object(found).to_string(), expected, "{text}");
        }
        assert!(metadata(None).is_empty());
    }

    #[test]
    fn yaml_is_read() {
        let text = "version: \"1.0\"\nproject_id: null\nmemories:\n  - id: a1\n    content: |-\n      \
                    Two\n      lines\n    type: rule\n    tags: []\n";
        let whole = yaml(text).unwrap();
        let first = list(&whole, "memories")[0].as_object().unwrap();
        assert_eq!(json::text(first, "content"), "Two\nlines");
        assert_eq!(json::text(first, "type"), "rule");
    }
}
