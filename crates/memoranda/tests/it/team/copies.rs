//! Vaults that become spaces, and spaces that become vaults.

use serde_json::{Value, json};

use super::support::Team;
use crate::cluster::{DiskForce, skipped};

#[test]
fn a_vault_becomes_a_space_with_its_history_and_a_clone_has_it_too() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_vault_becomes") };
    let home = &team.home;
    home.ok(&["init"]);
    home.ok(&["add", "The first wording of pangolin", "--title", "Animals"]);
    home.write("main/by-hand.md", "# By hand\n\naardvark\n");
    home.ok(&["search", "aardvark"]);
    home.write("main/Animals.md", "# Animals\n\nThe second wording of pangolin\n");
    home.ok(&["search", "second"]);
    let commits = home.json(&["log"]);
    team.admin(&["space", "import", "acme", "--dry-run"]);
    let brought = team.admin(&["space", "import", "acme"]);
    assert!(brought["commits"].as_u64().unwrap() >= 3, "{brought}");
    let again = home.run(&["admin", "--database", team.address(), "space", "import", "acme"]);
    assert!(again.err.contains("already"), "{again:?}");

    let server = team.serve();
    let anna = team.token("anna", "laptop", &["--space", "acme"]);
    let found = server.call(&anna, "search_notes", &json!({ "query": "aardvark" }));
    assert_eq!(found["structured"]["results"][0]["title"], "by-hand", "{found}");
    let found = server.call(&anna, "search_notes", &json!({ "query": "pangolin" }));
    assert!(found["text"].as_str().unwrap().contains("second wording"), "{found}");

    let token_file = home.path().join("token");
    std::fs::write(&token_file, &anna).unwrap();
    let token_file = token_file.to_str().unwrap();
    let url = format!("http://{}/", server.address);
    let cloned = home.json(&["clone", &url, "acme", "copy", "--token-file", token_file]);
    assert_eq!(cloned["commits"], brought["commits"]);
    let log = home.json(&["--home", "copy", "log"]);
    let ids = |log: &serde_json::Value| -> Vec<String> {
        let commits = log["commits"].as_array().unwrap();
        commits.iter().map(|commit| commit["id"].to_string()).collect()
    };
    assert_eq!(ids(&log), ids(&commits));
    let earlier = home.ok(&["--home", "copy", "diff", "Animals"]);
    assert!(earlier.contains("first wording"), "{earlier}");
    assert!(home.ok(&["--home", "copy", "search", "aardvark"]).contains("by-hand"));

    // A clone says that it is read-only, and what it copies stays as it is.
    home.fails(&["--home", "copy", "add", "mine"], 2, &["clone of the space acme", "read-only"]);
    let note = json!({ "title": "Later", "folder": "l", "content": "okapi" });
    server.call(&anna, "write_note", &note);
    assert!(!home.run(&["--home", "copy", "search", "okapi"]).out.contains("Later"));
    home.ok(&["--home", "copy", "pull", "--token-file", token_file]);
    assert!(home.ok(&["--home", "copy", "search", "okapi"]).contains("Later"));
    let audit = team.admin(&["audit"]).to_string();
    let last = brought["commits"].as_u64().unwrap();
    for (action, part) in
        [("clone", format!("1 to {last}")), ("pull", format!("{0} to {0}", last + 1))]
    {
        let is_there = audit.contains(&format!("\"{action}\"")) && audit.contains(&part);
        assert!(is_there, "{action} of {part}: {audit}");
    }
    home.fails(&["clone", &url, "acme", "copy", "--token-file", token_file], 2, &["not empty"]);
    let refused = home.run(&["clone", &url, "anna", "other", "--token-file", token_file]);
    assert!(refused.err.contains("anna"), "{refused:?}");
    home.fails(&["pull", "--token-file", token_file], 2, &["no clone"]);
}

#[test]
fn a_clone_contains_nothing_of_what_was_in_its_folder_before() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_clone_contains") };
    let server = team.serve_with(&["--toolsets", "all"]);
    let anna = team.token("anna", "laptop", &["--space", "acme"]);
    let note = |title: &str, word: &str| json!({ "title": title, "folder": "x", "content": word });
    server.call(&anna, "write_note", &note("Kept", "okapi"));
    server.call(&anna, "write_note", &note("Gone", "pangolin"));
    let home = &team.home;
    let token_file = home.path().join("token");
    std::fs::write(&token_file, &anna).unwrap();
    let token_file = token_file.to_str().unwrap();
    let url = format!("http://{}/", server.address);
    let clone = ["clone", &url, "acme", "copy", "--token-file", token_file];
    let check = |gone: &str| {
        home.ok(&clone);
        let found = |word: &str| home.ok(&["--home", "copy", "search", word]);
        assert!(found("okapi").contains("Kept"), "{}", found("okapi"));
        let gone_found = home.run(&["--home", "copy", "search", gone]);
        assert!(!gone_found.out.contains(gone), "{gone_found:?}");
        let log = home.ok(&["--home", "copy", "log"]);
        assert!(!log.contains(gone), "{log}");
        std::fs::remove_dir_all(home.path().join("copy")).unwrap();
    };
    // A vault of the person's own.
    home.ok(&["--home", "copy", "init"]);
    home.ok(&["--home", "copy", "add", "The aardvark digs", "--title", "aardvark"]);
    std::fs::remove_dir_all(home.path().join("copy")).unwrap();
    check("aardvark");
    // A clone from before a purge.
    server.call(&anna, "delete_note", &json!({ "identifier": "Gone" }));
    home.ok(&clone);
    std::fs::remove_dir_all(home.path().join("copy")).unwrap();
    team.admin(&["space", "vacuum", "acme", "--older-than", "now", "--versions", "--yes"]);
    check("pangolin");
}

#[test]
fn an_account_is_exported_and_deleted_with_everything_of_its_own() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("an_account_is_exported") };
    let server = team.serve();
    let ben = team.token("ben", "laptop", &[]);
    let canary = "canaryk5w9";
    let note = |space: &str| {
        json!({
            "title": format!("Note of {space}"), "folder": "x", "space": space,
            "content": format!("# Note\n\n{canary} in {space}\n"),
        })
    };
    server.call(&ben, "write_note", &note("ben"));
    server.call(&ben, "write_note", &note("acme"));
    let exported = team.admin(&["account", "export", "ben", "ben-export"]);
    assert!(exported["commits"].as_u64().unwrap() >= 1, "{exported}");
    let found = team.home.json(&["--home", "ben-export/space", "search", canary]).to_string();
    assert!(found.contains("Note of ben") && !found.contains("Note of acme"), "{found}");
    let about = std::fs::read_to_string(team.home.path().join("ben-export/account.json")).unwrap();
    let about: Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["tokens"][0]["name"], json!("laptop"), "{about}");
    assert!(about["memberships"].to_string().contains("acme"), "{about}");
    let again = ["admin", "--database", team.address(), "account", "export", "ben", "ben-export"];
    assert!(team.home.run(&again).err.contains("is not empty"));

    // A space that would have no owner keeps its account.
    let only = ["admin", "--database", team.address(), "account", "delete", "anna"];
    assert!(team.home.run(&only).err.contains("only owner of acme"));
    let planned = team.admin(&["account", "delete", "ben", "--dry-run"]);
    assert_eq!(server.try_call(&ben, "list_spaces", &json!({})).unwrap().status, 200);
    let deleted = team.admin(&["account", "delete", "ben"]);
    assert_eq!(deleted["commits"], planned["commits"]);
    assert_eq!(deleted["tokens"], json!(1));
    assert_eq!(server.try_call(&ben, "list_spaces", &json!({})).unwrap().status, 401);
    let spaces = team.admin(&["space", "list"]).to_string();
    assert!(!spaces.contains("\"ben\""), "{spaces}");
    let frames = "select count(*) from memoranda.commits c \
                  where not exists (select 1 from memoranda.spaces s where s.space = c.space)";
    assert_eq!(team.cluster.sql("postgres", frames).trim(), "0");
    // What it wrote for the team stays, and so does its name there.
    let anna = team.token("anna", "laptop", &[]);
    let kept = server.call(&anna, "search_notes", &json!({ "query": canary }));
    assert!(kept.to_string().contains("Note of acme"), "{kept}");

    // The export comes back as a space.
    team.admin(&["space", "add", "again", "--owner", "anna"]);
    let args = ["--home", "ben-export/space", "admin", "--database", team.address()];
    let back = team.home.json(&[&args[..], &["space", "import", "again"]].concat());
    assert_eq!(back["commits"], exported["commits"], "{back}");
}

#[test]
fn a_clone_that_is_killed_goes_on_where_it_was() {
    const NOTES: usize = 120;
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_clone_that_is_killed") };
    let server = team.serve();
    let anna = team.token("anna", "laptop", &["--space", "acme"]);
    let write = |n: usize| {
        let content = format!("pangolin number {n} {}", "with some words ".repeat(40));
        let note = json!({ "title": format!("Note {n}"), "folder": "x", "content": content });
        server.call(&anna, "write_note", &note);
    };
    (0..NOTES).for_each(write);
    let home = &team.home;
    let token_file = home.path().join("token");
    std::fs::write(&token_file, &anna).unwrap();
    let token_file = token_file.to_str().unwrap();
    let url = format!("http://{}/", server.address);
    let clone = ["clone", &url, "acme", "copy", "--token-file", token_file];
    let pull = ["--home", "copy", "pull", "--token-file", token_file];
    // Killed a little later each time, until a run comes to its end.
    let mut kills = 0;
    for pause in (0..).map(|n| std::time::Duration::from_millis(20 + 40 * n)) {
        let is_begun = home.path().join("copy/.memoranda/clone").exists();
        let args: &[&str] = if is_begun { &pull } else { &clone };
        if !is_begun {
            std::fs::remove_dir_all(home.path().join("copy")).ok();
        }
        let mut command = home.command(args);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(pause);
        if child.try_wait().unwrap().is_some_and(|status| status.success()) {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        assert!(kills < 500, "the clone never came to its end");
    }
    assert!(kills > 0);
    write(NOTES);
    home.ok(&pull);
    let log = home.json(&["--home", "copy", "log", "--limit", "1000"]);
    let commits = log["commits"].as_array().unwrap();
    let ids: std::collections::BTreeSet<String> =
        commits.iter().map(|commit| commit["id"].to_string()).collect();
    assert_eq!((commits.len(), ids.len()), (NOTES + 1, NOTES + 1), "a commit is missing or twice");
    for n in [0, NOTES / 2, NOTES] {
        let file = home.path().join(format!("copy/main/x/Note {n}.md"));
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains(&format!("pangolin number {n} ")), "{text}");
    }
    assert!(home.ok(&["--home", "copy", "doctor"]).contains("ok"));
}
