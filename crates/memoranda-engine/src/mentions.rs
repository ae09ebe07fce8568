//! Links to what is moved that are no relations: in frontmatter, in drawings, and paths in Markdown.

use std::collections::HashMap;

use memoranda_core::graph::seen_from;
use memoranda_core::note::{encoded, relink_canvas, relink_paths, relink_properties};
use memoranda_core::path::NotePath;
use memoranda_store::View;

use crate::error::Result;
use crate::rename::Moving;
use crate::resolve::Place;

/// The files that may hold such links: those that hold the name of what is moved, and what is moved.
pub(crate) fn holders(view: &View<'_>, from: &Place, moving: &[Moving]) -> Result<Vec<NotePath>> {
    let Some(first) = moving.first() else { return Ok(Vec::new()) };
    // What lies in a folder is named with the folder, but from within, where nothing changes.
    let old = match moving {
        [only] => only.old.stem().to_owned(),
        _ => common_folder(moving).unwrap_or_else(|| first.old.stem().to_owned()),
    };
    let mut names = vec![encoded(&old), old];
    names.dedup();
    let mut holders = view.mentioning(&from.project, &names)?;
    holders.extend(moving.iter().map(|moving| moving.current().clone()));
    holders.retain(|holder| holder.is_markdown() || holder.extension() == "canvas");
    holders.sort_unstable();
    holders.dedup();
    Ok(holders)
}

/// The last name of the folder that all of these lay in.
fn common_folder(moving: &[Moving]) -> Option<String> {
    let mut shared = moving.first()?.old.parent()?;
    for moving in moving {
        while !moving.old.is_within(shared) {
            shared = shared.rsplit_once('/')?.0;
        }
    }
    shared.rsplit('/').next().map(str::to_owned)
}

/// A file's text with such links mended, and how many there were.
pub(crate) fn mended(
    view: &View<'_>,
    from: &Place,
    moving: &[Moving],
    holder: &NotePath,
    text: &str,
) -> Result<(String, usize)> {
    let new_places: HashMap<&NotePath, &NotePath> =
        moving.iter().map(|moving| (&moving.old, &moving.new)).collect();
    let own = moving.iter().find(|moving| moving.current() == holder);
    let (was, will) = own.map_or((holder, holder), |own| (&own.old, &own.new));
    let new_of = |path: &str| new_places.get(&NotePath::parse(path).ok()?).copied();
    if holder.extension() == "canvas" {
        return Ok(relink_canvas(text, |path| new_of(path).map(ToString::to_string)));
    }
    let rename = |path: &str| {
        let seen = seen_from(was, &format!("./{path}")).into_owned();
        let there = new_of(&seen).map(|new| new.seen_from(will));
        // Obsidian also writes paths from the top.
        let there = there.or_else(|| new_of(path).map(ToString::to_string));
        let there = there.or_else(|| {
            let stays = NotePath::parse(&seen).ok().filter(|_| was != will)?;
            view.file(&from.project, &stays).ok().flatten().map(|_| stays.seen_from(will))
        });
        there.filter(|new| new != path)
    };
    let (text, paths) = relink_paths(text, rename);
    let mut failed = None;
    let rename = |name: &str| match named(view, from, moving, name) {
        Ok(new) => new,
        Err(e) => {
            failed = Some(e);
            None
        }
    };
    let (text, properties) = relink_properties(&text, rename);
    match failed {
        Some(error) => Err(error),
        None => Ok((text, paths + properties)),
    }
}

/// The new name for one in frontmatter, if it means something that is moved.
fn named(view: &View<'_>, from: &Place, moving: &[Moving], name: &str) -> Result<Option<String>> {
    let candidates = view.link_candidates(&from.project, name)?;
    // What was moved before is meant by a name that means nothing any more.
    let is_meant = |moving: &&Moving| {
        let file = moving.summary.as_ref().map(|summary| summary.id);
        candidates.is_empty() || candidates.iter().any(|candidate| Some(candidate.id) == file)
    };
    let mut meant = moving.iter().filter(is_meant);
    Ok(meant.find_map(|moving| moving.new_name(name, from.project.as_str(), None)))
}
