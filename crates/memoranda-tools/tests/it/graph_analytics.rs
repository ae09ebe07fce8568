//! Analytics, pages and times of a thread.

use memoranda_tools::Wording;
use serde_json::{Value, json};

use super::graph_save::valid;
use crate::support::TestVault;

const THREAD: &str = "portfolio-update-2026";

#[test]
fn equal_entities_are_ordered_by_path_and_roots_are_not_orphans() {
    let vault = TestVault::new(Wording::Mcp);
    let alone = |name: &str| json!({ "name": name, "entityType": "T", "observations": ["a fact"] });
    let names: Vec<String> = (0..25).rev().map(|n| format!("e{n:02}")).collect();
    let entities: Vec<Value> = names.iter().map(|name| alone(name)).collect();
    for entity in entities {
        vault.done("create_entities", json!({ "threadId": "t", "entities": [entity] }));
    }
    let root = json!({ "name": "a root", "entityType": "T", "observations": ["the root of all"],
        "relations": [], "root": true });
    vault.done("save_memory", json!({ "threadId": "t", "entities": [root] }));
    let told = || {
        let mut told = vault.done("get_analytics", json!({ "threadId": "t" }));
        told.as_object_mut().unwrap().remove("recent_changes");
        told
    };
    let before = told();
    let names = |key: &str| -> Vec<String> {
        let list = before[key].as_array().unwrap().iter();
        list.map(|one| one["entityName"].as_str().unwrap().to_owned()).collect()
    };
    let first: Vec<String> = (0..10).map(|n| format!("e{n:02}")).collect();
    assert_eq!(names("orphaned_entities"), first);
    assert_eq!(names("top_important")[..3], ["a root", "e00", "e01"]);
    assert_eq!(before["orphaned_count"], 25);
    vault.memory.reindex(&mut |_| {}).unwrap();
    assert_eq!(told(), before);
    // An existing entity can become the root.
    let root = json!({ "name": "e03", "entityType": "T", "observations": ["a fact"],
        "relations": [], "root": true });
    vault.done("save_memory", json!({ "threadId": "t", "entities": [root] }));
    assert_eq!(told()["orphaned_count"], 24);
}

#[test]
fn a_page_reports_what_it_leaves_out() {
    let vault = TestVault::new(Wording::Mcp);
    vault.done("save_memory", valid());
    let update = json!([{ "entityName": "Portfolio", "importance": 0.05 }]);
    vault.done("bulk_update", json!({ "threadId": THREAD, "updates": update }));
    let page = vault.done("read_graph", json!({ "threadId": THREAD }));
    assert_eq!(page["entities"].as_array().unwrap().len(), 2);
    let hidden = page["hidden"].as_str().unwrap();
    assert!(hidden.contains("1 entity") && hidden.contains("minImportance 0"), "{hidden}");
    let all = vault.done("read_graph", json!({ "threadId": THREAD, "minImportance": 0 }));
    assert_eq!((all["entities"].as_array().unwrap().len(), all.get("hidden")), (3, None));
    let page = vault.done("read_graph", json!({ "threadId": THREAD, "limit": 1 }));
    let truncated = page["truncated"].as_str().unwrap();
    assert!(truncated.contains("limit 1") && !truncated.contains("tokens"), "{truncated}");
    let page = vault.done("read_graph", json!({ "threadId": THREAD, "maxTokens": 200 }));
    assert!(page["truncated"].as_str().unwrap().contains("200 tokens"));
}

#[test]
fn a_day_includes_its_last_moment() {
    let vault = TestVault::new(Wording::Mcp);
    vault.done("save_memory", valid());
    let today = memoranda_engine::clock::now().to_string()[..10].to_owned();
    let asked = json!({ "threadId": THREAD, "timestampStart": today, "timestampEnd": today });
    assert_eq!(vault.done("query_nodes", asked)["entities"].as_array().unwrap().len(), 3);
    let midnight = format!("{today}T00:00:00Z");
    let asked = json!({ "threadId": THREAD, "timestampEnd": midnight });
    assert_eq!(vault.done("query_nodes", asked)["entities"], json!([]));
}

#[test]
fn the_graph_as_of_an_observation_contains_it() {
    let vault = TestVault::new(Wording::Mcp);
    vault.done("save_memory", valid());
    let portfolio = |as_of: &Value| {
        let asked = json!({ "threadId": THREAD, "names": ["Portfolio"], "as_of": as_of });
        vault.done("open_nodes", asked)["entities"][0]["observations"].clone()
    };
    let holds = |facts: &Value, id: &Value| {
        facts.as_array().is_some_and(|facts| facts.iter().any(|fact| fact["id"] == *id))
    };
    let mut last = portfolio(&json!(null))[0].clone();
    assert!(holds(&portfolio(&last["timestamp"]), &last["id"]));
    for n in 0..30 {
        let update = json!({ "threadId": THREAD, "entityName": "Portfolio",
            "observationId": last["id"], "newContent": format!("Is at version {n}") });
        let new = vault.done("update_observation", update)["observation"].clone();
        // The times have texts of different lengths, so they are compared as times.
        let [then, before] = [&new, &last]
            .map(|fact| fact["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap());
        assert!(then >= before, "{n}: {then} {before}");
        let then = portfolio(&new["timestamp"]);
        assert!(holds(&then, &new["id"]), "{n}: {then}");
        last = new;
        let relation =
            json!({ "from": "Portfolio", "to": "Andrii", "relationType": format!("{n}") });
        let made =
            vault.done("create_relations", json!({ "threadId": THREAD, "relations": [relation] }));
        let asked = json!({ "threadId": THREAD, "as_of": made["relations"][0]["timestamp"] });
        let then = vault.done("read_graph", asked)["relations"].clone();
        let is_there = |told: &Value| told["relationType"] == format!("{n}");
        assert!(then.as_array().unwrap().iter().any(is_there), "{n}");
    }
}
