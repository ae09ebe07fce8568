//! Reminders: files with a cron expression, due by the person's clock.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memoranda_core::cron::CronExpression;
use memoranda_core::note::MetaValue;
use memoranda_engine::{FileSummary, Memory, Place, ReviseOutcome, Step, Who, clock};
use serde_json::{Value, json};

use super::error::{RecordError, Result};
use super::query;
use super::record::{place, project, set_key, single_line, title_of};
use super::schedule::{DueRuns, MAX_COUNTED_RUNS, ReminderFile};
use super::scope::{self, RecordScope, VisibleScopes};
use super::secrets::SecretScreen;
use crate::registry::{CallContext, ToolArgs, ToolResult};
use crate::settings::RecordSettings;

/// The folder of reminders in a scope.
pub(super) const FOLDER: &str = "reminder";
const MAX_MESSAGE_CHARS: usize = 2000;
/// A reminder, as it stands now.
#[derive(Clone, Debug)]
pub struct Reminder {
    /// The name of its file.
    pub id: String,
    /// Whom it concerns.
    pub scope: RecordScope,
    /// When it recurs.
    pub cron: String,
    /// What it says.
    pub message: String,
    /// Whether it is switched on.
    pub enabled: bool,
    /// When it is due next; `None` if it is off or cannot be read.
    pub next: Option<Timestamp>,
    /// Since when it is due and how many runs that are; `None` if it is not.
    pub due: Option<DueRuns>,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// Its file.
    pub place: Place,
    zone: TimeZone,
}

impl Reminder {
    fn new(
        id: &str,
        scope: RecordScope,
        place: Place,
        written: &ReminderFile,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Self {
        let mut reminder = Self {
            id: id.to_owned(),
            scope,
            cron: written.cron.clone(),
            message: written.message.clone(),
            enabled: written.enabled,
            next: None,
            due: None,
            problem: None,
            place,
            zone: zone.clone(),
        };
        match CronExpression::parse(&reminder.cron) {
            Err(bad) => reminder.problem = Some(bad.to_string()),
            Ok(_) if !written.enabled => {}
            Ok(cron) => {
                reminder.due = written.due(&cron, now, zone);
                reminder.next = written.next(&cron, now, zone);
            }
        }
        reminder
    }

    fn from_file(
        scope: RecordScope,
        file: &FileSummary,
        body: &str,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Self {
        let front: Value = serde_json::from_str(&file.metadata).unwrap_or_default();
        let text = |key: &str| front.get(key).and_then(Value::as_str).map(str::to_owned);
        let written = ReminderFile::from_keys(text, file.created, zone, body);
        let place = Place { project: file.project.clone(), path: file.path.clone() };
        Self::new(file.path.stem(), scope, place, &written, now, zone)
    }

    /// A time as the person's clock shows it.
    fn format_local(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string()
    }

    fn next_text(&self) -> String {
        match (self.next, &self.problem) {
            (Some(next), _) => self.format_local(next),
            (None, Some(problem)) => problem.clone(),
            (None, None) => "none".to_owned(),
        }
    }

    /// What is due, and since when.
    pub(super) fn due_text(&self) -> String {
        let message = single_line(&self.message, 500);
        match self.due {
            None => format!("{} ({}): {message}", self.id, self.scope.describe()),
            Some(due) => {
                let missed = match due.runs {
                    1 => String::new(),
                    MAX_COUNTED_RUNS => {
                        format!("; {MAX_COUNTED_RUNS} or more runs missed, shown once")
                    }
                    runs => format!("; {runs} runs missed, shown once"),
                };
                format!(
                    "{} ({}): {message} (due since {}{missed})",
                    self.id,
                    self.scope.describe(),
                    self.format_local(due.since)
                )
            }
        }
    }

    /// What a program gets to know of it.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "scope": self.scope.name(),
            "cron": self.cron,
            "message": self.message,
            "enabled": self.enabled,
            "next": self.next.map(|next| next.to_string()),
            "due_since": self.due.map(|due| due.since.to_string()),
            "runs": self.due.map(|due| due.runs),
            "problem": self.problem,
        })
    }
}

/// All reminders that a caller can see, those that are due first.
pub(super) fn visible_reminders(
    memory: &Memory,
    reach: &VisibleScopes,
    settings: &RecordSettings,
) -> Result<Vec<Reminder>> {
    let now = clock::now();
    let files = query::scope_files(memory, reach, FOLDER)?;
    let reminder = |(scope, file, body): (RecordScope, FileSummary, String)| {
        Reminder::from_file(scope, &file, &body, now, &settings.zone)
    };
    let mut reminders: Vec<Reminder> = files.into_iter().map(reminder).collect();
    let far = Timestamp::MAX;
    reminders.sort_by_key(|reminder| {
        (reminder.due.is_none(), reminder.next.unwrap_or(far), reminder.id.clone())
    });
    Ok(reminders)
}

/// The reminders that are due.
pub(super) fn due_reminders(
    memory: &Memory,
    reach: &VisibleScopes,
    settings: &RecordSettings,
) -> Result<Vec<Reminder>> {
    let mut reminders = visible_reminders(memory, reach, settings)?;
    reminders.retain(|reminder| reminder.due.is_some());
    Ok(reminders)
}

/// The reminders of a project (by its folder on disk) and the global ones, those that are due
/// first.
pub fn list_reminders(
    memory: &Memory,
    settings: &RecordSettings,
    project: Option<RecordScope>,
) -> Result<Vec<Reminder>> {
    visible_reminders(memory, &VisibleScopes::new(project), settings)
}

/// Marks every reminder that is due as done; what was due.
pub fn acknowledge_due_reminders(
    memory: &Memory,
    who: &Who,
    settings: &RecordSettings,
    project: Option<RecordScope>,
) -> Result<(Vec<Reminder>, Option<String>)> {
    acknowledge(memory, who, settings, &VisibleScopes::new(project))
}

/// `add_reminder`.
pub(super) fn add(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let expression = args.text("cron_expression")?;
    let cron = CronExpression::parse(&expression)
        .map_err(|bad| RecordError::new(format!("`cron_expression` of add_reminder: {bad}.")))?;
    let mut message = args.text("message")?.trim().to_owned();
    if message.is_empty() || message.chars().count() > MAX_MESSAGE_CHARS {
        return Err(RecordError::new(format!(
            "`message` must have 1 to {MAX_MESSAGE_CHARS} characters."
        )));
    }
    let scope = scope::target(call, args)?;
    let mut screen = SecretScreen::new(call);
    screen.text(&mut message);
    let warning = screen.finish()?;
    let now = clock::now();
    let id = clock::new_name();
    let mut text = format!("\n{message}\n");
    let mut set = |key: &str, value: String| -> Result<()> {
        text = set_key(&text, key, MetaValue::Text(value))?;
        Ok(())
    };
    set("title", title_of(&message))?;
    set("type", FOLDER.to_owned())?;
    if let RecordScope::Project(_) = scope {
        set("project", scope.name().to_owned())?;
    }
    set("cron", expression.split_whitespace().collect::<Vec<_>>().join(" "))?;
    set("enabled", "true".to_owned())?;
    set("since", now.to_string())?;
    call.memory.create_project(project().as_str())?;
    let place = place(&format!("{}/{id}.md", query::kind_folder(&scope, FOLDER)?))?;
    let outcome = call.memory.revise(&call.who, None, |_| -> Result<Vec<Step>> {
        Ok(vec![Step::create(place.clone(), text.clone())])
    })?;
    let commit = commit_id(outcome)?;
    let zone = &call.settings.records.zone;
    let next = cron.next_after(now, zone);
    let when = next.map_or_else(
        || "never".to_owned(),
        |next| next.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string(),
    );
    let mut text = format!(
        "Created reminder {id} ({}) next at {when}: {}\n{place} · commit {commit}",
        scope.describe(),
        single_line(&message, 200)
    );
    if let Some(warning) = &warning {
        text.push_str(&format!("\n{warning}"));
    }
    let structured = json!({
        "id": id, "scope": scope.name(), "next": next.map(|next| next.to_string()),
        "path": place.to_string(), "commit": commit, "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `list_reminders`.
pub(super) fn list(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let reach = scope::reach(call.settings, args)?;
    let mut reminders = visible_reminders(call.memory, &reach, &call.settings.records)?;
    let total = reminders.len();
    if !args.flag("include_disabled")?.unwrap_or(false) {
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
            reminder.next_text(),
            reminder.scope.describe(),
        ));
    }
    if total > count {
        text.push_str(&format!("[{} disabled: include_disabled shows them]\n", total - count));
    }
    text.push_str(&reach.describe());
    let wire: Vec<Value> = reminders.iter().map(Reminder::to_json).collect();
    Ok(ToolResult::ok(text, json!({ "count": count, "reminders": wire })))
}

/// `run_due_reminders`.
pub(super) fn run(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let reach = scope::reach(call.settings, args)?;
    let settings = &call.settings.records;
    let dry = args.flag("dry_run")?.unwrap_or(false);
    let active = || -> Result<usize> {
        Ok(visible_reminders(call.memory, &reach, settings)?
            .iter()
            .filter(|one| one.enabled)
            .count())
    };
    let (due, commit) = if dry {
        (due_reminders(call.memory, &reach, settings)?, None)
    } else {
        acknowledge(call.memory, &call.who, settings, &reach)?
    };
    let mut text = match (due.len(), dry) {
        (0, _) => format!("No due reminders ({} active checked).\n", active()?),
        (count, false) => format!("Triggered {count} reminder(s):\n"),
        (count, true) => format!("{count} reminder(s) due (dry run — schedule not advanced):\n"),
    };
    for reminder in &due {
        text.push_str(&format!("- {}\n", reminder.due_text()));
        if !dry {
            text.push_str(&format!("  next: {}\n", reminder.next_text()));
        }
    }
    text.push_str(&reach.describe());
    let wire: Vec<Value> = due.iter().map(Reminder::to_json).collect();
    let structured =
        json!({ "count": due.len(), "reminders": wire, "dry_run": dry, "commit": commit });
    Ok(ToolResult::ok(text, structured))
}

/// Marks what is due as done, under the lock: of two callers at once, one gets it.
fn acknowledge(
    memory: &Memory,
    who: &Who,
    settings: &RecordSettings,
    reach: &VisibleScopes,
) -> Result<(Vec<Reminder>, Option<String>)> {
    let candidates = due_reminders(memory, reach, settings)?;
    if candidates.is_empty() {
        return Ok((candidates, None));
    }
    let mut done = Vec::new();
    let outcome = memory.revise(who, Some("run due reminders"), |desk| -> Result<Vec<Step>> {
        done.clear();
        let now = clock::now();
        let mut steps = Vec::new();
        for candidate in &candidates {
            let Some((text, _)) = desk.text(&candidate.place)? else { continue };
            let created = desk.summary(&candidate.place)?.map_or(now, |file| file.created);
            let written = ReminderFile::parse_file(&text, created, &settings.zone);
            let current = Reminder::new(
                &candidate.id,
                candidate.scope.clone(),
                candidate.place.clone(),
                &written,
                now,
                &settings.zone,
            );
            if current.due.is_some() {
                let text = set_key(&text, "since", MetaValue::Text(now.to_string()))?;
                steps.push(Step::put(candidate.place.clone(), text));
                done.push(current);
            }
        }
        Ok(steps)
    })?;
    let commit = match outcome {
        ReviseOutcome::Committed(commit) => Some(commit.id.to_string()),
        ReviseOutcome::Unchanged | ReviseOutcome::Conflict(_) => None,
    };
    Ok((done, commit))
}

/// `enable_reminder`.
pub(super) fn enable(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    change_reminder(call, &args.text("id")?, ReminderChange::Enable)
}

/// `disable_reminder`.
pub(super) fn disable(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    change_reminder(call, &args.text("id")?, ReminderChange::Disable)
}

/// `delete_reminder`.
pub(super) fn delete(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    change_reminder(call, &args.text("id")?, ReminderChange::Delete)
}

/// What becomes of a reminder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReminderChange {
    Enable,
    Disable,
    Delete,
}

fn change_reminder(call: &CallContext<'_>, id: &str, change: ReminderChange) -> Result<ToolResult> {
    let (scope, place) = find_reminder(call.memory, id.trim())?;
    let id = place.path.stem().to_owned();
    let zone = &call.settings.records.zone;
    let now = clock::now();
    let mut next = None;
    let outcome = call.memory.revise(&call.who, None, |desk| -> Result<Vec<Step>> {
        let Some((text, _)) = desk.text(&place)? else {
            return Err(RecordError::new(format!("Reminder {id} not found.")));
        };
        let set = |text: &str, key: &str, value: String| set_key(text, key, MetaValue::Text(value));
        Ok(vec![match change {
            ReminderChange::Delete => Step::remove(place.clone()),
            ReminderChange::Disable => {
                Step::put(place.clone(), set(&text, "enabled", "false".into())?)
            }
            ReminderChange::Enable => {
                let written = ReminderFile::parse_file(&text, now, zone);
                let cron = CronExpression::parse(&written.cron)
                    .map_err(|bad| RecordError::new(format!("Reminder {id}: {bad}.")))?;
                next = written.next(&cron, now, zone);
                let text = set(&text, "enabled", "true".into())?;
                // What was missed while it was off is not due.
                Step::put(place.clone(), set(&text, "since", now.to_string())?)
            }
        }])
    })?;
    let commit = match outcome {
        ReviseOutcome::Committed(commit) => Some(commit.id.to_string()),
        ReviseOutcome::Unchanged => None,
        ReviseOutcome::Conflict(_) => {
            return Err(RecordError::new(format!(
                "Reminder {id} was changed meanwhile. Try again."
            )));
        }
    };
    let when = next.map_or_else(
        || "never".to_owned(),
        |next| next.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string(),
    );
    let mut text = match change {
        ReminderChange::Enable => format!("Enabled reminder {id}. Next trigger: {when}"),
        ReminderChange::Disable => format!("Disabled reminder {id}."),
        ReminderChange::Delete => format!("Deleted reminder {id}."),
    };
    text.push_str(&format!("\n{place} ({})", scope.describe()));
    if let Some(commit) = &commit {
        text.push_str(&format!(" · commit {commit}"));
    }
    let structured = json!({
        "id": id, "scope": scope.name(), "path": place.to_string(), "commit": commit,
        "next": next.map(|next| next.to_string()),
    });
    Ok(ToolResult::ok(text, structured))
}

/// The reminder of this id, in whichever scope.
fn find_reminder(memory: &Memory, id: &str) -> Result<(RecordScope, Place)> {
    for candidate in memory.store().link_candidates(&project(), id)? {
        let path = &candidate.path;
        let Some(folder) = path.parent().and_then(|folder| folder.strip_suffix("/reminder")) else {
            continue;
        };
        if path.stem() != id {
            continue;
        }
        let file = memory.store().file_by_id(candidate.id)?;
        let front = file.and_then(|file| serde_json::from_str(&file.metadata).ok());
        let scope = RecordScope::from_folder(folder, &front.unwrap_or_default());
        return Ok((scope, Place { project: project(), path: path.clone() }));
    }
    Err(RecordError::new(format!(
        "Reminder {id} not found. list_reminders with include_disabled shows all ids."
    )))
}

fn commit_id(outcome: ReviseOutcome) -> Result<String> {
    match outcome {
        ReviseOutcome::Committed(commit) => Ok(commit.id.to_string()),
        ReviseOutcome::Unchanged => Ok(String::new()),
        ReviseOutcome::Conflict(_) => {
            Err(RecordError::new("A new id was taken already; nothing was stored. Try again."))
        }
    }
}
