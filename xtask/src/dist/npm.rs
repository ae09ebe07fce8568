//! The npm packages: a launcher for everybody, and the program in one package per platform.

use std::rc::Rc;

use serde_json::{Value, json};

use super::PackageFile;
use super::archive::{ArchiveEntry, tar_gz};
use super::elf::ElfRequirements;
use super::platform::ReleasePlatform;
use super::release::{ReleaseBuild, VERSION};
use super::third_party;
use crate::Result;

/// Folder of the launcher's sources.
const LAUNCHER: &str = "packages/npm/memoranda";

/// Returns the package `memoranda`, which starts the program of the platform's package.
pub(super) fn make_launcher(release: &ReleaseBuild) -> Result<PackageFile> {
    let mut entries = release.folder(LAUNCHER, "")?;
    for entry in &mut entries {
        if entry.path.starts_with("bin/") {
            entry.mode = 0o755;
        }
    }
    entries.extend(release.licences("")?);
    let contents = tar_gz("package/", &entries)?;
    Ok(PackageFile { name: format!("memoranda-{VERSION}.tgz"), contents })
}

/// Returns the package that contains the program for one platform.
pub(super) fn make_platform_package(release: &ReleaseBuild) -> Result<PackageFile> {
    let platform = release.platform;
    let launcher: Value =
        serde_json::from_str(&release.source(&format!("{LAUNCHER}/package.json"))?)?;
    let is_static = release.requirements.as_ref().is_none_or(ElfRequirements::is_static);
    let manifest = platform_manifest(&launcher, platform, is_static);
    let manifest = serde_json::to_string_pretty(&manifest)? + "\n";
    let program = format!("bin/{}", platform.program_name());
    let readme = format!(
        "# @memoranda/{}\n\nThe program of [memoranda](https://www.npmjs.com/package/memoranda) for \
         one platform. Install `memoranda`, which depends on it.\n",
        platform.npm_name()
    );
    let mut entries = vec![
        ArchiveEntry::file("package.json", manifest.into_bytes()),
        ArchiveEntry::file("README.md", readme.into_bytes()),
        ArchiveEntry::program(program, Rc::clone(&release.program)),
    ];
    entries.extend(release.program_licences("")?);
    let contents = tar_gz("package/", &entries)?;
    Ok(PackageFile { name: format!("memoranda-{}-{VERSION}.tgz", platform.npm_name()), contents })
}

fn platform_manifest(launcher: &Value, platform: &ReleasePlatform, is_static: bool) -> Value {
    let mut manifest = json!({
        "name": format!("@memoranda/{}", platform.npm_name()),
        "version": VERSION,
        "description": format!("The program of memoranda for {}", platform.npm_name()),
        "homepage": launcher["homepage"],
        "repository": launcher["repository"],
        "license": launcher["license"],
        "os": [platform.system.npm_name()],
        "cpu": [platform.npm_cpu],
        "files": ["bin", "LICENSE-APACHE", "LICENSE-MIT", third_party::FILE_NAME],
        // Yarn must unpack a program to run it.
        "preferUnplugged": true,
    });
    if !is_static {
        manifest["libc"] = json!(["glibc"]);
    }
    manifest
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::dist::platform::PLATFORMS;
    use crate::workspace;

    fn launcher() -> Value {
        let path = workspace::root().unwrap().join(LAUNCHER).join("package.json");
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// Fails if a platform or a version is changed in one place only.
    #[test]
    fn the_launcher_depends_on_every_platform() {
        let launcher = launcher();
        let dependencies = launcher["optionalDependencies"].as_object().unwrap();
        let named: BTreeSet<_> = dependencies.keys().cloned().collect();
        let known: BTreeSet<_> = PLATFORMS
            .iter()
            .map(|platform| format!("@memoranda/{}", platform.npm_name()))
            .collect();
        assert_eq!(named, known);
        assert!(dependencies.values().all(|version| version == VERSION), "{dependencies:?}");
    }

    #[test]
    fn a_dynamic_program_is_for_glibc_only() {
        let platform = ReleasePlatform::find("x86_64-unknown-linux-gnu").unwrap();
        let manifest = platform_manifest(&launcher(), platform, false);
        assert_eq!(manifest["name"], "@memoranda/linux-x64");
        assert_eq!(manifest["os"], json!(["linux"]));
        assert_eq!(manifest["libc"], json!(["glibc"]));
        assert_eq!(platform_manifest(&launcher(), platform, true)["libc"], Value::Null);
    }
}
