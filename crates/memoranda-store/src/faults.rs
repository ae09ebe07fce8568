//! Failures on purpose, so that the promises can be tested at every step of a write.
//!
//! Without the feature `faults` every call is empty. With it, a test arms one fault for the
//! process: at the n-th time that a step is reached, abort, or fail as a bad disk would.

/// The steps of a write at which the world can end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Before the bytes of a new file are written under a temporary name.
    TempWrite,
    /// Before the log grows.
    LogAppend,
    /// Half of the record is in the log file.
    LogTorn,
    /// Before the log is forced to disk.
    LogSync,
    /// After the log is on disk: the change is acknowledged or will be completed.
    LogSynced,
    /// Before a file takes its new bytes.
    Swap,
    /// After the files, before what had their names is let go.
    Displaced,
    /// After that, before the lock file says so.
    Applied,
    /// Before the index learns of it.
    Index,
    /// After the index.
    Indexed,
    /// Before files are forced to disk in the background.
    FileSync,
    /// Before the checkpoint is replaced.
    Checkpoint,
    /// After `vacuum` rewrote the log, before anything else knows.
    Rewritten,
    /// Before a project's folder is opened.
    OpenFolder,
    /// Before a project that is being removed leaves the registry.
    Leaving,
    /// After that, before the index forgets its files.
    Unregistered,
    /// Before the lock file is opened for writing.
    OpenLock,
    /// Before the table in the lock file is written.
    LockWrite,
    /// Before any call of the system on files, to let the n-th one fail.
    AnyCall,
    /// Before a worker thread is started.
    StartThread,
    /// Before two files are exchanged, or one is renamed without replacing another, in one call.
    Exchange,
    /// Before log records are sent to the remote log of a space.
    SpaceAppend,
    /// After the remote log has them, before the copy does.
    SpaceAppended,
}

impl Step {
    /// All steps, in the order of a write.
    pub const ALL: [Self; 23] = [
        Self::TempWrite,
        Self::LogAppend,
        Self::LogTorn,
        Self::LogSync,
        Self::LogSynced,
        Self::Swap,
        Self::Displaced,
        Self::Applied,
        Self::Index,
        Self::Indexed,
        Self::FileSync,
        Self::Checkpoint,
        Self::Rewritten,
        Self::OpenFolder,
        Self::Leaving,
        Self::Unregistered,
        Self::OpenLock,
        Self::LockWrite,
        Self::AnyCall,
        Self::StartThread,
        Self::Exchange,
        Self::SpaceAppend,
        Self::SpaceAppended,
    ];

    /// Returns the name of the step in a fault's specification.
    pub fn name(self) -> &'static str {
        match self {
            Self::TempWrite => "temp-write",
            Self::LogAppend => "log-append",
            Self::LogTorn => "log-torn",
            Self::LogSync => "log-sync",
            Self::LogSynced => "log-synced",
            Self::Swap => "swap",
            Self::Displaced => "displaced",
            Self::Applied => "applied",
            Self::Index => "index",
            Self::Indexed => "indexed",
            Self::FileSync => "file-sync",
            Self::Checkpoint => "checkpoint",
            Self::Rewritten => "rewritten",
            Self::OpenFolder => "open-folder",
            Self::Leaving => "leaving",
            Self::Unregistered => "unregistered",
            Self::OpenLock => "open-lock",
            Self::LockWrite => "lock-write",
            Self::AnyCall => "any",
            Self::StartThread => "start-thread",
            Self::Exchange => "exchange",
            Self::SpaceAppend => "space-append",
            Self::SpaceAppended => "space-appended",
        }
    }
}

#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(crate) fn at(_: Step) -> std::io::Result<()> {
    Ok(())
}

#[cfg(feature = "faults")]
pub(crate) use armed::at;
#[cfg(feature = "faults")]
pub use armed::{PretendedBoot, arm, is_armed, pretend_boot, pretend_drive, pretend_machine};
#[cfg(feature = "faults")]
pub(crate) use armed::{pretended_boot, pretended_drive, pretended_machine};

#[cfg(all(feature = "faults", target_os = "linux"))]
pub use crate::machine::{SimulatedMachine, SimulatedNode, run_on};

#[cfg(feature = "faults")]
mod armed {
    use std::cell::{Cell, RefCell};
    use std::io;
    use std::sync::Mutex;

    use super::Step;
    use crate::vault::boot::BootId;
    use crate::vault::drive::Drive;

    /// The number of `EIO` on every system that has it.
    const EIO: i32 = 5;

    thread_local! {
        static BOOT: Cell<Option<BootId>> = const { Cell::new(None) };
        static DRIVE: Cell<Option<Drive>> = const { Cell::new(None) };
        static MACHINE: RefCell<Option<String>> = const { RefCell::new(None) };
    }

    /// A run of the machine that a test pretends.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum PretendedBoot {
        /// The real one.
        Real,
        /// One of many, each with its own number.
        Number(u8),
        /// A system that has no identity for its runs.
        Unknown,
    }

    /// Pretends another run of the machine for every vault that this thread opens from now on.
    pub fn pretend_boot(boot: PretendedBoot) {
        BOOT.set(boot_id(boot));
    }

    fn boot_id(boot: PretendedBoot) -> Option<BootId> {
        match boot {
            PretendedBoot::Real => None,
            PretendedBoot::Number(number) => Some(BootId::Random([number; 16])),
            PretendedBoot::Unknown => Some(BootId::Unknown),
        }
    }

    pub(crate) fn pretended_boot() -> Option<BootId> {
        #[cfg(target_os = "linux")]
        if let Some(boot) = crate::machine::simulated(|machine| machine.boot()) {
            return boot_id(boot);
        }
        BOOT.get()
    }

    /// Pretends that every vault which this thread opens from now on lies on a drive with this number
    /// of its attachment; `None` means the real drive.
    pub fn pretend_drive(attachment: Option<u64>, is_removable: bool) {
        let drive = |number| Drive { attachment: Some(number), is_removable };
        DRIVE.set(attachment.map(drive));
    }

    pub(crate) fn pretended_drive() -> Option<Drive> {
        DRIVE.get()
    }

    /// Pretends another machine for every vault that this thread opens from now on; `None` means the
    /// real one.
    pub fn pretend_machine(machine: Option<&str>) {
        MACHINE.set(machine.map(str::to_owned));
    }

    pub(crate) fn pretended_machine() -> Option<String> {
        MACHINE.with_borrow(Clone::clone)
    }

    enum FaultKind {
        Abort,
        Fail(io::ErrorKind),
        FailingDevice,
    }

    struct ArmedFault {
        step: Step,
        /// Number of times that the step is still to be reached; `None` if the fault happens every
        /// time.
        remaining: Option<u32>,
        kind: FaultKind,
    }

    static FAULTS: Mutex<Vec<ArmedFault>> = Mutex::new(Vec::new());

    /// Arms faults `kind:step:n`, such as `abort:log-sync:1` or `full:temp-write:2`, separated by
    /// commas; an empty text disarms. Kinds: `abort`, `full` (no space left), `readonly`, `io` (the device
    /// failed), `plain` (the file system cannot do such a thing). An `n` of 0 means every time.
    pub fn arm(specification: &str) -> Result<(), String> {
        let faults: Result<Vec<ArmedFault>, String> =
            specification.split(',').filter(|text| !text.is_empty()).map(parse).collect();
        *FAULTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = faults?;
        Ok(())
    }

    /// Returns true if a fault has not happened yet.
    pub fn is_armed() -> bool {
        !FAULTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_empty()
    }

    fn parse(text: &str) -> Result<ArmedFault, String> {
        let mut parts = text.split(':');
        let bad = || format!("{text:?} is not KIND:STEP:N");
        let kind = match parts.next() {
            Some("abort") => FaultKind::Abort,
            Some("full") => FaultKind::Fail(io::ErrorKind::StorageFull),
            Some("readonly") => FaultKind::Fail(io::ErrorKind::ReadOnlyFilesystem),
            Some("io") => FaultKind::FailingDevice,
            Some("plain") => FaultKind::Fail(io::ErrorKind::Unsupported),
            _ => return Err(bad()),
        };
        let name = parts.next().ok_or_else(bad)?;
        let step = Step::ALL.into_iter().find(|step| step.name() == name).ok_or_else(bad)?;
        let remaining: u32 = parts.next().unwrap_or("1").parse().map_err(|_| bad())?;
        let remaining = Some(remaining).filter(|remaining| *remaining > 0);
        Ok(ArmedFault { step, remaining, kind })
    }

    pub(crate) fn at(step: Step) -> io::Result<()> {
        if let Some(answer) = crate::machine::at(step) {
            return answer;
        }
        let mut faults = FAULTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for fault in faults.iter_mut().filter(|fault| fault.step == step) {
            fault.remaining = fault.remaining.map(|remaining| remaining.saturating_sub(1));
        }
        let is_due = |fault: &ArmedFault| {
            fault.step == step && fault.remaining.is_none_or(|remaining| remaining == 0)
        };
        let Some(due) = faults.iter().position(is_due) else { return Ok(()) };
        let result = match faults[due].kind {
            FaultKind::Abort => std::process::abort(),
            FaultKind::Fail(kind) => Err(io::Error::new(kind, "a fault that a test asked for")),
            FaultKind::FailingDevice => Err(io::Error::from_raw_os_error(EIO)),
        };
        if faults[due].remaining.is_some() {
            faults.remove(due);
        }
        result
    }
}
