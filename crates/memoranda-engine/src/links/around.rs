//! The surroundings of a note for a reader: its links, the links to it with their sentences, and
//! sentences that name it without a link.

use std::collections::HashSet;
use std::ops::Range;

use memoranda_core::query::Query;
use memoranda_core::rank::RankOptions;
use memoranda_store::RelationRow;

use crate::Memory;
use crate::error::Result;
use crate::links::resolve::NoteLocation;
use crate::search::SearchRequest;

/// Maximum number of links in each direction.
const MAX_LINKS: usize = 200;
/// Maximum number of sentences that name a note without a link.
const MAX_MENTIONS: usize = 20;
/// Minimum number of characters of a title that is searched in other notes.
const MIN_TITLE_CHARS: usize = 3;
/// Maximum number of characters of a sentence.
const MAX_SENTENCE_CHARS: usize = 240;

/// The surroundings of a note.
#[derive(Clone, Debug, Default)]
pub struct NoteSurroundings {
    /// Links of the note.
    pub outgoing: Vec<LinkSentence>,
    /// Links of other notes to it.
    pub incoming: Vec<LinkSentence>,
    /// Sentences of other notes that name it without a link.
    pub mentions: Vec<LinkSentence>,
}

/// A link or a mention, with the sentence around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkSentence {
    /// The note at the other end; `None` if nobody has written it.
    pub other: Option<NoteLocation>,
    /// Title of the note, or the name in the link.
    pub title: String,
    /// Type of the relation; empty for a mention.
    pub relation_type: String,
    /// Text in parentheses behind a typed relation.
    pub context: Option<String>,
    /// Line of the link in the note that contains it, from 1.
    pub line: usize,
    /// The sentence.
    pub sentence: String,
    /// Byte range of the link or the name in the sentence.
    pub highlight: Range<usize>,
}

impl Memory {
    /// Returns the links of a note, the links to it, and the sentences that name it.
    pub fn surroundings(&self, place: &NoteLocation) -> Result<NoteSurroundings> {
        let snapshot = self.snapshot()?;
        let Some(file) = snapshot.file(&place.project, &place.path)? else {
            return Err(self.not_indexed(place));
        };
        let mut found = NoteSurroundings::default();
        let own_text = self.text_at(place);
        for row in snapshot.relations_from(file.id)?.into_iter().take(MAX_LINKS) {
            let target = row.target_file.map(|id| snapshot.file_by_id(id)).transpose()?;
            let target = target.flatten();
            let other = target
                .as_ref()
                .map(|target| NoteLocation::new(&target.project, target.path.clone()));
            let title = target.map(|target| target.title).filter(|title| !title.is_empty());
            let title = title.unwrap_or_else(|| row.target.clone());
            found.outgoing.push(link_sentence(other, title, row, own_text.as_deref()));
        }
        let mut linking = HashSet::from([place.clone()]);
        let mut texts: Option<(NoteLocation, Option<String>)> = None;
        for row in snapshot.relations_to(file.id)?.into_iter().take(MAX_LINKS) {
            let Some(holder) = snapshot.file_by_id(row.file)? else { continue };
            let other = NoteLocation::new(&holder.project, holder.path.clone());
            if texts.as_ref().is_none_or(|(known, _)| *known != other) {
                texts = Some((other.clone(), self.text_at(&other)));
            }
            let text = texts.as_ref().and_then(|(_, text)| text.as_deref());
            linking.insert(other.clone());
            found.incoming.push(link_sentence(Some(other), holder.title, row, text));
        }
        found.mentions = self.mentions(&file.title, &linking)?;
        Ok(found)
    }

    /// Returns the sentences that contain a title, of notes that do not link to it.
    fn mentions(&self, title: &str, linking: &HashSet<NoteLocation>) -> Result<Vec<LinkSentence>> {
        let title = title.trim();
        if title.chars().count() < MIN_TITLE_CHARS || title.contains('"') {
            return Ok(Vec::new());
        }
        let text = format!("\"{title}\"");
        if Query::parse(&text).is_empty() {
            return Ok(Vec::new());
        }
        let page = self.search(&SearchRequest {
            text,
            limit: MAX_MENTIONS + linking.len().min(MAX_LINKS),
            options: RankOptions::WORDS,
            min_relevance: 0.0,
            ..SearchRequest::default()
        })?;
        let mut mentions = Vec::new();
        for result in page.results {
            if linking.contains(&result.place) || mentions.len() >= MAX_MENTIONS {
                continue;
            }
            let Some(text) = self.text_at(&result.place) else { continue };
            let Some((line, sentence)) =
                (1..).zip(text.lines()).find(|(_, line)| find_folded(line, title).is_some())
            else {
                continue;
            };
            let (sentence, highlight) = sentence_around(sentence, title);
            mentions.push(LinkSentence {
                other: Some(result.place),
                title: result.title,
                relation_type: String::new(),
                context: None,
                line,
                sentence,
                highlight,
            });
        }
        Ok(mentions)
    }

    fn text_at(&self, place: &NoteLocation) -> Option<String> {
        let found = self.store().read(&place.project, &place.path).ok().flatten()?;
        String::from_utf8(found.bytes).ok()
    }
}

fn link_sentence(
    other: Option<NoteLocation>,
    title: String,
    row: RelationRow,
    text: Option<&str>,
) -> LinkSentence {
    let line = text.and_then(|text| text.lines().nth(row.line.saturating_sub(1)));
    let (sentence, highlight) = sentence_around(line.unwrap_or_default(), &row.target);
    LinkSentence {
        other,
        title,
        relation_type: row.relation_type,
        context: row.context,
        line: row.line,
        sentence,
        highlight,
    }
}

/// Returns a line without its list mark, comment and brackets, and the range of a name in it.
fn sentence_around(line: &str, name: &str) -> (String, Range<usize>) {
    let line = line.split("<!--").next().unwrap_or_default().trim();
    let line = line.trim_start_matches(['#', '>', ' ']);
    let line = line.strip_prefix("- ").or(line.strip_prefix("* ")).unwrap_or(line);
    let line = line.replace("[[", "").replace("]]", "");
    let Some(found) = find_folded(&line, name) else {
        let cut: String = line.chars().take(MAX_SENTENCE_CHARS).collect();
        return (cut, 0..0);
    };
    if line.chars().count() <= MAX_SENTENCE_CHARS {
        return (line, found);
    }
    // A window with the name in it.
    let before: Vec<(usize, char)> =
        line.get(..found.start).unwrap_or_default().char_indices().rev().take(100).collect();
    let start = before.last().map_or(found.start, |(at, _)| *at);
    let rest = line.get(start..).unwrap_or_default();
    let length: usize = rest.chars().take(MAX_SENTENCE_CHARS).map(char::len_utf8).sum();
    let end = (start + length).max(found.end);
    let cut = line.get(start..end).unwrap_or_default();
    let sign = if start > 0 { "…" } else { "" };
    let shift = |at: usize| at - start + sign.len();
    (format!("{sign}{cut}"), shift(found.start)..shift(found.end))
}

/// Finds a name in a text, ignoring case.
fn find_folded(text: &str, name: &str) -> Option<Range<usize>> {
    let name: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    let starts = text.char_indices().map(|(at, _)| at);
    starts.into_iter().find_map(|start| {
        let mut wanted = name.as_slice();
        for (at, c) in text.get(start..)?.char_indices() {
            for lower in c.to_lowercase() {
                wanted = wanted.strip_prefix(&[lower])?;
            }
            if wanted.is_empty() {
                return Some(start..start + at + c.len_utf8());
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_show_the_name() {
        for (line, name, sentence, hit) in [
            (
                "- depends_on [[Currency]] (old)",
                "Currency",
                "depends_on Currency (old)",
                "Currency",
            ),
            ("The AUDIT wants it", "audit", "The AUDIT wants it", "AUDIT"),
            ("> see [[A|b]]. <!-- rel -->", "A", "see A|b.", "A"),
            ("nothing", "absent", "nothing", ""),
            ("Straße [[Straße]]", "straße", "Straße Straße", "Straße"),
        ] {
            let (found, range) = sentence_around(line, name);
            assert_eq!((found.as_str(), &found[range]), (sentence, hit), "{line}");
        }
        let long = format!("{} Billing {}", "é ".repeat(300), "x ".repeat(300));
        let (found, range) = sentence_around(&long, "billing");
        assert!(&found[range] == "Billing" && found.chars().count() < 260, "{found}");
    }
}
