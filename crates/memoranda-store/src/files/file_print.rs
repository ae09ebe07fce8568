//! Path and metadata of a file in sixteen bytes.

use memoranda_core::path::NotePath;

use super::FileStat;

/// Hash of a path with the metadata of its file. Equal prints mean an equal path and equal metadata.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FilePrint(pub(crate) u128);

impl FilePrint {
    /// Computes the print of a file.
    pub(crate) fn of(path: &NotePath, stat: FileStat) -> Self {
        let FileStat { size, mtime_ns, ctime_ns, inode } = stat;
        let mut hasher = blake3::Hasher::new();
        for number in [size, mtime_ns.cast_unsigned(), ctime_ns.cast_unsigned(), inode] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(path.as_str().as_bytes());
        let hash = hasher.finalize();
        Self(hash.as_bytes().first_chunk().map_or(0, |half| u128::from_le_bytes(*half)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_and_every_number_count() {
        let path = |text| NotePath::parse(text).unwrap();
        let stat = FileStat { size: 1, mtime_ns: 2, ctime_ns: 3, inode: 4 };
        let print = FilePrint::of(&path("a.md"), stat);
        assert_eq!(FilePrint::of(&path("a.md"), stat), print);
        assert_ne!(FilePrint::of(&path("b.md"), stat), print);
        for other in [
            FileStat { size: 5, ..stat },
            FileStat { mtime_ns: 5, ..stat },
            FileStat { ctime_ns: 5, ..stat },
            FileStat { inode: 5, ..stat },
        ] {
            assert_ne!(FilePrint::of(&path("a.md"), other), print, "{other:?}");
        }
    }
}
