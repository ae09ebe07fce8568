//! One brief per moment of a conversation: hooks can be installed for the user and for a project, and
//! the client then runs both at once. A repeated moment is told from that by time: its hook starts when
//! the one before it has answered.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memoranda_engine::{clock, hash};

use super::{HookEvent, HookRun};
use crate::{env, files};

/// File in the state folder with the last briefs, one line each: time in milliseconds, key, command,
/// and the time of the answer or `-`.
const FILE: &str = "briefs";
/// Time in milliseconds in which a second hook of the same moment stays silent.
const WINDOW_MS: i64 = 20_000;
/// Maximum number of lines in the file.
const MAX_LINES: usize = 100;

/// A brief that this process gives.
pub(super) struct ClaimedBrief {
    /// The file of the claim and the claim itself; `None` if nothing is claimed at this moment.
    claim: Option<(PathBuf, BriefClaim)>,
}

/// Claims a brief for a process that was started at a time. Returns `None` if another hook gives it. An
/// unwritable state folder does not cost the brief.
pub(super) fn claim(
    run: &HookRun,
    home: &Path,
    state: &Path,
    started: Timestamp,
) -> Option<ClaimedBrief> {
    let gives_brief = matches!(run.event, HookEvent::SessionStart | HookEvent::Prompt);
    if !gives_brief || run.input.session.is_empty() {
        return Some(ClaimedBrief { claim: None });
    }
    let claim = BriefClaim {
        key: claim_key(run, home),
        command: hash(env::hook_command().as_bytes()).to_string(),
        time_ms: clock::now().as_millisecond(),
        answered_ms: None,
    };
    let path = state.join(FILE);
    let started_ms = started.as_millisecond();
    let is_ours =
        files::update_locked(&path, |text| claim.add_to(text, started_ms)).unwrap_or(true);
    is_ours.then_some(ClaimedBrief { claim: Some((path, claim)) })
}

impl ClaimedBrief {
    /// Records that the brief was given: a hook that starts later is of another moment.
    pub(super) fn answered(self) {
        let Some((path, mut claim)) = self.claim else { return };
        claim.answered_ms = Some(clock::now().as_millisecond());
        files::update_locked(&path, |text| (claim.replace_in(text), ())).ok();
    }
}

/// A brief of one moment, by the command of one installed hook.
#[derive(Clone, PartialEq, Eq, Debug)]
struct BriefClaim {
    time_ms: i64,
    key: String,
    command: String,
    /// When the brief was given; `None` while its process works.
    answered_ms: Option<i64>,
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
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(' ');
        let time_ms = fields.next()?.parse().ok()?;
        let (key, command) = (fields.next()?.to_owned(), fields.next()?.to_owned());
        Some(Self { time_ms, key, command, answered_ms: fields.next()?.parse().ok() })
    }

    fn render(&self) -> String {
        let answered = self.answered_ms.map_or_else(|| "-".to_owned(), |time| time.to_string());
        format!("{} {} {} {answered}\n", self.time_ms, self.key, self.command)
    }

    /// Returns the new text of the file, and true unless another hook gives the brief: one with another
    /// command, or one that had not answered when this process, started at `started_ms`, began.
    fn add_to(&self, text: &str, started_ms: i64) -> (String, bool) {
        let is_recent = |other: &Self| (0..WINDOW_MS).contains(&(self.time_ms - other.time_ms));
        let mut claims: Vec<Self> =
            text.lines().filter_map(Self::parse).filter(is_recent).collect();
        let is_given = claims.iter().filter(|other| other.key == self.key).any(|other| {
            other.command != self.command || other.answered_ms.is_none_or(|time| started_ms <= time)
        });
        if !is_given {
            claims.retain(|other| other.key != self.key);
            claims.push(self.clone());
        }
        let first = claims.len().saturating_sub(MAX_LINES);
        (claims.iter().skip(first).map(Self::render).collect(), !is_given)
    }

    /// Returns the text of the file with this claim in the place of its earlier state.
    fn replace_in(&self, text: &str) -> String {
        let claims = text.lines().filter_map(Self::parse);
        let same = |other: &Self| other.key == self.key && other.time_ms == self.time_ms;
        claims.map(|other| if same(&other) { self.render() } else { other.render() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a claim by a process that was started 5 ms before.
    fn claim(text: &str, key: &str, command: &str, time_ms: i64) -> (String, bool) {
        let (key, command) = (key.to_owned(), command.to_owned());
        BriefClaim { time_ms, key, command, answered_ms: None }.add_to(text, time_ms - 5)
    }

    fn answered(text: &str, time_ms: i64, answered_ms: i64) -> String {
        let claims = text.lines().filter_map(BriefClaim::parse);
        let mut claim = claims.into_iter().find(|claim| claim.time_ms == time_ms).unwrap();
        claim.answered_ms = Some(answered_ms);
        claim.replace_in(text)
    }

    #[test]
    fn the_second_hook_of_a_moment_is_silent() {
        let (text, first) = claim("", "a", "user", 10_000);
        let (text, second) = claim(&text, "a", "project", 10_001);
        let (text, other) = claim(&text, "b", "project", 10_002);
        assert_eq!((first, second, other), (true, false, true));
        assert_eq!(text, "10000 a user -\n10002 b project -\n");
        let text = answered(&text, 10_000, 10_100);
        assert_eq!(text, "10000 a user 10100\n10002 b project -\n");
        assert!(!claim(&text, "a", "project", 10_200).1, "a slow hook of the other scope");
        assert!(claim(&text, "a", "project", 10_000 + WINDOW_MS).1, "a later moment");
        assert!(claim(&text, "a", "project", 9_000).1, "a clock that was set back");
        let garbage = claim("x\n\u{0}\n 1\n", "a", "user", 5);
        assert_eq!(garbage, ("5 a user -\n".to_owned(), true));
    }

    #[test]
    fn equal_commands_of_two_scopes_are_told_from_a_repeated_moment() {
        let (text, _) = claim("", "a", "same", 10_000);
        assert!(!claim(&text, "a", "same", 10_002).1, "the first has not answered yet");
        let text = answered(&text, 10_000, 10_100);
        assert!(!claim(&text, "a", "same", 10_103).1, "it was started before the first answered");
        assert!(claim(&text, "a", "same", 10_110).1, "it was started after the first answered");
    }

    #[test]
    fn the_file_stays_small() {
        let mut text = String::new();
        for n in 0..300 {
            text = claim(&text, &n.to_string(), "user", 1000).0;
        }
        assert_eq!(text.lines().count(), MAX_LINES);
        assert!(text.ends_with("1000 299 user -\n"));
    }
}
