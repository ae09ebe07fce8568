//! A note: its tree, properties, facts, links, and the graph around it.

use std::cell::RefCell;
use std::collections::HashMap;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::note::tree::{LinkReference, SecretDisplay, markdown_tree};
use memoranda_engine::core::note::{self, Note};
use memoranda_engine::core::secrets::find_secrets;
use memoranda_engine::{
    EngineError, GraphRequest, LinkSentence, Memory, NoteLocation, ReadNote, ResolveIntent,
    link_key, meta_json,
};
use serde_json::{Value, json};

use super::history_json::agent_json;
use super::request::{PageRequest, place_json, segments};
use super::tree_json::{blocks_json, fact_json};
use crate::http_error::HttpError;

/// Maximum number of bytes of a text that is sent as a tree.
const MAX_TREE_BYTES: usize = 4 << 20;
/// Maximum number of names that are resolved in one note.
const MAX_RESOLVED: usize = 500;
/// Maximum number of notes of a local graph.
const MAX_GRAPH_NODES: usize = 200;
/// Number of lines of the register of revealed secrets.
const KEPT_REVEALS: usize = 1000;

/// Returns a note, now or at a moment.
pub(super) fn note(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let place = match request.text("name") {
        Some(name) => {
            let project = request.text("from_project").or(request.text("project"));
            let found =
                memory.resolve(project, name, ResolveIntent::Read).or_else(|error| match project {
                    Some(_) => memory.resolve(None, name, ResolveIntent::Read).map_err(|_| error),
                    None => Err(error),
                });
            match found {
                Ok(resolved) => resolved.place,
                Err(error) => return Err(missing(request, name, error)?),
            }
        }
        None => request.place()?,
    };
    request.check_shown(&place.project)?;
    let moment = request.moment("at")?;
    let read = match moment {
        Some(moment) => {
            let project = Some(place.project.as_str());
            memory.read_as_of(project, place.path.as_str(), moment)?
        }
        None => match memory.read_at(&place) {
            Ok(read) => read,
            Err(error @ EngineError::NotFound { .. }) => {
                return Err(missing(request, place.path.as_str(), error)?);
            }
            Err(error) => return Err(error.into()),
        },
    };
    let mut answer = note_json(request, &read)?;
    answer["at"] = match moment {
        Some(_) => json!({ "commit": request.text("at"), "time": read.modified.to_string() }),
        None => Value::Null,
    };
    Ok(answer)
}

/// Returns the answer for a note that nobody has written: how many links lead there.
fn missing(
    request: &PageRequest<'_>,
    name: &str,
    error: EngineError,
) -> Result<HttpError, HttpError> {
    let name = name.strip_suffix(".md").unwrap_or(name);
    let key = link_key(name.rsplit('/').next().unwrap_or(name));
    let project = request.text("from_project").or(request.text("project"));
    let project = project.and_then(|name| ProjectName::parse(name).ok());
    let links = project.and_then(|project| {
        let file_names = [key.clone()];
        request.vault().snapshot().ok()?.relations_concerning(&project, &[], &file_names).ok()
    });
    let links = links.map_or(0, |rows| rows.len());
    let error = HttpError::from(error);
    let is_missing = error.status == axum::http::StatusCode::NOT_FOUND;
    Ok(error.with("missing", is_missing).with("linked_from", links))
}

fn note_json(request: &PageRequest<'_>, read: &ReadNote) -> Result<Value, HttpError> {
    let memory = request.vault();
    let place = &read.place;
    let text = read.text().ok().filter(|text| read.is_text() && text.len() <= MAX_TREE_BYTES);
    let reveals = request.is_set("reveal");
    let secrets = text.map(find_secrets).unwrap_or_default();
    if reveals && !secrets.is_empty() {
        tracing::info!(note = %place, "the page shows the secrets of a note");
        let line = format!("{place} {}", read.hash);
        if let Err(error) = memory.leave_notice("reveals", &line, KEPT_REVEALS) {
            tracing::warn!(%error, "cannot record that secrets were shown");
        }
    }
    let is_markdown = place.path.is_markdown();
    let note: Option<Note> = text.filter(|_| is_markdown).map(note::parse);
    let summary = read.summary.as_ref();
    let name = place.path.as_str().rsplit('/').next().unwrap_or_default();
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let title = summary.map(|file| file.title.clone()).filter(|title| !title.is_empty());
    let title = title.or_else(|| note.as_ref().and_then(Note::title));
    let display = if reveals { SecretDisplay::Shown } else { SecretDisplay::Masked };
    let tree = match text {
        Some(text) if is_markdown => {
            let resolver = NoteResolver::new(memory, place);
            blocks_json(&markdown_tree(text, display), &|link| resolver.resolve(link))
        }
        _ => Vec::new(),
    };
    let is_plain = reveals || secrets.is_empty();
    let shown_text = text.filter(|_| is_plain || request.is_set("with_text"));
    let kind = match (is_markdown, text) {
        (true, Some(_)) => "markdown",
        (false, Some(_)) => "text",
        (_, None) => "binary",
    };
    let last_read = last_read(memory, place);
    Ok(json!({
        "project": place.project.as_str(),
        "path": place.path.as_str(),
        "title": title.unwrap_or_else(|| stem.to_owned()),
        "permalink": summary.map(|file| file.permalink.clone()),
        "type": summary.map(|file| file.note_type.clone())
            .or_else(|| note.as_ref().map(Note::note_type)),
        "kind": kind,
        "hash": read.hash.to_string(),
        "text": shown_text,
        "size": read.bytes.len(),
        "created": summary.map(|file| file.created.to_string()),
        "updated": summary.map_or_else(|| read.modified.to_string(), |f| f.updated.to_string()),
        "last_read": last_read,
        "exists": true,
        "properties": note.iter().flat_map(|note| &note.frontmatter.entries)
            .map(|(key, value)| json!({ "key": key, "value": meta_json(value) }))
            .collect::<Vec<_>>(),
        "tags": note.as_ref().map(Note::tags).unwrap_or_default(),
        "tree": tree,
        "facts": note.iter().flat_map(|note| &note.observations).map(fact_json)
            .collect::<Vec<_>>(),
        "problems": note.iter().flat_map(|note| &note.problems)
            .map(|problem| json!({ "line": problem.line, "text": problem.message }))
            .collect::<Vec<_>>(),
        "secrets": secrets.iter()
            .map(|secret| json!({ "line": secret.line, "kind": secret.kind }))
            .collect::<Vec<_>>(),
        "read_only": request.write_refusal().is_some(),
    }))
}

/// Returns the time at which an agent last read a note.
fn last_read(memory: &Memory, place: &NoteLocation) -> Option<String> {
    let uses = memory.last_uses().ok()?;
    uses.get(place).map(ToString::to_string)
}

/// Resolves the names in the links of a note, each once.
struct NoteResolver<'a> {
    memory: &'a Memory,
    project: &'a str,
    known: RefCell<HashMap<String, Option<NoteLocation>>>,
}

impl<'a> NoteResolver<'a> {
    fn new(memory: &'a Memory, place: &'a NoteLocation) -> Self {
        let known = RefCell::new(HashMap::new());
        let resolver = Self { memory, project: place.project.as_str(), known };
        // The index has resolved the links of the current version.
        let Ok(snapshot) = memory.snapshot() else { return resolver };
        let file = snapshot.file(&place.project, &place.path).ok().flatten();
        let rows = file.and_then(|file| snapshot.relations_from(file.id).ok());
        for row in rows.unwrap_or_default() {
            let target = row.target_file.and_then(|id| snapshot.file_by_id(id).ok().flatten());
            let target = target.map(|file| NoteLocation { project: file.project, path: file.path });
            resolver.known.borrow_mut().insert(row.target, target);
        }
        resolver
    }

    fn resolve(&self, link: &LinkReference) -> Value {
        let known = self.known.borrow().get(&link.name).cloned();
        let count = self.known.borrow().len();
        let found = match known {
            Some(found) => found,
            None if count >= MAX_RESOLVED || link.name.is_empty() => None,
            None => {
                let found =
                    self.memory.resolve(Some(self.project), &link.name, ResolveIntent::Read);
                let found = found.ok().map(|resolved| resolved.place);
                self.known.borrow_mut().insert(link.name.clone(), found.clone());
                found
            }
        };
        json!({
            "name": link.name,
            "heading": link.heading,
            "project": found.as_ref().map(|place| place.project.to_string()),
            "path": found.as_ref().map(|place| place.path.to_string()),
            "exists": found.is_some(),
        })
    }
}

/// Returns a text as a tree, without saving it.
pub(super) fn preview(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let text = request.body.get("text").and_then(Value::as_str);
    let text = text.ok_or_else(|| HttpError::bad_request("text is missing."))?;
    if text.len() > MAX_TREE_BYTES {
        return Err(HttpError::new(
            axum::http::StatusCode::PAYLOAD_TOO_LARGE,
            "The text is too long for a preview.",
        ));
    }
    let project = request.text("project").unwrap_or(memoranda_engine::DEFAULT_PROJECT);
    let resolver =
        NoteResolver { memory: request.vault(), project, known: RefCell::new(HashMap::new()) };
    let tree = markdown_tree(text, SecretDisplay::Masked);
    let note = note::parse(text);
    Ok(json!({
        "tree": blocks_json(&tree, &|link| resolver.resolve(link)),
        "facts": note.observations.iter().map(fact_json).collect::<Vec<_>>(),
    }))
}

/// Returns the links, mentions and graph around a note.
pub(super) fn around(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let place = request.place()?;
    let depth = request.number("depth", 1, 3)?;
    let only = request.only_project()?;
    let may_show = |place: &NoteLocation| only.as_ref().is_none_or(|only| place.project == *only);
    let found = memory.surroundings(&place)?;
    let outgoing = found.outgoing.iter().map(|link| {
        let other = link.other.as_ref().filter(|other| may_show(other));
        json!({
            "relation_type": link.relation_type,
            "context": link.context,
            "line": link.line,
            "sentence": sentence_json(link),
            "target": {
                "name": link.title,
                "project": other.map(|other| other.project.to_string()),
                "path": other.map(|other| other.path.to_string()),
                "exists": other.is_some(),
            },
        })
    });
    let from = |link: &LinkSentence| -> Option<Value> {
        let other = link.other.as_ref().filter(|other| may_show(other))?;
        let last = memory.revisions(other, 1).ok().and_then(|found| found.into_iter().next());
        let mut json = place_json(other);
        json["title"] = json!(link.title);
        json["relation_type"] = json!(link.relation_type);
        json["line"] = json!(link.line);
        json["sentence"] = json!(sentence_json(link));
        json["agent"] = json!(last.map(|last| agent_json(&memory.agent_of(&last.commit.author))));
        Some(json)
    };
    let incoming: Vec<Value> = found.incoming.iter().filter_map(from).collect();
    let mentions: Vec<Value> = found.mentions.iter().filter_map(from).collect();
    let graph =
        memory.neighbours(&GraphRequest { place: place.clone(), depth, max: MAX_GRAPH_NODES })?;
    let node = |node: &memoranda_engine::GraphNode, depth: usize| {
        json!({
            "id": node.id,
            "project": node.project.as_str(),
            "path": node.path.as_str(),
            "title": node.title,
            "depth": depth,
        })
    };
    let near =
        || graph.notes.iter().filter(|near| only.as_ref().is_none_or(|o| near.node.project == *o));
    let mut nodes = vec![node(&graph.centre, 0)];
    nodes.extend(near().map(|near| node(&near.node, near.depth)));
    let edges = near().map(|near| {
        json!({
            "from": near.via.from,
            "to": near.via.to,
            "relation_type": near.via.relation_type,
        })
    });
    Ok(json!({
        "out": outgoing.collect::<Vec<_>>(),
        "in": incoming,
        "mentions": mentions,
        "graph": {
            "centre": graph.centre.id,
            "nodes": nodes,
            "edges": edges.collect::<Vec<_>>(),
            "truncated": graph.truncated,
        },
    }))
}

fn sentence_json(link: &LinkSentence) -> Vec<Value> {
    segments(&link.sentence, std::slice::from_ref(&link.highlight))
}

/// Returns the bytes of a file: pictures as such, anything else as an attachment.
pub(super) fn file_bytes(request: &PageRequest<'_>) -> Result<Response, HttpError> {
    let place = request.place()?;
    let read = request.memory().read_at(&place)?;
    let kind = picture_type(&read.bytes);
    let mut response = Body::from(read.bytes).into_response();
    let headers = response.headers_mut();
    let kind_value = kind.unwrap_or("application/octet-stream");
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind_value));
    if kind.is_none() {
        headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    let sandbox = HeaderValue::from_static("default-src 'none'; sandbox");
    headers.insert(CONTENT_SECURITY_POLICY, sandbox);
    Ok(response)
}

/// Returns the type of a picture by its first bytes.
fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f' | b's', ..] => {
            Some("image/avif")
        }
        _ => None,
    }
}
