//! `recall`: one search over everything, and what is known without a question.

use memoranda_tools::Wording;
use serde_json::{Value, json};

use crate::core_support::{call_as, recalled, remembered, vault_in_repository};
use crate::support::TestVault;

/// Writes one fact through each interface.
fn write_everywhere(vault: &TestVault) {
    let file = "# Boat\n\nThe boat Seagull needs new sails before the regatta.\n";
    vault.done(
        "memory",
        json!({ "command": "create", "path": "/memories/boat.md", "file_text": file }),
    );
    let note = json!({
        "title": "Bakery", "directory": "life",
        "content": "The bakery on Mill Street opens at six in the morning."
    });
    vault.done("write_note", note);
    vault.done(
        "add_memory",
        json!({ "content": "Grandmother keeps bees behind the barn", "type": "fact", "global": true }),
    );
    vault.done(
        "save_memory",
        json!({
            "threadId": "t",
            "entities": [
                {
                    "name": "Otto", "entityType": "Person",
                    "observations": ["Otto repairs violins in Cremona"],
                    "relations": [{ "targetEntity": "Cremona", "relationType": "lives in" }]
                },
                {
                    "name": "Cremona", "entityType": "City", "observations": ["City of violins"],
                    "relations": [{ "targetEntity": "Otto", "relationType": "home of" }]
                }
            ]
        }),
    );
    remembered(vault, "I collect stamps from Iceland");
}

#[test]
fn everything_is_found_whoever_wrote_it() {
    let vault = vault_in_repository();
    write_everywhere(&vault);
    for (query, text, project) in [
        ("what does the boat need", "Seagull", "memories/"),
        ("when does the bakery open", "opens at six", "main/"),
        ("bees", "behind the barn", "records/global/fact/"),
        ("who repairs violins", "Otto repairs violins", "graph/"),
        ("stamps", "I collect stamps", "records/global/fact/"),
    ] {
        let answer = vault.call("recall", &json!({ "query": query }));
        let first = &answer.structured["passages"][0];
        assert!(first["text"].as_str().unwrap().contains(text), "{query}: {}", answer.text);
        assert!(first["places"][0].as_str().unwrap().starts_with(project), "{first}");
        assert_eq!(first["author"], "test 1", "{first}");
        assert!(first["relevance"].as_f64().unwrap() > 0.0, "{first}");
        for shown in [text, "relevance", "by test 1", "just now"] {
            assert!(answer.text.contains(shown), "{shown}: {}", answer.text);
        }
    }
}

#[test]
fn a_fact_is_one_item_of_the_list() {
    let vault = vault_in_repository();
    let entities =
        json!([{ "name": "Heating", "entityType": "Device", "observations": ["Burns gas"] }]);
    vault.done("create_entities", json!({ "entities": entities }));
    let answer = vault.call("recall", &json!({ "query": "heating burns gas" }));
    assert!(answer.text.starts_with("- [fact] Burns gas\n"), "{}", answer.text);
    let elsewhere = vault.call("search_memories", &json!({ "query": "heating burns gas" }));
    assert!(elsewhere.text.contains("Burns gas"), "{}", elsewhere.text);
    assert!(!elsewhere.text.contains("<!--"), "{}", elsewhere.text);
}

#[test]
fn other_words_of_another_client_find_it() {
    let vault = vault_in_repository();
    write_everywhere(&vault);
    let told = call_as(
        &vault,
        "cursor 1.2",
        "remember",
        json!({ "content": "I prefer tabs over spaces" }),
    );
    assert!(!told.is_error, "{}", told.text);
    let found = call_as(
        &vault,
        "claude-code 2.1",
        "recall",
        json!({ "query": "indentation preference of the user: tabs?" }),
    );
    assert!(
        found.text.contains("I prefer tabs") && found.text.contains("by cursor"),
        "{}",
        found.text
    );
}

#[test]
fn the_same_statement_is_told_once_with_all_places() {
    let vault = vault_in_repository();
    remembered(&vault, "I prefer oat milk");
    vault.done(
        "memory",
        json!({ "command": "create", "path": "/memories/milk.md", "file_text": "I prefer oat milk.\n" }),
    );
    let answer = vault.done("recall", json!({ "query": "oat milk" }));
    let passages = answer["passages"].as_array().unwrap();
    assert_eq!(passages.len(), 1, "{answer}");
    assert_eq!(passages[0]["places"].as_array().unwrap().len(), 2, "{answer}");
}

#[test]
fn nothing_relevant_is_said() {
    let vault = vault_in_repository();
    write_everywhere(&vault);
    let answer = vault.call("recall", &json!({ "query": "zxqv wvut" }));
    assert_eq!(answer.text.lines().next(), Some("Nothing relevant is known."));
    assert!(answer.text.contains("Without a query, recall tells"), "{}", answer.text);
    assert_eq!(answer.structured["count"], 0);
    let empty = TestVault::new(Wording::Mcp).call("recall", &json!({}));
    assert!(empty.text.starts_with("Nothing is known yet"), "{}", empty.text);
}

#[test]
fn a_question_that_finds_nothing_names_the_nearest_statements() {
    let vault = vault_in_repository();
    for preference in ["tabs", "oat milk", "short answers", "the early train", "dark themes"] {
        remembered(&vault, &format!("I prefer {preference}"));
    }
    let asked = |arguments: Value| vault.call("recall", &arguments);
    let answer = asked(json!({ "query": "how tall is the tower in Paris" }));
    assert_eq!(answer.structured["count"], 0, "{}", answer.text);
    assert!(answer.structured["passages"].as_array().unwrap().is_empty(), "{}", answer.text);
    let nearest = answer.structured["nearest"].as_array().unwrap();
    assert_eq!(nearest.len(), 3, "{}", answer.text);
    assert!(answer.text.starts_with("Nothing relevant is known.\nNearest of what"));
    for passage in nearest {
        assert!(answer.text.contains(passage["text"].as_str().unwrap()), "{}", answer.text);
    }
    for silent in [
        asked(json!({ "query": "zxqv wvut" })),
        asked(json!({ "query": "how tall is the tower in Paris", "min_relevance": 0.5 })),
        asked(json!({ "query": "how tall is the tower in Paris", "kinds": ["rule"] })),
        asked(json!({ "query": "how tall is the tower in Paris", "as_of": "yesterday" })),
        asked(json!({ "query": "how tall is the tower in Paris", "project": "main" })),
    ] {
        assert!(silent.structured["nearest"].is_null(), "{}", silent.text);
    }
    let small = asked(json!({ "query": "how tall is the tower in Paris", "max_tokens": 100 }));
    assert!(
        small.structured["nearest"].as_array().is_none_or(|few| few.len() < 3),
        "{}",
        small.text
    );
}

#[test]
fn the_nearest_statement_answers_a_question_in_other_words() {
    let vault = vault_in_repository();
    for statement in ["I prefer tabs", "My sister lives in Porto", "The boiler is serviced in May"]
    {
        remembered(&vault, statement);
    }
    for (question, statement) in [
        ("how should code be indented", "I prefer tabs"),
        ("which city is my sibling in", "My sister lives in Porto"),
        ("when does somebody look after the heating", "The boiler is serviced in May"),
    ] {
        let answer = vault.call("recall", &json!({ "query": question }));
        assert!(answer.text.contains(statement), "{question}: {}", answer.text);
    }
}

#[test]
fn a_question_for_a_kind_alone_lists_it() {
    let vault = vault_in_repository();
    remembered(&vault, "I prefer tabs");
    for (kind, content) in [
        ("decision", "We chose Postgres over MySQL"),
        ("rule", "Migrations have to be reversible"),
        ("fact", "The API listens on port 8080"),
    ] {
        vault.done("remember", json!({ "content": content, "kind": kind, "scope": "repository" }));
    }
    for (query, expected) in [
        (json!({ "query": "decisions", "kinds": ["decision"] }), "We chose Postgres over MySQL"),
        (json!({ "query": "all rules" }), "Migrations have to be reversible"),
        (json!({ "query": "what are the user's preferences?" }), "I prefer tabs"),
    ] {
        let answer = vault.call("recall", &query);
        let passages = answer.structured["passages"].as_array().unwrap();
        let texts: Vec<&str> = passages.iter().filter_map(|p| p["text"].as_str()).collect();
        assert_eq!(texts, [expected], "{query}: {}", answer.text);
    }
    let other = vault.call("recall", &json!({ "query": "rules", "kinds": ["skill"] }));
    assert_eq!(other.structured["passages"], json!([]), "{}", other.text);
}

#[test]
fn what_changed_is_told_before_what_it_changed() {
    let vault = vault_in_repository();
    for (old, new, query) in [
        ("The API listens on port 8080", "We moved from port 8080 to 9090", "port of the API"),
        (
            "We use Jest as test runner",
            "We switched from Jest to Vitest",
            "which test runner is used",
        ),
        ("I live in Lisbon", "I moved to Porto in May", "where do I live"),
    ] {
        let scope = if old.starts_with("I ") { "person" } else { "repository" };
        let kept = |content: &str| {
            let statement = json!({ "content": content, "kind": "fact", "scope": scope });
            vault.call("remember", &statement)
        };
        let first = kept(old);
        let second = kept(new);
        assert_eq!(second.structured["effect"], "stored", "{}", second.text);
        if scope == "repository" {
            let candidate = &second.structured["candidates"][0]["id"];
            assert_eq!(*candidate, first.structured["id"], "{}", second.text);
        }
        let answer = vault.call("recall", &json!({ "query": query }));
        let texts: Vec<&str> = answer.structured["passages"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|passage| passage["text"].as_str())
            .collect();
        let place = |text: &str| texts.iter().position(|found| *found == text);
        assert!(place(new).is_some() && place(new) < place(old), "{query}: {texts:?}");
    }
    // What only shares a word with it stays where it is.
    remembered(&vault, "We moved the API docs to Notion");
    let answer = vault.call("recall", &json!({ "query": "port of the API" }));
    assert!(
        answer.structured["passages"][0]["text"].as_str().unwrap().contains("9090"),
        "{}",
        answer.text
    );
}

#[test]
fn kinds_project_time_and_budget_narrow_the_answer() {
    let vault = vault_in_repository();
    write_everywhere(&vault);
    for n in 0..30 {
        remembered(&vault, &format!("Anna owns kite number {n} with a long colourful tail"));
    }
    remembered(&vault, "Always bring the kite inside when it rains");
    let kites = |arguments: Value| recalled(&vault, arguments);
    let rules = kites(json!({ "query": "kite", "kinds": ["rule"] }));
    assert_eq!(rules, ["Always bring the kite inside when it rains"]);
    assert!(kites(json!({ "query": "kite", "project": "main" })).is_empty());
    assert!(kites(json!({ "query": "kite", "since": "2999-01-01" })).is_empty());
    let small = vault.call("recall", &json!({ "query": "kite", "max_tokens": 200 }));
    assert!(small.text.len() / 4 <= 240, "{} {}", small.text.len(), small.text);
    assert!(small.structured["left_out"].as_u64().unwrap() > 0, "{}", small.text);
    assert!(small.text.contains("more did not fit: recall"), "{}", small.text);
    for (arguments, expected) in [
        (json!({ "query": "kite", "kinds": ["kites"] }), "rule, decision"),
        (json!({ "query": "kite", "project": "nowhere" }), "nowhere"),
        (json!({ "query": "kite", "since": "blue moon" }), "since"),
        (json!({ "query": "kite", "min_relevance": 7 }), "min_relevance"),
    ] {
        let (text, _) = vault.refused("recall", arguments);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_kind_is_found_however_many_notes_say_more_about_it() {
    let vault = vault_in_repository();
    for n in 0..60 {
        let content = format!("The kite of day {n} flew high.\n\nKites need wind and a kite line.");
        let note =
            json!({ "title": format!("Kite {n}"), "directory": "kites", "content": content });
        vault.done("write_note", note);
    }
    remembered(&vault, "Always bring the kite inside when it rains");
    let entities = json!([
        { "name": "Seagull", "entityType": "Kite", "observations": ["The kite Seagull has a tail"] }
    ]);
    vault.done("create_entities", json!({ "entities": entities }));
    for (kinds, expected) in [
        (json!(["rule"]), &["Always bring the kite inside when it rains"][..]),
        (json!(["fact"]), &["[fact] The kite Seagull has a tail"]),
        (json!(["decision", "skill"]), &[]),
    ] {
        let found = recalled(&vault, json!({ "query": "kite", "kinds": kinds }));
        let found: Vec<&str> = found.iter().map(|text| text.trim_start_matches("- ")).collect();
        assert_eq!(found, expected, "{kinds}");
    }
    let elsewhere = json!({ "query": "kite", "kinds": ["rule"], "project": "main" });
    assert!(recalled(&vault, elsewhere).is_empty());
}

#[test]
fn the_folder_of_a_record_says_its_kind_whatever_its_frontmatter_says() {
    let vault = vault_in_repository();
    let kite = "Kites are flown at the lake";
    for (directory, text) in [
        ("global/decision", format!("{kite}, said the club.")),
        ("projects/x/decision", format!("---\ntype: note\n---\n{kite}, says the repository.")),
        ("projects/x/decision/lake", format!("{kite} and nowhere else.")),
        ("projects/x/fact/decision", format!("{kite}, as everybody knows.")),
        ("projects/decision", format!("{kite}, said nobody.")),
    ] {
        let folder = vault.path("records").join(directory);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("kite.md"), text).unwrap();
    }
    vault.memory.sync(&mut |_| {}).unwrap();
    let mut found = recalled(&vault, json!({ "query": "kites lake", "kinds": ["decision"] }));
    found.sort();
    let expected = [
        "Kites are flown at the lake and nowhere else.",
        "Kites are flown at the lake, said the club.",
        "Kites are flown at the lake, says the repository.",
    ];
    assert_eq!(found, expected);
}

#[test]
fn without_a_question_person_and_repository_are_told() {
    let vault = vault_in_repository();
    remembered(&vault, "I prefer tabs");
    remembered(&vault, "this repo uses pnpm");
    vault.done(
        "memory",
        json!({ "command": "create", "path": "/memories/user/style.md", "file_text": "Short answers.\n" }),
    );
    vault.done("write_note", json!({ "title": "Other", "directory": "x", "content": "A cake." }));
    let answer = vault.call("recall", &json!({}));
    let person = answer.text.find("## The Person").unwrap();
    let repository = answer.text.find("## This Repository").unwrap();
    assert!(person < repository, "{}", answer.text);
    for known in ["I prefer tabs", "Short answers.", "this repo uses pnpm"] {
        assert!(answer.text.contains(known), "{known}: {}", answer.text);
    }
    assert!(!answer.text.contains("cake"), "{}", answer.text);
}

#[test]
fn an_earlier_time_shows_what_was_known_then() {
    let vault = vault_in_repository();
    let old = remembered(&vault, "The regatta starts in Kiel");
    let gone = remembered(&vault, "The regatta has nine boats");
    std::thread::sleep(std::time::Duration::from_millis(30));
    let then = memoranda_engine::clock::now().to_string();
    std::thread::sleep(std::time::Duration::from_millis(30));
    let moved = json!({ "content": "The regatta starts in Lübeck", "replaces": old["id"] });
    vault.done("remember", moved);
    vault.done("forget", json!({ "id": gone["id"] }));
    remembered(&vault, "The regatta has a new flag");
    let now = recalled(&vault, json!({ "query": "regatta" })).join("\n");
    assert!(now.contains("Lübeck") && now.contains("flag"), "{now}");
    assert!(!now.contains("Kiel") && !now.contains("nine"), "{now}");
    let past = recalled(&vault, json!({ "query": "regatta", "as_of": then })).join("\n");
    assert!(past.contains("Kiel") && past.contains("nine"), "{past}");
    assert!(!past.contains("Lübeck") && !past.contains("flag"), "{past}");
}

#[test]
fn a_restricted_server_recalls_its_project_alone() {
    let mut vault = vault_in_repository();
    write_everywhere(&vault);
    vault.settings.notes.only_project = Some("main".into());
    assert_eq!(recalled(&vault, json!({ "query": "bakery" })).len(), 1);
    assert!(recalled(&vault, json!({ "query": "stamps from Iceland" })).is_empty());
    let (text, _) = vault.refused("recall", json!({ "query": "bees", "project": "records" }));
    assert!(text.contains("restricted"), "{text}");
}

#[test]
fn without_a_question_the_state_of_an_earlier_time_is_recalled() {
    let vault = vault_in_repository();
    let tabs = remembered(&vault, "I prefer tabs");
    let stamps = remembered(&vault, "I collect stamps");
    remembered(&vault, "this repo uses pnpm");
    vault.done(
        "memory",
        json!({ "command": "create", "path": "/memories/user/style.md", "file_text": "Short.\n" }),
    );
    let pause = std::time::Duration::from_millis(20);
    std::thread::sleep(pause);
    let moment = memoranda_engine::clock::now();
    let time = moment.to_string();
    std::thread::sleep(pause);
    remembered(&vault, "I drink tea");
    vault.done("remember", json!({ "content": "I prefer spaces", "replaces": tabs["id"] }));
    vault.done("forget", json!({ "id": stamps["id"] }));
    vault.done(
        "memory",
        json!({ "command": "create", "path": "/memories/user/style.md", "file_text": "Long.\n" }),
    );
    let mut then = recalled(&vault, json!({ "as_of": time }));
    then.sort();
    assert_eq!(then, ["I collect stamps", "I prefer tabs", "Short.", "this repo uses pnpm"]);
    let mut now = recalled(&vault, json!({}));
    now.sort();
    assert_eq!(now, ["I drink tea", "I prefer spaces", "Long.", "this repo uses pnpm"]);
    let asked = vault.done("recall", json!({ "query": "tabs", "as_of": time }));
    let first = &asked["passages"][0];
    assert_eq!((&first["text"], &first["kind"]), (&json!("I prefer tabs"), &json!("preference")));
    assert_eq!(first["id"], tabs["id"]);
    // The texts of two times differ in length, so they are compared as times.
    let updated: jiff::Timestamp = first["updated"].as_str().unwrap().parse().unwrap();
    assert!(updated < moment, "{first}");
}
