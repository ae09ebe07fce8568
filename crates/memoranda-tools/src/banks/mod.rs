//! Banks: context that a conversation starts from and keeps current.
//!
//! A bank is a folder of notes in the project `banks`. `activate` brings it with the instructions
//! that keep it current, `update` puts what was said into the right file, `list` names them all.

mod activate;
mod bank;
mod cache;
mod categorize;
mod category_rules;
mod deduplicate;
mod diagnostics;
mod dump;
mod error;
mod excerpt;
mod insert;
mod instructions;
mod list;
mod outline;
mod overview;
mod placement;
mod resolve;
mod settings;
mod template;
mod update;

use serde_json::{Value, json};

use crate::registry::{
    PromptDef, ResourceDef, ToolArgs, ToolDef, ToolHandler, ToolHints, ToolTier, Toolset,
};

pub use bank::BankType;
pub use cache::BankCache;
pub use overview::{
    BankDiagnostic, BankFile, BankOverview, bank_diagnostics, bank_overview, bank_overviews,
};
pub use settings::{BankSettings, DiagnosticsMode};

use bank::bank_id;
use error::{BankError, BankErrorCode};

/// The tools' rows.
pub(crate) const TOOLS: &[ToolDef] = &[
    ToolDef {
        name: "activate",
        title: "Activate memory bank",
        description: "Load a memory bank at the start of a conversation: its files, and instructions \
            that keep it current. bank_id `auto` finds it: the git repository of current_path \
            (code), project_name (project), the shared bank (global). A project or code bank that \
            does not exist is made if project_name or a repository says what it is. A large bank \
            comes cut to a budget, with the calls that read the rest.",
        toolset: Toolset::Banks,
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
/// The prompts' rows.
pub(crate) const PROMPTS: &[PromptDef] = &[];
/// The resources' rows.
pub(crate) const RESOURCES: &[ResourceDef] = &[];

/// What a client's model is told of this set, in at most 200 bytes.
pub(crate) const BRIEF: &[&str] = &[
    "BANKS:",
    "`activate` at the start brings the bank and how to keep it current.",
    "`update` as things are learned.",
];

/// The type that a call names; nothing, or `auto`, leaves it open.
fn bank_type(args: &ToolArgs) -> Result<Option<BankType>, BankError> {
    let invalid = |shown: &str| {
        let shown: String = shown.chars().take(80).collect();
        let message = format!(
            "Invalid bank type {shown:?}; use global, project or code. Nothing was written."
        );
        BankError::new(BankErrorCode::InvalidBankType, message)
    };
    match args.value("bank_type") {
        None => Ok(None),
        Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("auto") => Ok(None),
        Some(Value::String(text)) => BankType::parse(text).map(Some).ok_or_else(|| invalid(text)),
        Some(other) => Err(invalid(&other.to_string())),
    }
}

/// The bank that a call names, as far as it names one: what goes wrong is noted for it.
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
