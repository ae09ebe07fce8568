//! Where readers put what they find: pieces, problems, and how far they have come.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::rc::Rc;

use crate::error::Result;
use crate::piece::Piece;

/// Something in the source that could not be taken, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where: a file, a line, a number in a list.
    pub at: String,
    /// What is wrong with it.
    pub message: String,
}

/// How far a reader has come, in the units of its source (bytes, files, rows).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// How much there is; 0 if nobody knows.
    pub total: u64,
}

/// Takes what a reader finds.
pub struct Intake<'a> {
    keep: &'a mut dyn FnMut(Piece, Progress) -> Result<()>,
    progress: Rc<Cell<Progress>>,
    /// What could not be taken.
    pub problems: Vec<Problem>,
    /// What was left out on purpose, and how often.
    pub skipped: BTreeMap<&'static str, usize>,
}

impl<'a> Intake<'a> {
    /// An intake that hands every piece on.
    pub fn new(keep: &'a mut dyn FnMut(Piece, Progress) -> Result<()>) -> Self {
        Self { keep, progress: Rc::default(), problems: Vec::new(), skipped: BTreeMap::default() }
    }

    /// Takes a piece.
    pub(crate) fn piece(&mut self, piece: Piece) -> Result<()> {
        (self.keep)(piece, self.progress.get())
    }

    /// Notes that something could not be taken.
    pub(crate) fn problem(&mut self, at: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem { at: at.into(), message: message.into() });
    }

    /// Notes that something was left out on purpose.
    pub(crate) fn skip(&mut self, why: &'static str) {
        *self.skipped.entry(why).or_default() += 1;
    }

    /// Tells how much there is, of which nothing is done yet.
    pub(crate) fn total(&self, total: u64) {
        self.progress.set(Progress { done: 0, total });
    }

    /// Tells how much is done.
    pub(crate) fn done(&self, done: u64) {
        self.progress.set(Progress { done, ..self.progress.get() });
    }

    /// What is read of something of so many bytes is done. What was not told before comes to
    /// what there is.
    pub(crate) fn counted<R: Read>(&self, from: R, size: u64) -> impl Read + use<R> {
        let Progress { done, total } = self.progress.get();
        self.progress.set(Progress { done, total: total.max(done + size) });
        Counted { from, progress: Rc::clone(&self.progress) }
    }
}

struct Counted<R> {
    from: R,
    progress: Rc<Cell<Progress>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        let Progress { done, total } = self.progress.get();
        self.progress.set(Progress { done: done + read as u64, total });
        Ok(read)
    }
}
