//! Notes that are similar to others: by relations, by name, by spelling.

use serde_json::{Value, json};

use crate::notes_support::Notes;

#[test]
fn every_relation_between_the_shown_notes_is_listed() {
    let notes = Notes::new();
    notes.write("", "RB", "- supersedes [[RA]]");
    notes.write("", "RC", "- near [[RB]]\n- near [[Elsewhere]]");
    let text = "- depends_on [[RB]] (ctx one)\n- blocks [[RB]]\n- links [[RC]]\n- is [[RA]]";
    notes.write("", "RA", text);
    let context = notes.ok("build_context", json!({ "url": "memory://ra" }));
    let told = |context: &Value| -> Vec<String> {
        let related = context["results"][0]["related_results"].as_array().unwrap();
        let mut told: Vec<String> = related
            .iter()
            .filter(|r| r["type"] == "relation" && !r["to_entity"].is_null())
            .map(|r| {
                let part = |key: &str| r[key].as_str().unwrap().to_owned();
                format!("{} {} {}", part("from_entity"), part("relation_type"), part("to_entity"))
            })
            .collect();
        told.sort();
        told
    };
    let all = ["RA blocks RB", "RA depends_on RB", "RA links RC", "RB supersedes RA", "RC near RB"];
    assert_eq!(told(&context.structured), all);
    let metadata = &context.structured["metadata"];
    assert_eq!((&metadata["related_count"], &metadata["total_relations"]), (&json!(2), &json!(5)));
    // The past state, after one of the notes has changed.
    let commit = context_commit(&notes);
    let add = json!({ "identifier": "RC", "operation": "append", "content": "\n- more [[RA]]\n" });
    notes.ok("edit_note", add);
    let then = notes.ok("build_context", json!({ "url": "memory://ra", "as_of": commit }));
    assert_eq!(told(&then.structured), all);
    // A note that is not shown brings no relation with it.
    let one = notes.ok("build_context", json!({ "url": "memory://ra", "max_related": 1 }));
    assert_eq!(told(&one.structured), ["RA blocks RB", "RA depends_on RB", "RB supersedes RA"]);
    let text = json!({ "url": "memory://ra", "output_format": "text" });
    let text = notes.ok("build_context", text).text;
    assert!(text.contains("- RC —near→ RB\n"), "{text}");
}

/// The last commit.
fn context_commit(notes: &Notes) -> Value {
    notes.write("", "Mark", "x").structured["commit"].clone()
}

#[test]
fn a_title_resolves_to_a_note_of_equal_appearance() {
    let notes = Notes::new();
    notes.person("main/Cafe\u{301}.md", "old\n");
    let write = json!({ "title": "Caf\u{e9}", "directory": "", "content": "new" });
    let refused = notes.refused("write_note", write.clone(), "NOTE_ALREADY_EXISTS");
    assert!(refused.text.contains("overwrite=true"), "{}", refused.text);
    assert!(!refused.text.contains("\\u"), "{}", refused.text);
    let mut write = write;
    write["overwrite"] = json!(true);
    let written = notes.ok("write_note", write).structured;
    assert_eq!(written["action"], json!("updated"));
    assert!(notes.file("main/Cafe\u{301}.md").contains("new"));
    assert!(!notes.0.path("main/Caf\u{e9}.md").exists());
}

#[test]
fn a_note_created_by_append_lists_similar_notes() {
    let notes = Notes::new();
    notes.write("home", "Kitchen tap", "It drips.");
    notes.write("home", "Chores", "- first [[Kitchn tap]]");
    notes.write("home", "Cellar", "Dark.");
    let append = json!({ "identifier": "Kitchn tap", "operation": "append", "content": "Fixed." });
    let made = notes.ok("edit_note", append);
    assert_eq!(made.structured["fileCreated"], json!(true));
    let similar = &made.structured["similar"];
    assert_eq!(similar[0]["file_path"], json!("home/Kitchen tap.md"), "{}", made.text);
    assert_eq!(similar.as_array().unwrap().len(), 1, "{}", made.text);
    assert!(made.text.contains("## Similar notes"), "{}", made.text);
    // A name that is only misspelled shares no word.
    notes.write("", "Kubernetes", "Clusters.");
    let append = json!({ "identifier": "Kuberntes", "operation": "append", "content": "x" });
    let made = notes.ok("edit_note", append);
    assert_eq!(made.structured["similar"][0]["file_path"], json!("Kubernetes.md"), "{}", made.text);
}

#[test]
fn a_folder_is_found_in_every_spelling() {
    let notes = Notes::new();
    let (composed, apart) = ("B\u{fc}ro M\u{fc}ller", "Bu\u{308}ro Mu\u{308}ller");
    notes.person(&format!("main/{apart}/Plan Mu\u{308}ller.md"), "the plan\n");
    notes.person("main/People/Ada.md", "ada\n");
    notes.write(composed, "New", "new");
    notes.write("people", "Zed", "zed");
    let listed = |folder: &str| {
        let list = notes.ok("list_directory", json!({ "dir_name": folder })).structured;
        (list["directory"].as_str().unwrap().to_owned(), list["total"].as_u64().unwrap())
    };
    assert_eq!(listed(composed), (format!("/{apart}"), 2));
    assert_eq!(listed("people"), ("/People".to_owned(), 2));
    let glob = json!({ "file_name_glob": "*m\u{fc}ller*", "depth": 3 });
    assert_eq!(notes.ok("list_directory", glob).structured["total"], json!(1));
    for (url, count) in [(format!("memory://{composed}/*"), 2), ("memory://PEOPLE/*".into(), 2)] {
        let context = notes.ok("build_context", json!({ "url": url })).structured;
        assert_eq!(context["results"].as_array().unwrap().len(), count, "{url}");
    }
    let moving = json!({ "identifier": composed, "destination_path": "Office",
                         "is_directory": true });
    assert_eq!(notes.ok("move_note", moving).structured["total_files"], json!(2));
    assert_eq!(notes.file("main/Office/Plan Mu\u{308}ller.md"), "the plan\n");
    let deleting = |name: &str| json!({ "identifier": name, "is_directory": true });
    // Two matches are ambiguous; an exact name takes precedence.
    notes.person("main/people/other.md", "other\n");
    let refused = notes.refused("delete_note", deleting("PEOPLE"), "AMBIGUOUS_IDENTIFIER");
    assert_eq!(refused.structured["candidates"], json!(["main/People", "main/people"]));
    notes.ok("delete_note", deleting("people"));
    assert_eq!(notes.file("main/People/Ada.md"), "ada\n");
    assert_eq!(notes.ok("delete_note", deleting("PEOPLE")).structured["total_files"], json!(2));
}
