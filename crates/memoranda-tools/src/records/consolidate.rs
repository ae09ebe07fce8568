//! `consolidate_memories`.

use memoranda_engine::records::{
    RecordKind, RecordScope, find_duplicates, single_line, supersede_duplicates,
};
use serde_json::json;

use super::arguments;
use super::error::RecordToolResult;
use super::render::list_line;
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// Maximum number of groups in an answer.
const MAX_SHOWN: usize = 50;

pub(super) fn consolidate(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let is_dry_run = args.is_set("dry_run")?;
    let global_only = args.is_set("global_only")?;
    let include_global = args.is_set("include_global")?;
    let kinds = arguments::kinds(args, "types")?.filter(|kinds| !kinds.is_empty());
    let kinds = kinds.unwrap_or_else(|| RecordKind::ALL.to_vec());
    let mut scopes = arguments::visible_scopes(call.settings, args)?.scopes;
    scopes.retain(|scope| match scope {
        RecordScope::Global => include_global || global_only,
        RecordScope::Project(_) => !global_only,
    });
    let now = call.settings.records.now();
    let found = find_duplicates(call.memory, &scopes, &kinds, &now)?;
    let superseded = found.superseded();
    let (groups, conflicts) = (&found.groups, &found.conflicts);
    let commit = if is_dry_run || superseded.is_empty() {
        None
    } else {
        let commit = supersede_duplicates(call.memory, &call.who, &found)?;
        Some(commit.map_or_else(|| "none".to_owned(), |commit| commit.id.to_string()))
    };
    let ids = |records: &mut dyn Iterator<Item = &str>| records.collect::<Vec<_>>().join(",");
    let winners = ids(&mut groups.iter().map(|group| group.winner.id.as_str()));
    let superseded_ids = ids(&mut superseded.iter().map(|(old, _)| old.id.as_str()));
    let nothing = if is_dry_run { "dry run, nothing changed" } else { "nothing to do" };
    let mut text = format!(
        "run={}\ninput={}\nmerged={}\nsuperseded={}\nconflicts={}\nwinners={winners}\n\
         superseded_ids={superseded_ids}\n",
        commit.as_deref().unwrap_or(nothing),
        found.compared,
        groups.len(),
        superseded.len(),
        conflicts.len(),
    );
    for group in groups.iter().take(MAX_SHOWN) {
        text.push_str(&format!("\n{}", list_line(&group.winner, 120)));
        for old in &group.older {
            text.push_str(&format!("\n  replaces {}: {}", old.id, single_line(&old.content, 120)));
        }
    }
    if groups.len() > MAX_SHOWN {
        text.push_str(&format!("\n[{} more groups]", groups.len() - MAX_SHOWN));
    }
    for (new, old) in conflicts.iter().take(MAX_SHOWN) {
        text.push_str(&format!("\nCONFLICT, left as it is: {}", list_line(new, 120)));
        text.push_str(&format!("\n  against {}: {}", old.id, single_line(&old.content, 120)));
    }
    if conflicts.len() > MAX_SHOWN {
        text.push_str(&format!("\n[{} more conflicts]", conflicts.len() - MAX_SHOWN));
    }
    if !conflicts.is_empty() {
        text.push_str(
            "\n[if they contradict each other: edit_memory or forget_memory one of each]",
        );
    }
    let names: Vec<&str> = scopes.iter().map(RecordScope::name).collect();
    text.push_str(&format!("\nScope: {}", names.join(" and ")));
    let structured = json!({
        "dry_run": is_dry_run,
        "commit": commit,
        "input": found.compared,
        "merged": groups.len(),
        "superseded": superseded.len(),
        "conflicts": conflicts.len(),
        "winners": groups.iter().map(|group| &group.winner.id).collect::<Vec<_>>(),
        "superseded_ids": superseded.iter().map(|(old, _)| &old.id).collect::<Vec<_>>(),
        "disputed": conflicts.iter().map(|(new, old)| [&new.id, &old.id]).collect::<Vec<_>>(),
    });
    Ok(ToolResult::ok(text, structured))
}
