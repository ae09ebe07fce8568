//! Writes notes as a folder of files, byte for byte.

use std::path::Path;

use memoranda_engine::Memory;
use memoranda_engine::core::id::ProjectName;

use super::{ExportSummary, project_files, selected_projects};
use crate::error::{ImportError, Result};
use crate::input;

/// Writes every file of one project or of all projects into an empty folder. Each of several
/// projects gets a subfolder.
pub fn write_markdown(
    memory: &Memory,
    only: Option<&ProjectName>,
    folder: &Path,
    progress: &mut dyn FnMut(crate::ImportProgress),
) -> Result<ExportSummary> {
    if !input::is_empty_or_missing(folder) {
        return Err(ImportError::NotThat(format!("{} is not empty", folder.display())));
    }
    let mut exported = ExportSummary::default();
    for project in selected_projects(memory, only)? {
        let root = if only.is_some() { folder.to_owned() } else { folder.join(project.as_str()) };
        let places = project_files(memory, &project, &mut exported.left_out)?;
        exported.projects += 1;
        for (n, place) in places.iter().enumerate() {
            progress(crate::ImportProgress { done: n as u64, total: places.len() as u64 });
            // The file was deleted after it was listed.
            let Some(found) = memory.read_file(place)? else { continue };
            input::write_new(&root.join(place.path.as_str()), &found.bytes)?;
            exported.files += 1;
            exported.bytes += found.bytes.len() as u64;
        }
    }
    Ok(exported)
}
