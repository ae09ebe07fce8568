//! Reads the parts of a request: observations, weights and relations, with their problems.

use std::borrow::Cow;

use memoranda_core::abbreviate::abbreviate;
use memoranda_core::fact::{FactLimits, atomic_facts, sentence_count};
use memoranda_core::id::ObservationId;
use memoranda_core::note::{NewRelation, plain_text};
use memoranda_engine::graph::{
    NamedRelation, ObservationInput, ObservationWeight, RelationInput, normalize_name,
};
use serde_json::{Value, json};

use super::error::{GraphToolResult, refused};
use super::params::{ENTITY_RELATION, OBSERVATION};
use super::problem::ValidationProblem;
use super::read_options::time;
use super::thread::{AnswerShape, CallThread};
use crate::registry::{ArgsError, CallContext, ToolArgs};

/// Maximum length of an entity type or a relation type, in characters.
pub(super) const MAX_TYPE_CHARS: usize = 50;
/// Minimum length of an observation, in characters.
const MIN_OBSERVATION_CHARS: usize = 5;
/// Maximum length of quoted input, in characters.
const MAX_QUOTED_CHARS: usize = 500;

/// Renders the ends of a relation of a request.
pub(super) fn relation_input_json(relation: &RelationInput) -> Value {
    json!({ "targetEntity": relation.target, "relationType": relation.relation_type })
}

/// Checks an observation. Returns the problem, a suggestion and a brief form of the problem.
pub(super) fn check_observation(
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

/// Reads a relation with its problems; `None` if the item is not an object.
pub(super) fn read_relation(item: Value) -> (Option<RelationInput>, Vec<String>) {
    let Ok(args) = ToolArgs::read("a relation", ENTITY_RELATION, item) else {
        return (None, vec!["A relation must be an object.".to_owned()]);
    };
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
    let importance = args.optional_decimal("importance");
    let unknown = args.reject_unknown();
    problems.extend(importance.as_ref().err().map(ToString::to_string));
    problems.extend(unknown.err().map(|error| error.to_string()));
    let importance = importance.ok().flatten();
    (Some(RelationInput { target, relation_type, importance }), problems)
}

/// Returns the items of a list, also if it is a JSON text; `None` if it is not a list.
pub(super) fn items(args: &ToolArgs, name: &str) -> Option<Vec<Value>> {
    match args.value(name) {
        None => Some(Vec::new()),
        Some(Value::Array(list)) => Some(list.clone()),
        Some(Value::String(text)) => serde_json::from_str(text).ok(),
        Some(_) => None,
    }
}

/// The distinct observations of a request, and the problems of the others.
#[derive(Default)]
pub(super) struct ObservationInputs {
    pub(super) facts: Vec<ObservationInput>,
    pub(super) problems: Vec<String>,
}

impl ObservationInputs {
    /// Returns the observations; an error if there is a problem.
    pub(super) fn all(self) -> GraphToolResult<Vec<ObservationInput>> {
        if self.problems.is_empty() {
            Ok(self.facts)
        } else {
            Err(refused(self.problems.join(" ")))
        }
    }

    fn add(&mut self, name: &str, item: Value, thread: Option<&CallThread>) {
        let none = format!(
            "{name} must be a list of texts; {} is not a text.",
            quotable(&item.to_string())
        );
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
                let object = Value::Object(object);
                let Ok(args) = ToolArgs::read("an observation", OBSERVATION, object) else {
                    return;
                };
                let mut wrong = |problem: String| self.problems.push(problem);
                match read_weight(&args) {
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

/// Reads confidence and importance. Returns the problem if a value is invalid.
pub(super) fn read_weight(args: &ToolArgs) -> (ObservationWeight, Option<String>) {
    let (confidence, importance) =
        (args.optional_decimal("confidence"), args.optional_decimal("importance"));
    let wrong: Vec<String> = [&confidence, &importance]
        .iter()
        .filter_map(|r| r.as_ref().err())
        .map(ToString::to_string)
        .collect();
    let weight = ObservationWeight {
        confidence: confidence.ok().flatten(),
        importance: importance.ok().flatten(),
    };
    (weight, (!wrong.is_empty()).then(|| wrong.join(" ")))
}

/// Reads distinct observations: texts, or objects with a `content`.
pub(super) fn read_observations(
    args: &ToolArgs,
    name: &str,
    thread: Option<&CallThread>,
) -> ObservationInputs {
    let mut read = ObservationInputs::default();
    let list = match args.value(name) {
        None => return read,
        Some(Value::Array(list)) => list.clone(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(list)) => list,
            _ => vec![Value::String(text.clone())],
        },
        Some(_) => {
            read.problems.push(format!("{name} must be a list of texts."));
            return read;
        }
    };
    list.into_iter().for_each(|item| read.add(name, item, thread));
    read
}

/// Abbreviates a text for quoting.
pub(super) fn quotable(text: &str) -> Cow<'_, str> {
    abbreviate(text, MAX_QUOTED_CHARS)
}

/// Reads the id of an observation.
pub(super) fn observation_id(
    args: &ToolArgs,
    name: &str,
) -> Result<Option<ObservationId>, ArgsError> {
    let Some(text) = args.optional_text(name)? else { return Ok(None) };
    match ObservationId::parse(text.trim()) {
        Some(id) => Ok(Some(id)),
        None => Err(args.wrong(name, "an observation id, obs_…", &json!(text))),
    }
}

/// Checks an observation. The limits apply to threads; the reference server has none.
pub(super) fn check_thread_observation(
    call: &CallContext<'_>,
    thread: Option<&CallThread>,
    name: &str,
    content: &str,
) -> Option<ValidationProblem> {
    if content.is_empty() {
        let suggestion = "State one whole fact, or leave it out";
        return Some(ValidationProblem::of_entity(name, "An observation is empty.", suggestion));
    }
    let is_limited = thread.is_none_or(|thread| thread.shape == AnswerShape::Thread);
    let limits = call.settings.graph.limits;
    let wrong = is_limited.then(|| check_observation(content, limits)).flatten()?;
    Some(ValidationProblem::of_fact(name, content, wrong))
}

/// Reads confidence and importance.
pub(super) fn checked_weight(args: &ToolArgs) -> GraphToolResult<ObservationWeight> {
    Ok(ObservationWeight {
        confidence: args.optional_decimal("confidence")?,
        importance: args.optional_decimal("importance")?,
    })
}

/// Reads the name of an entity or a type, which must not be empty.
pub(super) fn required_name(args: &ToolArgs, parameter: &str) -> GraphToolResult<String> {
    let name = normalize_name(&args.text(parameter)?);
    if name.is_empty() {
        return Err(args.wrong(parameter, "a name", &json!("")).into());
    }
    Ok(name)
}

/// Reads the relations of a request of the reference tools.
pub(super) fn read_relations(
    args: &ToolArgs,
    thread: &CallThread,
) -> GraphToolResult<Vec<NamedRelation>> {
    let items = args.required_items("relations", "a list of relations")?;
    let mut relations: Vec<NamedRelation> = Vec::with_capacity(items.len());
    for args in &items {
        args.reject_unknown()?;
        if let Some(problem) = thread.thread_mismatch(args) {
            return Err(refused(problem));
        }
        let weight = checked_weight(args)?;
        let relation = NewRelation {
            relation_type: required_name(args, "relationType")?,
            target: required_name(args, "to")?,
            time: time(args, "timestamp")?,
            confidence: weight.confidence.filter(|confidence| *confidence < 1.0),
            importance: weight.importance,
        };
        relations.push(NamedRelation { from: required_name(args, "from")?, relation });
    }
    Ok(relations)
}
