//! The web page: its files, the way in, and the data that it shows.
//!
//! The files contain no secret. Everything else needs a session, on loopback too. Each route is a
//! function from a request to JSON, which runs on the blocking pool.

mod agents;
mod brief;
mod built_files;
mod care;
mod contradictions;
mod events;
mod export;
mod facts;
mod history;
mod history_json;
mod machine;
mod map;
mod note;
mod now;
mod query_string;
mod request;
mod routes;
mod rules;
mod search;
mod sessions;
mod status;
mod tree_json;
mod undo;
mod way_in;
mod write;

pub(crate) use built_files::built_file;
pub(crate) use query_string::QueryString;
pub(crate) use routes::PAGE_ROUTES;
pub(crate) use sessions::PageSessions;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use axum::Json;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use memoranda_engine::WriteObstacle;
use memoranda_tools::{AccessMode, json_object};
use serde_json::{Map, Value};

use crate::api::ApiState;
use crate::config::{ClientAuthentication, ServerConfig};
use crate::http_error::HttpError;
use crate::page_services::PageServices;
use crate::team::TeamRequest;
use crate::tool_catalog::ToolCatalog;
use request::PageRequest;

/// State of the page's routes.
pub(crate) struct PageState {
    pub(crate) catalog: Arc<ToolCatalog>,
    pub(crate) sessions: Arc<PageSessions>,
    /// True if the server offers only tools that change nothing.
    pub(crate) is_read_only: bool,
    /// True if only this machine can connect.
    pub(crate) is_local: bool,
    /// Services of the binary; `None` if there are none.
    pub(crate) services: Option<Arc<dyn PageServices>>,
    /// Number of open event streams.
    pub(crate) streams: AtomicUsize,
}

impl PageState {
    pub(crate) fn new(
        catalog: Arc<ToolCatalog>,
        sessions: Arc<PageSessions>,
        config: &ServerConfig,
    ) -> Self {
        Self {
            catalog,
            sessions,
            is_read_only: config.selection.access == AccessMode::ReadOnly,
            // A server with other names or origins is behind a proxy, which others may reach, and a
            // directory lets in others than the owner of this machine.
            is_local: !matches!(config.authentication, ClientAuthentication::Directory)
                && config.binds_to_loopback()
                && config.allowed_hosts.is_empty()
                && config.allowed_origins.is_empty(),
            services: config.page_services.clone(),
            streams: AtomicUsize::new(0),
        }
    }
}

/// A route's function.
pub(crate) type PageHandler = fn(&PageRequest<'_>) -> Result<Value, HttpError>;

/// Handler of a route of the page.
#[derive(Clone, Copy)]
pub(crate) enum PageEndpoint {
    /// With a built file.
    BuiltFile,
    /// With JSON, without a change.
    Reads(PageHandler),
    /// With JSON, after a change of memory.
    Writes(PageHandler),
    /// With a stream of events.
    Events,
    /// With the bytes of a file.
    FileBytes,
    /// With the columns of the map.
    Map,
    /// With the vault or a project as a file.
    Export,
}

impl PageEndpoint {
    /// Answers a request.
    pub(crate) async fn answer(
        self,
        State(app): State<Arc<ApiState>>,
        request: Request,
    ) -> Response {
        let (head, body) = request.into_parts();
        let query = QueryString::parse(head.uri.query().unwrap_or_default());
        let page = Arc::clone(&app.page);
        let team = head.extensions.get::<Arc<TeamRequest>>().cloned();
        if let Self::Writes(_) = self
            && let Some(refusal) = write_refusal(&page, team.as_deref())
        {
            return refusal.into_response();
        }
        let handler = match self {
            Self::BuiltFile => return built_files::built_file(head.uri.path(), &head.headers),
            Self::Events => return events::stream(page, &query, &head.headers),
            Self::Export => return export::export(page, query, team).await,
            Self::FileBytes => {
                return run(page, team, query, Map::new(), note::file_bytes).await;
            }
            Self::Map => return run(page, team, query, Map::new(), map::map).await,
            Self::Reads(handler) | Self::Writes(handler) => handler,
        };
        // The guard has read the body and checked its size.
        let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let body = if body.trim_ascii().is_empty() { Ok(Map::new()) } else { json_object(&body) };
        match body {
            Ok(body) => {
                run(page, team, query, body, move |request| {
                    handler(request).map(|value| Json(value).into_response())
                })
                .await
            }
            Err(error) => {
                HttpError::bad_request(format!("The body is not a JSON object: {error}."))
                    .into_response()
            }
        }
    }
}

/// Returns the reason why a request can change nothing; `None` if it can.
fn write_refusal(page: &PageState, team: Option<&TeamRequest>) -> Option<HttpError> {
    if page.is_read_only {
        let message = "This server is read-only: it was started with --read-only.";
        return Some(HttpError::coded(StatusCode::FORBIDDEN, "read-only", message));
    }
    team.and_then(TeamRequest::page_write_refusal)
}

/// Runs a handler on the blocking pool.
async fn run(
    page: Arc<PageState>,
    team: Option<Arc<TeamRequest>>,
    query: QueryString,
    body: Map<String, Value>,
    handler: impl FnOnce(&PageRequest<'_>) -> Result<Response, HttpError> + Send + 'static,
) -> Response {
    let task = tokio::task::spawn_blocking(move || {
        let request = PageRequest { page: &page, team, query, body };
        handler(&request)
            .unwrap_or_else(|error| unless_vault_is_away(error, &request).into_response())
    });
    task.await.unwrap_or_else(|error| {
        tracing::error!(%error, "a route of the page broke down");
        HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "The page's request broke down.")
            .into_response()
    })
}

/// Returns the error of a request, or the absence of the vault if that is why nothing was found.
fn unless_vault_is_away(error: HttpError, request: &PageRequest<'_>) -> HttpError {
    let memory = request.vault();
    match memory.write_obstacle() {
        Some(away @ WriteObstacle::Absent) if error.status != StatusCode::BAD_REQUEST => {
            let (code, detail) = status::obstacle_sentence(away, request);
            HttpError::coded(StatusCode::SERVICE_UNAVAILABLE, code, detail)
        }
        _ => error,
    }
}
