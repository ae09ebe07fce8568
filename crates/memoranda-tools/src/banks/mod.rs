//! The bank tools: `activate`, `update` and `list`.

mod activate;
mod dump;
mod error;
mod excerpt;
mod instructions;
mod list;
mod settings;
mod update;

use memoranda_engine::banks::{BankType, bank_id};
use serde_json::{Value, json};

use crate::registry::{
    PromptDef, ResourceDef, ToolArgs, ToolDef, ToolHandler, ToolHints, ToolReach, ToolTier, Toolset,
};

pub use settings::{BankSettings, DiagnosticsMode};

use error::{BankErrorCode, BankToolError, BankToolResult};

/// Rows of the tools.
pub(crate) const TOOLS: &[ToolDef] = &[
    ToolDef {
        name: "activate",
        title: "Activate memory bank",
        description: "Load a memory bank: its files, and instructions \
            that keep it current. bank_id `auto` finds it: the git repository of current_path \
            (code), project_name (project), the shared bank (global). A project or code bank that \
            does not exist is made if project_name or a repository says what it is. A large bank \
            comes cut to a budget, with the calls that read the rest.",
        toolset: Toolset::Banks,
        reach: ToolReach::OwnProject,
        tier: ToolTier::Default,
        hints: ToolHints {
            read_only: false,
            destructive: false,
            idempotent: true,
            open_world: false,
        },
        handler: ToolHandler::Json { schema: |_| activate_input(), run: activate::handler },
        output: activate_output,
        max_chars: 120_000,
        ..ToolDef::BASE
    },
    ToolDef {
        name: "list",
        title: "List memory banks",
        description: "List the memory banks with their ids, descriptions and when each was last used.",
        toolset: Toolset::Banks,
        reach: ToolReach::OwnProject,
        tier: ToolTier::Default,
        hints: ToolHints {
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        },
        handler: ToolHandler::Json { schema: |_| list_input(), run: list::handler },
        output: list_output,
        max_chars: 120_000,
        ..ToolDef::BASE
    },
    ToolDef {
        name: "update",
        title: "Update memory bank",
        description: "Keep something in a memory bank: append to a file, replace it, or insert under \
            a `## ` heading. Without target_file and operation the content is put where it belongs. \
            Durable when it returns; every change is in the history.",
        toolset: Toolset::Banks,
        reach: ToolReach::OwnProject,
        tier: ToolTier::Default,
        hints: ToolHints {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: false,
        },
        handler: ToolHandler::Json { schema: |_| update_input(), run: update::handler },
        output: update_output,
        max_chars: 20_000,
        ..ToolDef::BASE
    },
];
/// Rows of the prompts.
pub(crate) const PROMPTS: &[PromptDef] = &[];
/// Rows of the resources.
pub(crate) const RESOURCES: &[ResourceDef] = &[];

/// Instructions about this toolset for the client's model, at most 200 bytes.
pub(crate) const BRIEF: &[&str] =
    &["BANKS:", "`activate` loads a bank and how it is kept current; `update` adds to it."];

/// Reads the type that a call names; `None` for none or `auto`.
fn bank_type(args: &ToolArgs) -> BankToolResult<Option<BankType>> {
    let invalid = |shown: &str| {
        let shown: String = shown.chars().take(80).collect();
        let message = format!(
            "Invalid bank type {shown:?}; use global, project or code. Nothing was written."
        );
        BankToolError::new(BankErrorCode::InvalidBankType, message)
    };
    match args.value("bank_type") {
        None => Ok(None),
        Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("auto") => Ok(None),
        Some(Value::String(text)) => BankType::parse(text).map(Some).ok_or_else(|| invalid(text)),
        Some(other) => Err(invalid(&other.to_string())),
    }
}

/// Returns the key of the bank that a call names, for recorded problems; empty if it names none.
fn call_bank_key(arguments: &Value) -> String {
    let word = |name: &str| arguments.get(name).and_then(Value::as_str);
    match (word("bank_type").and_then(BankType::parse), word("bank_id")) {
        (Some(kind), Some(id)) => format!("{}:{}", kind.as_str(), bank_id(id)),
        _ => String::new(),
    }
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn kind(description: &str) -> Value {
    json!({ "type": "string", "enum": ["global", "project", "code"], "description": description })
}

fn activate_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "bank_type": kind("Type of bank"),
            "bank_id": text("Id of the bank; `auto` finds it"),
            "current_path": text("Folder you work in, to find the repository"),
            "project_name": text("Name of the project; makes the bank if it is new"),
            "project_description": text("What it is about, for a new bank"),
            "file": text("Read only this file of the bank"),
            "from_line": { "type": "integer", "minimum": 1, "description": "Line of `file` to read from" },
            "max_tokens": {
                "type": "integer", "minimum": 1500, "maximum": 25000,
                "description": "Size of the answer, about 6000 unless said"
            }
        },
        "required": ["bank_type", "bank_id"],
        "additionalProperties": false
    })
}

fn list_input() -> Value {
    json!({
        "type": "object",
        "properties": { "bank_type": kind("Only banks of this type") },
        "additionalProperties": false
    })
}

fn update_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "bank_type": kind("Type of bank"),
            "bank_id": text("Id of the bank"),
            "target_file": text("File to update, such as doc/design.md; left out, it is chosen"),
            "operation": {
                "type": "string", "enum": ["append", "replace", "insert"],
                "description": "How; left out, it is chosen"
            },
            "content": text("What to keep, as Markdown"),
            "position": text("Heading to insert under (insert)"),
            "trigger_type": {
                "type": "string", "enum": update::TRIGGERS, "description": "What led to this update"
            },
            "conversation_id": text("Id of this conversation"),
            "update_count": { "type": "integer", "minimum": 0, "description": "Which update of the conversation this is" },
            "optimize": { "type": "boolean", "description": "Also merge what the bank says twice" }
        },
        "required": ["bank_type", "bank_id", "content"],
        "additionalProperties": false
    })
}

fn activate_output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "type": "string" },
            "bank_info": { "type": "object" },
            "content": { "type": "object" },
            "custom_instructions": { "type": "object" },
            "error": { "type": "string" },
            "code": { "type": "string" },
            "previous_errors": { "type": "array" }
        }
    })
}

fn list_output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "project": { "type": "string" },
            "global": { "type": "array" },
            "projects": { "type": "array" },
            "code": { "type": ["array", "string"] },
            "error": { "type": "string" }
        }
    })
}

fn update_output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "type": "string" },
            "updated_file": { "type": "string" },
            "operation": { "type": "string" },
            "cache_updated": { "type": "boolean" },
            "cache_optimized": { "type": "boolean" },
            "verification": { "type": "string" },
            "next_actions": { "type": "array" },
            "previous_errors": { "type": "array" },
            "bank": { "type": "object" },
            "processing": { "type": "object" },
            "permalink": { "type": ["string", "null"] },
            "commit": { "type": ["string", "null"] },
            "optimize_commit": { "type": "string" },
            "error": { "type": "string" },
            "code": { "type": "string" }
        }
    })
}
