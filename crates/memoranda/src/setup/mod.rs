//! Connecting clients: which there are, where their files lie, and edits of those files that leave
//! every byte alone that is not ours.

mod change;
mod check;
mod clients;
mod format;
mod hooks;
mod json;
mod made;
mod place;
mod temporary_install;
mod toml;
mod wiring;
mod yaml;

use std::path::{Path, PathBuf};

use clap::ValueEnum;

pub(crate) use change::{Change, Target};
pub(crate) use check::{Finding, Part, Wired, check};
pub(crate) use clients::{CLIENTS, Client, client};
pub(crate) use place::Bases;
pub(crate) use temporary_install::find_runner;
pub(crate) use wiring::{NAME, State};

use wiring::Wire;

/// For whom a client is connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Scope {
    /// For you, in every project.
    User,
    /// For everybody who works in this folder.
    Project,
}

/// Whether hooks are meant too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hooks {
    /// They are.
    With,
    /// Only the server.
    Without,
}

/// How our program is started.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The program.
    pub(crate) path: String,
    /// Flags of every command, such as the vault's folder.
    pub(crate) flags: Vec<String>,
    /// The sets of tools, if the person named some.
    pub(crate) toolsets: Option<String>,
}

impl Program {
    fn server_args(&self, client: &Client) -> Vec<String> {
        let mut args = vec!["mcp".to_owned()];
        args.extend(self.flags.iter().cloned());
        match &self.toolsets {
            Some(sets) => args.extend(["--toolsets".to_owned(), sets.clone()]),
            None => args.extend(client.tools.flags().iter().map(|flag| (*flag).to_owned())),
        }
        args
    }
}

impl Client {
    /// Whether it seems to be used on this machine.
    pub(crate) fn is_here(&self, bases: &Bases) -> bool {
        self.signs.iter().any(|sign| bases.path(*sign).exists())
            || self.program.is_some_and(|program| crate::env::find_program(program).is_some())
    }

    /// The file that its servers stand in; `None` if it has none of that scope.
    pub(crate) fn file(&self, bases: &Bases, scope: Scope) -> Option<PathBuf> {
        match scope {
            Scope::Project => self.project.map(|place| bases.path(place)),
            Scope::User => {
                let paths: Vec<_> = self.user.iter().map(|place| bases.path(*place)).collect();
                let existing = paths.iter().find(|path| path.exists());
                let homely = || paths.iter().find(|path| path.parent().is_some_and(Path::exists));
                existing.or_else(homely).or(paths.first()).cloned()
            }
        }
    }

    /// The file that its hooks stand in, if it has hooks.
    pub(crate) fn hooks_file(&self, bases: &Bases, scope: Scope) -> Option<PathBuf> {
        let wires = hooks::wires(self.hooks?);
        Some(bases.path(match scope {
            Scope::User => wires.user,
            Scope::Project => wires.project,
        }))
    }

    /// What the person has to do before its hooks run, if anything.
    pub(crate) fn after_hooks(&self) -> Option<&'static str> {
        hooks::wires(self.hooks?).after
    }

    /// Every file to be changed, and what is ours in each.
    pub(crate) fn targets(
        &self,
        bases: &Bases,
        scope: Scope,
        with: Hooks,
        program: &Program,
    ) -> Vec<Target> {
        let Some(path) = self.file(bases, scope) else { return Vec::new() };
        let entry = self.shape.entry(&program.path, &program.server_args(self));
        let server = Wire::Server { container: self.container, entry };
        let mut targets = vec![Target { path, format: self.format, wires: vec![server] }];
        let (Some(harness), Some(path), Hooks::With) =
            (self.hooks, self.hooks_file(bases, scope), with)
        else {
            return targets;
        };
        let wires = hooks::wires(harness);
        let mut ours = Vec::new();
        if wires.has_version() {
            ours.push(Wire::Version);
        }
        let entries = wires.entries(harness, &program.path, &program.flags);
        ours.extend(entries.into_iter().map(|(event, entry)| Wire::Hook { event, entry }));
        match targets.iter_mut().find(|target| target.path == path) {
            Some(target) => target.wires.extend(ours),
            None => targets.push(Target { path, format: format::Format::Json, wires: ours }),
        }
        targets
    }

    /// What a person would paste into the file.
    pub(crate) fn snippet(&self, program: &Program) -> String {
        let entry = self.shape.entry(&program.path, &program.server_args(self));
        self.format.snippet(&[self.container, NAME], &entry)
    }
}
