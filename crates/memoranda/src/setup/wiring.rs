//! What is written into one file: our server, our hooks, and nothing else.

use serde_json::Value;

use crate::setup::format::{self, Broken, Format};
use crate::setup::{hooks, json};

/// The name of our server in every client.
pub(crate) const NAME: &str = "memoranda";

/// One thing that is ours in a file.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Wire {
    /// The entry of the server.
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
    /// The version that a file of hooks must say.
    Version,
}

/// How far a file is wired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Nothing of ours is there.
    Absent,
    /// Something of ours is there, but not as it should be.
    Different,
    /// Everything is as it should be.
    Current,
}

/// How far a text is wired.
pub(crate) fn state(format: Format, text: &str, wires: &[Wire]) -> Result<State, Broken> {
    let value = format.value(text)?;
    let wanted = |wire: &&Wire| !matches!(wire, Wire::Version);
    let current = wires.iter().filter(wanted).all(|wire| is_current(format, &value, wire));
    let present = wires.iter().any(|wire| is_present(&value, wire));
    Ok(match (current, present) {
        (true, _) => State::Current,
        (false, true) => State::Different,
        (false, false) => State::Absent,
    })
}

fn is_current(format: Format, value: &Value, wire: &Wire) -> bool {
    match wire {
        Wire::Server { container, entry } => {
            // YAML keeps scalars as they are written, so both sides are read the same way.
            let path = [*container, NAME];
            let wanted = format.value(&format.snippet(&path, entry)).unwrap_or_default();
            format::at(value, &path).is_some_and(|found| Some(found) == format::at(&wanted, &path))
        }
        Wire::Hook { event, entry } => {
            listed(value, event).iter().filter(|found| hooks::is_ours(found)).eq([entry])
        }
        Wire::Version => value.get("version").is_some(),
    }
}

fn is_present(value: &Value, wire: &Wire) -> bool {
    match wire {
        Wire::Server { container, .. } => format::at(value, &[container, NAME]).is_some(),
        Wire::Hook { event, .. } => listed(value, event).iter().any(hooks::is_ours),
        Wire::Version => false,
    }
}

fn listed<'v>(value: &'v Value, event: &str) -> &'v [Value] {
    format::at(value, &["hooks", event]).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What is ours, as a text has it: of an earlier time perhaps, or with flags that a person chose.
pub(crate) fn as_found(format: Format, text: &str, wires: &[Wire]) -> Result<Vec<Wire>, Broken> {
    let value = format.value(text)?;
    let found = |wire: &Wire| match wire {
        Wire::Server { container, entry } => {
            let entry = typed(format::at(&value, &[container, NAME])?, entry);
            Some(Wire::Server { container, entry })
        }
        Wire::Hook { event, .. } => {
            let entry = listed(&value, event).iter().find(|entry| hooks::is_ours(entry))?.clone();
            Some(Wire::Hook { event, entry })
        }
        Wire::Version => Some(Wire::Version),
    };
    Ok(wires.iter().filter_map(found).collect())
}

/// A value whose scalars are what they are in another: YAML is read as it is written, in letters.
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

/// The text with everything of ours in it.
pub(crate) fn connected(format: Format, text: &str, wires: &[Wire]) -> Result<String, Broken> {
    let mut new = text.to_owned();
    for wire in wires {
        if is_current(format, &format.value(&new)?, wire) {
            continue;
        }
        new = match wire {
            Wire::Server { container, entry } => format.set(&new, &[container, NAME], entry)?,
            Wire::Hook { event, entry } => {
                let path = ["hooks", *event];
                let others = json::remove_items(&new, &path, hooks::is_ours)?;
                json::append(&others, &path, entry)?
            }
            Wire::Version => json::set(&new, &["version"], &Value::from(1))?,
        };
    }
    proven(format, text, new, wires)
}

/// The text with nothing of ours in it.
pub(crate) fn disconnected(format: Format, text: &str, wires: &[Wire]) -> Result<String, Broken> {
    let mut new = text.to_owned();
    for wire in wires {
        new = match wire {
            Wire::Server { container, .. } => format.remove(&new, &[container, NAME])?,
            Wire::Hook { event, .. } => {
                json::remove_items(&new, &["hooks", event], hooks::is_ours)?
            }
            Wire::Version => new,
        };
    }
    let is_alone =
        |value: &Value| value.as_object().is_some_and(|map| map.keys().all(|key| key == "version"));
    // A version of nothing is nothing.
    if wires.contains(&Wire::Version) && new != text && is_alone(&format.value(&new)?) {
        new = json::remove(&new, &["version"])?;
    }
    let new = json_husk(format, new);
    proven(format, text, new, wires)
}

/// `hooks: {}` goes with the last hook; a file of blanks is empty.
fn json_husk(format: Format, text: String) -> String {
    let is_husk = match format {
        Format::Json => matches!(text.trim_start_matches('\u{feff}').trim(), "{}" | ""),
        Format::Toml | Format::Yaml => text.trim_start_matches('\u{feff}').trim().is_empty(),
    };
    if is_husk { String::new() } else { text }
}

/// An edit is believed only if the file says the same as before, but for what is ours.
fn proven(format: Format, old: &str, new: String, wires: &[Wire]) -> Result<String, Broken> {
    if others(format.value(old)?, wires) == others(format.value(&new)?, wires) {
        Ok(new)
    } else {
        Err(Broken { line: 1, what: "it cannot be edited without touching more".into() })
    }
}

/// What a file says beside what is ours.
fn others(mut value: Value, wires: &[Wire]) -> Value {
    for wire in wires {
        match wire {
            Wire::Server { container, .. } => value = format::without(&value, &[container, NAME]),
            Wire::Hook { event, .. } => {
                if let Some(Value::Array(list)) =
                    value.get_mut("hooks").and_then(|hooks| hooks.get_mut(*event))
                {
                    list.retain(|entry| !hooks::is_ours(entry));
                    if list.is_empty() {
                        value = format::without(&value, &["hooks", event]);
                    }
                }
            }
            Wire::Version => value = format::without(&value, &["version"]),
        }
    }
    value
}
