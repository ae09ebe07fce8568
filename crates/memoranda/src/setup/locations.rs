//! Locations of clients' files on each system.

use std::path::{Path, PathBuf};

use crate::config::AppDirectories;
use crate::env;

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

/// Base folders of this machine.
#[derive(Clone, Debug)]
pub(crate) struct BaseDirs {
    /// Home folder of the user.
    pub(crate) home: PathBuf,
    config: PathBuf,
    support: PathBuf,
    claude: Option<PathBuf>,
    codex: Option<PathBuf>,
    /// Current folder.
    pub(crate) project: PathBuf,
    /// Path of the list of created folders.
    pub(crate) made: PathBuf,
}

impl BaseDirs {
    /// Finds the base folders.
    pub(crate) fn find(directories: &AppDirectories) -> Self {
        let home = directories.user.clone();
        let config = directories.config_base.clone();
        let support = if cfg!(target_os = "macos") {
            home.join("Library").join("Application Support")
        } else {
            config.clone()
        };
        let claude = env::CLAUDE_CONFIG_DIR.get().map(PathBuf::from);
        let codex = env::CODEX_HOME.get().map(PathBuf::from);
        let project = env::working_directory().unwrap_or_else(|| PathBuf::from("."));
        let made = directories.state.join("setup-folders");
        Self { home, config, support, claude, codex, project, made }
    }

    /// Returns the path of a location.
    pub(crate) fn path(&self, (base, rest): FileLocation) -> PathBuf {
        let folder = match base {
            BaseDir::Home => self.home.clone(),
            BaseDir::Config => self.config.clone(),
            BaseDir::Support => self.support.clone(),
            BaseDir::ClaudeState => self.claude.clone().unwrap_or_else(|| self.home.clone()),
            BaseDir::Claude => self.claude.clone().unwrap_or_else(|| self.home.join(".claude")),
            BaseDir::Codex => self.codex.clone().unwrap_or_else(|| self.home.join(".codex")),
            BaseDir::Project => self.project.clone(),
        };
        if rest.is_empty() { folder } else { folder.join(rest) }
    }

    /// Formats a path with `~` for the home folder.
    pub(crate) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }
}
