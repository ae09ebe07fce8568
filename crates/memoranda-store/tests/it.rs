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

#[path = "it/support.rs"]
mod support;

#[path = "it/model.rs"]
mod model;

#[cfg(feature = "faults")]
#[path = "it/child.rs"]
mod child;

#[path = "it/story.rs"]
mod story;

#[path = "it/clients.rs"]
mod clients;

#[path = "it/aside.rs"]
mod aside;

#[path = "it/adopt.rs"]
mod adopt;

#[path = "it/closing.rs"]
mod closing;

#[path = "it/follow.rs"]
mod follow;

#[path = "it/glance.rs"]
mod glance;

#[path = "it/imported.rs"]
mod imported;

#[path = "it/pictures.rs"]
mod pictures;

#[cfg(feature = "faults")]
#[path = "it/crash.rs"]
mod crash;

#[cfg(unix)]
#[path = "it/reach.rs"]
mod reach;

#[path = "it/restart.rs"]
mod restart;

#[cfg(all(unix, feature = "faults"))]
#[path = "it/disk.rs"]
mod disk;

#[cfg(feature = "faults")]
#[path = "it/processes.rs"]
mod processes;

#[cfg(all(unix, feature = "faults"))]
#[path = "it/history.rs"]
mod history;

#[cfg(feature = "faults")]
#[path = "it/damage.rs"]
mod damage;

#[cfg(all(unix, feature = "faults"))]
#[path = "it/bounds.rs"]
mod bounds;

#[cfg(all(unix, feature = "faults"))]
#[path = "it/people.rs"]
mod people;

#[cfg(all(target_os = "linux", feature = "faults"))]
#[path = "it/unwatched.rs"]
mod unwatched;

#[path = "it/random.rs"]
mod random;
