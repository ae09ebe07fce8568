//! The Claude memory tool: six commands on the project `memories`.

mod command;
mod execute;
mod lines;
mod outcome;
pub(crate) mod path;
mod prompts;
mod tool_use;
mod view;
mod wording;

use serde_json::{Value, json};

use crate::registry::{
    CallContext, ScanPolicy, ToolArgs, ToolDef, ToolError, ToolHints, ToolReach, ToolResult,
    ToolTier, Toolset,
};
use crate::settings::Wording;
use command::MemoryCommand;
use outcome::{MemoryError, MemoryOutcome};

pub(crate) use prompts::PROMPTS;
pub use tool_use::{ToolUse, ToolUseError};

/// Maximum length of an answer in characters.
const MAX_CHARS: usize = 120_000;
/// Characters of an answer besides its lines: the first words with the path, and how to continue.
const FRAME_CHARS: usize = 4_500;

/// Definition of the memory tool.
pub(crate) const TOOLS: &[ToolDef] = &[ToolDef {
    name: "memory",
    title: "Memory",
    description: "Store and retrieve information across conversations as files under /memories. \
        Commands: view (file, line range or directory), create, str_replace, insert (after a line, \
        0 = top), delete, rename (old_path, new_path). Markdown with frontmatter, observations \
        (`- [category] fact #tag`) and relations (`- relates_to [[Note]]`) becomes searchable \
        knowledge; every change is kept in the history.",
    toolset: Toolset::Memory,
    reach: ToolReach::OwnProject,
    tier: ToolTier::Core,
    hints: ToolHints { read_only: false, destructive: true, idempotent: false, open_world: false },
    params: command::PARAMS,
    run,
    output,
    render_error,
    max_chars: MAX_CHARS,
    scan: ScanPolicy::Nothing,
    ..ToolDef::BASE
}];

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "result": { "type": "string" },
            "commit": { "type": "string" },
            "error": { "type": "string" },
            "is_error": { "type": "boolean" },
            "lines": { "type": "array", "items": { "type": "integer" } }
        }
    })
}

fn run(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let wording = call.settings.wording;
    let command = MemoryCommand::parse(args).map_err(MemoryError::Command);
    let outcome = command.and_then(|command| execute::execute(call, command)).map_err(|error| {
        let error = error.abbreviate(wording);
        let failure = ToolError::new("MEMORY_FAILED", wording::render_error(&error, wording));
        match &error {
            MemoryError::ManyMatches { lines, .. } => {
                failure.with_detail("lines", lines.lines.clone())
            }
            _ => failure,
        }
    })?;
    let text = wording::render_outcome(&outcome, wording);
    let mut structured = json!({ "result": text });
    if let Some(commit) = commit_of(&outcome) {
        structured["commit"] = json!(commit);
    }
    Ok(ToolResult::ok(text, structured))
}

/// Renders an error: the MCP specification answers with its error object, the Claude API with text.
fn render_error(call: &CallContext<'_>, error: ToolError) -> ToolResult {
    let lines = error.details.get("lines").cloned();
    let mut result = ToolError::render_message(call, error);
    if call.settings.wording == Wording::Mcp {
        // The sentence of the specification has no room for the lines.
        if let Some(lines) = lines {
            result.structured["lines"] = lines;
        }
        result.text = result.structured.to_string();
    }
    result
}

fn commit_of(outcome: &MemoryOutcome) -> Option<String> {
    match outcome {
        MemoryOutcome::Listing { .. } | MemoryOutcome::FileContent { .. } => None,
        MemoryOutcome::Created(change)
        | MemoryOutcome::Replaced(change, _)
        | MemoryOutcome::Inserted(change, _)
        | MemoryOutcome::Deleted(change)
        | MemoryOutcome::Renamed(change, _) => change.commit.map(|commit| commit.to_string()),
    }
}
