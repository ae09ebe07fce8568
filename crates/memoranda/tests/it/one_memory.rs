//! One memory: what one tool stored, every other way of reading finds, in other words than the stored
//! ones, in every client and repository.

use std::path::Path;

use serde_json::{Value, json};

use super::client::{Client, Era};
use super::support::Home;

/// A way to store a fact, a question about it in other words, and a word of the answer.
struct StoredFact {
    tool: &'static str,
    arguments: Value,
    question: &'static str,
    answer: &'static str,
}

fn stored_facts() -> Vec<StoredFact> {
    let fact = |tool, arguments, question, answer| StoredFact { tool, arguments, question, answer };
    vec![
        fact(
            "memory",
            json!({ "command": "create", "path": "/memories/people/okafor.md",
                    "file_text": "Her dentist is Doctor Okafor on Mill Lane\n" }),
            "who looks after her teeth",
            "Okafor",
        ),
        fact(
            "write_note",
            json!({ "title": "Bank letter", "directory": "house",
                    "content": "The mortgage runs until 2031 at a fixed rate" }),
            "how long does the home loan last",
            "2031",
        ),
        fact(
            "add_memory",
            json!({ "content": "Our database is PostgreSQL 15", "type": "fact" }),
            "what SQL engine stores the data",
            "PostgreSQL 15",
        ),
        fact(
            "save_memory",
            json!({ "threadId": "health", "entities": [{
                "name": "Ada", "entityType": "person",
                "observations": ["She is allergic to peanuts"],
                "relations": [{ "targetEntity": "Health", "relationType": "part of" }],
            }, {
                "name": "Health", "entityType": "root",
                "observations": ["What the family must know"], "root": true,
            }] }),
            "which foods make her ill, nuts perhaps",
            "peanuts",
        ),
        fact(
            "update",
            json!({ "bank_type": "global", "bank_id": "default", "target_file": "context.md", "operation": "append",
                    "content": "The car insurance renews every October" }),
            "when is the vehicle policy extended",
            "October",
        ),
        fact(
            "remember",
            json!({ "content": "I take my coffee without sugar" }),
            "is her coffee sweetened",
            "without sugar",
        ),
    ]
}

/// Makes a repository with a remote. Returns its folder.
fn repository(home: &Home, name: &str) -> String {
    let folder = home.path().join(name);
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    let config = format!("[remote \"origin\"]\n\turl = git@github.com:acme/{name}.git\n");
    std::fs::write(folder.join(".git/config"), config).unwrap();
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    folder.display().to_string()
}

/// Fills the vault with notes about other things.
fn write_other_notes(home: &Home, count: usize) {
    const SUBJECTS: [(&str, [&str; 6]); 5] = [
        ("garden", ["tomato", "compost", "seedling", "hedge", "frost", "soil"]),
        ("travel", ["train", "hotel", "passport", "luggage", "museum", "ferry"]),
        ("cooking", ["bread", "yeast", "oven", "garlic", "butter", "salt"]),
        ("music", ["piano", "chord", "rehearsal", "violin", "tempo", "melody"]),
        ("sport", ["running", "marathon", "shoes", "trail", "pace", "swimming"]),
    ];
    for n in 0..count {
        let (subject, words) = SUBJECTS[n % SUBJECTS.len()];
        let word = |k: usize| words[(n / SUBJECTS.len() + k * k) % words.len()];
        let text = format!(
            "# {subject} {n}\n\nThe {} and the {} come before the {}.\nThen the {} of row {n}.\n",
            word(0),
            word(1),
            word(2),
            word(3)
        );
        home.write(&format!("main/{subject}/{n}.md"), text);
    }
}

fn text_of(result: &Value) -> String {
    assert_ne!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Asks the hook at a question, as Claude Code does.
fn brief(home: &Home, folder: &str, question: &str) -> String {
    let told = json!({ "session_id": format!("s-{question}-{folder}"), "cwd": folder,
                       "hook_event_name": "UserPromptSubmit", "prompt": question });
    let said =
        home.run_fed(told.to_string().as_bytes(), &["hook", "prompt", "--client", "claude-code"]);
    assert_eq!(said.code, 0, "{said:?}");
    said.out
}

#[test]
fn what_one_tool_stored_every_reader_finds() {
    let home = Home::new();
    let (shop, other) = (repository(&home, "shop"), repository(&home, "other"));
    repository(&home, "third");
    write_other_notes(&home, 300);
    let facts = stored_facts();
    let mut writer = Client::open_in(&home, Era::Stateless, &["--toolsets", "all"], &shop);
    for fact in &facts {
        let call = json!({ "name": fact.tool, "arguments": fact.arguments });
        let stored = writer.result("tools/call", call);
        assert_ne!(stored["isError"], true, "{}: {stored}", fact.tool);
    }
    let mut missing = Vec::new();
    for folder in [&shop, &other] {
        let era = Era::Handshake("2025-11-25");
        let mut reader = Client::open_in(&home, era, &["--toolsets", "all"], folder);
        for fact in &facts {
            let mut answers: Vec<(&str, String)> = Vec::new();
            for tool in ["recall", "get_context", "search_notes", "search_memories"] {
                let call = json!({ "name": tool, "arguments": { "query": fact.question } });
                answers.push((tool, text_of(&reader.result("tools/call", call))));
            }
            answers.push(("the brief", brief(&home, folder, fact.question)));
            answers.push(("memoranda search", home.run(&["search", fact.question]).out));
            answers.push(("memoranda recall", home.run(&["recall", fact.question]).out));
            let here = Path::new(folder).file_name().unwrap().to_string_lossy().into_owned();
            for (reader, answer) in answers {
                if !answer.contains(fact.answer) {
                    missing.push(format!("{} → {reader} in {here}: {answer}", fact.tool));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "{} cells without an answer:\n{}",
        missing.len(),
        missing.join("\n")
    );
}
