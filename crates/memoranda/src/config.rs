//! Settings: one table of keys, and for every key the value that counts and where it came from.
//!
//! Flags come before the environment, the environment before the file, the file before what is
//! built in.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use etcetera::BaseStrategy as _;
use toml_edit::{DocumentMut, Item, Value};

use crate::cli::GlobalArgs;
use crate::env::{self, Variable};
use crate::error::{CommandError, Result};
use crate::files;
use crate::output::ColorWhen;

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
}

impl KeyKind {
    /// What values it takes, in words.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Folder => "a folder".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Choice(words) => words.join(", "),
            Self::Seconds => "whole seconds".to_owned(),
        }
    }
}

/// Every setting.
pub(crate) const KEYS: [Key; 6] = [
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

fn nearest(name: &str) -> Option<&'static str> {
    let score = |key: &Key| strsim::jaro_winkler(name, key.name);
    let best = KEYS.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) > 0.75).then_some(best.name)
}

/// Where a value came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// A flag on the command line.
    Flag(&'static str),
    /// An environment variable.
    Variable(&'static str),
    /// The configuration file.
    File,
    /// Nothing was set.
    BuiltIn,
}

/// The value of a setting, and where it came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    /// The setting's name.
    pub(crate) key: &'static str,
    /// Its value as text.
    pub(crate) value: String,
    /// Where it came from.
    pub(crate) origin: Origin,
}

/// Where Memoranda's own files lie.
#[derive(Clone, Debug)]
pub(crate) struct Directories {
    /// The person's own folder.
    pub(crate) user: PathBuf,
    /// The configuration file.
    pub(crate) config: PathBuf,
    /// What can be deleted at any time.
    pub(crate) cache: PathBuf,
    /// What this device remembers.
    pub(crate) state: PathBuf,
}

impl Directories {
    /// Finds them.
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
            cache: base.cache_dir().join("memoranda"),
            state: base.state_dir().unwrap_or_else(|| base.data_dir()).join("memoranda"),
        })
    }
}

/// All settings, decided.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where Memoranda's own files lie.
    pub(crate) directories: Directories,
    /// One value for every key, in the order of [`KEYS`].
    pub(crate) all: Vec<Setting>,
    /// The project that was asked for, by a flag or the environment.
    pub(crate) project: Option<String>,
}

impl Settings {
    /// Decides every setting.
    pub(crate) fn load(args: &GlobalArgs) -> Result<Self> {
        let directories = Directories::find()?;
        let file = File::read(&directories.config)?;
        let flags = [
            ("home", "--home", args.home.as_ref().map(|home| home.display().to_string())),
            ("color", "--color", args.color.and_then(color_name)),
        ];
        let mut all = Vec::with_capacity(KEYS.len());
        for key in &KEYS {
            all.push(decide(key, &flags, &file));
        }
        let project = args.project.clone().or_else(|| env::MEMORANDA_PROJECT.text());
        Ok(Self { directories, all, project })
    }

    fn value(&self, name: &str) -> &str {
        self.all.iter().find(|setting| setting.key == name).map_or("", |s| s.value.as_str())
    }

    /// The vault.
    pub(crate) fn home(&self) -> PathBuf {
        let value = self.value("home");
        match value.strip_prefix("~/") {
            Some(rest) => self.directories.user.join(rest),
            None => PathBuf::from(value),
        }
    }

    /// The project that new notes go to.
    pub(crate) fn default_project(&self) -> &str {
        self.value("default_project")
    }

    /// The editor's command.
    pub(crate) fn editor(&self) -> &str {
        self.value("editor")
    }

    /// When output has colours.
    pub(crate) fn color(&self) -> ColorWhen {
        ColorWhen::from_str(self.value("color"), true).unwrap_or(ColorWhen::Auto)
    }

    /// How often files are forced to disk.
    pub(crate) fn file_sync_seconds(&self) -> u64 {
        self.value("file_sync_seconds").parse().unwrap_or(60)
    }

    /// How long to wait for another process.
    pub(crate) fn lock_wait_seconds(&self) -> u64 {
        self.value("lock_wait_seconds").parse().unwrap_or(30)
    }
}

fn decide(
    key: &'static Key,
    flags: &[(&str, &'static str, Option<String>)],
    file: &File,
) -> Setting {
    let with = |value, origin| Setting { key: key.name, value, origin };
    let flag = flags.iter().find(|(name, ..)| *name == key.name);
    if let Some((_, flag, Some(value))) = flag {
        return with(value.clone(), Origin::Flag(flag));
    }
    for variable in key.variables {
        if let Some(value) = variable.text() {
            // The convention: whatever it says, it means no colours.
            let value = if key.name == "color" { "never".to_owned() } else { value };
            return with(value, Origin::Variable(variable.name));
        }
    }
    match file.get(key.name) {
        Some(value) => with(value, Origin::File),
        None => with(key.default.to_owned(), Origin::BuiltIn),
    }
}

/// The name by which a choice is written.
fn color_name(color: ColorWhen) -> Option<String> {
    Some(color.to_possible_value()?.get_name().to_owned())
}

/// The configuration file, with its comments.
pub(crate) struct File {
    path: PathBuf,
    document: DocumentMut,
}

impl File {
    /// Reads and checks the file; an absent one is empty.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path)
            .map_err(|e| CommandError { kind: configuration_kind(), ..e })?
            .unwrap_or_default();
        let document = text.parse::<DocumentMut>().map_err(|e| {
            let at = e.span().map_or(1, |span| line_of(&text, span.start));
            let what = e.message().lines().next().unwrap_or("not TOML").to_owned();
            wrong(path, at, &what)
        })?;
        let file = Self { path: path.to_owned(), document };
        file.check(&text)?;
        Ok(file)
    }

    fn check(&self, text: &str) -> Result<()> {
        for (name, item) in self.document.iter() {
            let at = line_of_key(text, name);
            let Some(key) = KEYS.iter().find(|key| key.name == name) else {
                let error = wrong(&self.path, at, &format!("there is no setting {name:?}"));
                return Err(match nearest(name) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error,
                });
            };
            let value = plain(item).ok_or_else(|| {
                wrong(&self.path, at, &format!("{name} must be {}", key.kind.describe()))
            })?;
            check_value(key, &value).map_err(|why| wrong(&self.path, at, &why))?;
        }
        Ok(())
    }

    /// The value of a key, as text.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.document.get(name).and_then(plain)
    }

    /// Gives a key a value and writes the file; everything else in it stays.
    pub(crate) fn set(&mut self, key: &Key, value: &str) -> Result<()> {
        check_value(key, value).map_err(CommandError::usage)?;
        let new = match (key.kind, value.parse::<i64>()) {
            (KeyKind::Seconds, Ok(number)) => Value::from(number),
            _ => Value::from(value),
        };
        match self.document.get_mut(key.name).and_then(Item::as_value_mut) {
            Some(old) => {
                // A comment behind the value belongs to the person.
                let decor = old.decor().clone();
                *old = new;
                *old.decor_mut() = decor;
            }
            None => {
                self.document.insert(key.name, Item::Value(new));
            }
        }
        files::replace(&self.path, self.document.to_string().as_bytes())
    }

    /// Removes a key and writes the file; says whether it was there.
    pub(crate) fn unset(&mut self, key: &Key) -> Result<bool> {
        if self.document.remove(key.name).is_none() {
            return Ok(false);
        }
        files::replace(&self.path, self.document.to_string().as_bytes())?;
        Ok(true)
    }
}

fn plain(item: &Item) -> Option<String> {
    let value = item.as_value()?;
    value.as_str().map(str::to_owned).or_else(|| value.as_integer().map(|n| n.to_string()))
}

fn check_value(key: &Key, value: &str) -> Result<(), String> {
    let fits = match key.kind {
        KeyKind::Folder | KeyKind::Text => !value.trim().is_empty(),
        KeyKind::Choice(words) => words.contains(&value),
        KeyKind::Seconds => value.parse::<u64>().is_ok_and(|seconds| seconds > 0),
    };
    if fits {
        return Ok(());
    }
    Err(format!("{} cannot be {value:?}; it takes {}", key.name, key.kind.describe()))
}

fn configuration_kind() -> crate::error::Kind {
    crate::error::Kind::Exit(crate::exit::Exit::Configuration)
}

fn wrong(path: &Path, line: usize, what: &str) -> CommandError {
    CommandError::configuration(format!("{} line {line}: {what}", path.display()))
        .hint("`memoranda config edit` opens the file")
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

fn line_of_key(text: &str, key: &str) -> usize {
    let names = |line: &str| {
        let line = line.trim_start().trim_start_matches(['[', '"', '\'']);
        line.strip_prefix(key)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    text.lines().position(names).map_or(1, |position| position + 1)
}
