//! Edits of observations and relations.

use std::collections::HashMap;
use std::ops::Range;

use super::super::blocks::{BlockContainer, MarkdownBlock, blocks};
use super::super::{
    NewObservation, NewRelation, Note, Observation, ObservationMeta, Relation, RelationMeta,
    comment, escape, observation, one_line, parse, relation, relation_meta,
};
use super::section::{find, new_section};
use super::splice::EditBuffer;
use super::{EditError, ObservationRef};
use crate::id::ObservationId;

const OBSERVATIONS: &str = "Observations";
const RELATIONS: &str = "Relations";
const HISTORY: &str = "History";

pub(super) fn add_observation(
    draft: &EditBuffer<'_>,
    section: Option<&str>,
    new: &NewObservation,
) -> Result<String, EditError> {
    let line = observation::render_observation(new);
    let splice = list_splice(draft, section.unwrap_or(OBSERVATIONS), &line)?;
    let at = splice.0.start;
    verify(draft, at, None, draft.note.observations.len() + 1, draft.splice(vec![splice]))
}

pub(super) fn supersede(
    draft: &EditBuffer<'_>,
    which: &ObservationRef,
    replacement: &NewObservation,
) -> Result<String, EditError> {
    let old = locate_current(draft, which)?;
    let site = ObservationSite::of(draft, old);
    let mut new = replacement.clone();
    let mut gone = old.meta.clone();
    if let Some(fact) = &mut new.meta {
        // An observation without a comment gets its first comment here, if the caller gives its
        // derived id.
        gone = gone.or_else(|| fact.supersedes.clone().map(ObservationMeta::new));
        if let Some(gone) = &mut gone {
            gone.superseded_by = Some(fact.id.clone());
            fact.supersedes.get_or_insert_with(|| gone.id.clone());
        }
    }
    // The text moves to the history as written, without parsing.
    let written = draft.slice(site.stated.start..site.comment.start);
    let struck = escape::struck(written, gone.as_ref(), &site.unknown);
    let history = list_splice(draft, HISTORY, &struck)?;
    let mut splices = vec![(site.stated, observation::render_observation(&new)), history];
    splices.sort_by_key(|(range, _)| range.start);
    let expected = draft.note.observations.len() + 1;
    verify(draft, old.span.start, Some(old), expected, draft.splice(splices))
}

pub(super) fn strike(
    draft: &EditBuffer<'_>,
    which: &ObservationRef,
    by: Option<&ObservationId>,
) -> Result<String, EditError> {
    let old = locate_current(draft, which)?;
    let site = ObservationSite::of(draft, old);
    let mut gone = old.meta.clone();
    if let Some(gone) = &mut gone {
        gone.superseded_by = by.cloned();
    }
    let written = draft.slice(site.stated.start..site.comment.start);
    let struck = escape::struck(written, gone.as_ref(), &site.unknown);
    let edited = draft.splice(vec![(site.stated, struck)]);
    verify(draft, old.span.start, Some(old), draft.note.observations.len(), edited)
}

pub(super) fn remove_observation(
    draft: &EditBuffer<'_>,
    which: &ObservationRef,
) -> Result<String, EditError> {
    let old = locate(draft, which)?;
    let site = ObservationSite::of(draft, old);
    let edited = draft.splice(vec![(draft.lines.covering(&site.block), String::new())]);
    verify(draft, old.span.start, Some(old), draft.note.observations.len() - 1, edited)
}

pub(super) fn set_observation_meta(
    draft: &EditBuffer<'_>,
    which: &ObservationRef,
    fact: &ObservationMeta,
) -> Result<String, EditError> {
    let old = locate(draft, which)?;
    let site = ObservationSite::of(draft, old);
    let new = format!(" {}", comment::write(fact, &site.unknown));
    let edited = draft.splice(vec![(site.comment, new)]);
    verify(draft, old.span.start, None, draft.note.observations.len(), edited)
}

pub(super) fn add_relation(
    draft: &EditBuffer<'_>,
    relation_type: &str,
    target: &str,
    context: Option<&str>,
) -> Result<String, EditError> {
    let line = relation::render(relation_type, target, context);
    let stated = relation::links(&line, BlockContainer::Item);
    if !stated.first().is_some_and(|link| link.typed) {
        return Err(EditError::EmptyTarget);
    }
    let known =
        stated.first().is_some_and(|new| states(&draft.note, new.relation_type, &new.target));
    if known {
        return Ok(draft.text.to_owned());
    }
    let splice = list_splice(draft, RELATIONS, &line)?;
    let at = splice.0.start;
    let edited = draft.splice(vec![splice]);
    let after = parse(&edited);
    // A type such as `[tech]` makes the line an observation too.
    let extra = usize::from(observation::read(&line).0.is_some());
    match stated.first() {
        Some(new) if states(&after, new.relation_type, &new.target) => {
            verify(draft, at, None, draft.note.observations.len() + extra, edited)
        }
        _ => Err(EditError::NotReadable { line: draft.lines.number_at(at) }),
    }
}

fn states(note: &Note, relation_type: &str, name: &str) -> bool {
    note.relations.iter().any(|relation| is_relation(relation, relation_type, name))
}

/// Returns true if a relation has this type and target, compared on one line.
fn is_relation(relation: &Relation, relation_type: &str, name: &str) -> bool {
    relation.relation_type == one_line(relation_type) && relation.name() == one_line(name)
}

/// Returns true if a list item states the relation; a link within a text does not count.
fn states_relation(note: &Note, new: &NewRelation) -> bool {
    let same = |r: &Relation| r.is_stated && is_relation(r, &new.relation_type, &new.target);
    note.relations.iter().any(same)
}

pub(super) fn add_rated_relation(
    draft: &EditBuffer<'_>,
    new: &NewRelation,
) -> Result<String, EditError> {
    if new.target.trim().is_empty() {
        return Err(EditError::EmptyTarget);
    }
    if states_relation(&draft.note, new) {
        return Ok(draft.text.to_owned());
    }
    let line = relation_meta::render_relation(new);
    let splice = list_splice(draft, RELATIONS, &line)?;
    let at = splice.0.start;
    let edited = draft.splice(vec![splice]);
    let extra = usize::from(observation::read(&line).0.is_some());
    if !states_relation(&parse(&edited), new) {
        return Err(EditError::NotReadable { line: draft.lines.number_at(at) });
    }
    verify(draft, at, None, draft.note.observations.len() + extra, edited)
}

/// Updates the metadata comment at the end of a relation's line.
pub(super) fn set_relation_meta(
    draft: &EditBuffer<'_>,
    new: &NewRelation,
) -> Result<String, EditError> {
    let blocks = blocks(draft.text, &draft.note.body);
    let sites = parse::sites(draft.text, &draft.lines, &blocks);
    let site = sites.into_iter().find(|site| {
        let relation = &site.relation;
        relation.meta.is_some() && is_relation(relation, &new.relation_type, &new.target)
    });
    let Some((site, old)) = site.and_then(|site| Some((site.block, site.relation.meta?))) else {
        let (relation_type, target) = (new.relation_type.clone(), new.target.clone());
        return Err(EditError::RelationMissing { relation_type, target });
    };
    let line = draft.slice(site.clone());
    let (stated, _) = relation_meta::split(line);
    let known = RelationMeta {
        time: new.time.or(old.time),
        confidence: new.confidence.or(old.confidence),
        importance: new.importance.or(old.importance),
        ..old
    };
    let comment = site.start + stated.len()..site.start + line.trim_end().len();
    Ok(draft.splice(vec![(comment, format!(" {}", relation_meta::write(&known)))]))
}

pub(super) fn remove_relation(
    draft: &EditBuffer<'_>,
    relation_type: &str,
    target: &str,
) -> Result<String, EditError> {
    let blocks = blocks(draft.text, &draft.note.body);
    let observations = &draft.note.observations;
    let observed = |range: &Range<usize>| {
        let next = observations.partition_point(|o| o.span.end < range.start);
        observations.get(next).is_some_and(|o| o.span.contains(&range.start))
    };
    let mut sites = parse::sites(draft.text, &draft.lines, &blocks);
    sites.retain(|site| is_relation(&site.relation, relation_type, target));
    // If a list item states the relation, only that item is removed; mentions stay.
    let is_stated = sites.iter().any(|site| site.relation.is_stated);
    sites.retain(|site| !is_stated || site.relation.is_stated);
    let mut splices: Vec<(Range<usize>, String)> = Vec::new();
    for site in sites {
        let block = draft.slice(site.block.clone()).trim();
        let link = draft.slice(site.relation.span.clone());
        let alone = site.typed || block.strip_prefix('!').unwrap_or(block) == link;
        if site.holder == BlockContainer::Item && alone && !observed(&site.block) {
            splices.push((draft.lines.covering(&site.block), String::new()));
        } else {
            // A sentence keeps its words and loses only the brackets.
            let span = site.relation.span;
            let embed = draft.slice(0..span.start).ends_with('!');
            splices.push((
                span.start - usize::from(embed)..span.end,
                relation::shown(link).to_owned(),
            ));
        }
    }
    let Some(at) = splices.first().map(|(range, _)| range.start) else {
        let (relation_type, target) = (relation_type.to_owned(), target.to_owned());
        return Err(EditError::RelationMissing { relation_type, target });
    };
    let edited = draft.splice(splices);
    // A fact without its link has another text, so only the number of facts can be compared.
    if parse(&edited).observations.len() == observations.len() {
        return Ok(edited);
    }
    Err(EditError::NotReadable { line: draft.lines.number_at(at) })
}

/// Byte ranges of the parts of an observation.
struct ObservationSite {
    /// From the text after the list mark to the end of its line.
    stated: Range<usize>,
    /// The comment with the blanks before it; empty at the place for a new comment.
    comment: Range<usize>,
    /// The whole block with continuation lines.
    block: Range<usize>,
    /// Unknown words in the comment.
    unknown: Vec<String>,
}

impl ObservationSite {
    fn of(draft: &EditBuffer<'_>, observation: &Observation) -> Self {
        let blocks = blocks(draft.text, &draft.note.body);
        let holds = |block: &&MarkdownBlock| observation.span.contains(&block.range.start);
        let block = blocks.iter().find(holds).map_or(observation.span.clone(), |b| b.range.clone());
        let line_end = observation.span.end;
        // Without a comment the line may end with closing heading marks or blanks.
        let stated_end = line_end.min(block.end.max(block.start));
        let stated = draft.slice(block.start..stated_end).trim_end();
        let stated_end = block.start + stated.len();
        let (text, found) = comment::split(stated);
        let comment = block.start + text.trim_end().len()..stated_end;
        let unknown = found.map(|comment| comment.unknown).unwrap_or_default();
        Self { stated: block.start..stated_end, comment, block, unknown }
    }
}

fn locate<'d>(
    draft: &'d EditBuffer<'_>,
    which: &ObservationRef,
) -> Result<&'d Observation, EditError> {
    let meant = |observation: &&Observation| match which {
        ObservationRef::Id(id) => observation.meta.as_ref().is_some_and(|fact| fact.id == *id),
        ObservationRef::Line(line) => observation.line == *line,
    };
    // An id is unique: a repeated id is parsed as an observation without one.
    let mut found = draft.note.observations.iter().filter(meant);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(EditError::ObservationMissing(which.clone())),
    }
}

/// Finds an observation that is not struck out.
fn locate_current<'d>(
    draft: &'d EditBuffer<'_>,
    which: &ObservationRef,
) -> Result<&'d Observation, EditError> {
    let found = locate(draft, which)?;
    if found.struck {
        let by = found.meta.as_ref().and_then(|fact| fact.superseded_by.clone());
        return Err(EditError::ObservationStruck { line: found.line, by });
    }
    Ok(found)
}

/// Returns the insertion at the end of a section's list; creates a missing section.
fn list_splice(
    draft: &EditBuffer<'_>,
    name: &str,
    item: &str,
) -> Result<(Range<usize>, String), EditError> {
    let item = format!("- {item}");
    let Some(section) = find(draft, name)? else {
        let at = section_place(draft, name);
        return Ok((at..at, new_section(draft, at, name, &item)));
    };
    let part = draft.own_part(&section.content);
    let end = draft.content_end(&part);
    let last = draft.slice(draft.lines.covering(&(end.saturating_sub(1)..end)));
    // An indented line continues an item, if there is one.
    let indented = last.starts_with([' ', '\t']);
    let listed =
        starts_item(last) || indented && draft.slice(part.start..end).lines().any(starts_item);
    let mut new = draft.as_lines(end, &item);
    if end > part.start && !listed {
        // Markdown could merge a list with other text directly above it.
        let at = if new.starts_with(['\n', '\r']) { draft.ending.len() } else { 0 };
        new.insert_str(at, draft.ending);
    }
    if end == part.end && end < draft.text.len() {
        new.push_str(draft.ending);
    }
    Ok((end..end, new))
}

fn starts_item(line: &str) -> bool {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = line.get(digits..).unwrap_or_default();
    let marks: &[char] = if digits > 0 { &['.', ')'] } else { &['-', '*', '+'] };
    rest.strip_prefix(marks).is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// Returns the position of a missing section: observations before relations, both before the
/// history.
fn section_place(draft: &EditBuffer<'_>, name: &str) -> usize {
    let later: &[&str] = match name {
        OBSERVATIONS => &[RELATIONS, HISTORY],
        RELATIONS => &[HISTORY],
        _ => &[],
    };
    let sections = draft.note.sections.iter().filter(|section| section.level == 2);
    let mut later = sections.filter(|section| later.contains(&section.title.as_str()));
    later.next().map_or(draft.text.len(), |section| section.heading.start)
}

/// Returns the edited text if it has all previous observations except the removed one, and the
/// expected number.
fn verify(
    draft: &EditBuffer<'_>,
    at: usize,
    gone: Option<&Observation>,
    expected: usize,
    edited: String,
) -> Result<String, EditError> {
    let after = parse(&edited);
    let mut left: HashMap<&str, usize> = HashMap::new();
    for observation in &after.observations {
        *left.entry(&observation.text).or_default() += 1;
    }
    let mut stay = draft.note.observations.iter().filter(|o| gone.is_none_or(|g| g.line != o.line));
    let kept = stay.all(|observation| match left.get_mut(observation.text.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    });
    let same_top = after.frontmatter == draft.note.frontmatter;
    if kept && same_top && after.observations.len() == expected {
        return Ok(edited);
    }
    Err(EditError::NotReadable { line: draft.lines.number_at(at) })
}
