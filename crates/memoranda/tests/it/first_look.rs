//! An index that was just made: the next question is answered as before, or says what it lacks.

use serde_json::json;

use super::client::{Client, Era};
use super::support::Home;

const RULE: &str = "Use pnpm, never npm";

/// A vault with a rule, and one that a person put there, and no index.
fn without_index() -> Home {
    let home = Home::new();
    let rule = json!({ "content": RULE, "type": "rule", "global": true }).to_string();
    home.ok(&["tool", "add_memory", &rule]);
    home.write("records/global/rule/by-hand.md", "Tabs, not spaces\n");
    std::fs::remove_dir_all(home.path().join(".cache/memoranda")).unwrap();
    home
}

#[track_caller]
fn has_both(text: &str) {
    assert!(text.contains(RULE) && text.contains("Tabs, not spaces"), "{text}");
}

#[test]
fn one_call_sees_the_files_as_they_are() {
    let home = without_index();
    let left = home.ok(&["tool", "get_rules", "{}", "--no-scan"]);
    assert!(left.starts_with("No rules."), "{left}");
    has_both(&home.ok(&["tool", "get_rules", "{}"]));
    home.write("records/global/rule/later.md", "Sign every commit\n");
    assert!(home.ok(&["tool", "get_rules"]).contains("Sign every commit"));
}

#[test]
fn the_first_call_over_mcp_waits_for_the_first_look() {
    let home = without_index();
    let mut client = Client::open(&home, Era::Handshake("2025-06-18"), &["--toolsets", "records"]);
    let result = client.result("tools/call", json!({ "name": "get_context", "arguments": {} }));
    has_both(result["content"][0]["text"].as_str().unwrap());
    drop(client);
    let home = without_index();
    let mut client = Client::open(&home, Era::Stateless, &["--toolsets", "records"]);
    let result = client.result("resources/read", json!({ "uri": "memories://rules" }));
    has_both(result["contents"][0]["text"].as_str().unwrap());
    drop(client);
    let home = without_index();
    home.write("memories/walrus.md", "The walrus sleeps\n");
    let mut client = Client::open(&home, Era::Stateless, &["--toolsets", "memory"]);
    let recall = json!({ "name": "recall", "arguments": { "topic": "walrus" } });
    let result = client.result("prompts/get", recall);
    assert!(result.to_string().contains("The walrus sleeps"), "{result}");
}

/// Edits made while no server was running are in the first answer of the next server.
#[test]
fn the_first_call_over_mcp_knows_what_people_did_before() {
    let home = without_index();
    home.write("main/Walrus.md", "The walrus sleeps\n");
    home.ok(&["scan"]);
    home.write("records/global/rule/later.md", "Sign every commit\n");
    std::fs::remove_file(home.file("records/global/rule/by-hand.md")).unwrap();
    home.write("main/Walrus.md", "The heron fishes\n");
    let first = |toolset: &str, tool: &str, arguments: serde_json::Value| {
        let mut client =
            Client::open(&home, Era::Handshake("2025-06-18"), &["--toolsets", toolset]);
        let asked = json!({ "name": tool, "arguments": arguments });
        client.result("tools/call", asked)["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let told = first("records", "get_context", json!({}));
    assert!(told.contains("Sign every commit") && !told.contains("Tabs, not"), "{told}");
    let told = first("notes", "search_notes", json!({ "query": "heron" }));
    assert!(told.contains("Walrus"), "{told}");
}

/// Returns the brief of the hook at session start while another process holds the lock.
fn brief_while_locked(home: &Home) -> String {
    let place = home.file(".memoranda/lock");
    let lock = std::fs::File::options().read(true).write(true).open(place).unwrap();
    lock.lock().unwrap();
    let told = json!({ "session_id": "s", "cwd": home.path(), "source": "startup",
        "hook_event_name": "SessionStart" });
    let said = home.run_fed(
        told.to_string().as_bytes(),
        &["hook", "session-start", "--client", "claude-code"],
    );
    assert_eq!(said.code, 0, "{said:?}");
    said.out
}

#[test]
fn a_look_that_takes_too_long_costs_no_brief() {
    let home = without_index();
    home.ok(&["tool", "get_rules"]);
    let told = brief_while_locked(&home);
    assert!(told.contains(RULE) && !told.contains("is being built"), "{told}");
    let told = brief_while_locked(&without_index());
    assert!(told.contains("index of these notes is being built"), "{told}");
}

/// After a folder is added, its notes are known at once, even if another process watches.
#[test]
fn a_folder_is_taken_in_by_whoever_adds_it() {
    let home = without_index();
    for n in 0..300 {
        home.write(&format!("memories/note {n}.md"), format!("The walrus sleeps {n} hours\n"));
    }
    let mut client = Client::open(&home, Era::Handshake("2025-06-18"), &["--toolsets", "memory"]);
    let view = json!({ "name": "memory", "arguments": { "command": "view", "path": "/memories" } });
    client.result("tools/call", view);
    for _ in 0..3000 {
        if home.ok(&["status"]).contains("watched by a running process") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let folder = home.path().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let place = folder.to_str().unwrap();
    for arguments in [&["project", "add", "memories", place, "--move"][..], &["project", "list"]] {
        let told = home.ok(arguments);
        assert!(told.contains("300"), "{told}");
    }
    home.ok(&["project", "remove", "memories"]);
    let told = home.ok(&["project", "add", "memories", place]);
    assert!(told.contains("300 notes"), "{told}");
}
