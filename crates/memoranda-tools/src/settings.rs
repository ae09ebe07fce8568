//! What a person can set about the tools. The binary reads the configuration; here it is a value.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::tz::TimeZone;
use memoranda_core::id::ProjectName;
use memoranda_engine::{LanguageModel, link_key};

use crate::banks::BankSettings;

use crate::graph::GraphSettings;

/// Projects that belong to tools and are made on first use.
const OWN_PROJECTS: [&str; 4] = ["memories", "graph", "banks", "records"];

/// How the tools behave.
#[derive(Clone, Debug)]
pub struct ToolSettings {
    /// Which words the memory tool answers with.
    pub wording: Wording,
    /// What `create` does when the file exists; by default as the wording has it.
    pub create: Option<CreateMode>,
    /// What happens to secrets in what is written.
    pub secrets: SecretPolicy,
    /// The largest file that the memory tool writes.
    pub max_file_bytes: u64,
    /// The most characters that one view shows.
    pub view_chars: usize,
    /// The project that holds the memories.
    pub memories: ProjectName,
    /// What the person adds to the memory guidance.
    pub guidance: Option<String>,
    /// How the notes tools behave.
    pub notes: NotesSettings,
    /// The folder that the client works in, where one is known: it says which repository is meant.
    pub workspace: Option<PathBuf>,
    /// How banks behave.
    pub banks: BankSettings,
    /// The language model, if the person configured one.
    pub model: Option<Arc<dyn LanguageModel>>,
    /// The graph of entities.
    pub graph: GraphSettings,
    /// How records behave.
    pub records: RecordSettings,
}

/// How records behave.
#[derive(Clone, Debug)]
pub struct RecordSettings {
    /// The time zone that reminders go by.
    pub zone: jiff::tz::TimeZone,
}

impl RecordSettings {
    /// What holds without any configuration.
    pub fn standard() -> Self {
        Self { zone: jiff::tz::TimeZone::UTC }
    }

    /// The present, by the person's clock.
    pub fn now(&self) -> jiff::Zoned {
        memoranda_engine::clock::now().to_zoned(self.zone.clone())
    }
}

impl ToolSettings {
    /// Whether the notes tools reach the memories: a server may be held to another project.
    pub(crate) fn reaches_memories(&self) -> bool {
        let only = self.notes.only_project.as_deref();
        only.is_none_or(|only| link_key(only) == link_key(self.memories.as_str()))
    }

    /// Whether the tools make a project of this name when it is first used.
    pub fn makes_project(&self, name: &str) -> bool {
        name == self.notes.default_project || OWN_PROJECTS.contains(&name)
    }

    /// What holds without any configuration.
    pub fn standard() -> Self {
        Self {
            wording: Wording::Mcp,
            create: None,
            secrets: SecretPolicy::Warn,
            max_file_bytes: 10 << 20,
            view_chars: 100_000,
            memories: memories_project(),
            guidance: None,
            notes: NotesSettings::standard(),
            workspace: None,
            records: RecordSettings::standard(),
            graph: GraphSettings::standard(),
            banks: BankSettings::standard(),
            model: None,
        }
    }
}

/// How the notes tools behave.
#[derive(Clone, Debug)]
pub struct NotesSettings {
    /// The project that is meant when none is named.
    pub default_project: String,
    /// The only project that may be used, if there is one.
    pub only_project: Option<String>,
    /// What `write_note` does when the note exists and the caller does not say.
    pub overwrite: CreateMode,
    /// Where `create_memory_project` may take a folder from.
    pub folders: ProjectFolders,
    /// The zone in which `today` and `monday` are meant.
    pub zone: TimeZone,
}

impl NotesSettings {
    /// What holds without any configuration.
    pub fn standard() -> Self {
        Self {
            default_project: "main".to_owned(),
            only_project: None,
            overwrite: CreateMode::Refuse,
            folders: ProjectFolders::Vault,
            zone: TimeZone::UTC,
        }
    }
}

/// Which folders an agent may make a project of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProjectFolders {
    /// Only new ones in the vault; others are for the person to add.
    Vault,
    /// Any.
    Anywhere,
}

#[expect(clippy::expect_used, reason = "the name is a constant that fits")]
fn memories_project() -> ProjectName {
    ProjectName::parse("memories").expect("a project name")
}

/// The two wordings of the memory tool's answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wording {
    /// The words of the MCP specification for this tool.
    Mcp,
    /// The words of the Claude API's own SDKs.
    Claude,
}

impl Wording {
    /// Reads a wording's name.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "mcp" => Some(Self::Mcp),
            "claude" => Some(Self::Claude),
            _ => None,
        }
    }
}

/// What `create` does when the file exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CreateMode {
    /// The new text takes its place; the old one is in the history.
    Overwrite,
    /// Nothing is written.
    Refuse,
}

/// What happens to secrets in what is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecretPolicy {
    /// Written, with a warning in the answer.
    Warn,
    /// Replaced by what they are.
    Redact,
    /// Nothing is written.
    Refuse,
}
