//! Decides on every item and writes the results in batches of one commit each.
//!
//! An interrupted import can be run again: committed notes are recognised by the provenance in
//! their frontmatter.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use memoranda_engine::core::change::{ChangeChannel, CommitKind};
use memoranda_engine::core::id::{CommitId, ContentHash, ProjectName};
use memoranda_engine::core::note::edit::NoteEdit;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    Author, EngineError, FileOperation, HistoryFilter, ListFilter, ListOrder, Memory, NoteLocation,
    StoreError, TransactOutcome, hash,
};
use serde_json::Value;

use crate::error::{ImportError, Result};
use crate::fact_merge;
use crate::input::ImportInput;
use crate::item::{ImportItem, ItemBody, ItemNaming};
use crate::provenance::{self, StampedNote};
use crate::sink::{ImportProblem, ImportProgress, ImportSink};
use crate::source::ImportSource;
use crate::sources::{self, ImportTarget};

/// Maximum number of notes in a batch.
const MAX_BATCH_NOTES: usize = 200;
/// Maximum size of a batch in bytes.
const MAX_BATCH_BYTES: usize = 8 << 20;
/// Number of files per query of the index.
const LIST_PAGE_SIZE: usize = 10_000;

/// Mode of an import.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImportMode {
    /// Reports the outcome and writes nothing.
    DryRun,
    /// Writes the notes.
    Write,
}

/// Treatment of notes that were imported earlier and then deleted in the vault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeletedPolicy {
    /// Keeps them deleted.
    Stay,
    /// Imports them again.
    ComeBack,
}

/// Options of an import.
#[derive(Clone, Copy, Debug)]
pub struct ImportOptions {
    /// Source of the items.
    pub source: ImportSource,
    /// Mode: write the notes, or only report them.
    pub mode: ImportMode,
    /// Treatment of notes that were deleted in the vault.
    pub deleted: DeletedPolicy,
    /// Time of the import.
    pub at: Timestamp,
}

/// Outcome of one item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum ImportOutcome {
    /// A new note was created.
    Created,
    /// The note changed at its source only and was replaced.
    Updated,
    /// The note is unchanged.
    Unchanged,
    /// The note changed at its source and in the vault; the vault's version is kept.
    Edited,
    /// The note was deleted in the vault and stays deleted.
    Deleted,
    /// Another note has the path of the item.
    Taken,
    /// The note could not be written.
    Failed,
}

impl ImportOutcome {
    /// Returns the name in reports.
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

/// Outcome and location of one item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemReport {
    /// Id of the item at its source.
    pub id: String,
    /// Location of the note.
    pub place: NoteLocation,
    /// Outcome.
    pub outcome: ImportOutcome,
}

/// Result of an import.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImportSummary {
    /// Every item in the order of the source.
    pub notes: Vec<ItemReport>,
    /// Parts of the source that could not be imported.
    pub problems: Vec<ImportProblem>,
    /// Number of intentionally omitted parts by reason.
    pub skipped: BTreeMap<&'static str, usize>,
    /// Ids of the commits.
    pub commits: Vec<CommitId>,
    /// Notes that seem to contain a secret.
    pub secrets: Vec<NoteLocation>,
}

impl ImportSummary {
    /// Returns the number of items with an outcome.
    pub fn count(&self, outcome: ImportOutcome) -> usize {
        self.notes.iter().filter(|note| note.outcome == outcome).count()
    }
}

/// Reads a source into a vault. `progress` is called before every item.
pub fn import_source(
    memory: &Memory,
    who: &Author,
    input: &ImportInput,
    target: &ImportTarget,
    options: ImportOptions,
    progress: &mut dyn FnMut(ImportProgress),
) -> Result<ImportSummary> {
    let mut importer = Importer::new(memory, who, options)?;
    let mut keep = |item, at| {
        progress(at);
        importer.add_item(item)
    };
    let mut sink = ImportSink::new(&mut keep);
    let outcome = sources::read(options.source, input, target, &mut sink);
    let ImportSink { problems, skipped, .. } = sink;
    outcome?;
    let mut report = importer.finish()?;
    report.problems.splice(..0, problems);
    for (reason, count) in skipped {
        *report.skipped.entry(reason).or_default() += count;
    }
    Ok(report)
}

/// Imports items into a vault.
pub struct Importer<'m> {
    memory: &'m Memory,
    who: &'m Author,
    options: ImportOptions,
    /// Locations of notes imported earlier from this source, by their id at the source.
    known: HashMap<String, NoteLocation>,
    /// Used path keys of each project, compared without case and Unicode form.
    taken: HashMap<ProjectName, HashSet<String>>,
    /// Notes of each folder that receives facts, by title.
    titled: HashMap<(ProjectName, String), HashMap<String, NoteLocation>>,
    seen: HashSet<String>,
    batch: Vec<PlacedItem>,
    batch_bytes: usize,
    report: ImportSummary,
}

/// An item with its resolved location.
struct PlacedItem {
    id: String,
    place: NoteLocation,
    new: NewContent,
    /// Modification time to set; `None` keeps the time of writing.
    updated: Option<Timestamp>,
    /// True if a note of this item exists, false if the location is only reserved.
    is_known: bool,
}

/// Content of an item.
enum NewContent {
    Note(StampedNote),
    /// A note from an export that omits fields.
    Abridged(StampedNote),
    /// A new note, and the edits for an existing one.
    Facts(StampedNote, Vec<NoteEdit>),
    /// Exact bytes, and the hash that the last import left at the location.
    Exact(Vec<u8>, Option<ContentHash>),
}

/// Outcome of one item and the bytes to write.
type ItemDecision = (ImportOutcome, Option<Vec<u8>>);

impl<'m> Importer<'m> {
    /// Starts an import.
    pub fn new(memory: &'m Memory, who: &'m Author, options: ImportOptions) -> Result<Self> {
        Ok(Self {
            memory,
            who,
            options,
            known: imported_before(memory, options.source)?,
            taken: HashMap::new(),
            titled: HashMap::new(),
            seen: HashSet::new(),
            batch: Vec::new(),
            batch_bytes: 0,
            report: ImportSummary::default(),
        })
    }

    /// Adds an item and writes the batch if it is full.
    pub fn add_item(&mut self, item: ImportItem) -> Result<()> {
        if !self.seen.insert(format!("{}\0{}", item.project, item.id)) {
            *self.report.skipped.entry("found twice").or_default() += 1;
            return Ok(());
        }
        let Some(placed) = self.place_item(item)? else { return Ok(()) };
        self.batch_bytes += match &placed.new {
            NewContent::Note(stamped)
            | NewContent::Abridged(stamped)
            | NewContent::Facts(stamped, _) => stamped.len(),
            NewContent::Exact(bytes, _) => bytes.len(),
        };
        self.batch.push(placed);
        if self.batch.len() >= MAX_BATCH_NOTES || self.batch_bytes >= MAX_BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the last batch and returns the result.
    pub fn finish(mut self) -> Result<ImportSummary> {
        self.flush()?;
        Ok(self.report)
    }

    /// Resolves the location of an item; `None` if its outcome is already recorded.
    fn place_item(&mut self, item: ImportItem) -> Result<Option<PlacedItem>> {
        let ImportItem { id, project, path, naming, body } = item;
        let stamped = |text: &str| StampedNote::new(text, self.options.source.name(), &id);
        let mut updated = None;
        let new = match body {
            ItemBody::Exact(bytes, changed) => {
                updated = changed;
                NewContent::Exact(bytes, None)
            }
            ItemBody::Note(text) => match stamped(&text) {
                Some(stamped) => {
                    // Listings sort by the modification time of the file.
                    updated = stamped.modified();
                    NewContent::Note(stamped)
                }
                None => NewContent::Exact(text.into_bytes(), None),
            },
            ItemBody::Abridged(text) => match stamped(&text) {
                Some(stamped) => NewContent::Abridged(stamped),
                None => NewContent::Exact(text.into_bytes(), None),
            },
            ItemBody::Facts(text, edits) => match stamped(&text) {
                Some(stamped) => NewContent::Facts(stamped, edits),
                None => NewContent::Exact(text.into_bytes(), None),
            },
        };
        if !matches!(new, NewContent::Exact(..))
            && let Some(place) = self.known.get(&id).cloned()
        {
            return Ok(Some(PlacedItem { id, place, new, updated, is_known: true }));
        }
        let mut place = NoteLocation { project, path };
        let is_used = self.used_names(&place.project)?.contains(&place.path.key());
        if let NewContent::Exact(bytes, _) = new {
            if self.is_deleted(&place)? {
                self.record_outcome(id, place, ImportOutcome::Deleted);
                return Ok(None);
            }
            let last = self.last_import(&place)?;
            self.reserve(&place);
            let new = NewContent::Exact(bytes, last);
            return Ok(Some(PlacedItem { id, place, new, updated, is_known: is_used }));
        }
        if self.is_deleted(&place)? {
            self.record_outcome(id, place, ImportOutcome::Deleted);
            return Ok(None);
        }
        if let NewContent::Facts(stamped, _) = &new
            && let Some(there) = self.find_titled(&place, stamped)?
        {
            return Ok(Some(PlacedItem { id, place: there, new, updated, is_known: true }));
        }
        if is_used {
            match naming {
                ItemNaming::Title => place.path = self.free_name(&place, &id)?,
                ItemNaming::Fixed => {
                    self.report.problems.push(ImportProblem {
                        at: id.clone(),
                        message: format!("another note is at {place}"),
                    });
                    self.record_outcome(id, place, ImportOutcome::Taken);
                    return Ok(None);
                }
            }
            if self.is_deleted(&place)? {
                self.record_outcome(id, place, ImportOutcome::Deleted);
                return Ok(None);
            }
        }
        self.reserve(&place);
        Ok(Some(PlacedItem { id, place, new, updated, is_known: false }))
    }

    /// Returns a longer name with a mark made from the id, so that it is the same on every run.
    fn free_name(&mut self, place: &NoteLocation, id: &str) -> Result<NotePath> {
        let mark: String = hash(id.as_bytes()).to_string().chars().take(6).collect();
        let stem = place.path.stem();
        // Leaves room for the mark within the length limit of file names.
        let stem = stem.get(..stem.floor_char_boundary(200)).unwrap_or(stem);
        let folder = place.path.parent().map(|folder| format!("{folder}/")).unwrap_or_default();
        let taken = self.used_names(&place.project)?;
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

    fn used_names(&mut self, project: &ProjectName) -> Result<&mut HashSet<String>> {
        if !self.taken.contains_key(project) {
            let filter = ListFilter { project: Some(project.clone()), ..ListFilter::default() };
            let mut keys = HashSet::new();
            for_each_file(self.memory, &filter, &mut |file| {
                keys.insert(file.path.key());
            })?;
            self.taken.insert(project.clone(), keys);
        }
        Ok(self.taken.entry(project.clone()).or_default())
    }

    /// Returns the note of the same folder with the same title.
    fn find_titled(
        &mut self,
        place: &NoteLocation,
        stamped: &StampedNote,
    ) -> Result<Option<NoteLocation>> {
        let folder = place.path.parent().unwrap_or_default().to_owned();
        let key = (place.project.clone(), folder);
        if !self.titled.contains_key(&key) {
            let folder = NotePath::parse(&key.1).ok();
            let filter = ListFilter { project: Some(key.0.clone()), folder, ..Default::default() };
            let mut titles = HashMap::new();
            for_each_file(self.memory, &filter, &mut |file| {
                if file.path.parent().unwrap_or_default() == key.1 {
                    titles.insert(
                        file.title,
                        NoteLocation { project: file.project, path: file.path },
                    );
                }
            })?;
            self.titled.insert(key.clone(), titles);
        }
        let title = stamped.title();
        let titles = self.titled.get(&key);
        Ok(titles.and_then(|titles| titles.get(&title?).cloned()))
    }

    fn reserve(&mut self, place: &NoteLocation) {
        self.taken.entry(place.project.clone()).or_default().insert(place.path.key());
    }

    /// Returns true if the note at this path, or the note it was moved to, was deleted. A commit
    /// that was undone does not count.
    fn is_deleted(&self, place: &NoteLocation) -> Result<bool> {
        if self.options.deleted == DeletedPolicy::ComeBack {
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
            let is_undo = match commit.kind {
                Some(kind) => matches!(kind, CommitKind::Undo(_)),
                None => commit.author.tool == "undo",
            };
            if is_undo {
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

    /// Returns the hash that the last import wrote; `None` if another commit changed the file
    /// later.
    fn last_import(&self, place: &NoteLocation) -> Result<Option<ContentHash>> {
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

    fn record_outcome(&mut self, id: String, place: NoteLocation, outcome: ImportOutcome) {
        self.report.notes.push(ItemReport { id, place, outcome });
    }

    fn flush(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        if batch.is_empty() {
            return Ok(());
        }
        let outcome = match self.options.mode {
            ImportMode::DryRun => self.decide_all(&batch, &|place| self.read_bytes(place)),
            ImportMode::Write => self.write_batch(&batch),
        };
        match outcome {
            Ok(decisions) => self.record_decisions(batch, decisions),
            // One file fails the whole batch, so each item is written alone.
            Err(error) if is_about_one_file(&error) => {
                for placed in batch {
                    match self.write_batch(std::slice::from_ref(&placed)) {
                        Ok(decisions) => self.record_decisions(vec![placed], decisions),
                        Err(error) if is_about_one_file(&error) => {
                            let message = error.to_string();
                            self.report
                                .problems
                                .push(ImportProblem { at: placed.id.clone(), message });
                            self.record_outcome(placed.id, placed.place, ImportOutcome::Failed);
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn record_decisions(&mut self, batch: Vec<PlacedItem>, decisions: Vec<ItemDecision>) {
        for (placed, (outcome, text)) in batch.into_iter().zip(decisions) {
            let text = text.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
            if text.is_some_and(provenance::has_secret) {
                self.report.secrets.push(placed.place.clone());
            }
            self.record_outcome(placed.id, placed.place, outcome);
        }
    }

    /// Decides under the vault lock and commits.
    fn write_batch(&mut self, batch: &[PlacedItem]) -> Result<Vec<ItemDecision>> {
        for placed in batch {
            self.memory.create_project(placed.place.project.as_str())?;
        }
        let mut decisions = Vec::new();
        let message = format!("import {}", self.options.source.name());
        let outcome = self.memory.transact(self.who, Some(&message), |desk| {
            decisions =
                self.decide_all(batch, &|place| Ok(desk.bytes(place)?.map(|(bytes, _)| bytes)))?;
            let steps = batch.iter().zip(&decisions).filter_map(|(placed, (_, bytes))| {
                Some(FileOperation::put(placed.place.clone(), bytes.clone()?))
            });
            Ok::<_, ImportError>(steps.collect())
        })?;
        if let TransactOutcome::Committed(commit) = outcome {
            self.report.commits.push(commit.id);
            let times: Vec<_> = batch
                .iter()
                .zip(&decisions)
                .filter_map(|(placed, (_, bytes))| {
                    let NoteLocation { project, path } = placed.place.clone();
                    Some((project, path, hash(bytes.as_deref()?), placed.updated?))
                })
                .collect();
            if !times.is_empty() {
                self.memory.set_modified(&times)?;
            }
        }
        Ok(decisions)
    }

    fn decide_all(
        &self,
        batch: &[PlacedItem],
        read: &dyn Fn(&NoteLocation) -> Result<Option<Vec<u8>>>,
    ) -> Result<Vec<ItemDecision>> {
        let each = |placed: &PlacedItem| {
            let here = read(&placed.place)?;
            Ok(decide(&placed.new, placed.is_known, here.as_deref(), self.options.at))
        };
        batch.iter().map(each).collect()
    }

    fn read_bytes(&self, place: &NoteLocation) -> Result<Option<Vec<u8>>> {
        match self.memory.read_file(place) {
            Ok(found) => Ok(found.map(|found| found.bytes)),
            Err(EngineError::Store(StoreError::NoProject { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Decides on an item by the current content of its location.
fn decide(new: &NewContent, is_known: bool, here: Option<&[u8]>, at: Timestamp) -> ItemDecision {
    match (new, here) {
        (
            NewContent::Note(stamped)
            | NewContent::Abridged(stamped)
            | NewContent::Facts(stamped, _),
            None,
        ) => match stamped.text_at(at) {
            Some(text) => (ImportOutcome::Created, Some(text.into_bytes())),
            None => (ImportOutcome::Failed, None),
        },
        (NewContent::Exact(bytes, _), None) => (ImportOutcome::Created, Some(bytes.clone())),
        (NewContent::Exact(bytes, _), Some(here)) if bytes == here => {
            (ImportOutcome::Unchanged, None)
        }
        (NewContent::Exact(bytes, last), Some(here)) => {
            if *last == Some(hash(here)) {
                (ImportOutcome::Updated, Some(bytes.clone()))
            } else {
                (ImportOutcome::Edited, None)
            }
        }
        // Another note was created at this path meanwhile.
        (NewContent::Note(_) | NewContent::Abridged(_), Some(_)) if !is_known => {
            (ImportOutcome::Taken, None)
        }
        (NewContent::Abridged(stamped), Some(here)) if stamped.has_body_of(here) => {
            (ImportOutcome::Unchanged, None)
        }
        (
            NewContent::Note(stamped)
            | NewContent::Abridged(stamped)
            | NewContent::Facts(stamped, _),
            Some(here),
        ) => {
            let found = std::str::from_utf8(here).ok().and_then(provenance::read_provenance);
            let Some(found) = found else { return (ImportOutcome::Edited, None) };
            let recorded = found.recorded.as_deref();
            if recorded == Some(&stamped.hash) || found.current == stamped.hash {
                return (ImportOutcome::Unchanged, None);
            }
            let text = match new {
                _ if recorded == Some(&found.current) => stamped.text_at(at),
                NewContent::Facts(_, edits) => {
                    let here = std::str::from_utf8(here).unwrap_or_default();
                    let joined = fact_merge::merge_facts(here, edits);
                    if joined == here {
                        return (ImportOutcome::Unchanged, None);
                    } else {
                        stamped.stamp(&joined, at)
                    }
                }
                NewContent::Note(_) | NewContent::Abridged(_) | NewContent::Exact(..) => None,
            };
            match text {
                Some(text) => (ImportOutcome::Updated, Some(text.into_bytes())),
                None => (ImportOutcome::Edited, None),
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

/// Returns the notes imported earlier from a source, by their id at the source.
fn imported_before(memory: &Memory, source: ImportSource) -> Result<HashMap<String, NoteLocation>> {
    let mut known = HashMap::new();
    for_each_file(memory, &ListFilter::default(), &mut |file| {
        // Most notes were not imported; their metadata is not parsed.
        if !file.metadata.contains(provenance::FROM) {
            return;
        }
        let metadata: Value = serde_json::from_str(&file.metadata).unwrap_or_default();
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        if text(provenance::FROM) == Some(source.name())
            && let Some(id) = text(provenance::ID)
        {
            known.insert(id.to_owned(), NoteLocation { project: file.project, path: file.path });
        }
    })?;
    Ok(known)
}

fn for_each_file(
    memory: &Memory,
    filter: &ListFilter,
    each: &mut dyn FnMut(memoranda_engine::FileSummary),
) -> Result<()> {
    for offset in (0..).step_by(LIST_PAGE_SIZE) {
        let files = memory.snapshot()?.list(filter, ListOrder::Path, LIST_PAGE_SIZE, offset)?;
        let is_last = files.len() < LIST_PAGE_SIZE;
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

    fn stamped(text: &str) -> StampedNote {
        StampedNote::new(text, "claude", "1").unwrap()
    }

    #[test]
    fn three_versions_decide() {
        let came = stamped(
            "one
",
        )
        .text_at(NOON)
        .unwrap();
        let edited = format!("{came}and more\n");
        let unmarked = edited.replace("imported_hash", "x");
        let check = |new: &str, is_known, here: Option<&str>, expected| {
            let new = NewContent::Note(stamped(new));
            let (outcome, text) = decide(&new, is_known, here.map(str::as_bytes), NOON);
            assert_eq!(outcome, expected, "{here:?}");
            let writes = matches!(expected, ImportOutcome::Created | ImportOutcome::Updated);
            assert_eq!(text.is_some(), writes);
        };
        check("one\n", false, None, ImportOutcome::Created);
        check("one\n", true, None, ImportOutcome::Created);
        check("one\n", true, Some(&came), ImportOutcome::Unchanged);
        check("two\n", true, Some(&came), ImportOutcome::Updated);
        check("one\n", true, Some(&edited), ImportOutcome::Unchanged);
        check("two\n", true, Some(&edited), ImportOutcome::Edited);
        check("two\n", true, Some(&unmarked), ImportOutcome::Edited);
        check("one\n", false, Some("mine\n"), ImportOutcome::Taken);
    }

    #[test]
    fn bytes_are_replaced_only_if_the_last_import_left_them() {
        let check = |here: Option<&str>, last: Option<&str>, expected| {
            let new = NewContent::Exact(b"new".to_vec(), last.map(|last| hash(last.as_bytes())));
            let (outcome, _) = decide(&new, true, here.map(str::as_bytes), NOON);
            assert_eq!(outcome, expected);
        };
        check(None, None, ImportOutcome::Created);
        check(Some("new"), None, ImportOutcome::Unchanged);
        check(Some("old"), Some("old"), ImportOutcome::Updated);
        check(Some("old"), None, ImportOutcome::Edited);
        check(Some("edited"), Some("old"), ImportOutcome::Edited);
    }
}
