//! Receives items, problems and progress from a reader.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::rc::Rc;

use crate::error::Result;
use crate::item::ImportItem;

/// A part of the source that could not be imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportProblem {
    /// Location: a file, a line, or an index in a list.
    pub at: String,
    /// Description of the problem.
    pub message: String,
}

/// Progress of a reader in the units of its source (bytes, files, rows).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ImportProgress {
    /// Number of units read.
    pub done: u64,
    /// Total number of units; 0 if unknown.
    pub total: u64,
}

/// Receives the output of a reader.
pub struct ImportSink<'a> {
    keep: &'a mut dyn FnMut(ImportItem, ImportProgress) -> Result<()>,
    progress: Rc<Cell<ImportProgress>>,
    /// Parts of the source that could not be imported.
    pub problems: Vec<ImportProblem>,
    /// Number of intentionally omitted parts by reason.
    pub skipped: BTreeMap<&'static str, usize>,
}

impl<'a> ImportSink<'a> {
    /// Creates a sink that passes every item to `keep`.
    pub fn new(keep: &'a mut dyn FnMut(ImportItem, ImportProgress) -> Result<()>) -> Self {
        Self { keep, progress: Rc::default(), problems: Vec::new(), skipped: BTreeMap::default() }
    }

    /// Adds an item.
    pub(crate) fn add_item(&mut self, item: ImportItem) -> Result<()> {
        (self.keep)(item, self.progress.get())
    }

    /// Reports a part of the source that could not be imported.
    pub(crate) fn add_problem(&mut self, at: impl Into<String>, message: impl Into<String>) {
        self.problems.push(ImportProblem { at: at.into(), message: message.into() });
    }

    /// Counts an intentionally omitted part.
    pub(crate) fn skip(&mut self, why: &'static str) {
        *self.skipped.entry(why).or_default() += 1;
    }

    /// Sets the total and resets the progress.
    pub(crate) fn set_total(&self, total: u64) {
        self.progress.set(ImportProgress { done: 0, total });
    }

    /// Sets the number of units read.
    pub(crate) fn set_done(&self, done: u64) {
        self.progress.set(ImportProgress { done, ..self.progress.get() });
    }

    /// Wraps a reader of `size` bytes so that reading advances the progress. The total grows if it
    /// did not include the size.
    pub(crate) fn counting_reader<R: Read>(&self, from: R, size: u64) -> impl Read + use<R> {
        let ImportProgress { done, total } = self.progress.get();
        self.progress.set(ImportProgress { done, total: total.max(done + size) });
        CountingReader { from, progress: Rc::clone(&self.progress) }
    }
}

struct CountingReader<R> {
    from: R,
    progress: Rc<Cell<ImportProgress>>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        let ImportProgress { done, total } = self.progress.get();
        self.progress.set(ImportProgress { done: done + read as u64, total });
        Ok(read)
    }
}
