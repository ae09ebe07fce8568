//! Resolves the target of each relation, whenever a source or a target is added or removed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use memoranda_core::graph::{
    LinkCandidate, resolve_exact_title, resolve_link, resolve_relative_link,
};
use memoranda_core::id::ProjectName;
use memoranda_core::note::permalink::{permalink_of, strip_project};
use memoranda_core::note::{Relation, link_name};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, params};

use super::extract::{exact_key, link_key, link_keys, states_permalink, target_key};
use super::{FileSummary, project_id_of};
use crate::commit::unindexed::UnindexedFile;
use crate::error::Result;
use crate::snapshot::Snapshot;

/// Row number that no project has.
const NO_PROJECT: i64 = 0;

/// Returns the project of a link's target, and the target's name there. `project::Note` refers to
/// another project, if one has that name or the slug of it: `Research Lab` is `research-lab`.
fn target_project<'t>(db: &Connection, own: i64, target: &'t str) -> Result<(i64, &'t str)> {
    let Some((project, name)) = target.split_once("::") else { return Ok((own, target)) };
    let (project, key) = (project.trim(), link_key(project.trim()));
    let mut projects = db.prepare_cached("SELECT id, name FROM projects ORDER BY name")?;
    let mut rows = projects.query([])?;
    let mut alike = None;
    while let Some(row) = rows.next()? {
        let (id, called): (i64, String) = (row.get(0)?, row.get(1)?);
        if called.eq_ignore_ascii_case(project) {
            return Ok((id, name.trim()));
        }
        if alike.is_none() && link_key(&called) == key {
            alike = Some(id);
        }
    }
    Ok(alike.map_or((own, target), |id| (id, name.trim())))
}

/// Updates the links that name a new project. Before, they were treated as links within their own
/// project.
pub(super) fn rebind_links_to_project(db: &Connection, project: i64) -> Result<()> {
    let mut query = db.prepare_cached(
        "SELECT file, n, target, whole FROM relations \
         WHERE instr(target, '::') > 0 AND project <> ? AND exact_name IS NULL",
    )?;
    let relations = query
        .query_map([project], |row| {
            let whole = row.get::<_, Option<String>>(3)?;
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?, whole))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut update = db.prepare_cached(
        "UPDATE relations SET project = ?, target_key = ?, whole_key = ?, target_file = NULL \
         WHERE file = ? AND n = ?",
    )?;
    for (file, n, target, whole) in relations {
        let (resolve, note) = target_project(db, NO_PROJECT, part(&target))?;
        if resolve == project {
            let key = target_key(note);
            let within =
                |whole: &str| target_project(db, NO_PROJECT, whole).map(|it| target_key(it.1));
            let whole_key = whole.as_deref().map(within).transpose()?;
            update.execute(params![project, key, whole_key, file, n])?;
            // The rest of the link can name a further project.
            bind(db, project, &key)?;
        }
    }
    Ok(())
}

/// Resolves every relation of a project with this key.
pub(super) fn bind(db: &Connection, project: i64, key: &str) -> Result<()> {
    // Cheap test first: most names have no links.
    let (linked, wholly): (bool, bool) = db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM relations WHERE target_key = ?1 AND project = ?2), \
             EXISTS (SELECT 1 FROM relations WHERE whole_key = ?1 AND project = ?2)",
        )?
        .query_row(params![key, project], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if wholly {
        bind_whole(db, project, key, "WHERE r.whole_key = ? AND r.project = ?")?;
    }
    if !linked {
        return Ok(());
    }
    let of_part = "WHERE r.target_key = ? AND r.project = ? AND r.whole_key IS NOT NULL";
    bind_whole(db, project, key, of_part)?;
    let found = found(db, project, key)?;
    // A link to one title in one folder stays within the project.
    bind_exact(db, project, key, if found.elsewhere { &[] } else { &found.candidates })?;
    match found.candidates.as_slice() {
        [] => {
            db.prepare_cached(
                "UPDATE relations SET target_file = NULL WHERE target_key = ? AND project = ? \
                 AND target_file IS NOT NULL AND exact_name IS NULL AND whole_key IS NULL",
            )?
            .execute(params![key, project])?;
        }
        // A bare name refers to a note; a path from the project root refers to exactly that file.
        [only] if only.path.is_markdown() && !key.starts_with('/') => {
            db.prepare_cached(
                "UPDATE relations SET target_file = ?3 \
                 WHERE target_key = ?1 AND project = ?2 AND target_file IS NOT ?3 \
                 AND exact_name IS NULL AND whole_key IS NULL",
            )?
            .execute(params![key, project, only.id])?;
        }
        _ => bind_each(db, project, key, &found)?,
    }
    Ok(())
}

/// Returns the name in a link with a heading.
fn part(target: &str) -> &str {
    link_name(target).trim_end()
}

/// Resolves relations whose text is either a name, or a name with a heading.
fn bind_whole(db: &Connection, project: i64, key: &str, condition: &str) -> Result<()> {
    let mut query = db.prepare_cached(&format!(
        "SELECT r.file, r.n, r.target, r.target_key, r.whole, r.whole_key, f.path, f.project, \
         r.target_file FROM relations r JOIN files f ON f.id = r.file {condition}"
    ))?;
    let relations = query
        .query_map(params![key, project], |row| {
            Ok((
                (row.get::<_, i64>(0)?, row.get::<_, i64>(1)?),
                [row.get::<_, String>(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?],
                row.get::<_, i64>(7)?,
                row.get::<_, Option<i64>>(8)?,
            ))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut update =
        db.prepare_cached("UPDATE relations SET target_file = ? WHERE file = ? AND n = ?")?;
    // Many links share the note and differ in the heading.
    let mut parts: HashMap<String, LinkTargets> = HashMap::new();
    for ((file, n), [name, name_key, whole, whole_key, path], own_project, bound) in relations {
        let from = NotePath::parse(&path).ok().filter(|_| own_project == project);
        let mut resolve = target(db, project, &whole_key, &whole, from.as_ref())?;
        if resolve.is_none() {
            let by_part = match parts.entry(name_key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let by_part = found(db, project, new.key())?;
                    new.insert(by_part)
                }
            };
            resolve = by_part.resolve(part(&name), from.as_ref());
        }
        if resolve != bound {
            update.execute(params![resolve, file, n])?;
        }
    }
    Ok(())
}

/// Returns true if any link is a path from a project root. Most vaults have none.
pub(super) fn has_root_links(db: &Connection) -> Result<bool> {
    // Every text with a leading slash sorts before `0`.
    Ok(db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM relations WHERE target_key >= '/' AND target_key < '0')",
        )?
        .query_row([], |row| row.get(0))?)
}

/// Returns true if any link starts with the name of a project. Most projects are never named.
pub(super) fn is_project_named(db: &Connection, project: &str) -> Result<bool> {
    // Every text that starts with `project/` sorts before `project0`.
    Ok(db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM relations WHERE target_key > ? AND target_key < ?)",
        )?
        .query_row([format!("{project}/"), format!("{project}0")], |row| row.get(0))?)
}

/// Resolves the relations, in any project, that have this key after the name of its project.
pub(super) fn bind_with_project(
    db: &Connection,
    project: i64,
    name: &str,
    key: &str,
) -> Result<()> {
    let prefix = format!("{name}/");
    let mut saying = db.prepare_cached(
        "SELECT project FROM relations WHERE target_key = ?1 \
         UNION SELECT project FROM relations WHERE whole_key = ?1",
    )?;
    // A permalink can start with the name of the project.
    let whole = key.starts_with(&prefix).then(|| key.to_owned());
    for said in [Some(format!("{prefix}{key}")), whole].into_iter().flatten() {
        let from = saying.query_map([&said], |row| row.get::<_, i64>(0))?;
        for from in from.collect::<rusqlite::Result<Vec<_>>>()? {
            if (from, said.as_str()) != (project, key) {
                bind(db, from, &said)?;
            }
        }
    }
    Ok(())
}

/// The files that a key can refer to.
struct LinkTargets {
    candidates: Vec<LinkCandidate<i64>>,
    /// True if the key starts with the name of their project, and the rest refers to them.
    elsewhere: bool,
}

/// Returns the files that a key can refer to in its project; if there are none, in the project that
/// the key starts with.
fn found(db: &Connection, project: i64, key: &str) -> Result<LinkTargets> {
    if let Some(path) = key.strip_prefix('/') {
        return Ok(LinkTargets { candidates: candidates(db, project, path)?, elsewhere: false });
    }
    let own = LinkTargets { candidates: candidates(db, project, key)?, elsewhere: false };
    let Some((first, rest)) = key.split_once('/').filter(|_| own.candidates.is_empty()) else {
        return Ok(own);
    };
    let mut projects = db.prepare_cached("SELECT id, name FROM projects ORDER BY name")?;
    let mut rows = projects.query([])?;
    while let Some(row) = rows.next()? {
        if link_key(&row.get::<_, String>(1)?) != first {
            continue;
        }
        let other: i64 = row.get(0)?;
        let mut found = candidates(db, other, rest)?;
        if found.is_empty() {
            found = candidates(db, other, key)?;
        }
        if !found.is_empty() {
            return Ok(LinkTargets { candidates: found, elsewhere: true });
        }
    }
    Ok(own)
}

impl LinkTargets {
    fn resolve(&self, link: &str, from: Option<&NotePath>) -> Option<i64> {
        match link.split_once('/').filter(|_| self.elsewhere) {
            Some((_, rest)) => resolve_link(rest, None, &self.candidates),
            None => resolve_link(link, from, &self.candidates),
        }
    }
}

/// Resolves relations to one title in one folder. They never fall back to another note.
fn bind_exact(
    db: &Connection,
    project: i64,
    key: &str,
    candidates: &[LinkCandidate<i64>],
) -> Result<()> {
    let mut query = db.prepare_cached(
        "SELECT r.file, r.n, r.exact_name, f.path, r.target_file FROM relations r \
         JOIN files f ON f.id = r.file \
         WHERE r.target_key = ? AND r.project = ? AND r.exact_name IS NOT NULL",
    )?;
    let relations = query
        .query_map(params![key, project], |row| {
            Ok((
                (row.get::<_, i64>(0)?, row.get::<_, i64>(1)?),
                row.get::<_, String>(2)?,
                row.get::<_, String>(3)?,
                row.get::<_, Option<i64>>(4)?,
            ))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut update =
        db.prepare_cached("UPDATE relations SET target_file = ? WHERE file = ? AND n = ?")?;
    for ((file, n), name, path, bound) in relations {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let target = resolve_exact_title(&name, folder, candidates);
        if target != bound {
            update.execute(params![target, file, n])?;
        }
    }
    Ok(())
}

/// The target of a relation.
pub(crate) struct RelationTarget {
    /// The project in which the target is looked up.
    pub(crate) project: i64,
    pub(crate) key: String,
    /// Key of the whole link, if it may be a name or a name with a heading.
    pub(crate) whole_key: Option<String>,
    /// The file; `None` if it does not exist yet.
    pub(crate) target: Option<i64>,
}

/// Resolves a relation of the note at a path.
pub(crate) fn resolve_relation(
    db: &Connection,
    own: i64,
    path: &NotePath,
    relation: &Relation,
) -> Result<RelationTarget> {
    let RelationKeys { project, key, whole_key } = relation_keys(db, own, path, relation)?;
    if let (Some(_), Some(folder)) = (&relation.meta, path.parent()) {
        let target = exact_target(db, own, &key, folder, relation.name())?;
        return Ok(RelationTarget { project, key, whole_key, target });
    }
    let from = (project == own).then_some(path);
    let mut found = None;
    if let (Some(whole), Some(key)) = (&relation.whole, &whole_key) {
        found = target(db, project, key, whole, from)?;
    }
    if found.is_none() {
        found = target(db, project, &key, part(&relation.target), from)?;
    }
    Ok(RelationTarget { project, key, whole_key, target: found })
}

/// The keys by which the target of a relation is looked up.
pub(crate) struct RelationKeys {
    /// The project in which the target is looked up.
    project: i64,
    pub(crate) key: String,
    /// Key of the whole link, if it may be a name or a name with a heading.
    pub(crate) whole_key: Option<String>,
}

/// Returns the keys of a relation of the note at a path.
pub(crate) fn relation_keys(
    db: &Connection,
    own: i64,
    path: &NotePath,
    relation: &Relation,
) -> Result<RelationKeys> {
    if let (Some(_), Some(folder)) = (&relation.meta, path.parent()) {
        let key = exact_key(folder, relation.name());
        return Ok(RelationKeys { project: own, key, whole_key: None });
    }
    let key_in = |project: i64, name: &str| {
        if project == own {
            target_key(&resolve_relative_link(path, name))
        } else {
            target_key(name)
        }
    };
    let (project, name) = target_project(db, own, part(&relation.target))?;
    let key = key_in(project, name);
    let whole_key = |whole: &String| -> Result<String> {
        let (_, name) = target_project(db, own, whole)?;
        Ok(key_in(project, name))
    };
    let whole_key = relation.whole.as_ref().map(whole_key).transpose()?;
    Ok(RelationKeys { project, key, whole_key })
}

/// Returns the target of a new relation to a title in its own folder.
fn exact_target(
    db: &Connection,
    project: i64,
    key: &str,
    folder: &str,
    name: &str,
) -> Result<Option<i64>> {
    Ok(resolve_exact_title(name, folder, &candidates(db, project, key)?))
}

/// Resolves each relation to the nearest of several notes with one name.
fn bind_each(db: &Connection, project: i64, key: &str, found: &LinkTargets) -> Result<()> {
    let mut query = db.prepare_cached(
        "SELECT r.file, r.n, r.target, f.path, f.project FROM relations r \
         JOIN files f ON f.id = r.file \
         WHERE r.target_key = ? AND r.project = ? AND r.exact_name IS NULL \
         AND r.whole_key IS NULL",
    )?;
    let relations = query
        .query_map(params![key, project], |row| {
            Ok((
                (row.get::<_, i64>(0)?, row.get::<_, i64>(1)?),
                row.get::<_, String>(2)?,
                row.get::<_, String>(3)?,
                row.get::<_, i64>(4)?,
            ))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut update =
        db.prepare_cached("UPDATE relations SET target_file = ? WHERE file = ? AND n = ?")?;
    for ((file, n), target, path, own_project) in relations {
        let from = NotePath::parse(&path).ok().filter(|_| own_project == project);
        update.execute(params![found.resolve(&target, from.as_ref()), file, n])?;
    }
    Ok(())
}

/// Returns the target of a new relation; `None` if it does not exist yet.
fn target(
    db: &Connection,
    project: i64,
    key: &str,
    link: &str,
    from: Option<&NotePath>,
) -> Result<Option<i64>> {
    Ok(found(db, project, key)?.resolve(link, from))
}

impl Snapshot<'_> {
    /// Returns the files that a name can refer to in a project, the shortest path first.
    pub fn link_candidates(
        &self,
        project: &ProjectName,
        name: &str,
    ) -> Result<Vec<LinkCandidate<i64>>> {
        let key = link_key(name);
        let concerns = |pending: &UnindexedFile| pending.changes_key(project, &key);
        self.query_about(concerns, |db| candidates(db, project_id_of(db, project)?, &key))
    }
}

/// Returns a file as links would resolve it at another path, with the keys of its names there.
/// A note keeps its permalink, and its title if the frontmatter states one.
pub fn named_at(file: &FileSummary, path: &NotePath) -> (LinkCandidate<i64>, Vec<String>) {
    let states_title = file.metadata.contains("\"title\":");
    let title = if !path.is_markdown() {
        path.file_name().to_owned()
    } else if states_title {
        file.title.clone()
    } else {
        path.stem().to_owned()
    };
    let permalink = if path.is_markdown() && file.path.is_markdown() {
        file.permalink.clone()
    } else {
        permalink_of(path).0
    };
    let project = file.project.as_str();
    let keys = link_keys(project, path, &title, &permalink, &file.metadata);
    let within = strip_project(&permalink, project).map(str::to_owned);
    let is_permalink_kept = is_kept(path, &permalink, &file.metadata);
    let path = path.clone();
    (LinkCandidate { id: file.id, path, permalink, within, title, is_permalink_kept }, keys)
}

/// Returns true if a relation names this key of a project and can refer to a file with another key
/// instead: one in the project that the key starts with, or one named by the part of a whole link.
pub(crate) fn can_fall_back(db: &Connection, project: &ProjectName, key: &str) -> Result<bool> {
    let mut by_key = db.prepare_cached(
        "SELECT 1 FROM relations WHERE target_key = ? AND exact_name IS NULL LIMIT 1",
    )?;
    let mut by_whole = db.prepare_cached("SELECT 1 FROM relations WHERE whole_key = ? LIMIT 1")?;
    let elsewhere = format!("{}/{key}", link_key(project.as_str()));
    for said in [key, &elsewhere] {
        if by_whole.exists([said])? || said.contains('/') && by_key.exists([said])? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the files that the relations of a file refer to.
pub(crate) fn targets_of(db: &Connection, file: i64) -> Result<Vec<i64>> {
    let mut query = db.prepare_cached(
        "SELECT target_file FROM relations WHERE file = ? AND target_file IS NOT NULL",
    )?;
    let rows = query.query_map([file], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the keys of the relations of a file.
pub(crate) fn keys_of(db: &Connection, file: i64) -> Result<Vec<String>> {
    let mut query =
        db.prepare_cached("SELECT target_key, whole_key FROM relations WHERE file = ?")?;
    let mut rows = query.query([file])?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        keys.push(row.get(0)?);
        keys.extend(row.get::<_, Option<String>>(1)?);
    }
    Ok(keys)
}

/// Returns the files that a key can refer to, the shortest path first.
pub(super) fn candidates(
    db: &Connection,
    project: i64,
    key: &str,
) -> Result<Vec<LinkCandidate<i64>>> {
    let mut query = db.prepare_cached(
        "SELECT f.id, f.path, f.permalink, f.title, f.metadata, p.name \
         FROM link_keys k JOIN files f ON f.id = k.file JOIN projects p ON p.id = k.project \
         WHERE k.key = ? AND k.project = ? ORDER BY length(f.path), f.path",
    )?;
    let mut rows = query.query(params![key, project])?;
    let mut candidates = Vec::new();
    while let Some(row) = rows.next()? {
        let (path, permalink): (String, String) = (row.get(1)?, row.get(2)?);
        if let Ok(path) = NotePath::parse(&path) {
            let text = |column| -> rusqlite::Result<&str> { Ok(row.get_ref(column)?.as_str()?) };
            let is_permalink_kept = is_kept(&path, &permalink, text(4)?);
            let within = strip_project(&permalink, text(5)?).map(str::to_owned);
            let (id, title) = (row.get(0)?, row.get(3)?);
            let found = LinkCandidate { id, path, permalink, within, title, is_permalink_kept };
            candidates.push(found);
        }
    }
    Ok(candidates)
}

/// Returns true if a file keeps an assigned permalink: one that neither its frontmatter nor its
/// path gives.
pub(crate) fn is_kept(path: &NotePath, permalink: &str, metadata: &str) -> bool {
    // Cheap test first: usually the permalink is the path.
    let is_project_named = path.as_str().strip_suffix(".md") == Some(permalink);
    !is_project_named && permalink_of(path).0 != permalink && !states_permalink(metadata)
}
