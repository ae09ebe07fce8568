//! The command line as a person and a script meet it: the real binary in a home of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests fail by panicking, start the binary and look at files as a person would"
)]

mod archive;
mod banks;
mod banks_model;
mod client;
#[cfg(all(feature = "postgres", unix))]
#[path = "../../../memoranda-remote/tests/it/cluster.rs"]
#[allow(dead_code, clippy::print_stderr, reason = "shared with the tests of the database")]
mod cluster;
mod config;
mod failures;
mod first_look;
mod graph_tools;
mod help;
mod hooks;
mod http_token;
mod import_folders;
mod imports;
mod json;
mod mcp;
mod memory_tool;
mod notes_tools;
mod obsidian;
mod one_memory;
mod one_shot;
mod output;
mod page_services;
mod records;
mod records_edges;
mod rules;
mod search_command;
mod search_model;
mod setup;
#[path = "../../../memoranda-model/tests/it/stand_in_server.rs"]
mod stand_in_server;
mod story;
mod support;
#[cfg(all(feature = "postgres", unix))]
mod team;
mod texts;
#[cfg(feature = "local-models")]
#[path = "../../../memoranda-model/tests/it/tiny_model.rs"]
mod tiny_model;
mod undo;
mod verbs;
mod widths;
mod words;
