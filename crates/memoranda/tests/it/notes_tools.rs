//! The notes tools over real stdio, as a client meets them.

use serde_json::{Value, json};

use super::client::{Client, ERAS, Era};
use super::support::Home;

/// What a client may spend on the definitions of the set.
const MOST_TOKENS: usize = 4000;

#[track_caller]
fn call(client: &mut Client, name: &str, arguments: Value) -> Value {
    let mut call = json!({ "name": name });
    call["arguments"] = arguments;
    let result = client.result("tools/call", call);
    assert_eq!(result["isError"], json!(false), "{name}: {result}");
    result
}

#[test]
fn the_set_is_small_enough_to_be_listed() {
    let home = Home::new();
    let mut client = Client::open(&home, Era::Stateless, &["--toolsets", "notes"]);
    let list = client.result("tools/list", json!({}));
    let tools = list["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 18);
    let bytes: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
    assert!(bytes / 4 <= MOST_TOKENS, "{} tokens", bytes / 4);
}

#[test]
fn notes_are_written_found_linked_and_read_in_every_era() {
    for era in ERAS {
        let home = Home::new();
        let mut client = Client::open(&home, era, &["--toolsets", "notes,chatgpt"]);
        let note =
            json!({ "title": "Plan", "directory": "work", "content": "- needs [[Budget]]\n" });
        let written = call(&mut client, "write_note", note);
        let structured = &written["structuredContent"];
        assert_eq!(structured["permalink"], json!("work/plan"));
        assert!(structured["commit"].is_string());
        call(
            &mut client,
            "write_note",
            json!({ "title": "Budget", "directory": "", "content": "ten" }),
        );
        let context = call(&mut client, "build_context", json!({ "url": "memory://work/plan" }));
        let text: Value =
            serde_json::from_str(context["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, context["structuredContent"]);
        assert_eq!(text["results"][0]["related_results"][0]["title"], json!("Budget"));
        let found = call(&mut client, "search", json!({ "query": "budget" }));
        let id = found["structuredContent"]["results"][0]["id"].clone();
        let fetched = call(&mut client, "fetch", json!({ "id": id }));
        assert_eq!(fetched["structuredContent"]["title"], json!("Budget"));
    }
}

#[test]
fn prompts_and_resources_bring_what_is_known() {
    let home = Home::new();
    let mut client = Client::open(&home, Era::Stateless, &["--toolsets", "notes"]);
    let note = json!({ "title": "Heron", "directory": "birds", "content": "The heron waits." });
    call(&mut client, "write_note", note);
    for (name, arguments, part) in [
        ("continue_conversation", json!({ "topic": "heron" }), "> The heron waits."),
        ("continue_conversation", json!({}), "memory://birds/heron"),
        ("getting_started", json!({}), "holds 1 notes"),
        ("recent_activity", json!({ "timeframe": "2 weeks", "project": "main" }), "Heron"),
        ("search_knowledge_base", json!({ "query": "heron" }), "memory://birds/heron"),
    ] {
        let prompt = client.result("prompts/get", json!({ "name": name, "arguments": arguments }));
        let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains(part), "{name}: {text}");
    }
    let guide = client.result("resources/read", json!({ "uri": "memory://ai_assistant_guide" }));
    assert!(guide["contents"][0]["text"].as_str().unwrap().contains("## The order of work"));
    let info = client.result("resources/read", json!({ "uri": "memory://local/main/info" }));
    let info: Value = serde_json::from_str(info["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(info["statistics"]["total_notes"], json!(1));
}

#[test]
fn a_server_can_be_held_to_one_project() {
    let home = Home::new();
    home.run(&["init"]);
    let mut client =
        Client::open(&home, Era::Stateless, &["--toolsets", "notes", "--project", "main"]);
    let arguments = json!({ "title": "X", "directory": "", "content": "x", "project": "other" });
    let result =
        client.result("tools/call", json!({ "name": "write_note", "arguments": arguments }));
    assert_eq!(result["structuredContent"]["error"], json!("PROJECT_CONSTRAINED"));
}
