//! The root and the files of the workspace, and functions that run other programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// A text file of the workspace.
pub(crate) struct TextFile {
    /// Path relative to the root, with `/` as separator.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// Returns the extension of the name, or an empty string.
    pub(crate) fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

/// Returns the folder of the workspace's `Cargo.toml`.
pub(crate) fn root() -> Result<PathBuf> {
    // Determined at run time, because worktrees with a common target folder share this binary.
    if let Some(xtask) = std::env::var_os("CARGO_MANIFEST_DIR") {
        let xtask = PathBuf::from(xtask);
        return Ok(xtask.parent().ok_or("xtask has no parent folder")?.to_owned());
    }
    let here = std::env::current_dir()?;
    let root = here.ancestors().find(|folder| folder.join("xtask/Cargo.toml").exists());
    Ok(root.ok_or("not inside the workspace")?.to_owned())
}

/// Returns a command for the cargo that runs this chore.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Returns a command for the program: the one that `MEMORANDA_BIN` names, or a build of the current
/// source.
pub(crate) fn memoranda(root: &Path) -> Command {
    if let Some(built) = std::env::var_os("MEMORANDA_BIN") {
        let mut command = Command::new(built);
        command.current_dir(root);
        return command;
    }
    let mut command = cargo(root);
    command.args(["run", "--quiet", "--package", "memoranda", "--"]);
    command
}

/// Runs a program and returns its output. Its error output becomes the error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} failed: {}", complaint.trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a program with inherited output.
pub(crate) fn status(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// Returns every text file that is tracked, or new and not ignored, in order of path.
pub(crate) fn text_files(root: &Path) -> Result<Vec<TextFile>> {
    let mut command = Command::new("git");
    command.current_dir(root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let mut paths: Vec<String> = match output(&mut command) {
        Ok(listed) => listed.split_terminator('\0').map(str::to_owned).collect(),
        // An unpacked archive has no git repository, and its only ignored files are cargo's.
        Err(_) => walk_files(root)?,
    };
    paths.sort();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let full = root.join(&path);
        // A listed file may be removed or a dangling symlink; neither has text.
        if !full.is_file() {
            continue;
        }
        if let Ok(text) = String::from_utf8(std::fs::read(&full)?)
            && !text.contains('\0')
        {
            files.push(TextFile { path, text });
        }
    }
    Ok(files)
}

fn walk_files(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            if entry.file_type()?.is_file() {
                paths.push(path.strip_prefix(root)?.to_string_lossy().replace('\\', "/"));
            } else if entry.file_type()?.is_dir()
                && !["target", ".git", "node_modules"].iter().any(|&skipped| name == skipped)
            {
                folders.push(path);
            }
        }
    }
    Ok(paths)
}
