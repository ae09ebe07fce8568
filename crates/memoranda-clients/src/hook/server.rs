//! Hooks whose memory is on a server: they call its tools, as an agent would. Nothing of the
//! conversation is sent except a checkpoint, and that only to a space that nobody else reads.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use memoranda_engine::LOW_RELEVANCE;
use memoranda_engine::records::{RecordScope, VisibleScopes};
use memoranda_tools::{NEAREST_HEADING, NearestInBrief, ToolSettings, quotation as quoted};
use serde_json::{Value, json};

use super::brief::{self, BriefBuilder, MAX_CONTEXT_CHARS, PromptWords, body_of};
use super::checkpoint::{self, cut};
use super::hook_input::HookInput;
use super::{HookClient, HookEvent, HookRun, brief_claim};
use crate::error::{ClientsError, Result};

/// Calls a tool of the server by its name. Returns the answer, `None` if the server has no such
/// tool, or the reason why there is no answer.
pub type ToolCaller =
    dyn Fn(&str, &Value) -> std::result::Result<Option<Value>, String> + Send + Sync;

/// Settings of a hook whose memory is on a server.
pub struct ServerHookSettings {
    /// Calls the server.
    pub caller: Box<ToolCaller>,
    /// Address of the server.
    pub server: String,
    /// Folder of this device's state.
    pub state: PathBuf,
    /// Settings of the tools.
    pub tools: ToolSettings,
}

/// Place of a conversation's checkpoints on a server.
enum CheckpointPlace {
    /// The server has one vault.
    Vault,
    /// The private space of this name.
    Space(String),
    /// The token opens no private space.
    None,
}

/// Calls of one hook.
struct ServerHook {
    run: HookRun,
    caller: Box<ToolCaller>,
    server: String,
    state: PathBuf,
}

impl HookEvent {
    /// Returns the time limit of the event on a server. An ending client allows 1.5 seconds.
    fn server_timeout(self) -> Duration {
        match self {
            Self::SessionEnd => self.timeout(),
            _ => Duration::from_secs(4),
        }
    }
}

/// Handles an event within its time limit, on a server. Returns the text for the model; `None` for
/// an event without an answer.
pub fn run_on_server(
    settings: ServerHookSettings,
    client: HookClient,
    event: HookEvent,
    input: &[u8],
) -> Result<Option<String>> {
    let input = HookInput::read(input).ok_or(ClientsError::InvalidHookInput)?;
    let ServerHookSettings { caller, server, state, mut tools } = settings;
    tools.workspace = input.folder.clone().or(tools.workspace);
    let run = HookRun { client, event, input, settings: tools };
    if run.is_idle() {
        return Ok(None);
    }
    if !brief_claim::claim(&run, Path::new(&server), &state) {
        return Err(ClientsError::BriefGiven);
    }
    let unreachable = unreachable_brief(&server);
    let hook = ServerHook { run, caller, server, state };
    let (sender, answer) = channel();
    // The thread ends with the process; the server completes a started call.
    let act = move || sender.send(hook.act()).ok();
    std::thread::Builder::new().spawn(act).ok();
    match answer.recv_timeout(event.server_timeout()) {
        Ok(Err(ClientsError::Server(_))) | Err(_) if event == HookEvent::SessionStart => {
            Ok(unreachable)
        }
        Ok(answered) => answered,
        Err(_) => Ok(None),
    }
}

/// Returns the brief for a server that does not answer, because silence would look like an empty
/// memory.
fn unreachable_brief(server: &str) -> Option<String> {
    let mut brief = BriefBuilder::default();
    brief.lead(&format!(
        "Nothing could be read: the memory is on the server {server}, which did not answer in \
         time. `get_context` tells the rules and memories that hold here, once it does."
    ));
    brief.finished()
}

impl ServerHook {
    fn act(&self) -> Result<Option<String>> {
        match self.run.event {
            HookEvent::SessionStart => self.at_start(),
            HookEvent::Prompt => self.at_prompt(),
            HookEvent::PostCompact if self.run.client == HookClient::Gemini => {
                self.keep_checkpoint()?;
                self.at_start()
            }
            HookEvent::PreCompact
            | HookEvent::PostCompact
            | HookEvent::Stop
            | HookEvent::SessionEnd => self.keep_checkpoint().map(|()| None),
        }
    }

    /// Calls a tool, which must succeed.
    fn call(&self, tool: &str, arguments: &Value) -> Result<Value> {
        let answer = (self.caller)(tool, arguments).map_err(ClientsError::Server)?;
        let answer =
            answer.ok_or_else(|| ClientsError::Server(format!("it has no tool {tool}")))?;
        if answer["is_error"] == json!(true) {
            return Err(ClientsError::Server(text_of(&answer).to_owned()));
        }
        Ok(answer)
    }

    fn at_start(&self) -> Result<Option<String>> {
        let visible = VisibleScopes::of_workspace(self.run.settings.workspace.as_deref());
        let mut arguments = json!({});
        if let Some(repository) = visible.project().map(RecordScope::name) {
            arguments["project_id"] = json!(repository);
        }
        let known = self.call("get_context", &arguments)?;
        let mut brief = BriefBuilder::default();
        let has_items = |line: &str| line.starts_with("## ") || line.starts_with("- ");
        if text_of(&known).lines().any(has_items) {
            let text = cut(text_of(&known), MAX_CONTEXT_CHARS);
            brief.lead(&format!("Known from memory (on the server {}):\n\n{text}", self.server));
        }
        // A brief without the last conversation is better than none.
        brief.conversation(&self.run, &self.last_checkpoint().unwrap_or_default());
        Ok(brief.finished())
    }

    fn at_prompt(&self) -> Result<Option<String>> {
        let Some(words) = PromptWords::of(&self.run) else { return Ok(None) };
        let found = self.call("recall", &json!({ "query": words.query() }))?;
        let passages = found["structured"]["passages"].as_array().cloned().unwrap_or_default();
        let is_fitting = |passage: &&Value| {
            words.fit(passage["text"].as_str().unwrap_or_default(), passage["relevance"].as_f64())
        };
        let mut text: String = passages.iter().filter(is_fitting).map(quoted_passage).collect();
        let nearest = passages.first().or_else(|| nearest_in(&found));
        if let Some(nearest) = nearest.filter(|_| text.is_empty())
            && words.nearest() == NearestInBrief::Named
        {
            text = format!("{NEAREST_HEADING}{}", quoted_passage(nearest));
        }
        Ok(brief::about_question(&text))
    }

    /// The checkpoint of this conversation, or of the last one in this repository.
    fn last_checkpoint(&self) -> Result<String> {
        let place = self.checkpoint_place()?;
        let path = if self.run.is_continued() {
            checkpoint::place(&self.run).map(|own| own.path.to_string())
        } else {
            self.newest_checkpoint(&place)?
        };
        let Some(path) = path else { return Ok(String::new()) };
        let text = self.read_checkpoint(&place, &path)?;
        Ok(format!("memories/{path}:\n{}", quoted(&body_of(&text))))
    }

    /// Finds the newest checkpoint of this repository, or of this folder.
    fn newest_checkpoint(&self, place: &CheckpointPlace) -> Result<Option<String>> {
        let Some(folder) = self.run.input.folder.as_deref() else { return Ok(None) };
        let remote = memoranda_engine::GitRepository::of(folder).and_then(|found| found.remote);
        let here = match remote {
            Some(remote) => json!({ "repository": remote }),
            None => json!({ "folder": folder.display().to_string() }),
        };
        let Some(mut arguments) = in_space(place) else { return Ok(None) };
        arguments["project"] = json!("memories");
        arguments["note_types"] = json!(["checkpoint"]);
        arguments["metadata_filters"] = here;
        arguments["after_date"] = json!("14d");
        arguments["page_size"] = json!(20);
        let found = self.call("search_notes", &arguments)?;
        let results = found["structured"]["results"].as_array().cloned().unwrap_or_default();
        let time = |result: &&Value| result["updated_at"].as_str().unwrap_or_default().to_owned();
        let newest = results.iter().max_by_key(time);
        Ok(newest.and_then(|result| Some(result["file_path"].as_str()?.to_owned())))
    }

    fn read_checkpoint(&self, place: &CheckpointPlace, path: &str) -> Result<String> {
        let Some(mut arguments) = in_space(place) else { return Ok(String::new()) };
        arguments["project"] = json!("memories");
        arguments["identifier"] = json!(path);
        let read = self.call("read_note", &arguments)?;
        let text = text_of(&read);
        // The tool adds where the note is.
        Ok(text.rsplit_once("<!-- project: ").map_or(text, |(text, _)| text).to_owned())
    }

    /// Returns where checkpoints go: a trace of a conversation is nobody else's business.
    fn checkpoint_place(&self) -> Result<CheckpointPlace> {
        let listed = (self.caller)("list_spaces", &json!({})).map_err(ClientsError::Server)?;
        // A server of one vault has no such tool.
        let Some(listed) = listed else { return Ok(CheckpointPlace::Vault) };
        let spaces = listed["structured"]["spaces"].as_array().cloned().unwrap_or_default();
        let private = spaces.iter().find(|space| space["kind"] == "private");
        let name = private.and_then(|space| space["name"].as_str());
        Ok(name.map_or(CheckpointPlace::None, |name| CheckpointPlace::Space(name.to_owned())))
    }

    fn keep_checkpoint(&self) -> Result<()> {
        let run = &self.run;
        let Some(own) = checkpoint::place(run) else { return Ok(()) };
        let within = checkpoint::MIN_INTERVAL_SECONDS;
        if checkpoint::is_periodic(run)
            && !brief_claim::claim_checkpoint(run, &self.server, &self.state, within)
        {
            return Ok(());
        }
        let place = self.checkpoint_place()?;
        let path = own.path.to_string();
        // The first checkpoint of a conversation finds none.
        let old = self.read_checkpoint(&place, &path).unwrap_or_default();
        let Some(text) = checkpoint::new_text(run, &old) else { return Ok(()) };
        let Some(mut arguments) = in_space(&place) else { return Ok(()) };
        arguments["command"] = json!("create");
        arguments["path"] = json!(format!("/memories/{path}"));
        arguments["file_text"] = json!(text);
        self.call("memory", &arguments).map(drop)
    }
}

/// Returns the first nearest statement of an answer that is no noise. A server of another version may
/// order them in another way.
fn nearest_in(found: &Value) -> Option<&Value> {
    let nearest = found["structured"]["nearest"].as_array()?;
    nearest.iter().find(|one| one["relevance"].as_f64() >= Some(LOW_RELEVANCE))
}

/// Renders a passage of `recall` as a quotation with its place and writer.
fn quoted_passage(passage: &Value) -> String {
    let said = |key: &str| passage[key].as_str().unwrap_or_default();
    let place = passage["places"][0].as_str().unwrap_or_default();
    format!("{place} (written by {}):\n{}", said("author"), quoted(said("text")))
}

/// Returns the arguments of a call for checkpoints; `None` if there is no place for them.
fn in_space(place: &CheckpointPlace) -> Option<Value> {
    match place {
        CheckpointPlace::Vault => Some(json!({})),
        CheckpointPlace::Space(name) => Some(json!({ "space": name })),
        CheckpointPlace::None => None,
    }
}

fn text_of(answer: &Value) -> &str {
    answer["text"].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_statement_that_is_no_noise_is_the_nearest() {
        for (relevances, expected) in [
            (json!([0.02, 0.3, 0.2]), Some(0.3)),
            (json!([0.4, 0.3]), Some(0.4)),
            (json!([0.02, null, 0.1]), None),
            (json!([]), None),
        ] {
            let items: Vec<Value> = relevances
                .as_array()
                .unwrap()
                .iter()
                .map(|relevance| json!({ "relevance": relevance }))
                .collect();
            let found = json!({ "structured": { "nearest": items } });
            let nearest = nearest_in(&found).and_then(|one| one["relevance"].as_f64());
            assert_eq!(nearest, expected, "{relevances}");
        }
        assert_eq!(nearest_in(&json!({})), None);
    }
}
