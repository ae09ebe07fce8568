//! Edits that refer to a heading.

use super::super::frontmatter::{asked_heading, split_heading};
use super::super::heading::{HeadingFit, title_key, underlined};
use super::super::{Note, NoteSection};
use super::block_separation::{Attachment, gap, insert, part_around};
use super::splice::EditBuffer;
use super::{EditError, SubsectionHandling};
use crate::abbreviate::join_words;

/// Maximum number of suggested headings.
const MAX_SUGGESTIONS: usize = 5;

pub(super) fn replace(
    draft: &EditBuffer<'_>,
    name: &str,
    content: &str,
    subsections: SubsectionHandling,
) -> Result<String, EditError> {
    let content = without_own_heading(name, content);
    let Some(section) = find(draft, name)? else {
        return Ok(append_section(draft, name, content));
    };
    let part = match subsections {
        SubsectionHandling::Replace => section.content.clone(),
        SubsectionHandling::Keep => draft.own_part(&section.content),
    };
    let end = draft.content_end(&part);
    let start = if end == part.start { end } else { draft.content_start(&(part.start..end)) };
    let mut new = draft.as_lines(start, content);
    let follows = end < draft.text.len();
    if !follows && !draft.slice(start..end).ends_with(['\n', '\r']) && start < end {
        // A section without a final newline stays without one.
        new.truncate(new.trim_end_matches(['\n', '\r']).len());
    }
    if !new.is_empty() && follows && end == part.end {
        // Without a line ending, the next heading could absorb the text.
        new.push_str(draft.ending);
    }
    Ok(draft.splice(vec![(start..end, new)]))
}

pub(super) fn insert_before(
    draft: &EditBuffer<'_>,
    name: &str,
    content: &str,
) -> Result<String, EditError> {
    let section = find_or_missing(draft, name)?;
    let content = trim_blank_lines(content);
    if content.is_empty() {
        return Ok(draft.text.to_owned());
    }
    let at = section.heading.start;
    let content = draft.as_lines(at, content);
    let gap =
        gap(draft, draft.slice(part_around(draft, at).start..at), &content, Attachment::Block);
    let new = format!("{gap}{content}{}", draft.ending);
    Ok(draft.splice(vec![(at..at, new)]))
}

pub(super) fn insert_after(
    draft: &EditBuffer<'_>,
    name: &str,
    content: &str,
) -> Result<String, EditError> {
    let section = find_or_missing(draft, name)?;
    Ok(insert(draft, section.heading.end, content, Attachment::Block))
}

/// Appends a new section.
pub(super) fn append_section(draft: &EditBuffer<'_>, name: &str, content: &str) -> String {
    let at = draft.text.len();
    draft.splice(vec![(at..at, new_section(draft, at, name, content))])
}

/// Renders a new section between others: with a blank line before it, and after it if needed.
pub(super) fn new_section(draft: &EditBuffer<'_>, at: usize, name: &str, content: &str) -> String {
    let (level, title) = asked_heading(name);
    let marks = "#".repeat(usize::from(level.unwrap_or(2)));
    let title = join_words(title);
    let mut new = draft.gap_before(at);
    new.push_str(&format!("{marks} {title}"));
    new.push_str(draft.ending);
    let content = draft.with_endings(trim_blank_lines(content));
    if !content.is_empty() {
        new.push_str(&content);
        new.push_str(draft.ending);
    }
    if at < draft.text.len() {
        new.push_str(draft.ending);
    }
    new
}

/// Returns the only section that matches a name.
pub(super) fn find<'d>(
    draft: &'d EditBuffer<'_>,
    name: &str,
) -> Result<Option<&'d NoteSection>, EditError> {
    match draft.note.sections_named(name).as_slice() {
        [] => Ok(None),
        [section] => Ok(Some(section)),
        several => Err(EditError::SectionAmbiguous {
            section: name.to_owned(),
            lines: several.iter().map(|section| section.line).collect(),
        }),
    }
}

fn find_or_missing<'d>(
    draft: &'d EditBuffer<'_>,
    name: &str,
) -> Result<&'d NoteSection, EditError> {
    find(draft, name)?.ok_or_else(|| EditError::SectionMissing {
        section: name.to_owned(),
        candidates: candidates(&draft.note.sections, name),
    })
}

/// Returns headings similar to a name: equal except for case and level, or with all words of one in
/// the other.
pub fn similar_headings(note: &Note, name: &str) -> Vec<String> {
    let words = |heading: &str| -> Vec<String> {
        asked_heading(heading).1.to_lowercase().split_whitespace().map(str::to_owned).collect()
    };
    let holds = |all: &[String], some: &[String]| some.iter().all(|word| all.contains(word));
    let wanted = words(name);
    let mut near = candidates(&note.sections, name);
    near.retain(|heading| {
        let title = words(heading);
        !title.is_empty() && (holds(&title, &wanted) || holds(&wanted, &title))
    });
    near
}

/// Returns the most similar headings: equal except for case, then containing the name, then by
/// common prefix.
fn candidates(sections: &[NoteSection], name: &str) -> Vec<String> {
    let wanted = asked_heading(name).1.to_lowercase();
    let mut scored: Vec<(usize, &NoteSection)> = sections
        .iter()
        .map(|section| {
            let title = section.title.to_lowercase();
            let common = wanted.chars().zip(title.chars()).take_while(|(a, b)| a == b).count();
            let contains =
                !wanted.is_empty() && (title.contains(&wanted) || wanted.contains(&title));
            let score = match (title == wanted, contains) {
                (true, _) => usize::MAX,
                (false, true) => usize::MAX / 2 + common,
                (false, false) => common,
            };
            (score, section)
        })
        .collect();
    scored.sort_by_key(|(score, section)| (std::cmp::Reverse(*score), section.line));
    let heading = |section: &NoteSection| {
        format!("{} {}", "#".repeat(usize::from(section.level)), section.title)
    };
    scored.into_iter().take(MAX_SUGGESTIONS).map(|(_, section)| heading(section)).collect()
}

/// Removes a repeated heading from the top of a caller's text.
fn without_own_heading<'c>(name: &str, content: &'c str) -> &'c str {
    let content = trim_blank_lines(content);
    let (wanted_level, wanted) = asked_heading(name);
    let is_wanted = |title: &str| {
        let reads_so = |fit| title_key(title, fit) == title_key(wanted, fit);
        reads_so(HeadingFit::Written) || reads_so(HeadingFit::Read)
    };
    if let Some((level, title, rest)) = underlined(content) {
        let same = is_wanted(title) && wanted_level.is_none_or(|wanted| level == wanted);
        return if same { trim_blank_lines(rest) } else { content };
    }
    let (first, rest) = content.split_once('\n').unwrap_or((content, ""));
    let (level, title) = split_heading(first);
    // `##Plan` repeats the heading, although it is not a heading in CommonMark.
    let (level, title) =
        if first.trim() == name.trim() { (wanted_level, wanted) } else { (level, title) };
    let same = level.is_some() && is_wanted(title) && wanted_level.is_none_or(|w| level == Some(w));
    if same { trim_blank_lines(rest) } else { content }
}

/// Removes blank lines at both ends; keeps the indentation of the first line.
fn trim_blank_lines(text: &str) -> &str {
    let end = text.trim_end();
    let start = end.len() - end.trim_start().len();
    let line = end.get(..start).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1);
    end.get(line..).unwrap_or_default()
}
