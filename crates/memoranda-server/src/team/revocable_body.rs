//! Streams that end with their token: before anything is sent on an open stream, the token is looked
//! up again, so that a removed member learns nothing more.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use hyper::body::Frame;
use tokio::task::JoinHandle;

use super::TeamState;
use super::request::TeamRequest;

/// A body whose frames are sent only while a token opens its space.
struct RevocableBody {
    inner: Body,
    team: Arc<TeamState>,
    path: String,
    headers: HeaderMap,
    /// A frame that waits for the answer of the directory.
    waiting: Option<(Frame<Bytes>, JoinHandle<bool>)>,
}

/// Lets a stream end when the token of its request no longer opens the space.
pub(super) fn end_with_token(
    response: Response,
    team: Arc<TeamState>,
    path: String,
    headers: HeaderMap,
) -> Response {
    response.map(|inner| Body::new(RevocableBody { inner, team, path, headers, waiting: None }))
}

impl RevocableBody {
    /// Begins to look the token up. A directory that cannot be reached revokes nothing.
    fn look_up(&self) -> JoinHandle<bool> {
        let (team, path) = (Arc::clone(&self.team), self.path.clone());
        let headers = self.headers.clone();
        tokio::task::spawn_blocking(move || match TeamRequest::unlimited(&team, &path, &headers) {
            Ok(request) => !request.spaces().is_empty(),
            Err(error) => error.status.is_server_error(),
        })
    }
}

impl hyper::body::Body for RevocableBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            if let Some((_, look_up)) = &mut self.waiting {
                let Poll::Ready(is_open) = Pin::new(look_up).poll(context) else {
                    return Poll::Pending;
                };
                let frame = self.waiting.take().map(|(frame, _)| Ok(frame));
                return Poll::Ready(frame.filter(|_| is_open.unwrap_or(false)));
            }
            match Pin::new(&mut self.inner).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    let look_up = self.look_up();
                    self.waiting = Some((frame, look_up));
                }
                other => return other,
            }
        }
    }
}
