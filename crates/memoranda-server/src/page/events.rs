//! The stream of changes: server-sent events that a page reads with `fetch`.
//!
//! Each commit is one event with its id, in the order of the history. A page that was away sends
//! the last id that it knows and gets everything since.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Frame;
use memoranda_engine::core::id::CommitId;
use memoranda_engine::{HistoryFilter, IndexProgress, LedgerFilter, Memory};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout_at};

use super::PageState;
use super::history_json::entry_json;
use super::query_string::QueryString;
use crate::http_error::HttpError;

/// Time after which a comment keeps an idle stream open.
const HEARTBEAT: Duration = Duration::from_secs(75);
/// Time in which several changes are combined into one look at the history.
const DEBOUNCE: Duration = Duration::from_millis(30);
/// Time between looks at the progress of an index that is being built.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of commits that are sent at once; a page that missed more starts over.
const MAX_MISSED: usize = 1000;
/// Maximum number of streams.
const MAX_STREAMS: usize = 64;

/// Answers with the stream of events.
pub(super) fn stream(page: Arc<PageState>, query: &QueryString, headers: &HeaderMap) -> Response {
    let resumed = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let after = query.get("after").or(resumed).and_then(CommitId::parse);
    let following = match Following::start(&page) {
        Ok(following) => following,
        Err(error) => return error.into_response(),
    };
    let (sender, receiver) = mpsc::channel(64);
    tokio::spawn(send_events(page, after, following, sender));
    let mut response = Body::new(EventBody(receiver)).into_response();
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A place among the streams, and the changes of the vault.
struct Following {
    page: Arc<PageState>,
    changed: watch::Receiver<()>,
    _subscription: memoranda_engine::ChangeSubscription,
}

impl Following {
    fn start(page: &Arc<PageState>) -> Result<Self, HttpError> {
        use std::sync::atomic::Ordering;
        if page.streams.fetch_add(1, Ordering::SeqCst) >= MAX_STREAMS {
            page.streams.fetch_sub(1, Ordering::SeqCst);
            let message = "Too many pages are open: close one.";
            return Err(HttpError::new(StatusCode::SERVICE_UNAVAILABLE, message));
        }
        let (run, changed) = watch::channel(());
        let followed = page.catalog.memory.subscribe(move || run.send_replace(()));
        match followed {
            Ok(_subscription) => Ok(Self { page: Arc::clone(page), changed, _subscription }),
            Err(error) => {
                page.streams.fetch_sub(1, Ordering::SeqCst);
                Err(HttpError::from(error))
            }
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.page.streams.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
    }
}

/// Sends events until the page is gone.
async fn send_events(
    page: Arc<PageState>,
    after: Option<CommitId>,
    mut following: Following,
    sender: mpsc::Sender<Bytes>,
) {
    let Some(start) = look(&page, move |memory, page| start_events(memory, page, after)).await
    else {
        return;
    };
    let mut last = start.last;
    let mut is_building = start.is_building;
    for event in start.events {
        if sender.send(event).await.is_err() {
            return;
        }
    }
    loop {
        let wait = if is_building { PROGRESS_INTERVAL } else { HEARTBEAT };
        let until = Instant::now() + wait;
        let happened = tokio::select! {
            () = sender.closed() => return,
            happened = timeout_at(until, following.changed.changed()) => happened,
        };
        let events = match happened {
            Ok(Ok(())) => {
                sleep(DEBOUNCE).await;
                following.changed.mark_unchanged();
                let known = last;
                look(&page, move |memory, page| new_events(memory, page, known)).await
            }
            Ok(Err(_)) => return,
            Err(_) if is_building => {
                let known = last;
                look(&page, move |memory, page| new_events(memory, page, known)).await
            }
            Err(_) => Some(EventBatch {
                events: vec![Bytes::from_static(b": beat\n\n")],
                last,
                is_building,
            }),
        };
        let Some(batch) = events else { continue };
        let is_built = is_building && !batch.is_building;
        (last, is_building) = (batch.last, batch.is_building);
        let whole = json!({ "state": "whole", "done": 0, "total": 0 });
        let built = is_built.then(|| event("index", None, &whole));
        for event in batch.events.into_iter().chain(built) {
            if sender.send(event).await.is_err() {
                return;
            }
        }
    }
}

/// Events to send, and the state after them.
struct EventBatch {
    events: Vec<Bytes>,
    last: Option<CommitId>,
    is_building: bool,
}

/// Runs a look at the history on the blocking pool; `None` if it failed.
async fn look(
    page: &Arc<PageState>,
    work: impl FnOnce(&Memory, &PageState) -> Result<EventBatch, HttpError> + Send + 'static,
) -> Option<EventBatch> {
    let page = Arc::clone(page);
    let task = tokio::task::spawn_blocking(move || work(&page.catalog.memory, &page));
    match task.await {
        Ok(Ok(batch)) => Some(batch),
        Ok(Err(error)) => {
            tracing::warn!(error = error.message, "cannot look for changes");
            None
        }
        Err(_) => None,
    }
}

fn start_events(
    memory: &Memory,
    page: &PageState,
    after: Option<CommitId>,
) -> Result<EventBatch, HttpError> {
    let head = memory.log(&HistoryFilter::default(), 1, 0)?.into_iter().next();
    let head = head.map(|commit| commit.id);
    let is_known = after.is_some_and(|after| memory.commit(after.as_str()).is_ok());
    let missed = if is_known {
        let filter = LedgerFilter { after, ..LedgerFilter::default() };
        Some(memory.ledger_count(&filter, MAX_MISSED + 1)?).filter(|missed| *missed <= MAX_MISSED)
    } else {
        None
    };
    let data = json!({
        "head": head.map(|id| id.to_string()),
        "resumed": missed.is_some() || after.is_none(),
    });
    let mut batch = match missed {
        Some(_) => new_events(memory, page, after)?,
        None => EventBatch { events: Vec::new(), last: head, is_building: false },
    };
    batch.events.insert(0, event("ready", None, &data));
    batch.is_building = !matches!(index_progress(memory), Some(IndexProgress::Whole));
    Ok(batch)
}

fn index_progress(memory: &Memory) -> Option<IndexProgress> {
    memory.await_index(Duration::ZERO, &|_, _| ()).ok()
}

/// Returns the events since a commit, the oldest first.
fn new_events(
    memory: &Memory,
    page: &PageState,
    after: Option<CommitId>,
) -> Result<EventBatch, HttpError> {
    let mut events = Vec::new();
    let filter = LedgerFilter { after, ..LedgerFilter::default() };
    let found = memory.ledger(&filter, MAX_MISSED)?;
    let mut last = after;
    let only = page.catalog.settings.notes.only_project.as_deref();
    for entry in found.entries.iter().rev() {
        last = Some(entry.commit.id);
        let is_shown = match only {
            None => true,
            // An entry has only the first files of its commit.
            Some(only) => {
                let whole = memory.commit(entry.commit.id.as_str())?;
                whole.files.iter().all(|file| file.project.as_str() == only)
            }
        };
        if is_shown {
            events.push(event("commit", Some(entry.commit.id), &entry_json(entry)));
        }
    }
    let is_building = match index_progress(memory) {
        Some(IndexProgress::Part { done, total }) => {
            let data = json!({ "state": "building", "done": done, "total": total });
            events.push(event("index", None, &data));
            true
        }
        Some(IndexProgress::Whole) | None => false,
    };
    Ok(EventBatch { events, last, is_building })
}

/// Writes an event in its framing.
fn event(name: &str, id: Option<CommitId>, data: &Value) -> Bytes {
    let id = id.map_or(String::new(), |id| format!("id: {id}\n"));
    // JSON on one line has no line break.
    Bytes::from(format!("{id}event: {name}\ndata: {data}\n\n"))
}

/// A body that ends when the sender is gone.
struct EventBody(mpsc::Receiver<Bytes>);

impl hyper::body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
