//! A passage cut into words ahead of time: all that comparing needs of its text. It is made once,
//! when the passage is indexed, because to cut texts is most of what ranking them would cost.

use super::cues::{self, Signs};
use crate::porter::porter;
use crate::words::{fold, words};

/// What stands between words that are not in a row.
const BREAK: u32 = 0;

/// A passage as its words are compared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cut {
    /// The numbers of its words in order; then, behind a break, those of the headings above it.
    stems: Vec<u32>,
    pub(super) signs: Signs,
    /// The numbers of the words by which those who speak in it are named, in order.
    pub(super) speakers: Vec<u32>,
    /// How many of these name the first who speaks.
    first_speaker: usize,
}

impl Cut {
    /// Cuts a passage and the headings above it, which belong to each of their passages; one begins
    /// with them anyway.
    pub fn new(heading: &str, text: &str) -> Self {
        let mut cut = Self::default();
        for word in words(text) {
            cut.signs.see(word.text);
            cut.stems.push(stem_number(word.text));
        }
        for label in cues::labels(text) {
            cut.speakers.extend(words(label).map(|word| word_number(word.text)));
            if cut.first_speaker == 0 {
                cut.first_speaker = cut.speakers.len();
            }
        }
        if !heading.is_empty() && !text.trim_start().starts_with('#') {
            cut.stems.push(BREAK);
            cut.stems.extend(words(heading).map(|word| stem_number(word.text)));
        }
        cut
    }

    /// How many words it has.
    pub(super) fn words(&self) -> usize {
        self.stems.len() - self.count(&[BREAK])
    }

    /// How often words with these numbers stand in it in a row.
    pub(super) fn count(&self, sought: &[u32]) -> usize {
        match sought {
            [] => 0,
            // Told from the rest because compilers make much more of it.
            [sought] => self.stems.iter().filter(|&stem| stem == sought).count(),
            sought => self.stems.windows(sought.len()).filter(|found| *found == sought).count(),
        }
    }

    /// The numbers of the words by which the first who speaks is named.
    pub(super) fn first_speaker(&self) -> &[u32] {
        self.speakers.get(..self.first_speaker).unwrap_or_default()
    }

    /// Adds it to bytes that are kept.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.signs.0);
        for number in [self.stems.len(), self.speakers.len(), self.first_speaker] {
            bytes.extend_from_slice(&(number as u32).to_le_bytes());
        }
        for number in self.stems.iter().chain(&self.speakers) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Takes one from the front of bytes that were kept; `None` if they are something else.
    pub fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (&signs, rest) = bytes.split_first()?;
        let (counts, rest) = rest.split_first_chunk::<12>()?;
        let [stems, speakers, first_speaker] = std::array::from_fn(|n| {
            let number = counts.get(4 * n..).and_then(<[u8]>::first_chunk);
            number.map_or(0, |number| u32::from_le_bytes(*number)) as usize
        });
        let (stems, rest) = rest.split_at_checked(stems.checked_mul(4)?)?;
        let (speakers, rest) = rest.split_at_checked(speakers.checked_mul(4)?)?;
        *bytes = rest;
        let numbers = |bytes: &[u8]| -> Vec<u32> {
            let numbers = bytes.as_chunks::<4>().0.iter();
            numbers.map(|number| u32::from_le_bytes(*number)).collect()
        };
        let (stems, speakers) = (numbers(stems), numbers(speakers));
        Some(Self { stems, signs: Signs(signs), speakers, first_speaker })
    }
}

/// The number of a word, whatever its form: the same for words with the same stem.
fn stem_number(word: &str) -> u32 {
    number(&porter(&fold(word)))
}

/// The number of a word in this very form.
pub(super) fn word_number(word: &str) -> u32 {
    number(&fold(word))
}

/// The number of a stem: a hash (FNV-1a). Of a hundred thousand others one in forty thousand
/// questions meets one by chance, and then a passage counts a little more than it should.
pub(super) fn number(stem: &str) -> u32 {
    let hash = stem
        .bytes()
        .fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.max(BREAK + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_kept_is_read(heading in "\\PC{0,12}", text in "\\PC{0,60}|(Ann: )?[a-c# \n:]{0,30}") {
            let cut = Cut::new(&heading, &text);
            let mut bytes = vec![7];
            cut.write(&mut bytes);
            cut.write(&mut bytes);
            let mut rest = &bytes[1..];
            prop_assert_eq!(Cut::read(&mut rest), Some(cut.clone()));
            prop_assert_eq!(Cut::read(&mut rest), Some(cut.clone()));
            prop_assert!(rest.is_empty());
            prop_assert!(cut.speakers.len() >= cut.first_speaker().len());
        }

        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut rest = bytes.as_slice();
            while let Some(cut) = Cut::read(&mut rest) {
                prop_assert!(cut.words() <= bytes.len());
                cut.first_speaker();
            }
        }
    }
}
