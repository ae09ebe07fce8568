//! `remember`: kind, scope, duplicates, replacing, and bad input.

use memoranda_tools::{SecretPolicy, Wording};
use serde_json::json;

use crate::core_support::{REPOSITORY, remembered, vault_in_repository};
use crate::support::TestVault;

#[test]
fn kind_and_scope_are_guessed_and_told() {
    let vault = vault_in_repository();
    for (content, kind, scope, folder) in [
        ("I prefer tabs", "preference", "person", "records/global/fact/"),
        ("My name is Jonas", "fact", "person", "records/global/fact/"),
        ("Always answer me in German", "rule", "person", "records/global/rule/"),
        (
            "this repo uses pnpm",
            "fact",
            "repository",
            "records/projects/github.com-acme-lighthouse/fact/",
        ),
        (
            "Never push to main",
            "rule",
            "repository",
            "records/projects/github.com-acme-lighthouse/rule/",
        ),
        (
            "We chose NATS over Kafka",
            "decision",
            "repository",
            "records/projects/github.com-acme-lighthouse/decision/",
        ),
        (
            "To deploy, run make release",
            "skill",
            "repository",
            "records/projects/github.com-acme-lighthouse/skill/",
        ),
        ("Call the dentist on Monday", "note", "person", "records/global/note/"),
    ] {
        let result = vault.call("remember", &json!({ "content": content }));
        let stored = &result.structured;
        assert_eq!((&stored["kind"], &stored["scope"]), (&json!(kind), &json!(scope)), "{content}");
        assert_eq!(stored["effect"], "stored");
        assert!(stored["path"].as_str().unwrap().starts_with(folder), "{}", result.text);
        let id = stored["id"].as_str().unwrap();
        assert!(result.text.contains("(kind and scope guessed)"), "{}", result.text);
        assert!(result.text.contains(&format!("forget {{\"id\":\"{id}\"}}")), "{}", result.text);
        let repository = (scope == "repository").then_some(REPOSITORY);
        assert_eq!(stored["repository"], json!(repository), "{content}");
    }
    let tabs = vault.call("recall", &json!({ "kinds": ["preference"] }));
    assert!(tabs.text.contains("I prefer tabs"), "{}", tabs.text);
}

#[test]
fn what_is_given_is_not_guessed() {
    let vault = TestVault::new(Wording::Mcp);
    let result = vault.call(
        "remember",
        &json!({
            "content": "I prefer tabs", "kind": "rule", "project_id": "github.com/acme/other",
            "tags": ["#style"],
        }),
    );
    assert_eq!(result.structured["kind"], "rule");
    assert_eq!(result.structured["repository"], "github.com/acme/other");
    assert!(!result.text.contains("guessed"), "{}", result.text);
    let file = vault.path(result.structured["path"].as_str().unwrap());
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("style") && !text.contains("#style"), "{text}");
    let person =
        vault.done("remember", json!({ "content": "this repo is nice", "scope": "person" }));
    assert_eq!(person["scope"], "person");
}

#[test]
fn a_known_statement_is_not_stored_twice() {
    let vault = vault_in_repository();
    let first = remembered(&vault, "I prefer tabs");
    for again in ["I prefer tabs", "i prefer  tabs.", "Please remember that I prefer tabs"] {
        let result = vault.call("remember", &json!({ "content": again }));
        assert_eq!(result.structured["effect"], "known", "{}", result.text);
        assert_eq!(result.structured["id"], first["id"], "{again}");
        assert!(result.text.starts_with("Known already, nothing was stored"), "{}", result.text);
    }
    // Equal words in another scope are another memory.
    let other =
        vault.done("remember", json!({ "content": "I prefer tabs", "scope": "repository" }));
    assert_eq!(other["effect"], "stored");
    // A forgotten text can be remembered again.
    vault.done("forget", json!({ "id": first["id"] }));
    assert_eq!(remembered(&vault, "I prefer tabs")["effect"], "stored");
}

#[test]
fn one_other_value_of_the_same_subject_replaces_the_old_one() {
    let vault = vault_in_repository();
    let old = remembered(&vault, "The API rate limit is 100 requests per minute");
    let new = vault
        .call("remember", &json!({ "content": "The API rate limit is 250 requests per minute" }));
    assert_eq!(new.structured["effect"], "replaced", "{}", new.text);
    assert_eq!(new.structured["id"], old["id"]);
    assert_ne!(new.structured["version"], old["version"]);
    assert!(new.text.contains("Before: The API rate limit is 100"), "{}", new.text);
    let found = vault.call("recall", &json!({ "query": "api rate limit" }));
    assert!(found.text.contains("250") && !found.text.contains("100 req"), "{}", found.text);
}

#[test]
fn what_may_be_replaced_is_named_and_kept() {
    let vault = vault_in_repository();
    let old = remembered(&vault, "this repo uses pnpm");
    let new = vault.call("remember", &json!({ "content": "this repo uses docker" }));
    assert_eq!(new.structured["effect"], "stored", "{}", new.text);
    let candidate = &new.structured["candidates"][0];
    assert_eq!(candidate["id"], old["id"], "{}", new.text);
    let reference =
        format!("{}@{}", candidate["id"].as_str().unwrap(), candidate["version"].as_str().unwrap());
    assert!(new.text.contains(&format!("\"replaces\":\"{reference}\"")), "{}", new.text);
    let timeout = remembered(&vault, "The API timeout is 30 seconds");
    let replaced =
        vault.done("remember", json!({ "content": "The API timeout is now 60 seconds" }));
    assert_eq!((&replaced["effect"], &replaced["id"]), (&json!("replaced"), &timeout["id"]));
    // Another kind or scope is never replaced.
    remembered(&vault, "My favourite editor is helix");
    let rule = json!({ "content": "My favourite editor is zed", "kind": "rule" });
    assert_eq!(vault.done("remember", rule)["effect"], "stored");
    let other = json!({ "content": "My favourite editor is vim", "project_id": "acme/x" });
    assert_eq!(vault.done("remember", other)["effect"], "stored");
}

#[test]
fn a_named_version_is_replaced_or_in_conflict() {
    let vault = vault_in_repository();
    let first = remembered(&vault, "I live in Lisbon");
    let (id, version) = (first["id"].as_str().unwrap(), first["version"].as_str().unwrap());
    let reference = format!("{id}@{version}");
    let moved = json!({ "content": "I live in Porto", "replaces": reference });
    let second = vault.done("remember", moved);
    assert_eq!((&second["effect"], &second["id"]), (&json!("replaced"), &json!(id)));
    let stale = json!({ "content": "I live in Faro", "replaces": reference });
    let (text, details) = vault.refused("remember", stale);
    let current = second["version"].as_str().unwrap();
    assert_eq!((&details["error"], &details["current"]), (&json!("CONFLICT"), &json!(current)));
    assert!(text.contains(&format!("{id}@{current}")) && text.contains("Porto"), "{text}");
    let free = json!({ "content": "I live in Faro", "replaces": id, "kind": "note" });
    let third = vault.done("remember", free);
    assert!(third["path"].as_str().unwrap().contains("global/note/"), "{third}");
    let wrong = json!({ "content": "x y", "replaces": id, "project_id": "acme/other" });
    let (text, _) = vault.refused("remember", wrong);
    assert!(text.contains("of the person, everywhere"), "{text}");
    let (text, _) = vault.refused("remember", json!({ "content": "x y", "replaces": "nosuchid" }));
    assert!(text.contains("nosuchid"), "{text}");
}

#[test]
fn a_statement_of_an_unknown_repository_is_refused() {
    let vault = TestVault::new(Wording::Mcp);
    for content in ["this repo uses pnpm", "Never push to main", "In shop-api use zod"] {
        let (text, details) = vault.refused("remember", json!({ "content": content }));
        assert_eq!(details["error"], "REPOSITORY_UNKNOWN", "{content}");
        for way in ["project_id", "header", "project variable", "working folder", "person"] {
            assert!(text.contains(way), "{way}: {text}");
        }
    }
    // Only a word of software speaks for a repository: the statement is kept, and the answer says so.
    let doubtful = vault.done("remember", json!({ "content": "Deploys go out on Tuesdays" }));
    assert_eq!(doubtful["scope"], "person", "{doubtful}");
    let warning = doubtful["warning"].as_str().unwrap();
    assert!(warning.contains("project_id"), "{warning}");
    let id = json!({ "id": doubtful["id"] });
    assert_eq!(vault.done("forget", id)["forgotten"], true);
    let scoped = json!({ "content": "x is y", "scope": "repository" });
    assert_eq!(vault.refused("remember", scoped).1["error"], "REPOSITORY_UNKNOWN");
    assert_eq!(vault.done("list_memories", json!({}))["count"], 0);
}

#[test]
fn another_known_repository_is_not_taken_for_this_one() {
    let vault = vault_in_repository();
    let named = json!({ "content": "Orders use zod", "project_id": "github.com/acme/shop-api" });
    vault.done("remember", named);
    let (text, details) =
        vault.refused("remember", json!({ "content": "In shop-api validate every request" }));
    assert_eq!(details["error"], "REPOSITORY_AMBIGUOUS", "{text}");
    // The name is one that `project_id` takes, not that of a folder.
    assert!(text.contains("github.com/acme/shop-api") && text.contains(REPOSITORY), "{text}");
}

#[test]
fn bad_input_is_answered_with_the_way() {
    let vault = vault_in_repository();
    for (arguments, expected) in [
        (json!({ "content": "  " }), "write_note"),
        (json!({}), "write_note"),
        (json!({ "content": 5 }), "holds no words"),
        (json!({ "content": "x".repeat(100_000) }), "4000 are the most"),
        (json!({ "content": "x y z", "kind": "preferense" }), "The nearest is preference."),
        (json!({ "content": "x y z", "kind": "rumour" }), "rule, decision, preference"),
        (json!({ "content": "x y z", "scope": "persom" }), "The nearest is person."),
        (json!({ "content": "x y z", "scope": "team" }), "person, repository"),
        (
            json!({ "content": "x y z", "scope": "person", "project_id": "a/b" }),
            "exclude each other",
        ),
        (json!({ "content": "x y z", "colour": "red" }), "colour"),
    ] {
        let (text, _) = vault.refused("remember", arguments);
        assert!(text.contains(expected), "{text}");
    }
    // Other words for the scopes are understood.
    for (word, scope) in [("global", "person"), ("repo", "repository")] {
        let stored =
            vault.done("remember", json!({ "content": format!("a {word} thing"), "scope": word }));
        assert_eq!(stored["scope"], scope);
    }
}

#[test]
fn secrets_are_screened() {
    let mut vault = vault_in_repository();
    let secret = format!("My key is ghp_{}", "a1B2".repeat(9));
    let warned = vault.call("remember", &json!({ "content": secret }));
    assert!(!warned.is_error && warned.structured["warning"].is_string(), "{}", warned.text);
    vault.settings.secrets = SecretPolicy::Refuse;
    let (text, _) = vault.refused("remember", json!({ "content": format!("{secret} too") }));
    assert!(text.contains("nothing was stored"), "{text}");
}

#[test]
fn a_restricted_server_remembers_nothing_elsewhere() {
    let mut vault = vault_in_repository();
    vault.memory.create_project("diary").unwrap();
    vault.settings.notes.only_project = Some("diary".into());
    let (text, _) = vault.refused("remember", json!({ "content": "I prefer tabs" }));
    assert!(text.contains("diary"), "{text}");
    assert!(!vault.path("records").exists());
}
