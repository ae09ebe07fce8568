//! Output: data on one side, messages on the other, colours on request.

use std::process::Stdio;

use super::support::{Home, said};

#[test]
fn colours_only_when_wanted() {
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "some words"]);
    let escapes = |variables: &[(&str, &str)], args: &[&str]| {
        let said = home.run_with(variables, args);
        (said.out + &said.err).contains('\u{1b}')
    };
    for args in [&["search", "words"][..], &["list"], &["log"], &["diff", "Plan"], &["show", "no"]]
    {
        let always = [args, &["--color", "always"]].concat();
        assert!(!escapes(&[], args), "{args:?} into a pipe");
        assert!(escapes(&[], &always), "{args:?} forced");
        assert!(escapes(&[("NO_COLOR", "1")], &always), "{args:?}: the flag comes first");
        assert!(!escapes(&[("NO_COLOR", "1")], args), "{args:?} without colours");
    }
}

#[test]
fn text_cannot_steer_the_terminal() {
    let home = Home::new();
    home.write("main/evil.md", "---\ntitle: \"evil \\e]0;owned\\a\"\n---\nneedle \u{1b}[2J here\n");
    for args in [
        &["search", "needle"][..],
        &["list"],
        &["log"],
        &["show", "evil.md", "--info"],
        &["show", "evil.md"],
    ] {
        let said = home.run(&[args, &["--color", "always"]].concat());
        let rest = said.out.replace("\u{1b}[0m", "");
        assert!(!rest.contains("\u{1b}[2J") && !rest.contains("\u{1b}]"), "{args:?}: {rest:?}");
    }
}

#[test]
fn data_and_talk_are_apart() {
    let home = Home::new();
    let nothing = home.run(&["search", "nothing"]);
    assert_eq!(nothing.out, "");
    assert!(nothing.err.contains("Nothing found"));
    assert_eq!(home.run(&["search", "nothing", "-q"]).err, "");
    home.ok(&["add", "--title", "Plan", "x"]);
    let removed = home.run(&["rm", "Plan"]);
    assert!(removed.out.starts_with("Deleted main/Plan.md (commit "), "{removed:?}");
    assert_eq!(removed.err, "hint: `memoranda restore main/Plan.md` brings it back\n");
    let quiet = home.run(&["restore", "Plan.md", "-q"]);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
    assert_eq!(home.ok(&["list", "--plain"]).split('\t').count(), 4);
}

#[cfg(unix)]
#[test]
fn a_reader_may_go_away() {
    let home = Home::new();
    let many: String = (0..20_000).map(|n| format!("- [fact] number {n}\n")).collect();
    home.write("main/many.md", &many);
    for n in 0..500 {
        home.write(&format!("main/notes/A note with a rather long name, number {n}.md"), "x\n");
    }
    home.ok(&["scan"]);
    for args in
        [&["show", "many.md"][..], &["list"], &["show", "many.md", "--json"], &["export", "-"]]
    {
        let mut command = home.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let said = said(child.wait_with_output().unwrap());
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{args:?}");
    }
}
