//! Extra prompts and resources, and content other than text.

use memoranda_server::{ExtraDefinitions, ServerConfig};
use memoranda_tools::{
    PromptArgument, PromptDef, PromptMessage, ResourceDef, SideContent, ToolDef, ToolResult,
    Toolset,
};
use serde_json::json;

use crate::support::{ERAS, LineClient, ProtocolEra, ServerVault, config, fixture};

static TOOLS: [ToolDef; 1] = [fixture("show", true, |call, _| {
    call.client.attach(SideContent::Image { data: "aGk=".into(), mime: "image/png".into() });
    call.client.attach(SideContent::Link { uri: "test://a".into(), name: "a".into() });
    Ok(ToolResult::ok("Two things.".into(), json!({ "result": 2 })))
})];

static PROMPTS: [PromptDef; 1] = [PromptDef {
    name: "greet",
    title: "Greet",
    description: "For tests.",
    toolset: Toolset::Memory,
    arguments: &[
        PromptArgument { name: "who", description: "Whom", required: true },
        PromptArgument { name: "how", description: "In which words", required: false },
    ],
    render: |call| match call.arguments {
        [Some(who), how] => {
            let how = how.as_deref().unwrap_or("Hello");
            Ok(PromptMessage { text: format!("{how}, {who}!") })
        }
        _ => Ok(PromptMessage { text: "Nobody.".into() }),
    },
}];

const fn resource(uri: &'static str, name: &'static str, mime: &'static str) -> ResourceDef {
    ResourceDef {
        uri,
        name,
        title: "A fixture",
        description: "For tests.",
        mime,
        toolset: Toolset::Memory,
        read: |_, settings, values| match values {
            [] => Ok(Some(settings.memories.to_string())),
            ["none"] => Ok(None),
            values => Ok(Some(values.join("+"))),
        },
    }
}

static RESOURCES: [ResourceDef; 3] = [
    resource("test://whole", "whole", "text/plain"),
    resource("test://picture", "picture", "image/png"),
    resource("test://part/{id}", "part", "application/json"),
];

fn with_extra() -> ServerConfig {
    let extra = ExtraDefinitions {
        tools: &TOOLS,
        prompts: &PROMPTS,
        resources: &RESOURCES,
        prompt_handlers: &[],
    };
    ServerConfig { extra, ..config() }
}

#[tokio::test]
async fn extra_prompts_and_resources_are_listed_and_read() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, _) = LineClient::open(&vault, with_extra(), era).await;
        let list = client.result("prompts/list", json!({})).await;
        let greet = list["prompts"].as_array().unwrap().last().unwrap();
        assert_eq!((&greet["name"], &greet["title"]), (&json!("greet"), &json!("Greet")));
        assert_eq!(
            (&greet["arguments"][0]["required"], &greet["arguments"][1]["required"]),
            (&json!(true), &json!(false))
        );
        let asked = json!({ "name": "greet", "arguments": { "who": "Ada" } });
        let said = client.result("prompts/get", asked).await;
        assert_eq!(said["messages"][0]["content"]["text"], "Hello, Ada!");
        let asked = json!({ "name": "greet", "arguments": { "how": "Hi" } });
        assert_eq!(client.ask("prompts/get", asked).await["error"]["code"], -32602);

        let list = client.result("resources/list", json!({})).await;
        let uris: Vec<_> =
            list["resources"].as_array().unwrap().iter().map(|r| r["uri"].clone()).collect();
        assert_eq!(uris, ["test://whole", "test://picture"]);
        let list = client.result("resources/templates/list", json!({})).await;
        assert_eq!(list["resourceTemplates"][1]["uriTemplate"], "test://part/{id}");
        for (uri, field, value, mime) in [
            ("test://whole", "text", "memories", "text/plain"),
            ("test://picture", "blob", "memories", "image/png"),
            ("test://part/7", "text", "7", "application/json"),
        ] {
            let read = client.result("resources/read", json!({ "uri": uri })).await;
            let contents = &read["contents"][0];
            assert_eq!((&contents[field], &contents["mimeType"]), (&json!(value), &json!(mime)));
        }
        let code = if era == ProtocolEra::Stateless { -32602 } else { -32002 };
        let missing = client.ask("resources/read", json!({ "uri": "test://part/none" })).await;
        assert_eq!(missing["error"]["code"], code, "{missing}");
    }
}

#[tokio::test]
async fn attachments_follow_the_text() {
    for era in ERAS {
        let vault = ServerVault::new();
        let (mut client, _) = LineClient::open(&vault, with_extra(), era).await;
        let shown = client.call("show", json!({})).await;
        let kinds: Vec<_> = shown["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["type"].clone())
            .collect();
        assert_eq!(kinds, ["text", "image", "resource_link"]);
        assert_eq!(shown["content"][1]["data"], "aGk=");
        assert_eq!(shown["structuredContent"], json!({ "result": 2 }));
    }
}
