//! When something that recurs is due: cron expressions of five fields, in a person's time zone.
//!
//! `minute hour day-of-month month day-of-week`. As with Unix cron, a day fits either of the two
//! day fields when both are restricted. Clocks that are set forward or back matter only to the
//! hours they touch: see [`CronExpression::next_after`].

mod next;
mod parse;
#[cfg(test)]
mod tests;

pub use parse::CronError;

/// A cron expression, understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CronExpression {
    /// One bit for each minute of the hour, and so on.
    minutes: u64,
    hours: u32,
    /// Bits 1 to 31.
    days: u32,
    /// Bits 1 to 12.
    months: u16,
    /// Bits 0 (Sunday) to 6.
    weekdays: u8,
    /// Whether a field that begins with `*` leaves the choice of the day to the other one.
    days_open: bool,
    weekdays_open: bool,
    pace: ClockChangePolicy,
}

/// What a clock that is set forward or back means for an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ClockChangePolicy {
    /// At given times of the day: once each day, whatever the clock does.
    Times,
    /// Every hour or every few minutes: as time really passes.
    Interval,
}
