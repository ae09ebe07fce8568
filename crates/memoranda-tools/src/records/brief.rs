//! The brief of a hook: the context of a task as one text, with the writer of everything it quotes.
//! It renders the same [`TaskContext`] as `get_context`.

use std::collections::BTreeMap;
use std::path::Path;

use memoranda_engine::recall::RecalledPassage;
use memoranda_engine::records::{
    FileSelection, MemoryRecord, RecordResult, RecordScope, VisibleScopes, single_line,
};
use memoranda_engine::task_context::{
    ContextQuestion, OtherRepositories, TaskContext, TaskContextRequest,
};
use memoranda_engine::{
    FileSummary, GitRepository, LOW_RELEVANCE, MIN_RELEVANCE, Memory, NoteLocation, VisitRegister,
    VisitingClient,
};

use super::render::due_text;
use super::rules::RulesPage;
use super::writer::last_writer;
use crate::core::get_context::{change_lines, changes_heading};
use crate::core::nearest::NEAREST_HEADING;
use crate::settings::ToolSettings;

/// Maximum number of relevant records, and of relevant memories besides them.
const MAX_RELEVANT: usize = 5;
/// Maximum length of a statement, in characters.
const LINE_CHARS: usize = 300;
/// Maximum length of the sections about the person, the repository and the changes, in characters.
const MAX_PERSON_CHARS: usize = 2_500;
const MAX_REPOSITORY_CHARS: usize = 1_500;
const MAX_CHANGES_CHARS: usize = 1_200;
/// Maximum number of memory files that are listed.
const MAX_FILES: usize = 8;
/// Folders of memory files that are not listed: those about the person are quoted, and those of
/// conversations are traces.
const UNLISTED_FOLDERS: [&str; 2] = ["user", "sessions"];

/// A request for a brief.
#[derive(Clone, Debug)]
pub struct BriefRequest<'a> {
    /// Folder that the client works in.
    pub folder: Option<&'a Path>,
    /// Name of the visiting client; `None` for a brief without changes.
    pub client: Option<&'a str>,
    /// Record of the visit.
    pub visit: BriefVisit,
    /// Maximum length of the text, in characters.
    pub max_chars: usize,
}

/// Record of a client's visit by a brief.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BriefVisit {
    /// The client gets the brief: the next one has the changes after this visit.
    Record,
    /// Somebody else looks at the brief.
    Peek,
}

/// Renders rules, due reminders, what is known about the person and the repository, memory files,
/// and changes since the last brief. `None` if there are none. A text that is too long is cut at the
/// end with a note.
pub fn session_brief(
    memory: &Memory,
    settings: &ToolSettings,
    request: &BriefRequest<'_>,
) -> RecordResult<Option<String>> {
    let visible = VisibleScopes::of_workspace(request.folder);
    let repository = visible.project().map_or("global", RecordScope::name);
    let visitor = request.client.map(|client| {
        let visitor = VisitingClient::new(client, repository, VisitRegister::Briefs);
        if request.visit == BriefVisit::Peek { visitor.without_record() } else { visitor }
    });
    let context = load(memory, settings, &visible, None, visitor.as_ref())?;
    let mut parts: Vec<String> = Vec::new();
    parts.extend(rules_part(memory, &context, request.max_chars * 3 / 4));
    let line = |reminder| format!("- {}\n", due_text(reminder, &settings.records.zone));
    let due: String = context.due.iter().map(line).collect();
    parts.extend(section("## Due Reminders", &due, request.max_chars));
    let person = passages_text(memory, &context.person);
    parts.extend(section("## About the Person", &person, MAX_PERSON_CHARS));
    let everywhere = passages_text(memory, &context.everywhere);
    parts.extend(section("## Known Everywhere", &everywhere, MAX_PERSON_CHARS));
    let about = passages_text(memory, &context.repository);
    parts.extend(section("## This Repository", &about, MAX_REPOSITORY_CHARS));
    let files = files_text(&context.memory_files);
    parts.extend(section("## Memory Files", &files, request.max_chars));
    if let Some(changes) = &context.changes {
        let lines = change_lines(memory, changes, &visible, settings.notes.only_project.as_deref());
        let heading = changes_heading(changes, &settings.records);
        let text: String = lines.into_iter().map(|line| line + "\n").collect();
        parts.extend(section(&heading, &text, MAX_CHANGES_CHARS));
    }
    if parts.is_empty() {
        return Ok(None);
    }
    let text = format!("{}\n\n{}", heading(request, &visible), parts.join("\n"));
    Ok(Some(cut_lines(text.trim_end(), request.max_chars)))
}

/// A question whose memories a brief quotes.
#[derive(Clone, Copy)]
pub struct BriefQuestion<'a> {
    /// The words.
    pub text: &'a str,
    /// Decides by the text of a memory and its relevance, which is `None` for a record.
    pub is_relevant: &'a dyn Fn(&str, Option<f64>) -> bool,
    /// Memory for a question without a relevant one.
    pub without_relevant: NearestInBrief,
}

/// Memory of a brief for a question without a relevant one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NearestInBrief {
    /// The nearest one, with the notice that it may be about something else.
    Named,
    /// None.
    LeftOut,
}

/// Renders the memories that match a question, each with its place and writer. Empty if there are
/// none.
pub fn question_brief(
    memory: &Memory,
    settings: &ToolSettings,
    request: &BriefRequest<'_>,
    asked: &BriefQuestion<'_>,
) -> RecordResult<String> {
    let visible = VisibleScopes::of_workspace(request.folder);
    let question = ContextQuestion {
        text: asked.text,
        limit: MAX_RELEVANT,
        layer: None,
        min_relevance: Some(MIN_RELEVANCE),
        names_nearest: asked.without_relevant == NearestInBrief::Named,
        others: OtherRepositories::Included,
    };
    let context = load(memory, settings, &visible, Some(question), None)?;
    let quoted = |title: &str, place: &NoteLocation, said: &str| {
        let writer = written_by(memory, place);
        format!("{title} ({place}){writer}:\n{}", quotation(said))
    };
    let (mut text, mut nearest) = (String::new(), None);
    for record in &context.relevant {
        let (title, content) =
            (single_line(&record.content, 60), single_line(&record.content, LINE_CHARS));
        let quotation = quoted(&title, &record.place, &content);
        if (asked.is_relevant)(&record.content, None) {
            text.push_str(&quotation);
        } else {
            nearest.get_or_insert(quotation);
        }
    }
    for other in &context.elsewhere {
        let result = &other.result;
        let quotation = quoted(&result.title, &result.place, &result.snippet.text);
        let whole = format!("{} {} {}", result.title, result.heading, result.snippet.text);
        if (asked.is_relevant)(&whole, Some(result.relevance)) {
            text.push_str(&quotation);
        } else {
            nearest.get_or_insert(quotation);
        }
    }
    let is_near = |passage: &&RecalledPassage| passage.relevance >= Some(LOW_RELEVANCE);
    if let Some(passage) = context.nearest.iter().find(is_near)
        && let Some(place) = passage.places.first()
    {
        let said = single_line(&passage.text, LINE_CHARS);
        nearest = Some(quoted(&single_line(&said, 60), place, &said));
    }
    // A brief is not asked for: it names one, and only if it is not noise.
    if let Some(nearest) = nearest.filter(|_| text.is_empty())
        && asked.without_relevant == NearestInBrief::Named
    {
        text = format!("{NEAREST_HEADING}{nearest}");
    }
    Ok(cut_lines(&text, request.max_chars))
}

fn load(
    memory: &Memory,
    settings: &ToolSettings,
    visible: &VisibleScopes,
    question: Option<ContextQuestion<'_>>,
    visitor: Option<&VisitingClient>,
) -> RecordResult<TaskContext> {
    let request = TaskContextRequest {
        visible,
        files: FileSelection::default(),
        question,
        only: None,
        memory_files: Some(&settings.memories),
        zone: &settings.records.zone,
        now: &settings.records.now(),
        visitor,
    };
    TaskContext::load(memory, &request)
}

fn heading(request: &BriefRequest<'_>, visible: &VisibleScopes) -> String {
    let branch =
        request.folder.and_then(GitRepository::of).and_then(|repository| repository.branch);
    match (visible.project(), branch) {
        (Some(project), Some(branch)) => {
            format!("Known from memory (about {}, branch {branch}, and global):", project.name())
        }
        (Some(project), None) => {
            format!("Known from memory (about {} and global):", project.name())
        }
        (None, _) => "Known from memory (global):".to_owned(),
    }
}

fn rules_part(memory: &Memory, context: &TaskContext, max_chars: usize) -> Option<String> {
    let page = RulesPage::new(&context.rules, 0, max_chars);
    if page.rules.is_empty() {
        return None;
    }
    let mut part = format!("Rules that are stored in this memory:\n{}", page.text);
    part.push_str(&writers_line(memory, &page.rules));
    if let Some(next) = page.next {
        let more = context.rules.count() - next;
        part.push_str(&format!("[{more} more rules: get_rules {{\"offset\": {next}}}]\n"));
    }
    Some(part)
}

fn section(heading: &str, body: &str, max_chars: usize) -> Option<String> {
    (!body.is_empty()).then(|| format!("{heading}\n{}\n", cut_lines(body.trim_end(), max_chars)))
}

/// Renders statements as list items, and the beginnings of files as quotations.
fn passages_text(memory: &Memory, passages: &[RecalledPassage]) -> String {
    let one = |passage: &RecalledPassage| {
        let place = passage.places.first()?;
        Some(match &passage.id {
            Some(id) => {
                let text = single_line(&passage.text, LINE_CHARS);
                let writer = last_writer(memory, place);
                let writer = writer.map(|name| format!(", written by {name}")).unwrap_or_default();
                format!("- {text} ({}, id {id}{writer})\n", passage.kind.as_str())
            }
            None => {
                let writer = written_by(memory, place);
                format!("{place}{writer}:\n{}", quotation(&passage.text))
            }
        })
    };
    passages.iter().filter_map(one).collect()
}

/// Lists the memory files that the brief does not mention elsewhere.
fn files_text(files: &[FileSummary]) -> String {
    let is_listed =
        |file: &&FileSummary| !UNLISTED_FOLDERS.iter().any(|folder| file.path.is_within(folder));
    let listed = files.iter().filter(is_listed).take(MAX_FILES);
    listed.map(|file| format!("- /memories/{}\n", file.path)).collect()
}

/// Renders the writer of a note in parentheses; empty if unknown.
fn written_by(memory: &Memory, place: &NoteLocation) -> String {
    let writer = last_writer(memory, place);
    writer.map(|writer| format!(" (written by {writer})")).unwrap_or_default()
}

/// Renders a text as a quotation, a mark before every line.
pub fn quotation(text: &str) -> String {
    let lines = text.trim().lines().flat_map(|line| line.split('\r'));
    lines.map(|line| format!("> {line}").trim_end().to_owned() + "\n").collect()
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
