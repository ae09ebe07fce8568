//! Detects facts of one entity that contradict each other, by their words.

use std::collections::BTreeSet;

const NEGATIONS: &[&str] =
    &["not", "no", "never", "none", "cannot", "without", "stopped", "removed", "deprecated"];

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
                format!("one is negated, both speak of {}", shared.join(", "))
            } else if a.negated == b.negated
                && !a.words.is_empty()
                && a.words == b.words
                && a.values != b.values
                && !a.values.is_empty()
                && !b.values.is_empty()
            {
                let list = |values: &BTreeSet<String>| {
                    values.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
                };
                format!(
                    "the same with different values: {} and {}",
                    list(&a.values),
                    list(&b.values)
                )
            } else {
                continue;
            };
            found.push(FactContradiction { first, second, reason });
        }
    }
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
            } else if word.starts_with(|c: char| c.is_ascii_digit()) {
                parts.values.insert(word.to_owned());
            } else if word.chars().count() > 3 {
                parts.words.insert(word.to_owned());
            }
        }
        parts
    }
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
        for denial in ["can't", "couldn't", "wouldn't", "weren't", "doesn’t", "won't"] {
            check(&["Opens large files", &format!("It {denial} open large files")], &[(0, 1)]);
        }
    }
}
