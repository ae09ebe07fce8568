//! The Desktop bundle (`.mcpb`) and the entry of the MCP registry that names it.

use std::rc::Rc;

use serde_json::{Value, json};

use super::archive::{ArchiveEntry, zip};
use super::platform::ReleasePlatform;
use super::release::{ReleaseBuild, VERSION};
use super::{PackageFile, sha256};
use crate::Result;

const RELEASES: &str = "https://github.com/memoranda/memoranda/releases/download";

/// Returns the bundle that Claude Desktop opens.
pub(super) fn make_bundle(release: &ReleaseBuild) -> Result<PackageFile> {
    let platform = release.platform;
    let manifest = release.source("packages/mcpb/manifest.json")?;
    let tools: Value = serde_json::from_str(&release.output_of(&["tool", "--list", "--json"])?)?;
    let manifest = bundle_manifest(&manifest, &tools, platform)?;
    let program = format!("server/{}", platform.program_name());
    let mut entries = vec![
        ArchiveEntry::file("manifest.json", manifest.into_bytes()),
        ArchiveEntry::program(program, Rc::clone(&release.program)),
    ];
    entries.extend(release.program_licences("")?);
    let name = format!("memoranda-mcp-{VERSION}-{}.mcpb", platform.target);
    Ok(PackageFile { name, contents: zip(&entries)? })
}

/// Returns the manifest with the version, the platform and the tools of this program.
fn bundle_manifest(manifest: &str, tools: &Value, platform: &ReleasePlatform) -> Result<String> {
    let mut manifest: Value = serde_json::from_str(manifest)?;
    let program = format!("server/{}", platform.program_name());
    manifest["version"] = json!(VERSION);
    manifest["compatibility"]["platforms"] = json!([platform.system.npm_name()]);
    manifest["server"]["entry_point"] = json!(program);
    manifest["server"]["mcp_config"]["command"] = json!(format!("${{__dirname}}/{program}"));
    if let Some(config) = manifest["server"]["mcp_config"].as_object_mut() {
        config.remove("platform_overrides");
    }
    let list = tools["tools"].as_array().ok_or("the program lists no tools")?;
    let tool = |tool: &Value| json!({ "name": tool["name"], "description": tool["title"] });
    manifest["tools"] = list.iter().map(tool).collect();
    Ok(serde_json::to_string_pretty(&manifest)? + "\n")
}

/// Returns the registry's `server.json` with the bundle added to its packages.
pub(super) fn make_registry_entry(
    release: &ReleaseBuild,
    bundle: &PackageFile,
) -> Result<PackageFile> {
    let mut server: Value = serde_json::from_str(&release.source("packages/server.json")?)?;
    server["version"] = json!(VERSION);
    let package = json!({
        "registryType": "mcpb",
        "identifier": format!("{RELEASES}/v{VERSION}/{}", bundle.name),
        "version": VERSION,
        "fileSha256": sha256(&bundle.contents),
        "transport": { "type": "stdio" },
    });
    server["packages"].as_array_mut().ok_or("server.json has no packages")?.push(package);
    let contents = serde_json::to_string_pretty(&server)? + "\n";
    Ok(PackageFile { name: "server.json".to_owned(), contents: contents.into_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_describes_its_bundle() {
        let manifest = r#"{"server": {"mcp_config": {"platform_overrides": {}}}}"#;
        let tools = json!({ "tools": [{ "name": "memory", "title": "Memory", "hints": {} }] });
        let platform = ReleasePlatform::find("x86_64-pc-windows-msvc").unwrap();
        let made = bundle_manifest(manifest, &tools, platform).unwrap();
        let made: Value = serde_json::from_str(&made).unwrap();
        assert_eq!(made["version"], VERSION);
        assert_eq!(made["compatibility"]["platforms"], json!(["win32"]));
        assert_eq!(made["server"]["entry_point"], "server/memoranda.exe");
        assert_eq!(made["server"]["mcp_config"]["platform_overrides"], Value::Null);
        assert_eq!(made["tools"], json!([{ "name": "memory", "description": "Memory" }]));
    }
}
