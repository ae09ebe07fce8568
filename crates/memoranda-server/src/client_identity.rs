//! Client and repository of an HTTP request. Requests are independent of each other, so each
//! carries both: the client's name in its session id, the repository in a header.

use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use memoranda_engine::clock;
use memoranda_tools::ToolSettings;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Header with the repository of the client, such as `github.com/acme/shop`.
pub(crate) const REPOSITORY_HEADER: &str = "x-memoranda-repository";
/// Header with the session id of a client of the older revisions.
const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
/// Start of a session id that contains the name of a client.
const SESSION_PREFIX: &str = "client.";

/// Name of the client that a request of the older revisions carries in its session id.
#[derive(Clone)]
pub(crate) struct SessionClient(pub(crate) String);

/// Name of the client that an `initialize` request introduces. The handler sets it, and the response
/// gets a session id with it.
#[derive(Clone, Default)]
pub(crate) struct IntroducedClient(Arc<OnceLock<String>>);

impl IntroducedClient {
    pub(crate) fn set(&self, name: String) {
        // A second `initialize` in one request does not exist.
        self.0.set(name).ok();
    }

    /// Adds the session id to the headers of a response, if a client was introduced.
    pub(crate) fn add_session(&self, headers: &mut HeaderMap) {
        let session = self.0.get().map(|name| session_id(name));
        if let Some(session) = session.and_then(|session| HeaderValue::try_from(session).ok()) {
            headers.insert(SESSION_HEADER, session);
        }
    }
}

impl SessionClient {
    /// Returns the client of a request by its session id. `None` without one of this server.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let session = headers.get(SESSION_HEADER)?.to_str().ok()?;
        let (_, name) = session.strip_prefix(SESSION_PREFIX)?.split_once('.')?;
        // A cut-off code is not from this server.
        let is_whole = !name.split('%').skip(1).any(|code| code.len() < 2);
        let name = percent_decode_str(name).decode_utf8().ok().filter(|_| is_whole)?;
        Some(Self(name.into_owned()))
    }
}

/// Returns a session id that contains the name of a client. It grants nothing: the name is as the
/// client gave it, and every request is authenticated by itself.
fn session_id(name: &str) -> String {
    let random: String = clock::secret().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    // The random part comes first: the history abbreviates long names of conversations.
    format!("{SESSION_PREFIX}{random}.{}", utf8_percent_encode(name, NON_ALPHANUMERIC))
}

/// Returns the settings of a request over HTTP. `None` if the header names no repository.
pub(crate) fn request_settings(
    settings: &ToolSettings,
    headers: &HeaderMap,
) -> Option<Arc<ToolSettings>> {
    let repository = match headers.get(REPOSITORY_HEADER) {
        Some(value) => Some(value.to_str().ok()?.trim()).filter(|name| !name.is_empty()),
        None => None,
    };
    settings.for_remote_client(repository).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_contains_the_client() {
        for name in ["claude-code 2.1.197", "Zürich.app 1", "%", ""] {
            let introduced = IntroducedClient::default();
            introduced.set(name.to_owned());
            let mut headers = HeaderMap::new();
            introduced.add_session(&mut headers);
            let sent = headers.get(SESSION_HEADER).unwrap();
            assert!(sent.as_bytes().iter().all(u8::is_ascii_graphic), "{sent:?}");
            assert_eq!(SessionClient::from_headers(&headers).unwrap().0, name);
        }
        for foreign in ["", "abc", "client.", "client.1.%4", "client.1.%ff"] {
            let headers = HeaderMap::from_iter([(SESSION_HEADER, foreign.parse().unwrap())]);
            assert!(SessionClient::from_headers(&headers).is_none(), "{foreign}");
        }
        let mut headers = HeaderMap::new();
        IntroducedClient::default().add_session(&mut headers);
        assert!(headers.is_empty());
    }
}
