//! Writes the file format of the reference memory server: a JSON line per entity, then a JSON line
//! per relation.

use std::collections::HashMap;
use std::io::Write;

use memoranda_engine::Memory;
use memoranda_engine::core::fact::{DEFAULT_ENTITY_TYPE, thread_folder};
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::note::{observation_content, parse};
use serde::Serialize;

use super::{ExportSummary, project_files};
use crate::error::{ImportError, Result};

/// A line of the file. The fields have the order of the reference server.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum GraphLine {
    Entity { name: String, entity_type: String, observations: Vec<String> },
    Relation { from: String, to: String, relation_type: String },
}

/// Writes the notes of a project, or of one of its threads, as entities and relations. Both are
/// sorted by entity name, so that a second export after an import is identical.
pub fn write_graph(
    memory: &Memory,
    project: &ProjectName,
    thread: Option<&str>,
    to: &mut dyn Write,
) -> Result<ExportSummary> {
    let mut exported = ExportSummary { projects: 1, ..ExportSummary::default() };
    let folder = thread.map(|thread| thread_folder(thread.trim()));
    let mut entities = Vec::new();
    let mut relations = Vec::new();
    let mut put = |line: &GraphLine, exported: &mut ExportSummary| -> Result<()> {
        let line = serde_json::to_string(line);
        let mut line = line.map_err(|e| ImportError::NotThat(e.to_string()))?;
        line.push('\n');
        exported.files += 1;
        exported.bytes += line.len() as u64;
        to.write_all(line.as_bytes()).map_err(ImportError::io("write the export"))
    };
    for place in project_files(memory, project, &mut exported.left_out)? {
        let is_meant = folder.as_ref().is_none_or(|folder| place.path.is_within(folder));
        if !is_meant || place.path.is_hidden() || !place.path.is_markdown() {
            continue;
        }
        let found = memory.read_file(&place)?;
        let Some(text) = found.and_then(|found| String::from_utf8(found.bytes).ok()) else {
            continue;
        };
        let note = parse(&text);
        let name = note.title().unwrap_or_else(|| place.path.stem().to_owned());
        // Struck and superseded observations are omitted.
        let current = note.observations.iter().filter(|fact| !fact.struck);
        let mut observations: Vec<String> = Vec::new();
        for said in current.map(|fact| observation_content(&text, fact)) {
            if !observations.contains(&said) {
                observations.push(said);
            }
        }
        let kind = note.frontmatter.text("type").unwrap_or_else(|| DEFAULT_ENTITY_TYPE.to_owned());
        // A link inside an observation is a mention and no relation.
        let stated = || note.relations.iter().filter(|relation| relation.is_stated);
        // Handwritten links may use another name of their target; the export writes its title.
        let is_typed = stated().any(|relation| relation.meta.is_none());
        let meant = if is_typed { memory.typed_links(&place)? } else { HashMap::new() };
        for relation in stated() {
            let typed = meant.get(relation.name()).filter(|_| relation.meta.is_none());
            let to = typed.map_or(relation.name(), String::as_str).to_owned();
            relations.push((name.clone(), to, relation.relation_type.clone()));
        }
        // A placeholder exists only as the target or source of relations.
        if note.frontmatter.text("placeholder").as_deref() == Some("true") {
            continue;
        }
        entities.push((name, kind, observations));
    }
    entities.sort_by(|a, b| a.0.cmp(&b.0));
    // The sort is stable and keeps the order of an entity's relations.
    relations.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, entity_type, observations) in entities {
        put(&GraphLine::Entity { name, entity_type, observations }, &mut exported)?;
    }
    for (from, to, relation_type) in relations {
        put(&GraphLine::Relation { from, to, relation_type }, &mut exported)?;
    }
    Ok(exported)
}
