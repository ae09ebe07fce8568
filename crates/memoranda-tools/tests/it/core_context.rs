//! `get_context`: the sections of the records first, then the person, what is due, memory files and
//! changes since the last visit.

use serde_json::json;

use crate::core_support::{call_as, remembered, vault_in_repository};

fn position(text: &str, heading: &str) -> usize {
    text.find(heading).unwrap_or_else(|| panic!("no {heading}: {text}"))
}

#[test]
fn further_sections_follow_those_of_the_records() {
    let vault = vault_in_repository();
    remembered(&vault, "Always answer me in German");
    remembered(&vault, "Never push to main");
    remembered(&vault, "I prefer tabs");
    remembered(&vault, "this repo uses pnpm");
    vault.done(
        "add_reminder",
        json!({ "cron_expression": "* * * * *", "message": "Look at the sea", "global": true }),
    );
    vault.done(
        "memory",
        json!({ "command": "create", "path": "/memories/boat.md", "file_text": "A boat.\n" }),
    );
    let answer = call_as(&vault, "claude-code 2.1", "get_context", json!({ "query": "pnpm" }));
    let order: Vec<usize> = [
        "## Project Rules\n- Never push to main",
        "## Global Rules\n- Always answer me in German",
        "## Relevant Memories\n",
        "## About the Person\n- I prefer tabs (preference, id ",
        "## Memory Files\n- /memories/boat.md",
    ]
    .iter()
    .map(|heading| position(&answer.text, heading))
    .collect();
    assert!(order.is_sorted(), "{}", answer.text);
    assert_eq!(answer.structured["person"][0]["text"], "I prefer tabs");
    assert_eq!(answer.structured["changes"], json!(null), "the first visit");
    assert_eq!(answer.structured["memory_files"], json!(["/memories/boat.md"]));
    assert!(!answer.text.contains("Last Visit"), "{}", answer.text);
    let limit = json!({ "query": "pnpm", "limit": 0 });
    let unsearched = call_as(&vault, "claude-code 2.1", "get_context", limit);
    assert!(!unsearched.text.contains("atches"), "nothing was searched: {}", unsearched.text);
    let none = call_as(&vault, "claude-code 2.1", "get_context", json!({}));
    assert!(!none.text.contains("## Relevant Memories"), "{}", none.text);
    assert!(none.text.contains("## About the Person"), "{}", none.text);
}

#[test]
fn a_decision_for_everywhere_is_not_about_the_person() {
    let vault = vault_in_repository();
    remembered(&vault, "I prefer tabs");
    let decision = "Use PostgreSQL for all new services";
    vault.done("add_memory", json!({ "content": decision, "type": "decision", "global": true }));
    let context = call_as(&vault, "claude-code 2.1", "get_context", json!({}));
    let recalled = vault.call("recall", &json!({}));
    for (answer, headings) in [
        (
            &context,
            ["## About the Person\n- I prefer tabs (", "## Known Everywhere\n- Use PostgreSQL"],
        ),
        (&recalled, ["## The Person\n- I prefer tabs\n", "## Everywhere\n- Use PostgreSQL"]),
    ] {
        let order = headings.map(|heading| position(&answer.text, heading));
        assert!(order.is_sorted(), "{}", answer.text);
    }
    assert_eq!(context.structured["person"].as_array().unwrap().len(), 1);
    assert_eq!(context.structured["everywhere"][0]["text"], decision);
    assert_eq!(recalled.structured["passages"][1]["about"], "everywhere");
}

#[test]
fn changes_of_others_since_the_last_visit_are_told_once() {
    let vault = vault_in_repository();
    let visit = |client: &str| call_as(&vault, client, "get_context", json!({}));
    visit("claude-code 2.1");
    let told = call_as(&vault, "cursor 3.0", "remember", json!({ "content": "I prefer tabs" }));
    let path = told.structured["path"].as_str().unwrap().to_owned();
    call_as(&vault, "claude-code 2.1", "remember", json!({ "content": "I collect stamps" }));
    let second = visit("claude-code 2.2");
    let section = &second.text[position(&second.text, "## Changed Since Your Last Visit (2")..];
    assert!(section.contains(&format!("- {path} by cursor 3.0")), "{section}");
    assert!(!section.contains("by claude-code"), "{section}");
    assert!(second.structured["changes"]["since"].is_string());
    let shown = format!("{path} by cursor 3.0: I prefer tabs");
    assert_eq!(second.structured["changes"]["shown"], json!([shown]), "clients may show only this");
    let third = visit("claude-code 2.2");
    assert!(!third.text.contains("by cursor"), "{}", third.text);
}

#[test]
fn the_budget_covers_the_further_sections() {
    let vault = vault_in_repository();
    for n in 0..60 {
        remembered(&vault, &format!("I own a book about the history of town number {n}"));
    }
    let answer = vault.call("get_context", &json!({}));
    assert!(answer.text.len() / 4 < 1_700, "{}", answer.text.len());
    assert!(answer.text.contains("more: recall without query]"), "{}", answer.text);
    let small = vault.call("get_context", &json!({ "budget_tokens": 200 }));
    assert!(small.text.len() / 4 < 300, "{}", small.text);
}
