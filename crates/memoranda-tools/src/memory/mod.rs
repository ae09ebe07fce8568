//! The Claude memory tool: six commands on the project `memories`.

mod act;
mod answer;
mod command;
pub(crate) mod path;
mod prompts;
mod text;
mod tool_use;
mod view;
mod wording;

use serde_json::{Value, json};

use crate::registry::{CallContext, ToolDef, ToolHints, ToolResult, ToolTier, Toolset};
use crate::settings::Wording;
pub(crate) use prompts::PROMPTS;
pub use tool_use::{ToolUse, ToolUseError};

use answer::{Answer, Failure};
use command::Command;

/// The most characters that an answer may have.
const CAP: usize = 120_000;
/// What else than lines is in an answer: its first words with the path, and how to go on.
const BESIDE: usize = 4_500;

/// The tool's row.
pub(crate) const TOOLS: &[ToolDef] = &[ToolDef {
    name: "memory",
    title: "Memory",
    description: "Store and retrieve information across conversations as files under /memories. \
        Commands: view (file, line range or directory), create, str_replace, insert (after a line, \
        0 = top), delete, rename (old_path, new_path). Markdown with frontmatter, observations \
        (`- [category] fact #tag`) and relations (`- relates_to [[Note]]`) becomes searchable \
        knowledge; every change is kept in the history.",
    toolset: Toolset::Memory,
    tier: ToolTier::Default,
    hints: ToolHints { read_only: false, destructive: true, idempotent: false, open_world: false },
    input,
    output,
    cap: CAP,
    handler,
}];

fn input() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    json!({
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
                "description": "File operation to perform"
            },
            "path": text("Path within /memories (all commands but rename)"),
            "file_text": text("Content to write (create)"),
            "view_range": {
                "type": "array",
                "items": { "type": "integer" },
                "description": "[first, last] line to view, from 1; last -1 = end"
            },
            "old_str": text("Text to replace; must occur once (str_replace)"),
            "new_str": text("Replacement (str_replace)"),
            "insert_line": { "type": "integer", "description": "Line to insert after (insert)" },
            "insert_text": text("Text to insert (insert)"),
            "old_path": text("Current path (rename)"),
            "new_path": text("New path (rename)")
        },
        "required": ["command"],
        "additionalProperties": false
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "result": { "type": "string" },
            "commit": { "type": "string" },
            "error": { "type": "string" },
            "is_error": { "type": "boolean" }
        }
    })
}

#[expect(clippy::needless_pass_by_value, reason = "every handler takes its arguments whole")]
fn handler(call: &CallContext<'_>, arguments: Value) -> ToolResult {
    let wording = call.settings.wording;
    let done = Command::parse(&arguments)
        .map_err(Failure::Bad)
        .and_then(|command| act::act(call, command));
    match done {
        Ok(answer) => {
            let text = wording::say(&answer, wording);
            let mut structured = json!({ "result": text });
            if let Some(commit) = commit_of(&answer) {
                structured["commit"] = json!(commit);
            }
            ToolResult::ok(text, structured)
        }
        Err(failure) => {
            let message = wording::explain(&failure.brief(wording), wording);
            let structured = json!({ "error": message, "is_error": true });
            let text = match wording {
                // The specification answers with its error object; the official tool with text.
                Wording::Mcp => structured.to_string(),
                Wording::Claude => message,
            };
            ToolResult { text, structured, is_error: true }
        }
    }
}

fn commit_of(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Listing { .. } | Answer::SideContent { .. } => None,
        Answer::Created(change)
        | Answer::Replaced(change, _)
        | Answer::Inserted(change, _)
        | Answer::Deleted(change)
        | Answer::Renamed(change, _) => change.commit.map(|commit| commit.to_string()),
    }
}
