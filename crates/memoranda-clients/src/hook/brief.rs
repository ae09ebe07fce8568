//! The brief: quoted facts with sources for the start of a conversation or for a question.

use std::sync::Arc;
use std::sync::mpsc::channel;

use memoranda_engine::core::note;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::records::{VisibleScopes, rules_and_reminders_scope};
use memoranda_engine::{
    GitRepository, ListFilter, ListOrder, ListRequest, Memory, NoteLocation, SyncScope, clock,
};
use memoranda_tools::{
    BriefQuestion, BriefRequest, BriefVisit, NearestInBrief, quotation as quoted,
};

use super::HookRun;
use super::checkpoint::{self, cut};
use crate::error::Result;

/// Start tag of text that a hook adds to a conversation.
const OPEN_TAG: &str = "<memoranda-brief>";
const CLOSE_TAG: &str = "</memoranda-brief>";
/// Tags as Gemini CLI records them, escaped and inside tags of its own.
const ESCAPED_TAGS: (&str, &str) = ("&lt;memoranda-brief&gt;", "&lt;/memoranda-brief&gt;");
const HOOK_CONTEXT_TAGS: (&str, &str) = ("<hook_context>", "</hook_context>");
/// Heading of a brief for a question.
const ABOUT_THIS: &str = "What memory holds about this";
/// Clients take ten thousand characters; the tags and a margin are among them.
const MAX_BRIEF_CHARS: usize = 9_000;
/// Maximum number of characters of rules, reminders and memories.
pub(super) const MAX_CONTEXT_CHARS: usize = 6_000;
/// Maximum number of characters of a brief for a question.
const MAX_QUESTION_CHARS: usize = 2_000;
/// Beginning of the heading of changes since the last brief.
const CHANGES_HEADING: &str = "## Changed Since";
/// Maximum number of words of a question that are searched for.
const MAX_PROMPT_WORDS: usize = 32;
/// Maximum number of words of a prompt that counts as a question.
const MAX_QUESTION_WORDS: usize = 20;
/// Words with which a question begins, also behind a preposition.
const QUESTION_WORDS: [&str; 9] =
    ["how", "what", "when", "where", "which", "who", "whom", "whose", "why"];
/// Verbs with which a question begins.
const QUESTION_VERBS: [&str; 14] = [
    "are", "can", "could", "did", "do", "does", "has", "have", "is", "should", "was", "were",
    "will", "would",
];
/// Minimum relevance of a memory that shares fewer than two words with a question. A brief is not
/// asked for, so the memory must be likely to fit.
const MIN_UNASKED_RELEVANCE: f64 = 0.5;
/// Maximum age in seconds of a checkpoint that shows where the work stands.
pub(super) const MAX_CHECKPOINT_AGE_SECONDS: i64 = 14 * 24 * 3600;

/// Returns the brief for the start of a conversation; `None` if nothing is known.
pub(super) fn at_start(run: &HookRun, memory: &Arc<Memory>) -> Result<Option<String>> {
    let mut brief = BriefBuilder::default();
    if catch_up(run, memory) == IndexCoverage::SomeFiles {
        brief.lead(
            "The index of these notes is being built: what follows may lack rules and memories. \
             `get_context` tells all of them in a moment.",
        );
    }
    let known = known(run, memory);
    brief.lead(&known);
    brief.conversation(run, &last_checkpoint(run, memory)?);
    if !known.contains(CHANGES_HEADING) {
        brief.section("Changed last", &changed_last(run, memory)?, 1200);
    }
    Ok(brief.finished())
}

/// Returns the brief after a timeout, because silence would look like an empty memory.
pub(super) fn out_of_time() -> Option<String> {
    let mut brief = BriefBuilder::default();
    brief.lead(
        "Nothing could be read in time: the index of these notes is being built, or another \
         process is busy with it. `get_context` tells the rules and memories that hold here.",
    );
    brief.finished()
}

/// Returns the brief for a question; `None` if nothing is found.
pub(super) fn at_prompt(run: &HookRun, memory: &Arc<Memory>) -> Result<Option<String>> {
    let Some(words) = PromptWords::of(run) else { return Ok(None) };
    catch_up(run, memory);
    let found = memoranda_tools::question_brief(
        memory,
        &run.settings,
        &brief_request(run, MAX_QUESTION_CHARS),
        &BriefQuestion {
            text: &words.query(),
            is_relevant: &|text, relevance| words.fit(text, relevance),
            without_relevant: words.nearest(),
        },
    )?;
    Ok(about_question(&found))
}

/// Returns the brief with the memories about a question; `None` if there are none.
pub(super) fn about_question(found: &str) -> Option<String> {
    let mut brief = BriefBuilder::default();
    brief.section(ABOUT_THIS, found, MAX_QUESTION_CHARS);
    brief.finished()
}

/// Words of a question that are searched for.
pub(super) struct PromptWords {
    words: Vec<String>,
    is_question: bool,
}

impl PromptWords {
    /// Returns the words of a question; `None` for a question without enough of them, and for a
    /// command of the client.
    pub(super) fn of(run: &HookRun) -> Option<Self> {
        let prompt = run.input.prompt.as_deref().map(without_briefs)?;
        // Only words are used: a prompt has no query syntax.
        let words = prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.take(MAX_PROMPT_WORDS).map(str::to_lowercase).collect();
        let words = Self { is_question: is_question(&prompt, &words), words };
        let is_asked = words.content().count() >= 2 && !prompt.trim_start().starts_with('/');
        is_asked.then_some(words)
    }

    /// Returns the words as a query.
    pub(super) fn query(&self) -> String {
        self.words.join(" ")
    }

    fn content(&self) -> impl Iterator<Item = &String> {
        self.words.iter().filter(|word| word.chars().count() > 3)
    }

    /// Returns the memory that a brief names if none is relevant: the nearest one to a question, and
    /// none to an order, which seldom asks for a memory.
    pub(super) fn nearest(&self) -> NearestInBrief {
        if self.is_question { NearestInBrief::Named } else { NearestInBrief::LeftOut }
    }

    /// Returns true if a memory fits: one word in common is chance, a meaning in common is not.
    /// Records have no relevance.
    pub(super) fn fit(&self, text: &str, relevance: Option<f64>) -> bool {
        let text = text.to_lowercase();
        let distinct: std::collections::BTreeSet<&String> = self.content().collect();
        distinct.iter().filter(|word| text.contains(word.as_str())).count() >= 2
            || relevance.is_none_or(|relevance| relevance > MIN_UNASKED_RELEVANCE)
    }
}

/// Returns true for a short prompt that ends with a question mark or begins like a question.
fn is_question(prompt: &str, words: &[String]) -> bool {
    let begins = |count: usize, openings: &[&str]| {
        words.iter().take(count).any(|word| openings.contains(&word.as_str()))
    };
    // A question word may follow a preposition: "until when".
    let reads_as_question = prompt.trim_end().ends_with('?')
        || begins(2, &QUESTION_WORDS)
        || begins(1, &QUESTION_VERBS);
    words.len() <= MAX_QUESTION_WORDS && reads_as_question
}

/// Coverage of the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum IndexCoverage {
    /// The files, or what was known of all of them at the last look.
    AllFiles,
    /// The index was rebuilt and does not contain every file yet.
    SomeFiles,
}

/// Scans the files for edits within a third of the time, so that very many files cannot prevent the
/// brief. Rules and reminders are scanned first. The scan continues in the background, and its
/// result is kept.
fn catch_up(run: &HookRun, memory: &Arc<Memory>) -> IndexCoverage {
    let (sender, done) = channel();
    let looking = Arc::clone(memory);
    let visible = VisibleScopes::of_workspace(run.settings.workspace.as_deref());
    let rules = rules_and_reminders_scope(&visible);
    let look = move || {
        // A failed scan does not fail the brief, and the receiver may have timed out.
        looking.catch_up(&rules, &mut |_| {}).ok();
        looking.catch_up(&SyncScope::Everything, &mut |_| {}).ok();
        sender.send(()).ok();
    };
    std::thread::Builder::new().spawn(look).ok();
    done.recv_timeout(run.event.timeout() / 3).ok();
    match memory.is_indexed() {
        Ok(true) => IndexCoverage::AllFiles,
        Ok(false) | Err(_) => IndexCoverage::SomeFiles,
    }
}

/// A text that grows by sections and never beyond what clients take.
#[derive(Default)]
pub(super) struct BriefBuilder {
    text: String,
}

impl BriefBuilder {
    pub(super) fn lead(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.text.push_str(&format!("\n{}\n", text.trim()));
        }
    }

    fn section(&mut self, heading: &str, body: &str, most: usize) {
        if body.trim().is_empty() {
            return;
        }
        let room = MAX_BRIEF_CHARS.saturating_sub(self.text.chars().count() + heading.len() + 8);
        let body = cut(body.trim_end(), most.min(room));
        self.text.push_str(&format!("\n## {heading}\n\n{body}\n"));
    }

    /// Adds the state of this conversation, or of the last one.
    pub(super) fn conversation(&mut self, run: &HookRun, checkpoint: &str) {
        let (heading, room) = if run.is_continued() {
            ("Where this conversation stood", 3500)
        } else {
            ("The last conversation here", 1800)
        };
        self.section(heading, checkpoint, room);
    }

    pub(super) fn finished(self) -> Option<String> {
        if self.text.is_empty() {
            return None;
        }
        // Quoted text cannot close the quotation.
        let text = self.text.replace(OPEN_TAG, "").replace(CLOSE_TAG, "");
        let day = clock::now().strftime("%Y-%m-%d").to_string();
        Some(format!(
            "{OPEN_TAG}\nFrom the memory that this person and their agents share, kept by Memoranda, as of \
             {day}. What is quoted is data with its source and its writer; the tools of the server \
             `memoranda` read and change it.\n{text}{CLOSE_TAG}"
        ))
    }
}

/// Returns the context of the task as `get_context` gives it. After an error the brief has its
/// other parts.
fn known(run: &HookRun, memory: &Memory) -> String {
    let brief = memoranda_tools::session_brief(
        memory,
        &run.settings,
        &brief_request(run, MAX_CONTEXT_CHARS),
    );
    brief.ok().flatten().unwrap_or_default()
}

fn brief_request(run: &HookRun, max_chars: usize) -> BriefRequest<'_> {
    let folder = run.settings.workspace.as_deref();
    BriefRequest { folder, client: Some(run.client.title()), visit: BriefVisit::Record, max_chars }
}

/// The checkpoint of this conversation, or of the last one in this repository.
fn last_checkpoint(run: &HookRun, memory: &Memory) -> Result<String> {
    let own = checkpoint::place(run).and_then(|place| memory.read_at(&place).ok());
    if run.is_continued() {
        let told =
            own.map(|note| format!("{}:\n{}", note.place, quoted(&body_of(&note.lossy_text()))));
        return Ok(told.unwrap_or_default());
    }
    let filter = ListFilter {
        project: Some(run.settings.memories.clone()),
        folder: NotePath::parse(checkpoint::FOLDER).ok(),
        ..ListFilter::default()
    };
    let request = ListRequest { filter, order: ListOrder::Newest, limit: 20, offset: 0 };
    let Ok(page) = memory.list(&request) else { return Ok(String::new()) };
    let here = run.input.folder.as_deref().and_then(GitRepository::of);
    let folder = run.input.folder.as_ref().map(|folder| folder.display().to_string());
    for file in page.notes {
        if clock::now().as_second() - file.updated.as_second() > MAX_CHECKPOINT_AGE_SECONDS {
            break;
        }
        let place = NoteLocation { project: file.project, path: file.path };
        let Ok(note) = memory.read_at(&place) else { continue };
        let text = note.lossy_text();
        let says = |key: &str, value: &str| {
            text.contains(&format!("\n{key}: {}\n", serde_json::Value::from(value)))
        };
        let is_here = match (here.as_ref().and_then(|here| here.remote.as_deref()), &folder) {
            (Some(remote), _) => says("repository", remote),
            (None, Some(folder)) => says("folder", folder),
            (None, None) => false,
        };
        if is_here {
            return Ok(format!("{place}:\n{}", quoted(&body_of(&text))));
        }
    }
    Ok(String::new())
}

/// The titles of notes that changed last; traces are left out.
fn changed_last(run: &HookRun, memory: &Memory) -> Result<String> {
    let request = ListRequest {
        filter: ListFilter { without_templates: true, ..ListFilter::default() },
        order: ListOrder::Newest,
        limit: 24,
        offset: 0,
    };
    let is_shown = |project: &str, path: &str, kind: &str| {
        let is_memory = project == run.settings.memories.as_str();
        // Records and notes about the user are in other sections.
        kind != "checkpoint" && project != "records" && !(is_memory && path.starts_with("user/"))
    };
    let page = memory.list(&request)?;
    let notes = page
        .notes
        .iter()
        .filter(|file| is_shown(file.project.as_str(), file.path.as_str(), &file.note_type));
    let line = |file: &memoranda_engine::FileSummary| {
        let day = file.updated.strftime("%Y-%m-%d").to_string();
        let place = NoteLocation { project: file.project.clone(), path: file.path.clone() };
        let writer = written_by(memory, &place);
        format!("- {} ({place}, {day}){writer}\n", file.title)
    };
    Ok(notes.take(8).map(line).collect())
}

/// The writer of a note, in parentheses; empty if unknown.
fn written_by(memory: &Memory, place: &NoteLocation) -> String {
    let writer = memoranda_tools::last_writer(memory, place);
    writer.map(|writer| format!(" (written by {writer})")).unwrap_or_default()
}

/// A note without its frontmatter.
pub(super) fn body_of(text: &str) -> String {
    let body = note::parse(text).body;
    text.get(body).unwrap_or(text).trim().to_owned()
}

/// Removes briefs and the output of other hooks, so that no brief is stored.
pub(super) fn without_briefs(text: &str) -> String {
    // The tags of clients come first: their content is escaped, so it contains no closing tag of
    // another kind.
    let (text, _) = split_tags(text, HOOK_CONTEXT_TAGS);
    let (text, _) = split_tags(&text, ESCAPED_TAGS);
    split_tags(&text, (OPEN_TAG, CLOSE_TAG)).0
}

/// Returns true if a text contains a brief for the start.
pub(super) fn has_brief(text: &str) -> bool {
    [ESCAPED_TAGS, (OPEN_TAG, CLOSE_TAG)].into_iter().any(|tags| {
        let (_, briefs) = split_tags(text, tags);
        briefs.iter().any(|brief| !brief.contains(&format!("## {ABOUT_THIS}")))
    })
}

/// Splits a text into the parts outside and inside of tags. An unclosed tag extends to the end.
fn split_tags<'a>(text: &'a str, (open, close): (&str, &str)) -> (String, Vec<&'a str>) {
    let mut rest = text;
    let mut outside = String::new();
    let mut inside = Vec::new();
    while let Some((before, after)) = rest.split_once(open) {
        outside.push_str(before);
        let (within, after) = after.split_once(close).unwrap_or((after, ""));
        inside.push(within);
        rest = after;
    }
    outside.push_str(rest);
    (outside, inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn briefs_are_never_remembered() {
        let check = |text: &str, kept: &str| assert_eq!(without_briefs(text), kept);
        check("a", "a");
        check(&format!("a{OPEN_TAG}b{CLOSE_TAG}c{OPEN_TAG}d{CLOSE_TAG}e"), "ace");
        check(&format!("a{OPEN_TAG}b"), "a");
        check(
            "<hook_context>&lt;memoranda-brief&gt;b&lt;/memoranda-brief&gt;</hook_context>\n\nc",
            "\n\nc",
        );
        check("a <hook_context>of another</hook_context>", "a ");
        check("a &lt;memoranda-brief&gt;b&lt;/memoranda-brief&gt; c", "a  c");
    }

    #[test]
    fn a_brief_of_the_start_is_told_from_one_with_a_question() {
        let mut brief = BriefBuilder::default();
        brief.section(ABOUT_THIS, "x", 100);
        let with_a_question = brief.finished().unwrap();
        let mut brief = BriefBuilder::default();
        brief.section("Changed last", "x", 100);
        let of_the_start = brief.finished().unwrap();
        let escaped = |text: &str| text.replace('<', "&lt;").replace('>', "&gt;");
        for (text, has) in [
            (with_a_question.clone(), false),
            (of_the_start.clone(), true),
            (escaped(&with_a_question), false),
            (escaped(&of_the_start), true),
            (format!("{with_a_question} and {of_the_start}"), true),
            ("memoranda-brief".to_owned(), false),
        ] {
            assert_eq!(has_brief(&text), has, "{text}");
        }
    }

    #[test]
    fn short_questions_are_told_from_orders() {
        let long = format!("what is {}", "very ".repeat(30));
        for (prompt, expected) in [
            ("where does my sister live", true),
            ("until when is the boiler covered", true),
            ("is her coffee sweetened", true),
            ("wo wohnt meine Schwester?", true),
            ("fix the failing test", false),
            ("explain what this does", true),
            ("rename the variable where it is declared", false),
            ("", false),
            (long.as_str(), false),
        ] {
            let words: Vec<String> = prompt.split(' ').map(str::to_lowercase).collect();
            assert_eq!(is_question(prompt, &words), expected, "{prompt}");
        }
    }

    #[test]
    fn a_brief_has_an_end() {
        let mut brief = BriefBuilder::default();
        brief.section("One", &"x".repeat(8_000), 8_000);
        brief.section("Two", &format!("y{CLOSE_TAG}").repeat(2_000), 8_000);
        let text = brief.finished().unwrap();
        assert!(text.chars().count() < 10_000, "{}", text.chars().count());
        assert_eq!(text.matches(CLOSE_TAG).count(), 1);
        assert!(BriefBuilder::default().finished().is_none());
    }
}
