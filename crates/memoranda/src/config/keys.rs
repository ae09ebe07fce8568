//! Table of settings.

use std::net::SocketAddr;

use crate::env::{self, EnvVariable};
use crate::error::{CommandError, Result};

/// A setting.
pub(crate) struct ConfigKey {
    /// Name in the file.
    pub(crate) name: &'static str,
    /// Type of its values.
    pub(crate) kind: ConfigKeyKind,
    /// Default value.
    pub(crate) default: &'static str,
    /// Environment variables that set it, highest precedence first.
    pub(crate) variables: &'static [&'static EnvVariable],
    /// Description.
    pub(crate) doc: &'static str,
}

/// Type of the values of a setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConfigKeyKind {
    /// A path; `~/` is the home folder.
    Folder,
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Whole seconds, at least one.
    Seconds,
    /// A whole number, at least one.
    Number,
    /// A whole number, zero included.
    Count,
    /// An address and a port.
    Address,
    /// The name of a time zone.
    Zone,
}

impl ConfigKeyKind {
    /// Describes the accepted values.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Folder => "a folder".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Choice(words) => words.join(", "),
            Self::Seconds => "whole seconds, at least 1".to_owned(),
            Self::Number => "a whole number, at least 1".to_owned(),
            Self::Count => "a whole number".to_owned(),
            Self::Address => "an address with a port".to_owned(),
            Self::Zone => "the name of a time zone".to_owned(),
        }
    }

    /// Returns true if the file contains the value as a number.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Seconds | Self::Number | Self::Count)
    }

    /// Returns true if a value is accepted.
    fn takes(self, value: &str) -> bool {
        match self {
            Self::Folder | Self::Text => !value.trim().is_empty(),
            Self::Choice(words) => words.contains(&value),
            Self::Seconds | Self::Number => value.parse::<u64>().is_ok_and(|number| number > 0),
            Self::Count => value.parse::<u64>().is_ok(),
            Self::Address => address(value).is_some(),
            Self::Zone => jiff::tz::TimeZone::get(value).is_ok(),
        }
    }
}

/// All settings.
pub(crate) const KEYS: &[ConfigKey] = &[
    ConfigKey {
        name: "home",
        kind: ConfigKeyKind::Folder,
        default: "~/memoranda",
        variables: &[&env::MEMORANDA_HOME],
        doc: "The vault: the folder that holds the projects.",
    },
    ConfigKey {
        name: "default_project",
        kind: ConfigKeyKind::Text,
        default: "main",
        variables: &[],
        doc: "The project that new notes go to, and in which names are looked for first.",
    },
    ConfigKey {
        name: "name",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[&env::USER, &env::LOGNAME, &env::USERNAME],
        doc: "Your name in the history, for what you do by command.",
    },
    ConfigKey {
        name: "editor",
        kind: ConfigKeyKind::Text,
        default: if cfg!(windows) { "notepad" } else { "vi" },
        variables: &[&env::VISUAL, &env::EDITOR],
        doc: "The command that `memoranda edit` opens a note with.",
    },
    ConfigKey {
        name: "pager",
        kind: ConfigKeyKind::Text,
        default: if cfg!(windows) { "" } else { "less" },
        variables: &[&env::MEMORANDA_PAGER, &env::PAGER],
        doc: "The command that shows long output on a terminal. `cat` means none.",
    },
    ConfigKey {
        name: "color",
        kind: ConfigKeyKind::Choice(&["auto", "always", "never"]),
        default: "auto",
        variables: &[&env::NO_COLOR],
        doc: "When output has colours. A set `NO_COLOR` means `never`.",
    },
    ConfigKey {
        name: "file_sync_seconds",
        kind: ConfigKeyKind::Seconds,
        default: "60",
        variables: &[],
        doc: "How often a running process forces files to disk. Acknowledged writes are safe in \
              the log before.",
    },
    ConfigKey {
        name: "lock_wait_seconds",
        kind: ConfigKeyKind::Seconds,
        default: "30",
        variables: &[],
        doc: "How long to wait while another process writes.",
    },
    ConfigKey {
        name: "records.time_zone",
        kind: ConfigKeyKind::Zone,
        default: "",
        variables: &[],
        doc: "The time zone that reminders go by, such as `Europe/Berlin`, instead of the system's.",
    },
    ConfigKey {
        name: "memory.guidance",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[],
        doc: "What you add to the guidance that agents get for the memory tool, such as `Only what \
              concerns the garden.`",
    },
    ConfigKey {
        name: "memory.create",
        kind: ConfigKeyKind::Choice(&["auto", "overwrite", "refuse"]),
        default: "auto",
        variables: &[],
        doc: "What the memory tool's `create` does when the file exists. `auto`: the wording `mcp` \
              overwrites (the old text is in the history), `claude` refuses.",
    },
    ConfigKey {
        name: "memory.secrets",
        kind: ConfigKeyKind::Choice(&["warn", "redact", "refuse"]),
        default: "warn",
        variables: &[],
        doc: "What happens to keys, tokens, passwords and the like in what the memory tool is to \
              write: written with a warning, replaced, or nothing is written.",
    },
    ConfigKey {
        name: "memory.max_file_bytes",
        kind: ConfigKeyKind::Number,
        default: "10485760",
        variables: &[],
        doc: "The largest file that the memory tool writes.",
    },
    ConfigKey {
        name: "memory.view_chars",
        kind: ConfigKeyKind::Number,
        default: "100000",
        variables: &[],
        doc: "The most characters that one view of the memory tool shows.",
    },
    ConfigKey {
        name: "memory.expire_days",
        kind: ConfigKeyKind::Count,
        default: "0",
        variables: &[],
        doc: "After how many days without use a server removes files of the memory tool, once a \
              day; `memoranda undo` brings them back. With 0 nothing expires by itself.",
    },
    ConfigKey {
        name: "notes.overwrite",
        kind: ConfigKeyKind::Choice(&["refuse", "overwrite"]),
        default: "refuse",
        variables: &[],
        doc: "What `write_note` does when the note exists and the caller does not say.",
    },
    ConfigKey {
        name: "notes.search_scope",
        kind: ConfigKeyKind::Choice(&["all", "project"]),
        default: "all",
        variables: &[],
        doc: "Which projects `search_notes` searches when the caller names none: all of them, or \
              only `default_project`.",
    },
    ConfigKey {
        name: "notes.project_folders",
        kind: ConfigKeyKind::Choice(&["vault", "anywhere"]),
        default: "vault",
        variables: &[],
        doc: "Which folders an agent may make a project of with `create_memory_project`: new ones \
              in the vault, or any. You add others with `memoranda project add`.",
    },
    ConfigKey {
        name: "records.purge_days",
        kind: ConfigKeyKind::Count,
        default: "30",
        variables: &[],
        doc: "For how many days you can restore what an agent purged with `vacuum_memories`; no \
              tool shows it. With 0 it is purged at once.",
    },
    ConfigKey {
        name: "graph.max_observation_chars",
        kind: ConfigKeyKind::Number,
        default: "150",
        variables: &[],
        doc: "The most characters that a fact of the graph may have.",
    },
    ConfigKey {
        name: "graph.max_sentences",
        kind: ConfigKeyKind::Number,
        default: "2",
        variables: &[],
        doc: "The most sentences that a fact of the graph may have.",
    },
    ConfigKey {
        name: "banks.answer_tokens",
        kind: ConfigKeyKind::Number,
        default: "6000",
        variables: &[],
        doc: "About how many tokens an answer of the tool `activate` may have. What does not fit is \
              summarised, with the call that reads it.",
    },
    ConfigKey {
        name: "banks.optimize_tokens",
        kind: ConfigKeyKind::Number,
        default: "50000",
        variables: &[],
        doc: "A bank larger than this, in tokens, is tidied by the next update: what it says twice \
              is merged, in a commit of its own that can be undone.",
    },
    ConfigKey {
        name: "model.provider",
        kind: ConfigKeyKind::Choice(&["none", "openai", "anthropic"]),
        default: "none",
        variables: &[],
        doc: "The language model that places what agents keep in banks. `openai` is every server \
              that speaks as OpenAI's does: Ollama, LM Studio, llama.cpp too. With `none`, fixed \
              rules do it.",
    },
    ConfigKey {
        name: "model.url",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[],
        doc: "The model's address, such as `http://127.0.0.1:11434/v1` for Ollama; without it, the \
              provider's own.",
    },
    ConfigKey {
        name: "model.name",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[],
        doc: "The model's name, such as `qwen3:4b`. Needed with a provider.",
    },
    ConfigKey {
        name: "model.key_file",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[],
        doc: "A file that holds the model's key, if `MEMORANDA_MODEL_KEY` is unset.",
    },
    ConfigKey {
        name: "model.timeout_seconds",
        kind: ConfigKeyKind::Seconds,
        default: "10",
        variables: &[],
        doc: "How long the model may take, retries included. After that the rules decide.",
    },
    ConfigKey {
        name: "model.max_answer_bytes",
        kind: ConfigKeyKind::Number,
        default: "1048576",
        variables: &[],
        doc: "The largest answer that is read from the model.",
    },
    ConfigKey {
        name: "search.model",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[],
        doc: "The model that compares meanings, instead of the built-in one: the folder of a sentence \
              transformer (BERT, such as all-MiniLM-L6-v2; builds with the feature \
              `local-models`), or the address of a server that makes vectors as OpenAI's does, such as \
              `http://127.0.0.1:11434/v1`.",
    },
    ConfigKey {
        name: "search.model_name",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[],
        doc: "The model's name at that server, such as `nomic-embed-text`. Needed with an address.",
    },
    ConfigKey {
        name: "search.key_file",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[],
        doc: "A file that holds the key for that server, if `MEMORANDA_SEARCH_KEY` is unset.",
    },
    ConfigKey {
        name: "search.timeout_seconds",
        kind: ConfigKeyKind::Seconds,
        default: "2",
        variables: &[],
        doc: "How long a search waits for the model of `search.model`. After that it uses the \
              built-in model.",
    },
    ConfigKey {
        name: "search.question_prefix",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[],
        doc: "What the model of `search.model` wants to have before a question, such as `query: `.",
    },
    ConfigKey {
        name: "search.passage_prefix",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[],
        doc: "What it wants to have before a passage, such as `passage: `.",
    },
    ConfigKey {
        name: "mcp.toolsets",
        kind: ConfigKeyKind::Text,
        default: "default",
        variables: &[&env::MEMORANDA_TOOLSETS],
        doc: "The sets of tools that `memoranda mcp` and `memoranda serve` offer, with commas \
              between them; `all` is every one.",
    },
    ConfigKey {
        name: "mcp.wording",
        kind: ConfigKeyKind::Choice(&["mcp", "claude"]),
        default: "mcp",
        variables: &[],
        doc: "The words in which the memory tool answers: those of the MCP tool, or those of the \
              Claude API's own SDKs.",
    },
    ConfigKey {
        name: "serve.bind",
        kind: ConfigKeyKind::Address,
        default: "127.0.0.1:7337",
        variables: &[],
        doc: "Where `memoranda serve` listens.",
    },
    ConfigKey {
        name: "serve.allow_hosts",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[&env::MEMORANDA_ALLOW_HOSTS],
        doc: "Host names by which `memoranda serve` may be called in addition to this machine's \
              own, with commas between them.",
    },
    ConfigKey {
        name: "serve.allow_origins",
        kind: ConfigKeyKind::Text,
        default: "",
        variables: &[&env::MEMORANDA_ALLOW_ORIGINS],
        doc: "Origins whose pages may call `memoranda serve` in addition to its own, such as \
              `https://notes.example`, with commas between them.",
    },
];

/// Finds a setting; the error for an unknown name suggests the nearest.
pub(crate) fn key(name: &str) -> Result<&'static ConfigKey> {
    KEYS.iter().find(|key| key.name == name).ok_or_else(|| {
        let error = CommandError::usage(format!("there is no setting {name:?}"));
        match nearest(name) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("`memoranda config show` lists the settings"),
        }
    })
}

/// Returns the setting with the most similar name.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let score = |key: &ConfigKey| strsim::jaro_winkler(name, key.name);
    let best = KEYS.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) > 0.75).then_some(best.name)
}

/// Parses an address with a port; `localhost` is accepted.
pub(crate) fn address(text: &str) -> Option<SocketAddr> {
    let port = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    port.as_deref().unwrap_or(text).parse().ok()
}

/// Values that had another name in an earlier version: the key, the old value, the new value.
const RENAMED_VALUES: &[(&str, &str, &str)] = &[("mcp.wording", "seed", "mcp")];

/// Returns the current name of a value that may be written with its earlier name.
pub(crate) fn current_value<'a>(key: &str, value: &'a str) -> &'a str {
    let renamed = RENAMED_VALUES.iter().find(|(of, old, _)| *of == key && *old == value);
    renamed.map_or(value, |(_, _, new)| new)
}

/// Checks a value of a setting.
pub(super) fn check_value(key: &ConfigKey, value: &str) -> Result<(), String> {
    if key.kind.takes(value) {
        return Ok(());
    }
    Err(format!("{} cannot be {value:?}; it takes {}", key.name, key.kind.describe()))
}
