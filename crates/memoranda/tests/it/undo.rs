//! `undo` and `redo` as a person types them.

use super::support::Home;

fn folder_with(home: &Home, count: usize) -> String {
    let folder = home.path().join("Obsidian");
    std::fs::create_dir_all(&folder).unwrap();
    for n in 0..count {
        std::fs::write(folder.join(format!("note {n}.md")), format!("note {n}")).unwrap();
    }
    folder.display().to_string()
}

/// The folder that an import made.
fn imported(home: &Home) -> std::path::PathBuf {
    std::fs::read_dir(home.file("main")).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn undo_goes_further_back_and_redo_forward() {
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "one"]);
    home.ok(&["add", "--title", "Second", "two"]);
    home.ok(&["undo"]);
    assert!(!home.file("main/Second.md").exists());
    let plan = home.ok(&["undo", "--dry-run"]);
    assert!(plan.contains("-one"), "{plan}");
    home.ok(&["undo"]);
    assert!(!home.file("main/Plan.md").exists());
    home.fails(&["undo"], 1, &["there is nothing to undo"]);
    let plan = home.ok(&["redo", "-n"]);
    assert!(plan.contains("+one"), "{plan}");
    assert!(!home.file("main/Plan.md").exists());
    let said = home.run(&["redo"]);
    assert_eq!(said.code, 0, "{said:?}");
    home.ok(&["redo"]);
    assert!(home.file("main/Plan.md").exists() && home.file("main/Second.md").exists());
    home.fails(&["redo"], 1, &["there is nothing to redo", "memoranda log"]);
    let log = home.json(&["log"]);
    let told = |key: &str| -> Vec<String> {
        let commits = log["commits"].as_array().unwrap();
        commits.iter().map(|commit| commit[key].as_str().unwrap_or("-").to_owned()).collect()
    };
    assert_eq!(told("tool"), ["redo", "redo", "undo", "undo", "add", "add"]);
    assert_eq!(told("kind"), ["redo", "redo", "undo", "undo", "-", "-"]);
}

#[test]
fn an_undo_names_the_edit_by_hand_that_it_passes_over() {
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "one"]);
    home.ok(&["add", "--title", "Tap", "two"]);
    std::fs::remove_file(home.file("main/Plan.md")).unwrap();
    home.ok(&["scan"]);
    let said = home.run(&["undo"]);
    assert!(said.out.contains("added main/Tap.md"), "{said:?}");
    assert!(said.err.contains("edits by hand are passed over"), "{said:?}");
    assert!(said.err.contains("deleted main/Plan.md"), "{said:?}");
}

#[test]
fn the_first_scan_of_records_is_not_described_by_the_text_of_one() {
    let home = Home::new();
    home.ok(&["add", "mine"]);
    for n in 0..4 {
        home.write(&format!("records/global/fact/f{n}.md"), format!("The boiler is number {n}\n"));
    }
    home.ok(&["scan"]);
    let log = home.ok(&["log"]);
    assert!(log.contains("began to follow records (4 files)"), "{log}");
    assert!(!log.contains("The boiler"), "{log}");
}

#[test]
fn the_first_scan_of_a_folder_is_not_undone() {
    let home = Home::new();
    home.ok(&["add", "mine"]);
    let folder = folder_with(&home, 40);
    home.ok(&["project", "add", "work", &folder]);
    let log = home.ok(&["log"]);
    assert!(log.contains("began to follow work (40 files)"), "{log}");
    let first = home.json(&["log", "-p", "work"])["commits"][0]["id"].as_str().unwrap().to_owned();
    for args in [&["undo", &first] as &[&str], &["undo", "-n", &first], &["undo", "-y", &first]] {
        home.fails(args, 2, &["work", "40 files", "`memoranda project remove work`"]);
    }
    let hint = "`memoranda project remove work`";
    home.fails(&["undo", "-p", "work"], 1, &["there is nothing to undo", hint]);
    let undone = home.json(&["undo"]);
    assert_eq!(undone["undone"]["tool"], "add");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 40);
}

#[test]
fn an_undo_that_deletes_many_files_asks() {
    let home = Home::new();
    let folder = folder_with(&home, 11);
    home.ok(&["import", "--to", "main", &folder]);
    home.fails(&["undo"], 2, &["delete 11 files", "`--yes`"]);
    assert_eq!(std::fs::read_dir(imported(&home)).unwrap().count(), 11);
    home.ok(&["undo", "--yes"]);
    assert!(home.run(&["redo"]).code == 0, "a redo that adds files does not ask");
    home.ok(&["rm", "-y", imported(&home).file_name().unwrap().to_str().unwrap()]);
    home.ok(&["undo"]);
    home.fails(&["redo"], 2, &["delete 11 files", "`--yes`"]);
}

#[test]
fn a_long_list_of_changed_files_is_cut() {
    let home = Home::new();
    let folder = folder_with(&home, 42);
    home.ok(&["import", "--to", "main", &folder]);
    for entry in std::fs::read_dir(imported(&home)).unwrap() {
        std::fs::write(entry.unwrap().path(), "by hand").unwrap();
    }
    home.fails(&["undo", "-y"], 4, &[", … and 37 more changed since commit"]);
}

#[test]
fn a_project_that_was_added_by_mistake_is_purged() {
    let home = Home::new();
    let folder = folder_with(&home, 3);
    home.ok(&["project", "add", "work", &folder]);
    let plan = home.json(&["project", "remove", "work", "--purge", "-n"]);
    assert_eq!((plan["purged"].as_u64(), plan["dry_run"].as_bool()), (Some(3), Some(true)));
    let remove = ["project", "remove", "work", "--purge"];
    home.fails(&remove, 2, &["purge 3 versions", "`--yes`"]);
    assert!(home.ok(&["search", "note"]).contains("note 1"));
    let removed = home.json(&["project", "remove", "work", "--purge", "--yes"]);
    assert_eq!(removed["purged"], 3);
    // Of the project nothing is left but that it was purged.
    let commits = || home.json(&["log"])["commits"].as_array().unwrap().clone();
    let is_purge = |commit: &serde_json::Value| {
        commit["kind"] == "purge" && commit["files"].as_array().unwrap().is_empty()
    };
    assert!(commits().len() == 1 && commits().iter().all(is_purge), "{:?}", commits());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    assert!(home.ok(&["doctor"]).contains("ok"));
    // Added again, it begins from the beginning; a removed project can be purged later, too.
    home.ok(&["project", "add", "work", &folder]);
    let plain = home.json(&["project", "remove", "work"]);
    assert_eq!((plain["notes"].as_u64(), plain["purged"].is_null()), (Some(3), true));
    assert_eq!(commits().len(), 2);
    home.ok(&["project", "remove", "work", "--purge", "-y"]);
    assert!(commits().len() == 2 && commits().iter().all(is_purge), "{:?}", commits());
    home.fails(&["project", "remove", "work"], 1, &["no project \"work\""]);
}

#[test]
fn a_memory_is_named_by_its_text_and_not_by_its_id() {
    let home = Home::new();
    home.ok(&["remember", "I prefer tabs"]);
    assert!(
        home.ok(&["log"]).contains("added preference \"I prefer tabs\""),
        "{}",
        home.ok(&["log"])
    );
    let undone = home.ok(&["undo"]);
    assert!(undone.contains(": added preference \"I prefer tabs\" (commit "), "{undone}");
    assert!(home.ok(&["log", "-n", "1"]).contains("deleted preference \"I prefer tabs\""));
    assert!(home.ok(&["redo"]).contains(": added preference \"I prefer tabs\""));
    home.write("main/AGENTS.md", "- Always use pnpm\n- Never push to main\n");
    home.ok(&["rules", "import", home.file("main/AGENTS.md").to_str().unwrap(), "--global", "-y"]);
    let log = home.ok(&["log", "-n", "1"]);
    assert!(log.contains("added rule \"") && log.contains("\" and 1 more"), "{log}");
    // Programs get the place.
    assert!(home.ok(&["log", "--plain"]).contains("added records/global/fact/"));
}
