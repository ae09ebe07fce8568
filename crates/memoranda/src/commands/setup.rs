//! `memoranda setup`: connect the clients that are on this machine.

use std::path::PathBuf;

use clap_complete::engine::ArgValueCandidates;
use memoranda_clients::setup::{
    BaseDirs, CLIENTS, ClientAction, ClientFileChange, ClientPlan, ClientSetup, ClientSpec,
    EntryState, HookInstall, RequestedTools, ServerAddress, ServerProgram, ServerToken, SetupScope,
    client, find_runner,
};
use memoranda_engine::GitRepository;
use memoranda_engine::core::diff::{DiffLabels, unified_diff};
use serde::Serialize;

use crate::cli::one_of;
use crate::complete;
use crate::config::{AppSettings, SettingOrigin};
use crate::context::CommandContext;
use crate::diff_color;
use crate::error::{CommandError, FailureKind, Result};
use crate::exit::Exit;
use crate::files;
use crate::http_token::HttpToken;
use crate::output::{FAINT, GOOD, OutputFormat, PLACE, STRONG};
use crate::table::{self, TableColumn};
use crate::wrap::wrap;

/// Connect your clients: Claude Code, Claude Desktop, Cursor, VS Code, Codex and seven more.
///
/// Without a name: shows which clients are here and what would be done; with --yes it connects all
/// of them. With names: shows the change of each file, asks, keeps a backup next to the file, and
/// writes. Only the key `memoranda` and our hooks are touched; comments, order and all other bytes
/// stay. A file that cannot be read is left alone. --remove takes every trace out again.
///
/// With --url the clients call a server instead of starting this program. With --token-file they send
/// its token; without it the person signs in, in each client. Hooks cannot sign in and need the file.
#[derive(clap::Args)]
#[command(after_long_help = "\
Clients:
  claude-code, claude-desktop, cursor, vscode, codex, gemini, zed, windsurf, cline, goose, opencode,
  lm-studio

Examples:
  memoranda setup                               what is here, and what would be done
  memoranda setup cursor --dry-run              the change, without making it
  memoranda setup claude-code --hooks           with a brief at the start of conversations
  memoranda setup --yes                         everything that is here
  memoranda setup vscode --scope project        for everybody who works in this folder
  memoranda setup zed --print                   what to paste by hand
  memoranda setup cursor --tools all            every tool, instead of those that fit Cursor
  memoranda setup --url https://team.example    a server of a team; people sign in
  memoranda setup claude-code --url https://team.example --token-file ~/.acme-token --hooks
  memoranda setup --remove --yes                all traces, everywhere

JSON (--json):
  {clients: [{name, title, found, scope, file, server, hooks, action, backups, problem}], dry_run};
  server and hooks are `absent`, `different`, `current` or null, action is `connect`, `update`,
  `remove` or `none`")]
pub(crate) struct Args {
    /// The clients; all that are here, if none is named.
    #[arg(value_name = "CLIENT", add = ArgValueCandidates::new(complete::clients))]
    clients: Vec<String>,

    /// Install hooks too: a brief at the start, checkpoints before compaction.
    #[arg(long)]
    hooks: bool,

    /// Scope of the configuration file.
    #[arg(
        long,
        value_name = "SCOPE",
        value_parser = one_of(&SetupScope::ALL, SetupScope::name, SetupScope::summary),
        default_value = "user"
    )]
    scope: SetupScope,

    /// The tools to offer, instead of those that fit the client: sets such as `recommended`, `notes`
    /// and `all`, and single tools.
    #[arg(long, aliases = ["toolsets", "toolset"], value_name = "NAMES")]
    tools: Option<String>,

    /// The address of a server to call, instead of starting this program.
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// A file that contains the token of the server.
    #[arg(long, value_name = "FILE", requires = "url")]
    token_file: Option<PathBuf>,

    /// The only space of a team server to use.
    #[arg(long, value_name = "NAME", requires = "url")]
    space: Option<String>,

    /// Take everything of ours out again, hooks too.
    #[arg(long, conflicts_with_all = ["print", "tools", "url"])]
    remove: bool,

    /// Show the changes without making them.
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Print what to paste by hand, and change nothing.
    #[arg(long)]
    print: bool,
}

#[derive(Serialize)]
struct SetupJson {
    clients: Vec<ClientPlanJson>,
    dry_run: bool,
}

#[derive(Serialize)]
struct ClientPlanJson {
    name: &'static str,
    title: &'static str,
    found: bool,
    scope: &'static str,
    file: Option<String>,
    server: Option<&'static str>,
    hooks: Option<&'static str>,
    action: &'static str,
    backups: Vec<String>,
    problem: Option<String>,
}

/// A planned client, and what came of its plan.
struct PlannedClient {
    plan: ClientPlan,
    backups: Vec<String>,
    problem: Option<CommandError>,
}

impl PlannedClient {
    fn new(setup: &ClientSetup, client: &'static ClientSpec, args: &Args) -> Self {
        let mut plan = setup.plan(client, args.action());
        let problem = plan.problem.take().map(CommandError::from);
        Self { plan, backups: Vec::new(), problem }
    }
}

impl Args {
    fn action(&self) -> ClientAction {
        match (self.remove, self.hooks) {
            (true, _) => ClientAction::Disconnect,
            (false, true) => ClientAction::ConnectWithHooks,
            (false, false) => ClientAction::Connect,
        }
    }
}

/// Returns the set-up of clients with these settings.
pub(crate) fn client_setup(
    settings: &AppSettings,
    scope: SetupScope,
    tools: Option<RequestedTools>,
) -> ClientSetup {
    let dirs = settings.directories.clients();
    let program = program(settings, &dirs, scope, tools);
    ClientSetup { dirs, program, scope }
}

/// Returns the server that clients are to call; `None` if they start this program.
fn address(
    context: &CommandContext,
    args: &Args,
    dirs: &BaseDirs,
) -> Result<Option<ServerAddress>> {
    let Some(url) = &args.url else { return Ok(None) };
    let mut address = ServerAddress::parse(url)?;
    // A variable may hold the token of another server, so only a named file counts.
    if let Some(file) = &args.token_file {
        // The hooks run in other folders.
        let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
        if let Some(token) = HttpToken::chosen(&context.printer, Some(&file))? {
            token.bearer()?;
            address.token = Some(ServerToken { text: token.text, file });
        }
    }
    address.space = args.space.clone();
    if args.scope == SetupScope::Project {
        address.repository = GitRepository::of(&dirs.project).and_then(|found| found.remote);
    }
    Ok(Some(address))
}

/// Shows, or connects, or takes out.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let tools = args.tools.as_deref().map(RequestedTools::parse);
    let mut setup = client_setup(context.settings()?, args.scope, tools);
    setup.program.address = address(context, args, &setup.dirs)?;
    let ClientSetup { dirs, program, .. } = &setup;
    check_tools(program)?;
    if let Some(runner) =
        find_runner(&program.path).filter(|_| !args.remove && starts_program(args))
    {
        let name = runner.name;
        context.printer.warn(format!("clients cannot start this program after {name} deletes it"));
        context.printer.hint(format!("install it first: `{}`", runner.install));
    }
    let named = find_clients(&args.clients)?;
    if args.print {
        return print_snippets(context, args, dirs, program, &named);
    }
    let wanted: Vec<&'static ClientSpec> =
        if named.is_empty() { CLIENTS.iter().collect() } else { named.clone() };
    let mut clients: Vec<PlannedClient> =
        wanted.into_iter().map(|client| PlannedClient::new(&setup, client, args)).collect();
    if named.is_empty() {
        // Clients that are not installed need no change.
        for client in clients.iter_mut().filter(|client| !client.plan.found && !args.remove) {
            client.plan.changes.clear();
        }
        let is_agreed = context.args.yes || args.remove && context.printer.can_ask();
        if args.dry_run || !is_agreed {
            return print_overview(context, args, dirs, &clients);
        }
    }
    let mut exit = Exit::Success;
    for client in &mut clients {
        if client.problem.is_some() && named.is_empty() && !client.plan.found {
            continue;
        }
        if client.problem.is_none() {
            client.problem = apply_plan(context, args, &setup, client).err();
        }
        if let Some(problem) = &client.problem {
            let FailureKind::Exit(code) = problem.kind else { return Err(problem.clone()) };
            context.printer.error(problem);
            exit = code;
        }
    }
    if context.is_json() {
        context.printer.json(&setup_json(args, dirs, &clients))?;
    } else if named.is_empty() && clients.iter().all(|client| client.plan.changes.is_empty()) {
        context.printer.say("Nothing to do.");
    }
    Ok(exit)
}

/// Returns true if the written entries start this program.
fn starts_program(args: &Args) -> bool {
    args.url.is_none() || args.hooks
}

fn find_clients(names: &[String]) -> Result<Vec<&'static ClientSpec>> {
    let mut found: Vec<&'static ClientSpec> = Vec::new();
    for name in names {
        let row = client(name).ok_or_else(|| {
            let known: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
            CommandError::usage(format!("there is no client {name:?}"))
                .hint(format!("there are: {}", known.join(", ")))
                .hint("any other client starts `memoranda mcp`")
        })?;
        if !found.iter().any(|known| known.name == row.name) {
            found.push(row);
        }
    }
    Ok(found)
}

/// Returns the command with which clients start us: a shared file contains no path of this machine.
fn program(
    settings: &AppSettings,
    dirs: &BaseDirs,
    scope: SetupScope,
    tools: Option<RequestedTools>,
) -> ServerProgram {
    let path = match scope {
        SetupScope::Project => "memoranda".to_owned(),
        SetupScope::User => match &dirs.program {
            Some(path) => path.display().to_string(),
            None => "memoranda".to_owned(),
        },
    };
    let home = settings.all.iter().find(|setting| setting.key == "home");
    let is_said_here = home.is_some_and(|home| {
        matches!(home.origin, SettingOrigin::Flag(_) | SettingOrigin::Variable(_))
            && scope == SetupScope::User
    });
    let mut flags = Vec::new();
    if is_said_here {
        let home = settings.home();
        let home = std::path::absolute(&home).unwrap_or(home);
        flags = vec!["--home".to_owned(), home.display().to_string()];
    }
    ServerProgram { path, flags, tools, address: None }
}

fn check_tools(program: &ServerProgram) -> Result<()> {
    let Some(requested) = &program.tools else { return Ok(()) };
    let selection = memoranda_tools::ToolSelection {
        toolsets: requested.toolsets.clone(),
        tools: requested.tools.clone(),
        ..Default::default()
    };
    match selection.resolve() {
        Ok(_) => Ok(()),
        Err(error) => Err(CommandError::usage(error.to_string())
            .hint("`memoranda tool --list` lists the tools and their sets")),
    }
}

fn action(plan: &ClientPlan, args: &Args) -> &'static str {
    match (plan.changes.is_empty(), args.remove, plan.server) {
        (true, ..) => "none",
        (false, true, _) => "remove",
        (false, false, Some(EntryState::Absent) | None) => "connect",
        (false, false, _) => "update",
    }
}

fn state_name(state: Option<EntryState>) -> Option<&'static str> {
    state.map(|state| match state {
        EntryState::Absent => "absent",
        EntryState::Different => "different",
        EntryState::Current => "current",
    })
}

fn setup_json(args: &Args, dirs: &BaseDirs, clients: &[PlannedClient]) -> SetupJson {
    let row = |PlannedClient { plan, backups, problem }: &PlannedClient| ClientPlanJson {
        name: plan.client.name,
        title: plan.client.title,
        found: plan.found,
        scope: args.scope.name(),
        file: plan.file.as_ref().map(|file| dirs.shown(file)),
        server: state_name(plan.server),
        hooks: state_name(plan.hooks),
        action: action(plan, args),
        backups: backups.clone(),
        problem: problem.as_ref().map(|problem| problem.message.clone()),
    };
    SetupJson { clients: clients.iter().map(row).collect(), dry_run: args.dry_run }
}

/// The table of everything.
fn print_overview(
    context: &CommandContext,
    args: &Args,
    dirs: &BaseDirs,
    clients: &[PlannedClient],
) -> Result<Exit> {
    if context.is_json() {
        context.printer.json(&setup_json(args, dirs, clients))?;
        return Ok(Exit::Success);
    }
    let plain = anstyle::Style::new();
    let columns = [
        TableColumn::word("CLIENT", STRONG),
        TableColumn::word("SERVER", plain),
        TableColumn::optional("HOOKS", plain),
        TableColumn::word("ACTION", GOOD),
        TableColumn::path("FILE", FAINT),
    ];
    let words = |state: Option<EntryState>| match state {
        Some(EntryState::Current) => "yes",
        Some(EntryState::Different) => "old",
        Some(EntryState::Absent) => "no",
        None => "-",
    };
    let row = |PlannedClient { plan, problem, .. }: &PlannedClient| {
        let would = match (problem, action(plan, args)) {
            (Some(_), _) if plan.file.is_some() && plan.server.is_none() => "cannot read it",
            (Some(_), _) => "-",
            (None, "none") => "-",
            (None, action) => action,
        };
        let file = plan.file.as_ref().map(|file| dirs.shown(file)).unwrap_or_default();
        let cells = [plan.client.name, words(plan.server), words(plan.hooks), would, &file];
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    };
    // Clients that are not here take one line, unless their files have something to say.
    let is_here = |PlannedClient { plan, .. }: &&PlannedClient| {
        let is_known = matches!(plan.server, Some(EntryState::Current | EntryState::Different));
        plan.found || is_known || !plan.changes.is_empty()
    };
    let rows: Vec<Vec<String>> = clients.iter().filter(is_here).map(row).collect();
    if !rows.is_empty() {
        table::print(&context.printer, &columns, &rows)?;
    }
    let absent: Vec<&str> =
        clients.iter().filter(|c| !is_here(c)).map(|c| c.plan.client.name).collect();
    if !absent.is_empty() {
        let text = format!("not here: {}", absent.join(", "));
        for line in wrap(&text, context.printer.width(), 0) {
            context.printer.line(format!("{FAINT}{line}{FAINT:#}"))?;
        }
    }
    let with_file = clients.iter().filter(|client| client.plan.file.is_some());
    for problem in with_file.filter_map(|client| client.problem.as_ref()) {
        context.printer.warn(&problem.message);
    }
    let verb = if args.remove { "--remove " } else { "" };
    match clients.iter().find(|client| !client.plan.changes.is_empty()) {
        Some(first) => {
            context.printer.hint(format!(
                "`memoranda setup {verb}{}` shows the change and asks; `memoranda setup {verb}--yes` \
                 does all",
                first.plan.client.name
            ));
        }
        None if args.remove => {
            context.printer.say("Nothing of Memoranda is in any of these files.")
        }
        None if clients.iter().any(|client| client.plan.found) => {
            let here = clients.iter().filter(|client| client.plan.found);
            let unread = here.clone().filter(|client| client.problem.is_some()).count();
            match (unread, here.count() - unread) {
                (0, _) => context.printer.say("Every client that is here is connected."),
                (_, 0) => {}
                _ => context.printer.say("Every other client that is here is connected."),
            }
        }
        None => context.printer.hint("no client was found; any client starts `memoranda mcp`"),
    }
    Ok(Exit::Success)
}

fn apply_plan(
    context: &CommandContext,
    args: &Args,
    ClientSetup { dirs, program, .. }: &ClientSetup,
    PlannedClient { plan, backups, .. }: &mut PlannedClient,
) -> Result<()> {
    let signs_in = program.address.as_ref().is_some_and(|address| address.token.is_none());
    let printer = &context.printer;
    let client = plan.client;
    let title = client.title;
    if plan.changes.is_empty() {
        // Only changes are reported for clients that were not named.
        if !context.is_json() && !args.clients.is_empty() {
            let file = plan.file.as_ref().map(|file| dirs.shown(file)).unwrap_or_default();
            let what = if args.remove {
                format!("{title}: nothing of Memoranda is in {file}")
            } else {
                format!("{title} is connected already ({file})")
            };
            printer.say(what);
        }
        return Ok(());
    }
    if args.hooks && client.hooks.is_none() {
        printer.warn(format!("{title} runs no hooks; only the server is connected"));
    }
    let mut is_complete = true;
    for change in &plan.changes {
        if printer.format != OutputFormat::Json && (args.dry_run || !context.args.yes) {
            print_change(context, dirs, change)?;
        }
        if args.dry_run {
            continue;
        }
        let shown = dirs.shown(&change.path);
        match context.confirm(&format!("Write {shown}?")) {
            Ok(()) => {}
            // Saying no is an answer, not an error.
            Err(error) if matches!(error.kind, FailureKind::Exit(Exit::NotFound)) => {
                printer.say(format!("{shown} was left as it is"));
                is_complete = false;
                continue;
            }
            Err(error) => return Err(error),
        }
        let backup = change.apply(dirs)?;
        if change.has_token && files::is_readable_by_others(&change.path) {
            printer.warn(format!("others can read the token in {shown}; `chmod 600 {shown}`"));
        }
        backups.extend(backup.iter().map(|path| dirs.shown(path)));
        if printer.format == OutputFormat::Json {
            continue;
        }
        let kept = backup.map(|path| format!("; as it was: {}", dirs.shown(&path)));
        let verb = match (args.remove, &change.after) {
            (true, None) => "Deleted",
            (true, Some(_)) => "Removed Memoranda from",
            (false, _) => "Wrote",
        };
        let sentence = format!("{verb} {PLACE}{shown}{PLACE:#} for {title}");
        printer.hanging(sentence + &kept.unwrap_or_default(), 2)?;
    }
    if !args.dry_run && !args.remove && is_complete {
        printer.hint(format!("{title}: {}", client.after));
        if let (Some(step), true) = (client.sign_in, signs_in) {
            printer.hint(format!("{title}: {step}"));
        }
        let brings_hooks =
            plan.with == HookInstall::With && plan.hooks != Some(EntryState::Current);
        if let Some(after) = client.after_hooks().filter(|_| brings_hooks) {
            printer.hint(format!("{title}: {after}"));
        }
    }
    Ok(())
}

fn print_change(
    context: &CommandContext,
    dirs: &BaseDirs,
    change: &ClientFileChange,
) -> Result<()> {
    let shown = dirs.shown(&change.path);
    let before = without_tokens(change.before.as_deref().unwrap_or_default());
    let after = without_tokens(change.after.as_deref().unwrap_or_default());
    let none = "/dev/null";
    let labels = DiffLabels {
        before: if change.before.is_some() { &shown } else { none },
        after: if change.after.is_some() { &shown } else { none },
    };
    diff_color::print_diff(&context.printer, &unified_diff(&before, &after, 3, labels))
}

/// Replaces the tokens of a file, because a terminal keeps what it shows.
fn without_tokens(text: &str) -> String {
    let mut parts = text.split("Bearer ");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        shown.push_str("Bearer …");
        shown.push_str(part.trim_start_matches(is_token));
    }
    shown
}

/// Prints snippets to paste by hand.
fn print_snippets(
    context: &CommandContext,
    args: &Args,
    dirs: &BaseDirs,
    program: &ServerProgram,
    named: &[&'static ClientSpec],
) -> Result<Exit> {
    if named.is_empty() {
        return Err(CommandError::usage("--print needs the name of a client")
            .hint("`memoranda setup cursor --print`"));
    }
    for client in named {
        let Some(file) = client.file(dirs, args.scope) else {
            return Err(CommandError::usage(format!(
                "{} has no settings of a project",
                client.title
            )));
        };
        context.printer.say(format!("{}: into {}", client.title, dirs.shown(&file)));
        context.printer.bytes(client.snippet(program, args.scope)?.as_bytes())?;
    }
    Ok(Exit::Success)
}
