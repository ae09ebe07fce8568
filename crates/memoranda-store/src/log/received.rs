//! Frames of a remote log, apart from any segment.

use std::io::{self, Seek as _, SeekFrom, Write as _};

use super::frame::{self, FrameFormat};
use super::segment::{self, HEADER_BYTES};
use super::{LogFolder, LogPosition, LogRecord, record};
use crate::error::{ErrorContext as _, Result};
use crate::files::{FilePrivacy, state_files};

/// A frame with its record and contents.
pub(crate) struct ReceivedFrame<'a> {
    pub(crate) record: LogRecord,
    bytes: &'a [u8],
    body_at: usize,
}

impl<'a> ReceivedFrame<'a> {
    /// Decodes a whole frame; `None` if it is damaged.
    pub(crate) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (length, check) = (bytes.len() as u64, frame::FrameCheck::Whole);
        let read = frame::read(&mut io::Cursor::new(bytes), FrameFormat::Two, 0, length, check);
        let read = read.ok().flatten().filter(|read| read.end == length)?;
        let record = segment::decode_record(FrameFormat::Two, &read)?;
        Some(Self { record, bytes, body_at: read.body_at as usize })
    }

    /// Returns the content of the n-th file, if this frame brought it.
    pub(crate) fn content(&self, n: usize) -> Option<Vec<u8>> {
        let blob = self.record.notes.get(n)?.blob?;
        let start = self.body_at.checked_add(usize::try_from(blob.offset).ok()?)?;
        let end = start.checked_add(usize::try_from(blob.stored).ok()?)?;
        record::restore(self.bytes.get(start..end)?.to_vec(), blob.raw)
    }
}

impl LogFolder {
    /// Begins a copy of a log with a frame in the middle. What comes before it is missing: the file
    /// has a hole there.
    pub(crate) fn begin_at(&self, device: &str, at: LogPosition, frame: &[u8]) -> Result<()> {
        let doing = || "begin the copy of a log".to_owned();
        state_files::create_dir(&self.device_dir(device), FilePrivacy::Private).doing(doing)?;
        let path = self.segment_path(device, at.segment);
        let mut file = state_files::open_private(&path).doing(doing)?;
        file.write_all(&segment::header(FrameFormat::Two))
            .and_then(|()| file.set_len(at.offset.max(HEADER_BYTES)))
            .and_then(|()| file.seek(SeekFrom::Start(at.offset)))
            .and_then(|_| file.write_all(frame))
            .doing(doing)
    }
}
