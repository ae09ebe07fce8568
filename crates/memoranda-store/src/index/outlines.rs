//! Outlines of many notes in one query: the categories of their facts and the types of their
//! relations.

use rusqlite::Row;

use crate::commit::unindexed::UnindexedFile;
use crate::error::Result;
use crate::snapshot::Snapshot;

/// Categories and relation types of one note, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutlineRow {
    /// Categories of the current facts.
    pub categories: Vec<Option<String>>,
    /// Types of the relations.
    pub relation_types: Vec<String>,
}

impl Snapshot<'_> {
    /// Returns the outlines of files by their numbers.
    pub fn outlines(&self, files: &[i64]) -> Result<Vec<OutlineRow>> {
        let concerns = |pending: &UnindexedFile| files.iter().any(|id| pending.is_row(*id));
        self.query_about(concerns, |db| {
            let mut facts = db.prepare_cached(
                "SELECT category FROM observations WHERE file = ? AND struck = 0 \
                 AND superseded_by IS NULL ORDER BY n",
            )?;
            let mut relations =
                db.prepare_cached("SELECT relation_type FROM relations WHERE file = ? ORDER BY n")?;
            let mut outlines = Vec::with_capacity(files.len());
            for file in files {
                let categories = facts.query_map([file], |row: &Row<'_>| row.get(0))?;
                let types = relations.query_map([file], |row: &Row<'_>| row.get(0))?;
                outlines.push(OutlineRow {
                    categories: categories.collect::<rusqlite::Result<_>>()?,
                    relation_types: types.collect::<rusqlite::Result<_>>()?,
                });
            }
            Ok(outlines)
        })
    }
}
