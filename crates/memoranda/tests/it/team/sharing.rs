//! Two people on two servers: each finds what the other wrote, in the spaces that both hold.

use serde_json::{Value, json};

use super::support::Team;
use crate::cluster::{DiskForce, skipped};
use crate::support::{Home, rounds};

#[test]
fn what_one_person_writes_the_other_finds_at_once_on_another_server() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("what_one_person_writes") };
    let (a, b) = (team.serve(), team.serve());
    let (anna, ben) = (team.token("anna", "laptop", &[]), team.token("ben", "phone", &[]));
    for n in 0..20 {
        let (writer, reader) = if n % 2 == 0 { (&a, &b) } else { (&b, &a) };
        let (wrote, looked) = if n % 3 == 0 { (&ben, &anna) } else { (&anna, &ben) };
        let note = json!({
            "title": format!("Note {n}"), "folder": "plans", "content": format!("zebra{n} crossing"),
            "space": "acme",
        });
        writer.call(wrote, "write_note", &note);
        let found = reader.call(looked, "search_notes", &json!({ "query": format!("zebra{n}") }));
        assert_eq!(found["structured"]["results"][0]["title"], format!("Note {n}"), "{found}");
        assert_eq!(found["structured"]["results"][0]["space"], "acme", "{found}");
    }
    // The history tells person, token and client.
    let clone = team.home.path().join("clone");
    let token_file = team.home.path().join("token");
    std::fs::write(&token_file, &anna).unwrap();
    let url = format!("http://{}", a.address);
    let (clone, token_file) = (clone.to_str().unwrap(), token_file.to_str().unwrap());
    team.home.ok(&["clone", &url, "acme", clone, "--token-file", token_file]);
    let log = team.home.ok(&["--home", clone, "log", "--json"]);
    for who in ["\"account\":\"ben\"", "\"account\":\"anna\"", "\"token\":\"phone\""] {
        assert!(log.contains(who), "{who}: {log}");
    }
}

#[test]
fn remember_goes_where_it_belongs_and_says_so() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("remember_goes") };
    let server = team.serve();
    let (anna, ben) = (team.token("anna", "laptop", &[]), team.token("ben", "phone", &[]));
    let said = server.call(&anna, "remember", &json!({ "content": "I prefer tabs over spaces" }));
    assert!(said["text"].as_str().unwrap().contains("Space: anna"), "{said}");
    let about_repository =
        json!({ "content": "this repo uses pnpm", "project_id": "github.com/acme/shop" });
    let said = server.call(&anna, "remember", &about_repository);
    assert!(said["text"].as_str().unwrap().contains("Space: acme"), "{said}");
    // The person's own stays with the person; the team's is the team's.
    let recalled = server.call(&ben, "recall", &json!({ "query": "pnpm" }));
    assert!(recalled["text"].as_str().unwrap().contains("pnpm"), "{recalled}");
    let recalled = server.call(&ben, "recall", &json!({ "query": "tabs or spaces" }));
    assert!(!recalled["text"].as_str().unwrap().contains("I prefer tabs"), "{recalled}");
    let recalled = server.call(&anna, "recall", &json!({ "query": "tabs or spaces" }));
    let text = recalled["text"].as_str().unwrap();
    assert!(text.contains("I prefer tabs") && text.contains("space anna"), "{recalled}");
}

#[test]
fn what_one_space_has_is_not_followed_by_the_nearest_of_another() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("what_one_space_has") };
    let server = team.serve();
    let anna = team.token("anna", "laptop", &[]);
    const SHOP: &str = "github.com/acme/shop";
    for space in ["anna", "acme"] {
        for choice in ["tabs", "oat milk", "short answers", "the early train"] {
            let fact = json!({ "content": format!("we in {space} prefer {choice}"), "kind": "fact",
                "scope": "repository", "project_id": SHOP, "space": space });
            server.call(&anna, "remember", &fact);
        }
    }
    let fact = json!({ "content": "The boiler warranty lapses in March", "kind": "fact",
        "scope": "repository", "project_id": SHOP, "space": "acme" });
    server.call(&anna, "remember", &fact);
    let nearest = |answer: &Value| -> Vec<Value> {
        answer["structured"]["nearest"].as_array().cloned().unwrap_or_default()
    };
    const HEADING: &str = "Nearest of what agents remember";
    for tool in ["get_context", "search_memories"] {
        let asked =
            |query: &str| server.call(&anna, tool, &json!({ "query": query, "project_id": SHOP }));
        let found = asked("boiler warranty");
        let text = found["text"].as_str().unwrap();
        assert!(text.contains("lapses in March"), "{tool}: {found}");
        assert!(nearest(&found).is_empty() && !text.contains(HEADING), "{tool}: {text}");
        let unknown = asked("how tall is the tower in Paris");
        let text = unknown["text"].as_str().unwrap();
        let listed = nearest(&unknown);
        assert_eq!(listed.len(), 3, "{tool}: {unknown}");
        assert_eq!(text.matches(HEADING).count(), 1, "{tool}: {text}");
        let relevances: Vec<f64> =
            listed.iter().map(|item| item["relevance"].as_f64().unwrap()).collect();
        assert!(relevances.is_sorted_by(|a, b| a >= b), "{tool}: {relevances:?}");
        for item in &listed {
            let (space, said) = (item["space"].as_str().unwrap(), item["text"].as_str().unwrap());
            assert!(said.contains(&format!("in {space} ")), "{tool}: {item}");
            assert_eq!(text.matches(said).count(), 1, "{tool} {said}: {text}");
            assert!(text.contains(&format!("space {space}")), "{tool}: {text}");
        }
    }
}

#[test]
fn a_note_is_promoted_with_its_origin_and_only_where_the_person_may_write() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_note_is_promoted") };
    let server = team.serve();
    let anna = team.token("anna", "laptop", &[]);
    let ben = team.token("ben", "phone", &[]);
    let note = json!({ "title": "Plan", "folder": "p", "content": "quokka", "space": "anna" });
    server.call(&anna, "write_note", &note);
    server.refuses(&ben, "read_note", &json!({ "identifier": "Plan" }), "Plan");
    server.call(&anna, "promote_note", &json!({ "identifier": "Plan", "to": "acme" }));
    let read = server.call(&ben, "read_note", &json!({ "identifier": "Plan" }));
    let text = read["text"].as_str().unwrap();
    assert!(text.contains("quokka") && text.contains("promoted_from"), "{text}");
    assert!(text.contains("anna:main/p/Plan.md"), "{text}");
    let again = json!({ "identifier": "Plan", "to": "acme", "space": "anna" });
    server.refuses(&anna, "promote_note", &again, "already");
    server.refuses(
        &anna,
        "promote_note",
        &json!({ "identifier": "Plan", "to": "ben" }),
        "no space",
    );
}

/// Words of the notes in the test of the order.
const WORDS: [&str; 24] = [
    "deploy", "kitchen", "garden", "invoice", "pnpm", "postgres", "latency", "holiday", "printer",
    "wombat", "backup", "mirror", "ticket", "harbour", "violin", "saddle", "compass", "lantern",
    "orchard", "thimble", "quarry", "meadow", "ferry", "anvil",
];

/// Returns the notes of an answer with their scores, in order.
fn ranked(answer: &Value) -> Vec<(String, f64)> {
    let results = answer["structured"]["results"].as_array().unwrap();
    let row = |result: &Value| {
        (result["permalink"].as_str().unwrap().to_owned(), result["score"].as_f64().unwrap())
    };
    results.iter().map(row).collect()
}

#[test]
fn the_order_of_results_is_that_of_a_vault_on_warm_and_cold_servers() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("the_order_of_results") };
    let vault = Home::new();
    for n in 0..60_usize {
        let word = |step: usize| WORDS[(n * step + step) % WORDS.len()];
        let text = format!(
            "# {} {} {n}\n\n- [fact] The {} is near the {} #{}\n\nA {} and a {}, then the {}.\n",
            word(1),
            word(5),
            word(7),
            word(11),
            word(13),
            word(3),
            word(17),
            word(19)
        );
        vault.write(&format!("main/n{n}.md"), text);
    }
    vault.ok(&["scan"]);
    team.admin(&["space", "add", "ordered", "--owner", "anna"]);
    let address = team.address().to_owned();
    vault.ok(&["admin", "--database", &address, "space", "import", "ordered"]);
    let token = team.token("anna", "ordered", &["--space", "ordered"]);
    let warm = team.serve();
    warm.call(&token, "search_notes", &json!({ "query": "wombat" }));
    let cold = team.serve();
    let mut found = 0;
    for n in 0..rounds(40) {
        let (one, two) =
            (WORDS[n % WORDS.len()], WORDS[(n * 5 + 3 + n / WORDS.len()) % WORDS.len()]);
        let question = json!({ "query": format!("{one} near the {two}"), "page_size": 60 });
        let local = vault.json(&["tool", "search_notes", &question.to_string()]);
        let expected = ranked(&local);
        found += expected.len();
        for (name, server) in [("warm", &warm), ("cold", &cold)] {
            let got = ranked(&server.call(&token, "search_notes", &question));
            let of_note = |id: &str| expected.iter().find(|(known, _)| known == id);
            assert_eq!(got.len(), expected.len(), "{name}: {question}");
            for ((id, score), (_, at_place)) in got.iter().zip(&expected) {
                let (_, own) = of_note(id).unwrap_or_else(|| panic!("{name}: {id}: {question}"));
                // Recency is part of a score, and time passes between the answers; equal notes may
                // change places.
                let is_equal = (score - own).abs() < 0.01 && (own - at_place).abs() < 0.01;
                assert!(is_equal, "{name}: {id} {score} {own} {at_place}: {question}");
            }
        }
    }
    assert!(found > 200, "{found}");
}
