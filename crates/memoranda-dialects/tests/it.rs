//! The dialects as their callers see them, on a real vault.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests fail by panicking and look at files as a person would"
)]

#[path = "it/support.rs"]
mod support;

#[path = "it/memory_model.rs"]
mod memory_model;
#[path = "it/memory_safety.rs"]
mod memory_safety;
#[path = "it/memory_wording.rs"]
mod memory_wording;
#[path = "it/records_brief.rs"]
mod records_brief;
