//! Set-up of clients from the web page: each change is shown first, and written only as it was shown.

use memoranda_server::{ClientAction, ClientChange, ClientFileDiff, PageClient};

use super::{Args, ClientPlan, plan, program};
use crate::config::AppSettings;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::setup::{
    BaseDirs, CLIENTS, ClientSpec, EntryState, ServerProgram, SetupScope, client, find_runner,
};

/// Returns the clients with the changes that connect and disconnect each of them.
pub(crate) fn page_clients(settings: &AppSettings) -> Result<Vec<PageClient>> {
    let dirs = BaseDirs::find(&settings.directories);
    let program = program(settings, &arguments(ClientAction::Connect));
    Ok(CLIENTS.iter().map(|client| page_client(client, &dirs, &program)).collect())
}

fn page_client(
    client: &'static ClientSpec,
    dirs: &BaseDirs,
    program: &ServerProgram,
) -> PageClient {
    let actions = ClientAction::ALL.into_iter();
    let actions = actions
        .filter(|action| *action != ClientAction::ConnectWithHooks || client.hooks.is_some());
    let plans: Vec<(ClientAction, ClientPlan)> =
        actions.map(|action| (action, plan(client, &arguments(action), dirs, program))).collect();
    let first = plans.first().map(|(_, plan)| plan);
    let is_there = |state: Option<EntryState>| state.is_some_and(|s| s != EntryState::Absent);
    let problem = plans.iter().find_map(|(_, plan)| plan.problem.as_ref());
    let mut after = client.after.to_owned();
    if let Some(runner) = find_runner(&program.path) {
        after = format!("{} deletes this program later: install it first", runner.name);
    }
    PageClient {
        name: client.name.to_owned(),
        title: client.title.to_owned(),
        is_found: first.is_some_and(|plan| plan.found),
        is_connected: is_there(first.and_then(|plan| plan.server)),
        has_hooks: client.hooks.map(|_| is_there(first.and_then(|plan| plan.hooks))),
        problem: problem.map(|problem| problem.message.clone()),
        after,
        changes: plans.iter().map(|(action, plan)| (*action, change(plan, dirs))).collect(),
    }
}

/// Writes a change of a client's files if it is still the shown one. Returns the backups.
pub(crate) fn change_page_client(
    settings: &AppSettings,
    name: &str,
    action: ClientAction,
    shown_digest: &str,
) -> Result<Vec<String>> {
    let client = client(name)
        .ok_or_else(|| CommandError::new(Exit::NotFound, format!("there is no client {name:?}")))?;
    let dirs = BaseDirs::find(&settings.directories);
    let args = arguments(action);
    let planned = plan(client, &args, &dirs, &program(settings, &args));
    if let Some(problem) = planned.problem {
        return Err(problem);
    }
    if change(&planned, &dirs).digest() != shown_digest {
        let message = format!("the files of {} changed since; nothing was written", client.title);
        return Err(CommandError::new(Exit::Conflict, message).hint("look at the change again"));
    }
    let mut backups = Vec::new();
    for change in &planned.changes {
        backups.extend(change.apply(&dirs)?.iter().map(|path| dirs.shown(path)));
    }
    Ok(backups)
}

/// Returns the flags of the command that does the same.
fn arguments(action: ClientAction) -> Args {
    Args {
        clients: Vec::new(),
        hooks: action == ClientAction::ConnectWithHooks,
        scope: SetupScope::User,
        tools: None,
        remove: action == ClientAction::Disconnect,
        dry_run: false,
        print: false,
    }
}

fn change(plan: &ClientPlan, dirs: &BaseDirs) -> ClientChange {
    let file = |change: &crate::setup::ClientFileChange| ClientFileDiff {
        path: dirs.shown(&change.path),
        before: change.before.clone(),
        after: change.after.clone(),
    };
    ClientChange { files: plan.changes.iter().map(file).collect() }
}
