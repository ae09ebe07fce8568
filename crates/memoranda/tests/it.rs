//! The command line as a person and a script meet it: the real binary in a home of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests fail by panicking, start the binary and look at files as a person would"
)]

#[path = "it/client.rs"]
mod client;
#[path = "../../memoranda-model/tests/it/stand_in.rs"]
mod stand_in;
#[path = "it/support.rs"]
mod support;
#[cfg(feature = "local-models")]
#[path = "../../memoranda-model/tests/it/tiny.rs"]
mod tiny;

#[path = "it/archive.rs"]
mod archive;
#[path = "it/banks.rs"]
mod banks;
#[path = "it/banks_model.rs"]
mod banks_model;
#[path = "it/config.rs"]
mod config;
#[path = "it/failures.rs"]
mod failures;
#[path = "it/first_look.rs"]
mod first_look;
#[path = "it/graph_tools.rs"]
mod graph_tools;
#[path = "it/help.rs"]
mod help;
#[path = "it/hooks.rs"]
mod hooks;
#[path = "it/imports.rs"]
mod imports;
#[path = "it/json.rs"]
mod json;
#[path = "it/mcp.rs"]
mod mcp;
#[path = "it/memory_tool.rs"]
mod memory_tool;
#[path = "it/notes_tools.rs"]
mod notes_tools;
#[path = "it/one_shot.rs"]
mod one_shot;
#[path = "it/output.rs"]
mod output;
#[path = "it/records.rs"]
mod records;
#[path = "it/records_edges.rs"]
mod records_edges;
#[path = "it/rules.rs"]
mod rules;
#[path = "it/search_command.rs"]
mod search_command;
#[path = "it/search_model.rs"]
mod search_model;
#[path = "it/setup.rs"]
mod setup;
#[path = "it/story.rs"]
mod story;
#[path = "it/texts.rs"]
mod texts;
