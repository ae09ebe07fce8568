//! `memoranda reminders`: what is due, and when the rest will be.

use std::sync::atomic::AtomicBool;

use clap::Subcommand;
use memoranda_engine::core::change::Author;
use memoranda_engine::records::{Reminder, VisibleScopes, list_reminders};
use memoranda_tools::{CallContext, ClientContext, ToolResult};
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{FAINT, PLACE, STRONG, counted, visible_lines};
use crate::table::{self, TableColumn};
use crate::time;

/// Show the reminders that are due, and when the others will be.
///
/// Those of the repository you are in, and the global ones. They are the reminders that agents
/// set with `add_reminder`: files in the project `records`, in folders named `reminder`.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda reminders
  memoranda reminders add '0 9 * * 1-5' 'Look at the error budget'
  memoranda reminders run

JSON (--json):
  {reminders: [{id, scope, cron, message, enabled, next, due_since, runs, problem}]}")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<ReminderAction>,

    /// Only those that are due.
    #[arg(long)]
    due: bool,
}

#[derive(Subcommand)]
enum ReminderAction {
    /// Add a reminder, for the repository you are in.
    #[command(after_long_help = "\
Examples:
  memoranda reminders add '0 9 * * 1-5' 'Look at the error budget'
  memoranda reminders add --global '@monthly' 'Send the invoice'

JSON (--json):
  {id, scope, next, path, commit, warning}")]
    Add {
        /// Due times: minute, hour, day of the month, month, day of the week; or @daily and the
        /// like.
        #[arg(value_name = "CRON")]
        cron: String,
        /// Text of the reminder.
        #[arg(value_name = "MESSAGE")]
        message: String,
        /// Wherever you are, not only in this repository.
        #[arg(long)]
        global: bool,
    },

    /// Mark what is due as done.
    #[command(after_long_help = "\
Examples:
  memoranda reminders run
  memoranda reminders run --dry-run

JSON (--json):
  {count, reminders, dry_run, commit}, with reminders as of `memoranda reminders`")]
    Run {
        /// Only show what is due.
        #[arg(short = 'n', long)]
        dry_run: bool,
    },

    /// Switch a reminder on again.
    #[command(after_long_help = "\
Examples:
  memoranda reminders enable k3f9a2xy

JSON (--json):
  {id, scope, path, commit, next}")]
    Enable {
        /// Id of the reminder.
        id: String,
    },

    /// Switch a reminder off.
    #[command(after_long_help = "\
Examples:
  memoranda reminders disable k3f9a2xy

JSON (--json):
  {id, scope, path, commit, next}")]
    Disable {
        /// Id of the reminder.
        id: String,
    },

    /// Delete a reminder; the history keeps it.
    #[command(after_long_help = "\
Examples:
  memoranda reminders rm k3f9a2xy

JSON (--json):
  {id, scope, path, commit, next}")]
    Rm {
        /// Id of the reminder.
        id: String,
    },
}

#[derive(Serialize)]
struct ReminderJson<'a> {
    id: &'a str,
    scope: &'a str,
    cron: &'a str,
    message: &'a str,
    enabled: bool,
    next: Option<jiff::Timestamp>,
    due_since: Option<jiff::Timestamp>,
    runs: Option<usize>,
    problem: Option<&'a str>,
}

/// Does it.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let (tool, arguments) = match &args.action {
        None => return list(context, args.due),
        Some(ReminderAction::Add { cron, message, global }) => (
            "add_reminder",
            json!({ "cron_expression": cron, "message": message, "global": global }),
        ),
        Some(ReminderAction::Run { dry_run }) => {
            ("run_due_reminders", json!({ "dry_run": dry_run }))
        }
        Some(ReminderAction::Enable { id }) => ("enable_reminder", json!({ "id": id })),
        Some(ReminderAction::Disable { id }) => ("disable_reminder", json!({ "id": id })),
        Some(ReminderAction::Rm { id }) => ("delete_reminder", json!({ "id": id })),
    };
    let done = call(context, tool, arguments)?;
    if done.is_error {
        let exit = if tool == "add_reminder" { Exit::Usage } else { Exit::NotFound };
        let error = CommandError::new(exit, done.text.trim_end_matches('.'));
        return Err(error.hint("`memoranda reminders --help` shows how"));
    }
    if context.is_json() {
        context.printer.json(&done.structured)?
    } else {
        context.printer.text(visible_lines(&done.text))?
    }
    Ok(Exit::Success)
}

/// The tool that agents call does it, so that both do the same.
fn call(context: &CommandContext, name: &str, arguments: Value) -> Result<ToolResult> {
    let tool = memoranda_tools::tool(name).ok_or_else(|| {
        CommandError::new(Exit::Internal, format!("the tool {name} is not there"))
    })?;
    // Edits in the files are scanned before anything is marked as done.
    context.open_synced()?;
    let settings = context.settings()?.tools();
    let call = CallContext {
        memory: context.open_or_create()?,
        who: Author { tool: name.to_owned(), ..context.author() },
        settings: &settings,
        progress: &|_, _, _| (),
        cancelled: &AtomicBool::new(false),
        client: &ClientContext::default(),
        space: None,
        others: &[],
    };
    Ok(memoranda_tools::call(tool, &call, arguments))
}

fn list(context: &CommandContext, only_due: bool) -> Result<Exit> {
    let memory = context.open_synced()?;
    let settings = context.settings()?.tools();
    let visible = VisibleScopes::of_workspace(settings.workspace.as_deref());
    let mut found = list_reminders(memory, &visible, &settings.records.zone)
        .map_err(|error| CommandError::new(Exit::Internal, error.to_string()))?;
    found.retain(|reminder| !only_due || reminder.due.is_some());
    if context.is_json() {
        let reminders: Vec<_> = found.iter().map(reminder_json).collect();
        context.printer.json(&json!({ "reminders": reminders }))?;
        return Ok(Exit::Success);
    }
    if found.is_empty() {
        context.printer.say(if only_due { "Nothing is due." } else { "No reminders." });
        return Ok(Exit::Success);
    }
    let columns = [
        TableColumn::word("ID", STRONG),
        TableColumn::text("STATE", FAINT),
        TableColumn::text("NEXT", PLACE),
        TableColumn::optional("CRON", FAINT),
        TableColumn::text("MESSAGE", anstyle::Style::new()),
        TableColumn::optional("SCOPE", FAINT),
    ];
    table::print(&context.printer, &columns, &found.iter().map(row).collect::<Vec<_>>())?;
    let due = found.iter().filter(|reminder| reminder.due.is_some()).count();
    if due > 0 {
        let sentence =
            format!("{} due: `memoranda reminders run` marks it as done", counted(due, "reminder"));
        context.printer.hint(sentence);
    }
    Ok(Exit::Success)
}

fn row(reminder: &Reminder) -> Vec<String> {
    let state = match (&reminder.problem, reminder.enabled, reminder.due) {
        (Some(_), ..) => "broken".to_owned(),
        (None, false, _) => "off".to_owned(),
        (None, true, None) => "on".to_owned(),
        (None, true, Some(due)) if due.runs > 1 => format!("due ({} runs missed)", due.runs),
        (None, true, Some(_)) => "due".to_owned(),
    };
    let next = match (&reminder.problem, reminder.due, reminder.next) {
        (Some(problem), ..) => problem.clone(),
        (None, Some(due), _) => format!("since {}", time::local(due.since)),
        (None, None, Some(next)) => time::local(next),
        (None, None, None) => String::new(),
    };
    let message = reminder.message.split_whitespace().collect::<Vec<_>>().join(" ");
    let scope = reminder.scope.name().to_owned();
    vec![reminder.id.clone(), state, next, reminder.cron.clone(), message, scope]
}

fn reminder_json(reminder: &Reminder) -> ReminderJson<'_> {
    ReminderJson {
        id: &reminder.id,
        scope: reminder.scope.name(),
        cron: &reminder.cron,
        message: &reminder.message,
        enabled: reminder.enabled,
        next: reminder.next,
        due_since: reminder.due.map(|due| due.since),
        runs: reminder.due.map(|due| due.runs),
        problem: reminder.problem.as_deref(),
    }
}
