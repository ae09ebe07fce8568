//! Every way to fail: a code that scripts can rely on, one sentence, and what to do next.

use super::support::Home;

#[test]
fn failures_have_their_codes_and_hints() {
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "text text"]);
    home.write("main/a/Twice.md", "one\n");
    home.write("main/b/Twice.md", "two\n");
    home.write("main/bytes.md", b"\xff\xfe\xfd");
    for (args, code, words) in [
        (&["show", "Nowhere"][..], 1, &["no note \"Nowhere\"", "hint: `memoranda search"][..]),
        (&["show", "Plam"], 1, &["no note \"Plam\""]),
        (&["search", "xyzzy"], 1, &["Nothing found for xyzzy", "hint:"]),
        (&["search", "text", "--tag", "none"], 1, &["without filters: `memoranda search text`"]),
        (&["show", "Twice"], 2, &["main/a/Twice.md", "main/b/Twice.md", "hint: for one of them"]),
        (&["mv", "Plan", "../out.md"], 2, &["\"../out.md\" is not a path", "hint:"]),
        (&["mv", "Plan", ".."], 2, &["\"..\" is not a path", "hint:"]),
        (&["mv", "Plan", ".trash/"], 2, &["main/.trash/Plan.md would be in no search and no list"]),
        (&["mv", "a/", ".trash"], 2, &["main/.trash would be in no search and no list"]),
        (&["add", "x", "--folder", ".hidden"], 2, &["would be in no search and no list"]),
        (&["add", "x", "--folder", "../x"], 2, &["\"../x\" is no folder of a project", "hint:"]),
        (&["mv", "Plan", "a/Twice.md"], 4, &["main/a/Twice.md exists; nothing was moved"]),
        (&["show", "x", "-p", "nope"], 1, &["no project \"nope\"", "project create nope"]),
        (&["add", "x", "-p", "nope"], 1, &["no project \"nope\""]),
        (&["project", "create", "a/b"], 2, &["\"a/b\" cannot name a project", "project list"]),
        (&["project", "add", "x", "missing"], 2, &["is not a folder"]),
        (&["edit", "bytes.md", "--append", "x"], 2, &["not UTF-8", "show --raw"]),
        (&["edit", "Plan", "--replace", "absent", "x"], 1, &["expected 1 occurrences, found 0"]),
        (&["edit", "Plan", "--replace", "text", "x"], 1, &["found 2 (lines 1, 1)"]),
        (&["edit", "Plan", "--set", "novalue"], 2, &["\"novalue\" is not KEY=VALUE"]),
        (&["edit", "Plan", "--no-input"], 2, &["an editor needs a person"]),
        (&["log", "--since", "whenever"], 2, &["\"whenever\" is not a time"]),
        (&["show", "Plan", "--at", "zzzz"], 1, &["no commit \"zzzz\""]),
        (&["show", "Plan", "--at", "2020-01-01"], 1, &["did not exist", "memoranda log"]),
        (&["undo", "abcd"], 1, &["no commit \"abcd\"", "hint:"]),
        (&["diff", "a/"], 2, &["is a folder"]),
        (&["import", "missing.tar"], 1, &["missing.tar", "it does not exist"]),
        (&["frobnicate"], 2, &["there is no command"]),
        (&["--json"], 2, &["no command was given", "hint:"]),
        (&["search"], 2, &["required"]),
        (&["search", "x", "--json", "--plain"], 2, &["cannot be used with"]),
        (&["show", "Plan", "--home", "elsewhere"], 3, &["no vault at elsewhere", "memoranda init"]),
        (&["recall", "Plan", "--home", "elsewhere"], 3, &["no vault at elsewhere"]),
        (&["forget", "Plan", "--home", "elsewhere"], 3, &["no vault at elsewhere"]),
    ] {
        home.fails(args, code, words);
    }
    assert!(!home.path().join("elsewhere").exists(), "reading makes no vault");
}

#[test]
fn nothing_to_remember_is_an_error() {
    let home = Home::new();
    home.fails(&["add", "--titel", "T", "x"], 2, &["no flag \"--titel\"", "hint:"]);
    home.ok(&["add", "- [fact] an item", "--title", "Item"]);
    assert_eq!(home.read("main/Item.md"), b"- [fact] an item\n");
    home.fails(&["add"], 2, &["there is no text to remember", "hint: `memoranda add"]);
    assert_eq!(home.run_fed(b"  \n", &["add"]).code, 2);
    assert_eq!(home.run_fed(b"\xff", &["add", "-"]).code, 2);
    let said = home.run_fed(b"piped in\n", &["add"]);
    assert!(said.out.starts_with("Remembered main/piped in.md"), "{said:?}");
}

#[cfg(unix)]
#[test]
fn a_conflict_keeps_both_texts() {
    use super::support::editor;
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "mine"]);
    let file = home.file("main/Plan.md");
    let script = format!("echo edited > \"$1\"; echo theirs > '{}'", file.display());
    let said = home.run_with(&[("EDITOR", &editor(&home, &script))], &["edit", "Plan"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.out.contains("-mine\n+theirs\n"), "{said:?}");
    assert!(said.err.contains("nothing was overwritten"), "{said:?}");
    let kept = said.err.lines().find_map(|line| line.split("your text is kept in ").nth(1));
    assert_eq!(std::fs::read_to_string(kept.unwrap()).unwrap(), "edited\n");
    assert_eq!(home.read("main/Plan.md"), b"theirs\n");
}

#[cfg(unix)]
#[test]
fn an_editor_edits_and_may_fail() {
    use super::support::editor;
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "mine"]);
    let changed = editor(&home, "echo more >> \"$1\"");
    let said = home.run_with(&[("EDITOR", "false"), ("VISUAL", &changed)], &["edit", "Plan"]);
    assert!(said.out.starts_with("Changed main/Plan.md"), "{said:?}");
    assert_eq!(home.read("main/Plan.md"), b"mine\nmore\n");
    let said = home.run_with(&[("EDITOR", "true")], &["edit", "Plan"]);
    assert_eq!((said.code, said.out.contains("nothing to change")), (0, true), "{said:?}");
    let said = home.run_with(&[("EDITOR", "false")], &["edit", "Plan"]);
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.err.contains("nothing was changed"), "{said:?}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_copy_in_the_editor() {
    use super::support::editor;
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "mine"]);
    let modes = home.file("modes");
    let script = format!("stat -c %a \"$(dirname \"$1\")\" > '{}'", modes.display());
    home.run_with(&[("EDITOR", &editor(&home, &script))], &["edit", "Plan"]);
    assert_eq!(std::fs::read_to_string(modes).unwrap().trim(), "700");
}

#[test]
fn undo_refuses_what_changed_since() {
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "one"]);
    home.write("main/Plan.md", "by hand\n");
    home.fails(&["undo"], 4, &["main/Plan.md changed since commit", "hint: `memoranda log"]);
    assert_eq!(home.read("main/Plan.md"), b"by hand\n");
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_said_in_a_sentence() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let folder = home.file("main/locked");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write everywhere, and then there is nothing to see.
    if std::fs::write(folder.join("probe"), "").is_ok() {
        return;
    }
    home.fails(&["add", "--folder", "locked", "x"], 5, &["permission denied", "hint: look at"]);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_vault_that_cannot_be_read_is_named() {
    let home = Home::bare();
    home.write(".memoranda/clone/file", "a folder in place of a file");
    home.fails(&["add", "x"], 5, &["look into the vault ", "memoranda"]);
}

/// Files that are skipped because of a link are no failure, but the report names them.
#[cfg(unix)]
#[test]
fn the_doctor_names_what_is_passed_over_because_of_links() {
    let home = Home::new();
    home.write("main/Plan.md", "one\n");
    home.ok(&["scan"]);
    std::fs::hard_link(home.file("main/Plan.md"), home.path().join("backup.md")).unwrap();
    std::fs::create_dir(home.path().join("drop")).unwrap();
    std::os::unix::fs::symlink("../drop", home.file("memories")).unwrap();
    let told = home.run(&["doctor"]).out;
    assert!(told.contains("main/Plan.md is not read") && told.contains("a hard link"), "{told}");
    assert!(told.contains("memories") && told.contains("it is a symbolic link"), "{told}");
    let said = home.run(&["tool", "memory", r#"{"command": "view", "path": "/memories"}"#]);
    assert!(said.out.contains("project add memories DIR"), "{said:?}");
    home.ok(&["project", "add", "memories", home.path().join("drop").to_str().unwrap()]);
    assert!(!home.run(&["doctor"]).out.contains("symbolic link"));
}

/// As if a power cut had taken a note that a checkpoint calls forced.
#[cfg(target_os = "linux")]
#[test]
fn the_doctor_lists_and_brings_back_what_was_lost() {
    let home = Home::new();
    home.ok(&["add", "--title", "Tea", "Darjeeling"]);
    home.ok(&["scan"]);
    let text = home.read("main/Tea.md");
    std::fs::remove_file(home.file("main/Tea.md")).unwrap();
    std::fs::write(home.file(".memoranda/lock"), "").unwrap();
    for device in std::fs::read_dir(home.file(".memoranda/log")).unwrap() {
        let boot = format!("01{}\n", "ee".repeat(16));
        std::fs::write(device.unwrap().path().join("boot"), boot).unwrap();
    }
    let found = home.run(&["doctor"]);
    assert!(found.out.contains("main/Tea.md is gone since commit"), "{found:?}");
    assert_eq!(home.json(&["doctor", "--restore"])["restored"], 1);
    assert_eq!(home.read("main/Tea.md"), text);
    assert!(home.run(&["doctor"]).out.contains("the files have what was written to them"));
}

/// Memories are their owner's alone, and so is the copy that an editor gets.
#[cfg(unix)]
#[test]
fn the_copy_in_an_editor_is_its_owners_alone() {
    use super::support::editor;
    let home = Home::new();
    home.write("memories/p.md", "private\n");
    let seen = home.path().join("modes");
    let script = format!("ls -ld \"$(dirname \"$1\")\" > {0}; echo more >> \"$1\"", seen.display());
    let said = home.run_with(&[("EDITOR", &editor(&home, &script))], &["edit", "memories/p.md"]);
    assert_eq!(said.code, 0, "{said:?}");
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.starts_with("drwx------"), "{seen}");
}

#[test]
fn a_project_that_is_removed_during_a_check_is_no_damage() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("folder")).unwrap();
    for n in 0..200 {
        std::fs::write(home.path().join(format!("folder/note {n}.md")), "The boiler.\n").unwrap();
    }
    for delay in [0, 20, 40, 60, 80, 100] {
        home.ok(&["project", "add", "big", "folder"]);
        let mut removal = home.command(&["project", "remove", "big"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay));
        let found = home.run(&["doctor"]);
        assert_eq!(found.code, 0, "{delay} ms later: {found:?}");
        assert!(removal.wait().unwrap().success());
    }
}

#[test]
fn every_command_says_that_a_note_was_deleted() {
    let home = Home::new();
    home.ok(&["add", "--title", "Gone", "text"]);
    home.ok(&["rm", "Gone"]);
    for command in ["show", "blame"] {
        home.fails(
            &[command, "Gone"],
            1,
            &["main/Gone.md was deleted", "`memoranda restore main/Gone.md` brings it back"],
        );
    }
    home.fails(&["edit", "Gone", "--append", "x"], 1, &["main/Gone.md was deleted", "restore"]);
}

#[test]
fn a_purge_names_the_projects_that_keep_the_texts() {
    let home = Home::new();
    let folder = home.path().join("notes");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.md"), "a hawfinch\n").unwrap();
    let folder = folder.to_str().unwrap().to_owned();
    // The same folder, added under one name and then under another.
    home.ok(&["project", "add", "first", &folder]);
    home.ok(&["project", "remove", "first"]);
    home.ok(&["project", "add", "second", &folder]);
    let purge = home.run(&["project", "remove", "second", "--purge", "-y"]);
    assert_eq!(purge.code, 0, "{purge:?}");
    assert!(
        purge.out.contains("purged 0 versions")
            && purge.err.contains("1 version stays in the history of the removed project first")
            && purge.err.contains("`memoranda project remove first --purge` purges them"),
        "{purge:?}"
    );
    let json = home.json(&["project", "remove", "first", "--purge", "-y"]);
    assert_eq!((&json["purged"], &json["kept_by"]), (&1.into(), &serde_json::json!([])), "{json}");
    // A project that is still there keeps its own text.
    home.write("main/same.md", "a hawfinch\n");
    home.ok(&["project", "add", "third", &folder]);
    let kept = home.json(&["project", "remove", "third", "--purge", "-y"])["kept_by"].clone();
    assert_eq!(kept, serde_json::json!([{ "project": "main", "versions": 1 }]));
}

#[cfg(unix)]
#[test]
fn the_vault_of_another_user_is_refused_with_a_way_out() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;

    let (home, other) = (Home::new(), Home::bare());
    for folder in [home.path(), other.path()] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let vault = home.path().join("memoranda");
    let mut command = other.command(&["status", "--home", vault.to_str().unwrap()]);
    let Ok(output) = command.uid(65534).gid(65534).output() else {
        println!("skipped: no process can be started as another user here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    for words in ["belongs to another user (", "sudo -u ", "memoranda serve", "--home DIR"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(output.status.code(), Some(3), "{said}");
}
