//! Agents: who wrote how much, and the tools that are offered with their token price.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use memoranda_engine::core::token_estimate::estimate_tokens;
use memoranda_engine::{AgentIdentity, HistoryFilter};
use serde_json::{Value, json};

use super::history_json::agent_json;
use super::request::PageRequest;
use crate::http_error::HttpError;
use crate::mcp::tool_definition;

/// Maximum number of commits of the requested days by which used tools are counted.
const MAX_COMMITS: usize = 100_000;

/// Returns the agents and the tools.
pub(super) fn agents(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let days = request.number("days", 7, 3660)?;
    let project = request.project()?;
    let activity = memory.activity(3650, project.as_ref())?;
    let recent = memory.activity(days, project.as_ref())?;
    let mut tools_used: BTreeMap<AgentIdentity, BTreeMap<String, usize>> = BTreeMap::new();
    // The same days as the number of writes, so that the tools add up to it.
    let since = recent.from.to_zoned(TimeZone::UTC).map(|start| start.timestamp()).ok();
    let filter = HistoryFilter { project, since, ..HistoryFilter::default() };
    for commit in memory.log(&filter, MAX_COMMITS, 0)? {
        let agent = memory.agent_of(&commit.author);
        *tools_used.entry(agent).or_default().entry(commit.author.tool).or_default() += 1;
    }
    let mut reads: BTreeMap<AgentIdentity, u64> = BTreeMap::new();
    for (client, count) in memory.read_counts(u32::try_from(days).unwrap_or(u32::MAX))? {
        *reads.entry(AgentIdentity::of_client(&client)).or_default() += count;
    }
    let agents = activity.agents.iter().map(|all| {
        let lately = recent.agents.iter().find(|agent| agent.agent == all.agent);
        let used = tools_used.get(&all.agent).into_iter().flatten();
        let used = used.map(|(tool, count)| json!({ "tool": tool, "count": count }));
        json!({
            "agent": agent_json(&all.agent),
            "clients": all.clients,
            "last": all.last.to_string(),
            "writes": lately.map_or(0, |agent| agent.total),
            "total": all.total,
            "reads": reads.get(&all.agent).copied().unwrap_or(0),
            "tools_used": used.collect::<Vec<_>>(),
        })
    });
    let catalog = &request.page.catalog;
    let offered = catalog.configured_tools();
    let mut sets: BTreeMap<&str, (Vec<Value>, usize)> = BTreeMap::new();
    let mut total = 0;
    for tool in offered.tools() {
        let definition = serde_json::to_string(&tool_definition(tool, &catalog.settings));
        let tokens = estimate_tokens(&definition.unwrap_or_default());
        total += tokens;
        let (tools, sum) = sets.entry(tool.toolset.as_str()).or_default();
        *sum += tokens;
        tools.push(json!({
            "name": tool.name,
            "title": tool.title,
            "tokens": tokens,
            "read_only": tool.hints.read_only,
        }));
    }
    let sets = sets.into_iter();
    let sets = sets
        .map(|(name, (tools, tokens))| json!({ "name": name, "tools": tools, "tokens": tokens }));
    let instructions = catalog.instructions(&offered);
    Ok(json!({
        "days": days,
        "agents": agents.collect::<Vec<_>>(),
        "toolsets": sets.collect::<Vec<_>>(),
        "offered": { "tools": offered.tools().len(), "tokens": total },
        "instructions": { "tokens": estimate_tokens(&instructions), "text": instructions },
    }))
}
