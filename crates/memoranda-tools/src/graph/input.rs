//! The parts of a request: an entity, its facts and relations, and what is wrong with each.

use std::borrow::Cow;

use jiff::Timestamp;
use memoranda_core::fact::{FactLimits, atomic_facts, sentence_count};
use memoranda_core::note::plain_text;
use serde_json::{Value, json};

use super::entity::normalize_name;
use super::error::GraphError;
use super::load::time;
use super::thread::GraphThread;
use super::transaction::ObservationWeight;
use crate::registry::ToolArgs;

pub(crate) const MAX_TYPE_CHARS: usize = 50;
const MIN_OBSERVATION_CHARS: usize = 5;
/// So much of what was sent is quoted back.
const MAX_QUOTED_CHARS: usize = 500;

/// One entity of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntityInput {
    pub(crate) name: String,
    pub(crate) entity_type: String,
    pub(crate) observations: Vec<ObservationInput>,
    pub(crate) relations: Vec<RelationInput>,
    pub(crate) weight: ObservationWeight,
    pub(crate) time: Option<Timestamp>,
    pub(crate) is_root: bool,
}

/// One relation of a request.
#[derive(Clone, Debug)]
pub(crate) struct RelationInput {
    pub(crate) target: String,
    pub(crate) relation_type: String,
    pub(crate) importance: Option<f64>,
}

impl RelationInput {
    pub(super) fn to_json(&self) -> Value {
        json!({ "targetEntity": self.target, "relationType": self.relation_type })
    }
}

/// Says what is wrong with a fact; `None` if nothing is: the problem, and a suggestion.
pub(crate) fn check_observation(
    text: &str,
    limits: FactLimits,
) -> Option<(String, String, String)> {
    let (chars, count) = (text.chars().count(), sentence_count(text));
    let most = format!("Max {} chars, {} sentences.", limits.chars, limits.sentences);
    let counted = format!("{chars} chars, {count} sentence{}", if count == 1 { "" } else { "s" });
    if chars < MIN_OBSERVATION_CHARS {
        let problem = format!("Too short ({chars} chars). Min {MIN_OBSERVATION_CHARS} chars.");
        let brief = format!("Observation too short ({chars} chars). Min {MIN_OBSERVATION_CHARS}.");
        return Some((problem, "State one whole fact, e.g. 'Uses Rust'".into(), brief));
    }
    let (problem, brief) = if chars > limits.chars {
        let brief = format!(
            "Observation too long ({chars} chars). Max {}. Split into multiple observations.",
            limits.chars
        );
        (format!("Too long ({counted}). {most}"), brief)
    } else if count > limits.sentences {
        let brief = format!(
            "Too many sentences ({count}). Max {}. One fact per observation.",
            limits.sentences
        );
        (format!("Too many sentences ({counted}). {most}"), brief)
    } else {
        return None;
    };
    let facts = atomic_facts(text, limits);
    let suggestion = if facts.is_empty() {
        "Split into several observations of one fact each".to_owned()
    } else {
        let listed: Vec<String> =
            facts.iter().enumerate().map(|(n, fact)| format!("{}) '{fact}'", n + 1)).collect();
        format!("Split into {} observations: {}", facts.len(), listed.join(", "))
    };
    Some((problem, suggestion, brief))
}

/// Reads a relation, and everything that is wrong with it; `None` if it names nothing at all.
pub(super) fn read_relation(item: Value) -> (Option<RelationInput>, Vec<String>) {
    let Ok(mut args) = ToolArgs::new("a relation", item) else {
        return (None, vec!["A relation must be an object.".to_owned()]);
    };
    args.rename(&[
        ("targetEntity", &["target", "to", "target_entity"]),
        ("relationType", &["type", "relation_type"]),
    ]);
    let mut problems = Vec::new();
    let mut text = |name: &str| match args.optional_text(name) {
        Ok(text) => {
            let text = normalize_name(&text.unwrap_or_default());
            if text.is_empty() {
                problems.push(format!("Missing {name}."));
            }
            text
        }
        Err(error) => {
            problems.push(error.to_string());
            String::new()
        }
    };
    let (target, relation_type) = (text("targetEntity"), text("relationType"));
    let chars = relation_type.chars().count();
    if chars > MAX_TYPE_CHARS {
        problems
            .push(format!("relationType too long ({chars} chars). Max {MAX_TYPE_CHARS} chars."));
    }
    let importance = args.float("importance", 0.0, 1.0);
    let unknown = args.only(&["targetEntity", "relationType", "importance"]);
    problems.extend(importance.as_ref().err().map(ToString::to_string));
    problems.extend(unknown.err().map(|error| error.to_string()));
    let importance = importance.ok().flatten();
    (Some(RelationInput { target, relation_type, importance }), problems)
}

/// The items of a list, also of one that was sent as a text; `None` if it is no list.
pub(crate) fn items(args: &ToolArgs, name: &str) -> Option<Vec<Value>> {
    match args.value(name) {
        None => Some(Vec::new()),
        Some(Value::Array(list)) => Some(list.clone()),
        Some(Value::String(text)) => serde_json::from_str(text).ok(),
        Some(_) => None,
    }
}

/// A fact as a request gives it: a text, or an object that says more of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ObservationInput {
    pub(crate) content: String,
    pub(crate) weight: ObservationWeight,
    pub(crate) time: Option<Timestamp>,
}

/// Facts of a request, each once, and what is wrong with the rest.
#[derive(Default)]
pub(crate) struct ObservationInputs {
    pub(crate) facts: Vec<ObservationInput>,
    pub(crate) problems: Vec<String>,
}

impl ObservationInputs {
    /// The facts, if nothing is wrong.
    pub(crate) fn all(self) -> Result<Vec<ObservationInput>, GraphError> {
        if self.problems.is_empty() {
            Ok(self.facts)
        } else {
            Err(GraphError::Refused(self.problems.join(" ")))
        }
    }

    fn add(&mut self, name: &str, item: Value, thread: Option<&GraphThread>) {
        let none =
            format!("{name} must be a list of texts; {} is none.", clipped(&item.to_string()));
        let mut fact = ObservationInput {
            content: String::new(),
            weight: ObservationWeight::default(),
            time: None,
        };
        match item {
            Value::String(text) => fact.content = plain_text(&text),
            Value::Object(object) => {
                let Some(Value::String(text)) = object.get("content") else {
                    self.problems.push(none);
                    return;
                };
                fact.content = plain_text(text);
                let Ok(args) = ToolArgs::new("an observation", Value::Object(object)) else {
                    return;
                };
                let mut wrong = |problem: String| self.problems.push(problem);
                match ObservationWeight::read(&args) {
                    (weight, None) => fact.weight = weight,
                    (_, Some(problem)) => wrong(problem),
                }
                match time(&args, "timestamp") {
                    Ok(time) => fact.time = time,
                    Err(error) => wrong(error.to_string()),
                }
                if let Some(problem) = thread.and_then(|thread| thread.thread_mismatch(&args)) {
                    wrong(problem);
                }
            }
            _ => {
                self.problems.push(none);
                return;
            }
        }
        if self.facts.iter().all(|other| other.content != fact.content) {
            self.facts.push(fact);
        }
    }
}

impl ObservationWeight {
    /// What is said of confidence and importance, and what is wrong with it.
    pub(crate) fn read(args: &ToolArgs) -> (Self, Option<String>) {
        let (confidence, importance) =
            (args.float("confidence", 0.0, 1.0), args.float("importance", 0.0, 1.0));
        let wrong: Vec<String> = [&confidence, &importance]
            .iter()
            .filter_map(|r| r.as_ref().err())
            .map(ToString::to_string)
            .collect();
        let weight =
            Self { confidence: confidence.ok().flatten(), importance: importance.ok().flatten() };
        (weight, (!wrong.is_empty()).then(|| wrong.join(" ")))
    }

    /// This, and where nothing was said the other.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            confidence: self.confidence.or(other.confidence),
            importance: self.importance.or(other.importance),
        }
    }
}

/// Facts as texts or as objects with a `content`, as they are kept; each once.
pub(crate) fn read_observations(
    args: &ToolArgs,
    name: &str,
    thread: Option<&GraphThread>,
) -> ObservationInputs {
    let mut said = ObservationInputs::default();
    let list = match args.value(name) {
        None => return said,
        Some(Value::Array(list)) => list.clone(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(list)) => list,
            _ => vec![Value::String(text.clone())],
        },
        Some(_) => {
            said.problems.push(format!("{name} must be a list of texts."));
            return said;
        }
    };
    list.into_iter().for_each(|item| said.add(name, item, thread));
    said
}

/// As much of a text as is quoted back.
pub(super) fn clipped(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((cut, _)) => Cow::Owned(format!("{}…", text.get(..cut).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}
