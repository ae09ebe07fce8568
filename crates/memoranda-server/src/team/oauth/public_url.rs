//! The address by which people and clients call the server, and what follows from it: the name of
//! the authorization server, and the resources at which its tokens are valid.

use std::fmt;

use super::{OAUTH_PATH, SCOPE_READ, SCOPE_WRITE};
use crate::guard::parse_origin;

/// Path of the MCP server. Access tokens are valid there.
const RESOURCE_PATH: &str = "/mcp";
/// Path of the page's data. Access tokens of the page are valid there.
const PAGE_PATH: &str = "/api/page";
/// Path before which that of a resource is put, for the metadata of the resource.
pub(super) const RESOURCE_METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// An origin, without a slash at its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PublicUrl(String);

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PublicUrl {
    /// Parses an address. `None` if it is not an origin.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        parse_origin(text).map(Self)
    }

    /// Returns the host with its port.
    pub(crate) fn host(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, host)| host)
    }

    /// Returns the name of this server in metadata and answers.
    pub(super) fn issuer(&self) -> String {
        format!("{}{OAUTH_PATH}", self.0)
    }

    /// Returns true if browsers reach the server by TLS.
    pub(super) fn is_secure(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// Returns the resource that an address names, in its canonical form. `None` if it is not ours.
    pub(super) fn resource(&self, address: &str) -> Option<String> {
        let address = address.strip_suffix('/').unwrap_or(address);
        let path = address.strip_prefix(self.0.as_str())?;
        is_resource_path(path).then(|| address.to_owned())
    }

    /// Returns the address of the MCP server.
    pub(super) fn default_resource(&self) -> String {
        format!("{}{RESOURCE_PATH}", self.0)
    }

    /// Returns the address of the page's data, the audience of the page's tokens.
    pub(crate) fn page_resource(&self) -> String {
        format!("{}{PAGE_PATH}", self.0)
    }

    /// Returns true if a token for an audience is valid at a path of this server.
    pub(crate) fn covers(&self, audience: &str, path: &str) -> bool {
        let base = audience.strip_prefix(self.0.as_str());
        let rest = base.and_then(|base| path.strip_prefix(base));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the value of `WWW-Authenticate` that leads a client to the sign-in.
    pub(crate) fn challenge(&self, path: &str, error: Option<&str>) -> Option<String> {
        is_resource_path(path).then(|| {
            let error = error.map(|error| format!("error=\"{error}\", ")).unwrap_or_default();
            format!(
                "Bearer realm=\"memoranda\", {error}\
                 resource_metadata=\"{}{RESOURCE_METADATA_PATH}{path}\", \
                 scope=\"{SCOPE_READ} {SCOPE_WRITE}\"",
                self.0
            )
        })
    }
}

/// Returns true for a path of the Model Context Protocol.
pub(super) fn is_resource_path(path: &str) -> bool {
    // Without the slash, `:444/mcp` behind our own host would count as one of our paths.
    let parts: Vec<&str> = path.strip_prefix('/').unwrap_or_default().split('/').collect();
    matches!(parts.as_slice(), ["mcp"] | ["mcp", "readonly"] | ["mcp", "x", _])
        || matches!(parts.as_slice(), ["mcp", "x", _, "readonly"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audience_covers_its_own_paths() {
        let url = url();
        for (audience, path, is_covered) in [
            ("https://team.example/mcp", "/mcp", true),
            ("https://team.example/mcp", "/mcp/readonly", true),
            ("https://team.example/mcp", "/mcp/x/notes", true),
            ("https://team.example/mcp/readonly", "/mcp/readonly", true),
            ("https://team.example/mcp/readonly", "/mcp", false),
            ("https://team.example/mcp", "/mcpx", false),
            ("https://team.example/mcp", "/t/mcp", false),
            ("https://team.example/mcp", "/api/tools/recall", false),
            ("https://other.example/mcp", "/mcp", false),
            ("https://team.example.evil.example/mcp", "/mcp", false),
            ("http://team.example/mcp", "/mcp", false),
            ("", "/mcp", false),
        ] {
            assert_eq!(url.covers(audience, path), is_covered, "{audience} {path}");
        }
    }

    #[test]
    fn a_resource_is_one_of_ours_in_its_canonical_form() {
        let url = url();
        for (address, resource) in [
            ("https://team.example/mcp", Some("https://team.example/mcp")),
            ("https://team.example/mcp/", Some("https://team.example/mcp")),
            (
                "https://team.example/mcp/x/notes/readonly",
                Some("https://team.example/mcp/x/notes/readonly"),
            ),
            ("https://team.example", None),
            ("https://team.example/t/mcp", None),
            ("https://team.example/mcp/../t/mcp", None),
            ("https://team.example:444/mcp", None),
            ("https://team.example.evil.example/mcp", None),
            ("https://evil.example/mcp", None),
            ("", None),
        ] {
            assert_eq!(url.resource(address).as_deref(), resource, "{address}");
        }
    }

    fn url() -> PublicUrl {
        PublicUrl::parse("https://team.example/").unwrap()
    }

    #[test]
    fn an_address_is_an_origin() {
        for text in ["team.example", "https://team.example/path", "ftp://team.example", ""] {
            assert!(PublicUrl::parse(text).is_none(), "{text}");
        }
    }
}
