//! Times that a question names: "last week", "in March 2025", "two months ago", "yesterday".
//!
//! They are hints, not filters: people err about when something was, and a note may be of
//! another day than what it tells of. So a span is widened the further it lies back.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _};

/// A span of time that a question is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct When {
    /// Its beginning.
    pub from: Timestamp,
    /// Its end.
    pub to: Timestamp,
}

impl When {
    /// Whether a moment lies in this span.
    pub fn holds(self, moment: Timestamp) -> bool {
        (self.from..self.to).contains(&moment)
    }

    /// The first time that a question names, seen from `now`.
    pub fn find(text: &str, now: Timestamp) -> Option<Self> {
        let lower: String = text.chars().take(2000).collect::<String>().to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .filter(|word| !word.is_empty())
            .collect();
        let today = now.to_zoned(TimeZone::UTC).date();
        (0..words.len()).find_map(|at| at_words(words.get(at..)?, today))
    }
}

/// The time that these words begin with.
fn at_words(words: &[&str], today: Date) -> Option<When> {
    match words {
        ["yesterday", ..] | ["last", "night", ..] => days(today.yesterday().ok()?, 1, 0),
        ["today", ..] | ["this", "morning" | "afternoon" | "evening", ..] => days(today, 1, 0),
        ["this", unit @ ("week" | "month" | "year"), ..] => {
            let first = match *unit {
                "week" => monday(today)?,
                "month" => today.first_of_month(),
                _ => today.first_of_year(),
            };
            between(first, today)
        }
        ["last" | "previous", unit @ ("week" | "month" | "year"), ..] => {
            let length = length(unit)?;
            // "Last month" is said of the month before and of the past thirty days.
            let first = match *unit {
                "week" => monday(today)?.checked_sub(7.days()).ok()?,
                "month" => today.first_of_month().checked_sub(1.month()).ok()?,
                _ => today.first_of_year().checked_sub(1.year()).ok()?,
            };
            between(first.min(today.checked_sub(length).ok()?), today)
        }
        ["past" | "last", count, unit, ..] if number(count).is_some() => {
            let back = spans(number(count)?, unit)?;
            between(today.checked_sub(back).ok()?, today)
        }
        ["past", unit, ..] if length(unit).is_some() => {
            between(today.checked_sub(length(unit)?).ok()?, today)
        }
        ["last" | "on" | "this" | "past", day, ..] if weekday(day).is_some() => {
            days(today.nth_weekday(-1, weekday(day)?).ok()?, 1, 0)
        }
        ["couple", "of", unit, "ago", ..] | ["couple", unit, "ago", ..] => ago(2, unit, today),
        ["few", unit, "ago", ..] => ago(3, unit, today),
        [count, unit, "ago", ..] => ago(number(count)?, unit, today),
        ["in" | "during" | "since", year, ..] if is_year(year) => year_of(year),
        ["in" | "of" | "during" | "since" | "last" | "on", name, rest @ ..]
            if month(name).is_some() =>
        {
            dated(month(name)?, rest, today)
        }
        [day, "of", name, rest @ ..] | [day, name, rest @ ..]
            if month(name).is_some() && day_of_month(day).is_some() =>
        {
            on(month(name)?, day_of_month(day), rest, today)
        }
        // "May" and "march" alone are more often verbs.
        [name, next, ..]
            if month(name).is_some() && next.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            dated(month(name)?, words.get(1..)?, today)
        }
        [name, ..] => iso(name),
        [] => None,
    }
}

/// A month, perhaps with a day and a year behind it.
fn dated(month: i8, rest: &[&str], today: Date) -> Option<When> {
    match rest.first().and_then(|word| day_of_month(word)) {
        Some(day) => on(month, Some(day), rest.get(1..).unwrap_or_default(), today),
        None => on(month, None, rest, today),
    }
}

/// The number of a day, as in `8` or `8th`.
fn day_of_month(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    digits.parse::<i8>().ok().filter(|day| (1..=31).contains(day) && digits.len() <= 2)
}

/// A month or a day of it, perhaps with a year behind it.
fn on(month: i8, day: Option<i8>, rest: &[&str], today: Date) -> Option<When> {
    let year = rest.first().filter(|word| is_year(word)).and_then(|word| word.parse().ok());
    // Without a year the last such month is meant.
    let this = Date::new(today.year(), month, 1).ok()?;
    let year = year.unwrap_or(if this > today { today.year() - 1 } else { today.year() });
    match day {
        Some(day) => days(Date::new(year, month, day).ok()?, 1, 1),
        None => {
            let first = Date::new(year, month, 1).ok()?;
            between(first, first.last_of_month())
        }
    }
}

fn iso(word: &str) -> Option<When> {
    let is_date = word.len() == 10 && word.bytes().filter(|&byte| byte == b'-').count() == 2;
    days(word.parse::<Date>().ok().filter(|_| is_date)?, 1, 0)
}

/// So many units back, and about a fifth of that on either side.
fn ago(count: i64, unit: &str, today: Date) -> Option<When> {
    let then = today.checked_sub(spans(count, unit)?).ok()?;
    let distance = (today - then).get_days();
    let slack = (distance / 5).max(match length(unit)?.get_days() {
        1 => 0,
        _ => 2,
    });
    days(then, 1, slack)
}

fn days(first: Date, count: i32, slack: i32) -> Option<When> {
    let from = first.checked_sub(slack.days()).ok()?;
    between(from, first.checked_add((count - 1 + slack).days()).ok()?)
}

/// From the beginning of one day to the end of another.
fn between(first: Date, last: Date) -> Option<When> {
    let at = |date: Date| Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp());
    Some(When { from: at(first)?, to: at(last.tomorrow().ok()?)? })
}

fn year_of(word: &str) -> Option<When> {
    let first = Date::new(word.parse().ok()?, 1, 1).ok()?;
    between(first, first.last_of_year())
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse::<u16>().is_ok_and(|year| (1900..2100).contains(&year))
}

fn monday(date: Date) -> Option<Date> {
    date.checked_sub(i64::from(date.weekday().to_monday_zero_offset()).days()).ok()
}

fn spans(count: i64, unit: &str) -> Option<Span> {
    let span = Span::new();
    match unit.trim_end_matches('s') {
        "day" => span.try_days(count),
        "week" => span.try_weeks(count),
        "month" => span.try_months(count),
        "year" => span.try_years(count),
        _ => return None,
    }
    .ok()
}

/// A unit's length in days.
fn length(unit: &str) -> Option<Span> {
    let days = match unit.trim_end_matches('s') {
        "day" => 1,
        "week" => 7,
        "month" => 30,
        "year" => 365,
        _ => return None,
    };
    Span::new().try_days(days).ok()
}

fn number(word: &str) -> Option<i64> {
    const NUMBERS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    match word {
        "a" | "an" => Some(1),
        _ if word.bytes().all(|byte| byte.is_ascii_digit()) && word.len() < 5 => word.parse().ok(),
        _ => NUMBERS.iter().position(|&name| name == word)?.try_into().ok(),
    }
}

fn month(name: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let at = MONTHS.iter().position(|&month| month == name)?;
    i8::try_from(at + 1).ok()
}

fn weekday(name: &str) -> Option<Weekday> {
    Some(match name {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> Timestamp {
        // A Wednesday.
        "2026-07-15T10:30:00Z".parse().unwrap()
    }

    fn check(text: &str, expected: Option<(&str, &str)>) {
        let date = |time: Timestamp| time.to_string().chars().take(10).collect::<String>();
        let found = When::find(text, now()).map(|when| (date(when.from), date(when.to)));
        let expected = expected.map(|(from, to)| (from.to_owned(), to.to_owned()));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn times_are_found_in_questions() {
        check("what did we decide yesterday?", Some(("2026-07-14", "2026-07-15")));
        check("notes from last week", Some(("2026-07-06", "2026-07-16")));
        check("what happened last month", Some(("2026-06-01", "2026-07-16")));
        check("the past 3 days", Some(("2026-07-12", "2026-07-16")));
        check("who came in March 2025?", Some(("2025-03-01", "2025-04-01")));
        check("the party in December", Some(("2025-12-01", "2026-01-01")));
        check("on May 5th, 2026 we met", Some(("2026-05-04", "2026-05-07")));
        check("two months ago", Some(("2026-05-03", "2026-05-28")));
        check("10 days ago", Some(("2026-07-03", "2026-07-08")));
        check("what did I buy last Saturday?", Some(("2026-07-11", "2026-07-12")));
        check("plans made in 2024", Some(("2024-01-01", "2025-01-01")));
        check("log of 2026-01-31", Some(("2026-01-31", "2026-02-01")));
        check("this year", Some(("2026-01-01", "2026-07-16")));
        check("", None);
        check("how do I march", None);
        check("what happened on 8 May 2025", Some(("2025-05-07", "2025-05-10")));
        check("on the 8th of May, 2025", Some(("2025-05-07", "2025-05-10")));
        check("the last supper", None);
        check("two kittens ago", None);
    }

    proptest! {
        #[test]
        fn any_text_may_be_asked(text in "\\PC{0,30}|([0-9]{0,5}|[a-z]{0,4}|last|ago|weeks|may|in| |-){0,12}") {
            if let Some(when) = When::find(&text, now()) {
                prop_assert!(when.from < when.to);
            }
        }
    }
}
