//! Forgetting records, bringing them back, and really removing them.

use jiff::{SignedDuration, Timestamp};
use memoranda_core::path::NotePath;
use memoranda_engine::{
    Memory, Place, RestoreOutcome, ReviseOutcome, Step, VacuumExtent, VacuumRequest, clock,
};
use serde_json::json;

use super::error::{RecordError, Result};
use super::kind::RecordKind;
use super::record::{MemoryRecord, RecordLocation, project, single_line};
use super::scope::{self, VisibleScopes};
use super::{query, write};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// How many records a preview shows.
const MAX_SHOWN: usize = 100;

/// `forget_memory`.
pub(super) fn forget(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let id = args.text("id")?;
    let id = id.trim();
    let gone = || {
        let hint = query::missing_record_hint(call.memory, id);
        RecordError::new(format!("Memory {id} not found or already forgotten. {hint}"))
    };
    if query::records_with_id(call.memory, id)?.is_empty() {
        return Err(gone());
    }
    let record = query::find_record(call.memory, id)?;
    let Some(commit) = delete_records(call, std::slice::from_ref(&record))? else {
        return Err(gone());
    };
    let text = format!(
        "Forgot memory {} ({}: {})\nrestore_memory brings it back until vacuum_memories. Commit {commit}.",
        record.id,
        record.kind.as_str(),
        single_line(&record.content, 80),
    );
    let structured = json!({
        "id": record.id,
        "scope": record.scope.name(),
        "path": record.place.to_string(),
        "commit": commit,
    });
    Ok(ToolResult::ok(text, structured))
}

/// Removes records in one commit; `None` if none of them was there.
fn delete_records(call: &CallContext<'_>, records: &[MemoryRecord]) -> Result<Option<String>> {
    let outcome = call.memory.revise(&call.who, None, |desk| -> Result<Vec<Step>> {
        let mut steps = Vec::with_capacity(records.len());
        for record in records {
            if desk.text(&record.place)?.is_some() {
                steps.push(Step::remove(record.place.clone()));
            }
        }
        Ok(steps)
    })?;
    Ok(match outcome {
        ReviseOutcome::Committed(commit) => Some(commit.id.to_string()),
        ReviseOutcome::Unchanged | ReviseOutcome::Conflict(_) => None,
    })
}

/// Which records a bulk deletion takes.
struct DeleteFilter {
    kinds: Option<Vec<RecordKind>>,
    tags: Vec<String>,
    older_than: Option<Timestamp>,
    pattern: Option<String>,
}

impl DeleteFilter {
    fn read(args: &ToolArgs) -> Result<Self> {
        let kinds = write::kinds(args, "types")?.filter(|kinds| !kinds.is_empty());
        let tags = write::tags(args)?.unwrap_or_default();
        let days = args.number("older_than_days", 1, 36_500)?;
        let pattern = args.optional_text("pattern")?.filter(|pattern| !pattern.is_empty());
        let all = args.flag("all")?.unwrap_or(false);
        let any = kinds.is_some() || !tags.is_empty() || days.is_some() || pattern.is_some();
        let project = scope::named(args)?.is_some();
        if all && (any || project) {
            return Err(RecordError::new(
                "Cannot combine all:true with other filters. Leave out either `all` or the filters.",
            ));
        }
        if !all && !any {
            return Err(RecordError::new(
                "Provide at least one filter (types, tags, older_than_days, pattern), or all:true. \
                 project_id alone is not enough: add types to say what to forget.",
            ));
        }
        let older_than = days.map(|days| {
            let age = SignedDuration::from_hours(24 * i64::try_from(days).unwrap_or(i64::MAX / 24));
            clock::now().saturating_sub(age).unwrap_or(Timestamp::MIN)
        });
        Ok(Self { kinds, tags, older_than, pattern })
    }

    fn matches(&self, record: &MemoryRecord) -> bool {
        let has_tag = |wanted: &String| {
            let wanted = wanted.to_lowercase();
            record.tags.iter().any(|tag| tag.to_lowercase().contains(&wanted))
        };
        self.older_than.is_none_or(|time| record.created < time)
            && (self.tags.is_empty() || self.tags.iter().any(has_tag))
            && self.pattern.as_ref().is_none_or(|pattern| matches_pattern(pattern, &record.content))
    }
}

/// Whether a pattern with `*` and `?` stands anywhere in a text, upper and lower case the same.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = format!("*{pattern}*").to_lowercase().chars().collect();
    let text: Vec<char> = text.to_lowercase().chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where the last star was, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some('?') => (p, t) = (p + 1, t + 1),
            Some(c) if Some(c) == text.get(t) => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, t) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

/// `bulk_forget_memories`.
pub(super) fn bulk_forget(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let filters = DeleteFilter::read(args)?;
    // A project that is named is meant alone; without one, all that the caller can see.
    let reach = match scope::named(args)? {
        Some(project) => VisibleScopes::only(project),
        None => scope::reach(call.settings, args)?,
    };
    let kinds = filters.kinds.clone().unwrap_or_else(|| RecordKind::ALL.to_vec());
    let mut found = Vec::new();
    for scope in &reach.scopes {
        for kind in &kinds {
            found.extend(query::records_of_kind(call.memory, scope, *kind)?);
        }
    }
    found.retain(|record| filters.matches(record));
    let names: Vec<&str> = reach.scopes.iter().map(scope::RecordScope::name).collect();
    let scope = names.join(" and ");
    let count = found.len();
    let memories = if count == 1 { "memory" } else { "memories" };
    if args.flag("dry_run")?.unwrap_or(false) {
        let mut text =
            format!("Found {count} {memories} matching filters (dry run — nothing deleted)\n");
        for record in found.iter().take(MAX_SHOWN) {
            let preview = single_line(&record.content, 80);
            text.push_str(&format!("{} [{}] {preview}\n", record.id, record.kind.as_str()));
        }
        if count > MAX_SHOWN {
            text.push_str(&format!("… and {} more.\n", count - MAX_SHOWN));
        }
        text.push_str(&format!("Scope: {scope}"));
        let shown = found.iter().take(MAX_SHOWN).map(|record| {
            json!({
                "id": record.id,
                "type": record.kind.as_str(),
                "contentPreview": single_line(&record.content, 80),
            })
        });
        let shown: Vec<_> = shown.collect();
        return Ok(ToolResult::ok(
            text,
            json!({ "count": count, "memories": shown, "dry_run": true, "scope": scope }),
        ));
    }
    let commit = delete_records(call, &found)?;
    let ids: Vec<&str> = found.iter().map(|record| record.id.as_str()).collect();
    let mut text = format!("Bulk deleted {count} {memories}\nScope: {scope}");
    if let Some(commit) = &commit {
        text.push_str(&format!(
            "\nrestore_memory {{\"commit\": \"{commit}\"}} brings all of them back until vacuum_memories."
        ));
    }
    let structured =
        json!({ "count": count, "ids": ids, "dry_run": false, "scope": scope, "commit": commit });
    Ok(ToolResult::ok(text, structured))
}

/// `restore_memory`.
pub(super) fn restore(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    match (args.optional_text("id")?, args.optional_text("commit")?) {
        (Some(id), None) => restore_one(call, id.trim()),
        (None, Some(commit)) => restore_commit(call, commit.trim()),
        (None, None) => list_restorable(call, &scope::reach(call.settings, args)?),
        (Some(_), Some(_)) => Err(RecordError::new("Give `id` or `commit`, not both.")),
    }
}

fn restore_one(call: &CallContext<'_>, id: &str) -> Result<ToolResult> {
    let deleted = deleted_paths(call.memory, Some(id))?;
    let path = match deleted.as_slice() {
        [(path, _)] => path.clone(),
        // One of several by its path, or the one that was deleted last.
        [(last, _), ..] => {
            let meant = query::path_from_id(id);
            let named = deleted.iter().find(|(path, _)| Some(path) == meant.as_ref());
            named.map_or(last, |(path, _)| path).clone()
        }
        [] => {
            return Err(RecordError::new(if query::records_with_id(call.memory, id)?.is_empty() {
                format!(
                    "No deleted memory has the id {id}. restore_memory without arguments lists \
                     what can be restored; what was vacuumed cannot."
                )
            } else {
                format!("Memory {id} is not deleted: there is nothing to restore.")
            }));
        }
    };
    match call.memory.restore(&call.who, Some(project().as_str()), path.as_str(), None)? {
        RestoreOutcome::Unchanged(..) => Err(RecordError::new(format!(
            "Memory {id} is not deleted: there is nothing to restore."
        ))),
        RestoreOutcome::Restored(restored) => {
            let commit = restored.commit.id.to_string();
            let place = Place { project: project(), path };
            let Some(record) = query::record_at(call.memory, &place)? else {
                let text = format!("Restored {place} · commit {commit}");
                let structured = json!({ "path": place.to_string(), "commit": commit });
                return Ok(ToolResult::ok(text, structured));
            };
            let text = format!(
                "Restored {} {}: {}\n{} · commit {commit}",
                record.kind.label(),
                record.id,
                single_line(&record.content, 200),
                record.place,
            );
            let mut structured = record.to_json();
            structured["path"] = json!(record.place.to_string());
            structured["commit"] = json!(commit);
            Ok(ToolResult::ok(text, structured))
        }
    }
}

fn restore_commit(call: &CallContext<'_>, id: &str) -> Result<ToolResult> {
    let forgot = call.memory.commit(id)?;
    let is_deletion =
        forgot.files.iter().all(|file| file.project == project() && file.after.is_none());
    if !is_deletion {
        return Err(RecordError::new(format!(
            "Commit {id} did not only forget memories; `memoranda undo {id}` takes any commit back."
        )));
    }
    let mut contents = Vec::with_capacity(forgot.files.len());
    for file in &forgot.files {
        if let Some(hash) = file.before {
            let place = Place { project: project(), path: file.path.clone() };
            contents.push((place, call.memory.store().content(hash)?));
        }
    }
    // What was restored since, by its id, is left as it is now.
    let mut back: Vec<Place> = Vec::new();
    let message = format!("undo {}", forgot.id);
    let outcome = call.memory.revise(&call.who, Some(&message), |desk| -> Result<Vec<Step>> {
        back.clear();
        let mut steps = Vec::new();
        for (place, content) in &contents {
            if desk.bytes(place)?.is_none() {
                steps.push(Step::create(place.clone(), content.clone()));
                back.push(place.clone());
            }
        }
        Ok(steps)
    })?;
    let ReviseOutcome::Committed(commit) = outcome else {
        return Err(RecordError::new(format!(
            "Everything that commit {id} forgot is there already."
        )));
    };
    let (commit, kept) = (commit.id.to_string(), contents.len() - back.len());
    let ids: Vec<&str> = back.iter().map(|place| place.path.stem()).collect();
    let memories = if ids.len() == 1 { "memory" } else { "memories" };
    let mut text =
        format!("Restored {} {memories}: {}\nCommit {commit}.", ids.len(), ids.join(", "));
    if kept > 0 {
        text.push_str(&format!(" {kept} of that commit were there already."));
    }
    Ok(ToolResult::ok(text, json!({ "count": ids.len(), "ids": ids, "commit": commit })))
}

/// What can be restored, the last deleted first.
fn list_restorable(call: &CallContext<'_>, reach: &VisibleScopes) -> Result<ToolResult> {
    const MAX_LISTED: usize = 20;
    let (mut lines, mut wire, mut more) = (String::new(), Vec::new(), 0);
    for (path, time) in deleted_paths(call.memory, None)? {
        let Some(at) = RecordLocation::parse(&path) else { continue };
        let Some(scope) = reach.scopes.iter().find(|scope| scope.folder() == at.folder) else {
            continue;
        };
        if wire.len() == MAX_LISTED {
            more += 1;
            continue;
        }
        let place = Place { project: project(), path };
        let revisions = call.memory.revisions(&place, 1)?;
        let before = revisions.first().and_then(|revision| revision.change.before);
        let Some(Ok(bytes)) = before.map(|hash| call.memory.store().content(hash)) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let note = memoranda_core::note::parse(&text);
        if !scope.owns(&json!({ "project": note.frontmatter.text("project") })) {
            continue;
        }
        let preview = single_line(text.get(note.body).unwrap_or_default(), 80);
        let (id, when) = (place.path.stem(), time.strftime("%Y-%m-%d %H:%M UTC"));
        lines.push_str(&format!("\n{id} [{}] deleted {when}: {preview}", at.kind.as_str()));
        wire.push(json!({
            "id": id, "type": at.kind.as_str(), "path": place.to_string(),
            "deleted": time.to_string(), "contentPreview": preview,
        }));
    }
    let said = reach.describe();
    let mut text = match wire.len() {
        0 => "Nothing to restore.".to_owned(),
        _ => format!("What can be restored by id, the last deleted first:{lines}"),
    };
    if more > 0 {
        text.push_str(&format!("\n… and about {more} older ones."));
    }
    text.push_str(&format!("\n{said}"));
    Ok(ToolResult::ok(text, json!({ "deleted": wire })))
}

fn deleted_paths(memory: &Memory, id: Option<&str>) -> Result<Vec<(NotePath, Timestamp)>> {
    let name = id.map(|id| match query::path_from_id(id) {
        Some(path) => path.as_str().to_owned(),
        None => format!("{}.md", id.strip_suffix(".md").unwrap_or(id)),
    });
    let mut deleted = memory.store().deleted(&project(), name.as_deref())?;
    deleted.retain(|(path, _)| RecordLocation::parse(path).is_some());
    Ok(deleted)
}

/// `vacuum_memories`.
pub(super) fn vacuum(call: &CallContext<'_>, _: &ToolArgs) -> Result<ToolResult> {
    let vacuum = VacuumRequest {
        project: Some(project()),
        before: Timestamp::MAX,
        what: VacuumExtent::Deleted,
    };
    // What was purged before has no content left, and is not counted again.
    let purged = deleted_paths(call.memory, None)?.len();
    let report = call.memory.vacuum(&vacuum)?;
    let message = format!(
        "Vacuumed {purged} soft-deleted {}",
        if purged == 1 { "memory" } else { "memories" }
    );
    let text = format!("{message}\nThe history shrank by {} bytes.", report.bytes);
    Ok(ToolResult::ok(text, json!({ "purged": purged, "message": message, "bytes": report.bytes })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_anywhere() {
        for (pattern, text, expected) in [
            ("npm", "Use pnpm, not npm", true),
            ("use*npm", "Use pnpm, not npm", true),
            ("p?pm", "Use pnpm", true),
            ("p?pm", "Use ppm", false),
            ("*", "", true),
            ("a*b*c", "xxaxxbxxcxx", true),
            ("a*b*c", "xxcxxbxxaxx", false),
            ("é?", "CAFÉS", true),
            ("100%_", "100%_ sure", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }
}
