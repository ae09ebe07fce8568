//! Connects clients: finds their files and edits Memoranda's entries without changing other bytes.

mod change;
mod check;
mod clients;
mod created_dirs;
mod entries;
mod format;
mod hooks;
mod json;
mod locations;
mod plan;
mod review;
mod server_address;
mod temporary_install;
mod toml;
mod yaml;

use std::path::{Path, PathBuf};

pub use change::ClientFileChange;
pub use check::{EntryFinding, EntryPart, InstalledEntry, check};
pub use clients::{CLIENTS, ClientSpec, ToolChoice, client};
pub use entries::EntryState;
pub use format::ConfigSyntaxError;
pub use locations::{BaseDirs, find_program};
pub use plan::{ClientAction, ClientPlan, ClientSetup};
pub use review::{ClientChange, ClientFileDiff, ClientReview};
pub use server_address::{ServerAddress, ServerToken};
pub use temporary_install::{PackageRunner, find_runner};

use crate::error::Result;
use change::ClientFile;
use entries::{ConfigEntry, NAME};

/// Scope of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetupScope {
    /// For you, in every project.
    User,
    /// For everybody who works in this folder.
    Project,
}

impl SetupScope {
    /// All scopes.
    pub const ALL: [Self; 2] = [Self::User, Self::Project];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }

    /// Returns a description for people.
    pub fn summary(self) -> &'static str {
        match self {
            Self::User => "For you, in every project",
            Self::Project => "For everybody who works in this folder",
        }
    }
}

/// Decision on installing hooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookInstall {
    /// With hooks.
    With,
    /// Only the server.
    Without,
}

/// Command that starts the server, or the address of a server.
#[derive(Clone, Debug)]
pub struct ServerProgram {
    /// Path of the program.
    pub path: String,
    /// Global flags, such as the vault's folder.
    pub flags: Vec<String>,
    /// Requested tools; `None` for those that fit the client.
    pub tools: Option<RequestedTools>,
    /// Server that clients call; `None` if they start the program.
    pub address: Option<ServerAddress>,
}

/// Tools that the person chose for a client.
#[derive(Clone, Debug, Default)]
pub struct RequestedTools {
    /// Names of toolsets.
    pub toolsets: Vec<String>,
    /// Names of single tools.
    pub tools: Vec<String>,
}

impl RequestedTools {
    /// Splits a list with commas into toolsets and tools. A name of neither counts as a toolset, and
    /// is rejected as one.
    pub fn parse(text: &str) -> Self {
        let names =
            text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        let (tools, toolsets) = names.partition(|name| memoranda_tools::tool(name).is_some());
        Self { toolsets, tools }
    }

    /// Returns the flags of the server that select these tools.
    fn flags(&self) -> Vec<String> {
        let lists = [("--toolsets", &self.toolsets), ("--tools", &self.tools)];
        let given = lists.into_iter().filter(|(_, names)| !names.is_empty());
        given.flat_map(|(flag, names)| [flag.to_owned(), names.join(",")]).collect()
    }
}

impl ServerProgram {
    fn server_args(&self, client: &ClientSpec) -> Vec<String> {
        let mut args = vec!["mcp".to_owned()];
        args.extend(self.flags.iter().cloned());
        match &self.tools {
            Some(tools) => args.extend(tools.flags()),
            None => args.extend(client.tools.flags().iter().map(|flag| (*flag).to_owned())),
        }
        args
    }

    /// Returns the entry of the server in a client's file; `None` if the client takes no addresses.
    fn entry(&self, client: &ClientSpec) -> Option<serde_json::Value> {
        match &self.address {
            Some(address) => address.entry(client, self.tools.as_ref()),
            None => Some(client.shape.entry(&self.path, &self.server_args(client))),
        }
    }

    /// Returns the flags of hooks.
    fn hook_flags(&self) -> Vec<String> {
        self.address.as_ref().map_or_else(|| self.flags.clone(), ServerAddress::hook_flags)
    }
}

impl ClientSpec {
    /// Returns true if the client seems to be installed.
    pub(crate) fn is_here(&self, dirs: &BaseDirs) -> bool {
        self.signs.iter().any(|sign| dirs.path(*sign).exists())
            || self.program.is_some_and(|program| dirs.find_program(program).is_some())
    }

    /// Returns the file with its servers; `None` if the scope has none.
    pub fn file(&self, dirs: &BaseDirs, scope: SetupScope) -> Option<PathBuf> {
        match scope {
            SetupScope::Project => self.project.map(|place| dirs.path(place)),
            SetupScope::User => {
                let paths: Vec<_> = self.user.iter().map(|place| dirs.path(*place)).collect();
                let existing = paths.iter().find(|path| path.exists());
                let homely = || paths.iter().find(|path| path.parent().is_some_and(Path::exists));
                existing.or_else(homely).or(paths.first()).cloned()
            }
        }
    }

    /// Returns the file with its hooks; `None` if the client has no hooks.
    pub(crate) fn hooks_file(&self, dirs: &BaseDirs, scope: SetupScope) -> Option<PathBuf> {
        let entries = hooks::hook_spec(self.hooks?);
        Some(dirs.path(match scope {
            SetupScope::User => entries.user,
            SetupScope::Project => entries.project,
        }))
    }

    /// Returns the files with its hooks and their format.
    pub(crate) fn hook_files(
        &self,
        dirs: &BaseDirs,
        scope: SetupScope,
    ) -> Vec<(PathBuf, format::ConfigFormat)> {
        let (Some(client), Some(file)) = (self.hooks, self.hooks_file(dirs, scope)) else {
            return Vec::new();
        };
        let spec = hooks::hook_spec(client);
        if !spec.has_scripts() {
            return vec![(file, format::ConfigFormat::Json)];
        }
        let scripts = spec.scripts(client, &file, "", &[]).into_iter();
        scripts.map(|(path, _)| (path, format::ConfigFormat::Script)).collect()
    }

    /// Returns the step that the user must do before hooks run.
    pub fn after_hooks(&self) -> Option<&'static str> {
        hooks::hook_spec(self.hooks?).after
    }

    /// Returns the files to change with their entries.
    pub(crate) fn targets(
        &self,
        dirs: &BaseDirs,
        scope: SetupScope,
        with: HookInstall,
        program: &ServerProgram,
    ) -> Vec<ClientFile> {
        let (Some(path), Some(entry)) = (self.file(dirs, scope), program.entry(self)) else {
            return Vec::new();
        };
        let hook_flags = program.hook_flags();
        let server = ConfigEntry::Server { container: self.container, entry };
        let mut targets = vec![ClientFile { path, format: self.format, entries: vec![server] }];
        let (Some(client), Some(path), HookInstall::With) =
            (self.hooks, self.hooks_file(dirs, scope), with)
        else {
            return targets;
        };
        let entries = hooks::hook_spec(client);
        let scripts = entries.scripts(client, &path, &program.path, &hook_flags);
        targets.extend(scripts.into_iter().map(|(path, text)| ClientFile {
            path,
            format: format::ConfigFormat::Script,
            entries: vec![ConfigEntry::Script { text }],
        }));
        if entries.has_scripts() {
            return targets;
        }
        let mut ours = Vec::new();
        if entries.has_version() {
            ours.push(ConfigEntry::Version);
        }
        let entries = entries.entries(client, &program.path, &hook_flags);
        ours.extend(entries.into_iter().map(|(event, entry)| ConfigEntry::Hook { event, entry }));
        match targets.iter_mut().find(|target| target.path == path) {
            Some(target) => target.entries.extend(ours),
            None => {
                targets.push(ClientFile { path, format: format::ConfigFormat::Json, entries: ours })
            }
        }
        targets
    }

    /// Returns a snippet to paste into the file.
    pub fn snippet(&self, program: &ServerProgram, scope: SetupScope) -> Result<String> {
        if let Some(address) = &program.address {
            address.check(self, scope, HookInstall::Without)?;
        }
        let entry = program.entry(self).unwrap_or_default();
        Ok(self.format.snippet(&[self.container, NAME], &entry))
    }
}
