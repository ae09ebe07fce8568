//! Where clients keep their files, on each system.

use std::path::{Path, PathBuf};

use crate::config::AppDirectories;
use crate::env;

/// A folder that a path is relative to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BaseDir {
    /// The person's own folder.
    Home,
    /// Where configuration lies: `~/.config`, or `%APPDATA%` on Windows.
    Config,
    /// Where applications keep what is theirs: as `Config`, but `~/Library/Application Support` on
    /// a Mac.
    Support,
    /// Claude Code's folder for its state: `CLAUDE_CONFIG_DIR`, or the person's own.
    ClaudeState,
    /// Claude Code's folder: `CLAUDE_CONFIG_DIR`, or `~/.claude`.
    Claude,
    /// Codex's folder: `CODEX_HOME`, or `~/.codex`.
    Codex,
    /// The folder that one works in.
    Project,
}

/// A path below one of these folders.
pub(crate) type FileLocation = (BaseDir, &'static str);

/// The folders, on this machine.
#[derive(Clone, Debug)]
pub(crate) struct BaseDirs {
    /// The person's own folder.
    pub(crate) home: PathBuf,
    config: PathBuf,
    support: PathBuf,
    claude: Option<PathBuf>,
    codex: Option<PathBuf>,
    /// The folder that one works in.
    pub(crate) project: PathBuf,
    /// The list of folders that were made for clients' files.
    pub(crate) made: PathBuf,
}

impl BaseDirs {
    /// Finds them.
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

    /// The path of a place.
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

    /// A path as people write it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }
}
