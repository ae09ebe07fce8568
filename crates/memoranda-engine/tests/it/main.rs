//! The verbs of the engine, each as its caller sees it.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests fail by panicking and look at files as a person would"
)]

mod first_searches;
mod looking_back;
mod memory;
mod pending_statements;
mod search;
mod search_composed;
mod search_languages;
mod search_many;
mod search_pages;
mod search_phrases;
mod search_scope;
mod undo;
