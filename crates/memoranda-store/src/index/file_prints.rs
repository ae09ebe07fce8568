//! Prints of files: path and metadata of each file in sixteen bytes, with which a scan compares the
//! whole project. The rows of the files themselves are many times as large.
//!
//! A print that is missing is no proof of anything: the scan then compares the row of the file.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::Result;
use crate::files::{FilePrint, FileStat};
use crate::scan::TimeProof;

/// Stores the print of a file that was read.
pub(super) fn put(
    db: &Connection,
    (project, file): (i64, i64),
    path: &NotePath,
    (stat, checked_ns): (FileStat, i64),
) -> Result<()> {
    let print = FilePrint::of(path, stat).0.to_le_bytes();
    let proofs = TimeProof::ALL.iter().filter(|proof| proof.covers(stat, checked_ns)).count();
    let values = params![file, project, print, proofs as i64];
    // `INSERT OR REPLACE` may need a savepoint, at which FTS5 flushes its pending data.
    let update = "UPDATE file_prints SET project = ?2, print = ?3, proofs = ?4 WHERE file = ?1";
    if db.prepare_cached(update)?.execute(values)? == 0 {
        let insert =
            "INSERT INTO file_prints (file, project, print, proofs) VALUES (?1, ?2, ?3, ?4)";
        db.prepare_cached(insert)?.execute(values)?;
    }
    Ok(())
}

/// Removes the print of a file.
pub(super) fn remove(db: &Connection, file: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM file_prints WHERE file = ?")?.execute([file])?;
    Ok(())
}

/// Returns the stored print of a file.
pub(crate) fn stored_print(db: &Connection, file: i64) -> Result<Option<FilePrint>> {
    let mut select = db.prepare_cached("SELECT print FROM file_prints WHERE file = ?")?;
    let print: Option<[u8; 16]> = select.query_row([file], |row| row.get(0)).optional()?;
    Ok(print.map(|print| FilePrint(u128::from_le_bytes(print))))
}

/// The prints of all files of a project.
pub(crate) struct FilePrints {
    numbers: HashMap<u128, u32, BuildHasherDefault<FirstBytes>>,
    files: Vec<StoredPrint>,
}

struct StoredPrint {
    file: i64,
    /// Number of proofs, of [`TimeProof::ALL`], that the times of the file give.
    proofs: usize,
    is_found: AtomicBool,
}

impl FilePrints {
    /// Reads the prints; `None` if not all files of the project have one.
    pub(crate) fn read(db: &Connection, project: i64) -> Result<Option<Self>> {
        let mut count = db.prepare_cached(
            "SELECT (SELECT count(*) FROM files INDEXED BY files_of_project WHERE project = ?1) \
             - (SELECT count(*) FROM files INDEXED BY files_unreached WHERE project = ?1 AND kind = 0)",
        )?;
        let expected: i64 = count.query_row([project], |row| row.get(0))?;
        let expected = usize::try_from(expected).unwrap_or_default();
        let mut prints = Self {
            numbers: HashMap::with_capacity_and_hasher(expected, BuildHasherDefault::default()),
            files: Vec::with_capacity(expected),
        };
        let mut select =
            db.prepare_cached("SELECT file, print, proofs FROM file_prints WHERE project = ?")?;
        let mut rows = select.query([project])?;
        while let Some(row) = rows.next()? {
            let print = row.get_ref(1)?.as_blob().unwrap_or_default();
            let Ok(print) = print.try_into().map(u128::from_le_bytes) else { return Ok(None) };
            let Ok(number) = u32::try_from(prints.files.len()) else { return Ok(None) };
            let proofs = usize::try_from(row.get::<_, i64>(2)?).unwrap_or_default();
            prints.files.push(StoredPrint {
                file: row.get(0)?,
                proofs,
                is_found: AtomicBool::new(false),
            });
            prints.numbers.insert(print, number);
        }
        let is_whole = prints.files.len() == expected && prints.numbers.len() == expected;
        Ok(is_whole.then_some(prints))
    }

    /// Returns true if a file is as it was read, as far as its times prove it.
    pub(crate) fn find(&self, FilePrint(print): FilePrint, proof: TimeProof) -> bool {
        let number = self.numbers.get(&print).and_then(|number| usize::try_from(*number).ok());
        let Some(stored) = number.and_then(|number| self.files.get(number)) else { return false };
        stored.is_found.store(true, Ordering::Relaxed);
        TimeProof::ALL.iter().take(stored.proofs).any(|given| *given == proof)
    }

    /// Returns the row numbers of the files whose prints were not found.
    pub(crate) fn missing(&self) -> impl Iterator<Item = i64> + '_ {
        let is_missing = |stored: &&StoredPrint| !stored.is_found.load(Ordering::Relaxed);
        self.files.iter().filter(is_missing).map(|stored| stored.file)
    }
}

/// A print is a hash already.
#[derive(Default)]
struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn index() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        db.execute("INSERT INTO projects (name) VALUES ('main')", []).unwrap();
        db
    }

    fn add_file(db: &Connection, file: i64, kind: i64) {
        let insert = "INSERT INTO files (id, project, path, path_key, kind, size, mtime_ns, ctime_ns, \
             inode, checked_ns) VALUES (?1, 1, ?2, ?2, ?3, 1, 2, 3, 4, 5)";
        db.execute(insert, params![file, format!("{file}.md"), kind]).unwrap();
    }

    fn path(file: i64) -> NotePath {
        NotePath::parse(&format!("{file}.md")).unwrap()
    }

    #[test]
    fn a_project_is_compared_by_prints_only_if_every_file_that_was_read_has_one() {
        let db = index();
        let stat = FileStat { size: 1, mtime_ns: 2, ctime_ns: 3, inode: 4 };
        let late = stat.ctime_ns + 3_600_000_000_000;
        assert!(FilePrints::read(&db, 1).unwrap().is_some());
        add_file(&db, 1, 1);
        add_file(&db, 2, 3);
        add_file(&db, 3, 0);
        put(&db, (1, 1), &path(1), (stat, late)).unwrap();
        assert!(FilePrints::read(&db, 1).unwrap().is_none());
        put(&db, (1, 2), &path(2), (stat, late)).unwrap();
        let prints = FilePrints::read(&db, 1).unwrap().unwrap();
        assert!(prints.find(FilePrint::of(&path(2), stat), TimeProof::AfterRestart));
        let other = FileStat { ctime_ns: 4, ..stat };
        assert!(!prints.find(FilePrint::of(&path(1), other), TimeProof::SameRun));
        assert_eq!(prints.missing().collect::<Vec<_>>(), [1]);
        // A row too many shows that something was not written together.
        remove(&db, 2).unwrap();
        assert!(FilePrints::read(&db, 1).unwrap().is_none());
    }

    #[test]
    fn the_times_of_a_file_prove_as_much_as_those_of_its_row() {
        let db = index();
        let stat = FileStat { size: 1, mtime_ns: 2, ctime_ns: 3, inode: 4 };
        let second = 1_000_000_000;
        add_file(&db, 1, 1);
        for (later, expected) in
            [(1, [false, false]), (second, [true, false]), (3600 * second, [true; 2])]
        {
            put(&db, (1, 1), &path(1), (stat, stat.ctime_ns + later)).unwrap();
            let prints = FilePrints::read(&db, 1).unwrap().unwrap();
            let found =
                TimeProof::ALL.map(|proof| prints.find(FilePrint::of(&path(1), stat), proof));
            assert_eq!(found, expected, "{later} ns later");
            assert_eq!(prints.missing().count(), 0);
            let covered = TimeProof::ALL.map(|proof| proof.covers(stat, stat.ctime_ns + later));
            assert_eq!(found, covered, "{later} ns later");
        }
    }
}
