//! What an endpoint is told before it is asked. The binary reads the configuration; here it is a
//! value.

use std::fmt;
use std::time::Duration;

/// How an endpoint is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// `POST …/chat/completions` and `POST …/embeddings`.
    OpenAi,
    /// `POST …/v1/messages`.
    Anthropic,
}

impl Protocol {
    /// The address that counts if none is said.
    pub fn standard_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }
}

/// An endpoint and the limits of asking it.
#[derive(Clone, Debug)]
pub struct Options {
    /// How it is asked.
    pub protocol: Protocol,
    /// Its address, up to the part that the protocol adds.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The key, if it wants one.
    pub key: Option<Key>,
    /// How long one call may take, retries included.
    pub limit: Duration,
    /// The largest answer that is read, in bytes.
    pub max_answer_bytes: u64,
}

/// Why an endpoint cannot be asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadOptions {
    /// The address is none.
    #[error("{0:?} is no address of a model; it begins with https:// or http://")]
    Url(String),
    /// The key would travel in the open.
    #[error(
        "a key is not sent over plain http:// to {0}; use https://, or an address of this machine"
    )]
    PlainKey(String),
    /// No model was named.
    #[error("no model is named")]
    NoModel,
}

impl Options {
    /// The size that answers may have if nothing else is said.
    pub const MAX_ANSWER_BYTES: u64 = 1 << 20;

    pub(crate) fn check(&self) -> Result<(), BadOptions> {
        if self.model.trim().is_empty() {
            return Err(BadOptions::NoModel);
        }
        let bad = || BadOptions::Url(self.url.clone());
        let (scheme, rest) = self.url.split_once("://").ok_or_else(bad)?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        if host.is_empty() || authority.contains('@') {
            return Err(bad());
        }
        match scheme.to_ascii_lowercase().as_str() {
            "https" => Ok(()),
            "http" if self.key.is_some() && !is_this_machine(host) => {
                Err(BadOptions::PlainKey(host.to_owned()))
            }
            "http" => Ok(()),
            _ => Err(bad()),
        }
    }
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let address = name.parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// The secret that an endpoint wants. It never prints.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// Takes a key as it was read; white space around it is no part of it. `None` if nothing is
    /// left, or what is left cannot stand in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, key: Option<&str>, expected: Result<(), &str>) {
        let options = Options {
            protocol: Protocol::OpenAi,
            url: url.to_owned(),
            model: "m".to_owned(),
            key: key.and_then(Key::new),
            limit: Duration::from_secs(1),
            max_answer_bytes: Options::MAX_ANSWER_BYTES,
        };
        let found = options.check().map_err(|e| e.to_string());
        match expected {
            Ok(()) => assert_eq!(found, Ok(()), "{url}"),
            Err(word) => assert!(found.clone().is_err_and(|e| e.contains(word)), "{found:?}"),
        }
    }

    #[test]
    fn addresses_are_whole_and_keys_do_not_travel_in_the_open() {
        check("https://api.openai.com/v1", Some("k"), Ok(()));
        check("http://127.0.0.1:11434/v1", Some("k"), Ok(()));
        check("http://localhost:1234/v1", Some("k"), Ok(()));
        check("http://[::1]:8080", Some("k"), Ok(()));
        check("http://box.lan:8080/v1", None, Ok(()));
        check("http://box.lan:8080/v1", Some("k"), Err("plain http"));
        check("http://localhost.evil.example/v1", Some("k"), Err("plain http"));
        check("http://localhost@evil.example/v1", Some("k"), Err("no address"));
        check("localhost:11434", None, Err("no address"));
        check("file:///etc/passwd", None, Err("no address"));
        check("", None, Err("no address"));
    }

    #[test]
    fn a_key_never_prints() {
        let key = Key::new(" sk-secret\n").unwrap();
        assert_eq!((format!("{key:?}"), key.secret()), ("Key(…)".to_owned(), "sk-secret"));
        assert!(Key::new(" \n").is_none() && Key::new("a b").is_none());
    }
}
