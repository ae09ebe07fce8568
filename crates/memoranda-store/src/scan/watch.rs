//! Records edits as they happen. One process per vault watches; when it ends for any reason,
//! another takes over.
//!
//! If the system does not report every folder, the watching process scans from time to time, and
//! does not announce that it watches, so that one-shot commands scan, too.

mod backend;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use memoranda_core::path::NotePath;
use notify::EventKind;

use crate::error::{ErrorContext as _, Result};
use crate::faults::{self, Step};
use crate::files::state_file::StateFile;
use crate::files::{state_files, temp_names};
use crate::vault::{Project, processes};
use crate::{Store, StoreInner};
use backend::{FsWatcher, WatchCoverage};

/// Events are gathered until this long nothing happens, but not longer than the second value.
const QUIET: Duration = Duration::from_millis(80);
const AT_MOST: Duration = Duration::from_millis(400);
/// Intervals at which the system is asked for events, between bursts and within one. A single write
/// makes a dozen events, and waking for each of them would take time from the writer.
const PAUSE: Duration = Duration::from_millis(20);
const BURST: Duration = Duration::from_millis(2);
/// Interval at which a missing folder is looked for: no event reports that a drive is mounted.
const AWAY_INTERVAL: Duration = Duration::from_millis(500);
/// Interval at which a folder that has been missing for long is looked for.
const LONG_AWAY_INTERVAL: Duration = Duration::from_secs(10);
/// Minimum interval of full scans while some folder cannot be watched.
const UNWATCHED_INTERVAL: Duration = Duration::from_secs(1);
/// Full scans take at most one part in this many of the time, but run at least at the interval below.
const MAX_SCAN_SHARE: u32 = 10;
const LONG_UNWATCHED: Duration = Duration::from_secs(60);
/// Maximum number of changed files that are scanned one by one. For more, all files are scanned.
const MAX_SINGLE_PATHS: usize = 4000;
/// The file that a process makes to ask if the watcher runs. The watcher answers by removing it.
const PING: &str = "watcher-ping";
/// A watcher that has not answered after this time is suspended, or too busy to rely on.
const PING_TIMEOUT: Duration = Duration::from_millis(300);
/// A watcher that has answered is not asked again for this time.
const ANSWER_AGE: Duration = Duration::from_secs(1);

enum WatchMessage {
    Event(notify::Result<notify::Event>),
    Stop,
}

/// The thread that watches, or sleeps until it may.
pub(crate) struct VaultWatcher {
    sender: Sender<WatchMessage>,
    state: Arc<WatchState>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Default)]
struct WatchState {
    /// This process is the one that watches.
    active: AtomicBool,
    /// True if every file has been scanned since.
    looked: AtomicBool,
    stopped: AtomicBool,
}

impl VaultWatcher {
    /// Starts watching, or waiting for the process that watches to end. The files are looked at
    /// once from end to end as soon as this process is the one.
    pub(crate) fn start(inner: &Arc<StoreInner>) -> Result<Self> {
        let lock = state_files::open_private(&lock_path(inner))
            .doing(|| "open the watcher's lock".into())?;
        let (sender, receiver) = channel();
        let state = Arc::new(WatchState::default());
        let events = sender.clone();
        let (weak, shared) = (Arc::downgrade(inner), state.clone());
        let run = move || run(&weak, &lock, &shared, &events, &receiver);
        let thread = faults::at(Step::StartThread)
            .and_then(|()| std::thread::Builder::new().name("memoranda-watch".into()).spawn(run));
        let thread = thread.doing(|| "start the watcher".into())?;
        Ok(Self { sender, state, thread: Some(thread) })
    }

    /// Returns true if this process is the one that watches.
    fn is_active(&self) -> bool {
        self.state.active.load(Ordering::SeqCst)
    }

    /// Ends the thread. One that still sleeps until it may watch is left to itself: it ends as
    /// soon as it wakes, or with the process.
    pub(crate) fn stop(mut self) {
        self.state.stopped.store(true, Ordering::SeqCst);
        self.sender.send(WatchMessage::Stop).ok();
        if self.is_active()
            && let Some(thread) = self.thread.take()
        {
            thread.join().ok();
        }
    }
}

impl Store {
    /// Returns true if this process watches the vault, completely or by polling, and has scanned
    /// all earlier edits.
    pub fn has_looked(&self) -> bool {
        let watching = self.inner.watching();
        watching.as_ref().is_some_and(|watching| watching.state.looked.load(Ordering::SeqCst))
    }

    /// Returns true if another process is the one that watches, and does not answer: until it ends or
    /// goes on, nobody notices edits.
    pub fn has_silent_watcher(&self) -> bool {
        let inner = &*self.inner;
        inner.space.is_none()
            && !is_own(inner)
            && is_held(inner)
            && (is_suspended(inner) || is_claimed(inner) && !is_answering(inner))
    }
}

/// Returns true if some process watches all of this vault now, and has scanned all earlier edits.
pub(crate) fn is_watched(inner: &StoreInner) -> bool {
    is_held(inner) && is_claimed(inner) && !is_suspended(inner) && is_answering(inner)
}

/// Returns true if some process has the lock of the watcher.
fn is_held(inner: &StoreInner) -> bool {
    match state_files::open_private(&lock_path(inner)) {
        Ok(lock) => matches!(lock.try_lock(), Err(std::fs::TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

/// Returns true if a process has said that it watches every folder.
fn is_claimed(inner: &StoreInner) -> bool {
    matches!(state_files::size_and_mtime(&ready_path(inner)), Ok(Some(_)))
}

/// Returns true if this process is the one that watches.
fn is_own(inner: &StoreInner) -> bool {
    inner.watching().as_ref().is_some_and(VaultWatcher::is_active)
}

/// Returns true if the watching process answers. It may be suspended where nobody can see it: in a
/// paused container, or on a system that does not show the state of processes.
fn is_answering(inner: &StoreInner) -> bool {
    let mut answered_at = inner.watcher_answered_at();
    if is_own(inner) || answered_at.is_some_and(|at| at.elapsed() < ANSWER_AGE) {
        return true;
    }
    let (ping, asked) = (ping_path(inner), Instant::now());
    if state_files::write_plain(&ping, b"").is_err() {
        return false;
    }
    while asked.elapsed() < PING_TIMEOUT {
        if matches!(state_files::kind(&ping), Ok(None)) {
            *answered_at = Some(Instant::now());
            return true;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    *answered_at = None;
    false
}

/// Writes the watching process's id into its lock file, so that others can see if it is stopped.
fn note_watcher(mut lock: &StateFile) {
    let id = format!("{}\n", std::process::id());
    lock.set_len(0)
        .and_then(|()| lock.seek(SeekFrom::Start(0)))
        .and_then(|_| lock.write_all(id.as_bytes()))
        .ok();
}

/// Returns true if the watching process is suspended, as by Ctrl-Z, and notices nothing.
fn is_suspended(inner: &StoreInner) -> bool {
    let bytes = state_files::read(&lock_path(inner)).ok().flatten().unwrap_or_default();
    let id = String::from_utf8_lossy(&bytes).trim().parse().ok();
    id.is_some_and(processes::is_suspended)
}

fn ping_path(inner: &StoreInner) -> PathBuf {
    inner.vault.state.join(PING)
}

fn lock_path(inner: &StoreInner) -> PathBuf {
    inner.vault.state.join("watcher")
}

/// Returns the file that the watching process creates after its first scan, while everything is
/// watched. It counts only together with the watcher's lock.
fn ready_path(inner: &StoreInner) -> PathBuf {
    inner.vault.state.join("watching")
}

/// Tells the process that watches, if there is one, that a project's folder is another than it was.
pub(crate) fn tell_of_another_folder(inner: &StoreInner) {
    // Without a watcher there is no such file, and nobody to tell.
    state_files::touch(&ready_path(inner)).ok();
}

fn run(
    weak: &Weak<StoreInner>,
    lock: &StateFile,
    state: &WatchState,
    events: &Sender<WatchMessage>,
    receiver: &Receiver<WatchMessage>,
) {
    if lock.lock().is_err() {
        return;
    }
    note_watcher(lock);
    state.active.store(true, Ordering::SeqCst);
    if state.stopped.load(Ordering::SeqCst) {
        return;
    }
    let Some(inner) = weak.upgrade() else { return };
    state_files::remove(&ready_path(&inner)).ok();
    let ping = ping_path(&inner);
    let mut backend = FsWatcher::new(events.clone());
    let mut watched = WatchedPaths::default();
    watch_projects(&inner, &mut backend, &mut watched, &PendingEvents::default());
    let mut claim = WatchClaim::default();
    claim.settle(&inner, &watched, state);
    inner.tell_change();
    drop(inner);
    let mut pause = AWAY_INTERVAL;
    let mut rounds = PollSchedule::begin();
    while let Some(mut gathered) = gather(receiver, wait(&watched, pause, &rounds), &ping) {
        let Some(inner) = weak.upgrade() else { return };
        let was_away = watched.is_some_away;
        gathered.everything |= watched.sight == WatchCoverage::Part && rounds.is_due();
        if gathered.is_nothing() && !was_away {
            continue;
        }
        gathered.everything |= gathered.paths.len() > MAX_SINGLE_PATHS;
        let begun = Instant::now();
        handle(&inner, &mut backend, &mut watched, &gathered);
        claim.settle(&inner, &watched, state);
        if gathered.everything {
            rounds.note(begun);
        }
        // Who waits for a folder that may never come back looks ever more rarely.
        let is_quiet = gathered.is_nothing() && was_away && watched.is_some_away;
        pause = if is_quiet { (pause * 2).min(LONG_AWAY_INTERVAL) } else { AWAY_INTERVAL };
        if !is_quiet {
            inner.tell_change();
        }
    }
}

/// Announces to other processes that edits are recorded as they happen.
#[derive(Default)]
struct WatchClaim {
    is_made: bool,
}

impl WatchClaim {
    /// Makes the claim after a look at every file, and takes it back when it is no longer true.
    fn settle(&mut self, inner: &StoreInner, watched: &WatchedPaths, state: &WatchState) {
        if watched.sight == WatchCoverage::Part && self.is_made {
            self.is_made = state_files::remove(&ready_path(inner)).is_err();
        }
        let has_looked = state.looked.load(Ordering::SeqCst);
        if self.is_made || has_looked && watched.sight == WatchCoverage::Part {
            return;
        }
        // A failed look is repeated with the next event; reads look at the disk themselves.
        if inner.sync_all(&mut |_| {}).is_ok() {
            state.looked.store(true, Ordering::SeqCst);
            self.is_made = watched.sight == WatchCoverage::Whole
                && state_files::write_plain(&ready_path(inner), b"").is_ok();
        }
    }
}

/// Schedule of full scans while some folder cannot be watched.
struct PollSchedule {
    next: Instant,
}

impl PollSchedule {
    fn begin() -> Self {
        Self { next: Instant::now() + UNWATCHED_INTERVAL }
    }

    fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Notes that all files were looked at: what takes long is done rarely.
    fn note(&mut self, begun: Instant) {
        let pause = begun
            .elapsed()
            .saturating_mul(MAX_SCAN_SHARE)
            .clamp(UNWATCHED_INTERVAL, LONG_UNWATCHED);
        self.next = Instant::now() + pause;
    }
}

/// Returns the time to wait for an event. While all existing folders are watched, only events wake
/// the thread.
fn wait(watched: &WatchedPaths, pause: Duration, rounds: &PollSchedule) -> Option<Duration> {
    let until_round = || rounds.next.saturating_duration_since(Instant::now());
    let round = (watched.sight == WatchCoverage::Part).then(until_round);
    let away = watched.is_some_away.then_some(pause);
    round.into_iter().chain(away).min()
}

/// Reading a file is an event too; taking it for one would never end, and every read would wake the
/// watcher. Nor do the names count that a change gives files on their way.
fn matters(event: &notify::Result<notify::Event>) -> bool {
    let is_passing = |path: &PathBuf| {
        let name = path.file_name().map(std::ffi::OsStr::as_encoded_bytes);
        name.and_then(|name| std::str::from_utf8(name).ok()).is_some_and(temp_names::is_temporary)
    };
    event.as_ref().map_or(true, |event| {
        event.need_rescan()
            || !matches!(event.kind, EventKind::Access(_)) && !event.paths.iter().all(is_passing)
    })
}

/// Returns true if another process asks for an answer.
fn is_ping(event: &notify::Event) -> bool {
    !event.paths.is_empty() && event.paths.iter().all(|path| path.ends_with(PING))
}

/// The folders that are watched.
#[derive(Default)]
struct WatchedPaths {
    by_path: BTreeMap<PathBuf, WatchedFolder>,
    /// Some project has no folder now, or one that is not its own.
    is_some_away: bool,
    /// Extent to which the system reports changes of the folders.
    sight: WatchCoverage,
}

struct WatchedFolder {
    project: Project,
    /// The watched folder is identified by its inode: another folder of its name does not count.
    identity: Option<(u64, u64)>,
    is_away: bool,
    sight: WatchCoverage,
}

/// Projects whose files have to be scanned, because their folders were not watched before.
#[derive(Default)]
struct UnseenProjects {
    /// Projects whose folder is watched only from now on, or is the project's again.
    new: Vec<Project>,
    /// A folder is no longer that of a project.
    is_some_gone: bool,
}

/// Watches the vault's own folder for new projects, and every project with all below it.
fn watch_projects(
    inner: &StoreInner,
    backend: &mut FsWatcher,
    watched: &mut WatchedPaths,
    gathered: &PendingEvents,
) -> UnseenProjects {
    let mut unseen = UnseenProjects::default();
    backend.open();
    let mut sight = backend.watch_folder(&inner.vault.home);
    sight = sight.and(backend.watch_folder(&inner.vault.state));
    let projects = inner.vault.projects().unwrap_or_default();
    watched.by_path.retain(|path, folder| {
        let kept = projects.contains(&folder.project);
        if !kept {
            backend.unwatch(path);
            unseen.is_some_gone = true;
        }
        kept
    });
    watched.is_some_away = false;
    for project in projects {
        let path = project.path.canonicalize().unwrap_or_else(|_| project.path.clone());
        let identity = state_files::identity(&path);
        let is_away = identity.is_none() || inner.root(&project).is_err();
        watched.is_some_away |= is_away;
        if let Some(folder) = watched.by_path.get_mut(&path) {
            // A folder that was moved is no longer watched, even if it is back.
            let is_same = folder.identity == identity && !gathered.paths.contains(&path);
            // A folder that was away may have lost files, and no event reports that.
            let is_back = folder.is_away && !is_away;
            if is_same && !is_back && !gathered.everything {
                folder.is_away = is_away;
                sight = sight.and(folder.sight);
                continue;
            }
            if !is_same {
                backend.unwatch(&path);
            }
            watched.by_path.remove(&path);
        }
        if identity.is_some() {
            let below = backend.watch_below(&path);
            sight = sight.and(below);
            unseen.new.push(project.clone());
            let folder = WatchedFolder { project, identity, is_away, sight: below };
            watched.by_path.insert(path, folder);
        }
    }
    watched.sight = sight;
    unseen
}

/// Events of one burst.
#[derive(Default)]
struct PendingEvents {
    paths: BTreeSet<PathBuf>,
    /// Events were lost: everything has to be looked at.
    everything: bool,
}

impl PendingEvents {
    fn is_nothing(&self) -> bool {
        self.paths.is_empty() && !self.everything
    }
}

/// Waits for what happens next, but not longer than it says. A ping is answered at once, and is
/// nothing that happened.
fn gather(
    receiver: &Receiver<WatchMessage>,
    wait: Option<Duration>,
    ping: &Path,
) -> Option<PendingEvents> {
    let mut gathered = PendingEvents::default();
    let first = match wait {
        Some(wait) => receiver.recv_timeout(wait),
        None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    let mut message = match first {
        Ok(message) => message,
        Err(RecvTimeoutError::Timeout) => return Some(gathered),
        Err(RecvTimeoutError::Disconnected) => return None,
    };
    let started = Instant::now();
    loop {
        match message {
            WatchMessage::Stop => return None,
            WatchMessage::Event(Ok(event)) if is_ping(&event) => {
                if !event.kind.is_remove() {
                    state_files::remove(ping).ok();
                }
            }
            WatchMessage::Event(Ok(event)) => {
                if event.need_rescan() {
                    gathered.everything = true;
                } else {
                    gathered.paths.extend(event.paths);
                }
            }
            WatchMessage::Event(Err(_)) => gathered.everything = true,
        }
        if started.elapsed() > AT_MOST {
            return Some(gathered);
        }
        message = match receiver.recv_timeout(QUIET) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => return Some(gathered),
            Err(RecvTimeoutError::Disconnected) => return None,
        };
    }
}

fn handle(
    inner: &StoreInner,
    backend: &mut FsWatcher,
    watched: &mut WatchedPaths,
    gathered: &PendingEvents,
) {
    let home = inner.vault.home.canonicalize().unwrap_or_else(|_| inner.vault.home.clone());
    let state = home.join(".memoranda");
    let concerns_projects = |path: &PathBuf| {
        path.parent() == Some(&home) && *path != state
            || path.parent() == Some(&state)
                && ["projects.toml", "watching"].iter().any(|name| path.ends_with(name))
            || watched.by_path.contains_key(path)
    };
    let everything = gathered.everything;
    if watched.is_some_away || everything || gathered.paths.iter().any(concerns_projects) {
        let unseen = watch_projects(inner, backend, watched, gathered);
        // A failed look is repeated with the next event, as below.
        if !everything && (unseen.is_some_gone || !unseen.new.is_empty()) {
            inner.sync_unseen(&unseen.new).ok();
        }
    }
    if everything {
        inner.sync_all(&mut |_| {}).ok();
        return;
    }
    let mut by_project: BTreeMap<PathBuf, BTreeSet<NotePath>> = BTreeMap::new();
    for path in &gathered.paths {
        let Some((root, _)) = watched.by_path.iter().find(|(root, _)| path.starts_with(root))
        else {
            continue;
        };
        let Some(relative) = path.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
        let relative = relative.replace('\\', "/");
        let is_rules = relative.ends_with("ignore");
        match NotePath::parse(&relative) {
            Ok(path) if is_rules || !path.is_hidden() => {
                by_project.entry(root.clone()).or_default().insert(path);
            }
            _ => {}
        }
    }
    for (root, paths) in by_project {
        let Some(WatchedFolder { project, sight, .. }) = watched.by_path.get_mut(&root) else {
            continue;
        };
        let seen = watch_folders(backend, &root, &paths);
        *sight = sight.and(seen);
        watched.sight = watched.sight.and(seen);
        let rules_changed = paths.iter().any(|path| path.file_name().ends_with("ignore"));
        let result = if rules_changed {
            inner.sync_one(&project.name, &mut |_| {}).map(|_| ())
        } else {
            inner.sync_paths(project, &paths).map(|_| ())
        };
        // A failed look is repeated with the next event; reads look at the disk themselves.
        result.ok();
    }
}

/// Watches the folders among these paths, with all below them: one that is new may hold more than was
/// watched when it came, and one that could not be read may be open now.
fn watch_folders(
    backend: &mut FsWatcher,
    root: &Path,
    paths: &BTreeSet<NotePath>,
) -> WatchCoverage {
    let mut sight = WatchCoverage::Whole;
    let mut last: Option<&NotePath> = None;
    for path in paths {
        let place = root.join(path.as_str());
        if last.is_some_and(|last| path.is_within(last.as_str())) || !state_files::is_dir(&place) {
            continue;
        }
        sight = sight.and(backend.watch_below(&place));
        last = Some(path);
    }
    sight
}
