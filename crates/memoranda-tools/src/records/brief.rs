//! What a session starts from, as one text: for hooks that run before the first word is said.

use std::path::Path;

use memoranda_engine::{EngineError, Memory, Repository};

use super::context::MEMORIES;
use super::error::{RecordError, Result};
use super::query;
use super::record::MemoryRecord;
use super::reminder;
use super::rules::{FileSelection, RuleList};
use super::scope::{RecordScope, VisibleScopes};
use crate::settings::RecordSettings;

/// How many recent memories are told, and how many relevant ones.
const MAX_RECENT: usize = 8;
const MAX_RELEVANT: usize = 8;
/// How long one of them may be.
const LINE_CHARS: usize = 300;

/// What a session is about.
#[derive(Clone, Debug)]
pub struct BriefRequest<'a> {
    /// The folder that the client works in.
    pub folder: Option<&'a Path>,
    /// What the session is about, if that is known.
    pub query: Option<&'a str>,
    /// The most characters that the text may have.
    pub max_chars: usize,
}

/// The rules that hold, what is due, and what is known lately and about the task, written as
/// facts; `None` if there is nothing to tell. What does not fit is left out from the end, and said.
pub fn brief(
    memory: &Memory,
    settings: &RecordSettings,
    request: &BriefRequest<'_>,
) -> Result<Option<String>> {
    let reach = VisibleScopes::new(request.folder.and_then(RecordScope::of_workspace));
    let mut parts: Vec<String> = Vec::new();
    let rules = RuleList::read(memory, &reach, &FileSelection::any(), &settings.now())?;
    let page = rules.page(0, request.max_chars * 3 / 4);
    if !page.rules.is_empty() {
        let mut part = format!("Rules that this person has set:\n{}", page.text);
        if let Some(next) = page.next {
            let more = rules.count() - next;
            part.push_str(&format!("[{more} more rules: get_rules {{\"offset\": {next}}}]\n"));
        }
        parts.push(part);
    }
    let due = reminder::due_reminders(memory, &reach, settings)?;
    if !due.is_empty() {
        let lines: Vec<String> = due.iter().map(|one| format!("- {}\n", one.due_text())).collect();
        parts.push(format!("## Due Reminders\n{}", lines.concat()));
    }
    let is_active = query::is_active_at(settings.now());
    let found = match request.query.filter(|query| !query.trim().is_empty()) {
        Some(query) => {
            match query::search_records(memory, &reach, &MEMORIES, query, MAX_RELEVANT, &is_active)
            {
                Err(RecordError::Engine(EngineError::Invalid(_))) => Vec::new(),
                other => other?.records,
            }
        }
        None => Vec::new(),
    };
    parts.extend(section("Relevant Memories", &found));
    let (recent, _) = query::newest_records(memory, &reach, &MEMORIES, MAX_RECENT, &|record| {
        is_active(record) && !found.iter().any(|known| known.id == record.id)
    })?;
    parts.extend(section("Recent Memories", &recent));
    if parts.is_empty() {
        return Ok(None);
    }
    let mut text = format!("{}\n\n", heading(request, &reach));
    let whole = parts.join("\n");
    text.push_str(&whole);
    Ok(Some(cut_lines(text.trim_end(), request.max_chars)))
}

fn heading(request: &BriefRequest<'_>, reach: &VisibleScopes) -> String {
    let branch = request.folder.and_then(Repository::of).and_then(|repository| repository.branch);
    match (reach.project(), branch) {
        (Some(project), Some(branch)) => {
            format!(
                "Known from memory (records of {}, branch {branch}, and global):",
                project.name()
            )
        }
        (Some(project), None) => {
            format!("Known from memory (records of {} and global):", project.name())
        }
        (None, _) => "Known from memory (global records):".to_owned(),
    }
}

fn section(heading: &str, records: &[MemoryRecord]) -> Option<String> {
    if records.is_empty() {
        return None;
    }
    let lines: Vec<String> = records.iter().map(|one| one.list_line(LINE_CHARS) + "\n").collect();
    Some(format!("## {heading}\n{}", lines.concat()))
}

/// Whole lines up to a number of characters, and a word about the rest.
fn cut_lines(text: &str, max_chars: usize) -> String {
    const MORE: &str = "[cut; get_context tells the rest]";
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let room = max_chars.saturating_sub(MORE.chars().count() + 1);
    let mut kept = String::new();
    let mut chars = 0;
    for line in text.lines() {
        chars += line.chars().count() + 1;
        if chars > room {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept.push_str(MORE);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_falls_between_lines_and_is_said() {
        let text = "eins\nzwei\ndrei\nvier, und noch mehr davon, damit es lang wird";
        assert_eq!(cut_lines(text, 1000), text);
        let short = cut_lines(text, 46);
        assert_eq!(short, "eins\nzwei\n[cut; get_context tells the rest]");
        assert!(short.chars().count() <= 46);
    }
}
