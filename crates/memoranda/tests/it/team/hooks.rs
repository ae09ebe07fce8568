//! Hooks and set-up by address, against a real team server.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::{Team, TeamServer};
use crate::cluster::{DiskForce, skipped};
use crate::support::{Home, Said};

/// A person's machine with a repository and the token of a server in a file.
fn machine(token: &str) -> (Home, PathBuf) {
    let home = Home::bare();
    let shop = home.path().join("shop");
    std::fs::create_dir_all(shop.join(".git")).unwrap();
    let config = "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n";
    std::fs::write(shop.join(".git/config"), config).unwrap();
    std::fs::write(shop.join(".git/HEAD"), "ref: refs/heads/cart\n").unwrap();
    std::fs::write(home.path().join("token"), token).unwrap();
    (home, shop)
}

fn hook(home: &Home, server: &str, moment: &str, input: &Value) -> Said {
    let token = home.path().join("token").display().to_string();
    let args = ["hook", moment, "--client", "claude-code", "--server", server, "--token-file"];
    home.run_fed(input.to_string().as_bytes(), &[&args[..], &[token.as_str()]].concat())
}

fn brief(said: &Said) -> String {
    assert_eq!(said.code, 0, "{said:?}");
    let answer: Value = serde_json::from_str(&said.out).unwrap_or_default();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

fn url(server: &TeamServer) -> String {
    format!("http://{}", server.address)
}

#[test]
fn hooks_brief_and_keep_checkpoints_on_a_server() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("hooks_brief") };
    let server = team.serve();
    let anna = team.token("anna", "laptop", &[]);
    let ben = team.token("ben", "laptop", &[]);
    let rule = json!({ "content": "Use pnpm in this repository", "type": "rule",
        "project_id": "github.com/acme/shop", "space": "acme" });
    server.call(&ben, "add_memory", &rule);
    server.call(&anna, "remember", &json!({ "content": "I like short answers", "space": "anna" }));
    let (home, shop) = machine(&anna);
    let address = url(&server);
    let start = |session: &str| json!({ "session_id": session, "cwd": shop, "source": "startup" });

    let first = brief(&hook(&home, &address, "session-start", &start("one")));
    assert!(first.contains("Use pnpm"), "a rule of the team: {first}");
    assert!(first.contains("short answers"), "the person's own: {first}");
    assert!(!first.contains("The last conversation here"), "{first}");

    let transcript = home.path().join("said.jsonl");
    let said = r#"{"type":"user","message":{"role":"user","content":"Add a discount, key AKIAIOSFODNN7EXAMPLQ"}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"The discount is in cart.rs."}]}}
"#;
    std::fs::write(&transcript, said).unwrap();
    let end = json!({ "session_id": "one", "cwd": shop, "transcript_path": transcript });
    assert_eq!(hook(&home, &address, "pre-compact", &end).code, 0);
    let path = json!({ "identifier": "sessions/claude-code-one.md", "project": "memories" });
    let kept = server.call(&anna, "read_note", &path).to_string();
    assert!(kept.contains("The discount is in cart.rs."), "{kept}");
    assert!(!kept.contains("AKIAIOSFODNN7EXAMPLQ"), "a key is replaced: {kept}");
    server.refuses(&ben, "read_note", &path, "claude-code-one");

    let next = brief(&hook(&home, &address, "session-start", &start("two")));
    assert!(next.contains("The last conversation here"), "{next}");
    assert!(next.contains("The discount is in cart.rs."), "{next}");
    let resumed = json!({ "session_id": "one", "cwd": shop, "source": "resume" });
    let resumed = brief(&hook(&home, &address, "session-start", &resumed));
    assert!(resumed.contains("Where this conversation stood"), "{resumed}");

    let asked = json!({ "session_id": "two", "cwd": shop, "prompt": "Do I like short answers?" });
    let told = brief(&hook(&home, &address, "prompt", &asked));
    assert!(told.contains("What memory holds about this") && told.contains("I like"), "{told}");
    let history = team.admin(&["audit"]).to_string() + &server.log();
    assert!(!history.contains(&anna[8..]), "no token in audit or log");
}

#[test]
fn a_checkpoint_stays_out_of_a_shared_space() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_checkpoint_stays") };
    let server = team.serve();
    let anna = team.token("anna", "shared", &["--space", "acme"]);
    let (home, shop) = machine(&anna);
    let end = json!({ "session_id": "one", "cwd": shop, "prompt": "wombat",
        "last_assistant_message": "burrow" });
    assert_eq!(hook(&home, &url(&server), "session-end", &end).code, 0);
    let path = json!({ "identifier": "sessions/claude-code-one.md", "project": "memories" });
    server.refuses(&anna, "read_note", &path, "claude-code-one");
}

#[test]
fn a_hook_says_that_its_server_is_away_and_never_fails() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_hook_says") };
    let server = team.serve();
    let address = url(&server);
    let (home, shop) = machine(&team.token("anna", "laptop", &[]));
    let start = json!({ "session_id": "one", "cwd": shop, "source": "startup" });
    server.kill();
    let told = brief(&hook(&home, &address, "session-start", &start));
    assert!(told.contains("did not answer") && told.contains(&address), "{told}");
    let end = json!({ "session_id": "one", "cwd": shop, "prompt": "x",
        "last_assistant_message": "y" });
    let ended = hook(&home, &address, "session-end", &end);
    assert_eq!((ended.code, ended.out.as_str()), (0, ""), "{ended:?}");
    assert!(!home.path().join("memoranda").exists(), "no vault is made");
}

#[test]
fn the_written_entry_opens_the_server() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("the_written_entry") };
    let server = team.serve();
    let (home, _) = machine(&team.token("anna", "laptop", &[]));
    let address = url(&server);
    home.ok(&["setup", "cursor", "--url", &address, "--token-file", "token", "--yes"]);
    let text = std::fs::read_to_string(home.path().join(".cursor/mcp.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let entry = &file["mcpServers"]["memoranda"];
    let path = entry["url"].as_str().unwrap().strip_prefix(&address).unwrap();
    let secret = entry["headers"]["Authorization"].as_str().unwrap();
    let secret = secret.strip_prefix("Bearer ").unwrap();
    let listed = server.mcp_at(path, secret, "tools/list", json!({}));
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|t| t["name"].as_str()).collect();
    assert!(names.contains(&"remember") && names.contains(&"search_notes"), "{names:?}");
}
