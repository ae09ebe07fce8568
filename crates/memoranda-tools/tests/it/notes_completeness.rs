//! Results are complete, and truncated results can be continued.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::notes_support::Notes;

fn field(results: &Value, name: &str) -> Vec<String> {
    let results = results.as_array().unwrap().iter();
    results.map(|result| result[name].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_context_stays_within_its_budget_in_every_form() {
    let notes = Notes::new();
    let mut text = String::new();
    for n in 0..400 {
        writeln!(text, "- [fact] observation number {n} about the heron #bird").unwrap();
        writeln!(text, "- uses [[Missing {n}]]").unwrap();
        writeln!(text, "- needs [[Part {n}]]").unwrap();
    }
    for n in 0..200 {
        notes.person(&format!("main/parts/Part {n}.md"), "x\n");
    }
    notes.write("", "Hub", &text);
    for format in ["json", "text"] {
        let ask = json!({ "url": "memory://hub", "max_tokens": 3000, "max_related": 500,
                          "output_format": format });
        let found = notes.ok("build_context", ask);
        assert!(found.text.len() < 16_000, "{format}: {}", found.text.len());
        assert!(found.structured.to_string().len() < 16_000);
        let hub = &found.structured["results"][0];
        assert!(hub["left_out"]["observations"].as_u64().unwrap() > 0, "{}", hub["left_out"]);
        assert!(hub["left_out"]["unresolved"].as_u64().unwrap() > 0, "{}", hub["left_out"]);
        assert_eq!(found.structured["related_truncated"], json!(true));
        if format == "json" {
            assert_eq!(serde_json::from_str::<Value>(&found.text).unwrap(), found.structured);
        }
    }
    // However much is asked for, the text stays one that can be parsed.
    for n in 0..60 {
        notes.person(&format!("main/big/{n}.md"), &text);
    }
    let ask = json!({ "url": "memory://big/*", "page_size": 100, "max_tokens": 1_000_000 });
    let found = notes.ok("build_context", ask);
    assert!(serde_json::from_str::<Value>(&found.text).is_ok(), "{} bytes", found.text.len());
    assert!(found.structured["left_out"].as_u64().unwrap() > 0);
}

#[test]
fn a_context_cut_by_its_budget_names_the_next_page() {
    let notes = Notes::new();
    for n in 0..40 {
        let path = notes.0.path(&format!("main/bulk/n{n:02}.md"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Long and short ones, so that no two pages hold as many.
        std::fs::write(path, "the heron stands ".repeat(1 + n * n % 23)).unwrap();
    }
    notes.0.memory.sync(&mut |_| {}).unwrap();
    for (budget, page_size) in [(600, 50), (900, 7), (1, 40), (100_000, 10)] {
        let (mut page, mut size, mut calls) = (1, page_size, 0);
        let mut seen = std::collections::BTreeSet::new();
        loop {
            let ask = json!({ "url": "memory://bulk/*", "page": page, "page_size": size,
                              "max_tokens": budget });
            let found = notes.ok("build_context", ask).structured;
            let results = found["results"].as_array().unwrap().iter();
            seen.extend(results.map(|r| r["primary_result"]["file_path"].to_string()));
            calls += 1;
            assert!(calls <= 45, "{budget}");
            assert_eq!(found["has_more"], json!(!found["next"].is_null()));
            assert!(found["has_more"] == json!(true) || found["left_out"] == json!(0));
            if found["next"].is_null() {
                break;
            }
            (page, size) = (
                found["next"]["page"].as_u64().unwrap(),
                found["next"]["page_size"].as_u64().unwrap(),
            );
        }
        assert_eq!(seen.len(), 40, "{budget}");
    }
    let ask = json!({ "url": "memory://bulk/*", "page_size": 50, "max_tokens": 600,
                      "output_format": "text" });
    let text = notes.ok("build_context", ask).text;
    assert!(text.contains(" left out by max_tokens: page=2, page_size="), "{text}");
}

#[test]
fn facts_are_found_in_any_number_of_notes() {
    let notes = Notes::new();
    for n in 0..700 {
        let path = notes.0.path(&format!("main/many/{n:03}.md"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("- [fact] heron {n}\n- [other] egret {n}\n")).unwrap();
    }
    notes.0.memory.sync(&mut |_| {}).unwrap();
    let ask = |page: u64| json!({ "categories": ["fact"], "page": page, "page_size": 100 });
    let mut seen = Vec::new();
    for page in 1..=7 {
        let found = notes.ok("search_notes", ask(page)).structured;
        seen.extend(field(&found["results"], "content"));
        assert_eq!(found["has_more"], json!(page < 7), "page {page}");
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 700, "and none of another category");
    let past = notes.ok("search_notes", ask(9)).structured;
    assert_eq!((&past["total"], &past["total_is_exact"]), (&json!(700), &json!(true)));
    let words = json!({ "query": "heron", "page": 9, "page_size": 100 });
    let past = notes.ok("search_notes", words);
    assert_eq!(past.structured["total"], json!(700), "{}", past.text);
}

#[test]
fn recent_facts_and_relations_are_paged_one_by_one() {
    let notes = Notes::new();
    for n in 0..4 {
        notes.write("", &format!("Note {n}"), "- [a1] one\n- [a1] two\n- [a1] three\n- uses [[X]]");
    }
    let check = |kind: Value, size: usize, pages: &[usize]| {
        for (n, expected) in pages.iter().enumerate() {
            let ask = json!({ "type": kind, "page_size": size, "page": n + 1 });
            let found = notes.ok("recent_activity", ask).structured;
            assert_eq!(found["results"].as_array().unwrap().len(), *expected, "{found}");
            assert_eq!(found["has_more"], json!(n + 1 < pages.len()), "{kind} {n}");
        }
    };
    check(json!("observation"), 5, &[5, 5, 2]);
    check(json!(["relation"]), 3, &[3, 1]);
    check(json!("entity"), 3, &[3, 1]);
    check(json!(["entity", "relation"]), 5, &[5, 3]);
    let list = notes.ok("recent_activity", json!({ "output_format": "json", "page_size": 2 }));
    let list: Value = serde_json::from_str(&list.text).unwrap();
    assert_eq!(field(&list, "type"), ["entity", "entity"]);
}

#[test]
fn every_result_has_an_address_that_leads_to_it() {
    let notes = Notes::new();
    let long = "x ".repeat(150);
    notes.write("n", "A", "here");
    let text = format!("- [fact] {long}one\n- [fact] {long}two\n- uses [[A]]\n- uses [[Later On]]");
    notes.ok(
        "write_note",
        json!({ "title": "Hub", "directory": "hub", "content": text,
                                   "metadata": { "status": "open" } }),
    );
    let ask = |kind: &str| {
        let ask = json!({ "query": "hub", "search_type": "title", "entity_types": [kind] });
        notes.ok("search_notes", ask).structured["results"].clone()
    };
    let (facts, links) = (ask("observation"), ask("relation"));
    let mut addresses = field(&facts, "permalink");
    assert_ne!(addresses[0], addresses[1]);
    let links_to = ["hub/hub/uses/n/a", "hub/hub/uses/later-on"];
    assert_eq!(field(&links, "permalink"), links_to);
    addresses.extend(links_to.map(str::to_owned));
    for address in &addresses {
        let found = notes.ok("build_context", json!({ "url": format!("memory://{address}") }));
        let primary = &found.structured["results"][0]["primary_result"];
        assert_eq!(primary["permalink"], json!("hub/hub"), "{address}");
    }
    notes.refused("build_context", json!({ "url": "hub/hub/needs/n/a" }), "NOTE_NOT_FOUND");
    for (pattern, expected) in
        [("*/uses/*", 1), ("hub/*/uses/n/*", 1), ("*/needs/*", 0), ("n/*/uses/*", 0)]
    {
        let found = notes.ok("build_context", json!({ "url": format!("memory://{pattern}") }));
        let results = found.structured["results"].as_array().unwrap().len();
        assert_eq!(results, expected, "{pattern}");
    }
    let entity = ask("entity")[0].clone();
    assert_eq!(entity["metadata"]["status"], json!("open"));
    assert!(entity["entity_id"].is_u64());
    assert_eq!(facts[0]["entity_id"], entity["entity_id"]);
    assert_ne!(links[0]["relation_id"], links[1]["relation_id"]);
}

#[test]
fn an_address_names_the_project_in_every_tool() {
    let notes = Notes::new();
    notes.ok("create_memory_project", json!({ "project_name": "work" }));
    notes.ok(
        "write_note",
        json!({ "title": "W", "directory": "h", "content": "x",
                                   "project": "work" }),
    );
    for url in ["memory://work/h/*", "memory://work/h/w"] {
        let found = notes.ok("search_notes", json!({ "query": url })).structured;
        assert_eq!(field(&found["results"], "permalink"), ["h/w"], "{url}");
        let found = notes.ok("build_context", json!({ "url": url })).structured;
        assert_eq!(found["project"], json!("work"));
    }
}

#[test]
fn a_removed_project_is_not_listed_and_comes_back_whole() {
    let notes = Notes::new();
    let names =
        || field(&notes.ok("list_memory_projects", json!({})).structured["projects"], "name");
    for name in ["empty", "full", "shared"] {
        notes.ok("create_memory_project", json!({ "project_name": name }));
    }
    notes.ok("delete_project", json!({ "project_name": "empty" }));
    assert_eq!(names(), ["full", "main", "shared"]);
    notes.ok(
        "write_note",
        json!({ "title": "A", "directory": "x/y", "content": "kept",
                                   "project": "full" }),
    );
    notes.refused("delete_project", json!({ "project_name": "full" }), "NOTES_REMAIN");
    let gone = notes.ok("delete_project", json!({ "project_name": "full", "delete_notes": true }));
    assert_eq!(gone.structured["removed"], json!(true));
    assert_eq!(names(), ["main", "shared"]);
    let who =
        memoranda_core::change::Author::new("t", "t", memoranda_core::change::ChangeChannel::Mcp);
    notes.0.memory.undo(&who, gone.structured["commit"].as_str().unwrap()).unwrap();
    assert!(notes.file("full/x/y/A.md").ends_with("kept\n"));
    // Files of another program keep their folder, and the result says so.
    notes.person("shared/.obsidian/app.json", "{}");
    let kept =
        notes.ok("delete_project", json!({ "project_name": "shared", "delete_notes": true }));
    assert_eq!(kept.structured["removed"], json!(false));
    assert!(kept.text.contains(".obsidian"), "{}", kept.text);
    // A folder from elsewhere is a project again before its files come back.
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("a.md"), "kept").unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let add =
        || notes.0.memory.add_project("far", &folder, memoranda_engine::HardLinkPolicy::Refuse);
    add().unwrap();
    notes.0.memory.sync(&mut |_| {}).unwrap();
    let gone = notes.ok("delete_project", json!({ "project_name": "far", "delete_notes": true }));
    let commit = gone.structured["commit"].as_str().unwrap();
    let steps = format!(
        "`memoranda project add far \"{}\"` and then `memoranda undo {commit}` brings them back",
        folder.display()
    );
    assert!(gone.text.contains(&steps), "{}", gone.text);
    assert!(notes.0.memory.undo(&who, commit).is_err());
    add().unwrap();
    notes.0.memory.undo(&who, commit).unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("a.md")).unwrap(), "kept");
}

#[test]
fn a_moved_note_is_read_as_it_was_by_any_of_its_names() {
    let notes = Notes::new();
    let made = notes.write("a", "Plan", "the first text").structured;
    let then = made["commit"].clone();
    let moved = json!({ "identifier": "Plan", "destination_path": "b/Other Plan.md" });
    notes.ok("move_note", moved);
    let edit = json!({ "identifier": "b/Other Plan.md", "operation": "find_replace",
                       "find_text": "first", "content": "second" });
    notes.ok("edit_note", edit);
    for name in ["a/plan", "Plan", "a/Plan.md", "b/Other Plan.md", "memory://a/plan"] {
        let read = notes.ok("read_note", json!({ "identifier": name, "as_of": then }));
        assert!(read.text.contains("the first text"), "{name}: {}", read.text);
        assert_eq!(read.structured["file_path"], json!("a/Plan.md"), "{name}");
    }
    let never = json!({ "identifier": "Nothing of the kind", "as_of": then });
    notes.refused("read_note", never, "NOTE_NOT_FOUND");
}

#[test]
fn a_link_into_another_project_is_bound_when_its_note_appears() {
    let notes = Notes::new();
    let from = notes.write("", "From", "- uses [[work::W]]\n- uses [[later::Deep/L]]").structured;
    assert_eq!(from["unresolved"].as_array().unwrap().len(), 2);
    notes.ok("create_memory_project", json!({ "project_name": "work" }));
    notes.ok(
        "write_note",
        json!({ "title": "W", "directory": "", "content": "x",
                                   "project": "work" }),
    );
    notes.person("later/Deep/L.md", "x\n");
    let found = notes.ok("build_context", json!({ "url": "from" })).structured;
    let related = found["results"][0]["related_results"].as_array().unwrap();
    let entities = related.iter().filter(|r| r["type"] == "entity");
    let mut names = field(&json!(entities.collect::<Vec<_>>()), "permalink");
    names.sort();
    assert_eq!(names, ["deep/l", "w"], "{found}");
    assert_eq!(found["results"][0]["unresolved"], json!([]));
}

#[test]
fn a_beginning_finds_words_whose_stem_is_shorter() {
    let notes = Notes::new();
    notes.write("", "One", "The runner was running; configuration of an organization, happily.");
    notes.write("", "Two", "Nothing of that kind.");
    for query in ["runn*", "configurati*", "organizat*", "organiz*", "happ*", "happi*", "config*"] {
        for kind in ["text", "hybrid"] {
            let ask = json!({ "query": query, "search_type": kind });
            let found = notes.ok("search_notes", ask).structured;
            assert_eq!(field(&found["results"], "title"), ["One"], "{query} {kind}");
        }
    }
}

#[test]
fn names_are_kept_and_understood() {
    let notes = Notes::new();
    // A picture is a name.
    for path in ["uni/🚀.md", "uni/🎉.md", "🚀.md"] {
        notes.person(&format!("main/{path}"), "text\n");
    }
    let permalink = |identifier: &str| {
        let read = notes.ok("read_note", json!({ "identifier": identifier })).structured;
        read["permalink"].as_str().unwrap().to_owned()
    };
    assert_eq!(permalink("uni/🚀.md"), "uni/rocket");
    assert_eq!(permalink("🚀.md"), "rocket");
    assert_ne!(permalink("uni/🎉.md"), permalink("uni/🚀.md"));
    assert_eq!(permalink("uni/rocket"), "uni/rocket");

    // A part of a note is shown with the note.
    notes.person("main/Home.md", "# Home\n\n## Section One\ntext\n");
    let read = notes.ok("read_note", json!({ "identifier": "Home#Section One" }));
    assert_eq!(read.structured["file_path"], json!("Home.md"));
    notes.refused("delete_note", json!({ "identifier": "Home#Section One" }), "NOTE_NOT_FOUND");

    // The past of a note without a permalink of its own.
    notes.ok("edit_note", json!({ "identifier": "Home", "operation": "append", "content": "x" }));
    let log = notes.0.memory.snapshot().unwrap().history(
        &memoranda_engine::HistoryFilter::default(),
        2,
        0,
    );
    let before = log.unwrap()[1].id.to_string();
    let read = notes.ok("read_note", json!({ "identifier": "Home", "as_of": before }));
    assert_eq!(read.structured["permalink"], json!("home"));
    assert!(!read.structured["content"].as_str().unwrap().ends_with("x\n"));

    // One note has one page.
    let context = notes.ok("build_context", json!({ "url": "Home", "page": 2 })).structured;
    assert_eq!(context["results"], json!([]));

    notes.person("main/C#.md", "lang\n");
    notes.person("main/C++.md", "lang\n");
    for title in ["C++", "c#"] {
        let arguments = json!({ "query": title, "search_type": "title" });
        let found = notes.ok("search_notes", arguments).structured;
        assert_eq!(found["results"][0]["title"], json!(title.to_uppercase()));
    }
}

/// Checks that a failure contains these fields.
#[track_caller]
fn check_keys(found: &Value, expected: Value) {
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(found.get(key), Some(value), "{key} in {found}");
    }
}

#[test]
fn failures_have_the_fields_of_results() {
    let notes = Notes::new();
    let plan = notes.write("a", "Plan", "one\n").structured;
    let known = json!({ "title": "Plan", "permalink": "a/plan", "file_path": "a/Plan.md",
                        "checksum": plan["checksum"] });
    let unknown = json!({ "title": null, "permalink": null, "file_path": null, "checksum": null });
    let json_of = |result: memoranda_tools::ToolResult| -> Value {
        assert_eq!(serde_json::from_str::<Value>(&result.text).unwrap(), result.structured);
        result.structured
    };

    let missing = json!({ "identifier": "Nothing", "output_format": "json" });
    let refused = json_of(notes.refused("delete_note", missing, "NOTE_NOT_FOUND"));
    check_keys(&refused, json!({ "deleted": false }));
    check_keys(&refused, unknown.clone());
    let stale = json!({ "identifier": "Plan", "expected_checksum": "00000000" });
    let refused = notes.refused("delete_note", stale, "CHECKSUM_MISMATCH").structured;
    check_keys(&refused, json!({ "deleted": false, "file_path": "a/Plan.md" }));
    let folder = json!({ "identifier": "zzz", "is_directory": true });
    let refused = notes.refused("delete_note", folder, "DIRECTORY_NOT_FOUND").structured;
    check_keys(
        &refused,
        json!({ "deleted": false, "is_directory": true, "identifier": "zzz", "total_files": 0,
                "successful_deletes": 0, "failed_deletes": 0, "deleted_files": [], "errors": [] }),
    );

    let same = json!({ "identifier": "Plan", "destination_path": "a/Plan.md",
                       "update_links": true, "output_format": "json" });
    let refused = json_of(notes.refused("move_note", same, "DESTINATION_SAME_AS_SOURCE"));
    check_keys(
        &refused,
        json!({ "moved": false, "source": "a/Plan.md", "destination": "a/Plan.md" }),
    );
    check_keys(&refused, known.clone());
    let missing = json!({ "identifier": "Nothing", "destination_folder": "b" });
    let refused = notes.refused("move_note", missing, "NOTE_NOT_FOUND").structured;
    check_keys(&refused, json!({ "moved": false, "source": "Nothing", "destination": "b" }));
    let nowhere =
        notes.refused("move_note", json!({ "identifier": "Plan" }), "MISSING_DESTINATION");
    check_keys(&nowhere.structured, json!({ "moved": false, "destination": null }));

    let edit = |identifier: &str, operation: &str| json!({ "identifier": identifier, "operation": operation, "find_text": "two", "content": "x" });
    let refused =
        notes.refused("edit_note", edit("Plan", "find_replace"), "EDIT_FAILED").structured;
    check_keys(&refused, json!({ "operation": "find_replace", "fileCreated": false }));
    check_keys(&refused, known);
    let refused = notes.refused("edit_note", edit("Nothing", "find_replace"), "NOTE_NOT_FOUND");
    check_keys(&refused.structured, unknown);

    notes.write("", "What? Why: now", "x");
    let again = json!({ "title": "What? Why: now", "directory": "", "content": "y" });
    let refused = notes.refused("write_note", again, "NOTE_ALREADY_EXISTS").structured;
    assert_eq!(refused["title"], json!("What? Why: now"));
    let listed = notes.ok("list_directory", json!({ "dir_name": "a" })).structured;
    assert_eq!(listed["nodes"][0]["directory_path"], json!("/a/Plan.md"));
}
