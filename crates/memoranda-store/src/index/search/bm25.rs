//! BM25 of the first selection of passages: the formula and the constants of FTS5's `bm25()`.
//!
//! FTS5 itself counts over the whole vault, so the score is computed here with the counts of the
//! searched scope. Ranking compares the selected passages by other values, those of `RankOptions`.

use rusqlite::types::ValueRef;

/// Weight of each column of the table `words`, in the order of the schema.
const COLUMN_WEIGHTS: [(&str, f64); 4] =
    [("title", 4.0), ("heading", 2.0), ("tags", 3.0), ("body", 1.0)];

/// Term frequency saturation, as FTS5 defines it.
const K1: f64 = 1.2;
/// Length normalisation, as FTS5 defines it.
const B: f64 = 0.75;
/// Inverse document frequency of a term that at least half of all passages contain, as in FTS5.
const MIN_IDF: f64 = 1e-6;

/// Returns the SQL call of FTS5's `bm25()`, which is lower for better matches.
#[cfg(test)]
pub(super) fn bm25_sql() -> String {
    let weights = COLUMN_WEIGHTS.map(|(_, weight)| format!("{weight:?}"));
    format!("bm25(words, {})", weights.join(", "))
}

/// Returns the weight of a column by its name in the schema.
pub(super) fn column_weight(column: ValueRef<'_>) -> f64 {
    let ValueRef::Text(name) = column else { return 1.0 };
    let known = COLUMN_WEIGHTS.iter().find(|(column, _)| column.as_bytes() == name);
    known.map_or(1.0, |(_, weight)| *weight)
}

/// Returns the inverse document frequency of a term that `holders` of `passages` contain.
pub(super) fn inverse_document_frequency(passages: u64, holders: usize) -> f64 {
    let holders = holders as f64;
    let idf = ((passages as f64 - holders + 0.5) / (holders + 0.5)).ln();
    if idf <= 0.0 { MIN_IDF } else { idf }
}

/// Returns the score of a passage: its length in words, the average length of passages, and the
/// weighted frequency and inverse document frequency of each term in it.
pub(super) fn bm25_score(
    length: u32,
    average_length: f64,
    terms: impl Iterator<Item = (f64, f64)>,
) -> f64 {
    let norm = K1 * (1.0 - B + B * f64::from(length) / average_length);
    terms.fold(0.0, |score, (frequency, idf)| {
        score + idf * (frequency * (K1 + 1.0) / (frequency + norm))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_weighted_in_the_order_of_the_schema() {
        assert_eq!(bm25_sql(), "bm25(words, 4.0, 2.0, 3.0, 1.0)");
        let schema = include_str!("../schema.sql");
        let columns = COLUMN_WEIGHTS.map(|(column, _)| column).join(", ");
        assert!(schema.contains(&columns), "{columns}");
        assert_eq!(column_weight(ValueRef::Text(b"tags")), 3.0);
    }
}
