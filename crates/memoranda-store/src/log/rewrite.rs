//! Rewriting segments without the contents that `vacuum` purges: the only way by which anything
//! leaves the log.

use std::collections::{HashMap, HashSet};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;

use super::{LogFolder, LogPosition, ReadCheck, RecordBody, SEGMENT_MAGIC, frame, record};
use crate::error::{ErrorContext as _, Result};
use crate::files::state_files;

/// What a rewrite of the log came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeReport {
    /// Contents that are no longer in the log.
    pub contents: u64,
    /// By how many bytes the log shrank.
    pub bytes: u64,
}

impl LogFolder {
    /// Rewrites every segment of a device without the contents and names that are purged. Each
    /// segment is replaced in one step; a crash in between leaves whole segments. A position in the
    /// old log becomes the same record boundary in the new one.
    pub(crate) fn purge(
        &self,
        device: &str,
        rules: &PurgeRules<'_>,
        position: &mut LogPosition,
    ) -> Result<PurgeReport> {
        let mut total = PurgeReport::default();
        for segment in self.segments(device)? {
            let purged = self.purge_segment(device, segment, rules, position)?;
            total.contents += purged.contents;
            total.bytes += purged.bytes;
        }
        for name in state_files::names(&self.device_dir(device)).doing(|| "list the log".into())? {
            if name.ends_with(".torn") {
                state_files::remove(&self.device_dir(device).join(name))
                    .doing(|| "remove a torn piece of the log".into())?;
            }
        }
        Ok(total)
    }

    fn purge_segment(
        &self,
        device: &str,
        segment: u64,
        rules: &PurgeRules<'_>,
        position: &mut LogPosition,
    ) -> Result<PurgeReport> {
        let doing = || format!("rewrite log segment {device}/{segment}");
        let path = self.segment_path(device, segment);
        let mut old = state_files::open_read(&path).doing(doing)?;
        let old_len = old.metadata().doing(doing)?.len();
        let new_path = path.with_extension("new");
        let mut new = state_files::open_private(&new_path).doing(doing)?;
        new.set_len(0).and_then(|()| new.write_all(&SEGMENT_MAGIC)).doing(doing)?;
        let mut contents = 0;
        let mut is_changed = false;
        let mut at = SEGMENT_MAGIC.len() as u64;
        let (mut new_at, mut new_offset) = (at, at);
        while let Some(start) = next_frame(&mut old, at, old_len).doing(doing)? {
            let found =
                frame::read(&mut old, start, old_len, ReadCheck::Whole.into()).doing(doing)?;
            let Some(found) = found else { break };
            at = found.end;
            let Some(mut record) = record::LogRecord::from_json(&found.meta) else { continue };
            let dropped = rules
                .removed
                .map_or(Dropped::default(), |name| Dropped::from_record(&mut record, name, rules));
            contents += dropped.contents;
            is_changed |= dropped.files > 0;
            if dropped.files > 0 && record.commit.files.is_empty() {
                continue;
            }
            is_changed |= rules.rename(&mut record);
            let mut body = RecordBody::default();
            for (file, note) in record.commit.files.iter().zip(&mut record.notes) {
                let (Some(hash), Some(blob)) = (file.after, note.blob) else { continue };
                if !rules.keeps(hash) {
                    note.blob = None;
                    contents += 1;
                    continue;
                }
                let mut stored = vec![0u8; blob.stored as usize];
                old.seek(SeekFrom::Start(found.body_at + blob.offset))
                    .and_then(|_| old.read_exact(&mut stored))
                    .doing(doing)?;
                note.blob = Some(body.add_stored(&stored, blob.raw));
            }
            let frame = frame::encode(&record.to_json(), body.as_bytes());
            new.write_all(&frame).doing(doing)?;
            new_at += frame.len() as u64;
            if at <= position.offset {
                new_offset = new_at;
            }
        }
        if contents == 0 && !is_changed && at == old_len {
            state_files::remove(&new_path).doing(doing)?;
            return Ok(PurgeReport::default());
        }
        let new_len = new.metadata().doing(doing)?.len();
        new.sync_all().doing(doing)?;
        state_files::rename(&new_path, &path)
            .and_then(|()| state_files::sync_dir(&self.device_dir(device)))
            .doing(doing)?;
        if position.segment == segment {
            position.offset = new_offset;
        }
        Ok(PurgeReport { contents, bytes: old_len.saturating_sub(new_len) })
    }
}

/// Decides what leaves the log.
pub(crate) struct PurgeRules<'a> {
    /// A project whose records go as a whole.
    pub(crate) removed: Option<&'a ProjectName>,
    /// Contents that go.
    pub(crate) contents: &'a HashSet<ContentHash>,
    /// Names of purged notes, which often begin with their text, and what stands in their place.
    pub(crate) names: &'a HashMap<(ProjectName, NotePath), NotePath>,
}

impl PurgeRules<'_> {
    fn keeps(&self, hash: ContentHash) -> bool {
        !self.contents.contains(&hash)
    }

    /// Replaces the names of purged notes in a record. Returns true if there were any.
    fn rename(&self, record: &mut record::LogRecord) -> bool {
        let mut renamed = 0;
        for (file, note) in record.commit.files.iter_mut().zip(&mut record.notes) {
            let key = |path: &NotePath| (file.project.clone(), path.clone());
            let from = file.moved_from.as_ref().and_then(|from| self.names.get(&key(from)));
            let to = self.names.get(&key(&file.path));
            renamed += usize::from(from.is_some() || to.is_some());
            if let Some(to) = to {
                file.path.clone_from(to);
                note.permalink = None;
            }
            if let Some(from) = from {
                file.moved_from = Some(from.clone());
            }
        }
        if renamed > 0 && renamed == record.commit.files.len() {
            record.commit.message = None;
        }
        renamed > 0
    }
}

/// What left a record with a removed project.
#[derive(Default)]
struct Dropped {
    files: usize,
    contents: u64,
}

impl Dropped {
    /// Drops the files of a removed project from a record. A file stays if another project needs
    /// the content that lies in this record.
    fn from_record(
        record: &mut record::LogRecord,
        removed: &ProjectName,
        rules: &PurgeRules<'_>,
    ) -> Self {
        let mut dropped = Self::default();
        let files = std::mem::take(&mut record.commit.files);
        let notes = std::mem::take(&mut record.notes);
        for (file, note) in files.into_iter().zip(notes) {
            let is_needed = note.blob.is_some() && file.after.is_some_and(|hash| rules.keeps(hash));
            if file.project != *removed || is_needed {
                record.commit.files.push(file);
                record.notes.push(note);
            } else {
                dropped.files += 1;
                dropped.contents += u64::from(note.blob.is_some());
            }
        }
        if let Some(folders) = &mut record.commit.folders {
            folders.created.retain(|(project, _)| project != removed);
            folders.removed.retain(|(project, _)| project != removed);
        }
        dropped
    }
}

/// The frame at `at`, or the next one after damage; damage is not carried over.
fn next_frame(file: &mut std::fs::File, at: u64, len: u64) -> std::io::Result<Option<u64>> {
    if at >= len {
        return Ok(None);
    }
    match frame::read(file, at, len, frame::FrameCheck::Whole)? {
        Some(_) => Ok(Some(at)),
        None => frame::find_next(file, at + 1, len),
    }
}
