//! Guessing the kind of a statement.

use super::StatementKind;
use super::kind_cues::{
    CHOICE_OPENINGS, CHOICES, ERRANDS, LIKING_VERBS, LIKINGS, MOMENTS, NOUNS_TOO, OBLIGATIONS,
    ORDER_OPENINGS, ORDERS, PAST_VERBS, PLANS, STATES, TASK_OPENINGS, TROUBLES, UNSPACED_LIKINGS,
};
use super::words::StatementWords;

/// Maximum number of words of an introduction such as "in this repo," before an order.
const MAX_INTRODUCTION_WORDS: usize = 7;

/// Guesses the kind. The form of the sentence decides before single words do.
pub(super) fn guess_kind(text: &str, words: &StatementWords) -> StatementKind {
    if words.begins(TASK_OPENINGS) || text.trim_end().ends_with('?') {
        return StatementKind::Note;
    }
    if is_skill(text, words) {
        return StatementKind::Skill;
    }
    let order = order_position(words);
    let is_strict_order = order.is_some_and(|at| begins_strictly(words, at));
    if is_strict_order && !is_own_habit(words) {
        return StatementKind::Rule;
    }
    if words.has(CHOICES) || words.begins(CHOICE_OPENINGS) {
        return StatementKind::Decision;
    }
    if order.is_none() && words.has(&["instead of", "rather than"]) && !words.has(LIKINGS) {
        return StatementKind::Decision;
    }
    let is_order_to_prefer = order.is_some_and(|at| words.at(at) == "prefer");
    if !is_order_to_prefer && (is_liking(words) || contains_any(text, UNSPACED_LIKINGS)) {
        return StatementKind::Preference;
    }
    if words.has(PLANS) {
        return StatementKind::Note;
    }
    if order.is_some() && !is_errand(words) {
        return StatementKind::Rule;
    }
    if is_obligation(words) {
        return StatementKind::Rule;
    }
    if is_errand(words) || is_event(words) || is_under_way(words) || words.has(MOMENTS) {
        return StatementKind::Note;
    }
    StatementKind::Fact
}

/// Returns the position of the verb or word with which an order begins: at the start, or behind an
/// introduction such as "in this repo," or "when I ask for code,".
fn order_position(words: &StatementWords) -> Option<usize> {
    let is_order = |at: usize| {
        let mut cues = ORDERS.iter().chain(ORDER_OPENINGS);
        cues.any(|cue| words.matches_at(at, cue))
    };
    if is_order(0) {
        return (!is_noun_phrase(words)).then_some(0);
    }
    let first = words.at(0);
    let is_introduction = [
        "in",
        "for",
        "on",
        "within",
        "inside",
        "everywhere",
        "when",
        "whenever",
        "if",
        "before",
        "after",
        "globally",
        "this",
        "at",
    ];
    let punctuation =
        (1..=words.all().len()).find(|at| matches!(words.at(*at), "," | ":")).map(|at| at + 1);
    if let Some(at) = punctuation.filter(|at| is_order(*at)) {
        let is_label = words.at(at - 1) == ":" && at <= MAX_INTRODUCTION_WORDS;
        if is_label || is_introduction.contains(&first) || words.at(at - 1) == "," && at <= 3 {
            return Some(at);
        }
    }
    let is_place = ["in", "for", "on", "within", "inside"].contains(&first);
    (1..MAX_INTRODUCTION_WORDS)
        .take_while(|_| is_place)
        .find(|at| *at > 1 && is_order(*at) && !precedes_no_order(words.at(at - 1)))
}

/// Returns true if the statement begins with a noun that is also a verb: "test coverage is at 82 %".
fn is_noun_phrase(words: &StatementWords) -> bool {
    let states =
        ["is", "are", "was", "were", "has", "takes", "lives", "live", "will", "must", "should"];
    let bounds =
        [",", ":", "that", "which", "what", "who", "when", "where", "if", "the", "a", "an"];
    let next = words.all().iter().skip(1).take(4);
    NOUNS_TOO.contains(&words.at(0))
        && next
            .take_while(|word| !bounds.contains(&word.as_str()))
            .any(|word| states.contains(&word.as_str()))
}

fn precedes_no_order(word: &str) -> bool {
    const WORDS: [&str; 19] = [
        "the", "a", "an", "our", "my", "this", "of", "to", "each", "every", "all", "your", "i",
        "we", "they", "you", "who", "that", "and",
    ];
    WORDS.contains(&word)
}

/// Returns true if the order at a position leaves no doubt, as "always" and "never" do.
fn begins_strictly(words: &StatementWords, at: usize) -> bool {
    let cues = ["always", "never", "don't", "dont", "do not", "nie", "niemals", "jamais", "immer"];
    cues.iter().any(|cue| words.matches_at(at, cue))
}

fn is_liking(words: &StatementWords) -> bool {
    let wish = ["i'd like", "i would like"].iter().find_map(|cue| words.position(cue));
    let is_wish = wish.is_some_and(|at| {
        let next = if words.at(at) == "i'd" { at + 2 } else { at + 3 };
        words.at(next) != "to"
    });
    let is_want = words
        .position("i want")
        .is_some_and(|at| !["to", "you", "every", "all", "each"].contains(&words.at(at + 2)));
    let has_own_verb = (1..words.all().len()).any(|at| {
        LIKING_VERBS.contains(&words.at(at))
            && (1..=2).any(|back| at >= back && words.at(at - back) == "i")
    });
    is_wish || is_want || has_own_verb || words.has(LIKINGS)
}

/// Returns true if a text contains one of the cues of a language without spaces.
fn contains_any(text: &str, cues: &[&str]) -> bool {
    cues.iter().any(|cue| text.contains(cue))
}

/// Returns true if an obligation is stated that is not the writer's own habit or state.
fn is_obligation(words: &StatementWords) -> bool {
    if is_own_habit(words) {
        return false;
    }
    words.has(OBLIGATIONS) || needs_something(words)
}

/// Returns true if "always" or "never" belongs to the writer: "I have never been to Rome".
fn is_own_habit(words: &StatementWords) -> bool {
    let subjects = ["i", "i've", "i'm", "user", "she", "he", "ich", "je", "yo"];
    let at = ["always", "never", "immer", "nie", "toujours", "jamais", "siempre", "nunca"]
        .iter()
        .find_map(|cue| words.position(cue));
    at.is_some_and(|at| (1..=2).any(|back| at >= back && subjects.contains(&words.at(at - back))))
}

/// Returns true for "new endpoints need an entry": a need of all things of a sort.
fn needs_something(words: &StatementWords) -> bool {
    words.position("need").is_some_and(|at| {
        at > 0
            && words.at(at - 1).ends_with('s')
            && ["a", "an", "at", "tests", "one", "two", "docs", "approval"]
                .contains(&words.at(at + 1))
    })
}

fn is_skill(text: &str, words: &StatementWords) -> bool {
    if words.begins(&["how to", "how i", "how we", "steps to", "steps for", "howto", "you can"]) {
        return true;
    }
    if text.contains("1.") && text.contains("2.") || text.contains("1)") && text.contains("2)") {
        return true;
    }
    let has_colon = words.position(":").is_some();
    let is_purpose = words.at(0) == "to"
        && !["be", "me", "my", "the", "you"].contains(&words.at(1))
        || words.at(0) == "um" && words.has(&["zu"])
        || ["pour", "para"].contains(&words.at(0)) && has_colon;
    if is_purpose {
        return true;
    }
    if words.at(0) == "first" && words.has(&["then"]) {
        return true;
    }
    let is_remedy = ["if", "when", "whenever"].contains(&words.at(0)) && words.has(TROUBLES);
    if is_remedy {
        return true;
    }
    let colon = words.position(":");
    let steps = words.all().iter().filter(|word| *word == ",").count();
    let is_recipe = colon.is_some_and(|at| {
        let lead = words.at(0);
        let is_lead =
            lead.ends_with("ing") || lead == "for" || lead == "deploy" || lead == "release";
        is_lead && (steps >= 2 || words.has(&["then"])) && at <= MAX_INTRODUCTION_WORDS
    });
    let is_command_for = words.at(0) == "run" && words.position("to").is_some_and(|at| at >= 2);
    is_recipe || is_command_for
}

/// Returns true for an order that is done once: "call the dentist on Monday".
fn is_errand(words: &StatementWords) -> bool {
    // `GET /health` is a request of a protocol.
    if words.originals().first().is_some_and(|word| word.chars().all(char::is_uppercase)) {
        return false;
    }
    words.begins(ERRANDS)
        && !words.begins(&["call me", "ask me", "ask before"])
        && (!words.begins(ORDERS) || words.has(MOMENTS))
        || order_position(words) == Some(0)
            && words.has(MOMENTS)
            && !words.has(&["always", "never"])
}

/// Returns true for something that happened: a verb in the past before any verb of a state.
fn is_event(words: &StatementWords) -> bool {
    for (at, word) in words.all().iter().enumerate().take(8) {
        if is_stative(at, word) {
            return false;
        }
        let is_past = word.len() >= 4
            && word.ends_with("ed")
            && !["need", "speed", "feed", "seed", "indeed"].contains(&word.as_str());
        let is_irregular = at == 0 && PAST_VERBS.contains(&word.as_str());
        if is_irregular {
            return true;
        }
        if is_past {
            let has_state_later = at == 0
                && ["is", "are", "live", "lives", "go", "goes", "belong"]
                    .iter()
                    .any(|state| words.position(state).is_some_and(|later| later > 0 && later < 5));
            return !has_state_later;
        }
    }
    false
}

/// Returns true if a word makes the statement one about a state.
fn is_stative(at: usize, word: &str) -> bool {
    ["i'm", "we're", "im", "i've", "we've"].contains(&word)
        || at > 0 && (STATES.contains(&word) || ["have", "was", "were", "use"].contains(&word))
}

/// Returns true for work under way: "working on the import", "I'm reading a book".
fn is_under_way(words: &StatementWords) -> bool {
    let is_doing = |word: &str| {
        word.len() > 5
            && word.ends_with("ing")
            && ![
                "using",
                "during",
                "something",
                "anything",
                "everything",
                "nothing",
                "staging",
                "string",
                "according",
            ]
            .contains(&word)
    };
    let is_own = ["i'm", "we're", "im"].contains(&words.at(0)) && is_doing(words.at(1))
        || words.begins(&["i am", "we are"]) && is_doing(words.at(2));
    let has_done = ["i've", "we've", "ive"].contains(&words.at(0)) && words.at(1).ends_with("ed");
    let leads = is_doing(words.at(0))
        && !words.all().iter().take(4).any(|word| STATES.contains(&word.as_str()));
    is_own && !["using", "living"].contains(&words.at(1)) || has_done || leads
}
