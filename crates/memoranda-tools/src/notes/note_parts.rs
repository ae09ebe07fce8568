//! Facts and relations of the notes that a search finds, each compared by itself.

use memoranda_engine::{ObservationRow, Part, RelationRow, Understood};

use super::search::{Asked, Found, notes};
use super::search_hit::{Hit, Match, category};
use crate::registry::{CallContext, ToolError};

/// How many notes are looked through for parts that fit: first a few, then ever more.
const FIRST_NOTES: usize = 50;
const MORE_NOTES: usize = 10;
const MOST_NOTES: usize = 500_000;
/// No more parts than this are compared in one call.
const MOST_PARTS: usize = 50_000;

/// A part of a note, as the index has it.
enum Said {
    Fact(ObservationRow),
    Link(RelationRow),
    /// The note itself.
    Note,
}

/// A part that is to be shown.
struct Shown {
    round: usize,
    score: f64,
    /// The note, by its place.
    holder: usize,
    said: Said,
    by: Option<Match>,
}

/// The first parts that fit: the best, if words are looked for, else in the order of their notes.
pub(super) fn parts(
    call: &CallContext<'_>,
    asked: &Asked,
    most: usize,
) -> Result<Found, ToolError> {
    let mut look_through = FIRST_NOTES;
    loop {
        let mut found = notes(call, asked, look_through, 0)?;
        let holders = std::mem::take(&mut found.hits);
        let mut said: Vec<(usize, Said)> = Vec::new();
        for (at, holder) in holders.iter().enumerate() {
            let is_enough = found.understood.is_none() && said.len() > most;
            if is_enough || said.len() >= MOST_PARTS {
                found.partial |= !is_enough;
                found.has_more = true;
                break;
            }
            said.extend(within(call, asked, holder)?.into_iter().map(|said| (at, said)));
        }
        let is_last = !found.has_more || said.len() >= MOST_PARTS || look_through >= MOST_NOTES;
        let mut shown = match &found.understood {
            Some(understood) => compared(understood, &holders, said),
            None => said.into_iter().map(|(holder, said)| Shown::plain(holder, said)).collect(),
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
        // Most often few notes are enough; it is not worth it to keep what was found.
        look_through *= MORE_NOTES;
    }
}

/// What of a note is asked for, and fits but for the words.
fn within(call: &CallContext<'_>, asked: &Asked, holder: &Hit) -> Result<Vec<Said>, ToolError> {
    let store = call.memory.store();
    let wants = |kind: &str| asked.kinds.iter().any(|asked| asked == kind);
    let categories = &asked.filter.categories;
    let fits = |fact: &ObservationRow| {
        let is_asked = |wanted: &String| wanted.eq_ignore_ascii_case(category(fact));
        fact.is_current && (categories.is_empty() || categories.iter().any(is_asked))
    };
    let mut said = Vec::new();
    if wants("observation") {
        said.extend(store.observations(holder.file)?.into_iter().filter(fits).map(Said::Fact));
    }
    if wants("relation") {
        said.extend(store.relations_from(holder.file)?.into_iter().map(Said::Link));
    }
    if wants("entity") {
        said.push(Said::Note);
    }
    Ok(said)
}

/// The parts that have to do with the question, best first. Notes keep their own score.
fn compared(understood: &Understood, holders: &[Hit], said: Vec<(usize, Said)>) -> Vec<Shown> {
    let (mut parts, mut shown) = (Vec::new(), Vec::new());
    let mut compared = Vec::new();
    for (at, said) in said {
        let Some(holder) = holders.get(at) else { continue };
        let (kind, text) = match &said {
            Said::Fact(fact) => (category(fact), &fact.text),
            Said::Link(link) => (link.relation_type.as_str(), &link.target),
            Said::Note => {
                let score = holder.score;
                shown.push(Shown { round: round(at), score, ..Shown::plain(at, said) });
                continue;
            }
        };
        parts.push(Part {
            round: round(at),
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
        let by = Match {
            heading: String::new(),
            lines: None,
            relevance: ranked.relevance,
            why: ranked.why,
        };
        let (round, score) = (ranked.round, ranked.score);
        shown.push(Shown { round, score, holder, said, by: Some(by) });
    }
    shown.sort_by(|a, b| a.round.cmp(&b.round).then(b.score.total_cmp(&a.score)));
    shown
}

/// With which look at the notes one comes up: whoever looks further finds the same before it.
fn round(at: usize) -> usize {
    let looks = std::iter::successors(Some(FIRST_NOTES), |notes| notes.checked_mul(MORE_NOTES));
    looks.take_while(|notes| *notes <= at).count()
}

impl Shown {
    /// A part that was not compared.
    fn plain(holder: usize, said: Said) -> Self {
        Self { round: 0, score: 1.0, holder, said, by: None }
    }

    fn hit(self, call: &CallContext<'_>, holder: &Hit) -> Result<Hit, ToolError> {
        let hit = match &self.said {
            Said::Note => return Ok(holder.clone()),
            Said::Fact(fact) => holder.fact(fact),
            Said::Link(link) => holder.relation(call, link)?,
        };
        Ok(Hit { score: self.score, by: self.by, ..hit })
    }
}
