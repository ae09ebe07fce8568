//! No command prints a line that is wider than the terminal. The lines of diffs and of files to paste
//! stay as they are: they are copied, and applied by programs.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr as _;

use super::{BOILER, run_at, vault};
use crate::support::Home;

/// Commands that print data as it is: tokens, scripts and pages are copied or read by programs.
const VERBATIM: [&str; 4] = ["completions", "hook", "man", "token"];

/// Commands that serve, need a team server, or open another program.
const NOT_RUN: [&str; 8] = ["admin", "clone", "mcp", "open", "pull", "serve", "watch", "embed"];

const LONG_NAME: &str =
    "A note that nobody has written down yet, with quite a long title of its own";

/// The commands to run, errors included. The order matters: later commands see what earlier ones did.
const RUN: [&[&str]; 56] = [
    &["init"],
    &["status"],
    &["setup"],
    &["setup", "cursor", "--yes"],
    &["setup", "gemini", "--yes", "--hooks"],
    &["setup", "--remove", "--yes"],
    &["setup", "nothing"],
    &["import", "--list"],
    &["import", "Documents/Obsidian Vaults", "-n"],
    &["import", "Documents/a/file/that/is/not/there/and/never/was/in/any/folder.json"],
    &["remember", "I like tea in the morning and coffee in the afternoon, never after five"],
    &["remember", "I like tea in the morning and coffee in the afternoon, never after five"],
    &["remember", "Deploy on Tuesdays", "--kind", "rule", "--scope", "repository"],
    &["recall"],
    &["recall", "boiler warranty"],
    &["forget", "tea or tabs"],
    &["add", "A second note about the garden and the irrigation of the beans behind the house"],
    &["search", "boiler warranty", "--explain"],
    &["search", "bioler warrenty"],
    &["search", "zzzqqq"],
    &["show", BOILER, "--info"],
    &["show", BOILER, "--graph"],
    &["show", LONG_NAME],
    &["edit", LONG_NAME],
    &["edit", "Kitchen tap", "--append", "More"],
    &["list"],
    &["list", "main/house"],
    &["recent"],
    &["mv", "Kitchen tap", "house/kitchen/fittings/taps/Kitchen tap and its cartridge"],
    &["rm", BOILER],
    &["rm", LONG_NAME],
    &[
        "restore",
        "main/house/heating/central-heating-system/Boiler warranty and maintenance contract.md",
    ],
    &[
        "reminders",
        "add",
        "--global",
        "@monthly",
        "Renew the certificate of the mail server in time",
    ],
    &["reminders"],
    &["log"],
    &["log", "-v"],
    &["diff"],
    &["blame", "Garden and the irrigation of the beans"],
    &["activity", "--days", "90"],
    &["undo"],
    &["redo"],
    &["undo", "zzzzzzzz"],
    &["rules"],
    &["rules", "generate", "--dry-run"],
    &["bank"],
    &["project"],
    &["project", "remove", "nothing"],
    &["config"],
    &["scan"],
    &["doctor"],
    &["reindex"],
    &["expire", "--days", "90"],
    &["vacuum", "--dry-run"],
    &["export", "vault.tar"],
    &["hook", "nothing"],
    &["serve", "--bind", "nowhere"],
];

#[test]
fn no_line_is_wider_than_the_terminal() {
    for columns in [60, 80, 160] {
        let home = vault();
        for args in RUN {
            check(&home, columns, args);
        }
        check(&home, columns, &["tool", "--list"]);
    }
}

#[test]
fn no_help_is_wider_than_the_terminal() {
    let home = Home::new();
    for command in commands(&home) {
        check(&home, 60, &["help", &command]);
        check(&home, 60, &[&command, "-h"]);
    }
}

#[test]
fn every_command_is_run_or_named() {
    let home = Home::new();
    let named: BTreeSet<String> = RUN
        .iter()
        .filter_map(|args| args.first())
        .chain(&VERBATIM)
        .chain(&NOT_RUN)
        .chain(&["tool"])
        .map(|name| (*name).to_owned())
        .collect();
    assert_eq!(commands(&home), named);
}

fn check(home: &Home, columns: usize, args: &[&str]) {
    let said = run_at(home, columns, args);
    let text = said.out + &said.err;
    // The help of clap does not break single words, such as addresses. A command is one line, so
    // that it can be copied.
    let is_broken = |line: &&str| line.trim().contains(' ') && !line.starts_with("  memoranda ");
    let is_wide = |line: &&str| line.width() > columns && is_broken(line);
    let wide: Vec<&str> = text.lines().filter(is_wide).collect();
    assert!(wide.is_empty(), "{args:?} at {columns} columns: {wide:#?}");
}

/// Returns the names of all commands, as the help lists them.
fn commands(home: &Home) -> BTreeSet<String> {
    let help = home.ok(&["--help"]);
    let listed = help.split("Flags of every command:").next().unwrap_or_default();
    let name = |line: &str| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty()).then(|| name.to_owned())
    };
    listed.lines().filter_map(name).collect()
}
