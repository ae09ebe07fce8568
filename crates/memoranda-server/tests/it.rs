//! The server from outside: lines over a stream, bytes over a socket.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "it/support.rs"]
mod support;

#[path = "it/asking.rs"]
mod asking;
#[path = "it/calls.rs"]
mod calls;
#[path = "it/eras.rs"]
mod eras;
#[path = "it/extra.rs"]
mod extra;
#[path = "it/guard.rs"]
mod guard;
#[path = "it/http.rs"]
mod http;
#[path = "it/only_project.rs"]
mod only_project;
#[path = "it/snapshots.rs"]
mod snapshots;
#[path = "it/subscriptions.rs"]
mod subscriptions;
#[path = "it/tables.rs"]
mod tables;
