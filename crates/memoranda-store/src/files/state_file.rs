//! An open file of Memoranda's own, as the log and the lock use it. Every call goes through here.

use std::fs::{File, Metadata, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::faults::{self, Step};
use crate::machine;

/// An open file of Memoranda's own.
#[derive(Debug)]
pub(crate) struct StateFile(File);

impl StateFile {
    pub(super) fn new(file: File) -> Self {
        Self(file)
    }

    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }

    /// Cuts the file off, or fills it with zeros, to a length.
    pub(crate) fn set_len(&self, length: u64) -> io::Result<()> {
        self.call()?;
        let done = self.0.set_len(length);
        machine::written(&self.0);
        done
    }

    /// Forces content and attributes to disk.
    pub(crate) fn sync_all(&self) -> io::Result<()> {
        self.call()?;
        self.0.sync_all()?;
        machine::forced(&self.0);
        Ok(())
    }

    /// Forces the content to disk.
    pub(crate) fn sync_data(&self) -> io::Result<()> {
        self.call()?;
        self.0.sync_data()?;
        machine::forced(&self.0);
        Ok(())
    }

    /// Takes the operating system's lock on the file, unless another has it.
    pub(crate) fn try_lock(&self) -> Result<(), TryLockError> {
        machine::turn().and_then(|()| machine::reach(&self.0)).map_err(TryLockError::Error)?;
        self.0.try_lock()
    }

    /// Waits for the operating system's lock on the file.
    pub(crate) fn lock(&self) -> io::Result<()> {
        self.0.lock()
    }

    pub(crate) fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }

    fn call(&self) -> io::Result<()> {
        faults::at(Step::AnyCall)?;
        machine::reach(&self.0)
    }
}

impl Read for &StateFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        machine::turn()?;
        machine::reach(&self.0)?;
        (&self.0).read(bytes)
    }
}

impl Write for &StateFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.call()?;
        let written = (&self.0).write(bytes);
        machine::written(&self.0);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.0).flush()
    }
}

impl Seek for &StateFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.0).seek(to)
    }
}

impl Read for StateFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self).read(bytes)
    }
}

impl Write for StateFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self).flush()
    }
}

impl Seek for StateFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&*self).seek(to)
    }
}
