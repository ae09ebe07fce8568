//! Filters on frontmatter, schemas, and reads of the past.

use serde_json::{Value, json};

use crate::notes_support::Notes;

#[test]
fn frontmatter_is_compared_as_what_it_is() {
    let notes = Notes::new();
    notes.person("main/a.md", "---\npriority: 2\nver: 1.10\ntags: work, q4\n---\nx\n");
    notes.person("main/b.md", "---\npriority: 3\nver: '2.x'\ntags: [homework]\n---\nx\n");
    let check = |filters: Value, expected: &[&str]| {
        let found = notes.ok("search_notes", json!({ "metadata_filters": filters }));
        let results = found.structured["results"].as_array().unwrap().clone();
        let mut paths: Vec<&str> =
            results.iter().filter_map(|result| result["file_path"].as_str()).collect();
        paths.sort_unstable();
        assert_eq!(paths, expected, "{filters}");
    };
    check(json!({ "priority": 2.0 }), &["a.md"]);
    check(json!({ "priority": "2" }), &["a.md"]);
    check(json!({ "priority": { "$in": [2.0, 3] } }), &["a.md", "b.md"]);
    check(json!({ "priority": 2.5 }), &[]);
    check(json!({ "ver": 1.1 }), &["a.md"]);
    check(json!({ "ver": "2.X" }), &["b.md"]);
    check(json!({ "ver": 2 }), &[]);
    check(json!({ "tags": "work" }), &["a.md"]);
    check(json!({ "tags": "Q4" }), &["a.md"]);
    check(json!({ "tags": ["work", "q4"] }), &["a.md"]);
    check(json!({ "tags": { "$in": ["q4", "homework"] } }), &["a.md", "b.md"]);
    check(json!({ "tags": "wor" }), &[]);
    // A text is no number, even if it looks like one.
    notes.person("main/c.md", "---\nversion: \"1.1\"\nyear: [2024]\n---\nx\n");
    notes.person("main/d.md", "---\nversion: \"1.10\"\n---\nx\n");
    check(json!({ "version": "1.10" }), &["d.md"]);
    check(json!({ "version": "1.1" }), &["c.md"]);
    check(json!({ "version": { "$in": ["1.1", "1.2"] } }), &["c.md"]);
    check(json!({ "version": { "$between": ["1", 2] } }), &["c.md", "d.md"]);
    check(json!({ "year": "2024" }), &["c.md"]);
    check(json!({ "year": [2024.0] }), &["c.md"]);
}

#[test]
fn a_text_that_starts_with_digits_is_not_a_number() {
    let notes = Notes::new();
    for (name, due) in [
        ("jan", "2026-01-05"),
        ("feb", "2026-02-05T10:00:00"),
        ("next", "2027-02-01"),
        ("year", "2026"),
    ] {
        notes.person(&format!("main/{name}.md"), &format!("---\ndue: {due}\n---\nx\n"));
    }
    notes.person(
        "main/other.md",
        "---\nv: 1.2.3\nip: 10.0.0.1\nphone: 555-1234\nsize: 10\nsci: 1e3\nneg: -4\n\
         nested:\n  deep:\n    key: val\n  list: [{a: val}, val2]\n---\nx\n",
    );
    let check = |filters: Value, expected: &[&str]| {
        let found = notes.ok("search_notes", json!({ "metadata_filters": filters }));
        let results = found.structured["results"].as_array().unwrap().clone();
        let mut paths: Vec<&str> =
            results.iter().filter_map(|result| result["file_path"].as_str()).collect();
        paths.sort_unstable();
        assert_eq!(paths, expected, "{filters}");
    };
    check(json!({ "due": 2026 }), &["year.md"]);
    check(json!({ "v": 1.2 }), &[]);
    check(json!({ "v": { "$gt": 1 } }), &[]);
    check(json!({ "ip": 10 }), &[]);
    check(json!({ "phone": 555 }), &[]);
    check(json!({ "phone": { "$in": [555, "555-1234"] } }), &["other.md"]);
    check(json!({ "sci": 1000 }), &["other.md"]);
    check(json!({ "neg": { "$lt": 0 } }), &["other.md"]);
    check(json!({ "size": { "$gt": 9 } }), &["other.md"]);
    // A bound in quotes is a number to numbers, and a text to all else.
    check(json!({ "size": { "$gt": "9" } }), &["other.md"]);
    check(json!({ "due": { "$gt": "2026" } }), &["feb.md", "jan.md", "next.md"]);
    check(json!({ "due": { "$gt": 2025 } }), &["year.md"]);
    check(json!({ "due": { "$between": ["2026", "2027"] } }), &["feb.md", "jan.md", "year.md"]);
    check(json!({ "due": { "$lte": "2026-01-31" } }), &["jan.md", "year.md"]);
    // A mapping is not one of its values.
    check(json!({ "nested.deep": "val" }), &[]);
    check(json!({ "nested.deep.key": "val" }), &["other.md"]);
    check(json!({ "nested.list": "val2" }), &["other.md"]);
    check(json!({ "nested.list": "val" }), &[]);
}

#[test]
fn long_lists_are_searched_or_refused_by_name() {
    let notes = Notes::new();
    notes.person("main/a.md", "---\ndue: 2026-01-05\nsize: 7\ntags: [t7]\n---\nx\n");
    let many = |count: usize, last: &str| -> Vec<Value> {
        (0..count).map(|n| json!(format!("v{n}"))).chain([json!(last)]).collect()
    };
    let numbers: Vec<Value> = (0..2000).map(|n| json!(n)).collect();
    for filters in [
        json!({ "due": { "$in": many(2000, "2026-01-05") } }),
        json!({ "tags": { "$in": many(2000, "T7") } }),
        json!({ "size": { "$in": numbers } }),
    ] {
        let found = notes.ok("search_notes", json!({ "metadata_filters": filters })).structured;
        assert_eq!(found["results"][0]["file_path"], json!("a.md"));
    }
    for (arguments, limit) in [
        (json!({ "tags": many(1100, "t7") }), "100"),
        (json!({ "metadata_filters": { "due": many(900, "x") } }), "$in"),
        (json!({ "metadata_filters": { "due": { "$in": many(20_000, "x") } } }), "10000"),
        (json!({ "note_types": many(40_000, "x") }), "10000"),
        (json!({ "categories": many(40_000, "x") }), "10000"),
    ] {
        let refused = notes.refused("search_notes", arguments, "INVALID_ARGUMENTS").text;
        assert!(refused.contains(limit), "{refused}");
    }
    notes.ok("search_notes", json!({ "tags": many(99, "t7") }));
    notes.ok("search_notes", json!({ "metadata_filters": { "due": many(99, "x") } }));
}

#[test]
fn a_tag_is_found_wherever_it_stands() {
    let notes = Notes::new();
    notes.person("main/task.md", "- [ ] buy milk #errand\n- [x] call #phone\n");
    notes.person("main/quote.md", "> quote #quoted\n\n> [!tip] Callout #called\n");
    notes.person("main/text.md", "plain #plain\n");
    for (tag, file) in [
        ("errand", "task.md"),
        ("phone", "task.md"),
        ("quoted", "quote.md"),
        ("called", "quote.md"),
        ("plain", "text.md"),
    ] {
        for asked in [json!({ "tags": [tag] }), json!({ "query": format!("tag:{tag}") })] {
            let found = notes.ok("search_notes", asked.clone()).structured;
            assert_eq!(found["results"][0]["file_path"], json!(file), "{asked}");
            assert_eq!(found["total"], json!(1), "{asked}");
        }
    }
    // A task is no fact.
    let facts =
        notes.ok("search_notes", json!({ "query": "milk", "entity_types": ["observation"] }));
    assert_eq!(facts.structured["total"], json!(0));
}

#[test]
fn a_fact_without_a_category_is_a_note() {
    let notes = Notes::new();
    notes.person("main/a.md", "- something #tagged\n- [fact] other\n");
    notes.person("main/b.md", "- [Note] said #tagged\n");
    notes.person("main/c.md", "- [fact] the note\n");
    for (categories, expected) in [
        (json!(["note"]), vec!["a.md: something #tagged", "b.md: said #tagged"]),
        (json!(["NOTE", "none"]), vec!["a.md: something #tagged", "b.md: said #tagged"]),
        (json!(["fact"]), vec!["a.md: other", "c.md: the note"]),
    ] {
        for query in ["", "something said other note"] {
            let ask = json!({ "categories": categories, "query": query, "min_similarity": 0 });
            let found = notes.ok("search_notes", ask.clone()).structured;
            let told = |hit: &Value| {
                let content = hit["content"].as_str().unwrap();
                let content = content.split_once("] ").map_or(content, |(_, text)| text);
                format!("{}: {content}", hit["file_path"].as_str().unwrap())
            };
            let mut told: Vec<String> =
                found["results"].as_array().unwrap().iter().map(told).collect();
            told.sort_unstable();
            assert_eq!(told, expected, "{ask}");
        }
    }
}

#[test]
fn a_query_for_everything_lists_everything() {
    let notes = Notes::new();
    for n in 1..=3 {
        notes.write(
            "",
            &format!("N{n}"),
            &format!("- [fact] said {n} #t{n}\n- next [[N{}]]", n + 1),
        );
    }
    let check = |ask: Value, expected: &[&str]| {
        let mut told = Vec::new();
        for page in 1.. {
            let mut ask = ask.clone();
            ask["page"] = json!(page);
            ask["page_size"] = json!(2);
            let found = notes.ok("search_notes", ask).structured;
            let results = found["results"].as_array().unwrap();
            told.extend(results.iter().map(|hit| hit["permalink"].as_str().unwrap().to_owned()));
            if found["has_more"] == json!(false) {
                break;
            }
        }
        assert_eq!(told, expected, "{ask}");
    };
    // The newest first.
    let relations = ["n3/next/n4", "n2/next/n3", "n1/next/n2"];
    check(json!({ "entity_types": ["relation"] }), &relations);
    check(json!({ "entity_types": ["relation"], "query": "*" }), &relations);
    let facts = ["n3", "n2", "n1"].map(|n| format!("{n}/observations/fact/said-{0}-t{0}", &n[1..]));
    check(json!({ "entity_types": ["observation"] }), &facts.each_ref().map(String::as_str));
    for ask in [json!({ "query": "*" }), json!({ "entity_types": ["entity"] })] {
        check(ask, &["n3", "n2", "n1"]);
    }
    check(json!({ "query": " * ", "tags": ["t2"] }), &["n2"]);
    let text = notes.ok("search_notes", json!({ "query": "*" })).text;
    assert!(text.starts_with("# Search results for everything in all projects"), "{text}");
    notes.refused("search_notes", json!({ "query": "" }), "NO_CRITERIA");
}

#[test]
fn only_the_nul_character_is_removed() {
    let notes = Notes::new();
    notes.person("main/a.md", "---\ntitle: The\0 Heron\nstatus: open\n---\nx\n");
    let read = notes.ok("read_note", json!({ "identifier": "The Heron" })).structured;
    assert_eq!(read["frontmatter"], json!({ "title": "The Heron", "status": "open" }));
    let found = notes.ok("search_notes", json!({ "status": "open" })).structured;
    assert_eq!(found["total"], json!(1));
}

#[test]
fn a_valid_note_names_its_schema() {
    let notes = Notes::new();
    notes.person(
        "main/schemas/Person.md",
        "---\ntype: schema\nentity: Person\nschema:\n  name: string\n---\nx\n",
    );
    notes.person("main/Ada.md", "---\ntype: person\n---\n- [name] Ada\n- [mood] fine\n");
    let one = notes.ok("schema_validate", json!({ "identifier": "Ada" }));
    assert!(one.text.contains("- Ada (ada) fits the schema Person\n"), "{}", one.text);
    assert!(one.text.contains("It also has mood"), "{}", one.text);
    let none = notes.ok("schema_validate", json!({ "note_type": "nope" }));
    assert!(none.text.contains("There is no note of type \"nope\"."), "{}", none.text);
}

#[test]
fn before_the_history_nothing_is_known() {
    let notes = Notes::new();
    notes.person("main/a.md", "x\n");
    for (tool, arguments, code) in [
        ("read_note", json!({ "identifier": "a", "as_of": "2001-01-01" }), "NOT_THERE_THEN"),
        ("build_context", json!({ "url": "memory://a", "as_of": "2001-01-01" }), "NOTE_NOT_FOUND"),
    ] {
        let refused = notes.refused(tool, arguments, code);
        let said = refused.structured["message"].as_str().unwrap();
        assert!(said.contains("the history of project main begins at 20"), "{said}");
    }
}

#[test]
fn tags_are_found_in_every_case_and_below_others() {
    let notes = Notes::new();
    notes.person("main/A.md", "---\ntags: [Über, area/sub1]\nstatus: Über\n---\ntext\n");
    notes.person("main/B.md", "---\ntags: [\"#hash\", two three]\n---\ntext\n");
    notes.person("main/C.md", "---\ntags: [areas, 🚀]\nstatus: ÉCOLE\n---\ntext\n");
    let check = |arguments: Value, expected: &[&str]| {
        let found = notes.ok("search_notes", arguments.clone()).structured;
        let results = found["results"].as_array().unwrap().iter();
        let mut titles: Vec<_> = results.map(|r| r["title"].as_str().unwrap()).collect();
        titles.sort_unstable();
        assert_eq!(titles, expected, "{arguments}");
    };
    check(json!({ "query": "tag:Über" }), &["A"]);
    check(json!({ "query": "tag:u\u{308}ber" }), &["A"]);
    check(json!({ "tags": ["über"] }), &["A"]);
    check(json!({ "tags": ["ÜBER"] }), &["A"]);
    check(json!({ "status": "über" }), &["A"]);
    check(json!({ "status": "école" }), &["C"]);
    check(json!({ "tags": ["area"] }), &["A"]);
    check(json!({ "tags": ["area/sub1"] }), &["A"]);
    check(json!({ "tags": ["sub1"] }), &[]);
    check(json!({ "query": "tag:area" }), &["A"]);
    check(json!({ "tags": ["🚀"] }), &["C"]);
    check(json!({ "query": "tag:🚀" }), &["C"]);
    check(json!({ "metadata_filters": { "tags": "hash" } }), &["B"]);
    check(json!({ "metadata_filters": { "tags": "#hash" } }), &["B"]);
    check(json!({ "metadata_filters": { "tags": "über" } }), &["A"]);
    check(json!({ "query": "tag:\"two three\"" }), &["B"]);
    check(json!({ "tags": ["Two Three"] }), &["B"]);
}

#[test]
fn similarity_limits_what_is_found_by_meaning_alone() {
    let notes = Notes::new();
    notes.person("main/Music.md", "# Music\n\nThe xylophonist played until late in the night.\n");
    notes.person("main/Cats.md", "# Cats\n\nA kitten and its mother slept on the sofa.\n");
    let found = |query: &str, search_type: &str, least: f64| {
        let arguments =
            json!({ "query": query, "search_type": search_type, "min_similarity": least });
        let found = notes.ok("search_notes", arguments).structured;
        found["results"].as_array().unwrap().len()
    };
    for search_type in ["text", "hybrid"] {
        assert_eq!(found("xylophonist", search_type, 0.99), 1, "{search_type}");
    }
    assert_eq!(found("xylophonist", "vector", 0.99), 0);
    assert_eq!(found("cat", "hybrid", 0.0), 2);
    assert_eq!(found("feline animals", "hybrid", 0.99), 0);
}

#[test]
fn signs_that_make_another_name_of_a_word_count() {
    let notes = Notes::new();
    for (path, text) in [("C++.md", "a language\n"), ("C#.md", "a language\n")] {
        notes.person(&format!("main/{path}"), text);
    }
    for (query, first) in [("C++", "C++.md"), ("C#", "C#.md"), ("c++", "C++.md")] {
        let found = notes.ok("search_notes", json!({ "query": query })).structured;
        assert_eq!(found["results"][0]["file_path"], json!(first), "{query}");
        assert_eq!(found["results"].as_array().unwrap().len(), 2, "{query}");
    }
}

#[test]
fn a_note_is_validated_against_the_schemas_of_its_project() {
    let notes = Notes::new();
    let schema =
        |field: &str| format!("---\ntype: schema\nentity: task\nschema:\n  {field}: string\n---\n");
    notes.person("main/Task.md", &schema("owner"));
    notes.person("other/Task.md", &schema("due"));
    notes.person("other/t/r1.md", "---\ntype: task\n---\n- [due] monday\n");
    for identifier in ["other/t/r1", "other::r1", "r1"] {
        let said = notes.ok("schema_validate", json!({ "identifier": identifier }));
        assert_eq!(said.structured["project"], json!("other"), "{}", said.text);
        assert_eq!(said.structured["valid_count"], json!(1), "{}", said.text);
        assert!(said.text.contains("fits the schema task"), "{}", said.text);
    }
}

#[test]
fn an_inferred_schema_says_what_it_was_inferred_from() {
    let notes = Notes::new();
    let text = "---\ntype: riddle\n---\n- [a: b] x\n- [@x] y\n- [why?] z\n- [why] z\n- [yes] z\n\
                - \"made (by)\" [[Ada]]\n";
    notes.person("main/one.md", text);
    notes.person("main/two.md", text);
    let proposed = notes.ok("schema_infer", json!({ "note_type": "riddle" })).text;
    let yaml = proposed.split("```").nth(1).unwrap().strip_prefix("yaml\n").unwrap();
    notes.person("main/schemas/Riddle.md", &format!("---\n{yaml}---\n"));
    let compared = notes.ok("schema_diff", json!({ "note_type": "riddle" })).text;
    assert!(compared.contains("They agree."), "{yaml}{compared}");
    let held = notes.ok("schema_validate", json!({})).text;
    assert!(held.contains("2 notes checked against 1 schema: 2 fit"), "{held}");
    // A note without one of the values does not match.
    notes.person("main/two.md", &text.replace("- [why?] z\n", ""));
    let held = notes.ok("schema_validate", json!({})).text;
    assert!(held.contains("(two): missing why?\n"), "{held}");
}

#[test]
fn two_schemas_of_one_type_are_reported_and_notes_counted_once() {
    let notes = Notes::new();
    for (name, entity, field) in [("A", "Task", "name"), ("B", "task", "due")] {
        let text =
            format!("---\ntype: schema\nentity: {entity}\nschema:\n  {field}: string\n---\n");
        notes.person(&format!("main/schemas/{name}.md"), &text);
    }
    notes.person("main/one.md", "---\ntype: task\n---\n- [due] today\n");
    notes.person("main/two.md", "---\ntype: task\n---\n- [name] two\n");
    let held = notes.ok("schema_validate", json!({}));
    assert!(
        held.text.contains("2 notes checked against 2 schemas: 1 fit, 1 do not"),
        "{}",
        held.text
    );
    assert_eq!(held.text.matches("(one)").count(), 1, "{}", held.text);
    let clash =
        "Notes of type task are held to schemas/a alone, though schemas/b describes them too";
    assert!(held.text.contains(clash), "{}", held.text);
    let clashing = json!([{ "entity": "task", "schemas": ["schemas/a", "schemas/b"] }]);
    assert_eq!(held.structured["clashing_schemas"], clashing);
    let compared = notes.ok("schema_diff", json!({ "note_type": "task" })).text;
    assert!(compared.contains(clash), "{compared}");
}

#[test]
fn a_note_names_its_schema_as_it_names_any_note() {
    let notes = Notes::new();
    let schema = "---\ntype: schema\nentity: chore\nschema:\n  name: string\n---\n";
    notes.person("main/schemas/Task.md", schema);
    notes.person("main/loose.md", "x\n");
    for (name, fits) in [
        ("schemas/task", true),
        ("Task", true),
        ("task", true),
        ("chore", true),
        ("Chore", true),
        ("schemas/Task", true),
        ("schemas/Task.md", true),
        ("TASK", true),
        ("\"[[Task]]\"", true),
        ("[[Task]]", true),
        ("memory://schemas/task", true),
        ("does-not-exist", false),
        ("loose", false),
    ] {
        notes.person("main/one.md", &format!("---\nschema: {name}\n---\n- [name] x\n"));
        let held = notes.ok("schema_validate", json!({ "identifier": "one" }));
        assert_eq!(held.text.contains("fits the schema chore"), fits, "{name}: {}", held.text);
        let broken = held.structured["broken_references"].as_array().unwrap();
        assert_eq!(broken.is_empty(), fits, "{name}: {broken:?}");
        let said = format!("one asks for the schema {name:?}, which ");
        assert_eq!(held.text.contains(&said), !fits, "{name}: {}", held.text);
    }
    // An unreadable note does not stop the validation of others.
    notes.person("main/.memorandaignore", "private/\n");
    notes.person("main/private/Task.md", "hidden\n");
    notes.person("main/one.md", "---\ntype: chore\nschema: private/Task\n---\n- [name] x\n");
    notes.person("main/two.md", "---\ntype: chore\n---\n- [name] x\n");
    let held = notes.ok("schema_validate", json!({}));
    assert!(held.text.contains("\"private/Task\", which cannot be used: "), "{}", held.text);
    assert_eq!(held.structured["valid_count"], json!(2), "{}", held.text);
}

#[test]
fn tags_are_alternatives_where_that_is_said() {
    let notes = Notes::new();
    for (title, tags, text) in [
        ("Coffee", json!(["coffee", "hot"]), "brewed"),
        ("Tea", json!(["tea", "hot"]), "brewed"),
        ("Plan", json!(["travel"]), "To Zürich"),
        ("Milk", json!(["cold"]), "white"),
    ] {
        let note = json!({ "title": title, "content": text, "directory": "", "tags": tags });
        notes.ok("write_note", note);
    }
    let check = |query: &str, expected: &[&str]| {
        let found = notes.ok("search_notes", json!({ "query": query }));
        let results = found.structured["results"].as_array().unwrap();
        let mut titles: Vec<_> = results.iter().map(|r| r["title"].as_str().unwrap()).collect();
        titles.sort_unstable();
        assert_eq!(titles, expected, "{query}: {}", found.text);
    };
    check("tag:tea OR tag:coffee", &["Coffee", "Tea"]);
    check("tag:hot (tag:tea OR tag:cold)", &["Tea"]);
    check("brewed tag:tea OR tag:travel", &["Tea"]);
    check("zürich OR tag:coffee", &["Coffee", "Plan"]);
    check("tag:cold OR zürich", &["Milk", "Plan"]);
    check("TAG:hot", &["Coffee", "Tea"]);
    check("tag:hot,tea", &["Tea"]);
    check("tag:hot NOT tag:tea", &["Coffee"]);
    let many = (0..2000).map(|n| format!("t{n}")).collect::<Vec<_>>().join(",");
    for query in [format!("tag:{many}"), format!("tag:{many} OR tag:x"), format!("x -tag:{many}")] {
        notes.ok("search_notes", json!({ "query": query }));
    }
    notes.ok("search_notes", json!({ "query": "tag:a\0b" }));
    notes.ok("search_notes", json!({ "tags": ["a\0b"] }));
}

#[test]
fn a_phrase_has_a_meaning_too() {
    let notes = Notes::new();
    notes.write("", "Kettle", "- [fact] Green tea is brewed at 80 degrees");
    for search_type in ["vector", "semantic", "hybrid"] {
        let asked = json!({ "query": "\"green tea\"", "search_type": search_type });
        assert_eq!(notes.ok("search_notes", asked).structured["total"], json!(1), "{search_type}");
    }
}
