//! Deciding on every piece, and writing what was decided in batches, each one commit.
//!
//! A run that was interrupted is simply run again: what was committed says in its frontmatter
//! where it came from, so it is found and left alone.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use memoranda_engine::core::change::ChangeChannel;
use memoranda_engine::core::id::{CommitId, ContentHash, ProjectName};
use memoranda_engine::core::note::edit::NoteEdit;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    EngineError, HistoryFilter, ListFilter, ListOrder, Memory, Place, ReviseOutcome, Step,
    StoreError, Who, hash,
};
use serde_json::Value;

use crate::error::{ImportError, Result};
use crate::facts;
use crate::intake::Problem;
use crate::piece::{Body, Naming, Piece};
use crate::source::Source;
use crate::stamp::{self, Stamped};

/// A batch is written when it holds this many notes,
const BATCH_NOTES: usize = 200;
/// or this many bytes.
const BATCH_BYTES: usize = 8 << 20;
/// How many files the index is asked for at once.
const PAGE: usize = 10_000;

/// Whether anything is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Only say what would come.
    DryRun,
    /// Write it.
    Write,
}

/// What becomes of notes that were imported once and deleted here since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deleted {
    /// They stay deleted.
    Stay,
    /// They come again.
    ComeBack,
}

/// How an import is done.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Where the pieces come from.
    pub source: Source,
    /// Whether anything is written.
    pub mode: Mode,
    /// What becomes of notes that were deleted here.
    pub deleted: Deleted,
    /// The time of the import.
    pub at: Timestamp,
}

/// What became of one piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Verdict {
    /// A new note.
    Created,
    /// It changed at its source, and nobody had changed it here.
    Updated,
    /// It is here as it was.
    Unchanged,
    /// It changed at its source and here: what is here stays.
    Edited,
    /// It was deleted here, and stays so.
    Deleted,
    /// Something else lies in its place.
    Taken,
    /// It could not be written.
    Failed,
}

impl Verdict {
    /// The word for it in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Edited => "edited",
            Self::Deleted => "deleted",
            Self::Taken => "taken",
            Self::Failed => "failed",
        }
    }
}

/// What became of one piece, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteReport {
    /// What its source calls it.
    pub id: String,
    /// Where it is, or would be.
    pub place: Place,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of an import.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Every piece, in the order of the source.
    pub notes: Vec<NoteReport>,
    /// What could not be taken, and where it stands.
    pub problems: Vec<Problem>,
    /// What was left out on purpose, and how often.
    pub skipped: BTreeMap<&'static str, usize>,
    /// The commits that were made.
    pub commits: Vec<CommitId>,
    /// Notes that seem to hold a password or a key.
    pub secrets: Vec<Place>,
}

impl Report {
    /// How many pieces came to this.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.notes.iter().filter(|note| note.verdict == verdict).count()
    }
}

/// Takes pieces in.
pub struct Importer<'m> {
    memory: &'m Memory,
    who: &'m Who,
    options: Options,
    /// What was imported from this source before, by what the source calls it.
    known: HashMap<String, Place>,
    /// The names that are used in each project, as a careless file system sees them.
    taken: HashMap<ProjectName, HashSet<String>>,
    /// The notes of each folder that facts go to, by title.
    titled: HashMap<(ProjectName, String), HashMap<String, Place>>,
    seen: HashSet<String>,
    batch: Vec<Wanted>,
    batch_bytes: usize,
    report: Report,
}

/// A piece, and where it shall be.
struct Wanted {
    id: String,
    place: Place,
    new: New,
    /// When it was changed last, if that shall stay.
    updated: Option<Timestamp>,
    /// Whether a note of this piece was found, or is only looked for where it would be.
    is_known: bool,
}

/// What a piece brings.
enum New {
    Note(Stamped),
    /// A note that may say less than the one that is here.
    Abridged(Stamped),
    /// A note, and what to add to one that is there already.
    Facts(Stamped, Vec<NoteEdit>),
    /// Bytes, and what the last import left at their place.
    Exact(Vec<u8>, Option<ContentHash>),
}

/// What is to be done with one piece, and what to write.
type Decision = (Verdict, Option<Vec<u8>>);

impl<'m> Importer<'m> {
    /// Begins an import.
    pub fn new(memory: &'m Memory, who: &'m Who, options: Options) -> Result<Self> {
        Ok(Self {
            memory,
            who,
            options,
            known: known(memory, options.source)?,
            taken: HashMap::new(),
            titled: HashMap::new(),
            seen: HashSet::new(),
            batch: Vec::new(),
            batch_bytes: 0,
            report: Report::default(),
        })
    }

    /// Takes a piece; a full batch is written.
    pub fn take(&mut self, piece: Piece) -> Result<()> {
        if !self.seen.insert(format!("{}\0{}", piece.project, piece.id)) {
            *self.report.skipped.entry("found twice").or_default() += 1;
            return Ok(());
        }
        let Some(wanted) = self.wanted(piece)? else { return Ok(()) };
        self.batch_bytes += match &wanted.new {
            New::Note(stamped) | New::Abridged(stamped) | New::Facts(stamped, _) => stamped.len(),
            New::Exact(bytes, _) => bytes.len(),
        };
        self.batch.push(wanted);
        if self.batch.len() >= BATCH_NOTES || self.batch_bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is left, and tells what became of everything.
    pub fn finish(mut self) -> Result<Report> {
        self.flush()?;
        Ok(self.report)
    }

    /// Finds a place for a piece; `None` if that settles the matter.
    fn wanted(&mut self, piece: Piece) -> Result<Option<Wanted>> {
        let Piece { id, project, path, naming, body } = piece;
        let stamped = |text: &str| Stamped::new(text, self.options.source.name(), &id);
        let mut updated = None;
        let new = match body {
            Body::Exact(bytes, changed) => {
                updated = changed;
                New::Exact(bytes, None)
            }
            Body::Note(text) => match stamped(&text) {
                Some(stamped) => {
                    // What is listed by its last change goes by the file's time.
                    updated = stamped.modified();
                    New::Note(stamped)
                }
                None => New::Exact(text.into_bytes(), None),
            },
            Body::Abridged(text) => match stamped(&text) {
                Some(stamped) => New::Abridged(stamped),
                None => New::Exact(text.into_bytes(), None),
            },
            Body::Facts(text, edits) => match stamped(&text) {
                Some(stamped) => New::Facts(stamped, edits),
                None => New::Exact(text.into_bytes(), None),
            },
        };
        if !matches!(new, New::Exact(..))
            && let Some(place) = self.known.get(&id).cloned()
        {
            return Ok(Some(Wanted { id, place, new, updated, is_known: true }));
        }
        let mut place = Place { project, path };
        let is_used = self.taken(&place.project)?.contains(&place.path.key());
        if let New::Exact(bytes, _) = new {
            if self.is_deleted(&place)? {
                self.told(id, place, Verdict::Deleted);
                return Ok(None);
            }
            let last = self.last_import(&place)?;
            self.reserve(&place);
            let new = New::Exact(bytes, last);
            return Ok(Some(Wanted { id, place, new, updated, is_known: is_used }));
        }
        if self.is_deleted(&place)? {
            self.told(id, place, Verdict::Deleted);
            return Ok(None);
        }
        if let New::Facts(stamped, _) = &new
            && let Some(there) = self.titled(&place, stamped)?
        {
            return Ok(Some(Wanted { id, place: there, new, updated, is_known: true }));
        }
        if is_used {
            match naming {
                Naming::Title => place.path = self.free_name(&place, &id)?,
                Naming::Fixed => {
                    self.report.problems.push(Problem {
                        at: id.clone(),
                        message: format!("another note lies at {place}"),
                    });
                    self.told(id, place, Verdict::Taken);
                    return Ok(None);
                }
            }
            if self.is_deleted(&place)? {
                self.told(id, place, Verdict::Deleted);
                return Ok(None);
            }
        }
        self.reserve(&place);
        Ok(Some(Wanted { id, place, new, updated, is_known: false }))
    }

    /// A longer name, made from what the source calls the piece, so that it is the same each time.
    fn free_name(&mut self, place: &Place, id: &str) -> Result<NotePath> {
        let mark: String = hash(id.as_bytes()).to_string().chars().take(6).collect();
        let stem = place.path.stem();
        // Room for the mark within what a file system accepts.
        let stem = stem.get(..stem.floor_char_boundary(200)).unwrap_or(stem);
        let folder = place.path.parent().map(|folder| format!("{folder}/")).unwrap_or_default();
        let taken = self.taken(&place.project)?;
        for number in 1..1000 {
            let number = if number == 1 { String::new() } else { format!(" {number}") };
            let name = format!("{folder}{stem} ({mark}{number}).md");
            let path = NotePath::parse(&name).map_err(EngineError::from)?;
            if !taken.contains(&path.key()) {
                return Ok(path);
            }
        }
        Err(ImportError::NotThat(format!("there are too many notes called {stem:?}")))
    }

    fn taken(&mut self, project: &ProjectName) -> Result<&mut HashSet<String>> {
        if !self.taken.contains_key(project) {
            let filter = ListFilter { project: Some(project.clone()), ..ListFilter::default() };
            let mut keys = HashSet::new();
            each_file(self.memory, &filter, &mut |file| {
                keys.insert(file.path.key());
            })?;
            self.taken.insert(project.clone(), keys);
        }
        Ok(self.taken.entry(project.clone()).or_default())
    }

    /// The note in the same folder that has the same title, whatever its file is called.
    fn titled(&mut self, place: &Place, stamped: &Stamped) -> Result<Option<Place>> {
        let folder = place.path.parent().unwrap_or_default().to_owned();
        let key = (place.project.clone(), folder);
        if !self.titled.contains_key(&key) {
            let folder = NotePath::parse(&key.1).ok();
            let filter = ListFilter { project: Some(key.0.clone()), folder, ..Default::default() };
            let mut titles = HashMap::new();
            each_file(self.memory, &filter, &mut |file| {
                if file.path.parent().unwrap_or_default() == key.1 {
                    titles.insert(file.title, Place { project: file.project, path: file.path });
                }
            })?;
            self.titled.insert(key.clone(), titles);
        }
        let title = stamped.title();
        let titles = self.titled.get(&key);
        Ok(titles.and_then(|titles| titles.get(&title?).cloned()))
    }

    fn reserve(&mut self, place: &Place) {
        self.taken.entry(place.project.clone()).or_default().insert(place.path.key());
    }

    /// Whether a note that was here was deleted, wherever it was moved before. What `undo` took
    /// back was never here.
    fn is_deleted(&self, place: &Place) -> Result<bool> {
        if self.options.deleted == Deleted::ComeBack {
            return Ok(false);
        }
        let mut path = place.path.clone();
        for _ in 0..100 {
            let filter = HistoryFilter {
                project: Some(place.project.clone()),
                path: Some(path.clone()),
                ..HistoryFilter::default()
            };
            let commits = self.memory.log(&filter, 1, 0)?;
            let Some(commit) = commits.first() else { return Ok(false) };
            if commit.author.tool == "undo" {
                return Ok(false);
            }
            if let Some(change) = commit.files.iter().find(|file| file.path == path) {
                return Ok(change.after.is_none());
            }
            match commit.files.iter().find(|file| file.moved_from.as_ref() == Some(&path)) {
                Some(moved) => path = moved.path.clone(),
                None => return Ok(false),
            }
        }
        Ok(false)
    }

    /// What the last import left at a place, if nothing happened there since.
    fn last_import(&self, place: &Place) -> Result<Option<ContentHash>> {
        let filter = HistoryFilter {
            project: Some(place.project.clone()),
            path: Some(place.path.clone()),
            ..HistoryFilter::default()
        };
        let commits = self.memory.log(&filter, 1, 0)?;
        let imported =
            commits.first().filter(|commit| commit.author.channel == ChangeChannel::Import);
        let change = imported.and_then(|commit| commit.files.iter().find(|f| f.path == place.path));
        Ok(change.and_then(|change| change.after))
    }

    fn told(&mut self, id: String, place: Place, verdict: Verdict) {
        self.report.notes.push(NoteReport { id, place, verdict });
    }

    fn flush(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        if batch.is_empty() {
            return Ok(());
        }
        let outcome = match self.options.mode {
            Mode::DryRun => self.decide_all(&batch, &|place| self.read(place)),
            Mode::Write => self.write(&batch),
        };
        match outcome {
            Ok(decisions) => self.tell(batch, decisions),
            // One file stands in the way of all: each for itself then.
            Err(error) if is_about_one_file(&error) => {
                for wanted in batch {
                    match self.write(std::slice::from_ref(&wanted)) {
                        Ok(decisions) => self.tell(vec![wanted], decisions),
                        Err(error) if is_about_one_file(&error) => {
                            let message = error.to_string();
                            self.report.problems.push(Problem { at: wanted.id.clone(), message });
                            self.told(wanted.id, wanted.place, Verdict::Failed);
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn tell(&mut self, batch: Vec<Wanted>, decisions: Vec<Decision>) {
        for (wanted, (verdict, text)) in batch.into_iter().zip(decisions) {
            let text = text.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
            if text.is_some_and(stamp::has_secret) {
                self.report.secrets.push(wanted.place.clone());
            }
            self.told(wanted.id, wanted.place, verdict);
        }
    }

    /// Decides under the lock and commits.
    fn write(&mut self, batch: &[Wanted]) -> Result<Vec<Decision>> {
        for wanted in batch {
            self.memory.create_project(wanted.place.project.as_str())?;
        }
        let mut decisions = Vec::new();
        let message = format!("import {}", self.options.source.name());
        let outcome = self.memory.revise(self.who, Some(&message), |desk| {
            decisions =
                self.decide_all(batch, &|place| Ok(desk.bytes(place)?.map(|(bytes, _)| bytes)))?;
            let steps = batch.iter().zip(&decisions).filter_map(|(wanted, (_, bytes))| {
                Some(Step::put(wanted.place.clone(), bytes.clone()?))
            });
            Ok::<_, ImportError>(steps.collect())
        })?;
        if let ReviseOutcome::Committed(commit) = outcome {
            self.report.commits.push(commit.id);
            let times: Vec<_> = batch
                .iter()
                .zip(&decisions)
                .filter_map(|(wanted, (_, bytes))| {
                    let Place { project, path } = wanted.place.clone();
                    Some((project, path, hash(bytes.as_deref()?), wanted.updated?))
                })
                .collect();
            if !times.is_empty() {
                self.memory.store().set_modified(&times)?;
            }
        }
        Ok(decisions)
    }

    fn decide_all(
        &self,
        batch: &[Wanted],
        read: &dyn Fn(&Place) -> Result<Option<Vec<u8>>>,
    ) -> Result<Vec<Decision>> {
        let each = |wanted: &Wanted| {
            let here = read(&wanted.place)?;
            Ok(decide(&wanted.new, wanted.is_known, here.as_deref(), self.options.at))
        };
        batch.iter().map(each).collect()
    }

    fn read(&self, place: &Place) -> Result<Option<Vec<u8>>> {
        match self.memory.store().read(&place.project, &place.path) {
            Ok(found) => Ok(found.map(|found| found.bytes)),
            Err(StoreError::NoProject { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// What to do with a piece, given what lies in its place.
fn decide(new: &New, is_known: bool, here: Option<&[u8]>, at: Timestamp) -> Decision {
    match (new, here) {
        (New::Note(stamped) | New::Abridged(stamped) | New::Facts(stamped, _), None) => {
            match stamped.text(at) {
                Some(text) => (Verdict::Created, Some(text.into_bytes())),
                None => (Verdict::Failed, None),
            }
        }
        (New::Exact(bytes, _), None) => (Verdict::Created, Some(bytes.clone())),
        (New::Exact(bytes, _), Some(here)) if bytes == here => (Verdict::Unchanged, None),
        (New::Exact(bytes, last), Some(here)) => match *last == Some(hash(here)) {
            true => (Verdict::Updated, Some(bytes.clone())),
            false => (Verdict::Edited, None),
        },
        // Somebody made a note here in the meantime.
        (New::Note(_) | New::Abridged(_), Some(_)) if !is_known => (Verdict::Taken, None),
        (New::Abridged(stamped), Some(here)) if stamped.has_body_of(here) => {
            (Verdict::Unchanged, None)
        }
        (New::Note(stamped) | New::Abridged(stamped) | New::Facts(stamped, _), Some(here)) => {
            let found = std::str::from_utf8(here).ok().and_then(stamp::found);
            let Some(found) = found else { return (Verdict::Edited, None) };
            let recorded = found.recorded.as_deref();
            if recorded == Some(&stamped.hash) || found.current == stamped.hash {
                return (Verdict::Unchanged, None);
            }
            let text = match new {
                _ if recorded == Some(&found.current) => stamped.text(at),
                New::Facts(_, edits) => {
                    let here = std::str::from_utf8(here).unwrap_or_default();
                    let joined = facts::join(here, edits);
                    match joined == here {
                        true => return (Verdict::Unchanged, None),
                        false => stamped.mark(&joined, at),
                    }
                }
                New::Note(_) | New::Abridged(_) | New::Exact(..) => None,
            };
            match text {
                Some(text) => (Verdict::Updated, Some(text.into_bytes())),
                None => (Verdict::Edited, None),
            }
        }
    }
}

fn is_about_one_file(error: &ImportError) -> bool {
    matches!(
        error,
        ImportError::Engine(
            EngineError::NotText(_)
                | EngineError::Store(
                    StoreError::Twin { .. }
                        | StoreError::TooLarge { .. }
                        | StoreError::NotAFile { .. }
                )
        )
    )
}

/// What was imported from a source before, by what the source calls it.
fn known(memory: &Memory, source: Source) -> Result<HashMap<String, Place>> {
    let mut known = HashMap::new();
    each_file(memory, &ListFilter::default(), &mut |file| {
        // Nearly every note came from nowhere: those are not even parsed.
        if !file.metadata.contains(stamp::FROM) {
            return;
        }
        let metadata: Value = serde_json::from_str(&file.metadata).unwrap_or_default();
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        if text(stamp::FROM) == Some(source.name())
            && let Some(id) = text(stamp::ID)
        {
            known.insert(id.to_owned(), Place { project: file.project, path: file.path });
        }
    })?;
    Ok(known)
}

fn each_file(
    memory: &Memory,
    filter: &ListFilter,
    each: &mut dyn FnMut(memoranda_engine::FileSummary),
) -> Result<()> {
    for offset in (0..).step_by(PAGE) {
        let files = memory.store().list(filter, ListOrder::Path, PAGE, offset)?;
        let is_last = files.len() < PAGE;
        files.into_iter().for_each(&mut *each);
        if is_last {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::constant(1_767_225_600, 0);

    fn stamped(text: &str) -> Stamped {
        Stamped::new(text, "claude", "1").unwrap()
    }

    #[test]
    fn three_versions_decide() {
        let came = stamped("one\n").text(NOON).unwrap();
        let edited = format!("{came}and more\n");
        let unmarked = edited.replace("imported_hash", "x");
        let check = |new: &str, is_known, here: Option<&str>, expected| {
            let new = New::Note(stamped(new));
            let (verdict, text) = decide(&new, is_known, here.map(str::as_bytes), NOON);
            assert_eq!(verdict, expected, "{here:?}");
            let writes = matches!(expected, Verdict::Created | Verdict::Updated);
            assert_eq!(text.is_some(), writes);
        };
        check("one\n", false, None, Verdict::Created);
        check("one\n", true, None, Verdict::Created);
        check("one\n", true, Some(&came), Verdict::Unchanged);
        check("two\n", true, Some(&came), Verdict::Updated);
        check("one\n", true, Some(&edited), Verdict::Unchanged);
        check("two\n", true, Some(&edited), Verdict::Edited);
        check("two\n", true, Some(&unmarked), Verdict::Edited);
        check("one\n", false, Some("mine\n"), Verdict::Taken);
    }

    #[test]
    fn bytes_are_replaced_only_if_the_last_import_left_them() {
        let check = |here: Option<&str>, last: Option<&str>, expected| {
            let new = New::Exact(b"new".to_vec(), last.map(|last| hash(last.as_bytes())));
            let (verdict, _) = decide(&new, true, here.map(str::as_bytes), NOON);
            assert_eq!(verdict, expected);
        };
        check(None, None, Verdict::Created);
        check(Some("new"), None, Verdict::Unchanged);
        check(Some("old"), Some("old"), Verdict::Updated);
        check(Some("old"), None, Verdict::Edited);
        check(Some("edited"), Some("old"), Verdict::Edited);
    }
}
