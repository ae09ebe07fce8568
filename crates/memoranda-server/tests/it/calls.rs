//! Tool calls: progress, cancellation, and the end of the stream.

use std::time::{Duration, Instant};

use memoranda_server::ServerConfig;
use memoranda_tools::{ToolSelection, ToolSettings};
use serde_json::{Value, json};

use crate::support::{
    ERAS, EXTRA_DEFINITIONS, LineClient, PATIENCE, ProtocolEra, ServerVault, config, was_cancelled,
};

fn with_fixtures() -> ServerConfig {
    ServerConfig { extra: EXTRA_DEFINITIONS, ..config() }
}

#[tokio::test]
async fn progress_is_sent_to_clients_that_request_it() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, _) = LineClient::open(&vault, with_fixtures(), era).await;
        let begun = Instant::now();
        let slow = json!({ "name": "slow", "arguments": { "steps": 40 }, "_meta": { "progressToken": "p" } });
        let done = client.result("tools/call", slow).await;
        assert_eq!(done["content"][0]["text"], "Done");
        let told: Vec<_> = client.notifications.iter().map(|message| &message["params"]).collect();
        assert!(told.iter().all(|progress| progress["progressToken"] == "p"), "{told:?}");
        assert_eq!((&told[0]["total"], &told[0]["message"]), (&json!(40.0), &json!("counting")));
        let steps: Vec<_> =
            told.iter().filter_map(|progress| progress["progress"].as_f64()).collect();
        // Forty steps of 10 ms are reported every 100 ms, with increasing values.
        let most = begun.elapsed().as_millis() as usize / 100 + 2;
        assert!((2..=most).contains(&steps.len()), "{steps:?}");
        assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
        client.notifications.clear();
        client.call("slow", json!({ "steps": 15 })).await;
        assert!(client.notifications.is_empty());
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_and_is_not_answered() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, _) = LineClient::open(&vault, with_fixtures(), era).await;
        let name = format!("cancelled in {era:?}");
        let slow = json!({ "name": "slow", "arguments": { "steps": 30_000, "name": name }, "_meta": { "progressToken": 1 } });
        let id = client.begin("tools/call", slow).await;
        // The call is running when it is cancelled.
        assert_eq!(client.next().await.unwrap()["params"]["progressToken"], json!(1));
        client
            .tell("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }))
            .await;
        let seen = name.clone();
        assert!(tokio::task::spawn_blocking(move || was_cancelled(&seen)).await.unwrap(), "{name}");
        let (rest, ended) = client.close().await;
        assert!(rest.iter().all(|message| message["id"] != json!(id)), "{rest:?}");
        assert!(ended.is_ok());
    }
}

#[tokio::test]
async fn a_panicking_tool_does_not_end_the_server() {
    let vault = ServerVault::new();
    let (mut client, _) = LineClient::open(&vault, with_fixtures(), ProtocolEra::Stateless).await;
    let broken = client.ask("tools/call", json!({ "name": "broken" })).await;
    assert_eq!(broken["error"]["code"], -32603);
    assert!(!broken.to_string().contains("on purpose"));
    assert_eq!(client.call("peek", json!({})).await["isError"], false);
}

#[tokio::test]
async fn the_end_of_the_stream_ends_the_server() {
    let vault = ServerVault::new();
    // Before the first message.
    let started = Instant::now();
    let silent = LineClient::connect(&vault, config(), ProtocolEra::Stateless);
    let (said, ended) = silent.close().await;
    assert!(said.is_empty() && ended.is_ok());
    // During the handshake.
    let mut broken = LineClient::connect(&vault, config(), ProtocolEra::Stateless);
    broken.send(&json!("no message")).await;
    assert!(broken.close().await.1.is_ok());
    // After some requests.
    for era in ERAS {
        let (client, _) = LineClient::open(&vault, config(), era).await;
        let (said, ended) = client.close().await;
        assert!(said.is_empty() && ended.is_ok());
    }
    assert!(started.elapsed() < PATIENCE);
}

#[tokio::test]
async fn requests_before_the_end_of_the_stream_are_answered() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, _) = LineClient::open(&vault, with_fixtures(), era).await;
        let note = json!({ "command": "create", "path": "/memories/last.md", "file_text": "x" });
        let id = client.begin("tools/call", json!({ "name": "memory", "arguments": note })).await;
        let slow = client
            .begin("tools/call", json!({ "name": "slow", "arguments": { "steps": 20 } }))
            .await;
        let (rest, ended) = client.close().await;
        assert!(ended.is_ok());
        for id in [id, slow] {
            assert!(
                rest.iter().any(|m| m["id"] == json!(id) && m["result"].is_object()),
                "{rest:?}"
            );
        }
        assert_eq!(vault.commits(), 1);
    }
}

#[tokio::test]
async fn a_long_call_does_not_delay_the_end() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, _) = LineClient::open(&vault, with_fixtures(), era).await;
        let name = format!("left behind in {era:?}");
        let slow = json!({ "name": "slow", "arguments": { "steps": 30_000, "name": name } });
        client.begin("tools/call", slow).await;
        let started = Instant::now();
        assert!(client.close().await.1.is_ok());
        // Waiting for each answer in turn would take 20 s.
        assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
        assert!(tokio::task::spawn_blocking(move || was_cancelled(&name)).await.unwrap());
    }
}

#[tokio::test]
async fn messages_before_the_handshake_are_ignored() {
    let vault = ServerVault::new();
    let mut client = LineClient::connect(&vault, config(), ProtocolEra::Stateless);
    let early = json!({ "jsonrpc": "2.0", "id": 90, "method": "tools/list", "params": {} });
    client.tell("notifications/cancelled", json!({ "requestId": 0 })).await;
    client.send(&early).await;
    assert_eq!(client.answer(90).await["error"]["code"], -32602);
    client.ask("server/discover", json!({})).await;
    client.tell("notifications/cancelled", json!({ "requestId": 1 })).await;
    assert!(client.result("tools/list", json!({})).await["tools"].is_array());
}

#[tokio::test]
async fn only_selected_tools_are_listed() {
    let vault = ServerVault::new();
    let exclude = vec!["memory".to_owned()];
    let nothing = ToolSelection { exclude: exclude.clone(), ..config().selection };
    let selection = ToolSelection { tools: vec!["list".into()], ..nothing.clone() };
    let chosen = ServerConfig { selection, ..config() };
    let (mut client, about) = LineClient::open(&vault, chosen, ProtocolEra::Stateless).await;
    let tools = client.result("tools/list", json!({})).await;
    assert_eq!(tools["tools"].as_array().unwrap().len(), 1, "{tools}");
    assert_eq!(tools["tools"][0]["name"], "list");
    assert_eq!(client.result("prompts/list", json!({})).await["prompts"], json!([]));
    assert!(!about["instructions"].as_str().unwrap().contains("MEMORY PROTOCOL"));
    let call = json!({ "name": "memory", "arguments": { "command": "view", "path": "/memories" } });
    assert_eq!(client.ask("tools/call", call).await["error"]["code"], -32602);
    for selection in
        [ToolSelection { tools: vec!["nope".into()], ..ToolSelection::default() }, nothing]
    {
        let wrong = LineClient::connect(
            &vault,
            ServerConfig { selection, ..config() },
            ProtocolEra::Stateless,
        );
        assert!(wrong.close().await.1.is_err());
    }
}

#[tokio::test]
async fn the_configured_guidance_is_part_of_the_instructions() {
    let vault = ServerVault::new();
    let settings = ToolSettings {
        guidance: Some("Mind the tulips. ".repeat(500)),
        ..ToolSettings::standard()
    };
    let guided = ServerConfig { settings, ..config() };
    let (_client, about) =
        LineClient::open(&vault, guided, ProtocolEra::Handshake("2025-11-25")).await;
    let instructions = about["instructions"].as_str().unwrap();
    assert!(instructions.contains("Mind the tulips") && instructions.len() <= 2048);
}

#[tokio::test]
async fn the_guide_describes_the_selected_tools() {
    let all = ToolSelection::default();
    let few =
        ToolSelection { tools: vec!["memory".into(), "recent_activity".into()], ..all.clone() };
    for (selection, named) in [
        (all, &["search_notes", "recent_activity", "build_context"][..]),
        (few, &["recent_activity"]),
        (config().selection, &[]),
    ] {
        let vault = ServerVault::new();
        let chosen = ServerConfig { selection, ..config() };
        let (mut client, _) = LineClient::open(&vault, chosen, ProtocolEra::Stateless).await;
        let guide = client.result("prompts/get", json!({ "name": "memory_guide" })).await;
        let guide = guide["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
        for tool in ["search_notes", "recent_activity", "build_context"] {
            assert_eq!(guide.contains(tool), named.contains(&tool), "{tool}: {guide}");
        }
        assert_eq!(guide.contains("## With the other tools"), !named.is_empty());
    }
}

#[tokio::test]
async fn every_invalid_line_gets_an_error() {
    let vault = ServerVault::new();
    let (mut client, _) =
        LineClient::open(&vault, config(), ProtocolEra::Handshake("2025-11-25")).await;
    let call = |id: u64, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"memory","arguments":{arguments}}}}}"#
        )
    };
    let cut = r#"{"command":"create","path":"/memories/s.md","file_text":"cut \ud83d"}"#;
    client.line(&call(900, cut)).await;
    assert_eq!(client.answer(900).await["result"]["isError"], false);
    let view = json!({ "command": "view", "path": "/memories/s.md" });
    let view = client.call("memory", view).await["content"][0]["text"].clone();
    assert!(view.as_str().unwrap().ends_with("\tcut \u{fffd}"), "{view}");
    let (no_json, no_request) = (-32700, -32600);
    for (line, id, code) in [
        ("not json".to_owned(), json!(null), no_json),
        (r#"{"jsonrpc":"2.0","id":901,"method":"ping""#.to_owned(), json!(901), no_json),
        (call(902, &format!("{}{}", "[".repeat(5000), "]".repeat(5000))), json!(902), no_json),
        (call(903, "{\"command\": 1e999}"), json!(903), no_json),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":5}"#.into(),
            json!(9),
            no_request,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}"#.into(),
            json!("a"),
            no_request,
        ),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"ping","params":{"_meta":3}}"#.into(),
            json!(9),
            no_request,
        ),
        (r#"{"jsonrpc":"2.0","id":9,"method":7}"#.into(), json!(9), no_request),
        (r#"{"jsonrpc":"2.0","id":9}"#.into(), json!(9), no_request),
        (r#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#.into(), json!(9), no_request),
        (r#"{"id":9,"method":"ping"}"#.into(), json!(9), no_request),
        (r#"{"jsonrpc":"2.0","id":9.5,"method":"ping"}"#.into(), json!(null), no_request),
        (r#"[{"jsonrpc":"2.0","id":9,"method":"ping"}]"#.into(), json!(null), no_request),
    ] {
        client.line(&line).await;
        let answer = client.next().await.unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{answer}");
    }
    assert!(client.result("tools/list", json!({})).await["tools"].is_array());
    assert!(client.close().await.1.is_ok());
}

#[tokio::test]
async fn a_last_line_needs_no_line_break() {
    let hello = r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1.0"}}}"#;
    for (before, last, id, fault) in [
        ("", hello, json!(7), None),
        ("", "not json", json!(null), Some(-32700)),
        ("not json\n", "", json!(null), Some(-32700)),
        ("", &hello[..hello.len() - 1], json!(7), Some(-32700)),
        ("", r#"{"jsonrpc":"2.0","id":8,"method":"ping","params":5}"#, json!(8), Some(-32600)),
    ] {
        let vault = ServerVault::new();
        let mut client =
            LineClient::connect(&vault, config(), ProtocolEra::Handshake("2025-11-25"));
        client.text(before).await;
        client.text(last).await;
        let (answers, ended) = client.close().await;
        assert!(ended.is_ok(), "{last}");
        let [answer] = answers.as_slice() else { panic!("{last}: {answers:?}") };
        assert_eq!((&answer["id"], answer["error"]["code"].as_i64()), (&id, fault), "{answer}");
    }
}

#[tokio::test]
async fn concurrent_calls_run_in_their_order() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, _) = LineClient::open(&vault, config(), era).await;
        for round in 0..20 {
            let path = |name: &str| format!("/memories/{round}/{name}.md");
            let memory = |arguments: Value| json!({ "name": "memory", "arguments": arguments });
            let create = |name: &str, text: &str| {
                memory(json!({ "command": "create", "path": path(name), "file_text": text }))
            };
            let view = memory(json!({ "command": "view", "path": path("new") }));
            let rename = memory(json!({
                "command": "rename", "old_path": path("new"), "new_path": path("old")
            }));
            let mut begun = Vec::new();
            for call in [create("new", "first"), rename, create("new", "second"), view] {
                begun.push(client.begin("tools/call", call).await);
            }
            let mut answers = Vec::new();
            for id in begun {
                answers.push(client.answer(id).await["result"]["content"][0]["text"].to_string());
            }
            assert!(answers[3].contains("second"), "{era:?} {round}: {answers:?}");
            let old = json!({ "command": "view", "path": path("old") });
            let old = client.call("memory", old).await["content"][0]["text"].to_string();
            assert!(old.contains("first"), "{era:?} {round}: {old} {answers:?}");
        }
    }
}

#[tokio::test]
async fn all_requests_before_the_end_are_answered() {
    const CALLS: usize = 300;
    let vault = ServerVault::new();
    let (mut client, _) = LineClient::open(&vault, config(), ERAS[0]).await;
    for n in 0..CALLS {
        let create =
            json!({ "command": "create", "path": format!("/memories/{n}.md"), "file_text": "x" });
        client.begin("tools/call", json!({ "name": "memory", "arguments": create })).await;
    }
    let (answers, ended) = client.close().await;
    assert!(ended.is_ok());
    let done = answers.iter().filter(|answer| answer["result"]["isError"] == json!(false));
    assert_eq!(
        done.count(),
        CALLS,
        "{:?}",
        answers.iter().find(|answer| answer["error"].is_object())
    );
}
