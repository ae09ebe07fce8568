//! The real machine: the system's own calls, and nothing to record.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

#[cfg(feature = "faults")]
use crate::faults::Step;

#[inline(always)]
pub(crate) fn is_simulated() -> bool {
    false
}

/// A moment of a clock that never goes back.
pub(crate) fn moment() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Waits while another process works.
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

pub(crate) fn process_id() -> u32 {
    std::process::id()
}

#[inline(always)]
pub(crate) fn turn() -> io::Result<()> {
    Ok(())
}

#[cfg(feature = "faults")]
#[inline(always)]
pub(crate) fn at(_: Step) -> Option<io::Result<()>> {
    None
}

#[inline(always)]
pub(crate) fn reach<F>(_: &F) -> io::Result<()> {
    Ok(())
}

#[inline(always)]
pub(crate) fn written<F>(_: &F) {}

#[inline(always)]
pub(crate) fn dated<F>(_: &F, _: Duration) {}

#[inline(always)]
pub(crate) fn written_at(_: &Path) {}

#[inline(always)]
pub(crate) fn names_changed<D>(_: &[&D]) {}

#[inline(always)]
pub(crate) fn names_changed_at(_: &[&Path]) {}

#[inline(always)]
pub(crate) fn forced<F>(_: &F) {}

#[inline(always)]
pub(crate) fn names_forced<D>(_: &D) {}

#[inline(always)]
pub(crate) fn all_forced<D>(_: &D) {}
