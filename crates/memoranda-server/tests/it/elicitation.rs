//! Elicitation: through the result in the newest revision, during the call in earlier ones.

use memoranda_server::{ExtraDefinitions, ServerConfig};
use memoranda_tools::{ClientQuestion, ToolDef, ToolResult};
use serde_json::{Value, json};

use crate::support::{LineClient, ProtocolEra, ServerVault, TestServer, config, fixture};

const ABLE: &str = "io.modelcontextprotocol/clientCapabilities";

static TOOLS: [ToolDef; 1] = [fixture("ask", true, |call, _| {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let question = ClientQuestion::Form { message: "Who?".into(), schema };
    call.client.keep("asked once".into());
    match (call.client.ask("who", question), call.client.state()) {
        (Some(answer), Some("asked once")) => {
            let text = format!("Hello, {}", answer["content"]["name"].as_str().unwrap_or("none"));
            Ok(ToolResult::ok(text.clone(), json!({ "result": text })))
        }
        _ => Ok(ToolResult::error("It must be known who asks.")),
    }
})];

fn asking() -> ServerConfig {
    let extra = ExtraDefinitions { tools: &TOOLS, ..ExtraDefinitions::default() };
    ServerConfig { extra, ..config() }
}

fn answer() -> Value {
    json!({ "action": "accept", "content": { "name": "Ada" } })
}

#[tokio::test]
async fn the_questions_are_the_result_and_the_answers_come_with_the_next_call() {
    let vault = ServerVault::new();
    let (mut client, _) = LineClient::open(&vault, asking(), ProtocolEra::Stateless).await;
    let able = json!({ ABLE: { "elicitation": {} } });
    let call = json!({ "name": "ask", "arguments": {}, "_meta": able });
    let asked = client.result("tools/call", call.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["who"];
    assert_eq!(
        (&question["method"], &question["params"]["message"]),
        (&json!("elicitation/create"), &json!("Who?"))
    );
    let with = |state: Value, answers: Value| {
        let mut call = call.clone();
        call["requestState"] = state;
        call["inputResponses"] = answers;
        call
    };
    let state = asked["requestState"].clone();
    let answered = with(state.clone(), json!({ "who": answer(), "what": 7 }));
    let done = client.result("tools/call", answered).await;
    assert_eq!(done["content"][0]["text"], "Hello, Ada", "{done}");
    assert_eq!(done["resultType"], "complete");
    // An invalid answer is asked again; a state that was not issued is rejected.
    let crooked = with(state.clone(), json!({ "who": 12 }));
    assert_eq!(client.result("tools/call", crooked).await["resultType"], "input_required");
    let forged = with(json!(format!("{}x", state.as_str().unwrap())), json!({ "who": answer() }));
    assert_eq!(client.ask("tools/call", forged).await["error"]["code"], -32602);
    let mut another = with(state, json!({ "who": answer() }));
    another["arguments"] = json!({ "other": true });
    assert_eq!(client.ask("tools/call", another).await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_client_without_elicitation_gets_an_error() {
    let vault = ServerVault::new();
    let (mut client, _) = LineClient::open(&vault, asking(), ProtocolEra::Stateless).await;
    let call = json!({ "name": "ask", "arguments": {} });
    let refused = client.ask("tools/call", call.clone()).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert!(refused["error"]["data"]["requiredCapabilities"]["elicitation"].is_object());
    // The older revisions have no such error: the tool names what it needs.
    let era = ProtocolEra::Handshake("2025-11-25");
    let (mut client, _) = LineClient::open(&vault, asking(), era).await;
    let said = client.result("tools/call", call.clone()).await;
    assert_eq!(
        (&said["isError"], &said["content"][0]["text"]),
        (&json!(true), &json!("It must be known who asks."))
    );
    // A client without a session cannot be asked, whatever its capabilities are.
    let http = TestServer::start(&vault, asking());
    let said = http.mcp(era, "/mcp", &[], "tools/call", call).json();
    assert_eq!(said["result"]["isError"], true, "{said}");
    let said = http.send("POST", "/api/tools/ask", &[], "{}").json();
    assert_eq!(said["is_error"], true, "{said}");
}

#[tokio::test]
async fn an_older_client_is_asked_during_the_call() {
    let vault = ServerVault::new();
    for version in ["2025-06-18", "2025-11-25"] {
        let able = json!({ "elicitation": {} });
        let (mut client, _) =
            LineClient::open_able(&vault, asking(), ProtocolEra::Handshake(version), able).await;
        let id = client.begin("tools/call", json!({ "name": "ask", "arguments": {} })).await;
        let question = client.next().await.unwrap();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer() });
        client.send(&reply).await;
        let done = client.answer(id).await;
        assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada", "{done}");
    }
}

#[tokio::test]
async fn a_purge_asks_where_the_client_can_ask() {
    let mut config = config();
    config.selection = memoranda_tools::ToolSelection {
        toolsets: vec!["records".into()],
        ..memoranda_tools::ToolSelection::default()
    };
    let vault = ServerVault::new();
    let (mut client, _) = LineClient::open(&vault, config, ProtocolEra::Stateless).await;
    let forget_one = async |client: &mut LineClient| {
        let added = client.call("add_memory", json!({ "content": "heron", "global": true })).await;
        let id = added["structuredContent"]["id"].clone();
        client.call("forget_memory", json!({ "id": id })).await;
    };
    forget_one(&mut client).await;
    let able = json!({ ABLE: { "elicitation": {} } });
    let call = json!({ "name": "vacuum_memories", "arguments": {}, "_meta": able });
    let asked = client.result("tools/call", call.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let message = asked["inputRequests"]["purge"]["params"]["message"].as_str().unwrap();
    assert!(message.contains("Purge them?"), "{message}");
    let with = |answer: Value| {
        let mut call = call.clone();
        call["inputResponses"] = json!({ "purge": answer });
        call
    };
    for declined in [
        json!({ "action": "decline" }),
        json!({ "action": "accept", "content": { "confirm": false } }),
    ] {
        let refused = client.result("tools/call", with(declined)).await;
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(refused.to_string().contains("The person declined"), "{refused}");
    }
    let listed = client.call("restore_memory", json!({})).await.to_string();
    assert!(listed.contains("heron"), "{listed}");
    let agreed = json!({ "action": "accept", "content": { "confirm": true } });
    let done = client.result("tools/call", with(agreed)).await;
    assert_eq!(done["structuredContent"]["purged"], 1, "{done}");
    // A client that cannot ask purges without a question.
    forget_one(&mut client).await;
    let done = client.call("vacuum_memories", json!({})).await;
    assert_eq!(done["structuredContent"]["purged"], 1, "{done}");
}
