//! A text that is purged from a space is in no table, in no cache of a server, and not given to clones.

use std::time::{Duration, Instant};

use serde_json::json;

use super::support::{Team, TeamServer};
use crate::cluster::{DiskForce, skipped};

/// A text that compression leaves as it is.
const CANARY: &str = "canaryq7x2vj9w";
/// A word of the name of the deleted note.
const NAME: &str = "zebrak4m8p";

fn write(server: &TeamServer, token: &str, title: &str, content: &str) {
    let note = json!({ "title": title, "folder": "x", "content": content, "overwrite": true });
    server.call(token, "write_note", &note);
}

/// Counts the rows of all tables of spaces that contain some bytes.
fn rows_with(team: &Team, text: &str) -> String {
    team.cluster.sql(
        "postgres",
        &format!(
            "select (select count(*) from memoranda.commits \
             where position('{text}'::bytea in frame) > 0) \
             + (select count(*) from memoranda.proposals where arguments like '%{text}%')"
        ),
    )
}

#[test]
fn a_purged_text_is_nowhere_afterwards() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_purged_text") };
    team.admin(&["account", "add", "carla"]);
    team.admin(&["member", "add", "acme", "carla", "--role", "proposer"]);
    let all = ["--toolsets", "all"];
    let (asked, silent) = (team.serve_with(&all), team.serve_with(&all));
    let anna = team.token("anna", "laptop", &["--space", "acme"]);
    let carla = team.token("carla", "laptop", &["--space", "acme"]);
    write(&asked, &anna, "Kept", &format!("The first wording has {CANARY}."));
    write(&asked, &anna, "Kept", "The second wording has nothing.");
    write(&asked, &anna, &format!("About {NAME}"), &format!("Secret {CANARY}."));
    let proposed = json!({ "title": "P", "folder": "x", "content": format!("also {CANARY}") });
    asked.call(&carla, "write_note", &proposed);
    let waiting = asked.call(&anna, "list_proposals", &json!({}));
    let number = waiting["structured"]["proposals"][0]["proposal"].clone();
    asked.call(&anna, "decide_proposal", &json!({ "proposal": number, "decision": "reject" }));
    asked.call(&anna, "delete_note", &json!({ "identifier": format!("About {NAME}") }));
    silent.call(&anna, "search_notes", &json!({ "query": "wording" }));
    let token_file = team.home.path().join("token");
    std::fs::write(&token_file, &anna).unwrap();
    let token_file = token_file.to_str().unwrap().to_owned();
    let url = format!("http://{}/", asked.address);
    team.home.ok(&["clone", &url, "acme", "copy", "--token-file", &token_file]);
    for server in [&asked, &silent] {
        assert!(!server.files_with(CANARY.as_bytes()).is_empty(), "the check would see nothing");
    }
    assert_ne!(rows_with(&team, CANARY), "0");
    // An index image contains the texts too, compressed.
    team.sql(
        "insert into memoranda.images (space, format, epoch, parts) \
         select space, 'any', epoch, 1 from memoranda.heads; \
         insert into memoranda.image_parts select space, 'any', epoch, 0, 0, 'x' from memoranda.heads",
    );
    let parts = "select count(*) from memoranda.image_parts p join memoranda.spaces s using (space) \
                 where s.name = 'acme'";
    assert_eq!(team.sql(parts), "1");

    let usual = ["space", "vacuum", "acme", "--older-than", "now", "--versions"];
    let plan = team.admin(&[&usual[..], &["--dry-run"]].concat());
    assert_eq!((&plan["notes"], &plan["contents"]), (&json!(1), &json!(2)), "{plan}");
    assert_ne!(rows_with(&team, CANARY), "0", "a dry run purged");
    let purged = team.admin(&[&usual[..], &["--yes"]].concat());
    assert_eq!(purged["contents"], json!(2), "{purged}");
    for text in [CANARY, NAME] {
        assert_eq!(rows_with(&team, text), "0", "{text}");
    }
    assert_eq!(team.sql(parts), "0");
    // Both servers forget it, also the one that nobody asks.
    let started = Instant::now();
    for (server, text) in [(&silent, CANARY), (&silent, NAME), (&asked, CANARY), (&asked, NAME)] {
        loop {
            let files = server.files_with(text.as_bytes());
            if files.is_empty() {
                break;
            }
            assert!(started.elapsed() < Duration::from_secs(120), "{text} is in {files:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    let kept = asked.call(&anna, "read_note", &json!({ "identifier": "Kept" }));
    assert!(kept["text"].as_str().unwrap().contains("second wording"), "{kept}");
    write(&silent, &anna, "After", "written after the purge");
    let found = asked.call(&anna, "search_notes", &json!({ "query": "purge" }));
    assert!(found["text"].as_str().unwrap().contains("After"), "{found}");
    for server in [&asked, &silent] {
        assert_eq!(server.files_with(CANARY.as_bytes()), Vec::<std::path::PathBuf>::new());
    }
    let again = team.admin(&[&usual[..], &["--yes"]].concat());
    assert_eq!(again["contents"], json!(0), "{again}");
    let audit = team.admin(&["audit"]).to_string();
    assert!(audit.contains("space vacuum") && !audit.contains(NAME), "{audit}");

    // A clone from before has it still, says so, and a new one does not get it.
    let pull = ["--home", "copy", "pull", "--token-file", &token_file];
    team.home.fails(&pull, 2, &["was purged", "delete"]);
    team.home.ok(&["clone", &url, "acme", "again", "--token-file", &token_file]);
    let log = team.home.ok(&["--home", "again", "log"]);
    assert!(log.contains("purged") && !log.contains(NAME), "{log}");
    assert!(team.home.ok(&["--home", "again", "search", "purge"]).contains("After"));
}

#[test]
fn a_space_that_is_written_to_is_purged_without_a_loss() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_space_that_is_written") };
    let server = team.serve_with(&["--toolsets", "all"]);
    let anna = team.token("anna", "laptop", &["--space", "acme"]);
    write(&server, &anna, "Gone", &format!("with {CANARY}"));
    server.call(&anna, "delete_note", &json!({ "identifier": "Gone" }));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut written = 0;
            while !is_over.load(std::sync::atomic::Ordering::SeqCst) {
                write(&server, &anna, &format!("Note {written}"), "kept");
                written += 1;
                std::thread::sleep(Duration::from_millis(400));
            }
            written
        });
        let purge = ["space", "vacuum", "acme", "--older-than", "now", "--yes"];
        let purged = [&["admin", "--database", team.address(), "--json"][..], &purge].concat();
        // A purge that met a write five times says so, and changed nothing.
        let mut tries = 0;
        while team.home.run(&purged).code != 0 {
            tries += 1;
            assert!(tries < 20, "the purge never came through");
        }
        is_over.store(true, std::sync::atomic::Ordering::SeqCst);
        writer.join().unwrap()
    });
    assert_eq!(rows_with(&team, CANARY), "0");
    let cold = team.serve();
    for n in 0..written {
        cold.call(&anna, "read_note", &json!({ "identifier": format!("Note {n}") }));
    }
}
