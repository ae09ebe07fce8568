//! The Python wheel: the program as a script of the environment, and the package `memoranda`.

use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::PackageFile;
use super::archive::{ArchiveEntry, zip};
use super::elf::ElfRequirements;
use super::platform::{OperatingSystem, ReleasePlatform};
use super::release::{ReleaseBuild, VERSION};
use super::third_party;
use crate::Result;

/// Folder of the package's sources.
const SOURCES: &str = "packages/python";

/// Libraries that every glibc system has, as the manylinux standard lists them. The loader is one of them.
const MANYLINUX_LIBRARIES: [&str; 7] = [
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "librt.so.1",
    "libpthread.so.0",
    "libgcc_s.so.1",
    "ld-linux",
];

/// Tags of a program without libraries. The oldest systems that pip itself knows accept them.
const STATIC_TAGS: [&str; 2] = ["manylinux_2_17", "musllinux_1_1"];

/// Returns the wheel. `deployment_target` is the oldest macOS that the program runs on.
pub(super) fn make_wheel(
    release: &ReleaseBuild,
    deployment_target: Option<&str>,
) -> Result<PackageFile> {
    let version = python_version(VERSION)?;
    let tags = platform_tags(release.platform, release.requirements.as_ref(), deployment_target)?;
    let project: toml::Table = release.source(&format!("{SOURCES}/pyproject.toml"))?.parse()?;
    let project = project.get("project").ok_or("pyproject.toml has no table [project]")?;
    let readme = release.source(&format!("{SOURCES}/README.md"))?;
    let (data, info) =
        (format!("memoranda-{version}.data"), format!("memoranda-{version}.dist-info"));

    let program = format!("{data}/scripts/{}", release.platform.program_name());
    let mut entries = vec![ArchiveEntry::program(program, Rc::clone(&release.program))];
    entries.extend(release.folder(&format!("{SOURCES}/src/memoranda"), "memoranda/")?);
    if release.platform.system != OperatingSystem::Windows {
        entries.extend(release.shared_files(&format!("{data}/data/share/")));
    }
    entries.extend(release.program_licences(&format!("{info}/licenses/"))?);
    let metadata = metadata_file(project, &version, &readme)?;
    entries.push(ArchiveEntry::file(format!("{info}/METADATA"), metadata.into_bytes()));
    let wheel = wheel_file(&tags);
    entries.push(ArchiveEntry::file(format!("{info}/WHEEL"), wheel.into_bytes()));
    let record = record_file(&entries, &format!("{info}/RECORD"));
    entries.push(ArchiveEntry::file(format!("{info}/RECORD"), record.into_bytes()));

    let name = format!("memoranda-{version}-py3-none-{}.whl", tags.join("."));
    Ok(PackageFile { name, contents: zip(&entries)? })
}

/// Returns the tags of the systems that the program runs on.
fn platform_tags(
    platform: &ReleasePlatform,
    requirements: Option<&ElfRequirements>,
    deployment_target: Option<&str>,
) -> Result<Vec<String>> {
    let machine = platform.wheel_machine;
    match (platform.system, requirements) {
        (OperatingSystem::Windows, _) => Ok(vec![format!("win_{machine}")]),
        (OperatingSystem::MacOs, _) => {
            let oldest = deployment_target.ok_or("the oldest macOS is unknown")?;
            Ok(vec![format!("macosx_{}_{machine}", oldest.replace('.', "_"))])
        }
        (OperatingSystem::Linux, None) => Err("the program's requirements are unknown".into()),
        (OperatingSystem::Linux, Some(needed)) if needed.is_static() => {
            Ok(STATIC_TAGS.iter().map(|tag| format!("{tag}_{machine}")).collect())
        }
        (OperatingSystem::Linux, Some(needed)) => {
            let is_common =
                |library: &str| MANYLINUX_LIBRARIES.iter().any(|&known| library.starts_with(known));
            if let Some(library) = needed.libraries.iter().find(|library| !is_common(library)) {
                return Err(
                    format!("a wheel cannot rely on {library}, which the program needs").into()
                );
            }
            let glibc = needed.minimum_version("GLIBC_");
            let (major, minor) = glibc.ok_or("the program needs libraries, but no glibc")?;
            Ok(vec![format!("manylinux_{major}_{minor}_{machine}")])
        }
    }
}

/// Writes a version as Python does: `1.0.0-rc.1` becomes `1.0.0rc1`.
fn python_version(version: &str) -> Result<String> {
    let Some((release, pre)) = version.split_once('-') else {
        return Ok(version.to_owned());
    };
    let names = [("alpha", "a"), ("beta", "b"), ("rc", "rc")];
    let found = names.iter().find_map(|(name, short)| {
        let number = pre.strip_prefix(name)?.trim_start_matches('.');
        let number: u32 = if number.is_empty() { 0 } else { number.parse().ok()? };
        Some(format!("{release}{short}{number}"))
    });
    Ok(found.ok_or_else(|| format!("Python knows no version like {version}"))?)
}

fn metadata_file(project: &toml::Value, version: &str, readme: &str) -> Result<String> {
    let text = |key: &str| -> Result<&str> {
        let value = project.get(key).and_then(toml::Value::as_str);
        Ok(value.ok_or_else(|| format!("pyproject.toml has no `{key}`"))?)
    };
    let list = |key: &str| -> Vec<&str> {
        let values = project.get(key).and_then(toml::Value::as_array);
        values.into_iter().flatten().filter_map(toml::Value::as_str).collect()
    };
    let mut lines = vec![
        "Metadata-Version: 2.4".to_owned(),
        format!("Name: {}", text("name")?),
        format!("Version: {version}"),
        format!("Summary: {}", text("description")?),
        format!("Keywords: {}", list("keywords").join(",")),
        format!("License-Expression: {}", text("license")?),
        "License-File: LICENSE-APACHE".to_owned(),
        "License-File: LICENSE-MIT".to_owned(),
        format!("License-File: {}", third_party::FILE_NAME),
        format!("Requires-Python: {}", text("requires-python")?),
        "Description-Content-Type: text/markdown".to_owned(),
    ];
    lines.extend(list("classifiers").iter().map(|classifier| format!("Classifier: {classifier}")));
    lines.extend(list("dependencies").iter().map(|needed| format!("Requires-Dist: {needed}")));
    let extras = project.get("optional-dependencies").and_then(toml::Value::as_table);
    for (extra, needed) in extras.into_iter().flatten() {
        lines.push(format!("Provides-Extra: {extra}"));
        let needed = needed.as_array().into_iter().flatten().filter_map(toml::Value::as_str);
        lines
            .extend(needed.map(|needed| format!("Requires-Dist: {needed} ; extra == \"{extra}\"")));
    }
    let urls = project.get("urls").and_then(toml::Value::as_table);
    for (label, url) in urls.into_iter().flatten() {
        lines.push(format!("Project-URL: {label}, {}", url.as_str().unwrap_or_default()));
    }
    Ok(format!("{}\n\n{readme}", lines.join("\n")))
}

fn wheel_file(tags: &[String]) -> String {
    let tags: String = tags.iter().map(|tag| format!("Tag: py3-none-{tag}\n")).collect();
    format!("Wheel-Version: 1.0\nGenerator: xtask {VERSION}\nRoot-Is-Purelib: false\n{tags}")
}

/// Returns the list of files with checksums, which names itself without one.
fn record_file(entries: &[ArchiveEntry], own_path: &str) -> String {
    let mut lines: Vec<_> = entries
        .iter()
        .map(|entry| {
            let contents = entry.contents.as_deref().unwrap_or_default();
            let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(contents));
            format!("{},sha256={digest},{}\n", entry.path, contents.len())
        })
        .collect();
    lines.sort();
    lines.push(format!("{own_path},,\n"));
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_name_the_oldest_system() {
        let check = |target: &str, libraries: &[&str], versions: &[&str], expected: &[&str]| {
            let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let needed = ElfRequirements {
                interpreter: None,
                libraries: texts(libraries),
                versions: texts(versions),
            };
            let platform = ReleasePlatform::find(target).unwrap();
            assert_eq!(platform_tags(platform, Some(&needed), Some("11.0")).unwrap(), expected);
        };
        let libraries = ["libc.so.6", "ld-linux-x86-64.so.2", "libgcc_s.so.1"];
        let versions = ["GLIBC_2.17", "GLIBC_2.34"];
        check("x86_64-unknown-linux-gnu", &libraries, &versions, &["manylinux_2_34_x86_64"]);
        let tags = ["manylinux_2_17_aarch64", "musllinux_1_1_aarch64"];
        check("aarch64-unknown-linux-musl", &[], &[], &tags);
        check("aarch64-apple-darwin", &[], &[], &["macosx_11_0_arm64"]);
        check("x86_64-pc-windows-msvc", &[], &[], &["win_amd64"]);
    }

    #[test]
    fn a_library_that_is_not_everywhere_is_an_error() {
        let needed = ElfRequirements {
            interpreter: None,
            libraries: vec!["libc.so.6".to_owned(), "libssl.so.3".to_owned()],
            versions: vec!["GLIBC_2.17".to_owned()],
        };
        let platform = ReleasePlatform::find("x86_64-unknown-linux-gnu").unwrap();
        let error = platform_tags(platform, Some(&needed), None).unwrap_err().to_string();
        assert!(error.contains("libssl.so.3"), "{error}");
    }

    #[test]
    fn versions_are_written_as_python_does() {
        assert_eq!(python_version("1.2.3").unwrap(), "1.2.3");
        assert_eq!(python_version("1.2.3-rc.4").unwrap(), "1.2.3rc4");
        assert_eq!(python_version("1.2.3-beta").unwrap(), "1.2.3b0");
        assert!(python_version("1.2.3-nightly.1").is_err());
    }

    #[test]
    fn the_record_names_every_file() {
        let record = record_file(&[ArchiveEntry::file("a", *b"")], "RECORD");
        let empty = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";
        assert_eq!(record, format!("a,sha256={empty},0\nRECORD,,\n"));
    }
}
