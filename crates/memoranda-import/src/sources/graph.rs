//! The reference memory server's file: entities and relations, a line of JSON each; or both in one
//! object, as its `read_graph` gives them.

use std::collections::BTreeMap;

use memoranda_engine::core::fact::{UNTYPED, thread_folder};
use memoranda_engine::core::id::ObservationId;
use memoranda_engine::core::note::edit::{NoteEdit, apply};
use memoranda_engine::core::note::{NewObservation, NewRelation, ObservationMeta, stated};
use memoranda_engine::hash;
use serde_json::Value;

use super::{Target, needs_file};
use crate::error::Result;
use crate::intake::Intake;
use crate::json::{Object, lines, list, text};
use crate::origin::Origin;
use crate::piece::{Body, Draft, Naming, Piece, path_of};
use crate::time;

/// The thread that the reference server's tools speak to.
const THREAD: &str = "default";

/// What is known of one entity.
#[derive(Default)]
struct Entity {
    kind: String,
    facts: Vec<NewObservation>,
    relations: Vec<(String, String)>,
    is_declared: bool,
}

/// All of it: relations lie with the entity that they lead from.
type Graph = BTreeMap<String, Entity>;

pub(super) fn read(origin: &Origin, target: &Target, intake: &mut Intake<'_>) -> Result<()> {
    needs_file(origin, "a file of the reference memory server")?;
    let name = origin.names()?.into_iter().next().unwrap_or_default();
    let project = target.project("graph")?;
    let thread = target.folder(THREAD);
    let folder = thread_folder(thread.trim());
    let mut graph = Graph::new();
    let whole: Option<Value> = {
        let text = origin.whole(intake)?;
        serde_json::from_str(&text).ok().filter(|value: &Value| value.get("type").is_none())
    };
    match whole {
        Some(Value::Object(whole)) => {
            for (key, kind) in [("entities", "entity"), ("relations", "relation")] {
                for (n, value) in list(&whole, key).iter().enumerate() {
                    take(value, kind, &format!("{name} {key}[{n}]"), &thread, &mut graph, intake);
                }
            }
        }
        Some(Value::Array(all)) => {
            for (n, value) in all.iter().enumerate() {
                take(value, "", &format!("{name} [{n}]"), &thread, &mut graph, intake);
            }
        }
        _ => origin.with_file(&name, intake, |from, intake| {
            lines(from, &name, intake, &mut |number, value, intake| {
                take(&value, "", &format!("{name} line {number}"), &thread, &mut graph, intake);
                Ok(())
            })
        })?,
    }
    intake.total(graph.len() as u64);
    for (n, (name, entity)) in graph.into_iter().enumerate() {
        intake.done(n as u64);
        let (text, edits) = note(&name, entity, intake);
        intake.piece(Piece {
            id: format!("{thread}/{name}"),
            project: project.clone(),
            path: path_of(&folder, &name),
            naming: Naming::Title,
            body: Body::Facts(text, edits),
        })?;
    }
    Ok(())
}

fn take(
    value: &Value,
    kind: &str,
    at: &str,
    thread: &str,
    graph: &mut Graph,
    intake: &mut Intake<'_>,
) {
    let Some(object) = value.as_object() else {
        intake.problem(at, "neither an entity nor a relation");
        return;
    };
    let kind = if kind.is_empty() { text(object, "type") } else { kind };
    match kind {
        "entity" => {
            let name = text(object, "name").trim();
            if name.is_empty() {
                intake.problem(at, "an entity without a name");
                return;
            }
            let entity = graph.entry(name.to_owned()).or_default();
            entity.is_declared = true;
            entity.kind = text(object, "entityType").to_owned();
            let one;
            let said = match object.get("observations") {
                // One fact may stand without a list around it.
                Some(Value::String(text)) => {
                    one = [Value::String(text.clone())];
                    &one[..]
                }
                Some(Value::Array(list)) => list,
                None | Some(Value::Null) => &[],
                Some(other) => {
                    let found: String = other.to_string().chars().take(60).collect();
                    intake.problem(at, format!("`observations` is no list of texts: {found}"));
                    &[]
                }
            };
            for said in said {
                let superseded = said.as_object().map(|said| text(said, "superseded_by"));
                if superseded.is_some_and(|by| !by.is_empty()) {
                    intake.skip("superseded observation");
                    continue;
                }
                let same = |known: &NewObservation, new: &NewObservation| {
                    known.category == new.category && known.text == new.text
                };
                match fact(said, name, thread) {
                    Some(fact) if entity.facts.iter().any(|known| same(known, &fact)) => {}
                    Some(fact) => entity.facts.push(fact),
                    None => intake.problem(at, "an observation that says nothing"),
                }
            }
        }
        "relation" => {
            let (from, to) = (text(object, "from").trim(), text(object, "to").trim());
            let kind = text(object, "relationType").trim();
            if from.is_empty() || to.is_empty() || kind.is_empty() {
                intake.problem(at, "a relation without `from`, `to` or `relationType`");
                return;
            }
            let relation = (kind.to_owned(), to.to_owned());
            let entity = graph.entry(from.to_owned()).or_default();
            if !entity.relations.contains(&relation) {
                entity.relations.push(relation);
            }
        }
        other => intake.problem(at, format!("{other:?} is neither `entity` nor `relation`")),
    }
}

/// A fact, from a text or from an object with a `content`.
fn fact(value: &Value, entity: &str, thread: &str) -> Option<NewObservation> {
    let empty = Object::new();
    let object = value.as_object().unwrap_or(&empty);
    let said = value.as_str().unwrap_or_else(|| text(object, "content")).trim();
    if said.is_empty() {
        return None;
    }
    let number = |key: &str| object.get(key).and_then(Value::as_f64);
    Some(NewObservation {
        fact: Some(ObservationMeta {
            id: identity(entity, thread, said),
            version: 1,
            time: object.get("timestamp").and_then(time::read),
            confidence: number("confidence"),
            importance: number("importance"),
            thread: Some(thread.to_owned()),
            superseded_by: None,
            supersedes: None,
        }),
        ..stated(said)
    })
}

/// The same fact has the same identity on every run.
fn identity(entity: &str, thread: &str, said: &str) -> ObservationId {
    let digest = hash(format!("{thread}\0{entity}\0{said}").as_bytes()).0;
    let bits = digest.iter().take(16).fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    ObservationId::from_bits(bits)
}

/// An entity as a note, and its facts and relations one by one.
fn note(name: &str, entity: Entity, intake: &mut Intake<'_>) -> (String, Vec<NoteEdit>) {
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
    // A relation may lead from an entity that nobody described.
    let (kind, placeholder) = match entity.is_declared {
        true if entity.kind.is_empty() => (UNTYPED, ""),
        true => (entity.kind.as_str(), ""),
        false => ("Unknown", "true"),
    };
    let draft = Draft::new("").key("title", name).key("type", kind).key("placeholder", placeholder);
    let mut text = draft.text();
    for edit in &edits {
        match apply(&text, edit) {
            Ok(edited) => text = edited,
            Err(error) => intake.problem(name, format!("something was left out: {error}")),
        }
    }
    (text, edits)
}

#[cfg(test)]
mod tests {
    use memoranda_engine::core::note::{content, parse};
    use serde_json::json;

    use super::*;

    fn check(observations: &Value, facts: &[&str], problems: &[&str]) {
        let mut keep = |_, _| Ok(());
        let mut intake = Intake::new(&mut keep);
        let mut graph = Graph::new();
        let value = json!({ "name": "A", "entityType": "T", "observations": observations });
        take(&value, "entity", "here", "default", &mut graph, &mut intake);
        let (text, _) = note("A", graph.remove("A").unwrap(), &mut intake);
        let read: Vec<String> =
            parse(&text).observations.iter().map(|fact| content(&text, fact)).collect();
        assert_eq!(read, facts, "{text}");
        let told: Vec<&str> = intake.problems.iter().map(|p| p.message.as_str()).collect();
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
