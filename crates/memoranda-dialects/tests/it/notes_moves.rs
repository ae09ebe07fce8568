//! What becomes of links when notes move, and what is told of it.

use serde_json::{Value, json};

use crate::notes_support::Notes;

#[test]
fn only_links_that_say_the_name_are_updated() {
    let notes = Notes::new();
    notes.person("main/C++.md", "plus\n");
    notes.person("main/A.md", "- uses [[C#]]\n- x [[C++]]\n- y [[c++]]\n");
    let update = json!({ "identifier": "C++", "destination_path": "Cpp.md", "update_links": true });
    let moved = notes.ok("move_note", update).structured;
    assert_eq!(moved["updated_links"], json!([{ "file_path": "A.md", "count": 2 }]));
    assert_eq!(notes.file("main/A.md"), "- uses [[C#]]\n- x [[Cpp]]\n- y [[Cpp]]\n");
}

#[test]
fn links_may_say_the_extension() {
    let notes = Notes::new();
    notes.person("main/a/Target.md", "# Head\nthe heron\n");
    notes.person("main/x/file.markdown", "the stork\n");
    let links = "- one [[a/Target.md]]\n- two [[a/Target.md#Head|x]]\n- three [[Target.md]]\n\
                 - four [[x/file.markdown]]\n";
    notes.person("main/Links.md", links);
    let context = notes.ok("build_context", json!({ "url": "memory://links" })).structured;
    assert_eq!(context["results"][0]["unresolved"], json!([]));
    let update = json!({ "identifier": "a/Target.md", "destination_path": "b/Goal.md",
                         "update_links": true });
    notes.ok("move_note", update);
    assert_eq!(
        notes.file("main/Links.md"),
        "- one [[b/Goal.md]]\n- two [[b/Goal.md#Head|x]]\n- three [[Goal.md]]\n\
         - four [[x/file.markdown]]\n"
    );
}

#[test]
fn links_to_a_moved_folder_can_be_updated_later() {
    let notes = Notes::new();
    notes.person("main/old/One.md", "- with [[old/Two]]\n");
    notes.person("main/old/deep/Two.md", "- back [[old/One]]\n");
    notes.person("main/old/Two.md", "two\n");
    notes.person("main/Top.md", "- to [[old/One]]\n");
    let moved = notes.ok(
        "move_note",
        json!({ "identifier": "old", "destination_path": "new", "is_directory": true }),
    );
    let outdated = moved.structured["outdated_links"].as_array().unwrap();
    let holders: Vec<&str> =
        outdated.iter().filter_map(|link| link["file_path"].as_str()).collect();
    assert_eq!(holders, ["Top.md", "new/One.md", "new/deep/Two.md"], "{}", moved.text);
    assert!(moved.text.contains("[[old/Two]] in new/One.md"), "{}", moved.text);
    // The call that the answer offers.
    let offered = json!({ "identifier": "new", "destination_path": "new", "is_directory": true,
                          "update_links": true });
    let updated = notes.ok("move_note", offered.clone());
    assert_eq!(updated.structured["moved"], json!(false));
    assert_eq!(notes.file("main/Top.md"), "- to [[new/One]]\n");
    assert_eq!(notes.file("main/new/One.md"), "- with [[new/Two]]\n");
    assert_eq!(notes.file("main/new/deep/Two.md"), "- back [[new/One]]\n");
    // Again there is nothing to do; where nothing was ever moved, that is said.
    notes.ok("move_note", offered);
    notes.write("here", "Plain", "x");
    let unmoved = json!({ "identifier": "here", "destination_path": "here", "is_directory": true,
                          "update_links": true });
    let refused = notes.refused("move_note", unmoved, "INVALID_REQUEST");
    assert!(refused.text.starts_with("main/here is already there"), "{}", refused.text);
    let within =
        json!({ "identifier": "here", "destination_path": "here/in", "is_directory": true });
    let refused = notes.refused("move_note", within, "INVALID_REQUEST");
    assert!(refused.text.starts_with("main/here cannot"), "{}", refused.text);
}

#[test]
fn long_lists_of_links_are_cut() {
    let notes = Notes::new();
    notes.person("main/old/Hub.md", "hub\n");
    for n in 0..250 {
        let path = notes.0.path(&format!("main/n/{n:03}.md"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "- to [[old/Hub]]\n").unwrap();
    }
    notes.person("main/n/last.md", "- to [[old/Hub]]\n");
    let to = |from: &str, to: &str, update: bool| json!({ "identifier": from, "destination_path": to, "update_links": update });
    let length = |value: &Value| value.as_array().unwrap().len();
    let moved = notes.ok("move_note", to("old/Hub.md", "new/Hub.md", false));
    assert_eq!(length(&moved.structured["outdated_links"]), 200);
    assert_eq!(moved.structured["outdated_links_left_out"], json!(51));
    assert!(moved.text.contains("251 links"), "{}", moved.text);
    assert!(moved.text.contains("- … and 231 more\n"), "{}", moved.text);
    let updated = notes.ok("move_note", to("new/Hub.md", "new/Hub.md", true)).structured;
    assert_eq!(length(&updated["updated_links"]), 200);
    assert_eq!(updated["updated_links_left_out"], json!(51));
    let deleted = json!({ "identifier": "n", "is_directory": true });
    let deleted = notes.ok("delete_note", deleted).structured;
    assert_eq!(length(&deleted["deleted_files"]), 200);
    assert_eq!(deleted["deleted_files_left_out"], json!(51));
    assert_eq!(deleted["total_files"], json!(251));
}

#[test]
fn a_picture_goes_by_its_path_and_its_embeds_are_told() {
    let notes = Notes::new();
    notes.person("main/a/img.png", "PNG");
    notes.person("main/Page.md", "Look: ![[img.png]] and ![[a/img.png]].\n");
    let to = json!({ "identifier": "a/img.png", "destination_path": "b/pic.png" });
    let moved = notes.ok("move_note", to);
    assert!(!moved.text.contains("(kept)"), "{}", moved.text);
    let outdated = moved.structured["outdated_links"].as_array().unwrap();
    let names: Vec<&str> = outdated.iter().filter_map(|link| link["link"].as_str()).collect();
    assert_eq!(names, ["a/img.png", "img.png"], "{}", moved.text);
    let update =
        json!({ "identifier": "b/pic.png", "destination_path": "b/pic.png", "update_links": true });
    notes.ok("move_note", update);
    assert_eq!(notes.file("main/Page.md"), "Look: ![[pic.png]] and ![[b/pic.png]].\n");
}
