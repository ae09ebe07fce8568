//! Guessing the kind of a statement.

use super::StatementKind;
use super::kind_cues::{
    BEFORE_PARTICIPLES, BIOGRAPHY, CHOICE_OPENINGS, CHOICES, HABITUAL_CHOICES, JUDGEMENTS,
    LIKING_OPENINGS, LIKING_VERBS, LIKINGS, MOMENTS, PAST_VERBS, PLANS, SKILL_OPENINGS, STATES,
    TASK_OPENINGS, TROUBLES, UNSPACED_LIKINGS,
};
use super::order_cues::{
    DUTIES, ERRANDS, ERRANDS_WITH_PEOPLE, NO_ORDERS, NOUNS_TOO, OBLIGATIONS, ORDER_OPENINGS, ORDERS,
};
use super::words::StatementWords;

/// Maximum number of words of an introduction such as "in this repo," before an order.
const MAX_INTRODUCTION_WORDS: usize = 7;

/// Maximum number of words up to the verb of a statement about a state.
const MAX_SUBJECT_WORDS: usize = 3;

/// Guesses the kind; `None` without a cue. The form of the sentence decides before single words do.
pub(super) fn guess_kind(text: &str, words: &StatementWords) -> Option<StatementKind> {
    if words.begins(TASK_OPENINGS) || text.trim_end().ends_with('?') {
        return Some(StatementKind::Note);
    }
    if is_skill(text, words) {
        return Some(StatementKind::Skill);
    }
    if words.has(HABITUAL_CHOICES) || is_comparison(words) {
        return Some(StatementKind::Preference);
    }
    let order = order_position(words);
    let is_strict_order = order.is_some_and(|at| begins_strictly(words, at));
    if is_strict_order && !is_own_habit(words) {
        return Some(StatementKind::Rule);
    }
    if is_choice(words) {
        return Some(StatementKind::Decision);
    }
    if order.is_none() && words.has(&["instead of", "rather than"]) && !words.has(LIKINGS) {
        return Some(StatementKind::Decision);
    }
    let is_order_to_prefer = order.is_some_and(|at| words.at(at) == "prefer");
    if !is_order_to_prefer && (is_liking(words) || contains_any(text, UNSPACED_LIKINGS)) {
        return Some(StatementKind::Preference);
    }
    if words.has(PLANS) {
        return Some(StatementKind::Note);
    }
    if order.is_some() && !is_errand(words) {
        return Some(StatementKind::Rule);
    }
    if is_obligation(words) {
        return Some(StatementKind::Rule);
    }
    if is_own_habit(words) {
        return Some(StatementKind::Fact);
    }
    if is_errand(words) || is_event(words) || is_under_way(words) || words.has(MOMENTS) {
        return Some(StatementKind::Note);
    }
    // A verb of a state near the beginning makes a fact: "this repo uses pnpm".
    let mut first = words.all().iter().take(MAX_SUBJECT_WORDS).enumerate();
    first.any(|(at, word)| is_stative(at, word)).then_some(StatementKind::Fact)
}

/// Returns the position of the verb or word with which an order begins: at the start, or behind an
/// introduction such as "in this repo," or "when I ask for code,".
fn order_position(words: &StatementWords) -> Option<usize> {
    let is_order = |at: usize| {
        let mut cues = ORDERS.iter().chain(ORDER_OPENINGS);
        let is_denial = words.at(at) == "no" && NO_ORDERS.contains(&words.at(at + 1));
        !is_denial && cues.any(|cue| words.matches_at(at, cue))
    };
    if is_order(0) {
        return (!is_noun_phrase(words) && !is_restricted_state(words)).then_some(0);
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

/// Returns true for "only the workers have access": a state, not an order.
fn is_restricted_state(words: &StatementWords) -> bool {
    let mut next = words.all().iter().skip(2).take(5);
    words.begins(&["only the", "only our", "only these", "only this"])
        && next.any(|word| STATES.contains(&word.as_str()) || word == "have")
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

/// Returns true if a choice that was made is stated.
fn is_choice(words: &StatementWords) -> bool {
    // "Went for a run" does not state a choice.
    let is_walk = words.has(&["went for a", "go for a", "went for an"]);
    let is_verdict =
        words.has(&["it is ,", "it is ."]) || words.has(&["stays"]) && words.has(&["goes"]);
    let is_pick = (1..=2).any(|at| words.at(at) == "over")
        && words.originals().first().is_some_and(|word| word.starts_with(char::is_uppercase))
        && !words.at(0).ends_with("ed")
        && !PAST_VERBS.contains(&words.at(0))
        && !ORDERS.contains(&words.at(0));
    // "Patches without tests are rejected" is a rule.
    let is_custom = words.has(&["are rejected", "is rejected", "get rejected", "gets rejected"]);
    words.has(CHOICES) && !is_walk && !is_custom
        || words.begins(CHOICE_OPENINGS)
        || is_verdict
        || is_pick
}

/// Returns true for "oat milk over cow milk for me": a comparison that ends with the writer.
fn is_comparison(words: &StatementWords) -> bool {
    let compared = ["over", "than", "before"].iter().any(|cue| words.position(cue).is_some());
    let mut all = words.all().iter().rev().filter(|word| word.as_str() != ".");
    let end = [all.next(), all.next()].map(|word| word.map_or("", String::as_str));
    compared && matches!(end, ["me", "for"] | ["day" | "time", "any"])
}

/// Returns true for "finds long lists tiring" and "I find mornings best".
fn is_judgement(words: &StatementWords) -> bool {
    let found =
        ["find", "finds", "consider", "considers"].iter().find_map(|cue| words.position(cue));
    found.is_some_and(|at| {
        let mut rest = words.all().iter().skip(at + 1);
        at > 0 && at <= 3 && rest.any(|word| JUDGEMENTS.contains(&word.as_str()))
    })
}

fn is_liking(words: &StatementWords) -> bool {
    if words.begins(LIKING_OPENINGS) || is_judgement(words) {
        return true;
    }
    let wish = ["i'd like", "i would like"].iter().find_map(|cue| words.position(cue));
    let is_wish = wish.is_some_and(|at| {
        let next = if words.at(at) == "i'd" { at + 2 } else { at + 3 };
        words.at(next) != "to"
    });
    let is_want = words
        .position("i want")
        .is_some_and(|at| !["to", "you", "every", "all", "each"].contains(&words.at(at + 2)))
        && !words.has(&["you", "your"]);
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
    let is_wish = words.has(&["i want"]) && words.has(&["you", "your"]);
    if is_own_habit(words) {
        return is_wish;
    }
    is_wish || words.has(OBLIGATIONS) || needs_something(words) || is_duty_of_all(words)
}

/// Returns true for "each role gets a scenario" and "nobody touches the stacks".
fn is_duty_of_all(words: &StatementWords) -> bool {
    let is_stated = |at: usize| {
        ["is", "was", "has", "had", "knows", "knew", "can", "could", "seems"]
            .contains(&words.at(at))
    };
    let has_duty =
        || words.all().iter().skip(1).take(5).any(|word| DUTIES.contains(&word.as_str()));
    words.at(0) == "nobody" && !is_stated(1) && !["in", "of", "else"].contains(&words.at(1))
        || words.begins(&["no one"]) && !is_stated(2)
        || ["each", "every"].contains(&words.at(0)) && has_duty()
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
    if words.begins(SKILL_OPENINGS) {
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
    // "When I paste an error, explain it" is an order to an agent.
    let is_remedy = ["if", "when", "whenever"].contains(&words.at(0))
        && words.at(1) != "i"
        && words.has(TROUBLES);
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
    let names_somebody = words.originals().get(1).is_some_and(|word| {
        let mut chars = word.chars();
        chars.next().is_some_and(char::is_uppercase) && chars.all(char::is_lowercase)
    });
    if words.begins(ERRANDS_WITH_PEOPLE) && names_somebody {
        return true;
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
    if words.has(BIOGRAPHY) {
        return false;
    }
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
        let is_participle = at > 0 && BEFORE_PARTICIPLES.contains(&words.at(at - 1));
        if is_past && !is_participle {
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
