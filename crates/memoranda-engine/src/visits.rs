//! Visits of clients: when each was last here, by its name and repository. Kept in the state folder
//! of this device, because a visit says nothing about the memory.

use jiff::Timestamp;
use memoranda_core::change::Commit;
use memoranda_store::{HistoryFilter, clock};
use serde_json::json;

use crate::Memory;
use crate::error::Result;

/// Register of the visits.
const REGISTER: &str = "visits";
/// Number of visits that are kept at least.
const MIN_KEPT: usize = 500;
/// Maximum number of commits that are read for the changes since a visit.
const MAX_COMMITS: usize = 50;

/// A client in a repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VisitingClient {
    /// Name of the client, without its version.
    pub name: String,
    /// Name of the repository; `global` outside of repositories.
    pub repository: String,
}

impl VisitingClient {
    /// Builds a client from the name in a history, such as `claude-code 2.1`.
    pub fn new(client: &str, repository: &str) -> Self {
        let is_version = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let name = match client.rsplit_once(' ') {
            Some((name, version)) if is_version(version) => name,
            _ => client,
        };
        Self { name: name.to_owned(), repository: repository.to_owned() }
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
    /// visit. `None` on the first visit.
    pub fn visit(&self, client: &VisitingClient) -> Result<Option<ChangesSinceVisit>> {
        let since = self.last_visit(client)?;
        let line = json!([client.name, client.repository, clock::now().to_string()]).to_string();
        self.store().leave_notice(REGISTER, &line, MIN_KEPT)?;
        let Some(since) = since else { return Ok(None) };
        let filter = HistoryFilter { since: Some(since), ..HistoryFilter::default() };
        let mut commits = self.log(&filter, MAX_COMMITS, 0)?;
        commits.retain(|commit| VisitingClient::new(&commit.author.client, "").name != client.name);
        Ok(Some(ChangesSinceVisit { since, commits }))
    }

    /// Returns the time of the last visit of a client; `None` if it was never here.
    fn last_visit(&self, client: &VisitingClient) -> Result<Option<Timestamp>> {
        let lines = self.store().notices(REGISTER)?;
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
            ("Claude Code 2.1", "Claude Code"),
            ("Claude Code", "Claude Code"),
            ("cursor", "cursor"),
        ] {
            assert_eq!(VisitingClient::new(client, "x").name, expected, "{client}");
        }
    }
}
