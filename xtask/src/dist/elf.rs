//! Reads what an ELF program requires of the system that runs it.

use crate::Result;

const SECTION_DYNAMIC: u32 = 6;
const SECTION_VERSIONS_NEEDED: u32 = 0x6fff_fffe;
const SEGMENT_INTERPRETER: u32 = 3;
const DYNAMIC_NEEDED: u64 = 1;

/// Loader, shared libraries and symbol versions of a program. All are empty if it is linked statically.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ElfRequirements {
    /// Path of the dynamic loader.
    pub(super) interpreter: Option<String>,
    /// File names of shared libraries, such as `libc.so.6`.
    pub(super) libraries: Vec<String>,
    /// Symbol versions, such as `GLIBC_2.34`.
    pub(super) versions: Vec<String>,
}

impl ElfRequirements {
    /// Reads the headers of a 64-bit little-endian program. `None` if the file is in another format.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>> {
        if !bytes.starts_with(b"\x7fELF\x02\x01") {
            return Ok(None);
        }
        let file = ElfFile(bytes);
        let mut requirements = Self::default();
        for segment in file.table(32, 54, 56)? {
            if file.u32(segment)? == SEGMENT_INTERPRETER {
                requirements.interpreter = Some(file.text(file.offset(segment + 8)?)?);
            }
        }
        let sections = file.table(40, 58, 60)?;
        for &section in &sections {
            let kind = file.u32(section + 4)?;
            if kind != SECTION_DYNAMIC && kind != SECTION_VERSIONS_NEEDED {
                continue;
            }
            let (start, size) = (file.offset(section + 24)?, file.offset(section + 32)?);
            let strings = sections.get(file.u32(section + 40)? as usize);
            let strings = file.offset(strings.ok_or("a section has no strings")? + 24)?;
            if kind == SECTION_DYNAMIC {
                for entry in (start..start + size).step_by(16) {
                    if file.u64(entry)? == DYNAMIC_NEEDED {
                        let name = strings + file.offset(entry + 8)?;
                        requirements.libraries.push(file.text(name)?);
                    }
                }
            } else {
                let libraries = file.u32(section + 44)?;
                requirements.versions = file.versions(start, libraries, strings)?;
            }
        }
        requirements.libraries.sort();
        requirements.versions.sort();
        requirements.versions.dedup();
        Ok(Some(requirements))
    }

    /// Returns true if the program runs without a loader and without libraries.
    pub(super) fn is_static(&self) -> bool {
        self.interpreter.is_none() && self.libraries.is_empty()
    }

    /// Returns the oldest version of a library that has all required symbols, such as `(2, 34)` for `GLIBC_`.
    pub(super) fn minimum_version(&self, prefix: &str) -> Option<(u32, u32)> {
        let numbers = self.versions.iter().filter_map(|version| {
            let mut parts = version.strip_prefix(prefix)?.split('.');
            let major = parts.next()?.parse().ok()?;
            Some((major, parts.next().map_or(Some(0), |minor| minor.parse().ok())?))
        });
        numbers.max()
    }
}

/// Bounds-checked access to the fields of a file.
struct ElfFile<'a>(&'a [u8]);

impl ElfFile<'_> {
    /// Returns the offsets of a table's entries. The arguments are the offsets of three header
    /// fields: start, entry size and entry count.
    fn table(&self, start: usize, size: usize, count: usize) -> Result<Vec<usize>> {
        let (start, size) = (self.offset(start)?, usize::from(self.u16(size)?));
        let count = usize::from(self.u16(count)?);
        Ok((0..count).map(|n| start.saturating_add(n * size)).collect())
    }

    /// Follows the lists of symbol versions that each library must have.
    fn versions(&self, start: usize, libraries: u32, strings: usize) -> Result<Vec<String>> {
        let mut versions = Vec::new();
        let mut library = start;
        for _ in 0..libraries {
            let mut version = library.saturating_add(self.u32(library + 8)? as usize);
            for _ in 0..self.u16(library + 2)? {
                let name = strings.saturating_add(self.u32(version + 8)? as usize);
                versions.push(self.text(name)?);
                version = version.saturating_add(self.u32(version + 12)? as usize);
            }
            library = library.saturating_add(self.u32(library + 12)? as usize);
        }
        Ok(versions)
    }

    fn bytes<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        let bytes = at.checked_add(N).and_then(|end| self.0.get(at..end));
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        Ok(bytes.ok_or_else(|| format!("the program is cut short: it has no byte {at}"))?)
    }

    fn u16(&self, at: usize) -> Result<u16> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: usize) -> Result<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: usize) -> Result<u64> {
        self.bytes(at).map(u64::from_le_bytes)
    }

    /// Reads an offset or size, which must be within the file.
    fn offset(&self, at: usize) -> Result<usize> {
        let offset = usize::try_from(self.u64(at)?)?;
        if offset > self.0.len() {
            return Err(format!("the program is cut short: it has no byte {offset}").into());
        }
        Ok(offset)
    }

    /// Reads text up to the next zero byte.
    fn text(&self, at: usize) -> Result<String> {
        let rest = self.0.get(at..).ok_or("a text of the program lies behind its end")?;
        let end = rest.iter().position(|&byte| byte == 0).ok_or("a text has no end")?;
        Ok(String::from_utf8(rest[..end].to_owned())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    #[test]
    fn a_dynamic_program_names_its_libraries() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let read = ElfRequirements::read(&bytes).unwrap().unwrap();
        assert!(!read.is_static());
        assert!(read.interpreter.as_deref().unwrap().contains("ld-linux"), "{read:?}");
        assert!(read.libraries.iter().any(|name| name == "libc.so.6"), "{read:?}");
        assert!(read.minimum_version("GLIBC_").unwrap() >= (2, 17), "{read:?}");
        // Every cut is an error or misses something, and none panics.
        for length in (0..4096).chain((4096..bytes.len()).step_by(bytes.len() / 50)) {
            let cut = ElfRequirements::read(&bytes[..length]);
            assert!(!matches!(cut, Ok(Some(cut)) if cut == read), "{length}");
        }
    }

    #[test]
    fn other_formats_are_left_alone() {
        assert_eq!(ElfRequirements::read(b"#!/bin/sh\n").unwrap(), None);
        assert_eq!(ElfRequirements::read(b"").unwrap(), None);
    }

    #[test]
    fn the_newest_symbol_decides() {
        let check = |versions: &[&str], expected| {
            let versions = versions.iter().map(|&version| version.to_owned()).collect();
            let read = ElfRequirements { versions, ..ElfRequirements::default() };
            assert_eq!(read.minimum_version("GLIBC_"), expected);
        };
        check(&["GLIBC_2.9", "GLIBC_2.34", "GLIBC_2.2.5", "GCC_3.0"], Some((2, 34)));
        check(&["GLIBC_PRIVATE", "GCC_4.2.0"], None);
        check(&[], None);
    }
}
