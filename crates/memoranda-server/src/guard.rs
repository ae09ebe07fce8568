//! The guard: one layer in front of every route, those that do not exist included.
//!
//! A page in a browser can reach a server on loopback, by its address or by a name that was
//! made to point there. So the Host must be ours, the Origin, if there is one, must be ours, and
//! a token must be shown where one is set, before anything is read or done.

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, HOST, ORIGIN, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use crate::config::{ServerConfig, Token};

/// What a request must be to be let through.
pub(crate) struct Guard {
    /// The address that was bound, if it is a particular one.
    address: Option<IpAddr>,
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Option<Token>,
    body_limit: usize,
    patience: Duration,
}

/// A request that is not served, and why, in words for whoever sent it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(json!({ "error": self.message }))).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer realm=\"memoranda\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

impl Guard {
    pub(crate) fn new(config: &ServerConfig) -> Self {
        let address = config.bind.ip();
        Self {
            address: (!address.is_unspecified()).then_some(address),
            hosts: config.allowed_hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            origins: config.allowed_origins.iter().map(|origin| canonical(origin)).collect(),
            token: config.token.clone(),
            body_limit: config.body_limit,
            patience: config.request_timeout,
        }
    }

    /// Whether a request may come in, by its head alone.
    fn admit(&self, request: &Request) -> Result<(), Refusal> {
        let headers = request.headers();
        let ours = |authority: &str| self.is_our_host(authority);
        let host = only(headers, &HOST).map_err(|()| no_host())?;
        if !host.is_some_and(ours) || request.uri().authority().is_some_and(|a| !ours(a.as_str())) {
            return Err(no_host());
        }
        let origin = only(headers, &ORIGIN).map_err(|()| no_origin())?;
        if origin.is_some_and(|origin| !self.is_our_origin(origin)) {
            return Err(no_origin());
        }
        if let Some(token) = &self.token {
            let shown = only(headers, &AUTHORIZATION).ok().flatten().and_then(bearer);
            if !shown.is_some_and(|shown| token.is(shown.as_bytes())) {
                let message = "Show the token: Authorization: Bearer TOKEN";
                return Err(Refusal::new(StatusCode::UNAUTHORIZED, message));
            }
        }
        Ok(())
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

    fn is_our_origin(&self, origin: &str) -> bool {
        let origin = canonical(origin);
        if self.origins.contains(&origin) {
            return true;
        }
        let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let Some(Ok(parsed)) = rest.map(str::parse::<Authority>) else { return false };
        !origin.contains('@') && is_loopback(parsed.host())
    }

    /// Reads the body, as long as it is not too long.
    async fn read(&self, request: Request) -> Result<Request, Refusal> {
        let too_large = || {
            let message = format!("The body may have {} bytes at the most.", self.body_limit);
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
        };
        let (head, body) = request.into_parts();
        let announced = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let announced = announced.and_then(|value| value.parse::<u64>().ok()).unwrap_or(0);
        if announced > self.body_limit as u64 {
            return Err(too_large());
        }
        let mut body = pin!(body);
        let mut bytes = Vec::new();
        while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
            let frame =
                frame.map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "The body broke off."))?;
            if let Some(data) = frame.data_ref() {
                if bytes.len() + data.len() > self.body_limit {
                    return Err(too_large());
                }
                bytes.extend_from_slice(data);
            }
        }
        Ok(Request::from_parts(head, Body::from(bytes)))
    }

    async fn pass(&self, request: Request, next: Next) -> Result<Response, Refusal> {
        self.admit(&request)?;
        let deadline = Instant::now() + self.patience;
        let late = |status, message: &str| Refusal::new(status, message);
        let request = timeout_at(deadline, self.read(request))
            .await
            .map_err(|_| late(StatusCode::REQUEST_TIMEOUT, "The body took too long."))??;
        timeout_at(deadline, next.run(request))
            .await
            .map_err(|_| late(StatusCode::GATEWAY_TIMEOUT, "The answer took too long."))
    }
}

/// The layer.
pub(crate) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = guard.pass(request, next).await.unwrap_or_else(|refusal| {
        tracing::debug!(status = refusal.status.as_u16(), "refused a request");
        refusal.into_response()
    });
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn no_host() -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, "This Host is not served here.")
}

fn no_origin() -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, "Pages of this Origin may not call.")
}

/// The one value of a header; an error if there are several or it is no text.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
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

/// An origin in the one form in which it is compared.
fn canonical(origin: &str) -> String {
    let origin = origin.trim().trim_end_matches('/').to_ascii_lowercase();
    let bare = match origin.split_once("://") {
        Some(("http", _)) => origin.strip_suffix(":80"),
        Some(("https", _)) => origin.strip_suffix(":443"),
        _ => None,
    };
    bare.unwrap_or(&origin).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        let mut config = ServerConfig::standard("1");
        config.bind = "192.168.7.7:7337".parse().unwrap();
        config.allowed_hosts = vec!["Notes.example".into(), "box:8080".into()];
        config.allowed_origins = vec!["https://notes.example:443/".into()];
        Guard::new(&config)
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
    fn origins_are_loopback_or_listed() {
        let ours = [
            "http://localhost",
            "https://localhost:5173",
            "http://127.0.0.1:7337",
            "http://[::1]:1",
            "https://notes.example",
            "HTTPS://NOTES.EXAMPLE:443",
        ];
        for origin in ours {
            assert!(guard().is_our_origin(origin), "{origin}");
        }
        let others = [
            "null",
            "",
            "http://notes.example",
            "https://notes.example:444",
            "file://",
            "http://localhost.evil.example",
            "http://evil.example",
            "ftp://localhost",
            "http://evil@localhost",
            "chrome-extension://abc",
            "localhost",
        ];
        for origin in others {
            assert!(!guard().is_our_origin(origin), "{origin}");
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
