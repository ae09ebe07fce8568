//! Files and projects that the notes tools must not see: ignored files, and other projects.

use serde_json::{Value, json};

use crate::notes_support::{Notes, stable, stable_json};

#[test]
fn ignored_files_cannot_be_named() {
    let notes = Notes::new();
    notes.person("main/.memorandaignore", "private/\nkeys.txt\n");
    notes.person("main/private/diary.md", "the heron");
    notes.person("main/keys.txt", "the heron");
    notes.person("main/.env", "the heron");
    notes.person("main/.obsidian/app.json", "{\"the\": \"heron\"}");
    notes.person("main/.trash/old.md", "the heron");
    let check = |path: &str, rule: &str| {
        let before = notes.file(&format!("main/{path}"));
        for (tool, arguments) in [
            ("read_note", json!({ "identifier": path })),
            ("view_note", json!({ "identifier": path })),
            ("read_content", json!({ "path": path })),
            ("build_context", json!({ "url": path })),
            ("fetch", json!({ "id": format!("main/{path}") })),
            ("edit_note", json!({ "identifier": path, "operation": "append", "content": "more" })),
            ("delete_note", json!({ "identifier": path })),
            ("move_note", json!({ "identifier": path, "destination_folder": "open" })),
        ] {
            let refused = notes.refused(tool, arguments, "PATH_IGNORED");
            let said = refused.structured["message"].as_str().unwrap();
            assert!(said.contains(rule), "{tool} {path}: {said}");
            assert!(!refused.text.contains("heron"), "{tool} {path}: {}", refused.text);
        }
        assert_eq!(notes.file(&format!("main/{path}")), before);
    };
    check("private/diary.md", ".memorandaignore says \"private/\"");
    check("keys.txt", ".memorandaignore says \"keys.txt\"");
    check(".env", "\".env\" is hidden");
    check(".obsidian/app.json", "\".obsidian\" is hidden");
    check(".trash/old.md", "\".trash\" is hidden");
    notes.refused("read_note", json!({ "identifier": "private/diary" }), "PATH_IGNORED");
    for folder in ["private", ".trash", ".obsidian"] {
        let delete = json!({ "identifier": folder, "is_directory": true });
        notes.refused("delete_note", delete, "PATH_IGNORED");
        let relocate =
            json!({ "identifier": folder, "is_directory": true, "destination_path": "open" });
        notes.refused("move_note", relocate, "PATH_IGNORED");
    }
    assert_eq!(notes.file("main/private/diary.md"), "the heron");
    // A note of that name elsewhere is found all the same.
    notes.write("open", "diary", "the stork");
    let found = notes.ok("read_note", json!({ "identifier": "diary" }));
    assert!(found.text.contains("the stork"), "{}", found.text);
}

#[test]
fn newly_ignored_files_are_hidden_in_the_past() {
    let notes = Notes::new();
    notes.write("private", "Diary", "the heron\n- seen_by [[Friend]]");
    let then = notes.write("", "Friend", "- met [[Diary]]").structured["commit"].clone();
    notes.person("main/.memorandaignore", "private/\n");
    for url in ["private/diary", "private/*", "private/diary/seen-by/*", "Friend", "Diary"] {
        let said = notes.0.call("build_context", &json!({ "url": url, "as_of": then }));
        assert!(!said.text.contains("heron"), "{url}: {}", said.text);
        assert!(!said.text.contains("private/Diary.md"), "{url}: {}", said.text);
    }
    for identifier in ["private/diary", "private/Diary.md"] {
        let then = json!({ "identifier": identifier, "as_of": "1 second ago" });
        let result = notes.0.call("read_note", &then);
        assert!(result.is_error && !result.text.contains("heron"), "{}", result.text);
    }
}

#[test]
fn a_context_of_a_restricted_server_shows_one_project() {
    let mut notes = Notes::new();
    notes.ok("create_memory_project", json!({ "project_name": "work" }));
    notes.write("", "Secret Salary", "- part_of [[work::Far]]");
    notes.person("work/Job.md", "- pays [[main::Secret Salary]]\n- with [[Desk]]\n");
    notes.person("work/Desk.md", "wood\n");
    notes.person("work/Far.md", "far\n");
    let ask = json!({ "url": "memory://job", "project": "work", "depth": 2 });
    let all = notes.ok("build_context", ask.clone());
    assert!(all.text.contains("secret-salary"), "{}", all.text);
    notes.0.settings.notes.only_project = Some("work".into());
    let held = notes.ok("build_context", ask).structured;
    let related = held["results"][0]["related_results"].as_array().unwrap().clone();
    let entities = related.iter().filter(|r| r["type"] == "entity");
    let titles: Vec<&Value> = entities.map(|related| &related["title"]).collect();
    assert_eq!(titles, [&json!("Desk")]);
    assert!(!json!(related).to_string().contains("secret"), "{related:?}");
}

#[test]
fn hidden_files_stay_when_notes_are_deleted() {
    let notes = Notes::new();
    let lay_out = |folder: &str| {
        notes.person(&format!("main/{folder}/.env"), "API_KEY=heron");
        notes.person(&format!("main/{folder}/.obsidian/app.json"), "heron");
        notes.person(&format!("main/{folder}/private/diary.md"), "heron");
        notes.person(&format!("main/{folder}/deep/x.tmp"), "heron");
        notes.person(&format!("main/{folder}/deep/Note.md"), "a note");
        notes.person(&format!("main/{folder}/picture.png"), "no text");
    };
    let left = |folder: &str| {
        ["/.env", "/.obsidian/", "/deep/x.tmp", "/private/"].map(|at| format!("{folder}{at}"))
    };
    notes.person("main/.gitignore", "private/\n");
    notes.person("main/.memorandaignore", "*.tmp\n");
    let all_there = |folder: &str| {
        for at in [".env", ".obsidian/app.json", "private/diary.md", "deep/x.tmp"] {
            assert!(notes.file(&format!("main/{folder}/{at}")).contains("heron"), "{at}");
        }
    };
    lay_out("a");
    let arguments = json!({ "identifier": "a", "is_directory": true });
    let gone = notes.ok("delete_note", arguments);
    assert!(gone.text.starts_with("# Notes of the folder deleted"), "{}", gone.text);
    assert!(gone.text.contains("4 hidden or ignored files left"), "{}", gone.text);
    assert_eq!(gone.structured["left"], json!(left("a")));
    assert_eq!(gone.structured["deleted_files"], json!(["a/picture.png", "a/deep/Note.md"]));
    all_there("a");
    assert!(!notes.0.path("main/a/picture.png").exists());

    lay_out("b");
    let arguments = json!({ "identifier": "b", "is_directory": true, "destination_path": "c" });
    let moved = notes.ok("move_note", arguments);
    assert_eq!(moved.structured["left"], json!(left("b")));
    assert_eq!(moved.structured["total_files"], 2);
    assert!(moved.text.contains("- b/.env\n"), "{}", moved.text);
    all_there("b");
    assert!(notes.0.path("main/c/deep/Note.md").exists() && !notes.0.path("main/c/.env").exists());

    // Two folders do not become one.
    notes.write("d", "Other", "text");
    let arguments = json!({ "identifier": "d", "is_directory": true, "destination_path": "c" });
    let refused = notes.refused("move_note", arguments, "DESTINATION_EXISTS");
    assert!(refused.text.contains("main/c exists already"), "{}", refused.text);

    notes.person("other/.gitignore", "private/\n");
    notes.person("other/.env", "heron");
    notes.person("other/private/diary.md", "heron");
    notes.person("other/sub/Note.md", "text");
    let arguments = json!({ "project_name": "other", "delete_notes": true });
    let said = notes.ok("delete_project", arguments);
    assert!(said.text.starts_with("# Project emptied"), "{}", said.text);
    assert_eq!(said.structured["deleted_files"], 1);
    assert!(notes.file("other/.env").contains("heron"));
    assert!(notes.file("other/private/diary.md").contains("heron"));
}

/// A server that is held to one project answers the same whatever there is in others.
#[test]
fn links_do_not_reveal_other_projects() {
    let answers = |others: &[&str]| {
        let mut notes = Notes::new();
        notes.ok("create_memory_project", json!({ "project_name": "main" }));
        notes.person("work/Goal.md", "text\n");
        for place in others {
            notes.person(place, "---\npermalink: own/way\n---\n[[work::Goal]] [[work/Goal]]\n");
        }
        notes.0.settings.notes.only_project = Some("work".into());
        let content = "- to [[main::Secret]]\n- to [[main/Secret]]\n- to [[main::Nope]]";
        let then = notes.write("", "A", content).structured["commit"].clone();
        let mut answers = Vec::new();
        for (tool, arguments) in [
            ("write_note", json!({ "title": "B", "directory": "", "content": content })),
            ("edit_note", json!({ "identifier": "A", "operation": "append", "content": "x" })),
            ("search_notes", json!({ "entity_types": ["relation"] })),
            ("search_notes", json!({ "query": "memory://a/to/*" })),
            ("recent_activity", json!({ "type": "relation" })),
            ("build_context", json!({ "url": "memory://a", "depth": 3 })),
            ("build_context", json!({ "url": "memory://b", "as_of": then })),
            ("build_context", json!({ "url": "memory://a", "as_of": then })),
            ("build_context", json!({ "url": "memory://goal", "depth": 3 })),
            ("move_note", json!({ "identifier": "Goal", "destination_path": "Aim.md" })),
            (
                "move_note",
                json!({ "identifier": "Aim", "destination_path": "End.md", "update_links": true }),
            ),
        ] {
            let result = notes.0.call(tool, &arguments);
            let steady = |text: String| text.replace(then.as_str().unwrap(), "THEN");
            // A text of JSON says the same again.
            let text = Some(&result.text).filter(|text| !text.starts_with('{'));
            let text = text.map(|text| steady(stable(text)));
            let structured = steady(stable_json(&result.structured).to_string());
            answers.push((tool, text, structured));
        }
        for place in others {
            assert!(notes.file(place).contains("[[work::Goal]]"), "nothing is written there");
        }
        answers
    };
    let without = answers(&[]);
    for (with, without) in answers(&["main/Secret.md"]).into_iter().zip(without) {
        assert_eq!(with, without);
    }
}

/// The past is held to the project as well.
#[test]
fn past_reads_do_not_reveal_other_projects() {
    let mut notes = Notes::new();
    notes.person("work/Job.md", "the desk\n");
    notes.person("priv/d/Secret.md", "the heron\n");
    notes.0.settings.notes.only_project = Some("work".into());
    for identifier in [
        "priv::Secret",
        "[[priv::Secret]]",
        "memory://priv::Secret",
        "memoranda://priv/d/secret",
        "memory://memoranda://priv/d/secret",
        "[[memoranda://priv/d/secret]]",
        "priv/d/secret",
        "Secret",
    ] {
        for tool in ["read_note", "view_note"] {
            for as_of in [None, Some("now")] {
                let ask = json!({ "identifier": identifier, "as_of": as_of });
                let said = notes.0.call(tool, &ask);
                assert!(said.is_error && !said.text.contains("heron"), "{ask}: {}", said.text);
                let code = said.structured["error"].as_str().unwrap();
                assert!(["PROJECT_CONSTRAINED", "NOTE_NOT_FOUND"].contains(&code), "{ask}: {code}");
            }
        }
    }
    for identifier in ["Job", "work::Job", "memoranda://work/job", "work/Job.md"] {
        let then = notes.ok("read_note", json!({ "identifier": identifier, "as_of": "now" }));
        assert!(then.text.contains("the desk"), "{}", then.text);
    }
}

/// A server that is restricted to one project gives the same answer whatever other projects contain.
#[test]
fn names_do_not_reveal_other_projects() {
    let answers = |others: &[&str]| {
        let mut notes = Notes::new();
        notes.ok("create_memory_project", json!({ "project_name": "main" }));
        notes.person("work/Twin.md", "the desk\n");
        notes.person("work/Job.md", "the desk\n");
        for place in others {
            notes.person(place, "the heron\n");
        }
        notes.0.settings.notes.only_project = Some("work".into());
        let mut answers = Vec::new();
        for (tool, arguments) in [
            ("fetch", json!({ "id": "Twin" })),
            ("fetch", json!({ "id": "work/Twin.md" })),
            ("fetch", json!({ "id": "Secrt" })),
            ("fetch", json!({ "id": "Secret" })),
            ("fetch", json!({ "id": "priv/d/Secret.md" })),
            ("fetch", json!({ "id": "priv::Secret" })),
            ("fetch", json!({ "id": "memoranda://priv/d/secret" })),
            ("read_note", json!({ "identifier": "zz::x" })),
            ("read_note", json!({ "identifier": "priv::Secret" })),
            ("read_note", json!({ "identifier": "priv/d/secret" })),
            ("read_note", json!({ "identifier": "Secret", "as_of": "now" })),
            ("read_note", json!({ "identifier": "priv/d/Secret.md", "as_of": "now" })),
            ("read_note", json!({ "identifier": "x", "project": "priv" })),
            ("read_content", json!({ "path": "priv/d/Secret.md" })),
            ("build_context", json!({ "url": "memory://priv/d/secret" })),
            ("build_context", json!({ "url": "memory://priv/*" })),
            ("build_context", json!({ "url": "priv::Secret", "as_of": "2100-01-01" })),
            ("search_notes", json!({ "query": "memory://priv/*" })),
            ("list_directory", json!({ "dir_name": "priv" })),
            ("schema_validate", json!({ "identifier": "Secret" })),
            ("delete_note", json!({ "identifier": "priv::Secret" })),
            ("delete_note", json!({ "identifier": "priv/d/Secret.md" })),
            (
                "edit_note",
                json!({ "identifier": "priv::Secret#a", "operation": "append",
                                  "content": "x" }),
            ),
            (
                "edit_note",
                json!({ "identifier": "priv/New", "operation": "append",
                                  "content": "x" }),
            ),
            ("move_note", json!({ "identifier": "Job", "destination_path": "priv/Job.md" })),
        ] {
            let result = notes.0.call(tool, &arguments);
            // A text of JSON says the same again.
            let text = Some(&result.text).filter(|text| !text.starts_with('{'));
            let text = text.map(|text| stable(text));
            answers.push((tool, arguments, text, stable_json(&result.structured)));
        }
        answers
    };
    let without = answers(&[]);
    let with = answers(&["priv/d/Secret.md", "priv/Twin.md", "main/Twin.md"]);
    for (with, without) in with.into_iter().zip(without) {
        assert_eq!(with, without);
    }
}
