//! The dialects: tables of tools that speak the memory interfaces agents already know.
//!
//! A dialect turns wire arguments into engine calls and outcomes back into words. It knows no
//! transport, no SQL and no files.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

mod banks;
mod graph;
mod instructions;
mod lenient_json;
mod memory;
mod notes;
mod records;
mod registry;
mod settings;

pub use banks::{
    BankCache, BankDiagnostic, BankFile, BankOverview, BankSettings, BankType, DiagnosticsMode,
    bank_diagnostics, bank_overview, bank_overviews,
};
pub use graph::GraphSettings;
pub use instructions::instructions;
pub use lenient_json::{json_object, readable_json};
pub use memory::{ToolUse, ToolUseError};
pub use records::{
    AddedRecord, BriefRequest, DueRuns, MemoryRecord, NewRecord, ProjectId, RecordError,
    RecordExpiry, RecordKind, RecordScope, Reminder, acknowledge_due_reminders, active_rules,
    add_records, brief, list_reminders, normalize_globs, records_of_kind, rules_sync_scope,
};
pub use registry::{
    AccessMode, CallContext, ClientContext, ClientQuestion, PromptArgument, PromptCall, PromptDef,
    PromptMessage, ResourceDef, SelectionError, SideContent, SideOutput, ToolDef, ToolHints,
    ToolResult, ToolSelection, ToolTier, Toolset, call,
};
pub use settings::{
    CreateMode, NotesSettings, ProjectFolders, RecordSettings, SecretPolicy, ToolSettings, Wording,
};

/// Every tool of every dialect, in the order in which they are listed.
pub fn tools() -> impl Iterator<Item = &'static ToolDef> {
    [memory::TOOLS, notes::TOOLS, graph::TOOLS, records::TOOLS, banks::TOOLS].into_iter().flatten()
}

/// Every prompt of every dialect, in the order in which they are listed.
pub fn prompts() -> impl Iterator<Item = &'static PromptDef> {
    [memory::PROMPTS, notes::PROMPTS, graph::PROMPTS, records::PROMPTS, banks::PROMPTS]
        .into_iter()
        .flatten()
}

/// Every resource beside the notes, in the order in which they are listed.
pub fn resources() -> impl Iterator<Item = &'static ResourceDef> {
    [notes::RESOURCES, graph::RESOURCES, records::RESOURCES, banks::RESOURCES].into_iter().flatten()
}

/// Finds a tool by its name.
pub fn tool(name: &str) -> Option<&'static ToolDef> {
    tools().find(|tool| tool.name == name)
}

/// The schema of a tool's arguments, made when the tool is first called: every call is held to it.
fn input_of(name: &str) -> &'static Value {
    type Inputs = HashMap<&'static str, OnceLock<Value>>;
    static INPUTS: LazyLock<Inputs> =
        LazyLock::new(|| tools().map(|tool| (tool.name, OnceLock::new())).collect());
    match (tool(name), INPUTS.get(name)) {
        (Some(tool), Some(input)) => input.get_or_init(tool.input),
        _ => &Value::Null,
    }
}
