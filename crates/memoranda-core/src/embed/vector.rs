//! Vectors in eight-bit numbers: a quarter of the memory, and as good for finding.

/// How many numbers a vector has.
pub const DIMS: usize = 256;

/// How many pairs of numbers a vector has.
pub const PAIRS: usize = DIMS / 2;

/// How many bytes a vector takes in a cache: its scale, then its numbers.
pub const BYTES: usize = 4 + DIMS;

/// The vector of a text.
#[derive(Clone, PartialEq, Debug)]
pub struct Vector {
    /// What one step of a number is worth.
    pub scale: f32,
    /// The numbers.
    pub numbers: [i8; DIMS],
}

impl Vector {
    pub(super) fn from_floats(floats: &[f32; DIMS]) -> Self {
        let most = floats.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        let mut numbers = [0; DIMS];
        if most <= 0.0 {
            return Self { scale: 0.0, numbers };
        }
        let scale = most / 127.0;
        for (number, float) in numbers.iter_mut().zip(floats) {
            *number = (float / scale).round() as i8;
        }
        Self { scale, numbers }
    }

    /// The vector as it is kept.
    pub fn bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let (scale, numbers) = bytes.split_at_mut(4);
        scale.copy_from_slice(&self.scale.to_le_bytes());
        for (byte, &number) in numbers.iter_mut().zip(&self.numbers) {
            *byte = number as u8;
        }
        bytes
    }

    /// A vector that was kept.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (scale, rest) = bytes.split_first_chunk::<4>()?;
        let rest: &[u8; DIMS] = rest.try_into().ok()?;
        Some(Self { scale: f32::from_le_bytes(*scale), numbers: rest.map(|byte| byte as i8) })
    }

    /// How alike two texts are: 1 for the same, about 0 for unlike ones.
    pub fn similarity(&self, other: &Self) -> f32 {
        dot(&self.numbers, &other.numbers) as f32 * self.scale * other.scale
    }

    /// The numbers two by two, as a [`Probe`] compares them.
    pub fn pairs(&self) -> [i16; PAIRS] {
        let mut pairs = [0; PAIRS];
        for (pair, numbers) in pairs.iter_mut().zip(self.numbers.as_chunks().0) {
            *pair = i16::from_le_bytes(numbers.map(|number: i8| number as u8));
        }
        pairs
    }

    /// Whether the text held no word.
    pub fn is_zero(&self) -> bool {
        self.scale == 0.0
    }
}

/// A vector that is compared with very many kept ones, in the form in which that is quickest.
pub struct Probe {
    scale: f32,
    /// The first number of each pair, and the second.
    firsts: [i16; PAIRS],
    seconds: [i16; PAIRS],
}

impl Probe {
    /// The probe for a vector.
    pub fn new(vector: &Vector) -> Self {
        let pairs = vector.pairs();
        Self { scale: vector.scale, firsts: pairs.map(first), seconds: pairs.map(second) }
    }

    /// How alike a vector in parts is.
    pub fn similarity(&self, scale: f32, pairs: &[i16; PAIRS]) -> f32 {
        // Sixteen bits by sixteen, added in pairs: one instruction on every machine. To take the
        // numbers of a pair apart is cheaper there than to widen each.
        let products = |asked: &[i16; PAIRS], number: fn(i16) -> i16| -> i32 {
            let pairs = pairs.iter().zip(asked);
            pairs.map(|(&pair, &asked)| i32::from(number(pair)) * i32::from(asked)).sum()
        };
        let sum = products(&self.firsts, first) + products(&self.seconds, second);
        sum as f32 * self.scale * scale
    }
}

fn first(pair: i16) -> i16 {
    (pair << 8) >> 8
}

fn second(pair: i16) -> i16 {
    pair >> 8
}

/// The sum of products, in a form that compilers turn into instructions on many numbers at once.
fn dot(a: &[i8; DIMS], b: &[i8; DIMS]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pairs_are_compared_as_single_numbers_are(
            numbers in prop::collection::vec(any::<(i8, i8)>(), DIMS),
        ) {
            let vector = |number: fn(&(i8, i8)) -> i8, scale| {
                Vector { scale, numbers: std::array::from_fn(|n| number(&numbers[n])) }
            };
            let (asked, kept) = (vector(|pair| pair.0, 0.25), vector(|pair| pair.1, 0.5));
            let found = Probe::new(&asked).similarity(kept.scale, &kept.pairs());
            prop_assert_eq!(found, asked.similarity(&kept));
        }
    }
}
