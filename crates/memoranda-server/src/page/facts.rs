//! Facts with their versions, now or at a moment.

use memoranda_engine::core::note::{self, Observation};
use memoranda_engine::{EngineError, FactFilter, NoteLocation, PointInTime};
use serde_json::{Value, json};

use super::request::PageRequest;
use super::tree_json::fact_json;
use crate::http_error::HttpError;

/// A fact of the list: where it stands, and the text of its note if that is not the present one.
struct ListedFact {
    place: NoteLocation,
    title: String,
    line: usize,
    past_text: Option<String>,
}

/// Returns facts in force, each with its earlier versions.
pub(super) fn facts(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let filter = FactFilter {
        project: request.project()?,
        category: request.text("category").map(str::to_owned),
        text: request.text("q").map(str::to_owned),
    };
    let (limit, offset) = (request.limit()?, request.offset()?);
    let moment = request.moment("at")?;
    let (found, total) = match moment {
        Some(moment) => facts_then(request, moment, &filter, (limit, offset))?,
        None => (facts_now(request, &filter, (limit, offset))?, None),
    };
    let has_more = found.len() > limit;
    let mut items = Vec::new();
    let mut last: Option<(NoteLocation, Vec<Observation>)> = None;
    for row in found.into_iter().take(limit) {
        let place = row.place;
        if last.as_ref().is_none_or(|(known, _)| *known != place) {
            let text = match row.past_text {
                Some(text) => text,
                None => memory.read_at(&place)?.lossy_text().into_owned(),
            };
            last = Some((place.clone(), note::parse(&text).observations));
        }
        let observations = last.as_ref().map(|(_, facts)| facts.as_slice()).unwrap_or_default();
        let Some(fact) = observations.iter().find(|fact| fact.line == row.line) else {
            continue;
        };
        items.push(json!({
            "project": place.project.as_str(),
            "path": place.path.as_str(),
            "title": row.title,
            "line": fact.line,
            "fact": fact_json(fact),
            "versions": versions(fact, observations),
        }));
    }
    let at = moment.map(|moment| memory.moment_time(moment)).transpose()?;
    Ok(json!({
        "items": items,
        "total": total,
        "at": at.map(|time| time.to_string()),
        "next": has_more.then(|| (offset + limit).to_string()),
    }))
}

fn facts_now(
    request: &PageRequest<'_>,
    filter: &FactFilter,
    (limit, offset): (usize, usize),
) -> Result<Vec<ListedFact>, HttpError> {
    let snapshot = request.vault().snapshot()?;
    let found = snapshot.fact_list(filter, (limit + 1, offset)).map_err(EngineError::from)?;
    let fact = |row: memoranda_engine::WorkItem| ListedFact {
        place: NoteLocation { project: row.project, path: row.path },
        title: row.title,
        line: row.line.unwrap_or(0),
        past_text: None,
    };
    Ok(found.into_iter().map(fact).collect())
}

fn facts_then(
    request: &PageRequest<'_>,
    moment: PointInTime,
    filter: &FactFilter,
    (limit, offset): (usize, usize),
) -> Result<(Vec<ListedFact>, Option<usize>), HttpError> {
    let found = request.vault().facts_as_of(moment, filter)?;
    let total = found.len();
    let fact = |fact: memoranda_engine::FactAsOf| ListedFact {
        place: fact.place,
        title: fact.title,
        line: fact.line,
        past_text: fact.text,
    };
    Ok((found.into_iter().skip(offset).take(limit + 1).map(fact).collect(), Some(total)))
}

/// Returns a fact and those that it replaced, the newest first.
fn versions(fact: &Observation, all: &[Observation]) -> Vec<Value> {
    let version = |fact: &Observation| {
        json!({
            "text": fact.text,
            "time": fact.meta.as_ref().and_then(|meta| meta.time).map(|time| time.to_string()),
            "version": fact.meta.as_ref().map_or(1, |meta| meta.version),
            "struck": fact.struck,
        })
    };
    let mut versions = vec![version(fact)];
    let mut current = fact;
    while versions.len() <= all.len() {
        let Some(id) = current.meta.as_ref().map(|meta| &meta.id) else { break };
        let is_before = |older: &&Observation| {
            older.meta.as_ref().is_some_and(|meta| meta.superseded_by.as_ref() == Some(id))
        };
        let Some(older) = all.iter().find(is_before) else { break };
        versions.push(version(older));
        current = older;
    }
    versions
}
