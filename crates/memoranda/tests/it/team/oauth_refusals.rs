//! Requests that the authorization server refuses: each with the right answer, and nothing leaked.

use serde_json::json;

use super::oauth_support::{
    Browser, REDIRECT, StandIn, VERIFIER, authorize_path, exchange, parameter, refresh, register,
    request_number, send_form, status_at,
};
use super::support::{Team, TeamServer};
use crate::cluster::{DiskForce, skipped};

fn password(team: &Team, account: &str) -> String {
    team.admin(&["account", "password", account])["password"].as_str().unwrap().to_owned()
}

#[test]
fn codes_and_tokens_work_once_and_here_alone() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("codes_and_tokens") };
    let server = team.serve();
    let client = register(&server, &[REDIRECT]);
    let anna = password(&team, "anna");
    let allow = || Browser::default().allow(&server, &client, ("anna", &anna), &["acme"]);
    let code = allow();
    let form = |changed: (&'static str, &'static str)| {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("client_id", client.as_str()),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        form.retain(|(name, _)| *name != changed.0);
        if !changed.1.is_empty() {
            form.push(changed);
        }
        form
    };
    for (changed, status, error) in [
        (("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXx"), 400, "invalid_grant"),
        (("code_verifier", ""), 400, "invalid_request"),
        (("redirect_uri", "http://127.0.0.1:5001/cb"), 400, "invalid_grant"),
        (("client_id", "mem_client_unknown"), 401, "invalid_client"),
        (("client_id", ""), 401, "invalid_client"),
        (("code", "mem_code_unknown"), 400, "invalid_grant"),
        (("code", ""), 400, "invalid_request"),
        (("resource", "https://evil.example/mcp"), 400, "invalid_target"),
        (("grant_type", "password"), 400, "unsupported_grant_type"),
        (("grant_type", ""), 400, "invalid_request"),
    ] {
        let answer = send_form(&server, "/oauth/token", &form(changed));
        assert_eq!(answer.status, status, "{changed:?}: {answer:?}");
        assert_eq!(answer.json["error"], json!(error), "{changed:?}: {answer:?}");
    }
    let stranger = register(&server, &[REDIRECT]);
    assert_eq!(exchange(&server, &stranger, &code).json["error"], json!("invalid_grant"));
    let json_body = server.request("POST", "/oauth/token", &[], Some(&json!({}))).unwrap();
    assert_eq!(json_body.json["error"], json!("invalid_request"), "{json_body:?}");

    // A code that comes twice takes its tokens with it.
    let issued = exchange(&server, &client, &code).json;
    let access = issued["access_token"].as_str().unwrap();
    let refresh_token = issued["refresh_token"].as_str().unwrap();
    assert_eq!(status_at(&server, "/mcp", access), 200);
    assert_eq!(status_at(&server, "/mcp/readonly", access), 200);
    for path in ["/t/mcp", "/t/mcp/readonly"] {
        assert_eq!(status_at(&server, path, access), 401, "{path}");
    }
    assert_eq!(server.try_call(access, "list_spaces", &json!({})).unwrap().status, 401);
    for wrong in [refresh_token, &code, "mem_oat_", "mem_oat_x"] {
        assert_eq!(status_at(&server, "/mcp", wrong), 401, "{wrong}");
    }
    assert_eq!(exchange(&server, &client, &code).json["error"], json!("invalid_grant"));
    assert_eq!(status_at(&server, "/mcp", access), 401);
    assert_eq!(refresh(&server, &client, refresh_token).json["error"], json!("invalid_grant"));

    // So does a refresh token.
    let first = exchange(&server, &client, &allow()).json;
    let first_refresh = first["refresh_token"].as_str().unwrap();
    let of_stranger = refresh(&server, &stranger, first_refresh);
    assert_eq!(of_stranger.json["error"], json!("invalid_grant"), "{of_stranger:?}");
    let second = refresh(&server, &client, first_refresh).json;
    let second_access = second["access_token"].as_str().unwrap();
    assert_eq!(status_at(&server, "/mcp", second_access), 200);
    assert_eq!(refresh(&server, &client, first_refresh).json["error"], json!("invalid_grant"));
    assert_eq!(status_at(&server, "/mcp", second_access), 401);
    let third = refresh(&server, &client, second["refresh_token"].as_str().unwrap());
    assert_eq!(third.json["error"], json!("invalid_grant"), "{third:?}");
    assert!(team.admin(&["audit"]).to_string().contains("\"token replay\""));

    // A token of one address is worth nothing at another, although the database is the same.
    let other = team.serve_with(&["--public-url", "https://other.example"]);
    let here = exchange(&server, &client, &allow()).json;
    let here_access = here["access_token"].as_str().unwrap();
    assert_eq!(status_at(&server, "/mcp", here_access), 200);
    assert_eq!(status_at(&other, "/mcp", here_access), 401);

    // Time passes.
    let late = allow();
    let sql = "update memoranda.oauth_secrets set expires_at = now() - interval '1 second'";
    team.cluster.sql("postgres", sql);
    assert_eq!(exchange(&server, &client, &late).json["error"], json!("invalid_grant"));
    assert_eq!(status_at(&server, "/mcp", here_access), 401);
    let old = refresh(&server, &client, here["refresh_token"].as_str().unwrap());
    assert_eq!(old.json["error"], json!("invalid_grant"), "{old:?}");
}

#[test]
fn a_browser_is_sent_to_registered_addresses_alone() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_browser_is_sent") };
    let server = team.serve();
    let client = register(&server, &["https://a.example/cb", "http://127.0.0.1:1/cb"]);
    let get = |path: &str| server.get(path);
    for uri in [
        "https://evil.example/cb",
        "https://a.example/cb/",
        "https://a.example/cb?x=1",
        "https://a.example/cb/../evil",
        "https://a.example@evil.example/cb",
        "https://a.example.evil.example/cb",
        "http://127.0.0.1:1/other",
        "http://127.0.0.2:1/cb",
        "http://[::1]:1/cb",
        "javascript:alert(1)",
        "//evil.example",
    ] {
        let answer = get(&authorize_path(&client, uri, &[]));
        assert_eq!(answer.status, 400, "{uri}: {answer:?}");
        assert_eq!(answer.header("location"), None, "{uri}: {answer:?}");
        assert_eq!(answer.header("set-cookie"), None, "{uri}: {answer:?}");
    }
    for path in [
        authorize_path("mem_client_unknown", "https://a.example/cb", &[]),
        authorize_path(&client, "https://a.example/cb", &[("client_id", "")]),
        authorize_path(&client, "https://a.example/cb", &[("redirect_uri", "")]),
        authorize_path(&client, "https://a.example/cb", &[]) + "&client_id=other",
        authorize_path(&client, "https://a.example/cb", &[]) + "&redirect_uri=https://evil.example",
    ] {
        let answer = get(&path);
        assert_eq!((answer.status, answer.header("location")), (400, None), "{path}: {answer:?}");
    }
    let good = "http://127.0.0.1:64000/cb";
    for (changed, error) in [
        (("response_type", "token"), "unsupported_response_type"),
        (("response_type", ""), "unsupported_response_type"),
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge", "short"), "invalid_request"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("code_challenge_method", ""), "invalid_request"),
        (("resource", "https://evil.example/mcp"), "invalid_target"),
        (("scope", "admin"), "invalid_scope"),
    ] {
        let answer = get(&authorize_path(&client, good, &[changed]));
        let location = answer.header("location").unwrap_or_else(|| panic!("{answer:?}"));
        assert!(location.starts_with("http://127.0.0.1:64000/cb?error="), "{location}");
        assert_eq!(parameter(location, "error").as_deref(), Some(error), "{changed:?}");
        assert_eq!(parameter(location, "state").as_deref(), Some("st&te"));
        assert!(parameter(location, "iss").unwrap().ends_with("/oauth"), "{location}");
    }
    for uri in ["http://a.example/", "javascript:alert(1)", "https://a.example/#x", "x", ""] {
        let metadata = json!({ "client_name": "x", "redirect_uris": [uri] });
        let answer = server.request("POST", "/oauth/register", &[], Some(&metadata)).unwrap();
        assert_eq!(answer.status, 400, "{uri}: {answer:?}");
        assert_eq!(answer.json["error"], json!("invalid_redirect_uri"), "{uri}: {answer:?}");
    }
    for body in [json!({}), json!([]), json!({ "redirect_uris": "https://a.example/" })] {
        let answer = server.request("POST", "/oauth/register", &[], Some(&body)).unwrap();
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
    }
}

#[test]
fn only_the_persons_own_browser_decides() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("only_the_persons_own") };
    let server = team.serve();
    let client = register(&server, &[REDIRECT]);
    let anna = password(&team, "anna");
    let path = authorize_path(&client, REDIRECT, &[]);
    let mut browser = Browser::default();
    let first = request_number(&browser.get(&server, &path));
    let sign_in = [("request", first.as_str()), ("account", "anna"), ("password", anna.as_str())];
    let decide = [("request", first.as_str()), ("decision", "allow"), ("space", "acme")];

    // Without the cookie, from another site's page, and before the sign-in.
    assert_eq!(Browser::default().post(&server, "/oauth/sign-in", &sign_in).status, 400);
    assert_eq!(Browser::default().post(&server, "/oauth/consent", &decide).status, 400);
    assert_eq!(browser.post(&server, "/oauth/consent", &decide).status, 400);
    for header in
        [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site"), ("Origin", "null")]
    {
        let answer = server.send("POST", "/oauth/consent", &[header], "decision=allow").unwrap();
        assert_eq!(answer.status, 403, "{header:?}: {answer:?}");
    }
    let foreign = server.send("GET", "/oauth/consent", &[], "").unwrap();
    assert_eq!(foreign.status, 400, "{foreign:?}");

    // The cookie of before the sign-in is worth nothing after it.
    let before = browser.withhold_cookie();
    browser.restore_cookie(before.clone());
    assert_eq!(browser.post(&server, "/oauth/sign-in", &sign_in).status, 303);
    let mut thief = Browser::default();
    thief.restore_cookie(before);
    assert_eq!(thief.post(&server, "/oauth/consent", &decide).status, 400);

    // A second request in the same browser: the form of the first one decides nothing.
    let second = request_number(&browser.get(&server, &path));
    assert_ne!(first, second);
    let mixed = browser.post(&server, "/oauth/consent", &decide);
    assert!(mixed.status == 400 && mixed.text.contains("Another sign-in"), "{mixed:?}");

    // No.
    let sign_in = [("request", second.as_str()), ("account", "anna"), ("password", anna.as_str())];
    assert_eq!(browser.post(&server, "/oauth/sign-in", &sign_in).status, 303);
    let foreign_space = [("request", second.as_str()), ("decision", "allow"), ("space", "ben")];
    assert_eq!(browser.post(&server, "/oauth/consent", &foreign_space).status, 400);
    let no = browser.post(&server, "/oauth/consent", &[("request", &second), ("decision", "deny")]);
    let location = no.header("location").unwrap();
    assert_eq!(parameter(location, "error").as_deref(), Some("access_denied"), "{location}");
    assert_eq!(parameter(location, "code"), None);
    assert_eq!(browser.post(&server, "/oauth/consent", &decide).status, 400);

    // Guessing is slow.
    let mut browser = Browser::default();
    let number = request_number(&browser.get(&server, &path));
    let guess = [("request", number.as_str()), ("account", "ben"), ("password", "123456789012")];
    let statuses: Vec<u16> =
        (0..12).map(|_| browser.post(&server, "/oauth/sign-in", &guess).status).collect();
    assert_eq!(statuses[0], 403, "{statuses:?}");
    assert_eq!(statuses[11], 429, "{statuses:?}");
}

#[test]
fn documents_of_clients_come_from_public_addresses_or_trusted_hosts() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("documents_of_clients") };
    let stand_in = StandIn::start();
    let host = stand_in.address.clone();
    let server = team.serve_with(&["--trust-client-host", &host]);
    let id = |path: &str| format!("http://{host}{path}");
    let document = |path: &str| json!({ "client_id": id(path), "client_name": "Document", "redirect_uris": [REDIRECT] });
    stand_in.set("/client.json", document("/client.json"));
    stand_in.set("/moved.json", json!(id("/client.json")));
    stand_in.set("/other.json", document("/client.json"));
    stand_in.set("/large.json", {
        let mut large = document("/large.json");
        large["filler"] = json!("x".repeat(6_000));
        large
    });
    let get = |server: &TeamServer, client_id: &str| {
        server.get(&authorize_path(client_id, REDIRECT, &[]))
    };
    for _ in 0..3 {
        let page = get(&server, &id("/client.json"));
        assert!(page.status == 200 && page.text.contains("Document</strong>"), "{page:?}");
    }
    assert_eq!(stand_in.count("/client.json"), 1, "a document was fetched again");
    let anna = password(&team, "anna");
    let client_id = id("/client.json");
    let code = Browser::default().allow(&server, &client_id, ("anna", &anna), &["acme"]);
    let issued = exchange(&server, &client_id, &code);
    assert_eq!(issued.status, 200, "{issued:?}");
    for path in ["/moved.json", "/other.json", "/large.json", "/missing.json", "/"] {
        let page = get(&server, &id(path));
        assert_eq!((page.status, page.header("location")), (400, None), "{path}: {page:?}");
    }
    // Nobody else's documents may be in the network of the server.
    let strict = team.serve();
    let reached = stand_in.requests.lock().unwrap().len();
    let port = host.rsplit(':').next().unwrap();
    for client_id in [
        id("/fresh.json"),
        format!("https://{host}/client.json"),
        format!("https://localhost:{port}/client.json"),
        format!("https://[::1]:{port}/client.json"),
        format!("https://[::ffff:127.0.0.1]:{port}/client.json"),
        format!("https://2130706433:{port}/client.json"),
        format!("https://0x7f.1:{port}/client.json"),
        "https://169.254.169.254/latest/meta-data".to_owned(),
        "https://10.0.0.1/client.json".to_owned(),
    ] {
        let page = get(&strict, &client_id);
        assert_eq!((page.status, page.header("location")), (400, None), "{client_id}: {page:?}");
        assert!(page.text.contains("is not accepted"), "{client_id}: {page:?}");
    }
    assert_eq!(stand_in.requests.lock().unwrap().len(), reached, "a private address was reached");
}

#[test]
fn a_program_that_may_only_read_learns_which_scope_it_lacks() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_program_that_may") };
    let server = team.serve_with(&["--public-url", "https://team.example"]);
    let made = team.admin(&["account", "password", "anna"]);
    let password = made["password"].as_str().unwrap();
    let client = register(&server, &["http://127.0.0.1/cb"]);
    let mut browser = Browser::default();
    let person = ("anna", password);
    let code = browser.allow_access(&server, &client, person, ("read", &["acme"]));
    let issued = exchange(&server, &client, &code);
    let access = issued.json["access_token"].as_str().unwrap();
    let call = |tool: &str| {
        let note = json!({ "title": "A", "folder": "x", "content": "text", "query": "text" });
        let params = json!({ "name": tool, "arguments": note });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let authorization = format!("Bearer {access}");
        let headers =
            [("Authorization", authorization.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
        server.request("POST", "/mcp", &headers, Some(&body)).unwrap()
    };
    let refused = call("write_note");
    assert_eq!(refused.status, 403, "{refused:?}");
    let challenge = refused.header("www-authenticate").unwrap();
    for part in [
        "error=\"insufficient_scope\"",
        "scope=\"memory:read memory:write\"",
        "resource_metadata=\"https://team.example/.well-known/oauth-protected-resource/mcp\"",
    ] {
        assert!(challenge.contains(part), "{part}: {challenge}");
    }
    assert!(refused.text.contains("write_note writes"), "{refused:?}");
    assert_eq!(call("recall").status, 200);
    // A reader of a space would not be helped by another scope.
    team.admin(&["account", "add", "dora"]);
    team.admin(&["member", "add", "acme", "dora", "--role", "reader"]);
    let dora = team.token("dora", "laptop", &["--space", "acme"]);
    let answer = server.try_call(&dora, "write_note", &json!({})).unwrap();
    assert_ne!(answer.status, 403, "{answer:?}");
}
