//! Reads the file of the reference memory server: a JSON line per entity and relation, or one
//! object as returned by `read_graph`. Also reads the files of a server that keeps one such file per
//! thread, with the versions of its observations.

use std::collections::{BTreeMap, HashMap, HashSet};

use memoranda_engine::core::fact::{DEFAULT_ENTITY_TYPE, thread_folder};
use memoranda_engine::core::id::ObservationId;
use memoranda_engine::core::note::edit::{NoteEdit, ObservationRef, apply_edit};
use memoranda_engine::core::note::{
    NewObservation, NewRelation, ObservationMeta, observation_from_text,
};
use memoranda_engine::hash;
use serde_json::Value;

use super::ImportTarget;
use crate::error::{ImportError, Result};
use crate::input::ImportInput;
use crate::item::{ImportItem, ItemBody, ItemNaming, NoteDraft, note_path};
use crate::json::{JsonObject, for_each_line, list_field, text_field};
use crate::sink::ImportSink;
use crate::time;

/// Thread of the entities if neither the caller nor the source names one.
const DEFAULT_THREAD: &str = "default";
/// Name of the file without a thread that accompanies the files of threads.
const THREADLESS_FILES: [&str; 2] = ["memory.jsonl", "memory.json"];

/// An entity with its facts and outgoing relations.
#[derive(Default)]
struct ImportedEntity {
    kind: String,
    facts: Vec<ImportedFact>,
    relations: Vec<NewRelation>,
    is_declared: bool,
}

/// An observation with the links of its version chain, as ids of the source.
struct ImportedFact {
    observation: NewObservation,
    id: Option<String>,
    supersedes: Option<String>,
    superseded_by: Option<String>,
}

/// Entities by thread and name. A relation belongs to its source entity.
type EntityMap = BTreeMap<(String, String), ImportedEntity>;

/// Returns the thread that the name of a file contains, as in `thread-<id>.jsonl`.
pub(crate) fn thread_of_file(name: &str) -> Option<&str> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let id = name.strip_prefix("thread-")?.strip_suffix(".jsonl")?;
    (!id.is_empty()).then_some(id)
}

pub(super) fn read(
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let mut names = input.file_names()?;
    match input {
        ImportInput::File(_) | ImportInput::Bytes(_) => {}
        ImportInput::Folder(_) | ImportInput::Zip(_) => {
            let is_graph =
                |name: &str| thread_of_file(name).is_some() || THREADLESS_FILES.contains(&name);
            names.retain(|name| is_graph(name));
            if names.is_empty() {
                let input = input.display_name();
                let message = format!("{input} contains no thread-<id>.jsonl and no memory.jsonl");
                return Err(ImportError::NotThat(message));
            }
        }
    }
    let project = target.project("graph")?;
    let mut graph = EntityMap::new();
    for name in &names {
        let thread = match &target.folder {
            Some(folder) => SourceThread::Fixed(folder.clone()),
            None => SourceThread::Named(thread_of_file(name).unwrap_or(DEFAULT_THREAD).to_owned()),
        };
        read_graph(input, name, &thread, &mut graph, sink)?;
    }
    sink.set_total(graph.len() as u64);
    for (n, ((thread, name), entity)) in graph.into_iter().enumerate() {
        sink.set_done(n as u64);
        let (text, edits) = entity_note(&name, entity, sink);
        sink.add_item(ImportItem {
            id: format!("{thread}/{name}"),
            project: project.clone(),
            path: note_path(&thread_folder(thread.trim()), &name),
            naming: ItemNaming::Title,
            body: ItemBody::Facts(text, edits),
        })?;
    }
    Ok(())
}

/// Thread of the elements of a file.
enum SourceThread {
    /// The caller chose the thread of all elements.
    Fixed(String),
    /// An element may name another thread.
    Named(String),
}

impl SourceThread {
    fn of<'a>(&'a self, object: &'a JsonObject) -> &'a str {
        match self {
            Self::Fixed(thread) => thread,
            Self::Named(thread) => match text_field(object, "agentThreadId").trim() {
                "" => thread,
                own => own,
            },
        }
    }
}

/// Reads one file into the graph.
fn read_graph(
    input: &ImportInput,
    name: &str,
    thread: &SourceThread,
    graph: &mut EntityMap,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let whole: Option<Value> = {
        let text = input.read_text(name, sink)?;
        serde_json::from_str(&text).ok().filter(|value: &Value| value.get("type").is_none())
    };
    match whole {
        Some(Value::Object(whole)) => {
            for (key, kind) in [("entities", "entity"), ("relations", "relation")] {
                for (n, value) in list_field(&whole, key).iter().enumerate() {
                    let at = format!("{name} {key}[{n}]");
                    add_element(value, kind, &at, thread, graph, sink);
                }
            }
        }
        Some(Value::Array(all)) => {
            for (n, value) in all.iter().enumerate() {
                add_element(value, "", &format!("{name} [{n}]"), thread, graph, sink);
            }
        }
        _ => input.with_file(name, sink, |from, sink| {
            for_each_line(from, name, sink, &mut |number, value, sink| {
                let at = format!("{name} line {number}");
                add_element(&value, "", &at, thread, graph, sink);
                Ok(())
            })
        })?,
    }
    Ok(())
}

fn add_element(
    value: &Value,
    kind: &str,
    at: &str,
    thread: &SourceThread,
    graph: &mut EntityMap,
    sink: &mut ImportSink<'_>,
) {
    let Some(object) = value.as_object() else {
        sink.add_problem(at, "neither an entity nor a relation");
        return;
    };
    let thread = thread.of(object).to_owned();
    let kind = if kind.is_empty() { text_field(object, "type") } else { kind };
    match kind {
        "entity" => {
            let name = text_field(object, "name").trim();
            if name.is_empty() {
                sink.add_problem(at, "an entity without a name");
                return;
            }
            let entity = graph.entry((thread.clone(), name.to_owned())).or_default();
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
                    sink.add_problem(at, format!("`observations` is not a list of texts: {found}"));
                    &[]
                }
            };
            for said in said {
                let same = |known: &ImportedFact, new: &ImportedFact| {
                    let (known, new) = (&known.observation, &new.observation);
                    known.category == new.category && known.text == new.text
                };
                match parse_observation(said, name, &thread) {
                    // A repetition with links is a version of its own.
                    Some(fact)
                        if !fact.is_linked()
                            && entity.facts.iter().any(|known| same(known, &fact)) => {}
                    Some(fact) => entity.facts.push(fact),
                    None => sink.add_problem(at, "an empty observation"),
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
            let entity = graph.entry((thread, from.to_owned())).or_default();
            let number = |key: &str| object.get(key).and_then(Value::as_f64);
            let is_known = |known: &NewRelation| known.relation_type == kind && known.target == to;
            if !entity.relations.iter().any(is_known) {
                entity.relations.push(NewRelation {
                    relation_type: kind.to_owned(),
                    target: to.to_owned(),
                    time: object.get("timestamp").and_then(time::parse),
                    confidence: number("confidence").filter(|confidence| *confidence < 1.0),
                    importance: number("importance"),
                });
            }
        }
        other => sink.add_problem(at, format!("{other:?} is neither `entity` nor `relation`")),
    }
}

impl ImportedFact {
    fn is_linked(&self) -> bool {
        self.supersedes.is_some() || self.superseded_by.is_some()
    }
}

/// Parses a fact from a text or from an object with a `content`.
fn parse_observation(value: &Value, entity: &str, thread: &str) -> Option<ImportedFact> {
    let empty = JsonObject::new();
    let object = value.as_object().unwrap_or(&empty);
    let said = value.as_str().unwrap_or_else(|| text_field(object, "content")).trim();
    if said.is_empty() {
        return None;
    }
    let number = |key: &str| object.get(key).and_then(Value::as_f64);
    let link =
        |key: &str| Some(text_field(object, key).trim().to_owned()).filter(|id| !id.is_empty());
    let version = object.get("version").and_then(Value::as_u64);
    let version = version.and_then(|version| u32::try_from(version).ok()).unwrap_or(1);
    let observation = NewObservation {
        meta: Some(ObservationMeta {
            version: version.max(1),
            time: object.get("timestamp").and_then(time::parse),
            confidence: number("confidence"),
            importance: number("importance"),
            thread: Some(thread.to_owned()),
            ..ObservationMeta::new(observation_id(entity, thread, said))
        }),
        ..observation_from_text(said)
    };
    let (supersedes, superseded_by) = (link("supersedes"), link("superseded_by"));
    Some(ImportedFact { observation, id: link("id"), supersedes, superseded_by })
}

/// Returns an id made from the content, so that it is the same on every run.
fn observation_id(entity: &str, thread: &str, said: &str) -> ObservationId {
    let digest = hash(format!("{thread}\0{entity}\0{said}").as_bytes()).0;
    let bits = digest.iter().take(16).fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    ObservationId::from_bits(bits)
}

/// Returns the edits that write facts in the order of their versions: a later version replaces the
/// earlier one, which stays in the history of the note.
fn version_edits(mut facts: Vec<ImportedFact>, sink: &mut ImportSink<'_>) -> Vec<NoteEdit> {
    let mut edits = Vec::with_capacity(facts.len());
    let mut ids_used: HashSet<String> = HashSet::new();
    // Position of a fact by its id at the source.
    let by_id: HashMap<String, usize> =
        facts.iter().enumerate().filter_map(|(n, fact)| Some((fact.id.clone()?, n))).collect();
    // Position of the next version of each fact.
    let mut next: HashMap<usize, usize> = HashMap::new();
    for (n, fact) in facts.iter().enumerate() {
        let before = fact.supersedes.as_ref().and_then(|id| by_id.get(id));
        let after = fact.superseded_by.as_ref().and_then(|id| by_id.get(id));
        if let Some(before) = before {
            next.entry(*before).or_insert(n);
        }
        if let Some(after) = after {
            next.entry(n).or_insert(*after);
        }
    }
    let mut later: HashSet<usize> = HashSet::new();
    // Two versions cannot have the same successor.
    let mut chained: Vec<(usize, usize)> = next.into_iter().collect();
    chained.sort_unstable();
    chained.retain(|(n, after)| n != after && later.insert(*after));
    let next: HashMap<usize, usize> = chained.into_iter().collect();
    let ids: Vec<Option<ObservationId>> =
        facts.iter().map(|fact| fact.observation.meta.as_ref().map(|m| m.id.clone())).collect();
    let mut written = vec![false; facts.len()];
    for (n, id) in ids.iter().enumerate() {
        // An earlier content may return in a later version, which is another observation.
        let Some(id) = id else { continue };
        let mut unique = id.clone();
        let mut number = 2;
        while !ids_used.insert(unique.as_str().to_owned()) {
            unique = observation_id(id.as_str(), "", &number.to_string());
            number += 1;
        }
        if let Some(meta) = &mut facts[n].observation.meta {
            meta.id = unique;
        }
    }
    let firsts: Vec<usize> = (0..facts.len()).filter(|n| !later.contains(n)).collect();
    for first in firsts {
        let mut at = first;
        let mut before: Option<ObservationId> = None;
        loop {
            if std::mem::replace(&mut written[at], true) {
                break;
            }
            let observation = facts[at].observation.clone();
            let id = observation.meta.as_ref().map(|meta| meta.id.clone());
            edits.push(match before {
                None => NoteEdit::AddObservation { section: None, observation },
                Some(before) => NoteEdit::SupersedeObservation {
                    observation: ObservationRef::Id(before),
                    replacement: observation,
                },
            });
            before = id;
            match next.get(&at) {
                Some(after) => at = *after,
                None => break,
            }
        }
        // The last version of a chain that the source calls superseded has no known successor.
        if facts[at].superseded_by.is_some() && !next.contains_key(&at) {
            if let Some(id) = before {
                let observation = ObservationRef::Id(id);
                edits.push(NoteEdit::RemoveObservation { observation });
            }
            sink.skip("superseded observation without its successor");
        }
    }
    // A circle of versions has no first one.
    for (n, fact) in facts.iter().enumerate() {
        if !written[n] {
            let observation = fact.observation.clone();
            edits.push(NoteEdit::AddObservation { section: None, observation });
        }
    }
    edits
}

/// Returns an entity as a note, and its facts and relations as edits.
fn entity_note(
    name: &str,
    entity: ImportedEntity,
    sink: &mut ImportSink<'_>,
) -> (String, Vec<NoteEdit>) {
    let mut edits = version_edits(entity.facts, sink);
    let relate = |relation| NoteEdit::AddRatedRelation { relation };
    edits.extend(entity.relations.into_iter().map(relate));
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
        let thread = SourceThread::Named("default".to_owned());
        add_element(&value, "entity", "here", &thread, &mut graph, &mut sink);
        let entity = graph.remove(&("default".to_owned(), "A".to_owned())).unwrap();
        let (text, _) = entity_note("A", entity, &mut sink);
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
        check(&json!({ "a": 1 }), &[], &["`observations` is not a list of texts: {\"a\":1}"]);
        check(&json!(["x", ""]), &["x"], &["an empty observation"]);
        check(&json!([{ "content": "x", "superseded_by": "obs_B" }]), &[], &[]);
    }

    #[test]
    fn versions_come_in_their_order() {
        let version = |id: &str, content: &str, number: u32, before: &str, after: &str| {
            json!({ "id": id, "content": content, "version": number, "timestamp":
                "2026-01-15T10:00:00Z", "supersedes": before, "superseded_by": after })
        };
        let newest_first = json!([
            version("obs_c", "one", 3, "obs_b", ""),
            version("obs_b", "two", 2, "obs_a", "obs_c"),
            version("obs_a", "one", 1, "", "obs_b"),
            "other",
        ]);
        // The content of the first version returns in the third one.
        check(&newest_first, &["one", "other", "one", "two"], &[]);
        let circle = json!([
            version("obs_a", "one", 1, "obs_b", "obs_b"),
            version("obs_b", "two", 2, "obs_a", "obs_a"),
        ]);
        check(&circle, &["one", "two"], &[]);
    }

    #[test]
    fn files_of_threads_are_known_by_name() {
        assert_eq!(thread_of_file("thread-portfolio.jsonl"), Some("portfolio"));
        assert_eq!(thread_of_file("a/thread-x-1.jsonl"), Some("x-1"));
        for name in ["thread-.jsonl", "thread-x.json", "memory.jsonl", "xthread-a.jsonl"] {
            assert_eq!(thread_of_file(name), None, "{name}");
        }
    }
}
