//! The table of vectors: one row per word piece, quantized to 8 bits with a scale per row.

use super::vector::STATIC_VECTOR_DIMS;

const HEADER: usize = 20;

/// A table borrowed from the bytes in the program.
pub(super) struct EmbeddingTable<'b> {
    scales: &'b [u8],
    rows: &'b [u8],
}

impl<'b> EmbeddingTable<'b> {
    /// Reads the header. A table with another header becomes an empty table, which the tests
    /// detect.
    pub(super) fn read(bytes: &'b [u8]) -> Self {
        let number = |at: usize| {
            let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_le_bytes) as usize
        };
        let (rows, dims) = (number(8), number(12));
        let fits = bytes.starts_with(b"SEMB") && number(4) == 1 && dims == STATIC_VECTOR_DIMS;
        let scales = bytes.get(HEADER..HEADER + 4 * rows).filter(|_| fits).unwrap_or_default();
        let rows = bytes.get(HEADER + 4 * rows..).filter(|_| fits).unwrap_or_default();
        Self { scales, rows }
    }

    /// Adds a row to a sum.
    pub(super) fn add(&self, row: usize, sum: &mut [f32; STATIC_VECTOR_DIMS]) {
        let scale = self.scales.get(4 * row..4 * row + 4).and_then(|bytes| bytes.try_into().ok());
        let scale = scale.map_or(0.0, f32::from_le_bytes);
        let Some(values) = self.rows.get(row * STATIC_VECTOR_DIMS..(row + 1) * STATIC_VECTOR_DIMS)
        else {
            return;
        };
        for (sum, &value) in sum.iter_mut().zip(values) {
            *sum += scale * f32::from(value as i8);
        }
    }
}
