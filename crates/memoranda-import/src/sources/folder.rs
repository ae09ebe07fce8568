//! A folder of files, copied: Markdown gets to know where it came from, all else stays as it is.

use memoranda_engine::core::note::permalink::slug;
use memoranda_engine::core::path::NotePath;

use super::Target;
use crate::error::{ImportError, Result};
use crate::intake::Intake;
use crate::origin::{self, Origin, file_name};
use crate::piece::{Body, Naming, Piece, with_key};
use crate::source::Source;
use crate::time;

/// Larger files are no notes.
const LARGEST: u64 = 64 << 20;

pub(super) fn read(
    source: Source,
    origin: &Origin,
    target: &Target,
    intake: &mut Intake<'_>,
) -> Result<()> {
    let Some(root) = origin.path() else {
        return Err(ImportError::NotThat("a folder cannot be piped in".to_owned()));
    };
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let name = file_name(&root);
    let (files, name) = match origin {
        Origin::Folder(_) => {
            (origin::files_below(&root, target.passing_over.as_deref(), intake), name)
        }
        _ => {
            let folder = root.parent().map(file_name).unwrap_or_default();
            (vec![origin::entry(&root, name)?], folder)
        }
    };
    // A vault's links are meant within it, so a copy of one is a project of its own.
    let (usual_project, usual_folder) = match source {
        Source::Folder if matches!(origin, Origin::Folder(_)) => ("main".to_owned(), name.clone()),
        Source::Folder => ("main".to_owned(), String::new()),
        _ => (project_name(&name), String::new()),
    };
    let project = target.project(&usual_project)?;
    let folder = target.folder(&usual_folder);
    intake.total(files.len() as u64);
    for (n, file) in files.into_iter().enumerate() {
        intake.done(n as u64);
        let shown = file.path.display().to_string();
        if file.size > LARGEST {
            intake.problem(shown, "larger than 64 MB");
            continue;
        }
        let folder = folder.trim_matches('/');
        let path = match folder.is_empty() {
            true => file.name.clone(),
            false => format!("{folder}/{}", file.name),
        };
        let path = match NotePath::parse(&path) {
            Ok(path) => path,
            Err(e) => {
                intake.problem(shown, e.reason.to_string());
                continue;
            }
        };
        let bytes = match origin::bytes(&file.path) {
            Ok(bytes) => bytes,
            Err(e) => {
                intake.problem(shown, e.to_string());
                continue;
            }
        };
        let body = match String::from_utf8(bytes) {
            Ok(text) if path.is_markdown() => {
                Body::Note(with_key(text, "modified", &time::stated(file.modified)))
            }
            Ok(text) => Body::Exact(text.into_bytes(), None),
            Err(e) => Body::Exact(e.into_bytes(), None),
        };
        let id = format!("{name}/{}", file.name);
        intake.piece(Piece { id, project: project.clone(), path, naming: Naming::Fixed, body })?;
    }
    Ok(())
}

/// A project's name for a folder's.
pub fn project_name(folder: &str) -> String {
    let name: String = slug(folder).replace(['/', '.'], "-");
    if name.is_empty() { "notes".to_owned() } else { name }
}
