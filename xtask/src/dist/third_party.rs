//! The licences of the software that the program contains.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use serde_json::Value;

use crate::{Result, workspace};

/// File name in every package that contains the program.
pub(super) const FILE_NAME: &str = "THIRD-PARTY-LICENSES.txt";

/// First words of the names of files with a licence.
const LICENCE_NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// A crate that the program is built from.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LinkedCrate {
    name: String,
    version: String,
    /// SPDX expression.
    licence: String,
    /// File with the manifest, in the same folder as the licences.
    manifest: String,
}

/// Returns a list of all crates of the program for one target, with the texts of their licences.
pub(super) fn licence_texts(root: &Path, target: &str) -> Result<String> {
    let mut command = workspace::cargo(root);
    command.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", target]);
    let metadata: Value = serde_json::from_str(&workspace::output(&mut command)?)?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for linked in linked_crates(&metadata)? {
        let label = format!("{} {}", linked.name, linked.version);
        list.push_str(&format!("{label} ({})\n", linked.licence));
        for text in read_licences(&linked)? {
            texts.entry(text).or_default().push(label.clone());
        }
    }
    let model = std::fs::read_to_string(root.join("crates/memoranda-core/model/NOTICE.md"))?;
    let mut page = format!(
        "The program memoranda contains SQLite, which is in the public domain, an embedded model\n\
         and the crates listed here. Their licences follow.\n\n{list}\n{}{model}",
        heading(&["embedded model".to_owned()])
    );
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1));
    for (text, crates) in texts {
        page.push_str(&heading(&crates));
        page.push_str(&text);
    }
    Ok(page)
}

fn heading(names: &[String]) -> String {
    format!("\n{}\n{}\n\n", "=".repeat(80), names.join(", "))
}

/// Follows the dependencies of the binary, without those of build scripts and tests.
fn linked_crates(metadata: &Value) -> Result<Vec<LinkedCrate>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = list(&metadata["packages"]);
    let mut links: HashMap<String, Vec<String>> = HashMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let linked = list(&node["deps"]).into_iter().filter(|dependency| {
            list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null())
        });
        links
            .insert(text(&node["id"]), linked.map(|dependency| text(&dependency["pkg"])).collect());
    }
    let binary = packages.iter().find(|package| package["name"] == "memoranda");
    let binary = text(&binary.ok_or("the workspace has no package memoranda")?["id"]);
    let mut seen = HashSet::from([binary.clone()]);
    let mut open = vec![binary];
    while let Some(id) = open.pop() {
        for dependency in links.get(&id).into_iter().flatten() {
            if seen.insert(dependency.clone()) {
                open.push(dependency.clone());
            }
        }
    }
    let is_foreign = |package: &&Value| {
        !package["source"].is_null() && seen.contains(package["id"].as_str().unwrap_or_default())
    };
    let mut crates: Vec<_> = packages
        .iter()
        .filter(is_foreign)
        .map(|package| LinkedCrate {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]),
            manifest: text(&package["manifest_path"]),
        })
        .collect();
    crates.sort();
    Ok(crates)
}

fn read_licences(linked: &LinkedCrate) -> Result<Vec<String>> {
    let folder = Path::new(&linked.manifest).parent().ok_or("a manifest has no folder")?;
    let mut texts = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().to_uppercase();
        if file.file_type()?.is_file() && LICENCE_NAMES.iter().any(|first| name.starts_with(first))
        {
            texts.push(String::from_utf8_lossy(&std::fs::read(file.path())?).replace("\r\n", "\n"));
        }
    }
    texts.sort();
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_linked_crates_are_listed() {
        let package = |name: &str, source: Option<&str>| {
            json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT",
                    "manifest_path": "/x/Cargo.toml", "source": source })
        };
        let dependency = |name: &str, kind: Option<&str>| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let registry = Some("registry");
        let metadata = json!({
            "packages": [
                package("memoranda", None), package("memoranda-core", None), package("cc", registry),
                package("near", registry), package("far", registry), package("tester", registry),
            ],
            "resolve": { "nodes": [
                { "id": "memoranda", "deps": [
                    dependency("memoranda-core", None), dependency("cc", Some("build")),
                    dependency("tester", Some("dev")),
                ] },
                { "id": "memoranda-core", "deps": [dependency("near", None)] },
                { "id": "near", "deps": [dependency("far", None)] },
            ] },
        });
        let crates = linked_crates(&metadata).unwrap();
        let names: Vec<_> = crates.iter().map(|linked| linked.name.as_str()).collect();
        assert_eq!(names, ["far", "near"]);
    }
}
