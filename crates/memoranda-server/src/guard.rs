//! The guard: one layer in front of every route, also of routes that do not exist.
//!
//! A page in a browser can reach a server on loopback, by its address or by a name that was made
//! to point there. Every process of every user of the machine can reach it too. So a request is
//! refused unless its Host is ours, its Origin is the server's own or an allowed one, and it
//! carries the token. Every body must be declared as JSON, which a page of another origin cannot
//! send without a preflight. All of this is checked before a body is read.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, HOST, ORIGIN, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
    X_DNS_PREFETCH_CONTROL, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::time::{Instant, timeout_at};

use crate::api::{RouteAccess, route_access};
use crate::config::{BearerToken, ClientAuthentication, ServerConfig};
use crate::connections::ConnectionTicket;
use crate::http_error::HttpError;
use crate::page::PageSessions;

/// Set by browsers: how the origin of a request relates to the server's.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Content of the page: its own files alone, no inline script or style, no frame, no form. Text
/// becomes script or markup through the two named policies only.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
     trusted-types svelte-trusted-html page";

/// Headers of every response.
pub(crate) const SAFETY_HEADERS: [(HeaderName, &str); 8] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (X_DNS_PREFETCH_CONTROL, "off"),
    (HeaderName::from_static("permissions-policy"), PERMISSIONS),
];

/// Features of browsers that the page does not use.
const PERMISSIONS: &str = "camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), \
     midi=(), payment=(), serial=(), usb=()";

/// Conditions that every request must meet.
pub(crate) struct RequestGuard {
    /// Address that was bound; `None` if the server listens on all addresses.
    address: Option<IpAddr>,
    hosts: Vec<String>,
    origins: Vec<String>,
    /// `None` if clients need no token.
    token: Option<BearerToken>,
    /// True if a directory knows the tokens: the routes of a team server ask it themselves.
    has_directory: bool,
    /// File of the token, as a refused client may see it.
    shown_token_file: Option<PathBuf>,
    /// Sessions of the page.
    sessions: Arc<PageSessions>,
    max_body_bytes: usize,
    request_timeout: Duration,
}

/// Origin of the page that sent a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestOrigin {
    /// No Origin header: a program that is not a browser, or a navigation.
    Absent,
    /// The server's own: the Host of the request.
    Own,
    /// One that the configuration allows.
    Allowed,
}

impl RequestGuard {
    pub(crate) fn new(config: &ServerConfig, sessions: Arc<PageSessions>) -> Self {
        let address = config.bind.ip();
        let token = match &config.authentication {
            ClientAuthentication::Token(token) => Some(token.clone()),
            ClientAuthentication::Disabled
            | ClientAuthentication::Directory
            | ClientAuthentication::Undecided => None,
        };
        // Other machines learn nothing of this one's folders.
        let file = token.as_ref().and_then(BearerToken::file);
        let shown_token_file = file.filter(|_| config.binds_to_loopback()).map(PathBuf::from);
        Self {
            address: (!address.is_unspecified()).then_some(address),
            hosts: config.allowed_hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            origins: config.allowed_origins.iter().filter_map(|text| parse_origin(text)).collect(),
            token,
            has_directory: matches!(config.authentication, ClientAuthentication::Directory),
            shown_token_file,
            sessions,
            max_body_bytes: config.body_limit,
            request_timeout: config.request_timeout,
        }
    }

    /// Checks Host, and returns it.
    pub(crate) fn check_host<'r>(&self, request: &'r Request) -> Result<&'r str, HttpError> {
        let host = single(request.headers(), &HOST).map_err(|()| foreign_host())?;
        let host = host.filter(|host| self.is_our_host(host)).ok_or_else(foreign_host)?;
        let target = request.uri().authority();
        if target.is_some_and(|target| !self.is_our_host(target.as_str())) {
            return Err(foreign_host());
        }
        Ok(host)
    }

    /// Rejects a form that a page of another origin sent.
    pub(crate) fn check_own_page(&self, request: &Request) -> Result<(), HttpError> {
        self.check_sender(request).map(drop)
    }

    /// Ends a request that takes too long.
    pub(crate) async fn limit_time(&self, answer: impl Future<Output = Response>) -> Response {
        tokio::time::timeout(self.request_timeout, answer).await.unwrap_or_else(|_| {
            let message = "The answer took too long.";
            HttpError::new(StatusCode::GATEWAY_TIMEOUT, message).into_response()
        })
    }

    /// Checks Host, Origin and `Sec-Fetch-Site`: rejects what a foreign page may have sent.
    fn check_sender(&self, request: &Request) -> Result<RequestOrigin, HttpError> {
        let headers = request.headers();
        let host = self.check_host(request)?;
        let origin = match single(headers, &ORIGIN).map_err(|()| foreign_origin())? {
            None => RequestOrigin::Absent,
            Some(origin) if self.is_allowed_origin(origin) => RequestOrigin::Allowed,
            Some(origin) if is_own_origin(origin, host) => RequestOrigin::Own,
            Some(_) => return Err(foreign_origin()),
        };
        let site = single(headers, &SEC_FETCH_SITE).map_err(|()| foreign_origin())?;
        let is_foreign = site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
        // A link from elsewhere may open the page: its files are the same for everybody.
        let is_shell = access_of(request) == RouteAccess::Shell;
        if is_foreign && !is_shell && origin != RequestOrigin::Allowed {
            return Err(foreign_origin());
        }
        Ok(origin)
    }

    /// Checks the token or the session, which only public routes go without.
    fn check_token(&self, request: &Request) -> Result<(), HttpError> {
        if self.has_directory {
            return Ok(());
        }
        let sent = single(request.headers(), &AUTHORIZATION).ok().flatten().and_then(bearer);
        let access = access_of(request);
        let is_right = match access {
            RouteAccess::Session => sent.is_some_and(|sent| self.sessions.is_valid(sent)),
            RouteAccess::Shell | RouteAccess::Public | RouteAccess::Token => self
                .token
                .as_ref()
                .is_none_or(|token| sent.is_some_and(|sent| token.matches(sent.as_bytes()))),
        };
        if is_right {
            if let Some(ticket) = request.extensions().get::<ConnectionTicket>() {
                ticket.mark_authenticated();
            }
            return Ok(());
        }
        match access {
            RouteAccess::Shell | RouteAccess::Public => Ok(()),
            RouteAccess::Session => {
                let message = "The page is not signed in: `memoranda open` opens it.";
                Err(HttpError::coded(StatusCode::UNAUTHORIZED, "no-session", message))
            }
            RouteAccess::Token => {
                let mut message =
                    "Send the token of this server: Authorization: Bearer TOKEN.".to_owned();
                if let Some(file) = &self.shown_token_file {
                    message.push_str(&format!(" It is in {}.", file.display()));
                }
                Err(HttpError::new(StatusCode::UNAUTHORIZED, message))
            }
        }
    }

    fn is_our_host(&self, authority: &str) -> bool {
        let authority = authority.to_ascii_lowercase();
        let Ok(parsed) = authority.parse::<Authority>() else { return false };
        if authority.contains('@') {
            return false;
        }
        let host = parsed.host();
        is_loopback(host)
            || self.address.is_some_and(|address| ip(host) == Some(address))
            || self.hosts.iter().any(|allowed| *allowed == authority || allowed == host)
    }

    fn is_allowed_origin(&self, origin: &str) -> bool {
        parse_origin(origin).is_some_and(|origin| self.origins.contains(&origin))
    }

    /// Reads the body, up to the limit.
    async fn read_body(&self, request: Request) -> Result<Request, HttpError> {
        let too_large = || {
            let message = format!("The body may have {} bytes at the most.", self.max_body_bytes);
            HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, message)
        };
        let (head, body) = request.into_parts();
        if body.size_hint().lower() > self.max_body_bytes as u64 {
            return Err(too_large());
        }
        match Limited::new(body, self.max_body_bytes).collect().await {
            Ok(body) => Ok(Request::from_parts(head, Body::from(body.to_bytes()))),
            Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
            Err(_) => Err(HttpError::new(StatusCode::BAD_REQUEST, "The body broke off.")),
        }
    }

    async fn pass(&self, request: Request, next: Next) -> Result<Response, HttpError> {
        let origin = self.check_sender(&request)?;
        if origin == RequestOrigin::Allowed && is_preflight(&request) {
            return Ok(answer_preflight(request.headers()));
        }
        self.check_token(&request)?;
        check_content_type(&request)?;
        let deadline = Instant::now() + self.request_timeout;
        let request = timeout_at(deadline, self.read_body(request)).await.map_err(|_| {
            HttpError::new(StatusCode::REQUEST_TIMEOUT, "The body took too long.")
        })??;
        timeout_at(deadline, next.run(request))
            .await
            .map_err(|_| HttpError::new(StatusCode::GATEWAY_TIMEOUT, "The answer took too long."))
    }
}

/// The layer.
pub(crate) async fn guard(
    State(guard): State<Arc<RequestGuard>>,
    request: Request,
    next: Next,
) -> Response {
    let origin = single(request.headers(), &ORIGIN).ok().flatten();
    let allowed = origin.filter(|origin| guard.is_allowed_origin(origin));
    let allowed = allowed.and_then(|origin| HeaderValue::from_str(origin).ok());
    let mut response = guard.pass(request, next).await.unwrap_or_else(|error| {
        tracing::debug!(status = error.status.as_u16(), "refused a request");
        error.into_response()
    });
    let headers = response.headers_mut();
    for (name, value) in SAFETY_HEADERS {
        // A route may have a stricter policy for its content.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Some(origin) = allowed {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let exposed = HeaderValue::from_static("mcp-session-id, www-authenticate");
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
    response
}

/// Rejects a body that is not declared as JSON. A method that takes a body needs the declaration
/// also without one: a page can send an empty POST, but not this header, without a preflight.
fn check_content_type(request: &Request) -> Result<(), HttpError> {
    let takes_body = [Method::POST, Method::PUT, Method::PATCH].contains(request.method());
    if !takes_body && request.body().is_end_stream() {
        return Ok(());
    }
    let declared = single(request.headers(), &CONTENT_TYPE).ok().flatten().unwrap_or_default();
    let essence = declared.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = "Send the body as JSON: Content-Type: application/json.";
    Err(HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

/// Returns the access of the route that a request is for.
fn access_of(request: &Request) -> RouteAccess {
    route_access(request.method(), request.uri().path())
}

/// Returns true if a browser asks whether a page of another origin may send a request.
fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Permits what a page of an allowed origin asks for. The request itself still needs the token.
fn answer_preflight(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static("GET, POST, PUT, DELETE");
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    if let Some(names) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

fn foreign_host() -> HttpError {
    HttpError::coded(StatusCode::FORBIDDEN, "foreign-host", "This Host is not served here.")
}

fn foreign_origin() -> HttpError {
    HttpError::coded(StatusCode::FORBIDDEN, "foreign-origin", "Pages of this Origin may not call.")
}

/// Returns the only value of a header; an error if there are several or it is not text.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| ()),
        (Some(_), Some(_)) => Err(()),
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn ip(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || ip(host).is_some_and(|address| address.is_loopback())
}

/// Returns true if an origin is the server's own, by the Host that the client used. The server
/// speaks plain HTTP; a page that comes through a TLS proxy has an origin to be allowed.
fn is_own_origin(origin: &str, host: &str) -> bool {
    let origin = parse_origin(origin);
    origin.is_some() && origin == parse_origin(&format!("http://{host}"))
}

/// Parses an origin into the form in which origins are compared: lower case, without the default
/// port of its scheme. `None` if it is not a web origin.
pub(crate) fn parse_origin(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let (scheme, authority) = text.split_once("://")?;
    let default_port = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let authority = authority.strip_suffix('/').unwrap_or(authority).parse::<Authority>().ok()?;
    if authority.as_str().contains('@') || authority.host().is_empty() {
        return None;
    }
    let host = authority.host();
    let has_port = authority.as_str().len() > host.len();
    let port = if has_port { Some(authority.port_u16()?) } else { None };
    Some(match port.filter(|port| *port != default_port) {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> RequestGuard {
        let mut config = ServerConfig::standard("1");
        config.bind = "192.168.7.7:7337".parse().unwrap();
        config.allowed_hosts = vec!["Notes.example".into(), "box:8080".into()];
        config.allowed_origins = vec!["https://notes.example:443/".into()];
        RequestGuard::new(&config, Arc::new(PageSessions::new(None)))
    }

    #[test]
    fn hosts_are_loopback_or_listed() {
        let ours = [
            "localhost",
            "LOCALHOST:7337",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:7337",
            "notes.example",
            "notes.example:99",
            "box:8080",
            "192.168.7.7:7337",
        ];
        for host in ours {
            assert!(guard().is_our_host(host), "{host}");
        }
        let others = [
            "",
            "evil.example",
            "localhost.evil.example",
            "localhost@evil.example",
            "evil.example@localhost",
            "127.0.0.1.evil.example",
            "box",
            "box:80",
            "0.0.0.0",
            "notlocalhost",
            "192.168.7.8",
            "[::2]",
            "local host",
            "2130706433",
        ];
        for host in others {
            assert!(!guard().is_our_host(host), "{host}");
        }
    }

    #[test]
    fn an_own_origin_has_scheme_host_and_port_of_the_host_header() {
        for (origin, host) in [
            ("http://localhost:7337", "localhost:7337"),
            ("HTTP://LOCALHOST:7337", "localhost:7337"),
            ("http://127.0.0.1:7337", "127.0.0.1:7337"),
            ("http://[::1]:1", "[::1]:1"),
            ("http://localhost", "localhost"),
            ("http://localhost", "localhost:80"),
            ("http://localhost:80", "LOCALHOST"),
        ] {
            assert!(is_own_origin(origin, host), "{origin} at {host}");
        }
        for (origin, host) in [
            ("http://localhost:3000", "localhost:7337"),
            ("http://localhost", "localhost:7337"),
            ("http://localhost:7337", "localhost"),
            ("https://localhost:7337", "localhost:7337"),
            ("http://127.0.0.1:7337", "localhost:7337"),
            ("http://localhost:73370", "localhost:7337"),
            ("http://localhost:7337.evil.example", "localhost:7337"),
            ("http://evil.example", "localhost:7337"),
            ("http://x@localhost:7337", "localhost:7337"),
            ("localhost:7337", "localhost:7337"),
            ("null", "null"),
            ("", ""),
            ("file://", "localhost"),
            ("chrome-extension://localhost:7337", "localhost:7337"),
        ] {
            assert!(!is_own_origin(origin, host), "{origin} at {host}");
        }
    }

    #[test]
    fn other_origins_must_be_allowed_exactly() {
        for origin in ["https://notes.example", "HTTPS://NOTES.EXAMPLE:443"] {
            assert!(guard().is_allowed_origin(origin), "{origin}");
        }
        for origin in [
            "null",
            "",
            "*",
            "http://notes.example",
            "https://notes.example:444",
            "https://notes.example.evil.example",
            "https://a.notes.example",
            "https://notes.example:",
            "https://notes.example/x",
            "http://localhost:7337",
        ] {
            assert!(!guard().is_allowed_origin(origin), "{origin}");
        }
    }

    #[test]
    fn only_bearers_count() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        for bad in ["abc", "Basic abc", "Bearer"] {
            assert_eq!(bearer(bad), None, "{bad}");
        }
    }
}
