//! The verbs of the engine, each as its caller sees it.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests fail by panicking and look at files as a person would"
)]

#[path = "it/looking_back.rs"]
mod looking_back;

#[path = "it/memory.rs"]
mod memory;

#[path = "it/search.rs"]
mod search;
#[path = "it/search_composed.rs"]
mod search_composed;
#[path = "it/search_many.rs"]
mod search_many;
#[path = "it/search_pages.rs"]
mod search_pages;
#[path = "it/search_phrases.rs"]
mod search_phrases;
