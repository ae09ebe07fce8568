use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

fn zone(posix: &str) -> TimeZone {
    TimeZone::posix(posix).unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn the_next_time_is_found() {
    let check = |expression: &str, after: &str, posix: &str, expected: &str| {
        let found =
            CronExpression::parse(expression).unwrap().next_after(time(after), &zone(posix));
        assert_eq!(found, Some(time(expected)), "{expression} after {after}");
    };
    for (expression, after, expected) in [
        ("* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
        ("* * * * *", "2026-01-01T00:00:59.999Z", "2026-01-01T00:01:00Z"),
        ("0 9 * * 1-5", "2026-01-02T09:00:00Z", "2026-01-05T09:00:00Z"),
        ("0 9 * * mon-FRI", "2026-01-02T08:59:59Z", "2026-01-02T09:00:00Z"),
        ("*/15 8-10 * * *", "2026-01-02T10:45:00Z", "2026-01-03T08:00:00Z"),
        ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 0 31 * *", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"),
        ("0 0 13 * 5", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        ("0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
        ("0 0 * * 5-7", "2026-01-03T01:00:00Z", "2026-01-04T00:00:00Z"),
        ("5/20 3 * * *", "2026-01-01T03:05:00Z", "2026-01-01T03:25:00Z"),
        ("59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z"),
        ("0,30 6,18 1,15 jan,jul *", "2026-01-15T18:30:00Z", "2026-07-01T06:00:00Z"),
        ("@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
        // 2026-01-01 is a Thursday.
        ("0 0 * * sat-sun", "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"),
        ("0 0 * * sat-sun", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z"),
        ("0 0 * * sat-sun", "2026-01-04T00:00:00Z", "2026-01-10T00:00:00Z"),
        ("0 0 * * FRI-mon", "2026-01-04T00:00:00Z", "2026-01-05T00:00:00Z"),
        ("0 0 * * fri-mon", "2026-01-05T00:00:00Z", "2026-01-09T00:00:00Z"),
        ("0 0 * * fri-mon/2", "2026-01-02T00:00:00Z", "2026-01-04T00:00:00Z"),
        ("0 0 * * fri-mon/2", "2026-01-04T00:00:00Z", "2026-01-09T00:00:00Z"),
        ("0 0 1 nov-feb *", "2026-02-02T00:00:00Z", "2026-11-01T00:00:00Z"),
        ("0 0 1 nov-feb *", "2026-12-02T00:00:00Z", "2027-01-01T00:00:00Z"),
        // A step from a weekday on ends with the week, as a step from `*` does.
        ("0 0 * * 1/2", "2026-01-02T00:00:00Z", "2026-01-05T00:00:00Z"),
        ("0 0 * * 0/2", "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"),
        ("0 0 * * 7/2", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
    ] {
        check(expression, after, "UTC0", expected);
    }
    for (expression, after, expected) in [
        ("0 9 * * *", "2026-01-01T08:00:00Z", "2026-01-02T08:00:00Z"),
        ("0 9 * * *", "2026-07-01T07:00:00Z", "2026-07-02T07:00:00Z"),
        // On 2026-03-29 the clock goes from 2:00 to 3:00: a skipped time is due at the change.
        ("30 2 * * *", "2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z"),
        ("30 2 * * *", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"),
        ("0 2,3 * * *", "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z"),
        ("0 2,3 * * *", "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"),
        // Interval expressions skip the hours that the clock skips.
        ("30 * * * *", "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"),
        ("*/30 * * * *", "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z"),
        // On 2026-10-25 the clock goes from 3:00 back to 2:00: once, the first time.
        ("30 2 * * *", "2026-10-24T22:00:00Z", "2026-10-25T00:30:00Z"),
        ("30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
        ("30 * * * *", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),
        ("*/20 * * * *", "2026-10-25T00:40:00Z", "2026-10-25T01:00:00Z"),
    ] {
        check(expression, after, BERLIN, expected);
    }
    // A change at midnight: the day begins at 1:00.
    let havana = "CST5CDT,M3.2.0/0,M11.1.0/1";
    check("0 0 * * *", "2026-03-07T12:00:00Z", havana, "2026-03-08T05:00:00Z");
    check("0 0 * * *", "2026-03-08T05:00:00Z", havana, "2026-03-09T04:00:00Z");
}

#[test]
fn errors_name_the_field() {
    for (expression, words) in [
        ("", "has 0 fields, not 5"),
        ("0 9 * *", "has 4 fields, not 5"),
        ("0 0 9 * * *", "no field for seconds"),
        ("60 9 * * *", "the minute field \"60\" is wrong: 60 is not from 0 to 59"),
        ("0 24 * * *", "the hour field \"24\" is wrong"),
        ("0 9 0 * *", "the day-of-month field \"0\" is wrong: 0 is not from 1 to 31"),
        ("0 9 * 13 *", "the month field \"13\" is wrong"),
        ("0 9 * * 8", "the day-of-week field \"8\" is wrong"),
        ("0 9 * * monday", "\"monday\" is not a number or a name of three letters"),
        ("*/0 * * * *", "the step \"0\" is not a number from 1 to 59"),
        ("0 9-8 * * *", "the range \"9-8\" ends before it begins; write 9-23,0-8"),
        ("0 9 * * 5-1", "the range \"5-1\" ends before it begins; write 5-6,0-1"),
        ("0 9 * * 6-0", "the range \"6-0\" ends before it begins; write 6,0"),
        ("0 9,, * * *", "a value is missing"),
        ("0 -9 * * *", "a value is missing"),
        ("a * * * *", "\"a\" is not a number;"),
        ("0 0 31 2 *", "never comes"),
        ("0 0 31 apr,jun *", "never comes"),
        ("@reboot", "known names are @hourly"),
        ("0 9 * * L", "the day-of-week field \"L\" is wrong"),
    ] {
        let said = CronExpression::parse(expression).unwrap_err().to_string();
        assert!(said.contains(words), "{expression}: {said}");
    }
}

#[test]
fn missed_times_are_counted() {
    let hourly = CronExpression::parse("0 * * * *").unwrap();
    let count = |after: &str, until: &str, most| {
        hourly.due_between(time(after), time(until), &TimeZone::UTC, most)
    };
    let first = time("2026-01-01T01:00:00Z");
    assert_eq!(count("2026-01-01T00:00:00Z", "2026-01-01T00:59:59Z", 10), None);
    assert_eq!(count("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", 10), Some((first, 1)));
    assert_eq!(count("2026-01-01T00:00:00Z", "2026-01-01T05:30:00Z", 10), Some((first, 5)));
    assert_eq!(count("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 10), Some((first, 10)));
    // If the clock was set back between the two moments, nothing is due.
    assert_eq!(count("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", 10), None);
}

/// One part of a field.
fn part(least: u32, most: u32) -> impl Strategy<Value = String> {
    let number = move || least..=most;
    prop_oneof![
        3 => Just("*".to_owned()),
        3 => number().prop_map(|n| n.to_string()),
        2 => (number(), number()).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        1 => (1..=most / 2).prop_map(|step| format!("*/{step}")),
        1 => (number(), number(), 1..=most / 2)
            .prop_map(|(a, b, step)| format!("{}-{}/{step}", a.min(b), a.max(b))),
        1 => prop::collection::vec(number(), 2..4)
            .prop_map(|list| list.iter().map(u32::to_string).collect::<Vec<_>>().join(",")),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    (part(0, 59), part(0, 23), part(1, 31), part(1, 12), part(0, 6)).prop_map(
        |(minute, hour, day, month, week)| format!("{minute} {hour} {day} {month} {week}"),
    )
}

/// Reference implementation: tests every minute.
fn by_hand(expression: &str, at: &jiff::Zoned) -> bool {
    let fields: Vec<&str> = expression.split(' ').collect();
    let holds = |field: &str, value: i64| {
        field.split(',').any(|part| {
            let (range, step) = part.split_once('/').unwrap_or((part, "1"));
            let step: i64 = step.parse().unwrap();
            match (range, range.split_once('-')) {
                ("*", _) => {
                    let least =
                        i64::from(std::ptr::eq(field, fields[2]) || std::ptr::eq(field, fields[3]));
                    (value - least) % step == 0
                }
                (_, Some((first, last))) => {
                    let (first, last): (i64, i64) = (first.parse().unwrap(), last.parse().unwrap());
                    (first..=last).contains(&value) && (value - first) % step == 0
                }
                (one, None) => one.parse::<i64>().unwrap() == value,
            }
        })
    };
    let day = holds(fields[2], at.day().into());
    let weekday = holds(fields[4], at.weekday().to_sunday_zero_offset().into());
    let open = fields[2].starts_with('*') || fields[4].starts_with('*');
    holds(fields[0], at.minute().into())
        && holds(fields[1], at.hour().into())
        && holds(fields[3], at.month().into())
        && if open { day && weekday } else { day || weekday }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Compares with `croner`, far into the future. Expressions with a `*/n` day field are left
    /// out, because `croner` treats it as a restriction and Unix cron does not.
    #[test]
    fn croner_agrees(
        expression in expression(), seconds in 1_500_000_000i64..2_500_000_000
    ) {
        let fields: Vec<&str> = expression.split(' ').collect();
        let differs = |field: &str| field.starts_with("*/");
        prop_assume!(!differs(fields[2]) && !differs(fields[4]));
        let after = Timestamp::from_second(seconds).unwrap();
        let theirs = expression.parse::<croner::Cron>().unwrap()
            .find_next_occurrence(&after.to_zoned(TimeZone::UTC), false)
            .ok().map(|found| found.timestamp());
        let ours = CronExpression::parse(&expression).ok()
            .and_then(|cron| cron.next_after(after, &TimeZone::UTC));
        prop_assert_eq!(ours, theirs, "{}", expression);
    }

    /// Compares with the reference implementation for every minute of a day and a half, from any
    /// start.
    #[test]
    fn reference_implementation_agrees(
        expression in expression(), seconds in 1_700_000_000i64..1_800_000_000
    ) {
        let Ok(cron) = CronExpression::parse(&expression) else { return Ok(()) };
        let after = Timestamp::from_second(seconds).unwrap();
        let zone = zone("IST-5:30");
        let begin = after.to_zoned(zone.clone()).round(jiff::ZonedRound::new()
            .smallest(jiff::Unit::Minute).mode(jiff::RoundMode::Trunc)).unwrap();
        let minutes = (1..2160).map(|n| &begin + jiff::SignedDuration::from_mins(n));
        let expected = minutes.into_iter().find(|at| by_hand(&expression, at));
        let end = begin.timestamp() + jiff::SignedDuration::from_mins(2159);
        let found = cron.next_after(after, &zone).filter(|time| *time <= end);
        prop_assert_eq!(found, expected.map(|at| at.timestamp()), "{}", expression);
    }

    /// Due times are after the given moment, match the expression except at a clock change, and
    /// never repeat.
    #[test]
    fn due_times_increase_across_clock_changes(
        expression in expression(), seconds in 1_700_000_000i64..1_800_000_000
    ) {
        let Ok(cron) = CronExpression::parse(&expression) else { return Ok(()) };
        let zone = zone(BERLIN);
        let mut at = Timestamp::from_second(seconds).unwrap();
        for _ in 0..20 {
            let Some(next) = cron.next_after(at, &zone) else { break };
            prop_assert!(next > at);
            let local = next.to_zoned(zone.clone());
            let is_change = zone.preceding(next + jiff::SignedDuration::from_secs(1)).next()
                .is_some_and(|change| change.timestamp() == next);
            prop_assert!(is_change || by_hand(&expression, &local), "{} {}", expression, local);
            at = next;
        }
    }

    #[test]
    fn any_text_parses_without_panic(text in "\\PC{0,40}") {
        CronExpression::parse(&text).ok();
    }
}
