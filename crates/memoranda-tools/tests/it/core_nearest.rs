//! The nearest statements of agents, behind answers that found nothing.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use memoranda_core::change::{Author, ChangeChannel};
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::{Memory, OpenOptions};
use memoranda_tools::{CallContext, ClientContext, SpaceMemory, ToolResult, call, tool};
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

/// Returns a vault with facts of the repository, which `get_context` lists in no other section.
fn vault_with_facts() -> TestVault {
    let vault = vault_in_repository();
    for choice in ["tabs", "oat milk", "short answers", "the early train", "dark themes"] {
        let fact = format!("we prefer {choice} here");
        vault.done("remember", json!({ "content": fact, "kind": "fact", "scope": "repository" }));
    }
    vault
}

/// Calls a tool over the vaults of several spaces, as if they were one.
fn call_in_spaces(
    vault: &TestVault,
    other: &Arc<Memory>,
    name: &str,
    arguments: Value,
) -> ToolResult {
    let cancelled = AtomicBool::new(false);
    let others = [SpaceMemory { name: "second".into(), memory: Arc::clone(other) }];
    let context = CallContext {
        memory: &vault.memory,
        who: Author::new("test 1", name, ChangeChannel::Mcp),
        settings: &vault.settings,
        progress: &|_, _, _| {},
        cancelled: &cancelled,
        client: &ClientContext::default(),
        space: Some("first"),
        others: &others,
    };
    call(tool(name).unwrap(), &context, arguments)
}

/// Returns the nearest statements of an answer.
fn nearest(structured: &Value) -> &[Value] {
    structured["nearest"].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[test]
fn each_reader_that_finds_nothing_names_them_and_counts_none_as_found() {
    let vault = vault_with_facts();
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
fn what_is_known_of_the_person_is_not_said_to_be_about_something_else() {
    let vault = vault_with_preferences();
    vault.done(
        "remember",
        json!({ "content": "Use one shared calendar", "kind": "decision", "scope": "person" }),
    );
    let path = vault.path("memories/user/car.md");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "She drives an old van.\n").unwrap();
    vault.memory.sync(&mut |_| {}).unwrap();
    let answer = vault.call("get_context", &json!({ "query": UNRELATED }));
    let (known, _) = answer.text.split_once(HEADING).unwrap_or((&answer.text, ""));
    assert!(known.contains("\nNothing matches"), "{}", answer.text);
    let person = answer.structured["person"].as_array().unwrap();
    assert_eq!(person.len(), 6, "{}", answer.text);
    let everywhere = answer.structured["everywhere"].as_array().unwrap();
    assert_eq!(everywhere.len(), 1, "{}", answer.text);
    for item in person.iter().chain(everywhere) {
        let text = item["text"].as_str().unwrap();
        assert_eq!(answer.text.matches(text).count(), 1, "{text}: {}", answer.text);
        assert!(nearest(&answer.structured).iter().all(|near| near["text"] != text), "{text}");
    }
    // A statement that its section has no room for stays among the nearest.
    for budget in [60, 120, 180, 240, 300, 400] {
        let asked = json!({ "query": UNRELATED, "budget_tokens": budget });
        let answer = vault.call("get_context", &asked);
        let listed: Vec<&Value> = ["person", "everywhere"]
            .iter()
            .flat_map(|section| answer.structured[section].as_array().unwrap())
            .chain(nearest(&answer.structured))
            .map(|item| &item["text"])
            .collect();
        for text in &listed {
            let times = listed.iter().filter(|other| other == &text).count();
            assert_eq!(times, 1, "{budget} {text}: {}", answer.text);
        }
    }
}

#[test]
fn the_most_relevant_of_all_spaces_come_first_and_are_as_many_as_of_one() {
    let vault = vault_with_facts();
    let folder = tempfile::TempDir::new().unwrap();
    let other = Arc::new(Memory::open(OpenOptions::in_folder(folder.path())).unwrap());
    let author = Author::new("test 1", "remember", ChangeChannel::Mcp);
    for (title, memory) in [("One", &vault.memory), ("Two", &other), ("Six", &other)] {
        let cancelled = AtomicBool::new(false);
        let context = CallContext {
            memory,
            who: author.clone(),
            settings: &vault.settings,
            progress: &|_, _, _| {},
            cancelled: &cancelled,
            client: &ClientContext::default(),
            space: None,
            others: &[],
        };
        let content = format!("The bridge of {title} is made of wood.");
        let note = json!({ "title": title, "directory": "x", "content": content });
        assert!(!call(tool("write_note").unwrap(), &context, note).is_error);
        let note = json!({ "title": format!("{title} b"), "directory": "x", "content": "A van." });
        assert!(!call(tool("write_note").unwrap(), &context, note).is_error);
        for text in ["lifts", "stairs", "paint"] {
            let fact = json!({ "content": format!("{title} has {text}"), "kind": "fact" });
            assert!(!call(tool("remember").unwrap(), &context, fact).is_error);
        }
    }
    for tool in ["recall", "search_notes"] {
        let answer = call_in_spaces(&vault, &other, tool, json!({ "query": UNRELATED }));
        let listed = nearest(&answer.structured);
        let relevances: Vec<f64> =
            listed.iter().map(|item| item["relevance"].as_f64().unwrap()).collect();
        assert!(relevances.is_sorted_by(|a, b| a >= b), "{tool} {relevances:?}: {}", answer.text);
        let notes = listed.iter().filter(|item| item["kind"] == "note").count();
        assert_eq!((listed.len() - notes, notes), (3, 2), "{tool}: {}", answer.text);
        assert!(listed.iter().all(|item| item["space"].is_string()), "{tool}: {}", answer.text);
        let order: Vec<usize> = listed
            .iter()
            .map(|item| answer.text.find(item["text"].as_str().unwrap()).unwrap())
            .collect();
        assert!(order.is_sorted(), "{tool}: {}", answer.text);
    }
}

#[test]
fn a_question_without_a_word_has_none_and_fails_nothing() {
    for only in [None, Some("main")] {
        let mut vault = vault_in_repository();
        let note = json!({ "title": "Tea", "directory": "x", "content": "Green." });
        vault.done("write_note", note);
        vault.settings.notes.only_project = only.map(str::to_owned);
        for query in ["???", "🙂"] {
            let answer = vault.call("get_context", &json!({ "query": query }));
            assert!(!answer.is_error, "{only:?}: {}", answer.text);
            assert!(nearest(&answer.structured).is_empty(), "{only:?}: {}", answer.text);
        }
    }
    let vault = vault_in_repository();
    vault.done("remember", json!({ "content": "Never push on Fridays", "kind": "rule" }));
    let answer = vault.call("get_context", &json!({ "query": "???" }));
    assert!(answer.text.contains("Never push on Fridays"), "{}", answer.text);
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
    let vault = vault_with_facts();
    vault.done("write_note", json!({ "title": "Tea", "directory": "x", "content": "Green." }));
    for (tool, more) in [
        ("recall", json!({ "min_relevance": 0.5 })),
        ("recall", json!({ "min_relevance": 0.3 })),
        ("recall", json!({ "as_of": "2020-01-01" })),
        ("search_notes", json!({ "min_relevance": 0.5 })),
        ("search_notes", json!({ "min_relevance": 0.3 })),
        ("search_notes", json!({ "page": 2 })),
        ("search_notes", json!({ "after_date": "7d" })),
        ("search_notes", json!({ "min_similarity": 0.9 })),
        ("search_notes", json!({ "tags": ["x"] })),
        ("search_notes", json!({ "note_types": ["note"] })),
        ("search_notes", json!({ "search_type": "text" })),
        ("search_notes", json!({ "search_type": "title" })),
        ("search_notes", json!({ "entity_types": ["observation"] })),
        ("search_memories", json!({ "min_relevance": 0.5 })),
        ("search_memories", json!({ "min_relevance": 0.3 })),
        ("search_memories", json!({ "type": "rule" })),
        ("get_context", json!({ "min_relevance": 0.5 })),
        ("get_context", json!({ "min_relevance": 0.3 })),
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
    let vault = vault_with_facts();
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
fn a_long_question_stays_within_the_budget_too() {
    let mut vault = vault_in_repository();
    let workspace = vault.path("../deep");
    std::fs::create_dir_all(workspace.join(".git")).unwrap();
    std::fs::write(workspace.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let remote = format!("git.example.com/{}", "group-of-teams/".repeat(3) + "lighthouse");
    let config = format!("[remote \"origin\"]\n\turl = https://{remote}.git\n");
    std::fs::write(workspace.join(".git/config"), config).unwrap();
    vault.settings.workspace = Some(workspace);
    for n in 0..12 {
        let content = format!("The lamp number {n} shines {}", "far over the sea ".repeat(n % 4));
        let fact = json!({ "content": content, "kind": "fact", "scope": "repository" });
        vault.done("remember", fact);
    }
    let long = format!("lamp {}", "and the bright beam of the lighthouse ".repeat(40));
    for query in ["lamp", &long, UNRELATED] {
        for (tool, parameter) in
            [("search_memories", "max_tokens"), ("get_context", "budget_tokens")]
        {
            let mut sizes = Vec::new();
            for budget in [250, 300, 350, 400, 500, 800] {
                let asked = json!({ "query": query, parameter: budget, "limit": 5 });
                let answer = vault.call(tool, &asked);
                let (text, structure) = (
                    estimate_tokens(&answer.text),
                    estimate_tokens(&answer.structured.to_string()),
                );
                let begin: String = query.chars().take(20).collect();
                let most = text.max(structure);
                assert!(most <= budget, "{tool} {begin} {budget}: {text} {structure}");
                sizes.push(answer.structured["memories"].as_array().unwrap().len());
            }
            assert!(sizes.is_sorted(), "{tool}: {sizes:?}");
            assert!(query == UNRELATED || sizes.last() == Some(&5), "{tool}: {sizes:?}");
        }
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

#[test]
fn each_reader_says_that_it_went_by_words_alone() {
    const NOTICE: &str = "[found by words alone";
    let other = TestVault::new(memoranda_tools::Wording::Mcp);
    let mut vault = vault_with_facts();
    for n in 0..6 {
        let note =
            json!({ "title": format!("Tea {n}"), "directory": "x", "content": "Green tea." });
        vault.done("write_note", note);
    }
    for (tool, more) in [
        ("recall", json!({})),
        ("get_context", json!({})),
        ("search_memories", json!({})),
        ("search_notes", json!({})),
    ] {
        // Another handle has read no vectors yet.
        vault.memory = reopened(&vault);
        vault.memory.defer_vectors_above(3);
        let mut arguments = more;
        arguments["query"] = json!(UNRELATED);
        let answer = vault.call(tool, &arguments);
        assert!(answer.text.contains(NOTICE), "{tool}: {}", answer.text);
        assert_eq!(answer.structured["by_words_alone"], true, "{tool}: {}", answer.structured);
    }
    for tool in ["recall", "search_notes"] {
        let further = Arc::new(reopened(&vault));
        further.defer_vectors_above(3);
        let answer = call_in_spaces(&other, &further, tool, json!({ "query": UNRELATED }));
        assert!(answer.text.contains(NOTICE), "{tool}: {}", answer.text);
        assert_eq!(answer.structured["by_words_alone"], true, "{tool}: {}", answer.structured);
    }
}

/// Opens the vault again.
fn reopened(vault: &TestVault) -> Memory {
    Memory::open(OpenOptions::in_folder(&vault.path("..").canonicalize().unwrap())).unwrap()
}
