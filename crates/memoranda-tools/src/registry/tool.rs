//! A tool is a row: name, title, hints, schemas, cap, handler. MCP, the command line, HTTP, the
//! reference and the tests are all derived from the rows.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use memoranda_engine::{Concern, Memory, Who};
use serde_json::{Value, json};

use super::elicitation::ClientContext;
use super::truncate::{Truncated, truncate_json};
use crate::settings::ToolSettings;

/// How much larger than the text a structure may be: the same facts take more room with a name
/// for each.
const STRUCTURE_PER_TEXT: usize = 3;

/// One tool.
pub struct ToolDef {
    /// Its name on the wire: snake case, at most 40 characters.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, in facts.
    pub description: &'static str,
    /// The set that it is chosen by.
    pub toolset: Toolset,
    /// Whether it is offered when nothing was chosen.
    pub tier: ToolTier,
    /// What a client may assume of it.
    pub hints: ToolHints,
    /// The schema of its arguments.
    pub input: fn() -> Value,
    /// The schema of its structured result.
    pub output: fn() -> Value,
    /// The most characters that its text may have.
    pub cap: usize,
    /// What it does.
    pub handler: fn(&CallContext<'_>, Value) -> ToolResult,
}

impl ToolDef {
    /// What it does, and the schema of its arguments, with the limits that a person has set.
    pub fn definition(&self, settings: &ToolSettings) -> (Cow<'static, str>, Value) {
        let input = (self.input)();
        if self.toolset != Toolset::Graph || crate::graph::has_default_limits(settings) {
            return (Cow::Borrowed(self.description), input);
        }
        let fitted = crate::graph::with_limits(&input.to_string(), settings);
        let description = crate::graph::with_limits(self.description, settings);
        (Cow::Owned(description), serde_json::from_str(&fitted).unwrap_or(input))
    }

    /// The files that its answer can depend on.
    pub fn concern(&self, settings: &ToolSettings, arguments: &Value) -> Concern {
        match self.toolset {
            Toolset::Records | Toolset::Sessions => {
                crate::records::sync_scope(self.name, settings, arguments)
            }
            _ => Concern::Everything,
        }
    }
}

impl std::fmt::Debug for ToolDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ToolDef({})", self.name)
    }
}

/// The sets by which tools are chosen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Toolset {
    /// The Claude memory tool.
    Memory,
    /// Markdown notes and the graph between them.
    Notes,
    /// Entities, their facts and relations.
    Graph,
    /// Rules, facts, decisions, reminders.
    Records,
    /// Banks of context that load at the start.
    Banks,
    /// The lifecycle of conversations.
    Sessions,
    /// The two tools that ChatGPT's connectors ask for.
    Chatgpt,
}

impl Toolset {
    /// All sets, in the order in which they are listed.
    pub const ALL: [Self; 7] = [
        Self::Memory,
        Self::Notes,
        Self::Graph,
        Self::Records,
        Self::Banks,
        Self::Sessions,
        Self::Chatgpt,
    ];

    /// Its name in flags, variables and headers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Notes => "notes",
            Self::Graph => "graph",
            Self::Records => "records",
            Self::Banks => "banks",
            Self::Sessions => "sessions",
            Self::Chatgpt => "chatgpt",
        }
    }

    /// What it is for, in one line.
    pub fn summary(self) -> &'static str {
        match self {
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

/// Whether a tool is offered when nothing was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolTier {
    /// In the set `default`, and in its own.
    Default,
    /// Only in its own set, and in `all`.
    Extra,
}

/// What a client may assume of a tool. All four are always said: the defaults are pessimistic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may change or remove what is there.
    pub destructive: bool,
    /// Doing it twice is the same as once.
    pub idempotent: bool,
    /// It reaches beyond this vault.
    pub open_world: bool,
}

/// A call: the vault, who calls, and how the answer is wanted.
pub struct CallContext<'a> {
    /// The vault.
    pub memory: &'a Memory,
    /// Who calls, for the history.
    pub who: Who,
    /// What the person configured.
    pub settings: &'a ToolSettings,
    /// Told how far a long call has come: done, total, and what is being done.
    pub progress: &'a (dyn Fn(u64, u64, &str) + Sync),
    /// Set when the caller no longer wants the answer.
    pub cancelled: &'a AtomicBool,
    /// The client: takes content beside the text, and can be asked.
    pub client: &'a ClientContext,
}

impl CallContext<'_> {
    /// Whether the caller no longer wants the answer.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// What a tool answers: the same facts as text and as structure.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolResult {
    /// For the model to read.
    pub text: String,
    /// For a program to read.
    pub structured: Value,
    /// Whether it is an error that the caller can mend.
    pub is_error: bool,
}

impl ToolResult {
    /// A result that both reads and parses.
    pub fn ok(text: String, structured: Value) -> Self {
        Self { text, structured, is_error: false }
    }

    /// A mistake that the caller can mend, with what to do next in the text.
    pub fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        let structured = json!({ "error": text, "is_error": true });
        Self { text, structured, is_error: true }
    }
}

/// Calls a tool and holds its answer to its cap, the structure as well as the text.
pub fn call(tool: &ToolDef, call: &CallContext<'_>, arguments: Value) -> ToolResult {
    let mut result = (tool.handler)(call, arguments);
    if let Some((cut, _)) = result.text.char_indices().nth(tool.cap) {
        let total = result.text.chars().count();
        result.text.truncate(cut);
        result.text.push_str(&format!(
            "\n[cut after {} of {total} characters; ask for a smaller part]",
            tool.cap
        ));
    }
    let room = tool.cap.saturating_mul(STRUCTURE_PER_TEXT);
    if truncate_json(&mut result.structured, room) == Truncated::Yes {
        result.text.push_str("\n[the structured result is cut as well; ask for a smaller part]");
    }
    result
}
