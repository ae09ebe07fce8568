//! Settings of the tools, as a value. The binary reads the configuration.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::tz::TimeZone;
use memoranda_core::id::ProjectName;
use memoranda_engine::records::{RecordScope, VisibleScopes};
use memoranda_engine::{LanguageModel, link_key};

use crate::banks::BankSettings;

use crate::graph::GraphSettings;

/// Projects of the tools, created on first use.
const OWN_PROJECTS: [&str; 4] = ["memories", "graph", "banks", "records"];

/// Settings of all tools.
#[derive(Clone, Debug)]
pub struct ToolSettings {
    /// Wording of the memory tool's answers.
    pub wording: Wording,
    /// Behaviour of `create` if the file exists. `None` for the default of the wording.
    pub create: Option<CreateMode>,
    /// Handling of secrets in written text.
    pub secrets: SecretPolicy,
    /// Maximum size in bytes of a file that the memory tool writes.
    pub max_file_bytes: u64,
    /// Maximum length of one view in characters.
    pub view_chars: usize,
    /// Number of days without use after which a server removes memory files; 0 to keep them.
    pub expire_days: u32,
    /// Project of the memory tool's files.
    pub memories: ProjectName,
    /// Additional guidance of the user for the model.
    pub guidance: Option<String>,
    /// Settings of the notes tools.
    pub notes: NotesSettings,
    /// Working folder of the client. `None` if unknown.
    pub workspace: Option<PathBuf>,
    /// Source of the repository of a call that names none.
    pub repository: RepositorySource,
    /// Settings of the banks tools.
    pub banks: BankSettings,
    /// Language model. `None` if none is configured.
    pub model: Option<Arc<dyn LanguageModel>>,
    /// Settings of the graph tools.
    pub graph: GraphSettings,
    /// Settings of the records tools.
    pub records: RecordSettings,
}

/// Settings of the records tools.
#[derive(Clone, Debug)]
pub struct RecordSettings {
    /// Time zone of reminders.
    pub zone: jiff::tz::TimeZone,
    /// Number of days for which the person can restore what an agent purged; 0 to purge at once.
    pub purge_days: u32,
}

impl RecordSettings {
    /// Returns the default settings.
    pub fn standard() -> Self {
        Self { zone: jiff::tz::TimeZone::UTC, purge_days: 30 }
    }

    /// Returns the current time in the user's time zone.
    pub fn now(&self) -> jiff::Zoned {
        memoranda_engine::clock::now().to_zoned(self.zone.clone())
    }
}

impl ToolSettings {
    /// Returns true if the tools may read the memories: a server can be restricted to another
    /// project.
    pub(crate) fn reaches_memories(&self) -> bool {
        self.reaches_project(self.memories.as_str())
    }

    /// Returns true if the tools may use a project: a server can be restricted to another one.
    pub fn reaches_project(&self, project: &str) -> bool {
        let only = self.notes.only_project.as_deref();
        only.is_none_or(|only| link_key(only) == link_key(project))
    }

    /// Returns the repository of a call that names none.
    pub fn call_repository(&self) -> CallRepository {
        match &self.repository {
            RepositorySource::Named(repository) => CallRepository::Known(repository.clone()),
            RepositorySource::Unknown => CallRepository::Unknown,
            RepositorySource::Workspace => {
                let found = self.workspace.as_deref().and_then(RecordScope::of_workspace);
                found.map_or(CallRepository::Absent, CallRepository::Known)
            }
        }
    }

    /// Returns these settings for a request over HTTP, whose client is in an unknown folder. The
    /// request may name its repository, such as `github.com/acme/shop`; `None` if that is invalid.
    pub fn for_remote_client(&self, repository: Option<&str>) -> Option<Self> {
        let repository = match repository {
            Some(name) => RepositorySource::Named(RecordScope::project(name)?),
            None => RepositorySource::Unknown,
        };
        Some(Self { workspace: None, repository, ..self.clone() })
    }

    /// Returns the scopes whose records a call sees that names no repository.
    pub fn visible_scopes(&self) -> VisibleScopes {
        match &self.repository {
            RepositorySource::Named(repository) => VisibleScopes::requested(repository.clone()),
            RepositorySource::Workspace => VisibleScopes::of_workspace(self.workspace.as_deref()),
            RepositorySource::Unknown => VisibleScopes::unknown(),
        }
    }

    /// Returns true if the tools create a project of this name on first use.
    pub fn makes_project(&self, name: &str) -> bool {
        name == self.notes.default_project || OWN_PROJECTS.contains(&name)
    }

    /// Returns the default settings.
    pub fn standard() -> Self {
        Self {
            wording: Wording::Mcp,
            create: None,
            secrets: SecretPolicy::Warn,
            max_file_bytes: 10 << 20,
            view_chars: 100_000,
            expire_days: 0,
            memories: memories_project(),
            guidance: None,
            notes: NotesSettings::standard(),
            workspace: None,
            repository: RepositorySource::Workspace,
            records: RecordSettings::standard(),
            graph: GraphSettings::standard(),
            banks: BankSettings::standard(),
            model: None,
        }
    }
}

/// Settings of the notes tools.
#[derive(Clone, Debug)]
pub struct NotesSettings {
    /// Project of a call that names none.
    pub default_project: String,
    /// Project that the server is restricted to. `None` if it may use all.
    pub only_project: Option<String>,
    /// Projects that `search_notes` searches if the call names none.
    pub search_scope: DefaultSearchScope,
    /// Behaviour of `write_note` without `overwrite` if the note exists.
    pub overwrite: CreateMode,
    /// Folders that `create_memory_project` may use.
    pub folders: ProjectFolders,
    /// Time zone of words such as `today` and `monday`.
    pub zone: TimeZone,
}

impl NotesSettings {
    /// Returns the default settings.
    pub fn standard() -> Self {
        Self {
            default_project: "main".to_owned(),
            only_project: None,
            search_scope: DefaultSearchScope::AllProjects,
            overwrite: CreateMode::Refuse,
            folders: ProjectFolders::Vault,
            zone: TimeZone::UTC,
        }
    }
}

/// Source of the repository of a call that names none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RepositorySource {
    /// The working folder of the client, over stdio and on the command line.
    Workspace,
    /// The request over HTTP names this repository.
    Named(RecordScope),
    /// The request over HTTP names none.
    Unknown,
}

/// Repository of a call that names none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CallRepository {
    /// This repository.
    Known(RecordScope),
    /// The client works outside of repositories with a remote.
    Absent,
    /// The client did not report this: it is connected over HTTP.
    Unknown,
}

/// Projects that a search reads if the call names none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefaultSearchScope {
    /// All projects.
    AllProjects,
    /// The default project.
    DefaultProject,
}

/// Folders that an agent may use for a new project.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProjectFolders {
    /// Only new folders in the vault. The user adds others.
    Vault,
    /// Any folder.
    Anywhere,
}

#[expect(clippy::expect_used, reason = "the name is a constant that fits")]
fn memories_project() -> ProjectName {
    ProjectName::parse("memories").expect("a project name")
}

/// Wording of the memory tool's answers.
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

/// Behaviour of a creation if the file exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CreateMode {
    /// The text is replaced. The history keeps the old text.
    Overwrite,
    /// Nothing is written.
    Refuse,
}

/// Handling of secrets in written text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecretPolicy {
    /// Secrets are written, and the answer has a warning.
    Warn,
    /// Secrets are replaced by their kind.
    Redact,
    /// Nothing is written.
    Refuse,
}
