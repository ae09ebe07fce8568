//! Comparing two statements: the same words, another value of the same subject, or near.

use super::kind_cues::OPENINGS;
use super::words::StatementWords;

/// The difference between two statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatementDifference {
    /// Equal words.
    Same,
    /// One subject with exactly one other value.
    Value,
    /// Much in common: the one may replace the other.
    Near,
    /// Little in common.
    Unrelated,
}

/// Maximum number of words of a value.
const MAX_VALUE_WORDS: usize = 3;
/// Maximum number of words of a part that differs in near statements.
const MAX_NEAR_WORDS: usize = 4;
/// Minimum share of common words of near statements.
const MIN_SHARED: f64 = 0.6;

/// Words without meaning of their own.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "at", "be", "by", "for", "has", "have", "i", "i'm", "in", "is", "it",
    "its", "my", "now", "of", "on", "our", "please", "that", "the", "there", "this", "to", "was",
    "we", "with", "will",
];

/// Words that lead to a value: what comes behind them can change while the subject stays.
const VALUE_LEADS: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "takes", "take", "costs", "cost", "lasts", "expire",
    "expires", "listens", "runs", "allows", "needs", "targets", "requires", "equals", "=", ":",
    "after", "until", "within", "least", "most",
];

/// Verbs that end a subject with one value.
const COPULAS: &[&str] = &["is", "are", "=", ":", "called", "named", "ist", "est", "es", "é"];

/// Nouns of things that have one value at a time.
const SINGLE_VALUED: &[&str] = &[
    "name",
    "email",
    "mail",
    "phone",
    "number",
    "timezone",
    "zone",
    "favourite",
    "favorite",
    "preferred",
    "default",
    "main",
    "primary",
    "current",
    "version",
    "port",
    "host",
    "url",
    "address",
    "branch",
    "deadline",
    "language",
    "manager",
    "boss",
    "owner",
    "maintainer",
    "limit",
    "size",
    "length",
    "timeout",
    "password",
    "birthday",
    "height",
    "weight",
    "salary",
    "budget",
    "job",
    "role",
    "title",
    "employer",
    "editor",
    "shell",
    "region",
    "date",
    "day",
    "time",
    "price",
    "coverage",
    "threshold",
    "handle",
    "username",
    "spelled",
];

/// Words that restrict a value to a case.
const CONDITIONS: &[&str] =
    &["in", "for", "on", "at", "when", "during", "per", "if", "with", "and", "or"];

/// Words that turn a statement into its opposite.
const NEGATIONS: &[&str] =
    &["not", "no", "never", "don't", "dont", "isn't", "aren't", "without", "nicht", "kein", "pas"];

/// Compares an older statement with a newer one.
///
/// ```
/// use memoranda_core::statement::{StatementDifference, compare_statements};
///
/// let difference = compare_statements("The rate limit is 100", "The rate limit is 200");
/// assert_eq!(difference, StatementDifference::Value);
/// ```
pub fn compare_statements(old: &str, new: &str) -> StatementDifference {
    let (old, new) = (comparable_words(old), comparable_words(new));
    if old == new {
        return if old.is_empty() {
            StatementDifference::Unrelated
        } else {
            StatementDifference::Same
        };
    }
    let same = |(a, b): &(&String, &String)| a == b;
    let prefix = old.iter().zip(&new).take_while(same).count();
    let room = old.len().min(new.len()) - prefix;
    let suffix = old.iter().rev().zip(new.iter().rev()).take(room).take_while(same).count();
    let old_part = old.get(prefix..old.len() - suffix).unwrap_or_default();
    let new_part = new.get(prefix..new.len() - suffix).unwrap_or_default();
    let (lead, rest) =
        (old.get(..prefix).unwrap_or_default(), old.get(old.len() - suffix..).unwrap_or_default());
    let is_negated =
        [old_part, new_part].into_iter().flatten().any(|word| NEGATIONS.contains(&word.as_str()));
    if !is_negated && is_other_value(lead, rest, old_part, new_part) {
        return StatementDifference::Value;
    }
    let framed = lead.iter().chain(rest).filter(|word| is_significant(word)).count();
    let is_short = |part: &[String]| part.len() <= MAX_NEAR_WORDS;
    if framed > 0 && lead.len() + rest.len() >= 2 && is_short(old_part) && is_short(new_part) {
        return StatementDifference::Near;
    }
    if shared(&old, &new) >= MIN_SHARED {
        return StatementDifference::Near;
    }
    StatementDifference::Unrelated
}

/// Returns true if one part behind the subject differs, and the subject has one value at a time.
fn is_other_value(lead: &[String], rest: &[String], old: &[String], new: &[String]) -> bool {
    let fits = |part: &[String]| (1..=MAX_VALUE_WORDS).contains(&part.len());
    if !fits(old) || !fits(new) || lead.iter().filter(|word| is_significant(word)).count() == 0 {
        return false;
    }
    let has_any = |words: &[&str]| lead.iter().any(|word| words.contains(&word.as_str()));
    let is_number = |part: &[String]| match part {
        [word] => word.contains(|c: char| c.is_ascii_digit()),
        _ => false,
    };
    if is_number(old) && is_number(new) {
        // Elsewhere a number is part of a name: "port 80 is open", "I own book number 3".
        let behind_lead =
            lead.iter().rev().take(2).any(|word| VALUE_LEADS.contains(&word.as_str()));
        let behind_noun = lead.last().is_some_and(|word| SINGLE_VALUED.contains(&word.as_str()));
        return behind_lead || behind_noun && has_any(VALUE_LEADS);
    }
    // A part with a condition, as in "100 in production", has more than one value.
    let has_condition =
        |part: &[String]| part.iter().any(|word| CONDITIONS.contains(&word.as_str()));
    if has_condition(old) || has_condition(new) {
        return false;
    }
    let ends_in_copula = lead.last().is_some_and(|word| COPULAS.contains(&word.as_str()));
    ends_in_copula && rest.is_empty() && has_any(SINGLE_VALUED)
}

/// Returns the words that are compared: lower case, without polite openings and final signs.
fn comparable_words(text: &str) -> Vec<String> {
    let mut words = StatementWords::new(text);
    while let Some(opening) = OPENINGS.iter().find(|opening| words.begins(&[opening])) {
        words.drop_first(opening.split(' ').count());
    }
    let is_kept = |word: &&String| !matches!(word.as_str(), "," | ";" | ".");
    words.all().iter().filter(is_kept).map(|word| word.trim_matches('`').to_owned()).collect()
}

fn is_significant(word: &str) -> bool {
    !STOP_WORDS.contains(&word)
}

/// Returns the share of significant words that two statements have in common.
fn shared(old: &[String], new: &[String]) -> f64 {
    let distinct = |words: &[String]| {
        let mut words: Vec<String> =
            words.iter().filter(|word| is_significant(word)).cloned().collect();
        words.sort_unstable();
        words.dedup();
        words
    };
    let (old, new) = (distinct(old), distinct(new));
    let common = old.iter().filter(|word| new.binary_search(word).is_ok()).count();
    let all = old.len() + new.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_value_of_the_same_subject_is_a_value() {
        use StatementDifference::{Near, Same, Unrelated, Value};
        for (old, new, expected) in [
            ("I prefer tabs", "i prefer  tabs.", Same),
            ("I prefer tabs", "Please remember that I prefer tabs", Same),
            ("The API rate limit is 100", "the api rate limit is 200", Value),
            (
                "API rate limit is 100 requests per minute",
                "API rate limit is 250 requests per minute",
                Value,
            ),
            ("Auth tokens expire after 15 minutes", "Auth tokens expire after 30 minutes", Value),
            ("My favourite editor is helix", "My favourite editor is zed", Value),
            ("The default branch is main", "The default branch is develop", Value),
            ("My timezone is Europe/Berlin", "My timezone is America/New_York", Value),
            ("Node version: 20", "Node version: 22", Value),
            ("our main branch is called trunk", "our main branch is called main", Value),
            // The number is part of the subject.
            ("Port 3000 is used by the shop", "Port 3001 is used by the shop", Near),
            ("I own a book about town number 1", "I own a book about town number 2", Near),
            ("Room 12 has 3 windows", "Room 12 has 4 windows", Value),
            ("The shop listens on port 80", "The shop listens on port 81", Value),
            // Both can be true.
            ("This repo uses pnpm", "This repo uses docker", Near),
            ("My dog is big", "My dog is brown", Near),
            ("I prefer tabs", "I prefer dark mode", Near),
            // The opposite is not a value.
            ("The build is not cached", "The build is cached", Near),
            ("My favourite colour is not blue", "My favourite colour is green", Near),
            // Two values differ.
            ("The limit is 100 per minute", "The limit is 200 per hour", Near),
            ("The limit is 100 in prod", "The limit is 200 in dev", Near),
            ("I have two cats", "The build takes nine minutes", Unrelated),
            ("I live in Lisbon", "Production runs PostgreSQL 15", Unrelated),
            ("", "", Unrelated),
        ] {
            assert_eq!(compare_statements(old, new), expected, "{old} / {new}");
        }
    }
}
