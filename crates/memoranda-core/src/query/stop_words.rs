//! English stop words.

use crate::tokenize::fold;

/// Stop words, sorted for binary search.
const STOP_WORDS: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "did", "do", "does", "doing", "done", "for", "from", "had", "has", "have",
    "having", "he", "her", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "may", "me", "might", "mine", "must", "my", "of", "on", "or", "our", "ours", "shall", "she",
    "should", "so", "some", "such", "than", "that", "the", "their", "theirs", "them", "then",
    "there", "these", "they", "this", "those", "to", "was", "we", "were", "what", "when", "where",
    "which", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// Parts of contractions before the apostrophe. A part alone may be a name or a meaningful letter,
/// so both parts must match.
const HEADS: &[&str] = &[
    "aren", "can", "couldn", "didn", "doesn", "don", "hadn", "hasn", "haven", "isn", "let",
    "mustn", "shan", "shouldn", "wasn", "weren", "won", "wouldn",
];
const TAILS: &[&str] = &["d", "ll", "m", "re", "s", "t", "ve"];

/// Returns true if the words of one unquoted term are stop words only, such as `the` or `don't`.
pub(super) fn are_filler(words: &[String]) -> bool {
    match words {
        [head, tail] if TAILS.contains(&fold(tail).as_ref()) => {
            is_filler(head) || HEADS.binary_search(&fold(head).as_ref()).is_ok()
        }
        words => words.iter().all(|word| is_filler(word)),
    }
}

/// Returns true if a word is a stop word.
pub(crate) fn is_filler(word: &str) -> bool {
    STOP_WORDS.binary_search(&fold(word).as_ref()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(STOP_WORDS.is_sorted() && HEADS.is_sorted());
    }

    #[test]
    fn stop_words_are_recognized_in_contractions() {
        let check = |words: &[&str], expected: bool| {
            let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(are_filler(&words), expected, "{words:?}");
        };
        check(&["the"], true);
        check(&["The"], true);
        check(&["don", "t"], true);
        check(&["what", "s"], true);
        check(&["won"], false);
        check(&["C"], false);
        check(&["to", "do"], true);
        check(&["a", "b"], false);
    }
}
