//! Vectors in eight-bit numbers: a quarter of the memory, and as good for finding.

use multiversion::multiversion;

/// How many numbers a vector has.
pub const STATIC_VECTOR_DIMS: usize = 256;

/// How many bytes a vector takes in a cache: its scale, then its numbers.
pub const STATIC_VECTOR_BYTES: usize = 4 + STATIC_VECTOR_DIMS;

/// The vector of a text.
#[derive(Clone, PartialEq, Debug)]
pub struct StaticVector {
    /// What one step of a number is worth.
    pub scale: f32,
    /// The numbers.
    pub numbers: [i8; STATIC_VECTOR_DIMS],
}

impl StaticVector {
    pub(super) fn from_floats(floats: &[f32; STATIC_VECTOR_DIMS]) -> Self {
        let most = floats.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        let mut numbers = [0; STATIC_VECTOR_DIMS];
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
    pub fn bytes(&self) -> [u8; STATIC_VECTOR_BYTES] {
        let mut bytes = [0; STATIC_VECTOR_BYTES];
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
        let rest: &[u8; STATIC_VECTOR_DIMS] = rest.try_into().ok()?;
        Some(Self { scale: f32::from_le_bytes(*scale), numbers: rest.map(|byte| byte as i8) })
    }

    /// How alike two texts are: 1 for the same, about 0 for unlike ones.
    pub fn similarity(&self, other: &Self) -> f32 {
        dot(&self.numbers, &other.numbers) as f32 * (self.scale * other.scale)
    }

    /// Whether the text held no word.
    pub fn is_zero(&self) -> bool {
        self.scale == 0.0
    }
}

/// A vector that is compared with very many kept ones, in the form in which that is quickest.
pub struct StaticQueryVector {
    scale: f32,
    numbers: [i16; STATIC_VECTOR_DIMS],
}

impl StaticQueryVector {
    /// The probe for a vector.
    pub fn new(vector: &StaticVector) -> Self {
        Self { scale: vector.scale, numbers: vector.numbers.map(i16::from) }
    }

    /// How alike vectors in parts are, one after the other, as many as there are places for.
    pub fn similarities(
        &self,
        scales: &[f32],
        numbers: &[[i8; STATIC_VECTOR_DIMS]],
        near: &mut [f32],
    ) {
        products(&self.numbers, numbers, near);
        for (near, scale) in near.iter_mut().zip(scales) {
            *near *= self.scale * scale;
        }
    }
}

/// The sums of products with each of these: so small that a float holds them to the last digit.
/// Sixteen bits by sixteen, added in pairs, is one instruction on every machine; where the machine
/// has wider ones, those are used.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn products(
    asked: &[i16; STATIC_VECTOR_DIMS],
    kept: &[[i8; STATIC_VECTOR_DIMS]],
    sums: &mut [f32],
) {
    for (numbers, sum) in kept.iter().zip(sums) {
        // A loop and nothing else: a closure is not always compiled for the same machine.
        let mut products = 0;
        for at in 0..STATIC_VECTOR_DIMS {
            products += i32::from(numbers[at]) * i32::from(asked[at]);
        }
        *sum = products as f32;
    }
}

/// The sum of products, in a form that compilers turn into instructions on many numbers at once.
fn dot(a: &[i8; STATIC_VECTOR_DIMS], b: &[i8; STATIC_VECTOR_DIMS]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn many_are_compared_as_each_alone(
            numbers in prop::collection::vec(any::<[i8; 32]>(), 0..70),
            asked in any::<[i8; 32]>(),
        ) {
            let vector = |part: &[i8; 32]| {
                StaticVector { scale: 0.5, numbers: std::array::from_fn(|n| part[n * 7 % 32]) }
            };
            let (asked, kept) = (vector(&asked), numbers.iter().map(vector));
            let kept: Vec<_> = kept.collect();
            let scales = vec![0.5; kept.len()];
            let rows: Vec<_> = kept.iter().map(|vector| vector.numbers).collect();
            let mut found = vec![0.0; kept.len()];
            StaticQueryVector::new(&asked).similarities(&scales, &rows, &mut found);
            let expected: Vec<_> = kept.iter().map(|kept| asked.similarity(kept)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
