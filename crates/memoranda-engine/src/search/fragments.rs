//! Compares parts of notes, such as facts and relations, with a question.

use jiff::Timestamp;
use memoranda_core::embed::{Embedding, QueryEmbedding, StaticEmbeddingModel};
use memoranda_core::path::NotePath;
use memoranda_core::query::{Query, TimeExpression};
use memoranda_core::rank::{
    CandidatePassage, RankCandidate, RankOptions, RankQuery, RankSignal, RankedNote, TitleMatch,
    rank_notes,
};

/// A question as a search understood it, to compare with more than that search has found.
#[derive(Clone, Debug)]
pub struct ResolvedQuery {
    pub(crate) query: Query,
    pub(crate) holders: Vec<u64>,
    pub(crate) guessed: Vec<usize>,
    pub(crate) passages: u64,
    pub(crate) vector: Option<QueryEmbedding>,
    pub(crate) when: Option<TimeExpression>,
    pub(crate) now: Timestamp,
    pub(crate) options: RankOptions,
    pub(crate) min_relevance: f64,
    pub(crate) min_similarity: Option<f64>,
}

/// A part of a note that may answer by itself.
#[derive(Clone, Debug)]
pub struct NoteFragment {
    /// Batch in which the fragment was found. Fragments of earlier batches come first, and the
    /// first batch sets the relevance threshold, so that later pages keep the order of earlier
    /// ones.
    pub round: usize,
    /// Path of the note.
    pub path: NotePath,
    /// Title of the note, which each of its parts repeats.
    pub title: String,
    /// Category of an observation, or type of a relation.
    pub kind: String,
    /// Text of the fragment.
    pub text: String,
    /// Creation time of the note.
    pub created: Timestamp,
    /// Time of the last change of the note.
    pub updated: Timestamp,
}

impl ResolvedQuery {
    /// Returns the indices of the relevant parts, best first.
    pub fn compare(&self, parts: &[NoteFragment]) -> Vec<RankedNote<usize>> {
        let candidates: Vec<_> =
            parts.iter().enumerate().map(|(at, part)| self.candidate(at, part)).collect();
        let asked = RankQuery {
            query: &self.query,
            doc_freqs: &self.holders,
            corrected_terms: &self.guessed,
            passage_count: self.passages,
            time: self.when.as_ref(),
            now: self.now,
        };
        let mut ranked = rank_notes(&candidates, &asked, &self.options);
        ranked.retain(|part| part.relevance >= self.min_relevance && self.is_alike(part));
        ranked
    }

    /// Returns a part as the candidate of a note that consists of this part.
    fn candidate(&self, at: usize, part: &NoteFragment) -> RankCandidate<usize> {
        let similarity = self.vector.as_ref().map_or(0.0, |asked| {
            let said = format!("{} {}", part.kind, part.text);
            asked.similarity(&Embedding::Static(StaticEmbeddingModel::bundled().embed(&said)))
        });
        RankCandidate {
            note: at,
            batch: part.round,
            path: part.path.as_str().into(),
            name: part.title.as_str().into(),
            title_match: TitleMatch::None,
            created: part.created,
            updated: part.updated,
            importance: None,
            corpus_passages: None,
            passages: vec![CandidatePassage {
                similarity,
                ..CandidatePassage::new(&part.kind, &part.text)
            }],
        }
    }

    fn is_alike(&self, part: &RankedNote<usize>) -> bool {
        let by_words =
            |signal: &RankSignal| matches!(signal, RankSignal::Words(_) | RankSignal::Context(_));
        self.min_similarity.is_none_or(|least| part.similarity >= least)
            || part.why.iter().any(by_words)
    }
}
