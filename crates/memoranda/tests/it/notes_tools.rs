//! The notes tools over real stdio, as a client meets them.

use serde_json::{Value, json};

use super::client::{Client, ERAS, Era};
use super::support::Home;

/// Maximum number of tokens for the definitions of the toolset.
const MOST_TOKENS: usize = 4_400;

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
        ("getting_started", json!({}), "holds 1 note"),
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
    // An invalid question is answered with its problem.
    for (name, arguments, part) in [
        ("recent_activity", json!({ "timeframe": "soonish" }), "\"soonish\" is not a time"),
        ("recent_activity", json!({ "project": "nope" }), "There is no project \"nope\""),
        ("getting_started", json!({ "project": "nope" }), "There is no project \"nope\""),
        ("search_knowledge_base", json!({ "query": "x", "timeframe": "soonish" }), "not a time"),
    ] {
        let ask = json!({ "name": name, "arguments": arguments });
        let error = client.ask("prompts/get", ask)["error"].clone();
        assert_eq!(error["code"], json!(-32602), "{name}: {error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{name}: {error}");
    }
    let missing = client.ask("resources/read", json!({ "uri": "memory://local/nope/info" }));
    let message = missing["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("There is no project \"nope\""), "{missing}");
}

#[test]
fn an_image_is_shown_as_one() {
    let home = Home::new();
    home.run(&["init"]);
    let picture = home.file("main/p.png");
    std::fs::create_dir_all(picture.parent().unwrap()).unwrap();
    std::fs::write(&picture, [137u8, 80, 78, 71, 0]).unwrap();
    let mut client = Client::open(&home, Era::Stateless, &["--toolsets", "notes"]);
    let read = call(&mut client, "read_content", json!({ "path": "p.png" }));
    let image = &read["content"][1];
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
    assert_eq!(image["data"], json!("iVBORwA="));
    assert_eq!(read["structuredContent"]["data"], image["data"]);
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

#[test]
fn the_graph_shows_where_links_by_a_path_lead() {
    let home = Home::new();
    home.ok(&["init"]);
    for (path, text) in [
        ("main/r1/Goal.md", "text\n"),
        ("main/r1/Sub/Deep One.md", "text\n"),
        ("main/r1/Sib.md", "[[./Goal]] and [[Sub/Deep One]] and [[work/Plan]]\n"),
        ("work/Plan.md", "text\n"),
    ] {
        home.write(path, text);
    }
    let shown = home.ok(&["show", "--graph", "Sib"]);
    for place in ["main/r1/Goal.md", "main/r1/Sub/Deep One.md", "work/Plan.md"] {
        assert!(shown.contains(place), "{place}: {shown}");
    }
    assert!(!shown.contains("not written yet"), "{shown}");
}
