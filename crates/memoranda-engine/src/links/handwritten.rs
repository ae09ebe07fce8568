//! Links that people typed by hand, resolved by the index.

use std::collections::HashMap;

use memoranda_store::{FileSummary, Snapshot};

use crate::Memory;
use crate::error::Result;
use crate::links::resolve::NoteLocation;

impl Memory {
    /// Returns the titles of the notes that the links in a note resolve to, by the names as typed.
    /// Only notes of the same folder count.
    pub fn typed_links(&self, place: &NoteLocation) -> Result<HashMap<String, String>> {
        let snapshot = self.snapshot()?;
        match snapshot.file(&place.project, &place.path)? {
            Some(from) => typed_links(&snapshot, &from),
            None => Ok(HashMap::new()),
        }
    }
}

/// Returns the titles of the notes that the links in a note resolve to, by the names as typed. Only
/// notes of the same folder count; links to an exact name are left out.
pub(crate) fn typed_links(
    snapshot: &Snapshot<'_>,
    from: &FileSummary,
) -> Result<HashMap<String, String>> {
    let mut titles = HashMap::new();
    for row in snapshot.relations_from(from.id)? {
        let target = row.target_file.filter(|_| row.exact_name.is_none());
        let Some(target) = target.map(|id| snapshot.file_by_id(id)).transpose()?.flatten() else {
            continue;
        };
        let is_near = target.project == from.project && target.path.parent() == from.path.parent();
        if is_near && target.path.is_markdown() {
            titles.insert(row.target, target.title);
        }
    }
    Ok(titles)
}
