//! Times of last use of notes: one appended line per use, one file per device.
//!
//! This is neither history nor index: losing it only makes notes seem unused. It is kept next to
//! the log so that it moves with the vault.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::StoreInner;
use crate::clock;
use crate::error::{ErrorContext as _, Result};
use crate::files::{FilePrivacy, state_files};

/// A second use within this time says nothing new.
const WORTH_NOTING: SignedDuration = SignedDuration::from_hours(1);
/// Size from which a file is rewritten with one line per note.
const COMPACT_BYTES: u64 = 1 << 20;

type AccessNote = (ProjectName, NotePath);

/// Uses recorded by this process.
#[derive(Default)]
pub(crate) struct AccessTimes {
    noted: Mutex<HashMap<AccessNote, Timestamp>>,
}

impl StoreInner {
    fn uses_folder(&self) -> PathBuf {
        self.vault.state.join("uses")
    }

    /// Notes that a note was looked at. Failing to note it is no failure of the look.
    pub(crate) fn note_use(&self, project: &ProjectName, path: &NotePath) {
        let now = clock::now();
        let mut noted = self.uses.noted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let note = (project.clone(), path.clone());
        if noted.get(&note).is_some_and(|last| now.duration_since(*last) < WORTH_NOTING) {
            return;
        }
        noted.insert(note, now);
        self.append_use(&format!("{} {project}/{path}\n", now.as_millisecond())).ok();
    }

    fn append_use(&self, line: &str) -> std::io::Result<()> {
        let folder = self.uses_folder();
        state_files::create_dir(&folder, FilePrivacy::Private)?;
        state_files::open_append(&folder.join(&self.vault.device))?.write_all(line.as_bytes())
    }

    /// Returns the last access of each note, on any device whose notes came along.
    pub(crate) fn last_uses(&self) -> Result<HashMap<AccessNote, Timestamp>> {
        let mut last: HashMap<AccessNote, Timestamp> = HashMap::new();
        let folder = self.uses_folder();
        for device in state_files::names(&folder).doing(|| "read when notes were used".into())? {
            let file = folder.join(&device);
            let bytes = state_files::read(&file).doing(|| "read when notes were used".into())?;
            let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
            let mut own_last: HashMap<AccessNote, Timestamp> = HashMap::new();
            for (note, time) in text.lines().filter_map(use_of) {
                own_last.entry(note).and_modify(|last| *last = time.max(*last)).or_insert(time);
            }
            if device == self.vault.device && text.len() as u64 > COMPACT_BYTES {
                let lines = own_last.iter().map(|((project, path), time)| {
                    format!("{} {project}/{path}\n", time.as_millisecond())
                });
                state_files::replace(&file, lines.collect::<String>().as_bytes()).ok();
            }
            for (note, time) in own_last {
                last.entry(note).and_modify(|last| *last = time.max(*last)).or_insert(time);
            }
        }
        Ok(last)
    }
}

impl StoreInner {
    /// Forgets when certain notes were used.
    pub(crate) fn forget_uses(&self, is_gone: impl Fn(&AccessNote) -> bool) -> Result<()> {
        let doing = || "forget when notes were used".to_owned();
        let folder = self.uses_folder();
        for device in state_files::names(&folder).doing(doing)? {
            let file = folder.join(&device);
            let bytes = state_files::read(&file).doing(doing)?.unwrap_or_default();
            let text = String::from_utf8(bytes).unwrap_or_default();
            let is_other = |line: &&str| use_of(line).is_some_and(|(note, _)| !is_gone(&note));
            let kept: String =
                text.lines().filter(is_other).map(|line| format!("{line}\n")).collect();
            if kept.len() < text.len() {
                state_files::replace(&file, kept.as_bytes()).doing(doing)?;
            }
        }
        Ok(())
    }
}

/// Reads a line; one that a crash left half written says nothing.
fn use_of(line: &str) -> Option<(AccessNote, Timestamp)> {
    let (time, place) = line.split_once(' ')?;
    let (project, path) = place.split_once('/')?;
    let time = Timestamp::from_millisecond(time.parse().ok()?).ok()?;
    Some(((ProjectName::parse(project).ok()?, NotePath::parse(path).ok()?), time))
}
