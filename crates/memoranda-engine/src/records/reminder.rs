//! Reminders: files with a cron expression, due by the local clock.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memoranda_core::abbreviate::join_words;
use memoranda_core::change::Commit;
use memoranda_core::cron::CronExpression;
use memoranda_core::note::MetaValue;
use memoranda_store::{FileSummary, clock};
use serde_json::Value;

use super::error::{RecordError, RecordResult};
use super::query::{find_in_folder, kind_folder, scope_files};
use super::record::{record_location, records_project, set_key, title_of};
use super::schedule::{DueRuns, ReminderFile};
use super::scope::{RecordScope, VisibleScopes};
use crate::{Author, FileOperation, Memory, NoteLocation, TransactOutcome};

/// Name of the folder of reminders in a scope.
pub(super) const FOLDER: &str = "reminder";

/// The current state of a reminder.
#[derive(Clone, Debug)]
pub struct Reminder {
    /// Name of the file without extension.
    pub id: String,
    /// The scope.
    pub scope: RecordScope,
    /// The cron expression.
    pub cron: String,
    /// The message.
    pub message: String,
    /// True if the reminder is enabled.
    pub enabled: bool,
    /// Time of the next run; `None` if the reminder is disabled or invalid.
    pub next: Option<Timestamp>,
    /// The runs that are due; `None` if no run is due.
    pub due: Option<DueRuns>,
    /// Error in the cron expression.
    pub problem: Option<String>,
    /// The file.
    pub place: NoteLocation,
}

impl Reminder {
    fn new(
        id: &str,
        scope: RecordScope,
        place: NoteLocation,
        file: &ReminderFile,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Self {
        let mut reminder = Self {
            id: id.to_owned(),
            scope,
            cron: file.cron.clone(),
            message: file.message.clone(),
            enabled: file.enabled,
            next: None,
            due: None,
            problem: None,
            place,
        };
        match CronExpression::parse(&reminder.cron) {
            Err(error) => reminder.problem = Some(error.to_string()),
            Ok(_) if !file.enabled => {}
            Ok(cron) => {
                reminder.due = file.due(&cron, now, zone);
                reminder.next = file.next(&cron, now, zone);
            }
        }
        reminder
    }

    fn from_summary(
        scope: RecordScope,
        summary: &FileSummary,
        body: &str,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Self {
        let front: Value = serde_json::from_str(&summary.metadata).unwrap_or_default();
        let text = |key: &str| front.get(key).and_then(Value::as_str).map(str::to_owned);
        let file = ReminderFile::from_keys(text, summary.created, zone, body);
        let place = NoteLocation { project: summary.project.clone(), path: summary.path.clone() };
        Self::new(summary.path.stem(), scope, place, &file, now, zone)
    }
}

/// Returns the visible reminders, due ones first.
pub fn list_reminders(
    memory: &Memory,
    visible: &VisibleScopes,
    zone: &TimeZone,
) -> RecordResult<Vec<Reminder>> {
    let now = clock::now();
    let files = scope_files(memory, visible, FOLDER)?;
    let reminder = |(scope, file, body): (RecordScope, FileSummary, String)| {
        Reminder::from_summary(scope, &file, &body, now, zone)
    };
    let mut reminders: Vec<Reminder> = files.into_iter().map(reminder).collect();
    reminders.sort_by_key(|reminder| {
        (reminder.due.is_none(), reminder.next.unwrap_or(Timestamp::MAX), reminder.id.clone())
    });
    Ok(reminders)
}

/// Returns the visible reminders that are due.
pub fn due_reminders(
    memory: &Memory,
    visible: &VisibleScopes,
    zone: &TimeZone,
) -> RecordResult<Vec<Reminder>> {
    let mut reminders = list_reminders(memory, visible, zone)?;
    reminders.retain(|reminder| reminder.due.is_some());
    Ok(reminders)
}

/// A reminder to add.
#[derive(Clone, Debug)]
pub struct NewReminder {
    /// The scope.
    pub scope: RecordScope,
    /// The cron expression, which must be valid.
    pub cron: String,
    /// The message.
    pub message: String,
}

/// A reminder that was added, enabled, disabled or deleted.
#[derive(Clone, Debug)]
pub struct ChangedReminder {
    /// The id.
    pub id: String,
    /// The scope.
    pub scope: RecordScope,
    /// The file.
    pub place: NoteLocation,
    /// Time of the next run; `None` if the reminder never runs again.
    pub next: Option<Timestamp>,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Adds a reminder.
pub fn add_reminder(
    memory: &Memory,
    who: &Author,
    new: &NewReminder,
    zone: &TimeZone,
) -> RecordResult<ChangedReminder> {
    let now = clock::now();
    let id = clock::new_name();
    let cron = CronExpression::parse(&new.cron)
        .map_err(|error| RecordError::InvalidCron { id: id.clone(), error })?;
    let mut text = format!("\n{}\n", new.message);
    let mut set = |key: &str, value: String| -> RecordResult<()> {
        text = set_key(&text, key, MetaValue::Text(value))?;
        Ok(())
    };
    set("title", title_of(&new.message))?;
    set("type", FOLDER.to_owned())?;
    if let RecordScope::Project(_) = new.scope {
        set("project", new.scope.name().to_owned())?;
    }
    set("cron", join_words(&new.cron))?;
    set("enabled", "true".to_owned())?;
    set("since", now.to_string())?;
    memory.create_project(records_project().as_str())?;
    let place = record_location(&format!("{}/{id}.md", kind_folder(&new.scope, FOLDER)?))?;
    let outcome = memory.transact(who, None, |_| -> RecordResult<Vec<FileOperation>> {
        Ok(vec![FileOperation::create(place.clone(), text.clone())])
    })?;
    let commit = match outcome {
        TransactOutcome::Committed(commit) => Some(commit),
        TransactOutcome::Unchanged => None,
        TransactOutcome::Conflict(_) => return Err(RecordError::IdTaken),
    };
    let next = cron.next_after(now, zone);
    Ok(ChangedReminder { id, scope: new.scope.clone(), place, next, commit })
}

/// Marks the visible due reminders as done and returns them. The decision is made under the lock, so
/// of two concurrent callers only one gets a reminder.
pub fn acknowledge_due_reminders(
    memory: &Memory,
    who: &Author,
    visible: &VisibleScopes,
    zone: &TimeZone,
) -> RecordResult<(Vec<Reminder>, Option<Commit>)> {
    acknowledge(memory, who, due_reminders(memory, visible, zone)?, zone)
}

/// Marks one reminder of any scope as done; `None` if it is not due.
pub fn acknowledge_reminder(
    memory: &Memory,
    who: &Author,
    id: &str,
    zone: &TimeZone,
) -> RecordResult<Option<Commit>> {
    let Some((scope, _)) = find_in_folder(memory, FOLDER, id)? else {
        return Err(RecordError::ReminderNotFound { id: id.to_owned() });
    };
    let mut due = due_reminders(memory, &VisibleScopes::only(scope), zone)?;
    due.retain(|reminder| reminder.id == id);
    Ok(acknowledge(memory, who, due, zone)?.1)
}

fn acknowledge(
    memory: &Memory,
    who: &Author,
    candidates: Vec<Reminder>,
    zone: &TimeZone,
) -> RecordResult<(Vec<Reminder>, Option<Commit>)> {
    if candidates.is_empty() {
        return Ok((candidates, None));
    }
    let mut done = Vec::new();
    let message = Some("run due reminders");
    let outcome = memory.transact(who, message, |desk| -> RecordResult<Vec<FileOperation>> {
        done.clear();
        let now = clock::now();
        let mut steps = Vec::new();
        for candidate in &candidates {
            let Some((text, _)) = desk.text(&candidate.place)? else { continue };
            let created = desk
                .file(&candidate.place.project, &candidate.place.path)?
                .map_or(now, |file| file.created);
            let file = ReminderFile::parse_file(&text, created, zone);
            let (scope, place) = (candidate.scope.clone(), candidate.place.clone());
            let current = Reminder::new(&candidate.id, scope, place, &file, now, zone);
            if current.due.is_some() {
                let text = set_key(&text, "since", MetaValue::Text(now.to_string()))?;
                steps.push(FileOperation::put(candidate.place.clone(), text));
                done.push(current);
            }
        }
        Ok(steps)
    })?;
    let commit = match outcome {
        TransactOutcome::Committed(commit) => Some(commit),
        TransactOutcome::Unchanged | TransactOutcome::Conflict(_) => None,
    };
    Ok((done, commit))
}

/// A change of a reminder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReminderChange {
    /// Enables the reminder. Runs that were missed while it was disabled are not due.
    Enable,
    /// Disables the reminder.
    Disable,
    /// Deletes the reminder.
    Delete,
}

/// Enables, disables or deletes a reminder of any scope.
pub fn change_reminder(
    memory: &Memory,
    who: &Author,
    id: &str,
    change: ReminderChange,
    zone: &TimeZone,
) -> RecordResult<ChangedReminder> {
    let Some((scope, place)) = find_in_folder(memory, FOLDER, id)? else {
        return Err(RecordError::ReminderNotFound { id: id.to_owned() });
    };
    let now = clock::now();
    let mut next = None;
    let outcome = memory.transact(who, None, |desk| -> RecordResult<Vec<FileOperation>> {
        let Some((text, _)) = desk.text(&place)? else {
            return Err(RecordError::ReminderVanished { id: id.to_owned() });
        };
        let set = |text: &str, key: &str, value: String| set_key(text, key, MetaValue::Text(value));
        Ok(vec![match change {
            ReminderChange::Delete => FileOperation::remove(place.clone()),
            ReminderChange::Disable => {
                FileOperation::put(place.clone(), set(&text, "enabled", "false".into())?)
            }
            ReminderChange::Enable => {
                let file = ReminderFile::parse_file(&text, now, zone);
                let invalid = |error| RecordError::InvalidCron { id: id.to_owned(), error };
                let cron = CronExpression::parse(&file.cron).map_err(invalid)?;
                next = file.next(&cron, now, zone);
                let text = set(&text, "enabled", "true".into())?;
                FileOperation::put(place.clone(), set(&text, "since", now.to_string())?)
            }
        }])
    })?;
    let commit = match outcome {
        TransactOutcome::Committed(commit) => Some(commit),
        TransactOutcome::Unchanged => None,
        TransactOutcome::Conflict(_) => {
            return Err(RecordError::ReminderChanged { id: id.to_owned() });
        }
    };
    Ok(ChangedReminder { id: id.to_owned(), scope, place, next, commit })
}
