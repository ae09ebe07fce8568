//! Access to spaces: roles, scopes of tokens, spaces of others, proposals.

use serde_json::{Value, json};

use super::support::{DatabaseRole, Team, TeamServer};
use crate::cluster::{DiskForce, skipped};

/// Names of the offered tools, and whether each only reads.
fn offered(server: &TeamServer, token: &str) -> Vec<(String, bool)> {
    let listed = server.mcp(token, "tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap().clone();
    let row = |tool: &Value| {
        let reads = tool["annotations"]["readOnlyHint"] == json!(true);
        (tool["name"].as_str().unwrap().to_owned(), reads)
    };
    tools.iter().map(row).collect()
}

#[test]
fn every_tool_obeys_role_and_scope() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("every_tool_obeys") };
    let server = team.serve();
    for (account, role) in [("carla", "proposer"), ("dora", "reader")] {
        team.admin(&["account", "add", account]);
        team.admin(&["member", "add", "acme", account, "--role", role]);
    }
    let owner = team.token("anna", "owner", &["--space", "acme"]);
    let tools = offered(&server, &owner);
    assert!(tools.len() > 30, "{}", tools.len());
    assert!(tools.iter().any(|(name, _)| name == "list_spaces"));
    for (account, flags, may_write, proposes) in [
        ("anna", &[][..], true, false),
        ("ben", &[], true, false),
        ("carla", &[], false, true),
        ("dora", &[], false, false),
        ("anna", &["--read-only"], false, false),
        ("carla", &["--read-only"], false, false),
    ] {
        let name = format!("matrix {}", flags.len());
        let flags = [flags, &["--space", "acme"]].concat();
        let token = team.token(account, &name, &flags);
        let listed = offered(&server, &token);
        for (tool, reads) in &tools {
            let who = format!("{account} {flags:?} {tool}");
            let is_offered = listed.iter().any(|(name, _)| name == tool);
            assert_eq!(is_offered, *reads || may_write || proposes, "{who}");
            let answer = server.try_call(&token, tool, &json!({})).unwrap();
            let lacks_scope = flags.contains(&"--read-only");
            let is_refused = answer.status == 404 || answer.text.contains("cannot be written");
            let is_refused = if lacks_scope { answer.status == 403 } else { is_refused };
            if lacks_scope && !*reads {
                let challenge = answer.header("www-authenticate").unwrap_or_default();
                assert!(challenge.contains("error=\"insufficient_scope\""), "{who}: {answer:?}");
            }
            let is_proposed = answer.text.contains("waits until an editor");
            let is_team_tool = ["promote_note", "decide_proposal"].contains(&tool.as_str());
            if *reads || may_write {
                assert!(!is_refused && !is_proposed, "{who}: {answer:?}");
            } else if proposes {
                assert!(is_proposed || is_team_tool, "{who}: {answer:?}");
            } else {
                assert!(is_refused, "{who}: {answer:?}");
            }
        }
    }
    for wrong in ["", "mem_pat_", "mem_pat_0000000000000000000000000000000000000000000", "x"] {
        let answer = server.try_call(wrong, "recall", &json!({ "query": "x" })).unwrap();
        assert_eq!(answer.status, 401, "{wrong}: {answer:?}");
    }
}

#[test]
fn no_byte_of_another_team_leaves_its_space() {
    // Once without and once with row-level security.
    for role in [DatabaseRole::Superuser, DatabaseRole::Plain] {
        let Some(team) = Team::start_as(DiskForce::Off, role) else { return skipped("no_byte") };
        check_isolation(&team);
    }
}

fn check_isolation(team: &Team) {
    let server = team.serve();
    team.admin(&["account", "add", "eve"]);
    let anna = team.token("anna", "laptop", &[]);
    let eve = team.token("eve", "spy", &[]);
    let canary = "canaryq7x3";
    for space in ["anna", "acme"] {
        let note = json!({
            "title": format!("Secret {canary}"), "folder": canary, "space": space,
            "content": format!("# {canary}\n\n- [fact] {canary} is hidden #{canary}\n"),
        });
        server.call(&anna, "write_note", &note);
        let path = format!("/memories/{canary}.md");
        let file = json!({
            "command": "create", "path": path, "file_text": canary, "space": space,
        });
        server.call(&anna, "memory", &file);
        server.call(
            &anna,
            "remember",
            &json!({ "content": format!("I like {canary}"), "space": space }),
        );
    }
    let mut calls = 0;
    for (tool, _) in offered(&server, &eve) {
        for extra in [json!({}), json!({ "space": "acme" }), json!({ "space": "anna" })] {
            for value in ["secret", "Secret", "acme", "main", "../acme", "/memories", "*"] {
                let mut args = extra.clone();
                for name in [
                    "query",
                    "identifier",
                    "id",
                    "title",
                    "path",
                    "folder",
                    "content",
                    "url",
                    "name",
                    "memory_id",
                    "entity",
                    "entityName",
                    "search",
                    "dir_name",
                    "from",
                    "to",
                ] {
                    args[name] = json!(value);
                }
                args["command"] = json!("view");
                let Some(answer) = server.try_call(&eve, &tool, &args) else { continue };
                calls += 1;
                assert!(!answer.text.contains(canary), "{tool} {args}: {answer:?}");
                if extra != json!({}) && answer.status == 200 {
                    assert_eq!(answer.json["is_error"], json!(true), "{tool} {args}: {answer:?}");
                }
            }
        }
    }
    assert!(calls > 300, "{calls}");
    for (method, params) in [
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("tools/list", json!({})),
        ("resources/templates/list", json!({})),
    ] {
        let answer = server.mcp(&eve, method, params).to_string();
        assert!(!answer.contains(canary), "{method}: {answer}");
    }
    let authorization = format!("Bearer {eve}");
    for path in ["/t/log/head", "/t/log/frames?after=0"] {
        for space in ["acme", "anna", "nowhere"] {
            let headers = [("Authorization", authorization.as_str()), ("memoranda-space", space)];
            let answer = server.request("GET", path, &headers, None).unwrap();
            assert_eq!(answer.status, 404, "{path} {space}");
        }
    }
    let header = [("Authorization", authorization.as_str()), ("memoranda-space", "acme")];
    let answer = server.request("POST", "/api/tools/recall", &header, Some(&json!({}))).unwrap();
    assert_eq!(answer.status, 403, "{answer:?}");
    let log = server.log();
    assert!(!log.contains(canary) && !log.contains(&eve[8..]) && !log.contains(&anna[8..]));
}

#[test]
fn a_proposal_waits_for_an_editor() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_proposal_waits") };
    let (a, b) = (team.serve(), team.serve());
    team.admin(&["account", "add", "carla"]);
    team.admin(&["member", "add", "acme", "carla", "--role", "proposer"]);
    let carla = team.token("carla", "laptop", &["--space", "acme"]);
    let ben = team.token("ben", "laptop", &["--space", "acme"]);
    let note = |title: &str| json!({ "title": title, "folder": "p", "content": "wombat burrow" });
    let said = a.call(&carla, "write_note", &note("First"));
    let first = said["structured"]["proposal"].as_i64().unwrap();
    let second = a.call(&carla, "write_note", &note("Second"));
    let second = second["structured"]["proposal"].as_i64().unwrap();
    a.refuses(&ben, "read_note", &json!({ "identifier": "First" }), "First");
    let listed = b.call(&ben, "list_proposals", &json!({}));
    assert_eq!(listed["structured"]["proposals"].as_array().unwrap().len(), 2, "{listed}");
    assert!(listed["text"].as_str().unwrap().contains("wombat"), "{listed}");
    let decide = |number: i64, decision: &str| json!({ "proposal": number, "decision": decision });
    a.refuses(&carla, "decide_proposal", &decide(first, "approve"), "Only editors");
    b.call(&ben, "decide_proposal", &decide(first, "approve"));
    b.call(&ben, "decide_proposal", &decide(second, "reject"));
    a.refuses(&ben, "decide_proposal", &decide(first, "approve"), "No proposal");
    let read = a.call(&carla, "read_note", &json!({ "identifier": "First" }));
    assert!(read["text"].as_str().unwrap().contains("wombat"), "{read}");
    a.refuses(&carla, "read_note", &json!({ "identifier": "Second" }), "Second");
    let audit = team.admin(&["audit"]).to_string();
    assert!(audit.contains("proposal approved") && audit.contains("proposal rejected"), "{audit}");
}

#[test]
fn a_proposal_too_many_is_not_kept_and_no_list_says_that_it_waits() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_proposal_too_many") };
    let server = team.serve();
    team.admin(&["account", "add", "carla"]);
    team.admin(&["member", "add", "acme", "carla", "--role", "proposer"]);
    let carla = team.token("carla", "laptop", &["--space", "acme"]);
    let note = |n: usize| json!({ "title": format!("N{n}"), "folder": "p", "content": "wombat" });
    for n in 0..100 {
        server.call(&carla, "write_note", &note(n));
    }
    let refusal = "Nothing was written, and this call was not kept: 100 proposals of carla wait";
    server.refuses(&carla, "write_note", &note(100), refusal);
    let listed = server.call(&carla, "list_proposals", &json!({}));
    assert_eq!(listed["structured"]["proposals"].as_array().unwrap().len(), 100, "{listed}");
}

#[test]
fn a_token_that_is_used_too_often_waits() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_token_that_is_used") };
    let server = team.serve_with(&["--max-requests", "60"]);
    let (anna, ben) = (team.token("anna", "laptop", &[]), team.token("ben", "laptop", &[]));
    let ask = |token: &str| server.try_call(token, "list_spaces", &json!({})).unwrap();
    let refused = (0..100).map(|_| ask(&anna)).find(|answer| answer.status == 429).unwrap();
    assert!(refused.json["retry_after"].as_u64().unwrap() >= 1, "{refused:?}");
    assert_eq!(ask(&ben).status, 200);
}

#[test]
fn removed_members_and_revoked_tokens_end_at_once() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("removed_members") };
    let (a, b) = (team.serve(), team.serve());
    let ben = team.token("ben", "laptop", &["--space", "acme"]);
    let own = team.token("ben", "own", &[]);
    let query = json!({ "query": "anything" });
    for server in [&a, &b] {
        server.call(&ben, "recall", &query);
        server.call(&own, "recall", &query);
    }
    team.admin(&["member", "remove", "acme", "ben", "--dry-run"]);
    a.call(&ben, "recall", &query);
    team.admin(&["member", "remove", "acme", "ben"]);
    for server in [&a, &b] {
        assert_eq!(server.try_call(&ben, "recall", &query).unwrap().status, 401);
        server.refuses(&own, "recall", &json!({ "query": "x", "space": "acme" }), "no space");
        server.call(&own, "recall", &query);
    }
    team.admin(&["token", "revoke", "ben", "own"]);
    for server in [&a, &b] {
        assert_eq!(server.try_call(&own, "recall", &query).unwrap().status, 401);
    }
    let listed = team.admin(&["token", "list", "ben"]);
    assert!(listed["tokens"][0]["used_at"].is_string(), "{listed}");
}
