//! Links to what is moved that are no relations: in frontmatter, in drawings, and paths in Markdown or
//! HTML.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use memoranda_core::graph::{LinkCandidate, meant, seen_from};
use memoranda_core::note::{
    encoded, percent_encoded, relink_canvas, relink_paths, relink_properties,
};
use memoranda_core::path::NotePath;
use memoranda_store::View;

use crate::aftermath::{Aftermath, LinkTo, Mend};
use crate::error::Result;
use crate::rename::{LinkText, Moving, OutdatedLink, text_at};
use crate::resolve::Place;

/// A file is looked for by its own name among so many; of more, by the folder that they share.
const MANY_FILES: usize = 100;

/// The files that may hold links to what is moved: those that hold its name, and what is moved.
pub(crate) fn holders(view: &View<'_>, from: &Place, moving: &[Moving]) -> Result<Vec<NotePath>> {
    let old: Vec<&NotePath> = moving.iter().map(|moving| &moving.old).collect();
    let is_one = moving.windows(2).all(|pair| matches!(pair, [a, b] if a.new == b.new));
    // What lies in a folder is named with the folder, but from within, where nothing changes.
    let folder = common_folder(&old).filter(|_| !is_one);
    let mut holders = match folder {
        Some(folder) => naming(view, from, &[folder])?,
        None => naming(view, from, &stems(&old))?,
    };
    holders.extend(moving.iter().map(|moving| moving.current().clone()).filter(can_hold));
    holders.sort_unstable();
    holders.dedup();
    Ok(holders)
}

/// Such links to files that are about to go.
#[derive(Default)]
pub(crate) struct Mentions {
    /// How many will lead nowhere.
    pub(crate) lost: usize,
    /// Those that will mean another note.
    pub(crate) drawn: Vec<OutdatedLink>,
}

/// The links to files that are about to go, in those that stay.
pub(crate) fn to(view: &View<'_>, from: &Place, going: &[NotePath]) -> Result<Mentions> {
    let old: Vec<&NotePath> = going.iter().collect();
    let folder = common_folder(&old).filter(|_| going.len() > MANY_FILES);
    let names = folder.map_or_else(|| stems(&old), |folder| vec![folder]);
    let going: HashSet<&NotePath> = going.iter().collect();
    let is_going = |path: &str| NotePath::parse(path).is_ok_and(|path| going.contains(&path));
    let mut found = Mentions::default();
    for holder in naming(view, from, &names)? {
        let place = Place { project: from.project.clone(), path: holder };
        let holder = &place.path;
        let Some(text) = text_at(view, &place)?.filter(|_| !going.contains(holder)) else {
            continue;
        };
        let (mut paths, mut said) = (0, BTreeMap::<String, usize>::new());
        let path = |path: &str| {
            let seen = seen_from(holder, &format!("./{path}")).into_owned();
            paths += usize::from(is_going(path) || is_going(&seen));
            None
        };
        let name = |name: &str| {
            *said.entry(name.to_owned()).or_default() += 1;
            None
        };
        relinked(holder, &text, path, name);
        found.lost += paths;
        for (name, count) in said {
            let mut candidates = view.link_candidates(&from.project, &seen_from(holder, &name))?;
            let means = meant(&name, Some(holder), &candidates);
            let is_meant = |c: &LinkCandidate<i64>| Some(c.id) == means && going.contains(&c.path);
            if !candidates.iter().any(is_meant) {
                continue;
            }
            candidates.retain(|candidate| !going.contains(&candidate.path));
            let then = meant(&name, Some(holder), &candidates);
            match candidates.into_iter().find(|candidate| Some(candidate.id) == then) {
                None => found.lost += count,
                Some(other) => found.drawn.push(OutdatedLink {
                    holder: place.clone(),
                    link: LinkText::Name(name),
                    means: Some(Place { project: from.project.clone(), path: other.path }),
                    count,
                }),
            }
        }
    }
    Ok(found)
}

/// The files that hold one of these names where no relation is read.
fn naming(view: &View<'_>, from: &Place, names: &[&str]) -> Result<Vec<NotePath>> {
    let written = |name: &&str| [(*name).to_owned(), encoded(name), percent_encoded(name)];
    let mut names: Vec<String> = names.iter().flat_map(written).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut holders = view.mentioning(&from.project, &names)?;
    holders.retain(can_hold);
    Ok(holders)
}

/// Whether such links are read in a file.
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

/// A file whose links say where things are now.
pub(crate) struct Mended {
    pub(crate) text: String,
    pub(crate) count: usize,
    /// What the links said, and the other notes that they would mean.
    pub(crate) links: Vec<(LinkText, Option<Place>)>,
}

/// A file's text with such links mended.
pub(crate) fn mended(
    view: &View<'_>,
    after: &Aftermath<'_>,
    from: &Place,
    moving: &[Moving],
    holder: &NotePath,
    text: &str,
) -> Result<Mended> {
    let new_places: HashMap<&NotePath, &NotePath> =
        moving.iter().map(|moving| (&moving.old, &moving.new)).collect();
    let own = moving.iter().find(|moving| moving.current() == holder);
    let (was, will) = own.map_or((holder, holder), |own| (&own.old, &own.new));
    let new_of = |path: &str| new_places.get(&NotePath::parse(path).ok()?).copied();
    let is_drawing = holder.extension() == "canvas";
    let links = RefCell::new(Vec::new());
    let path = |path: &str| {
        let seen = seen_from(was, &format!("./{path}")).into_owned();
        let there = new_of(&seen).filter(|_| !is_drawing).map(|new| new.seen_from(will));
        // Obsidian also writes paths from the top, and in a drawing no others.
        let there = there.or_else(|| new_of(path).map(ToString::to_string));
        let there = there.or_else(|| {
            let stays = NotePath::parse(&seen).ok().filter(|_| was != will && !is_drawing)?;
            view.file(&from.project, &stays).ok().flatten().map(|_| stays.seen_from(will))
        });
        let there = there.filter(|new| new != path)?;
        links.borrow_mut().push((LinkText::Path(path.to_owned()), None));
        Some(there)
    };
    let mut failed = None;
    let mend = |name: &str| -> Result<Option<(Mend, Option<Place>)>> {
        let Some(mend) = named(view, after, from, moving, (was, will), name)? else {
            return Ok(None);
        };
        let other = after.other(&mend)?;
        Ok(Some((mend, other)))
    };
    let name = |name: &str| match mend(name) {
        Ok(mended) => mended.map(|(mend, other)| {
            links.borrow_mut().push((LinkText::Name(name.to_owned()), other));
            mend.text
        }),
        Err(e) => {
            failed = Some(e);
            None
        }
    };
    let (text, count) = relinked(holder, text, path, name);
    match failed {
        Some(error) => Err(error),
        None => Ok(Mended { text, count, links: links.into_inner() }),
    }
}

/// A file's text with other paths and names in it, as far as they are no relations.
fn relinked(
    holder: &NotePath,
    text: &str,
    path: impl FnMut(&str) -> Option<String>,
    name: impl FnMut(&str) -> Option<String>,
) -> (String, usize) {
    if holder.extension() == "canvas" {
        return relink_canvas(text, path, name);
    }
    let (text, paths) = relink_paths(text, path);
    let (text, names) = relink_properties(&text, name);
    (text, paths + names)
}

/// What a link in frontmatter or a drawing must say, if it means something that is moved.
fn named(
    view: &View<'_>,
    after: &Aftermath<'_>,
    from: &Place,
    moving: &[Moving],
    holder: (&NotePath, &NotePath),
    name: &str,
) -> Result<Option<Mend>> {
    let candidates = view.link_candidates(&from.project, &seen_from(holder.0, name))?;
    let means = meant(name, Some(holder.0), &candidates);
    for moving in moving {
        let file = moving.summary.as_ref().map(|summary| summary.id);
        // What was moved before is meant by a name that means nothing any more.
        if !candidates.is_empty() && (means.is_none() || means != file) {
            continue;
        }
        let renamed = moving.new_name(name, from.project.as_str(), None);
        let mend = match file {
            Some(file) => {
                let said = LinkTo { text: name, file, holder: Some(holder) };
                after.mend(&said, renamed)?
            }
            None => renamed.map(|text| Mend { text, other: None }),
        };
        if mend.is_some() {
            return Ok(mend);
        }
    }
    Ok(None)
}
