//! An inserted entry can be removed again, and nothing else changes.

use serde_json::{Value, json};

use super::*;

const PATH: [&str; 2] = ["mcpServers", "memoranda"];

fn entry() -> Value {
    json!({ "command": "memoranda", "args": ["mcp"] })
}

#[track_caller]
fn check(before: &str, after: &str) {
    let added = set(before, &PATH, &entry()).unwrap();
    assert_eq!(added, after);
    assert_eq!(set(&added, &PATH, &entry()).unwrap(), after, "again");
    assert_eq!(super::value(&added).unwrap()["mcpServers"]["memoranda"], entry());
}

#[track_caller]
fn check_both(before: &str, after: &str) {
    check(before, after);
    assert_eq!(remove(after, &PATH).unwrap(), before);
}

#[test]
fn a_member_fits_in_with_its_siblings() {
    check_both(
        "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"memoranda\": {\n      \"command\": \
         \"memoranda\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
    );
    // Tabs, comments, a comma at the end, Windows line ends.
    check_both(
        "{\r\n\t// servers\r\n\t\"mcpServers\": {\r\n\t\t\"a\": 1, // one\r\n\t},\r\n}",
        "{\r\n\t// servers\r\n\t\"mcpServers\": {\r\n\t\t\"a\": 1, // one\r\n\t\t\"memoranda\": \
         {\r\n\t\t\t\"command\": \"memoranda\",\r\n\t\t\t\"args\": [\"mcp\"]\r\n\t\t},\r\n\t},\r\n}",
    );
    check_both(
        "{\"mcpServers\": {\"a\": 1}, \"b\": [1,2]}",
        "{\"mcpServers\": {\"a\": 1, \"memoranda\": {\"command\": \"memoranda\", \"args\": \
         [\"mcp\"]}}, \"b\": [1,2]}",
    );
    // A comment behind the last member, and one below it.
    check_both(
        "{\n    \"mcpServers\": {\n        \"a\": 1 /* one */ // first\n        // \"b\": 2\n    }\n}",
        "{\n    \"mcpServers\": {\n        \"a\": 1, /* one */ // first\n        // \"b\": 2\n        \
         \"memoranda\": {\n            \"command\": \"memoranda\",\n            \"args\": \
         [\"mcp\"]\n        }\n    }\n}",
    );
}

#[test]
fn the_way_is_made_and_unmade() {
    let keyed = "{\n  \"mcpServers\": {\n    \"memoranda\": {\n      \"command\": \"memoranda\",\n      \
                 \"args\": [\"mcp\"]\n    }\n  }\n}";
    check("{}", keyed);
    check("", &format!("{keyed}\n"));
    check("  \n", &format!("{keyed}\n"));
    check("\u{feff}{}", &format!("\u{feff}{keyed}"));
    check("// mine\n", &format!("// mine\n{keyed}\n"));
    check_both(
        "{\n  \"a\": 1\n}\n",
        &format!("{}\n", keyed.replacen("{\n", "{\n  \"a\": 1,\n", 1)),
    );
    assert_eq!(remove(keyed, &PATH).unwrap(), "{}");
    assert_eq!(remove("{\"a\": 1}", &PATH).unwrap(), "{\"a\": 1}");
    // A comment is a reason to stay.
    let commented = "{\n  \"mcpServers\": {\n    // none yet\n    \"memoranda\": {}\n  }\n}";
    let bare = "{\n  \"mcpServers\": {\n    // none yet\n  }\n}";
    assert_eq!(remove(commented, &PATH).unwrap(), bare);
    check(
        bare,
        "{\n  \"mcpServers\": {\n    // none yet\n    \"memoranda\": {\n      \"command\": \
         \"memoranda\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}",
    );
}

#[test]
fn an_old_entry_is_replaced_in_its_place() {
    let before = "{\"mcpServers\": {\"memoranda\": {\"command\": \"old\"}, \"z\": 1}}";
    let after = set(before, &PATH, &entry()).unwrap();
    assert_eq!(
        after,
        "{\"mcpServers\": {\"memoranda\": {\"command\": \"memoranda\", \"args\": [\"mcp\"]}, \"z\": 1}}"
    );
    assert_eq!(remove(&after, &PATH).unwrap(), "{\"mcpServers\": {\"z\": 1}}");
    let twice = "{\n  \"mcpServers\": {\n    \"memoranda\": 1,\n    \"x\": 2,\n    \"memoranda\": 3\n  }\n}";
    assert_eq!(remove(twice, &PATH).unwrap(), "{\n  \"mcpServers\": {\n    \"x\": 2\n  }\n}");
}

#[test]
fn lists_take_items_and_give_them_back() {
    let path = ["hooks", "Stop"];
    let ours = |item: &Value| item["command"].as_str().is_some_and(|c| c.contains("memoranda"));
    let item = json!({ "command": "memoranda hook stop" });
    for before in [
        "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"command\": \"x\" }\n    ]\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"command\": \"x\" }, // theirs\n    ],\n  },\n}\n",
        "{\"hooks\": {\"Stop\": [{\"command\": \"x\"}]}}",
        "{\n  \"model\": \"x\"\n}\n",
        "{\n  \"hooks\": {\n    \"Other\": []\n  }\n}\n",
    ] {
        let added = append(before, &path, &item).unwrap();
        let list = super::value(&added).unwrap()["hooks"]["Stop"].clone();
        assert_eq!(list.as_array().unwrap().last().unwrap(), &item, "{added}");
        assert_eq!(remove_items(&added, &path, ours).unwrap(), before, "{added}");
    }
}

#[test]
fn what_is_broken_is_told_with_its_line() {
    for (text, line, word) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, "`,`"),
        ("{\n  a: 1\n}", 2, "double quotes"),
        ("{\n  \"a\": \n", 3, "ends"),
        ("{\n  \"a\": {", 2, "never closed"),
        ("{ \"a\": tru }", 1, "\"tru\""),
        ("{} x", 1, "follows"),
        ("/* open", 1, "comment"),
        ("{\"a\": \"x\n\"}", 1, "text"),
        ("[]", 1, "not an object"),
        ("{\"mcpServers\": []}", 1, "\"mcpServers\" is not an object"),
        ("{\"a\": \"\\x\"}", 1, "not a valid JSON string"),
    ] {
        let broken = set(text, &PATH, &entry()).unwrap_err();
        assert!(broken.what.contains(word), "{text:?}: {broken}");
        assert_eq!(broken.line, line, "{text:?}: {broken}");
    }
    let deep = "[".repeat(100_000);
    assert!(super::value(&deep).unwrap_err().what.contains("deeply"));
}
