//! Notes as a graph: links that are resolved, repaired and followed, now and in the past.

use serde_json::{Value, json};

use crate::notes_support::Notes;

#[test]
fn a_link_is_bound_when_its_target_appears() {
    let notes = Notes::new();
    let first = notes.write("", "A", "- needs [[B Side]]\n");
    assert_eq!(first.structured["unresolved"], json!(["B Side"]));
    notes.write("deep", "B Side", "x");
    let context = notes.ok("build_context", json!({ "url": "A" })).structured;
    assert_eq!(context["results"][0]["related_results"][0]["permalink"], json!("deep/b-side"));
    assert_eq!(context["results"][0]["unresolved"], json!([]));
}

#[test]
fn moves_update_the_links_that_would_break_and_no_others() {
    let notes = Notes::new();
    notes.person("main/tools/Saw.md", "A saw.\n");
    notes.person("main/tools/Drill.md", "---\ntitle: Power Drill\n---\nSee [[Saw]].\n");
    notes.person(
        "main/list.md",
        "- has [[tools/Saw|the saw]] (sharp)\n[[Saw]] and [[Saw#Use]], [[Power Drill]], [[tools/Drill]]\n`[[Saw]]`\n",
    );
    let moved = notes.ok(
        "move_note",
        json!({ "identifier": "tools/Saw.md", "destination_path": "shed/Hand Saw.md", "update_links": true }),
    );
    assert_eq!(
        notes.file("main/list.md"),
        "- has [[shed/Hand Saw|the saw]] (sharp)\n[[Hand Saw]] and [[Hand Saw#Use]], [[Power Drill]], [[tools/Drill]]\n`[[Hand Saw]]`\n"
    );
    assert!(notes.file("main/tools/Drill.md").ends_with("See [[Hand Saw]].\n"));
    let commit = moved.structured["commit"].as_str().unwrap();
    let files = notes.0.memory.commit(commit).unwrap().files.len();
    assert_eq!(files, 3, "one commit for the note and both that link to it");
    // A whole folder: only links by path break.
    let moved = notes.ok(
        "move_note",
        json!({ "identifier": "tools", "destination_path": "shed/tools", "is_directory": true }),
    );
    assert_eq!(
        moved.structured["outdated_links"],
        json!([{ "file_path": "list.md", "link": "tools/Drill" }])
    );
    let again = json!({ "identifier": "shed/tools/Drill.md", "destination_path": "shed/tools/Drill.md", "update_links": true });
    notes.ok("move_note", again);
    assert!(notes.file("main/list.md").contains("[[Power Drill]], [[shed/tools/Drill]]"));
}

#[test]
fn moves_say_what_is_wrong() {
    let notes = Notes::new();
    notes.write("a", "Plan", "x");
    notes.write("b", "Plan", "y");
    notes.ok("create_memory_project", json!({ "project_name": "work" }));
    let check = |more: Value, code: &str| {
        let mut arguments = more;
        arguments["identifier"] = json!("a/plan");
        notes.refused("move_note", arguments, code);
    };
    check(json!({}), "MISSING_DESTINATION");
    check(json!({ "to": "x.md", "to_folder": "y" }), "MUTUALLY_EXCLUSIVE_PARAMS");
    check(json!({ "destination_path": "c/Plan" }), "FILE_EXTENSION_REQUIRED");
    check(json!({ "destination_path": "c/Plan.txt" }), "FILE_EXTENSION_MISMATCH");
    check(json!({ "destination_path": "a/Plan.md" }), "DESTINATION_SAME_AS_SOURCE");
    check(json!({ "destination_path": "b/Plan.md" }), "DESTINATION_EXISTS");
    check(json!({ "destination_path": "work/Plan.md" }), "CROSS_PROJECT_MOVE_NOT_SUPPORTED");
    check(
        json!({ "destination_path": "x.md", "expected_checksum": "00000000" }),
        "CHECKSUM_MISMATCH",
    );
    let folder = json!({ "identifier": "a", "destination_folder": "c", "is_directory": true });
    notes.refused("move_note", folder, "DESTINATION_FOLDER_NOT_FOR_DIRECTORIES");
    notes.refused(
        "move_note",
        json!({ "identifier": "a", "destination_folder": "c" }),
        "IS_A_DIRECTORY",
    );
    notes.refused(
        "delete_note",
        json!({ "identifier": "zzz", "is_directory": true }),
        "DIRECTORY_NOT_FOUND",
    );
}

#[test]
fn the_past_has_its_own_graph() {
    let notes = Notes::new();
    notes.write("", "A", "- uses [[B]]\n- [fact] old\n");
    notes.write("", "B", "b\n");
    let then = notes.write("", "C", "- likes [[A]]\n").structured["commit"].clone();
    notes.ok("edit_note", json!({ "identifier": "A", "operation": "find_replace", "find_text": "- uses [[B]]\n- [fact] old", "content": "- uses [[D]]\n- [fact] new" }));
    notes.ok("delete_note", json!({ "identifier": "C" }));
    let check = |as_of: Value, related: Value, fact: &str, unresolved: Value| {
        let context =
            notes.ok("build_context", json!({ "url": "memory://a", "as_of": as_of })).structured;
        let found = &context["results"][0];
        let titles: Vec<_> = found["related_results"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|r| r["type"] == "entity")
            .map(|r| r["title"].clone())
            .collect();
        assert_eq!(json!(titles), related);
        assert_eq!(found["observations"][0]["content"], json!(fact));
        assert_eq!(found["unresolved"], unresolved);
    };
    check(then.clone(), json!(["B", "C"]), "old", json!([]));
    check(json!(null), json!([]), "new", json!([{ "relation_type": "uses", "to_name": "D" }]));
    let all =
        notes.ok("build_context", json!({ "url": "memory://*", "as_of": then.clone() })).structured;
    assert_eq!(all["metadata"]["primary_count"], json!(3));
    let read = notes.ok("read_note", json!({ "identifier": "C", "as_of": then })).structured;
    assert_eq!(read["content"], json!("- likes [[A]]\n"));
    notes.refused("build_context", json!({ "url": "A", "as_of": "2001-01-01" }), "NOTE_NOT_FOUND");
    notes.refused("read_note", json!({ "identifier": "A", "as_of": "someday" }), "INVALID_AS_OF");
}

#[test]
fn every_relation_between_shown_notes_is_listed() {
    let notes = Notes::new();
    for n in 0..10 {
        let next = (n + 1) % 10;
        notes.person(&format!("main/f/n{n}.md"), &format!("- next [[n{next}]]\n- in [[Hub]]\n"));
    }
    notes.person("main/Hub.md", "h\n");
    for n in 0..30 {
        notes.person(&format!("main/p{n}.md"), &format!("- about [[n{}]]\n", n % 10));
    }
    for as_of in [json!(null), json!("now")] {
        let ask = json!({ "url": "memory://f/*", "max_related": 5, "as_of": as_of });
        let context = notes.ok("build_context", ask).structured;
        let results = context["results"].as_array().unwrap();
        assert_eq!((results.len(), &context["related_truncated"]), (10, &json!(true)));
        let mut others = std::collections::BTreeSet::new();
        for (n, result) in results.iter().enumerate() {
            let told = result["related_results"].as_array().unwrap();
            for (kind, to) in [("next", format!("n{}", (n + 1) % 10)), ("in", "Hub".to_owned())] {
                let is_it = |r: &&Value| {
                    r["type"] == "relation"
                        && r["relation_type"] == kind
                        && r["from_entity"] == json!(format!("n{n}"))
                        && r["to_entity"] == json!(to)
                };
                assert_eq!(told.iter().filter(is_it).count(), 1, "{kind} {to}: {result}");
            }
            // A note whose related notes are cut by the limit is marked.
            let abouts = told.iter().filter(|r| r["type"] == "relation");
            let lacks = abouts.filter(|r| r["relation_type"] == "about").count() < 3;
            assert_eq!(result.get("related_truncated").is_some(), lacks, "{result}");
            others.extend(told.iter().filter_map(|r| r["title"].as_str().map(str::to_owned)));
        }
        others.retain(|title| !title.starts_with('n'));
        assert_eq!(others.len(), 5, "{others:?}");
    }
}

#[test]
fn links_of_the_past_to_other_projects_are_not_hidden() {
    let notes = Notes::new();
    notes.ok("create_memory_project", json!({ "project_name": "work" }));
    notes.person("work/W1.md", "- part_of [[main::Hub]]\n");
    notes.person("main/Hub.md", "- out [[work::W1]]\n- out [[nowhere::X]]\n");
    let elsewhere = json!([{ "relation_type": "out", "to_name": "work::W1" }]);
    let unresolved = json!([{ "relation_type": "out", "to_name": "nowhere::X" }]);
    let check = |as_of: &Value| {
        let ask = json!({ "url": "Hub", "as_of": as_of, "output_format": "text" });
        let said = notes.ok("build_context", ask);
        let found = &said.structured["results"][0];
        assert_eq!((&found["other_projects"], &found["unresolved"]), (&elsewhere, &unresolved));
        let text = "### In other projects, which as_of does not cover\n- out [[work::W1]]\n";
        assert!(said.text.contains(text), "{}", said.text);
    };
    check(&json!("now"));
    // A note that has changed since is read from the log.
    let then = notes.write("", "Later", "x").structured["commit"].clone();
    notes.ok("edit_note", json!({ "identifier": "Hub", "operation": "append", "content": "more" }));
    check(&then);
}

#[test]
fn a_read_of_the_past_is_marked() {
    let notes = Notes::new();
    let then = notes.write("", "A", "old\n").structured["commit"].clone();
    let write = json!({ "title": "A", "directory": "", "content": "new\n", "overwrite": true });
    notes.ok("write_note", write);
    let moment = then.as_str().unwrap();
    for (tool, said) in [
        ("read_note", format!(" | as of: {moment} -->")),
        ("view_note", format!(" from main/A.md as of {moment}. Display")),
    ] {
        let read = notes.ok(tool, json!({ "identifier": "A", "as_of": then }));
        assert!(read.text.contains("old\n") && read.text.contains(&said), "{}", read.text);
        assert_eq!(read.structured["as_of"], then, "{tool}");
        let read = notes.ok(tool, json!({ "identifier": "A" }));
        assert!(!read.text.contains("as of"), "{}", read.text);
        assert_eq!(read.structured.get("as_of"), None, "{tool}");
    }
}

#[test]
fn the_past_equals_the_answers_of_that_time() {
    let notes = Notes::new();
    // The context of a note: its text, its related notes, and its unresolved links.
    let told = |as_of: Value| -> Vec<Value> {
        let arguments = json!({
            "url": "memory://*", "depth": 2, "max_related": 1000, "page_size": 100, "as_of": as_of,
        });
        let context = notes.ok("build_context", arguments).structured;
        let of = |result: &Value| {
            let near = result["related_results"].as_array().unwrap().iter();
            let near = near.filter(|near| near["type"] == "entity");
            let mut near: Vec<String> =
                near.map(|near| format!("{} {}", near["file_path"], near["depth"])).collect();
            near.sort();
            let note = &result["primary_result"];
            let (path, title) = (&note["file_path"], &note["title"]);
            json!([path, title, note["permalink"], note["content"], near, result["unresolved"]])
        };
        context["results"].as_array().unwrap().iter().map(of).collect()
    };
    let steps: [&dyn Fn(); 11] = [
        &|| drop(notes.write("a", "One", "- uses [[Two]]\n- knows [[Uncle]]\n")),
        &|| drop(notes.write("b", "Two", "- likes [[Three]] and [[One]]\n")),
        // Nearer to One than the other of that name.
        &|| drop(notes.write("a", "Two", "nearer\n")),
        &|| notes.person("main/c/Three.md", "---\naliases: [Uncle]\n---\n- [[b/two]]\n"),
        &|| notes.person("main/a/One.md", "# One\n\n- uses [[Three]]\n"),
        &|| drop(notes.ok("delete_note", json!({ "identifier": "a/two" }))),
        &|| notes.person("main/a/One.md", "# One\n\n- uses [[Two]]\n- knows [[Uncle]]\n"),
        &|| {
            let to = json!({ "identifier": "b/two", "destination_path": "c/Second.md" });
            drop(notes.ok("move_note", to));
        },
        &|| notes.person("main/c/Three.md", "no other name any more\n"),
        &|| drop(notes.write("", "Uncle", "- [[Three]]\n")),
        &|| notes.person("main/d/Exact.md", "- uses [[One]] <!-- rel 2026-01-20T15:30:00Z -->\n"),
    ];
    let mut past = Vec::new();
    for step in steps {
        step();
        let commit = notes.0.memory.log(&Default::default(), 1, 0).unwrap().remove(0);
        past.push((commit.id.to_string(), told(Value::Null)));
    }
    for (n, (commit, then)) in past.iter().enumerate() {
        assert_eq!(&told(json!(commit)), then, "after step {n}");
    }
}

#[test]
fn addresses_are_patterns_titles_and_projects() {
    let notes = Notes::new();
    notes.write("specs", "One", "- next [[Two]]\n- [fact] a thing\n");
    notes.write("specs", "Two", "- next [[Three]]\n");
    notes.write("other", "Three", "x");
    let found = |arguments: Value| {
        let context = notes.ok("build_context", arguments).structured;
        let results = context["results"].as_array().unwrap().clone();
        results
            .iter()
            .map(|r| {
                let related: Vec<_> = r["related_results"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|n| n["type"] == "entity")
                    .map(|n| format!("{}{}", n["title"].as_str().unwrap(), n["depth"]))
                    .collect();
                format!("{}:{}", r["primary_result"]["title"].as_str().unwrap(), related.join(","))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(found(json!({ "url": "memory://specs/*" })), ["One:Two1", "Two:Three1,One1"]);
    assert_eq!(found(json!({ "url": "memory://main/specs/*" })), ["One:Two1", "Two:Three1,One1"]);
    assert_eq!(
        found(json!({ "url": "memory://specs/*", "page_size": 1, "page": 2 })),
        ["Two:Three1,One1"]
    );
    assert_eq!(found(json!({ "url": "One", "depth": 2 })), ["One:Two1,Three2"]);
    assert_eq!(found(json!({ "url": "memory://main/specs/one", "depth": 0 })), ["One:"]);
    assert_eq!(
        found(json!({ "uri": "specs/One.md", "depth": "2", "max_results": 1 })),
        ["One:Two1"]
    );
    assert_eq!(
        found(json!({ "url": "memory://specs/one/observations/fact/a-thing" })),
        ["One:Two1"]
    );
    for bad in ["", "memory://", "memory://a//b", "memory://a|b", "memory://memory://a", "a?b"] {
        notes.refused("build_context", json!({ "url": bad }), "INVALID_URL");
    }
}

#[test]
fn edits_do_one_thing_each() {
    let notes = Notes::new();
    let start = "# Plan\n\nIntro\n\n## Steps\none\n\n### Detail\ndeep\n\n## End\nlast\n";
    let check = |more: Value, expected: &str| {
        notes.person("main/Plan.md", start);
        let mut arguments = more;
        arguments["identifier"] = json!("Plan");
        notes.ok("edit_note", arguments.clone());
        assert_eq!(notes.file("main/Plan.md"), expected, "{arguments}");
    };
    check(json!({ "operation": "append", "content": "x" }), &format!("{start}x\n"));
    check(json!({ "operation": "prepend", "content": "x" }), &format!("x\n{start}"));
    check(
        json!({ "operation": "find_replace", "find": "one", "replace_with": "1" }),
        &start.replace("one", "1"),
    );
    check(
        json!({ "operation": "find_replace", "find_text": "e", "content": "E", "expected_replacements": 5 }),
        &start.replace('e', "E"),
    );
    check(
        json!({ "operation": "replace_section", "heading": "Steps", "content": "## Steps\ntwo" }),
        &start.replace("one\n\n### Detail\ndeep", "two"),
    );
    check(
        json!({ "operation": "replace_section", "section": "## Steps", "content": "two", "replace_subsections": false }),
        &start.replace("one", "two"),
    );
    check(
        json!({ "operation": "replace_section", "section": "New", "content": "n" }),
        &format!("{start}\n## New\nn\n"),
    );
    check(
        json!({ "operation": "insert_before_section", "section": "End", "content": "b" }),
        &start.replace("## End", "b\n\n## End"),
    );
    check(
        json!({ "operation": "insert_after_section", "section": "End", "content": "a" }),
        &start.replace("## End\n", "## End\na\n\n"),
    );
    notes.refused("edit_note", json!({ "identifier": "Plan", "operation": "insert_after_section", "section": "Nope", "content": "a" }), "EDIT_FAILED");
    notes.refused(
        "edit_note",
        json!({ "identifier": "Plan", "operation": "erase", "content": "a" }),
        "INVALID_ARGUMENTS",
    );
    notes.refused(
        "edit_note",
        json!({ "identifier": "Plan", "operation": "append" }),
        "INVALID_ARGUMENTS",
    );
    notes.refused("edit_note", json!({ "identifier": "Plan", "operation": "append", "content": "", "metadata": { "a": null } }), "INVALID_ARGUMENTS");
    // The title follows a heading that it was equal to.
    notes.write("", "Old Name", "# Old Name\n");
    notes.ok("edit_note", json!({ "identifier": "Old Name", "operation": "find_replace", "find_text": "# Old Name", "content": "# New Name" }));
    assert_eq!(
        notes.ok("read_note", json!({ "identifier": "New Name" })).structured["title"],
        json!("New Name")
    );
}

#[test]
fn content_with_frontmatter_of_its_own_is_respected() {
    let notes = Notes::new();
    let content = "---\ntitle: Ignored\ntype: spec\npermalink: custom/address\nowner: me # a comment\n---\nBody\n";
    notes.ok("write_note", json!({ "title": "Kept", "directory": "x", "content": content, "note_type": "note", "tags": ["a"] }));
    let file = notes.file("main/x/Kept.md");
    assert_eq!(
        file,
        "---\ntitle: Kept\ntype: spec\npermalink: custom/address\nowner: me # a comment\ntags:\n  - a\n---\nBody\n"
    );
    // Old keys survive an overwrite.
    notes.ok(
        "write_note",
        json!({ "title": "Kept", "directory": "x", "content": "New", "overwrite": true }),
    );
    assert_eq!(notes.file("main/x/Kept.md"), file.replace("Body", "New"));
    // A permalink that is taken gets a number.
    let second =
        notes.ok("write_note", json!({ "title": "Other", "directory": "x", "content": content }));
    assert_eq!(second.structured["permalink"], json!("custom/address-1"));
}

#[test]
fn a_pattern_over_parts_looks_through_every_note() {
    let notes = Notes::new();
    std::fs::create_dir_all(notes.0.path("main")).unwrap();
    for n in 0..1005 {
        let path = notes.0.path(&format!("main/n{n:04}.md"));
        std::fs::write(path, "x\n").unwrap();
    }
    notes.person("main/z.md", "- zebra [[n0001]]\n- [stripe] black\n");
    for (address, expected) in [
        ("*/zebra/*", json!("z/zebra/n0001")),
        ("*/observations/stripe/*", json!("z/observations/stripe/black")),
    ] {
        let query = json!({ "query": format!("memory://{address}") });
        let found = notes.ok("search_notes", query).structured;
        assert_eq!(found["results"][0]["permalink"], expected, "{address}");
        let url = json!({ "url": format!("memory://{address}") });
        let found = notes.ok("build_context", url).structured;
        assert_eq!(found["results"][0]["primary_result"]["file_path"], json!("z.md"), "{address}");
    }
}

#[test]
fn addresses_of_facts_and_relations_may_hold_stars() {
    let notes = Notes::new();
    notes.person(
        "main/people/Ada Lovelace.md",
        "- [role] mathematician\n- [place] London\n- knows [[Charles Babbage]]\n- works_at [[Co]]\n",
    );
    notes.person("main/people/Charles Babbage.md", "- [role] engineer\n- knows [[Co]]\n");
    let check = |address: &str, expected: &[&str], holders: &[&str]| {
        let ask = json!({ "query": format!("memory://{address}"), "page_size": 2 });
        let mut found = Vec::new();
        for page in 1.. {
            let mut ask = ask.clone();
            ask["page"] = json!(page);
            let answer = notes.ok("search_notes", ask).structured;
            let results = answer["results"].as_array().unwrap().clone();
            found.extend(results.iter().map(|r| r["permalink"].as_str().unwrap().to_owned()));
            if answer["has_more"] == json!(false) {
                assert_eq!(answer["total"], json!(found.len()), "{address}");
                break;
            }
        }
        assert_eq!(found, expected, "{address}");
        if holders.is_empty() {
            return;
        }
        let ask = json!({ "url": format!("memory://{address}") });
        let results = notes.ok("build_context", ask).structured["results"].clone();
        let found: Vec<_> = results
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["primary_result"]["title"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(found, holders, "{address}");
    };
    let (ada, charles) = ("Ada Lovelace", "Charles Babbage");
    let facts = [
        "people/ada-lovelace/observations/role/mathematician",
        "people/ada-lovelace/observations/place/london",
    ];
    let knows = "people/ada-lovelace/knows/people/charles-babbage";
    let works = "people/ada-lovelace/works-at/co";
    check("people/ada-lovelace/*", &[facts[0], facts[1], knows, works], &[ada]);
    check("people/ada-lovelace/observations/*", &facts, &[ada]);
    check("main/people/ada-lovelace/observations/place/*", &facts[1..], &[ada]);
    check("people/ada-lovelace/knows/*", &[knows], &[ada]);
    check(works, &[works], &[ada]);
    check(facts[0], &facts[..1], &[ada]);
    let roles = [facts[0], "people/charles-babbage/observations/role/engineer"];
    check("*/observations/role/*", &roles, &[ada, charles]);
    check("*/knows/*", &[knows, "people/charles-babbage/knows/co"], &[ada, charles]);
    check("people/nobody/*", &[], &[]);
    check("*/*/nothing", &[], &[]);
    // Notes with this name take precedence.
    check("people/ada*", &["people/ada-lovelace"], &[ada]);
}

#[test]
fn a_context_shows_no_bytes_and_reads_no_facts_out_of_them() {
    let notes = Notes::new();
    notes.person("main/docs/Manual.pdf", "%PDF\0\n- [fact] heron #x\n- uses [[Stork]]\n");
    notes.person("main/docs/List.txt", "- [fact] a line\n");
    notes.person("main/docs/About.md", "- explains [[docs/Manual.pdf]]\n- reads [[List.txt]]\n");
    for as_of in [None, Some("now")] {
        for url in ["docs/manual", "docs/Manual.pdf", "memory://docs/manual.pdf"] {
            let ask = json!({ "url": url, "as_of": as_of });
            let found = notes.ok("build_context", ask.clone()).structured["results"][0].clone();
            assert_eq!(found["primary_result"]["content"], json!(""), "{ask}");
            let said = found["primary_result"]["no_text"].as_str().unwrap();
            assert!(said.contains("read_content \"docs/Manual.pdf\""), "{said}");
            assert_eq!(found["observations"], json!([]), "{ask}");
            assert_eq!(found["unresolved"], json!([]), "{ask}");
            assert_eq!(found["related_results"][0]["title"], json!("About"), "{ask}");
        }
        let ask = json!({ "url": "docs/list", "as_of": as_of });
        let found = notes.ok("build_context", ask).structured["results"][0].clone();
        assert_eq!(found["primary_result"]["content"], json!("- [fact] a line\n"));
        assert_eq!(found["observations"], json!([]));
    }
    let ask = json!({ "url": "docs/manual", "output_format": "text" });
    let text = notes.ok("build_context", ask).text;
    assert!(text.contains("[no text; read_content") && !text.contains("heron"), "{text}");
}

/// An address resolves to the same notes with `as_of`.
#[test]
fn addresses_resolve_the_same_way_in_the_past() {
    let notes = Notes::new();
    notes.person("other/t/r1.md", "---\ntitle: R1\n---\nthe other\n- [fact] one\n- next [[r2]]\n");
    notes.person("other/t/r2.md", "second\n");
    notes.person("main/docs/n01.md", "the first\n- [fact] fact 1\n- next [[n02]]\n");
    notes.person("main/docs/n02.md", "the second\n");
    let then = notes.write("", "Later", "text").structured["commit"].clone();
    let check = |address: &str, as_of: Value, expected: &str| {
        let ask = json!({ "url": address, "as_of": as_of });
        let said = notes.ok("build_context", ask.clone());
        assert!(said.text.contains(expected), "{ask}: {}", said.text);
    };
    let addresses = [
        ("memory://other/t/r1", "the other"),
        ("other/t/r1", "the other"),
        ("other::R1", "the other"),
        ("R1", "the other"),
        ("memory://other/t/*", "the other"),
        ("other/t/r1/observations/fact/one", "the other"),
        ("docs/n01/observations/fact/fact-1", "the first"),
        ("memory://docs/n01/next/*", "the first"),
        ("docs/n01/observations/*", "the first"),
        ("docs/n01/next/docs/n02", "the first"),
        ("docs/n01/*", "the first"),
    ];
    for (address, expected) in addresses {
        check(address, Value::Null, expected);
        check(address, then.clone(), expected);
    }
    // Facts and relations that are gone are still found where they were.
    notes.person("main/docs/n01.md", "the first\n");
    notes.person("other/t/r1.md", "changed\n");
    for (address, expected) in addresses {
        check(address, then.clone(), expected);
    }
    // A pattern that names no note cannot be resolved in the past, and the error says so.
    notes.person("main/docs/n03.md", "- next [[n02]]\n");
    let ask = |url: &str| json!({ "url": url, "as_of": then });
    notes.refused("build_context", ask("*/observations/fact/*"), "INVALID_URL");
    assert_eq!(notes.ok("build_context", ask("none/*")).structured["results"], json!([]));
    let refused = notes.refused("build_context", ask("*/next/*"), "INVALID_URL");
    assert!(refused.text.contains("Name their note"), "{}", refused.text);
    for address in ["docs/n01/nope/n02", "docs/n01/x", "nowhere/n01/next/n02"] {
        let ask = json!({ "url": address, "as_of": then });
        notes.refused("build_context", ask, "NOTE_NOT_FOUND");
    }
}
