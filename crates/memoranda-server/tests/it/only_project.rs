//! A server that is limited to one project returns nothing of another, by any request.

use memoranda_server::ServerConfig;
use memoranda_tools::ToolSelection;
use serde_json::{Value, json};

use crate::support::{ERAS, LineClient, ServerVault};

/// A server with the notes tools, limited to one project or not.
fn limited_to(project: Option<&str>) -> ServerConfig {
    let toolsets = vec!["notes".into(), "memory".into()];
    let mut config = ServerConfig {
        selection: ToolSelection { toolsets, ..ToolSelection::default() },
        ..ServerConfig::standard("9.9.9")
    };
    config.settings.notes.only_project = project.map(str::to_owned);
    config.settings.notes.default_project = project.unwrap_or("main").to_owned();
    config
}

async fn completed(client: &mut LineClient, name: &str, project: Option<&str>) -> Value {
    let mut ask = json!({
        "ref": { "type": "ref/resource", "uri": "memoranda://{project}/{+permalink}" },
        "argument": { "name": name, "value": "" },
    });
    if let Some(project) = project {
        ask["context"] = json!({ "arguments": { "project": project } });
    }
    client.result("completion/complete", ask).await["completion"]["values"].clone()
}

#[tokio::test]
async fn no_request_reaches_another_project() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut all, _) = LineClient::open(&vault, limited_to(None), era).await;
        all.call("create_memory_project", json!({ "project_name": "work" })).await;
        for (project, title) in [("main", "Secret Salary"), ("work", "Job")] {
            let note = json!({ "title": title, "directory": "", "content": "the heron",
                               "project": project });
            all.call("write_note", note).await;
        }
        let read = json!({ "uri": "memoranda://main/secret-salary" });
        assert!(all.ask("resources/read", read.clone()).await.get("error").is_none());

        let (mut client, _) = LineClient::open(&vault, limited_to(Some("work")), era).await;
        let refused = client.ask("resources/read", read).await["error"].clone();
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("the project work only"), "{refused}");
        let own = json!({ "uri": "memoranda://work/job" });
        assert!(client.ask("resources/read", own).await.get("error").is_none());
        let list = client.result("resources/list", json!({})).await.to_string();
        assert!(list.contains("memoranda://work/job") && !list.contains("main/"), "{list}");

        assert_eq!(completed(&mut client, "project", None).await, json!(["work"]));
        assert_eq!(completed(&mut client, "permalink", None).await, json!(["job"]));
        assert_eq!(completed(&mut client, "permalink", Some("main")).await, json!([]));
        assert_eq!(completed(&mut client, "permalink", Some("work")).await, json!(["job"]));
        let topic = json!({ "ref": { "type": "ref/prompt", "name": "recall" },
                            "argument": { "name": "topic", "value": "" } });
        let topics = client.result("completion/complete", topic).await;
        assert_eq!(topics["completion"]["values"], json!(["Job"]));

        for name in ["getting_started", "recent_activity"] {
            let other = json!({ "name": name, "arguments": { "project": "main" } });
            let refused = client.ask("prompts/get", other).await["error"].clone();
            assert!(refused["message"].as_str().unwrap().contains("work only"), "{refused}");
            for arguments in [json!({}), json!({ "project": "work" })] {
                let said = json!({ "name": name, "arguments": arguments });
                let said = client.result("prompts/get", said).await.to_string();
                assert!(said.contains("Job") && !said.contains("Salary"), "{said}");
            }
        }
        for (name, arguments) in [
            ("recall", json!({ "topic": "heron" })),
            ("continue", json!({ "topic": "heron" })),
            ("continue", json!({})),
            ("continue_conversation", json!({ "topic": "heron" })),
            ("search_knowledge_base", json!({ "query": "heron" })),
        ] {
            let said = json!({ "name": name, "arguments": arguments });
            let said = client.result("prompts/get", said).await.to_string();
            assert!(said.contains("Job") && !said.contains("Salary"), "{name}: {said}");
        }
    }
}

#[tokio::test]
async fn no_answer_refers_to_another_project() {
    for (only, points_there) in [(None, true), (Some("memories"), true), (Some("work"), false)] {
        for era in ERAS {
            let vault = ServerVault::new();
            let (mut all, _) = LineClient::open(&vault, limited_to(None), era).await;
            all.call("create_memory_project", json!({ "project_name": "work" })).await;
            let (mut client, about) = LineClient::open(&vault, limited_to(only), era).await;
            let guide = client.result("prompts/get", json!({ "name": "memory_guide" })).await;
            let guide = guide["messages"][0]["content"]["text"].as_str().unwrap();
            assert_eq!(
                guide.contains("\"project\": \"memories\""),
                points_there,
                "{only:?}: {guide}"
            );
            assert_eq!(guide.contains("in the project work only"), !points_there, "{guide}");
            let about = about["instructions"].as_str().unwrap();
            assert_eq!(about.contains("project=\"memories\""), points_there, "{only:?}: {about}");
        }
    }
}

#[tokio::test]
async fn a_limited_server_offers_no_tool_of_another_project() {
    let everything = |project: Option<&str>| ServerConfig {
        selection: ToolSelection::all(),
        ..limited_to(project)
    };
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut all, _) = LineClient::open(&vault, everything(None), era).await;
        all.call("create_memory_project", json!({ "project_name": "work" })).await;
        let secret = "The heron nests behind the mill";
        for (tool, arguments) in [
            ("write_note", json!({ "title": "A", "directory": "", "content": secret })),
            (
                "memory",
                json!({ "command": "create", "path": "/memories/a.md", "file_text": secret }),
            ),
            ("add_memory", json!({ "content": secret, "type": "rule", "global": true })),
            (
                "create_entities",
                json!({ "entities": [
                    { "name": "Heron", "entityType": "bird", "observations": [secret] }
                ] }),
            ),
            (
                "update",
                json!({ "bank_type": "global", "bank_id": "default", "content": secret,
                        "target_file": "context.md", "operation": "append" }),
            ),
        ] {
            let made = all.call(tool, arguments).await;
            assert_ne!(made["isError"], true, "{tool}: {made}");
        }
        let own = json!({ "title": "B", "directory": "", "content": "the heron at work",
                          "project": "work" });
        all.call("write_note", own).await;

        let (mut client, _) = LineClient::open(&vault, everything(Some("work")), era).await;
        let list = client.result("tools/list", json!({})).await;
        let offered: Vec<&str> =
            list["tools"].as_array().unwrap().iter().filter_map(|t| t["name"].as_str()).collect();
        for hidden in ["memory", "search_nodes", "search_memories", "add_memory", "activate"] {
            assert!(!offered.contains(&hidden), "{hidden}: {offered:?}");
        }
        for (tool, arguments) in [
            ("search_notes", json!({ "query": "heron" })),
            ("search_notes", json!({ "query": "heron", "search_all_projects": true })),
            ("get_context", json!({ "query": "heron" })),
            ("recent_activity", json!({})),
            ("search", json!({ "query": "heron" })),
        ] {
            let said = client.call(tool, arguments).await.to_string();
            assert!(!said.contains("mill"), "{tool}: {said}");
            assert!(said.contains('B') && said.contains("work"), "{tool}: {said}");
        }
        for (tool, arguments) in [
            ("read_note", json!({ "identifier": "A" })),
            ("build_context", json!({ "url": "memory://main/a" })),
            ("get_context", json!({ "entityNames": ["Heron"] })),
        ] {
            let refused = client.call(tool, arguments).await;
            assert!(!refused.to_string().contains("mill"), "{tool}: {refused}");
        }
        for uri in ["memories://rules", "memory://knowledge-graph", "memoranda://main/a"] {
            let refused = client.ask("resources/read", json!({ "uri": uri })).await;
            assert!(refused.get("error").is_some(), "{uri}: {refused}");
        }
        let resources = client.result("resources/list", json!({})).await.to_string();
        assert!(!resources.contains("memories://") && !resources.contains("main/a"), "{resources}");
    }
}
