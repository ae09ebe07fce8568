//! The vault's write lock, and for each device how far its log has been applied to the files.
//!
//! The lock is the operating system's: it is free again when its holder dies, however it dies.
//!
//! Invariant of the table in the lock file: everything before the position of an entry, in the log
//! of the device that the entry names, had been applied to the files in the run of the machine that
//! the entry names, with the drive attached as the entry says. The table is written without force.
//! An entry therefore proves nothing after a restart of the machine or without its drive in between,
//! and nothing about the log of any other device.

use std::cell::RefCell;
use std::fs::TryLockError;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::{ErrorContext as _, Result, StoreError};
use crate::faults::{self, Step};
use crate::files::state_file::StateFile;
use crate::files::state_files;
use crate::log::LogPosition;
use crate::machine;
use crate::vault::boot::{MachineRun, Restarted};
use crate::vault::processes;

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
/// A lock is asked for again after this time at the latest.
const MAX_PAUSE: Duration = Duration::from_millis(2);
/// Time after which the holder of a lock is looked at. Most writes are done by then.
const HOLDER_CHECK_AFTER: Duration = Duration::from_millis(20);

/// The lock file of a vault, open but not held.
pub(crate) struct VaultLock {
    path: PathBuf,
    file: StateFile,
    run: MachineRun,
    /// The reason why the vault cannot be written to: the lock then only keeps readers from a change.
    write_refusal: Option<io::ErrorKind>,
    /// True once this process has held the lock: the machine has been running since then, even
    /// where the system has no identity for that.
    has_held: AtomicBool,
}

/// Position up to which one device's log has been applied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AppliedEntry {
    /// The device whose log this is about.
    pub(crate) device: String,
    /// The run of the machine in which the entry was written.
    pub(crate) run: MachineRun,
    /// Everything before this place in the device's log has been applied to the files.
    pub(crate) position: LogPosition,
    /// Tells if the machine was restarted since.
    pub(crate) restarted: Restarted,
}

/// Time to wait for the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockWait {
    /// For a write: so long.
    Write(Duration),
    /// For a read: so long, but not at all for a process that is suspended.
    Read(Duration),
}

impl LockWait {
    fn patience(self) -> Duration {
        match self {
            Self::Write(patience) | Self::Read(patience) => patience,
        }
    }
}

/// The lock, held until dropped.
pub(crate) struct VaultLockGuard<'a> {
    lock: &'a VaultLock,
    entries: RefCell<Vec<AppliedEntry>>,
}

impl VaultLock {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let opened = faults::at(Step::OpenLock).and_then(|()| state_files::open_private(path));
        let (file, write_refusal) = match opened {
            Err(e) if is_forbidden(e.kind()) => (state_files::open_read(path), Some(e.kind())),
            opened => (opened, None),
        };
        let file = file.doing(|| format!("open the vault's lock {}", path.display()))?;
        let run = MachineRun::current(path.parent().unwrap_or(path));
        let (path, has_held) = (path.to_owned(), AtomicBool::new(false));
        Ok(Self { path, file, run, write_refusal, has_held })
    }

    /// Returns false if another file has the name of this lock: its drive was pulled out and came
    /// back, or the vault was replaced. Then this lock excludes nobody.
    pub(crate) fn has_its_name(&self) -> bool {
        let (named, own) =
            (state_files::identity(&self.path), state_files::identity_of(&self.file));
        named.is_none() || named == own
    }

    /// Opens the lock again if another file has its name, or if the vault can be written to since;
    /// `None` if this one is right. Without the right to write, no applied position is recorded.
    pub(crate) fn reopened(&self) -> Result<Option<Self>> {
        if self.has_its_name() && self.write_refusal.is_none() {
            return Ok(None);
        }
        let opened = Self::open(&self.path)?;
        let is_better = !self.has_its_name() || opened.write_refusal.is_none();
        Ok(is_better.then_some(opened))
    }

    /// Returns the process that holds the lock, as far as it is known, and if it is suspended.
    fn holder(&self) -> (Option<u32>, bool) {
        let identity = state_files::identity_of(&self.file);
        let holder = identity.and_then(processes::lock_holder);
        (holder, holder.is_some_and(processes::is_suspended))
    }

    /// Waits for the lock, a bounded time.
    pub(crate) fn acquire(&self, wait: LockWait) -> Result<VaultLockGuard<'_>> {
        let started = machine::moment();
        let mut pause = Duration::from_micros(50);
        let mut check_at = HOLDER_CHECK_AFTER;
        loop {
            let waited = machine::moment() - started;
            match self.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    let is_futile = matches!(wait, LockWait::Read(_)) && waited >= check_at && {
                        check_at *= 2;
                        self.holder().1
                    };
                    if waited >= wait.patience() || is_futile {
                        return Err(self.busy(waited));
                    }
                    machine::pause(pause);
                    pause = (pause * 2).min(MAX_PAUSE);
                }
                Err(TryLockError::Error(source)) => {
                    return Err(StoreError::Io { doing: "lock the vault".into(), source });
                }
            }
        }
        let (_, entries) = self.read_table().unwrap_or_default();
        Ok(VaultLockGuard { lock: self, entries: RefCell::new(entries) })
    }

    fn busy(&self, waited: Duration) -> StoreError {
        let (holder, is_suspended) = self.holder();
        // Where the system does not name the holder, it may be the process that wrote last.
        let holder = holder.or_else(|| self.read_table().map(|(holder, _)| holder)).unwrap_or(0);
        StoreError::Busy { holder, is_suspended, seconds: waited.as_secs() }
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
        let run = MachineRun::decode(words.next()?)?;
        let (segment, offset) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let restarted = match self.run.restarted_since(run) {
            Restarted::Unknown if self.has_held.load(Ordering::Relaxed) => Restarted::No,
            restarted => restarted,
        };
        Some(AppliedEntry { device, run, position: LogPosition { segment, offset }, restarted })
    }
}

impl VaultLockGuard<'_> {
    /// Returns the current run of the machine.
    pub(crate) fn run(&self) -> MachineRun {
        self.lock.run
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
            run: self.lock.run,
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
        let mut table = format!("{MAGIC} {:010}\n", machine::process_id());
        for AppliedEntry { device, run, position, .. } in entries {
            let LogPosition { segment, offset } = position;
            table += &format!("{device} {} {segment:08} {offset:020}\n", run.encode());
        }
        table += END;
        table += "\n";
        let doing = || format!("write the vault's lock file {}", self.lock.path.display());
        if let Some(refusal) = self.lock.write_refusal {
            // Reading goes on as on a read-only file system, with the real reason in the message.
            let reason = crate::error::plain(&io::Error::from(refusal));
            return Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, reason)).doing(doing);
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
