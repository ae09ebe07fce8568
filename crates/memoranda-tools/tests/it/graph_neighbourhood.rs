//! The neighbourhood of entities: `get_context` with `entityNames`, by the page.

use memoranda_tools::Wording;
use serde_json::{Value, json};

use super::graph_save::entity;
use crate::support::TestVault;

/// Returns a vault with a hub and `rays` entities around it.
fn star(rays: usize) -> TestVault {
    let vault = TestVault::new(Wording::Mcp);
    let hub = entity("Hub", "Everything leads here", "Ray 0");
    let rays = (0..rays).map(|n| entity(&format!("Ray {n}"), "Leads to the hub", "Hub"));
    let entities: Vec<Value> = std::iter::once(hub).chain(rays).collect();
    vault.done("save_memory", json!({ "threadId": "t", "entities": entities }));
    vault
}

fn around(vault: &TestVault, more: Value) -> Value {
    let mut arguments = json!({ "threadId": "t", "entityNames": ["Hub"] });
    more.as_object().unwrap().iter().for_each(|(key, value)| arguments[key] = value.clone());
    vault.done("get_context", arguments)
}

fn names(found: &Value) -> Vec<String> {
    let entities = found["entities"].as_array().unwrap().iter();
    entities.map(|entity| entity["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_cut_answer_continues_at_its_next_offset() {
    let vault = star(60);
    let (mut found, mut relations, mut offset) = (Vec::new(), 0, 0);
    for page in 0.. {
        let told = around(&vault, json!({ "offset": offset, "budget_tokens": 1500 }));
        found.extend(names(&told));
        relations += told["relations"].as_array().unwrap().len();
        assert_eq!(told["total"], 61);
        let Some(next) = told["nextOffset"].as_u64() else {
            assert!(page > 1, "all on {page} pages");
            assert!(told.get("truncated").is_none(), "{told}");
            break;
        };
        let said = told["truncated"].as_str().unwrap();
        assert!(said.contains(&format!("offset {next}")), "{said}");
        assert_eq!(next, found.len() as u64);
        offset = next;
    }
    let rays: Vec<String> = (0..60).map(|n| format!("Ray {n}")).collect();
    assert_eq!(found[0], "Hub", "the nearest first");
    found[1..].sort_unstable_by_key(|name| name["Ray ".len()..].parse::<usize>().unwrap());
    assert_eq!(found[1..], rays);
    // Each relation appears once, on the page of its source.
    assert_eq!(relations, 61);
}

#[test]
fn a_limited_neighbourhood_is_marked_as_partial() {
    let told = around(&star(510), json!({ "offset": 495 }));
    assert_eq!(names(&told).len(), 6, "500 around the hub");
    assert!(told["partial"].as_str().unwrap().contains("500 nearest"), "{}", told["partial"]);
    let told = around(&star(2), json!({}));
    assert!(told.get("partial").is_none(), "{told}");
}

#[test]
fn an_entity_named_twice_appears_once() {
    let vault = star(2);
    let told = vault
        .done("get_context", json!({ "threadId": "t", "entityNames": ["Hub", " Hub ", "Ray 1"] }));
    assert_eq!(names(&told), ["Hub", "Ray 1", "Ray 0"]);
}
