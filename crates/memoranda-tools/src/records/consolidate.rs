//! Merging records that say the same, or give one thing another value: the newest stays, the others point to it and are no longer
//! shown. Nothing is deleted, and one commit does it all. What may contradict each other is shown
//! and left alone: only a person knows which one holds.

use memoranda_core::note::MetaValue;
use memoranda_engine::{ReviseOutcome, Step};
use serde_json::json;

use super::error::{RecordError, Result};
use super::kind::RecordKind;
use super::query;
use super::record::{MemoryRecord, set_key, single_line};
use super::scope::{self, RecordScope};
use super::similarity::SimilarRecords;
use super::write;
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// How many groups an answer shows.
const MAX_SHOWN: usize = 50;

/// `consolidate_memories`.
pub(super) fn consolidate(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let dry = args.flag("dry_run")?.unwrap_or(false);
    let global_only = args.flag("global_only")?.unwrap_or(false);
    let include_global = args.flag("include_global")?.unwrap_or(true);
    let kinds = write::kinds(args, "types")?.filter(|kinds| !kinds.is_empty());
    let kinds = kinds.unwrap_or_else(|| RecordKind::ALL.to_vec());
    let mut scopes = scope::reach(call.settings, args)?.scopes;
    scopes.retain(|scope| match scope {
        RecordScope::Global => include_global || global_only,
        RecordScope::Project(_) => !global_only,
    });
    let now = call.settings.records.now();
    let (mut input, mut groups, mut disputes) = (0, Vec::new(), Vec::new());
    for scope in &scopes {
        for kind in &kinds {
            let mut records = query::records_of_kind(call.memory, scope, *kind)?;
            records.retain(|record| record.is_active(&now));
            input += records.len();
            let sorted = SimilarRecords::new(records);
            groups.extend(sorted.groups);
            disputes.extend(sorted.conflicts);
        }
    }
    let superseded: Vec<(&MemoryRecord, &str)> = groups
        .iter()
        .flat_map(|group| group.older.iter().map(|old| (old, group.winner.id.as_str())))
        .collect();
    let commit =
        if dry || superseded.is_empty() { None } else { Some(supersede(call, &superseded)?) };
    let conflicts = disputes.len();
    let ids = |records: &mut dyn Iterator<Item = &str>| records.collect::<Vec<_>>().join(",");
    let winners = ids(&mut groups.iter().map(|group| group.winner.id.as_str()));
    let superseded_ids = ids(&mut superseded.iter().map(|(old, _)| old.id.as_str()));
    let mut text = format!(
        "run={}\ninput={input}\nmerged={}\nsuperseded={}\nconflicts={conflicts}\nwinners={winners}\n\
         superseded_ids={superseded_ids}\n",
        commit.as_deref().unwrap_or(if dry { "dry run, nothing changed" } else { "nothing to do" }),
        groups.len(),
        superseded.len(),
    );
    for group in groups.iter().take(MAX_SHOWN) {
        text.push_str(&format!("\n{}", group.winner.list_line(120)));
        for old in &group.older {
            text.push_str(&format!("\n  replaces {}: {}", old.id, single_line(&old.content, 120)));
        }
    }
    if groups.len() > MAX_SHOWN {
        text.push_str(&format!("\n[{} more groups]", groups.len() - MAX_SHOWN));
    }
    for (new, old) in disputes.iter().take(MAX_SHOWN) {
        text.push_str(&format!("\nCONFLICT, left as it is: {}", new.list_line(120)));
        text.push_str(&format!("\n  against {}: {}", old.id, single_line(&old.content, 120)));
    }
    if disputes.len() > MAX_SHOWN {
        text.push_str(&format!("\n[{} more conflicts]", disputes.len() - MAX_SHOWN));
    }
    if !disputes.is_empty() {
        text.push_str(
            "\n[if they contradict each other: edit_memory or forget_memory one of each]",
        );
    }
    let names: Vec<&str> = scopes.iter().map(RecordScope::name).collect();
    text.push_str(&format!("\nScope: {}", names.join(" and ")));
    let structured = json!({
        "dry_run": dry,
        "commit": commit,
        "input": input,
        "merged": groups.len(),
        "superseded": superseded.len(),
        "conflicts": conflicts,
        "winners": groups.iter().map(|group| &group.winner.id).collect::<Vec<_>>(),
        "superseded_ids": superseded.iter().map(|(old, _)| &old.id).collect::<Vec<_>>(),
        "disputed": disputes.iter().map(|(new, old)| [&new.id, &old.id]).collect::<Vec<_>>(),
    });
    Ok(ToolResult::ok(text, structured))
}

fn supersede(call: &CallContext<'_>, superseded: &[(&MemoryRecord, &str)]) -> Result<String> {
    let outcome = call.memory.revise(
        &call.who,
        Some("consolidate memories"),
        |desk| -> Result<Vec<Step>> {
            let mut steps = Vec::new();
            for (old, by) in superseded {
                if let Some((text, _)) = desk.text(&old.place)? {
                    let text = set_key(&text, "superseded_by", MetaValue::Text((*by).to_owned()))?;
                    steps.push(Step::put(old.place.clone(), text));
                }
            }
            Ok(steps)
        },
    )?;
    match outcome {
        ReviseOutcome::Committed(commit) => Ok(commit.id.to_string()),
        ReviseOutcome::Unchanged => Ok("none".to_owned()),
        ReviseOutcome::Conflict(_) => {
            Err(RecordError::new("Something was changed meanwhile; nothing was done. Try again."))
        }
    }
}
