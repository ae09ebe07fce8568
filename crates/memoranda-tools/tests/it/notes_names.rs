//! Names by which a note is found, read and changed.

use memoranda_tools::Wording;
use serde_json::{Value, json};

use crate::notes_support::Notes;
use crate::support::TestVault;

fn append(identifier: &str) -> Value {
    json!({ "identifier": identifier, "operation": "append", "content": "more" })
}

/// Returns the number of notes.
fn count(notes: &Notes) -> u64 {
    notes.ok("list_directory", json!({ "depth": 9 })).structured["total"].as_u64().unwrap()
}

/// The files that a note's links lead to.
fn leading(notes: &Notes, url: &str) -> Vec<String> {
    let context = notes.ok("build_context", json!({ "url": url })).structured;
    let related = context["results"][0]["related_results"].as_array().unwrap();
    let related = related.iter().filter(|r| r["type"] == "entity");
    related.map(|r| r["file_path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_handwritten_permalink_is_used_as_written() {
    let notes = Notes::new();
    let check = |permalink: &str| {
        let place = format!("main/Holder of {}.md", permalink.len());
        notes.person("main/Real.md", &format!("---\npermalink: \"{permalink}\"\n---\ntext\n"));
        notes.person(&place, &format!("[[{permalink}]]\n"));
        let before = count(&notes);
        for identifier in [permalink.to_owned(), format!("memory://{permalink}")] {
            let read = notes.ok("read_note", json!({ "identifier": identifier })).structured;
            assert_eq!(read["file_path"], json!("Real.md"), "{identifier}");
            assert_eq!(read["permalink"], json!(permalink), "{identifier}");
            let edited = notes.ok("edit_note", append(&identifier)).structured;
            assert_eq!(edited["fileCreated"], json!(false), "{identifier}");
            let context = notes.ok("build_context", json!({ "url": identifier })).structured;
            let primary = &context["results"][0]["primary_result"];
            assert_eq!(primary["file_path"], json!("Real.md"), "{identifier}");
        }
        assert_eq!(count(&notes), before, "{permalink}");
        let holder = place.strip_prefix("main/").unwrap();
        assert_eq!(leading(&notes, holder), ["Real.md"], "[[{permalink}]]");
        notes.ok("delete_note", json!({ "identifier": holder }));
    };
    for permalink in [
        "my_note",
        "custom/Perm Link",
        "\u{e9}t\u{e9}/n\u{e9}",
        "two--lines",
        "bob's/note",
        "a:b",
        "camelCase",
        "ends.md",
    ] {
        check(permalink);
    }
    // Said as it is it means the one note, though another is near.
    notes.person("main/Real.md", "---\npermalink: my_note\n---\ntext\n");
    notes.person("main/my-note.md", "text\n");
    for (identifier, file) in [("my_note", "Real.md"), ("my-note", "my-note.md")] {
        let edited = notes.ok("edit_note", append(identifier)).structured;
        assert_eq!(edited["file_path"], json!(file), "{identifier}");
    }
    let scratch = tempfile::TempDir::new().unwrap();
    let report = notes.0.memory.check(scratch.path()).unwrap();
    assert_eq!(report.differing, [""; 0]);
}

#[test]
fn a_name_that_a_read_resolves_to_another_note_creates_none() {
    let notes = Notes::new();
    let check = |file: &str, identifier: &str| {
        notes.person(&format!("main/{file}"), "text\n");
        let before = count(&notes);
        let read = notes.ok("read_note", json!({ "identifier": identifier })).structured;
        assert_eq!(read["file_path"], json!(file), "{identifier}");
        for operation in ["append", "prepend"] {
            let mut add = append(identifier);
            add["operation"] = json!(operation);
            let refused = notes.refused("edit_note", add.clone(), "NOTE_NOT_FOUND");
            let candidate = json!([format!("main/{file}")]);
            assert_eq!(refused.structured["candidates"], candidate, "{}", refused.text);
            // Elsewhere nobody knows of it.
            add["project"] = json!("work");
            assert_eq!(notes.ok("edit_note", add.clone()).structured["fileCreated"], json!(true));
            notes.ok("delete_note", json!({ "identifier": identifier, "project": "work" }));
        }
        assert_eq!(count(&notes), before, "{identifier}");
    };
    notes.ok("create_memory_project", json!({ "project_name": "work" }));
    check("What? now.md", "What now");
    check("deep/Leaf Two!.md", "Leaf Two");
    check("100% sure.md", "100 sure");
    check("\u{fc}nic\u{f6}de n\u{e4}me.md", "unicode name");
    check("a/b/End.md", "b/End");
    // One that no read takes for another is made.
    for name in ["What then", "Leaf Three", "b/Other"] {
        assert_eq!(notes.ok("edit_note", append(name)).structured["fileCreated"], json!(true));
    }
}

#[test]
fn a_permalink_with_the_project_is_shown_without_it() {
    let notes = Notes::new();
    // Before the note is there, and after.
    notes.person("main/early.md", "[[old/note]]\n");
    notes.person("main/moved.md", "---\npermalink: main/old/note\n---\ntext\n");
    notes.person("main/late.md", "[[old/note]] [[main/old/note]]\n");
    let check = |identifier: &str| {
        let before = count(&notes);
        let read = notes.ok("read_note", json!({ "identifier": identifier })).structured;
        assert_eq!(read["file_path"], json!("moved.md"), "{identifier}");
        let edited = notes.ok("edit_note", append(identifier)).structured;
        assert_eq!(edited["file_path"], json!("moved.md"), "{identifier}");
        let context = notes.ok("build_context", json!({ "url": identifier })).structured;
        let primary = &context["results"][0]["primary_result"];
        assert_eq!(primary["file_path"], json!("moved.md"), "{identifier}");
        assert_eq!(count(&notes), before, "{identifier}");
    };
    let names = ["old/note", "memory://old/note", "main/old/note", "memory://main/old/note"];
    names.into_iter().for_each(check);
    for holder in ["early", "late"] {
        assert_eq!(leading(&notes, holder), ["moved.md"], "{holder}");
    }
    let then = notes.write("", "Mark", "x").structured["commit"].clone();
    notes.ok("edit_note", append("old/note"));
    let past = json!({ "identifier": "old/note", "as_of": then, "project": "main" });
    assert_eq!(notes.ok("read_note", past).structured["file_path"], json!("moved.md"));
    // A path resolves to the note at that path.
    notes.person("main/old/Note.md", "text\n");
    let read = notes.ok("read_note", json!({ "identifier": "old/Note.md" })).structured;
    assert_eq!(read["file_path"], json!("old/Note.md"));
    let scratch = tempfile::TempDir::new().unwrap();
    let report = notes.0.memory.check(scratch.path()).unwrap();
    assert_eq!(report.differing, [""; 0]);
}

#[test]
fn a_name_resolves_in_the_default_project_first() {
    let notes = Notes(TestVault::new(Wording::Mcp).with_default_project("wk"));
    for (project, text) in [("main", "main one"), ("other", "other one"), ("wk", "wk one")] {
        notes.person(&format!("{project}/d/Same.md"), &format!("{text}\n"));
    }
    for name in ["Same", "d/same", "d/Same.md", "memory://d/same"] {
        for (tool, ask) in [
            ("read_note", json!({ "identifier": name })),
            ("read_note", json!({ "identifier": name, "as_of": "now" })),
            ("fetch", json!({ "id": name })),
            ("build_context", json!({ "url": name })),
            ("build_context", json!({ "url": name, "as_of": "now" })),
        ] {
            let said = notes.ok(tool, ask.clone());
            assert!(said.text.contains("wk one"), "{tool} {ask}: {}", said.text);
        }
    }
    // A name that only one other project has is found there. `main` is not special.
    notes.person("main/d/Two.md", "two\n");
    notes.person("other/d/Two.md", "two\n");
    for ask in [json!({ "identifier": "Two" }), json!({ "identifier": "Two", "as_of": "now" })] {
        notes.refused("read_note", ask, "AMBIGUOUS_IDENTIFIER");
    }
}

/// A file that is no note does not take a note's name, whichever of them came first.
#[test]
fn attachments_do_not_compete_with_notes() {
    let attached = |notes: &Notes, note: &str| {
        for (extension, bytes) in
            [("pdf", "%PDF\0"), ("png", "\0"), ("json", "{}"), ("canvas", "{}"), ("js", "1")]
        {
            notes.person(&format!("main/docs/{note}.{extension}"), bytes);
        }
    };
    let notes = Notes::new();
    attached(&notes, "Plan");
    notes.person("main/docs/Plan.md", "---\npermalink: docs/plan\n---\nthe plan\n");
    notes.person("main/docs/Late.md", "the late one\n");
    notes.person("main/far/Away.md", "---\npermalink: docs/stated\n---\nthe stated one\n");
    attached(&notes, "Late");
    attached(&notes, "stated");
    for (name, text) in [
        ("docs/plan", "the plan"),
        ("memory://docs/plan", "the plan"),
        ("Plan", "the plan"),
        ("plan", "the plan"),
        ("docs/late", "the late one"),
        ("late!", "the late one"),
        ("docs/stated", "the stated one"),
    ] {
        for as_of in [None, Some("now")] {
            let ask = json!({ "identifier": name, "as_of": as_of });
            let said = notes.ok("read_note", ask.clone());
            assert!(said.text.contains(text), "{ask}: {}", said.text);
        }
        let said = notes.ok("build_context", json!({ "url": name, "as_of": "now" }));
        assert!(said.text.contains(text), "{name}: {}", said.text);
    }
    // A link means the note, too.
    notes.person("main/docs/Linking.md", "[[docs/plan]] [[docs/stated]]\n");
    let around = notes.ok("build_context", json!({ "url": "docs/linking" })).structured;
    let related = around["results"][0]["related_results"].as_array().unwrap();
    let related = related.iter().filter(|r| r["type"] == "entity");
    let paths: Vec<&Value> = related.map(|related| &related["file_path"]).collect();
    assert_eq!(paths, [&json!("docs/Plan.md"), &json!("far/Away.md")]);
    // A change means the note as well.
    notes.ok("edit_note", append("docs/late"));
    notes.ok("move_note", json!({ "identifier": "docs/late", "destination_path": "old/Late.md" }));
    notes.ok("delete_note", json!({ "identifier": "docs/plan" }));
    assert!(!notes.0.path("main/docs/Plan.md").exists());
    assert!(notes.0.path("main/docs/Plan.json").exists());

    // Neighbouring files do not change the name of a note.
    attached(&notes, "Shot");
    let shot = notes.write("docs", "Shot", "the shot");
    assert_eq!(shot.structured["permalink"], json!("docs/shot"));
    assert!(notes.file("main/docs/Shot.md").contains("permalink: docs/shot\n"));
    attached(&notes, "Conf");
    notes.person("main/docs/Conf.md", "the configuration\n");
    let conf = notes.ok("read_note", json!({ "identifier": "docs/Conf.md" })).structured;
    assert_eq!(conf["permalink"], json!("docs/conf"));
}

#[test]
fn other_files_are_found_by_path_and_by_unique_name() {
    let notes = Notes::new();
    notes.person("main/docs/My List.txt", "the list\n");
    notes.person("main/docs/My List.md", "the note\n");
    notes.person("main/docs/Alone.txt", "alone\n");
    for (name, text, permalink) in [
        ("docs/My List.txt", "the list", "docs/my-list.txt"),
        ("docs/my-list.txt", "the list", "docs/my-list.txt"),
        ("My List.txt", "the list", "docs/my-list.txt"),
        ("docs/my-list", "the note", "docs/my-list"),
        ("docs/alone", "alone", "docs/alone.txt"),
        ("docs/Alone.txt", "alone", "docs/alone.txt"),
        ("Alone", "alone", "docs/alone.txt"),
    ] {
        let said = notes.ok("read_note", json!({ "identifier": name }));
        assert!(said.text.contains(text), "{name}: {}", said.text);
        assert_eq!(said.structured["permalink"], json!(permalink), "{name}");
    }
    notes.person("main/docs/Alone.csv", "alone\n");
    notes.refused("delete_note", json!({ "identifier": "docs/alone" }), "AMBIGUOUS_IDENTIFIER");
    notes.ok("delete_note", json!({ "identifier": "docs/alone.csv" }));
    notes.ok("delete_note", json!({ "identifier": "docs/alone" }));
    assert!(!notes.0.path("main/docs/Alone.txt").exists());
}

#[test]
fn a_drawing_has_a_name_of_its_own() {
    let notes = Notes::new();
    let draw = |title: &str| json!({ "title": title, "directory": "", "nodes": [], "edges": [] });
    for title in ["", " ", ".canvas"] {
        let refused = notes.refused("canvas", draw(title), "INVALID_ARGUMENTS");
        assert!(refused.text.contains("title"), "{}", refused.text);
    }
    assert_eq!(count(&notes), 0);
    notes.write("", "Fig", "the note");
    let drawn = notes.ok("canvas", draw("Fig")).structured;
    assert_eq!(drawn["permalink"], json!("fig.canvas"));
    let read = notes.ok("read_note", json!({ "identifier": drawn["permalink"] }));
    assert!(read.text.contains("nodes"), "{}", read.text);
    let read = notes.ok("read_note", json!({ "identifier": "fig" }));
    assert!(read.text.contains("the note"), "{}", read.text);
}

#[test]
fn a_glob_may_hold_sets() {
    let notes = Notes::new();
    for name in ["n01", "n02", "n03"] {
        notes.person(&format!("main/{name}.md"), "x\n");
    }
    for (glob, expected) in [
        ("n0[12].md", &["n01.md", "n02.md"][..]),
        ("n0[!12].md", &["n03.md"]),
        ("N0[1]*", &["n01.md"]),
    ] {
        let found = notes.ok("list_directory", json!({ "file_name_glob": glob })).structured;
        let nodes = found["nodes"].as_array().unwrap().iter();
        let names: Vec<_> = nodes.map(|node| node["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{glob}");
    }
}

#[test]
fn a_glob_may_go_over_paths() {
    let notes = Notes::new();
    for path in ["top.md", "a/d.md", "a/e.md", "a/b/d.md", "a/b/x.txt", "a/b/c/deep.md"] {
        notes.person(&format!("main/{path}"), "x\n");
    }
    for (folder, glob, depth, expected) in [
        ("", "**/*.md", None, &["a/b/c/deep.md", "a/b/d.md", "a/d.md", "a/e.md", "top.md"][..]),
        ("", "**/*.md", Some(2), &["a/d.md", "a/e.md", "top.md"]),
        ("", "a/b/*", None, &["a/b/d.md", "a/b/x.txt"]),
        ("a", "b/*", None, &["a/b/d.md", "a/b/x.txt"]),
        ("a", "{d,e}.md", None, &["a/d.md", "a/e.md"]),
        ("a", "**/{d,e}.md", None, &["a/b/d.md", "a/d.md", "a/e.md"]),
        ("", "*.md", None, &["top.md"]),
        ("", "*.md", Some(9), &["a/b/c/deep.md", "a/b/d.md", "a/d.md", "a/e.md", "top.md"]),
    ] {
        let ask = json!({ "dir_name": folder, "file_name_glob": glob, "depth": depth });
        let found = notes.ok("list_directory", ask.clone()).structured;
        let nodes = found["nodes"].as_array().unwrap().iter();
        let mut paths: Vec<_> = nodes.map(|node| node["file_path"].as_str().unwrap()).collect();
        paths.sort_unstable();
        assert_eq!(paths, expected, "{ask}");
    }
    // A pattern without matches differs from an empty folder.
    for (folder, glob, told) in [
        ("", "*.pdf", "the one file within 1 level is called otherwise. 5 lie deeper"),
        ("a", "z*", "the 2 files within 1 level are called otherwise. 3 lie deeper"),
        ("a", "**/z*", "the 5 files within 10 levels are called otherwise.\n"),
    ] {
        let ask = json!({ "dir_name": folder, "file_name_glob": glob });
        let found = notes.ok("list_directory", ask);
        let whole = format!("No name fits {glob:?}: {told}");
        assert!(found.text.contains(&whole), "{}", found.text);
        assert!(!found.text.contains("Nothing is here"), "{}", found.text);
        assert_eq!(found.structured["total"], json!(0));
    }
    let empty = Notes::new();
    let found = empty.ok("list_directory", json!({ "file_name_glob": "*.md" }));
    assert!(found.text.contains("Nothing is here"), "{}", found.text);
}

#[test]
fn a_taken_permalink_is_reported_and_replaced() {
    let notes = Notes::new();
    notes.write("", "A", "a\n");
    notes.write("", "B", "b\n");
    let content = "---\npermalink: a\n---\ntext";
    let write = |title: &str, content: &str| {
        let write =
            json!({ "title": title, "directory": "", "content": content, "overwrite": true });
        let said = notes.ok("write_note", write);
        let permalink = said.structured["permalink"].as_str().unwrap().to_owned();
        let file = notes.file(&format!("main/{title}.md"));
        assert!(file.contains(&format!("permalink: {permalink}\n")), "{permalink}: {file}");
        let warning = said.structured["warning"].as_str().unwrap_or_default().to_owned();
        assert!(said.text.contains(&warning), "{}", said.text);
        (permalink, warning)
    };
    let taken = |given: &str| {
        let said = format!("The permalink \"a\" is that of main/A.md; this note has {given:?}.");
        (given.to_owned(), said)
    };
    let free = |given: &str| (given.to_owned(), String::new());
    // A note that there is keeps its own; a new one has a number.
    assert_eq!(write("B", content), taken("b"));
    assert_eq!(write("C", content), taken("a-1"));
    // Again, nothing changes.
    assert_eq!(write("B", content), taken("b"));
    assert_eq!(write("C", content), taken("a-1"));
    // Its own is no other's, and a free one is given.
    assert_eq!(write("A", content), free("a"));
    assert_eq!(write("B", "---\npermalink: free\n---\ntext"), free("free"));
    assert_eq!(write("B", "text"), free("free"));
}

/// A title that says the end of the file's name is the title without it.
#[test]
fn a_title_is_used_without_its_extension() {
    let notes = Notes::new();
    for (title, taken) in [("Plan.md", "Plan"), ("List.MD", "List"), ("Old.markdown", "Old")] {
        let written = notes.write("d", title, "text");
        assert_eq!(written.structured["file_path"], json!(format!("d/{taken}.md")), "{title}");
        assert_eq!(written.structured["title"], json!(taken), "{title}");
        let warning = written.structured["warning"].as_str().unwrap_or_default();
        assert!(warning.contains(&format!("the title {taken:?}")), "{title}: {warning}");
        // The note of that name is the one that is there.
        for title in [title, taken] {
            let again = json!({ "title": title, "directory": "d", "content": "other" });
            let refused = notes.refused("write_note", again, "NOTE_ALREADY_EXISTS");
            assert_eq!(refused.structured["title"], json!(taken), "{}", refused.text);
        }
    }
    assert_eq!(count(&notes), 3 + 1, "three notes in a folder");
    // A note that the user named like this is found by its name.
    notes.person("main/d/Real.md.md", "the real one\n");
    let real = json!({ "title": "Real.md", "directory": "d", "content": "new", "overwrite": true });
    let written = notes.ok("write_note", real).structured;
    assert_eq!(written["file_path"], json!("d/Real.md.md"));
    assert_eq!(written["permalink"], json!("d/real-md"));
    assert!(!notes.0.path("main/d/Real.md").exists());
}

/// A name that is the permalink of one note and the path of another is ambiguous for a change.
#[test]
fn a_permalink_that_looks_like_a_path_changes_no_other_note() {
    let check = |path: &str, permalink: &str, identifiers: &[(&str, Option<&str>)]| {
        let notes = Notes::new();
        let other = format!("main/{path}.md");
        notes.person(&format!("main/{path}"), "the real plan\n");
        notes.person(&other, &format!("---\npermalink: {permalink}\n---\nthe other\n"));
        for (identifier, meant) in identifiers {
            match meant {
                Some(meant) => {
                    let edited = notes.ok("edit_note", append(identifier)).structured;
                    assert_eq!(edited["file_path"], json!(meant), "{identifier}");
                }
                None => {
                    let before = (notes.file(&format!("main/{path}")), notes.file(&other));
                    let delete = json!({ "identifier": identifier });
                    for (tool, ask) in [("edit_note", append(identifier)), ("delete_note", delete)]
                    {
                        let refused = notes.refused(tool, ask, "AMBIGUOUS_IDENTIFIER");
                        let mut candidates: Vec<_> =
                            refused.structured["candidates"].as_array().unwrap().clone();
                        candidates.sort_by_key(ToString::to_string);
                        let expected = [format!("main/{path}"), other.clone()];
                        assert_eq!(candidates, expected.map(Value::from), "{identifier}");
                    }
                    let after = (notes.file(&format!("main/{path}")), notes.file(&other));
                    assert_eq!(before, after, "{identifier}");
                }
            }
            // A read shows one of them, and names the other.
            let read = notes.ok("read_note", json!({ "identifier": identifier }));
            let both = read.text.contains(path) && read.text.contains(&format!("{path}.md"));
            assert!(meant.is_some() || both, "{identifier}: {}", read.text);
        }
    };
    check(
        "d/Plan.md",
        "d/plan.md",
        &[
            ("d/plan.md", None),
            ("memory://d/plan.md", None),
            ("D/PLAN.md", None),
            ("d/Plan.md", Some("d/Plan.md")),
            ("d/Plan.md.md", Some("d/Plan.md.md")),
            ("d/plan", Some("d/Plan.md")),
        ],
    );
    check(
        "plan.md",
        "plan.md",
        &[
            ("plan.md", None),
            ("main/plan.md", None),
            ("plan", Some("plan.md")),
            ("plan.md.md", Some("plan.md.md")),
        ],
    );
    // Only what is a note goes by a permalink of its own.
    let notes = Notes::new();
    notes.person("main/plan.txt", "the list\n");
    notes.person("main/Note.md", "---\npermalink: plan.txt\n---\nthe note\n");
    notes.ok("delete_note", json!({ "identifier": "plan.txt" }));
    assert!(!notes.0.path("main/plan.txt").exists() && notes.0.path("main/Note.md").exists());
}
