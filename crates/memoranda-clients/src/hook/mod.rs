//! Hooks: handle events of a conversation quickly, without a model, and never fail the client.

mod brief;
mod brief_claim;
mod checkpoint;
mod hook_input;
mod server;
mod transcript;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use jiff::tz::TimeZone;
use memoranda_engine::core::change::{Author, ChangeChannel};
use memoranda_engine::{EngineError, Memory, OpenOptions};
use memoranda_tools::ToolSettings;
use serde_json::json;

use crate::error::{ClientsError, Result};
use hook_input::HookInput;
pub use server::{ServerHookSettings, ToolCaller, run_on_server};

/// Clients that run hooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookClient {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// VS Code.
    VsCode,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// OpenCode, by a plugin.
    OpenCode,
    /// Windsurf.
    Windsurf,
    /// Cline.
    Cline,
}

impl HookClient {
    /// All clients with hooks.
    pub const ALL: [Self; 8] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::VsCode,
        Self::Gemini,
        Self::Cursor,
        Self::OpenCode,
        Self::Windsurf,
        Self::Cline,
    ];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::VsCode => "vscode",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::OpenCode => "opencode",
            Self::Windsurf => "windsurf",
            Self::Cline => "cline",
        }
    }

    /// Returns the display name.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::VsCode => "VS Code",
            Self::Gemini => "Gemini CLI",
            Self::Cursor => "Cursor",
            Self::OpenCode => "OpenCode",
            Self::Windsurf => "Windsurf",
            Self::Cline => "Cline",
        }
    }

    /// Returns the response to the client: text for the model, or an empty response.
    pub fn answer(self, event: HookEvent, text: Option<&str>) -> String {
        let name = match (self, event) {
            (_, HookEvent::SessionStart) => "SessionStart",
            // Gemini CLI has no event after compression, so the next question is used.
            (Self::Gemini, HookEvent::Prompt | HookEvent::PostCompact) => "BeforeAgent",
            (_, HookEvent::Prompt) => "UserPromptSubmit",
            // Other events accept no text.
            _ => "",
        };
        let text = text.filter(|_| !name.is_empty());
        match (self, text) {
            (Self::Cursor, Some(text)) if event == HookEvent::SessionStart => {
                json!({ "additional_context": text }).to_string()
            }
            (Self::Cline, Some(text)) => {
                json!({ "cancel": false, "contextModification": text }).to_string()
            }
            (Self::Cline, None) => json!({ "cancel": false }).to_string(),
            // Windsurf shows the output of a hook to the person, not to the model.
            (Self::Windsurf, _) => String::new(),
            // These clients parse every output as JSON.
            (Self::Cursor, _) | (Self::Gemini, None) => "{}".to_owned(),
            (_, Some(text)) => json!({ "hookSpecificOutput": {
                "hookEventName": name,
                "additionalContext": text,
            } })
            .to_string(),
            (_, None) => String::new(),
        }
    }
}

/// The moments of a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookEvent {
    /// The conversation begins, or begins again: the model gets a brief.
    SessionStart,
    /// The person asks: the model gets what memory holds about it.
    Prompt,
    /// The conversation is about to be compacted: a checkpoint is kept.
    PreCompact,
    /// The conversation was compacted: the client's summary is kept. Gemini CLI calls this with
    /// every question; the model gets its brief again if it was lost.
    PostCompact,
    /// The model has answered: a checkpoint is kept, at most every ten minutes.
    Stop,
    /// The conversation ends: a checkpoint is kept.
    SessionEnd,
}

impl HookEvent {
    /// All moments.
    pub const ALL: [Self; 6] = [
        Self::SessionStart,
        Self::Prompt,
        Self::PreCompact,
        Self::PostCompact,
        Self::Stop,
        Self::SessionEnd,
    ];

    /// Returns a description for people.
    pub fn summary(self) -> &'static str {
        match self {
            Self::SessionStart => "It begins, or begins again: the model gets a brief",
            Self::Prompt => "The person asks: the model gets what memory holds about it",
            Self::PreCompact => "It is about to be compacted: a checkpoint is kept",
            Self::PostCompact => {
                "It was compacted: the client's summary is kept. Gemini CLI asks with every \
                 question; the model gets its brief again if it was lost"
            }
            Self::Stop => "The model has answered: a checkpoint is kept, at most every ten minutes",
            Self::SessionEnd => "It ends: a checkpoint is kept",
        }
    }

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::Prompt => "prompt",
            Self::PreCompact => "pre-compact",
            Self::PostCompact => "post-compact",
            Self::Stop => "stop",
            Self::SessionEnd => "session-end",
        }
    }

    /// Returns the time limit of the event.
    fn timeout(self) -> Duration {
        match self {
            Self::SessionStart | Self::Prompt => Duration::from_millis(900),
            // An ending client allows 1.5 seconds for all hooks.
            Self::SessionEnd => Duration::from_millis(1200),
            Self::PreCompact | Self::PostCompact | Self::Stop => Duration::from_millis(2000),
        }
    }
}

/// One run of a hook with its client, event and input.
struct HookRun {
    client: HookClient,
    event: HookEvent,
    input: HookInput,
    settings: ToolSettings,
}

impl HookRun {
    fn author(&self) -> Author {
        let tool = format!("hook {}", self.event.name());
        let conversation = Some(self.input.session.clone()).filter(|id| !id.is_empty());
        Author::new(self.client.title(), tool, ChangeChannel::Cli).with_conversation(conversation)
    }

    /// Returns true if the conversation continues an earlier one.
    fn is_continued(&self) -> bool {
        self.event == HookEvent::PostCompact || self.input.is_continued()
    }

    /// Returns true if nothing needs to be done, decided without opening the vault.
    fn is_idle(&self) -> bool {
        let lost_its_brief = || {
            let is_in_prompt = self.input.prompt.as_deref().is_some_and(brief::has_brief);
            !is_in_prompt
                && self.input.transcript.as_deref().is_some_and(transcript::lost_its_brief)
        };
        self.event == HookEvent::PostCompact
            && self.client == HookClient::Gemini
            && !lost_its_brief()
    }

    fn act(&self, memory: &Arc<Memory>) -> Result<Option<String>> {
        match self.event {
            HookEvent::SessionStart => brief::at_start(self, memory),
            HookEvent::Prompt => brief::at_prompt(self, memory),
            HookEvent::PostCompact if self.client == HookClient::Gemini => {
                checkpoint::keep(self, memory)?;
                brief::at_start(self, memory)
            }
            HookEvent::PreCompact
            | HookEvent::PostCompact
            | HookEvent::Stop
            | HookEvent::SessionEnd => {
                checkpoint::keep(self, memory)?;
                Ok(None)
            }
        }
    }
}

/// Settings that the command of a hook passes to its run.
pub struct HookSettings {
    /// Options for opening the vault. The event decides the time to wait for the lock.
    pub open: OpenOptions,
    /// Settings of the tools.
    pub tools: ToolSettings,
    /// Returns the time zone of the person.
    pub zone: fn() -> TimeZone,
}

/// Handles an event within its time limit. Returns the text for the model; `None` for an event
/// without an answer.
pub fn run(
    settings: HookSettings,
    client: HookClient,
    event: HookEvent,
    input: &[u8],
) -> Result<Option<String>> {
    let input = HookInput::read(input).ok_or(ClientsError::InvalidHookInput)?;
    let HookSettings { mut open, mut tools, zone } = settings;
    // A hook creates no vault.
    if !open.home.join(".memoranda").is_dir() {
        return Err(ClientsError::NoVault(open.home));
    }
    open.lock_patience = event.timeout() / 2;
    tools.workspace = input.folder.clone().or(tools.workspace);
    let default = tools.notes.default_project.clone();
    let run = HookRun { client, event, input, settings: tools };
    if run.is_idle() {
        return Ok(None);
    }
    if !brief_claim::claim(&run, &open.home, &open.state) {
        return Err(ClientsError::BriefGiven);
    }
    let (sender, answer) = channel();
    // The thread ends with the process; a started write is atomic. Without a thread the receiver
    // learns at once that there is no answer.
    let act = move || {
        let memory = match Memory::open(open) {
            Ok(memory) => Arc::new(memory.with_zone(zone).with_default_project(&default)),
            Err(error) => {
                sender.send(Err(error.into())).ok();
                return;
            }
        };
        // Sent before the memory is closed, which takes a moment. The receiver may have timed out.
        sender.send(run.act(&memory)).ok();
    };
    std::thread::Builder::new().spawn(act).ok();
    match answer.recv_timeout(event.timeout()) {
        // Silence would look like an empty memory, so a conversation starts with the reason.
        Ok(Err(ClientsError::Engine(EngineError::Store(error))))
            if event == HookEvent::SessionStart && error.is_busy() =>
        {
            Ok(brief::out_of_time())
        }
        Ok(answered) => answered,
        Err(_) if event == HookEvent::SessionStart => Ok(brief::out_of_time()),
        Err(_) => Ok(None),
    }
}
