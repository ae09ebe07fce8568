//! Parses timeframes such as `7d`, `last month` or `2026-01-31`.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::{Span, Timestamp, ToSpan as _, Zoned};

/// Rejected timeframe.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{text:?} is not a time; give a span (`7d`, `3h`, `2 weeks`, `last month`), a day \
     (`today`, `yesterday`, `monday`, `this week`) or a date (`2026-01-31`, `2026-01`, \
     `2026-01-31T15:30:00Z`)"
)]
pub struct TimeframeError {
    /// Rejected text, cut to a printable length.
    pub text: String,
}

/// Returns the start of a timeframe, relative to `now` and in its time zone.
pub fn parse_timeframe(text: &str, now: &Zoned) -> Result<Timestamp, TimeframeError> {
    read(text, now).map(|(from, _)| from.timestamp())
}

/// Returns the last moment before the end of a timeframe: of the named day, week, month or year, or
/// the exact moment.
pub fn parse_until(text: &str, now: &Zoned) -> Result<Timestamp, TimeframeError> {
    let (from, length) = read(text, now)?;
    let next = length.and_then(|length| from.checked_add(length).ok());
    let last = next.and_then(|next| next.checked_sub(1.millisecond()).ok());
    Ok(last.unwrap_or(from).timestamp())
}

/// Returns the start of a timeframe, and its length if it is a calendar unit.
fn read(text: &str, now: &Zoned) -> Result<(Zoned, Option<Span>), TimeframeError> {
    let bad = || TimeframeError { text: text.chars().take(80).collect() };
    // Timeframes are short; lower-casing a huge text would waste time.
    if text.len() > 200 {
        return Err(bad());
    }
    let lower = text.trim().to_lowercase();
    let mut words: Vec<&str> = lower.split_whitespace().collect();
    if let Some(&"since" | &"after" | &"from") = words.first() {
        words.remove(0);
    }
    let plain = words.join(" ");
    // A timestamp with a zone is tried first: parsed as a civil time it would lose the zone.
    if let Ok(moment) = plain.to_uppercase().parse::<Timestamp>() {
        return Ok((moment.to_zoned(now.time_zone().clone()), None));
    }
    let back = || Some((now.checked_sub(ago(&words)?).ok()?, None));
    named(&words, now).or_else(|| date(&plain, now)).or_else(back).ok_or_else(bad)
}

/// Parses named days and calendar units.
fn named(words: &[&str], now: &Zoned) -> Option<(Zoned, Option<Span>)> {
    let today = now.date();
    let (first, length) = match words {
        ["now"] => return Some((now.clone(), None)),
        ["today"] => (today, 1.day()),
        ["yesterday"] => (today.yesterday().ok()?, 1.day()),
        ["this", "week"] => (today.checked_sub(monday_offset(today).days()).ok()?, 1.week()),
        ["this", "month"] => (today.first_of_month(), 1.month()),
        ["this", "year"] => (today.first_of_year(), 1.year()),
        ["last" | "on", day] | [day] => {
            let weekday = weekday(day)?;
            // The latest such day before today: a week ago if today is that weekday.
            (today.nth_weekday(-1, weekday).ok()?, 1.day())
        }
        _ => return None,
    };
    Some((first.to_zoned(now.time_zone().clone()).ok()?, Some(length)))
}

fn monday_offset(date: Date) -> i64 {
    i64::from(date.weekday().to_monday_zero_offset())
}

fn weekday(name: &str) -> Option<Weekday> {
    let days = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    days.into_iter().find(|&(day, _)| day == name).map(|(_, weekday)| weekday)
}

/// Parses a civil date or time, a month or a year, in the zone of `now`.
fn date(text: &str, now: &Zoned) -> Option<(Zoned, Option<Span>)> {
    let digits = |part: &str, count| {
        (part.len() == count).then_some(())?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<i16>().ok())?
    };
    let (civil, length) = match text.split_once('-') {
        None => (Date::new(digits(text, 4)?, 1, 1).ok()?.into(), Some(1.year())),
        Some((year, month)) if text.len() == 7 => {
            let month = i8::try_from(digits(month, 2)?).ok()?;
            (Date::new(digits(year, 4)?, month, 1).ok()?.into(), Some(1.month()))
        }
        Some(_) => {
            let is_day = text.len() == "2026-01-31".len();
            (text.to_uppercase().parse::<DateTime>().ok()?, is_day.then(|| 1.day()))
        }
    };
    Some((civil.to_zoned(now.time_zone().clone()).ok()?, length))
}

/// Parses a span before now: `7d`, `2 weeks ago`, `last month`, `past 3 days`, `an hour`.
fn ago(words: &[&str]) -> Option<Span> {
    let words = words.strip_suffix(&["ago"]).unwrap_or(words);
    let (words, is_last) = match words {
        ["the", "last" | "past", rest @ ..] | ["last" | "past", rest @ ..] => (rest, true),
        _ => (words, false),
    };
    let (count, unit) = match words {
        [unit] if is_last && count(unit).is_none() && !unit.starts_with(char::is_numeric) => {
            (1, *unit)
        }
        [joined] => {
            let end = joined.find(|c: char| !c.is_ascii_digit())?;
            let (number, unit) = joined.split_at(end);
            (number.parse().ok()?, unit)
        }
        [number, unit] => (count(number)?, *unit),
        _ => return None,
    };
    span(count, unit)
}

fn count(word: &str) -> Option<i64> {
    const NUMBERS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    match word {
        "a" | "an" => Some(1),
        _ if word.bytes().all(|byte| byte.is_ascii_digit()) => word.parse().ok(),
        _ => NUMBERS.iter().position(|&name| name == word)?.try_into().ok(),
    }
}

fn span(count: i64, unit: &str) -> Option<Span> {
    let span = Span::new();
    match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => span.try_seconds(count),
        "m" | "min" | "mins" | "minute" | "minutes" => span.try_minutes(count),
        "h" | "hr" | "hrs" | "hour" | "hours" => span.try_hours(count),
        "d" | "day" | "days" => span.try_days(count),
        "w" | "wk" | "week" | "weeks" => span.try_weeks(count),
        "mo" | "mon" | "month" | "months" => span.try_months(count),
        "y" | "yr" | "year" | "years" => span.try_years(count),
        _ => return None,
    }
    .ok()
}

#[cfg(test)]
mod tests {
    use jiff::tz::{Offset, TimeZone};
    use proptest::prelude::*;

    use super::*;

    fn now() -> Zoned {
        // A Wednesday, in a zone two hours ahead of UTC.
        let zone = TimeZone::fixed(Offset::constant(2));
        "2026-07-15T10:30:00Z".parse::<Timestamp>().unwrap().to_zoned(zone)
    }

    fn check(text: &str, expected: &str) {
        let found = parse_timeframe(text, &now()).map(|time| time.to_string());
        assert_eq!(found.as_deref(), Ok(expected), "{text:?}");
    }

    #[test]
    fn times_are_read() {
        check("now", "2026-07-15T10:30:00Z");
        check("7d", "2026-07-08T10:30:00Z");
        check(" 3H ", "2026-07-15T07:30:00Z");
        check("30min", "2026-07-15T10:00:00Z");
        check("2 weeks", "2026-07-01T10:30:00Z");
        check("2 weeks ago", "2026-07-01T10:30:00Z");
        check("last month", "2026-06-15T10:30:00Z");
        check("the past 3 days", "2026-07-12T10:30:00Z");
        check("last 24h", "2026-07-14T10:30:00Z");
        check("an hour", "2026-07-15T09:30:00Z");
        check("two years ago", "2024-07-15T10:30:00Z");
        check("1mo", "2026-06-15T10:30:00Z");
        check("today", "2026-07-14T22:00:00Z");
        check("since yesterday", "2026-07-13T22:00:00Z");
        check("this week", "2026-07-12T22:00:00Z");
        check("this month", "2026-06-30T22:00:00Z");
        check("this year", "2025-12-31T22:00:00Z");
        check("monday", "2026-07-12T22:00:00Z");
        check("last wednesday", "2026-07-07T22:00:00Z");
        check("2026-01-31", "2026-01-30T22:00:00Z");
        check("2026-01", "2025-12-31T22:00:00Z");
        check("2026", "2025-12-31T22:00:00Z");
        check("2026-01-31T15:30:00Z", "2026-01-31T15:30:00Z");
        check("2026-01-31t15:30:00+01:00", "2026-01-31T14:30:00Z");
        check("2026-01-31T15:30:00-05:00", "2026-01-31T20:30:00Z");
        check("2026-01-31 15:30", "2026-01-31T13:30:00Z");
    }

    #[test]
    fn until_a_day_means_its_end() {
        let check = |text: &str, expected: &str| {
            let found = parse_until(text, &now()).map(|time| time.to_string());
            assert_eq!(found.as_deref(), Ok(expected), "{text:?}");
        };
        check("2026-01-31", "2026-01-31T21:59:59.999Z");
        check("2026-01", "2026-01-31T21:59:59.999Z");
        check("2025", "2025-12-31T21:59:59.999Z");
        check("today", "2026-07-15T21:59:59.999Z");
        check("yesterday", "2026-07-14T21:59:59.999Z");
        check("monday", "2026-07-13T21:59:59.999Z");
        check("this week", "2026-07-19T21:59:59.999Z");
        check("this month", "2026-07-31T21:59:59.999Z");
        check("2026-01-31T15:30", "2026-01-31T13:30:00Z");
        check("2026-01-31T15:30:00Z", "2026-01-31T15:30:00Z");
        check("2 weeks ago", "2026-07-01T10:30:00Z");
        check("now", "2026-07-15T10:30:00Z");
        assert_eq!(parse_until("soon", &now()), parse_timeframe("soon", &now()));
    }

    #[test]
    fn invalid_timeframes_are_rejected_with_examples() {
        for bad in [
            "",
            "soon",
            "7",
            "d",
            "-3d",
            "7 parsecs",
            "2026-13",
            "99999999999999999999d",
            "9999999 years",
            "last",
            "2026-02-30",
            "last 2026",
            &"9".repeat(100_000),
        ] {
            let error = parse_timeframe(bad, &now()).unwrap_err();
            assert!(error.to_string().contains("`2 weeks`"), "{bad:?}");
            assert!(error.text.len() <= 80);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,30}|[0-9]{0,4}[ a-z:.+-]{0,12}") {
            drop(parse_timeframe(&text, &now()));
        }

        #[test]
        fn days_go_back(days in 0i64..5000) {
            let found = parse_timeframe(&format!("{days} days"), &now()).unwrap();
            prop_assert_eq!(now().timestamp().as_second() - found.as_second(), days * 86_400);
        }
    }
}
