//! Resolves links as they will resolve after a move.

use std::collections::HashMap;

use memoranda_core::graph::{
    LinkCandidate, LinkResolution, LinkStrictness, alias_key, choose_candidate, link_keys,
    resolve_link, resolve_relative_link,
};
use memoranda_core::id::ProjectName;
use memoranda_core::note::permalink::{slug, strip_project};
use memoranda_core::note::{self, LinkReplacement};
use memoranda_core::path::NotePath;
use memoranda_store::{FileSummary, Transaction, link_key, named_at};

use crate::error::Result;
use crate::links::path_change::{LinkHolder, PathChange};
use crate::links::resolve::NoteLocation;
use crate::notes::move_notes::LinkDirection;

/// Resolves links as if the move had been made.
pub(crate) struct PostMoveResolver<'a> {
    view: &'a Transaction<'a>,
    project: &'a ProjectName,
    /// New paths of the moved files.
    places: HashMap<i64, NotePath>,
    /// New permalinks of the moved files.
    permalinks: HashMap<i64, String>,
    /// Moved notes by each of their names after the move.
    names: HashMap<String, Vec<LinkCandidate<i64>>>,
}

/// A link to a note.
pub(crate) struct LinkToNote<'a> {
    /// Text of the link.
    pub(crate) text: &'a str,
    /// The note to which the link leads.
    pub(crate) file: i64,
    /// The note that contains the link, if it is in the same project.
    pub(crate) holder: Option<LinkHolder<'a>>,
}

/// Replacement text of a link, so that the link still leads to its note.
pub(crate) struct LinkFix {
    pub(crate) name: LinkReplacement,
    /// Direction of the link, seen from the moved note.
    pub(crate) direction: LinkDirection,
    /// Another note to which the link would lead without the fix.
    pub(crate) other: Option<i64>,
}

impl LinkFix {
    /// Returns the fix that replaces the name in a link, without a check where the new name leads.
    pub(crate) fn renamed(name: String) -> Self {
        Self { name: name.into(), direction: LinkDirection::Incoming, other: None }
    }

    /// Returns true if some links cannot contain the name: no name of the note can precede a
    /// heading.
    pub(crate) fn is_unwritable(&self) -> bool {
        self.name.plain.is_none() && !LinkReplacement::is_plain(&self.name.name)
    }
}

impl<'a> PostMoveResolver<'a> {
    pub(crate) fn new(
        view: &'a Transaction<'a>,
        project: &'a ProjectName,
        moving: &[PathChange],
    ) -> Self {
        let (mut places, mut names) = (HashMap::new(), HashMap::<_, Vec<_>>::new());
        let mut permalinks = HashMap::new();
        for moving in moving {
            let Some(file) = &moving.summary else { continue };
            // A note that was moved before occurs several times, but has one new place.
            if places.insert(file.id, moving.new.clone()).is_some() {
                continue;
            }
            let (candidate, keys) = named_at(file, &moving.new);
            permalinks.insert(file.id, candidate.permalink.clone());
            for key in keys {
                names.entry(key).or_default().push(candidate.clone());
            }
        }
        Self { view, project, places, permalinks, names }
    }

    /// Returns all names of the moved notes after the move.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Returns true if a file is among the moved ones.
    pub(crate) fn is_moved(&self, file: i64) -> bool {
        self.places.contains_key(&file)
    }

    /// Returns the path of a file after the move; `None` if it is not in the project.
    pub(crate) fn place(&self, file: i64) -> Result<Option<NotePath>> {
        if let Some(place) = self.places.get(&file) {
            return Ok(Some(place.clone()));
        }
        let known = self.view.file_by_id(file)?.filter(|known| known.project == *self.project);
        Ok(known.map(|known| known.path))
    }

    /// Returns the location of the other note to which a link would lead without the fix.
    pub(crate) fn other(&self, fix: &LinkFix) -> Result<Option<NoteLocation>> {
        let path = fix.other.map(|other| self.place(other)).transpose()?.flatten();
        Ok(path.map(|path| NoteLocation::new(self.project, path)))
    }

    /// Returns the replacement text of a link; `None` if the link stays as it is. `renamed` is the
    /// text that follows from the new name.
    pub(crate) fn fix(
        &self,
        link: &LinkToNote<'_>,
        renamed: Option<String>,
    ) -> Result<Option<LinkFix>> {
        let from = link.holder.map(|holder| holder.new);
        let (before, name) = split_project(link.text, from);
        let other = self.resolve(name, from)?.filter(|other| *other != link.file);
        let fits = |text: &str| -> Result<bool> {
            let (_, name) = split_project(text, from);
            Ok(self.resolve(name, from)? == Some(link.file))
        };
        // A name with characters that have a meaning in a link is replaced together with its
        // permalink.
        let fix_to = |name: String| -> Result<Option<LinkFix>> {
            let permalink =
                self.permalink(link.file)?.filter(|_| !LinkReplacement::is_plain(&name));
            let plain = permalink.map(|permalink| format!("{before}{permalink}"));
            let plain = match plain.filter(|plain| LinkReplacement::is_plain(plain)) {
                Some(plain) if fits(&plain)? => Some(plain),
                _ => None,
            };
            Ok(Some(LinkFix {
                name: LinkReplacement { name, plain },
                direction: LinkDirection::Incoming,
                other,
            }))
        };
        match &renamed {
            Some(text) if fits(text)? => return fix_to(text.clone()),
            Some(_) => {}
            // The link still leads to its note, or to nothing.
            None if other.is_none() => return Ok(None),
            None if !self.contains_name(link, name)? => return Ok(None),
            None => {}
        }
        let Some(place) = self.place(link.file)? else {
            return renamed.map_or(Ok(None), fix_to);
        };
        let whole = place.as_str();
        let bare = whole.strip_suffix(&format!(".{}", place.extension())).unwrap_or(whole);
        let has_extension = name.ends_with(&format!(".{}", place.extension()));
        let (first, second) = if has_extension { (whole, bare) } else { (bare, whole) };
        // A path is resolved from the folder of the linking note unless it begins with a slash.
        for place in [first, second, &format!("/{first}")] {
            let text = format!("{before}{place}");
            if fits(&text)? {
                return fix_to(text);
            }
        }
        renamed.map_or(Ok(None), fix_to)
    }

    /// Returns the permalink of a file after the move.
    fn permalink(&self, file: i64) -> Result<Option<String>> {
        match self.permalinks.get(&file) {
            Some(permalink) => Ok(Some(permalink.clone())),
            None => Ok(self.view.file_by_id(file)?.map(|known| known.permalink)),
        }
    }

    /// Returns the note to which a name in a file at this path leads.
    fn resolve(&self, name: &str, from: Option<&NotePath>) -> Result<Option<i64>> {
        let seen = from.map_or(name.into(), |from| resolve_relative_link(from, name));
        let candidates = self.candidates(&seen)?;
        // The first folder of a link may be the name of the project.
        if let Some((first, rest)) = name.split_once('/').filter(|_| candidates.is_empty())
            && link_key(first) == link_key(self.project.as_str())
        {
            return Ok(resolve_link(rest, None, &self.candidates(rest)?));
        }
        Ok(resolve_link(name, from, &candidates))
    }

    /// Returns the candidates for a name after the move, the shortest path first.
    fn candidates(&self, name: &str) -> Result<Vec<LinkCandidate<i64>>> {
        let mut candidates = self.view.link_candidates(self.project, name)?;
        candidates.retain(|candidate| !self.is_moved(candidate.id));
        candidates.extend(self.names.get(&link_key(name)).into_iter().flatten().cloned());
        let length = |c: &LinkCandidate<i64>| c.path.as_str().chars().count();
        candidates.sort_by(|a, b| length(a).cmp(&length(b)).then_with(|| a.path.cmp(&b.path)));
        Ok(candidates)
    }

    /// Returns true if a link contains the name of its note. `[[C#]]` may resolve to `C++` if no
    /// better note exists, but does not contain its name.
    fn contains_name(&self, link: &LinkToNote<'_>, name: &str) -> Result<bool> {
        let Some(file) = self.view.file_by_id(link.file)? else { return Ok(false) };
        let from = link.holder.map(|holder| holder.path);
        // The extension of a Markdown file is optional in links.
        let extension = format!(".{}", file.path.extension());
        let bare = name.strip_suffix(&extension).filter(|_| file.path.is_markdown());
        let keys = link_keys(bare.unwrap_or(name), from, slug);
        let FileSummary { id, project, path, title, .. } = file;
        // A permalink omits special characters, so only an exactly equal one counts.
        let is_said = |permalink: &String| keys.permalinks.first() == Some(permalink);
        let within = strip_project(&file.permalink, project.as_str()).map(str::to_owned);
        let within = within.filter(is_said);
        let permalink = Some(file.permalink).filter(is_said).unwrap_or_default();
        // No other note is there to take its permalink.
        let is_permalink_kept = false;
        let candidate =
            LinkCandidate { id, path: path.clone(), permalink, within, title, is_permalink_kept };
        if choose_candidate(&keys, &[candidate], from, LinkStrictness::Lenient)
            == LinkResolution::Found(id)
        {
            return Ok(true);
        }
        let Some(found) = self.view.read(&project, &path)? else { return Ok(false) };
        let note = note::parse(&String::from_utf8_lossy(&found.bytes));
        Ok(note.aliases().iter().any(|alias| alias_key(alias) == keys.alias))
    }
}

/// Splits a link into its project with the separator, and the name within the project. A note of
/// another project names the project before `::` or as the first folder.
fn split_project<'t>(text: &'t str, own_holder: Option<&NotePath>) -> (&'t str, &'t str) {
    let end = match (text.find("::"), own_holder) {
        (Some(at), _) => at + 2,
        (None, Some(_)) => 0,
        (None, None) => text.find('/').map_or(0, |at| at + 1),
    };
    let name = text.get(end..).unwrap_or_default();
    (text.get(..end).unwrap_or_default(), name.trim())
}
