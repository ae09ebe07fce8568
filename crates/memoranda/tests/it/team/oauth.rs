//! Programs that get access by the sign-in and the consent of a person.

use serde_json::{Value, json};

use super::oauth_support::{
    Browser, REDIRECT, StandIn, authorize_path, encode, exchange, parameter, refresh, register,
    request_number, send_form, status_at,
};
use super::support::{Answer, Team, TeamServer};
use crate::cluster::{DiskForce, skipped};

fn password(team: &Team, account: &str) -> String {
    let made = team.admin(&["account", "password", account]);
    made["password"].as_str().unwrap().to_owned()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}")).to_owned()
}

#[test]
fn a_program_signs_in_through_any_server_and_finds_what_others_wrote() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_program_signs_in") };
    let public = ["--public-url", "https://team.example"];
    let (one, two) = (team.serve_with(&public), team.serve_with(&public));
    let anna_password = password(&team, "anna");
    let ben = team.token("ben", "laptop", &["--space", "acme"]);
    let note = json!({ "title": "Shop", "folder": "x", "content": "The shop uses pnpm\n" });
    one.call(&ben, "write_note", &note);

    // The way from a refused call to the endpoints.
    let refused = one.request("POST", "/mcp", &[], Some(&json!({}))).unwrap();
    assert_eq!(refused.status, 401, "{refused:?}");
    let challenge = refused.header("www-authenticate").unwrap();
    let metadata = "https://team.example/.well-known/oauth-protected-resource/mcp";
    assert!(challenge.contains(&format!("resource_metadata=\"{metadata}\"")), "{challenge}");
    assert!(challenge.contains("scope=\"memory:read memory:write\""), "{challenge}");
    let resource = two.get("/.well-known/oauth-protected-resource/mcp").json;
    assert_eq!(resource["resource"], json!("https://team.example/mcp"));
    assert_eq!(resource["authorization_servers"], json!(["https://team.example/oauth"]));
    let server = two.get("/.well-known/oauth-authorization-server/oauth");
    assert_eq!(server.header("access-control-allow-origin"), Some("*"), "{server:?}");
    assert_eq!(server.json["issuer"], json!("https://team.example/oauth"));
    assert_eq!(server.json["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(server.json["client_id_metadata_document_supported"], json!(true));
    assert_eq!(server.json["token_endpoint_auth_methods_supported"], json!(["none"]));
    // A client with a token must not find a way to sign in.
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/t/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ] {
        assert_eq!(one.get(path).status, 404, "{path}");
    }
    let refused = one.request("POST", "/t/mcp", &[], Some(&json!({}))).unwrap();
    assert!(!refused.head.contains("resource_metadata"), "{refused:?}");

    // Each step on another server.
    let client = register(&one, &["http://127.0.0.1/cb"]);
    let mut browser = Browser::default();
    let page = browser.get(&two, &authorize_path(&client, REDIRECT, &[]));
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.text.contains("Tester</strong> asks for access"), "{page:?}");
    assert!(page.head.contains("__Secure-memoranda-consent="), "{page:?}");
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
    let number = request_number(&page);
    let form = [("request", number.as_str()), ("account", "anna"), ("password", "wrong wrong")];
    let wrong = browser.post(&one, "/oauth/sign-in", &form);
    assert_eq!(wrong.status, 403, "{wrong:?}");
    assert!(wrong.text.contains("Account and password do not match."), "{wrong:?}");
    let form = [("request", number.as_str()), ("account", "anna"), ("password", &anna_password)];
    let signed_in = browser.post(&one, "/oauth/sign-in", &form);
    assert_eq!(signed_in.status, 303, "{signed_in:?}");
    let page = browser.get(&two, "/oauth/consent");
    for part in
        ["You are <strong>anna</strong>", "value=\"acme\" checked", "value=\"anna\" checked"]
    {
        assert!(page.text.contains(part), "{part}: {page:?}");
    }
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self' http://127.0.0.1:5000;"), "{policy}");
    let form = [
        ("request", number.as_str()),
        ("decision", "allow"),
        ("access", "write"),
        ("space", "acme"),
        ("default", "acme"),
    ];
    let sent = browser.post(&one, "/oauth/consent", &form);
    assert_eq!(sent.status, 303, "{sent:?}");
    let location = sent.header("location").unwrap().to_owned();
    assert!(location.starts_with("http://127.0.0.1:5000/cb?code="), "{location}");
    assert_eq!(parameter(&location, "state").as_deref(), Some("st&te"));
    assert_eq!(parameter(&location, "iss").as_deref(), Some("https://team.example/oauth"));
    let code = parameter(&location, "code").unwrap();
    let issued = exchange(&two, &client, &code);
    assert_eq!(issued.status, 200, "{issued:?}");
    assert_eq!(issued.json["token_type"], json!("Bearer"));
    assert_eq!(issued.json["scope"], json!("memory:read memory:write"));
    assert_eq!(issued.header("cache-control"), Some("no-store"));
    let (access, first) = (text(&issued.json, "access_token"), text(&issued.json, "refresh_token"));

    // It opens what the person chose, and nothing else.
    let found = one.mcp_at(
        "/mcp",
        &access,
        "tools/call",
        json!({
            "name": "search_notes", "arguments": { "query": "pnpm" },
        }),
    );
    assert!(found.to_string().contains("pnpm"), "{found}");
    let spaces = one.mcp_at(
        "/mcp",
        &access,
        "tools/call",
        json!({
            "name": "list_spaces", "arguments": {},
        }),
    );
    assert!(
        spaces.to_string().contains("acme") && !spaces.to_string().contains("anna\""),
        "{spaces}"
    );
    two.mcp_at(
        "/mcp",
        &access,
        "tools/call",
        json!({
            "name": "write_note", "arguments": { "title": "Days", "folder": "x", "content": "Fridays" },
        }),
    );

    // The next tokens; the access token of before goes on until it expires.
    let renewed = refresh(&one, &client, &first);
    assert_eq!(renewed.status, 200, "{renewed:?}");
    let second = text(&renewed.json, "refresh_token");
    assert_eq!(status_at(&two, "/mcp", &text(&renewed.json, "access_token")), 200);
    assert_eq!(status_at(&two, "/mcp", &access), 200);

    let listed = team.admin(&["token", "list", "anna"]);
    assert_eq!(listed["tokens"][0]["name"], json!("Tester"), "{listed}");
    let audit = team.admin(&["audit"]).to_string();
    for action in ["\"sign-in\"", "\"sign-in refused\"", "\"consent\""] {
        assert!(audit.contains(action), "{action}: {audit}");
    }
    for secret in [&anna_password, &code, &access, &first, &second] {
        for server in [&one, &two] {
            assert!(!server.log().contains(secret.as_str()), "{secret}");
        }
        assert!(!everything(&team).contains(secret.as_str()), "{secret}");
    }
}

/// Returns all rows of all small tables as text.
fn everything(team: &Team) -> String {
    let tables = "select string_agg(table_name, ' ') from information_schema.tables \
                  where table_schema = 'memoranda' and table_name not in ('commits', 'contents')";
    let tables = team.cluster.sql("postgres", tables);
    let rows = |table: &str| {
        team.cluster.sql("postgres", &format!("select t::text from memoranda.{table} t"))
    };
    tables.split_whitespace().map(rows).collect()
}

#[test]
fn a_removed_member_and_a_revoked_grant_end_at_once() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_removed_member") };
    let server = team.serve();
    let client = register(&server, &[REDIRECT]);
    let ben_password = password(&team, "ben");
    let tokens = |spaces: &[&str]| -> Value {
        let code = Browser::default().allow(&server, &client, ("ben", &ben_password), spaces);
        let issued = exchange(&server, &client, &code);
        assert_eq!(issued.status, 200, "{issued:?}");
        issued.json
    };
    let of_acme = text(&tokens(&["acme"]), "access_token");
    let of_both = tokens(&["acme", "ben"]);
    let revoked = tokens(&["ben"]);
    let personal = team.token("ben", "laptop", &["--space", "acme"]);
    for token in [&of_acme, &text(&of_both, "access_token"), &text(&revoked, "access_token")] {
        assert_eq!(status_at(&server, "/mcp", token), 200);
    }
    // The program itself gives up its access; another program cannot do that for it.
    let refresh_token = text(&revoked, "refresh_token");
    let stranger = register(&server, &[REDIRECT]);
    for (client_id, status) in [(&stranger, 200), (&client, 401)] {
        let form = [("token", refresh_token.as_str()), ("client_id", client_id.as_str())];
        assert_eq!(send_form(&server, "/oauth/revoke", &form).status, 200);
        assert_eq!(status_at(&server, "/mcp", &text(&revoked, "access_token")), status);
    }
    assert_eq!(refresh(&server, &client, &refresh_token).json["error"], json!("invalid_grant"));

    team.admin(&["member", "remove", "acme", "ben"]);
    assert_eq!(status_at(&server, "/mcp", &of_acme), 401);
    assert_eq!(server.try_call(&personal, "list_spaces", &json!({})).unwrap().status, 401);
    let spaces = server.mcp_at(
        "/mcp",
        &text(&of_both, "access_token"),
        "tools/call",
        json!({
            "name": "list_spaces", "arguments": {},
        }),
    );
    assert!(!spaces.to_string().contains("acme"), "{spaces}");
    team.admin(&["account", "disable", "ben"]);
    assert_eq!(status_at(&server, "/mcp", &text(&of_both, "access_token")), 401);
    let renewed = refresh(&server, &client, &text(&of_both, "refresh_token"));
    assert_eq!(renewed.json["error"], json!("invalid_grant"), "{renewed:?}");
    team.admin(&["account", "enable", "ben"]);
    assert_eq!(status_at(&server, "/mcp", &text(&of_both, "access_token")), 200);
    team.admin(&["token", "revoke", "ben", "Tester 2"]);
    assert_eq!(status_at(&server, "/mcp", &text(&of_both, "access_token")), 401);
}

/// Starts a server whose people sign in at a stand-in issuer.
fn serve_with_issuer(team: &Team, issuer: &StandIn, kind: &str) -> TeamServer {
    let folder = team.home.path();
    std::fs::write(folder.join("secret"), "issuer-secret").unwrap();
    let file = folder.join(format!("{kind}.toml"));
    let address = format!("http://{}", issuer.address);
    let text = format!(
        "[[issuer]]\nname = \"Company\"\nkind = \"{kind}\"\naddress = \"{address}\"\n\
         client-id = \"us\"\nclient-secret-file = \"secret\"\ndomains = [\"staff.example\"]\n"
    );
    std::fs::write(&file, text).unwrap();
    issuer.set(
        "/.well-known/openid-configuration",
        json!({
            "issuer": address,
            "authorization_endpoint": format!("{address}/authorize"),
            "token_endpoint": format!("{address}/token"),
        }),
    );
    team.serve_with(&["--sign-in", file.to_str().unwrap()])
}

/// Goes to the issuer and comes back with a code; the answer of the callback, and what the issuer
/// was asked.
fn sign_in_at_issuer(
    server: &TeamServer,
    client: &str,
    browser: &mut Browser,
    claims: impl FnOnce(&str),
) -> Answer {
    let page = browser.get(server, &authorize_path(client, REDIRECT, &[]));
    assert!(page.text.contains("Sign in with Company"), "{page:?}");
    let number = request_number(&page);
    let form = [("name", "Company"), ("request", number.as_str())];
    let gone = browser.get(server, &format!("/oauth/issuer?{}", encode(&form)));
    let location = gone.header("location").unwrap_or_else(|| panic!("{gone:?}")).to_owned();
    assert_eq!(parameter(&location, "code_challenge_method").as_deref(), Some("S256"));
    claims(&parameter(&location, "nonce").unwrap());
    let state = parameter(&location, "state").unwrap();
    let back = format!("/oauth/callback?{}", encode(&[("code", "from-issuer"), ("state", &state)]));
    // The browser comes from another site, and withholds the cookie at first.
    let cookie = browser.withhold_cookie();
    let first = browser.get(server, &back);
    assert!(first.text.contains("http-equiv=\"refresh\""), "{first:?}");
    browser.restore_cookie(cookie);
    browser.get(server, &format!("{back}&again=1"))
}

fn id_token(issuer: &StandIn, nonce: &str, subject: &str, email: &str) -> Value {
    use base64::Engine as _;
    let exp = jiff::Timestamp::now().as_second() + 300;
    let claims = json!({
        "iss": format!("http://{}", issuer.address), "aud": "us", "exp": exp, "nonce": nonce,
        "sub": subject, "email": email, "email_verified": true,
    });
    let claims = base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(claims.to_string());
    json!({ "access_token": "of-issuer", "id_token": format!("e30.{claims}.c2ln") })
}

#[test]
fn people_sign_in_at_an_issuer_and_accept_their_invitations() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("people_sign_in") };
    let issuer = StandIn::start();
    let server = serve_with_issuer(&team, &issuer, "openid");
    let client = register(&server, &[REDIRECT]);
    let sign_in = |subject: &str, email: &str| {
        let mut browser = Browser::default();
        let answer = sign_in_at_issuer(&server, &client, &mut browser, |nonce| {
            issuer.set("/token", id_token(&issuer, nonce, subject, email));
        });
        (answer, browser)
    };
    let (refused, _) = sign_in("1", "carla@elsewhere.example");
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.text.contains("nobody invited this address"), "{refused:?}");

    let invited = ["member", "invite", "acme", "Carla@elsewhere.example", "--role", "reader"];
    team.admin(&invited);
    let waiting = team.admin(&["member", "invitations"]);
    assert_eq!(waiting["invitations"][0]["email"], json!("carla@elsewhere.example"), "{waiting}");
    let (accepted, mut browser) = sign_in("1", "carla@elsewhere.example");
    assert_eq!(accepted.header("location"), Some("/oauth/consent"), "{accepted:?}");
    let page = browser.get(&server, "/oauth/consent");
    for part in ["You are <strong>carla</strong>", "acme", "shared; you may read"] {
        assert!(page.text.contains(part), "{part}: {page:?}");
    }
    let members = team.admin(&["member", "list", "acme"]).to_string();
    assert!(members.contains("carla"), "{members}");
    assert_eq!(team.admin(&["member", "invitations"])["invitations"], json!([]));

    // The issuer's name of the person counts afterwards, not the address.
    let (again, mut browser) = sign_in("1", "carla@married.example");
    assert_eq!(again.status, 303, "{again:?}");
    assert!(browser.get(&server, "/oauth/consent").text.contains("<strong>carla</strong>"));
    // People of a listed domain need no invitation, and names stay unique.
    let (joined, mut browser) = sign_in("2", "carla@staff.example");
    assert_eq!(joined.status, 303, "{joined:?}");
    assert!(browser.get(&server, "/oauth/consent").text.contains("<strong>carla-2</strong>"));
    // An account that an administrator made with the address.
    team.admin(&["account", "add", "dora", "--email", "Dora@elsewhere.example"]);
    let (known, mut browser) = sign_in("3", "dora@elsewhere.example");
    assert_eq!(known.status, 303, "{known:?}");
    assert!(browser.get(&server, "/oauth/consent").text.contains("<strong>dora</strong>"));
    team.admin(&["account", "disable", "dora"]);
    let (disabled, _) = sign_in("3", "dora@elsewhere.example");
    assert!(disabled.status == 403 && disabled.text.contains("disabled"), "{disabled:?}");

    // A token of another sign-in, and an answer for another browser.
    let mut browser = Browser::default();
    let stale = sign_in_at_issuer(&server, &client, &mut browser, |_| {
        issuer.set("/token", id_token(&issuer, "another nonce", "1", "x@staff.example"));
    });
    assert!(stale.status == 403 && stale.text.contains("another sign-in"), "{stale:?}");
    let before = issuer.count("/token");
    let mut other = Browser::default();
    other.get(&server, &authorize_path(&client, REDIRECT, &[]));
    let form = [("code", "stolen"), ("state", "of-another-browser")];
    let foreign = other.get(&server, &format!("/oauth/callback?{}", encode(&form)));
    assert_eq!(foreign.status, 403, "{foreign:?}");
    assert_eq!(issuer.count("/token"), before, "a foreign answer reached the issuer");
    let asked = issuer.requests.lock().unwrap().join("\n");
    assert!(asked.contains("code_verifier=") && asked.contains("client_secret=issuer"), "{asked}");
    assert!(!server.log().contains("issuer-secret"));
}

#[test]
fn people_sign_in_at_github() {
    let Some(team) = Team::start(DiskForce::Off) else {
        return skipped("people_sign_in_at_github");
    };
    let issuer = StandIn::start();
    let server = serve_with_issuer(&team, &issuer, "github");
    let client = register(&server, &[REDIRECT]);
    issuer.set("/login/oauth/access_token", json!({ "access_token": "gho_x" }));
    issuer.set("/api/v3/user", json!({ "id": 7, "login": "carla" }));
    issuer.set(
        "/api/v3/user/emails",
        json!([
            { "email": "old@staff.example", "primary": false, "verified": true },
            { "email": "carla@staff.example", "primary": true, "verified": false },
        ]),
    );
    let mut browser = Browser::default();
    let refused = sign_in_at_issuer(&server, &client, &mut browser, |_| {});
    assert!(refused.text.contains("without a verified e-mail address"), "{refused:?}");
    issuer.set(
        "/api/v3/user/emails",
        json!([
            { "email": "Carla@staff.example", "primary": true, "verified": true },
        ]),
    );
    let mut browser = Browser::default();
    let signed_in = sign_in_at_issuer(&server, &client, &mut browser, |_| {});
    assert_eq!(signed_in.status, 303, "{signed_in:?}");
    assert!(browser.get(&server, "/oauth/consent").text.contains("<strong>carla</strong>"));
}
