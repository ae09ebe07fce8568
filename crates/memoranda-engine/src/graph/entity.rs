//! Entities, their observations and relations, as their notes contain them.

use std::collections::HashMap;

use jiff::Timestamp;
use memoranda_core::fact::DEFAULT_ENTITY_TYPE;
use memoranda_core::id::ObservationId;
use memoranda_core::note::{self, Observation};
use memoranda_core::path::NotePath;
use serde_json::Value;

/// Confidence of an entity, an observation or a relation that has none.
pub const DEFAULT_CONFIDENCE: f64 = 1.0;
/// Importance of an entity or an observation that has none.
pub const DEFAULT_IMPORTANCE: f64 = 0.5;
/// Importance of a relation that has none.
pub const DEFAULT_RELATION_IMPORTANCE: f64 = 0.7;

/// Normalises a name: trimmed and on one line, as titles of notes are.
pub fn normalize_name(text: &str) -> String {
    note::one_line(text.trim()).into_owned()
}

/// One entity.
#[derive(Clone, Debug)]
pub struct GraphEntity {
    /// The note.
    pub path: NotePath,
    /// The name.
    pub name: String,
    /// The type.
    pub entity_type: String,
    /// Importance from 0 to 1.
    pub importance: f64,
    /// Confidence from 0 to 1.
    pub confidence: f64,
    /// True if the entity only has relations and was not described yet.
    pub is_placeholder: bool,
    /// True if the entity is the root of a graph, which needs no relations.
    pub is_root: bool,
    /// The observations, superseded ones included.
    pub facts: Vec<EntityObservation>,
    /// The relations that begin at the entity.
    pub relations: Vec<EntityRelation>,
    /// Creation time and time of the last change, if known.
    pub times: Option<(Timestamp, Timestamp)>,
}

/// One observation.
#[derive(Clone, Debug)]
pub struct EntityObservation {
    /// The id.
    pub id: ObservationId,
    /// The text.
    pub content: String,
    /// The category.
    pub category: Option<String>,
    /// The version, from 1.
    pub version: u32,
    /// Time of this version, if known.
    pub time: Option<Timestamp>,
    /// Confidence from 0 to 1.
    pub confidence: Option<f64>,
    /// Importance from 0 to 1.
    pub importance: Option<f64>,
    /// The observation that it supersedes.
    pub supersedes: Option<ObservationId>,
    /// The observation that supersedes it.
    pub superseded_by: Option<ObservationId>,
    /// True unless the observation is struck out.
    pub is_current: bool,
    /// The line in the note.
    pub line: usize,
    /// True if the line contains an id.
    pub has_comment: bool,
}

/// One relation of an entity.
#[derive(Clone, Debug)]
pub struct EntityRelation {
    /// The relation type.
    pub relation_type: String,
    /// Name of the target.
    pub target: String,
    /// The name as the note contains it.
    pub written: String,
    /// True if a tool wrote the relation; false if a person typed the link.
    pub is_exact: bool,
    /// True if the line has a context in parentheses.
    pub has_context: bool,
    /// Time of the relation, if known.
    pub time: Option<Timestamp>,
    /// Confidence from 0 to 1.
    pub confidence: Option<f64>,
    /// Importance from 0 to 1.
    pub importance: Option<f64>,
}

impl GraphEntity {
    /// Parses the note of an entity.
    pub fn parse(path: &NotePath, text: &str) -> Self {
        let note = note::parse(text);
        let share = |key: &str| -> Option<f64> {
            let value: f64 = note.frontmatter.text(key)?.trim().parse().ok()?;
            (0.0..=1.0).contains(&value).then_some(value)
        };
        let relation = |relation: &note::Relation| {
            let rating = relation.meta.as_ref();
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
            importance: share("importance").unwrap_or(DEFAULT_IMPORTANCE),
            confidence: share("confidence").unwrap_or(DEFAULT_CONFIDENCE),
            is_placeholder: note.frontmatter.text("placeholder").is_some_and(|t| t == "true"),
            is_root: note.frontmatter.text("root").is_some_and(|t| t == "true"),
            facts: facts(path, text, &note.observations),
            // A link within an observation or a sentence is a mention, not a relation.
            relations: note.relations.iter().filter(|r| r.is_stated).map(relation).collect(),
            times: None,
        }
    }

    /// Replaces the targets of handwritten links by these titles.
    pub(crate) fn resolve(&mut self, titles: &HashMap<String, String>) {
        for relation in self.relations.iter_mut().filter(|relation| !relation.is_exact) {
            if let Some(title) = titles.get(&relation.written) {
                relation.target.clone_from(title);
            }
        }
    }

    /// Returns true if a person typed one of the links.
    pub(crate) fn has_typed_links(&self) -> bool {
        self.relations.iter().any(|relation| !relation.is_exact)
    }

    /// Returns the current observations.
    pub fn current(&self) -> impl Iterator<Item = &EntityObservation> {
        self.facts.iter().filter(|fact| fact.is_current)
    }
}

/// Returns the entity type in a frontmatter of the index.
pub(crate) fn entity_type_of(metadata: &str) -> String {
    let metadata: Value = serde_json::from_str(metadata).unwrap_or_default();
    metadata["type"].as_str().unwrap_or(DEFAULT_ENTITY_TYPE).to_owned()
}

/// Returns true if a frontmatter of the index marks a placeholder.
pub(crate) fn is_placeholder(metadata: &str) -> bool {
    metadata.contains("\"placeholder\":\"true\"")
}

/// Returns true if a frontmatter of the index marks the root of a graph.
pub(crate) fn is_root(metadata: &str) -> bool {
    metadata.contains("\"root\":\"true\"")
}

fn facts(path: &NotePath, text: &str, observations: &[Observation]) -> Vec<EntityObservation> {
    let mut seen = HashMap::<(Option<&str>, &str), usize>::new();
    let mut facts = Vec::with_capacity(observations.len());
    for observation in observations {
        let known = observation.meta.as_ref();
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
