//! Writes tar, gzip, zip and ar archives whose bytes depend only on their entries.

use std::io::Write as _;
use std::rc::Rc;

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::SimpleFileOptions;

use crate::Result;

/// Modification time of every entry, in seconds since 1970: 1985-10-26 08:15 UTC, as npm uses.
/// Zip knows no time before 1980, and Debian's checks reject files from before 1984.
pub(super) const ENTRY_TIME: u64 = 499_162_500;

/// Maximum length in bytes of an entry's path: the name field of a tar header.
const MAX_TAR_PATH: usize = 100;

/// A file or folder of an archive.
#[derive(Clone)]
pub(super) struct ArchiveEntry {
    pub(super) path: String,
    /// `None` for a folder.
    pub(super) contents: Option<Rc<[u8]>>,
    pub(super) mode: u32,
    /// User and group id.
    pub(super) owner: u64,
}

impl ArchiveEntry {
    /// Creates an entry for a file that everybody may read.
    pub(super) fn file(path: impl Into<String>, contents: impl Into<Rc<[u8]>>) -> Self {
        Self { path: path.into(), contents: Some(contents.into()), mode: 0o644, owner: 0 }
    }

    /// Creates an entry for a file that everybody may run.
    pub(super) fn program(path: impl Into<String>, contents: impl Into<Rc<[u8]>>) -> Self {
        Self { mode: 0o755, ..Self::file(path, contents) }
    }

    /// Creates an entry for a folder.
    pub(super) fn folder(path: impl Into<String>, mode: u32, owner: u64) -> Self {
        Self { path: path.into(), contents: None, mode, owner }
    }
}

/// Compresses bytes with gzip as far as possible, which Debian requires for manual pages.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Returns a compressed tar archive of the entries, with a prefix before each path.
pub(super) fn tar_gz(prefix: &str, entries: &[ArchiveEntry]) -> Result<Vec<u8>> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for entry in sorted(entries) {
        let slash = if entry.contents.is_some() || entry.path.is_empty() { "" } else { "/" };
        let path = format!("{prefix}{}{slash}", entry.path);
        let contents = entry.contents.as_deref().unwrap_or_default();
        let mut header = tar::Header::new_gnu();
        // The setter of the crate drops the leading `./` that Debian's tools write.
        let name = header.as_gnu_mut().ok_or("a tar header has no GNU fields")?;
        if path.len() > MAX_TAR_PATH {
            return Err(format!("the path {path} is too long for a tar archive").into());
        }
        name.name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(match entry.contents {
            Some(_) => tar::EntryType::Regular,
            None => tar::EntryType::Directory,
        });
        header.set_size(contents.len() as u64);
        header.set_mode(entry.mode);
        header.set_uid(entry.owner);
        header.set_gid(entry.owner);
        header.set_mtime(ENTRY_TIME);
        header.set_cksum();
        tar.append(&header, contents)?;
    }
    Ok(tar.into_inner()?.finish()?)
}

/// Returns a zip archive of the entries.
pub(super) fn zip(entries: &[ArchiveEntry]) -> Result<Vec<u8>> {
    let time = zip::DateTime::from_date_and_time(1985, 10, 26, 8, 15, 0)?;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for entry in sorted(entries) {
        let contents =
            entry.contents.as_deref().ok_or("a zip archive has no entries for folders")?;
        let options =
            SimpleFileOptions::default().unix_permissions(entry.mode).last_modified_time(time);
        zip.start_file(&entry.path, options)?;
        zip.write_all(contents)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Returns an ar archive, the outer format of a Debian package. The order is kept: dpkg requires it.
pub(super) fn ar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, contents) in members {
        let size = contents.len();
        let header =
            format!("{name:<16}{ENTRY_TIME:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, "100644");
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(contents);
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

fn sorted(entries: &[ArchiveEntry]) -> Vec<&ArchiveEntry> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<ArchiveEntry> {
        vec![
            ArchiveEntry::program("b/program", *b"run"),
            ArchiveEntry::file("a", *b"text"),
            ArchiveEntry::folder("b", 0o755, 1000),
            ArchiveEntry::folder("", 0o755, 0),
        ]
    }

    #[test]
    fn tar_archives_are_sorted_and_equal_for_equal_entries() {
        let mut reversed = entries();
        reversed.reverse();
        let bytes = tar_gz("./", &entries()).unwrap();
        assert_eq!(bytes, tar_gz("./", &reversed).unwrap());
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
        let listed: Vec<_> = tar
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                let path = String::from_utf8(header.path_bytes().into_owned()).unwrap();
                (path, header.mode().unwrap(), header.uid().unwrap(), header.mtime().unwrap())
            })
            .collect();
        let row = |path: &str, mode, owner| (path.to_owned(), mode, owner, ENTRY_TIME);
        assert_eq!(
            listed,
            [
                // dpkg cannot remove a package whose root is written in another way.
                row("./", 0o755, 0),
                row("./a", 0o644, 0),
                row("./b/", 0o755, 1000),
                row("./b/program", 0o755, 0)
            ]
        );
    }

    #[test]
    fn a_path_that_does_not_fit_is_an_error() {
        let long = ArchiveEntry::file("x".repeat(101), *b"");
        assert!(tar_gz("", &[long]).unwrap_err().to_string().contains("too long"));
    }

    #[test]
    fn zip_archives_keep_modes_and_have_no_clock() {
        let files: Vec<_> =
            entries().into_iter().filter(|entry| entry.contents.is_some()).collect();
        let bytes = zip(&files).unwrap();
        assert_eq!(bytes, zip(&files).unwrap());
        let mut read = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let program = read.by_name("b/program").unwrap();
        assert_eq!(program.unix_mode().unwrap() & 0o777, 0o755);
        assert_eq!(program.last_modified().unwrap().year(), 1985);
    }

    #[test]
    fn ar_members_begin_at_even_offsets() {
        let archive = ar(&[("debian-binary", b"2.0"), ("x", b"y")]);
        let text = String::from_utf8(archive).unwrap();
        let expected = "!<arch>\n\
            debian-binary   499162500   0     0     100644  3         `\n2.0\n\
            x               499162500   0     0     100644  1         `\ny\n";
        assert_eq!(text, expected);
    }
}
