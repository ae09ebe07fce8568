//! One client over a stream of lines: stdin and stdout, or any other pair.
//!
//! The server ends when the stream ends, also before the first message. Running calls may still be
//! answered for a moment: a program that writes its requests into a pipe and closes it expects the
//! answers.

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

/// Maximum length of a line. The largest file that a tool accepts fits, with all escapes.
const MAX_LINE_BYTES: usize = 64 << 20;

/// Maximum time between two answers after the end of the stream.
const NEXT_ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum time for all answers after the end of the stream.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(20);

/// Serves one client over a stream of lines until it ends. Requires a Tokio runtime.
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
    let (reject, rejected) = unbounded_channel();
    let read = LineFilter::new(read, MAX_LINE_BYTES, reject);
    let lines = AsyncRwTransport::new_server(read, write).with_max_line_length(MAX_LINE_BYTES);
    let subscriptions = Arc::clone(&handler.subscriptions);
    let (ended, answered) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let transport = HandshakeTransport {
        lines,
        rejected,
        opened: false,
        ended: Arc::clone(&ended),
        answered: Arc::clone(&answered),
    };
    match handler.serve(transport).await {
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
        // The client disconnected before or during the handshake.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. }
            | ServerInitializeError::Cancelled,
        ) => Ok(()),
        Err(error) => Err(ServerError::Protocol(error.to_string())),
    }
}

/// A transport that passes only requests until the first one that opens a session.
///
/// A client that gives up on `server/discover` and sends `initialize` instead sends a notification
/// in between, which must not end the server.
struct HandshakeTransport<T> {
    lines: T,
    /// Lines that are not messages.
    rejected: UnboundedReceiver<RejectedLine>,
    opened: bool,
    /// Notified when the stream has ended.
    ended: Arc<Notify>,
    /// Notified of every outgoing message.
    answered: Arc<Notify>,
}

impl<T: Transport<RoleServer>> HandshakeTransport<T> {
    /// Returns an error for a line that is not a message.
    async fn refuse(&mut self, RejectedLine { id, error }: RejectedLine) {
        tracing::debug!(?error, "rejected a line that is not a message");
        let response = match error {
            LineError::NotJson(reason) => {
                ErrorData::parse_error(format!("Parse error: {reason}"), None)
            }
            LineError::InvalidRequest(reason) => {
                ErrorData::invalid_request(format!("Invalid request: {reason}"), None)
            }
        };
        // A client that does not read gets no other response either.
        self.lines.send(ServerJsonRpcMessage::error(response, id)).await.ok();
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
                Some(rejected) = self.rejected.recv() => {
                    self.refuse(rejected).await;
                    continue;
                }
                message = self.lines.receive() => message,
            };
            let Some(message) = message else {
                // The last lines may have been rejected.
                while let Ok(rejected) = self.rejected.try_recv() {
                    self.refuse(rejected).await;
                }
                self.ended.notify_one();
                return None;
            };
            if self.opened {
                return Some(message);
            }
            let ClientJsonRpcMessage::Request(request) = &message else {
                tracing::debug!("ignored a message before the first request");
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
