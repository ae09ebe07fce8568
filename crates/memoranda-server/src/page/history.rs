//! History: commits, versions of a note, differences, and who wrote each line.

use memoranda_engine::core::change::{ChangeChannel, FileChange};
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    AgentIdentity, EngineError, FileDiff, HistoryFilter, LedgerFilter, NoteLocation,
};
use serde_json::{Value, json};

use super::history_json::{agent_json, diff_json, entry_json, file_json, kind_name};
use super::request::{PageRequest, place_json};
use crate::http_error::HttpError;

/// Maximum number of files of a commit whose differences are sent.
const MAX_DIFFS: usize = 50;
/// Maximum number of versions of one note.
const MAX_VERSIONS: usize = 10_000;

/// Returns commits, newest first.
pub(super) fn history(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let channel = request.text("channel").map(|name| {
        ChangeChannel::parse(name)
            .ok_or_else(|| HttpError::bad_request("There is no such channel."))
    });
    let path = request.text("path").map(NotePath::parse).transpose();
    let filter = LedgerFilter {
        history: HistoryFilter {
            project: request.project()?,
            path: path.map_err(|error| HttpError::bad_request(format!("path: {error}.")))?,
            since: request.time("since")?,
            until: request.time("until")?,
            before: request.cursor()?,
            client: request.text("client").map(str::to_owned),
            conversation: None,
        },
        agent: request.text("agent").map(str::to_owned),
        tool: request.text("tool").map(str::to_owned),
        channel: channel.transpose()?,
        after: None,
    };
    let page = memory.ledger(&filter, request.limit()?)?;
    Ok(json!({
        "items": page.entries.iter().map(entry_json).collect::<Vec<_>>(),
        "next": page.next.map(|id| id.to_string()),
    }))
}

/// Returns a commit with its differences.
pub(super) fn commit(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let commit = memory.commit(request.required("id")?)?;
    for file in &commit.files {
        request.check_shown(&file.project)?;
    }
    let entry = memory.ledger_entries(std::slice::from_ref(&commit))?;
    let files: Vec<Value> = commit
        .files
        .iter()
        .take(MAX_DIFFS)
        .map(|file| change_json(request, file))
        .collect::<Result<_, _>>()?;
    Ok(json!({
        "entry": entry.first().map(entry_json),
        "more_files": commit.files.len().saturating_sub(MAX_DIFFS),
        "files": files,
    }))
}

/// Returns the difference of a file's change, with its hashes.
pub(super) fn change_json(
    request: &PageRequest<'_>,
    change: &FileChange,
) -> Result<Value, HttpError> {
    let memory = request.vault();
    let file = memory.ledger_file(change)?;
    let diff = memory.file_diff(change)?;
    let mut json = diff_json(&diff, &file.title);
    json["before_hash"] = json!(change.before.map(|hash| hash.to_string()));
    json["after_hash"] = json!(change.after.map(|hash| hash.to_string()));
    Ok(json)
}

/// Returns the conversation of a commit.
pub(super) fn conversation(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let conversation = memory.conversation(request.required("id")?)?;
    let mut places: Vec<NoteLocation> = Vec::new();
    for file in conversation.commits.iter().flat_map(|commit| &commit.files) {
        request.check_shown(&file.project)?;
        let place = NoteLocation { project: file.project.clone(), path: file.path.clone() };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let entries = memory.ledger_entries(&conversation.commits)?;
    Ok(json!({
        "conversation": conversation.id,
        "agent": agent_json(&conversation.agent),
        "first": conversation.commits.last().map(|commit| commit.time.to_string()),
        "last": conversation.commits.first().map(|commit| commit.time.to_string()),
        "entries": entries.iter().map(entry_json).collect::<Vec<_>>(),
        "files": places.iter().map(place_json).collect::<Vec<_>>(),
    }))
}

/// Returns the files that differ between two moments.
pub(super) fn compare(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let from = request
        .moment("from")?
        .ok_or_else(|| HttpError::bad_request("from is missing: a commit or a time."))?;
    let to = request.moment("to")?;
    let changes = memory.compare_moments(from, to, request.project()?.as_ref())?;
    let (limit, offset) = (request.limit()?, request.offset()?);
    let mut files = Vec::new();
    for change in changes.iter().skip(offset).take(limit) {
        let change = change.as_file_change();
        let mut json = file_json(&memory.ledger_file(&change)?);
        let diff = diff_json(&memory.file_diff(&change)?, "");
        json["added"] = diff["added"].clone();
        json["removed"] = diff["removed"].clone();
        files.push(json);
    }
    let to_time = to.map(|to| memory.moment_time(to)).transpose()?;
    let has_more = changes.len() > offset + limit;
    Ok(json!({
        "from": { "time": memory.moment_time(from)?.to_string() },
        "to": { "time": to_time.map(|time| time.to_string()) },
        "total": changes.len(),
        "files": files,
        "next": has_more.then(|| (offset + limit).to_string()),
    }))
}

/// Returns the versions of a note, newest first.
pub(super) fn versions(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let place = request.place()?;
    let (limit, offset) = (request.limit()?, request.offset()?);
    let revisions = memory.revisions(&place, MAX_VERSIONS)?;
    let mut items = Vec::new();
    for revision in revisions.iter().skip(offset).take(limit) {
        let commit = &revision.commit;
        let file = memory.ledger_file(&revision.change)?;
        let diff = memory.file_diff(&revision.change).map(|diff| diff_json(&diff, ""));
        let counts = diff.unwrap_or_else(|_| json!({ "added": null, "removed": null }));
        items.push(json!({
            "commit": commit.id.as_str(),
            "time": commit.time.to_string(),
            "agent": agent_json(&memory.agent_of(&commit.author)),
            "client": commit.author.client,
            "tool": commit.author.tool,
            "channel": commit.author.channel.as_str(),
            "kind": kind_name(commit),
            "message": commit.message,
            "action": file.action,
            "path": revision.change.path.as_str(),
            "hash": revision.change.after.map(|hash| hash.to_string()),
            "added": counts["added"],
            "removed": counts["removed"],
        }));
    }
    let has_more = revisions.len() > offset + limit;
    Ok(json!({
        "items": items,
        "total": revisions.len(),
        "next": has_more.then(|| (offset + limit).to_string()),
    }))
}

/// Returns who wrote each line.
pub(super) fn blame(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let place = request.place()?;
    let blame = memory.blame(&place, request.moment("at")?)?;
    let mut authors: Vec<(AgentIdentity, usize)> = Vec::new();
    let mut lines = Vec::new();
    let mut runs = Vec::new();
    for (number, run) in blame.runs.iter().enumerate() {
        let commit = &run.commit;
        let agent = memory.agent_of(&commit.author);
        match authors.iter_mut().find(|(known, _)| *known == agent) {
            Some((_, count)) => *count += run.lines,
            None => authors.push((agent.clone(), run.lines)),
        }
        lines.extend((0..run.lines).map(|n| json!({ "line": run.first_line + n, "run": number })));
        runs.push(json!({
            "commit": commit.id.as_str(),
            "time": commit.time.to_string(),
            "agent": agent_json(&agent),
            "client": commit.author.client,
            "tool": commit.author.tool,
            "channel": commit.author.channel.as_str(),
            "first": run.first_line,
            "count": run.lines,
        }));
    }
    authors.sort_by(|(a, a_lines), (b, b_lines)| b_lines.cmp(a_lines).then_with(|| a.cmp(b)));
    let authors =
        authors.iter().map(|(agent, lines)| json!({ "agent": agent_json(agent), "lines": lines }));
    Ok(json!({
        "hash": blame.hash.to_string(),
        "authors": authors.collect::<Vec<_>>(),
        "lines": lines,
        "runs": runs,
    }))
}

/// Returns the differences of a note between two moments.
pub(super) fn note_diff(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let place = request.place()?;
    let from = request
        .moment("from")?
        .ok_or_else(|| HttpError::bad_request("from is missing: a commit or a time."))?;
    let to = request.moment("to")?;
    let diff: FileDiff =
        memory.diff(Some(place.project.as_str()), place.path.as_str(), from, to)?;
    let known = memory.snapshot()?.file(&place.project, &place.path).map_err(EngineError::from)?;
    let title = known.map(|file| file.title).unwrap_or_default();
    Ok(diff_json(&diff, &title))
}

/// Returns deleted notes, the last deleted first.
pub(super) fn deleted(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let projects = match request.project()? {
        Some(project) => vec![project],
        None => memory.list_projects()?.into_iter().map(|project| project.name).collect(),
    };
    let mut found = Vec::new();
    for project in projects {
        for (path, time) in memory.snapshot()?.deleted(&project, None)? {
            found.push((time, NoteLocation { project: project.clone(), path }));
        }
    }
    found.sort_by(|a, b| b.cmp(a));
    let (limit, offset) = (request.limit()?, request.offset()?);
    let has_more = found.len() > offset + limit;
    let mut items = Vec::new();
    for (time, place) in found.into_iter().skip(offset).take(limit) {
        let last = memory.revisions(&place, 1)?.into_iter().next();
        let name = place.path.as_str().rsplit('/').next().unwrap_or_default();
        items.push(json!({
            "project": place.project.as_str(),
            "path": place.path.as_str(),
            "title": name.strip_suffix(".md").unwrap_or(name),
            "time": time.to_string(),
            "agent": last.as_ref().map(|last| agent_json(&memory.agent_of(&last.commit.author))),
            "commit": last.map(|last| last.commit.id.to_string()),
        }));
    }
    Ok(json!({ "items": items, "next": has_more.then(|| (offset + limit).to_string()) }))
}
