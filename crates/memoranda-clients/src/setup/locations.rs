//! Locations of clients' files on each system.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Base folder of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BaseDir {
    /// Home folder of the user.
    Home,
    /// Configuration folder: `~/.config`, or `%APPDATA%` on Windows.
    Config,
    /// Application data: as `Config`, but `~/Library/Application Support` on macOS.
    Support,
    /// State folder of Claude Code: `CLAUDE_CONFIG_DIR`, or the home folder.
    ClaudeState,
    /// Claude Code's folder: `CLAUDE_CONFIG_DIR`, or `~/.claude`.
    Claude,
    /// Codex's folder: `CODEX_HOME`, or `~/.codex`.
    Codex,
    /// Current folder.
    Project,
}

/// A path relative to a base folder.
pub(crate) type FileLocation = (BaseDir, &'static str);

/// Folders of this machine in which clients and their files are found.
#[derive(Clone, Debug)]
pub struct BaseDirs {
    /// Home folder of the user.
    pub home: PathBuf,
    /// Base folder of configuration files.
    pub config: PathBuf,
    /// Value of `CLAUDE_CONFIG_DIR`.
    pub claude: Option<PathBuf>,
    /// Value of `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// Current folder.
    pub project: PathBuf,
    /// Path of the list of folders that set-up created.
    pub created_list: PathBuf,
    /// Value of `PATH`, in which programs are found.
    pub search_path: OsString,
    /// Path of this program; `None` if unknown.
    pub program: Option<PathBuf>,
}

impl BaseDirs {
    /// Returns the path of a location.
    pub(crate) fn path(&self, (base, rest): FileLocation) -> PathBuf {
        let folder = match base {
            BaseDir::Home => self.home.clone(),
            BaseDir::Config => self.config.clone(),
            BaseDir::Support if cfg!(target_os = "macos") => {
                self.home.join("Library").join("Application Support")
            }
            BaseDir::Support => self.config.clone(),
            BaseDir::ClaudeState => self.claude.clone().unwrap_or_else(|| self.home.clone()),
            BaseDir::Claude => self.claude.clone().unwrap_or_else(|| self.home.join(".claude")),
            BaseDir::Codex => self.codex.clone().unwrap_or_else(|| self.home.join(".codex")),
            BaseDir::Project => self.project.clone(),
        };
        if rest.is_empty() { folder } else { folder.join(rest) }
    }

    /// Formats a path with `~` for the home folder.
    pub fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }

    /// Finds a program in the search path.
    pub(crate) fn find_program(&self, name: &str) -> Option<PathBuf> {
        find_program(&self.search_path, name)
    }
}

/// Finds a program in a search path. Relative folders are left out.
pub fn find_program(search_path: &OsStr, name: &str) -> Option<PathBuf> {
    let names = if cfg!(windows) {
        vec![format!("{name}.exe"), format!("{name}.cmd")]
    } else {
        vec![name.to_owned()]
    };
    let mut folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
    folders.find_map(|folder| names.iter().map(|name| folder.join(name)).find(|p| p.is_file()))
}
