//! After a crash: completing what the log says was decided.
//!
//! Applying a record again changes nothing if it was applied. A file that holds none of the
//! versions that the log knows was edited by a person since, and is left alone, unless the machine
//! was restarted and it is the wreck that a power failure makes of a file.

use std::collections::BTreeMap;

use memoranda_core::change::ChangeChannel;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;

use crate::Inner;
use crate::apply::temporary_name;
use crate::error::{Result, StoreError};
use crate::files::{HardLinks, Root};
use crate::log::{Checking, ContentAt, Placed};

/// What may have happened to the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Death {
    /// A process died: the files are as it and others left them.
    Process,
    /// Perhaps the machine: what was not forced to disk may be older, missing or a wreck.
    Machine,
}

/// What the records say of one file, from the first to the last.
#[derive(Default)]
struct Chain {
    /// Every version that the file had on the way.
    versions: Vec<Option<ContentHash>>,
    /// Whether the last word was a write of ours rather than something seen on disk.
    ours: bool,
    /// Whether any of the words was a write of ours, which may not have reached the disk.
    ours_before: bool,
    /// Where its final content lies.
    content: Option<ContentAt>,
    /// Temporary names that a crash may have left beside it, and of what.
    temporaries: Vec<(String, Beside)>,
}

impl Chain {
    /// Whether the file is there in the end.
    fn ends_there(&self) -> bool {
        self.versions.last().is_some_and(Option::is_some)
    }
}

/// What can lie beside a file under a temporary name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// What it was to become, or what had its name before.
    Either,
    /// It comes from elsewhere: what it was to become. What else is there had the name of the place
    /// that it comes from.
    Arrival,
}

/// Brings the files to where the records left them.
pub(crate) fn replay(inner: &Inner, records: &[Placed], death: Death) -> Result<()> {
    let mut chains: BTreeMap<(ProjectName, NotePath), Chain> = BTreeMap::new();
    let mut contents: BTreeMap<ContentHash, ContentAt> = BTreeMap::new();
    for placed in records {
        let commit = &placed.record.commit;
        let ours = commit.author.channel != ChangeChannel::Disk;
        for (n, file) in commit.files.iter().enumerate() {
            if let (Some(hash), Some(at)) = (file.after, placed.content_at(&inner.vault.device, n))
            {
                contents.insert(hash, at);
            }
            let mut extend = |path: &NotePath, before, after, beside| {
                let chain = chains.entry((file.project.clone(), path.clone())).or_default();
                chain.versions.push(before);
                chain.versions.push(after);
                chain.ours = ours;
                chain.ours_before |= ours;
                if ours {
                    chain.temporaries.push((temporary_name(commit.id, n), beside));
                }
            };
            match &file.moved_from {
                Some(from) => {
                    extend(from, file.before, None, Beside::Either);
                    extend(&file.path, None, file.after, Beside::Arrival);
                }
                None => extend(&file.path, file.before, file.after, Beside::Either),
            }
        }
    }
    let mut roots: BTreeMap<ProjectName, Option<Root>> = BTreeMap::new();
    // New places first, so that a moved file is never only in the log.
    let (put, gone): (Vec<_>, Vec<_>) =
        chains.into_iter().partition(|(_, chain)| chain.ends_there());
    for ((project, path), mut chain) in put.into_iter().chain(gone) {
        let root = roots.entry(project.clone()).or_insert_with(|| {
            let found = match inner.vault.project(project.as_str()) {
                // The folder itself may not have reached the disk. For what is gone none is needed.
                Err(StoreError::NoProject { .. }) if chain.ours_before && chain.ends_there() => {
                    inner.vault.project_or_new(&project)
                }
                found => found,
            };
            found.and_then(|project| inner.root_replayed(&project)).ok()
        });
        // A folder that cannot be reached now is looked at by the next sync.
        let Some(root) = root else { continue };
        let last = chain.versions.last().copied().flatten();
        chain.content = last.and_then(|hash| contents.get(&hash).cloned());
        match settle(inner, root, &path, &chain, death) {
            // What the log can no longer give cannot be completed; the rest is.
            Ok(()) | Err(StoreError::NotAFile { .. } | StoreError::ContentGone(_)) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn settle(inner: &Inner, root: &Root, path: &NotePath, chain: &Chain, death: Death) -> Result<()> {
    let Some(last) = chain.versions.last() else { return Ok(()) };
    let mut mode = put_back_displaced(root, path, chain)?;
    let found = root.read(path)?;
    let current = found.as_ref().map(|found| found.hash);
    if let Some(found) = &found {
        mode = Some(found.mode);
    }
    // What a person was last seen to have saved comes back if the machine lost it together with
    // a write of ours before it; that it was removed is not repeated.
    let due = chain.ours || (death == Death::Machine && chain.ours_before && last.is_some());
    if current == *last || !due {
        return Ok(());
    }
    let content = match (last, &chain.content) {
        (Some(hash), Some(at)) => Some(inner.log.content(at, *hash)?),
        // A moved file whose content is in an older record: the index is not needed to find it.
        (Some(hash), None) => Some(find_content(inner, *hash)?),
        (None, _) => None,
    };
    let ours = chain.versions.contains(&current);
    let wreck = death == Death::Machine
        && found.is_some_and(|found| {
            content.as_ref().is_some_and(|content| is_wreck(&found.bytes, content))
        });
    if current.is_some() && !ours && !wreck {
        return Ok(());
    }
    match content {
        Some(content) => {
            let folder = root.make_folder(path)?;
            let temporary = format!(".memoranda-replay-{}", std::process::id());
            folder.remove_quietly(&temporary);
            let doing = |source| StoreError::Io { doing: format!("restore {path}"), source };
            folder
                .write_temporary(&temporary, &content, mode.unwrap_or(root.new_file_mode()))
                .and_then(|()| match current {
                    Some(_) => folder.swap(&temporary, path.file_name()).map(|_| ()),
                    None => folder.place(&temporary, path.file_name()),
                })
                .map_err(doing)?;
            folder.remove_quietly(&temporary);
        }
        None => {
            if let Some(folder) = root.folder(path)? {
                let doing = |source| StoreError::Io { doing: format!("remove {path}"), source };
                folder.remove(path.file_name()).map_err(doing)?;
            }
        }
    }
    Ok(())
}

/// A crash right after an exchange leaves the old file under its temporary name. If that is no
/// version that the log knows, an editor had saved in the last moment: it gets its name back.
/// Says which mode the file was to have, if a new one had been written beside it.
fn put_back_displaced(root: &Root, path: &NotePath, chain: &Chain) -> Result<Option<u32>> {
    let mut mode = None;
    let Some(folder) = root.folder(path)? else { return Ok(mode) };
    let doing = |source| StoreError::Io { doing: format!("restore {path}"), source };
    for (temporary, beside) in &chain.temporaries {
        let found = folder.read(temporary, HardLinks::Allow).map_err(doing)?;
        let Some(found) = found else { continue };
        let is_known = chain.versions.contains(&Some(found.hash));
        if *beside == Beside::Arrival && !is_known {
            continue;
        }
        mode = Some(found.mode);
        if !is_known && !found.bytes.is_empty() {
            let placed = folder.place(temporary, path.file_name());
            if placed.is_err() {
                folder.swap(temporary, path.file_name()).map_err(doing)?;
            }
        }
        folder.remove_quietly(temporary);
    }
    Ok(mode)
}

/// Whether bytes are what a power failure leaves of a file: nothing, a beginning, or zeros.
fn is_wreck(found: &[u8], content: &[u8]) -> bool {
    (found.len() < content.len() && content.starts_with(found))
        || (found.contains(&0) && !content.contains(&0))
}

fn find_content(inner: &Inner, hash: ContentHash) -> Result<Vec<u8>> {
    let mut found = None;
    for device in inner.log.devices()? {
        inner.log.read_from(&device, Default::default(), Checking::Meta, |placed| {
            for (n, file) in placed.record.commit.files.iter().enumerate() {
                if file.after == Some(hash) {
                    found = placed.content_at(&device, n).or(found.take());
                }
            }
            Ok(())
        })?;
    }
    inner.log.content(&found.ok_or(StoreError::ContentGone(hash))?, hash)
}
