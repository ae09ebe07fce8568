//! The file of a reminder, and the runs that are due.
//!
//! The file contains the time of the last run (`since`), not the time of the next one. Due runs are
//! computed from `since`, the cron expression and the clock. So a changed expression or time zone
//! needs no update of the file. `not_before` delays the first run.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use memoranda_core::cron::CronExpression;
use memoranda_core::note;

/// Maximum number of missed runs that are counted.
pub const MAX_COUNTED_RUNS: usize = 1000;
/// Maximum distance of `since` in the future. A larger distance means that the clock was wrong.
const MAX_CLOCK_SKEW: SignedDuration = SignedDuration::from_hours(1);

/// Runs that were not acknowledged yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DueRuns {
    /// Time of the first run.
    pub since: Timestamp,
    /// Number of runs.
    pub runs: usize,
}

/// The parsed file of a reminder.
pub(super) struct ReminderFile {
    pub(super) cron: String,
    pub(super) enabled: bool,
    since: Timestamp,
    not_before: Option<Timestamp>,
    created: Timestamp,
    pub(super) message: String,
}

impl ReminderFile {
    /// Builds a reminder from its frontmatter keys.
    pub(super) fn from_keys(
        text: impl Fn(&str) -> Option<String>,
        created: Timestamp,
        zone: &TimeZone,
        message: &str,
    ) -> Self {
        let time = |key: &str| text(key).and_then(|text| parse_time(&text, zone));
        Self {
            cron: text("cron").unwrap_or_default(),
            enabled: is_enabled(text("enabled").as_deref()),
            since: time("since").unwrap_or(created),
            not_before: time("not_before"),
            created,
            message: message.trim().to_owned(),
        }
    }

    /// Parses the text of a file.
    pub(super) fn parse_file(text: &str, created: Timestamp, zone: &TimeZone) -> Self {
        let note = note::parse(text);
        let message = text.get(note.body.clone()).unwrap_or_default();
        Self::from_keys(|key| note.frontmatter.text(key), created, zone, message)
    }

    /// Returns the runs that were not acknowledged.
    pub(super) fn due(
        &self,
        cron: &CronExpression,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Option<DueRuns> {
        if self.since.duration_since(now) > MAX_CLOCK_SKEW {
            return self.due_by_wrong_clock(cron, now, zone);
        }
        let since = self.earliest().map_or(self.since, |earliest| earliest.max(self.since));
        let (since, runs) = cron.due_between(since, now, zone, MAX_COUNTED_RUNS)?;
        Some(DueRuns { since, runs })
    }

    /// Returns the last run before now. A `since` that was written by a wrong clock must not silence
    /// a reminder for years, so its last run is due until it is acknowledged.
    fn due_by_wrong_clock(
        &self,
        cron: &CronExpression,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Option<DueRuns> {
        const DAYS: [i64; 5] = [1, 8, 32, 367, 3000];
        let begin = self.earliest().into_iter().chain([self.created]).max().unwrap_or(now);
        let last = DAYS.iter().find_map(|days| {
            let from = now.checked_sub(SignedDuration::from_hours(24 * days)).ok()?;
            // A creation time in the future was written by the wrong clock too.
            let from = if begin > now { from } else { from.max(begin) };
            let mut last = None;
            let mut next = cron.next_after(from, zone);
            while let Some(time) = next.filter(|time| *time <= now) {
                last = Some(time);
                next = cron.next_after(time, zone);
            }
            last
        });
        let last = last.filter(|last| self.earliest().is_none_or(|earliest| *last > earliest))?;
        Some(DueRuns { since: last, runs: 1 })
    }

    /// Returns the instant after which runs count.
    fn earliest(&self) -> Option<Timestamp> {
        self.not_before.and_then(|time| time.checked_sub(SignedDuration::from_secs(1)).ok())
    }

    /// Returns the next run.
    pub(super) fn next(
        &self,
        cron: &CronExpression,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Option<Timestamp> {
        cron.next_after(self.earliest().map_or(now, |earliest| earliest.max(now)), zone)
    }
}

fn is_enabled(enabled: Option<&str>) -> bool {
    !enabled.is_some_and(|text| {
        matches!(text.trim().to_lowercase().as_str(), "false" | "no" | "off" | "0")
    })
}

/// Parses a time, or the start of a day in the local time zone.
fn parse_time(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    let day = || text.parse::<Date>().ok()?.to_zoned(zone.clone()).ok();
    text.parse().ok().or_else(|| Some(day()?.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_follows_from_the_clock() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let written =
            |cron: &str, since: &str, not_before: Option<&str>, created: &str| ReminderFile {
                cron: cron.to_owned(),
                enabled: true,
                since: time(since),
                not_before: not_before.map(time),
                created: time(created),
                message: String::new(),
            };
        let due = |written: &ReminderFile, now: &str| {
            let cron = CronExpression::parse(&written.cron).unwrap();
            written.due(&cron, time(now), &TimeZone::UTC)
        };
        let made = "2025-01-01T00:00:00Z";
        for (since, now, expected) in [
            ("2026-01-01T09:00:00Z", "2026-01-02T08:59:59Z", None),
            ("2026-01-01T09:00:00Z", "2026-01-02T09:00:00Z", Some(("2026-01-02T09:00:00Z", 1))),
            // A week away: one reminder with the number of missed runs.
            ("2026-01-01T09:00:00Z", "2026-01-08T10:00:00Z", Some(("2026-01-02T09:00:00Z", 7))),
            // The clock was set back a little: a run is not repeated.
            ("2026-01-02T09:00:05Z", "2026-01-02T08:59:50Z", None),
            ("2026-01-02T09:00:05Z", "2026-01-02T09:00:00Z", None),
            // The clock was years ahead when it ran: the last run counts, once.
            ("2099-01-01T00:00:00Z", "2026-01-02T10:00:00Z", Some(("2026-01-02T09:00:00Z", 1))),
        ] {
            let found = due(&written("0 9 * * *", since, None, made), now);
            let expected = expected.map(|(since, runs)| DueRuns { since: time(since), runs });
            assert_eq!(found, expected, "{since} {now}");
        }
        // The last run counts even if it is long ago, unless the reminder is newer.
        let ahead = "2099-01-01T00:00:00Z";
        for (cron, made, now, expected) in [
            ("0 9 * * 1", made, "2026-01-07T10:00:00Z", Some("2026-01-05T09:00:00Z")),
            ("0 9 1 * *", made, "2026-01-31T10:00:00Z", Some("2026-01-01T09:00:00Z")),
            ("0 9 1 7 *", made, "2026-06-30T10:00:00Z", Some("2025-07-01T09:00:00Z")),
            ("0 9 1 7 *", "2025-08-01T00:00:00Z", "2026-06-30T10:00:00Z", None),
            ("0 9 * * *", ahead, "2026-01-02T10:00:00Z", Some("2026-01-02T09:00:00Z")),
            ("* * * * *", made, "2026-01-02T10:00:30Z", Some("2026-01-02T10:00:00Z")),
        ] {
            let found = due(&written(cron, ahead, None, made), now);
            assert_eq!(found.map(|due| due.since), expected.map(time), "{cron} {made} {now}");
        }
        // `not_before` delays the first run.
        for (since, now, expected) in [
            (made, "2026-03-01T08:59:00Z", None),
            (made, "2026-03-01T09:00:00Z", Some(("2026-03-01T09:00:00Z", 1))),
            (made, "2026-03-02T09:00:00Z", Some(("2026-03-01T09:00:00Z", 2))),
            ("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", None),
            (ahead, "2026-02-01T10:00:00Z", None),
            (ahead, "2026-03-02T10:00:00Z", Some(("2026-03-02T09:00:00Z", 1))),
        ] {
            let later = written("0 9 * * *", since, Some("2026-03-01T09:00:00Z"), made);
            let expected = expected.map(|(since, runs)| DueRuns { since: time(since), runs });
            assert_eq!(due(&later, now), expected, "{since} {now}");
            let next = later.next(
                &CronExpression::parse("0 9 * * *").unwrap(),
                time(made),
                &TimeZone::UTC,
            );
            assert_eq!(next, Some(time("2026-03-01T09:00:00Z")));
        }
        for (text, expected) in [(None, true), (Some("yes"), true), (Some(" False"), false)] {
            assert_eq!(is_enabled(text), expected, "{text:?}");
        }
    }
}
