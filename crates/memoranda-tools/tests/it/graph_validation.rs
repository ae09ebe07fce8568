//! Validation: one answer contains every problem of a request, in one shape.

use memoranda_tools::Wording;
use serde_json::{Value, json};

use super::graph_save::valid;
use crate::support::TestVault;

const THREAD: &str = "portfolio-update-2026";

fn saved() -> TestVault {
    let vault = TestVault::new(Wording::Mcp);
    vault.done("save_memory", valid());
    vault
}

/// Calls a tool that must refuse. Each line of the answer contains one of these texts.
#[track_caller]
fn check(vault: &TestVault, tool: &str, arguments: Value, expected: &[&str]) -> Value {
    let (text, told) = vault.refused(tool, arguments);
    let problems = told["problems"].as_array().unwrap_or_else(|| panic!("{told:#}"));
    assert_eq!(problems.len(), expected.len(), "{text}");
    assert_eq!(told["problem_count"], expected.len());
    for (problem, expected) in problems.iter().zip(expected) {
        assert!(problem.to_string().contains(expected), "{expected}: {problem}");
        assert_eq!(problem["error"], "Validation failed");
        assert!(!problem["suggestion"].as_str().unwrap().is_empty());
    }
    for error in told["validation_errors"].as_array().unwrap() {
        assert!(error.is_string());
    }
    told
}

#[test]
fn problems_of_the_request_do_not_hide_problems_of_entities() {
    let vault = saved();
    let entities =
        json!([{ "name": "A", "entityType": "T", "observations": ["x"], "relations": [] }]);
    let long = "t".repeat(300);
    for thread in [json!(null), json!(""), json!(long), json!([1])] {
        let asked = json!({ "threadId": thread, "entities": entities, "more": 1 });
        let expected = ["threadId", "parameter", "Too short", "Missing relations"];
        let told = check(&vault, "save_memory", asked.clone(), &expected);
        assert_eq!(told["created"], json!({ "entities": 0, "relations": 0 }));
        assert_eq!((&told["quality_score"], &told["warnings"]), (&json!(0.0), &json!([])));
        // The thread is optional here, and an empty one is absent.
        if thread != json!(null) && thread != json!("") {
            check(&vault, "validate_memory", asked, &expected);
        }
    }
    check(&vault, "save_memory", json!({}), &["threadId", "`entities`"]);
    check(&vault, "save_memory", json!({ "threadId": "t", "entities": 5 }), &["`entities`"]);
}

#[test]
fn changes_of_observations_report_every_problem() {
    let vault = saved();
    let updates = json!([
        { "entityName": "Portfolio", "importance": 5, "addObservations": ["z"] },
        { "entityName": "Andrii", "confidence": "x", "typo": 1 },
        { "addObservations": ["abcde"] }
    ]);
    let expected = ["importance", "Too short", "typo", "confidence", "entityName"];
    check(&vault, "bulk_update", json!({ "threadId": THREAD, "updates": updates }), &expected);
    check(&vault, "bulk_update", json!({ "updates": [{}] }), &["threadId", "entityName"]);
    let update = json!({
        "threadId": THREAD, "entityName": "Portfolo", "observationId": "x", "newContent": "y",
        "importance": 7
    });
    let expected = ["observationId", "importance", "Too short", "Did you mean 'Portfolio'"];
    check(&vault, "update_observation", update, &expected);
    let expected = ["threadId", "entityName", "observationId", "newContent"];
    check(&vault, "update_observation", json!({}), &expected);
    let additions = json!([
        { "entityName": "Nope", "contents": ["x"] },
        { "entityName": "Portfolio", "contents": ["One. Two. Three."], "importance": 2 },
        { "contents": ["abcde"] }
    ]);
    let additions = json!({ "threadId": THREAD, "observations": additions });
    let expected = ["Too short", "Too many sentences", "importance", "entityName", "name Nope not"];
    check(&vault, "add_observations", additions, &expected);
    let additions = json!([{ "entityName": "Nope", "contents": ["a fact"] }]);
    let additions = json!({ "threadId": THREAD, "observations": additions });
    check(&vault, "add_observations", additions, &["name Nope not found"]);
}

#[test]
fn two_threads_in_one_request_are_refused() {
    let vault = saved();
    for (tool, asked) in [
        ("open_nodes", json!({ "threadId": THREAD, "thread_id": "alpha", "names": ["A"] })),
        ("get_analytics", json!({ "threadId": THREAD, "agentThreadId": "alpha" })),
        (
            "create_entities",
            json!({ "threadId": THREAD, "entities": [
                { "name": "Q", "entityType": "T", "observations": [], "agentThreadId": "alpha" }] }),
        ),
        (
            "create_entities",
            json!({ "threadId": THREAD, "entities": [{ "name": "Q", "entityType": "T",
                "observations": [{ "content": "a fact", "agentThreadId": "alpha" }] }] }),
        ),
        (
            "create_relations",
            json!({ "threadId": THREAD, "relations": [
                { "from": "Andrii", "to": "Portfolio", "relationType": "x", "agentThreadId": "alpha" }] }),
        ),
        (
            "add_observations",
            json!({ "threadId": THREAD, "observations": [
                { "entityName": "Andrii", "contents": ["a new fact"], "agentThreadId": "alpha" }] }),
        ),
        (
            "save_memory",
            json!({ "threadId": THREAD, "entities": [{ "name": "Q", "entityType": "T", "root": true,
                "observations": ["a new fact"], "relations": [], "agentThreadId": "alpha" }] }),
        ),
    ] {
        let (text, _) = vault.refused(tool, asked);
        assert!(text.contains("alpha") && text.contains(THREAD), "{tool}: {text}");
    }
    vault
        .done("open_nodes", json!({ "threadId": THREAD, "agentThreadId": THREAD, "names": ["A"] }));
}

#[test]
fn an_observation_object_keeps_its_weights_and_time() {
    let vault = saved();
    let fact = json!({
        "content": "Plays the viola", "timestamp": "2020-05-01T00:00:00Z", "confidence": 0.3,
        "importance": 0.9, "agentThreadId": THREAD, "version": 7
    });
    let entity = |name: &str| {
        json!({ "name": name, "entityType": "Person", "observations": [fact, "Sings well"],
            "relations": [{ "targetEntity": "Andrii", "relationType": "knows" }], "importance": 0.4 })
    };
    vault.done("save_memory", json!({ "threadId": THREAD, "entities": [entity("Olha")] }));
    vault.done("save_memory", json!({ "threadId": THREAD, "entities": [entity("Portfolio")] }));
    let mut plain = entity("Petro");
    plain.as_object_mut().unwrap().remove("relations");
    vault.done("create_entities", json!({ "threadId": THREAD, "entities": [plain] }));
    vault.done(
        "add_observations",
        json!({ "threadId": THREAD, "observations": [
            { "entityName": "Andrii", "contents": [fact, "Sings well"], "importance": 0.4 }] }),
    );
    for name in ["Olha", "Portfolio", "Petro", "Andrii"] {
        let told = vault.done("open_nodes", json!({ "threadId": THREAD, "names": [name] }));
        let facts = told["entities"][0]["observations"].as_array().unwrap().clone();
        let of = |text: &str| facts.iter().find(|fact| fact["content"] == text).unwrap().clone();
        let said = of("Plays the viola");
        assert_eq!(said["timestamp"], "2020-05-01T00:00:00Z", "{name}");
        assert_eq!(
            (&said["confidence"], &said["importance"]),
            (&json!(0.3), &json!(0.9)),
            "{name}"
        );
        assert_eq!(of("Sings well")["importance"], 0.4, "{name}");
    }
    let wrong = json!({ "content": "Plays the viola", "importance": 3 });
    let mut entity = entity("Olena");
    entity["observations"] = json!([wrong]);
    let asked = json!({ "threadId": THREAD, "entities": [entity] });
    check(&vault, "save_memory", asked, &["importance"]);
}
