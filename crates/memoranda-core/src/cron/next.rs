//! Computes due times.

use jiff::civil::{Date, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan as _};

use super::{ClockChangePolicy, CronExpression};

/// Maximum number of days searched: the 29th of February can be eight years away.
const MAX_DAYS: usize = 366 * 9;

impl CronExpression {
    /// Returns the first due time after a moment; `None` if nothing is due within nine years.
    ///
    /// If the clock is set forward over a fixed time of the day, the expression is due at the
    /// change. If the clock is set back, it is due at the first occurrence only. Hourly and more
    /// frequent expressions follow elapsed time.
    pub fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let begin = after.to_zoned(zone.clone());
        let mut date = begin.date();
        // A clock change just before midnight can move yesterday's last times to today.
        let mut first_hour = u32::from(begin.hour().unsigned_abs());
        for _ in 0..MAX_DAYS {
            if self.fits_day(date) {
                let day = ClockChanges::of(date, zone);
                let from = if day == ClockChanges::Even { first_hour } else { 0 };
                if let Some(found) = self.next_on(date, from, day, after, zone) {
                    return Some(found);
                }
            }
            first_hour = 0;
            date = date.tomorrow().ok()?;
        }
        None
    }

    /// Counts the due times after one moment until another, up to `most`, and returns the first of
    /// them.
    pub fn due_between(
        &self,
        after: Timestamp,
        until: Timestamp,
        zone: &TimeZone,
        most: usize,
    ) -> Option<(Timestamp, usize)> {
        let first = self.next_after(after, zone).filter(|time| *time <= until)?;
        let mut times = 1;
        let mut last = first;
        while times < most {
            match self.next_after(last, zone).filter(|time| *time <= until) {
                Some(time) => last = time,
                None => break,
            }
            times += 1;
        }
        Some((first, times))
    }

    fn fits_day(&self, date: Date) -> bool {
        let weekday = match date.weekday() {
            Weekday::Sunday => 0,
            day => day.to_monday_one_offset().unsigned_abs(),
        };
        let in_month = self.months & (1 << date.month()) != 0;
        let day = self.days & (1 << date.day()) != 0;
        let weekday = self.weekdays & (1 << weekday) != 0;
        in_month
            && if self.days_open || self.weekdays_open { day && weekday } else { day || weekday }
    }

    /// Returns the first due time of a day after a moment.
    fn next_on(
        &self,
        date: Date,
        from_hour: u32,
        day: ClockChanges,
        after: Timestamp,
        zone: &TimeZone,
    ) -> Option<Timestamp> {
        let mut earliest: Option<Timestamp> = None;
        for hour in (from_hour..24).filter(|hour| self.hours & (1 << hour) != 0) {
            for minute in (0..60).filter(|minute| self.minutes & (1 << minute) != 0) {
                for time in self.moments(date, hour as i8, minute as i8, zone).into_iter().flatten()
                {
                    if time > after && earliest.is_none_or(|known| time < known) {
                        earliest = Some(time);
                    }
                }
                if day == ClockChanges::Even && earliest.is_some() {
                    return earliest;
                }
            }
        }
        earliest
    }

    /// Returns the moments of a time of the day: usually one; none or two on a clock change.
    fn moments(&self, date: Date, hour: i8, minute: i8, zone: &TimeZone) -> [Option<Timestamp>; 2] {
        let ambiguous = zone.to_ambiguous_timestamp(date.at(hour, minute, 0, 0));
        match (ambiguous.offset(), self.pace) {
            (AmbiguousOffset::Unambiguous { .. }, _)
            | (AmbiguousOffset::Fold { .. }, ClockChangePolicy::Times) => {
                [ambiguous.earlier().ok(), None]
            }
            (AmbiguousOffset::Fold { .. }, ClockChangePolicy::Interval) => {
                let twice = zone.to_ambiguous_timestamp(date.at(hour, minute, 0, 0));
                [ambiguous.earlier().ok(), twice.later().ok()]
            }
            (AmbiguousOffset::Gap { .. }, ClockChangePolicy::Interval) => [None, None],
            // The clock change itself: the first transition after a moment before it.
            (AmbiguousOffset::Gap { .. }, ClockChangePolicy::Times) => {
                let before = ambiguous.earlier().ok();
                [before.and_then(|before| change_near(before, zone)), None]
            }
        }
    }
}

/// Presence of a clock change on a day.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClockChanges {
    /// No change: times are in clock order.
    Even,
    /// The clock may change.
    Uneven,
}

impl ClockChanges {
    fn of(date: Date, zone: &TimeZone) -> Self {
        let offset = |date: Date| {
            let start = zone.to_ambiguous_timestamp(date.at(0, 0, 0, 0)).compatible();
            start.map(|start| zone.to_offset(start))
        };
        match (offset(date), date.tomorrow().map(offset)) {
            (Ok(today), Ok(Ok(tomorrow))) if today == tomorrow => Self::Even,
            _ => Self::Uneven,
        }
    }
}

/// Returns the clock change within a day of a moment.
fn change_near(moment: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let from = moment.checked_sub(24.hours()).ok()?;
    zone.following(from).next().map(|change| change.timestamp())
}
