//! Times named in a question: "last week", "in March 2025", "two months ago", "yesterday".
//!
//! A time is a hint and not a filter: people misremember dates, and a note may be written on
//! another day than its event. Ranges therefore widen with their distance from today.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _, Zoned};

use super::QueryTerm;
use crate::tokenize::tokenize;

/// A range of days.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeRange {
    /// Start of the range.
    pub from: Timestamp,
    /// End of the range, exclusive.
    pub to: Timestamp,
    first: Date,
    last: Date,
}

/// A time named in a question, and its words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimeExpression {
    /// Range of the time.
    pub range: TimeRange,
    /// Words that name the time, in lower case.
    pub words: Vec<String>,
}

/// First and last day, both included.
type DayRange = (Date, Date);

impl TimeRange {
    /// Returns true if a time is in the range. Midnight in UTC stands for the whole day in every
    /// time zone, because dates without a time of day are stored so.
    pub fn contains(self, moment: Timestamp) -> bool {
        let is_day = moment.as_millisecond().rem_euclid(86_400_000) == 0;
        if is_day {
            let date = moment.to_zoned(TimeZone::UTC).date();
            return (self.first..=self.last).contains(&date);
        }
        (self.from..self.to).contains(&moment)
    }

    fn new((first, last): DayRange, zone: &TimeZone) -> Option<Self> {
        let at = |date: Date| Some(date.to_zoned(zone.clone()).ok()?.timestamp());
        Some(Self { from: at(first)?, to: at(last.tomorrow().ok()?)?, first, last })
    }
}

impl TimeExpression {
    /// Finds the first time named in a question, relative to `now` and in its time zone.
    pub fn find(text: &str, now: &Zoned) -> Option<Self> {
        let lower: String = text.chars().take(2000).collect::<String>().to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '.')
            .flat_map(|word| {
                let is_date = word.starts_with(|c: char| c.is_ascii_digit());
                let dot = if is_date { ' ' } else { '.' };
                word.trim_matches('.').split(dot)
            })
            .filter(|word| !word.is_empty())
            .collect();
        (0..words.len()).find_map(|at| {
            let words = words.get(at..)?;
            let (days, count) = parse_at(words, now.date())?;
            let when = TimeRange::new(days, now.time_zone())?;
            let words = words.iter().take(count).map(|&word| word.to_owned()).collect();
            Some(Self { range: when, words })
        })
    }
}

impl TimeExpression {
    /// Returns true if a term consists of words that name the time.
    pub fn is_named_by(&self, term: &QueryTerm) -> bool {
        term.words.iter().all(|word| self.holds(word))
    }

    fn holds(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        self.words.iter().flat_map(|named| tokenize(named)).any(|named| named.text == word)
    }
}

/// Parses the time at the beginning of these words; returns its days and the number of its words.
fn parse_at(words: &[&str], today: Date) -> Option<(DayRange, usize)> {
    match words {
        ["between", rest @ ..] => parse_span(rest, &["and"], today),
        ["from", rest @ ..] => parse_span(rest, &["to", "till", "until"], today),
        ["since", rest @ ..] => {
            let ((first, _), count) =
                month_or_year(rest, today).or_else(|| parse_at(rest, today))?;
            (first <= today).then_some(((first, today), count + 1))
        }
        ["day", "before", "yesterday", ..] => {
            some(days_with_slack(today.checked_sub(2.days()).ok()?, 0), 3)
        }
        ["yesterday", ..] => some(days_with_slack(today.yesterday().ok()?, 0), 1),
        ["last", "night", ..] => some(days_with_slack(today.yesterday().ok()?, 0), 2),
        ["today" | "tonight", ..] => some(days_with_slack(today, 0), 1),
        ["this", "morning" | "afternoon" | "evening", ..] => some(days_with_slack(today, 0), 2),
        ["this", unit @ ("week" | "month" | "year"), ..] => {
            let first = match *unit {
                "week" => monday(today)?,
                "month" => today.first_of_month(),
                _ => today.first_of_year(),
            };
            Some(((first, today), 2))
        }
        ["last" | "past" | "previous", "weekend", ..] => {
            let monday = monday(today)?;
            Some(((monday.checked_sub(2.days()).ok()?, monday.yesterday().ok()?), 2))
        }
        ["last" | "previous", unit @ ("week" | "month" | "year"), ..] => {
            // "Last month" can be the previous month or the past thirty days; the range covers
            // both.
            let first = match *unit {
                "week" => monday(today)?.checked_sub(7.days()).ok()?,
                "month" => today.first_of_month().checked_sub(1.month()).ok()?,
                _ => today.first_of_year().checked_sub(1.year()).ok()?,
            };
            Some(((first.min(today.checked_sub(length(unit)?).ok()?), today), 2))
        }
        ["past" | "last", "couple", "of", unit, ..] => Some((days_until_today(2, unit, today)?, 4)),
        // "Last" may be a verb, as in "milk may last a week".
        ["past" | "last", count, unit, ..]
            if number(count).is_some() && !matches!(*count, "a" | "an") =>
        {
            Some((days_until_today(number(count)?, unit, today)?, 3))
        }
        ["past" | "last", "few" | "couple", unit, ..] => {
            Some((days_until_today(4, unit, today)?, 3))
        }
        ["past", unit, ..] if length(unit).is_some() => {
            Some(((today.checked_sub(length(unit)?).ok()?, today), 2))
        }
        ["this", name, ..] if weekday(name).is_some() => {
            let behind = i64::from(weekday(name)?.to_monday_zero_offset());
            some(days_with_slack(monday(today)?.checked_add(behind.days()).ok()?, 0), 2)
        }
        ["last" | "on" | "past", name, ..] if weekday(name).is_some() => {
            some(days_with_slack(today.nth_weekday(-1, weekday(name)?).ok()?, 0), 2)
        }
        ["half", "a", "year", "ago", ..] => some(days_around(6, "months", today), 4),
        ["half", "year", "ago", ..] => some(days_around(6, "months", today), 3),
        ["couple", "of", unit, "ago", ..] => some(days_around(2, unit, today), 4),
        ["couple", unit, "ago", ..] => some(days_around(2, unit, today), 3),
        ["few", unit, "ago", ..] => some(days_around(3, unit, today), 3),
        [count, unit, "ago", ..] => some(days_around(number(count)?, unit, today), 3),
        ["in" | "during", year, ..] if is_year(year) => Some((year_of(year)?, 2)),
        ["last", name, rest @ ..] if month(name).is_some() => {
            let (days, count) = parse_after_month(month(name)?, rest, today)?;
            // A month that is not over yet is not the last one.
            let days = if days.1 >= today { shift_year_back(days)? } else { days };
            Some((days, count + 2))
        }
        ["in" | "of" | "during" | "on", name, rest @ ..] if month(name).is_some() => {
            let (days, count) = parse_after_month(month(name)?, rest, today)?;
            Some((days, count + 2))
        }
        [number, "of", name, rest @ ..] if any_month(name).is_some() => {
            let (days, count) =
                month_or_day(any_month(name)?, Some(day_of_month(number)?), rest, today)?;
            Some((days, count + 3))
        }
        // "Version 3 may break" contains no date.
        [number, name, rest @ ..]
            if any_month(name).is_some() && day_of_month(number).is_some() =>
        {
            let is_sure = number.ends_with(char::is_alphabetic)
                || rest.first().is_some_and(|word| is_year(word))
                || !matches!(*name, "may" | "march" | "mar");
            let (days, count) = month_or_day(any_month(name)?, day_of_month(number), rest, today)?;
            is_sure.then_some((days, count + 2))
        }
        // "May" and "march" alone are mostly verbs, and "Jan" may be a name.
        ["in" | "of" | "during" | "on", name, next, ..] | [name, next, ..]
            if any_month(name).is_some() && next.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            let before = words.iter().position(|word| word == name)?;
            let (days, count) =
                parse_after_month(any_month(name)?, words.get(before + 1..)?, today)?;
            (count > 0).then_some((days, before + 1 + count))
        }
        [name, ..] => Some((parse_digits(name)?, 1)),
        [] => None,
    }
}

/// Parses a range of two times; the first one takes the year of the second if it has none.
fn parse_span(words: &[&str], joined: &[&str], today: Date) -> Option<(DayRange, usize)> {
    let read = |words| month_or_year(words, today).or_else(|| parse_at(words, today));
    let ((mut first, _), count) = read(words)?;
    let (join, rest) = words.get(count..)?.split_first()?;
    let ((begin, last), behind) = read(rest).filter(|_| joined.contains(join))?;
    let named = words.get(..count)?;
    if named.iter().any(|word| any_month(word).is_some()) && !named.iter().any(|word| is_year(word))
    {
        let in_year = |year| Date::new(year, first.month(), first.day()).ok();
        let same = in_year(begin.year())?;
        first = if same > begin { in_year(begin.year() - 1)? } else { same };
    }
    (first <= last).then_some(((first, last), 1 + count + 1 + behind))
}

/// Parses a month or year without a preposition, after a word that announces a time.
fn month_or_year(words: &[&str], today: Date) -> Option<(DayRange, usize)> {
    match words {
        [year, ..] if is_year(year) => Some((year_of(year)?, 1)),
        [number, name, rest @ ..]
            if any_month(name).is_some() && day_of_month(number).is_some() =>
        {
            let (days, count) = month_or_day(any_month(name)?, day_of_month(number), rest, today)?;
            Some((days, count + 2))
        }
        [name, rest @ ..] => {
            let (days, count) = parse_after_month(any_month(name)?, rest, today)?;
            Some((days, count + 1))
        }
        [] => None,
    }
}

/// Parses an optional day and year after a month; returns the days and the number of words.
fn parse_after_month(month: i8, rest: &[&str], today: Date) -> Option<(DayRange, usize)> {
    match rest.first().and_then(|word| day_of_month(word)) {
        Some(day) => {
            let (days, count) =
                month_or_day(month, Some(day), rest.get(1..).unwrap_or_default(), today)?;
            Some((days, count + 1))
        }
        None => month_or_day(month, None, rest, today),
    }
}

/// Parses the day of a month, as in `8` or `8th`.
fn day_of_month(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    // Rejects `8b`, `4k` and `3d`.
    let is_day = matches!(word.get(digits.len()..), Some("" | "st" | "nd" | "rd" | "th"));
    let day = digits.parse::<i8>().ok().filter(|_| is_day && digits.len() <= 2);
    day.filter(|day| (1..=31).contains(day))
}

/// Returns a month or a day of it with an optional following year, and the number of words.
fn month_or_day(
    month: i8,
    number: Option<i8>,
    rest: &[&str],
    today: Date,
) -> Option<(DayRange, usize)> {
    let year = rest.first().filter(|word| is_year(word)).and_then(|word| word.parse().ok());
    let count = usize::from(year.is_some());
    // Without a year, the most recent such month or day.
    let first = number.unwrap_or(1);
    let this = Date::new(today.year(), month, first).or(Date::new(today.year(), month, 1)).ok()?;
    let year = year.unwrap_or(if this > today { today.year() - 1 } else { today.year() });
    match number {
        Some(number) => some(days_with_slack(Date::new(year, month, number).ok()?, 1), count),
        None => Some((month_of(year, month)?, count)),
    }
}

/// Parses a date in digits: `2025-03-18`, `18.03.2025` or the month `2025-03`.
fn parse_digits(word: &str) -> Option<DayRange> {
    let parts = |separator: char| -> Option<Vec<i16>> {
        word.split(separator).map(|part| part.parse().ok()).collect()
    };
    let is_year = |year: i16| (1900..2100).contains(&year);
    let date = |year: i16, month: i16, number: i16| {
        let date = Date::new(year, month.try_into().ok()?, number.try_into().ok()?).ok()?;
        is_year(year).then_some((date, date))
    };
    match (parts('-').as_deref(), parts('.').as_deref()) {
        (Some(&[year, month, number]), _) if word.len() == 10 => date(year, month, number),
        (Some(&[year, month]), _) if word.len() == 7 && is_year(year) => {
            month_of(year, month.try_into().ok()?)
        }
        (_, Some(&[number, month, year])) => date(year, month, number),
        _ => None,
    }
}

fn month_of(year: i16, month: i8) -> Option<DayRange> {
    let first = Date::new(year, month, 1).ok()?;
    Some((first, first.last_of_month()))
}

fn shift_year_back((first, last): DayRange) -> Option<DayRange> {
    Some((first.checked_sub(1.year()).ok()?, last.checked_sub(1.year()).ok()?))
}

/// Returns the days around a time ago, with a slack of about a fifth on either side.
fn days_around(count: i64, unit: &str, today: Date) -> Option<DayRange> {
    let then = today.checked_sub(spans(count, unit)?).ok()?;
    let distance = (today - then).get_days();
    let slack = (distance / 5).max(match length(unit)?.get_days() {
        1 => 0,
        _ => 2,
    });
    days_with_slack(then, slack)
}

/// Returns the days from that long ago until today.
fn days_until_today(count: i64, unit: &str, today: Date) -> Option<DayRange> {
    Some((today.checked_sub(spans(count, unit)?).ok()?, today))
}

/// Returns a day with a slack on either side.
fn days_with_slack(day: Date, slack: i32) -> Option<DayRange> {
    Some((day.checked_sub(slack.days()).ok()?, day.checked_add(slack.days()).ok()?))
}

fn some(days: Option<DayRange>, count: usize) -> Option<(DayRange, usize)> {
    days.map(|days| (days, count))
}

fn year_of(word: &str) -> Option<DayRange> {
    let first = Date::new(word.parse().ok()?, 1, 1).ok()?;
    Some((first, first.last_of_year()))
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

/// Returns the length of a unit in days.
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

/// Parses the name of a month or an abbreviation of it.
fn any_month(name: &str) -> Option<i8> {
    const SHORT: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let short =
        || SHORT.iter().position(|&short| short == name || name == "sept" && short == "sep");
    month(name).or_else(|| i8::try_from(short()? + 1).ok())
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

    fn now() -> Zoned {
        // A Wednesday.
        "2026-07-15T10:30:00Z[+00:00]".parse().unwrap()
    }

    fn check(text: &str, expected: Option<(&str, &str)>) {
        let date = |time: Timestamp| time.to_string().chars().take(10).collect::<String>();
        let found = TimeExpression::find(text, &now()).map(|named| named.range);
        let found = found.map(|when| (date(when.from), date(when.to)));
        let expected = expected.map(|(from, to)| (from.to_owned(), to.to_owned()));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn other_numbers_are_not_days() {
        for text in [
            "llama 8b may be too slow",
            "will 4k may need a cable",
            "dec 3d printer",
            "will the milk last a week",
        ] {
            check(text, None);
        }
        // The week that it is said in, and the last such day.
        check("what is due this friday", Some(("2026-07-17", "2026-07-18")));
        check("what did I do this wednesday", Some(("2026-07-15", "2026-07-16")));
        check("trip on July 20", Some(("2025-07-19", "2025-07-22")));
        check("between March 5 and May 10, 2025", Some(("2025-03-04", "2025-05-12")));
        check("from 5 March to 10 May 2025", Some(("2025-03-04", "2025-05-12")));
        check("between Nov 5 and May 10", Some(("2025-11-04", "2026-05-12")));
        check("since 5 March", Some(("2026-03-04", "2026-07-16")));
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
        check("since March", Some(("2026-03-01", "2026-07-16")));
        check("everything since 2024", Some(("2024-01-01", "2026-07-16")));
        check("since last Friday", Some(("2026-07-10", "2026-07-16")));
        check("the day before yesterday", Some(("2026-07-13", "2026-07-14")));
        check("last July", Some(("2025-07-01", "2025-08-01")));
        check("last May", Some(("2026-05-01", "2026-06-01")));
        check("between March and May 2025", Some(("2025-03-01", "2025-06-01")));
        check("between November and May", Some(("2025-11-01", "2026-06-01")));
        check("from 2023 to 2024", Some(("2023-01-01", "2025-01-01")));
        check("half a year ago", Some(("2025-12-10", "2026-02-21")));
        check("version 3 may break", None);
        check("on the 3rd may 2025", Some(("2025-05-02", "2025-05-05")));
        check("in Mar 2025", Some(("2025-03-01", "2025-04-01")));
        check("Sept 3", Some(("2025-09-02", "2025-09-05")));
        check("notes of 2025-03", Some(("2025-03-01", "2025-04-01")));
        check("the 18.03.2025.", Some(("2025-03-18", "2025-03-19")));
        check("version 1.2.3", None);
        check("Jan is here", None);
        check("last weekend", Some(("2026-07-11", "2026-07-13")));
        check("the last few days", Some(("2026-07-11", "2026-07-16")));
        check("the last couple of weeks", Some(("2026-07-01", "2026-07-16")));
        check("from yesterday", Some(("2026-07-14", "2026-07-15")));
    }

    #[test]
    fn words_that_name_a_time_are_returned() {
        let check = |text: &str, expected: &str| {
            let named = TimeExpression::find(text, &now()).unwrap();
            assert_eq!(named.words.join(" "), expected, "{text:?}");
            let query = crate::query::Query::parse(expected);
            assert!(query.terms.iter().all(|term| named.is_named_by(term)), "{query:?}");
        };
        let named = TimeExpression::find("concert on 2025-03-18, in Kiel?", &now()).unwrap();
        assert!(!named.is_named_by(&crate::query::Query::parse("concert").terms[0]));
        check("what did I do yesterday?", "yesterday");
        check("the concert in March 2025 in Kiel", "in march 2025");
        check("between March and May 2025 we sailed", "between march and may 2025");
        check("two weeks ago in Kiel", "two weeks ago");
        check("on 5 May 2026, or later", "5 may 2026");
    }

    #[test]
    fn days_follow_the_users_time_zone() {
        let holds = |now: &str, moment: &str| {
            let named = TimeExpression::find("yesterday", &now.parse().unwrap()).unwrap();
            named.range.contains(moment.parse().unwrap())
        };
        let west = "2026-07-15T22:30:00-08:00[-08:00]";
        assert!(holds(west, "2026-07-14T08:30:00Z") && holds(west, "2026-07-15T07:30:00Z"));
        assert!(!holds(west, "2026-07-14T07:30:00Z") && !holds(west, "2026-07-15T08:30:00Z"));
        // A date without a time of day is that day everywhere.
        for now in [west, "2026-07-15T01:30:00+12:00[+12:00]"] {
            assert!(holds(now, "2026-07-14T00:00:00Z"), "{now}");
            assert!(!holds(now, "2026-07-15T00:00:00Z"), "{now}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_searched_for_times(text in "\\PC{0,30}|([0-9]{0,5}|[a-z]{0,4}|last|ago|weeks|may|in|since|between|and|jan|2024| |-|\\.){0,12}") {
            if let Some(named) = TimeExpression::find(&text, &now()) {
                prop_assert!(named.range.from < named.range.to && !named.words.is_empty());
            }
        }
    }
}
