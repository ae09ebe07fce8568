//! A vault as the cache of a space: the remote log acknowledges, and every cache has what it has.
//!
//! The log of these tests is in memory, so that it can be away or damaged at a chosen moment. The
//! tests of `memoranda-remote` run the same stories on PostgreSQL.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_core::id::ContentHash;
use memoranda_store::remote::{
    AppendOutcome, FrameContent, ImageHead, RemoteError, RemoteFrame, RemoteHead, RemoteLog,
    RemoteResult, StoredContent,
};
use memoranda_store::{CommitOutcome, SpaceFreshness, SpaceOptions, Store, StoreError};
use tempfile::TempDir;

use crate::support::{
    TestVault, change, found, made, main_project, make, operation, path, put, remove, sync, who,
};

/// A remote log in memory.
#[derive(Default)]
pub(crate) struct MemoryLog {
    frames: Mutex<Vec<RemoteFrame>>,
    contents: Mutex<Vec<FrameContent>>,
    is_away: AtomicBool,
    image: Mutex<Option<ImageHead>>,
    parts: Mutex<Vec<Vec<u8>>>,
    /// Number of contents that were asked for by their hashes.
    asked: AtomicUsize,
}

impl MemoryLog {
    fn check_reachable(&self) -> RemoteResult<()> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(RemoteError::Unavailable { reason: "it is switched off".into() });
        }
        Ok(())
    }

    fn seqs(&self) -> Vec<u64> {
        self.frames.lock().unwrap().iter().map(|frame| frame.seq).collect()
    }
}

impl RemoteLog for MemoryLog {
    fn device(&self) -> &str {
        "s0123456789ab"
    }

    fn head(&self) -> RemoteResult<RemoteHead> {
        self.check_reachable()?;
        Ok(RemoteHead { epoch: 1, seq: self.frames.lock().unwrap().len() as u64 })
    }

    fn read_after(&self, seq: u64, max_bytes: usize) -> RemoteResult<Vec<RemoteFrame>> {
        self.check_reachable()?;
        let mut bytes = 0;
        let frames = self.frames.lock().unwrap();
        let wanted = frames.iter().skip(seq as usize).take_while(|frame| {
            bytes += frame.bytes.len();
            frame.seq == seq + 1 || bytes <= max_bytes
        });
        Ok(wanted.cloned().collect())
    }

    fn append(
        &self,
        expected: RemoteHead,
        new: &[RemoteFrame],
        contents: &[FrameContent],
    ) -> RemoteResult<AppendOutcome> {
        self.check_reachable()?;
        let mut frames = self.frames.lock().unwrap();
        if expected.seq != frames.len() as u64 {
            let seq = frames.len() as u64;
            return Ok(AppendOutcome::Behind(RemoteHead { epoch: 1, seq }));
        }
        frames.extend(new.iter().cloned());
        self.contents.lock().unwrap().extend(contents);
        Ok(AppendOutcome::Appended)
    }

    fn content(&self, hash: ContentHash) -> RemoteResult<Option<StoredContent>> {
        self.check_reachable()?;
        self.asked.fetch_add(1, Ordering::SeqCst);
        let found = self.contents.lock().unwrap().iter().find(|at| at.hash == hash).copied();
        let frames = self.frames.lock().unwrap();
        Ok(found.map(|at| {
            let (from, length) = (at.offset as usize, at.stored_bytes as usize);
            let bytes = frames[at.seq as usize - 1].bytes[from..from + length].to_vec();
            StoredContent { bytes, raw_bytes: at.raw_bytes }
        }))
    }

    fn follow(&self, _: RemoteHead, _: Duration) -> RemoteResult<RemoteHead> {
        self.head()
    }

    fn find_image(&self, _: &str) -> RemoteResult<Option<ImageHead>> {
        Ok(*self.image.lock().unwrap())
    }

    fn image_part(&self, _: &str, _: ImageHead, part: u32) -> RemoteResult<Option<Vec<u8>>> {
        Ok(self.parts.lock().unwrap().get(part as usize).cloned())
    }

    fn put_image_part(&self, _: &str, _: ImageHead, part: u32, bytes: &[u8]) -> RemoteResult<()> {
        let mut parts = self.parts.lock().unwrap();
        parts.truncate(part as usize);
        parts.push(bytes.to_vec());
        Ok(())
    }

    fn finish_image(&self, _: &str, image: ImageHead) -> RemoteResult<()> {
        *self.image.lock().unwrap() = Some(image);
        Ok(())
    }
}

pub(crate) struct TestSpace {
    pub(crate) log: Arc<MemoryLog>,
    folder: TempDir,
}

impl TestSpace {
    pub(crate) fn new() -> Self {
        Self { log: Arc::default(), folder: TempDir::new().unwrap() }
    }

    /// Opens a cache with everything that the log has.
    pub(crate) fn open(&self, name: &str) -> Store {
        let store = self.open_lazily(name);
        store.catch_up_with_space(None).unwrap();
        sync(&store);
        store
    }

    /// Returns true if the log has an index image.
    pub(crate) fn has_image(&self) -> bool {
        self.log.image.lock().unwrap().is_some()
    }

    fn open_lazily(&self, name: &str) -> Store {
        let log: Arc<dyn RemoteLog> = Arc::<MemoryLog>::clone(&self.log);
        Store::open_space(&self.options(name), log).unwrap()
    }

    pub(crate) fn options(&self, name: &str) -> SpaceOptions {
        let root = self.folder.path().join(name);
        SpaceOptions { root, lock_patience: Duration::from_secs(30) }
    }
}

fn text_of(store: &Store, place: &str) -> Option<String> {
    let content = store.read(&main_project(), &path(place)).unwrap();
    content.map(|content| String::from_utf8(content.bytes).unwrap())
}

/// A story with every kind of change.
fn tell_story(store: &Store) {
    put(store, "plan.md", "# Plan\n\n- [goal] Ship it #work\n- depends_on [[Billing]]\n");
    put(store, "billing.md", "# Billing\n\nInvoices go out on Mondays.\n");
    put(store, "plan.md", "# Plan\n\n- [goal] Ship it twice #work\n- depends_on [[Billing]]\n");
    put(store, "old/list.md", "# List\n\nto be moved\n");
    let from = path("old/list.md");
    let content = b"# List\n\nmoved\n".to_vec();
    let action = FileAction::MoveFrom { from, content };
    made(make(store, change(vec![operation("new/list.md", ExpectedContent::Anything, action)])));
    // A move alone keeps the time of the content.
    put(store, "first.md", "# First\n\nas it was\n");
    let action = FileAction::MoveFrom {
        from: path("first.md"),
        content: b"# First\n\nas it was\n".to_vec(),
    };
    made(make(store, change(vec![operation("second.md", ExpectedContent::Anything, action)])));
    put(store, "gone.md", "# Gone\n\nfor a while\n");
    remove(store, "gone.md");
}

#[test]
fn each_cache_finds_what_the_other_wrote() {
    let space = TestSpace::new();
    let (a, b) = (space.open("a"), space.open("b"));
    tell_story(&a);
    assert_eq!(b.catch_up_with_space(None).unwrap(), SpaceFreshness::Current);
    assert_eq!(found(&b, "invoices"), ["main/billing.md"]);
    assert_eq!(text_of(&b, "new/list.md").as_deref(), Some("# List\n\nmoved\n"));
    assert_eq!((text_of(&b, "old/list.md"), text_of(&b, "gone.md")), (None, None));
    put(&b, "billing.md", "# Billing\n\nInvoices go out on Tuesdays.\n");
    a.catch_up_with_space(None).unwrap();
    assert_eq!(found(&a, "tuesdays"), ["main/billing.md"]);
    let commits =
        |store: &Store| store.snapshot().unwrap().history(&Default::default(), 100, 0).unwrap();
    assert_eq!(commits(&a), commits(&b));
    assert_eq!(a.fingerprint().unwrap(), b.fingerprint().unwrap());
}

#[test]
fn a_cold_cache_and_a_plain_vault_have_the_fingerprint_of_the_writer() {
    let space = TestSpace::new();
    let writer = space.open("writer");
    tell_story(&writer);
    let cold = space.open("cold");
    assert_eq!(cold.fingerprint().unwrap(), writer.fingerprint().unwrap());
    // Files and log equal those of a vault without a remote log.
    let plain = TestVault::new();
    copy_with_times(writer.home(), &plain.home());
    std::fs::create_dir_all(plain.folder().join("state")).unwrap();
    std::fs::write(plain.folder().join("state/device"), space.log.device()).unwrap();
    let vault = plain.open();
    sync(&vault);
    assert_eq!(vault.fingerprint().unwrap(), writer.fingerprint().unwrap());
    let scratch = TempDir::new().unwrap();
    let report = cold.check(&scratch.path().join("check")).unwrap();
    assert!(report.agrees(), "{report:?}");
}

pub(crate) fn copy_with_times(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_with_times(&source, &target);
        } else {
            std::fs::copy(&source, &target).unwrap();
            let modified = entry.metadata().unwrap().modified().unwrap();
            let copy = std::fs::File::options().write(true).open(&target).unwrap();
            copy.set_modified(modified).unwrap();
        }
    }
}

#[test]
fn writers_that_race_lose_nothing_and_number_without_gaps() {
    const WRITES: usize = 12;
    let space = TestSpace::new();
    let stores: Vec<Store> = ["a", "b", "c"].map(|name| space.open(name)).into();
    std::thread::scope(|scope| {
        for (n, store) in stores.iter().enumerate() {
            scope.spawn(move || {
                for i in 0..WRITES {
                    put(store, &format!("of-{n}/{i}.md"), &format!("# Note {n} {i}\n"));
                    append_line(store, "shared.md", &format!("{n} {i}"));
                }
            });
        }
    });
    let total = stores.len() * WRITES * 2;
    assert_eq!(space.log.seqs(), (1..=total as u64).collect::<Vec<_>>());
    let cold = space.open("cold");
    let lines = text_of(&cold, "shared.md").unwrap();
    assert_eq!(lines.lines().count(), stores.len() * WRITES, "{lines}");
    for store in &stores {
        store.catch_up_with_space(None).unwrap();
        assert_eq!(store.fingerprint().unwrap(), cold.fingerprint().unwrap());
    }
}

/// Adds a line to a file, with a decision that reads the file under the lock.
fn append_line(store: &Store, place: &str, line: &str) {
    let outcome = store.transact(&who("test"), |view| {
        let found = view.read(&main_project(), &path(place))?;
        let mut bytes = found.map(|found| found.bytes.to_vec()).unwrap_or_default();
        bytes.extend_from_slice(format!("{line}\n").as_bytes());
        let action = FileAction::Put(bytes);
        Ok::<_, StoreError>(change(vec![operation(place, ExpectedContent::Anything, action)]))
    });
    made(outcome.unwrap());
}

#[test]
fn a_log_that_is_away_refuses_writes_and_lets_reads_go_on() {
    let space = TestSpace::new();
    let store = space.open("a");
    put(&store, "kept.md", "# Kept\n\nstill here\n");
    store.catch_up_with_space(None).unwrap();
    space.log.is_away.store(true, Ordering::SeqCst);
    let freshness = store.catch_up_with_space(None).unwrap();
    assert!(matches!(freshness, SpaceFreshness::AsOf(_)), "{freshness:?}");
    assert_eq!(found(&store, "still"), ["main/kept.md"]);
    let action = FileAction::Put(b"# Lost\n".to_vec());
    let wanted = change(vec![operation("lost.md", ExpectedContent::Absent, action)]);
    let refused = store.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone()));
    let refused = refused.unwrap_err();
    assert!(refused.to_string().contains("nothing was written"), "{refused}");
    assert_eq!(text_of(&store, "lost.md"), None);
    space.log.is_away.store(false, Ordering::SeqCst);
    assert!(matches!(make(&store, wanted), CommitOutcome::Committed(_)));
    assert_eq!(store.catch_up_with_space(None).unwrap(), SpaceFreshness::Current);
}

#[test]
fn frames_that_do_not_continue_the_chain_are_refused() {
    let space = TestSpace::new();
    let writer = space.open("a");
    put(&writer, "one.md", "# One\n");
    put(&writer, "two.md", "# Two\n");
    let whole = space.log.frames.lock().unwrap().clone();
    let mut flipped = whole.clone();
    let middle = flipped[1].bytes.len() / 2;
    flipped[1].bytes[middle] ^= 1;
    let mut swapped = whole.clone();
    swapped.swap(0, 1);
    let twice = vec![whole[0].clone(), whole[0].clone()];
    for (n, frames) in [flipped, swapped, twice].into_iter().enumerate() {
        *space.log.frames.lock().unwrap() = frames;
        let cold = space.open_lazily(&format!("cold-{n}"));
        let refused = cold.catch_up_with_space(None).unwrap_err();
        assert!(refused.to_string().contains("damaged"), "{n}: {refused}");
        assert_eq!(text_of(&cold, "two.md"), None, "{n}");
    }
}

#[test]
fn what_would_not_reach_the_log_is_refused() {
    let space = TestSpace::new();
    let store = space.open("a");
    let folder = TempDir::new().unwrap();
    let name = memoranda_core::id::ProjectName::parse("elsewhere").unwrap();
    let added = store.add_project(&name, folder.path(), memoranda_store::HardLinkPolicy::Refuse);
    assert!(added.unwrap_err().to_string().contains("a space of a team server cannot"));
    let archive = store.import(&mut &b""[..]).unwrap_err();
    assert!(archive.to_string().contains("a space of a team server cannot"), "{archive}");
}

#[test]
fn a_content_that_the_copy_lost_comes_from_the_remote_log() {
    let space = TestSpace::new();
    let store = space.open("a");
    let text = "# Long\n\n".to_owned() + &"the same words again and again\n".repeat(50);
    let hash = made(make(
        &store,
        change(vec![operation(
            "long.md",
            ExpectedContent::Absent,
            FileAction::Put(text.clone().into_bytes()),
        )]),
    ))
    .files[0]
        .after
        .unwrap();
    put(&store, "long.md", "# Short\n");
    let segment = segment_below(space.folder.path()).unwrap();
    let mut bytes = std::fs::read(&segment).unwrap();
    // The body of the first frame, behind a header of 16 and a meta of some 200 bytes.
    bytes[300..320].fill(0);
    std::fs::write(&segment, bytes).unwrap();
    assert_eq!(store.content(hash).unwrap(), text.as_bytes());
}

fn segment_below(folder: &Path) -> Option<PathBuf> {
    for entry in std::fs::read_dir(folder).ok()? {
        let path = entry.ok()?.path();
        if path.ends_with("00000001.log") {
            return Some(path);
        }
        if path.is_dir()
            && let Some(found) = segment_below(&path)
        {
            return Some(found);
        }
    }
    None
}

/// Opens a store that answers from the image of a space.
pub(crate) fn open_image(space: &TestSpace, name: &str) -> Store {
    let log: Arc<dyn RemoteLog> = Arc::<MemoryLog>::clone(&space.log);
    let head = log.head().unwrap();
    Store::open_image(&space.options(name), log, head).unwrap().unwrap()
}

fn open_named(space: &TestSpace, name: &str) -> Option<Store> {
    let log: Arc<dyn RemoteLog> = Arc::<MemoryLog>::clone(&space.log);
    let head = log.head().unwrap();
    Store::open_named(&space.options("named"), log, head, name).unwrap()
}

#[test]
fn an_image_answers_like_the_cache_that_made_it() {
    let space = TestSpace::new();
    let writer = space.open("writer");
    tell_story(&writer);
    assert!(writer.put_image().unwrap());
    let provisional = open_image(&space, "cold");
    assert!(provisional.is_indexed().unwrap());
    assert_eq!(provisional.fingerprint().unwrap(), writer.fingerprint().unwrap());
    assert_eq!(found(&provisional, "invoices"), ["main/billing.md"]);
    for place in ["plan.md", "billing.md", "new/list.md", "old/list.md", "gone.md"] {
        assert_eq!(text_of(&provisional, place), text_of(&writer, place), "{place}");
    }
    let commits =
        |store: &Store| store.snapshot().unwrap().history(&Default::default(), 100, 0).unwrap();
    assert_eq!(commits(&provisional), commits(&writer));
}

#[test]
fn an_image_is_brought_up_to_the_head_of_the_log() {
    let space = TestSpace::new();
    let writer = space.open("writer");
    tell_story(&writer);
    writer.put_image().unwrap();
    put(&writer, "billing.md", "# Billing\n\nInvoices go out on Tuesdays.\n");
    put(&writer, "fresh/plan.md", "# Fresh\n\nafter the image\n");
    remove(&writer, "plan.md");
    let from = path("new/list.md");
    let content = b"# List\n\nmoved\n".to_vec();
    let action = FileAction::MoveFrom { from, content };
    let moved = operation("newest/list.md", ExpectedContent::Anything, action);
    made(make(&writer, change(vec![moved])));
    let provisional = open_image(&space, "cold");
    assert_eq!(provisional.fingerprint().unwrap(), writer.fingerprint().unwrap());
    assert_eq!(found(&provisional, "tuesdays"), ["main/billing.md"]);
    assert_eq!(found(&provisional, "moved"), ["main/newest/list.md"]);
    for place in ["plan.md", "billing.md", "fresh/plan.md", "new/list.md", "newest/list.md"] {
        assert_eq!(text_of(&provisional, place), text_of(&writer, place), "{place}");
    }
    // And further, as it is used.
    put(&writer, "fresh/plan.md", "# Fresh\n\nafter the opening\n");
    provisional.catch_up_with_space(None).unwrap();
    assert_eq!(found(&provisional, "opening"), ["main/fresh/plan.md"]);
}

#[test]
fn a_provisional_store_changes_nothing_and_leaves_nothing() {
    let space = TestSpace::new();
    let writer = space.open("writer");
    tell_story(&writer);
    writer.put_image().unwrap();
    let head = space.log.head().unwrap();
    let provisional = open_image(&space, "cold");
    let home = provisional.home().to_owned();
    let action = FileAction::Put(b"# Lost\n".to_vec());
    let wanted = change(vec![operation("lost.md", ExpectedContent::Absent, action)]);
    let refused = provisional.transact(&who("test"), |_| Ok::<_, StoreError>(wanted.clone()));
    assert!(matches!(refused, Err(StoreError::NotInSpace { .. })), "{refused:?}");
    // A scan would find no files, and record them as removed.
    let scanned = provisional.sync(&mut |_| {});
    assert!(matches!(scanned, Err(StoreError::NotInSpace { .. })), "{scanned:?}");
    assert_eq!(space.log.head().unwrap(), head);
    assert!(home.exists());
    drop(provisional);
    assert!(!home.exists());
}

#[test]
fn a_note_is_found_by_any_of_its_names_without_the_index() {
    let space = TestSpace::new();
    let writer = space.open("writer");
    tell_story(&writer);
    put(&writer, "notes/long name.md", "---\ntitle: Other Title\naliases: [Nick]\n---\n# x\n");
    writer.put_image().unwrap();
    for name in ["Other Title", "notes/long name.md", "notes/long-name", "nick", "long name"] {
        space.log.asked.store(0, Ordering::SeqCst);
        let named = open_named(&space, name).unwrap_or_else(|| panic!("{name} is not found"));
        assert_eq!(text_of(&named, "notes/long name.md"), text_of(&writer, "notes/long name.md"));
        assert_eq!(space.log.asked.load(Ordering::SeqCst), 1, "{name}");
        let row = |store: &Store| {
            let snapshot = store.snapshot().unwrap();
            let mut file =
                snapshot.file(&main_project(), &path("notes/long name.md")).unwrap().unwrap();
            file.id = 0;
            file
        };
        assert_eq!(row(&named), row(&writer), "{name}");
    }
    assert!(open_named(&space, "plan.m").is_none());
    assert!(open_named(&space, "gone").is_none());
    // What the records behind the image say counts.
    put(&writer, "billing.md", "# Billing\n\nInvoices go out on Tuesdays.\n");
    remove(&writer, "plan.md");
    put(&writer, "late.md", "---\ntitle: Came Late\n---\n# Late\n");
    let text = |name: &str, place: &str| text_of(&open_named(&space, name)?, place);
    assert_eq!(text("billing", "billing.md"), text_of(&writer, "billing.md"));
    assert_eq!(text("Came Late", "late.md"), text_of(&writer, "late.md"));
    assert_eq!(text("plan", "plan.md"), None);
}

#[test]
fn an_image_of_another_epoch_or_a_damaged_one_is_not_used() {
    let space = TestSpace::new();
    let writer = space.open("writer");
    tell_story(&writer);
    writer.put_image().unwrap();
    let log = || -> Arc<dyn RemoteLog> { Arc::<MemoryLog>::clone(&space.log) };
    let (head, options) = (space.log.head().unwrap(), space.options("cold"));
    let later = RemoteHead { epoch: 2, ..head };
    assert!(Store::open_image(&options, log(), later).unwrap().is_none());
    assert!(Store::open_named(&options, log(), later, "plan").unwrap().is_none());
    // Another log, of the same length.
    let image = space.log.image.lock().unwrap().unwrap();
    *space.log.image.lock().unwrap() = Some(ImageHead { seq: image.seq - 1, ..image });
    assert!(Store::open_image(&options, log(), head).unwrap().is_some());
    space.log.parts.lock().unwrap()[1].truncate(5_000);
    assert!(Store::open_image(&options, log(), head).unwrap().is_none());
    space.log.parts.lock().unwrap()[0].clear();
    assert!(Store::open_named(&options, log(), head, "plan").unwrap().is_none());
}
