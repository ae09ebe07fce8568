//! The vault's write lock, and for each device how far its log has been applied to the files.
//!
//! The lock is the operating system's: it is free again when its holder dies, however it dies.
//!
//! Invariant of the table in the lock file: everything before the position of an entry, in the log
//! of the device that the entry names, had been applied to the files in the run of the machine that
//! the entry names. The table is written without force. An entry therefore proves nothing after a
//! restart of the machine, and nothing about the log of any other device.

#![allow(clippy::disallowed_types)]

use std::cell::RefCell;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{ErrorContext as _, Result, StoreError};
use crate::faults::{self, Step};
use crate::files::state_files;
use crate::log::LogPosition;
use crate::vault::boot::{BootId, ENCODED_DIGITS, Restarted};

const MAGIC: &str = "memoranda lock 3";
/// An earlier version of the table, which differs in this line alone.
const EARLIER_MAGIC: &str = "memoranda lock 2";
/// The lock file of version 0.1.0: the process that wrote it is at this offset.
const MAGIC_0_1_0: &[u8] = b"memlock1";
const PROCESS_AT_0_1_0: u64 = 40;
/// Ends the table: what follows was written by an earlier, longer version of it.
const END: &str = "end";
/// Maximum number of entries. A vault that more devices write to forgets the oldest entries, and
/// those devices look at their files again.
const MAX_ENTRIES: usize = 64;
const MAX_TABLE_BYTES: u64 = 16 << 10;

/// The lock file of a vault, open but not held.
pub(crate) struct VaultLock {
    file: File,
    boot: BootId,
    /// True if the vault cannot be written to: the lock then only keeps readers from a change.
    is_read_only: bool,
    /// True once this process has held the lock: the machine has been running since then, even
    /// where the system has no identity for that.
    has_held: AtomicBool,
}

/// How far one device's log has been applied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AppliedEntry {
    /// The device whose log this is about.
    pub(crate) device: String,
    /// The run of the machine in which the entry was written.
    pub(crate) boot: BootId,
    /// Everything before this place in the device's log has been applied to the files.
    pub(crate) position: LogPosition,
    /// Tells if the machine was restarted since.
    pub(crate) restarted: Restarted,
}

/// The lock, held until dropped.
pub(crate) struct VaultLockGuard<'a> {
    lock: &'a VaultLock,
    entries: RefCell<Vec<AppliedEntry>>,
}

impl VaultLock {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let opened = faults::at(Step::OpenLock).and_then(|()| state_files::open_private(path));
        let (file, is_read_only) = match opened {
            Err(e) if is_forbidden(e.kind()) => (state_files::open_read(path), true),
            opened => (opened, false),
        };
        let file = file.doing(|| "open the vault's lock".into())?;
        Ok(Self { file, is_read_only, boot: BootId::current(), has_held: AtomicBool::new(false) })
    }

    /// Waits for the lock, a bounded time.
    pub(crate) fn acquire(&self, patience: Duration) -> Result<VaultLockGuard<'_>> {
        let started = Instant::now();
        let mut pause = Duration::from_micros(50);
        loop {
            match self.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    let holder = self.read_table().map_or(0, |(holder, _)| holder);
                    return Err(StoreError::Busy { holder, seconds: patience.as_secs() });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(StoreError::Io { doing: "lock the vault".into(), source });
                }
            }
        }
        let (_, entries) = self.read_table().unwrap_or_default();
        Ok(VaultLockGuard { lock: self, entries: RefCell::new(entries) })
    }

    /// Reads the table: the process that wrote it last, and the entries.
    fn read_table(&self) -> Option<(u32, Vec<AppliedEntry>)> {
        let mut text = String::new();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).ok()?;
        file.take(MAX_TABLE_BYTES).read_to_string(&mut text).ok()?;
        let mut lines = text.lines();
        let first = lines.next()?;
        let holder = first.strip_prefix(MAGIC).or_else(|| first.strip_prefix(EARLIER_MAGIC))?;
        let holder = holder.trim().parse().ok()?;
        let mut entries = Vec::new();
        for line in lines.take_while(|line| *line != END) {
            entries.push(self.parse_entry(line)?);
        }
        Some((holder, entries))
    }

    /// Returns the process that wrote a lock file of version 0.1.0; `None` if it is another one.
    fn holder_0_1_0(&self) -> Option<u32> {
        let mut bytes = Vec::new();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).ok()?;
        file.take(PROCESS_AT_0_1_0 + 4).read_to_end(&mut bytes).ok()?;
        let process = bytes.get(PROCESS_AT_0_1_0 as usize..)?.try_into().ok()?;
        bytes.starts_with(MAGIC_0_1_0).then(|| u32::from_le_bytes(process))
    }

    fn parse_entry(&self, line: &str) -> Option<AppliedEntry> {
        let mut words = line.split(' ');
        let device = words.next().filter(|device| is_device_name(device))?.to_owned();
        let boot = BootId::decode(words.next().filter(|boot| boot.len() == ENCODED_DIGITS)?);
        let (segment, offset) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let restarted = match self.boot.restarted_since(boot) {
            Restarted::Unknown if self.has_held.load(Ordering::Relaxed) => Restarted::No,
            restarted => restarted,
        };
        Some(AppliedEntry { device, boot, position: LogPosition { segment, offset }, restarted })
    }
}

impl VaultLockGuard<'_> {
    /// Returns the current run of the machine.
    pub(crate) fn boot(&self) -> BootId {
        self.lock.boot
    }

    /// Returns how far a device's log has been applied, as the last holder recorded it.
    pub(crate) fn applied(&self, device: &str) -> Option<AppliedEntry> {
        self.entries.borrow().iter().find(|entry| entry.device == device).cloned()
    }

    /// Returns the entries of all devices but one.
    pub(crate) fn applied_of_others(&self, device: &str) -> Vec<AppliedEntry> {
        let entries = self.entries.borrow();
        entries.iter().filter(|entry| entry.device != device).cloned().collect()
    }

    /// Returns the process that wrote the table last, also in an earlier version of it.
    pub(crate) fn last_holder(&self) -> Option<u32> {
        self.lock.holder_0_1_0().or_else(|| self.lock.read_table().map(|(holder, _)| holder))
    }

    /// Writes the table in the newest version, which earlier versions do not understand.
    pub(crate) fn rewrite(&self) -> Result<()> {
        self.write_table(&self.entries.borrow())
    }

    /// Records how far a device's log has been applied.
    pub(crate) fn set_applied(&self, device: &str, position: LogPosition) -> Result<()> {
        let mut entries = self.entries.borrow_mut();
        entries.retain(|entry| entry.device != device);
        entries.push(AppliedEntry {
            device: device.to_owned(),
            boot: self.lock.boot,
            position,
            restarted: Restarted::No,
        });
        let surplus = entries.len().saturating_sub(MAX_ENTRIES);
        entries.drain(..surplus);
        self.write_table(&entries)?;
        self.lock.has_held.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn write_table(&self, entries: &[AppliedEntry]) -> Result<()> {
        let mut table = format!("{MAGIC} {:010}\n", std::process::id());
        for AppliedEntry { device, boot, position, .. } in entries {
            let LogPosition { segment, offset } = position;
            table += &format!("{device} {} {segment:08} {offset:020}\n", boot.encode());
        }
        table += END;
        table += "\n";
        let doing = || "write the vault's lock file".to_owned();
        if self.lock.is_read_only {
            return Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem)).doing(doing);
        }
        faults::at(Step::LockWrite).doing(doing)?;
        let mut file = &self.lock.file;
        file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(table.as_bytes())).doing(doing)
    }
}

impl Drop for VaultLockGuard<'_> {
    fn drop(&mut self) {
        // The system releases the lock anyway when the file is closed.
        self.lock.file.unlock().ok();
    }
}

/// Returns true for errors of a place where nothing may be written.
fn is_forbidden(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
}

/// Returns true for names that [`crate::vault`] gives to devices: the table may be damaged, and a
/// name in it becomes the name of a folder.
fn is_device_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
