//! When a record stops being true.

use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;
use jiff::{Timestamp, Zoned};
use memoranda_core::timeframe::parse_timeframe;

/// When a record stops being true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expiry {
    /// With the end of a day, by the person's clock.
    With(Date),
    /// At a moment, told by a clock of this offset.
    At(Timestamp, Offset),
}

impl From<Timestamp> for Expiry {
    fn from(at: Timestamp) -> Self {
        Self::At(at, Offset::UTC)
    }
}

impl From<&Zoned> for Expiry {
    fn from(zoned: &Zoned) -> Self {
        Self::At(zoned.timestamp(), zoned.offset())
    }
}

/// Why a text is no expiry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BadExpiry {
    /// It names no time.
    NoTime,
    /// It is over already.
    Past,
}

impl Expiry {
    /// Reads what a file says: a time, or a day.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        moment(text).or_else(|| day(text))
    }

    /// Reads what a caller says: a time, a day, or a span from now.
    pub(super) fn parse(text: &str, now: &Zoned) -> Result<Self, BadExpiry> {
        let expiry = ahead(text.trim(), now).ok_or(BadExpiry::NoTime)?;
        if expiry.is_over(now) { Err(BadExpiry::Past) } else { Ok(expiry) }
    }

    /// Whether it is over.
    pub(super) fn is_over(self, now: &Zoned) -> bool {
        match self {
            Self::With(day) => day < now.date(),
            Self::At(at, _) => at <= now.timestamp(),
        }
    }

    /// The day, by the clock that it was told by.
    pub(super) fn day(self) -> Date {
        match self {
            Self::With(day) => day,
            Self::At(at, offset) => offset.to_datetime(at).date(),
        }
    }

    /// As a file keeps it.
    pub(super) fn stated(self) -> String {
        match self {
            Self::With(day) => day.to_string(),
            Self::At(at, Offset::UTC) => at.to_string(),
            Self::At(at, offset) => at.display_with_offset(offset).to_string(),
        }
    }
}

/// A time with a zone or an offset.
fn moment(text: &str) -> Option<Expiry> {
    let at = text.parse().ok()?;
    let offset = Pieces::parse(text).ok().and_then(|pieces| pieces.to_numeric_offset());
    Some(Expiry::At(at, offset.unwrap_or(Offset::UTC)))
}

/// A day without a time.
fn day(text: &str) -> Option<Expiry> {
    let is_day = !text.contains([':', 'T', 't']);
    is_day.then(|| text.parse().ok().map(Expiry::With)).flatten()
}

fn ahead(text: &str, now: &Zoned) -> Option<Expiry> {
    if let Some(told) = Expiry::read(text) {
        return Some(told);
    }
    if let Ok(time) = text.parse::<DateTime>() {
        return Some(Expiry::from(&time.to_zoned(now.time_zone().clone()).ok()?));
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    match words.as_slice() {
        ["today"] => Some(Expiry::With(now.date())),
        ["tomorrow"] => now.date().tomorrow().ok().map(Expiry::With),
        ["in", rest @ ..] => span(rest, now),
        ["next", unit] => span(&["1", unit], now),
        rest => span(rest, now),
    }
}

/// A span from now, such as `7d` or `two weeks`. Spans are understood as lying behind; what can
/// only lie behind is none.
fn span(words: &[&str], now: &Zoned) -> Option<Expiry> {
    const BEHIND: [&str; 6] = ["ago", "last", "past", "this", "since", "yesterday"];
    let is_count =
        words.len() == 2 || matches!(words, [one] if one.starts_with(|c: char| c.is_ascii_digit()));
    if !is_count || words.iter().any(|word| BEHIND.contains(word)) {
        return None;
    }
    let back = parse_timeframe(&words.join(" "), now).ok()?;
    let length = now.timestamp().duration_since(back);
    let ahead = now.timestamp().checked_add(length).ok().filter(|_| length.is_positive())?;
    Some(Expiry::from(&ahead.to_zoned(now.time_zone().clone())))
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    fn at(time: &str, hours: i8) -> Zoned {
        let time: Timestamp = time.parse().unwrap();
        time.to_zoned(TimeZone::fixed(Offset::constant(hours)))
    }

    #[test]
    fn what_people_say_lies_ahead_and_ends_with_their_day() {
        let here = at("2026-06-10T20:00:00Z", -5);
        for (text, expected) in [
            ("2026-12-31", Ok("2026-12-31")),
            ("2026-06-10", Ok("2026-06-10")),
            ("today", Ok("2026-06-10")),
            ("Tomorrow", Ok("2026-06-11")),
            ("7d", Ok("2026-06-17T15:00:00-05:00")),
            ("in 12h", Ok("2026-06-11T03:00:00-05:00")),
            ("two weeks", Ok("2026-06-24T15:00:00-05:00")),
            ("next week", Ok("2026-06-17T15:00:00-05:00")),
            ("2026-07-01T12:00", Ok("2026-07-01T12:00:00-05:00")),
            ("2026-07-01T12:00:00Z", Ok("2026-07-01T12:00:00Z")),
            ("2026-07-01T12:00:00+02:00", Ok("2026-07-01T12:00:00+02:00")),
            ("yesterday", Err(BadExpiry::NoTime)),
            ("7 days ago", Err(BadExpiry::NoTime)),
            ("last week", Err(BadExpiry::NoTime)),
            ("monday", Err(BadExpiry::NoTime)),
            ("soon", Err(BadExpiry::NoTime)),
            ("", Err(BadExpiry::NoTime)),
            ("2020-01-01", Err(BadExpiry::Past)),
            ("2026-06-09", Err(BadExpiry::Past)),
            ("2026-06-10T19:00:00Z", Err(BadExpiry::Past)),
        ] {
            let found = Expiry::parse(text, &here).map(Expiry::stated);
            assert_eq!(found, expected.map(str::to_owned), "{text}");
            if let Ok(stated) = found {
                let day = Expiry::read(&stated).unwrap().day().to_string();
                assert_eq!(day, stated[..10], "{text}: what is kept shows the same day");
            }
        }
    }

    #[test]
    fn a_day_is_over_when_it_is_over_for_the_person() {
        let day = Expiry::read(" 2026-12-31 ").unwrap();
        assert_eq!(day.day().to_string(), "2026-12-31");
        for (time, hours, expected) in [
            ("2026-12-31T23:00:00Z", 0, false),
            ("2027-01-01T00:00:00Z", 0, true),
            ("2027-01-01T04:00:00Z", -5, false),
            ("2026-12-31T20:00:00Z", 9, true),
        ] {
            assert_eq!(day.is_over(&at(time, hours)), expected, "{time} {hours}");
        }
        assert_eq!(Expiry::read("whenever"), None);
    }
}
