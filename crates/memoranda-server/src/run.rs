//! Starts and stops the servers. Each has a runtime of its own, and stops without waiting for
//! abandoned calls.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use memoranda_engine::Memory;
use tokio::runtime::{Builder, Runtime};

use crate::api::{ApiState, router};
use crate::config::{ClientAuthentication, ServerConfig};
use crate::connections::{ConnectionLimits, serve_connections};
use crate::error::ServerError;
use crate::guard::RequestGuard;
use crate::mcp;
use crate::page::{PageSessions, PageState};
use crate::tool_catalog::ToolCatalog;

/// Maximum number of concurrent calls over stdio.
const MAX_STDIO_CALLS: usize = 8;
/// Maximum number of concurrent calls over HTTP, for all clients.
const MAX_HTTP_CALLS: usize = 32;
/// Maximum time for running calls to end after the server was stopped.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// Time between checks whether a page is open.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(15);

/// Serves one client over stdin and stdout until stdin closes.
#[expect(clippy::needless_pass_by_value, reason = "the server owns its configuration")]
pub fn run_stdio(memory: Arc<Memory>, config: ServerConfig) -> Result<(), ServerError> {
    let runtime = runtime(MAX_STDIO_CALLS)?;
    let done = runtime.block_on(async {
        crate::expiry::start(&memory, &config);
        let (read, write) = rmcp::transport::stdio_pipes();
        mcp::serve_stream(memory, &config, read, write).await
    });
    runtime.shutdown_timeout(DRAIN_TIMEOUT);
    done
}

/// Serves HTTP until the process is interrupted. Passes its address to `listening`.
pub fn run_http(
    memory: Arc<Memory>,
    config: ServerConfig,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), ServerError> {
    let server = HttpServer::bind(config)?;
    listening(server.address());
    server.run_until(memory, wait_for_interrupt())
}

/// A server that is bound to its address and does not serve yet.
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    config: ServerConfig,
}

impl HttpServer {
    /// Binds the address. Rejects a configuration without a decision about authentication.
    pub fn bind(config: ServerConfig) -> Result<Self, ServerError> {
        config.check()?;
        if matches!(config.authentication, ClientAuthentication::Undecided) {
            return Err(ServerError::AuthenticationUndecided);
        }
        config.selection.resolve()?;
        let bound = TcpListener::bind(config.bind).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?, listener))
        });
        let (address, listener) =
            bound.map_err(|source| ServerError::Bind { bind: config.bind, source })?;
        Ok(Self { listener, address, config })
    }

    /// Returns the bound address. Port 0 is replaced by the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the listener, inside of a runtime, and the configuration.
    pub(crate) fn into_parts(self) -> Result<(tokio::net::TcpListener, ServerConfig), ServerError> {
        let io = |source| ServerError::Io { doing: "serve HTTP", source };
        Ok((tokio::net::TcpListener::from_std(self.listener).map_err(io)?, self.config))
    }

    /// Serves until the process is interrupted, or until no page was open for the idle timeout.
    pub fn run(self, memory: Arc<Memory>) -> Result<(), ServerError> {
        self.run_until(memory, wait_for_interrupt())
    }

    /// Serves until `stop` is done, or until no page was open for the idle timeout.
    pub fn run_until(
        self,
        memory: Arc<Memory>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        let runtime = runtime(MAX_HTTP_CALLS)?;
        let done = runtime.block_on(self.serve(memory, stop));
        runtime.shutdown_timeout(DRAIN_TIMEOUT);
        done
    }

    async fn serve(
        self,
        memory: Arc<Memory>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        let io = |source| ServerError::Io { doing: "serve HTTP", source };
        let listener = tokio::net::TcpListener::from_std(self.listener).map_err(io)?;
        let catalog = Arc::new(ToolCatalog::new(Arc::clone(&memory), &self.config)?);
        let sessions = Arc::new(PageSessions::new(self.config.session_token()));
        let page =
            Arc::new(PageState::new(Arc::clone(&catalog), Arc::clone(&sessions), &self.config));
        let idle = wait_until_unused(Arc::clone(&page), self.config.idle_timeout);
        let app = ApiState { mcp: mcp::service(Arc::clone(&catalog), &self.config), catalog, page };
        let router = router(app, RequestGuard::new(&self.config, sessions));
        crate::expiry::start(&memory, &self.config);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = memory.start_background() {
                tracing::warn!(%error, "the watcher did not start: edits by hand are noticed by scans only");
            }
        });
        let limits = ConnectionLimits {
            head_timeout: self.config.head_timeout,
            max_unauthenticated: self.config.max_unauthenticated_connections,
            drain_timeout: DRAIN_TIMEOUT,
        };
        let ended = async {
            tokio::select! {
                () = stop => {}
                () = idle => tracing::info!("no page was open for a while: the server ends"),
            }
        };
        serve_connections(&listener, router, limits, ended).await;
        Ok(())
    }
}

/// Builds a runtime with one thread for I/O; calls run on its blocking pool.
pub(crate) fn runtime(calls: usize) -> Result<Runtime, ServerError> {
    Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(calls)
        .build()
        .map_err(|source| ServerError::Io { doing: "start", source })
}

/// Waits until no page was open for a time; for ever if there is no such time.
async fn wait_until_unused(page: Arc<PageState>, idle_timeout: Option<Duration>) {
    let Some(idle_timeout) = idle_timeout else { return std::future::pending().await };
    let mut unused_since = Instant::now();
    while unused_since.elapsed() < idle_timeout {
        tokio::time::sleep(IDLE_CHECK_INTERVAL.min(idle_timeout)).await;
        if page.streams.load(Ordering::SeqCst) > 0 {
            unused_since = Instant::now();
        }
    }
}

/// Waits for Ctrl-C or SIGTERM.
pub(crate) async fn wait_for_interrupt() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
