//! Passage lengths from FTS5's docsize table, for BM25 length normalisation.
//!
//! SQLite documents the format of the table. A lookup takes longer than scoring a passage, so the
//! lengths are also stored with the vectors.

use rusqlite::{CachedStatement, Connection, OptionalExtension as _};

use super::vectors::VectorTableGuard;
use super::write::first_passage;
use crate::error::Result;

/// Row of FTS5's data table that contains the number of passages and words.
#[cfg(test)]
const TOTALS: i64 = 1;

/// Passage lengths, from memory if available.
pub(super) struct DocLengths<'l> {
    in_memory: Option<VectorTableGuard<'l>>,
    select: CachedStatement<'l>,
}

impl<'l> DocLengths<'l> {
    pub(super) fn new(db: &'l Connection, in_memory: Option<VectorTableGuard<'l>>) -> Result<Self> {
        let select = db.prepare_cached("SELECT sz FROM words_docsize WHERE id = ?")?;
        Ok(Self { in_memory, select })
    }

    /// Returns the number of words of a passage; `None` if the passage does not exist.
    pub(super) fn of(&mut self, passage: i64) -> Result<Option<u32>> {
        if let Some(length) = self.in_memory.as_ref().and_then(|kept| kept.length(passage)) {
            return Ok(Some(length));
        }
        let length = self.select.query_row([passage], |row| {
            Ok(words_in(row.get_ref(0)?.as_blob().unwrap_or_default()))
        });
        Ok(length.optional()?)
    }
}

/// Returns the encoded lengths of a file's passages, in order.
pub(super) fn of_file(db: &Connection, file: i64) -> Result<Vec<u8>> {
    let mut select =
        db.prepare_cached("SELECT sz FROM words_docsize WHERE id >= ? AND id < ? ORDER BY id")?;
    let mut rows = select.query([first_passage(file), first_passage(file + 1)])?;
    let mut lengths = Vec::new();
    while let Some(row) = rows.next()? {
        let length = words_in(row.get_ref(0)?.as_blob().unwrap_or_default());
        lengths.extend_from_slice(&length.to_le_bytes());
    }
    Ok(lengths)
}

/// Decodes lengths that [`of_file`] encoded.
pub(super) fn read(kept: &[u8]) -> impl Iterator<Item = u32> {
    kept.as_chunks().0.iter().map(|length| u32::from_le_bytes(*length))
}

/// Returns the number of passages in FTS5, and the number of words in all of them.
#[cfg(test)]
pub(super) fn totals(db: &Connection) -> Result<(u64, u64)> {
    let mut select = db.prepare_cached("SELECT block FROM words_data WHERE id = ?")?;
    let totals = select.query_row([TOTALS], |row| {
        let mut numbers = numbers(row.get_ref(0)?.as_blob().unwrap_or_default());
        let passages = numbers.next().unwrap_or_default();
        Ok((passages, numbers.fold(0, u64::saturating_add)))
    });
    Ok(totals.optional()?.unwrap_or_default())
}

/// Returns the number of words in all columns of a passage.
fn words_in(sizes: &[u8]) -> u32 {
    let words = numbers(sizes).fold(0, u64::saturating_add);
    u32::try_from(words).unwrap_or(u32::MAX)
}

/// Decodes SQLite's variable-length integers: seven bits per byte, most significant first, and
/// eight bits in the ninth byte.
pub(super) fn numbers(mut bytes: &[u8]) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let mut number = 0;
        for place in 1..=9 {
            let (&byte, rest) = bytes.split_first()?;
            bytes = rest;
            if place == 9 {
                number = number << 8 | u64::from(byte);
            } else {
                number = number << 7 | u64::from(byte & 0x7f);
            }
            if byte < 0x80 {
                break;
            }
        }
        Some(number)
    })
}

#[cfg(test)]
mod tests {
    use memoranda_core::tokenize::{index_text, tokenize};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
        fn text_is_cut_as_the_index_cuts_it(
            texts in prop::collection::vec("([ -~]|[a-c_]|é|e\u{301}|ß|й|и\u{306}|ё|ί|ї|أ|ا\u{654}|東|語|ア|か\u{3099}|한|\u{1112}\u{1161}\u{11ab}|\u{1100}|ก|ñ|²|½|€|’|—|\n){0,40}", 20),
        ) {
            let db = Connection::open_in_memory().unwrap();
            db.execute_batch(include_str!("schema.sql")).unwrap();
            let insert = "INSERT INTO words (rowid, title, heading, tags, body) VALUES (?, '', '', '', ?)";
            let mut lengths = DocLengths::new(&db, None).unwrap();
            for (id, text) in (1..).zip(&texts) {
                db.execute(insert, (id, index_text(text))).unwrap();
                let ours = tokenize(text).count() as u32;
                prop_assert_eq!(lengths.of(id).unwrap(), Some(ours), "{:?}", text);
            }
        }
    }

    #[test]
    fn numbers_are_read_as_sqlite_writes_them() {
        let check = |bytes: &[u8], expected: &[u64]| {
            assert_eq!(numbers(bytes).collect::<Vec<_>>(), expected, "{bytes:x?}");
        };
        check(&[], &[]);
        check(&[0, 1, 0x7f], &[0, 1, 127]);
        check(&[0x81, 0, 5], &[128, 5]);
        check(&[0xff, 0x7f], &[16_383]);
        check(&[0xff; 9], &[u64::MAX]);
        check(&[0xff; 8], &[]);
        check(&[3, 0x80], &[3]);
    }
}
