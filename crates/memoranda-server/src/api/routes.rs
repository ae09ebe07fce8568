//! The route table. The router, the guard and the API description are built from it and tests
//! iterate over it, so every route is behind the guard and described.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, any, get, on, post};
use axum::{Router, middleware};

use super::{ApiState, health, mcp, memory_tool, openapi, tool};
use crate::guard::{RequestGuard, guard};
use crate::http_error::HttpError;
use crate::page::{PAGE_ROUTES, PageEndpoint};

/// One route.
pub struct HttpRoute {
    /// HTTP method.
    pub method: &'static str,
    /// Path; `{…}` matches one segment.
    pub path: &'static str,
    /// Purpose, in one line.
    pub summary: &'static str,
    /// Credentials of a request.
    pub access: RouteAccess,
    /// Parameters of the query string, or members of the JSON body for methods that take one.
    pub parameters: &'static [RouteParameter],
    pub(crate) endpoint: RouteEndpoint,
}

/// A parameter of a query string, or a member of a JSON body.
#[derive(Clone, Copy)]
pub struct RouteParameter {
    /// Name.
    pub name: &'static str,
    /// Type in JSON Schema: `string`, `integer`, `boolean`, `array` of texts; `objects` for a list of
    /// objects.
    pub kind: &'static str,
    /// Purpose, in one line.
    pub summary: &'static str,
    /// True if a request without it is refused.
    pub is_required: bool,
}

/// Credentials that a request needs to reach a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RouteAccess {
    /// Nothing: a file of the page, which a link from elsewhere may open.
    Shell,
    /// Nothing but the right Host and Origin.
    Public,
    /// The token of the server.
    Token,
    /// A session of the page.
    Session,
}

impl RouteAccess {
    /// Returns true if the route answers without a token or a session.
    pub fn is_public(self) -> bool {
        matches!(self, Self::Shell | Self::Public)
    }
}

#[derive(Clone, Copy)]
pub(crate) enum RouteEndpoint {
    Mcp,
    Tool,
    MemoryTool,
    Health,
    OpenApi,
    Page(PageEndpoint),
}

const fn route(
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    endpoint: RouteEndpoint,
) -> HttpRoute {
    let access = RouteAccess::Token;
    HttpRoute { method, path, summary, access, parameters: &[], endpoint }
}

/// Routes of the protocol and of the tools.
const TOOL_ROUTES: &[HttpRoute] = &[
    route("POST", "/mcp", "the Model Context Protocol", RouteEndpoint::Mcp),
    route("POST", "/mcp/readonly", "the same, with tools that change nothing", RouteEndpoint::Mcp),
    route("POST", "/mcp/x/{toolset}", "the same, with the tools of one set", RouteEndpoint::Mcp),
    route(
        "POST",
        "/mcp/x/{toolset}/readonly",
        "the same, with those that change nothing",
        RouteEndpoint::Mcp,
    ),
    route(
        "POST",
        "/api/tools/{name}",
        "call a tool: the body is its arguments",
        RouteEndpoint::Tool,
    ),
    route(
        "POST",
        "/api/memory-tool",
        "do a tool_use block of the Claude API, answer with the tool_result",
        RouteEndpoint::MemoryTool,
    ),
    HttpRoute {
        access: RouteAccess::Public,
        ..route("GET", "/api/health", "whether all is well", RouteEndpoint::Health)
    },
    HttpRoute {
        access: RouteAccess::Public,
        ..route(
            "GET",
            "/api/openapi.json",
            "the description of this API (OpenAPI 3.1)",
            RouteEndpoint::OpenApi,
        )
    },
];

/// Returns all routes.
pub fn routes() -> impl Iterator<Item = &'static HttpRoute> {
    TOOL_ROUTES.iter().chain(PAGE_ROUTES)
}

/// Returns what a request needs. A route of the page that does not exist needs a session too.
pub(crate) fn route_access(method: &Method, path: &str) -> RouteAccess {
    let is_asked = |route: &&HttpRoute| {
        route.path == path
            && (route.method == method || (route.method == "GET" && method == "HEAD"))
    };
    match routes().find(is_asked) {
        Some(route) => route.access,
        None if path.starts_with("/api/page/") => RouteAccess::Session,
        None => RouteAccess::Token,
    }
}

impl HttpRoute {
    fn handler(&'static self) -> MethodRouter<Arc<ApiState>> {
        match self.endpoint {
            // The MCP service checks the method itself.
            RouteEndpoint::Mcp => any(mcp),
            RouteEndpoint::Tool => post(tool),
            RouteEndpoint::MemoryTool => post(memory_tool),
            RouteEndpoint::Health => get(health),
            RouteEndpoint::OpenApi => get(openapi),
            RouteEndpoint::Page(endpoint) => {
                let method = match self.method {
                    "PUT" => MethodFilter::PUT,
                    "POST" => MethodFilter::POST,
                    _ => MethodFilter::GET,
                };
                on(method, move |state, request| endpoint.answer(state, request))
            }
        }
    }
}

/// Builds the router, with the guard in front of all routes.
pub(crate) fn router(app: ApiState, guards: RequestGuard) -> Router {
    let mut router = Router::new();
    for route in routes() {
        router = router.route(route.path, route.handler());
    }
    router
        .fallback(|| async { HttpError::not_found("There is nothing here.") })
        .method_not_allowed_fallback(|| async {
            HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "This route takes another method.")
        })
        // The guard has checked the size of the body.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Arc::new(guards), guard))
        .with_state(Arc::new(app))
}
