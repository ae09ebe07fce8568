//! Where readers put what they find: items, problems, and how far they have come.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::rc::Rc;

use crate::error::Result;
use crate::item::ImportItem;

/// Something in the source that could not be taken, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportProblem {
    /// Where: a file, a line, a number in a list.
    pub at: String,
    /// What is wrong with it.
    pub message: String,
}

/// How far a reader has come, in the units of its source (bytes, files, rows).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ImportProgress {
    /// How much is done.
    pub done: u64,
    /// How much there is; 0 if nobody knows.
    pub total: u64,
}

/// Takes what a reader finds.
pub struct ImportSink<'a> {
    keep: &'a mut dyn FnMut(ImportItem, ImportProgress) -> Result<()>,
    progress: Rc<Cell<ImportProgress>>,
    /// What could not be taken.
    pub problems: Vec<ImportProblem>,
    /// What was left out on purpose, and how often.
    pub skipped: BTreeMap<&'static str, usize>,
}

impl<'a> ImportSink<'a> {
    /// An sink that hands every item on.
    pub fn new(keep: &'a mut dyn FnMut(ImportItem, ImportProgress) -> Result<()>) -> Self {
        Self { keep, progress: Rc::default(), problems: Vec::new(), skipped: BTreeMap::default() }
    }

    /// Takes a item.
    pub(crate) fn add_item(&mut self, item: ImportItem) -> Result<()> {
        (self.keep)(item, self.progress.get())
    }

    /// Notes that something could not be taken.
    pub(crate) fn add_problem(&mut self, at: impl Into<String>, message: impl Into<String>) {
        self.problems.push(ImportProblem { at: at.into(), message: message.into() });
    }

    /// Notes that something was left out on purpose.
    pub(crate) fn skip(&mut self, why: &'static str) {
        *self.skipped.entry(why).or_default() += 1;
    }

    /// Tells how much there is, of which nothing is done yet.
    pub(crate) fn set_total(&self, total: u64) {
        self.progress.set(ImportProgress { done: 0, total });
    }

    /// Tells how much is done.
    pub(crate) fn set_done(&self, done: u64) {
        self.progress.set(ImportProgress { done, ..self.progress.get() });
    }

    /// What is read of something of so many bytes is done. What was not told before comes to
    /// what there is.
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
