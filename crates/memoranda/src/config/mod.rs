//! Settings: a table of keys, and for every key its effective value and origin.
//!
//! Flags take precedence over environment variables, these over the file, and the file over
//! defaults.

mod file;
mod keys;
mod search_model;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum as _;
use etcetera::BaseStrategy as _;
use jiff::tz::TimeZone;
use memoranda_clients::setup::BaseDirs;
use memoranda_engine::LanguageModel;
use memoranda_engine::core::fact::FactLimits;
use memoranda_model::{ApiKey, EndpointOptions, ModelEndpoint, ModelProtocol};
use memoranda_tools::{
    BankSettings, CreateMode, DefaultSearchScope, GraphSettings, NotesSettings, ProjectFolders,
    RecordSettings, SecretPolicy, Wording,
};

use crate::cli::GlobalArgs;
use crate::error::{CommandError, Result};
use crate::output::ColorWhen;
use crate::{env, files, time};

pub(crate) use file::ConfigFile;
pub(crate) use keys::{ConfigKey, KEYS, address, current_value, key};

/// Origin of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SettingOrigin {
    /// A flag on the command line.
    Flag(&'static str),
    /// An environment variable.
    Variable(&'static str),
    /// Path of the configuration file.
    File,
    /// The default value.
    BuiltIn,
}

/// Effective value of a setting with its origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SettingValue {
    /// Name of the setting.
    pub(crate) key: &'static str,
    /// Value as text.
    pub(crate) value: String,
    /// Origin of the value.
    pub(crate) origin: SettingOrigin,
}

/// Directories of Memoranda's files.
#[derive(Clone, Debug)]
pub(crate) struct AppDirectories {
    /// Home folder of the user.
    pub(crate) user: PathBuf,
    /// Path of the configuration file.
    pub(crate) config: PathBuf,
    /// Base directory of configuration files.
    pub(crate) config_base: PathBuf,
    /// Cache directory; can be deleted at any time.
    pub(crate) cache: PathBuf,
    /// State directory of this device.
    pub(crate) state: PathBuf,
}

impl AppDirectories {
    /// Finds the directories.
    pub(crate) fn find() -> Result<Self> {
        let base = etcetera::choose_base_strategy().map_err(|_| {
            CommandError::configuration("your home folder cannot be found")
                .hint("set HOME, or MEMORANDA_HOME and MEMORANDA_CONFIG")
        })?;
        let config = match env::MEMORANDA_CONFIG.get() {
            Some(path) => PathBuf::from(path),
            None => base.config_dir().join("memoranda").join("config.toml"),
        };
        Ok(Self {
            user: base.home_dir().to_owned(),
            config,
            config_base: base.config_dir(),
            cache: base.cache_dir().join("memoranda"),
            state: base.state_dir().unwrap_or_else(|| base.data_dir()).join("memoranda"),
        })
    }

    /// Returns the folders in which clients and their files are found.
    pub(crate) fn clients(&self) -> BaseDirs {
        BaseDirs {
            home: self.user.clone(),
            config: self.config_base.clone(),
            claude: env::CLAUDE_CONFIG_DIR.get().map(PathBuf::from),
            codex: env::CODEX_HOME.get().map(PathBuf::from),
            project: env::working_directory().unwrap_or_else(|| PathBuf::from(".")),
            created_list: self.state.join("setup-folders"),
            search_path: env::PATH.get().unwrap_or_default(),
            program: env::this_program(),
        }
    }
}

/// Effective settings.
#[derive(Clone, Debug)]
pub(crate) struct AppSettings {
    /// Directories of Memoranda's files.
    pub(crate) directories: AppDirectories,
    /// One value for every key in the order of [`KEYS`].
    pub(crate) all: Vec<SettingValue>,
    /// Project requested by a flag or the environment.
    pub(crate) project: Option<String>,
}

impl AppSettings {
    /// Loads all settings.
    pub(crate) fn load(args: &GlobalArgs) -> Result<Self> {
        let directories = AppDirectories::find()?;
        let file = ConfigFile::read(&directories.config)?;
        let flags = [
            ("home", "--home", args.home.as_ref().map(|home| home.display().to_string())),
            ("color", "--color", args.color.and_then(color_name)),
        ];
        let mut all = Vec::with_capacity(KEYS.len());
        for key in KEYS {
            all.push(decide(key, &flags, &file));
        }
        let project = args.project.clone().or_else(|| env::MEMORANDA_PROJECT.text());
        Ok(Self { directories, all, project })
    }

    fn value(&self, name: &str) -> &str {
        self.all.iter().find(|setting| setting.key == name).map_or("", |s| s.value.as_str())
    }

    /// Returns the folder of the vault.
    pub(crate) fn home(&self) -> PathBuf {
        self.path(self.value("home"))
    }

    /// Returns the project for new notes.
    pub(crate) fn default_project(&self) -> &str {
        self.value("default_project")
    }

    /// Returns true if nothing names the vault, so that it is in the home folder.
    pub(crate) fn is_default_home(&self) -> bool {
        self.all.iter().any(|s| s.key == "home" && s.origin == SettingOrigin::BuiltIn)
    }

    /// Returns the name of the user; `None` if it is unknown.
    pub(crate) fn person_name(&self) -> Option<String> {
        Some(self.value("name").trim()).filter(|name| !name.is_empty()).map(str::to_owned)
    }

    /// Returns the editor command.
    pub(crate) fn editor(&self) -> &str {
        self.value("editor")
    }

    /// Returns the pager command.
    pub(crate) fn pager(&self) -> &str {
        self.value("pager")
    }

    /// Returns the use of colours.
    pub(crate) fn color(&self) -> ColorWhen {
        ColorWhen::from_str(self.value("color"), true).unwrap_or(ColorWhen::Auto)
    }

    /// Returns the interval between syncs of files to disk, in seconds.
    pub(crate) fn file_sync_seconds(&self) -> u64 {
        self.value("file_sync_seconds").parse().unwrap_or(60)
    }

    /// Returns the maximum time to wait for another process, in seconds.
    pub(crate) fn lock_wait_seconds(&self) -> u64 {
        self.value("lock_wait_seconds").parse().unwrap_or(30)
    }

    /// Returns the toolsets of servers.
    pub(crate) fn toolsets(&self) -> &str {
        self.value("mcp.toolsets")
    }

    /// Returns the address of the HTTP server.
    pub(crate) fn bind(&self) -> Option<SocketAddr> {
        address(self.value("serve.bind"))
    }

    /// Host names by which the HTTP server may be called, with commas between them.
    pub(crate) fn allowed_hosts(&self) -> &str {
        self.value("serve.allow_hosts")
    }

    /// Origins whose pages may call the HTTP server, with commas between them.
    pub(crate) fn allowed_origins(&self) -> &str {
        self.value("serve.allow_origins")
    }

    /// Returns the time zone of reminders: the configured one, or the system's.
    fn zone(&self) -> TimeZone {
        let named = Some(self.value("records.time_zone")).filter(|name| !name.is_empty());
        let named = named.and_then(|name| TimeZone::get(name).ok());
        named.unwrap_or_else(time::zone)
    }

    /// Returns the settings of the notes tools.
    fn notes(&self) -> NotesSettings {
        NotesSettings {
            default_project: self.default_project().to_owned(),
            only_project: self.project.clone(),
            search_scope: match self.value("notes.search_scope") {
                "project" => DefaultSearchScope::DefaultProject,
                _ => DefaultSearchScope::AllProjects,
            },
            overwrite: match self.value("notes.overwrite") {
                "overwrite" => CreateMode::Overwrite,
                _ => CreateMode::Refuse,
            },
            folders: match self.value("notes.project_folders") {
                "anywhere" => ProjectFolders::Anywhere,
                _ => ProjectFolders::Vault,
            },
            zone: time::zone(),
        }
    }

    /// Returns the number of days without use after which memory files are removed; 0 for never.
    pub(crate) fn expire_days(&self) -> u32 {
        self.value("memory.expire_days").parse().unwrap_or(0)
    }

    /// Returns the settings of all tools.
    pub(crate) fn tools(&self) -> memoranda_tools::ToolSettings {
        let standard = memoranda_tools::ToolSettings::standard();
        let number = |name| self.value(name).parse::<u64>().ok();
        let size = |name, usual| self.value(name).parse::<usize>().unwrap_or(usual);
        memoranda_tools::ToolSettings {
            wording: Wording::parse(self.value("mcp.wording")).unwrap_or(standard.wording),
            create: match self.value("memory.create") {
                "overwrite" => Some(CreateMode::Overwrite),
                "refuse" => Some(CreateMode::Refuse),
                _ => None,
            },
            secrets: match self.value("memory.secrets") {
                "redact" => SecretPolicy::Redact,
                "refuse" => SecretPolicy::Refuse,
                _ => SecretPolicy::Warn,
            },
            max_file_bytes: number("memory.max_file_bytes").unwrap_or(standard.max_file_bytes),
            view_chars: number("memory.view_chars")
                .and_then(|chars| usize::try_from(chars).ok())
                .unwrap_or(standard.view_chars),
            expire_days: self.expire_days(),
            memories: standard.memories,
            guidance: Some(self.value("memory.guidance"))
                .filter(|guidance| !guidance.trim().is_empty())
                .map(str::to_owned),
            notes: self.notes(),
            workspace: env::workspace(),
            repository: standard.repository,
            records: RecordSettings {
                zone: self.zone(),
                purge_days: self
                    .value("records.purge_days")
                    .parse()
                    .unwrap_or(standard.records.purge_days),
            },
            graph: GraphSettings {
                limits: FactLimits {
                    chars: size("graph.max_observation_chars", standard.graph.limits.chars),
                    sentences: size("graph.max_sentences", standard.graph.limits.sentences),
                },
                ..standard.graph
            },
            banks: BankSettings {
                answer_tokens: size("banks.answer_tokens", standard.banks.answer_tokens),
                optimize_tokens: size("banks.optimize_tokens", standard.banks.optimize_tokens),
                ..standard.banks
            },
            // Opened on demand, because opening it can fail.
            model: None,
        }
    }

    /// Returns the configured language model; `None` without one.
    pub(crate) fn model(&self) -> Result<Option<Arc<dyn LanguageModel>>> {
        let protocol = match self.value("model.provider") {
            "openai" => ModelProtocol::OpenAi,
            "anthropic" => ModelProtocol::Anthropic,
            _ => return Ok(None),
        };
        let url = Some(self.value("model.url").trim()).filter(|url| !url.is_empty());
        let endpoint = ModelEndpoint::new(EndpointOptions {
            protocol,
            url: url.unwrap_or(protocol.standard_url()).to_owned(),
            model: self.value("model.name").trim().to_owned(),
            key: self.key(&env::MEMORANDA_MODEL_KEY, "model.key_file")?,
            limit: Duration::from_secs(self.value("model.timeout_seconds").parse().unwrap_or(10)),
            max_answer_bytes: self
                .value("model.max_answer_bytes")
                .parse()
                .unwrap_or(EndpointOptions::MAX_ANSWER_BYTES),
        });
        let endpoint = endpoint.map_err(|error| {
            CommandError::configuration(error.to_string()).hint(
                "`memoranda config set model.name NAME`, `model.url URL`; or `model.provider none`",
            )
        })?;
        Ok(Some(Arc::new(endpoint)))
    }

    /// Expands `~/` to the home folder.
    fn path(&self, value: &str) -> PathBuf {
        match value.strip_prefix("~/") {
            Some(rest) => self.directories.user.join(rest),
            None => PathBuf::from(value),
        }
    }

    /// Returns an API key from a variable or from the file named by a setting.
    fn key(&self, variable: &env::EnvVariable, setting: &str) -> Result<Option<ApiKey>> {
        let file = Some(self.value(setting)).filter(|file| !file.is_empty());
        let text = match (variable.text(), file) {
            (Some(text), _) => text,
            (None, None) => return Ok(None),
            (None, Some(file)) => {
                let path = self.path(file);
                files::read_text(&path)?.ok_or_else(|| {
                    let message = format!("there is no key file {}", path.display());
                    CommandError::configuration(message)
                        .hint(format!("`memoranda config set {setting} FILE` names another"))
                })?
            }
        };
        let key = ApiKey::new(&text).ok_or_else(|| {
            CommandError::configuration("the model's key is empty or holds a space")
                .hint(format!("{} or the file of `{setting}` holds the key alone", variable.name))
        })?;
        Ok(Some(key))
    }
}

fn decide(
    key: &'static ConfigKey,
    flags: &[(&str, &'static str, Option<String>)],
    file: &ConfigFile,
) -> SettingValue {
    let with = |value, origin| SettingValue { key: key.name, value, origin };
    let flag = flags.iter().find(|(name, ..)| *name == key.name);
    if let Some((_, flag, Some(value))) = flag {
        return with(value.clone(), SettingOrigin::Flag(flag));
    }
    for variable in key.variables {
        if let Some(value) = variable.text() {
            // By convention any non-empty value disables colours.
            let value = if key.name == "color" { "never".to_owned() } else { value };
            return with(value, SettingOrigin::Variable(variable.name));
        }
    }
    match file.get(key.name) {
        Some(value) => with(value, SettingOrigin::File),
        None => with(key.default.to_owned(), SettingOrigin::BuiltIn),
    }
}

/// Returns the name of a choice.
fn color_name(color: ColorWhen) -> Option<String> {
    Some(color.to_possible_value()?.get_name().to_owned())
}
