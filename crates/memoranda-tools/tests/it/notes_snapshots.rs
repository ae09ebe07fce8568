//! Snapshots of the answers of every notes tool, text and JSON, in `fixtures/notes`.
//!
//! `MEMORANDA_UPDATE_SNAPSHOTS=1` updates them.

use std::path::Path;

use serde_json::{Value, json};

use crate::notes_support::{Notes, stable, stable_json};

/// Calls a tool and compares its answer with the one that is kept under this name.
fn golden(notes: &Notes, name: &str, tool: &str, arguments: Value) {
    let result = notes.0.call(tool, &arguments);
    let home = notes.0.path("").display().to_string();
    let structured = serde_json::to_string_pretty(&stable_json(&result.structured)).unwrap();
    let text = match serde_json::from_str::<Value>(&result.text) {
        Ok(json) => {
            assert_eq!(json, result.structured, "{name}: the text is the structure");
            "(the structure as JSON)\n".to_owned()
        }
        Err(_) => stable(&result.text),
    };
    let found = format!(
        "{tool} {arguments}\nerror: {}\n\n{}\n---\n{structured}\n",
        result.is_error,
        text.trim_end()
    )
    .replace(&home, "VAULT/");
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/notes/{name}.txt"));
    if std::env::var("MEMORANDA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1") {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &found).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(found, kept, "{name}; MEMORANDA_UPDATE_SNAPSHOTS=1 renews it");
}

#[test]
fn results_match_their_snapshots() {
    let notes = Notes::new();
    let check = |name: &str, tool: &str, arguments: Value| golden(&notes, name, tool, arguments);
    let spec = "# Search Design\n\nSee [[Later]].\n\n- [decision] Words and vectors together #search\n\
                - [limit] A page of 100 (measured)\n- implements [[Search]]\n";
    check(
        "write_note",
        "write_note",
        json!({ "title": "Search Design", "directory": "specs", "content": spec,
                "tags": "spec, #search", "note_type": "Spec",
                "metadata": { "status": "open", "priority": 2, "done": false } }),
    );
    check(
        "write_note_similar",
        "write_note",
        json!({ "title": "Search", "directory": "/", "content": "- part_of [[Product]]" }),
    );
    check(
        "write_note_exists",
        "write_note",
        json!({ "title": "Search Design", "directory": "specs", "content": "x" }),
    );
    check(
        "write_note_overwrite",
        "write_note",
        json!({ "title": "Search", "directory": "", "content": "New.\n- part_of [[Product]]\n",
                "overwrite": true }),
    );
    check("read_note", "read_note", json!({ "identifier": "memory://specs/search-design" }));
    check(
        "read_note_json",
        "read_note",
        json!({ "identifier": "Search", "output_format": "json" }),
    );
    check("read_note_missing", "read_note", json!({ "identifier": "specs/search-plan" }));
    check("view_note", "view_note", json!({ "identifier": "Search" }));
    check(
        "edit_note",
        "edit_note",
        json!({ "identifier": "Search", "operation": "append", "content": "- [fact] fast" }),
    );
    check(
        "edit_note_miss",
        "edit_note",
        json!({ "identifier": "Search", "operation": "find_replace", "find_text": "slow",
                "content": "x" }),
    );
    check(
        "edit_note_creates",
        "edit_note",
        json!({ "identifier": "journal/Day One", "operation": "append",
                "content": "Met about [[journal/Plan]]." }),
    );
    check("search_notes", "search_notes", json!({ "query": "vectors" }));
    check("search_notes_facts", "search_notes", json!({ "categories": ["decision", "limit"] }));
    check(
        "search_notes_relations",
        "search_notes",
        json!({ "query": "implements", "entity_types": ["relation"] }),
    );
    check("search_notes_nothing", "search_notes", json!({ "query": "xylophone" }));
    check("search_notes_open", "search_notes", json!({}));
    check(
        "build_context",
        "build_context",
        json!({ "url": "memory://search", "output_format": "text" }),
    );
    check("build_context_json", "build_context", json!({ "url": "memory://specs/*", "depth": 2 }));
    check("recent_activity", "recent_activity", json!({ "type": "entity, relation" }));
    check("list_directory", "list_directory", json!({ "dir_name": "/", "depth": 2 }));
    check("read_content", "read_content", json!({ "path": "journal/Day One.md" }));
    notes.write("journal", "Plan", "The plan.");
    check(
        "move_note",
        "move_note",
        json!({ "identifier": "journal/plan", "destination_folder": "plans" }),
    );
    check(
        "move_note_links",
        "move_note",
        json!({ "identifier": "plans/Plan.md", "destination_path": "plans/Plan.md",
                "update_links": true }),
    );
    check("delete_note", "delete_note", json!({ "identifier": "plans/Plan" }));
    check("delete_note_folder", "delete_note", json!({ "identifier": "journal", "is_dir": true }));
    check("delete_note_missing", "delete_note", json!({ "identifier": "journal/day-one" }));
    check(
        "canvas",
        "canvas",
        json!({ "title": "Map", "directory": "maps", "edges": [], "nodes": [
            { "id": "a", "type": "file", "file": "Search.md", "x": 0, "y": 0, "width": 9, "height": 9 }
        ] }),
    );
    check("list_memory_projects", "list_memory_projects", json!({}));
    check("create_memory_project", "create_memory_project", json!({ "project_name": "work" }));
    check(
        "create_memory_project_elsewhere",
        "create_memory_project",
        json!({ "project_name": "x", "project_path": "/srv/x" }),
    );
    check(
        "delete_project",
        "delete_project",
        json!({ "project_name": "work", "delete_notes": true }),
    );
    for (name, role) in [("Ada", "- [role] engineer\n"), ("Bob", ""), ("Cyd", "- [role] guest\n")] {
        let content = format!("- [name] {name}\n{role}- knows [[Ada]]\n");
        let arguments = json!({ "title": name, "directory": "people", "content": content, "note_type": "person" });
        notes.ok("write_note", arguments);
    }
    check("schema_infer", "schema_infer", json!({ "note_type": "person" }));
    notes.person(
        "main/schemas/Person.md",
        "---\ntitle: Person\ntype: schema\nentity: person\nschema:\n  name: string\n  \
         role(enum): [engineer, manager]\n  born?: string\n---\n",
    );
    check("schema_validate", "schema_validate", json!({ "note_type": "person" }));
    check("schema_diff", "schema_diff", json!({ "note_type": "person" }));
    check("chatgpt_search", "search", json!({ "query": "engineer" }));
    check("chatgpt_fetch", "fetch", json!({ "id": "main/people/Ada.md" }));
}
