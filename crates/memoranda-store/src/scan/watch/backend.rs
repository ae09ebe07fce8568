//! Asking the system to tell of changes, as far as it does. It watches a limited number of folders,
//! and none that may not be read.

use std::io::ErrorKind as Io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::Instant;

use notify::{Config, ErrorKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::{BURST, PAUSE, WatchMessage, matters};
use crate::files::state_files;

/// Extent to which the system reports changes below a folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum WatchCoverage {
    /// All that can be read there.
    #[default]
    Whole,
    /// Not all: somebody has to look.
    Part,
}

impl WatchCoverage {
    pub(super) fn and(self, other: Self) -> Self {
        if self == Self::Whole { other } else { self }
    }
}

pub(super) struct FsWatcher {
    events: Sender<WatchMessage>,
    /// `None` while the system provides no watcher.
    watcher: Option<RecommendedWatcher>,
    /// The warning is logged once.
    has_warned: bool,
}

impl FsWatcher {
    pub(super) fn new(events: Sender<WatchMessage>) -> Self {
        Self { events, watcher: None, has_warned: false }
    }

    /// Makes sure that the system can be asked, if it lets itself be.
    pub(super) fn open(&mut self) {
        if self.watcher.is_some() {
            return;
        }
        let sender = self.events.clone();
        let mut rested: Option<Instant> = None;
        let handler = move |event| {
            if matters(&event) {
                sender.send(WatchMessage::Event(event)).ok();
            }
            if rested.is_none_or(|at| at.elapsed() > BURST) {
                std::thread::sleep(PAUSE);
                rested = Some(Instant::now());
            }
        };
        // Nothing is read through a link, so what lies behind one need not be watched.
        let config = Config::default().with_follow_symlinks(false);
        match RecommendedWatcher::new(handler, config) {
            Ok(watcher) => self.watcher = Some(watcher),
            Err(error) => self.warn(&error, "fs.inotify.max_user_instances"),
        }
    }

    /// Watches a folder, and nothing below its entries.
    pub(super) fn watch_folder(&mut self, folder: &Path) -> WatchCoverage {
        let Some(watcher) = &mut self.watcher else { return WatchCoverage::Part };
        match watcher.watch(folder, RecursiveMode::NonRecursive) {
            Err(error) if !matches!(error.kind, ErrorKind::PathNotFound) => self.miss(&error),
            _ => WatchCoverage::Whole,
        }
    }

    /// Watches a folder and all below it, also what is watched already.
    pub(super) fn watch_below(&mut self, folder: &Path) -> WatchCoverage {
        let Some(watcher) = &mut self.watcher else { return WatchCoverage::Part };
        let mut missed = None;
        let mut pending = vec![folder.to_owned()];
        while let Some(folder) = pending.pop() {
            let Err(error) = watcher.watch(&folder, RecursiveMode::Recursive) else { continue };
            if matches!(error.kind, ErrorKind::MaxFilesWatch) {
                missed = Some(error);
                break;
            }
            // The first folder that cannot be watched has ended it, and others may be left.
            match state_files::names(&folder) {
                Ok(_) if error.paths.contains(&folder) && state_files::is_dir(&folder) => {
                    missed = Some(error);
                }
                Ok(names) => pending.extend(folders_of(&folder, &names)),
                // Nobody knows what is in it; when it is opened, the folder above tells.
                Err(e) if e.kind() == Io::PermissionDenied => {}
                Err(e) if e.kind() == Io::NotADirectory => {}
                Err(_) => missed = Some(error),
            }
        }
        missed.map_or(WatchCoverage::Whole, |error| self.miss(&error))
    }

    pub(super) fn unwatch(&mut self, folder: &Path) {
        if let Some(watcher) = &mut self.watcher {
            watcher.unwatch(folder).ok();
        }
    }

    fn miss(&mut self, error: &notify::Error) -> WatchCoverage {
        self.warn(error, "fs.inotify.max_user_watches");
        WatchCoverage::Part
    }

    /// Says what can be done; `limit` is the setting of Linux that is reached most often.
    fn warn(&mut self, error: &notify::Error, limit: &str) {
        if std::mem::replace(&mut self.has_warned, true) {
            return;
        }
        let advice = if cfg!(target_os = "linux") {
            format!("; to have them noticed at once, raise {limit} with sysctl")
        } else {
            String::new()
        };
        tracing::warn!(
            %error,
            "not every folder can be watched, so edits by hand are looked for at intervals{advice}"
        );
    }
}

fn folders_of(folder: &Path, names: &[String]) -> Vec<PathBuf> {
    let paths = names.iter().map(|name| folder.join(name));
    paths.filter(|path| state_files::is_dir(path)).collect()
}
