//! Expectations of clients of other memory servers: shapes of answers, spellings of arguments.

use memoranda_tools::Wording;
use serde_json::{Value, json};

use crate::notes_support::Notes;
use crate::support::TestVault;

#[test]
fn relations_are_results_of_their_own_and_found_by_either_spelling() {
    let notes = Notes::new();
    notes.write("g", "Leaf", "x");
    notes.write("g", "Root", "- depends_on [[Leaf]]\n- depends_on [[Nowhere]]");
    let context = notes.ok("build_context", json!({ "url": "memory://g/root" })).structured;
    let related = context["results"][0]["related_results"].as_array().unwrap();
    let relations: Vec<&Value> = related.iter().filter(|r| r["type"] == "relation").collect();
    let relation = |to: Value, name: Option<&str>| {
        let mut relation = json!({
            "type": "relation", "relation_type": "depends_on", "from_entity": "Root",
            "to_entity": to,
        });
        if let Some(name) = name {
            relation["to_name"] = json!(name);
        }
        relation
    };
    let expected = [relation(json!("Leaf"), None), relation(Value::Null, Some("Nowhere"))];
    assert_eq!(relations, expected.iter().collect::<Vec<_>>());
    for url in ["memory://g/root/depends_on/*", "memory://g/root/depends-on/*", "*/depends_on/*"] {
        let found = notes.ok("build_context", json!({ "url": url })).structured;
        let titles: Vec<&Value> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| &result["primary_result"]["title"])
            .collect();
        assert_eq!(titles, [&json!("Root")], "{url}: {found}");
    }
}

#[test]
fn numbers_of_the_frontmatter_are_numbers() {
    let notes = Notes::new();
    let text = "---\ntitle: T\nn: 3\nx: -1.5\nflag: true\nquoted: \"3\"\nzip: 01234\nday: \
                2021-01-01\nbig: 1e999\nlist: [1, 2]\n---\nbody\n";
    notes.person("main/t.md", text);
    let read = notes.ok("read_note", json!({ "identifier": "t", "output_format": "json" }));
    let frontmatter = &read.structured["frontmatter"];
    for (key, value) in [
        ("n", json!(3)),
        ("x", json!(-1.5)),
        ("flag", json!(true)),
        ("quoted", json!("3")),
        ("zip", json!("01234")),
        ("day", json!("2021-01-01")),
        ("big", json!("1e999")),
    ] {
        assert_eq!(frontmatter[key], value, "{key}: {frontmatter}");
    }
}

#[test]
fn a_tool_without_parameters_takes_any() {
    let vault = TestVault::new(Wording::Mcp);
    for tool in ["vacuum_memories", "list_memory_projects"] {
        vault.done(tool, json!({ "random_string": "dummy" }));
    }
    let failed = vault.call("get_rules", &json!({ "random_string": "dummy" }));
    assert!(failed.is_error && failed.text.contains("random_string"), "{}", failed.text);
}

#[test]
fn the_memory_directory_has_its_name_under_every_spelling() {
    let vault = TestVault::new(Wording::Mcp);
    vault.memory(&json!({ "command": "create", "path": "user/a.md", "file_text": "x" }));
    let expected = vault.memory(&json!({ "command": "view", "path": "/memories" })).text;
    assert!(expected.contains("\t/memories/user/a.md"), "{expected}");
    for path in ["/", ".", "./"] {
        let view = vault.memory(&json!({ "command": "view", "path": path }));
        assert_eq!(view.text, expected, "{path}");
    }
}

#[test]
fn a_replacement_that_occurs_twice_names_the_lines() {
    let vault = TestVault::new(Wording::Mcp);
    let path = "/memories/a.md";
    vault.memory(&json!({ "command": "create", "path": path, "file_text": "x\ny\nx\n" }));
    let replace = json!({ "command": "str_replace", "path": path, "old_str": "x", "new_str": "z" });
    let failed = vault.memory(&replace);
    assert!(failed.is_error);
    let expected = json!({
        "error": "Found 2 matches for replacement text. Please provide more context to make a \
                  unique match.",
        "is_error": true,
        "lines": [1, 3],
    });
    assert_eq!(failed.structured, expected);
    assert_eq!(serde_json::from_str::<Value>(&failed.text).unwrap(), expected);
}
