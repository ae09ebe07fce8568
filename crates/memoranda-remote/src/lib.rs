//! Remote logs: where the log of a space is kept when it is not in a vault.
//!
//! Two implementers of [`memoranda_store::remote::RemoteLog`]: PostgreSQL for team servers, behind
//! the feature `postgres`, and HTTP for clones of a space. A server asks [`directory`] who may do
//! what. People let programs in by [`oauth`], and look after their own part of a team by
//! [`self_service`]. [`ToolClient`] calls the tools of any server. Everything here is synchronous.

pub mod directory;
pub mod frame_stream;
mod http;
pub mod oauth;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod self_service;
mod staged_log;
mod tool_client;

pub use http::HttpLog;
pub use staged_log::{StagedFrames, StagedLog};
pub use tool_client::ToolClient;
