//! `save_memory` as specified: accepted and rejected requests, exact texts and numbers, and the
//! isolation of threads.

use memoranda_tools::Wording;
use serde_json::{Value, json};

use crate::support::TestVault;

fn vault() -> TestVault {
    TestVault::new(Wording::Mcp)
}

/// Returns the valid request of the specification.
pub(crate) fn valid() -> Value {
    json!({
        "entities": [
            {
                "name": "Andrii", "entityType": "Person",
                "observations": ["Works at Google", "Author of MCP Memory Server", "Uses Windows"],
                "relations": [
                    { "targetEntity": "Python Scripts", "relationType": "created" },
                    { "targetEntity": "Portfolio", "relationType": "updates for" }
                ],
                "importance": 1.0
            },
            {
                "name": "Python Scripts", "entityType": "CodeArtifact",
                "observations": [
                    "update_portfolio.py is main script", "Uses python-docx 1.2.0", "Uses lxml 6.0.2"
                ],
                "relations": [
                    { "targetEntity": "Andrii", "relationType": "created by" },
                    { "targetEntity": "Portfolio", "relationType": "modifies" }
                ],
                "importance": 0.6
            },
            {
                "name": "Portfolio", "entityType": "Document",
                "observations": [
                    "Final file: shevchenko-viktoria-yevgenivna-v4.docx", "Contains 2 main tables",
                    "Total 21 records"
                ],
                "relations": [
                    { "targetEntity": "Python Scripts", "relationType": "modified by" },
                    { "targetEntity": "Andrii", "relationType": "updated by" }
                ],
                "importance": 0.9
            }
        ],
        "threadId": "portfolio-update-2026"
    })
}

/// Returns an entity with one observation and one relation.
pub(crate) fn entity(name: &str, fact: &str, target: &str) -> Value {
    json!({
        "name": name, "entityType": "Thing", "observations": [fact],
        "relations": [{ "targetEntity": target, "relationType": "knows" }]
    })
}

#[test]
fn the_valid_request_is_saved_in_one_commit_as_notes() {
    let vault = vault();
    let saved = vault.done("save_memory", valid());
    assert_eq!(saved["success"], true);
    assert_eq!(saved["created"]["entities"], 3);
    assert_eq!(saved["created"]["relations"], 6);
    assert_eq!(saved["warnings"], json!([]));
    // 0.7 for two relations each, and 0.3 × (1 − 213 / 9 / 150) for the facts.
    assert_eq!(saved["quality_score"], 0.953);
    let commits = vault.memory.log(&Default::default(), 10, 0).unwrap();
    assert_eq!(commits.len(), 1);
    assert_eq!(saved["commit"], commits[0].id.to_string());
    let note = std::fs::read_to_string(vault.path("graph/portfolio-update-2026/Python Scripts.md"));
    let note = note.unwrap();
    assert!(
        note.starts_with("---\ntitle: Python Scripts\ntype: CodeArtifact\nimportance: 0.6\n---\n")
    );
    assert!(note.contains("- [fact] Uses lxml 6.0.2 <!-- obs_"), "{note}");
    assert!(note.contains("c=1.0 i=0.6 thread=portfolio-update-2026 -->"), "{note}");
    assert!(note.contains("- \"created by\" [[Andrii]] <!-- rel "), "{note}");
    let graph = vault.done("read_graph", json!({ "threadId": "portfolio-update-2026" }));
    assert_eq!(graph["entities"].as_array().unwrap().len(), 3);
    assert_eq!(graph["relations"].as_array().unwrap().len(), 6);
    let scripts = &graph["entities"][2];
    assert_eq!(scripts["observations"][1]["content"], "Uses python-docx 1.2.0");
    assert_eq!(scripts["observations"][1]["version"], 1);
    assert_eq!(scripts["observations"][1]["importance"], 0.6);
    assert_eq!(graph["relations"][0]["importance"], 0.7);
}

#[test]
fn every_problem_is_reported_with_computed_numbers() {
    let vault = vault();
    let long = "This is a very long observation that contains multiple facts and exceeds the maximum \
                allowed length of 150 characters which will cause validation to fail";
    let (text, refused) = vault.refused(
        "save_memory",
        json!({
            "entities": [
                {
                    "name": "Test", "entityType": "Example", "observations": [long, "One. Two. Three."],
                    "relations": [{ "targetEntity": "Other", "relationType": "related" }]
                },
                {
                    "name": "Isolated Entity", "entityType": "Test", "observations": ["Some fact"],
                    "relations": []
                },
                {
                    "name": "x".repeat(101), "entityType": "t".repeat(51), "observations": ["tiny"],
                    "relations": [{ "targetEntity": "Tset", "relationType": "r".repeat(51) }],
                    "confidence": 1.5
                }
            ],
            "threadId": "test"
        }),
    );
    let briefs: Vec<&str> = refused["validation_errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e.as_str().unwrap())
        .collect();
    assert_eq!(briefs.len(), 10, "{briefs:#?}");
    assert_eq!(
        briefs[0],
        "Entity 'Test': Observation too long (153 chars). Max 150. Split into multiple observations."
    );
    assert_eq!(
        briefs[1],
        "Entity 'Test': Too many sentences (3). Max 2. One fact per observation."
    );
    assert_eq!(briefs[2], "Entity 'Test': Target entity 'Other' not found in request or thread");
    assert_eq!(briefs[3], "Entity 'Isolated Entity' must have at least 1 relation");
    let first = &refused["problems"][0];
    assert_eq!(first["error"], "Validation failed");
    assert_eq!((&first["entity"], &first["observation"]), (&json!("Test"), &json!(long)));
    assert_eq!(first["problem"], "Too long (153 chars, 1 sentence). Max 150 chars, 2 sentences.");
    let suggestion = first["suggestion"].as_str().unwrap();
    assert!(suggestion.starts_with(
        "Split into 2 observations: 1) 'This is a very long observation that contains multiple facts', 2) '"
    ));
    // The first problem is also at the top level, as in the specification.
    assert_eq!((&refused["error"], &refused["problem"]), (&first["error"], &first["problem"]));
    let relation = &refused["problems"][2];
    assert_eq!(relation["relation"], json!({ "targetEntity": "Other", "relationType": "related" }));
    assert_eq!(
        refused["problems"][3]["problem"],
        "Missing relations. Every entity must have at least 1 relation."
    );
    assert!(refused["problems"][3]["suggestion"].as_str().unwrap().contains("root: true"));
    assert!(text.contains("10 problems") && text.contains("Did you mean 'Test'?"), "{text}");
    assert_eq!((&refused["success"], &refused["created"]["entities"]), (&json!(false), &json!(0)));
    assert!(!vault.path("graph").exists());
}

#[test]
fn types_get_advice_and_roots_need_no_relation() {
    let vault = vault();
    let saved = vault.done(
        "save_memory",
        json!({
            "entities": [{
                "name": "Root", "entityType": "person", "observations": ["Stands alone"], "root": true
            }, {
                "name": "Key", "entityType": "API Key", "observations": ["Opens doors"],
                "relations": [{ "targetEntity": "Root", "relationType": "belongs to" }]
            }],
            "threadId": "t"
        }),
    );
    let warnings = saved["warnings"].to_string();
    assert!(warnings.contains("'Person'") && warnings.contains("'ApiKey'"), "{warnings}");
    let listed = vault.done("list_entities", json!({ "threadId": "t" }));
    assert_eq!(
        listed["entities"],
        json!([{ "name": "Key", "entityType": "API Key" }, { "name": "Root", "entityType": "Person" }])
    );
}

#[test]
fn an_existing_name_is_merged_and_nothing_is_lost() {
    let vault = vault();
    vault.done("save_memory", valid());
    let again = vault.done("save_memory", valid());
    assert_eq!(again["created"]["entities"], 0);
    assert_eq!(again["created"]["observations"], 0);
    assert_eq!(again["warnings"].as_array().unwrap().len(), 3);
    assert_eq!(vault.memory.log(&Default::default(), 10, 0).unwrap().len(), 1);
    let more = vault.done(
        "save_memory",
        json!({
            "entities": [{
                "name": "Andrii", "entityType": "Human",
                "observations": ["Works at Google", "Lives in Kyiv"],
                "relations": [{ "targetEntity": "Portfolio", "relationType": "reads" }]
            }],
            "threadId": "portfolio-update-2026"
        }),
    );
    assert_eq!(more["created"]["observations"], 1);
    assert_eq!(more["created"]["relations"], 1);
    assert_eq!(more["merged"][0]["already_known"], json!(["Works at Google"]));
    let warnings = more["warnings"].to_string();
    assert!(warnings.contains("type was kept"), "{warnings}");
    let open = vault
        .done("open_nodes", json!({ "names": ["Andrii"], "threadId": "portfolio-update-2026" }));
    assert_eq!(open["entities"][0]["observations"].as_array().unwrap().len(), 4);
    assert_eq!(open["entities"][0]["entityType"], "Person");
}

#[test]
fn threads_are_isolated() {
    let vault = vault();
    let pair =
        |fact: &str| json!([entity("Same", fact, "Other"), entity("Other", "Is here", "Same")]);
    vault.done("save_memory", json!({ "entities": pair("Lives in one"), "threadId": "one" }));
    vault.done("save_memory", json!({ "entities": pair("Lives in two"), "threadId": "two" }));
    vault.done(
        "save_memory",
        json!({ "entities": [entity("Lone", "Only in two", "Same")], "threadId": "two" }),
    );
    let (text, _) = vault.refused(
        "save_memory",
        json!({ "entities": [entity("New", "A new fact", "Lone")], "threadId": "one" }),
    );
    assert!(text.contains("'Lone' not found"), "{text}");
    for (tool, arguments) in [
        ("read_graph", json!({ "threadId": "one" })),
        ("search_nodes", json!({ "query": "two", "threadId": "one" })),
        ("search_nodes", json!({ "query": "Lives", "threadId": "one" })),
        ("open_nodes", json!({ "names": ["Same", "Lone"], "threadId": "one" })),
        ("query_nodes", json!({ "threadId": "one" })),
        ("get_analytics", json!({ "threadId": "one" })),
        ("get_recent_changes", json!({ "threadId": "one", "since": "2020-01-01" })),
        ("list_entities", json!({ "threadId": "one" })),
        ("get_memory_stats", json!({ "threadId": "one" })),
        ("detect_conflicts", json!({ "threadId": "one" })),
        ("read_graph", json!({ "threadId": "one", "as_of": "2999-01-01T00:00:00Z" })),
    ] {
        let said = vault.done(tool, arguments).to_string();
        assert!(!said.contains("Lives in two") && !said.contains("Only in two"), "{tool}: {said}");
    }
    // Without a match the answer names the places outside.
    let outside = json!({ "query": "Only", "threadId": "one" });
    let outside = vault.done("search_nodes", outside)["outside"].clone();
    assert_eq!(outside[0]["file_path"], "two/Lone.md", "{outside}");
    vault.refused("find_relation_path", json!({ "from": "Same", "to": "Lone", "threadId": "one" }));
    vault.done("delete_entities", json!({ "entityNames": ["Same"], "threadId": "one" }));
    let two = vault.done("read_graph", json!({ "threadId": "two" }));
    assert_eq!(two["entities"].as_array().unwrap().len(), 3);
    assert_eq!(two["relations"].as_array().unwrap().len(), 3);
    let one = vault.done("read_graph", json!({ "threadId": "one" }));
    assert_eq!(one["relations"], json!([]));
    let threads = vault.done("list_conversations", json!({}));
    assert_eq!(threads["conversations"][1]["agentThreadId"], "two");
    assert_eq!(threads["conversations"][1]["entityCount"], 3);
}

#[test]
fn names_and_threads_are_never_paths_and_are_read_back() {
    let vault = vault();
    let hundred = "n".repeat(100);
    let names = [
        "a/b",
        "a-b",
        "a:b",
        "Foo",
        "foo",
        "FOO",
        "..",
        "../../etc/passwd",
        ".hidden",
        "C# and F#",
        "Issue #5",
        "x|y",
        "std::vec",
        "[[brackets]]",
        "日本語",
        "Ünïcode",
        "it's \"quoted\"",
        "true",
        "2026-01-01",
        "- dash",
        "# hash",
        "💡",
        "tail.",
        &hundred,
        "a  b",
        "100%",
        "<!-- x -->",
    ];
    for thread in ["../up", "a/b", "..", ".dot", "CON: x", "線路"] {
        let entities: Vec<Value> = names
            .iter()
            .enumerate()
            .map(|(n, name)| entity(name, &format!("Fact of {name}"), names[(n + 1) % names.len()]))
            .collect();
        vault.done("save_memory", json!({ "entities": entities, "threadId": thread }));
        let graph = vault.done("read_graph", json!({ "threadId": thread, "maxTokens": 24000 }));
        let mut found: Vec<&str> = graph["entities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["name"].as_str().unwrap())
            .collect();
        found.sort_unstable();
        let mut wanted = names.to_vec();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
        for (n, name) in names.iter().enumerate() {
            let next = names[(n + 1) % names.len()];
            let path = vault.done(
                "find_relation_path",
                json!({ "from": name, "to": next, "threadId": thread }),
            );
            assert_eq!(path["path"], json!([name, next]), "{name} -> {next}");
        }
        let loose = vault.done("get_analytics", json!({ "threadId": thread }));
        assert_eq!(loose["orphaned_entities"], json!([]));
    }
    let inside: Vec<_> =
        std::fs::read_dir(vault.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(inside.iter().filter(|name| *name != ".memoranda").count(), 1, "{inside:?}");
    let (text, _) = vault.refused(
        "save_memory",
        json!({ "entities": [entity("A", "A fact", "B"), entity("B", "A fact", "A")], "threadId": "con: x" }),
    );
    assert!(text.contains("'CON: x'"), "{text}");
    vault.refused("get_analytics", json!({ "threadId": "  " }));
    vault.refused("get_analytics", json!({ "threadId": "x".repeat(300) }));
}

#[test]
fn analytics_report_changes_and_orphans() {
    let vault = vault();
    vault.done("save_memory", valid());
    let thread = "portfolio-update-2026";
    vault.done(
        "add_observations",
        json!({ "observations": [{ "entityName": "Portfolio", "contents": ["Has a new cover"] }], "threadId": thread }),
    );
    let told = vault.done("get_analytics", json!({ "threadId": thread }));
    assert_eq!(told["recent_changes"][0]["entityName"], "Portfolio");
    assert_eq!(told["recent_changes"][0]["changeType"], "updated");
    assert_eq!(told["recent_changes"][1]["changeType"], "created");
    assert_eq!(told["top_important"][0]["entityName"], "Andrii");
    assert_eq!(told["top_important"][1]["observationCount"], 4);
    assert_eq!(told["most_connected"][0]["relationCount"], 4);
    assert_eq!(told["most_connected"][0]["connectedTo"].as_array().unwrap().len(), 2);
    assert_eq!(told["orphaned_entities"], json!([]));
    // A person deletes a note and writes one without relations.
    std::fs::remove_file(vault.path(&format!("graph/{thread}/Andrii.md"))).unwrap();
    std::fs::write(vault.path(&format!("graph/{thread}/Stray.md")), "Nothing tied.\n").unwrap();
    vault.memory.sync(&mut |_| {}).unwrap();
    let told = vault.done("get_analytics", json!({ "threadId": thread }));
    let mut loose: Vec<(&str, &str)> = told["orphaned_entities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| (o["entityName"].as_str().unwrap(), o["reason"].as_str().unwrap()))
        .collect();
    loose.sort_unstable();
    assert_eq!(
        loose,
        [
            ("Portfolio", "broken_relation"),
            ("Python Scripts", "broken_relation"),
            ("Stray", "no_relations")
        ]
    );
}

#[test]
fn queries_find_by_weights_paths_words_and_conflicts() {
    let vault = vault();
    vault.done("save_memory", valid());
    let thread = "portfolio-update-2026";
    let names = |value: &Value| -> Vec<String> {
        let list = value["entities"].as_array().unwrap();
        list.iter().map(|e| e["name"].as_str().unwrap().to_owned()).collect()
    };
    let ask = |tool: &str, mut arguments: Value| {
        arguments["threadId"] = json!(thread);
        vault.done(tool, arguments)
    };
    assert_eq!(
        names(&ask("query_nodes", json!({ "importanceMin": 0.9 }))),
        ["Andrii", "Portfolio"]
    );
    assert_eq!(names(&ask("query_nodes", json!({ "timestampStart": "2999-01-01" }))), [""; 0]);
    assert_eq!(names(&ask("search_nodes", json!({ "query": "portfolio" })))[0], "Portfolio");
    assert_eq!(names(&ask("search_nodes", json!({ "query": "tables lxml" }))).len(), 2);
    assert_eq!(names(&ask("search_nodes", json!({ "query": "rtfol" })))[0], "Portfolio");
    assert_eq!(names(&ask("search_nodes", json!({ "query": "zebra" }))), [""; 0]);
    let path = ask("find_relation_path", json!({ "from": "Portfolio", "to": "Andrii" }));
    assert_eq!((&path["found"], &path["path"]), (&json!(true), &json!(["Portfolio", "Andrii"])));
    ask(
        "add_observations",
        json!({ "observations": [{ "entityName": "Andrii", "contents": ["Does not use Windows at Google"] }] }),
    );
    ask(
        "add_observations",
        json!({ "observations": [{ "entityName": "Python Scripts", "contents": ["Uses python-docx 1.1.0"] }] }),
    );
    let conflicts = ask("detect_conflicts", json!({}));
    assert_eq!(conflicts["conflicts"].as_array().unwrap().len(), 1);
    assert_eq!(conflicts["conflicts"][0]["entityName"], "Python Scripts");
    let flagged = ask(
        "flag_for_review",
        json!({ "entityName": "Andrii", "reason": "Still at Google?", "reviewer": "Ann" }),
    );
    assert_eq!(flagged["observation"]["content"], "[review] Still at Google? (reviewer: Ann)");
    assert_eq!(names(&ask("get_flagged_entities", json!({}))), ["Andrii"]);
    let updated = ask(
        "bulk_update",
        json!({ "updates": [{ "entityName": "Portfolio", "importance": 0.05 }, { "entityName": "Nobody" }] }),
    );
    assert_eq!((&updated["updated"], &updated["notFound"]), (&json!(1), &json!(["Nobody"])));
    let dry = ask("prune_memory", json!({ "importanceLessThan": 0.1, "dryRun": true }));
    assert_eq!((&dry["removedEntities"], &dry["removedRelations"]), (&json!(1), &json!(4)));
    assert_eq!(names(&ask("read_graph", json!({ "minImportance": 0 }))).len(), 3);
    assert_eq!(names(&ask("read_graph", json!({}))).len(), 2);
    let pruned = ask("prune_memory", json!({ "importanceLessThan": 0.1 }));
    assert_eq!(
        names(&ask("read_graph", json!({ "minImportance": 0 }))),
        ["Andrii", "Python Scripts"]
    );
    vault.memory.undo(&author(), pruned["commit"].as_str().unwrap()).unwrap();
    assert_eq!(names(&ask("read_graph", json!({ "minImportance": 0 }))).len(), 3);
    let stats = ask("get_memory_stats", json!({}));
    assert_eq!((&stats["entityCount"], &stats["relationCount"]), (&json!(3), &json!(6)));
    assert_eq!(stats["entityTypes"]["CodeArtifact"], 1);
}

fn author() -> memoranda_core::change::Author {
    memoranda_core::change::Author::new(
        "test 1",
        "undo",
        memoranda_core::change::ChangeChannel::Mcp,
    )
}

#[test]
fn large_answers_are_cut_and_continued() {
    let vault = vault();
    let next = |n: usize| if n == 0 { "E01" } else { "E00" };
    let entities: Vec<Value> = (0..60)
        .map(|n| entity(&format!("E{n:02}"), &format!("Fact {n} {}", "word ".repeat(20)), next(n)))
        .collect();
    vault.done("save_memory", json!({ "entities": entities, "threadId": "big" }));
    let (mut seen, mut offset) = (0, 0);
    loop {
        let page = vault
            .done("read_graph", json!({ "threadId": "big", "maxTokens": 2000, "offset": offset }));
        seen += page["entities"].as_array().unwrap().len();
        match page["nextOffset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(seen, 60);
    assert!(offset > 0);
}
