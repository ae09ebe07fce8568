//! The page's routes over real HTTP: the way in, and every route with good and bad input.

use std::io::{BufRead as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use memoranda_engine::core::change::ChangeChannel;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{Author, WriteMode, WriteOutcome, WriteRequest};
use memoranda_server::{BearerToken, ClientAuthentication, RouteAccess, ServerConfig, routes};
use memoranda_tools::AccessMode;
use serde_json::{Value, json};

use crate::support::{HttpReply, PATIENCE, ServerVault, TestServer, config};

const TOKEN: &str = "correct-horse-battery-staple";

fn guarded() -> ServerConfig {
    let token = BearerToken::parse(TOKEN).unwrap();
    ServerConfig { authentication: ClientAuthentication::Token(token), ..config() }
}

/// A vault, its server, and a page that is signed in.
pub(crate) struct SignedInPage {
    http: TestServer,
    pub(crate) vault: ServerVault,
    bearer: String,
}

impl SignedInPage {
    pub(crate) fn new() -> Self {
        Self::with(guarded())
    }

    fn with(config: ServerConfig) -> Self {
        let vault = ServerVault::new();
        if let Some(project) = &config.settings.notes.only_project {
            vault.memory.create_project(project).unwrap();
        }
        let http = TestServer::start(&vault, config);
        let session = open_session(&http, &json!({ "token": TOKEN })).json()["session"].clone();
        let bearer = format!("Bearer {}", session.as_str().unwrap());
        Self { http, vault, bearer }
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> HttpReply {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.http.send(method, path, &[("Authorization", &self.bearer)], &body)
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let reply = self.send("GET", path, &Value::Null);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let reply = self.send("POST", path, body);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }

    /// Returns the problem of a request that is refused.
    pub(crate) fn problem(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let reply = self.send(method, path, body);
        assert!(reply.head.contains("application/problem+json"), "{path}: {reply:?}");
        let problem = reply.json();
        assert_eq!(problem["status"], json!(reply.status), "{problem}");
        assert!(problem["detail"].is_string() && problem["code"].is_string(), "{problem}");
        (reply.status, problem)
    }

    /// Writes a note as an agent does, and returns the commit.
    pub(crate) fn write(&self, client: &str, path: &str, text: &str) -> String {
        self.write_in("main", client, path, text)
    }

    /// Writes a note into a project, and returns the commit.
    pub(crate) fn write_in(&self, project: &str, client: &str, path: &str, text: &str) -> String {
        let request = WriteRequest {
            project: ProjectName::parse(project).unwrap(),
            path: NotePath::parse(path).unwrap(),
            content: text.as_bytes().to_vec(),
            mode: WriteMode::CreateOrOverwrite,
            message: None,
        };
        let who = Author::new(client, "write_note", ChangeChannel::Mcp);
        match self.vault.memory.write(&who, &request).unwrap() {
            WriteOutcome::Written(written) => written.commit.id.to_string(),
            other => panic!("{other:?}"),
        }
    }
}

fn open_session(http: &TestServer, body: &Value) -> HttpReply {
    http.send("POST", "/api/page/session", &[], &body.to_string())
}

#[test]
fn a_code_opens_one_session_that_a_restart_does_not_end() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, guarded());
    let token = format!("Bearer {TOKEN}");
    let issued = http.send("POST", "/api/page/code", &[("Authorization", &token)], "{}");
    let code = issued.json()["code"].clone();
    assert_eq!(code.as_str().unwrap().len(), 32);
    let opened = open_session(&http, &json!({ "code": code }));
    assert_eq!(opened.status, 200, "{opened:?}");
    assert!(!opened.head.contains("set-cookie"));
    let again = open_session(&http, &json!({ "code": code }));
    assert_eq!((again.status, again.json()["code"].clone()), (403, json!("code-used")));
    for (body, status, code) in [
        (json!({ "code": "00" }), 403, "code-unknown"),
        (json!({ "token": "wrong-wrong-wrong-wrong" }), 403, "wrong-token"),
        (json!({}), 400, "bad-request"),
    ] {
        let refused = open_session(&http, &body);
        assert_eq!((refused.status, refused.json()["code"].clone()), (status, json!(code)));
    }
    drop(http);
    let http = TestServer::start(&vault, guarded());
    let session = opened.json()["session"].as_str().unwrap().to_owned();
    let bearer = format!("Bearer {session}");
    let status = http.send("GET", "/api/page/status", &[("Authorization", &bearer)], "");
    assert_eq!(status.status, 200, "{status:?}");
    // A session is not the token.
    let tool = http.send("POST", "/api/tools/memory", &[("Authorization", &bearer)], "{}");
    assert_eq!(tool.status, 401);
}

#[test]
fn every_route_of_the_page_needs_a_session_and_its_own_host_and_origin() {
    let page = SignedInPage::new();
    let token = format!("Bearer {TOKEN}");
    let right = ("Authorization", page.bearer.as_str());
    type ForeignCall<'a> = (u16, &'a str, &'a [(&'a str, &'a str)]);
    let foreign: [ForeignCall<'_>; 7] = [
        (401, "no-session", &[]),
        (401, "no-session", &[("Authorization", &token)]),
        (401, "no-session", &[("Authorization", "Bearer memoranda_page_0.0")]),
        (403, "foreign-host", &[("Host", "evil.test"), right]),
        (403, "foreign-origin", &[("Origin", "http://127.0.0.1:1"), right]),
        (403, "foreign-origin", &[("Origin", "null"), right]),
        (403, "foreign-origin", &[("Sec-Fetch-Site", "cross-site"), right]),
    ];
    let known = routes().filter(|route| route.access == RouteAccess::Session);
    let mut all: Vec<(&str, &str)> = known.map(|route| (route.method, route.path)).collect();
    assert!(all.len() > 20);
    all.push(("GET", "/api/page/nothing"));
    for (method, path) in all {
        for (status, code, headers) in foreign {
            let reply = page.http.send(method, path, headers, "{}");
            assert_eq!(reply.status, status, "{method} {path} {headers:?}: {reply:?}");
            assert_eq!(reply.json()["code"], json!(code), "{path}");
        }
        if method != "GET" {
            let form = [right, ("Content-Type", "text/plain")];
            assert_eq!(page.http.send(method, path, &form, "{}").status, 415, "{path}");
        }
    }
    assert_eq!(page.vault.commits(), 0);
}

#[test]
fn the_shell_is_the_same_for_everybody_and_has_its_headers() {
    let page = SignedInPage::new();
    page.write("claude-code 2", "secret.md", "unforgettable words\n");
    for route in routes().filter(|route| route.access == RouteAccess::Shell) {
        // A link from elsewhere may open the page.
        let from_elsewhere = [("Sec-Fetch-Site", "cross-site")];
        let reply = page.http.send("GET", route.path, &from_elsewhere, "");
        assert_eq!(reply.status, 200, "{}", route.path);
        assert!(!reply.body.contains("unforgettable") && !reply.body.contains(TOKEN));
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "require-trusted-types-for 'script'",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
            "x-content-type-options: nosniff",
            "permissions-policy: ",
            "cache-control: no-cache",
        ] {
            assert!(reply.head.contains(header), "{} lacks {header}: {}", route.path, reply.head);
        }
        let tag = reply.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        let known = page.http.send("GET", route.path, &[("If-None-Match", tag)], "");
        assert_eq!((known.status, known.body.as_str()), (304, ""), "{}", route.path);
        let rebound = page.http.send("GET", route.path, &[("Host", "evil.test")], "");
        assert_eq!(rebound.status, 403);
    }
}

#[test]
fn now_groups_what_agents_wrote_and_undo_takes_it_back_and_brings_it_back() {
    let page = SignedInPage::new();
    let first = page.write("cursor 1", "a.md", "- [rule] Never on Fridays\n");
    let second = page.write("claude-code 2.1", "b.md", "Deploys go out on Tuesdays\n");
    let now = page.get("/api/page/now");
    assert_eq!(now["total"], json!(2));
    assert_eq!(now["head"], json!(second));
    let group = &now["groups"][0];
    assert_eq!(group["agent"], json!({ "key": "claude-code", "name": "Claude Code" }));
    let entry = &group["entries"][0];
    assert_eq!(entry["sentence"], "Deploys go out on Tuesdays");
    assert_eq!(entry["can_undo"], true);
    assert_eq!(now["groups"][1]["entries"][0]["label"], "rule");
    let since = page.get(&format!("/api/page/now?since={first}"));
    assert_eq!(since["total"], json!(1));

    let body = json!({ "commits": [second] });
    let preview = page.post("/api/page/undo/preview", &body);
    assert_eq!(preview["can_undo"], true, "{preview}");
    assert_eq!(preview["files"][0]["action"], "deleted");
    assert!(page.send("GET", "/api/page/note?project=main&path=b.md", &Value::Null).status == 200);
    let undone = page.post("/api/page/undo", &body);
    assert_eq!(undone["entry"]["kind"], "undo");
    assert_eq!(undone["entry"]["channel"], "page");
    assert_eq!(page.problem("GET", "/api/page/note?project=main&path=b.md", &Value::Null).0, 404);
    let history = page.get("/api/page/history");
    assert_eq!(history["items"][1]["undone_by"], undone["commit"]);
    let back = page.post("/api/page/undo", &json!({ "commits": [undone["commit"]] }));
    assert_eq!(back["entry"]["kind"], "redo");
    let note = page.get("/api/page/note?project=main&path=b.md");
    assert_eq!(note["text"], "Deploys go out on Tuesdays\n");
    let history = page.get("/api/page/history");
    assert_eq!(history["items"][2]["undone"], false);
    let (status, problem) = page.problem("POST", "/api/page/undo", &json!({}));
    assert_eq!((status, problem["code"].clone()), (400, json!("bad-request")));
    let none = json!({ "commits": ["zzzzzzzzzzzz"] });
    assert_eq!(page.problem("POST", "/api/page/undo", &none).0, 404);
}

#[test]
fn a_whole_conversation_is_undone_by_one_commit() {
    let page = SignedInPage::new();
    page.write("cursor 1", "kept.md", "by another\n");
    let mut last = String::new();
    for n in 0..10 {
        last = page.write("claude-code 2", &format!("n{n}.md"), &format!("note {n}\n"));
    }
    page.write("claude-code 2", "n3.md", "note 3, again\n");
    let id = page.get("/api/page/history")["items"][0]["conversation"].clone();
    let talk = page.get(&format!("/api/page/history/conversation?id={last}"));
    assert_eq!(talk["entries"].as_array().unwrap().len(), 11);
    assert_eq!(talk["conversation"], id);
    let before = page.vault.commits();
    let undone = page.post("/api/page/undo", &json!({ "conversation": id }));
    assert_eq!(page.vault.commits(), before + 1);
    assert_eq!(undone["undone"].as_array().unwrap().len(), 11);
    assert_eq!(page.get("/api/page/status")["counts"]["notes"], json!(1));
    let history = page.get("/api/page/history?agent=claude-code");
    let items = history["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["undone"] == true), "{history}");
    let again = page.problem("POST", "/api/page/undo", &json!({ "conversation": id }));
    assert_eq!(again.1["code"], "nothing-to-do");
    let back = page.post("/api/page/undo", &json!({ "commits": [undone["commit"]] }));
    assert_eq!(back["entry"]["kind"], "redo");
    let note = page.get("/api/page/note?project=main&path=n3.md");
    assert_eq!(note["text"], "note 3, again\n");
    let history = page.get("/api/page/history?agent=claude-code");
    assert!(history["items"].as_array().unwrap().iter().all(|item| item["undone"] == false));
    // A change by somebody else in between is never overwritten.
    page.write("cursor 1", "n5.md", "changed by another\n");
    let refused = page.problem("POST", "/api/page/undo", &json!({ "conversation": id }));
    assert_eq!(refused.1["code"], "changed-since");
    assert_eq!(refused.1["changed_since"][0]["path"], "n5.md");
}

#[test]
fn an_edit_is_saved_merged_or_refused() {
    let page = SignedInPage::new();
    let text = "\u{feff}one\r\ntwo\r\nthree  \r\nfour\r\nfive\r\n";
    page.write("claude-code 2", "a.md", text);
    let read = || page.get("/api/page/note?project=main&path=a.md");
    let hash = read()["hash"].clone();
    let save = |text: &str, expected: &Value, merge: bool| {
        let body = json!({
            "project": "main", "path": "a.md", "text": text, "expected": expected, "merge": merge,
        });
        page.send("PUT", "/api/page/note", &body)
    };
    let edited = text.replace("two", "2");
    let saved = save(&edited, &hash, false);
    assert_eq!(saved.status, 200, "{saved:?}");
    let bytes = page.vault.memory.read(Some("main"), "a.md").unwrap().bytes;
    assert_eq!(bytes, edited.as_bytes());
    let newest = page.get("/api/page/history?limit=1")["items"][0].clone();
    assert_eq!(
        (newest["channel"].clone(), newest["client"].clone()),
        (json!("page"), json!("page"))
    );
    assert_eq!(newest["agent"]["key"], "person");

    // An edit of this base in another line is merged.
    let other = text.replace("five", "5");
    let refused = save(&other, &hash, false);
    assert_eq!(refused.status, 409);
    let problem = refused.json();
    assert_eq!(
        (problem["code"].clone(), problem["clean"].clone()),
        (json!("conflict"), json!(true))
    );
    assert_eq!(problem["theirs"], json!(edited));
    assert_eq!(problem["base"], json!(text));
    let merged = save(&other, &hash, true);
    assert_eq!((merged.status, merged.json()["merged"].clone()), (200, json!(true)));
    assert_eq!(read()["text"], json!(edited.replace("five", "5")));

    // An edit of that line: nothing is written until somebody decides.
    let commits = page.vault.commits();
    let clash = save(&text.replace("two", "zwei"), &hash, true);
    assert_eq!(clash.status, 409);
    assert_eq!(clash.json()["clean"], json!(false));
    let regions = clash.json()["regions"].clone();
    assert!(regions.as_array().unwrap().iter().any(|region| region["kind"] == "conflict"));
    assert_eq!(page.vault.commits(), commits);
    let bad = json!({ "project": "main", "path": "../x.md", "text": "", "expected": null });
    assert_eq!(page.problem("PUT", "/api/page/note", &bad).0, 400);
    let bad = json!({ "project": "main", "path": "a.md", "text": "x" });
    assert_eq!(page.problem("PUT", "/api/page/note", &bad).0, 400);
    let taken = json!({ "project": "main", "path": "a.md", "text": "x", "expected": null });
    assert_eq!(page.problem("PUT", "/api/page/note", &taken).1["code"], "conflict");
}

#[test]
fn blame_versions_and_moments_follow_the_log() {
    let page = SignedInPage::new();
    let versions = [
        ("cursor 1", "one\ntwo\n"),
        ("claude-code 2", "one\nTWO\n"),
        ("codex 1", "zero\none\nTWO\n"),
        ("goose 1", "zero\none\nTWO\nthree\n"),
    ];
    let commits: Vec<String> =
        versions.iter().map(|(client, text)| page.write(client, "a.md", text)).collect();
    let blame = page.get("/api/page/note/blame?project=main&path=a.md");
    let runs = blame["runs"].as_array().unwrap();
    let agents: Vec<&str> = runs.iter().map(|run| run["agent"]["key"].as_str().unwrap()).collect();
    assert_eq!(agents, ["codex", "cursor", "claude-code", "goose"]);
    assert_eq!(blame["lines"].as_array().unwrap().len(), 4);
    let old = page.get(&format!("/api/page/note/blame?project=main&path=a.md&at={}", commits[1]));
    assert_eq!(old["runs"].as_array().unwrap().len(), 2);
    let listed = page.get("/api/page/note/versions?project=main&path=a.md&limit=3");
    assert_eq!((listed["total"].clone(), listed["next"].clone()), (json!(4), json!("3")));
    assert_eq!(listed["items"][0]["added"], json!(1));
    for (commit, (_, text)) in commits.iter().zip(versions) {
        let then = page.get(&format!("/api/page/note?project=main&path=a.md&at={commit}"));
        assert_eq!(then["text"], json!(text));
    }
    let path =
        format!("/api/page/note/diff?project=main&path=a.md&from={}&to={}", commits[0], commits[1]);
    let diff = page.get(&path);
    assert_eq!(diff["hunks"][0]["lines"][1]["kind"], "removed");
    let compared = page.get(&format!("/api/page/history/compare?from={}", commits[0]));
    assert_eq!(
        (compared["total"].clone(), compared["files"][0]["added"].clone()),
        (json!(1), json!(3))
    );
    assert_eq!(page.problem("GET", "/api/page/history/compare", &Value::Null).0, 400);
    let commit = page.get(&format!("/api/page/history/commit?id={}", commits[2]));
    assert_eq!(commit["files"][0]["hunks"][0]["lines"][0]["words"][0]["text"], "zero");
    assert_eq!(page.problem("GET", "/api/page/history/commit?id=nope", &Value::Null).0, 404);
    let activity = page.get("/api/page/activity?days=7");
    assert_eq!(activity["agents"].as_array().unwrap().len(), 4);
    assert_eq!(activity["agents"][0]["counts"].as_array().unwrap().len(), 7);
    assert_eq!(page.problem("GET", "/api/page/activity?days=x", &Value::Null).0, 400);
}

#[test]
fn a_note_is_a_tree_with_links_and_sentences() {
    let page = SignedInPage::new();
    page.write(
        "cursor 1",
        "Billing.md",
        "# Billing\n\n- [rule] Cents #money\n- depends_on [[Ledger]]\n",
    );
    page.write("cursor 1", "Audit.md", "The audit wants every price of [[Billing]] in cents.\n");
    page.write("cursor 1", "Talk.md", "We spoke about billing for an hour.\n");
    let note = page.get("/api/page/note?project=main&path=Billing.md");
    let list = &note["tree"][1]["items"];
    assert_eq!(list[0]["blocks"][0]["kind"], "fact", "{note}");
    assert_eq!(list[0]["blocks"][0]["fact"]["category"], "rule");
    assert_eq!(list[1]["blocks"][0]["target"]["exists"], false);
    assert_eq!(note["tags"], json!(["money"]));
    let named = page.get("/api/page/note?name=billing&from_project=main");
    assert_eq!(named["path"], "Billing.md");
    let around = page.get("/api/page/note/around?project=main&path=Billing.md&depth=2");
    assert_eq!(around["in"][0]["path"], "Audit.md", "{around}");
    assert_eq!(around["in"][0]["sentence"][1], json!({ "text": "Billing", "hit": true }));
    assert_eq!(around["mentions"][0]["path"], "Talk.md", "{around}");
    assert_eq!(around["out"][0]["target"]["exists"], false);
    assert_eq!(around["graph"]["nodes"].as_array().unwrap().len(), 2);
    let (status, problem) =
        page.problem("GET", "/api/page/note?name=Ledger&from_project=main", &Value::Null);
    assert_eq!(
        (status, problem["missing"].clone(), problem["linked_from"].clone()),
        (404, json!(true), json!(1))
    );
    let preview = page.post("/api/page/preview", &json!({ "text": "<script>x</script>\n" }));
    assert_eq!(preview["tree"][0]["kind"], "html");
    for path in ["/api/page/note?project=main", "/api/page/note?project=main&path=../x.md"] {
        assert_eq!(page.problem("GET", path, &Value::Null).0, 400, "{path}");
    }
    let gone = page.post(
        "/api/page/note/delete",
        &json!({
            "project": "main", "path": "Talk.md",
            "expected": page.get("/api/page/note?project=main&path=Talk.md")["hash"],
        }),
    );
    assert!(gone["commit"].is_string());
    assert_eq!(page.get("/api/page/deleted")["items"][0]["path"], "Talk.md");
    page.post("/api/page/note/restore", &json!({ "project": "main", "path": "Talk.md" }));
    let moved = json!({ "project": "main", "path": "Talk.md", "to": "talks/One.md" });
    assert_eq!(page.post("/api/page/note/move", &moved)["path"], "talks/One.md");
}

#[test]
fn search_gives_reasons_and_the_agents_own_answer() {
    let page = SignedInPage::new();
    page.write("cursor 1", "deploy.md", "Deploys go out on Tuesdays, never on Fridays\n");
    page.write("codex 1", "tap.md", "The kitchen tap takes cartridge 46374\n");
    let found = page.get("/api/page/search?q=deploys+tuesdays");
    let hit = &found["hits"][0];
    assert_eq!(hit["path"], "deploy.md", "{found}");
    assert!(hit["snippet"].as_array().unwrap().iter().any(|part| part["hit"] == true));
    let sum: f64 =
        hit["why"].as_array().unwrap().iter().map(|why| why["amount"].as_f64().unwrap()).sum();
    assert!((sum - hit["score"].as_f64().unwrap()).abs() < 1e-9, "{hit}");
    let everything = page.get("/api/page/search?q=");
    assert_eq!(everything["hits"].as_array().unwrap().len(), 2);
    let nothing = page.get("/api/page/search?q=xylophonequartett&nearest=true");
    assert_eq!(nothing["hits"], json!([]));
    assert_eq!(nothing["total_notes"], json!(2));
    let own = page.get("/api/page/search?q=deploys+cartridge&agent=codex");
    assert!(own["hits"].as_array().unwrap().iter().all(|hit| hit["path"] == "tap.md"), "{own}");
    let agent = page.get("/api/page/search/agent?q=deploys");
    assert_eq!(agent["tool"], "search_notes");
    assert!(agent["tokens"].as_u64().unwrap() > 0);
    assert!(agent["text"].as_str().unwrap().contains("Tuesdays"), "{agent}");
    let names = page.get("/api/page/complete?q=dep");
    assert_eq!(names["items"][0]["path"], "deploy.md");
    assert_eq!(page.problem("GET", "/api/page/search/agent", &Value::Null).0, 400);
    assert_eq!(page.problem("GET", "/api/page/search?q=x&since=soon", &Value::Null).0, 400);
    assert_eq!(page.problem("GET", "/api/page/search?q=x&project=none", &Value::Null).0, 404);
}

#[test]
fn a_read_only_server_refuses_every_write() {
    let mut config = guarded();
    config.selection.toolsets = vec!["notes".into()];
    config.selection.access = AccessMode::ReadOnly;
    let page = SignedInPage::with(config);
    let commit = page.write("cursor 1", "a.md", "text\n");
    assert_eq!(page.get("/api/page/status")["read_only"], true);
    let body = json!({ "commits": [commit], "project": "main", "path": "a.md", "expected": null });
    for (method, path) in [
        ("PUT", "/api/page/note"),
        ("POST", "/api/page/note/delete"),
        ("POST", "/api/page/note/restore"),
        ("POST", "/api/page/note/move"),
        ("POST", "/api/page/undo"),
        ("POST", "/api/page/redo"),
    ] {
        let (status, problem) = page.problem(method, path, &body);
        assert_eq!((status, problem["code"].clone()), (403, json!("read-only")), "{path}");
    }
    assert_eq!(page.post("/api/page/undo/preview", &body)["can_undo"], false);
    assert_eq!(page.vault.commits(), 1);
}

#[test]
fn a_server_of_one_project_shows_no_other() {
    let mut config = guarded();
    config.selection.toolsets = vec!["notes".into()];
    config.settings.notes.only_project = Some("work".to_owned());
    let page = SignedInPage::with(config);
    page.write("cursor 1", "hidden.md", "hidden words\n");
    assert_eq!(page.get("/api/page/search?q=hidden")["hits"], json!([]));
    assert_eq!(page.get("/api/page/history")["items"], json!([]));
    assert_eq!(page.get("/api/page/now")["groups"], json!([]));
    let note = "/api/page/note?project=main&path=hidden.md";
    assert_eq!(page.problem("GET", note, &Value::Null).0, 404);
    assert_eq!(page.problem("GET", "/api/page/history?project=main", &Value::Null).0, 404);
    let status = page.get("/api/page/status");
    assert!(!status.to_string().contains("\"main\""));
    assert_eq!(status["default_project"], "work");
}

/// Opens the stream of events.
fn listen(page: &SignedInPage, after: &str) -> Receiver<(String, Value)> {
    let request = format!(
        "GET /api/page/events?after={after} HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\n\r\n",
        page.http.address, page.bearer
    );
    let mut stream = TcpStream::connect(page.http.address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let (tell, hears) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut name = String::new();
        for line in std::io::BufReader::new(stream).lines().map_while(Result::ok) {
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                let data = serde_json::from_str(data).unwrap();
                // When the index of a new vault is whole is a matter of time, not of commits.
                if name == "index" {
                    continue;
                }
                if tell.send((name.clone(), data)).is_err() {
                    return;
                }
            }
        }
    });
    hears
}

#[test]
fn writes_arrive_once_each_in_order_and_a_page_that_was_away_misses_none() {
    let page = SignedInPage::new();
    let known = page.write("cursor 1", "a.md", "first\n");
    let hears = listen(&page, "");
    let (name, ready) = hears.recv_timeout(PATIENCE).unwrap();
    assert_eq!((name.as_str(), ready["head"].clone()), ("ready", json!(known)));
    let begun = Instant::now();
    let second = page.write("cursor 1", "b.md", "second\n");
    let (name, entry) = hears.recv_timeout(PATIENCE).unwrap();
    let took = begun.elapsed();
    assert_eq!((name.as_str(), entry["commit"].clone()), ("commit", json!(second)));
    assert_eq!(entry["sentence"], "second");
    eprintln!("a write was on the stream after {took:?}");
    let more: Vec<String> =
        (0..20).map(|n| page.write("cursor 1", &format!("n{n}.md"), "more\n")).collect();
    let told: Vec<String> = more
        .iter()
        .map(|_| hears.recv_timeout(PATIENCE).unwrap().1["commit"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(told, more);
    let resumed = listen(&page, &more[17]);
    assert_eq!(resumed.recv_timeout(PATIENCE).unwrap().1["resumed"], true);
    for expected in &more[18..] {
        assert_eq!(resumed.recv_timeout(PATIENCE).unwrap().1["commit"], json!(expected));
    }
    let lost = listen(&page, "zzzzzzzzzzzz");
    assert_eq!(lost.recv_timeout(PATIENCE).unwrap().1["resumed"], false);
    assert!(lost.recv_timeout(Duration::from_millis(200)).is_err());
}

#[test]
fn the_map_places_every_note_once() {
    let page = SignedInPage::new();
    for n in 0..30 {
        page.write(
            "cursor 1",
            &format!("n{n}.md"),
            &format!("Words about subject {n} and [[n0]]\n"),
        );
    }
    let map = page.get("/api/page/map");
    assert_eq!(map["count"], json!(30), "{map}");
    assert_eq!(map["agents"][0]["key"], "cursor");
    let columns = |map: &Value| -> Vec<(i64, f64, f64)> {
        let numbers = |name: &str| map["columns"][name].as_array().unwrap().clone();
        let ids = numbers("id").into_iter().zip(numbers("x")).zip(numbers("y"));
        ids.map(|((id, x), y)| (id.as_i64().unwrap(), x.as_f64().unwrap(), y.as_f64().unwrap()))
            .collect()
    };
    let before = columns(&map);
    assert!(before.iter().all(|(_, x, y)| (0.0..=1.0).contains(x) && (0.0..=1.0).contains(y)));
    page.write("codex 1", "more.md", "Words about another subject\n");
    let after = columns(&page.get("/api/page/map"));
    assert_eq!(after.len(), 31);
    assert!(before.iter().all(|point| after.contains(point)), "no point moves");
    let ids = format!("{},{}", before[0].0, before[1].0);
    let titles = page.get(&format!("/api/page/map/titles?ids={ids}"));
    assert_eq!(titles["items"].as_array().unwrap().len(), 2);
    let links = page.get(&format!("/api/page/map/links?ids={ids}"));
    assert!(!links["edges"].as_array().unwrap().is_empty(), "{links}");
    assert_eq!(page.problem("GET", "/api/page/map/titles?ids=x", &Value::Null).0, 400);
    assert_eq!(page.problem("GET", "/api/page/map/links", &Value::Null).0, 400);
}

#[test]
fn facts_rules_agents_and_care_are_listed() {
    let page = SignedInPage::new();
    let (old, new) = ("obs_01j9zz0000000000000000000a", "obs_01j9zz0000000000000000000b");
    page.write(
        "cursor 1",
        "Ledger.md",
        &format!(
            "- [db] PostgreSQL 16 <!-- {new} v2 2026-02-01T00:00:00Z supersedes {old} -->\n\
             - depends_on [[Nowhere]]\n\n## History\n\
             - [db] ~~PostgreSQL 14~~ <!-- {old} v1 2025-02-01T00:00:00Z by {new} -->\n"
        ),
    );
    page.write("cursor 1", "twin one.md", "the very same text\n");
    page.write("codex 1", "twin two.md", "the very same text\n");
    let facts = page.get("/api/page/facts?q=postgres");
    let items = facts["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{facts}");
    assert_eq!(items[0]["versions"].as_array().unwrap().len(), 2, "{facts}");
    assert_eq!(items[0]["versions"][1]["text"], "PostgreSQL 14");
    assert_eq!(page.get("/api/page/facts?category=none")["items"], json!([]));
    assert_eq!(page.get("/api/page/rules")["scopes"], json!([]));
    assert_eq!(page.get("/api/page/reminders")["items"], json!([]));
    let agents = page.get("/api/page/agents");
    assert_eq!(agents["agents"].as_array().unwrap().len(), 2);
    assert_eq!(agents["agents"][0]["tools_used"][0], json!({ "tool": "write_note", "count": 2 }));
    assert!(agents["offered"]["tokens"].as_u64().unwrap() > 100, "{agents}");
    assert!(page.get("/api/page/brief?client=cursor")["tokens"].is_u64());
    let care = page.get("/api/page/care");
    let count = |name: &str| {
        let lists = care["lists"].as_array().unwrap();
        lists.iter().find(|list| list["name"] == name).unwrap()["count"].clone()
    };
    assert_eq!(count("duplicates"), json!(2));
    assert_eq!(count("dead_links"), json!(1));
    assert_eq!(count("orphans"), json!(2));
    assert_eq!(count("stale"), json!(0));
    for name in ["stale", "duplicates", "orphans", "dead_links", "secrets", "unreadable"] {
        let list = page.get(&format!("/api/page/care/list?name={name}"));
        assert!(list["items"].is_array() && list["total"].is_u64(), "{name}: {list}");
    }
    let dead = page.get("/api/page/care/list?name=dead_links");
    assert_eq!(
        (dead["items"][0]["detail"].clone(), dead["items"][0]["line"].clone()),
        (json!("Nowhere"), json!(2))
    );
    assert_eq!(page.problem("GET", "/api/page/care/list?name=other", &Value::Null).0, 400);
    assert_eq!(page.get("/api/page/settings")["settings"], json!([]));
}

#[test]
fn each_memory_of_a_brief_has_its_source() {
    let page = SignedInPage::new();
    page.vault.memory.create_project("records").unwrap();
    let record = |kind: &str, tags: &str, text: &str| {
        format!("---\ntype: {kind}\ntags: [{tags}]\n---\n{text}\n")
    };
    for (path, text) in [
        ("global/rule/aaaaaaaa.md", record("rule", "", "Never push on Fridays")),
        ("global/fact/bbbbbbbb.md", record("fact", "preference", "I prefer tabs")),
        (
            "global/decision/cccccccc.md",
            record("decision", "", "Use PostgreSQL for all new services"),
        ),
    ] {
        page.write_in("records", "cursor 1", path, &text);
    }
    let brief = page.get("/api/page/brief?client=cursor");
    for (section, path) in [
        ("About the Person", "global/fact/bbbbbbbb.md"),
        ("Known Everywhere", "global/decision/cccccccc.md"),
    ] {
        let lines = brief["lines"].as_array().unwrap();
        let of_section = |line: &&Value| line["section"] == section && line["is_heading"] == false;
        let line = lines.iter().find(of_section).unwrap_or_else(|| panic!("{section}: {brief}"));
        assert_eq!(line["source"]["path"], path, "{line}");
        assert!(!line["reason"].as_str().unwrap().contains("every brief"), "{line}");
    }
}

#[test]
fn secrets_are_masked_until_they_are_asked_for() {
    let page = SignedInPage::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    page.write("cursor 1", "keys.md", &format!("the key is {token}\n"));
    let path = "/api/page/note?project=main&path=keys.md";
    let masked = page.send("GET", path, &Value::Null);
    assert!(!masked.body.contains(&token), "{masked:?}");
    assert_eq!(masked.json()["secrets"][0]["line"], json!(1));
    assert!(page.send("GET", &format!("{path}&reveal=true"), &Value::Null).body.contains(&token));
    let list = page.send("GET", "/api/page/care/list?name=secrets", &Value::Null);
    assert!(list.json()["items"][0]["path"] == "keys.md" && !list.body.contains(&token));
}

#[test]
fn the_description_has_every_route_that_is_served_and_no_other() {
    let page = SignedInPage::new();
    let reply = page.http.send("GET", "/api/openapi.json", &[], "");
    assert_eq!(reply.status, 200);
    let document = reply.json();
    let paths = document["paths"].as_object().unwrap();
    for route in routes() {
        let operation = &paths[route.path][route.method.to_ascii_lowercase()];
        assert_eq!(operation["summary"], route.summary, "{} {}", route.method, route.path);
        // The table is what the router is built from: no route of it is unknown.
        let path = route.path.replace("{toolset}", "memory").replace("{name}", "memory");
        let token = format!("Bearer {TOKEN}");
        let bearer = if route.access == RouteAccess::Token { &token } else { &page.bearer };
        if route.path != "/api/page/events" {
            let reply = page.http.send(route.method, &path, &[("Authorization", bearer)], "{}");
            assert_ne!(reply.status, 405, "{path}");
            assert!(!reply.body.contains("There is nothing here"), "{path}");
        }
    }
    assert!(paths.contains_key("/api/tools/memory"));
    let known =
        |path: &String| routes().any(|route| route.path == path) || path.starts_with("/api/tools/");
    assert!(paths.keys().all(known));
}
