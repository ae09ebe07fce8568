//! The definition of a tool: one row with all facts about it. MCP, the command line, HTTP, the
//! reference pages and the tests are derived from the rows.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memoranda_engine::{Author, Memory, SyncScope};
use serde_json::{Value, json};

use super::arguments::ToolArgs;
use super::elicitation::ClientContext;
use super::error::ToolError;
use super::params::ParamTable;
use crate::settings::ToolSettings;

/// One tool. A dialect builds its rows on a base row: `ToolDef { name, …, ..BASE }`.
pub struct ToolDef {
    /// Name on the wire: snake case, at most 40 characters.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Description for the model.
    pub description: &'static str,
    /// Description with the configured limits. `None` if the description is fixed.
    pub describe: Option<fn(&ToolSettings) -> String>,
    /// Toolset by which the tool is selected.
    pub toolset: Toolset,
    /// Membership in the default selection.
    pub tier: ToolTier,
    /// Suitability for the selection `recommended`.
    pub advice: ToolAdvice,
    /// Projects that the tool uses.
    pub reach: ToolReach,
    /// Hints for clients.
    pub hints: ToolHints,
    /// Parameters.
    pub params: ParamTable,
    /// Runs the tool.
    pub run: ToolRun,
    /// JSON schema of the structured result.
    pub output: fn() -> Value,
    /// Format of the text, unless the argument `output_format` chooses another.
    pub text_format: TextFormat,
    /// Field of the structured result that is the text in JSON format. `None` for all of it.
    pub json_text_field: Option<&'static str>,
    /// Renders an error.
    pub render_error: fn(&CallContext<'_>, ToolError) -> ToolResult,
    /// Maximum length of the text in characters.
    pub max_chars: usize,
    /// Files that have to be in the index before the tool runs.
    pub scan: ScanPolicy,
}

/// Implementation of a tool.
pub type ToolRun = fn(&CallContext<'_>, &ToolArgs) -> Result<ToolResult, ToolError>;

/// Format of the text of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextFormat {
    /// Text for a model.
    Text,
    /// The structured result as JSON.
    Json,
}

/// Files that have to be in the index before a tool runs.
#[derive(Clone, Copy)]
pub enum ScanPolicy {
    /// No scan: the tool reads the files itself.
    Nothing,
    /// All files of the vault.
    Everything,
    /// No scan at first: the tool finds a note by its name in the index and reads the file itself.
    /// All files of the vault if that fails, since the note may be new or may have moved.
    IfMissing,
    /// The files that the result can depend on, given the arguments.
    ByArguments(fn(&ToolSettings, &ToolArgs) -> SyncScope),
}

impl ToolDef {
    /// Base of a row: an extra tool of the set `notes` that reads nothing and returns an error.
    pub const BASE: Self = Self {
        name: "",
        title: "",
        description: "",
        describe: None,
        toolset: Toolset::Notes,
        tier: ToolTier::Extra,
        advice: ToolAdvice::Recommended,
        reach: ToolReach::Requested,
        hints: ToolHints {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: false,
        },
        params: ParamTable::EMPTY,
        run: |_, _| Ok(ToolResult::error("This tool has no implementation.")),
        output: || json!({ "type": "object" }),
        text_format: TextFormat::Text,
        json_text_field: None,
        render_error: ToolError::render_message,
        max_chars: 100_000,
        scan: ScanPolicy::Everything,
    };

    /// Returns the description with the configured limits.
    pub fn description(&self, settings: &ToolSettings) -> Cow<'static, str> {
        match self.describe {
            Some(describe) => Cow::Owned(describe(settings)),
            None => Cow::Borrowed(self.description),
        }
    }

    /// Returns true if a server with these settings may offer the tool: a server that is restricted
    /// to one project offers no tool of another.
    pub fn is_reachable(&self, settings: &ToolSettings) -> bool {
        self.reach == ToolReach::Requested || self.toolset.is_reachable(settings)
    }

    /// Returns the JSON schema of the arguments with the configured limits.
    pub fn input_schema(&self, settings: &ToolSettings) -> Value {
        self.params.to_schema(settings)
    }

    /// Returns true if the tool can run before the files are scanned, and has to run again after the
    /// scan if it fails.
    pub fn can_precede_scan(&self) -> bool {
        matches!(self.scan, ScanPolicy::IfMissing)
    }

    /// Returns true if the tool changes nothing and uses the index.
    pub(super) fn reads_index_only(&self) -> bool {
        self.hints.read_only && !matches!(self.scan, ScanPolicy::Nothing)
    }

    /// Returns the files that have to be in the index before a call. `None` if the tool does not
    /// use the index.
    pub fn scan_scope(&self, settings: &ToolSettings, arguments: &Value) -> Option<SyncScope> {
        match self.scan {
            ScanPolicy::Nothing => None,
            ScanPolicy::Everything | ScanPolicy::IfMissing => Some(SyncScope::Everything),
            ScanPolicy::ByArguments(scope) => {
                // Invalid arguments are rejected before the tool reads any file.
                let args = ToolArgs::read(self.name, self.params, arguments.clone());
                Some(args.map_or(SyncScope::Everything, |args| scope(settings, &args)))
            }
        }
    }
}

impl std::fmt::Debug for ToolDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ToolDef({})", self.name)
    }
}

/// Suitability of a tool for agents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolAdvice {
    /// Part of the selection `recommended` if it is part of `default`.
    Recommended,
    /// Another tool replaces it. Clients that know it can still select it.
    Deprecated,
    /// Deletes many memories or purges them. A person decides about that.
    ForPeople,
}

/// Projects that a tool uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolReach {
    /// The projects that a call requests. The tool itself applies the restriction of a server.
    Requested,
    /// The own project of its toolset.
    OwnProject,
}

/// Toolset: a group of tools that is selected together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Toolset {
    /// The four verbs, and the tools for whole notes and memory files.
    Core,
    /// The Claude memory tool.
    Memory,
    /// Markdown notes and the graph between them.
    Notes,
    /// Entities, their facts and relations.
    Graph,
    /// Rules, facts, decisions, reminders.
    Records,
    /// Banks of context that are loaded at the start.
    Banks,
    /// Records of conversations.
    Sessions,
    /// The two tools that ChatGPT's connectors require.
    Chatgpt,
}

impl Toolset {
    /// All toolsets in listing order.
    pub const ALL: [Self; 8] = [
        Self::Core,
        Self::Memory,
        Self::Notes,
        Self::Graph,
        Self::Records,
        Self::Banks,
        Self::Sessions,
        Self::Chatgpt,
    ];

    /// Returns the name in flags, variables and headers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Memory => "memory",
            Self::Notes => "notes",
            Self::Graph => "graph",
            Self::Records => "records",
            Self::Banks => "banks",
            Self::Sessions => "sessions",
            Self::Chatgpt => "chatgpt",
        }
    }

    /// Returns the project in which the tools of this set keep their memories. `None` if the call
    /// chooses it.
    pub fn own_project(self) -> Option<&'static str> {
        match self {
            Self::Memory => Some("memories"),
            Self::Graph => Some("graph"),
            Self::Records | Self::Sessions => Some("records"),
            Self::Banks => Some("banks"),
            _ => None,
        }
    }

    /// Returns true if a server with these settings may use the own project of this set.
    pub fn is_reachable(self, settings: &ToolSettings) -> bool {
        self.own_project().is_none_or(|project| settings.reaches_project(project))
    }

    /// Returns the purpose in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Core => {
                "eight tools for everything: remember, recall, get_context, forget, and the tools \
                 for whole notes and memory files"
            }
            Self::Memory => "the Claude memory tool: six commands on files under /memories",
            Self::Notes => "Markdown notes: write, edit, search, and walk the links between them",
            Self::Graph => "entities with versioned facts and relations, of enforced quality",
            Self::Records => "rules, facts, decisions and reminders, global or of one repository",
            Self::Banks => "banks of context that a conversation starts from and keeps current",
            Self::Sessions => "the lifecycle of conversations: checkpoints, snapshots, merging",
            Self::Chatgpt => "`search` and `fetch`, as ChatGPT's connectors ask for them",
        }
    }
}

/// Membership of a tool in the default selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolTier {
    /// In the toolset `core`, in the selection `default`, and in its own toolset.
    Core,
    /// In the selection `default` and in its own toolset.
    Default,
    /// Only in its own toolset and in `all`.
    Extra,
}

/// MCP annotations of a tool. All four are always sent, because the defaults are pessimistic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToolHints {
    /// The tool changes nothing.
    pub read_only: bool,
    /// The tool may change or remove existing data.
    pub destructive: bool,
    /// A repeated call has no further effect.
    pub idempotent: bool,
    /// The tool accesses more than this vault.
    pub open_world: bool,
}

/// The context of a call: vault, author, settings and client.
pub struct CallContext<'a> {
    /// The vault.
    pub memory: &'a Memory,
    /// Author of the changes in the history.
    pub who: Author,
    /// Settings of the tools.
    pub settings: &'a ToolSettings,
    /// Reports the progress of a long call: done, total, and the current step.
    pub progress: &'a (dyn Fn(u64, u64, &str) + Sync),
    /// Set when the caller has cancelled the call.
    pub cancelled: &'a AtomicBool,
    /// Client that receives content besides the text, and answers questions.
    pub client: &'a ClientContext,
    /// Name of the space of `memory`; `None` unless the call covers others too.
    pub space: Option<&'a str>,
    /// Further spaces that a search covers as if they were one vault.
    pub others: &'a [SpaceMemory],
}

/// A vault that is a space of a team server.
#[derive(Clone)]
pub struct SpaceMemory {
    /// Name of the space.
    pub name: String,
    /// The vault. Its searches rank as if all spaces of the call were one vault.
    pub memory: Arc<Memory>,
}

impl<'a> CallContext<'a> {
    /// Returns the calls of the same tool in each single space, with the names of the spaces. One
    /// without a name if the call covers one vault.
    pub(crate) fn in_each_space(&self) -> Vec<(Option<&'a str>, Self)> {
        let call = |name: Option<&'a str>, memory: &'a Memory| {
            let Self { settings, progress, cancelled, client, .. } = *self;
            let who = self.who.clone();
            let single = Self {
                memory,
                who,
                settings,
                progress,
                cancelled,
                client,
                space: None,
                others: &[],
            };
            (name, single)
        };
        let others = self.others.iter().map(|other| call(Some(&other.name), &other.memory));
        std::iter::once(call(self.space, self.memory)).chain(others).collect()
    }

    /// Returns true if the caller has cancelled the call.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// Result of a tool: the same facts as text and as structure.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolResult {
    /// Text for the model.
    pub text: String,
    /// Structured result for programs.
    pub structured: Value,
    /// True for an error that the caller can correct.
    pub is_error: bool,
}

impl ToolResult {
    /// Creates a result of text and structure.
    pub fn ok(text: String, structured: Value) -> Self {
        Self { text, structured, is_error: false }
    }

    /// Creates an error with the next step in the text.
    pub fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        let structured = json!({ "error": text, "is_error": true });
        Self { text, structured, is_error: true }
    }

    /// Adds a warning about the whole answer. A text that is JSON stays JSON, because clients parse it:
    /// there the warning becomes the field `warning` of the structure, and of the text if the text is
    /// the same object.
    pub fn add_warning(&mut self, warning: &str) {
        let Ok(text) = serde_json::from_str::<Value>(&self.text) else {
            self.text.push_str(&format!("\n[{warning}]"));
            return;
        };
        let is_same = text == self.structured;
        let Value::Object(fields) = &mut self.structured else { return };
        if fields.contains_key("warning") {
            return;
        }
        fields.insert("warning".to_owned(), json!(warning));
        if is_same && let Some(end) = self.text.rfind('}') {
            let separator = if fields.len() == 1 { "" } else { "," };
            self.text.insert_str(end, &format!("{separator}\"warning\":{}", json!(warning)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_keeps_json_texts_parseable() {
        for (text, structured, expected) in [
            ("Two notes.", json!({ "total": 2 }), "Two notes.\n[Wait.]"),
            (r#"{"total":2}"#, json!({ "total": 2 }), r#"{"total":2,"warning":"Wait."}"#),
            ("{}", json!({}), r#"{"warning":"Wait."}"#),
            // The text is a file of the person, not the answer's own object.
            (r#"{"port":1}"#, json!({ "path": "a.json" }), r#"{"port":1}"#),
        ] {
            let mut result = ToolResult::ok(text.to_owned(), structured);
            result.add_warning("Wait.");
            assert_eq!(result.text, expected);
            let is_plain = text == "Two notes.";
            assert_eq!(result.structured["warning"] == json!("Wait."), !is_plain, "{text}");
        }
    }
}
