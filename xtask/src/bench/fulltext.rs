//! The raw limits of full-text search: the same texts in a bare FTS5 table, one row per note.

use std::path::Path;

use rusqlite::{Connection, params};
use xtask::vault::SampleNote;

use crate::Result;

/// Number of hits of a search.
pub(super) const HITS: usize = 10;

/// A bare full-text table in WAL mode, with the synchronous setting that SQLite recommends for it.
pub(super) struct FullTextTable(Connection);

impl FullTextTable {
    pub(super) fn create(path: &Path) -> Result<Self> {
        let db = Connection::open(path)?;
        db.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = NORMAL;
             CREATE VIRTUAL TABLE notes USING fts5(title, body, tokenize = 'porter unicode61');",
        )?;
        Ok(Self(db))
    }

    /// Inserts notes in one transaction.
    pub(super) fn build(&mut self, notes: &[SampleNote]) -> Result<()> {
        let transaction = self.0.transaction()?;
        {
            let mut insert =
                transaction.prepare("INSERT INTO notes (title, body) VALUES (?1, ?2)")?;
            for note in notes {
                insert.execute(params![note.title, note.text])?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// Inserts one note and commits.
    pub(super) fn insert(&self, note: &SampleNote) -> Result<()> {
        let mut insert =
            self.0.prepare_cached("INSERT INTO notes (title, body) VALUES (?1, ?2)")?;
        insert.execute(params![note.title, note.text])?;
        Ok(())
    }

    /// Finds the best hits by BM25 and returns their number.
    pub(super) fn query(&self, expression: &str) -> Result<usize> {
        let mut select = self.0.prepare_cached(
            "SELECT rowid, rank FROM notes WHERE notes MATCH ?1 ORDER BY rank LIMIT ?2",
        )?;
        let mut rows = select.query(params![expression, HITS as i64])?;
        let mut hits = 0;
        while rows.next()?.is_some() {
            hits += 1;
        }
        Ok(hits)
    }
}

#[cfg(test)]
mod tests {
    use xtask::vault::{note, query_mix};

    use super::*;

    #[test]
    fn every_question_of_the_mix_has_an_answer() {
        let mut full_text = FullTextTable::create(Path::new(":memory:")).unwrap();
        full_text.build(&(0..300).map(note).collect::<Vec<_>>()).unwrap();
        full_text.insert(&note(300)).unwrap();
        for query in query_mix(300) {
            assert!(full_text.query(&query.expression()).unwrap() > 0, "{query:?}");
        }
    }
}
