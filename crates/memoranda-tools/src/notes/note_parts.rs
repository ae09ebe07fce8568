//! Searches facts and relations: finds notes, and ranks each of their parts.

use memoranda_engine::{NoteFragment, ObservationRow, RelationRow, ResolvedQuery};

use super::search::{NoteSearchResults, find_notes};
use super::search_hit::{MatchDetails, NoteHit, category};
use super::search_query::NoteSearchQuery;
use crate::registry::{CallContext, ToolError};

/// Number of notes whose parts are read: first a few, then more.
const FIRST_NOTES: usize = 50;
const MORE_NOTES: usize = 10;
const MAX_NOTES: usize = 500_000;
/// Maximum number of parts compared in one call.
const MAX_PARTS: usize = 50_000;

/// A part of a note from the index.
enum NotePart {
    Fact(ObservationRow),
    Link(RelationRow),
    /// The note itself.
    Note,
}

/// A part to return.
struct PartResult {
    round: usize,
    score: f64,
    /// Position of the note in the list of notes.
    holder: usize,
    said: NotePart,
    by: Option<MatchDetails>,
}

/// Returns the first matching parts: the best for a query, else in the order of their notes.
pub(super) fn find_parts(
    call: &CallContext<'_>,
    asked: &NoteSearchQuery,
    most: usize,
) -> Result<NoteSearchResults, ToolError> {
    let mut look_through = FIRST_NOTES;
    loop {
        let mut found = find_notes(call, asked, look_through, 0)?;
        let holders = std::mem::take(&mut found.hits);
        let mut said: Vec<(usize, NotePart)> = Vec::new();
        for (at, holder) in holders.iter().enumerate() {
            let is_enough = found.understood.is_none() && said.len() > most;
            if is_enough || said.len() >= MAX_PARTS {
                found.partial |= !is_enough;
                found.has_more = true;
                break;
            }
            said.extend(parts_of_note(call, asked, holder)?.into_iter().map(|said| (at, said)));
        }
        let is_last = !found.has_more || said.len() >= MAX_PARTS || look_through >= MAX_NOTES;
        let mut shown = match &found.understood {
            Some(understood) => rank_parts(understood, &holders, said),
            None => {
                said.into_iter().map(|(holder, said)| PartResult::unranked(holder, said)).collect()
            }
        };
        if shown.len() > most || is_last {
            found.has_more |= shown.len() > most;
            shown.truncate(most);
            for part in shown {
                if let Some(holder) = holders.get(part.holder) {
                    found.hits.push(part.hit(call, holder)?);
                }
            }
            return Ok(found);
        }
        // A few notes are usually enough, so the results of a short batch are not kept.
        look_through *= MORE_NOTES;
    }
}

/// Returns the parts of a note that match the filters, regardless of the words.
fn parts_of_note(
    call: &CallContext<'_>,
    asked: &NoteSearchQuery,
    holder: &NoteHit,
) -> Result<Vec<NotePart>, ToolError> {
    let snapshot = call.memory.snapshot()?;
    let wants = |kind: &str| asked.kinds.iter().any(|asked| asked == kind);
    let categories = &asked.filter.categories;
    let fits = |fact: &ObservationRow| {
        let is_asked = |wanted: &String| wanted.eq_ignore_ascii_case(category(fact));
        fact.is_current && (categories.is_empty() || categories.iter().any(is_asked))
    };
    let mut said = Vec::new();
    if wants("observation") {
        said.extend(
            snapshot.observations(holder.file)?.into_iter().filter(fits).map(NotePart::Fact),
        );
    }
    if wants("relation") {
        said.extend(snapshot.relations_from(holder.file)?.into_iter().map(NotePart::Link));
    }
    if wants("entity") {
        said.push(NotePart::Note);
    }
    Ok(said)
}

/// Ranks the relevant parts, best first. Notes keep their own score.
fn rank_parts(
    understood: &ResolvedQuery,
    holders: &[NoteHit],
    said: Vec<(usize, NotePart)>,
) -> Vec<PartResult> {
    let (mut parts, mut shown) = (Vec::new(), Vec::new());
    let mut compared = Vec::new();
    for (at, said) in said {
        let Some(holder) = holders.get(at) else { continue };
        let (kind, text) = match &said {
            NotePart::Fact(fact) => (category(fact), &fact.text),
            NotePart::Link(link) => (link.relation_type.as_str(), &link.target),
            NotePart::Note => {
                let score = holder.score;
                shown.push(PartResult {
                    round: batch_of(at),
                    score,
                    ..PartResult::unranked(at, said)
                });
                continue;
            }
        };
        parts.push(NoteFragment {
            round: batch_of(at),
            path: holder.place.path.clone(),
            title: holder.title.clone(),
            kind: kind.to_owned(),
            text: text.clone(),
            created: holder.created,
            updated: holder.updated,
        });
        compared.push(Some((at, said)));
    }
    for ranked in understood.compare(&parts) {
        let Some((holder, said)) = compared.get_mut(ranked.note).and_then(Option::take) else {
            continue;
        };
        let by = MatchDetails {
            heading: String::new(),
            lines: Vec::new(),
            relevance: ranked.relevance,
            why: ranked.why,
        };
        let (round, score) = (ranked.batch, ranked.score);
        shown.push(PartResult { round, score, holder, said, by: Some(by) });
    }
    shown.sort_by(|a, b| a.round.cmp(&b.round).then(b.score.total_cmp(&a.score)));
    shown
}

/// Returns the batch of a note. Earlier batches stay the same when more notes are read.
fn batch_of(at: usize) -> usize {
    let looks = std::iter::successors(Some(FIRST_NOTES), |notes| notes.checked_mul(MORE_NOTES));
    looks.take_while(|notes| *notes <= at).count()
}

impl PartResult {
    /// A part without a score.
    fn unranked(holder: usize, said: NotePart) -> Self {
        Self { round: 0, score: 1.0, holder, said, by: None }
    }

    fn hit(self, call: &CallContext<'_>, holder: &NoteHit) -> Result<NoteHit, ToolError> {
        let hit = match &self.said {
            NotePart::Note => return Ok(holder.clone()),
            NotePart::Fact(fact) => holder.fact(fact),
            NotePart::Link(link) => holder.relation(call, link)?,
        };
        Ok(NoteHit { score: self.score, by: self.by, ..hit })
    }
}
