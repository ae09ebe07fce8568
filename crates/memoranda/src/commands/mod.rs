//! The commands: one file each, with what can be typed and what it does.

mod activity;
mod add;
#[cfg_attr(
    not(feature = "postgres"),
    allow(dead_code, reason = "the arguments are parsed, so that help and errors are the same")
)]
mod admin;
mod bank;
mod blame;
mod clone;
mod completions;
mod config;
mod diff;
mod doctor;
mod edit;
mod embed;
mod expire;
mod export;
mod forget;
mod graph;
mod hook;
mod import;
mod init;
mod list;
mod log;
mod man;
mod mcp;
mod mv;
mod open;
mod page_services;
mod project;
mod pull;
mod recall;
mod redo;
mod reference;
mod remember;
mod reminders;
mod restore;
mod rm;
mod rules;
mod scan;
mod search;
mod serve;
mod serve_team;
mod setup;
mod show;
mod status;
mod token;
mod tool;
pub(crate) mod undo;
mod undo_conversation;
mod vacuum;
mod watch;

use std::sync::Arc;

use clap::Subcommand;
use memoranda_server::PageServices;

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;

/// A heading of the help and its commands.
pub(crate) struct HelpGroup {
    /// Heading.
    pub(crate) heading: &'static str,
    /// Names of the commands, in order.
    pub(crate) commands: &'static [&'static str],
}

/// The help: every visible command, grouped by purpose.
pub(crate) const HELP_GROUPS: &[HelpGroup] = &[
    HelpGroup { heading: "Start", commands: &["init", "setup", "import", "status"] },
    HelpGroup {
        heading: "Remember and find",
        commands: &[
            "remember",
            "recall",
            "forget",
            "add",
            "search",
            "show",
            "edit",
            "list",
            "recent",
            "mv",
            "rm",
            "reminders",
        ],
    },
    HelpGroup {
        heading: "See what changed, and take it back",
        commands: &["open", "log", "diff", "blame", "activity", "undo", "redo", "restore"],
    },
    HelpGroup {
        heading: "Serve agents",
        commands: &["mcp", "serve", "token", "tool", "hook", "rules", "bank"],
    },
    HelpGroup { heading: "Share with a team", commands: &["clone", "pull", "admin"] },
    HelpGroup {
        heading: "Look after the vault",
        commands: &[
            "project", "config", "scan", "watch", "doctor", "reindex", "embed", "expire", "vacuum",
            "export",
        ],
    },
    HelpGroup { heading: "Your shell", commands: &["completions", "man"] },
];

/// Every command.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum CliCommand {
    Init(init::Args),
    Add(add::Args),
    #[command(alias = "find")]
    Search(search::Args),
    Remember(remember::Args),
    Recall(recall::Args),
    Forget(forget::Args),
    #[command(alias = "cat")]
    Show(show::Args),
    Edit(edit::Args),
    #[command(alias = "ls")]
    List(list::Args),
    Recent(list::RecentArgs),
    Mv(mv::Args),
    #[command(alias = "delete")]
    Rm(rm::Args),
    Restore(restore::Args),
    #[command(alias = "history")]
    Log(log::Args),
    Diff(diff::Args),
    Blame(blame::Args),
    Activity(activity::Args),
    Undo(undo::Args),
    Redo(redo::Args),
    Setup(setup::Args),
    Reminders(reminders::Args),
    Mcp(mcp::Args),
    Open(open::Args),
    Serve(serve::Args),
    Clone(clone::Args),
    Pull(pull::Args),
    Admin(admin::Args),
    Token(token::Args),
    Tool(tool::Args),
    Hook(hook::Args),
    Project(project::Args),
    Bank(bank::Args),
    Status(status::Args),
    #[command(alias = "sync")]
    Scan(scan::Args),
    Watch(watch::Args),
    Doctor(doctor::Args),
    Reindex(scan::ReindexArgs),
    Embed(embed::Args),
    Expire(expire::Args),
    Vacuum(vacuum::Args),
    Export(export::Args),
    Import(import::Args),
    Rules(rules::Args),
    Config(config::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    Reference(reference::Args),
}

/// Does what was asked.
pub(crate) fn run(context: &CommandContext, command: CliCommand) -> Result<Exit> {
    match command {
        CliCommand::Init(args) => init::run(context, &args),
        CliCommand::Add(args) => add::run(context, &args),
        CliCommand::Search(args) => search::run(context, &args),
        CliCommand::Remember(args) => remember::run(context, &args),
        CliCommand::Recall(args) => recall::run(context, &args),
        CliCommand::Forget(args) => forget::run(context, &args),
        CliCommand::Show(args) => show::run(context, &args),
        CliCommand::Edit(args) => edit::run(context, &args),
        CliCommand::List(args) => list::run(context, &args),
        CliCommand::Recent(args) => list::recent(context, &args),
        CliCommand::Mv(args) => mv::run(context, &args),
        CliCommand::Rm(args) => rm::run(context, &args),
        CliCommand::Restore(args) => restore::run(context, &args),
        CliCommand::Log(args) => log::run(context, &args),
        CliCommand::Diff(args) => diff::run(context, &args),
        CliCommand::Blame(args) => blame::run(context, &args),
        CliCommand::Activity(args) => activity::run(context, &args),
        CliCommand::Undo(args) => undo::run(context, &args),
        CliCommand::Redo(args) => redo::run(context, &args),
        CliCommand::Setup(args) => setup::run(context, &args),
        CliCommand::Reminders(args) => reminders::run(context, &args),
        CliCommand::Mcp(args) => mcp::run(context, &args),
        CliCommand::Open(args) => open::run(context, &args),
        CliCommand::Serve(args) => serve::run(context, &args),
        CliCommand::Clone(args) => clone::run(context, &args),
        CliCommand::Pull(args) => pull::run(context, &args),
        CliCommand::Admin(args) => admin::run(context, &args),
        CliCommand::Token(args) => token::run(context, &args),
        CliCommand::Tool(args) => tool::run(context, &args),
        CliCommand::Hook(args) => hook::run(context, &args),
        CliCommand::Project(args) => project::run(context, &args),
        CliCommand::Bank(args) => bank::run(context, &args),
        CliCommand::Status(args) => status::run(context, &args),
        CliCommand::Scan(args) => scan::run(context, &args),
        CliCommand::Watch(args) => watch::run(context, &args),
        CliCommand::Doctor(args) => doctor::run(context, &args),
        CliCommand::Reindex(args) => scan::reindex(context, &args),
        CliCommand::Embed(args) => embed::run(context, &args),
        CliCommand::Expire(args) => expire::run(context, &args),
        CliCommand::Vacuum(args) => vacuum::run(context, &args),
        CliCommand::Export(args) => export::run(context, &args),
        CliCommand::Import(args) => import::run(context, &args),
        CliCommand::Rules(args) => rules::run(context, &args),
        CliCommand::Config(args) => config::run(context, &args),
        CliCommand::Completions(args) => completions::run(context, &args),
        CliCommand::Man(args) => man::run(context, &args),
        CliCommand::Reference(args) => reference::run(context, &args),
    }
}

/// Returns the services of this program for the page.
fn page_services(context: &CommandContext) -> Option<Arc<dyn PageServices>> {
    Some(Arc::new(page_services::CommandServices::new(&context.args)))
}

/// Says which version this is.
pub(crate) fn version(context: &CommandContext) -> Result<Exit> {
    let version = env!("CARGO_PKG_VERSION");
    let commit = option_env!("MEMORANDA_COMMIT");
    let value = serde_json::json!({
        "name": "memoranda",
        "version": version,
        "commit": commit,
        "mcp_revisions": memoranda_server::protocol_revisions(),
    });
    if context.is_json() {
        context.printer.json(&value)?
    } else {
        context.printer.line(format!("memoranda {version}"))?
    }
    Ok(Exit::Success)
}
