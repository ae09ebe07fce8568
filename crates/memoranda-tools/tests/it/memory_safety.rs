//! Dangerous calls that the memory tool rejects, and their messages.

use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use memoranda_tools::{CreateMode, SecretPolicy, Wording};
use serde_json::json;

use crate::support::TestVault;

#[test]
fn no_symlink_leaves_the_directory() {
    let vault = TestVault::new(Wording::Claude);
    vault.memory(&json!({"command": "view", "path": "/memories"}));
    let outside = vault.path("../outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "do not show").unwrap();
    std::os::unix::fs::symlink(&outside, vault.path("memories/link")).unwrap();
    std::os::unix::fs::symlink(outside.join("secret.txt"), vault.path("memories/file.txt"))
        .unwrap();
    std::fs::hard_link(outside.join("secret.txt"), vault.path("memories/hard.txt")).unwrap();
    for command in [
        json!({"command": "view", "path": "/memories/link/secret.txt"}),
        json!({"command": "view", "path": "/memories/file.txt"}),
        json!({"command": "view", "path": "/memories/hard.txt"}),
        json!({"command": "create", "path": "/memories/link/new.txt", "file_text": "x"}),
        json!({"command": "create", "path": "/memories/file.txt", "file_text": "x"}),
        json!({"command": "str_replace", "path": "/memories/file.txt", "old_str": "do", "new_str": "x"}),
        json!({"command": "str_replace", "path": "/memories/hard.txt", "old_str": "do", "new_str": "x"}),
        json!({"command": "insert", "path": "/memories/link/secret.txt", "insert_line": 0, "insert_text": "x"}),
        json!({"command": "delete", "path": "/memories/link/secret.txt"}),
        json!({"command": "rename", "old_path": "/memories/link/secret.txt", "new_path": "/memories/s.txt"}),
    ] {
        let result = vault.memory(&command);
        assert!(result.is_error, "{command}: {}", result.text);
        assert!(!result.text.contains("do not show"), "{command}");
        let home = vault.path("");
        assert!(!result.text.contains(home.to_str().unwrap()), "{command}: {}", result.text);
    }
    let listing = vault.memory(&json!({"command": "view", "path": "/memories"})).text;
    assert!(!listing.contains("secret") && !listing.contains("link"), "{listing}");
    assert_eq!(std::fs::read_to_string(outside.join("secret.txt")).unwrap(), "do not show");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn obstacles_of_a_move_are_reported() {
    let vault = TestVault::new(Wording::Claude);
    for path in ["/memories/real.md", "/memories/folder/a.md"] {
        vault.memory(&json!({"command": "create", "path": path, "file_text": "x"}));
    }
    symlink("/etc/hosts", vault.path("memories/link")).unwrap();
    symlink("real.md", vault.path("memories/inner")).unwrap();
    symlink("/etc", vault.path("memories/folder/etc")).unwrap();
    std::fs::write(vault.path("../outside.txt"), "x").unwrap();
    std::fs::hard_link(vault.path("../outside.txt"), vault.path("memories/hard")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(vault.path("memories/pipe")).status();
    assert!(made.unwrap().success());
    for (to, expected) in [
        ("/memories/link", "Path /memories/link would escape /memories directory"),
        ("/memories/inner", "Path /memories/inner would escape /memories directory"),
        ("/memories/folder/etc", "Path /memories/folder/etc would escape /memories directory"),
        ("/memories/folder/etc/x", "Path /memories/folder/etc/x would escape /memories directory"),
        ("/memories/pipe", "The destination /memories/pipe already exists"),
        ("/memories/pipe/x", "Unsupported file type for /memories/pipe/x"),
        ("/memories/hard", "The destination /memories/hard already exists"),
        ("/memories/folder", "The destination /memories/folder already exists"),
    ] {
        let rename = json!({"command": "rename", "old_path": "/memories/real.md", "new_path": to});
        let result = vault.memory(&rename);
        assert!(result.is_error);
        assert_eq!(result.text, expected);
    }
    assert_eq!(std::fs::read_to_string(vault.path("memories/real.md")).unwrap(), "x");
}

/// A backup by hard links gives every file a second name. The error explains that the path is valid
/// and that the file is a hard link.
#[test]
fn a_hard_link_is_reported() {
    for wording in [Wording::Claude, Wording::Mcp] {
        let vault = TestVault::new(wording);
        vault.memory(&json!({"command": "create", "path": "/memories/a.md", "file_text": "one"}));
        std::fs::hard_link(vault.path("memories/a.md"), vault.path("../a.md")).unwrap();
        for command in [
            json!({"command": "view", "path": "/memories/a.md"}),
            json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "o", "new_str": "x"}),
            json!({"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "x"}),
            json!({"command": "delete", "path": "/memories/a.md"}),
        ] {
            let result = vault.memory(&command);
            assert!(result.is_error && result.text.contains("a hard link"), "{}", result.text);
            assert!(!result.text.contains("escape") && !result.text.contains("Invalid path"));
        }
    }
}

#[test]
fn a_symlink_in_place_of_the_directory_is_reported() {
    let vault = TestVault::new(Wording::Mcp);
    let outside = vault.path("../outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, vault.path("memories")).unwrap();
    for command in [
        json!({"command": "view", "path": "/memories"}),
        json!({"command": "create", "path": "/memories/new.md", "file_text": "x"}),
    ] {
        let result = vault.memory(&command);
        assert!(result.is_error && result.text.contains("symbolic link"), "{}", result.text);
        assert!(result.text.contains("project add memories DIR"), "{}", result.text);
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

/// An empty folder in its place, as a drive leaves that is not mounted, is not an empty memory.
#[test]
fn a_replaced_directory_is_neither_read_nor_written() {
    let vault = TestVault::new(Wording::Mcp);
    vault.memory(&json!({"command": "create", "path": "/memories/a.md", "file_text": "one"}));
    vault.memory.sync(&mut |_| {}).unwrap();
    std::fs::rename(vault.path("memories"), vault.path("../away")).unwrap();
    std::fs::create_dir(vault.path("memories")).unwrap();
    for command in [
        json!({"command": "view", "path": "/memories"}),
        json!({"command": "view", "path": "/memories/a.md"}),
        json!({"command": "create", "path": "/memories/new.md", "file_text": "x"}),
        json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "o", "new_str": "x"}),
        json!({"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "x"}),
        json!({"command": "delete", "path": "/memories/a.md"}),
        json!({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"}),
    ] {
        let result = vault.memory(&command);
        assert!(result.text.contains("the memory folder cannot be reached now"), "{}", result.text);
        assert!(result.is_error, "{}", result.text);
    }
    assert_eq!(std::fs::read_dir(vault.path("memories")).unwrap().count(), 0);
}

#[test]
fn secrets_are_warned_about_replaced_or_refused() {
    let mut vault = TestVault::new(Wording::Claude);
    let text = "login: bob\npassword: hunter2!x\n";
    let create = |path: &str| json!({"command": "create", "path": path, "file_text": text});
    let warned = vault.memory(&create("/memories/warn.md"));
    assert!(
        !warned.is_error
            && warned.text.contains("Warning: This looks like a secret: password or key (line 2)"),
        "{}",
        warned.text
    );
    assert_eq!(std::fs::read_to_string(vault.path("memories/warn.md")).unwrap(), text);
    vault.settings.secrets = SecretPolicy::Redact;
    vault.memory(&create("/memories/redact.md"));
    assert_eq!(
        std::fs::read_to_string(vault.path("memories/redact.md")).unwrap(),
        "login: bob\npassword: [redacted: password or key]\n"
    );
    vault.settings.secrets = SecretPolicy::Refuse;
    let refused = vault.memory(&create("/memories/refuse.md"));
    assert!(refused.is_error && refused.text.contains("was not saved"), "{}", refused.text);
    assert!(!vault.path("memories/refuse.md").exists());
}

#[test]
fn a_secret_in_a_path_is_detected() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let path = format!("/memories/{token}.md");
    for policy in [SecretPolicy::Warn, SecretPolicy::Redact, SecretPolicy::Refuse] {
        let mut vault = TestVault::new(Wording::Claude);
        vault.memory(&json!({"command": "create", "path": "/memories/a.md", "file_text": "x"}));
        vault.settings.secrets = policy;
        for arguments in [
            json!({"command": "create", "path": path, "file_text": "harmless"}),
            json!({"command": "rename", "old_path": "/memories/a.md", "new_path": path}),
        ] {
            let answer = vault.memory(&arguments);
            if policy == SecretPolicy::Warn {
                continue;
            }
            assert!(answer.is_error && !answer.text.contains(&token), "{}", answer.text);
            assert!(answer.text.contains("GitHub token (in the path)"), "{}", answer.text);
            assert!(!vault.path(&format!("memories/{token}.md")).exists());
        }
    }
}

/// A secret can come in two halves, the first of them harmless.
#[test]
fn secrets_are_detected_in_every_command() {
    for (policy, replaced, inserted) in [
        (SecretPolicy::Warn, "password: hunter2!x\n", "key:\nsecret:\nhunter2!x\n"),
        (
            SecretPolicy::Redact,
            "password: [redacted: password or key]\n",
            "key:\nsecret:\n[redacted: password or key]\n",
        ),
        (SecretPolicy::Refuse, "password: TBD\n", "key:\nhunter2!x\n"),
    ] {
        let mut vault = TestVault::new(Wording::Claude);
        for (path, text) in [("a.md", "password: TBD\n"), ("b.md", "key:\nhunter2!x\n")] {
            let path = format!("/memories/{path}");
            let made = vault.memory(&json!({"command": "create", "path": path, "file_text": text}));
            assert!(!made.text.contains("secret"), "{}", made.text);
        }
        vault.settings.secrets = policy;
        let refused = policy == SecretPolicy::Refuse;
        for (arguments, line, place, expected) in [
            (
                json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "TBD", "new_str": "hunter2!x"}),
                "line 1",
                "memories/a.md",
                replaced,
            ),
            (
                json!({"command": "insert", "path": "/memories/b.md", "insert_line": 1, "insert_text": "secret:"}),
                "line 3",
                "memories/b.md",
                inserted,
            ),
        ] {
            let result = vault.memory(&arguments);
            assert_eq!(result.is_error, refused, "{arguments}");
            assert!(
                result.text.contains(&format!("password or key ({line})")),
                "{arguments}: {}",
                result.text
            );
            assert_eq!(std::fs::read_to_string(vault.path(place)).unwrap(), expected);
        }
    }
}

#[test]
fn sizes_are_limited() {
    let mut vault = TestVault::new(Wording::Claude);
    vault.settings.max_file_bytes = 1000;
    vault.settings.view_chars = 50;
    let long = "a line of text\n".repeat(60);
    let result =
        vault.memory(&json!({"command": "create", "path": "/memories/a.md", "file_text": long}));
    assert!(!result.is_error);
    let result = vault.memory(&json!({"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "x".repeat(200)}));
    assert_eq!(
        result.text,
        "/memories/a.md would have 1101 bytes; the limit is 1000. Split it into several files."
    );
    let view = vault.memory(&json!({"command": "view", "path": "/memories/a.md"})).text;
    assert!(
        view.ends_with("[...truncated 1283 chars; continue with view_range [3, -1]]"),
        "{view}"
    );
    let view = vault
        .memory(&json!({"command": "view", "path": "/memories/a.md", "view_range": [5, 20]}))
        .text;
    assert!(view.ends_with("continue with view_range [7, 20]]"), "{view}");
}

/// Files of the user or of another program can be larger than the history keeps.
#[test]
fn a_file_that_is_too_large_is_reported() {
    let mut vault = TestVault::new(Wording::Claude);
    vault.settings.create = Some(CreateMode::Overwrite);
    vault.memory(&json!({"command": "view", "path": "/memories"}));
    let huge = vault.path("memories/huge.md");
    std::fs::File::create(&huge).and_then(|file| file.set_len(70_000_000)).unwrap();
    let kept = "/memories/huge.md cannot be changed: the file that is there has 70000000 bytes, \
                and the history keeps files of up to 67108864, so the change could not be undone. \
                Nothing was changed. Use another name, or the person can remove the file by hand.";
    for (command, expected) in [
        (
            json!({"command": "view", "path": "/memories/huge.md"}),
            "/memories/huge.md is too large to be shown: it has 70000000 bytes; the limit is 67108864.",
        ),
        (json!({"command": "create", "path": "/memories/huge.md", "file_text": "x"}), kept),
        (
            json!({"command": "str_replace", "path": "/memories/huge.md", "old_str": "x", "new_str": ""}),
            kept,
        ),
        (
            json!({"command": "insert", "path": "/memories/huge.md", "insert_line": 0, "insert_text": "x"}),
            kept,
        ),
    ] {
        let result = vault.memory(&command);
        assert!(result.is_error, "{command}");
        assert_eq!(result.text, expected, "{command}");
    }
    vault.settings.create = None;
    let create = json!({"command": "create", "path": "/memories/huge.md", "file_text": "x"});
    assert_eq!(vault.memory(&create).text, "File /memories/huge.md already exists");
    assert_eq!(huge.metadata().unwrap().len(), 70_000_000);
}

/// Follows what a view says until nothing is left; the parts, in order.
fn parts(vault: &TestVault, path: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut range = json!(null);
    loop {
        let asked = json!({"command": "view", "path": path, "view_range": range});
        let text = vault.memory(&asked).text;
        let (_, shown) = text.split_once('\n').unwrap();
        let Some((shown, how)) = shown.split_once("\n\n[...truncated ") else {
            parts.push(shown.to_owned());
            return parts;
        };
        parts.push(shown.to_owned());
        let (from, to) = (how.find("view_range [").unwrap() + 11, how.find(']').unwrap() + 1);
        range = serde_json::from_str(&how[from..to]).unwrap();
        assert!(parts.len() < 1000, "{how}");
    }
}

#[test]
fn a_long_view_can_be_continued() {
    let mut vault = TestVault::new(Wording::Claude);
    vault.settings.view_chars = 50;
    let long: String = (0..300).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
    let text = format!("{long}\nshort\n\u{e9}{long}");
    for (path, text) in [("/memories/one.md", &long), ("/memories/three.md", &text)] {
        vault.memory(&json!({"command": "create", "path": path, "file_text": text}));
        let mut seen = String::new();
        for part in parts(&vault, path) {
            for line in part.split('\n') {
                let (number, line) = line.split_once('\t').unwrap();
                let number: usize = number.trim().parse().unwrap();
                if number > seen.matches('\n').count() + 1 {
                    seen.push('\n');
                }
                seen.push_str(line);
            }
        }
        assert_eq!(seen, *text, "{path}");
    }
    for n in 0..20 {
        let path = format!("/memories/many/note {n:02}.md");
        vault.memory(&json!({"command": "create", "path": path, "file_text": ""}));
    }
    let parts = parts(&vault, "/memories/many");
    let all: Vec<&str> = parts.iter().flat_map(|part| part.lines()).collect();
    assert_eq!(all.len(), 21);
    assert!(parts.len() > 5 && all[20].ends_with("/memories/many/note 19.md"), "{parts:?}");
}

#[test]
fn an_edit_next_to_a_long_line_shows_the_change() {
    let vault = TestVault::new(Wording::Claude);
    let text = format!("{}\nsecond\n{}", "x".repeat(250_000), "y".repeat(150_000));
    vault.memory(&json!({"command": "create", "path": "/memories/a.md", "file_text": text}));
    let result = vault.memory(&json!({
        "command": "str_replace", "path": "/memories/a.md", "old_str": "second", "new_str": "2nd",
    }));
    assert!(!result.is_error && result.text.contains("\n     2\t2nd\n"), "{:.200}", result.text);
    assert!(result.text.ends_with("view_range [1, 3] shows all of it]"));
    assert!(!result.text.contains("cut") && result.text.chars().count() < 60_000);
    assert_eq!(result.structured["result"], result.text);
}

#[test]
fn control_files_of_programs_are_rejected() {
    let mut vault = TestVault::new(Wording::Claude);
    vault.memory(&json!({"command": "create", "path": "/memories/sub/a.md", "file_text": "x"}));
    std::fs::create_dir_all(vault.path("memories/sub/.git")).unwrap();
    std::fs::write(vault.path("memories/sub/.git/config"), "[core]").unwrap();
    for command in [
        json!({"command": "view", "path": "/memories/sub/.git/config"}),
        json!({"command": "view", "path": "/memories/sub/.git"}),
        json!({"command": "create", "path": "/memories/sub/.git/hooks/post-commit", "file_text": "x"}),
        json!({"command": "create", "path": "/memories/.Git/config", "file_text": "x"}),
        json!({"command": "str_replace", "path": "/memories/sub/.git/config", "old_str": "core", "new_str": "x"}),
        json!({"command": "insert", "path": "/memories/sub/.git/config", "insert_line": 1, "insert_text": "fsmonitor = x"}),
        json!({"command": "delete", "path": "/memories/sub/.git"}),
        json!({"command": "delete", "path": "/memories/sub"}),
        json!({"command": "rename", "old_path": "/memories/sub/.git", "new_path": "/memories/g"}),
        json!({"command": "rename", "old_path": "/memories/sub/a.md", "new_path": "/memories/.git/config"}),
    ] {
        for wording in [Wording::Claude, Wording::Mcp] {
            vault.settings.wording = wording;
            let result = vault.memory(&command);
            assert!(result.is_error, "{command}: {}", result.text);
            let said = result.structured["error"].as_str().unwrap();
            assert!(said.contains("where another program keeps its own"), "{command}: {said}");
        }
    }
    assert_eq!(std::fs::read_to_string(vault.path("memories/sub/.git/config")).unwrap(), "[core]");
    assert!(!vault.path("memories/.Git").exists() && !vault.path("memories/.git").exists());
}

#[test]
fn files_and_folders_are_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let vault = TestVault::new(Wording::Mcp);
    vault.memory(&json!({"command": "create", "path": "/memories/user/a.md", "file_text": "x"}));
    vault.memory(&json!({"command": "str_replace", "path": "/memories/user/a.md", "old_str": "x", "new_str": "y"}));
    let mode =
        |place: &str| std::fs::metadata(vault.path(place)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("memories/user/a.md"), 0o600);
    assert_eq!(mode("memories/user"), 0o700);
    assert_eq!(mode("memories"), 0o700);
}

#[test]
fn crlf_and_bytes_elsewhere_survive() {
    let vault = TestVault::new(Wording::Claude);
    vault.memory(
        &json!({"command": "create", "path": "/memories/a.md", "file_text": "one\r\ntwo\r\nthree"}),
    );
    vault.memory(&json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": "2"}));
    vault.memory(&json!({"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "x"}));
    assert_eq!(
        std::fs::read_to_string(vault.path("memories/a.md")).unwrap(),
        "one\r\nx\n2\r\nthree\n"
    );
    std::fs::write(vault.path("memories/bad.md"), b"bad \xff utf-8\n").unwrap();
    let view = vault.memory(&json!({"command": "view", "path": "/memories/bad.md"}));
    assert!(!view.is_error && view.text.contains('\u{fffd}'));
    let edit = vault.memory(&json!({"command": "insert", "path": "/memories/bad.md", "insert_line": 0, "insert_text": "x"}));
    assert_eq!(edit.text, "/memories/bad.md is not UTF-8 text and cannot be edited.");
    assert_eq!(std::fs::read(vault.path("memories/bad.md")).unwrap(), b"bad \xff utf-8\n");
}

#[test]
fn entries_that_cannot_be_restored_are_not_deleted() {
    let vault = TestVault::new(Wording::Mcp);
    let folder = vault.path("memories/p");
    vault.memory(&json!({"command": "create", "path": "/memories/p/a.md", "file_text": "x"}));
    std::fs::write(vault.path("../outside.txt"), "kept").unwrap();
    let latin = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
    let huge = |path: &Path| {
        std::fs::File::create(path).and_then(|file| file.set_len(200 << 20)).unwrap();
    };
    type Make<'m> = &'m dyn Fn(&Path);
    let odd: [(&std::ffi::OsStr, &str, &str, Make<'_>); 5] = [
        ("link.md".as_ref(), "link.md", "a symbolic link", &|path| symlink("a.md", path).unwrap()),
        ("hard.md".as_ref(), "hard.md", "a hard link", &|path| {
            std::fs::hard_link(vault.path("../outside.txt"), path).unwrap();
        }),
        (".git".as_ref(), ".git", "another program", &|path| std::fs::create_dir(path).unwrap()),
        (r"a\b.md".as_ref(), r"a\b.md", "not portable", &|path| std::fs::write(path, "x").unwrap()),
        (latin, "caf\u{fffd}.md", "not UTF-8", &|path| std::fs::write(path, "x").unwrap()),
    ];
    for (name, shown, what, make) in odd {
        let path = folder.join(name);
        make(&path);
        for command in [
            json!({"command": "delete", "path": "/memories/p"}),
            json!({"command": "rename", "old_path": "/memories/p", "new_path": "/memories/q"}),
        ] {
            let result = vault.memory(&command);
            let said = result.structured["error"].as_str().unwrap_or_default();
            let named = said.contains(&format!("/memories/p/{shown} is ")) && said.contains(what);
            assert!(named, "{command}: {}", result.text);
            assert!(folder.join("a.md").exists() && path.symlink_metadata().is_ok(), "{command}");
        }
        if path.is_dir() {
            std::fs::remove_dir(&path).unwrap()
        } else {
            std::fs::remove_file(&path).unwrap()
        }
    }
    // A file that is too large for the history stays where it is; the others can be restored.
    huge(&folder.join("huge.md"));
    let result = vault.memory(&json!({"command": "delete", "path": "/memories/p"}));
    assert!(result.text.contains("/memories/p/huge.md"), "{}", result.text);
    assert!(folder.join("huge.md").exists() && !folder.join("a.md").exists());
    symlink("a.md", folder.join("link.md")).unwrap();
    let result = vault.memory(&json!({"command": "delete", "path": "/memories/p/link.md"}));
    assert!(result.text.contains("it is a symbolic link"), "{}", result.text);
}

#[test]
fn a_folder_that_cannot_be_read_hides_no_other() {
    let vault = TestVault::new(Wording::Claude);
    for path in ["/memories/a/x.md", "/memories/b/y.md"] {
        vault.memory(&json!({"command": "create", "path": path, "file_text": "x"}));
    }
    let closed = vault.path("memories/a");
    let set = |mode| std::fs::set_permissions(&closed, Permissions::from_mode(mode)).unwrap();
    set(0o000);
    // The superuser can read the file in spite of its permissions.
    let is_closed = std::fs::read_dir(&closed).is_err();
    let listing = vault.memory(&json!({"command": "view", "path": "/memories"}));
    set(0o700);
    assert!(!listing.is_error && listing.text.contains("/memories/b/y.md"), "{}", listing.text);
    assert_eq!(listing.text.contains("/memories/a"), !is_closed, "{}", listing.text);
}

#[test]
fn paths_that_the_search_ignores_are_reported() {
    let vault = TestVault::new(Wording::Mcp);
    let create = |path| vault.memory(&json!({"command": "create", "path": path, "file_text": "x"}));
    assert_eq!(create("/memories/plan.md").text, "Created /memories/plan.md");
    let hidden = create("/memories/.plan.md").text;
    assert!(hidden.contains("Warning: This is kept, but search does not find it: "), "{hidden}");
    let rename = json!({
        "command": "rename", "old_path": "/memories/plan.md", "new_path": "/memories/.old/plan.md",
    });
    let moved = vault.memory(&rename).text;
    assert!(moved.contains("search does not find it: \".old\" is hidden"), "{moved}");
}

/// Files that the tool wrote are deleted with their directory, even hidden ones. A directory that
/// stays is reported as such.
#[test]
fn a_directory_is_deleted_with_its_written_files() {
    let vault = TestVault::new(Wording::Mcp);
    let memory = |arguments: serde_json::Value| vault.memory(&arguments);
    let create = |path| memory(json!({"command": "create", "path": path, "file_text": "x"}));
    for path in ["/memories/p/.state.json", "/memories/p/.deep/er/x.md", "/memories/p/plan.md"] {
        assert!(!create(path).is_error);
    }
    let renamed = memory(json!({
        "command": "rename", "old_path": "/memories/p", "new_path": "/memories/q",
    }));
    assert_eq!(renamed.text, "Renamed /memories/p to /memories/q");
    assert!(!vault.path("memories/p").exists());
    assert!(vault.path("memories/q/.state.json").exists());
    assert!(vault.path("memories/q/.deep/er/x.md").exists());
    let delete = || memory(json!({"command": "delete", "path": "/memories/q"}));
    assert_eq!(delete().text, "Deleted /memories/q");
    assert!(!vault.path("memories/q").exists());
    // The user's files stay, and so does the directory.
    create("/memories/q/.state.json");
    std::fs::write(vault.path("memories/q/.theirs"), "y").unwrap();
    let told = delete().text;
    assert!(told.starts_with("Deleted") && told.contains("/memories/q/.theirs"), "{told}");
    assert!(!vault.path("memories/q/.state.json").exists());
    for refused in [
        delete(),
        memory(json!({
            "command": "rename", "old_path": "/memories/q", "new_path": "/memories/r",
        })),
    ] {
        assert!(
            refused.is_error && refused.text.contains("/memories/q/.theirs"),
            "{}",
            refused.text
        );
    }
    assert!(vault.path("memories/q/.theirs").exists() && !vault.path("memories/r").exists());
}

#[test]
fn ignore_files_report_the_memories_that_they_hide() {
    let vault = TestVault::new(Wording::Mcp);
    let create = |path, text| {
        vault.memory(&json!({"command": "create", "path": path, "file_text": text})).text
    };
    for path in ["/memories/a.md", "/memories/p/b.md", "/memories/c.txt"] {
        create(path, "x");
    }
    let told = create("/memories/.gitignore", "*.md\n");
    assert!(told.contains("2 memories are no longer found by search"), "{told}");
    let told = create("/memories/p/.bmignore", "nothing\n");
    assert!(!told.contains("no longer found"), "{told}");
    let edit = json!({
        "command": "insert", "path": "/memories/.gitignore", "insert_line": 0, "insert_text": "*.txt",
    });
    vault.memory.sync(&mut |_| {}).unwrap();
    let told = vault.memory(&edit).text;
    assert!(told.contains("1 memory is no longer found by search"), "{told}");
}

#[test]
fn quotations_of_the_arguments_are_short() {
    // The official words quote what was sent; ours do not have to.
    for (wording, most) in [(Wording::Mcp, 1000), (Wording::Claude, 11_000)] {
        let vault = TestVault::new(wording);
        let long = "y".repeat(1 << 20);
        let create =
            |text: &str| json!({"command": "create", "path": "/memories/a.md", "file_text": text});
        vault.memory(&create("x"));
        for command in [
            json!({"command": "view", "path": format!("/memories/{long}")}),
            json!({"command": "view", "path": format!("/{long}")}),
            json!({"command": "delete", "path": format!("/memories/a.md/{long}")}),
            json!({"command": "str_replace", "path": "/memories/a.md", "old_str": long}),
            json!({"command": "rename", "old_path": long, "new_path": long}),
            json!({"command": long}),
        ] {
            let result = vault.memory(&command);
            assert!(result.is_error && result.text.len() < most, "{}", result.text.len());
        }
        vault.memory(&json!({"command": "delete", "path": "/memories/a.md"}));
        let secrets: String = (0..20_000).map(|n| format!("password: Zx81kQ97plm{n}\n")).collect();
        let warned = vault.memory(&create(&secrets)).text;
        assert!(warned.contains("19990 more") && warned.len() < 1000, "{}", warned.len());
    }
}

#[test]
fn an_invalid_name_is_explained_on_one_line() {
    let vault = TestVault::new(Wording::Mcp);
    let drive = json!({"command": "create", "path": "/memories/a:b.md", "file_text": "x"});
    let refused = vault.memory(&drive).text;
    assert!(refused.contains("a letter and `:` at the start name a drive"), "{refused}");
    std::fs::write(vault.path("memories/a\n9K\tb.md"), "x").unwrap();
    let listing = vault.memory(&json!({"command": "view", "path": "/memories"})).text;
    assert!(listing.contains(r"/memories/a\n9K\tb.md"), "{listing}");
}

#[test]
fn hidden_files_stay_and_are_reported() {
    let vault = TestVault::new(Wording::Mcp);
    for path in ["a/plan.md", "b/c/plan.md"] {
        let path = format!("/memories/{path}");
        vault.memory(&json!({"command": "create", "path": path, "file_text": "x"}));
    }
    std::fs::write(vault.path("memories/a/.env"), "x").unwrap();
    let said = vault.memory(&json!({"command": "delete", "path": "/memories/a"})).text;
    assert!(said.contains("left where they are: /memories/a/.env."), "{said}");
    assert!(vault.path("memories/a/.env").exists() && !vault.path("memories/a/plan.md").exists());
    let rename = json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/d"});
    let said = vault.memory(&rename).text;
    assert!(said.contains("/memories/a/.env"), "{said}");
    let said = vault.memory(&json!({"command": "delete", "path": "/memories/b"})).text;
    assert!(!said.contains("left"), "{said}");
    // A path names exactly one file.
    let said = vault.memory(&json!({"command": "delete", "path": "/memories/a/.env"})).text;
    assert!(!vault.path("memories/a/.env").exists(), "{said}");
}

#[test]
fn a_name_in_another_case_is_the_existing_file() {
    let vault = TestVault::new(Wording::Claude);
    let call = |command: serde_json::Value| vault.memory(&command);
    let create = |path: &str| {
        call(json!({"command": "create", "path": format!("/memories/{path}"), "file_text": "x\n"}))
    };
    let there = |path: &str| vault.path(&format!("memories/{path}")).exists();
    // Files that are not indexed: hidden, ignored, and new.
    create(".gitignore");
    std::fs::write(vault.path("memories/.gitignore"), "*.log\n").unwrap();
    for (first, second) in [(".Hid.md", ".hid.md"), ("Some.log", "some.log")] {
        assert!(!create(first).is_error);
        let refused = create(second);
        assert!(refused.is_error && refused.text.contains(first), "{}", refused.text);
        assert!(!there(second));
        create("other.md");
        let onto = json!({"command": "rename", "old_path": "/memories/other.md",
                          "new_path": format!("/memories/{second}")});
        assert!(call(onto).is_error);
        assert!(!there(second));
    }
    std::fs::write(vault.path("memories/Hand.md"), "by hand\n").unwrap();
    let seen = call(json!({"command": "view", "path": "/memories/hand.md"}));
    assert!(!seen.is_error && seen.text.contains("by hand"), "{}", seen.text);
    let edit = json!({"command": "str_replace", "path": "/memories/HAND.md", "old_str": "hand",
                      "new_str": "tool"});
    assert!(!call(edit).is_error);
    assert_eq!(std::fs::read_to_string(vault.path("memories/Hand.md")).unwrap(), "by tool\n");
    assert!(!call(json!({"command": "delete", "path": "/memories/hand.md"})).is_error);
    assert!(!there("Hand.md"));
    // A folder with exactly this name takes precedence over one in another case.
    create("Case/ONE.md");
    std::fs::create_dir(vault.path("memories/case")).unwrap();
    for (from, to) in [
        ("/memories/Case/ONE.md", "/memories/case/One.md"),
        ("/memories/case/One.md", "/memories/Case/One.md"),
        ("/memories/Case/One.md", "/memories/Case/one.md"),
    ] {
        let renamed = json!({"command": "rename", "old_path": from, "new_path": to});
        let answer = call(renamed);
        assert!(!answer.is_error, "{to}: {}", answer.text);
        assert!(there(to.trim_start_matches("/memories/")), "{to}");
    }
    for (path, text) in [("Case/one.md", "already exists"), ("Case/none.md", "does not exist")] {
        let path = format!("/memories/{path}");
        let same = json!({"command": "rename", "old_path": path, "new_path": path});
        let refused = call(same);
        assert!(refused.is_error && refused.text.contains(text), "{path}: {}", refused.text);
    }
}
