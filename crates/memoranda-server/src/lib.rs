//! The server: MCP over stdio and HTTP, the HTTP API, and the guard in front of every route.
//!
//! The crate contains no grammar and no SQL. Its whole configuration is a [`ServerConfig`]: it
//! reads no environment, and writes only protocol messages to stdout. The crates below are
//! synchronous, so every call runs on the blocking pool.

mod api;
mod client_identity;
mod config;
mod connections;
mod error;
mod expiry;
mod guard;
mod http_error;
mod mcp;
mod page;
mod page_services;
mod run;
mod team;
mod tool_call;
mod tool_catalog;

pub use api::{HttpRoute, RouteAccess, RouteParameter, openapi_document, routes};
pub use config::{
    BearerToken, ClientAuthentication, ExtraDefinitions, PromptHandler, ServerConfig,
};
pub use error::ServerError;
pub use mcp::{LogDestination, SessionMode, format_event, protocol_revisions, serve_stream};
pub use page_services::{
    PageServices, ServiceError, ServiceErrorKind, ServiceResult, UploadImport, UploadPart,
};
pub use run::{HttpServer, run_http, run_stdio};
pub use team::{OAuthConfig, TEAM_TOOLS, TeamConfig, run_team};
