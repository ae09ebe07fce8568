//! Links to deleted or renamed notes, and how callers are informed.

use serde_json::json;

use crate::notes_support::Notes;

#[test]
fn a_deletion_lists_links_that_get_another_target() {
    let notes = Notes::new();
    notes.person("main/x/Plan.md", "one\n");
    notes.person("main/y/Plan.md", "two\n");
    notes.person("main/x/L.md", "see [[Plan]] but not [[x/Plan]]\n");
    notes.person("main/x/Up.md", "---\nup: \"[[Plan]]\"\n---\n");
    let deleted = notes.ok("delete_note", json!({ "identifier": "x/Plan.md" }));
    let expected = "1 link to it without a target now.\n";
    assert!(deleted.text.contains(expected), "{}", deleted.text);
    let expected = "2 links to it with another meaning now, as other notes go by the name:\n\
                    - [[Plan]] in x/L.md means y/Plan.md\n\
                    - [[Plan]] in x/Up.md means y/Plan.md\n";
    assert!(deleted.text.contains(expected), "{}", deleted.text);
    assert_eq!(deleted.structured["unresolved_links"], json!(1));
    assert_eq!(
        deleted.structured["outdated_links"],
        json!([
            { "file_path": "x/L.md", "link": "Plan", "means": "y/Plan.md" },
            { "file_path": "x/Up.md", "link": "Plan", "means": "y/Plan.md" },
        ])
    );
    let context = notes.ok("build_context", json!({ "url": "x/l" })).structured;
    assert_eq!(context["results"][0]["related_results"][0]["permalink"], json!("y/plan"));
}

#[test]
fn a_deletion_lists_links_that_get_a_target_in_another_project() {
    let mut notes = Notes::new();
    notes.ok("create_memory_project", json!({ "project_name": "work" }));
    notes.person("work/Plan.md", "two\n");
    let check = |notes: &Notes, expected: &str, structured| {
        notes.person("main/work/Plan.md", "one\n");
        notes.person("main/L.md", "see [[work/Plan]]\n");
        let deleted =
            notes.ok("delete_note", json!({ "identifier": "work/Plan.md", "project": "main" }));
        assert!(deleted.text.contains(expected), "{}", deleted.text);
        assert_eq!(deleted.structured["outdated_links"], structured);
    };
    check(
        &notes,
        "- [[work/Plan]] in L.md means Plan.md of project work\n",
        json!([{ "file_path": "L.md", "link": "work/Plan", "means": "Plan.md",
                 "means_project": "work" }]),
    );
    // A server that is held to its project knows nothing of the other.
    notes.0.settings.notes.only_project = Some("main".into());
    check(&notes, "1 link to it without a target now.\n", json!([]));
}

#[test]
fn a_new_title_lists_broken_links_by_the_old_title() {
    let notes = Notes::new();
    notes.person("main/x.md", "---\ntitle: Alpha Beta\naliases: [AB]\n---\n# Alpha Beta\n\ntext\n");
    notes.person("main/L.md", "see [[Alpha Beta]] and [[alpha beta|it]], [[AB]], [[x]]\n");
    let edit = |find: &str, content: &str| {
        notes.ok(
            "edit_note",
            json!({ "identifier": "x.md", "operation": "find_replace", "find_text": find,
                    "content": content }),
        )
    };
    let same = edit("text", "other text");
    assert!(same.structured.get("outdated_links").is_none(), "{}", same.structured);
    let edited = edit("# Alpha Beta", "# Gamma");
    assert_eq!(edited.structured["title"], json!("Gamma"));
    let expected = "2 links to it by its old name without a target now:\n\
                    - [[Alpha Beta]] in L.md\n- [[alpha beta]] in L.md\n\
                    Edit them to say \"Gamma\", or let it keep the old name beside the new one: \
                    edit_note(identifier=\"x.md\", project=\"main\", operation=\"append\", content=\"\", \
                    metadata={\"aliases\":[\"AB\",\"Alpha Beta\"]}).\n";
    assert!(edited.text.contains(expected), "{}", edited.text);
    assert_eq!(
        edited.structured["outdated_links"],
        json!([{ "file_path": "L.md", "link": "Alpha Beta" },
               { "file_path": "L.md", "link": "alpha beta" }])
    );
    // The call that is offered mends them.
    notes.ok(
        "edit_note",
        json!({ "identifier": "x.md", "operation": "append", "content": "",
                "metadata": { "aliases": ["AB", "Alpha Beta"] } }),
    );
    let context = notes.ok("build_context", json!({ "url": "l" })).structured;
    assert_eq!(context["results"][0]["unresolved"], json!([]));
    // Another note with the old name becomes the target.
    notes.person("main/deep/Gamma.md", "other\n");
    notes.person("main/M.md", "see [[Gamma]]\n");
    let edited = edit("# Gamma", "# Delta");
    let expected = "1 link to it by its old name with another meaning now, as other notes go by \
                    it:\n- [[Gamma]] in M.md means deep/Gamma.md\n";
    assert!(edited.text.contains(expected), "{}", edited.text);
    assert_eq!(edited.structured["outdated_links"][0]["means"], json!("deep/Gamma.md"));
}

#[test]
fn links_are_counted_as_often_as_an_update_changes_them() {
    let notes = Notes::new();
    notes.person("main/Old Name.md", "text\n");
    notes
        .person("main/L.md", "[[Old Name]] [[Old Name|x]] [a](Old%20Name.md) [b](Old%20Name.md)\n");
    let to = |from: &str, update: bool| json!({ "identifier": from, "destination_path": "new/N.md", "update_links": update });
    let moved = notes.ok("move_note", to("Old Name.md", false));
    assert!(moved.text.contains("4 links to it by its old name"), "{}", moved.text);
    assert!(moved.text.contains("- [[Old Name]] in L.md (2 times)\n"), "{}", moved.text);
    let updated = notes.ok("move_note", to("new/N.md", true));
    assert!(updated.text.contains("4 links updated"), "{}", updated.text);
}

#[test]
fn links_by_reference_and_in_html_follow_a_move() {
    let notes = Notes::new();
    let text = |path: &str, html: &str| {
        format!(
            "See [it][ref], [ref] and <a href=\"{html}\">this</a>.\n\n\
             <div><a class='x' href='{html}#top'>that</a><img src=\"{html}\"></div>\n\n\
             `<a href=\"Old%20Name.md\">`\n\n[ref]: {path} \"A title\"\n[other]: <Old Name.md>\n"
        )
    };
    notes.person("main/Old Name.md", "text\n");
    notes.person("main/L.md", &text("Old%20Name.md", "Old%20Name.md"));
    notes.person("main/only ref.md", "See [ref].\n\n[ref]: Old%20Name.md\n");
    notes.person("main/only html.md", "<a href=\"Old Name.md\">this</a>\n");
    let to = |from: &str, update: bool| json!({ "identifier": from, "destination_path": "new/N.md", "update_links": update });
    let moved = notes.ok("move_note", to("Old Name.md", false));
    assert!(moved.text.contains("7 links to it by its old name or path"), "{}", moved.text);
    let updated = notes.ok("move_note", to("new/N.md", true));
    assert!(updated.text.contains("7 links updated"), "{}", updated.text);
    let expected = text("new/N.md", "new/N.md").replace("<Old Name.md>", "<new/N.md>");
    assert_eq!(notes.file("main/L.md"), expected);
    assert_eq!(notes.file("main/only ref.md"), "See [ref].\n\n[ref]: new/N.md\n");
    assert_eq!(notes.file("main/only html.md"), "<a href=\"new/N.md\">this</a>\n");
}
