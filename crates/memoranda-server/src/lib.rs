//! The server: MCP over stdio and HTTP, the HTTP API, and the guard in front of every route.
//!
//! It knows no grammar and no SQL. Everything that it may do arrives in a [`ServerConfig`]; it
//! reads no environment and writes nothing to stdout but protocol. What lies below is
//! synchronous, so every call runs on the blocking pool.

mod api;
mod call;
mod config;
mod connections;
mod error;
mod guard;
mod mcp;
mod offer;
mod run;

pub use api::{ROUTES, Route};
pub use config::{BearerToken, ClientAuthentication, Extra, ServerConfig, Speaker};
pub use error::ServerError;
pub use mcp::{Logging, Sessions, protocol_revisions, said, serve_stream};
pub use run::{HttpServer, run_http, run_stdio};
