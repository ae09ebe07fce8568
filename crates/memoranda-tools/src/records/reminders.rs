//! The tools for reminders.

use memoranda_core::cron::CronExpression;
use memoranda_engine::records::{
    NewReminder, ReminderChange, acknowledge_due_reminders, add_reminder, change_reminder,
    due_reminders, list_reminders, single_line,
};
use serde_json::{Value, json};

use super::arguments;
use super::error::{RecordToolError, RecordToolResult};
use super::render::{
    due_text, local_time, next_run_text, push_warning, reminder_json, scope_text,
    visible_scopes_text,
};
use super::secrets::SecretScreen;
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// Maximum length of a message, in characters.
const MAX_MESSAGE_CHARS: usize = 2000;

/// `add_reminder`.
pub(super) fn add(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let cron = args.text("cron_expression")?;
    CronExpression::parse(&cron).map_err(|error| {
        RecordToolError::new(format!("`cron_expression` of add_reminder: {error}."))
    })?;
    let mut message = args.text("message")?.trim().to_owned();
    if message.is_empty() || message.chars().count() > MAX_MESSAGE_CHARS {
        return Err(RecordToolError::new(format!(
            "`message` must have 1 to {MAX_MESSAGE_CHARS} characters."
        )));
    }
    let scope = arguments::target_scope(call, args)?;
    let mut screen = SecretScreen::new(call);
    screen.text(&mut message);
    let warning = screen.finish()?;
    let zone = &call.settings.records.zone;
    let new = NewReminder { scope, cron, message };
    let added = add_reminder(call.memory, &call.who, &new, zone)?;
    let (id, place) = (&added.id, &added.place);
    let commit = added.commit.map(|commit| commit.id.to_string()).unwrap_or_default();
    let when = added.next.map_or_else(|| "never".to_owned(), |next| local_time(next, zone));
    let mut text = format!(
        "Created reminder {id} ({}) next at {when}: {}\n{place} · commit {commit}",
        scope_text(&added.scope),
        single_line(&new.message, 200)
    );
    push_warning(&mut text, warning.as_deref());
    let structured = json!({
        "id": id, "scope": added.scope.name(), "next": added.next.map(|next| next.to_string()),
        "path": place.to_string(), "commit": commit, "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `list_reminders`.
pub(super) fn list(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let visible = arguments::visible_scopes(call.settings, args)?;
    let zone = &call.settings.records.zone;
    let mut reminders = list_reminders(call.memory, &visible, zone)?;
    let total = reminders.len();
    if !args.is_set("include_disabled")? {
        reminders.retain(|reminder| reminder.enabled);
    }
    let count = reminders.len();
    let mut text = match count {
        0 => "No reminders.\n".to_owned(),
        1 => "1 reminder:\n".to_owned(),
        _ => format!("{count} reminders:\n"),
    };
    for reminder in &reminders {
        let status = match (reminder.enabled, reminder.due, &reminder.problem) {
            (false, _, _) => "disabled",
            (true, _, Some(_)) => "broken",
            (true, Some(_), None) => "due",
            (true, None, None) => "enabled",
        };
        text.push_str(&format!(
            "- {} [{status}] {} :: {} (next: {}) ({})\n",
            reminder.id,
            reminder.cron,
            single_line(&reminder.message, 200),
            next_run_text(reminder, zone),
            scope_text(&reminder.scope),
        ));
    }
    if total > count {
        text.push_str(&format!("[{} disabled: include_disabled shows them]\n", total - count));
    }
    text.push_str(&visible_scopes_text(&visible));
    let json: Vec<Value> = reminders.iter().map(reminder_json).collect();
    Ok(ToolResult::ok(text, json!({ "count": count, "reminders": json })))
}

/// `run_due_reminders`.
pub(super) fn run_due(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let visible = arguments::visible_scopes(call.settings, args)?;
    let zone = &call.settings.records.zone;
    let is_dry_run = args.is_set("dry_run")?;
    let (due, commit) = if is_dry_run {
        (due_reminders(call.memory, &visible, zone)?, None)
    } else {
        acknowledge_due_reminders(call.memory, &call.who, &visible, zone)?
    };
    let mut text = match (due.len(), is_dry_run) {
        (0, _) => {
            let reminders = list_reminders(call.memory, &visible, zone)?;
            let active = reminders.iter().filter(|reminder| reminder.enabled).count();
            format!("No due reminders ({active} active checked).\n")
        }
        (count, false) => format!("Triggered {count} reminder(s):\n"),
        (count, true) => format!("{count} reminder(s) due (dry run — schedule not advanced):\n"),
    };
    for reminder in &due {
        text.push_str(&format!("- {}\n", due_text(reminder, zone)));
        if !is_dry_run {
            text.push_str(&format!("  next: {}\n", next_run_text(reminder, zone)));
        }
    }
    text.push_str(&visible_scopes_text(&visible));
    let json: Vec<Value> = due.iter().map(reminder_json).collect();
    let commit = commit.map(|commit| commit.id.to_string());
    let structured =
        json!({ "count": due.len(), "reminders": json, "dry_run": is_dry_run, "commit": commit });
    Ok(ToolResult::ok(text, structured))
}

/// `enable_reminder`.
pub(super) fn enable(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    change(call, &args.text("id")?, ReminderChange::Enable)
}

/// `disable_reminder`.
pub(super) fn disable(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    change(call, &args.text("id")?, ReminderChange::Disable)
}

/// `delete_reminder`.
pub(super) fn delete(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    change(call, &args.text("id")?, ReminderChange::Delete)
}

fn change(
    call: &CallContext<'_>,
    id: &str,
    change: ReminderChange,
) -> RecordToolResult<ToolResult> {
    let zone = &call.settings.records.zone;
    let changed = change_reminder(call.memory, &call.who, id.trim(), change, zone)?;
    let id = &changed.id;
    let mut text = match change {
        ReminderChange::Enable => {
            let next = changed.next.map_or_else(|| "never".to_owned(), |t| local_time(t, zone));
            format!("Enabled reminder {id}. Next trigger: {next}")
        }
        ReminderChange::Disable => format!("Disabled reminder {id}."),
        ReminderChange::Delete => format!("Deleted reminder {id}."),
    };
    text.push_str(&format!("\n{} ({})", changed.place, scope_text(&changed.scope)));
    let commit = changed.commit.map(|commit| commit.id.to_string());
    if let Some(commit) = &commit {
        text.push_str(&format!(" · commit {commit}"));
    }
    let structured = json!({
        "id": id, "scope": changed.scope.name(), "path": changed.place.to_string(),
        "commit": commit, "next": changed.next.map(|next| next.to_string()),
    });
    Ok(ToolResult::ok(text, structured))
}
