//! Requests of `save_memory` and its relatives: problems, suggestions and merges.

use memoranda_tools::Wording;
use serde_json::{Value, json};

use super::graph_save::entity;
use crate::support::TestVault;

const THREAD: &str = "t";

fn pair() -> TestVault {
    let vault = TestVault::new(Wording::Mcp);
    let entities =
        json!([entity("Alpha", "First fact", "Beta"), entity("Beta", "Second", "Alpha")]);
    vault.done("save_memory", json!({ "threadId": THREAD, "entities": entities }));
    vault
}

#[track_caller]
fn check(entities: Value, briefs: &[&str]) -> Value {
    let request = json!({ "threadId": THREAD, "entities": entities });
    let (_, refused) = pair().refused("save_memory", request);
    let told = refused["validation_errors"].as_array().unwrap();
    let told: Vec<&str> = told.iter().map(|brief| brief.as_str().unwrap()).collect();
    assert_eq!(told, briefs);
    refused
}

#[test]
fn every_problem_is_reported() {
    let mut odd = entity("Odd", "A fact that fits", "Alpha");
    odd["observations"] = json!(["A fact that fits", 5, "tiny", { "no": "content" }]);
    odd["relations"] = json!([
        7,
        { "targetEntity": "", "relationType": "r".repeat(51), "importance": 2, "more": 1 },
        { "targetEntity": "Alpha", "relationType": "knows" }
    ]);
    check(
        json!([5, odd, "text", entity("Self", "Only related to itself", "Self")]),
        &[
            "Entity '#1': Must be an object.",
            "Entity 'Odd': observations must be a list of texts; 5 is not a text.",
            "Entity 'Odd': observations must be a list of texts; {\"no\":\"content\"} is not a text.",
            "Entity 'Odd': Observation too short (4 chars). Min 5.",
            "Entity 'Odd': A relation must be an object.",
            "Entity 'Odd': Missing targetEntity.",
            "Entity 'Odd': relationType too long (51 chars). Max 50 chars.",
            "Entity 'Odd': `importance` of a relation must be a number from 0 to 1, not 2.",
            "Entity 'Odd': a relation has no parameter \"more\"; it takes targetEntity, relationType, importance.",
            "Entity '#3': Must be an object.",
            "Entity 'Self' must have at least 1 relation to another entity",
        ],
    );
    // A relation to itself is valid with another relation, or for a root.
    let vault = pair();
    let mut both = entity("Both", "Related to itself too", "Both");
    let other = json!({ "targetEntity": "Alpha", "relationType": "knows" });
    both["relations"].as_array_mut().unwrap().push(other);
    let mut root = entity("Root", "The root of it all", "Root");
    root["root"] = json!(true);
    vault.done("save_memory", json!({ "threadId": THREAD, "entities": [both, root] }));
}

#[test]
fn suggested_names_prefer_the_thread_and_exclude_the_source() {
    let refused = check(
        json!([entity("Alphas", "A fact of its own", "Alpa"), entity("Alpah", "Another", "Beta")]),
        &["Entity 'Alphas': Target entity 'Alpa' not found in request or thread"],
    );
    let suggestion = refused["suggestion"].as_str().unwrap();
    assert!(suggestion.starts_with("Did you mean 'Alpha' or 'Alpah'? "), "{suggestion}");
}

#[test]
fn a_refusal_is_limited_in_size() {
    let long = "word ".repeat(300);
    let many: Vec<Value> =
        (0..1000).map(|n| json!({ "name": format!("E{n}"), "observations": [long] })).collect();
    let vault = pair();
    let request = json!({ "threadId": THREAD, "entities": many });
    let (_, refused) = vault.refused("save_memory", request.clone());
    assert_eq!(refused["problem_count"], 3000);
    assert!(refused["truncated"].as_str().unwrap().starts_with("2970 more problems"));
    assert!(refused.to_string().len() < 120_000, "{}", refused.to_string().len());
    let checked = vault.done("validate_memory", request);
    assert_eq!(checked["problem_count"], 3000);
    assert!(checked.to_string().len() < 400_000, "{}", checked.to_string().len());
}

#[test]
fn additions_are_checked_all_together() {
    let vault = pair();
    let add = |observations: Value| json!({ "threadId": THREAD, "observations": observations });
    let (text, _) = vault.refused(
        "add_observations",
        add(json!([
            { "entityName": "Alpha", "contents": ["tiny", 5] },
            { "entityName": "Beta", "contents": ["One. Two. Three."] },
            { "entityName": "Beta", "contents": ["A fact"], "confidence": 3 }
        ])),
    );
    for part in
        ["Too short (4 chars)", "5 is not a text", "3 sentences). Max", "from 0 to 1, not 3"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (text, _) = vault.refused(
        "add_observations",
        add(json!([
            { "entityName": "Alpa", "contents": ["A fact"] },
            { "entityName": "Bet", "contents": ["A fact"] }
        ])),
    );
    assert!(text.contains("Entity with name Alpa not found"), "{text}");
    assert!(text.contains("Entity with name Bet not found"), "{text}");
}

#[test]
fn a_merge_reports_the_importance_it_keeps() {
    let vault = pair();
    let save = |importance: Value, of_relation: Value| {
        let mut again = entity("Alpha", "First fact", "Beta");
        again["importance"] = importance;
        again["relations"][0]["importance"] = of_relation;
        let saved = vault.done("save_memory", json!({ "threadId": THREAD, "entities": [again] }));
        let graph = vault.done("read_graph", json!({ "threadId": THREAD }));
        let now = (
            graph["entities"][0]["importance"].clone(),
            graph["relations"][0]["importance"].clone(),
        );
        (saved, now)
    };
    let (saved, now) = save(json!(0.9), json!(0.95));
    assert_eq!(now, (json!(0.9), json!(0.95)));
    assert_eq!(saved["merged"][0]["relations_updated"], 1);
    let (saved, now) = save(json!(0.2), json!(0.1));
    assert_eq!(now, (json!(0.9), json!(0.1)));
    assert!(saved["warnings"][0].as_str().unwrap().contains("importance stays 0.9"), "{saved}");
    let (saved, now) = save(Value::Null, Value::Null);
    assert_eq!(now, (json!(0.9), json!(0.1)));
    assert!(saved.get("commit").is_none(), "{saved}");
    assert_eq!(saved["merged"][0]["relations_updated"], 0);
    let relation =
        json!({ "from": "Alpha", "to": "Beta", "relationType": "knows", "importance": 1 });
    let told =
        vault.done("create_relations", json!({ "threadId": THREAD, "relations": [relation] }));
    assert_eq!((&told["relations"], &told["relationsUpdated"]), (&json!([]), &json!(1)));
}

#[test]
fn an_update_names_the_current_observation_and_rejects_duplicates() {
    let vault = pair();
    let opened = || vault.done("open_nodes", json!({ "threadId": THREAD, "names": ["Alpha"] }));
    let first = opened()["entities"][0]["observations"][0]["id"].clone();
    let update = |id: &Value, content: &str| json!({ "threadId": THREAD, "entityName": "Alpha", "observationId": id, "newContent": content });
    let second = vault.done("update_observation", update(&first, "Second wording"));
    let second = second["observation"]["id"].clone();
    let third = vault.done("update_observation", update(&second, "Third wording"));
    let (text, _) = vault.refused("update_observation", update(&first, "Fourth wording"));
    assert!(text.contains(third["observation"]["id"].as_str().unwrap()), "{text}");
    let more = json!([{ "entityName": "Alpha", "contents": ["Another fact"] }]);
    let added = vault.done("add_observations", json!({ "threadId": THREAD, "observations": more }));
    let other = added["results"][0]["addedObservations"][0]["id"].clone();
    let (text, _) = vault.refused("update_observation", update(&other, "Third wording"));
    assert!(text.contains("already has this fact"), "{text}");
}

#[test]
fn counts_and_plurals_are_correct() {
    let vault = pair();
    let flag = json!({ "threadId": THREAD, "entityName": "Alpha", "reason": " " });
    vault.refused("flag_for_review", flag);
    let mut dated = entity("Alpha", "A fact of that day", "Beta");
    dated["timestamp"] = json!("2026-01-20");
    vault.done("save_memory", json!({ "threadId": THREAD, "entities": [dated] }));
    let gone = json!({ "threadId": THREAD, "entityNames": ["Nobody"] });
    let told = vault.done("delete_entities", gone);
    assert_eq!(told["message"], "Nothing was deleted");
}

#[test]
fn the_definition_contains_the_configured_limits() {
    let mut vault = pair();
    let told = |vault: &TestVault| {
        let tool = memoranda_tools::tool("save_memory").unwrap();
        let (text, input) = (tool.description(&vault.settings), tool.input_schema(&vault.settings));
        let entity = &input["properties"]["entities"]["items"];
        let facts = &entity["properties"]["observations"];
        assert_eq!(entity["required"], json!(["name", "entityType", "observations", "relations"]));
        (text.into_owned(), facts["items"]["maxLength"].clone(), facts["description"].clone())
    };
    let (text, most, about) = told(&vault);
    assert!(text.contains("max 150 chars"), "{text}");
    assert_eq!(
        (most, about.as_str()),
        (json!(150), Some("Atomic facts. Each ONE fact, max 150 chars, 2 sentences"))
    );
    vault.settings.graph.limits.chars = 300;
    vault.settings.graph.limits.sentences = 4;
    let (text, most, about) = told(&vault);
    assert!(text.contains("max 300 chars"), "{text}");
    assert_eq!(
        (most, about.as_str()),
        (json!(300), Some("Atomic facts. Each ONE fact, max 300 chars, 4 sentences"))
    );
}
