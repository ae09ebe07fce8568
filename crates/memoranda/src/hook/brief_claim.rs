//! One brief per moment of a conversation: hooks can be installed for the user and for a project, and
//! the client then runs both. They differ in the command, which tells them from a repeated moment.

use std::path::Path;

use memoranda_engine::{clock, hash};

use super::{HookEvent, HookRun};
use crate::{env, files};

/// File in the state folder with the last briefs, one line each: time in seconds, key, command.
const FILE: &str = "briefs";
/// Time in seconds in which a second hook of the same moment stays silent.
const WINDOW_SECONDS: i64 = 20;
/// Maximum number of lines in the file.
const MAX_LINES: usize = 100;

/// Claims a brief. Returns false if another hook has given it. An unwritable state folder does not
/// cost the brief.
pub(super) fn claim(run: &HookRun, home: &Path, state: &Path) -> bool {
    let gives_brief = matches!(run.event, HookEvent::SessionStart | HookEvent::Prompt);
    if !gives_brief || run.input.session.is_empty() {
        return true;
    }
    let claim = BriefClaim {
        key: claim_key(run, home),
        command: hash(env::hook_command().as_bytes()).to_string(),
        time: clock::now().as_second(),
    };
    let path = state.join(FILE);
    files::update_locked(&path, |text| claim.add_to(text)).unwrap_or(true)
}

/// A brief of one moment, by the command of one installed hook.
struct BriefClaim {
    key: String,
    command: String,
    /// In seconds.
    time: i64,
}

/// Identifies a moment of a conversation: the start after a compaction is another than the first.
fn claim_key(run: &HookRun, home: &Path) -> String {
    let parts = [
        home.to_string_lossy().into_owned(),
        run.client.name().to_owned(),
        run.input.session.clone(),
        run.event.name().to_owned(),
        run.input.reason.clone().unwrap_or_default(),
        run.input.prompt.clone().unwrap_or_default(),
    ];
    hash(parts.join("\0").as_bytes()).to_string()
}

impl BriefClaim {
    /// Returns the new text of the file, and true unless another command gave the brief.
    fn add_to(&self, text: &str) -> (String, bool) {
        let fields = |line: &str| -> Option<(i64, String, String)> {
            let mut fields = line.split(' ');
            let time = fields.next()?.parse().ok()?;
            Some((time, fields.next()?.to_owned(), fields.next()?.to_owned()))
        };
        let is_recent = |time: i64| (0..WINDOW_SECONDS).contains(&(self.time - time));
        let lines = text.lines().filter_map(fields).filter(|(time, ..)| is_recent(*time));
        let mut lines: Vec<(i64, String, String)> = lines.collect();
        let is_given =
            lines.iter().any(|(_, key, command)| *key == self.key && *command != self.command);
        if !is_given {
            lines.retain(|(_, key, _)| *key != self.key);
            lines.push((self.time, self.key.clone(), self.command.clone()));
        }
        let first = lines.len().saturating_sub(MAX_LINES);
        let kept = lines.iter().skip(first);
        let text = kept.map(|(time, key, command)| format!("{time} {key} {command}\n")).collect();
        (text, !is_given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(text: &str, key: &str, command: &str, time: i64) -> (String, bool) {
        let (key, command) = (key.to_owned(), command.to_owned());
        BriefClaim { key, command, time }.add_to(text)
    }

    #[test]
    fn the_second_hook_of_a_moment_is_silent() {
        let (text, first) = claim("", "a", "user", 1000);
        let (text, second) = claim(&text, "a", "project", 1001);
        let (text, other) = claim(&text, "b", "project", 1001);
        assert_eq!((first, second, other), (true, false, true));
        assert_eq!(text, "1000 a user\n1001 b project\n");
        assert!(claim(&text, "a", "user", 1002).1, "the same hook again is another moment");
        assert!(claim(&text, "a", "project", 1000 + WINDOW_SECONDS).1, "a later moment");
        assert!(claim(&text, "a", "project", 900).1, "a clock that was set back");
        let garbage = claim("x\n\u{0}\n 1\n", "a", "user", 5);
        assert_eq!(garbage, ("5 a user\n".to_owned(), true));
    }

    #[test]
    fn the_file_stays_small() {
        let mut text = String::new();
        for n in 0..300 {
            text = claim(&text, &n.to_string(), "user", 1000).0;
        }
        assert_eq!(text.lines().count(), MAX_LINES);
        assert!(text.ends_with("1000 299 user\n"));
    }
}
