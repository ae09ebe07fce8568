//! Last visit of each client, by its name and repository. Visits are lines in a register of the vault
//! and not in its history, because they are not memories.

use jiff::Timestamp;
use memoranda_core::change::Commit;
use memoranda_store::{HistoryFilter, clock};
use serde_json::json;

use crate::error::Result;
use crate::{AgentIdentity, Memory};

/// Number of visits that are kept at least.
const MIN_KEPT: usize = 500;
/// Maximum number of commits that are read for the changes since a visit.
const MAX_COMMITS: usize = 50;

/// The way by which a client visits. A brief does not count as a call of a tool, because it is given
/// unasked and a model may not have read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VisitRegister {
    /// Calls of tools.
    Tools,
    /// Briefs of hooks.
    Briefs,
}

impl VisitRegister {
    fn name(self) -> &'static str {
        match self {
            Self::Tools => "visits",
            Self::Briefs => "brief-visits",
        }
    }
}

/// A client in a repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VisitingClient {
    /// Name of the client, without its version: `claude-code` for `Claude Code 2.1`.
    pub name: String,
    /// Name of the repository; `global` outside of repositories.
    pub repository: String,
    /// The way by which it visits.
    pub register: VisitRegister,
    /// False if somebody else looks at what the client would be given.
    pub is_recorded: bool,
}

impl VisitingClient {
    /// Builds a client from the name in a history, such as `claude-code 2.1`.
    pub fn new(client: &str, repository: &str, register: VisitRegister) -> Self {
        let name = AgentIdentity::of_client(client).key;
        Self { name, repository: repository.to_owned(), register, is_recorded: true }
    }

    /// Returns the client for a look that is not a visit.
    #[must_use]
    pub fn without_record(mut self) -> Self {
        self.is_recorded = false;
        self
    }
}

/// Changes since the last visit of a client.
#[derive(Clone, Debug)]
pub struct ChangesSinceVisit {
    /// Time of the last visit.
    pub since: Timestamp,
    /// Commits of other clients since then, the newest first.
    pub commits: Vec<Commit>,
}

impl Memory {
    /// Returns the changes that others made since the last visit of a client, and records this
    /// visit unless it is only a look. `None` on the first visit.
    pub fn visit(&self, client: &VisitingClient) -> Result<Option<ChangesSinceVisit>> {
        let since = self.last_visit(client)?;
        if client.is_recorded {
            let now = clock::now().to_string();
            let line = json!([client.name, client.repository, now]).to_string();
            self.store().leave_notice(client.register.name(), &line, MIN_KEPT)?;
        }
        let Some(since) = since else { return Ok(None) };
        let filter = HistoryFilter { since: Some(since), ..HistoryFilter::default() };
        let mut commits = self.log(&filter, MAX_COMMITS, 0)?;
        commits.retain(|commit| AgentIdentity::of_client(&commit.author.client).key != client.name);
        Ok(Some(ChangesSinceVisit { since, commits }))
    }

    /// Returns the time of the last visit of a client; `None` if it was never here.
    fn last_visit(&self, client: &VisitingClient) -> Result<Option<Timestamp>> {
        let lines = self.store().notices(client.register.name())?;
        let own = lines.iter().rev().find_map(|line| {
            let [name, repository, time]: [String; 3] = serde_json::from_str(line).ok()?;
            let is_own = name == client.name && repository == client.repository;
            time.parse().ok().filter(|_| is_own)
        });
        Ok(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_the_same_in_every_version() {
        for (client, expected) in [
            ("claude-code 2.1.197", "claude-code"),
            ("Claude Code 2.1", "claude-code"),
            ("Claude Code", "claude-code"),
            ("cursor", "cursor"),
        ] {
            let visitor = VisitingClient::new(client, "x", VisitRegister::Tools);
            assert_eq!(visitor.name, expected, "{client}");
        }
    }
}
