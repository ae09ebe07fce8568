//! A clone: a vault on a person's disk that copies a space of a team server. It is read-only.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memoranda_core::id::ContentHash;

use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::state_files;
use crate::index::IndexFile;
use crate::remote::{
    AppendOutcome, FrameContent, RemoteError, RemoteFrame, RemoteHead, RemoteLog, RemoteResult,
    StoredContent,
};
use crate::space::RemoteSpace;
use crate::vault::Vault;
use crate::{OpenOptions, Store};

/// File in the state folder of a vault that is a clone.
const CLONE_FILE: &str = "clone";

/// The space that a vault is a clone of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CloneOrigin {
    /// Address of the server.
    pub url: String,
    /// Name of the space.
    pub space: String,
    /// Name of the space as a device of the log.
    pub device: String,
    /// Epoch of the log that the clone copies.
    pub epoch: u32,
}

impl CloneOrigin {
    /// Reads the origin of a vault; `None` if it is no clone, or if there is no vault.
    pub fn of_vault(home: &Path) -> Result<Option<Self>> {
        let path = home.join(".memoranda").join(CLONE_FILE);
        let doing = || format!("look into the vault {}", home.display());
        let Some(bytes) = state_files::read(&path).doing(doing)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines().map(str::to_owned);
        let origin = (|| {
            let (url, space, device) = (lines.next()?, lines.next()?, lines.next()?);
            Some(Self { url, space, device, epoch: lines.next()?.parse().ok()? })
        })();
        let damaged = || StoreError::Damaged {
            file: path.display().to_string(),
            reason: "it does not say from where the vault was cloned; clone it again".to_owned(),
        };
        origin.map(Some).ok_or_else(damaged)
    }

    fn write(&self, state: &Path) -> Result<()> {
        let Self { url, space, device, epoch } = self;
        let text = format!("{url}\n{space}\n{device}\n{epoch}\n");
        state_files::replace(&state.join(CLONE_FILE), text.as_bytes())
            .doing(|| "record from where the vault was cloned".to_owned())
    }
}

impl Store {
    /// Opens or makes a clone with the log that it copies. `origin` tells where from.
    pub fn open_clone(
        options: OpenOptions,
        origin: &CloneOrigin,
        log: Arc<dyn RemoteLog>,
    ) -> Result<Self> {
        let vault = Vault::open(&options)?;
        if Self::clone_space(&options.home)?.is_none() {
            // An index of another vault that was in this folder before. It may contain what was
            // purged from the space since.
            IndexFile::new(&options.cache, &vault.home)?.discard()?;
        }
        origin.write(&vault.state)?;
        Self::open_with(options, Some(RemoteSpace::of_clone(log, origin.epoch)))
    }

    /// Fetches what the log has beyond this clone, and forces everything to disk.
    pub fn pull(&self) -> Result<()> {
        self.inner.catch_up_after_miss()?;
        state_files::sync_file_system(&self.inner.vault.home)
            .doing(|| "force the clone to disk".to_owned())?;
        Ok(())
    }

    /// Returns the number of log records that the copy of a remote log has; 0 in other vaults.
    pub fn copied_commits(&self) -> Result<u64> {
        match self.inner.space {
            Some(_) => self.inner.with_session(|session| session.log.last_seq()),
            None => Ok(0),
        }
    }

    /// Returns the remote log of a vault that is a clone and is opened without its server.
    pub(crate) fn clone_space(home: &Path) -> Result<Option<RemoteSpace>> {
        let origin = CloneOrigin::of_vault(home)?;
        Ok(origin.map(|origin| {
            let epoch = origin.epoch;
            RemoteSpace::of_clone(Arc::new(ReadOnlyLog(origin)), epoch)
        }))
    }
}

/// The log of a clone without its server: it has nothing new, and takes nothing.
struct ReadOnlyLog(CloneOrigin);

impl ReadOnlyLog {
    fn refused<T>(&self) -> RemoteResult<T> {
        let CloneOrigin { url, space, .. } = &self.0;
        Err(RemoteError::Refused {
            reason: format!(
                "this vault is a clone of the space {space} of {url}, and read-only: write to the \
                 space on its server; `memoranda pull` fetches what is new"
            ),
        })
    }
}

impl RemoteLog for ReadOnlyLog {
    fn device(&self) -> &str {
        &self.0.device
    }

    fn head(&self) -> RemoteResult<RemoteHead> {
        self.refused()
    }

    fn read_after(&self, _: u64, _: usize) -> RemoteResult<Vec<RemoteFrame>> {
        self.refused()
    }

    fn append(
        &self,
        _: RemoteHead,
        _: &[RemoteFrame],
        _: &[FrameContent],
    ) -> RemoteResult<AppendOutcome> {
        self.refused()
    }

    fn content(&self, _: ContentHash) -> RemoteResult<Option<StoredContent>> {
        Ok(None)
    }

    fn follow(&self, seen: RemoteHead, _: Duration) -> RemoteResult<RemoteHead> {
        Ok(seen)
    }
}
