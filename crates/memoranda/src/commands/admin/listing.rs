//! The lists and figures of `memoranda admin`.

use anstyle::Style;
use jiff::Timestamp;
use memoranda_remote::postgres::Database;
use serde_json::json;

use crate::commands::serve_team::database_error;
use crate::context::CommandContext;
use crate::error::Result;
use crate::output::{FAINT, STRONG};
use crate::table::{self, TableColumn};

const PLAIN: Style = Style::new();

/// Formats a time for a table: in UTC, because the servers of a team are in several zones.
fn to_second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

pub(super) fn accounts(context: &CommandContext, database: &Database) -> Result<()> {
    let accounts = database.accounts().map_err(database_error)?;
    if context.is_json() {
        let accounts: Vec<_> = accounts
            .iter()
            .map(|account| {
                json!({
                    "name": account.name,
                    "email": account.email,
                    "created_at": account.created_at.to_string(),
                    "disabled_at": account.disabled_at.map(|time| time.to_string()),
                })
            })
            .collect();
        return context.printer.json(&json!({ "accounts": accounts }));
    }
    let rows: Vec<Vec<String>> = accounts
        .into_iter()
        .map(|account| {
            let state = if account.disabled_at.is_some() { "disabled" } else { "" };
            vec![account.name, account.email.unwrap_or_default(), state.to_owned()]
        })
        .collect();
    let columns = [
        TableColumn::word("account", STRONG),
        TableColumn::text("e-mail", PLAIN),
        TableColumn::word("state", FAINT),
    ];
    table::print(&context.printer, &columns, &rows)
}

pub(super) fn spaces(context: &CommandContext, database: &Database) -> Result<()> {
    let spaces = database.spaces().map_err(database_error)?;
    if context.is_json() {
        let spaces: Vec<_> = spaces
            .iter()
            .map(|space| {
                json!({
                    "name": space.name,
                    "kind": space.kind.name(),
                    "members": space.members,
                    "commits": space.commits,
                    "bytes": space.bytes,
                    "quota_bytes": space.quota_bytes,
                })
            })
            .collect();
        return context.printer.json(&json!({ "spaces": spaces }));
    }
    let rows: Vec<Vec<String>> = spaces
        .into_iter()
        .map(|space| {
            vec![
                space.name,
                space.kind.name().to_owned(),
                space.members.to_string(),
                space.commits.to_string(),
                space.bytes.to_string(),
            ]
        })
        .collect();
    let columns = [
        TableColumn::word("space", STRONG),
        TableColumn::word("kind", PLAIN),
        TableColumn::number("members"),
        TableColumn::number("commits"),
        TableColumn::number("bytes"),
    ];
    table::print(&context.printer, &columns, &rows)
}

pub(super) fn members(context: &CommandContext, database: &Database, space: &str) -> Result<()> {
    let members = database.members(space).map_err(database_error)?;
    if context.is_json() {
        let members: Vec<_> = members
            .iter()
            .map(|member| {
                json!({
                    "account": member.account,
                    "role": member.role.name(),
                    "since": member.since.to_string(),
                })
            })
            .collect();
        return context.printer.json(&json!({ "members": members }));
    }
    let rows: Vec<Vec<String>> = members
        .into_iter()
        .map(|member| vec![member.account, member.role.name().to_owned()])
        .collect();
    let columns = [TableColumn::word("account", STRONG), TableColumn::word("role", PLAIN)];
    table::print(&context.printer, &columns, &rows)
}

pub(super) fn invitations(context: &CommandContext, database: &Database) -> Result<()> {
    let invitations = database.invitations().map_err(database_error)?;
    if context.is_json() {
        let invitations: Vec<_> = invitations
            .iter()
            .map(|invitation| {
                json!({
                    "space": invitation.space,
                    "email": invitation.email,
                    "role": invitation.role.name(),
                    "invited_by": invitation.invited_by,
                    "expires_at": invitation.expires_at.to_string(),
                })
            })
            .collect();
        return context.printer.json(&json!({ "invitations": invitations }));
    }
    let rows: Vec<Vec<String>> = invitations
        .into_iter()
        .map(|row| {
            let role = row.role.name().to_owned();
            vec![row.space, row.email, role, row.invited_by, to_second(row.expires_at)]
        })
        .collect();
    let columns = [
        TableColumn::word("space", STRONG),
        TableColumn::text("e-mail", PLAIN),
        TableColumn::word("role", PLAIN),
        TableColumn::text("invited by", FAINT),
        TableColumn::optional("expires", FAINT),
    ];
    table::print(&context.printer, &columns, &rows)
}

pub(super) fn tokens(
    context: &CommandContext,
    database: &Database,
    account: Option<&str>,
) -> Result<()> {
    let tokens = database.tokens(account).map_err(database_error)?;
    if context.is_json() {
        let time = |time: Option<jiff::Timestamp>| time.map(|time| time.to_string());
        let tokens: Vec<_> = tokens
            .iter()
            .map(|token| {
                json!({
                    "account": token.account,
                    "name": token.name,
                    "hint": token.hint,
                    "access": token.access.name(),
                    "spaces": token.spaces,
                    "created_at": token.created_at.to_string(),
                    "expires_at": time(token.expires_at),
                    "used_at": time(token.used_at),
                    "revoked_at": time(token.revoked_at),
                })
            })
            .collect();
        return context.printer.json(&json!({ "tokens": tokens }));
    }
    let rows: Vec<Vec<String>> = tokens
        .into_iter()
        .map(|token| {
            let used = token.used_at.map(to_second).unwrap_or_default();
            let state = if token.revoked_at.is_some() { "revoked" } else { "" };
            let spaces = match token.spaces.as_slice() {
                [] => "all".to_owned(),
                spaces => spaces.join(", "),
            };
            vec![
                token.account,
                token.name,
                token.hint,
                token.access.name().to_owned(),
                spaces,
                used,
                state.to_owned(),
            ]
        })
        .collect();
    let columns = [
        TableColumn::word("account", STRONG),
        TableColumn::text("token", PLAIN),
        TableColumn::word("begins", FAINT),
        TableColumn::word("access", PLAIN),
        TableColumn::text("spaces", PLAIN),
        TableColumn::optional("last used", FAINT),
        TableColumn::word("state", FAINT),
    ];
    table::print(&context.printer, &columns, &rows)
}

pub(super) fn audit(context: &CommandContext, database: &Database, limit: u32) -> Result<()> {
    let entries = database.audit(limit).map_err(database_error)?;
    if context.is_json() {
        let entries: Vec<_> = entries
            .iter()
            .map(|entry| {
                json!({
                    "at": entry.at.to_string(),
                    "actor": entry.actor,
                    "action": entry.action,
                    "target": entry.target,
                })
            })
            .collect();
        return context.printer.json(&json!({ "entries": entries }));
    }
    let rows: Vec<Vec<String>> = entries
        .into_iter()
        .map(|entry| vec![to_second(entry.at), entry.actor, entry.action, entry.target])
        .collect();
    let columns = [
        TableColumn::word("time", FAINT),
        TableColumn::word("who", STRONG),
        TableColumn::word("what", PLAIN),
        TableColumn::text("target", PLAIN),
    ];
    table::print(&context.printer, &columns, &rows)
}

pub(super) fn stats(context: &CommandContext, database: &Database) -> Result<()> {
    let stats = database.stats().map_err(database_error)?;
    if context.is_json() {
        return context.printer.json(&json!({
            "server_version": stats.server_version,
            "accounts": stats.accounts,
            "spaces": stats.spaces,
            "tokens": stats.tokens,
            "commits": stats.commits,
            "log_bytes": stats.log_bytes,
            "database_bytes": stats.database_bytes,
        }));
    }
    let rows = [
        ("PostgreSQL", stats.server_version),
        ("accounts", stats.accounts.to_string()),
        ("spaces", stats.spaces.to_string()),
        ("tokens", stats.tokens.to_string()),
        ("commits", stats.commits.to_string()),
        ("bytes of logs", stats.log_bytes.to_string()),
        ("bytes of the database", stats.database_bytes.to_string()),
    ];
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    let columns = [TableColumn::text("what", PLAIN), TableColumn::word("value", STRONG)];
    table::print(&context.printer, &columns, &rows)
}
