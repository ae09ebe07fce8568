//! Answers for spaces whose cache is not whole yet, as on a server that has just started.
//!
//! The whole space is fetched and indexed in the background. Until then, a note by its name comes from
//! the list of names that lies with the log, and a search from the index image that another server
//! left there. Both are as current as the whole space. If there is no image, a call waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use memoranda_engine::{EngineError, Memory, SpaceFreshness, SpaceOptions};
use memoranda_remote::directory::SpaceGrant;
use serde_json::Value;

use super::spaces::{OpenSpace, OpenSpaces};
use crate::config::ServerConfig;

/// Tools whose answers come from the index, and from single notes that it names.
const SEARCHING: [&str; 6] =
    ["fetch", "read_note", "recall", "search", "search_memories", "search_notes"];
/// Tools that show one note, with the argument that names it.
const BY_NAME: [(&str, &str); 2] = [("fetch", "id"), ("read_note", "identifier")];
/// Argument by which a call asks for an earlier version.
const AS_OF_ARGUMENT: &str = "as_of";

/// The answer that comes early needs the processors first, also where others use them.
const COMPLETION_DELAY: Duration = Duration::from_secs(1);

/// State of the cache of an open space.
pub(crate) struct CacheState {
    is_whole: AtomicBool,
    is_completing: AtomicBool,
    /// Store on the index image, which answers until the space is whole.
    image: Mutex<ImageSlot>,
    /// Length of the log at which an image was offered last, in bytes, and the time of that.
    offered: Mutex<Option<(u64, Instant)>>,
}

#[derive(Default)]
enum ImageSlot {
    #[default]
    Untried,
    Missing,
    Open(Arc<Memory>),
}

impl CacheState {
    pub(crate) fn new(is_whole: bool) -> Self {
        Self {
            is_whole: AtomicBool::new(is_whole),
            is_completing: AtomicBool::new(false),
            image: Mutex::default(),
            offered: Mutex::default(),
        }
    }

    fn image(&self) -> MutexGuard<'_, ImageSlot> {
        self.image.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenSpaces {
    /// Returns what answers a reading call before the whole space is here. `None` if the whole space
    /// is here, or if the call has to wait for it.
    pub(crate) fn answering_early(
        &self,
        config: &ServerConfig,
        grant: &SpaceGrant,
        (tool, arguments): (&str, &Value),
    ) -> Option<Arc<Memory>> {
        if !SEARCHING.contains(&tool) {
            return None;
        }
        let open = self.open(config, grant).ok()?;
        if open.cache.is_whole.load(Ordering::Acquire) {
            return None;
        }
        let early = self.note_by_name(grant, tool, arguments);
        let early = early.or_else(|| self.image_of(&open, grant).transpose()).transpose();
        complete_in_background(&open, COMPLETION_DELAY);
        match early {
            Ok(early) => early,
            Err(error) => {
                tracing::debug!(%error, "nothing answers for a space before it is whole");
                None
            }
        }
    }

    /// Opens the notes that a call names.
    fn note_by_name(
        &self,
        grant: &SpaceGrant,
        tool: &str,
        arguments: &Value,
    ) -> Option<Result<Arc<Memory>, EngineError>> {
        let (_, argument) = BY_NAME.iter().find(|(name, _)| *name == tool)?;
        let is_past = arguments.get(AS_OF_ARGUMENT).is_some_and(|as_of| !as_of.is_null());
        let name = arguments.get(argument)?.as_str().filter(|_| !is_past)?;
        let log = self.directory.space_log(grant);
        let named = Memory::open_named(&self.options(), log, grant.head, name);
        named.map(|named| named.map(|memory| Arc::new((self.prepare)(memory)))).transpose()
    }

    /// Returns the index image of a space, as of the head that the grant knows.
    fn image_of(
        &self,
        open: &OpenSpace,
        grant: &SpaceGrant,
    ) -> Result<Option<Arc<Memory>>, EngineError> {
        let mut image = open.cache.image();
        if open.cache.is_whole.load(Ordering::Acquire) {
            return Ok(None);
        }
        if matches!(*image, ImageSlot::Untried) {
            let log = self.directory.space_log(grant);
            *image = match Memory::open_image(&self.options(), log, grant.head)? {
                Some(memory) => ImageSlot::Open(Arc::new((self.prepare)(memory))),
                None => ImageSlot::Missing,
            };
        }
        let ImageSlot::Open(memory) = &*image else { return Ok(None) };
        let memory = Arc::clone(memory);
        drop(image);
        match memory.catch_up_with_space(Some(grant.head))? {
            SpaceFreshness::Current => Ok(Some(memory)),
            SpaceFreshness::AsOf(_) => Ok(None),
        }
    }

    /// Leaves images of the indexes of open spaces with their logs, where they are wanted.
    pub(crate) fn offer_images(&self) {
        for open in self.open_spaces() {
            offer_image(&open);
        }
    }

    pub(super) fn options(&self) -> SpaceOptions {
        SpaceOptions { root: self.root.clone(), lock_patience: self.lock_patience }
    }
}

/// Fetches and indexes a space that is not whole.
pub(super) fn complete_if_cold(open: &Arc<OpenSpace>) {
    if !open.cache.is_whole.load(Ordering::Acquire) {
        complete_in_background(open, Duration::ZERO);
    }
}

/// Fetches and indexes the whole space, once at a time.
fn complete_in_background(open: &Arc<OpenSpace>, delay: Duration) {
    if open.cache.is_completing.swap(true, Ordering::SeqCst) {
        return;
    }
    let (memory, weak) = (Arc::clone(&open.memory), Arc::downgrade(open));
    let started = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(delay);
        let completed = memory.complete_space();
        let Some(open) = weak.upgrade() else { return };
        match completed {
            Ok(true) => {
                open.cache.is_whole.store(true, Ordering::Release);
                *open.cache.image() = ImageSlot::Missing;
                offer_image(&open);
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "a space cannot be completed at the moment"),
        }
        open.cache.is_completing.store(false, Ordering::SeqCst);
    });
    if started.is_err() {
        open.cache.is_completing.store(false, Ordering::SeqCst);
    }
}

/// Leaves an image of the index with the log, if the log has grown since the last offer, or if that was a
/// while ago: a database that crashed has lost its images.
fn offer_image(open: &OpenSpace) {
    /// Part of the log by which it has to grow.
    const GROWTH: u64 = 20;
    /// Time after which an image is offered again.
    const RENEWAL_INTERVAL: Duration = Duration::from_secs(600);
    let Ok(bytes) = open.memory.log_bytes() else { return };
    let mut offered = open.cache.offered.lock().unwrap_or_else(PoisonError::into_inner);
    let is_recent = offered.is_some_and(|(offered, at)| {
        bytes < offered + offered / GROWTH && at.elapsed() < RENEWAL_INTERVAL
    });
    if !open.cache.is_whole.load(Ordering::Acquire) || is_recent {
        return;
    }
    *offered = Some((bytes, Instant::now()));
    drop(offered);
    match open.memory.offer_image() {
        Ok(_) => {}
        Err(error) => tracing::debug!(%error, "an index image was not stored"),
    }
}
