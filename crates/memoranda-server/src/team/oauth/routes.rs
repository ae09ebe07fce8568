//! Routes of the authorization server, and the guard in front of them.
//!
//! The other routes take JSON with a token from programs. These take forms from browsers, and
//! requests of programs that have no token yet; pages of any origin may read the metadata and ask
//! for tokens, which needs no cookie.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};

use super::public_url::RESOURCE_METADATA_PATH;
use super::{OAuthState, authorize, consent, endpoints, metadata};
use crate::guard::{RequestGuard, SAFETY_HEADERS};
use crate::page::built_file;

/// Maximum size of a form or a registration, in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Builds the routes.
pub(in crate::team) fn oauth_routes<S: Clone + Send + Sync + 'static>(
    oauth: Arc<OAuthState>,
    guard: Arc<RequestGuard>,
) -> Router<S> {
    let server = "/.well-known/oauth-authorization-server/oauth";
    // Some clients append where the others insert.
    let appended = "/oauth/.well-known/oauth-authorization-server";
    let open = Router::new()
        .route(&format!("{RESOURCE_METADATA_PATH}/{{*path}}"), get(metadata::resource))
        .route(server, get(metadata::authorization_server))
        .route(appended, get(metadata::authorization_server))
        .route("/oauth/register", post(endpoints::register))
        .route("/oauth/token", post(endpoints::token))
        .route("/oauth/revoke", post(endpoints::revoke))
        .layer(middleware::from_fn(open_to_pages));
    let pages = Router::new()
        .route("/oauth/authorize", get(authorize::authorize))
        .route("/oauth/sign-in", post(consent::sign_in))
        .route("/oauth/issuer", get(consent::go_to_issuer))
        .route("/oauth/callback", get(consent::callback))
        .route("/oauth/consent", get(consent::show).post(consent::decide))
        .route("/oauth/page.css", get(style))
        .route("/oauth/consent.css", get(consent_style));
    open.merge(pages)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(guard, guard_sender))
        .with_state(oauth)
}

async fn style(headers: HeaderMap) -> Response {
    built_file("/page.css", &headers)
}

async fn consent_style() -> Response {
    ([("content-type", "text/css; charset=utf-8")], include_str!("consent.css")).into_response()
}

/// Lets pages of every origin read an answer, which depends on no cookie.
async fn open_to_pages(request: Request, next: Next) -> Response {
    let mut response = if request.method() == Method::OPTIONS {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type, mcp-protocol-version"),
        (ACCESS_CONTROL_MAX_AGE, "600"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Refuses a request for another host, and a form that another site's page sent.
async fn guard_sender(
    State(guard): State<Arc<RequestGuard>>,
    request: Request,
    next: Next,
) -> Response {
    let is_form = request.method() == Method::POST
        && ["/oauth/sign-in", "/oauth/consent"].contains(&request.uri().path());
    let checked =
        if is_form { guard.check_own_page(&request) } else { guard.check_host(&request).map(drop) };
    let mut response = match checked {
        Ok(()) => guard.limit_time(next.run(request)).await,
        Err(error) => error.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in SAFETY_HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
