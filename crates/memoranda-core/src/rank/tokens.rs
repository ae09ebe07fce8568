//! Stem hashes of a passage, computed once when the passage is indexed, because tokenizing would
//! dominate the cost of ranking.

use std::cell::RefCell;
use std::sync::Arc;

use super::question_features::{self, PassageFeatures};
use crate::porter::porter_stem;
use crate::tokenize::{fold, tokenize};
use crate::word_cache::WordCache;

/// Separator between words that are not adjacent.
const SEPARATOR: u32 = 0;

/// Stem hashes and features of a passage, as a slice of a shared buffer.
#[derive(Clone, Debug, Default)]
pub struct PassageTokens {
    bytes: Arc<[u8]>,
    /// Offset of the stem hashes: first those of the passage, then a separator and those of its
    /// headings.
    stems: usize,
    /// Offset of the hashes of speaker names.
    speakers: usize,
    /// Number of hashes that name the first speaker.
    first_speaker: usize,
    end: usize,
    pub(super) signs: PassageFeatures,
}

impl PassageTokens {
    /// Tokenizes a passage. The headings above it are added unless the text begins with its own
    /// heading.
    pub fn new(heading: &str, text: &str) -> Self {
        let (mut stems, mut speakers, mut first_speaker) = (Vec::new(), Vec::new(), 0);
        let mut signs = PassageFeatures::default();
        signs.add_text(text);
        for word in tokenize(text) {
            signs.add_word(word.text);
            stems.push(stem_hash(word.text));
        }
        for label in question_features::speaker_labels(text) {
            speakers.extend(tokenize(label).map(|word| word_hash(word.text)));
            if first_speaker == 0 {
                first_speaker = speakers.len();
            }
        }
        if !heading.is_empty() && !text.trim_start().starts_with('#') {
            stems.push(SEPARATOR);
            stems.extend(tokenize(heading).map(|word| stem_hash(word.text)));
        }
        let numbers = stems.iter().chain(&speakers);
        let bytes: Arc<[u8]> = numbers.flat_map(|number: &u32| number.to_le_bytes()).collect();
        let (speakers, end) = (4 * stems.len(), bytes.len());
        Self { bytes, stems: 0, speakers, first_speaker, end, signs }
    }

    fn stems(&self) -> &[[u8; 4]] {
        self.bytes.get(self.stems..self.speakers).unwrap_or_default().as_chunks().0
    }

    fn speakers(&self) -> &[[u8; 4]] {
        self.bytes.get(self.speakers..self.end).unwrap_or_default().as_chunks().0
    }

    /// Returns the stem hashes of the passage without those of its headings.
    pub fn own_stems(&self) -> &[[u8; 4]] {
        let is_break = |stem: &[u8; 4]| *stem == SEPARATOR.to_le_bytes();
        self.stems().split(is_break).next().unwrap_or_default()
    }

    /// Returns the number of words.
    pub(super) fn word_count(&self) -> usize {
        let breaks = self.stems().iter().filter(|stem| **stem == SEPARATOR.to_le_bytes());
        self.stems().len() - breaks.count()
    }

    /// Counts occurrences of a sequence of stem hashes.
    pub(super) fn count(&self, sought: &[u32]) -> usize {
        match sought {
            [] => 0,
            // A separate arm, because compilers vectorize the comparison of single values.
            [sought] => {
                let sought = sought.to_le_bytes();
                self.stems().iter().filter(|stem| **stem == sought).count()
            }
            sought => {
                let rows = self.stems().windows(sought.len());
                rows.filter(|found| is_same_sequence(found, sought)).count()
            }
        }
    }

    /// Counts occurrences of a sequence that begins in this passage and ends in the next one.
    pub(super) fn count_across(&self, next: &Self, sought: &[u32]) -> usize {
        let (own, behind) = (self.own_stems(), next.own_stems());
        let ends = |begin: &[u32]| {
            let last = own.len().checked_sub(begin.len()).and_then(|from| own.get(from..));
            last.is_some_and(|last| is_same_sequence(last, begin))
        };
        let begins =
            |end: &[u32]| behind.get(..end.len()).is_some_and(|first| is_same_sequence(first, end));
        let cuts = (1..sought.len()).filter_map(|at| sought.split_at_checked(at));
        cuts.filter(|(begin, end)| ends(begin) && begins(end)).count()
    }

    /// Returns the hashes of speaker names.
    pub(super) fn speaker_names(&self) -> impl Iterator<Item = u32> {
        self.speakers().iter().map(|number| u32::from_le_bytes(*number))
    }

    /// Returns the hashes of the first speaker's name.
    pub(super) fn first_speaker(&self) -> impl Iterator<Item = u32> {
        self.speaker_names().take(self.first_speaker)
    }

    /// Appends the encoded passage to a buffer.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.signs.0);
        for number in [self.stems().len(), self.speakers().len(), self.first_speaker] {
            bytes.extend_from_slice(&(number as u32).to_le_bytes());
        }
        bytes.extend_from_slice(self.bytes.get(self.stems..self.end).unwrap_or_default());
    }

    /// Decodes a passage at an offset and advances the offset; `None` if the bytes are malformed.
    pub fn read(bytes: &Arc<[u8]>, place: &mut usize) -> Option<Self> {
        let (&signs, rest) = bytes.get(*place..)?.split_first()?;
        let counts = rest.first_chunk::<12>()?.as_chunks::<4>().0;
        let mut counts = counts.iter().map(|number| u32::from_le_bytes(*number) as usize);
        let stems = *place + 13;
        let speakers = stems.checked_add(counts.next()?.checked_mul(4)?)?;
        let end = speakers.checked_add(counts.next()?.checked_mul(4)?)?;
        let first_speaker = counts.next()?;
        if end > bytes.len() {
            return None;
        }
        *place = end;
        let (bytes, signs) = (Arc::clone(bytes), PassageFeatures(signs));
        Some(Self { bytes, stems, speakers, first_speaker, end, signs })
    }
}

impl PartialEq for PassageTokens {
    fn eq(&self, other: &Self) -> bool {
        let all = |cut: &Self| (cut.signs, cut.first_speaker);
        all(self) == all(other)
            && self.stems() == other.stems()
            && self.speakers() == other.speakers()
    }
}

impl Eq for PassageTokens {}

/// Returns true if two sequences of hashes are equal.
fn is_same_sequence(found: &[[u8; 4]], sought: &[u32]) -> bool {
    found.iter().zip(sought).all(|(found, sought)| *found == sought.to_le_bytes())
}

/// Returns the hash of a word's stem.
fn stem_hash(word: &str) -> u32 {
    thread_local! {
        static STEMS: RefCell<WordCache<u32>> = const { RefCell::new(WordCache::new()) };
    }
    STEMS.with_borrow_mut(|stems| stems.get_or_compute(word, || number(&porter_stem(&fold(word)))))
}

/// Returns the hash of a word without stemming.
pub(super) fn word_hash(word: &str) -> u32 {
    number(&fold(word))
}

/// Hashes a stem with 32-bit FNV-1a. With 100,000 distinct stems about one query term in 40,000
/// collides, which only raises a score slightly.
pub(super) fn number(stem: &str) -> u32 {
    let hash = stem
        .bytes()
        .fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.max(SEPARATOR + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn encoded_tokens_round_trip(heading in "\\PC{0,12}", text in "\\PC{0,60}|(Ann: )?[a-c# \n:]{0,30}") {
            let cut = PassageTokens::new(&heading, &text);
            let mut bytes = vec![7];
            cut.write(&mut bytes);
            cut.write(&mut bytes);
            let (bytes, mut place) = (bytes.into(), 1);
            let read = PassageTokens::read(&bytes, &mut place);
            prop_assert_eq!(read.as_ref(), Some(&cut));
            prop_assert_eq!(PassageTokens::read(&bytes, &mut place), Some(cut.clone()));
            prop_assert_eq!(place, bytes.len());
            let read = read.unwrap_or_default();
            prop_assert_eq!(read.word_count(), cut.word_count());
            prop_assert!(read.first_speaker().eq(cut.first_speaker()));
            let mut again = vec![7];
            read.write(&mut again);
            prop_assert_eq!(&bytes[..again.len()], &again);
            prop_assert_eq!(PassageTokens::read(&bytes, &mut place), None);
        }

        #[test]
        fn any_bytes_decode_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let (bytes, mut place) = (bytes.into(), 0);
            while let Some(cut) = PassageTokens::read(&bytes, &mut place) {
                prop_assert!(cut.word_count() <= bytes.len());
                cut.first_speaker().for_each(drop);
            }
        }
    }
}
