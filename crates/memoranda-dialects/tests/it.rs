//! The dialects as their callers see them, on a real vault.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking and look at files as a person would"
)]

#[path = "it/support.rs"]
mod support;

#[path = "it/graph_model.rs"]
mod graph_model;
#[path = "it/graph_reference.rs"]
mod graph_reference;
#[path = "it/graph_save.rs"]
mod graph_save;
#[path = "it/graph_versions.rs"]
mod graph_versions;
#[path = "it/memory_model.rs"]
mod memory_model;
#[path = "it/memory_safety.rs"]
mod memory_safety;
#[path = "it/memory_wording.rs"]
mod memory_wording;
