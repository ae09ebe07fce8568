//! Several projects: the named project is used, and advice names the right note.

use serde_json::json;

use crate::notes_support::Notes;

fn two_projects(other: &str) -> Notes {
    let notes = Notes::new();
    notes.ok("create_memory_project", json!({ "project_name": other, "project_path": other }));
    notes
}

#[test]
fn advice_names_the_project_of_the_note() {
    let notes = two_projects("work");
    let todo = json!({ "title": "Todo", "content": "mine", "directory": "", "project": "work" });
    notes.ok("write_note", todo.clone());
    notes.write("", "Todo", "mine");
    let refused = notes.refused("write_note", todo, "NOTE_ALREADY_EXISTS");
    for advice in [
        r#"edit_note(identifier="todo", project="work", operation="append", …)"#,
        r#"read_note(identifier="todo", project="work")"#,
    ] {
        assert!(refused.text.contains(advice), "{}", refused.text);
    }
    let drawing =
        json!({ "title": "D", "nodes": [], "edges": [], "directory": "", "project": "work" });
    notes.ok("canvas", drawing.clone());
    let refused = notes.refused("canvas", drawing, "NOTE_ALREADY_EXISTS");
    let advice = r#"edit_note(identifier="D.canvas", project="work", "#;
    assert!(refused.text.contains(advice), "{}", refused.text);
    let link = json!({ "title": "L", "content": "[[Todo]]", "directory": "", "project": "work" });
    notes.ok("write_note", link);
    let away = json!({ "identifier": "todo", "destination_path": "a/Done.md", "project": "work" });
    let moved = notes.ok("move_note", away);
    let advice = r#"destination_path="a/Done.md", project="work", is_directory=false"#;
    assert!(moved.text.contains(advice), "{}", moved.text);
    let long = "a word and another\n\n".repeat(2000);
    let big = json!({ "title": "Big", "content": long, "directory": "", "project": "work" });
    notes.ok("write_note", big);
    let context = json!({ "url": "memory://big", "project": "work", "output_format": "text" });
    let context = notes.ok("build_context", context);
    let advice = r#"[cut; read_note(identifier="big", project="work") shows all of it]"#;
    assert!(context.text.contains(advice), "{}", context.text);
}

#[test]
fn ambiguous_names_list_a_unique_name_for_each_note() {
    let notes = two_projects("research");
    notes.write("research", "Paper", "of main");
    let other = json!({ "title": "Paper", "content": "of the other", "directory": "",
                        "project": "research" });
    notes.ok("write_note", other);
    for name in ["research/paper", "research/Paper.md"] {
        let refused =
            notes.refused("read_note", json!({ "identifier": name }), "AMBIGUOUS_IDENTIFIER");
        let candidates = refused.structured["candidates"].as_array().unwrap().clone();
        assert_eq!(candidates, [json!("main::research/Paper.md"), json!("research::Paper.md")]);
        for (candidate, text) in candidates.iter().zip(["of main", "of the other"]) {
            let read = notes.ok("read_note", json!({ "identifier": candidate }));
            assert!(read.text.contains(text), "{candidate}: {}", read.text);
            let edit = json!({ "identifier": candidate, "operation": "append", "content": "x" });
            notes.ok("edit_note", edit);
        }
    }
}

#[test]
fn a_destination_may_begin_with_its_project() {
    let notes = Notes::new();
    let check = |directory: &str, expected: &str| {
        let done = notes.write(directory, "C", "x");
        assert_eq!(done.structured["file_path"], json!(format!("{expected}/C.md")));
    };
    check("main/a", "a");
    check("memory://main/a/b", "a/b");
    check("other/a", "other/a");
    let moved = |destination: &str| {
        let arguments = json!({ "identifier": "a/c", "destination_path": destination });
        let done = notes.ok("move_note", arguments);
        done.structured["destination"].as_str().unwrap().to_owned()
    };
    assert_eq!(moved("main/z/C.md"), "z/C.md");
    assert_eq!(moved("memory://main/y/C.md"), "y/C.md");
    let arguments = json!({ "identifier": "a/c", "destination_folder": "main/x" });
    assert_eq!(notes.ok("move_note", arguments).structured["destination"], json!("x/C.md"));
    let arguments = json!({ "identifier": "a/c", "destination_folder": "main" });
    assert_eq!(notes.ok("move_note", arguments).structured["destination"], json!("main/C.md"));
    assert_eq!(moved("x/C.md"), "x/C.md");
    let folder = notes.0.path("main/main");
    if folder.exists() {
        std::fs::remove_dir(folder).unwrap();
    }
    let listed = notes.ok("list_directory", json!({ "dir_name": "main/x" }));
    assert!(listed.text.contains("C.md"), "{}", listed.text);
    // A folder of that name takes precedence.
    notes.person("main/main/own.md", "x");
    check("main/q", "main/q");
    assert_eq!(moved("main/z/C.md"), "main/z/C.md");
}

#[test]
fn a_project_that_is_named_is_searched_alone() {
    let notes = two_projects("work");
    notes.write("", "Heron", "a heron");
    let other =
        json!({ "title": "Grey", "content": "a heron", "directory": "", "project": "work" });
    notes.ok("write_note", other);
    let found = |arguments| notes.ok("search_notes", arguments).structured["total"].clone();
    assert_eq!(found(json!({ "query": "heron", "search_all_projects": true })), json!(2));
    let named = json!({ "query": "heron", "search_all_projects": true, "project": "work" });
    assert_eq!(found(named), json!(1));
    let missing = json!({ "query": "heron", "search_all_projects": true, "project": "nope" });
    notes.refused("search_notes", missing, "PROJECT_NOT_FOUND");
    let elsewhere = notes.ok("search_notes", json!({ "query": "grey", "project": "main" }));
    let advice =
        "There are results in work; search_all_projects=true, without project, shows them.";
    assert!(elsewhere.text.contains(advice), "{}", elsewhere.text);
}
