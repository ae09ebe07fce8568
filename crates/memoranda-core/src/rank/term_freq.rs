//! Counts the terms of a query in texts, with the stemming of the full-text index.

use smallvec::{SmallVec, smallvec};

use super::question_features::{FeatureMatch, QuestionFeatures};
use super::tokens::{PassageTokens, number};
use super::{CandidatePassage, PassageSource};
use crate::embed::StaticEmbeddingModel;
use crate::porter::porter_stem;
use crate::query::{Query, QueryTerm, TermKind, TermRequirement};
use crate::tokenize::{fold, tokenize};

/// Term frequency of a longer word that begins with a term.
const BEGINNING_TERM_FREQ: f32 = 0.25;

/// Terms of a query, stemmed for counting.
pub struct QueryTerms {
    terms: Vec<StemmedTerm>,
    /// First two letters of the sought words; rejects most words of a text without stemming.
    beginnings: Vec<[u8; 2]>,
    /// First letters of the sought words, as a table.
    firsts: [bool; 256],
    /// True if the query has prefix terms.
    has_beginnings: bool,
    cues: QuestionFeatures,
}

struct StemmedTerm {
    kind: TermKind,
    stems: Vec<String>,
    /// Hashes of the stems.
    numbers: Vec<u32>,
    /// Stems of longer words that begin with the word, and their hashes.
    beginnings: Vec<String>,
    beginning_numbers: Vec<u32>,
    /// Stems of other forms of the word, and their hashes.
    forms: Vec<String>,
    form_numbers: Vec<u32>,
    /// Last word as typed, for prefix terms.
    last: String,
    need: TermRequirement,
    /// Weight of the word by itself, about 1.
    weight: f32,
}

/// Term frequencies in one text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermFreqs {
    /// Frequency of each term.
    pub(super) terms: SmallVec<[f32; 8]>,
    /// Number of words of the text.
    pub(super) words: f32,
    /// Features of the question that the text matches.
    pub(super) fit: FeatureMatch,
}

impl QueryTerms {
    /// Stems the terms of a query.
    pub fn new(query: &Query) -> Self {
        let terms: Vec<_> = query.terms.iter().map(StemmedTerm::new).collect();
        let words_of = |term: &StemmedTerm| {
            [term.stems.as_slice(), &term.forms, std::slice::from_ref(&term.last)].concat()
        };
        let mut beginnings: Vec<_> =
            terms.iter().flat_map(words_of).map(|word| beginning(&word)).collect();
        beginnings.sort_unstable();
        beginnings.dedup();
        let firsts =
            std::array::from_fn(|byte| beginnings.iter().any(|b| usize::from(b[0]) == byte));
        let has_beginnings = query.has_prefix_terms();
        Self { terms, beginnings, firsts, has_beginnings, cues: QuestionFeatures::new(query) }
    }

    /// Returns the requirement of each term.
    pub(super) fn needs(&self) -> impl Iterator<Item = TermRequirement> {
        self.terms.iter().map(|term| term.need)
    }

    /// Returns the weight of each term by itself.
    pub(super) fn weights(&self) -> impl Iterator<Item = f32> {
        self.terms.iter().map(|term| term.weight)
    }

    /// Returns true if a sought word may begin with these letters; a second byte of 0 matches any
    /// letter.
    fn may_match_prefix(&self, found: [u8; 2]) -> bool {
        self.firsts[usize::from(found[0])]
            && self.beginnings.iter().any(|b| b[0] == found[0] && (b[1] == found[1] || b[1] == 0))
    }

    /// Counts the terms in a passage and in the headings above it.
    pub(super) fn count_passage(&self, passage: &CandidatePassage) -> TermFreqs {
        let mut counts = match passage.source.as_deref() {
            // A stem does not contain the beginning of its word, so prefix terms need the text.
            Some(PassageSource { heading, text }) if self.has_beginnings => {
                let mut counts = self.count(text);
                if !text.trim_start().starts_with('#') {
                    counts.add(&self.count(heading));
                }
                counts
            }
            _ => {
                let cut = &passage.tokens;
                let terms = self.terms.iter().map(|term| term.frequency_in(cut));
                let words = cut.word_count() as f32;
                TermFreqs { terms: terms.collect(), words, ..TermFreqs::default() }
            }
        };
        counts.fit = self.cues.match_passage(&passage.tokens);
        counts
    }

    /// Adds the phrases that begin in one passage and end in the next one of the same paragraph.
    pub(super) fn count_across(
        &self,
        before: &PassageTokens,
        behind: &PassageTokens,
        counts: &mut TermFreqs,
    ) {
        let phrases = self.terms.iter().zip(&mut counts.terms);
        for (term, count) in phrases.filter(|(term, _)| term.kind == TermKind::Phrase) {
            *count += before.count_across(behind, &term.numbers) as f32;
        }
    }

    /// Counts the terms in a text.
    pub fn count(&self, text: &str) -> TermFreqs {
        let mut counts =
            TermFreqs { terms: smallvec![0.0; self.terms.len()], ..TermFreqs::default() };
        let has_phrases = self.terms.iter().any(|term| term.stems.len() > 1);
        // The latest words with their stems, at most as many as the longest phrase has.
        let mut recent: Vec<(String, String)> = Vec::new();
        let longest = self.terms.iter().map(|term| term.stems.len()).max().unwrap_or(1);
        for word in tokenize(text) {
            counts.words += 1.0;
            let is_sought = !word.text.is_ascii() || self.may_match_prefix(beginning(word.text));
            if !is_sought {
                recent.clear();
                continue;
            }
            let folded = fold(word.text).into_owned();
            let stem = porter_stem(&folded);
            if !has_phrases {
                recent.clear();
            } else if recent.len() == longest {
                recent.remove(0);
            }
            recent.push((folded, stem));
            for (term, count) in self.terms.iter().zip(&mut counts.terms) {
                let stem = recent.last().map(|(_, stem)| stem);
                if term.ends(&recent) || stem.is_some_and(|stem| term.forms.contains(stem)) {
                    *count += 1.0;
                } else if stem.is_some_and(|stem| term.beginnings.contains(stem)) {
                    *count += BEGINNING_TERM_FREQ;
                }
            }
        }
        counts
    }
}

impl StemmedTerm {
    fn new(term: &QueryTerm) -> Self {
        let folded: Vec<_> = term.words.iter().map(|word| fold(word).into_owned()).collect();
        let stems: Vec<_> = folded.iter().map(|word| porter_stem(word)).collect();
        let numbers = stems.iter().map(|stem| number(stem)).collect();
        let beginnings = term.beginnings.clone();
        let beginning_numbers = beginnings.iter().map(|stem| number(stem)).collect();
        let forms: Vec<_> = term.forms.iter().map(|word| porter_stem(&fold(word))).collect();
        let form_numbers = forms.iter().map(|stem| number(stem)).collect();
        let last = folded.last().cloned().unwrap_or_default();
        let weights = term.words.iter().map(|word| StaticEmbeddingModel::bundled().weight(word));
        let weight = weights.fold(0.0, f32::max);
        let (kind, need) = (term.kind, term.need);
        Self {
            kind,
            stems,
            numbers,
            beginnings,
            beginning_numbers,
            forms,
            form_numbers,
            last,
            need,
            weight,
        }
    }

    /// Returns the frequency in a passage; longer words count less.
    fn frequency_in(&self, tokens: &PassageTokens) -> f32 {
        let count = |numbers: &[u32]| -> usize {
            numbers.iter().map(|&number| tokens.count(&[number])).sum()
        };
        let exact = tokens.count(&self.numbers) + count(&self.form_numbers);
        exact as f32 + BEGINNING_TERM_FREQ * count(&self.beginning_numbers) as f32
    }

    /// Returns true if the latest words end with this term.
    fn ends(&self, recent: &[(String, String)]) -> bool {
        let Some(start) = recent.len().checked_sub(self.stems.len()) else { return false };
        let found = recent.get(start..).unwrap_or_default();
        let last = self.stems.len().saturating_sub(1);
        self.stems.iter().zip(found).enumerate().all(|(i, (sought, (folded, stem)))| {
            let is_open = self.kind == TermKind::Prefix && i == last;
            sought == stem || (is_open && folded.starts_with(&self.last))
        })
    }
}

/// Returns the first two letters in lower case. Stemming changes them only by turning a final `y`
/// into `i`. A one-letter word has 0 as its second byte.
fn beginning(word: &str) -> [u8; 2] {
    let mut bytes = word.bytes().map(|byte| match byte.to_ascii_lowercase() {
        b'y' => b'i',
        byte => byte,
    });
    [bytes.next().unwrap_or_default(), bytes.next().unwrap_or_default()]
}

impl TermFreqs {
    /// Adds the counts of another text.
    pub(super) fn add(&mut self, other: &Self) {
        self.terms.resize(self.terms.len().max(other.terms.len()), 0.0);
        for (sum, count) in self.terms.iter_mut().zip(&other.terms) {
            *sum += count;
        }
        self.words += other.words;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terms_are_counted_by_stem() {
        let check = |query: &str, text: &str, expected: &[f32]| {
            let counts = QueryTerms::new(&Query::parse(query)).count(text);
            assert_eq!(counts.terms.as_slice(), expected, "{query:?} in {text:?}");
        };
        check("plan", "Plans were planned by the planner", &[2.0]);
        check("café dog", "The cafe, the CAFÉ and no cat", &[2.0, 0.0]);
        check("\"rate limit\"", "rate limits: the rate of a limit", &[1.0]);
        check("\"limit rate\"", "rate limit, rate", &[1.0]);
        check("auth*", "authentication of an author", &[2.0]);
        check("b*", "Bees be busy", &[3.0]);
        check("eyes", "an eye", &[1.0]);
        check("東京", "東京都と京東", &[1.0]);
        check("plan -dog", "a plan, a dog", &[1.0, 1.0]);
        assert_eq!(QueryTerms::new(&Query::parse("x")).count("one two, three").words, 3.0);
    }

    proptest! {
        #[test]
        fn any_text_is_counted_without_panic(
            query in "\\PC{0,12}|[a-c語é* \"]{0,12}",
            text in "\\PC{0,60}|([a-c]{1,3}|[ \n]|語|é){0,40}",
        ) {
            let query = Query::parse(&query);
            let counts = QueryTerms::new(&query).count(&text);
            prop_assert_eq!(counts.terms.len(), query.terms.len());
            prop_assert!(counts.terms.iter().all(|&count| count <= counts.words));
        }

        #[test]
        fn tokens_count_like_their_source_text(
            query in "[a-d語é \"]{0,12}",
            heading in "[a-d语 ]{0,6}",
            text in "\\PC{0,60}|#?([a-d]{1,3}(s|ing|)|[ \n]|語|é){0,40}",
        ) {
            let sought = QueryTerms::new(&Query::parse(&query));
            let passage = CandidatePassage::new(&heading, &text);
            let mut expected = sought.count(&text);
            if !text.trim_start().starts_with('#') {
                expected.add(&sought.count(&heading));
            }
            expected.fit = sought.cues.match_passage(&passage.tokens);
            prop_assert_eq!(sought.count_passage(&passage), expected);
        }
    }
}
