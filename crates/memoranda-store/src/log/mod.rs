//! The commit log: append-only segments, one folder for each device that writes.
//!
//! One forced write of the log is the moment of acknowledgement. The log is the crash journal,
//! the history and the recycle bin at once.

pub(crate) mod chain;
mod fields;
mod frame;
mod received;
mod record;
mod record_fields;
mod rewrite;
mod segment;
mod writer;

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use memoranda_core::id::{CommitId, ContentHash};

use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::state_file::StateFile;
use crate::files::{self, FilePrivacy, state_files};
use crate::vault::boot::{BootId, MachineRun, machine_id};
use chain::ChainEnd;
use frame::FrameFormat;
use segment::{BARRIER, BARRIER_FOLDER, HEADER_BYTES};

pub(crate) use received::ReceivedFrame;
pub(crate) use record::restore;
pub(crate) use record::{
    FileRecord, FileVersionId, LogRecord, PurgeOrder, RecordBody, parse_folders, wire_folders,
};
pub use rewrite::PurgeReport;
pub(crate) use rewrite::PurgeRules;
pub(crate) use writer::{LogForce, LogWriter};

/// A place in the log of one device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct LogPosition {
    /// The segment, from 1; 0 before anything was written.
    pub(crate) segment: u64,
    /// The offset in it.
    pub(crate) offset: u64,
}

/// Location of a content in the log, for the index.
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
    /// Returns the location of the content of the n-th file, if the record contains it.
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

/// A range of a segment that is not a whole record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogDamage {
    /// The device's folder and the segment's number.
    pub segment: String,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
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
        let names = state_files::names(&self.path)
            .doing(|| format!("list the log {}", self.path.display()))?;
        let is_device =
            |name: &String| *name != BARRIER_FOLDER && state_files::is_dir(&self.path.join(name));
        Ok(names.into_iter().filter(is_device).collect())
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
    pub(crate) fn run(&self, device: &str) -> Result<Option<MachineRun>> {
        Ok(self.last_run(device)?.map(|last| last.run))
    }

    fn last_run(&self, device: &str) -> Result<Option<LastRun>> {
        let bytes = state_files::read(&self.boot_path(device)).doing(|| "read the log".into())?;
        Ok(bytes.map(|bytes| LastRun::parse(&String::from_utf8_lossy(&bytes))))
    }

    /// Returns true if another machine writes a device's log: only there it may be rewritten. A log
    /// without a machine is an imported one, or older than that record.
    pub(crate) fn is_of_other_machine(&self, device: &str, run: MachineRun) -> Result<bool> {
        let Some(LastRun { run: last, machine: Some(machine), .. }) = self.last_run(device)? else {
            return Ok(false);
        };
        let is_here = last.boot == run.boot && run.boot != BootId::Unknown;
        Ok(!is_here && machine_id().is_some_and(|own| own != machine))
    }

    /// Returns true if a device wrote its log in this very folder, rather than in one that was
    /// copied here: then the files next to it are those that the log describes. A file system without
    /// an identity is taken for the same on the same machine.
    pub(crate) fn was_written_here(&self, device: &str) -> Result<bool> {
        let Some(LastRun { machine, place, .. }) = self.last_run(device)? else { return Ok(false) };
        match (place, state_files::place(&self.device_dir(device))) {
            (None, None) => Ok(machine.is_some() && machine == machine_id()),
            (then, now) => Ok(then == now),
        }
    }

    /// Records on disk that a device writes in a run of the machine.
    pub(crate) fn set_run(&self, device: &str, run: MachineRun) -> Result<()> {
        if run.boot == BootId::Unknown {
            return Ok(());
        }
        let last = self.last_run(device)?;
        let machine = last.as_ref().and_then(|last| last.machine.clone()).or_else(machine_id);
        let place = state_files::place(&self.device_dir(device));
        let now = LastRun { run, machine, place };
        if last.as_ref() == Some(&now) {
            return Ok(());
        }
        state_files::replace(&self.boot_path(device), now.to_line().as_bytes())
            .doing(|| "note the run of the machine".into())
    }

    /// The numbers of a device's segments, sorted.
    pub(crate) fn segments(&self, device: &str) -> Result<Vec<u64>> {
        let names = state_files::names(&self.device_dir(device))
            .doing(|| format!("list the log {}", self.device_dir(device).display()))?;
        let numbers = names.iter().filter_map(|name| name.strip_suffix(".log")?.parse().ok());
        let mut numbers: Vec<u64> = numbers.filter(|number| *number < BARRIER).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Stops processes of version 0.1.0 that are still running. They would append records of format
    /// 1 behind those of format 2, or rewrite segments that they cannot read.
    pub(crate) fn set_barriers(&self, own: &str) -> Result<()> {
        let mut places = vec![(BARRIER_FOLDER.to_owned(), 1), (own.to_owned(), BARRIER)];
        places.extend(self.devices()?.into_iter().map(|device| (device, BARRIER)));
        for (device, segment) in places {
            state_files::create_dir(&self.segment_path(&device, segment), FilePrivacy::Private)
                .and_then(|()| state_files::sync_dir(&self.device_dir(&device)))
                .doing(|| "mark the log as one of format 2".to_owned())?;
        }
        state_files::sync_dir(&self.path).doing(|| "mark the log as one of format 2".into())
    }

    /// Opens a segment for reading; also returns its format.
    fn open_segment(&self, device: &str, segment: u64) -> Result<(StateFile, FrameFormat)> {
        let doing = || format!("read log segment {device}/{segment}");
        let path = self.segment_path(device, segment);
        let mut file = state_files::open_read(&path).doing(doing)?;
        let format = segment::read_format(&mut file, &format!("{device}/{segment:08}.log"))?;
        Ok((file, format))
    }

    /// Returns the last record of a device's log before a place, for the chain.
    pub(crate) fn chain_end(&self, device: &str, end: LogPosition) -> Result<ChainEnd> {
        let segments = self.segments(device)?;
        for &number in segments.iter().rev().filter(|&&number| number <= end.segment) {
            let doing = || format!("read log segment {device}/{number}");
            let (mut file, format) = self.open_segment(device, number)?;
            let len = file.metadata().doing(doing)?.len();
            let len = if number == end.segment { len.min(end.offset) } else { len };
            if len <= HEADER_BYTES {
                continue;
            }
            if format == FrameFormat::Two {
                let last = frame::read_last(&mut file, len).doing(doing)?;
                let record = last.and_then(|frame| record_fields::decode(&frame.meta));
                if let Some(record) = record {
                    return Ok(ChainEnd::of(&record));
                }
            }
            // Format 1 has no numbers, so records are counted; damage hides the last one.
            let mut found = ChainEnd::default();
            self.read_from(device, LogPosition::default(), ReadCheck::Meta, |placed| {
                if placed.end <= (LogPosition { segment: number, offset: len }) {
                    found = found.after(&placed.record);
                }
                Ok(())
            })?;
            return Ok(found);
        }
        Ok(ChainEnd::default())
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

    /// Returns the end of the record of a number; the beginning of the log if no record has it.
    pub(crate) fn end_of(&self, device: &str, seq: u64) -> Result<LogPosition> {
        let mut end = LogPosition::default();
        self.read_from(device, LogPosition::default(), ReadCheck::Meta, |placed| {
            if placed.record.link.seq == seq {
                end = placed.end;
            }
            Ok(())
        })?;
        Ok(end)
    }

    /// Returns true if a device's log ends here; false too if that cannot be seen. Called before
    /// every read, so it does not list the folder.
    pub(crate) fn is_end(&self, device: &str, position: LogPosition) -> bool {
        let segment = |number| state_files::size_and_mtime(&self.segment_path(device, number));
        let ends_here = position.segment == 0
            || matches!(segment(position.segment), Ok(Some((size, _))) if size == position.offset);
        ends_here && matches!(segment(position.segment + 1), Ok(None))
    }

    /// Returns the greatest clock of the last records of all devices but one.
    pub(crate) fn latest_clock_of_others(&self, own: &str) -> Result<u64> {
        let mut latest = 0;
        for device in self.devices()?.into_iter().filter(|device| device != own) {
            latest = latest.max(self.last_clock(&device)?);
        }
        Ok(latest)
    }

    /// Returns the hybrid clock of the last record of a device's log.
    pub(crate) fn last_clock(&self, device: &str) -> Result<u64> {
        Ok(self.chain_end(device, self.end(device)?)?.clock)
    }

    /// Returns the size of all segments of a device.
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
            let doing = || format!("read log segment {device}/{segment}");
            let (mut file, format) = self.open_segment(device, segment)?;
            let len = file.metadata().doing(doing)?.len();
            let start = if segment == from.segment { from.offset } else { 0 };
            let mut at = start.max(HEADER_BYTES);
            while at < len {
                let read = frame::read(&mut file, format, at, len, check.into()).doing(doing)?;
                let placed = read.and_then(|found| {
                    let record = segment::decode_record(format, &found)?;
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
                        let next = frame::find_next(&mut file, format, at + 1, len).doing(doing)?;
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
            if len <= HEADER_BYTES || end.segment < segment {
                end = LogPosition { segment, offset: start.max(at.min(len)) };
            }
        }
        Ok(LogReadEnd { end, damage })
    }

    /// Returns true if the record of a commit begins at a place, and a record ends at a later one. A
    /// log that was rewritten or set back has other records there.
    pub(crate) fn has_records(
        &self,
        device: &str,
        commit: CommitId,
        at: LogPosition,
        until: LogPosition,
    ) -> Result<bool> {
        let doing = || format!("read log segment {device}/{}", at.segment);
        let (mut file, format) = match self.open_segment(device, at.segment) {
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(false);
            }
            opened => opened?,
        };
        let len = file.metadata().doing(doing)?.len();
        let check = frame::FrameCheck::Meta;
        let Some(first) = frame::read(&mut file, format, at.offset, len, check).doing(doing)?
        else {
            return Ok(false);
        };
        let record = segment::decode_record(format, &first);
        let mut end = first.end;
        while at.segment == until.segment && end < until.offset {
            match frame::read(&mut file, format, end, len, check).doing(doing)? {
                Some(next) => end = next.end,
                None => break,
            }
        }
        let is_end = at.segment != until.segment || end == until.offset;
        Ok(is_end && record.is_some_and(|record| record.commit.id == commit))
    }

    /// Reads a content and proves that it is the one that was asked for.
    pub(crate) fn content(&self, at: &ContentLocation, hash: ContentHash) -> Result<Vec<u8>> {
        let gone = || StoreError::ContentGone(hash);
        let path = self.segment_path(&at.device, at.segment);
        let mut file = match state_files::open_read(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(gone()),
            opened => opened.doing(|| "read the log".into())?,
        };
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

    /// Forces to disk the segment that a log ends in. Earlier ones were forced before it was begun.
    pub(crate) fn force(&self, device: &str, end: LogPosition) -> Result<()> {
        if end.segment == 0 {
            return Ok(());
        }
        state_files::open_read(&self.segment_path(device, end.segment))
            .and_then(|file| file.sync_data())
            .doing(|| "force the log to disk".into())
    }

    /// Opens the segment of a position, to see later if it was rewritten.
    pub(crate) fn segment_handle(&self, device: &str, at: LogPosition) -> Result<SegmentHandle> {
        if at.segment == 0 {
            return Ok(SegmentHandle(None));
        }
        let opened = state_files::open_read(&self.segment_path(device, at.segment));
        opened.map(|file| SegmentHandle(Some(file))).doing(|| "open the log".into())
    }
}

/// Last run of the machine in which a device wrote, the machine, and the folder of its log.
#[derive(PartialEq, Eq, Debug)]
struct LastRun {
    run: MachineRun,
    machine: Option<String>,
    place: Option<String>,
}

/// Stands for a part of that line that is not known.
const UNKNOWN_PART: &str = "-";

impl LastRun {
    fn parse(line: &str) -> Self {
        let mut words = line.split_whitespace();
        let unknown = MachineRun { boot: BootId::Unknown, attachment: None };
        let run = words.next().and_then(MachineRun::decode).unwrap_or(unknown);
        let mut part = || words.next().filter(|word| *word != UNKNOWN_PART).map(str::to_owned);
        let (machine, place) = (part(), part());
        Self { run, machine, place }
    }

    fn to_line(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_else(|| UNKNOWN_PART.to_owned());
        format!("{} {} {}\n", self.run.encode(), part(&self.machine), part(&self.place))
    }
}

/// An open segment of a log; `None` before anything was written.
pub(crate) struct SegmentHandle(Option<StateFile>);

impl SegmentHandle {
    /// Returns true if `vacuum` has not put another file in the place of this one.
    pub(crate) fn is_current(&self) -> bool {
        match self.0.as_ref().map(StateFile::metadata) {
            None => true,
            Some(Ok(metadata)) => !state_files::is_unlinked(&metadata),
            Some(Err(_)) => false,
        }
    }
}

/// Extent to which records are checked when they are read.
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

/// End of a read, and the ranges that were skipped.
pub(crate) struct LogReadEnd {
    /// The end of the last whole record.
    pub(crate) end: LogPosition,
    /// Stretches that are no records; the last one is a torn tail if it reaches the file's end.
    pub(crate) damage: Vec<LogDamage>,
}

/// Returns the folder of a vault's log.
pub(crate) fn folder(state: &Path) -> LogFolder {
    LogFolder::new(state.join("log"))
}
