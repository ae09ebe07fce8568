//! How hooks are written into each harness's file.

use serde_json::{Value, json};

use crate::hook::{Harness, Moment};
use crate::setup::place::{Base, Place};

/// How a harness is told to run a command.
pub(crate) struct Wires {
    /// The person's file.
    pub(crate) user: Place,
    /// The file of a project.
    pub(crate) project: Place,
    /// What an entry looks like.
    style: Style,
    /// Which moment of a conversation has which name.
    events: &'static [(Moment, &'static str)],
    /// What the person has to do before they run, if anything.
    pub(crate) after: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `{matcher, hooks: [{type, command, timeout}]}`, with seconds.
    Grouped,
    /// The same with a name and milliseconds.
    GroupedNamed,
    /// `{type, command, timeout}`.
    Flat,
    /// `{command}` in a file with a version.
    Bare,
}

/// How long a harness waits for us, in seconds. We need a fraction of one; at the end no client
/// waits for long.
fn seconds(moment: Moment) -> u64 {
    if moment == Moment::SessionEnd { 3 } else { 10 }
}

/// How a harness is told.
pub(crate) fn wires(harness: Harness) -> Wires {
    match harness {
        Harness::ClaudeCode => Wires {
            user: (Base::Claude, "settings.json"),
            project: (Base::Project, ".claude/settings.json"),
            style: Style::Grouped,
            events: &[
                (Moment::SessionStart, "SessionStart"),
                (Moment::PreCompact, "PreCompact"),
                (Moment::PostCompact, "PostCompact"),
                (Moment::SessionEnd, "SessionEnd"),
            ],
            after: None,
        },
        Harness::Codex => Wires {
            user: (Base::Codex, "hooks.json"),
            project: (Base::Project, ".codex/hooks.json"),
            style: Style::Grouped,
            events: &[
                (Moment::SessionStart, "SessionStart"),
                (Moment::PreCompact, "PreCompact"),
                (Moment::PostCompact, "PostCompact"),
                // The end comes a minute late, when its window is long closed.
                (Moment::Stop, "Stop"),
                (Moment::SessionEnd, "SessionEnd"),
            ],
            after: Some(
                "start `codex` and trust the hooks when it asks (`/hooks`); until then they do not run",
            ),
        },
        Harness::VsCode => Wires {
            user: (Base::Home, ".copilot/hooks/memoranda.json"),
            project: (Base::Project, ".github/hooks/memoranda.json"),
            style: Style::Flat,
            events: &[
                (Moment::SessionStart, "SessionStart"),
                (Moment::PreCompact, "PreCompact"),
                (Moment::Stop, "Stop"),
            ],
            after: None,
        },
        Harness::Gemini => Wires {
            user: (Base::Home, ".gemini/settings.json"),
            project: (Base::Project, ".gemini/settings.json"),
            style: Style::GroupedNamed,
            events: &[
                (Moment::SessionStart, "SessionStart"),
                (Moment::PostCompact, "BeforeAgent"),
                (Moment::PreCompact, "PreCompress"),
                (Moment::SessionEnd, "SessionEnd"),
            ],
            after: None,
        },
        Harness::Cursor => Wires {
            user: (Base::Home, ".cursor/hooks.json"),
            project: (Base::Project, ".cursor/hooks.json"),
            style: Style::Bare,
            events: &[
                (Moment::SessionStart, "sessionStart"),
                (Moment::PreCompact, "preCompact"),
                (Moment::Stop, "stop"),
            ],
            after: None,
        },
    }
}

impl Wires {
    /// Every entry: the name of its event, and what stands in its list.
    pub(crate) fn entries(
        &self,
        harness: Harness,
        program: &str,
        flags: &[String],
    ) -> Vec<(&'static str, Value)> {
        let entry = |(moment, event): &(Moment, &'static str)| {
            let command = command(program, *moment, harness, flags);
            (*event, self.entry(*moment, &command))
        };
        self.events.iter().map(entry).collect()
    }

    fn entry(&self, moment: Moment, command: &str) -> Value {
        match self.style {
            Style::Grouped => {
                let run =
                    json!({ "type": "command", "command": command, "timeout": seconds(moment) });
                match moment {
                    // A conversation that was compacted begins again, and needs its brief again.
                    Moment::SessionStart => {
                        json!({ "matcher": "startup|resume|clear|compact|fork", "hooks": [run] })
                    }
                    _ => json!({ "hooks": [run] }),
                }
            }
            Style::GroupedNamed => json!({ "hooks": [{
                "name": "memoranda",
                "type": "command",
                "command": command,
                "timeout": seconds(moment) * 1000,
            }] }),
            Style::Flat => {
                json!({ "type": "command", "command": command, "timeout": seconds(moment) })
            }
            Style::Bare => json!({ "command": command }),
        }
    }

    /// Whether the file must say its version.
    pub(crate) fn has_version(&self) -> bool {
        self.style == Style::Bare
    }
}

/// What a harness's shell is to run.
fn command(program: &str, moment: Moment, harness: Harness, flags: &[String]) -> String {
    let mut words = vec![quoted(program), "hook".into(), moment.name().into()];
    words.extend(["--client".into(), harness.name().into()]);
    words.extend(flags.iter().map(|flag| quoted(flag)));
    words.join(" ")
}

/// A word as every shell takes it, `cmd` too.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@,=~\\".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("\"{word}\"") }
}

/// Whether an entry is ours, of whatever version and from wherever. What looks into memory with
/// every question is not: setup does not install it, so it is the person's own.
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

/// The program that an entry of ours runs.
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
        for (harness, file) in [
            (Harness::ClaudeCode, "plugin/hooks/hooks.json"),
            (Harness::Codex, "plugin/hooks/codex.json"),
            (Harness::Gemini, "gemini/hooks/hooks.json"),
        ] {
            let packages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packages/");
            let text = std::fs::read_to_string(format!("{packages}{file}")).unwrap();
            let shipped: Value = serde_json::from_str(&text).unwrap();
            let ours = wires(harness).entries(harness, "memoranda", &[]);
            assert_eq!(shipped["hooks"].as_object().unwrap().len(), ours.len(), "{file}");
            for (event, entry) in ours {
                assert_eq!(shipped["hooks"][event], json!([entry]), "{file}: {event}");
            }
        }
    }

    #[test]
    fn ours_are_known_again_and_others_left() {
        for harness in Harness::ALL {
            let all = wires(harness).entries(harness, "/opt/my tools/memoranda", &[]);
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
