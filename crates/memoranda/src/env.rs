//! Access to the environment, with a table of all variables that are read.

#![allow(clippy::disallowed_methods, reason = "this is the door to the environment")]

use std::ffi::OsString;
use std::path::PathBuf;

use memoranda_clients::setup::find_program;

/// An environment variable with its documentation.
pub(crate) struct EnvVariable {
    /// Name of the variable.
    pub(crate) name: &'static str,
    /// Description for the reference page.
    pub(crate) doc: &'static str,
}

/// Folder of the vault.
pub(crate) const MEMORANDA_HOME: EnvVariable = EnvVariable {
    name: "MEMORANDA_HOME",
    doc: "The vault's folder, instead of `~/memoranda`. `--home` comes before it.",
};
/// Path of the configuration file.
pub(crate) const MEMORANDA_CONFIG: EnvVariable = EnvVariable {
    name: "MEMORANDA_CONFIG",
    doc: "The configuration file, instead of `$XDG_CONFIG_HOME/memoranda/config.toml`.",
};
/// Requested project.
pub(crate) const MEMORANDA_PROJECT: EnvVariable = EnvVariable {
    name: "MEMORANDA_PROJECT",
    doc: "The project to work in, as if `--project` were given. `--project` comes before it.",
};
/// Toolsets of a server.
pub(crate) const MEMORANDA_TOOLSETS: EnvVariable = EnvVariable {
    name: "MEMORANDA_TOOLSETS",
    doc: "The sets of tools that a server offers, with commas between them. `--toolsets` comes \
          before it.",
};
/// Single tools of a server.
pub(crate) const MEMORANDA_TOOLS: EnvVariable = EnvVariable {
    name: "MEMORANDA_TOOLS",
    doc: "Single tools that a server offers beside the sets. `--tools` comes before it.",
};
/// Tools that a server excludes.
pub(crate) const MEMORANDA_EXCLUDE_TOOLS: EnvVariable = EnvVariable {
    name: "MEMORANDA_EXCLUDE_TOOLS",
    doc: "Tools that a server leaves out whatever else is said, with those of `--exclude-tools`.",
};
/// Read-only mode of a server.
pub(crate) const MEMORANDA_READ_ONLY: EnvVariable = EnvVariable {
    name: "MEMORANDA_READ_ONLY",
    doc: "If set to anything but `0`, `false` or `no`, a server offers only tools that change \
          nothing.",
};
/// Token of HTTP clients.
pub(crate) const MEMORANDA_TOKEN: EnvVariable = EnvVariable {
    name: "MEMORANDA_TOKEN",
    doc: "The token that clients of `memoranda serve` send. `--token-file` comes before it.",
};
/// File that contains the token of HTTP clients.
pub(crate) const MEMORANDA_TOKEN_FILE: EnvVariable = EnvVariable {
    name: "MEMORANDA_TOKEN_FILE",
    doc: "A file that contains the token, if `MEMORANDA_TOKEN` is unset. Without both, \
          `memoranda serve` makes a token for each vault.",
};
/// Address of the database of a team server.
pub(crate) const MEMORANDA_DATABASE: EnvVariable = EnvVariable {
    name: "MEMORANDA_DATABASE",
    doc: "The PostgreSQL database of a team server, for `memoranda serve` and `memoranda admin`. \
          `--database` comes before it.",
};
/// Public address of a team server.
pub(crate) const MEMORANDA_PUBLIC_URL: EnvVariable = EnvVariable {
    name: "MEMORANDA_PUBLIC_URL",
    doc: "The address by which people and clients call a team server, such as \
          `https://team.example`. `--public-url` comes before it.",
};
/// Host names of the HTTP server.
pub(crate) const MEMORANDA_ALLOW_HOSTS: EnvVariable = EnvVariable {
    name: "MEMORANDA_ALLOW_HOSTS",
    doc: "Host names by which `memoranda serve` may be called, with commas between them. \
          `--allow-host` comes before it.",
};
/// Origins whose pages may call the HTTP server.
pub(crate) const MEMORANDA_ALLOW_ORIGINS: EnvVariable = EnvVariable {
    name: "MEMORANDA_ALLOW_ORIGINS",
    doc: "Origins whose pages may call `memoranda serve`, with commas between them. \
          `--allow-origin` comes before it.",
};
/// Workspace of the client.
pub(crate) const CLAUDE_PROJECT_DIR: EnvVariable = EnvVariable {
    name: "CLAUDE_PROJECT_DIR",
    doc: "The folder that the client works in: it says which repository memories belong to. Claude \
          Code and Gemini CLI set it. Without it, the working directory counts.",
};
/// Configuration folder of Claude Code.
pub(crate) const CLAUDE_CONFIG_DIR: EnvVariable = EnvVariable {
    name: "CLAUDE_CONFIG_DIR",
    doc: "Where Claude Code keeps its files, for `memoranda setup`.",
};
/// Configuration folder of Codex.
pub(crate) const CODEX_HOME: EnvVariable = EnvVariable {
    name: "CODEX_HOME",
    doc: "Where Codex keeps its files, for `memoranda setup` (default `~/.codex`).",
};
/// Data folder of memories.sh.
pub(crate) const MEMORIES_DATA_DIR: EnvVariable = EnvVariable {
    name: "MEMORIES_DATA_DIR",
    doc: "Where memories.sh keeps its database, for `memoranda import memories-sh` (default \
          `~/.config/memories`).",
};
/// Root folder of Memory Bank.
pub(crate) const MEMORY_BANK_ROOT: EnvVariable = EnvVariable {
    name: "MEMORY_BANK_ROOT",
    doc: "Where Memory Bank keeps its banks, for `memoranda import memory-bank` (default \
          `~/.claude-desktop/memory`).",
};
/// Width of the output.
pub(crate) const COLUMNS: EnvVariable = EnvVariable {
    name: "COLUMNS",
    doc: "The width of tables and texts where standard output is not a terminal (default: not \
          limited).",
};
/// Search path of programs.
pub(crate) const PATH: EnvVariable =
    EnvVariable { name: "PATH", doc: "Where `memoranda setup` looks for clients and for itself." };
/// API key of the language model.
pub(crate) const MEMORANDA_MODEL_KEY: EnvVariable = EnvVariable {
    name: "MEMORANDA_MODEL_KEY",
    doc: "The key for the language model of `model.provider`. It comes before `model.key_file`.",
};
/// API key of the embedding server.
pub(crate) const MEMORANDA_SEARCH_KEY: EnvVariable = EnvVariable {
    name: "MEMORANDA_SEARCH_KEY",
    doc: "The key for the server of `search.model`. It comes before `search.key_file`.",
};
/// Injected fault for tests.
pub(crate) const MEMORANDA_FAULT: EnvVariable = EnvVariable {
    name: "MEMORANDA_FAULT",
    doc: "A failure on purpose, `KIND:STEP:N`, for tests. Only in builds with the feature `faults`.",
};
/// Preferred editor.
pub(crate) const VISUAL: EnvVariable = EnvVariable {
    name: "VISUAL",
    doc: "The editor that `memoranda edit` opens. Comes before `EDITOR`.",
};
/// Editor if `VISUAL` is unset.
pub(crate) const EDITOR: EnvVariable = EnvVariable {
    name: "EDITOR",
    doc: "The editor that `memoranda edit` opens if `VISUAL` is unset.",
};
/// Pager of Memoranda alone.
pub(crate) const MEMORANDA_PAGER: EnvVariable = EnvVariable {
    name: "MEMORANDA_PAGER",
    doc: "The pager for long output on a terminal. Comes before `PAGER`; `cat` means none.",
};
/// Pager of all programs.
pub(crate) const PAGER: EnvVariable = EnvVariable {
    name: "PAGER",
    doc: "The pager for long output on a terminal if `MEMORANDA_PAGER` is unset.",
};
/// Options of `less`.
pub(crate) const LESS: EnvVariable = EnvVariable {
    name: "LESS",
    doc: "The options of `less`, if that is the pager (default `FRX`).",
};
/// Login name of the user.
pub(crate) const USER: EnvVariable = EnvVariable {
    name: "USER",
    doc: "Your name in the history if the setting `name` is empty. `LOGNAME` and `USERNAME` count \
          if it is unset.",
};
/// Login name on systems without `USER`.
pub(crate) const LOGNAME: EnvVariable = EnvVariable { name: "LOGNAME", doc: "See `USER`." };
/// Login name on Windows.
pub(crate) const USERNAME: EnvVariable = EnvVariable { name: "USERNAME", doc: "See `USER`." };
/// Time zone.
pub(crate) const TZ: EnvVariable =
    EnvVariable { name: "TZ", doc: "The time zone, if it is not the system's." };
/// Disables colours.
pub(crate) const NO_COLOR: EnvVariable = EnvVariable {
    name: "NO_COLOR",
    doc: "If set to anything but the empty text, output has no colours. `--color` comes before it.",
};
/// Type of the terminal.
pub(crate) const TERM: EnvVariable = EnvVariable {
    name: "TERM",
    doc: "If it is `dumb`, output has no colours and no progress bar.",
};
/// Locale with the highest precedence.
pub(crate) const LC_ALL: EnvVariable = EnvVariable {
    name: "LC_ALL",
    doc: "With `LC_CTYPE` and `LANG`: if it does not name UTF-8, graphs are drawn in ASCII.",
};
/// Locale of character types.
pub(crate) const LC_CTYPE: EnvVariable = EnvVariable { name: "LC_CTYPE", doc: "See `LC_ALL`." };
/// Default locale.
pub(crate) const LANG: EnvVariable = EnvVariable { name: "LANG", doc: "See `LC_ALL`." };

/// All variables in the order of the reference page. The last six are read by the engine (git
/// configuration) and by the library that finds directories.
pub(crate) const TABLE: &[&EnvVariable] = &[
    &MEMORANDA_HOME,
    &MEMORANDA_CONFIG,
    &MEMORANDA_PROJECT,
    &MEMORANDA_TOOLSETS,
    &MEMORANDA_TOOLS,
    &MEMORANDA_EXCLUDE_TOOLS,
    &MEMORANDA_READ_ONLY,
    &MEMORANDA_TOKEN,
    &MEMORANDA_TOKEN_FILE,
    &MEMORANDA_DATABASE,
    &MEMORANDA_PUBLIC_URL,
    &MEMORANDA_ALLOW_HOSTS,
    &MEMORANDA_ALLOW_ORIGINS,
    &CLAUDE_PROJECT_DIR,
    &CLAUDE_CONFIG_DIR,
    &CODEX_HOME,
    &MEMORIES_DATA_DIR,
    &MEMORY_BANK_ROOT,
    &COLUMNS,
    &PATH,
    &MEMORANDA_MODEL_KEY,
    &MEMORANDA_SEARCH_KEY,
    &MEMORANDA_FAULT,
    &VISUAL,
    &EDITOR,
    &MEMORANDA_PAGER,
    &PAGER,
    &LESS,
    &USER,
    &LOGNAME,
    &USERNAME,
    &TZ,
    &NO_COLOR,
    &TERM,
    &LC_ALL,
    &LC_CTYPE,
    &LANG,
    &EnvVariable {
        name: "GIT_CONFIG_GLOBAL",
        doc: "Git's configuration of this person, by which the remote of a repository is found \
              (default `$XDG_CONFIG_HOME/git/config` and `~/.gitconfig`). `GIT_CONFIG_NOSYSTEM` \
              leaves out `/etc/gitconfig`.",
    },
    &EnvVariable {
        name: "XDG_CONFIG_HOME",
        doc: "Where configuration lies (default `~/.config`; `%APPDATA%` on Windows).",
    },
    &EnvVariable {
        name: "XDG_CACHE_HOME",
        doc: "Where the index lies (default `~/.cache`; `%LOCALAPPDATA%` on Windows). It can be \
              deleted at any time.",
    },
    &EnvVariable {
        name: "XDG_STATE_HOME",
        doc: "Where this device's name and the tokens of `memoranda serve` lie (default \
              `~/.local/state`; `%APPDATA%` on Windows).",
    },
    &EnvVariable { name: "TZ", doc: "The time zone in which times are shown and understood." },
    &HOME,
];

impl EnvVariable {
    /// Returns the value; `None` if the variable is unset or empty.
    pub(crate) fn get(&self) -> Option<OsString> {
        std::env::var_os(self.name).filter(|value| !value.is_empty())
    }

    /// Returns the value as text; `None` if the variable is unset or empty.
    pub(crate) fn text(&self) -> Option<String> {
        self.get().map(|value| value.to_string_lossy().into_owned())
    }
}

/// Returns the arguments, including the program name.
pub(crate) fn arguments() -> std::env::ArgsOs {
    std::env::args_os()
}

/// Returns true if servers are read-only. Every value except a clear "no" enables it.
pub(crate) fn is_read_only() -> bool {
    let no = |value: &str| matches!(value.to_lowercase().as_str(), "0" | "false" | "no");
    MEMORANDA_READ_ONLY.text().is_some_and(|value| !no(value.trim()))
}

/// Returns the workspace of the client.
pub(crate) fn workspace() -> Option<PathBuf> {
    CLAUDE_PROJECT_DIR.get().map(PathBuf::from).or_else(|| std::env::current_dir().ok())
}

/// Returns the current directory.
pub(crate) fn working_directory() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Returns the path of this program. The path in the search path is preferred, because it survives
/// updates.
pub(crate) fn this_program() -> Option<PathBuf> {
    let this = std::env::current_exe().ok()?;
    let found = find_program(&PATH.get().unwrap_or_default(), "memoranda").filter(|found| {
        let same = |path: &PathBuf| path.canonicalize().ok();
        same(found).is_some() && same(found) == same(&this)
    });
    Some(found.unwrap_or(this))
}

/// Returns true if the arguments contain `--`.
pub(crate) fn has_end_of_flags() -> bool {
    std::env::args_os().any(|word| word == "--")
}

/// Home folder of the user.
const HOME: EnvVariable = EnvVariable { name: "HOME", doc: "The person's own folder." };

/// Returns true if the home folder is the one that the user's shell knows. Services may have none, and
/// then the folder of the account is used.
pub(crate) fn is_home_set() -> bool {
    cfg!(windows) || HOME.get().is_some_and(|home| !home.is_empty())
}

/// Returns true if the locale uses UTF-8.
pub(crate) fn is_utf8_locale() -> bool {
    if cfg!(windows) {
        return true;
    }
    let locale = [&LC_ALL, &LC_CTYPE, &LANG].into_iter().find_map(EnvVariable::text);
    let locale = locale.unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
