//! Accepts HTTP connections within two limits: the time for a request head, and the number of
//! connections without an authenticated request.
//!
//! Every program that can connect can open connections and send nothing, without a token. A
//! connection that sends no complete head in time is closed. When too many connections are
//! unauthenticated, the oldest of them is closed: a client that sends its head at once is
//! authenticated before its turn comes.

use std::collections::BTreeMap;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// Pause after a failed accept, such as one without a free file descriptor.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Limits of all connections.
#[derive(Clone, Copy)]
pub(crate) struct ConnectionLimits {
    /// Maximum time until a request head is complete.
    pub(crate) head_timeout: Duration,
    /// Maximum number of open connections without an authenticated request.
    pub(crate) max_unauthenticated: usize,
    /// Maximum time for running requests to end after the server was stopped.
    pub(crate) drain_timeout: Duration,
}

/// Accepts and serves connections until `stop` is done, then lets running requests end.
pub(crate) async fn serve_connections(
    listener: &TcpListener,
    router: Router,
    limits: ConnectionLimits,
    stop: impl Future<Output = ()>,
) {
    let unauthenticated = Arc::new(UnauthenticatedConnections::default());
    let (stopped, stopping) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    let mut next_id = 0;
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, _)) => {
                let ticket =
                    ConnectionTicket { id: next_id, unauthenticated: Arc::clone(&unauthenticated) };
                next_id += 1;
                let served = serve_connection(
                    stream,
                    router.clone(),
                    ticket.clone(),
                    limits.head_timeout,
                    stopping.clone(),
                );
                let task = connections.spawn(served);
                unauthenticated.insert(ticket.id, task, limits.max_unauthenticated);
                // A head that has arrived already is read before the next connection is accepted.
                tokio::task::yield_now().await;
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                unauthenticated.close_oldest();
                sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
    stopped.send_replace(true);
    let drained = async { while connections.join_next().await.is_some() {} };
    if timeout(limits.drain_timeout, drained).await.is_err() {
        tracing::debug!("requests were still running when the server ended");
    }
}

async fn serve_connection(
    stream: TcpStream,
    router: Router,
    ticket: ConnectionTicket,
    head_timeout: Duration,
    mut stopping: watch::Receiver<bool>,
) {
    let _removal = RemovalGuard(ticket.clone());
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ticket.clone());
        router.call(request.map(Body::new))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Returns true if accepting failed because of the one connection, which is gone.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

/// Names a connection. Every request carries the ticket of its connection as an extension.
#[derive(Clone)]
pub(crate) struct ConnectionTicket {
    id: u64,
    unauthenticated: Arc<UnauthenticatedConnections>,
}

impl ConnectionTicket {
    /// Exempts the connection from the limit of unauthenticated ones, for as long as it lasts.
    pub(crate) fn mark_authenticated(&self) {
        self.unauthenticated.remove(self.id);
    }
}

/// Removes a connection from the list when its task ends, also when the task is aborted.
struct RemovalGuard(ConnectionTicket);

impl Drop for RemovalGuard {
    fn drop(&mut self) {
        self.0.unauthenticated.remove(self.0.id);
    }
}

/// Open connections without an authenticated request, the oldest first.
#[derive(Default)]
struct UnauthenticatedConnections(Mutex<BTreeMap<u64, AbortHandle>>);

impl UnauthenticatedConnections {
    /// Adds a connection, and closes the oldest ones beyond the limit.
    fn insert(&self, id: u64, task: AbortHandle, limit: usize) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while open.len() >= limit.max(1)
            && let Some((_, oldest)) = open.pop_first()
        {
            oldest.abort();
        }
        open.insert(id, task);
    }

    fn remove(&self, id: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    fn close_oldest(&self) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, oldest)) = open.pop_first() {
            tracing::debug!("closed the oldest unauthenticated connection");
            oldest.abort();
        }
    }
}
