//! Clients are notified when a subscribed resource changes, in both eras.

#![allow(clippy::disallowed_methods, reason = "a test writes as an editor would")]

use std::time::Duration;

use memoranda_server::{LogDestination, ServerConfig};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::support::{
    ERAS, EXTRA_DEFINITIONS, LineClient, PATIENCE, ProtocolEra, ServerVault, TestServer, config,
    fixture,
};

const NOTE: &str = "memoranda://memories/plan";
const SILENCE: Duration = Duration::from_millis(400);

fn create(path: &str, text: &str) -> Value {
    json!({ "command": "create", "path": path, "file_text": text })
}

/// Subscribes to URIs as the era requires. Returns the id of the request that stays open, if any.
async fn subscribe(client: &mut LineClient, era: ProtocolEra, uris: &[&str]) -> Option<u64> {
    if era == ProtocolEra::Stateless {
        let wanted = json!({ "notifications": { "resourceSubscriptions": uris } });
        let id = client.begin("subscriptions/listen", wanted).await;
        let accepted = client.next().await.unwrap();
        assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(accepted["params"]["notifications"]["resourceSubscriptions"], json!(uris));
        return Some(id);
    }
    for uri in uris {
        assert_eq!(client.result("resources/subscribe", json!({ "uri": uri })).await, json!({}));
    }
    None
}

/// Returns the URI of the next notification.
async fn next_updated_uri(client: &mut LineClient) -> String {
    loop {
        let said = if client.notifications.is_empty() {
            client.next().await.unwrap()
        } else {
            client.notifications.remove(0)
        };
        if said["method"] == "notifications/resources/updated" {
            return said["params"]["uri"].as_str().unwrap().to_owned();
        }
    }
}

async fn is_silent(client: &mut LineClient) -> bool {
    client.notifications.is_empty() && timeout(SILENCE, client.next()).await.is_err()
}

#[tokio::test]
async fn a_note_is_followed_from_creation_to_deletion() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, about) = LineClient::open(&vault, config(), era).await;
        assert_eq!(about["capabilities"]["resources"]["subscribe"], true, "{era:?}");
        let listening = subscribe(&mut client, era, &[NOTE]).await;

        let (mut other, _) = LineClient::open(&vault, config(), ERAS[0]).await;
        other.call("memory", create("/memories/plan.md", "first")).await;
        assert_eq!(next_updated_uri(&mut client).await, NOTE, "{era:?}: created by another");
        client.call("memory", create("/memories/plan.md", "second")).await;
        assert_eq!(next_updated_uri(&mut client).await, NOTE, "{era:?}: changed by itself");
        other.call("memory", create("/memories/else.md", "nobody follows this")).await;
        assert!(is_silent(&mut client).await, "{era:?}: something else changed");
        other.call("memory", json!({ "command": "delete", "path": "/memories/plan.md" })).await;
        assert_eq!(next_updated_uri(&mut client).await, NOTE, "{era:?}: deleted");

        match listening {
            Some(id) => client.tell("notifications/cancelled", json!({ "requestId": id })).await,
            None => drop(client.result("resources/unsubscribe", json!({ "uri": NOTE })).await),
        }
        other.call("memory", create("/memories/plan.md", "third")).await;
        assert!(is_silent(&mut client).await, "{era:?}: no longer followed");
        assert!(client.close().await.1.is_ok());
    }
}

#[tokio::test]
async fn an_edit_by_hand_is_notified() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, _) = LineClient::open(&vault, config(), era).await;
        client.call("memory", create("/memories/plan.md", "first")).await;
        while !vault.memory.is_watched() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        subscribe(&mut client, era, &[NOTE]).await;
        let file = vault.memory.home().join("memories/plan.md");
        std::fs::write(file, "by hand").unwrap();
        assert_eq!(next_updated_uri(&mut client).await, NOTE, "{era:?}");
    }
}

#[tokio::test]
async fn only_readable_uris_can_be_subscribed() {
    let vault = ServerVault::new();
    let (mut client, _) = LineClient::open(&vault, config(), ERAS[1]).await;
    for bad in
        ["", "memoranda://", "memoranda://memories", "file:///etc/passwd", "memoranda://a/%zz"]
    {
        let refused = client.ask("resources/subscribe", json!({ "uri": bad })).await;
        assert_eq!(refused["error"]["code"], -32002, "{bad:?}: {refused}");
        assert_eq!(refused["error"]["data"]["uri"], bad, "{refused}");
    }
    for n in 0..500 {
        let uri = format!("memoranda://memories/{n}");
        client.result("resources/subscribe", json!({ "uri": uri })).await;
    }
    let full = client.ask("resources/subscribe", json!({ "uri": "memoranda://memories/x" })).await;
    assert!(full["error"]["message"].as_str().unwrap().contains("unsubscribe"), "{full}");

    let (mut client, _) = LineClient::open(&vault, config(), ProtocolEra::Stateless).await;
    let wanted = json!({ "notifications": {
        "toolsListChanged": true, "resourceSubscriptions": ["file:///etc/passwd", NOTE],
    } });
    client.begin("subscriptions/listen", wanted).await;
    let accepted = client.next().await.unwrap();
    assert_eq!(accepted["params"]["notifications"], json!({ "resourceSubscriptions": [NOTE] }));
}

#[tokio::test]
async fn an_open_listen_request_does_not_keep_the_server_running() {
    let vault = ServerVault::new();
    let (mut client, _) = LineClient::open(&vault, config(), ProtocolEra::Stateless).await;
    subscribe(&mut client, ProtocolEra::Stateless, &[NOTE]).await;
    assert!(timeout(PATIENCE, client.close()).await.unwrap().1.is_ok());
}

#[test]
fn http_without_sessions_listens_and_does_not_subscribe() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, config());
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "tester", "version": "1" },
    });
    let about = http.mcp(ERAS[1], "/mcp", &[], "initialize", hello).json();
    assert!(about["result"]["capabilities"]["resources"]["subscribe"].is_null(), "{about}");
    let refused = http.mcp(ERAS[1], "/mcp", &[], "resources/subscribe", json!({ "uri": NOTE }));
    assert_eq!(refused.json()["error"]["code"], -32601, "{refused:?}");
    let about = http.mcp(ProtocolEra::Stateless, "/mcp", &[], "server/discover", json!({})).json();
    assert_eq!(about["result"]["capabilities"]["resources"]["subscribe"], true, "{about}");

    let (said, hears) = http.listen(NOTE);
    assert!(said.contains("subscriptions/acknowledged"), "{said}");
    let call = json!({ "name": "memory", "arguments": create("/memories/plan.md", "x") });
    http.mcp(ProtocolEra::Stateless, "/mcp", &[], "tools/call", call);
    let said = hears.recv_timeout(PATIENCE).unwrap();
    assert!(said.contains("notifications/resources/updated") && said.contains(NOTE), "{said}");
}

/// Log events of a tool reach the client only if the configuration allows it.
#[tokio::test]
async fn log_events_reach_only_a_client_that_requested_them() {
    static NOTING: [memoranda_tools::ToolDef; 1] = [fixture("noting", true, |_, _| {
        tracing::info!(step = 1, "worth knowing");
        tracing::error!("worth a look");
        Ok(memoranda_tools::ToolResult::ok("Done".into(), json!({})))
    })];
    let extra = memoranda_server::ExtraDefinitions { tools: &NOTING, ..EXTRA_DEFINITIONS };
    let told = ServerConfig { extra, logging: LogDestination::Client, ..config() };
    let silent = ServerConfig { extra, ..config() };
    let heard = |client: &LineClient| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let notes = client.notifications.iter().filter(|n| n["method"] == "notifications/message");
        notes.map(|n| (text(&n["params"]["level"]), text(&n["params"]["data"]))).collect()
    };
    let (info, error) = (
        ("info".to_owned(), "worth knowing step=1".to_owned()),
        ("error".to_owned(), "worth a look".to_owned()),
    );
    for (level, expected) in [
        ("debug", vec![info.clone(), error.clone()]),
        ("info", vec![info, error.clone()]),
        ("warning", vec![error]),
        ("critical", vec![]),
    ] {
        let vault = ServerVault::new();
        let (mut client, about) = LineClient::open(&vault, told.clone(), ERAS[1]).await;
        assert!(about["capabilities"]["logging"].is_object());
        client.call("noting", json!({})).await;
        assert_eq!(heard(&client), [], "before it asked");
        client.result("logging/setLevel", json!({ "level": level })).await;
        client.call("noting", json!({})).await;
        assert_eq!(heard(&client), expected, "{level}");

        let (mut client, _) = LineClient::open(&vault, told.clone(), ProtocolEra::Stateless).await;
        let meta = json!({ "io.modelcontextprotocol/logLevel": level });
        client.result("tools/call", json!({ "name": "noting", "_meta": meta })).await;
        assert_eq!(heard(&client), expected, "{level}, stateless");

        let (mut client, about) = LineClient::open(&vault, silent.clone(), ERAS[1]).await;
        assert!(about["capabilities"]["logging"].is_null());
        let refused = client.ask("logging/setLevel", json!({ "level": level })).await;
        assert_eq!(refused["error"]["code"], -32601, "{refused}");
    }
}
