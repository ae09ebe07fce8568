//! Which files the paths in Markdown links and HTML mean, before something moves or goes and after.
//!
//! A path is seen from the folder of its file, as every reader of Markdown sees it. Where nothing is
//! there it may begin at the top of the project, or be the name that only one file has, as Obsidian
//! writes them. With a slash in front it begins at the top, and nowhere else.

use std::collections::{HashMap, HashSet};

use memoranda_core::graph::resolve_relative_link;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::Transaction;

use crate::error::Result;
use crate::links::path_change::PathChange;
use crate::links::resolve::NoteLocation;

/// Resolves paths in links before and after a move.
pub(crate) struct PathResolver<'a> {
    view: &'a Transaction<'a>,
    project: &'a ProjectName,
    /// Where each file will be that moves, by where it is or was before.
    moves: HashMap<&'a NotePath, &'a NotePath>,
    arrivals: HashSet<&'a NotePath>,
    going: HashSet<&'a NotePath>,
}

/// How a path says which file it means, the plainest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum PathStyle {
    /// From the top of the project: with a slash in front, or in a drawing, where all do.
    Slash,
    Drawn,
    /// Seen from the folder of its file.
    Relative,
    /// From the top of the project.
    Top,
    /// By the name that no other file has.
    Name,
}

/// A path in a file.
pub(crate) struct PathInFile<'a> {
    /// The path in the link, decoded.
    pub(crate) path: &'a str,
    /// Where the file is that holds it, and where it was before, the last place first.
    pub(crate) is: &'a [&'a NotePath],
    /// Where that file will be.
    pub(crate) will: &'a NotePath,
}

/// A path that no longer leads to its file, and its replacement.
pub(crate) struct PathFix {
    /// Replacement that leads to the same file; `None` if no path does.
    pub(crate) text: Option<String>,
    /// The new location of the file.
    pub(crate) file: NotePath,
    /// The other file that it means, unless it is mended.
    pub(crate) other: Option<NoteLocation>,
}

/// State of the files in which a path is resolved: before or after the move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MovePhase {
    Before,
    After,
}

impl<'a> PathResolver<'a> {
    /// The paths of a project in which something moves.
    pub(crate) fn moving(
        view: &'a Transaction<'a>,
        project: &'a ProjectName,
        moving: &'a [PathChange],
    ) -> Self {
        let moves = moving.iter().map(|moving| (&moving.old, &moving.new)).collect();
        let arrivals = moving.iter().map(|moving| &moving.new).collect();
        Self { view, project, moves, arrivals, going: HashSet::new() }
    }

    /// The paths of a project from which something goes.
    pub(crate) fn going(
        view: &'a Transaction<'a>,
        project: &'a ProjectName,
        going: &'a [NotePath],
    ) -> Self {
        let (moves, arrivals) = (HashMap::new(), HashSet::new());
        Self { view, project, moves, arrivals, going: going.iter().collect() }
    }

    /// Returns the fix of a path; `None` if the path still leads to the same file, or never led to
    /// one.
    pub(crate) fn mend(&self, link: &PathInFile<'_>) -> Result<Option<PathFix>> {
        let mut before: Option<(PathStyle, NotePath)> = None;
        for from in link.is {
            before = match (before, self.meant(link.path, from, MovePhase::Before)?) {
                // Seen from an earlier place it may have been said more plainly.
                (Some((way, file)), Some((earlier, same))) if same == file => {
                    Some((way.min(earlier), file))
                }
                (known, found) => known.or(found),
            };
        }
        let Some((way, file)) = before else { return Ok(None) };
        let after = self.meant(link.path, link.will, MovePhase::After)?;
        let other = match after {
            // The link must resolve at least as exactly as before, because other programs may not
            // know the weaker rules.
            Some((now, found)) if found == file && now <= way => return Ok(None),
            Some((_, found)) => Some(found).filter(|found| *found != file),
            None => None,
        };
        let text = if self.going.contains(&file) {
            None
        } else {
            Some(self.written(&file, way, link.will)?)
        };
        let other = other.map(|path| NoteLocation { project: self.project.clone(), path });
        Ok(Some(PathFix { text, file, other }))
    }

    /// How a file is named in another, in the way that it was, if it can be.
    fn written(&self, file: &NotePath, way: PathStyle, from: &NotePath) -> Result<String> {
        let whole = file.as_str();
        let ways: &[&str] = match way {
            PathStyle::Slash => return Ok(format!("/{whole}")),
            PathStyle::Drawn => return Ok(whole.to_owned()),
            PathStyle::Relative => &[],
            PathStyle::Top => &[whole],
            PathStyle::Name => &[file.file_name(), whole],
        };
        for text in ways {
            if self.meant(text, from, MovePhase::After)?.is_some_and(|(_, found)| found == *file) {
                return Ok((*text).to_owned());
            }
        }
        Ok(file.relative_from(from))
    }

    /// The file that a path means in a file at another one: where it will be, if it moves.
    fn meant(
        &self,
        path: &str,
        from: &NotePath,
        when: MovePhase,
    ) -> Result<Option<(PathStyle, NotePath)>> {
        if from.extension() == "canvas" {
            return Ok(self.at(path, when)?.map(|file| (PathStyle::Drawn, file)));
        }
        if path.starts_with('/') {
            let file = self.at(path.trim_start_matches('/'), when)?;
            return Ok(file.map(|file| (PathStyle::Slash, file)));
        }
        if let Some(file) = self.at(&resolve_relative_link(from, &format!("./{path}")), when)? {
            return Ok(Some((PathStyle::Relative, file)));
        }
        if let Some(file) = self.at(path, when)? {
            return Ok(Some((PathStyle::Top, file)));
        }
        let file = if path.contains('/') { None } else { self.called(path, when)? };
        Ok(file.map(|file| (PathStyle::Name, file)))
    }

    /// The file at a path.
    fn at(&self, path: &str, when: MovePhase) -> Result<Option<NotePath>> {
        let Ok(path) = NotePath::parse(path) else { return Ok(None) };
        match when {
            MovePhase::Before => {
                if let Some(new) = self.moves.get(&path) {
                    return Ok(Some((*new).clone()));
                }
            }
            MovePhase::After if self.arrivals.contains(&path) => return Ok(Some(path)),
            MovePhase::After if self.leaves(&path) => return Ok(None),
            MovePhase::After => {}
        }
        Ok(self.view.file(self.project, &path)?.map(|file| file.path))
    }

    /// The one file of this name.
    fn called(&self, name: &str, when: MovePhase) -> Result<Option<NotePath>> {
        let is_called = |path: &&NotePath| path.file_name() == name;
        let candidates = self.view.link_candidates(self.project, name)?;
        let mut found: HashSet<NotePath> = HashSet::new();
        for path in candidates.iter().map(|candidate| &candidate.path).filter(is_called) {
            match when {
                MovePhase::Before => {
                    found.insert(self.moves.get(path).map_or(path, |new| *new).clone());
                }
                MovePhase::After if self.leaves(path) => {}
                MovePhase::After => {
                    found.insert(path.clone());
                }
            }
        }
        match when {
            MovePhase::Before => {
                let old = self.moves.iter().filter(|(old, _)| is_called(old));
                found.extend(old.map(|(_, new)| (*new).clone()));
            }
            MovePhase::After => {
                found.extend(self.arrivals.iter().copied().filter(is_called).cloned())
            }
        }
        let mut found = found.into_iter();
        Ok(found.next().filter(|_| found.next().is_none()))
    }

    /// Returns true if the file at a path moves away.
    fn leaves(&self, path: &NotePath) -> bool {
        self.moves.contains_key(path) || self.going.contains(path)
    }
}
