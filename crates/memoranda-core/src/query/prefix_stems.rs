//! Prefix search on stemmed words. The prefix `configurati` matches `configuration`, which is
//! indexed as the shorter stem `configur`.

use crate::porter::porter_stem;
use crate::tokenize::fold;

/// Suffixes that the stemmer removes, in whole or in part.
const ENDINGS: &[&str] = &[
    "ability", "able", "ably", "aliz", "ally", "alism", "ality", "ance", "ancy", "ant", "ate",
    "ational", "ation", "ations", "ative", "ator", "ed", "ement", "ence", "ency", "ent", "er",
    "ers", "es", "ful", "fulness", "ibility", "ible", "ically", "icate", "ical", "ier", "ies",
    "iest", "ily", "iness", "ing", "ings", "ion", "ions", "ism", "ition", "ity", "ive", "iveness",
    "ization", "izations", "ize", "izer", "ly", "ment", "ments", "ness", "ous", "ously", "ousness",
    "s", "tional", "y",
];
/// Minimum length of a stem in bytes; `app` must not search for `ap`.
const MIN_STEM_BYTES: usize = 3;

/// Returns one word for each stem that the prefix can lead to but is not a prefix of.
pub fn prefix_stem_words(begin: &str) -> Vec<String> {
    let begin = fold(begin).into_owned();
    let mut found: Vec<(String, String)> = Vec::new();
    let mut add = |tail: &str| {
        let word = format!("{begin}{tail}");
        let stem = porter_stem(&word);
        let is_new = found.iter().all(|(known, _)| *known != stem);
        if is_new && stem.len() >= MIN_STEM_BYTES && !stem.starts_with(&begin) {
            found.push((stem, word));
        }
    };
    add("");
    for ending in ENDINGS {
        // The prefix may end within the suffix.
        for (at, _) in ending.char_indices() {
            let (head, tail) = ending.split_at(at);
            if begin.ends_with(head) {
                add(tail);
            }
        }
    }
    found.into_iter().map(|(_, word)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(begin: &str, expected: &[&str]) {
        let stems: Vec<String> =
            prefix_stem_words(begin).iter().map(|word| porter_stem(word)).collect();
        let is_found = |stem: &&str| stems.iter().any(|found| found == stem);
        assert!(expected.iter().all(is_found), "{begin}: {stems:?}");
        assert!(!expected.is_empty() || stems.is_empty(), "{begin}: {stems:?}");
    }

    #[test]
    fn prefixes_find_shorter_stems() {
        check("runn", &["run"]);
        check("configurati", &["configur"]);
        check("organizat", &["organ"]);
        check("Happy", &["happi"]);
        check("app", &[]);
        check("post", &[]);
        check("", &[]);
        check("東", &[]);
    }
}
