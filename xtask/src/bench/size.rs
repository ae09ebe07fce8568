//! Everything that is measured on a vault of one size. Raw work and ours take turns, so that a
//! busy moment of the machine falls on both.

use std::fs;
use std::path::Path;
use std::time::Duration;

use xtask::vault::{self, Note, Query};

use super::files::{self, Log, Replaced};
use super::fulltext::{FullText, HITS};
use super::options::Effort;
use super::product::Product;
use super::samples::{Samples, once};
use super::this_program;
use crate::{Result, workspace};

/// How often work that touches every note is repeated.
const PASSES: usize = 5;

/// What was measured on a vault of one size.
pub(super) struct AtSize {
    pub(super) notes: usize,
    pub(super) bytes: u64,
    pub(super) raw: Raw,
    /// Nothing if the engine cannot be opened yet.
    pub(super) ours: Option<Ours>,
}

/// The same work done raw.
#[derive(Default)]
pub(super) struct Raw {
    pub(super) append: Samples,
    pub(super) rename: Samples,
    pub(super) insert: Samples,
    pub(super) query: Samples,
    pub(super) walk: Samples,
    pub(super) build: Duration,
}

impl Raw {
    /// The steps of a durable write, one after the other.
    pub(super) fn write_p50(&self) -> Duration {
        self.append.p50() + self.rename.p50() + self.insert.p50()
    }
}

/// What the engine takes for it.
#[derive(Default)]
pub(super) struct Ours {
    pub(super) first_index: Duration,
    pub(super) resync: Samples,
    pub(super) write: Samples,
    pub(super) search: Samples,
    /// Bytes resident in a process of its own after the query mix; nothing where the system
    /// does not say.
    pub(super) resident: Option<u64>,
}

pub(super) fn measure(folder: &Path, notes: usize, effort: Effort) -> Result<AtSize> {
    let (home, cache) = (folder.join("home"), folder.join("cache"));
    let main = home.join("main");
    fs::create_dir_all(&cache)?;
    vault::write(&main, notes)?;

    let mut raw = Raw::default();
    for _ in 0..PASSES {
        raw.walk.time(|| files::walk(&main))?;
    }
    let (found, bytes) = files::walk(&main)?;
    if found != notes {
        return Err(format!("{notes} notes were written, {found} found").into());
    }
    let mut full_text = FullText::create(&folder.join("raw.db"))?;
    {
        let texts: Vec<Note> = (0..notes).map(vault::note).collect();
        raw.build = once(|| full_text.build(&texts))?.0;
    }

    let mut product = index(&home, &cache)?;
    search(&mut raw, &full_text, product.as_mut(), notes, effort)?;
    if let Some((product, ours)) = &mut product {
        for _ in 0..PASSES {
            raw.walk.time(|| files::walk(&main))?;
            ours.resync.time(|| product.sync())?;
        }
        ours.resident = resident(&home, &cache, notes);
    }
    write(&mut raw, &full_text, product.as_mut(), folder, notes, effort)?;
    Ok(AtSize { notes, bytes, raw, ours: product.map(|(_, ours)| ours) })
}

/// Opens the vault for the first time.
fn index(home: &Path, cache: &Path) -> Result<Option<(Product, Ours)>> {
    let opened = once(|| {
        let mut product = Product::open(home, cache)?;
        product.sync()?;
        Ok(product)
    });
    match opened {
        Ok((first_index, product)) => Ok(Some((product, Ours { first_index, ..Ours::default() }))),
        Err(e) => {
            println!("bench: ours is not measured: {e}");
            Ok(None)
        }
    }
}

fn search(
    raw: &mut Raw,
    full_text: &FullText,
    mut product: Option<&mut (Product, Ours)>,
    notes: usize,
    effort: Effort,
) -> Result<()> {
    let mix: Vec<(Query, String)> =
        vault::query_mix(notes).into_iter().map(|query| (query.clone(), query.typed())).collect();
    // The first round fills caches, for both, and is not counted.
    for round in 0..=effort.rounds() {
        for (query, typed) in &mix {
            let expression = query.expression();
            let mut uncounted = Samples::default();
            let samples = if round == 0 { &mut uncounted } else { &mut raw.query };
            let expected = samples.time(|| full_text.query(&expression))?;
            if let Some((product, ours)) = &mut product {
                let samples = if round == 0 { &mut uncounted } else { &mut ours.search };
                let found = samples.time(|| product.search(typed))?;
                if (found == 0) != (expected == 0) || found > HITS {
                    return Err(format!("`{typed}`: {found} hits, raw {expected}").into());
                }
            }
        }
    }
    Ok(())
}

fn write(
    raw: &mut Raw,
    full_text: &FullText,
    mut product: Option<&mut (Product, Ours)>,
    folder: &Path,
    notes: usize,
    effort: Effort,
) -> Result<()> {
    let mut log = Log::create(folder)?;
    let mut replaced = Replaced::create(folder)?;
    for number in notes..notes + effort.repetitions() {
        let note = vault::note(number);
        raw.append.time(|| log.append())?;
        raw.rename.time(|| replaced.write(&note.text))?;
        raw.insert.time(|| full_text.insert(&note))?;
        if let Some((product, ours)) = &mut product {
            ours.write.time(|| product.write(&note.path, &note.text))?;
        }
    }
    Ok(())
}

/// Asks a process of its own, because this one holds more than a vault.
fn resident(home: &Path, cache: &Path, notes: usize) -> Option<u64> {
    let mut command = this_program("memory").ok()?;
    command.arg(home).arg(cache).arg(notes.to_string());
    match workspace::output(&mut command) {
        Ok(bytes) => bytes.trim().parse().ok(),
        Err(e) => {
            println!("bench: resident memory is not measured: {e}");
            None
        }
    }
}
