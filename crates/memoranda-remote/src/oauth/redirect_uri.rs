//! Addresses to which a browser may be sent with a code.
//!
//! They are compared as text. Only the port of a loopback address is free, because native programs
//! take whichever port the system gives them (RFC 8252).

/// Maximum length of an address, in bytes.
const MAX_BYTES: usize = 2_000;
/// Hosts of this machine.
const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];
/// Private-use schemes without a dot that programs of today have.
const APP_SCHEMES: [&str; 11] = [
    "claude",
    "cursor",
    "goose",
    "jetbrains",
    "lmstudio",
    "raycast",
    "vscode",
    "vscode-insiders",
    "warp",
    "windsurf",
    "zed",
];

/// Rejects an address that no client may register, with the reason.
pub fn check_redirect_uri(uri: &str) -> Result<(), &'static str> {
    if uri.len() > MAX_BYTES {
        return Err("it has more than 2,000 bytes");
    }
    if !uri.bytes().all(|byte| byte.is_ascii_graphic()) || uri.contains(['\\', '"', '<', '>', '`'])
    {
        return Err("it has a character that an address cannot have");
    }
    if uri.contains('#') {
        return Err("it has a fragment");
    }
    let (scheme, rest) = uri.split_once(':').ok_or("it is not an address")?;
    match scheme {
        "https" => {
            let (host, _, _) = split_authority(rest).ok_or("it has no plain host")?;
            if host.contains('*') { Err("its host has a placeholder") } else { Ok(()) }
        }
        "http" if loopback_parts(uri).is_some() => Ok(()),
        "http" => Err("http is for this machine only: 127.0.0.1, [::1] or localhost"),
        _ if is_app_scheme(scheme) => Ok(()),
        _ => Err("its scheme is not https, and not that of a known program"),
    }
}

/// Returns true if an address is one of the registered ones.
pub fn is_registered_uri(registered: &[String], uri: &str) -> bool {
    let loopback = loopback_parts(uri);
    registered
        .iter()
        .any(|known| known == uri || loopback.is_some() && loopback_parts(known) == loopback)
}

/// A reverse domain name, or a known program's.
fn is_app_scheme(scheme: &str) -> bool {
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte)
        });
    is_scheme && (scheme.contains('.') || APP_SCHEMES.contains(&scheme))
}

/// Splits `//host:port/path?query` into host, port and the rest. `None` if it has no host, a user,
/// or a port that is not a number.
fn split_authority(rest: &str) -> Option<(&str, &str, &str)> {
    let rest = rest.strip_prefix("//")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host_end = match authority.rfind(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(host_end);
    let digits = port.strip_prefix(':').unwrap_or(port);
    let is_plain = !host.is_empty()
        && !authority.contains('@')
        && (port.is_empty() || digits.parse::<u16>().is_ok());
    is_plain.then_some((host, port, path))
}

/// Returns host and path of a loopback address without its port; `None` for others.
fn loopback_parts(uri: &str) -> Option<(&str, &str)> {
    let (host, _, path) = split_authority(uri.strip_prefix("http:")?)?;
    LOOPBACK_HOSTS.contains(&host).then_some((host, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_https_loopback_or_of_a_program() {
        for uri in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://vscode.dev/redirect?x=1",
            "http://127.0.0.1:33418/",
            "http://127.0.0.1/",
            "http://[::1]:9/cb",
            "http://localhost:8080/callback",
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "com.example.app:/callback",
        ] {
            assert_eq!(check_redirect_uri(uri), Ok(()), "{uri}");
        }
        for uri in [
            "",
            "claude.ai/callback",
            "http://claude.ai/callback",
            "http://127.0.0.1.evil.example/",
            "http://localhost@evil.example/",
            "https://user@evil.example/",
            "https://*.example/cb",
            "https:///cb",
            "https:claude.ai",
            "https://a.example:x/",
            "https://a.example/#token",
            "https://a.example\\@evil.example/",
            "https://a.example/\r\nSet-Cookie: x",
            "https://a.example/ü",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "HTTPS://a.example/",
            "ftp://a.example/",
        ] {
            assert!(check_redirect_uri(uri).is_err(), "{uri}");
        }
        assert!(check_redirect_uri(&format!("https://a.example/{}", "x".repeat(2_000))).is_err());
    }

    #[test]
    fn only_the_port_of_loopback_is_free() {
        let registered = [
            "https://a.example/cb".to_owned(),
            "http://127.0.0.1:1/cb".to_owned(),
            "http://localhost/cb".to_owned(),
        ];
        for uri in [
            "https://a.example/cb",
            "http://127.0.0.1:1/cb",
            "http://127.0.0.1:54321/cb",
            "http://127.0.0.1/cb",
            "http://localhost:7/cb",
        ] {
            assert!(is_registered_uri(&registered, uri), "{uri}");
        }
        for uri in [
            "https://a.example/cb/",
            "https://a.example/cb?x=1",
            "https://a.example:443/cb",
            "https://a.example:8443/cb",
            "https://A.example/cb",
            "https://a.example.evil.example/cb",
            "https://a.example/cb/../evil",
            "http://127.0.0.1:1/cb2",
            "http://127.0.0.1:1/cb?x",
            "http://[::1]:1/cb",
            "http://127.0.0.2:1/cb",
            "http://127.0.0.1:99999/cb",
            "http://127.0.0.1:1@evil.example/cb",
            "https://127.0.0.1:1/cb",
            "",
        ] {
            assert!(!is_registered_uri(&registered, uri), "{uri}");
        }
    }
}
