//! Reads the file of the reference memory server: a JSON line per entity and relation, or one
//! object as returned by `read_graph`.

use std::collections::BTreeMap;

use memoranda_engine::core::fact::{DEFAULT_ENTITY_TYPE, thread_folder};
use memoranda_engine::core::id::ObservationId;
use memoranda_engine::core::note::edit::{NoteEdit, apply_edit};
use memoranda_engine::core::note::{
    NewObservation, NewRelation, ObservationMeta, observation_from_text,
};
use memoranda_engine::hash;
use serde_json::Value;

use super::{ImportTarget, require_file};
use crate::error::Result;
use crate::input::ImportInput;
use crate::item::{ImportItem, ItemBody, ItemNaming, NoteDraft, note_path};
use crate::json::{JsonObject, for_each_line, list_field, text_field};
use crate::sink::ImportSink;
use crate::time;

/// Thread of the entities if none is requested.
const DEFAULT_THREAD: &str = "default";

/// An entity with its facts and outgoing relations.
#[derive(Default)]
struct ImportedEntity {
    kind: String,
    facts: Vec<NewObservation>,
    relations: Vec<(String, String)>,
    is_declared: bool,
}

/// Entities by name. A relation belongs to its source entity.
type EntityMap = BTreeMap<String, ImportedEntity>;

pub(super) fn read(
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    require_file(input, "a file of the reference memory server")?;
    let name = input.file_names()?.into_iter().next().unwrap_or_default();
    let project = target.project("graph")?;
    let thread = target.folder(DEFAULT_THREAD);
    let folder = thread_folder(thread.trim());
    let mut graph = EntityMap::new();
    let whole: Option<Value> = {
        let text = input.read_all(sink)?;
        serde_json::from_str(&text).ok().filter(|value: &Value| value.get("type").is_none())
    };
    match whole {
        Some(Value::Object(whole)) => {
            for (key, kind) in [("entities", "entity"), ("relations", "relation")] {
                for (n, value) in list_field(&whole, key).iter().enumerate() {
                    add_element(
                        value,
                        kind,
                        &format!("{name} {key}[{n}]"),
                        &thread,
                        &mut graph,
                        sink,
                    );
                }
            }
        }
        Some(Value::Array(all)) => {
            for (n, value) in all.iter().enumerate() {
                add_element(value, "", &format!("{name} [{n}]"), &thread, &mut graph, sink);
            }
        }
        _ => input.with_file(&name, sink, |from, sink| {
            for_each_line(from, &name, sink, &mut |number, value, sink| {
                add_element(
                    &value,
                    "",
                    &format!("{name} line {number}"),
                    &thread,
                    &mut graph,
                    sink,
                );
                Ok(())
            })
        })?,
    }
    sink.set_total(graph.len() as u64);
    for (n, (name, entity)) in graph.into_iter().enumerate() {
        sink.set_done(n as u64);
        let (text, edits) = entity_note(&name, entity, sink);
        sink.add_item(ImportItem {
            id: format!("{thread}/{name}"),
            project: project.clone(),
            path: note_path(&folder, &name),
            naming: ItemNaming::Title,
            body: ItemBody::Facts(text, edits),
        })?;
    }
    Ok(())
}

fn add_element(
    value: &Value,
    kind: &str,
    at: &str,
    thread: &str,
    graph: &mut EntityMap,
    sink: &mut ImportSink<'_>,
) {
    let Some(object) = value.as_object() else {
        sink.add_problem(at, "neither an entity nor a relation");
        return;
    };
    let kind = if kind.is_empty() { text_field(object, "type") } else { kind };
    match kind {
        "entity" => {
            let name = text_field(object, "name").trim();
            if name.is_empty() {
                sink.add_problem(at, "an entity without a name");
                return;
            }
            let entity = graph.entry(name.to_owned()).or_default();
            entity.is_declared = true;
            entity.kind = text_field(object, "entityType").to_owned();
            let one;
            let said = match object.get("observations") {
                // A single fact may be a plain text.
                Some(Value::String(text)) => {
                    one = [Value::String(text.clone())];
                    &one[..]
                }
                Some(Value::Array(list)) => list,
                None | Some(Value::Null) => &[],
                Some(other) => {
                    let found: String = other.to_string().chars().take(60).collect();
                    sink.add_problem(at, format!("`observations` is no list of texts: {found}"));
                    &[]
                }
            };
            for said in said {
                let superseded = said.as_object().map(|said| text_field(said, "superseded_by"));
                if superseded.is_some_and(|by| !by.is_empty()) {
                    sink.skip("superseded observation");
                    continue;
                }
                let same = |known: &NewObservation, new: &NewObservation| {
                    known.category == new.category && known.text == new.text
                };
                match parse_observation(said, name, thread) {
                    Some(fact) if entity.facts.iter().any(|known| same(known, &fact)) => {}
                    Some(fact) => entity.facts.push(fact),
                    None => sink.add_problem(at, "an observation that says nothing"),
                }
            }
        }
        "relation" => {
            let (from, to) = (text_field(object, "from").trim(), text_field(object, "to").trim());
            let kind = text_field(object, "relationType").trim();
            if from.is_empty() || to.is_empty() || kind.is_empty() {
                sink.add_problem(at, "a relation without `from`, `to` or `relationType`");
                return;
            }
            let relation = (kind.to_owned(), to.to_owned());
            let entity = graph.entry(from.to_owned()).or_default();
            if !entity.relations.contains(&relation) {
                entity.relations.push(relation);
            }
        }
        other => sink.add_problem(at, format!("{other:?} is neither `entity` nor `relation`")),
    }
}

/// Parses a fact from a text or from an object with a `content`.
fn parse_observation(value: &Value, entity: &str, thread: &str) -> Option<NewObservation> {
    let empty = JsonObject::new();
    let object = value.as_object().unwrap_or(&empty);
    let said = value.as_str().unwrap_or_else(|| text_field(object, "content")).trim();
    if said.is_empty() {
        return None;
    }
    let number = |key: &str| object.get(key).and_then(Value::as_f64);
    Some(NewObservation {
        meta: Some(ObservationMeta {
            id: observation_id(entity, thread, said),
            version: 1,
            time: object.get("timestamp").and_then(time::parse),
            confidence: number("confidence"),
            importance: number("importance"),
            thread: Some(thread.to_owned()),
            superseded_by: None,
            supersedes: None,
        }),
        ..observation_from_text(said)
    })
}

/// Returns an id made from the content, so that it is the same on every run.
fn observation_id(entity: &str, thread: &str, said: &str) -> ObservationId {
    let digest = hash(format!("{thread}\0{entity}\0{said}").as_bytes()).0;
    let bits = digest.iter().take(16).fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    ObservationId::from_bits(bits)
}

/// Returns an entity as a note, and its facts and relations as edits.
fn entity_note(
    name: &str,
    entity: ImportedEntity,
    sink: &mut ImportSink<'_>,
) -> (String, Vec<NoteEdit>) {
    let facts = entity
        .facts
        .into_iter()
        .map(|observation| NoteEdit::AddObservation { section: None, observation });
    let relate = |(relation_type, target)| {
        let (time, confidence, importance) = (None, None, None);
        let relation = NewRelation { relation_type, target, time, confidence, importance };
        NoteEdit::AddRatedRelation { relation }
    };
    let relations = entity.relations.into_iter().map(relate);
    let edits: Vec<NoteEdit> = facts.chain(relations).collect();
    // The source entity of a relation may be undeclared.
    let (kind, placeholder) = if !entity.is_declared {
        ("Unknown", "true")
    } else if entity.kind.is_empty() {
        (DEFAULT_ENTITY_TYPE, "")
    } else {
        (entity.kind.as_str(), "")
    };
    let draft =
        NoteDraft::new("").key("title", name).key("type", kind).key("placeholder", placeholder);
    let mut text = draft.text();
    for edit in &edits {
        match apply_edit(&text, edit) {
            Ok(edited) => text = edited,
            Err(error) => sink.add_problem(name, format!("something was left out: {error}")),
        }
    }
    (text, edits)
}

#[cfg(test)]
mod tests {
    use memoranda_engine::core::note::{observation_content, parse};
    use serde_json::json;

    use super::*;

    fn check(observations: &Value, facts: &[&str], problems: &[&str]) {
        let mut keep = |_, _| Ok(());
        let mut sink = ImportSink::new(&mut keep);
        let mut graph = EntityMap::new();
        let value = json!({ "name": "A", "entityType": "T", "observations": observations });
        add_element(&value, "entity", "here", "default", &mut graph, &mut sink);
        let (text, _) = entity_note("A", graph.remove("A").unwrap(), &mut sink);
        let read: Vec<String> =
            parse(&text).observations.iter().map(|fact| observation_content(&text, fact)).collect();
        assert_eq!(read, facts, "{text}");
        let told: Vec<&str> = sink.problems.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(told, problems);
    }

    #[test]
    fn every_fact_comes_in_or_is_told_of() {
        check(&json!(["(all of it)", "[[B]]", "~~x~~"]), &["(all of it)", "[[B]]", "~~x~~"], &[]);
        check(&json!(["[a1] x", "[b1] x", "[a1] x"]), &["[a1] x", "[b1] x"], &[]);
        check(&json!("a text"), &["a text"], &[]);
        check(&json!({ "a": 1 }), &[], &["`observations` is no list of texts: {\"a\":1}"]);
        check(&json!(["x", ""]), &["x"], &["an observation that says nothing"]);
        check(&json!([{ "content": "x", "superseded_by": "obs_B" }]), &[], &[]);
    }
}
