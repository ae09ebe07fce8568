//! Tables of vectors: one row per piece, quantized with a scale per row.

use super::vector::STATIC_VECTOR_DIMS;

const HEADER: usize = 20;

/// Value of the flags of a table whose numbers take four bits each.
const HALF_BYTES: usize = 1;

/// A table borrowed from the bytes in the program.
pub(super) struct EmbeddingTable<'b> {
    scales: &'b [u8],
    rows: &'b [u8],
    /// Number of bytes of a row.
    row_bytes: usize,
}

impl<'b> EmbeddingTable<'b> {
    /// Reads the header. A table with another header becomes an empty table, which the tests
    /// detect.
    pub(super) fn read(bytes: &'b [u8]) -> Self {
        let number = |at: usize| {
            let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_le_bytes) as usize
        };
        let (rows, dims, flags) = (number(8), number(12), number(16));
        let fits = bytes.starts_with(b"SEMB") && number(4) == 1 && dims == STATIC_VECTOR_DIMS;
        let scales = bytes.get(HEADER..HEADER + 4 * rows).filter(|_| fits).unwrap_or_default();
        let rows = bytes.get(HEADER + 4 * rows..).filter(|_| fits).unwrap_or_default();
        let row_bytes = if flags == HALF_BYTES { dims / 2 } else { dims };
        Self { scales, rows, row_bytes }
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.scales.len() / 4
    }

    /// Adds a row to a sum.
    pub(super) fn add(&self, row: usize, sum: &mut [f32; STATIC_VECTOR_DIMS]) {
        let scale = self.scales.get(4 * row..4 * row + 4).and_then(|bytes| bytes.try_into().ok());
        let scale = scale.map_or(0.0, f32::from_le_bytes);
        let Some(values) = self.rows.get(row * self.row_bytes..(row + 1) * self.row_bytes) else {
            return;
        };
        if self.row_bytes == STATIC_VECTOR_DIMS {
            for (sum, &value) in sum.iter_mut().zip(values) {
                *sum += scale * f32::from(value as i8);
            }
            return;
        }
        for (pair, &both) in sum.chunks_exact_mut(2).zip(values) {
            // The first number is in the lower half. A shift to the right keeps the sign.
            let halves = [((both << 4) as i8) >> 4, (both as i8) >> 4];
            for (sum, half) in pair.iter_mut().zip(halves) {
                *sum += scale * f32::from(half);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_four_bits_keep_place_and_sign() {
        let mut bytes = b"SEMB".to_vec();
        for number in [1u32, 2, STATIC_VECTOR_DIMS as u32, HALF_BYTES as u32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend([0.5f32, 2.0].map(f32::to_le_bytes).concat());
        bytes.extend([0; STATIC_VECTOR_DIMS / 2]);
        bytes.extend([0x97; STATIC_VECTOR_DIMS / 2]);
        let table = EmbeddingTable::read(&bytes);
        assert_eq!(table.len(), 2);
        let mut sum = [1.0; STATIC_VECTOR_DIMS];
        table.add(0, &mut sum);
        table.add(1, &mut sum);
        table.add(2, &mut sum);
        assert!(sum.chunks(2).all(|pair| pair == [15.0, -13.0]), "{sum:?}");
    }
}
