//! Results computed for single words. Texts repeat few words very often, so that a thread that indexes
//! many notes finds most words here.

/// Number of slots. A word has one slot, and replaces the word that was there.
const SLOTS: usize = 1 << 12;
/// Longer words are rare, and computed every time.
const MAX_BYTES: usize = 22;

/// A cache for one thread.
pub(crate) struct WordCache<T> {
    slots: Vec<Option<WordSlot<T>>>,
}

#[derive(Clone, Copy)]
struct WordSlot<T> {
    length: u8,
    word: [u8; MAX_BYTES],
    value: T,
}

impl<T: Copy> WordCache<T> {
    /// Creates an empty cache, which takes no memory until its first word.
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new() }
    }

    /// Returns the value of a word, and computes it if it is not known.
    pub(crate) fn get_or_compute(&mut self, word: &str, compute: impl FnOnce() -> T) -> T {
        if word.len() > MAX_BYTES {
            return compute();
        }
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, None);
        }
        let Some(slot) = self.slots.get_mut(slot_of(word)) else { return compute() };
        match slot {
            Some(known) if known.word.get(..usize::from(known.length)) == Some(word.as_bytes()) => {
                known.value
            }
            _ => {
                let value = compute();
                let mut bytes = [0; MAX_BYTES];
                bytes.iter_mut().zip(word.bytes()).for_each(|(to, byte)| *to = byte);
                *slot = Some(WordSlot { length: word.len() as u8, word: bytes, value });
                value
            }
        }
    }
}

/// Returns the slot of a word, by 32-bit FNV-1a.
fn slot_of(word: &str) -> usize {
    let hash = word
        .bytes()
        .fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 16)) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_computed_once_until_another_takes_its_slot() {
        let mut cache = WordCache::new();
        let mut computed = 0;
        let mut length_of = |cache: &mut WordCache<usize>, word: &str| {
            cache.get_or_compute(word, || {
                computed += 1;
                word.len()
            })
        };
        for word in ["tap", "tap", "", "", "cartridge", "tap"] {
            assert_eq!(length_of(&mut cache, word), word.len());
        }
        let long = "a".repeat(MAX_BYTES + 1);
        assert_eq!(length_of(&mut cache, &long), long.len());
        assert_eq!(length_of(&mut cache, &long), long.len());
        // Words of one slot, also those that begin alike, are not mistaken for each other.
        let words: Vec<String> = (0..3 * SLOTS).map(|n| format!("w{n}")).collect();
        for word in words.iter().chain(&words) {
            assert_eq!(length_of(&mut cache, word), word.len());
        }
        assert!(computed > SLOTS, "{computed}");
    }
}
