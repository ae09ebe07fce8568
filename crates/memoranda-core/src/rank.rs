//! Which notes come first, and why. Candidates are passages that the index found; notes are
//! what people look for, so passages of one note are taken together.
//!
//! Amounts are on one scale: the best passage of all has text worth 1. What a text says decides;
//! importance and recency only tell near-equals apart.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use jiff::Timestamp;

use crate::path::NotePath;
use crate::query::Query;
use crate::words::{fold, stem, words};

/// Something that the index found.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate<Id> {
    /// The note.
    pub note: Id,
    /// Where the note lies; the last tie-breaker.
    pub path: NotePath,
    /// The passage within it; `None` if the note was found by its name alone.
    pub passage: Option<u64>,
    /// How well the passage's words match, higher is better (SQLite's `bm25()` negated).
    pub bm25: f64,
    /// How well the note's name matches.
    pub title_match: TitleMatch,
    /// When the note was last changed.
    pub updated: Timestamp,
    /// How much the fact or note matters, 0 to 1, if someone said.
    pub importance: Option<f64>,
}

/// How well a note's title or permalink matches a query.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TitleMatch {
    /// Not, or in part only.
    None,
    /// It holds all the query's words.
    AllWords,
    /// It is the query.
    Exact,
}

impl TitleMatch {
    /// How well a title or permalink matches what was asked, in the words of `asked` itself.
    pub fn of(asked: &str, query: &Query, name: &str) -> Self {
        let folded = |text| words(text).map(|word| fold(word.text));
        if words(asked).next().is_some() && folded(asked).eq(folded(name)) {
            return Self::Exact;
        }
        let held: HashSet<String> = folded(name).map(|word| stem(&word).to_owned()).collect();
        let mut wanted = query.wanted().flat_map(|term| &term.words).peekable();
        let holds_all =
            wanted.peek().is_some() && wanted.all(|word| held.contains(stem(&fold(word))));
        if holds_all { Self::AllWords } else { Self::None }
    }
}

/// What the signals are worth beside a best text match of 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankOptions {
    /// A title that holds all the words.
    pub title: f64,
    /// All further passages of the same note together, at the most.
    pub more_passages: f64,
    /// An importance of 1.
    pub importance: f64,
    /// A change at this very moment.
    pub recency: f64,
    /// After how many days recency is worth half.
    pub recency_half_life_days: f64,
}

impl RankOptions {
    /// What searches use unless they say otherwise.
    pub const STANDARD: Self = Self {
        title: 0.3,
        more_passages: 0.15,
        importance: 0.05,
        recency: 0.02,
        recency_half_life_days: 30.0,
    };

    /// More than a note can reach whose name is not the query.
    fn most_without_name(&self) -> f64 {
        1.0 + self.title + self.more_passages + self.importance + self.recency
    }
}

/// A note in its place, with the passages that put it there.
#[derive(Clone, PartialEq, Debug)]
pub struct Ranked<Id> {
    /// The note.
    pub note: Id,
    /// The sum of its signals.
    pub score: f64,
    /// Its passages, best first.
    pub passages: Vec<u64>,
    /// What the score is made of; amounts add up to it.
    pub why: Vec<Signal>,
}

/// One reason for a note's place, with what it added.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Signal {
    /// Its title or permalink is the query: first whatever else.
    ExactTitle(f64),
    /// Its title holds all the words.
    TitleWords(f64),
    /// Its best passage matches.
    Text(f64),
    /// So many further passages match.
    MorePassages(usize, f64),
    /// Someone said that it matters.
    Importance(f64),
    /// It changed lately.
    Recency(f64),
}

impl Signal {
    /// What the signal added to the score.
    pub fn amount(self) -> f64 {
        match self {
            Self::ExactTitle(amount)
            | Self::TitleWords(amount)
            | Self::Text(amount)
            | Self::MorePassages(_, amount)
            | Self::Importance(amount)
            | Self::Recency(amount) => amount,
        }
    }
}

/// Puts notes in order, best first: by score, then the later change, then the path.
pub fn rank<Id: Copy + Eq + Hash>(
    candidates: &[Candidate<Id>],
    now: Timestamp,
    options: &RankOptions,
) -> Vec<Ranked<Id>> {
    let best = candidates.iter().map(|c| finite(c.bm25)).fold(0.0, f64::max);
    let mut order: Vec<Id> = Vec::new();
    let mut groups: HashMap<Id, Vec<&Candidate<Id>>> = HashMap::new();
    for candidate in candidates {
        let group = groups.entry(candidate.note).or_insert_with(|| {
            order.push(candidate.note);
            Vec::new()
        });
        group.push(candidate);
    }
    let mut notes: Vec<_> = order
        .iter()
        .filter_map(|note| groups.remove(note))
        .filter_map(|group| Grouped::new(group, best, now, options))
        .collect();
    notes.sort_by(|a, b| {
        let by_score = b.ranked.score.total_cmp(&a.ranked.score);
        by_score.then(b.updated.cmp(&a.updated)).then_with(|| a.path.cmp(b.path))
    });
    notes.into_iter().map(|note| note.ranked).collect()
}

/// A note's candidates taken together, with what orders it.
struct Grouped<'c, Id> {
    ranked: Ranked<Id>,
    updated: Timestamp,
    path: &'c NotePath,
}

impl<'c, Id: Copy> Grouped<'c, Id> {
    fn new(
        mut group: Vec<&'c Candidate<Id>>,
        best: f64,
        now: Timestamp,
        options: &RankOptions,
    ) -> Option<Self> {
        group.sort_by(|a, b| {
            let by_text = finite(b.bm25).total_cmp(&finite(a.bm25));
            by_text.then(a.passage.cmp(&b.passage))
        });
        let first = *group.first()?;
        let updated = group.iter().map(|c| c.updated).max()?;
        let title = group.iter().map(|c| c.title_match).max()?;
        let importance = group.iter().filter_map(|c| c.importance).map(finite).fold(0.0, f64::max);
        let mut passages: Vec<u64> = Vec::new();
        let mut texts: Vec<f64> = Vec::new();
        let mut seen = HashSet::new();
        for candidate in &group {
            if let Some(passage) = candidate.passage
                && seen.insert(passage)
            {
                passages.push(passage);
                texts.push(if best > 0.0 { finite(candidate.bm25) / best } else { 0.0 });
            }
        }
        let mut why = Vec::new();
        match title {
            TitleMatch::Exact => why.push(Signal::ExactTitle(options.most_without_name())),
            TitleMatch::AllWords => why.push(Signal::TitleWords(options.title)),
            TitleMatch::None => {}
        }
        if let Some((&text, more)) = texts.split_first() {
            why.push(Signal::Text(text));
            // Each counts for half of the one before: many weak passages are no strong one.
            let halves = std::iter::successors(Some(0.5), |half| Some(half * 0.5));
            let sum: f64 = more.iter().zip(halves).map(|(text, half)| text * half).sum();
            why.push(Signal::MorePassages(more.len(), sum * options.more_passages));
        }
        why.push(Signal::Importance(importance.min(1.0) * options.importance));
        why.push(Signal::Recency(recency(updated, now, options)));
        why.retain(|signal| signal.amount() > 0.0);
        let score = why.iter().map(|signal| signal.amount()).sum();
        let ranked = Ranked { note: first.note, score, passages, why };
        Some(Self { ranked, updated, path: &first.path })
    }
}

fn recency(updated: Timestamp, now: Timestamp, options: &RankOptions) -> f64 {
    let seconds = now.as_second().saturating_sub(updated.as_second()).max(0);
    let half_lives = seconds as f64 / 86_400.0 / options.recency_half_life_days.max(0.001);
    options.recency * 0.5f64.powf(half_lives)
}

/// A usable amount: nothing for what is no number, infinite or negative.
fn finite(amount: f64) -> f64 {
    if amount.is_finite() { amount.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 86_400;
    const NOW: i64 = 1_790_000_000;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn candidate(note: u64, passage: u64, bm25: f64) -> Candidate<u64> {
        Candidate {
            note,
            path: NotePath::parse(&format!("n{note}.md")).unwrap(),
            passage: Some(passage),
            bm25,
            title_match: TitleMatch::None,
            updated: at(NOW - 100 * DAY),
            importance: None,
        }
    }

    fn check(candidates: &[Candidate<u64>], expected: &[u64]) {
        let ranked = rank(candidates, at(NOW), &RankOptions::STANDARD);
        let notes: Vec<_> = ranked.iter().map(|ranked| ranked.note).collect();
        assert_eq!(notes, expected, "{ranked:?}");
    }

    #[test]
    fn notes_come_in_the_order_of_their_signals() {
        let c = candidate;
        let recent = |c: Candidate<u64>| Candidate { updated: at(NOW), ..c };
        let title = |c: Candidate<u64>, title_match| Candidate { title_match, ..c };
        let weighty = |c: Candidate<u64>| Candidate { importance: Some(1.0), ..c };
        check(&[], &[]);
        check(&[c(1, 1, 2.0), c(2, 2, 5.0)], &[2, 1]);
        check(&[c(1, 1, 5.0), c(2, 2, 4.9), c(2, 3, 4.8)], &[2, 1]);
        check(&[c(1, 1, 5.0), c(2, 2, 2.0), c(2, 3, 2.0), c(2, 4, 2.0)], &[1, 2]);
        check(&[c(1, 1, 9.0), title(c(2, 2, 1.0), TitleMatch::Exact)], &[2, 1]);
        check(&[c(1, 1, 5.0), title(c(2, 2, 4.0), TitleMatch::AllWords)], &[2, 1]);
        check(&[c(1, 1, 9.0), title(c(2, 2, 4.0), TitleMatch::AllWords)], &[1, 2]);
        check(&[c(1, 1, 5.0), recent(c(2, 2, 4.95))], &[2, 1]);
        check(&[c(1, 1, 5.0), recent(c(2, 2, 4.5))], &[1, 2]);
        check(&[c(1, 1, 5.0), weighty(c(2, 2, 4.8))], &[2, 1]);
        check(&[c(2, 1, 5.0), c(1, 2, 5.0)], &[1, 2]);
        check(&[c(1, 1, f64::NAN), c(2, 2, f64::INFINITY), c(3, 3, 0.1)], &[3, 1, 2]);
    }

    #[test]
    fn names_match_whole_or_by_all_words() {
        let check = |asked: &str, name: &str, expected| {
            assert_eq!(TitleMatch::of(asked, &Query::parse(asked), name), expected, "{asked:?}");
        };
        check("search ranking", "Search Ranking", TitleMatch::Exact);
        check("specs/search-ranking", "specs/search-ranking", TitleMatch::Exact);
        check("The Who", "the who", TitleMatch::Exact);
        check("how are searches ranked", "Search Ranking", TitleMatch::AllWords);
        check("the plans", "A plan for Café", TitleMatch::AllWords);
        check("cafe plan", "A plan for Café", TitleMatch::AllWords);
        check("東京", "東京の計画", TitleMatch::AllWords);
        check("", "", TitleMatch::None);
        check("?", "!", TitleMatch::None);
    }

    #[test]
    fn a_hit_says_why() {
        let candidates = [candidate(1, 7, 4.0), candidate(1, 8, 2.0), candidate(1, 7, 4.0)];
        let ranked = rank(&candidates, at(NOW), &RankOptions::STANDARD);
        assert_eq!(ranked[0].passages, [7, 8]);
        assert_eq!(ranked[0].why[..2], [Signal::Text(1.0), Signal::MorePassages(1, 0.0375)]);
        let recent = Candidate { passage: None, ..candidate(2, 0, 0.0) };
        let ranked = rank(&[recent], at(NOW - 100 * DAY), &RankOptions::STANDARD);
        assert_eq!(ranked[0].why, [Signal::Recency(0.02)]);
    }

    proptest! {
        #[test]
        fn order_is_total_and_knows_no_order_of_arrival(
            found in prop::collection::vec((0u64..6, 0u64..4, any::<f64>()), 0..30),
        ) {
            let candidates: Vec<_> = found.iter().map(|&(n, p, s)| candidate(n, p, s)).collect();
            let ranked = rank(&candidates, at(NOW), &RankOptions::STANDARD);
            let reversed: Vec<_> = candidates.iter().rev().cloned().collect();
            let again = rank(&reversed, at(NOW), &RankOptions::STANDARD);
            prop_assert!(ranked.iter().map(|r| r.note).eq(again.iter().map(|r| r.note)));
            prop_assert!(ranked.iter().all(|r| r.score.is_finite()));
            prop_assert!(ranked.is_sorted_by(|a, b| a.score >= b.score));
        }
    }
}
