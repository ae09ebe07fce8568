//! The workspace's own chores: `tidy`, `docs`, `bench`.

fn main() {}
