//! The nearest statements of agents, behind answers that found nothing.

use memoranda_core::token_estimate::estimate_tokens;
use serde_json::{Value, json};

use crate::core_support::{remembered, vault_in_repository};
use crate::support::TestVault;

/// Heading of the statements.
const HEADING: &str = "Nearest of what agents remember; it may not be about this:\n";
/// A question that no statement of the tests answers.
const UNRELATED: &str = "how tall is the tower in Paris";

fn vault_with_preferences() -> TestVault {
    let vault = vault_in_repository();
    for preference in ["tabs", "oat milk", "short answers", "the early train", "dark themes"] {
        remembered(&vault, &format!("I prefer {preference}"));
    }
    vault
}

/// Returns the nearest statements of an answer.
fn nearest(structured: &Value) -> &[Value] {
    structured["nearest"].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[test]
fn each_reader_that_finds_nothing_names_them_and_counts_none_as_found() {
    let vault = vault_with_preferences();
    for (tool, found) in [
        ("recall", "passages"),
        ("get_context", "memories"),
        ("search_memories", "memories"),
        ("search_notes", "results"),
    ] {
        let answer = vault.call(tool, &json!({ "query": UNRELATED }));
        assert_eq!(answer.structured[found], json!([]), "{tool}: {}", answer.text);
        assert!(answer.structured["elsewhere"].as_array().is_none_or(Vec::is_empty), "{tool}");
        let listed = nearest(&answer.structured);
        assert_eq!(listed.len(), 3, "{tool}: {}", answer.text);
        let (before, statements) = answer.text.split_once(HEADING).unwrap();
        assert!(before.contains("othing") || before.contains("No memories"), "{tool}: {before}");
        for item in listed {
            let text = item["text"].as_str().unwrap();
            assert_eq!(statements.matches(text).count(), 1, "{tool}: {}", answer.text);
            assert!(!before.contains(text), "{tool}: {before}");
        }
    }
}

#[test]
fn an_answer_with_results_has_none() {
    let vault = vault_with_preferences();
    for tool in ["recall", "get_context", "search_memories", "search_notes"] {
        let answer = vault.call(tool, &json!({ "query": "oat milk" }));
        assert!(answer.text.contains("I prefer oat milk"), "{tool}: {}", answer.text);
        assert!(nearest(&answer.structured).is_empty(), "{tool}: {}", answer.text);
        assert!(!answer.text.contains(HEADING), "{tool}: {}", answer.text);
    }
}

#[test]
fn filters_thresholds_and_further_pages_have_none() {
    let vault = vault_with_preferences();
    vault.done("write_note", json!({ "title": "Tea", "directory": "x", "content": "Green." }));
    for (tool, more) in [
        ("search_notes", json!({ "min_relevance": 0.5 })),
        ("search_notes", json!({ "min_similarity": 0.9 })),
        ("search_notes", json!({ "tags": ["x"] })),
        ("search_notes", json!({ "note_types": ["note"] })),
        ("search_notes", json!({ "search_type": "text" })),
        ("search_notes", json!({ "search_type": "title" })),
        ("search_notes", json!({ "entity_types": ["observation"] })),
        ("search_memories", json!({ "min_relevance": 0.5 })),
        ("search_memories", json!({ "type": "rule" })),
        ("get_context", json!({ "min_relevance": 0.5 })),
        ("get_context", json!({ "mode": "working" })),
        ("get_context", json!({ "mode": "rules_only" })),
        ("get_context", json!({ "limit": 0 })),
    ] {
        let mut arguments = more;
        arguments["query"] = json!(UNRELATED);
        let answer = vault.call(tool, &arguments);
        assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
        assert!(nearest(&answer.structured).is_empty(), "{tool} {arguments}: {}", answer.text);
        assert!(!answer.text.contains(HEADING), "{tool} {arguments}: {}", answer.text);
    }
}

#[test]
fn they_stay_within_the_budget() {
    let vault = vault_with_preferences();
    for (tool, parameter) in [
        ("recall", "max_tokens"),
        ("get_context", "budget_tokens"),
        ("search_memories", "max_tokens"),
        ("search_notes", "max_tokens"),
    ] {
        let mut sizes = Vec::new();
        for budget in [150, 250, 400, 1_000] {
            let answer = vault.call(tool, &json!({ "query": UNRELATED, parameter: budget }));
            let (text, structure) =
                (estimate_tokens(&answer.text), estimate_tokens(&answer.structured.to_string()));
            assert!(text.max(structure) <= budget, "{tool} {budget}: {text} {structure}");
            sizes.push(nearest(&answer.structured).len());
        }
        assert!(sizes.is_sorted() && sizes.last() == Some(&3), "{tool}: {sizes:?}");
        assert!(sizes.first() < sizes.last(), "{tool}: {sizes:?}");
    }
}

#[test]
fn a_result_that_does_not_fit_is_not_said_to_be_missing() {
    let vault = vault_in_repository();
    let content = format!("The museum shows {}", "old paintings and new ones, ".repeat(12));
    remembered(&vault, &content);
    let asked = json!({ "query": "museum paintings", "max_tokens": 100 });
    let answer = vault.call("search_memories", &asked);
    assert!(answer.text.starts_with("Nothing that matches"), "{}", answer.text);
    assert!(answer.text.contains("[1 more did not fit max_tokens]"), "{}", answer.text);
    assert!(nearest(&answer.structured).is_empty(), "{}", answer.text);
}

#[test]
fn a_call_for_a_named_repository_gets_none_of_others() {
    let vault = vault_in_repository();
    for (repository, tool) in [("github.com/acme/shop", "pnpm"), ("github.com/acme/ox", "yarn")] {
        let content = format!("this repo uses {tool}");
        vault.done("remember", json!({ "content": content, "project_id": repository }));
    }
    for tool in ["get_context", "search_memories"] {
        let asked = |more: Value| {
            let mut arguments = more;
            arguments["query"] = json!("what package manager");
            vault.call(tool, &arguments).structured
        };
        assert_eq!(nearest(&asked(json!({}))).len(), 2, "{tool}");
        let of_shop = asked(json!({ "project_id": "github.com/acme/shop" }));
        let texts: Vec<&Value> = nearest(&of_shop).iter().map(|item| &item["text"]).collect();
        assert_eq!(texts, ["this repo uses pnpm"], "{tool}");
    }
}

#[test]
fn a_restricted_server_names_those_of_its_project_alone() {
    let mut vault = vault_with_preferences();
    vault.settings.notes.only_project = Some("main".into());
    vault.done(
        "write_note",
        json!({ "title": "Bridge", "directory": "x", "content": "The bridge in Lyon is old." }),
    );
    for tool in ["recall", "search_notes"] {
        let answer = vault.call(tool, &json!({ "query": UNRELATED }));
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        let places: Vec<&Value> =
            nearest(&answer.structured).iter().map(|n| &n["places"]).collect();
        assert_eq!(places, [&json!(["main/x/Bridge.md"])], "{tool}: {}", answer.text);
    }
}

#[test]
fn notes_that_agents_wrote_are_named_and_those_of_people_are_not() {
    let vault = vault_in_repository();
    let note =
        |title: &str, text: &str| json!({ "title": title, "directory": "house", "content": text });
    vault.done("write_note", note("Letter", "The mortgage runs until 2031 at a fixed rate"));
    std::fs::write(vault.path("main/house/Own.md"), "Rooms in the city have become dear.\n")
        .unwrap();
    vault.memory.sync(&mut |_| {}).unwrap();
    let asked = |arguments: Value| vault.call("recall", &arguments);
    let question = "what do we pay the bank for our flat each month";
    let answer = asked(json!({ "query": question }));
    assert_eq!(answer.structured["count"], 0, "{}", answer.text);
    let listed = nearest(&answer.structured);
    assert_eq!(listed.len(), 1, "{}", answer.text);
    assert_eq!(listed[0]["places"], json!(["main/house/Letter.md"]));
    assert!(listed[0]["text"].as_str().unwrap().contains("until 2031"), "{}", answer.text);
    let facts = asked(json!({ "query": question, "kinds": ["fact"] }));
    assert!(nearest(&facts.structured).is_empty(), "a note is no fact: {}", facts.text);
}
