//! A log in memory, in which the next epoch of a space is prepared before it replaces the last one.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memoranda_core::id::ContentHash;
use memoranda_store::remote::{
    AppendOutcome, FrameContent, RemoteFrame, RemoteHead, RemoteLog, RemoteResult, StoredContent,
};

/// Frames that are not in a database yet.
pub struct StagedLog {
    device: String,
    epoch: u32,
    staged: Mutex<StagedFrames>,
}

/// Frames with the locations of their contents.
#[derive(Default)]
pub struct StagedFrames {
    /// The frames, numbered from 1.
    pub frames: Vec<RemoteFrame>,
    /// Locations of their contents.
    pub contents: Vec<FrameContent>,
}

impl StagedLog {
    /// Makes an empty log.
    pub fn new(device: impl Into<String>, epoch: u32) -> Self {
        Self { device: device.into(), epoch, staged: Mutex::default() }
    }

    /// Takes the frames out of the log.
    pub fn take(&self) -> StagedFrames {
        std::mem::take(&mut *self.staged())
    }

    fn staged(&self) -> MutexGuard<'_, StagedFrames> {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RemoteLog for StagedLog {
    fn device(&self) -> &str {
        &self.device
    }

    fn head(&self) -> RemoteResult<RemoteHead> {
        Ok(RemoteHead { epoch: self.epoch, seq: self.staged().frames.len() as u64 })
    }

    fn read_after(&self, seq: u64, _: usize) -> RemoteResult<Vec<RemoteFrame>> {
        Ok(self.staged().frames.iter().filter(|frame| frame.seq > seq).cloned().collect())
    }

    fn append(
        &self,
        expected: RemoteHead,
        frames: &[RemoteFrame],
        contents: &[FrameContent],
    ) -> RemoteResult<AppendOutcome> {
        let head = self.head()?;
        if expected != head {
            return Ok(AppendOutcome::Behind(head));
        }
        let mut staged = self.staged();
        staged.frames.extend_from_slice(frames);
        staged.contents.extend_from_slice(contents);
        Ok(AppendOutcome::Appended)
    }

    fn content(&self, hash: ContentHash) -> RemoteResult<Option<StoredContent>> {
        let staged = self.staged();
        let at = staged.contents.iter().find(|at| at.hash == hash);
        let stored = at.and_then(|at| {
            let frame = staged.frames.get(usize::try_from(at.seq.checked_sub(1)?).ok()?)?;
            let start = usize::try_from(at.offset).ok()?;
            let end = start.checked_add(usize::try_from(at.stored_bytes).ok()?)?;
            let bytes = frame.bytes.get(start..end)?.to_vec();
            Some(StoredContent { bytes, raw_bytes: at.raw_bytes })
        });
        Ok(stored)
    }

    fn follow(&self, _: RemoteHead, _: Duration) -> RemoteResult<RemoteHead> {
        self.head()
    }
}
