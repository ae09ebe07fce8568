//! Cron parser. Errors name the field, the problem and the accepted values.

use super::{ClockChangePolicy, CronExpression};

/// Reason why a cron expression is rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CronError {
    /// The expression does not have five fields.
    #[error(
        "{text:?} has {found} field{}, not 5: minute hour day-of-month month day-of-week, such as \
         `0 9 * * 1-5` for 9:00 from Monday to Friday{}",
        if *.found == 1 { "" } else { "s" }, seconds(*.found)
    )]
    Fields {
        /// Rejected text.
        text: String,
        /// Number of fields found.
        found: usize,
    },
    /// A field is malformed.
    #[error("the {field} field {text:?} is wrong: {reason}; it takes {fits}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// Text of the field.
        text: String,
        /// Problem of the field.
        reason: String,
        /// Accepted values.
        fits: &'static str,
    },
    /// No month contains the given days.
    #[error("{text:?} never comes: no month that it names has such a day")]
    Never {
        /// Rejected text.
        text: String,
    },
    /// The nickname is unknown.
    #[error(
        "{text:?} is not a schedule; known names are @hourly, @daily, @weekly, @monthly and @yearly"
    )]
    Nickname {
        /// Rejected text.
        text: String,
    },
}

fn seconds(found: usize) -> &'static str {
    if found == 6 { "; there is no field for seconds or years" } else { "" }
}

struct CronField {
    name: &'static str,
    least: u32,
    most: u32,
    names: &'static [&'static str],
    fits: &'static str,
}

const MINUTE: CronField = CronField {
    name: "minute",
    least: 0,
    most: 59,
    names: &[],
    fits: "0-59, `*`, lists `0,30`, ranges `0-29`, steps `*/15`",
};
const HOUR: CronField = CronField {
    name: "hour",
    least: 0,
    most: 23,
    names: &[],
    fits: "0-23, `*`, lists `8,18`, ranges `9-17`, steps `*/2`",
};
const DAY: CronField = CronField {
    name: "day-of-month",
    least: 1,
    most: 31,
    names: &[],
    fits: "1-31, `*`, lists `1,15`, ranges `1-7`, steps `*/2`",
};
const MONTH: CronField = CronField {
    name: "month",
    least: 1,
    most: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    fits: "1-12 or jan-dec, `*`, lists, ranges, steps",
};
const WEEKDAY: CronField = CronField {
    name: "day-of-week",
    least: 0,
    // Sunday is 0 and 7.
    most: 7,
    names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
    fits: "0-7 (0 and 7 are Sunday) or sun-sat, `*`, lists, ranges, steps",
};

impl CronExpression {
    /// Parses an expression.
    ///
    /// ```
    /// use jiff::{Timestamp, tz::TimeZone};
    /// use memoranda_core::cron::CronExpression;
    ///
    /// let daily = CronExpression::parse("30 9 * * *")?;
    /// let after: Timestamp = "2026-05-01T10:00:00Z".parse()?;
    /// let next = daily.next_after(after, &TimeZone::UTC);
    /// assert_eq!(next, Some("2026-05-02T09:30:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let shown = || text.chars().take(80).collect::<String>();
        let text = match text.trim() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            nickname if nickname.starts_with('@') => {
                return Err(CronError::Nickname { text: shown() });
            }
            fields => fields,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(CronError::Fields { text: shown(), found: fields.len() });
        };
        let minutes = read(&MINUTE, minute)?;
        let hours = read(&HOUR, hour)?;
        let weekdays = read(&WEEKDAY, weekday)?;
        let is_open = |field: &str| field.starts_with('*');
        let cron = Self {
            minutes,
            hours: hours as u32,
            days: read(&DAY, day)? as u32,
            months: read(&MONTH, month)? as u16,
            weekdays: (weekdays & 0x7f | weekdays >> 7) as u8,
            days_open: is_open(day),
            weekdays_open: is_open(weekday),
            pace: if is_open(minute) || is_open(hour) {
                ClockChangePolicy::Interval
            } else {
                ClockChangePolicy::Times
            },
        };
        if cron.never() {
            return Err(CronError::Never { text: shown() });
        }
        Ok(cron)
    }

    /// Returns true if every given month is too short for the given days.
    fn never(&self) -> bool {
        let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let fits = |month: u32| {
            let length: u32 = lengths[(month - 1) as usize];
            self.months & (1 << month) != 0 && (1..=length).any(|d| self.days & (1 << d) != 0)
        };
        self.weekdays_open && !(1..=12).any(fits)
    }
}

/// Returns the bits of a field.
fn read(field: &CronField, text: &str) -> Result<u64, CronError> {
    let mut bits = 0;
    for part in text.split(',') {
        bits |= part_bits(field, part).map_err(|reason| CronError::Field {
            field: field.name,
            text: text.chars().take(80).collect(),
            reason,
            fits: field.fits,
        })?;
    }
    Ok(bits)
}

/// Returns the bits of one part between commas: `*`, `n` or `n-m`, each with an optional `/step`.
fn part_bits(field: &CronField, part: &str) -> Result<u64, String> {
    let (range, step) = match part.split_once('/') {
        Some((range, step)) => (range, Some(step)),
        None => (part, None),
    };
    let step_by = match step {
        None => 1,
        Some(step) => match step.parse::<u32>() {
            Ok(step) if step > 0 && step <= field.most => step,
            _ => return Err(format!("the step {step:?} is not a number from 1 to {}", field.most)),
        },
    };
    // Both 0 and 7 are Sunday.
    let end = if field.most == 7 { 6 } else { field.most };
    let (first, last) = if range == "*" {
        (field.least, end)
    } else if let Some((from, to)) = range.split_once('-') {
        let (first, last) = (value(field, from)?, value(field, to)?);
        if first <= last {
            (first, last)
        } else if is_name(from) || is_name(to) {
            // Ranges of names wrap around: `fri-mon` is four days, `nov-feb` four months.
            (first, last + field.names.len() as u32)
        } else {
            let range_of = |from: u32, to: u32| {
                if from == to { from.to_string() } else { format!("{from}-{to}") }
            };
            let list = [range_of(first.min(end), end), range_of(field.least, last)].join(",");
            return Err(format!("the range {range:?} ends before it begins; write {list}"));
        }
    } else {
        let first = value(field, range)?;
        // `5/10` means from 5 to the end of the range, as in several implementations.
        (first, if step.is_some() { end.max(first) } else { first })
    };
    let round = |n: u32| if n > field.most { n - field.names.len() as u32 } else { n };
    Ok((first..=last).step_by(step_by as usize).fold(0, |bits, n| bits | 1 << round(n)))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn value(field: &CronField, text: &str) -> Result<u32, String> {
    if text.is_empty() {
        return Err("a value is missing".to_owned());
    }
    let lower = text.to_ascii_lowercase();
    if let Some(n) = field.names.iter().position(|name| *name == lower) {
        return Ok(n as u32 + field.least);
    }
    let (least, most) = (field.least, field.most);
    let is_number = text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u32>() {
        Ok(n) if is_number && (least..=most).contains(&n) => Ok(n),
        Ok(n) if is_number => Err(format!("{n} is not from {least} to {most}")),
        _ => Err(format!("{text:?} is not a number{}", names_hint(field))),
    }
}

fn names_hint(field: &CronField) -> &'static str {
    if field.names.is_empty() { "" } else { " or a name of three letters" }
}
