//! Behaviour of the reference knowledge graph server, without a thread.

use memoranda_tools::Wording;
use serde_json::{Value, json};

use crate::support::TestVault;

fn vault() -> TestVault {
    TestVault::new(Wording::Mcp)
}

fn people() -> Value {
    json!({ "entities": [
        { "name": "Alice", "entityType": "person", "observations": ["works at Acme Corp", "likes coffee"] },
        { "name": "Bob", "entityType": "person", "observations": ["works at TechCo"] },
        { "name": "Acme Corp", "entityType": "company", "observations": ["tech company"] }
    ] })
}

fn with_relations() -> TestVault {
    let vault = vault();
    vault.done("create_entities", people());
    vault.done(
        "create_relations",
        json!({ "relations": [
        { "from": "Alice", "to": "Bob", "relationType": "knows" },
        { "from": "Alice", "to": "Acme Corp", "relationType": "works_at" }
    ] }),
    );
    vault
}

#[test]
fn entities_are_created_once_and_read_back() {
    let vault = vault();
    let made = vault.done("create_entities", people());
    assert_eq!(made["entities"], people()["entities"]);
    assert!(made["notice"].as_str().unwrap().contains("save_memory"));
    let again = vault.done("create_entities", people());
    assert_eq!(again["entities"], json!([]));
    let graph = vault.call("read_graph", &json!({}));
    assert_eq!(
        graph.structured.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["entities", "relations"]
    );
    assert_eq!(graph.text, serde_json::to_string_pretty(&graph.structured).unwrap());
    assert_eq!(graph.structured["entities"].as_array().unwrap().len(), 3);
    assert_eq!(vault.done("create_entities", json!({ "entities": [] }))["entities"], json!([]));
}

#[test]
fn relations_are_created_once_without_checking_their_ends() {
    let vault = with_relations();
    let again = vault.done(
        "create_relations",
        json!({ "relations": [
        { "from": "Alice", "to": "Bob", "relationType": "knows" },
        { "from": "Nobody", "to": "Nothing", "relationType": "misses" }
    ] }),
    );
    let stray = json!({ "from": "Nobody", "to": "Nothing", "relationType": "misses" });
    assert_eq!(again["relations"], json!([stray]));
    let graph = vault.done("read_graph", json!({}));
    assert_eq!(graph["entities"].as_array().unwrap().len(), 3);
    assert!(graph["relations"].as_array().unwrap().contains(&stray));
    // A placeholder becomes an entity and keeps its relation.
    vault.done(
        "create_entities",
        json!({ "entities": [
        { "name": "Nobody", "entityType": "person", "observations": ["is somebody"] }
    ] }),
    );
    let graph = vault.done("read_graph", json!({}));
    assert_eq!(graph["entities"].as_array().unwrap().len(), 4);
    assert!(graph["relations"].as_array().unwrap().contains(&stray));
}

#[test]
fn observations_are_added_once_and_only_to_existing_entities() {
    let vault = with_relations();
    let add = |contents: &[&str]| {
        vault.done(
            "add_observations",
            json!({ "observations": [{ "entityName": "Alice", "contents": contents }] }),
        )
    };
    let added = add(&["likes coffee", "has a dog. It barks. A lot. Every day."]);
    assert_eq!(
        added["results"],
        json!([{ "entityName": "Alice", "addedObservations": ["has a dog. It barks. A lot. Every day."] }])
    );
    let (text, _) = vault.refused(
        "add_observations",
        json!({ "observations": [
        { "entityName": "Bob", "contents": ["new"] }, { "entityName": "Zed", "contents": ["x"] }
    ] }),
    );
    assert!(text.starts_with("Entity with name Zed not found"), "{text}");
    let bob = vault.done("open_nodes", json!({ "names": ["Bob"] }));
    assert_eq!(bob["entities"][0]["observations"], json!(["works at TechCo"]));
}

#[test]
fn deletions_cascade_and_ignore_unknown_names() {
    let vault = with_relations();
    let gone = vault.call("delete_entities", &json!({ "entityNames": ["Bob", "Nobody"] }));
    assert_eq!(gone.text, "Entities deleted successfully");
    assert_eq!(gone.structured["success"], true);
    let graph = vault.done("read_graph", json!({}));
    assert_eq!(graph["entities"].as_array().unwrap().len(), 2);
    assert_eq!(graph["relations"].as_array().unwrap().len(), 1);
    let gone = vault.call(
        "delete_observations",
        &json!({ "deletions": [
        { "entityName": "Alice", "observations": ["likes coffee", "never said"] },
        { "entityName": "Nobody", "observations": ["x"] }
    ] }),
    );
    assert_eq!(gone.text, "Observations deleted successfully");
    let relation = json!({ "from": "Alice", "to": "Acme Corp", "relationType": "works_at" });
    let gone = vault.call("delete_relations", &json!({ "relations": [relation, relation] }));
    assert_eq!(gone.text, "Relations deleted successfully");
    let graph = vault.done("read_graph", json!({}));
    assert_eq!(graph["relations"], json!([]));
    assert_eq!(graph["entities"][1]["observations"], json!(["works at Acme Corp"]));
}

#[test]
fn search_and_open_give_relations_with_one_end() {
    let vault = with_relations();
    let names = |found: &Value| -> Vec<String> {
        let list = found["entities"].as_array().unwrap();
        list.iter().map(|e| e["name"].as_str().unwrap().to_owned()).collect()
    };
    for (query, expected) in [
        ("alice", &["Alice"][..]),
        ("company", &["Acme Corp"]),
        ("works at", &["Alice", "Bob"]),
        ("coff", &["Alice"]),
        ("nothing of the kind 7", &[]),
    ] {
        let found = vault.done("search_nodes", json!({ "query": query }));
        assert_eq!(names(&found)[..expected.len()], *expected, "{query}");
        assert!(!expected.is_empty() || names(&found).is_empty(), "{query}");
    }
    let found = vault.done("search_nodes", json!({ "query": "TechCo" }));
    assert_eq!(
        found["relations"],
        json!([{ "from": "Alice", "to": "Bob", "relationType": "knows" }])
    );
    let found = vault.done("open_nodes", json!({ "names": ["Alice", "Nobody"] }));
    assert_eq!(
        (names(&found), found["relations"].as_array().unwrap().len()),
        (vec!["Alice".into()], 2)
    );
    let none = vault.done("open_nodes", json!({ "names": [] }));
    assert_eq!(none, json!({ "entities": [], "relations": [] }));
}

#[test]
fn a_large_thread_is_searched_by_words_and_says_so() {
    let mut vault = vault();
    vault.settings.graph.pieces_up_to = 2;
    let entity =
        |name: &str, fact: &str| json!({ "name": name, "entityType": "T", "observations": [fact] });
    let entities =
        [entity("Postgres", "A database"), entity("Postman", "Sends"), entity("Outpost", "Is far")];
    vault.done("create_entities", json!({ "entities": entities }));
    let service = json!({ "name": "Queue", "entityType": "WebService", "observations": ["Waits"] });
    vault.done("create_entities", json!({ "entities": [service] }));
    // A placeholder is not an entity.
    let relation = json!({ "from": "Postbox", "to": "Postman", "relationType": "feeds" });
    vault.done("create_relations", json!({ "relations": [relation] }));
    let check = |query: &str, expected: &[&str], partial: bool| {
        let found = vault.done("search_nodes", json!({ "query": query }));
        let names: Vec<_> =
            found["entities"].as_array().unwrap().iter().map(|e| e["name"].clone()).collect();
        assert_eq!(json!(names), json!(expected), "{query}");
        assert_eq!(found.get("partial").is_some(), partial, "{query}");
    };
    check("Postgres", &["Postgres"], true);
    check("post", &["Postgres", "Postman"], true);
    check("database", &["Postgres"], true);
    // Without a matching prefix, parts of words are searched.
    check("utpos", &["Outpost"], false);
    check("atabas", &["Postgres"], false);
    check("WebService", &["Queue"], true);
    check("web service", &["Queue"], true);
    check("nothing at all", &[], false);
}

#[test]
fn texts_are_as_the_reference_server_prints_them() {
    let vault = vault();
    let relation = json!({ "from": "Alice", "to": "Bob", "relationType": "knows" });
    let more = json!([{ "entityName": "Bob", "contents": ["has a dog"] }]);
    for (tool, key, asked) in [
        ("create_entities", "entities", people()),
        ("create_relations", "relations", json!({ "relations": [relation] })),
        ("add_observations", "results", json!({ "observations": more })),
    ] {
        let made = vault.call(tool, &asked);
        assert_eq!(made.text, serde_json::to_string_pretty(&made.structured[key]).unwrap());
        assert!(made.structured["commit"].is_string());
    }
    // The structure lists unknown names; the sentence is the one of the reference server.
    let stray = json!({ "from": "Alice", "to": "Zed", "relationType": "knows" });
    let deletions = json!([{ "entityName": "Alice", "observations": ["never said"] }]);
    for (tool, asked) in [
        ("delete_entities", json!({ "entityNames": ["none"] })),
        ("delete_observations", json!({ "deletions": deletions })),
        ("delete_relations", json!({ "relations": [stray] })),
    ] {
        let told = vault.done(tool, asked);
        assert_eq!(told["notFound"].as_array().unwrap().len(), 1, "{tool}");
    }
}

#[test]
fn a_thread_skips_and_reports_relations_without_an_end() {
    let vault = vault();
    let mut asked = people();
    asked["threadId"] = json!("t");
    vault.done("create_entities", asked);
    let relation = |to: &str| json!({ "from": "Alice", "to": to, "relationType": "knows" });
    let relations = json!([relation("Bob"), relation("Bobb"), relation("Nobody")]);
    let made = vault.done("create_relations", json!({ "threadId": "t", "relations": relations }));
    assert_eq!(made["relations"].as_array().unwrap().len(), 1);
    let skipped = made["skipped"].as_array().unwrap();
    assert_eq!((skipped.len(), &skipped[0]["to"]), (2, &json!("Bobb")));
    assert!(skipped[0]["reason"].as_str().unwrap().contains("Did you mean 'Bob'?"));
}
