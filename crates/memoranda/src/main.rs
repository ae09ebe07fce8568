//! One memory for all of a person's agents.

fn main() {}
