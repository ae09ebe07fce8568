//! Lengths of generated notes: most are short, a few are very long, as in a real folder.

use super::random::SplitMix64;

/// Lengths in words at equal steps of probability, interpolated linearly.
/// The distribution is log-normal with a median of 95 and a mean of about 150.
const QUANTILES: [u64; 21] =
    [15, 24, 32, 40, 47, 54, 61, 69, 77, 86, 95, 105, 117, 131, 147, 167, 192, 225, 274, 370, 700];

/// One note in this many is a long document, of up to [`LONGEST`] words.
const LONG_EVERY: u64 = 200;
const LONGEST: u64 = 3_000;

/// Draws the length of a note in words.
pub(super) fn draw_word_count(random: &mut SplitMix64) -> usize {
    if random.below(LONG_EVERY) == 0 {
        return random.between(700, LONGEST) as usize;
    }
    let step = random.index(QUANTILES.len() - 1);
    random.between(QUANTILES[step], QUANTILES[step + 1]) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_about_a_hundred_and_fifty() {
        let mut random = SplitMix64::new(1);
        let lengths: Vec<_> = (0..20_000).map(|_| draw_word_count(&mut random)).collect();
        let mean = lengths.iter().sum::<usize>() / lengths.len();
        assert!((130..170).contains(&mean), "{mean}");
        assert!(lengths.iter().any(|&length| length > 2_000));
    }
}
