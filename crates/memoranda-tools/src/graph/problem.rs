//! Problems of a request, collected so that one answer contains all of them with suggestions.

use std::fmt::Display;

use memoranda_engine::graph::{ObservationWeight, require_entity};
use serde_json::{Value, json};

use super::error::{GraphToolResult, UNKNOWN_ENTITY, VALIDATION_FAILED, refused};
use super::input::{quotable, read_weight};
use super::thread::CallThread;
use crate::registry::{CallContext, ToolArgs, ToolError};

/// Maximum number of listed problems. The others are counted.
const MAX_LISTED: usize = 30;
/// Suggestion for an invalid field.
const CORRECT_FIELD: &str = "Correct this field; one that is not required may be left out";

/// A problem of a request.
#[derive(Clone, Debug)]
pub(super) struct ValidationProblem {
    /// Number of the entity; `None` if the request itself is invalid.
    pub(super) index: Option<usize>,
    /// Name of the entity; empty if the request itself is invalid.
    pub(super) entity: String,
    pub(super) observation: Option<String>,
    pub(super) relation: Option<Value>,
    pub(super) problem: String,
    pub(super) suggestion: String,
    /// The problem in one line without context.
    pub(super) brief: String,
    /// The unknown name, if that is the problem.
    pub(super) unknown: Option<String>,
}

impl ValidationProblem {
    /// Returns a problem of the request itself.
    pub(super) fn of_request(problem: impl Display, suggestion: &str) -> Self {
        let problem = problem.to_string();
        Self {
            index: None,
            entity: String::new(),
            observation: None,
            relation: None,
            brief: problem.clone(),
            problem,
            suggestion: suggestion.to_owned(),
            unknown: None,
        }
    }

    /// Returns a problem of an entity.
    pub(super) fn of_entity(entity: &str, problem: impl Display, suggestion: &str) -> Self {
        let mut found = Self::of_request(problem, suggestion);
        found.brief = format!("Entity '{entity}': {}", found.problem);
        found.entity = entity.to_owned();
        found
    }

    /// Returns a problem of an observation: the problem, a suggestion and a brief form.
    pub(super) fn of_fact(entity: &str, fact: &str, wrong: (String, String, String)) -> Self {
        let (problem, suggestion, brief) = wrong;
        let brief = format!("Entity '{entity}': {brief}");
        let observation = Some(fact.to_owned());
        Self { observation, brief, ..Self::of_entity(entity, problem, &suggestion) }
    }

    pub(super) fn at(self, index: usize) -> Self {
        Self { index: Some(index), ..self }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut rendered = json!({ "error": "Validation failed" });
        if !self.entity.is_empty() {
            rendered["entity"] = json!(self.entity);
        }
        if let Some(observation) = &self.observation {
            rendered["observation"] = json!(quotable(observation));
        }
        if let Some(relation) = &self.relation {
            rendered["relation"] = relation.clone();
        }
        rendered["problem"] = json!(self.problem);
        rendered["suggestion"] = json!(self.suggestion);
        rendered
    }
}

/// Returns the value, or adds the error to the problems.
pub(super) fn collect_problem<T, E: Display>(
    read: Result<T, E>,
    entity: &str,
    problems: &mut Vec<ValidationProblem>,
) -> Option<T> {
    let correct = |error: E| match entity {
        "" => ValidationProblem::of_request(error, CORRECT_FIELD),
        entity => ValidationProblem::of_entity(entity, error, CORRECT_FIELD),
    };
    read.map_err(|error| problems.push(correct(error))).ok()
}

/// Returns an error with all problems, if there are any.
pub(super) fn refuse_if_any(problems: &[ValidationProblem]) -> GraphToolResult<()> {
    if problems.is_empty() {
        return Ok(());
    }
    let (text, structured) = refusal(problems);
    Err(validation_error(text, structured))
}

/// Returns the error of a request with problems.
pub(super) fn validation_error(text: String, structured: Value) -> ToolError {
    ToolError::new(VALIDATION_FAILED, text).with_missing_details(structured)
}

/// Renders all problems as text and as structure.
pub(super) fn refusal(problems: &[ValidationProblem]) -> (String, Value) {
    let count = problems.len();
    let mut text = format!(
        "Validation failed: {count} problem{}. Nothing was saved; mend {} and send the whole \
         request again.",
        if count == 1 { "" } else { "s" },
        if count == 1 { "it" } else { "them" },
    );
    for (n, problem) in problems.iter().take(MAX_LISTED).enumerate() {
        text.push_str(&format!("\n{}. ", n + 1));
        if !problem.entity.is_empty() {
            text.push_str(&format!("Entity '{}'", problem.entity));
            if let Some(observation) = &problem.observation {
                text.push_str(&format!(", observation \"{}\"", quotable(observation)));
            }
            if let Some(relation) = &problem.relation {
                text.push_str(&format!(", relation {}", quotable(&relation.to_string())));
            }
            text.push_str(": ");
        }
        text.push_str(&format!("{}\n   Suggestion: {}", problem.problem, problem.suggestion));
    }
    // The fields of the first problem are at the top level, for clients that expect one problem.
    let mut structured = problems.first().map_or_else(|| json!({}), ValidationProblem::to_json);
    structured["success"] = json!(false);
    structured["problem_count"] = json!(count);
    let rendered = || problems.iter().take(MAX_LISTED);
    structured["validation_errors"] =
        json!(rendered().map(|problem| problem.brief.clone()).collect::<Vec<_>>());
    structured["problems"] = json!(rendered().map(ValidationProblem::to_json).collect::<Vec<_>>());
    if count > MAX_LISTED {
        text.push_str(&format!("\n… and {} more of the kind.", count - MAX_LISTED));
        let more = format!("{} more problems were counted but not listed.", count - MAX_LISTED);
        structured["truncated"] = json!(more);
    }
    (text, structured)
}

/// Returns one problem for each name that no entity has.
pub(super) fn unknown_names<'n>(
    call: &CallContext<'_>,
    thread: &CallThread,
    names: impl IntoIterator<Item = &'n str>,
) -> GraphToolResult<Vec<ValidationProblem>> {
    let mut problems: Vec<ValidationProblem> = Vec::new();
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        let required = require_entity(call.memory, thread, name);
        match required.map_err(|error| thread.explain(error)) {
            Ok(_) => {}
            Err(error) if error.code == UNKNOWN_ENTITY => {
                if problems.iter().all(|problem| problem.entity != name) {
                    let suggestion = "Name an entity that is there, or make it with save_memory";
                    problems.push(ValidationProblem::of_entity(name, error.message, suggestion));
                }
            }
            Err(other) => return Err(other),
        }
    }
    Ok(problems)
}

/// Reads confidence and importance and adds their problems.
pub(super) fn collect_weight(
    args: &ToolArgs,
    name: &str,
    problems: &mut Vec<ValidationProblem>,
) -> ObservationWeight {
    let (weight, wrong) = read_weight(args);
    collect_problem(wrong.map_or(Ok(()), Err), name, problems);
    weight
}

/// Returns the error for a call without a thread that has no other problem.
pub(super) fn missing_thread() -> ToolError {
    refused("The thread is not known.")
}
