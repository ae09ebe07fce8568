//! Spaces in a real PostgreSQL, which the tests start in a temporary folder on loopback.
//!
//! `MEMORANDA_TEST_PG_BIN` names the folder of `initdb` and `postgres`; without it, Debian's newest
//! one is taken. Without any PostgreSQL the tests are skipped with a line that says so.

#![cfg(feature = "postgres")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start servers and look at files"
)]

mod cluster;
mod database_loss;
mod directory;
mod drop_proxy;
mod failover;
mod images;
mod limits;
mod lost_answers;
mod migrations;
mod row_security;
mod spaces;
mod support;
