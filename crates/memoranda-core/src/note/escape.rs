//! Escapes a caller's text for an observation line, and restores it exactly. A backslash marks
//! characters with a meaning in the grammar; struck-out observations keep their text as written.

use std::borrow::Cow;

use super::observation::{
    NewObservation, category_of, has_tag, split_context, without_empty_brackets,
};
use super::{Observation, ObservationMeta, comment};

/// Category of observations without a stated category.
const DEFAULT_CATEGORY: &str = "fact";

/// Normalizes a text: `\n` line endings, blanks for other control characters, trimmed.
pub fn plain_text(words: &str) -> String {
    let plain = words.replace("\r\n", "\n").replace('\r', "\n");
    plain.replace(|c: char| c.is_control() && c != '\n', " ").trim().to_owned()
}

/// Builds an observation from a caller's text. [`observation_content`] restores exactly the result
/// of [`plain_text`].
pub fn observation_from_text(words: &str) -> NewObservation {
    let text = escape(&plain_text(words));
    let (category, text) = match category_of(&text) {
        // A text that begins with its own category keeps it.
        Some((category, start))
            if category != DEFAULT_CATEGORY
                && text.get(..start) == Some(&format!("[{category}] ")) =>
        {
            (category.to_owned(), text.get(start..).unwrap_or_default().to_owned())
        }
        _ => (DEFAULT_CATEGORY.to_owned(), text),
    };
    let text = match backslashes_before(&text, "~~") {
        Some(_) => format!("\\{text}"),
        None => text,
    };
    NewObservation { category: Some(category), text, context: None, meta: None }
}

/// Returns the full content of an observation as its caller wrote it: category (other than `fact`),
/// text and context.
pub fn observation_content(text: &str, observation: &Observation) -> String {
    let line = text.get(observation.span.clone()).unwrap_or_default();
    let (said, _) = comment::split(without_list_mark(line).trim_end());
    let (category, head, said) = split_head(said.trim());
    let said = if observation.struck { unstrike(said) } else { Cow::Borrowed(said) };
    let said = match backslashes_before(&said, "~~") {
        Some(1..) => said.get(1..).unwrap_or_default(),
        _ => &said,
    };
    match category {
        Some(DEFAULT_CATEGORY) => unescape(said),
        _ => unescape(&format!("{head}{said}")),
    }
}

/// Renders an observation for the history: its text as written, struck out.
pub(crate) fn struck(written: &str, fact: Option<&ObservationMeta>, unknown: &[String]) -> String {
    let (category, head, text) = split_head(written.trim());
    let lines: Vec<&str> =
        text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = format!("~~{}~~", mark_tildes(&lines.join(" ")));
    let is_tagged = has_tag(&text);
    let head = match category {
        Some(category) if head.contains(['\n', '\r']) => format!("[{category}] "),
        Some(_) => head.to_owned(),
        // Without a category, tag or comment the line would not be an observation.
        None if fact.is_none() && !is_tagged => "[note] ".to_owned(),
        None => head.to_owned(),
    };
    match fact {
        Some(fact) => format!("{head}{text} {}", comment::write(fact, unknown)),
        None => format!("{head}{text}"),
    }
}

/// Returns the text between strike-out marks that enclose the whole text.
pub(crate) fn unstruck(text: &str) -> Option<String> {
    let inner = text.strip_prefix("~~")?.strip_suffix("~~")?.trim();
    (!inner.is_empty() && !inner.contains("~~")).then(|| unmark_tildes(inner))
}

/// Returns the text of a struck-out observation; a person may leave the context out of the strike.
fn unstrike(said: &str) -> Cow<'_, str> {
    if let Some(inner) = unstruck(said) {
        return Cow::Owned(inner);
    }
    let (text, context) = split_context(said);
    match (unstruck(text), context) {
        (Some(inner), Some(context)) => Cow::Owned(format!("{inner} ({context})")),
        (Some(inner), None) => Cow::Owned(inner),
        (None, _) => Cow::Borrowed(said),
    }
}

/// Splits category, bracket prefix and text.
fn split_head(said: &str) -> (Option<&str>, &str, &str) {
    let (category, start) = match category_of(said) {
        Some((category, start)) => (Some(category), start),
        None => (None, said.len() - without_empty_brackets(said).len()),
    };
    let (head, words) = said.split_at_checked(start).unwrap_or(("", said));
    (category, head, words)
}

fn without_list_mark(line: &str) -> &str {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = if rest.len() < line.len() { &['.', ')'][..] } else { &['-', '*', '+'][..] };
    match rest.strip_prefix(mark) {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => line,
    }
}

/// Escapes what would begin a list, heading or comment; writes a line break as a Markdown hard
/// break.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let marked =
            ["<br>", "<!--"].iter().find_map(|mark| Some((backslashes_before(rest, mark)?, *mark)));
        if let Some((count, mark)) = marked {
            out.extend(std::iter::repeat_n('\\', 2 * count + 1));
            out.push_str(mark);
            rest = rest.get(count + mark.len()..).unwrap_or_default();
        } else if let Some(count) = backslashes_before(rest, "\n") {
            out.extend(std::iter::repeat_n('\\', 2 * count));
            out.push_str("<br>");
            rest = rest.get(count + 1..).unwrap_or_default();
        } else {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let marked =
            ["<br>", "<!--"].iter().find_map(|mark| Some((backslashes_before(rest, mark)?, *mark)));
        if let Some((count, mark)) = marked {
            out.extend(std::iter::repeat_n('\\', count / 2));
            out.push_str(if mark == "<br>" && count % 2 == 0 { "\n" } else { mark });
            rest = rest.get(count + mark.len()..).unwrap_or_default();
        } else {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

/// Escapes every tilde, and doubles backslashes before a tilde or before the closing mark.
fn mark_tildes(text: &str) -> String {
    tildes(text, |count| 2 * count + 1, |count| 2 * count)
}

fn unmark_tildes(text: &str) -> String {
    // An odd backslash before the closing mark was typed by a person: keep it.
    tildes(text, |count| count / 2, |count| count.div_ceil(2))
}

/// Changes the number of backslashes before each tilde and at the end.
fn tildes(text: &str, before: fn(usize) -> usize, at_end: fn(usize) -> usize) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut count = 0;
    for c in text.chars() {
        match c {
            '\\' => {
                count += 1;
                continue;
            }
            '~' => out.extend(std::iter::repeat_n('\\', before(count))),
            _ => out.extend(std::iter::repeat_n('\\', count)),
        }
        out.push(c);
        count = 0;
    }
    out.extend(std::iter::repeat_n('\\', at_end(count)));
    out
}

/// Returns the number of leading backslashes if `mark` follows them.
fn backslashes_before(text: &str, mark: &str) -> Option<usize> {
    let rest = text.trim_start_matches('\\');
    rest.starts_with(mark).then_some(text.len() - rest.len())
}
