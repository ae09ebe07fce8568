//! A day with the command line.

use super::support::Home;

#[test]
fn a_note_lives_dies_and_comes_back() {
    let home = Home::bare();
    assert!(home.ok(&["init"]).starts_with("Made the vault "));
    assert!(home.ok(&["init"]).starts_with("The vault is at "));

    let said = home.ok(&["add", "--title", "Plan", "--folder", "plans", "Ship in May. [[Budget]]"]);
    assert!(said.starts_with("Remembered main/plans/Plan.md (commit "), "{said}");
    assert_eq!(home.read("main/plans/Plan.md"), b"Ship in May. [[Budget]]\n");
    let found = home.ok(&["search", "ship"]);
    assert!(found.contains("Plan  main/plans/Plan.md:1  just now\n  Ship in May."), "{found}");

    home.write("main/plans/Plan.md", "Ship in June. [[Budget]]\n");
    assert!(home.ok(&["search", "june"]).contains("main/plans/Plan.md"));
    assert_eq!(home.run(&["search", "--words", "may"]).code, 1);

    let log = home.ok(&["log", "Plan", "--plain"]);
    let column = |n: usize| log.lines().map(move |line| line.split('\t').nth(n).unwrap());
    assert_eq!(column(2).collect::<Vec<_>>(), ["You", "You"]);
    assert_eq!(column(3).collect::<Vec<_>>(), ["editor", "add"]);
    let commits = home.json(&["log", "Plan"]);
    let clients = commits["commits"].as_array().unwrap().iter().map(|commit| &commit["client"]);
    let own = concat!("memoranda ", env!("CARGO_PKG_VERSION"));
    assert_eq!(clients.collect::<Vec<_>>(), ["person", own]);
    assert_eq!(home.ok(&["log", "--client", "memoranda", "--plain"]).lines().count(), 1);
    let diff = home.ok(&["diff", "Plan"]);
    assert!(diff.contains("-Ship in May. [[Budget]]\n+Ship in June. [[Budget]]\n"), "{diff}");

    let edit = ["edit", "Plan", "--replace", "June", "July", "--append", "- [risk] late", "--set"];
    home.ok(&[&edit[..], &["status=late"]].concat());
    let text = "---\nstatus: late\n---\nShip in July. [[Budget]]\n- [risk] late\n";
    assert_eq!(home.ok(&["show", "Plan"]), text);
    let plan = home.ok(&["undo", "--dry-run"]);
    assert!(plan.contains("+Ship in June. [[Budget]]\n"), "{plan}");
    assert!(home.ok(&["undo"]).contains("changed main/plans/Plan.md"));
    assert_eq!(home.read("main/plans/Plan.md"), b"Ship in June. [[Budget]]\n");

    home.ok(&["mv", "Plan", "archive/"]);
    assert_eq!(home.ok(&["log", "archive/Plan.md", "--plain"]).lines().count(), 5);
    home.ok(&["rm", "Plan"]);
    assert_eq!(home.run(&["show", "archive/Plan.md"]).code, 1);
    home.ok(&["restore", "archive/Plan.md"]);
    assert_eq!(home.read("main/archive/Plan.md"), b"Ship in June. [[Budget]]\n");

    let first = log.lines().last().unwrap().split('\t').next().unwrap();
    assert_eq!(home.ok(&["show", "plans/Plan.md", "--at", first]), "Ship in May. [[Budget]]\n");
    // Four signs would do, but once in a hundred times they are a year.
    assert_eq!(
        home.ok(&["show", "plans/Plan.md", "--at", &first[..5]]),
        "Ship in May. [[Budget]]\n"
    );
    assert!(home.ok(&["doctor"]).contains("a rebuilt index is identical"));
}

#[test]
fn a_name_means_the_default_project_in_the_past_too() {
    let home = Home::new();
    home.ok(&["project", "create", "wk"]);
    home.ok(&["config", "set", "default_project", "wk"]);
    for project in ["wk", "main"] {
        home.ok(&["add", "-p", project, "--title", "Same", &format!("{project} one")]);
        home.ok(&["edit", "-p", project, "Same", "--replace", "one", "two"]);
    }
    assert_eq!(home.ok(&["show", "Same"]), "wk two\n");
    assert_eq!(home.ok(&["show", "Same", "--at", "now"]), "wk two\n");
    let log = home.ok(&["log", "Same", "--plain"]);
    assert!(log.contains("wk/Same.md") && !log.contains("main/Same.md"), "{log}");
    assert!(home.ok(&["diff", "Same"]).contains("-wk one\n+wk two\n"));
    let said = home.ok(&["restore", "Same", "-y"]);
    assert!(said.starts_with("Restored wk/Same.md"), "{said}");
    assert_eq!(home.read("wk/Same.md"), b"wk one\n");
    assert_eq!(home.read("main/Same.md"), b"main two\n");
}

#[test]
fn what_was_removed_is_found_by_every_name_it_had() {
    let home = Home::new();
    let text = "---\ntitle: The Long Title\npermalink: short/link\n---\nfirst\n";
    home.write("main/deep/file-name.md", text);
    home.write("main/other.md", "another\n");
    home.ok(&["scan"]);
    home.ok(&["rm", "other.md"]);
    let log = home.json(&["log", "deep/file-name.md"]);
    let first = log["commits"][0]["id"].as_str().unwrap();
    for name in ["The Long Title", "short/link", "file-name", "main/short/link", "deep/file-name"] {
        home.ok(&["rm", "deep/file-name.md"]);
        assert_eq!(home.run(&["show", name]).code, 1, "{name}");
        assert_eq!(home.ok(&["show", name, "--at", first]), text, "{name}");
        assert!(home.ok(&["log", name, "--plain"]).contains("deep/file-name.md"), "{name}");
        home.ok(&["restore", name]);
        assert_eq!(home.read("main/deep/file-name.md"), text.as_bytes(), "{name}");
    }
    // A note that is there goes before one that was.
    home.write("main/new.md", "---\ntitle: Other\n---\nnew\n");
    home.ok(&["scan"]);
    assert!(home.ok(&["log", "Other", "--plain"]).contains("main/new.md"));
    // The caller distinguishes two notes that had one name.
    home.write("main/a/twin.md", "a\n");
    home.write("main/b/twin.md", "b\n");
    home.ok(&["scan"]);
    home.ok(&["rm", "a/twin.md"]);
    home.ok(&["rm", "b/twin.md"]);
    home.fails(&["restore", "twin"], 2, &["main/a/twin.md", "main/b/twin.md"]);
    home.fails(&["restore", "never there"], 1, &["never there"]);
}

#[test]
fn folders_are_asked_about_and_come_back_together() {
    let home = Home::new();
    home.write("main/drafts/a.md", "a\n");
    home.write("main/drafts/deep/b.md", "b\n");
    home.write("main/drafts/deep/c.png", [0u8, 255]);
    assert_eq!(
        home.ok(&["rm", "-n", "drafts/"]),
        "Would delete main/drafts/a.md\n\
         Would delete main/drafts/deep/b.md\n\
         Would delete main/drafts/deep/c.png\n"
    );
    home.fails(&["rm", "drafts/"], 2, &["Delete 3 files?", "hint: `--yes`"]);
    home.fails(&["rm", "-y", "nowhere/"], 1, &["there is no folder"]);
    assert!(home.ok(&["rm", "-y", "drafts/"]).contains("main/drafts/ with 3 files"));
    assert!(!home.file("main/drafts").exists());
    home.ok(&["undo"]);
    assert_eq!(home.read("main/drafts/deep/b.md"), b"b\n");
    assert_eq!(home.read("main/drafts/deep/c.png"), [0u8, 255]);
    home.ok(&["mv", "drafts/", "kept"]);
    assert_eq!(home.read("main/kept/deep/b.md"), b"b\n");
    assert_eq!(home.ok(&["list", "kept", "--plain"]).lines().count(), 2);
}

#[test]
fn a_folder_elsewhere_becomes_a_project() {
    let home = Home::new();
    let notes = home.path().join("Notes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("Tea.md"), "Darjeeling\n").unwrap();
    let said = home.ok(&["project", "add", "tea", "Notes"]);
    assert!(said.starts_with("Added project tea "), "{said}");
    assert!(said.ends_with("(1 note)\n"), "{said}");
    assert!(home.ok(&["search", "darjeeling"]).contains("tea/Tea.md:1"));
    assert_eq!(home.run(&["search", "darjeeling", "-p", "main"]).code, 1);
    assert_eq!(home.ok(&["show", "tea/Tea.md", "-p", "tea"]), "Darjeeling\n");
    home.ok(&["add", "-p", "tea", "--title", "Oolong", "Rolled"]);
    assert!(notes.join("Oolong.md").exists());
    let variables = [("MEMORANDA_PROJECT", "main")];
    assert_eq!(home.run_with(&variables, &["search", "darjeeling"]).code, 1);
    let all = ["search", "darjeeling", "--all-projects"];
    assert_eq!(home.run_with(&variables, &all).code, 0);
    home.ok(&["project", "remove", "tea"]);
    assert_eq!(home.run(&["search", "darjeeling"]).code, 1);
    assert!(notes.join("Tea.md").exists());
}

#[test]
fn the_graph_is_drawn() {
    let home = Home::new();
    home.write("main/Search.md", "- implements [[Ranking]]\n- needs [[Nothing yet]]\n");
    home.write("main/Ranking.md", "- uses [[BM25]]\n");
    home.write("main/BM25.md", "A formula.\n");
    home.write("main/Overview.md", "See [[Search]].\n");
    let expected = "\
Search  main/Search.md
├── implements ─▶ Ranking  main/Ranking.md
│   └── uses ─▶ BM25  main/BM25.md
├◀─ links_to ── Overview  main/Overview.md
└╌╌ needs ╌▷ Nothing yet  (not written yet)
";
    let drawn = home.ok(&["show", "Search", "--graph", "--depth", "2"]);
    assert_eq!(drawn, expected);
    let ascii = home.run_with(&[("LANG", "C")], &["show", "Search", "--graph"]).out;
    assert_eq!(
        ascii,
        "Search  main/Search.md\n\
         |-- implements -> Ranking  main/Ranking.md\n\
         |<- links_to -- Overview  main/Overview.md\n\
         `.. needs .> Nothing yet  (not written yet)\n"
    );
}

#[test]
fn deleted_notes_are_purged_when_asked() {
    let home = Home::new();
    home.ok(&["add", "--title", "Secret", "the password is swordfish"]);
    home.ok(&["rm", "Secret"]);
    home.fails(&["vacuum", "--older-than", "now"], 2, &["They cannot be restored"]);
    let said = home.ok(&["vacuum", "--older-than", "now", "-n"]);
    assert_eq!(said, "Would purge 1 deleted note: 1 version in all\n");
    home.ok(&["vacuum", "--older-than", "now", "-y"]);
    // Not even the name is left: it often begins with the text.
    home.fails(&["restore", "Secret.md"], 1, &["there is no note"]);
    assert!(!home.ok(&["log"]).contains("Secret"));
    home.ok(&["doctor"]);
}

#[test]
fn a_vacuum_says_what_it_leaves() {
    let home = Home::new();
    home.ok(&["add", "--title", "Leak", "leakword9911"]);
    home.ok(&["add", "--title", "Kept", "the password is swordfish"]);
    home.ok(&["edit", "Kept", "--replace", "swordfish", "elsewhere"]);
    home.ok(&["rm", "Leak", "-y"]);
    let run = |args: &[&str]| {
        let output = home.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    for args in [&["vacuum", "-y"][..], &["vacuum", "-n"]] {
        let (said, hints) = run(args);
        assert!(said.starts_with("Nothing to purge: nothing deleted before 2"), "{said}");
        let younger = "1 version (1 deleted note) is younger than --older-than 30d; `memoranda \
                       vacuum --older-than now` purges";
        assert!(hints.contains(younger), "{hints}");
        let versions = "1 earlier version of notes that exist can be restored; `memoranda vacuum \
                        --older-than now --versions` purges";
        assert!(hints.contains(versions), "{hints}");
    }
    // Each hinted command really does it.
    let (said, hints) = run(&["vacuum", "--older-than", "now", "-y"]);
    assert!(said.starts_with("Purged 1 deleted note: 1 version in all"), "{said}");
    assert!(!hints.contains("younger") && hints.contains("1 earlier version"), "{hints}");
    let (said, hints) = run(&["vacuum", "--older-than", "now", "--versions", "-y"]);
    assert!(said.starts_with("Purged 0 deleted notes: 1 version in all"), "{said}");
    assert!(!hints.contains("hint"), "{hints}");
}

#[cfg(unix)]
#[test]
fn watching_tells_of_edits_by_hand() {
    use std::io::BufRead as _;
    use std::process::Stdio;
    let home = Home::new();
    let mut child = home
        .command(&["watch", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("Watching "));
    home.write("main/new.md", "noticed\n");
    let mut told = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let commit: serde_json::Value = serde_json::from_str(&told.next().unwrap().unwrap()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(commit["files"][0]["path"], "new.md");
    assert_eq!(commit["client"], "person");
}

#[test]
fn a_default_project_that_is_away_hides_no_other() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("drive")).unwrap();
    home.ok(&["project", "add", "notes", "drive"]);
    home.ok(&["config", "set", "default_project", "notes"]);
    home.ok(&["add", "--title", "Here", "on the drive"]);
    home.ok(&["project", "create", "work"]);
    home.ok(&["add", "-p", "work", "--title", "Plan", "the plan"]);
    std::fs::rename(home.path().join("drive"), home.path().join("unplugged")).unwrap();
    assert!(home.ok(&["show", "work/Plan"]).contains("the plan"));
    assert!(home.ok(&["show", "Plan"]).contains("the plan"));
    home.ok(&["edit", "work/Plan", "--append", "more"]);
    // It might lie on the drive: nothing is guessed for a change.
    for command in [&["edit", "Plan", "--append", "x"][..], &["show", "Here"]] {
        let said = home.run(command);
        assert!(said.code != 0 && said.err.contains("notes"), "{said:?}");
    }
    assert!(!home.ok(&["show", "work/Plan"]).contains('x'));
}
