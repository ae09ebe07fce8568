//! Imports at the level of the library: what comes, and what a second run does.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests write what others export"
)]

mod records;
mod repeated;
mod support;
