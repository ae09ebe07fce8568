//! Updates the index: adds and removes files, and resolves links at the end.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note::Observation;
use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::extract::{
    ExtractedFile, FileKind, PermalinkSource, RequestedPermalink, link_key, link_keys,
};
use super::file_rows::{FileRow, all_rows, row};
use super::{file_prints, links, passage_reuse, vectors};
use crate::error::Result;
use crate::files::FileStat;
use crate::scan::ScanProgress;

/// A batch of index changes within one transaction. `finish` resolves the links.
pub(crate) struct IndexBatch<'c> {
    pub(super) db: &'c Connection,
    /// Names that were added or removed, whose relations are resolved again.
    names: BTreeSet<(i64, String)>,
    /// Permalinks assigned to files that are not stored yet.
    promised: RefCell<HashMap<(i64, String), NotePath>>,
    /// Cached names of projects.
    projects: RefCell<HashMap<i64, Rc<str>>>,
}

/// The names by which links refer to a file.
#[derive(Default)]
struct LinkNames {
    title: String,
    permalink: String,
    is_permalink_kept: bool,
    keys: Vec<String>,
}

/// The row number of a file and the names by which it is found.
pub(crate) struct FileNames {
    pub(crate) id: i64,
    pub(crate) title: String,
    pub(crate) permalink: String,
    pub(crate) is_permalink_kept: bool,
    pub(crate) keys: Vec<String>,
}

/// Returns the names of a file; `None` if the index does not contain it.
pub(crate) fn file_names(
    db: &Connection,
    project: i64,
    path: &NotePath,
) -> Result<Option<FileNames>> {
    let Some(FileRow { id, .. }) = row(db, project, path)? else { return Ok(None) };
    let LinkNames { title, permalink, is_permalink_kept, keys } =
        IndexBatch::new(db).names_of(id)?;
    Ok(Some(FileNames { id, title, permalink, is_permalink_kept, keys }))
}

impl<'c> IndexBatch<'c> {
    pub(crate) fn new(db: &'c Connection) -> Self {
        let (promised, projects) = (RefCell::default(), RefCell::default());
        Self { db, names: BTreeSet::new(), promised, projects }
    }

    pub(crate) fn db(&self) -> &'c Connection {
        self.db
    }

    /// Returns the row number of a project, adding the project if it is new.
    pub(crate) fn project(&self, name: &ProjectName) -> Result<i64> {
        project_id(self.db, name)
    }

    /// Returns the name of a project.
    fn project_name(&self, project: i64) -> Result<Rc<str>> {
        if let Some(name) = self.projects.borrow().get(&project) {
            return Ok(Rc::clone(name));
        }
        let mut query = self.db.prepare_cached("SELECT name FROM projects WHERE id = ?")?;
        let name: String = query.query_row([project], |row| row.get(0))?;
        let name: Rc<str> = name.into();
        self.projects.borrow_mut().insert(project, Rc::clone(&name));
        Ok(name)
    }

    /// Returns the row of a file.
    pub(crate) fn row(&self, project: i64, path: &NotePath) -> Result<Option<FileRow>> {
        row(self.db, project, path)
    }

    /// Returns the latest change of a file in the history.
    pub(crate) fn head(
        &self,
        project: i64,
        path: &NotePath,
    ) -> Result<Option<super::history::HistoryHead>> {
        super::history::head(self.db, project, path)
    }

    /// Returns the current permalink of a note.
    pub(crate) fn current_permalink(
        &self,
        project: i64,
        path: &NotePath,
    ) -> Result<Option<String>> {
        if !path.is_markdown() {
            return Ok(None);
        }
        let mut query =
            self.db.prepare_cached("SELECT permalink FROM files WHERE project = ? AND path = ?")?;
        Ok(query.query_row(params![project, path.as_str()], |row| row.get(0)).optional()?)
    }

    /// Assigns the permalink of a note: from its frontmatter, else the current one, else from its
    /// path. If another note has it, a number is appended.
    pub(crate) fn permalink(
        &self,
        project: i64,
        held_by: &NotePath,
        address: &RequestedPermalink,
        current: Option<&str>,
    ) -> Result<String> {
        let mut taken = self.db.prepare_cached(
            "SELECT path FROM files WHERE project = ?1 AND permalink = ?2 AND path <> ?3",
        )?;
        let mut is_taken = |permalink: &str| -> Result<bool> {
            let key = (project, permalink.to_owned());
            if self.promised.borrow().get(&key).is_some_and(|path| path != held_by) {
                return Ok(true);
            }
            let mut rows = taken.query(params![project, permalink, held_by.as_str()])?;
            while let Some(row) = rows.next()? {
                // Files other than notes do not reserve permalinks.
                let path: String = row.get(0)?;
                if NotePath::parse(&path).is_ok_and(|path| path.is_markdown()) {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        let wanted = match (address.source, current) {
            (PermalinkSource::Path, Some(current)) if !current.is_empty() => current,
            _ => &address.permalink,
        };
        let mut given = wanted.to_owned();
        let mut number = 1u64;
        while is_taken(&given)? {
            given = format!("{wanted}-{number}");
            if Some(given.as_str()) == current {
                break;
            }
            number += 1;
        }
        self.promised.borrow_mut().insert((project, given.clone()), held_by.clone());
        Ok(given)
    }

    /// Stores the content of a file, replacing its previous content.
    pub(crate) fn put(&mut self, put: &IndexedFile<'_>, extracted: &ExtractedFile) -> Result<()> {
        let written_ms = put.stat.mtime_ns.div_euclid(1_000_000);
        let created_ms = match extracted.created {
            Some(created) => created.as_millisecond(),
            None => put.first_seen_ms.unwrap_or(written_ms).min(written_ms),
        };
        // A checkout or a copy sets the time of the file to now. A stated time cannot be later than
        // the file.
        let updated_ms = match extracted.modified {
            Some(modified) => modified.as_millisecond().min(written_ms),
            None => written_ms,
        };
        let problems: Vec<_> =
            extracted.problems.iter().map(|p| (p.line, p.message.as_str())).collect();
        let known = self.row(put.project, put.path)?;
        let (old_names, stays) = match &known {
            Some(row) => {
                let names = self.names_of(row.id)?;
                let stays = passage_reuse::find_reusable(self.db, row.id, &extracted.passages)?;
                (names, stays)
            }
            None => Default::default(),
        };
        let permalink = put.permalink.unwrap_or(&extracted.address.permalink);
        let kind = extracted.kind.code();
        let problems = serde_json::to_string(&problems).unwrap_or_default();
        match &known {
            Some(row) => {
                // A statement rewrites every SQL index that has one of its columns, even if the value
                // stays.
                let sort_keys = params![kind, permalink, extracted.note_type, created_ms, row.id];
                self.db
                    .prepare_cached(
                        "UPDATE files SET kind = ?1, permalink = ?2, note_type = ?3, created_ms = ?4 \
                         WHERE id = ?5 AND (kind <> ?1 OR permalink <> ?2 OR note_type <> ?3 \
                         OR created_ms <> ?4)",
                    )?
                    .execute(sort_keys)?;
                self.db
                    .prepare_cached(
                        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, \
                         checked_ns = ?, hash = ?, title = ?, updated_ms = ?, metadata = ?, \
                         problems = ? WHERE id = ?",
                    )?
                    .execute(params![
                        put.stat.size as i64,
                        put.stat.mtime_ns,
                        put.stat.ctime_ns,
                        put.stat.inode as i64,
                        put.checked_ns,
                        put.hash.0.as_slice(),
                        extracted.title,
                        updated_ms,
                        extracted.metadata,
                        problems,
                        row.id,
                    ])?;
            }
            None => {
                // No number is given twice: a reader may still have that of a file which is gone since.
                // Its row of vectors stays.
                let sql = "INSERT INTO files (id, project, path, path_key, kind, size, mtime_ns, ctime_ns, \
                           inode, checked_ns, hash, title, permalink, note_type, created_ms, \
                           updated_ms, metadata, problems) \
                           VALUES (1 + max(ifnull((SELECT max(id) FROM files), 0), \
                           ifnull((SELECT max(file) FROM vectors), 0)), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
                self.db.prepare_cached(sql)?.execute(params![
                    put.project,
                    put.path.as_str(),
                    put.path.key(),
                    kind,
                    put.stat.size as i64,
                    put.stat.mtime_ns,
                    put.stat.ctime_ns,
                    put.stat.inode as i64,
                    put.checked_ns,
                    put.hash.0.as_slice(),
                    extracted.title,
                    permalink,
                    extracted.note_type,
                    created_ms,
                    updated_ms,
                    extracted.metadata,
                    problems,
                ])?;
            }
        }
        let is_known = known.is_some();
        let file = known.map_or_else(|| self.db.last_insert_rowid(), |row| row.id);
        file_prints::put(self.db, (put.project, file), put.path, (put.stat, put.checked_ns))?;
        match extracted.kind {
            FileKind::Markdown => self.put_node(put, file, extracted)?,
            // A file can grow beyond the size that is read.
            _ if put.path.is_markdown() => self.forget_node(put.project, put.path, file)?,
            _ => {}
        }
        let project = self.project_name(put.project)?;
        let keys = extracted.keys(&project, put.path, permalink);
        self.put_keys(put.project, file, &old_names.keys, &keys)?;
        if old_names.title != extracted.title
            || old_names.permalink != permalink
            || old_names.is_permalink_kept
                != links::is_kept(put.path, permalink, &extracted.metadata)
        {
            // A link with an unchanged key may have matched the old title or permalink.
            self.names.extend(keys.into_iter().map(|key| (put.project, key)));
        }
        self.put_content(put, file, is_known, extracted, &stays)
    }

    /// Reuses the passages of a file's previous path.
    pub(crate) fn recall(
        &self,
        project: i64,
        path: &NotePath,
        extracted: &ExtractedFile,
    ) -> Result<()> {
        if let Some(row) = self.row(project, path)? {
            passage_reuse::find_reusable(self.db, row.id, &extracted.passages)?;
        }
        Ok(())
    }

    fn put_node(&self, put: &IndexedFile<'_>, file: i64, extracted: &ExtractedFile) -> Result<()> {
        let is_current = |observation: &Observation| {
            let superseded = observation.meta.as_ref().and_then(|fact| fact.superseded_by.as_ref());
            !observation.struck && superseded.is_none()
        };
        let facts = extracted.observations.iter().filter(|(_, o)| is_current(o)).count();
        let folder = put.path.parent().unwrap_or_default();
        let relations = extracted.relations.iter().filter(|relation| relation.is_stated).count();
        let node = params![
            put.project,
            folder,
            file,
            extracted.importance,
            extracted.confidence,
            facts as i64,
            relations as i64,
            extracted.is_placeholder
        ];
        let mut find_same = self.db.prepare_cached(
            "SELECT 1 FROM nodes WHERE project = ? AND folder = ? AND file = ? AND importance IS ? \
             AND confidence IS ? AND facts = ? AND relations = ? AND placeholder = ?",
        )?;
        if find_same.exists(node)? {
            return Ok(());
        }
        self.db
            .prepare_cached(
                "INSERT OR REPLACE INTO nodes (project, folder, file, importance, confidence, \
                 facts, relations, placeholder) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(node)?;
        Ok(())
    }

    fn forget_node(&self, project: i64, path: &NotePath, file: i64) -> Result<()> {
        self.db
            .prepare_cached("DELETE FROM nodes WHERE project = ? AND folder = ? AND file = ?")?
            .execute(params![project, path.parent().unwrap_or_default(), file])?;
        Ok(())
    }

    /// Computes the names of a file from its row.
    fn names_of(&self, file: i64) -> Result<LinkNames> {
        let mut row = self.db.prepare_cached(
            "SELECT path, title, metadata, permalink, kind, project FROM files WHERE id = ?",
        )?;
        let (path, [title, metadata, permalink], kind, project) = row.query_row([file], |row| {
            let path: String = row.get(0)?;
            let texts = [row.get(1)?, row.get(2)?, row.get(3)?];
            Ok((path, texts, row.get::<_, i64>(4)?, row.get::<_, i64>(5)?))
        })?;
        let project = self.project_name(project)?;
        let (title, metadata, permalink): (String, String, String) = (title, metadata, permalink);
        // A file recorded only in the log has no names yet.
        let (keys, is_permalink_kept) = match (NotePath::parse(&path), FileKind::from_code(kind)) {
            (_, FileKind::Known) | (Err(_), _) => (Vec::new(), false),
            (Ok(path), _) => (
                link_keys(&project, &path, &title, &permalink, &metadata),
                links::is_kept(&path, &permalink, &metadata),
            ),
        };
        Ok(LinkNames { title, permalink, is_permalink_kept, keys })
    }

    /// Replaces a file's names. Unchanged names still refer to the same file, so only relations by
    /// other names are resolved again.
    fn put_keys(&mut self, project: i64, file: i64, old: &[String], new: &[String]) -> Result<()> {
        let mut remove = self
            .db
            .prepare_cached("DELETE FROM link_keys WHERE key = ? AND project = ? AND file = ?")?;
        for key in old.iter().filter(|key| !new.contains(key)) {
            remove.execute(params![key, project, file])?;
            self.names.insert((project, key.clone()));
        }
        let mut add = self.db.prepare_cached(
            "INSERT OR IGNORE INTO link_keys (key, project, file) VALUES (?, ?, ?)",
        )?;
        for key in new.iter().filter(|key| !old.contains(key)) {
            add.execute(params![key, project, file])?;
            self.names.insert((project, key.clone()));
        }
        Ok(())
    }

    /// Records that a file was checked and is unchanged. Updates only columns without an SQL index,
    /// because after an import every file is checked once.
    pub(crate) fn touch(
        &self,
        (project, file): (i64, i64),
        path: &NotePath,
        stat: FileStat,
        checked_ns: i64,
    ) -> Result<()> {
        file_prints::put(self.db, (project, file), path, (stat, checked_ns))?;
        self.db
            .prepare_cached(
                "UPDATE files SET ctime_ns = ?, inode = ?, checked_ns = ? WHERE id = ?",
            )?
            .execute(params![stat.ctime_ns, stat.inode as i64, checked_ns, file])?;
        Ok(())
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, project: i64, path: &NotePath) -> Result<()> {
        if let Some(row) = self.row(project, path)? {
            let names = self.names_of(row.id)?;
            self.put_keys(project, row.id, &names.keys, &[])?;
            self.forget_content(row.id)?;
            self.forget_node(project, path, row.id)?;
            vectors::remove(self.db, row.id)?;
            file_prints::remove(self.db, row.id)?;
            self.db.prepare_cached("DELETE FROM files WHERE id = ?")?.execute([row.id])?;
        }
        Ok(())
    }

    /// Resolves every relation whose target was added, moved or removed in this batch.
    pub(crate) fn finish(self) -> Result<()> {
        let from_the_top = links::has_root_links(self.db)?;
        for (project, key) in &self.names {
            links::bind(self.db, *project, key)?;
            if from_the_top {
                links::bind(self.db, *project, &format!("/{key}"))?;
            }
        }
        // Also relations that start with the name of the project.
        let mut last = None;
        for (project, key) in &self.names {
            let name = match last.take() {
                Some((id, name)) if id == *project => name,
                _ => linked_project_key(self.db, *project)?,
            };
            if let Some(name) = &name {
                links::bind_with_project(self.db, *project, name, key)?;
            }
            last = Some((*project, name));
        }
        Ok(())
    }
}

/// Returns the link key of a project's name if any link starts with it.
fn linked_project_key(db: &Connection, project: i64) -> Result<Option<String>> {
    let name = db
        .prepare_cached("SELECT name FROM projects WHERE id = ?")?
        .query_row([project], |row| row.get::<_, String>(0))
        .optional()?;
    let name = name.map(|name| link_key(&name));
    Ok(match name {
        Some(name) if links::is_project_named(db, &name)? => Some(name),
        _ => None,
    })
}

/// Maximum number of passages of a file; see the schema.
pub(super) const PASSAGES_PER_FILE: i64 = 65_536;

/// Returns the number of a file's first passage.
pub(super) fn first_passage(file: i64) -> i64 {
    file * PASSAGES_PER_FILE
}

/// A file as it is now on disk.
pub(crate) struct IndexedFile<'a> {
    pub(crate) project: i64,
    pub(crate) path: &'a NotePath,
    pub(crate) hash: ContentHash,
    pub(crate) stat: FileStat,
    /// Time when the file was checked, by the clock of the file system.
    pub(crate) checked_ns: i64,
    /// The assigned permalink, if the requested one was taken.
    pub(crate) permalink: Option<&'a str>,
    /// Time of the first record of the file in the history.
    pub(crate) first_seen_ms: Option<i64>,
}

/// Returns the row number of a project, adding the project if it is new.
pub(crate) fn project_id(db: &Connection, name: &ProjectName) -> Result<i64> {
    let mut find = db.prepare_cached("SELECT id FROM projects WHERE name = ?")?;
    if let Some(id) = find.query_row([name.as_str()], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    db.prepare_cached("INSERT INTO projects (name) VALUES (?)")?.execute([name.as_str()])?;
    let project = db.last_insert_rowid();
    links::rebind_links_to_project(db, project)?;
    Ok(project)
}

/// Returns the row number of a project; 0 if the index does not contain it.
pub(crate) fn project_id_of(db: &Connection, name: &ProjectName) -> Result<i64> {
    let found = db
        .prepare_cached("SELECT id FROM projects WHERE name = ?")?
        .query_row([name.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(0))
}

/// Adds a file that is recorded only in the log, unless the index contains it.
pub(crate) fn put_known(
    db: &Connection,
    project: i64,
    path: &NotePath,
    hash: ContentHash,
    permalink: Option<&str>,
) -> Result<()> {
    db.prepare_cached(
        "INSERT OR IGNORE INTO files (project, path, path_key, kind, size, mtime_ns, ctime_ns, \
         inode, checked_ns, hash, permalink) VALUES (?, ?, ?, 0, -1, 0, 0, 0, 0, ?, ?)",
    )?
    .execute(params![
        project,
        path.as_str(),
        path.key(),
        hash.0,
        permalink.unwrap_or_default()
    ])?;
    Ok(())
}

/// Removes all files of a project; its history stays.
pub(crate) fn forget_project(
    db: &Connection,
    name: &ProjectName,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<()> {
    let transaction = db.unchecked_transaction()?;
    let project = project_id_of(db, name)?;
    let mut batch = IndexBatch::new(db);
    let rows = all_rows(db, project)?;
    let rows = rows.iter();
    let total = rows.len();
    for (done, (path, _)) in rows.enumerate() {
        if let Ok(path) = NotePath::parse(path) {
            batch.remove(project, &path)?;
        }
        progress(ScanProgress { done: done + 1, total });
    }
    batch.finish()?;
    transaction.commit()?;
    Ok(())
}
