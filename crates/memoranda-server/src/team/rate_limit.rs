//! Limits how often a token may be used on this server: a bucket that fills at a constant rate.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of tokens that are tracked before full buckets are dropped.
const MAX_TRACKED: usize = 10_000;

/// Buckets of all tokens.
pub(crate) struct RateLimiter {
    /// Requests that a token may make in a minute, and at once after a pause.
    per_minute: u32,
    buckets: Mutex<HashMap<i64, TokenBucket>>,
}

/// Remaining requests of one token.
#[derive(Clone, Copy)]
struct TokenBucket {
    left: f64,
    filled: Instant,
}

impl RateLimiter {
    pub(crate) fn new(per_minute: u32) -> Self {
        Self { per_minute: per_minute.max(1), buckets: Mutex::default() }
    }

    /// Takes one request of a token. Returns the time until the next one if no request is left.
    pub(crate) fn take(&self, token_id: i64, now: Instant) -> Result<(), Duration> {
        let most = f64::from(self.per_minute);
        let per_second = most / 60.0;
        let filled = |bucket: &TokenBucket| {
            let since = now.saturating_duration_since(bucket.filled).as_secs_f64();
            (bucket.left + since * per_second).min(most)
        };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_TRACKED {
            // A full bucket is the same as none.
            buckets.retain(|_, bucket| filled(bucket) < most);
        }
        let bucket = buckets.entry(token_id).or_insert(TokenBucket { left: most, filled: now });
        *bucket = TokenBucket { left: filled(bucket), filled: now };
        if bucket.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.left) / per_second));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_its_own_rate() {
        let limiter = RateLimiter::new(60);
        let start = Instant::now();
        for _ in 0..60 {
            assert_eq!(limiter.take(1, start), Ok(()));
        }
        let wait = limiter.take(1, start).unwrap_err();
        assert!(
            wait > Duration::from_millis(900) && wait < Duration::from_millis(1_100),
            "{wait:?}"
        );
        assert_eq!(limiter.take(2, start), Ok(()));
        assert!(limiter.take(1, start + Duration::from_millis(500)).is_err());
        assert_eq!(limiter.take(1, start + Duration::from_millis(1_100)), Ok(()));
        assert!(limiter.take(1, start + Duration::from_millis(1_100)).is_err());
    }
}
