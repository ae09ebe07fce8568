//! Conversations: the commits that belong together, by the id that the client sent, or else as runs
//! of commits of one client without a long pause.
//!
//! Commits without the id of a conversation belong together if they come from one client on one
//! channel with at most half an hour between neighbours.

use std::collections::HashMap;

use jiff::Timestamp;
use memoranda_core::change::Commit;
use memoranda_core::id::CommitId;
use memoranda_store::HistoryFilter;

use crate::Memory;
use crate::error::Result;
use crate::history::agent::AgentIdentity;

/// Maximum pause within a conversation, in seconds.
const MAX_PAUSE_SECONDS: i64 = 30 * 60;
/// Maximum number of commits of a conversation.
const MAX_COMMITS: usize = 2_000;
/// Number of commits that are read at a time.
const PAGE_SIZE: usize = 100;

/// The commits of one conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitConversation {
    /// Id that the client sent, or the id of the first commit.
    pub id: String,
    /// The agent.
    pub agent: AgentIdentity,
    /// The commits, newest first.
    pub commits: Vec<Commit>,
}

impl Memory {
    /// Returns a conversation by its id, or by the id of one of its commits.
    pub fn conversation(&self, id: &str) -> Result<CommitConversation> {
        if let Some(named) = self.named_conversation(id)? {
            return Ok(named);
        }
        let commit = self.commit(id)?;
        if let Some(id) = &commit.author.details.conversation
            && let Some(named) = self.named_conversation(id)?
        {
            return Ok(named);
        }
        let mut commits = self.commits_after(&commit)?;
        commits.push(commit.clone());
        let read = |filter: &HistoryFilter| self.log(filter, PAGE_SIZE, 0);
        commits.extend(commits_before(&commit, read)?);
        let id = commits.last().map_or(commit.id, |first| first.id).to_string();
        Ok(CommitConversation { id, agent: self.agent_of(&commit.author), commits })
    }

    /// Returns the commits of the conversation with this id; `None` if no commit has it.
    fn named_conversation(&self, id: &str) -> Result<Option<CommitConversation>> {
        let filter = HistoryFilter { conversation: Some(id.to_owned()), ..Default::default() };
        let commits = self.log(&filter, MAX_COMMITS, 0)?;
        let agent = commits.first().map(|commit| self.agent_of(&commit.author));
        Ok(agent.map(|agent| CommitConversation { id: id.to_owned(), agent, commits }))
    }

    /// Returns the conversation of each of some commits, which are ordered newest first.
    pub(crate) fn conversations_of(&self, commits: &[Commit]) -> Result<Vec<String>> {
        // The first commit so far of the conversation of each client, from the oldest on.
        let mut open: HashMap<String, (&Commit, CommitId)> = HashMap::new();
        let mut ids = Vec::with_capacity(commits.len());
        for commit in commits.iter().rev() {
            if let Some(id) = &commit.author.details.conversation {
                ids.push(id.clone());
                continue;
            }
            let key = speaker(commit);
            let id = match open.get(&key) {
                Some((last, id)) if is_continued(last.time, commit.time) => *id,
                Some(_) => commit.id,
                None => {
                    let read = |filter: &HistoryFilter| self.log_heads(filter, PAGE_SIZE);
                    commits_before(commit, read)?.last().map_or(commit.id, |first| first.id)
                }
            };
            open.insert(key, (commit, id));
            ids.push(id.to_string());
        }
        ids.reverse();
        Ok(ids)
    }

    /// Returns the later commits of the same conversation, newest first.
    fn commits_after(&self, commit: &Commit) -> Result<Vec<Commit>> {
        let filter = HistoryFilter {
            client: Some(commit.author.client.clone()),
            since: Some(commit.time),
            ..Default::default()
        };
        let later = self.log(&filter, MAX_COMMITS, 0)?;
        let position = later.iter().position(|later| later.id == commit.id);
        let mut found = Vec::new();
        let mut last = commit.time;
        for next in later.iter().take(position.unwrap_or(0)).rev() {
            if speaker(next) != speaker(commit) {
                continue;
            }
            if !is_continued(last, next.time) {
                break;
            }
            found.push(next.clone());
            last = next.time;
        }
        found.reverse();
        Ok(found)
    }
}

/// Returns the name under which commits are compared: client and channel.
fn speaker(commit: &Commit) -> String {
    let named = commit.author.details.conversation.as_deref().unwrap_or_default();
    format!("{} {} {named}", commit.author.channel.as_str(), commit.author.client)
}

/// Returns the earlier commits of the same conversation, newest first.
fn commits_before(
    commit: &Commit,
    read: impl Fn(&HistoryFilter) -> Result<Vec<Commit>>,
) -> Result<Vec<Commit>> {
    let mut found = Vec::new();
    let mut last = commit.time;
    let mut filter =
        HistoryFilter { client: Some(commit.author.client.clone()), ..Default::default() };
    filter.before = Some(commit.id);
    loop {
        let page = read(&filter)?;
        let is_last_page = page.len() < PAGE_SIZE;
        for earlier in page {
            filter.before = Some(earlier.id);
            if speaker(&earlier) != speaker(commit) {
                continue;
            }
            if !is_continued(earlier.time, last) || found.len() >= MAX_COMMITS {
                return Ok(found);
            }
            last = earlier.time;
            found.push(earlier);
        }
        if is_last_page {
            return Ok(found);
        }
    }
}

/// Returns true if a commit continues the conversation of an earlier one.
fn is_continued(earlier: Timestamp, later: Timestamp) -> bool {
    let pause = later.as_second() - earlier.as_second();
    pause <= MAX_PAUSE_SECONDS
}
