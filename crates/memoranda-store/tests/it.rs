//! The store's promises, each with a test that fails when it is broken.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests fail by panicking and look at files as a person would"
)]

#[path = "it/support.rs"]
mod support;

#[path = "it/story.rs"]
mod story;
