//! Index images: making one of a whole cache, and answering from one.

use std::io::{Read, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use super::Provisional;
use crate::error::{ErrorContext as _, Result};
use crate::files::state_file::StateFile;
use crate::files::state_files;
use crate::index::image::{self, ImageState};
use crate::index::{IndexFile, history};
use crate::log::LogFolder;
use crate::remote::{ImageHead, RemoteHead, RemoteLog};
use crate::space::RemoteSpace;
use crate::vault::OpenOptions;
use crate::vault::lock::{LockWait, VaultLock};
use crate::{SpaceOptions, Store, clock, log, threads};

/// Length of a log from which an image is worth its room. A shorter one is read in the same time.
const MIN_IMAGE_LOG_BYTES: u64 = 256 << 10;
/// Bytes of the index in one part of an image.
const PART_BYTES: usize = 4 << 20;
/// Number of parts that are fetched before they are needed.
const PARTS_AHEAD: usize = 2;

impl Store {
    /// Leaves an image of the index with the remote log, if one is wanted. Returns true if it did.
    pub fn offer_image(&self) -> Result<bool> {
        let Some(space) = self.inner.space.as_ref().filter(|_| !self.inner.is_provisional()) else {
            return Ok(false);
        };
        let log_bytes = self.inner.log.size(&self.inner.vault.device)?;
        if log_bytes < MIN_IMAGE_LOG_BYTES || !space.log().claim_image(&format(), log_bytes)? {
            return Ok(false);
        }
        self.put_image()
    }

    /// Leaves an image of the index with the remote log. Returns false if the index is not whole.
    pub fn put_image(&self) -> Result<bool> {
        let inner = &self.inner;
        let Some(space) = &inner.space else { return Ok(false) };
        // The copy contains everything that was acknowledged before this.
        inner.ask(|_| Ok(()))?;
        let copy = ImageFile(
            self.index_path().with_extension(format!("image-{}", clock::new_commit_id())),
        );
        inner.index.copy_to(&copy.0)?;
        let db = IndexFile::at(copy.0.clone()).open_immutable()?;
        let Some(state) = image::image_state(&db, &inner.vault.device)? else { return Ok(false) };
        let names = image::names_text(&db, &state.projects)?;
        drop(db);
        let doing = || "copy the index".to_owned();
        let mut file = state_files::open_read(&copy.0).doing(doing)?;
        let bytes = file.metadata().doing(doing)?.len();
        let parts = 1 + bytes.div_ceil(PART_BYTES as u64) as u32;
        let log_bytes = inner.log.size(&inner.vault.device)?;
        let head = ImageHead { epoch: space.epoch(), seq: state.cursor.seq, parts, log_bytes };
        let put = |part: u32, bytes: &[u8]| {
            let packed = lz4_flex::block::compress_prepend_size(bytes);
            space.log().put_image_part(&format(), head, part, &packed)
        };
        put(0, names.as_bytes())?;
        for part in 1..parts {
            inner.stop_if_closing()?;
            let mut chunk = Vec::new();
            (&mut file as &mut dyn Read)
                .take(PART_BYTES as u64)
                .read_to_end(&mut chunk)
                .doing(doing)?;
            put(part, &chunk)?;
        }
        space.log().finish_image(&format(), head)?;
        Ok(true)
    }

    /// Opens a store that answers from the image of a space as of a head of its log. `None` if there
    /// is no image that this program can use.
    pub fn open_image(
        options: &SpaceOptions,
        log: Arc<dyn RemoteLog>,
        head: RemoteHead,
    ) -> Result<Option<Self>> {
        let image = log.find_image(&format())?.filter(|image| image.epoch == head.epoch);
        let Some(image) = image else { return Ok(None) };
        let (own, open) = Provisional::new(options, log.device(), head.epoch)?;
        let index = Provisional::index(&open)?;
        if !fetch_index(&*log, image, &index)? {
            return Ok(None);
        }
        let db = index.adopt()?;
        if !IndexFile::is_current(&db) {
            return Ok(None);
        }
        let Some(state) = image::image_state(&db, log.device())? else { return Ok(None) };
        image::forget_folders(&db)?;
        index.finish_adoption(&db)?;
        drop(db);
        own.make_projects(&open.home, state.projects.iter().map(String::as_str))?;
        if !begin_log(&*log, &open, &state)? {
            return Ok(None);
        }
        let space = RemoteSpace::of_cache(log, head.epoch);
        let store = Self::open_provisional(open, space, own)?;
        store.catch_up_with_space(Some(head))?;
        Ok(Some(store))
    }
}

/// Name of the form of images: those of other versions of this program are not read.
pub(super) fn format() -> String {
    format!("1 {}", IndexFile::format_name())
}

/// Restores a part of an image; `None` if it is damaged.
pub(super) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    lz4_flex::block::decompress_size_prepended(packed).ok()
}

/// Fetches all parts of the index into its file. Returns false if the image was replaced meanwhile.
fn fetch_index(log: &dyn RemoteLog, image: ImageHead, index: &IndexFile) -> Result<bool> {
    let doing = || "fetch the image of an index".to_owned();
    let mut file: StateFile = state_files::open_private(index.path()).doing(doing)?;
    // The next parts are on their way while one is unpacked and written.
    std::thread::scope(|scope| {
        let (fetched, parts) = mpsc::sync_channel(PARTS_AHEAD);
        threads::start(scope, move || {
            for part in 1..image.parts {
                if fetched.send(log.image_part(&format(), image, part)).is_err() {
                    return;
                }
            }
        })?;
        for _ in 1..image.parts {
            let Ok(packed) = parts.recv() else { return Ok(false) };
            let Some(bytes) = packed?.and_then(|packed| unpack(&packed)) else { return Ok(false) };
            file.write_all(&bytes).doing(doing)?;
        }
        Ok(true)
    })
}

/// Begins the copy of the log with the last record that the index contains, so that the records behind
/// it continue the chain. Returns false if the log has another record there.
fn begin_log(log: &dyn RemoteLog, open: &OpenOptions, state: &ImageState) -> Result<bool> {
    let history::LogCursor { position: end, seq, .. } = state.cursor;
    let (commit, at) = state.last;
    let frames = log.read_after(seq.saturating_sub(1), 1)?;
    let Some(frame) = frames.first() else { return Ok(false) };
    let fits = at.segment == end.segment && at.offset + frame.bytes.len() as u64 == end.offset;
    if frame.seq != seq || frame.commit != commit || !fits {
        return Ok(false);
    }
    let state_folder = open.home.join(".memoranda");
    let folder: LogFolder = log::folder(&state_folder);
    folder.begin_at(log.device(), at, &frame.bytes)?;
    // Nothing before the end is applied to files: none of them are here.
    let lock = VaultLock::open(&state_folder.join("lock"))?;
    lock.acquire(LockWait::Write(open.lock_patience))?.set_applied(log.device(), end)?;
    Ok(true)
}

/// A copy of the index that is removed when it is dropped.
struct ImageFile(PathBuf);

impl Drop for ImageFile {
    fn drop(&mut self) {
        state_files::remove(&self.0).ok();
    }
}
