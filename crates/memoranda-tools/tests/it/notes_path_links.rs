//! Paths in Markdown links, also after files are moved or deleted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::notes_support::Notes;

fn vault(files: &[(&str, &str)]) -> Notes {
    let notes = Notes::new();
    for (path, text) in files {
        notes.person(&format!("main/{path}"), text);
    }
    notes
}

fn request(from: &str, to: &str) -> Value {
    let is_directory = !from.contains('.');
    json!({ "identifier": from, "destination_path": to, "is_directory": is_directory })
}

/// Moves a file or folder and checks that only the listed files changed, given by their new path
/// with their new text. Without `update_links` nothing changes, and exactly these files are reported.
#[track_caller]
fn check(files: &[(&str, &str)], from: &str, to: &str, changed: &[(&str, &str)]) {
    let then = |path: &str| match path.strip_prefix(from) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{to}{rest}"),
        _ => path.to_owned(),
    };
    let notes = vault(files);
    let mut update = request(from, to);
    update["update_links"] = json!(true);
    let moved = notes.ok("move_note", update.clone());
    for (path, text) in files {
        let then = then(path);
        let expected = changed.iter().find(|(changed, _)| *changed == then);
        let expected = expected.map_or(*text, |(_, text)| text);
        assert_eq!(notes.file(&format!("main/{then}")), expected, "{then}: {}", moved.text);
    }
    let kept = vault(files);
    let moved = kept.ok("move_note", request(from, to));
    let outdated = moved.structured["outdated_links"].as_array().unwrap();
    let told: BTreeSet<&str> = outdated.iter().map(|l| l["file_path"].as_str().unwrap()).collect();
    let expected: BTreeSet<&str> = changed.iter().map(|(path, _)| *path).collect();
    assert_eq!(told, expected, "{}", moved.text);
    for (path, text) in files {
        assert_eq!(kept.file(&format!("main/{}", then(path))), *text);
    }
}

#[test]
fn a_path_is_resolved_relative_to_its_note_first() {
    let readme = [
        ("README.md", "top\n"),
        ("app/README.md", "app\n"),
        ("app/guide.md", "See [readme](README.md), [it](<README.md>) and [up](../README.md).\n"),
        ("lib/guide.md", "See [readme](README.md).\n\n<a href=\"README.md\">x</a>\n"),
    ];
    check(
        &readme,
        "README.md",
        "docs/Overview.md",
        &[
            (
                "app/guide.md",
                "See [readme](README.md), [it](<README.md>) and [up](../docs/Overview.md).\n",
            ),
            (
                "lib/guide.md",
                "See [readme](docs/Overview.md).\n\n<a href=\"docs/Overview.md\">x</a>\n",
            ),
        ],
    );
    check(
        &readme,
        "app/README.md",
        "app/Start.md",
        &[("app/guide.md", "See [readme](Start.md), [it](<Start.md>) and [up](../README.md).\n")],
    );
    let picture = [("p.png", "top"), ("a/p.png", "own"), ("a/x.md", "![](p.png)\n")];
    check(&picture, "p.png", "img/p.png", &[]);
    check(&picture, "a/p.png", "a/i/p.png", &[("a/x.md", "![](i/p.png)\n")]);
    let same = [("b/Same.md", "top\n"), ("a/b/Same.md", "own\n"), ("a/x.md", "[m](b/Same.md)\n")];
    check(&same, "b/Same.md", "c/Same.md", &[]);
    check(&same, "a/b/Same.md", "a/c/Same.md", &[("a/x.md", "[m](c/Same.md)\n")]);
}

#[test]
fn a_path_may_begin_at_the_top_or_be_a_name_that_one_file_has() {
    let top = [("c/Delta.md", "text\n"), ("a/x.md", "[m](c/Delta.md)\n")];
    check(&top, "c/Delta.md", "d/New.md", &[("a/x.md", "[m](d/New.md)\n")]);
    // Where that would be another file, it is seen from the folder.
    check(
        &[("c/Delta.md", ""), ("a/d/New.md", ""), ("a/x.md", "[m](c/Delta.md)\n")],
        "c/Delta.md",
        "d/New.md",
        &[("a/x.md", "[m](../d/New.md)\n")],
    );
    let name = [("c/Delta.md", "text\n"), ("a/x.md", "[m](Delta.md#h) ![[Delta]]\n")];
    check(&name, "c/Delta.md", "d/Delta.md", &[]);
    check(&name, "c/Delta.md", "d/New.md", &[("a/x.md", "[m](New.md#h) ![[New]]\n")]);
    check(
        &[("c/Delta.md", ""), ("e/New.md", ""), ("a/x.md", "[m](Delta.md)\n")],
        "c/Delta.md",
        "d/New.md",
        &[("a/x.md", "[m](d/New.md)\n")],
    );
    // Two files with the name are ambiguous.
    check(
        &[("c/Delta.md", ""), ("e/Delta.md", ""), ("a/x.md", "[m](Delta.md) [n](./c/Delta.md)\n")],
        "c/Delta.md",
        "d/New.md",
        &[],
    );
    // A file at a place with precedence would become the target.
    check(
        &[("c/Delta.md", ""), ("e/New.md", ""), ("a/x.md", "[m](Delta.md)\n")],
        "e/New.md",
        "a/Delta.md",
        &[("a/x.md", "[m](c/Delta.md)\n")],
    );
    // A note that moves sees others from its new folder.
    check(
        &[("a/B.md", ""), ("c/U.md", ""), ("a/x.md", "[b](B.md) [u](U.md) [c](c/U.md)\n")],
        "a/x.md",
        "z/x.md",
        &[("z/x.md", "[b](../a/B.md) [u](U.md) [c](c/U.md)\n")],
    );
}

#[test]
fn a_slash_in_front_of_a_path_is_the_top_of_the_project() {
    let own = [
        ("Alpha.md", "top\n"),
        ("c/Alpha.md", "own\n"),
        ("c/D.md", "[m](/Alpha.md) [n](Alpha.md) [o](</c/Alpha.md>)\n"),
    ];
    check(
        &own,
        "c/D.md",
        "n/D.md",
        &[("n/D.md", "[m](/Alpha.md) [n](../c/Alpha.md) [o](</c/Alpha.md>)\n")],
    );
    check(
        &own,
        "Alpha.md",
        "x/A B.md",
        &[("c/D.md", "[m](/x/A%20B.md) [n](Alpha.md) [o](</c/Alpha.md>)\n")],
    );
    let delta = [("c/Delta.md", ""), ("a/x.md", "[m](/c/Delta.md) [n](/Delta.md)\n")];
    check(&delta, "c/Delta.md", "d/E.md", &[("a/x.md", "[m](/d/E.md) [n](/Delta.md)\n")]);
    check(
        &[("f/A.md", ""), ("f/B.md", "[a](/f/A.md)\n"), ("C.md", "[a](/f/A.md)\n")],
        "f",
        "g",
        &[("g/B.md", "[a](/g/A.md)\n"), ("C.md", "[a](/g/A.md)\n")],
    );
}

#[test]
fn a_deletion_counts_the_broken_path_links() {
    for (files, going, lost, drawn) in [
        (&[("R.md", ""), ("a/R.md", ""), ("a/x.md", "[r](R.md)\n")][..], "R.md", 0, json!([])),
        (
            &[("R.md", ""), ("a/R.md", ""), ("a/x.md", "[r](R.md) [s](./R.md)\n")],
            "a/R.md",
            1,
            json!([{ "file_path": "a/x.md", "link": "R.md", "means": "R.md" }]),
        ),
        (&[("c/R.md", ""), ("a/x.md", "[r](R.md) [s](/R.md)\n")], "c/R.md", 1, json!([])),
        (&[("c/R.md", ""), ("a/x.md", "[r](/c/R.md)\n")], "c/R.md", 1, json!([])),
    ] {
        let deleted = vault(files).ok("delete_note", json!({ "identifier": going }));
        assert_eq!(deleted.structured["unresolved_links"], json!(lost), "{}", deleted.text);
        assert_eq!(deleted.structured["outdated_links"], drawn, "{}", deleted.text);
    }
}

#[test]
fn links_of_a_note_that_its_move_broke_are_called_its_own() {
    let files = [
        ("a/B.md", "text\n"),
        ("a/N.md", "[b](B.md) [c](../C.md) [[./B]] [[../C#h|x]] [n](N.md)\n"),
        ("C.md", "[n](a/N.md)\n"),
    ];
    let keep = |notes: &Notes, from: &str, to: &str| notes.ok("move_note", request(from, to));
    let update = |notes: &Notes, from: &str, to: &str| {
        let mut arguments = request(from, to);
        arguments["update_links"] = json!(true);
        notes.ok("move_note", arguments)
    };
    let own = "4 links of its own that no longer lead where they did:\n- [[../C]] in x/y/N.md\n\
               - [[./B]] in x/y/N.md\n- (../C.md) in x/y/N.md\n- (B.md) in x/y/N.md\n";
    let notes = vault(&files);
    let moved = keep(&notes, "a/N.md", "x/y/N.md");
    assert!(moved.text.contains(own), "{}", moved.text);
    let others = "\n1 link to it by its old name or path:\n- (a/N.md) in C.md\n";
    assert!(moved.text.contains(others), "{}", moved.text);
    let outdated = moved.structured["outdated_links"].as_array().unwrap();
    assert_eq!(outdated[0], json!({ "file_path": "C.md", "link": "a/N.md" }));
    assert_eq!(outdated[1], json!({ "file_path": "x/y/N.md", "link": "../C", "own": true }));
    // The links are repaired in place or by a further move, and reported until then.
    let mended = "[b](../../a/B.md) [c](../../C.md) [[a/B]] [[C#h|x]] [n](N.md)\n";
    let updated = update(&notes, "x/y/N.md", "x/y/N.md");
    assert_eq!(notes.file("main/x/y/N.md"), mended, "{}", updated.text);
    assert_eq!(updated.structured["updated_links"].as_array().unwrap().len(), 2);
    let notes = vault(&files);
    keep(&notes, "a/N.md", "x/N.md");
    let moved = keep(&notes, "x/N.md", "x/y/N.md");
    assert!(moved.text.contains(own), "{}", moved.text);
    let updated = update(&notes, "x/y/N.md", "z/w/N.md");
    assert_eq!(notes.file("main/z/w/N.md"), mended, "{}", updated.text);
    assert!(updated.text.contains("- z/w/N.md (4)\n"), "{}", updated.text);
    assert_eq!(notes.file("main/C.md"), "[n](z/w/N.md)\n");
}

#[test]
fn a_path_is_resolved_in_every_encoding() {
    for (name, written) in [
        ("x (1).md", &["x%20(1).md", "x%20%281%29.md"] as &[&str]),
        ("A&B.md", &["A&B.md", "A%26B.md"]),
        (
            "it's, a=b@c.md",
            &["it%27s%2C%20a%3Db%40c.md", "it's,%20a=b@c.md", "it's%2C%20a%3Db%40c.md"],
        ),
        ("a^b+c.md", &["a%5Eb+c.md", "a%5eb%2bc.md", "a^b+c.md"]),
        ("\u{dc}ber uns.md", &["%C3%9Cber%20uns.md", "%c3%9cber%20uns.md", "\u{dc}ber%20uns.md"]),
    ] {
        for link in written {
            let text = format!("[u]({link})\n");
            check(&[(name, "x\n"), ("r.md", &text)], name, "Y.md", &[("r.md", "[u](Y.md)\n")]);
        }
    }
}
