//! The guard: every route, with every kind of foreign request.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use memoranda_server::{
    BearerToken, ClientAuthentication, HttpServer, RouteAccess, ServerConfig, ServerError, routes,
};
use serde_json::json;

use crate::support::{
    EXTRA_DEFINITIONS, HttpReply, PATIENCE, ServerVault, TestServer, config, was_cancelled,
};

const TOKEN: &str = "correct-horse-battery-staple";
const TOKEN_FILE: &str = "/state/memoranda/1/http-token";

fn guarded() -> ServerConfig {
    let token = BearerToken::parse(TOKEN).unwrap().in_file(TOKEN_FILE);
    ServerConfig { authentication: ClientAuthentication::Token(token), ..config() }
}

/// A body with which the route would write.
fn body(path: &str) -> String {
    let create = json!({ "command": "create", "path": "/memories/x.md", "file_text": "x" });
    if path.starts_with("/mcp") {
        let params = json!({ "name": "memory", "arguments": create });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
    } else {
        create.to_string()
    }
}

/// Every route that needs the token, the public probe, and some that do not exist. The page's own
/// routes need a session; `page.rs` has their table.
fn everywhere() -> Vec<(&'static str, String)> {
    let is_tested = |route: &&memoranda_server::HttpRoute| {
        route.access == RouteAccess::Token || route.path == "/api/health"
    };
    let known = routes().filter(is_tested).map(|route| {
        let path = route.path.replace("{toolset}", "memory").replace("{name}", "memory");
        (route.method, path)
    });
    let more = [
        ("GET", "/nothing"),
        ("POST", "/nowhere"),
        ("DELETE", "/mcp"),
        ("GET", "/api/tools/memory"),
    ];
    known.chain(more.map(|(method, path)| (method, path.to_owned()))).collect()
}

fn send(http: &TestServer, (method, path): &(&str, String), more: &[(&str, &str)]) -> HttpReply {
    let mut headers = vec![("Accept", "application/json, text/event-stream")];
    headers.extend(more);
    http.send(method, path, &headers, &body(path))
}

/// A name, the expected status, and the headers.
type ForeignRequest<'a> = (&'a str, u16, &'a [(&'a str, &'a str)]);

#[test]
fn foreign_requests_are_refused_everywhere() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, guarded());
    let right = format!("Bearer {TOKEN}");
    let right = ("Authorization", right.as_str());
    let strangers: [ForeignRequest<'_>; 15] = [
        ("wrong Host", 403, &[("Host", "evil.example"), right]),
        ("rebound Host", 403, &[("Host", "localhost.evil.example:7337"), right]),
        ("two Hosts", 400, &[("Host", "localhost"), ("Host", "evil.example"), right]),
        ("wrong Origin", 403, &[("Origin", "https://evil.example"), right]),
        ("no Origin's name", 403, &[("Origin", "null"), right]),
        ("a page of another port", 403, &[("Origin", "http://127.0.0.1:3000"), right]),
        ("two Origins", 403, &[("Origin", "http://a"), ("Origin", "http://a"), right]),
        ("another site", 403, &[("Sec-Fetch-Site", "cross-site"), right]),
        ("the same site", 403, &[("Sec-Fetch-Site", "same-site"), right]),
        ("two sites", 403, &[("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "none"), right]),
        ("no token", 401, &[]),
        ("wrong token", 401, &[("Authorization", "Bearer correct-horse-battery-stapler")]),
        ("part of the token", 401, &[("Authorization", "Bearer correct-horse-battery")]),
        ("no bearer", 401, &[("Authorization", TOKEN)]),
        ("two tokens", 401, &[("Authorization", "Bearer x"), right]),
    ];
    for route in everywhere() {
        for (name, status, headers) in strangers {
            if status == 401 && route.1 == "/api/health" {
                // Without a token a probe learns that the server runs, and nothing else.
                assert_eq!(send(&http, &route, headers).status, 200, "{name}");
                continue;
            }
            let reply = send(&http, &route, headers);
            // `hyper` may reject two Hosts itself.
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
            assert_eq!(reply.status == 401, reply.body.contains(TOKEN_FILE), "{reply:?}");
        }
    }
    assert_eq!(vault.commits(), 0);
    assert!(vault.memory.list_projects().unwrap().is_empty());
}

#[test]
fn requests_of_the_owner_are_served_everywhere() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, guarded());
    let right = format!("Bearer {TOKEN}");
    let port = http.address.port();
    let (own, own_name) = (format!("http://{}", http.address), format!("localhost:{port}"));
    let pages: [&[(&str, &str)]; 5] = [
        &[],
        &[("Origin", &own)],
        &[("Origin", &own), ("Sec-Fetch-Site", "same-origin")],
        &[("Sec-Fetch-Site", "none")],
        &[("Host", &own_name), ("Origin", &format!("http://{own_name}"))],
    ];
    for page in pages {
        let mut headers = vec![("Authorization", right.as_str())];
        headers.extend(page);
        for route in everywhere() {
            let reply = send(&http, &route, &headers);
            let expected = match (route.0, route.1.as_str()) {
                ("GET", "/nothing") | ("POST", "/nowhere") => 404,
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
fn without_a_token_hosts_and_origins_still_count() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, config());
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

const TYPES: [(&str, bool); 7] = [
    ("application/json", true),
    ("Application/JSON; charset=utf-8", true),
    ("", false),
    ("text/plain", false),
    ("text/plain; application/json", false),
    ("application/x-www-form-urlencoded", false),
    ("application/jsonx", false),
];

/// Every combination of what a client can send, against the rules in five lines.
#[test]
fn every_combination_of_headers_is_judged_by_the_rules() {
    let vault = ServerVault::new();
    let allowed = "https://app.example:8443";
    let config = ServerConfig {
        allowed_hosts: vec!["notes.example".into()],
        allowed_origins: vec![allowed.into()],
        ..guarded()
    };
    let http = TestServer::start(&vault, config);
    let (address, port) = (http.address.to_string(), http.address.port());
    let hosts = [address, format!("localhost:{port}"), "notes.example".into(), "evil.test".into()];
    let routes = [
        ("POST", "/api/tools/memory", 200),
        ("POST", "/mcp", 200),
        ("GET", "/api/health", 200),
        ("GET", "/nothing", 404),
        ("DELETE", "/mcp", 405),
        ("PUT", "/api/memory-tool", 405),
    ];
    let right = format!("Bearer {TOKEN}");
    let mut judged = 0;
    for host in &hosts {
        let origins = [
            ("".into(), true),
            (format!("http://{host}"), true),
            (allowed.into(), true),
            (format!("https://{host}"), false),
            (format!("http://{host}0"), false),
            ("http://localhost:3000".into(), false),
            ("null".into(), false),
        ];
        for (origin, is_origin) in &origins {
            for site in ["", "none", "same-origin", "same-site", "cross-site"] {
                for (token, is_token) in [("", false), ("Bearer wrong", false), (&*right, true)] {
                    for (method, path, found) in routes {
                        // A request that is refused before its type is looked at needs few of them.
                        for (n, (kind, is_json)) in TYPES.into_iter().enumerate() {
                            if !is_token && n > 2 || !is_origin && n > 3 {
                                continue;
                            }
                            let is_site = matches!(site, "" | "none" | "same-origin");
                            let is_foreign =
                                host == "evil.test" || !is_origin || !is_site && origin != allowed;
                            let expected = if is_foreign {
                                403
                            } else if !is_token && path != "/api/health" {
                                401
                            } else if !is_json && method != "GET" {
                                415
                            } else {
                                found
                            };
                            let headers = [
                                ("Host", host.as_str()),
                                ("Origin", origin),
                                ("Sec-Fetch-Site", site),
                                ("Content-Type", kind),
                                ("Authorization", token),
                                ("Accept", "application/json, text/event-stream"),
                            ];
                            let text = if method == "GET" { String::new() } else { body(path) };
                            let reply = http.send(method, path, &headers, &text);
                            assert_eq!(reply.status, expected, "{method} {path} {headers:?}");
                            let is_shared = reply.head.contains("access-control-allow-origin");
                            assert_eq!(is_shared, origin == allowed, "{headers:?}: {reply:?}");
                            judged += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(judged > 5_000, "{judged}");
}

/// A page can send an empty POST, or a body with any method, without asking first.
#[test]
fn a_body_that_is_not_declared_as_json_is_refused() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, config());
    for route in everywhere() {
        for (kind, is_json) in TYPES {
            let reply = send(&http, &route, &[("Content-Type", kind)]);
            assert_eq!(reply.status == 415, !is_json, "{route:?} {kind}: {reply:?}");
            if !is_json {
                assert!(reply.json()["error"].as_str().unwrap().contains("application/json"));
            }
        }
        let empty = http.send(route.0, &route.1, &[("Content-Type", "")], "");
        assert_eq!(empty.status == 415, route.0 == "POST", "{route:?}: {empty:?}");
        let twice = [("Content-Type", "application/json"), ("Content-Type", "text/plain")];
        assert_eq!(send(&http, &route, &twice).status, 415, "{route:?}");
    }
}

#[test]
fn a_page_of_an_allowed_origin_may_ask_first_and_no_other() {
    let vault = ServerVault::new();
    let origin = "https://app.example";
    let config = ServerConfig { allowed_origins: vec![origin.into()], ..guarded() };
    let http = TestServer::start(&vault, config);
    let preflight = |origin: &str| {
        let headers = [
            ("Origin", origin),
            ("Sec-Fetch-Site", "cross-site"),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization,content-type"),
            ("Content-Type", ""),
        ];
        http.send("OPTIONS", "/mcp", &headers, "")
    };
    let reply = preflight(origin);
    assert_eq!(reply.status, 204, "{reply:?}");
    for line in [
        "access-control-allow-origin: https://app.example",
        "access-control-allow-headers: authorization,content-type",
        "access-control-allow-methods: get, post, put, delete",
        "vary: origin",
    ] {
        assert!(reply.head.contains(line), "{line}: {reply:?}");
    }
    assert!(!reply.head.contains("allow-credentials"), "{reply:?}");
    for other in ["https://app.example:1", "http://localhost:3000", "null"] {
        let reply = preflight(other);
        assert_eq!(reply.status, 403, "{reply:?}");
        assert!(!reply.head.contains("access-control"), "{reply:?}");
    }
    let own = format!("http://{}", http.address);
    let asked = [("Origin", &*own), ("Access-Control-Request-Method", "POST")];
    assert_eq!(http.send("OPTIONS", "/mcp", &asked, "").status, 401);
}

#[test]
fn the_file_of_the_token_is_named_to_this_machine_alone() {
    let vault = ServerVault::new();
    let local = TestServer::start(&vault, guarded());
    let post = |http: &TestServer| http.send("POST", "/mcp", &[], "{}").json()["error"].to_string();
    assert!(post(&local).contains(TOKEN_FILE));
    let wide = TestServer::start_at(&vault, "0.0.0.0:0", guarded());
    assert!(!post(&wide).contains(TOKEN_FILE) && post(&wide).contains("Bearer TOKEN"));
}

#[test]
fn allowed_hosts_and_origins_are_served() {
    let vault = ServerVault::new();
    let listed = ServerConfig {
        allowed_hosts: vec!["notes.example".into()],
        allowed_origins: vec!["https://notes.example".into()],
        ..config()
    };
    let http = TestServer::start(&vault, listed);
    let mcp = ("POST", "/mcp".to_owned());
    let page = [("Host", "notes.example"), ("Origin", "https://notes.example")];
    assert_eq!(send(&http, &mcp, &page).status, 200);
    let other = [("Host", "notes.example"), ("Origin", "https://notes.example:8443")];
    assert_eq!(send(&http, &mcp, &other).status, 403);
}

#[test]
fn a_server_for_other_machines_needs_a_token() {
    for bind in ["0.0.0.0:0", "[::]:0"] {
        let mut config = config();
        config.bind = bind.parse().unwrap();
        let refused = HttpServer::bind(config);
        assert!(matches!(refused, Err(ServerError::TokenRequired { .. })), "{bind}");
    }
    let undecided = ServerConfig::standard("1");
    let refused = HttpServer::bind(undecided);
    assert!(matches!(refused, Err(ServerError::AuthenticationUndecided)));
    let mut config = guarded();
    config.bind = "0.0.0.0:0".parse().unwrap();
    assert!(HttpServer::bind(config).is_ok());
}

#[test]
fn bodies_are_bounded() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, ServerConfig { body_limit: 1000, ..config() });
    for route in everywhere() {
        let fits = http.send(route.0, &route.1, &[], &" ".repeat(1000));
        assert_ne!(fits.status, 413, "{route:?}");
        let large = http.send(route.0, &route.1, &[], &" ".repeat(1001));
        assert_eq!(large.status, 413, "{route:?}");
        let chunk = format!("3e9\r\n{}\r\n0\r\n\r\n", " ".repeat(1001));
        let head =
            format!("{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", route.0, route.1);
        let kind = "Content-Type: application/json\r\n";
        let unannounced = format!("{head}{kind}Transfer-Encoding: chunked\r\n\r\n{chunk}");
        assert_eq!(http.raw(unannounced.as_bytes()).status, 413, "{route:?}");
    }
}

/// The limit of the guard is the only one: no other layer rejects a smaller body.
#[test]
fn a_body_up_to_the_limit_is_accepted() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, config());
    for (n, path) in ["/api/tools/memory", "/api/memory-tool"].into_iter().enumerate() {
        let text = format!("{}\n", "a long line of a file ".repeat(100)).repeat(1_500);
        let place = format!("/memories/{n}.md");
        let body = json!({ "command": "create", "path": place, "file_text": text }).to_string();
        let reply = http.send("POST", path, &[], &body);
        assert_eq!((reply.status, &reply.json()["is_error"]), (200, &json!(false)), "{path}");
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        let head = format!("{head}Content-Type: application/json\r\n");
        let reply = http.raw(format!("{head}Content-Length: 33554433\r\n\r\n").as_bytes());
        let said = "The body may have 33554432 bytes at the most.";
        assert_eq!((reply.status, &reply.json()["error"]), (413, &json!(said)), "{path}");
    }
}

#[test]
fn requests_have_a_time_limit() {
    let vault = ServerVault::new();
    let patience = Duration::from_millis(300);
    let hasty = ServerConfig { request_timeout: patience, extra: EXTRA_DEFINITIONS, ..config() };
    let http = TestServer::start(&vault, hasty);
    let started = Instant::now();
    let slow = json!({ "steps": 30_000, "name": "too slow" }).to_string();
    assert_eq!(http.send("POST", "/api/tools/slow", &[], &slow).status, 504);
    assert!(was_cancelled("too slow"));
    let head = "POST /api/tools/memory HTTP/1.1\r\nHost: localhost\r\n\
        Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{";
    assert_eq!(http.raw(head.as_bytes()).status, 408);
    assert!(started.elapsed() < PATIENCE);
}

/// Longer than any limit of these tests, shorter than every limit that the server has by default.
const SOON: Duration = Duration::from_secs(10);

/// Reads until the server closes; the time that it took.
fn closed_after(mut stream: TcpStream) -> Duration {
    let started = Instant::now();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut reply = Vec::new();
    match stream.read_to_end(&mut reply) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
    }
    started.elapsed()
}

#[test]
fn a_request_head_has_a_time_limit() {
    let vault = ServerVault::new();
    let head_timeout = Duration::from_millis(400);
    let http = TestServer::start(
        &vault,
        ServerConfig { head_timeout, extra: EXTRA_DEFINITIONS, ..config() },
    );
    let connect = || TcpStream::connect(http.address).unwrap();
    for begun in ["", "POST", "GET /api/health HTTP/1.1\r\nHost: localhost\r\nX: "] {
        let mut stream = connect();
        stream.write_all(begun.as_bytes()).unwrap();
        let took = closed_after(stream);
        assert!(took > head_timeout / 2 && took < SOON, "{begun:?}: {took:?}");
    }
    // One byte at a time does not extend it.
    let (mut slow, started) = (connect(), Instant::now());
    while slow.write_all(b"G").is_ok() {
        std::thread::sleep(Duration::from_millis(20));
        assert!(started.elapsed() < SOON);
    }
    // The next head of the same connection has the same limit.
    let mut second = connect();
    second.write_all(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /").unwrap();
    assert!(closed_after(second) < SOON);
    // It concerns the head alone: a call and a stream of events may take longer.
    let (_, events) = http.listen("memoranda://memories/a");
    let slow = json!({ "steps": 80 }).to_string();
    assert_eq!(http.send("POST", "/api/tools/slow", &[], &slow).status, 200);
    let create = json!({ "command": "create", "path": "/memories/a.md", "file_text": "x" });
    http.send("POST", "/api/tools/memory", &[], &create.to_string());
    assert!(events.recv_timeout(PATIENCE).unwrap().contains("updated"));
}

#[test]
fn half_requests_shut_nobody_out() {
    let vault = ServerVault::new();
    let head_timeout = PATIENCE * 2;
    let config = ServerConfig { max_unauthenticated_connections: 8, head_timeout, ..guarded() };
    let http = TestServer::start(&vault, config);
    let request = format!(
        "POST /api/tools/memory HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    let mut kept = TcpStream::connect(http.address).unwrap();
    kept.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut ask_again = || {
        kept.write_all(request.as_bytes()).unwrap();
        let mut reply = [0; 4096];
        let length = kept.read(&mut reply).unwrap();
        assert!(reply[..length].starts_with(b"HTTP/1.1 200"), "{length}");
    };
    ask_again();
    let mut half = Vec::new();
    for n in 0..300 {
        let mut stream = TcpStream::connect(http.address).unwrap();
        // One that was closed already may refuse it.
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n").ok();
        half.push(stream);
        if n % 50 == 0 {
            let right = format!("Bearer {TOKEN}");
            let reply = http.send("POST", "/mcp", &[("Authorization", &right)], "{}");
            assert_ne!(reply.status, 401, "{reply:?}");
        }
    }
    ask_again();
    // All but the last few were closed, long before their time.
    half.drain(..250).for_each(|stream| assert!(closed_after(stream) < SOON));
}

#[test]
fn a_request_that_runs_is_answered_when_the_server_is_stopped() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, ServerConfig { extra: EXTRA_DEFINITIONS, ..config() });
    let address = http.address;
    let idle = TcpStream::connect(address).unwrap();
    let caller = std::thread::spawn(move || {
        let body = json!({ "steps": 20 }).to_string();
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!(
            "POST /api/tools/slow HTTP/1.1\r\nHost: localhost\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    });
    std::thread::sleep(Duration::from_millis(100));
    drop(http);
    let reply = caller.join().unwrap();
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("Done"), "{reply:?}");
    assert!(closed_after(idle) < SOON);
    assert!(TcpStream::connect(address).is_err());
}
