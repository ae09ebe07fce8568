//! Files of the page, as they were built. They are the same for everybody and contain no secret.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};

/// One built file.
pub(crate) struct BuiltFile {
    /// Path under which the file is served.
    pub(crate) path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

/// The built files. Each has a route.
pub(crate) const BUILT_FILES: &[BuiltFile] = &[
    BuiltFile {
        path: "/",
        content_type: "text/html; charset=utf-8",
        bytes: include_bytes!("built/index.html"),
    },
    BuiltFile {
        path: "/page.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("built/page.js"),
    },
    BuiltFile {
        path: "/page.css",
        content_type: "text/css; charset=utf-8",
        bytes: include_bytes!("built/page.css"),
    },
    BuiltFile {
        path: "/places.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("built/places.js"),
    },
    BuiltFile {
        path: "/places.css",
        content_type: "text/css; charset=utf-8",
        bytes: include_bytes!("built/places.css"),
    },
    BuiltFile {
        path: "/icon.svg",
        content_type: "image/svg+xml",
        bytes: include_bytes!("built/icon.svg"),
    },
];

/// Serves a built file. A browser keeps it and asks with its tag whether it has changed.
pub(crate) fn built_file(path: &str, headers: &HeaderMap) -> Response {
    let Some(file) = BUILT_FILES.iter().find(|file| file.path == path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let tag = format!("\"{}\"", blake3::hash(file.bytes).to_hex().get(..32).unwrap_or_default());
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let is_known = known.flat_map(|value| value.split(',')).any(|value| value.trim() == tag);
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Body::from(file.bytes).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.extend(HeaderValue::from_str(&tag).ok().map(|tag| (ETAG, tag)));
    response
}
