//! The diagnostic file of a bank: its cached state. The file is neither searched nor versioned.

use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::banks::{DUMP_FILE, DiagnosticSeverity, LoadedBank, MemoryBank, write_dump};
use memoranda_engine::clock;
use serde_json::{Map, Value, json};

use super::error::{recent_problems, record_problem};
use super::settings::DiagnosticsMode;
use crate::registry::CallContext;

/// Writes the diagnostic file if diagnostics are on. A failure is recorded and does not fail the call.
pub(super) fn write(call: &CallContext<'_>, bank: &MemoryBank, loaded: &LoadedBank) {
    let banks = &call.settings.banks;
    if banks.diagnostics == DiagnosticsMode::Off {
        return;
    }
    tracing::debug!(bank = bank.key(), tokens = loaded.tokens(), "bank in memory");
    let text = format!("{:#}\n", state(call, bank, loaded));
    if let Err(error) = write_dump(call.memory, &banks.project, bank, &text) {
        let description = format!("{DUMP_FILE} was not written: {error}");
        record_problem(call.memory, &bank.key(), DiagnosticSeverity::Warning, &description);
    }
}

fn state(call: &CallContext<'_>, bank: &MemoryBank, loaded: &LoadedBank) -> Value {
    let mut files = Map::new();
    for file in &loaded.files {
        let state = json!({
            "tokens": estimate_tokens(&file.text),
            "bytes": file.text.len(),
            "modified": file.modified.to_string(),
            "version": file.hash.to_string(),
            "text": &*file.text,
        });
        files.insert(bank.name_of(&file.path).to_owned(), state);
    }
    json!({
        "bank": bank.key(),
        "written": clock::now().to_string(),
        "tokens": loaded.tokens(),
        "files": files,
        "unreadable": loaded.unreadable,
        "operations": call.settings.banks.cache.operations(),
        "errors": recent_problems(call.memory, &bank.key()),
    })
}
