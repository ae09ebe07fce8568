//! Options of an endpoint. The binary reads them from the configuration.

use std::fmt;
use std::time::Duration;

/// API format of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelProtocol {
    /// `POST …/chat/completions` and `POST …/embeddings`.
    OpenAi,
    /// `POST …/v1/messages`.
    Anthropic,
}

impl ModelProtocol {
    /// Returns the address of the provider's own service.
    pub fn standard_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }
}

/// An endpoint and the limits of its requests.
#[derive(Clone, Debug)]
pub struct EndpointOptions {
    /// API format.
    pub protocol: ModelProtocol,
    /// Base address, without the path that the protocol adds.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// API key; `None` if the endpoint needs none.
    pub key: Option<ApiKey>,
    /// Maximum time for one call, retries included.
    pub limit: Duration,
    /// Maximum size of a response, in bytes.
    pub max_answer_bytes: u64,
}

/// Reason why the options of an endpoint are rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EndpointOptionsError {
    /// The address is not an HTTP address.
    #[error("{0:?} is not the address of a model; it must start with https:// or http://")]
    Url(String),
    /// The key would be sent unencrypted.
    #[error(
        "a key is not sent over plain http:// to {0}; use https://, or an address of this machine"
    )]
    PlainKey(String),
    /// No model was named.
    #[error("no model is named")]
    NoModel,
}

impl EndpointOptions {
    /// Default for the maximum size of a response, in bytes.
    pub const MAX_ANSWER_BYTES: u64 = 1 << 20;

    pub(crate) fn check(&self) -> Result<(), EndpointOptionsError> {
        if self.model.trim().is_empty() {
            return Err(EndpointOptionsError::NoModel);
        }
        let bad = || EndpointOptionsError::Url(self.url.clone());
        let (scheme, rest) = self.url.split_once("://").ok_or_else(bad)?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        if host.is_empty() || authority.contains('@') {
            return Err(bad());
        }
        match scheme.to_ascii_lowercase().as_str() {
            "https" => Ok(()),
            "http" if self.key.is_some() && !is_loopback_host(host) => {
                Err(EndpointOptionsError::PlainKey(host.to_owned()))
            }
            "http" => Ok(()),
            _ => Err(bad()),
        }
    }
}

fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let address = name.parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// The secret of an endpoint. It is never printed.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Parses the text of a file or a variable, without the white space around it. `None` if it is
    /// empty or has a character that a header cannot carry.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, key: Option<&str>, expected: Result<(), &str>) {
        let options = EndpointOptions {
            protocol: ModelProtocol::OpenAi,
            url: url.to_owned(),
            model: "m".to_owned(),
            key: key.and_then(ApiKey::new),
            limit: Duration::from_secs(1),
            max_answer_bytes: EndpointOptions::MAX_ANSWER_BYTES,
        };
        let found = options.check().map_err(|e| e.to_string());
        match expected {
            Ok(()) => assert_eq!(found, Ok(()), "{url}"),
            Err(word) => assert!(found.clone().is_err_and(|e| e.contains(word)), "{found:?}"),
        }
    }

    #[test]
    fn addresses_are_complete_and_keys_are_not_sent_unencrypted() {
        check("https://api.openai.com/v1", Some("k"), Ok(()));
        check("http://127.0.0.1:11434/v1", Some("k"), Ok(()));
        check("http://localhost:1234/v1", Some("k"), Ok(()));
        check("http://[::1]:8080", Some("k"), Ok(()));
        check("http://box.lan:8080/v1", None, Ok(()));
        check("http://box.lan:8080/v1", Some("k"), Err("plain http"));
        check("http://localhost.evil.example/v1", Some("k"), Err("plain http"));
        check("http://localhost@evil.example/v1", Some("k"), Err("not the address"));
        check("localhost:11434", None, Err("not the address"));
        check("file:///etc/passwd", None, Err("not the address"));
        check("", None, Err("not the address"));
    }

    #[test]
    fn a_key_is_never_printed() {
        let key = ApiKey::new(" sk-secret\n").unwrap();
        assert_eq!((format!("{key:?}"), key.secret()), ("ApiKey(…)".to_owned(), "sk-secret"));
        assert!(ApiKey::new(" \n").is_none() && ApiKey::new("a b").is_none());
    }
}
