//! Parses and formats times: the local zone, relative times, and points in the history.

use std::path::Path;
use std::sync::OnceLock;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit, Zoned};
use memoranda_engine::core::timeframe::{self, parse_timeframe};
use memoranda_engine::{Memory, PointInTime, clock};

use crate::error::{CommandError, Result};
use crate::{env, files};

/// Returns the local time zone.
pub(crate) fn zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| linked_zone().unwrap_or_else(TimeZone::system)).clone()
}

/// Reads the zone from the target of `/etc/localtime`. A lookup by name would walk the whole time
/// zone database.
fn linked_zone() -> Option<TimeZone> {
    const LINK: &str = "/etc/localtime";
    if env::TZ.text().is_some() {
        return None;
    }
    let target = files::link_target(Path::new(LINK))?;
    let (_, name) = target.to_str()?.rsplit_once("/zoneinfo/")?;
    TimeZone::tzif(name, &files::read(Path::new(LINK)).ok()?).ok()
}

/// Returns the current time in the local zone.
pub(crate) fn now() -> Zoned {
    clock::now().to_zoned(zone())
}

/// Parses a time such as `7d`, `yesterday` or `2026-01-31`.
pub(crate) fn parse(text: &str) -> Result<Timestamp> {
    parse_timeframe(text, &now()).map_err(|e| CommandError::usage(e.to_string()))
}

/// Parses an optional time.
pub(crate) fn parse_some(text: Option<&str>) -> Result<Option<Timestamp>> {
    text.map(parse).transpose()
}

/// Parses an optional end time; a day ends at midnight.
pub(crate) fn parse_until(text: Option<&str>) -> Result<Option<Timestamp>> {
    let read = |text| timeframe::parse_until(text, &now());
    text.map(read).transpose().map_err(|e| CommandError::usage(e.to_string()))
}

/// Parses a commit or a time.
pub(crate) fn parse_point_in_time(memory: &Memory, text: &str) -> Result<PointInTime> {
    // Four digits are a year, even if a commit id starts with them.
    let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let missing = match memory.commit(text) {
        Ok(commit) if !is_year => return Ok(PointInTime::Commit(commit.id)),
        Ok(_) => None,
        Err(e) => Some(e),
    };
    match (parse_timeframe(text, &now()), missing) {
        (Ok(time), _) => Ok(PointInTime::Time(time)),
        (Err(_), Some(missing)) if looks_like_commit(text) => Err(missing.into()),
        (Err(e), _) => Err(CommandError::usage(format!("{e}, or a commit"))
            .hint("`memoranda log` lists the commits")),
    }
}

/// Returns true if a text can only be a prefix of a commit id.
pub(crate) fn looks_like_commit(text: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_digit() || (byte.is_ascii_lowercase() && !b"ilou".contains(&byte));
    (4..=12).contains(&text.len()) && text.bytes().all(fits)
}

/// Formats a time relative to now, or as a date if it is long ago.
pub(crate) fn ago(time: Timestamp, now: &Zoned) -> String {
    let seconds = now.timestamp().as_second() - time.as_second();
    match seconds {
        ..-60 => local(time),
        -60..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        86_400..2_592_000 => format!("{} d ago", seconds / 86_400),
        _ => time.to_zoned(now.time_zone().clone()).date().to_string(),
    }
}

/// Formats a time in the local zone, to the minute.
pub(crate) fn local(time: Timestamp) -> String {
    let zoned = time.to_zoned(zone());
    let zoned = zoned.round(Unit::Second).unwrap_or(zoned);
    zoned.strftime("%Y-%m-%d %H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_spans() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let now = now.to_zoned(TimeZone::UTC);
        for (then, expected) in [
            ("2026-03-10T11:59:30Z", "just now"),
            ("2026-03-10T11:50:00Z", "10 min ago"),
            ("2026-03-10T09:59:00Z", "2 h ago"),
            ("2026-03-07T12:00:00Z", "3 d ago"),
            ("2026-01-01T12:00:00Z", "2026-01-01"),
        ] {
            assert_eq!(ago(then.parse().unwrap(), &now), expected);
        }
    }

    #[test]
    fn the_zone_is_the_one_that_the_system_names() {
        let time: Timestamp = "2026-07-10T12:00:00Z".parse().unwrap();
        let system = TimeZone::system();
        assert_eq!(zone().to_offset(time), system.to_offset(time));
        if let Some(zone) = linked_zone() {
            assert_eq!(zone.iana_name(), system.iana_name());
        }
    }

    #[test]
    fn commits_are_told_from_words() {
        for (text, expected) in [
            ("abcd", true),
            ("0123456789ab", true),
            ("abc", false),
            ("note", false),
            ("a.md", false),
        ] {
            assert_eq!(looks_like_commit(text), expected, "{text}");
        }
    }
}
