//! `memoranda activity`: how much each agent wrote, day by day.

use memoranda_engine::AgentActivity;
use serde::Serialize;

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{OutputFormat, STRONG, visible};

/// Signs for no writes, few, and ever more.
const BARS: [char; 6] = ['·', '▁', '▃', '▅', '▆', '█'];

/// Show how much each agent wrote, day by day.
///
/// One row for each agent, one sign for each day, today last. Days are in UTC.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda activity
  memoranda activity --days 182 --json | jq '.agents[] | {name, total}'

JSON (--json):
  {from, to, days, agents: [{key, name, clients, total, last, counts}]}; counts has a number of
  commits for each day, the oldest first")]
pub(crate) struct Args {
    /// Number of days, today included.
    #[arg(long, value_name = "N", default_value_t = 28, value_parser = clap::value_parser!(u32).range(1..=3660))]
    days: u32,
}

#[derive(Serialize)]
struct ActivityJson<'a> {
    from: String,
    to: String,
    days: u32,
    agents: Vec<AgentActivityJson<'a>>,
}

#[derive(Serialize)]
struct AgentActivityJson<'a> {
    key: &'a str,
    name: &'a str,
    clients: &'a [String],
    total: u64,
    last: jiff::Timestamp,
    counts: &'a [u64],
}

/// Prints the activity.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let project = context.requested_project(memory)?;
    let activity = memory.activity(args.days as usize, project.as_ref())?;
    let printer = &context.printer;
    if context.is_json() {
        let agent = |agent: &'_ AgentActivity| (agent.agent.clone(), agent.clone());
        let agents: Vec<_> = activity.agents.iter().map(agent).collect();
        let agents = agents.iter().map(|(identity, agent)| AgentActivityJson {
            key: &identity.key,
            name: &identity.name,
            clients: &agent.clients,
            total: agent.total,
            last: agent.last,
            counts: &agent.days,
        });
        printer.json(&ActivityJson {
            from: activity.from.to_string(),
            to: activity.to.to_string(),
            days: args.days,
            agents: agents.collect(),
        })?;
        return Ok(Exit::Success);
    }
    if activity.agents.is_empty() {
        printer.say(format!("Nothing was written since {}.", activity.from));
        return Ok(Exit::Success);
    }
    let most = activity.agents.iter().flat_map(|agent| agent.days.iter()).max().copied();
    let width = activity.agents.iter().map(|agent| agent.agent.name.chars().count()).max();
    let width = width.unwrap_or(0).min(24);
    for agent in &activity.agents {
        let name: String = visible(&agent.agent.name).chars().take(width).collect();
        let total = agent.total;
        if printer.format == OutputFormat::Plain {
            let counts: Vec<String> = agent.days.iter().map(ToString::to_string).collect();
            printer.line(format!("{name}\t{total}\t{}", counts.join(" ")))?;
            continue;
        }
        // Of more days than fit, the last are shown.
        let room = printer.width().map_or(usize::MAX, |columns| {
            columns.saturating_sub(width + 4 + total.to_string().len())
        });
        let days = agent.days.iter().skip(agent.days.len().saturating_sub(room));
        let bars: String = days.map(|count| bar(*count, most.unwrap_or(1))).collect();
        printer.line(format!("{STRONG}{name:<width$}{STRONG:#}  {bars}  {total}"))?;
    }
    Ok(Exit::Success)
}

fn bar(count: u64, most: u64) -> char {
    let steps = BARS.len() as u64 - 1;
    let step = if count == 0 { 0 } else { (count * steps).div_ceil(most.max(1)).min(steps) };
    usize::try_from(step).ok().and_then(|step| BARS.get(step)).copied().unwrap_or('█')
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn more_writes_are_a_higher_bar() {
        for (count, most, expected) in
            [(0, 9, '·'), (1, 100, '▁'), (50, 100, '▅'), (100, 100, '█'), (1, 0, '█')]
        {
            assert_eq!(bar(count, most), expected, "{count} of {most}");
        }
    }
}
