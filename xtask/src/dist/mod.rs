//! `cargo xtask dist`: makes every package of a release from one build of the program.

mod archive;
mod container;
mod deb;
mod elf;
mod mcpb;
mod npm;
mod platform;
mod release;
mod tarball;
mod third_party;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::{Result, workspace};
use platform::{OperatingSystem, ReleasePlatform};
use release::ReleaseBuild;

/// Arguments of the command.
#[derive(Default)]
struct DistOptions {
    /// Rust's name of the platform; this machine's if `None`.
    target: Option<String>,
    /// A program that was built before.
    binary: Option<PathBuf>,
    /// Folder for the packages.
    out: Option<PathBuf>,
}

/// A finished package.
struct PackageFile {
    name: String,
    contents: Vec<u8>,
}

/// Makes the packages and their checksums.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let options = parse_options(arguments)?;
    let root = workspace::root()?;
    let target = match options.target {
        Some(target) => target,
        None => host_target(&root)?,
    };
    let platform = ReleasePlatform::find(&target)?;
    let binary = match options.binary {
        Some(binary) => binary,
        None => build_program(&root, platform)?,
    };
    let release = ReleaseBuild::read(&root, &binary, platform)?;
    let out = options.out.unwrap_or_else(|| root.join("target/dist"));
    std::fs::create_dir_all(&out)?;
    let mut sums = String::new();
    for package in make_packages(&root, &release)? {
        let path = out.join(&package.name);
        std::fs::write(&path, &package.contents)?;
        println!("dist: {} ({} KB)", path.display(), package.contents.len().div_ceil(1024));
        sums.push_str(&format!("{}  {}\n", sha256(&package.contents), package.name));
    }
    std::fs::write(out.join("SHA256SUMS"), sums)?;
    Ok(())
}

fn make_packages(root: &Path, release: &ReleaseBuild) -> Result<Vec<PackageFile>> {
    let deployment_target = match release.platform.system {
        OperatingSystem::MacOs => Some(deployment_target(root, release.platform)?),
        OperatingSystem::Linux | OperatingSystem::Windows => None,
    };
    let bundle = mcpb::make_bundle(release)?;
    let server = mcpb::make_registry_entry(release, &bundle)?;
    let mut packages = vec![
        tarball::make_archive(release)?,
        wheel::make_wheel(release, deployment_target.as_deref())?,
        npm::make_launcher(release)?,
        npm::make_platform_package(release)?,
        bundle,
        server,
    ];
    packages.extend(deb::make_package(release)?);
    packages.extend(container::make_root(release)?);
    if release.platform.system != OperatingSystem::Windows {
        packages.push(tarball::make_installer(release)?);
    }
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

fn parse_options(arguments: &[String]) -> Result<DistOptions> {
    let mut options = DistOptions::default();
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

fn rustc(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.current_dir(root);
    command
}

fn host_target(root: &Path) -> Result<String> {
    let about = workspace::output(rustc(root).arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc does not name its host")?.to_owned())
}

/// Returns the oldest macOS that rustc builds for, such as `11.0`.
fn deployment_target(root: &Path, platform: &ReleasePlatform) -> Result<String> {
    let arguments = ["--print", "deployment-target", "--target", platform.target];
    let printed = workspace::output(rustc(root).args(arguments))?;
    let version = printed.trim().rsplit('=').next().unwrap_or_default();
    Ok(version.to_owned())
}

/// Builds the program with the profile of releases. The target is always named, so that cargo
/// writes its own files to `target/<target>/dist` and not among the packages.
fn build_program(root: &Path, platform: &ReleasePlatform) -> Result<PathBuf> {
    let mut command = workspace::cargo(root);
    command.args(["build", "--locked", "--profile", "dist", "--package", "memoranda"]);
    command.args(["--features", "postgres"]);
    // `memoranda --version --json` prints the commit. An unpacked archive has no Git history.
    let mut git = Command::new("git");
    if let Ok(commit) = workspace::output(git.current_dir(root).args(["rev-parse", "HEAD"])) {
        command.env("MEMORANDA_COMMIT", commit.trim());
    }
    workspace::status(command.args(["--target", platform.target]))?;
    let folder = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| root.join("target"));
    Ok(folder.join(platform.target).join("dist").join(platform.program_name()))
}

fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::dist::release::VERSION;

    /// Fails if a file names another version than the workspace.
    #[test]
    fn versions_agree() {
        let root = workspace::root().unwrap();
        let mut checked = Vec::new();
        for file in workspace::text_files(&root).unwrap() {
            let is_package = file.path.starts_with("packages/")
                || file.path.starts_with(".claude-plugin/")
                || file.path.starts_with(".agents/");
            if !is_package {
                continue;
            }
            let versions = match file.extension() {
                "json" => json_versions(&serde_json::from_str(&file.text).unwrap()),
                "toml" => {
                    let table: toml::Table = file.text.parse().unwrap();
                    vec![table["project"]["version"].as_str().unwrap().to_owned()]
                }
                _ => continue,
            };
            assert!(versions.iter().all(|version| version == VERSION), "{}", file.path);
            if !versions.is_empty() {
                checked.push(file.path);
            }
        }
        for path in [
            "packages/gemini/gemini-extension.json",
            "packages/mcpb/manifest.json",
            "packages/npm/memoranda/package.json",
            "packages/plugin/.claude-plugin/plugin.json",
            "packages/plugin/.codex-plugin/plugin.json",
            "packages/python/pyproject.toml",
            "packages/server.json",
        ] {
            assert!(checked.iter().any(|checked| checked == path), "{path} names no version");
        }
    }

    /// Returns the version of a manifest, of the packages that it lists and of container images.
    fn json_versions(manifest: &Value) -> Vec<String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let mut versions: Vec<String> = text(&manifest["version"]).into_iter().collect();
        for package in manifest["packages"].as_array().into_iter().flatten() {
            let image = package["identifier"].as_str().and_then(|name| name.rsplit_once(':'));
            versions.extend(text(&package["version"]).or(image.map(|(_, tag)| tag.to_owned())));
        }
        versions
    }

    #[test]
    fn checksums_are_hexadecimal() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
    }

    #[test]
    fn an_unknown_platform_is_named_with_the_known_ones() {
        let error = ReleasePlatform::find("sparc-sun-solaris").unwrap_err().to_string();
        assert!(error.contains("sparc-sun-solaris") && error.contains("aarch64-apple-darwin"));
    }
}
