//! The door to models, against a server on this machine that does whatever it is told, and
//! against a small network that the tests make.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and make and break files as they need them"
)]

#[path = "it/stand_in.rs"]
mod stand_in;

#[path = "it/endpoint.rs"]
mod endpoint;

#[path = "it/vault.rs"]
mod vault;

#[path = "it/by_choice.rs"]
mod by_choice;

#[path = "it/failing.rs"]
mod failing;

#[cfg(feature = "local")]
#[path = "it/tiny.rs"]
mod tiny;

#[cfg(feature = "local")]
#[path = "it/local.rs"]
mod local;
