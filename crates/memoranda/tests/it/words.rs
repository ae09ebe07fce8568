//! The words that people type: other names of commands, bare commands, completions.

use super::support::Home;

#[test]
fn other_names_of_commands_work() {
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "The boiler is under warranty until 2031."]);
    assert!(home.ok(&["find", "boiler"]).contains("Plan"));
    assert!(home.ok(&["cat", "Plan"]).contains("boiler"));
    assert!(home.ok(&["ls"]).contains("Plan"));
    assert!(home.ok(&["history"]).contains("added"));
    home.ok(&["delete", "Plan"]);
    home.fails(&["show", "Plan"], 1, &["was deleted", "memoranda restore"]);
    home.fails(&["connect"], 2, &["no command \"connect\"", "memoranda setup"]);
    home.fails(&["serach", "x"], 2, &["did you mean `memoranda search`?"]);
}

#[test]
fn bare_commands_show_something() {
    let home = Home::new();
    home.fails(&["diff"], 1, &["there are no commits yet"]);
    home.ok(&["add", "--title", "Plan", "The boiler is under warranty."]);
    assert!(home.ok(&["diff"]).contains("+The boiler is under warranty."));
    assert!(home.ok(&["project"]).contains("main"));
    assert!(home.ok(&["config"]).contains("default_project"));
    assert!(home.ok(&["config", "list"]).contains("default_project"));
    assert_eq!(home.json(&["rules"])["rules"].as_array().unwrap().len(), 0);
    assert_eq!(home.json(&["bank"])["banks"].as_array().unwrap().len(), 0);
    assert_eq!(home.json(&["restore"])["deleted"].as_array().unwrap().len(), 0);
    home.ok(&["rm", "Plan"]);
    let id = home.json(&["remember", "I prefer tabs"])["id"].as_str().unwrap().to_owned();
    home.ok(&["forget", "--id", &id]);
    let deleted = home.ok(&["restore"]);
    for words in ["just now", "main/Plan.md", "preference \"I prefer tabs\""] {
        assert!(deleted.contains(words), "{words}: {deleted}");
    }
    assert_eq!(home.json(&["restore", "-p", "main"])["deleted"][0]["path"], "Plan.md");
    home.fails(&["restore", "--at", "yesterday"], 2, &["NOTE"]);
}

#[test]
fn the_default_project_is_chosen_by_command() {
    let home = Home::new();
    assert_eq!(home.ok(&["project", "default"]), "main\n");
    home.ok(&["project", "create", "work"]);
    home.ok(&["project", "default", "work"]);
    assert_eq!(home.json(&["project", "default"])["name"], "work");
    assert_eq!(home.json(&["add", "Something"])["project"], "work");
    home.fails(&["project", "default", "nowhere"], 1, &["nowhere"]);
}

#[test]
fn removing_the_default_project_says_where_new_notes_go() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("folder")).unwrap();
    home.ok(&["project", "add", "work", "folder"]);
    home.ok(&["project", "default", "work"]);
    let said = home.run(&["project", "remove", "work"]);
    assert!(said.err.contains("new notes still go to a project work"), "{said:?}");
    assert!(said.err.contains("`memoranda project default main`"), "{said:?}");
    home.ok(&["project", "add", "work", "folder"]);
    home.ok(&["project", "default", "main"]);
    let said = home.run(&["project", "remove", "work"]);
    assert!(!said.err.contains("new notes"), "{said:?}");
}

#[test]
fn completions_know_the_vault() {
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "The boiler."]);
    home.ok(&["project", "create", "work"]);
    let complete = |words: &[&str]| {
        let mut command = home.command(&["--", "memoranda"]);
        let index = words.len().to_string();
        let variables = [("COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", &index)];
        let output = command.args(words).envs(variables).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(complete(&["list", "-p", ""]).contains("work"));
    assert!(complete(&["show", "ma"]).contains("main/Plan.md"));
    assert_eq!(complete(&["show", "Pl"]), "Plan");
    for command in [&["project", "remove", "w"][..], &["project", "default", "w"], &["list", "w"]] {
        assert_eq!(complete(command), "work", "{command:?}");
    }
    home.ok(&["rm", "Plan"]);
    assert_eq!(complete(&["restore", "main/P"]), "main/Plan.md");
    let commit = home.json(&["log"])["commits"][0]["id"].as_str().unwrap()[..8].to_owned();
    assert!(complete(&["undo", ""]).contains(&commit));
    assert!(complete(&["tool", "reca"]).contains("recall"));
    assert!(complete(&["setup", "cl"]).contains("claude-code"));
    assert!(complete(&["config", "get", "def"]).contains("default_project"));
    assert!(!complete(&["config", "get", "def"]).contains("editor"));
}

#[test]
fn nushell_has_completions() {
    let script = Home::bare().ok(&["completions", "nushell"]);
    assert!(script.contains("export extern \"memoranda project add\""), "{script}");
    assert!(script.contains("--conversation"), "{script}");
}

#[test]
fn picking_needs_a_terminal() {
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "The boiler."]);
    home.fails(&["search", "-i", "boiler"], 2, &["needs a terminal"]);
    home.fails(&["log", "-i"], 2, &["needs a terminal"]);
}

#[test]
fn a_client_is_found_in_the_history_as_hooks_and_tools_name_it() {
    let home = Home::new();
    let input = br#"{"session_id":"s1","hook_event_name":"PostCompact","trigger":"auto","compact_summary":"We chose Lisbon."}"#;
    let hook = home.run_fed(input, &["hook", "post-compact", "--client", "claude-code"]);
    assert_eq!(hook.code, 0, "{hook:?}");
    let commits = home.json(&["log", "--client", "claude-code"]);
    assert_eq!(commits["commits"][0]["client"], "Claude Code", "{commits}");
}

#[test]
fn the_history_names_the_person() {
    let home = Home::new();
    home.ok(&["config", "set", "name", "Ada"]);
    home.ok(&["add", "--title", "Plan", "The boiler."]);
    assert_eq!(home.json(&["log"])["commits"][0]["account"], "Ada");
    std::fs::write(home.path().join("memoranda/main/Plan.md"), "The boiler, by hand.\n").unwrap();
    // What was done by command and in an editor is the same person's.
    let names = |args: &[&str], name: &str| home.ok(args).matches(name).count();
    assert_eq!(names(&["log"], "Ada"), 2);
    assert_eq!(names(&["log", "--client", "Ada"], "Ada"), 2);
    assert_eq!(names(&["log", "Plan", "--client", "Ada"], "Ada"), 2);
    assert!(names(&["blame", "Plan"], "Ada") > 0);
    assert_eq!(names(&["activity"], "Ada"), 1);
    assert!(names(&["recall", "boiler"], "by Ada") > 0);
    home.ok(&["rm", "Plan"]);
    home.fails(&["show", "Plan"], 1, &["by Ada"]);
    assert!(home.ok(&["log", "--client", "Ada"]).contains("main/Plan.md"));
    assert!(home.ok(&["log", "Plan", "--client", "Ada"]).contains("main/Plan.md"));
    home.ok(&["remember", "I prefer tabs"]);
    assert!(home.ok(&["recall", "tabs"]).contains("by Ada"));
}
