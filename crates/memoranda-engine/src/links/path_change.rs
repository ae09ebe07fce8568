//! The change of a note's path, and the names that follow from it.

use memoranda_core::graph::{alias_key, resolve_relative_link};
use memoranda_core::note::decode_text;
use memoranda_core::note::permalink::slug;
use memoranda_core::path::NotePath;
use memoranda_store::{FileSummary, Transaction};

use crate::error::Result;
use crate::links::resolve::NoteLocation;

/// Old and new path of a file, with its index entry.
pub(crate) struct PathChange {
    pub(crate) old: NotePath,
    pub(crate) new: NotePath,
    pub(crate) summary: Option<FileSummary>,
}

/// Old and new path of a note of this project that contains a link.
#[derive(Clone, Copy)]
pub(crate) struct LinkHolder<'a> {
    pub(crate) path: &'a NotePath,
    pub(crate) new: &'a NotePath,
}

impl PathChange {
    /// Returns the path before the move. A note that was moved earlier is already at its new path.
    pub(crate) fn current(&self) -> &NotePath {
        self.summary.as_ref().map_or(&self.old, |summary| &summary.path)
    }

    /// Returns the replacement of a link, so that it leads to the same note; `None` if it already
    /// does.
    pub(crate) fn new_name(
        &self,
        target: &str,
        own: &str,
        holder: Option<LinkHolder<'_>>,
    ) -> Option<String> {
        if let Some((project, name)) = target.split_once("::") {
            return Some(format!("{project}::{}", self.renamed(name.trim(), holder)?));
        }
        if let Some(name) = self.renamed(target, holder) {
            return Some(name);
        }
        // The first folder of a link may be the name of the project.
        let (project, name) = target.split_once('/')?;
        let is_own = alias_key(project) == alias_key(own);
        Some(format!("{project}/{}", self.renamed(name, None).filter(|_| is_own)?))
    }

    /// Returns the replacement of a name without a project.
    fn renamed(&self, name: &str, holder: Option<LinkHolder<'_>>) -> Option<String> {
        let known = |name: &str| {
            self.summary.as_ref().is_some_and(|note| {
                note.permalink == name || (slug(&note.title) == slug(name) && states_title(note))
            })
        };
        let full_extension = name.ends_with(&format!(".{}", self.old.extension()));
        let place = |path: &NotePath| {
            if full_extension {
                path.as_str().to_owned()
            } else {
                without_extension(path).to_owned()
            }
        };
        let last = |path: &NotePath| {
            if full_extension { path.file_name().to_owned() } else { path.stem().to_owned() }
        };
        if let Some(top) = name.strip_prefix('/') {
            let is_meant = alias_key(top) == alias_key(&place(&self.old));
            let stays = alias_key(top) == alias_key(&place(&self.new));
            return (is_meant && !stays).then(|| format!("/{}", place(&self.new)));
        }
        // Rewrite only links that spell the name exactly. `[[C#]]` may resolve to `C++` if no
        // better note exists, but does not contain its name.
        let named = alias_key(name.trim_start_matches('/'));
        let resolve_from = |holder: &NotePath| {
            let relative = resolve_relative_link(holder, name);
            match (holder.parent(), relative == name) {
                (Some(folder), true) => alias_key(&format!("{folder}/{name}")),
                _ => alias_key(&relative),
            }
        };
        let is_path_end = |place: &str| place.ends_with(&format!("/{named}"));
        let (old_place, new_place) = (alias_key(&place(&self.old)), alias_key(&place(&self.new)));
        // A relative path, or the end of a path, may still lead to the note.
        let stays = holder.is_some_and(|holder| resolve_from(holder.new) == new_place)
            || is_path_end(&old_place) && is_path_end(&new_place);
        if name.contains('/') && stays {
            return None;
        }
        let from_holder = holder.map(|holder| resolve_from(holder.path));
        let is_place = name.trim_start_matches('/') == place(&self.old) && name.contains('/');
        // Other programs know only the file name, in any case of letters.
        let in_any_case = |name: &str| NotePath::parse(name).map(|path| path.key()).ok();
        let finds = |path: &NotePath| {
            let found = if name.contains('/') { place(path) } else { last(path) };
            in_any_case(name.trim_start_matches('/')) == in_any_case(&found)
        };
        let is_found_only_before = finds(&self.old) && !finds(&self.new);
        Some(if is_place {
            place(&self.new)
        } else if known(name) && !is_found_only_before {
            return None;
        } else if named == old_place && self.old.as_str().contains('/')
            || from_holder.as_deref() == Some(&old_place) && name.contains('/')
            || is_path_end(&old_place) && name.contains('/')
        {
            place(&self.new)
        } else if named == alias_key(&last(&self.old)) && self.old.stem() != self.new.stem() {
            // The title goes with the name of the file unless the note states one.
            if self.summary.as_ref().is_some_and(states_title) {
                place(&self.new)
            } else {
                last(&self.new)
            }
        } else if named == old_place && self.old.stem() != self.new.stem() {
            place(&self.new)
        } else {
            return None;
        })
    }
}

/// Returns true if the note's text contains its title, so that the title does not depend on the
/// file name.
pub(crate) fn states_title(note: &FileSummary) -> bool {
    note.metadata.contains("\"title\":")
}

pub(crate) fn without_extension(path: &NotePath) -> &str {
    let whole = path.as_str();
    match path.extension() {
        "" => whole,
        extension => whole.get(..whole.len() - extension.len() - 1).unwrap_or(whole),
    }
}

/// Returns the text of a file, to change links in it; `None` if the file is not text.
pub(crate) fn text_at(view: &Transaction<'_>, place: &NoteLocation) -> Result<Option<String>> {
    let found = view.read(&place.project, &place.path)?;
    Ok(found.and_then(|found| decode_text(&found.bytes)))
}
