//! A prompt is a row, like a tool: clients show prompts as slash commands.

use memoranda_engine::{Memory, Result};

use super::tool::{ToolDef, Toolset};
use crate::settings::ToolSettings;

/// One prompt.
pub struct PromptDef {
    /// Name on the wire.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Purpose of the prompt.
    pub description: &'static str,
    /// Toolset that the prompt belongs to.
    pub toolset: Toolset,
    /// Arguments that the prompt takes.
    pub arguments: &'static [PromptArgument],
    /// Renders the message.
    pub render: fn(&PromptCall<'_>) -> Result<PromptMessage>,
}

/// A request for a prompt.
#[derive(Clone, Copy)]
pub struct PromptCall<'a> {
    /// The vault.
    pub memory: &'a Memory,
    /// Settings of the tools.
    pub settings: &'a ToolSettings,
    /// Tools of the client: a prompt names only these.
    pub tools: &'a [&'static ToolDef],
    /// Arguments in the order of the definition.
    pub arguments: &'a [Option<String>],
}

impl PromptCall<'_> {
    /// Returns an argument. `None` if it is missing or blank.
    pub(crate) fn given(&self, n: usize) -> Option<String> {
        let text = self.arguments.get(n).cloned().flatten()?;
        (!text.trim().is_empty()).then_some(text)
    }
}

/// One argument of a prompt.
pub struct PromptArgument {
    /// Name of the argument.
    pub name: &'static str,
    /// Meaning of the argument.
    pub description: &'static str,
    /// True if the argument is required.
    pub required: bool,
}

/// Message to the model, in the role of the user.
pub struct PromptMessage {
    /// The text.
    pub text: String,
}

/// Marks every line of a text as a quotation.
pub(crate) fn quote_lines(text: &str) -> String {
    text.lines().flat_map(|line| line.split('\r')).map(|line| format!("> {line}\n")).collect()
}
