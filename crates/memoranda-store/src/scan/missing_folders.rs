//! Indexed projects whose folder is no longer in the vault.
//!
//! A person who removes or renames a folder of the vault removes its notes; the history has them.
//! But the drive of the folder may only be unmounted, a link may replace a moved folder, or the
//! vault itself may be missing. Then everything stays as indexed.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::StoreInner;
use crate::commit::external_edits::ExternalEdits;
use crate::error::{Result, StoreError, plain};
use crate::files::state_files;
use crate::index::{self, IndexBatch, KnownFolder, KnownTimes, history};
use crate::scan::ScanReport;

/// Number of files that are recorded as removed at a time.
const BATCH_FILES: usize = 1024;

/// Reason why a project has no folder.
enum MissingFolder {
    /// Somebody removed it.
    Removed,
    /// The folder cannot be reached, for this reason.
    Away(String),
    /// The person removed the project, and the index still has its files.
    Unregistered,
}

impl StoreInner {
    /// Notes what became of the projects that have no folder any more.
    pub(crate) fn settle_missing(&self, report: &mut ScanReport) -> Result<()> {
        for (name, missing) in self.missing()? {
            self.seed_from_history(&name)?;
            match missing {
                MissingFolder::Removed => self.record_removed(&name, report)?,
                MissingFolder::Unregistered => {
                    self.with_session(|session| self.forget_files(session.db, &name, &mut |_| {}))?;
                }
                MissingFolder::Away(reason) => {
                    self.remember_unreached(&name)?;
                    if self.ask(|db| index::has_files(db, &name))? {
                        report.unavailable.push((name, reason));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the projects with notes whose folder cannot be reached, with the reason, in addition
    /// to those that the vault lists.
    pub(crate) fn away(&self) -> Result<Vec<(ProjectName, String)>> {
        let mut away = Vec::new();
        for (name, missing) in self.missing()? {
            if let MissingFolder::Away(reason) = missing
                && self.ask(|db| index::has_files(db, &name))?
            {
                away.push((name, reason));
            }
        }
        Ok(away)
    }

    /// Takes over what another index knows of the folders that are not there.
    pub(crate) fn note_within(&self, folders: &[KnownFolder]) -> Result<()> {
        let projects = self.vault.projects()?;
        self.with_session(|session| {
            let missing = |folder: &&KnownFolder| projects.iter().all(|p| p.name != folder.project);
            for folder in folders.iter().filter(missing) {
                index::note_within(session.db, folder)?;
            }
            Ok(())
        })
    }

    /// Takes over the times of files that another index has seen and this one cannot.
    pub(crate) fn take_times(&self, name: &ProjectName, times: &[KnownTimes]) -> Result<()> {
        self.with_session(|session| {
            let transaction = session.db.unchecked_transaction().map_err(StoreError::from)?;
            index::take_times(session.db, name, times)?;
            transaction.commit().map_err(StoreError::from)?;
            self.index.note_written(session.db)
        })
    }

    fn missing(&self) -> Result<Vec<(ProjectName, MissingFolder)>> {
        let known = self.ask(index::folders)?;
        let projects = self.vault.projects()?;
        let mut missing = Vec::new();
        for folder in known {
            if projects.iter().all(|project| project.name != folder.project)
                && let Some(why) = self.why_missing(&folder)?
            {
                missing.push((folder.project, why));
            }
        }
        Ok(missing)
    }

    /// Returns the reason why a project has no folder; `None` if no report is needed.
    fn why_missing(&self, folder: &KnownFolder) -> Result<Option<MissingFolder>> {
        if !self.vault.is_there() {
            return Ok(None);
        }
        let name = &folder.project;
        let place = self.vault.home.join(name.as_str());
        // A project that another device has elsewhere was never a folder here.
        let is_own = || self.ask(|db| history::is_told_by(db, name, &self.vault.device));
        let away = |reason: String| Ok(Some(MissingFolder::Away(reason)));
        let has_files = || self.ask(|db| index::has_files(db, name));
        let is_elsewhere = folder.within == Some(false);
        if is_elsewhere && self.vault.last_removed(name)?.is_some() && has_files()? {
            return Ok(Some(MissingFolder::Unregistered));
        }
        match (state_files::kind(&place), folder.within) {
            (Ok(None), Some(true)) => Ok(Some(MissingFolder::Removed)),
            (Ok(None), Some(false)) => away(format!(
                "there is no folder {name} in the vault, and the one that there was did not lie on \
                 the drive of the vault (is its drive mounted? if it was removed on purpose, make \
                 an empty folder of that name and run `memoranda scan`)"
            )),
            (Ok(Some(state_files::PathKind::Folder)), _) => Ok(None),
            (_, None) if !is_own()? => Ok(None),
            // An index that never saw the folder cannot tell what became of it.
            (Ok(None), None) => away(format!(
                "there is no folder {name} in the vault, and this index has never seen it (if it \
                 was removed on purpose, make an empty folder of that name and run `memoranda scan`)"
            )),
            (Ok(Some(state_files::PathKind::Link)), _) => away(format!(
                "it is a symbolic link, which is not followed; `memoranda project add {name} DIR` \
                 with the folder that it leads to makes that the project"
            )),
            (Ok(Some(state_files::PathKind::Other)), _) => away("it is not a folder".into()),
            (Err(e), _) => away(plain(&e)),
        }
    }

    /// Records that all files of a project are gone, after looking once more with the vault in hand.
    fn record_removed(&self, name: &ProjectName, report: &mut ScanReport) -> Result<()> {
        let known = self.ask(|db| index::all_rows(db, index::project_id_of(db, name)?))?;
        let mut paths: Vec<_> =
            known.iter().filter_map(|(path, _)| NotePath::parse(path).ok()).collect();
        paths.sort_unstable();
        for paths in paths.chunks(BATCH_FILES) {
            self.stop_if_closing()?;
            let is_gone = || {
                let place = self.vault.home.join(name.as_str());
                // A folder of the same name in another case is another project.
                let is_unknown =
                    self.vault.projects().is_ok_and(|all| all.iter().all(|p| p.name != *name));
                is_unknown && self.vault.is_there() && matches!(state_files::kind(&place), Ok(None))
            };
            self.with_session(|session| -> Result<()> {
                if !is_gone() {
                    return Ok(());
                }
                let db = session.db;
                let transaction = db.unchecked_transaction()?;
                let mut batch = IndexBatch::new(db);
                let project = batch.project(name)?;
                let mut observation = ExternalEdits::default();
                for path in paths {
                    if let Some(known) = batch.head(project, path)?.and_then(|head| head.after) {
                        observation.remove(name, path, known);
                        report.removed += 1;
                    }
                    batch.remove(project, path)?;
                }
                session.record(observation)?;
                batch.finish()?;
                transaction.commit()?;
                self.index.note_written(db)
            })?;
        }
        Ok(())
    }
}
