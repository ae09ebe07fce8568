//! One note by its name, before anything else of its space is here: the list of names that comes with
//! an index image, and the log records behind it.

use std::collections::BTreeMap;
use std::sync::Arc;

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use super::Provisional;
use super::image::{format, unpack};
use crate::error::Result;
use crate::files::{self, FileStat};
use crate::index::extract::{extract, link_key};
use crate::index::image::{NamedFile, files_named, projects_in};
use crate::index::{self, IndexBatch, IndexedFile};
use crate::log::ReceivedFrame;
use crate::remote::{RemoteFrame, RemoteHead, RemoteLog};
use crate::space::{FETCH_BYTES, RemoteSpace};
use crate::{SpaceOptions, Store};

/// Maximum number of notes of one name. More of them are a case for the whole index.
const MAX_NAMED: usize = 16;
/// Maximum number of log records behind an image that are read for one note.
const MAX_RECORDS: u64 = 2_000;

/// A file with its bytes.
struct FoundFile {
    project: ProjectName,
    path: NotePath,
    file: NamedFile,
    bytes: Vec<u8>,
}

impl Store {
    /// Opens a store that contains the notes of one name alone, as of a head of the log. `None` if
    /// no note has exactly this name, or if that cannot be seen quickly.
    pub fn open_named(
        options: &SpaceOptions,
        log: Arc<dyn RemoteLog>,
        head: RemoteHead,
        name: &str,
    ) -> Result<Option<Self>> {
        let Some(image) = log.find_image(&format())? else { return Ok(None) };
        if image.epoch != head.epoch || head.seq.saturating_sub(image.seq) > MAX_RECORDS {
            return Ok(None);
        }
        let packed = log.image_part(&format(), image, 0)?;
        let names = packed.and_then(|packed| unpack(&packed));
        let names = names.and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(names) = names else { return Ok(None) };
        let keys = keys_of_name(name);
        let mut listed: BTreeMap<(String, String), NamedFile> = files_named(&names, &keys)
            .into_iter()
            .map(|file| ((file.project.clone(), file.path.clone()), file))
            .collect();
        let mut projects: Vec<String> = projects_in(&names).map(str::to_owned).collect();
        let mut found = Vec::new();
        if head.seq > image.seq {
            let frames = log.read_after(image.seq, FETCH_BYTES)?;
            if frames.last().is_none_or(|last| last.seq < head.seq) {
                return Ok(None);
            }
            let Some(later) = LaterFiles::read(&frames, &mut listed) else { return Ok(None) };
            let Some(named) = later.named(&*log, &keys)? else { return Ok(None) };
            projects.extend(named.iter().map(|found| found.project.to_string()));
            found = named;
        }
        if (listed.len() + found.len()) > MAX_NAMED || listed.is_empty() && found.is_empty() {
            return Ok(None);
        }
        for file in listed.into_values() {
            let (Ok(project), Ok(path)) =
                (ProjectName::parse(&file.project), NotePath::parse(&file.path))
            else {
                return Ok(None);
            };
            let Some(bytes) = fetch(&*log, &file)? else { return Ok(None) };
            found.push(FoundFile { project, path, file, bytes });
        }
        open_with_files(options, log, head, &projects, found).map(Some)
    }
}

/// Returns the keys under which the notes of a name are listed. The name may begin with its project.
fn keys_of_name(name: &str) -> Vec<String> {
    let name = name.trim();
    let name = name.strip_prefix("[[").and_then(|name| name.strip_suffix("]]")).unwrap_or(name);
    let name = ["memoranda://", "memory://"]
        .iter()
        .find_map(|scheme| name.strip_prefix(scheme))
        .unwrap_or(name);
    let name = name.trim_start_matches('/');
    let mut keys = vec![link_key(name)];
    keys.extend(name.split_once("::").map(|(_, rest)| link_key(rest.trim())));
    keys.extend(name.split_once('/').map(|(_, rest)| link_key(rest)));
    keys.retain(|key| !key.is_empty());
    keys.dedup();
    keys
}

/// Files that were changed behind an image, as their last change left them.
struct LaterFiles(BTreeMap<(ProjectName, NotePath), LaterFile>);

struct LaterFile {
    file: NamedFile,
    bytes: Option<Vec<u8>>,
    /// Permalink that the log records; `None` for the one that the text gives.
    permalink: Option<String>,
}

impl LaterFiles {
    /// Reads frames, and takes what they change out of a list. `None` if a frame is damaged.
    fn read(
        frames: &[RemoteFrame],
        listed: &mut BTreeMap<(String, String), NamedFile>,
    ) -> Option<Self> {
        let mut later = BTreeMap::new();
        for frame in frames {
            let frame = ReceivedFrame::decode(&frame.bytes)?;
            let commit = &frame.record.commit;
            for (n, changed) in commit.files.iter().enumerate() {
                let key = |path: &NotePath| (changed.project.to_string(), path.to_string());
                let first_ms = |known: Option<&NamedFile>| {
                    known.map_or(commit.time.as_millisecond(), |known| known.first_ms)
                };
                let mut known = listed.remove(&key(&changed.path));
                if let Some(from) = &changed.moved_from {
                    known = listed.remove(&key(from)).or(known);
                    let moved: Option<LaterFile> =
                        later.remove(&(changed.project.clone(), from.clone()));
                    known = moved.map(|moved| moved.file).or(known);
                }
                let place = (changed.project.clone(), changed.path.clone());
                let Some(hash) = changed.after else {
                    later.remove(&place);
                    continue;
                };
                let earlier = later.get(&place).map(|earlier| &earlier.file).or(known.as_ref());
                let file = NamedFile {
                    project: changed.project.to_string(),
                    path: changed.path.to_string(),
                    hash,
                    permalink: String::new(),
                    first_ms: first_ms(earlier),
                    mtime_ns: commit.time.as_millisecond().saturating_mul(1_000_000),
                };
                let permalink = frame.record.notes.get(n).and_then(|note| note.permalink.clone());
                let bytes = frame.content(n);
                later.insert(place, LaterFile { file, bytes, permalink });
            }
        }
        Some(Self(later))
    }

    /// Returns those that have one of the keys. `None` if a content is gone.
    fn named(self, log: &dyn RemoteLog, keys: &[String]) -> Result<Option<Vec<FoundFile>>> {
        let mut named = Vec::new();
        for ((project, path), LaterFile { mut file, bytes, permalink }) in self.0 {
            let bytes = match bytes {
                Some(bytes) => bytes,
                None => match fetch(log, &file)? {
                    Some(bytes) => bytes,
                    None => return Ok(None),
                },
            };
            let extracted = extract(&path, &bytes);
            file.permalink = permalink.unwrap_or_else(|| extracted.address.permalink.clone());
            let own = extracted.keys(project.as_str(), &path, &file.permalink);
            if own.iter().any(|own| keys.contains(own)) {
                named.push(FoundFile { project, path, file, bytes });
            }
        }
        Ok(Some(named))
    }
}

/// Fetches the content of a file; `None` if the log does not have it.
fn fetch(log: &dyn RemoteLog, file: &NamedFile) -> Result<Option<Vec<u8>>> {
    let Some(stored) = log.content(file.hash)? else { return Ok(None) };
    let bytes = crate::log::restore(stored.bytes, stored.raw_bytes);
    Ok(bytes.filter(|bytes| files::hash(bytes) == file.hash))
}

/// Makes a store with an index of these files alone.
fn open_with_files(
    options: &SpaceOptions,
    log: Arc<dyn RemoteLog>,
    head: RemoteHead,
    projects: &[String],
    found: Vec<FoundFile>,
) -> Result<Store> {
    let (mut own, open) = Provisional::new(options, log.device(), head.epoch)?;
    own.make_projects(&open.home, projects.iter().map(String::as_str))?;
    let index = Provisional::index(&open)?;
    let db = index.create()?;
    let transaction = db.unchecked_transaction()?;
    let mut batch = IndexBatch::new(&db);
    for found in &found {
        let FoundFile { project, path, file, bytes } = found;
        let (mtime_ns, size) = (file.mtime_ns, bytes.len() as u64);
        let put = IndexedFile {
            project: batch.project(project)?,
            path,
            hash: file.hash,
            stat: FileStat { size, mtime_ns, ctime_ns: mtime_ns, inode: 0 },
            checked_ns: i64::MAX,
            permalink: Some(&file.permalink),
            first_seen_ms: Some(file.first_ms),
        };
        batch.put(&put, &extract(path, bytes))?;
    }
    batch.finish()?;
    index::set_complete(&db)?;
    transaction.commit()?;
    index.finish_adoption(&db)?;
    drop(db);
    own.contents = found.into_iter().map(|found| (found.file.hash, found.bytes)).collect();
    let space = RemoteSpace::of_cache(log, head.epoch);
    // It is at the head, and fetches nothing more.
    space.note_local(head.seq);
    Store::open_provisional(open, space, own)
}
