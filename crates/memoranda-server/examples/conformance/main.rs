//! The server with the fixtures of the official conformance suite in addition to its own tools. It
//! tests the protocol layer below all tools, and is never part of a release.
//!
//!     cargo run -p memoranda-server --example conformance
//!
//! Prints its address, and serves a vault in a temporary folder until it is killed.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test program: it says where it listens, and fails by panicking"
)]

mod elicitation;
mod prompts;
mod resources;
mod tools;

use std::sync::Arc;

use memoranda_engine::{Memory, OpenOptions};
use memoranda_server::{
    ClientAuthentication, ExtraDefinitions, LogDestination, ServerConfig, SessionMode, run_http,
};

/// An image of one red pixel, and a silent sound.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::open(OpenOptions::in_folder(folder.path()));
    let config = ServerConfig {
        bind: "127.0.0.1:0".parse().unwrap(),
        // The suite cannot send a token.
        authentication: ClientAuthentication::Disabled,
        extra: ExtraDefinitions {
            tools: tools::TOOLS,
            prompts: prompts::PROMPTS,
            prompt_handlers: prompts::SPEAKERS,
            resources: resources::RESOURCES,
        },
        sessions: SessionMode::Kept,
        logging: LogDestination::Client,
        ..ServerConfig::standard("0.0.0")
    };
    let listening = |address| println!("http://{address}/mcp");
    run_http(Arc::new(memory.unwrap()), config, listening).unwrap();
}
