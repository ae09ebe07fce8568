//! All requests of a client, in both eras.

use memoranda_engine::HistoryFilter;
use memoranda_engine::core::change::ChangeChannel;
use serde_json::{Value, json};

use crate::support::{ERAS, LineClient, ProtocolEra, ServerVault, config};

const NOTE: &str = "---\ntitle: Tulips\n---\n- [fact] They bloom in spring #garden\n";

async fn with_a_note(era: ProtocolEra) -> (ServerVault, LineClient) {
    let vault = ServerVault::new();
    let (mut client, _) = LineClient::open(&vault, config(), era).await;
    let note =
        json!({ "command": "create", "path": "/memories/garden/tulips.md", "file_text": NOTE });
    let made = client.call("memory", note).await;
    assert_eq!(made["isError"], false, "{made}");
    (vault, client)
}

#[tokio::test]
async fn the_server_introduces_itself() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (client, about) = LineClient::open(&vault, config(), era).await;
        let server = match era {
            ProtocolEra::Handshake(version) => {
                assert_eq!(about["protocolVersion"], version);
                about["serverInfo"].clone()
            }
            ProtocolEra::Stateless => {
                let versions: Vec<&str> = about["supportedVersions"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(Value::as_str)
                    .collect();
                for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
                    assert!(versions.contains(&version), "{versions:?}");
                }
                assert_eq!(
                    (&about["ttlMs"], &about["cacheScope"]),
                    (&json!(3_600_000), &json!("public"))
                );
                about["_meta"]["io.modelcontextprotocol/serverInfo"].clone()
            }
        };
        assert_eq!(server["name"], "memoranda");
        assert_eq!(server["title"], "Memoranda");
        assert_eq!(server["version"], "9.9.9");
        for capability in ["tools", "prompts", "resources", "completions"] {
            assert!(about["capabilities"][capability].is_object(), "{capability}");
        }
        let instructions = about["instructions"].as_str().unwrap();
        assert!(instructions.len() <= 2048 && instructions.contains("/memories"));
        assert!(client.close().await.1.is_ok());
    }
}

#[tokio::test]
async fn tools_are_listed_whole_and_small() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, _) = LineClient::open(&vault, config(), era).await;
        let list = client.result("tools/list", json!({})).await;
        assert_eq!(list, client.result("tools/list", json!({})).await);
        for tool in list["tools"].as_array().unwrap() {
            assert!(tool["title"].is_string());
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{hint}");
            }
            assert!(tool["inputSchema"].is_object() && tool["outputSchema"].is_object());
        }
        match era {
            ProtocolEra::Stateless => {
                assert_eq!(list["resultType"], "complete");
                assert_eq!(
                    (&list["ttlMs"], &list["cacheScope"]),
                    (&json!(3_600_000), &json!("public"))
                );
            }
            ProtocolEra::Handshake(_) => {
                assert!(list.get("ttlMs").is_none() && list.get("resultType").is_none())
            }
        }
    }
}

#[tokio::test]
async fn a_call_is_answered_in_text_and_structure_and_kept_with_its_author() {
    for era in ERAS {
        let (vault, mut client) = with_a_note(era).await;
        let view = json!({ "command": "view", "path": "/memories/garden/tulips.md" });
        let seen = client.call("memory", view).await;
        let text = seen["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("They bloom in spring"));
        assert_eq!(seen["structuredContent"]["result"], text);
        let history =
            vault.memory.snapshot().unwrap().history(&HistoryFilter::default(), 10, 0).unwrap();
        let author = &history[0].author;
        assert_eq!((author.client.as_str(), author.tool.as_str()), ("tester 1.0", "memory"));
        assert_eq!(author.channel, ChangeChannel::Mcp);
    }
}

#[tokio::test]
async fn errors_are_results_or_protocol_errors() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, _) = LineClient::open(&vault, config(), era).await;
        // An error that the model can correct is a result.
        for arguments in [
            json!({ "command": "view", "path": "/memories/none.md" }),
            json!({}),
            json!({ "command": 7 }),
        ] {
            let result = client.call("memory", arguments.clone()).await;
            assert_eq!(result["isError"], true, "{arguments}");
            assert_eq!(result["structuredContent"]["is_error"], true);
        }
        // An invalid request is a protocol error.
        let unknown = client.ask("tools/call", json!({ "name": "nope", "arguments": {} })).await;
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        let crooked = client.ask("tools/call", json!({ "name": "memory", "arguments": [1] })).await;
        assert_eq!(crooked["error"]["code"], -32602, "{crooked}");
        let method = client.ask("no/such", json!({})).await;
        assert_eq!(method["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn prompts_are_listed_and_rendered() {
    for era in ERAS {
        let (_vault, mut client) = with_a_note(era).await;
        let list = client.result("prompts/list", json!({})).await;
        let names: Vec<&str> =
            list["prompts"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
        assert_eq!(names, ["memory_guide", "remember", "recall", "continue"]);
        let recall = json!({ "name": "recall", "arguments": { "topic": "bloom" } });
        let said = client.result("prompts/get", recall).await;
        let text = said["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("> ") && text.contains("spring"), "{text}");
        for bad in [json!({ "name": "recall" }), json!({ "name": "nope" })] {
            assert_eq!(client.ask("prompts/get", bad).await["error"]["code"], -32602);
        }
    }
}

#[tokio::test]
async fn every_listed_note_is_read_at_its_uri() {
    let (_vault, mut client) = with_a_note(ProtocolEra::Stateless).await;
    let old = "/memories/garden/tulips.md";
    let archived = json!({ "command": "rename", "old_path": old, "new_path": "/memories/old.md" });
    client.call("memory", archived).await;
    let again = json!({ "command": "create", "path": old, "file_text": "anew\n" });
    client.call("memory", again).await;
    let list = client.result("resources/list", json!({})).await;
    let found = list["resources"].as_array().unwrap().clone();
    assert_eq!(found.len(), 2);
    for note in found {
        let read = client.result("resources/read", json!({ "uri": note["uri"] })).await;
        let expected = if note["name"] == "old.md" { NOTE } else { "anew\n" };
        assert_eq!(read["contents"][0]["text"], expected, "{note}");
    }
    // The note that took over the permalink is read at its URI.
    let uri = json!({ "uri": "memoranda://memories/garden/tulips" });
    let read = client.result("resources/read", uri).await;
    assert_eq!(read["contents"][0]["text"], "anew\n");
}

#[tokio::test]
async fn notes_are_resources() {
    for era in ERAS {
        let (vault, mut client) = with_a_note(era).await;
        let json_file = json!({ "command": "create", "path": "/memories/garden/tulips.json", "file_text": "{}" });
        client.call("memory", json_file).await;
        let list = client.result("resources/list", json!({})).await;
        let found = list["resources"].as_array().unwrap();
        let uris: Vec<&str> = found.iter().filter_map(|r| r["uri"].as_str()).collect();
        assert_eq!(
            uris,
            ["memoranda://memories/garden/tulips.json", "memoranda://memories/garden/tulips"]
        );
        assert!(found[1]["annotations"]["lastModified"].as_str().unwrap().ends_with('Z'));
        assert_eq!(
            (&found[1]["title"], &found[1]["mimeType"]),
            (&json!("Tulips"), &json!("text/markdown"))
        );
        let read = client.result("resources/read", json!({ "uri": uris[1] })).await;
        assert_eq!(read["contents"][0]["text"], NOTE);
        assert_eq!(read["contents"][0]["mimeType"], "text/markdown");
        let read = client.result("resources/read", json!({ "uri": uris[0] })).await;
        assert_eq!(
            (&read["contents"][0]["text"], &read["contents"][0]["mimeType"]),
            (&json!("{}"), &json!("application/json"))
        );
        let templates = client.result("resources/templates/list", json!({})).await;
        assert_eq!(
            templates["resourceTemplates"][0]["uriTemplate"],
            "memoranda://{project}/{+permalink}"
        );
        let code = if era == ProtocolEra::Stateless { -32602 } else { -32002 };
        let strays = [
            "memoranda://memories/none",
            "memoranda://nowhere/none",
            "memoranda://memories",
            "file:///etc/passwd",
            "memoranda://memories/..%2f..%2fetc/passwd",
            "memoranda://memories/%ff",
            "memoranda://../x",
            "",
        ];
        for uri in strays {
            let missing = client.ask("resources/read", json!({ "uri": uri })).await;
            assert_eq!(missing["error"]["code"], code, "{uri}: {missing}");
            let home = vault.memory.home().to_str().unwrap().to_owned();
            assert!(!missing.to_string().contains(&home), "{missing}");
        }
        let cursor = client.ask("resources/list", json!({ "cursor": "x" })).await;
        assert_eq!(cursor["error"]["code"], -32602);
    }
}

#[tokio::test]
async fn resources_come_in_pages_newest_first() {
    let vault = ServerVault::new();
    let (mut client, _) = LineClient::open(&vault, config(), ProtocolEra::Stateless).await;
    for n in 0..103 {
        let note =
            json!({ "command": "create", "path": format!("/memories/n{n}.md"), "file_text": "x" });
        client.call("memory", note).await;
    }
    let first = client.result("resources/list", json!({})).await;
    assert_eq!(first["resources"].as_array().unwrap().len(), 100);
    assert_eq!((&first["ttlMs"], &first["cacheScope"]), (&json!(0), &json!("private")));
    let rest = client.result("resources/list", json!({ "cursor": first["nextCursor"] })).await;
    assert_eq!(rest["resources"].as_array().unwrap().len(), 3);
    assert!(rest.get("nextCursor").is_none());
    // At most 100 completions, and a flag that there are more.
    let ask = json!({
        "ref": { "type": "ref/resource", "uri": "memoranda://{project}/{+permalink}" },
        "argument": { "name": "permalink", "value": "n" },
        "context": { "arguments": { "project": "memories" } },
    });
    let found = client.result("completion/complete", ask).await["completion"].clone();
    assert_eq!(found["values"].as_array().unwrap().len(), 100);
    assert_eq!((&found["total"], &found["hasMore"]), (&json!(103), &json!(true)));
    // Names that contain the text match too; special characters match literally.
    for (value, total) in [("n9", 11), ("N10", 4), ("7", 19), ("%", 0), ("_", 0)] {
        let mut ask = json!({
            "ref": { "type": "ref/resource", "uri": "memoranda://{project}/{+permalink}" },
            "argument": { "name": "permalink" },
        });
        ask["argument"]["value"] = json!(value);
        let found = client.result("completion/complete", ask).await["completion"].clone();
        assert_eq!(found["total"], json!(total), "{value}: {found}");
    }
}

#[tokio::test]
async fn arguments_are_completed() {
    for era in ERAS {
        let (_vault, mut client) = with_a_note(era).await;
        let template =
            json!({ "type": "ref/resource", "uri": "memoranda://{project}/{+permalink}" });
        let prompt = json!({ "type": "ref/prompt", "name": "recall" });
        let asked = [
            (&template, "project", "mem", json!(["memories"])),
            (&template, "permalink", "gard", json!(["garden/tulips"])),
            (&prompt, "topic", "tul", json!(["Tulips"])),
        ];
        for (reference, name, value, expected) in asked {
            let ask = json!({ "ref": reference, "argument": { "name": name, "value": value } });
            let found = client.result("completion/complete", ask).await;
            assert_eq!(found["completion"]["values"], expected, "{name}");
        }
        let unknown = json!({ "type": "ref/prompt", "name": "nope" });
        for (reference, name) in [(&unknown, "topic"), (&prompt, "nope"), (&template, "nope")] {
            let ask = json!({ "ref": reference, "argument": { "name": name, "value": "" } });
            let found = client.result("completion/complete", ask).await;
            assert_eq!(found["completion"]["values"], json!([]), "{name}");
        }
    }
}
