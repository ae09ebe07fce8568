//! Actions of the web page on the machine, with the real server: set-up, settings, import, export.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::client::Http;
use crate::support::Home;

const LOCAL: &str = "127.0.0.1:0";

/// A server with a page that is signed in.
struct SignedInPage {
    http: Http,
    bearer: String,
}

impl SignedInPage {
    fn start(home: &Home, bind: &str, flags: &[&str]) -> Self {
        let http =
            Http::spawn(home.command(&[&["serve", "--bind", bind, "--json"], flags].concat()));
        let token = home.ok(&["token"]);
        let body = json!({ "token": token.trim() });
        let (_, answer) = http.post("/api/page/session", &[("Authorization", "")], &body);
        let bearer = format!("Bearer {}", answer["session"].as_str().unwrap());
        Self { http, bearer }
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.http.post(&format!("/api/page/{path}"), &[("Authorization", &self.bearer)], body)
    }

    fn get(&self, path: &str) -> Vec<u8> {
        let request = format!(
            "GET /api/page/{path} HTTP/1.0\r\nHost: {}\r\nAuthorization: {}\r\n\r\n",
            self.http.address, self.bearer
        );
        let mut stream = TcpStream::connect(&self.http.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        let end = reply.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        assert!(reply.starts_with(b"HTTP/1.0 200") || reply.starts_with(b"HTTP/1.1 200"), "{path}");
        reply.split_off(end + 4)
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&self.get(path)).unwrap()
    }
}

#[test]
fn a_client_is_changed_only_as_it_was_shown() {
    let home = Home::new();
    let mine = "{ \"mcpServers\": {} }\n";
    home.write("../.cursor/mcp.json", mine);
    let page = SignedInPage::start(&home, LOCAL, &[]);
    let change = |action: &str| {
        let clients = page.json("setup")["clients"].as_array().unwrap().clone();
        let cursor = clients.into_iter().find(|client| client["name"] == "cursor").unwrap();
        let changes = cursor["changes"].as_array().unwrap().clone();
        changes.into_iter().find(|change| change["action"] == action).unwrap()
    };
    let shown = change("connect");
    assert_eq!(shown["files"][0]["path"], "~/.cursor/mcp.json", "{shown}");
    let body = json!({ "client": "cursor", "action": "connect", "digest": shown["digest"] });
    home.write("../.cursor/mcp.json", "{}\n");
    let (status, problem) = page.post("setup", &body);
    assert_eq!(status, 409, "{problem}");
    assert_eq!(home.read("../.cursor/mcp.json"), b"{}\n");
    home.write("../.cursor/mcp.json", mine);
    let (status, done) = page.post("setup", &body);
    assert_eq!(status, 200, "{done}");
    assert!(String::from_utf8(home.read("../.cursor/mcp.json")).unwrap().contains("memoranda"));
    let shown = change("disconnect");
    let body = json!({ "client": "cursor", "action": "disconnect", "digest": shown["digest"] });
    assert_eq!(page.post("setup", &body).0, 200);
    assert_eq!(home.read("../.cursor/mcp.json"), mine.as_bytes());
    for (body, status) in [
        (json!({ "client": "nobody", "action": "connect", "digest": "x" }), 404),
        (json!({ "client": "cursor", "action": "own", "digest": "x" }), 400),
        (json!({ "client": "cursor" }), 400),
    ] {
        assert_eq!(page.post("setup", &body).0, status, "{body}");
    }
}

#[test]
fn a_setting_is_written_into_the_file_and_read_again() {
    let home = Home::new();
    let page = SignedInPage::start(&home, LOCAL, &[]);
    let (status, answer) = page.post("settings", &json!({ "key": "editor", "value": "nano" }));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(home.ok(&["config", "get", "editor"]).trim(), "nano");
    let setting = |answer: &Value| {
        let settings = answer["settings"].as_array().unwrap().clone();
        settings.into_iter().find(|setting| setting["key"] == "editor").unwrap()
    };
    assert_eq!(setting(&answer)["in_file"], json!(true));
    let (_, answer) = page.post("settings", &json!({ "key": "editor", "value": null }));
    assert_eq!(setting(&answer)["in_file"], json!(false));
    for body in [
        json!({ "key": "nothing", "value": "x" }),
        json!({ "key": "editor" }),
        json!({ "key": "editor", "value": 1 }),
        json!({ "key": "serve.bind", "value": "not an address" }),
    ] {
        assert_eq!(page.post("settings", &body).0, 400, "{body}");
    }
}

#[test]
fn dropped_files_are_counted_and_brought_and_the_vault_leaves_whole() {
    let home = Home::new();
    let page = SignedInPage::start(&home, LOCAL, &[]);
    // "# One\n" and "# Two\n" in two parts.
    let parts = json!([
        { "path": "Vault/One.md", "offset": 0, "data": "IyBPbmUK", "modified": 1_700_000_000_000_i64 },
        { "path": "Vault/sub/Two.md", "offset": 0, "data": "IyBU" },
    ]);
    let (status, staged) = page.post("import/upload", &json!({ "parts": parts }));
    assert_eq!(status, 200, "{staged}");
    let upload = staged["upload"].clone();
    let more = json!([{ "path": "Vault/sub/Two.md", "offset": 3, "data": "d28K" }]);
    assert_eq!(page.post("import/upload", &json!({ "upload": upload, "parts": more })).0, 200);
    // The same part again would damage the file.
    assert_ne!(page.post("import/upload", &json!({ "upload": upload, "parts": more })).0, 200);
    for path in ["../One.md", "/One.md", "", "a/./b"] {
        let parts = json!([{ "path": path, "offset": 0, "data": "" }]);
        let (status, _) = page.post("import/upload", &json!({ "upload": upload, "parts": parts }));
        assert_eq!(status, 400, "{path}");
    }
    let (status, plan) = page.post("import/plan", &json!({ "upload": upload }));
    assert_eq!((status, plan["created"].clone()), (200, json!(2)), "{plan}");
    assert!(home.run(&["show", "Two"]).code != 0, "a plan writes nothing");
    let (_, report) = page.post("import", &json!({ "upload": upload }));
    assert_eq!(report["created"], json!(2), "{report}");
    assert!(home.ok(&["show", "Two"]).contains("# Two"));
    assert_eq!(page.post("import/plan", &json!({ "upload": upload })).0, 404, "it was used up");
    let archive = page.get("export");
    assert!(
        archive.windows(6).any(|bytes| bytes == b"# Two\n") && archive.len().is_multiple_of(512)
    );
    let lines = String::from_utf8(page.get("export?form=jsonl")).unwrap();
    assert!(lines.contains("Two.md"), "{lines}");
    let undone = page.post("undo", &json!({ "commits": report["commits"] }));
    assert_eq!(undone.0, 200, "{undone:?}");
    assert!(home.run(&["show", "Two"]).code != 0);
}

#[test]
fn a_server_that_others_reach_or_that_only_reads_changes_nothing() {
    let home = Home::new();
    let read_only = ["--read-only"].as_slice();
    for (bind, flags, code) in
        [("0.0.0.0:0", [].as_slice(), "not-local"), (LOCAL, read_only, "read-only")]
    {
        let page = SignedInPage::start(&home, bind, flags);
        for (path, body) in [
            ("setup", json!({ "client": "cursor", "action": "connect", "digest": "x" })),
            ("settings", json!({ "key": "editor", "value": "vi" })),
            ("import/upload", json!({ "parts": [] })),
            ("vacuum", json!({ "before": "2026-01-01T00:00:00Z", "contents": 0 })),
        ] {
            let (status, problem) = page.post(path, &body);
            assert_eq!((status, problem["code"].clone()), (403, json!(code)), "{path}");
        }
    }
}
