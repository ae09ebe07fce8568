//! One client over a stream of lines: stdin and stdout, or any other pair.
//!
//! The server ends when the stream does, also before a word was said. Calls that are under way
//! then may still be answered, for a moment: programs that write their requests into a pipe and
//! close it want the answers, and those that are gone want nothing.

use std::sync::Arc;
use std::time::Duration;

use memoranda_engine::Memory;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta as _, ProtocolVersion, ServerJsonRpcMessage,
};
use rmcp::service::ServerInitializeError;
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ErrorData, RoleServer, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::McpHandler;
use super::line_filter::{LineError, LineFilter, RejectedLine};
use crate::config::ServerConfig;
use crate::error::ServerError;
use crate::tool_catalog::ToolCatalog;

/// The longest line that is read. The largest file that may be written fits in, escapes and all.
const MAX_LINE_BYTES: usize = 64 << 20;

/// When the stream has ended, calls may still be answered as long as the next answer is not longer
/// in coming than this, but no longer than the second value.
const NEXT_ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
const DRAIN_TIMEOUT: Duration = Duration::from_secs(20);

/// Serves one client over a stream of lines until it ends. Must be called within a runtime.
pub async fn serve_stream<R, W>(
    memory: Arc<Memory>,
    config: &ServerConfig,
    read: R,
    write: W,
) -> Result<(), ServerError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let handler = McpHandler::new(Arc::new(ToolCatalog::new(memory, config)?));
    let (tell, unreadable) = unbounded_channel();
    let read = LineFilter::new(read, MAX_LINE_BYTES, tell);
    let lines = AsyncRwTransport::new_server(read, write).with_max_line_length(MAX_LINE_BYTES);
    let subscriptions = Arc::clone(&handler.subscriptions);
    let (ended, answered) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let opening = HandshakeTransport {
        lines,
        unreadable,
        opened: false,
        ended: Arc::clone(&ended),
        answered: Arc::clone(&answered),
    };
    match handler.serve(opening).await {
        Ok(running) => {
            let stop = running.cancellation_token();
            let late = async {
                ended.notified().await;
                subscriptions.close();
                let last = async {
                    while tokio::time::timeout(NEXT_ANSWER_TIMEOUT, answered.notified())
                        .await
                        .is_ok()
                    {}
                };
                tokio::time::timeout(DRAIN_TIMEOUT, last).await.ok();
                stop.cancel();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                done = running.waiting() => match done {
                    Ok(_) => Ok(()),
                    Err(error) => Err(ServerError::Protocol(error.to_string())),
                },
                () = late => Ok(()),
            }
        }
        // The client went away before it said anything, or while it was greeted.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. }
            | ServerInitializeError::Cancelled,
        ) => Ok(()),
        Err(error) => Err(ServerError::Protocol(error.to_string())),
    }
}

/// A transport that lets nothing but requests through until the first that opens a session.
///
/// A client that gives up on `server/discover` and greets with `initialize` instead says so in
/// between with a notification, which must not end the server.
struct HandshakeTransport<T> {
    lines: T,
    /// Lines that are no messages.
    unreadable: UnboundedReceiver<RejectedLine>,
    opened: bool,
    /// Told when the stream has ended.
    ended: Arc<Notify>,
    /// Told of every message that goes out.
    answered: Arc<Notify>,
}

impl<T: Transport<RoleServer>> HandshakeTransport<T> {
    /// Answers a line that is no message.
    async fn refuse(&mut self, RejectedLine { id, fault }: RejectedLine) {
        tracing::debug!(?fault, "a line is no message");
        let error = match fault {
            LineError::NoJson(reason) => {
                ErrorData::parse_error(format!("Parse error: {reason}"), None)
            }
            LineError::NoRequest(reason) => {
                ErrorData::invalid_request(format!("Invalid request: {reason}"), None)
            }
        };
        // Whoever does not listen learns nothing from the rest either.
        self.lines.send(ServerJsonRpcMessage::error(error, id)).await.ok();
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for HandshakeTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.answered.notify_one();
        self.lines.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = tokio::select! {
                biased;
                Some(unreadable) = self.unreadable.recv() => {
                    self.refuse(unreadable).await;
                    continue;
                }
                message = self.lines.receive() => message,
            };
            let Some(message) = message else {
                // The last lines may have been none.
                while let Ok(unreadable) = self.unreadable.try_recv() {
                    self.refuse(unreadable).await;
                }
                self.ended.notify_one();
                return None;
            };
            if self.opened {
                return Some(message);
            }
            let ClientJsonRpcMessage::Request(request) = &message else {
                tracing::debug!("passed over what came before the first request");
                continue;
            };
            self.opened = match &request.request {
                ClientRequest::InitializeRequest(_) => true,
                ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
                other => {
                    let version = &ProtocolVersion::V_2026_07_28;
                    other.get_meta().missing_required_keys(version).is_empty()
                }
            };
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.lines.close().await
    }
}
