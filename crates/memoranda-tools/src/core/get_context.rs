//! The sections of `get_context` behind those of the records: what is known of the person, what is
//! due, the memory files, and what others changed since the last visit.
//!
//! One token budget covers the answer. Rules and relevant memories come first; the further sections
//! share what is left, and each passes on what it does not need.

use memoranda_core::change::FileChange;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::recall::RecalledPassage;
use memoranda_engine::records::{VisibleScopes, records_project, single_line};
use memoranda_engine::task_context::TaskContext;
use memoranda_engine::{ChangesSinceVisit, Memory};
use serde_json::{Value, json};

use crate::registry::CallContext;
use crate::settings::RecordSettings;

/// Token budget of an answer if the caller gives none.
pub(crate) const CONTEXT_TOKENS: usize = 1_500;
/// Minimum number of tokens of the further sections if the caller gives no budget.
const MIN_FURTHER_TOKENS: usize = 300;
/// Shares of the further sections in what is left of the budget, in percent: the person with what
/// holds everywhere, what is due, memory files, changes.
const SHARES: [usize; 4] = [40, 25, 15, 20];
/// Maximum length of a line, in characters.
pub(crate) const LINE_CHARS: usize = 240;
/// Maximum length of the title of a changed record, in characters.
const TITLE_CHARS: usize = 100;

/// The further sections of an answer.
#[derive(Default)]
pub(crate) struct FurtherSections {
    /// The sections with their headings.
    pub(crate) text: String,
    /// Statements about the person.
    pub(crate) person: Vec<Value>,
    /// Statements that hold everywhere and are not about the person.
    pub(crate) everywhere: Vec<Value>,
    /// The statements of both sections.
    pub(crate) known: Vec<RecalledPassage>,
    /// Paths of the memory files.
    pub(crate) memory_files: Vec<String>,
    /// Changes since the last visit; `null` on the first one.
    pub(crate) changes: Value,
}

/// The input of the further sections.
pub(crate) struct FurtherRequest<'a> {
    /// The scopes of the caller.
    pub(crate) visible: &'a VisibleScopes,
    /// Ids of records that the answer contains already.
    pub(crate) shown: Vec<&'a str>,
    /// Lines of the due reminders.
    pub(crate) due: Vec<String>,
    /// Token budget of the whole answer; `None` for the default.
    pub(crate) budget: Option<usize>,
    /// Tokens of the sections before.
    pub(crate) spent: usize,
}

/// A line of a section, with the tokens of the longer of text and structure.
struct SectionLine {
    text: String,
    tokens: usize,
}

impl SectionLine {
    fn new(text: String, item: &Value) -> Self {
        let tokens = estimate_tokens(&text).max(estimate_tokens(&item.to_string())) + 1;
        Self { text, tokens }
    }
}

/// A section that takes lines until its room is full.
struct SectionWriter {
    text: String,
    left: usize,
}

impl SectionWriter {
    /// Writes a section of lines into a share of the room. Returns the number of written lines.
    fn section(&mut self, heading: &str, lines: &[SectionLine], share: usize, more: &str) -> usize {
        if lines.is_empty() {
            return 0;
        }
        let room = self.left * share / 100;
        let mut spent = estimate_tokens(heading) + 1;
        let mut written = 0;
        let mut body = String::new();
        for line in lines {
            if spent + line.tokens > room {
                break;
            }
            spent += line.tokens;
            body.push_str(&line.text);
            body.push('\n');
            written += 1;
        }
        self.text.push_str(&format!("\n{heading}\n{body}"));
        if written < lines.len() {
            self.text.push_str(&format!("[{} more: {more}]\n", lines.len() - written));
        }
        self.left = self.left.saturating_sub(spent);
        written
    }
}

impl FurtherSections {
    /// Renders the sections.
    pub(crate) fn new(
        call: &CallContext<'_>,
        context: &TaskContext,
        request: &FurtherRequest<'_>,
    ) -> Self {
        let settings = call.settings;
        let left = match request.budget {
            Some(budget) => budget.saturating_sub(request.spent),
            None => CONTEXT_TOKENS.saturating_sub(request.spent).max(MIN_FURTHER_TOKENS),
        };
        let mut writer = SectionWriter { text: String::new(), left };
        let mut sections = Self::default();
        // The shares are of what is left when a section begins.
        let [person_share, due_share, files_share, _] = SHARES;
        let rest = 100 - person_share;
        let after_due = rest - due_share;
        let more = "recall without query";
        let share = writer.left * person_share / 100;
        let rest_of_all = writer.left - share;
        let known = known_passages(&context.person, request);
        let (lines, items) = known_lines(&known);
        let written = writer.section("## About the Person", &lines, person_share, more);
        sections.person = items.into_iter().take(written).collect();
        sections.known.extend(known.into_iter().take(written).cloned());
        // What the person leaves of the share.
        let known = known_passages(&context.everywhere, request);
        let (lines, items) = known_lines(&known);
        let unused = 100 * writer.left.saturating_sub(rest_of_all) / writer.left.max(1);
        let written = writer.section("## Known Everywhere", &lines, unused, more);
        sections.everywhere = items.into_iter().take(written).collect();
        sections.known.extend(known.into_iter().take(written).cloned());
        let more = "list_reminders";
        let due = request.due.iter().map(|line| SectionLine::new(line.clone(), &Value::Null));
        let due: Vec<_> = due.collect();
        writer.section("## Due Reminders", &due, 100 * due_share / rest, more);
        let files = context.memory_files.iter();
        sections.memory_files = files.map(|file| format!("/memories/{}", file.path)).collect();
        let line = |path: &String| SectionLine::new(format!("- {path}"), &json!(path));
        let lines: Vec<_> = sections.memory_files.iter().map(line).collect();
        let share = 100 * files_share / after_due;
        let more = "memory view /memories";
        let written = writer.section("## Memory Files", &lines, share, more);
        sections.memory_files.truncate(written);
        if let Some(changes) = &context.changes {
            let heading = changes_heading(changes, &settings.records);
            let only = settings.notes.only_project.as_deref();
            let lines = change_lines(call.memory, changes, request.visible, only).into_iter();
            let lines: Vec<_> = lines.map(|line| SectionLine::new(line, &Value::Null)).collect();
            let written = writer.section(&heading, &lines, 100, "recent_activity");
            let shown = lines.iter().take(written).map(|line| line.text.trim_start_matches("- "));
            sections.changes = json!({
                "since": changes.since.to_string(),
                "commits": lines.len(),
                "shown": shown.collect::<Vec<_>>(),
            });
        }
        sections.text = writer.text;
        sections
    }
}

/// Returns the statements that the answer does not contain already.
fn known_passages<'a>(
    known: &'a [RecalledPassage],
    request: &FurtherRequest<'_>,
) -> Vec<&'a RecalledPassage> {
    let is_new = |id: Option<&str>| id.is_none_or(|id| !request.shown.contains(&id));
    known.iter().filter(|passage| is_new(passage.id.as_deref())).collect()
}

fn known_lines(known: &[&RecalledPassage]) -> (Vec<SectionLine>, Vec<Value>) {
    known
        .iter()
        .map(|passage| {
            let source = match &passage.id {
                Some(id) => format!("{}, id {id}", passage.kind.as_str()),
                None => passage.places.first().map(ToString::to_string).unwrap_or_default(),
            };
            let text = single_line(&passage.text, LINE_CHARS);
            let item = json!({ "id": passage.id, "kind": passage.kind.as_str(), "text": text });
            (SectionLine::new(format!("- {text} ({source})"), &item), item)
        })
        .unzip()
}

/// Returns the heading of the changes, with the time of the last visit.
pub(crate) fn changes_heading(changes: &ChangesSinceVisit, settings: &RecordSettings) -> String {
    let since = changes.since.to_zoned(settings.zone.clone());
    format!("## Changed Since Your Last Visit ({})", since.strftime("%Y-%m-%d %H:%M %Z"))
}

/// Renders the commits of others that the caller may see, a line each.
pub(crate) fn change_lines(
    memory: &Memory,
    changes: &ChangesSinceVisit,
    visible: &VisibleScopes,
    only: Option<&str>,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for commit in &changes.commits {
        let is_shown = |file: &&FileChange| {
            only.is_none_or(|only| file.project.as_str() == only) && is_visible(file, visible)
        };
        let files: Vec<&FileChange> = commit.files.iter().filter(is_shown).collect();
        let Some(first) = files.first() else { continue };
        let gone = if first.after.is_none() { " (deleted)" } else { "" };
        let more = match files.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let author = memory.author_name(&commit.author);
        let said = record_title(memory, first).map(|title| format!(": {title}"));
        let said = said.unwrap_or_default();
        lines.push(format!("- {}/{}{gone}{more} by {author}{said}", first.project, first.path));
    }
    lines
}

/// Returns the title of a changed record, whose path is an id and says nothing. `None` for another
/// file, and for a record that is gone.
fn record_title(memory: &Memory, file: &FileChange) -> Option<String> {
    if file.project != records_project() {
        return None;
    }
    let snapshot = memory.snapshot().ok()?;
    let found = snapshot.file(&file.project, &file.path).ok()??;
    Some(single_line(&found.title, TITLE_CHARS)).filter(|title| !title.is_empty())
}

/// Returns false for a record of another repository.
fn is_visible(file: &FileChange, visible: &VisibleScopes) -> bool {
    file.project != records_project()
        || visible.scopes.iter().any(|scope| file.path.is_within(&scope.folder()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_cut_to_its_share() {
        let line = |n| SectionLine::new(format!("- line number {n}"), &Value::Null);
        let lines: Vec<_> = (0..10).map(line).collect();
        let mut writer = SectionWriter { text: String::new(), left: 100 };
        assert_eq!(writer.section("## Empty", &[], 50, "x"), 0);
        assert!(writer.text.is_empty());
        let written = writer.section("## Lines", &lines, 30, "`more`");
        assert!((1..10).contains(&written), "{written}");
        assert!(
            writer.text.contains(&format!("[{} more: `more`]", 10 - written)),
            "{}",
            writer.text
        );
        let left = writer.left;
        assert!(left < 100);
        assert_eq!(writer.section("## All", &lines, 100, "x"), 10);
        assert_eq!(SHARES.iter().sum::<usize>(), 100);
    }
}
