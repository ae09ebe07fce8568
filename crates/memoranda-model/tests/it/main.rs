//! The door to models, against a server on this machine that does whatever it is told, and
//! against a small network that the tests make.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and make and break files as they need them"
)]

mod by_choice;
mod endpoint;
mod failing;
#[cfg(feature = "local")]
mod local;
mod stand_in;
#[cfg(feature = "local")]
mod tiny;
mod vault;
