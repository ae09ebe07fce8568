//! Status of the vault.

use std::path::Path;
use std::time::Duration;

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::{HistoryFilter, IndexProgress, ProjectPlace, WriteObstacle};
use serde_json::{Value, json};

use super::history_json::agent_json;
use super::request::PageRequest;
use crate::http_error::HttpError;

/// Number of days of activity by which the agents are listed.
const AGENT_DAYS: usize = 3650;

/// Returns the vault, its projects, counts and agents.
pub(super) fn status(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.vault();
    let progress = memory.await_index(Duration::ZERO, &|_, _| ())?;
    let status = memory.status()?;
    let only = request.only_project()?;
    let mut problems = Vec::new();
    let index = match progress {
        IndexProgress::Whole => {
            let notes = status.counts.notes;
            json!({ "state": "whole", "done": notes, "total": notes })
        }
        IndexProgress::Part { done, total } => {
            let detail = "The index is being built: what is not read yet is missing here.";
            problems.push(json!({ "code": "index-building", "detail": detail }));
            json!({ "state": "building", "done": done, "total": total })
        }
    };
    let mut projects = Vec::new();
    for info in status
        .projects
        .iter()
        .filter(|info| only.as_ref().is_none_or(|only| *only == info.project.name))
    {
        let name = info.project.name.as_str();
        let folder = &info.project.path;
        if !folder.is_dir() || memory.reach_project(&info.project).is_err() {
            let shown = shown_folder(request, folder);
            let detail = format!(
                "The folder of project {name} cannot be reached{shown}. What is known of it stays; \
                 nothing can be written there until it is back."
            );
            problems.push(json!({ "code": "project-absent", "project": name, "detail": detail }));
        }
        projects.push(json!({
            "name": name,
            "notes": info.notes,
            "folder": if request.team.is_none() { folder.display().to_string() } else { String::new() },
            "outside": info.project.place != ProjectPlace::Vault,
        }));
    }
    let refusal = request.write_refusal();
    if let Some(refusal) = &refusal {
        problems.push(json!({ "code": refusal.code, "detail": refusal.message }));
    }
    if let Some(obstacle) = memory.write_obstacle() {
        let (code, detail) = obstacle_sentence(obstacle, request);
        problems.push(json!({ "code": code, "detail": detail }));
    }
    let filter = HistoryFilter { project: only.clone(), ..HistoryFilter::default() };
    let head = memory.log(&filter, 1, 0)?.into_iter().next().map(|commit| commit.id.to_string());
    let activity = memory.activity(AGENT_DAYS, only.as_ref())?;
    let agents = activity.agents.iter().map(|activity| {
        let mut agent = agent_json(&activity.agent);
        agent["writes"] = json!(activity.total);
        agent["last"] = json!(activity.last.to_string());
        agent["clients"] = json!(activity.clients);
        agent
    });
    let default_project = &request.page.catalog.settings.notes.default_project;
    let default_project = only.as_ref().map_or(default_project.as_str(), ProjectName::as_str);
    let model = status.model.as_ref().map(|model| match &model.coverage {
        Ok(coverage) => {
            let left = coverage.passages.saturating_sub(coverage.covered);
            json!({ "id": model.model, "left": left })
        }
        Err(reason) => json!({ "id": model.model, "reason": reason }),
    });
    Ok(json!({
        "vault": vault_json(request),
        "team": request.team.as_ref().map(|team| team.page_json()),
        "version": request.page.catalog.version,
        "read_only": refusal.is_some(),
        "can_manage": request.page.is_local && !request.page.is_read_only,
        "head": head,
        "projects": projects,
        "default_project": default_project,
        "counts": {
            "notes": status.counts.notes,
            "passages": status.counts.passages,
            "observations": status.counts.observations,
            "relations": status.counts.relations,
            "unresolved": status.counts.unresolved,
            "commits": status.counts.commits,
        },
        "log_bytes": status.log_bytes,
        "watched": status.watched,
        "indexed": status.indexed,
        "index": index,
        "model": model,
        "problems": problems,
        "agents": agents.collect::<Vec<_>>(),
    }))
}

/// Returns the code and the sentence of an obstacle to writing.
pub(super) fn obstacle_sentence(
    obstacle: WriteObstacle,
    request: &PageRequest<'_>,
) -> (&'static str, String) {
    let home = shown_folder(request, request.vault().home());
    match obstacle {
        WriteObstacle::Absent => (
            "vault-absent",
            format!(
                "The folder of the vault cannot be reached{home}. Is its drive mounted? \
                 Nothing is lost, and nothing can be written until it is back."
            ),
        ),
        WriteObstacle::ReadOnly => (
            "vault-read-only",
            format!(
                "The folder of the vault is read-only{home}: everything can be read, and \
                 nothing can be written."
            ),
        ),
        WriteObstacle::DiskFull => (
            "disk-full",
            format!(
                "The disk of the vault is full{home}: everything can be read, and nothing can \
                 be written until there is room."
            ),
        ),
    }
}

/// Returns a folder in brackets. Folders of a team server are the operator's matter.
fn shown_folder(request: &PageRequest<'_>, folder: &Path) -> String {
    if request.team.is_some() { String::new() } else { format!(" ({})", folder.display()) }
}

/// Returns the vault by its names.
pub(super) fn vault_json(request: &PageRequest<'_>) -> Value {
    let memory = request.vault();
    if let Some(team) = &request.team {
        let space = team.spaces().first().map(|space| space.name.clone()).unwrap_or_default();
        return json!({ "name": space, "home": "", "device": memory.device() });
    }
    let home = memory.home();
    let name = home.file_name().map(|name| name.to_string_lossy().into_owned());
    json!({
        "name": name.unwrap_or_default(),
        "home": home.display().to_string(),
        "device": memory.device(),
    })
}
