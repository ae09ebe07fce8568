//! Cron expressions with five fields in a time zone: `minute hour day-of-month month day-of-week`.
//!
//! Hand-written because the `croner` crate treats `*/n` days and clock changes differently;
//! `croner` is the oracle of the tests. As in Unix cron, if both day fields are restricted, a day
//! that matches either of them matches. Clock changes affect only the hours that they touch: see
//! [`CronExpression::next_after`].

mod next;
mod parse;
#[cfg(test)]
mod tests;

pub use parse::CronError;

/// A parsed cron expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CronExpression {
    /// Bit set of minutes.
    minutes: u64,
    hours: u32,
    /// Bits 1 to 31.
    days: u32,
    /// Bits 1 to 12.
    months: u16,
    /// Bits 0 (Sunday) to 6.
    weekdays: u8,
    /// True if the day-of-month field begins with `*` and the day-of-week field decides.
    days_open: bool,
    weekdays_open: bool,
    pace: ClockChangePolicy,
}

/// Behaviour of an expression when the clock is set forward or back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ClockChangePolicy {
    /// Fixed times of the day: due once per day regardless of clock changes.
    Times,
    /// Every hour or every few minutes: due by elapsed time.
    Interval,
}
