//! What cannot be done, with the code that clients know.

use memoranda_engine::{EngineError, Memory, StoreError};
use serde_json::json;

use super::diagnostics::{self, DiagnosticSeverity};
use crate::registry::ToolResult;

/// The codes of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BankErrorCode {
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
    pub(crate) fn as_str(self) -> &'static str {
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

/// A call that could not be done. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BankError {
    pub(crate) code: BankErrorCode,
    pub(crate) message: String,
}

impl BankError {
    pub(crate) fn new(code: BankErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// What a failure beneath means. What the disk or the system did has a code of its own.
    pub(crate) fn from_engine(code: BankErrorCode, error: &EngineError) -> Self {
        let code = match error {
            EngineError::Store(StoreError::Io { .. } | StoreError::ProjectUnavailable { .. }) => {
                BankErrorCode::DiskSyncFailed
            }
            EngineError::NotText(_) => BankErrorCode::CacheLoadFailed,
            _ => code,
        };
        Self::new(code, format!("{error}. Nothing was written."))
    }

    /// The answer, with what went wrong before; the failure itself is kept for the next one.
    pub(crate) fn answer(&self, memory: &Memory, bank: &str, doing: &str) -> ToolResult {
        let error = format!("Failed to {doing}: {}", self.message);
        let structured = json!({
            "status": "error",
            "error": error,
            "code": self.code.as_str(),
            "previous_errors": diagnostics::recent(memory, bank),
        });
        diagnostics::record(memory, bank, DiagnosticSeverity::Error, &error);
        ToolResult { text: structured.to_string(), structured, is_error: true }
    }
}

impl From<EngineError> for BankError {
    fn from(error: EngineError) -> Self {
        Self::from_engine(BankErrorCode::UpdateFailed, &error)
    }
}
