//! The platforms that packages exist for, with the name that each package format has for them.

use crate::Result;

/// A platform, known to each package format by another name.
#[derive(Debug)]
pub(super) struct ReleasePlatform {
    /// Rust's name.
    pub(super) target: &'static str,
    pub(super) system: OperatingSystem,
    /// Node's name of the processor.
    pub(super) npm_cpu: &'static str,
    /// Python's name of the processor.
    pub(super) wheel_machine: &'static str,
    /// Debian's name of the processor; `None` if there is no such port.
    pub(super) deb_architecture: Option<&'static str>,
}

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperatingSystem {
    Linux,
    MacOs,
    Windows,
}

impl OperatingSystem {
    /// Node's name, which Desktop bundles use too.
    pub(super) fn npm_name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::MacOs => "darwin",
            Self::Windows => "win32",
        }
    }
}

impl ReleasePlatform {
    /// Finds a platform by Rust's name of it.
    pub(super) fn find(target: &str) -> Result<&'static Self> {
        PLATFORMS.iter().find(|platform| platform.target == target).ok_or_else(|| {
            let names: Vec<_> = PLATFORMS.iter().map(|platform| platform.target).collect();
            format!("there are no packages for {target}, only for {}", names.join(", ")).into()
        })
    }

    /// File name of the program.
    pub(super) fn program_name(&self) -> &'static str {
        match self.system {
            OperatingSystem::Windows => "memoranda.exe",
            OperatingSystem::Linux | OperatingSystem::MacOs => "memoranda",
        }
    }

    /// Name of the npm package that contains the program, without the scope.
    pub(super) fn npm_name(&self) -> String {
        format!("{}-{}", self.system.npm_name(), self.npm_cpu)
    }
}

/// Every platform.
pub(super) const PLATFORMS: &[ReleasePlatform] = &[
    linux("x86_64-unknown-linux-gnu", "x64", "x86_64", "amd64"),
    linux("x86_64-unknown-linux-musl", "x64", "x86_64", "amd64"),
    linux("aarch64-unknown-linux-gnu", "arm64", "aarch64", "arm64"),
    linux("aarch64-unknown-linux-musl", "arm64", "aarch64", "arm64"),
    other("x86_64-apple-darwin", OperatingSystem::MacOs, "x64", "x86_64"),
    other("aarch64-apple-darwin", OperatingSystem::MacOs, "arm64", "arm64"),
    other("x86_64-pc-windows-msvc", OperatingSystem::Windows, "x64", "amd64"),
];

const fn linux(
    target: &'static str,
    npm_cpu: &'static str,
    wheel_machine: &'static str,
    architecture: &'static str,
) -> ReleasePlatform {
    let system = OperatingSystem::Linux;
    ReleasePlatform { target, system, npm_cpu, wheel_machine, deb_architecture: Some(architecture) }
}

const fn other(
    target: &'static str,
    system: OperatingSystem,
    npm_cpu: &'static str,
    wheel_machine: &'static str,
) -> ReleasePlatform {
    ReleasePlatform { target, system, npm_cpu, wheel_machine, deb_architecture: None }
}
