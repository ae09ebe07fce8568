//! Targets of wikilinks, and links that are hard to write.

use serde_json::{Value, json};

use crate::notes_support::Notes;

/// The files that a note's links lead to.
#[track_caller]
fn leading(notes: &Notes, holder: &str) -> Vec<String> {
    let context = notes.ok("build_context", json!({ "url": holder })).structured;
    let related = context["results"][0]["related_results"].as_array().unwrap().iter();
    let related = related.filter(|r| r["type"] == "entity");
    let mut found: Vec<String> =
        related.map(|r| r["file_path"].as_str().unwrap().to_owned()).collect();
    found.sort();
    found
}

/// The index is equal to a rebuilt one.
#[track_caller]
fn check_index(notes: &Notes) {
    let scratch = tempfile::tempdir().unwrap();
    let report = notes.0.memory.check(scratch.path()).unwrap();
    assert_eq!(report.differing, [""; 0]);
}

fn relocation(from: &str, to: &str) -> Value {
    let is_directory = !from.contains('.');
    json!({ "identifier": from, "destination_path": to, "is_directory": is_directory,
            "update_links": true })
}

#[test]
fn a_slash_in_front_of_a_link_is_the_top_of_the_project() {
    let notes = Notes::new();
    let none: [&str; 0] = [];
    let check = |link: &str, holder: &str, expected: &[&str]| {
        notes.person(&format!("main/{holder}.md"), &format!("[[{link}]]\n"));
        assert_eq!(leading(&notes, holder), expected, "[[{link}]] in {holder}");
    };
    // Also where only another file has the name.
    notes.person("main/c/Alpha.md", "own\n");
    check("/Alpha", "c/h1", &none);
    check("/b/Same", "c/h2", &none);
    notes.person("main/a/b/Same.md", "text\n");
    notes.person("main/Alpha.md", "top\n");
    notes.person("main/x/Named.md", "---\npermalink: alpha-two\n---\n");
    assert_eq!(leading(&notes, "c/h1"), ["Alpha.md"]);
    assert_eq!(leading(&notes, "c/h2"), none);
    check("Alpha", "c/h3", &["c/Alpha.md"]);
    check("/c/alpha.md#x", "c/h4", &["c/Alpha.md"]);
    check("/alpha-two", "c/h5", &none);
    check("/c/Alpha|it", "h6", &["c/Alpha.md"]);
    // It stays what it is when the note goes elsewhere, and follows what it means.
    notes.ok("move_note", relocation("c/h1.md", "n/h1.md"));
    assert_eq!(notes.file("main/n/h1.md"), "[[/Alpha]]\n");
    notes.ok("move_note", relocation("c", "d/e"));
    assert_eq!(notes.file("main/d/e/h4.md"), "[[/d/e/Alpha.md#x]]\n");
    assert_eq!(notes.file("main/h6.md"), "[[/d/e/Alpha|it]]\n");
    assert_eq!(leading(&notes, "h6"), ["d/e/Alpha.md"]);
    let mut keep = relocation("Alpha.md", "q/Alpha.md");
    keep["update_links"] = json!(false);
    let moved = notes.ok("move_note", keep);
    let expected = json!([{ "file_path": "n/h1.md", "link": "/Alpha" }]);
    assert_eq!(moved.structured["outdated_links"], expected, "{}", moved.text);
    assert_eq!(leading(&notes, "n/h1"), none);
    notes.ok("move_note", relocation("q/Alpha.md", "q/Alpha.md"));
    assert_eq!(notes.file("main/n/h1.md"), "[[/q/Alpha]]\n");
    assert_eq!(leading(&notes, "n/h1"), ["q/Alpha.md"]);
    check_index(&notes);
}

#[test]
fn a_link_without_an_extension_means_a_note() {
    let notes = Notes::new();
    let none: [&str; 0] = [];
    for file in ["img/Engine.png", "data.csv", "deep/Plan.canvas", "LICENSE"] {
        notes.person(&format!("main/{file}"), "x");
    }
    let check = |link: &str, expected: &[&str]| {
        notes.person("main/h.md", &format!("[[{link}]]\n"));
        assert_eq!(leading(&notes, "h"), expected, "[[{link}]]");
    };
    check("data", &none);
    check("img/Engine", &none);
    check("Engine", &none);
    // It is bound when there is such a note.
    notes.person("main/far/Engine.md", "text\n");
    assert_eq!(leading(&notes, "h"), ["far/Engine.md"]);
    check("Engine.png", &["img/Engine.png"]);
    check("img/Engine.PNG", &["img/Engine.png"]);
    check("/img/Engine.png", &["img/Engine.png"]);
    check("data.csv", &["data.csv"]);
    check("Plan.canvas|board", &["deep/Plan.canvas"]);
    check("LICENSE", &["LICENSE"]);
    // Who names a file to a tool need not say it.
    let read = notes.ok("read_content", json!({ "path": "data" }));
    assert_eq!(read.structured["file_path"], json!("data.csv"), "{}", read.structured);
    check_index(&notes);
}

#[test]
fn links_to_a_name_they_cannot_contain_are_resolved() {
    let text = |name: &str, path: &str| {
        format!(
            "---\nup: \"[[{name}|up]]\"\n---\n- rel [[{name}]] (why)\n- [[{name}#h]] [[{name}|x]]\n\n\
             [m](<{path}#h>) and [[{name}#^b1|y]]\n"
        )
    };
    for (to, path) in [
        ("Issue #12.md", "Issue %2312.md"),
        ("a/Plan ^ Idea.md", "a/Plan ^ Idea.md"),
        ("[draft] x.md", "[draft] x.md"),
        ("x [old].md", "x [old].md"),
        ("50% [[a]] b.md", "50%25 %5B%5Ba%5D%5D b.md"),
    ] {
        let notes = Notes::new();
        notes.person("main/Cur.md", "text\n");
        notes.person("main/h.md", &text("Cur", "Cur.md"));
        notes.person("main/p.md", "[m](Cur.md#h)\n");
        notes.person("main/q.md", "[m](<Cur.md>)\n");
        let moved = notes.ok("move_note", relocation("Cur.md", to)).structured;
        assert_eq!(notes.file("main/h.md"), text("cur", path), "{to}");
        let encoded = path.replace(' ', "%20");
        assert_eq!(notes.file("main/p.md"), format!("[m]({encoded}#h)\n"), "{to}");
        assert_eq!(moved["updated_links"][0], json!({ "file_path": "h.md", "count": 6 }));
        assert_eq!(leading(&notes, "h"), [to]);
        let context = notes.ok("build_context", json!({ "url": "h" })).structured;
        assert_eq!(context["results"][0]["unresolved"], json!([]), "{to}");
        let related = context["results"][0]["related_results"].as_array().unwrap();
        let is_rel = |r: &Value| r["relation_type"] == "rel";
        assert!(related.iter().any(is_rel), "{to}: {related:?}");
        // From there it goes on to a name that can.
        notes.ok("move_note", relocation(to, "Later.md"));
        assert_eq!(notes.file("main/p.md"), "[m](Later.md#h)\n", "{to}");
        assert_eq!(notes.file("main/q.md"), "[m](<Later.md>)\n", "{to}");
        assert_eq!(leading(&notes, "h"), ["Later.md"]);
        check_index(&notes);
    }
}

#[test]
fn a_link_that_cannot_contain_the_new_name_is_reported() {
    let notes = Notes::new();
    notes.person("main/Cur.md", "---\npermalink: \"odd#name\"\n---\ntext\n");
    notes.person("main/h.md", "---\nup: \"[[Cur]]\"\n---\n[[Cur]] [m](Cur.md)\n");
    let moved = notes.ok("move_note", relocation("Cur.md", "Issue #12.md"));
    assert_eq!(
        notes.file("main/h.md"),
        "---\nup: \"[[Cur]]\"\n---\n[[Cur]] [m](Issue%20%2312.md)\n"
    );
    assert_eq!(moved.structured["updated_links"], json!([{ "file_path": "h.md", "count": 1 }]));
    let told = "2 links not updated, as the new name cannot stand in them:\n- [[Cur]] in h.md";
    assert!(moved.text.contains(told), "{}", moved.text);
    let expected = json!([{ "file_path": "h.md", "link": "Cur", "count": 2 }]);
    assert_eq!(moved.structured["outdated_links"], expected);
}

/// Checks the target of the only link of a note, or the text about a missing target.
#[track_caller]
fn check_leads(notes: &Notes, holder: &str, expected: &str) {
    let context = notes.ok("build_context", json!({ "url": holder })).structured;
    let unresolved = context["results"][0]["unresolved"].as_array().unwrap().iter();
    let unresolved: Vec<&str> = unresolved.map(|u| u["to_name"].as_str().unwrap()).collect();
    match expected.strip_prefix('?') {
        Some(name) => assert_eq!(unresolved, [name], "{holder}"),
        None => assert_eq!(leading(notes, holder), [expected], "{holder}"),
    }
}

#[test]
fn a_hash_sign_may_be_part_of_a_name() {
    let notes = Notes::new();
    // Each with where it leads before there is such a note, when the part before the mark is one,
    // when there is a note of the whole name, and when that is gone again.
    let links = [
        ("Issue #12", "?Issue #12", "Issue.md", "Issue #12.md"),
        ("issue #12|it", "?issue #12", "Issue.md", "Issue #12.md"),
        ("Issue#12", "?Issue", "Issue.md", "Issue.md"),
        ("Issue#Next steps", "?Issue", "Issue.md", "Issue.md"),
        ("PR #45: fix login", "?PR #45: fix login", "?PR #45: fix login", "prs/pr.md"),
        ("Plan ^ Idea", "?Plan ^ Idea", "?Plan ^ Idea", "d/Plan ^ Idea.md"),
        ("d/Plan ^ Idea", "?d/Plan ^ Idea", "?d/Plan ^ Idea", "d/Plan ^ Idea.md"),
        ("/d/Plan ^ Idea", "?/d/Plan ^ Idea", "?/d/Plan ^ Idea", "d/Plan ^ Idea.md"),
        ("Tab#2", "?Tab", "?Tab", "Tab#2.md"),
        ("main::Issue #12", "?main::Issue #12", "Issue.md", "Issue #12.md"),
    ];
    let holder = |n: usize| format!("h{n}");
    for (n, (link, before, ..)) in links.iter().enumerate() {
        notes.person(&format!("main/{}.md", holder(n)), &format!("- on [[{link}]]\n"));
        check_leads(&notes, &holder(n), before);
    }
    let at_first = notes.write("", "Other", "text").structured["commit"].clone();
    notes.person("main/Issue.md", "text\n");
    // No slug is a name: this is not the note that has the heading.
    notes.person("main/Issue next steps.md", "text\n");
    for (n, (_, _, with_part, _)) in links.iter().enumerate() {
        check_leads(&notes, &holder(n), with_part);
    }
    check_index(&notes);
    for (path, text) in [
        ("Issue #12", "text\n"),
        ("prs/pr", "---\ntitle: \"PR #45: fix login\"\n---\ntext\n"),
        ("d/Plan ^ Idea", "text\n"),
        ("Tab#2", "text\n"),
    ] {
        notes.person(&format!("main/{path}.md"), text);
    }
    for (n, (_, _, _, whole)) in links.iter().enumerate() {
        check_leads(&notes, &holder(n), whole);
    }
    check_index(&notes);
    let receipt =
        notes.write("", "New", "- on [[Issue #12]]\n- blocked by [[PR #45: fix login]]\n");
    assert!(receipt.text.contains("## Relations\n- resolved: 2\n"), "{}", receipt.text);
    assert!(!receipt.text.contains("unresolved"), "{}", receipt.text);
    assert!(!receipt.text.contains("12]]"), "{}", receipt.text);
    assert!(!receipt.text.contains("## Observations"), "{}", receipt.text);
    notes.ok("delete_note", json!({ "identifier": "Issue #12.md" }));
    check_leads(&notes, "h0", "Issue.md");
    check_leads(&notes, "h4", "prs/pr.md");
    check_index(&notes);
    // As it was.
    let then = json!({ "url": "h0", "as_of": at_first });
    let context = notes.ok("build_context", then).structured;
    assert_eq!(context["results"][0]["unresolved"][0]["to_name"], json!("Issue #12"));
}

#[test]
fn a_whole_name_follows_its_note_and_no_other() {
    let notes = Notes::new();
    let text = |part: &str, whole: &str| {
        format!(
            "---\nup: \"[[{whole}]]\"\nl: \"[[{part}#a]]\"\n---\n\
             - on [[{whole}]]\n- [[{part}]] [[{part}#a|x]] [[{whole}|y]]\n"
        )
    };
    notes.person("main/Issue.md", "text\n");
    notes.person("main/Issue #12.md", "text\n");
    notes.person("main/h.md", &text("Issue", "Issue #12"));
    notes.ok("move_note", relocation("Issue.md", "Bug.md"));
    assert_eq!(notes.file("main/h.md"), text("Bug", "Issue #12"));
    notes.ok("move_note", relocation("Issue #12.md", "a/Done.md"));
    assert_eq!(notes.file("main/h.md"), text("Bug", "Done"));
    assert_eq!(leading(&notes, "h"), ["Bug.md", "a/Done.md"]);
    // The remaining links are returned on request.
    notes.person("main/Issue #13.md", "text\n");
    notes.person("main/g.md", "[[Issue #13]]\n");
    let mut keep = relocation("Issue #13.md", "a/Later.md");
    keep["update_links"] = json!(false);
    let moved = notes.ok("move_note", keep);
    let expected = json!([{ "file_path": "g.md", "link": "Issue #13" }]);
    assert_eq!(moved.structured["outdated_links"], expected, "{}", moved.text);
    notes.ok("move_note", relocation("a/Later.md", "a/Later.md"));
    assert_eq!(notes.file("main/g.md"), "[[Later]]\n");
    check_index(&notes);
}

#[test]
fn a_text_about_a_link_is_not_renamed() {
    let notes = Notes::new();
    notes.person("main/z.md", "text\n");
    notes.person("main/h.md", "Write \\[[z]] for [[z]].\n");
    notes.person("main/g.md", "Write \\[[z]].\n");
    let mut keep = relocation("z.md", "y.md");
    keep["update_links"] = json!(false);
    let moved = notes.ok("move_note", keep);
    let expected = json!([{ "file_path": "h.md", "link": "z" }]);
    assert_eq!(moved.structured["outdated_links"], expected, "{}", moved.text);
    notes.ok("move_note", relocation("y.md", "y.md"));
    assert_eq!(notes.file("main/h.md"), "Write \\[[z]] for [[y]].\n");
    assert_eq!(notes.file("main/g.md"), "Write \\[[z]].\n");
}
