//! The archive that people unpack or that `install.sh` installs.

use std::rc::Rc;

use super::PackageFile;
use super::archive::{ArchiveEntry, tar_gz};
use super::release::{ReleaseBuild, VERSION};
use crate::Result;

/// Returns the archive: program, manual pages, completions, licences and README.
pub(super) fn make_archive(release: &ReleaseBuild) -> Result<PackageFile> {
    let folder = format!("memoranda-{VERSION}-{}", release.platform.target);
    let program =
        ArchiveEntry::program(release.platform.program_name(), Rc::clone(&release.program));
    let mut entries = vec![program];
    for name in ["README.md", "CHANGELOG.md"] {
        entries.push(release.source_entry(name, name)?);
    }
    entries.extend(release.program_licences("")?);
    for (name, text) in &release.completions {
        entries.push(ArchiveEntry::file(format!("completions/{name}"), Rc::clone(text)));
    }
    for (name, text) in &release.man_pages {
        entries.push(ArchiveEntry::file(format!("man/man1/{name}"), Rc::clone(text)));
    }
    let contents = tar_gz(&format!("{folder}/"), &entries)?;
    Ok(PackageFile { name: format!("{folder}.tar.gz"), contents })
}

/// Returns the script that installs the archive, with the version filled in.
pub(super) fn make_installer(release: &ReleaseBuild) -> Result<PackageFile> {
    let script = release.source("packages/install.sh")?;
    if !script.contains("'@VERSION@'") {
        return Err("packages/install.sh has no '@VERSION@'".into());
    }
    let script = script.replace("'@VERSION@'", &format!("'{VERSION}'"));
    Ok(PackageFile { name: "install.sh".to_owned(), contents: script.into_bytes() })
}
