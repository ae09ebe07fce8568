//! The folders of projects in the index.

use memoranda_core::id::ProjectName;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{project_id, project_id_of};
use crate::error::Result;
use crate::vault::boot::MachineRun;

/// The folder of a project in the index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KnownFolder {
    pub(crate) project: ProjectName,
    /// True if the folder was in the vault and on its device; `None` if this index never saw it.
    pub(crate) within: Option<bool>,
}

/// Returns the folders of all projects with a history.
pub(crate) fn folders(db: &Connection) -> Result<Vec<KnownFolder>> {
    let mut query = db.prepare_cached("SELECT name, root_within FROM projects ORDER BY name")?;
    let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
    let mut folders = Vec::new();
    for row in rows {
        let (name, within) = row?;
        folders
            .extend(ProjectName::parse(&name).ok().map(|project| KnownFolder { project, within }));
    }
    Ok(folders)
}

/// Takes over the record of a folder from another index.
pub(crate) fn note_within(db: &Connection, folder: &KnownFolder) -> Result<()> {
    let project = project_id(db, &folder.project)?;
    db.prepare_cached("UPDATE projects SET root_within = ?2 WHERE id = ?1")?
        .execute(params![project, folder.within])?;
    Ok(())
}

/// Returns true if the folder of a project was scanned completely; `None` if this index has no
/// record.
pub(crate) fn is_scanned(db: &Connection, project: i64) -> Result<Option<bool>> {
    Ok(db
        .prepare_cached("SELECT scanned FROM projects WHERE id = ?")?
        .query_row([project], |row| row.get(0))?)
}

/// Records that the folder of a project was scanned completely, or was not.
pub(crate) fn set_scanned(db: &Connection, project: i64, is_scanned: bool) -> Result<()> {
    db.prepare_cached("UPDATE projects SET scanned = ?2 WHERE id = ?1 AND scanned IS NOT ?2")?
        .execute(params![project, is_scanned])?;
    Ok(())
}

/// Returns the run of the machine in which the folder of a project was last scanned completely;
/// `None` if this index has no record.
pub(crate) fn scanned_in(db: &Connection, project: i64) -> Result<Option<MachineRun>> {
    let run: Option<Option<String>> = db
        .prepare_cached("SELECT scanned_in FROM projects WHERE id = ?")?
        .query_row([project], |row| row.get(0))
        .optional()?;
    Ok(run.flatten().and_then(|run| MachineRun::decode(&run)))
}

/// Records the run of the machine in which the folder of a project was scanned completely.
pub(crate) fn set_scanned_in(db: &Connection, project: i64, run: MachineRun) -> Result<()> {
    db.prepare_cached(
        "UPDATE projects SET scanned_in = ?2 WHERE id = ?1 AND scanned_in IS NOT ?2",
    )?
    .execute(params![project, run.encode()])?;
    Ok(())
}

/// Marks a project as leaving, or clears the mark.
pub(crate) fn set_leaving(db: &Connection, name: &ProjectName, is_leaving: bool) -> Result<()> {
    db.prepare_cached("UPDATE projects SET is_leaving = ?2 WHERE name = ?1")?
        .execute(params![name.as_str(), is_leaving])?;
    Ok(())
}

/// Returns the projects marked as leaving. Usually there are none.
pub(crate) fn leaving(db: &Connection) -> Result<Vec<ProjectName>> {
    let mut query = db.prepare_cached("SELECT name FROM projects WHERE is_leaving = 1")?;
    let rows = query.query_map([], |row| row.get::<_, String>(0))?;
    let names = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(names.iter().filter_map(|name| ProjectName::parse(name).ok()).collect())
}

/// Returns true if the index contains a file of a project.
pub(crate) fn has_files(db: &Connection, name: &ProjectName) -> Result<bool> {
    let project = project_id_of(db, name)?;
    Ok(db
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM files WHERE project = ?)")?
        .query_row([project], |row| row.get(0))?)
}

/// First and last recorded time of a file, by path and version.
pub(crate) struct KnownTimes {
    path: String,
    hash: Option<[u8; 32]>,
    created_ms: i64,
    updated_ms: i64,
}

/// Returns the times of all files of a project.
pub(crate) fn times(db: &Connection, name: &ProjectName) -> Result<Vec<KnownTimes>> {
    let mut query = db
        .prepare_cached("SELECT path, hash, created_ms, updated_ms FROM files WHERE project = ?")?;
    let rows = query.query_map([project_id_of(db, name)?], |row| {
        Ok(KnownTimes {
            path: row.get(0)?,
            hash: row.get(1)?,
            created_ms: row.get(2)?,
            updated_ms: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Takes over the times of files that are recorded in the log and were never read.
pub(crate) fn take_times(db: &Connection, name: &ProjectName, times: &[KnownTimes]) -> Result<()> {
    let project = project_id_of(db, name)?;
    let mut update = db.prepare_cached(
        "UPDATE files SET created_ms = ?4, updated_ms = ?5 \
         WHERE project = ?1 AND path = ?2 AND hash IS ?3 AND checked_ns = 0",
    )?;
    for known in times {
        update.execute(params![
            project,
            known.path,
            known.hash,
            known.created_ms,
            known.updated_ms
        ])?;
    }
    Ok(())
}
