//! The commands: one file each, with what can be typed and what it does.

mod add;
mod bank;
mod completions;
mod config;
mod diff;
mod doctor;
mod edit;
mod embed;
mod expire;
mod export;
mod graph;
mod hook;
mod import;
mod init;
mod list;
mod log;
mod man;
mod mcp;
mod mv;
mod project;
mod redo;
mod reference;
mod reminders;
mod restore;
mod rm;
mod rules;
mod scan;
mod search;
mod serve;
mod setup;
mod show;
mod status;
mod token;
mod tool;
mod undo;
mod vacuum;
mod watch;

use clap::Subcommand;

use crate::error::Result;
use crate::exit::Exit;
use crate::session::Session;

/// Every command, in the order of the help.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Init(init::Args),
    Add(add::Args),
    Search(search::Args),
    Show(show::Args),
    Edit(edit::Args),
    List(list::Args),
    Recent(list::RecentArgs),
    Mv(mv::Args),
    Rm(rm::Args),
    Restore(restore::Args),
    Log(log::Args),
    Diff(diff::Args),
    Undo(undo::Args),
    Redo(redo::Args),
    Setup(setup::Args),
    Reminders(reminders::Args),
    Mcp(mcp::Args),
    Serve(serve::Args),
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
pub(crate) fn run(session: &Session, command: Command) -> Result<Exit> {
    match command {
        Command::Init(args) => init::run(session, &args),
        Command::Add(args) => add::run(session, &args),
        Command::Search(args) => search::run(session, &args),
        Command::Show(args) => show::run(session, &args),
        Command::Edit(args) => edit::run(session, &args),
        Command::List(args) => list::run(session, &args),
        Command::Recent(args) => list::recent(session, &args),
        Command::Mv(args) => mv::run(session, &args),
        Command::Rm(args) => rm::run(session, &args),
        Command::Restore(args) => restore::run(session, &args),
        Command::Log(args) => log::run(session, &args),
        Command::Diff(args) => diff::run(session, &args),
        Command::Undo(args) => undo::run(session, &args),
        Command::Redo(args) => redo::run(session, &args),
        Command::Setup(args) => setup::run(session, &args),
        Command::Reminders(args) => reminders::run(session, &args),
        Command::Mcp(args) => mcp::run(session, &args),
        Command::Serve(args) => serve::run(session, &args),
        Command::Token(args) => token::run(session, &args),
        Command::Tool(args) => tool::run(session, &args),
        Command::Hook(args) => hook::run(session, &args),
        Command::Project(args) => project::run(session, &args),
        Command::Bank(args) => bank::run(session, &args),
        Command::Status(args) => status::run(session, &args),
        Command::Scan(args) => scan::run(session, &args),
        Command::Watch(args) => watch::run(session, &args),
        Command::Doctor(args) => doctor::run(session, &args),
        Command::Reindex(args) => scan::reindex(session, &args),
        Command::Embed(args) => embed::run(session, &args),
        Command::Expire(args) => expire::run(session, &args),
        Command::Vacuum(args) => vacuum::run(session, &args),
        Command::Export(args) => export::run(session, &args),
        Command::Import(args) => import::run(session, &args),
        Command::Rules(args) => rules::run(session, &args),
        Command::Config(args) => config::run(session, &args),
        Command::Completions(args) => completions::run(session, &args),
        Command::Man(args) => man::run(session, &args),
        Command::Reference(args) => reference::run(session, &args),
    }
}

/// Says which version this is.
pub(crate) fn version(session: &Session) -> Result<Exit> {
    let version = env!("CARGO_PKG_VERSION");
    let commit = option_env!("MEMORANDA_COMMIT");
    let value = serde_json::json!({
        "name": "memoranda",
        "version": version,
        "commit": commit,
        "mcp_revisions": memoranda_server::protocol_revisions(),
    });
    if session.is_json() {
        session.printer.json(&value)?
    } else {
        session.printer.line(format!("memoranda {version}"))?
    }
    Ok(Exit::Done)
}
