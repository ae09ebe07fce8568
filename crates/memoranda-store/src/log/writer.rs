//! Appending to a device's log, in the newest format.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::chain::{ChainEnd, SeenDevices};
use super::frame::{self, FrameFormat};
use super::record::{LogRecord, RecordBody};
use super::segment::{self, HEADER_BYTES};
use super::{LogFolder, LogPosition, LoggedRecord};
use crate::error::{ErrorContext as _, Result, StoreError};
use crate::faults::{self, Step};
use crate::files::state_file::StateFile;
use crate::files::{FilePrivacy, owner, state_files};
use crate::remote::{FrameContent, RemoteError, RemoteFrame};

/// A segment that has grown this far is closed, and the next begun.
const SEGMENT_BYTES: u64 = 64 << 20;

impl LogFolder {
    /// Opens the log of this device for writing at its end.
    pub(crate) fn writer(&self, device: &str, end: LogPosition) -> Result<LogWriter> {
        let folder = self.device_dir(device);
        self.make_device_dir(&folder)?;
        let mut writer = LogWriter {
            folder: self.clone(),
            device: device.to_owned(),
            file: None,
            format: FrameFormat::Two,
            end,
            last: None,
        };
        writer.open_segment()?;
        Ok(writer)
    }

    /// Makes the folder of this device. In the vault of another user it is not made, unless the log is
    /// open to a group: it would be a log that its owner cannot read.
    fn make_device_dir(&self, folder: &Path) -> Result<()> {
        if state_files::is_dir(folder) {
            return Ok(());
        }
        let made = state_files::create_dir(folder, FilePrivacy::Private);
        let is_refused = match &made {
            Ok(()) => owner::is_owner(folder) && !owner::is_open_to_group(&self.path, folder),
            // Another error, such as that of a full disk, has nothing to do with the owner.
            Err(e) => e.kind() == io::ErrorKind::PermissionDenied,
        };
        if is_refused && let Some(owner) = owner::other_owner(&self.path) {
            if made.is_ok() {
                state_files::remove_dir(folder).ok();
            }
            let home = self.path.ancestors().nth(2).unwrap_or(&self.path).to_owned();
            return Err(StoreError::VaultOfOther { home, owner });
        }
        made.doing(|| format!("make the folder {} of the log", folder.display()))
    }
}

/// Time when records reach the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogForce {
    /// Before the write returns.
    Forced,
    /// Some time later: another log has them.
    Unforced,
}

/// Records with their places in the chain and in the log, not written yet.
pub(crate) struct SealedRecords {
    start: LogPosition,
    bytes: Vec<u8>,
    placed: Vec<LoggedRecord>,
    last: ChainEnd,
}

impl SealedRecords {
    /// Returns the frames and the locations of their contents, for a remote log.
    pub(crate) fn frames(&self) -> (Vec<RemoteFrame>, Vec<FrameContent>) {
        let (mut frames, mut contents) = (Vec::new(), Vec::new());
        for placed in &self.placed {
            let LoggedRecord { record, at, end, body_at } = placed;
            let within = |offset: u64| (offset - self.start.offset) as usize;
            let bytes = self.bytes[within(at.offset)..within(end.offset)].to_vec();
            let seq = record.link.seq;
            frames.push(RemoteFrame { seq, commit: record.commit.id, bytes });
            for (file, note) in record.commit.files.iter().zip(&record.notes) {
                let (Some(hash), Some(blob)) = (file.after, note.blob) else { continue };
                contents.push(FrameContent {
                    hash,
                    seq,
                    offset: body_at - at.offset + blob.offset,
                    stored_bytes: blob.stored,
                    raw_bytes: blob.raw,
                });
            }
        }
        (frames, contents)
    }
}

/// The end of this device's log, open for appending. Held under the vault's lock.
pub(crate) struct LogWriter {
    folder: LogFolder,
    device: String,
    file: Option<StateFile>,
    /// Format of the open segment.
    format: FrameFormat,
    end: LogPosition,
    /// The last record; `None` if it was not looked at since the end moved.
    last: Option<ChainEnd>,
}

impl LogWriter {
    pub(crate) fn end(&self) -> LogPosition {
        self.end
    }

    /// Returns true if the log ends at this writer's position, and the open file is still part of
    /// it: `vacuum` replaces segments, and another process may have begun one.
    pub(crate) fn is_at_end(&self) -> bool {
        let is_in_log = match self.file.as_ref().map(StateFile::metadata) {
            None => true,
            Some(Ok(metadata)) => !state_files::is_unlinked(&metadata),
            Some(Err(_)) => false,
        };
        is_in_log && self.folder.is_end(&self.device, self.end)
    }

    /// Goes to another place in the log.
    pub(crate) fn move_to(&mut self, end: LogPosition) -> Result<()> {
        self.end = end;
        self.last = None;
        self.open_segment()
    }

    /// Cuts off a torn tail, and keeps its bytes aside for inspection.
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

    /// Appends records and forces them to disk: all of them, or none. Gives each record its place in
    /// the chain; `seen` is what this device has seen of others.
    pub(crate) fn append(
        &mut self,
        records: Vec<(LogRecord, RecordBody)>,
        seen: &SeenDevices,
    ) -> Result<Vec<LoggedRecord>> {
        let sealed = self.seal(records, seen)?;
        self.write_sealed(sealed, LogForce::Forced)
    }

    /// Returns the number of the last record; 0 for an empty log.
    pub(crate) fn last_seq(&self) -> Result<u64> {
        Ok(self.last_link()?.seq)
    }

    fn last_link(&self) -> Result<ChainEnd> {
        match self.last {
            Some(last) => Ok(last),
            None => self.folder.chain_end(&self.device, self.end),
        }
    }

    /// Begins a segment if the last one is full or has an older format. Fails if the log does not
    /// end where this writer is: a record is never written over another one.
    fn begin_segment(&mut self) -> Result<()> {
        let is_older = self.format != FrameFormat::Two;
        if self.end.segment == 0 || self.end.offset > SEGMENT_BYTES || is_older {
            self.end = LogPosition { segment: self.end.segment + 1, offset: 0 };
            self.open_segment()?;
        }
        let Some(file) = &self.file else { return Ok(()) };
        let length = file.metadata().doing(|| "look at the log".into())?.len();
        if length == self.end.offset {
            return Ok(());
        }
        let (segment, offset) = (self.end.segment, self.end.offset);
        let source = io::Error::other(format!(
            "segment {segment} ends at byte {length}, and not at byte {offset} as expected"
        ));
        Err(StoreError::Io { doing: "write to the log".into(), source })
    }

    /// Appends frames of a remote log, which has them for good: they are not forced to disk. Returns
    /// the number of the last one. Rejects frames that do not continue the chain.
    pub(crate) fn append_frames(&mut self, frames: &[RemoteFrame]) -> Result<u64> {
        let mut last = self.last_link()?;
        self.begin_segment()?;
        let start = self.end;
        let mut bytes = Vec::new();
        for RemoteFrame { seq, bytes: frame, .. } in frames {
            let damaged = |what: &str| RemoteError::Damaged { reason: format!("{what} {seq}") };
            let (length, check) = (frame.len() as u64, frame::FrameCheck::Whole);
            let read = frame::read(&mut io::Cursor::new(frame), FrameFormat::Two, 0, length, check);
            let read = read.ok().flatten().filter(|read| read.end == length);
            let record = read.and_then(|read| segment::decode_record(FrameFormat::Two, &read));
            let record = record.ok_or_else(|| damaged("no whole frame has the number"))?;
            if record.link.seq != last.seq + 1 || record.link.previous != last.hash {
                return Err(damaged("the chain breaks before number").into());
            }
            last = ChainEnd::of(&record);
            bytes.extend_from_slice(frame);
        }
        match self.write_at_end(&bytes, LogForce::Unforced) {
            Ok(()) => {
                self.end.offset += bytes.len() as u64;
                self.last = Some(last);
                Ok(last.seq)
            }
            Err(source) => {
                self.retract(start)?;
                Err(StoreError::Io { doing: "write to the log".into(), source })
            }
        }
    }

    /// Gives each record its place in the chain, and encodes it for the end of this log. Nothing is
    /// written yet.
    pub(crate) fn seal(
        &mut self,
        records: Vec<(LogRecord, RecordBody)>,
        seen: &SeenDevices,
    ) -> Result<SealedRecords> {
        let mut last = self.last_link()?;
        self.begin_segment()?;
        let start = self.end;
        let mut bytes = Vec::new();
        let mut placed = Vec::with_capacity(records.len());
        for (n, (mut record, body)) in records.into_iter().enumerate() {
            let at = start.offset + bytes.len() as u64;
            let mut link = last.next_link(seen, record.commit.time);
            link.batch_index = n as u64;
            if n > 0 {
                link.seen.clear();
            }
            record.seal(link);
            last = ChainEnd::of(&record);
            let meta = segment::encode_record(FrameFormat::Two, &record);
            let frame = frame::encode(FrameFormat::Two, &meta, body.as_bytes());
            let body_at = at + (frame::HEADER + meta.len()) as u64;
            bytes.extend_from_slice(&frame);
            let position = |offset| LogPosition { segment: start.segment, offset };
            let end = position(start.offset + bytes.len() as u64);
            placed.push(LoggedRecord { record, at: position(at), end, body_at });
        }
        Ok(SealedRecords { start, bytes, placed, last })
    }

    /// Writes sealed records at the end of the log: all of them, or none.
    pub(crate) fn write_sealed(
        &mut self,
        sealed: SealedRecords,
        force: LogForce,
    ) -> Result<Vec<LoggedRecord>> {
        let SealedRecords { start, bytes, placed, last } = sealed;
        match self.write_at_end(&bytes, force) {
            Ok(()) => {
                self.end.offset += bytes.len() as u64;
                self.last = Some(last);
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
        self.end.offset = if begun { HEADER_BYTES } else { start.offset };
        self.last = None;
        let Some(file) = &mut self.file else { return Ok(()) };
        file.set_len(self.end.offset)
            .and_then(|()| file.sync_data())
            .map_err(|e| StoreError::Halted(format!("the log could not be taken back: {e}")))
    }

    fn write_at_end(&mut self, bytes: &[u8], force: LogForce) -> io::Result<()> {
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
        match force {
            LogForce::Forced => file.sync_data()?,
            LogForce::Unforced => {}
        }
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
        if file.metadata().doing(doing)?.len() < HEADER_BYTES {
            self.format = FrameFormat::Two;
            // The folders may be as new as the segment: the log's own, and the vault's. The header comes
            // last: a segment that has one has a name on disk, also if an earlier attempt failed.
            let folder = self.folder.device_dir(&self.device);
            for folder in folder.ancestors().take(4) {
                state_files::sync_dir(folder).doing(doing)?;
            }
            file.set_len(0)
                .and_then(|()| file.write_all(&segment::header(FrameFormat::Two)))
                .and_then(|()| file.sync_all())
                .doing(doing)?;
        } else {
            let name = format!("{}/{:08}.log", self.device, self.end.segment);
            self.format = segment::read_format(&mut file, &name)?;
        }
        self.end.offset = self.end.offset.max(HEADER_BYTES);
        self.file = Some(file);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use memoranda_core::change::{
        Author, ChangeChannel, ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction,
    };
    use memoranda_core::id::{CommitId, ProjectName};
    use memoranda_core::path::NotePath;
    use tempfile::TempDir;

    use super::super::{LogDamage, ReadCheck};
    use super::*;
    use crate::{CommitOutcome, OpenOptions, Store, clock};

    fn record(n: u64) -> (LogRecord, RecordBody) {
        let commit = Commit {
            id: CommitId::from_random(n),
            time: clock::now(),
            author: Author::new("client", "tool", ChangeChannel::Cli),
            message: Some(format!("number {n}")),
            kind: None,
            files: Vec::new(),
            folders: None,
        };
        (LogRecord::new(commit, Vec::new()), RecordBody::default())
    }

    fn read_all(folder: &LogFolder, device: &str) -> (Vec<LogRecord>, Vec<LogDamage>) {
        let mut records = Vec::new();
        let read = folder.read_from(device, LogPosition::default(), ReadCheck::Whole, |placed| {
            records.push(placed.record);
            Ok(())
        });
        (records, read.unwrap().damage)
    }

    fn assert_chained(records: &[LogRecord]) {
        let mut last = ChainEnd::default();
        for record in records {
            if record.link.seq > 0 {
                assert_eq!(record.link.seq, last.seq + 1);
                assert_eq!(record.link.previous, last.hash);
                assert!(record.link.clock > last.clock);
            }
            last = last.after(record);
        }
    }

    /// Writes a segment as version 0.1.0 did.
    fn write_format_1(folder: &LogFolder, device: &str, segment: u64, numbers: &[u64]) {
        let mut bytes = segment::header(FrameFormat::One).to_vec();
        for n in numbers {
            let (record, body) = record(*n);
            let meta = segment::encode_record(FrameFormat::One, &record);
            bytes.extend(frame::encode(FrameFormat::One, &meta, body.as_bytes()));
        }
        let path = folder.segment_path(device, segment);
        state_files::create_dir(path.parent().unwrap(), FilePrivacy::Private).unwrap();
        state_files::write_plain(&path, &bytes).unwrap();
    }

    #[test]
    fn records_of_format_2_follow_those_of_format_1() {
        let place = TempDir::new().unwrap();
        let folder = LogFolder::new(place.path().join("log"));
        write_format_1(&folder, "d", 1, &[1, 2]);
        write_format_1(&folder, "d", 2, &[3]);
        let end = folder.end("d").unwrap();
        let mut writer = folder.writer("d", end).unwrap();
        let nothing = SeenDevices::default();
        writer.append(vec![record(4), record(5)], &nothing).unwrap();
        // Another process goes on where this one ended.
        let mut other = folder.writer("d", folder.end("d").unwrap()).unwrap();
        other.append(vec![record(6)], &nothing).unwrap();
        assert_eq!(other.end().segment, 3);
        let (records, damage) = read_all(&folder, "d");
        assert_eq!(damage, []);
        let numbers: Vec<u64> = records.iter().map(|record| record.link.seq).collect();
        assert_eq!(numbers, [0, 0, 0, 4, 5, 6]);
        assert_chained(&records);
    }

    #[test]
    fn what_was_taken_back_leaves_no_gap() {
        let place = TempDir::new().unwrap();
        let folder = LogFolder::new(place.path().join("log"));
        let mut writer = folder.writer("d", LogPosition::default()).unwrap();
        let nothing = SeenDevices::default();
        writer.append(vec![record(1)], &nothing).unwrap();
        let start = writer.end();
        writer.append(vec![record(2)], &nothing).unwrap();
        writer.retract(start).unwrap();
        writer.append(vec![record(3)], &nothing).unwrap();
        let (records, damage) = read_all(&folder, "d");
        assert_eq!((records.len(), damage), (2, Vec::new()));
        assert_chained(&records);
    }

    #[test]
    fn no_record_is_written_over_one_of_another_process() {
        let place = TempDir::new().unwrap();
        let folder = LogFolder::new(place.path().join("log"));
        let nothing = SeenDevices::default();
        let mut one = folder.writer("d", LogPosition::default()).unwrap();
        let mut other = folder.writer("d", LogPosition::default()).unwrap();
        assert!(one.is_at_end() && other.is_at_end());
        one.append(vec![record(1)], &nothing).unwrap();
        // The other one has no file open, because there was none.
        assert!(one.is_at_end() && !other.is_at_end());
        assert!(other.append(vec![record(2)], &nothing).is_err());
        assert_eq!(read_all(&folder, "d").0.len(), 1);
        other.move_to(one.end()).unwrap();
        other.append(vec![record(2)], &nothing).unwrap();
        assert!(one.append(vec![record(3)], &nothing).is_err());
        // A segment that another process has begun is the end of the log, too.
        let next = folder.segment_path("d", 2);
        state_files::write_plain(&next, &segment::header(FrameFormat::Two)).unwrap();
        assert!(!other.is_at_end());
        let (records, damage) = read_all(&folder, "d");
        assert_eq!((records.len(), damage), (2, Vec::new()));
        assert_chained(&records);
    }

    #[test]
    fn a_torn_end_is_not_part_of_the_chain() {
        let place = TempDir::new().unwrap();
        let folder = LogFolder::new(place.path().join("log"));
        let nothing = SeenDevices::default();
        let mut writer = folder.writer("d", LogPosition::default()).unwrap();
        writer.append(vec![record(1)], &nothing).unwrap();
        let whole = writer.end();
        writer.append(vec![record(2)], &nothing).unwrap();
        let path = folder.segment_path("d", 1);
        let bytes = state_files::read(&path).unwrap().unwrap();
        state_files::write_plain(&path, &bytes[..bytes.len() - 9]).unwrap();
        let mut writer = folder.writer("d", whole).unwrap();
        writer.cut_tail(whole).unwrap();
        writer.append(vec![record(3)], &nothing).unwrap();
        let (records, damage) = read_all(&folder, "d");
        assert_eq!((records.len(), damage), (2, Vec::new()));
        assert_chained(&records);
    }

    fn open(place: &Path, device: &str) -> Store {
        Store::open(OpenOptions {
            home: place.join("home"),
            cache: place.join(format!("cache-{device}")),
            state: place.join(format!("state-{device}")),
            file_sync: Duration::from_secs(60),
            lock_patience: Duration::from_secs(30),
        })
        .unwrap()
    }

    fn commit(store: &Store, path: &str, action: FileAction) -> CommitId {
        let project = ProjectName::parse("main").unwrap();
        let path = NotePath::parse(path).unwrap();
        let expect = ExpectedContent::Anything;
        let operation = ChangeOperation { project, path, expect, action };
        let change = ChangeSet { operations: vec![operation], ..ChangeSet::default() };
        let author = Author::new("client", "tool", ChangeChannel::Cli);
        match store.transact(&author, |_| Ok::<_, StoreError>(change.clone())).unwrap() {
            CommitOutcome::Committed(commit) => commit.id,
            other => panic!("{other:?}"),
        }
    }

    fn put(store: &Store, path: &str, text: &str) -> CommitId {
        commit(store, path, FileAction::Put(text.as_bytes().to_vec()))
    }

    /// The commits that the parents of the only file of the last record are versions of.
    fn last_parents(store: &Store) -> Vec<CommitId> {
        let (records, _) = read_all(&store.inner.log, store.device());
        let note = records.last().unwrap().notes[0].clone();
        note.parents.unwrap().iter().map(|parent| parent.commit).collect()
    }

    #[test]
    fn each_version_names_the_version_that_it_replaces() {
        let place = TempDir::new().unwrap();
        let store = open(place.path(), "a");
        let first = put(&store, "a.md", "first");
        assert_eq!(last_parents(&store), []);
        let second = put(&store, "a.md", "second");
        assert_eq!(last_parents(&store), [first]);
        let from = NotePath::parse("a.md").unwrap();
        let content = b"second".to_vec();
        let moved = commit(&store, "b.md", FileAction::MoveFrom { from, content });
        assert_eq!(last_parents(&store), [second]);
        let removed = commit(&store, "b.md", FileAction::Remove);
        assert_eq!(last_parents(&store), [moved]);
        put(&store, "b.md", "there again");
        assert_eq!(last_parents(&store), [removed]);
        // An edit by hand comes between.
        let note = place.path().join("home/main/b.md");
        state_files::write_plain(&note, b"by hand").unwrap();
        put(&store, "b.md", "and by a tool");
        let (records, _) = read_all(&store.inner.log, store.device());
        let edit = &records[records.len() - 2];
        assert_eq!(edit.commit.author.channel, ChangeChannel::Disk);
        assert_eq!(last_parents(&store), [edit.commit.id]);
        assert_chained(&records);
    }

    #[test]
    fn a_record_tells_what_its_device_has_seen_of_others_once() {
        let place = TempDir::new().unwrap();
        let (a, b) = (open(place.path(), "a"), open(place.path(), "b"));
        let first = put(&a, "note.md", "of a");
        put(&b, "note.md", "of b");
        assert_eq!(last_parents(&b), [first]);
        put(&b, "other.md", "of b");
        put(&a, "note.md", "of a again");
        let seen = |store: &Store| -> Vec<Vec<(String, u64)>> {
            let (records, _) = read_all(&store.inner.log, store.device());
            assert_chained(&records);
            records.into_iter().map(|record| record.link.seen).collect()
        };
        let of = |store: &Store, seq| vec![(store.device().to_owned(), seq)];
        assert_eq!(seen(&b), [of(&a, 1), vec![]]);
        assert_eq!(seen(&a), [vec![], of(&b, 2)]);
        let clocks: Vec<u64> = [&a, &b, &a]
            .iter()
            .zip([0, 0, 1])
            .map(|(store, n)| read_all(&store.inner.log, store.device()).0[n].link.clock)
            .collect();
        assert!(clocks.is_sorted_by(|a, b| a < b), "{clocks:?}");
    }
}
