//! The outermost layer of the log: frames that show by themselves whether they are whole.
//!
//! ```text
//! magic 8 | length of meta u32 | length of body u64 | checksum of all that 16 + meta
//!         | checksum of body 16 | meta | body (the contents, compressed)
//!         | length of the frame u32 (since format 2)
//! ```
//!
//! Two checksums, so that the history can be read without reading the contents. The length at the
//! end finds the last frame of a segment without reading the others.

use std::io::{self, Read, Seek, SeekFrom};

/// First bytes of every frame; a damaged log is searched for them.
const MAGIC_1: [u8; 8] = *b"\xf4MemRec\n";
const MAGIC_2: [u8; 8] = *b"\xf4MemRc2\n";
/// Bytes before the meta.
pub(super) const HEADER: usize = 8 + 4 + 8 + 16 + 16;
/// More than any record needs: what claims to be larger is damage.
const MAX_META: u32 = 256 << 20;
const MAX_BODY: u64 = 4 << 30;

/// Length of the field at the end of a frame.
const TRAILER_BYTES: u64 = 4;

/// Version of the frames in a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FrameFormat {
    /// Meta is JSON.
    One,
    /// Meta is tagged fields; the frame ends with its length.
    Two,
}

impl FrameFormat {
    pub(super) fn magic(self) -> [u8; 8] {
        match self {
            Self::One => MAGIC_1,
            Self::Two => MAGIC_2,
        }
    }

    fn trailer_bytes(self) -> u64 {
        match self {
            Self::One => 0,
            Self::Two => TRAILER_BYTES,
        }
    }
}

/// A frame as it was read: its meta, and where its body lies.
pub(super) struct LogFrame {
    pub(super) meta: Vec<u8>,
    /// Offset of the body in the segment.
    pub(super) body_at: u64,
    /// Offset of the byte after the frame.
    pub(super) end: u64,
}

/// Extent to which a frame is checked when it is read.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum FrameCheck {
    /// Header and meta: enough to list the history.
    Meta,
    /// The body too: whether the write was finished.
    Whole,
}

/// Joins meta and body into the bytes of a frame.
pub(super) fn encode(format: FrameFormat, meta: &[u8], body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEADER + meta.len() + body.len() + TRAILER_BYTES as usize);
    frame.extend_from_slice(&format.magic());
    frame.extend_from_slice(&(meta.len() as u32).to_le_bytes());
    frame.extend_from_slice(&(body.len() as u64).to_le_bytes());
    let checksum = head_checksum(&frame, meta);
    frame.extend_from_slice(&checksum);
    frame.extend_from_slice(&short_hash(body));
    frame.extend_from_slice(meta);
    frame.extend_from_slice(body);
    if format == FrameFormat::Two {
        // A frame that is too long for the field is found by reading the segment.
        let length = u32::try_from(frame.len() as u64 + TRAILER_BYTES).unwrap_or(0);
        frame.extend_from_slice(&length.to_le_bytes());
    }
    frame
}

/// Reads the last frame before an offset. `Ok(None)`: it is not where its length says.
pub(super) fn read_last<F: Read + Seek>(file: &mut F, end: u64) -> io::Result<Option<LogFrame>> {
    if end < HEADER as u64 + TRAILER_BYTES {
        return Ok(None);
    }
    let mut length = [0u8; TRAILER_BYTES as usize];
    file.seek(SeekFrom::Start(end - TRAILER_BYTES))?;
    file.read_exact(&mut length)?;
    let Some(at) = end.checked_sub(u64::from(u32::from_le_bytes(length))) else {
        return Ok(None);
    };
    let frame = read(file, FrameFormat::Two, at, end, FrameCheck::Meta)?;
    Ok(frame.filter(|frame| frame.end == end))
}

/// Reads the frame at an offset. `Ok(None)`: there is no whole frame here.
pub(super) fn read<F: Read + Seek>(
    file: &mut F,
    format: FrameFormat,
    at: u64,
    file_len: u64,
    check: FrameCheck,
) -> io::Result<Option<LogFrame>> {
    if at.saturating_add(HEADER as u64) > file_len {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(at))?;
    let mut header = [0u8; HEADER];
    file.read_exact(&mut header)?;
    if header[..8] != format.magic() {
        return Ok(None);
    }
    let meta_len = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
    let mut body_len = [0u8; 8];
    body_len.copy_from_slice(&header[12..20]);
    let body_len = u64::from_le_bytes(body_len);
    let body_at = at + HEADER as u64 + u64::from(meta_len);
    if meta_len > MAX_META || body_len > MAX_BODY {
        return Ok(None);
    }
    let end = body_at + body_len + format.trailer_bytes();
    if end > file_len {
        return Ok(None);
    }
    let mut meta = vec![0u8; meta_len as usize];
    file.read_exact(&mut meta)?;
    if header[20..36] != head_checksum(&header[..20], &meta) {
        return Ok(None);
    }
    if check == FrameCheck::Whole {
        let mut hasher = blake3::Hasher::new();
        let copied = io::copy(&mut file.by_ref().take(body_len), &mut hasher)?;
        if copied != body_len || header[36..52] != hasher.finalize().as_bytes()[..16] {
            return Ok(None);
        }
        if format == FrameFormat::Two {
            let mut length = [0u8; TRAILER_BYTES as usize];
            file.read_exact(&mut length)?;
            if u32::from_le_bytes(length) != u32::try_from(end - at).unwrap_or(0) {
                return Ok(None);
            }
        }
    }
    Ok(Some(LogFrame { meta, body_at, end }))
}

/// Finds the next frame after damage; `None` if the log ends first.
pub(super) fn find_next<F: Read + Seek>(
    file: &mut F,
    format: FrameFormat,
    from: u64,
    file_len: u64,
) -> io::Result<Option<u64>> {
    const CHUNK: usize = 1 << 20;
    let magic = format.magic();
    let mut buffer = vec![0u8; CHUNK + magic.len()];
    let mut at = from;
    while at + (HEADER as u64) <= file_len {
        file.seek(SeekFrom::Start(at))?;
        let wanted = (file_len - at).min(buffer.len() as u64) as usize;
        file.read_exact(&mut buffer[..wanted])?;
        for (i, window) in buffer[..wanted].windows(magic.len()).enumerate() {
            let candidate = at + i as u64;
            if window == magic
                && read(file, format, candidate, file_len, FrameCheck::Whole)?.is_some()
            {
                return Ok(Some(candidate));
            }
        }
        at += CHUNK as u64;
    }
    Ok(None)
}

fn head_checksum(lengths: &[u8], meta: &[u8]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(lengths);
    hasher.update(meta);
    first_16(&hasher.finalize())
}

fn short_hash(bytes: &[u8]) -> [u8; 16] {
    first_16(&blake3::hash(bytes))
}

fn first_16(hash: &blake3::Hash) -> [u8; 16] {
    let mut short = [0u8; 16];
    short.copy_from_slice(&hash.as_bytes()[..16]);
    short
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn any_flipped_bit_and_any_cut_is_noticed() {
        for format in [FrameFormat::One, FrameFormat::Two] {
            let frame = encode(format, b"{\"meta\":1}", b"the body of the record");
            let whole = |bytes: &[u8]| {
                let len = bytes.len() as u64;
                read(&mut Cursor::new(bytes), format, 0, len, FrameCheck::Whole).unwrap()
            };
            let read_back = whole(&frame).unwrap();
            assert_eq!(read_back.meta, b"{\"meta\":1}");
            assert_eq!(read_back.end, frame.len() as u64);
            for bit in 0..frame.len() * 8 {
                let mut damaged = frame.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(whole(&damaged).is_none(), "{format:?}, bit {bit}");
            }
            for cut in 0..frame.len() {
                assert!(whole(&frame[..cut]).is_none(), "{format:?}, cut at {cut}");
            }
        }
    }

    #[test]
    fn the_last_frame_is_found_from_the_end() {
        let mut log = encode(FrameFormat::Two, b"one", &[7; 3000]);
        log.extend(encode(FrameFormat::Two, b"two", b"body"));
        let end = log.len() as u64;
        let last = |end| read_last(&mut Cursor::new(&log), end).unwrap().map(|frame| frame.meta);
        assert_eq!(last(end).as_deref(), Some(&b"two"[..]));
        assert_eq!(last(end - 1), None);
        assert_eq!(last(3), None);
    }

    #[test]
    fn the_next_frame_is_found_after_damage() {
        let format = FrameFormat::Two;
        let mut log = encode(format, b"one", &[7; 3000]);
        let second = log.len() as u64;
        log.extend(encode(format, b"two", b""));
        log[100] ^= 1;
        let len = log.len() as u64;
        let mut file = Cursor::new(log);
        assert!(read(&mut file, format, 0, len, FrameCheck::Whole).unwrap().is_none());
        assert_eq!(find_next(&mut file, format, 1, len).unwrap(), Some(second));
        assert_eq!(find_next(&mut file, format, second + 1, len).unwrap(), None);
    }
}
