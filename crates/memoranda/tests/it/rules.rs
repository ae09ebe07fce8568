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
    assert_eq!(
        read(&home, "AGENTS.md"),
        format!(
            "{mine}\n<!-- memoranda:rules:begin (made by `memoranda rules generate`) -->\n\
             # Rules\n\n- For `src/**/*.ts`: Be strict\n\n## Tools\n\n- Use pnpm\n- Never npm\n\
             <!-- memoranda:rules:end -->\n"
        )
    );
    let scoped = read(&home, ".cursor/rules/memoranda-src-ts.mdc");
    assert!(scoped.contains("globs: src/**/*.ts\nalwaysApply: false\n---\n"), "{scoped}");
    // What was generated is not read as news, and a person may write around it.
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
