//! What the chores share with tests: a made-up vault of any size, the same bytes on every run.

pub mod vault;
