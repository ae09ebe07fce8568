//! Remote logs: where the log of a space is kept when it is not in a vault.
//!
//! Two implementers of [`memoranda_store::remote::RemoteLog`]: PostgreSQL for team servers, behind
//! the feature `postgres`, and HTTP for clones of a space. [`directory`] is the seam by which a
//! server asks who may do what, [`oauth`] the one by which people let programs in, and
//! [`self_service`] the one by which people look after their own part of a team.
//! [`ToolClient`] calls the tools of any server. Everything here is synchronous.

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
