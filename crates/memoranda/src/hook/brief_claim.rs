//! One brief per moment of a conversation: hooks can be installed for the user and for a project, and
//! the client then runs both.

use std::path::Path;

use memoranda_engine::{clock, hash};

use super::{HookEvent, HookRun};
use crate::files;

/// File in the state folder with the last briefs, one line each: time in seconds and key.
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
    let key = claim_key(run, home);
    let now = clock::now().as_second();
    let path = state.join(FILE);
    files::update_locked(&path, |text| claimed(text, &key, now)).unwrap_or(true)
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

/// Returns the new text of the file, and true if the brief was not claimed before.
fn claimed(text: &str, key: &str, now: i64) -> (String, bool) {
    let is_recent = |line: &&str| {
        let time = line.split_once(' ').and_then(|(time, _)| time.parse::<i64>().ok());
        time.is_some_and(|time| (0..WINDOW_SECONDS).contains(&(now - time)))
    };
    let mut lines: Vec<String> = text.lines().filter(is_recent).map(str::to_owned).collect();
    let is_new =
        !lines.iter().any(|line| line.split_once(' ').is_some_and(|(_, known)| known == key));
    if is_new {
        lines.push(format!("{now} {key}"));
    }
    let first = lines.len().saturating_sub(MAX_LINES);
    let mut text = lines.split_off(first).join("\n");
    text.push('\n');
    (text, is_new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_hook_of_a_moment_is_silent() {
        let (text, first) = claimed("", "a", 1000);
        let (text, second) = claimed(&text, "a", 1001);
        let (text, other) = claimed(&text, "b", 1001);
        assert_eq!((first, second, other), (true, false, true));
        assert_eq!(text, "1000 a\n1001 b\n");
        assert!(claimed(&text, "a", 1000 + WINDOW_SECONDS).1, "a later start of the same kind");
        assert!(claimed(&text, "a", 900).1, "a clock that was set back");
        let garbage = claimed("x\n\u{0}\n 1\n", "a", 5);
        assert_eq!(garbage, ("5 a\n".to_owned(), true));
    }

    #[test]
    fn the_file_stays_small() {
        let mut text = String::new();
        for n in 0..300 {
            text = claimed(&text, &n.to_string(), 1000).0;
        }
        assert_eq!(text.lines().count(), MAX_LINES);
        assert!(text.ends_with("1000 299\n"));
    }
}
