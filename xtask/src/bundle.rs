//! `cargo xtask bundle`: what a release consists of. An archive with the program, completions and
//! manual pages; a Desktop bundle (`.mcpb`); the registry's `server.json`; checksums of all.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;

use crate::{Result, workspace};

const RELEASES: &str = "https://github.com/memoranda/memoranda/releases/download";
const SHELLS: [(&str, &str); 5] = [
    ("bash", "memoranda.bash"),
    ("zsh", "_memoranda"),
    ("fish", "memoranda.fish"),
    ("powershell", "_memoranda.ps1"),
    ("elvish", "memoranda.elv"),
];

/// What was asked for.
#[derive(Default)]
struct Options {
    target: Option<String>,
    binary: Option<PathBuf>,
    out: Option<PathBuf>,
}

/// Builds the bundles and says where they are.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let options = parsed(arguments)?;
    let root = workspace::root()?;
    let host = host(&root)?;
    let target = options.target.clone().unwrap_or_else(|| host.clone());
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => built(&root, options.target.as_deref())?,
    };
    let out = options.out.unwrap_or_else(|| root.join("target/bundle"));
    std::fs::create_dir_all(&out)?;
    let version = said(&binary, &["--version"])?;
    let version = version.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    let archive = out.join(format!("memoranda-{version}-{target}.tar.gz"));
    std::fs::write(&archive, archived(&root, &binary, &version, &target)?)?;
    let desktop = out.join(format!("memoranda-mcp-{version}-{target}.mcpb"));
    std::fs::write(&desktop, bundled(&root, &binary, &version, &target)?)?;
    let server = out.join("server.json");
    let text = registered(&root, &version, &desktop)?;
    std::fs::write(&server, text)?;
    let mut sums = String::new();
    for file in [&archive, &desktop, &server] {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let bytes = std::fs::read(file)?;
        println!("bundle: {} ({} KB)", file.display(), bytes.len() / 1024);
        sums.push_str(&format!("{}  {name}\n", sha256(&bytes)));
    }
    std::fs::write(out.join("SHA256SUMS"), sums)?;
    Ok(())
}

fn parsed(arguments: &[String]) -> Result<Options> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(flag) = rest.next() {
        let value = rest.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--target" => options.target = Some(value.clone()),
            "--binary" => options.binary = Some(value.into()),
            "--out" => options.out = Some(value.into()),
            _ => return Err(format!("there is no flag `{flag}`").into()),
        }
    }
    Ok(options)
}

fn host(root: &Path) -> Result<String> {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let about = workspace::output(command.current_dir(root).arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc does not say its host")?.to_owned())
}

/// Builds the program as it is released.
fn built(root: &Path, target: Option<&str>) -> Result<PathBuf> {
    let mut command = workspace::cargo(root);
    command.args(["build", "--locked", "--profile", "dist", "--package", "memoranda"]);
    let mut folder = root.join("target");
    if let Some(target) = target {
        command.args(["--target", target]);
        folder.push(target);
    }
    workspace::status(&mut command)?;
    let name = if is_windows(target.unwrap_or_default()) { "memoranda.exe" } else { "memoranda" };
    Ok(folder.join("dist").join(name))
}

fn is_windows(target: &str) -> bool {
    target.contains("windows") || target.is_empty() && cfg!(windows)
}

/// What the program prints. It must run here, so a bundle for elsewhere is made elsewhere.
fn said(binary: &Path, arguments: &[&str]) -> Result<String> {
    workspace::output(Command::new(binary).args(arguments))
}

fn archived(root: &Path, binary: &Path, version: &str, target: &str) -> Result<Vec<u8>> {
    let folder = format!("memoranda-{version}-{target}");
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    let mut add = |path: String, bytes: &[u8], mode: u32| -> Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(mode);
        header.set_mtime(0);
        Ok(tar.append_data(&mut header, format!("{folder}/{path}"), bytes)?)
    };
    let name = if is_windows(target) { "memoranda.exe" } else { "memoranda" };
    add(name.to_owned(), &std::fs::read(binary)?, 0o755)?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        add(file.to_owned(), &std::fs::read(root.join(file))?, 0o644)?;
    }
    for (shell, file) in SHELLS {
        let script = said(binary, &["completions", shell])?;
        add(format!("completions/{file}"), script.as_bytes(), 0o644)?;
    }
    let pages = tempfile::tempdir()?;
    said(binary, &["man", "--quiet", "--dir", &pages.path().display().to_string()])?;
    let mut names: Vec<_> = std::fs::read_dir(pages.path())?.collect::<std::io::Result<_>>()?;
    names.sort_by_key(std::fs::DirEntry::file_name);
    for page in names {
        let name = page.file_name().to_string_lossy().into_owned();
        add(format!("man/man1/{name}"), &std::fs::read(page.path())?, 0o644)?;
    }
    Ok(tar.into_inner()?.finish()?)
}

fn bundled(root: &Path, binary: &Path, version: &str, target: &str) -> Result<Vec<u8>> {
    let manifest = std::fs::read_to_string(root.join("packages/mcpb/manifest.json"))?;
    let tools: Value = serde_json::from_str(&said(binary, &["tool", "--list", "--json"])?)?;
    let manifest = described(&manifest, &tools, version, target)?;
    let name = if is_windows(target) { "memoranda.exe" } else { "memoranda" };
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut add = |path: &str, bytes: &[u8], mode: u32| -> Result<()> {
        zip.start_file(path, SimpleFileOptions::default().unix_permissions(mode))?;
        Ok(zip.write_all(bytes)?)
    };
    add("manifest.json", manifest.as_bytes(), 0o644)?;
    add(&format!("server/{name}"), &std::fs::read(binary)?, 0o755)?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        add(file, &std::fs::read(root.join(file))?, 0o644)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// The manifest with the version, the system and the tools of this program.
fn described(manifest: &str, tools: &Value, version: &str, target: &str) -> Result<String> {
    let mut manifest: Value = serde_json::from_str(manifest)?;
    manifest["version"] = json!(version);
    let (platform, name) = match target {
        target if target.contains("apple") => ("darwin", "memoranda"),
        target if target.contains("windows") => ("win32", "memoranda.exe"),
        _ => ("linux", "memoranda"),
    };
    manifest["compatibility"]["platforms"] = json!([platform]);
    manifest["server"]["entry_point"] = json!(format!("server/{name}"));
    manifest["server"]["mcp_config"]["command"] = json!(format!("${{__dirname}}/server/{name}"));
    if let Some(config) = manifest["server"]["mcp_config"].as_object_mut() {
        config.remove("platform_overrides");
    }
    let list = tools["tools"].as_array().ok_or("the program lists no tools")?;
    let tool = |tool: &Value| json!({ "name": tool["name"], "description": tool["title"] });
    manifest["tools"] = list.iter().map(tool).collect();
    Ok(serde_json::to_string_pretty(&manifest)? + "\n")
}

/// The registry's description, with this bundle among the packages.
fn registered(root: &Path, version: &str, desktop: &Path) -> Result<String> {
    let text = std::fs::read_to_string(root.join("packages/server.json"))?;
    let mut server: Value = serde_json::from_str(&text)?;
    server["version"] = json!(version);
    let name = desktop.file_name().unwrap_or_default().to_string_lossy();
    let package = json!({
        "registryType": "mcpb",
        "identifier": format!("{RELEASES}/v{version}/{name}"),
        "version": version,
        "fileSha256": sha256(&std::fs::read(desktop)?),
        "transport": { "type": "stdio" },
    });
    server["packages"].as_array_mut().ok_or("server.json has no packages")?.push(package);
    Ok(serde_json::to_string_pretty(&server)? + "\n")
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every file that names a version names the workspace's.
    #[test]
    fn versions_agree() {
        let root = workspace::root().unwrap();
        let version = env!("CARGO_PKG_VERSION");
        let read = |path: &str| -> Value {
            serde_json::from_str(&std::fs::read_to_string(root.join(path)).unwrap()).unwrap()
        };
        for path in [
            "packages/plugin/.claude-plugin/plugin.json",
            "packages/plugin/.codex-plugin/plugin.json",
            "packages/gemini/gemini-extension.json",
            "packages/mcpb/manifest.json",
            "packages/server.json",
        ] {
            assert_eq!(read(path)["version"], version, "{path}");
        }
        for package in read("packages/server.json")["packages"].as_array().unwrap() {
            let own = package["version"].as_str();
            let tag = package["identifier"].as_str().unwrap().rsplit(':').next();
            assert_eq!(own.or(tag), Some(version), "{package}");
        }
    }

    #[test]
    fn a_manifest_says_what_is_in_the_bundle() {
        let manifest = r#"{"server": {"mcp_config": {"platform_overrides": {}}}}"#;
        let tools = json!({ "tools": [{ "name": "memory", "title": "Memory", "hints": {} }] });
        let made = described(manifest, &tools, "1.2.3", "x86_64-pc-windows-msvc").unwrap();
        let made: Value = serde_json::from_str(&made).unwrap();
        assert_eq!(made["version"], "1.2.3");
        assert_eq!(made["compatibility"]["platforms"], json!(["win32"]));
        assert_eq!(made["server"]["entry_point"], "server/memoranda.exe");
        assert_eq!(made["server"]["mcp_config"]["platform_overrides"], Value::Null);
        assert_eq!(made["tools"], json!([{ "name": "memory", "description": "Memory" }]));
    }

    #[test]
    fn checksums_are_those_of_everybody() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
    }
}
