//! Plans what set-up does to the files of one client.

use std::path::PathBuf;

use super::{
    BaseDirs, ClientFileChange, ClientSpec, EntryState, HookInstall, ServerProgram, SetupScope,
};
use crate::error::{ClientsError, Result};

/// Set-up of clients on this machine.
#[derive(Clone, Debug)]
pub struct ClientSetup {
    /// Folders of the clients' files.
    pub dirs: BaseDirs,
    /// Command that clients start.
    pub program: ServerProgram,
    /// Scope of the changed files.
    pub scope: SetupScope,
}

/// A change of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientAction {
    /// Adds the server.
    Connect,
    /// Adds the server and the hooks.
    ConnectWithHooks,
    /// Removes everything of Memoranda.
    Disconnect,
}

impl ClientAction {
    /// All actions.
    pub const ALL: [Self; 3] = [Self::Connect, Self::ConnectWithHooks, Self::Disconnect];

    /// Returns the name in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::ConnectWithHooks => "connect_with_hooks",
            Self::Disconnect => "disconnect",
        }
    }

    /// Finds an action by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// State of one client and its planned changes.
pub struct ClientPlan {
    /// The client.
    pub client: &'static ClientSpec,
    /// True if the client seems to be installed.
    pub found: bool,
    /// File with the client's servers; `None` if the scope has none.
    pub file: Option<PathBuf>,
    /// State of the server's entry; `None` if the file cannot be read.
    pub server: Option<EntryState>,
    /// State of the hooks; `None` if the client has no hooks or its file cannot be read.
    pub hooks: Option<EntryState>,
    /// True if the hooks take part in the change.
    pub with: HookInstall,
    /// The planned changes; empty if nothing is to do.
    pub changes: Vec<ClientFileChange>,
    /// Reason why the files cannot be changed.
    pub problem: Option<ClientsError>,
}

impl ClientSetup {
    /// Plans an action on the files of a client.
    pub fn plan(&self, client: &'static ClientSpec, action: ClientAction) -> ClientPlan {
        let mut plan = ClientPlan {
            client,
            found: client.is_here(&self.dirs),
            file: client.file(&self.dirs, self.scope),
            server: None,
            hooks: None,
            with: HookInstall::Without,
            changes: Vec::new(),
            problem: None,
        };
        let planned = if plan.file.is_none() {
            Err(ClientsError::NoProjectFile { name: client.name, title: client.title })
        } else {
            self.fill_plan(&mut plan, action)
        };
        plan.problem = planned.err();
        plan
    }

    fn fill_plan(&self, plan: &mut ClientPlan, action: ClientAction) -> Result<()> {
        let Self { dirs, program, scope } = self;
        let client = plan.client;
        for target in client.targets(dirs, *scope, HookInstall::With, program) {
            let (server, hooks) = target.apart();
            if let Some(server) = server {
                plan.server = Some(server.state(dirs)?);
            }
            if let Some(hooks) = hooks {
                plan.hooks = Some(hooks.state(dirs)?);
            }
        }
        // Installed hooks are updated, and removed with the rest.
        let has_hooks = plan.hooks.is_some_and(|state| state != EntryState::Absent);
        if action != ClientAction::Connect || has_hooks {
            plan.with = HookInstall::With;
        }
        if let (Some(address), true) = (&program.address, action != ClientAction::Disconnect) {
            address.check(client, *scope, plan.with)?;
        }
        for target in client.targets(dirs, *scope, plan.with, program) {
            plan.changes.extend(match action {
                ClientAction::Disconnect => target.disconnect(dirs)?,
                ClientAction::Connect | ClientAction::ConnectWithHooks => target.connect(dirs)?,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_have_names() {
        for action in ClientAction::ALL {
            assert_eq!(ClientAction::parse(action.as_str()), Some(action));
        }
        assert_eq!(ClientAction::parse("add"), None);
    }
}
