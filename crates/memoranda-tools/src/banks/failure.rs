//! What cannot be done, with the code that clients know.

use memoranda_engine::{EngineError, Memory, StoreError};
use serde_json::json;

use super::trouble::{self, Severity};
use crate::registry::ToolResult;

/// The codes of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
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

impl Code {
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
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// What a failure beneath means. What the disk or the system did has a code of its own.
    pub(crate) fn beneath(code: Code, error: &EngineError) -> Self {
        let code = match error {
            EngineError::Store(StoreError::Io { .. } | StoreError::ProjectUnavailable { .. }) => {
                Code::DiskSyncFailed
            }
            EngineError::NotText(_) => Code::CacheLoadFailed,
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
            "previous_errors": trouble::recent(memory, bank),
        });
        trouble::record(memory, bank, Severity::Error, &error);
        ToolResult { text: structured.to_string(), structured, is_error: true }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::beneath(Code::UpdateFailed, &error)
    }
}
