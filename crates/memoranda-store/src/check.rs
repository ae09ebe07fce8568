//! Proving that files, log and index agree.

use std::collections::BTreeSet;
use std::path::Path;

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::commit::lost_files::LostFile;
use crate::error::{Result, StoreError};
use crate::files::{FilePrint, walk};
use crate::index::{self, FileProblems, history};
use crate::log::chain::ChainEnd;
use crate::log::{LogDamage, LogRecord, ReadCheck};
use crate::{Store, StoreInner};

/// Findings of a check. If every list is empty, files, log and index agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Stretches of the log that are no whole records.
    pub damage: Vec<LogDamage>,
    /// Records that do not follow the record before them in the log of their device.
    pub broken_links: Vec<BrokenLink>,
    /// Acknowledged versions that are gone from the files without an edit that was seen.
    pub lost: Vec<LostFile>,
    /// Contents of existing files that the log cannot give back.
    pub unkept: Vec<(ProjectName, NotePath)>,
    /// Files whose bytes differ from the index.
    pub stale: Vec<(ProjectName, NotePath)>,
    /// Tables of the index that differ from what the files and the log give.
    pub differing: Vec<String>,
    /// Projects whose folder cannot be reached, and why.
    pub unavailable: Vec<(ProjectName, String)>,
    /// Notes with problems in their text; they are searched all the same.
    pub problems: Vec<FileProblems>,
    /// Number of checked files.
    pub files: usize,
    /// Number of commits that were read and verified.
    pub commits: usize,
}

/// A record that does not follow the one before it: records are missing, or were changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLink {
    /// The device whose log it is.
    pub device: String,
    /// The number of the record in that log.
    pub seq: u64,
}

impl CheckReport {
    /// Returns true if files, log and index agree and no acknowledged version is lost.
    pub fn is_ok(&self) -> bool {
        self.agrees() && self.lost.is_empty()
    }

    /// Returns true if files, log and index agree. Problems in a person's text do not count.
    pub fn agrees(&self) -> bool {
        self.damage.is_empty()
            && self.broken_links.is_empty()
            && self.unkept.is_empty()
            && self.stale.is_empty()
            && self.differing.is_empty()
    }
}

impl Store {
    /// Reads everything and checks that files, log and index agree. `scratch` is an empty folder
    /// for a second index, built for comparison.
    pub fn check(&self, scratch: &Path) -> Result<CheckReport> {
        let mut report = self.inner.check()?;
        let mut options = self.inner.options.clone();
        options.cache = scratch.to_owned();
        let fresh = Self::open(options)?;
        // Only who looked at a folder while it was there can tell whether it may be away.
        fresh.inner.note_within(&self.inner.ask(index::folders)?)?;
        let looked = fresh.sync(&mut |_| {})?;
        let away = looked.unavailable.iter().map(|(name, _)| name);
        // An unreadable file is in both indexes by its logged content; only one index has its
        // times.
        let unseen: BTreeSet<_> =
            away.chain(looked.unreadable.iter().map(|(name, ..)| name)).collect();
        for name in unseen {
            fresh.inner.take_times(name, &self.inner.ask(|db| index::times(db, name))?)?;
        }
        let live = self.fingerprint()?;
        for ((table, ours), (_, anew)) in live.into_iter().zip(fresh.fingerprint()?) {
            if ours != anew {
                report.differing.push(table.to_owned());
            }
        }
        Ok(report)
    }
}

impl StoreInner {
    /// Reads the whole log and every file, and compares them with the index.
    pub(crate) fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        for device in self.log.devices()? {
            let mut last = ChainEnd::default();
            let whole = ReadCheck::Whole;
            let read = self.log.read_from(&device, Default::default(), whole, |placed| {
                let LogRecord { link, .. } = &placed.record;
                report.commits += usize::from(placed.record.is_commit());
                let follows = link.seq == last.seq + 1 && link.previous == last.hash;
                if link.seq > 0 && !follows {
                    report.broken_links.push(BrokenLink { device: device.clone(), seq: link.seq });
                }
                last = last.after(&placed.record);
                Ok(())
            })?;
            report.damage.extend(read.damage);
        }
        for project in self.vault.projects()? {
            let root = match self.root(&project) {
                Ok(root) => root,
                Err(StoreError::ProjectUnavailable { name, reason }) => {
                    report.unavailable.push((name, reason));
                    continue;
                }
                Err(e) => return Err(e),
            };
            for file in walk(&root).files {
                report.files += 1;
                let Ok(Some(found)) = root.read(&file.path) else { continue };
                let place = (project.name.clone(), file.path.clone());
                let (row, content, print) = self.ask(|db| {
                    let id = index::project_id_of(db, &project.name)?;
                    let row = index::row(db, id, &file.path)?;
                    let print = row.as_ref().map(|row| index::stored_print(db, row.id));
                    let print = print.transpose()?.flatten();
                    Ok((row, history::content_at(db, found.hash)?, print))
                })?;
                let is_note = row.as_ref().is_none_or(|row| row.kind != index::FileKind::Other);
                let of_row = row.as_ref().map(|row| FilePrint::of(&file.path, row.stat));
                if row.and_then(|row| row.hash) != Some(found.hash) || print != of_row {
                    report.stale.push(place.clone());
                }
                let kept = content.is_some_and(|at| self.log.content(&at, found.hash).is_ok());
                if is_note && !kept {
                    report.unkept.push(place);
                }
            }
        }
        for name in self.vault.links()? {
            let reason = format!(
                "it is a symbolic link, which is not followed; `memoranda project add {name} DIR` \
                 with the folder that it leads to makes that the project"
            );
            report.unavailable.push((name, reason));
        }
        for (name, reason) in self.away()? {
            if report.unavailable.iter().all(|(known, _)| *known != name) {
                report.unavailable.push((name, reason));
            }
        }
        report.lost = self.lost_files()?;
        report.problems = self.fresh_snapshot()?.problems()?;
        Ok(report)
    }
}
