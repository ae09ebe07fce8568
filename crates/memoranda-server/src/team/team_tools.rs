//! Tools of a team server alone: its spaces, notes copied between them, writes that wait.

use memoranda_engine::{
    NoteLocation, ResolveIntent, SyncScope, WriteMode, WriteOutcome, WriteRequest,
};
use memoranda_remote::directory::{SpaceGrant, TokenAccess};
use memoranda_tools::{Param, ParamTable, ToolDef, ToolHints, ToolResult, Toolset};
use serde_json::{Value, json};

use super::request::{CallChannels, TeamRequest, names, refuse_while_away, space_failed};
use crate::tool_call::{ToolCall, await_first_scan};

const READS: ToolHints =
    ToolHints { read_only: true, destructive: false, idempotent: true, open_world: false };

/// The tools of a team server.
pub static TEAM_TOOLS: [ToolDef; 4] = [
    ToolDef {
        name: "list_spaces",
        title: "List spaces",
        description: "The spaces that you can use: your own and those of your teams, with what you \
            may do in each.",
        hints: READS,
        ..BASE
    },
    ToolDef {
        name: "promote_note",
        title: "Promote note",
        description: "Copy a note into another space, such as from your own to the team's. The copy \
            names its origin; the note itself stays.",
        hints: ToolHints {
            read_only: false,
            destructive: false,
            idempotent: false,
            open_world: false,
        },
        params: ParamTable::new(&[&[
            Param::text("identifier", "Title, permalink or path").required(),
            Param::text("to", "Space to copy it to").required(),
            Param::text("project", "Project of the note; default any"),
        ]]),
        ..BASE
    },
    ToolDef {
        name: "list_proposals",
        title: "List proposals",
        description: "Writes that wait for the yes of an editor or an owner.",
        hints: READS,
        ..BASE
    },
    ToolDef {
        name: "decide_proposal",
        title: "Decide on a proposal",
        description: "Approve or reject a write that waits. An approved one is made at once, in the \
            name of its author. Only if the person said so.",
        hints: ToolHints {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: false,
        },
        params: ParamTable::new(&[&[
            Param::integer("proposal", 1, 1 << 53, "Number of the proposal").required(),
            Param::choice("decision", &["approve", "reject"], "Approve or reject it").required(),
        ]]),
        ..BASE
    },
];

/// Base of the rows. [`run`] implements them, because they need more than one vault.
const BASE: ToolDef = ToolDef {
    toolset: Toolset::Core,
    run: |_, _| Ok(ToolResult::error("Only a team server has this tool.")),
    ..ToolDef::BASE
};

/// Returns true for a tool of this table.
pub(super) fn is_team_tool(tool: &ToolDef) -> bool {
    TEAM_TOOLS.iter().any(|team_tool| team_tool.name == tool.name)
}

/// Runs a tool of this table. `named` is the space that the call names.
pub(super) fn run(
    request: &TeamRequest,
    call: &ToolCall,
    named: Option<&str>,
    channels: CallChannels<'_>,
) -> ToolResult {
    let mut spaces = request.spaces();
    if let Some(named) = named {
        spaces.retain(|space| space.name == named);
    }
    match call.tool.name {
        "list_spaces" => list_spaces(request, &spaces),
        "list_proposals" => request.list_proposals(&spaces),
        "decide_proposal" => decide(request, &spaces, &call.arguments, channels),
        _ => promote(request, &spaces, call),
    }
}

fn list_spaces(request: &TeamRequest, spaces: &[&SpaceGrant]) -> ToolResult {
    let mut text = format!("Spaces of {}:\n", request.grant.account);
    let mut list = Vec::new();
    for space in spaces {
        let SpaceGrant { name, kind, role, access, .. } = space;
        let (kind, may) = (kind.name(), access.name());
        text.push_str(&format!("- {name}: {kind}, {role}; may {may}\n"));
        list.push(json!({ "name": name, "kind": kind, "role": role.name(), "access": may }));
    }
    ToolResult::ok(text.trim_end().to_owned(), json!({ "spaces": list }))
}

fn decide(
    request: &TeamRequest,
    spaces: &[&SpaceGrant],
    arguments: &Value,
    channels: CallChannels<'_>,
) -> ToolResult {
    let number = &arguments["proposal"];
    let number = number.as_i64().or_else(|| number.as_str()?.trim().parse().ok());
    let Some(number) = number else {
        return ToolResult::error("`proposal` is the number of a proposal; list_proposals has it.");
    };
    let is_approved = match arguments["decision"].as_str() {
        Some("approve") => true,
        Some("reject") => false,
        _ => return ToolResult::error("`decision` is approve or reject."),
    };
    let mut deciding = spaces.iter().filter(|space| space.access == TokenAccess::Write);
    // A number belongs to one space alone.
    let holding = deciding.find(|space| {
        let waiting = request.team.directory.waiting_proposals(space.id);
        waiting.is_ok_and(|waiting| waiting.iter().any(|waiting| waiting.number == number))
    });
    match holding.or_else(|| spaces.first()) {
        Some(space) => request.decide(space, number, is_approved, channels),
        None => ToolResult::error("This token opens no space."),
    }
}

/// Copies a note into another space, with its origin in the frontmatter and in the history.
fn promote(request: &TeamRequest, spaces: &[&SpaceGrant], call: &ToolCall) -> ToolResult {
    let text = |name: &str| call.arguments[name].as_str().map(str::trim).filter(|t| !t.is_empty());
    let (Some(identifier), Some(to)) = (text("identifier"), text("to")) else {
        return ToolResult::error(
            "promote_note needs `identifier`, the note, and `to`, the space.",
        );
    };
    let Some(target) = request.spaces().into_iter().find(|space| space.name == to) else {
        let shown: String = to.chars().take(60).collect();
        return ToolResult::error(format!(
            "This token opens no space {shown:?}. It opens: {}.",
            names(&request.spaces())
        ));
    };
    if target.access == TokenAccess::Read {
        return ToolResult::error(format!(
            "The space {} cannot be written with this token. Nothing was changed.",
            target.name
        ));
    }
    if request.as_of.is_some() {
        return refuse_while_away();
    }
    let mut missing = None;
    for source in spaces.iter().filter(|space| space.name != target.name) {
        let open = match request.open(source) {
            Ok((open, _)) => open,
            Err(error) => return space_failed(source, &error),
        };
        await_first_scan(&open.memory, &SyncScope::Everything, &|_, _| ());
        let found = open.memory.resolve(text("project"), identifier, ResolveIntent::Read);
        match found.and_then(|found| Ok((open.memory.read_at(&found.place)?, found.place))) {
            Ok((note, place)) => {
                let origin = format!("{}:{place}", source.name);
                let text = with_origin(&note.lossy_text(), &origin);
                return copy_to(request, target, call, &place, text, &origin);
            }
            Err(error) => {
                missing.get_or_insert_with(|| error.to_string());
            }
        }
    }
    let why = missing.unwrap_or_else(|| format!("there is no other space than {}", target.name));
    ToolResult::error(format!("Nothing was copied: {why}."))
}

fn copy_to(
    request: &TeamRequest,
    target: &SpaceGrant,
    call: &ToolCall,
    place: &NoteLocation,
    text: String,
    origin: &str,
) -> ToolResult {
    if target.access == TokenAccess::Propose {
        // An editor approves the copy as any other write.
        let Some(tool) = memoranda_tools::tool("write_note") else {
            return ToolResult::error("This server has no write_note.");
        };
        let folder = place.path.parent().unwrap_or_default();
        let title = place.path.file_name().trim_end_matches(".md");
        let arguments = json!({
            "title": title, "folder": folder, "content": text, "project": place.project.as_str(),
        });
        return request.propose(target, call, tool, &arguments);
    }
    let open = match request.open(target) {
        Ok((open, _)) => open,
        Err(error) => return space_failed(target, &error),
    };
    let author = call.author.clone().with_source(Some(origin.to_owned()));
    let written = WriteRequest {
        project: place.project.clone(),
        path: place.path.clone(),
        content: text.into_bytes(),
        mode: WriteMode::Create,
        message: Some(format!("promoted from {origin}")),
    };
    match open.memory.write(&author, &written) {
        Ok(WriteOutcome::Written(_)) => {
            let to = format!("{}:{place}", target.name);
            ToolResult::ok(
                format!("Copied {origin} to {to}; the copy names its origin."),
                json!({ "from": origin, "to": to }),
            )
        }
        Ok(_) => ToolResult::error(format!(
            "The space {} has {place} already. Nothing was copied; edit_note changes what is there.",
            target.name
        )),
        Err(error) => ToolResult::error(format!("Nothing was copied: {error}.")),
    }
}

/// Adds the origin of a copied note to its frontmatter, as text: nothing else of the note changes.
fn with_origin(text: &str, origin: &str) -> String {
    let line = format!("promoted_from: {}\n", Value::String(origin.to_owned()));
    let ends = ["---\n", "---\r\n"];
    match ends.iter().find_map(|start| text.strip_prefix(start).map(|rest| (start, rest))) {
        Some((start, rest)) => {
            let is_earlier = |line: &&str| line.starts_with("promoted_from:");
            let end = rest.find("\n---").unwrap_or(rest.len());
            let (above, below) = rest.split_at(end);
            let kept: String =
                above.split_inclusive('\n').filter(|line| !is_earlier(line)).collect();
            format!("{start}{line}{kept}{below}")
        }
        None => format!("---\n{line}---\n\n{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_names_its_origin_in_the_frontmatter() {
        assert_eq!(
            with_origin("---\ntitle: A\n---\nText\n", "anna:main/a.md"),
            "---\npromoted_from: \"anna:main/a.md\"\ntitle: A\n---\nText\n"
        );
        assert_eq!(
            with_origin("---\npromoted_from: \"x:y.md\"\ntitle: A\n---\n", "anna:main/a.md"),
            "---\npromoted_from: \"anna:main/a.md\"\ntitle: A\n---\n"
        );
        assert_eq!(
            with_origin("Text\n", "anna:main/a.md"),
            "---\npromoted_from: \"anna:main/a.md\"\n---\n\nText\n"
        );
    }
}
