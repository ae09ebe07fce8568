//! Facts and relations of all notes of a type, read from the index in the order of its pages.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use rusqlite::{Row, params};

use super::project_id_of;
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

/// Facts and relations of one note, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldRow {
    /// Category and text of the facts that are not struck out.
    pub facts: Vec<(Option<String>, String)>,
    /// Type and target of the relations.
    pub relations: Vec<(String, String)>,
}

/// A note of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedNote {
    /// Number in the index.
    pub id: i64,
    /// The file.
    pub path: NotePath,
    /// True if the frontmatter may have a key `schema`.
    pub may_name_schema: bool,
}

impl Snapshot<'_> {
    /// Returns the numbers of the notes of a project whose type has this key, in ascending order.
    pub fn ids_of_type(&self, project: &ProjectName, type_key: &str) -> Result<Vec<i64>> {
        self.query(|db| {
            let mut select = db.prepare_cached(
                "SELECT id FROM files INDEXED BY files_of_type \
                 WHERE project = ? AND note_type = ? AND kind IN (1, 2)",
            )?;
            let found = params![project_id_of(db, project)?, type_key];
            let ids = select.query_map(found, |row| row.get(0))?;
            let mut ids: Vec<i64> = ids.collect::<rusqlite::Result<_>>()?;
            ids.sort_unstable();
            Ok(ids)
        })
    }

    /// Returns the notes of a project whose type has this key, in the order of paths.
    pub fn notes_of_type(&self, project: &ProjectName, type_key: &str) -> Result<Vec<TypedNote>> {
        let ids = self.ids_of_type(project, type_key)?;
        let mut notes = self.query(|db| {
            let mut select = db.prepare_cached(
                "SELECT path, instr(metadata, '\"schema\"') FROM files WHERE id = ?",
            )?;
            let mut notes = Vec::with_capacity(ids.len());
            for &id in &ids {
                let mut rows = select.query([id])?;
                let Some(row) = rows.next()? else { continue };
                let Ok(path) = NotePath::parse(row.get_ref(0)?.as_str().unwrap_or_default()) else {
                    continue;
                };
                let may_name_schema = row.get::<_, i64>(1)? > 0;
                notes.push(TypedNote { id, path, may_name_schema });
            }
            Ok(notes)
        })?;
        notes.sort_unstable_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
        Ok(notes)
    }

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

    /// Returns facts and relations of files by their numbers.
    pub fn fields(&self, files: &[i64]) -> Result<Vec<FieldRow>> {
        let concerns = |pending: &UnindexedFile| files.iter().any(|id| pending.is_row(*id));
        self.query_about(concerns, |db| {
            let mut facts = db.prepare_cached(
                "SELECT category, text FROM observations WHERE file = ? AND struck = 0 ORDER BY n",
            )?;
            let mut relations = db.prepare_cached(
                "SELECT relation_type, target FROM relations WHERE file = ? ORDER BY n",
            )?;
            let mut fields = Vec::with_capacity(files.len());
            for file in files {
                let texts = facts.query_map([file], |row| Ok((row.get(0)?, row.get(1)?)))?;
                let targets = relations.query_map([file], |row| Ok((row.get(0)?, row.get(1)?)))?;
                fields.push(FieldRow {
                    facts: texts.collect::<rusqlite::Result<_>>()?,
                    relations: targets.collect::<rusqlite::Result<_>>()?,
                });
            }
            Ok(fields)
        })
    }
}
