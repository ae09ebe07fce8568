//! The root folder of a container image: the program, and nothing that it does not need.

use std::path::Path;
use std::rc::Rc;

use super::PackageFile;
use super::archive::{ArchiveEntry, tar_gz};
use super::elf::ElfRequirements;
use super::release::{ReleaseBuild, VERSION};
use crate::Result;

/// Owner of the volume with the notes, as in the Dockerfile.
const VAULT_OWNER: u64 = 1000;

/// Returns the root as an archive, with the libraries of this machine if the program needs any.
/// `None` if the platform is not Linux.
pub(super) fn make_root(release: &ReleaseBuild) -> Result<Option<PackageFile>> {
    let Some(requirements) = &release.requirements else {
        return Ok(None);
    };
    let mut entries = vec![
        ArchiveEntry::program("memoranda", Rc::clone(&release.program)),
        ArchiveEntry::folder("tmp", 0o1777, 0),
        ArchiveEntry::folder("state", 0o1777, 0),
        ArchiveEntry::folder("vault", 0o755, VAULT_OWNER),
    ];
    entries.extend(release.program_licences("licenses/")?);
    entries.extend(libraries(requirements)?);
    let name = format!("memoranda-{VERSION}-{}-container-root.tar.gz", release.platform.target);
    Ok(Some(PackageFile { name, contents: tar_gz("", &entries)? }))
}

/// Returns the loader and the shared libraries at the paths where the loader looks for them.
fn libraries(requirements: &ElfRequirements) -> Result<Vec<ArchiveEntry>> {
    let Some(loader) = &requirements.interpreter else {
        return Ok(Vec::new());
    };
    let mut entries = vec![library(Path::new(loader))?];
    for name in requirements.libraries.iter().filter(|name| !loader.ends_with(*name)) {
        let found = LIBRARY_FOLDERS.iter().map(|folder| Path::new(folder).join(name));
        let found = found.into_iter().find(|path| path.exists());
        let path = found.ok_or_else(|| format!("the library {name} is not on this machine"))?;
        entries.push(library(&path)?);
    }
    Ok(entries)
}

/// Folders in which Linux distributions keep libraries for 64-bit programs.
const LIBRARY_FOLDERS: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
];

fn library(path: &Path) -> Result<ArchiveEntry> {
    let contents = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let inside = path.display().to_string();
    Ok(ArchiveEntry::program(inside.trim_start_matches('/'), contents))
}
