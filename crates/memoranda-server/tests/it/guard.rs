//! The guard: every route, and every way in which a request can be a stranger's.

use std::time::{Duration, Instant};

use memoranda_server::{HttpServer, ROUTES, ServerConfig, ServerError, Token};
use serde_json::json;

use crate::support::{EXTRA, Http, PATIENCE, Reply, Vault, config, noticed};

const TOKEN: &str = "correct-horse-battery-staple";

fn guarded() -> ServerConfig {
    ServerConfig { token: Some(Token::new(TOKEN).unwrap()), ..config() }
}

/// A body with which the route would write, were it let.
fn body(path: &str) -> String {
    let create = json!({ "command": "create", "path": "/memories/x.md", "file_text": "x" });
    if path.starts_with("/mcp") {
        let params = json!({ "name": "memory", "arguments": create });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
    } else {
        create.to_string()
    }
}

/// Every route, and some that are none.
fn everywhere() -> Vec<(&'static str, String)> {
    let known = ROUTES.iter().map(|route| {
        let path = route.path.replace("{toolset}", "memory").replace("{name}", "memory");
        (route.method, path)
    });
    let more =
        [("GET", "/"), ("POST", "/nowhere"), ("DELETE", "/mcp"), ("GET", "/api/tools/memory")];
    known.chain(more.map(|(method, path)| (method, path.to_owned()))).collect()
}

fn send(http: &Http, (method, path): &(&str, String), more: &[(&str, &str)]) -> Reply {
    let mut headers = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    headers.extend(more);
    http.send(method, path, &headers, &body(path))
}

/// Who it is, what they get, and the headers by which they are known.
type Stranger<'a> = (&'a str, u16, &'a [(&'a str, &'a str)]);

#[test]
fn strangers_get_in_nowhere() {
    let vault = Vault::new();
    let http = Http::start(&vault, guarded());
    let right = format!("Bearer {TOKEN}");
    let right = ("Authorization", right.as_str());
    let strangers: [Stranger<'_>; 10] = [
        ("wrong Host", 403, &[("Host", "evil.example"), right]),
        ("rebound Host", 403, &[("Host", "localhost.evil.example:7337"), right]),
        ("two Hosts", 400, &[("Host", "localhost"), ("Host", "evil.example"), right]),
        ("wrong Origin", 403, &[("Origin", "https://evil.example"), right]),
        ("no Origin's name", 403, &[("Origin", "null"), right]),
        ("no token", 401, &[]),
        ("wrong token", 401, &[("Authorization", "Bearer correct-horse-battery-stapler")]),
        ("part of the token", 401, &[("Authorization", "Bearer correct-horse-battery")]),
        ("no bearer", 401, &[("Authorization", TOKEN)]),
        ("two tokens", 401, &[("Authorization", "Bearer x"), right]),
    ];
    for route in everywhere() {
        for (name, status, headers) in strangers {
            let reply = send(&http, &route, headers);
            // Of two Hosts the server of HTTP itself may already make nothing.
            let fits = reply.status == status || (status == 400 && reply.status == 403);
            assert!(fits, "{route:?} with {name}: {reply:?}");
            assert!(
                !reply.body.contains(TOKEN) && !reply.head.contains("access-control"),
                "{reply:?}"
            );
            if status != 400 {
                assert!(reply.json()["error"].is_string());
                assert!(reply.head.contains("x-content-type-options: nosniff"), "{reply:?}");
                assert!(reply.head.contains("cache-control: no-store"), "{reply:?}");
            }
            assert_eq!(reply.status == 401, reply.head.contains("www-authenticate: bearer"));
        }
    }
    assert_eq!(vault.commits(), 0);
    assert!(vault.memory.store().projects().unwrap().is_empty());
}

#[test]
fn the_owner_gets_in_everywhere() {
    let vault = Vault::new();
    let http = Http::start(&vault, guarded());
    let right = format!("Bearer {TOKEN}");
    for origin in [None, Some("http://localhost:5173"), Some("http://127.0.0.1")] {
        let mut headers = vec![("Authorization", right.as_str())];
        headers.extend(origin.map(|origin| ("Origin", origin)));
        for route in everywhere() {
            let reply = send(&http, &route, &headers);
            let expected = match (route.0, route.1.as_str()) {
                ("GET", "/") | ("POST", "/nowhere") => 404,
                ("DELETE", _) | ("GET", "/api/tools/memory") => 405,
                _ => 200,
            };
            assert_eq!(reply.status, expected, "{route:?}: {reply:?}");
            if expected == 404 {
                assert!(reply.json()["error"].is_string());
            }
            assert!(reply.head.contains("nosniff") && reply.head.contains("no-store"), "{reply:?}");
            assert!(!reply.head.contains("access-control"), "{reply:?}");
        }
    }
    assert!(vault.commits() > 0);
}

#[test]
fn without_a_token_loopback_is_enough_and_origins_still_count() {
    let vault = Vault::new();
    let http = Http::start(&vault, config());
    let health = ("GET", "/api/health".to_owned());
    assert_eq!(send(&http, &health, &[]).status, 200);
    assert_eq!(send(&http, &health, &[("Host", "localhost")]).status, 200);
    assert_eq!(send(&http, &health, &[("Host", "evil.example")]).status, 403);
    assert_eq!(send(&http, &health, &[("Origin", "http://evil.example")]).status, 403);
    // A target that names another host than the Host header does.
    let absolute = "GET http://evil.example/api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(http.raw(absolute.as_bytes()).status, 403);
    let none = "GET /api/health HTTP/1.0\r\n\r\n";
    assert_eq!(http.raw(none.as_bytes()).status, 403);
}

#[test]
fn listed_hosts_and_origins_are_let_in() {
    let vault = Vault::new();
    let listed = ServerConfig {
        allowed_hosts: vec!["notes.example".into()],
        allowed_origins: vec!["https://notes.example".into()],
        ..config()
    };
    let http = Http::start(&vault, listed);
    let mcp = ("POST", "/mcp".to_owned());
    let page = [("Host", "notes.example"), ("Origin", "https://notes.example")];
    assert_eq!(send(&http, &mcp, &page).status, 200);
    let other = [("Host", "notes.example"), ("Origin", "https://notes.example:8443")];
    assert_eq!(send(&http, &mcp, &other).status, 403);
}

#[test]
fn what_others_can_reach_needs_a_token() {
    for bind in ["0.0.0.0:0", "[::]:0"] {
        let mut config = config();
        config.bind = bind.parse().unwrap();
        let refused = HttpServer::bind(config);
        assert!(matches!(refused, Err(ServerError::TokenRequired { .. })), "{bind}");
    }
    let mut config = guarded();
    config.bind = "0.0.0.0:0".parse().unwrap();
    assert!(HttpServer::bind(config).is_ok());
}

#[test]
fn bodies_are_bounded() {
    let vault = Vault::new();
    let http = Http::start(&vault, ServerConfig { body_limit: 1000, ..config() });
    for route in everywhere() {
        let fits = http.send(route.0, &route.1, &[], &" ".repeat(1000));
        assert_ne!(fits.status, 413, "{route:?}");
        let large = http.send(route.0, &route.1, &[], &" ".repeat(1001));
        assert_eq!(large.status, 413, "{route:?}");
        let chunk = format!("3e9\r\n{}\r\n0\r\n\r\n", " ".repeat(1001));
        let head =
            format!("{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", route.0, route.1);
        let unannounced = format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunk}");
        assert_eq!(http.raw(unannounced.as_bytes()).status, 413, "{route:?}");
    }
}

/// The guard's limit is the only one: what it lets in is taken, and what is too much is refused
/// in its words.
#[test]
fn a_large_file_fits_where_a_body_may() {
    let vault = Vault::new();
    let http = Http::start(&vault, config());
    for (n, path) in ["/api/tools/memory", "/api/memory-tool"].into_iter().enumerate() {
        let text = format!("{}\n", "a long line of a file ".repeat(100)).repeat(1_500);
        let place = format!("/memories/{n}.md");
        let body = json!({ "command": "create", "path": place, "file_text": text }).to_string();
        let reply = http.send("POST", path, &[], &body);
        assert_eq!((reply.status, &reply.json()["is_error"]), (200, &json!(false)), "{path}");
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        let reply = http.raw(format!("{head}Content-Length: 33554433\r\n\r\n").as_bytes());
        let said = "The body may have 33554432 bytes at the most.";
        assert_eq!((reply.status, &reply.json()["error"]), (413, &json!(said)), "{path}");
    }
}

#[test]
fn requests_take_only_so_long() {
    let vault = Vault::new();
    let patience = Duration::from_millis(300);
    let hasty = ServerConfig { request_timeout: patience, extra: EXTRA, ..config() };
    let http = Http::start(&vault, hasty);
    let started = Instant::now();
    let slow = json!({ "steps": 30_000, "name": "too slow" }).to_string();
    assert_eq!(http.send("POST", "/api/tools/slow", &[], &slow).status, 504);
    assert!(noticed("too slow"));
    let head = "POST /api/tools/memory HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{";
    assert_eq!(http.raw(head.as_bytes()).status, 408);
    assert!(started.elapsed() < PATIENCE);
}
