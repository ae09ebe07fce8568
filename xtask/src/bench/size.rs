//! All measurements on a vault of one size. Raw work and ours alternate, so that a busy moment of
//! the machine affects both.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use xtask::vault::{self, SampleNote};

use super::files::{self, AppendLog, ReplacedFiles};
use super::fulltext::{FullTextTable, HITS};
use super::options::BenchEffort;
use super::product::{self, BenchVault};
use super::samples::TimeSamples;
use super::this_program;
use crate::{Result, workspace};

/// Repetitions of work that reads every note.
const PASSES: usize = 5;

/// Maximum number of notes of a vault that is indexed repeatedly. A larger one takes long enough
/// to give a stable time.
const REPEATED_INDEX: usize = 10_000;

/// Pause between two writes. No model is faster; back-to-back writes are measured separately.
pub(super) const BETWEEN_WRITES: Duration = Duration::from_millis(3);

/// Measurements on a vault of one size.
#[derive(Default)]
pub(super) struct SizeResults {
    pub(super) notes: usize,
    pub(super) bytes: u64,
    pub(super) raw: RawSamples,
    pub(super) ours: ProductSamples,
}

/// Measurements of the raw work.
#[derive(Default)]
pub(super) struct RawSamples {
    pub(super) append: TimeSamples,
    pub(super) rename: TimeSamples,
    pub(super) insert: TimeSamples,
    pub(super) query: TimeSamples,
    pub(super) walk: TimeSamples,
    pub(super) build: TimeSamples,
}

impl RawSamples {
    /// Returns the median time of all steps of a durable write.
    pub(super) fn write_p50(&self) -> Duration {
        self.append.p50() + self.rename.p50() + self.insert.p50()
    }
}

/// The raw steps of a durable write.
pub(super) struct RawWrite {
    log: AppendLog,
    replaced: ReplacedFiles,
    full_text: FullTextTable,
}

impl RawWrite {
    /// Prepares the steps in a small vault.
    pub(super) fn create(folder: &Path) -> Result<Self> {
        let mut full_text = FullTextTable::create(&folder.join("raw-steps.db"))?;
        full_text.build(&(0..100).map(vault::note).collect::<Vec<_>>())?;
        Self::with_table(folder, full_text)
    }

    fn with_table(folder: &Path, full_text: FullTextTable) -> Result<Self> {
        Ok(Self {
            log: AppendLog::create(folder)?,
            replaced: ReplacedFiles::create(folder)?,
            full_text,
        })
    }

    /// Writes a note and records the time of each step.
    pub(super) fn write(&mut self, note: &SampleNote, raw: &mut RawSamples) -> Result<()> {
        raw.append.time(|| self.log.append())?;
        raw.rename.time(|| self.replaced.write(&note.text))?;
        raw.insert.time(|| self.full_text.insert(note))
    }
}

/// Measurements of the engine.
#[derive(Default)]
pub(super) struct ProductSamples {
    pub(super) first_index: TimeSamples,
    pub(super) resync: TimeSamples,
    pub(super) write: TimeSamples,
    pub(super) search: TimeSamples,
    /// Search by words only.
    pub(super) words: TimeSamples,
    /// Embedding of a query.
    pub(super) query_vector: TimeSamples,
    /// Embeddings of all passages, one after the other, without parallel work.
    pub(super) vectors: TimeSamples,
    /// Resident bytes of a separate process after the query mix; `None` if the system does not
    /// report them.
    pub(super) resident: Option<u64>,
}

impl ProductSamples {
    /// Returns the minimum time of the first index without embeddings. They run in parallel with
    /// the other work, so omitting them saves at most their own time.
    pub(super) fn index_without_vectors(&self) -> Duration {
        self.first_index.p50().saturating_sub(self.vectors.p50())
    }
}

/// The folders of a measurement.
struct BenchFolders {
    folder: PathBuf,
    home: PathBuf,
    cache: PathBuf,
    /// The folder of the only project.
    main: PathBuf,
}

pub(super) fn measure(folder: &Path, notes: usize, effort: BenchEffort) -> Result<SizeResults> {
    let home = folder.join("home");
    let folders = BenchFolders {
        folder: folder.to_owned(),
        main: home.join("main"),
        home,
        cache: folder.join("cache"),
    };
    vault::write(&folders.main, notes)?;
    let (found, bytes) = files::walk(&folders.main)?;
    if found != notes {
        return Err(format!("{notes} notes were written, {found} found").into());
    }
    let mut at = SizeResults { notes, bytes, ..SizeResults::default() };
    let (full_text, product) = measure_first_index(&mut at, &folders)?;
    for _ in 0..PASSES {
        at.raw.walk.time(|| files::walk(&folders.main))?;
        at.ours.resync.time(|| product.sync())?;
    }
    measure_search(&mut at, &full_text, &product, effort)?;
    at.ours.resident = measure_resident_bytes(&folders, notes);
    measure_writes(&mut at, full_text, &product, &folders, effort)?;
    Ok(at)
}

/// Measures the first index of all notes, repeatedly.
fn measure_first_index(
    at: &mut SizeResults,
    folders: &BenchFolders,
) -> Result<(FullTextTable, BenchVault)> {
    let texts: Vec<SampleNote> = (0..at.notes).map(vault::note).collect();
    let passes = if at.notes <= REPEATED_INDEX { 3 } else { 1 };
    let mut made = None;
    for pass in 0..passes {
        drop(made.take());
        for old in [&folders.home.join(".memoranda"), &folders.cache] {
            if old.exists() {
                fs::remove_dir_all(old)?;
            }
        }
        fs::create_dir_all(&folders.cache)?;
        let mut full_text = FullTextTable::create(&folders.folder.join(format!("raw-{pass}.db")))?;
        at.raw.build.time(|| full_text.build(&texts))?;
        let product = at.ours.first_index.time(|| {
            let product = BenchVault::open(&folders.home, &folders.cache)?;
            product.sync()?;
            Ok(product)
        })?;
        made = Some((full_text, product));
    }
    let passages: Vec<_> = texts.iter().flat_map(|note| product::passages(&note.text)).collect();
    for _ in 0..passes {
        let count = || Ok(passages.iter().filter(|passage| product::embed(passage)).count());
        if at.ours.vectors.time(count)? == 0 {
            return Err("no passage has a vector".into());
        }
    }
    made.ok_or_else(|| "nothing was indexed".into())
}

fn measure_search(
    at: &mut SizeResults,
    full_text: &FullTextTable,
    product: &BenchVault,
    effort: BenchEffort,
) -> Result<()> {
    let mix = vault::query_mix(at.notes);
    for round in 0..=effort.rounds() {
        if round == 1 {
            // The first round fills the caches of both.
            at.raw.query = TimeSamples::default();
            (at.ours.search, at.ours.words) = Default::default();
        }
        for query in &mix {
            let (expression, typed) = (query.expression(), query.typed_text());
            let expected = at.raw.query.time(|| full_text.query(&expression))?;
            let found = [
                at.ours.words.time(|| product.search_words(&typed))?,
                at.ours.search.time(|| product.search(&typed))?,
            ];
            at.ours.query_vector.time(|| Ok(product::embed(&typed)))?;
            // Search by meaning or with a corrected spelling finds words that no note contains.
            if found.iter().any(|&found| (found == 0 && expected > 0) || found > HITS) {
                return Err(format!("`{typed}`: {found:?} hits, raw {expected}").into());
            }
        }
    }
    Ok(())
}

fn measure_writes(
    at: &mut SizeResults,
    full_text: FullTextTable,
    product: &BenchVault,
    folders: &BenchFolders,
    effort: BenchEffort,
) -> Result<()> {
    product.serve()?;
    let mut steps = RawWrite::with_table(&folders.folder, full_text)?;
    for number in at.notes..at.notes + effort.repetitions() {
        let note = vault::note(number);
        std::thread::sleep(BETWEEN_WRITES);
        steps.write(&note, &mut at.raw)?;
        std::thread::sleep(BETWEEN_WRITES);
        at.ours.write.time(|| product.write(&note.path, &note.text))?;
    }
    Ok(())
}

/// Measures a separate process, because this one contains more than a vault.
fn measure_resident_bytes(folders: &BenchFolders, notes: usize) -> Option<u64> {
    let mut command = this_program("memory").ok()?;
    command.arg(&folders.home).arg(&folders.cache).arg(notes.to_string());
    match workspace::output(&mut command) {
        Ok(bytes) => bytes.trim().parse().ok(),
        Err(e) => {
            println!("bench: resident memory is not measured: {e}");
            None
        }
    }
}
