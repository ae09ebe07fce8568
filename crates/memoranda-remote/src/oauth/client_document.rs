//! Documents in which clients describe themselves, at the address that is their identifier.
//!
//! The address comes from a stranger, so the fetch is narrow: https, public addresses, no redirect,
//! no proxy, few bytes, little time. The addresses that were checked are those that are connected
//! to, so a name that changes its address in between gains nothing.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

use super::public_address::is_public;
use super::{ClientRefusal, OAuthClient, check_redirect_uri};

/// Maximum time of a fetch.
const FETCH_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum size of a document, in bytes.
const MAX_DOCUMENT_BYTES: u64 = 5 * 1024;
/// Maximum number of addresses to be sent back to.
const MAX_REDIRECT_URIS: usize = 20;
/// Maximum number of characters of a client's name.
const MAX_NAME_CHARS: usize = 80;

/// Fetches documents of clients.
pub struct ClientDocuments {
    agent: ureq::Agent,
    /// Hosts, with their ports, whose documents may be at private addresses.
    trusted_hosts: Vec<String>,
}

/// Resolves names to public addresses; other addresses only for trusted hosts.
#[derive(Debug)]
struct PublicResolver {
    system: DefaultResolver,
    trusted_hosts: Vec<String>,
}

impl Resolver for PublicResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let addresses = self.system.resolve(uri, config, timeout)?;
        let is_trusted =
            uri.authority().is_some_and(|host| is_listed(&self.trusted_hosts, host.as_str()));
        let is_private = |address: &SocketAddr| !is_public(address.ip());
        if !is_trusted && addresses.iter().any(is_private) {
            return Err(ureq::Error::HostNotFound);
        }
        Ok(addresses)
    }
}

fn is_listed(hosts: &[String], authority: &str) -> bool {
    hosts.iter().any(|host| host.eq_ignore_ascii_case(authority))
}

impl ClientDocuments {
    /// Makes a fetcher. Documents of the named hosts may be at private addresses, and without TLS.
    pub fn new(trusted_hosts: Vec<String>) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(FETCH_TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .build();
        let resolver = PublicResolver {
            system: DefaultResolver::default(),
            trusted_hosts: trusted_hosts.clone(),
        };
        let agent = ureq::Agent::with_parts(config, DefaultConnector::default(), resolver);
        Self { agent, trusted_hosts }
    }

    /// Returns true if an identifier is the address of a document.
    pub fn is_document_address(client_id: &str) -> bool {
        client_id.starts_with("https://") || client_id.starts_with("http://")
    }

    /// Fetches the document of a client.
    pub fn fetch(&self, client_id: &str) -> Result<OAuthClient, ClientRefusal> {
        self.check_address(client_id).map_err(|reason| refused(client_id, reason))?;
        // One sentence for all failures: the answer must not map the network of the server.
        let unreachable = || refused(client_id, "it cannot be fetched from a public address");
        let request = self.agent.get(client_id).header("accept", "application/json");
        let mut response = request.call().map_err(|_| unreachable())?;
        if response.status().as_u16() != 200 {
            return Err(unreachable());
        }
        let body = response.body_mut().with_config().limit(MAX_DOCUMENT_BYTES).read_to_vec();
        let body = body.map_err(|_| unreachable())?;
        parse(client_id, &body).map_err(|reason| refused(client_id, &reason))
    }

    fn check_address(&self, client_id: &str) -> Result<(), &'static str> {
        let uri: Uri = client_id.parse().map_err(|_| "it is not an address")?;
        let authority = uri.authority().ok_or("it has no host")?.as_str();
        if authority.contains('@') || client_id.contains('#') || client_id.len() > 500 {
            return Err("it is not a plain address");
        }
        if uri.path() == "/" || uri.path().split('/').any(|part| part == "." || part == "..") {
            return Err("it needs a path, without dots");
        }
        let is_secure = uri.scheme_str() == Some("https");
        if is_secure || is_listed(&self.trusted_hosts, authority) {
            return Ok(());
        }
        Err("it must begin with https")
    }
}

fn refused(client_id: &str, reason: &str) -> ClientRefusal {
    let shown: String = client_id.chars().take(200).collect();
    ClientRefusal::Metadata(format!("the client's document {shown} is not accepted: {reason}"))
}

/// Parses a document. It must name its own address.
fn parse(client_id: &str, body: &[u8]) -> Result<OAuthClient, String> {
    let document: Value = serde_json::from_slice(body).map_err(|_| "it is not JSON".to_owned())?;
    if document["client_id"].as_str() != Some(client_id) {
        return Err("its client_id is not its address".to_owned());
    }
    let uris = document["redirect_uris"].as_array().map(Vec::as_slice).unwrap_or_default();
    if uris.is_empty() || uris.len() > MAX_REDIRECT_URIS {
        return Err(format!("it needs 1 to {MAX_REDIRECT_URIS} redirect_uris"));
    }
    let mut redirect_uris = Vec::new();
    for uri in uris {
        let uri = uri.as_str().unwrap_or_default();
        check_redirect_uri(uri).map_err(|reason| format!("its redirect_uri {uri:?}: {reason}"))?;
        redirect_uris.push(uri.to_owned());
    }
    let name = document["client_name"].as_str().unwrap_or_default();
    Ok(OAuthClient { client_id: client_id.to_owned(), name: shown_name(name), redirect_uris })
}

/// Returns a client's own name as one short line.
pub(crate) fn shown_name(name: &str) -> String {
    let line = name.split(|c: char| c.is_control() || c.is_whitespace()).filter(|w| !w.is_empty());
    let line: String = line.collect::<Vec<_>>().join(" ").chars().take(MAX_NAME_CHARS).collect();
    if line.is_empty() { "A program without a name".to_owned() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_strangers_are_fetched_from_public_addresses_only() {
        let documents = ClientDocuments::new(Vec::new());
        for client_id in [
            "http://client.example/client.json",
            "https://user@client.example/client.json",
            "https://client.example/",
            "https://client.example/a/../b",
            "https://client.example/a#b",
            "https://127.0.0.1:1/client.json",
            "https://localhost:1/client.json",
            "https://[::1]:1/client.json",
            "https://[::ffff:127.0.0.1]:1/client.json",
            "https://0.0.0.0:1/client.json",
            "https://2130706433:1/client.json",
            "https://10.0.0.1/client.json",
            "https://169.254.169.254/latest/meta-data",
            "https:///client.json",
        ] {
            let refusal = documents.fetch(client_id).unwrap_err();
            assert!(matches!(refusal, ClientRefusal::Metadata(_)), "{client_id}: {refusal:?}");
        }
    }

    #[test]
    fn a_document_names_its_own_address() {
        let address = "https://client.example/client.json";
        let good = r#"{"client_id":"https://client.example/client.json","client_name":"A\nB",
            "redirect_uris":["http://127.0.0.1/cb"]}"#;
        let client = parse(address, good.as_bytes()).unwrap();
        assert_eq!((client.name.as_str(), client.redirect_uris.len()), ("A B", 1));
        for (bad, reason) in [
            ("", "not JSON"),
            ("{}", "client_id"),
            (r#"{"client_id":"https://other.example/client.json"}"#, "client_id"),
            (r#"{"client_id":"https://client.example/client.json"}"#, "redirect_uris"),
            (
                r#"{"client_id":"https://client.example/client.json","redirect_uris":["http://x/"]}"#,
                "http is for this machine only",
            ),
        ] {
            let refusal = parse(address, bad.as_bytes()).unwrap_err();
            assert!(refusal.contains(reason), "{bad}: {refusal}");
        }
    }
}
