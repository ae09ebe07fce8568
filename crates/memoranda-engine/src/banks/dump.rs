//! The diagnostic file of a bank. The file is neither searched nor versioned.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use super::bank::{DUMP_FILE, MemoryBank};
use crate::{Memory, Result};

/// File with the rules that exclude diagnostic files from searches and from git.
const RULES_FILE: &str = ".gitignore";

/// Writes the diagnostic file of a bank, and the ignore rules unless the person has rules.
pub fn write_dump(
    memory: &Memory,
    project: &ProjectName,
    bank: &MemoryBank,
    text: &str,
) -> Result<()> {
    let store = memory.store();
    if let Ok(rules) = NotePath::parse(RULES_FILE)
        && store.read(project, &rules)?.is_none()
    {
        store.put_aside(project, &rules, format!("{DUMP_FILE}\n").as_bytes())?;
    }
    if let Some(place) = bank.place(project, DUMP_FILE) {
        store.put_aside(&place.project, &place.path, text.as_bytes())?;
    }
    Ok(())
}
