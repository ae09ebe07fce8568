//! The door to language models, against a server on this machine that does whatever it is told.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "it/stand_in.rs"]
mod stand_in;

#[path = "it/endpoint.rs"]
mod endpoint;
