//! Removes memories that nobody used for the configured number of days: a moment after the server
//! starts, then once a day. The commit can be undone.

use std::sync::Arc;
use std::time::Duration;

use memoranda_engine::core::change::ChangeChannel;
use memoranda_engine::{Author, ExpireRequest, Memory};
use memoranda_tools::AccessMode;
use tokio::time::{Instant, interval_at};

use crate::config::ServerConfig;

/// Time between the start of the server and the first run, so that the first answers come first.
const FIRST_RUN_DELAY: Duration = Duration::from_secs(2);
/// Time between two runs.
const RUN_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Starts the runs, if a number of days is configured. Requires a Tokio runtime.
pub(crate) fn start(memory: &Arc<Memory>, config: &ServerConfig) {
    let settings = &config.settings;
    let days = settings.expire_days;
    let project = settings.memories.clone();
    let is_allowed = config.selection.access == AccessMode::ReadWrite
        && settings.reaches_project(project.as_str());
    if days == 0 || !is_allowed {
        return;
    }
    // The task must not keep the vault open after the server has ended.
    let memory = Arc::downgrade(memory);
    let who =
        Author::new(format!("memoranda {}", config.server_version), "expire", ChangeChannel::Mcp);
    tokio::spawn(async move {
        let mut runs = interval_at(Instant::now() + FIRST_RUN_DELAY, RUN_INTERVAL);
        loop {
            runs.tick().await;
            let Some(memory) = memory.upgrade() else { return };
            let (who, request) = (who.clone(), ExpireRequest { project: project.clone(), days });
            let expired = tokio::task::spawn_blocking(move || memory.expire(&who, &request)).await;
            match expired {
                Ok(Ok(expired)) if expired.commit.is_some() => {
                    let count = expired.notes.len();
                    tracing::info!(count, days, "removed memories that were not used");
                }
                Ok(Err(error)) => tracing::warn!(%error, "unused memories could not be removed"),
                Ok(Ok(_)) | Err(_) => {}
            }
        }
    });
}
