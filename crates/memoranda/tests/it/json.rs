//! JSON: it parses, and has the keys that the help names.

use serde_json::Value;

use super::support::Home;

#[track_caller]
fn check(value: &Value, keys: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("not an object: {value}"));
    let mut found: Vec<&str> = object.keys().map(String::as_str).collect();
    let mut expected = keys.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

const COMMIT: [&str; 8] = ["id", "time", "client", "tool", "channel", "message", "kind", "files"];
const FILE: [&str; 6] = ["project", "path", "action", "moved_from", "before", "after"];

#[test]
fn every_answer_has_its_keys() {
    let home = Home::bare();
    check(&home.json(&["init"]), &["home", "project", "created"]);
    let added =
        home.json(&["add", "--title", "Plan", "--tag", "x", "- [a] fact\n- needs [[Other]]"]);
    check(&added, &["project", "path", "permalink", "version", "commit"]);
    home.ok(&["add", "--title", "Second", "See [[Plan]]"]);

    let page = home.json(&["search", "fact"]);
    let keys = ["query", "results", "page", "has_more", "left_out", "partial", "relevance"];
    check(&page, &[&keys[..], &["corrections", "meaning"]].concat());
    check(&page["meaning"], &["by"]);
    let result = [
        "project",
        "path",
        "title",
        "permalink",
        "type",
        "updated",
        "score",
        "relevance",
        "why",
        "heading",
        "first_line",
        "last_line",
        "snippet",
        "highlights",
    ];
    check(&page["results"][0], &result);
    check(&page["results"][0]["why"][0], &["signal", "amount"]);
    assert!(page["results"][0]["updated"].as_str().unwrap().ends_with('Z'));
    let nothing = home.run(&["search", "xyzzy", "--json"]);
    assert_eq!(nothing.code, 1);
    let nothing: Value = serde_json::from_str(&nothing.out).unwrap();
    assert_eq!(nothing["results"], Value::Array(Vec::new()));

    let note = home.json(&["show", "Plan"]);
    let keys = [
        "project",
        "path",
        "title",
        "permalink",
        "type",
        "tags",
        "created",
        "updated",
        "version",
        "size",
        "text",
        "observations",
        "relations",
        "problems",
    ];
    check(&note, &keys);
    check(
        &note["observations"][0],
        &["id", "category", "text", "context", "line", "version", "current"],
    );
    check(&note["relations"][0], &["type", "target", "resolved", "context", "line"]);
    assert_eq!(note["version"], added["version"]);
    let graph = home.json(&["show", "Plan", "--graph"]);
    check(&graph, &["centre", "notes", "unresolved", "truncated"]);
    let neighbour = ["project", "path", "title", "depth", "relation_type", "direction", "via"];
    check(&graph["notes"][0], &neighbour);
    assert_eq!(graph["notes"][0]["direction"], "from");
    check(&graph["unresolved"][0], &["relation_type", "target"]);

    let edited = home.json(&["edit", "Plan", "--append", "more"]);
    check(&edited, &["project", "path", "changed", "before", "after", "commit"]);
    let summary =
        ["project", "path", "title", "permalink", "type", "created", "updated", "size", "version"];
    for args in [["list"], ["recent"]] {
        let list = home.json(&args);
        check(&list, &["notes", "has_more"]);
        check(&list["notes"][0], &summary);
    }
    let log = home.json(&["log"]);
    check(&log, &["commits", "has_more"]);
    check(&log["commits"][0], &COMMIT);
    check(&log["commits"][0]["files"][0], &FILE);
    let diff = home.json(&["diff", "Plan"]);
    check(&diff, &["commit", "files"]);
    check(&diff["files"][0], &["project", "path", "moved_from", "before", "after", "unified"]);
    let since = home.json(&["diff", "Plan", added["commit"].as_str().unwrap()]);
    assert_eq!(since["commit"], Value::Null);
    assert!(since["files"][0]["unified"].as_str().unwrap().contains("+more\n"));
    let undone = home.json(&["undo"]);
    check(&undone, &["undone", "commit", "dry_run"]);
    check(&undone["commit"], &COMMIT);
    let redone = home.json(&["redo"]);
    check(&redone, &["redone", "commit", "dry_run"]);
    assert_eq!(redone["commit"]["kind"], "redo");
    home.ok(&["undo"]);

    let moved = home.json(&["mv", "Plan", "plans/Plan"]);
    check(&moved, &["files", "left", "commit"]);
    assert_eq!(moved["files"][0]["to"]["path"], "plans/Plan.md");
    check(&home.json(&["rm", "Plan"]), &["deleted", "left", "commits", "dry_run"]);
    let restored = home.json(&["restore", "plans/Plan.md"]);
    check(&restored, &["project", "path", "changed", "version", "replaced", "commit"]);

    let project = ["name", "path", "in_vault", "notes"];
    check(&home.json(&["project", "create", "p"]), &project);
    check(&home.json(&["project", "list"])["projects"][0], &project);
    let status = [
        "home",
        "index",
        "config",
        "device",
        "notes",
        "passages",
        "observations",
        "relations",
        "unresolved",
        "commits",
        "log_bytes",
        "watched",
        "model",
        "projects",
    ];
    check(&home.json(&["status"]), &status);
    let sync = [
        "seen",
        "added",
        "changed",
        "moved",
        "removed",
        "indexed",
        "unavailable",
        "unreadable",
        "skipped",
    ];
    check(&home.json(&["scan"]), &sync);
    check(&home.json(&["reindex"]), &sync);
    let doctor = home.json(&["doctor"]);
    let keys = [
        "vault",
        "agrees",
        "repaired",
        "files",
        "commits",
        "damage",
        "broken_links",
        "lost",
        "restored",
        "unkept",
        "stale",
        "differing",
        "unavailable",
        "problems",
        "model",
        "sync",
        "clients",
    ];
    check(&doctor, &keys);
    check(&home.json(&["doctor", "--home", "nowhere"]), &["vault", "clients"]);
    assert_eq!(doctor["agrees"], true);
    check(&home.json(&["vacuum", "-n"]), &["notes", "contents", "bytes", "still_on", "dry_run"]);
    check(&home.json(&["export", "x.tar"]), &["file", "format", "projects", "files", "bytes"]);
    let imported = home.json(&["import", "x.tar", "--home", "two"]);
    check(&imported, &["home", "files", "segments", "left_out", "hidden"]);
    check(&home.json(&["config", "show"])["settings"][0], &["key", "value", "origin"]);
    check(&home.json(&["config", "get", "home"]), &["key", "value", "origin"]);
    check(&home.json(&["config", "path"]), &["path"]);
    check(&home.json(&["--version"]), &["name", "version", "commit", "mcp_revisions"]);
}
