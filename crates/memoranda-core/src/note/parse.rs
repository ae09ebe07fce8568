//! The note parser: combines the grammars of frontmatter, headings, observations and relations.

use std::collections::HashMap;
use std::ops::Range;

use super::blocks::{BlockContainer, MarkdownBlock, blocks};
use super::lines::LineIndex;
use super::{
    Note, NoteSection, Observation, Relation, comment, frontmatter, observation, one_line,
    relation, relation_meta,
};
use crate::abbreviate::join_words;
use crate::problem::ParseProblem;

/// Lines longer than this number of bytes are probably not text.
const LONG_LINE_BYTES: usize = 100_000;

/// Returns the permalink in the frontmatter of a text without parsing the body.
pub fn stated_permalink(text: &str) -> Option<String> {
    frontmatter::read(text, &LineIndex::new(text), &mut Vec::new()).name("permalink")
}

/// Parses a text as a note. Never fails: malformed parts become plain text with a problem.
///
/// ```
/// use memoranda_core::note::parse;
///
/// let note = parse("---\ntitle: Plan\n---\n- [goal] Ship in May #release\n- depends_on [[Tests]]\n");
/// assert_eq!(note.title().as_deref(), Some("Plan"));
/// assert_eq!(note.observations[0].category.as_deref(), Some("goal"));
/// assert_eq!(note.relations[0].target, "Tests");
/// ```
pub fn parse(text: &str) -> Note {
    let lines = LineIndex::new(text);
    let mut problems = text_problems(text, &lines);
    let frontmatter = frontmatter::read(text, &lines, &mut problems);
    let start = frontmatter.span.as_ref().map_or(frontmatter::text_start(text), |span| span.end);
    let body = start..text.len();
    let blocks = blocks(text, &body);
    let (observations, other_tags) = observations(text, &lines, &blocks, &mut problems);
    let relations = unique(sites(text, &lines, &blocks));
    let sections = sections(text, &lines, &blocks, &body);
    problems.sort_by_key(|problem| problem.line);
    Note { frontmatter, body, sections, observations, other_tags, relations, problems }
}

fn text_problems(text: &str, lines: &LineIndex<'_>) -> Vec<ParseProblem> {
    let mut problems = Vec::new();
    if let Some(at) = text.find('\0') {
        let line = lines.number_at(at);
        problems.push(ParseProblem { line, message: "the text holds a NUL character".to_owned() });
    }
    if let Some((line, long)) = lines.iter().find(|(_, line)| line.len() > LONG_LINE_BYTES) {
        let message = format!("the line is {} bytes long", long.len());
        problems.push(ParseProblem { line, message });
    }
    problems
}

/// Returns the observations of a text, and the tags of all other text.
pub(crate) fn observations(
    text: &str,
    lines: &LineIndex<'_>,
    blocks: &[MarkdownBlock],
    problems: &mut Vec<ParseProblem>,
) -> (Vec<Observation>, Vec<String>) {
    let (mut found, mut other_tags) = (Vec::new(), Vec::new());
    let mut known: HashMap<_, usize> = HashMap::new();
    for block in blocks {
        let raw = text.get(block.range.clone()).unwrap_or_default();
        if block.quoted {
            other_tags.extend(observation::plain_tags_of(raw));
            continue;
        }
        let (reading, comment) = observation::read(raw);
        let line = lines.number_at(block.range.start);
        let comment_line =
            |length: usize| lines.number_at(block.range.start + length.saturating_sub(1));
        let length = reading.as_ref().map_or(raw.len(), |reading| reading.length);
        let mut fact = None;
        if let Some(comment) = comment {
            let line = comment_line(length);
            problems
                .extend(comment.faults.into_iter().map(|message| ParseProblem { line, message }));
            fact = comment.fact;
        }
        // An observation with a category is its first line only; a task is not an observation.
        let read = reading.as_ref().map_or(0, |reading| reading.length);
        let unread = raw.get(read..).unwrap_or_default();
        other_tags.extend(observation::plain_tags_of(unread));
        let Some(reading) = reading else { continue };
        if let Some(id) = fact.as_ref().map(|fact| fact.id.clone()) {
            if let Some(first) = known.get(&id) {
                let message = format!("the fact {id} is already on line {first}");
                problems.push(ParseProblem { line, message });
                // A copied line is an observation of its own, without an id.
                fact = None;
            } else {
                known.insert(id, line);
            }
        }
        // If a person removes the strike-out, the observation is valid again.
        if let Some(fact) = fact.as_mut().filter(|_| !reading.struck) {
            fact.superseded_by = None;
        }
        let last = lines.without_ending(comment_line(length));
        found.push(Observation {
            category: reading.category,
            text: reading.text,
            tags: reading.tags,
            context: reading.context,
            meta: fact,
            struck: reading.struck,
            line,
            span: lines.with_ending(line).start..last.end,
        });
    }
    (found, other_tags)
}

/// A relation and the block that contains it.
pub(crate) struct LinkSite {
    pub(crate) relation: Relation,
    pub(crate) block: Range<usize>,
    pub(crate) holder: BlockContainer,
    /// True if the block consists of this link and a relation type.
    pub(crate) typed: bool,
}

/// Returns every occurrence of a relation, including repeated ones.
pub(crate) fn sites(text: &str, lines: &LineIndex<'_>, blocks: &[MarkdownBlock]) -> Vec<LinkSite> {
    let mut found = Vec::new();
    for block in blocks {
        let raw = text.get(block.range.clone()).unwrap_or_default();
        let (stated, fact) = comment::split(raw);
        let (stated, rated) = relation_meta::split(stated);
        // A line with an observation comment is an observation; its links are mentions.
        let is_fact = fact.is_some_and(|comment| comment.fact.is_some());
        let holder = if is_fact { BlockContainer::Other } else { block.holder };
        for link in relation::links(stated, holder) {
            let start = block.range.start + link.range.start;
            let end = block.range.start + link.range.end;
            // Only a line that consists of a relation can have relation metadata.
            let rating = rated.clone().filter(|_| link.typed);
            let is_alone = stated.get(link.range.clone()) == Some(stated.trim());
            let is_item = holder == BlockContainer::Item && (link.typed || is_alone);
            // `- [category] [[Target]]` is an observation with a mention.
            let is_observation = observation::category_of(stated).is_some();
            let told = rating.as_ref().and_then(|rating| rating.relation_type.clone());
            let relation = Relation {
                relation_type: told.unwrap_or_else(|| one_line(link.relation_type).into_owned()),
                target: one_line(&link.target).into_owned(),
                whole: link.whole.map(|whole| one_line(&whole).into_owned()),
                context: link.context,
                line: lines.number_at(start),
                span: start..end,
                is_stated: rating.is_some() || (is_item && !is_observation),
                meta: rating,
            };
            let (block, holder) = (block.range.clone(), block.holder);
            found.push(LinkSite { relation, block, holder, typed: link.typed });
        }
    }
    found
}

/// Keeps each relation once; a stated relation takes precedence over a mention.
fn unique(sites: Vec<LinkSite>) -> Vec<Relation> {
    let mut places = HashMap::new();
    let mut relations: Vec<Relation> = Vec::new();
    for LinkSite { relation, .. } in sites {
        let key = (relation.relation_type.clone(), relation.name().to_owned());
        let place = *places.entry(key).or_insert(relations.len());
        match relations.get_mut(place) {
            None => relations.push(relation),
            Some(known) if relation.is_stated && !known.is_stated => *known = relation,
            Some(_) => {}
        }
    }
    relations
}

fn sections(
    text: &str,
    lines: &LineIndex<'_>,
    blocks: &[MarkdownBlock],
    body: &Range<usize>,
) -> Vec<NoteSection> {
    let mut sections: Vec<NoteSection> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for block in blocks {
        let Some(heading) = block.heading.as_ref().filter(|heading| heading.top) else { continue };
        let raw = text.get(heading.range.clone()).unwrap_or_default();
        let trimmed = heading.range.start..heading.range.start + raw.trim_end().len();
        let range = lines.covering(&trimmed);
        let range = range.start.max(body.start)..range.end;
        while let Some(last) = open.pop() {
            match sections.get_mut(last) {
                Some(section) if section.level >= heading.level => {
                    section.content.end = range.start;
                }
                _ => {
                    open.push(last);
                    break;
                }
            }
        }
        open.push(sections.len());
        let title = text.get(block.range.clone()).unwrap_or_default();
        sections.push(NoteSection {
            level: heading.level,
            title: join_words(title),
            line: lines.number_at(range.start),
            content: range.end..body.end,
            heading: range,
        });
    }
    sections
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
