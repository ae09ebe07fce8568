//! Hooks: handle events of a conversation quickly, without a model, and never fail the client.

mod brief;
mod brief_claim;
mod checkpoint;
mod hook_input;
mod transcript;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use clap::ValueEnum;
use memoranda_engine::core::change::{Author, ChangeChannel};
use memoranda_engine::{Memory, OpenOptions};
use serde_json::json;

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use hook_input::HookInput;

/// Clients that run hooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum HookClient {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// VS Code.
    #[value(name = "vscode")]
    VsCode,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// OpenCode, by a plugin.
    #[value(name = "opencode")]
    OpenCode,
    /// Windsurf.
    Windsurf,
    /// Cline.
    Cline,
}

impl HookClient {
    /// All clients with hooks.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 8] = [
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
    pub(crate) fn name(self) -> &'static str {
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
    fn title(self) -> &'static str {
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
    fn answer(self, event: HookEvent, text: Option<&str>) -> String {
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum HookEvent {
    /// It begins, or begins again: the model gets a brief.
    SessionStart,
    /// The person asks: the model gets what memory holds about it.
    Prompt,
    /// It is about to be compacted: a checkpoint is kept.
    PreCompact,
    /// It was compacted: the client's summary is kept. Gemini CLI asks with every question; the
    /// model gets its brief again if it was lost.
    PostCompact,
    /// The model has answered: a checkpoint is kept, at most every ten minutes.
    Stop,
    /// It ends: a checkpoint is kept.
    SessionEnd,
}

impl HookEvent {
    /// Returns the name on the command line.
    pub(crate) fn name(self) -> &'static str {
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
    settings: memoranda_tools::ToolSettings,
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

/// Handles an event and returns the response to the client. Problems are reported as details only.
pub(crate) fn run(
    context: &CommandContext,
    client: HookClient,
    event: HookEvent,
    told: &[u8],
) -> String {
    let told = HookInput::read(told);
    let text = match told.map(|input| run_with_timeout(context, client, event, input)) {
        Some(Ok(text)) => text,
        Some(Err(error)) => {
            context.printer.detail(format!("nothing was done: {}", error.message));
            None
        }
        None => {
            context.printer.detail("nothing was done: standard input is not the JSON of a hook");
            None
        }
    };
    client.answer(event, text.as_deref())
}

fn run_with_timeout(
    context: &CommandContext,
    client: HookClient,
    event: HookEvent,
    input: HookInput,
) -> Result<Option<String>> {
    let settings = context.settings()?;
    // A hook creates no vault.
    let home = settings.home();
    if !home.join(".memoranda").is_dir() {
        let shown = home.display();
        return Err(CommandError::configuration(format!("there is no vault at {shown}")));
    }
    let options = OpenOptions {
        home,
        cache: settings.directories.cache.clone(),
        state: settings.directories.state.clone(),
        file_sync: Duration::from_secs(settings.file_sync_seconds()),
        lock_patience: event.timeout() / 2,
    };
    let mut tools = settings.tools();
    tools.workspace = input.folder.clone().or(tools.workspace);
    let default = tools.notes.default_project.clone();
    let run = HookRun { client, event, input, settings: tools };
    if run.is_idle() {
        return Ok(None);
    }
    if !brief_claim::claim(&run, &options.home, &options.state) {
        context.printer.detail("nothing was done: another hook has just given this brief");
        return Ok(None);
    }
    let (sender, answer) = channel();
    // The thread ends with the process; a started write is atomic. Without a thread the receiver
    // learns at once that there is no answer.
    let act = move || {
        let done = Memory::open(options).map_err(Into::into).and_then(|memory| {
            let memory = memory.with_zone(crate::time::zone).with_default_project(&default);
            let done = run.act(&Arc::new(memory));
            // The receiver may have timed out.
            sender.send(done.clone()).ok();
            done
        });
        if let Err(error) = done {
            sender.send(Err(error)).ok();
        }
    };
    std::thread::Builder::new().spawn(act).ok();
    match answer.recv_timeout(event.timeout()) {
        // Silence would look like an empty memory, so a conversation starts with the reason.
        Ok(Err(error)) if event == HookEvent::SessionStart && error.is_conflict() => {
            Ok(brief::out_of_time())
        }
        Ok(answered) => answered,
        Err(_) if event == HookEvent::SessionStart => Ok(brief::out_of_time()),
        Err(_) => Ok(None),
    }
}
