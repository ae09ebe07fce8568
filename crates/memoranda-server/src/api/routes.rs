//! The route table. The router is built from it and tests iterate over it, so every route is
//! behind the guard.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode};
use axum::routing::{MethodRouter, any, get, post};
use axum::{Router, middleware};

use super::{ApiState, health, mcp, memory_tool, tool};
use crate::guard::{HttpError, RequestGuard, guard};

/// One route.
pub struct HttpRoute {
    /// HTTP method.
    pub method: &'static str,
    /// Path; `{…}` matches one segment.
    pub path: &'static str,
    /// Purpose, in one line.
    pub summary: &'static str,
    /// True if the route answers without a token.
    pub is_public: bool,
    endpoint: RouteEndpoint,
}

#[derive(Clone, Copy)]
enum RouteEndpoint {
    Mcp,
    Tool,
    MemoryTool,
    Health,
}

const fn mcp_at(path: &'static str, summary: &'static str) -> HttpRoute {
    HttpRoute { method: "POST", path, summary, is_public: false, endpoint: RouteEndpoint::Mcp }
}

/// All routes.
pub const ROUTES: &[HttpRoute] = &[
    mcp_at("/mcp", "the Model Context Protocol"),
    mcp_at("/mcp/readonly", "the same, with tools that change nothing"),
    mcp_at("/mcp/x/{toolset}", "the same, with the tools of one set"),
    mcp_at("/mcp/x/{toolset}/readonly", "the same, with those that change nothing"),
    HttpRoute {
        method: "POST",
        path: "/api/tools/{name}",
        summary: "call a tool: the body is its arguments",
        is_public: false,
        endpoint: RouteEndpoint::Tool,
    },
    HttpRoute {
        method: "POST",
        path: "/api/memory-tool",
        summary: "do a tool_use block of the Claude API, answer with the tool_result",
        is_public: false,
        endpoint: RouteEndpoint::MemoryTool,
    },
    HttpRoute {
        method: "GET",
        path: "/api/health",
        summary: "whether all is well",
        is_public: true,
        endpoint: RouteEndpoint::Health,
    },
];

/// Returns true if a request is answered without a token.
pub(crate) fn is_public(method: &Method, path: &str) -> bool {
    ROUTES.iter().any(|route| route.is_public && route.method == method && route.path == path)
}

impl RouteEndpoint {
    fn handler(self) -> MethodRouter<Arc<ApiState>> {
        match self {
            // The MCP service checks the method itself.
            Self::Mcp => any(mcp),
            Self::Tool => post(tool),
            Self::MemoryTool => post(memory_tool),
            Self::Health => get(health),
        }
    }
}

/// Builds the router, with the guard in front of all routes.
pub(crate) fn router(app: ApiState, guards: RequestGuard) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, route.endpoint.handler());
    }
    router
        .fallback(|| async { HttpError::new(StatusCode::NOT_FOUND, "There is nothing here.") })
        .method_not_allowed_fallback(|| async {
            HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "This route takes another method.")
        })
        // The guard has checked the size of the body.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Arc::new(guards), guard))
        .with_state(Arc::new(app))
}
