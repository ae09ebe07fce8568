//! Exports of `memoranda admin`: a space as a vault with its history, and what belongs to an account.

use std::path::Path;
use std::sync::Arc;

use memoranda_engine::CloneOrigin;
use memoranda_engine::remote::RemoteLog as _;
use memoranda_remote::postgres::{Database, PostgresLog, SpaceRow};
use serde_json::json;

use crate::commands::clone::{pull_into, remote_error};
use crate::commands::serve_team::database_error;
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::files;

/// Address of a space that was copied from the database itself.
const EXPORT_ORIGIN: &str = "export";

/// Returns a space by its name.
pub(super) fn find_space(database: &Database, name: &str) -> Result<SpaceRow> {
    let spaces = database.spaces().map_err(database_error)?;
    spaces.into_iter().find(|space| space.name == name).ok_or_else(|| {
        CommandError::new(Exit::NotFound, format!("there is no space {name}"))
            .hint("`memoranda admin space list` lists them")
    })
}

/// Exports a space into a vault.
pub(super) fn space(
    context: &CommandContext,
    database: &Database,
    name: &str,
    folder: &Path,
) -> Result<()> {
    check_empty(folder)?;
    let space = find_space(database, name)?;
    let commits = copy(context, database, &space, folder)?;
    let shown = folder.display().to_string();
    let value = json!({ "space": name, "folder": shown, "commits": commits });
    context.printer.done(&value, format!("Exported {name} with {commits} commits into {shown}."))
}

/// Exports the private space of an account, and what the database knows of the account.
pub(super) fn account(
    context: &CommandContext,
    database: &Database,
    name: &str,
    folder: &Path,
) -> Result<()> {
    check_empty(folder)?;
    let accounts = database.accounts().map_err(database_error)?;
    let account = accounts.into_iter().find(|account| account.name == name).ok_or_else(|| {
        CommandError::new(Exit::NotFound, format!("there is no account {name}"))
            .hint("`memoranda admin account list` lists them")
    })?;
    let space = find_space(database, name)?;
    let commits = copy(context, database, &space, &folder.join("space"))?;
    let tokens = database.tokens(Some(name)).map_err(database_error)?;
    let tokens: Vec<_> = tokens
        .iter()
        .map(|token| {
            json!({
                "name": token.name,
                "access": token.access.name(),
                "spaces": token.spaces,
                "created_at": token.created_at.to_string(),
                "used_at": token.used_at.map(|time| time.to_string()),
                "revoked_at": token.revoked_at.map(|time| time.to_string()),
            })
        })
        .collect();
    let spaces = database.spaces().map_err(database_error)?;
    let mut memberships = Vec::new();
    for space in spaces {
        let members = database.members(&space.name).map_err(database_error)?;
        let own = members.into_iter().find(|member| member.account == name);
        memberships.extend(own.map(|member| {
            json!({ "space": space.name, "role": member.role.name(), "since": member.since.to_string() })
        }));
    }
    let about = json!({
        "account": account.name,
        "email": account.email,
        "created_at": account.created_at.to_string(),
        "disabled_at": account.disabled_at.map(|time| time.to_string()),
        "memberships": memberships,
        "tokens": tokens,
    });
    files::create_private(
        &files::canonical(folder)?.join("account.json"),
        format!("{about:#}\n").as_bytes(),
    )?;
    let shown = folder.display().to_string();
    let value = json!({ "account": name, "folder": shown, "commits": commits });
    context.printer.done(&value, format!("Exported {name} with {commits} commits into {shown}."))
}

fn copy(
    context: &CommandContext,
    database: &Database,
    space: &SpaceRow,
    folder: &Path,
) -> Result<u64> {
    let log = PostgresLog::new(database.clone(), space.id, space.device.as_str());
    let head = log.head().map_err(remote_error)?;
    let origin = CloneOrigin {
        url: EXPORT_ORIGIN.to_owned(),
        space: space.name.clone(),
        device: space.device.clone(),
        epoch: head.epoch,
    };
    let copied = pull_into(context, folder, &origin, Arc::new(log))?;
    Ok(copied.summary().1)
}

fn check_empty(folder: &Path) -> Result<()> {
    if files::names_in(folder).is_empty() {
        return Ok(());
    }
    let message = format!("{} is not empty", folder.display());
    Err(CommandError::usage(message).hint("name a folder that does not exist"))
}
