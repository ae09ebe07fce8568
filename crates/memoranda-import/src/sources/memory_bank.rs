//! Reads the folder of Memory Bank for Claude Desktop. Its banks have the layout of the project
//! `banks`, so its files are copied unchanged.

use std::path::Path;

use memoranda_engine::banks::{BankType, DUMP_FILE};
use memoranda_engine::core::path::NotePath;

use super::ImportTarget;
use crate::error::{ImportError, Result};
use crate::input::{self, ImportInput, file_name};
use crate::item::{ImportItem, ItemBody, ItemNaming};
use crate::sink::ImportSink;

/// Files by which a bank of a type is known.
const TELLING_FILES: [(BankType, &[&str]); 3] = [
    (BankType::Global, &["context.md", "preferences.md", "references.md"]),
    (BankType::Project, &["readme.md", "doc/objectives.md", "doc/progress.md"]),
    (BankType::Code, &["readme.md", "structure.md", "snippets.md", "doc/architecture.md"]),
];

/// Returns true if a folder contains banks and no other folder.
pub(crate) fn is_root(folder: &Path) -> bool {
    let visible = input::subfolders(folder).into_iter();
    let mut subfolders = visible.filter(|path| !file_name(path).starts_with('.')).peekable();
    let is_type = |path: &Path| BankType::ALL.iter().any(|kind| kind.plural() == file_name(path));
    subfolders.peek().is_some()
        && subfolders.all(|path| is_type(&path))
        && TELLING_FILES.iter().any(|(kind, files)| {
            let banks = input::subfolders(&folder.join(kind.plural()));
            banks.iter().any(|bank| files.iter().any(|file| bank.join(file).is_file()))
        })
}

pub(super) fn read(
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let ImportInput::Folder(root) = input else {
        let message = format!("{} is not the folder of a Memory Bank", input.display_name());
        return Err(ImportError::NotThat(message));
    };
    let project = target.project("banks")?;
    let folder = target.folder.as_deref().map(|folder| format!("{}/", folder.trim_matches('/')));
    let folder = folder.unwrap_or_default();
    let files = input::files_below(root, target.passing_over.as_deref(), sink);
    sink.set_total(files.len() as u64);
    let mut is_empty = true;
    for (n, file) in files.into_iter().enumerate() {
        sink.set_done(n as u64);
        let mut parts = file.name.splitn(3, '/');
        let kind = parts.next().unwrap_or_default();
        let is_type = BankType::ALL.iter().any(|known| known.plural() == kind);
        if !is_type || parts.nth(1).is_none() {
            sink.skip("files outside of the banks");
            continue;
        }
        if file_name(&file.path) == DUMP_FILE || file.name.ends_with("/cache.json") {
            sink.skip("cache files");
            continue;
        }
        let shown = file.path.display().to_string();
        let path = match NotePath::parse(&format!("{folder}{}", file.name)) {
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
        is_empty = false;
        sink.add_item(ImportItem {
            id: file.name,
            project: project.clone(),
            path,
            naming: ItemNaming::Fixed,
            body: ItemBody::Exact(bytes, file.modified),
        })?;
    }
    if is_empty {
        let message = "contains no bank: global/<id>/, projects/<id>/ or code/<id>/";
        return Err(ImportError::NotThat(format!("{} {message}", root.display())));
    }
    Ok(())
}
