//! The seam to a log that is kept elsewhere: in a database, or behind another server.
//!
//! A remote log keeps the frames of one space, as bytes, in one order. A space counts as one device
//! of the log, so a frame is the same in the remote log and in a segment of a vault.

use std::time::Duration;

use memoranda_core::id::{CommitId, ContentHash};

/// The result of most calls of a remote log.
pub type RemoteResult<T> = std::result::Result<T, RemoteError>;

/// The log of one space, kept elsewhere. Every method may take a round trip.
pub trait RemoteLog: Send + Sync {
    /// Returns the name of the space as a device of the log.
    fn device(&self) -> &str;

    /// Returns the number of the last log record.
    fn head(&self) -> RemoteResult<RemoteHead>;

    /// Reads the frames that follow a number, in order. Returns at least one if there is one, and
    /// otherwise stops near `max_bytes`.
    fn read_after(&self, seq: u64, max_bytes: usize) -> RemoteResult<Vec<RemoteFrame>>;

    /// Appends frames if the head is still the expected one: all of them, or none. Repeating a call
    /// with the same commits changes nothing. The frames are durable when it returns.
    fn append(
        &self,
        expected: RemoteHead,
        frames: &[RemoteFrame],
        contents: &[FrameContent],
    ) -> RemoteResult<AppendOutcome>;

    /// Returns a content by its hash; `None` if the log does not have it.
    fn content(&self, hash: ContentHash) -> RemoteResult<Option<StoredContent>>;

    /// Waits until the head is another one than `seen`, at most for `timeout`. Returns the head.
    fn follow(&self, seen: RemoteHead, timeout: Duration) -> RemoteResult<RemoteHead>;

    /// Returns the newest index image of a format. `None` if the log has no image of this format.
    fn find_image(&self, format: &str) -> RemoteResult<Option<ImageHead>> {
        let _ = format;
        Ok(None)
    }

    /// Reads a part of an image, counted from 0; `None` if another image has replaced it.
    fn image_part(
        &self,
        format: &str,
        image: ImageHead,
        part: u32,
    ) -> RemoteResult<Option<Vec<u8>>> {
        let _ = (format, image, part);
        Ok(None)
    }

    /// Returns true if an image of a log of this length is wanted from the caller: the log has grown
    /// enough since the last one, and nobody else is making one at the moment.
    fn claim_image(&self, format: &str, log_bytes: u64) -> RemoteResult<bool> {
        let _ = (format, log_bytes);
        Ok(false)
    }

    /// Stores a part of an image. Nobody sees it before [`Self::finish_image`].
    fn put_image_part(
        &self,
        format: &str,
        image: ImageHead,
        part: u32,
        bytes: &[u8],
    ) -> RemoteResult<()> {
        let _ = (format, image, part, bytes);
        Ok(())
    }

    /// Replaces the image of a format by one whose parts are all stored, unless it is older.
    fn finish_image(&self, format: &str, image: ImageHead) -> RemoteResult<()> {
        let _ = (format, image);
        Ok(())
    }
}

/// An index image that a remote log keeps, so that a server that starts need not build the index. It is
/// derived, and may be gone at any time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageHead {
    /// Epoch of the log. An image of an earlier epoch is not used.
    pub epoch: u32,
    /// Number of the last log record that the index contains.
    pub seq: u64,
    /// Number of parts.
    pub parts: u32,
    /// Length of the log, in bytes.
    pub log_bytes: u64,
}

/// The end of a remote log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemoteHead {
    /// Rises when log records were rewritten. Copies of an earlier epoch are thrown away.
    pub epoch: u32,
    /// Number of the last log record; 0 for an empty log.
    pub seq: u64,
}

/// The frame of one log record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteFrame {
    /// Number of the log record, from 1, without gaps.
    pub seq: u64,
    /// Commit of the image.
    pub commit: CommitId,
    /// The frame as in a segment of format 2.
    pub bytes: Vec<u8>,
}

/// Location of a content in a frame that is appended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameContent {
    /// Hash of the content.
    pub hash: ContentHash,
    /// Number of the log record.
    pub seq: u64,
    /// Offset in the frame, in bytes.
    pub offset: u64,
    /// Length in the frame, in bytes.
    pub stored_bytes: u64,
    /// Length of the content, in bytes. Equal to `stored_bytes` if it is not compressed.
    pub raw_bytes: u64,
}

/// A content as it is in a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredContent {
    /// The bytes, LZ4-compressed if `raw_bytes` is another length.
    pub bytes: Vec<u8>,
    /// Length of the content, in bytes.
    pub raw_bytes: u64,
}

/// The outcome of an append.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AppendOutcome {
    /// The frames are the end of the log, and durable.
    Appended,
    /// Another writer came first; nothing was appended. The head is this one.
    Behind(RemoteHead),
}

/// A failure of a remote log. No text of it contains a password or a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// The log cannot be reached. Nothing was appended.
    #[error("the log of this space cannot be reached ({reason}); nothing was written")]
    Unavailable {
        /// Error of the connection.
        reason: String,
    },
    /// The connection broke after an append was sent, and did not come back.
    #[error(
        "the log of this space cannot be reached ({reason}); whether the write was made is not \
         known: look before you repeat it"
    )]
    Unknown {
        /// Error of the connection.
        reason: String,
    },
    /// The log does not accept this.
    #[error("{reason}")]
    Refused {
        /// A sentence for the caller.
        reason: String,
    },
    /// The log returned something that is not a log.
    #[error("the log of this space is damaged: {reason}")]
    Damaged {
        /// The problem.
        reason: String,
    },
}

impl RemoteError {
    /// Returns true if the log may be reached again later.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Unknown { .. })
    }
}
