//! The commit log: append-only segments, one folder for each device that writes.
//!
//! One forced write of the log is the moment of acknowledgement. The log is the crash journal,
//! the history and the recycle bin at once.

#![allow(clippy::disallowed_types)]

mod frame;
mod record;
mod rewrite;

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use memoranda_core::id::{CommitId, ContentHash};

use crate::error::{ErrorContext as _, Result, StoreError};
use crate::faults::{self, Step};
use crate::files::{self, FilePrivacy, state_files};
use crate::vault::boot::BootId;

pub(crate) use record::{FileRecord, LogRecord, RecordBody, parse_folders, wire_folders};
pub use rewrite::PurgeReport;
pub(crate) use rewrite::PurgeRules;

/// A segment that has grown this far is closed, and the next begun.
const SEGMENT_BYTES: u64 = 64 << 20;
/// What every segment begins with; the last byte is the version of the frames.
const SEGMENT_MAGIC: [u8; 16] = *b"memoranda log\n\x00\x01";

/// A place in the log of one device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct LogPosition {
    /// The segment, from 1; 0 before anything was written.
    pub(crate) segment: u64,
    /// The offset in it.
    pub(crate) offset: u64,
}

/// Where a content lies, for the index to remember.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ContentLocation {
    pub(crate) device: String,
    pub(crate) segment: u64,
    pub(crate) offset: u64,
    pub(crate) stored: u64,
    pub(crate) raw: u64,
}

/// A record as it was read, with its place.
pub(crate) struct LoggedRecord {
    pub(crate) record: LogRecord,
    pub(crate) at: LogPosition,
    pub(crate) end: LogPosition,
    /// Offset of the body in the segment, to which blob offsets are relative.
    pub(crate) body_at: u64,
}

impl LoggedRecord {
    /// Where the content of the n-th file lies, if the record brought it.
    pub(crate) fn content_at(&self, device: &str, n: usize) -> Option<ContentLocation> {
        let blob = self.record.notes.get(n)?.blob?;
        Some(ContentLocation {
            device: device.to_owned(),
            segment: self.at.segment,
            offset: self.body_at + blob.offset,
            stored: blob.stored,
            raw: blob.raw,
        })
    }
}

/// A stretch of a segment that is no whole record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogDamage {
    /// The device's folder and the segment's number.
    pub segment: String,
    /// Where it begins.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// The log folder of a vault.
#[derive(Clone)]
pub(crate) struct LogFolder {
    path: PathBuf,
}

impl LogFolder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The devices that have written, sorted.
    pub(crate) fn devices(&self) -> Result<Vec<String>> {
        let names = state_files::names(&self.path).doing(|| "list the log".into())?;
        Ok(names.into_iter().filter(|name| state_files::is_dir(&self.path.join(name))).collect())
    }

    fn device_dir(&self, device: &str) -> PathBuf {
        self.path.join(device)
    }

    fn segment_path(&self, device: &str, segment: u64) -> PathBuf {
        self.device_dir(device).join(format!("{segment:08}.log"))
    }

    fn boot_path(&self, device: &str) -> PathBuf {
        self.device_dir(device).join("boot")
    }

    /// Returns the last run of the machine in which a device wrote; `None` if it was not recorded.
    pub(crate) fn boot(&self, device: &str) -> Result<Option<BootId>> {
        let bytes = state_files::read(&self.boot_path(device)).doing(|| "read the log".into())?;
        Ok(bytes.map(|bytes| BootId::decode(String::from_utf8_lossy(&bytes).trim())))
    }

    /// Records on disk that a device writes in a run of the machine.
    pub(crate) fn set_boot(&self, device: &str, boot: BootId) -> Result<()> {
        if boot == BootId::Unknown || self.boot(device)? == Some(boot) {
            return Ok(());
        }
        let text = format!("{}\n", boot.encode());
        state_files::replace(&self.boot_path(device), text.as_bytes())
            .doing(|| "note the run of the machine".into())
    }

    /// The numbers of a device's segments, sorted.
    pub(crate) fn segments(&self, device: &str) -> Result<Vec<u64>> {
        let names = state_files::names(&self.device_dir(device)).doing(|| "list the log".into())?;
        let numbers = names.iter().filter_map(|name| name.strip_suffix(".log")?.parse().ok());
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The end of a device's log, by the sizes of its files.
    pub(crate) fn end(&self, device: &str) -> Result<LogPosition> {
        let Some(&segment) = self.segments(device)?.last() else {
            return Ok(LogPosition::default());
        };
        let path = self.segment_path(device, segment);
        let found = state_files::size_and_mtime(&path).doing(|| "look at the log".into())?;
        Ok(LogPosition { segment, offset: found.map_or(0, |(size, _)| size) })
    }

    /// Whether a device's log ends here: asked before every read, so without listing the folder.
    pub(crate) fn is_end(&self, device: &str, position: LogPosition) -> bool {
        let size = |segment| match state_files::size_and_mtime(&self.segment_path(device, segment))
        {
            Ok(found) => found.map(|(size, _)| size),
            Err(_) => None,
        };
        let here = position.segment == 0 || size(position.segment) == Some(position.offset);
        here && size(position.segment + 1).is_none()
    }

    /// Returns true if a device may have written since a time in milliseconds since 1970. Its clock
    /// may differ from this machine's by up to an hour.
    pub(crate) fn changed_since(&self, device: &str, time_ms: i64) -> Result<bool> {
        const CLOCK_SKEW_MS: i128 = 3_600_000;
        let Some(&segment) = self.segments(device)?.last() else { return Ok(false) };
        let path = self.segment_path(device, segment);
        let found = state_files::size_and_mtime(&path).doing(|| "look at the log".into())?;
        Ok(found.is_some_and(|(_, mtime_ns)| {
            mtime_ns / 1_000_000 + CLOCK_SKEW_MS >= i128::from(time_ms)
        }))
    }

    /// How large all segments of a device are.
    pub(crate) fn size(&self, device: &str) -> Result<u64> {
        let mut total = 0;
        for segment in self.segments(device)? {
            let path = self.segment_path(device, segment);
            let found = state_files::size_and_mtime(&path).doing(|| "look at the log".into())?;
            total += found.map_or(0, |(size, _)| size);
        }
        Ok(total)
    }

    /// Reads the records from a place on, in order. Damage between whole records is skipped and
    /// reported; what follows the last whole record of the last segment is the torn tail.
    pub(crate) fn read_from(
        &self,
        device: &str,
        from: LogPosition,
        check: ReadCheck,
        mut each: impl FnMut(LoggedRecord) -> Result<()>,
    ) -> Result<LogReadEnd> {
        let mut damage = Vec::new();
        let mut end = from;
        let segments = self.segments(device)?;
        for &segment in segments.iter().filter(|&&segment| segment >= from.segment) {
            let path = self.segment_path(device, segment);
            let doing = || format!("read log segment {device}/{segment}");
            let mut file = state_files::open_read(&path).doing(doing)?;
            let len = file.metadata().doing(doing)?.len();
            let start = if segment == from.segment { from.offset } else { 0 };
            let mut at = start.max(SEGMENT_MAGIC.len() as u64);
            while at < len {
                let read = frame::read(&mut file, at, len, check.into()).doing(doing)?;
                let placed = read.and_then(|found| {
                    let record = LogRecord::from_json(&found.meta)?;
                    let position = |offset| LogPosition { segment, offset };
                    let (at, end) = (position(at), position(found.end));
                    Some(LoggedRecord { record, at, end, body_at: found.body_at })
                });
                let next = match placed {
                    Some(placed) => {
                        let next = placed.end.offset;
                        each(placed)?;
                        next
                    }
                    None => {
                        let next = frame::find_next(&mut file, at + 1, len).doing(doing)?;
                        let until = next.unwrap_or(len);
                        damage.push(LogDamage {
                            segment: format!("{device}/{segment:08}.log"),
                            offset: at,
                            bytes: until - at,
                        });
                        match next {
                            Some(next) => next,
                            None => break,
                        }
                    }
                };
                at = next;
                end = LogPosition { segment, offset: at };
            }
            if len <= SEGMENT_MAGIC.len() as u64 || end.segment < segment {
                end = LogPosition { segment, offset: start.max(at.min(len)) };
            }
        }
        Ok(LogReadEnd { end, damage })
    }

    /// Returns the id of the commit whose record begins at a place; `None` if none does.
    pub(crate) fn commit_at(&self, device: &str, at: LogPosition) -> Result<Option<CommitId>> {
        let doing = || format!("read log segment {device}/{}", at.segment);
        let path = self.segment_path(device, at.segment);
        let mut file = match state_files::open_read(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.doing(doing)?,
        };
        let len = file.metadata().doing(doing)?.len();
        let frame = frame::read(&mut file, at.offset, len, frame::FrameCheck::Meta).doing(doing)?;
        let record = frame.and_then(|frame| LogRecord::from_json(&frame.meta));
        Ok(record.map(|record| record.commit.id))
    }

    /// Reads a content and proves that it is the one that was asked for.
    pub(crate) fn content(&self, at: &ContentLocation, hash: ContentHash) -> Result<Vec<u8>> {
        let gone = || StoreError::ContentGone(hash);
        let path = self.segment_path(&at.device, at.segment);
        let mut file = state_files::open_read(&path).map_err(|_| gone())?;
        let len = file.metadata().doing(|| "read the log".into())?.len();
        if at.offset.saturating_add(at.stored) > len || at.raw > files::MAX_FILE_BYTES {
            return Err(gone());
        }
        let mut stored = vec![0u8; at.stored as usize];
        file.seek(SeekFrom::Start(at.offset)).doing(|| "read the log".into())?;
        file.read_exact(&mut stored).doing(|| "read the log".into())?;
        let content = record::restore(stored, at.raw).ok_or_else(gone)?;
        if files::hash(&content) == hash { Ok(content) } else { Err(gone()) }
    }

    /// Opens the segment of a position, to see later if it was rewritten.
    pub(crate) fn segment_handle(&self, device: &str, at: LogPosition) -> Result<SegmentHandle> {
        if at.segment == 0 {
            return Ok(SegmentHandle(None));
        }
        let opened = state_files::open_read(&self.segment_path(device, at.segment));
        opened.map(|file| SegmentHandle(Some(file))).doing(|| "open the log".into())
    }

    /// Opens the log of this device for writing at its end.
    pub(crate) fn writer(&self, device: &str, end: LogPosition) -> Result<LogWriter> {
        state_files::create_dir(&self.device_dir(device), FilePrivacy::Private)
            .doing(|| "make the log's folder".into())?;
        let mut writer =
            LogWriter { folder: self.clone(), device: device.to_owned(), file: None, end };
        writer.open_segment()?;
        Ok(writer)
    }
}

/// An open segment of a log; `None` before anything was written.
pub(crate) struct SegmentHandle(Option<File>);

impl SegmentHandle {
    /// Returns true if `vacuum` has not put another file in the place of this one.
    pub(crate) fn is_current(&self) -> bool {
        match self.0.as_ref().map(File::metadata) {
            None => true,
            Some(Ok(metadata)) => !state_files::is_unlinked(&metadata),
            Some(Err(_)) => false,
        }
    }
}

/// How thoroughly records are checked when they are read.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ReadCheck {
    /// The history alone.
    Meta,
    /// The contents too.
    Whole,
}

impl From<ReadCheck> for frame::FrameCheck {
    fn from(checking: ReadCheck) -> Self {
        match checking {
            ReadCheck::Meta => Self::Meta,
            ReadCheck::Whole => Self::Whole,
        }
    }
}

/// Where reading ended, and what was passed over.
pub(crate) struct LogReadEnd {
    /// The end of the last whole record.
    pub(crate) end: LogPosition,
    /// Stretches that are no records; the last one is a torn tail if it reaches the file's end.
    pub(crate) damage: Vec<LogDamage>,
}

/// The end of this device's log, open for appending. Held under the vault's lock.
pub(crate) struct LogWriter {
    folder: LogFolder,
    device: String,
    file: Option<File>,
    end: LogPosition,
}

impl LogWriter {
    pub(crate) fn end(&self) -> LogPosition {
        self.end
    }

    /// Whether the file ends where this writer believes, and is still the log's: `vacuum` puts
    /// another in its place.
    pub(crate) fn is_at_end(&self) -> bool {
        match self.file.as_ref().map(File::metadata) {
            None => self.end == LogPosition::default(),
            Some(Ok(metadata)) => {
                metadata.len() == self.end.offset && !state_files::is_unlinked(&metadata)
            }
            Some(Err(_)) => false,
        }
    }

    /// Goes to another place in the log.
    pub(crate) fn move_to(&mut self, end: LogPosition) -> Result<()> {
        self.end = end;
        self.open_segment()
    }

    /// Cuts off a torn tail, keeping its bytes aside for whoever wants to look.
    pub(crate) fn cut_tail(&mut self, end: LogPosition) -> Result<()> {
        self.move_to(end)?;
        let doing = || "cut the torn end of the log".into();
        let Some(file) = &mut self.file else { return Ok(()) };
        let len = file.metadata().doing(doing)?.len();
        if len > end.offset {
            let mut torn = Vec::new();
            file.seek(SeekFrom::Start(end.offset)).doing(doing)?;
            file.read_to_end(&mut torn).doing(doing)?;
            let name = format!("{:08}-{}.torn", end.segment, end.offset);
            state_files::replace(&self.folder.device_dir(&self.device).join(name), &torn)
                .doing(doing)?;
            file.set_len(end.offset).and_then(|()| file.sync_all()).doing(doing)?;
        }
        Ok(())
    }

    /// Appends records and forces them to disk: all of them, or none.
    pub(crate) fn append(
        &mut self,
        records: &[(LogRecord, RecordBody)],
    ) -> Result<Vec<LoggedRecord>> {
        if self.end.segment == 0 || self.end.offset > SEGMENT_BYTES {
            self.end = LogPosition { segment: self.end.segment + 1, offset: 0 };
            self.open_segment()?;
        }
        let start = self.end;
        let mut bytes = Vec::new();
        let mut placed = Vec::with_capacity(records.len());
        for (record, body) in records {
            let at = start.offset + bytes.len() as u64;
            let meta = record.to_json();
            let frame = frame::encode(&meta, body.as_bytes());
            let body_at = at + (frame::HEADER + meta.len()) as u64;
            bytes.extend_from_slice(&frame);
            let position = |offset| LogPosition { segment: start.segment, offset };
            let end = position(start.offset + bytes.len() as u64);
            placed.push(LoggedRecord { record: record.clone(), at: position(at), end, body_at });
        }
        match self.write_at_end(&bytes) {
            Ok(()) => {
                self.end.offset += bytes.len() as u64;
                Ok(placed)
            }
            Err(source) => {
                self.retract(start)?;
                Err(StoreError::Io { doing: "write to the log".into(), source })
            }
        }
    }

    /// Takes back what was appended after `start`, because the change was not made.
    pub(crate) fn retract(&mut self, start: LogPosition) -> Result<()> {
        // A segment that was begun for it stays, empty.
        let begun = start.segment != self.end.segment;
        self.end.offset = if begun { SEGMENT_MAGIC.len() as u64 } else { start.offset };
        let Some(file) = &mut self.file else { return Ok(()) };
        file.set_len(self.end.offset)
            .and_then(|()| file.sync_data())
            .map_err(|e| StoreError::Halted(format!("the log could not be taken back: {e}")))
    }

    fn write_at_end(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Err(io::ErrorKind::NotFound.into()) };
        faults::at(Step::LogAppend)?;
        file.seek(SeekFrom::Start(self.end.offset))?;
        let (first, second) = bytes.split_at(bytes.len() / 2);
        if cfg!(feature = "faults") {
            file.write_all(first)?;
            faults::at(Step::LogTorn)?;
            file.write_all(second)?;
        } else {
            file.write_all(bytes)?;
        }
        faults::at(Step::LogSync)?;
        file.sync_data()?;
        faults::at(Step::LogSynced)
    }

    fn open_segment(&mut self) -> Result<()> {
        if self.end.segment == 0 {
            self.file = None;
            return Ok(());
        }
        let path = self.folder.segment_path(&self.device, self.end.segment);
        let doing = || "open the log".to_owned();
        let mut file = state_files::open_private(&path).doing(doing)?;
        if file.metadata().doing(doing)?.len() < SEGMENT_MAGIC.len() as u64 {
            file.set_len(0)
                .and_then(|()| file.write_all(&SEGMENT_MAGIC))
                .and_then(|()| file.sync_all())
                .doing(doing)?;
            // The folders may be as new as the segment: the log's own, and the vault's.
            let folder = self.folder.device_dir(&self.device);
            for folder in folder.ancestors().take(4) {
                state_files::sync_dir(folder).doing(doing)?;
            }
        }
        self.end.offset = self.end.offset.max(SEGMENT_MAGIC.len() as u64);
        self.file = Some(file);
        Ok(())
    }
}

/// Where the log of a vault lies.
pub(crate) fn folder(state: &Path) -> LogFolder {
    LogFolder::new(state.join("log"))
}
