//! Links to notes that are gone or called otherwise: what callers are told of them.

use serde_json::json;

use crate::notes_support::Notes;

#[test]
fn a_deletion_says_which_links_mean_another_note_then() {
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
fn a_deletion_says_which_links_mean_a_note_of_another_project_then() {
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
