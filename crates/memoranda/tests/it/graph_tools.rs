//! The graph's tools over real stdio: many processes on one thread, and the end of a process at
//! any moment.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, Era};
use super::support::Home;

const ERA: Era = Era::Handshake("2025-06-18");
const SET: &[&str] = &["--toolsets", "graph"];

/// Calls a tool, which must succeed; its structured result.
#[track_caller]
fn call(client: &mut Client, tool: &str, arguments: &Value) -> Value {
    let result = client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
    assert_eq!(result["isError"], false, "{tool}: {result}");
    result["structuredContent"].clone()
}

fn hub() -> Value {
    json!({
        "name": "Hub", "entityType": "Root", "observations": ["All is tied to it"], "root": true
    })
}

fn entity(name: &str) -> Value {
    json!({
        "name": name, "entityType": "Thing", "observations": [format!("Is called {name}")],
        "relations": [{ "targetEntity": "Hub", "relationType": "tied to" }]
    })
}

#[test]
fn four_processes_lose_nothing_on_one_thread() {
    let home = Home::new();
    let mut first = Client::open(&home, ERA, SET);
    call(&mut first, "save_memory", &json!({ "entities": [hub()], "threadId": "t" }));
    std::thread::scope(|scope| {
        for process in 0..4 {
            let home = &home;
            scope.spawn(move || {
                let mut client = Client::open(home, ERA, SET);
                for n in 0..250 {
                    let mut entities = vec![entity(&format!("E {process} {n}"))];
                    if n % 25 == 0 {
                        // All of them also add to the same entity.
                        let mut hub = hub();
                        hub["observations"] = json!([format!("Number {process} {n}")]);
                        entities.push(hub);
                    }
                    let wanted = entities.len();
                    let arguments = json!({ "entities": entities, "threadId": "t" });
                    let saved = call(&mut client, "save_memory", &arguments);
                    assert_eq!(saved["created"]["entities"], 1);
                    assert_eq!(saved["created"]["observations"], wanted);
                }
                client.close();
            });
        }
    });
    let told = call(&mut first, "get_analytics", &json!({ "threadId": "t" }));
    assert_eq!(told["entity_count"], 1001);
    assert_eq!(told["top_important"][0]["entityName"], "Hub");
    assert_eq!(told["top_important"][0]["observationCount"], 41);
    assert_eq!(told["most_connected"][0]["relationCount"], 1000);
    assert_eq!(told["orphaned_entities"], json!([]));
}

#[test]
fn a_save_that_is_cut_off_is_there_whole_or_not_at_all() {
    let home = Home::new();
    let mut acknowledged = 0;
    for round in 0..12u64 {
        let mut client = Client::open(&home, ERA, SET);
        let names: Vec<String> = (0..8).map(|n| format!("R{round} E{n}")).collect();
        let ring = |n: usize| {
            json!({
                "name": names[n], "entityType": "Thing", "observations": ["One of a ring"],
                "relations": [{ "targetEntity": names[(n + 1) % 8], "relationType": "next" }]
            })
        };
        let entities: Vec<Value> = (0..8).map(ring).collect();
        let arguments = json!({ "entities": entities, "threadId": "t" });
        if round % 4 == 0 {
            call(&mut client, "save_memory", &arguments);
            acknowledged += 1;
        } else {
            client.post("tools/call", json!({ "name": "save_memory", "arguments": arguments }));
            std::thread::sleep(Duration::from_micros(700 * round));
        }
        client.kill();
        let mut client = Client::open(&home, ERA, SET);
        let found = call(&mut client, "open_nodes", &json!({ "names": names, "threadId": "t" }));
        let count = found["entities"].as_array().unwrap().len();
        assert!(count == 0 || count == 8, "round {round}: {count} of 8");
        assert!(round % 4 != 0 || count == 8);
        assert_eq!(found["relations"].as_array().unwrap().len(), count);
        client.close();
    }
    assert_eq!(acknowledged, 3);
}

#[test]
fn a_model_learns_what_to_mend_and_the_command_line_has_the_same_tools() {
    let home = Home::new();
    let mut client = Client::open(&home, ERA, &[]);
    let arguments = json!({
        "entities": [{ "name": "X", "entityType": "Thing", "observations": ["A fact"], "relations": [] }],
        "threadId": "t"
    });
    let refused =
        client.result("tools/call", json!({ "name": "save_memory", "arguments": arguments }));
    assert_eq!(refused["isError"], true);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("Missing relations. Every entity must have at least 1 relation."),
        "{text}"
    );
    assert_eq!(
        refused["structuredContent"]["validation_errors"],
        json!(["Entity 'X' must have at least 1 relation"])
    );
    call(&mut client, "save_memory", &json!({ "entities": [hub(), entity("X")], "threadId": "t" }));
    let read = client.result("resources/read", json!({ "uri": "memory://knowledge-graph" }));
    assert!(read["contents"][0]["text"].as_str().unwrap().contains("\"entities\": []"));
    let out = home.ok(&["tool", "find_relation_path", r#"{"from":"Hub","to":"X","threadId":"t"}"#]);
    assert!(out.contains("Hub —tied to (inverse)→ X"), "{out}");
}

#[test]
fn statistics_tell_how_often_saving_fails_validation() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, &["--toolsets", "graph"]);
    let mut call = |name: &str, arguments: Value| {
        let asked = json!({ "name": name, "arguments": arguments });
        client.result("tools/call", asked)
    };
    let stats = json!({ "threadId": "t" });
    let none = call("get_memory_stats", stats.clone())["structuredContent"]["saveCalls"].clone();
    assert_eq!(none, json!({ "total": 0, "rejected": 0, "errorRate": null, "since": null }));
    let root = |facts: Value| {
        json!({ "threadId": "t", "entities": [{
            "name": "A", "entityType": "Thing", "observations": facts, "relations": [], "root": true,
        }]})
    };
    for facts in [json!(["One fact"]), json!(["Another"]), json!(["x".repeat(151)]), json!([])] {
        call("save_memory", root(facts));
    }
    call("save_memory", json!({ "threadId": "other", "entities": [] }));
    // Another process counts the same calls.
    let said = home.ok(&["tool", "get_memory_stats", &stats.to_string()]);
    let found = call("get_memory_stats", stats)["structuredContent"]["saveCalls"].clone();
    assert_eq!((&found["total"], &found["rejected"]), (&json!(4), &json!(2)), "{found}");
    assert_eq!(found["errorRate"], 0.5);
    assert!(said.contains("0.5"), "{said}");
}

#[test]
fn observations_with_equal_version_numbers_are_in_order_of_time() {
    let home = Home::new();
    let (old, new) = ("obs_3BBKGW1B9066ZZAY7H39T6KPHR", "obs_5FV786Q68Z5Q24A0NN2ZB2KJC9");
    let text = format!(
        "---\ntitle: A\ntype: x\n---\n## Observations\n\
         - [fact] New fact <!-- {new} v1 2026-01-02T00:00:00Z supersedes {old} -->\n\n## History\n\
         - [fact] ~~Old fact~~ <!-- {old} v1 2026-01-01T00:00:00Z by {new} -->\n"
    );
    home.write("graph/t/A.md", text);
    home.ok(&["scan"]);
    let mut client = Client::open(&home, ERA, SET);
    let asked = json!({ "threadId": "t", "entityName": "A", "observationId": new });
    let history = call(&mut client, "get_observation_history", &asked)["history"].clone();
    let chain: Vec<(&Value, &Value)> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (&entry["content"], &entry["current"]))
        .collect();
    assert_eq!(
        chain,
        [(&json!("Old fact"), &json!(false)), (&json!("New fact"), &json!(true))],
        "{history:#}"
    );
}
