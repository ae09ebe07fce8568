//! `memoranda mcp` as clients start it: real processes, real pipes.

use std::time::{Duration, Instant};

use memoranda_tools::{AccessMode, ToolSelection};
use serde_json::{Value, json};

use super::client::{Client, ERAS, Era, PATIENCE};
use super::support::Home;

/// A server that still waits for answers gives up after 20 s; one that has none left ends before.
const AT_ONCE: Duration = Duration::from_secs(15);

const LATEST: Era = Era::Handshake("2025-11-25");

fn names_in(list: &Value) -> Vec<String> {
    let names = list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

fn tools_of(selection: &ToolSelection) -> Vec<&'static str> {
    selection.resolve().unwrap().iter().map(|tool| tool.name).collect()
}

#[test]
fn clients_of_every_era_are_served_from_nothing() {
    for era in ERAS {
        let home = Home::bare();
        let mut client = Client::start(&home, era, &[]);
        let about = client.greet();
        assert!(about["instructions"].as_str().unwrap().contains("ASSUME INTERRUPTION"));
        let list = client.result("tools/list", json!({}));
        assert_eq!(names_in(&list), tools_of(&ToolSelection::default()));
        let seen = client.done(json!({ "command": "view", "path": "/memories" }));
        assert!(seen.ends_with("\t/memories"), "{seen}");
        let (status, _) = client.close();
        assert_eq!(status.code(), Some(0), "{era:?}");
    }
}

#[test]
fn a_project_that_it_is_held_to_must_be_there() {
    let home = Home::new();
    home.fails(&["mcp", "-p", "nope"], 1, &["nope", "memoranda project create nope"]);
    for name in ["main", "memories"] {
        let client = Client::start(&home, LATEST, &["-p", name]);
        let (status, _) = client.close();
        assert_eq!(status.code(), Some(0), "{name}");
    }
}

#[test]
fn it_ends_with_its_client() {
    let home = Home::new();
    let silent = Client::start(&home, LATEST, &[]);
    let (status, took) = silent.close();
    assert_eq!(status.code(), Some(0));
    assert!(took < AT_ONCE, "{took:?}");
    for era in ERAS {
        let mut client = Client::open(&home, era, &[]);
        client.done(json!({ "command": "create", "path": "/memories/a.md", "file_text": "x" }));
        let (status, took) = client.close();
        assert_eq!(status.code(), Some(0), "{era:?}");
        assert!(took < AT_ONCE, "{took:?}");
    }
}

#[test]
fn what_was_acknowledged_outlives_a_kill() {
    let home = Home::new();
    for round in 0..3 {
        let mut client = Client::open(&home, LATEST, &[]);
        let path = format!("/memories/round{round}.md");
        let text = format!("the parrot of round{round}\n");
        client.done(json!({ "command": "create", "path": path, "file_text": text }));
        client.kill();
        assert_eq!(home.read(&format!("memories/round{round}.md")), text.as_bytes());
        assert!(home.ok(&["search", &format!("round{round} parrot")]).contains("parrot"));
    }
    assert_eq!(home.json(&["list", "-p", "memories"])["notes"].as_array().unwrap().len(), 3);
    home.ok(&["doctor"]);
}

#[test]
fn eight_processes_lose_nothing() {
    const PROCESSES: usize = 8;
    const ROUNDS: usize = 6;
    let home = Home::new();
    let mut first = Client::open(&home, LATEST, &[]);
    let shared =
        json!({ "command": "create", "path": "/memories/shared.md", "file_text": "top\n" });
    first.done(shared);
    std::thread::scope(|scope| {
        for process in 0..PROCESSES {
            let home = &home;
            scope.spawn(move || {
                let mut client = Client::open(home, ERAS[process % ERAS.len()], &[]);
                for round in 0..ROUNDS {
                    let path = format!("/memories/p{process}/r{round}.md");
                    let text = format!("alpha by p{process}r{round}\n");
                    client.done(json!({ "command": "create", "path": path, "file_text": text }));
                    client.done(json!({
                        "command": "str_replace", "path": path, "old_str": "alpha", "new_str": "beta",
                    }));
                    let line = format!("p{process}r{round}");
                    client.done(json!({
                        "command": "insert", "path": "/memories/shared.md",
                        "insert_line": 1, "insert_text": line,
                    }));
                    if round % 3 == 1 {
                        client.done(json!({ "command": "delete", "path": path }));
                    }
                    if round % 3 == 2 {
                        let to = format!("/memories/moved/p{process}r{round}.md");
                        client.done(json!({ "command": "rename", "old_path": path, "new_path": to }));
                    }
                    client.done(json!({ "command": "view", "path": "/memories" }));
                }
                assert_eq!(client.close().0.code(), Some(0));
            });
        }
    });
    let shared = String::from_utf8(home.read("memories/shared.md")).unwrap();
    let mut lines: Vec<&str> = shared.lines().collect();
    assert_eq!((lines.len(), lines[0]), (1 + PROCESSES * ROUNDS, "top"));
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 1 + PROCESSES * ROUNDS, "every line once");
    for process in 0..PROCESSES {
        for round in 0..ROUNDS {
            let stays = home.file(&format!("memories/p{process}/r{round}.md"));
            let moved = home.file(&format!("memories/moved/p{process}r{round}.md"));
            let expected = format!("beta by p{process}r{round}\n");
            match round % 3 {
                0 => assert_eq!(std::fs::read_to_string(stays).unwrap(), expected),
                1 => assert!(!stays.exists() && !moved.exists()),
                _ => assert_eq!(std::fs::read_to_string(moved).unwrap(), expected),
            }
        }
    }
    // Two of three files of each process are left, and the shared one.
    let notes = home.json(&["list", "-p", "memories", "--limit", "1000"]);
    assert_eq!(notes["notes"].as_array().unwrap().len(), 1 + PROCESSES * ROUNDS * 2 / 3);
    let commits = home.json(&["log", "-p", "memories", "--limit", "10000"]);
    let commits = commits["commits"].as_array().unwrap().len();
    // create, replace and insert each round; delete or rename in two of three; the first create.
    assert_eq!(commits, 1 + PROCESSES * ROUNDS * 3 + PROCESSES * ROUNDS * 2 / 3);
}

#[test]
fn one_server_sees_at_once_what_another_wrote() {
    let home = Home::new();
    let mut writer = Client::open(&home, LATEST, &[]);
    let mut reader = Client::open(&home, Era::Stateless, &[]);
    for n in 0..10 {
        let text = format!("version {n} of the quail\n");
        writer.done(json!({ "command": "create", "path": "/memories/q.md", "file_text": text }));
        let seen = reader.done(json!({ "command": "view", "path": "/memories/q.md" }));
        assert!(seen.contains(&format!("version {n} of the quail")), "{seen}");
        let recall = json!({ "name": "recall", "arguments": { "topic": "quail" } });
        let said = reader.result("prompts/get", recall).to_string();
        assert!(said.contains(&format!("version {n}")), "{said}");
    }
}

#[test]
fn an_edit_by_hand_is_found_while_a_server_runs() {
    let home = Home::new();
    let mut client = Client::open(&home, LATEST, &[]);
    client.done(json!({ "command": "create", "path": "/memories/a.md", "file_text": "old\n" }));
    home.write("memories/a.md", "a hand wrote about walruses\n");
    home.write("memories/sub/new.md", "more walruses\n");
    let seen = client.done(json!({ "command": "view", "path": "/memories/a.md" }));
    assert!(seen.contains("walruses"));
    assert!(client.done(json!({ "command": "view", "path": "/memories" })).contains("sub/new.md"));
    // The server notices it within a second; a busy machine may take longer.
    let begun = Instant::now();
    loop {
        // Nothing found yet is an answer too, with a code of its own.
        let said = home.run(&["search", "walruses", "--json"]);
        let found: Value = serde_json::from_str(&said.out).unwrap();
        if found["results"].as_array().unwrap().len() == 2 {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{found}");
        std::thread::sleep(Duration::from_millis(50));
    }
    client.done(json!({
        "command": "str_replace", "path": "/memories/a.md", "old_str": "walruses", "new_str": "terns",
    }));
    assert_eq!(home.read("memories/a.md"), b"a hand wrote about terns\n");
}

#[test]
fn what_is_followed_is_told_whoever_changes_it() {
    const NOTE: &str = "memoranda://main/plan";
    let told = |client: &mut Client| loop {
        let said = client.hear(PATIENCE).unwrap();
        if said["method"] == "notifications/resources/updated" {
            return said["params"]["uri"].clone();
        }
    };
    for era in ERAS {
        let home = Home::new();
        home.ok(&["add", "--title", "Plan", "the first plan"]);
        let mut client = Client::open(&home, era, &[]);
        match era {
            Era::Stateless => {
                let wanted = json!({ "notifications": { "resourceSubscriptions": [NOTE] } });
                client.post("subscriptions/listen", wanted);
                let said = client.hear(PATIENCE).unwrap();
                assert_eq!(said["method"], "notifications/subscriptions/acknowledged");
            }
            Era::Handshake(_) => {
                client.result("resources/subscribe", json!({ "uri": NOTE }));
            }
        }
        home.ok(&["edit", "plan", "--append", "a second line"]);
        assert_eq!(told(&mut client), NOTE, "{era:?}: another process");
        let mut other = Client::open(&home, LATEST, &[]);
        let call = json!({ "name": "edit_note", "arguments": {
            "identifier": "plan", "operation": "append", "content": "a third line",
        } });
        other.result("tools/call", call);
        assert_eq!(told(&mut client), NOTE, "{era:?}: another server");
        let mut text = home.read("main/Plan.md");
        text.extend_from_slice(b"by hand\n");
        home.write("main/Plan.md", &text);
        assert_eq!(told(&mut client), NOTE, "{era:?}: an editor");
        home.ok(&["add", "--title", "Something else", "nobody follows this"]);
        assert_eq!(client.hear(Duration::from_millis(500)), None, "{era:?}: another note");
        let read = client.result("resources/read", json!({ "uri": NOTE }));
        assert!(read["contents"][0]["text"].as_str().unwrap().ends_with("by hand\n"), "{read}");
        let (status, took) = client.close();
        assert_eq!(status.code(), Some(0), "{era:?}");
        assert!(took < AT_ONCE, "{era:?}: {took:?}");
    }
}

#[test]
fn tools_are_chosen_by_flags_and_variables() {
    let home = Home::new();
    let listed = |flags: &[&str]| {
        let mut client = Client::open(&home, LATEST, flags);
        names_in(&client.result("tools/list", json!({})))
    };
    let memory = || vec!["memory".to_owned()];
    let default = ToolSelection::default;
    let without = ToolSelection { exclude: memory(), ..default() };
    let reading = ToolSelection { access: AccessMode::ReadOnly, ..default() };
    assert_eq!(listed(&[]), tools_of(&default()));
    assert_eq!(listed(&["--toolsets", "memory"]), ["memory"]);
    assert_eq!(listed(&["--toolsets", "default,all"]), tools_of(&ToolSelection::all()));
    assert_eq!(listed(&["--tools", "memory"]), ["memory"]);
    assert_eq!(listed(&["--exclude-tools", "memory"]), tools_of(&without));
    assert_eq!(listed(&["--read-only"]), tools_of(&reading));
    for (flags, words) in [
        (["mcp", "--toolsets", "memroy"], "no toolset \"memroy\""),
        (["mcp", "--tools", "nope"], "no tool \"nope\""),
    ] {
        home.fails(&flags, 3, &[words, "hint: `memoranda tool --list`"]);
    }
    home.fails(&["mcp", "--tools", "memory", "--read-only"], 3, &["no tool is left", "hint:"]);
    let bad = home.run_with(&[("MEMORANDA_TOOLSETS", "nope")], &["mcp"]);
    assert_eq!(bad.code, 3, "{bad:?}");
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let with = |variable: &str, value: &str| {
        let mut command = home.command(&["mcp"]);
        command.env(variable, value).stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = request.to_vec();
        line.push(b'\n');
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &line).unwrap();
        let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let answer: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        names_in(&answer["result"])
    };
    assert_eq!(with("MEMORANDA_TOOLS", "memory"), ["memory"]);
    assert_eq!(with("MEMORANDA_EXCLUDE_TOOLS", "memory"), tools_of(&without));
    assert_eq!(with("MEMORANDA_READ_ONLY", "1"), tools_of(&reading));
    assert_eq!(with("MEMORANDA_READ_ONLY", "false"), tools_of(&default()));
}

#[test]
fn a_person_adds_to_the_guidance() {
    let home = Home::new();
    home.ok(&["config", "set", "memory.guidance", "Only what concerns the garden."]);
    let mut client = Client::start(&home, LATEST, &[]);
    let about = client.greet();
    assert!(about["instructions"].as_str().unwrap().contains("Only what concerns the garden."));
    let guide = client.result("prompts/get", json!({ "name": "memory_guide" })).to_string();
    assert!(guide.contains("Only what concerns the garden.") && guide.contains("user/"));
    let said = home.run(&["config", "set", "memory.guidance", "Be brief."]);
    assert!(!said.err.contains("memory_guide"), "{said:?}");
    let said = home.run(&["config", "set", "memory.guidance", &"Be brief. ".repeat(300)]);
    assert!(said.code == 0 && said.err.contains("memory_guide gives all of it"), "{said:?}");
}

#[test]
fn only_protocol_is_on_standard_output() {
    let home = Home::new();
    let said = home.run_fed(b"this is no protocol\n", &["mcp", "-v"]);
    for line in said.out.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
    assert_eq!(said.code, 0, "{said:?}");
}
