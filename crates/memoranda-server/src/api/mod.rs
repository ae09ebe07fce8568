//! The HTTP API: every tool by its name, the Claude API's memory tool, and a health probe.

mod answers;
mod openapi;
mod routes;

pub use openapi::openapi_document;
pub use routes::{HttpRoute, RouteAccess, RouteParameter, routes};
pub(crate) use routes::{RouteEndpoint, route_access, router};

use std::sync::Arc;

use axum::Json;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_TYPE, USER_AGENT};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use memoranda_engine::Author;
use memoranda_engine::core::change::ChangeChannel;
use memoranda_tools::{
    AccessMode, ClientContext, SelectionError, ToolDef, ToolResult, ToolSelection, ToolSettings,
    ToolUse, Wording, json_object, readable_json,
};
use serde_json::{Map, Value, json};

use crate::client_identity::{
    IntroducedClient, REPOSITORY_HEADER, SessionClient, request_settings,
};
use crate::http_error::HttpError;
use crate::mcp::{McpService, SessionMode};
use crate::page::PageState;
use crate::team::TeamRequest;
use crate::tool_call::{CallPermit, ToolCall, client_name};
use crate::tool_catalog::{RequestTools, ToolCatalog, selection_from_headers};

/// State of all routes.
pub(crate) struct ApiState {
    pub(crate) catalog: Arc<ToolCatalog>,
    pub(crate) mcp: McpService,
    pub(crate) page: Arc<PageState>,
}

type ApiResponse = Result<Json<Value>, HttpError>;

/// Health probe. The response contains nothing about the vault or the machine.
async fn health(State(app): State<Arc<ApiState>>) -> Json<Value> {
    Json(json!({ "status": "ok", "name": "memoranda", "version": app.catalog.version }))
}

/// Describes every route and every tool. The response contains nothing about the vault.
async fn openapi(State(app): State<Arc<ApiState>>) -> Json<Value> {
    let tools = app.catalog.configured_tools();
    let mut tools = tools.tools().iter().copied();
    Json(openapi_document(&app.catalog.version, &mut tools, &app.catalog.settings))
}

/// Calls a tool. The body contains its arguments.
async fn tool(
    State(app): State<Arc<ApiState>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResponse {
    call_tool(&app, &name, &headers, &body, None).await
}

/// Calls a tool by its name; `team` is the request of a team server.
pub(crate) async fn call_tool(
    app: &ApiState,
    name: &str,
    headers: &HeaderMap,
    body: &[u8],
    team: Option<Arc<TeamRequest>>,
) -> ApiResponse {
    let tool = find_tool(app, headers, name, team.as_deref())?;
    let arguments = Value::Object(object(body)?);
    let settings = settings_of_request(&app.catalog.settings, headers)?;
    let result = call(app, tool, settings, headers, arguments, team).await?;
    Ok(Json(json!({
        "structured": result.structured,
        "text": result.text,
        "is_error": result.is_error,
    })))
}

/// Executes a `tool_use` block of the Claude API and returns the `tool_result` block.
async fn memory_tool(
    State(app): State<Arc<ApiState>>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResponse {
    call_memory_tool(&app, &headers, &body, None).await
}

/// Executes a `tool_use` block; `team` is the request of a team server.
pub(crate) async fn call_memory_tool(
    app: &ApiState,
    headers: &HeaderMap,
    body: &[u8],
    team: Option<Arc<TeamRequest>>,
) -> ApiResponse {
    let tool = find_tool(app, headers, "memory", team.as_deref())?;
    let tool_use = ToolUse::parse(object(body)?).map_err(|error| bad_request(error.to_string()))?;
    let settings =
        ToolSettings { wording: Wording::Claude, ..ToolSettings::clone(&app.catalog.settings) };
    let input = tool_use.input.clone();
    let result = call(app, tool, Arc::new(settings), headers, input, team).await?;
    Ok(Json(tool_use.result(&result)))
}

/// Passes a request to the MCP service, with the tools that it selects.
pub(crate) async fn mcp(
    State(app): State<Arc<ApiState>>,
    mut request: Request,
) -> Result<Response, HttpError> {
    let mut selection = selection_from_headers(request.headers());
    narrow_by_path(&mut selection, request.uri().path());
    let team = request.extensions().get::<Arc<TeamRequest>>().cloned();
    limit_access(&mut selection, team.as_deref());
    if selection != ToolSelection::default() {
        let tools = request_tools(&app, &selection)?;
        request.extensions_mut().insert(tools);
    }
    let introduced = IntroducedClient::default();
    request.extensions_mut().insert(introduced.clone());
    if let Some(client) = SessionClient::from_headers(request.headers()) {
        request.extensions_mut().insert(client);
    }
    let settings = settings_of_request(&app.catalog.settings, request.headers())?;
    request.extensions_mut().insert(settings);
    if let Some(declared) = request.headers_mut().get_mut(CONTENT_TYPE) {
        // The guard has accepted it; `rmcp` accepts lower case alone.
        *declared = HeaderValue::from_static("application/json");
    }
    let (head, body) = request.into_parts();
    // The guard has read the body and checked its size.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let body = if body.trim_ascii().is_empty() {
        body.into()
    } else {
        match readable_json(body.into()) {
            Ok(body) => body,
            Err(error) => return Ok(parse_error_response(&error)),
        }
    };
    let mut response = app.mcp.handle(Request::from_parts(head, body.into())).await;
    if app.catalog.sessions == SessionMode::None {
        introduced.add_session(response.headers_mut());
    }
    Ok(response)
}

/// Returns the settings of a request: its client is in an unknown folder, and may name its repository.
fn settings_of_request(
    settings: &ToolSettings,
    headers: &HeaderMap,
) -> Result<Arc<ToolSettings>, HttpError> {
    request_settings(settings, headers).ok_or_else(|| {
        let header = REPOSITORY_HEADER;
        bad_request(format!("The header {header} must name a repository: github.com/owner/repo."))
    })
}

/// Returns the JSON-RPC error for a message that is not JSON.
fn parse_error_response(error: &serde_json::Error) -> Response {
    let error = json!({ "code": -32700, "message": format!("Parse error: {error}") });
    let message = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    (StatusCode::BAD_REQUEST, Json(message)).into_response()
}

/// Leaves only reading tools to a token that can write nowhere.
fn limit_access(selection: &mut ToolSelection, team: Option<&TeamRequest>) {
    if team.is_some_and(|team| !team.can_write()) {
        selection.access = AccessMode::ReadOnly;
    }
}

/// Narrows a selection by the path: `/mcp/x/<toolset>` and `/readonly`.
fn narrow_by_path(selection: &mut ToolSelection, path: &str) {
    let mut path = path.strip_prefix("/mcp").unwrap_or_default();
    if let Some(rest) = path.strip_suffix("/readonly") {
        selection.access = AccessMode::ReadOnly;
        path = rest;
    }
    if let Some(toolset) = path.strip_prefix("/x/") {
        // A path selects exactly one set; headers cannot add to it.
        selection.toolsets = vec![toolset.to_owned()];
        selection.tools.clear();
    }
}

fn request_tools(app: &ApiState, selection: &ToolSelection) -> Result<RequestTools, HttpError> {
    app.catalog.select(selection).map_err(|error| {
        bad_request(match error {
            SelectionError::NoTool(name) => format!("There is no tool {name:?}."),
            error => error.to_string(),
        })
    })
}

fn find_tool(
    app: &ApiState,
    headers: &HeaderMap,
    name: &str,
    team: Option<&TeamRequest>,
) -> Result<&'static ToolDef, HttpError> {
    let mut selection = selection_from_headers(headers);
    limit_access(&mut selection, team);
    request_tools(app, &selection)?.tool(name).ok_or_else(|| {
        HttpError::new(StatusCode::NOT_FOUND, format!("There is no tool {name:?} here."))
    })
}

async fn call(
    app: &ApiState,
    tool: &'static ToolDef,
    settings: Arc<ToolSettings>,
    headers: &HeaderMap,
    arguments: Value,
    team: Option<Arc<TeamRequest>>,
) -> Result<ToolResult, HttpError> {
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
    let client = agent.and_then(|agent| client_name([agent]));
    let client = client.unwrap_or_else(|| "unknown".to_owned());
    let author = Author::new(client, tool.name, ChangeChannel::Http);
    let (memory, client) = (Arc::clone(&app.catalog.memory), ClientContext::default());
    let (space, others) = (None, Vec::new());
    let job = ToolCall { memory, settings, tool, author, arguments, client, team, space, others };
    let answered = job.run(CallPermit::Free, None, None).await;
    // There is no client to ask: the answer of the tool names what it needs.
    answered
        .map(|(result, _)| result)
        .map_err(|_| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "The tool broke down."))
}

/// Parses a body as a JSON object; an empty body is an empty object.
fn object(body: &[u8]) -> Result<Map<String, Value>, HttpError> {
    if body.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    json_object(body).map_err(|error| bad_request(format!("The body is no JSON object: {error}.")))
}

fn bad_request(message: impl Into<String>) -> HttpError {
    HttpError::new(StatusCode::BAD_REQUEST, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(path: &str) -> ToolSelection {
        let mut selection =
            ToolSelection { tools: vec!["memory".into()], ..ToolSelection::default() };
        narrow_by_path(&mut selection, path);
        selection
    }

    #[test]
    fn paths_narrow() {
        assert_eq!(selection("/mcp").access, AccessMode::ReadWrite);
        assert_eq!(selection("/mcp/readonly").access, AccessMode::ReadOnly);
        assert_eq!(selection("/mcp/readonly").toolsets, [""; 0]);
        let set = selection("/mcp/x/memory/readonly");
        assert_eq!((set.toolsets, set.access), (vec!["memory".to_owned()], AccessMode::ReadOnly));
        assert!(selection("/mcp/x/memory").tools.is_empty());
    }
}
