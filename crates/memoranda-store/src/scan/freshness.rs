//! A glance at some folders: whether they are as the index knows them. It reads and holds nothing
//! that others wait for, so that a command whose answer lies in a few folders need not look at a
//! whole vault first.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::error::{Result, StoreError};
use crate::files::{ProjectRoot, WalkedFile, walk_subfolder};
use crate::index::{self, FileRow};
use crate::scan::{TimeProof, is_as_seen, is_still};
use crate::vault::Project;
use crate::vault::boot::MachineRun;
use crate::{StoreInner, threads};

/// Maximum number of files that are read because their times prove nothing. A scan of all files,
/// which records what it has read, costs less than to read more in every check.
const MAX_FILES_READ: usize = 64;

impl StoreInner {
    /// Returns true if the index is up to date for everything at or below these folders. Unreadable
    /// files count as changed.
    pub(crate) fn is_as_known(&self, name: &ProjectName, folders: &[NotePath]) -> Result<bool> {
        let open = |project: Project| {
            let run = MachineRun::current(&project.path);
            Ok((self.root(&project)?, run))
        };
        let root = match self.vault.project(name.as_str()).and_then(open) {
            Ok(opened) => Some(opened),
            // Whatever the index knows of it is gone.
            Err(StoreError::NoProject { .. }) => None,
            Err(StoreError::ProjectUnavailable { .. }) => return Ok(false),
            Err(e) => return Err(e),
        };
        let rows = || {
            self.ask(|db| {
                let project = index::project_id_of(db, name)?;
                let below = |folder| index::rows_at_or_below(db, project, folder);
                let rows = folders.iter().map(below).collect::<Result<Vec<_>>>()?;
                Ok((rows, index::scanned_in(db, project)?))
            })
        };
        let Some((root, run)) = root else { return Ok(rows()?.0.iter().all(Vec::is_empty)) };
        // The system is asked about the files while the index says what is known of them.
        let walks =
            || folders.iter().map(|folder| walk_subfolder(&root, folder)).collect::<Vec<_>>();
        let (found, rows) = std::thread::scope(|scope| {
            let looking = threads::start(scope, walks);
            let rows = rows();
            (threads::join_or_run(looking, walks), rows)
        });
        let (rows, scanned_in) = rows?;
        let proof = TimeProof::of(run, scanned_in);
        let mut to_read = MAX_FILES_READ;
        Ok(found.len() == rows.len()
            && found.into_iter().zip(rows).all(|(walk, rows)| {
                walk.unreadable.is_empty() && is_same(&root, walk.files, rows, proof, &mut to_read)
            }))
    }
}

/// Returns true if the found files equal the indexed ones.
fn is_same(
    root: &ProjectRoot,
    mut found: Vec<WalkedFile>,
    mut known: Vec<(NotePath, FileRow)>,
    proof: TimeProof,
    to_read: &mut usize,
) -> bool {
    found.sort_unstable_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
    known.sort_unstable_by(|(a, _), (b, _)| a.as_str().cmp(b.as_str()));
    found.len() == known.len()
        && found.iter().zip(&known).all(|(file, (path, row))| {
            file.path == *path
                && (is_as_seen(row, file.stat, proof)
                    || spend(to_read) && is_still(root, path, row, file.stat, proof))
        })
}

/// Takes one of what is left; false if nothing is.
fn spend(left: &mut usize) -> bool {
    let is_some = *left > 0;
    *left = left.saturating_sub(1);
    is_some
}
