//! The vault's write lock, and the few bytes in it that say how far the log has been applied.
//!
//! The lock is the operating system's: it is free again when its holder dies, however it dies.
//! The bytes are written without force; they need to outlive a process, not the machine. When
//! the machine was restarted since, they count for nothing and the log is replayed from the
//! last checkpoint.

#![allow(clippy::disallowed_types)]

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::{Doing as _, Result, StoreError};
use crate::files::own;
use crate::log::Position;

const MAGIC: [u8; 8] = *b"memlock1";
const STATE_BYTES: usize = 8 + 16 + 8 + 8 + 4;

/// The lock file of a vault, open but not held.
pub(crate) struct LockFile {
    file: File,
    boot: [u8; 16],
    patience: Duration,
}

/// What the lock file says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Applied {
    /// Everything before this place in this device's log has been applied to the files.
    pub(crate) position: Position,
    /// Whether the machine has been running without interruption since.
    pub(crate) same_boot: SameBoot,
}

/// Whether what was written without force can still be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SameBoot {
    /// The machine has run since: what any process wrote is there.
    Yes,
    /// The machine was restarted, or cannot tell: unforced writes may be lost.
    Unknown,
}

/// The lock, held until dropped.
pub(crate) struct Held<'a>(&'a LockFile);

impl LockFile {
    pub(crate) fn open(path: &Path, patience: Duration) -> Result<Self> {
        let file = own::open_private(path).doing(|| "open the vault's lock".into())?;
        Ok(Self { file, boot: boot_id(), patience })
    }

    /// Waits for the lock, a bounded time.
    pub(crate) fn acquire(&self) -> Result<Held<'_>> {
        let started = Instant::now();
        let mut pause = Duration::from_micros(50);
        loop {
            match self.file.try_lock() {
                Ok(()) => return Ok(Held(self)),
                Err(TryLockError::WouldBlock) if started.elapsed() < self.patience => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    let holder = self.read_state().map_or(0, |state| state.1);
                    return Err(StoreError::Busy { holder, seconds: self.patience.as_secs() });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(StoreError::Io { doing: "lock the vault".into(), source });
                }
            }
        }
    }

    fn read_state(&self) -> Option<(Applied, u32)> {
        let mut bytes = [0u8; STATE_BYTES];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        if bytes[..8] != MAGIC {
            return None;
        }
        let number = |at: usize| {
            let mut raw = [0u8; 8];
            raw.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(raw)
        };
        let known = self.boot != [0; 16] && bytes[8..24] == self.boot;
        let applied = Applied {
            position: Position { segment: number(24), offset: number(32) },
            same_boot: if known { SameBoot::Yes } else { SameBoot::Unknown },
        };
        let pid = u32::from_le_bytes([bytes[40], bytes[41], bytes[42], bytes[43]]);
        Some((applied, pid))
    }
}

impl Held<'_> {
    /// How far the log has been applied, by the word of the last holder.
    pub(crate) fn applied(&self) -> Option<Applied> {
        self.0.read_state().map(|(applied, _)| applied)
    }

    /// Says how far the log has been applied.
    pub(crate) fn set_applied(&self, position: Position) -> Result<()> {
        let mut bytes = Vec::with_capacity(STATE_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&self.0.boot);
        bytes.extend_from_slice(&position.segment.to_le_bytes());
        bytes.extend_from_slice(&position.offset.to_le_bytes());
        bytes.extend_from_slice(&std::process::id().to_le_bytes());
        let mut file = &self.0.file;
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(&bytes))
            .doing(|| "write the vault's lock file".into())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // The system releases it anyway when the file is closed.
        self.0.file.unlock().ok();
    }
}

/// What distinguishes this run of the machine from the last; zero where it cannot be known.
fn boot_id() -> [u8; 16] {
    let mut id = [0u8; 16];
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    if let Ok(Some(text)) = own::read(path) {
        id.copy_from_slice(&blake3::hash(&text).as_bytes()[..16]);
    }
    id
}
