//! The log of a space over HTTP, for clones: where it ends, and its frames.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use memoranda_engine::remote::RemoteError;
use memoranda_remote::directory::SpaceGrant;
use memoranda_remote::frame_stream::encode_frames;

use super::TeamState;
use super::authorization::{named_in, unavailable};
use crate::http_error::HttpError;

/// Maximum bytes of frames in one answer, unless one frame is larger.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Answers with epoch, number of the last log record, and name of the space as a device.
pub(super) async fn head(
    State(team): State<Arc<TeamState>>,
    request: Request,
) -> Result<Response, HttpError> {
    let (_, _, space) = named_space(team, request).await?;
    let text = format!("{} {} {}\n", space.head.epoch, space.head.seq, space.device);
    Ok(([(CONTENT_TYPE, "text/plain")], text).into_response())
}

/// Answers with the frames after a number.
pub(super) async fn frames(
    State(team): State<Arc<TeamState>>,
    request: Request,
) -> Result<Response, HttpError> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let number = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).and_then(|(_, value)| value.parse::<u64>().ok())
    };
    // Numbers of the log are signed in the database: a larger one would count as negative there.
    let after = number("after").filter(|after| i64::try_from(*after).is_ok()).ok_or_else(|| {
        HttpError::bad_request("Say after which number: /t/log/frames?after=0&bytes=1000000.")
    })?;
    let bytes = number("bytes").map_or(MAX_ANSWER_BYTES, |bytes| bytes as usize);
    let (team, account, space) = named_space(team, request).await?;
    let read = tokio::task::spawn_blocking(move || {
        let log = team.directory.space_log(&space);
        let frames = log.read_after(after, bytes.clamp(1, MAX_ANSWER_BYTES))?;
        if let (Some(first), Some(last)) = (frames.first(), frames.last()) {
            // Whatever leaves the server with its history is in the audit, whichever part it is.
            let action = if after == 0 { "clone" } else { "pull" };
            let part = format!("{}: {} to {}", space.name, first.seq, last.seq);
            team.directory
                .record_event(&account, action, &part)
                .map_err(|error| RemoteError::Unavailable { reason: error.to_string() })?;
        }
        Ok::<_, RemoteError>(frames)
    });
    let frames = match read.await {
        Ok(Ok(frames)) => frames,
        Ok(Err(error)) if error.is_away() => return Err(unavailable()),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the log of a space cannot be read");
            return Err(HttpError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "The log of this space cannot be read.",
            ));
        }
        Err(_) => {
            return Err(HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "The log broke off."));
        }
    };
    Ok(([(CONTENT_TYPE, "application/octet-stream")], encode_frames(&frames)).into_response())
}

/// Returns the space that a request names. A space that the token does not open does not exist.
async fn named_space(
    team: Arc<TeamState>,
    request: Request,
) -> Result<(Arc<TeamState>, String, SpaceGrant), HttpError> {
    let (parts, _) = request.into_parts();
    let task = tokio::task::spawn_blocking(move || {
        let authorized = team.authorize(parts.uri.path(), &parts.headers)?;
        if authorized.as_of.is_some() {
            return Err(unavailable());
        }
        let no_space =
            || HttpError::new(StatusCode::NOT_FOUND, "This token opens no space of this name.");
        let name = named_in(&parts.headers).map_err(|()| no_space())?;
        let space = authorized.grant.space(name).cloned().ok_or_else(no_space)?;
        Ok((team, authorized.grant.account.clone(), space))
    });
    task.await.unwrap_or_else(|_| {
        Err(HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "The request broke down."))
    })
}
