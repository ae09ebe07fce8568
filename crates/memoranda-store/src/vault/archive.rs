//! A whole vault as one tar archive: every project as a folder, and the history.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Component, Path};

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::StoreInner;
use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::{self, FilePrivacy, OpenedFile, state_files};
use crate::vault::Project;

/// The folder in the archive that holds the history.
const STATE: &str = ".memoranda";

/// Result of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportReport {
    /// Projects.
    pub projects: usize,
    /// Files of those projects.
    pub files: usize,
    /// Bytes of those files.
    pub bytes: u64,
    /// Links, special files, names that no archive can carry everywhere, and what belongs to other
    /// programs, such as `.git`.
    pub left_out: usize,
}

/// Result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Files of projects.
    pub files: usize,
    /// Files that were left out because they belong to other programs, which would obey them: what
    /// lies in `.git`.
    pub left_out: Vec<String>,
    /// Hidden files that were taken along: some programs obey such files, too.
    pub hidden: Vec<String>,
    /// Files of the history.
    pub segments: usize,
}

impl StoreInner {
    /// Writes the archive while no other process changes the vault.
    pub(crate) fn export(&self, to: &mut dyn Write) -> Result<ExportReport> {
        let mut report = ExportReport::default();
        let doing = || "write the archive".to_owned();
        self.with_session(|session| {
            let mut archive = tar::Builder::new(to);
            for project in self.vault.projects()? {
                let root = self.root_held(session.db, &project)?;
                report.projects += 1;
                // A project without files is one all the same: its history may hold some.
                append_folder(&mut archive, project.name.as_str()).doing(doing)?;
                let (paths, left_out) = root.everything()?;
                report.left_out += left_out;
                for path in paths {
                    if files::check_owner(&path).is_err() {
                        report.left_out += 1;
                        continue;
                    }
                    let name = format!("{}/{path}", project.name);
                    let size = root.stat(&path).ok().flatten().map_or(0, |stat| stat.size);
                    if size > files::MAX_FILE_BYTES {
                        if let Some(opened) = root.open_file(&path)? {
                            report.bytes +=
                                append_large(&mut archive, &name, opened).doing(doing)?;
                            report.files += 1;
                        }
                        continue;
                    }
                    let found = match root.read(&path) {
                        Ok(Some(found)) => found,
                        Ok(None) => continue,
                        Err(StoreError::NotAFile { .. }) => {
                            report.left_out += 1;
                            continue;
                        }
                        Err(e) => return Err(e),
                    };
                    append(&mut archive, &name, &found.bytes, found.stat.mtime_ns).doing(doing)?;
                    report.files += 1;
                    report.bytes += found.bytes.len() as u64;
                }
            }
            let format = format!("{}\n", crate::FORMAT);
            append(&mut archive, &format!("{STATE}/format"), format.as_bytes(), 0).doing(doing)?;
            for device in self.log.devices()? {
                let folder = self.vault.state.join("log").join(&device);
                for segment in self.log.segments(&device)? {
                    let name = format!("{segment:08}.log");
                    let mut file = state_files::open_read(&folder.join(&name)).doing(doing)?;
                    let mut header = tar::Header::new_gnu();
                    header.set_size(file.metadata().doing(doing)?.len());
                    header.set_mode(0o600);
                    let place = format!("{STATE}/log/{device}/{name}");
                    archive.append_data(&mut header, place, &mut file).doing(doing)?;
                }
            }
            archive.into_inner().and_then(Write::flush).doing(doing)?;
            Ok(report)
        })
    }

    /// Reads an archive into an empty vault. Nothing in the archive can name another place.
    pub(crate) fn import(&self, from: &mut dyn Read) -> Result<ImportReport> {
        self.refuse_in_space("be filled from an archive yet")?;
        let refuse = |reason: &str| StoreError::Damaged {
            file: "the archive".into(),
            reason: reason.to_owned(),
        };
        for project in self.vault.projects()? {
            if !self.root(&project)?.everything()?.0.is_empty() {
                return Err(refuse(
                    "it can only be brought into an empty vault, and this one has notes; \
                     choose another folder with --home",
                ));
            }
        }
        let doing = || "read the archive".to_owned();
        let mut report = ImportReport::default();
        let mut archive = tar::Archive::new(from);
        let mut written = Vec::new();
        let staged = self.vault.state.join("import");
        for entry in archive.entries().doing(doing)? {
            let mut entry = entry.doing(doing)?;
            let path = entry.path().doing(doing)?.into_owned();
            let names =
                plain_names(&path).ok_or_else(|| refuse("it holds a path that leads out"))?;
            if entry.header().entry_type().is_dir()
                && let [name] = names.as_slice()
                && let Ok(name) = ProjectName::parse(name)
            {
                self.ensure_project(&name)?;
            }
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let mtime = entry.header().mtime().unwrap_or(0);
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).doing(doing)?;
            match names.as_slice() {
                [state, "format"] if *state == STATE => {
                    let known = String::from_utf8_lossy(&bytes).trim().parse::<u32>();
                    if !known.is_ok_and(|format| format <= crate::FORMAT) {
                        let found = String::from_utf8_lossy(&bytes).trim().to_owned();
                        return Err(StoreError::NewerFormat { found, known: crate::FORMAT });
                    }
                }
                [state, "log", device, name] if *state == STATE && name.ends_with(".log") => {
                    let folder = staged.join(device);
                    state_files::create_dir(&folder, FilePrivacy::Private)
                        .and_then(|()| state_files::replace(&folder.join(name), &bytes))
                        .doing(doing)?;
                    report.segments += 1;
                }
                [project, rest @ ..] if !rest.is_empty() && !project.starts_with('.') => {
                    let project = ProjectName::parse(project)
                        .map_err(|e| refuse(&e.to_string()))
                        .and_then(|name| self.ensure_project(&name))?;
                    let path =
                        NotePath::parse(&rest.join("/")).map_err(|e| refuse(&e.to_string()))?;
                    let place = format!("{}/{path}", project.name);
                    if files::check_owner(&path).is_err() {
                        report.left_out.push(place);
                        continue;
                    }
                    if path.is_hidden() {
                        report.hidden.push(place);
                    }
                    let root = self.root(&project)?;
                    let folder = root.make_folder(&path)?;
                    folder
                        .write_temporary(path.file_name(), &bytes, root.new_file_mode())
                        .and_then(|()| folder.set_modified(path.file_name(), mtime))
                        .doing(|| format!("write {path}"))?;
                    written.push((project, path));
                    report.files += 1;
                }
                _ => {
                    return Err(refuse(&format!(
                        "it holds {}, which is no part of a vault",
                        path.display()
                    )));
                }
            }
        }
        // The imported history belongs to other devices, so no recovery replays it here: the files
        // must be on disk before the import is acknowledged.
        self.force_imported(&written)?;
        self.take_staged_log(&staged)?;
        Ok(report)
    }

    /// Forces imported files and their folders to disk.
    fn force_imported(&self, written: &[(Project, NotePath)]) -> Result<()> {
        let doing = || "force the imported files to disk".to_owned();
        if state_files::sync_file_system(&self.vault.home).doing(doing)? {
            return Ok(());
        }
        let mut folders = BTreeSet::new();
        for (project, path) in written {
            let root = self.root(project)?;
            let Some(folder) = root.folder(path)? else { continue };
            folder.sync_file(path.file_name()).doing(doing)?;
            let mut above = Some(path.clone());
            while let Some(place) = above {
                if !folders.insert((project.name.clone(), place.parent().map(str::to_owned))) {
                    break;
                }
                if let Some(folder) = root.folder(&place)? {
                    folder.sync_names().doing(doing)?;
                }
                above = place.parent().and_then(|parent| NotePath::parse(parent).ok());
            }
        }
        state_files::sync_dir(&self.vault.home).doing(doing)
    }

    /// Lets the imported history begin, as that of the devices that wrote it.
    fn take_staged_log(&self, staged: &Path) -> Result<()> {
        let doing = || "take over the history".to_owned();
        self.with_session(|_| {
            for device in state_files::names(staged).doing(doing)? {
                // This device's own name may be among them; its history gets a name of its own.
                let name =
                    if device == self.vault.device { format!("{device}0") } else { device.clone() };
                let target = self.vault.state.join("log").join(name);
                state_files::create_dir(target.parent().unwrap_or(&target), FilePrivacy::Private)
                    .doing(doing)?;
                state_files::rename(&staged.join(&device), &target).doing(doing)?;
            }
            let log = self.vault.state.join("log");
            if state_files::is_dir(&log) {
                state_files::sync_dir(&log)
                    .and_then(|()| state_files::sync_dir(&self.vault.state))
                    .doing(doing)?;
            }
            state_files::remove_dir(staged).doing(doing)
        })
    }
}

fn append(
    archive: &mut tar::Builder<&mut dyn Write>,
    name: &str,
    bytes: &[u8],
    mtime_ns: i64,
) -> std::io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(u64::try_from(mtime_ns / 1_000_000_000).unwrap_or(0));
    archive.append_data(&mut header, name, bytes)
}

/// Adds a file without reading it into memory; returns its size. If it shrinks meanwhile, zeros take
/// the place of the missing bytes, because its size is already written.
fn append_large(
    archive: &mut tar::Builder<&mut dyn Write>,
    name: &str,
    opened: OpenedFile,
) -> std::io::Result<u64> {
    let OpenedFile { bytes, stat } = opened;
    let mut header = tar::Header::new_gnu();
    header.set_size(stat.size);
    header.set_mode(0o644);
    header.set_mtime(u64::try_from(stat.mtime_ns / 1_000_000_000).unwrap_or(0));
    let padded = bytes.chain(std::io::repeat(0)).take(stat.size);
    archive.append_data(&mut header, name, padded)?;
    Ok(stat.size)
}

fn append_folder(archive: &mut tar::Builder<&mut dyn Write>, name: &str) -> std::io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Directory);
    header.set_size(0);
    header.set_mode(0o755);
    archive.append_data(&mut header, format!("{name}/"), std::io::empty())
}

/// The names of a path that leads nowhere but down.
fn plain_names(path: &Path) -> Option<Vec<&str>> {
    path.components()
        .map(|component| match component {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect()
}
