//! Frames of a log as one stream of bytes, for HTTP.
//!
//! Each frame is preceded by its number (8 bytes), its commit id (12 characters) and its length
//! (4 bytes), all numbers little-endian.

use memoranda_core::id::CommitId;
use memoranda_store::remote::RemoteFrame;

const ID_BYTES: usize = 12;
const HEAD_BYTES: usize = 8 + ID_BYTES + 4;

/// Encodes frames.
pub fn encode_frames(frames: &[RemoteFrame]) -> Vec<u8> {
    let total = frames.iter().map(|frame| HEAD_BYTES + frame.bytes.len()).sum();
    let mut stream = Vec::with_capacity(total);
    for RemoteFrame { seq, commit, bytes } in frames {
        stream.extend_from_slice(&seq.to_le_bytes());
        stream.extend_from_slice(commit.as_str().as_bytes());
        stream.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        stream.extend_from_slice(bytes);
    }
    stream
}

/// Decodes frames; `None` if the stream is cut off or is something else.
pub fn decode_frames(mut stream: &[u8]) -> Option<Vec<RemoteFrame>> {
    let mut frames = Vec::new();
    while !stream.is_empty() {
        let (head, rest) = stream.split_at_checked(HEAD_BYTES)?;
        let seq = u64::from_le_bytes(head[..8].try_into().ok()?);
        let commit = CommitId::parse(std::str::from_utf8(&head[8..8 + ID_BYTES]).ok()?)?;
        let length = u32::from_le_bytes(head[8 + ID_BYTES..].try_into().ok()?);
        let (bytes, rest) = rest.split_at_checked(length as usize)?;
        frames.push(RemoteFrame { seq, commit, bytes: bytes.to_vec() });
        stream = rest;
    }
    Some(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_a_cut_is_noticed() {
        let frame = |seq, text: &str| RemoteFrame {
            seq,
            commit: CommitId::from_random(seq),
            bytes: text.as_bytes().to_vec(),
        };
        let frames = vec![frame(1, "one"), frame(2, ""), frame(3, "three")];
        let stream = encode_frames(&frames);
        assert_eq!(decode_frames(&stream), Some(frames));
        let ends = [0, HEAD_BYTES + 3, 2 * HEAD_BYTES + 3, stream.len()];
        for cut in 0..stream.len() {
            let decoded = decode_frames(&stream[..cut]);
            assert_eq!(decoded.is_some(), ends.contains(&cut), "{cut}");
        }
        assert_eq!(decode_frames(&[0xff; 100]), None);
    }
}
