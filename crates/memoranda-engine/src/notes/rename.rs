//! Moving notes together with the links to them, in one commit.
//!
//! Most links survive a move by themselves here: a note keeps its title and its permalink. Other
//! programs know neither. For them links by path break, and links by a file's name when the name is
//! what changes, also where the note's title says the same. And where several notes have one name,
//! a link by it may mean another of them once one has moved ([`PostMoveResolver`]).

use std::collections::{BTreeMap, HashMap};

use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_core::graph::{alias_key, resolve_relative_link};
use memoranda_core::id::ContentHash;
use memoranda_core::note::permalink::slug;
use memoranda_core::note::{decode_text, encode_text, rewrite_links};
use memoranda_core::path::NotePath;
use memoranda_store::{CommitOutcome, FileSummary, Transaction};

use crate::error::{EngineError, Result};
use crate::links::after_move::{LinkFix, PostMoveResolver};
use crate::links::resolve::NoteLocation;
use crate::links::stale::{called_wholly, outdated_links};
use crate::links::untyped;
use crate::{Author, Memory};

/// Request to move a file or folder, with the treatment of links.
#[derive(Clone, Debug)]
pub struct RenameRequest {
    /// A note, or a folder with all in it that is not hidden or ignored, or that a tool wrote.
    pub from: NoteLocation,
    /// Its new path in the same project. If it is there already, only links are mended: those
    /// that still name the place it was moved from.
    pub to: NotePath,
    /// Treatment of links that contain the old name or place.
    pub links: LinkPolicy,
    /// Files whose links are considered.
    pub holders: LinkScope,
    /// The version of the note that the caller knows, if it wants to be sure.
    pub expected: Option<ContentHash>,
}

/// Files whose links a move considers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkScope {
    /// Those of every project.
    Everywhere,
    /// Those of its own project: the caller has no business with others.
    OwnProject,
}

/// Treatment of links that contain the old name or place of a moved note.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkPolicy {
    /// They stay as they are, and the caller learns of them.
    Keep,
    /// They name the new place.
    Update,
}

/// Outcome of a move.
#[expect(clippy::large_enum_variant, reason = "made once a call and never stored")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RenameOutcome {
    /// Everything is at its new place.
    Renamed(Renamed),
    /// Something is at the new place already; nothing was moved.
    Exists(Vec<NoteLocation>),
    /// The note is not the version that the caller knows.
    Conflict(NoteLocation, Option<ContentHash>),
}

/// The moved files and changed links.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Renamed {
    /// Every file, with where it was and where it is.
    pub files: Vec<(NoteLocation, NoteLocation)>,
    /// Hidden and ignored files that no tool wrote, which stay where they are. Folders end in a
    /// slash.
    pub left: Vec<String>,
    /// Notes whose links were changed, with how many.
    pub relinked: Vec<(NoteLocation, usize)>,
    /// Links that say the old name or place. They may still be understood here, by the title and
    /// permalink that the note keeps, but not elsewhere.
    pub outdated: Vec<OutdatedLink>,
    /// Links that could not be updated, as no name of what they mean can stand in them.
    pub unwritable: Vec<OutdatedLink>,
    /// The commit that did it; none if nothing had to be done.
    pub commit: Option<Commit>,
}

/// A link that says the old name or place of what was moved.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OutdatedLink {
    /// The file that holds it.
    pub holder: NoteLocation,
    /// Text of the link.
    pub link: LinkText,
    /// Direction of the link, seen from the moved note.
    pub whose: LinkDirection,
    /// The other note that it means from now on.
    pub means: Option<NoteLocation>,
    /// How often the file says so.
    pub count: usize,
}

/// Direction of an outdated link, seen from the moved note.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LinkDirection {
    /// One to what was moved or is gone.
    ToIt,
    /// One of what was moved, to something that stays where it is.
    Its,
}

/// Text of a link.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LinkText {
    /// A name in double brackets.
    Name(String),
    /// A path, in a Markdown link or a drawing.
    Path(String),
}

/// One file's old and new name, and what else it is called.
pub(crate) struct PathChange {
    pub(crate) old: NotePath,
    pub(crate) new: NotePath,
    pub(crate) summary: Option<FileSummary>,
}

impl Memory {
    /// Moves a note or a folder, and mends the links to it if the caller wants that.
    pub fn rename(&self, who: &Author, request: &RenameRequest) -> Result<RenameOutcome> {
        let NoteLocation { project, path: from } = &request.from;
        let to = &request.to;
        if from != to && to.is_within(from.as_str()) {
            let message = format!("{} cannot be moved into itself ({to})", request.from);
            return Err(EngineError::Invalid(message));
        }
        let is_note = || Ok::<_, EngineError>(self.snapshot()?.file(project, from)?.is_some());
        let earlier = if from == to || is_note()? {
            self.earlier_paths(&request.from)?
        } else {
            HashMap::new()
        };
        if from == to && earlier.is_empty() {
            return Err(EngineError::Invalid(format!("{} is already there", request.from)));
        }
        let at = |path: &NotePath| NoteLocation { project: project.clone(), path: path.clone() };
        // Two folders do not become one unasked. Another spelling of its name is no other folder.
        if from.key() != to.key() && !self.snapshot()?.below(project, to)?.files.is_empty() {
            return Ok(RenameOutcome::Exists(vec![at(to)]));
        }
        let mut done = Renamed::default();
        let outcome = self.store().transact(who, |view| {
            let below = view.below(project, from)?;
            if below.files.is_empty() && below.folders.is_empty() {
                return Err(EngineError::NotFound {
                    identifier: from.to_string(),
                    scope: format!("project {project}"),
                    suggestions: Vec::new(),
                });
            }
            done.left = below.passed_over;
            let (mut moving, mut former) = (Vec::with_capacity(below.files.len()), Vec::new());
            for file in &below.files {
                let new = moved(file, from, to)?;
                let summary = view.file(project, file)?;
                for old in earlier.get(file).into_iter().flatten().filter(|old| **old != new) {
                    // The old name now belongs to another note.
                    if view.file(project, old)?.is_none() {
                        let (old, new, summary) = (old.clone(), new.clone(), summary.clone());
                        former.push(PathChange { old, new, summary });
                    }
                }
                if from != to {
                    moving.push(PathChange { old: file.clone(), new, summary });
                }
            }
            let files = moving.len();
            moving.append(&mut former);
            let mut texts: BTreeMap<NoteLocation, String> = BTreeMap::new();
            let mut relinked: BTreeMap<NoteLocation, usize> = BTreeMap::new();
            let mut outdated: BTreeMap<
                (NoteLocation, LinkText, LinkDirection, Option<NoteLocation>),
                usize,
            > = BTreeMap::new();
            let is_told =
                |mend: &LinkFix| request.links == LinkPolicy::Keep || mend.is_hard_to_say();
            let after = PostMoveResolver::new(view, project, &moving);
            for (holder, mends) in outdated_links(view, &after, &request.from, &moving)? {
                if request.holders == LinkScope::OwnProject && holder.project != *project {
                    continue;
                }
                let Some(text) = text_at(view, &holder)? else { continue };
                let mut said: BTreeMap<String, usize> = BTreeMap::new();
                let stays = called_wholly(view, &holder)?;
                let (text, count) = rewrite_links(&text, |name| {
                    let Some(mend) = mends.get(name) else {
                        return stays.contains(name).then(|| name.to_owned().into());
                    };
                    *said.entry(name.to_owned()).or_default() += 1;
                    Some(mend.name.clone()).filter(|_| !mend.is_hard_to_say())
                });
                // Report exactly the links that an update would change.
                for (name, mend) in mends.into_iter().filter(|(_, mend)| is_told(mend)) {
                    let Some(count) = said.remove(&name) else { continue };
                    let means = after.other(&mend)?;
                    let link = (holder.clone(), LinkText::Name(name), mend.whose, means);
                    outdated.insert(link, count);
                }
                if request.links == LinkPolicy::Update && count > 0 {
                    relinked.insert(holder.clone(), count);
                    texts.insert(holder, text);
                }
            }
            for holder in untyped::holders(view, &request.from, &moving)? {
                let place = at(&holder);
                let text = match texts.get(&place) {
                    Some(text) => text.clone(),
                    None => match text_at(view, &place)? {
                        Some(text) => text,
                        None => continue,
                    },
                };
                let mended = untyped::mended(view, &after, &request.from, &moving, &holder, &text)?;
                let told = match request.links {
                    LinkPolicy::Keep => mended.links,
                    LinkPolicy::Update => mended.unwritable,
                };
                for (link, whose, means) in told {
                    *outdated.entry((place.clone(), link, whose, means)).or_default() += 1;
                }
                if request.links == LinkPolicy::Update && mended.count > 0 {
                    *relinked.entry(place.clone()).or_default() += mended.count;
                    texts.insert(place, mended.text);
                }
            }
            moving.truncate(files);
            done.relinked = relinked.into_iter().collect();
            let link = |((holder, link, whose, means), count)| OutdatedLink {
                holder,
                link,
                whose,
                means,
                count,
            };
            let outdated = outdated.into_iter().map(link).collect();
            match request.links {
                LinkPolicy::Keep => done.outdated = outdated,
                LinkPolicy::Update => done.unwritable = outdated,
            }
            let mut operations = Vec::with_capacity(moving.len() + texts.len());
            let (mut made, mut emptied) = (Vec::new(), Vec::new());
            if from != to {
                done.files = moving.iter().map(|m| (at(&m.old), at(&m.new))).collect();
                for moving in &moving {
                    let Some(found) = view.read(project, &moving.old)? else { continue };
                    let content = match texts.remove(&at(&moving.old)) {
                        Some(text) => encode_text(&text),
                        None => found.bytes,
                    };
                    operations.push(ChangeOperation {
                        project: project.clone(),
                        path: moving.new.clone(),
                        expect: ExpectedContent::Hash(request.expected.unwrap_or(found.hash)),
                        action: FileAction::MoveFrom { from: moving.old.clone(), content },
                    });
                }
                for folder in below.folders {
                    made.push((project.clone(), moved(&folder, from, to)?));
                    emptied.push((project.clone(), folder));
                }
            }
            operations.extend(texts.into_iter().map(|(holder, text)| ChangeOperation {
                project: holder.project,
                path: holder.path,
                expect: ExpectedContent::Anything,
                action: FileAction::Put(encode_text(&text)),
            }));
            Ok(ChangeSet {
                operations,
                created_folders: made,
                removed_folders: emptied,
                ..ChangeSet::default()
            })
        })?;
        match outcome {
            CommitOutcome::Committed(commit) => {
                done.commit = Some(commit);
                // A move counts as a use under the new name.
                done.files.iter().for_each(|(_, new)| {
                    self.store().note_use(&new.project, &new.path);
                });
            }
            CommitOutcome::Unchanged => {}
            CommitOutcome::Conflict(conflicts) => {
                let stale = conflicts.iter().find(|c| c.path.is_within(from.as_str()));
                if let Some(stale) = stale.filter(|_| request.expected.is_some()) {
                    return Ok(RenameOutcome::Conflict(request.from.clone(), stale.found));
                }
                return Ok(RenameOutcome::Exists(conflicts.iter().map(|c| at(&c.path)).collect()));
            }
        }
        // A note that was moved itself holds its links at its new place.
        let new_places: HashMap<&NoteLocation, &NoteLocation> =
            done.files.iter().map(|(old, new)| (old, new)).collect();
        let relinked = done.relinked.iter_mut().map(|(holder, _)| holder);
        let left = done.outdated.iter_mut().chain(&mut done.unwritable);
        for holder in relinked.chain(left.map(|link| &mut link.holder)) {
            if let Some(new) = new_places.get(holder) {
                *holder = (*new).clone();
            }
        }
        Ok(RenameOutcome::Renamed(done))
    }

    /// Where a note was before it was moved to where it is, the last place first. Of a folder, where
    /// each of its notes was last.
    fn earlier_paths(&self, place: &NoteLocation) -> Result<HashMap<NotePath, Vec<NotePath>>> {
        let mut earlier = HashMap::new();
        for path in self.snapshot()?.below(&place.project, &place.path)?.files {
            let here = NoteLocation { project: place.project.clone(), path };
            let revisions = self.revisions(&here, 200)?.into_iter();
            let mut from: Vec<_> = revisions.filter_map(|r| r.change.moved_from).collect();
            if here.path != place.path {
                from.truncate(1);
            }
            if !from.is_empty() {
                earlier.insert(here.path, from);
            }
        }
        Ok(earlier)
    }
}

/// The text of a file, for links to be changed in it.
pub(crate) fn text_at(view: &Transaction<'_>, place: &NoteLocation) -> Result<Option<String>> {
    let found = view.read(&place.project, &place.path)?;
    Ok(found.and_then(|found| decode_text(&found.bytes)))
}

/// A note of the same project that holds a link: where it is, and where it will be.
pub(crate) struct LinkHolder<'a> {
    pub(crate) path: &'a NotePath,
    pub(crate) new: &'a NotePath,
}

impl PathChange {
    /// Where it is before the move: one that was moved earlier is at its new place.
    pub(crate) fn current(&self) -> &NotePath {
        self.summary.as_ref().map_or(&self.old, |summary| &summary.path)
    }

    /// Returns the replacement of a link, so that it leads to the same note; `None` if it already
    /// does.
    pub(crate) fn new_name(
        &self,
        target: &str,
        own: &str,
        holder: Option<&LinkHolder<'_>>,
    ) -> Option<String> {
        if let Some((project, name)) = target.split_once("::") {
            return Some(format!("{project}::{}", self.renamed(name.trim(), holder)?));
        }
        if let Some(name) = self.renamed(target, holder) {
            return Some(name);
        }
        // The project may be said first, as a folder.
        let (project, name) = target.split_once('/')?;
        let is_own = alias_key(project) == alias_key(own);
        Some(format!("{project}/{}", self.renamed(name, None).filter(|_| is_own)?))
    }

    /// Returns the replacement of a name without a project.
    fn renamed(&self, name: &str, holder: Option<&LinkHolder<'_>>) -> Option<String> {
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
        let seen_from = |holder: &NotePath| {
            let relative = resolve_relative_link(holder, name);
            match (holder.parent(), relative == name) {
                (Some(folder), true) => alias_key(&format!("{folder}/{name}")),
                _ => alias_key(&relative),
            }
        };
        let ends_so = |place: &str| place.ends_with(&format!("/{named}"));
        let (old_place, new_place) = (alias_key(&place(&self.old)), alias_key(&place(&self.new)));
        // A relative path, or the end of a path, may still lead to the note.
        let stays = holder.is_some_and(|holder| seen_from(holder.new) == new_place)
            || ends_so(&old_place) && ends_so(&new_place);
        if name.contains('/') && stays {
            return None;
        }
        let seen_from_holder = holder.map(|holder| seen_from(holder.path));
        let is_place = name.trim_start_matches('/') == place(&self.old) && name.contains('/');
        // Where others find a file, in any case, they do not know what else the note is called.
        let in_any_case = |name: &str| NotePath::parse(name).map(|path| path.key()).ok();
        let finds = |path: &NotePath| {
            let found = if name.contains('/') { place(path) } else { last(path) };
            in_any_case(name.trim_start_matches('/')) == in_any_case(&found)
        };
        let is_found_no_more = finds(&self.old) && !finds(&self.new);
        Some(if is_place {
            place(&self.new)
        } else if known(name) && !is_found_no_more {
            return None;
        } else if named == old_place && self.old.as_str().contains('/')
            || seen_from_holder.as_deref() == Some(&old_place) && name.contains('/')
            || ends_so(&old_place) && name.contains('/')
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

/// Where something at or below `from` is when `from` is at `to`.
fn moved(path: &NotePath, from: &NotePath, to: &NotePath) -> Result<NotePath> {
    let rest = path.as_str().strip_prefix(from.as_str()).unwrap_or_default();
    Ok(NotePath::parse(&format!("{to}{rest}"))?)
}
