//! `list_directory` and `read_content`: folders and files, including other files than notes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::token_estimate::truncate_to_tokens;
use memoranda_engine::{
    FileKind, FileOrder, FileSummary, FilesBelow, FolderFiles, NoteLocation, ResolveIntent,
};
use serde_json::{Value, json};

use super::glob::FileGlob;
use super::page::past_end;
use super::params::{COMMON, MAX_TOKENS, PAGE, PROJECT, page_size};
use super::scope;
use crate::memory::path::leads_up;
use crate::registry::{
    CallContext, Param, ParamTable, SideContent, ToolArgs, ToolError, ToolResult, count,
};

/// Maximum size in bytes of a binary file in an answer.
const MAX_BYTES: usize = 350_000;
/// Budget of a text in tokens, unless the caller chooses another.
const DEFAULT_TOKENS: u64 = 20_000;
/// Maximum number of levels of a list.
const MAX_DEPTH: usize = 10;

const SORTS: &[&str] = &["title_asc", "title_desc", "updated_asc", "updated_desc"];

pub(super) const LIST_PARAMS: ParamTable = ParamTable::new(&[
    &[
        Param::text("dir_name", "Folder; default /").aliases(&[
            "directory",
            "folder",
            "path",
            "dir",
        ]),
        Param::integer("depth", 1, MAX_DEPTH as u64, "Levels"),
        Param::text("file_name_glob", "Such as *.md, 2026-0[1-3]* or **/{a,b}.md")
            .aliases(&["glob", "pattern", "filter"]),
        Param::choice("sort", SORTS, "Order of files"),
        PAGE,
        page_size(200),
        PROJECT,
    ],
    COMMON,
]);

pub(super) const READ_PARAMS: ParamTable = ParamTable::new(&[
    &[
        Param::text("path", "File path").required().aliases(&["file_path", "filepath", "file"]),
        PROJECT,
        MAX_TOKENS.default_integer(DEFAULT_TOKENS),
    ],
    COMMON,
]);

#[derive(Default)]
struct FolderSummary {
    files: usize,
    updated: Timestamp,
}

pub(super) fn list(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let project = scope::call_project(call, args)?;
    let depth = args.optional_integer("depth")?;
    let glob = args.optional_text("file_name_glob")?.map(|text| (FileGlob::new(&text), text));
    // A glob over paths determines the depth.
    let depth = depth.or(glob.as_ref().map(|(glob, _)| glob.depth(MAX_DEPTH))).unwrap_or(1);
    let sort = args.optional_word("sort")?;
    let (page, page_size) = (args.integer("page")?, args.integer("page_size")?);
    let given = args.optional_text("dir_name")?.unwrap_or_default();
    let (folder, held) = find_folder(call, &project, &given)?;
    let name = folder.as_ref().map_or(String::new(), NotePath::to_string);
    let below = FilesBelow {
        project: project.clone(),
        depth,
        order: match sort.as_deref() {
            Some("title_desc") => FileOrder::TitleFromEnd,
            Some("updated_asc") => FileOrder::Oldest,
            Some("updated_desc") => FileOrder::Newest,
            Some(_) => FileOrder::Title,
            None => FileOrder::Path,
        },
        limit: page_size,
        offset: (page - 1) * page_size,
        folder,
    };
    let listing = match &glob {
        Some((glob, _)) => DirectoryListing::by_glob(call, &below, glob)?,
        None => DirectoryListing::of_folder(call, &below, &held)?,
    };
    let total = listing.folders.len() + listing.files;
    let mut text = format!(
        "# /{name} in project {project}: {}, {}\n\n",
        count(listing.folders.len(), "folder"),
        count(listing.files, "file")
    );
    let nodes = listing.render(&below, &mut text);
    let has_more = below.offset + nodes.len() < total;
    if let Some((_, glob)) = glob.as_ref().filter(|_| total == 0 && !held.is_empty()) {
        let all = held.iter().map(|held| held.files as usize).sum::<usize>();
        text.push_str(&no_match_hint(glob, depth, listing.compared, all));
    } else if total == 0 {
        text.push_str("Nothing is here.\n");
    } else if nodes.is_empty() {
        text.push_str(&format!("{}\n", past_end(page, page_size, total, "item")));
    }
    if has_more {
        text.push_str(&format!("\n[{total} in all; more: page={}]\n", page + 1));
    }
    let structured = json!({
        "project": project.as_str(),
        "directory": format!("/{name}"),
        "nodes": nodes,
        "page": page,
        "page_size": page_size,
        "total": total,
        "has_more": has_more,
    });
    Ok(ToolResult::ok(text, structured))
}

/// Finds a folder and the numbers of files in and below it. The folder is `None` for the top.
fn find_folder(
    call: &CallContext<'_>,
    project: &ProjectName,
    given: &str,
) -> Result<(Option<NotePath>, Vec<FolderFiles>), ToolError> {
    if leads_up(given) {
        let text = format!("{given:?} leads out of the project; give a folder within it.");
        return Err(ToolError::new("SECURITY_VALIDATION_ERROR", text));
    }
    let name = scope::strip_address(given).trim_start_matches("./").trim_matches('/');
    let name = scope::path_in_project(call, project, name);
    let folder = match name {
        "" | "." => None,
        name => Some(NotePath::parse(name)?),
    };
    let snapshot = call.memory.snapshot()?;
    let held = snapshot.folder_files(project, folder.as_ref())?;
    match folder {
        // The name may have another spelling on disk.
        Some(named) if held.is_empty() => {
            let missing = || {
                let text = format!("There is no folder {name:?} in project {project}.");
                ToolError::new("DIRECTORY_NOT_FOUND", text)
            };
            let there = call.memory.folder_at(project, &named)?.ok_or_else(missing)?;
            let held = snapshot.folder_files(project, Some(&there))?;
            Ok((Some(there), held))
        }
        folder => Ok((folder, held)),
    }
}

/// One page of a folder.
struct DirectoryListing {
    /// All folders, not only those of the page.
    folders: BTreeMap<String, FolderSummary>,
    /// Number of all files.
    files: usize,
    /// Number of files that were compared with a glob.
    compared: usize,
    /// Files of the page.
    shown: Vec<FileSummary>,
}

impl DirectoryListing {
    /// Lists the files that match a glob, without folders.
    fn by_glob(
        call: &CallContext<'_>,
        below: &FilesBelow,
        glob: &FileGlob,
    ) -> Result<Self, ToolError> {
        let snapshot = call.memory.snapshot()?;
        let all = FilesBelow { limit: usize::MAX, offset: 0, ..below.clone() };
        let mut found = snapshot.files_below(&all)?;
        let compared = found.len();
        let prefix = folder_prefix(below);
        found.retain(|(_, path)| glob.matches(path.get(prefix..).unwrap_or(path)));
        let page = found.iter().skip(below.offset).take(below.limit);
        let ids: Vec<_> = page.map(|(id, _)| *id).collect();
        let shown = snapshot.files_by_id(&ids)?;
        Ok(Self { folders: BTreeMap::new(), files: found.len(), compared, shown })
    }

    /// Lists folders, then files.
    fn of_folder(
        call: &CallContext<'_>,
        below: &FilesBelow,
        held: &[FolderFiles],
    ) -> Result<Self, ToolError> {
        let snapshot = call.memory.snapshot()?;
        let (folders, files) = folders(held, folder_prefix(below), below.depth);
        let listed_folders = folders.len().saturating_sub(below.offset).min(below.limit);
        let found = match below.limit - listed_folders {
            0 => Vec::new(),
            limit => {
                let offset = below.offset.saturating_sub(folders.len());
                snapshot.files_below(&FilesBelow { limit, offset, ..below.clone() })?
            }
        };
        let ids: Vec<_> = found.into_iter().map(|(id, _)| id).collect();
        let shown = snapshot.files_by_id(&ids)?;
        Ok(Self { folders, files, compared: 0, shown })
    }

    /// Appends the lines of the page to the text, and returns its structure.
    fn render(&self, below: &FilesBelow, text: &mut String) -> Vec<Value> {
        let mut nodes = Vec::new();
        for (path, folder) in self.folders.iter().skip(below.offset).take(below.limit) {
            text.push_str(&format!("- {path}/ ({})\n", count(folder.files, "file")));
            nodes.push(json!({
                "type": "directory",
                "name": path.rsplit('/').next().unwrap_or(path),
                "directory_path": format!("/{path}"),
                "files": folder.files,
                "updated_at": folder.updated.to_string(),
            }));
        }
        for file in &self.shown {
            let is_note = matches!(file.kind, FileKind::Markdown);
            let about = if is_note { format!("{}, ", file.title) } else { String::new() };
            text.push_str(&format!("- {} ({about}{})\n", file.path, file.updated));
            nodes.push(json!({
                "type": "file",
                "name": file.path.file_name(),
                "directory_path": format!("/{}", file.path),
                "file_path": file.path.as_str(),
                "title": file.title,
                "permalink": file.permalink,
                "note_type": file.note_type,
                "size": file.size,
                "updated_at": file.updated.to_string(),
            }));
        }
        nodes
    }
}

/// Length of the folder's path with its slash, which precedes the relative paths.
fn folder_prefix(below: &FilesBelow) -> usize {
    below.folder.as_ref().map_or(0, |folder| folder.as_str().len() + 1)
}

/// Explains that no file matches a glob.
fn no_match_hint(glob: &str, depth: usize, compared: usize, all: usize) -> String {
    let levels = count(depth, "level");
    let here = match compared {
        0 => format!("no file within {levels}"),
        1 => format!("the one file within {levels} is called otherwise"),
        _ => format!("the {compared} files within {levels} are called otherwise"),
    };
    let deeper = match all - compared.min(all) {
        0 => String::new(),
        1 => " A greater `depth` finds deeper files.".to_owned(),
        more => format!(" {more} lie deeper: a greater `depth` looks there, too."),
    };
    format!("No name fits {glob:?}: {here}.{deeper}\n")
}

/// Returns the listed folders with the counts of all files in them, and the number of files that
/// are not deeper than `depth`.
fn folders(
    held: &[FolderFiles],
    prefix: usize,
    depth: usize,
) -> (BTreeMap<String, FolderSummary>, usize) {
    let mut folders: BTreeMap<String, FolderSummary> = BTreeMap::new();
    let mut files = 0;
    for held in held {
        let inner = held.folder.get(prefix..).unwrap_or_default();
        let count = held.files as usize;
        let ends: Vec<usize> = match inner {
            "" => Vec::new(),
            inner => inner.match_indices('/').map(|(at, _)| at).chain([inner.len()]).collect(),
        };
        if ends.len() < depth {
            files += count;
        }
        for end in ends.into_iter().take(depth) {
            let name = held.folder.get(..prefix + end).unwrap_or_default();
            let folder = folders.entry(name.to_owned()).or_default();
            folder.files += count;
            folder.updated = folder.updated.max(held.updated);
        }
    }
    (folders, files)
}

pub(super) fn read(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let given = args.text("path")?;
    let place = match NotePath::parse(scope::strip_address(&given)) {
        _ if leads_up(&given) => {
            let text = format!("{given:?} leads out of the project; give a path within it.");
            return Err(ToolError::new("SECURITY_VALIDATION_ERROR", text));
        }
        Ok(path) => {
            let place = NoteLocation { project: scope::call_project(call, args)?, path };
            match call.memory.read_file(&place) {
                Ok(Some(_)) => {
                    call.memory.check_noted(&place)?;
                    place
                }
                _ => scope::find_note(call, args, &given, ResolveIntent::Read)?,
            }
        }
        Err(_) => scope::find_note(call, args, &given, ResolveIntent::Read)?,
    };
    let found = call.memory.read_at(&place)?;
    let content_type = mime(place.path.extension());
    let about = json!({
        "project": place.project.as_str(),
        "file_path": place.path.as_str(),
        "content_type": content_type,
        "size": found.bytes.len(),
        "checksum": found.hash.to_string(),
    });
    let with = |more: Value| {
        let mut all = about.clone();
        if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
            all.extend(more);
        }
        all
    };
    if let Ok(text) = found.text() {
        let budget = args.integer("max_tokens")?;
        let kept = truncate_to_tokens(text, budget);
        let cut = text.len() - kept.len();
        let mut shown = kept.to_owned();
        if cut > 0 {
            shown.push_str(&format!(
                "\n[{cut} of {} bytes left out; raise max_tokens, or read_note with start_line]",
                text.len()
            ));
        }
        // In other formats a comment would be part of the data.
        let is_markdown = matches!(place.path.extension(), "md" | "markdown");
        let source = if is_markdown {
            format!("<!-- project: {} | file_path: {} -->\n", place.project, place.path)
        } else {
            String::new()
        };
        let structured =
            with(json!({ "type": "text", "text": kept, "encoding": "utf-8", "cut_bytes": cut }));
        return Ok(ToolResult::ok(format!("{source}{shown}"), structured));
    }
    if found.bytes.len() > MAX_BYTES {
        let text = format!(
            "{place} is not text and has {} bytes; up to {MAX_BYTES} are returned.",
            found.bytes.len()
        );
        return Err(ToolError::new("CONTENT_TOO_LARGE", text));
    }
    let kind = if content_type.starts_with("image/") { "image" } else { "document" };
    let text = format!(
        "{place}: {kind} ({content_type}, {} bytes), as base64 in `data`.",
        found.bytes.len()
    );
    let data = base64(&found.bytes);
    if kind == "image" {
        call.client
            .attach(SideContent::Image { data: data.clone(), mime: content_type.to_owned() });
    }
    let structured = with(json!({ "type": kind, "data": data, "encoding": "base64" }));
    Ok(ToolResult::ok(text, structured))
}

fn mime(extension: &str) -> &'static str {
    match extension.to_ascii_lowercase().as_str() {
        "md" | "markdown" => "text/markdown",
        "json" | "canvas" => "application/json",
        "html" | "htm" => "text/html",
        "csv" => "text/csv",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "txt" | "" => "text/plain",
        _ => "application/octet-stream",
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let byte = |n: usize| u32::from(part.get(n).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            if n <= part.len() {
                out.push(char::from(LETTERS[(bits >> (18 - 6 * n)) as usize & 63]))
            } else {
                out.push('=')
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_base64() {
        for (bytes, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }
}
