//! Giving a project another folder: the files that it has in the vault come along, or nothing is
//! done. No file may vanish from a project without anybody having removed it.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::commit::write_session::WriteSession;
use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::{FileContent, FileRules, HardLinkPolicy, ProjectRoot, state_files, temp_names};
use crate::vault::{Project, ProjectPlace, not_a_folder};
use crate::{StoreInner, index};

impl StoreInner {
    /// Makes a folder the project of a name, if nothing that the project holds would be hidden.
    pub(crate) fn add_project(
        &self,
        name: &ProjectName,
        folder: &Path,
        hard_links: HardLinkPolicy,
    ) -> Result<Project> {
        self.refuse_in_space("have folders of the server's machine as projects")?;
        self.with_session(|session| {
            if let Some(held) = self.files_in_vault(session, name, folder)? {
                let there = held.open_other(folder, hard_links)?;
                let hidden = held.missing_in(&there)?.len();
                if hidden > 0 {
                    let at = held.project.path.clone();
                    return Err(StoreError::ProjectHidden { name: name.clone(), at, hidden });
                }
            }
            self.register(session, name, folder, hard_links)
        })
    }

    /// Makes a folder the project of a name, with all that the project holds in the vault. The
    /// files are in both places until the folder is the project, so that no crash loses one.
    pub(crate) fn move_project(
        &self,
        name: &ProjectName,
        folder: &Path,
        hard_links: HardLinkPolicy,
    ) -> Result<Project> {
        self.refuse_in_space("have folders of the server's machine as projects")?;
        self.with_session(|session| {
            let Some(held) = self.files_in_vault(session, name, folder)? else {
                return self.register(session, name, folder, hard_links);
            };
            let refuse = |reason: String| StoreError::ProjectRefused {
                doing: "move",
                name: name.clone(),
                reason,
            };
            if held.left_out > 0 {
                let at = held.project.path.display();
                let what = "links, special files and names that not every system can use";
                return Err(refuse(format!("{at} holds {what}; move these by hand first")));
            }
            let to = held.open_other(folder, hard_links)?;
            let missing = held.missing_in(&to)?;
            for path in &missing {
                if to.has(path) {
                    let at = folder.display();
                    return Err(refuse(format!("{at} has another {path}; rename one of them")));
                }
            }
            for path in &missing {
                if let Some(found) = held.root.read(path)? {
                    copy(&to, path, &found)?;
                }
            }
            let project = self.register(session, name, folder, hard_links)?;
            for path in &held.files {
                if let Some(folder) = held.root.folder(path)? {
                    folder.remove(path.file_name()).doing(|| format!("remove {path}"))?;
                }
            }
            held.prune();
            Ok(project)
        })
    }

    /// Registers a folder as the project of a name. The first registration accepts the folder with
    /// any content.
    fn register(
        &self,
        session: &WriteSession<'_>,
        name: &ProjectName,
        folder: &Path,
        hard_links: HardLinkPolicy,
    ) -> Result<Project> {
        // What is written there from now on is acknowledged, so the folder must not be lost. A folder
        // that does not exist is refused below.
        let folder = &super::absolute(folder)?;
        if state_files::identity(folder).is_some() {
            force_folder(folder).doing(|| format!("force {} to disk", folder.display()))?;
        }
        let before = self.vault.project(name.as_str());
        let project = self.vault.add_project(name, folder, hard_links)?;
        // The vault may be as new as its list of projects.
        force_folder(&self.vault.state).doing(|| "force the list of projects to disk".into())?;
        if !before.is_ok_and(|before| before.path == project.path) {
            let root =
                ProjectRoot::open(&project.path, project.rules).and_then(|root| root.identity());
            let identity = root.doing(|| format!("open {}", project.path.display()))?;
            self.note_identity(session.db, &project, identity)?;
            index::set_scanned(session.db, index::project_id(session.db, name)?, false)?;
        }
        Ok(project)
    }

    /// Returns the files of a project in the vault, if the project is there and the folder is
    /// another.
    fn files_in_vault(
        &self,
        session: &WriteSession<'_>,
        name: &ProjectName,
        folder: &Path,
    ) -> Result<Option<VaultFiles>> {
        let project = match self.vault.project(name.as_str()) {
            Ok(project) if project.place == ProjectPlace::Vault && project.name == *name => project,
            Ok(_) | Err(StoreError::NoProject { .. }) => return Ok(None),
            Err(e) => return Err(e),
        };
        let same = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if same(&project.path) == same(folder) {
            return Ok(None);
        }
        let root = self.root_held(session.db, &project)?;
        let (files, left_out) = root.everything()?;
        Ok(Some(VaultFiles { project, root, files, left_out }))
    }
}

/// A project in the vault and its files.
struct VaultFiles {
    project: Project,
    root: ProjectRoot,
    files: Vec<NotePath>,
    /// Number of entries that are not plain files with a portable name.
    left_out: usize,
}

impl VaultFiles {
    /// Removes the folders that nothing is left in, the deepest first, and the project's own.
    fn prune(&self) {
        let mut folders = BTreeSet::new();
        for path in &self.files {
            let mut above = path.parent().and_then(|folder| NotePath::parse(folder).ok());
            while let Some(folder) = above.filter(|folder| folders.insert(folder.clone())) {
                above = folder.parent().and_then(|folder| NotePath::parse(folder).ok());
            }
        }
        for folder in folders.iter().rev() {
            self.root.prune(folder);
        }
        state_files::remove_empty_dir(&self.project.path);
    }

    /// Opens the other folder. One that cannot be opened is an error: nothing is known about its
    /// files, so none of this project's may be removed or hidden.
    fn open_other(&self, folder: &Path, hard_links: HardLinkPolicy) -> Result<ProjectRoot> {
        let rules = FileRules { hard_links, ..self.project.rules };
        ProjectRoot::open(folder, rules).map_err(|source| match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                not_a_folder(&self.project.name, folder)
            }
            _ => StoreError::Io { doing: format!("open {}", folder.display()), source },
        })
    }

    /// Returns the files that another folder does not have, byte for byte.
    fn missing_in(&self, there: &ProjectRoot) -> Result<Vec<NotePath>> {
        let mut missing = Vec::new();
        for path in &self.files {
            let Some(found) = self.root.read(path)? else { continue };
            if there.read(path)?.is_none_or(|other| other.hash != found.hash) {
                missing.push(path.clone());
            }
        }
        Ok(missing)
    }
}

/// Forces the name of an absolute folder to disk, and those of the folders above it on the same drive:
/// all may have been made a moment ago.
fn force_folder(folder: &Path) -> std::io::Result<()> {
    let drive = |folder: &Path| state_files::identity(folder).map(|(device, _)| device);
    for above in folder.ancestors().skip(1).take_while(|above| drive(above) == drive(folder)) {
        match state_files::sync_dir(above) {
            // A folder that may only be passed through was not made by this person, and some file
            // systems cannot force names.
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
                ) =>
            {
                break;
            }
            synced => synced?,
        }
    }
    Ok(())
}

/// Puts a file into another folder, under the same name and with the same time.
fn copy(to: &ProjectRoot, path: &NotePath, found: &FileContent) -> Result<()> {
    let folder = to.make_folder(path)?;
    let temporary = temp_names::of_copy();
    let modified = Duration::from_nanos(u64::try_from(found.stat.mtime_ns).unwrap_or(0));
    folder
        .write_temporary(&temporary, &found.bytes, found.mode)
        .and_then(|()| folder.set_modified_at(&temporary, modified))
        .and_then(|()| folder.sync_file(&temporary))
        .and_then(|()| folder.place(&temporary, path.file_name()))
        .inspect_err(|_| folder.remove_quietly(&temporary))
        .doing(|| format!("write {path}"))?;
    to.force_names(path)
}
