//! Only the named note is changed, and only as requested.

use memoranda_tools::SecretPolicy;
use serde_json::{Value, json};

use crate::notes_support::Notes;

#[test]
fn a_name_with_other_signs_is_another_note() {
    let notes = Notes::new();
    for (folder, title) in [("lang", "C++"), ("", "F"), ("", "Plan (2024)"), ("", "My_Old Note")] {
        notes.write(folder, title, "mine");
    }
    notes.person("main/alias.md", "---\naliases: [Other Name!]\n---\nmine\n");
    let check = |identifier: &str, file: Option<&str>| {
        let replace = json!({ "identifier": identifier, "operation": "find_replace",
                              "find_text": "mine", "content": "mine" });
        let result = notes.0.call("edit_note", &replace);
        let found = result.structured["file_path"].as_str();
        assert_eq!(found, file, "{identifier}: {}", result.text);
        if file.is_none() {
            let arguments = json!({ "identifier": identifier });
            let refused = notes.refused("delete_note", arguments.clone(), "NOTE_NOT_FOUND");
            let near = refused.structured["suggestions"].as_array().unwrap();
            assert!(!near.is_empty(), "{identifier}: {}", refused.text);
            let mut arguments = arguments;
            arguments["destination_folder"] = json!("away");
            notes.refused("move_note", arguments, "NOTE_NOT_FOUND");
        }
    };
    check("lang/C#", None);
    check("C#", None);
    check("F#", None);
    check("Plan 2024", None);
    check("Other Name?", None);
    check("C++", Some("lang/C++.md"));
    check("lang/c", Some("lang/C++.md"));
    check("Lang/C++", Some("lang/C++.md"));
    check("plan (2024)", Some("Plan (2024).md"));
    check("plan-2024", Some("Plan (2024).md"));
    check("my-old_note", Some("My_Old Note.md"));
    check("other name!", Some("alias.md"));
}

#[test]
fn titles_that_differ_in_signs_are_notes_side_by_side() {
    let notes = Notes::new();
    notes.write("lang", "C++", "plus plus");
    let sharp =
        json!({ "title": "C#", "directory": "lang", "content": "sharp", "overwrite": true });
    let made = notes.ok("write_note", sharp).structured;
    assert_eq!((&made["action"], &made["permalink"]), (&json!("created"), &json!("lang/c-1")));
    assert!(notes.file("main/lang/C++.md").ends_with("plus plus\n"));
    // An addition to a name that a read resolves to another note is rejected.
    let add = json!({ "identifier": "lang/C", "operation": "append", "content": "plain" });
    let refused = notes.refused("edit_note", add, "NOTE_NOT_FOUND");
    let near = json!(["main/lang/C++.md", "main/lang/C#.md"]);
    assert_eq!(refused.structured["candidates"], near, "{}", refused.text);
    notes.write("lang", "C", "plain");
    for (name, said) in [("C#", "sharp"), ("C++", "plus plus"), ("C", "plain")] {
        let read = notes.ok("read_note", json!({ "identifier": name }));
        assert!(read.text.contains(&format!("---\n{said}\n")), "{name}: {}", read.text);
    }
    // The kebab form of one title is that note.
    notes.person("main/kebab/whats-new.md", "---\ntitle: What's (new)?\n---\nx\n");
    let again = json!({ "title": "What's (new)?", "directory": "kebab", "content": "y" });
    notes.refused("write_note", again, "NOTE_ALREADY_EXISTS");
}

#[test]
fn another_spelling_of_a_name_creates_no_note() {
    let notes = Notes::new();
    notes.person("main/People/Grace Hopper.md", "grace\n");
    notes.person("main/Project X.md", "# Goals\n");
    notes.person("main/Odd/other.markdown", "other\n");
    notes.person("work/Deep/Only There.md", "there\n");
    let append = |identifier: &str| json!({ "identifier": identifier, "operation": "append", "content": "more" });
    let check = |identifier: &str, candidate: &str| {
        for operation in ["append", "prepend"] {
            let mut add = append(identifier);
            add["operation"] = json!(operation);
            let refused = notes.refused("edit_note", add, "NOTE_NOT_FOUND");
            assert_eq!(refused.structured["candidates"], json!([candidate]), "{}", refused.text);
        }
    };
    let grace = "main/People/Grace Hopper.md";
    check("People/Grace Hopper/", grace);
    check("memory://people/grace-hopper/", grace);
    check("Grace Hopper/", grace);
    check("Grace Hopper.md", grace);
    check("People/Grace Hopper.markdown", grace);
    check("Grace  Hopper", grace);
    check("People\\Grace Hopper.md", grace);
    check("Project X#Goals", "main/Project X.md");
    check("Only There.md", "work/Deep/Only There.md");
    for folder in ["People/", "New/", "memory://new/folder/"] {
        notes.refused("edit_note", append(folder), "INVALID_ARGUMENTS");
    }
    // A file of the other extension is that note.
    let edited = notes.ok("edit_note", append("Odd/other")).structured;
    assert_eq!(edited["file_path"], json!("Odd/other.markdown"));
    let listed = notes.ok("list_directory", json!({ "depth": 5 })).structured;
    assert_eq!(listed["total"], json!(5), "{listed}");
    // A name without similar notes creates a new note.
    for (name, file) in [("C#", "C#.md"), ("AC\\DC", "AC-DC.md"), ("Q/New.markdown", "Q/New.md")] {
        assert_eq!(notes.ok("edit_note", append(name)).structured["file_path"], json!(file));
    }
}

#[test]
fn a_read_text_can_be_written_back() {
    let notes = Notes::new();
    notes.write("a", "Plan", "- [x1] one #t\n\nText.");
    let file = notes.file("main/a/Plan.md");
    let read = notes.ok("read_note", json!({ "identifier": "Plan" }));
    assert!(read.text.starts_with(&file), "{}", read.text);
    let back =
        json!({ "title": "Plan", "directory": "a", "content": read.text, "overwrite": true });
    notes.ok("write_note", back);
    assert_eq!(notes.file("main/a/Plan.md"), file);
    notes.ok("write_note", json!({ "title": "Copy", "directory": "b", "content": read.text }));
    let copy = notes.file("main/b/Copy.md");
    assert_eq!(copy.matches("---\n").count(), 2, "{copy}");
    assert!(!copy.contains("<!--"), "{copy}");
    // A comment of the writer's own stays.
    notes.write("", "Own", "text\n<!-- project: mine -->");
    assert!(notes.file("main/Own.md").ends_with("text\n<!-- project: mine -->\n"));
}

#[test]
fn a_checksum_is_checked_or_rejected() {
    let notes = Notes::new();
    notes.write("a", "Plan", "one");
    let stale = "0123456789abcdef";
    let folder = json!({ "identifier": "a", "is_directory": true, "expected_checksum": stale });
    let refused = notes.refused("delete_note", folder.clone(), "INVALID_ARGUMENTS");
    assert!(refused.text.contains("a folder has no checksum"), "{}", refused.text);
    let mut moved = folder;
    moved["destination_path"] = json!("b");
    notes.refused("move_note", moved, "INVALID_ARGUMENTS");
    assert!(notes.0.path("main/a/Plan.md").exists());
    let node =
        json!({ "id": "n", "type": "text", "text": "x", "x": 0, "y": 0, "width": 1, "height": 1 });
    let mut canvas = json!({ "title": "Map", "directory": "", "nodes": [node], "edges": [] });
    let made = notes.ok("canvas", canvas.clone()).structured;
    canvas["nodes"][0]["text"] = json!("y");
    canvas["expected_checksum"] = json!(stale);
    notes.refused("canvas", canvas.clone(), "CHECKSUM_MISMATCH");
    assert!(notes.file("main/Map.canvas").contains("\"x\""));
    canvas["expected_checksum"] = made["checksum"].clone();
    notes.ok("canvas", canvas);
}

#[test]
fn a_conflict_with_an_edit_by_hand_shows_it() {
    let notes = Notes::new();
    let made = notes.write("", "Plan", "one line").structured;
    // Not noticed by anybody yet.
    let path = notes.0.path("main/Plan.md");
    let by_hand = notes.file("main/Plan.md").replace("one line", "another line");
    std::fs::write(path, by_hand).unwrap();
    let edit = json!({ "identifier": "Plan", "operation": "append", "content": "more",
                       "expected_checksum": made["checksum"] });
    let refused = notes.refused("edit_note", edit, "CHECKSUM_MISMATCH");
    assert!(refused.text.contains("+another line"), "{}", refused.text);
}

#[test]
fn nothing_is_written_to_ignored_paths() {
    let notes = Notes::new();
    notes.person("main/.gitignore", "build/\n*.tmp.md\n");
    notes.person("main/sub/.bmignore", "drafts\n");
    notes.person("main/sub/drafts/x.md", "hidden by the rule\n");
    notes.write("", "Plan", "one");
    let check = |directory: &str, title: &str, rule: &str| {
        let write = json!({ "title": title, "directory": directory, "content": "x" });
        let refused = notes.refused("write_note", write, "PATH_IGNORED");
        assert!(refused.text.contains(rule), "{}", refused.text);
        let to = format!("{directory}/{title}.md");
        let moved = json!({ "identifier": "Plan", "destination_path": to });
        notes.refused("move_note", moved, "PATH_IGNORED");
        let canvas = json!({ "title": title, "directory": directory, "nodes": [], "edges": [] });
        if !title.contains("tmp") {
            notes.refused("canvas", canvas, "PATH_IGNORED");
        }
        assert!(!notes.0.path("main").join(to.trim_start_matches('/')).exists());
    };
    check("build", "A", ".gitignore says \"build/\"");
    check("new/deep", "A.tmp", ".gitignore says \"*.tmp.md\"");
    check("sub/drafts", "A", "sub/.bmignore says \"drafts\"");
    check(".hidden", "A", "\".hidden\" is hidden");
    let found = notes.ok("search_notes", json!({ "query": "hidden by the rule" }));
    assert_eq!(found.structured["results"], json!([]));
}

#[test]
fn frontmatter_is_only_put_into_markdown() {
    let notes = Notes::new();
    for (place, text) in [("data.json", "{\"a\": 1}\n"), ("x.canvas", "{}\n"), ("t.txt", "# A\n")] {
        notes.person(&format!("main/{place}"), text);
        let edit = json!({ "identifier": place, "operation": "append", "content": "",
                           "metadata": { "status": "open" } });
        notes.refused("edit_note", edit, "NOT_MARKDOWN");
        assert_eq!(notes.file(&format!("main/{place}")), text);
    }
}

#[test]
fn a_very_long_line_is_read_to_its_end() {
    let notes = Notes::new();
    let line: String = (0..5000).map(|n| format!("wört{n} ")).collect();
    let whole = format!("first\n{line}\nlast\n");
    notes.person("main/Long.md", &whole);
    let (mut text, mut calls, mut from) = (String::new(), 0, (json!(1), json!(1)));
    while !from.0.is_null() {
        let ask = json!({ "identifier": "Long", "max_tokens": 2000, "start_line": from.0,
                          "start_column": from.1 });
        let page = notes.ok("read_note", ask).structured;
        text.push_str(page["content"].as_str().unwrap());
        from = (page["next_line"].clone(), page["next_column"].clone());
        calls += 1;
    }
    assert!(calls > 3 && text == whole, "{calls} calls");
    let page = notes.ok("read_note", json!({ "identifier": "Long", "max_tokens": 2000 }));
    assert!(page.text.contains("start_line=2, start_column="), "{}", &page.text[7000..]);
    let past = json!({ "identifier": "Long", "start_line": 9 });
    let refused = notes.refused("read_note", past, "INVALID_ARGUMENTS");
    assert!(refused.text.contains("3 lines"), "{}", refused.text);
}

#[test]
fn an_empty_optional_argument_is_absent() {
    let notes = Notes::new();
    notes.write("a", "Plan", "one #t");
    for (tool, arguments) in [
        ("read_note", json!({ "identifier": "Plan", "as_of": "", "project": "" })),
        (
            "search_notes",
            json!({ "query": "one", "after_date": "", "status": "", "search_type": "" }),
        ),
        ("recent_activity", json!({ "timeframe": "", "type": "", "output_format": "" })),
        ("build_context", json!({ "url": "a/plan", "as_of": "", "timeframe": "" })),
        ("list_directory", json!({ "dir_name": "", "sort": "", "file_name_glob": "" })),
        ("schema_validate", json!({ "note_type": "", "identifier": "" })),
        (
            "edit_note",
            json!({ "identifier": "Plan", "operation": "append", "content": "x",
                              "section": "", "find_text": "", "expected_checksum": "",
                              "metadata": "", "expected_replacements": "" }),
        ),
        (
            "edit_note",
            json!({ "identifier": "Plan", "operation": "find_replace",
                              "find_text": "one", "content": "" }),
        ),
        (
            "move_note",
            json!({ "identifier": "Plan", "destination_path": "b/Plan.md",
                              "destination_folder": "" }),
        ),
        (
            "write_note",
            json!({ "title": "Other", "directory": "", "content": "", "tags": "",
                               "note_type": "", "metadata": "", "expected_checksum": "" }),
        ),
    ] {
        notes.ok(tool, arguments);
    }
    assert!(notes.file("main/b/Plan.md").contains("\n #t\n\nx"));
    let unknown = notes.refused(
        "read_note",
        json!({ "identifier": "Plan", "colour": 1 }),
        "INVALID_ARGUMENTS",
    );
    assert_eq!(unknown.text.matches("project").count(), 1, "{}", unknown.text);
    assert!(!unknown.text.contains("depth"), "{}", unknown.text);
}

/// A secret can come in two halves, the first of them harmless.
#[test]
fn an_edit_is_screened_by_the_text_that_it_makes() {
    for (policy, expected) in [
        (SecretPolicy::Warn, "password: hunter2!x\n"),
        (SecretPolicy::Redact, "password: [redacted: password or key]\n"),
        (SecretPolicy::Refuse, "password: TBD\n"),
    ] {
        let mut notes = Notes::new();
        notes.person("main/a.md", "password: TBD\n");
        notes.0.settings.secrets = policy;
        let edit = json!({ "identifier": "a.md", "operation": "find_replace", "find_text": "TBD",
                           "content": "hunter2!x" });
        let result = notes.0.call("edit_note", &edit);
        assert_eq!(result.is_error, policy == SecretPolicy::Refuse, "{}", result.text);
        assert!(result.text.contains("password or key (line 1)"), "{}", result.text);
        assert_eq!(notes.file("main/a.md"), expected);
    }
}

#[test]
fn an_existing_folder_keeps_its_spelling() {
    let notes = Notes::new();
    for folder in ["R&D (old)", "🚀 Launches", "Bob's, notes", "Areas/Health"] {
        notes.person(&format!("main/{folder}/x.md"), "text\n");
    }
    let check = |directory: &str, expected: &str, is_changed: bool| {
        let title = format!("New {}", expected.len());
        let written = notes.write(directory, &title, "text");
        let expected_path = if expected.is_empty() {
            format!("{title}.md")
        } else {
            format!("{expected}/{title}.md")
        };
        assert_eq!(written.structured["file_path"], json!(expected_path), "{directory}");
        assert_eq!(written.structured["warning"].is_string(), is_changed, "{}", written.text);
        assert_eq!(written.text.contains("There is no folder"), is_changed, "{}", written.text);
        notes.ok("delete_note", json!({ "identifier": expected_path }));
    };
    check("R&D (old)", "R&D (old)", false);
    check("/🚀 Launches/", "🚀 Launches", false);
    check("Bob's, notes", "Bob's, notes", false);
    check("R&D (old)/New one", "R&D (old)/New one", false);
    check("areas", "Areas", false);
    check("AREAS/health/deep", "Areas/Health/deep", false);
    check("R&D (new)", "RD new", true);
    check("R&D (old)/a+b", "R&D (old)/ab", true);
    check("a\\b", "a/b", false);
    // The other tools that make files.
    let arguments =
        json!({ "identifier": "Bob's, notes/Log", "operation": "append", "content": "x" });
    let made = notes.ok("edit_note", arguments);
    assert_eq!(made.structured["file_path"], json!("Bob's, notes/Log.md"));
    let node =
        json!({ "id": "1", "type": "text", "text": "x", "x": 0, "y": 0, "width": 1, "height": 1 });
    let arguments = json!({ "title": "Board", "directory": "🚀 Launches", "nodes": [node] });
    let drawn = notes.ok("canvas", arguments);
    assert_eq!(drawn.structured["file_path"], json!("🚀 Launches/Board.canvas"));
    let relocate = |folder: &str| {
        let arguments = json!({ "identifier": "Log", "destination_folder": folder });
        notes.ok("move_note", arguments)
    };
    assert_eq!(relocate("R&D (old)").structured["file_path"], json!("R&D (old)/Log.md"));
    assert_eq!(relocate("areas").structured["file_path"], json!("Areas/Log.md"));
    let moved = relocate("R&D");
    assert_eq!(moved.structured["file_path"], json!("RD/Log.md"));
    assert!(moved.text.contains("There is no folder \"R&D\""), "{}", moved.text);
    let arguments = json!({ "identifier": "Log", "destination_path": "areas/health/Log.md" });
    let moved = notes.ok("move_note", arguments);
    assert_eq!(moved.structured["file_path"], json!("Areas/Health/Log.md"));
}

#[test]
fn a_note_is_created_at_the_path_in_its_name() {
    let notes = Notes::new();
    notes.person("research/a.md", "text\n");
    notes.person("vault/a.md", "text\n");
    notes.person("main/x/cross.md", "text\n");
    let append = |identifier: &str, project: Option<&str>| {
        let mut arguments =
            json!({ "identifier": identifier, "operation": "append", "content": "more" });
        if let Some(project) = project {
            arguments["project"] = json!(project);
        }
        arguments
    };
    let check = |identifier: &str, project: Option<&str>, expected: &str| {
        let made = notes.ok("edit_note", append(identifier, project));
        let place = [&made.structured["project"], &made.structured["file_path"]];
        assert_eq!(place.map(|part| part.as_str().unwrap()).join("/"), expected, "{identifier}");
    };
    check("memory://research/notes/b1", None, "research/notes/b1.md");
    check("research/notes/b2", None, "research/notes/b2.md");
    check("research::notes/b3", None, "research/notes/b3.md");
    check("main::notes/b4", None, "main/notes/b4.md");
    check("research/notes/b5", Some("research"), "research/notes/b5.md");
    check("notes/b6", Some("vault"), "vault/notes/b6.md");
    // A folder of its own is no other project.
    notes.person("vault/research/x.md", "text\n");
    check("research/b7", Some("vault"), "vault/research/b7.md");
    let refused = |identifier: &str, project: Option<&str>, code: &str, said: &str| {
        let refused = notes.refused("edit_note", append(identifier, project), code);
        assert!(refused.text.contains(said), "{}", refused.text);
    };
    refused("main/x/cross", Some("vault"), "CROSS_PROJECT_ENTITY", "There is main/x/cross.md");
    refused("main/x/new", Some("vault"), "CROSS_PROJECT_ENTITY", "names project main");
    refused("notes/*", None, "INVALID_ARGUMENTS", "is a pattern");
    refused("nowhere::x", None, "PROJECT_NOT_FOUND", "nowhere");
    assert!(!notes.0.path("vault/main").exists() && !notes.0.path("main/research").exists());
}

#[test]
fn a_drawing_is_not_replaced_or_broken_by_default() {
    let notes = Notes::new();
    let board = "{\"nodes\":[{\"id\":\"mine\"}],\"edges\":[]}\n";
    notes.person("main/X/Board.canvas", board);
    notes.person("main/X/data.json", "\u{feff}{\"a\": 1}");
    notes.person("main/X/broken.json", "{");
    let mut canvas = json!({ "title": "Board", "directory": "X", "nodes": [], "edges": [] });
    let refused = notes.refused("canvas", canvas.clone(), "NOTE_ALREADY_EXISTS");
    assert!(refused.text.contains("overwrite=true"), "{}", refused.text);
    assert_eq!(notes.file("main/X/Board.canvas"), board);
    let edit = |file: &str, operation: &str, find: &str, content: &str| json!({ "identifier": file, "operation": operation, "find_text": find, "content": content, "section": "Goals" });
    for operation in ["append", "prepend", "replace_section"] {
        notes.refused("edit_note", edit("X/Board.canvas", operation, "", "hello"), "INVALID_JSON");
    }
    notes.refused("edit_note", edit("X/data.json", "find_replace", "1", "1}"), "INVALID_JSON");
    assert_eq!(notes.file("main/X/Board.canvas"), board);
    // A valid edit of JSON is accepted, and invalid JSON can be repaired.
    notes.ok("edit_note", edit("X/Board.canvas", "find_replace", "mine", "yours"));
    assert_eq!(notes.file("main/X/Board.canvas"), board.replace("mine", "yours"));
    notes.ok("edit_note", edit("X/broken.json", "append", "", "\"a\":"));
    canvas["overwrite"] = json!(true);
    assert_eq!(notes.ok("canvas", canvas).structured["action"], json!("updated"));
}

#[test]
fn blank_text_can_be_found_and_no_text_cannot() {
    let notes = Notes::new();
    notes.person("main/a.md", "one\n\n\n\ttwo\n");
    let edit = |find: &str, content: &str| json!({ "identifier": "a.md", "operation": "find_replace", "find_text": find, "content": content });
    notes.ok("edit_note", edit("\n\n\n", "\n\n"));
    notes.ok("edit_note", edit("\t", "    "));
    assert_eq!(notes.file("main/a.md"), "one\n\n    two\n");
    let refused = notes.refused("edit_note", edit("", "x"), "INVALID_ARGUMENTS");
    assert!(refused.text.contains("`find_text` of edit_note must be"), "{}", refused.text);
    assert!(refused.text.contains("not \"\"."), "{}", refused.text);
}

#[test]
fn a_drawing_is_accepted_in_the_forms_that_models_send() {
    let notes = Notes::new();
    let node = |id: Value, x: Value| json!({ "id": id, "type": "text", "text": "t", "x": x, "y": "-1.5", "width": "10", "height": 1 });
    let draw = |title: &str, nodes: Value, edges: Value| json!({ "title": title, "nodes": nodes, "edges": edges });
    let nodes = json!([node(json!(1), json!("0")), node(json!("b"), json!(2))]);
    let edges = json!([{ "id": 7, "fromNode": 1, "toNode": "b" }]);
    notes.ok("canvas", draw("Plan", nodes, edges));
    let drawn: Value = serde_json::from_str(&notes.file("main/Plan.canvas")).unwrap();
    let first = &drawn["nodes"][0];
    assert_eq!(first["id"], json!("1"));
    let places = json!([first["x"], first["y"], first["width"], first["height"]]);
    assert_eq!(places, json!([0, -1.5, 10, 1]));
    assert_eq!(drawn["edges"], json!([{ "id": "7", "fromNode": "1", "toNode": "b" }]));
    for (nodes, edges, expected) in [
        (
            json!([node(json!([1]), json!(0))]),
            json!([]),
            "must be a text that is not empty, not [1]",
        ),
        (json!([node(json!(null), json!(0))]), json!([]), "Node 0 (from 0) has no `id`."),
        (
            json!([node(json!("a"), json!("left"))]),
            json!([]),
            "`x` of node \"a\" must be a number, not \"left\".",
        ),
        (json!([node(json!("a"), json!("inf"))]), json!([]), "must be a number, not \"inf\"."),
        (json!([]), json!([{ "id": "e", "fromNode": 3 }]), "`fromNode` of edge \"e\" is \"3\""),
    ] {
        let refused = notes.refused("canvas", draw("Bad", nodes, edges), "INVALID_CANVAS");
        assert!(refused.text.contains(expected), "{}", refused.text);
    }
    // The name that was said, whatever else it looks like.
    for (title, file) in
        [("Board.canvas", "Board.canvas"), ("Plan.md", "Plan.md.canvas"), ("v1.0", "v1.0.canvas")]
    {
        let drawn = notes.ok("canvas", draw(title, json!([]), json!([]))).structured;
        assert_eq!(drawn["file_path"], json!(file), "{title}");
    }
}
