//! The store's promises, each with a test that fails when it is broken. With the feature
//! `faults` processes are killed and disks fail; `MEMORANDA_TEST_ROUNDS` asks for more of chance.

#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    clippy::exit,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests do what people, editors and bad disks do"
)]

mod adopt;
mod aside;
#[cfg(all(unix, feature = "faults"))]
mod bounds;
#[cfg(feature = "faults")]
mod child;
mod clients;
mod closing;
#[cfg(feature = "faults")]
mod crash;
#[cfg(feature = "faults")]
mod damage;
#[cfg(all(unix, feature = "faults"))]
mod disk;
mod follow;
mod glance;
#[cfg(all(unix, feature = "faults"))]
mod history;
mod imported;
mod model;
#[cfg(all(unix, feature = "faults"))]
mod people;
mod pictures;
#[cfg(feature = "faults")]
mod processes;
#[cfg(feature = "faults")]
mod project_removal;
mod random;
#[cfg(unix)]
mod reach;
#[cfg(all(unix, feature = "faults"))]
mod recovery;
mod restart;
mod story;
mod support;
#[cfg(all(target_os = "linux", feature = "faults"))]
mod unwatched;
