//! Reading tools look everywhere by default; writes, links and limits stay in their place.

use memoranda_tools::{DefaultSearchScope, Wording};
use serde_json::{Value, json};

use crate::support::TestVault;

/// A vault with a memory file, a note and a record about herons.
fn vault() -> TestVault {
    let vault = TestVault::new(Wording::Mcp);
    let file = json!({ "command": "create", "path": "/memories/birds.md",
                       "file_text": "The heron nests behind the mill\n" });
    vault.done("memory", file);
    vault.done(
        "write_note",
        json!({ "title": "Pond", "directory": "", "content": "A heron stands in the pond" }),
    );
    vault.done("add_memory", json!({ "content": "The heron eats frogs", "type": "fact" }));
    vault
}

fn projects(found: &Value) -> Vec<String> {
    let results = found["results"].as_array().unwrap().iter();
    let mut projects: Vec<String> =
        results.map(|hit| hit["project"].as_str().unwrap().to_owned()).collect();
    projects.sort();
    projects
}

#[test]
fn a_search_without_a_project_covers_all() {
    let mut vault = vault();
    let heron = json!({ "query": "heron" });
    let everywhere = ["main", "memories", "records"];
    let found = vault.done("search_notes", heron.clone());
    assert_eq!(
        (projects(&found), &found["project"]),
        (everywhere.map(String::from).to_vec(), &json!(null))
    );
    let named = vault.done("search_notes", json!({ "query": "heron", "project": "memories" }));
    assert_eq!(projects(&named), ["memories"]);
    // An address is looked for in all projects, too; the start of it may name one.
    for (address, expected) in [
        ("memory://birds", vec!["memories"]),
        ("memory://memories/birds", vec!["memories"]),
        ("memory://main/*", vec!["main"]),
        ("memory://po*", vec!["main"]),
    ] {
        let found = vault.done("search_notes", json!({ "query": address }));
        assert_eq!(projects(&found), expected, "{address}: {found}");
    }
    vault.settings.notes.search_scope = DefaultSearchScope::DefaultProject;
    assert_eq!(projects(&vault.done("search_notes", heron)), ["main"]);
    let all = json!({ "query": "heron", "search_all_projects": true });
    assert_eq!(projects(&vault.done("search_notes", all)), everywhere);
}

#[test]
fn records_come_first_and_the_rest_behind_them_with_its_place() {
    let vault = vault();
    for tool in ["search_memories", "get_context"] {
        let result = vault.call(tool, &json!({ "query": "heron" }));
        let text = &result.text;
        let at =
            |words: &str| text.find(words).unwrap_or_else(|| panic!("{tool}: {words}: {text}"));
        let rest = at("## Elsewhere in Memory");
        assert!(at("The heron eats frogs") < rest, "{text}");
        assert!(at("memories/birds.md (birds): The heron nests") > rest, "{text}");
        assert!(at("main/Pond.md (Pond): A heron stands") > rest, "{text}");
        assert_eq!(text.matches("eats frogs").count(), 1, "{text}");
        let elsewhere = result.structured["elsewhere"].as_array().unwrap();
        assert_eq!(elsewhere.len(), 2, "{elsewhere:?}");
    }
    // A type is an attribute of records.
    let typed = vault.call("search_memories", &json!({ "query": "heron", "type": "decision" }));
    assert!(typed.text.starts_with("No memories match"), "{}", typed.text);
}

#[test]
fn a_heading_that_matches_is_quoted_with_the_text_below_it() {
    let vault = vault();
    let text = "---\ntitle: Editor\n---\n# Editor\n## Observations\n\
                - [preference] Uses Neovim with dark mode #editor\n- [tool] Types on a split keyboard\n";
    let file =
        json!({ "command": "create", "path": "/memories/user/editor.md", "file_text": text });
    vault.done("memory", file);
    for tool in ["search_memories", "get_context"] {
        let text = vault.call(tool, &json!({ "query": "which editor" })).text;
        let line = text.lines().find(|line| line.contains("memories/user/editor.md (Editor)"));
        let line = line.unwrap_or_else(|| panic!("{tool}: {text}"));
        assert!(line.contains("Uses Neovim") && line.contains("split keyboard"), "{tool}: {text}");
    }
}

#[test]
fn what_no_longer_holds_is_left_out() {
    let vault = vault();
    let old = json!({ "content": "Deploys happen on Tuesday", "type": "fact" });
    let old = vault.done("add_memory", old)["id"].clone();
    let new = json!({ "content": "Deploys happen on Thursday", "supersedes": [old] });
    vault.done("add_memory", new);
    let deploys = json!({ "query": "deploys happen" });
    for tool in ["search_notes", "search_memories", "get_context"] {
        let text = vault.call(tool, &deploys).text;
        assert!(text.contains("Thursday") && !text.contains("Tuesday"), "{tool}: {text}");
    }
    let asked = json!({ "query": "deploys happen", "project": "records" });
    assert!(vault.call("search_notes", &asked).text.contains("Tuesday"), "asked for in particular");
}

#[test]
fn a_name_is_looked_for_in_the_default_project_first() {
    let vault = vault();
    let read = |name: &str| vault.done("read_note", json!({ "identifier": name }));
    assert_eq!(read("birds")["project"], "memories");
    vault.done(
        "write_note",
        json!({ "title": "birds", "directory": "", "content": "Of the default project" }),
    );
    assert_eq!(read("birds")["project"], "main");
    let context = vault.done("build_context", json!({ "url": "memory://memories/birds" }));
    assert_eq!(context["project"], "memories");
    // A change needs its project.
    let edit = json!({ "identifier": "rule-of-another", "operation": "append", "content": "x" });
    assert_eq!(vault.done("edit_note", edit)["project"], "main");
}

#[test]
fn empty_optional_arguments_are_absent() {
    let vault = vault();
    for (tool, arguments) in [
        ("add_memory", json!({ "content": "Swans sing", "type": "", "tags": [], "category": "" })),
        ("list_memories", json!({ "type": "", "project_id": "" })),
        ("search_memories", json!({ "query": "heron", "type": "", "offset": 0, "limit": null })),
        ("start_memory_stream", json!({ "type": "" })),
        ("get_context", json!({ "query": "heron", "threadId": "", "project_id": "" })),
        ("search_nodes", json!({ "query": "heron", "threadId": "" })),
        ("read_graph", json!({ "threadId": "" })),
        ("query_nodes", json!({ "threadId": "" })),
        ("activate", json!({ "bank_type": "global", "file": "" })),
        ("list", json!({ "bank_type": "" })),
        (
            "update",
            json!({ "bank_type": "global", "bank_id": "default", "content": "Swans sing",
                    "operation": "", "trigger_type": "" }),
        ),
        ("search_notes", json!({ "query": "heron", "project": "", "tags": "", "status": "" })),
    ] {
        vault.done(tool, arguments);
    }
}

#[test]
fn one_name_twice_loses_nothing() {
    let vault = vault();
    let entity = |fact: &str| json!({ "name": "Dup", "entityType": "t", "observations": [fact] });
    let twice = json!({ "entities": [entity("first"), entity("second"), entity("first")] });
    let created = vault.done("create_entities", twice);
    assert!(created["warnings"].to_string().contains("given twice"), "{created}");
    let graph = vault.done("read_graph", json!({})).to_string();
    assert!(graph.contains("first") && graph.contains("second"), "{graph}");
}
