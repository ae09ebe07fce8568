//! The file that results from a caller's text and frontmatter, byte for byte.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::notes_support::Notes;

#[test]
fn written_content_becomes_this_file() {
    let notes = Notes::new();
    let check = |content: &str, more: Value, expected: &str| {
        let mut arguments = json!({ "title": "T", "directory": "", "content": content });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        notes.ok("write_note", arguments);
        assert_eq!(notes.file("main/T.md"), expected, "{content:?}");
        notes.ok("delete_note", json!({ "identifier": "T.md" }));
    };
    let none = || json!({});
    check("body", none(), "---\ntitle: T\ntype: note\npermalink: t\n---\nbody\n");
    // Title, type and permalink come first; the rest stays as it was written.
    check(
        "---\nzeta: 1 # why\ntitle: other\ntags: [x]\ntype: spec\n---\nbody",
        none(),
        "---\ntitle: T\ntype: spec\npermalink: t\nzeta: 1 # why\ntags: [x]\n---\nbody\n",
    );
    check("---\ntitle: a\n---\nx", none(), "---\ntitle: T\ntype: note\npermalink: t\n---\nx\n");
    check(
        "---\na: 1\r\n---\r\nx\r\n",
        none(),
        "---\r\ntitle: T\r\ntype: note\r\npermalink: t\r\na: 1\r\n---\r\nx\r\n",
    );
    // Invalid frontmatter is text.
    check(
        "---\nfoo: [bar\n---\nbody",
        none(),
        "---\ntitle: T\ntype: note\npermalink: t\n---\n---\nfoo: [bar\n---\nbody\n",
    );
    check("--- \nopen", none(), "---\ntitle: T\ntype: note\npermalink: t\n---\n--- \nopen\n");
    // No byte-order mark and no NUL comes into a note.
    check(
        "\u{feff}---\nk: a\0b\n---\nbo\0dy",
        none(),
        "---\ntitle: T\ntype: note\npermalink: t\nk: ab\n---\nbody\n",
    );
    // Numbers and truth values keep their type, also within others.
    check(
        "x",
        json!({ "metadata": { "n": { "a": 1, "b": true, "l": [1, "1", 2.5, null, [3]] }, "v": "2" } }),
        "---\ntitle: T\ntype: note\npermalink: t\n\"n\":\n  a: 1\n  b: true\n  l:\n    - 1\n    - \
         \"1\"\n    - 2.5\n    - null\n    - [3]\nv: \"2\"\n---\nx\n",
    );
    check(
        "x",
        json!({ "metadata": { "a": null } }),
        "---\ntitle: T\ntype: note\npermalink: t\na: null\n---\nx\n",
    );
}

#[test]
fn invalid_frontmatter_becomes_text_with_a_warning() {
    let notes = Notes::new();
    let told = |content: &str| {
        let write = json!({ "title": "T", "directory": "", "content": content });
        let over =
            json!({ "title": "Old", "directory": "", "content": content, "overwrite": true });
        let append = json!({ "identifier": "New", "operation": "append", "content": content });
        notes.write("", "Old", "old\n");
        let tools = [("write_note", write), ("write_note", over), ("edit_note", append)];
        let said = tools.map(|(tool, arguments)| notes.ok(tool, arguments));
        for name in ["T", "Old", "New"] {
            let file = notes.file(&format!("main/{name}.md"));
            // No input loses any content.
            assert!(file.ends_with(&format!("---\n{content}\n")), "{file}");
            notes.ok("delete_note", json!({ "identifier": format!("{name}.md") }));
        }
        said
    };
    for (content, line) in [
        ("---\ntitle: A: b\nx: y\n---\nbody", 2),
        ("---\na: 1\nfoo: [bar\n---\nbody", 3),
        ("---\ntitle: A\nbody", 1),
    ] {
        for said in told(content) {
            let problem = said.structured["problems"][0].as_str().unwrap_or_default();
            assert!(problem.starts_with(&format!("line {line}: the frontmatter ")), "{problem}");
            let warning = said.structured["warning"].as_str().unwrap_or_default();
            assert!(warning.contains(&format!("line {line} of `content`")), "{warning}");
            assert!(warning.contains("overwrite=true"), "{warning}");
            assert!(said.text.contains(warning), "{}", said.text);
        }
    }
    // Rules between paragraphs are no frontmatter.
    for content in ["---\nOnce upon a time\n\n---\nthe end", "---\nopen", "body"] {
        for said in told(content) {
            assert!(said.structured["problems"].is_null(), "{}", said.text);
            assert!(said.structured["warning"].is_null(), "{}", said.text);
        }
    }
}

#[test]
fn numbers_of_an_edit_keep_their_type_too() {
    let notes = Notes::new();
    notes.person("main/T.md", "---\na: 1 # one\nb:\n---\nx\n");
    let edit = json!({ "identifier": "T", "operation": "append", "content": "",
                       "metadata": { "a": 2, "b": false, "c": [1, { "d": 2 }] } });
    notes.ok("edit_note", edit);
    let expected = "---\na: 2 # one\nb: false\nc:\n  - 1\n  - {\"d\": 2}\n---\nx\n";
    assert_eq!(notes.file("main/T.md"), expected);
}

/// Frontmatter is merged: what a call does not name stays, also within a mapping.
#[test]
fn metadata_is_merged_and_ignored_keys_are_reported() {
    let notes = Notes::new();
    let head = "title: T\ntype: note\nreview:\n  due: 2026-01-01 # soon\n  by: 010\n";
    let edit = |metadata: Value, expected: &str| {
        notes.person("main/T.md", &format!("---\n{head}---\nbody\n"));
        let arguments =
            json!({ "identifier": "T.md", "operation": "append", "metadata": metadata });
        let edited = notes.ok("edit_note", arguments);
        assert_eq!(notes.file("main/T.md"), format!("---\n{expected}---\nbody\n"));
        edited
    };
    let later = head.replace("2026-01-01", "May");
    for metadata in [json!({ "review": { "due": "May" } }), json!({ "review.due": "May" })] {
        let edited = edit(metadata, &later);
        assert!(edited.structured["ignored_keys"].is_null(), "{}", edited.text);
    }
    edit(json!({ "a.b": 1 }), &format!("{head}a.b: 1\n"));
    edit(json!({ "review": ["x"] }), "title: T\ntype: note\nreview:\n  - x\n");
    for (metadata, ignored) in [
        (json!({ "title": "U", "type": "spec" }), json!(["title", "type"])),
        (json!({ "permalink": null }), json!(["permalink"])),
    ] {
        let edited = edit(metadata, head);
        assert_eq!(edited.structured["ignored_keys"], ignored, "{}", edited.text);
        for told in ["Ignored in `metadata`", "find_replace", "move_note", "Nothing had to be"] {
            assert!(edited.text.contains(told), "{told}: {}", edited.text);
        }
    }
    let both = edit(json!({ "type": "spec", "review.due": "May" }), &later);
    assert_eq!(both.structured["ignored_keys"], json!(["type"]));
    // A note that is made tells the same.
    let metadata = json!({ "type": "spec", "status": "open" });
    for (tool, arguments) in [
        ("write_note", json!({ "title": "New", "directory": "", "content": "x" })),
        ("edit_note", json!({ "identifier": "Other", "operation": "append", "content": "x" })),
    ] {
        let mut arguments = arguments;
        arguments["metadata"] = metadata.clone();
        let made = notes.ok(tool, arguments);
        assert_eq!(made.structured["ignored_keys"], json!(["type"]), "{}", made.text);
    }
}

#[test]
fn headings_may_be_closed() {
    let notes = Notes::new();
    let text = "# T\n\n## Sec ##\nold\n\n## C#\nx\n";
    for (section, expected) in [
        ("## Sec ##", "# T\n\n## Sec ##\nnew\n\n## C#\nx\n"),
        ("## Sec", "# T\n\n## Sec ##\nnew\n\n## C#\nx\n"),
        ("## C#", "# T\n\n## Sec ##\nold\n\n## C#\nnew\n"),
    ] {
        notes.person("main/T.md", text);
        let edit = json!({ "identifier": "T", "operation": "replace_section",
                           "section": section, "content": "new" });
        notes.ok("edit_note", edit);
        assert_eq!(notes.file("main/T.md"), expected, "{section}");
    }
    notes.person("main/Two.md", "## A\nx\n\n## A\ny\n");
    let edit = json!({ "identifier": "Two", "operation": "insert_after_section", "section": "A",
                       "content": "z" });
    let refused = notes.refused("edit_note", edit, "EDIT_FAILED");
    assert!(refused.text.contains("(lines 1, 4)"), "{}", refused.text);
}

#[test]
fn names_that_some_systems_do_not_allow_are_rejected() {
    let notes = Notes::new();
    notes.write("", "Plan", "x");
    for to in ["con:/a*b?.md", "a/con.md", "Aux/x.md", "com1.md", "a|b.md"] {
        let moved = json!({ "identifier": "Plan", "destination_path": to });
        notes.refused("move_note", moved, "INVALID_PATH");
    }
    let moved = json!({ "identifier": "Plan", "destination_path": "console/comet.md" });
    notes.ok("move_note", moved);
    let listed = notes.ok("list_directory", json!({ "dir_name": "memory://console" }));
    assert_eq!(listed.structured["total"], json!(1));
    std::fs::write(notes.0.path("main/p.png"), b"\x89PNG\0\xff").unwrap();
    let refused = notes.refused("read_note", json!({ "identifier": "p.png" }), "NOT_TEXT");
    assert!(refused.text.contains("read_content"), "{}", refused.text);
}

#[test]
fn a_schema_note_without_a_schema_is_reported() {
    let notes = Notes::new();
    let bad = "---\ntype: schema\nentity: person\nschema: name string\n---\n";
    notes.person("main/schemas/Person.md", bad);
    notes.person("main/Ann.md", "---\ntype: person\n---\n- [name] Ann\n");
    let checked = notes.ok("schema_validate", json!({ "note_type": "person" }));
    assert!(checked.text.contains("schemas/person states no schema"), "{}", checked.text);
    assert_eq!(checked.structured["broken_schemas"], json!(["schemas/person"]));
    let refused = notes.refused("schema_diff", json!({ "note_type": "person" }), "NO_SCHEMA");
    assert!(refused.text.contains("schemas/person states no schema"), "{}", refused.text);
}

#[test]
fn a_block_at_the_top_stays_there() {
    let notes = Notes::new();
    let check = |text: &str, expected: &str| {
        notes.person("main/T.md", text);
        let arguments = json!({ "identifier": "T.md", "operation": "prepend", "content": "NEW" });
        let edited = notes.ok("edit_note", arguments);
        assert_eq!(notes.file("main/T.md"), expected);
        edited
    };
    let template = "---\ntitle: {{title}}\ntags: [daily]\n---\n";
    let edited = check(&format!("{template}# H\n"), &format!("{template}NEW\n# H\n"));
    assert!(edited.text.contains("the frontmatter cannot be read"), "{}", edited.text);
    assert_eq!(edited.structured["problems"].as_array().unwrap().len(), 1);
    let edited = check("---\ntitle: T\n---\ntext\n", "---\ntitle: T\n---\nNEW\n\ntext\n");
    assert!(edited.structured["problems"].is_null() && !edited.text.contains("Problem"));
    // Rules between paragraphs are no frontmatter.
    check(
        "---\nOnce upon a time\n\n---\nthe end\n",
        "NEW\n\n---\nOnce upon a time\n\n---\nthe end\n",
    );
    // An edit that breaks it says so.
    notes.person("main/T.md", "---\ntitle: T\n---\ntext\n");
    let arguments = json!({ "identifier": "T.md", "operation": "find_replace",
                            "find_text": "title: T", "content": "title: [T" });
    let edited = notes.ok("edit_note", arguments);
    assert!(edited.text.contains("the frontmatter cannot be read"), "{}", edited.text);
}

/// An edit inserts its text next to the user's, and Markdown does not merge the two.
#[test]
fn inserted_text_does_not_merge_with_the_text_around_it() {
    let notes = Notes::new();
    let check = |text: &str, edit: Value, expected: &str| {
        notes.person("main/T.md", text);
        let mut arguments = json!({ "identifier": "T.md" });
        arguments.as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
        let edited = notes.ok("edit_note", arguments);
        assert_eq!(notes.file("main/T.md"), expected);
        edited
    };
    let relation = "- depends_on [[X]] (why)";
    for (operation, section, text, expected) in [
        ("prepend", "", "A first paragraph.\n", "R\n\nA first paragraph.\n"),
        ("insert_after_section", "S", "## S\nText.\n", "## S\nR\n\nText.\n"),
        ("insert_before_section", "S", "Text.\n## S\n", "Text.\nR\n\n## S\n"),
        ("append", "", "- uses [[Y]]\n", "- uses [[Y]]\nR\n"),
    ] {
        let edit = json!({ "operation": operation, "section": section, "content": relation });
        check(text, edit, &expected.replace('R', relation));
        let context = notes.ok("build_context", json!({ "url": "T.md" })).structured;
        assert!(context.to_string().contains("depends_on"), "{operation}: {context}");
    }
    check(
        "Last words of the note.\n",
        json!({ "operation": "append", "content": "---\n\n## Update\nmore" }),
        "Last words of the note.\n\n---\n\n## Update\nmore\n",
    );
    check(
        "Title\n=====\n",
        json!({ "operation": "prepend", "content": "Note to self" }),
        "Note to self\n\nTitle\n=====\n",
    );
}

#[test]
fn a_missing_section_is_added_with_a_warning() {
    let notes = Notes::new();
    let replace = |section: &str| {
        notes.person("main/P.md", "# P\n\n## Next steps\n- one\n\n## Log\n- l\n");
        let arguments = json!({ "identifier": "P.md", "operation": "replace_section",
                                "section": section, "content": "- two" });
        notes.ok("edit_note", arguments)
    };
    for (section, near) in [
        ("## Next Steps", json!(["## Next steps"])),
        ("### Next steps", json!(["## Next steps"])),
        ("## Plan", json!([])),
    ] {
        let edited = replace(section);
        let said = format!("There was no section {section:?}; it was added at the end.");
        assert!(edited.text.contains(&said), "{}", edited.text);
        assert_eq!(edited.structured["section_added"], json!(true));
        assert_eq!(edited.structured["near_sections"], near);
        assert!(edited.structured["warning"].as_str().unwrap().starts_with(&said));
    }
    let edited = replace("## Next steps");
    assert!(edited.structured["section_added"].is_null() && !edited.text.contains("no section"));
}

#[test]
fn a_replaced_note_keeps_its_line_endings() {
    let notes = Notes::new();
    notes.person("main/A.md", "---\r\ntitle: A\r\nk: v\r\n---\r\nold\r\n");
    notes.person("main/B.md", "old\r\ntext\r\n");
    notes.person("main/C.md", "old\ntext\n");
    for title in ["A", "B", "C"] {
        let write =
            json!({ "title": title, "directory": "", "content": "one\n\ntwo", "overwrite": true });
        notes.ok("write_note", write);
        let file = notes.file(&format!("main/{title}.md"));
        let returns = if title == "C" { 0 } else { file.matches('\n').count() };
        assert_eq!(file.matches("\r\n").count(), returns, "{file:?}");
        assert!(file.replace('\r', "").ends_with("---\none\n\ntwo\n"), "{file:?}");
    }
}

#[test]
fn frontmatter_stays_as_the_caller_wrote_it() {
    let stated = "# mine\ndone: true # yet\ncount: 5\ndue: 2026-01-02\nlist: [1, two]\nnested:\n  \
                  a: 0.5\n  b:\n    - no\n# end\n";
    let check = |before: Option<&str>| {
        let notes = Notes::new();
        if let Some(before) = before {
            notes.person("main/A.md", before);
        }
        let content = format!("---\n{stated}---\nx");
        let write = json!({ "title": "A", "directory": "", "content": content, "overwrite": true });
        notes.ok("write_note", write.clone());
        let file = notes.file("main/A.md");
        assert!(file.contains(stated), "{file}");
        assert!(file.ends_with("---\nx\n"), "{file}");
        // Again, nothing changes.
        notes.ok("write_note", write);
        assert_eq!(notes.file("main/A.md"), file);
        file
    };
    check(None);
    check(Some("old\n"));
    let file = check(Some("---\ntitle: A\ntype: t\nown: 1 # kept\n---\nold\n"));
    assert!(
        file.starts_with("---\ntitle: A\ntype: t\nown: 1 # kept\npermalink: a\n# mine\n"),
        "{file}"
    );
}

#[test]
fn missing_items_have_exact_error_messages() {
    let notes = Notes::new();
    notes.write("", "Plan", "text");
    let text = notes.ok("recent_activity", json!({ "page": 99 })).text;
    assert!(text.contains("Nothing is left for page 99"), "{text}");
    std::fs::write(notes.0.path("main/pic.png"), b"\x89PNG\0\xff").unwrap();
    notes.0.memory.sync(&mut |_| {}).unwrap();
    notes.refused("fetch", json!({ "id": "main/pic.png" }), "NOT_TEXT");
    notes.ok("fetch", json!({ "id": "main/Plan.md" }));
}

#[test]
fn an_appended_line_has_the_line_ending_of_the_note() {
    let notes = Notes::new();
    let mixed = |text: &str| text.replace("\r\n", "").contains('\n');
    notes.write("", "New", "a\r\nb");
    let text = notes.file("main/New.md");
    assert!(text.ends_with("a\r\nb\r\n") && !mixed(&text), "{text:?}");
    notes.write("", "Plain", "a\nb");
    assert!(notes.file("main/Plain.md").ends_with("a\nb\n"));
    notes.ok(
        "write_note",
        json!({ "title": "Plain", "directory": "", "content": "c\r\nd", "overwrite": true }),
    );
    assert!(notes.file("main/Plain.md").ends_with("c\r\nd\r\n"));
}

#[test]
fn a_page_past_the_end_names_the_last_page() {
    let notes = Notes::new();
    for n in 0..5 {
        notes.write("g", &format!("N{n}"), "text");
    }
    let then = notes.write("", "Other", "text").structured["commit"].clone();
    let past = |total: &str, last: usize| {
        format!(
            "Page 9 is past the end: there are no more than {total}, and page={last} is the last."
        )
    };
    for (url, as_of, said) in [
        ("memory://g/*", None, past("5 notes", 3)),
        ("memory://g/*", Some(&then), past("5 notes", 3)),
        ("memory://other", None, past("1 note", 1)),
        ("memory://other", Some(&then), past("1 note", 1)),
    ] {
        let ask = json!({ "url": url, "page": 9, "page_size": 2, "as_of": as_of });
        let asked = |form: &str| {
            let mut ask = ask.clone();
            ask["output_format"] = json!(form);
            notes.ok("build_context", ask)
        };
        assert!(asked("text").text.contains(&said), "{}", asked("text").text);
        assert_eq!(asked("json").structured["hint"], json!(said));
    }
    let listed = notes.ok("list_directory", json!({ "dir_name": "g", "page": 9, "page_size": 2 }));
    assert!(listed.text.contains(&past("5 items", 3)), "{}", listed.text);
    // A filter without matches has no page.
    notes.person("main/Old.md", "old\n");
    let long_ago = SystemTime::now() - Duration::from_secs(30 * 24 * 60 * 60);
    let old = std::fs::File::options().write(true).open(notes.0.path("main/Old.md")).unwrap();
    old.set_modified(long_ago).unwrap();
    notes.0.memory.sync(&mut |_| {}).unwrap();
    for (ask, said) in [
        (json!({ "url": "memory://x/*" }), "list_directory shows"),
        (json!({ "url": "memory://x/*", "page": 9 }), "list_directory shows"),
        (json!({ "url": "memory://x/*", "timeframe": "1d" }), "list_directory shows"),
        (json!({ "url": "memory://old*", "timeframe": "1d" }), "Without timeframe"),
    ] {
        let hint = notes.ok("build_context", ask).structured["hint"].clone();
        let hint = hint.as_str().unwrap();
        assert!(hint.starts_with("Nothing fits. ") && hint.contains(said), "{hint}");
    }
    let none = notes.ok("search_notes", json!({ "after_date": "2100-01-01" })).text;
    assert!(none.contains("an earlier after_date") && !none.contains("search_type"), "{none}");
}
