//! One client over a stream of lines: stdin and stdout, or any other pair.
//!
//! The server ends when the stream does, also before a word was said. Calls that are under way
//! then are finished first: what was asked is answered.

use std::sync::Arc;

use memoranda_engine::Memory;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta as _, ProtocolVersion, ServerJsonRpcMessage,
};
use rmcp::service::ServerInitializeError;
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Handler;
use crate::config::ServerConfig;
use crate::error::ServerError;
use crate::offer::Offer;

/// The longest line that is read. The largest file that may be written fits in, escapes and all.
const LONGEST_LINE: usize = 64 << 20;

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
    let handler = Handler::new(Arc::new(Offer::new(memory, config)?));
    let lines = AsyncRwTransport::new_server(read, write).with_max_line_length(LONGEST_LINE);
    match handler.serve(Opening { lines, opened: false }).await {
        Ok(running) => match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(ServerError::Protocol(error.to_string())),
        },
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
struct Opening<T> {
    lines: T,
    opened: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Opening<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.lines.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.lines.receive().await?;
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
