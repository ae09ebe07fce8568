//! Finds and updates links that are not relations: links in frontmatter and drawings, and paths in
//! Markdown and HTML.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};

use memoranda_core::graph::{LinkCandidate, resolve_link, resolve_relative_link};
use memoranda_core::note::{
    LinkReplacement, link_name, path_spellings, rewrite_canvas_links, rewrite_paths,
    rewrite_property_links,
};
use memoranda_core::path::NotePath;
use memoranda_store::Transaction;

use crate::error::Result;
use crate::links::after_move::{LinkFix, LinkToNote, PostMoveResolver};
use crate::links::path_change::{LinkHolder, PathChange, text_at};
use crate::links::path_links::{PathInFile, PathResolver};
use crate::links::resolve::NoteLocation;
use crate::notes::move_notes::{LinkDirection, LinkText, OutdatedLink};

/// Maximum number of files that are searched by their own names. More files are searched by the
/// name of their common folder.
const MAX_NAMED_FILES: usize = 100;

/// Returns the files that may contain links to moved notes: those that contain their names, and the
/// moved notes.
pub(crate) fn files_with_links(
    view: &Transaction<'_>,
    from: &NoteLocation,
    moving: &[PathChange],
) -> Result<Vec<NotePath>> {
    let old: Vec<&NotePath> = moving.iter().map(|moving| &moving.old).collect();
    // Links to files of a folder contain the folder's name. Links from within the folder do not
    // change.
    let folder = common_folder(&old).filter(|_| moving.len() > MAX_NAMED_FILES);
    let mut holders = match folder {
        Some(folder) => files_containing(view, from, &[folder])?,
        None => {
            // A path with the new name may have led to another file.
            let new = moving.iter().map(|moving| &moving.new);
            let places: Vec<&NotePath> = old.iter().copied().chain(new).collect();
            files_containing(view, from, &stems(&places))?
        }
    };
    holders.extend(moving.iter().map(|moving| moving.current().clone()).filter(can_contain_links));
    holders.sort_unstable();
    holders.dedup();
    Ok(holders)
}

/// Untyped links to files that are about to be removed.
#[derive(Default)]
pub(crate) struct UntypedLinks {
    /// Number of links that will lead nowhere.
    pub(crate) lost: usize,
    /// Links that will lead to another note.
    pub(crate) captured: Vec<OutdatedLink>,
}

/// Returns the untyped links in remaining files to files that are about to be removed.
pub(crate) fn links_to_removed(
    view: &Transaction<'_>,
    from: &NoteLocation,
    going: &[NotePath],
) -> Result<UntypedLinks> {
    let old: Vec<&NotePath> = going.iter().collect();
    let folder = common_folder(&old).filter(|_| going.len() > MAX_NAMED_FILES);
    let names = folder.map_or_else(|| stems(&old), |folder| vec![folder]);
    let places = PathResolver::going(view, &from.project, going);
    let going: HashSet<&NotePath> = going.iter().collect();
    let mut found = UntypedLinks::default();
    for holder in files_containing(view, from, &names)? {
        let place = NoteLocation::new(&from.project, holder);
        let holder = &place.path;
        let Some(text) = text_at(view, &place)?.filter(|_| !going.contains(holder)) else {
            continue;
        };
        let (mut paths, mut said) = (BTreeMap::new(), BTreeMap::<String, usize>::new());
        let path = |path: &str| {
            *paths.entry(path.to_owned()).or_insert(0) += 1;
            None
        };
        let name = |name: &str| {
            *said.entry(name.to_owned()).or_default() += 1;
            // Do not look for a heading in the name of a note.
            let is_called = link_name(name) != name && resolves(view, from, holder, name);
            is_called.then(|| LinkReplacement::from(name.to_owned()))
        };
        rewrite_untyped(holder, &text, path, name);
        for (path, count) in paths {
            let link = PathInFile { path: &path, holder_paths: &[holder], new_holder: holder };
            let fix = places.fix(&link)?.filter(|fix| going.contains(&fix.file));
            match fix.map(|fix| fix.other) {
                None => {}
                Some(None) => found.lost += count,
                Some(means) => found.captured.push(OutdatedLink {
                    holder: place.clone(),
                    link: LinkText::Path(path),
                    direction: LinkDirection::Incoming,
                    means,
                    count,
                }),
            }
        }
        for (name, count) in said {
            let mut candidates =
                view.link_candidates(&from.project, &resolve_relative_link(holder, &name))?;
            let means = resolve_link(&name, Some(holder), &candidates);
            let is_meant = |c: &LinkCandidate<i64>| Some(c.id) == means && going.contains(&c.path);
            if !candidates.iter().any(is_meant) {
                continue;
            }
            candidates.retain(|candidate| !going.contains(&candidate.path));
            let then = resolve_link(&name, Some(holder), &candidates);
            match candidates.into_iter().find(|candidate| Some(candidate.id) == then) {
                None => found.lost += count,
                Some(other) => found.captured.push(OutdatedLink {
                    holder: place.clone(),
                    link: LinkText::Name(name),
                    direction: LinkDirection::Incoming,
                    means: Some(NoteLocation::new(&from.project, other.path)),
                    count,
                }),
            }
        }
    }
    Ok(found)
}

/// Returns the files that contain one of these names outside of relations.
fn files_containing(
    view: &Transaction<'_>,
    from: &NoteLocation,
    names: &[&str],
) -> Result<Vec<NotePath>> {
    let mut names: Vec<String> = names.iter().flat_map(|name| path_spellings(name)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut holders = view.mentioning(&from.project, &names)?;
    holders.retain(can_contain_links);
    Ok(holders)
}

/// Returns true if a file can contain such links.
fn can_contain_links(path: &NotePath) -> bool {
    path.is_markdown() || path.extension() == "canvas"
}

fn stems<'p>(places: &[&'p NotePath]) -> Vec<&'p str> {
    places.iter().map(|place| place.stem()).collect()
}

/// Returns the last name of the folder that contains all of these paths.
fn common_folder<'p>(places: &[&'p NotePath]) -> Option<&'p str> {
    let mut shared = places.first()?.parent()?;
    for place in places {
        while !place.is_within(shared) {
            shared = shared.rsplit_once('/')?.0;
        }
    }
    shared.rsplit('/').next()
}

/// Text of a file with updated links.
pub(crate) struct RewrittenText {
    pub(crate) text: String,
    pub(crate) count: usize,
    /// Texts of the links, and the other notes to which they would lead.
    pub(crate) links: Vec<(LinkText, LinkDirection, Option<NoteLocation>)>,
    /// Links whose replacement cannot be written.
    pub(crate) unwritable: Vec<(LinkText, LinkDirection, Option<NoteLocation>)>,
}

/// Returns a file's text with its untyped links updated.
pub(crate) fn rewritten(
    view: &Transaction<'_>,
    after: &PostMoveResolver<'_>,
    from: &NoteLocation,
    moving: &[PathChange],
    holder: &NotePath,
    text: &str,
) -> Result<RewrittenText> {
    let own: Vec<&PathChange> = moving.iter().filter(|moving| moving.current() == holder).collect();
    let place = own.first().map_or(LinkHolder { path: holder, new: holder }, |own| LinkHolder {
        path: &own.old,
        new: &own.new,
    });
    // The current path counts most; earlier paths only where the current one resolves nothing.
    let before = own.iter().map(|own| &own.old).filter(|old| *old != holder);
    let holder_paths: Vec<&NotePath> = std::iter::once(holder).chain(before).collect();
    let places = PathResolver::moving(view, &from.project, moving);
    let (links, failed) = (RefCell::new(Vec::new()), RefCell::new(None));
    let path = |path: &str| match places.fix(&PathInFile {
        path,
        holder_paths: &holder_paths,
        new_holder: place.new,
    }) {
        Ok(fix) => fix.and_then(|fix| {
            let is_moved = moving.iter().any(|moving| moving.new == fix.file);
            let direction = if own.is_empty() || is_moved {
                LinkDirection::Incoming
            } else {
                LinkDirection::Outgoing
            };
            links.borrow_mut().push((LinkText::Path(path.to_owned()), direction, fix.other));
            fix.text
        }),
        Err(e) => {
            *failed.borrow_mut() = Some(e);
            None
        }
    };
    let fix = |name: &str| -> Result<Option<(LinkFix, Option<NoteLocation>)>> {
        let Some(fix) = name_fix(view, after, from, moving, place, name)? else {
            return Ok(None);
        };
        let other = after.other(&fix)?;
        Ok(Some((fix, other)))
    };
    let mut unwritable = Vec::new();
    let name = |name: &str| match fix(name) {
        Ok(None) if link_name(name) != name && resolves(view, from, place.path, name) => {
            Some(LinkReplacement::from(name.to_owned()))
        }
        Ok(rewritten) => rewritten.and_then(|(fix, other)| {
            let link = (LinkText::Name(name.to_owned()), fix.direction, other);
            if fix.is_unwritable() {
                unwritable.push(link.clone());
            }
            links.borrow_mut().push(link);
            Some(fix.name.clone()).filter(|_| !fix.is_unwritable())
        }),
        Err(e) => {
            *failed.borrow_mut() = Some(e);
            None
        }
    };
    let (text, count) = rewrite_untyped(holder, text, path, name);
    match failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(RewrittenText { text, count, links: links.into_inner(), unwritable }),
    }
}

/// Returns true if a name in a file resolves to a note.
fn resolves(view: &Transaction<'_>, from: &NoteLocation, holder: &NotePath, name: &str) -> bool {
    let candidates = view.link_candidates(&from.project, &resolve_relative_link(holder, name));
    candidates.is_ok_and(|candidates| resolve_link(name, Some(holder), &candidates).is_some())
}

/// Returns the text of a file with replaced paths and names, and their number. Relations are left
/// alone.
fn rewrite_untyped(
    holder: &NotePath,
    text: &str,
    path: impl FnMut(&str) -> Option<String>,
    name: impl FnMut(&str) -> Option<LinkReplacement>,
) -> (String, usize) {
    if holder.extension() == "canvas" {
        return rewrite_canvas_links(text, path, name);
    }
    let (text, paths) = rewrite_paths(text, path);
    let (text, names) = rewrite_property_links(&text, name);
    (text, paths + names)
}

/// Returns the replacement of a link in frontmatter or in a drawing, if its target moves.
fn name_fix(
    view: &Transaction<'_>,
    after: &PostMoveResolver<'_>,
    from: &NoteLocation,
    moving: &[PathChange],
    holder: LinkHolder<'_>,
    name: &str,
) -> Result<Option<LinkFix>> {
    let candidates =
        view.link_candidates(&from.project, &resolve_relative_link(holder.path, name))?;
    let means = resolve_link(name, Some(holder.path), &candidates);
    for moving in moving {
        let file = moving.summary.as_ref().map(|summary| summary.id);
        // An unresolved name may stand for a note that was moved before.
        if !candidates.is_empty() && (means.is_none() || means != file) {
            continue;
        }
        let renamed = moving.new_name(name, from.project.as_str(), None);
        let fix = match file {
            Some(file) => {
                after.fix(&LinkToNote { text: name, file, holder: Some(holder) }, renamed)?
            }
            None => renamed.map(LinkFix::renamed),
        };
        if fix.is_some() {
            return Ok(fix);
        }
    }
    Ok(None)
}
