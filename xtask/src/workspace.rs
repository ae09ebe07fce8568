//! Where the workspace is, which files it has, and how a chore runs another program.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// A file of the workspace that holds text.
pub(crate) struct TextFile {
    /// Below the root, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// What follows the last dot of the name, or nothing.
    pub(crate) fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

/// The folder of the workspace's `Cargo.toml`.
pub(crate) fn root() -> Result<PathBuf> {
    // Asked at run time: worktrees that share a target folder share this binary too.
    if let Some(xtask) = std::env::var_os("CARGO_MANIFEST_DIR") {
        let xtask = PathBuf::from(xtask);
        return Ok(xtask.parent().ok_or("xtask has no parent folder")?.to_owned());
    }
    let here = std::env::current_dir()?;
    let root = here.ancestors().find(|folder| folder.join("xtask/Cargo.toml").exists());
    Ok(root.ok_or("not inside the workspace")?.to_owned())
}

/// Cargo, the one that runs this chore if there is one.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Runs a program and yields what it prints; what it complains about is the error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} failed: {}", complaint.trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a program that talks for itself.
pub(crate) fn status(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// Every text file that is tracked, or new and not ignored, in order of path.
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
        // An unpacked archive has no git, and nothing ignored in it but what cargo made.
        Err(_) => walked(root)?,
    };
    paths.sort();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let full = root.join(&path);
        // A file may be listed and removed, or a link to nowhere; neither has text.
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

fn walked(root: &Path) -> Result<Vec<String>> {
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
