//! Rule files: written from rules, never over what people wrote, and read back.

use super::support::Home;

fn repository(home: &Home) {
    let git = home.path().join(".git");
    std::fs::create_dir_all(&git).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n";
    std::fs::write(git.join("config"), config).unwrap();
}

fn put(home: &Home, path: &str, text: &str) {
    let path = home.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(home: &Home, path: &str) -> String {
    std::fs::read_to_string(home.path().join(path)).unwrap()
}

fn changes(home: &Home, args: &[&str]) -> Vec<String> {
    let said = home.run(&[&["rules", "generate", "--json"], args].concat());
    let json: serde_json::Value =
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:?}"));
    let files = json["files"].as_array().unwrap().iter();
    files
        .map(|f| format!("{} {}", f["change"].as_str().unwrap(), f["path"].as_str().unwrap()))
        .collect()
}

#[test]
fn rules_come_from_files_and_go_back_into_others() {
    let home = Home::new();
    repository(&home);
    let mine = "# Shop\n\nWords of a person.\n\n## Tools\n\n- Use pnpm\n- Never npm\n";
    put(&home, "AGENTS.md", mine);
    put(&home, ".cursor/rules/ts.mdc", "---\nglobs: src/**/*.ts\n---\n- Be strict\n- use  PNPM\n");
    let planned = home.json(&["rules", "import", "--dry-run"]);
    assert_eq!((planned["rules"].as_array().unwrap().len(), &planned["known"]), (3, &1.into()));
    let made = home.json(&["rules", "import"]);
    assert_eq!(made["scope"], "github.com/acme/shop");
    assert_eq!(made["prose"], 1);
    assert_eq!(
        (&made["rules"][0]["line"], &made["rules"][0]["category"]),
        (&7.into(), &"Tools".into())
    );
    assert_eq!(home.json(&["rules", "import"])["rules"].as_array().unwrap().len(), 0);
    assert_eq!(read(&home, "AGENTS.md"), mine);

    // Without a target, what is used here.
    let said = home.run(&["rules", "generate", "--check"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(
        changes(&home, &["--dry-run"]),
        [
            "updated AGENTS.md",
            "created .cursor/rules/memoranda.mdc",
            "created .cursor/rules/memoranda-src-ts.mdc",
        ]
    );
    assert_eq!(read(&home, "AGENTS.md"), mine);
    home.ok(&["rules", "generate"]);
    home.ok(&["rules", "generate", "--check"]);
    // What the person's part of the file says is not said again.
    assert_eq!(
        read(&home, "AGENTS.md"),
        format!(
            "{mine}\n<!-- memoranda:rules:begin (made by `memoranda rules generate`) -->\n\
             # Rules\n\n- For `src/**/*.ts`: Be strict\n<!-- memoranda:rules:end -->\n"
        )
    );
    let scoped = read(&home, ".cursor/rules/memoranda-src-ts.mdc");
    assert!(scoped.contains("globs: src/**/*.ts\nalwaysApply: false\n---\n"), "{scoped}");
    // Generated rules are not imported, and a person may write around them.
    assert_eq!(home.json(&["rules", "import"])["rules"].as_array().unwrap().len(), 0);
    put(&home, "AGENTS.md", &format!("Top.\n\n{}\nBottom.\n", read(&home, "AGENTS.md")));
    home.ok(&["rules", "generate", "--check"]);

    // For everyone.
    let all = changes(&home, &["all"]);
    assert_eq!(all.len(), 13, "{all:?}");
    home.ok(&["rules", "generate", "all", "--check"]);
    let copilot = read(&home, ".github/instructions/memoranda.instructions.md");
    assert!(copilot.starts_with("---\napplyTo: \"**\"\n---\n<!-- Made by"), "{copilot}");

    // A rule that goes takes its file along.
    let id = made["rules"][2]["id"].as_str().unwrap();
    home.ok(&["rm", &format!("records/projects/github.com-acme-shop/rule/{id}.md")]);
    let gone = changes(&home, &["cursor", "claude"]);
    assert!(gone.contains(&"removed .cursor/rules/memoranda-src-ts.mdc".to_owned()), "{gone:?}");
    assert!(!home.path().join(".claude/rules/memoranda-src-ts.md").exists());
}

#[test]
fn what_people_wrote_is_left_alone() {
    let home = Home::new();
    repository(&home);
    home.fails(&["rules", "generate", "nobody"], 2, &["\"nobody\" is no target", "agents"]);
    home.ok(&["tool", "add_memory", "{\"content\":\"Tabs\",\"type\":\"rule\"}"]);
    put(&home, ".clinerules/memoranda.md", "written by hand\n");
    home.fails(&["rules", "generate", "cline"], 4, &["was not made by", "left alone"]);
    assert_eq!(read(&home, ".clinerules/memoranda.md"), "written by hand\n");
    put(&home, "GEMINI.md", "<!-- memoranda:rules:end -->\nmine\n");
    home.fails(&["rules", "generate", "gemini"], 4, &["the marks in GEMINI.md are damaged"]);
    assert_eq!(read(&home, "GEMINI.md"), "<!-- memoranda:rules:end -->\nmine\n");

    // Global rules come only if asked for; elsewhere there are no others.
    home.ok(&["tool", "add_memory", "{\"content\":\"Mine\",\"type\":\"rule\",\"global\":true}"]);
    home.ok(&["rules", "generate", "agents"]);
    assert!(!read(&home, "AGENTS.md").contains("Mine"));
    home.ok(&["rules", "generate", "agents", "--global"]);
    assert!(read(&home, "AGENTS.md").contains("- Tabs\n- Mine\n"));
    std::fs::remove_dir_all(home.path().join(".git")).unwrap();
    home.fails(&["rules", "generate"], 1, &["no repository", "--global"]);
    home.fails(&["rules", "import", "AGENTS.md"], 1, &["no repository"]);
}

#[test]
fn a_colleague_s_rules_come_by_the_repository() {
    let home = Home::new();
    repository(&home);
    home.ok(&[
        "tool",
        "add_memory",
        "{\"content\":\"Be strict\",\"type\":\"rule\",\"paths\":[\"*.py\"]}",
    ]);
    home.ok(&[
        "tool",
        "add_memory",
        "{\"content\":\"Use pnpm\",\"type\":\"rule\",\"category\":\"Tools\"}",
    ]);
    home.ok(&["rules", "generate", "agents", "cursor"]);
    let (agents, cursor) =
        (read(&home, "AGENTS.md"), read(&home, ".cursor/rules/memoranda-py.mdc"));

    // Another vault, the same repository.
    std::fs::rename(home.file(""), home.path().join("theirs")).unwrap();
    home.ok(&["init"]);
    home.fails(
        &["rules", "generate"],
        4,
        &["no rules of github.com/acme/shop", "AGENTS.md", "rules import", "--remove"],
    );
    home.fails(&["rules", "generate", "all"], 4, &["nothing was changed"]);
    assert_eq!(
        (read(&home, "AGENTS.md"), read(&home, ".cursor/rules/memoranda-py.mdc")),
        (agents.clone(), cursor)
    );
    let made = home.json(&["rules", "import"]);
    let rules = made["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 2, "{made}");
    assert_eq!((&rules[0]["text"], &rules[0]["paths"][0]), (&"Be strict".into(), &"*.py".into()));
    assert_eq!((&rules[1]["category"], &rules[1]["file"]), (&"Tools".into(), &"AGENTS.md".into()));
    home.ok(&["rules", "generate", "--check"]);
    assert_eq!(read(&home, "AGENTS.md"), agents);

    for rule in rules {
        let id = rule["id"].as_str().unwrap();
        home.ok(&["rm", &format!("records/projects/github.com-acme-shop/rule/{id}.md")]);
    }
    home.ok(&["rules", "generate", "--remove"]);
    assert!(!home.path().join("AGENTS.md").exists());
    assert!(!home.path().join(".cursor/rules/memoranda-py.mdc").exists());
}

#[test]
fn rules_of_folders_are_for_the_files_there() {
    let home = Home::new();
    repository(&home);
    put(&home, "AGENTS.md", "- Everywhere\n");
    put(&home, "web/AGENTS.md", "- Everywhere\n- In web\n");
    put(&home, "web/deep/CLAUDE.md", "- Deep\n");
    put(&home, "api/AGENTS.md", "- In web\n");
    put(&home, "node_modules/x/AGENTS.md", "- Not ours\n");
    put(&home, ".claude/rules/team/style.md", "- Styled\n");
    let made = home.json(&["rules", "import"]);
    let found: Vec<String> = made["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| format!("{} {} {}", rule["file"], rule["text"], rule["paths"]).replace('"', ""))
        .collect();
    assert_eq!(
        found,
        [
            "AGENTS.md Everywhere []",
            ".claude/rules/team/style.md Styled []",
            "api/AGENTS.md In web [api/**]",
            "web/AGENTS.md In web [web/**]",
            "web/deep/CLAUDE.md Deep [web/deep/**]",
        ]
    );
}

#[test]
fn trouble_with_one_target_stops_no_other() {
    let home = Home::new();
    repository(&home);
    home.ok(&[
        "tool",
        "add_memory",
        "{\"content\":\"Tabs <!-- memoranda:rules:end -->\",\"type\":\"rule\"}",
    ]);
    put(&home, ".clinerules", "- Mine\n");
    put(&home, "GEMINI.md", "<!-- memoranda:rules:end -->\nmine\n");
    let said = home.run(&["rules", "generate", "all"]);
    assert_eq!(said.code, 4, "{said:?}");
    for words in
        [".clinerules is a file", ".clinerules/rules.md", "the marks in GEMINI.md are damaged"]
    {
        assert!(said.err.contains(words), "{said:?}");
    }
    assert!(
        said.out.contains("created   AGENTS.md") && said.out.contains(".roo/rules"),
        "{said:?}"
    );
    // Text that mentions the marks is not a rule.
    home.ok(&["rules", "generate", "agents"]);
    home.ok(&["rules", "generate", "agents", "--check"]);
    home.ok(&["tool", "add_memory", "{\"content\":\"More\",\"type\":\"rule\"}"]);
    home.ok(&["rules", "generate", "agents"]);
    let agents = read(&home, "AGENTS.md");
    assert_eq!(agents.lines().filter(|line| line.starts_with("- ")).count(), 2, "{agents}");
    assert_eq!(read(&home, ".clinerules"), "- Mine\n");
}

#[test]
fn what_was_written_into_generated_text_is_not_lost() {
    let home = Home::new();
    repository(&home);
    let add = |text: &str, more: &str| {
        let call = format!(r#"{{"content": "{text}", "type": "rule"{more}}}"#);
        home.json(&["tool", "add_memory", &call])["structured"]["id"].as_str().unwrap().to_owned()
    };
    let (tabs, pnpm) = (add("Tabs", ""), add("Use pnpm", ""));
    add("Be kind", r#", "global": true"#);
    home.ok(&["rules", "generate", "agents", "cursor", "--global"]);
    for path in ["AGENTS.md", ".cursor/rules/memoranda.mdc"] {
        // A colleague writes where it does not belong, and the rules go on.
        let made = read(&home, path);
        put(&home, path, &made.replace("- Tabs\n", "- Tabs\n- Never on Fridays\n"));
    }
    let id = format!(r#"{{"id": "{tabs}", "content": "Blanks"}}"#);
    home.ok(&["tool", "edit_memory", &id]);
    home.ok(&["tool", "forget_memory", &format!(r#"{{"id": "{pnpm}"}}"#)]);
    let before = read(&home, "AGENTS.md");
    let words = ["AGENTS.md says \"Never on Fridays\"", "rules import AGENTS.md", "--force"];
    for mode in [&[][..], &["--check"], &["--dry-run"]] {
        home.fails(&[&["rules", "generate", "agents"], mode].concat(), 4, &words);
        assert_eq!(read(&home, "AGENTS.md"), before, "{mode:?}");
    }
    // Only that target waits.
    let said = home.run(&["rules", "generate", "agents", "gemini"]);
    assert!(said.code == 4 && said.out.contains("created   GEMINI.md"), "{said:?}");
    // It alone becomes a rule: what the others once said is known, and stays as it is now.
    let made = home.json(&["rules", "import", "AGENTS.md"]);
    assert_eq!((made["rules"].as_array().unwrap().len(), &made["known"]), (1, &3.into()), "{made}");
    home.ok(&["rules", "generate", "agents", "cursor"]);
    let rules = "# Rules\n\n- Blanks\n- Never on Fridays\n";
    assert!(
        read(&home, "AGENTS.md").contains(rules) && read(&home, "GEMINI.md").contains("Blanks")
    );
    // A paragraph is no rule, and is not lost either.
    put(&home, "AGENTS.md", &read(&home, "AGENTS.md").replace(rules, "See docs/style.md.\n"));
    home.fails(&["rules", "generate", "agents"], 4, &["says \"See docs/style.md.\""]);
    home.ok(&["rules", "generate", "agents", "--force"]);
    assert!(read(&home, "AGENTS.md").contains(rules));
}

#[test]
fn generated_rules_are_not_taken_for_a_strangers() {
    let home = Home::new();
    repository(&home);
    let texts = [
        "```sh\nmake all\n```",
        "~~~\nmake\n~~~\nand go",
        "Unclosed:\n\n```\nmake",
        "For `foo`: do bar",
        "Write &lt;!-- memoranda:rules:end --> or <!-- memoranda:rules:end -->",
    ];
    for text in texts {
        let rule = serde_json::json!({ "content": text, "type": "rule" });
        home.ok(&["tool", "add_memory", &rule.to_string()]);
    }
    home.ok(&["rules", "generate", "all"]);
    assert_eq!(home.json(&["rules", "import", "--dry-run"])["rules"], serde_json::json!([]));
    home.ok(&["tool", "add_memory", r#"{"content": "One more", "type": "rule"}"#]);
    home.ok(&["rules", "generate", "all"]);
    assert_eq!(home.run(&["rules", "generate", "all", "--check"]).code, 0);
    // A colleague's vault gets the same rules, each once.
    let other = Home::new();
    repository(&other);
    put(&other, "AGENTS.md", &read(&home, "AGENTS.md"));
    put(&other, ".cursor/rules/memoranda.mdc", &read(&home, ".cursor/rules/memoranda.mdc"));
    let made = other.json(&["rules", "import"]);
    let mut found: Vec<_> = made["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["text"].as_str().unwrap())
        .collect();
    let mut expected: Vec<&str> = texts.into_iter().chain(["One more"]).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn files_for_the_same_files_are_one_however_they_are_named() {
    let home = Home::new();
    repository(&home);
    let rule =
        r#"{"content": "Lower case", "type": "rule", "paths": ["*.sql", "./db/", "src\\api\\**"]}"#;
    home.ok(&["tool", "add_memory", rule]);
    home.ok(&["rules", "generate", "agents", "cursor"]);
    let cursor = read(&home, ".cursor/rules/memoranda-sql.mdc");
    assert!(cursor.contains("\nglobs: **/*.sql,db/**,src/api/**\n"), "{cursor}");
    let other = Home::new();
    repository(&other);
    put(&other, "AGENTS.md", &read(&home, "AGENTS.md"));
    put(&other, ".cursor/rules/memoranda-sql.mdc", &cursor);
    let made = other.json(&["rules", "import"]);
    assert_eq!((made["rules"].as_array().unwrap().len(), &made["known"]), (1, &1.into()));
}

#[cfg(unix)]
#[test]
fn rights_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let home = Home::new();
    repository(&home);
    home.ok(&["tool", "add_memory", r#"{"content": "Use pnpm", "type": "rule"}"#]);
    put(&home, "AGENTS.md", "# Mine\n");
    let agents = home.path().join("AGENTS.md");
    std::fs::set_permissions(&agents, std::fs::Permissions::from_mode(0o640)).unwrap();
    let gemini = home.path().join("GEMINI.md");
    symlink("away/GEMINI.md", &gemini).unwrap();
    for mode in [&[][..], &["--dry-run"]] {
        let words = ["GEMINI.md is a link to away/GEMINI.md, which is not there"];
        home.fails(&[&["rules", "generate", "agents", "gemini"], mode].concat(), 4, &words);
    }
    assert!(read(&home, "AGENTS.md").contains("- Use pnpm"));
    let mode = std::fs::metadata(&agents).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(gemini.is_symlink());
}
