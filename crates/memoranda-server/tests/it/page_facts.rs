//! Contradictions, facts and rules at a moment, reminders and vacuum, over real HTTP.

use std::time::Duration;

use memoranda_engine::clock;
use serde_json::{Value, json};

use crate::page::SignedInPage;

#[test]
fn a_decision_strikes_the_other_fact_out_and_can_be_undone() {
    let page = SignedInPage::new();
    let before = "# Pool\n\n- [fact] The pool has 8 threads\n- [fact] Other\n- [fact] The pool has 16 threads\n";
    page.write("cursor 1", "Pool.md", before);
    let found = page.get("/api/page/facts/contradictions");
    assert_eq!(found["total"], json!(1), "{found}");
    let pair = &found["items"][0];
    assert_eq!(pair["newer"]["agent"]["key"], "cursor");
    let body = json!({ "id": pair["id"], "holds": "newer" });
    let decided = page.post("/api/page/facts/decide", &body);
    let read = || page.get("/api/page/note?project=main&path=Pool.md")["text"].clone();
    let older = pair["older"]["text"].as_str().unwrap();
    assert_eq!(read(), json!(before.replace(older, &format!("~~{older}~~"))));
    assert_eq!(page.get("/api/page/facts/contradictions")["total"], json!(0));
    // The pair is gone: a second decision changes nothing.
    assert_eq!(page.problem("POST", "/api/page/facts/decide", &body).0, 409);
    page.post("/api/page/undo", &json!({ "commits": [decided["commit"]] }));
    assert_eq!(read(), json!(before));
    let bad = json!({ "id": pair["id"], "holds": "both" });
    assert_eq!(page.problem("POST", "/api/page/facts/decide", &bad).0, 400);
}

#[test]
fn records_of_one_scope_contradict_each_other() {
    let page = SignedInPage::new();
    let rule = |text: &str| format!("---\ntype: rule\n---\n{text}\n");
    page.vault.memory.create_project("records").unwrap();
    page.write_in(
        "records",
        "cursor 1",
        "global/rule/aaaaaaaa.md",
        &rule("Deploys go out on Fridays"),
    );
    page.write_in(
        "records",
        "codex 1",
        "global/rule/bbbbbbbb.md",
        &rule("Deploys go out on Tuesdays, never on Fridays"),
    );
    // Another repository may do as it likes.
    let other = "---\ntype: rule\nproject: github.com/a/b\n---\nDeploys go out on Mondays\n";
    page.write_in("records", "codex 1", "projects/github.com-a-b/rule/cccccccc.md", other);
    let found = page.get("/api/page/facts/contradictions");
    assert_eq!(found["total"], json!(1), "{found}");
    let rules = page.get("/api/page/rules");
    let scopes: Vec<&str> = rules["scopes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|scope| scope["scope"].as_str())
        .collect();
    assert_eq!(scopes, ["global", "github.com/a/b"], "{rules}");
    let pair = &found["items"][0];
    page.post("/api/page/facts/decide", &json!({ "id": pair["id"], "holds": "newer" }));
    let left = page.get("/api/page/rules")["scopes"][0]["rules"].clone();
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left[0]["text"], pair["newer"]["text"]);
}

#[test]
fn facts_and_rules_of_a_moment_are_those_of_the_files_then() {
    let page = SignedInPage::new();
    page.vault.memory.create_project("records").unwrap();
    page.write("cursor 1", "Limit.md", "- [fact] 100 calls\n");
    page.write("cursor 1", "Gone.md", "- [fact] soon gone\n");
    page.write("cursor 1", "Same.md", "- [fact] always there\n");
    page.write_in(
        "records",
        "cursor 1",
        "global/rule/aaaaaaaa.md",
        "---\ntype: rule\n---\nOld rule\n",
    );
    std::thread::sleep(Duration::from_millis(5));
    let moment = clock::now().to_string();
    std::thread::sleep(Duration::from_millis(5));
    page.write("codex 1", "Limit.md", "- [fact] 250 calls\n");
    page.write("codex 1", "New.md", "- [fact] brand new\n");
    page.write_in(
        "records",
        "codex 1",
        "global/rule/aaaaaaaa.md",
        "---\ntype: rule\n---\nNew rule\n",
    );
    let gone = page.get("/api/page/note?project=main&path=Gone.md")["hash"].clone();
    let delete = json!({ "project": "main", "path": "Gone.md", "expected": gone });
    page.post("/api/page/note/delete", &delete);
    let texts = |query: &str| {
        let facts = page.get(&format!("/api/page/facts?limit=50{query}"));
        let items = facts["items"].as_array().unwrap().clone();
        let mut texts: Vec<String> =
            items.iter().map(|item| item["fact"]["text"].as_str().unwrap().to_owned()).collect();
        texts.sort();
        texts
    };
    assert_eq!(texts(""), ["250 calls", "always there", "brand new"]);
    let then = format!("&at={moment}");
    assert_eq!(texts(&then), ["100 calls", "always there", "soon gone"]);
    assert_eq!(texts(&format!("{then}&q=CALLS")), ["100 calls"]);
    assert_eq!(texts(&format!("{then}&category=none")), [""; 0]);
    let facts = page.get(&format!("/api/page/facts?limit=2{then}"));
    assert_eq!((facts["total"].clone(), facts["next"].clone()), (json!(3), json!("2")));
    let rule = |query: &str| {
        page.get(&format!("/api/page/rules{query}"))["scopes"][0]["rules"][0]["text"].clone()
    };
    assert_eq!((rule(""), rule(&format!("?at={moment}"))), (json!("New rule"), json!("Old rule")));
}

#[test]
fn a_due_reminder_of_any_scope_is_listed_and_done() {
    let page = SignedInPage::new();
    page.vault.memory.create_project("records").unwrap();
    let text = "---\ntype: reminder\nproject: github.com/a/b\ncron: '* * * * *'\nenabled: true\nsince: 2026-01-01T00:00:00Z\n---\nWater the plants\n";
    page.write_in("records", "codex 1", "projects/github.com-a-b/reminder/aaaaaaaa.md", text);
    let listed = page.get("/api/page/reminders");
    assert_eq!(listed["items"][0]["overdue"], json!(true), "{listed}");
    assert_eq!(listed["items"][0]["scope"], "github.com/a/b");
    let done = page.post("/api/page/reminders/done", &json!({ "id": "aaaaaaaa" }));
    assert!(done["commit"].is_string(), "{done}");
    assert_eq!(page.get("/api/page/reminders")["items"][0]["overdue"], json!(false));
    let (status, _) = page.problem("POST", "/api/page/reminders/done", &json!({ "id": "nothing" }));
    assert_eq!(status, 400);
}

#[test]
fn a_vacuum_purges_what_was_shown_and_nothing_else() {
    let page = SignedInPage::new();
    page.write("cursor 1", "Gone.md", "gone\n");
    let note = page.get("/api/page/note?project=main&path=Gone.md");
    let delete = json!({ "project": "main", "path": "Gone.md", "expected": note["hash"] });
    page.post("/api/page/note/delete", &delete);
    assert_eq!(page.get("/api/page/vacuum")["contents"], json!(0), "30 days are kept");
    let plan = page.get("/api/page/vacuum?days=0");
    assert_eq!(plan["notes"][0]["path"], "Gone.md", "{plan}");
    let other = json!({ "before": plan["before"], "contents": 7 });
    assert_eq!(page.problem("POST", "/api/page/vacuum", &other).0, 409);
    let shown = json!({ "before": plan["before"], "contents": plan["contents"] });
    assert_eq!(page.post("/api/page/vacuum", &shown)["contents"], plan["contents"]);
    assert_eq!(page.get("/api/page/vacuum?days=0")["contents"], json!(0));
}

#[test]
fn a_server_without_services_says_so() {
    let page = SignedInPage::new();
    for (method, path, body) in [
        ("GET", "/api/page/setup", Value::Null),
        ("GET", "/api/page/export", Value::Null),
        ("POST", "/api/page/settings", json!({ "key": "editor", "value": "vi" })),
        ("POST", "/api/page/import/upload", json!({ "parts": [] })),
    ] {
        let (status, problem) = page.problem(method, path, &body);
        assert_eq!((status, problem["code"].clone()), (404, json!("no-services")), "{path}");
    }
}
