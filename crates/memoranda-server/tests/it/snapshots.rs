//! Snapshots of the tool definitions as clients see them.
//!
//! `MEMORANDA_UPDATE_SNAPSHOTS=1` rewrites them.

#![allow(clippy::disallowed_methods, reason = "snapshots are files, and a variable renews them")]

use std::collections::BTreeSet;
use std::path::Path;

use memoranda_server::ServerConfig;
use memoranda_tools::ToolSelection;
use serde_json::json;

use crate::support::{LineClient, ProtocolEra, ServerVault, config};

#[tokio::test]
async fn tool_definitions_equal_their_snapshots() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../memoranda-tools/snapshots");
    let update = std::env::var("MEMORANDA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1");
    let vault = ServerVault::new();
    let all = ServerConfig { selection: ToolSelection::all(), ..config() };
    let (mut client, _) = LineClient::open(&vault, all, ProtocolEra::Stateless).await;
    let list = client.result("tools/list", json!({})).await;
    let mut expected = BTreeSet::new();
    for tool in list["tools"].as_array().unwrap() {
        let file = format!("{}.json", tool["name"].as_str().unwrap());
        let path = folder.join(&file);
        let current = format!("{}\n", serde_json::to_string_pretty(tool).unwrap());
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &current).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(kept, current, "{file} differs; MEMORANDA_UPDATE_SNAPSHOTS=1 renews it");
        expected.insert(file);
    }
    for entry in std::fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if update && !expected.contains(&name) {
            std::fs::remove_file(entry.path()).unwrap();
            continue;
        }
        assert!(expected.contains(&name), "{name} is of a tool that is no more");
    }
}
