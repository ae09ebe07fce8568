//! Answers of the searching tools: packed for the reader, within the scope, silent without a match.

use memoranda_core::token_estimate::estimate_tokens;
use serde_json::{Value, json};

use crate::notes_support::Notes;

/// Notes about a harbour, each with several passages about its fees.
fn harbour() -> Notes {
    let notes = Notes::new();
    for n in 0..8 {
        let middle = format!("Boats come to quay {n} all day long. ").repeat(6 + n);
        let text = format!(
            "The harbour fee of quay {n} is due in May.\n\n{middle}\n\nThe fee of quay {n} was paid.\n"
        );
        notes.write("harbour", &format!("Quay {n}"), &text);
    }
    notes.write("food", "Bread", "Bake it for forty minutes.");
    notes
}

fn contents(structured: &Value) -> Vec<String> {
    let results = structured["results"].as_array().unwrap().iter();
    results.map(|result| result["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn text_and_structure_each_hold_every_passage_once_within_the_budget() {
    let notes = harbour();
    let mut most = 0;
    for budget in [200, 500, 1_000, 2_000] {
        let asked = json!({ "query": "harbour fee", "max_tokens": budget });
        let found = notes.ok("search_notes", asked);
        let structure = found.structured.to_string();
        assert!(estimate_tokens(&found.text) <= budget, "{budget}: {}", found.text);
        assert!(estimate_tokens(&structure) <= budget, "{budget}: {structure}");
        let contents = contents(&found.structured);
        assert!(!contents.is_empty(), "{budget}");
        for content in &contents {
            let is_text = |line: &&str| !line.is_empty() && *line != "[…]";
            for line in content.lines().filter(is_text) {
                assert_eq!(found.text.matches(line).count(), 1, "{budget}: {line}");
            }
        }
        assert!(contents.len() >= most, "{budget}");
        most = contents.len();
    }
    assert_eq!(most, 8);
}

#[test]
fn several_passages_of_a_note_are_one_result_in_reading_order() {
    let notes = harbour();
    let asked = json!({ "query": "harbour fee paid quay 3", "page_size": 1 });
    let found = notes.ok("search_notes", asked.clone());
    let [content] = contents(&found.structured).try_into().unwrap();
    assert!(content.starts_with("The harbour fee of quay 3 is due in May."), "{content}");
    assert!(content.ends_with("The fee of quay 3 was paid."), "{content}");
    assert_eq!(found.text.matches("### ").count(), 1, "{}", found.text);
    let mut short = asked;
    short["passages"] = json!(false);
    let short = notes.ok("search_notes", short).structured;
    let [excerpt] = contents(&short).try_into().unwrap();
    assert!(!excerpt.contains('\n') && excerpt.len() < content.len(), "{excerpt}");
}

#[test]
fn unrelated_questions_are_answered_by_silence() {
    let notes = harbour();
    for tool in ["search_notes", "search_memories"] {
        let asked = json!({ "query": "quantum chromodynamics on a lattice" });
        let found = notes.ok(tool, asked);
        assert!(found.text.contains("quantum chromodynamics"), "{tool}: {}", found.text);
    }
    let asked = json!({ "query": "how long does a boat take to bake", "min_relevance": 0 });
    let all = contents(&notes.ok("search_notes", asked.clone()).structured).len();
    let mut strict = asked;
    strict["min_relevance"] = json!(0.99);
    let found = notes.ok("search_notes", strict);
    assert!(all > 1 && contents(&found.structured).is_empty(), "{all}");
    assert!(found.text.contains("min_relevance=0"), "{}", found.text);
    notes.refused("search_notes", json!({ "query": "x", "min_relevance": 2 }), "INVALID_ARGUMENTS");
}

#[test]
fn a_permalink_pattern_is_a_query() {
    let notes = harbour();
    for query in ["harbour/*", "memory://harbour/*", "harbour/quay-*"] {
        for search_type in ["hybrid", "text"] {
            let asked = json!({ "query": query, "search_type": search_type });
            let found = notes.ok("search_notes", asked).structured;
            assert_eq!(found["total"], json!(8), "{query}");
        }
    }
}

fn remember(notes: &Notes, content: &str, kind: &str, scope: Value) {
    let mut memory = json!({ "content": content, "type": kind });
    memory.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
    notes.ok("add_memory", memory);
}

#[test]
fn lists_of_memories_are_filled_up_to_their_limit() {
    let notes = Notes::new();
    let project = json!({ "project_id": "github.com/me/my-app" });
    remember(
        &notes,
        "Chose JWT for stateless authentication",
        "decision",
        json!({ "global": true }),
    );
    remember(&notes, "Always use bcrypt for password hashing", "decision", project.clone());
    remember(&notes, "Chose Drizzle ORM for type-safe migrations", "decision", project.clone());
    remember(&notes, "Production DB is PostgreSQL 15 on Supabase", "fact", project.clone());
    let search = || {
        let asked =
            json!({ "query": "auth", "type": "decision", "project_id": "github.com/me/my-app" });
        notes.ok("search_memories", asked).text
    };
    for _ in 0..2 {
        let found = search();
        assert!(found.contains("Chose JWT") && found.contains("bcrypt"), "{found}");
        // A memory of another type holds the word itself.
        remember(&notes, "auth tokens live one hour", "fact", project.clone());
    }
    let asked = json!({ "query": "database migration", "project_id": "github.com/me/my-app" });
    let context = notes.ok("get_context", asked).text;
    assert!(context.contains("Chose Drizzle ORM"), "{context}");
    assert!(context.contains("Production DB is PostgreSQL 15"), "{context}");
    let asked = json!({
        "query": "database migration", "project_id": "github.com/me/my-app", "min_relevance": 0.99
    });
    assert!(notes.ok("get_context", asked).text.contains("Nothing matches"));
}

#[test]
fn every_searching_tool_keeps_text_and_structure_within_the_budget() {
    let notes = harbour();
    for n in 0..12 {
        let fact = format!("I pay the harbour fee of boat {n} in May, and the mooring in June");
        notes.ok("remember", json!({ "content": fact }));
        let path = format!("/memories/harbour/boat {n}.md");
        let text = format!("The harbour fee of boat {n} was raised last year.\n");
        notes.ok("memory", json!({ "command": "create", "path": path, "file_text": text }));
    }
    for tool in ["search_notes", "recall", "get_context", "search_memories"] {
        let mut most = 0;
        for budget in [200, 300, 500, 1_000, 2_000] {
            let asked = json!({ "query": "harbour fee", "max_tokens": budget });
            let found = notes.ok(tool, asked);
            let structure = found.structured.to_string();
            assert!(estimate_tokens(&found.text) <= budget, "{tool} {budget}: {}", found.text);
            assert!(estimate_tokens(&structure) <= budget, "{tool} {budget}: {structure}");
            let count = found.text.matches("harbour fee").count();
            assert!(count >= most, "{tool} {budget}: {}", found.text);
            most = count;
        }
        assert!(most > 5, "{tool}: {most}");
    }
}

#[test]
fn each_line_of_feedback_is_a_line_of_its_own() {
    let notes = Notes::new();
    remember(
        &notes,
        "Chose JWT for stateless authentication",
        "decision",
        json!({ "global": true }),
    );
    let found = notes.ok("search_memories", json!({ "query": "auth" })).text;
    assert!(found.contains("\n[nothing holds \"auth\""), "{found}");
}
