//! `memoranda setup`: connect the clients that are on this machine.

use memoranda_engine::core::diff::{DiffLabels, unified_diff};
use serde::Serialize;

use crate::config::Origin;
use crate::env;
use crate::error::{CommandError, Kind, Result};
use crate::exit::Exit;
use crate::output::{FAINT, Format, GOOD, PLACE, STRONG};
use crate::paint;
use crate::session::Session;
use crate::setup::{
    Bases, CLIENTS, Change, Client, Hooks, Program, Scope, State, client, find_runner,
};
use crate::table::{self, Column};

/// Connect your clients: Claude Code, Claude Desktop, Cursor, VS Code, Codex and seven more.
///
/// Without a name: shows which clients are here and what would be done; with --yes it connects all
/// of them. With names: shows the change of each file, asks, keeps a backup beside the file, and
/// writes. Only the key `memoranda` and our hooks are touched; comments, order and all other bytes
/// stay. A file that cannot be read is left alone. --remove takes every trace out again.
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
  memoranda setup --remove --yes                all traces, everywhere

JSON (--json):
  {clients: [{name, title, found, scope, file, server, hooks, action, backups, problem}], dry_run};
  server and hooks are `absent`, `different`, `current` or null, action is `connect`, `update`,
  `remove` or `none`")]
pub(crate) struct Args {
    /// The clients; all that are here, if none is named.
    #[arg(value_name = "CLIENT")]
    clients: Vec<String>,

    /// Install hooks too: a brief at the start, checkpoints before compaction.
    #[arg(long)]
    hooks: bool,

    /// For whom.
    #[arg(long, value_name = "SCOPE", value_enum, default_value = "user")]
    scope: Scope,

    /// The sets of tools to offer, instead of those that fit the client.
    #[arg(long, alias = "toolset", value_name = "SETS")]
    toolsets: Option<String>,

    /// Take everything of ours out again, hooks too.
    #[arg(long, conflicts_with_all = ["print", "toolsets"])]
    remove: bool,

    /// Show the changes without making them.
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Print what to paste by hand, and change nothing.
    #[arg(long)]
    print: bool,
}

#[derive(Serialize)]
struct Report {
    clients: Vec<ClientJson>,
    dry_run: bool,
}

#[derive(Serialize)]
struct ClientJson {
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

/// What is known of one client, and what is to be done.
struct Plan {
    client: &'static Client,
    found: bool,
    file: Option<std::path::PathBuf>,
    server: Option<State>,
    hooks: Option<State>,
    with: Hooks,
    changes: Vec<Change>,
    backups: Vec<String>,
    problem: Option<CommandError>,
}

/// Shows, or connects, or takes out.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let settings = session.settings()?;
    let bases = Bases::find(&settings.directories);
    let program = program(session, args)?;
    check_toolsets(args)?;
    if let Some(runner) = find_runner(&program.path).filter(|_| !args.remove) {
        let name = runner.name;
        session.printer.warn(format!("clients cannot start this program after {name} deletes it"));
        session.printer.hint(format!("install it first: `{}`", runner.install));
    }
    let named = named(&args.clients)?;
    if args.print {
        return print(session, args, &bases, &program, &named);
    }
    let wanted: Vec<&'static Client> =
        if named.is_empty() { CLIENTS.iter().collect() } else { named.clone() };
    let mut plans: Vec<Plan> =
        wanted.into_iter().map(|client| plan(client, args, &bases, &program)).collect();
    if named.is_empty() {
        // Where nothing of ours is and nobody is, there is nothing to do.
        for plan in plans.iter_mut().filter(|plan| !plan.found && !args.remove) {
            plan.changes.clear();
        }
        let is_agreed = session.args.yes || args.remove && session.printer.can_ask();
        if args.dry_run || !is_agreed {
            return overview(session, args, &bases, &plans);
        }
    }
    let mut exit = Exit::Done;
    for plan in &mut plans {
        if let Some(problem) = &plan.problem {
            if named.is_empty() && !plan.found {
                continue;
            }
            session.printer.error(problem);
            exit = match problem.kind {
                Kind::Exit(code) => code,
                Kind::BrokenPipe => Exit::Done,
            };
            continue;
        }
        if let Err(error) = carry_out(session, args, &bases, plan) {
            let Kind::Exit(code) = error.kind else { return Err(error) };
            session.printer.error(&error);
            plan.problem = Some(error);
            exit = code;
        }
    }
    if session.is_json() {
        session.printer.json(&report(args, &bases, &plans))?;
    } else if named.is_empty() && plans.iter().all(|plan| plan.changes.is_empty()) {
        session.printer.say("Nothing to do.");
    }
    Ok(exit)
}

fn named(names: &[String]) -> Result<Vec<&'static Client>> {
    let mut found: Vec<&'static Client> = Vec::new();
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

/// How clients are to start us: a file that is shared names no path of this machine.
fn program(session: &Session, args: &Args) -> Result<Program> {
    let settings = session.settings()?;
    let path = match args.scope {
        Scope::Project => "memoranda".to_owned(),
        Scope::User => match env::this_program() {
            Some(path) => path.display().to_string(),
            None => "memoranda".to_owned(),
        },
    };
    let home = settings.all.iter().find(|setting| setting.key == "home");
    let is_said_here = home.is_some_and(|home| {
        matches!(home.origin, Origin::Flag(_) | Origin::Variable(_)) && args.scope == Scope::User
    });
    let mut flags = Vec::new();
    if is_said_here {
        let home = settings.home();
        let home = std::path::absolute(&home).unwrap_or(home);
        flags = vec!["--home".to_owned(), home.display().to_string()];
    }
    Ok(Program { path, flags, toolsets: args.toolsets.clone() })
}

fn check_toolsets(args: &Args) -> Result<()> {
    let Some(sets) = &args.toolsets else { return Ok(()) };
    let selection = memoranda_tools::ToolSelection {
        toolsets: sets.split(',').map(|set| set.trim().to_owned()).collect(),
        ..Default::default()
    };
    match selection.resolve() {
        Ok(_) => Ok(()),
        Err(error) => Err(CommandError::usage(error.to_string())
            .hint("`memoranda tool --list` lists the tools and their sets")),
    }
}

fn plan(client: &'static Client, args: &Args, bases: &Bases, program: &Program) -> Plan {
    let found = client.is_here(bases);
    let file = client.file(bases, args.scope);
    let mut plan = Plan {
        client,
        found,
        file,
        server: None,
        hooks: None,
        with: Hooks::Without,
        changes: Vec::new(),
        backups: Vec::new(),
        problem: None,
    };
    if plan.file.is_none() {
        let what = format!("{} has no settings of a project", client.title);
        plan.problem = Some(
            CommandError::usage(what).hint(format!("`memoranda setup {}` is for you", client.name)),
        );
        return plan;
    }
    if let Err(error) = look(&mut plan, args, bases, program) {
        plan.problem = Some(error);
    }
    plan
}

fn look(plan: &mut Plan, args: &Args, bases: &Bases, program: &Program) -> Result<()> {
    let client = plan.client;
    for target in client.targets(bases, args.scope, Hooks::With, program) {
        let (server, hooks) = target.apart();
        if let Some(server) = server {
            plan.server = Some(server.state(bases)?);
        }
        if let Some(hooks) = hooks {
            plan.hooks = Some(hooks.state(bases)?);
        }
    }
    // Whoever has our hooks keeps them current, and loses them with the rest.
    if args.hooks || args.remove || plan.hooks.is_some_and(|s| s != State::Absent) {
        plan.with = Hooks::With;
    }
    for target in client.targets(bases, args.scope, plan.with, program) {
        let change = if args.remove { target.disconnect(bases)? } else { target.connect(bases)? };
        plan.changes.extend(change);
    }
    Ok(())
}

fn action(plan: &Plan, args: &Args) -> &'static str {
    match (plan.changes.is_empty(), args.remove, plan.server) {
        (true, ..) => "none",
        (false, true, _) => "remove",
        (false, false, Some(State::Absent) | None) => "connect",
        (false, false, _) => "update",
    }
}

fn state_name(state: Option<State>) -> Option<&'static str> {
    state.map(|state| match state {
        State::Absent => "absent",
        State::Different => "different",
        State::Current => "current",
    })
}

fn report(args: &Args, bases: &Bases, plans: &[Plan]) -> Report {
    let row = |plan: &Plan| ClientJson {
        name: plan.client.name,
        title: plan.client.title,
        found: plan.found,
        scope: match args.scope {
            Scope::User => "user",
            Scope::Project => "project",
        },
        file: plan.file.as_ref().map(|file| bases.shown(file)),
        server: state_name(plan.server),
        hooks: state_name(plan.hooks),
        action: action(plan, args),
        backups: plan.backups.clone(),
        problem: plan.problem.as_ref().map(|problem| problem.message.clone()),
    };
    Report { clients: plans.iter().map(row).collect(), dry_run: args.dry_run }
}

/// The table of everything.
fn overview(session: &Session, args: &Args, bases: &Bases, plans: &[Plan]) -> Result<Exit> {
    if session.is_json() {
        session.printer.json(&report(args, bases, plans))?;
        return Ok(Exit::Done);
    }
    let plain = anstyle::Style::new();
    let columns = [
        Column::word("CLIENT", STRONG),
        Column::word("INSTALLED", plain),
        Column::word("SERVER", plain),
        Column::word("HOOKS", plain),
        Column::word("ACTION", GOOD),
        Column::text("FILE", FAINT),
    ];
    let words = |state: Option<State>| match state {
        Some(State::Current) => "yes",
        Some(State::Different) => "old",
        Some(State::Absent) => "no",
        None => "-",
    };
    let row = |plan: &Plan| {
        let would = match (&plan.problem, action(plan, args)) {
            (Some(_), _) if plan.file.is_some() => "cannot read it",
            (Some(_), _) => "-",
            (None, "none") => "-",
            (None, action) => action,
        };
        let file = plan.file.as_ref().map(|file| bases.shown(file)).unwrap_or_default();
        let here = if plan.found { "yes" } else { "no" };
        let cells = [plan.client.name, here, words(plan.server), words(plan.hooks), would, &file];
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    };
    let rows: Vec<Vec<String>> = plans.iter().map(row).collect();
    table::print(&session.printer, &columns, &rows)?;
    for problem in
        plans.iter().filter(|plan| plan.file.is_some()).filter_map(|p| p.problem.as_ref())
    {
        session.printer.warn(&problem.message);
    }
    let would: Vec<&Plan> = plans.iter().filter(|plan| !plan.changes.is_empty()).collect();
    let verb = if args.remove { "--remove " } else { "" };
    match would.first() {
        Some(first) => {
            session.printer.hint(format!(
                "`memoranda setup {verb}{}` shows the change and asks; `memoranda setup {verb}--yes` \
                 does all",
                first.client.name
            ));
        }
        None if args.remove => {
            session.printer.say("Nothing of Memoranda is in any of these files.")
        }
        None if plans.iter().any(|plan| plan.found) => {
            let here = plans.iter().filter(|plan| plan.found);
            let unread = here.clone().filter(|plan| plan.problem.is_some()).count();
            match (unread, here.count() - unread) {
                (0, _) => session.printer.say("Every client that is here is connected."),
                (_, 0) => {}
                _ => session.printer.say("Every other client that is here is connected."),
            }
        }
        None => session.printer.hint("no client was found; any client starts `memoranda mcp`"),
    }
    Ok(Exit::Done)
}

fn carry_out(session: &Session, args: &Args, bases: &Bases, plan: &mut Plan) -> Result<()> {
    let printer = &session.printer;
    let client = plan.client;
    let title = client.title;
    if plan.changes.is_empty() {
        // Of those that nobody named only what is done is told.
        if !session.is_json() && !args.clients.is_empty() {
            let file = plan.file.as_ref().map(|file| bases.shown(file)).unwrap_or_default();
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
    for change in &plan.changes {
        if printer.format != Format::Json && (args.dry_run || !session.args.yes) {
            show(session, bases, change)?;
        }
        if args.dry_run {
            continue;
        }
        let shown = bases.shown(&change.path);
        session.confirm(&format!("Write {shown}?")).map_err(|error| match error.kind {
            Kind::Exit(Exit::NotFound) => {
                CommandError::new(Exit::NotFound, format!("{shown} was left as it is"))
            }
            _ => error,
        })?;
        let backup = change.apply(bases)?;
        plan.backups.extend(backup.iter().map(|path| bases.shown(path)));
        if printer.format == Format::Json {
            continue;
        }
        let kept = backup.map(|path| format!("; as it was: {}", bases.shown(&path)));
        let verb = match (args.remove, &change.after) {
            (true, None) => "Deleted",
            (true, Some(_)) => "Removed Memoranda from",
            (false, _) => "Wrote",
        };
        printer.line(format!(
            "{verb} {PLACE}{shown}{PLACE:#} for {title}{}",
            kept.unwrap_or_default()
        ))?;
    }
    if !args.dry_run && !args.remove {
        printer.hint(format!("{title}: {}", client.after));
        let brings_hooks = plan.with == Hooks::With && plan.hooks != Some(State::Current);
        if let Some(after) = client.after_hooks().filter(|_| brings_hooks) {
            printer.hint(format!("{title}: {after}"));
        }
    }
    Ok(())
}

fn show(session: &Session, bases: &Bases, change: &Change) -> Result<()> {
    let shown = bases.shown(&change.path);
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let none = "/dev/null";
    let labels = DiffLabels {
        before: if change.before.is_some() { &shown } else { none },
        after: if change.after.is_some() { &shown } else { none },
    };
    paint::diff(&session.printer, &unified_diff(before, after, 3, labels))
}

/// What to paste by hand.
fn print(
    session: &Session,
    args: &Args,
    bases: &Bases,
    program: &Program,
    named: &[&'static Client],
) -> Result<Exit> {
    if named.is_empty() {
        return Err(CommandError::usage("--print needs the name of a client")
            .hint("`memoranda setup cursor --print`"));
    }
    for client in named {
        let Some(file) = client.file(bases, args.scope) else {
            return Err(CommandError::usage(format!(
                "{} has no settings of a project",
                client.title
            )));
        };
        session.printer.say(format!("{}: into {}", client.title, bases.shown(&file)));
        session.printer.bytes(client.snippet(program).as_bytes())?;
    }
    Ok(Exit::Done)
}
