//! Checkpoints of conversations: one note per conversation in the folder `sessions` of the
//! memories. `memoranda expire` removes old ones.

use memoranda_engine::core::path::NotePath;
use memoranda_engine::core::secrets;
use memoranda_engine::{
    EngineError, GitRepository, Memory, NoteLocation, WriteMode, WriteRequest, clock,
};

use memoranda_tools::quotation as quoted;

use super::transcript::{self, TranscriptTail};
use super::{HookClient, HookEvent, HookRun};
use crate::error::Result;
use crate::hook::brief::without_briefs;

/// Folder of checkpoints.
pub(super) const FOLDER: &str = "sessions";
/// Minimum time between two checkpoints of a running conversation, in seconds.
pub(super) const MIN_INTERVAL_SECONDS: i64 = 600;
/// Heading of the client's summary.
const SUMMARY: &str = "## Summary by the client";

/// Writes a checkpoint if there is something to keep.
pub(super) fn keep(run: &HookRun, memory: &Memory) -> Result<()> {
    let Some(place) = place(run) else { return Ok(()) };
    let old = memory.read_at(&place).ok();
    if let (true, Some(old)) = (is_periodic(run), &old)
        && clock::now().as_second() - old.modified.as_second() < MIN_INTERVAL_SECONDS
    {
        return Ok(());
    }
    let old = old.as_ref().map(|note| note.lossy_text().into_owned()).unwrap_or_default();
    let Some(text) = new_text(run, &old) else { return Ok(()) };
    let request = WriteRequest {
        project: place.project,
        path: place.path,
        content: text.into_bytes(),
        mode: WriteMode::CreateOrOverwrite,
        message: Some("checkpoint of a conversation".to_owned()),
    };
    memory.write(&run.author(), &request)?;
    Ok(())
}

/// Returns the new text of a checkpoint. `None` if there is nothing to keep, or nothing new.
pub(super) fn new_text(run: &HookRun, old: &str) -> Option<String> {
    let mut ending = run.input.transcript.as_deref().map(transcript::read_tail).unwrap_or_default();
    if let Some(answer) = &run.input.answer {
        ending.answered = Some(without_briefs(answer));
    }
    if let (true, Some(prompt)) = (ending.asked.is_empty(), &run.input.prompt) {
        ending.asked.push(without_briefs(prompt));
    }
    let summary = match run.input.summary.as_ref().or(ending.summary.as_ref()) {
        Some(summary) => Some(quoted(&cut(&without_briefs(summary), 6000))),
        None => old.split_once(SUMMARY).map(|(_, rest)| format!("{}\n", rest.trim())),
    };
    if ending == TranscriptTail::default() && run.input.summary.is_none() {
        return None;
    }
    let text = secrets::redact_all(&checkpoint_text(run, &ending, summary.as_deref()));
    // Gemini CLI sends the end event three times.
    (!is_same_except_time(&text, old)).then_some(text)
}

/// Returns true if the checkpoint is periodic. Gemini CLI announces automatic compression with
/// every question.
pub(super) fn is_periodic(run: &HookRun) -> bool {
    let is_of_itself = run.input.reason.as_deref() == Some("auto");
    match run.event {
        HookEvent::Stop => true,
        HookEvent::PreCompact => run.client == HookClient::Gemini && is_of_itself,
        _ => false,
    }
}

/// Returns the location of the checkpoint; `None` if the conversation has no id.
pub(super) fn place(run: &HookRun) -> Option<NoteLocation> {
    let id: String =
        run.input.session.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
    if id.is_empty() {
        return None;
    }
    let path = format!("{FOLDER}/{}-{}.md", run.client.name(), id.to_lowercase());
    let path = NotePath::parse(&path).map_err(EngineError::from).ok()?;
    Some(NoteLocation { project: run.settings.memories.clone(), path })
}

fn checkpoint_text(run: &HookRun, ending: &TranscriptTail, summary: Option<&str>) -> String {
    let repository = run.input.folder.as_deref().and_then(GitRepository::of);
    let folder = run.input.folder.as_ref().map(|folder| folder.display().to_string());
    let name = match (&repository, &run.input.folder) {
        (Some(repository), _) => repository.name.clone(),
        (None, Some(folder)) => {
            folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        }
        (None, None) => String::new(),
    };
    let time = clock::now().strftime("%Y-%m-%d %H:%M").to_string();
    let client = run.client.title();
    let title = if name.is_empty() {
        format!("Checkpoint {time}, {client}")
    } else {
        format!("Checkpoint {time}, {client} in {name}")
    };
    let mut text = String::from("---\n");
    let mut key = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text.push_str(&format!("{name}: {}\n", serde_json::Value::from(value)));
        }
    };
    key("title", Some(&title));
    key("type", Some("checkpoint"));
    key("client", Some(run.client.name()));
    key("session", Some(&run.input.session));
    key("folder", folder.as_deref());
    key("repository", repository.as_ref().and_then(|found| found.remote.as_deref()));
    key("branch", repository.as_ref().and_then(|found| found.branch.as_deref()));
    text.push_str(&format!("---\n# {title}\n\n"));
    let when = match run.event {
        _ if is_periodic(run) => "while the conversation went on",
        HookEvent::PreCompact => "before the conversation was compacted",
        HookEvent::PostCompact => "after the conversation was compacted",
        HookEvent::SessionEnd => "when the conversation ended",
        _ => "while the conversation went on",
    };
    text.push_str(&format!(
        "Kept by a hook {when}. Quoted from the conversation: a trace, not a memory.\n"
    ));
    if !ending.asked.is_empty() {
        text.push_str("\n## Asked last\n\n");
        let asked: Vec<String> =
            ending.asked.iter().map(|asked| quoted(&cut(asked, 600))).collect();
        text.push_str(&asked.join("\n"));
    }
    if let Some(answered) = &ending.answered {
        text.push_str(&format!("\n## Answered last\n\n{}", quoted(&cut(answered, 1500))));
    }
    if let Some(summary) = summary {
        text.push_str(&format!("\n{SUMMARY}\n\n{summary}"));
    }
    text
}

/// Returns true if two checkpoints differ only in time.
fn is_same_except_time(new: &str, old: &str) -> bool {
    let is_title = |line: &&str| line.starts_with("title: ") || line.starts_with("# Checkpoint ");
    new.lines().filter(|line| !is_title(line)).eq(old.lines().filter(|line| !is_title(line)))
}

/// Cuts a text and marks the cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{} […]", text.get(..at).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}
