//! Sessions: the events of a conversation in one growing file, and snapshots of it.

use memoranda_core::change::Commit;
use memoranda_core::note::{self, MetaValue};
use memoranda_store::clock;
use serde_json::{Map, Value};

use super::error::{RecordError, RecordResult};
use super::query::{find_in_folder, kind_folder};
use super::record::{metadata_value, record_location, records_project, set_key, single_line};
use super::scope::RecordScope;
use crate::{Author, FileOperation, Memory, NoteLocation, TransactOutcome};

const FOLDER: &str = "session";
const SNAPSHOT_FOLDER: &str = "snapshot";
/// Maximum size of the file of a session, in bytes.
pub const MAX_SESSION_BYTES: usize = 500_000;
/// Maximum length of titles and other one-line attributes, in characters.
const MAX_LINE_CHARS: usize = 200;
/// Maximum length of the readable part of a snapshot's name, in characters.
const MAX_SLUG_CHARS: usize = 60;

/// A session to start.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The scope.
    pub scope: RecordScope,
    /// The title.
    pub title: String,
    /// Further frontmatter keys, such as `client`.
    pub keys: Vec<(&'static str, String)>,
    /// Further attributes.
    pub metadata: Option<Map<String, Value>>,
}

/// A session after a change.
#[derive(Clone, Debug)]
pub struct SavedSession {
    /// The id.
    pub id: String,
    /// The scope.
    pub scope: RecordScope,
    /// The file.
    pub place: NoteLocation,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Starts a session.
pub fn start_session(
    memory: &Memory,
    who: &Author,
    new: &NewSession,
) -> RecordResult<SavedSession> {
    let id = clock::new_name();
    let mut text = String::from("\n");
    let mut set = |key: &str, value: MetaValue| -> RecordResult<()> {
        text = set_key(&text, key, value)?;
        Ok(())
    };
    set("title", MetaValue::Text(single_line(&new.title, MAX_LINE_CHARS)))?;
    set("type", MetaValue::Text(FOLDER.into()))?;
    if new.scope != RecordScope::Global {
        set("project", MetaValue::Text(new.scope.name().to_owned()))?;
    }
    for (key, value) in &new.keys {
        set(key, MetaValue::Text(single_line(value, MAX_LINE_CHARS)))?;
    }
    if let Some(metadata) = &new.metadata {
        set("metadata", metadata_value(metadata))?;
    }
    set("status", MetaValue::Text("open".into()))?;
    set("started", MetaValue::Text(clock::now().to_string()))?;
    memory.create_project(records_project().as_str())?;
    let place = record_location(&format!("{}/{id}.md", kind_folder(&new.scope, FOLDER)?))?;
    let outcome = memory.transact(who, None, |_| -> RecordResult<Vec<FileOperation>> {
        Ok(vec![FileOperation::create(place.clone(), text.clone())])
    })?;
    Ok(SavedSession { id, scope: new.scope.clone(), place, commit: committed(outcome)? })
}

/// An event to add to a session.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// The author, such as `assistant`.
    pub role: String,
    /// The kind of event, such as `checkpoint`.
    pub kind: String,
    /// Further parts of the heading, each with its separator.
    pub details: String,
    /// False if snapshots leave the event out.
    pub is_meaningful: bool,
    /// The text.
    pub content: String,
}

/// An event that was added.
#[derive(Clone, Debug)]
pub struct AddedEvent {
    /// The session.
    pub session: SavedSession,
    /// Id of the event within the session.
    pub event: String,
}

/// Adds an event to an open session.
pub fn add_event(
    memory: &Memory,
    who: &Author,
    id: &str,
    new: &NewEvent,
) -> RecordResult<AddedEvent> {
    let NewEvent { role, kind, details, .. } = new;
    let minor = if new.is_meaningful { "" } else { MINOR_SUFFIX };
    let content = escape_event_headings(&new.content);
    let (scope, place) = find_session(memory, id)?;
    let mut event = String::new();
    let outcome = memory.transact(who, None, |desk| -> RecordResult<Vec<FileOperation>> {
        let text = open_text(desk.text(&place)?.map(|(text, _)| text), id)?;
        event = format!("e{}", events(&text).len() + 1);
        let gap = if text.ends_with('\n') { "\n" } else { "\n\n" };
        let now = clock::now();
        let entry = format!(
            "{gap}## {event} · {role} · {kind} · {now}{details}{minor}\n\n{}\n",
            content.trim()
        );
        if text.len() + entry.len() > MAX_SESSION_BYTES {
            return Err(RecordError::SessionTooLong { id: id.to_owned(), bytes: text.len() });
        }
        Ok(vec![FileOperation::put(place.clone(), text + &entry)])
    })?;
    let commit = committed(outcome)?;
    Ok(AddedEvent { session: SavedSession { id: id.to_owned(), scope, place, commit }, event })
}

/// Ends an open session with a status.
pub fn end_session(
    memory: &Memory,
    who: &Author,
    id: &str,
    status: &str,
) -> RecordResult<SavedSession> {
    let (scope, place) = find_session(memory, id)?;
    let outcome = memory.transact(who, None, |desk| -> RecordResult<Vec<FileOperation>> {
        let text = open_text(desk.text(&place)?.map(|(text, _)| text), id)?;
        let text = set_key(&text, "status", MetaValue::Text(status.to_owned()))?;
        let text = set_key(&text, "ended", MetaValue::Text(clock::now().to_string()))?;
        Ok(vec![FileOperation::put(place.clone(), text)])
    })?;
    Ok(SavedSession { id: id.to_owned(), scope, place, commit: committed(outcome)? })
}

/// A snapshot to write.
#[derive(Clone, Debug)]
pub struct SnapshotRequest {
    /// The session.
    pub session: String,
    /// Scope of the session.
    pub scope: RecordScope,
    /// Title of the session.
    pub title: String,
    /// Readable part of the name.
    pub slug: String,
    /// The event that caused the snapshot.
    pub trigger: String,
    /// The text.
    pub transcript: String,
}

/// Prepares the snapshot of a session. Without a transcript, the last `count` events are used.
pub fn snapshot_transcript(
    memory: &Memory,
    session: &str,
    transcript: Option<String>,
    count: usize,
    meaningful_only: bool,
) -> RecordResult<SnapshotRequest> {
    let (scope, place) = find_session(memory, session)?;
    let read = memory.read_at(&place)?;
    let text = read.text()?;
    let title = note::parse(text).title().unwrap_or_else(|| session.to_owned());
    let transcript = match transcript {
        Some(transcript) if !transcript.trim().is_empty() => transcript,
        _ => {
            let mut kept = events(text);
            kept.retain(|event| !meaningful_only || !event.is_minor);
            let skip = kept.len().saturating_sub(count);
            let parts: Vec<&str> = kept.iter().skip(skip).map(|event| event.text).collect();
            if parts.is_empty() {
                return Err(RecordError::NoEvents { id: session.to_owned() });
            }
            parts.join("\n\n")
        }
    };
    Ok(SnapshotRequest {
        session: session.to_owned(),
        scope,
        slug: title.clone(),
        title,
        trigger: String::new(),
        transcript,
    })
}

/// A snapshot that was written.
#[derive(Clone, Debug)]
pub struct SessionSnapshot {
    /// The id.
    pub id: String,
    /// Readable part of the name.
    pub slug: String,
    /// The file.
    pub place: NoteLocation,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Writes the snapshot of a session as a note of its own.
pub fn write_snapshot(
    memory: &Memory,
    who: &Author,
    request: &SnapshotRequest,
) -> RecordResult<SessionSnapshot> {
    let slug = note::permalink::slug(&request.slug).replace('/', "-");
    let slug: String = slug.chars().take(MAX_SLUG_CHARS).collect();
    let id = clock::new_name();
    let name = if slug.is_empty() { id.clone() } else { format!("{slug}-{id}") };
    let file = snapshot_file(request)?;
    let folder = kind_folder(&request.scope, SNAPSHOT_FOLDER)?;
    let place = record_location(&format!("{folder}/{name}.md"))?;
    let outcome = memory.transact(who, None, |_| -> RecordResult<Vec<FileOperation>> {
        Ok(vec![FileOperation::create(place.clone(), file.clone())])
    })?;
    Ok(SessionSnapshot { id, slug, place, commit: committed(outcome)? })
}

fn snapshot_file(request: &SnapshotRequest) -> RecordResult<String> {
    let SnapshotRequest { session, scope, title, trigger, transcript, .. } = request;
    let mut text = format!("\n{}\n\n- snapshot_of [[{session}]]\n", transcript.trim());
    let mut keys = vec![
        ("title", format!("{title} (snapshot)")),
        ("type", SNAPSHOT_FOLDER.to_owned()),
        ("session", session.clone()),
        ("trigger", trigger.clone()),
        ("created", clock::now().to_string()),
    ];
    if *scope != RecordScope::Global {
        keys.insert(2, ("project", scope.name().to_owned()));
    }
    for (key, value) in keys {
        text = set_key(&text, key, MetaValue::Text(value))?;
    }
    Ok(text)
}

/// End of the heading of an event that is not meaningful.
const MINOR_SUFFIX: &str = " · minor";

/// An event in the file of a session.
struct SessionEvent<'t> {
    text: &'t str,
    is_minor: bool,
}

/// Returns true if a line is the heading of an event.
fn is_event_heading(line: &str) -> bool {
    line.strip_prefix("## e")
        .and_then(|rest| rest.split_once(" · "))
        .is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Escapes lines that would be parsed as the heading of another event.
fn escape_event_headings(content: &str) -> String {
    let line = |line| if is_event_heading(line) { format!("\\{line}") } else { line.to_owned() };
    content.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Parses the events of a session, in order.
fn events(text: &str) -> Vec<SessionEvent<'_>> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_event_heading(line) {
            starts.push((at, line.trim_end().ends_with(MINOR_SUFFIX)));
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
    let event = |((start, is_minor), end): (&(usize, bool), usize)| SessionEvent {
        text: text.get(*start..end).unwrap_or_default().trim_end(),
        is_minor: *is_minor,
    };
    starts.iter().zip(ends).map(event).collect()
}

/// Returns the text of a session; an error if it has ended.
fn open_text(text: Option<String>, id: &str) -> RecordResult<String> {
    let text = text.ok_or_else(|| RecordError::SessionNotFound { id: id.to_owned() })?;
    match note::parse(&text).frontmatter.text("status") {
        Some(status) if status != "open" => {
            Err(RecordError::SessionEnded { id: id.to_owned(), status })
        }
        _ => Ok(text),
    }
}

fn find_session(memory: &Memory, id: &str) -> RecordResult<(RecordScope, NoteLocation)> {
    find_in_folder(memory, FOLDER, id)?
        .ok_or_else(|| RecordError::SessionNotFound { id: id.to_owned() })
}

fn committed(outcome: TransactOutcome) -> RecordResult<Option<Commit>> {
    match outcome {
        TransactOutcome::Committed(commit) => Ok(Some(commit)),
        TransactOutcome::Unchanged => Ok(None),
        TransactOutcome::Conflict(_) => Err(RecordError::SessionChanged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_separated_by_their_headings() {
        let text = "---\nstatus: open\n---\n\n## e1 · user · message · t\n\nhi\n## Plan\nx\n\n\
                    ## e2 · tool · event · t · minor\n\nnoise\n";
        let found = events(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].text, "## e1 · user · message · t\n\nhi\n## Plan\nx");
        assert_eq!((found[0].is_minor, found[1].is_minor), (false, true));
        let escaped = escape_event_headings("hi\n## e9 · tool · event · t\n## Plan");
        assert_eq!(escaped, "hi\n\\## e9 · tool · event · t\n## Plan");
        assert!(events(&escaped).is_empty());
        assert!(events("no events, ## e1 · in a line").is_empty());
    }
}
