//! Counts of the calls that saved to a thread, and of those that failed validation.

use jiff::Timestamp;
use memoranda_store::clock;
use serde_json::{Value, json};

use super::thread::GraphThread;
use crate::{Memory, Result};

/// Register of the store that contains the calls.
const NOTICE_REGISTER: &str = "graph-saves";
/// Number of calls after which the register is rotated; the one before is kept, too.
const MAX_KEPT: usize = 500;

/// Outcome of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SaveCallOutcome {
    /// The entities were saved.
    Saved,
    /// The request failed validation, and nothing was saved.
    Rejected,
}

/// The last calls that saved to a thread.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SaveCalls {
    /// Number of calls.
    pub total: usize,
    /// Number of calls that failed validation.
    pub rejected: usize,
    /// Time of the first counted call.
    pub since: Option<Timestamp>,
}

impl SaveCalls {
    /// Returns the share of calls that failed validation, from 0 to 1; `None` without a call.
    pub fn error_rate(&self) -> Option<f64> {
        let rate = self.rejected as f64 / self.total as f64;
        (self.total > 0).then(|| (rate * 1000.0).round() / 1000.0)
    }
}

/// Records a call that saved to a thread.
pub fn record_save_call(
    memory: &Memory,
    thread: &GraphThread,
    outcome: SaveCallOutcome,
) -> Result<()> {
    let line = json!({
        "time": clock::now().to_string(),
        "thread": thread.folder,
        "rejected": outcome == SaveCallOutcome::Rejected,
    });
    Ok(memory.store().leave_notice(NOTICE_REGISTER, &line.to_string(), MAX_KEPT)?)
}

/// Returns the last calls that saved to a thread.
pub fn save_calls(memory: &Memory, thread: &GraphThread) -> SaveCalls {
    let mut calls = SaveCalls::default();
    for line in memory.store().notices(NOTICE_REGISTER).unwrap_or_default() {
        let entry: Value = serde_json::from_str(&line).unwrap_or_default();
        if entry["thread"].as_str() != Some(thread.folder.as_str()) {
            continue;
        }
        calls.total += 1;
        calls.rejected += usize::from(entry["rejected"] == true);
        if calls.since.is_none() {
            calls.since = entry["time"].as_str().and_then(|time| time.parse().ok());
        }
    }
    calls
}
