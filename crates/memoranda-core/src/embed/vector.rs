//! Vectors quantized to 8 bits: a quarter of the memory of floats at the same retrieval quality.

use multiversion::multiversion;

/// Number of dimensions of a built-in vector.
pub const STATIC_VECTOR_DIMS: usize = 256;

/// Number of bytes of a stored vector: the scale and the components.
pub const STATIC_VECTOR_BYTES: usize = 4 + STATIC_VECTOR_DIMS;

/// A vector of the built-in model.
#[derive(Clone, PartialEq, Debug)]
pub struct StaticVector {
    /// Value of one quantization step.
    pub scale: f32,
    /// Quantized components.
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

    /// Encodes the vector for storage.
    pub fn bytes(&self) -> [u8; STATIC_VECTOR_BYTES] {
        let mut bytes = [0; STATIC_VECTOR_BYTES];
        let (scale, numbers) = bytes.split_at_mut(4);
        scale.copy_from_slice(&self.scale.to_le_bytes());
        for (byte, &number) in numbers.iter_mut().zip(&self.numbers) {
            *byte = number as u8;
        }
        bytes
    }

    /// Decodes a stored vector; `None` if the length differs.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (scale, rest) = bytes.split_first_chunk::<4>()?;
        let rest: &[u8; STATIC_VECTOR_DIMS] = rest.try_into().ok()?;
        // A loop is compiled to a copy; `map` of a large array is not.
        let mut numbers = [0; STATIC_VECTOR_DIMS];
        for (number, &byte) in numbers.iter_mut().zip(rest) {
            *number = byte as i8;
        }
        Some(Self { scale: f32::from_le_bytes(*scale), numbers })
    }

    /// Computes the cosine similarity: 1 for equal texts, about 0 for unrelated ones.
    pub fn similarity(&self, other: &Self) -> f32 {
        dot(&self.numbers, &other.numbers) as f32 * (self.scale * other.scale)
    }

    /// Returns true if the text contained no known word.
    pub fn is_zero(&self) -> bool {
        self.scale == 0.0
    }
}

/// A query vector widened to 16 bits for fast comparison with many stored vectors.
pub struct StaticQueryVector {
    scale: f32,
    numbers: [i16; STATIC_VECTOR_DIMS],
}

impl StaticQueryVector {
    /// Widens a vector.
    pub fn new(vector: &StaticVector) -> Self {
        Self { scale: vector.scale, numbers: vector.numbers.map(i16::from) }
    }

    /// Computes the similarities to consecutive vectors, given as scales and components, into
    /// `near`.
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

/// Computes the dot products with each vector; a float represents the sums exactly. Products of
/// 16-bit integers added in pairs are a single instruction; wider registers are used where
/// available.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn products(
    asked: &[i16; STATIC_VECTOR_DIMS],
    kept: &[[i8; STATIC_VECTOR_DIMS]],
    sums: &mut [f32],
) {
    for (numbers, sum) in kept.iter().zip(sums) {
        // A plain loop, because a closure is not always compiled for the same target features.
        let mut products = 0;
        for at in 0..STATIC_VECTOR_DIMS {
            products += i32::from(numbers[at]) * i32::from(asked[at]);
        }
        *sum = products as f32;
    }
}

/// Computes a dot product in a form that compilers vectorize.
fn dot(a: &[i8; STATIC_VECTOR_DIMS], b: &[i8; STATIC_VECTOR_DIMS]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn batch_similarity_equals_single_similarity(
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
