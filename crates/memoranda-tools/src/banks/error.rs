//! Errors of the bank tools, with the codes that clients know.

use memoranda_engine::banks::{
    BankDiagnostic, BankError, BankType, DiagnosticSeverity, recent_diagnostics, record_diagnostic,
};
use memoranda_engine::{EngineError, Memory, StoreError};
use serde_json::{Value, json};

use crate::registry::ToolResult;

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
}

/// A call that failed. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct BankToolError {
    pub(super) code: BankErrorCode,
    pub(super) message: String,
}

pub(super) type BankToolResult<T> = Result<T, BankToolError>;

impl BankToolError {
    pub(super) fn new(code: BankErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Renders an error of the vault. Failures of the disk have a code of their own.
    pub(super) fn from_engine(code: BankErrorCode, error: &EngineError) -> Self {
        let code = match error {
            EngineError::Store(StoreError::Io { .. } | StoreError::ProjectUnavailable { .. }) => {
                BankErrorCode::DiskSyncFailed
            }
            EngineError::NotText(_) => BankErrorCode::CacheLoadFailed,
            _ => code,
        };
        Self::new(code, format!("{error}. Nothing was written."))
    }

    /// Renders an error of a bank verb. `code` is used if the error determines none.
    pub(super) fn from_bank(code: BankErrorCode, error: BankError) -> Self {
        match error {
            BankError::Engine(error) => Self::from_engine(code, &error),
            BankError::Load(error) => Self::from_engine(BankErrorCode::CacheLoadFailed, &error),
            BankError::InvalidId(id) => Self::new(
                BankErrorCode::BankNotFound,
                format!(
                    "{:?} is no bank_id; use letters, digits, `-`, `_` and `.`. Nothing was written.",
                    quoted(&id)
                ),
            ),
            BankError::NoProjectName { known } => {
                let known = match known.as_slice() {
                    [] => "there is none yet".to_owned(),
                    ids => format!("there are {}", first_ids(ids)),
                };
                let message = format!(
                    "A project bank is found by its name: give project_name, or bank_id ({known}). \
                     Nothing was written."
                );
                Self::new(code, message)
            }
            BankError::NoRepository { folder } => {
                let place = match folder {
                    Some(folder) => format!("{} lies in no git repository", folder.display()),
                    None => "It is not known where you work".to_owned(),
                };
                let message = format!(
                    "{place}; give current_path (a folder of the repository) or bank_id, or use \
                     bank_type=\"project\". Nothing was written."
                );
                Self::new(code, message)
            }
            BankError::NotABankFile(name) => Self::new(
                BankErrorCode::UpdateFailed,
                format!(
                    "{:?} is no file of a bank; give a path within it, such as doc/design.md. \
                     Nothing was written.",
                    quoted(&name)
                ),
            ),
            BankError::ReplaceWithoutFile => Self::new(
                BankErrorCode::InvalidOperation,
                "A replace needs `target_file`: it would take the place of all that the file \
                 holds. Nothing was written.",
            ),
            BankError::Conflict => Self::new(
                BankErrorCode::UpdateFailed,
                "Another process made the bank at the same moment; try again. Nothing was written.",
            ),
        }
    }

    /// Renders the error about a bank that does not exist.
    pub(super) fn not_found(kind: BankType, id: &str, known: &[String]) -> Self {
        let name = kind.as_str();
        let known = match known {
            [] => format!("There is no {name} bank yet"),
            ids => format!("The {name} banks are: {}", first_ids(ids)),
        };
        let make = match kind {
            BankType::Global => {
                "use activate(bank_type=\"global\", bank_id=\"default\")".to_owned()
            }
            BankType::Project | BankType::Code => {
                format!("activate(bank_type=\"{name}\", bank_id=\"{id}\", project_name=…) makes it")
            }
        };
        let message =
            format!("There is no {name} bank {id:?}. {known}; {make}. Nothing was written.");
        Self::new(BankErrorCode::BankNotFound, message)
    }

    /// Renders the error with the recent problems of the bank, and records it.
    pub(super) fn answer(&self, memory: &Memory, bank: &str, doing: &str) -> ToolResult {
        let error = format!("Failed to {doing}: {}", self.message);
        let structured = json!({
            "status": "error",
            "error": error,
            "code": self.code.as_str(),
            "previous_errors": recent_problems(memory, bank),
        });
        record_problem(memory, bank, DiagnosticSeverity::Error, &error);
        ToolResult { text: structured.to_string(), structured, is_error: true }
    }
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
