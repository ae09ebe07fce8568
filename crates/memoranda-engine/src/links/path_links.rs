//! Resolves paths in Markdown links, HTML and drawings, before and after files move or are removed.
//!
//! A path is resolved from the folder of its file, as in every reader of Markdown. If no file is there,
//! it is resolved from the top of the project, then as the name of the only file with that name, as
//! Obsidian writes them. A path with a leading slash is resolved from the top only.

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
    /// New path of each moved file, by its current and earlier paths.
    moves: HashMap<&'a NotePath, &'a NotePath>,
    arrivals: HashSet<&'a NotePath>,
    going: HashSet<&'a NotePath>,
}

/// Rule by which a path resolves to its file, the most exact first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum PathStyle {
    /// From the top of the project, with a slash in front.
    Slash,
    /// From the top of the project, in a drawing.
    Drawn,
    /// From the folder of its file.
    Relative,
    /// From the top of the project.
    Top,
    /// The file name, if no other file has it.
    Name,
}

/// A path in a file.
pub(crate) struct PathInFile<'a> {
    /// The path in the link, decoded.
    pub(crate) path: &'a str,
    /// Current and earlier paths of the file that contains the link, the newest first.
    pub(crate) holder_paths: &'a [&'a NotePath],
    /// Path of that file after the move.
    pub(crate) new_holder: &'a NotePath,
}

/// A path that no longer leads to its file, and its replacement.
pub(crate) struct PathFix {
    /// Replacement that leads to the same file; `None` if no path does.
    pub(crate) text: Option<String>,
    /// The new location of the file.
    pub(crate) file: NotePath,
    /// Another file to which the path would lead without the fix.
    pub(crate) other: Option<NoteLocation>,
}

/// State of the files in which a path is resolved: before or after the move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MovePhase {
    Before,
    After,
}

impl<'a> PathResolver<'a> {
    /// Resolves the paths of a project in which files move.
    pub(crate) fn moving(
        view: &'a Transaction<'a>,
        project: &'a ProjectName,
        moving: &'a [PathChange],
    ) -> Self {
        let moves = moving.iter().map(|moving| (&moving.old, &moving.new)).collect();
        let arrivals = moving.iter().map(|moving| &moving.new).collect();
        Self { view, project, moves, arrivals, going: HashSet::new() }
    }

    /// Resolves the paths of a project from which files are removed.
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
    pub(crate) fn fix(&self, link: &PathInFile<'_>) -> Result<Option<PathFix>> {
        let mut before: Option<(PathStyle, NotePath)> = None;
        for from in link.holder_paths {
            before = match (before, self.resolve(link.path, from, MovePhase::Before)?) {
                // From an earlier folder the same path may resolve by a more exact rule.
                (Some((way, file)), Some((earlier, same))) if same == file => {
                    Some((way.min(earlier), file))
                }
                (known, found) => known.or(found),
            };
        }
        let Some((way, file)) = before else { return Ok(None) };
        let after = self.resolve(link.path, link.new_holder, MovePhase::After)?;
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
            Some(self.written(&file, way, link.new_holder)?)
        };
        let other = other.map(|path| NoteLocation::new(self.project, path));
        Ok(Some(PathFix { text, file, other }))
    }

    /// Spells the path to a file by the same rule as before, if a path by that rule leads to it.
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
            if self.resolve(text, from, MovePhase::After)?.is_some_and(|(_, found)| found == *file)
            {
                return Ok((*text).to_owned());
            }
        }
        Ok(file.relative_from(from))
    }

    /// Returns the file to which a path in the file `from` leads, and the rule; a moved file by its
    /// new path.
    fn resolve(
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
        let file = if path.contains('/') { None } else { self.by_file_name(path, when)? };
        Ok(file.map(|file| (PathStyle::Name, file)))
    }

    /// Returns the file at a path.
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

    /// Returns the file of this name, if only one has it.
    fn by_file_name(&self, name: &str, when: MovePhase) -> Result<Option<NotePath>> {
        let has_name = |path: &&NotePath| path.file_name() == name;
        let candidates = self.view.link_candidates(self.project, name)?;
        let mut found: HashSet<NotePath> = HashSet::new();
        for path in candidates.iter().map(|candidate| &candidate.path).filter(has_name) {
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
                let old = self.moves.iter().filter(|(old, _)| has_name(old));
                found.extend(old.map(|(_, new)| (*new).clone()));
            }
            MovePhase::After => {
                found.extend(self.arrivals.iter().copied().filter(has_name).cloned())
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
