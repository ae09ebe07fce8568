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

mod archive_import;
mod basic_operations;
mod binary_files;
#[cfg(all(unix, feature = "faults"))]
mod bounds;
mod change_feed;
#[cfg(feature = "faults")]
mod child;
mod clients;
mod close;
#[cfg(feature = "faults")]
mod crash;
#[cfg(feature = "faults")]
mod damage;
#[cfg(all(unix, feature = "faults"))]
mod disk;
#[cfg(all(unix, feature = "faults"))]
mod drives;
mod freshness;
#[cfg(all(unix, feature = "faults"))]
mod history;
mod log_format;
mod model;
#[cfg(all(unix, feature = "faults"))]
mod nth_call;
mod offline_edits;
#[cfg(all(unix, feature = "faults"))]
mod owners;
mod pending_index;
#[cfg(feature = "faults")]
mod pending_queries;
#[cfg(feature = "faults")]
mod processes;
mod project_folder_change;
#[cfg(feature = "faults")]
mod project_removal;
mod random;
#[cfg(all(unix, feature = "faults"))]
mod recovery;
mod restart;
#[cfg(unix)]
mod root_identity;
#[cfg(all(target_os = "linux", feature = "faults"))]
mod simulator;
mod snapshot;
mod space;
mod space_stories;
mod support;
#[cfg(all(target_os = "linux", feature = "faults"))]
mod suspended;
mod synchronised;
mod untracked_files;
#[cfg(all(unix, feature = "faults"))]
mod user_edits;
#[cfg(all(target_os = "linux", feature = "faults"))]
mod watch_limits;
