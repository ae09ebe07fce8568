//! Rewriting segments without the contents that `vacuum` purges: the only way by which anything
//! leaves the log.

use std::collections::HashMap;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;

use super::frame::{FrameCheck, FrameFormat};
use super::record::{LogRecord, SaltedText};
use super::segment::{self, HEADER_BYTES};
use super::{LogFolder, LogPosition, RecordBody, frame};
use crate::error::{ErrorContext as _, Result};
use crate::files::state_file::StateFile;
use crate::files::state_files;

/// Result of a rewrite of the log.
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
        let (mut old, format) = self.open_segment(device, segment)?;
        let old_len = old.metadata().doing(doing)?.len();
        let new_path = path.with_extension("new");
        let mut new = state_files::open_private(&new_path).doing(doing)?;
        new.set_len(0).and_then(|()| new.write_all(&segment::header(format))).doing(doing)?;
        let mut contents = 0;
        let mut is_changed = false;
        let mut at = HEADER_BYTES;
        let (mut new_at, mut new_offset) = (at, at);
        while let Some(start) = next_frame(&mut old, format, at, old_len).doing(doing)? {
            let found =
                frame::read(&mut old, format, start, old_len, FrameCheck::Whole).doing(doing)?;
            let Some(found) = found else { break };
            at = found.end;
            let Some(original) = segment::decode_record(format, &found) else { continue };
            let (mut record, purged) = rules.apply(&original);
            contents += purged.contents;
            is_changed |= purged.is_changed;
            if format == FrameFormat::Two && purged.is_changed {
                keep_digests(&original, &mut record, &purged.kept_files);
            } else if format == FrameFormat::One && purged.is_emptied(&record) {
                continue;
            }
            let mut body = RecordBody::default();
            for note in &mut record.notes {
                let Some(blob) = note.blob else { continue };
                let mut stored = vec![0u8; blob.stored as usize];
                old.seek(SeekFrom::Start(found.body_at + blob.offset))
                    .and_then(|_| old.read_exact(&mut stored))
                    .doing(doing)?;
                note.blob = Some(body.add_stored(&stored, blob.raw));
            }
            let meta = segment::encode_record(format, &record);
            let frame = frame::encode(format, &meta, body.as_bytes());
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
    /// Contents that go, and what stands in the place of their hashes: the hash of a short text can
    /// be guessed.
    pub(crate) contents: &'a HashMap<ContentHash, ContentHash>,
    /// Names of purged notes, which often begin with their text, and what stands in their place.
    pub(crate) names: &'a HashMap<(ProjectName, NotePath), NotePath>,
}

/// Effect of a purge on a record.
#[derive(Default)]
struct PurgedRecord {
    /// Contents that left.
    contents: u64,
    is_changed: bool,
    /// The files that stayed, by their numbers in the original.
    kept_files: Vec<usize>,
}

impl PurgedRecord {
    fn is_emptied(&self, record: &LogRecord) -> bool {
        self.is_changed && record.commit.files.is_empty()
    }
}

impl PurgeRules<'_> {
    fn keeps(&self, hash: ContentHash) -> bool {
        !self.contents.contains_key(&hash)
    }

    /// Returns a record without what goes.
    fn apply(&self, original: &LogRecord) -> (LogRecord, PurgedRecord) {
        let mut record = original.clone();
        let mut purged = PurgedRecord {
            kept_files: (0..record.commit.files.len()).collect(),
            ..PurgedRecord::default()
        };
        if let Some(removed) = self.removed {
            self.drop_project(&mut record, removed, &mut purged);
        }
        purged.is_changed |= self.rename(&mut record);
        for (file, note) in record.commit.files.iter_mut().zip(&mut record.notes) {
            if note.blob.is_some() && file.after.is_some_and(|hash| !self.keeps(hash)) {
                note.blob = None;
                purged.contents += 1;
            }
            for hash in [&mut file.before, &mut file.after].into_iter().flatten() {
                if let Some(stand_in) = self.contents.get(hash) {
                    *hash = *stand_in;
                    purged.is_changed = true;
                }
            }
        }
        (record, purged)
    }

    /// Drops the files of a removed project from a record. A file stays if another project needs
    /// the content that lies in this record.
    fn drop_project(
        &self,
        record: &mut LogRecord,
        removed: &ProjectName,
        purged: &mut PurgedRecord,
    ) {
        let files = std::mem::take(&mut record.commit.files);
        let notes = std::mem::take(&mut record.notes);
        purged.kept_files.clear();
        for (n, (file, note)) in files.into_iter().zip(notes).enumerate() {
            let is_needed = note.blob.is_some() && file.after.is_some_and(|hash| self.keeps(hash));
            if file.project != *removed || is_needed {
                record.commit.files.push(file);
                record.notes.push(note);
                purged.kept_files.push(n);
            } else {
                purged.is_changed = true;
                purged.contents += u64::from(note.blob.is_some());
            }
        }
        if let Some(folders) = &mut record.commit.folders {
            folders.created.retain(|(project, _)| project != removed);
            folders.removed.retain(|(project, _)| project != removed);
        }
        if purged.is_emptied(record) {
            record.commit.message = None;
            record.commit.folders = None;
        }
    }

    /// Replaces the names of purged notes in a record. Returns true if there were any.
    fn rename(&self, record: &mut LogRecord) -> bool {
        let mut renamed = 0;
        for (file, note) in record.commit.files.iter_mut().zip(&mut record.notes) {
            let key = |path: &NotePath| (file.project.clone(), path.clone());
            let from = file.moved_from.as_ref().and_then(|from| self.names.get(&key(from)));
            let to = self.names.get(&key(&file.path));
            renamed += usize::from(from.is_some() || to.is_some());
            for path in note.parents.iter_mut().flatten().filter_map(|parent| parent.path.as_mut())
            {
                if let Some(stand_in) = self.names.get(&key(path)) {
                    path.clone_from(stand_in);
                }
            }
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

/// Puts the digest of each changed text in the place of its salt, so that the chain holds.
fn keep_digests(original: &LogRecord, record: &mut LogRecord, kept_files: &[usize]) {
    for (now, before) in kept_files.iter().enumerate() {
        let is_same = record.commit.files.get(now) == original.commit.files.get(*before)
            && text_of(record, now) == text_of(original, *before);
        if let (false, Some(note)) = (is_same, record.notes.get_mut(now)) {
            note.salted = SaltedText::Purged(original.file_digest(*before));
        }
    }
    let dropped = (0..original.commit.files.len()).filter(|n| !kept_files.contains(n));
    record.purged_files.extend(dropped.map(|n| original.file_digest(n)));
    if record.commit.message != original.commit.message {
        record.message_salt = original.message_digest().map(SaltedText::Purged);
    }
    if record.commit.folders != original.commit.folders {
        record.folders_salt = original.folders_digest().map(SaltedText::Purged);
    }
}

/// Returns the data that the digest of a file covers in addition to the change itself.
fn text_of(
    record: &LogRecord,
    n: usize,
) -> Option<(Option<&str>, Option<&[super::FileVersionId]>)> {
    let note = record.notes.get(n)?;
    Some((note.permalink.as_deref(), note.parents.as_deref()))
}

/// The frame at `at`, or the next one after damage; damage is not carried over.
fn next_frame(
    file: &mut StateFile,
    format: FrameFormat,
    at: u64,
    len: u64,
) -> std::io::Result<Option<u64>> {
    if at >= len {
        return Ok(None);
    }
    match frame::read(file, format, at, len, FrameCheck::Whole)? {
        Some(_) => Ok(Some(at)),
        None => frame::find_next(file, format, at + 1, len),
    }
}
