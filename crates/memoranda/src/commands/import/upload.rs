//! Import from the web page: dropped files are staged in a private folder, and imported from there.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use memoranda_engine::core::change::ChangeChannel;
use memoranda_engine::{Author, Memory, clock};
use memoranda_import::{
    DeletedPolicy, ImportInput, ImportMode, ImportOptions, ImportSource, ImportTarget,
    detect_source, import_source,
};
use memoranda_server::{UploadImport, UploadPart};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::report_json;
use crate::config::AppSettings;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::files;

/// Maximum number of uploads; one more deletes the oldest.
const MAX_UPLOADS: usize = 4;
/// Maximum size of an upload, in bytes.
const MAX_UPLOAD_BYTES: u64 = 8 << 30;
/// Maximum number of notes that a report names.
const MAX_NAMED_NOTES: usize = 300;
/// Name of the folder of several dropped files.
const FOLDER_NAME: &str = "dropped";

/// Uploads of the page. They are deleted with the process.
#[derive(Default)]
pub(crate) struct StagedUploads {
    /// With their ids, the oldest first.
    uploads: Mutex<Vec<(String, StagedUpload)>>,
}

struct StagedUpload {
    folder: TempDir,
    bytes: u64,
}

impl StagedUploads {
    /// Appends parts of files, and returns the id of the upload.
    pub(crate) fn add_parts(&self, upload: Option<&str>, parts: &[UploadPart]) -> Result<String> {
        let mut uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        let id = match upload {
            Some(id) => id.to_owned(),
            None => {
                let folder = files::private_folder("memoranda-import-");
                let folder =
                    folder.map_err(|e| CommandError::io("make a folder for the upload", &e))?;
                let id = clock::new_name();
                let surplus = (uploads.len() + 1).saturating_sub(MAX_UPLOADS);
                uploads.drain(..surplus);
                uploads.push((id.clone(), StagedUpload { folder, bytes: 0 }));
                id
            }
        };
        let found = uploads.iter_mut().find(|(known, _)| *known == id);
        let (_, staged) = found.ok_or_else(unknown_upload)?;
        for part in parts {
            staged.bytes += part.bytes.len() as u64;
            if staged.bytes > MAX_UPLOAD_BYTES {
                return Err(CommandError::usage("the upload is larger than 8 GB")
                    .hint("`memoranda import PATH` has no limit"));
            }
            let path = staged.folder.path().join(FOLDER_NAME).join(relative_path(&part.path)?);
            files::append_part(&path, part.offset, &part.bytes, part.modified)?;
        }
        Ok(id)
    }

    /// Deletes an upload.
    pub(crate) fn discard(&self, upload: &str) {
        let mut uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        uploads.retain(|(id, _)| id != upload);
    }

    /// Returns the path of an upload: the only file or folder in it, or the folder of all.
    fn path(&self, upload: &str) -> Result<PathBuf> {
        let uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        let found = uploads.iter().find(|(id, _)| id == upload);
        let (_, staged) = found.ok_or_else(unknown_upload)?;
        let folder = staged.folder.path().join(FOLDER_NAME);
        Ok(match files::names_in(&folder).as_slice() {
            [] => return Err(CommandError::usage("nothing was dropped")),
            [only] => folder.join(only),
            _ => folder,
        })
    }
}

fn unknown_upload() -> CommandError {
    CommandError::new(Exit::NotFound, "this upload is not there any more")
        .hint("drop the files again")
}

/// Returns a path below the folder of an upload. Names of other systems and links out are refused.
fn relative_path(path: &str) -> Result<PathBuf> {
    let parts: Vec<&str> = path.split('/').collect();
    let is_plain = |part: &&str| {
        !part.is_empty()
            && !matches!(*part, "." | "..")
            && !part.contains(['\\', '\0'])
            && Path::new(part).components().count() == 1
            && Path::new(part).is_relative()
            && part.len() <= 255
    };
    if parts.len() > 64 || !parts.iter().all(is_plain) {
        return Err(CommandError::usage(format!("{path:?} is not the path of a dropped file")));
    }
    Ok(parts.iter().collect())
}

/// Imports an upload, or says what would come.
pub(crate) fn import_upload(
    settings: &AppSettings,
    memory: &Memory,
    uploads: &StagedUploads,
    import: &UploadImport<'_>,
) -> Result<Value> {
    let path = uploads.path(import.upload)?;
    let input = ImportInput::open(&path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let source = detect_source(&input)?;
    if source == ImportSource::Archive {
        return import_archive(memory, uploads, import, &path);
    }
    let target =
        ImportTarget { project: import.project.cloned(), folder: None, passing_over: None };
    let mode = if import.is_dry_run { ImportMode::DryRun } else { ImportMode::Write };
    let deleted = DeletedPolicy::Stay;
    let options = ImportOptions { source, mode, deleted, at: clock::now() };
    let client = concat!("memoranda ", env!("CARGO_PKG_VERSION"));
    let who =
        Author::new(client, "import", ChangeChannel::Import).with_account(settings.person_name());
    let report = import_source(memory, &who, &input, &target, options, &mut |_| ())?;
    let mut value = report_json(import.is_dry_run, source, &input, &report);
    // All notes are counted; the first ones are named.
    if let Some(notes) = value.get_mut("notes").and_then(Value::as_array_mut) {
        notes.truncate(MAX_NAMED_NOTES);
    }
    value["from"] = json!(name);
    value["reads"] = json!(source.row().reads);
    value["becomes"] = json!(source.row().becomes);
    value["note_count"] = json!(report.notes.len());
    if !import.is_dry_run {
        uploads.discard(import.upload);
    }
    Ok(value)
}

/// Brings a whole vault back into an empty one.
fn import_archive(
    memory: &Memory,
    uploads: &StagedUploads,
    import: &UploadImport<'_>,
    path: &Path,
) -> Result<Value> {
    if memory.snapshot()?.counts()?.notes > 0 {
        let message = "the archive of a vault needs an empty vault, and this one has notes";
        return Err(CommandError::new(Exit::Conflict, message)
            .hint("`memoranda import FILE.tar --home DIR` makes another vault"));
    }
    let files = if import.is_dry_run {
        0
    } else {
        let mut from = std::io::BufReader::new(files::open(path)?);
        let report = memory.import(&mut from)?;
        uploads.discard(import.upload);
        report.files
    };
    Ok(json!({
        "source": ImportSource::Archive.name(),
        "reads": ImportSource::Archive.row().reads,
        "becomes": ImportSource::Archive.row().becomes,
        "from": path.file_name().map(|name| name.to_string_lossy().into_owned()),
        "dry_run": import.is_dry_run,
        "whole": true,
        "created": files, "updated": 0, "unchanged": 0, "edited": 0, "deleted": 0, "taken": 0,
        "failed": 0, "skipped": [], "problems": [], "secrets": [], "commits": [], "notes": [],
        "note_count": files,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_uploads_stay_in_their_folder() {
        for good in ["a.md", "Vault/sub folder/ü.md", "a/b/c", ".obsidian/app.json", "…"] {
            assert!(relative_path(good).is_ok(), "{good}");
        }
        for bad in ["", "/", "/etc/passwd", "..", "a/../b", "a//b", "a/", "./a", "a\\b", "a\0b"] {
            assert!(relative_path(bad).is_err(), "{bad:?}");
        }
        assert!(relative_path(&"a/".repeat(70)).is_err());
        assert!(relative_path(&"n".repeat(300)).is_err());
    }

    #[test]
    fn parts_come_in_order_and_old_uploads_make_room() {
        let uploads = StagedUploads::default();
        let part = |path: &str, offset: u64, bytes: &[u8]| UploadPart {
            path: path.to_owned(),
            offset,
            bytes: bytes.to_vec(),
            modified: None,
        };
        let id =
            uploads.add_parts(None, &[part("a.md", 0, b"one "), part("a.md", 4, b"two")]).unwrap();
        assert_eq!(files::read(&uploads.path(&id).unwrap()).unwrap(), b"one two");
        assert!(uploads.add_parts(Some(&id), &[part("a.md", 4, b"again")]).is_err());
        assert!(uploads.add_parts(Some(&id), &[part("../b.md", 0, b"")]).is_err());
        assert!(uploads.add_parts(Some("unknown"), &[]).is_err());
        uploads.add_parts(Some(&id), &[part("b.md", 0, b"")]).unwrap();
        assert!(uploads.path(&id).unwrap().ends_with(FOLDER_NAME));
        for _ in 0..MAX_UPLOADS {
            uploads.add_parts(None, &[]).unwrap();
        }
        assert!(uploads.path(&id).is_err(), "the oldest is deleted");
    }
}
