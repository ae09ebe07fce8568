//! Timings of the same work, reported as median and slow end. Means are not reported, because one
//! slow disk access would dominate two hundred fast ones.

use std::time::{Duration, Instant};

use crate::Result;

/// Timings of the same work.
#[derive(Default, Clone, Debug)]
pub(super) struct TimeSamples(Vec<Duration>);

impl TimeSamples {
    /// Times one piece of work and returns its result.
    pub(super) fn time<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let made = work()?;
        self.0.push(start.elapsed());
        Ok(made)
    }

    pub(super) fn p50(&self) -> Duration {
        self.percentile(50)
    }

    pub(super) fn p95(&self) -> Duration {
        self.percentile(95)
    }

    /// Returns the shortest time that the given percentage of samples did not exceed.
    fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_slow_end() {
        let samples = TimeSamples((1..=100).rev().map(Duration::from_millis).collect());
        assert_eq!(samples.p50(), Duration::from_millis(50));
        assert_eq!(samples.p95(), Duration::from_millis(95));
        assert_eq!(TimeSamples(vec![Duration::from_millis(3)]).p95(), Duration::from_millis(3));
        assert_eq!(TimeSamples::default().p50(), Duration::ZERO);
    }
}
