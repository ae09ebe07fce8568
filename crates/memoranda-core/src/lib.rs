//! Memory as pure values: what a note says, what an edit does to its text, what a link means,
//! what a query asks, and what a write would change.
//!
//! Nothing here reads a file, a clock, the environment or a random number; time and ids arrive
//! as arguments. User text never fails to parse: the result is a value and a list of problems.

pub mod globs;
pub mod id;
pub mod path;
pub mod problem;

pub mod note;
pub mod schema;

pub mod change;
pub mod cron;

pub mod fact;

pub mod passage;
pub mod porter;
pub mod tokenize;

pub mod embed;
pub mod query;
pub mod rank;
pub mod snippet;
pub mod timeframe;
pub mod token_estimate;

pub mod graph;

pub mod diff;

pub mod secrets;
