//! The dialects: tables of tools that speak the memory interfaces agents already know.
//!
//! A dialect turns wire arguments into engine calls and outcomes back into words. It knows no
//! transport, no SQL and no files.

mod instructions;
mod memory;
mod prompts;
mod select;
mod settings;
mod tool;
mod tool_use;

pub use instructions::instructions;
pub use prompts::{PROMPTS, PromptArgument, PromptDef, PromptMessage};
pub use select::{ReadOnly, Selection, SelectionError};
pub use settings::{CreateMode, SecretPolicy, Settings, Wording};
pub use tool::{Call, Hints, ToolDef, ToolResult, Toolset, call};
pub use tool_use::{ToolUse, ToolUseError};

/// Every tool of every dialect, in the order in which they are listed.
pub fn tools() -> impl Iterator<Item = &'static ToolDef> {
    memory::TOOLS.iter()
}

/// Finds a tool by its name.
pub fn tool(name: &str) -> Option<&'static ToolDef> {
    tools().find(|tool| tool.name == name)
}
