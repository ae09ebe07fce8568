//! Parses and formats times of other systems.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::Value;

/// Numbers from this value on are milliseconds; as seconds they would be in the year 5138.
const MILLISECONDS: f64 = 1e11;

/// Parses RFC 3339, a date and time without zone (as UTC), a date, or seconds or milliseconds since
/// 1970.
pub(crate) fn parse(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(number) => from_number(number.as_f64()?),
        Value::String(text) => from_text(text.trim()),
        _ => None,
    }
}

fn from_number(number: f64) -> Option<Timestamp> {
    if !number.is_finite() || number <= 0.0 {
        return None;
    }
    let seconds = if number >= MILLISECONDS { number / 1000.0 } else { number };
    Timestamp::from_millisecond((seconds * 1000.0).round() as i64).ok()
}

fn from_text(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let civil = text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(DateTime::from));
    match civil {
        Ok(civil) => civil.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp()).ok(),
        Err(_) => text.parse().ok().and_then(from_number),
    }
}

/// Formats a time for frontmatter: UTC, without fractions; empty for `None`.
pub(crate) fn frontmatter(time: Option<Timestamp>) -> String {
    time.and_then(|time| Timestamp::from_second(time.as_second()).ok())
        .map(|time| time.to_string())
        .unwrap_or_default()
}

/// Returns the date of a time in UTC.
pub(crate) fn utc_day(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

/// Formats a time for readers.
pub(crate) fn display(time: Timestamp) -> String {
    let text = time.to_string();
    format!("{} {} UTC", text.get(..10).unwrap_or(&text), text.get(11..16).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_read_however_they_are_written() {
        for (value, expected) in [
            (json!("2026-02-14T10:04:22Z"), "2026-02-14T10:04:22Z"),
            (json!("2026-02-14T10:04:22.123456+00:00"), "2026-02-14T10:04:22Z"),
            (json!("2026-02-14T03:04:22-07:00"), "2026-02-14T10:04:22Z"),
            (json!("2026-02-14 10:04:22"), "2026-02-14T10:04:22Z"),
            (json!("2026-02-14T10:04:22.5"), "2026-02-14T10:04:22Z"),
            (json!("2026-02-14"), "2026-02-14T00:00:00Z"),
            (json!(1_771_063_462), "2026-02-14T10:04:22Z"),
            (json!(1_771_063_462.25), "2026-02-14T10:04:22Z"),
            (json!(1_771_063_462_250_u64), "2026-02-14T10:04:22Z"),
            (json!("1771063462"), "2026-02-14T10:04:22Z"),
            (json!(null), ""),
            (json!("soon"), ""),
            (json!(-1), ""),
            (json!(1e300), ""),
        ] {
            assert_eq!(frontmatter(parse(&value)), expected, "{value}");
        }
        let time = parse(&json!("2026-02-14T10:04:22Z")).unwrap();
        assert_eq!(
            (utc_day(time), display(time)),
            ("2026-02-14".into(), "2026-02-14 10:04 UTC".into())
        );
    }
}
