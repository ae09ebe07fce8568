//! Finds links that no longer lead to a removed or renamed note.

use std::collections::BTreeMap;

use memoranda_store::RelationRow;

use crate::Memory;
use crate::error::Result;
use crate::links::resolve::NoteLocation;
use crate::notes::move_notes::{LinkDirection, LinkText, OutdatedLink};

impl Memory {
    /// Returns those of earlier links to some notes that no longer lead to any of these notes, each
    /// with the note to which it leads now, if there is one.
    ///
    /// The links are read from the index after the change, because only the index applies all rules
    /// of resolution, also those between projects.
    pub fn lost_links(&self, earlier: &[RelationRow]) -> Result<Vec<OutdatedLink>> {
        let mut holders: BTreeMap<i64, Vec<&RelationRow>> = BTreeMap::new();
        for link in earlier {
            holders.entry(link.file).or_default().push(link);
        }
        let mut lost: BTreeMap<(NoteLocation, LinkText, Option<NoteLocation>), usize> =
            BTreeMap::new();
        for (holder, earlier) in holders {
            let Some(place) = self.place_of(holder)? else { continue };
            let current = self.snapshot()?.relations_from(holder)?;
            for link in earlier {
                let is_same = |row: &&RelationRow| {
                    row.target == link.target && row.exact_name == link.exact_name
                };
                // A missing link was edited at the same moment.
                let Some(now) = current.iter().find(is_same) else { continue };
                if now.target_file == link.target_file {
                    continue;
                }
                let means = now.target_file.map(|file| self.place_of(file)).transpose()?.flatten();
                let text = LinkText::Name(link.target.clone());
                *lost.entry((place.clone(), text, means)).or_default() += 1;
            }
        }
        let link = |((holder, link, means), count)| OutdatedLink {
            holder,
            link,
            direction: LinkDirection::Incoming,
            means,
            count,
        };
        Ok(lost.into_iter().map(link).collect())
    }

    fn place_of(&self, file: i64) -> Result<Option<NoteLocation>> {
        let found = self.snapshot()?.files_by_id(&[file])?.into_iter().next();
        Ok(found.map(|file| NoteLocation { project: file.project, path: file.path }))
    }
}
