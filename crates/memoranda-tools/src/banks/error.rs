//! Errors of the bank tools, with the codes that clients know.

use memoranda_engine::banks::{
    BankDiagnostic, BankError, BankType, DiagnosticSeverity, recent_diagnostics, record_diagnostic,
};
use memoranda_engine::{EngineError, Memory, StoreError};
use serde_json::{Value, json};

use crate::registry::{ArgsError, CallContext, ToolError, ToolResult};

/// Maximum number of banks that an error names.
const MAX_NAMED_BANKS: usize = 8;
/// Maximum length of quoted input, in characters.
const MAX_QUOTED_CHARS: usize = 80;

/// The code of an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BankErrorCode {
    InvalidBankType,
    BankNotFound,
    ActivationFailed,
    ListFailed,
    UpdateFailed,
    InvalidOperation,
    ContentProcessingFailed,
    DiskSyncFailed,
    CacheLoadFailed,
}

impl BankErrorCode {
    fn as_str(self) -> &'static str {
        match self {
            Self::InvalidBankType => "invalid_bank_type",
            Self::BankNotFound => "bank_not_found",
            Self::ActivationFailed => "activation_failed",
            Self::ListFailed => "list_failed",
            Self::UpdateFailed => "update_failed",
            Self::InvalidOperation => "invalid_operation",
            Self::ContentProcessingFailed => "content_processing_failed",
            Self::DiskSyncFailed => "disk_sync_failed",
            Self::CacheLoadFailed => "cache_load_failed",
        }
    }

    /// Returns an error of a bank tool. Nothing was changed.
    pub(super) fn error(self, message: impl Into<String>) -> ToolError {
        ToolError::new(self.as_str(), message)
    }

    /// Returns the error about an argument.
    pub(super) fn of_arguments(self, error: &ArgsError) -> ToolError {
        let end = if matches!(self, Self::UpdateFailed) { " Nothing was written." } else { "" };
        self.error(format!("{error}{end}"))
    }

    /// Returns an error of the vault. Failures of the disk have a code of their own.
    pub(super) fn of_engine(self, error: &EngineError) -> ToolError {
        let code = match error {
            EngineError::Store(
                StoreError::Io { .. }
                | StoreError::ProjectUnavailable { .. }
                | StoreError::VaultUnreachable { .. },
            ) => Self::DiskSyncFailed,
            EngineError::NotText(_) => Self::CacheLoadFailed,
            _ => self,
        };
        code.error(format!("{error}. Nothing was written."))
    }

    /// Returns an error of a bank verb. The code is used if the error determines none.
    pub(super) fn of_bank(self, error: BankError) -> ToolError {
        match error {
            BankError::Engine(error) => self.of_engine(&error),
            BankError::Load(error) => Self::CacheLoadFailed.of_engine(&error),
            BankError::InvalidId(id) => Self::BankNotFound.error(format!(
                "{:?} is not a valid bank_id; use letters, digits, `-`, `_` and `.`. Nothing was written.",
                quoted(&id)
            )),
            BankError::NoProjectName { known } => {
                let known = match known.as_slice() {
                    [] => "there is none yet".to_owned(),
                    ids => format!("there are {}", first_ids(ids)),
                };
                let message = format!(
                    "A project bank is found by its name: give project_name, or bank_id ({known}). \
                     Nothing was written."
                );
                self.error(message)
            }
            BankError::NoRepository { folder } => {
                let place = match folder {
                    Some(folder) => format!("{} is not in a git repository", folder.display()),
                    None => "It is not known where you work".to_owned(),
                };
                let message = format!(
                    "{place}; give current_path (a folder of the repository) or bank_id, or use \
                     bank_type=\"project\". Nothing was written."
                );
                self.error(message)
            }
            BankError::NotABankFile(name) => Self::UpdateFailed.error(format!(
                "{:?} is no file of a bank; give a path within it, such as doc/design.md. \
                     Nothing was written.",
                quoted(&name)
            )),
            BankError::ReplaceWithoutFile => Self::InvalidOperation.error(
                "A replace needs `target_file`: it would take the place of all that the file \
                 holds. Nothing was written.",
            ),
            BankError::Conflict => Self::UpdateFailed.error(
                "Another process made the bank at the same moment; try again. Nothing was written.",
            ),
        }
    }
}

/// Returns the error about a bank that does not exist.
pub(super) fn not_found(kind: BankType, id: &str, known: &[String]) -> ToolError {
    let name = kind.as_str();
    let known = match known {
        [] => format!("There is no {name} bank yet"),
        ids => format!("The {name} banks are: {}", first_ids(ids)),
    };
    let make = match kind {
        BankType::Global => "use activate(bank_type=\"global\", bank_id=\"default\")".to_owned(),
        BankType::Project | BankType::Code => {
            format!("activate(bank_type=\"{name}\", bank_id=\"{id}\", project_name=…) makes it")
        }
    };
    let message = format!("There is no {name} bank {id:?}. {known}; {make}. Nothing was written.");
    BankErrorCode::BankNotFound.error(message)
}

/// Detail of an error that has the key of the bank. It is not part of the answer.
const BANK_KEY: &str = "bank";

/// Adds the key of the bank under which an error is recorded.
pub(super) fn about_bank(error: ToolError, key: &str) -> ToolError {
    error.with_detail(BANK_KEY, key)
}

/// Renders an error with the recent problems of the bank, and records it.
pub(super) fn render_error(call: &CallContext<'_>, error: &ToolError, doing: &str) -> ToolResult {
    let bank = error.details.get(BANK_KEY).and_then(Value::as_str).unwrap_or_default();
    let text = format!("Failed to {doing}: {}", error.message);
    let structured = json!({
        "status": "error",
        "error": text,
        "code": error.code,
        "previous_errors": recent_problems(call.memory, bank),
    });
    record_problem(call.memory, bank, DiagnosticSeverity::Error, &text);
    ToolResult { text: structured.to_string(), structured, is_error: true }
}

fn quoted(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARS).collect()
}

fn first_ids(ids: &[String]) -> String {
    ids.iter().take(MAX_NAMED_BANKS).cloned().collect::<Vec<_>>().join(", ")
}

/// Records a problem of a bank. A failure to record does not fail the call.
pub(super) fn record_problem(
    memory: &Memory,
    bank: &str,
    severity: DiagnosticSeverity,
    description: &str,
) {
    tracing::debug!(bank, severity = severity.as_str(), "{description}");
    if let Err(error) = record_diagnostic(memory, bank, severity, description) {
        tracing::warn!(%error, "a trouble could not be noted");
    }
}

/// Renders the recent problems of a bank, the newest first.
pub(super) fn recent_problems(memory: &Memory, bank: &str) -> Vec<Value> {
    let entry = |entry: &BankDiagnostic| {
        json!({
            "timestamp": entry.time,
            "description": entry.description,
            "severity": entry.severity,
        })
    };
    recent_diagnostics(memory, bank).iter().map(entry).collect()
}
