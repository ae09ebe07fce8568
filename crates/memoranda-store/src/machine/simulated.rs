//! A machine that a test simulates, for the threads that run on it.

#![allow(clippy::disallowed_types, reason = "the folders of names that changed are opened")]

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::faults::{PretendedBoot, Step};

/// The machine below a simulated process. Calls on files are made on a real folder; the machine
/// decides when, and records what they did.
pub trait SimulatedMachine {
    /// Lets others run before a call. An error is what the call returns.
    fn turn(&self, step: Step) -> io::Result<()>;
    /// Lets others run, because this process waits for one of them.
    fn wait(&self);
    /// Fails if the drive of an open file or folder was pulled.
    fn reach(&self, file: BorrowedFd<'_>) -> io::Result<()>;
    /// Records that the content of a file changed.
    fn written(&self, file: BorrowedFd<'_>);
    /// Records that a file was given a time of last modification.
    fn dated(&self, file: BorrowedFd<'_>, since_1970: Duration);
    /// Records that names in folders changed, in one step.
    fn names_changed(&self, folders: &[BorrowedFd<'_>]);
    /// Records that the content of a file was forced to disk.
    fn forced(&self, file: BorrowedFd<'_>);
    /// Records that the names in a folder were forced to disk.
    fn names_forced(&self, folder: BorrowedFd<'_>);
    /// Records that the whole drive of a folder was forced to disk.
    fn all_forced(&self, folder: BorrowedFd<'_>);
    /// Returns what the machine says of a file or folder, by the inode of the real one.
    fn node(&self, inode: u64) -> Option<SimulatedNode>;
    /// Returns how often the drive of a folder was attached.
    fn attachment(&self, folder: &Path) -> u64;
    /// The time of day, in nanoseconds since 1970.
    fn now_ns(&self) -> i64;
    /// A moment of a clock that never goes back.
    fn moment(&self) -> Duration;
    /// Sixty-four bits of chance.
    fn random_bits(&self) -> u64;
    /// The number of the process.
    fn process_id(&self) -> u32;
    /// The run of the machine.
    fn boot(&self) -> PretendedBoot;
}

/// Metadata of a file or folder on a simulated machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimulatedNode {
    /// The drive.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// Time of last modification, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Time of last change of the inode.
    pub ctime_ns: i64,
}

thread_local! {
    static MACHINE: RefCell<Option<Rc<dyn SimulatedMachine>>> = const { RefCell::new(None) };
}

/// Runs work of a simulated process on this thread.
pub fn run_on<R>(machine: Rc<dyn SimulatedMachine>, work: impl FnOnce() -> R) -> R {
    struct Left(Option<Rc<dyn SimulatedMachine>>);
    impl Drop for Left {
        fn drop(&mut self) {
            MACHINE.with(|current| current.replace(self.0.take()));
        }
    }
    let _left = Left(MACHINE.with(|current| current.replace(Some(machine))));
    work()
}

fn machine() -> Option<Rc<dyn SimulatedMachine>> {
    MACHINE.try_with(|current| current.borrow().clone()).ok().flatten()
}

/// Returns the answer of the simulated machine; `None` on the real one.
pub(crate) fn simulated<R>(ask: impl FnOnce(&dyn SimulatedMachine) -> R) -> Option<R> {
    machine().map(|machine| ask(&*machine))
}

pub(crate) fn is_simulated() -> bool {
    machine().is_some()
}

/// A moment of a clock that never goes back.
pub(crate) fn moment() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    simulated(|machine| machine.moment())
        .unwrap_or_else(|| START.get_or_init(Instant::now).elapsed())
}

/// Waits while another process works.
pub(crate) fn pause(time: Duration) {
    if simulated(|machine| machine.wait()).is_none() {
        std::thread::sleep(time);
    }
}

pub(crate) fn process_id() -> u32 {
    simulated(|machine| machine.process_id()).unwrap_or_else(std::process::id)
}

/// Lets others run before a call that only looks.
pub(crate) fn turn() -> io::Result<()> {
    at(Step::AnyCall).unwrap_or(Ok(()))
}

/// Lets others run at a step of a write; `None` on the real machine.
pub(crate) fn at(step: Step) -> Option<io::Result<()>> {
    simulated(|machine| machine.turn(step))
}

/// Fails if the drive of an open file or folder was pulled.
pub(crate) fn reach<F: AsFd>(file: &F) -> io::Result<()> {
    simulated(|machine| machine.reach(file.as_fd())).unwrap_or(Ok(()))
}

/// Records that the content of an open file changed.
pub(crate) fn written<F: AsFd>(file: &F) {
    simulated(|machine| machine.written(file.as_fd()));
}

/// Records that a file was given a time of last modification.
pub(crate) fn dated<F: AsFd>(file: &F, since_1970: Duration) {
    simulated(|machine| machine.dated(file.as_fd(), since_1970));
}

/// Records that a file of that name may be new, and that its content changed.
pub(crate) fn written_at(path: &Path) {
    names_changed_at(&[path]);
    if let (true, Ok(file)) = (is_simulated(), File::open(path)) {
        written(&file);
    }
}

/// Records that names in open folders changed, in one step.
pub(crate) fn names_changed<D: AsFd>(folders: &[&D]) {
    simulated(|machine| {
        machine.names_changed(&folders.iter().map(|folder| folder.as_fd()).collect::<Vec<_>>());
    });
}

/// Records that these names changed in the folders that hold them, in one step. A folder may be new
/// itself: then the nearest one above it has changed, too.
pub(crate) fn names_changed_at(names: &[&Path]) {
    if !is_simulated() {
        return;
    }
    let is_known = |folder: &File| {
        let inode = folder.metadata().map(|metadata| metadata.ino()).unwrap_or_default();
        simulated(|machine| machine.node(inode)).flatten().is_some()
    };
    let nearest = |name: &Path| {
        name.ancestors().skip(1).filter_map(|folder| File::open(folder).ok()).find(is_known)
    };
    let folders: Vec<File> = names.iter().filter_map(|name| nearest(name)).collect();
    names_changed(&folders.iter().collect::<Vec<_>>());
}

/// Records that the content of an open file was forced to disk.
pub(crate) fn forced<F: AsFd>(file: &F) {
    simulated(|machine| machine.forced(file.as_fd()));
}

/// Records that the names in an open folder were forced to disk.
pub(crate) fn names_forced<D: AsFd>(folder: &D) {
    simulated(|machine| machine.names_forced(folder.as_fd()));
}

/// Records that the whole drive of an open folder was forced to disk.
pub(crate) fn all_forced<D: AsFd>(folder: &D) {
    simulated(|machine| machine.all_forced(folder.as_fd()));
}
