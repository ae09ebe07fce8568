//! `memoranda admin space vacuum`: purges the log of a space, as `memoranda vacuum` purges a vault's.
//!
//! A copy of the log is purged in a folder of its own. Its records become the next epoch of the space,
//! which replaces the last one in one transaction if nobody has written since.

use std::sync::Arc;
use std::time::Duration;

use memoranda_engine::remote::RemoteLog as _;
use memoranda_engine::{Memory, SpaceOptions, VacuumReport, VacuumRequest};
use memoranda_remote::StagedLog;
use memoranda_remote::postgres::{Database, LogReplacement, PostgresLog, SpaceRow};
use serde_json::json;

use super::actions::actor;
use super::export;
use crate::commands::clone::remote_error;
use crate::commands::serve_team::database_error;
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::counted;

/// Maximum number of times that a purge starts again after a write to the space.
const MAX_TRIES: usize = 5;
const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// Purges a space.
pub(super) fn space(
    context: &CommandContext,
    database: &Database,
    name: &str,
    vacuum: &VacuumRequest,
    is_dry_run: bool,
) -> Result<()> {
    let space = export::find_space(database, name)?;
    let plan = with_copy(database, &space, |copy| Ok(copy.plan_vacuum(vacuum)?))?;
    if is_dry_run || plan.contents == 0 {
        let said = match plan.contents {
            0 => format!("Nothing to purge in {name}."),
            _ => format!("Would purge {} of {name}.", amount(&plan)),
        };
        return context.printer.done(&report_json(name, &plan, is_dry_run), said);
    }
    context.confirm(&format!("Purge {} of {name}? They cannot be restored.", amount(&plan)))?;
    for _ in 0..MAX_TRIES {
        if let Some(report) = purge(context, database, &space, vacuum)? {
            let said = format!("Purged {} of {name}; servers forget them.", amount(&report));
            return context.printer.done(&report_json(name, &report, false), said);
        }
    }
    let message = format!("{name} was written to all the time; nothing was purged");
    Err(CommandError::new(Exit::Conflict, message).hint("try again when it is used less"))
}

/// Purges a copy, and replaces the log by it. `None` if the space was written to meanwhile.
fn purge(
    context: &CommandContext,
    database: &Database,
    space: &SpaceRow,
    vacuum: &VacuumRequest,
) -> Result<Option<VacuumReport>> {
    let log = PostgresLog::new(database.clone(), space.id, space.device.as_str());
    let expected = log.head().map_err(remote_error)?;
    let staged = Arc::new(StagedLog::new(space.device.as_str(), expected.epoch + 1));
    let report = with_copy(database, space, |copy| {
        let report = copy.purge_copy(vacuum)?;
        let folder = private_folder()?;
        let options = SpaceOptions { root: folder.path().into(), lock_patience: LOCK_PATIENCE };
        Memory::open_space(&options, staged.clone())?.import_vault(copy, &mut |_, _| {})?;
        Ok(report)
    })?;
    let audit = format!("{}: {}", space.name, amount(&report));
    let replacement = LogReplacement {
        space: &space.name,
        expected,
        next: &staged.take(),
        decided_before: vacuum.before,
        audit: &audit,
    };
    if !database.replace_log(&actor(context), &replacement).map_err(database_error)? {
        return Ok(None);
    }
    let folder = private_folder()?;
    let options = SpaceOptions { root: folder.path().into(), lock_patience: LOCK_PATIENCE };
    let current = Memory::open_space(&options, Arc::new(log))?;
    current.catch_up_with_space(None)?;
    current.record_vacuum(&context.author(), &report)?;
    Ok(Some(report))
}

/// Opens a copy of a space in a folder of its own, which is removed afterwards.
fn with_copy<T>(
    database: &Database,
    space: &SpaceRow,
    work: impl FnOnce(&Memory) -> Result<T>,
) -> Result<T> {
    let folder = private_folder()?;
    let options = SpaceOptions { root: folder.path().into(), lock_patience: LOCK_PATIENCE };
    let log = PostgresLog::new(database.clone(), space.id, space.device.as_str());
    let copy = Memory::open_space(&options, Arc::new(log))?;
    copy.catch_up_with_space(None)?;
    copy.sync(&mut |_| {})?;
    work(&copy)
}

fn private_folder() -> Result<tempfile::TempDir> {
    crate::files::private_folder("memoranda-vacuum-")
        .map_err(|error| CommandError::io("make a folder for the vacuum", &error))
}

fn amount(report: &VacuumReport) -> String {
    let versions = counted(report.contents as usize, "version");
    format!("{versions} ({})", counted(report.notes.len(), "deleted note"))
}

fn report_json(name: &str, report: &VacuumReport, is_dry_run: bool) -> serde_json::Value {
    json!({
        "space": name,
        "notes": report.notes.len(),
        "contents": report.contents,
        "bytes": report.bytes,
        "dry_run": is_dry_run,
    })
}
