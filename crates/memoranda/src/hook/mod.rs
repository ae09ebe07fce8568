//! Hooks: what happens at certain moments of a conversation. A hook is quick, calls no model, and
//! whatever goes wrong in it, the conversation goes on.

mod brief;
mod checkpoint;
mod input;
mod transcript;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use clap::ValueEnum;
use memoranda_engine::core::change::{Author, ChangeChannel};
use memoranda_engine::{Memory, OpenOptions};
use serde_json::json;

use crate::error::{CommandError, Result};
use crate::session::Session;
use input::Input;

/// Programs that run hooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Harness {
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
}

impl Harness {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 5] =
        [Self::ClaudeCode, Self::Codex, Self::VsCode, Self::Gemini, Self::Cursor];

    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::VsCode => "vscode",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
        }
    }

    /// Its name for people.
    fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::VsCode => "VS Code",
            Self::Gemini => "Gemini CLI",
            Self::Cursor => "Cursor",
        }
    }

    /// What the harness is to read: text that the model gets, or that nothing is the matter.
    fn answer(self, moment: Moment, text: Option<&str>) -> String {
        let event = match (self, moment) {
            (_, Moment::SessionStart) => "SessionStart",
            // Gemini CLI has no event after compression; the next question is the first chance.
            (Self::Gemini, Moment::Prompt | Moment::PostCompact) => "BeforeAgent",
            (_, Moment::Prompt) => "UserPromptSubmit",
            // At other moments no harness takes text.
            _ => "",
        };
        let text = text.filter(|_| !event.is_empty());
        match (self, text) {
            (Self::Cursor, Some(text)) if moment == Moment::SessionStart => {
                json!({ "additional_context": text }).to_string()
            }
            // These two parse whatever is printed.
            (Self::Cursor, _) | (Self::Gemini, None) => "{}".to_owned(),
            (_, Some(text)) => json!({ "hookSpecificOutput": {
                "hookEventName": event,
                "additionalContext": text,
            } })
            .to_string(),
            (_, None) => String::new(),
        }
    }
}

/// The moments of a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Moment {
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

impl Moment {
    /// Its name on the command line.
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

    /// How long the conversation may wait for us. What takes longer is left.
    fn patience(self) -> Duration {
        match self {
            Self::SessionStart | Self::Prompt => Duration::from_millis(900),
            // A client that ends gives a second and a half to all hooks together.
            Self::SessionEnd => Duration::from_millis(1200),
            Self::PreCompact | Self::PostCompact | Self::Stop => Duration::from_millis(2000),
        }
    }
}

/// One run of a hook: who calls, when, and what it was told.
struct Run {
    harness: Harness,
    moment: Moment,
    input: Input,
    settings: memoranda_tools::ToolSettings,
}

impl Run {
    fn who(&self) -> Author {
        Author {
            client: self.harness.title().to_owned(),
            tool: format!("hook {}", self.moment.name()),
            channel: ChangeChannel::Cli,
        }
    }

    /// Whether the conversation is no new one.
    fn goes_on(&self) -> bool {
        self.moment == Moment::PostCompact || self.input.goes_on()
    }

    /// Whether it can be seen without a look into the vault that there is nothing to do.
    fn is_idle(&self) -> bool {
        let lost_its_brief = || {
            let is_in_prompt = self.input.prompt.as_deref().is_some_and(brief::has_brief);
            !is_in_prompt
                && self.input.transcript.as_deref().is_some_and(transcript::lost_its_brief)
        };
        self.moment == Moment::PostCompact && self.harness == Harness::Gemini && !lost_its_brief()
    }

    fn act(&self, memory: &Arc<Memory>) -> Result<Option<String>> {
        match self.moment {
            Moment::SessionStart => brief::at_start(self, memory),
            Moment::Prompt => brief::at_prompt(self, memory),
            Moment::PostCompact if self.harness == Harness::Gemini => {
                checkpoint::keep(self, memory)?;
                brief::at_start(self, memory)
            }
            Moment::PreCompact | Moment::PostCompact | Moment::Stop | Moment::SessionEnd => {
                checkpoint::keep(self, memory)?;
                Ok(None)
            }
        }
    }
}

/// Does what is to be done at a moment, and gives what the harness is to read. Problems are told
/// as details, and never stop anybody.
pub(crate) fn run(session: &Session, harness: Harness, moment: Moment, told: &[u8]) -> String {
    let told = Input::read(told);
    let text = match told.map(|input| within_patience(session, harness, moment, input)) {
        Some(Ok(text)) => text,
        Some(Err(error)) => {
            session.printer.detail(format!("nothing was done: {}", error.message));
            None
        }
        None => {
            session.printer.detail("nothing was done: standard input is not the JSON of a hook");
            None
        }
    };
    harness.answer(moment, text.as_deref())
}

fn within_patience(
    session: &Session,
    harness: Harness,
    moment: Moment,
    input: Input,
) -> Result<Option<String>> {
    let settings = session.settings()?;
    // A hook makes no vault: who has none remembers nothing yet.
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
        lock_patience: moment.patience() / 2,
    };
    let mut tools = settings.tools();
    tools.workspace = input.folder.clone().or(tools.workspace);
    let default = tools.notes.default_project.clone();
    let run = Run { harness, moment, input, settings: tools };
    if run.is_idle() {
        return Ok(None);
    }
    let (sender, answer) = channel();
    // What is left behind here ends with the program; a write that was begun is whole or absent.
    std::thread::spawn(move || {
        let done = Memory::open(options).map_err(Into::into).and_then(|memory| {
            let memory = memory.with_zone(crate::time::zone).with_default_project(&default);
            let done = run.act(&Arc::new(memory));
            // Whoever no longer waits does not need it.
            sender.send(done.clone()).ok();
            done
        });
        if let Err(error) = done {
            sender.send(Err(error)).ok();
        }
    });
    match answer.recv_timeout(moment.patience()) {
        Ok(answered) => answered,
        Err(_) if moment == Moment::SessionStart => Ok(brief::out_of_time()),
        Err(_) => Ok(None),
    }
}
