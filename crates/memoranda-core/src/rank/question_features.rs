//! Features of a question beyond its words: the speaker, and the kind of answer.
//!
//! People call themselves "I" and others by name, and a chat names the speaker at the beginning of
//! a line. A passage that contains a time helps a question that asks "when".

use std::collections::HashMap;

use super::tokens::{PassageTokens, word_hash};
use crate::query::Query;
use crate::tokenize::{fold, tokenize};

/// Minimum number of passages that begin with a name for it to count as a speaker.
const MIN_SPEAKER_PASSAGES: usize = 10;
/// Maximum length in bytes of a speaker label before a colon; a date may be part of it.
const MAX_LABEL_BYTES: usize = 48;
const MAX_LABEL_NAMES: usize = 3;

/// Features of a question.
#[derive(Default)]
pub(super) struct QuestionFeatures {
    /// True if the question uses "I" or "my".
    is_personal: bool,
    wants_number: bool,
    wants_time: bool,
    /// Hashes of the words that may be a person's name.
    names: Vec<u32>,
}

/// Features of a passage that do not depend on the question, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct PassageFeatures(pub(super) u8);

/// Features of a question that a passage matches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FeatureMatch {
    is_personal: bool,
    is_named: bool,
    /// The question asks for a number, and the passage contains one.
    pub(super) has_number: bool,
    /// The question asks for a time, and the passage contains one.
    pub(super) has_time: bool,
}

impl QuestionFeatures {
    pub(super) fn new(query: &Query) -> Self {
        let said: Vec<String> =
            tokenize(&query.free_text).map(|w| fold(w.text).into_owned()).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let mut cues = Self {
            is_personal: tokenize(&query.free_text).any(|word| is_personal(word.text)),
            names: names(query),
            ..Self::default()
        };
        for at in 0..said.len() {
            match said.get(at..).unwrap_or_default() {
                ["how", "long", ..] => (cues.wants_number, cues.wants_time) = (true, true),
                ["how", "many" | "much" | "old" | "often" | "far", ..]
                | ["total" | "number", ..] => {
                    cues.wants_number = true;
                }
                ["what" | "which", "date" | "day" | "month" | "year" | "time", ..]
                | ["when" | "ago" | "first" | "order", ..] => cues.wants_time = true,
                _ => {}
            }
        }
        cues
    }

    /// Compares a passage with the question.
    pub(super) fn match_passage(&self, cut: &PassageTokens) -> FeatureMatch {
        FeatureMatch {
            is_personal: self.is_personal && cut.signs.has(PassageFeatures::PERSONAL),
            is_named: cut.speaker_names().any(|name| self.names.contains(&name)),
            has_number: self.wants_number && cut.signs.has(PassageFeatures::NUMBER),
            has_time: self.wants_time && cut.signs.has(PassageFeatures::TIME),
        }
    }
}

impl PassageFeatures {
    const PERSONAL: u8 = 1;
    const NUMBER: u8 = 2;
    const TIME: u8 = 4;
    /// The text contains a question mark.
    pub(super) const QUESTION: u8 = 8;

    pub(super) fn has(self, sign: u8) -> bool {
        self.0 & sign != 0
    }

    /// Adds the features of the text as a whole.
    pub(super) fn add_text(&mut self, text: &str) {
        if text.contains(['?', '？', '؟']) {
            self.0 |= Self::QUESTION;
        }
    }

    /// Adds the features of one word.
    pub(super) fn add_word(&mut self, word: &str) {
        let begins_with_digit = word.starts_with(|c: char| c.is_ascii_digit());
        let is_year = word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
        let is_time = (begins_with_digit && is_year)
            || matches!(word, "May" | "March")
            || is_in_sorted_list(word, TIMES);
        for (sign, is_there) in [
            (Self::PERSONAL, is_personal(word)),
            (Self::NUMBER, begins_with_digit || is_in_sorted_list(word, NUMBERS)),
            (Self::TIME, is_time),
        ] {
            self.0 |= if is_there { sign } else { 0 };
        }
    }
}

impl FeatureMatch {
    /// Returns true if the speaker of the passage is the person in question.
    pub(super) fn is_by_asked_speaker(self) -> bool {
        self.is_personal || self.is_named
    }
}

/// Removes the names of speakers from a question before it is embedded: a name would pull the
/// embedding towards everything that person said. `None` if the question names no speaker, or
/// nothing else.
pub fn without_speaker_names<'p>(
    query: &Query,
    passages: impl Iterator<Item = &'p PassageTokens>,
) -> Option<String> {
    let names = names(query);
    let mut said: HashMap<u32, usize> = HashMap::new();
    for name in passages.flat_map(PassageTokens::first_speaker).filter(|name| names.contains(name))
    {
        *said.entry(name).or_default() += 1;
    }
    said.retain(|_, count| *count >= MIN_SPEAKER_PASSAGES);
    if said.is_empty() {
        return None;
    }
    let is_speaker = |token: &str| {
        let first = tokenize(token).next();
        first.is_some_and(|word| said.contains_key(&word_hash(word.text)))
    };
    let left: Vec<_> =
        query.free_text.split_whitespace().filter(|token| !is_speaker(token)).collect();
    (!left.is_empty()).then(|| left.join(" "))
}

/// Returns the hashes of the words that may be a person's name.
fn names(query: &Query) -> Vec<u32> {
    let named = query.wanted_terms().flat_map(|term| &term.words);
    named.filter(|word| word.len() > 1).map(|word| word_hash(word)).collect()
}

/// Returns the labels before a colon at the beginning of lines, such as a speaker's name.
pub(super) fn speaker_labels(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        let start = line.get(..line.floor_char_boundary(MAX_LABEL_BYTES)).unwrap_or(line);
        // Skips the colon within a time of day.
        let is_end = |at: usize| {
            !line.get(at + 1..).is_some_and(|after| after.starts_with(char::is_alphanumeric))
        };
        let end = start.match_indices(':').map(|(at, _)| at).find(|&at| is_end(at))?;
        let label = line.get(..end)?;
        let is_name = |word: &str| !word.starts_with(|c: char| c.is_ascii_digit());
        let names = tokenize(label).filter(|word| is_name(word.text)).count();
        (1..=MAX_LABEL_NAMES).contains(&names).then_some(label)
    })
}

/// Returns true for first-person words.
fn is_personal(word: &str) -> bool {
    matches!(word, "I" | "i" | "my" | "My" | "me" | "Me" | "mine" | "Mine" | "myself")
}

/// Returns true if a word is in a sorted list, ignoring case.
fn is_in_sorted_list(word: &str, list: &[&str]) -> bool {
    let mut lower = [0u8; 12];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    // Most words differ in the first letter, which needs no call of a comparison.
    let compare = |known: &&str| {
        known.as_bytes().first().cmp(&lower.first()).then_with(|| known.as_bytes().cmp(lower))
    };
    list.binary_search_by(compare).is_ok()
}

const NUMBERS: &[&str] = &[
    "couple", "dozen", "eight", "eighty", "eleven", "fifteen", "fifty", "first", "five", "forty",
    "four", "hundred", "million", "nine", "ninety", "once", "one", "second", "seven", "seventy",
    "six", "sixty", "ten", "third", "thirty", "thousand", "three", "twelve", "twenty", "twice",
    "two",
];

const TIMES: &[&str] = &[
    "ago",
    "april",
    "august",
    "day",
    "days",
    "december",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "last",
    "monday",
    "month",
    "months",
    "morning",
    "november",
    "october",
    "recently",
    "saturday",
    "september",
    "since",
    "sunday",
    "thursday",
    "today",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "weekend",
    "weeks",
    "year",
    "years",
    "yesterday",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(NUMBERS.is_sorted() && TIMES.is_sorted());
    }

    #[test]
    fn passages_match_question_features() {
        let check = |asked: &str, text: &str, expected: [bool; 3]| {
            let fit = QuestionFeatures::new(&Query::parse(asked))
                .match_passage(&PassageTokens::new("", text));
            let found = [fit.is_by_asked_speaker(), fit.has_number, fit.has_time];
            assert_eq!(found, expected, "{asked:?} {text:?}");
        };
        check("how many eggs did I buy", "I took two dozen", [true, true, false]);
        check("how many eggs did I buy", "take some yesterday", [false, false, false]);
        check("which eggs", "I took two yesterday", [false, false, false]);
        check("when did Ann sail", "Ann: we sailed last May", [true, false, true]);
        check("when did Ann sail", "Bob: hello Ann, May I?", [false, false, true]);
        check("when did Ann sail", "may be that we march", [false, false, false]);
        check("Ann's boat", "**Ann Lee**: the boat", [true, false, false]);
        check("Ann's boat", "- ann: the boat\n- Bob: no", [true, false, false]);
        check("Ann's boat", "[2026-05-08 13:56] Ann: the boat", [true, false, false]);
        check("Ann's boat", "**Ann** (8 May 2026): the boat", [true, false, false]);
        check("Ann's boat", "Bob: hm\n\nAnn: the boat", [true, false, false]);
        check("Ann's boat", "what Ann said of all that was this: a boat", [false, false, false]);
        check("how long did it take", "3 hours since 2024", [false, true, true]);
        check("how long did it take", "ÄÖÜ…: 語", [false, false, false]);
    }

    #[test]
    fn speaker_names_are_removed() {
        let said = |texts: &[&str], asked: &str| {
            let texts = texts.iter().cycle().take(2 * MIN_SPEAKER_PASSAGES);
            let passages: Vec<_> = texts.map(|text| PassageTokens::new("", text)).collect();
            without_speaker_names(&Query::parse(asked), passages.iter())
        };
        let chat = ["Ann: hello Bob", "Bob Lee: hello Ann"];
        let check = |asked, expected: Option<&str>| {
            assert_eq!(said(&chat, asked).as_deref(), expected, "{asked:?}");
        };
        check("what did Ann's boat cost?", Some("what did boat cost?"));
        check("did Ann, and Bob, sail", Some("did and sail"));
        check("did Cid sail", None);
        check("Ann", None);
        assert_eq!(said(&["Ann sails"], "did Ann sail"), None);
    }
}
