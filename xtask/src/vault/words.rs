//! The vocabulary: twenty thousand pronounceable words with the frequencies of a language, and one
//! unique word for every note.

use std::sync::OnceLock;

use super::random::SplitMix64;

/// Number of words; the most frequent come first.
pub const VOCABULARY: usize = 20_000;

const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
const VOWELS: &[u8; 5] = b"aeiou";
const SYLLABLES: usize = CONSONANTS.len() * VOWELS.len();

/// Number of short words. The most frequent words are short, as in every language.
const SHORT: usize = 500;

/// Returns the word of a rank, from 0, the most frequent, to [`VOCABULARY`], exclusive.
///
/// Every rank has its own word. No word is an English stop word: each ends in a consonant that is
/// rare at the end of English words.
pub fn word(rank: usize) -> String {
    // Multiplying by a coprime number visits every position once, in a scattered order.
    let (mut text, place) = if rank < SHORT {
        (String::with_capacity(5), (rank * 3_701 + 17) % SYLLABLES.pow(2))
    } else {
        (String::with_capacity(7), (rank * 700_001 + 29) % SYLLABLES.pow(3))
    };
    push_syllables(&mut text, place, if rank < SHORT { 2 } else { 3 });
    text.push(['b', 'k', 'm', 'p'][rank % 4]);
    text
}

/// Returns the unique word of note `number`.
pub fn rare_word(number: usize) -> String {
    let mut text = String::from("zy");
    push_syllables(&mut text, (number * 7_000_003 + 101) % SYLLABLES.pow(4), 4);
    text.push('x');
    text
}

/// Draws a rank by Zipf's law: the second word is half as frequent as the first, and so on.
pub(super) fn draw_rank(random: &mut SplitMix64) -> usize {
    static SUMS: OnceLock<Vec<u64>> = OnceLock::new();
    let sums = SUMS.get_or_init(|| {
        let weights = (0..VOCABULARY as u64).map(|rank| 1_000_000_000 / (rank + 3));
        weights
            .scan(0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect()
    });
    let drawn = random.below(sums[VOCABULARY - 1]);
    sums.partition_point(|&sum| sum <= drawn)
}

fn push_syllables(text: &mut String, mut place: usize, count: usize) {
    for _ in 0..count {
        text.push(CONSONANTS[place % CONSONANTS.len()] as char);
        place /= CONSONANTS.len();
        text.push(VOWELS[place % VOWELS.len()] as char);
        place /= VOWELS.len();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_word_twice() {
        let words: HashSet<_> = (0..VOCABULARY).map(word).collect();
        assert_eq!(words.len(), VOCABULARY);
        let rare: HashSet<_> = (0..100_000).map(rare_word).collect();
        assert_eq!(rare.len(), 100_000);
        assert!(words.is_disjoint(&rare));
    }

    #[test]
    fn frequent_ranks_are_drawn_often() {
        let mut random = SplitMix64::new(7);
        let drawn: Vec<_> = (0..100_000).map(|_| draw_rank(&mut random)).collect();
        let share = |end: usize| drawn.iter().filter(|&&rank| rank < end).count() / 1_000;
        assert!((35..60).contains(&share(100)), "{}", share(100));
        assert!(drawn.iter().all(|&rank| rank < VOCABULARY));
    }
}
