//! The program and the files that every package is made of.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use super::archive::ArchiveEntry;
use super::elf::ElfRequirements;
use super::platform::{OperatingSystem, ReleasePlatform};
use super::third_party;
use crate::{Result, workspace};

/// Version of the workspace, which every package has.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Shells with completions, and the file name that each expects.
const SHELLS: [(&str, &str); 6] = [
    ("bash", "memoranda.bash"),
    ("zsh", "_memoranda"),
    ("fish", "memoranda.fish"),
    ("powershell", "_memoranda.ps1"),
    ("elvish", "memoranda.elv"),
    ("nushell", "memoranda.nu"),
];

/// Folders in which Unix systems look for completions, below `share/`.
const COMPLETION_PATHS: [(&str, &str); 4] = [
    ("memoranda.bash", "bash-completion/completions/memoranda"),
    ("_memoranda", "zsh/site-functions/_memoranda"),
    ("memoranda.fish", "fish/vendor_completions.d/memoranda.fish"),
    ("memoranda.nu", "nushell/vendor/autoload/memoranda.nu"),
];

const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// A built program with its documentation, for one platform.
pub(super) struct ReleaseBuild {
    pub(super) platform: &'static ReleasePlatform,
    pub(super) program: Rc<[u8]>,
    /// `None` on systems other than Linux.
    pub(super) requirements: Option<ElfRequirements>,
    /// File names and contents.
    pub(super) completions: Vec<(&'static str, Rc<[u8]>)>,
    /// File names and contents.
    pub(super) man_pages: Vec<(String, Rc<[u8]>)>,
    third_party: Rc<[u8]>,
    root: PathBuf,
    binary: PathBuf,
}

impl ReleaseBuild {
    /// Reads the program and runs it for its completions and manual pages.
    pub(super) fn read(
        root: &Path,
        binary: &Path,
        platform: &'static ReleasePlatform,
    ) -> Result<Self> {
        let program: Rc<[u8]> = std::fs::read(binary)?.into();
        let requirements = ElfRequirements::read(&program)?;
        if requirements.is_some() != (platform.system == OperatingSystem::Linux) {
            return Err(format!("{} is not for {}", binary.display(), platform.target).into());
        }
        let mut release = Self {
            platform,
            program,
            requirements,
            completions: Vec::new(),
            man_pages: Vec::new(),
            third_party: third_party::licence_texts(root, platform.target)?.into_bytes().into(),
            root: root.to_owned(),
            binary: binary.to_owned(),
        };
        let version = release.output_of(&["--version"])?;
        let version = version.trim().rsplit(' ').next().unwrap_or_default();
        if version != VERSION {
            let binary = binary.display();
            return Err(
                format!("{binary} is version {version}, not {VERSION}: build it again").into()
            );
        }
        for (shell, file) in SHELLS {
            let script = release.output_of(&["completions", shell])?;
            release.completions.push((file, script.into_bytes().into()));
        }
        let folder = tempfile::tempdir()?;
        release.output_of(&["man", "--quiet", "--dir", &folder.path().display().to_string()])?;
        for page in std::fs::read_dir(folder.path())? {
            let page = page?;
            let name = page.file_name().to_string_lossy().into_owned();
            release.man_pages.push((name, std::fs::read(page.path())?.into()));
        }
        release.man_pages.sort();
        Ok(release)
    }

    /// Runs the program and returns what it prints. Packages are made on the platform that they are for.
    pub(super) fn output_of(&self, arguments: &[&str]) -> Result<String> {
        workspace::output(Command::new(&self.binary).args(arguments))
    }

    /// Reads a file of the workspace.
    pub(super) fn source(&self, path: &str) -> Result<String> {
        let full = self.root.join(path);
        std::fs::read_to_string(&full).map_err(|e| format!("{}: {e}", full.display()).into())
    }

    /// Returns a file of the workspace as an entry at another path.
    pub(super) fn source_entry(&self, source: &str, path: &str) -> Result<ArchiveEntry> {
        Ok(ArchiveEntry::file(path, self.source(source)?.into_bytes()))
    }

    /// Returns the project's own licences as entries below a prefix.
    pub(super) fn licences(&self, prefix: &str) -> Result<Vec<ArchiveEntry>> {
        LICENCES.iter().map(|name| self.source_entry(name, &format!("{prefix}{name}"))).collect()
    }

    /// Returns all licences of a package that contains the program, as entries below a prefix.
    pub(super) fn program_licences(&self, prefix: &str) -> Result<Vec<ArchiveEntry>> {
        let mut entries = self.licences(prefix)?;
        entries.push(self.third_party_licences(prefix));
        Ok(entries)
    }

    /// Returns the licences of the software inside the program, as an entry below a prefix.
    pub(super) fn third_party_licences(&self, prefix: &str) -> ArchiveEntry {
        let path = format!("{prefix}{}", third_party::FILE_NAME);
        ArchiveEntry::file(path, Rc::clone(&self.third_party))
    }

    /// Returns the files below a folder of the workspace, as entries below a prefix.
    pub(super) fn folder(&self, folder: &str, prefix: &str) -> Result<Vec<ArchiveEntry>> {
        let mut entries = Vec::new();
        for file in std::fs::read_dir(self.root.join(folder))? {
            let file = file?;
            let name = file.file_name().to_string_lossy().into_owned();
            let (source, path) = (format!("{folder}/{name}"), format!("{prefix}{name}"));
            if file.file_type()?.is_dir() {
                if name != "__pycache__" && name != "node_modules" {
                    entries.extend(self.folder(&source, &format!("{path}/"))?);
                }
            } else {
                entries.push(ArchiveEntry::file(path, std::fs::read(file.path())?));
            }
        }
        Ok(entries)
    }

    /// Returns manual pages and completions where Unix systems look for them, below a prefix.
    pub(super) fn shared_files(&self, prefix: &str) -> Vec<ArchiveEntry> {
        let pages = self.man_pages.iter().map(|(name, text)| {
            ArchiveEntry::file(format!("{prefix}man/man1/{name}"), Rc::clone(text))
        });
        let completions = COMPLETION_PATHS.iter().filter_map(|(file, path)| {
            let (_, text) = self.completions.iter().find(|(name, _)| name == file)?;
            Some(ArchiveEntry::file(format!("{prefix}{path}"), Rc::clone(text)))
        });
        pages.chain(completions).collect()
    }
}
