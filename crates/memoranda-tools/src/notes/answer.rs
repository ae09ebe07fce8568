//! What the notes tools answer, and what they say when they cannot.

use memoranda_core::id::ContentHash;
use memoranda_core::note::edit::EditError;
use memoranda_engine::{EngineError, Place, StoreError};
use serde_json::{Map, Value, json};

use crate::registry::{ArgsError, ToolArgs, ToolResult};

/// The same facts, to read and to parse.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) structured: Value,
}

/// Why a call was not answered as asked: a word for programs, and what to do next for the model.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: &'static str,
    pub(super) text: String,
    more: Map<String, Value>,
}

impl Failure {
    pub(super) fn new(code: &'static str, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), more: Map::new() }
    }

    /// Adds a fact for programs.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    /// Adds what programs look for in every answer of a tool, but for what the failure says itself.
    pub(super) fn beside(mut self, keys: Value) -> Self {
        if let Value::Object(keys) = keys {
            for (key, value) in keys {
                self.more.entry(key).or_insert(value);
            }
        }
        self
    }

    fn wrong_count(place: &Place, expected: usize, lines: &[usize]) -> Self {
        let text = match lines {
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
        Self::new("EDIT_FAILED", text).with("occurrences", lines.len())
    }

    fn into_value(self) -> (String, Value) {
        let mut value = json!({ "error": self.code, "message": self.text, "is_error": true });
        if let Value::Object(object) = &mut value {
            object.extend(self.more);
        }
        (self.text, value)
    }
}

impl From<ArgsError> for Failure {
    fn from(error: ArgsError) -> Self {
        Self::new("INVALID_ARGUMENTS", error.to_string())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let text = sentence(&error.to_string());
        let named = |places: &[Place]| places.iter().map(Place::to_string).collect::<Vec<_>>();
        match error {
            EngineError::NotFound { suggestions, .. } => {
                let text = format!("{text} search_notes finds notes by their words.");
                Self::new("NOTE_NOT_FOUND", text).with("suggestions", named(&suggestions))
            }
            EngineError::Ambiguous { candidates, .. } => {
                Self::new("AMBIGUOUS_IDENTIFIER", text).with("candidates", named(&candidates))
            }
            EngineError::Path(_) => Self::new("SECURITY_VALIDATION_ERROR", text),
            EngineError::Edit { place, error: EditError::WrongCount { expected, lines } } => {
                Self::wrong_count(&place, expected, &lines)
            }
            EngineError::Edit { .. } => Self::new("EDIT_FAILED", text),
            EngineError::Ignored { .. } => Self::new("PATH_IGNORED", text),
            EngineError::NotThen { .. } => Self::new("NOT_THERE_THEN", text),
            EngineError::NotText(_) => Self::new("NOT_TEXT", text),
            EngineError::Project(_) => Self::new("INVALID_PROJECT_NAME", text),
            EngineError::Store(StoreError::NoProject { .. }) => {
                let text = format!("{text} create_memory_project makes one.");
                Self::new("PROJECT_NOT_FOUND", text)
            }
            EngineError::Store(StoreError::Twin { existing, .. }) => {
                Self::new("NOTE_ALREADY_EXISTS", text).with("existing", existing)
            }
            EngineError::Store(StoreError::NoCommit(_) | StoreError::AmbiguousCommit { .. }) => {
                Self::new("COMMIT_NOT_FOUND", text)
            }
            EngineError::Invalid(_) => Self::new("INVALID_REQUEST", text),
            EngineError::Store(_) => Self::new("STORE_FAILED", text),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        EngineError::from(error).into()
    }
}

/// A message as a sentence.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    // A path stays as it is written.
    let is_path = message.split_whitespace().next().is_some_and(|word| word.contains(['/', '.']));
    let first = chars.next().map(|c| if is_path { c.into() } else { c.to_uppercase().to_string() });
    let first = first.unwrap_or_default();
    let end = if message.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// So many things: `1 link`, `2 links`.
pub(super) fn count(number: usize, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{s}")
}

/// In which form the text of an answer is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
}

/// Parameters that every tool of the set takes and that hardly anyone needs, the last two because
/// other servers have them: they are not advertised.
const EVERYWHERE: [&str; 6] =
    ["project", "project_id", "workspace", "output_format", "depth", "min_similarity"];

/// Parameters that may be left out and yet say something when they are empty or blank: no text, the
/// top, blank lines to be found; and that a client sends every parameter, whatever it means.
const TELLING: [&str; 4] = ["content", "destination_folder", "destination_path", "find_text"];

/// Reads the arguments, does what they ask, and gives the answer in the form that is wanted.
pub(super) fn run(
    tool: &'static str,
    arguments: Value,
    aliases: &[(&str, &[&str])],
    form: Form,
    act: impl FnOnce(&ToolArgs) -> Result<Answer, Failure>,
) -> ToolResult {
    let mut form = form;
    let done = ToolArgs::new(tool, arguments).map_err(Failure::from).and_then(|mut args| {
        args.rename(aliases);
        let schema = crate::input_of(tool);
        let required = schema["required"].as_array().into_iter().flatten();
        let telling: Vec<&str> = required.filter_map(Value::as_str).chain(TELLING).collect();
        args.drop_empty(&telling);
        form = match args.choice("output_format", &["text", "json"])?.as_deref() {
            Some("json") => Form::Json,
            Some(_) => Form::Text,
            None => form,
        };
        let own = schema["properties"].as_object().into_iter().flat_map(Map::keys);
        let own: Vec<&str> = own.map(String::as_str).collect();
        let known: Vec<&str> = own.iter().copied().chain(EVERYWHERE).collect();
        args.only(&known).map_err(|error| match error {
            // Only what is advertised is worth naming.
            ArgsError::Unknown { tool, names, .. } => {
                ArgsError::Unknown { tool, names, known: own.join(", ") }
            }
            other => other,
        })?;
        act(&args)
    });
    let (text, structured, is_error) = match done {
        Ok(Answer { text, structured }) => (text, structured, false),
        Err(failure) => {
            let (text, structured) = failure.into_value();
            (text, structured, true)
        }
    };
    let text = match form {
        Form::Text => text,
        Form::Json => structured.to_string(),
    };
    ToolResult { text, structured, is_error }
}

/// A version that a caller says it knows: the whole checksum, or its beginning.
pub(super) struct Expected(String);

impl Expected {
    /// Reads `expected_checksum`, if it was given.
    pub(super) fn of(args: &ToolArgs) -> Result<Option<Self>, Failure> {
        let Some(text) = args.optional_text("expected_checksum")? else { return Ok(None) };
        let text = text.trim().to_lowercase();
        let fits = (8..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
        if !fits {
            let what = "8 to 64 hexadecimal digits, as read_note gives them";
            return Err(args.wrong("expected_checksum", what, &Value::String(text)).into());
        }
        Ok(Some(Self(text)))
    }

    /// Whether this version is the one that is known.
    pub(super) fn is(&self, hash: ContentHash) -> bool {
        hash.to_string().starts_with(&self.0)
    }

    /// The checksum as it was given.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The beginning of a text, and how much of it is missing.
pub(super) fn cut(text: &str, chars: usize) -> (&str, usize) {
    match text.char_indices().nth(chars) {
        Some((at, _)) => {
            let (kept, rest) = text.split_at(at);
            (kept, rest.chars().count())
        }
        None => (text, 0),
    }
}

/// The page, and its size, that goes on after so many results when this many fitted. Where no handy
/// size comes out even, it says one or two again, and leaves none out.
pub(super) fn page_from(done: usize, fitted: usize) -> (usize, usize) {
    let sizes = (fitted.div_ceil(2).max(1)..=fitted.max(1)).rev();
    let size = sizes.min_by_key(|size| done % size).unwrap_or(1);
    (done / size + 1, size)
}

/// What to say of a page that lies behind the last.
pub(super) fn past_end(page: usize, page_size: usize, total: usize, thing: &str) -> String {
    let last = total.div_ceil(page_size.max(1));
    format!(
        "Page {page} is past the end: there are no more than {}, and page={last} is the last.",
        count(total, thing)
    )
}
