//! Recent problems of banks, shared by all processes of a vault.

use memoranda_store::clock;
use serde_json::{Value, json};

use crate::{Memory, Result};

/// Register of the store that contains the problems.
const NOTICE_REGISTER: &str = "banks";
/// Maximum number of kept problems.
const MAX_KEPT: usize = 100;
/// Maximum number of recent problems of one bank.
const MAX_RECENT: usize = 10;
/// Maximum age of recent problems, in milliseconds.
const MAX_AGE_MS: i64 = 24 * 60 * 60 * 1000;

/// The severity of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiagnosticSeverity {
    /// A call failed.
    Error,
    /// A call succeeded with a problem.
    Warning,
    /// Something was done without being asked for.
    Info,
}

impl DiagnosticSeverity {
    /// Returns the name of the severity.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// A problem of a bank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BankDiagnostic {
    /// Time of the problem.
    pub time: String,
    /// The bank as `type:id`; empty if no bank is concerned.
    pub bank: String,
    /// The severity.
    pub severity: String,
    /// The problem.
    pub description: String,
    milliseconds: i64,
}

/// Records a problem of a bank.
pub fn record_diagnostic(
    memory: &Memory,
    bank: &str,
    severity: DiagnosticSeverity,
    description: &str,
) -> Result<()> {
    let now = clock::now();
    let line = json!({
        "ms": now.as_millisecond(),
        "timestamp": now.to_string(),
        "bank": bank,
        "description": description,
        "severity": severity.as_str(),
    });
    Ok(memory.store().leave_notice(NOTICE_REGISTER, &line.to_string(), MAX_KEPT)?)
}

/// Returns the problems of a bank in the last day, the newest first.
pub fn recent_diagnostics(memory: &Memory, bank: &str) -> Vec<BankDiagnostic> {
    let since = clock::now().as_millisecond() - MAX_AGE_MS;
    let mut found = all_diagnostics(memory);
    found.retain(|entry| entry.bank == bank && entry.milliseconds >= since);
    found.truncate(MAX_RECENT);
    found
}

/// Returns the last problems of all banks, the newest first.
pub fn all_diagnostics(memory: &Memory) -> Vec<BankDiagnostic> {
    let lines = memory.store().notices(NOTICE_REGISTER).unwrap_or_default();
    let parsed = lines.iter().rev().filter_map(|line| serde_json::from_str(line).ok());
    parsed.take(MAX_KEPT).map(|entry: Value| parse(&entry)).collect()
}

fn parse(entry: &Value) -> BankDiagnostic {
    let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    BankDiagnostic {
        time: text("timestamp"),
        bank: text("bank"),
        severity: text("severity"),
        description: text("description"),
        milliseconds: entry["ms"].as_i64().unwrap_or(i64::MIN),
    }
}
