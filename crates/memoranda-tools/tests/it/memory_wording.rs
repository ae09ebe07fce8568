//! Every answer of the memory tool, byte for byte, in both wordings.

use memoranda_engine::SearchRequest;
use memoranda_tools::{CreateMode, Wording};
use serde_json::{Value, json};

use crate::support::TestVault;

fn check(vault: &TestVault, arguments: &Value, expected: &str) {
    let result = vault.memory(arguments);
    assert_eq!(result.text, expected, "{arguments}");
    assert!(!result.is_error);
    assert_eq!(result.structured["result"], expected);
}

fn check_error(vault: &TestVault, arguments: &Value, expected: &str) {
    let result = vault.memory(arguments);
    assert!(result.is_error, "{arguments}: {}", result.text);
    // The lines of several matches have a test of their own.
    let mut structured = result.structured.clone();
    structured.as_object_mut().unwrap().remove("lines");
    assert_eq!(structured, json!({ "error": expected, "is_error": true }), "{arguments}");
    if vault.settings.wording == Wording::Mcp {
        let parsed: Value = serde_json::from_str(&result.text).unwrap();
        assert_eq!(parsed, result.structured);
    } else {
        assert_eq!(result.text, expected);
    }
}

const PREFERENCES: &str = "---\ntitle: User Preferences\ntype: memory\ntags: [user, preferences]\n---\n\n# User Preferences\n\n## Observations\n- [communication] Prefers concise responses #style\n- [workflow] Uses justfile for automation #tools\n";

#[test]
fn the_specifications_own_procedure_works() {
    let vault = TestVault::new(Wording::Mcp);
    let path = "memories/user/preferences.md";
    check(
        &vault,
        &json!({"command": "create", "path": path, "file_text": PREFERENCES}),
        "Created memories/user/preferences.md",
    );
    let view = vault.memory(&json!({"command": "view", "path": path})).text;
    assert!(view.starts_with(
        "Here's the content of memories/user/preferences.md with line numbers:\n     1\t---\n"
    ));
    assert!(view.ends_with("\n    11\t- [workflow] Uses justfile for automation #tools\n    12\t"));
    check(
        &vault,
        &json!({"command": "str_replace", "path": path, "old_str": "concise responses", "new_str": "direct, concise responses"}),
        "Replaced text in memories/user/preferences.md",
    );
    check(
        &vault,
        &json!({"command": "insert", "path": path, "insert_line": 10, "insert_text": "- [technical] Works primarily in Python #coding"}),
        "Inserted text at line 10",
    );
    let text = std::fs::read_to_string(vault.path("memories/user/preferences.md")).unwrap();
    assert_eq!(
        text,
        PREFERENCES.replace("concise responses", "direct, concise responses").replace(
            "- [workflow]",
            "- [technical] Works primarily in Python #coding\n- [workflow]"
        )
    );
    // Files of the memory tool are indexed like any note.
    let request = SearchRequest {
        text: "python".into(),
        limit: 5,
        snippet_chars: 100,
        ..SearchRequest::default()
    };
    let found = vault.memory.search(&request).unwrap();
    assert_eq!(found.results[0].title, "User Preferences");
    let place = found.results[0].place.clone();
    let file = vault.memory.snapshot().unwrap().file(&place.project, &place.path).unwrap().unwrap();
    let facts = vault.memory.snapshot().unwrap().observations(file.id).unwrap();
    assert_eq!(facts.len(), 3);
    check(
        &vault,
        &json!({"command": "rename", "old_path": path, "new_path": "/memories/user/prefs.md"}),
        "Renamed memories/user/preferences.md to /memories/user/prefs.md",
    );
    check(
        &vault,
        &json!({"command": "delete", "path": "/memories/user/prefs.md"}),
        "Deleted /memories/user/prefs.md",
    );
    assert!(!vault.path("memories/user/prefs.md").exists());
}

#[test]
fn the_specifications_six_errors_are_its_own() {
    let vault = TestVault::new(Wording::Mcp);
    vault.memory(&json!({"command": "create", "path": "/memories/a.md", "file_text": "x\nx\nx\n"}));
    check_error(
        &vault,
        &json!({"command": "view", "path": "memories/user/preferences.md"}),
        "File not found: memories/user/preferences.md",
    );
    check_error(
        &vault,
        &json!({"command": "create", "path": "/etc/x.md", "file_text": ""}),
        "Permission denied: Cannot write outside /memories directory",
    );
    for path in [
        "../../etc/passwd",
        "/memories/../../etc/passwd",
        "/memories/..\\x",
        "/memories/%2e%2e%2fx",
        "/etc/passwd",
    ] {
        check_error(
            &vault,
            &json!({"command": "view", "path": path}),
            "Invalid path: Path must be within /memories directory",
        );
    }
    check_error(
        &vault,
        &json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "x", "new_str": "y"}),
        "Found 3 matches for replacement text. Please provide more context to make a unique match.",
    );
    check_error(
        &vault,
        &json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "z", "new_str": "y"}),
        "No match found for replacement. Please check your text and try again.",
    );
    check_error(
        &vault,
        &json!({"command": "insert", "path": "/memories/a.md", "insert_line": 100, "insert_text": "y"}),
        "Invalid line number: File has 3 lines, cannot insert at line 100",
    );
}

#[test]
fn the_official_words_are_the_official_ones() {
    let vault = TestVault::new(Wording::Claude);
    let a = "/memories/a.txt";
    check(
        &vault,
        &json!({"command": "create", "path": a, "file_text": "one\ntwo\nthree\nfour\nfive\nsix\n"}),
        "File created successfully at: /memories/a.txt",
    );
    check_error(
        &vault,
        &json!({"command": "create", "path": a, "file_text": ""}),
        "File /memories/a.txt already exists",
    );
    check_error(
        &vault,
        &json!({"command": "create", "path": "/memories", "file_text": ""}),
        "File /memories already exists",
    );
    check(
        &vault,
        &json!({"command": "str_replace", "path": a, "old_str": "four", "new_str": "4"}),
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     2\ttwo\n     3\tthree\n     4\t4\n     5\tfive\n     6\tsix",
    );
    check(
        &vault,
        &json!({"command": "str_replace", "path": a, "old_str": "4\n"}),
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     2\ttwo\n     3\tthree\n     4\tfive\n     5\tsix\n     6\t",
    );
    check_error(
        &vault,
        &json!({"command": "str_replace", "path": a, "old_str": "e", "new_str": ""}),
        "No replacement was performed. Multiple occurrences of old_str `e` in lines: 1, 3, 3, 4. Please ensure it is unique",
    );
    check_error(
        &vault,
        &json!({"command": "str_replace", "path": a, "old_str": "seven", "new_str": ""}),
        "No replacement was performed, old_str `seven` did not appear verbatim in /memories/a.txt.",
    );
    check(
        &vault,
        &json!({"command": "insert", "path": a, "insert_line": 0, "insert_text": "zero\n"}),
        "The file /memories/a.txt has been edited.",
    );
    check(
        &vault,
        &json!({"command": "insert", "path": a, "insert_line": 1, "new_str": "half"}),
        "The file /memories/a.txt has been edited.",
    );
    check_error(
        &vault,
        &json!({"command": "insert", "path": a, "insert_line": 99, "insert_text": "x"}),
        "Invalid `insert_line` parameter: 99. It should be within the range [0, 7].",
    );
    check(
        &vault,
        &json!({"command": "view", "path": a, "view_range": [2, 3]}),
        "Here's the content of /memories/a.txt with line numbers:\n     2\thalf\n     3\tone",
    );
    check(
        &vault,
        &json!({"command": "view", "path": a, "view_range": [9, 8]}),
        "Here's the content of /memories/a.txt with line numbers:\n",
    );
    check_error(
        &vault,
        &json!({"command": "view", "path": "/memories/no"}),
        "The path /memories/no does not exist. Please provide a valid path.",
    );
    check_error(
        &vault,
        &json!({"command": "delete", "path": "/memories/no"}),
        "The path /memories/no does not exist",
    );
    check_error(
        &vault,
        &json!({"command": "rename", "old_path": "/memories/no", "new_path": "/memories/x"}),
        "The path /memories/no does not exist",
    );
    check_error(
        &vault,
        &json!({"command": "rename", "old_path": "/memories/no", "new_path": a}),
        "The destination /memories/a.txt already exists",
    );
    for root in ["/memories", "/memories/", "/memories/.", "/memories/sub/.."] {
        check_error(
            &vault,
            &json!({"command": "delete", "path": root}),
            "Cannot delete the /memories directory itself",
        );
        check_error(
            &vault,
            &json!({"command": "rename", "old_path": root, "new_path": "/memories/x"}),
            "Cannot rename the /memories directory itself",
        );
    }
    check_error(
        &vault,
        &json!({"command": "view", "path": "/etc/passwd"}),
        "Path must start with /memories, got: /etc/passwd",
    );
    check_error(
        &vault,
        &json!({"command": "view", "path": "/memories/../x"}),
        "Path /memories/../x would escape /memories directory",
    );
    check_error(
        &vault,
        &json!({"command": "view", "path": "../x"}),
        "Path must start with /memories, got: ../x",
    );
    for arguments in [
        json!({"command": "create", "path": "/memories/a.txt/b/c.md", "file_text": "x"}),
        json!({"command": "rename", "old_path": "/memories/b.txt", "new_path": "/memories/a.txt/b/c.md"}),
    ] {
        vault.memory(&json!({"command": "create", "path": "/memories/b.txt", "file_text": ""}));
        check_error(
            &vault,
            &arguments,
            "/memories/a.txt/b/c.md cannot be made: /memories/a.txt is a file, not a directory.",
        );
    }
    let made = std::process::Command::new("mkfifo").arg(vault.path("memories/pipe")).status();
    assert!(made.unwrap().success());
    check_error(
        &vault,
        &json!({"command": "view", "path": "/memories/pipe"}),
        "Unsupported file type for /memories/pipe",
    );
    check(
        &vault,
        &json!({"command": "create", "path": "/memories/sub/deep/b.md", "file_text": "b"}),
        "File created successfully at: /memories/sub/deep/b.md",
    );
    check_error(
        &vault,
        &json!({"command": "str_replace", "path": "/memories/sub", "old_str": "x", "new_str": ""}),
        "The path /memories/sub is not a file.",
    );
    check(
        &vault,
        &json!({"command": "rename", "path": "/memories/sub", "new_path": "/memories/other"}),
        "Successfully renamed /memories/sub to /memories/other",
    );
    check(
        &vault,
        &json!({"command": "delete", "path": "/memories/other"}),
        "Successfully deleted /memories/other",
    );
    assert!(!vault.path("memories/other").exists());
}

#[test]
fn official_messages_quote_long_texts_whole() {
    let vault = TestVault::new(Wording::Claude);
    let many = "one\n".repeat(300);
    vault.memory(&create("/memories/many.txt", &many));
    vault.memory(&create("/memories/a.txt", "aaa\naaaa\n"));
    let replace = |path: &str, old: &str| json!({"command": "str_replace", "path": path, "old_str": old, "new_str": ""});
    let numbers: Vec<String> = (1..=300).map(|n| n.to_string()).collect();
    let long = "x".repeat(5000);
    let path = format!("/memories/{}", "long name/".repeat(40));
    for (arguments, expected) in [
        (
            replace("/memories/a.txt", "aa"),
            "No replacement was performed. Multiple occurrences of old_str `aa` in lines: 1, 1, 2, 2, 2. Please ensure it is unique".to_owned(),
        ),
        (
            replace("/memories/many.txt", "one"),
            format!("No replacement was performed. Multiple occurrences of old_str `one` in lines: {}. Please ensure it is unique", numbers.join(", ")),
        ),
        (
            replace("/memories/a.txt", &long),
            format!("No replacement was performed, old_str `{long}` did not appear verbatim in /memories/a.txt."),
        ),
        (view(&path), format!("The path {path} does not exist. Please provide a valid path.")),
    ] {
        check_error(&vault, &arguments, &expected);
    }
}

#[test]
fn a_directory_is_listed_two_levels_deep() {
    let vault = TestVault::new(Wording::Claude);
    for (path, text) in [
        ("a.md", "x".repeat(1536)),
        ("sub/b.md", String::new()),
        ("sub/deep/hidden.md", "x".into()),
        (".secret/c.md", "x".into()),
        ("node_modules/d.md", "x".into()),
        ("Z.md", "x".into()),
    ] {
        vault.memory(
            &json!({"command": "create", "path": format!("/memories/{path}"), "file_text": text}),
        );
    }
    let text = vault.memory(&json!({"command": "view", "path": "/memories"})).text;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:"
    );
    let names: Vec<&str> = lines[1..].iter().map(|line| line.split_once('\t').unwrap().1).collect();
    assert_eq!(
        names,
        [
            "/memories",
            "/memories/Z.md",
            "/memories/a.md",
            "/memories/sub/",
            "/memories/sub/b.md",
            "/memories/sub/deep/"
        ]
    );
    assert!(lines[3].starts_with("1.5K\t") && lines[5].starts_with("0B\t"));
    let hidden = vault.memory(&json!({"command": "view", "path": "/memories/.secret"})).text;
    assert!(hidden.contains("1B\t/memories/.secret/c.md"));
    let empty = TestVault::new(Wording::Claude)
        .memory(&json!({"command": "view", "path": "/memories"}))
        .text;
    assert_eq!(empty.lines().count(), 2);
}

#[test]
fn the_behaviour_of_create_is_configurable() {
    let mut vault = TestVault::new(Wording::Mcp);
    for text in ["one", "two"] {
        let result = vault
            .memory(&json!({"command": "create", "path": "/memories/a.md", "file_text": text}));
        assert!(!result.is_error);
    }
    vault.settings.create = Some(CreateMode::Refuse);
    let result =
        vault.memory(&json!({"command": "create", "path": "/memories/a.md", "file_text": "three"}));
    assert!(result.is_error);
    assert_eq!(std::fs::read_to_string(vault.path("memories/a.md")).unwrap(), "two");
}

#[test]
fn invalid_commands_report_the_missing_argument() {
    let vault = TestVault::new(Wording::Claude);
    for (arguments, expected) in [
        (
            json!({}),
            "`command` is missing; it is one of view, create, str_replace, insert, delete, rename",
        ),
        (json!([]), "The arguments of memory must be an object."),
        (
            json!({"command": "read"}),
            "\"read\" is not a command; the commands are view, create, str_replace, insert, delete, rename",
        ),
        (json!({"command": "view"}), "`view` needs `path`"),
        (json!({"command": "rename", "new_path": "/memories/x"}), "`rename` needs `old_path`"),
        (
            json!({"command": "insert", "path": "/memories/x", "insert_line": "soon", "insert_text": ""}),
            "`insert_line` of `insert` must be a whole number",
        ),
        (
            json!({"command": "create", "path": 5, "file_text": ""}),
            "`path` of `create` must be a text",
        ),
    ] {
        check_error(&vault, &arguments, expected);
    }
}

/// Steps with what each answers; a vault of its own for each wording.
fn check_steps(wording: Wording, steps: &[(Value, &str)]) {
    let vault = TestVault::new(wording);
    for (arguments, expected) in steps {
        let result = vault.memory(arguments);
        let said = match result.structured.get("error") {
            Some(error) => error.as_str().unwrap().to_owned(),
            None => result.text,
        };
        assert_eq!(said, *expected, "{arguments}");
    }
}

fn create(path: &str, text: &str) -> Value {
    json!({"command": "create", "path": path, "file_text": text})
}

fn view(path: &str) -> Value {
    json!({"command": "view", "path": path})
}

fn rename(from: &str, to: &str) -> Value {
    json!({"command": "rename", "old_path": from, "new_path": to})
}

#[test]
fn names_of_equal_appearance_are_the_same_file() {
    let (apart, composed) = ("/memories/cafe\u{301}.md", "/memories/caf\u{e9}.md");
    check_steps(
        Wording::Mcp,
        &[
            (create(apart, "one"), "Created /memories/cafe\u{301}.md"),
            (create(composed, "two"), "Created /memories/caf\u{e9}.md"),
            (
                view(composed),
                "Here's the content of /memories/caf\u{e9}.md with line numbers:\n     1\ttwo",
            ),
            (
                view(apart),
                "Here's the content of /memories/cafe\u{301}.md with line numbers:\n     1\ttwo",
            ),
            (
                json!({"command": "str_replace", "path": composed, "old_str": "two", "new_str": "3"}),
                "Replaced text in /memories/caf\u{e9}.md",
            ),
            (
                json!({"command": "insert", "path": composed, "insert_line": 0, "insert_text": "4"}),
                "Inserted text at line 0",
            ),
            (rename(composed, apart), "Destination already exists: /memories/cafe\u{301}.md"),
            (json!({"command": "delete", "path": composed}), "Deleted /memories/caf\u{e9}.md"),
            (view(apart), "File not found: /memories/cafe\u{301}.md"),
        ],
    );
}

#[test]
fn names_that_differ_in_case_are_one_name() {
    for wording in [Wording::Mcp, Wording::Claude] {
        let say = |seed: &'static str, claude: &'static str| match wording {
            Wording::Mcp => seed,
            Wording::Claude => claude,
        };
        check_steps(
            wording,
            &[
                (
                    create("/memories/a.md", "one"),
                    say("Created /memories/a.md", "File created successfully at: /memories/a.md"),
                ),
                // A file with another spelling is never overwritten.
                (
                    create("memories/A.md", "two"),
                    say("File already exists: memories/a.md", "File memories/a.md already exists"),
                ),
                (
                    view("/memories/A.md"),
                    "Here's the content of /memories/A.md with line numbers:\n     1\tone",
                ),
                (
                    create("/memories/u.md", ""),
                    say("Created /memories/u.md", "File created successfully at: /memories/u.md"),
                ),
                (
                    rename("/memories/u.md", "/memories/A.md"),
                    say(
                        "Destination already exists: /memories/A.md",
                        "The destination /memories/A.md already exists",
                    ),
                ),
                (
                    rename("/memories/a.md", "/memories/A.md"),
                    say(
                        "Renamed /memories/a.md to /memories/A.md",
                        "Successfully renamed /memories/a.md to /memories/A.md",
                    ),
                ),
                (
                    create("/memories/dir/x.md", "x"),
                    say(
                        "Created /memories/dir/x.md",
                        "File created successfully at: /memories/dir/x.md",
                    ),
                ),
                (
                    create("/memories/Dir/y.md", "y"),
                    say(
                        "Created /memories/Dir/y.md",
                        "File created successfully at: /memories/Dir/y.md",
                    ),
                ),
                (
                    json!({"command": "delete", "path": "/memories/dir/y.md"}),
                    say("Deleted /memories/dir/y.md", "Successfully deleted /memories/dir/y.md"),
                ),
                (
                    rename("/memories/dir", "/memories/DIR"),
                    say(
                        "Renamed /memories/dir to /memories/DIR",
                        "Successfully renamed /memories/dir to /memories/DIR",
                    ),
                ),
                (
                    view("/memories/DIR/x.md"),
                    "Here's the content of /memories/DIR/x.md with line numbers:\n     1\tx",
                ),
                (
                    rename("/memories/no.md", "/memories/no.md"),
                    say(
                        "File not found: /memories/no.md",
                        "The path /memories/no.md does not exist",
                    ),
                ),
                (
                    rename("/memories/A.md", "/memories/A.md"),
                    say(
                        "Destination already exists: /memories/A.md",
                        "The destination /memories/A.md already exists",
                    ),
                ),
            ],
        );
    }
}
