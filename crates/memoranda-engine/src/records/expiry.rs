//! Expiry of records.

use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;
use jiff::{Timestamp, Zoned};
use memoranda_core::timeframe::parse_timeframe;

/// The time when a record stops being valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordExpiry {
    /// The end of a day, in the local time zone.
    EndOfDay(Date),
    /// An instant, with the offset in which it was given.
    AtTime(Timestamp, Offset),
}

impl From<Timestamp> for RecordExpiry {
    fn from(at: Timestamp) -> Self {
        Self::AtTime(at, Offset::UTC)
    }
}

impl From<&Zoned> for RecordExpiry {
    fn from(zoned: &Zoned) -> Self {
        Self::AtTime(zoned.timestamp(), zoned.offset())
    }
}

/// A text that is not a valid expiry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpiryError {
    /// The text contains no time.
    NoTime,
    /// The time has passed.
    Past,
}

impl RecordExpiry {
    /// Parses the value of a file: a time, or a day.
    pub(super) fn parse_stored(text: &str) -> Option<Self> {
        let text = text.trim();
        parse_time(text).or_else(|| parse_day(text))
    }

    /// Parses the input of a caller: a time, a day, or a span from now.
    pub fn parse_input(text: &str, now: &Zoned) -> Result<Self, ExpiryError> {
        let expiry = parse_ahead(text.trim(), now).ok_or(ExpiryError::NoTime)?;
        if expiry.is_over(now) { Err(ExpiryError::Past) } else { Ok(expiry) }
    }

    /// Returns true if the record has expired.
    pub(super) fn is_over(self, now: &Zoned) -> bool {
        match self {
            Self::EndOfDay(day) => day < now.date(),
            Self::AtTime(at, _) => at <= now.timestamp(),
        }
    }

    /// Returns the day of the expiry, in the offset in which it was given.
    pub fn day(self) -> Date {
        match self {
            Self::EndOfDay(day) => day,
            Self::AtTime(at, offset) => offset.to_datetime(at).date(),
        }
    }

    /// Formats the expiry as files contain it.
    pub fn to_stored_text(self) -> String {
        match self {
            Self::EndOfDay(day) => day.to_string(),
            Self::AtTime(at, Offset::UTC) => at.to_string(),
            Self::AtTime(at, offset) => at.display_with_offset(offset).to_string(),
        }
    }
}

/// Parses a time with a zone or an offset.
fn parse_time(text: &str) -> Option<RecordExpiry> {
    let at = text.parse().ok()?;
    let offset = Pieces::parse(text).ok().and_then(|pieces| pieces.to_numeric_offset());
    Some(RecordExpiry::AtTime(at, offset.unwrap_or(Offset::UTC)))
}

/// Parses a day without a time.
fn parse_day(text: &str) -> Option<RecordExpiry> {
    let is_day = !text.contains([':', 'T', 't']);
    is_day.then(|| text.parse().ok().map(RecordExpiry::EndOfDay)).flatten()
}

fn parse_ahead(text: &str, now: &Zoned) -> Option<RecordExpiry> {
    if let Some(expiry) = RecordExpiry::parse_stored(text) {
        return Some(expiry);
    }
    if let Ok(time) = text.parse::<DateTime>() {
        return Some(RecordExpiry::from(&time.to_zoned(now.time_zone().clone()).ok()?));
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    match words.as_slice() {
        ["today"] => Some(RecordExpiry::EndOfDay(now.date())),
        ["tomorrow"] => now.date().tomorrow().ok().map(RecordExpiry::EndOfDay),
        ["in", rest @ ..] => parse_span(rest, now),
        ["next", unit] => parse_span(&["1", unit], now),
        rest => parse_span(rest, now),
    }
}

/// Parses a span from now, such as `7d` or `two weeks`. `parse_timeframe` reads a span as past, so
/// words that can only mean the past are rejected.
fn parse_span(words: &[&str], now: &Zoned) -> Option<RecordExpiry> {
    const PAST_WORDS: [&str; 6] = ["ago", "last", "past", "this", "since", "yesterday"];
    let is_count =
        words.len() == 2 || matches!(words, [one] if one.starts_with(|c: char| c.is_ascii_digit()));
    if !is_count || words.iter().any(|word| PAST_WORDS.contains(word)) {
        return None;
    }
    let back = parse_timeframe(&words.join(" "), now).ok()?;
    let length = now.timestamp().duration_since(back);
    let ahead = now.timestamp().checked_add(length).ok().filter(|_| length.is_positive())?;
    Some(RecordExpiry::from(&ahead.to_zoned(now.time_zone().clone())))
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
            ("yesterday", Err(ExpiryError::NoTime)),
            ("7 days ago", Err(ExpiryError::NoTime)),
            ("last week", Err(ExpiryError::NoTime)),
            ("monday", Err(ExpiryError::NoTime)),
            ("soon", Err(ExpiryError::NoTime)),
            ("", Err(ExpiryError::NoTime)),
            ("2020-01-01", Err(ExpiryError::Past)),
            ("2026-06-09", Err(ExpiryError::Past)),
            ("2026-06-10T19:00:00Z", Err(ExpiryError::Past)),
        ] {
            let found = RecordExpiry::parse_input(text, &here).map(RecordExpiry::to_stored_text);
            assert_eq!(found, expected.map(str::to_owned), "{text}");
            if let Ok(stated) = found {
                let day = RecordExpiry::parse_stored(&stated).unwrap().day().to_string();
                assert_eq!(day, stated[..10], "{text}: what is kept shows the same day");
            }
        }
    }

    #[test]
    fn a_day_is_over_when_it_is_over_for_the_person() {
        let day = RecordExpiry::parse_stored(" 2026-12-31 ").unwrap();
        assert_eq!(day.day().to_string(), "2026-12-31");
        for (time, hours, expected) in [
            ("2026-12-31T23:00:00Z", 0, false),
            ("2027-01-01T00:00:00Z", 0, true),
            ("2027-01-01T04:00:00Z", -5, false),
            ("2026-12-31T20:00:00Z", 9, true),
        ] {
            assert_eq!(day.is_over(&at(time, hours)), expected, "{time} {hours}");
        }
        assert_eq!(RecordExpiry::parse_stored("whenever"), None);
    }
}
