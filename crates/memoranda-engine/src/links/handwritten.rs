//! Links that people typed by hand: what they mean is what the index says, not their letters.

use std::collections::HashMap;

use memoranda_store::{FileSummary, RelationRow};

use crate::Memory;
use crate::batch::NoteTransaction;
use crate::error::Result;
use crate::links::resolve::NoteLocation;

impl Memory {
    /// The titles of the notes that the links in a note mean, by the names as they were typed.
    /// Only notes of the same folder count, and names that are meant to the letter are left out.
    pub fn typed_links(&self, place: &NoteLocation) -> Result<HashMap<String, String>> {
        let store = self.store();
        let Some(from) = store.file(&place.project, &place.path)? else {
            return Ok(HashMap::new());
        };
        meant(&from, store.relations_from(from.id)?, |id| Ok(store.file_by_id(id)?))
    }
}

impl NoteTransaction<'_> {
    /// The same under the lock, by the note's number in the index.
    pub fn typed_links(&self, file: i64) -> Result<HashMap<String, String>> {
        let Some(from) = self.by_id(file)? else { return Ok(HashMap::new()) };
        meant(&from, self.relations_from(file)?, |id| self.by_id(id))
    }
}

fn meant(
    from: &FileSummary,
    rows: Vec<RelationRow>,
    by_id: impl Fn(i64) -> Result<Option<FileSummary>>,
) -> Result<HashMap<String, String>> {
    let mut titles = HashMap::new();
    for row in rows.into_iter().filter(|row| row.exact_name.is_none()) {
        let Some(target) = row.target_file.map(&by_id).transpose()?.flatten() else { continue };
        let is_near = target.project == from.project && target.path.parent() == from.path.parent();
        if is_near && target.path.is_markdown() {
            titles.insert(row.target, target.title);
        }
    }
    Ok(titles)
}
