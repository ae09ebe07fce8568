//! One brief per moment of a conversation: hooks can be installed for the user and for a project, and
//! the client then runs both at once, also if their commands are equal.

use std::path::Path;

use memoranda_engine::{clock, hash};

use super::{HookEvent, HookRun};
use crate::files;

/// File in the state folder with the last briefs, one line each: time in seconds and key.
const FILE: &str = "briefs";
/// File in the state folder with the last checkpoints on servers.
const CHECKPOINT_FILE: &str = "server-checkpoints";
/// Time in seconds in which a second hook of the same moment stays silent. It is longer than a busy
/// machine takes to start both, and shorter than a person takes to come back to a conversation.
const WINDOW_SECONDS: i64 = 10;
/// Maximum number of lines in the file.
const MAX_LINES: usize = 100;

/// Claims a brief. Returns false if another hook has given it. An unwritable state folder does not
/// cost the brief.
pub(super) fn claim(run: &HookRun, home: &Path, state: &Path) -> bool {
    let gives_brief = matches!(run.event, HookEvent::SessionStart | HookEvent::Prompt);
    if !gives_brief || run.input.session.is_empty() {
        return true;
    }
    claim_once(&state.join(FILE), claim_key(run, home), WINDOW_SECONDS)
}

/// Claims a checkpoint of a running conversation on a server. Returns false if one was kept within
/// the time, in seconds.
pub(super) fn claim_checkpoint(run: &HookRun, server: &str, state: &Path, within: i64) -> bool {
    let key = [server, run.client.name(), &run.input.session].join("\0");
    claim_once(&state.join(CHECKPOINT_FILE), hash(key.as_bytes()).to_string(), within)
}

fn claim_once(path: &Path, key: String, window: i64) -> bool {
    let claim = BriefClaim { key, time: clock::now().as_second(), window };
    files::update_locked(path, |text| claim.add_to(text)).unwrap_or(true)
}

/// A brief of one moment.
struct BriefClaim {
    key: String,
    /// In seconds.
    time: i64,
    /// Time for which it holds, in seconds.
    window: i64,
}

/// Identifies a moment of a conversation: the start after a compaction is another than the first.
fn claim_key(run: &HookRun, home: &Path) -> String {
    let parts = [
        home.to_string_lossy().into_owned(),
        run.client.name().to_owned(),
        run.input.session.clone(),
        run.input
            .folder
            .as_ref()
            .map(|folder| folder.to_string_lossy().into_owned())
            .unwrap_or_default(),
        run.event.name().to_owned(),
        run.input.reason.clone().unwrap_or_default(),
        run.input.prompt.clone().unwrap_or_default(),
    ];
    hash(parts.join("\0").as_bytes()).to_string()
}

impl BriefClaim {
    /// Returns the new text of the file, and true unless the brief was given already.
    fn add_to(&self, text: &str) -> (String, bool) {
        let fields = |line: &str| -> Option<(i64, String)> {
            let mut fields = line.split(' ');
            Some((fields.next()?.parse().ok()?, fields.next()?.to_owned()))
        };
        let is_recent = |time: i64| (0..self.window).contains(&(self.time - time));
        let lines = text.lines().filter_map(fields).filter(|(time, _)| is_recent(*time));
        let mut lines: Vec<(i64, String)> = lines.collect();
        let is_given = lines.iter().any(|(_, key)| *key == self.key);
        if !is_given {
            lines.push((self.time, self.key.clone()));
        }
        let first = lines.len().saturating_sub(MAX_LINES);
        let kept = lines.iter().skip(first);
        (kept.map(|(time, key)| format!("{time} {key}\n")).collect(), !is_given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(text: &str, key: &str, time: i64) -> (String, bool) {
        BriefClaim { key: key.to_owned(), time, window: WINDOW_SECONDS }.add_to(text)
    }

    #[test]
    fn the_second_hook_of_a_moment_is_silent() {
        let (text, first) = claim("", "a", 1000);
        let (text, second) = claim(&text, "a", 1001);
        let (text, other) = claim(&text, "b", 1001);
        assert_eq!((first, second, other), (true, false, true));
        assert_eq!(text, "1000 a\n1001 b\n");
        assert!(!claim(&text, "a", 999 + WINDOW_SECONDS).1, "a slow hook");
        assert!(claim(&text, "a", 1000 + WINDOW_SECONDS).1, "a later moment");
        assert!(claim(&text, "a", 900).1, "a clock that was set back");
        let garbage = claim("x\n\u{0}\n 1\n", "a", 5);
        assert_eq!(garbage, ("5 a\n".to_owned(), true));
    }

    #[test]
    fn the_file_stays_small() {
        let mut text = String::new();
        for n in 0..300 {
            text = claim(&text, &n.to_string(), 1000).0;
        }
        assert_eq!(text.lines().count(), MAX_LINES);
        assert!(text.ends_with("1000 299\n"));
    }
}
