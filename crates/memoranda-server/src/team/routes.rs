//! Routes of a team server: those of a server of one vault, on the space that a token opens, the
//! log for clones, and what an operator looks at.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::body::{Bytes, to_bytes};
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router, middleware};
use memoranda_tools::ToolDef;
use serde_json::{Value, json};

use super::oauth::oauth_routes;
use super::page_routes::with_page;
use super::request::TeamRequest;
use super::revocable_body::end_with_token;
use super::spaces::OpenSpace;
use super::{TEAM_TOOLS, TeamState, log_routes};
use crate::api;
use crate::connections::ConnectionTicket;
use crate::guard::{RequestGuard, guard};
use crate::http_error::HttpError;

/// Paths of the Model Context Protocol. The prefix is for clients that send a token and must not
/// find a way to sign in.
const MCP_PATHS: [&str; 4] =
    ["/mcp", "/mcp/readonly", "/mcp/x/{toolset}", "/mcp/x/{toolset}/readonly"];
/// Prefix of the paths for clients with a token.
pub(super) const TOKEN_PREFIX: &str = "/t";

/// Challenge for a token without the scope to write, at paths where nobody signs in.
const PLAIN_SCOPE_CHALLENGE: &str =
    "Bearer realm=\"memoranda\", error=\"insufficient_scope\", scope=\"memory:read memory:write\"";

/// Builds the router.
pub(super) fn router(team: Arc<TeamState>, guards: RequestGuard) -> Router {
    let guards = Arc::new(guards);
    let mut guarded = Router::new();
    for path in MCP_PATHS {
        guarded = guarded.route(path, any(mcp)).route(&format!("{TOKEN_PREFIX}{path}"), any(mcp));
    }
    let guarded = with_page(guarded)
        .route("/api/tools/{name}", post(tool))
        .route("/api/memory-tool", post(memory_tool))
        .route("/api/health", get(health))
        .route("/t/log/head", get(log_routes::head))
        .route("/t/log/frames", get(log_routes::frames))
        .fallback(|| async { HttpError::not_found("There is nothing here.") })
        .method_not_allowed_fallback(|| async {
            HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "This route takes another method.")
        })
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Arc::clone(&guards), guard));
    // Probes come by the address of the machine and without a token; they tell nothing of memory.
    let probes = Router::new()
        .route("/healthz", get(health))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics));
    let oauth = team.oauth.as_ref().map(|oauth| oauth_routes(Arc::clone(oauth), guards));
    guarded
        .merge(probes)
        .merge(oauth.unwrap_or_default())
        .layer(middleware::from_fn_with_state(Arc::clone(&team), measure))
        .with_state(team)
}

/// Counts requests and their times.
async fn measure(State(team): State<Arc<TeamState>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let response = next.run(request).await;
    team.metrics.count_request(response.status().as_u16(), started.elapsed());
    response
}

/// The process lives.
async fn health(State(team): State<Arc<TeamState>>) -> Json<Value> {
    Json(json!({ "status": "ok", "name": "memoranda", "version": team.config.server_version }))
}

/// The server takes requests: its database can be reached and has the right tables.
async fn ready(State(team): State<Arc<TeamState>>) -> Response {
    let (status, why) = match readiness(team).await {
        Ok(()) => (StatusCode::OK, "ready"),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    };
    (status, Json(json!({ "status": why }))).into_response()
}

async fn readiness(team: Arc<TeamState>) -> Result<(), &'static str> {
    if team.is_ending.load(Ordering::SeqCst) {
        return Err("the server is being stopped");
    }
    let checked = tokio::task::spawn_blocking(move || team.directory.check_ready()).await;
    match checked {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            tracing::warn!(%error, "not ready");
            Err("the database cannot be reached, or has another version")
        }
        Err(_) => Err("the check broke down"),
    }
}

async fn metrics(State(team): State<Arc<TeamState>>) -> Response {
    let is_ready = readiness(Arc::clone(&team)).await.is_ok();
    let text = team.metrics.render(team.spaces.open_count(), is_ready);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

/// Authorizes a request and opens its first space in its current state, on the blocking pool.
pub(super) async fn enter(
    team: Arc<TeamState>,
    path: String,
    headers: HeaderMap,
    ticket: Option<ConnectionTicket>,
) -> Result<(Arc<TeamRequest>, Arc<OpenSpace>), HttpError> {
    let (entered, _) = enter_to_call(team, path, headers, ticket).await?;
    let open = catch_up(&entered).await?;
    Ok((entered, open))
}

/// Authorizes a request and opens its first space for the call of a tool, on the blocking pool. The
/// call brings the spaces that it needs into their current state.
async fn enter_to_call(
    team: Arc<TeamState>,
    path: String,
    headers: HeaderMap,
    ticket: Option<ConnectionTicket>,
) -> Result<(Arc<TeamRequest>, Arc<OpenSpace>), HttpError> {
    let task = tokio::task::spawn_blocking(move || {
        let entered = TeamRequest::new(&team, &path, &headers)?;
        if let Some(ticket) = ticket {
            ticket.mark_authenticated();
        }
        let open = entered.open_first_to_call()?;
        Ok((Arc::new(entered), open))
    });
    task.await.unwrap_or_else(|error| Err(broke_down(&error)))
}

/// Brings the first space of a request into its current state.
async fn catch_up(entered: &Arc<TeamRequest>) -> Result<Arc<OpenSpace>, HttpError> {
    let entered = Arc::clone(entered);
    let task = tokio::task::spawn_blocking(move || entered.open_first());
    task.await.unwrap_or_else(|error| Err(broke_down(&error)))
}

fn broke_down(error: &tokio::task::JoinError) -> HttpError {
    tracing::error!(%error, "a request broke down");
    HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "The request broke down.")
}

/// Passes a request to the MCP service of its first space.
async fn mcp(
    State(team): State<Arc<TeamState>>,
    mut request: Request,
) -> Result<Response, HttpError> {
    let ticket = request.extensions().get::<ConnectionTicket>().cloned();
    let (path, headers) = (request.uri().path().to_owned(), request.headers().clone());
    let error = headers.contains_key(AUTHORIZATION).then_some("invalid_token");
    let entered = enter_to_call(Arc::clone(&team), path.clone(), headers, ticket).await;
    let (entered, mut open) = match entered {
        Ok(entered) => entered,
        Err(refusal) if refusal.status == StatusCode::UNAUTHORIZED => {
            return Ok(challenge(&team, &path, error, refusal));
        }
        Err(refusal) => return Err(refusal),
    };
    let (head, body) = request.into_parts();
    // The guard has read the body and checked its size.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    match called_tool(&body) {
        Some(tool) if !tool.hints.read_only && entered.lacks_write_scope() => {
            return Ok(insufficient_scope(&team, &path, tool));
        }
        Some(_) => {}
        // A resource, for example, is read from the space itself.
        None => open = catch_up(&entered).await?,
    }
    request = Request::from_parts(head, body.into());
    let is_stream = request.method() == Method::GET || is_listening(&request);
    if is_stream {
        open.follow();
    }
    let sent = request.headers().clone();
    request.extensions_mut().insert(entered);
    if let Some(path) = request.uri().path().strip_prefix(TOKEN_PREFIX)
        && let Ok(path) = path.parse()
    {
        *request.uri_mut() = path;
    }
    let answer = api::mcp(State(Arc::clone(&open.app)), request).await?;
    Ok(if is_stream { end_with_token(answer, team, path, sent) } else { answer })
}

/// Answers a request without a valid token: a client that can sign in learns where.
fn challenge(team: &TeamState, path: &str, error: Option<&str>, refusal: HttpError) -> Response {
    let mut response = refusal.into_response();
    let challenge = team.oauth.as_ref().and_then(|oauth| oauth.public.challenge(path, error));
    if let Some(value) = challenge.and_then(|text| HeaderValue::from_str(&text).ok()) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    response
}

/// Returns the tool that an MCP message calls; `None` for another message or an unknown tool.
fn called_tool(body: &[u8]) -> Option<&'static ToolDef> {
    let message: Value = serde_json::from_slice(body).ok()?;
    if message["method"] != "tools/call" {
        return None;
    }
    find_tool(message["params"]["name"].as_str()?)
}

fn find_tool(name: &str) -> Option<&'static ToolDef> {
    TEAM_TOOLS.iter().find(|tool| tool.name == name).or_else(|| memoranda_tools::tool(name))
}

/// Answers a writing call with a token that may only read: a client that can sign in asks its person
/// for more.
fn insufficient_scope(team: &TeamState, path: &str, tool: &ToolDef) -> Response {
    let message = format!(
        "{} writes, and this token may only read. Sign in again and allow writing, or send a token \
         that may write.",
        tool.name
    );
    let error = "insufficient_scope";
    let refusal = HttpError::coded(StatusCode::FORBIDDEN, "insufficient-scope", message);
    let mut response = challenge(team, path, Some(error), refusal);
    if !response.headers().contains_key(WWW_AUTHENTICATE) {
        let plain = HeaderValue::from_static(PLAIN_SCOPE_CHALLENGE);
        response.headers_mut().insert(WWW_AUTHENTICATE, plain);
    }
    response
}

/// Returns true for a request whose answer is a stream of changes.
fn is_listening(request: &Request) -> bool {
    request.headers().get("mcp-method").is_some_and(|method| method == "subscriptions/listen")
}

async fn tool(
    State(team): State<Arc<TeamState>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    ticket: Option<axum::Extension<ConnectionTicket>>,
    body: Bytes,
) -> Result<Response, HttpError> {
    let ticket = ticket.map(|axum::Extension(ticket)| ticket);
    let path = format!("/api/tools/{name}");
    let (entered, open) =
        enter_to_call(Arc::clone(&team), path.clone(), headers.clone(), ticket).await?;
    if let Some(tool) = find_tool(&name).filter(|tool| !tool.hints.read_only)
        && entered.lacks_write_scope()
    {
        return Ok(insufficient_scope(&team, &path, tool));
    }
    let answer = api::call_tool(&open.app, &name, &headers, &body, Some(entered)).await?;
    Ok(answer.into_response())
}

async fn memory_tool(
    State(team): State<Arc<TeamState>>,
    headers: HeaderMap,
    ticket: Option<axum::Extension<ConnectionTicket>>,
    body: Bytes,
) -> Result<Json<Value>, HttpError> {
    let ticket = ticket.map(|axum::Extension(ticket)| ticket);
    let path = "/api/memory-tool".to_owned();
    let (entered, open) = enter(team, path, headers.clone(), ticket).await?;
    api::call_memory_tool(&open.app, &headers, &body, Some(entered)).await
}
