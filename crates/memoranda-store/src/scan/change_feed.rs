//! Reports every change of a vault, by any process.
//!
//! Each commit, of this process or another, by a caller or by an editor, changes the lock file as
//! soon as its files are in place. So one file reports all changes, and costs nothing while nothing
//! happens.

use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use notify::{EventKind, RecursiveMode, Watcher as _};

use crate::StoreInner;
use crate::error::{ErrorContext as _, Result};

/// The files in the vault's own folder that change with what the vault holds.
const TELLING: [&str; 2] = ["lock", "projects.toml"];

/// Tells of changes until it is dropped.
pub struct ChangeSubscription {
    _watcher: notify::RecommendedWatcher,
    /// The watcher thread ends a little later than requested.
    ended: Arc<AtomicBool>,
}

impl Drop for ChangeSubscription {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
    }
}

impl StoreInner {
    /// Calls `changed` soon after every change; rather once too often than not at all.
    pub(crate) fn follow(&self, changed: impl Fn() + Send + 'static) -> Result<ChangeSubscription> {
        let failed = |error: notify::Error| std::io::Error::other(error.to_string());
        let ended = Arc::new(AtomicBool::new(false));
        let has_ended = Arc::clone(&ended);
        let made = notify::recommended_watcher(move |event| {
            if is_change(&event) && !has_ended.load(Ordering::SeqCst) {
                changed();
            }
        });
        let watcher = made.and_then(|mut watcher| {
            watcher.watch(&self.vault.state, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        let watcher = watcher.map_err(failed).doing(|| "watch for changes of the vault".into())?;
        Ok(ChangeSubscription { _watcher: watcher, ended })
    }
}

fn is_change(event: &notify::Result<notify::Event>) -> bool {
    match event {
        Ok(event) if event.need_rescan() => true,
        Ok(event) => {
            let tells = |name: &OsStr| TELLING.iter().any(|telling| *telling == name);
            let mut names = event.paths.iter().filter_map(|path| path.file_name());
            !matches!(event.kind, EventKind::Access(_)) && names.any(tells)
        }
        Err(_) => true,
    }
}
