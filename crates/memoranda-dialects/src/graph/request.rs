//! Entities as `save_memory` takes them: read whatever the caller sent, and every problem told at
//! once, each with what would be right.

use std::collections::HashSet;

use jiff::Timestamp;
use memoranda_core::fact::{
    COMMON_TYPES, FactLimits, atomic_facts, near_names, normal_type, quality_score, sentence_count,
};
use serde_json::{Map, Value, json};

use super::bench::Weight;
use super::error::GraphError;
use crate::args::Args;

pub(crate) const MAX_NAME: usize = 100;
pub(crate) const MAX_TYPE: usize = 50;
const MIN_OBSERVATION: usize = 5;
/// So many problems are told in words; the rest is counted.
const MAX_TOLD: usize = 30;

/// One entity of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    pub(crate) entity_type: String,
    pub(crate) observations: Vec<String>,
    pub(crate) relations: Vec<WantedRelation>,
    pub(crate) weight: Weight,
    pub(crate) time: Option<Timestamp>,
    pub(crate) is_root: bool,
}

/// One relation of a request.
#[derive(Clone, Debug)]
pub(crate) struct WantedRelation {
    pub(crate) target: String,
    pub(crate) relation_type: String,
    pub(crate) importance: Option<f64>,
}

impl WantedRelation {
    fn told(&self) -> Value {
        json!({ "targetEntity": self.target, "relationType": self.relation_type })
    }
}

/// Something that is wrong with a request.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) index: usize,
    pub(crate) entity: String,
    pub(crate) observation: Option<String>,
    pub(crate) relation: Option<Value>,
    pub(crate) problem: String,
    pub(crate) suggestion: String,
    /// The problem in one line that stands alone.
    pub(crate) brief: String,
}

impl Problem {
    fn told(&self) -> Value {
        let mut told = json!({ "error": "Validation failed", "entity": self.entity });
        if let Some(observation) = &self.observation {
            told["observation"] = json!(observation);
        }
        if let Some(relation) = &self.relation {
            told["relation"] = relation.clone();
        }
        told["problem"] = json!(self.problem);
        told["suggestion"] = json!(self.suggestion);
        told
    }
}

/// A request that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) entities: Vec<Wanted>,
    pub(crate) warnings: Vec<(usize, String)>,
    pub(crate) problems: Vec<Problem>,
}

impl Request {
    /// Reads and checks entities. Whether targets exist in the thread is asked of `exists`.
    pub(crate) fn read<E>(
        entities: Vec<Map<String, Value>>,
        limits: FactLimits,
        mut exists: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let mut request = Self::default();
        for (index, entity) in entities.into_iter().enumerate() {
            Reader { index, name: String::new(), request: &mut request }.entity(entity, limits);
        }
        let mut seen = HashSet::new();
        for (index, entity) in request.entities.iter().enumerate() {
            if !entity.name.is_empty() && !seen.insert(entity.name.clone()) {
                let problem = format!("Entity '{}' appears twice in this request.", entity.name);
                request.problems.push(Problem {
                    index,
                    entity: entity.name.clone(),
                    observation: None,
                    relation: None,
                    brief: problem.clone(),
                    problem,
                    suggestion: "Merge both into one entity.".into(),
                });
            }
        }
        let mut unknown = Vec::new();
        for (index, entity) in request.entities.iter().enumerate() {
            for relation in entity.relations.iter().filter(|relation| !relation.target.is_empty()) {
                if !seen.contains(&relation.target) && !exists(&relation.target)? {
                    unknown.push((index, entity.name.clone(), relation.clone()));
                }
            }
        }
        for (index, entity, relation) in unknown {
            request.problems.push(no_target(index, entity, &relation, &seen));
        }
        request.problems.sort_by_key(|problem| problem.index);
        Ok(request)
    }

    /// How complete the graph of this request is.
    pub(crate) fn quality(&self, limits: FactLimits) -> f64 {
        let relations = self.entities.iter().map(|entity| entity.relations.len()).sum();
        let observations = self.entities.iter().flat_map(|entity| &entity.observations);
        let lengths: Vec<usize> = observations.map(|text| text.chars().count()).collect();
        quality_score(self.entities.len(), relations, &lengths, limits.chars)
    }

    /// Adds names of the thread that are near the ones it does not know.
    pub(crate) fn suggest(&mut self, thread_names: &[String]) {
        self.problems.iter_mut().for_each(|problem| add_near(problem, thread_names));
    }

    /// Says all problems.
    pub(crate) fn refused(&self) -> GraphError {
        let problems = &self.problems;
        let count = problems.len();
        let mut text = format!(
            "Validation failed: {count} problem{}. Nothing was saved; mend {} and send the whole \
             request again.",
            if count == 1 { "" } else { "s" },
            if count == 1 { "it" } else { "them" },
        );
        for (n, problem) in problems.iter().take(MAX_TOLD).enumerate() {
            text.push_str(&format!("\n{}. Entity '{}'", n + 1, problem.entity));
            if let Some(observation) = &problem.observation {
                text.push_str(&format!(", observation \"{observation}\""));
            }
            if let Some(relation) = &problem.relation {
                text.push_str(&format!(", relation {relation}"));
            }
            text.push_str(&format!(": {}\n   Suggestion: {}", problem.problem, problem.suggestion));
        }
        if count > MAX_TOLD {
            text.push_str(&format!("\n… and {} more of the kind.", count - MAX_TOLD));
        }
        // The first problem's own fields stand at the top, where one problem is looked for.
        let mut structured = problems.first().map_or_else(|| json!({}), Problem::told);
        structured["success"] = json!(false);
        structured["created"] = json!({ "entities": 0, "relations": 0 });
        structured["warnings"] = json!(self.warnings());
        structured["quality_score"] = json!(0.0);
        structured["validation_errors"] =
            json!(problems.iter().map(|problem| problem.brief.clone()).collect::<Vec<_>>());
        structured["problems"] = json!(problems.iter().map(Problem::told).collect::<Vec<_>>());
        GraphError::Invalid { text, structured }
    }

    /// The advice, in order.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.iter().map(|(_, warning)| warning.clone()).collect()
    }
}

fn no_target(
    index: usize,
    entity: String,
    relation: &WantedRelation,
    names: &HashSet<String>,
) -> Problem {
    let near = near_names(&relation.target, names.iter().map(String::as_str), 3);
    let suggestion = match near.as_slice() {
        [] => {
            "targetEntity must reference another entity in the same save_memory call, or one that \
               exists in this thread"
                .to_owned()
        }
        near => format!("Did you mean {}?", quoted(near)),
    };
    let problem = format!("Target entity '{}' not found in request or thread", relation.target);
    Problem {
        index,
        brief: format!("Entity '{entity}': {problem}"),
        entity,
        observation: None,
        relation: Some(relation.told()),
        problem,
        suggestion,
    }
}

/// Names near ones of the thread where a target is unknown.
fn add_near(problem: &mut Problem, thread_names: &[String]) {
    let target = problem.relation.as_ref().and_then(|relation| relation["targetEntity"].as_str());
    let Some(target) = target.filter(|_| problem.suggestion.starts_with("targetEntity must"))
    else {
        return;
    };
    let near = near_names(target, thread_names.iter().map(String::as_str), 3);
    if !near.is_empty() {
        problem.suggestion = format!("Did you mean {}? {}", quoted(&near), problem.suggestion);
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(" or ")
}

/// Says what is wrong with a fact; `None` if nothing is: the problem, and a suggestion.
pub(crate) fn check_fact(text: &str, limits: FactLimits) -> Option<(String, String, String)> {
    let (chars, count) = (text.chars().count(), sentence_count(text));
    let most = format!("Max {} chars, {} sentences.", limits.chars, limits.sentences);
    let counted = format!("{chars} chars, {count} sentence{}", if count == 1 { "" } else { "s" });
    if chars < MIN_OBSERVATION {
        let problem = format!("Too short ({chars} chars). Min {MIN_OBSERVATION} chars.");
        let brief = format!("Observation too short ({chars} chars). Min {MIN_OBSERVATION}.");
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

/// Reads one entity.
struct Reader<'r> {
    index: usize,
    name: String,
    request: &'r mut Request,
}

impl Reader<'_> {
    fn entity(mut self, fields: Map<String, Value>, limits: FactLimits) {
        let args = Args::new("an entity", Value::Object(fields));
        let Ok(mut args) = args else { return };
        args.rename(&[("entityType", &["type", "entity_type"]), ("name", &["entityName"])]);
        self.name = args.optional_text("name").ok().flatten().unwrap_or_default().trim().to_owned();
        let mut wanted = Wanted { name: self.name.clone(), ..Wanted::default() };
        if self.name.is_empty() {
            self.name = format!("#{}", self.index + 1);
            self.problem("Missing name.", "Give the entity a name of 1 to 100 characters", None);
        }
        let chars = wanted.name.chars().count();
        if chars > MAX_NAME {
            let problem = format!("Name too long ({chars} chars). Max {MAX_NAME} chars.");
            self.problem(&problem, "Use a short name and move details into observations", None);
        }
        wanted.entity_type = self.entity_type(&args);
        wanted.observations = self.observations(&args, limits);
        wanted.is_root = match args.flag("root") {
            Ok(flag) => flag.unwrap_or(false),
            Err(error) => self.wrong(&error.to_string()).unwrap_or(false),
        };
        wanted.relations = self.relations(&args, wanted.is_root);
        for (name, place) in [
            ("confidence", &mut wanted.weight.confidence),
            ("importance", &mut wanted.weight.importance),
        ] {
            match args.float(name, 0.0, 1.0) {
                Ok(value) => *place = value,
                Err(error) => *place = self.wrong(&error.to_string()),
            }
        }
        wanted.time = match args.optional_text("timestamp").map(|time| time.map(|t| t.parse())) {
            Ok(None) => None,
            Ok(Some(Ok(time))) => Some(time),
            _ => self.wrong("timestamp must be ISO 8601, such as 2026-01-20T15:30:00Z"),
        };
        let known = [
            "name",
            "entityType",
            "observations",
            "relations",
            "confidence",
            "importance",
            "root",
            "timestamp",
            "agentThreadId",
        ];
        if let Err(error) = args.only(&known) {
            self.wrong::<()>(&error.to_string());
        }
        self.request.entities.push(wanted);
    }

    fn entity_type(&mut self, args: &Args) -> String {
        let given = args.optional_text("entityType").ok().flatten().unwrap_or_default();
        let common = COMMON_TYPES[..6].join(", ");
        if given.trim().is_empty() {
            let suggestion = format!("Give any type, e.g. one of {common}");
            self.problem("Missing entityType.", &suggestion, None);
            return String::new();
        }
        let chars = given.trim().chars().count();
        if chars > MAX_TYPE {
            let near = near_names(given.trim(), COMMON_TYPES.iter().copied(), 1);
            let near = near.first().copied().unwrap_or(&common);
            let problem = format!("entityType too long ({chars} chars). Max {MAX_TYPE} chars.");
            self.problem(&problem, &format!("Use a short type, e.g. {near}"), None);
        }
        let normal = normal_type(&given);
        let index = self.index;
        let named =
            normal.warnings.into_iter().map(|w| (index, format!("Entity '{}': {w}", self.name)));
        self.request.warnings.extend(named);
        normal.name
    }

    fn observations(&mut self, args: &Args, limits: FactLimits) -> Vec<String> {
        let texts = match fact_texts(args, "observations") {
            Ok(texts) => texts,
            Err(problem) => {
                self.problem(&problem, "observations is a list of short texts", None);
                return Vec::new();
            }
        };
        if texts.is_empty() {
            let problem = "Missing observations. Every entity must have at least 1 observation.";
            self.problem(problem, "Add a fact, e.g. observations: ['Uses Rust']", None);
        }
        for text in &texts {
            if let Some((problem, suggestion, brief)) = check_fact(text, limits) {
                self.request.problems.push(Problem {
                    index: self.index,
                    entity: self.name.clone(),
                    observation: Some(text.clone()),
                    relation: None,
                    problem,
                    suggestion,
                    brief: format!("Entity '{}': {brief}", self.name),
                });
            }
        }
        texts
    }

    fn relations(&mut self, args: &Args, is_root: bool) -> Vec<WantedRelation> {
        let objects = match args.objects("relations") {
            Ok(objects) => objects.unwrap_or_default(),
            Err(error) => return self.wrong(&error.to_string()).unwrap_or_default(),
        };
        if objects.is_empty() && !is_root {
            let problem = "Missing relations. Every entity must have at least 1 relation.";
            let suggestion = "Add relations to show connections: e.g., { targetEntity: 'Portfolio', \
                              relationType: 'updates' }; or root: true for the root of a graph";
            let brief = format!("Entity '{}' must have at least 1 relation", self.name);
            self.problem(problem, suggestion, Some(brief));
        }
        let mut relations: Vec<WantedRelation> = Vec::with_capacity(objects.len());
        for object in objects {
            let shown = Value::Object(object.clone());
            let Ok(mut args) = Args::new("a relation", Value::Object(object)) else { continue };
            args.rename(&[
                ("targetEntity", &["target", "to", "target_entity"]),
                ("relationType", &["type", "relation_type"]),
            ]);
            let text = |name| args.optional_text(name).ok().flatten().unwrap_or_default();
            let relation = WantedRelation {
                target: text("targetEntity").trim().to_owned(),
                relation_type: text("relationType").trim().to_owned(),
                importance: args.float("importance", 0.0, 1.0).ok().flatten(),
            };
            let chars = relation.relation_type.chars().count();
            let problem = if relation.target.is_empty() {
                Some("Missing targetEntity.".to_owned())
            } else if relation.relation_type.is_empty() {
                Some("Missing relationType.".to_owned())
            } else if chars > MAX_TYPE {
                Some(format!("relationType too long ({chars} chars). Max {MAX_TYPE} chars."))
            } else if let Err(error) = args.float("importance", 0.0, 1.0) {
                Some(error.to_string())
            } else {
                let known = ["targetEntity", "relationType", "importance"];
                args.only(&known).err().map(|error| error.to_string())
            };
            if let Some(problem) = problem {
                self.request.problems.push(Problem {
                    index: self.index,
                    entity: self.name.clone(),
                    observation: None,
                    relation: Some(shown),
                    brief: format!("Entity '{}': {problem}", self.name),
                    problem,
                    suggestion:
                        "A relation is { targetEntity: 'Name', relationType: 'uses' }, with \
                                 an importance from 0 to 1 if you like"
                            .into(),
                });
            }
            let same = |other: &WantedRelation| {
                other.target == relation.target && other.relation_type == relation.relation_type
            };
            if !relations.iter().any(same) {
                relations.push(relation);
            }
        }
        relations
    }

    fn wrong<T>(&mut self, problem: &str) -> Option<T> {
        self.problem(problem, "Correct or leave out this field", None);
        None
    }

    fn problem(&mut self, problem: &str, suggestion: &str, brief: Option<String>) {
        self.request.problems.push(Problem {
            index: self.index,
            entity: self.name.clone(),
            observation: None,
            relation: None,
            problem: problem.to_owned(),
            suggestion: suggestion.to_owned(),
            brief: brief.unwrap_or_else(|| format!("Entity '{}': {problem}", self.name)),
        });
    }
}

/// Facts as texts or as objects with a `content`; each once.
pub(crate) fn fact_texts(args: &Args, name: &str) -> Result<Vec<String>, String> {
    let list = match args.value(name) {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list.clone(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(list)) => list,
            _ => vec![Value::String(text.clone())],
        },
        Some(_) => return Err(format!("{name} must be a list of texts.")),
    };
    let mut texts: Vec<String> = Vec::with_capacity(list.len());
    for item in list {
        let text = match &item {
            Value::String(text) => text.trim().to_owned(),
            Value::Object(object) if object.get("content").is_some_and(Value::is_string) => {
                object["content"].as_str().unwrap_or_default().trim().to_owned()
            }
            other => return Err(format!("{name} must be a list of texts; {other} is none.")),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    Ok(texts)
}
