//! Two people on two servers: each finds what the other wrote, in the spaces that both hold.

use serde_json::json;

use super::support::Team;
use crate::cluster::{DiskForce, skipped};

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
