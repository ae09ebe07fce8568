//! Entries of Memoranda in a client's file: server and hooks.

use serde_json::Value;

use crate::setup::format::{self, ConfigFormat, ConfigSyntaxError};
use crate::setup::{hooks, json};

/// Name of the server in every client.
pub(crate) const NAME: &str = "memoranda";

/// An entry of Memoranda in a file.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ConfigEntry {
    /// Entry of the server.
    Server {
        /// The key that holds the servers.
        container: &'static str,
        /// The entry.
        entry: Value,
    },
    /// A hook of one event.
    Hook {
        /// The event's name.
        event: &'static str,
        /// The entry in its list.
        entry: Value,
    },
    /// Version field of a file of hooks.
    Version,
    /// A script for hooks, which is the whole file.
    Script {
        /// Text of the entry.
        text: String,
    },
}

impl ConfigEntry {
    /// Returns true if the entry contains a token.
    pub(crate) fn has_token(&self) -> bool {
        let Self::Server { entry, .. } = self else { return false };
        let headers = ["headers", "http_headers"].into_iter().filter_map(|key| entry.get(key));
        headers.into_iter().any(|headers| headers.get("Authorization").is_some())
    }
}

/// State of the entries in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryState {
    /// No entry is present.
    Absent,
    /// An entry is present but differs.
    Different,
    /// All entries are current.
    Current,
}

/// Returns the state of the entries in a text.
pub(crate) fn state(
    format: ConfigFormat,
    text: &str,
    entries: &[ConfigEntry],
) -> Result<EntryState, ConfigSyntaxError> {
    let value = format.value(text)?;
    let wanted = |entry_spec: &&ConfigEntry| !matches!(entry_spec, ConfigEntry::Version);
    let current =
        entries.iter().filter(wanted).all(|entry_spec| is_current(format, &value, entry_spec));
    let present = entries.iter().any(|entry_spec| is_present(&value, entry_spec));
    Ok(match (current, present) {
        (true, _) => EntryState::Current,
        (false, true) => EntryState::Different,
        (false, false) => EntryState::Absent,
    })
}

fn is_current(format: ConfigFormat, value: &Value, entry_spec: &ConfigEntry) -> bool {
    match entry_spec {
        ConfigEntry::Server { container, entry } => {
            // The YAML reader keeps scalars as text, so both sides are parsed the same way.
            let path = [*container, NAME];
            let wanted = format.value(&format.snippet(&path, entry)).unwrap_or_default();
            format::at(value, &path).is_some_and(|found| Some(found) == format::at(&wanted, &path))
        }
        ConfigEntry::Hook { event, entry } => {
            listed(value, event).iter().filter(|found| hooks::is_ours(found)).eq([entry])
        }
        ConfigEntry::Version => value.get("version").is_some(),
        ConfigEntry::Script { text } => value.get("script").and_then(Value::as_str) == Some(text),
    }
}

/// Returns the script of a file if setup installed it.
fn own_script(value: &Value) -> Option<&str> {
    let text = value.get("script")?.as_str()?;
    hooks::script_program(text).map(|_| text)
}

fn is_present(value: &Value, entry_spec: &ConfigEntry) -> bool {
    match entry_spec {
        ConfigEntry::Server { container, .. } => format::at(value, &[container, NAME]).is_some(),
        ConfigEntry::Hook { event, .. } => listed(value, event).iter().any(hooks::is_ours),
        ConfigEntry::Version => false,
        ConfigEntry::Script { .. } => own_script(value).is_some(),
    }
}

fn listed<'v>(value: &'v Value, event: &str) -> &'v [Value] {
    format::at(value, &["hooks", event]).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the entries as the text contains them, possibly of an earlier version or with custom
/// flags.
pub(crate) fn as_found(
    format: ConfigFormat,
    text: &str,
    entries: &[ConfigEntry],
) -> Result<Vec<ConfigEntry>, ConfigSyntaxError> {
    let value = format.value(text)?;
    let found = |entry_spec: &ConfigEntry| match entry_spec {
        ConfigEntry::Server { container, entry } => {
            let entry = typed(format::at(&value, &[container, NAME])?, entry);
            Some(ConfigEntry::Server { container, entry })
        }
        ConfigEntry::Hook { event, .. } => {
            let entry = listed(&value, event).iter().find(|entry| hooks::is_ours(entry))?.clone();
            Some(ConfigEntry::Hook { event, entry })
        }
        ConfigEntry::Version => Some(ConfigEntry::Version),
        ConfigEntry::Script { .. } => {
            Some(ConfigEntry::Script { text: own_script(&value)?.to_owned() })
        }
    };
    Ok(entries.iter().filter_map(found).collect())
}

/// Converts text scalars to the types of another value, because the YAML reader returns text.
fn typed(found: &Value, like: &Value) -> Value {
    match (found, like) {
        (Value::String(text), Value::Bool(_) | Value::Number(_)) => {
            serde_json::from_str(text).unwrap_or_else(|_| found.clone())
        }
        (Value::Object(found), Value::Object(like)) => {
            let pairs = found.iter().map(|(key, value)| {
                (key.clone(), typed(value, like.get(key).unwrap_or(&Value::Null)))
            });
            Value::Object(pairs.collect())
        }
        _ => found.clone(),
    }
}

/// Returns the text with all entries.
pub(crate) fn connected(
    format: ConfigFormat,
    text: &str,
    entries: &[ConfigEntry],
) -> Result<String, ConfigSyntaxError> {
    let mut new = text.to_owned();
    for entry_spec in entries {
        if is_current(format, &format.value(&new)?, entry_spec) {
            continue;
        }
        new = match entry_spec {
            ConfigEntry::Server { container, entry } => {
                format.set(&new, &[container, NAME], entry)?
            }
            ConfigEntry::Hook { event, entry } => {
                let path = ["hooks", *event];
                let others = json::remove_items(&new, &path, hooks::is_ours)?;
                json::append(&others, &path, entry)?
            }
            ConfigEntry::Version => json::set(&new, &["version"], &Value::from(1))?,
            // A script of somebody else is found by the comparison below.
            ConfigEntry::Script { text } => text.clone(),
        };
    }
    proven(format, text, new, entries)
}

/// Returns the text without the entries.
pub(crate) fn disconnected(
    format: ConfigFormat,
    text: &str,
    entries: &[ConfigEntry],
) -> Result<String, ConfigSyntaxError> {
    let mut new = text.to_owned();
    for entry_spec in entries {
        new = match entry_spec {
            ConfigEntry::Server { container, .. } => format.remove(&new, &[container, NAME])?,
            ConfigEntry::Hook { event, .. } => {
                json::remove_items(&new, &["hooks", event], hooks::is_ours)?
            }
            ConfigEntry::Version => new,
            ConfigEntry::Script { .. } if own_script(&format.value(&new)?).is_some() => {
                String::new()
            }
            ConfigEntry::Script { .. } => new,
        };
    }
    let is_alone =
        |value: &Value| value.as_object().is_some_and(|map| map.keys().all(|key| key == "version"));
    // A file with only a version is empty.
    if entries.contains(&ConfigEntry::Version) && new != text && is_alone(&format.value(&new)?) {
        new = json::remove(&new, &["version"])?;
    }
    let new = json_husk(format, new);
    proven(format, text, new, entries)
}

/// Removes the remains of an empty file.
fn json_husk(format: ConfigFormat, text: String) -> String {
    let is_husk = match format {
        ConfigFormat::Json => matches!(text.trim_start_matches('\u{feff}').trim(), "{}" | ""),
        ConfigFormat::Toml | ConfigFormat::Yaml | ConfigFormat::Script => {
            text.trim_start_matches('\u{feff}').trim().is_empty()
        }
    };
    if is_husk { String::new() } else { text }
}

/// Rejects an edit that changes anything except Memoranda's entries.
fn proven(
    format: ConfigFormat,
    old: &str,
    new: String,
    entries: &[ConfigEntry],
) -> Result<String, ConfigSyntaxError> {
    if others(format.value(old)?, entries) == others(format.value(&new)?, entries) {
        Ok(new)
    } else {
        Err(ConfigSyntaxError { line: 1, what: "it cannot be edited without touching more".into() })
    }
}

/// Returns the content of a file without Memoranda's entries.
fn others(mut value: Value, entries: &[ConfigEntry]) -> Value {
    for entry_spec in entries {
        match entry_spec {
            ConfigEntry::Server { container, .. } => {
                value = format::without(&value, &[container, NAME])
            }
            ConfigEntry::Hook { event, .. } => {
                if let Some(Value::Array(list)) =
                    value.get_mut("hooks").and_then(|hooks| hooks.get_mut(*event))
                {
                    list.retain(|entry| !hooks::is_ours(entry));
                    if list.is_empty() {
                        value = format::without(&value, &["hooks", event]);
                    }
                }
            }
            ConfigEntry::Version => value = format::without(&value, &["version"]),
            ConfigEntry::Script { .. } if own_script(&value).is_some() => {
                value = format::without(&value, &["script"]);
            }
            ConfigEntry::Script { .. } => {}
        }
    }
    value
}
