//! Features of a statement for the learned weights: its words, the form of its grammar, and its meaning
//! as the embeddings of the whole and of the beginning.

use super::words::StatementWords;
use crate::embed::{STATIC_VECTOR_DIMS, StaticEmbeddingModel};

/// Number of slots for words and forms. They are hashed; few of a statement share a slot.
const FORM_SLOTS: usize = 8192;
/// Number of features: forms, the embedding of the statement, and that of its beginning.
pub const FEATURE_COUNT: usize = FORM_SLOTS + 2 * STATIC_VECTOR_DIMS;
/// Weight of the embedding against the forms.
const MEANING_WEIGHT: f32 = 1.5;
/// Number of words of the beginning, which has the verb of an order.
const BEGINNING_WORDS: usize = 2;
/// Number of words of one step of the length, and the largest step.
const LENGTH_STEP: usize = 4;
const MAX_LENGTH_STEP: usize = 5;

/// Words of grammar, which stand for themselves in a form; sorted. Other words count by their ending.
const GRAMMAR_WORDS: &[&str] = &[
    "a", "after", "all", "already", "always", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "but", "by", "can", "could", "did", "didn't", "do",
    "does", "doesn't", "don't", "each", "every", "for", "from", "get", "gets", "go", "goes",
    "going", "got", "had", "has", "have", "he", "i", "i'd", "i'll", "i'm", "i've", "if", "im",
    "in", "into", "is", "it", "its", "just", "keep", "let's", "made", "make", "makes", "may",
    "maybe", "me", "mine", "must", "my", "need", "needs", "never", "no", "nobody", "not", "of",
    "on", "once", "one", "only", "or", "our", "over", "please", "shall", "she", "should", "since",
    "so", "still", "than", "that", "the", "then", "these", "they", "this", "those", "to", "under",
    "until", "us", "use", "used", "user", "uses", "want", "wants", "was", "we", "we'll", "we're",
    "we've", "went", "were", "when", "whenever", "while", "will", "with", "without", "won't",
    "would", "yet", "you", "your",
];

/// The features of a statement, each with its value. A feature that is not listed has the value 0.
pub struct StatementFeatures {
    features: Vec<(usize, f32)>,
}

impl StatementFeatures {
    /// Computes the features of a statement as it was given.
    pub fn of_text(text: &str) -> Self {
        Self::new(&super::without_opening(text))
    }

    pub(super) fn new(words: &StatementWords) -> Self {
        let slots = form_slots(words.all());
        let value = 1.0 / (slots.len().max(1) as f32).sqrt();
        let mut features: Vec<(usize, f32)> = slots.into_iter().map(|slot| (slot, value)).collect();
        let beginning = words.all().get(..BEGINNING_WORDS.min(words.all().len()));
        let parts = [(words.all(), MEANING_WEIGHT), (beginning.unwrap_or_default(), 1.0)];
        for (n, (part, weight)) in parts.into_iter().enumerate() {
            let vector = StaticEmbeddingModel::bundled().embed(&part.join(" "));
            let scale = vector.scale * weight;
            let first = FORM_SLOTS + n * STATIC_VECTOR_DIMS;
            let numbers = vector.numbers.iter().enumerate();
            features.extend(numbers.map(|(at, number)| (first + at, f32::from(*number) * scale)));
        }
        Self { features: if words.all().is_empty() { Vec::new() } else { features } }
    }

    /// Returns the features that are not 0.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f32)> {
        self.features.iter().copied()
    }

    /// Returns true if the statement has no words.
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }
}

/// Returns the slots of the words, of the forms of neighbouring words, of the beginning and the length.
fn form_slots(words: &[String]) -> Vec<usize> {
    let word_at = |n: usize| words.get(n).map_or("", String::as_str);
    let mut slots = Vec::new();
    let mut before = ["^", "^"];
    for (n, word) in words.iter().enumerate() {
        let form = form(word);
        slots.push(slot("word", &[word]));
        slots.push(slot("two", &[before[1], form]));
        slots.push(slot("three", &[before[0], before[1], form]));
        if n < BEGINNING_WORDS && form != word {
            slots.push(slot(if n == 0 { "first form" } else { "second form" }, &[form]));
        }
        before = [before[1], form];
    }
    slots.push(slot("two", &[before[1], "$"]));
    slots.push(slot("first", &[word_at(0)]));
    slots.push(slot("begins", &[word_at(0), word_at(1)]));
    let length = (words.len() / LENGTH_STEP).min(MAX_LENGTH_STEP);
    slots.push(slot("length", &[&length.to_string()]));
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// Returns the form of a word: itself for words of grammar and signs, else its ending.
fn form(word: &str) -> &str {
    let is_long = word.chars().nth(4).is_some();
    if GRAMMAR_WORDS.binary_search(&word).is_ok() || !word.contains(char::is_alphanumeric) {
        word
    } else if word.bytes().all(|byte| byte.is_ascii_digit()) {
        "0"
    } else if is_long && word.ends_with("ing") {
        "-ing"
    } else if is_long && word.ends_with("ed") {
        "-ed"
    } else if word.len() > 3 && word.ends_with('s') {
        "-s"
    } else {
        "-"
    }
}

/// Returns the slot of a feature: FNV-1a of its kind and its words.
fn slot(kind: &str, words: &[&str]) -> usize {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let parts = std::iter::once(kind).chain(words.iter().copied());
    let bytes = parts.flat_map(|part| part.bytes().chain([0]));
    let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    ((hash ^ (hash >> 32)) % FORM_SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_grammar_are_sorted() {
        assert!(GRAMMAR_WORDS.is_sorted());
    }

    #[test]
    fn forms_tell_the_endings_of_words() {
        for (word, expected) in [
            ("the", "the"),
            ("parsing", "-ing"),
            ("parsed", "-ed"),
            ("tests", "-s"),
            ("42", "0"),
            ("tab", "-"),
            (":", ":"),
        ] {
            assert_eq!(form(word), expected, "{word}");
        }
    }

    #[test]
    fn features_lie_in_their_range_and_depend_on_the_beginning() {
        let features = |text: &str| StatementFeatures::of_text(text).iter().collect::<Vec<_>>();
        assert!(features("").is_empty());
        let one = features("never push to main");
        assert!(one.iter().all(|(feature, _)| *feature < FEATURE_COUNT));
        assert_eq!(one, features("Please never push to main"), "an empty opening says nothing");
        assert_ne!(one, features("push to main never"));
    }
}
