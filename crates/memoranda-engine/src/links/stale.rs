//! Finds relations that change their target when notes move: to moved notes, newly captured by
//! them, and from them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use memoranda_core::graph::{alias_key, resolve_link, resolve_relative_link};
use memoranda_core::id::ProjectName;
use memoranda_core::note::link_name;
use memoranda_core::path::NotePath;
use memoranda_store::{FileSummary, RelationRow, Transaction};

use crate::error::Result;
use crate::links::after_move::{LinkFix, LinkToNote, PostMoveResolver};
use crate::links::path_change::{LinkHolder, PathChange, states_title, without_extension};
use crate::links::resolve::NoteLocation;
use crate::notes::move_notes::LinkDirection;

/// Fixes of links by the note that contains them and the text of the link.
type LinkFixes = BTreeMap<NoteLocation, BTreeMap<String, LinkFix>>;

/// Returns the links that a move makes stale, with their fixes.
pub(crate) fn outdated_links(
    view: &Transaction<'_>,
    after: &PostMoveResolver<'_>,
    from: &NoteLocation,
    moving: &[PathChange],
) -> Result<LinkFixes> {
    let new_places = moving.iter().map(|moving| (&moving.old, &moving.new)).collect();
    let finder = StaleLinkFinder { view, after, project: &from.project, new_places };
    let mut outdated = LinkFixes::new();
    for moving in moving {
        finder.add_incoming_links(moving, &mut outdated)?;
        let holder = NoteLocation::new(&from.project, moving.current().clone());
        for (target, fix) in finder.outgoing_links(moving)? {
            outdated.entry(holder.clone()).or_default().insert(target, fix);
        }
        for (target, fix) in finder.outgoing_links_since_earlier_move(moving)? {
            outdated.entry(holder.clone()).or_default().entry(target).or_insert(fix);
        }
    }
    finder.add_captured_links(&mut outdated)?;
    Ok(outdated)
}

/// Finds the relations of a project that a move makes stale.
struct StaleLinkFinder<'a> {
    view: &'a Transaction<'a>,
    after: &'a PostMoveResolver<'a>,
    project: &'a ProjectName,
    /// New paths of the moved files by their old paths.
    new_places: HashMap<&'a NotePath, &'a NotePath>,
}

impl StaleLinkFinder<'_> {
    /// Adds the links to a moved note.
    fn add_incoming_links(&self, moving: &PathChange, outdated: &mut LinkFixes) -> Result<()> {
        let summary = moving.summary.as_ref();
        for link in self.links_to(moving)? {
            // A link by the exact title still resolves to the note.
            if link.exact_name.is_some() && summary.is_some_and(states_title) {
                continue;
            }
            let Some(file) = self.view.file_by_id(link.file)? else { continue };
            let holder = self.holder(&file);
            for text in name_parts(self.view, &link, holder.map(|holder| holder.path))? {
                let name = moving.new_name(text, self.project.as_str(), holder);
                let fix = match summary.filter(|_| link.exact_name.is_none()) {
                    Some(summary) => {
                        self.after.fix(&LinkToNote { text, file: summary.id, holder }, name)?
                    }
                    None => name.map(LinkFix::renamed),
                };
                if let Some(fix) = fix {
                    let fixes = outdated.entry(NoteLocation::from(&file)).or_default();
                    fixes.insert(text.to_owned(), fix);
                }
            }
        }
        Ok(())
    }

    /// Returns the links to a moved note, and unresolved links with its old name.
    fn links_to(&self, moving: &PathChange) -> Result<Vec<RelationRow>> {
        let mut links = match &moving.summary {
            Some(summary) => self.view.relations_to(summary.id)?,
            None => Vec::new(),
        };
        // The name of a Markdown file is complete without its extension, the name of another file
        // is not.
        let old = &moving.old;
        let whole = if old.is_markdown() { without_extension(old) } else { old.as_str() };
        let ends = whole.match_indices('/').filter_map(|(at, _)| whole.get(at + 1..));
        for name in [whole, &format!("/{whole}")].into_iter().chain(ends) {
            let named = self.view.relations_named(self.project, name)?;
            links.extend(named.into_iter().filter(|link| link.target_file.is_none()));
        }
        Ok(links)
    }

    /// Adds the links to unmoved notes that would lead to a moved note, because it is nearer now or
    /// has the name of the link.
    fn add_captured_links(&self, outdated: &mut LinkFixes) -> Result<()> {
        let mut seen = BTreeSet::new();
        for name in self.after.names() {
            for link in self.view.relations_named(self.project, name)? {
                let stays = link.target_file.filter(|file| !self.after.is_moved(*file));
                let Some(file) = stays.filter(|_| link.exact_name.is_none()) else { continue };
                if !seen.insert((link.file, link.target.clone())) {
                    continue;
                }
                let Some(summary) = self.view.file_by_id(link.file)? else { continue };
                let holder = self.holder(&summary);
                for text in name_parts(self.view, &link, holder.map(|holder| holder.path))? {
                    if let Some(fix) = self.after.fix(&LinkToNote { text, file, holder }, None)? {
                        let fixes = outdated.entry(NoteLocation::from(&summary)).or_default();
                        fixes.entry(text.to_owned()).or_insert(fix);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the links in a moved note that would lead nowhere or to another note from the new
    /// place, each with its fix.
    fn outgoing_links(&self, moving: &PathChange) -> Result<Vec<(String, LinkFix)>> {
        let is_there = moving.current() == &moving.old && moving.old != moving.new;
        let Some(summary) = moving.summary.as_ref().filter(|_| is_there) else {
            return Ok(Vec::new());
        };
        let holder = LinkHolder { path: &moving.old, new: &moving.new };
        let mut fixes = Vec::new();
        for link in self.view.relations_from(summary.id)? {
            let Some(file) = link.target_file.filter(|_| link.exact_name.is_none()) else {
                continue;
            };
            let in_project = |found: &FileSummary| found.project == summary.project;
            let Some(found) = self.view.file_by_id(file)?.filter(in_project) else { continue };
            let Some(text) = name_parts(self.view, &link, Some(holder.path))?.pop() else {
                continue;
            };
            let place = spelled_like(self.new_place(&found.path), text);
            let leads_away = is_relative(text)
                && alias_key(&resolve_relative_link(&moving.new, text)) != alias_key(place);
            // Links between moved notes are handled with their targets.
            if !leads_away && self.after.is_moved(file) {
                continue;
            }
            let link = LinkToNote { text, file, holder: Some(holder) };
            let fix = self.after.fix(&link, leads_away.then(|| place.to_owned()))?;
            let direction = if self.after.is_moved(file) {
                LinkDirection::Incoming
            } else {
                LinkDirection::Outgoing
            };
            fixes.extend(fix.map(|fix| (text.to_owned(), LinkFix { direction, ..fix })));
        }
        Ok(fixes)
    }

    /// Returns the links in a note that have been unresolved since an earlier move of the note, each
    /// with its fix.
    fn outgoing_links_since_earlier_move(
        &self,
        moving: &PathChange,
    ) -> Result<Vec<(String, LinkFix)>> {
        let is_there = moving.current() == &moving.old;
        let Some(summary) = moving.summary.as_ref().filter(|_| !is_there) else {
            return Ok(Vec::new());
        };
        let holder = LinkHolder { path: &moving.old, new: &moving.new };
        let mut fixes = Vec::new();
        for link in self.view.relations_from(summary.id)? {
            let is_lost = link.target_file.is_none() && link.exact_name.is_none();
            let parts = name_parts(self.view, &link, Some(holder.path))?;
            for text in parts.into_iter().filter(|text| is_lost && is_relative(text)) {
                let seen = resolve_relative_link(holder.path, text);
                let candidates = self.view.link_candidates(&summary.project, &seen)?;
                let Some(file) = resolve_link(text, Some(holder.path), &candidates) else {
                    continue;
                };
                let Some(found) = candidates.iter().find(|candidate| candidate.id == file) else {
                    continue;
                };
                let place = spelled_like(self.new_place(&found.path), text);
                let link = LinkToNote { text, file, holder: Some(holder) };
                let fix = self.after.fix(&link, Some(place.to_owned()))?;
                let direction = LinkDirection::Outgoing;
                fixes.extend(fix.map(|fix| (text.to_owned(), LinkFix { direction, ..fix })));
            }
        }
        Ok(fixes)
    }

    /// Returns the path of a file after the move.
    fn new_place<'p>(&'p self, path: &'p NotePath) -> &'p NotePath {
        self.new_places.get(path).copied().unwrap_or(path)
    }

    /// Returns the paths of a note that contains a link; `None` for a note of another project.
    fn holder<'p>(&'p self, file: &'p FileSummary) -> Option<LinkHolder<'p>> {
        (file.project == *self.project)
            .then(|| LinkHolder { path: &file.path, new: self.new_place(&file.path) })
    }
}

/// Returns the name part of a link: the whole text if the note has that name, else the part before
/// a heading. For an unresolved link either can be the name.
fn name_parts<'l>(
    view: &Transaction<'_>,
    link: &'l RelationRow,
    holder: Option<&NotePath>,
) -> Result<Vec<&'l str>> {
    let Some(whole) = &link.whole else { return Ok(vec![&link.target]) };
    let part = link_name(&link.target).trim_end();
    let Some(file) = link.target_file else { return Ok(vec![&whole.text, part]) };
    let Some(target) = view.file_by_id(file)? else { return Ok(vec![part]) };
    let name = whole.text.rsplit_once("::").map_or(whole.text.as_str(), |(_, name)| name).trim();
    let seen = holder.map_or(name.into(), |holder| resolve_relative_link(holder, name));
    let candidates = view.link_candidates(&target.project, &seen)?;
    Ok(if resolve_link(&whole.text, holder, &candidates) == Some(file) {
        vec![&whole.text]
    } else {
        vec![part]
    })
}

/// Returns the link texts of a note that are names as a whole, though they could contain a heading.
pub(crate) fn whole_names(
    view: &Transaction<'_>,
    holder: &NoteLocation,
) -> Result<BTreeSet<String>> {
    let Some(file) = view.file(&holder.project, &holder.path)? else { return Ok(BTreeSet::new()) };
    let mut called = BTreeSet::new();
    for link in view.relations_from(file.id)? {
        if link.target_file.is_some()
            && let Some(whole) = &link.whole
            && name_parts(view, &link, Some(&holder.path))?.contains(&whole.text.as_str())
        {
            called.insert(whole.text.clone());
        }
    }
    Ok(called)
}

/// Returns true if a link is resolved relative to the folder of its note only.
fn is_relative(target: &str) -> bool {
    target.starts_with("./") || target.starts_with("../")
}

/// Returns a path, without its extension if the link has none.
fn spelled_like<'p>(place: &'p NotePath, target: &str) -> &'p str {
    let has_extension = target.ends_with(&format!(".{}", place.extension()));
    if has_extension { place.as_str() } else { without_extension(place) }
}
