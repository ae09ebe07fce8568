//! The table of settings.

use std::net::SocketAddr;

use crate::env::{self, Variable};
use crate::error::{CommandError, Result};

/// One setting.
pub(crate) struct Key {
    /// Its name in the file.
    pub(crate) name: &'static str,
    /// What values it takes.
    pub(crate) kind: KeyKind,
    /// What counts if nothing is set.
    pub(crate) default: &'static str,
    /// Environment variables that set it, the first one first.
    pub(crate) variables: &'static [&'static Variable],
    /// What it does.
    pub(crate) doc: &'static str,
}

/// What values a setting takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeyKind {
    /// A path; `~/` is the person's folder.
    Folder,
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Whole seconds, at least one.
    Seconds,
    /// A whole number, at least one.
    Number,
    /// An address and a port.
    Address,
    /// The name of a time zone.
    Zone,
}

impl KeyKind {
    /// What values it takes, in words.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Folder => "a folder".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Choice(words) => words.join(", "),
            Self::Seconds => "whole seconds, at least 1".to_owned(),
            Self::Number => "a whole number, at least 1".to_owned(),
            Self::Address => "an address with a port".to_owned(),
            Self::Zone => "the name of a time zone".to_owned(),
        }
    }

    /// Whether a file holds it as a number.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Seconds | Self::Number)
    }

    /// Whether a value is one of these.
    fn takes(self, value: &str) -> bool {
        match self {
            Self::Folder | Self::Text => !value.trim().is_empty(),
            Self::Choice(words) => words.contains(&value),
            Self::Seconds | Self::Number => value.parse::<u64>().is_ok_and(|number| number > 0),
            Self::Address => address(value).is_some(),
            Self::Zone => jiff::tz::TimeZone::get(value).is_ok(),
        }
    }
}

/// Every setting.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "home",
        kind: KeyKind::Folder,
        default: "~/memoranda",
        variables: &[&env::MEMORANDA_HOME],
        doc: "The vault: the folder that holds the projects.",
    },
    Key {
        name: "default_project",
        kind: KeyKind::Text,
        default: "main",
        variables: &[],
        doc: "The project that new notes go to, and in which names are looked for first.",
    },
    Key {
        name: "editor",
        kind: KeyKind::Text,
        default: if cfg!(windows) { "notepad" } else { "vi" },
        variables: &[&env::VISUAL, &env::EDITOR],
        doc: "The command that `memoranda edit` opens a note with.",
    },
    Key {
        name: "color",
        kind: KeyKind::Choice(&["auto", "always", "never"]),
        default: "auto",
        variables: &[&env::NO_COLOR],
        doc: "When output has colours. A set `NO_COLOR` means `never`.",
    },
    Key {
        name: "file_sync_seconds",
        kind: KeyKind::Seconds,
        default: "60",
        variables: &[],
        doc: "How often a running process forces files to disk. Acknowledged writes are safe in \
              the log before.",
    },
    Key {
        name: "lock_wait_seconds",
        kind: KeyKind::Seconds,
        default: "30",
        variables: &[],
        doc: "How long to wait while another process writes.",
    },
    Key {
        name: "records.time_zone",
        kind: KeyKind::Zone,
        default: "",
        variables: &[],
        doc: "The time zone that reminders go by, such as `Europe/Berlin`, instead of the system's.",
    },
    Key {
        name: "memory.guidance",
        kind: KeyKind::Text,
        default: "",
        variables: &[],
        doc: "What you add to the guidance that agents get for the memory tool, such as `Only what \
              concerns the garden.`",
    },
    Key {
        name: "memory.create",
        kind: KeyKind::Choice(&["auto", "overwrite", "refuse"]),
        default: "auto",
        variables: &[],
        doc: "What the memory tool's `create` does when the file exists. `auto`: the wording `mcp` \
              overwrites (the old text is in the history), `claude` refuses.",
    },
    Key {
        name: "memory.secrets",
        kind: KeyKind::Choice(&["warn", "redact", "refuse"]),
        default: "warn",
        variables: &[],
        doc: "What happens to keys, tokens, passwords and the like in what the memory tool is to \
              write: written with a warning, replaced, or nothing is written.",
    },
    Key {
        name: "memory.max_file_bytes",
        kind: KeyKind::Number,
        default: "10485760",
        variables: &[],
        doc: "The largest file that the memory tool writes.",
    },
    Key {
        name: "memory.view_chars",
        kind: KeyKind::Number,
        default: "100000",
        variables: &[],
        doc: "The most characters that one view of the memory tool shows.",
    },
    Key {
        name: "notes.overwrite",
        kind: KeyKind::Choice(&["refuse", "overwrite"]),
        default: "refuse",
        variables: &[],
        doc: "What `write_note` does when the note exists and the caller does not say.",
    },
    Key {
        name: "notes.project_folders",
        kind: KeyKind::Choice(&["vault", "anywhere"]),
        default: "vault",
        variables: &[],
        doc: "Which folders an agent may make a project of with `create_memory_project`: new ones \
              in the vault, or any. You add others with `memoranda project add`.",
    },
    Key {
        name: "graph.max_observation_chars",
        kind: KeyKind::Number,
        default: "150",
        variables: &[],
        doc: "The most characters that a fact of the graph may have.",
    },
    Key {
        name: "graph.max_sentences",
        kind: KeyKind::Number,
        default: "2",
        variables: &[],
        doc: "The most sentences that a fact of the graph may have.",
    },
    Key {
        name: "banks.answer_tokens",
        kind: KeyKind::Number,
        default: "6000",
        variables: &[],
        doc: "About how many tokens an answer of the tool `activate` may have. What does not fit is \
              summarised, with the call that reads it.",
    },
    Key {
        name: "banks.optimize_tokens",
        kind: KeyKind::Number,
        default: "50000",
        variables: &[],
        doc: "A bank larger than this, in tokens, is tidied by the next update: what it says twice \
              is merged, in a commit of its own that can be undone.",
    },
    Key {
        name: "model.provider",
        kind: KeyKind::Choice(&["none", "openai", "anthropic"]),
        default: "none",
        variables: &[],
        doc: "The language model that places what agents keep in banks. `openai` is every server \
              that speaks as OpenAI's does: Ollama, LM Studio, llama.cpp too. With `none`, fixed \
              rules do it.",
    },
    Key {
        name: "model.url",
        kind: KeyKind::Text,
        default: "",
        variables: &[],
        doc: "The model's address, such as `http://127.0.0.1:11434/v1` for Ollama; without it, the \
              provider's own.",
    },
    Key {
        name: "model.name",
        kind: KeyKind::Text,
        default: "",
        variables: &[],
        doc: "The model's name, such as `qwen3:4b`. Needed with a provider.",
    },
    Key {
        name: "model.key_file",
        kind: KeyKind::Text,
        default: "",
        variables: &[],
        doc: "A file that holds the model's key, if `MEMORANDA_MODEL_KEY` is unset.",
    },
    Key {
        name: "model.timeout_seconds",
        kind: KeyKind::Seconds,
        default: "10",
        variables: &[],
        doc: "How long the model may take, retries included. After that the rules decide.",
    },
    Key {
        name: "model.max_answer_bytes",
        kind: KeyKind::Number,
        default: "1048576",
        variables: &[],
        doc: "The largest answer that is read from the model.",
    },
    Key {
        name: "search.model",
        kind: KeyKind::Text,
        default: "",
        variables: &[],
        doc: "The model that compares meanings, instead of the built-in one: the folder of a sentence \
              transformer (BERT, such as all-MiniLM-L6-v2; builds with the feature \
              `local-models`), or the address of a server that makes vectors as OpenAI's does, such as \
              `http://127.0.0.1:11434/v1`.",
    },
    Key {
        name: "search.model_name",
        kind: KeyKind::Text,
        default: "",
        variables: &[],
        doc: "The model's name at that server, such as `nomic-embed-text`. Needed with an address.",
    },
    Key {
        name: "search.key_file",
        kind: KeyKind::Text,
        default: "",
        variables: &[],
        doc: "A file that holds the key for that server, if `MEMORANDA_SEARCH_KEY` is unset.",
    },
    Key {
        name: "search.timeout_seconds",
        kind: KeyKind::Seconds,
        default: "2",
        variables: &[],
        doc: "How long a search waits for the model of `search.model`. After that it uses the \
              built-in model.",
    },
    Key {
        name: "search.question_prefix",
        kind: KeyKind::Text,
        default: "",
        variables: &[],
        doc: "What the model of `search.model` wants to have before a question, such as `query: `.",
    },
    Key {
        name: "search.passage_prefix",
        kind: KeyKind::Text,
        default: "",
        variables: &[],
        doc: "What it wants to have before a passage, such as `passage: `.",
    },
    Key {
        name: "mcp.toolsets",
        kind: KeyKind::Text,
        default: "default",
        variables: &[&env::MEMORANDA_TOOLSETS],
        doc: "The sets of tools that `memoranda mcp` and `memoranda serve` offer, with commas \
              between them; `all` is every one.",
    },
    Key {
        name: "mcp.wording",
        kind: KeyKind::Choice(&["mcp", "claude"]),
        default: "mcp",
        variables: &[],
        doc: "The words in which the memory tool answers: those of the MCP tool, or those of the \
              Claude API's own SDKs.",
    },
    Key {
        name: "serve.bind",
        kind: KeyKind::Address,
        default: "127.0.0.1:7337",
        variables: &[],
        doc: "Where `memoranda serve` listens.",
    },
    Key {
        name: "serve.allow_hosts",
        kind: KeyKind::Text,
        default: "",
        variables: &[&env::MEMORANDA_ALLOW_HOSTS],
        doc: "Host names by which `memoranda serve` may be called in addition to this machine's \
              own, with commas between them.",
    },
    Key {
        name: "serve.allow_origins",
        kind: KeyKind::Text,
        default: "",
        variables: &[&env::MEMORANDA_ALLOW_ORIGINS],
        doc: "Origins whose pages may call `memoranda serve` in addition to its own, such as \
              `https://notes.example`, with commas between them.",
    },
];

/// Finds a setting; an unknown name is an error that suggests the nearest.
pub(crate) fn key(name: &str) -> Result<&'static Key> {
    KEYS.iter().find(|key| key.name == name).ok_or_else(|| {
        let error = CommandError::usage(format!("there is no setting {name:?}"));
        match nearest(name) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("`memoranda config show` lists the settings"),
        }
    })
}

/// The setting whose name is most like this one.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let score = |key: &Key| strsim::jaro_winkler(name, key.name);
    let best = KEYS.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) > 0.75).then_some(best.name)
}

/// An address and a port, `localhost` being one too.
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

/// Says why a setting cannot have a value.
pub(super) fn check_value(key: &Key, value: &str) -> Result<(), String> {
    if key.kind.takes(value) {
        return Ok(());
    }
    Err(format!("{} cannot be {value:?}; it takes {}", key.name, key.kind.describe()))
}
