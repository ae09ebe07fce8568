//! The error of a tool call: a code for programs, and a message with the next step for the model.

use memoranda_core::note::edit::EditError;
use memoranda_engine::{EngineError, NoteLocation, StoreError};
use serde_json::{Map, Value, json};

use super::arguments::ArgsError;
use super::tool::{CallContext, ToolResult};

/// Code of an error in the arguments.
pub(crate) const INVALID_ARGUMENTS: &str = "INVALID_ARGUMENTS";
/// Code of a name that no note has.
pub(crate) const NOTE_NOT_FOUND: &str = "NOTE_NOT_FOUND";

/// Reason why a call failed. The caller can correct it, and nothing was changed.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolError {
    /// Code for programs, such as `NOTE_NOT_FOUND`.
    pub code: &'static str,
    /// Message for the model, with the next step.
    pub message: String,
    /// Further fields of the structured result.
    pub details: Map<String, Value>,
}

impl ToolError {
    /// Creates an error without details.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Map::new() }
    }

    /// Adds a field to the structured result.
    #[must_use]
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Adds the fields of an object that the error does not have yet.
    #[must_use]
    pub fn with_missing_details(mut self, fields: Value) -> Self {
        if let Value::Object(fields) = fields {
            for (key, value) in fields {
                self.details.entry(key).or_insert(value);
            }
        }
        self
    }

    /// Renders the message as the text, and as the field `error` of the structured result.
    pub fn render_message(_: &CallContext<'_>, error: Self) -> ToolResult {
        let structured = json!({ "error": error.message, "is_error": true });
        ToolResult { text: error.message, structured, is_error: true }
    }

    /// Renders the message as the text; the structured result has the code as `error`, the message,
    /// and the details.
    pub fn render_code(_: &CallContext<'_>, error: Self) -> ToolResult {
        let mut fields = error.details;
        fields.insert("error".to_owned(), json!(error.code));
        fields.insert("message".to_owned(), json!(error.message));
        fields.insert("is_error".to_owned(), json!(true));
        ToolResult { text: error.message, structured: Value::Object(fields), is_error: true }
    }
}

/// Error of a server that is restricted to one project.
pub(crate) fn project_constrained(only: &str) -> ToolError {
    let text = format!("This server works in the project {only} only; leave `project` out.");
    ToolError::new("PROJECT_CONSTRAINED", text)
}

impl From<ArgsError> for ToolError {
    fn from(error: ArgsError) -> Self {
        Self::new(INVALID_ARGUMENTS, error.to_string())
    }
}

impl From<EngineError> for ToolError {
    fn from(error: EngineError) -> Self {
        let message = sentence(&error.to_string());
        let named = |places: &[NoteLocation]| {
            places.iter().map(NoteLocation::to_string).collect::<Vec<_>>()
        };
        match error {
            EngineError::NotFound { suggestions, .. } => {
                let message = format!("{message} search_notes finds notes by their words.");
                Self::new(NOTE_NOT_FOUND, message).with_detail("suggestions", named(&suggestions))
            }
            EngineError::Ambiguous { candidates, .. } => Self::new("AMBIGUOUS_IDENTIFIER", message)
                .with_detail("candidates", named(&candidates)),
            EngineError::Path(_) => Self::new("SECURITY_VALIDATION_ERROR", message),
            EngineError::Edit { place, error: EditError::WrongCount { expected, lines } } => {
                wrong_count(&place, expected, &lines)
            }
            EngineError::Edit { .. } => Self::new("EDIT_FAILED", message),
            EngineError::Ignored { .. } => Self::new("PATH_IGNORED", message),
            EngineError::NotThen { .. } => Self::new("NOT_THERE_THEN", message),
            EngineError::NotText(_) => Self::new("NOT_TEXT", message),
            EngineError::Project(_) => Self::new("INVALID_PROJECT_NAME", message),
            EngineError::Store(StoreError::NoProject { .. }) => {
                let message = format!(
                    "{message} create_memory_project, where it is offered, or `memoranda project add` \
                     makes one. A repository is no project: it is named by project_id."
                );
                Self::new("PROJECT_NOT_FOUND", message)
            }
            EngineError::Store(StoreError::Twin { existing, .. }) => {
                Self::new("NOTE_ALREADY_EXISTS", message).with_detail("existing", existing)
            }
            EngineError::Store(StoreError::NoCommit(_) | StoreError::AmbiguousCommit { .. }) => {
                Self::new("COMMIT_NOT_FOUND", message)
            }
            EngineError::Invalid(_) | EngineError::FirstScan { .. } => {
                Self::new("INVALID_REQUEST", message)
            }
            EngineError::Store(_) => Self::new("STORE_FAILED", message),
        }
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        EngineError::from(error).into()
    }
}

/// Error of a `find_text` that does not occur as often as expected.
fn wrong_count(place: &NoteLocation, expected: usize, lines: &[usize]) -> ToolError {
    let message = match lines {
        [] => format!(
            "find_text does not occur in {place}. It must match to the letter; read_note shows \
             the text as it is."
        ),
        lines => format!(
            "find_text occurs {} in {place} (lines {}), not {expected}. Give more of the text \
             around it, or expected_replacements={}.",
            count(lines.len(), "time"),
            lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
            lines.len()
        ),
    };
    ToolError::new("EDIT_FAILED", message).with_detail("occurrences", lines.len())
}

/// Writes a message as a sentence: capitalised, unless it begins with a path, and with a full stop.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    let is_path = message.split_whitespace().next().is_some_and(|word| word.contains(['/', '.']));
    let first = chars.next().map(|c| if is_path { c.into() } else { c.to_uppercase().to_string() });
    let first = first.unwrap_or_default();
    let end = if message.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// Writes a number with its noun: `1 link`, `2 links`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}
