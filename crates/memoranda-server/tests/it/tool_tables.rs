//! The tool tables over MCP: every entry is listed, and the lists stay within their budgets.

use memoranda_server::ServerConfig;
use memoranda_tools::{ToolSelection, ToolSettings, Toolset};
use serde_json::{Value, json};

use crate::support::{LineClient, ProtocolEra, ServerVault, config};

fn choice(toolset: &str) -> ServerConfig {
    let selection =
        ToolSelection { toolsets: vec![toolset.to_owned()], ..ToolSelection::default() };
    ServerConfig { selection, ..config() }
}

fn names<'a>(list: &'a Value, of: &str) -> Vec<&'a str> {
    list[of].as_array().unwrap().iter().filter_map(|item| item["name"].as_str()).collect()
}

#[tokio::test]
async fn everything_in_the_tables_is_listed() {
    let vault = ServerVault::new();
    let (mut client, _) = LineClient::open(&vault, choice("all"), ProtocolEra::Stateless).await;
    let tools = client.result("tools/list", json!({})).await;
    let rows: Vec<_> = memoranda_tools::tools().collect();
    assert_eq!(names(&tools, "tools"), rows.iter().map(|row| row.name).collect::<Vec<_>>());
    for (row, tool) in rows.iter().zip(tools["tools"].as_array().unwrap()) {
        assert_eq!(
            (&tool["title"], &tool["description"]),
            (&json!(row.title), &json!(row.description))
        );
        assert_eq!(
            (&tool["inputSchema"], &tool["outputSchema"]),
            (&row.input_schema(&ToolSettings::standard()), &(row.output)())
        );
        let hints = json!({
            "readOnlyHint": row.hints.read_only,
            "destructiveHint": row.hints.destructive,
            "idempotentHint": row.hints.idempotent,
            "openWorldHint": row.hints.open_world,
        });
        assert_eq!(tool["annotations"], hints, "{}", row.name);
    }
    let prompts = client.result("prompts/list", json!({})).await;
    let rows: Vec<_> = memoranda_tools::prompts().map(|row| row.name).collect();
    assert_eq!(names(&prompts, "prompts"), rows);
}

/// Maximum size of the list of a set, in tokens of four bytes.
#[tokio::test]
async fn lists_of_tools_fit_their_budgets() {
    let budgets = [("core", 2800), ("memory", 700), ("notes", 4400), ("records", 3700)];
    for (toolset, most) in budgets {
        assert!(Toolset::ALL.iter().any(|set| set.as_str() == toolset));
        let vault = ServerVault::new();
        let (mut client, _) =
            LineClient::open(&vault, choice(toolset), ProtocolEra::Stateless).await;
        let list = client.result("tools/list", json!({})).await;
        let tokens = list.to_string().len() / 4;
        assert!(tokens <= most, "tools/list with {toolset} takes {tokens} tokens of {most}");
    }
}
