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
use serde_json::Value;

use crate::registry::{Param, PromptDef, ResourceDef, ToolArgs, ToolDef, ToolError};

pub use settings::{BankSettings, DiagnosticsMode};

use error::BankErrorCode;

/// Rows of the tools.
pub(crate) const TOOLS: &[ToolDef] = &[activate::TOOL, list::TOOL, update::TOOL];
/// Rows of the prompts.
pub(crate) const PROMPTS: &[PromptDef] = &[];
/// Rows of the resources.
pub(crate) const RESOURCES: &[ResourceDef] = &[];

/// Instructions about this toolset for the client's model, at most 200 bytes.
pub(crate) const BRIEF: &[&str] =
    &["BANKS:", "`activate` loads a bank and how it is kept current; `update` adds to it."];

/// Reads the type that a call names; `None` for none or `auto`.
fn bank_type(args: &ToolArgs) -> Result<Option<BankType>, ToolError> {
    let invalid = |shown: &str| {
        let shown: String = shown.chars().take(80).collect();
        let message = format!(
            "Invalid bank type {shown:?}; use global, project or code. Nothing was written."
        );
        BankErrorCode::InvalidBankType.error(message)
    };
    match args.value("bank_type") {
        None => Ok(None),
        Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("auto") => Ok(None),
        Some(Value::String(text)) => BankType::parse(text).map(Some).ok_or_else(|| invalid(text)),
        Some(other) => Err(invalid(&other.to_string())),
    }
}

/// Returns the key of the bank that a call names, for recorded problems; empty if it names none.
fn call_bank_key(args: &ToolArgs) -> String {
    let word = |name: &str| args.value(name).and_then(Value::as_str);
    match (word("bank_type").and_then(BankType::parse), word("bank_id")) {
        (Some(kind), Some(id)) => format!("{}:{}", kind.as_str(), bank_id(id)),
        _ => String::new(),
    }
}

/// Type of a bank. A call may also pass `auto`.
const fn kind(description: &'static str) -> Param {
    Param::choice("bank_type", &["global", "project", "code"], description)
}
