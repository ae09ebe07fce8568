//! Notes as resources: `memoranda://<project>/<permalink>`, listed newest first, read as text.
//!
//! A plain text file is addressed by its path, because a note may have the same permalink.

use std::fmt::Write as _;

use memoranda_engine::core::note::permalink::permalink_of;
use memoranda_engine::{
    EngineError, FileKind, FileSummary, ListFilter, ListOrder, ListRequest, Memory, NoteLocation,
    ReadNote, ResolveIntent, StoreError,
};
use memoranda_tools::{ResourceDef, ToolSettings};
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};

use super::{internal_error, to_sentence};
use crate::tool_catalog::{RequestTools, ToolCatalog};

/// URI template of notes.
pub(super) const URI_TEMPLATE: &str = "memoranda://{project}/{+permalink}";

const URI_SCHEME: &str = "memoranda://";
/// Number of notes on a page.
const PAGE_NOTES: usize = 100;
/// Maximum number of listed notes; search finds the others.
const MAX_LISTED_NOTES: usize = 5000;

/// Lists a page of notes, the most recently changed first.
pub(super) fn list_resources(
    memory: &Memory,
    request_tools: &RequestTools,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let offset = match cursor {
        None => 0,
        Some(cursor) => {
            cursor.parse().ok().filter(|offset| *offset <= MAX_LISTED_NOTES).ok_or_else(|| {
                ErrorData::invalid_params(format!("{cursor:?} is no cursor of this list."), None)
            })?
        }
    };
    let only = request_tools.only_project().map(|only| memory.project(only)).transpose();
    let only = match only {
        Ok(only) => only.map(|project| project.name),
        // The first write creates the project.
        Err(EngineError::Store(StoreError::NoProject { .. })) => {
            return Ok(extra_resources(request_tools));
        }
        Err(error) => return Err(internal_error("list the notes", &error)),
    };
    let request = ListRequest {
        filter: ListFilter { project: only, ..ListFilter::default() },
        order: ListOrder::Newest,
        limit: PAGE_NOTES.min(MAX_LISTED_NOTES - offset),
        offset,
    };
    let page = memory.list(&request).map_err(|error| internal_error("list the notes", &error))?;
    let next = offset + page.notes.len();
    let mut result = match offset {
        0 => extra_resources(request_tools),
        _ => ListResourcesResult::with_all_items(Vec::new()),
    };
    result.resources.extend(page.notes.iter().map(|note| note_resource(memory, note)));
    if page.has_more && next < MAX_LISTED_NOTES {
        result.next_cursor = Some(next.to_string());
    }
    Ok(result)
}

/// Lists the resources that are not notes.
fn extra_resources(request_tools: &RequestTools) -> ListResourcesResult {
    let extra_resources =
        request_tools.resources().filter(|def| !def.is_template()).map(definition_resource);
    ListResourcesResult::with_all_items(extra_resources.collect())
}

fn note_resource(memory: &Memory, note: &FileSummary) -> Resource {
    let mut annotations = Annotations::default();
    annotations.last_modified = Some(note.updated.to_string());
    Resource::new(uri(memory, note), note.path.as_str())
        .with_title(&note.title)
        .with_mime_type(mime(note.path.as_str()))
        .with_size(note.size)
        .with_annotations(annotations)
}

/// Returns the address of a note in its project: its permalink, or its path if the permalink
/// belongs to another note.
fn name<'n>(memory: &Memory, note: &'n FileSummary) -> &'n str {
    let is_own = || permalink_of(&note.path).0 == note.permalink;
    let meant =
        || memory.resolve_in(&note.project, &note.permalink, ResolveIntent::Read).ok().flatten();
    match note.kind {
        FileKind::Markdown if is_own() => &note.permalink,
        FileKind::Markdown if meant().is_some_and(|found| found.place.path == note.path) => {
            &note.permalink
        }
        _ => note.path.as_str(),
    }
}

fn uri(memory: &Memory, note: &FileSummary) -> String {
    format!(
        "{URI_SCHEME}{}/{}",
        percent_encoded(note.project.as_str()),
        percent_encoded(name(memory, note))
    )
}

fn definition_resource(def: &ResourceDef) -> Resource {
    Resource::new(def.uri, def.name)
        .with_title(def.title)
        .with_description(def.description)
        .with_mime_type(def.mime)
}

/// Lists the URI templates.
pub(super) fn list_templates(request_tools: &RequestTools) -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(URI_TEMPLATE, "note")
        .with_title("Note")
        .with_description("A note of a project, by its permalink or path")
        .with_mime_type("text/markdown");
    let others = request_tools.resources().filter(|def| def.is_template()).map(|def| {
        ResourceTemplate::new(def.uri, def.name)
            .with_title(def.title)
            .with_description(def.description)
            .with_mime_type(def.mime)
    });
    ListResourceTemplatesResult::with_all_items(std::iter::once(template).chain(others).collect())
}

/// Returns true if a URI can have content, now or later.
pub(super) fn is_readable_uri(request_tools: &RequestTools, uri: &str) -> bool {
    parse_note_uri(uri).is_some() || request_tools.resources().any(|def| def.matches(uri).is_some())
}

/// Splits the URI of a note into project and name.
fn parse_note_uri(uri: &str) -> Option<(String, String)> {
    let (project, name) = uri.strip_prefix(URI_SCHEME)?.split_once('/')?;
    Some((percent_decoded(project)?, percent_decoded(name)?))
}

/// Reads the resource at a URI: a defined resource or a note.
pub(super) fn read_resource(
    catalog: &ToolCatalog,
    settings: &ToolSettings,
    request_tools: &RequestTools,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    for def in request_tools.resources() {
        let Some(values) = def.matches(uri) else { continue };
        let text = (def.read)(&catalog.memory, settings, &values).map_err(|error| match error {
            EngineError::Store(StoreError::NoProject { .. }) => {
                let data = serde_json::json!({ "uri": uri });
                ErrorData::resource_not_found(to_sentence(&error), Some(data))
            }
            error => internal_error("read the resource", &error),
        })?;
        if let Some(text) = text {
            let contents = if is_text_type(def.mime) {
                ResourceContents::text(text, uri)
            } else {
                ResourceContents::blob(text, uri)
            };
            return Ok(ReadResourceResult::new(vec![contents.with_mime_type(def.mime)]));
        }
    }
    read_note(&catalog.memory, request_tools, uri)
}

fn read_note(
    memory: &Memory,
    request_tools: &RequestTools,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let missing = |why: String| {
        let data = serde_json::json!({ "uri": uri });
        ErrorData::resource_not_found(why, Some(data))
    };
    let Some((project, name)) = parse_note_uri(uri) else {
        return Err(missing(format!("Resources are addressed as {URI_TEMPLATE}.")));
    };
    if let Some(only) =
        request_tools.only_project().filter(|only| !project.eq_ignore_ascii_case(only))
    {
        return Err(missing(format!("This server works in the project {only} only.")));
    }
    let note = find_note(memory, &project, &name).map_err(|error| match error {
        EngineError::NotFound { .. }
        | EngineError::Ambiguous { .. }
        | EngineError::Ignored { .. }
        | EngineError::Path(_)
        | EngineError::Project(_)
        | EngineError::Invalid(_) => missing(error.to_string()),
        EngineError::Store(StoreError::NoProject { .. } | StoreError::NotAFile { .. }) => {
            missing(format!("There is no note {name:?} in {project:?}."))
        }
        error => internal_error("read the note", &error),
    })?;
    let Ok(text) = note.text() else {
        return Err(missing(format!("{} is not text.", note.place)));
    };
    memory.record_use(&note.place);
    let contents = ResourceContents::text(text, uri).with_mime_type(mime(note.place.path.as_str()));
    Ok(ReadResourceResult::new(vec![contents]))
}

fn find_note(memory: &Memory, project: &str, name: &str) -> Result<ReadNote, EngineError> {
    let project = memory.project(project)?.name;
    let place = match memory.resolve_in(&project, name, ResolveIntent::Read) {
        Ok(Some(resolved)) => resolved.place,
        Ok(None) => {
            return Err(EngineError::NotFound {
                identifier: name.to_owned(),
                scope: format!("project {project}"),
                suggestions: Vec::new(),
            });
        }
        // A permalink addresses a note; other files are addressed by path.
        Err(EngineError::Ambiguous { identifier, candidates }) => {
            let is_note = |place: &&NoteLocation| place.path.extension().eq_ignore_ascii_case("md");
            let mut notes = candidates.iter().filter(is_note);
            match (notes.next(), notes.next()) {
                (Some(only), None) => only.clone(),
                _ => return Err(EngineError::Ambiguous { identifier, candidates }),
            }
        }
        Err(error) => return Err(error),
    };
    memory.read_at(&place)
}

/// Returns true if a MIME type is text; other content is sent in base64.
fn is_text_type(mime: &str) -> bool {
    mime.starts_with("text/") || mime.starts_with("application/json")
}

fn mime(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
        Some("md" | "markdown") => "text/markdown",
        Some("json") => "application/json",
        _ => "text/plain",
    }
}

/// Percent-encodes a name for a URI.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => {
                // Writing to a string cannot fail.
                write!(out, "%{byte:02X}").ok();
            }
        }
    }
    out
}

/// Decodes a percent-encoded name; `None` if it is invalid.
fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_from_addresses() {
        for name in ["plans/q3", "a b", "日記/一", "100%", "x.json", "?#[]"] {
            assert_eq!(percent_decoded(&percent_encoded(name)).as_deref(), Some(name));
            assert!(percent_encoded(name).is_ascii());
        }
        for bad in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(percent_decoded(bad), None, "{bad}");
        }
    }

    #[test]
    fn kinds_of_text_are_known_by_their_names() {
        assert_eq!(mime("a/b.md"), "text/markdown");
        assert_eq!(mime("a/b.JSON"), "application/json");
        assert_eq!(mime("README"), "text/plain");
    }
}
