//! Reads the entities of `save_memory` with all their problems.

use std::collections::{HashMap, HashSet};

use memoranda_core::fact::{
    COMMON_ENTITY_TYPES, FactLimits, normalize_entity_type, quality_score, similar_names,
};
use memoranda_engine::graph::{
    EntityInput, ObservationInput, RelationInput, entity_exists, normalize_name, thread_names,
};
use serde_json::{Value, json};

use super::error::GraphToolResult;
use super::input::{
    MAX_TYPE_CHARS, ObservationInputs, check_observation, items, quotable, read_observations,
    read_relation, relation_input_json,
};
use super::params::ENTITY;
use super::problem::{ValidationProblem, refusal, validation_error};
use super::read_options::time;
use super::thread::CallThread;
use crate::registry::{ArgsError, CallContext, ToolArgs, ToolError};

/// Maximum length of a name, in characters.
pub(super) const MAX_NAME_CHARS: usize = 100;
/// Maximum number of listed warnings. The others are counted.
const MAX_WARNINGS: usize = 30;

/// A parsed request.
#[derive(Clone, Debug, Default)]
pub(super) struct SaveRequest {
    pub(super) entities: Vec<EntityInput>,
    pub(super) warnings: Vec<(usize, String)>,
    pub(super) problems: Vec<ValidationProblem>,
}

impl SaveRequest {
    /// Reads and checks a request. Problems of the thread or of parameters do not hide problems of
    /// entities.
    pub(super) fn read(
        call: &CallContext<'_>,
        args: &ToolArgs,
        thread: Result<CallThread, ArgsError>,
    ) -> GraphToolResult<(CallThread, Self)> {
        let mut problems = Vec::new();
        let thread = thread.map_err(|error| {
            let suggestion = "Give the conversation or project, e.g. threadId: 'portfolio-2026'";
            problems.push(ValidationProblem::of_request(error, suggestion));
        });
        if let Err(error) = args.reject_unknown() {
            problems.push(ValidationProblem::of_request(error, "Leave it out"));
        }
        let entities = match items(args, "entities") {
            Some(entities) if !entities.is_empty() => entities,
            found => {
                let given = args.value("entities").cloned().unwrap_or_default();
                let error = match found {
                    Some(_) => args.missing("entities", "a list of at least one entity"),
                    None => args.wrong("entities", "a list of entities", &given),
                };
                let suggestion = "An entity is { name, entityType, observations, relations }";
                problems.push(ValidationProblem::of_request(error, suggestion));
                Vec::new()
            }
        };
        let thread = thread.ok();
        let limits = call.settings.graph.limits;
        let mut request = Self::read_entities(entities, thread.as_ref(), limits, |name| {
            // Without a thread, targets cannot be checked.
            let Some(thread) = &thread else { return Ok(true) };
            entity_exists(call.memory, thread, name)
        })?;
        problems.append(&mut request.problems);
        request.problems = problems;
        let Some(thread) = thread else { return Err(request.refused()) };
        if request.problems.iter().any(|problem| problem.unknown.is_some()) {
            request.suggest(&thread_names(call.memory, &thread)?);
        }
        Ok((thread, request))
    }

    /// Reads and checks entities. `exists` returns true if the thread has an entity of a name.
    fn read_entities<E>(
        entities: Vec<Value>,
        thread: Option<&CallThread>,
        limits: FactLimits,
        mut exists: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let mut request = Self::default();
        for (index, entity) in entities.into_iter().enumerate() {
            let name = format!("#{}", index + 1);
            let reader = EntityReader { index, name, thread, request: &mut request };
            reader.item(entity, limits);
        }
        let mut seen = HashSet::new();
        for (index, entity) in request.entities.iter().enumerate() {
            if !entity.name.is_empty() && !seen.insert(entity.name.clone()) {
                let problem = format!("Entity '{}' appears twice in this request.", entity.name);
                let merge = "Merge both into one entity.";
                let twice = ValidationProblem::of_entity(&entity.name, &problem, merge).at(index);
                request.problems.push(ValidationProblem { brief: problem, ..twice });
            }
        }
        let mut unknown = Vec::new();
        let mut asked = HashMap::new();
        for (index, entity) in request.entities.iter().enumerate() {
            for relation in entity.relations.iter().filter(|relation| !relation.target.is_empty()) {
                let target = relation.target.as_str();
                if seen.contains(target) {
                    continue;
                }
                let is_there = match asked.get(target) {
                    Some(is_there) => *is_there,
                    None => *asked.entry(target).or_insert(exists(target)?),
                };
                if !is_there {
                    unknown.push((index, entity.name.clone(), relation.clone()));
                }
            }
        }
        for (index, entity, relation) in unknown {
            request.problems.push(no_target(index, &entity, &relation));
        }
        request.problems.sort_by_key(|problem| problem.index);
        Ok(request)
    }

    /// Returns the quality score of the request.
    pub(super) fn quality(&self, limits: FactLimits) -> f64 {
        let relations = self.entities.iter().map(|entity| entity.relations.len()).sum();
        let observations = self.entities.iter().flat_map(|entity| &entity.observations);
        let lengths: Vec<usize> = observations.map(|fact| fact.content.chars().count()).collect();
        quality_score(self.entities.len(), relations, &lengths, limits.chars)
    }

    /// Adds similar names to the problems about unknown names: first names of the thread, then names of
    /// the request, except the source of the relation.
    pub(super) fn suggest(&mut self, thread_names: &[String]) {
        let own: Vec<String> = self.entities.iter().map(|entity| entity.name.clone()).collect();
        for problem in &mut self.problems {
            let Some(target) = &problem.unknown else { continue };
            let others = |names: &'_ [String]| -> Vec<String> {
                let names = names.iter().map(String::as_str);
                let near = similar_names(target, names.filter(|name| *name != problem.entity), 3);
                near.into_iter().map(str::to_owned).collect()
            };
            let mut near = others(thread_names);
            near.extend(others(&own).into_iter().filter(|name| !thread_names.contains(name)));
            near.truncate(3);
            if !near.is_empty() {
                problem.suggestion = format!("Did you mean {}? {TARGET_RULE}", quoted(&near));
            }
        }
    }

    /// Renders all problems.
    pub(super) fn refused(&self) -> ToolError {
        let (text, mut structured) = refusal(&self.problems);
        structured["created"] = json!({ "entities": 0, "relations": 0 });
        structured["warnings"] = json!(self.warnings());
        structured["quality_score"] = json!(0.0);
        validation_error(text, structured)
    }

    /// Returns the warnings in order, at most [`MAX_WARNINGS`].
    pub(super) fn warnings(&self) -> Vec<String> {
        let rendered = self.warnings.iter().take(MAX_WARNINGS).map(|(_, warning)| warning.clone());
        let left = self.warnings.len().saturating_sub(MAX_WARNINGS);
        rendered.chain((left > 0).then(|| format!("… and {left} more of the kind"))).collect()
    }
}

/// Requirement for the target of a relation.
const TARGET_RULE: &str = "targetEntity must reference another entity in the same save_memory call, or \
                       one that exists in this thread";

fn no_target(index: usize, entity: &str, relation: &RelationInput) -> ValidationProblem {
    let target = quotable(&relation.target);
    let problem = format!("Target entity '{target}' not found in request or thread");
    ValidationProblem {
        relation: Some(relation_input_json(relation)),
        unknown: Some(relation.target.clone()),
        ..ValidationProblem::of_entity(entity, problem, TARGET_RULE).at(index)
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(" or ")
}

/// Reads one entity of a request.
struct EntityReader<'r> {
    index: usize,
    name: String,
    thread: Option<&'r CallThread>,
    request: &'r mut SaveRequest,
}

impl EntityReader<'_> {
    fn item(mut self, item: Value, limits: FactLimits) {
        match ToolArgs::read("an entity", ENTITY, item) {
            Ok(args) => self.entity(&args, limits),
            Err(_) => {
                let suggestion = "An entity is { name, entityType, observations, relations }";
                self.problem("Must be an object.", suggestion, None);
                self.request.entities.push(EntityInput::default());
            }
        }
    }

    fn entity(mut self, args: &ToolArgs, limits: FactLimits) {
        let name = normalize_name(&args.optional_text("name").ok().flatten().unwrap_or_default());
        let mut wanted = EntityInput { name, ..EntityInput::default() };
        if !wanted.name.is_empty() {
            self.name = quotable(&wanted.name).into_owned();
        } else {
            self.problem("Missing name.", "Give the entity a name of 1 to 100 characters", None);
        }
        let chars = wanted.name.chars().count();
        if chars > MAX_NAME_CHARS {
            let problem = format!("Name too long ({chars} chars). Max {MAX_NAME_CHARS} chars.");
            self.problem(&problem, "Use a short name and move details into observations", None);
        }
        wanted.entity_type = self.entity_type(args);
        wanted.observations = self.observations(args, limits);
        wanted.is_root = match args.flag("root") {
            Ok(flag) => flag.unwrap_or(false),
            Err(error) => self.wrong(&error.to_string()).unwrap_or(false),
        };
        wanted.relations = self.relations(args, &wanted);
        for (name, place) in [
            ("confidence", &mut wanted.weight.confidence),
            ("importance", &mut wanted.weight.importance),
        ] {
            match args.optional_decimal(name) {
                Ok(value) => *place = value,
                Err(error) => *place = self.wrong(&error.to_string()),
            }
        }
        wanted.time = match time(args, "timestamp") {
            Ok(time) => time,
            Err(error) => self.wrong(&error.to_string()),
        };
        if let Err(error) = args.reject_unknown() {
            self.wrong::<()>(&error.to_string());
        }
        if let Some(problem) = self.thread.and_then(|thread| thread.thread_mismatch(args)) {
            self.wrong::<()>(&problem);
        }
        self.request.entities.push(wanted);
    }

    fn entity_type(&mut self, args: &ToolArgs) -> String {
        let given = args.optional_text("entityType").ok().flatten().unwrap_or_default();
        let common = COMMON_ENTITY_TYPES[..6].join(", ");
        if given.trim().is_empty() {
            let suggestion = format!("Give any type, e.g. one of {common}");
            self.problem("Missing entityType.", &suggestion, None);
            return String::new();
        }
        let chars = given.trim().chars().count();
        if chars > MAX_TYPE_CHARS {
            let near = similar_names(given.trim(), COMMON_ENTITY_TYPES.iter().copied(), 1);
            let near = near.first().copied().unwrap_or(&common);
            let problem =
                format!("entityType too long ({chars} chars). Max {MAX_TYPE_CHARS} chars.");
            self.problem(&problem, &format!("Use a short type, e.g. {near}"), None);
        }
        let normal = normalize_entity_type(&given);
        let index = self.index;
        let named =
            normal.warnings.into_iter().map(|w| (index, format!("Entity '{}': {w}", self.name)));
        self.request.warnings.extend(named);
        normal.name
    }

    fn observations(&mut self, args: &ToolArgs, limits: FactLimits) -> Vec<ObservationInput> {
        let ObservationInputs { facts, problems } =
            read_observations(args, "observations", self.thread);
        for problem in &problems {
            self.problem(problem, "observations is a list of short texts", None);
        }
        if facts.is_empty() && problems.is_empty() {
            let problem = "Missing observations. Every entity must have at least 1 observation.";
            self.problem(problem, "Add a fact, e.g. observations: ['Uses Rust']", None);
        }
        for fact in &facts {
            if let Some(wrong) = check_observation(&fact.content, limits) {
                let problem = ValidationProblem::of_fact(&self.name, &fact.content, wrong);
                self.request.problems.push(problem.at(self.index));
            }
        }
        facts
    }

    fn relations(&mut self, args: &ToolArgs, of: &EntityInput) -> Vec<RelationInput> {
        let Some(items) = items(args, "relations") else {
            let found = args.value("relations").cloned().unwrap_or_default();
            let error = args.wrong("relations", "a list of objects", &found);
            return self.wrong(&error.to_string()).unwrap_or_default();
        };
        let example = "e.g., { targetEntity: 'Portfolio', relationType: 'updates' }; or root: true \
                       for the root of a graph";
        if items.is_empty() && !of.is_root {
            let problem = "Missing relations. Every entity must have at least 1 relation.";
            let suggestion = format!("Add relations to show connections: {example}");
            let brief = format!("Entity '{}' must have at least 1 relation", self.name);
            self.problem(problem, &suggestion, Some(brief));
        }
        let mut relations: Vec<RelationInput> = Vec::with_capacity(items.len());
        for item in items {
            let (relation, problems) = read_relation(item.clone());
            for problem in problems {
                let right = "A relation is { targetEntity: 'Name', relationType: 'uses' }, with an \
                             importance from 0 to 1 if you like";
                let problem =
                    ValidationProblem::of_entity(&self.name, problem, right).at(self.index);
                let relation = Some(item.clone());
                self.request.problems.push(ValidationProblem { relation, ..problem });
            }
            let Some(relation) = relation else { continue };
            let same = |other: &RelationInput| {
                other.target == relation.target && other.relation_type == relation.relation_type
            };
            if !relations.iter().any(same) {
                relations.push(relation);
            }
        }
        let is_thread_note = |relation: &RelationInput| relation.target == of.name;
        if !of.is_root && !relations.is_empty() && relations.iter().all(is_thread_note) {
            let problem = "Related to itself alone. Every entity must have at least 1 relation to \
                           another entity.";
            let suggestion = format!("Add a relation to another entity: {example}");
            let brief =
                format!("Entity '{}' must have at least 1 relation to another entity", self.name);
            self.problem(problem, &suggestion, Some(brief));
        }
        relations
    }

    fn wrong<T>(&mut self, problem: &str) -> Option<T> {
        self.problem(problem, "Correct or leave out this field", None);
        None
    }

    fn problem(&mut self, problem: &str, suggestion: &str, brief: Option<String>) {
        let mut found =
            ValidationProblem::of_entity(&self.name, problem, suggestion).at(self.index);
        if let Some(brief) = brief {
            found.brief = brief;
        }
        self.request.problems.push(found);
    }
}
