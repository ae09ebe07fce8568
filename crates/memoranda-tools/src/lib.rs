//! The tools: the core, and five dialects, which are tables of tools with the memory interfaces that agents know.
//!
//! A dialect turns wire arguments into engine calls, and outcomes into texts and structures. It
//! has no access to transports, SQL or files.

mod banks;
mod core;
mod graph;
mod instructions;
mod lenient_json;
mod memory;
mod notes;
mod records;
mod registry;
mod settings;

pub use self::core::{NEAREST_HEADING, add_nearest, remembered_scope, take_nearest};
pub use banks::{BankSettings, DiagnosticsMode};
pub use graph::GraphSettings;
pub use instructions::instructions;
pub use lenient_json::{json_object, readable_json};
pub use memory::{ToolUse, ToolUseError};
pub use records::{
    BriefQuestion, BriefRequest, BriefVisit, NearestInBrief, last_writer, question_brief,
    quotation, session_brief,
};
pub use registry::{
    AccessMode, ArgsError, CallContext, ClientContext, ClientQuestion, Confirmation, FormSupport,
    ItemTable, Param, ParamTable, PromptArgument, PromptCall, PromptDef, PromptMessage,
    ResourceDef, ScanPolicy, SelectionError, SideContent, SideOutput, SpaceMemory, TextFormat,
    ToolAdvice, ToolArgs, ToolDef, ToolError, ToolHints, ToolReach, ToolResult, ToolRun,
    ToolSelection, ToolTier, Toolset, call,
};
pub use settings::{
    CallRepository, CreateMode, DefaultSearchScope, NotesSettings, ProjectFolders, RecordSettings,
    RepositorySource, SecretPolicy, ToolSettings, Wording,
};

/// Returns the tools of all dialects in listing order.
pub fn tools() -> impl Iterator<Item = &'static ToolDef> {
    [core::TOOLS, memory::TOOLS, notes::TOOLS, graph::TOOLS, records::TOOLS, banks::TOOLS]
        .into_iter()
        .flatten()
}

/// Returns the prompts of all dialects in listing order.
pub fn prompts() -> impl Iterator<Item = &'static PromptDef> {
    [memory::PROMPTS, notes::PROMPTS, graph::PROMPTS, records::PROMPTS, banks::PROMPTS]
        .into_iter()
        .flatten()
}

/// Returns the resources besides the notes in listing order.
pub fn resources() -> impl Iterator<Item = &'static ResourceDef> {
    [notes::RESOURCES, graph::RESOURCES, records::RESOURCES, banks::RESOURCES].into_iter().flatten()
}

/// Finds a tool by its name.
pub fn tool(name: &str) -> Option<&'static ToolDef> {
    tools().find(|tool| tool.name == name)
}
