//! Copies a folder of files. Markdown notes receive provenance; other files are copied unchanged.

use memoranda_engine::core::note::permalink::slug;
use memoranda_engine::core::path::NotePath;

use super::ImportTarget;
use crate::error::{ImportError, Result};
use crate::input::{self, ImportInput, file_name};
use crate::item::{ImportItem, ItemBody, ItemNaming, with_key};
use crate::sink::ImportSink;
use crate::source::ImportSource;
use crate::time;

/// Maximum size of an imported file in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

pub(super) fn read(
    source: ImportSource,
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let Some(root) = input.path() else {
        return Err(ImportError::NotThat("a folder cannot be piped in".to_owned()));
    };
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let name = file_name(&root);
    let (files, name) = match input {
        ImportInput::Folder(_) => {
            (input::files_below(&root, target.passing_over.as_deref(), sink), name)
        }
        _ => {
            let folder = root.parent().map(file_name).unwrap_or_default();
            (vec![input::input_file(&root, name)?], folder)
        }
    };
    // Links of a vault resolve within it, so a copied vault is a project of its own.
    let (usual_project, usual_folder) = match source {
        ImportSource::Folder if matches!(input, ImportInput::Folder(_)) => {
            ("main".to_owned(), name.clone())
        }
        ImportSource::Folder => ("main".to_owned(), String::new()),
        _ => (project_name(&name), String::new()),
    };
    let project = target.project(&usual_project)?;
    let folder = target.folder(&usual_folder);
    sink.set_total(files.len() as u64);
    for (n, file) in files.into_iter().enumerate() {
        sink.set_done(n as u64);
        let shown = file.path.display().to_string();
        if file.size > MAX_FILE_BYTES {
            sink.add_problem(shown, "larger than 64 MB");
            continue;
        }
        let folder = folder.trim_matches('/');
        let path =
            if folder.is_empty() { file.name.clone() } else { format!("{folder}/{}", file.name) };
        let path = match NotePath::parse(&path) {
            Ok(path) => path,
            Err(e) => {
                sink.add_problem(shown, e.reason.to_string());
                continue;
            }
        };
        let bytes = match input::read_bytes(&file.path) {
            Ok(bytes) => bytes,
            Err(e) => {
                sink.add_problem(shown, e.to_string());
                continue;
            }
        };
        let body = match String::from_utf8(bytes) {
            Ok(text) if path.is_markdown() => {
                ItemBody::Note(with_key(text, "modified", &time::frontmatter(file.modified)))
            }
            Ok(text) => ItemBody::Exact(text.into_bytes(), None),
            Err(e) => ItemBody::Exact(e.into_bytes(), None),
        };
        let id = format!("{name}/{}", file.name);
        sink.add_item(ImportItem {
            id,
            project: project.clone(),
            path,
            naming: ItemNaming::Fixed,
            body,
        })?;
    }
    Ok(())
}

/// Returns a valid project name for a folder name.
pub fn project_name(folder: &str) -> String {
    let name: String = slug(folder).replace(['/', '.'], "-");
    if name.is_empty() { "notes".to_owned() } else { name }
}
