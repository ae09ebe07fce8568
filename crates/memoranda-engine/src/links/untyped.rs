//! Links to what is moved that are no relations: in frontmatter, in drawings, and paths in Markdown or
//! HTML.

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
use crate::links::path_change::{PathChange, text_at};
use crate::links::path_links::{PathInFile, PathResolver};
use crate::links::resolve::NoteLocation;
use crate::notes::move_notes::{LinkDirection, LinkText, OutdatedLink};

/// A file is looked for by its own name among so many; of more, by the folder that they share.
const MANY_FILES: usize = 100;

/// Returns the files that may contain links to moved notes: those that contain their names, and the
/// moved notes.
pub(crate) fn holders(
    view: &Transaction<'_>,
    from: &NoteLocation,
    moving: &[PathChange],
) -> Result<Vec<NotePath>> {
    let old: Vec<&NotePath> = moving.iter().map(|moving| &moving.old).collect();
    // Links to files of a folder contain the folder's name. Links from within the folder do not
    // change.
    let folder = common_folder(&old).filter(|_| moving.len() > MANY_FILES);
    let mut holders = match folder {
        Some(folder) => naming(view, from, &[folder])?,
        None => {
            // A path with the new name may have led to another file.
            let new = moving.iter().map(|moving| &moving.new);
            let places: Vec<&NotePath> = old.iter().copied().chain(new).collect();
            naming(view, from, &stems(&places))?
        }
    };
    holders.extend(moving.iter().map(|moving| moving.current().clone()).filter(can_hold));
    holders.sort_unstable();
    holders.dedup();
    Ok(holders)
}

/// Such links to files that are about to go.
#[derive(Default)]
pub(crate) struct UntypedLinks {
    /// How many will lead nowhere.
    pub(crate) lost: usize,
    /// Those that will mean another note.
    pub(crate) drawn: Vec<OutdatedLink>,
}

/// The links to files that are about to go, in those that stay.
pub(crate) fn to(
    view: &Transaction<'_>,
    from: &NoteLocation,
    going: &[NotePath],
) -> Result<UntypedLinks> {
    let old: Vec<&NotePath> = going.iter().collect();
    let folder = common_folder(&old).filter(|_| going.len() > MANY_FILES);
    let names = folder.map_or_else(|| stems(&old), |folder| vec![folder]);
    let places = PathResolver::going(view, &from.project, going);
    let going: HashSet<&NotePath> = going.iter().collect();
    let mut found = UntypedLinks::default();
    for holder in naming(view, from, &names)? {
        let place = NoteLocation { project: from.project.clone(), path: holder };
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
            let is_called = link_name(name) != name && is_meant(view, from, holder, name);
            is_called.then(|| LinkReplacement::from(name.to_owned()))
        };
        relinked(holder, &text, path, name);
        for (path, count) in paths {
            let said = PathInFile { path: &path, is: &[holder], will: holder };
            let mend = places.mend(&said)?.filter(|mend| going.contains(&mend.file));
            match mend.map(|mend| mend.other) {
                None => {}
                Some(None) => found.lost += count,
                Some(means) => found.drawn.push(OutdatedLink {
                    holder: place.clone(),
                    link: LinkText::Path(path),
                    whose: LinkDirection::ToIt,
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
                Some(other) => found.drawn.push(OutdatedLink {
                    holder: place.clone(),
                    link: LinkText::Name(name),
                    whose: LinkDirection::ToIt,
                    means: Some(NoteLocation { project: from.project.clone(), path: other.path }),
                    count,
                }),
            }
        }
    }
    Ok(found)
}

/// The files that hold one of these names where no relation is read.
fn naming(view: &Transaction<'_>, from: &NoteLocation, names: &[&str]) -> Result<Vec<NotePath>> {
    let mut names: Vec<String> = names.iter().flat_map(|name| path_spellings(name)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut holders = view.mentioning(&from.project, &names)?;
    holders.retain(can_hold);
    Ok(holders)
}

/// Returns true if a file can contain such links.
fn can_hold(path: &NotePath) -> bool {
    path.is_markdown() || path.extension() == "canvas"
}

fn stems<'p>(places: &[&'p NotePath]) -> Vec<&'p str> {
    places.iter().map(|place| place.stem()).collect()
}

/// The last name of the folder that all of these lie in.
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
    /// Those of them that cannot say anything else.
    pub(crate) unwritable: Vec<(LinkText, LinkDirection, Option<NoteLocation>)>,
}

/// A file's text with such links mended.
pub(crate) fn mended(
    view: &Transaction<'_>,
    after: &PostMoveResolver<'_>,
    from: &NoteLocation,
    moving: &[PathChange],
    holder: &NotePath,
    text: &str,
) -> Result<RewrittenText> {
    let own: Vec<&PathChange> = moving.iter().filter(|moving| moving.current() == holder).collect();
    let (was, will) = own.first().map_or((holder, holder), |own| (&own.old, &own.new));
    // Where it is says most; where it was before, what nothing says any more.
    let before = own.iter().map(|own| &own.old).filter(|old| *old != holder);
    let is: Vec<&NotePath> = std::iter::once(holder).chain(before).collect();
    let places = PathResolver::moving(view, &from.project, moving);
    let (links, failed) = (RefCell::new(Vec::new()), RefCell::new(None));
    let path = |path: &str| match places.mend(&PathInFile { path, is: &is, will }) {
        Ok(mend) => mend.and_then(|mend| {
            let is_moved = moving.iter().any(|moving| moving.new == mend.file);
            let whose =
                if own.is_empty() || is_moved { LinkDirection::ToIt } else { LinkDirection::Its };
            links.borrow_mut().push((LinkText::Path(path.to_owned()), whose, mend.other));
            mend.text
        }),
        Err(e) => {
            *failed.borrow_mut() = Some(e);
            None
        }
    };
    let mend = |name: &str| -> Result<Option<(LinkFix, Option<NoteLocation>)>> {
        let Some(mend) = named(view, after, from, moving, (was, will), name)? else {
            return Ok(None);
        };
        let other = after.other(&mend)?;
        Ok(Some((mend, other)))
    };
    let mut unwritable = Vec::new();
    let name = |name: &str| match mend(name) {
        Ok(None) if link_name(name) != name && is_meant(view, from, was, name) => {
            Some(LinkReplacement::from(name.to_owned()))
        }
        Ok(mended) => mended.and_then(|(mend, other)| {
            let link = (LinkText::Name(name.to_owned()), mend.whose, other);
            if mend.is_hard_to_say() {
                unwritable.push(link.clone());
            }
            links.borrow_mut().push(link);
            Some(mend.name.clone()).filter(|_| !mend.is_hard_to_say())
        }),
        Err(e) => {
            *failed.borrow_mut() = Some(e);
            None
        }
    };
    let (text, count) = relinked(holder, text, path, name);
    match failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(RewrittenText { text, count, links: links.into_inner(), unwritable }),
    }
}

/// Returns true if a name in a file resolves to a note.
fn is_meant(view: &Transaction<'_>, from: &NoteLocation, holder: &NotePath, name: &str) -> bool {
    let candidates = view.link_candidates(&from.project, &resolve_relative_link(holder, name));
    candidates.is_ok_and(|candidates| resolve_link(name, Some(holder), &candidates).is_some())
}

/// Returns the text of a file with replaced paths and names, and their number. Relations are left
/// alone.
fn relinked(
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
fn named(
    view: &Transaction<'_>,
    after: &PostMoveResolver<'_>,
    from: &NoteLocation,
    moving: &[PathChange],
    holder: (&NotePath, &NotePath),
    name: &str,
) -> Result<Option<LinkFix>> {
    let candidates = view.link_candidates(&from.project, &resolve_relative_link(holder.0, name))?;
    let means = resolve_link(name, Some(holder.0), &candidates);
    for moving in moving {
        let file = moving.summary.as_ref().map(|summary| summary.id);
        // An unresolved name may stand for a note that was moved before.
        if !candidates.is_empty() && (means.is_none() || means != file) {
            continue;
        }
        let renamed = moving.new_name(name, from.project.as_str(), None);
        let mend = match file {
            Some(file) => {
                let said = LinkToNote { text: name, file, holder: Some(holder) };
                after.mend(&said, renamed)?
            }
            None => renamed.map(|name| LinkFix {
                name: name.into(),
                whose: LinkDirection::ToIt,
                other: None,
            }),
        };
        if mend.is_some() {
            return Ok(mend);
        }
    }
    Ok(None)
}
