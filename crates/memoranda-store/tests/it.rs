//! The store's promises, each with a test that fails when it is broken.

#[path = "it/support.rs"]
mod support;

#[path = "it/story.rs"]
mod story;
