//! Compares the files of a walk with the index: which of them have to be read, and which are gone.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use rusqlite::Connection;

use crate::error::{Result, StoreError};
use crate::files::{DirWalk, ProjectRoot, WalkedFile, walk_passing_over};
use crate::index::extract::FileKind;
use crate::index::{self, FilePrints, FileRow, FileRows};
use crate::scan::reconcile::{ChangedCandidate, ProjectScan};
use crate::scan::{TimeProof, is_as_seen};
use crate::vault::boot::MachineRun;
use crate::{StoreInner, threads};

/// Number of rows that are looked up one by one, whatever the number of files.
const MAX_LOOKUPS: usize = 256;
/// Up to one file in so many is looked up by itself. For more, all rows are read.
const LOOKUP_SHARE: usize = 16;

/// Files of a project as the index knows them.
pub(super) struct KnownProject {
    files: KnownFiles,
    proof: TimeProof,
}

enum KnownFiles {
    /// A few bytes of each file.
    Prints(FilePrints),
    /// The row of each file, if some have no print.
    Rows(FileRows),
}

impl KnownProject {
    /// Reads what is compared in a run of the machine.
    fn read(db: &Connection, name: &ProjectName, run: MachineRun) -> Result<Self> {
        let project = index::project_id_of(db, name)?;
        let files = match FilePrints::read(db, project)? {
            Some(prints) => KnownFiles::Prints(prints),
            None => KnownFiles::Rows(index::all_rows(db, project)?),
        };
        Ok(Self { files, proof: TimeProof::of(run, index::scanned_in(db, project)?) })
    }

    /// Returns true if a file is as it was read. False if its print does not show it.
    fn is_as_read(&self, file: &WalkedFile) -> bool {
        match &self.files {
            KnownFiles::Prints(prints) => prints.find(file.print, self.proof),
            KnownFiles::Rows(_) => false,
        }
    }
}

impl StoreInner {
    /// Asks the system for the files of a project, and the index for what it knows of them. Files that
    /// are as they were read are passed over as soon as both are known.
    pub(super) fn look(
        &self,
        name: &ProjectName,
        root: &ProjectRoot,
        run: MachineRun,
    ) -> Result<(DirWalk, KnownProject)> {
        let known = OnceLock::new();
        let ask = || -> Result<()> {
            let read = self.ask(|db| KnownProject::read(db, name, run))?;
            // Asked once.
            known.set(read).ok();
            Ok(())
        };
        let is_as_read = |file: &WalkedFile| {
            known.get().is_some_and(|known: &KnownProject| known.is_as_read(file))
        };
        let (walk, asked) = std::thread::scope(|scope| {
            let asking = threads::start(scope, ask);
            (walk_passing_over(root, &is_as_read), threads::join_or_run(asking, ask))
        });
        asked?;
        let known = known.into_inner().ok_or(StoreError::Closing)?;
        Ok((walk, known))
    }

    /// Returns the files of a walk that may have changed, and the files that the walk lacks.
    pub(super) fn compare(
        &self,
        name: &ProjectName,
        walk: &DirWalk,
        known: KnownProject,
    ) -> Result<ProjectScan> {
        let KnownProject { files, proof } = known;
        let prints = match files {
            KnownFiles::Prints(prints) => prints,
            KnownFiles::Rows(rows) => return Ok(compare_rows(walk, &rows, proof, |_| true)),
        };
        let is_changed = |file: &&WalkedFile| !prints.find(file.print, proof);
        let changed: Vec<&WalkedFile> = walk.files.iter().filter(is_changed).collect();
        let missing: HashSet<i64> = prints.missing().collect();
        let lookups = changed.len() + missing.len();
        if lookups > MAX_LOOKUPS.max(walk.seen() / LOOKUP_SHARE) {
            let rows = self.ask(|db| index::all_rows(db, index::project_id_of(db, name)?))?;
            // Files that were passed over have a row, too.
            let may_be_gone =
                |row: &FileRow| row.kind == FileKind::Known || missing.contains(&row.id);
            return Ok(compare_rows(walk, &rows, proof, may_be_gone));
        }
        let (rows, mut absent) = self.ask(|db| {
            let project = index::project_id_of(db, name)?;
            let row = |file: &&WalkedFile| index::row(db, project, &file.path);
            let rows = changed.iter().map(row).collect::<Result<Vec<_>>>()?;
            // They have no prints.
            let mut absent = index::unreached_rows(db, project)?;
            for file in &missing {
                absent.extend(index::row_by_id(db, project, *file)?);
            }
            Ok((rows, absent))
        })?;
        let here: HashSet<&NotePath> = changed.iter().map(|file| &file.path).collect();
        absent.retain(|(path, _)| !here.contains(path) && !walk.is_unknown(path));
        absent.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        absent.dedup_by(|(a, _), (b, _)| a == b);
        let suspects = changed.iter().zip(&rows);
        let suspects = suspects.filter_map(|(file, row)| suspect(file, row.as_ref(), proof));
        Ok(ProjectScan { suspects: suspects.collect(), gone: absent })
    }
}

/// Compares each file with its row.
fn compare_rows(
    walk: &DirWalk,
    rows: &FileRows,
    proof: TimeProof,
    may_be_gone: impl Fn(&FileRow) -> bool,
) -> ProjectScan {
    let mut is_gone = vec![true; rows.iter().len()];
    let by_path: HashMap<&str, (usize, &FileRow)> =
        rows.iter().enumerate().map(|(n, (path, row))| (path, (n, row))).collect();
    let suspects = walk.files.iter().filter_map(|file| {
        let row = by_path.get(file.path.as_str()).map(|(n, row)| {
            is_gone.get_mut(*n).into_iter().for_each(|is_gone| *is_gone = false);
            *row
        });
        suspect(file, row, proof)
    });
    let suspects = suspects.collect();
    let gone = rows
        .iter()
        .zip(&is_gone)
        .filter(|((_, row), is_gone)| **is_gone && may_be_gone(row))
        .filter_map(|((path, row), _)| Some((NotePath::parse(path).ok()?, row.clone())))
        .filter(|(path, _)| !walk.is_unknown(path))
        .collect();
    ProjectScan { suspects, gone }
}

/// Returns a file that has to be read; `None` if it is as the index knows it.
fn suspect(file: &WalkedFile, row: Option<&FileRow>, proof: TimeProof) -> Option<ChangedCandidate> {
    let is_sure = |row: &FileRow| row.kind != FileKind::Known && is_as_seen(row, file.stat, proof);
    (!row.is_some_and(is_sure)).then(|| ChangedCandidate::new(file.path.clone(), file.stat, row))
}
