//! The server from outside: lines over a stream, bytes over a socket.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod asking;
mod calls;
mod eras;
mod extra;
mod guard;
mod http;
mod only_project;
mod snapshots;
mod subscriptions;
mod support;
mod tables;
