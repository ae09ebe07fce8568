//! Detects facts that contradict each other, by their words.

use std::collections::{BTreeMap, BTreeSet};

const NEGATIONS: &[&str] =
    &["not", "no", "never", "none", "cannot", "without", "stopped", "removed", "deprecated"];

/// Words that state one of several values, as a number does.
const VALUE_WORDS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "hourly",
    "daily",
    "nightly",
    "weekly",
    "monthly",
    "yearly",
    "enabled",
    "disabled",
    "true",
    "false",
];
/// Maximum number of statements with the same words that are compared. More are a list.
const MAX_ALIKE: usize = 20;

/// Two facts that seem to contradict each other, as indices into the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FactContradiction {
    /// Index of the first fact.
    pub first: usize,
    /// Index of the second fact.
    pub second: usize,
    /// Explanation for the user.
    pub reason: String,
}

/// Finds pairs of facts where one negates the other, or where both state different values of the
/// same thing.
pub fn find_contradictions(facts: &[&str]) -> Vec<FactContradiction> {
    let parts: Vec<StatementParts> = facts.iter().map(|fact| StatementParts::of(fact)).collect();
    let mut found = Vec::new();
    for (first, a) in parts.iter().enumerate() {
        for (second, b) in parts.iter().enumerate().skip(first + 1) {
            let shared: Vec<&str> = a.words.intersection(&b.words).map(String::as_str).collect();
            let reason = if a.negated != b.negated && shared.len() >= 2 {
                Some(format!("one is negated, both speak of {}", shared.join(", ")))
            } else {
                a.other_values(b)
            };
            found.extend(reason.map(|reason| FactContradiction { first, second, reason }));
        }
    }
    found
}

/// Finds pairs of statements about anything where one negates the other, or where both state
/// different values. Without a common subject only statements with the same words are compared.
pub fn find_opposed_statements(statements: &[&str]) -> Vec<FactContradiction> {
    let mut alike: BTreeMap<BTreeSet<String>, Vec<(usize, StatementParts)>> = BTreeMap::new();
    for (at, statement) in statements.iter().enumerate() {
        let parts = StatementParts::of(statement);
        if !parts.words.is_empty() {
            alike.entry(parts.words.clone()).or_default().push((at, parts));
        }
    }
    let mut found = Vec::new();
    for group in alike.values().filter(|group| group.len() <= MAX_ALIKE) {
        for (n, (first, a)) in group.iter().enumerate() {
            for (second, b) in group.iter().skip(n + 1) {
                let reason = if a.negated == b.negated {
                    a.other_values(b)
                } else {
                    Some("one is negated, the other is not".to_owned())
                };
                let (first, second) = (*first, *second);
                found.extend(reason.map(|reason| FactContradiction { first, second, reason }));
            }
        }
    }
    found.sort_by_key(|pair| (pair.first, pair.second));
    found
}

struct StatementParts {
    negated: bool,
    /// Words of more than three letters, in lower case.
    words: BTreeSet<String>,
    /// Words that contain a digit.
    values: BTreeSet<String>,
}

impl StatementParts {
    fn of(fact: &str) -> Self {
        let mut parts = Self { negated: false, words: BTreeSet::new(), values: BTreeSet::new() };
        // `can't`, `couldn't`, `weren't` all contain `not`.
        let lower = fact.to_lowercase().replace('’', "'").replace("n't", " not");
        for word in lower.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))) {
            let word = word.trim_matches(['.', '-', '_']);
            if NEGATIONS.contains(&word) {
                parts.negated = true;
            } else if let Some(value) = value_word(word) {
                parts.values.insert(value.to_owned());
            } else if word.starts_with(|c: char| c.is_ascii_digit()) {
                parts.values.insert(word.to_owned());
            } else if word.chars().count() > 3 {
                parts.words.insert(word.to_owned());
            }
        }
        parts
    }

    /// Returns the reason why two statements exclude each other by their values: they have the same
    /// words, and each states a value that the other does not.
    fn other_values(&self, other: &Self) -> Option<String> {
        let is_about_the_same = self.negated == other.negated
            && !self.words.is_empty()
            && self.words == other.words
            && self.values != other.values
            && !self.values.is_empty()
            && !other.values.is_empty();
        let list = |values: &BTreeSet<String>| {
            values.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        is_about_the_same.then(|| {
            format!(
                "the same with different values: {} and {}",
                list(&self.values),
                list(&other.values)
            )
        })
    }
}

/// Returns the value that a word states, without a plural ending; `None` if it is another word.
fn value_word(word: &str) -> Option<&str> {
    let singular = word.strip_suffix('s').unwrap_or(word);
    [word, singular].into_iter().find(|word| VALUE_WORDS.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negations_and_different_values_contradict() {
        let check = |facts: &[&str], expected: &[(usize, usize)]| {
            let found: Vec<_> =
                find_contradictions(facts).iter().map(|c| (c.first, c.second)).collect();
            assert_eq!(found, expected, "{facts:?}");
        };
        check(&["Supports dark mode theme", "Does not support dark mode theme"], &[(0, 1)]);
        check(&["Uses python-docx 1.1.0", "Uses python-docx 1.2.0"], &[(0, 1)]);
        check(&["Works at Google", "Uses Windows"], &[]);
        check(&["Has 21 records", "Has 21 records in total"], &[]);
        check(&["Is not red", "Is blue"], &[]);
        check(&["Deploys go out on Tuesdays", "Deploys go out on Fridays"], &[(0, 1)]);
        check(&["The flag is enabled", "The flag is disabled"], &[(0, 1)]);
        for denial in ["can't", "couldn't", "wouldn't", "weren't", "doesn’t", "won't"] {
            check(&["Opens large files", &format!("It {denial} open large files")], &[(0, 1)]);
        }
    }

    #[test]
    fn statements_about_anything_are_compared_by_all_their_words() {
        let check = |statements: &[&str], expected: &[(usize, usize)]| {
            let found: Vec<_> =
                find_opposed_statements(statements).iter().map(|c| (c.first, c.second)).collect();
            assert_eq!(found, expected, "{statements:?}");
        };
        check(&["Deploys go out on Fridays", "Deploys never go out on Fridays"], &[(0, 1)]);
        check(&["Deploys go out on Fridays", "Lunch", "Deploys go out on Tuesdays"], &[(0, 2)]);
        check(&["The database runs on 5432", "The database runs on 5433"], &[(0, 1)]);
        // Two common words are not a common subject.
        check(&["Release notes are short", "Release notes of Basel are not in French"], &[]);
        check(&["Never push to main", "Push daily to the mirror"], &[]);
        check(&["", "not"], &[]);
    }
}
