//! Folders of other memory servers: threads with versions, banks, and data folders.

use serde_json::{Value, json};

use super::client::{Client, Era};
use super::imports::{counts, note, put};
use super::support::Home;

fn version(id: &str, content: &str, number: u32, before: &str, after: &str) -> Value {
    json!({
        "id": id, "content": content, "version": number, "agentThreadId": "portfolio",
        "timestamp": format!("2026-01-{:02}T10:00:00Z", 14 + number), "confidence": 0.8,
        "importance": 0.6, "supersedes": before, "superseded_by": after,
    })
}

#[test]
fn threads_come_with_the_versions_of_their_observations() {
    let home = Home::new();
    let entity = |name: &str, observations: Value| {
        let entity = json!({
            "type": "entity", "name": name, "entityType": "Project", "observations": observations,
        });
        format!("{entity}\n")
    };
    let versions = json!([
        version("obs_2", "Uses python-docx 1.2.0", 2, "obs_1", ""),
        version("obs_1", "Uses python-docx 1.1.0", 1, "", "obs_2"),
    ]);
    let relation = json!({
        "type": "relation", "from": "Portfolio", "to": "Site", "relationType": "updates",
        "agentThreadId": "portfolio", "importance": 0.9, "timestamp": "2026-01-15T10:00:00Z",
    });
    let text = entity("Portfolio", versions) + &entity("Site", json!(["Is online"]));
    put(&home, "threads/thread-portfolio.jsonl", format!("{text}{relation}\n"));
    put(&home, "threads/thread-garden.jsonl", entity("Pond", json!(["Holds carp"])));
    put(&home, "threads/notes.txt", "not a thread");
    // A folder of threads is known by its files.
    let report = counts(&home, &["threads"], [3, 0, 0, 0, 0]);
    assert_eq!(report["source"], "mcp-memory");
    counts(&home, &["threads"], [0, 0, 3, 0, 0]);
    assert!(note(&home, "graph/garden/Pond.md").contains("Holds carp"));
    let mut client = Client::open(&home, Era::Handshake("2025-06-18"), &["--toolsets", "graph"]);
    let mut call = |name: &str, arguments: Value| {
        let asked = json!({ "name": name, "arguments": arguments });
        client.result("tools/call", asked)["structuredContent"].clone()
    };
    let opened = call("open_nodes", json!({ "names": ["Portfolio"], "threadId": "portfolio" }));
    let observations = opened["entities"][0]["observations"].as_array().unwrap();
    assert_eq!(observations.len(), 1, "{opened}");
    assert_eq!(observations[0]["content"], "Uses python-docx 1.2.0");
    assert_eq!(opened["relations"][0]["importance"], 0.9, "{opened}");
    let history = call(
        "get_observation_history",
        json!({
            "threadId": "portfolio", "entityName": "Portfolio", "observationId": observations[0]["id"],
        }),
    );
    let chain: Vec<_> = history["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            (entry["content"].clone(), entry["version"].clone(), entry["confidence"].clone())
        })
        .collect();
    assert_eq!(
        chain,
        [
            (json!("Uses python-docx 1.1.0"), json!(1), json!(0.8)),
            (json!("Uses python-docx 1.2.0"), json!(2), json!(0.8)),
        ],
        "{history:#}"
    );
    // One file is its thread, unless another is asked for.
    let one = home.path().join("threads/thread-garden.jsonl");
    let report = counts(&home, &[one.to_str().unwrap(), "--to", "other"], [1, 0, 0, 0, 0]);
    assert_eq!(report["notes"][0]["path"], "other/Pond.md");
    counts(&home, &[one.to_str().unwrap()], [0, 0, 1, 0, 0]);
    home.ok(&["doctor"]);
}

#[test]
fn a_memory_bank_comes_with_all_of_its_banks() {
    let home = Home::new();
    let root = ".claude-desktop/memory";
    for (file, text) in [
        ("global/default/context.md", "# Context\n\nLikes trains.\n"),
        ("global/default/cache_memory_dump.json", "{}"),
        ("projects/project_x/readme.md", "# Project X\n\n## Project Overview\nSells shoes.\n"),
        ("projects/project_x/notes/ideas.md", "# Ideas\n"),
        ("code/Utils_Lib/doc/architecture.md", "# Code Architecture\r\nHexagonal.\r\n"),
        ("cache.log", "of the program"),
    ] {
        put(&home, &format!("{root}/{file}"), text);
    }
    let report = counts(&home, &["memory-bank"], [4, 0, 0, 0, 0]);
    let skipped = json!([
        { "reason": "cache files", "count": 1 },
        { "reason": "files outside of the banks", "count": 1 },
    ]);
    assert_eq!(report["skipped"], skipped);
    let named = home.path().join(root);
    // By its folder too, and nothing twice.
    let report = counts(&home, &[named.to_str().unwrap()], [0, 0, 4, 0, 0]);
    assert_eq!(report["source"], "memory-bank");
    assert_eq!(
        home.read("banks/code/Utils_Lib/doc/architecture.md"),
        b"# Code Architecture\r\nHexagonal.\r\n"
    );
    let call = |name: &str, arguments: Value| {
        let said = home.ok(&["tool", name, &arguments.to_string(), "--json"]);
        serde_json::from_str::<Value>(&said).unwrap_or_else(|_| panic!("{said}"))
    };
    let activated = call("activate", json!({ "bank_type": "project", "bank_id": "project_x" }));
    assert!(activated.to_string().contains("Sells shoes."), "{activated:#}");
    let listed = call("list", json!({})).to_string();
    assert!(listed.contains("Utils_Lib") && listed.contains("project_x"), "{listed}");
    // Any other folder of projects is a folder.
    put(&home, "work/projects/a/readme.md", "# A\n");
    put(&home, "work/recipes/soup.md", "# Soup\n");
    let work = home.path().join("work");
    let said = home.json(&["import", work.to_str().unwrap(), "-n"]);
    assert_eq!(said["source"], "folder");
    home.fails(&["import", "memory-bank", work.join("recipes").to_str().unwrap()], 2, &["no bank"]);
}

#[test]
fn the_data_folder_of_memories_sh_is_known() {
    let home = Home::new();
    let folder = home.path().join("data");
    std::fs::create_dir_all(&folder).unwrap();
    let database = rusqlite::Connection::open(folder.join("local.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE memories (id TEXT, content TEXT, type TEXT, scope TEXT, deleted_at TEXT);
             INSERT INTO memories VALUES ('m1', 'Use pnpm', 'rule', 'global', NULL);",
        )
        .unwrap();
    drop(database);
    for args in [&["import", "data", "-n"][..], &["import", "memories-sh", "data", "-n"]] {
        let said = home.json(args);
        assert_eq!(
            (&said["source"], &said["created"]),
            (&json!("memories-sh"), &json!(1)),
            "{said}"
        );
    }
}
