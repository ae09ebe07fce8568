//! Records over real stdio: every example of the specification, every scope, every way to lose
//! something.

use std::path::Path;

use serde_json::{Value, json};

use super::client::{Client, Era, Http};
use super::support::Home;

const ERA: Era = Era::Handshake("2025-06-18");
pub(super) const SHOP: &str = "github.com/acme/shop";

/// A home that is a repository with a remote.
pub(super) fn home() -> Home {
    let home = Home::new();
    remote(&home, "git@github.com:acme/shop.git");
    home
}

pub(super) fn remote(home: &Home, url: &str) {
    let git = home.path().join(".git");
    std::fs::create_dir_all(&git).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(git.join("config"), format!("[remote \"origin\"]\n\turl = {url}\n")).unwrap();
}

pub(super) fn records(home: &Home) -> Client {
    Client::open(home, ERA, &["--toolsets", "records,sessions"])
}

/// A tool's text, its structure, and whether it is an error.
#[track_caller]
pub(super) fn call(client: &mut Client, name: &str, arguments: Value) -> (String, Value, bool) {
    let mut call = json!({ "name": name });
    call["arguments"] = arguments;
    let result = client.result("tools/call", call);
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (text, result["structuredContent"].clone(), result["isError"].as_bool().unwrap())
}

#[track_caller]
pub(super) fn done(client: &mut Client, name: &str, arguments: Value) -> (String, Value) {
    let asked = arguments.to_string();
    let (text, structured, is_error) = call(client, name, arguments);
    assert!(!is_error, "{name} {asked}: {text}");
    (text, structured)
}

#[track_caller]
pub(super) fn add(client: &mut Client, arguments: Value) -> String {
    done(client, "add_memory", arguments).1["id"].as_str().unwrap().to_owned()
}

#[track_caller]
pub(super) fn refused(client: &mut Client, name: &str, arguments: Value, words: &str) {
    let asked = arguments.to_string();
    let (text, structured, is_error) = call(client, name, arguments);
    assert!(is_error && text.contains(words), "{name} {asked}: {text}");
    assert_eq!(structured["is_error"], true);
}

#[test]
fn every_example_of_the_specification() {
    let home = home();
    let mut client = records(&home);
    let strict = json!({ "content": "Always use TypeScript strict mode", "type": "rule",
        "global": true });
    add(&mut client, strict);
    add(&mut client, json!({ "content": "Run migrations in a transaction", "type": "rule" }));
    let drizzle = add(
        &mut client,
        json!({ "content": "Chose Drizzle ORM for type-safe migrations", "type": "decision" }),
    );
    let postgres = add(
        &mut client,
        json!({ "content": "Production database is PostgreSQL 15 on Supabase", "type": "fact" }),
    );
    let (text, structured) =
        done(&mut client, "get_context", json!({ "query": "database migration" }));
    let date = &structured["memories"][0]["created"].as_str().unwrap()[..10];
    let decision = format!(
        "💡 DECISION (P) {drizzle}: Chose Drizzle ORM for type-safe migrations (decided {date})\n"
    );
    let fact =
        format!("📋 FACT (P) {postgres}: Production database is PostgreSQL 15 on Supabase\n");
    assert!(text.starts_with(
        "## Project Rules\n- Run migrations in a transaction\n\n\
         ## Global Rules\n- Always use TypeScript strict mode\n\n\
         ## Relevant Memories\n"
    ));
    assert!(text.contains(&decision) && text.contains(&fact), "{text}");
    assert!(text.ends_with("\nScope: project github.com/acme/shop and global"), "{text}");
    assert_eq!(structured["project"], SHOP);
    let (rules_only, _) = done(&mut client, "get_context", json!({}));
    assert!(!rules_only.contains("Relevant") && rules_only.contains("strict mode"));

    let limit = json!({
        "content": "API rate limit is 100 requests per minute", "type": "fact",
        "project_id": "github.com/webrenew/agent-space", "tags": ["api", "limits"]
    });
    let (text, structured) = done(&mut client, "add_memory", limit);
    assert_eq!(
        text.lines().next(),
        Some(
            "Stored fact (project: github.com/webrenew/agent-space): \
             API rate limit is 100 requests per minute"
        )
    );
    let id = structured["id"].as_str().unwrap();
    let path = format!("records/projects/github.com-webrenew-agent-space/fact/{id}.md");
    assert_eq!(structured["path"], path.as_str());
    assert!(home.file(&path).is_file() && text.contains(&path));

    add(
        &mut client,
        json!({ "content": "Chose JWT for stateless authentication (auth)",
        "type": "decision", "global": true }),
    );
    add(
        &mut client,
        json!({ "content": "Always use bcrypt for password hashing in auth",
        "type": "decision" }),
    );
    add(&mut client, json!({ "content": "auth is slow", "type": "note" }));
    let (text, structured) =
        done(&mut client, "search_memories", json!({ "query": "auth", "type": "decision" }));
    assert!(text.starts_with("Found 2 memories:\n💡 DECISION ("), "{text}");
    assert!(text.contains("(G)") && text.contains("(P)") && !text.contains("slow"));
    assert_eq!(structured["count"], 2);

    add(&mut client, json!({ "content": "Use pnpm as package manager", "type": "rule" }));
    let (text, _) = done(&mut client, "get_rules", json!({}));
    assert_eq!(
        text,
        "## Project Rules\n- Run migrations in a transaction\n- Use pnpm as package manager\n\n\
         ## Global Rules\n- Always use TypeScript strict mode\n\n\
         Scope: project github.com/acme/shop and global"
    );

    let (text, structured) = done(
        &mut client,
        "bulk_forget_memories",
        json!({ "types": ["note", "fact"], "dry_run": true }),
    );
    assert!(
        text.starts_with("Found 2 memories matching filters (dry run — nothing deleted)\n"),
        "{text}"
    );
    assert_eq!(structured["count"], 2);
    assert!(structured["memories"][0]["contentPreview"].is_string());
    let old = json!({ "types": ["note", "fact"], "older_than_days": 90, "dry_run": true });
    assert_eq!(done(&mut client, "bulk_forget_memories", old).1["count"], 0);
    let all = json!({ "types": ["note", "fact"] });
    let (text, structured) = done(&mut client, "bulk_forget_memories", all);
    assert!(text.starts_with("Bulk deleted 2 memories\n"), "{text}");
    assert_eq!(structured["ids"].as_array().unwrap().len(), 2);
    let (text, structured) = done(&mut client, "vacuum_memories", json!({}));
    assert!(text.starts_with("Vacuumed 2 soft-deleted memories"), "{text}");
    assert_eq!(structured["purged"], 2);
    assert_eq!(structured["message"], "Vacuumed 2 soft-deleted memories");
    assert_eq!(done(&mut client, "vacuum_memories", json!({})).1["purged"], 0);
}

#[test]
fn the_streaming_workflow_survives_a_restart_and_works_over_http() {
    let home = home();
    let mut client = records(&home);
    let start = json!({ "type": "note", "tags": ["v0"],
        "project_id": "github.com/webrenew/agent-space" });
    let (text, structured) = done(&mut client, "start_memory_stream", start);
    let id = structured["stream_id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("stream_") && text.starts_with(&format!("{id}\n")));
    let (text, _) = done(
        &mut client,
        "append_memory_chunk",
        json!({ "stream_id": id, "chunk": "First part..." }),
    );
    assert_eq!(text, "1 chunk, 13 chars");
    client.kill();
    let mut client = records(&home);
    let seen = json!({ "project_id": "github.com/webrenew/agent-space" });
    let (text, _) = done(&mut client, "get_context", seen);
    assert!(text.contains(&format!("Unfinished streams: {id} (1 chunk, 13 chars)")), "{text}");
    assert!(!done(&mut client, "get_context", json!({})).0.contains(&id), "another project's");
    let http = Http::start(&home, &["--toolsets", "records"], &[]);
    let over_http = |name: &str, arguments: Value| {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": name, "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {} } } });
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", name),
        ];
        let (status, body) = http.post("/mcp", &headers, &call);
        assert_eq!(status, 200, "{body}");
        body["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let second = json!({ "stream_id": id, "chunk": "Second part..." });
    assert_eq!(over_http("append_memory_chunk", second), "2 chunks, 27 chars");
    let (text, structured) =
        done(&mut client, "finalize_memory_stream", json!({ "stream_id": id }));
    let made = structured["id"].as_str().unwrap();
    let first = format!("Created 📝 NOTE {made} from 2 chunks (27 chars)");
    assert_eq!(text.lines().next(), Some(first.as_str()));
    let path = structured["path"].as_str().unwrap();
    let file = String::from_utf8(home.read(path)).unwrap();
    assert!(file.contains("\nFirst part...Second part...\n") && file.contains("v0"), "{file}");
    assert!(!home.file(&format!("records/.streams/{id}")).join("stream.md").exists());
    refused(
        &mut client,
        "append_memory_chunk",
        json!({ "stream_id": id, "chunk": "x" }),
        "not found",
    );

    let (_, structured) = done(&mut client, "start_memory_stream", json!({}));
    let id = structured["stream_id"].as_str().unwrap().to_owned();
    done(&mut client, "append_memory_chunk", json!({ "stream_id": id, "chunk": "né" }));
    let (text, _) = done(&mut client, "cancel_memory_stream", json!({ "stream_id": id }));
    assert_eq!(text, format!("Cancelled stream {id} (discarded 1 chunk, 2 chars)."));
    let (_, structured) = done(&mut client, "start_memory_stream", json!({}));
    let id = structured["stream_id"].as_str().unwrap().to_owned();
    let (text, _) = done(&mut client, "finalize_memory_stream", json!({ "stream_id": id }));
    assert_eq!(text, format!("Stream {id} was empty - no memory created."));
    for id in ["stream_x", "../../x", "stream_/../../x", ""] {
        refused(
            &mut client,
            "append_memory_chunk",
            json!({ "stream_id": id, "chunk": "x" }),
            "not found",
        );
    }
    // A day after the last chunk it is gone, and said to be.
    let (_, structured) = done(&mut client, "start_memory_stream", json!({}));
    let id = structured["stream_id"].as_str().unwrap().to_owned();
    let head = format!("records/.streams/{id}/stream.md");
    let text = String::from_utf8(home.read(&head)).unwrap();
    let aged: String = text
        .lines()
        .map(|line| {
            if line.starts_with("touched:") {
                "touched: 2026-01-01T00:00:00Z\n".to_owned()
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    home.write(&head, aged);
    refused(
        &mut client,
        "append_memory_chunk",
        json!({ "stream_id": id, "chunk": "x" }),
        "expired",
    );
    let (text, _) = done(&mut client, "start_memory_stream", json!({}));
    assert!(text.contains(&format!("Expired and discarded: {id}")), "{text}");
    let big = "x".repeat(100_001);
    let (_, structured) = done(&mut client, "start_memory_stream", json!({}));
    refused(
        &mut client,
        "append_memory_chunk",
        json!({ "stream_id": structured["stream_id"], "chunk": big }),
        "at most 100000",
    );
}

#[test]
fn every_refusal_says_what_to_do() {
    let home = home();
    let mut client = records(&home);
    let id = add(&mut client, json!({ "content": "x" }));
    for (name, arguments, words) in [
        ("add_memory", json!({}), "needs `content`"),
        ("add_memory", json!({ "content": "  " }), "is empty"),
        (
            "add_memory",
            json!({ "content": "x", "global": true, "project_id": "a/b" }),
            "Cannot set both global=true and project_id. Choose one scope.",
        ),
        ("add_memory", json!({ "content": "x", "type": "todo" }), "one of rule, decision"),
        ("add_memory", json!({ "content": "x", "paths": ["a[", "b"] }), "no glob pattern"),
        ("add_memory", json!({ "content": "x", "expires": "soon" }), "`expires` of add_memory"),
        ("add_memory", json!({ "content": "x", "colour": 1 }), "no parameter \"colour\""),
        ("add_memory", json!({ "content": "x", "supersedes": ["nope"] }), "nope not found"),
        ("edit_memory", json!({ "id": id }), "Nothing to update. Provide at least one of:"),
        ("edit_memory", json!({ "id": "nope", "content": "y" }), "Memory nope not found"),
        ("forget_memory", json!({ "id": "nope" }), "Memory nope not found"),
        ("bulk_forget_memories", json!({}), "at least one filter"),
        ("bulk_forget_memories", json!({ "dry_run": true }), "at least one filter"),
        ("bulk_forget_memories", json!({ "project_id": SHOP }), "at least one filter"),
        (
            "bulk_forget_memories",
            json!({ "all": true, "types": ["note"] }),
            "Cannot combine all:true with other filters.",
        ),
        ("bulk_forget_memories", json!({ "older_than_days": 0 }), "whole number from 1"),
        ("bulk_forget_memories", json!({ "types": ["todo"] }), "a list of rule"),
        ("restore_memory", json!({ "id": id }), "not deleted"),
        ("restore_memory", json!({ "id": "nope" }), "No deleted memory"),
        ("search_memories", json!({ "query": "?!" }), "nothing to search for"),
        (
            "add_reminder",
            json!({ "cron_expression": "0 9 * * funday", "message": "x" }),
            "the day-of-week field \"funday\" is wrong",
        ),
        ("add_reminder", json!({ "cron_expression": "0 0 30 2 *", "message": "x" }), "never comes"),
        ("delete_reminder", json!({ "id": "nope" }), "Reminder nope not found"),
        ("checkpoint_session", json!({ "session_id": "nope", "content": "x" }), "not found"),
    ] {
        refused(&mut client, name, arguments, words);
    }
    assert_eq!(done(&mut client, "list_memories", json!({})).1["count"], 1);
}

#[test]
fn every_read_path_in_every_scope_shows_its_own_and_nothing_else() {
    let home = home();
    let mut client = records(&home);
    // Two names that lie in one folder, a plain one, and the global scope.
    let scopes = ["h/a-b/c", "h/a/b-c", SHOP, "global"];
    for (n, scope) in scopes.iter().enumerate() {
        for kind in ["rule", "decision", "fact", "note", "skill"] {
            let mut record = json!({ "type": kind, "content": format!("shared{n} {kind} walrus") });
            match *scope {
                "global" => record["global"] = json!(true),
                scope => record["project_id"] = json!(scope),
            }
            add(&mut client, record);
        }
        let mut reminder =
            json!({ "cron_expression": "0 9 * * *", "message": format!("shared{n} reminder") });
        match *scope {
            "global" => reminder["global"] = json!(true),
            scope => reminder["project_id"] = json!(scope),
        }
        let id = done(&mut client, "add_reminder", reminder).1["path"].clone();
        // Due since long.
        let path = id.as_str().unwrap();
        let text = String::from_utf8(home.read(path)).unwrap();
        let since = text.lines().find(|line| line.starts_with("since:")).unwrap();
        home.write(path, text.replace(since, "since: 2026-01-01T00:00:00Z"));
    }
    home.ok(&["scan"]);
    let reads = [
        ("get_context", json!({ "query": "walrus", "limit": 50 })),
        ("search_memories", json!({ "query": "walrus", "limit": 100 })),
        ("list_memories", json!({ "limit": 200 })),
        ("get_rules", json!({})),
        ("list_reminders", json!({})),
        ("run_due_reminders", json!({ "dry_run": true })),
        ("bulk_forget_memories", json!({ "pattern": "walrus", "dry_run": true })),
        ("restore_memory", json!({})),
        ("consolidate_memories", json!({ "dry_run": true })),
    ];
    let check = |client: &mut Client, asked: Option<&str>, visible: &[usize]| {
        for (name, arguments) in &reads {
            let mut arguments = arguments.clone();
            if let Some(project) = asked {
                arguments["project_id"] = json!(project);
            }
            let (text, mut structured) = done(client, name, arguments);
            // Behind the records come memories of other repositories, with their names, unless the
            // call names a repository.
            let (text, elsewhere) = match text.split_once("\n## Elsewhere in Memory") {
                None => (text, String::new()),
                Some((before, behind)) => {
                    let end = behind.find("\n## ").unwrap_or(behind.len());
                    let (elsewhere, after) = behind.split_at(end);
                    (format!("{before}{after}"), elsewhere.to_owned())
                }
            };
            structured.as_object_mut().unwrap().remove("elsewhere");
            assert!(asked.is_none() || elsewhere.is_empty(), "{name} for {asked:?}: {elsewhere}");
            let items = elsewhere.lines().filter(|line| line.starts_with("- "));
            for item in items {
                assert!(["h/a-b/c", "h/a/b-c", SHOP].iter().any(|of| item.contains(of)), "{item}");
            }
            let told = format!("{text}{structured}");
            // A bulk deletion in a named project is of that project alone.
            let own_only = *name == "bulk_forget_memories" && asked.is_some();
            let silent = ["restore_memory", "consolidate_memories"].contains(name);
            for (n, scope) in scopes.iter().enumerate() {
                let expected = !silent && visible.contains(&n) && !(own_only && n == 3);
                let found = told.contains(&format!("shared{n}"));
                assert_eq!(found, expected, "{name} for {asked:?} and {scope}: {text}");
            }
        }
    };
    check(&mut client, None, &[2, 3]);
    check(&mut client, Some("h/a-b/c"), &[0, 3]);
    check(&mut client, Some("H/A/b-c"), &[1, 3]);
    check(&mut client, Some("https://github.com/acme/shop.git"), &[2, 3]);
    check(&mut client, Some("github.com/acme/other"), &[3]);
    // Every spelling of the remote is the same project; none is the global scope.
    drop(client);
    for url in ["https://github.com/acme/shop", "ssh://git@github.com/acme/shop.git"] {
        remote(&home, url);
        check(&mut records(&home), None, &[2, 3]);
    }
    std::fs::remove_dir_all(home.path().join(".git")).unwrap();
    check(&mut records(&home), None, &[3]);
}

#[test]
fn a_file_by_hand_is_a_rule_and_stays_as_written() {
    let home = home();
    let by_hand = "Never push to main.\r\n\r\nAsk first.\r\n";
    home.write("records/global/rule/no-push.md", by_hand);
    home.write(
        "records/projects/github.com-acme-shop/rule/api.md",
        "---\n# mine\npaths: [\"src/api/**\", '*.sql']\nowner: me\n---\nValidate input\n",
    );
    home.ok(&["scan"]);
    let mut client = records(&home);
    let (text, _) = done(&mut client, "get_rules", json!({}));
    assert!(text.contains("- Validate input (only for paths: src/api/**, *.sql)\n"), "{text}");
    assert!(text.contains("- Never push to main."), "{text}");
    for (files, expected) in [
        (json!(["src/api/x.ts"]), true),
        (json!([home.path().join("src/api/x.ts")]), true),
        (json!(["db/deep/x.sql"]), true),
        (json!(["src/web/x.ts"]), false),
    ] {
        let (text, _) = done(&mut client, "get_context", json!({ "files": files }));
        assert_eq!(text.contains("Validate input"), expected, "{files}: {text}");
        assert_eq!(text.contains("1 rule for other files is left out"), !expected, "{text}");
        assert!(text.contains("Never push"));
    }
    assert_eq!(home.read("records/global/rule/no-push.md"), by_hand.as_bytes());
    done(&mut client, "edit_memory", json!({ "id": "api", "tags": ["db"] }));
    let file = home.read("records/projects/github.com-acme-shop/rule/api.md");
    let file = String::from_utf8(file).unwrap();
    assert!(
        file.starts_with("---\n# mine\npaths: [\"src/api/**\", '*.sql']\nowner: me\n"),
        "{file}"
    );
    assert!(file.ends_with("---\nValidate input\n"), "{file}");
}

#[test]
fn records_are_edited_superseded_and_expire() {
    let home = home();
    let mut client = records(&home);
    let metadata = json!({ "steps": 3, "name": "deploy" });
    let id = add(
        &mut client,
        json!({ "content": "Deploy with make", "type": "skill", "category": "ops",
            "metadata": metadata, "tags": ["a", "b"] }),
    );
    let (text, structured) =
        done(&mut client, "edit_memory", json!({ "id": id, "content": "Deploy with just" }));
    assert!(text.starts_with(&format!("Updated 🔧 SKILL {id}: Deploy with just\n")), "{text}");
    assert_eq!(structured["metadata"], metadata);
    assert!(structured["commit"].is_string());
    let change =
        json!({ "id": id, "type": "note", "category": null, "metadata": null, "tags": [] });
    let (_, structured) = done(&mut client, "edit_memory", change);
    assert_eq!(structured["type"], "note");
    for gone in ["category", "metadata", "tags"] {
        assert!(structured.get(gone).is_none(), "{gone}");
    }
    let path = format!("records/projects/github.com-acme-shop/note/{id}.md");
    assert_eq!(structured["path"], path.as_str());
    let (text, _) = done(&mut client, "search_memories", json!({ "query": id }));
    assert!(text.contains("📝 NOTE (P)") && text.contains("Deploy with just"), "{text}");

    let old = add(&mut client, json!({ "content": "Walrus limit is 5", "type": "fact" }));
    let new = add(
        &mut client,
        json!({ "content": "Walrus limit is 9", "type": "fact", "supersedes": [old] }),
    );
    // It was true until its day came.
    let out = add(&mut client, json!({ "content": "Walrus is out", "type": "fact" }));
    drop(client);
    let out = format!("records/projects/github.com-acme-shop/fact/{out}.md");
    let text = String::from_utf8(home.read(&out)).unwrap();
    home.write(&out, text.replacen("---\n", "---\nexpires: 2026-01-01\n", 1));
    home.ok(&["scan"]);
    let mut client = records(&home);
    for (name, arguments) in [
        ("search_memories", json!({ "query": "walrus" })),
        ("get_context", json!({ "query": "walrus" })),
        ("list_memories", json!({ "type": "fact" })),
    ] {
        let (text, _) = done(&mut client, name, arguments);
        assert!(text.contains("is 9") && !text.contains("is 5") && !text.contains("out"), "{text}");
    }
    let all = json!({ "type": "fact", "include_inactive": true });
    let (text, _) = done(&mut client, "list_memories", all);
    assert!(
        text.contains(&format!("(superseded by {new})")) && text.contains("(expires"),
        "{text}"
    );

    let long = "word ".repeat(1000);
    let id = add(&mut client, json!({ "content": long }));
    let (text, _) = done(&mut client, "list_memories", json!({ "type": "note", "limit": 1 }));
    assert!(text.contains(&format!("search_memories {{\"query\": \"{id}\"}}")), "{text}");
    assert!(text.contains("[there are more; list_memories {\"limit\": 2}"), "{text}");
    let (text, _) = done(&mut client, "search_memories", json!({ "query": id }));
    assert!(text.contains(long.trim()));
    let paragraphs =
        format!("# Plan\n\n\n{long}\n\n```\na\n\n\nb\n```\n  - x\n\n{long}").trim().to_owned();
    let id = add(&mut client, json!({ "content": paragraphs }));
    let (_, structured) = done(&mut client, "search_memories", json!({ "query": id }));
    assert_eq!(structured["memories"][0]["content"], paragraphs);
    let (text, _) =
        done(&mut client, "get_context", json!({ "query": "word walrus", "budget_tokens": 30 }));
    assert!(text.contains("did not fit budget_tokens"), "{text}");
}

#[test]
fn what_an_agent_purges_is_gone_for_tools_and_kept_for_the_person() {
    let home = home();
    let mut client = Client::open(&home, ERA, &["--toolsets", "records,notes"]);
    let (_, added) = done(&mut client, "add_memory", json!({ "content": "The heron nests" }));
    let (id, commit) = (added["id"].as_str().unwrap(), added["commit"].clone());
    let path = added["path"].as_str().unwrap().strip_prefix("records/").unwrap();
    let (_, forgotten) = done(&mut client, "forget_memory", json!({ "id": id }));
    let then = json!({ "identifier": path, "project": "records", "as_of": commit });
    assert!(done(&mut client, "read_note", then.clone()).0.contains("The heron nests"));
    let (text, structured) = done(&mut client, "vacuum_memories", json!({}));
    assert_eq!(structured["purged"], 1);
    assert!(text.contains("The person can restore them for 30 days"), "{text}");

    refused(&mut client, "restore_memory", json!({ "id": id }), "No deleted memory");
    refused(
        &mut client,
        "restore_memory",
        json!({ "commit": forgotten["commit"] }),
        "No deleted memory",
    );
    assert!(done(&mut client, "restore_memory", json!({})).0.starts_with("Nothing to restore"));
    refused(&mut client, "forget_memory", json!({ "id": id }), "search_memories and list_memories");
    let (text, _, is_error) = call(&mut client, "read_note", then);
    assert!(is_error && !text.contains("heron nests"), "{text}");
    assert_eq!(done(&mut client, "vacuum_memories", json!({})).1["purged"], 0);

    let log = home.ok(&["log"]);
    assert!(log.contains("purged 1 deleted record"), "{log}");
    let purge = home.json(&["log", "-n", "1"])["commits"][0].clone();
    assert_eq!((&purge["kind"], &purge["tool"]), (&json!("purge"), &json!("vacuum_memories")));
    let purge = purge["id"].as_str().unwrap();
    home.fails(&["undo", purge, "-y"], 2, &["a purge cannot be undone"]);

    home.ok(&["restore", &format!("records/{path}")]);
    let (text, _) = done(&mut client, "search_memories", json!({ "query": "heron" }));
    assert!(text.contains(id), "{text}");
    // Forgotten again, it is not purged yet.
    done(&mut client, "forget_memory", json!({ "id": id }));
    done(&mut client, "restore_memory", json!({ "id": id }));
}

#[test]
fn a_persons_vacuum_removes_at_once_and_leaves_a_line() {
    let home = home();
    home.ok(&["add", "quartzfish swims"]);
    home.ok(&["rm", "quartzfish swims", "-y"]);
    home.ok(&["vacuum", "--older-than", "now", "-y"]);
    assert_eq!(holds(&home.file(".memoranda"), b"quartzfish"), Vec::<String>::new());
    let last = home.json(&["log", "-n", "1"])["commits"][0].clone();
    assert_eq!((&last["kind"], &last["tool"]), (&json!("purge"), &json!("vacuum")), "{last}");
    assert!(home.ok(&["log"]).contains("purged 1 version (1 deleted note)"));
    home.ok(&["doctor"]);
    assert!(home.ok(&["vacuum", "--older-than", "now", "-y"]).contains("Nothing to purge"));
}

/// Returns the files of a home that contain these bytes.
fn holds(folder: &Path, needle: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holds(&path, needle));
        } else if std::fs::read(&path).unwrap().windows(needle.len()).any(|bytes| bytes == needle) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn what_is_forgotten_comes_back_until_it_is_vacuumed_to_the_last_byte() {
    let home = home();
    home.ok(&["config", "set", "records.purge_days", "0"]);
    let mut client = records(&home);
    let (first, second) = ("quartzfish-7781", "velvetmoth-3309");
    let id = add(&mut client, json!({ "content": format!("Key word {first}"), "type": "fact" }));
    let edit = json!({ "id": id, "content": format!("Key word {second}"), "type": "decision" });
    done(&mut client, "edit_memory", edit);
    let stays = add(&mut client, json!({ "content": "Stays: heronpost-5512" }));
    let before = home.read(&format!("records/projects/github.com-acme-shop/decision/{id}.md"));
    let (text, structured) = done(&mut client, "forget_memory", json!({ "id": id }));
    assert!(text.starts_with(&format!("Forgot memory {id}")) && structured["commit"].is_string());
    let (text, _) = done(&mut client, "search_memories", json!({ "query": second }));
    assert!(text.starts_with("No memories match"), "{text}");
    refused(&mut client, "forget_memory", json!({ "id": id }), "restore_memory brings it back");
    let (text, _) = done(&mut client, "restore_memory", json!({}));
    assert!(text.contains(&id) && text.contains(second), "{text}");
    let (text, _) = done(&mut client, "restore_memory", json!({ "id": id }));
    assert!(text.starts_with(&format!("Restored 💡 DECISION {id}: Key word {second}")), "{text}");
    let after = home.read(&format!("records/projects/github.com-acme-shop/decision/{id}.md"));
    assert_eq!(before, after);
    let (_, structured) =
        done(&mut client, "bulk_forget_memories", json!({ "pattern": "k?y*moth" }));
    assert_eq!(structured["ids"], json!([id]));
    let commit = structured["commit"].clone();
    done(&mut client, "restore_memory", json!({ "commit": commit }));
    assert!(done(&mut client, "search_memories", json!({ "query": second })).0.contains(&id));
    done(&mut client, "forget_memory", json!({ "id": id }));
    for word in [first, second] {
        assert!(!holds(home.path(), word.as_bytes()).is_empty(), "nothing to purge: {word}");
    }
    let (_, structured) = done(&mut client, "vacuum_memories", json!({}));
    assert_eq!(structured["purged"], 1);
    client.close();
    for word in [first, second] {
        assert_eq!(holds(home.path(), word.as_bytes()), Vec::<String>::new(), "{word}");
    }
    assert!(!holds(home.path(), b"heronpost-5512").is_empty());
    let mut client = records(&home);
    refused(&mut client, "restore_memory", json!({ "id": id }), "No deleted memory");
    assert!(done(&mut client, "list_memories", json!({})).0.contains(&stays));
    home.ok(&["doctor"]);
}

#[test]
fn reminders_are_due_once_however_many_runs_were_missed() {
    let home = home();
    let mut client = records(&home);
    let (text, structured) = done(
        &mut client,
        "add_reminder",
        json!({ "cron_expression": "0  9 * * MON-FRI", "message": "Stand-up" }),
    );
    let id = structured["id"].as_str().unwrap().to_owned();
    let path = structured["path"].as_str().unwrap().to_owned();
    assert!(text.starts_with(&format!("Created reminder {id} (project: {SHOP}) next at ")));
    let (text, _) = done(&mut client, "run_due_reminders", json!({}));
    assert!(text.starts_with("No due reminders (1 active checked)."), "{text}");
    // By hand, and since long: a person needs nothing but `cron` and a text.
    home.write(
        "records/global/reminder/rent.md",
        "---\ncron: 0 8 1 * *\nsince: 2026-01-15T00:00:00Z\n---\nPay the rent\n",
    );
    home.write("records/global/reminder/bad.md", "---\ncron: every day\n---\nNo\n");
    home.ok(&["scan"]);
    let (text, _) = done(&mut client, "get_context", json!({}));
    assert!(text.contains(
        "## Due Reminders\n- rent (global): Pay the rent (due since 2026-02-01 08:00 UTC; "
    ));
    let (text, structured) = done(&mut client, "run_due_reminders", json!({ "dry_run": true }));
    assert!(text.starts_with("1 reminder(s) due (dry run — schedule not advanced):"), "{text}");
    let runs = structured["reminders"][0]["runs"].as_u64().unwrap();
    assert!(runs >= 2 && text.contains(&format!("{runs} runs missed, shown once")), "{text}");
    let (text, _) = done(&mut client, "list_reminders", json!({}));
    assert!(text.starts_with("3 reminders:\n- rent [due] 0 8 1 * * :: Pay the rent (next: "));
    assert!(text.contains(&format!("- {id} [enabled] 0 9 * * MON-FRI :: Stand-up")), "{text}");
    assert!(text.contains("- bad [broken] every day :: No (next: \"every day\" has 2 fields"));
    let shown = home.json(&["reminders", "--due"]);
    assert_eq!(shown["reminders"][0]["id"], "rent");

    // Of several who ask at once, one gets it.
    let mut clients: Vec<Client> = (0..4).map(|_| records(&home)).collect();
    let answers: Vec<String> = std::thread::scope(|scope| {
        let ask = |client| {
            let client: &mut Client = client;
            scope.spawn(move || done(client, "run_due_reminders", json!({})).0)
        };
        let asked: Vec<_> = clients.iter_mut().map(ask).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let triggered = answers.iter().filter(|text| text.starts_with("Triggered 1 reminder(s):"));
    assert_eq!(triggered.count(), 1, "{answers:?}");
    let (text, _) = done(&mut client, "get_context", json!({}));
    assert!(!text.contains("Due Reminders"), "{text}");

    let (text, _) = done(&mut client, "disable_reminder", json!({ "id": id }));
    assert!(text.starts_with(&format!("Disabled reminder {id}.")));
    let text = String::from_utf8(home.read(&path)).unwrap();
    let since = text.lines().find(|line| line.starts_with("since:")).unwrap();
    home.write(&path, text.replace(since, "since: 2026-01-01T00:00:00Z"));
    home.ok(&["scan"]);
    let (text, _) = done(&mut client, "list_reminders", json!({}));
    assert!(!text.contains(&id) && text.contains("[1 disabled: include_disabled"), "{text}");
    let (text, _) = done(&mut client, "list_reminders", json!({ "include_disabled": true }));
    assert!(text.contains(&format!("- {id} [disabled]")), "{text}");
    // Occurrences missed while the reminder was disabled are not due.
    let (text, _) = done(&mut client, "enable_reminder", json!({ "id": id }));
    assert!(text.starts_with(&format!("Enabled reminder {id}. Next trigger: 20")), "{text}");
    let (text, _) = done(&mut client, "run_due_reminders", json!({}));
    assert!(text.starts_with("No due reminders"), "{text}");
    let (text, _) = done(&mut client, "delete_reminder", json!({ "id": id }));
    assert!(text.starts_with(&format!("Deleted reminder {id}.")));
    assert!(!home.file(&path).exists());
}

#[test]
fn reminders_from_the_command_line() {
    let home = home();
    let added = home.json(&["reminders", "add", "--global", "@monthly", "Send the invoice"]);
    let id = added["id"].as_str().unwrap();
    assert_eq!(added["scope"], "global");
    let listed = home.ok(&["reminders", "--plain"]);
    assert!(listed.contains(id) && listed.contains("Send the invoice"), "{listed}");
    home.fails(&["reminders", "add", "99 * * * *", "x"], 2, &["minute field", "99"]);
    home.fails(&["reminders", "rm", "nope"], 1, &["nope"]);
    assert!(home.ok(&["reminders", "run"]).starts_with("No due reminders"));
    home.ok(&["reminders", "disable", id]);
    assert_eq!(home.json(&["reminders"])["reminders"][0]["enabled"], false);
    home.ok(&["reminders", "enable", id]);
    home.ok(&["reminders", "rm", id]);
    assert_eq!(home.json(&["reminders"])["reminders"], json!([]));
}

#[test]
fn sessions_are_kept_and_memories_consolidated() {
    let home = home();
    let mut client = records(&home);
    let (text, structured) =
        done(&mut client, "start_session", json!({ "title": "Fix login", "client": "test" }));
    let id = structured["session_id"].as_str().unwrap().to_owned();
    assert!(text.starts_with(&format!("Started session {id} (project: {SHOP})\n")), "{text}");
    for (n, content, meaningful) in [(1, "Found the bug", true), (2, "ran ls", false)] {
        let checkpoint =
            json!({ "session_id": id, "content": content, "is_meaningful": meaningful });
        let (text, _) = done(&mut client, "checkpoint_session", checkpoint);
        assert!(text.starts_with(&format!("Checkpointed session {id} with event e{n}\n")));
    }
    let snapshot = json!({ "session_id": id, "slug": "login fix" });
    let (text, structured) = done(&mut client, "snapshot_session", snapshot);
    assert!(text.contains("(login-fix) for session"), "{text}");
    let file = home.read(structured["path"].as_str().unwrap());
    let file = String::from_utf8(file).unwrap();
    assert!(file.contains("Found the bug") && !file.contains("ran ls"), "{file}");
    let (text, _) = done(&mut client, "end_session", json!({ "session_id": id }));
    assert!(text.starts_with(&format!("Ended session {id} as closed\n")), "{text}");
    refused(
        &mut client,
        "checkpoint_session",
        json!({ "session_id": id, "content": "x" }),
        "has ended (closed)",
    );

    let old = add(&mut client, json!({ "content": "Rate limit: 100", "type": "fact" }));
    let new = add(&mut client, json!({ "content": "Rate limit: 200", "type": "fact" }));
    let one = add(&mut client, json!({ "content": "Always use npm", "type": "fact" }));
    let other = add(&mut client, json!({ "content": "Never use npm", "type": "fact" }));
    add(&mut client, json!({ "content": "Uses Redis", "type": "fact" }));
    let dry = json!({ "dry_run": true });
    let (text, structured) = done(&mut client, "consolidate_memories", dry);
    assert!(text.contains(&format!("superseded_ids={old}\n")), "{text}");
    assert_eq!(structured["conflicts"], 1);
    assert!(done(&mut client, "list_memories", json!({})).0.contains("Rate limit: 100"));
    let (text, structured) = done(&mut client, "consolidate_memories", json!({}));
    assert_eq!(structured["winners"], json!([new]));
    // Contradicting records stay: only a person knows which one holds.
    assert_eq!(structured["disputed"], json!([[other, one]]));
    assert_eq!(text.matches("CONFLICT").count(), 1, "{text}");
    let (text, _) = done(&mut client, "list_memories", json!({}));
    assert!(!text.contains("Rate limit: 100") && text.contains("Uses Redis"), "{text}");
    assert!(text.contains("Always use npm") && text.contains("Never use npm"), "{text}");
    home.ok(&["undo", structured["commit"].as_str().unwrap()]);
    assert!(done(&mut client, "list_memories", json!({})).0.contains("Rate limit: 100"));
}

#[test]
fn the_set_is_small_and_its_addresses_are_known() {
    let home = home();
    let mut client = Client::open(&home, ERA, &["--toolsets", "records"]);
    let list = client.result("tools/list", json!({}));
    assert_eq!(list["tools"].as_array().unwrap().len(), 20);
    let tokens = list.to_string().len() / 4;
    assert!(tokens <= 3700, "{tokens}");
    add(&mut client, json!({ "content": "Use pnpm", "type": "rule" }));
    for uri in ["memories://rules", "memories://project/github.com/acme/shop"] {
        let read = client.result("resources/read", json!({ "uri": uri }));
        let text = read["contents"][0]["text"].as_str().unwrap();
        assert!(text.contains("## Project Rules\n- Use pnpm"), "{uri}: {text}");
    }
    let recent = client.result("resources/read", json!({ "uri": "memories://recent" }));
    assert!(recent.to_string().contains("📌 RULE (P)"));
}

#[test]
fn context_of_entities_is_their_neighbourhood_in_the_graph() {
    let home = home();
    let mut client = Client::open(&home, ERA, &["--toolsets", "records,graph"]);
    let pair = json!({ "threadId": "t", "entities": [
        { "name": "Shop", "entityType": "Service", "observations": ["Sells lamps"],
          "relations": [{ "targetEntity": "Depot", "relationType": "fed by" }] },
        { "name": "Depot", "entityType": "Service", "observations": ["Keeps lamps"],
          "relations": [{ "targetEntity": "Shop", "relationType": "feeds" }] },
    ]});
    done(&mut client, "save_memory", pair);
    let asked = json!({ "entityNames": ["Shop"], "threadId": "t" });
    let (text, structured) = done(&mut client, "get_context", asked);
    assert!(text.contains("Depot") && structured.to_string().contains("Keeps lamps"), "{text}");
    let elsewhere = json!({ "entityNames": ["Shop"], "threadId": "other" });
    let (text, structured, _) = call(&mut client, "get_context", elsewhere);
    assert!(!structured.to_string().contains("Sells lamps"), "{text}");
}
