//! Help, completions, manual pages and the reference: all from one definition.

use super::support::Home;

/// The commands that the help lists.
fn commands(home: &Home) -> Vec<String> {
    let help = home.ok(&["--help"]);
    let list = help.split("\nStart:\n").nth(1).unwrap();
    let list = list.split("Flags of every command:").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_has_help_with_an_example() {
    let home = Home::bare();
    let commands = commands(&home);
    assert!(commands.len() >= 26, "{commands:?}");
    for command in commands.iter().filter(|command| *command != "help") {
        let long = home.ok(&[command, "--help"]);
        assert!(long.contains("Examples:\n  "), "{command}: {long}");
        assert!(
            long.contains(&format!("  memoranda {command}")) || long.contains("| memoranda"),
            "{command}"
        );
        assert!(home.ok(&[command, "-h"]).contains("Usage:"), "{command}");
        assert!(home.ok(&["help", command]).contains("Examples:"), "{command}");
    }
    for nested in [["project", "add"], ["config", "set"], ["config", "show"], ["project", "list"]] {
        let help = home.ok(&[nested[0], nested[1], "--help"]);
        assert!(help.contains("Examples:\n  "), "{nested:?}");
    }
}

#[test]
fn the_version_is_told() {
    let home = Home::bare();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(home.ok(&["--version"]), format!("memoranda {version}\n"));
    assert_eq!(home.json(&["-V"])["version"], version);
}

#[test]
fn completions_and_manual_pages_are_made() {
    let home = Home::bare();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = home.ok(&["completions", shell]);
        assert!(script.contains("memoranda") && script.contains("COMPLETE"), "{shell}");
    }
    assert!(home.ok(&["man"]).contains(".TH memoranda 1"));
    home.ok(&["man", "--dir", "man1"]);
    for page in ["memoranda.1", "memoranda-search.1", "memoranda-project-add.1"] {
        let text = std::fs::read_to_string(home.path().join("man1").join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
    assert!(!home.path().join("man1/memoranda-reference.1").exists());
}

#[test]
fn the_reference_has_everything() {
    let home = Home::bare();
    let page = home.ok(&["reference", "commands"]);
    for command in commands(&home).iter().filter(|command| *command != "help") {
        assert!(page.contains(&format!("## memoranda {command}\n")), "{command}");
    }
    assert!(!page.lines().any(|line| line.ends_with(' ')));
    for (name, words) in [
        ("environment", &["`MEMORANDA_HOME`", "`NO_COLOR`", "`XDG_CACHE_HOME`"][..]),
        ("config", &["`default_project`", "`lock_wait_seconds`", "auto, always, never"]),
        ("exit-codes", &["| 0 |", "| 4 |", "| 130 |"]),
    ] {
        let page = home.ok(&["reference", name]);
        assert!(page.starts_with("# "), "{name}");
        for word in words {
            assert!(page.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn earlier_names_of_commands_and_flags_still_work() {
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "some words"]);
    assert_eq!(home.ok(&["sync"]), home.ok(&["scan"]));
    assert_eq!(home.ok(&["list", "--no-sync"]), home.ok(&["list", "--no-scan"]));
    assert!(!commands(&home).contains(&"sync".to_owned()));
}
