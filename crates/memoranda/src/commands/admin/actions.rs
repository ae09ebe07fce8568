//! The actions of `memoranda admin` that change something.

use std::sync::Arc;
use std::time::Duration;

use memoranda_engine::{Memory, SpaceOptions, VacuumExtent, VacuumRequest};
use memoranda_remote::directory::{SpaceRole, TokenAccess};
use memoranda_remote::postgres::{Database, PostgresLog};
use memoranda_remote::self_service::NewToken;
use serde_json::json;

use super::{
    AccountAction, AdminAction, MemberAction, QuotaLimit, RoleName, SpaceAction, TokenAction,
    export, listing,
};
use crate::commands::serve_team::database_error;
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::counted;
use crate::progress::ProgressBar;

/// Does what was asked.
pub(super) fn run(
    context: &CommandContext,
    database: &Database,
    action: &AdminAction,
) -> Result<Exit> {
    match action {
        AdminAction::Migrate => migrate(context, database)?,
        AdminAction::Account(args) => account(context, database, &args.action)?,
        AdminAction::Space(args) => space(context, database, &args.action)?,
        AdminAction::Member(args) => member(context, database, &args.action)?,
        AdminAction::Token(args) => token(context, database, &args.action)?,
        AdminAction::Audit { limit } => listing::audit(context, database, *limit)?,
        AdminAction::Stats => listing::stats(context, database)?,
    }
    Ok(Exit::Success)
}

fn migrate(context: &CommandContext, database: &Database) -> Result<()> {
    let report = database.migrate().map_err(database_error)?;
    if database.bypasses_row_security().map_err(database_error)? {
        context
            .printer
            .warn("this role is a superuser, for which row-level security does not hold");
        context
            .printer
            .hint("use a role that only owns its database: `createuser`, `createdb --owner`");
    }
    let sentence = match (report.from, report.to) {
        (0, to) => format!("Made the tables of schema {to}."),
        (from, to) if from == to => format!("The tables have schema {to} already."),
        (from, to) => format!("Brought the tables from schema {from} to {to}."),
    };
    context.printer.done(&json!({ "from": report.from, "to": report.to }), sentence)
}

/// Returns who works on the database, for the audit.
pub(super) fn actor(context: &CommandContext) -> String {
    let person = context.author().details.account;
    person.map_or_else(|| "admin".to_owned(), |person| format!("admin {person}"))
}

fn account(context: &CommandContext, database: &Database, action: &AccountAction) -> Result<()> {
    let (printer, actor) = (&context.printer, actor(context));
    match action {
        AccountAction::List => listing::accounts(context, database),
        AccountAction::Add { name, email, token } => {
            database.create_account(&actor, name, email.as_deref()).map_err(database_error)?;
            let secret = match token {
                Some(token) => {
                    let wanted = NewToken {
                        account: name.clone(),
                        name: token.clone(),
                        access: TokenAccess::Write,
                        spaces: Vec::new(),
                        days: None,
                    };
                    Some(database.create_token(&actor, &wanted).map_err(database_error)?)
                }
                None => None,
            };
            let said = format!("Added {name} with the private space {name}.");
            match (&secret, context.is_json()) {
                (_, true) => printer.json(&json!({ "account": name, "token": secret })),
                (Some(secret), false) => {
                    printer.say(said);
                    printer.say("Its token, which is shown this once:");
                    printer.line(secret)
                }
                (None, false) => {
                    printer.done(&json!({}), said)?;
                    context.hint_after(&format!("memoranda admin token add {name} laptop"));
                    Ok(())
                }
            }
        }
        AccountAction::Password { name, password_file } => {
            let password = match password_file {
                Some(file) => {
                    let text = crate::files::read_text(file)?.unwrap_or_default();
                    let password = text.trim_end_matches(['\r', '\n']);
                    database.set_password(&actor, name, password).map_err(database_error)?;
                    None
                }
                None => Some(database.make_password(&actor, name).map_err(database_error)?),
            };
            if context.is_json() {
                return printer.json(&json!({ "account": name, "password": password }));
            }
            match password {
                Some(password) => {
                    printer.say(format!("Password of {name}, which is shown this once:"));
                    printer.line(password)
                }
                None => printer.done(&json!({}), format!("{name} has the password of the file.")),
            }
        }
        AccountAction::Disable { name, dry_run } => {
            let tokens = database.tokens(Some(name)).map_err(database_error)?;
            let tokens = tokens.iter().filter(|token| token.revoked_at.is_none()).count();
            if !dry_run {
                database.disable_account(&actor, name).map_err(database_error)?;
            }
            let would = if *dry_run { "Would disable" } else { "Disabled" };
            let value = json!({ "account": name, "tokens": tokens, "dry_run": dry_run });
            printer.done(&value, format!("{would} {name}: {} stop.", counted(tokens, "token")))
        }
        AccountAction::Delete { name, dry_run } => {
            let removal = if *dry_run {
                database.plan_account_removal(name)
            } else {
                database.delete_account(&actor, name)
            };
            let removal = removal.map_err(database_error)?;
            let value = json!({
                "account": name,
                "commits": removal.commits,
                "tokens": removal.tokens,
                "dry_run": dry_run,
            });
            let would = if *dry_run { "Would delete" } else { "Deleted" };
            let commits = counted(removal.commits as usize, "commit");
            let tokens = counted(removal.tokens as usize, "token");
            let said = format!("{would} {name}, its private space ({commits}) and {tokens}.");
            printer.done(&value, said)
        }
        AccountAction::Export { name, folder } => export::account(context, database, name, folder),
        AccountAction::Enable { name } => {
            database.enable_account(&actor, name).map_err(database_error)?;
            printer.done(&json!({ "account": name }), format!("Enabled {name}."))
        }
    }
}

fn space(context: &CommandContext, database: &Database, action: &SpaceAction) -> Result<()> {
    let (printer, actor) = (&context.printer, actor(context));
    match action {
        SpaceAction::List => listing::spaces(context, database),
        SpaceAction::Add { name, owner, quota_mb } => {
            let quota = quota_mb.map(|megabytes| megabytes.saturating_mul(1_000_000));
            database.create_space(&actor, name, owner, quota).map_err(database_error)?;
            let said = format!("Added the space {name}; {owner} owns it.");
            printer.done(&json!({ "space": name, "owner": owner }), said)?;
            context.hint_after(&format!("memoranda admin member add {name} ACCOUNT"));
            Ok(())
        }
        SpaceAction::Quota { name, quota: QuotaLimit(bytes) } => {
            database.set_space_quota(&actor, name, *bytes).map_err(database_error)?;
            let said = match bytes {
                Some(bytes) => format!("{name} may have {} MB.", bytes / 1_000_000),
                None => format!("{name} has no limit."),
            };
            printer.done(&json!({ "space": name, "quota_bytes": bytes }), said)
        }
        SpaceAction::Export { name, folder } => export::space(context, database, name, folder),
        SpaceAction::Vacuum { name, older_than, versions, dry_run } => {
            let what =
                if *versions { VacuumExtent::DeletedAndVersions } else { VacuumExtent::Deleted };
            let before = crate::time::parse(older_than)?;
            let vacuum = VacuumRequest { project: None, before, what };
            super::vacuum::space(context, database, name, &vacuum, *dry_run)
        }
        SpaceAction::Import { name, dry_run } => import(context, database, name, *dry_run),
    }
}

/// Brings the vault of this command into a space.
fn import(
    context: &CommandContext,
    database: &Database,
    name: &str,
    is_dry_run: bool,
) -> Result<()> {
    let space = export::find_space(database, name)?;
    if space.commits > 0 {
        return Err(CommandError::usage(format!("the space {name} has commits already"))
            .hint("a vault can only be brought into an empty space; add another one"));
    }
    let source = context.open_synced()?;
    let printer = &context.printer;
    if is_dry_run {
        let bytes = source.log_bytes()?;
        let value = json!({
            "space": name, "commits": null, "bytes": bytes, "purged": null, "dry_run": true,
        });
        let home = source.home().display().to_string();
        return printer.done(&value, format!("Would bring {home} ({bytes} bytes) into {name}."));
    }
    let folder = crate::files::private_folder("memoranda-import-")
        .map_err(|error| CommandError::io("make a folder for the import", &error))?;
    let options =
        SpaceOptions { root: folder.path().join("spaces"), lock_patience: Duration::from_secs(30) };
    let log = PostgresLog::new(database.clone(), space.id, space.device.as_str());
    let target = Memory::open_space(&options, Arc::new(log))?;
    let bar = ProgressBar::new(printer);
    let report = target.import_vault(source, &mut |_, _| {});
    drop(bar);
    let report = report?;
    let value = json!({
        "space": name,
        "commits": report.commits,
        "bytes": report.bytes,
        "purged": report.purged,
        "dry_run": false,
    });
    printer.done(
        &value,
        format!(
            "Brought {} into {name}, each with its time, author and content.",
            counted(report.commits as usize, "commit")
        ),
    )
}

fn member(context: &CommandContext, database: &Database, action: &MemberAction) -> Result<()> {
    let (printer, actor) = (&context.printer, actor(context));
    match action {
        MemberAction::List { space } => listing::members(context, database, space),
        MemberAction::Add { space, account, role } => {
            let role = space_role(*role);
            database.set_member(&actor, space, account, role).map_err(database_error)?;
            let value = json!({ "space": space, "account": account, "role": role.name() });
            printer.done(&value, format!("{account} is {role} in {space}."))
        }
        MemberAction::Invite { space, email, role, days } => {
            let role = space_role(*role);
            database.invite(&actor, space, email, role, *days).map_err(database_error)?;
            let value =
                json!({ "space": space, "email": email, "role": role.name(), "days": days });
            let said = format!("Invited {email} to {space} as {role}; signing in accepts.");
            printer.done(&value, said)
        }
        MemberAction::Invitations => listing::invitations(context, database),
        MemberAction::Uninvite { space, email } => {
            database.withdraw_invitation(&actor, space, email).map_err(database_error)?;
            let value = json!({ "space": space, "email": email });
            printer.done(&value, format!("{email} is no longer invited to {space}."))
        }
        MemberAction::Remove { space, account, dry_run } => {
            if *dry_run {
                let members = database.members(space).map_err(database_error)?;
                if !members.iter().any(|member| member.account == *account) {
                    let message = format!("{account} is no member of {space}");
                    return Err(CommandError::new(Exit::NotFound, message));
                }
            } else {
                database.remove_member(&actor, space, account).map_err(database_error)?;
            }
            let would = if *dry_run { "Would remove" } else { "Removed" };
            let value = json!({ "space": space, "account": account, "dry_run": dry_run });
            printer.done(&value, format!("{would} {account} from {space}."))
        }
    }
}

fn space_role(role: RoleName) -> SpaceRole {
    match role {
        RoleName::Reader => SpaceRole::Reader,
        RoleName::Proposer => SpaceRole::Proposer,
        RoleName::Editor => SpaceRole::Editor,
        RoleName::Owner => SpaceRole::Owner,
    }
}

fn token(context: &CommandContext, database: &Database, action: &TokenAction) -> Result<()> {
    let (printer, actor) = (&context.printer, actor(context));
    match action {
        TokenAction::List { account } => listing::tokens(context, database, account.as_deref()),
        TokenAction::Add { account, name, read_only, spaces, days } => {
            let wanted = NewToken {
                account: account.clone(),
                name: name.clone(),
                access: if *read_only { TokenAccess::Read } else { TokenAccess::Write },
                spaces: spaces.clone(),
                days: *days,
            };
            let secret = database.create_token(&actor, &wanted).map_err(database_error)?;
            if context.is_json() {
                return printer.json(&json!({ "account": account, "name": name, "token": secret }));
            }
            printer.say(format!("Token {name} of {account}, which is shown this once:"));
            printer.line(secret)
        }
        TokenAction::Revoke { account, name, dry_run } => {
            if *dry_run {
                let tokens = database.tokens(Some(account)).map_err(database_error)?;
                if !tokens.iter().any(|token| token.name == *name) {
                    let message = format!("{account} has no token {name:?}");
                    return Err(CommandError::new(Exit::NotFound, message));
                }
            } else {
                database.revoke_token(&actor, account, name).map_err(database_error)?;
            }
            let would = if *dry_run { "Would revoke" } else { "Revoked" };
            let value = json!({ "account": account, "name": name, "dry_run": dry_run });
            printer.done(&value, format!("{would} the token {name} of {account}."))
        }
    }
}
