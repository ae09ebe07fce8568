//! Finding the next time at which an expression is due.

use jiff::civil::{Date, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan as _};

use super::{ClockChangePolicy, CronExpression};

/// The 29th of February can be eight years away; what is further never comes.
const MAX_DAYS: usize = 366 * 9;

impl CronExpression {
    /// The first time after a moment at which it is due; `None` if that is years away.
    ///
    /// When a clock is set forward, a time of the day that is skipped is due at the moment of the
    /// change, and one that is set back is due once, the first time. What recurs every hour or
    /// every few minutes goes by real time instead.
    pub fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let begin = after.to_zoned(zone.clone());
        let mut date = begin.date();
        // A change of the clock just before midnight can make yesterday's last times today's.
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

    /// How often it was due after one moment and until another, but no more than `most`, and when
    /// it was so for the first time.
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

    /// The first due time of a day after a moment.
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

    /// The moments at which a time of the day is due: one as a rule, none or two when the clock
    /// is changed.
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
            // The moment of the change: the first transition after a time that was before it.
            (AmbiguousOffset::Gap { .. }, ClockChangePolicy::Times) => {
                let before = ambiguous.earlier().ok();
                [before.and_then(|before| change_near(before, zone)), None]
            }
        }
    }
}

/// Whether the clock is changed on a day.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClockChanges {
    /// It is not: times come in the order of the clock.
    Even,
    /// It may be.
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

/// The change of the clock that lies within a day of a moment.
fn change_near(moment: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let from = moment.checked_sub(24.hours()).ok()?;
    zone.following(from).next().map(|change| change.timestamp())
}
