//! One question asked of a process of its own, while no other notices what people do: it looks at
//! the files that its answer can depend on, and at no others.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::Home;

const CONTEXT: &[&str] = &["tool", "get_context"];
const ABOUT: &[&str] = &["tool", "get_context", r#"{"query": "tea kettle"}"#];
const RULES: &[&str] = &["tool", "get_rules"];
const SEARCH: &[&str] = &["tool", "search_memories", r#"{"query": "tea kettle"}"#];
const LIST: &[&str] = &["tool", "list_memories"];

/// A home in a repository, with records in all places and a note.
fn home() -> Home {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join(".git")).unwrap();
    let config = "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n";
    std::fs::write(home.path().join(".git/config"), config).unwrap();
    for (scope, kind, text) in [
        ("global", "rule", "Tabs, not blanks"),
        ("projects/github.com-acme-shop", "rule", "Use pnpm"),
        ("projects/github.com-acme-shop", "fact", "The lamp is red"),
        ("global", "fact", "The door is blue"),
    ] {
        home.write(&format!("records/{scope}/{kind}/one.md"), format!("{text}\n"));
    }
    home.write("main/Note.md", "A note\n");
    home.ok(&["scan"]);
    home
}

fn brief(home: &Home) -> String {
    static CONVERSATIONS: AtomicUsize = AtomicUsize::new(0);
    let conversation = CONVERSATIONS.fetch_add(1, Ordering::Relaxed);
    let told = format!(
        r#"{{"hook_event_name": "SessionStart", "session_id": "s{conversation}", "cwd": "{}", "source": "startup"}}"#,
        home.path().display().to_string().replace('\\', "/")
    );
    home.run_fed(told.as_bytes(), &["hook", "session-start", "--client", "claude-code"]).out
}

/// Each of these answers must contain the edit of a person.
#[track_caller]
fn check(home: &Home, what: &str, asked: &[&[&str]], says: &[&str], not: &[&str]) {
    let mut answers: Vec<String> = asked.iter().map(|args| home.ok(args)).collect();
    if asked.contains(&CONTEXT) {
        answers.push(brief(home));
    }
    for answer in answers {
        for words in says {
            assert!(answer.contains(words), "{what}: {words:?} is missing: {answer}");
        }
        for words in not {
            assert!(!answer.contains(words), "{what}: {words:?} is told: {answer}");
        }
    }
}

fn rename(home: &Home, from: &str, to: &str) {
    let to = home.file(to);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::rename(home.file(from), to).unwrap();
}

#[test]
fn what_a_person_did_to_rules_is_told_at_once() {
    let rule = "records/global/rule/one.md";
    // Each question alone must find the new state, so each has a vault of its own.
    for asked in [CONTEXT, ABOUT, RULES] {
        let home = home();
        check(&home, "at first", &[asked], &["Tabs, not blanks", "Use pnpm"], &[]);
        home.write(rule, "Blanks, not tabs\n");
        check(&home, "edit", &[asked], &["Blanks, not tabs", "Use pnpm"], &["Tabs, not"]);
        home.write("records/projects/github.com-acme-shop/rule/new.md", "Ship on Mondays\n");
        check(&home, "add", &[asked], &["Blanks, not tabs", "Ship on Mondays"], &[]);
        std::fs::remove_file(home.file("records/projects/github.com-acme-shop/rule/new.md"))
            .unwrap();
        check(&home, "remove", &[asked], &["Use pnpm"], &["Ship on Mondays"]);
        rename(&home, rule, "records/projects/github.com-acme-shop/rule/moved.md");
        check(&home, "move", &[asked], &["Use pnpm", "Blanks, not tabs"], &["## Global Rules"]);
        rename(
            &home,
            "records/projects/github.com-acme-shop/rule/moved.md",
            "records/elsewhere.md",
        );
        check(&home, "move away", &[asked], &["Use pnpm"], &["## Global Rules"]);
        // It is a note like any other now, so a question may name it among the nearest statements.
        let answer = home.ok(asked);
        let rules = answer.split("## Relevant Memories").next().unwrap();
        assert!(!rules.contains("Blanks, not tabs"), "the moved file is still a rule: {answer}");
        rename(&home, "records/elsewhere.md", "records/global/rule/back.md");
        check(&home, "move back", &[asked], &["## Global Rules", "Blanks, not tabs"], &[]);
    }
}

#[test]
fn what_a_person_wrote_is_found_at_once() {
    for asked in [ABOUT, SEARCH] {
        let home = home();
        let fact = "records/projects/github.com-acme-shop/fact/one.md";
        home.write(fact, "The tea kettle whistles\n");
        check(&home, "edit", &[asked], &["tea kettle whistles"], &[]);
        home.write("records/global/decision/new.md", "We chose the tea kettle of iron\n");
        check(&home, "add", &[asked], &["whistles", "kettle of iron"], &[]);
        std::fs::remove_file(home.file(fact)).unwrap();
        check(&home, "remove", &[asked], &["kettle of iron"], &["whistles"]);
        rename(&home, "records/global/decision/new.md", "records/global/fact/new.md");
        check(&home, "move", &[asked], &["FACT", "kettle of iron"], &["DECISION"]);
    }
    let home = home();
    home.write("records/global/note/new.md", "Fresh news\n");
    check(&home, "list", &[LIST], &["Fresh news"], &[]);
}

#[test]
fn a_rule_holds_again_when_what_took_its_place_is_removed_by_hand() {
    let home = home();
    let old =
        home.json(&["tool", "add_memory", r#"{"content": "Old", "type": "rule", "global": true}"#]);
    let old = old["structured"]["id"].as_str().unwrap().to_owned();
    let new = format!(
        r#"{{"content": "New", "type": "decision", "global": true, "supersedes": ["{old}"]}}"#
    );
    let new = home.json(&["tool", "add_memory", &new]);
    let path = new["structured"]["path"].as_str().unwrap().to_owned();
    check(&home, "superseded", &[CONTEXT], &["Tabs, not blanks"], &["- Old"]);
    std::fs::remove_file(home.file(&path)).unwrap();
    check(&home, "holds again", &[CONTEXT], &["- Old"], &[]);
}

#[test]
fn a_due_reminder_that_a_person_wrote_is_told() {
    let home = home();
    home.write(
        "records/global/reminder/water.md",
        "---\ntype: reminder\ncron: \"* * * * *\"\nsince: \"2020-01-01T00:00:00Z\"\n---\n\nWater the plants\n",
    );
    check(&home, "reminder", &[CONTEXT, &["tool", "list_reminders"]], &["Water the plants"], &[]);
}

#[test]
fn nothing_else_is_looked_at() {
    let home = home();
    home.write("main/Note.md", "The zeppelin has landed\n");
    home.write("records/projects/github.com-acme-other/rule/x.md", "The zeppelin flies\n");
    for asked in [CONTEXT, RULES, LIST] {
        let answer = home.ok(asked);
        assert!(!answer.contains("zeppelin"), "{answer}");
    }
    let known = home.run(&["search", "zeppelin", "--no-scan"]);
    assert!(!known.out.contains("zeppelin"), "{known:?}");
    assert!(home.ok(&["search", "zeppelin"]).contains("landed"));
}
