//! Cargo's metadata of the workspace: its crates and all their dependencies.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::Value;

use crate::{Result, workspace};

/// The workspace with all features.
#[derive(Default)]
pub(super) struct CargoMetadata {
    pub(super) members: Vec<WorkspaceMember>,
    /// Name and dependencies of every package, without dev-dependencies.
    graph: HashMap<String, (String, Vec<String>)>,
}

/// A crate of the workspace.
#[derive(Default)]
pub(super) struct WorkspaceMember {
    pub(super) id: String,
    pub(super) name: String,
    /// Folder of the crate, relative to the root.
    pub(super) folder: String,
    pub(super) description: Option<String>,
    /// Direct dependencies, without dev-dependencies.
    pub(super) dependencies: Vec<String>,
    /// Names of its integration test binaries.
    pub(super) test_binaries: Vec<String>,
}

impl CargoMetadata {
    /// Returns the names of all direct and indirect dependencies of a member.
    pub(super) fn reachable(&self, member: &WorkspaceMember) -> HashSet<&str> {
        let mut names = HashSet::new();
        let mut seen = HashSet::from([member.id.as_str()]);
        let mut open = vec![member.id.as_str()];
        while let Some(id) = open.pop() {
            let Some((_, dependencies)) = self.graph.get(id) else { continue };
            for dependency in dependencies {
                if seen.insert(dependency) {
                    open.push(dependency);
                    names.extend(self.graph.get(dependency).map(|(name, _)| name.as_str()));
                }
            }
        }
        names
    }
}

/// Runs `cargo metadata`.
pub(super) fn read(root: &Path) -> Result<CargoMetadata> {
    let mut command = workspace::cargo(root);
    command.args(["metadata", "--format-version", "1", "--all-features", "--locked"]);
    parse(&serde_json::from_str(&workspace::output(&mut command)?)?, root)
}

fn parse(json: &Value, root: &Path) -> Result<CargoMetadata> {
    let packages = list(&json["packages"]);
    let names: HashMap<_, _> =
        packages.iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
    let ids: HashSet<_> = list(&json["workspace_members"]).iter().map(text).collect();
    let members = packages.iter().filter(|package| ids.contains(&text(&package["id"])));
    let members = members.map(|package| member(package, root)).collect::<Result<_>>()?;
    let mut graph = HashMap::new();
    for node in list(&json["resolve"]["nodes"]) {
        let id = text(&node["id"]);
        let built_from = list(&node["deps"]).iter().filter(|dependency| {
            list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev")
        });
        let built_from = built_from.map(|dependency| text(&dependency["pkg"])).collect();
        let name = names.get(&id).ok_or("cargo resolved a package that it does not list")?;
        graph.insert(id, (name.clone(), built_from));
    }
    Ok(CargoMetadata { members, graph })
}

fn member(package: &Value, root: &Path) -> Result<WorkspaceMember> {
    let manifest = text(&package["manifest_path"]);
    let folder = Path::new(&manifest).parent().ok_or("a manifest has no folder")?;
    let dependencies = list(&package["dependencies"]).iter();
    let targets = list(&package["targets"]).iter();
    Ok(WorkspaceMember {
        id: text(&package["id"]),
        name: text(&package["name"]),
        folder: folder.strip_prefix(root)?.to_string_lossy().replace('\\', "/"),
        description: package["description"].as_str().map(str::to_owned),
        dependencies: dependencies
            .filter(|dependency| dependency["kind"] != "dev")
            .map(|dependency| text(&dependency["name"]))
            .collect(),
        test_binaries: targets
            .filter(|target| list(&target["kind"]).iter().any(|kind| kind == "test"))
            .map(|target| text(&target["name"]))
            .collect(),
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_crates_and_dependencies() {
        let json = json!({
            "packages": [
                { "id": "a 1", "name": "a", "manifest_path": "/r/crates/a/Cargo.toml",
                  "description": "A.",
                  "dependencies": [{ "name": "b", "kind": null }, { "name": "t", "kind": "dev" }],
                  "targets": [{ "kind": ["lib"], "name": "a" }, { "kind": ["test"], "name": "it" }] },
                { "id": "b 1", "name": "b" }, { "id": "c 1", "name": "c" }, { "id": "t 1", "name": "t" },
            ],
            "workspace_members": ["a 1"],
            "resolve": { "nodes": [
                { "id": "a 1", "deps": [
                    { "pkg": "b 1", "dep_kinds": [{ "kind": null }] },
                    { "pkg": "t 1", "dep_kinds": [{ "kind": "dev" }] } ] },
                { "id": "b 1", "deps": [{ "pkg": "c 1", "dep_kinds": [{ "kind": "build" }] }] },
                { "id": "c 1", "deps": [] },
                { "id": "t 1", "deps": [] },
            ] },
        });
        let metadata = parse(&json, Path::new("/r")).unwrap();
        let [a] = &metadata.members[..] else { panic!("one member") };
        assert_eq!((a.folder.as_str(), a.description.as_deref()), ("crates/a", Some("A.")));
        assert_eq!(
            (&a.dependencies[..], &a.test_binaries[..]),
            (&["b".into()][..], &["it".into()][..])
        );
        assert_eq!(metadata.reachable(a), HashSet::from(["b", "c"]));
    }
}
