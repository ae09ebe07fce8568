use proptest::prelude::*;

use super::*;
use crate::embed::StaticEmbeddingModel;

const DAY: i64 = 86_400;
const NOW: i64 = 1_790_000_000;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn note(number: u64, texts: &[&str]) -> RankCandidate<u64> {
    let passages = texts
        .iter()
        .zip(number * 100..)
        .map(|(text, id)| CandidatePassage { id, ..CandidatePassage::new("", text) });
    RankCandidate {
        note: number,
        batch: 0,
        path: format!("n{number}.md").into(),
        name: "".into(),
        title_match: TitleMatch::None,
        created: at(NOW - 100 * DAY),
        updated: at(NOW - 100 * DAY),
        importance: None,
        corpus_passages: None,
        passages: passages.collect(),
    }
}

fn ranked(asked: &str, candidates: &[RankCandidate<u64>]) -> Vec<RankedNote<u64>> {
    ranked_with(asked, &[], candidates)
}

fn ranked_with(
    asked: &str,
    guessed: &[usize],
    candidates: &[RankCandidate<u64>],
) -> Vec<RankedNote<u64>> {
    let query = Query::parse(asked);
    let embed = |text: &str| StaticEmbeddingModel::bundled().embed(text);
    let mut candidates = candidates.to_vec();
    for passage in candidates.iter_mut().flat_map(|note| &mut note.passages) {
        let said = passage.source.as_ref().map(|said| embed(&said.text));
        passage.similarity = said.map_or(0.0, |said| embed(&query.free_text).similarity(&said));
    }
    ranked_as_given(asked, guessed, &candidates)
}

/// Ranks candidates with the similarities that they have.
fn ranked_as_given(
    asked: &str,
    guessed: &[usize],
    candidates: &[RankCandidate<u64>],
) -> Vec<RankedNote<u64>> {
    let query = Query::parse(asked);
    let named = TimeExpression::find(asked, &at(NOW).to_zoned(jiff::tz::TimeZone::UTC));
    let asked = RankQuery {
        query: &query,
        doc_freqs: &vec![3; query.terms.len()],
        corrected_terms: guessed,
        passage_count: 1000,
        time: named.as_ref(),
        now: at(NOW),
    };
    rank_notes(candidates, &asked, &RankOptions::STANDARD)
}

fn check(asked: &str, candidates: &[RankCandidate<u64>], expected: &[u64]) {
    let ranked = ranked(asked, candidates);
    let notes: Vec<_> = ranked.iter().map(|ranked| ranked.note).collect();
    assert_eq!(notes, expected, "{asked:?} {ranked:?}");
}

#[test]
fn notes_rank_by_their_signals() {
    let long = "the rain fell on the roof of the old barn all night and the dog slept by the fire";
    check("x", &[], &[]);
    // Words.
    check("blue paint", &[note(1, &["a red door"]), note(2, &["the blue paint"])], &[2, 1]);
    // Meaning, without a common word.
    check(
        "what pets do we have",
        &[note(1, &["the invoice is due in March"]), note(2, &["our cat sleeps beside the dog"])],
        &[2, 1],
    );
    // Words of the neighbouring passages count too.
    check("barn swallows", &[note(1, &[long, "x"]), note(2, &[long, "swallows nest"])], &[2, 1]);
    // Exact titles rank first; time and importance break ties.
    let title = |note: RankCandidate<u64>, title_match| RankCandidate { title_match, ..note };
    let exact = title(note(2, &["unlike"]), TitleMatch::Exact);
    check("blue paint", &[note(1, &["blue paint"]), exact], &[2, 1]);
    let recent = RankCandidate { updated: at(NOW), ..note(2, &[long]) };
    check("rain", &[note(1, &[long]), recent.clone()], &[2, 1]);
    let weighty = RankCandidate { importance: Some(1.0), ..note(2, &[long]) };
    check("rain", &[note(1, &[long]), weighty], &[2, 1]);
    let last_week = RankCandidate { created: at(NOW - 9 * DAY), ..recent };
    let today = RankCandidate { created: at(NOW), updated: at(NOW), ..note(1, &[long]) };
    check("the rain of ten days ago", &[today, last_week], &[2, 1]);
    check("rain", &[note(2, &[long]), note(1, &[long])], &[1, 2]);
    // Later batches rank later.
    let later = RankCandidate { batch: 1, ..note(1, &["rain"]) };
    check("rain", &[later, note(2, &[long])], &[2, 1]);
    // A first-person question prefers first-person passages.
    let said =
        [note(1, &["you went to the sea by train"]), note(2, &["I went to the sea by train"])];
    check("when did I go to the sea", &said, &[2, 1]);
    // A named person matches passages that this person said, not passages addressed to them.
    let said = [
        note(1, &["Bob: Ann, the sea was rough and the train was late"]),
        note(2, &["Ann: Bob, the sea was rough and the train was late"]),
    ];
    check("how was the sea for Ann", &said, &[2, 1]);
    check("how was the sea for Bob", &said, &[1, 2]);
    // The kind of answer breaks ties.
    let bought = [
        note(1, &["we bought some eggs from the farm beside the old mill"]),
        note(2, &["we bought twelve eggs from the farm beside the old mill"]),
        note(3, &["we bought eggs yesterday from the farm beside the old mill"]),
    ];
    check("how many eggs were bought at the farm", &bought[..2], &[2, 1]);
    check("when were eggs bought at the farm", &[bought[0].clone(), bought[2].clone()], &[3, 1]);
}

#[test]
fn questions_about_a_time_prefer_notes_of_that_time() {
    let of = |note, ago: i64| RankCandidate {
        created: at(NOW - ago * DAY),
        updated: at(NOW - ago * DAY),
        ..note
    };
    let notes = [
        of(note(1, &["What I did: the manual says what to do, and what yesterday means"]), 300),
        of(note(2, &["Cleaned the gutters", "Soup with leeks"]), 1),
        of(note(3, &["Soup with beans"]), 40),
    ];
    check("what did I do yesterday", &notes, &[2, 1, 3]);
    check("notes from yesterday", &notes, &[2, 1, 3]);
    check("soup 40 days ago", &notes, &[3, 2, 1]);
    let found = ranked("what did I do yesterday", &notes);
    assert!(found[0].relevance > 0.5, "{found:?}");
    assert!(found[2].relevance < 0.1, "{found:?}");
}

#[test]
fn required_terms_must_match() {
    let notes = [note(1, &["cats and dogs"]), note(2, &["cats", "dogs"]), note(3, &["dogs"])];
    // In any passage of a note.
    check("+cats +dogs", &notes, &[1, 2]);
    check("cats AND dogs", &notes, &[1, 2]);
    check("dogs -cats", &notes, &[3]);
    check("dogs NOT cats", &notes, &[3]);
}

#[test]
fn signals_explain_the_score() {
    let found = ranked("blue paint", &[note(1, &["the red door", "blue paint is in the shed"])]);
    assert_eq!(found[0].passages[0].id, 101);
    let names: Vec<_> = found[0].why.iter().map(|signal| signal.name()).collect();
    assert_eq!(names, ["words", "context", "meaning", "recency"]);
    let sum: f64 = found[0].why.iter().map(|signal| signal.amount()).sum();
    assert!((sum - found[0].score).abs() < 1e-9);
}

#[test]
fn each_passage_says_why_for_itself() {
    let texts = ["the red door", "blue paint is in the shed", "a bucket of grey paint", "goats"];
    let titled = RankCandidate { title_match: TitleMatch::AllWords, ..note(1, &texts) };
    let passages = rank_passages(&ranked("blue paint", &[titled]), &RankOptions::STANDARD);
    assert_eq!(passages.len(), 4);
    for passage in &passages {
        let sum: f64 = passage.why.iter().map(|signal| signal.amount()).sum();
        assert!((sum - passage.score).abs() < 1e-9);
        assert_eq!(passage.why[0].name(), "title_words");
    }
    assert!(passages.is_sorted_by(|a, b| a.score > b.score && a.relevance > b.relevance));
    assert_eq!(passages[0].passages[0].id, 101);
    assert!(passages[0].relevance > 0.8 && passages[3].relevance < 0.1);
}

#[test]
fn higher_ranks_are_at_least_as_relevant() {
    // The first has all words in three passages, the second one word and little else, the last none.
    let notes = [
        note(
            1,
            &[
                "The tooth of the old garden rake is bent and rusty since the winter",
                "My ache in the back is worse after the long drive to the coast",
                "I shall call the plumber about the kitchen sink again on Monday",
            ],
        ),
        note(2, &["ache"]),
        note(3, &["goats"]),
    ];
    let found = ranked("tooth ache whom to call", &notes);
    let order: Vec<_> = found.iter().map(|ranked| ranked.note).collect();
    assert_eq!(order, [1, 2, 3]);
    assert_eq!(found[0].relevance, found[1].relevance);
    assert!(found[0].passages[0].relevance < found[1].passages[0].relevance);
    assert!(found[2].relevance < found[1].relevance);
}

#[test]
fn a_fact_is_compared_with_the_facts_of_its_corpus() {
    let note = note(1, &["The cleaning lady comes every second Friday"]);
    let fact = RankCandidate { corpus_passages: Some(20), ..note.clone() };
    let best = |candidate: RankCandidate<u64>| {
        let found = ranked("when does the housekeeper visit", &[candidate]);
        (found[0].relevance, found[0].score)
    };
    let (of_note, of_fact) = (best(note), best(fact));
    assert!(of_note.0 < RELEVANCE_THRESHOLD && of_fact.0 >= RELEVANCE_THRESHOLD, "{of_fact:?}");
    assert!(of_fact.1 > of_note.1, "{of_fact:?} {of_note:?}");
}

#[test]
fn a_relevant_fact_ranks_before_notes_that_are_near_by_chance() {
    let mut notes: Vec<_> = (2..6)
        .map(|id| {
            let text = "The museum closes at six on Tuesday. The choir meets in the hall on Sunday \
                        and goes home when the last train leaves at night.";
            note(id, &[text])
        })
        .collect();
    let mut fact = note(1, &["The cleaning lady comes every second Friday"]);
    fact.corpus_passages = Some(20);
    fact.passages[0].similarity = 0.3;
    for other in &mut notes {
        other.passages[0].similarity = 0.42;
    }
    notes.push(fact);
    let found = ranked_as_given("when does the housekeeper visit", &[], &notes);
    assert_eq!(found[0].note, 1);
    assert!(found.is_sorted_by(|a, b| a.score >= b.score), "{found:?}");
    assert!(found[1].relevance < found[0].relevance);
    let sum: f64 = found[0].why.iter().map(|signal| signal.amount()).sum();
    assert!((sum - found[0].score).abs() < 1e-9, "{found:?}");
}

#[test]
fn corrected_terms_lower_the_relevance() {
    let notes = [note(
        1,
        &[
            "On Sunday we walked with the children to the old mill, had cake in the garden, crossed \
           the bridge and came home late because of the rain",
        ],
    )];
    let relevance = |guessed: &[usize]| ranked_with("bridge", guessed, &notes)[0].relevance;
    assert!(relevance(&[0]) + 0.2 < relevance(&[]));
    assert!(relevance(&[0]) > 0.1);
}

#[test]
fn relevance_separates_answers_from_noise() {
    let relevance = |asked: &str, text: &str| ranked(asked, &[note(1, &[text])])[0].relevance;
    let text =
        "The deployment of the billing service runs every Friday at noon from the main branch.";
    assert!(relevance("when is the billing service deployed", text) > 0.7);
    assert!(relevance("when do we release billing", text) > 0.3);
    assert!(relevance("how tall is a giraffe", text) < 0.12);
}

proptest! {
    #[test]
    fn ranking_does_not_depend_on_input_order(
        found in prop::collection::vec((0u64..6, "[a-c ]{0,20}|\\PC{0,20}"), 0..12),
        asked in "[a-c ]{0,8}|\\PC{0,8}",
    ) {
        let mut seen = std::collections::HashSet::new();
        let notes: Vec<_> = found
            .iter()
            .filter(|(number, _)| seen.insert(*number))
            .map(|(number, text)| note(*number, &[text.as_str(), "c a b"]))
            .collect();
        let forward = ranked(&asked, &notes);
        let reversed: Vec<_> = notes.iter().rev().cloned().collect();
        let backward = ranked(&asked, &reversed);
        prop_assert!(forward.iter().map(|r| r.note).eq(backward.iter().map(|r| r.note)));
        prop_assert!(forward.iter().all(|r| r.score.is_finite() && r.relevance.is_finite()));
        prop_assert!(forward.is_sorted_by(|a, b| a.score >= b.score));
    }
}

#[test]
fn later_batches_keep_earlier_ranks() {
    let first = [note(1, &["the rain on the roof", "a dog"]), note(2, &["rain"])];
    let later = note(3, &["rain, rain and nothing but rain fell for days and days on end", "mud"]);
    let both = [first.to_vec(), vec![RankCandidate { batch: 1, ..later }]].concat();
    let alone = ranked("rain on my roof", &first);
    assert_eq!(ranked("rain on my roof", &both)[..2], alone);
}
