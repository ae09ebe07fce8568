//! The Debian package, written without Debian's tools.

use std::collections::BTreeSet;
use std::rc::Rc;

use md5::{Digest as _, Md5};

use super::archive::{ArchiveEntry, ar, gzip, tar_gz};
use super::elf::ElfRequirements;
use super::release::{ReleaseBuild, VERSION};
use super::{PackageFile, hexadecimal};
use crate::Result;

const MAINTAINER: &str = "The Memoranda contributors <memoranda@users.noreply.github.com>";
const HOMEPAGE: &str = "https://github.com/memoranda/memoranda";

/// Returns the package. `None` if Debian has no port for the platform.
pub(super) fn make_package(release: &ReleaseBuild) -> Result<Option<PackageFile>> {
    let (Some(architecture), Some(requirements)) =
        (release.platform.deb_architecture, &release.requirements)
    else {
        return Ok(None);
    };
    let version = format!("{}-1", debian_version(VERSION));
    let files = installed_files(release, &version)?;
    let mut control = vec![ArchiveEntry::file("md5sums", md5sums(&files).into_bytes())];
    let text = control_file(&version, architecture, requirements, &files);
    control.push(ArchiveEntry::file("control", text.into_bytes()));
    control.push(ArchiveEntry::folder("", 0o755, 0));
    let mut data = parent_folders(&files);
    data.extend(files);
    let (control, data) = (tar_gz("./", &control)?, tar_gz("./", &data)?);
    let contents =
        ar(&[("debian-binary", b"2.0\n"), ("control.tar.gz", &control), ("data.tar.gz", &data)]);
    let name = format!("memoranda_{version}_{architecture}.deb");
    Ok(Some(PackageFile { name, contents }))
}

fn installed_files(release: &ReleaseBuild, version: &str) -> Result<Vec<ArchiveEntry>> {
    let mut files = vec![ArchiveEntry::program("usr/bin/memoranda", Rc::clone(&release.program))];
    for mut file in release.shared_files("usr/share/") {
        if file.path.starts_with("usr/share/man/") {
            file.contents = Some(gzip(file.contents.as_deref().unwrap_or_default())?.into());
            file.path.push_str(".gz");
        }
        // Debian keeps this folder of zsh for packages.
        file.path = file.path.replace("zsh/site-functions", "zsh/vendor-completions");
        files.push(file);
    }
    let doc = "usr/share/doc/memoranda";
    let copyright = copyright_file(&release.source("LICENSE-MIT")?);
    files.push(ArchiveEntry::file(format!("{doc}/copyright"), copyright.into_bytes()));
    files.push(release.third_party_licences(&format!("{doc}/")));
    let changes = gzip(release.source("CHANGELOG.md")?.as_bytes())?;
    files.push(ArchiveEntry::file(format!("{doc}/changelog.gz"), changes));
    let changes = gzip(debian_changelog(version).as_bytes())?;
    files.push(ArchiveEntry::file(format!("{doc}/changelog.Debian.gz"), changes));
    Ok(files)
}

fn control_file(
    version: &str,
    architecture: &str,
    requirements: &ElfRequirements,
    files: &[ArchiveEntry],
) -> String {
    let kilobytes = |file: &ArchiveEntry| {
        file.contents.as_ref().map_or(1, |contents| contents.len().div_ceil(1024))
    };
    let size: usize = files.iter().map(kilobytes).sum();
    let depends = match dependencies(requirements) {
        depends if depends.is_empty() => String::new(),
        depends => format!("Depends: {}\n", depends.join(", ")),
    };
    format!(
        "Package: memoranda\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: {MAINTAINER}\n\
         Installed-Size: {size}\n\
         {depends}\
         Section: utils\n\
         Priority: optional\n\
         Homepage: {HOMEPAGE}\n\
         Description: one memory for all of your agents, in a folder of Markdown\n\
         \x20Claude, Cursor, Codex and people read and write the same notes at the same\n\
         \x20time. Every change has a history, an author and an undo. Search compares words\n\
         \x20and their meaning inside the program.\n\
         \x20.\n\
         \x20There is no service to run, no account, no key and no telemetry.\n"
    )
}

/// Returns the packages that contain the program's libraries, each with the oldest sufficient version.
fn dependencies(requirements: &ElfRequirements) -> Vec<String> {
    let packages = [("GLIBC_", "libc6", true), ("GCC_", "libgcc-s1", false)];
    packages
        .iter()
        .filter_map(|(prefix, package, is_loader)| {
            let version = requirements.minimum_version(prefix);
            let is_needed = version.is_some() || *is_loader && !requirements.is_static();
            let bound = version.map(|(major, minor)| format!(" (>= {major}.{minor})"));
            is_needed.then(|| format!("{package}{}", bound.unwrap_or_default()))
        })
        .collect()
}

/// Writes a version so that Debian sorts `1.0.0-rc.1` before `1.0.0`.
fn debian_version(version: &str) -> String {
    version.replacen('-', "~", 1)
}

fn md5sums(files: &[ArchiveEntry]) -> String {
    let mut lines: Vec<_> = files
        .iter()
        .map(|file| {
            let digest = Md5::digest(file.contents.as_deref().unwrap_or_default());
            format!("{}  {}\n", hexadecimal(&digest), file.path)
        })
        .collect();
    lines.sort_by(|a, b| a[32..].cmp(&b[32..]));
    lines.concat()
}

fn parent_folders(files: &[ArchiveEntry]) -> Vec<ArchiveEntry> {
    let mut folders = BTreeSet::from([String::new()]);
    for file in files {
        let ends = file.path.match_indices('/').map(|(at, _)| file.path[..at].to_owned());
        folders.extend(ends);
    }
    folders.into_iter().map(|path| ArchiveEntry::folder(path, 0o755, 0)).collect()
}

/// Returns the licences in Debian's machine-readable format.
fn copyright_file(mit: &str) -> String {
    let holder = mit.lines().find_map(|line| line.strip_prefix("Copyright (c) "));
    let text = mit.split_once("\n\n").and_then(|(_, rest)| rest.split_once("\n\n"));
    let text = text.map_or(mit, |(_, text)| text);
    let indented: String = text
        .lines()
        .map(|line| if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") })
        .collect();
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: memoranda\n\
         Source: {HOMEPAGE}\n\
         \n\
         Files: *\n\
         Copyright: {}\n\
         License: MIT or Apache-2.0\n\
         \n\
         License: MIT\n\
         {indented}\
         \n\
         License: Apache-2.0\n\
         \x20On Debian systems, the text of the Apache License, Version 2.0 is in\n\
         \x20/usr/share/common-licenses/Apache-2.0.\n",
        holder.unwrap_or("The Memoranda contributors"),
    )
}

fn debian_changelog(version: &str) -> String {
    format!(
        "memoranda ({version}) unstable; urgency=medium\n\n  * See changelog.gz.\n\n \
         -- {MAINTAINER}  Sat, 26 Oct 1985 08:15:00 +0000\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_follow_from_symbols() {
        let check = |versions: &[&str], libraries: &[&str], expected: &[&str]| {
            let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let requirements = ElfRequirements {
                interpreter: None,
                libraries: texts(libraries),
                versions: texts(versions),
            };
            assert_eq!(dependencies(&requirements), expected);
        };
        let versions = ["GLIBC_2.34", "GLIBC_2.4", "GCC_3.3", "GCC_4.2.0"];
        check(&versions, &["libc.so.6"], &["libc6 (>= 2.34)", "libgcc-s1 (>= 4.2)"]);
        check(&[], &["libc.so.6"], &["libc6"]);
        check(&[], &[], &[]);
    }

    #[test]
    fn prereleases_come_before_their_release() {
        assert_eq!(debian_version("1.0.0-rc.1"), "1.0.0~rc.1");
        assert_eq!(debian_version("1.0.0"), "1.0.0");
    }

    #[test]
    fn checksums_are_sorted_by_path() {
        let files = [ArchiveEntry::file("usr/b", *b""), ArchiveEntry::file("usr/a", *b"a")];
        let expected = "0cc175b9c0f1b6a831c399e269772661  usr/a\n\
                        d41d8cd98f00b204e9800998ecf8427e  usr/b\n";
        assert_eq!(md5sums(&files), expected);
    }

    #[test]
    fn the_copyright_file_holds_the_licence() {
        let file =
            copyright_file("MIT License\n\nCopyright (c) 2026 Us\n\nPermission\n\nThe end\n");
        assert!(file.contains("Copyright: 2026 Us\n"), "{file}");
        assert!(file.contains("License: MIT\n Permission\n .\n The end\n\n"), "{file}");
    }
}
