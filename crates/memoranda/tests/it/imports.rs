//! Memories of other systems: note by note what comes, and what a second run does.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::support::Home;

/// Writes a file outside the vault.
pub(crate) fn put(home: &Home, path: &str, bytes: impl AsRef<[u8]>) {
    let path = home.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn zip(home: &Home, path: &str, files: &[(&str, &str)]) {
    let file = std::fs::File::create(home.path().join(path)).unwrap();
    let mut zip = zip::ZipWriter::new(file);
    for (name, text) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

/// A note without what its import says of the time and the hash.
#[track_caller]
pub(crate) fn note(home: &Home, place: &str) -> String {
    let text = String::from_utf8(home.read(place)).unwrap();
    let told = |line: &&str| !line.starts_with("imported_at") && !line.starts_with("imported_hash");
    text.lines().filter(told).map(|line| format!("{line}\n")).collect()
}

/// Imports, and checks how many were new, updated, unchanged, edited and deleted.
#[track_caller]
pub(crate) fn counts(home: &Home, args: &[&str], expected: [u64; 5]) -> Value {
    let said = home.run(&[&["import"], args, &["--json"]].concat());
    let report: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:?}"));
    let keys = ["created", "updated", "unchanged", "edited", "deleted"];
    let found = keys.map(|key| report[key].as_u64().unwrap());
    assert_eq!(found, expected, "{report:#}");
    let failed = !report["problems"].as_array().unwrap().is_empty();
    assert_eq!(said.code, i32::from(failed), "{said:?}");
    report
}

fn claude(title: &str, answer: &str) -> String {
    json!([
        {
            "uuid": "c1", "name": title, "summary": "On databases",
            "created_at": "2026-02-14T10:04:22.123456Z", "updated_at": "2026-02-14T10:22:41Z",
            "chat_messages": [
                {
                    "uuid": "m1", "sender": "human", "text": "Which one?", "content": [],
                    "created_at": "2026-02-14T10:04:22Z",
                    "attachments": [{ "file_name": "a.sql", "extracted_content": "select 1;" }],
                    "files": [{ "file_name": "plan.png" }],
                },
                {
                    "uuid": "m2", "sender": "assistant", "text": "old form",
                    "created_at": "2026-02-14T10:05:00Z",
                    "content": [
                        { "type": "thinking", "thinking": "left out" },
                        { "type": "text", "text": answer },
                        { "type": "tool_use", "name": "search", "input": {} },
                    ],
                },
            ],
        },
        { "uuid": "c2", "name": "Empty", "chat_messages": [] },
        { "oops": true },
    ])
    .to_string()
}

#[test]
fn claude_comes_from_its_zip_note_by_note() {
    let home = Home::new();
    let projects = json!([
        { "uuid": "starter", "name": "How to", "is_starter_project": true },
        {
            "uuid": "p1", "name": "Shop", "description": "A shop.", "prompt_template": "Be brief.",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z",
            "docs": [{ "uuid": "d1", "filename": "notes.txt", "content": "- [x] as is" }],
        },
    ]);
    let memories = json!([{ "account_uuid": "a", "conversations_memory": "Likes Rust.",
                            "project_memories": { "p1": "Sells books." } }]);
    let files = [
        ("conversations.json", claude("Databases", "# Postgres\n\n- [fact] no fact #x")),
        ("projects.json", projects.to_string()),
        ("memories.json", memories.to_string()),
        ("users.json", "[{\"uuid\": \"a\", \"email_address\": \"x@example.org\"}]".to_owned()),
    ];
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    zip(&home, "export.zip", &files);

    let planned = home.run(&["import", "export.zip", "--dry-run"]);
    assert!(planned.out.contains("new     main/claude/conversations/2026-02-14 Databases.md\n"));
    assert!(!home.file("main/claude").exists());
    let report = counts(&home, &["export.zip"], [5, 0, 0, 0, 0]);
    assert_eq!(report["source"], "claude");
    let problem = &report["problems"][0];
    assert_eq!(problem["at"], "conversations.json [2]");
    assert_eq!(report["skipped"][0]["reason"], "conversations without a word");
    assert_eq!(
        note(&home, "main/claude/conversations/2026-02-14 Databases.md"),
        "---\n\
         title: Databases\n\
         type: conversation\n\
         created: \"2026-02-14T10:04:22Z\"\n\
         modified: \"2026-02-14T10:22:41Z\"\n\
         summary: On databases\n\
         imported_from: claude\n\
         imported_id: c1\n\
         ---\n\n\
         # Databases\n\n\
         ## You (2026-02-14 10:04 UTC)\n\n\
         > Which one?\n>\n> **Attachment: a.sql**\n>\n> ```\n> select 1;\n> ```\n>\n>\n\
         > **File: plan.png**\n\n\
         ## Claude (2026-02-14 10:05 UTC)\n\n\
         > # Postgres\n>\n> - [fact] no fact #x\n>\n> *(used search)*\n"
    );
    assert_eq!(
        note(&home, "main/claude/projects/Shop/Shop.md"),
        "---\ntitle: Shop\ntype: project\ncreated: \"2026-01-01T00:00:00Z\"\n\
         modified: \"2026-01-02T00:00:00Z\"\nimported_from: claude\nimported_id: p1\n---\n\n\
         # Shop\n\nA shop.\n\n## Instructions\n\n> Be brief.\n"
    );
    let document = note(&home, "main/claude/projects/Shop/notes.txt.md");
    assert!(document.ends_with("# notes.txt\n\n```\n- [x] as is\n```\n"), "{document}");
    let memory = note(&home, "main/claude/memory/What Claude remembers.md");
    assert!(memory.ends_with("\n\nLikes Rust.\n"), "{memory}");
    // Nothing that was said became knowledge.
    assert_eq!(home.json(&["show", "Databases"])["observations"], json!([]));
    assert_eq!(home.json(&["show", "Databases"])["created"], "2026-02-14T10:04:22Z");
    assert!(!home.ok(&["search", "select"]).is_empty());
    counts(&home, &["export.zip"], [0, 0, 5, 0, 0]);
}

#[test]
fn chatgpt_is_a_tree_of_which_one_branch_was_shown() {
    let home = Home::new();
    let node = |parent: Value, children: Value, role: &str, content: Value| {
        let author = json!({ "role": role });
        let message =
            json!({ "author": author, "create_time": 1_771_063_462.5, "content": content });
        json!({ "parent": parent, "children": children, "message": message })
    };
    let said = |text: &str| json!({ "content_type": "text", "parts": [text] });
    let conversation = |id: &str, current: Value| {
        json!({
            "conversation_id": id, "title": "Same title", "create_time": 1_771_063_462.5,
            "update_time": 1_771_063_999, "default_model_slug": "gpt", "current_node": current,
            "mapping": {
                "r": { "parent": null, "children": ["s"], "message": null },
                "s": node(json!("r"), json!(["u"]), "system", said("left out")),
                "u": node(json!("s"), json!(["a", "b"]), "user", said("Question")),
                "a": node(json!("u"), json!([]), "assistant", said("First answer")),
                "b": node(json!("u"), json!(["p"]), "assistant", said("Second answer")),
                "p": node(json!("b"), json!([]), "assistant", json!({
                    "content_type": "multimodal_text",
                    "parts": ["And", { "content_type": "image_asset_pointer" }],
                })),
            },
        })
    };
    let first = json!([conversation("one", json!("a"))]).to_string();
    let second = json!([conversation("two", json!("p")), { "title": "no tree" }]).to_string();
    put(&home, "gpt/conversations-000.json", first);
    put(&home, "gpt/conversations-001.json", second);
    put(&home, "gpt/shared_conversations.json", "[]");
    let report = counts(&home, &["gpt"], [2, 0, 0, 0, 0]);
    assert_eq!(report["source"], "chatgpt");
    assert_eq!(report["problems"][0]["at"], "conversations-001.json [1]");
    let paths: Vec<_> =
        report["notes"].as_array().unwrap().iter().map(|note| &note["path"]).collect();
    assert_eq!(paths[0], "chatgpt/conversations/2026-02-14 Same title.md");
    assert_ne!(paths[0], paths[1]);
    let one = note(&home, "main/chatgpt/conversations/2026-02-14 Same title.md");
    assert!(one.contains("model: gpt\n") && one.contains("> Question\n"), "{one}");
    assert!(one.contains("> First answer\n") && !one.contains("Second answer"), "{one}");
    let two = note(&home, &format!("main/{}", paths[1].as_str().unwrap()));
    assert!(two.ends_with("> Second answer\n>\n> And\n>\n> *(picture)*\n"), "{two}");
    counts(&home, &["chatgpt", "gpt"], [0, 0, 2, 0, 0]);
}

#[test]
fn claude_codes_memory_comes_with_its_workspace() {
    let home = Home::new();
    let folder = ".claude/projects/-srv-shop";
    put(&home, &format!("{folder}/memory/MEMORY.md"), "- [Style](style.md)\n");
    put(
        &home,
        &format!("{folder}/memory/style.md"),
        "---\nname: style\ntype: feedback\n---\nTabs.\n",
    );
    put(&home, &format!("{folder}/s.jsonl"), "{\"type\":\"user\",\"cwd\":\"/srv/shop\"}\n");
    put(&home, ".claude/projects/-srv-none/s.jsonl", "{}");
    counts(&home, &["claude-code"], [2, 0, 0, 0, 0]);
    let style = note(&home, "memories/claude-code/srv-shop/style.md");
    assert!(style.starts_with("---\nname: style\ntype: feedback\nmodified: "), "{style}");
    assert!(style.contains("\nworkspace: /srv/shop\nimported_from: claude-code\n"), "{style}");
    assert!(style.ends_with("---\nTabs.\n"), "{style}");
    // However it is named, it is the same memory.
    counts(&home, &[".claude"], [0, 0, 2, 0, 0]);
    counts(&home, &[".claude/projects"], [0, 0, 2, 0, 0]);
    counts(&home, &[&format!("{folder}/memory")], [0, 0, 2, 0, 0]);
}

#[test]
#[cfg(unix)]
fn what_a_folder_in_its_place_leaves_out_is_told() {
    let home = Home::new();
    put(&home, "src/good.md", "good\n");
    put(&home, "other/x.md", "x\n");
    put(&home, "twice.md", "twice\n");
    let at = |name: &str| home.path().join(name);
    std::os::unix::fs::symlink(at("other"), at("src/linked")).unwrap();
    std::fs::write(at("src").join("back\\slash.md"), "x\n").unwrap();
    std::fs::hard_link(at("twice.md"), at("src/no.md")).unwrap();
    let told = [
        "src/linked is left out: it is a symbolic link",
        "src/back\\slash.md is left out: its name",
        "src/no.md is left out: ",
    ];
    let said = home.run(&["import", "obsidian", "src"]);
    assert_eq!(said.code, 1, "{said:?}");
    let both = format!("{}{}", said.out, said.err);
    assert!(both.contains("is a project now: src (1 note)"), "{said:?}");
    told.iter().for_each(|words| assert!(said.err.contains(words), "{words}: {said:?}"));
    let said = home.run(&["import", "obsidian", "src", "--json"]);
    assert_eq!(said.code, 1, "{said:?}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let left_out = json["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 3, "{json}");
    assert!(left_out.iter().all(|left| left["project"] == "src"), "{json}");
    let doctor = home.run(&["doctor"]);
    told.iter().take(2).for_each(|words| assert!(doctor.out.contains(words), "{doctor:?}"));

    // A project without a folder here is reported by its name.
    let projects = json!({ "src": at("src"), "cloud": { "path": "" }, "rel": "~/ghost" });
    put(&home, ".basic-memory/config.json", json!({ "projects": projects }).to_string());
    let said = home.run(&["import", "basic-memory"]);
    assert!(said.err.contains("the project cloud cannot come: it has no folder"), "{said:?}");
    let ghost = format!("the project rel cannot come: {} is not a", at("ghost").display());
    assert!(said.err.contains(&ghost), "{said:?}");
}

#[test]
fn vaults_stay_where_they_are_or_are_copied() {
    let home = Home::new();
    put(&home, "Vault/.obsidian/app.json", "{}");
    put(&home, "Vault/Plan.md", "# Plan\n\n- [idea] one #x\n- needs [[Other]]\n");
    put(&home, "Vault/Other.md", "text\r\n");
    put(&home, "Vault/img/p.png", [137u8, 80, 78, 71, 0]);
    let before = std::fs::read(home.path().join("Vault/Plan.md")).unwrap();
    let json = home.json(&["import", "Vault"]);
    assert_eq!(json["source"], "obsidian");
    assert_eq!(
        (&json["projects"][0]["name"], &json["projects"][0]["notes"]),
        (&json!("vault"), &json!(2))
    );
    assert_eq!(std::fs::read(home.path().join("Vault/Plan.md")).unwrap(), before);
    let again = home.ok(&["import", "obsidian", "Vault"]);
    assert!(again.contains("is there already: vault (2 notes)"), "{again}");

    let already = ["is the project vault already", "`-p NAME`"];
    home.fails(&["import", "obsidian", "Vault", "--copy"], 2, &already);

    let report = counts(&home, &["Vault", "--copy", "-p", "copied"], [3, 0, 0, 0, 0]);
    assert_eq!(report["source"], "obsidian");
    assert_eq!(home.read("copied/img/p.png"), [137u8, 80, 78, 71, 0]);
    let copied = note(&home, "copied/Plan.md");
    assert!(copied.contains("imported_id: Vault/Plan.md\n"), "{copied}");
    assert!(copied.ends_with("---\n# Plan\n\n- [idea] one #x\n- needs [[Other]]\n"), "{copied}");
    assert!(home.read("copied/Other.md").ends_with(b"---\r\ntext\r\n"));
    counts(&home, &["Vault", "--copy", "-p", "copied"], [0, 0, 3, 0, 0]);
    put(&home, "Vault/img/p.png", [1u8, 2]);
    counts(&home, &["Vault", "--copy", "-p", "copied"], [0, 1, 2, 0, 0]);
    assert_eq!(home.read("copied/img/p.png"), [1u8, 2]);

    // Basic Memory is known by what it writes into its notes, and by its list of projects.
    put(&home, "bm/a.md", "---\ntitle: A\ntype: note\npermalink: main/a\n---\n# A\n");
    let config = json!({ "projects": { "main": home.path().join("bm"), "gone": "/nowhere/x" } });
    put(&home, ".basic-memory/config.json", config.to_string());
    home.ok(&["add", "so that main exists"]);
    let dry = home.run(&["import", "basic-memory", "-n"]);
    assert!(dry.err.contains("the project main-2"), "{dry:?}");
    let json = home.json(&["import", "basic-memory"]);
    assert_eq!(json["projects"].as_array().unwrap().len(), 1);
    assert_eq!(json["projects"][0]["name"], "main-2");
    assert_eq!(home.json(&["import", "bm"])["source"], "basic-memory");

    // Any other folder is copied.
    put(&home, "plain/notes/a.md", "a\n");
    put(&home, "plain/.hidden/b.md", "b\n");
    put(&home, "plain/data.json", "{}");
    counts(&home, &["plain"], [2, 0, 0, 0, 0]);
    assert_eq!(home.read("main/plain/data.json"), b"{}");
    // A note that came once is known wherever it lies; a file without frontmatter only there.
    counts(&home, &["plain", "--to", "elsewhere"], [1, 0, 1, 0, 0]);
}

const GRAPH: &str = r#"{"type":"entity","name":"Ada","entityType":"person","observations":["Wrote a program (the first)","[x] odd","Two\nlines","Likes #math"]}
{"type":"entity","name":"Issue #5","entityType":"Work Item","observations":[]}
{"type":"relation","from":"Ada","to":"Issue #5","relationType":"works on"}
"#;

#[test]
fn what_was_typed_by_hand_is_exported_by_its_name() {
    let home = Home::new();
    put(&home, "memory.json", GRAPH);
    counts(&home, &["memory.json"], [2, 0, 0, 0, 0]);
    let typed = "---\ntitle: Bob\ntype: person\n---\n- knows [[default/ada]]\n- likes [[nobody]]\n";
    home.write("graph/default/Bob.md", typed);
    home.ok(&["scan"]);
    let exported = home.ok(&["export", "mcp-memory"]);
    for (to, says) in [("Ada", "knows"), ("nobody", "likes")] {
        let line = json!({ "type": "relation", "from": "Bob", "to": to, "relationType": says });
        let has = |found: &str| serde_json::from_str::<Value>(found).unwrap() == line;
        assert!(exported.lines().any(has), "{to}: {exported}");
    }
}

#[test]
fn the_reference_servers_file_comes_and_goes_back_the_same() {
    let home = Home::new();
    let broken = "{\"type\":\"entity\",\"name\":\"Cut off\",\"obs\n";
    let ghost =
        "{\"type\":\"relation\",\"from\":\"Ghost\",\"to\":\"Ada\",\"relationType\":\"haunts\"}\n";
    put(&home, "memory.json", format!("{GRAPH}{broken}{ghost}"));
    let report = counts(&home, &["memory.json"], [3, 0, 0, 0, 0]);
    let at: Vec<_> = report["problems"].as_array().unwrap().iter().map(|p| &p["at"]).collect();
    assert_eq!(at, ["memory.json line 4"]);
    assert_eq!(home.ok(&["export", "mcp-memory"]), format!("{GRAPH}{ghost}"));
    counts(&home, &["mcp-memory", "memory.json"], [0, 0, 3, 0, 0]);
    // As one object too, and into another thread.
    let lines: Vec<Value> = GRAPH.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    put(
        &home,
        "graph.json",
        json!({ "entities": lines[..2], "relations": lines[2..] }).to_string(),
    );
    counts(&home, &["graph.json"], [0, 0, 2, 0, 0]);
    counts(&home, &["graph.json", "--to", "work"], [2, 0, 0, 0, 0]);
    assert_eq!(home.ok(&["export", "mcp-memory", "--thread", "work"]), GRAPH);
    let said = home.run(&["export", "mcp-memory", "--thread", "wrok"]);
    assert!(said.out.is_empty() && said.err.contains("there are: default, work"), "{said:?}");

    // Graph files survive export, import and export with equal bytes, whatever their names. The
    // tools, the import and the export read a thread's name alike.
    let entity = |name: &str, facts: &[&str], to: &str| {
        json!({
            "name": name, "entityType": "Thing", "observations": facts,
            "relations": [{ "targetEntity": to, "relationType": "next: to" }],
        })
    };
    let entities = [
        entity("b | c #1", &["Costs 5 € (net) #money", "[x] is done"], "A/B: [odd]"),
        entity("A/B: [odd]", &["Says \"no\" - always"], "a/b- [odd]"),
        entity("a/b- [odd]", &["Is near in name only"], "b | c #1"),
    ];
    let request = json!({ "entities": entities, "threadId": "../team: x" }).to_string();
    home.ok(&["tool", "save_memory", &request]);
    let first = home.ok(&["export", "mcp-memory", "--thread", "../team: x"]);
    assert_eq!(first.lines().count(), 6, "{first}");
    put(&home, "team.jsonl", &first);
    counts(&home, &["team.jsonl", "--to", "../other: x"], [3, 0, 0, 0, 0]);
    assert_eq!(home.ok(&["export", "mcp-memory", "--thread", "../other: x"]), first);
    counts(&home, &["team.jsonl", "--to", "../team: x"], [0, 0, 3, 0, 0]);
    let opened = json!({ "names": ["A/B: [odd]"], "threadId": "../other: x" }).to_string();
    let opened = home.ok(&["tool", "open_nodes", &opened]);
    assert!(opened.contains("Says \\\"no\\\" - always"), "{opened}");

    // An entity that an agent made gets what it lacks, and loses nothing.
    home.write("graph/default/robert.md", "---\ntitle: Bob\ntype: person\n---\n\n- [fact] Mine\n");
    home.ok(&["scan"]);
    let bob =
        r#"{"type":"entity","name":"Bob","entityType":"person","observations":["Mine","Theirs"]}"#;
    put(&home, "bob.jsonl", bob);
    counts(&home, &["bob.jsonl"], [0, 1, 0, 0, 0]);
    let text = note(&home, "graph/default/robert.md");
    assert_eq!((text.matches("Mine").count(), text.matches("Theirs").count()), (1, 1), "{text}");
    counts(&home, &["bob.jsonl"], [0, 0, 1, 0, 0]);
}

fn database(path: &Path, sql: &str) {
    let db = rusqlite::Connection::open(path).unwrap();
    db.execute_batch(sql).unwrap();
}

#[test]
fn reminders_of_memories_sh_are_due_when_they_were() {
    let home = Home::new();
    database(
        &home.path().join("local.db"),
        "CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT NOT NULL);
         CREATE TABLE reminders (id TEXT, message TEXT, cron_expression TEXT, enabled INTEGER, \
         last_triggered_at TEXT, next_trigger_at TEXT, created_at TEXT);
         INSERT INTO reminders VALUES ('r1', 'Later', '0 9 * * *', 1, NULL, \
         '2999-01-02T09:00:00.000Z', '2024-01-02 03:04:05');
         INSERT INTO reminders VALUES ('r2', 'Now', '0 9 * * *', 1, NULL, \
         '2025-01-02T09:00:00.000Z', '2024-01-02 03:04:05');",
    );
    home.ok(&["import", "memories-sh", "local.db"]);
    let list = home.ok(&["tool", "list_reminders", "{}"]);
    assert!(list.contains("r1 [enabled]") && list.contains("(next: 2999-01-02 09:00"), "{list}");
    assert!(list.contains("r2 [due]"), "{list}");
    let due = home.ok(&["tool", "run_due_reminders", "{}"]);
    assert!(due.contains("due since 2025-01-02 09:00") && !due.contains("Later"), "{due}");
}

#[test]
fn memories_sh_comes_from_its_database_or_its_export() {
    let home = Home::new();
    database(
        &home.path().join("local.db"),
        "CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT NOT NULL, tags TEXT, scope TEXT, \
         project_id TEXT, type TEXT, paths TEXT, category TEXT, metadata TEXT, created_at TEXT, \
         updated_at TEXT, deleted_at TEXT, embedding BLOB);
         CREATE TABLE reminders (id TEXT, message TEXT, cron_expression TEXT, scope TEXT, \
         project_id TEXT, enabled INTEGER, last_triggered_at TEXT, created_at TEXT);
         INSERT INTO memories VALUES ('A-KClGh_J2Gj', 'Use pnpm', 'a,b', 'project', \
         'github.com/acme/shop', 'rule', 'src/**,*.{ts,tsx}', 'tools', '{\"n\":1}', \
         '2026-01-02 03:04:05', '2026-01-03 00:00:00', NULL, x'00');
         INSERT INTO memories VALUES ('gone', 'Old', NULL, 'global', NULL, 'note', NULL, NULL, \
         NULL, '2026-01-02 03:04:05', '2026-01-02 03:04:05', '2026-01-04 00:00:00', NULL);
         INSERT INTO memories VALUES ('n1', 'A note', NULL, 'global', NULL, 'note', NULL, NULL, \
         NULL, '2026-01-02 03:04:05', '2026-01-02 03:04:05', NULL, NULL);
         INSERT INTO reminders VALUES ('r1', 'Review', '0 9 * * 1', 'global', NULL, 0, NULL, \
         '2026-01-02 03:04:05');",
    );
    let bytes = std::fs::read(home.path().join("local.db")).unwrap();
    let report = counts(&home, &["local.db"], [3, 0, 0, 0, 0]);
    assert_eq!(report["source"], "memories-sh");
    assert_eq!(report["skipped"][0], json!({ "reason": "deleted memories", "count": 1 }));
    assert_eq!(std::fs::read(home.path().join("local.db")).unwrap(), bytes);
    assert_eq!(
        note(&home, "records/projects/github.com-acme-shop/rule/A-KClGh_J2Gj.md"),
        "---\ntitle: Use pnpm\ntype: rule\nproject: github.com/acme/shop\ntags:\n  - a\n  - b\n\
         paths:\n  - src/**\n  - \"*.{ts,tsx}\"\ncategory: tools\nmetadata: \"{\\\"n\\\":1}\"\n\
         created: \"2026-01-02T03:04:05Z\"\nmodified: \"2026-01-03T00:00:00Z\"\n\
         imported_from: memories-sh\nimported_id: A-KClGh_J2Gj\n---\n\nUse pnpm\n"
    );
    let rules = home.ok(&["tool", "get_rules", "{\"project_id\":\"github.com/acme/shop\"}"]);
    assert!(rules.contains("Use pnpm"), "{rules}");
    let reminders = home.ok(&["tool", "list_reminders", "{\"include_disabled\":true}"]);
    assert!(reminders.contains("Review"), "{reminders}");

    // The export knows less, and takes nothing away.
    let yaml = "version: \"1.0\"\nproject_id: github.com/acme/shop\nmemories:\n  - id: A-KClGh_J2Gj\n    \
                content: Use pnpm\n    type: rule\n    tags: []\n    scope: project\n    \
                created_at: 2026-01-02 03:04:05\n  - id: new1\n    content: |-\n      Two\n      lines\n    \
                type: fact\n    tags: []\n    scope: global\n    created_at: 2026-01-02 03:04:05\n";
    put(&home, "memories.yaml", yaml);
    counts(&home, &["memories.yaml"], [1, 0, 1, 0, 0]);
    assert!(note(&home, "records/global/fact/new1.md").ends_with("\n\nTwo\nlines\n"));
    let json = json!({ "version": "1.0", "project_id": null, "memories": [
        { "id": "new1", "content": "Three lines", "type": "fact", "tags": [], "scope": "global",
          "created_at": "2026-01-02 03:04:05" }, { "id": "", "content": "" } ] });
    put(&home, "memories.json", json.to_string());
    let report = counts(&home, &["memories.json"], [0, 1, 0, 0, 0]);
    assert_eq!(report["problems"][0]["at"], "memories.json [1]");
}

#[test]
fn what_was_changed_last_is_listed_first_after_an_import() {
    let home = Home::new();
    let memory = |n: usize| {
        json!({ "id": format!("m{n:02}"), "content": format!("Fact {n:02}"), "type": "fact",
            "scope": "global", "created_at": "2025-01-01T10:00:00Z",
            "updated_at": format!("2025-03-01T10:{n:02}:00Z") })
    };
    // More than one page, and not in order.
    let memories: Vec<_> = (0..60).map(|n| memory(n * 7 % 60)).collect();
    let export = json!({ "version": "1.0", "project_id": null, "memories": memories });
    put(&home, "memories.json", export.to_string());
    home.ok(&["import", "memories-sh", "memories.json"]);
    let newest = || {
        let listed = home.json(&["tool", "list_memories", r#"{"limit": 3}"#]);
        [0, 1, 2].map(|n| listed["structured"]["memories"][n]["id"].clone())
    };
    assert_eq!(newest(), ["m59", "m58", "m57"]);
    // A later edit by a person is newer than all of them.
    home.write("records/global/note/mine.md", "Mine\n");
    assert_eq!(newest(), ["mine", "m59", "m58"]);
}

#[test]
fn a_database_that_lies_still_is_left_as_it_was_found() {
    let home = Home::new();
    let folder = home.path().join("elsewhere");
    std::fs::create_dir_all(&folder).unwrap();
    database(
        &folder.join("local.db"),
        "PRAGMA journal_mode = WAL;
         CREATE TABLE memories (id TEXT, content TEXT, type TEXT, scope TEXT, metadata TEXT, \
         updated_at TEXT);
         INSERT INTO memories VALUES ('m1', 'Kept', 'note', 'global', 'by hand', '2026-01-02');",
    );
    let said = home
        .run_with(&[("MEMORIES_DATA_DIR", folder.to_str().unwrap())], &["import", "memories-sh"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(note(&home, "records/global/note/m1.md").contains("by hand"));
    let names: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["local.db"]);
}

#[test]
fn lines_of_json_and_folders_hold_everything() {
    let home = Home::new();
    home.write("main/Plan.md", "---\ntags: [a]\n---\r\n- [idea] one (why)\r\n- needs [[X]]\r\n");
    home.write("main/deep/data.bin", [0u8, 159, 146, 150]);
    home.write("work/b.txt", "no newline");
    // Hidden, by the memory tool and by another program.
    let hidden = json!({ "command": "create", "path": "/memories/.keep/c.md", "file_text": "c" });
    home.ok(&["tool", "memory", &hidden.to_string()]);
    home.write("main/.obsidian/app.json", "{}");
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_600_000_000_123);
    for place in ["main/Plan.md", "memories/.keep/c.md"] {
        let file = std::fs::File::options().write(true).open(home.file(place)).unwrap();
        file.set_modified(old).unwrap();
    }
    home.ok(&["scan"]);
    assert_eq!(home.json(&["export", "jsonl", "notes.jsonl"])["files"], 4);
    let said = home.run(&["export", "jsonl", "notes.jsonl", "--yes"]);
    assert!(said.err.contains("1 hidden file that Memoranda did not write stayed"), "{said:?}");
    home.fails(&["export", "jsonl", "notes.jsonl"], 4, &["exists", "export --yes jsonl"]);
    let text = std::fs::read_to_string(home.path().join("notes.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], json!({ "memoranda": 1, "kind": "notes" }));
    assert_eq!(lines[1]["observations"][0]["context"], "why");
    let two = ["--home", "two"];
    let report = home.json(&[&["import", "notes.jsonl"][..], &two].concat());
    assert_eq!((&report["source"], &report["created"]), (&json!("jsonl"), &json!(4)));
    for place in ["main/Plan.md", "main/deep/data.bin", "work/b.txt", "memories/.keep/c.md"] {
        let copy = home.path().join("two").join(place);
        assert_eq!(std::fs::read(&copy).unwrap(), home.read(place), "{place}");
        let changed = |path: &Path| {
            let time = std::fs::metadata(path).unwrap().modified().unwrap();
            time.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()
        };
        assert_eq!(changed(&copy), changed(&home.file(place)), "{place}");
    }
    let times = |flags: &[&str]| {
        let text = home.ok(&[&["export", "jsonl"], flags].concat());
        let line: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
        (line["path"].clone(), line["updated"].clone(), line["created"].clone())
    };
    assert_eq!(times(&two), times(&[]));
    assert_eq!(times(&two).1, "2020-09-13T12:26:40.123Z");
    let again = home.json(&[&["import", "notes.jsonl"][..], &two].concat());
    assert_eq!(again["unchanged"], 4);
    assert_eq!(home.ok(&[&["export", "jsonl"][..], &two].concat()).lines().count(), 5);

    home.ok(&["export", "markdown", "copy"]);
    assert_eq!(
        std::fs::read(home.path().join("copy/main/Plan.md")).unwrap(),
        home.read("main/Plan.md")
    );
    home.fails(&["export", "markdown", "copy"], 4, &["copy is not empty"]);
    home.ok(&["export", "markdown", "one", "-p", "work"]);
    assert_eq!(std::fs::read(home.path().join("one/b.txt")).unwrap(), b"no newline");
    home.fails(&["export", "yaml", "x"], 2, &["\"yaml\" is no form of export"]);
}

#[test]
fn a_killed_import_is_completed_by_the_next() {
    let home = Home::new();
    let conversation = |n: usize| {
        json!({ "uuid": format!("c{n}"), "name": format!("Talk {n}"),
                "created_at": "2026-02-14T10:00:00Z",
                "chat_messages": [{ "sender": "human", "text": format!("Word {n}") }] })
    };
    let all: Vec<Value> = (0..1500).map(conversation).collect();
    put(&home, "conversations.json", Value::Array(all).to_string());
    let mut command = home.command(&["import", "conversations.json"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // As soon as the first batch shows, it is committed, and there are more to come.
    let folder = home.file("main/claude/conversations");
    let ended = loop {
        let named =
            |file: std::fs::DirEntry| file.file_name().to_string_lossy().starts_with("2026");
        let some = std::fs::read_dir(&folder).is_ok_and(|files| files.flatten().any(named));
        if some || child.try_wait().unwrap().is_some() {
            break child.try_wait().unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    assert_eq!(ended, None, "the import ended before it could be killed");
    child.kill().unwrap();
    child.wait().unwrap();
    let report = home.json(&["import", "conversations.json"]);
    let (new, known) = (report["created"].as_u64().unwrap(), report["unchanged"].as_u64().unwrap());
    assert_eq!(new + known, 1500, "{new} new, {known} unchanged");
    assert!(known > 0 && known % 200 == 0, "a batch comes whole: {known}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1500);
    home.ok(&["doctor"]);
}

#[test]
fn what_cannot_be_imported_is_said() {
    let home = Home::new();
    put(&home, "x.json", "{}");
    put(&home, "x.zip", b"PK\x03\x04 broken");
    home.fails(&["import", "x.json"], 2, &["x.json is nothing that can be imported", "--list"]);
    home.fails(&["import", "x.zip"], 2, &["x.zip cannot be unpacked"]);
    home.fails(&["import", "nothing.json"], 1, &["nothing.json", "does not exist"]);
    home.fails(&["import", "obsidan", "x"], 2, &["did you mean obsidian"]);
    home.fails(&["import", "mem0"], 1, &["nothing of mem0", "import mem0 PATH"]);
    home.fails(&["import", "mem0", "x.json"], 2, &["holds no list of memories"]);
    home.fails(&["import"], 2, &["SOURCE|PATH"]);
    let list = home.json(&["import", "--list"]);
    assert_eq!(list["sources"].as_array().unwrap().len(), 13);
    put(
        &home,
        "s.json",
        json!([{ "id": "1", "memory": "password: hunter2-Long-Secret-9x" }]).to_string(),
    );
    let secret = home.json(&["import", "s.json"]);
    assert_eq!(secret["secrets"].as_array().unwrap().len(), 1);
}

#[test]
fn a_dry_run_makes_no_vault() {
    let home = Home::bare();
    zip(&home, "export.zip", &[("conversations.json", &claude("Storage", "Postgres."))]);
    put(&home, "Vault/.obsidian/app.json", "{}");
    put(&home, "Vault/note.md", "a note\n");
    put(&home, "texts/one.md", "one\n");
    put(&home, "all.jsonl", "{\"project\": \"main\", \"path\": \"a.md\", \"content\": \"x\"}\n");
    for (args, words) in [
        (&["export.zip"][..], "new     main/claude/conversations/"),
        (&["obsidian", "Vault"], ""),
        (&["obsidian", "Vault", "--copy"], "new     vault/note.md"),
        (&["folder", "texts"], "new     main/texts/one.md"),
        (&["folder", "texts", "--in-place"], ""),
        (&["jsonl", "all.jsonl"], "new     main/a.md"),
    ] {
        let said = home.run(&[&["import"], args, &["--dry-run"]].concat());
        assert!(said.out.contains(words), "{args:?}: {said:?}");
        assert!((said.out + &said.err).contains("Would"), "{args:?}");
        for made in ["memoranda", ".cache", ".local", ".config"] {
            assert!(!home.path().join(made).exists(), "{args:?} made {made}");
        }
    }
}

#[test]
fn a_source_s_name_means_the_source() {
    let home = Home::new();
    let basic = home.path().join("basic-memory");
    put(&home, "basic-memory/a.md", "---\ntitle: A\npermalink: a\n---\n");
    put(&home, "work/b.md", "b\n");
    let projects = json!({ "main": basic, "work": home.path().join("work") });
    put(&home, ".basic-memory/config.json", json!({ "projects": projects }).to_string());
    // Where its notes lie, too.
    let said = home.run(&["import", "basic-memory", "--dry-run"]);
    assert!(said.err.contains("the project main") && said.err.contains("the project work"));
    assert!(said.err.contains("./basic-memory means what lies here"), "{said:?}");
    let said = home.run(&["import", "./basic-memory", "--dry-run"]);
    assert!(said.err.contains("the project basic-memory"), "{said:?}");
    // Without anything at its usual place it is what lies here.
    put(&home, "obsidian/x.md", "x\n");
    counts(&home, &["obsidian"], [1, 0, 0, 0, 0]);
}

#[test]
fn what_a_vault_leaves_out_is_not_copied() {
    let home = Home::new();
    put(&home, "Vault/.obsidian/app.json", "{}");
    put(&home, "Vault/.gitignore", "private/\n*.tmp.md\n!keep.tmp.md\n");
    put(&home, "Vault/.bmignore", "drafts/\n");
    put(&home, "Vault/private/keys.md", "wombat");
    put(&home, "Vault/drafts/d.md", "wombat");
    put(&home, "Vault/sub/x.tmp.md", "wombat");
    put(&home, "Vault/sub/.gitignore", "own.md\n");
    put(&home, "Vault/sub/own.md", "wombat");
    put(&home, "Vault/own.md", "kept");
    put(&home, "Vault/keep.tmp.md", "kept");
    let report = counts(&home, &["obsidian", "Vault", "--copy"], [2, 0, 0, 0, 0]);
    let skipped = json!([
        { "reason": "files that .gitignore or the like names", "count": 2 },
        { "reason": "folders that .gitignore or the like names", "count": 2 },
    ]);
    assert_eq!(report["skipped"], skipped);
    assert_eq!(home.run(&["search", "wombat"]).code, 1);

    // Patterns that Basic Memory ignores in all its projects.
    put(&home, "bm/a.md", "---\ntitle: A\npermalink: a\n---\n");
    put(&home, "bm/deep/secret.md", "wombat");
    put(&home, "other/deep/secret.md", "heron");
    put(&home, ".basic-memory/.bmignore", "secret.md\n");
    counts(&home, &["basic-memory", "bm", "--copy"], [1, 0, 0, 0, 0]);
    let placed = home.run(&["import", "basic-memory", "bm", "-p", "placed"]);
    assert!(placed.err.contains(".basic-memory/.bmignore names is left out"), "{placed:?}");
    counts(&home, &["folder", "other"], [1, 0, 0, 0, 0]);
}

#[test]
fn basic_memory_keeps_its_names_and_its_default() {
    let config = |home: &Home, default: &str| {
        put(home, "bm/a.md", "---\ntitle: A\npermalink: main/a\n---\n# A\n");
        put(home, "papers/b.md", "---\ntitle: B\npermalink: research/b\n---\n# B\n");
        let (main, papers) = (home.path().join("bm"), home.path().join("papers"));
        let projects = json!({ "main": main, "research": { "path": papers } });
        let config = json!({ "projects": projects, "default_project": default });
        put(home, ".basic-memory/config.json", config.to_string());
    };
    let names = |json: &Value| {
        let projects = json["projects"].as_array().unwrap().iter();
        projects.map(|p| p["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // An empty main gives way, and a default comes along.
    let home = Home::new();
    home.ok(&["init"]);
    config(&home, "research");
    let dry = home.run(&["import", "basic-memory", "-n"]);
    assert!(dry.err.contains("Would make research the default project"), "{dry:?}");
    let json = home.json(&["import", "basic-memory"]);
    assert_eq!(names(&json), ["main", "research"]);
    assert_eq!(json["default_project"], "research");
    assert_eq!(home.ok(&["config", "get", "default_project"]), "research\n");
    assert!(home.ok(&["show", "main/a"]).contains("# A"));
    assert_eq!(names(&home.json(&["import", "basic-memory"])), ["main", "research"]);

    // One that is in use stays, and so does a default that was chosen.
    let home = Home::new();
    home.ok(&["add", "so that main holds something"]);
    config(&home, "main");
    let said = home.run(&["import", "basic-memory"]);
    assert!(said.err.contains("is called main-2 here"), "{said:?}");
    assert!(said.err.contains("config set default_project main-2"), "{said:?}");
    assert_eq!(home.ok(&["config", "get", "default_project"]), "main\n");
    let home = Home::new();
    home.ok(&["config", "set", "default_project", "work"]);
    config(&home, "research");
    let said = home.run(&["import", "basic-memory"]);
    assert!(said.err.contains("config set default_project research"), "{said:?}");
    assert_eq!(home.ok(&["config", "get", "default_project"]), "work\n");
}
