//! The names of files whose last change is not in the index yet.
//!
//! They tell if a pending commit can change the result of a query: a query by name, path or row
//! number is concerned only by commits that change a file of this name, path or row.

use memoranda_core::id::{CommitId, ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, params};

use crate::commit::index_update::{FileUpdate, PendingUpdates};
use crate::error::Result;
use crate::index::extract::extract;
use crate::index::{self, FileNames};
use crate::log::LoggedRecord;

/// Maximum size in bytes of a file whose names are read before the commit is acknowledged.
const MAX_NAMED_BYTES: usize = 32 << 10;
/// Maximum number of files in a commit whose names are read before the commit is acknowledged.
const MAX_NAMED_FILES: usize = 8;

/// A file whose last change is not in the index yet.
pub(crate) struct UnindexedFile {
    pub(crate) project: ProjectName,
    pub(crate) path: NotePath,
    /// Earlier path of a moved file.
    from: Option<NotePath>,
    /// The commit that changed it.
    pub(crate) commit: CommitId,
    /// Content of the version in the history; `None` if the file was removed.
    pub(crate) version: Option<ContentHash>,
    /// Names of the new state; `None` if the file is gone, or ignored by the index.
    now: Option<CurrentNames>,
    /// Names in the index, of the file at this path or at its earlier one.
    indexed: Vec<FileNames>,
    path_keys: Vec<String>,
    /// True if links refer to the file as before, and to no other one.
    keeps_names: bool,
    /// True if links to any file may change: another file has one of the names that changed, a link by
    /// such a name can fall back to another file, or the links of the file itself are not resolved
    /// before the commit is acknowledged.
    shares_names: bool,
    /// True if the new state may contain a link that is no relation.
    may_mention: bool,
    /// Row numbers of the files that the relations of a file in the index refer to, there and now.
    targets: Vec<i64>,
    /// Keys of the relations of the file, in the index and now.
    relation_keys: Vec<String>,
}

struct CurrentNames {
    title: String,
    permalink: String,
    is_permalink_kept: bool,
    keys: Vec<String>,
}

impl CurrentNames {
    fn equal(&self, indexed: &FileNames) -> bool {
        self.title == indexed.title
            && self.permalink == indexed.permalink
            && self.is_permalink_kept == indexed.is_permalink_kept
            && self.keys == indexed.keys
    }
}

impl UnindexedFile {
    /// Returns true if the file is or was at this path, in any project.
    pub(crate) fn is_at(&self, path: &NotePath) -> bool {
        self.path == *path || self.from.as_ref() == Some(path)
    }

    /// Returns true if the file is or was at this path or in this folder, in any project.
    pub(crate) fn is_at_or_below(&self, place: &NotePath) -> bool {
        let is_there = |path: &NotePath| path == place || path.is_within(place.as_str());
        is_there(&self.path) || self.from.as_ref().is_some_and(is_there)
    }

    /// Returns true if the index will contain the file at this path.
    pub(crate) fn stays_at(&self, path: &NotePath) -> bool {
        self.path == *path && self.now.is_some()
    }

    /// Returns true if the file has this row number in the index.
    pub(crate) fn is_row(&self, id: i64) -> bool {
        self.indexed.iter().any(|names| names.id == id)
    }

    /// Returns true if the relations to the file in a row may have changed.
    pub(crate) fn changes_relations_to(&self, id: i64) -> bool {
        self.shares_names || self.is_row(id) || self.targets.contains(&id)
    }

    /// Returns true if a system could not distinguish the path from this one.
    pub(crate) fn has_path_key(&self, project: &ProjectName, path: &NotePath) -> bool {
        self.project == *project && self.path_keys.contains(&path.key())
    }

    /// Returns true if the path begins with a folder, given by its key with a slash behind it.
    pub(crate) fn is_below_key(&self, folder: &str) -> bool {
        self.path_keys.iter().any(|key| key.starts_with(folder))
    }

    /// Returns true if a link with this key may refer to another file than the index says.
    pub(crate) fn changes_key(&self, project: &ProjectName, key: &str) -> bool {
        let mut indexed = self.indexed.iter().flat_map(|names| &names.keys).chain(self.keys());
        self.project == *project && !self.keeps_names && indexed.any(|own| own == key)
    }

    /// Returns true if the relations with this key may be others than the index says, or refer to
    /// another file.
    pub(crate) fn changes_relations_by(&self, key: &str) -> bool {
        self.relation_keys.iter().any(|own| own == key) || self.renames_key(key)
    }

    /// Returns true if a link with this key, from any project, may refer to another file than the index
    /// says.
    pub(crate) fn renames_key(&self, key: &str) -> bool {
        let key = key.trim_start_matches('/');
        let rest = key.split_once('/').map(|(_, rest)| rest);
        let keys = [Some(key), rest];
        keys.into_iter().flatten().any(|key| self.changes_key(&self.project, key))
    }

    /// Returns true if the file is not any more what an earlier commit made of a path.
    pub(crate) fn replaces(&self, earlier: &Self) -> bool {
        self.project == earlier.project && self.is_at(&earlier.path)
    }

    /// Returns true if the file has or had this permalink.
    pub(crate) fn has_permalink(&self, permalink: &str) -> bool {
        self.permalinks().any(|own| own == permalink)
    }

    /// Returns true if a permalink of the file starts with this one: a number may be appended to it.
    pub(crate) fn has_permalink_like(&self, project: &ProjectName, permalink: &str) -> bool {
        self.project == *project && self.permalinks().any(|own| own.starts_with(permalink))
    }

    /// Returns true if the index may have a path or a name of the file that it does not have any more.
    pub(crate) fn loses_names(&self) -> bool {
        if self.from.is_some() {
            return true;
        }
        let mut indexed = self.indexed.iter().flat_map(|names| &names.keys);
        indexed.any(|key| !self.keys().contains(key))
    }

    /// Returns true if a file of a project may contain a link outside of relations that the index does
    /// not know. The index may know such a link that is gone.
    pub(crate) fn may_mention(&self, project: &ProjectName) -> bool {
        self.may_mention && self.project == *project
    }

    /// Returns the keys of all names by which a link refers to the new state.
    pub(crate) fn keys(&self) -> &[String] {
        self.now.as_ref().map_or(&[], |now| now.keys.as_slice())
    }

    /// Returns title and permalink of the new state; `None` if the index will not contain the file.
    pub(crate) fn title_and_permalink(&self) -> Option<(&str, &str)> {
        self.now.as_ref().map(|now| (now.title.as_str(), now.permalink.as_str()))
    }

    fn permalinks(&self) -> impl Iterator<Item = &str> {
        let indexed = self.indexed.iter().map(|names| names.permalink.as_str());
        self.now.iter().map(|now| now.permalink.as_str()).chain(indexed)
    }
}

/// Reads the names of changed files. `None` for many files, for large ones, for a commit that was
/// recorded together with edits by hand, and for one without files, such as a purge: it has no names
/// by which a query could miss it.
pub(super) fn read_names(
    db: &Connection,
    earlier: &PendingUpdates,
    placed: &[LoggedRecord],
    files: &mut [FileUpdate],
) -> Result<Option<Vec<UnindexedFile>>> {
    let [LoggedRecord { record, .. }] = placed else { return Ok(None) };
    let changes = &record.commit.files;
    if files.is_empty() || files.len() > MAX_NAMED_FILES || changes.len() != files.len() {
        return Ok(None);
    }
    let mut unindexed = Vec::with_capacity(files.len());
    let mut is_shared = db.prepare_cached(
        "SELECT 1 FROM link_keys WHERE key = ? AND project = ? AND file <> ? LIMIT 1",
    )?;
    for (n, (file, change)) in files.iter_mut().zip(changes).enumerate() {
        let now = match &mut file.now {
            Some(now) if now.content.len() > MAX_NAMED_BYTES => return Ok(None),
            Some(now) => {
                let extracted = extract(&file.path, &now.content);
                let given = record.notes.get(n).and_then(|note| note.permalink.clone());
                let permalink = given.unwrap_or_else(|| extracted.address.permalink.clone());
                let title = extracted.title.clone();
                let is_permalink_kept =
                    index::links::is_kept(&file.path, &permalink, &extracted.metadata);
                let keys = extracted.keys(change.project.as_str(), &file.path, &permalink);
                now.extracted = Some(extracted);
                Some(CurrentNames { title, permalink, is_permalink_kept, keys })
            }
            None => None,
        };
        let paths = || [&file.path].into_iter().chain(&file.from);
        let mut indexed = Vec::new();
        for path in paths() {
            indexed.extend(index::file_names(db, file.project_row, path)?);
        }
        let keeps_names = match (&now, indexed.as_slice()) {
            (Some(now), [indexed]) => file.from.is_none() && now.equal(indexed),
            _ => false,
        };
        let mut relation_keys = Vec::new();
        for names in &indexed {
            relation_keys.extend(index::links::keys_of(db, names.id)?);
        }
        let extracted = file.now.as_ref().and_then(|now| now.extracted.as_ref());
        for relation in extracted.iter().flat_map(|extracted| &extracted.relations) {
            let keys = index::links::relation_keys(db, file.project_row, &file.path, relation)?;
            relation_keys.push(keys.key);
            relation_keys.extend(keys.whole_key);
        }
        let (mut targets, mut shares_names) = (Vec::new(), indexed.is_empty());
        if !shares_names {
            let keys_now = now.iter().flat_map(|now| &now.keys);
            let keys = indexed.iter().flat_map(|names| &names.keys).chain(keys_now);
            let row = indexed.first().map_or(0, |names| names.id);
            // A name can be the same and another file be nearer to it now: as a title, not as a path.
            for key in keys.filter(|_| !keeps_names) {
                shares_names |= is_shared.exists(params![key, file.project_row, row])?
                    || index::links::can_fall_back(db, &change.project, key)?;
            }
            for names in &indexed {
                targets.extend(index::links::targets_of(db, names.id)?);
            }
            let state = file.now.as_ref().and_then(|now| now.extracted.as_ref());
            for relation in state.iter().flat_map(|extracted| &extracted.relations) {
                let link = index::resolve_relation(db, file.project_row, &file.path, relation)?;
                targets.extend(link.target);
                // The index does not resolve a link by a name that a pending commit changed.
                let mut keys = [Some(&link.key), link.whole_key.as_ref()].into_iter().flatten();
                shares_names |= keys.any(|key| earlier.files().any(|file| file.renames_key(key)));
            }
        }
        unindexed.push(UnindexedFile {
            project: change.project.clone(),
            path: file.path.clone(),
            from: file.from.clone(),
            commit: record.commit.id,
            version: change.after,
            now,
            indexed,
            path_keys: paths().map(NotePath::key).collect(),
            keeps_names,
            shares_names,
            may_mention: file.now.as_ref().is_some_and(|now| {
                index::may_mention(&file.path, now.extracted.as_ref(), &now.content)
            }),
            targets,
            relation_keys,
        });
    }
    Ok(Some(unindexed))
}
