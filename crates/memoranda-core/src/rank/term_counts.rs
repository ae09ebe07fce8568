//! Counts of the query's terms in a candidate note: in each passage, in the passages around it and
//! in the whole note.

use super::term_freq::{QueryTerms, TermFreqs};
use super::{CandidatePassage, RankCandidate};
use crate::passage::PassageStart;

/// Term frequency credited to each passage of a note from the named time, if the query names little
/// else.
const TIME_TERM_FREQ: f32 = 4.0;

/// Number of passages on either side that belong to a window.
pub(super) const WINDOW_REACH: usize = 2;

/// Term counts of a note.
pub(super) struct NoteTermCounts<'r, Id> {
    pub(super) candidate: &'r RankCandidate<Id>,
    pub(super) whole: TermFreqs,
    pub(super) passages: Vec<PassageTermCounts>,
}

/// Term counts of a passage.
pub(super) struct PassageTermCounts {
    pub(super) own: TermFreqs,
    /// Counts of the passage and its direct neighbours.
    pub(super) around: TermFreqs,
    /// Counts of the passage and two neighbours on either side.
    pub(super) window: TermFreqs,
}

impl<'r, Id> NoteTermCounts<'r, Id> {
    /// Counts the query's terms in a note. Terms that name a time count in every passage of a note
    /// from that time.
    pub(super) fn new(
        candidate: &'r RankCandidate<Id>,
        sought: &QueryTerms,
        timely: &[usize],
    ) -> Self {
        let name = sought.count(&candidate.name);
        let passages = &candidate.passages;
        let mut whole = TermFreqs::default();
        let count = |(i, passage): (usize, &CandidatePassage)| {
            let mut counts = sought.count_passage(passage);
            if i == 0 {
                counts.add(&name);
            }
            let next = passages.get(i + 1).filter(|next| {
                next.start == PassageStart::ContinuesBlock && next.id.abs_diff(passage.id) == 1
            });
            if let Some(next) = next {
                sought.count_across(&passage.tokens, &next.tokens, &mut counts);
            }
            for &term in timely {
                if let Some(count) = counts.terms.get_mut(term) {
                    *count = count.max(TIME_TERM_FREQ);
                }
            }
            whole.add(&counts);
            counts
        };
        let own: Vec<_> = passages.iter().enumerate().map(count).collect();
        let sum = |i: usize, reach: usize| {
            let mut sum = own.get(i).cloned().unwrap_or_default();
            for at in neighbours(passages, i, reach) {
                own.get(at).into_iter().for_each(|neighbour| sum.add(neighbour));
            }
            sum
        };
        let contexts: Vec<_> = (0..own.len()).map(|i| (sum(i, 1), sum(i, WINDOW_REACH))).collect();
        let counts = own
            .into_iter()
            .zip(contexts)
            .map(|(own, (around, window))| PassageTermCounts { own, around, window });
        Self { candidate, whole, passages: counts.collect() }
    }
}

/// Returns the positions of the neighbours of a passage, at most `reach` on either side, without
/// itself. Passages that were left out of the note end a neighbourhood.
pub(super) fn neighbours(
    passages: &[CandidatePassage],
    at: usize,
    reach: usize,
) -> impl Iterator<Item = usize> {
    let id = move |at: usize| passages.get(at).map(|passage| passage.id);
    let sides = at.saturating_sub(reach)..=at + reach;
    sides.filter(move |&other| other != at).filter(move |&other| {
        matches!((id(at), id(other)), (Some(a), Some(b)) if a.abs_diff(b) == at.abs_diff(other) as u64)
    })
}
