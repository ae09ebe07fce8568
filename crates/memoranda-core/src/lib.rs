//! The domain of Memoranda as pure values: notes, edits, links, queries, ranking and change sets.
//!
//! This crate reads no file, clock, environment variable or random number; time and ids are
//! arguments. Parsing user text never fails: the result is a value and a list of problems.

pub mod abbreviate;
pub mod globs;
pub mod id;
pub mod language;
pub mod path;
mod percent;
pub mod problem;

pub mod note;
pub mod schema;

pub mod change;
pub mod cron;

pub mod fact;
pub mod statement;

pub mod passage;
pub mod porter;
pub mod tokenize;
mod word_cache;

pub mod embed;
pub mod query;
pub mod rank;
pub mod snippet;
pub mod timeframe;
pub mod token_estimate;

pub mod graph;

pub mod blame;
pub mod diff;
pub mod map_layout;
pub mod merge;
pub mod word_diff;

pub mod secrets;
