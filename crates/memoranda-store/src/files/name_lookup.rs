//! Names that a person, or another system, cannot tell apart: the same letters in another Unicode
//! form, or in another case. Where one of them is on disk, the others mean it.

use memoranda_core::id::ProjectName;
use memoranda_core::path::{NotePath, name_key};
use rusqlite::params;

use crate::StoreInner;
use crate::error::{Result, StoreError};
use crate::files::ProjectRoot;
use crate::index;
use crate::index::extract::link_key;
use crate::vault::Project;

/// Source in which a name is looked up that does not exist exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LookupSource {
    /// In the index, however large the folder is.
    Index,
    /// In the folder too: what is hidden, ignored or was put there just now is in no index.
    Disk,
}

/// Maximum number of files below a folder that are read to learn the exact name of the folder.
const MAX_FILES_BELOW: i64 = 64;

impl StoreInner {
    /// Returns the project of a name, or the only project with the same link key.
    pub(crate) fn project_meant(&self, name: &str) -> Result<Project> {
        let missing = match self.vault.project(name) {
            Err(e @ StoreError::NoProject { .. }) => e,
            found => return found,
        };
        let key = link_key(name);
        let mut alike = self.vault.projects()?;
        alike.retain(|project| link_key(project.name.as_str()) == key);
        match (alike.pop(), alike.is_empty()) {
            (Some(project), true) => Ok(project),
            _ => Err(missing),
        }
    }

    /// Returns the path as it is spelled on disk. For each name: the exact one, else one that looks
    /// the same, else one in another case. From the first missing name on, the path stays as given.
    pub(crate) fn spelled(
        &self,
        project: &ProjectName,
        path: &NotePath,
        look: LookupSource,
    ) -> Result<NotePath> {
        let root = match self.vault.project(project.as_str()) {
            Ok(project) => self.root(&project)?,
            Err(StoreError::NoProject { .. }) => return Ok(path.clone()),
            Err(e) => return Err(e),
        };
        if root.has(path) {
            return Ok(path.clone());
        }
        let mut names = path.as_str().split('/');
        let mut spelled: Option<NotePath> = None;
        while let Some(name) = names.next() {
            let Some(here) = joined(spelled.as_ref(), name) else { break };
            let known = if root.has(&here) {
                Some(here.clone())
            } else {
                let key = format!("{}/", here.key());
                let known = self.ask_beside(
                    |pending| pending.has_path_key(project, &here) || pending.is_below_key(&key),
                    |db| like(db, &root, project, &here),
                )?;
                match (known, look) {
                    (None, LookupSource::Disk) => listed_like(&root, &here),
                    (known, _) => known,
                }
            };
            let Some(known) = known else {
                return Ok(names.fold(here, |place, name| {
                    joined(Some(&place), name).unwrap_or_else(|| path.clone())
                }));
            };
            spelled = Some(known);
        }
        Ok(spelled.unwrap_or_else(|| path.clone()))
    }
}

fn joined(folder: Option<&NotePath>, name: &str) -> Option<NotePath> {
    let joined = folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
    NotePath::parse(&joined).ok()
}

/// A file or folder on disk whose name some system could not tell from this one.
fn like(
    db: &rusqlite::Connection,
    root: &ProjectRoot,
    project: &ProjectName,
    path: &NotePath,
) -> Result<Option<NotePath>> {
    let project = index::project_id_of(db, project)?;
    let key = path.key();
    let mut query = db.prepare_cached(
        // Two questions: asked as one, SQLite would walk the whole project.
        "SELECT path FROM files WHERE project = ?1 AND path_key = ?2 \
         UNION ALL SELECT path FROM files WHERE project = ?1 \
         AND path_key > ?2 || '/' AND path_key < ?2 || '0' LIMIT ?3",
    )?;
    let rows = query
        .query_map(params![project, key, MAX_FILES_BELOW], |row| row.get::<_, String>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let depth = path.as_str().split('/').count();
    let mut spelled: Vec<NotePath> = rows
        .iter()
        .map(|row| row.split('/').take(depth).collect::<Vec<_>>().join("/"))
        .filter_map(|place| NotePath::parse(&place).ok())
        .filter(|place| root.has(place))
        .collect();
    let composed = path.composed();
    spelled.sort_by_key(|place| (place.composed() != composed, place.as_str().to_owned()));
    Ok(spelled.into_iter().next())
}

/// A file or folder whose name some system could not tell from this one, by what its folder lists.
fn listed_like(root: &ProjectRoot, path: &NotePath) -> Option<NotePath> {
    let key = name_key(path.file_name());
    let folder = path.parent().and_then(|folder| NotePath::parse(folder).ok());
    let alike = root.names_beside(path).into_iter().filter(|name| name_key(name) == key);
    let alike = alike.filter_map(|name| joined(folder.as_ref(), &name));
    let composed = path.composed();
    alike.min_by_key(|place| (place.composed() != composed, place.as_str().to_owned()))
}
