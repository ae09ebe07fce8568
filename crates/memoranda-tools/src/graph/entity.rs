//! An entity as its note tells it, and as it is told to callers.

use std::collections::HashMap;

use jiff::Timestamp;
use memoranda_core::fact::DEFAULT_ENTITY_TYPE;
use memoranda_core::id::ObservationId;
use memoranda_core::note::{self, Note, Observation};
use memoranda_core::path::NotePath;
use memoranda_engine::FileSummary;
use serde_json::{Map, Value, json};

use super::thread::{AnswerShape, GraphThread};

/// What an entity, its facts and its relations count for if nothing was said.
pub(crate) const CONFIDENCE: f64 = 1.0;
pub(crate) const IMPORTANCE: f64 = 0.5;
pub(crate) const RELATION_IMPORTANCE: f64 = 0.7;

/// A name as a caller says it: without blanks around it, and on one line, as notes have it.
pub(crate) fn normalize_name(text: &str) -> String {
    note::one_line(text.trim()).into_owned()
}

/// One entity.
#[derive(Clone, Debug)]
pub(crate) struct GraphEntity {
    pub(crate) path: NotePath,
    pub(crate) name: String,
    pub(crate) entity_type: String,
    pub(crate) importance: f64,
    pub(crate) confidence: f64,
    /// Whether it only holds relations of something that has not been described yet.
    pub(crate) is_placeholder: bool,
    /// Whether it is the root of a graph, which may do without relations.
    pub(crate) is_root: bool,
    pub(crate) facts: Vec<EntityObservation>,
    pub(crate) relations: Vec<EntityRelation>,
    /// When it was first known and last changed, where that is known.
    pub(crate) times: Option<(Timestamp, Timestamp)>,
}

/// One fact.
#[derive(Clone, Debug)]
pub(crate) struct EntityObservation {
    pub(crate) id: ObservationId,
    pub(crate) content: String,
    pub(crate) category: Option<String>,
    pub(crate) version: u32,
    pub(crate) time: Option<Timestamp>,
    pub(crate) confidence: Option<f64>,
    pub(crate) importance: Option<f64>,
    pub(crate) supersedes: Option<ObservationId>,
    pub(crate) superseded_by: Option<ObservationId>,
    pub(crate) is_current: bool,
    /// Its line in the note.
    pub(crate) line: usize,
    /// Whether its line carries an id.
    pub(crate) has_comment: bool,
}

/// One relation.
#[derive(Clone, Debug)]
pub(crate) struct EntityRelation {
    pub(crate) relation_type: String,
    /// The name of what is meant.
    pub(crate) target: String,
    /// That name as it is written.
    pub(crate) written: String,
    /// Whether the name is meant to the letter, or was typed by hand.
    pub(crate) is_exact: bool,
    /// Whether the line says more, in parentheses.
    pub(crate) has_context: bool,
    pub(crate) time: Option<Timestamp>,
    pub(crate) confidence: Option<f64>,
    pub(crate) importance: Option<f64>,
}

impl GraphEntity {
    /// Reads an entity's note.
    pub(crate) fn read(path: &NotePath, text: &str) -> Self {
        Self::of(path, text, &note::parse(text))
    }

    pub(crate) fn of(path: &NotePath, text: &str, note: &Note) -> Self {
        let share = |key: &str| -> Option<f64> {
            let value: f64 = note.frontmatter.text(key)?.trim().parse().ok()?;
            (0.0..=1.0).contains(&value).then_some(value)
        };
        let relation = |relation: &note::Relation| {
            let rating = relation.rating.as_ref();
            EntityRelation {
                relation_type: relation.relation_type.clone(),
                target: relation.name().to_owned(),
                written: relation.name().to_owned(),
                is_exact: rating.is_some(),
                has_context: relation.context.is_some(),
                time: rating.and_then(|rating| rating.time),
                confidence: rating.and_then(|rating| rating.confidence),
                importance: rating.and_then(|rating| rating.importance),
            }
        };
        Self {
            path: path.clone(),
            name: note.title().unwrap_or_else(|| path.stem().to_owned()),
            entity_type: note
                .frontmatter
                .text("type")
                .unwrap_or_else(|| DEFAULT_ENTITY_TYPE.to_owned()),
            importance: share("importance").unwrap_or(IMPORTANCE),
            confidence: share("confidence").unwrap_or(CONFIDENCE),
            is_placeholder: note.frontmatter.text("placeholder").is_some_and(|t| t == "true"),
            is_root: note.frontmatter.text("root").is_some_and(|t| t == "true"),
            facts: facts(path, text, &note.observations),
            // A link within a fact or a sentence mentions another, and states nothing of it.
            relations: note.relations.iter().filter(|r| r.is_stated).map(relation).collect(),
            times: None,
        }
    }

    /// Links that were typed by hand mean what these titles say.
    pub(crate) fn resolve(&mut self, titles: &HashMap<String, String>) {
        for relation in self.relations.iter_mut().filter(|relation| !relation.is_exact) {
            if let Some(title) = titles.get(&relation.written) {
                relation.target.clone_from(title);
            }
        }
    }

    /// Whether a relation was typed by hand.
    pub(crate) fn has_typed(&self) -> bool {
        self.relations.iter().any(|relation| !relation.is_exact)
    }

    /// The facts that hold.
    pub(crate) fn current(&self) -> impl Iterator<Item = &EntityObservation> {
        self.facts.iter().filter(|fact| fact.is_current)
    }

    /// The entity as a value, in a thread's shape; with superseded facts or without.
    pub(crate) fn to_json(&self, thread: &GraphThread, superseded: SupersededDisplay) -> Value {
        let shown = self
            .facts
            .iter()
            .filter(|fact| fact.is_current || superseded == SupersededDisplay::Show);
        match thread.shape {
            AnswerShape::Reference => json!({
                "name": self.name,
                "entityType": self.entity_type,
                "observations": shown.map(|fact| fact.content.as_str()).collect::<Vec<_>>(),
            }),
            AnswerShape::Thread => {
                let mut rendered = json!({
                    "name": self.name,
                    "entityType": self.entity_type,
                    "observations": shown.map(|fact| fact.to_json(thread)).collect::<Vec<_>>(),
                    "agentThreadId": thread.id,
                    "confidence": self.confidence,
                    "importance": self.importance,
                });
                if let Some((created, updated)) = self.times {
                    rendered["timestamp"] = json!(created.to_string());
                    rendered["lastModified"] = json!(updated.to_string());
                }
                if self.importance < 0.1 {
                    rendered["status"] = json!("ARCHIVED");
                }
                rendered
            }
        }
    }
}

/// Whether facts that no longer hold are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SupersededDisplay {
    Show,
    Hide,
}

impl EntityObservation {
    pub(crate) fn to_json(&self, thread: &GraphThread) -> Value {
        let mut rendered = Map::new();
        rendered.insert("id".into(), json!(self.id.as_str()));
        rendered.insert("content".into(), json!(self.content));
        rendered.insert("version".into(), json!(self.version));
        rendered.insert("timestamp".into(), json!(self.time.map(|time| time.to_string())));
        rendered.insert("agentThreadId".into(), json!(thread.id));
        rendered.insert("confidence".into(), json!(self.confidence.unwrap_or(CONFIDENCE)));
        rendered.insert("importance".into(), json!(self.importance.unwrap_or(IMPORTANCE)));
        if let Some(id) = &self.supersedes {
            rendered.insert("supersedes".into(), json!(id.as_str()));
        }
        if let Some(id) = &self.superseded_by {
            rendered.insert("superseded_by".into(), json!(id.as_str()));
        }
        if !self.is_current {
            rendered.insert("current".into(), json!(false));
        }
        rendered.retain(|_, value| !value.is_null());
        Value::Object(rendered)
    }
}

impl EntityRelation {
    pub(crate) fn to_json(&self, from: &str, thread: &GraphThread) -> Value {
        let mut rendered =
            json!({ "from": from, "to": self.target, "relationType": self.relation_type });
        if thread.shape == AnswerShape::Thread {
            rendered["agentThreadId"] = json!(thread.id);
            rendered["confidence"] = json!(self.confidence.unwrap_or(CONFIDENCE));
            rendered["importance"] = json!(self.importance.unwrap_or(RELATION_IMPORTANCE));
            if let Some(time) = self.time {
                rendered["timestamp"] = json!(time.to_string());
            }
        }
        rendered
    }
}

/// The type that a note's frontmatter names.
pub(crate) fn type_of(file: &FileSummary) -> String {
    type_in(&file.metadata)
}

/// The type that a frontmatter names, as the index keeps it.
pub(crate) fn type_in(metadata: &str) -> String {
    let metadata: Value = serde_json::from_str(metadata).unwrap_or_default();
    metadata["type"].as_str().unwrap_or(DEFAULT_ENTITY_TYPE).to_owned()
}

/// Whether a frontmatter says that the note only stands for something that was not described.
pub(crate) fn is_placeholder(metadata: &str) -> bool {
    metadata.contains("\"placeholder\":\"true\"")
}

/// Whether a frontmatter says that the entity is the root of a graph, which may stand alone.
pub(crate) fn is_root(metadata: &str) -> bool {
    metadata.contains("\"root\":\"true\"")
}

fn facts(path: &NotePath, text: &str, observations: &[Observation]) -> Vec<EntityObservation> {
    let mut seen = HashMap::<(Option<&str>, &str), usize>::new();
    let mut facts = Vec::with_capacity(observations.len());
    for observation in observations {
        let known = observation.fact.as_ref();
        let id = match known {
            Some(fact) => fact.id.clone(),
            None => {
                let key = (observation.category.as_deref(), observation.text.as_str());
                let occurrence = seen.entry(key).or_default();
                *occurrence += 1;
                note::derive_observation_id(&path.key(), observation, *occurrence - 1)
            }
        };
        let superseded_by = known.and_then(|fact| fact.superseded_by.clone());
        facts.push(EntityObservation {
            id,
            content: note::observation_content(text, observation),
            category: observation.category.clone(),
            version: known.map_or(1, |fact| fact.version),
            time: known.and_then(|fact| fact.time),
            confidence: known.and_then(|fact| fact.confidence),
            importance: known.and_then(|fact| fact.importance),
            supersedes: known.and_then(|fact| fact.supersedes.clone()),
            is_current: !observation.struck,
            superseded_by,
            line: observation.line,
            has_comment: known.is_some(),
        });
    }
    facts
}
