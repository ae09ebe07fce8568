//! Language models and embeddings, against a stand-in server on this machine and a small network
//! that the tests create.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and make and break files as they need them"
)]

mod chosen_model;
mod endpoint;
#[cfg(feature = "local")]
mod local;
mod model_failures;
mod stand_in_server;
#[cfg(feature = "local")]
mod tiny_model;
mod vault;
