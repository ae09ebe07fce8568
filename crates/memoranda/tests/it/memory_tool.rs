//! The memory tool over real stdio, with exact answers; also by `memoranda tool` and HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, Era, Http};
use super::support::Home;

const ERA: Era = Era::Handshake("2025-06-18");
const PREFERENCES: &str = "---
title: User Preferences
type: memory
tags: [user, preferences]
---

# User Preferences

## Observations
- [communication] Prefers concise responses #style
- [workflow] Uses justfile for automation #tools
";

#[test]
fn every_error_of_the_specification_to_the_letter() {
    let home = Home::new();
    let mut client = Client::open(&home, ERA, &[]);
    let twenty: String = (1..=20).map(|n| format!("line {n} of it\n")).collect();
    client.done(json!({ "command": "create", "path": "memories/x.md", "file_text": twenty }));
    let three = json!({ "command": "create", "path": "memories/y.md", "file_text": "a\na\na\n" });
    client.done(three);
    for (arguments, expected) in [
        (
            json!({ "command": "view", "path": "memories/user/preferences.md" }),
            r#"{"error":"File not found: memories/user/preferences.md","is_error":true}"#,
        ),
        (
            json!({ "command": "create", "path": "/etc/passwd", "file_text": "x" }),
            r#"{"error":"Permission denied: Cannot write outside /memories directory","is_error":true}"#,
        ),
        (
            json!({ "command": "view", "path": "memories/../../etc/passwd" }),
            r#"{"error":"Invalid path: Path must be within /memories directory","is_error":true}"#,
        ),
        (
            json!({ "command": "str_replace", "path": "memories/y.md", "old_str": "a", "new_str": "b" }),
            r#"{"error":"Found 3 matches for replacement text. Please provide more context to make a unique match.","is_error":true,"lines":[1,2,3]}"#,
        ),
        (
            json!({ "command": "str_replace", "path": "memories/x.md", "old_str": "zz", "new_str": "b" }),
            r#"{"error":"No match found for replacement. Please check your text and try again.","is_error":true}"#,
        ),
        (
            json!({ "command": "insert", "path": "memories/x.md", "insert_line": 100, "insert_text": "b" }),
            r#"{"error":"Invalid line number: File has 20 lines, cannot insert at line 100","is_error":true}"#,
        ),
    ] {
        let (text, is_error) = client.memory(arguments.clone());
        assert_eq!((text.as_str(), is_error), (expected, true), "{arguments}");
        // The structured answer has these facts, too.
        let call = json!({ "name": "memory", "arguments": arguments });
        let structured = client.result("tools/call", call)["structuredContent"].clone();
        assert_eq!(structured, serde_json::from_str::<Value>(expected).unwrap());
    }
    assert_eq!(home.read("memories/y.md"), b"a\na\na\n");
}

#[test]
fn the_testing_procedure_of_the_specification() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, &[]);
    let path = "memories/user/preferences.md";
    let made = client.done(json!({ "command": "create", "path": path, "file_text": PREFERENCES }));
    assert_eq!(made, "Created memories/user/preferences.md");
    assert_eq!(home.read("memories/user/preferences.md"), PREFERENCES.as_bytes());
    let seen = client.done(json!({ "command": "view", "path": path }));
    assert!(seen.starts_with(
        "Here's the content of memories/user/preferences.md with line numbers:\n     1\t---\n"
    ));
    assert!(seen.contains("    10\t- [communication] Prefers concise responses #style"));
    let replaced = client.done(json!({
        "command": "str_replace", "path": path,
        "old_str": "concise responses", "new_str": "direct, concise responses",
    }));
    assert_eq!(replaced, "Replaced text in memories/user/preferences.md");
    let inserted = client.done(json!({
        "command": "insert", "path": path, "insert_line": 10,
        "insert_text": "- [technical] Works primarily in Python #coding",
    }));
    assert_eq!(inserted, "Inserted text at line 10");
    let text = String::from_utf8(home.read("memories/user/preferences.md")).unwrap();
    assert!(text.contains("direct, concise responses #style\n- [technical] Works primarily in Python #coding\n- [workflow]"), "{text}");
    // Indexed, found, recent, linked, versioned.
    client.done(json!({
        "command": "create", "path": "/memories/projects/site.md",
        "file_text": "# Site\n- informed_by [[User Preferences]]\n",
    }));
    let found = home.json(&["search", "python", "-p", "memories"]);
    assert_eq!(found["results"][0]["path"], "user/preferences.md", "{found}");
    assert!(home.ok(&["recent", "-p", "memories"]).contains("User Preferences"));
    assert!(home.ok(&["show", "memories/projects/site.md"]).contains("[[User Preferences]]"));
    let log = home.json(&["log", "memories/user/preferences.md"]);
    let commits = log["commits"].as_array().unwrap();
    assert_eq!(commits.len(), 3, "{log}");
    assert_eq!(
        (&commits[0]["client"], &commits[0]["channel"]),
        (&json!("tester 1.0"), &json!("mcp"))
    );
    let deleted = client.done(json!({ "command": "delete", "path": path }));
    assert_eq!(deleted, "Deleted memories/user/preferences.md");
    assert!(!home.file("memories/user/preferences.md").exists());
    home.ok(&["undo"]);
    assert_eq!(home.read("memories/user/preferences.md"), text.as_bytes());
    let renamed = client.done(json!({
        "command": "rename", "old_path": path, "new_path": "memories/user/prefs.md",
    }));
    assert_eq!(renamed, "Renamed memories/user/preferences.md to memories/user/prefs.md");
}

#[test]
fn the_words_are_chosen() {
    let home = Home::new();
    let create = json!({ "command": "create", "path": "/memories/a.md", "file_text": "a\n" });
    let mut native = Client::open(&home, ERA, &["--wording", "claude"]);
    assert_eq!(native.done(create.clone()), "File created successfully at: /memories/a.md");
    let again = native.memory(create.clone());
    assert_eq!(again, ("File /memories/a.md already exists".to_owned(), true));
    let mut mcp = Client::open(&home, ERA, &[]);
    assert_eq!(mcp.done(create.clone()), "Created /memories/a.md");
    home.ok(&["config", "set", "memory.create", "refuse"]);
    // `seed` is the earlier name of `mcp`.
    let mut strict = Client::open(&home, ERA, &["--wording", "seed"]);
    assert!(strict.memory(create.clone()).0.contains("File already exists: /memories/a.md"));
    home.ok(&["config", "set", "mcp.wording", "claude"]);
    home.ok(&["config", "set", "memory.create", "overwrite"]);
    let mut set = Client::open(&home, ERA, &[]);
    assert_eq!(set.done(create), "File created successfully at: /memories/a.md");
}

#[test]
fn limits_and_secrets_follow_the_settings() {
    let home = Home::new();
    let key = "AKIAIOSFODNN7EXAMPLQ";
    let create = |client: &mut Client, text: &str| {
        let path = "/memories/s.md";
        client.memory(json!({ "command": "create", "path": path, "file_text": text }))
    };
    let (text, is_error) = create(&mut Client::open(&home, ERA, &[]), key);
    assert!(!is_error && text.contains("Warning: This looks like a secret"), "{text}");
    home.ok(&["config", "set", "memory.secrets", "redact"]);
    create(&mut Client::open(&home, ERA, &[]), &format!("x {key}\n"));
    assert!(!String::from_utf8(home.read("memories/s.md")).unwrap().contains(key));
    home.ok(&["config", "set", "memory.secrets", "refuse"]);
    let (text, is_error) = create(&mut Client::open(&home, ERA, &[]), key);
    assert!(is_error && text.contains("was not saved"), "{text}");
    home.ok(&["config", "set", "memory.max_file_bytes", "10"]);
    let (text, is_error) = create(&mut Client::open(&home, ERA, &[]), "more than ten bytes");
    assert!(is_error && text.contains("the limit is 10"), "{text}");
    home.ok(&["config", "unset", "memory.max_file_bytes"]);
    home.ok(&["config", "set", "memory.view_chars", "20"]);
    let mut client = Client::open(&home, ERA, &[]);
    create(&mut client, &"line\n".repeat(50));
    let seen = client.done(json!({ "command": "view", "path": "/memories/s.md" }));
    assert!(seen.contains("continue with view_range ["), "{seen}");
    home.fails(&["config", "set", "memory.view_chars", "0"], 2, &["a whole number, at least 1"]);
    home.fails(&["config", "set", "memory.secrets", "x"], 2, &["warn, redact, refuse"]);
}

#[test]
fn nothing_but_memories_lies_in_a_folder_of_ones_own() {
    let home = Home::bare();
    let own = home.path().join("own/memories");
    std::fs::create_dir_all(&own).unwrap();
    home.ok(&["project", "add", "memories", own.to_str().unwrap()]);
    let mut client = Client::open(&home, ERA, &[]);
    client.done(json!({ "command": "create", "path": "/memories/a/b.md", "file_text": "one\n" }));
    client.done(json!({
        "command": "str_replace", "path": "/memories/a/b.md", "old_str": "one", "new_str": "two",
    }));
    client.done(json!({ "command": "create", "path": "/memories/c.json", "file_text": "{}" }));
    client.done(json!({ "command": "delete", "path": "/memories/c.json" }));
    std::fs::write(own.join("hand.txt"), "by hand").unwrap();
    assert!(
        client.done(json!({ "command": "view", "path": "/memories/hand.txt" })).contains("by hand")
    );
    client.close();
    let mut found: Vec<String> = Vec::new();
    let mut folders = vec![home.path().join("own")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(home.path()).unwrap().display().to_string());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    assert_eq!(
        found,
        ["own/memories", "own/memories/a", "own/memories/a/b.md", "own/memories/hand.txt"]
    );
}

#[test]
fn a_tool_is_called_from_the_command_line() {
    let home = Home::bare();
    let create = r#"{"command": "create", "path": "/memories/a.md", "file_text": "hello\n"}"#;
    assert_eq!(home.ok(&["tool", "memory", create]), "Created /memories/a.md\n");
    let view = br#"{"command": "view", "path": "/memories/a.md"}"#;
    let seen = home.run_fed(view, &["tool", "memory", "-", "--json"]);
    let json: Value = serde_json::from_str(&seen.out).unwrap();
    assert_eq!((seen.code, &json["is_error"]), (0, &json!(false)));
    assert!(json["text"].as_str().unwrap().ends_with("     1\thello\n     2\t"), "{json}");
    assert_eq!(json["structured"]["result"], json["text"]);
    let missing = home.run(&["tool", "memory", r#"{"command": "view", "path": "/memories/b"}"#]);
    assert_eq!(missing.code, 1);
    assert_eq!(missing.out, "{\"error\":\"File not found: /memories/b\",\"is_error\":true}\n");
    // A block of the Claude API, whole.
    let block = json!({
        "type": "tool_use", "id": "toolu_01", "name": "memory",
        "input": { "command": "create", "path": "/memories/a.md", "file_text": "x" },
    });
    let native = ["tool", "memory", "--wording", "claude", "--json", "-"];
    let said = home.run_fed(block.to_string().as_bytes(), &native);
    let answer: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(said.code, 1);
    assert_eq!(
        answer,
        json!({
            "type": "tool_result", "tool_use_id": "toolu_01",
            "content": "File /memories/a.md already exists", "is_error": true,
        })
    );
    let said = home.run(&["tool", "memory", "--wording", "claude", &block["input"].to_string()]);
    assert_eq!((said.code, said.out.as_str()), (1, "File /memories/a.md already exists\n"));
    // A whole block is known as one in either wording.
    let view = json!({ "type": "tool_use", "id": "toolu_02", "name": "memory",
                       "input": { "command": "view", "path": "/memories/a.md" } });
    let seen = home.ok(&["tool", "memory", &view.to_string()]);
    assert!(seen.starts_with("Here's the content of /memories/a.md"), "{seen}");
    assert_eq!(home.json(&["tool", "memory", &view.to_string()])["is_error"], false);
    let other = json!({ "type": "tool_use", "name": "bash", "input": {} }).to_string();
    home.fails(&["tool", "memory", &other], 2, &["the tool_use block is for \"bash\""]);
    let tools = home.json(&["tool", "--list"]);
    let is_memory = |tool: &Value| tool["name"] == "memory";
    assert!(tools["tools"].as_array().unwrap().iter().any(is_memory), "{tools}");
    assert!(home.ok(&["tool", "--list"]).contains("memory"));
    home.fails(&["tool", "nope"], 1, &["no tool \"nope\"", "hint: `memoranda tool --list`"]);
    home.fails(&["tool", "memory", "{"], 2, &["no JSON object", "hint:"]);
    let cut = r#"{"command":"create","path":"/memories/cut.md","file_text":"cut \ud83d"}"#;
    home.ok(&["tool", "memory", &format!("\u{feff}{cut}")]);
    assert_eq!(std::fs::read_to_string(home.file("memories/cut.md")).unwrap(), "cut \u{fffd}");
    home.fails(&["tool"], 2, &["required"]);
    let revisions = &home.json(&["--version"])["mcp_revisions"];
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(revisions.as_array().unwrap().contains(&json!(revision)), "{revisions}");
    }
}

#[test]
fn what_nobody_used_expires_when_asked_and_comes_back() {
    let home = Home::new();
    assert!(home.ok(&["expire", "--days", "1"]).starts_with("Nothing to remove"));
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100 * 86_400);
    for name in ["old", "viewed", "new"] {
        home.write(&format!("memories/{name}.md"), format!("{name} text\n"));
        if name != "new" {
            let file = std::fs::File::options()
                .write(true)
                .open(home.file(&format!("memories/{name}.md")));
            file.unwrap().set_modified(old).unwrap();
        }
    }
    home.ok(&["scan"]);
    home.ok(&["tool", "memory", r#"{"command": "view", "path": "/memories/viewed.md"}"#]);
    let plan = home.json(&["expire", "--days", "90", "--dry-run"]);
    assert_eq!(plan["notes"].as_array().unwrap().len(), 1, "{plan}");
    assert_eq!((&plan["notes"][0]["path"], &plan["commit"]), (&json!("old.md"), &Value::Null));
    assert!(home.file("memories/old.md").exists());
    home.fails(&["expire", "--days", "90"], 2, &["not done without a yes", "--yes"]);
    home.fails(&["expire", "--days", "0"], 2, &["0"]);
    let said = home.run(&["expire", "--days", "90", "-y"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.starts_with("Removed 1 note unused for 90 days (commit "), "{said:?}");
    assert!(said.err.contains("`memoranda undo ") && said.err.contains("undoes this"), "{said:?}");
    assert!(!home.file("memories/old.md").exists() && home.file("memories/viewed.md").exists());
    home.ok(&["undo"]);
    assert_eq!(home.read("memories/old.md"), b"old text\n");
}

#[test]
fn unused_memories_expire_by_themselves_if_the_person_says_so() {
    let home = Home::new();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100 * 86_400);
    for name in ["old", "new"] {
        home.write(&format!("memories/{name}.md"), format!("{name} text\n"));
    }
    let file = std::fs::File::options().write(true).open(home.file("memories/old.md"));
    file.unwrap().set_modified(old).unwrap();
    home.ok(&["scan"]);
    home.ok(&["config", "set", "memory.expire_days", "90"]);
    // A server that may not write removes nothing; the command has the same number of days.
    let reader = Client::open(&home, ERA, &["--read-only"]);
    let plan = home.json(&["expire", "--dry-run"]);
    assert_eq!(plan["notes"][0]["path"], "old.md", "{plan}");
    let _server = Client::open(&home, ERA, &[]);
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while home.file("memories/old.md").exists() {
        assert!(std::time::Instant::now() < limit, "nothing expired");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    drop(reader);
    assert!(home.file("memories/new.md").exists());
    let log = home.json(&["log", "-p", "memories"]);
    assert_eq!(log["commits"][0]["message"], "expired: unused for 90 days");
    home.ok(&["undo", log["commits"][0]["id"].as_str().unwrap(), "-y"]);
    assert_eq!(home.read("memories/old.md"), b"old text\n");
}

#[test]
fn a_server_notices_edits_by_hand_in_the_memories() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, &[]);
    let path = "/memories/user/preferences.md";
    client.done(json!({ "command": "create", "path": path, "file_text": "Tea.\n" }));
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let mut text = String::new();
    // Only the server looks at the files. Its watcher may begin after the first edit.
    let mut is_noticed = false;
    while !is_noticed {
        assert!(std::time::Instant::now() < limit, "the edit was not noticed");
        text.push_str("Saffron buns.\n");
        home.write("memories/user/preferences.md", &text);
        std::thread::sleep(std::time::Duration::from_millis(500));
        let log = home.json(&["log", "memories/user/preferences.md", "--no-scan"]);
        is_noticed = log["commits"][0]["channel"] == "disk";
    }
    assert!(home.ok(&["search", "saffron", "--no-scan"]).contains("preferences"));
}

#[test]
fn what_is_changed_meanwhile_does_not_expire() {
    let home = Home::new();
    home.write("memories/a.md", "old\n");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100 * 86_400);
    let file = std::fs::File::options().write(true).open(home.file("memories/a.md")).unwrap();
    file.set_modified(old).unwrap();
    home.ok(&["scan"]);
    home.write("memories/a.md", "changed by hand\n");
    let asked = ["expire", "--days", "90", "-y", "--no-scan"];
    home.fails(&asked, 4, &["changed meanwhile"]);
    assert_eq!(home.read("memories/a.md"), b"changed by hand\n");
}

#[test]
fn http_serves_mcp_the_tools_and_the_native_tool() {
    let home = Home::bare();
    let http = Http::start(&home, &[], &[]);
    assert_eq!(http.listening["token"], json!(true));
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        },
    });
    let (status, answer) = http.post("/mcp", &[], &hello);
    assert_eq!((status, &answer["result"]["protocolVersion"]), (200, &json!("2025-06-18")));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list =
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": { "_meta": meta } });
    let stateless = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")];
    let (status, answer) = http.post("/mcp", &stateless, &list);
    assert_eq!(
        (status, &answer["result"]["tools"][0]["name"]),
        (200, &json!("remember")),
        "{answer}"
    );
    let create = json!({ "command": "create", "path": "/memories/a.md", "file_text": "by http\n" });
    let (status, answer) = http.post("/api/tools/memory", &[("User-Agent", "curl/8")], &create);
    assert_eq!(
        (status, &answer["text"], &answer["is_error"]),
        (200, &json!("Created /memories/a.md"), &json!(false))
    );
    let block = json!({ "type": "tool_use", "id": "toolu_1", "name": "memory", "input": create });
    let (status, answer) = http.post("/api/memory-tool", &[], &block);
    assert_eq!(status, 200);
    assert_eq!(answer["content"], "File /memories/a.md already exists");
    assert_eq!((&answer["tool_use_id"], &answer["is_error"]), (&json!("toolu_1"), &json!(true)));
    assert_eq!(home.read("memories/a.md"), b"by http\n");
    assert!(home.ok(&["search", "http"]).contains("memories/a.md"));
    let foreign: [&[(&str, &str)]; 5] = [
        &[("Host", "evil.example")],
        &[("Origin", "http://evil.example")],
        &[("Origin", "http://localhost:3000")],
        &[("Origin", "null")],
        &[("Sec-Fetch-Site", "cross-site")],
    ];
    for headers in foreign {
        assert_eq!(http.post("/mcp", headers, &hello).0, 403, "{headers:?}");
        assert_eq!(http.post("/api/tools/memory", headers, &create).0, 403, "{headers:?}");
    }
    let plain = [("Content-Type", "text/plain")];
    let own = format!("http://{}", http.address);
    for path in ["/mcp", "/api/tools/memory", "/api/memory-tool"] {
        assert_eq!(http.post(path, &plain, &create).0, 415, "{path}");
        assert_ne!(http.post(path, &[("Origin", &own)], &create).0, 403, "{path}");
    }
    let allowed = Http::start(
        &home,
        &["--allow-host", "notes.example", "--allow-origin", "https://notes.example"],
        &[],
    );
    let headers = [("Host", "notes.example"), ("Origin", "https://notes.example")];
    assert_eq!(allowed.post("/mcp", &headers, &hello).0, 200);
    #[cfg(unix)]
    assert_eq!(http.stop(), Some(0));
}

#[test]
fn a_token_comes_from_a_file_or_a_variable() {
    let home = Home::new();
    let file = home.path().join("token");
    std::fs::write(&file, "correct-horse-battery-staple\n").unwrap();
    let file = file.to_str().unwrap();
    let token = "correct-horse-battery-staple";
    for (flags, variables) in [
        (&["--token-file", file][..], &[][..]),
        (&[], &[("MEMORANDA_TOKEN", token)]),
        (&[], &[("MEMORANDA_TOKEN_FILE", file)]),
        (&["--token-file", file], &[("MEMORANDA_TOKEN", "another-token-entirely")]),
    ] {
        let http = Http::start(&home, flags, variables);
        assert_eq!(http.listening["token"], json!(true));
        assert_eq!(
            http.listening["token_file"].as_str(),
            (variables != [("MEMORANDA_TOKEN", token)]).then_some(file)
        );
        let view = json!({ "command": "view", "path": "/memories" });
        let shown = format!("Bearer {token}");
        assert_eq!(http.post("/api/tools/memory", &[("Authorization", &shown)], &view).0, 200);
        assert_eq!(http.post("/api/tools/memory", &[("Authorization", "")], &view).0, 401);
        assert_eq!(http.post("/api/tools/memory", &[("Authorization", "Bearer x")], &view).0, 401);
    }
    let open = ["serve", "--bind", "0.0.0.0:0", "--no-token"];
    home.fails(
        &open,
        3,
        &[
            "can be reached from other machines, so a token is needed",
            "hint: leave out `--no-token`, or bind to 127.0.0.1",
        ],
    );
    let bare = Home::bare();
    bare.fails(&open, 3, &["a token is needed"]);
    assert!(!bare.file("main").exists(), "refused before a vault is made");
    home.fails(&["serve", "--token-file", "none"], 3, &["no token file none", "hint:"]);
    assert_eq!(home.run_with(&[("MEMORANDA_TOKEN", "short")], &["serve"]).code, 3);
    home.fails(&["serve", "--bind", "nonsense"], 2, &["127.0.0.1:7337"]);
    home.fails(&["config", "set", "serve.bind", "nonsense"], 2, &["an address with a port"]);
}

#[test]
fn memories_that_are_there_come_along_to_another_folder() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, &[]);
    client.done(json!({ "command": "create", "path": "/memories/a/b.md", "file_text": "one\n" }));
    client.close();
    let own = home.path().join("own");
    std::fs::create_dir_all(&own).unwrap();
    let own = own.to_str().unwrap();
    home.fails(
        &["project", "add", "memories", own],
        4,
        &["1 of", "would no longer be seen", "memoranda project add memories DIR --move"],
    );
    assert!(home.ok(&["project", "add", "memories", own, "--move"]).contains("(1 note)"));
    let mut client = Client::open(&home, ERA, &[]);
    let seen = client.done(json!({ "command": "view", "path": "/memories/a/b.md" }));
    assert!(seen.ends_with("     1\tone\n     2\t"), "{seen}");
    client.close();
    let log = home.json(&["log"]);
    assert_eq!(log["commits"].as_array().unwrap().len(), 1, "{log}");
}

#[test]
fn whatever_is_read_is_in_use() {
    let home = Home::new();
    let mut client = Client::open(&home, ERA, &[]);
    let names = ["viewed", "shown", "read", "context", "renamed", "unused"];
    for name in names {
        let path = format!("/memories/old/{name}.md");
        client.done(json!({ "command": "create", "path": path, "file_text": "# Old\n" }));
        let file = std::fs::OpenOptions::new().write(true).open(home.file(&path[1..])).unwrap();
        let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        file.set_modified(long_ago).unwrap();
    }
    home.ok(&["scan"]);
    let plan = || home.json(&["expire", "--days", "90", "--dry-run"]).to_string();
    assert!(names.iter().all(|name| plan().contains(&format!("{name}.md"))), "{}", plan());
    client.done(json!({ "command": "view", "path": "/memories/old/viewed.md" }));
    client.done(json!({
        "command": "rename", "old_path": "/memories/old/renamed.md",
        "new_path": "/memories/old/kept.md",
    }));
    home.ok(&["show", "--project", "memories", "old/shown.md"]);
    client.result("resources/read", json!({ "uri": "memoranda://memories/old/read" }));
    let context = json!({ "url": "memory://old/context", "project": "memories" });
    client.result("tools/call", json!({ "name": "build_context", "arguments": context }));
    let left = plan();
    assert!(left.contains("unused.md"), "{left}");
    for name in ["viewed", "shown", "read", "context", "renamed", "kept"] {
        assert!(!left.contains(&format!("{name}.md")), "{name}: {left}");
    }
}
