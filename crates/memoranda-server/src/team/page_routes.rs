//! The web page on a team server: the routes of a server of one vault, on the space that a request
//! names, and the team itself.
//!
//! The page signs in as a client of this server's own authorization server, and sends its access
//! token with every request. There is no session and no cookie.

use std::sync::Arc;

use axum::Json;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, Router, get, on, post};
use memoranda_remote::directory::{SpaceGrant, TokenAccess};
use memoranda_tools::json_object;
use serde_json::{Map, Value, json};

use super::request::TeamRequest;
use super::revocable_body::end_with_token;
use super::routes::enter;
use super::{TeamState, page_team};
use crate::api::RouteEndpoint;
use crate::connections::ConnectionTicket;
use crate::http_error::HttpError;
use crate::page::{PAGE_ROUTES, PageEndpoint};

/// Routes of the page that are about the machine of a person, or about its one-time links.
const MACHINE_ROUTES: [&str; 3] = ["/api/page/code", "/api/page/settings", "/api/page/setup"];
/// Beginning of the routes by which a page brings files to its machine.
const IMPORT_ROUTES: &str = "/api/page/import";
/// Routes that a team server answers by itself.
const OWN_ROUTES: [&str; 2] = ["/api/page/way-in", "/api/page/session"];

/// Adds the routes of the page.
pub(super) fn with_page(mut router: Router<Arc<TeamState>>) -> Router<Arc<TeamState>> {
    for route in PAGE_ROUTES {
        let is_left_out = MACHINE_ROUTES.contains(&route.path)
            || OWN_ROUTES.contains(&route.path)
            || route.path.starts_with(IMPORT_ROUTES);
        let RouteEndpoint::Page(endpoint) = route.endpoint else { continue };
        if !is_left_out {
            router = router.route(route.path, page_route(route.method, endpoint));
        }
    }
    let router =
        router.route("/api/page/way-in", get(way_in)).route("/api/page/session", post(session));
    page_team::ROUTES.iter().fold(router, |router, (method, path, handler)| {
        let filter = if *method == "GET" { MethodFilter::GET } else { MethodFilter::POST };
        let answer = move |state, request| page_team::answer(*handler, state, request);
        router.route(path, on(filter, answer))
    })
}

fn page_route(method: &str, endpoint: PageEndpoint) -> MethodRouter<Arc<TeamState>> {
    let filter = match method {
        "PUT" => MethodFilter::PUT,
        "POST" => MethodFilter::POST,
        _ => MethodFilter::GET,
    };
    on(filter, move |state, request| answer(endpoint, state, request))
}

/// Answers a request of the page in the space that it names.
async fn answer(
    endpoint: PageEndpoint,
    State(team): State<Arc<TeamState>>,
    mut request: Request,
) -> Result<Response, HttpError> {
    if let PageEndpoint::BuiltFile = endpoint {
        return Ok(crate::page::built_file(request.uri().path(), request.headers()));
    }
    let ticket = request.extensions().get::<ConnectionTicket>().cloned();
    let (path, headers) = (request.uri().path().to_owned(), request.headers().clone());
    let (entered, open) = enter(Arc::clone(&team), path.clone(), headers.clone(), ticket).await?;
    let is_stream = matches!(endpoint, PageEndpoint::Events);
    if is_stream {
        open.follow();
    }
    request.extensions_mut().insert(entered);
    let response = endpoint.answer(State(Arc::clone(&open.app)), request).await;
    Ok(if is_stream { end_with_token(response, team, path, headers) } else { response })
}

/// Says how people come in.
async fn way_in(State(team): State<Arc<TeamState>>) -> Json<Value> {
    let origin = team.oauth.as_ref().map(|oauth| oauth.public.to_string());
    Json(json!({ "kind": "team", "origin": origin }))
}

/// Checks a token that a person pasted, which is then the key of the page.
async fn session(
    State(team): State<Arc<TeamState>>,
    request: Request,
) -> Result<Json<Value>, HttpError> {
    let body = read_object(request).await?;
    let token = body.get("token").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let version = team.config.server_version.clone();
    let refused = || {
        let message = "This token opens nothing here: it is unknown, revoked or expired.";
        HttpError::coded(StatusCode::FORBIDDEN, "wrong-token", message)
    };
    let mut headers = axum::http::HeaderMap::new();
    let value = format!("Bearer {token}").parse().map_err(|_| refused())?;
    headers.insert(axum::http::header::AUTHORIZATION, value);
    let path = "/api/page/session".to_owned();
    let entered = match enter(team, path, headers, None).await {
        Ok((entered, _)) => entered,
        Err(error) if error.status == StatusCode::UNAUTHORIZED => return Err(refused()),
        Err(error) => return Err(error),
    };
    let space = entered.spaces().first().map(|space| space.name.clone()).unwrap_or_default();
    Ok(Json(json!({
        "session": token,
        "vault": { "name": space, "home": "", "device": "" },
        "version": version,
        "read_only": entered.page_write_refusal().is_some(),
        "can_manage": false,
    })))
}

/// Returns the body of a request as a JSON object. The guard has read it and checked its size.
pub(super) async fn read_object(request: Request) -> Result<Map<String, Value>, HttpError> {
    let body = to_bytes(request.into_body(), usize::MAX).await.unwrap_or_default();
    if body.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    json_object(&body)
        .map_err(|error| HttpError::bad_request(format!("The body is not a JSON object: {error}.")))
}

impl TeamRequest {
    /// Returns true if the token is one of the page, by which people look after their team. A token
    /// that was given to a program must not make others.
    pub(crate) fn is_of_page(&self) -> bool {
        let page = self.team.oauth.as_ref().map(|oauth| oauth.public.page_resource());
        self.grant.audience.is_some() && self.grant.audience == page
    }

    /// Returns the reason why the page can change nothing in its space; `None` if it can.
    pub(crate) fn page_write_refusal(&self) -> Option<HttpError> {
        let space = *self.spaces().first()?;
        let SpaceGrant { name, role, .. } = space;
        let refuse =
            |message: String| Some(HttpError::coded(StatusCode::FORBIDDEN, "read-only", message));
        match space.access {
            TokenAccess::Write if self.as_of.is_some() => {
                let message = "The database of this server cannot be reached: everything can be \
                               read as it was, and nothing can be written until it is back.";
                Some(HttpError::coded(StatusCode::SERVICE_UNAVAILABLE, "read-only", message))
            }
            TokenAccess::Write => None,
            TokenAccess::Propose => refuse(format!(
                "You are a proposer in {name}: your agents' writes wait for a yes, and the page \
                 writes nothing there."
            )),
            TokenAccess::Read if role.access() == TokenAccess::Read => {
                refuse(format!("You are a reader of {name}: you can read everything there."))
            }
            TokenAccess::Read => refuse("This token may only read.".to_owned()),
        }
    }

    /// Returns what the page shows of the person and their spaces.
    pub(crate) fn page_json(&self) -> Value {
        let space = |space: &SpaceGrant| {
            json!({
                "name": space.name,
                "kind": space.kind.name(),
                "role": space.role.name(),
                "access": space.access.name(),
            })
        };
        json!({
            "account": self.grant.account,
            "can_manage": self.is_of_page(),
            "spaces": self.grant.spaces.iter().map(space).collect::<Vec<_>>(),
            "as_of": self.as_of.map(|time| time.to_string()),
        })
    }

    /// Records that a person takes a copy of a space.
    pub(crate) fn record_export(&self) -> Result<(), HttpError> {
        let space = self.spaces().first().map(|space| space.name.clone()).unwrap_or_default();
        let recorded = self.team.directory.record_event(&self.grant.account, "export", &space);
        recorded.map_err(|_| super::authorization::unavailable())
    }
}
