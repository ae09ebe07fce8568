//! `read_note` and `view_note`: read a note, now or at an earlier time.

use memoranda_core::id::ContentHash;
use memoranda_core::note;
use memoranda_core::note::permalink::permalink_of;
use memoranda_core::token_estimate::{estimate_tokens, truncate_to_tokens};
use memoranda_engine::{LOW_RELEVANCE, NoteLocation, ResolveIntent, SearchFilter, SearchRequest};
use serde_json::{Map, Value, json};

use super::compose::json_of;
use super::params::{AS_OF, COMMON, IDENTIFIER, MAX_TOKENS, PAGE, PAGE_SIZE, PROJECT};
use super::scope;
use crate::registry::{
    CallContext, INVALID_ARGUMENTS, NOTE_NOT_FOUND, Param, ParamTable, ToolArgs, ToolError,
    ToolResult, count,
};

/// Budget of a note in tokens, unless the caller chooses another.
const DEFAULT_TOKENS: u64 = 20_000;

const START_LINE: Param =
    Param::integer("start_line", 1, u64::MAX, "First line to show").hide_max().default_integer(1);
const START_COLUMN: Param = Param::integer("start_column", 1, u64::MAX, "First character in it")
    .hide_max()
    .default_integer(1);

pub(super) const READ_PARAMS: ParamTable = ParamTable::new(&[
    &[
        IDENTIFIER,
        PROJECT,
        PAGE,
        PAGE_SIZE,
        Param::flag("include_frontmatter", "Frontmatter in `content` too"),
        START_LINE,
        START_COLUMN,
        MAX_TOKENS.default_integer(DEFAULT_TOKENS),
        AS_OF,
    ],
    COMMON,
]);

pub(super) const VIEW_PARAMS: ParamTable = ParamTable::new(&[
    &[
        IDENTIFIER,
        PROJECT,
        PAGE,
        PAGE_SIZE,
        START_LINE,
        START_COLUMN,
        MAX_TOKENS.default_integer(DEFAULT_TOKENS),
        AS_OF,
    ],
    COMMON,
]);

pub(super) fn read_note(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let shown = read_or_suggest(call, args)?;
    let text = format!(
        "{}{}{}",
        with_final_newline(&shown.content),
        shown.continuation(),
        shown.source_comment()
    );
    Ok(ToolResult::ok(text, shown.structured(args)?))
}

pub(super) fn view_note(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let shown = read_or_suggest(call, args)?;
    // A model that shows the past as the present misleads the user.
    let as_of = shown.as_of.as_ref().map(|as_of| format!(" as of {as_of}"));
    let other = shown.other.as_ref().map(|other| format!(" ({ANOTHER}: {other})"));
    let text = format!(
        "Note retrieved: \"{}\" from {}{}{}. Display it as a Markdown artifact with that title:\n\
         ---\n{}{}",
        shown.title,
        shown.place,
        as_of.unwrap_or_default(),
        other.unwrap_or_default(),
        with_final_newline(&shown.content),
        shown.continuation()
    );
    Ok(ToolResult::ok(text, shown.structured(args)?))
}

/// Reads a note. The error of an unknown name lists similar notes.
fn read_or_suggest(call: &CallContext<'_>, args: &ToolArgs) -> Result<NoteExcerpt, ToolError> {
    match read(call, args) {
        Ok(shown) => Ok(shown),
        Err(failure) => Err(with_suggestions(call, args, failure)?),
    }
}

/// Start of the comment with the source of a text.
const SOURCE: &str = "<!-- project: ";

/// Label of another note with the requested name.
pub(super) const ANOTHER: &str = "another note of this name";

/// Removes the source comment of `read_note` from a text.
pub(super) fn without_source(text: &str) -> &str {
    let trimmed = text.trim_end();
    let start = trimmed.rfind('\n').map_or(0, |at| at + 1);
    let last = trimmed.get(start..).unwrap_or_default();
    let is_source = last.starts_with(SOURCE)
        && last.ends_with(" -->")
        && last.contains(" | file_path: ")
        && last.contains(" | checksum: ");
    if is_source { text.get(..start).unwrap_or_default() } else { text }
}

/// Ends the last line of a text.
fn with_final_newline(text: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}")
}

/// A note, or the requested part of it.
struct NoteExcerpt {
    place: NoteLocation,
    /// Another note with the same name.
    other: Option<NoteLocation>,
    title: String,
    permalink: String,
    hash: ContentHash,
    as_of: Option<String>,
    whole: String,
    content: String,
    /// Line and column of the start.
    first: (usize, usize),
    /// Line and column of the rest. `None` at the end.
    next: Option<(usize, usize)>,
    lines: usize,
}

fn read(call: &CallContext<'_>, args: &ToolArgs) -> Result<NoteExcerpt, ToolError> {
    let identifier = args.text("identifier")?;
    let moment = scope::as_of(call, args)?;
    let (found, other) = match moment {
        None => {
            let named = scope::resolve_note(call, args, &identifier, ResolveIntent::Read)?;
            (call.memory.read_at(&named.place)?, named.other)
        }
        Some(moment) => (scope::read_at(call, args, &identifier, moment)?, None),
    };
    // A file that is ignored now is not shown as it was, either.
    call.memory.check_noted(&found.place)?;
    call.memory.record_use(&found.place);
    if !found.is_text() {
        let text = format!("{} is not text; read_content returns it unchanged.", found.place);
        return Err(ToolError::new("NOT_TEXT", text));
    }
    let whole = found.lossy_text().into_owned();
    let note = note::parse(&whole);
    let summary = found.summary.as_ref();
    let title = summary.map(|file| file.title.clone()).or_else(|| note.title());
    let permalink = summary.map(|file| file.permalink.clone()).or_else(|| note.permalink());
    // A note that was not moved since has its current permalink.
    let now = || {
        let snapshot = call.memory.snapshot().ok()?;
        snapshot.file(&found.place.project, &found.place.path).ok()?
    };
    let permalink = permalink.or_else(|| Some(now()?.permalink));
    let permalink = permalink.unwrap_or_else(|| permalink_of(&found.place.path).0);
    let first_line = args.integer("start_line")?;
    let budget = args.integer("max_tokens")?;
    let lines = whole.lines().count();
    let first_column = args.integer("start_column")?;
    if first_line > lines.max(1) {
        let text = format!(
            "{} has {}; start_line={first_line} is past its end.",
            found.place,
            count(lines, "line")
        );
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    }
    let skipped: usize = whole.split_inclusive('\n').take(first_line - 1).map(str::len).sum();
    let rest = whole.get(skipped..).unwrap_or_default();
    let line = rest.split_inclusive('\n').next().unwrap_or_default();
    let columns = line.char_indices().map(|(at, _)| at).nth(first_column - 1);
    let rest = rest.get(columns.unwrap_or(line.len())..).unwrap_or_default();
    let content = truncate_to_tokens(rest, budget).to_owned();
    let next = (content.len() < rest.len()).then(|| match content.rsplit_once('\n') {
        // A line that exceeds the budget continues where it was cut.
        None => (first_line, first_column + content.chars().count()),
        Some((whole_lines, begun)) => {
            (first_line + whole_lines.matches('\n').count() + 1, begun.chars().count() + 1)
        }
    });
    Ok(NoteExcerpt {
        title: title.unwrap_or_else(|| found.place.path.stem().to_owned()),
        permalink,
        hash: found.hash,
        as_of: args.optional_text("as_of")?.map(|text| text.trim().to_owned()),
        place: found.place,
        other,
        whole,
        content,
        first: (first_line, first_column),
        next,
        lines,
    })
}

impl NoteExcerpt {
    /// Returns the source of the text, in a comment that Markdown readers hide.
    fn source_comment(&self) -> String {
        let mut line = format!(
            "{SOURCE}{} | file_path: {} | permalink: {} | checksum: {}",
            self.place.project,
            self.place.path,
            self.permalink,
            self.hash.short()
        );
        if let Some(as_of) = &self.as_of {
            line.push_str(&format!(" | as of: {as_of}"));
        }
        if let Some(other) = &self.other {
            line.push_str(&format!(" | {ANOTHER}: {other}"));
        }
        let alike = self.content.lines().filter(|line| line.trim_start().starts_with(SOURCE));
        match alike.count() {
            0 => {}
            // Text of the note could pass for the end of the note and the begin of another.
            count => line.push_str(&format!(" | {count} lines like this one are text of the note")),
        }
        line.push_str(" -->\n");
        line
    }

    /// Returns how to read the rest. Empty at the end.
    fn continuation(&self) -> String {
        let Some((line, column)) = self.next else { return String::new() };
        let (last, within) = match column {
            1 => (line - 1, String::new()),
            _ => (line, format!(", start_column={column}")),
        };
        format!(
            "[lines {} to {last} of {}; {} tokens in all; continue with start_line={line}{within}]\n",
            self.first.0,
            self.lines,
            estimate_tokens(&self.whole)
        )
    }

    fn structured(&self, args: &ToolArgs) -> Result<Value, ToolError> {
        let note = note::parse(&self.whole);
        let entries = note.frontmatter.entries.iter();
        let source = self.whole.get(..note.body.start).unwrap_or_default();
        let frontmatter: Map<String, Value> = entries
            .map(|(key, value)| (key.clone(), typed_scalar(source, key, json_of(value))))
            .collect();
        let with_frontmatter = args.is_set("include_frontmatter")?;
        let content = match (with_frontmatter, self.first) {
            (false, (1, 1)) => self.content.get(note.body.start..).unwrap_or_default(),
            _ => &self.content,
        };
        let mut structured = json!({
            "project": self.place.project.as_str(),
            "title": self.title,
            "permalink": self.permalink,
            "file_path": self.place.path.as_str(),
            "checksum": self.hash.to_string(),
            "content": content,
            "frontmatter": frontmatter,
            "next_line": self.next.map(|(line, _)| line),
            "next_column": self.next.map(|(_, column)| column),
        });
        if let Some(as_of) = &self.as_of {
            structured["as_of"] = json!(as_of);
        }
        if let Some(other) = &self.other {
            structured["other_of_this_name"] = json!(other.to_string());
        }
        Ok(structured)
    }
}

/// Returns a number or a boolean for a value that the frontmatter states without quotes.
fn typed_scalar(frontmatter: &str, key: &str, value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    let is_plain = frontmatter.lines().any(|line| {
        let stated = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
        stated.is_some_and(|stated| stated.trim() == text)
    });
    let starts_as_number = text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    if !is_plain || !(starts_as_number || text == "true" || text == "false") {
        return value;
    }
    // A text that JSON reads otherwise than it is written, such as `1e999`, stays a text.
    let Ok(parsed) = serde_json::from_str::<Value>(text) else { return value };
    let written_again = parsed.to_string();
    if written_again == *text { parsed } else { value }
}

/// Adds similar notes to the error of a missing note.
fn with_suggestions(
    call: &CallContext<'_>,
    args: &ToolArgs,
    failure: ToolError,
) -> Result<ToolError, ToolError> {
    if failure.code != NOTE_NOT_FOUND {
        return Ok(failure);
    }
    let identifier = args.text("identifier")?;
    let words = scope::strip_address(&identifier).replace(['/', '-', '_', '.'], " ");
    let page_size = args.integer("page_size")?;
    let page = args.integer("page")?;
    let projects = match scope::requested_project(call, args)? {
        Some(project) => vec![scope::named_project(call, &project)?],
        None => Vec::new(),
    };
    let request = SearchRequest {
        text: words,
        filter: SearchFilter { projects, ..Default::default() },
        limit: page_size,
        offset: (page - 1) * page_size,
        snippet_chars: 80,
        min_relevance: LOW_RELEVANCE,
        ..SearchRequest::default()
    };
    let found = call.memory.search(&request).map(|page| page.results).unwrap_or_default();
    let mut text = failure.message.clone();
    if !found.is_empty() {
        text.push_str("\n\nPerhaps one of these:\n");
        for result in &found {
            text.push_str(&format!(
                "- {} (read_note identifier={:?}, project={:?})\n",
                result.title,
                result.permalink,
                result.place.project.as_str()
            ));
        }
    }
    let related: Vec<Value> = found
        .iter()
        .map(|result| {
            json!({
                "title": result.title,
                "permalink": result.permalink,
                "file_path": result.place.path.as_str(),
                "project": result.place.project.as_str(),
            })
        })
        .collect();
    let mut failure = ToolError::new(failure.code, text).with_detail("related_results", related);
    for key in ["title", "permalink", "file_path", "content", "frontmatter"] {
        failure = failure.with_detail(key, Value::Null);
    }
    Ok(failure)
}
