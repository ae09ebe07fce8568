//! Banks over real stdio: every example of the specification, and what must hold around it.

use serde_json::{Value, json};

use super::client::{Client, Era};
use super::support::Home;

const ERA: Era = Era::Handshake("2025-06-18");
const FLAGS: &[&str] = &["--toolsets", "banks"];

/// Calls a tool: its structure, and whether that is an error. The text says the same.
#[track_caller]
pub(crate) fn call(client: &mut Client, name: &str, arguments: Value) -> (Value, bool) {
    let mut call = json!({ "name": name });
    call["arguments"] = arguments;
    let result = client.result("tools/call", call);
    let text = result["content"][0]["text"].as_str().unwrap();
    let structured = result["structuredContent"].clone();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), structured);
    (structured, result["isError"].as_bool().unwrap())
}

#[track_caller]
pub(crate) fn ok(client: &mut Client, name: &str, arguments: Value) -> Value {
    let (answer, is_error) = call(client, name, arguments);
    assert!(!is_error, "{answer}");
    answer
}

#[track_caller]
fn fails(client: &mut Client, name: &str, arguments: Value, code: &str) -> Value {
    let (answer, is_error) = call(client, name, arguments);
    assert!(is_error, "{answer}");
    assert_eq!((&answer["status"], &answer["code"]), (&json!("error"), &json!(code)), "{answer}");
    assert!(answer["previous_errors"].is_array(), "{answer}");
    answer
}

/// A repository with a branch and a remote, made by hand.
fn repository(home: &Home, name: &str, remote: Option<&str>) -> String {
    let root = home.path().join(name);
    std::fs::create_dir_all(root.join(".git")).unwrap();
    std::fs::create_dir_all(root.join("src/deep")).unwrap();
    std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    if let Some(remote) = remote {
        let config = format!("[remote \"origin\"]\n\turl = {remote}\n");
        std::fs::write(root.join(".git/config"), config).unwrap();
    }
    root.join("src/deep").display().to_string()
}

fn files(home: &Home) -> Vec<String> {
    let listed = home.json(&["list", "-p", "banks"]);
    let notes = listed["notes"].as_array().unwrap();
    notes.iter().map(|note| note["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_activation_of_the_specification() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    // Basic activation.
    let global =
        ok(&mut client, "activate", json!({ "bank_type": "global", "bank_id": "default" }));
    assert_eq!(global["status"], "success");
    assert_eq!(global["bank_info"]["type"], "global");
    assert_eq!(
        global["bank_info"]["files"],
        json!(["context.md", "preferences.md", "references.md"])
    );
    assert_eq!(global["content"]["context.md"], "# Context\n");
    // A code bank, found from the repository.
    let path = repository(&home, "My-Repo", None);
    let asked = json!({ "bank_type": "code", "bank_id": "auto", "current_path": path });
    let code = ok(&mut client, "activate", asked.clone());
    assert_eq!(code["bank_info"]["id"], "my-repo");
    assert_eq!(
        code["bank_info"]["files"],
        json!([
            "readme.md",
            "doc/architecture.md",
            "doc/design.md",
            "doc/api.md",
            "structure.md",
            "snippets.md"
        ])
    );
    for (file, beginning) in [
        (
            "readme.md",
            "# My-Repo\n\n## Repository Overview\nA brief description of the codebase.\n",
        ),
        (
            "doc/architecture.md",
            "# Code Architecture\n\n## Architecture Overview\nOverview of the code architecture.\n",
        ),
        (
            "doc/design.md",
            "# Design\n\n## Design Principles\nCore design principles for the codebase.\n",
        ),
        ("doc/api.md", "# API Documentation\n\n## Public API\nDocumentation for the public API.\n"),
        (
            "structure.md",
            "# Code Structure\n\n## Directory Structure\nOverview of the directory structure.\n",
        ),
        (
            "snippets.md",
            "# Code Snippets\n\n## Important Snippets\nCode snippets that are important to remember.\n",
        ),
    ] {
        assert!(code["content"][file].as_str().unwrap().starts_with(beginning), "{file}");
        // Placeholders are answered, not stored.
        let is_stored = home.file(&format!("banks/code/my-repo/{file}")).exists();
        assert_eq!(is_stored, file == "readme.md", "{file}");
    }
    assert_eq!(home.read("banks/code/my-repo/readme.md"), b"# My-Repo\n");
    let instructions = &code["custom_instructions"];
    assert_eq!(
        instructions["directives"][0],
        json!({ "name": "WATCHDOG", "priority": "SYSTEM CRITICAL", "when": "After every response", "action": "Call update tool" })
    );
    let names: Vec<&Value> =
        instructions["directives"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(
        names[..4],
        ["WATCHDOG", "CODE_ARCHITECTURE_UPDATE", "API_UPDATE", "SNIPPET_CAPTURE"]
    );
    assert_eq!(
        instructions["directives"][1]["patterns"],
        json!(["decided to use", "implement pattern", "architecture will be"])
    );
    assert_eq!(instructions["prompts"][0]["id"], "code_default");
    assert_eq!(
        instructions["prompts"][0]["text"],
        "You're a coding assistant with access to the code memory bank for \"My-Repo\".\nUse this \
         context to discuss code architecture, design patterns, API usage, and implementation \
         details.\n\nThis repository is currently on branch: main\n\nPay special attention to \
         architecture decisions, design patterns, and API usage.\nUpdate the memory bank when you \
         observe important context that should persist\nacross conversations about this codebase."
    );
    assert_eq!(instructions["prompts"][1]["id"], "memory_bank_automation");
    assert_eq!(
        instructions["examples"]["trigger_patterns"],
        json!([
            "We decided to use [technology]",
            "We're implementing [pattern]",
            "The architecture will be [description]",
            "I've completed [task]",
            "Next, we need to [task]"
        ])
    );
    assert_eq!(instructions["examples"]["verification"], "// Update #[N] for conversation [id]");
    // A new project.
    let project = ok(
        &mut client,
        "activate",
        json!({
            "bank_type": "project", "bank_id": "my-project", "project_name": "My Project",
            "project_description": "A project to develop a new feature.",
        }),
    );
    assert_eq!(project["bank_info"]["id"], "my-project");
    assert_eq!(project["bank_info"]["created"], true);
    assert_eq!(project["bank_info"]["files"].as_array().unwrap().len(), 8);
    let readme = project["content"]["readme.md"].as_str().unwrap();
    assert!(
        readme.starts_with(
            "# My Project\n\n## Project Overview\nA project to develop a new feature.\n"
        )
    );
    for info in [&global["bank_info"], &code["bank_info"], &project["bank_info"]] {
        assert!(info["last_updated"].as_str().unwrap().ends_with('Z'), "{info}");
    }
    assert_eq!(
        home.read("banks/projects/my-project/readme.md"),
        b"# My Project\n\n## Project Overview\nA project to develop a new feature.\n"
    );
    // Once more: nothing is made again, and one commit made each.
    assert_eq!(ok(&mut client, "activate", asked)["bank_info"].get("created"), None);
    assert_eq!(home.json(&["log", "-p", "banks"])["commits"].as_array().unwrap().len(), 3);
    // The list.
    let all = ok(&mut client, "list", json!({}));
    assert_eq!(all["global"][0]["id"], "default");
    assert_eq!(all["global"][0]["description"], "Global conversation memory");
    assert_eq!(all["projects"][0]["id"], "my-project");
    assert_eq!(all["projects"][0]["description"], "A project to develop a new feature.");
    assert_eq!(all["code"][0]["id"], "my-repo");
    assert!(all["code"][0]["last_used"].as_str().unwrap().ends_with('Z'));
    let projects = ok(&mut client, "list", json!({ "bank_type": "project" }));
    assert_eq!(projects["projects"], all["projects"]);
    assert_eq!(projects.get("global"), None);
}

#[test]
fn every_update_of_the_specification() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    for (kind, id) in [("project", "project_x"), ("code", "project_x_repo")] {
        ok(
            &mut client,
            "activate",
            json!({ "bank_type": kind, "bank_id": id, "project_name": "Project X" }),
        );
    }
    // Append.
    let done = ok(
        &mut client,
        "update",
        json!({
            "bank_type": "project", "bank_id": "project_x", "target_file": "doc/architecture.md",
            "operation": "append",
            "content": "## New Component\n\nThis component will handle authentication using OAuth2.",
            "trigger_type": "architecture", "conversation_id": "conv-123", "update_count": 3,
        }),
    );
    for (key, value) in [
        ("status", json!("success")),
        ("updated_file", json!("doc/architecture.md")),
        ("operation", json!("append")),
        ("cache_updated", json!(true)),
        ("cache_optimized", json!(false)),
        ("next_actions", json!([])),
        ("previous_errors", json!([])),
        ("verification", json!("// Update #3 for conversation conv-123")),
    ] {
        assert_eq!(done[key], value, "{key}");
    }
    assert_eq!(
        home.read("banks/projects/project_x/doc/architecture.md"),
        b"## New Component\n\nThis component will handle authentication using OAuth2.\n"
    );
    // Replace.
    let text =
        "# API Documentation\n\n## Authentication API\n\nThe authentication API uses JWT tokens.";
    ok(
        &mut client,
        "update",
        json!({
            "bank_type": "code", "bank_id": "project_x_repo", "target_file": "doc/api.md",
            "operation": "replace", "content": text, "trigger_type": "user_request",
        }),
    );
    assert_eq!(home.read("banks/code/project_x_repo/doc/api.md"), format!("{text}\n").as_bytes());
    // Insert, into the bank that is there for everybody.
    let done = ok(
        &mut client,
        "update",
        json!({
            "bank_type": "global", "bank_id": "default", "target_file": "preferences.md",
            "operation": "insert",
            "content": "The user prefers detailed explanations with code examples.",
            "position": "Communication Style", "trigger_type": "watchdog",
        }),
    );
    let preferences = String::from_utf8(home.read("banks/global/default/preferences.md")).unwrap();
    assert!(
        preferences.contains(
            "## Communication Style\nThe user prefers detailed explanations with code examples.\n\n\
             How the user likes to communicate.\n\n## Frequently Referenced Topics\n"
        ),
        "{preferences}"
    );
    // Only the file with content is stored; the others are still answered.
    assert!(!home.file("banks/global/default/context.md").exists());
    let global = ok(&mut client, "activate", json!({ "bank_type": "global" }));
    assert_eq!(global["content"]["context.md"], "# Context\n");
    // Found, versioned, undone.
    let commit = done["commit"].as_str().unwrap();
    let log = home.json(&["log", "banks/projects/project_x/doc/architecture.md"]);
    assert_eq!(
        log["commits"][0]["message"],
        "banks: append doc/architecture.md of project:project_x, by caller, architecture, \
         update #3 for conversation conv-123"
    );
    assert!(home.ok(&["search", "detailed explanations"]).contains("preferences"));
    home.ok(&["undo", commit, "--yes"]);
    assert!(!home.file("banks/global/default/preferences.md").exists());
}

#[test]
fn errors_have_their_codes_and_write_nothing() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    let make = json!({ "bank_type": "project", "bank_id": "p", "project_name": "P" });
    ok(&mut client, "activate", make);
    let before = files(&home);
    let update = |more: Value| {
        let mut arguments = json!({
            "bank_type": "project", "bank_id": "p", "target_file": "doc/design.md",
            "operation": "append", "content": "x",
        });
        for (key, value) in more.as_object().unwrap() {
            arguments[key] = value.clone();
        }
        arguments
    };
    let wrong = fails(
        &mut client,
        "update",
        update(json!({ "operation": "prepend" })),
        "invalid_operation",
    );
    assert!(
        wrong["error"]
            .as_str()
            .unwrap()
            .starts_with("Failed to update content: Invalid operation type")
    );
    for (arguments, code) in [
        (json!({ "bank_type": "team" }), "invalid_bank_type"),
        (json!({ "bank_id": "nowhere" }), "bank_not_found"),
        (json!({ "bank_id": "../../main" }), "bank_not_found"),
        (json!({ "bank_type": "code" }), "bank_not_found"),
        (json!({ "bank_type": "global", "bank_id": "other" }), "bank_not_found"),
        (json!({ "target_file": "../q/readme.md" }), "update_failed"),
        (json!({ "target_file": "/etc/passwd" }), "update_failed"),
        (json!({ "target_file": "..\\x.md" }), "update_failed"),
        (json!({ "target_file": ".hidden.md" }), "update_failed"),
        (json!({ "target_file": "cache_memory_dump.json" }), "update_failed"),
        (json!({ "operation": "insert" }), "invalid_operation"),
        (json!({ "operation": "replace", "target_file": null }), "invalid_operation"),
        (json!({ "content": " \n" }), "content_processing_failed"),
        (json!({ "content": null }), "update_failed"),
        (json!({ "trigger_type": "mood" }), "update_failed"),
        (json!({ "colour": "red" }), "update_failed"),
    ] {
        fails(&mut client, "update", update(arguments), code);
    }
    for (arguments, code) in [
        (json!({ "bank_type": "team", "bank_id": "x" }), "invalid_bank_type"),
        (json!({ "bank_type": "project", "bank_id": "x" }), "bank_not_found"),
        (json!({ "bank_type": "project", "bank_id": "auto" }), "activation_failed"),
        (
            json!({ "bank_type": "project", "bank_id": "a/b", "project_name": "x" }),
            "bank_not_found",
        ),
        (
            json!({ "bank_type": "code", "bank_id": "auto", "current_path": "/" }),
            "activation_failed",
        ),
        (json!({ "bank_type": "project", "bank_id": "p", "file": "../../x" }), "activation_failed"),
    ] {
        fails(&mut client, "activate", arguments, code);
    }
    fails(&mut client, "list", json!({ "bank_type": "team" }), "invalid_bank_type");
    assert_eq!(files(&home), before);
    assert_eq!(home.json(&["log", "-p", "banks"])["commits"].as_array().unwrap().len(), 1);
    // The next update tells of the last ten, the newest first; so does another process.
    for _ in 0..2 {
        let mut other = Client::open(&home, ERA, FLAGS);
        let done = ok(&mut other, "update", update(json!({})));
        let told = done["previous_errors"].as_array().unwrap();
        assert!(told.len() >= 2 && told.len() <= 10, "{done}");
        assert!(told.iter().all(|one| one["severity"] == "error" && one["timestamp"].is_string()));
    }
}

#[test]
fn what_is_said_lands_in_the_right_file() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    ok(
        &mut client,
        "activate",
        json!({ "bank_type": "project", "bank_id": "shop", "project_name": "Shop" }),
    );
    let mut keep = |content: &str| {
        ok(
            &mut client,
            "update",
            json!({ "bank_type": "project", "bank_id": "shop", "content": content }),
        )
    };
    let done = keep("We decided to use PostgreSQL for orders.");
    assert_eq!(
        (&done["updated_file"], &done["operation"]),
        (&json!("doc/decisions.md"), &json!("insert"))
    );
    assert_eq!(done["processing"]["path"], "rules");
    assert_eq!(done["processing"]["section"], "Technical Decisions");
    assert!(done["processing"]["confidence"].as_f64().unwrap() > 0.5, "{done}");
    let text = String::from_utf8(home.read("banks/projects/shop/doc/decisions.md")).unwrap();
    assert!(
        text.contains(
            "## Technical Decisions\nWe decided to use PostgreSQL for orders.\n\n## Process"
        ),
        "{text}"
    );
    // Said twice, kept once.
    let again = keep("We decided to use PostgreSQL for orders.");
    assert_eq!(again["commit"], Value::Null);
    assert_eq!(home.read("banks/projects/shop/doc/decisions.md"), text.as_bytes());
    let unsure = keep("Schuhe verkaufen sich gut.");
    assert_eq!(unsure["updated_file"], "readme.md");
    assert_eq!(unsure["next_actions"].as_array().unwrap().len(), 1);
    // A new conversation begins with it.
    drop(client);
    let mut next = Client::open(&home, ERA, FLAGS);
    let bank = ok(&mut next, "activate", json!({ "bank_type": "project", "bank_id": "Shop" }));
    assert_eq!(bank["content"]["doc/decisions.md"], text);
}

#[test]
fn repositories_of_one_name_have_banks_of_their_own() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    let ours = repository(&home, "ours/app", Some("git@github.com:acme/app.git"));
    let theirs = repository(&home, "theirs/app", Some("https://github.com/other/app"));
    let mut id = |path: &str| {
        let asked = json!({ "bank_type": "code", "bank_id": "auto", "current_path": path });
        ok(&mut client, "activate", asked)["bank_info"]["id"].clone()
    };
    assert_eq!(id(&ours), "app");
    assert_eq!(id(&theirs), "other-app");
    assert_eq!((id(&ours), id(&theirs)), (json!("app"), json!("other-app")));
}

#[test]
fn large_banks_come_within_their_budget() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    let bank = json!({ "bank_type": "code", "bank_id": "big", "project_name": "Big" });
    ok(&mut client, "activate", bank.clone());
    let section = |n: usize| {
        format!("## Part {n}\n{}\n", format!("Line of part {n} with \"marks\".\n").repeat(30))
    };
    let text: String = (1..=1000).map(section).collect();
    home.write("banks/code/big/doc/api.md", format!("# API\n\n{text}"));
    let answer = ok(&mut client, "activate", bank.clone());
    assert!(answer.to_string().len() <= 24_000, "{}", answer.to_string().len());
    let cut = &answer["bank_info"]["cut"][0];
    assert_eq!(cut["file"], "doc/api.md");
    assert!(cut["tokens"].as_u64().unwrap() > 200_000);
    let shown = answer["content"]["doc/api.md"].as_str().unwrap();
    assert!(shown.contains("Line of part 1 ") && shown.contains("Line of part 1000 "), "{shown}");
    assert!(shown.contains(cut["read_with"].as_str().unwrap()));
    assert!(answer["content"]["snippets.md"].as_str().unwrap().contains("Common Patterns"));
    assert_eq!(answer["bank_info"]["cache_info"]["optimization_recommended"], true);
    // The call that it names reads the rest, and names the next.
    let mut line = 1;
    let mut read = String::new();
    for _ in 0..3 {
        let mut asked = bank.clone();
        asked["file"] = json!("doc/api.md");
        asked["from_line"] = json!(line);
        let part = ok(&mut client, "activate", asked);
        assert!(part.to_string().len() <= 24_000);
        read.push_str(part["content"]["doc/api.md"].as_str().unwrap());
        let next = part["bank_info"]["cut"][0]["read_with"].as_str().unwrap().to_owned();
        line = next.rsplit('=').next().unwrap().trim_end_matches(')').parse().unwrap();
        assert_eq!(line, read.lines().count() + 1);
    }
    assert!(format!("# API\n\n{text}").starts_with(&read));
    let mut small = bank;
    small["max_tokens"] = json!(2000);
    assert!(ok(&mut client, "activate", small).to_string().len() <= 8000);
}

#[test]
fn what_is_in_memory_is_what_is_on_disk() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    let bank = json!({ "bank_type": "global", "bank_id": "default" });
    ok(&mut client, "activate", bank.clone());
    // By hand, twice in the same instant and of the same length.
    for text in ["# Context\n\naaa\n", "# Context\n\nbbb\n"] {
        home.write("banks/global/default/context.md", text);
        assert_eq!(ok(&mut client, "activate", bank.clone())["content"]["context.md"], text);
    }
    // By another process, and back.
    let mut other = Client::open(&home, ERA, FLAGS);
    let keep = |content: &str| {
        json!({
            "bank_type": "global", "bank_id": "default", "target_file": "context.md",
            "operation": "append", "content": content,
        })
    };
    ok(&mut other, "update", keep("from the other"));
    ok(&mut client, "update", keep("from this one"));
    let expected = "# Context\n\nbbb\n\nfrom the other\n\nfrom this one\n";
    // Who made the last update has it in memory, the other has not.
    for (client, hit) in [(&mut client, true), (&mut other, false)] {
        let answer = ok(client, "activate", bank.clone());
        assert_eq!(answer["content"]["context.md"], expected);
        assert_eq!(answer["bank_info"]["cache_info"]["cache_hit"], hit);
    }
    home.write("banks/global/default/own.md", "of my own\n");
    let answer = ok(&mut client, "activate", bank.clone());
    let names = ["context.md", "preferences.md", "references.md", "own.md"];
    assert_eq!(answer["bank_info"]["files"], json!(names));
    std::fs::remove_file(home.file("banks/global/default/own.md")).unwrap();
    let answer = ok(&mut client, "activate", bank.clone());
    assert_eq!(answer["bank_info"]["files"], json!(names[..3]));
    // Old enough for its times to tell, it is not read again.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let file = home.file("banks/global/default/context.md");
    let file = std::fs::File::options().write(true).open(file);
    file.unwrap().set_modified(old).unwrap();
    ok(&mut client, "activate", bank.clone());
    let hit = ok(&mut client, "activate", bank);
    assert_eq!(hit["bank_info"]["cache_info"]["cache_hit"], true, "{hit}");
}

#[test]
fn processes_update_one_bank_and_lose_nothing() {
    const ROUNDS: usize = 12;
    let home = Home::bare();
    std::thread::scope(|scope| {
        for process in 0..3 {
            let home = &home;
            scope.spawn(move || {
                let mut client = Client::open(home, ERA, FLAGS);
                for round in 0..ROUNDS {
                    ok(&mut client, "update", json!({
                        "bank_type": "global", "bank_id": "default", "target_file": "context.md",
                        "operation": "append", "content": format!("- p{process}r{round}"),
                    }));
                }
            });
        }
    });
    let text = String::from_utf8(home.read("banks/global/default/context.md")).unwrap();
    for process in 0..3 {
        for round in 0..ROUNDS {
            assert_eq!(text.matches(&format!("- p{process}r{round}\n")).count(), 1, "{text}");
        }
    }
    home.ok(&["doctor"]);
}

#[test]
fn what_was_acknowledged_outlives_a_kill() {
    let home = Home::bare();
    for round in 0..3 {
        let mut client = Client::open(&home, ERA, FLAGS);
        let content = format!("The parrot of round {round} is blue.");
        ok(
            &mut client,
            "update",
            json!({
                "bank_type": "global", "bank_id": "default", "content": content,
            }),
        );
        client.kill();
        let text = String::from_utf8(home.read("banks/global/default/context.md")).unwrap();
        assert!(text.contains(&content), "{text}");
    }
    home.ok(&["doctor"]);
}

#[test]
fn what_is_said_twice_is_merged_on_request() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    let keep = json!({
        "bank_type": "global", "bank_id": "default", "target_file": "context.md",
        "operation": "append", "content": "The garden faces south and gets much sun.",
    });
    for _ in 0..3 {
        assert_eq!(ok(&mut client, "update", keep.clone())["cache_optimized"], false);
    }
    let before = home.read("banks/global/default/context.md");
    let merge =
        json!({ "bank_type": "global", "bank_id": "default", "content": "", "optimize": true });
    let done = ok(&mut client, "update", merge.clone());
    assert_eq!((&done["cache_optimized"], &done["cache_updated"]), (&json!(true), &json!(true)));
    assert_eq!(
        home.read("banks/global/default/context.md"),
        b"# Context\n\nThe garden faces south and gets much sun.\n"
    );
    assert_eq!(ok(&mut client, "update", merge)["cache_optimized"], false);
    home.ok(&["undo", done["optimize_commit"].as_str().unwrap(), "--yes"]);
    assert_eq!(home.read("banks/global/default/context.md"), before);
}

#[test]
fn a_file_is_stored_with_its_first_content() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    let path = repository(&home, "shop", Some("git@github.com:acme/shop.git"));
    let asked = json!({
        "bank_type": "code", "bank_id": "auto", "current_path": path,
        "project_description": "Sells shoes.\n\n- [x] and boots",
    });
    let shown = ok(&mut client, "activate", asked.clone())["content"].clone();
    let stored = "# shop\n\n## Repository Overview\nSells shoes.\n\n- [x] and boots\n\n\
                  - [repository] github.com/acme/shop\n";
    assert_eq!(String::from_utf8(home.read("banks/code/shop/readme.md")).unwrap(), stored);
    let readme = shown["readme.md"].as_str().unwrap();
    assert!(readme.starts_with(stored) && readme.contains("## Key Components\n"), "{readme}");
    assert_eq!(files(&home), ["code/shop/readme.md"]);
    let keep = json!({
        "bank_type": "code", "bank_id": "shop", "target_file": "doc/api.md", "operation": "insert",
        "position": "Public API", "content": "GET /shoes lists them.",
    });
    ok(&mut client, "update", keep);
    let api = String::from_utf8(home.read("banks/code/shop/doc/api.md")).unwrap();
    assert!(
        api.starts_with("# API Documentation\n\n## Public API\nGET /shoes lists them.\n"),
        "{api}"
    );
    let component = json!({
        "bank_type": "code", "bank_id": "shop", "target_file": "readme.md", "operation": "insert",
        "position": "Key Components", "content": "The cart.",
    });
    ok(&mut client, "update", component);
    let readme = String::from_utf8(home.read("banks/code/shop/readme.md")).unwrap();
    assert!(
        readme.starts_with(stored) && readme.contains("## Key Components\nThe cart.\n"),
        "{readme}"
    );
    // A readme that a person wrote is shown as it is.
    home.write("banks/code/shop/readme.md", "# Shop\n\nMine.\n");
    assert_eq!(ok(&mut client, "activate", asked)["content"]["readme.md"], "# Shop\n\nMine.\n");
}

#[test]
fn further_updates_add_no_section_again() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    let bank = json!({ "bank_type": "project", "bank_id": "shop",
        "project_name": "Shop", "project_description": "A tea shop" });
    ok(&mut client, "activate", bank);
    for update in [
        json!({ "content": "We sell tea to hotels" }),
        json!({ "content": "The stakeholders are the hotel managers" }),
        json!({ "content": "Goal: ship in May", "target_file": "readme.md", "operation": "append" }),
    ] {
        let mut call = json!({ "bank_type": "project", "bank_id": "shop" });
        call.as_object_mut().unwrap().extend(update.as_object().unwrap().clone());
        ok(&mut client, "update", call);
    }
    let readme = String::from_utf8(home.read("banks/projects/shop/readme.md")).unwrap();
    for section in ["## Project Overview", "## Goals", "## Stakeholders"] {
        assert_eq!(readme.matches(section).count(), 1, "{readme}");
    }
}

#[test]
fn calls_of_the_later_specification_find_their_bank() {
    let home = Home::bare();
    let shop = repository(&home, "shop", Some("git@github.com:acme/shop.git"));
    let mut client = Client::open_in(&home, ERA, FLAGS, &shop);
    // Without a bank of the repository, content that names no bank goes to the shared one.
    let keep = |text: &str| json!({ "content": text });
    let done = ok(&mut client, "update", keep("The person prefers short answers."));
    assert_eq!(done["bank"]["type"], "global");
    let asked = json!({ "conversation_type": "project", "current_path": shop });
    let activated = ok(&mut client, "activate", asked);
    assert_eq!(activated["bank_info"]["type"], "code");
    assert_eq!(activated["bank_info"]["id"], "shop");
    let done = ok(&mut client, "update", keep("We decided to use hexagonal architecture."));
    assert_eq!((&done["bank"]["type"], &done["bank"]["id"]), (&json!("code"), &json!("shop")));
    let named = json!({ "conversation_type": "project", "project_name": "Garden" });
    assert_eq!(ok(&mut client, "activate", named)["bank_info"]["type"], "project");
    let global = json!({ "conversation_type": "global" });
    assert_eq!(ok(&mut client, "activate", global)["bank_info"]["type"], "global");
    fails(&mut client, "update", json!({ "bank_type": "code", "content": "x" }), "update_failed");
    fails(&mut client, "update", json!({ "bank_id": "shop", "content": "x" }), "update_failed");
}

#[test]
fn dumps_are_neither_searched_nor_versioned() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, &["--toolsets", "banks", "--debug"]);
    ok(
        &mut client,
        "update",
        json!({
            "bank_type": "global", "bank_id": "default", "content": "The zebra likes carrots.",
        }),
    );
    let dump: Value =
        serde_json::from_slice(&home.read("banks/global/default/cache_memory_dump.json")).unwrap();
    assert_eq!(dump["bank"], "global:default");
    assert!(dump["tokens"].as_u64().unwrap() > 0);
    assert_eq!(dump["operations"][0]["path"], "rules");
    assert!(dump["files"].to_string().contains("zebra"));
    assert_eq!(home.read("banks/.gitignore"), b"cache_memory_dump.json\n");
    let answer =
        ok(&mut client, "activate", json!({ "bank_type": "global", "bank_id": "default" }));
    assert!(!answer["bank_info"]["files"].to_string().contains("dump"));
    home.ok(&["scan"]);
    let found = home.json(&["search", "zebra"]);
    let paths: Vec<&Value> =
        found["results"].as_array().unwrap().iter().map(|hit| &hit["path"]).collect();
    assert_eq!(paths, ["global/default/context.md"]);
    assert!(!home.ok(&["log", "-p", "banks", "--json"]).contains("dump"));
    home.ok(&["doctor"]);
}

#[test]
fn people_look_at_banks() {
    let home = Home::bare();
    let mut client = Client::open(&home, ERA, FLAGS);
    ok(
        &mut client,
        "activate",
        json!({
            "bank_type": "project", "bank_id": "shop", "project_name": "Shop",
            "project_description": "Sells shoes.",
        }),
    );
    ok(
        &mut client,
        "update",
        json!({
            "bank_type": "project", "bank_id": "shop", "content": "Idea: what if we sold boots?",
        }),
    );
    call(
        &mut client,
        "update",
        json!({
            "bank_type": "project", "bank_id": "shop", "operation": "burn", "content": "x",
        }),
    );
    let list = home.ok(&["bank", "list"]);
    assert!(list.contains("shop") && list.contains("Sells shoes."), "{list}");
    let list = home.json(&["bank", "list", "project"]);
    assert_eq!(list["banks"][0]["folder"], "banks/projects/shop");
    assert_eq!(home.json(&["bank", "list", "code"])["banks"], json!([]));
    let show = home.json(&["bank", "show", "project", "shop"]);
    assert_eq!(show["files"].as_array().unwrap().len(), 8);
    assert!(home.ok(&["bank", "show", "project", "shop"]).contains("notes/ideas.md"));
    let ideas = home.ok(&["bank", "show", "project", "shop", "notes/ideas.md"]);
    assert!(ideas.contains("what if we sold boots?"), "{ideas}");
    let stats = home.json(&["bank", "stats"]);
    assert_eq!(stats["banks"][0]["placed_by"], json!({ "caller": 0, "model": 0, "rules": 1 }));
    assert!(stats["troubles"][0]["description"].as_str().unwrap().contains("burn"), "{stats}");
    assert!(home.ok(&["bank", "stats"]).contains("project:shop"));
    home.fails(&["bank", "show", "code", "shop"], 1, &["no code bank", "bank list"]);
    home.fails(&["bank", "show", "project", "shop", "x.md"], 1, &["x.md", "readme.md"]);
    home.fails(&["bank", "show", "team", "shop"], 2, &["global, project or code"]);
}

#[test]
fn a_bank_past_its_size_is_tidied_in_a_commit_of_its_own() {
    let home = Home::new();
    home.ok(&["config", "set", "banks.optimize_tokens", "300"]);
    let mut client = Client::open(&home, ERA, &["--toolsets", "banks"]);
    let shop = json!({ "bank_type": "project", "bank_id": "auto", "project_name": "shop" });
    ok(&mut client, "activate", shop);
    let same = json!({ "bank_type": "project", "bank_id": "shop", "target_file": "doc/progress.md",
        "operation": "append", "content": "- The checkout is done." });
    ok(&mut client, "update", same.clone());
    let done = ok(&mut client, "update", same);
    assert_eq!(done["cache_optimized"], true);
    let said = || String::from_utf8(home.read("banks/projects/shop/doc/progress.md")).unwrap();
    assert_eq!(said().matches("The checkout is done.").count(), 1, "{}", said());
    // Taking only the tidying back brings the second one back.
    home.ok(&["undo", done["optimize_commit"].as_str().unwrap(), "--yes"]);
    assert_eq!(said().matches("The checkout is done.").count(), 2, "{}", said());
}
