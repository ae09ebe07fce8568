//! Moving notes together with the links to them, in one commit.
//!
//! Most links survive a move, because a note keeps its title and its permalink. Other programs know
//! neither: for them links by path break, and links by file name if the name changes. If several
//! notes have one name, a link by that name may lead to another of them after the move
//! ([`PostMoveResolver`]).

use std::collections::{BTreeMap, HashMap};

use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_core::id::ContentHash;
use memoranda_core::note::{encode_text, rewrite_links};
use memoranda_core::path::NotePath;
use memoranda_store::{CommitOutcome, Transaction};

use crate::error::{EngineError, Result};
use crate::links::after_move::{LinkFix, PostMoveResolver};
use crate::links::path_change::{PathChange, text_at};
use crate::links::resolve::NoteLocation;
use crate::links::stale::{outdated_links, whole_names};
use crate::links::untyped;
use crate::{Author, Memory};

/// Request to move a note, or a folder with its files. Hidden and ignored files of a folder stay,
/// unless a tool wrote them.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// The note or folder.
    pub from: NoteLocation,
    /// New path in the same project. If it equals the old path, only links are updated: those that
    /// still contain a place from which the note was moved before.
    pub to: NotePath,
    /// Treatment of links that contain the old name or place.
    pub links: LinkPolicy,
    /// Required version of the note; `None` for any.
    pub expected: Option<ContentHash>,
}

impl MoveRequest {
    /// Returns a request that ignores links and accepts any version.
    pub fn new(from: NoteLocation, to: NotePath) -> Self {
        Self { from, to, links: LinkPolicy::Ignore, expected: None }
    }
}

/// Treatment of links that contain the old name or place of a moved note.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkPolicy {
    /// Links are not read.
    Ignore,
    /// Links stay as they are, and are reported.
    Report(LinkScope),
    /// Links are rewritten to the new place.
    Update(LinkScope),
}

/// Files whose links a move reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkScope {
    /// Files of every project.
    Everywhere,
    /// Files of the note's own project, for a caller that may not see others.
    OwnProject,
}

/// Outcome of a move.
#[expect(clippy::large_enum_variant, reason = "made once a call and never stored")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MoveOutcome {
    /// Everything is at its new place.
    Moved(MovedNotes),
    /// A file exists at the new place; nothing was moved.
    Exists(Vec<NoteLocation>),
    /// The note has another version than the required one; nothing was moved.
    Conflict(NoteLocation, Option<ContentHash>),
}

/// The moved files and the links to them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MovedNotes {
    /// Old and new location of every file.
    pub files: Vec<(NoteLocation, NoteLocation)>,
    /// Hidden and ignored files that no tool wrote, which stay where they are. Folders end in a
    /// slash.
    pub left: Vec<String>,
    /// Notes whose links were changed, with the numbers of links.
    pub relinked: Vec<(NoteLocation, usize)>,
    /// Links that contain the old name or place. They may still resolve here, by title or permalink,
    /// but not in other programs.
    pub outdated: Vec<OutdatedLink>,
    /// Links that could not be updated, because no name of their target can stand in a link.
    pub unwritable: Vec<OutdatedLink>,
    /// The commit; `None` if nothing had to be changed.
    pub commit: Option<Commit>,
}

/// A link that contains the old name or place of a moved note.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OutdatedLink {
    /// File that contains the link.
    pub holder: NoteLocation,
    /// Text of the link.
    pub link: LinkText,
    /// Direction of the link, seen from the moved note.
    pub direction: LinkDirection,
    /// Other note to which the link leads from now on.
    pub means: Option<NoteLocation>,
    /// Number of such links in the file.
    pub count: usize,
}

/// Direction of an outdated link, seen from the moved note.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LinkDirection {
    /// A link to a note that was moved or deleted.
    Incoming,
    /// A link of a moved note to a note that stays.
    Outgoing,
}

/// Text of a link.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LinkText {
    /// A name in double brackets.
    Name(String),
    /// A path, in a Markdown link or a drawing.
    Path(String),
}

/// Earlier paths of notes, by their present path.
type EarlierPaths = HashMap<NotePath, Vec<NotePath>>;

impl Memory {
    /// Moves a note or a folder, and treats the links to it as requested.
    ///
    /// ```
    /// use memoranda_engine::{AddRequest, Memory, MoveOutcome, MoveRequest, OpenOptions};
    /// # use memoranda_engine::core::change::{Author, ChangeChannel};
    /// # use memoranda_engine::core::id::ProjectName;
    /// # use memoranda_engine::core::path::NotePath;
    /// # let folder = tempfile::tempdir()?;
    /// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
    /// # let who = Author::new("example", "example", ChangeChannel::Cli);
    /// let from = memory.add(&who, &AddRequest::new(ProjectName::parse("main")?, "Plan"))?.place;
    /// let request = MoveRequest::new(from, NotePath::parse("archive/Plan.md")?);
    /// assert!(matches!(memory.move_notes(&who, &request)?, MoveOutcome::Moved(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn move_notes(&self, who: &Author, request: &MoveRequest) -> Result<MoveOutcome> {
        let NoteLocation { project, path: from } = &request.from;
        let to = &request.to;
        if from != to && to.is_within(from.as_str()) {
            let message = format!("{} cannot be moved into itself ({to})", request.from);
            return Err(EngineError::Invalid(message));
        }
        let earlier = self.earlier_paths(request)?;
        if from == to && earlier.is_empty() {
            return Err(EngineError::Invalid(format!("{} is already there", request.from)));
        }
        // Folders are not merged. Another spelling of the name is the same folder.
        if from.key() != to.key() && !self.snapshot()?.below(project, to)?.files.is_empty() {
            return Ok(MoveOutcome::Exists(vec![NoteLocation::new(project, to.clone())]));
        }
        let mut moved = MovedNotes::default();
        let outcome = self.store().transact(who, |view| {
            let (decided, change) = MoveDecision { view, request, earlier: &earlier }.decide()?;
            moved = decided;
            Ok::<_, EngineError>(change)
        })?;
        match outcome {
            CommitOutcome::Committed(commit) => {
                moved.commit = Some(commit);
                // A move counts as a use under the new name.
                moved.files.iter().for_each(|(_, new)| self.record_use(new));
            }
            CommitOutcome::Unchanged => {}
            CommitOutcome::Conflict(conflicts) => {
                let stale = conflicts.iter().find(|c| c.path.is_within(from.as_str()));
                if let Some(stale) = stale.filter(|_| request.expected.is_some()) {
                    return Ok(MoveOutcome::Conflict(request.from.clone(), stale.found));
                }
                let at = |path: &NotePath| NoteLocation::new(project, path.clone());
                return Ok(MoveOutcome::Exists(conflicts.iter().map(|c| at(&c.path)).collect()));
            }
        }
        moved.follow_holders();
        Ok(MoveOutcome::Moved(moved))
    }

    /// Returns the places from which a note was moved, the last one first. For a folder, returns
    /// the last one of each note, and only if the request updates links alone.
    fn earlier_paths(&self, request: &MoveRequest) -> Result<EarlierPaths> {
        let NoteLocation { project, path } = &request.from;
        let mut earlier = HashMap::new();
        if request.links == LinkPolicy::Ignore
            || *path != request.to && self.snapshot()?.file(project, path)?.is_none()
        {
            return Ok(earlier);
        }
        for file in self.snapshot()?.below(project, path)?.files {
            let here = NoteLocation::new(project, file);
            let revisions = self.revisions(&here, 200)?.into_iter();
            let mut from: Vec<_> = revisions.filter_map(|r| r.change.moved_from).collect();
            if here.path != *path {
                from.truncate(1);
            }
            if !from.is_empty() {
                earlier.insert(here.path, from);
            }
        }
        Ok(earlier)
    }
}

impl MovedNotes {
    /// Replaces the old locations of moved notes that contain links by the new ones.
    fn follow_holders(&mut self) {
        let new_places: HashMap<&NoteLocation, &NoteLocation> =
            self.files.iter().map(|(old, new)| (old, new)).collect();
        let relinked = self.relinked.iter_mut().map(|(holder, _)| holder);
        let left = self.outdated.iter_mut().chain(&mut self.unwritable);
        for holder in relinked.chain(left.map(|link| &mut link.holder)) {
            if let Some(new) = new_places.get(holder) {
                *holder = (*new).clone();
            }
        }
    }
}

/// Decision on a move, under the vault lock.
struct MoveDecision<'a> {
    view: &'a Transaction<'a>,
    request: &'a MoveRequest,
    earlier: &'a EarlierPaths,
}

/// Changes of the links to moved notes.
#[derive(Default)]
struct LinkChanges {
    /// New texts of the files that contain links.
    texts: BTreeMap<NoteLocation, String>,
    /// Numbers of rewritten links.
    relinked: BTreeMap<NoteLocation, usize>,
    /// Numbers of links that are reported.
    reported: BTreeMap<(NoteLocation, LinkText, LinkDirection, Option<NoteLocation>), usize>,
}

impl MoveDecision<'_> {
    fn decide(&self) -> Result<(MovedNotes, ChangeSet)> {
        let NoteLocation { project, path: from } = &self.request.from;
        let below = self.view.below(project, from)?;
        if below.files.is_empty() && below.folders.is_empty() {
            return Err(EngineError::NotFound {
                identifier: from.to_string(),
                scope: format!("project {project}"),
                suggestions: Vec::new(),
            });
        }
        let mut moved = MovedNotes { left: below.passed_over, ..MovedNotes::default() };
        let (mut moving, former) = self.path_changes(&below.files)?;
        let mut links = LinkChanges::default();
        if self.request.links != LinkPolicy::Ignore {
            let files = moving.len();
            moving.extend(former);
            self.change_links(&moving, &mut links)?;
            moving.truncate(files);
        }
        moved.files = moving.iter().map(|m| (self.at(&m.old), self.at(&m.new))).collect();
        moved.relinked = links.relinked.into_iter().collect();
        let reported =
            links.reported.into_iter().map(|((holder, link, direction, means), count)| {
                OutdatedLink { holder, link, direction, means, count }
            });
        match self.request.links {
            LinkPolicy::Update(_) => moved.unwritable = reported.collect(),
            LinkPolicy::Report(_) | LinkPolicy::Ignore => moved.outdated = reported.collect(),
        }
        let change = self.change_set(&moving, below.folders, links.texts)?;
        Ok((moved, change))
    }

    fn at(&self, path: &NotePath) -> NoteLocation {
        NoteLocation::new(&self.request.from.project, path.clone())
    }

    /// Returns the path changes of this move, and those of earlier moves whose old name is free.
    fn path_changes(&self, files: &[NotePath]) -> Result<(Vec<PathChange>, Vec<PathChange>)> {
        let MoveRequest { from: NoteLocation { project, path: from }, to, links, .. } =
            self.request;
        let (mut moving, mut former) = (Vec::with_capacity(files.len()), Vec::new());
        for file in files {
            let new = moved_path(file, from, to)?;
            let summary = match links {
                LinkPolicy::Ignore => None,
                _ => self.view.file(project, file)?,
            };
            for old in self.earlier.get(file).into_iter().flatten().filter(|old| **old != new) {
                // Otherwise the old name belongs to another note now.
                if self.view.file(project, old)?.is_none() {
                    let (old, new, summary) = (old.clone(), new.clone(), summary.clone());
                    former.push(PathChange { old, new, summary });
                }
            }
            if from != to {
                moving.push(PathChange { old: file.clone(), new, summary });
            }
        }
        Ok((moving, former))
    }

    /// Rewrites or reports the links that contain an old name or place.
    fn change_links(&self, moving: &[PathChange], links: &mut LinkChanges) -> Result<()> {
        let after = PostMoveResolver::new(self.view, &self.request.from.project, moving);
        self.change_relations(&after, moving, links)?;
        self.change_untyped_links(&after, moving, links)
    }

    fn is_update(&self) -> bool {
        matches!(self.request.links, LinkPolicy::Update(_))
    }

    fn change_relations(
        &self,
        after: &PostMoveResolver<'_>,
        moving: &[PathChange],
        links: &mut LinkChanges,
    ) -> Result<()> {
        let request = self.request;
        let is_own_only = matches!(
            request.links,
            LinkPolicy::Report(LinkScope::OwnProject) | LinkPolicy::Update(LinkScope::OwnProject)
        );
        let is_reported = |fix: &LinkFix| !self.is_update() || fix.is_unwritable();
        for (holder, fixes) in outdated_links(self.view, after, &request.from, moving)? {
            if is_own_only && holder.project != request.from.project {
                continue;
            }
            let Some(text) = text_at(self.view, &holder)? else { continue };
            let mut found: BTreeMap<String, usize> = BTreeMap::new();
            let stays = whole_names(self.view, &holder)?;
            let (text, count) = rewrite_links(&text, |name| {
                let Some(fix) = fixes.get(name) else {
                    return stays.contains(name).then(|| name.to_owned().into());
                };
                *found.entry(name.to_owned()).or_default() += 1;
                Some(fix.name.clone()).filter(|_| !fix.is_unwritable())
            });
            // Report exactly the links that an update would change.
            for (name, fix) in fixes.into_iter().filter(|(_, fix)| is_reported(fix)) {
                let Some(count) = found.remove(&name) else { continue };
                let means = after.other(&fix)?;
                let link = (holder.clone(), LinkText::Name(name), fix.direction, means);
                links.reported.insert(link, count);
            }
            if self.is_update() && count > 0 {
                links.relinked.insert(holder.clone(), count);
                links.texts.insert(holder, text);
            }
        }
        Ok(())
    }

    fn change_untyped_links(
        &self,
        after: &PostMoveResolver<'_>,
        moving: &[PathChange],
        links: &mut LinkChanges,
    ) -> Result<()> {
        let from = &self.request.from;
        for holder in untyped::files_with_links(self.view, from, moving)? {
            let place = self.at(&holder);
            let text = match links.texts.get(&place) {
                Some(text) => text.clone(),
                None => match text_at(self.view, &place)? {
                    Some(text) => text,
                    None => continue,
                },
            };
            let fixed = untyped::rewritten(self.view, after, from, moving, &holder, &text)?;
            let reported = if self.is_update() { fixed.unwritable } else { fixed.links };
            for (link, direction, means) in reported {
                *links.reported.entry((place.clone(), link, direction, means)).or_default() += 1;
            }
            if self.is_update() && fixed.count > 0 {
                *links.relinked.entry(place.clone()).or_default() += fixed.count;
                links.texts.insert(place, fixed.text);
            }
        }
        Ok(())
    }

    /// Returns the change: every file at its new place, and the new texts of other files.
    fn change_set(
        &self,
        moving: &[PathChange],
        folders: Vec<NotePath>,
        mut texts: BTreeMap<NoteLocation, String>,
    ) -> Result<ChangeSet> {
        let MoveRequest { from: NoteLocation { project, path: from }, to, expected, .. } =
            self.request;
        let mut change = ChangeSet::default();
        for moving in moving {
            let Some(found) = self.view.read(project, &moving.old)? else { continue };
            let content = match texts.remove(&self.at(&moving.old)) {
                Some(text) => encode_text(&text),
                None => found.bytes,
            };
            change.operations.push(ChangeOperation {
                project: project.clone(),
                path: moving.new.clone(),
                expect: ExpectedContent::Hash(expected.unwrap_or(found.hash)),
                action: FileAction::MoveFrom { from: moving.old.clone(), content },
            });
        }
        if from != to {
            for folder in folders {
                change.created_folders.push((project.clone(), moved_path(&folder, from, to)?));
                change.removed_folders.push((project.clone(), folder));
            }
        }
        change.operations.extend(texts.into_iter().map(|(holder, text)| ChangeOperation {
            project: holder.project,
            path: holder.path,
            expect: ExpectedContent::Anything,
            action: FileAction::Put(encode_text(&text)),
        }));
        Ok(change)
    }
}

/// Returns the new path of a file at or below `from` after a move of `from` to `to`.
fn moved_path(path: &NotePath, from: &NotePath, to: &NotePath) -> Result<NotePath> {
    let rest = path.as_str().strip_prefix(from.as_str()).unwrap_or_default();
    Ok(NotePath::parse(&format!("{to}{rest}"))?)
}
