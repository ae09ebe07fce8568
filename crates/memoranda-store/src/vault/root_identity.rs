//! Checks the identity of a project's folder. An unmounted drive leaves an empty folder, or other
//! content, in its place. Treating that as the project would hide its notes, write where nobody
//! looks again, and record all notes as deleted.
//!
//! Device and inode distinguish folders. A folder with another identity is still the project's if
//! it contains an indexed file, as in a restored copy.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::StoreInner;
use crate::error::{Result, StoreError, plain};
use crate::files::{FolderState, ProjectRoot, state_files, walk};
use crate::index::{self, history};
use crate::scan::watch;
use crate::vault::{Project, ProjectPlace};

/// Device and inode.
type RootIdentity = (u64, u64);

/// The folders that were found to be the projects', for this process.
#[derive(Default)]
pub(crate) struct RootIdentityCache(Mutex<HashMap<ProjectName, RootIdentity>>);

impl RootIdentityCache {
    fn has(&self, name: &ProjectName, identity: RootIdentity) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name) == Some(&identity)
    }

    fn note(&self, name: &ProjectName, identity: RootIdentity) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), identity);
    }
}

impl StoreInner {
    /// Opens a project's folder if it is the one that is known.
    pub(crate) fn root(&self, project: &Project) -> Result<ProjectRoot> {
        let (root, identity) = open(project).map_err(|e| unavailable(project, e))?;
        if !self.reached.has(&project.name, identity) {
            self.ask(|db| verify_identity(self, db, project, &root, identity))?;
            self.reached.note(&project.name, identity);
        }
        Ok(root)
    }

    /// Opens the folder while the vault lock is held, by the index of the session.
    pub(crate) fn root_held(&self, db: &Connection, project: &Project) -> Result<ProjectRoot> {
        let (root, identity) = open(project).map_err(|e| unavailable(project, e))?;
        if !self.reached.has(&project.name, identity) {
            verify_identity(self, db, project, &root, identity)?;
            self.reached.note(&project.name, identity);
        }
        Ok(root)
    }

    /// Opens the folder, and creates it in the vault if it does not exist: then its identity is
    /// recorded.
    pub(crate) fn root_made(&self, db: &Connection, project: &Project) -> Result<ProjectRoot> {
        let (root, identity, was) = open_or_make(project).map_err(|e| unavailable(project, e))?;
        if !self.reached.has(&project.name, identity) {
            match was {
                FolderState::Made => {
                    self.note_identity(db, project, identity)?;
                    index::set_scanned(db, index::project_id(db, &project.name)?, true)?;
                }
                FolderState::There => {
                    verify_identity(self, db, project, &root, identity)?;
                    // A file written there now must not count as missing in the former folder.
                    self.note_identity(db, project, identity)?;
                }
            }
            self.reached.note(&project.name, identity);
        }
        Ok(root)
    }

    /// Opens the folder to replay the log, before the index is up to date. The log knows later names of
    /// the project's files than the index: a folder that has one of them is the project's, too.
    pub(crate) fn root_replayed<'p>(
        &self,
        project: &Project,
        mut named: impl Iterator<Item = &'p NotePath>,
    ) -> Result<ProjectRoot> {
        let (root, identity, was) = open_or_make(project).map_err(|e| unavailable(project, e))?;
        if was == FolderState::There && !self.reached.has(&project.name, identity) {
            // An index that cannot be asked knows nothing against it.
            let judged = self.peek(|db| verify_identity(self, db, project, &root, identity));
            if let Err(e @ StoreError::ProjectUnavailable { .. }) = judged
                && !named.any(|path| matches!(root.stat(path), Ok(Some(_))))
            {
                return Err(e);
            }
        }
        Ok(root)
    }

    /// Remembers a folder as the one that a project has.
    pub(crate) fn note_identity(
        &self,
        db: &Connection,
        project: &Project,
        (device, inode): RootIdentity,
    ) -> Result<()> {
        let row = index::project_id(db, &project.name)?;
        let within = self.vault.is_within(project, device);
        db.prepare_cached(
            "UPDATE projects SET root_device = ?2, root_inode = ?3, root_within = ?4 \
             WHERE id = ?1 AND (root_device IS NOT ?2 OR root_inode IS NOT ?3 \
             OR root_within IS NOT ?4)",
        )?
        .execute(params![row, device as i64, inode as i64, within])?;
        Ok(())
    }

    /// Finds a project, or makes a folder for it in the vault.
    pub(crate) fn ensure_project(&self, name: &ProjectName) -> Result<Project> {
        match self.vault.project(name.as_str()) {
            Err(StoreError::NoProject { .. }) => self.with_session(|session| {
                let project = self.vault.project_or_new(name)?;
                self.root_made(session.db, &project)?;
                Ok(project)
            }),
            found => found,
        }
    }
}

fn open(project: &Project) -> io::Result<(ProjectRoot, RootIdentity)> {
    let root = match project.place {
        ProjectPlace::Vault => ProjectRoot::open_in_vault(&project.path, project.rules),
        ProjectPlace::Elsewhere => ProjectRoot::open(&project.path, project.rules),
    }?;
    let identity = root.identity()?;
    Ok((root, identity))
}

fn open_or_make(project: &Project) -> io::Result<(ProjectRoot, RootIdentity, FolderState)> {
    let mut was = FolderState::There;
    let opened = match open(project) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && project.place == ProjectPlace::Vault => {
            was = ProjectRoot::make_in_vault(&project.path, project.rules)?;
            open(project)
        }
        opened => opened,
    };
    opened.map(|(root, identity)| (root, identity, was))
}

fn unavailable(project: &Project, error: io::Error) -> StoreError {
    let name = project.name.clone();
    if is_out_of_resources(&error) {
        // This process could not look: the folder may well be there.
        return StoreError::Io { doing: format!("open project {name}"), source: error };
    }
    if project.place == ProjectPlace::Vault && state_files::is_link(&project.path) {
        StoreError::ProjectIsLink { name }
    } else {
        StoreError::ProjectUnavailable { name, reason: plain(&error) }
    }
}

/// Returns true for errors that say nothing about the folder: too many open files, no memory, a
/// failing disk.
#[cfg(unix)]
fn is_out_of_resources(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let code = error.raw_os_error();
    let all = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::IO];
    error.kind() == io::ErrorKind::StorageFull
        || all.iter().any(|errno| code == Some(errno.raw_os_error()))
}

#[cfg(not(unix))]
fn is_out_of_resources(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory
}

/// Refuses a folder that seems to stand where the project's would be.
fn verify_identity(
    inner: &StoreInner,
    db: &Connection,
    project: &Project,
    root: &ProjectRoot,
    now: RootIdentity,
) -> Result<()> {
    let found: Option<(i64, Option<i64>, Option<i64>)> = db
        .prepare_cached("SELECT id, root_device, root_inode FROM projects WHERE name = ?")?
        .query_row([project.name.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((row, device, inode)) = found else { return Ok(()) };
    let known = device.zip(inode).map(|(device, inode)| (device as u64, inode as u64));
    let is_the_one = match known {
        // In a restarted container, drives have other numbers; the vault itself exists.
        Some(known) if project.place == ProjectPlace::Vault => known.1 == now.1,
        Some(known) => known == now,
        // Never walked before: a folder of the vault is there when the vault is.
        None => project.place == ProjectPlace::Vault,
    };
    if is_the_one {
        return Ok(());
    }
    watch::tell_of_another_folder(inner);
    let is_same_device = known.is_some_and(|(device, _)| device == now.0);
    let after = inner.vault.last_removed(&project.name)?;
    if !knows_only_other(db, (row, after), root)?
        // On the same drive, and with other notes in it: somebody put these there.
        || is_same_device && !walk(root).files.is_empty()
    {
        return Ok(());
    }
    let place = project.path.display();
    let name = &project.name;
    let on_purpose = match project.place {
        ProjectPlace::Elsewhere => {
            format!("`memoranda project remove {name}`, then add it again")
        }
        ProjectPlace::Vault => "`memoranda reindex`".to_owned(),
    };
    Err(StoreError::ProjectUnavailable {
        name: name.clone(),
        reason: format!(
            "{place} is not the folder that was there before, and none of its notes is in it (is \
             its drive mounted? if it was replaced on purpose: {on_purpose})"
        ),
    })
}

/// Returns true if the index contains files of a project since a time, and none of them is in this
/// folder.
fn knows_only_other(
    db: &Connection,
    (project, after): (i64, Option<Timestamp>),
    root: &ProjectRoot,
) -> Result<bool> {
    let is_there = |path: &str| {
        NotePath::parse(path).is_ok_and(|path| matches!(root.stat(&path), Ok(Some(_))))
    };
    if !index::is_complete(db)? {
        let known = history::living(db, project, after)?;
        return Ok(!known.is_empty()
            && !known.iter().any(|(path, ..)| is_there(path))
            && !has_renamed(root, &known));
    }
    let mut query = db.prepare_cached("SELECT path FROM files WHERE project = ?")?;
    let mut rows = query.query([project])?;
    let mut is_any_known = false;
    while let Some(row) = rows.next()? {
        is_any_known = true;
        if is_there(row.get_ref(0)?.as_str().unwrap_or_default()) {
            return Ok(false);
        }
    }
    Ok(is_any_known)
}

/// Returns true if a folder has the text of a known note under another name: somebody renamed it. A few
/// files tell enough.
fn has_renamed(root: &ProjectRoot, known: &[(String, ContentHash, Option<String>)]) -> bool {
    const MAX_FILES_READ: usize = 64;
    let is_known = |hash| known.iter().any(|(_, version, _)| *version == hash);
    let files = walk(root).files;
    let mut found =
        files.iter().take(MAX_FILES_READ).filter_map(|file| root.read(&file.path).ok()?);
    found.any(|found| is_known(found.hash))
}
