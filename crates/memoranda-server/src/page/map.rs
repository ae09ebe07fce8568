//! The map: every note as a point, in columns.

use std::collections::HashMap;

use axum::Json;
use axum::response::{IntoResponse, Response};
use memoranda_engine::{EngineError, MapPoint};
use serde::Serialize;
use serde_json::{Value, json};

use super::history_json::agent_json;
use super::request::PageRequest;
use crate::http_error::HttpError;

/// Maximum number of notes whose titles or links are sent at once.
const MAX_IDS: usize = 500;
/// Maximum number of links that are sent at once.
const MAX_LINKS: usize = 5_000;

/// The map as it is sent. A tree of JSON values would take thirty times the memory of its numbers.
#[derive(Serialize)]
struct MapAnswer {
    version: String,
    count: usize,
    projects: Vec<Value>,
    agents: Vec<Value>,
    columns: MapColumns,
}

/// The points, column by column.
#[derive(Serialize)]
struct MapColumns {
    id: Vec<i64>,
    x: Vec<f64>,
    y: Vec<f64>,
    project: Vec<usize>,
    agent: Vec<usize>,
    created: Vec<i64>,
    updated: Vec<i64>,
    read: Vec<i64>,
    degree: Vec<u32>,
}

/// Returns every note as a point, in columns.
pub(super) fn map(request: &PageRequest<'_>) -> Result<Response, HttpError> {
    let map = request.memory().map(request.project()?.as_ref())?;
    let project_numbers: HashMap<_, usize> =
        map.discs.iter().enumerate().map(|(number, (name, _))| (name.clone(), number)).collect();
    let mut counts = vec![0usize; map.discs.len()];
    let mut projects = Vec::with_capacity(map.notes.len());
    for note in &map.notes {
        let project = project_numbers.get(&*note.project).copied().unwrap_or(0);
        if let Some(count) = counts.get_mut(project) {
            *count += 1;
        }
        projects.push(project);
    }
    let times = |time: fn(&MapPoint) -> i64| map.notes.iter().map(time).collect::<Vec<_>>();
    // Rounded by the layout; a JSON number of an f32 would have more digits.
    let place = |value: f32| (f64::from(value) * 10_000.0).round() / 10_000.0;
    let discs = map.discs.iter().zip(counts).map(|((name, disc), count)| {
        json!({
            "name": name.as_str(),
            "x": place(disc.x),
            "y": place(disc.y),
            "r": place(disc.radius),
            "count": count,
        })
    });
    let xs: Vec<f64> = map.notes.iter().map(|note| place(note.x)).collect();
    let ys: Vec<f64> = map.notes.iter().map(|note| place(note.y)).collect();
    let mut hasher = blake3::Hasher::new();
    for coordinate in xs.iter().chain(&ys) {
        hasher.update(&coordinate.to_le_bytes());
    }
    let answer = MapAnswer {
        version: hasher.finalize().to_hex().chars().take(16).collect(),
        count: map.notes.len(),
        projects: discs.collect(),
        agents: map.agents.iter().map(agent_json).collect(),
        columns: MapColumns {
            id: map.notes.iter().map(|note| note.file).collect(),
            x: xs,
            y: ys,
            project: projects,
            agent: map.notes.iter().map(|note| note.agent).collect(),
            created: times(|note| note.created.as_second()),
            updated: times(|note| note.updated.as_second()),
            read: times(|note| note.last_read.map_or(0, jiff::Timestamp::as_second)),
            degree: map.notes.iter().map(|note| note.degree).collect(),
        },
    };
    Ok(Json(answer).into_response())
}

/// Returns the titles of some notes.
pub(super) fn titles(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let files =
        request.memory().snapshot()?.files_by_id(&ids(request)?).map_err(EngineError::from)?;
    let mut items = Vec::new();
    for file in files {
        if request.may_show(&file.project)? {
            items.push(json!({
                "id": file.id,
                "project": file.project.as_str(),
                "path": file.path.as_str(),
                "title": file.title,
            }));
        }
    }
    Ok(json!({ "items": items }))
}

/// Returns the links of some notes.
pub(super) fn links(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let snapshot = request.memory().snapshot()?;
    let mut edges: Vec<(i64, i64)> = Vec::new();
    for id in ids(request)? {
        let from = snapshot.relations_from(id)?;
        let to = snapshot.relations_to(id)?;
        for row in from.into_iter().chain(to) {
            edges.extend(row.target_file.map(|target| (row.file, target)));
        }
        if edges.len() > MAX_LINKS {
            break;
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges.truncate(MAX_LINKS);
    Ok(json!({ "edges": edges }))
}

fn ids(request: &PageRequest<'_>) -> Result<Vec<i64>, HttpError> {
    let parse = |text: &str| {
        text.parse::<i64>().map_err(|_| HttpError::bad_request("ids must be numbers with commas."))
    };
    request.required("ids")?.split(',').take(MAX_IDS).map(parse).collect()
}
