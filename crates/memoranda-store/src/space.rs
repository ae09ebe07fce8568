//! A vault as the cache of a space, whose log is kept elsewhere.
//!
//! The remote log decides the order of commits and acknowledges them. The vault is an ordinary one:
//! a copy of the log, the files and the index. Nothing in it is forced to disk: after a restart of
//! the machine, or when the remote log was rewritten, another folder is filled from the remote log.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use memoranda_core::id::ContentHash;

use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::{self, FilePrivacy, state_files};
use crate::remote::{AppendOutcome, RemoteError, RemoteHead, RemoteLog};
use crate::vault::FORMAT;
use crate::vault::boot::BootId;
use crate::{OpenOptions, Store, StoreInner, clock, provisional};

/// Bytes of frames that are fetched at once.
pub(crate) const FETCH_BYTES: usize = 8 << 20;

/// Location and patience of the cache of a space.
#[derive(Clone, Debug)]
pub struct SpaceOptions {
    /// Folder of all caches. It belongs to this machine alone.
    pub root: PathBuf,
    /// Maximum time to wait for another process's write.
    pub lock_patience: Duration,
}

/// Freshness of the answers of a vault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpaceFreshness {
    /// Everything that was acknowledged is here.
    Current,
    /// The remote log cannot be reached. Answers are as of this time.
    AsOf(Timestamp),
}

/// The remote log of a vault that is a cache.
pub(crate) struct RemoteSpace {
    log: Arc<dyn RemoteLog>,
    epoch: u32,
    /// Number of a log record that the copy contains, with all before it.
    local_seq: AtomicU64,
    /// Last time at which the copy had everything.
    current_at: Mutex<Timestamp>,
    /// True for a cache, which is thrown away after a restart of the machine; false for a clone.
    is_cache: bool,
}

impl RemoteSpace {
    /// Returns the log of a clone, which a person keeps.
    pub(crate) fn of_clone(log: Arc<dyn RemoteLog>, epoch: u32) -> Self {
        let (local_seq, current_at) = (AtomicU64::new(0), Mutex::new(Timestamp::UNIX_EPOCH));
        Self { log, epoch, local_seq, current_at, is_cache: false }
    }

    /// Returns the log of a cache, which does not outlive the run of its machine.
    pub(crate) fn of_cache(log: Arc<dyn RemoteLog>, epoch: u32) -> Self {
        Self { is_cache: true, ..Self::of_clone(log, epoch) }
    }

    pub(crate) fn is_cache(&self) -> bool {
        self.is_cache
    }

    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    pub(crate) fn log(&self) -> &dyn RemoteLog {
        &*self.log
    }

    /// Records that the copy contains a log record and all before it.
    pub(crate) fn note_local(&self, seq: u64) {
        self.local_seq.fetch_max(seq, Ordering::Relaxed);
    }

    fn current_at(&self) -> std::sync::MutexGuard<'_, Timestamp> {
        self.current_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_epoch(&self, head: RemoteHead) -> Result<()> {
        if head.epoch == self.epoch { Ok(()) } else { Err(StoreError::SpaceRewritten) }
    }
}

impl Store {
    /// Opens the cache of a space, and removes caches that another epoch or another run of the
    /// machine left.
    pub fn open_space(options: &SpaceOptions, log: Arc<dyn RemoteLog>) -> Result<Self> {
        let head = log.head()?;
        let folder = cache_folder(&options.root, log.device(), head.epoch)?;
        let open = OpenOptions {
            home: folder.join("home"),
            cache: folder.join("cache"),
            state: folder.join("state"),
            file_sync: Duration::from_secs(3600),
            lock_patience: options.lock_patience,
        };
        prepare_folder(&open, log.device())?;
        Self::open_with(open, Some(RemoteSpace::of_cache(log, head.epoch)))
    }

    /// Fetches and applies what the remote log has beyond this vault. `head` is the end of the
    /// remote log if the caller knows it already. Does nothing in a vault with a log of its own.
    pub fn catch_up_with_space(&self, head: Option<RemoteHead>) -> Result<SpaceFreshness> {
        self.inner.catch_up_with_space(head)
    }

    /// Returns true if this cache had the whole space before: its files and an index of them.
    pub fn was_whole(&self) -> bool {
        matches!(state_files::kind(&self.whole_path()), Ok(Some(_)))
    }

    /// Records that this cache has the whole space.
    pub fn note_whole(&self) -> Result<()> {
        state_files::write_plain(&self.whole_path(), b"")
            .doing(|| "note that a space is here".into())
    }

    /// Returns the place of the mark of a whole cache, which goes with the cache.
    fn whole_path(&self) -> PathBuf {
        self.inner.options.state.join("whole")
    }

    /// Waits until the remote log has another head than this vault, at most for `timeout`. Returns
    /// the head; `None` in a vault with a log of its own.
    pub fn await_space_change(&self, timeout: Duration) -> Result<Option<RemoteHead>> {
        let Some(space) = &self.inner.space else { return Ok(None) };
        let seq = space.local_seq.load(Ordering::Relaxed);
        Ok(Some(space.log.follow(RemoteHead { epoch: space.epoch, seq }, timeout)?))
    }
}

impl StoreInner {
    pub(crate) fn catch_up_with_space(&self, head: Option<RemoteHead>) -> Result<SpaceFreshness> {
        let Some(space) = &self.space else { return Ok(SpaceFreshness::Current) };
        let started = clock::now();
        let caught_up = head.map_or_else(|| space.log.head(), Ok).map_err(StoreError::from);
        let caught_up = caught_up.and_then(|head| {
            space.check_epoch(head)?;
            self.fetch(space, head)
        });
        match caught_up {
            Ok(()) => {
                *space.current_at() = started;
                Ok(SpaceFreshness::Current)
            }
            Err(StoreError::Remote(error)) if error.is_away() => {
                Ok(SpaceFreshness::AsOf(*space.current_at()))
            }
            Err(error) => Err(error),
        }
    }

    /// Fetches frames up to a head, and applies them to files and index.
    fn fetch(&self, space: &RemoteSpace, head: RemoteHead) -> Result<()> {
        if space.local_seq.load(Ordering::Relaxed) >= head.seq {
            return Ok(());
        }
        loop {
            let reached = self.with_session(|session| {
                let last = session.log.last_seq()?;
                if last >= head.seq {
                    return Ok(last);
                }
                let frames = space.log.read_after(last, FETCH_BYTES)?;
                if frames.is_empty() {
                    let reason = format!("it ends at {last}, and its head is {}", head.seq);
                    return Err(RemoteError::Damaged { reason }.into());
                }
                session.log.append_frames(&frames)
            })?;
            if reached >= head.seq {
                // The next holder of the lock applies what the log has beyond the files.
                self.with_session(|_| Ok::<_, StoreError>(()))?;
                space.note_local(reached);
                return Ok(());
            }
        }
    }

    /// Catches up after another writer came first.
    pub(crate) fn catch_up_after_miss(&self) -> Result<()> {
        match &self.space {
            Some(space) => {
                let head = space.log.head()?;
                space.check_epoch(head)?;
                self.fetch(space, head)
            }
            None => Ok(()),
        }
    }

    /// Returns a content of the space that the copy of the log lacks.
    pub(crate) fn content_of_space(&self, hash: ContentHash) -> Result<Vec<u8>> {
        let gone = || StoreError::ContentGone(hash);
        let space = self.space.as_ref().ok_or_else(gone)?;
        let stored = space.log.content(hash)?.ok_or_else(gone)?;
        let content = crate::log::restore(stored.bytes, stored.raw_bytes).ok_or_else(gone)?;
        if files::hash(&content) == hash { Ok(content) } else { Err(gone()) }
    }

    /// Refuses what concerns one machine alone, or what the remote log would not learn.
    pub(crate) fn refuse_in_space(&self, doing: &'static str) -> Result<()> {
        match self.space {
            Some(_) => Err(StoreError::NotInSpace { doing }),
            None => Ok(()),
        }
    }
}

/// Removes the caches in a folder whose space, by its name as a device, has a later epoch or does
/// not exist any more. `spaces` lists all; `None` if nobody knows them now. Returns how many were
/// removed.
pub fn remove_stale_caches(
    root: &Path,
    spaces: impl FnOnce() -> Option<Vec<(String, u32)>>,
) -> Result<usize> {
    let doing = || "look for caches of spaces".to_owned();
    let provisional = provisional::folder_of(root);
    let mut folders = Vec::new();
    for folder in [root, provisional.as_path()] {
        let names = state_files::names(folder).doing(doing)?;
        folders.extend(names.into_iter().map(|name| (folder.join(&name), name)));
    }
    // Asked after the look at the folders: the cache of a new space is not there yet, or is known.
    let Some(spaces) = spaces() else { return Ok(0) };
    let mut removed = 0;
    for (folder, name) in folders {
        let mut parts = name.splitn(3, '-');
        let (Some(device), Some(epoch)) = (parts.next(), parts.next()) else { continue };
        // A folder that is no cache stays.
        let Ok(epoch) = epoch.parse::<u32>() else { continue };
        if !spaces.iter().any(|(known, current)| known == device && *current <= epoch) {
            state_files::remove_tree(&folder).doing(doing)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Writes the small files of a vault that is a cache, unless they are there. Opening the vault would
/// force them to disk.
pub(crate) fn prepare_folder(open: &OpenOptions, device: &str) -> Result<()> {
    let doing = || "make the folder of a space".to_owned();
    let own = open.home.join(".memoranda");
    state_files::create_dir(&own, FilePrivacy::Private).doing(doing)?;
    state_files::create_dir(&open.state, FilePrivacy::Private).doing(doing)?;
    for (path, text) in [
        (open.state.join("device"), format!("{device}\n")),
        (own.join("format"), format!("{FORMAT}\n")),
    ] {
        if state_files::read(&path).doing(doing)?.is_none() {
            state_files::write_plain(&path, text.as_bytes()).doing(doing)?;
        }
    }
    Ok(())
}

/// Names the cache by what makes it valid, and removes those of the same space that are not.
fn cache_folder(root: &Path, device: &str, epoch: u32) -> Result<PathBuf> {
    let run = match BootId::current() {
        // Without a known run of the machine, each process has a cache of its own.
        BootId::Unknown => clock::new_commit_id().to_string(),
        known => known.encode(),
    };
    let name = format!("{device}-{epoch}-{run}");
    let doing = || "make the folder of a space".to_owned();
    state_files::create_dir(root, FilePrivacy::Private).doing(doing)?;
    let prefix = format!("{device}-");
    for other in state_files::names(root).doing(doing)? {
        if other.starts_with(&prefix) && other != name {
            state_files::remove_tree(&root.join(&other)).doing(doing)?;
        }
    }
    let folder = root.join(name);
    state_files::create_dir(&folder, FilePrivacy::Private).doing(doing)?;
    Ok(folder)
}

impl crate::commit::write_session::WriteSession<'_> {
    /// Appends log records to the remote log, which acknowledges them, and then to the copy.
    pub(crate) fn append_to_space(
        &mut self,
        space: &RemoteSpace,
        records: Vec<(crate::log::LogRecord, crate::log::RecordBody)>,
        seen: &crate::log::chain::SeenDevices,
    ) -> Result<Vec<crate::log::LoggedRecord>> {
        use crate::faults::{Step, at};
        let sealed = self.log.seal(records, seen)?;
        let (frames, contents) = sealed.frames();
        let before = frames.first().map_or(0, |frame| frame.seq - 1);
        let last = frames.last().map_or(0, |frame| frame.seq);
        let expected = RemoteHead { epoch: space.epoch(), seq: before };
        at(Step::SpaceAppend).doing(|| "write to the log of the space".into())?;
        match space.log().append(expected, &frames, &contents)? {
            AppendOutcome::Appended => {}
            AppendOutcome::Behind(head) => {
                space.check_epoch(head)?;
                return Err(StoreError::SpaceMoved);
            }
        }
        at(Step::SpaceAppended).ok();
        // The commit is made, whatever becomes of the copy: what the copy lacks is fetched again.
        match self.log.write_sealed(sealed, crate::log::LogForce::Unforced) {
            Ok(placed) => {
                space.note_local(last);
                Ok(placed)
            }
            Err(error) => {
                tracing::warn!(%error, "a commit is in the log of the space, and not in its copy");
                Err(StoreError::SpaceCopyBehind)
            }
        }
    }
}
