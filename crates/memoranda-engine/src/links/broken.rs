//! Links to a note that is gone, or called otherwise: what they mean now.

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
    pub fn lost_links(&self, were: &[RelationRow]) -> Result<Vec<OutdatedLink>> {
        let mut holders: BTreeMap<i64, Vec<&RelationRow>> = BTreeMap::new();
        for link in were {
            holders.entry(link.file).or_default().push(link);
        }
        let mut lost: BTreeMap<(NoteLocation, LinkText, Option<NoteLocation>), usize> =
            BTreeMap::new();
        for (holder, were) in holders {
            let Some(place) = self.place_of(holder)? else { continue };
            let are = self.snapshot()?.relations_from(holder)?;
            for was in were {
                let is_same =
                    |is: &&RelationRow| is.target == was.target && is.exact_name == was.exact_name;
                // One that is gone was edited at the same moment.
                let Some(is) = are.iter().find(is_same) else { continue };
                if is.target_file == was.target_file {
                    continue;
                }
                let means = is.target_file.map(|file| self.place_of(file)).transpose()?.flatten();
                let link = LinkText::Name(was.target.clone());
                *lost.entry((place.clone(), link, means)).or_default() += 1;
            }
        }
        let link = |((holder, link, means), count)| OutdatedLink {
            holder,
            link,
            whose: LinkDirection::ToIt,
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
