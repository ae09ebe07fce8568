//! HTTP: the protocol in both eras, tools by their names, the Claude API's memory tool.

use memoranda_engine::core::change::ChangeChannel;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{HistoryFilter, NoteLocation};
use memoranda_server::ServerConfig;
use memoranda_tools::ToolSelection;
use serde_json::{Value, json};

use crate::support::{ERAS, EXTRA_DEFINITIONS, ProtocolEra, ServerVault, TestServer, config};

fn names(list: &Value) -> Vec<&str> {
    let tools = list["result"]["tools"].as_array().unwrap();
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn the_protocol_works_in_every_era() {
    for era in ERAS {
        let vault = ServerVault::new();
        let http = TestServer::start(&vault, config());
        let mut session = String::new();
        if let ProtocolEra::Handshake(version) = era {
            let hello = json!({
                "protocolVersion": version, "capabilities": {},
                "clientInfo": { "name": "tester", "version": "1.0" },
            });
            let answer = http.mcp(era, "/mcp", &[], "initialize", hello);
            session = answer.header("mcp-session-id").unwrap_or_default().to_owned();
            let about = answer.json();
            assert_eq!(about["result"]["protocolVersion"], version);
            assert_eq!(about["result"]["serverInfo"]["name"], "memoranda");
        } else {
            let about = http.mcp(era, "/mcp", &[], "server/discover", json!({})).json();
            assert!(about["result"]["instructions"].is_string(), "{about}");
        }
        let list = http.mcp(era, "/mcp", &[], "tools/list", json!({}));
        assert!(list.head.contains("content-type: application/json"), "{list:?}");
        assert_eq!(names(&list.json()), ["memory"]);
        // The client is known by its request or by the handshake, else by its user agent.
        let agent = ("User-Agent", "agent/7");
        let anonymous = if era == ProtocolEra::Stateless { "tester 1.0" } else { "agent/7" };
        for (headers, client) in [
            (vec![agent, ("Mcp-Session-Id", session.as_str())], "tester 1.0"),
            (vec![agent], anonymous),
            (vec![agent, ("Mcp-Session-Id", "made-up")], anonymous),
        ] {
            let text = format!("# A\n{headers:?}\n");
            let create =
                json!({ "command": "create", "path": "/memories/a.md", "file_text": text });
            let call = json!({ "name": "memory", "arguments": create });
            let made = http.mcp(era, "/mcp", &headers, "tools/call", call);
            assert_eq!(made.json()["result"]["isError"], false, "{made:?}");
            let history =
                vault.memory.snapshot().unwrap().history(&HistoryFilter::default(), 1, 0).unwrap();
            assert_eq!(history[0].author.client, client, "{headers:?}");
            assert_eq!(history[0].author.channel, ChangeChannel::Mcp);
        }
        let missing = json!({ "uri": "memoranda://memories/none" });
        let missing = http.mcp(era, "/mcp", &[], "resources/read", missing).json();
        let code = if era == ProtocolEra::Stateless { -32602 } else { -32002 };
        assert_eq!(missing["error"]["code"], code);
        let unknown = http.mcp(era, "/mcp", &[], "tools/call", json!({ "name": "nope" })).json();
        assert_eq!(unknown["error"]["code"], -32602);
    }
}

#[test]
fn a_text_that_was_cut_within_a_character_is_kept() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, config());
    let input = |name: &str| {
        let text = r"cut \ud83d";
        format!(
            "\u{feff}{{\"command\":\"create\",\"path\":\"/memories/{name}.md\",\"file_text\":\"{text}\"}}"
        )
    };
    let json =
        [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let made = http.send("POST", "/api/tools/memory", &json, &input("a"));
    assert_eq!(made.json()["is_error"], false, "{made:?}");
    let made = http.send("POST", "/api/memory-tool", &json, &input("b"));
    assert_ne!(made.json()["is_error"], true, "{made:?}");
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"memory","arguments":{}}}}}"#,
        input("c").trim_start_matches('\u{feff}'),
    );
    let made = http.send("POST", "/mcp", &json, &call);
    assert_eq!(made.json()["result"]["isError"], false, "{made:?}");
    for name in ["a", "b", "c"] {
        let path = NotePath::parse(&format!("{name}.md")).unwrap();
        let project = ProjectName::parse("memories").unwrap();
        let found = vault.memory.read_file(&NoteLocation { project, path }).unwrap().unwrap();
        assert_eq!(found.bytes, "cut \u{fffd}".as_bytes());
    }
    let broken = http.send("POST", "/mcp", &json, &call[..40]);
    assert_eq!(broken.status, 400, "{broken:?}");
    assert_eq!(broken.json()["error"]["code"], -32700);
}

#[test]
fn progress_comes_as_events_before_the_answer() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, ServerConfig { extra: EXTRA_DEFINITIONS, ..config() });
    for era in ERAS {
        let slow = json!({ "name": "slow", "arguments": { "steps": 30 }, "_meta": { "progressToken": 7 } });
        let reply = http.mcp(era, "/mcp", &[], "tools/call", slow);
        assert!(reply.head.contains("text/event-stream"), "{reply:?}");
        let (progress, done) =
            (reply.body.find("notifications/progress"), reply.body.find("\"Done\""));
        assert!(progress.is_some() && progress < done, "{reply:?}");
    }
}

#[test]
fn headers_and_paths_narrow_and_never_widen() {
    let vault = ServerVault::new();
    let era = ProtocolEra::Stateless;
    let http = TestServer::start(&vault, ServerConfig { extra: EXTRA_DEFINITIONS, ..config() });
    let list = |path: &str, headers: &[(&str, &str)]| {
        http.mcp(era, path, headers, "tools/list", json!({})).json()
    };
    assert_eq!(names(&list("/mcp", &[])), ["memory", "slow", "peek", "broken"]);
    assert_eq!(names(&list("/mcp", &[("X-MCP-Readonly", "true")])), ["peek"]);
    assert_eq!(names(&list("/mcp/readonly", &[])), ["peek"]);
    assert_eq!(names(&list("/mcp/x/memory", &[])), ["memory"]);
    assert_eq!(names(&list("/mcp/x/memory", &[("X-MCP-Toolsets", "all")])), ["memory"]);
    assert_eq!(names(&list("/mcp/x/memory/readonly", &[])), [""; 0]);
    assert_eq!(names(&list("/mcp", &[("X-MCP-Tools", "memory")])), ["memory"]);
    assert_eq!(
        names(&list("/mcp", &[("X-MCP-Exclude-Tools", "memory")])),
        ["slow", "peek", "broken"]
    );
    assert_eq!(list("/mcp/readonly", &[])["result"]["cacheScope"], "private");
    let nowhere = http.mcp(era, "/mcp/x/nope", &[], "tools/list", json!({}));
    assert_eq!(nowhere.status, 400, "{nowhere:?}");
    let create = json!({ "command": "create", "path": "/memories/a.md", "file_text": "x" });
    let call = json!({ "name": "memory", "arguments": create });
    let refused = http.mcp(era, "/mcp/readonly", &[], "tools/call", call).json();
    assert_eq!(refused["error"]["code"], -32602);
    let readonly = [("X-MCP-Readonly", "1")];
    assert_eq!(http.send("POST", "/api/tools/memory", &readonly, &create.to_string()).status, 404);
    assert_eq!(http.send("POST", "/api/memory-tool", &readonly, &create.to_string()).status, 404);
    assert_eq!(vault.commits(), 0);
    drop(http);

    // Without a configured selection, a request may select from all tools.
    let selection =
        ToolSelection { exclude: vec!["delete_note".into()], ..ToolSelection::default() };
    let http = TestServer::start(&vault, ServerConfig { selection, ..config() });
    let list = |path: &str, headers: &[(&str, &str)]| {
        let list = http.mcp(era, path, headers, "tools/list", json!({})).json();
        names(&list).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let default = list("/mcp", &[]);
    for (path, headers) in [
        ("/mcp", &[("X-MCP-Toolsets", "chatgpt")][..]),
        ("/mcp/x/chatgpt", &[]),
        ("/mcp", &[("X-MCP-Tools", "search,fetch")]),
    ] {
        assert_eq!(list(path, headers), ["search", "fetch"], "{path} {headers:?}");
    }
    assert!(!default.contains(&"fetch".to_owned()));
    let all = list("/mcp", &[("X-MCP-Toolsets", "all")]);
    assert!(all.len() > default.len() && !all.contains(&"delete_note".to_owned()));
    drop(http);

    let selection = ToolSelection { exclude: vec!["memory".into()], ..ToolSelection::all() };
    let http = TestServer::start(&vault, ServerConfig { selection, ..config() });
    for headers in [[("X-MCP-Tools", "memory")], [("X-MCP-Toolsets", "all")]] {
        let list = http.mcp(era, "/mcp", &headers, "tools/list", json!({})).json();
        assert!(!names(&list).contains(&"memory"), "{list}");
        assert_eq!(http.send("POST", "/api/tools/memory", &headers, "{}").status, 404);
    }
}

#[test]
fn tools_are_called_by_name() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, config());
    let create = json!({ "command": "create", "path": "/memories/a.md", "file_text": "# A\n" });
    let made =
        http.send("POST", "/api/tools/memory", &[("User-Agent", "curl/9")], &create.to_string());
    assert_eq!(made.status, 200);
    let made = made.json();
    assert_eq!(
        (&made["text"], &made["is_error"]),
        (&json!("Created /memories/a.md"), &json!(false))
    );
    assert!(made["structured"]["commit"].is_string());
    let author =
        &vault.memory.snapshot().unwrap().history(&HistoryFilter::default(), 1, 0).unwrap()[0]
            .author;
    assert_eq!((author.client.as_str(), author.channel), ("curl/9", ChangeChannel::Http));
    // Errors in the arguments are results of the tool; errors in the request are HTTP errors.
    let wrong = http.send("POST", "/api/tools/memory", &[], "");
    assert_eq!((wrong.status, &wrong.json()["is_error"]), (200, &json!(true)));
    assert_eq!(http.send("POST", "/api/tools/nope", &[], "{}").status, 404);
    for body in ["{", "[]", "\"x\"", "\u{0}"] {
        assert_eq!(http.send("POST", "/api/tools/memory", &[], body).status, 400, "{body:?}");
    }
}

#[test]
fn the_memory_tool_takes_and_gives_blocks() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, config());
    let post = |body: &Value| http.send("POST", "/api/memory-tool", &[], &body.to_string());
    let create = json!({ "command": "create", "path": "/memories/a.md", "file_text": "# A\n" });
    let block = json!({ "type": "tool_use", "id": "toolu_01", "name": "memory", "input": create });
    assert_eq!(
        post(&block).json(),
        json!({
            "type": "tool_result",
            "tool_use_id": "toolu_01",
            "content": "File created successfully at: /memories/a.md",
            "is_error": false,
        })
    );
    // The bare input; the official tool does not overwrite.
    assert_eq!(
        post(&create).json(),
        json!({
            "type": "tool_result",
            "content": "File /memories/a.md already exists",
            "is_error": true,
        })
    );
    let view = post(&json!({ "command": "view", "path": "/memories/a.md" })).json();
    assert_eq!(
        view["content"],
        "Here's the content of /memories/a.md with line numbers:\n     1\t# A\n     2\t"
    );
    assert_eq!(post(&json!({ "type": "tool_use", "id": "x" })).status, 400);
    assert_eq!(post(&json!({ "type": "text", "input": {} })).status, 400);
    assert_eq!(post(&json!([])).status, 400);
}

#[test]
fn health_contains_nothing_about_the_machine() {
    let vault = ServerVault::new();
    let http = TestServer::start(&vault, config());
    let health = http.send("GET", "/api/health", &[], "").json();
    assert_eq!(health, json!({ "status": "ok", "name": "memoranda", "version": "9.9.9" }));
}

#[test]
fn a_rule_of_a_repository_needs_the_repository() {
    for era in ERAS {
        let vault = ServerVault::new();
        let mut settings = config();
        settings.selection = memoranda_tools::ToolSelection::default();
        // The folder in which the server was started is nobody's repository.
        settings.settings.workspace = Some(std::env::current_dir().unwrap());
        let http = TestServer::start(&vault, settings);
        let add = |headers: &[(&str, &str)], more: Value| {
            let mut arguments = json!({ "content": "Use pnpm", "type": "rule" });
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let call = json!({ "name": "add_memory", "arguments": arguments });
            http.mcp(era, "/mcp", headers, "tools/call", call).json()["result"].clone()
        };
        let refused = add(&[], json!({}));
        assert_eq!(refused["isError"], true, "{refused}");
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("Which repository is this rule for?"), "{text}");
        assert!(text.contains("project_id") && text.contains("Nothing was stored"), "{text}");

        let shop = ("X-Memoranda-Repository", "git@github.com:acme/shop.git");
        for (headers, more, scope) in [
            (vec![shop], json!({}), "github.com/acme/shop"),
            (vec![shop], json!({ "project_id": "github.com/acme/other" }), "github.com/acme/other"),
            (vec![shop], json!({ "global": true }), "global"),
            (vec![], json!({ "global": true }), "global"),
            (vec![], json!({ "project_id": "github.com/acme/shop" }), "github.com/acme/shop"),
            // Other memories are found by search alone, and need no repository.
            (vec![], json!({ "type": "fact" }), "global"),
        ] {
            let stored = add(&headers, more.clone());
            assert_eq!(stored["structuredContent"]["scope"], scope, "{more}: {stored}");
        }
        let rules = |headers: &[(&str, &str)]| {
            let call = json!({ "name": "get_rules", "arguments": {} });
            http.mcp(era, "/mcp", headers, "tools/call", call).json()["result"].to_string()
        };
        assert!(rules(&[shop]).contains("Project Rules"), "{}", rules(&[shop]));
        assert!(!rules(&[]).contains("Project Rules"), "{}", rules(&[]));
        let bad = http.mcp(era, "/mcp", &[(shop.0, "..")], "tools/list", json!({}));
        assert_eq!(bad.status, 400, "{bad:?}");
        let over_api = http.send(
            "POST",
            "/api/tools/add_memory",
            &[shop],
            &json!({ "content": "Use node 20", "type": "rule" }).to_string(),
        );
        assert_eq!(over_api.json()["structured"]["scope"], "github.com/acme/shop");
    }
}
