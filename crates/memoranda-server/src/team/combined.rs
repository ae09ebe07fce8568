//! A reading call over several spaces.

use std::sync::Arc;

use memoranda_engine::{Memory, SpaceFreshness, SyncScope};
use memoranda_remote::directory::SpaceGrant;
use memoranda_tools::{
    ClientContext, SideOutput, SpaceMemory, ToolResult, add_nearest, take_nearest,
};
use serde_json::{Value, json};

use super::request::{CallChannels, SPACE_ARGUMENT, TeamRequest, space_failed};
use crate::tool_call::{ToolCall, await_first_scan};

/// Tools that search all spaces as if they were one vault.
const SEARCHING: [&str; 2] = ["recall", "search_notes"];
/// Tools that answer for each space; the answers follow each other.
const ANSWERING_EACH: [&str; 8] = [
    "get_context",
    "get_rules",
    "list_memory_projects",
    "list_reminders",
    "recent_activity",
    "run_due_reminders",
    "search",
    "search_memories",
];

impl TeamRequest {
    /// Runs a reading call that names no space: in all of them at once, in each, or in the first
    /// that answers, as suits the tool.
    pub(super) fn run_in_several(
        &self,
        spaces: &[&SpaceGrant],
        call: ToolCall,
        channels: CallChannels<'_>,
    ) -> (ToolResult, SideOutput) {
        if SEARCHING.contains(&call.tool.name) {
            return self.run_together(spaces, call, channels);
        }
        if ANSWERING_EACH.contains(&call.tool.name) {
            return (self.run_in_each(spaces, &call, channels), SideOutput::default());
        }
        self.run_in_first(spaces, &call, channels)
    }

    /// Searches several vaults as one.
    fn run_together(
        &self,
        spaces: &[&SpaceGrant],
        mut call: ToolCall,
        channels: CallChannels<'_>,
    ) -> (ToolResult, SideOutput) {
        let mut open = Vec::with_capacity(spaces.len());
        for space in spaces {
            if let Some(early) = self.answering_early(space, &call) {
                open.push((*space, early, SpaceFreshness::Current));
                continue;
            }
            match self.open(space) {
                Ok((opened, freshness)) => {
                    await_first_scan(&opened.memory, &SyncScope::Everything, &|_, _| ());
                    open.push((*space, Arc::clone(&opened.memory), freshness));
                }
                Err(error) => return (space_failed(space, &error), SideOutput::default()),
            }
        }
        let memories: Vec<Arc<Memory>> =
            open.iter().map(|(_, memory, _)| Arc::clone(memory)).collect();
        // Words are as rare as they are in all spaces together.
        let together = |at: usize| {
            let others = memories.iter().enumerate().filter(|(n, _)| *n != at);
            let others = others.map(|(_, other)| Arc::clone(other));
            Arc::new(memories[at].ranked_with(others.collect()))
        };
        let named = |at: usize, space: &SpaceGrant| SpaceMemory {
            name: space.name.clone(),
            memory: together(at),
        };
        let mut members: Vec<SpaceMemory> =
            open.iter().enumerate().map(|(at, (space, ..))| named(at, space)).collect();
        let first = members.remove(0);
        call.memory = first.memory;
        call.space = Some(first.name);
        call.others = members;
        let (mut result, output) = call.run_blocking(channels.progress, channels.cancelled);
        let freshness: Vec<SpaceFreshness> =
            open.iter().map(|(.., freshness)| *freshness).collect();
        self.mark(&mut result, spaces, &freshness);
        (result, output)
    }

    /// Runs a call in every space, and joins the answers. What is nearest in one space is left out if
    /// another has a result.
    fn run_in_each(
        &self,
        spaces: &[&SpaceGrant],
        call: &ToolCall,
        channels: CallChannels<'_>,
    ) -> ToolResult {
        let mut joined: Option<ToolResult> = None;
        let mut failed: Option<ToolResult> = None;
        let (mut nearest, mut is_found) = (Vec::new(), false);
        for space in spaces {
            let (mut result, _) = self.run_in(space, again(call), channels);
            if result.is_error {
                failed.get_or_insert(result);
                continue;
            }
            is_found |= has_memories(&result.structured);
            nearest.extend(take_nearest(&mut result).into_iter().map(|mut item| {
                item[SPACE_ARGUMENT] = json!(space.name);
                item
            }));
            match &mut joined {
                None => joined = Some(result),
                Some(joined) => join(joined, result),
            }
        }
        if let Some(joined) = joined.as_mut().filter(|_| !is_found) {
            add_nearest(joined, nearest);
        }
        joined.or(failed).unwrap_or_else(|| ToolResult::error("This token opens no space."))
    }

    /// Runs a call in one space after the other until one answers without an error.
    fn run_in_first(
        &self,
        spaces: &[&SpaceGrant],
        call: &ToolCall,
        channels: CallChannels<'_>,
    ) -> (ToolResult, SideOutput) {
        let mut first_error = None;
        for space in spaces {
            let (result, output) = self.run_in(space, again(call), channels);
            if !result.is_error {
                return (result, output);
            }
            first_error.get_or_insert((result, output));
        }
        first_error.unwrap_or_else(|| {
            (ToolResult::error("This token opens no space."), SideOutput::default())
        })
    }
}

/// Returns true for an answer with a memory, or with one that its budget left out.
fn has_memories(structured: &Value) -> bool {
    let is_filled = |name: &&str| structured[*name].as_array().is_some_and(|all| !all.is_empty());
    ["memories", "elsewhere"].iter().any(is_filled) || structured["has_more"] == json!(true)
}

/// Returns a call again, for another space. Tools that read ask nothing.
fn again(call: &ToolCall) -> ToolCall {
    ToolCall {
        memory: Arc::clone(&call.memory),
        settings: Arc::clone(&call.settings),
        tool: call.tool,
        author: call.author.clone(),
        arguments: call.arguments.clone(),
        client: ClientContext::default(),
        team: None,
        space: None,
        others: Vec::new(),
    }
}

/// Appends an answer: texts follow each other, lists are joined, numbers of things are added.
fn join(joined: &mut ToolResult, further: ToolResult) {
    let is_json = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|v| !v.is_string());
    join_json(&mut joined.structured, further.structured);
    if is_json(&joined.text) {
        joined.text = joined.structured.to_string();
    } else {
        joined.text.push_str("\n\n");
        joined.text.push_str(&further.text);
    }
}

fn join_json(joined: &mut Value, further: Value) {
    const COUNTS: [&str; 4] = ["count", "total", "left_out", "total_count"];
    match (joined, further) {
        (Value::Object(joined), Value::Object(further)) => {
            for (name, value) in further {
                match joined.get_mut(&name) {
                    None => drop(joined.insert(name, value)),
                    Some(Value::Array(list)) => match value {
                        Value::Array(further) => list.extend(further),
                        value => list.push(value),
                    },
                    Some(Value::Number(number)) if COUNTS.contains(&name.as_str()) => {
                        let sum = number.as_u64().unwrap_or(0) + value.as_u64().unwrap_or(0);
                        *number = sum.into();
                    }
                    Some(Value::Object(inner)) => {
                        let mut whole = Value::Object(std::mem::take(inner));
                        join_json(&mut whole, value);
                        if let Value::Object(whole) = whole {
                            *inner = whole;
                        }
                    }
                    Some(Value::String(text)) if name == "text" || name == "result" => {
                        if let Value::String(further) = value {
                            text.push_str("\n\n");
                            text.push_str(&further);
                        }
                    }
                    Some(_) => {}
                }
            }
        }
        (Value::Array(joined), Value::Array(further)) => joined.extend(further),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_joined_without_losing_any() {
        let mut first = ToolResult::ok("One".into(), json!({ "count": 1, "items": ["a"], "x": 1 }));
        join(
            &mut first,
            ToolResult::ok("Two".into(), json!({ "count": 2, "items": ["b"], "x": 2 })),
        );
        assert_eq!(first.text, "One\n\nTwo");
        assert_eq!(first.structured, json!({ "count": 3, "items": ["a", "b"], "x": 1 }));
        let listed = |id: &str| json!({ "results": [{ "id": id }] });
        let mut first = ToolResult::ok(listed("a").to_string(), listed("a"));
        join(&mut first, ToolResult::ok(listed("b").to_string(), listed("b")));
        assert_eq!(first.text, first.structured.to_string());
        assert_eq!(first.structured["results"].as_array().map(Vec::len), Some(2));
    }
}
