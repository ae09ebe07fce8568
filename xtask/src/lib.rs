//! A generated vault of any size for chores and tests, with the same bytes on every run.

pub mod vault;
