//! Activity: how much each agent wrote, day by day.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use memoranda_core::id::ProjectName;
use memoranda_store::clock;

use crate::error::Result;
use crate::history::agent::AgentIdentity;
use crate::{Author, Memory};

/// Activity of all agents over some days.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VaultActivity {
    /// First day, in UTC.
    pub from: Date,
    /// Last day: today.
    pub to: Date,
    /// Agents, the most active first.
    pub agents: Vec<AgentActivity>,
}

/// Activity of one agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentActivity {
    /// The agent.
    pub agent: AgentIdentity,
    /// Names of its clients, with versions.
    pub clients: Vec<String>,
    /// Number of commits of each day, oldest first.
    pub days: Vec<u64>,
    /// Number of all these commits.
    pub total: u64,
    /// Time of the last one.
    pub last: Timestamp,
}

/// Maximum number of days.
const MAX_DAYS: usize = 3660;

impl Memory {
    /// Counts the commits of each agent for each of the last days, today included.
    pub fn activity(&self, days: usize, project: Option<&ProjectName>) -> Result<VaultActivity> {
        let days = days.clamp(1, MAX_DAYS);
        let to = clock::now().to_zoned(TimeZone::UTC).date();
        let back = i32::try_from(days - 1).unwrap_or(0);
        let from = to.checked_sub(back.days()).unwrap_or(to);
        let start = from.to_zoned(TimeZone::UTC).map(|start| start.timestamp()).unwrap_or_default();
        let first_day = start.as_millisecond() / 86_400_000;
        let mut agents: BTreeMap<AgentIdentity, AgentActivity> = BTreeMap::new();
        for row in self.snapshot()?.activity(start, project)? {
            let author = Author::new(row.client.clone(), String::new(), row.channel);
            let agent = self.agent_of(&author);
            let known = agents.entry(agent.clone()).or_insert_with(|| AgentActivity {
                agent,
                clients: Vec::new(),
                days: vec![0; days],
                total: 0,
                last: row.last,
            });
            let day = usize::try_from(row.day - first_day).unwrap_or(0);
            if let Some(count) = known.days.get_mut(day.min(days - 1)) {
                *count += row.commits;
            }
            known.total += row.commits;
            known.last = known.last.max(row.last);
            if !known.clients.contains(&row.client) {
                known.clients.push(row.client);
            }
        }
        let mut agents: Vec<AgentActivity> = agents.into_values().collect();
        agents.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.agent.cmp(&b.agent)));
        Ok(VaultActivity { from, to, agents })
    }
}
