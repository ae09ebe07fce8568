//! Which links a move leaves behind that are relations: those to what moves, those that would mean it,
//! and its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use memoranda_core::graph::{alias_key, resolve_link, resolve_relative_link};
use memoranda_core::note::link_name;
use memoranda_core::path::NotePath;
use memoranda_store::{RelationRow, Transaction};

use crate::error::Result;
use crate::links::after_move::{LinkFix, LinkToNote, PostMoveResolver};
use crate::links::path_change::{LinkHolder, PathChange, states_title, without_extension};
use crate::links::resolve::NoteLocation;
use crate::notes::move_notes::LinkDirection;

/// Returns the links that a move makes stale: for each note the text of the link and its
/// replacement.
pub(crate) fn outdated_links(
    view: &Transaction<'_>,
    after: &PostMoveResolver<'_>,
    from: &NoteLocation,
    moving: &[PathChange],
) -> Result<BTreeMap<NoteLocation, BTreeMap<String, LinkFix>>> {
    let mut outdated: BTreeMap<NoteLocation, BTreeMap<String, LinkFix>> = BTreeMap::new();
    let new_places: HashMap<&NotePath, &NotePath> =
        moving.iter().map(|moving| (&moving.old, &moving.new)).collect();
    for moving in moving {
        let mut links: Vec<RelationRow> = Vec::new();
        if let Some(summary) = &moving.summary {
            links.extend(view.relations_to(summary.id)?);
        }
        // Links by the old name that mean nothing (any more). The extension of Markdown goes
        // without saying; that of other files is said.
        let old = &moving.old;
        let whole = if old.is_markdown() { without_extension(old) } else { old.as_str() };
        let ends = whole.match_indices('/').filter_map(|(at, _)| whole.get(at + 1..));
        for name in [whole, &format!("/{whole}")].into_iter().chain(ends) {
            let named = view.relations_named(&from.project, name)?;
            links.extend(named.into_iter().filter(|link| link.target_file.is_none()));
        }
        for link in links {
            // One that means exactly this title goes on meaning it.
            let keeps_title = moving.summary.as_ref().is_some_and(states_title);
            if link.exact_name.is_some() && keeps_title {
                continue;
            }
            let Some(holder) = view.file_by_id(link.file)? else { continue };
            let own = (holder.project == from.project).then(|| LinkHolder {
                path: &holder.path,
                new: new_places.get(&holder.path).copied().unwrap_or(&holder.path),
            });
            for text in said(view, &link, own.as_ref().map(|own| own.path))? {
                let name = moving.new_name(text, from.project.as_str(), own.as_ref());
                let mend = match moving.summary.as_ref().filter(|_| link.exact_name.is_none()) {
                    Some(summary) => {
                        let holder = own.as_ref().map(|own| (own.path, own.new));
                        after.mend(&LinkToNote { text, file: summary.id, holder }, name)?
                    }
                    None => name.map(|name| LinkFix {
                        name: name.into(),
                        whose: LinkDirection::ToIt,
                        other: None,
                    }),
                };
                if let Some(mend) = mend {
                    let (project, path) = (holder.project.clone(), holder.path.clone());
                    let mends = outdated.entry(NoteLocation { project, path }).or_default();
                    mends.insert(text.to_owned(), mend);
                }
            }
        }
        let holder = NoteLocation { project: from.project.clone(), path: moving.current().clone() };
        for (target, mend) in left_behind(view, after, moving, &new_places)? {
            outdated.entry(holder.clone()).or_default().insert(target, mend);
        }
        for (target, mend) in left_before(view, after, moving, &new_places)? {
            outdated.entry(holder.clone()).or_default().entry(target).or_insert(mend);
        }
    }
    for (holder, target, mend) in drawn_away(view, after, from, &new_places)? {
        outdated.entry(holder).or_default().entry(target).or_insert(mend);
    }
    Ok(outdated)
}

/// Returns the links to unmoved notes that would lead to a moved note, because it is nearer now or
/// has the name of the link.
fn drawn_away(
    view: &Transaction<'_>,
    after: &PostMoveResolver<'_>,
    from: &NoteLocation,
    new_places: &HashMap<&NotePath, &NotePath>,
) -> Result<Vec<(NoteLocation, String, LinkFix)>> {
    let mut drawn = Vec::new();
    let mut seen = BTreeSet::new();
    for name in after.names() {
        for link in view.relations_named(&from.project, name)? {
            let stays = link.target_file.filter(|file| !after.is_moved(*file));
            let Some(file) = stays.filter(|_| link.exact_name.is_none()) else { continue };
            if !seen.insert((link.file, link.target.clone())) {
                continue;
            }
            let Some(holder) = view.file_by_id(link.file)? else { continue };
            let new = new_places.get(&holder.path).copied().unwrap_or(&holder.path);
            let own = (holder.project == from.project).then_some((&holder.path, new));
            for text in said(view, &link, own.map(|(path, _)| path))? {
                if let Some(mend) = after.mend(&LinkToNote { text, file, holder: own }, None)? {
                    let (project, path) = (holder.project.clone(), holder.path.clone());
                    drawn.push((NoteLocation { project, path }, text.to_owned(), mend));
                }
            }
        }
    }
    Ok(drawn)
}

/// Returns the name part of a link: the whole text if the note has that name, else the part before
/// a heading. For an unresolved link either can be the name.
fn said<'l>(
    view: &Transaction<'_>,
    link: &'l RelationRow,
    holder: Option<&NotePath>,
) -> Result<Vec<&'l str>> {
    let Some(whole) = &link.whole else { return Ok(vec![&link.target]) };
    let part = link_name(&link.target).trim_end();
    let Some(file) = link.target_file else { return Ok(vec![&whole.text, part]) };
    let Some(meant_by_it) = view.file_by_id(file)? else { return Ok(vec![part]) };
    let name = whole.text.rsplit_once("::").map_or(whole.text.as_str(), |(_, name)| name).trim();
    let seen = holder.map_or(name.into(), |holder| resolve_relative_link(holder, name));
    let candidates = view.link_candidates(&meant_by_it.project, &seen)?;
    Ok(if resolve_link(&whole.text, holder, &candidates) == Some(file) {
        vec![&whole.text]
    } else {
        vec![part]
    })
}

/// Returns the link texts of a note that are names as a whole, though they could contain a heading.
pub(crate) fn called_wholly(
    view: &Transaction<'_>,
    holder: &NoteLocation,
) -> Result<BTreeSet<String>> {
    let Some(file) = view.file(&holder.project, &holder.path)? else { return Ok(BTreeSet::new()) };
    let mut called = BTreeSet::new();
    for link in view.relations_from(file.id)? {
        if link.target_file.is_some()
            && let Some(whole) = &link.whole
            && said(view, &link, Some(&holder.path))?.contains(&whole.text.as_str())
        {
            called.insert(whole.text.clone());
        }
    }
    Ok(called)
}

/// Returns the links in a moved note that would lead nowhere or to another note from the new place,
/// each with its replacement.
fn left_behind(
    view: &Transaction<'_>,
    after: &PostMoveResolver<'_>,
    moving: &PathChange,
    new_places: &HashMap<&NotePath, &NotePath>,
) -> Result<Vec<(String, LinkFix)>> {
    let is_there = moving.current() == &moving.old && moving.old != moving.new;
    let Some(summary) = moving.summary.as_ref().filter(|_| is_there) else {
        return Ok(Vec::new());
    };
    let mut left = Vec::new();
    for link in view.relations_from(summary.id)? {
        let Some(file) = link.target_file.filter(|_| link.exact_name.is_none()) else { continue };
        let Some(meant) = view.file_by_id(file)?.filter(|meant| meant.project == summary.project)
        else {
            continue;
        };
        let Some(target) = said(view, &link, Some(&moving.old))?.pop() else { continue };
        let now = new_places.get(&meant.path).copied().unwrap_or(&meant.path);
        let place = said_place(now, target);
        let leads_away = is_relative(target)
            && alias_key(&resolve_relative_link(&moving.new, target)) != alias_key(place);
        // Links between moved notes are handled with their targets.
        if !leads_away && after.is_moved(file) {
            continue;
        }
        let holder = Some((&moving.old, &moving.new));
        let said = LinkToNote { text: target, file, holder };
        let mend = after.mend(&said, leads_away.then(|| place.to_owned()))?;
        let whose = if after.is_moved(file) { LinkDirection::ToIt } else { LinkDirection::Its };
        left.extend(mend.map(|mend| (target.to_owned(), LinkFix { whose, ..mend })));
    }
    Ok(left)
}

/// Returns the links in a note that have been unresolved since an earlier move of the note, with
/// their replacements.
fn left_before(
    view: &Transaction<'_>,
    after: &PostMoveResolver<'_>,
    moving: &PathChange,
    new_places: &HashMap<&NotePath, &NotePath>,
) -> Result<Vec<(String, LinkFix)>> {
    let is_there = moving.current() == &moving.old;
    let Some(summary) = moving.summary.as_ref().filter(|_| !is_there) else {
        return Ok(Vec::new());
    };
    let mut left = Vec::new();
    for link in view.relations_from(summary.id)? {
        let is_lost = link.target_file.is_none() && link.exact_name.is_none();
        let said = said(view, &link, Some(&moving.old))?;
        for target in said.into_iter().filter(|target| is_lost && is_relative(target)) {
            let seen = resolve_relative_link(&moving.old, target);
            let candidates = view.link_candidates(&summary.project, &seen)?;
            let Some(file) = resolve_link(target, Some(&moving.old), &candidates) else { continue };
            let found = candidates.iter().find(|candidate| candidate.id == file);
            let Some(path) = found.map(|found| &found.path) else { continue };
            let now = new_places.get(path).copied().unwrap_or(path);
            let said = LinkToNote { text: target, file, holder: Some((&moving.old, &moving.new)) };
            let mend = after.mend(&said, Some(said_place(now, target).to_owned()))?;
            let mend =
                mend.map(|mend| (target.to_owned(), LinkFix { whose: LinkDirection::Its, ..mend }));
            left.extend(mend);
        }
    }
    Ok(left)
}

/// Returns true if a link is resolved relative to the folder of its note only.
fn is_relative(target: &str) -> bool {
    target.starts_with("./") || target.starts_with("../")
}

/// A place, with its extension if a link says it.
fn said_place<'p>(place: &'p NotePath, target: &str) -> &'p str {
    match target.ends_with(&format!(".{}", place.extension())) {
        true => place.as_str(),
        false => without_extension(place),
    }
}
