//! Splits a long text into atomic facts at sentences, semicolons and conjunctions.

use super::FactLimits;
use super::sentences::{sentence_count, sentences};

/// Separators between statements, the strongest first.
const SEPARATORS: &[&str] = &["; ", ", and ", ", but ", " and ", ", which ", ", with ", ", "];
/// Minimum number of characters of a fact.
const MIN_FACT_CHARS: usize = 5;

/// Returns the facts of a text; empty if the text cannot be split within the limits.
pub fn atomic_facts(text: &str, limits: FactLimits) -> Vec<String> {
    let mut facts = Vec::new();
    let begins_lowercase = |part: &str| part.starts_with(char::is_lowercase);
    let sentences = sentences(text);
    // A sentence fragment is not a fact: suggest nothing instead.
    if !begins_lowercase(text) && sentences.iter().any(|part| begins_lowercase(part)) {
        return facts;
    }
    for sentence in sentences {
        let sentence = sentence.trim_end_matches(['.', '。', ';', ',']).trim();
        if !divide(sentence, limits, &mut facts) {
            return Vec::new();
        }
    }
    if facts.len() > 1 { facts } else { Vec::new() }
}

fn fits(text: &str, limits: FactLimits) -> bool {
    let chars = text.chars().count();
    chars >= MIN_FACT_CHARS && chars <= limits.chars && sentence_count(text) <= limits.sentences
}

fn divide(text: &str, limits: FactLimits, facts: &mut Vec<String>) -> bool {
    if fits(text, limits) {
        facts.push(text.to_owned());
        return true;
    }
    // The separator nearest to the middle yields the most even halves.
    for joint in SEPARATORS {
        let middle = text.len() / 2;
        let at = text.match_indices(joint).map(|(at, _)| at).min_by_key(|at| at.abs_diff(middle));
        let Some(at) = at else { continue };
        let (left, right) = (text.get(..at), text.get(at + joint.len()..));
        let (left, right) = (left.unwrap_or_default().trim(), right.unwrap_or_default().trim());
        let before = facts.len();
        if divide(left, limits, facts) && divide(right, limits, facts) {
            return true;
        }
        facts.truncate(before);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_split_into_facts_or_stay_whole() {
        let limits = FactLimits { chars: 60, sentences: 2 };
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(atomic_facts(text, limits), expected, "{text}");
        };
        check(
            "Works at Google. Uses Windows 11. Lives in Kyiv.",
            &["Works at Google", "Uses Windows 11", "Lives in Kyiv"],
        );
        check(
            "Contains the planning table of section one and the activities of section two",
            &["Contains the planning table of section one", "the activities of section two"],
        );
        check(&"x".repeat(100), &[]);
        check("short enough", &[]);
        check("Wrote a book. and more. and even more of the same. The end came", &[]);
    }
}
