//! The only module that reads the clock and random numbers. All others get them as arguments.

#![allow(clippy::disallowed_methods)]

use jiff::Timestamp;
use memoranda_core::id::{CommitId, ObservationId};

#[cfg(all(feature = "faults", target_os = "linux"))]
use crate::machine;

/// The time by this machine's clock, to the millisecond that the log keeps.
pub fn now() -> Timestamp {
    let now = set_by_a_test(system_now());
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

#[cfg(not(feature = "faults"))]
fn set_by_a_test(now: Timestamp) -> Timestamp {
    now
}

#[cfg(feature = "faults")]
use offset::set_by_a_test;
#[cfg(feature = "faults")]
pub use offset::set_offset;

/// A clock that a test sets wrong.
#[cfg(feature = "faults")]
mod offset {
    use std::sync::atomic::{AtomicI64, Ordering};

    use jiff::{SignedDuration, Timestamp};

    static OFFSET_MS: AtomicI64 = AtomicI64::new(0);

    /// Shifts the clock of this process by a number of milliseconds.
    pub fn set_offset(milliseconds: i64) {
        OFFSET_MS.store(milliseconds, Ordering::SeqCst);
    }

    pub(super) fn set_by_a_test(now: Timestamp) -> Timestamp {
        let offset = SignedDuration::from_millis(OFFSET_MS.load(Ordering::SeqCst));
        now.checked_add(offset).unwrap_or(now)
    }
}

/// The time by the system's clock, or by that of a simulated machine.
fn system_now() -> Timestamp {
    #[cfg(all(feature = "faults", target_os = "linux"))]
    if let Some(Ok(now)) =
        machine::simulated(|machine| Timestamp::from_nanosecond(i128::from(machine.now_ns())))
    {
        return now;
    }
    Timestamp::now()
}

/// Makes a UUID that sorts by time. A clock before 1970, which no UUID can express, counts as 1970.
fn new_uuid() -> uuid::Uuid {
    let since_1970 = Timestamp::now().as_duration();
    if since_1970.is_negative() {
        return uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, 0, 0));
    }
    uuid::Uuid::now_v7()
}

/// A fresh commit id.
pub fn new_commit_id() -> CommitId {
    CommitId::from_random(random_bits())
}

/// A fresh observation id, sorting after those made before.
pub fn new_observation_id() -> ObservationId {
    ObservationId::from_bits(new_uuid().as_u128())
}

/// A fresh name for a file: eight characters that a person can type, the first a letter, so that
/// nothing takes it for a number.
pub fn new_name() -> String {
    let random = new_commit_id();
    let is_letter = |c: &char| c.is_ascii_lowercase();
    let first = random.as_str().chars().rev().find(is_letter).unwrap_or('m');
    std::iter::once(first).chain(random.as_str().chars().take(7)).collect()
}

/// Sixty-four random bits, from the operating system's generator.
///
/// A version-7 UUID ends in 62 random bits; two of them give more than enough.
pub(crate) fn random_bits() -> u64 {
    #[cfg(all(feature = "faults", target_os = "linux"))]
    if let Some(bits) = machine::simulated(|machine| machine.random_bits()) {
        return bits;
    }
    let tail = |uuid: uuid::Uuid| uuid.as_u128() as u64;
    tail(new_uuid()) ^ tail(new_uuid()).rotate_left(31)
}

/// A secret of 256 random bits, from the operating system's generator.
pub fn secret() -> [u8; 32] {
    let mut secret = [0; 32];
    for part in secret.chunks_exact_mut(8) {
        part.copy_from_slice(&random_bits().to_le_bytes());
    }
    secret
}

/// Returns the time of power-on in seconds since 1970; `None` where the system does not reveal it.
pub(crate) fn started_at() -> Option<i64> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::time::{ClockId, clock_gettime};
        // Each clock counts the time that the machine slept, too.
        #[cfg(target_os = "linux")]
        let clock = ClockId::Boottime;
        #[cfg(target_os = "macos")]
        let clock = ClockId::Monotonic;
        Some(Timestamp::now().as_second() - clock_gettime(clock).tv_sec)
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    None
}

/// Nanoseconds since 1970, to compare with the times that a file system gives.
pub(crate) fn now_ns() -> i64 {
    system_now().as_nanosecond() as i64
}
