//! Diagnostics: everything that is known of a bank, in a file beside its notes that is neither
//! searched nor versioned.

use memoranda_core::path::NotePath;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::{Place, clock};
use serde_json::{Map, Value, json};

use super::bank::{DUMP_FILE, MemoryBank};
use super::cache::LoadedBank;
use super::diagnostics::{self, DiagnosticSeverity};
use super::settings::DiagnosticsMode;
use crate::registry::CallContext;

/// The rules that keep dumps out of searches and out of git.
const RULES: &str = ".gitignore";

/// Writes a bank's dump, if diagnostics are on. Failing to is noted, and fails nothing.
pub(crate) fn write(call: &CallContext<'_>, bank: &MemoryBank, loaded: &LoadedBank) {
    let banks = &call.settings.banks;
    if banks.diagnostics == DiagnosticsMode::Off {
        return;
    }
    let Some(place) = bank.place(&banks.project, DUMP_FILE) else { return };
    tracing::debug!(bank = bank.key(), tokens = loaded.tokens(), "bank in memory");
    let text = format!("{:#}\n", state(call, bank, loaded));
    if let Err(error) = rules(call).and_then(|()| put(call, &place, text.as_bytes())) {
        let description = format!("{DUMP_FILE} was not written: {error}");
        diagnostics::record(call.memory, &bank.key(), DiagnosticSeverity::Warning, &description);
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
        "errors": diagnostics::recent(call.memory, &bank.key()),
    })
}

/// Sees to it that dumps are ignored, unless the person has rules of their own.
fn rules(call: &CallContext<'_>) -> Result<(), String> {
    let project = &call.settings.banks.project;
    let Ok(path) = NotePath::parse(RULES) else { return Ok(()) };
    let place = Place { project: project.clone(), path };
    match call.memory.store().read(project, &place.path) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => put(call, &place, format!("{DUMP_FILE}\n").as_bytes()),
        Err(e) => Err(e.to_string()),
    }
}

fn put(call: &CallContext<'_>, place: &Place, bytes: &[u8]) -> Result<(), String> {
    call.memory.store().put_aside(&place.project, &place.path, bytes).map_err(|e| e.to_string())
}
