//! What is wrong with a request: collected, so that all of it is told at once, each with what
//! would be right.

use std::fmt::Display;

use serde_json::{Value, json};

use super::error::GraphError;
use super::input::clipped;

/// So many problems are told; the rest is counted.
const MAX_LISTED: usize = 30;
/// What is said of a field that does not fit.
const CORRECT_FIELD: &str = "Correct this field; one that is not required may be left out";

/// Something that is wrong with a request.
#[derive(Clone, Debug)]
pub(crate) struct ValidationProblem {
    /// The number of the entity; `None` if the request itself is wrong.
    pub(crate) index: Option<usize>,
    /// The entity's name; empty if the request itself is wrong.
    pub(crate) entity: String,
    pub(crate) observation: Option<String>,
    pub(crate) relation: Option<Value>,
    pub(crate) problem: String,
    pub(crate) suggestion: String,
    /// The problem in one line that stands alone.
    pub(crate) brief: String,
    /// The name that nothing has, if that is the problem.
    pub(crate) unknown: Option<String>,
}

impl ValidationProblem {
    /// The request itself is wrong.
    pub(crate) fn of_request(problem: impl Display, suggestion: &str) -> Self {
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

    /// Something about an entity is wrong.
    pub(crate) fn of_entity(entity: &str, problem: impl Display, suggestion: &str) -> Self {
        let mut found = Self::of_request(problem, suggestion);
        found.brief = format!("Entity '{entity}': {}", found.problem);
        found.entity = entity.to_owned();
        found
    }

    /// A fact is not as it should be: the problem, what would be right, and both in short.
    pub(crate) fn of_fact(entity: &str, fact: &str, wrong: (String, String, String)) -> Self {
        let (problem, suggestion, brief) = wrong;
        let brief = format!("Entity '{entity}': {brief}");
        let observation = Some(fact.to_owned());
        Self { observation, brief, ..Self::of_entity(entity, problem, &suggestion) }
    }

    pub(crate) fn at(self, index: usize) -> Self {
        Self { index: Some(index), ..self }
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut rendered = json!({ "error": "Validation failed" });
        if !self.entity.is_empty() {
            rendered["entity"] = json!(self.entity);
        }
        if let Some(observation) = &self.observation {
            rendered["observation"] = json!(clipped(observation));
        }
        if let Some(relation) = &self.relation {
            rendered["relation"] = relation.clone();
        }
        rendered["problem"] = json!(self.problem);
        rendered["suggestion"] = json!(self.suggestion);
        rendered
    }
}

/// What was read, or what is wrong with it.
pub(crate) fn collect_problem<T, E: Display>(
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

/// Refuses a request if something is wrong with it.
pub(crate) fn refuse_if_any(problems: &[ValidationProblem]) -> Result<(), GraphError> {
    if problems.is_empty() {
        return Ok(());
    }
    let (text, structured) = refusal(problems);
    Err(GraphError::Invalid { text, structured })
}

/// All problems as text and as structure.
pub(crate) fn refusal(problems: &[ValidationProblem]) -> (String, Value) {
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
                text.push_str(&format!(", observation \"{}\"", clipped(observation)));
            }
            if let Some(relation) = &problem.relation {
                text.push_str(&format!(", relation {}", clipped(&relation.to_string())));
            }
            text.push_str(": ");
        }
        text.push_str(&format!("{}\n   Suggestion: {}", problem.problem, problem.suggestion));
    }
    // The first problem's own fields stand at the top, where one problem is looked for.
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
