//! Hooks, fed with what each client really sends.

use std::path::Path;

use serde_json::Value;

use super::support::{Home, Said};

fn recorded(home: &Home, name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hooks");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    text.replace("@HOME@", &home.path().display().to_string().replace('\\', "/"))
}

fn hook(home: &Home, client: &str, moment: &str) -> Said {
    let told = recorded(home, &format!("{client}-{moment}"));
    home.run_fed(told.as_bytes(), &["hook", moment, "--client", client])
}

/// A home with a repository, memories, and a conversation.
fn lived_in() -> Home {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join("shop/.git")).unwrap();
    let config = "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n";
    std::fs::write(home.path().join("shop/.git/config"), config).unwrap();
    std::fs::write(home.path().join("shop/.git/HEAD"), "ref: refs/heads/cart\n").unwrap();
    home.write("memories/user/style.md", "# Style\n- [style] Short answers\n");
    home.write("main/Kitchen.md", "The kitchen tap takes cartridge 46374.\n");
    let said = r#"{"type":"user","message":{"role":"user","content":"Add a discount, key AKIAIOSFODNN7EXAMPLE"}}
{"type":"user","message":{"role":"user","content":"<memoranda-brief>\nold news\n</memoranda-brief>"}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"The discount is in cart.rs."}]}}
"#;
    std::fs::write(home.path().join("transcript.jsonl"), said).unwrap();
    let chat = r#"{"sessionId":"x","messages":[{"type":"user","content":"Hello there"}]}"#;
    std::fs::write(home.path().join("chat.json"), chat).unwrap();
    home
}

/// The text that a model gets, wherever the client wants it.
fn given(said: &Said) -> String {
    assert_eq!(said.code, 0, "{said:?}");
    let value: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:?}"));
    let places = [&value["hookSpecificOutput"]["additionalContext"], &value["additional_context"]];
    places.iter().find_map(|text| text.as_str()).unwrap_or_default().to_owned()
}

#[test]
fn every_client_gets_its_brief() {
    let home = lived_in();
    let rule = r#"{"content": "Ask before a push", "type": "rule", "global": true}"#;
    home.ok(&["tool", "add_memory", rule]);
    for client in ["claude-code", "codex", "vscode", "gemini", "cursor"] {
        let text = given(&hook(&home, client, "session-start"));
        assert!(
            text.starts_with("<memoranda-brief>\nFrom the person's own notes"),
            "{client}: {text}"
        );
        assert!(
            text.contains("memories/user/style.md:\n> # Style\n> - [style] Short answers"),
            "{text}"
        );
        assert!(text.contains("Ask before a push"), "{client}: {text}");
        assert!(text.contains("- Kitchen (main/Kitchen.md, "), "{client}: {text}");
        assert!(text.chars().count() <= 10_000);
    }
}

#[test]
fn a_checkpoint_is_kept_and_comes_back() {
    let home = lived_in();
    let said = hook(&home, "claude-code", "pre-compact");
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    let note =
        || String::from_utf8(home.read("memories/sessions/claude-code-0a1b2c3d4e5f.md")).unwrap();
    let text = note();
    for words in [
        "type: \"checkpoint\"",
        "repository: \"github.com/acme/shop\"",
        "branch: \"cart\"",
        "> Add a discount, key [redacted: AWS access key]",
        "> The discount is in cart.rs.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("old news"), "our own words are not kept: {text}");
    hook(&home, "claude-code", "post-compact");
    assert!(note().contains("> The cart has a discount.\n> Tests are missing."), "{}", note());
    hook(&home, "claude-code", "session-end");
    let text = note();
    assert!(text.contains("when the conversation ended") && text.contains("> Tests are missing."));

    // The same conversation goes on after compaction; another one begins in the same repository.
    let told = recorded(&home, "claude-code-session-start").replace("startup", "compact");
    let start = ["hook", "session-start", "--client", "claude-code"];
    let text = given(&home.run_fed(told.as_bytes(), &start));
    assert!(
        text.contains("## Where this conversation stood") && text.contains("> > Tests are"),
        "{text}"
    );
    let text = given(&hook(&home, "codex", "session-start"));
    assert!(
        text.contains("## The last conversation here\n\nmemories/sessions/claude-code-"),
        "{text}"
    );
    let elsewhere = recorded(&home, "codex-session-start").replace("/shop", "/bank");
    let text =
        given(&home.run_fed(elsewhere.as_bytes(), &["hook", "session-start", "--client", "codex"]));
    assert!(!text.contains("last conversation"), "{text}");
    let log = home.ok(&["log", "-p", "memories", "--plain"]);
    assert!(log.contains("Claude Code\thook session-end"), "{log}");
}

#[test]
fn other_clients_keep_checkpoints_too() {
    let home = lived_in();
    for (client, moment, out, file) in [
        ("codex", "pre-compact", "", "codex-019acodex7f3"),
        ("vscode", "stop", "", "vscode-vs77aa"),
        ("gemini", "pre-compact", "{}\n", "gemini-gem1234"),
        ("cursor", "stop", "{}\n", "cursor-cur55ee"),
    ] {
        let said = hook(&home, client, moment);
        assert_eq!((said.code, said.out.as_str()), (0, out), "{client}: {said:?}");
        let text = home.read(&format!("memories/sessions/{file}.md"));
        assert!(!text.is_empty(), "{client}");
    }
    // While a conversation goes on, once in ten minutes is enough.
    let commits = || home.ok(&["log", "--plain"]).lines().count();
    let before = commits();
    hook(&home, "vscode", "stop");
    assert_eq!(commits(), before);
}

#[test]
fn a_question_gets_what_memory_holds() {
    let home = lived_in();
    let text = given(&hook(&home, "claude-code", "prompt"));
    assert!(
        text.contains("Kitchen (main/Kitchen.md):\n> The kitchen tap takes cartridge"),
        "{text}"
    );
    let told = recorded(&home, "claude-code-prompt").replace("Which cartridge", "Hello world");
    let told = told.replace("does the kitchen tap take", "and good morning");
    let said = home.run_fed(told.as_bytes(), &["hook", "prompt", "--client", "claude-code"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "nothing fits, nothing is said");
}

#[test]
fn whatever_goes_wrong_the_conversation_goes_on() {
    let moments = ["session-start", "prompt", "pre-compact", "post-compact", "stop", "session-end"];
    let nobody = Home::bare();
    let broken = Home::new();
    let config = broken.path().join(".config/memoranda/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "nonsense = [\n").unwrap();
    let strange = Home::new();
    for moment in moments {
        let args = ["hook", moment, "--client", "claude-code"];
        for (home, told) in [
            (&nobody, recorded(&nobody, "claude-code-pre-compact").into_bytes()),
            (&broken, recorded(&broken, "claude-code-pre-compact").into_bytes()),
            (&strange, b"".to_vec()),
            (&strange, b"not JSON".to_vec()),
            (&strange, b"[1, 2]".to_vec()),
            (&strange, b"\xff\xfe".to_vec()),
            (&strange, br#"{"session_id": 5, "cwd": {}, "transcript_path": "/"}"#.to_vec()),
        ] {
            let said = home.run_fed(&told, &args);
            assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""), "{moment}");
        }
        assert_eq!(strange.run_fed(b"{}", &["hook", moment, "--client", "gemini"]).out, "{}\n");
    }
    assert!(!nobody.path().join("memoranda").exists(), "a hook makes no vault");
}
