//! Format of hooks in each client's file.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hook::{HookClient, HookEvent};
use crate::setup::locations::{BaseDir, FileLocation};

/// Hook configuration of a client.
pub(crate) struct HookSpec {
    /// File of the user.
    pub(crate) user: FileLocation,
    /// The file of a project.
    pub(crate) project: FileLocation,
    /// Shape of an entry.
    style: HookStyle,
    /// Names of the events.
    events: &'static [(HookEvent, &'static str)],
    /// Step that the user must do before hooks run.
    pub(crate) after: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HookStyle {
    /// `{matcher, hooks: [{type, command, timeout}]}`, with seconds.
    Grouped,
    /// As `Grouped`, with a name and milliseconds.
    GroupedNamed,
    /// `{type, command, timeout}`.
    Flat,
    /// `{command}` in a file with a version.
    Bare,
    /// `{command, show_output}`.
    Quiet,
    /// A plugin in JavaScript, which is the whole file.
    Plugin,
    /// A shell script for each event, named after it; the file is their folder.
    Scripts,
}

/// First words of the line that names the program in a script.
const PROGRAM_LINE: &str = "memoranda-program: ";

/// Returns the timeout of a hook in seconds. Hooks need a fraction of a second.
fn timeout_seconds(event: HookEvent) -> u64 {
    if event == HookEvent::SessionEnd { 3 } else { 10 }
}

/// Returns the hook configuration of a client.
pub(crate) fn hook_spec(client: HookClient) -> HookSpec {
    match client {
        HookClient::ClaudeCode => HookSpec {
            user: (BaseDir::Claude, "settings.json"),
            project: (BaseDir::Project, ".claude/settings.json"),
            style: HookStyle::Grouped,
            events: &[
                (HookEvent::SessionStart, "SessionStart"),
                (HookEvent::PreCompact, "PreCompact"),
                (HookEvent::PostCompact, "PostCompact"),
                (HookEvent::SessionEnd, "SessionEnd"),
            ],
            after: None,
        },
        HookClient::Codex => HookSpec {
            user: (BaseDir::Codex, "hooks.json"),
            project: (BaseDir::Project, ".codex/hooks.json"),
            style: HookStyle::Grouped,
            events: &[
                (HookEvent::SessionStart, "SessionStart"),
                (HookEvent::PreCompact, "PreCompact"),
                (HookEvent::PostCompact, "PostCompact"),
                // This event is sent a minute after the window closed.
                (HookEvent::Stop, "Stop"),
                (HookEvent::SessionEnd, "SessionEnd"),
            ],
            after: Some(
                "start `codex` and trust the hooks when it asks (`/hooks`); until then they do not run",
            ),
        },
        HookClient::VsCode => HookSpec {
            user: (BaseDir::Home, ".copilot/hooks/memoranda.json"),
            project: (BaseDir::Project, ".github/hooks/memoranda.json"),
            style: HookStyle::Flat,
            events: &[
                (HookEvent::SessionStart, "SessionStart"),
                (HookEvent::PreCompact, "PreCompact"),
                (HookEvent::Stop, "Stop"),
            ],
            after: None,
        },
        HookClient::Gemini => HookSpec {
            user: (BaseDir::Home, ".gemini/settings.json"),
            project: (BaseDir::Project, ".gemini/settings.json"),
            style: HookStyle::GroupedNamed,
            events: &[
                (HookEvent::SessionStart, "SessionStart"),
                (HookEvent::PostCompact, "BeforeAgent"),
                (HookEvent::PreCompact, "PreCompress"),
                (HookEvent::SessionEnd, "SessionEnd"),
            ],
            after: None,
        },
        HookClient::Cursor => HookSpec {
            user: (BaseDir::Home, ".cursor/hooks.json"),
            project: (BaseDir::Project, ".cursor/hooks.json"),
            style: HookStyle::Bare,
            events: &[
                (HookEvent::SessionStart, "sessionStart"),
                (HookEvent::PreCompact, "preCompact"),
                (HookEvent::Stop, "stop"),
            ],
            after: None,
        },
        HookClient::OpenCode => HookSpec {
            user: (BaseDir::Config, "opencode/plugins/memoranda.js"),
            project: (BaseDir::Project, ".opencode/plugins/memoranda.js"),
            style: HookStyle::Plugin,
            // The plugin names its events itself.
            events: &[],
            after: None,
        },
        // No event of Windsurf gives text to the model.
        HookClient::Windsurf => HookSpec {
            user: (BaseDir::Home, ".codeium/windsurf/hooks.json"),
            project: (BaseDir::Project, ".windsurf/hooks.json"),
            style: HookStyle::Quiet,
            events: &[(HookEvent::Stop, "post_cascade_response")],
            after: None,
        },
        HookClient::Cline => HookSpec {
            user: (BaseDir::Home, "Documents/Cline/Hooks"),
            project: (BaseDir::Project, ".clinerules/hooks"),
            style: HookStyle::Scripts,
            events: &[
                (HookEvent::SessionStart, "TaskStart"),
                (HookEvent::SessionStart, "TaskResume"),
                (HookEvent::PreCompact, "PreCompact"),
            ],
            after: Some("switch hooks on in Cline's settings, under Features"),
        },
    }
}

impl HookSpec {
    /// Returns all entries with the names of their events.
    pub(crate) fn entries(
        &self,
        client: HookClient,
        program: &str,
        flags: &[String],
    ) -> Vec<(&'static str, Value)> {
        let entry = |(event, name): &(HookEvent, &'static str)| {
            let command = command(program, *event, client, flags);
            (*name, self.entry(*event, &command))
        };
        self.events.iter().map(entry).collect()
    }

    fn entry(&self, event: HookEvent, command: &str) -> Value {
        match self.style {
            HookStyle::Grouped => {
                let run = json!({ "type": "command", "command": command, "timeout": timeout_seconds(event) });
                match event {
                    // A compacted conversation needs its brief again.
                    HookEvent::SessionStart => {
                        json!({ "matcher": "startup|resume|clear|compact|fork", "hooks": [run] })
                    }
                    _ => json!({ "hooks": [run] }),
                }
            }
            HookStyle::GroupedNamed => json!({ "hooks": [{
                "name": "memoranda",
                "type": "command",
                "command": command,
                "timeout": timeout_seconds(event) * 1000,
            }] }),
            HookStyle::Flat => {
                json!({ "type": "command", "command": command, "timeout": timeout_seconds(event) })
            }
            HookStyle::Bare => json!({ "command": command }),
            HookStyle::Quiet => json!({ "command": command, "show_output": false }),
            // A script is a file of its own.
            HookStyle::Plugin | HookStyle::Scripts => Value::Null,
        }
    }

    /// Returns true if the hooks are scripts: files that belong to Memoranda alone.
    pub(crate) fn has_scripts(&self) -> bool {
        matches!(self.style, HookStyle::Plugin | HookStyle::Scripts)
    }

    /// Returns the scripts and their paths, for a file or folder of hooks.
    pub(crate) fn scripts(
        &self,
        client: HookClient,
        file: &Path,
        program: &str,
        flags: &[String],
    ) -> Vec<(PathBuf, String)> {
        match self.style {
            HookStyle::Plugin => {
                let text = include_str!("opencode_plugin.js")
                    .replace("@PROGRAM@", &json!(program).to_string())
                    .replace("@FLAGS@", &json!(flags).to_string());
                vec![(file.to_owned(), text)]
            }
            HookStyle::Scripts => {
                let script = |(event, name): &(HookEvent, &str)| {
                    let command = command(program, *event, client, flags);
                    let name_of_client = client.name();
                    let text = format!(
                        "#!/bin/sh\n# Installed by `memoranda setup {name_of_client} --hooks`. \
                         `memoranda setup {name_of_client} --remove` deletes it.\n\
                         # {PROGRAM_LINE}{}\nexec {command}\n",
                        json!(program)
                    );
                    (file.join(name), text)
                };
                self.events.iter().map(script).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns true if the file needs a version field.
    pub(crate) fn has_version(&self) -> bool {
        self.style == HookStyle::Bare
    }
}

/// Returns the program that a script of Memoranda starts; `None` for any other text.
pub(crate) fn script_program(text: &str) -> Option<String> {
    let line = text.lines().take(5).find_map(|line| line.split_once(PROGRAM_LINE))?.1;
    serde_json::from_str(line.trim()).ok()
}

/// Returns the shell command of a hook.
fn command(program: &str, event: HookEvent, client: HookClient, flags: &[String]) -> String {
    let mut words = vec![quoted(program), "hook".into(), event.name().into()];
    words.extend(["--client".into(), client.name().into()]);
    words.extend(flags.iter().map(|flag| quoted(flag)));
    words.join(" ")
}

/// Quotes a word for all shells, including `cmd`.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@,=~\\".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("\"{word}\"") }
}

/// Returns true if setup installed an entry, in any version. A `prompt` hook is the user's own,
/// because setup does not install it.
pub(crate) fn is_ours(entry: &Value) -> bool {
    let runs_us = |command: &Value| {
        command.as_str().is_some_and(|command| {
            command.contains("memoranda")
                && command.contains(" hook ")
                && command.contains(" --client ")
                && !command.contains(" hook prompt ")
        })
    };
    if runs_us(&entry["command"]) {
        return true;
    }
    let inner = entry["hooks"].as_array();
    inner.is_some_and(|all| !all.is_empty() && all.iter().all(|hook| runs_us(&hook["command"])))
}

/// Returns the program of an entry.
pub(crate) fn program_of(entry: &Value) -> Option<&str> {
    let inner = || entry["hooks"].get(0)?["command"].as_str();
    let command = entry["command"].as_str().or_else(inner)?;
    match command.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => command.split(' ').next(),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the packages")]
mod tests {
    use super::*;

    /// The packages bring the same hooks that `memoranda setup --hooks` installs.
    #[test]
    fn packages_bring_the_same_hooks() {
        for (client, file) in [
            (HookClient::ClaudeCode, "plugin/hooks/hooks.json"),
            (HookClient::Codex, "plugin/hooks/codex.json"),
            (HookClient::Gemini, "gemini/hooks/hooks.json"),
        ] {
            let packages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packages/");
            let text = std::fs::read_to_string(format!("{packages}{file}")).unwrap();
            let shipped: Value = serde_json::from_str(&text).unwrap();
            let ours = hook_spec(client).entries(client, "memoranda", &[]);
            assert_eq!(shipped["hooks"].as_object().unwrap().len(), ours.len(), "{file}");
            for (event, entry) in ours {
                assert_eq!(shipped["hooks"][event], json!([entry]), "{file}: {event}");
            }
        }
    }

    #[test]
    fn ours_are_known_again_and_others_left() {
        for client in HookClient::ALL {
            let spec = hook_spec(client);
            let scripts = spec.scripts(client, Path::new("h"), "/opt/my tools/memoranda", &[]);
            assert_eq!(scripts.is_empty(), !spec.has_scripts());
            for (path, text) in scripts {
                let program = script_program(&text);
                assert_eq!(program.as_deref(), Some("/opt/my tools/memoranda"), "{path:?}");
                assert!(text.contains("hook") && !text.contains('@'), "{text}");
            }
            if spec.has_scripts() || client == HookClient::Windsurf {
                continue;
            }
            let all = spec.entries(client, "/opt/my tools/memoranda", &[]);
            assert!(all.iter().any(|(_, entry)| entry.to_string().contains("session-start")));
            for (event, entry) in all {
                assert!(is_ours(&entry), "{event}: {entry}");
                assert_eq!(program_of(&entry), Some("/opt/my tools/memoranda"), "{entry}");
                assert!(entry.to_string().contains(r#"\"/opt/my tools/memoranda\" hook "#));
            }
        }
        for other in [
            json!({ "command": "memoranda log" }),
            json!({ "command": "memoranda hook prompt --client gemini" }),
            json!({ "hooks": [{ "command": "notify" }] }),
            json!({ "hooks": [] }),
            json!({ "hooks": [{ "command": "memoranda hook stop --client x" }, { "command": "y" }] }),
        ] {
            assert!(!is_ours(&other), "{other}");
        }
    }
}
