//! Which notes come first, and why. Candidates are notes with their passages, as the index found
//! them by their words and by their meaning; here they are compared in full.
//!
//! Three views of the words count (the passage, its neighbourhood, the whole note), because what
//! answers a question is often said beside the words of the question. The meaning fills in what
//! words leave open: it counts the less the better the best passage matches by its words, and less
//! for short passages, because few words point in no clear direction. All else only tells
//! near-equals apart. `docs/search.md` has what each part is worth on data.

mod question_features;
mod term_freq;
mod title;
mod tokens;
mod weights;

use std::hash::Hash;
use std::sync::Arc;

use jiff::Timestamp;

pub use question_features::without_speaker_names;
pub use term_freq::{QueryTerms, TermFreqs};
pub use title::{TitleMatch, TitleQuery};
pub use tokens::PassageTokens;
pub use weights::RankOptions;

use crate::passage::PassageStart;
use crate::query::{Query, TermRequirement, TimeExpression};

/// A word that was read as another is half as sure a sign that a passage has to do with the question.
const GUESS: f32 = 0.5;

/// A question of whose words so great a share names a time, by their worth, asks for that time;
const MOSTLY_TIME: f32 = 2.0 / 3.0;
/// and a note of that time then counts as if each passage named it thus often.
const OF_THE_TIME: f32 = 4.0;

/// What is asked, in all the forms in which it is compared.
pub struct RankQuery<'q> {
    /// The query.
    pub query: &'q Query,
    /// How many passages hold each of its terms.
    pub holders: &'q [u64],
    /// The numbers of the terms that were read as others than were typed.
    pub guessed: &'q [usize],
    /// How many passages there are.
    pub passages: u64,
    /// The time that it speaks of.
    pub when: Option<&'q TimeExpression>,
    /// The moment of asking.
    pub now: Timestamp,
}

/// A note that may answer.
#[derive(Clone, PartialEq, Debug)]
pub struct RankCandidate<Id> {
    /// The note.
    pub note: Id,
    /// In which round it was found. Earlier ones come first, and the first sets the measure, so
    /// that places and scores stay when further rounds are looked at for a later page.
    pub round: usize,
    /// Where the note lies; the last tie-breaker.
    pub path: Arc<str>,
    /// Its title and tags.
    pub name: Arc<str>,
    /// How well its name matches.
    pub title_match: TitleMatch,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
    /// How much its weightiest fact matters, 0 to 1, if someone said.
    pub importance: Option<f64>,
    /// Its passages, in order. A gap in their numbers means that some were left out.
    pub passages: Vec<CandidatePassage>,
}

/// A passage of such a note.
#[derive(Clone, PartialEq, Debug)]
pub struct CandidatePassage {
    /// Its number.
    pub id: u64,
    /// Its words, and those of the headings, as they are compared.
    pub cut: PassageTokens,
    /// Its headings and text, if the query holds beginnings of words: stems do not tell them.
    pub said: Option<Box<PassageSource>>,
    /// How alike it and the question are in meaning, 1 for the same; 0 if that does not count.
    pub similarity: f32,
    /// How it begins: a phrase can stand where a paragraph was cut.
    pub begins: PassageStart,
}

/// What a passage says.
#[derive(Clone, PartialEq, Debug)]
pub struct PassageSource {
    /// The headings above it.
    pub heading: String,
    /// Its text.
    pub text: String,
}

impl CandidatePassage {
    /// A passage that stands in no file.
    pub fn new(heading: &str, text: &str) -> Self {
        let cut = PassageTokens::new(heading, text);
        let said = PassageSource { heading: heading.to_owned(), text: text.to_owned() };
        let said = Some(said.into());
        Self { id: 0, cut, said, similarity: 0.0, begins: PassageStart::NewBlock }
    }
}

/// A note in its place, with the passages that put it there.
#[derive(Clone, PartialEq, Debug)]
pub struct RankedNote<Id> {
    /// The note.
    pub note: Id,
    /// The round in which it was found.
    pub round: usize,
    /// The sum of its signals.
    pub score: f64,
    /// How sure it is that the note has to do with the question, 0 to 1.
    pub relevance: f64,
    /// How alike its most similar passage and the question are in meaning, 0 to 1.
    pub similarity: f64,
    /// Its passages, best first.
    pub passages: Vec<RankedPassage>,
    /// What the score is made of; amounts add up to it.
    pub why: Vec<RankSignal>,
}

/// A passage in its place among those of its note.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankedPassage {
    /// Its number.
    pub id: u64,
    /// The sum of its own signals.
    pub score: f64,
    /// How sure it is that it has to do with the question, 0 to 1.
    pub relevance: f64,
    /// How alike it and the question are in meaning, 0 to 1.
    pub similarity: f64,
    words: f64,
    context: f64,
    meaning: f64,
    speaker: f64,
    kind: f64,
}

impl RankedPassage {
    fn why(&self) -> [RankSignal; 5] {
        [
            RankSignal::Words(self.words),
            RankSignal::Context(self.context),
            RankSignal::Meaning(self.meaning),
            RankSignal::Speaker(self.speaker),
            RankSignal::Kind(self.kind),
        ]
    }
}

/// One reason for a note's place, with what it added.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RankSignal {
    /// Its title or permalink is the query: first whatever else.
    ExactTitle(f64),
    /// Its title holds all the words.
    TitleWords(f64),
    /// Its best passage holds the words.
    Words(f64),
    /// The neighbourhood of that passage and the note as a whole hold them.
    Context(f64),
    /// The passage means something similar.
    Meaning(f64),
    /// It is told by whom the question is about.
    Speaker(f64),
    /// It holds the kind of thing that is asked for, a number or a time.
    Kind(f64),
    /// It is of the time that the question names.
    Time(f64),
    /// Someone said that it matters.
    Importance(f64),
    /// It changed lately.
    Recency(f64),
}

impl RankSignal {
    /// Whether it is of the note, and so of each of its passages.
    fn is_of_note(self) -> bool {
        use RankSignal::{ExactTitle, Importance, Recency, Time, TitleWords};
        matches!(self, ExactTitle(_) | TitleWords(_) | Time(_) | Importance(_) | Recency(_))
    }

    /// What the signal added to the score.
    pub fn amount(self) -> f64 {
        match self {
            Self::ExactTitle(amount)
            | Self::TitleWords(amount)
            | Self::Words(amount)
            | Self::Context(amount)
            | Self::Meaning(amount)
            | Self::Speaker(amount)
            | Self::Kind(amount)
            | Self::Time(amount)
            | Self::Importance(amount)
            | Self::Recency(amount) => amount,
        }
    }

    /// The signal's name, as programs read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExactTitle(_) => "exact_title",
            Self::TitleWords(_) => "title_words",
            Self::Words(_) => "words",
            Self::Context(_) => "context",
            Self::Meaning(_) => "meaning",
            Self::Speaker(_) => "speaker",
            Self::Kind(_) => "kind",
            Self::Time(_) => "time",
            Self::Importance(_) => "importance",
            Self::Recency(_) => "recency",
        }
    }
}

/// Puts notes in order, best first: by round, score, the later change, then the path.
pub fn rank_notes<'r, Id: Copy + Eq + Hash + 'r>(
    candidates: impl IntoIterator<Item = &'r RankCandidate<Id>>,
    asked: &'r RankQuery<'r>,
    options: &'r RankOptions,
) -> Vec<RankedNote<Id>> {
    let sought = QueryTerms::new(asked.query);
    let ranking = RankingContext::new(candidates, asked, &sought, options);
    let mut notes: Vec<_> = ranking.notes.iter().filter_map(|note| ranking.note(note)).collect();
    notes.sort_by(|a, b| {
        let by_round = a.ranked.round.cmp(&b.ranked.round);
        let by_score = by_round.then(b.ranked.score.total_cmp(&a.ranked.score));
        by_score.then(b.updated.cmp(&a.updated)).then_with(|| a.path.cmp(b.path))
    });
    let mut ranked: Vec<_> = notes.into_iter().map(|note| note.ranked).collect();
    trust_the_order(&mut ranked);
    ranked
}

/// The passages of notes that were ranked, each for itself and best first. What lifts a note lifts
/// each of its passages.
pub fn rank_passages<Id: Copy>(notes: &[RankedNote<Id>]) -> Vec<RankedNote<Id>> {
    let of_note = |note: &RankedNote<Id>, passage: &RankedPassage| {
        let (mut why, behind): (Vec<RankSignal>, Vec<RankSignal>) =
            note.why.iter().filter(|signal| signal.is_of_note()).partition(|signal| {
                matches!(signal, RankSignal::ExactTitle(_) | RankSignal::TitleWords(_))
            });
        why.extend(passage.why().into_iter().filter(|signal| signal.amount() != 0.0));
        why.extend(behind);
        RankedNote {
            note: note.note,
            round: note.round,
            score: why.iter().map(|signal| signal.amount()).sum(),
            relevance: passage.relevance,
            similarity: passage.similarity,
            passages: vec![*passage],
            why,
        }
    };
    let all = notes.iter().flat_map(|note| note.passages.iter().map(move |p| of_note(note, p)));
    let mut passages: Vec<_> = all.collect();
    passages.sort_by(|a, b| a.round.cmp(&b.round).then(b.score.total_cmp(&a.score)));
    trust_the_order(&mut passages);
    passages
}

/// The order knows more than the relevance, which looks at one passage alone: whatever comes before
/// the most relevant one is at least as relevant. Else the best answer could be cut off above worse
/// ones. Later rounds change nothing in the first.
fn trust_the_order<Id>(ranked: &mut [RankedNote<Id>]) {
    let first = ranked.iter().take_while(|ranked| ranked.round == 0);
    let most = first.map(|ranked| ranked.relevance).fold(0.0, f64::max);
    for before in ranked.iter_mut().take_while(|ranked| ranked.relevance < most) {
        before.relevance = most;
    }
}

/// All that is compared, counted.
struct RankingContext<'r, Id> {
    asked: &'r RankQuery<'r>,
    options: &'r RankOptions,
    needs: Vec<TermRequirement>,
    /// What each term is worth; together 1.
    worth: Vec<f32>,
    /// How sure it is that each term was meant.
    sure: Vec<f32>,
    notes: Vec<NoteTermCounts<'r, Id>>,
    /// The mean numbers of words of a passage, a neighbourhood and a note.
    means: [f32; 3],
    /// What the meaning is worth, after what words can tell.
    meaning: f64,
    /// What the time is worth, after how much of the question it is.
    time: f64,
}

/// A note, counted.
struct NoteTermCounts<'r, Id> {
    candidate: &'r RankCandidate<Id>,
    whole: TermFreqs,
    passages: Vec<PassageTermCounts>,
    /// How well the words of the whole match.
    matched: f64,
}

/// A passage, counted.
struct PassageTermCounts {
    own: TermFreqs,
    /// With those beside it.
    around: TermFreqs,
    /// How well the words of it and of its neighbourhood match.
    matched: [f64; 2],
}

/// A note in the making.
struct ScoredNote<'r, Id> {
    ranked: RankedNote<Id>,
    updated: Timestamp,
    path: &'r str,
}

impl RankQuery<'_> {
    /// Whether a note is of the time that is named. Not one from before that changed behind it: a
    /// note that is kept up for years is of no time in particular.
    fn is_then<Id>(&self, note: &RankCandidate<Id>) -> bool {
        let holds = |named: &TimeExpression| {
            named.when.holds(note.created) || named.when.holds(note.updated)
        };
        self.when.is_some_and(holds)
    }

    /// The numbers of the terms that any note answers to.
    fn any_note(&self) -> impl Iterator<Item = usize> {
        const ANY: [&str; 6] = ["entries", "entry", "happen", "happened", "note", "notes"];
        let is_any = |word: &String| ANY.iter().any(|any| any.eq_ignore_ascii_case(word));
        let terms = self.query.terms.iter().enumerate();
        terms.filter(move |(_, term)| term.words.iter().all(is_any)).map(|(at, _)| at)
    }

    /// The numbers of the terms that name the time.
    fn timely(&self) -> Vec<usize> {
        let Some(named) = self.when else { return Vec::new() };
        let terms = self.query.terms.iter().enumerate();
        let timely = terms.filter(|(_, term)| named.is_said_by(term));
        timely.map(|(at, _)| at).collect()
    }
}

impl<'r, Id: Copy> RankingContext<'r, Id> {
    fn new(
        candidates: impl IntoIterator<Item = &'r RankCandidate<Id>>,
        asked: &'r RankQuery<'r>,
        sought: &QueryTerms,
        options: &'r RankOptions,
    ) -> Self {
        let needs: Vec<_> = sought.needs().collect();
        let mut worth: Vec<f32> = needs
            .iter()
            .zip(sought.weights())
            .enumerate()
            .map(|(i, (need, weight))| match need {
                TermRequirement::Excluded => 0.0,
                TermRequirement::Required | TermRequirement::Optional => {
                    let holders = asked.holders.get(i).copied().unwrap_or(0);
                    rarity(holders, asked.passages) * weight.powf(options.word_weight as f32)
                }
            })
            .collect();
        let sum: f32 = worth.iter().sum();
        worth.iter_mut().for_each(|worth| *worth /= sum.max(f32::MIN_POSITIVE));
        let mut timely = if options.time > 0.0 { asked.timely() } else { Vec::new() };
        let any: f32 = asked.any_note().filter_map(|term| worth.get(term)).sum();
        let said: f32 = timely.iter().filter_map(|&term| worth.get(term)).sum();
        let said = said / (1.0 - any).max(f32::MIN_POSITIVE);
        let mut time = options.time;
        if said < MOSTLY_TIME {
            timely.clear();
        } else {
            time += options.time_alone * f64::from(said).powi(2);
        }
        let count = |candidate: &'r RankCandidate<Id>| {
            let is_then = !timely.is_empty() && asked.is_then(candidate);
            NoteTermCounts::new(candidate, sought, if is_then { &timely } else { &[] })
        };
        let mut notes: Vec<_> = candidates.into_iter().map(count).collect();
        let mean = |words: &mut dyn Iterator<Item = f32>| {
            let (sum, count) = words.fold((0.0, 0.0), |(sum, count), w| (sum + w, count + 1.0));
            f32::max(sum / f32::max(count, 1.0), 1.0)
        };
        let first = || notes.iter().filter(|note| note.candidate.round == 0);
        let all = || first().flat_map(|note| &note.passages);
        let means = [
            mean(&mut all().map(|passage| passage.own.words)),
            mean(&mut all().map(|passage| passage.around.words)),
            mean(&mut first().map(|note| note.whole.words)),
        ];
        let is_guess = |term| asked.guessed.contains(&term);
        let sure = (0..needs.len()).map(|term| if is_guess(term) { GUESS } else { 1.0 }).collect();
        let mut ranking = Self {
            asked,
            options,
            needs,
            worth,
            sure,
            notes: Vec::new(),
            means,
            meaning: 0.0,
            time,
        };
        for note in &mut notes {
            note.matched = ranking.matched(&note.whole, 2);
            for passage in &mut note.passages {
                passage.matched =
                    [ranking.matched(&passage.own, 0), ranking.matched(&passage.around, 1)];
            }
        }
        ranking.notes = notes;
        let left = (1.0 - ranking.best_by_words()).max(0.0);
        ranking.meaning = options.meaning * left.powf(options.word_match_decay);
        ranking
    }

    /// How well words match at best, as a share of what any text could reach.
    fn best_by_words(&self) -> f64 {
        let options = self.options;
        let of_note = |note: &NoteTermCounts<'r, Id>| {
            let whole = options.note * note.matched;
            let of_passages = note.passages.iter().map(|PassageTermCounts { matched, .. }| {
                options.passage * matched[0] + options.neighbours * matched[1] + whole
            });
            of_passages.fold(0.0, f64::max)
        };
        let most = options.passage + options.neighbours + options.note;
        let first = self.notes.iter().filter(|note| note.candidate.round == 0);
        first.map(of_note).fold(0.0, f64::max) / most.max(f64::MIN_POSITIVE)
    }

    fn note(&self, note: &NoteTermCounts<'r, Id>) -> Option<ScoredNote<'r, Id>> {
        if !self.is_allowed(&note.whole) {
            return None;
        }
        let all = note.candidate.passages.iter().zip(&note.passages);
        let all = all.map(|(passage, counted)| self.passage(passage, counted, note.matched));
        let mut passages: Vec<_> = all.collect();
        passages.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        let best = *passages.first()?;
        let (candidate, options) = (note.candidate, self.options);
        let mut why = Vec::with_capacity(9);
        match candidate.title_match {
            TitleMatch::Exact => why.push(RankSignal::ExactTitle(options.most_without_name())),
            TitleMatch::AllWords => why.push(RankSignal::TitleWords(options.title)),
            TitleMatch::None => {}
        }
        why.extend(best.why());
        if self.asked.is_then(candidate) {
            why.push(RankSignal::Time(self.time));
        }
        let importance = candidate.importance.filter(|i| i.is_finite()).unwrap_or(0.0);
        why.push(RankSignal::Importance(importance.clamp(0.0, 1.0) * options.importance));
        why.push(RankSignal::Recency(recency(candidate.updated, self.asked.now, options)));
        why.retain(|signal| signal.amount() != 0.0);
        // A name that was asked for, or a tag alone, is an answer whatever the text says.
        let is_sure = candidate.title_match == TitleMatch::Exact || self.asked.query.is_empty();
        let relevance = if is_sure { 1.0 } else { best.relevance };
        if is_sure {
            passages.iter_mut().for_each(|passage| passage.relevance = 1.0);
        }
        let ranked = RankedNote {
            note: candidate.note,
            round: candidate.round,
            score: why.iter().map(|signal| signal.amount()).sum(),
            relevance,
            similarity: passages.iter().map(|passage| passage.similarity).fold(0.0, f64::max),
            passages,
            why,
        };
        Some(ScoredNote { ranked, updated: candidate.updated, path: &candidate.path })
    }

    fn passage(
        &self,
        passage: &CandidatePassage,
        PassageTermCounts { own, matched, .. }: &PassageTermCounts,
        whole: f64,
    ) -> RankedPassage {
        let options = self.options;
        let words = options.passage * matched[0];
        let context = options.neighbours * matched[1] + options.note * whole;
        let similarity = f64::from(passage.similarity);
        let length = f64::from(own.words);
        let trust = length / (length + options.short_passage_half);
        // What means something else is no worse than what means nothing.
        let meaning = self.meaning * similarity.max(0.0) * trust * options.trust_scale();
        let worth = self.worth.iter().zip(&self.sure).map(|(worth, sure)| worth * sure);
        // Whoever names alternatives is answered by one of them.
        let groups = self.groups_of(own);
        let terms = own.terms.iter().zip(&self.asked.query.terms).zip(worth);
        let held = terms.filter(|((count, term), _)| **count > 0.0 || term.groups & groups != 0);
        let covered: f32 = held.map(|(_, worth)| worth).sum();
        let counted = |is_so: bool, amount: f64| if is_so { amount } else { 0.0 };
        let speaker = counted(own.fit.is_told_by_whom_is_meant(), options.speaker);
        let kind = counted(own.fit.has_number, options.number)
            + counted(own.fit.has_time, options.has_time);
        RankedPassage {
            id: passage.id,
            score: words + context + meaning + speaker + kind,
            relevance: weights::relevance(f64::from(covered), similarity),
            similarity,
            words,
            context,
            meaning,
            speaker,
            kind,
        }
    }

    /// How well words match: BM25, as a share of the most that any text could reach.
    fn matched(&self, counts: &TermFreqs, level: usize) -> f64 {
        let mean = self.means.get(level).copied().unwrap_or(1.0);
        let (k1, b) = (self.options.bm25_k1 as f32, self.options.bm25_b as f32);
        let damping = k1 * (1.0 - b + b * counts.words / mean);
        let terms = counts.terms.iter().zip(&self.worth);
        let sum: f32 = terms.map(|(&tf, worth)| worth * tf / (tf + damping)).sum();
        f64::from(sum)
    }

    /// The groups of alternatives of which a text holds one.
    fn groups_of(&self, counts: &TermFreqs) -> u32 {
        let terms = self.asked.query.terms.iter().zip(&counts.terms);
        terms.filter(|(_, count)| **count > 0.0).fold(0, |all, (term, _)| all | term.groups)
    }

    /// Whether a note holds what is demanded, and nothing that is forbidden.
    fn is_allowed(&self, counts: &TermFreqs) -> bool {
        let fits = self.needs.iter().zip(&counts.terms).all(|(need, &count)| match need {
            TermRequirement::Required => count > 0.0,
            TermRequirement::Excluded => count == 0.0,
            TermRequirement::Optional => true,
        });
        let groups = self.asked.query.terms.iter().fold(0, |all, term| all | term.groups);
        fits && self.groups_of(counts) == groups
    }
}

impl<'r, Id> NoteTermCounts<'r, Id> {
    /// Counts what is sought in a note. What names a time is said by all of a note of that time.
    fn new(candidate: &'r RankCandidate<Id>, sought: &QueryTerms, timely: &[usize]) -> Self {
        let name = sought.count(&candidate.name);
        let mut whole = TermFreqs::default();
        let own: Vec<_> = candidate
            .passages
            .iter()
            .enumerate()
            .map(|(i, passage)| {
                let mut counts = sought.count_passage(passage);
                if i == 0 {
                    counts.add(&name);
                }
                let next = candidate.passages.get(i + 1).filter(|next| {
                    next.begins == PassageStart::ContinuesBlock && next.id.abs_diff(passage.id) == 1
                });
                if let Some(next) = next {
                    sought.count_across(&passage.cut, &next.cut, &mut counts);
                }
                for &term in timely {
                    if let Some(count) = counts.terms.get_mut(term) {
                        *count = count.max(OF_THE_TIME);
                    }
                }
                whole.add(&counts);
                counts
            })
            .collect();
        let is_beside = |a: usize, b: usize| {
            let id = |at: usize| candidate.passages.get(at).map(|passage| passage.id);
            matches!((id(a), id(b)), (Some(a), Some(b)) if a.abs_diff(b) == 1)
        };
        let around = own.iter().enumerate().map(|(i, counts)| {
            let mut around = counts.clone();
            let sides = [i.checked_sub(1), Some(i + 1)];
            for side in sides.into_iter().flatten().filter(|&side| is_beside(i, side)) {
                if let Some(neighbour) = own.get(side) {
                    around.add(neighbour);
                }
            }
            around
        });
        let around: Vec<_> = around.collect();
        let passages = own.into_iter().zip(around);
        let passages =
            passages.map(|(own, around)| PassageTermCounts { own, around, matched: [0.0; 2] });
        Self { candidate, whole, passages: passages.collect(), matched: 0.0 }
    }
}

/// How much a term says that so many of all passages hold.
fn rarity(holders: u64, passages: u64) -> f32 {
    let (holders, passages) = (holders.min(passages) as f32, passages as f32);
    (1.0 + (passages - holders + 0.5) / (holders + 0.5)).ln()
}

fn recency(updated: Timestamp, now: Timestamp, options: &RankOptions) -> f64 {
    let seconds = now.as_second().saturating_sub(updated.as_second()).max(0);
    let half_lives = seconds as f64 / 86_400.0 / options.recency_half_life_days.max(0.001);
    options.recency * 0.5f64.powf(half_lives)
}

#[cfg(test)]
mod tests;
