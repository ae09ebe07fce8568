//! `forget`: one memory, by id, name or a question that fits one.

use serde_json::json;

use crate::core_support::{call_as, recalled, remembered, vault_in_repository};

#[test]
fn a_memory_is_forgotten_by_its_id_and_can_be_undone() {
    let vault = vault_in_repository();
    let kept = remembered(&vault, "I prefer tabs");
    let id = kept["id"].as_str().unwrap();
    let reference = format!("{id}@{}", kept["version"].as_str().unwrap());
    let done = vault.call("forget", &json!({ "id": reference }));
    assert!(done.text.starts_with("Forgot: I prefer tabs"), "{}", done.text);
    let commit = done.structured["commit"].as_str().unwrap();
    assert!(done.text.contains(&format!("memoranda undo {commit}")), "{}", done.text);
    assert!(recalled(&vault, json!({ "query": "tabs" })).is_empty());
    let (text, _) = vault.refused("forget", json!({ "id": id }));
    assert!(text.contains("forgotten already"), "{text}");
    vault.memory.undo(&author(), commit).unwrap();
    assert_eq!(recalled(&vault, json!({ "query": "tabs" })), ["I prefer tabs"]);
}

fn author() -> memoranda_core::change::Author {
    memoranda_core::change::Author::new(
        "test 1",
        "undo",
        memoranda_core::change::ChangeChannel::Mcp,
    )
}

#[test]
fn what_an_undo_brings_back_keeps_its_writer() {
    let vault = vault_in_repository();
    let kept = call_as(&vault, "cursor 2", "remember", json!({ "content": "I prefer tabs" }));
    let done = vault.call("forget", &json!({ "id": kept.structured["id"] }));
    vault.memory.undo(&author(), done.structured["commit"].as_str().unwrap()).unwrap();
    let answer = vault.done("recall", json!({ "query": "tabs" }));
    assert_eq!(answer["passages"][0]["author"], "cursor 2", "{answer}");
    let edit = json!({ "content": "I prefer spaces", "replaces": kept.structured["id"] });
    call_as(&vault, "codex 1", "remember", edit);
    let answer = vault.done("recall", json!({ "query": "spaces" }));
    assert_eq!(answer["passages"][0]["author"], "codex 1", "{answer}");
}

#[test]
fn a_question_that_fits_several_deletes_nothing() {
    let vault = vault_in_repository();
    let one = remembered(&vault, "I like rowing on the Spree");
    let two = remembered(&vault, "My rowing club meets on Sunday mornings");
    let listed = vault.call("forget", &json!({ "query": "rowing" }));
    assert_eq!(listed.structured["forgotten"], false, "{}", listed.text);
    for memory in [&one, &two] {
        let call = format!("forget {{\"id\":{}}}", memory["id"]);
        assert!(listed.text.contains(&call), "{call}: {}", listed.text);
    }
    assert_eq!(recalled(&vault, json!({ "query": "rowing" })).len(), 2);
    let one_fits = vault.call("forget", &json!({ "query": "Spree" }));
    assert_eq!(one_fits.structured["forgotten"], false, "{}", one_fits.text);
    let call = format!("forget {{\"id\":{}}}", one["id"]);
    assert!(one_fits.text.contains(&call), "{}", one_fits.text);
    assert_eq!(recalled(&vault, json!({ "query": "rowing" })).len(), 2, "nothing was deleted");
    let said = json!({ "query": "forget that I like rowing on the Spree." });
    let done = vault.call("forget", &said);
    assert_eq!(done.structured["forgotten"], true, "{}", done.text);
    assert_eq!(done.structured["id"], one["id"], "{}", done.text);
    let none = vault.call("forget", &json!({ "query": "zxqv wvut" }));
    assert!(none.text.starts_with("Nothing fits"), "{}", none.text);
}

#[test]
fn words_that_are_not_the_whole_statement_delete_nothing() {
    let vault = vault_in_repository();
    let kept = |query: &str| {
        let listed = vault.call("forget", &json!({ "query": query }));
        assert_eq!(listed.structured["forgotten"], false, "{query}: {}", listed.text);
        assert_ne!(listed.structured["count"], 0, "{query}: {}", listed.text);
    };
    remembered(&vault, "I like to write C++");
    kept("I like to write C");
    let sentence = "The harbour pilot waits at the second buoy until the fog has lifted. ";
    let long = format!("The pilot boat is orange\n\n{}", sentence.repeat(12));
    remembered(&vault, &long);
    kept("The pilot boat is orange");
    remembered(&vault, "Rowing");
    remembered(&vault, "My rowing club meets on Sunday mornings");
    kept("rowing");
    let done = vault.call("forget", &json!({ "query": "I like to write C++." }));
    assert_eq!(done.structured["forgotten"], true, "{}", done.text);
}

#[test]
fn a_note_is_forgotten_by_its_name_only() {
    let vault = vault_in_repository();
    let note =
        json!({ "title": "Plan", "directory": "x", "content": "Repaint the lighthouse door." });
    vault.done("write_note", note);
    let listed = vault.call("forget", &json!({ "query": "repaint the door" }));
    assert_eq!(listed.structured["forgotten"], false, "{}", listed.text);
    assert!(listed.text.contains("(the whole note)"), "{}", listed.text);
    let done = vault.call("forget", &json!({ "name": "main/x/Plan.md" }));
    assert_eq!(done.structured["path"], "main/x/Plan.md", "{}", done.text);
    vault.done(
        "memory",
        json!({ "command": "create", "path": "/memories/a.md", "file_text": "A parrot.\n" }),
    );
    let file = vault.done("forget", json!({ "name": "/memories/a.md" }));
    assert_eq!(file["path"], "memories/a.md");
}

#[test]
fn a_statement_in_several_places_is_removed_only_where_it_is_named() {
    let vault = vault_in_repository();
    let kept = remembered(&vault, "The spare key is under the blue flowerpot");
    vault.done(
        "memory",
        json!({
            "command": "create", "path": "/memories/home.md",
            "file_text": "The spare key is under the blue flowerpot.\n"
        }),
    );
    let listed = vault.call("forget", &json!({ "query": "spare key" }));
    assert_eq!(listed.structured["forgotten"], false, "{}", listed.text);
    let done = vault.call("forget", &json!({ "id": kept["id"] }));
    assert_eq!(done.structured["still_told_by"], json!(["memories/home.md"]), "{}", done.text);
    assert_eq!(recalled(&vault, json!({ "query": "spare key" })).len(), 1);
}

#[test]
fn exactly_one_way_to_name_is_needed() {
    let vault = vault_in_repository();
    for arguments in
        [json!({}), json!({ "id": "a", "query": "b" }), json!({ "id": "", "name": " " })]
    {
        let (text, _) = vault.refused("forget", arguments);
        assert!(text.contains("exactly one of"), "{text}");
    }
    let (text, _) = vault.refused("forget", json!({ "id": "nosuchid" }));
    assert!(text.contains("nosuchid") && text.contains("recall"), "{text}");
    vault.refused("forget", json!({ "name": "No such note" }));
}

#[test]
fn one_observation_of_an_entity_is_forgotten() {
    let vault = vault_in_repository();
    vault.done(
        "save_memory",
        json!({ "threadId": "t", "entities": [
            { "name": "Otto", "entityType": "Person",
              "observations": ["Otto repairs violins in Cremona", "Otto keeps two cats"],
              "relations": [{ "targetEntity": "Cremona", "relationType": "lives in" }] },
            { "name": "Cremona", "entityType": "City", "observations": ["City of violins"],
              "relations": [{ "targetEntity": "Otto", "relationType": "home of" }] },
        ] }),
    );
    let recalled = vault.call("recall", &json!({ "query": "who repairs violins" }));
    assert!(!recalled.text.contains("<!--"), "{}", recalled.text);
    let listed = vault.call("forget", &json!({ "query": "repairs violins" }));
    assert_eq!(listed.structured["forgotten"], false, "{}", listed.text);
    let candidates = listed.structured["candidates"].as_array().unwrap();
    let violins = |candidate: &&serde_json::Value| {
        candidate["text"].as_str().unwrap().contains("Otto repairs violins")
    };
    let id = &candidates.iter().find(violins).unwrap()["id"];
    assert!(id.as_str().unwrap().starts_with("obs_"), "{id}");
    let done = vault.call("forget", &json!({ "id": id }));
    assert!(done.text.starts_with("Forgot: Otto repairs violins"), "{}", done.text);
    let left = vault.done("open_nodes", json!({ "names": ["Otto"], "threadId": "t" }));
    let left = left.to_string();
    assert!(left.contains("Otto keeps two cats") && !left.contains("repairs violins"), "{left}");
    vault.memory.undo(&author(), done.structured["commit"].as_str().unwrap()).unwrap();
    vault.refused("forget", json!({ "id": "obs_none" }));
}
