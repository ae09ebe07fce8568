//! The brief of a session: rules, due reminders and memories as one text, for hooks.

use std::collections::BTreeMap;
use std::path::Path;

use memoranda_engine::records::{
    FileSelection, MemoryRecord, RecordQuery, RecordResult, RecordScope, RuleList, VisibleScopes,
    due_reminders, newest_records,
};
use memoranda_engine::{GitRepository, Memory};

use super::context::{MEMORIES, relevant};
use super::render::{due_text, list_line};
use super::rules::RulesPage;
use super::writer::last_writer;
use crate::settings::RecordSettings;

/// Maximum number of recent memories.
const MAX_RECENT: usize = 8;
/// Maximum number of relevant memories.
const MAX_RELEVANT: usize = 8;
/// Maximum length of a memory, in characters.
const LINE_CHARS: usize = 300;

/// The subject of a session.
#[derive(Clone, Debug)]
pub struct BriefRequest<'a> {
    /// Folder that the client works in.
    pub folder: Option<&'a Path>,
    /// Subject of the session, if known.
    pub query: Option<&'a str>,
    /// Maximum length of the text, in characters.
    pub max_chars: usize,
}

/// Renders the active rules, due reminders, relevant and recent memories. `None` if there are none.
/// A text that is too long is cut at the end with a note.
pub fn brief(
    memory: &Memory,
    settings: &RecordSettings,
    request: &BriefRequest<'_>,
) -> RecordResult<Option<String>> {
    let visible = VisibleScopes::new(request.folder.and_then(RecordScope::of_workspace));
    let now = settings.now();
    let mut parts: Vec<String> = Vec::new();
    let rules = RuleList::load(memory, &visible, &FileSelection::default(), &now)?;
    let page = RulesPage::new(&rules, 0, request.max_chars * 3 / 4);
    if !page.rules.is_empty() {
        let mut part = format!("Rules that are stored in this memory:\n{}", page.text);
        part.push_str(&writers_line(memory, &page.rules));
        if let Some(next) = page.next {
            let more = rules.count() - next;
            part.push_str(&format!("[{more} more rules: get_rules {{\"offset\": {next}}}]\n"));
        }
        parts.push(part);
    }
    let due = due_reminders(memory, &visible, &settings.zone)?;
    if !due.is_empty() {
        let line = |reminder| format!("- {}\n", due_text(reminder, &settings.zone));
        let lines: Vec<String> = due.iter().map(line).collect();
        parts.push(format!("## Due Reminders\n{}", lines.concat()));
    }
    let is_active = |record: &MemoryRecord| record.is_active(&now);
    let found = match request.query.filter(|query| !query.trim().is_empty()) {
        Some(text) => {
            let query = RecordQuery { text, limit: MAX_RELEVANT, min_relevance: None };
            relevant(memory, &visible, query, &is_active)?
        }
        None => Vec::new(),
    };
    parts.extend(section(memory, "Relevant Memories", &found));
    let (recent, _) = newest_records(memory, &visible, &MEMORIES, MAX_RECENT, &|record| {
        is_active(record) && !found.iter().any(|known| known.id == record.id)
    })?;
    parts.extend(section(memory, "Recent Memories", &recent));
    if parts.is_empty() {
        return Ok(None);
    }
    let text = format!("{}\n\n{}", heading(request, &visible), parts.join("\n"));
    Ok(Some(cut_lines(text.trim_end(), request.max_chars)))
}

fn heading(request: &BriefRequest<'_>, visible: &VisibleScopes) -> String {
    let branch =
        request.folder.and_then(GitRepository::of).and_then(|repository| repository.branch);
    match (visible.project(), branch) {
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

fn section(memory: &Memory, heading: &str, records: &[MemoryRecord]) -> Option<String> {
    if records.is_empty() {
        return None;
    }
    let lines: Vec<String> =
        records.iter().map(|record| list_line(record, LINE_CHARS) + "\n").collect();
    let writers = writers_line(memory, &records.iter().collect::<Vec<_>>());
    Some(format!("## {heading}\n{}{writers}", lines.concat()))
}

/// Renders who wrote these records: `[written by the agent claude-code 2.1 (3), …]`.
fn writers_line(memory: &Memory, records: &[&MemoryRecord]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for writer in records.iter().filter_map(|record| last_writer(memory, &record.place)) {
        *counts.entry(writer).or_default() += 1;
    }
    let names: Vec<String> = match counts.len() {
        0 => return String::new(),
        1 => counts.into_keys().collect(),
        _ => counts.into_iter().map(|(writer, count)| format!("{writer} ({count})")).collect(),
    };
    format!("[written by {}]\n", names.join(", "))
}

/// Cuts a text to whole lines and adds a note.
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
    fn a_long_text_is_cut_between_lines() {
        let text = "eins\nzwei\ndrei\nvier, und noch mehr davon, damit es lang wird";
        assert_eq!(cut_lines(text, 1000), text);
        let short = cut_lines(text, 46);
        assert_eq!(short, "eins\nzwei\n[cut; get_context tells the rest]");
        assert!(short.chars().count() <= 46);
    }
}
