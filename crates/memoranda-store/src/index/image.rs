//! Index images: a copy of the index with the names of its notes, from which another machine answers
//! before it has an index of its own.

use std::collections::HashMap;

use memoranda_core::id::{CommitId, ContentHash};
use rusqlite::Connection;

use super::history::{self, LogCursor};
use crate::error::Result;
use crate::log::LogPosition;

/// Part of the log of one device that an index contains.
pub(crate) struct ImageState {
    /// Position up to which the log was read.
    pub(crate) cursor: LogCursor,
    /// The last commit, with its place in the log.
    pub(crate) last: (CommitId, LogPosition),
    /// Names of all projects.
    pub(crate) projects: Vec<String>,
}

/// Returns the state of an index whose files have all been read; `None` if some have not, or if it
/// has read nothing of the log.
pub(crate) fn image_state(db: &Connection, device: &str) -> Result<Option<ImageState>> {
    if !super::is_complete(db)? {
        return Ok(None);
    }
    let cursor = history::read_to(db, device)?;
    let Some(last) = history::last_read(db, device)? else { return Ok(None) };
    let mut query = db.prepare("SELECT name FROM projects ORDER BY id")?;
    let projects = query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(Some(ImageState { cursor, last, projects }))
}

/// Forgets what the index knows of the folders of the machine that made it.
pub(crate) fn forget_folders(db: &Connection) -> Result<()> {
    db.execute(
        "UPDATE projects SET root_device = NULL, root_inode = NULL, root_within = NULL",
        [],
    )?;
    Ok(())
}

/// A note as the list of names has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedFile {
    pub(crate) project: String,
    pub(crate) path: String,
    pub(crate) hash: ContentHash,
    pub(crate) permalink: String,
    /// Time of the first record of the file in the history, in milliseconds since 1970.
    pub(crate) first_ms: i64,
    pub(crate) mtime_ns: i64,
}

/// Fields of a line before its keys.
const FIELDS: usize = 6;

/// Returns the list of names of all notes: a line for each file, and the keys of its names behind
/// it. Files whose names contain a tab or a line end are left out.
pub(crate) fn names_text(db: &Connection, projects: &[String]) -> Result<String> {
    let mut keys: HashMap<i64, String> = HashMap::new();
    let mut query = db.prepare("SELECT file, key FROM link_keys")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let key = row.get_ref(1)?.as_str().unwrap_or_default();
        if !key.contains(['\t', '\n']) {
            let keys = keys.entry(row.get(0)?).or_default();
            keys.push('\t');
            keys.push_str(key);
        }
    }
    let mut text = projects.join("\t");
    text.push('\n');
    let mut query = db.prepare(
        "SELECT f.id, p.name, f.path, f.hash, f.permalink, f.mtime_ns, \
         (SELECT c.first_ms FROM changes c WHERE c.project = f.project AND c.path = f.path \
         ORDER BY c.logical_ms DESC LIMIT 1) \
         FROM files f JOIN projects p ON p.id = f.project WHERE f.hash IS NOT NULL",
    )?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let [project, path, permalink] = [1, 2, 4].map(|n| row.get_ref(n));
        let (project, path, permalink) =
            (project?.as_str().unwrap_or_default(), path?.as_str(), permalink?.as_str());
        let (Ok(path), Ok(permalink)) = (path, permalink) else { continue };
        let Ok(hash) = <[u8; 32]>::try_from(row.get_ref(3)?.as_blob().unwrap_or_default()) else {
            continue;
        };
        if path.contains(['\t', '\n']) || permalink.contains(['\t', '\n']) {
            continue;
        }
        let mtime_ns: i64 = row.get(5)?;
        let first_ms = row.get::<_, Option<i64>>(6)?.unwrap_or(mtime_ns / 1_000_000);
        text.push_str(&format!(
            "{project}\t{path}\t{}\t{permalink}\t{first_ms}\t{mtime_ns}",
            blake3::Hash::from(hash).to_hex()
        ));
        text.push_str(keys.get(&row.get(0)?).map_or("", String::as_str));
        text.push('\n');
    }
    Ok(text)
}

/// Returns the projects of a list of names.
pub(crate) fn projects_in(text: &str) -> impl Iterator<Item = &str> {
    text.lines().next().unwrap_or_default().split('\t').filter(|name| !name.is_empty())
}

/// Returns the files of a list that have one of the keys.
pub(crate) fn files_named(text: &str, keys: &[String]) -> Vec<NamedFile> {
    let listed = text.split_once('\n').map_or("", |(_, listed)| listed);
    let has_key = |line: &&str| {
        keys.iter().any(|key| line.contains(key.as_str()))
            && line.split('\t').skip(FIELDS).any(|own| keys.iter().any(|key| key == own))
    };
    listed.lines().filter(has_key).filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<NamedFile> {
    let mut fields = line.split('\t');
    let mut field = || fields.next();
    let (project, path) = (field()?.to_owned(), field()?.to_owned());
    let hash = ContentHash(*blake3::Hash::from_hex(field()?).ok()?.as_bytes());
    let permalink = field()?.to_owned();
    let (first_ms, mtime_ns) = (field()?.parse().ok()?, field()?.parse().ok()?);
    Some(NamedFile { project, path, hash, permalink, first_ms, mtime_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_whole_keys_alone() {
        let hash = blake3::hash(b"x").to_hex();
        let line =
            |path: &str, keys: &str| format!("main\t{path}\t{hash}\tlink\t5\t7000000\t{keys}\n");
        let text = format!(
            "main\twork\n{}{}",
            line("plan.md", "plan\tthe plan"),
            line("planet.md", "planet")
        );
        assert_eq!(projects_in(&text).collect::<Vec<_>>(), ["main", "work"]);
        let paths = |key: &str| {
            let found = files_named(&text, &[key.to_owned()]);
            found.into_iter().map(|file| file.path).collect::<Vec<_>>()
        };
        assert_eq!(paths("plan"), ["plan.md"]);
        assert_eq!(paths("planet"), ["planet.md"]);
        assert_eq!(paths("the plan"), ["plan.md"]);
        // A field of another kind is no name.
        assert!(paths("link").is_empty());
        assert!(paths("plan.md").is_empty());
        let found = files_named(&text, &["plan".to_owned()]);
        assert_eq!((found[0].first_ms, found[0].mtime_ns), (5, 7_000_000));
    }
}
