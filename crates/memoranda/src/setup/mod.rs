//! Connecting clients: which there are, where their files lie, and edits of those files that leave
//! every byte alone that is not ours.

mod change;
mod check;
mod clients;
mod created_dirs;
mod entries;
mod format;
mod hooks;
mod json;
mod locations;
mod temporary_install;
mod toml;
mod yaml;

use std::path::{Path, PathBuf};

use clap::ValueEnum;

pub(crate) use change::{ClientFile, ClientFileChange};
pub(crate) use check::{EntryFinding, EntryPart, InstalledEntry, check};
pub(crate) use clients::{CLIENTS, ClientSpec, client};
pub(crate) use entries::{EntryState, NAME};
pub(crate) use locations::BaseDirs;
pub(crate) use temporary_install::find_runner;

use entries::ConfigEntry;

/// For whom a client is connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum SetupScope {
    /// For you, in every project.
    User,
    /// For everybody who works in this folder.
    Project,
}

/// Whether hooks are meant too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HookInstall {
    /// They are.
    With,
    /// Only the server.
    Without,
}

/// How our program is started.
#[derive(Clone, Debug)]
pub(crate) struct ServerProgram {
    /// The program.
    pub(crate) path: String,
    /// Flags of every command, such as the vault's folder.
    pub(crate) flags: Vec<String>,
    /// The sets of tools, if the person named some.
    pub(crate) toolsets: Option<String>,
}

impl ServerProgram {
    fn server_args(&self, client: &ClientSpec) -> Vec<String> {
        let mut args = vec!["mcp".to_owned()];
        args.extend(self.flags.iter().cloned());
        match &self.toolsets {
            Some(sets) => args.extend(["--toolsets".to_owned(), sets.clone()]),
            None => args.extend(client.tools.flags().iter().map(|flag| (*flag).to_owned())),
        }
        args
    }
}

impl ClientSpec {
    /// Whether it seems to be used on this machine.
    pub(crate) fn is_here(&self, dirs: &BaseDirs) -> bool {
        self.signs.iter().any(|sign| dirs.path(*sign).exists())
            || self.program.is_some_and(|program| crate::env::find_program(program).is_some())
    }

    /// The file that its servers stand in; `None` if it has none of that scope.
    pub(crate) fn file(&self, dirs: &BaseDirs, scope: SetupScope) -> Option<PathBuf> {
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

    /// The file that its hooks stand in, if it has hooks.
    pub(crate) fn hooks_file(&self, dirs: &BaseDirs, scope: SetupScope) -> Option<PathBuf> {
        let entries = hooks::hook_spec(self.hooks?);
        Some(dirs.path(match scope {
            SetupScope::User => entries.user,
            SetupScope::Project => entries.project,
        }))
    }

    /// What the person has to do before its hooks run, if anything.
    pub(crate) fn after_hooks(&self) -> Option<&'static str> {
        hooks::hook_spec(self.hooks?).after
    }

    /// Every file to be changed, and what is ours in each.
    pub(crate) fn targets(
        &self,
        dirs: &BaseDirs,
        scope: SetupScope,
        with: HookInstall,
        program: &ServerProgram,
    ) -> Vec<ClientFile> {
        let Some(path) = self.file(dirs, scope) else { return Vec::new() };
        let entry = self.shape.entry(&program.path, &program.server_args(self));
        let server = ConfigEntry::Server { container: self.container, entry };
        let mut targets = vec![ClientFile { path, format: self.format, entries: vec![server] }];
        let (Some(client), Some(path), HookInstall::With) =
            (self.hooks, self.hooks_file(dirs, scope), with)
        else {
            return targets;
        };
        let entries = hooks::hook_spec(client);
        let mut ours = Vec::new();
        if entries.has_version() {
            ours.push(ConfigEntry::Version);
        }
        let entries = entries.entries(client, &program.path, &program.flags);
        ours.extend(entries.into_iter().map(|(event, entry)| ConfigEntry::Hook { event, entry }));
        match targets.iter_mut().find(|target| target.path == path) {
            Some(target) => target.entries.extend(ours),
            None => {
                targets.push(ClientFile { path, format: format::ConfigFormat::Json, entries: ours })
            }
        }
        targets
    }

    /// What a person would paste into the file.
    pub(crate) fn snippet(&self, program: &ServerProgram) -> String {
        let entry = self.shape.entry(&program.path, &program.server_args(self));
        self.format.snippet(&[self.container, NAME], &entry)
    }
}
