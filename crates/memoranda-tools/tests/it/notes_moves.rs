//! Links when notes move, and how callers are informed.

use memoranda_engine::HistoryFilter;
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
    let refused = notes.refused("move_note", unmoved, "DESTINATION_SAME_AS_SOURCE");
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
fn a_picture_is_linked_by_path_and_its_embeds_are_reported() {
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

/// Returns the targets of the links of a note.
fn leading(notes: &Notes, url: &str, project: &str) -> Vec<String> {
    let arguments = json!({ "url": url, "project": project });
    let context = notes.ok("build_context", arguments).structured;
    let primary = &context["results"][0];
    let related = primary["related_results"].as_array().unwrap().iter();
    let related = related.filter(|r| r["type"] == "entity");
    let mut found: Vec<String> =
        related.map(|r| r["file_path"].as_str().unwrap().to_owned()).collect();
    found.sort();
    found
}

#[test]
fn links_are_seen_from_the_folder_of_their_note() {
    let notes = Notes::new();
    let check = |link: &str, holder: &str, expected: &[&str]| {
        notes.person(&format!("main/{holder}.md"), &format!("[[{link}]]\n"));
        assert_eq!(leading(&notes, holder, "main"), expected, "[[{link}]] in {holder}");
    };
    for path in
        ["r1/Goal", "r1/Sub/Deep One", "r2/Goal", "r2/Sub/Deep One", "D/A/Same", "D/B/Same", "Goal"]
    {
        notes.person(&format!("main/{path}.md"), "text\n");
    }
    check("./Goal", "r1/h1", &["r1/Goal.md"]);
    check("./goal", "r2/h2", &["r2/Goal.md"]);
    check("../Goal", "r2/h3", &["Goal.md"]);
    check("../r1/Goal", "r2/h4", &["r1/Goal.md"]);
    check("Sub/Deep One", "r1/h5", &["r1/Sub/Deep One.md"]);
    check("Sub/Deep One", "r2/h6", &["r2/Sub/Deep One.md"]);
    check("../A/Same", "D/B/h7", &["D/A/Same.md"]);
    check("A/Same", "D/B/h8", &["D/A/Same.md"]);
    check("B/Same.md", "r1/h9", &["D/B/Same.md"]);
    check("../../Goal", "r1/h10", &[]);
    check("./Later", "r1/h11", &[]);
    // They are bound when what they name appears.
    notes.person("main/r1/Later.md", "text\n");
    assert_eq!(leading(&notes, "r1/h11", "main"), ["r1/Later.md"]);

    // And follow it when it moves; those that mean it still are let be.
    let relocate = |from: &str, to: &str| {
        let arguments = json!({ "identifier": from, "destination_path": to, "update_links": true });
        notes.ok("move_note", arguments)
    };
    relocate("r1/Goal.md", "r3/Target.md");
    assert_eq!(notes.file("main/r1/h1.md"), "[[r3/Target]]\n");
    assert_eq!(notes.file("main/r2/h4.md"), "[[r3/Target]]\n");
    relocate("D/A/Same.md", "E/A/Same.md");
    assert_eq!(notes.file("main/D/B/h8.md"), "[[A/Same]]\n");
    assert_eq!(notes.file("main/D/B/h7.md"), "[[E/A/Same]]\n");
    assert_eq!(leading(&notes, "D/B/h8", "main"), ["E/A/Same.md"]);
    // Links of a moved note are resolved from its new place.
    relocate("r2/h2.md", "r4/h2.md");
    assert_eq!(notes.file("main/r4/h2.md"), "[[r2/Goal]]\n");
    let folder = json!({
        "identifier": "r1", "destination_path": "r5", "is_directory": true, "update_links": true,
    });
    notes.ok("move_note", folder);
    assert_eq!(notes.file("main/r5/h11.md"), "[[./Later]]\n");
    assert_eq!(leading(&notes, "r5/h11", "main"), ["r5/Later.md"]);
    assert_eq!(leading(&notes, "r5/h5", "main"), ["r5/Sub/Deep One.md"]);
}

#[test]
fn a_link_may_name_the_project_first() {
    let notes = Notes::new();
    let check = |link: &str, holder: &str, expected: &[&str]| {
        notes.person(&format!("main/{holder}.md"), &format!("[[{link}]]\n"));
        assert_eq!(leading(&notes, holder, "main"), expected, "[[{link}]] in {holder}");
    };
    // Before there is such a project, and such a note.
    check("research/notes/paper", "h1", &[]);
    check("research/Paper", "h2", &[]);
    check("main/L", "h3", &[]);
    check("Research/Own", "h4", &[]);
    notes.person("research/notes/Paper.md", "text\n");
    notes.person("research/own.md", "---\npermalink: research/o/wn\n---\ntext\n");
    notes.person("main/L.md", "text\n");
    for holder in ["h1", "h2"] {
        assert_eq!(leading(&notes, holder, "main"), ["notes/Paper.md"], "{holder}");
    }
    assert_eq!(leading(&notes, "h3", "main"), ["L.md"]);
    assert_eq!(leading(&notes, "h4", "main"), ["own.md"]);
    check("research/o/wn", "h5", &["own.md"]);
    check("research/nothing", "h6", &[]);
    // A note of that very path in the project itself wins, as long as it is there.
    notes.person("main/research/notes/paper.md", "text\n");
    assert_eq!(leading(&notes, "h1", "main"), ["research/notes/paper.md"]);
    notes.ok("delete_note", json!({ "identifier": "research/notes/paper.md", "project": "main" }));
    assert_eq!(leading(&notes, "h1", "main"), ["notes/Paper.md"]);
    // It follows the note, and lets go of it.
    let relocate = json!({
        "identifier": "own.md", "project": "research", "destination_path": "x/Mine.md",
        "update_links": true,
    });
    notes.ok("move_note", relocate);
    assert_eq!(notes.file("main/h4.md"), "[[Research/Mine]]\n");
    assert_eq!(leading(&notes, "h4", "main"), ["x/Mine.md"]);
    notes.ok("delete_note", json!({ "identifier": "notes/Paper.md", "project": "research" }));
    assert_eq!(leading(&notes, "h1", "main"), [] as [&str; 0]);
    let scratch = tempfile::tempdir().unwrap();
    let report = notes.0.memory.check(scratch.path()).unwrap();
    assert_eq!(report.differing, [] as [&str; 0]);
}

#[test]
fn links_that_are_no_relations_follow_too() {
    let notes = Notes::new();
    notes.person("main/a/Target One.md", "text [out](../Other.md)\n");
    notes.person("main/Other.md", "text\n");
    notes.person(
        "main/Up.md",
        "---\nup: \"[[Target One]]\"\nl: [\"[[Other]]\"]\n---\n[[Target One]]\n",
    );
    notes.person(
        "main/a/Md.md",
        "[x](Target%20One.md#H) [y](<Target One.md>) [z](https://Target)\n",
    );
    notes.person("main/b/Top.md", "[x](a/Target%20One.md) [y](../a/Target%20One.md)\n");
    let board = |file: &str| format!("{{\"nodes\":[{{\"id\":\"1\",\"file\":\"{file}\"}}]}}\n");
    notes.person("main/Board.canvas", &board("a/Target One.md"));
    let arguments = json!({ "identifier": "a/Target One.md", "destination_path": "c/d/Goal.md",
                            "update_links": true });
    let moved = notes.ok("move_note", arguments);
    assert_eq!(
        notes.file("main/Up.md"),
        "---\nup: \"[[Goal]]\"\nl: [\"[[Other]]\"]\n---\n[[Goal]]\n"
    );
    assert_eq!(
        notes.file("main/a/Md.md"),
        "[x](../c/d/Goal.md#H) [y](<../c/d/Goal.md>) [z](https://Target)\n"
    );
    assert_eq!(notes.file("main/b/Top.md"), "[x](c/d/Goal.md) [y](../c/d/Goal.md)\n");
    assert_eq!(notes.file("main/Board.canvas"), board("c/d/Goal.md"));
    assert_eq!(notes.file("main/c/d/Goal.md"), "text [out](../../Other.md)\n");
    let updated = json!([
        { "file_path": "Board.canvas", "count": 1 },
        { "file_path": "Up.md", "count": 2 },
        { "file_path": "a/Md.md", "count": 2 },
        { "file_path": "c/d/Goal.md", "count": 1 },
        { "file_path": "b/Top.md", "count": 2 },
    ]);
    let mut found = moved.structured["updated_links"].as_array().unwrap().clone();
    found.sort_by_key(|link| link["file_path"].as_str().unwrap().to_owned());
    let mut expected = updated.as_array().unwrap().clone();
    expected.sort_by_key(|link| link["file_path"].as_str().unwrap().to_owned());
    assert_eq!(found, expected);
    // A folder, and what was moved before.
    notes.person("main/e/One.md", "[two](Two.md) [other](../Other.md)\n");
    notes.person("main/e/Two.md", "text\n");
    notes.person("main/E.md", "---\nup: \"[[e/One]]\"\n---\n[one](e/One.md)\n");
    let folder = json!({ "identifier": "e", "destination_path": "f/e2", "is_directory": true });
    notes.ok("move_note", folder);
    let again = json!({ "identifier": "f/e2", "destination_path": "f/e2", "is_directory": true,
                        "update_links": true });
    notes.ok("move_note", again);
    assert_eq!(notes.file("main/E.md"), "---\nup: \"[[f/e2/One]]\"\n---\n[one](f/e2/One.md)\n");
    assert_eq!(notes.file("main/f/e2/One.md"), "[two](Two.md) [other](../../Other.md)\n");
}

/// Report of the links that a move leaves unchanged.
fn outdated(moved: &Value) -> Vec<(&str, &str)> {
    let links = moved["outdated_links"].as_array().unwrap().iter();
    links.map(|l| (l["file_path"].as_str().unwrap(), l["link"].as_str().unwrap())).collect()
}

#[test]
fn a_link_by_the_name_of_the_file_follows_whatever_the_title_says() {
    let notes = Notes::new();
    notes.write("T", "Alpha", "# Alpha");
    notes.person("main/T/by-file.md", "---\ntitle: By Title\n---\nx\n");
    notes.person(
        "main/T/User.md",
        "[[Alpha]] [[alpha|a]] [[T/Alpha#x]] [[t/alpha]] ![[Alpha.md]] [[By Title]] [[by-file]]\n",
    );
    notes.person("main/Up.md", "---\nup: \"[[Alpha]]\"\n---\n");
    let to = |from: &str, to: &str, update: bool| json!({ "identifier": from, "destination_path": to, "update_links": update });
    let moved = notes.ok("move_note", to("T/Alpha.md", "T/Beta.md", false)).structured;
    let user = |link| ("T/User.md", link);
    assert_eq!(
        outdated(&moved),
        [
            user("Alpha"),
            user("Alpha.md"),
            user("T/Alpha"),
            user("alpha"),
            user("t/alpha"),
            ("Up.md", "Alpha")
        ]
    );
    // Links that were left are reported again after the next move.
    let moved = notes.ok("move_note", to("T/Beta.md", "T/Gamma.md", true)).structured;
    assert_eq!(outdated(&moved), []);
    assert_eq!(
        notes.file("main/T/User.md"),
        "[[T/Gamma]] [[T/Gamma|a]] [[T/Gamma#x]] [[T/Gamma]] ![[T/Gamma.md]] [[By Title]] [[by-file]]\n"
    );
    assert_eq!(notes.file("main/Up.md"), "---\nup: \"[[T/Gamma]]\"\n---\n");
    // One by the title holds here, and never led anywhere elsewhere.
    notes.ok("move_note", to("T/by-file.md", "T/named.md", true));
    assert!(notes.file("main/T/User.md").ends_with(" [[By Title]] [[T/named]]\n"));
    // Another note with the old name becomes the target.
    notes.person("main/N/One.md", "---\ntitle: One\n---\n");
    notes.ok("move_note", to("N/One.md", "N/Two.md", true));
    notes.person("main/N/One.md", "another\n");
    notes.person("main/N/User.md", "[[N/One]]\n");
    notes.ok("move_note", to("N/Two.md", "N/Three.md", true));
    assert_eq!(notes.file("main/N/User.md"), "[[N/One]]\n");
}

#[test]
fn links_that_a_move_leaves_are_reported_and_can_be_updated() {
    let notes = Notes::new();
    notes.person("main/A\u{e4}.md", "target\n");
    notes.person("main/md.md", "see [a](A\u{e4}.md) and [b](./A%C3%A4.md#x)\n");
    notes.person("main/encoded.md", "see [b](./A%C3%A4.md#x)\n");
    notes.person("main/ref.md", "see [a][r]\n\n[r]: A\u{e4}.md\n");
    notes.person("main/fm.md", "---\nup: \"[[A\u{e4}]]\"\n---\nx\n");
    let board = |file: &str, name: &str| {
        format!("{{\"nodes\":[{{\"file\":\"{file}\"}},{{\"text\":\"see [[{name}]]\"}}]}}\n")
    };
    notes.person("main/a/board.canvas", &board("A\\u00e4.md", "A\u{e4}"));
    let latin = |name: &str| [b"caf\xe9 ", name.as_bytes(), b"\n"].concat();
    std::fs::write(notes.0.path("main/latin.md"), latin("[[A\u{e4}]]")).unwrap();
    notes.person("main/plain.md", "[[A\u{e4}]]\n");
    let to = |from: &str, update: bool| json!({ "identifier": from, "destination_path": "B/C.md", "update_links": update });
    let moved = notes.ok("move_note", to("A\u{e4}.md", false));
    let expected = [
        ("a/board.canvas", "A\u{e4}"),
        ("a/board.canvas", "A\u{e4}.md"),
        ("encoded.md", "./A\u{e4}.md"),
        ("fm.md", "A\u{e4}"),
        ("latin.md", "A\u{e4}"),
        ("md.md", "./A\u{e4}.md"),
        ("md.md", "A\u{e4}.md"),
        ("plain.md", "A\u{e4}"),
        ("ref.md", "A\u{e4}.md"),
    ];
    assert_eq!(outdated(&moved.structured), expected);
    assert!(moved.text.contains("- (A\u{e4}.md) in ref.md\n"), "{}", moved.text);
    let updated = notes.ok("move_note", to("B/C.md", true)).structured;
    let count = |link: &Value| link["count"].as_u64().unwrap();
    let links: u64 = updated["updated_links"].as_array().unwrap().iter().map(count).sum();
    assert_eq!(links, 9, "{updated}");
    assert_eq!(notes.file("main/md.md"), "see [a](B/C.md) and [b](B/C.md#x)\n");
    assert_eq!(notes.file("main/encoded.md"), "see [b](B/C.md#x)\n");
    assert_eq!(notes.file("main/ref.md"), "see [a][r]\n\n[r]: B/C.md\n");
    assert_eq!(notes.file("main/fm.md"), "---\nup: \"[[C]]\"\n---\nx\n");
    assert_eq!(notes.file("main/a/board.canvas"), board("B/C.md", "C"));
    assert_eq!(std::fs::read(notes.0.path("main/latin.md")).unwrap(), latin("[[C]]"));
    assert_eq!(notes.file("main/plain.md"), "[[C]]\n");
    let deleted = notes.ok("delete_note", json!({ "identifier": "B/C.md" }));
    assert!(deleted.text.contains("9 links to it without a target now"), "{}", deleted.text);
}

/// Files by what they say, a move, and what they say then.
fn check_meaning(files: &[(&str, &str)], from: &str, to: &str, expected: &[(&str, &str, &str)]) {
    for update in [true, false] {
        let notes = Notes::new();
        for (path, text) in files {
            notes.person(&format!("main/{path}.md"), &format!("{text}\n"));
        }
        let note_then = |path: &str| if path == from { to.to_owned() } else { path.to_owned() };
        let arguments = json!({ "identifier": format!("{from}.md"), "update_links": update,
                                "destination_path": format!("{to}.md") });
        let moved = notes.ok("move_note", arguments);
        let mut told: Vec<_> = outdated(&moved.structured);
        told.dedup();
        for (path, text, leads_to) in expected {
            let file = notes.file(&format!("main/{}.md", note_then(path)));
            let before = files.iter().find(|(holder, _)| holder == path).unwrap().1;
            if !update {
                assert_eq!(file, format!("{before}\n"), "{path}: nothing is changed unasked");
                let holder = format!("{}.md", note_then(path));
                let is_told = told.iter().any(|(file, _)| *file == holder);
                assert_eq!(is_told, before != *text, "{path}: {}", moved.text);
                continue;
            }
            assert_eq!(file, format!("{text}\n"), "{path}");
            let leading = leading(&notes, &note_then(path), "main");
            assert_eq!(leading, [format!("{leads_to}.md")], "{path}");
        }
    }
}

#[test]
fn a_link_means_the_same_note_after_a_move() {
    // The shortest name is another note's.
    check_meaning(
        &[("a/Plan", ""), ("b/Draft", ""), ("n", "[[Draft]]"), ("b/n", "[[Draft]]")],
        "b/Draft",
        "b/Plan",
        &[("n", "[[b/Plan]]", "b/Plan"), ("b/n", "[[Plan]]", "b/Plan")],
    );
    // It was the nearest of its name, and is no more.
    check_meaning(
        &[("a/Same", ""), ("b/Same", ""), ("a/src", "[[Same|x]]"), ("b/src", "[[Same]]")],
        "a/Same",
        "z/Same",
        &[("a/src", "[[z/Same|x]]", "z/Same"), ("b/src", "[[Same]]", "b/Same")],
    );
    // Another comes nearer, or by the name.
    check_meaning(
        &[("b/Same", ""), ("x/Same", ""), ("a/src", "[[Same]]"), ("q/src", "[[Same]]")],
        "x/Same",
        "a/Same",
        &[("a/src", "[[b/Same]]", "b/Same"), ("q/src", "[[b/Same]]", "b/Same")],
    );
    check_meaning(
        &[("b/Same", ""), ("x/Other", ""), ("a/src", "[[Same.md#h]]")],
        "x/Other",
        "a/Same",
        &[("a/src", "[[b/Same.md#h]]", "b/Same")],
    );
    // The note with the link moves to a folder with a nearer target.
    check_meaning(
        &[("a/Same", ""), ("b/Same", ""), ("a/src", "[[Same]]"), ("b/x", "")],
        "a/src",
        "b/src",
        &[("a/src", "[[a/Same]]", "a/Same")],
    );
    // A path that is also seen from the folder of the link begins at the top.
    check_meaning(
        &[("b/Draft", ""), ("a/b/Plan", ""), ("a/Plan", ""), ("a/n", "[[Draft]]")],
        "b/Draft",
        "b/Plan",
        &[("a/n", "[[/b/Plan]]", "b/Plan")],
    );
    // One that only leads to it for want of a better note is let be.
    check_meaning(
        &[("a/C++", ""), ("n", "[[C#]]"), ("m", "[[C++]]"), ("c/C", "")],
        "a/C++",
        "z/C++",
        &[("m", "[[C++]]", "z/C++")],
    );
}

#[test]
fn links_that_are_no_relations_mean_the_same_note_after_a_move() {
    let notes = Notes::new();
    for path in ["a/Plan", "b/Draft", "a/Same", "c/Same"] {
        notes.person(&format!("main/{path}.md"), "text\n");
    }
    notes.person("main/Up.md", "---\nup: \"[[Draft]]\"\n---\n");
    notes.person("main/a/Up.md", "---\nup: \"[[Same]]\"\n---\n");
    notes.person("main/c/Up.md", "---\nup: \"[[Same]]\"\n---\n");
    let to = |from: &str, to: &str| json!({ "identifier": from, "destination_path": to, "update_links": true });
    notes.ok("move_note", to("b/Draft.md", "b/Plan.md"));
    assert_eq!(notes.file("main/Up.md"), "---\nup: \"[[b/Plan]]\"\n---\n");
    let mut keep = to("a/Same.md", "z/Same.md");
    keep["update_links"] = json!(false);
    let kept = notes.ok("move_note", keep);
    let link = json!([{ "file_path": "a/Up.md", "link": "Same", "means": "c/Same.md" }]);
    assert_eq!(kept.structured["outdated_links"], link, "{}", kept.text);
    assert!(kept.text.contains("- [[Same]] in a/Up.md means c/Same.md\n"), "{}", kept.text);
    assert!(!kept.text.contains("old name"), "{}", kept.text);
    notes.ok("move_note", json!({ "identifier": "z/Same.md", "destination_path": "a/Same.md" }));
    notes.ok("move_note", to("a/Same.md", "z/Same.md"));
    assert_eq!(notes.file("main/a/Up.md"), "---\nup: \"[[z/Same]]\"\n---\n");
    assert_eq!(notes.file("main/c/Up.md"), "---\nup: \"[[Same]]\"\n---\n");
}

#[test]
fn a_project_goes_by_the_name_that_it_had_elsewhere() {
    let notes = Notes::new();
    // Before there is such a project, and after.
    notes.person("main/early.md", "[[Research Lab::Paper]]\n");
    assert_eq!(leading(&notes, "early", "main"), [""; 0]);
    notes.person("research-lab/Paper.md", "text\n");
    notes.person("main/late.md", "[[Research Lab::Paper]]\n");
    for holder in ["early", "late"] {
        assert_eq!(leading(&notes, holder, "main"), ["Paper.md"], "{holder}");
    }
    for project in ["Research Lab", "research_lab", "RESEARCH-LAB", "research-lab"] {
        let read = notes.ok("read_note", json!({ "identifier": "Paper", "project": project }));
        assert_eq!(read.structured["project"], json!("research-lab"), "{project}");
    }
    for (identifier, project) in
        [("Research Lab/Paper.md", None), ("Research Lab/Paper.md", Some("Research Lab"))]
    {
        let edit = json!({ "identifier": identifier, "project": project, "operation": "append",
                           "content": "more" });
        let edited = notes.ok("edit_note", edit).structured;
        assert_eq!(edited["file_path"], json!("Paper.md"), "{identifier} {project:?}");
    }
    let context = notes.ok("build_context", json!({ "url": "memory://Research Lab/*" }));
    assert_eq!(context.structured["results"].as_array().unwrap().len(), 1);
    // A folder of the project takes precedence over another project with a similar name.
    notes.person("main/Research Lab/Own.md", "text\n");
    let context = notes.ok("build_context", json!({ "url": "memory://Research Lab/*" }));
    assert_eq!(
        context.structured["results"][0]["primary_result"]["file_path"],
        json!("Research Lab/Own.md")
    );
    // Two matching folders are ambiguous; an exact name takes precedence.
    notes.person("research_lab/Other.md", "text\n");
    notes.refused(
        "read_note",
        json!({ "identifier": "Paper", "project": "Research Lab" }),
        "PROJECT_NOT_FOUND",
    );
    notes.ok("read_note", json!({ "identifier": "Paper", "project": "research-lab" }));
    let scratch = tempfile::TempDir::new().unwrap();
    let report = notes.0.memory.check(scratch.path()).unwrap();
    assert_eq!(report.differing, [""; 0]);
}

#[test]
fn a_link_that_names_its_own_project_first_is_followed_in_the_past() {
    let notes = Notes::new();
    notes.write("", "Goal", "text");
    notes.write("", "Holder", "[[main/Goal]]");
    let then = notes.write("", "Other", "[[main/Goal]]").structured["commit"].clone();
    for name in ["Goal", "Holder"] {
        let edit = json!({ "identifier": name, "operation": "append", "content": "more" });
        notes.ok("edit_note", edit);
    }
    for holder in ["holder", "other"] {
        let arguments = json!({ "url": holder, "project": "main", "as_of": then });
        let context = notes.ok("build_context", arguments).structured;
        let related = &context["results"][0]["related_results"];
        let is_goal = |r: &serde_json::Value| r["file_path"] == "Goal.md";
        assert!(related.as_array().unwrap().iter().any(is_goal), "{holder}: {related}");
    }
}

#[test]
fn an_archived_note_is_not_read_for_its_successor() {
    let notes = Notes::new();
    let memory = |arguments: Value| notes.ok("memory", arguments);
    let write = |text: &str| {
        memory(json!({ "command": "create", "path": "/memories/current.md", "file_text": text }));
    };
    let moment = || {
        let last = notes.0.memory.log(&HistoryFilter::default(), 1, 0).unwrap();
        last[0].id.to_string()
    };
    write("the old heron\n");
    let at_first = moment();
    memory(json!({ "command": "rename", "old_path": "/memories/current.md",
                   "new_path": "/memories/archive/old.md" }));
    let archived = moment();
    write("the new stork\n");
    let at_last = moment();
    notes.person("memories/links.md", "- to [[current]]\n");
    notes.person("memories/archive/links.md", "- to [[current]]\n");
    notes.person("main/links.md", "- to [[memories::current]]\n");
    let check = |identifier: &str, as_of: Option<&String>, expected: (&str, &str)| {
        let (path, text) = expected;
        let named = json!({ "identifier": identifier, "project": "memories", "as_of": as_of });
        let read = notes.ok("read_note", named);
        assert_eq!(read.structured["file_path"], json!(path), "{identifier} {as_of:?}");
        assert!(read.text.starts_with(text), "{}", read.text);
        let named = json!({ "url": format!("memory://{identifier}"), "project": "memories",
                            "as_of": as_of });
        let context = notes.ok("build_context", named).structured;
        let found = &context["results"][0]["primary_result"];
        assert_eq!(found["file_path"], json!(path), "{identifier} {as_of:?}");
    };
    for (identifier, as_of, expected) in [
        ("current", None, ("current.md", "the new stork")),
        ("current", Some(&at_first), ("current.md", "the old heron")),
        ("current", Some(&archived), ("archive/old.md", "the old heron")),
        ("current", Some(&at_last), ("current.md", "the new stork")),
        ("archive/old", None, ("archive/old.md", "the old heron")),
        ("archive/old", Some(&at_last), ("archive/old.md", "the old heron")),
    ] {
        check(identifier, as_of, expected);
    }
    // Links mean what a reader gets, from wherever they are looked at.
    for (project, links) in
        [("memories", "links"), ("memories", "archive/links"), ("main", "links")]
    {
        let named = json!({ "url": format!("memory://{links}"), "project": project });
        let context = notes.ok("build_context", named).structured;
        let related = &context["results"][0]["related_results"][0];
        assert_eq!(related["file_path"], json!("current.md"), "{project} {links}");
    }
    // The other one is named, in no line that would be written back with the text.
    let named = json!({ "identifier": "current", "project": "memories" });
    let read = notes.ok("read_note", named.clone());
    let other = "another note of this name: memories/archive/old.md";
    assert!(read.text.lines().last().is_some_and(|last| last.contains(other)), "{}", read.text);
    assert_eq!(read.structured["other_of_this_name"], json!("memories/archive/old.md"));
    assert!(notes.ok("view_note", named).text.contains(other));
    let mut context = json!({ "url": "memory://current", "project": "memories" });
    let found = notes.ok("build_context", context.clone()).structured;
    assert_eq!(found["metadata"]["other_of_this_name"], json!("memories/archive/old.md"));
    context["output_format"] = json!("text");
    assert!(notes.ok("build_context", context).text.contains(other));
    let change = json!({ "identifier": "current", "project": "memories", "operation": "append",
                         "content": "x" });
    notes.refused("edit_note", change, "AMBIGUOUS_IDENTIFIER");
}

#[test]
fn two_empty_destinations_are_rejected() {
    let notes = Notes::new();
    notes.write("a", "Plan", "x");
    let to = |arguments: Value| {
        let mut arguments = arguments;
        arguments["identifier"] = json!("Plan");
        arguments
    };
    for path in ["", " "] {
        let empty = to(json!({ "destination_path": path, "destination_folder": "" }));
        let refused = notes.refused("move_note", empty, "MISSING_DESTINATION");
        assert!(refused.text.contains("\"/\" is the top"), "{}", refused.text);
    }
    notes.refused("move_note", to(json!({ "destination_path": "" })), "MISSING_DESTINATION");
    let moved = notes.ok("move_note", to(json!({ "destination_folder": "" })));
    assert_eq!(moved.structured["file_path"], json!("Plan.md"));
    notes.ok("move_note", to(json!({ "destination_folder": "b" })));
    let top = to(json!({ "destination_path": "", "destination_folder": "/" }));
    assert_eq!(notes.ok("move_note", top).structured["file_path"], json!("Plan.md"));
}

#[test]
fn existing_notes_can_be_moved_whatever_their_name() {
    let notes = Notes::new();
    let made = notes.write("", "CON", "x").structured;
    assert_eq!(made["file_path"], json!("CON-.md"));
    assert_eq!(made["title"], json!("CON"));
    notes.person("main/aux/Why?.md", "x\n");
    let relocate = |from: &str, key: &str, to: &str| {
        let moved = notes.ok("move_note", json!({ "identifier": from, key: to })).structured;
        assert_eq!(moved["moved"], json!(true), "{moved}");
    };
    relocate("CON", "destination_folder", "aux");
    relocate("aux/Why?.md", "destination_folder", "b");
    relocate("b/Why?.md", "destination_path", "b/Why.md");
    // New names are those that every system can have.
    for to in ["b/nul.md", "prn/Why.md", "b/Why*.md"] {
        let arguments = json!({ "identifier": "b/Why.md", "destination_path": to });
        notes.refused("move_note", arguments, "INVALID_PATH");
    }
}
