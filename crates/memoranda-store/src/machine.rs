//! The machine that a process runs on: its clock and chance, its pauses, and what its disk was asked to
//! keep.
//!
//! Without the feature `faults` every function is the system's own call, or nothing. With it, a test
//! can run a thread on a [`SimulatedMachine`], which decides when each call on files happens, knows
//! what was forced to disk and what was not, and gives time, chance and identities.

#[cfg(all(feature = "faults", target_os = "linux"))]
mod simulated;
#[cfg(not(all(feature = "faults", target_os = "linux")))]
mod system;

#[cfg(all(feature = "faults", target_os = "linux"))]
pub(crate) use simulated::*;
#[cfg(not(all(feature = "faults", target_os = "linux")))]
pub(crate) use system::*;

#[cfg(all(feature = "faults", target_os = "linux"))]
pub use simulated::{SimulatedMachine, SimulatedNode, run_on};
