//! Checks the entries in clients' files: whether they start this program.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::files;
use crate::hook::HookClient;
use crate::setup::clients::{CLIENTS, ClientSpec};
use crate::setup::entries::NAME;
use crate::setup::format::{self, ConfigFormat};
use crate::setup::locations::{BaseDir, BaseDirs};
use crate::setup::{SetupScope, hooks};

/// An entry of Memoranda in a client's file with the result of its check.
pub struct InstalledEntry {
    /// The client.
    pub client: &'static ClientSpec,
    /// File of the client.
    pub file: PathBuf,
    /// Kind of the entry.
    pub part: EntryPart,
    /// Result of the check.
    pub finding: EntryFinding,
}

/// Kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryPart {
    /// The server.
    Server,
    /// The hooks.
    Hooks,
}

/// Result of the check of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EntryFinding {
    /// The entry starts this program.
    This,
    /// The entry connects to an address.
    Address(String),
    /// The entry starts another program.
    Other(String),
    /// The entry starts a missing program.
    Missing(String),
    /// The entry starts this program after the user trusts it.
    Untrusted,
    /// The file cannot be read.
    Unreadable(String),
}

/// Checks the user and project files of every client.
pub fn check(dirs: &BaseDirs) -> Vec<InstalledEntry> {
    let mut found: Vec<InstalledEntry> = Vec::new();
    for client in &CLIENTS {
        for scope in [SetupScope::User, SetupScope::Project] {
            let server =
                client.file(dirs, scope).map(|file| (file, EntryPart::Server, client.format));
            let hooks = client.hook_files(dirs, scope).into_iter();
            let hooks = hooks.map(|(file, format)| (file, EntryPart::Hooks, format));
            for (file, part, format) in server.into_iter().chain(hooks) {
                let is_known = |wired: &InstalledEntry| wired.file == file && wired.part == part;
                if found.iter().any(is_known) {
                    continue;
                }
                let finding = match read(&file, format) {
                    Ok(None) => None,
                    Ok(Some(value)) => match started(client, dirs, part, &value) {
                        Some(EntryFinding::This)
                            if part == EntryPart::Hooks
                                && !is_trusted(client, dirs, &file, &value) =>
                        {
                            Some(EntryFinding::Untrusted)
                        }
                        other => other,
                    },
                    // A file with both entries is reported once.
                    Err(_) if found.iter().any(|wired| wired.file == file) => None,
                    Err(why) => Some(EntryFinding::Unreadable(why)),
                };
                found.extend(finding.map(|finding| InstalledEntry { client, file, part, finding }));
            }
        }
    }
    found
}

fn read(file: &Path, format: ConfigFormat) -> Result<Option<Value>, String> {
    let text = files::read_text(file).map_err(|error| error.to_string())?;
    text.map(|text| format.value(&text).map_err(|broken| broken.to_string())).transpose()
}

/// Checks Memoranda's entry; `None` if the entry does not exist.
fn started(
    client: &ClientSpec,
    dirs: &BaseDirs,
    part: EntryPart,
    value: &Value,
) -> Option<EntryFinding> {
    let judged = |program: &str| judged(dirs, program);
    match part {
        EntryPart::Server => {
            let entry = format::at(value, &[client.container, NAME])?;
            let text = |key: &str| entry.get(key).and_then(Value::as_str);
            let address = ["url", "serverUrl", "httpUrl", "uri"].into_iter().find_map(text);
            let listed = || entry.get("command")?.get(0)?.as_str();
            match text("command").or_else(|| text("cmd")).or_else(listed) {
                Some(program) => Some(judged(program)),
                None => address.map(|address| EntryFinding::Address(address.to_owned())),
            }
        }
        EntryPart::Hooks if value.get("script").is_some() => {
            let text = value.get("script").and_then(Value::as_str)?;
            hooks::script_program(text).map(|program| judged(&program))
        }
        EntryPart::Hooks => {
            let events = value.get("hooks")?.as_object()?.values().filter_map(Value::as_array);
            let mut ours = events.flatten().filter(|entry| hooks::is_ours(entry));
            ours.find_map(hooks::program_of).map(judged)
        }
    }
}

/// Returns true if a client runs the hooks. Codex records trusted hooks in its settings; the other
/// clients need no trust.
fn is_trusted(client: &ClientSpec, dirs: &BaseDirs, file: &Path, value: &Value) -> bool {
    if client.hooks != Some(HookClient::Codex) {
        return true;
    }
    let settings = read(&dirs.path((BaseDir::Codex, "config.toml")), ConfigFormat::Toml);
    let settings = settings.ok().flatten().unwrap_or_default();
    let state = format::at(&settings, &["hooks", "state"]).and_then(Value::as_object);
    let names = [Some(file.to_owned()), file.canonicalize().ok()];
    let is_known = |event: &str| {
        let mut starts = names.iter().flatten().map(|name| format!("{}:{event}:", name.display()));
        starts.any(|start| {
            let mut known = state.into_iter().flatten();
            known.any(|(key, hook)| key.starts_with(&start) && hook.get("trusted_hash").is_some())
        })
    };
    let events = value.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let has_ours = |list: &Value| list.as_array().is_some_and(|all| all.iter().any(hooks::is_ours));
    let mut ours = events.filter(|(_, list)| has_ours(list));
    ours.all(|(event, _)| is_known(&snake_case(event)))
}

/// Converts `PreCompact` into `pre_compact`.
fn snake_case(event: &str) -> String {
    let letter = |(at, c): (usize, char)| {
        if c.is_uppercase() && at > 0 {
            format!("_{}", c.to_lowercase())
        } else {
            c.to_lowercase().to_string()
        }
    };
    event.char_indices().map(letter).collect()
}

fn judged(dirs: &BaseDirs, program: &str) -> EntryFinding {
    let is_path = program.contains(['/', '\\']);
    let path = if is_path {
        Some(PathBuf::from(program)).filter(|path| path.is_file())
    } else {
        dirs.find_program(program)
    };
    let Some(path) = path else { return EntryFinding::Missing(program.to_owned()) };
    let real = |path: &Path| path.canonicalize().ok();
    let this = dirs.program.as_deref().and_then(real);
    if this.is_some() && real(&path) == this {
        EntryFinding::This
    } else {
        EntryFinding::Other(path.display().to_string())
    }
}
