//! A vault of Obsidian: templates are no content, tagged paragraphs are no facts, and the vault can
//! become the default.

use super::support::Home;

fn vault() -> Home {
    let home = Home::new();
    let put = |path: &str, text: &str| {
        let path = home.path().join("Vault").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put(".obsidian/app.json", "{}");
    put("Templates/Daily.md", "---\ntitle: {{title}}\ndate: {{date}}\n---\n\nboiler of the day\n");
    put("Templates/Meeting.md", "# {{date:YYYY}} meeting\n\nboiler of the meeting\n");
    put("Templates/Talk.md", "<% tp.file.title %>\n\nboiler of the talk\n");
    put("House.md", "The boiler was serviced #home\n\nAnd the roof #home too\n");
    put("How templates work.md", "# Boiler plates\n\nWrite `{{date}}` for the day.\n");
    put("Facts.md", "- [decision] No new boiler before 2030 #home\n");
    home
}

#[test]
fn templates_and_tagged_paragraphs_are_no_content() {
    let home = vault();
    home.ok(&["import", "obsidian", "Vault"]);
    let found = home.json(&["search", "boiler"]);
    let mut paths: Vec<&str> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["path"].as_str().unwrap())
        .collect();
    paths.sort_unstable();
    assert_eq!(paths, ["Facts.md", "House.md", "How templates work.md"], "{found}");
    // They are notes all the same, and no problem.
    assert!(home.ok(&["show", "vault/Templates/Daily.md"]).contains("boiler of the day"));
    let recent = home.ok(&["recent"]);
    assert!(recent.contains("House") && !recent.contains("Templates/"), "{recent}");
    assert!(home.ok(&["recent", "--type", "template"]).contains("Daily"));
    let doctor = home.run(&["doctor"]);
    assert!(doctor.code == 0 && !doctor.out.contains("frontmatter"), "{doctor:?}");
    assert_eq!(home.json(&["status"])["observations"], 1);
}

#[test]
fn a_vault_is_offered_as_the_default() {
    let home = vault();
    let said = home.run(&["import", "obsidian", "Vault"]);
    assert!(said.err.contains("`memoranda project default vault`"), "{said:?}");
    assert!(said.err.contains("`memoranda setup` connects your agents"), "{said:?}");
    let again = home.run(&["import", "obsidian", "Vault"]);
    assert!(!again.err.contains("memoranda setup"), "{again:?}");
    // A default that has notes, or that the person chose, stays without a word.
    home.ok(&["add", "in the default project"]);
    let again = home.run(&["project", "add", "two", "Vault/Templates"]);
    assert!(!again.err.contains("project default"), "{again:?}");
    let other = vault();
    other.ok(&["config", "set", "default_project", "main"]);
    let said = other.run(&["import", "obsidian", "Vault"]);
    assert!(!said.err.contains("project default"), "{said:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let home = Home::bare();
    let wanted = "/proc/memoranda-vault";
    let said = home.run(&["add", "x", "--home", wanted]);
    assert!(said.code != 0 && said.err.contains(wanted), "{said:?}");
}
