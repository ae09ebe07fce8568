//! Locations of the vault's folder, its projects, and Memoranda's own state within.

pub(crate) mod access_times;
pub(crate) mod archive;
mod away;
pub(crate) mod boot;
mod diagnostics;
pub(crate) mod drive;
pub(crate) mod lock;
mod open;
mod platform;
pub(crate) mod processes;
mod project_move;
mod project_removal;
mod read_counts;
pub(crate) mod root_identity;
mod upgrade;
pub(crate) mod vacuum;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use memoranda_core::abbreviate::shortened_list;
use memoranda_core::id::ProjectName;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::{FilePrivacy, FileRules, HardLinkPolicy, ProjectRoot, state_files};
use crate::vault::boot::machine_id;
use crate::vault::drive::Drive;

/// The newest vault format that this program reads and writes.
pub const FORMAT: u32 = 2;

/// Number of names that an error lists.
const MAX_LISTED: usize = 5;

/// Options of an open vault. The binary sets them; the layers below never read the environment.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The person's folder.
    pub home: PathBuf,
    /// Folder of derived data; it can be deleted at any time.
    pub cache: PathBuf,
    /// Folder in which this device keeps its own name.
    pub state: PathBuf,
    /// Interval at which files are forced to disk in the background.
    pub file_sync: Duration,
    /// Maximum time to wait for another process's write.
    pub lock_patience: Duration,
}

impl OpenOptions {
    /// Returns the options of a vault that lies in one folder with its index and its state, as in a
    /// test or a trial.
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            home: folder.join("home"),
            cache: folder.join("cache"),
            state: folder.join("state"),
            file_sync: Duration::from_secs(60),
            lock_patience: Duration::from_secs(30),
        }
    }
}

/// A named folder of notes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Project {
    /// Name of the project.
    pub name: ProjectName,
    /// Folder of the project.
    pub path: PathBuf,
    /// Location of the folder: in the vault, or added from elsewhere.
    pub place: ProjectPlace,
    /// Treatment of the files.
    pub rules: FileRules,
}

/// Origin of a project's folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProjectPlace {
    /// A folder in the vault.
    Vault,
    /// A folder elsewhere that the person added.
    Elsewhere,
}

/// The vault's folder and what is known of it before anything is read.
pub(crate) struct Vault {
    pub(crate) home: PathBuf,
    /// Device and inode of that folder.
    identity: Option<(u64, u64)>,
    pub(crate) state: PathBuf,
    pub(crate) device: String,
    /// The drive of the vault.
    drive: Drive,
    /// True until a vault of an older format is upgraded.
    is_outdated: AtomicBool,
}

impl Vault {
    /// Opens or makes the vault; refuses one of a newer format.
    pub(crate) fn open(options: &OpenOptions) -> Result<Self> {
        let home = absolute(&options.home)?;
        let state = home.join(".memoranda");
        away::refuse_if_away(&home, &options.state)?;
        state_files::create_dir(&home, FilePrivacy::Shared)
            .doing(|| format!("make the vault's folder {}", home.display()))?;
        state_files::create_dir(&state, FilePrivacy::Private)
            .doing(|| format!("make the folder {}", state.display()))?;
        let is_outdated = AtomicBool::new(check_format(&state.join("format"))? < FORMAT);
        let device = device_name(&options.state)?;
        away::note_drive(&home, &options.state);
        let (identity, drive) = (state_files::identity(&home), Drive::of(&home));
        Ok(Self { home, identity, state, device, drive, is_outdated })
    }

    /// Fails if the vault's folder is not there now, perhaps because its drive is not mounted: an
    /// absent log is not an empty one.
    pub(crate) fn check_reachable(&self) -> Result<()> {
        if state_files::is_dir(&self.state) {
            return Ok(());
        }
        Err(StoreError::VaultUnreachable { home: self.home.clone() })
    }

    /// Returns true if the vault has an older format, as far as this process knows.
    pub(crate) fn is_outdated(&self) -> bool {
        self.is_outdated.load(Ordering::Relaxed)
    }

    /// Records that the vault has the newest format.
    fn note_upgraded(&self) {
        self.is_outdated.store(false, Ordering::Relaxed);
    }

    /// Returns true if the vault's folder is still the opened one. An unmounted drive leaves an
    /// empty folder, or nothing.
    pub(crate) fn is_there(&self) -> bool {
        self.identity.is_some()
            && state_files::identity(&self.home) == self.identity
            && state_files::is_dir(&self.state.join("log").join(&self.device))
    }

    /// Returns true if a folder lies in the vault, and on the vault's drive.
    pub(crate) fn is_within(&self, project: &Project, device: u64) -> bool {
        let own = self.identity.map(|(device, _)| device);
        project.place == ProjectPlace::Vault && own == Some(device)
    }

    /// Returns true if the files of a project are forced to disk before a write is acknowledged: they
    /// lie on another drive than the log, which can be pulled by itself, or all lies on a drive
    /// that can be pulled, perhaps to be attached to another machine. A folder that cannot be looked
    /// at may have been pulled just now.
    pub(crate) fn forces_files(&self, root: &ProjectRoot) -> bool {
        let is_own_drive = match (self.identity, root.identity()) {
            (Some((own, _)), Ok((device, _))) => own == device,
            (None, Ok(_)) => true,
            (_, Err(_)) => false,
        };
        self.drive.is_removable || !is_own_drive
    }

    /// All projects, sorted by name. A folder that the person added comes before one of the
    /// same name in the vault.
    pub(crate) fn projects(&self) -> Result<Vec<Project>> {
        let mut projects: Vec<Project> =
            self.registered()?.into_iter().filter_map(|entry| self.added(&entry)).collect();
        for name in state_files::names(&self.home).doing(|| "list the vault".into())? {
            let Ok(name) = ProjectName::parse(&name) else { continue };
            let path = self.home.join(name.as_str());
            if state_files::is_dir(&path) && projects.iter().all(|project| project.name != name) {
                projects.push(self.in_vault(name));
            }
        }
        projects.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(projects)
    }

    /// The names of links in the vault that lead to folders: no projects, for none is followed.
    pub(crate) fn links(&self) -> Result<Vec<ProjectName>> {
        let projects = self.projects()?;
        let names = state_files::names(&self.home).doing(|| "list the vault".into())?;
        let is_link = |name: &ProjectName| {
            let path = self.home.join(name.as_str());
            state_files::is_link(&path)
                && path.is_dir()
                && projects.iter().all(|project| project.name != *name)
        };
        Ok(names.iter().filter_map(|name| ProjectName::parse(name).ok()).filter(is_link).collect())
    }

    /// Finds a project by its name, or by a name that differs only in case.
    pub(crate) fn project(&self, name: &str) -> Result<Project> {
        let entries = self.registered()?;
        if let Some(entry) = entries.iter().find(|entry| entry.name == name)
            && let Some(project) = self.added(entry)
        {
            return Ok(project);
        }
        if let Ok(name) = ProjectName::parse(name)
            && state_files::is_dir(&self.home.join(name.as_str()))
        {
            return Ok(self.in_vault(name));
        }
        let projects = self.projects()?;
        let wanted = name.to_lowercase();
        let mut alike = projects.iter().filter(|p| p.name.as_str().to_lowercase() == wanted);
        match (alike.next(), alike.next()) {
            (Some(project), None) => Ok(project.clone()),
            _ => Err(StoreError::NoProject {
                name: name.to_owned(),
                known: projects.into_iter().map(|project| project.name).collect(),
                was_at: self.removed(name)?.pop().map(|removed| removed.path),
            }),
        }
    }

    /// Finds a project; one that is not there is of the vault, and its folder still to be made.
    pub(crate) fn project_or_new(&self, name: &ProjectName) -> Result<Project> {
        match self.project(name.as_str()) {
            Err(StoreError::NoProject { .. }) => Ok(self.in_vault(name.clone())),
            found => found,
        }
    }

    /// Registers a folder under a name.
    pub(crate) fn add_project(
        &self,
        name: &ProjectName,
        path: &Path,
        hard_links: HardLinkPolicy,
    ) -> Result<Project> {
        let refuse = |reason: String| StoreError::ProjectRefused {
            doing: "add",
            name: name.clone(),
            reason,
        };
        let path = absolute(path)?;
        if !path.is_dir() {
            return Err(not_a_folder(name, &path));
        }
        let path = path.canonicalize().doing(|| format!("find {}", path.display()))?;
        let home = self.home.canonicalize().unwrap_or_else(|_| self.home.clone());
        if home.starts_with(&path) {
            return Err(refuse(format!(
                "{} holds the vault itself; a project must not see another's files",
                path.display()
            )));
        }
        if path.starts_with(&home) && path.parent() != Some(&home) {
            return Err(refuse(format!("{} lies within another project", path.display())));
        }
        if path.starts_with(home.join(".memoranda")) {
            return Err(refuse("that folder is Memoranda's own".into()));
        }
        for other in self.projects()?.iter().filter(|other| other.name != *name) {
            let theirs = other.path.canonicalize().unwrap_or_else(|_| other.path.clone());
            if path.starts_with(&theirs) || theirs.starts_with(&path) {
                return Err(refuse(format!(
                    "{} and project {} ({}) overlap; a project must not see another's files",
                    path.display(),
                    other.name,
                    theirs.display()
                )));
            }
        }
        let mut registry = self.registry()?;
        let entries = &mut registry.project;
        if let Some(entry) = entries.iter().find(|entry| entry.name == name.as_str())
            && entry.device == self.device
            && entry.path != path
        {
            return Err(refuse(format!(
                "the name is taken by {}; remove that project first",
                entry.path.display()
            )));
        }
        entries.retain(|entry| entry.name != name.as_str() || entry.device != self.device);
        let entry = ProjectEntry {
            name: name.to_string(),
            path,
            device: self.device.clone(),
            hard_links: (hard_links == HardLinkPolicy::Allow).then(|| "allow".to_owned()),
        };
        let project = self.added(&entry);
        // The project exists again.
        registry.removed.retain(|removed| {
            (&removed.name, &removed.device, &removed.path)
                != (&entry.name, &entry.device, &entry.path)
        });
        registry.project.push(entry);
        self.write_registry(registry)?;
        project.ok_or_else(|| refuse("its name cannot be used".into()))
    }

    /// Forgets a folder that was added from elsewhere, whose files stay; or removes one of the vault
    /// that holds nothing. What the history says until now is about that folder.
    pub(crate) fn remove_project(&self, project: &Project, now: Timestamp) -> Result<()> {
        if project.place == ProjectPlace::Vault {
            let held =
                state_files::names(&project.path).doing(|| format!("list {}", project.name))?;
            if held.is_empty() {
                return state_files::remove_dir(&project.path)
                    .doing(|| format!("remove {}", project.name));
            }
            return Err(StoreError::ProjectRefused {
                doing: "remove",
                name: project.name.clone(),
                reason: format!(
                    "it is a folder of the vault and holds {}; move {} elsewhere or delete its \
                     files",
                    shortened_list(&held, MAX_LISTED),
                    project.path.display()
                ),
            });
        }
        let mut registry = self.registry()?;
        registry.project.retain(|e| e.name != project.name.as_str() || e.device != self.device);
        registry.removed.push(RemovedProject {
            name: project.name.to_string(),
            path: project.path.clone(),
            device: self.device.clone(),
            until: now.to_string(),
        });
        self.write_registry(registry)
    }

    /// The folder that a project had at a time, if it was removed since and is no project again.
    pub(crate) fn removed_since(
        &self,
        name: &ProjectName,
        time: Timestamp,
    ) -> Result<Option<PathBuf>> {
        let removed = self.removed(name.as_str())?;
        let then = removed.into_iter().find(|removed| removed.until() >= time);
        Ok(then.map(|removed| removed.path))
    }

    /// Returns the time when the last folder of a name was removed, if the name is no project now.
    pub(crate) fn last_removed(&self, name: &ProjectName) -> Result<Option<Timestamp>> {
        Ok(self.removed(name.as_str())?.last().map(RemovedProject::until))
    }

    /// The folders of this device that were projects of a name, the last one last.
    fn removed(&self, name: &str) -> Result<Vec<RemovedProject>> {
        let mut removed = self.registry()?.removed;
        removed.retain(|removed| removed.name == name && removed.device == self.device);
        removed.sort_by_key(RemovedProject::until);
        Ok(removed)
    }

    pub(crate) fn in_vault(&self, name: ProjectName) -> Project {
        let path = self.home.join(name.as_str());
        let rules = FileRules { privacy: privacy_of(&name), hard_links: HardLinkPolicy::Refuse };
        Project { name, path, place: ProjectPlace::Vault, rules }
    }

    /// A registered folder, if it is one of this device's.
    fn added(&self, entry: &ProjectEntry) -> Option<Project> {
        if entry.device != self.device {
            return None;
        }
        let name = ProjectName::parse(&entry.name).ok()?;
        let hard_links = match entry.hard_links.as_deref() {
            Some("allow") => HardLinkPolicy::Allow,
            _ => HardLinkPolicy::Refuse,
        };
        let rules = FileRules { privacy: privacy_of(&name), hard_links };
        Some(Project { name, path: entry.path.clone(), place: ProjectPlace::Elsewhere, rules })
    }

    fn registered(&self) -> Result<Vec<ProjectEntry>> {
        Ok(self.registry()?.project)
    }

    fn registry(&self) -> Result<ProjectRegistry> {
        let found =
            state_files::read(&self.registry_path()).doing(|| "read projects.toml".into())?;
        let Some(bytes) = found else { return Ok(ProjectRegistry::default()) };
        toml::from_str(&String::from_utf8_lossy(&bytes)).map_err(|e| StoreError::Damaged {
            file: ".memoranda/projects.toml".into(),
            reason: e.to_string(),
        })
    }

    fn write_registry(&self, mut registry: ProjectRegistry) -> Result<()> {
        registry.project.sort_by(|a, b| (&a.name, &a.device).cmp(&(&b.name, &b.device)));
        let text = toml::to_string(&registry).unwrap_or_default();
        state_files::replace(&self.registry_path(), text.as_bytes())
            .doing(|| "write projects.toml".into())
    }

    fn registry_path(&self) -> PathBuf {
        self.state.join("projects.toml")
    }
}

/// Refuses to add a path that is no folder.
pub(crate) fn not_a_folder(name: &ProjectName, path: &Path) -> StoreError {
    let reason = format!("{} is not a folder; make it first", path.display());
    StoreError::ProjectRefused { doing: "add", name: name.clone(), reason }
}

/// The memories of the Claude memory tool are the owner's alone.
fn privacy_of(name: &ProjectName) -> FilePrivacy {
    if name.as_str() == "memories" { FilePrivacy::Private } else { FilePrivacy::Shared }
}

#[derive(Serialize, Deserialize, Default)]
struct ProjectRegistry {
    #[serde(default)]
    project: Vec<ProjectEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<RemovedProject>,
}

/// A folder that was a project: what the history says of that name until then is about it.
#[derive(Serialize, Deserialize, Clone)]
struct RemovedProject {
    name: String,
    path: PathBuf,
    device: String,
    until: String,
}

impl RemovedProject {
    fn until(&self) -> Timestamp {
        self.until.parse().unwrap_or(Timestamp::MIN)
    }
}

/// A folder added from elsewhere. A path means something only on the device where it was added.
#[derive(Serialize, Deserialize, Clone)]
struct ProjectEntry {
    name: String,
    path: PathBuf,
    device: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hard_links: Option<String>,
}

/// Returns the format of the vault; a new vault gets the newest one.
fn check_format(path: &Path) -> Result<u32> {
    if let Some(format) = read_format(path)? {
        return Ok(format);
    }
    state_files::replace(path, format!("{FORMAT}\n").as_bytes())
        .doing(|| "write the vault's format".into())?;
    Ok(FORMAT)
}

/// Reads the format of a vault; `None` if the vault is new. Fails if it is a newer one.
fn read_format(path: &Path) -> Result<Option<u32>> {
    let found = state_files::read(path).doing(|| "read the vault's format".into())?;
    let Some(bytes) = found else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    match text.parse::<u32>() {
        Ok(format) if format <= FORMAT => Ok(Some(format)),
        _ => Err(StoreError::NewerFormat { found: text, known: FORMAT }),
    }
}

/// Returns the name of this device in the log: made once, kept outside the vault, which may be shared.
///
/// Two machines with one name would write one log, and a program that copies the vault between them
/// would keep the records of one machine only. So the name of a home that was copied to another
/// machine is not used there.
fn device_name(state: &Path) -> Result<String> {
    let path = state.join("device");
    let machine = machine_id();
    if let Some(kept) = read_word(&path)? {
        if is_copied(state, machine.as_deref())? {
            let name = clock::new_commit_id().to_string();
            state_files::replace(&path, format!("{name}\n").as_bytes())
                .and_then(|()| note_machine(state, machine.as_deref()))
                .doing(|| format!("write this device's name to {}", path.display()))?;
            tracing::warn!(
                "this home was copied from another machine, so its vaults get the new device name \
                 {name} here; the history of {kept} stays as it is"
            );
            return Ok(name);
        }
        return Ok(kept);
    }
    let name = clock::new_commit_id().to_string();
    state_files::create_dir(state, FilePrivacy::Private)
        .and_then(|()| note_machine(state, machine.as_deref()))
        .and_then(|()| state_files::create_once(&path, format!("{name}\n").as_bytes()))
        .doing(|| format!("write this device's name to {}", path.display()))?;
    // Of two first starts at once, one wins and both use its name.
    Ok(read_word(&path)?.unwrap_or(name))
}

/// Returns true if the state folder comes from another machine. One that does not say from which
/// machine it comes is of this one.
fn is_copied(state: &Path, machine: Option<&str>) -> Result<bool> {
    let Some(now) = machine else { return Ok(false) };
    let noted = read_word(&state.join("machine"))?;
    if noted.is_none() {
        // Without the note only a copy is not recognized.
        note_machine(state, machine).ok();
    }
    Ok(noted.is_some_and(|noted| noted != now))
}

fn note_machine(state: &Path, machine: Option<&str>) -> std::io::Result<()> {
    let line = machine.map(|machine| format!("{machine}\n"));
    line.map_or(Ok(()), |line| state_files::replace(&state.join("machine"), line.as_bytes()))
}

/// Reads a small file that holds one word of letters and digits; `None` if it holds anything else.
fn read_word(path: &Path) -> Result<Option<String>> {
    let bytes = state_files::read(path)
        .doing(|| format!("read this device's name from {}", path.display()))?;
    let word = bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    Ok(word.filter(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric())))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).doing(|| format!("find {}", path.display()))
}
