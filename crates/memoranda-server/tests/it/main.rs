//! The server from outside: lines over a stream, bytes over a socket.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod calls;
mod elicitation;
mod extra_definitions;
mod guard;
mod http;
mod only_project;
mod page;
mod page_facts;
mod protocol_eras;
mod snapshots;
mod subscriptions;
mod support;
mod tool_tables;
