//! A server that clients call over HTTP, and its entry in each client's file.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{ClientSpec, HookInstall, RequestedTools, SetupScope};
use crate::error::{ClientsError, Result};

/// Start of the personal access tokens of team servers.
const TEAM_TOKEN_PREFIX: &str = "mem_pat_";
/// Prefix of the paths of a team server at which clients find no way to sign in.
const TEAM_TOKEN_PATH: &str = "/t";
const MCP_PATH: &str = "/mcp";

/// A server that clients call, instead of a program that they start.
#[derive(Clone, Debug)]
pub struct ServerAddress {
    /// Origin, without a slash at its end.
    origin: String,
    /// Token that clients send; `None` if people sign in.
    pub token: Option<ServerToken>,
    /// The only space of the connection; `None` for all spaces of the person.
    pub space: Option<String>,
    /// Repository of the folder whose project file names the server.
    pub repository: Option<String>,
}

/// The token of a server, and the file that hooks read it from.
#[derive(Clone, Debug)]
pub struct ServerToken {
    /// The token.
    pub text: String,
    /// The file with the token.
    pub file: PathBuf,
}

/// Entry of a server in the file of a client that calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RemoteShape {
    /// The file takes no addresses.
    None,
    /// `{url, headers}`.
    Url,
    /// `{type: "http", url, headers}`.
    TypedUrl,
    /// `{type: "streamableHttp", url, headers}`.
    StreamableUrl,
    /// `{httpUrl, headers}`; `url` is another protocol there.
    HttpUrl,
    /// `{serverUrl, headers}`.
    ServerUrl,
    /// `{url, http_headers}`.
    HttpHeaders,
    /// `{type: "remote", url, headers, enabled}`.
    Remote,
    /// `{name, type: "streamable_http", uri, headers, enabled, …}`.
    Goose,
}

impl RemoteShape {
    /// Returns the entry of an address; `None` if the file takes no addresses.
    fn entry(self, url: &str, headers: Map<String, Value>) -> Option<Value> {
        let (mut entry, headers_key) = match self {
            Self::None => return None,
            Self::Url => (json!({ "url": url }), "headers"),
            Self::TypedUrl => (json!({ "type": "http", "url": url }), "headers"),
            Self::StreamableUrl => (json!({ "type": "streamableHttp", "url": url }), "headers"),
            Self::HttpUrl => (json!({ "httpUrl": url }), "headers"),
            Self::ServerUrl => (json!({ "serverUrl": url }), "headers"),
            Self::HttpHeaders => (json!({ "url": url }), "http_headers"),
            Self::Remote => (json!({ "type": "remote", "url": url, "enabled": true }), "headers"),
            Self::Goose => {
                let entry = json!({
                    "name": "memoranda",
                    "type": "streamable_http",
                    "uri": url,
                    "enabled": true,
                    "envs": {},
                    "timeout": 60,
                });
                (entry, "headers")
            }
        };
        if !headers.is_empty() {
            entry[headers_key] = Value::Object(headers);
        }
        Some(entry)
    }
}

impl ServerAddress {
    /// Parses the address of a server. A path of the protocol at its end is left out. Plain HTTP is
    /// accepted on this machine alone, because every request carries a token.
    pub fn parse(address: &str) -> Result<Self> {
        let invalid = |reason: &'static str| ClientsError::InvalidAddress {
            address: address.to_owned(),
            reason,
        };
        let origin = address.trim().trim_end_matches('/');
        let origin = origin.strip_suffix(MCP_PATH).unwrap_or(origin);
        let origin = origin.strip_suffix(TEAM_TOKEN_PATH).unwrap_or(origin);
        let (scheme, authority) =
            origin.split_once("://").ok_or_else(|| invalid("it does not begin with https://"))?;
        let is_host = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        if authority.is_empty() || !authority.chars().all(is_host) {
            return Err(invalid("only a host and a port may follow https://"));
        }
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        let is_this_machine = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        match scheme {
            "https" => {}
            "http" if is_this_machine => {}
            "http" => return Err(invalid("a token would travel in the open; use https://")),
            _ => return Err(invalid("it does not begin with https://")),
        }
        let origin = origin.to_owned();
        Ok(Self { origin, token: None, space: None, repository: None })
    }

    /// Returns the address without a path.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the address to type where a client asks for one.
    pub fn mcp_url(&self) -> String {
        format!("{}{MCP_PATH}", self.origin)
    }

    /// Returns the entry of the server in a client's file.
    pub(crate) fn entry(
        &self,
        client: &ClientSpec,
        tools: Option<&RequestedTools>,
    ) -> Option<Value> {
        let default = RequestedTools {
            toolsets: vec![client.tools.set_name().to_owned()],
            tools: Vec::new(),
        };
        let tools = tools.unwrap_or(&default);
        let mut url = self.mcp_path();
        let mut headers = Map::new();
        let mut header = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                headers.insert(name.to_owned(), Value::String(value));
            }
        };
        header("Authorization", self.token.as_ref().map(|token| format!("Bearer {}", token.text)));
        header("Memoranda-Space", self.space.clone());
        header("X-Memoranda-Repository", self.repository.clone());
        match (tools.toolsets.as_slice(), tools.tools.as_slice()) {
            // A path is seen in every client; not every client shows its headers.
            ([one], []) => url.push_str(&format!("/x/{one}")),
            (sets, names) => {
                header("X-MCP-Toolsets", Some(sets.join(",")));
                header("X-MCP-Tools", Some(names.join(",")));
            }
        }
        client.remote.entry(&url, headers)
    }

    /// Returns the address of the protocol. Some clients ignore a token where they can sign in, so
    /// tokens of a team server go to paths without a sign-in.
    fn mcp_path(&self) -> String {
        let is_team = |token: &ServerToken| token.text.starts_with(TEAM_TOKEN_PREFIX);
        let prefix = if self.token.as_ref().is_some_and(is_team) { TEAM_TOKEN_PATH } else { "" };
        format!("{}{prefix}{MCP_PATH}", self.origin)
    }

    /// Returns the flags of hooks that call the server.
    pub(crate) fn hook_flags(&self) -> Vec<String> {
        let mut flags = vec!["--server".to_owned(), self.origin.clone()];
        if let Some(token) = &self.token {
            flags.extend(["--token-file".to_owned(), token.file.display().to_string()]);
        }
        if let Some(space) = &self.space {
            flags.extend(["--space".to_owned(), space.clone()]);
        }
        flags
    }

    /// Checks that a client can be connected to the server.
    pub(crate) fn check(
        &self,
        client: &ClientSpec,
        scope: SetupScope,
        with: HookInstall,
    ) -> Result<()> {
        let (name, title) = (client.name, client.title);
        if client.remote == RemoteShape::None {
            return Err(ClientsError::NoAddress { title, address: self.mcp_url() });
        }
        match (&self.token, scope) {
            (None, _) if client.sign_in.is_none() => Err(ClientsError::NeedsToken { name, title }),
            (None, _) if with == HookInstall::With => {
                Err(ClientsError::HooksNeedToken { name, title })
            }
            (Some(_), SetupScope::Project) => Err(ClientsError::SharedToken { title }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::CLIENTS;

    #[test]
    fn an_address_is_an_origin_that_keeps_a_token_secret() {
        for (text, origin) in [
            ("https://team.example", "https://team.example"),
            (" https://team.example/ ", "https://team.example"),
            ("https://team.example:8443/mcp", "https://team.example:8443"),
            ("https://team.example/t/mcp/", "https://team.example"),
            ("http://127.0.0.1:7337", "http://127.0.0.1:7337"),
            ("http://[::1]:7337/mcp", "http://[::1]:7337"),
            ("http://localhost", "http://localhost"),
        ] {
            assert_eq!(ServerAddress::parse(text).unwrap().origin(), origin, "{text}");
        }
        for text in [
            "",
            "team.example",
            "ftp://team.example",
            "http://team.example",
            "http://127.0.0.1.evil.example",
            "https://",
            "https://team.example/path",
            "https://me:secret@team.example",
            "https://team.example?x=1",
            "https://team.example\" x",
        ] {
            let error = ServerAddress::parse(text).unwrap_err();
            assert!(matches!(error, ClientsError::InvalidAddress { .. }), "{text}");
        }
    }

    #[test]
    fn tools_are_chosen_by_the_path_or_by_headers() {
        let cursor = CLIENTS.iter().find(|client| client.name == "cursor").unwrap();
        let address = ServerAddress::parse("https://team.example").unwrap();
        let entry = |names: &str| address.entry(cursor, Some(&RequestedTools::parse(names)));
        assert_eq!(entry("notes"), Some(json!({ "url": "https://team.example/mcp/x/notes" })));
        let both = entry("notes,memory,recall").unwrap();
        assert_eq!(both["url"], "https://team.example/mcp");
        assert_eq!(both["headers"]["X-MCP-Toolsets"], "notes", "{both}");
        assert_eq!(both["headers"]["X-MCP-Tools"], "memory,recall", "{both}");
    }

    #[test]
    fn a_token_of_one_vault_goes_to_its_own_path() {
        let cursor = CLIENTS.iter().find(|client| client.name == "cursor").unwrap();
        let mut address = ServerAddress::parse("http://localhost:7337").unwrap();
        let text = "memoranda_0123".to_owned();
        address.token = Some(ServerToken { text, file: PathBuf::from("token") });
        let entry = address.entry(cursor, None).unwrap();
        assert_eq!(entry["url"], "http://localhost:7337/mcp/x/recommended");
    }
}
