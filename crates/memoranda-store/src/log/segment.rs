//! Segments: files of a log that begin with the version of their frames.

use std::io::{Read as _, Seek as _, SeekFrom};

use super::frame::{FrameFormat, LogFrame};
use super::record::LogRecord;
use super::record_fields;
use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::state_file::StateFile;

/// Length of the beginning of a segment.
pub(super) const HEADER_BYTES: u64 = 16;
/// First bytes of every segment; the version of the frames follows.
const MAGIC: [u8; 15] = *b"memoranda log\n\x00";

/// The first number that is no segment. A folder of that number stops processes of version 0.1.0,
/// which know format 1 only: they read the segments in order and fail at the folder, before they
/// change anything. They do not look at the version in a segment.
pub(super) const BARRIER: u64 = 99_999_999;

/// A folder next to those of the devices that stops such a process when it lists all of them, as
/// `vacuum` does: it comes first.
pub(super) const BARRIER_FOLDER: &str = "0-format-2";

/// Returns the beginning of a segment.
pub(super) fn header(format: FrameFormat) -> [u8; HEADER_BYTES as usize] {
    let mut header = [0; HEADER_BYTES as usize];
    header[..MAGIC.len()].copy_from_slice(&MAGIC);
    header[MAGIC.len()] = match format {
        FrameFormat::One => 1,
        FrameFormat::Two => 2,
    };
    header
}

/// Returns the format of a segment; fails if it is newer than this program.
///
/// If the beginning is damaged, the first frame decides.
pub(super) fn read_format(file: &mut StateFile, name: &str) -> Result<FrameFormat> {
    let doing = || format!("read log segment {name}");
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).doing(doing)?;
    let wanted = HEADER_BYTES + FrameFormat::Two.magic().len() as u64;
    file.by_ref().take(wanted).read_to_end(&mut bytes).doing(doing)?;
    let is_ours = bytes.starts_with(&MAGIC);
    let version = bytes.get(MAGIC.len()).copied().unwrap_or(2);
    let first_frame = bytes.get(HEADER_BYTES as usize..).unwrap_or_default();
    match version {
        1 if is_ours => Ok(FrameFormat::One),
        2 if is_ours => Ok(FrameFormat::Two),
        _ if first_frame == FrameFormat::One.magic() => Ok(FrameFormat::One),
        version if is_ours && version > 2 && first_frame != FrameFormat::Two.magic() => {
            Err(StoreError::NewerLog { segment: name.to_owned(), found: version, known: 2 })
        }
        _ => Ok(FrameFormat::Two),
    }
}

/// Decodes the record of a frame; `None` if it is damaged.
pub(super) fn decode_record(format: FrameFormat, frame: &LogFrame) -> Option<LogRecord> {
    match format {
        FrameFormat::One => LogRecord::from_json(&frame.meta),
        FrameFormat::Two => record_fields::decode(&frame.meta),
    }
}

/// Encodes the meta of a frame.
pub(super) fn encode_record(format: FrameFormat, record: &LogRecord) -> Vec<u8> {
    match format {
        FrameFormat::One => record.to_json(),
        FrameFormat::Two => record_fields::encode(record),
    }
}
