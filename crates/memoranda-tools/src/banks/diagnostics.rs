//! What went wrong lately, kept for all processes of a vault and told with each update.

use memoranda_engine::{Memory, clock};
use serde_json::{Value, json};

/// The register in which troubles are kept.
const NOTICE_REGISTER: &str = "banks";
/// How many are kept.
const MAX_KEPT: usize = 100;
/// How many are told.
const MAX_SHOWN: usize = 10;
/// Older ones are nobody's concern any more.
const MAX_AGE_MS: i64 = 24 * 60 * 60 * 1000;

/// How bad it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DiagnosticSeverity {
    Error,
    Warning,
    Info,
}

impl DiagnosticSeverity {
    fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// Keeps a trouble of a bank. Failing to keep it is no failure of what was done.
pub(crate) fn record(memory: &Memory, bank: &str, severity: DiagnosticSeverity, description: &str) {
    let now = clock::now();
    let line = json!({
        "ms": now.as_millisecond(),
        "timestamp": now.to_string(),
        "bank": bank,
        "description": description,
        "severity": severity.as_str(),
    });
    tracing::debug!(bank, severity = severity.as_str(), "{description}");
    if let Err(error) = memory.store().leave_notice(NOTICE_REGISTER, &line.to_string(), MAX_KEPT) {
        tracing::warn!(%error, "a trouble could not be noted");
    }
}

/// The last troubles of a bank in a day, the newest first.
pub(crate) fn recent(memory: &Memory, bank: &str) -> Vec<Value> {
    let since = clock::now().as_millisecond() - MAX_AGE_MS;
    let of_bank =
        |entry: &Value| entry["bank"] == bank && entry["ms"].as_i64().is_some_and(|ms| ms >= since);
    all(memory).iter().filter(|entry| of_bank(entry)).take(MAX_SHOWN).map(entry_json).collect()
}

/// The last troubles of every bank, the newest first.
pub(crate) fn all(memory: &Memory) -> Vec<Value> {
    let lines = memory.store().notices(NOTICE_REGISTER).unwrap_or_default();
    let parsed = lines.iter().rev().filter_map(|line| serde_json::from_str(line).ok());
    parsed.take(MAX_KEPT).collect()
}

fn entry_json(entry: &Value) -> Value {
    json!({
        "timestamp": entry["timestamp"],
        "description": entry["description"],
        "severity": entry["severity"],
    })
}
