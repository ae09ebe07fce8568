//! Changes a client's file with a backup, and never overwrites a concurrent edit.

use std::path::{Path, PathBuf};

use crate::error::{ClientsError, Result};
use crate::files;
use crate::setup::created_dirs;
use crate::setup::entries::{ConfigEntry, EntryState, as_found, connected, disconnected, state};
use crate::setup::format::{ConfigFormat, ConfigSyntaxError};
use crate::setup::locations::BaseDirs;

/// Suffix of backups.
const BACKUP: &str = ".memoranda-backup";

/// A file of a client with Memoranda's entries.
pub(crate) struct ClientFile {
    /// The file.
    pub(crate) path: PathBuf,
    /// Format of the file.
    pub(crate) format: ConfigFormat,
    /// Memoranda's entries in the file.
    pub(crate) entries: Vec<ConfigEntry>,
}

/// A planned change of a file.
pub struct ClientFileChange {
    /// The file.
    pub path: PathBuf,
    /// Current text; `None` if the file does not exist.
    pub before: Option<String>,
    /// New text; `None` if the file is deleted.
    pub after: Option<String>,
    /// Treatment of the backup.
    backup: BackupAction,
    /// True for a script, which clients execute.
    is_script: bool,
    /// True if an entry of Memoranda contains a token.
    pub has_token: bool,
}

/// Treatment of the backup by a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BackupAction {
    /// Copies the current file to the backup.
    Make,
    /// Keeps the backup, which is the file before Memoranda changed it.
    Keep,
    /// Deletes the backup.
    Drop,
}

impl ClientFile {
    fn text(&self) -> Result<Option<String>> {
        match files::read_text(&self.path) {
            Err(error) if self.path.is_dir() => Err(error),
            Err(ClientsError::Io { doing, source }) => {
                Err(ClientsError::UnreadableFile { doing, source })
            }
            other => other,
        }
    }

    fn invalid(&self, dirs: &BaseDirs, reason: ConfigSyntaxError) -> ClientsError {
        ClientsError::InvalidFile { file: dirs.shown(&self.path), reason }
    }

    /// Splits the entries into server and hooks.
    pub(crate) fn apart(&self) -> (Option<Self>, Option<Self>) {
        let of = |is_wanted: fn(&ConfigEntry) -> bool| {
            let entries: Vec<ConfigEntry> =
                self.entries.iter().filter(|entry_spec| is_wanted(entry_spec)).cloned().collect();
            let target = Self { path: self.path.clone(), format: self.format, entries };
            (!target.entries.is_empty()).then_some(target)
        };
        let is_server = |entry_spec: &ConfigEntry| matches!(entry_spec, ConfigEntry::Server { .. });
        let is_hook = |entry_spec: &ConfigEntry| {
            matches!(entry_spec, ConfigEntry::Hook { .. } | ConfigEntry::Script { .. })
        };
        (of(is_server), of(is_hook))
    }

    /// Returns the state of the entries.
    pub(crate) fn state(&self, dirs: &BaseDirs) -> Result<EntryState> {
        let text = self.text()?.unwrap_or_default();
        state(self.format, &text, &self.entries).map_err(|reason| self.invalid(dirs, reason))
    }

    /// Plans the change that connects the client; `None` if it is connected.
    pub(crate) fn connect(&self, dirs: &BaseDirs) -> Result<Option<ClientFileChange>> {
        let before = self.text()?;
        let text = before.as_deref().unwrap_or_default();
        let after = connected(self.format, text, &self.entries)
            .map_err(|reason| self.invalid(dirs, reason))?;
        if after == text {
            return Ok(None);
        }
        let backup = match self.backup() {
            Some(backup) if self.is_origin(&backup, text) => BackupAction::Keep,
            // The file contains only Memoranda's entries, so Memoranda created it and removal
            // deletes it.
            None if self.is_only_ours(text) => BackupAction::Keep,
            _ => BackupAction::Make,
        };
        Ok(Some(ClientFileChange {
            path: self.path.clone(),
            before,
            after: Some(after),
            backup,
            is_script: self.format == ConfigFormat::Script,
            has_token: self.entries.iter().any(ConfigEntry::has_token),
        }))
    }

    fn backup(&self) -> Option<String> {
        files::read_text(&backup_of(&self.path)).ok().flatten()
    }

    /// Returns true if the backup has no entries of Memoranda and adding them gives the current
    /// text.
    fn is_origin(&self, backup: &str, text: &str) -> bool {
        let again = as_found(self.format, text, &self.entries)
            .and_then(|found| connected(self.format, backup, &found));
        !self.has_ours(backup) && again.is_ok_and(|again| again == text)
    }

    fn has_ours(&self, text: &str) -> bool {
        state(self.format, text, &self.entries).is_ok_and(|state| state != EntryState::Absent)
    }

    fn is_only_ours(&self, text: &str) -> bool {
        let left = disconnected(self.format, text, &self.entries);
        self.has_ours(text) && left.is_ok_and(|left| left.is_empty())
    }

    /// Restores empty objects that the backup contains.
    fn refilled(&self, left: String, backup: &str) -> String {
        let entries = self.entries.iter().map(|entry_spec| match entry_spec {
            ConfigEntry::Server { container, .. } => *container,
            ConfigEntry::Hook { .. } | ConfigEntry::Version | ConfigEntry::Script { .. } => "hooks",
        });
        let none = serde_json::Value::Object(serde_json::Map::new());
        let value = |text: &str| self.format.value(text).unwrap_or_default();
        let had = value(backup);
        entries.fold(left, |left, key| {
            let is_gone = had.get(key) == Some(&none) && value(&left).get(key).is_none();
            match (self.format, is_gone) {
                (ConfigFormat::Json, true) => self.format.set(&left, &[key], &none).unwrap_or(left),
                _ => left,
            }
        })
    }

    /// Plans the removal of all entries; `None` if there are none.
    pub(crate) fn disconnect(&self, dirs: &BaseDirs) -> Result<Option<ClientFileChange>> {
        let Some(before) = self.text()? else { return Ok(None) };
        let after = match self.backup() {
            // Without other changes the backup is restored byte for byte.
            Some(backup) if self.is_origin(&backup, &before) && backup != before => Some(backup),
            backup => {
                let left = disconnected(self.format, &before, &self.entries)
                    .map_err(|reason| self.invalid(dirs, reason))?;
                // An empty object of somebody else stays: nothing was taken out of it.
                if left == before || !self.has_ours(&before) {
                    return Ok(None);
                }
                let left = match &backup {
                    Some(backup) => self.refilled(left, backup),
                    None => left,
                };
                match (left.is_empty(), backup) {
                    (false, _) => Some(left),
                    (true, Some(_)) => Some(empty(self.format)),
                    // Without a backup, Memoranda created the file.
                    (true, None) => None,
                }
            }
        };
        Ok(Some(ClientFileChange {
            path: self.path.clone(),
            before: Some(before),
            after,
            backup: BackupAction::Drop,
            is_script: false,
            has_token: false,
        }))
    }
}

impl ClientFileChange {
    /// Applies the change and returns the path of a new backup.
    pub fn apply(&self, dirs: &BaseDirs) -> Result<Option<PathBuf>> {
        let now = files::read_text(&self.path)?;
        if now != self.before {
            return Err(ClientsError::FileChanged { file: dirs.shown(&self.path) });
        }
        let backup = backup_of(&self.path);
        let mut made = None;
        if let Some(before) = &self.before
            && self.backup == BackupAction::Make
        {
            files::replace_alike(&backup, before.as_bytes(), &self.path)?;
            made = Some(backup.clone());
        }
        if self.after.is_some() {
            // Recorded before creation, because an unrecorded folder would never be removed.
            created_dirs::record_missing(dirs, &self.path)?;
        }
        match &self.after {
            Some(after) if self.has_token => {
                files::replace_private(&self.path, after.as_bytes())?;
            }
            Some(after) => {
                files::replace(&self.path, after.as_bytes())?;
                if self.is_script {
                    files::make_executable(&self.path)?;
                }
            }
            None => {
                files::remove(&self.path)?;
                created_dirs::remove_created(dirs, &self.path)?;
            }
        }
        if self.backup == BackupAction::Drop {
            files::remove(&backup)?;
        }
        Ok(made)
    }
}

fn empty(format: ConfigFormat) -> String {
    if format == ConfigFormat::Json { "{}\n".to_owned() } else { String::new() }
}

fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(BACKUP);
    PathBuf::from(name)
}
