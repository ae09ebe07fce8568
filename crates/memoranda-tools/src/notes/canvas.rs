//! `canvas`: writes a JSON Canvas file, which Obsidian and other programs open.

use std::collections::HashSet;

use memoranda_core::path::NotePath;
use memoranda_engine::{FileOperation, NoteLocation, TransactOutcome, hash};
use serde_json::{Map, Value, json};

use super::checksum::ExpectedChecksum;
use super::params::{COMMON, EXPECTED_CHECKSUM, PROJECT};
use super::{scope, write};
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolError, ToolResult};
use crate::settings::CreateMode;

/// Types of nodes with the field that each requires besides its position.
const KINDS: [(&str, Option<&str>); 4] =
    [("text", Some("text")), ("file", Some("file")), ("link", Some("url")), ("group", None)];

pub(super) const PARAMS: ParamTable = ParamTable::new(&[
    &[
        Param::objects("nodes", "{id, type: text|file|link|group, x, y, width, height, …}")
            .required(),
        Param::objects("edges", "{id, fromNode, toNode, label?}").required(),
        Param::text("title", "File name").required(),
        Param::text("directory", "Folder").required().aliases(write::DIRECTORY_ALIASES),
        Param::flag("overwrite", "Replace an existing canvas"),
        PROJECT,
        EXPECTED_CHECKSUM,
    ],
    COMMON,
]);

pub(super) fn draw(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let title = args.text("title")?.trim().to_owned();
    let title = title.strip_suffix(".canvas").unwrap_or(&title);
    if title.is_empty() {
        return Err(args.missing("title", "what the drawing is called").into());
    }
    let nodes = args.objects("nodes")?.ok_or_else(|| args.missing("nodes", "a list of nodes"))?;
    let nodes: Vec<_> = nodes.into_iter().map(with_json_types).collect();
    let edges = args.objects("edges")?.unwrap_or_default();
    let edges: Vec<_> = edges.into_iter().map(with_json_types).collect();
    check_drawing(&nodes, &edges)?;
    let directory = args.optional_text("directory")?.unwrap_or_default();
    let project = scope::call_project(call, args)?;
    let (note, renamed) = write::note_path(call, &project, &directory, title)?;
    // Remove only the extension that `note_path` added: a drawing `Plan.md` keeps its name.
    let bare = note.as_str().strip_suffix(".md").unwrap_or(note.as_str());
    let path = NotePath::parse(&format!("{bare}.canvas"))?;
    let place = NoteLocation { project, path };
    let drawing = json!({ "nodes": nodes, "edges": edges });
    let mut text = serde_json::to_string_pretty(&drawing).unwrap_or_default();
    text.push('\n');
    scope::check_not_ignored(call, &place)?;
    let expected = ExpectedChecksum::read(args)?;
    let overwrite = write::create_mode(call, args, expected.as_ref())?;
    let (mut existed, mut stale) = (false, None);
    let outcome =
        call.memory.transact(&call.who, None, |desk| -> Result<Vec<FileOperation>, ToolError> {
            let found = desk.bytes(&place)?.map(|(_, hash)| hash);
            (existed, stale) = (found.is_some(), None);
            if let Some(expected) = &expected
                && !found.is_some_and(|found| expected.matches(found))
            {
                stale = found;
                let text = format!("There is no {place}, and so no version {}.", expected.as_str());
                return Err(ToolError::new("CHECKSUM_MISMATCH", text));
            }
            if existed && overwrite == CreateMode::Refuse {
                return Err(exists(&place));
            }
            Ok(vec![FileOperation::put(place.clone(), text.clone())])
        });
    if let (Some(found), Some(expected)) = (stale, &expected) {
        return Err(scope::checksum_mismatch(call, &place, expected, found));
    }
    let commit = match outcome? {
        TransactOutcome::Committed(commit) => Some(commit.id.to_string()),
        TransactOutcome::Unchanged => None,
        TransactOutcome::Conflict(_) => {
            let text = format!("{place} was changed at the same moment. Nothing was done; retry.");
            return Err(ToolError::new("CONFLICT", text));
        }
    };
    let action = if existed { "updated" } else { "created" };
    let heading = if existed { "Updated canvas" } else { "Created canvas" };
    let checksum = hash(text.as_bytes());
    let mut said = format!(
        "# {heading}\nproject: {}\nfile_path: {}\nchecksum: {}\nnodes: {}, edges: {}\n",
        place.project,
        place.path,
        checksum.short(),
        nodes.len(),
        edges.len()
    );
    if let Some(commit) = &commit {
        said.push_str(&format!("commit: {commit}\n"));
    }
    said.extend(renamed.iter().map(|warning| format!("\n{warning}\n")));
    let mut structured = json!({
        "project": place.project.as_str(),
        "title": title,
        "file_path": place.path.as_str(),
        "permalink": memoranda_core::note::permalink::permalink_of(&place.path).as_str(),
        "checksum": checksum.to_string(),
        "commit": commit,
        "action": action,
    });
    if let Some(warning) = renamed {
        structured["warning"] = json!(warning);
    }
    Ok(ToolResult::ok(said, structured))
}

/// Error of a drawing that exists, with the next steps.
fn exists(place: &NoteLocation) -> ToolError {
    let (project, path) = (place.project.as_str(), place.path.as_str());
    let text = format!(
        "# Canvas already exists\nproject: {project}\nfile_path: {path}\n\nNothing was written. You \
         can:\n- read_content(path={path:?}, project={project:?}) to see it first, and add its nodes \
         and edges to yours;\n- edit_note(identifier={path:?}, project={project:?}, \
         operation=\"find_replace\", …) to change a part of it;\n- canvas(…, overwrite=true) to \
         replace it; the old one stays in the history;\n- choose another title or directory."
    );
    ToolError::new("NOTE_ALREADY_EXISTS", text)
        .with_detail("action", "conflict")
        .with_detail("title", place.path.stem())
        .with_detail("file_path", path)
}

/// Keys with ids.
const IDS: [&str; 3] = ["id", "fromNode", "toNode"];
/// Keys with numbers.
const NUMBERS: [&str; 4] = ["x", "y", "width", "height"];

/// Converts the fields of a node or edge to their JSON types: models send ids as numbers, and
/// numbers as texts.
fn with_json_types(mut part: Map<String, Value>) -> Map<String, Value> {
    for id in IDS {
        if let Some(value @ Value::Number(_)) = part.get_mut(id) {
            *value = Value::String(value.to_string());
        }
    }
    for number in NUMBERS {
        let Some(value) = part.get_mut(number) else { continue };
        let Some(text) = value.as_str().map(str::trim) else { continue };
        let whole = text.parse::<i64>().ok().map(Value::from);
        let broken = || text.parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::from);
        if let Some(read) = whole.or_else(broken) {
            *value = read;
        }
    }
    part
}

/// Rejects a drawing that no program could open.
fn check_drawing(
    nodes: &[Map<String, Value>],
    edges: &[Map<String, Value>],
) -> Result<(), ToolError> {
    let wrong = |text: String| ToolError::new("INVALID_CANVAS", text);
    let id_of = |what: &str, n: usize, part: &Map<String, Value>| match part.get("id") {
        Some(Value::String(id)) if !id.is_empty() => Ok(id.clone()),
        None | Some(Value::Null) => Err(wrong(format!("{what} {n} (from 0) has no `id`."))),
        Some(other) => Err(wrong(format!(
            "The `id` of {} {n} (from 0) must be a text that is not empty, not {other}.",
            what.to_lowercase()
        ))),
    };
    let mut ids = HashSet::new();
    for (n, node) in nodes.iter().enumerate() {
        let id = id_of("Node", n, node)?;
        if !ids.insert(id.clone()) {
            return Err(wrong(format!("Two nodes have the id {id:?}.")));
        }
        let kind = node.get("type").and_then(Value::as_str).unwrap_or_default();
        let Some((_, needs)) = KINDS.iter().find(|(name, _)| *name == kind) else {
            return Err(wrong(format!(
                "Node {id:?} is of type {kind:?}; types are text, file, link, group."
            )));
        };
        if let Some(key) = needs
            && !node.get(*key).is_some_and(Value::is_string)
        {
            return Err(wrong(format!("Node {id:?} of type {kind} needs `{key}`.")));
        }
        for key in NUMBERS {
            match node.get(key) {
                Some(Value::Number(_)) => {}
                None => return Err(wrong(format!("Node {id:?} needs a number `{key}`."))),
                Some(other) => {
                    return Err(wrong(format!(
                        "`{key}` of node {id:?} must be a number, not {other}."
                    )));
                }
            }
        }
    }
    let mut edge_ids = HashSet::new();
    for (n, edge) in edges.iter().enumerate() {
        let id = id_of("Edge", n, edge)?;
        if !edge_ids.insert(id.clone()) {
            return Err(wrong(format!("Two edges have the id {id:?}.")));
        }
        for key in ["fromNode", "toNode"] {
            let end = edge.get(key).unwrap_or(&Value::Null);
            if !end.as_str().is_some_and(|end| ids.contains(end)) {
                return Err(wrong(format!(
                    "`{key}` of edge {id:?} is {end}, which is not a node."
                )));
            }
        }
    }
    Ok(())
}
